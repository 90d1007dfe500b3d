// Package preempt holds policies that take processors from jobs which run. Selective and
// Slicing stop a job, to let others go first; Equipartition makes jobs smaller and larger.
// A job that is stopped goes back into the queue; what of its work is kept, and what
// resuming costs, are settings.
//
//	processors
//	   ^ +-------+----------------+------+
//	   | | long  |  short comes,  | long |     Selective: a job that has waited long
//	   | |       |  long yields   | goes |     for its length takes the place of one
//	   | |       |                | on   |     that has waited little for its own
//	   +-+-------+----------------+------+---> time
//
//	Selective      who yields follows from how long jobs have waited for their lengths
//	Slicing        jobs take turns of a quantum
//	Equipartition  all moldable jobs have equal shares (Metascheduler.Resize, Job.Shapes)
//
// None holds no reservation ahead: what cannot be overtaken for long need not be
// guarded. A job that is resumed has any processors, not those that it had before:
// its processes migrate. Where they cannot, resuming is cheaper here than on the
// machine.
//
// # Where to begin
//
// Read room.go, which has what Selective and Slicing share: what would fit if others gave
// way. A
// preempting policy of your own in ten lines is in docs/guides/policies.md.
package preempt
