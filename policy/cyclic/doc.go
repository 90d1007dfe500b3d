// Package cyclic plans whole batches of jobs on the slots of a scheduling
// cycle.
//
//	CSS           alternatives for every job, then one of each     AMP11, META
//	BatchSlicer   the batch in slices, each on what is left        META
//	Filling       every job its first window, in order             META
//	BSF           a share sliced, the rest filled in               META
//
// All four are planners: pure functions of a batch and a slot list, without a
// clock or a queue, safe for use by many goroutines at once.
//
//	out, err := cyclic.BatchSlicer{Slices: 5}.Plan(ctx, batch, slots)
//	for i, d := range out.Jobs { ... d.Window ... }
//
// Search finds the alternatives, Choice picks one for each job, exactly or as the
// papers do; both can be used alone. A Choice solves one of the papers' problems or a
// weighted sum (Weights), within limits that may be shares of the gain (Shares);
// Choice.Front returns all choices that are worth considering.
//
// Policy puts a planner into a simulation: at the tick of a cycle it plans the jobs
// that have come since the last tick, between the ticks a backfilling policy decides
// about the jobs left to it, and with Replan it plans jobs anew. Policy.Told is called
// for every batch; package flow has the accounts (flow.Ledger).
//
// docs/guides/organisations.md shows all this in use; docs/design/plans.md says
// why it is so.
//
// Sources: AMP11 and META, as in package window.
package cyclic
