// Package entity holds the nouns of scheduling and the engine that moves them.
//
// # What there is
//
//	Job       what a user asks for; a run changes nothing in it
//	Run       what becomes of a job in one simulation
//	Plan      what is taken of the machine, and when
//	Policy    decides which waiting jobs get what
//	Observer  is told of everything that happens to jobs
//
// A Metascheduler runs jobs through a policy on a plan. Nothing else starts or ends jobs:
//
//	Source --Job--> Metascheduler --Round--> Policy
//	                  |       ^                |
//	              JobEvent    +---Reserve------+
//	                  v                |
//	              Observers          Plan
//
// # The life of a job
//
// A job arrives and waits in the queue. After every instant at which something
// has changed the policy gets a Round: it looks for windows in the plan and
// reserves them for jobs. A reservation that begins now starts its job; one that
// lies ahead starts it when its window begins. The job ends when its runtime is
// over, which is usually before the end of what was reserved; what is left of
// the reservation is given back, and the policy gets its next round.
//
// Everything that occupies anything is a reservation in the plan: a running job,
// a window that was planned ahead, the hold for the head of EASY's queue, an
// owner's local job, a node that is down.
//
// What a run asks for now is Run.Request: demand.go says what it is made of. How a job starts
// is told by start.go, how it ends, of whatever cause, by end.go, and what becomes of the
// plans behind a job that runs on by correct.go.
//
// # A policy is short
//
// All it does is to look at the plan and reserve:
//
//	type SmallestFirst struct{}
//
//	func (SmallestFirst) Name() string { return "smallest-first" }
//	func (SmallestFirst) Schedule(r *entity.Round) {
//		for _, j := range slices.SortedStableFunc(r.Waiting(), byArea) {
//			if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
//				r.Reserve(j, w)
//			}
//		}
//	}
//
// # What is checked in every run
//
// The engine believes neither plans nor policies. What follows costs a comparison or two
// an event, is never switched off, and ends the run with an error that names the instant,
// the job and the policy:
//
//	jobs and withheld capacity never exceed the machine    Metascheduler.conserve
//	a node runs one task at a time                         Metascheduler.occupy
//	an attempt ends once                                   Metascheduler.unlink
//	a window is what its job asks for, and not past        Run.accept, Round.Reserve
//	what is taken is not taken again                       Plan.Reserve, *ConflictError
//	time never falls                                       des.Simulator.At, des.Feed
//	accounts hold nothing together                         flow.Ledger.Check
//
// How much of the machine is taken is counted at the end of an instant: whatever ends at
// an instant makes room for whatever starts at it.
//
// # Where to begin
//
// Read Job, Run and Metascheduler, then Round. Whatever else is to happen to the
// world during a run (users who wait for results, failures, rules by the clock)
// is written outside this package, with the verbs of Metascheduler; package flow
// has examples, and docs/guides a program for each. The packages below:
//
//	plan     the two plans: counted processors, named nodes
//	flow     what happens to the world: outages, bookings, owners, prices, accounts, power, users
//	grid     brokers and resource agents who negotiate over a network
package entity
