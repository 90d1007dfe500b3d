package reproduce

// What it costs to search alternatives first: META's planners beside the best combination of
// all windows, for batches of a few jobs.

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// combination draws small batches on a few nodes, and lets every planner look for the least
// processor time.
type combination struct {
	Environment environment
	Batch       vo.Batch
	// The numbers of jobs that are compared; the combination of all windows takes time by the power
	// of them.
	Jobs []int
}

// The quantities, and the series that others are measured against.
const (
	batchTime  = "T_CPU of the batch"
	aboveIt    = "above the least, %"
	notWhole   = "not all jobs planned"
	allWindows = "all windows"
)

// noLimit is a budget B* that no batch reaches. B* follows from alternatives, which the combination
// of all windows does not have, so that a real one would bind some planners only.
const noLimit = 1e12

// planners returns the planners that are compared, for a batch of n jobs, of which a slicer makes n
// slices. Only the users' own budgets bind.
func (c combination) planners(n int) []struct {
	Name string
	cyclic.Planner
} {
	choice := cyclic.Choice{Problem: cyclic.BatchTime, MaxCost: noLimit}
	quick := cyclic.Search{Finder: window.AEP{By: window.MinProcTimeExact}}
	slicer := cyclic.BatchSlicer{Slices: n, Search: quick, Choice: choice}
	return []struct {
		Name string
		cyclic.Planner
	}{
		{"CSS", cyclic.CSS{Choice: choice}},
		{"CSS, quick windows", cyclic.CSS{Search: quick, Choice: choice}},
		{"batch-slicer, quick windows", slicer},
		{"BSF, half sliced", cyclic.BSF{Share: cyclic.Share{Q: 0.5}, Slicer: slicer, Filling: cyclic.Filling{Finder: window.AMP{}}}},
		{allWindows, cyclic.Exhaustive{Problem: cyclic.BatchTime}},
	}
}

// jobsPoint names a number of jobs in tables.
func jobsPoint(n int) string { return fmt.Sprintf("%d jobs", n) }

func (c combination) rows(p *page) []tableRow {
	var lines []tableRow
	for _, planner := range c.planners(1) {
		for _, n := range c.Jobs {
			lines = append(lines, tableRow{Series: planner.Name, Point: jobsPoint(n), X: float64(n), Own: true})
		}
	}
	return p.each(lines)
}

func (c combination) facts() facts {
	return facts{"environment": c.Environment.Facts(), "batch": c.Batch.Facts()}
}

// cycle compares times in cycles in which every planner plans all jobs: a plan without some jobs is
// no better for being short.
func (c combination) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := c.Environment.Generate(seed, cycle)
	if err != nil {
		return err
	}
	for _, n := range c.Jobs {
		batch := c.Batch
		batch.Jobs = n
		jobs, err := batch.Generate(seed, cycle)
		if err != nil {
			return err
		}
		// Processor time of each planner's plan; the least of it is that of all windows.
		whole, sums := true, map[string]des.Time{}
		for _, p := range c.planners(n) {
			out, err := p.Plan(ctx, items(jobs), in.SlotList())
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			for i := range out.Jobs {
				if out.Jobs[i].OK {
					sums[p.Name] += out.Jobs[i].Window.ProcessorTime()
				}
			}
			see.at(p.Name, jobsPoint(n), notWhole, oneIf(out.Planned() < n))
			whole = whole && out.Planned() == n
		}
		for name, sum := range sums {
			if whole {
				see.at(name, jobsPoint(n), batchTime, sum.Seconds())
				see.at(name, jobsPoint(n), aboveIt, 100*(float64(sum)/float64(sums[allWindows])-1))
			}
		}
	}
	return nil
}
