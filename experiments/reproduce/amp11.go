package reproduce

// AMP11, section 5: batches by ALP and by AMP.

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// alpAMP compares ALP and AMP in both of AMP11's problems, the least time and the least cost of a
// batch.
type alpAMP struct {
	Slots vo.AMP11Slots
	Jobs  vo.AMP11Jobs
	// Readings are the ways to understand what AMP11 leaves open. The first is the table's, the
	// others are its variants.
	Readings []amp11Reading
}

// amp11Reading is one such way. Its Variant is "" for the table's own.
type amp11Reading struct {
	Variant   string
	AtP       bool // t is a task's time at the least performance wanted, not at 1
	Printed   bool // whole numbers reach the upper ends of their ranges
	RoundDown bool // T* is rounded down
}

func (a alpAMP) facts() facts { return facts{"slots": a.Slots.Facts(), "jobs": a.Jobs.Facts()} }

// amp11Searches are AMP11's two, with the request that each makes: ALP limits the price of a slot,
// AMP the cost of the window.
var amp11Searches = []struct {
	name    string
	finder  plan.Finder
	request func(vo.AMP11Job) entity.Request
}{
	{"ALP", window.ALP{}, vo.AMP11Job.PerSlot},
	{"AMP", window.AMP{}, vo.AMP11Job.PerJob},
}

// Series are a search and a problem, or the cycles that a problem keeps.
//
//	"ALP, least time"          what ALP's alternatives come to where the time is minimised
//	"cycles kept, least cost"  what the cycles are like in which the cost can be
const (
	leastTime   = ", least time"
	leastCost   = ", least cost"
	cyclesKept  = "cycles kept"
	jobTime     = "job time"
	jobCost     = "job cost"
	shareKept   = "share of cycles kept"
	slotCount   = "slots"
	jobCount    = "jobs"
	shareFaster = "share of cycles in which AMP is not faster"
)

// rows has each search in each problem; quantities of the cycles themselves have rows of their own.
func (a alpAMP) rows(p *page) (rows []tableRow) {
	of := map[string][]string{
		shareKept: {cyclesKept + leastTime, cyclesKept + leastCost}, shareFaster: {cyclesKept + leastTime},
		slotCount: {cyclesKept + leastCost}, jobCount: {cyclesKept + leastCost},
	}
	for i, q := range p.Quantities {
		series, ok := of[q]
		if !ok {
			series = []string{"ALP" + leastTime, "AMP" + leastTime, "ALP" + leastCost, "AMP" + leastCost}
		}
		for _, s := range series {
			for _, r := range a.Readings {
				rows = append(rows, p.published(tableRow{Series: s, Variant: r.Variant, Quantity: q, Own: r.Variant != ""}, i))
			}
		}
	}
	return rows
}

// cycle draws slots and jobs once for each reading: the same draws, which a reading turns into
// other jobs.
func (a alpAMP) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	for _, reading := range a.Readings {
		slots, jobs := a.Slots, a.Jobs
		// The slots and jobs of the reading.
		if reading.Printed {
			slots.Count, jobs.Jobs, jobs.Nodes = vo.Range{}, vo.Range{}, vo.Range{}
		}
		jobs.AtOne = jobs.AtOne && !reading.AtP
		list, err := slots.Generate(seed, cycle)
		if err != nil {
			return err
		}
		batch, err := jobs.Generate(seed, cycle)
		if err != nil {
			return err
		}
		tell := func(series, quantity string, x float64) { see.at(varied(series, reading.Variant), "", quantity, x) }
		// The alternatives of every job by both searches. A cycle in which a job has none is not
		// kept.
		found, err := amp11Alternatives(ctx, batch, list)
		if err != nil {
			return err
		}
		if found == nil {
			tell(cyclesKept+leastTime, shareKept, 0)
			tell(cyclesKept+leastCost, shareKept, 0)
			continue
		}
		limit := cyclic.MeanTime
		if reading.RoundDown {
			limit = cyclic.MeanTimeDown
		}
		// AMP11 (1): the least time within B* of (3), then the least cost within T* of (2).
		least := cyclic.Choice{Problem: cyclic.BatchTime, TimeLimit: limit, BudgetLimit: cyclic.LargestIncome}
		if _, err := amp11Choose(ctx, leastTime, least, found, tell); err != nil {
			return err
		}
		least = cyclic.Choice{Problem: cyclic.UsersExpense, TimeLimit: limit}
		// Slots and jobs are told of the cycles that the second problem keeps, as the paper does.
		ok, err := amp11Choose(ctx, leastCost, least, found, tell)
		if err != nil {
			return err
		}
		if ok {
			tell(cyclesKept+leastCost, slotCount, float64(len(list.Slots)))
			tell(cyclesKept+leastCost, jobCount, float64(len(batch)))
		}
	}
	return nil
}

// amp11Alternatives returns the windows of every job by both searches; nil if a job has none by one
// of them.
func amp11Alternatives(ctx context.Context, jobs []vo.AMP11Job, list plan.SlotList) ([][][]entity.Window, error) {
	var found [][][]entity.Window
	for _, s := range amp11Searches {
		batch := make([]cyclic.Item, len(jobs))
		for i, j := range jobs {
			batch[i].Request = s.request(j)
		}
		windows, _, err := cyclic.Search{Finder: s.finder}.Run(ctx, batch, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		for _, of := range windows {
			if len(of) == 0 {
				return nil, nil
			}
			// AMP11's time of an alternative is the length of its window, which is
			// what a window without tasks counts with.
			for i := range of {
				of[i].Tasks, of[i].Nodes = nil, 1
			}
		}
		found = append(found, windows)
	}
	return found, nil
}

// amp11Choose makes both searches' choices, and tells of them if both can: ok says so. Times and
// costs are means over the jobs of the batch.
func amp11Choose(ctx context.Context, problem string, c cyclic.Choice, found [][][]entity.Window, tell func(series, quantity string, x float64)) (ok bool, err error) {
	var chosen []cyclic.Combination
	for i, s := range amp11Searches {
		combination, err := c.Choose(ctx, found[i])
		var infeasible *cyclic.InfeasibleError
		if errors.As(err, &infeasible) {
			tell(cyclesKept+problem, shareKept, 0)
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("%s%s: %w", s.name, problem, err)
		}
		chosen = append(chosen, combination)
	}
	tell(cyclesKept+problem, shareKept, 1)
	tell(cyclesKept+problem, shareFaster, oneIf(chosen[1].Time >= chosen[0].Time))
	for i, s := range amp11Searches {
		count := 0
		for _, of := range found[i] {
			count += len(of)
		}
		n := float64(len(found[i]))
		tell(s.name+problem, jobTime, chosen[i].Time.Seconds()/n)
		tell(s.name+problem, jobCost, chosen[i].Cost/n)
		tell(s.name+problem, alternatives, float64(count)/n)
	}
	return true, nil
}
