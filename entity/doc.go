// Package entity holds the nouns of scheduling and the actors that move them.
//
// Nouns: Job and its Request; Node, Slot, Window; the Reservation that a plan
// keeps for a job.
//
// Plans say what is taken, and when. Cluster counts equal processors, for logs
// of millions of jobs; Domain knows its nodes by name, performance and price,
// and asks a Finder for windows. Everything that occupies anything is a
// reservation in a plan.
//
// Actors: the Metascheduler runs a stream of jobs through a Policy on a Plan; it
// alone starts and ends jobs. LocalFlow brings the owners' jobs to a Domain.
// Observers are told of every event in a job's life, and change nothing.
//
// A policy is short, because all it does is to look at the plan and reserve:
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
package entity
