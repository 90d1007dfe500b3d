package entity

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Plan records what is taken of a machine, and when. A started job, an owner's local job, a
// chosen window and the hold for the head of a queue are all reservations in it. Package
// plan has the two plans of the framework, plan.Cluster (counted processors) and plan.Domain
// (named nodes); package plantest has a test that any other plan must pass. Your own plan
// embeds one of these two.
//
// A plan has no clock: callers ask and reserve from their own "now" on, and Forget tells the
// plan that times before it will not be asked for again.
//
//	of its nodes    Size  Node
//	of a request    Fits  Find  FindEarlier  FitsAt
//	of capacity     Slots  InTheWay  NextGain
//	reserving       Reserve  Move  Withhold
//	as time passes  Forget  Settle  Extend  ReleaseTask  Release
type Plan interface {
	// Size returns how many nodes, or counted processors, there are.
	Size() int
	// Node returns the node of that number, from 0 on; nil of counted processors, which have
	// no names, no prices and a performance of 1.
	Node(i int) *Node

	// Fits reports whether req could be met were the plan empty; the error says
	// why not, for the job's user.
	Fits(req Request) error
	// Find returns the plan's best window for req that starts in [from, until]:
	// on counted processors the earliest; on named nodes what the plan's Finder
	// prefers. (now, now) asks what fits now.
	Find(req Request, from, until des.Time) (Window, bool)
	// FindEarlier returns what Find would return if r, which lies ahead, were given up, for
	// a window that starts in [from, until] and before r's. It changes nothing.
	FindEarlier(r *Reservation, from, until des.Time) (Window, bool)
	// FitsAt reports whether that many nodes are free for that length from the instant at
	// on, whatever else a request asks of them. If not, missNodes and missLength describe
	// the requests that fail there for the same reason: every request for at least missNodes
	// nodes and at least missLength. They are nodes and length if the plan knows no others.
	FitsAt(at des.Time, nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time)

	// Slots yields what is free within [from, until), by start.
	Slots(from, until des.Time) iter.Seq[Slot]
	// InTheWay lists the runs that have any of these nodes, by number, within [from, to);
	// none if nodes have no names. If the plan only counts equal nodes ahead, this call
	// decides which reservations ahead the nodes take: as few as possible of those that
	// yield, and others only if there is no choice.
	InTheWay(at Where, from, to des.Time, yields func(*Run) bool) []*Run
	// NextGain returns the next instant at which the passing of time alone, without a job's
	// end, makes something free, if the plan can tell; otherwise des.Forever. Forget reports
	// the gain once that instant has come.
	NextGain() des.Time

	// Reserve keeps w for r and sets r.Reservation, to which it returns a pointer. If any of
	// w is taken, it returns a *ConflictError: no caller can break space sharing through a
	// plan.
	Reserve(r *Run, w Window) (*Reservation, error)
	// Move replaces the window of r, which lies ahead, by w.
	Move(r *Reservation, w Window) error
	// Withhold reserves capacity over [from, to) for no job: a number of counted processors,
	// or exactly these nodes and not their equals.
	Withhold(r *Run, at Where, from, to des.Time) error

	// Forget tells the plan that nothing before now will be asked again. It
	// reports whether anything that was taken has become free by the passing of
	// time since the last call.
	Forget(now des.Time) (gained bool)
	// Settle is called when the window of r begins, if it has Tasks. From then on the Tasks
	// name the nodes that the job really has. A plan that counts equal nodes ahead chooses
	// the nodes here.
	Settle(r *Reservation)
	// Extend moves the end of r, which has begun, to the end of w. Each task of r stays on its
	// node and ends when the same task of w does. No new end is earlier than now; tasks that
	// were given back stay as they are. If any of it is taken, Extend returns a *ConflictError
	// and changes nothing.
	Extend(r *Reservation, w Window) error
	// ReleaseTask gives back the node of r's i-th task from the instant at on. It
	// is called once a task; Release follows the last one.
	ReleaseTask(r *Reservation, i int, at des.Time)
	// Release gives back what r holds from the instant at on: an early finish
	// (at inside the window) and a cancellation (at before it) alike. The
	// reservation is no longer active; a second call does nothing.
	Release(r *Reservation, at des.Time)

	// Err returns what makes the plan unusable, or an invalid answer that it has met; nil
	// otherwise. An error ends the run.
	Err() error
}

// ConflictError reports a reservation of what is already taken.
type ConflictError struct {
	Run    *Run   // the run whose reservation is refused
	Window Window // the window that is refused
	// At is the first instant of the window at which something is taken, if the plan can
	// tell.
	At     des.Time
	Detail string // what is taken, for people
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: [%v, %v) for %d nodes is taken: %s", e.Run, e.Window.Start, e.Window.End, e.Window.Nodes, e.Detail)
}
