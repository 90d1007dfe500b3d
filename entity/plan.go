package entity

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Plan is what is taken, and when. A started job, an owner's local job, a
// chosen window and the hold for the head of a queue are all reservations in
// it. Package plan has the two that come with the framework, plan.Cluster
// (counted processors) and plan.Domain (named nodes), and a test that any other
// must pass (package plantest). A plan of one's own embeds one of these two.
//
// A plan has no clock: callers ask and reserve from their own "now" on, and
// Forget tells it that what lies before will not be asked again.
//
//	of its nodes    Size  Node
//	of a request    Fits  Find  FindEarlier  FitsAt
//	of capacity     Slots  InTheWay  NextGain
//	reserving       Reserve  Move  Withhold
//	as time passes  Forget  Settle  Extend  ReleaseTask  Release
type Plan interface {
	// Size is how many nodes, or counted processors, there are.
	Size() int
	// Node is the node of that number, from 0 on; nil of counted processors, which have
	// no names, no prices and a performance of 1.
	Node(i int) *Node

	// Fits reports whether req could be met were the plan empty; the error says
	// why not, for the job's user.
	Fits(req Request) error
	// Find returns the plan's best window for req that starts in [from, until]:
	// on counted processors the earliest; on named nodes what the plan's Finder
	// prefers. (now, now) asks what fits now.
	Find(req Request, from, until des.Time) (Window, bool)
	// FindEarlier is Find as though r, which lies ahead, had been given up, for
	// a window that starts in [from, until] and before r's. It changes nothing.
	FindEarlier(r *Reservation, from, until des.Time) (Window, bool)
	// FitsAt reports whether so many nodes are free for so long from the instant
	// at on, whatever else a request may ask of them. If not, it says which requests
	// fail there for the same reason: all for at least missNodes and for at least
	// missLength, which are nodes and length where the plan knows of no others.
	FitsAt(at des.Time, nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time)

	// Slots yields what is free within [from, until), by start.
	Slots(from, until des.Time) iter.Seq[Slot]
	// InTheWay lists the runs that have any of these nodes, by number, within [from, to);
	// none where nodes have no names. Where the plan only counts equal nodes ahead, it is
	// decided now which of the reservations ahead the nodes take: as few as can be of
	// those that yield, and none of the others unless there is no choice.
	InTheWay(at Where, from, to des.Time, yields func(*Run) bool) []*Run
	// NextGain is the next instant at which something becomes free by the passing of
	// time alone, without a job's end, where the plan can tell; or des.Forever. Forget
	// tells of it once it has come.
	NextGain() des.Time

	// Reserve keeps w for r and sets r.Reservation, to which it returns a
	// pointer. What is taken it refuses with a *ConflictError: space sharing
	// cannot be broken through a plan.
	Reserve(r *Run, w Window) (*Reservation, error)
	// Move puts w in the place of what r, which lies ahead, holds.
	Move(r *Reservation, w Window) error
	// Withhold is Reserve over [from, to) for no job: of so many counted processors, or
	// of exactly these nodes, and not of their equals.
	Withhold(r *Run, at Where, from, to des.Time) error

	// Forget tells the plan that nothing before now will be asked again. It
	// reports whether anything that was taken has become free by the passing of
	// time since the last call.
	Forget(now des.Time) (gained bool)
	// Settle is called when the window of r begins, if it has Tasks: from now on these
	// name the nodes that the job really has. A plan that counts equal nodes ahead
	// chooses them here.
	Settle(r *Reservation)
	// Extend has r, which has begun, end as w does and its tasks, on the nodes that they
	// have, as those of w do: none earlier than now, and those that have been given back as
	// they are. What is taken it refuses with a *ConflictError, and changes nothing.
	Extend(r *Reservation, w Window) error
	// ReleaseTask gives back the node of r's i-th task from the instant at on. It
	// is called once a task; Release follows the last one.
	ReleaseTask(r *Reservation, i int, at des.Time)
	// Release gives back what r holds from the instant at on: an early finish
	// (at inside the window) and a cancellation (at before it) alike. The
	// reservation is no longer active; a second call does nothing.
	Release(r *Reservation, at des.Time)

	// Err is what ends the run, or nil: that the plan is none, or an answer that was none.
	Err() error
}

// ConflictError reports a reservation of what is already taken.
type ConflictError struct {
	Run    *Run
	Window Window
	// At is the first instant of the window at which it is, where the plan tells.
	At     des.Time
	Detail string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: [%v, %v) for %d nodes is taken: %s", e.Run, e.Window.Start, e.Window.End, e.Window.Nodes, e.Detail)
}
