// Package market keeps accounts: what users pay to the virtual organisation that
// schedules their jobs, and the organisation to the owners of the nodes.
//
//	user ---when a window is reserved---> organisation ---when the job has ended---> owners
//	  ^                                        |
//	  +----a reservation that is lost,---------+
//	       time that was not used (ByUse)
//
// A Ledger is an entity.Observer: give it to the metascheduler of a plan.Domain
// whose nodes have prices, and ask for balances when the run is over.
//
//	ledger := &market.Ledger{ByUse: true}
//	meta := entity.NewMetascheduler(sim, domain, policy, ledger)
//	...
//	income := ledger.Total(market.OwnerAccount)
//
// # The life of a contract
//
// A contract is made when a job gets a reservation, at the prices of that moment,
// which later changes do not touch. A reservation that moves is paid back and
// paid anew. Where the job ends the contract is settled, node by node; where it
// loses its nodes all is paid back.
//
// Amounts are whole millionths of a cost unit, so sums are exact whatever their
// order, and Ledger.Check can ask that all accounts together hold nothing.
package market
