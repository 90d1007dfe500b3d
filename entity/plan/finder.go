package plan

import (
	"context"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// SlotList is what is free in the scheduling interval [From, To): slots within
// it, ordered by non-decreasing start (ties in any fixed order).
type SlotList struct {
	From, To des.Time
	Slots    []entity.Slot
	// Checked says that somebody has looked at the slots' order, lengths and nodes,
	// so that searches need not; see window.Checked. Who adds slots takes it back.
	Checked bool
}

// Finder searches a slot list for one window: ALP, AMP, AEP, the square
// searches. policy/window implements them; a Domain asks its Finder whenever
// it is asked for a window.
type Finder interface {
	Name() string
	// Find returns the window that the finder prefers among those that start no
	// later than until. Found.OK is false where there is none. The error is for
	// what is no answer: input that makes no sense (a *BadInputError) or a
	// context that ended.
	Find(ctx context.Context, req entity.Request, list SlotList, until des.Time) (Found, error)
}

// EarliestFinder is a Finder that may know its answer without a search: among
// equal nodes many a criterion comes down to the earliest start. A Domain then
// looks the window up in its counts.
type EarliestFinder interface {
	Finder
	// EarliestAmongEquals reports that, where all nodes in the list are of equal
	// traits and no budget binds, Find always gives the earliest window there is,
	// in which every task takes Node.TaskTime (a tick at least).
	EarliestAmongEquals() bool
	// Worth is Window.Value of such a window.
	Worth(w *entity.Window) float64
}

// FirstFinder is a Finder that takes slots as they come, at least for some
// requests. A Domain of unequal nodes then reads the window off its plan.
type FirstFinder interface {
	EarliestFinder
	// TakesFirst reports that Find answers req by first fit: of the slots in their
	// order it keeps those that have room for their task, as long as they have it,
	// and the window starts with the slot that makes n of them. Every task takes
	// Node.TaskTime (a tick at least), and costs are not looked at.
	TakesFirst(req *entity.Request) bool
}

// SureFinder is a Finder that can tell without a search, of some requests, that
// there is a window where all nodes are free. A Domain asks it for every job that is
// submitted.
type SureFinder interface {
	Finder
	// Surely reports that Find gives req a window if the list has the slot [from, to)
	// of each of the nodes, and any start is allowed. Where it is false, only a search
	// can tell.
	Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool
}

// Found is the outcome of one search.
type Found struct {
	Window entity.Window
	OK     bool
	// Alternatives is how many windows a repeated search (CSA, MultipleBest)
	// chose among; 0 for a search that makes one window.
	Alternatives int
	// Gap is how much more, at most, another window could be worth where an
	// exact search ran out of patience; 0 is a proven optimum.
	Gap  float64
	Work Work
}

// BadInputError says what makes a request or a slot list meaningless.
type BadInputError struct {
	Reason string
}

func (e *BadInputError) Error() string { return e.Reason }

// Work says what a search did, for reports and for bounds on it.
type Work struct {
	Slots    int // slots looked at
	Steps    int // instants at which a subset was wanted
	Subsets  int // subset problems solved, not skipped by a bound
	Branches int // branch-and-bound nodes or dynamic-programming cells visited
}

// Add accumulates w.
func (w *Work) Add(more Work) {
	w.Slots += more.Slots
	w.Steps += more.Steps
	w.Subsets += more.Subsets
	w.Branches += more.Branches
}
