package simulation

// What the planner of batches has to tell: pareto-POLICY.csv, what each slice of each batch could have cost for what time,
// and what was chosen.

import (
	"io"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/cyclic"
)

// fronts are the rows of one run: the points of each front, and the combination chosen.
type fronts []rows.Combination

// frontsOf returns where a policy's fronts go; nil if the policy is not to tell them (its parameter
// front is 0).
func frontsOf(p *cyclic.Policy) *fronts {
	n := 0
	switch planner := p.Planner.(type) {
	case cyclic.CSS:
		n = planner.Front
	case cyclic.BatchSlicer:
		n = planner.Front
	}
	if n == 0 {
		return nil
	}
	return new(fronts)
}

// told takes one planned batch in: for each slice with a front, point 0 is the combination that was
// chosen, and the others are the points of the front, from 1 on. An infeasible slice has no
// combination.
func (f *fronts) told(r *entity.Round, _ []*entity.Run, out *cyclic.Outcome) {
	for k, s := range out.Slices {
		if s.Front == nil {
			continue
		}
		row := func(point int, v cyclic.Vector, gap float64) {
			*f = append(*f, rows.Combination{
				PlannedAt: r.Now, Slice: k + 1, Jobs: len(s.Jobs), Point: point, Cost: v.C, BudgetLeft: v.D, Time: v.T, TimeLeft: v.I, Gap: gap,
			})
		}
		if c := s.Combination; s.Infeasible == nil {
			// What is left of the budget and of the time quota makes the other two criteria.
			t := c.Time.Seconds()
			row(0, cyclic.Vector{C: c.Cost, D: s.Front.Budget - c.Cost, T: t, I: s.Front.Time - t}, c.Gap)
		}
		for i, p := range s.Front.Points {
			row(i+1, p.Vector, s.Front.Gap)
		}
	}
}

// planning is the flow in which the planner of a domain's batches tells of its alternatives and
// fronts. It is empty for a policy that plans no batches.
func (c *call) planning(x *session, p entity.Policy) siteFlow {
	by, ok := p.(*cyclic.Policy)
	if !ok {
		return hooks{}
	}
	var fronts *fronts
	var windows *alternatives
	return hooks{
		attaching: func(*machineSite) (none []entity.Observer, err error) {
			if fronts = frontsOf(by); fronts != nil {
				by.Told = fronts.told
			}
			if c.options.Alternatives {
				windows, err = tellAlternatives(x, by)
			}
			return nil, err
		},
		ending: func() error {
			if err := windows.end(); err != nil || fronts == nil {
				return err
			}
			return x.writeAtEnd("pareto", func(w io.Writer) error { return rows.WriteAll(w, rows.Combinations, *fronts) })
		},
	}
}
