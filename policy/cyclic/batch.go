// What goes into a planner and what comes out of it.

package cyclic

import (
	"context"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

// Item is one job of a batch as planners see it.
type Item struct {
	// Request.Criterion is its user's search for windows, where that is a
	// plan.Finder; otherwise it is the planner's own search.
	Request entity.Request
	// Until is the latest start; 0 means any.
	Until des.Time
}

// ask is j's search for windows until the end of the list, with otherwise where j
// has no criterion.
func (j *Item) ask(otherwise plan.Finder, end des.Time) window.Ask {
	a := window.Ask{By: otherwise, Request: j.Request, Until: end}
	if own, ok := j.Request.Criterion.(plan.Finder); ok {
		a.By = own
	}
	if a.By == nil {
		a.By = window.AMP{}
	}
	if j.Until > 0 {
		a.Until = min(a.Until, j.Until)
	}
	return a
}

// Planner plans a batch, given in order of priority, on a slot list, which it
// leaves as it is.
//
// A batch that cannot be planned in full is no error: Outcome says what became of each job. An
// error is input that makes no sense (a *plan.BadInputError), or the end of ctx.
type Planner interface {
	// Name returns the planner's name in results.
	Name() string
	// Plan plans the batch. It must not change batch or list.
	Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error)
}

// Outcome is a planned batch.
type Outcome struct {
	Jobs []Decision // one for each job of the batch, in its order
	// Left is the slot list without the chosen windows.
	Left plan.SlotList
	// Slices are the choices made, one for each part of the batch that was
	// planned by itself.
	Slices []Slice
	Stats  Stats // what planning took
}

// noWindow is why a job has none that found no alternative.
const noWindow = "no window in this cycle"

// Decision is the outcome for one job of a batch.
type Decision struct {
	Window entity.Window // only if OK
	OK     bool          // whether the job has a window
	// Alternatives is the number of windows that were found to choose from.
	Alternatives int
	// Found is the list of these windows, in the order in which they were found, if
	// Search.Keep is set. Window, if there is one, is Found[Chosen], which may have been
	// shifted since.
	Found  []entity.Window
	Chosen int // position in Found
	// Reason says why there is no window; Infeasible, where the limit of its slice is
	// why, by how much that is too low.
	Reason     string
	Infeasible *InfeasibleError
}

// Slice is the choice made for one part of a batch.
type Slice struct {
	Jobs        []int       // positions in the batch of the jobs that had alternatives
	Combination Combination // the choice; only if Infeasible is nil
	// Infeasible is set where no combination keeps within the limit: the jobs
	// are postponed.
	Infeasible *InfeasibleError
	// Front is the Pareto front of the alternatives where the planner was asked for
	// it and B* could be told.
	Front *Front
}

// Stats says what planning took.
type Stats struct {
	Alternatives int       // windows found in all
	Rounds       int       // of the searches, the last and vain ones included
	States       int       // of the choices; see Combination
	Work         plan.Work // of the searches for windows
}

func (s *Stats) add(more Stats) {
	s.Alternatives += more.Alternatives
	s.Rounds += more.Rounds
	s.States += more.States
	s.Work.Add(more.Work)
}

// Planned counts the jobs that have a window.
func (o *Outcome) Planned() int {
	n := 0
	for i := range o.Jobs {
		if o.Jobs[i].OK {
			n++
		}
	}
	return n
}

// windows are the chosen windows, in order of the batch.
func (o *Outcome) windows() []entity.Window {
	var windows []entity.Window
	for i := range o.Jobs {
		if o.Jobs[i].OK {
			windows = append(windows, o.Jobs[i].Window)
		}
	}
	return windows
}

// without returns the slot list less the windows.
func without(list plan.SlotList, windows []entity.Window) (plan.SlotList, error) {
	left := list
	left.Slots = slices.Clone(list.Slots)
	for i := range windows {
		var err error
		if left.Slots, err = window.Subtract(left.Slots, &windows[i]); err != nil {
			return plan.SlotList{}, err
		}
	}
	return left, nil
}

// check reports a batch that makes no sense.
func check(batch []Item) error {
	for i := range batch {
		if err := batch[i].Request.Check(); err != nil {
			return plan.BadInput("job %d of the batch: %v", i, err)
		}
	}
	return nil
}
