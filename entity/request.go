package entity

import (
	"errors"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
)

// Request says what a job asks of a plan: n nodes at the same time. The zero value of every
// limit means "no limit".
//
// AMP11 states a request as (N, P, C, t), META and DEP18 by a volume V and a budget S; here
// V is Length (t at performance P is Length = t*P) and S = C*t*N.
type Request struct {
	// Nodes is n: how many nodes, or processors, at the same instant.
	Nodes int
	// Length is one task's reservation time on a node of performance 1 (the
	// volume V): a task lasts Length/p on a node of performance p. On counted
	// processors, whose performance is 1, it is the runtime estimate.
	Length des.Time
	// MinPerf is P, the least performance a node may have.
	MinPerf float64
	// MaxPrice is C, the highest price of one node for one time unit (ALP).
	MaxPrice float64
	// Budget is S, the highest cost of the whole window (AMP and after).
	Budget float64
	// Deadline is the latest instant at which the window may end.
	Deadline des.Time
	// Needs are requirements on the nodes' attributes, or nil.
	Needs *Attributes
	// Criterion is the search for windows that suits the user best, or nil: the
	// plan's own. A plan over named nodes knows a plan.Finder; on counted
	// processors all windows of one start are alike, and it changes nothing.
	Criterion Criterion
}

// Criterion is a user's own search for windows; see plan.Finder.
// Name is the criterion's name in files and figures.
type Criterion interface{ Name() string }

// Check reports what makes r meaningless, or nil.
func (r *Request) Check() error {
	switch {
	case r.Nodes < 1:
		return fmt.Errorf("a request needs at least 1 node, not %d", r.Nodes)
	case r.Length <= 0 || r.Length == des.Forever:
		return fmt.Errorf("a request's length (its estimate) must be a finite time above 0, not %v", r.Length)
	case !(r.MinPerf >= 0) || math.IsInf(r.MinPerf, 0):
		return fmt.Errorf("a request's minimal performance must be a number of 0 or more, not %v", r.MinPerf)
	case !(r.MaxPrice >= 0):
		return fmt.Errorf("a request's maximal price must be a number of 0 or more (0 = no limit), not %v", r.MaxPrice)
	case !(r.Budget >= 0):
		return fmt.Errorf("a request's budget must be a number of 0 or more (0 = no limit), not %v", r.Budget)
	case r.Deadline < 0:
		return errors.New("a request's deadline must not be negative (0 = none)")
	}
	return nil
}

// Admits reports whether a task of r may run on n at all: performance, price
// and attributes, whatever the time.
func (r *Request) Admits(n *Node) bool {
	if n.Perf < r.MinPerf || (r.MaxPrice > 0 && n.Price > r.MaxPrice) {
		return false
	}
	return r.Needs == nil || n.Attributes.satisfy(r.Needs)
}

// Accepts reports what makes w no window for a job with this request, or nil: too
// few nodes, one that must not be used, too little time.
func (r *Request) Accepts(w *Window) error {
	if w.Nodes != r.Nodes {
		return fmt.Errorf("has %d nodes, and the job asks for %d", w.Nodes, r.Nodes)
	}
	if w.Tasks == nil {
		if w.End-w.Start < r.Length { // Length would copy the window
			return fmt.Errorf("lasts %v, and the job asks for %v", w.Length(), r.Length)
		}
		return nil
	}
	for _, t := range w.Tasks {
		if t.Node == nil || !r.Admits(t.Node) {
			return fmt.Errorf("has a node that does not meet the job's demands: %v", t.Node)
		}
		if need := t.Node.TaskTime(r.Length); t.End-w.Start < need {
			return fmt.Errorf("has a task of %v on node %d, and the job needs it for %v", t.End-w.Start, t.Node.ID, need)
		}
	}
	return nil
}

// BudgetLimit returns the budget as a number to compare costs with: +Inf where
// there is no limit.
func (r Request) BudgetLimit() float64 {
	if r.Budget > 0 {
		return r.Budget
	}
	return math.Inf(1)
}

// DeadlineLimit returns the deadline as an instant to compare ends with.
func (r Request) DeadlineLimit() des.Time {
	if r.Deadline > 0 {
		return r.Deadline
	}
	return des.Forever
}
