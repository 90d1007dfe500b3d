// Package flow changes the world of the jobs while a simulation runs: advance
// reservations, owners' own jobs, prices, lost capacity, jobs that wait for others.
//
//	Bookings       users' advance reservations: a job at a fixed time or not at all
//	LocalFlow      owners' jobs on the nodes of a plan.Domain, at fixed times
//	LocalQueue     an owner's jobs that wait for the owner's nodes
//	PriceSchedule  prices of the nodes of a plan.Domain that change at given times
//	Pricing        owners who set prices by what they sell, by PriceRules
//	Ledger         the accounts of users, the organisation and owners
//	Outages        lost capacity: failures, maintenance, drains
//	Users          a population that waits for results, thinks, and submits again
//	SwitchOff      unused nodes that are switched off, and boot when they are wanted
//	Dependencies   jobs that come when other jobs have ended
//
// # The life of a flow
//
// A flow takes a sequence of events in order of time and pulls one ahead of the
// clock. At the instant of an event the flow looks at the plan and calls the verbs of
// the metascheduler:
//
//	iter.Seq --one ahead--> flow --Tentative, Preempt, Withdraw, Changed--> Metascheduler
//	                          |                                               |
//	                        looks                                     a round for the
//	                          v                                         waiting jobs
//	                         Plan
//
// So a booking is a window that is kept by Tentative and confirmed at once:
//
//	bookings := flow.NewBookings(meta)
//	bookings.Submit(slices.Values([]flow.Booking{{Job: j, Start: 8 * des.Hour}}))
//
// Pricing, LocalQueue, Outages and Dependencies react to what becomes of jobs. They are
// observers: give them to a metascheduler, and they attach themselves to it.
//
// # Where to begin
//
// Bookings is the shortest flow, and shows all that your own flow needs: a des.Feed
// and the verbs of entity.Metascheduler, which any package can use. The guide
// docs/guides/what-happens.md shows Outages.
package flow
