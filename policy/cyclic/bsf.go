// BSF, batch-slice-filling (META, section 6).
//
//  1. Of the batch the share q is taken: the first jobs by priority, the dearest or those that
//     demand the greatest performance (Share.Split).
//  2. The batch-slicer plans these jobs.
//  3. Filling gives each of the others, in order of priority, the first window that it finds in
//     what is left.
//
// In a simulation step 3 is backfilling that reacts to early releases: see Policy, whose Rest
// it is.

package cyclic

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// BSF is batch-slice-filling. Share 0 is Filling, share 1 the batch-slicer.
type BSF struct {
	Share   Share       // which jobs are sliced
	Slicer  BatchSlicer // plans the sliced jobs
	Filling Filling     // plans the other jobs
}

// Name returns "bsf".
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

// Selection is the rule by which BSF selects the jobs of a batch that it slices.
type Selection uint8

const (
	ByPriority    Selection = iota // the first
	Dearest                        // jobs of the greatest budget; no limit counts as the greatest
	MostDemanding                  // jobs of the greatest minimal performance
)

var selections = enum.Of[Selection]("selection", "priority", "dearest", "demanding")

func (s Selection) String() string { return selections.Name(s) }

// ParseSelection reads "priority", "dearest" or "demanding".
func ParseSelection(s string) (Selection, error) { return selections.Parse(s) }

// Share is the part of a batch that BSF slices: round(Q n) jobs of n.
type Share struct {
	Q  float64   // in [0, 1]
	By Selection // which jobs are sliced first
	// Inclusive slices the jobs at the positions 0 to floor(Q n), one more than Q n,
	// as the authors' program does. Share 0 stays none.
	Inclusive bool
}

// Split returns the positions of the jobs to slice and of the other jobs, both in order of
// priority. Of ties the first job is sliced.
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

// Filling gives every job, in order of priority, the window it finds in what
// the jobs before it left: conservative backfilling where all are there from
// the beginning and estimates are exact. Backfilling that reacts to early
// releases needs a clock: see Policy.
type Filling struct {
	// Finder finds the windows; nil means AMP, the earliest. A window.Cheapest
	// with FirstFit finds square ones. Users' criteria are not looked at.
	Finder plan.Finder
}

// Name returns "filling".
func (Filling) Name() string { return "filling" }

// Plan implements Planner by one round of the search for alternatives, after which every job
// has at most one.
func (f Filling) Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	found, stats, err := Search{Finder: f.Finder, Rounds: 1}.Run(ctx, withoutCriteria(batch), list)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Jobs: make([]Decision, len(batch)), Stats: stats}
	for i, windows := range found {
		d := &out.Jobs[i]
		if d.OK = len(windows) > 0; d.OK {
			d.Window, d.Alternatives = windows[0], 1
		} else {
			d.Reason = noWindow
		}
	}
	out.Left, err = without(list, out.windows())
	return out, err
}
