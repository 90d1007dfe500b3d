package simulation

// What the planner of batches has to tell: pareto-POLICY.csv, what each slice of each batch could have cost for what time,
// and what was chosen.

import (
	"fmt"
	"io"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/cyclic"
)

// paretoRow is a point of a front, or, with the number 0, the combination chosen,
// which need not lie on it. Times are in time units.
type paretoRow struct {
	PlannedAt  float64 `csv:"planned_at"`
	Slice      int     `csv:"slice"` // of the batch, from 1
	Jobs       int     `csv:"jobs"`  // that had alternatives
	Point      int     `csv:"point"`
	Cost       float64 `csv:"cost"`
	BudgetLeft float64 `csv:"budget_left"`
	Time       float64 `csv:"time"`
	TimeLeft   float64 `csv:"time_left"`
	Gap        float64 `csv:"gap"` // of the front, or of the choice
}

// fronts are the rows of one run.
type fronts []*paretoRow

// frontsOf is where a policy's fronts go, or nil if it is not to tell them.
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

// told takes one planned batch in.
func (f *fronts) told(r *entity.Round, _ []*entity.Run, out *cyclic.Outcome) {
	for k, s := range out.Slices {
		if s.Front == nil {
			continue
		}
		row := func(point int, v cyclic.Vector, gap float64) {
			*f = append(*f, &paretoRow{r.Now.Seconds(), k + 1, len(s.Jobs), point, v.C, v.D, v.T, v.I, gap})
		}
		if c := s.Combination; s.Infeasible == nil {
			t := c.Time.Seconds()
			row(0, cyclic.Vector{C: c.Cost, D: s.Front.Budget - c.Cost, T: t, I: s.Front.Time - t}, c.Gap)
		}
		for i, p := range s.Front.Points {
			row(i+1, p.Vector, s.Front.Gap)
		}
	}
}

// planning is a Flow in which the planner of a domain's batches, where the policy is one,
// tells of its alternatives and fronts.
func (c *call) planning(x *Session, p entity.Policy) Flow {
	by, ok := p.(*cyclic.Policy)
	if !ok {
		return hooks{}
	}
	var rows *fronts
	var windows *alternatives
	return hooks{
		attach: func(*Site) (none []entity.Observer, err error) {
			if rows = frontsOf(by); rows != nil {
				by.Told = rows.told
			}
			if c.options.Alternatives {
				windows, err = tellAlternatives(x, by)
			}
			return nil, err
		},
		end: func() error {
			if err := windows.failed(); err != nil || rows == nil {
				return err
			}
			return x.writeAtEnd("pareto", rows.write)
		},
	}
}

func (f *fronts) write(w io.Writer) error {
	if err := gocsv.Marshal([]*paretoRow(*f), w); err != nil {
		return fmt.Errorf("writing fronts as CSV: %w", err)
	}
	return nil
}
