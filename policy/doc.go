// Package policy names the policies: a table from a name, with parameters, to
// what a user's command runs.
//
//	"easy:order=wfp3,fcfs"  --Registry().ParseList-->  []Chosen[entity.Policy]
//
// The policies themselves live in the packages below it:
//
//	backfill   FCFS, EASY, conservative backfilling, and the orders of queues
//	predict    predictors of runtimes, and what corrects their predictions
//	preempt    policies that stop or resize running jobs
//	optimal    a proven best schedule of a few jobs, and bounds for many
//	window     searches for windows on named nodes: what a plan.Domain asks
//	cyclic     planners of whole batches, cycle by cycle
//	agent      strategies of the brokers of a grid
//	remote     schedulers in other programs, by Batsim's protocol
//	slurm      the rules of slurmctld
//
// Registry has the policies on counted processors, NodeRegistry those on named
// nodes. Either is a Table, which a program may extend by policies of its own.
//
// # Where to begin
//
// An entity.Policy is a name and one method; docs/start.md
// writes one in ten lines, and the text of backfill.EASY is the next to read.
package policy
