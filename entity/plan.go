package entity

import (
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Plan is what is taken, and when. A started job, an owner's local job, a
// chosen window and the hold for the head of a queue are all reservations in
// it. Cluster (counted processors) and Domain (named nodes) implement it.
//
// A plan knows nothing of the clock: a caller asks and reserves from its own
// "now" on. Times before the latest Forget are gone.
type Plan interface {
	// Find returns the plan's best window for req that starts in [from, until]:
	// on counted processors the earliest; on named nodes what the plan's Finder
	// prefers. (now, now) asks what fits now.
	Find(req Request, from, until des.Time) (Window, bool)
	// Reserve keeps w for j. It refuses, with a *ConflictError, what is taken:
	// space sharing cannot be broken through a plan.
	Reserve(j *Job, w Window) (*Reservation, error)
	// Release gives back what r holds from the instant at on: an early finish
	// (at inside the window) and a cancellation (at <= its start) alike. Tasks
	// that end by then keep what they used.
	Release(r *Reservation, at des.Time)
	// Slots yields what is free within [from, until), by start.
	Slots(from, until des.Time) iter.Seq[Slot]
	// Forget tells the plan that nothing before now will be asked again.
	Forget(now des.Time)
	// Fits reports whether req could ever be met on an empty plan; the error
	// says why not.
	Fits(req Request) error
}
