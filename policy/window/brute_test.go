// What the searches are held against: every subset at every start, and checks
// that a window is one.

package window

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// checkWindow fails unless w is a valid answer to req.
func checkWindow(t testing.TB, set Settings, req entity.Request, list plan.SlotList, until des.Time, w entity.Window, square bool) {
	t.Helper()
	require.Len(t, w.Tasks, req.Nodes)
	require.Equal(t, req.Nodes, w.Nodes)
	require.LessOrEqual(t, w.Start, until)
	tar := set.tariff(req.BudgetLimit())
	seen := map[*entity.Node]bool{}
	cost, rounded, slowest, end := 0.0, 0.0, des.Time(0), des.Time(0)
	for _, task := range w.Tasks {
		require.False(t, seen[task.Node], "node %d twice", task.Node.ID)
		seen[task.Node] = true
		require.True(t, req.Admits(task.Node))
		require.True(t, slices.ContainsFunc(list.Slots, func(s entity.Slot) bool {
			return s.Node == task.Node && s.Start <= w.Start && task.End <= s.End
		}), "node %d is not free in [%v, %v)", task.Node.ID, w.Start, task.End)
		own := set.taskTime(task.Node, req.Length)
		slowest = max(slowest, own)
		if square {
			require.Equal(t, w.End, task.End)
		} else {
			require.Equal(t, own, task.End-w.Start)
		}
		cost += task.Node.Price * (task.End - w.Start).Seconds()
		rounded += tar.cost(task.Node.Price, task.End-w.Start)
		end = max(end, task.End)
	}
	require.Equal(t, slowest, w.Length(), "the window lasts as long as its slowest node needs")
	require.Equal(t, end, w.End)
	require.LessOrEqual(t, w.End, req.DeadlineLimit())
	require.LessOrEqual(t, rounded, tar.limit*(1+1e-11))
	require.InDelta(t, cost, w.Cost, 1e-9*(1+cost))
}

// eachSubset calls visit with every set of n of m positions.
func eachSubset(m, n int, visit func(pick []int)) {
	pick := make([]int, n)
	var from func(k, at int)
	from = func(k, at int) {
		if k == n {
			visit(pick)
			return
		}
		for i := at; i <= m-(n-k); i++ {
			pick[k] = i
			from(k+1, i+1)
		}
	}
	if n <= m {
		from(0, 0)
	}
}

// bruteForce is the greatest worth (Σ by.Value) over all windows at the given
// starts, and the earliest start that has it.
func bruteForce(set Settings, by Criterion, rough bool, req entity.Request, list plan.SlotList, until des.Time, starts []des.Time) (worth float64, at des.Time, ok bool) {
	by = withDefaults(by, set, list.From)
	tar := set.tariff(req.BudgetLimit())
	worth = math.Inf(-1)
	for _, now := range starts {
		if now > until {
			continue
		}
		var fits []*entity.Slot
		for i := range list.Slots {
			s := &list.Slots[i]
			if s.Start <= now && req.Admits(s.Node) && now+set.taskTime(s.Node, req.Length) <= min(s.End, req.DeadlineLimit()) {
				fits = append(fits, s)
			}
		}
		passes := des.Time(0) // the shortest length whose pass stops here
		if !set.AnyStart {
			passes = des.Forever
			for _, s := range list.Slots {
				if s.Start == now && req.Admits(s.Node) {
					passes = min(passes, set.taskTime(s.Node, req.Length))
				}
			}
			if passes == des.Forever {
				continue
			}
		}
		eachSubset(len(fits), req.Nodes, func(pick []int) {
			var slowest des.Time
			for _, i := range pick {
				slowest = max(slowest, set.taskTime(fits[i].Node, req.Length))
			}
			if !rough && slowest < passes {
				return
			}
			cost, sum := 0.0, 0.0
			for _, i := range pick {
				length := slowest
				if rough {
					length = set.taskTime(fits[i].Node, req.Length)
				}
				if now+length > min(fits[i].End, req.DeadlineLimit()) {
					return
				}
				cost += tar.cost(fits[i].Node.Price, length)
				sum += by.Value(fits[i], now, now+length)
			}
			if cost > tar.limit {
				return
			}
			if !ok || sum > worth+1e-9 || (sum > worth-1e-9 && now < at) {
				worth, at, ok = sum, now, true
			}
		})
	}
	return worth, at, ok
}

func startsOf(list plan.SlotList) []des.Time {
	var starts []des.Time
	for _, s := range list.Slots {
		starts = append(starts, s.Start)
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}

// smallProblem draws a problem of up to 8 nodes with many ties.
func smallProblem(rng *rand.Rand) (Settings, entity.Request, plan.SlotList, des.Time) {
	list := plan.SlotList{To: 40 * des.Second}
	nodes := 1 + rng.IntN(8)
	coarse := rng.IntN(2) == 0
	for id := range nodes {
		node := &entity.Node{ID: id, Perf: float64(1 + rng.IntN(4)), Price: float64(rng.IntN(4)), Q: float64(rng.IntN(5) - 2)}
		if !coarse {
			node.Price, node.Q = 4*rng.Float64(), 10*rng.Float64()-3
			node.Perf = 1 + 3*rng.Float64()
		}
		at := 0
		for at < 40 {
			from := at + rng.IntN(12)
			to := from + 1 + rng.IntN(20)
			if rng.IntN(3) == 0 {
				from = at
			}
			if to > 40 {
				to = 40
			}
			if from < to {
				list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, Start: des.Time(from) * des.Second, End: des.Time(to) * des.Second})
			}
			at = to + rng.IntN(4)
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	req := entity.Request{Nodes: 1 + rng.IntN(nodes), Length: des.Time(1+rng.IntN(20)) * des.Second}
	if rng.IntN(4) > 0 {
		req.Budget = 1 + float64(rng.IntN(30*req.Nodes))
	}
	if rng.IntN(4) == 0 {
		req.MinPerf = 2
	}
	if rng.IntN(4) == 0 {
		req.MaxPrice = 2
	}
	if rng.IntN(4) == 0 {
		req.Deadline = des.Time(10+rng.IntN(30)) * des.Second
	}
	until := des.Forever
	if rng.IntN(4) == 0 {
		until = des.Time(rng.IntN(30)) * des.Second
	}
	set := Settings{}
	if coarse || rng.IntN(2) == 0 {
		set.Quantum = des.Second
	}
	if rng.IntN(3) == 0 {
		set.RoundCosts = []float64{1, 0.01}[rng.IntN(2)]
	}
	if rng.IntN(3) == 0 {
		set.MaxDistance = des.Time(1+rng.IntN(8)) * des.Second
	}
	return set, req, list, until
}
