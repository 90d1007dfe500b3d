// The batch-slicer (META, section 5).
//
//  1. The batch is cut into k slices, in order of priority or by what jobs are like (cut).
//  2. Each slice in turn is planned on what the ones before it left, as CSS plans a batch, but
//     each job's alternatives are searched by its user's own criterion (slice).
//  3. With a shift, each chosen window then moves to the earliest start on its own nodes, in
//     order of starts: after each slice or once the whole batch is planned (shift).

package cyclic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// BatchSlicer plans a batch in slices.
type BatchSlicer struct {
	// Slices is k, the number of parts of equal size; the first parts are larger by one if
	// the batch does not divide evenly. 0 means 1. There are at most as many slices as jobs.
	Slices int
	// By says which slice a job is in, the jobs with the greatest value first. Alike jobs,
	// and the jobs of a slice, stay in order of priority. ByCriterion never mixes criteria:
	// Slices is then the number of slices of each criterion.
	By Feature
	// LeastFirst puts the jobs with the least value first.
	LeastFirst bool
	Search     Search // finds the alternatives
	Choice     Choice // picks one of each job
	Shift      Shift  // moves chosen windows to earlier starts
	// Front, if not 0, makes every slice return its Pareto front, with at most that many
	// points, 2 or more (Slice.Front).
	Front int
	// CountShifted counts the place that a job was shifted to as one alternative
	// more, as the authors' program does. It changes no plan.
	CountShifted bool
}

// Name returns "batch-slicer".
func (BatchSlicer) Name() string { return "batch-slicer" }

// Plan implements Planner. Fixed limits, Choice.MaxTime and MaxCost, are for the
// batch: a slice has what earlier slices left of them.
func (b BatchSlicer) Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	if err := check(batch); err != nil {
		return nil, err
	}
	cuts, err := b.cut(batch)
	if err != nil {
		return nil, err
	}
	order := slices.Concat(cuts...)
	sorted := at(batch, order)
	out := &Outcome{Jobs: make([]Decision, len(batch)), Left: list}
	from := 0
	for i := range cuts {
		to := from + len(cuts[i])
		part := Outcome{Jobs: out.Jobs[from:to]}
		if err := b.slice(ctx, sorted[from:to], out, &part, from); err != nil {
			return nil, fmt.Errorf("planning slice %d of %d: %w", i+1, len(cuts), err)
		}
		out.Left = part.Left
		from = to
	}
	if b.Shift == ShiftEnd {
		if err := b.shift(out, list); err != nil {
			return nil, err
		}
	}
	out.rearrange(order)
	return out, nil
}

// slice plans the batch's jobs from the position from on, into part.
func (b BatchSlicer) slice(ctx context.Context, jobs []Item, out, part *Outcome, from int) error {
	// Alternatives. A job without any takes no part in the choice.
	alternatives, stats, err := b.Search.Run(ctx, jobs, out.Left)
	if err != nil {
		return err
	}
	slice := Slice{}
	var found [][]entity.Window
	for i := range jobs {
		d := &part.Jobs[i]
		d.Alternatives = len(alternatives[i])
		if d.Alternatives == 0 {
			d.Reason = noWindow
			continue
		}
		if b.Search.Keep {
			d.Found = alternatives[i]
		}
		slice.Jobs = append(slice.Jobs, from+i)
		found = append(found, alternatives[i])
	}
	// The front, for those who want to see what could have been chosen.
	if b.Front != 0 {
		front, err := b.Choice.front(ctx, found, out.Slices, b.Front)
		if infeasible := (*InfeasibleError)(nil); err == nil {
			slice.Front = &front
		} else if !errors.As(err, &infeasible) {
			return err
		}
	}
	// The choice, within what the slices before have left of fixed limits. If no combination keeps the limit, all
	// jobs of the slice are postponed.
	combination, err := b.Choice.choose(ctx, found, out.Slices)
	switch {
	case errors.As(err, &slice.Infeasible):
		for _, i := range slice.Jobs {
			out.Jobs[i].Reason, out.Jobs[i].Infeasible = "postponed: "+slice.Infeasible.Error(), slice.Infeasible
		}
	case err != nil:
		return err
	default:
		slice.Combination = combination
		for i, s := range combination.Picks {
			d := &out.Jobs[slice.Jobs[i]]
			d.Window, d.OK, d.Chosen = found[i][s], true, s
		}
	}
	// What the slice leaves.
	out.Slices = append(out.Slices, slice)
	stats.States = combination.States
	out.Stats.add(stats)
	if b.Shift == ShiftSlice {
		return b.shift(part, out.Left)
	}
	part.Left, err = without(out.Left, part.windows())
	return err
}

// Shift says when chosen windows are moved, in order of their starts, to the
// earliest start on their own nodes.
type Shift uint8

const (
	NoShift    Shift = iota
	ShiftEnd         // once the whole batch is planned
	ShiftSlice       // after each slice, before the next one is planned
)

var shifts = enum.Of[Shift]("shift", "off", "end", "slice")

func (s Shift) String() string { return shifts.Name(s) }

// ParseShift reads "off", "end" or "slice".
func ParseShift(s string) (Shift, error) { return shifts.Parse(s) }

// shift moves the windows of out, in order of their starts, to the earliest
// start on their own nodes (META's shift). Tasks keep their nodes and lengths,
// so that costs stay. base is the slot list without the windows; out.Left
// becomes what they leave of it.
//
//	before   ..AAA..BBB..    A, B on one node, each at a
//	after    AAABBB......    start that its search found
func (b BatchSlicer) shift(out *Outcome, base plan.SlotList) error {
	var order []*Decision
	for i := range out.Jobs {
		if out.Jobs[i].OK {
			order = append(order, &out.Jobs[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *Decision) int { return cmp.Compare(a.Window.Start, b.Window.Start) })
	// What each node has: its slots without any window, and the windows on it, those not yet moved among them.
	free := make(map[*entity.Node][]entity.Slot)
	for _, s := range base.Slots {
		free[s.Node] = append(free[s.Node], s)
	}
	others := make(map[*entity.Node][]*entity.Window)
	for _, d := range order {
		for _, t := range d.Window.Tasks {
			others[t.Node] = append(others[t.Node], &d.Window)
		}
	}
	windows := make([]entity.Window, len(order))
	for i, d := range order {
		w := &d.Window
		if move(w, earliestOn(w, base.From, free, others)) && b.CountShifted {
			d.Alternatives++
		}
		windows[i] = *w
	}
	var err error
	out.Left, err = without(base, windows)
	return err
}

// earliestOn is the first instant from which on all of w's tasks have their
// nodes to themselves. It is w's own start at the latest.
func earliestOn(w *entity.Window, from des.Time, free map[*entity.Node][]entity.Slot, others map[*entity.Node][]*entity.Window) des.Time {
	t := from
	for i := 0; i < len(w.Tasks); i++ {
		task := w.Tasks[i]
		at := earliestFor(w, t, task.End-w.Start, free[task.Node], others[task.Node], task.Node)
		if at > t {
			t, i = at, -1 // all tasks begin together: the others are asked again
		}
	}
	return t
}

// earliestFor is the first instant from t on at which one node has the length
// free, but for w's own task.
func earliestFor(w *entity.Window, t, length des.Time, free []entity.Slot, others []*entity.Window, n *entity.Node) des.Time {
	for _, s := range free {
		at := max(t, s.Start)
		for again := true; again && at+length <= s.End; {
			again = false
			for _, o := range others {
				if o == w || o.Start >= at+length {
					continue
				}
				if end := endOn(o, n); end > at {
					at, again = end, true
				}
			}
		}
		if at+length <= s.End {
			return at
		}
	}
	return w.Start
}

// endOn is the end of w's task on n.
func endOn(w *entity.Window, n *entity.Node) des.Time {
	for _, t := range w.Tasks {
		if t.Node == n {
			return t.End
		}
	}
	return w.Start
}

// move has w begin at start; it reports whether that is another one.
func move(w *entity.Window, start des.Time) bool {
	by := start - w.Start
	if by == 0 {
		return false
	}
	w.Tasks = slices.Clone(w.Tasks) // alternatives share theirs with nobody who wants them moved
	for i := range w.Tasks {
		w.Tasks[i].End += by
	}
	w.Start += by
	w.End += by
	return true
}
