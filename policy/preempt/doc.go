// Package preempt holds policies that stop jobs which run, to let others go first.
// The stopped one goes back into the queue; what of its work is kept, and what
// resuming costs, are settings.
//
//	processors
//	   ^ +-------+----------------+------+
//	   | | long  |  short comes,  | long |     Selective: a job that has waited long
//	   | |       |  long yields   | goes |     for its length takes the place of one
//	   | |       |                | on   |     that has waited little for its own
//	   +-+-------+----------------+------+---> time
//
//	Selective   who yields follows from how long jobs have waited for their lengths
//	Slicing     jobs take turns of a quantum
//
// Either holds no reservation ahead: what cannot be overtaken for long need not be
// guarded. A job that is resumed has any processors, not those that it had before:
// its processes migrate. Where they cannot, resuming is cheaper here than on the
// machine.
//
// # Where to begin
//
// Read room.go, which has what both share: what would fit if others gave way. A
// preempting policy of your own in ten lines is in docs/guides/preemption.md.
package preempt
