package cyclic

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

// tiny draws a batch of up to three jobs on up to four nodes over 14 time units. Tasks take
// whole time units.
func tinyBatch(rng *rand.Rand) ([]Item, plan.SlotList) {
	list := plan.SlotList{To: 14 * des.Second}
	for id := range 1 + rng.IntN(4) {
		node := &entity.Node{ID: id, Perf: float64(1 + rng.IntN(2)), Price: float64(1 + rng.IntN(5))}
		for at := rng.IntN(4); at < 14; {
			to := min(at+2+rng.IntN(9), 14)
			list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, Start: des.Time(at) * des.Second, End: des.Time(to) * des.Second})
			at = to + 1 + rng.IntN(4)
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return int(a.Start - b.Start) })
	var batch []Item
	for range 1 + rng.IntN(3) {
		j := Item{Request: entity.Request{Nodes: 1 + rng.IntN(2), Length: des.Time(2*(1+rng.IntN(4))) * des.Second}}
		if rng.IntN(2) == 0 {
			j.Request.Budget = float64(4 + rng.IntN(40))
		}
		if rng.IntN(5) == 0 {
			j.Request.Deadline = des.Time(6+rng.IntN(8)) * des.Second
		}
		if rng.IntN(5) == 0 {
			j.Until = des.Time(1+rng.IntN(8)) * des.Second
		}
		batch = append(batch, j)
	}
	return batch, list
}

// bruteBatch tries for each job no window and every window at every whole time unit, and returns
// how many jobs can be planned at most and the least sum of their times and of their costs.
func bruteBatch(batch []Item, list plan.SlotList, maxCost float64) (most int, time, cost float64) {
	const horizon = 14
	var nodes []*entity.Node
	free := map[*entity.Node]*[horizon]bool{}
	for _, s := range list.Slots {
		if free[s.Node] == nil {
			nodes, free[s.Node] = append(nodes, s.Node), new([horizon]bool)
		}
		for t := s.Start / des.Second; t < s.End/des.Second; t++ {
			free[s.Node][t] = true
		}
	}
	time, cost = math.Inf(1), math.Inf(1)
	var job func(i, count int, sum, spent float64)
	job = func(i, count int, sum, spent float64) {
		if spent > maxCost+1e-9 {
			return
		}
		if i == len(batch) {
			if count > most {
				most, time, cost = count, math.Inf(1), math.Inf(1)
			}
			if count == most {
				time, cost = min(time, sum), min(cost, spent)
			}
			return
		}
		job(i+1, count, sum, spent)
		req := &batch[i].Request
		for at := range horizon {
			if batch[i].Until > 0 && des.Time(at)*des.Second > batch[i].Until {
				break
			}
			var pick func(from, left int, length, money float64)
			pick = func(from, left int, length, money float64) {
				if left == 0 {
					if req.Budget == 0 || money <= req.Budget+1e-9 {
						job(i+1, count+1, sum+length, spent+money)
					}
					return
				}
				for k := from; k < len(nodes); k++ {
					n := nodes[k]
					took := int(req.Length.Seconds() / n.Perf)
					fits := at+took <= horizon && (req.Deadline == 0 || des.Time(at+took)*des.Second <= req.Deadline)
					for t := at; fits && t < at+took; t++ {
						fits = free[n][t]
					}
					if !fits {
						continue
					}
					for t := at; t < at+took; t++ {
						free[n][t] = false
					}
					pick(k+1, left-1, length+float64(took), money+n.Price*float64(took))
					for t := at; t < at+took; t++ {
						free[n][t] = true
					}
				}
			}
			pick(0, req.Nodes, 0, 0)
		}
	}
	job(0, 0, 0, 0)
	return most, time, cost
}

func TestExhaustiveIsTheBestOfAllCombinations(t *testing.T) {
	full, postponed := 0, 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 51))
		batch, list := tinyBatch(rng)
		maxCost := 0.0
		if rng.IntN(3) == 0 {
			maxCost = float64(10 + rng.IntN(60))
		}
		limit := maxCost
		if limit == 0 {
			limit = math.Inf(1)
		}
		most, time, cost := bruteBatch(batch, list, limit)
		for p, want := range map[Problem]float64{BatchTime: time, UsersExpense: cost} {
			out, err := Exhaustive{p, maxCost}.Plan(context.Background(), batch, list)
			require.NoError(t, err)
			require.Equal(t, most, out.Planned(), "seed %d, %v", seed, p)
			got, spent := 0.0, 0.0
			for i := range out.Jobs {
				if d := &out.Jobs[i]; d.OK {
					spent += d.Window.Cost
					if got += d.Window.ProcessorTime().Seconds(); batch[i].Until > 0 {
						require.LessOrEqual(t, d.Window.Start, batch[i].Until)
					}
					require.LessOrEqual(t, d.Window.Cost, batch[i].Request.BudgetLimit()+1e-9)
					require.LessOrEqual(t, d.Window.End, batch[i].Request.DeadlineLimit())
				}
			}
			require.LessOrEqual(t, spent, limit+1e-9)
			if p == UsersExpense {
				got = spent
			}
			require.InDelta(t, want, got, 1e-6, "seed %d, %v", seed, p)
		}
		if most == len(batch) {
			full++
		} else {
			postponed++
		}
		// No planner that searches alternatives first is better.
		if most == len(batch) && maxCost == 0 {
			for _, planner := range []Planner{
				CSS{Choice: Choice{Problem: BatchTime, MaxCost: 1e9}},
				BatchSlicer{Slices: len(batch), Choice: Choice{Problem: BatchTime, MaxCost: 1e9}, Search: Search{Finder: window.AEP{By: window.MinProcTimeExact}}},
			} {
				out, err := planner.Plan(context.Background(), batch, list)
				require.NoError(t, err)
				if out.Planned() == most {
					sum := 0.0
					for i := range out.Jobs {
						sum += out.Jobs[i].Window.ProcessorTime().Seconds()
					}
					require.GreaterOrEqual(t, sum, time-1e-6, "seed %d, %s", seed, planner.Name())
				}
			}
		}
	}
	require.Greater(t, full, 300)
	require.Greater(t, postponed, 300)
}

func TestExhaustiveRefusesWhatItCannotDo(t *testing.T) {
	one := Item{Request: entity.Request{Nodes: 1, Length: des.Second}}
	_, err := Exhaustive{Problem: BatchTime}.Plan(context.Background(), slices.Repeat([]Item{one}, MostExhaustive+1), plan.SlotList{})
	require.ErrorContains(t, err, "at most 6 jobs")
	_, err = Exhaustive{}.Plan(context.Background(), []Item{one}, plan.SlotList{})
	require.ErrorContains(t, err, "owners-profit")
}
