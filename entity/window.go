package entity

import "github.com/gridslot/gridslot/des"

// Slot is a maximal span [Start, End) that is free: on one node (Width 1), or
// on Width counted processors (Node nil).
type Slot struct {
	Node  *Node    // nil on counted processors
	Width int      // number of processors; 1 on named nodes
	Start des.Time // first instant that is free
	End   des.Time // first instant that is not; des.Forever if there is none
}

// Window is an answer to a Request: Nodes tasks that begin at the same instant on distinct
// nodes.
//
// With a rough right edge (AMP11, META) every task ends at its own time, and End is the
// slowest task's end. A square window (DEP18) holds every node to the same End. On counted
// processors Tasks is nil.
type Window struct {
	Start des.Time // when all tasks begin
	End   des.Time // when the last task ends; Invariant: Start <= End
	Nodes int      // number of tasks; Invariant: len(Tasks) is Nodes or 0
	Tasks []Task   // one for each node, in the order of the finder; nil on counted processors
	Cost  float64  // sum over the tasks of price times reserved time
	Value float64  // what the finder's criterion makes of it
}

// Task is one node's part of a window: [Window.Start, End) on Node.
type Task struct {
	Node *Node    // where it runs
	End  des.Time // when its part ends; Invariant: Window.Start <= End <= Window.End
}

// Length returns the time from the window's start to its last task's end.
func (w Window) Length() des.Time { return w.End - w.Start }

// ProcessorTime returns the sum of the reserved times of all tasks (the papers'
// T_CPU).
func (w Window) ProcessorTime() des.Time {
	if w.Tasks == nil {
		return des.Time(w.Nodes) * w.Length()
	}
	var sum des.Time
	for _, t := range w.Tasks {
		sum += t.End - w.Start
	}
	return sum
}

// Reservation is a window that a plan keeps for a job. It lives in the job's
// Run: a job holds at most one at a time.
type Reservation struct {
	Window Window // what is kept; Plan.Move and Plan.Extend change it
	Run    *Run   // whose it is
	// Active is true from Plan.Reserve until Plan.Release.
	Active bool

	// What follows is for a plan with Tasks to keep.

	// Settled is true where the window's Tasks name the nodes that the job really
	// has: from its start on. Before, a node that has equals stands for any of them,
	// and the plan may put another one in its place.
	Settled bool
	// Partly is true where some of the tasks have been given back one by one.
	Partly bool
	// Index is the plan's own number of the reservation.
	Index int32
}
