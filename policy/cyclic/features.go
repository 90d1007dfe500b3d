// How the batch-slicer cuts a batch: in order of priority, or by what jobs are like (META,
// section 8).

package cyclic

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// Feature is a property that the jobs of a slice have in common.
type Feature uint8

const (
	ByOrder     Feature = iota // their place in the order of priority
	ByCriterion                // their user's criterion
	ByNodes                    // n
	ByVolume                   // n V
	ByBudget                   // the budget; no limit is the greatest
	ByPrice                    // the budget of a unit of work, S / (n V)
)

var features = enum.Of[Feature]("feature", "order", "criterion", "nodes", "volume", "budget", "price")

func (f Feature) String() string { return features.Name(f) }

// ParseFeature reads "order", "criterion", "nodes", "volume", "budget" or "price".
func ParseFeature(s string) (Feature, error) { return features.Parse(s) }

// of is the feature of a job as a number.
func (f Feature) of(j *Item) float64 {
	r := &j.Request
	volume := float64(r.Nodes) * float64(r.Length)
	switch f {
	case ByNodes:
		return float64(r.Nodes)
	case ByVolume:
		return volume
	case ByBudget:
		return r.BudgetLimit()
	case ByPrice:
		return r.BudgetLimit() / volume
	}
	return 0
}

// cut returns the positions in the batch of each slice's jobs, in order of
// priority.
func (b BatchSlicer) cut(batch []Item) ([][]int, error) {
	if b.Slices < 0 {
		return nil, plan.BadInput("a batch cannot be cut into %d slices", b.Slices)
	}
	order := make([]int, len(batch))
	for i := range order {
		order[i] = i
	}
	switch {
	case b.By > ByPrice:
		return nil, plan.BadInput("a batch cannot be sliced by %v", b.By)
	case b.By == ByCriterion:
		return b.byCriterion(batch), nil
	case b.By != ByOrder:
		sign := -1
		if b.LeastFirst {
			sign = 1
		}
		slices.SortStableFunc(order, func(i, j int) int { return sign * cmp.Compare(b.By.of(&batch[i]), b.By.of(&batch[j])) })
	}
	return parts(order, b.Slices), nil
}

// byCriterion cuts the jobs of each criterion by themselves, criteria in the
// order of their first jobs.
func (b BatchSlicer) byCriterion(batch []Item) [][]int {
	var names []string
	groups := map[string][]int{}
	for i := range batch {
		name := "" // the planner's own search
		if c := batch[i].Request.Criterion; c != nil {
			name = c.Name()
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], i)
	}
	var all [][]int
	for _, name := range names {
		all = append(all, parts(groups[name], b.Slices)...)
	}
	return all
}

// parts cuts positions into k parts of equal size, the first ones larger by one
// where it does not come out even, none of them empty; 0 means 1. Each is sorted.
func parts(order []int, k int) [][]int {
	k = min(max(k, 1), len(order))
	var all [][]int
	for ; k > 0; k-- {
		n := (len(order) + k - 1) / k
		part := slices.Clone(order[:n])
		slices.Sort(part)
		all, order = append(all, part), order[n:]
	}
	return all
}

// rearrange puts what was planned in another order back into the order of the batch: the job
// at i was the batch's order[i].
func (o *Outcome) rearrange(order []int) {
	jobs := make([]Decision, len(order))
	for i, k := range order {
		jobs[k] = o.Jobs[i]
	}
	o.Jobs = jobs
	for _, s := range o.Slices {
		for i, k := range s.Jobs {
			s.Jobs[i] = order[k]
		}
	}
}
