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
// Search finds the alternatives, Choice picks one of each job's, exactly or as
// the papers do; both can be used alone. What is to be chosen is one of the
// papers' problems or a weighted sum (Weights), within limits that may be shares
// of what there is to gain (Shares); Choice.Front shows what there is to choose.
//
// Policy puts a planner into a simulation: it plans at the ticks of a cycle
// what has been collected since the last one, lets a backfilling policy decide
// between them about the jobs left to it, and replans where that is wanted.
// Ledger keeps the accounts, Cycles sums up each cycle.
//
// docs/guides/organisations.md and organisations-policy.md show all this in use;
// docs/design/window-search.md says why it is as it is.
//
// Sources: AMP11 and META, as in package window.
package cyclic
