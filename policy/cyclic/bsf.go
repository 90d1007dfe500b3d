// Backfilling on a slot list, and batch-slice-filling.

package cyclic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy/window"
)

// Filling gives every job, in order of priority, the window it finds in what
// the jobs before it left: conservative backfilling where all are there from
// the beginning and estimates are exact. Backfilling that reacts to early
// releases needs a clock: see Policy.
type Filling struct {
	// Finder finds the windows; nil means AMP, the earliest. A window.Cheapest
	// with FirstFit finds square ones. Users' criteria are not looked at.
	Finder plan.Finder
}

// Name is "filling".
func (Filling) Name() string { return "filling" }

// Plan implements Planner.
func (f Filling) Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	if err := check(batch); err != nil {
		return nil, err
	}
	left, err := window.Checked(list)
	if err != nil {
		return nil, err
	}
	left.Slots = slices.Clone(list.Slots)
	out := &Outcome{Jobs: make([]Decision, len(batch)), Left: list}
	for i := range batch {
		j := batch[i]
		j.Request.Criterion = nil
		a := j.ask(f.Finder, list.To)
		found, err := a.By.Find(ctx, a.Request, left, a.Until)
		if err != nil {
			return nil, fmt.Errorf("searching a window for job %d of the batch: %w", i, err)
		}
		out.Stats.Work.Add(found.Work)
		d := &out.Jobs[i]
		if !found.OK {
			d.Reason = "no window in this cycle"
			continue
		}
		d.Window, d.OK, d.Alternatives = found.Window, true, 1
		if left.Slots, err = window.Subtract(left.Slots, &found.Window); err != nil {
			return nil, fmt.Errorf("cutting out the window for job %d of the batch: %w", i, err)
		}
		out.Stats.Alternatives++
	}
	out.Left.Slots = left.Slots
	return out, nil
}

// Selection is which jobs of a batch BSF slices.
type Selection uint8

const (
	ByPriority    Selection = iota // the first
	Dearest                        // those of the greatest budget; no limit is the greatest
	MostDemanding                  // those of the greatest minimal performance
)

var selections = enum.Of[Selection]("selection", "priority", "dearest", "demanding")

func (s Selection) String() string { return selections.Name(s) }

// ParseSelection reads "priority", "dearest" or "demanding".
func ParseSelection(s string) (Selection, error) { return selections.Parse(s) }

// Share is the part of a batch that BSF slices: round(Q n) jobs of n.
type Share struct {
	Q  float64 // in [0, 1]
	By Selection
	// Inclusive slices the jobs at the positions 0 to floor(Q n), one more than Q n,
	// as the authors' program does. Share 0 stays none.
	Inclusive bool
}

// Split returns the positions of the jobs to slice and of the others, both in
// order of priority. Ties go to the first.
func (s Share) Split(batch []Item) (sliced, rest []int, err error) {
	if !(s.Q >= 0 && s.Q <= 1) {
		return nil, nil, plan.BadInput("the share of a batch must be in [0, 1], not %v", s.Q)
	}
	order := make([]int, len(batch))
	for i := range order {
		order[i] = i
	}
	switch s.By {
	case Dearest:
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(batch[b].Request.BudgetLimit(), batch[a].Request.BudgetLimit())
		})
	case MostDemanding:
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(batch[b].Request.MinPerf, batch[a].Request.MinPerf)
		})
	}
	n := int(math.Floor(float64(s.Q*float64(len(batch))) + 0.5))
	if s.Inclusive && s.Q > 0 {
		n = min(int(math.Floor(s.Q*float64(len(batch)))+1), len(batch))
	}
	sliced, rest = order[:n], order[n:]
	slices.Sort(sliced)
	slices.Sort(rest)
	return sliced, rest, nil
}

// BSF is batch-slice-filling (META, section 6): a share of the batch goes to the
// batch-slicer, the rest is filled in on what that leaves. Share 0 is Filling,
// share 1 the batch-slicer.
type BSF struct {
	Share   Share
	Slicer  BatchSlicer
	Filling Filling
}

// Name is "bsf".
func (BSF) Name() string { return "bsf" }

// Plan implements Planner.
func (b BSF) Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	sliced, rest, err := b.Share.Split(batch)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Jobs: make([]Decision, len(batch)), Left: list}
	if err := b.part(ctx, b.Slicer, batch, sliced, out); err != nil {
		return nil, err
	}
	return out, b.part(ctx, b.Filling, batch, rest, out)
}

// part plans the batch's jobs at some positions on what is left, into out.
func (b BSF) part(ctx context.Context, p Planner, batch []Item, positions []int, out *Outcome) error {
	done, err := p.Plan(ctx, at(batch, positions), out.Left)
	if err != nil {
		return err
	}
	for i, k := range positions {
		out.Jobs[k] = done.Jobs[i]
	}
	for _, s := range done.Slices {
		for i, k := range s.Jobs {
			s.Jobs[i] = positions[k]
		}
		out.Slices = append(out.Slices, s)
	}
	out.Left = done.Left
	out.Stats.add(done.Stats)
	return nil
}
