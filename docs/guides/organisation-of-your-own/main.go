// Organisation-of-your-own is the command with a finder, a criterion and a planner more,
// all for the priced nodes of a domain.
package main

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

// Thrifty is a finder. It takes the cheapest window if each second of waiting for it saves
// more than Impatience, and otherwise the earliest window.
type Thrifty struct{ Impatience float64 }

func (Thrifty) Name() string { return "thrifty" }

func (t Thrifty) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	first, err := window.AMP{}.Find(ctx, req, list, until)
	if err != nil || !first.OK {
		return first, err
	}
	cheap, err := window.AEP{By: window.MinCost}.Find(ctx, req, list, until)
	if err != nil || !cheap.OK {
		return first, err
	}
	waits := (cheap.Window.Start - first.Window.Start).Seconds()
	if first.Window.Cost-cheap.Window.Cost > t.Impatience*waits {
		return cheap, nil
	}
	return first, nil
}

// Tight is a criterion: a window is worth more, the less of its slots it leaves free. It
// keeps long slots whole for long jobs.
type Tight struct{}

func (Tight) Value(s *entity.Slot, start, end des.Time) float64 {
	return -(start - s.Start).Seconds() - (s.End - end).Seconds()
}

// RichFirst is a planner: jobs with the highest budgets choose first, each by its user's
// criterion, on what the jobs before it have left.
type RichFirst struct{}

func (RichFirst) Name() string { return "rich-first" }

func (RichFirst) Plan(ctx context.Context, batch []cyclic.Item, list plan.SlotList) (*cyclic.Outcome, error) {
	out := &cyclic.Outcome{Jobs: make([]cyclic.Decision, len(batch)), Left: list}
	out.Left.Slots = slices.Clone(list.Slots) // the list itself stays as it is
	turns := make([]int, len(batch))
	for i := range turns {
		turns[i] = i
	}
	slices.SortStableFunc(turns, func(i, j int) int {
		return cmp.Compare(batch[j].Request.Budget, batch[i].Request.Budget)
	})
	for _, i := range turns {
		var by plan.Finder = window.AMP{}
		if own, ok := batch[i].Request.Criterion.(plan.Finder); ok {
			by = own
		}
		until := list.To
		if batch[i].Until > 0 {
			until = min(until, batch[i].Until)
		}
		found, err := by.Find(ctx, batch[i].Request, out.Left, until)
		switch {
		case err != nil:
			return nil, err
		case !found.OK:
			out.Jobs[i].Reason = "those before it left no window"
			continue
		}
		out.Jobs[i] = cyclic.Decision{Window: found.Window, OK: true, Alternatives: 1}
		if out.Left.Slots, err = window.Subtract(out.Left.Slots, &found.Window); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var mine = cli.Extend{
	Finders: policy.Table[plan.Finder]{
		{
			Name: "thrifty", Text: "the cheapest window, if waiting for it pays",
			Params: []policy.Param{{Name: "impatience", Values: "F", Text: "what a second of waiting must save (0.1)"}},
			New:    func(a *policy.Args) plan.Finder { return Thrifty{Impatience: a.Number("impatience", 0.1)} },
		},
		{
			Name: "tight", Text: "the window that leaves the least of its slots free",
			New: func(*policy.Args) plan.Finder { return window.Best{By: Tight{}, Rough: true} },
		},
	},
	NodePolicies: policy.Table[policy.OnNodes]{{
		Name: "rich-first", Text: "batches by the cycle, jobs with the highest budgets first",
		New: func(*policy.Args) policy.OnNodes {
			return policy.OnNodes{Policy: &cyclic.Policy{Planner: RichFirst{}}, Finder: window.AMP{}}
		},
	}},
}

func main() { os.Exit(cli.Main(mine)) }
