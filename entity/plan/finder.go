package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// SlotList lists what is free in the scheduling interval [From, To): slots within it,
// ordered by non-decreasing start (ties in any fixed order).
type SlotList struct {
	From, To des.Time      // beginning and end of the interval
	Slots    []entity.Slot // Invariant: From <= Start < End <= To, ordered by Start
	// Checked says that somebody has looked at the slots' order, lengths and nodes, so that
	// searches need not; see window.Checked. Code that adds slots must set it to false.
	Checked bool
}

// Finder searches a slot list for one window: ALP, AMP, AEP, the square
// searches. policy/window implements them; a Domain asks its Finder whenever
// it is asked for a window.
type Finder interface {
	// Name returns the search's name in files and figures.
	Name() string
	// Find returns the window that the finder prefers among those that start no later than
	// until. Found.OK is false if there is none. An error means that there is no answer: the
	// input makes no sense (a *BadInputError), or a context ended.
	Find(ctx context.Context, req entity.Request, list SlotList, until des.Time) (Found, error)
}

// Traits say what is known of a Finder's answers to a request before it searches. A plan
// that knows them skips searches; the answers stay the same. The zero value claims nothing,
// and is right for every Finder.
type Traits struct {
	// Earliest: where all nodes of the list are of equal traits and no budget binds, Find
	// gives the earliest window there is, and its Window.Value is Worth of it. A Domain
	// then looks the window up in its counts.
	Earliest bool
	// FirstFit means that Find goes through the slots in their order and keeps the slots
	// that have room for their task, as long as they have it. The window starts with the
	// slot that makes n of them, costs are ignored, and Window.Value is Worth of the window.
	// A Domain of unequal nodes then reads the window off its plan.
	FirstFit bool
	// Complete: Find gives a window within the budget wherever there is one. See Surely.
	Complete bool
	// Square: a window holds every node for as long as the slowest of them needs;
	// otherwise each for its own task's time.
	Square bool
	// Sign tells which of two windows is preferred: -1 the window of the lesser
	// Window.Value, 1 the window of the greater; 0 if values do not tell.
	Sign int
	// Worth is Window.Value of a window; only Earliest and FirstFit need it.
	Worth func(*entity.Window) float64
}

// In all of these a task takes Node.TaskTime, and a tick at least. A Finder that makes
// tasks longer is none of Earliest, FirstFit and Complete.

// TraitsOf returns the traits of a criterion's answers to req: the result of its method
// Traits, or the traits of the criterion that its method Unwrap returns, or the zero value.
func TraitsOf(by entity.Criterion, req *entity.Request) Traits {
	for by != nil {
		if f, says := by.(interface {
			Traits(*entity.Request) Traits
		}); says {
			return f.Traits(req)
		}
		f, wraps := by.(interface{ Unwrap() Finder })
		if !wraps {
			break
		}
		by = f.Unwrap()
	}
	return Traits{}
}

// Compare returns a number below 0 if the criterion prefers the window a to b, above 0 if it prefers b,
// and 0 if it cannot tell: both are worth the same, one has no named nodes or is nil, or
// nothing is known of the criterion.
func Compare(by entity.Criterion, a, b *entity.Window) int {
	if a == nil || b == nil || a.Tasks == nil || b.Tasks == nil {
		return 0
	}
	return -TraitsOf(by, &entity.Request{}).Sign * cmp.Compare(a.Value, b.Value)
}

// Surely reports whether a Finder with these traits finds a window for req if the list has
// the slot [from, to) of each of the nodes and any start is allowed. That is so if the first
// n nodes on which a task ends in time make a window within the budget, or the first n of
// those that are fast enough. If Surely returns false, only a search can tell.
//
// Every job that comes is asked whether it could ever get a window, with every node free,
// and mostly such nodes make one, above all if the nodes are in the order of their prices.
func (t Traits) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	if !t.Complete || math.IsInf(req.Budget, 1) {
		return false
	}
	// So near to the budget that the order of the sum matters, the search has to tell; and
	// searches count costs in ticks, which are not to overflow.
	limit := min(req.BudgetLimit(), math.MaxFloat64/float64(des.Second)) * (1 - 1e-9)
	within := min(to, req.DeadlineLimit()) - from
	for {
		cost, longest, ok := t.first(req, nodes, within)
		if !ok || cost <= limit {
			return ok
		}
		// A square window of faster nodes is shorter. A sixteenth less bounds the number of turns.
		within = min(longest-des.Tick, longest/16*15)
	}
}

// first returns what a window costs of the first n nodes on which a task takes no longer than
// within, and how long the longest task takes. ok is false if there are fewer nodes.
func (t Traits) first(req *entity.Request, nodes []*entity.Node, within des.Time) (cost float64, longest des.Time, ok bool) {
	price, left := 0.0, req.Nodes
	for _, n := range nodes {
		if left == 0 {
			break
		}
		own := max(n.TaskTime(req.Length), des.Tick)
		if own > within || !req.Admits(n) {
			continue
		}
		left--
		longest = max(longest, own)
		price += n.Price
		cost += float64(n.Price * own.Seconds())
	}
	if t.Square {
		cost = float64(price * longest.Seconds())
	}
	return cost, longest, left == 0
}

// Found is the outcome of one search.
type Found struct {
	Window entity.Window // the answer; only if OK
	OK     bool          // whether there is a window
	// Alternatives is the number of windows that a repeated search (CSA, MultipleBest) chose among;
	// 0 for a search that makes one window.
	Alternatives int
	// Gap is the greatest amount by which another window could be worth more, if an exact search
	// ran out of patience; 0 means a proven optimum.
	Gap  float64
	Work Work // what the search has done
}

// BadInputError says what makes a request or a slot list meaningless.
type BadInputError struct {
	Reason string // for people
}

func (e *BadInputError) Error() string { return e.Reason }

// BadInput returns a *BadInputError with that text.
func BadInput(format string, args ...any) error {
	return &BadInputError{Reason: fmt.Sprintf(format, args...)}
}

// Rounding is the part of itself by which a sum or a quotient of floating-point numbers may
// pass a limit, or a whole number, and still count as equal to it.
const Rounding = 1e-12

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
