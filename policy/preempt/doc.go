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
//	Selective      jobs yield to jobs that have waited longer for their lengths
//	Slicing        jobs take turns of a quantum
//	Equipartition  all moldable jobs have equal shares (Metascheduler.Resize, Job.Shapes)
//
// No policy here holds a reservation ahead: a job that cannot be overtaken for long needs
// none. A resumed job gets any processors, not the same as before: its processes migrate.
// Where they cannot migrate, resuming is cheaper here than on the machine.
//
// # Where to begin
//
// Read room.go, which Selective and Slicing share: it finds what would fit if other jobs
// yielded. A preempting policy of your own in ten lines is in docs/guides/policies.md.
package preempt
