package entity

import (
	"context"
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Plan is what is taken, and when. A started job, an owner's local job, a
// chosen window and the hold for the head of a queue are all reservations in
// it. Package plan has the two that come with the framework, plan.Cluster
// (counted processors) and plan.Domain (named nodes), and a test that any other
// must pass (package plantest).
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
	// Reserve keeps w for r and sets r.Reservation, to which it returns a
	// pointer. What is taken it refuses with a *ConflictError: space sharing
	// cannot be broken through a plan.
	Reserve(r *Run, w Window) (*Reservation, error)
	// Move puts w in the place of what r, which lies ahead, holds.
	Move(r *Reservation, w Window) error
	// Release gives back what r holds from the instant at on: an early finish
	// (at inside the window) and a cancellation (at before it) alike. The
	// reservation is no longer active; a second call does nothing.
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

// TaskPlan is a Plan whose windows have Tasks: its nodes have names and end
// apart from each other. The nodes of a plan that has Tasks and is no TaskPlan
// are all given back when the last task has ended.
type TaskPlan interface {
	Plan
	// Settle is called when the window of r begins: from now on its Tasks name
	// the nodes that the job really has. A plan that counts equal nodes ahead
	// chooses them here.
	Settle(r *Reservation)
	// ReleaseTask gives back the node of r's i-th task from the instant at on. It
	// is called once a task; Release follows the last one.
	ReleaseTask(r *Reservation, i int, at des.Time)
	// Extend has the tasks of r, which is settled, end as those of w do, on the nodes
	// that they have: none earlier than now, and those that have been given back as they
	// are. What is taken it refuses with a *ConflictError, and changes nothing.
	Extend(r *Reservation, w Window) error
	// Least is the least time that a window for req can take, whatever is reserved:
	// on fast nodes it is less than the request's length.
	Least(req Request) des.Time
	// NextGain is the next instant at which a node becomes free by the passing of
	// time alone, without a job's end, or des.Forever.
	NextGain() des.Time
	// Err is what ends the run, or nil: an answer of the plan that was none.
	Err() error
}

// PinPlan is a TaskPlan that counts equal nodes ahead, or any other that can keep
// nodes by name: what owners' jobs and outages need.
type PinPlan interface {
	TaskPlan
	// Pin is Reserve for exactly the nodes that w names, and not for their equals.
	Pin(r *Run, w Window) (*Reservation, error)
	// InTheWay lists the runs that have any of the nodes that w names while w
	// lasts. Where the plan only counts, it is decided now which of the
	// reservations ahead those nodes take: as few as can be of those that yield,
	// and none of the others unless there is no choice.
	InTheWay(w Window, yields func(*Run) bool) []*Run
}

// QuickPlan is a Plan that answers faster where a request asks for nothing but
// nodes and a length, and that can tell more of a miss than that it is one.
type QuickPlan interface {
	Plan
	// FitsAt reports whether so many nodes are free for so long from the instant
	// at on. If not, it says which requests fail there for the same reason: all
	// for at least missNodes and for at least missLength.
	FitsAt(at des.Time, nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time)
}

// ContextPlan is a Plan whose searches can be long: it is told which context
// ends them.
type ContextPlan interface {
	Plan
	Under(ctx context.Context)
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
