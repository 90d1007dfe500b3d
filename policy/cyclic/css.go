// CSS and the batch-slicer.

package cyclic

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// CSS is the cyclic scheduling scheme of AMP11 and META: alternatives for the
// whole batch by first fit, whatever its users' criteria, then the choice of
// one for each job.
type CSS struct {
	Search Search
	Choice Choice
	Shift  Shift
	Front  int // as in BatchSlicer
}

// Name is "css".
func (CSS) Name() string { return "css" }

// Plan implements Planner.
func (c CSS) Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	plain := slices.Clone(batch)
	for i := range plain {
		plain[i].Request.Criterion = nil
	}
	return BatchSlicer{Search: c.Search, Choice: c.Choice, Shift: c.Shift, Front: c.Front}.Plan(ctx, plain, list)
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

// BatchSlicer cuts the batch into slices in order of priority, or by what jobs are
// like, and plans each as CSS does, by its users' own criteria, on what the ones
// before it left (META, section 5).
type BatchSlicer struct {
	// Slices is k, into how many parts of equal size, the first ones larger by one
	// where it does not come out even; 0 means 1. Slices of one job are the most
	// there can be.
	Slices int
	// By is what decides which slice a job is in, the jobs with the greatest first;
	// jobs that are alike, and those within a slice, stay in order of priority.
	// ByCriterion never mixes criteria: Slices is how many each of them has.
	By Feature
	// LeastFirst has the jobs with the least first.
	LeastFirst bool
	Search     Search
	Choice     Choice
	Shift      Shift
	// Front, where it is not 0, has every slice tell its Pareto front, of so many
	// points at most, 2 or more (Slice.Front).
	Front int
	// CountShifted counts the place that a job was shifted to as one alternative
	// more, as the authors' program does. It changes no plan.
	CountShifted bool
}

// Name is "batch-slicer".
func (BatchSlicer) Name() string { return "batch-slicer" }

// Plan implements Planner. Fixed limits, Choice.MaxTime and MaxCost, are for the
// batch: a slice has what the ones before it left of them.
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
			d.Reason = "no window in this cycle"
			continue
		}
		if b.Search.Keep {
			d.Found = alternatives[i]
		}
		slice.Jobs = append(slice.Jobs, from+i)
		found = append(found, alternatives[i])
	}
	if b.Front != 0 {
		front, err := b.Choice.front(ctx, found, out.Slices, b.Front)
		if infeasible := (*InfeasibleError)(nil); err == nil {
			slice.Front = &front
		} else if !errors.As(err, &infeasible) {
			return err
		}
	}
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
	out.Slices = append(out.Slices, slice)
	stats.States = combination.States
	out.Stats.add(stats)
	if b.Shift == ShiftSlice {
		return b.shift(part, out.Left)
	}
	part.Left, err = without(out.Left, part.Windows())
	return err
}
