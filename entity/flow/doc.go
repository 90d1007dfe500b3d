// Package flow has what happens to the world of the jobs while a simulation runs:
// advance reservations, owners' own jobs, prices, capacity that is lost, jobs that
// wait for others.
//
//	Bookings       users' advance reservations: a job at a fixed time or not at all
//	LocalFlow      owners' jobs on the nodes of a plan.Domain, at fixed times
//	LocalQueue     an owner's jobs that wait for the owner's nodes
//	PriceSchedule  what the nodes of a plan.Domain cost, as time goes by
//	Pricing        owners who price anew as they sell, by PriceRules
//	Ledger         the accounts of users, the organisation and owners
//	Outages        capacity that is lost: failures, maintenance, drains
//	Users          a population that waits for results, thinks, and submits again
//	SwitchOff      nodes that nobody uses are off, and boot when they are wanted
//	Dependencies   jobs that come when those that they wait for have ended
//
// # The life of a flow
//
// A flow takes a sequence of happenings in order of time and pulls one ahead of
// the clock. When the instant of one has come, the flow looks at the plan and
// asks the metascheduler for what follows from it:
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
// Pricing, LocalQueue, Outages and Dependencies go by what becomes of jobs. They are
// observers, which attach themselves to the metascheduler that they are given to.
//
// # Where to begin
//
// Bookings is the shortest, and all that a flow of one's own needs: a des.Feed
// and verbs of entity.Metascheduler, which any package can use. The guide
// docs/guides/failures.md shows Outages.
package flow
