package entity

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Plan is what is taken, and when. A started job, an owner's local job, a
// chosen window and the hold for the head of a queue are all reservations in
// it. Cluster (counted processors) and Domain (named nodes) implement it.
//
// A plan has no clock: callers ask and reserve from their own "now" on, and
// Forget tells it that what lies before will not be asked again.
type Plan interface {
	// Find returns the plan's best window for req that starts in [from, until]:
	// on counted processors the earliest; on named nodes what the plan's Finder
	// prefers. (now, now) asks what fits now.
	Find(req Request, from, until des.Time) (Window, bool)
	// FindEarlier is Find as though r, which lies ahead, had been given up, for
	// a window that starts in [from, until] and before r's. It changes nothing.
	FindEarlier(r *Reservation, from, until des.Time) (Window, bool)
	// Reserve keeps w for j. What is taken it refuses with a *ConflictError:
	// space sharing cannot be broken through a plan.
	Reserve(j *Job, w Window) (*Reservation, error)
	// Move puts w in the place of what r, which lies ahead, holds.
	Move(r *Reservation, w Window) error
	// Release gives back what r holds from the instant at on: an early finish
	// (at inside the window) and a cancellation (at before it) alike.
	Release(r *Reservation, at des.Time)
	// Slots yields what is free within [from, until), by start.
	Slots(from, until des.Time) iter.Seq[Slot]
	// Forget tells the plan that nothing before now will be asked again. It
	// reports whether anything that was taken has become free by the passing of
	// time since the last call.
	Forget(now des.Time) (gained bool)
	// Fits reports whether req could be met were the plan empty; the error says
	// why not, for the job's user.
	Fits(req Request) error
}

// ConflictError reports a reservation of what is already taken.
type ConflictError struct {
	Job    *Job
	Window Window
	Detail string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: [%v, %v) for %d nodes is taken: %s", e.Job, e.Window.Start, e.Window.End, e.Window.Nodes, e.Detail)
}
