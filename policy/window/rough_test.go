package window

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// roughValue is what the goal makes of a window.
func roughValue(g RoughGoal, w *entity.Window) float64 {
	switch g {
	case MinStart:
		return w.Start.Seconds()
	case MinCost:
		return w.Cost
	case MinRunTime, MinRunTimeExact:
		return w.Length().Seconds()
	case MinFinish, MinFinishExact:
		return w.End.Seconds()
	default:
		return w.ProcessorTime().Seconds()
	}
}

// bruteRough is the least goal value of all rough windows at slot starts.
func bruteRough(set Settings, goal RoughGoal, req entity.Request, list plan.SlotList, until des.Time) (least float64, ok bool) {
	tar := set.tariff(req.BudgetLimit())
	least = math.Inf(1)
	for _, now := range startsOf(list) {
		if now > until {
			continue
		}
		var w entity.Window
		var fits []*entity.Slot
		for i := range list.Slots {
			s := &list.Slots[i]
			if s.Start <= now && req.Admits(s.Node) && now+set.taskTime(s.Node, req.Length) <= min(s.End, req.DeadlineLimit()) {
				fits = append(fits, s)
			}
		}
		eachSubset(len(fits), req.Nodes, func(pick []int) {
			w = entity.Window{Start: now, Nodes: len(pick), Tasks: w.Tasks[:0]}
			rounded := 0.0
			for _, i := range pick {
				length := set.taskTime(fits[i].Node, req.Length)
				w.Tasks = append(w.Tasks, entity.Task{Node: fits[i].Node, End: now + length})
				w.End = max(w.End, now+length)
				w.Cost += realCost(fits[i].Node.Price, length)
				rounded += tar.cost(fits[i].Node.Price, length)
			}
			if rounded <= tar.limit {
				least, ok = min(least, roughValue(goal, &w)), true
			}
		})
	}
	return least, ok
}

func TestRoughSearchesAgainstAllSubsets(t *testing.T) {
	exact := map[RoughGoal]bool{
		MinStart: true, MinCost: true, MinRunTimeExact: true, MinFinishExact: true, MinProcTimeExact: true,
	}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		set, req, list, until := smallProblem(rng)
		for goal := MinStart; goal <= MinProcTimeSubstitution; goal++ {
			least, ok := bruteRough(set, goal, req, list, until)
			found, err := AEP{set, goal}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			require.Equal(t, ok, found.OK, "seed %d, %v", seed, goal)
			if !ok {
				continue
			}
			checkWindow(t, set, req, list, until, found.Window, false)
			require.InDelta(t, roughValue(goal, &found.Window), found.Window.Value, 1e-9)
			if exact[goal] && !(goal == MinCost && set.RoundCosts > 0) {
				require.InDelta(t, least, found.Window.Value, 1e-6, "seed %d, %v", seed, goal)
			} else if !exact[goal] {
				require.GreaterOrEqual(t, found.Window.Value, least-1e-6, "seed %d, %v", seed, goal)
			}
		}
	}
}

// The dear, fast node is among the n cheapest, and so the best, only when the slow
// one has no room any more.
func TestTheCheapestAreFastWhereOnlyFastOnesHaveRoom(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1, Price: 1}, &entity.Node{ID: 2, Perf: 10, Price: 20}
	slot := func(n *entity.Node, from, to des.Time) entity.Slot {
		return entity.Slot{Node: n, Width: 1, Start: from * des.Second, End: to * des.Second}
	}
	list := plan.SlotList{To: 100 * des.Second, Slots: []entity.Slot{slot(slow, 0, 100), slot(fast, 0, 30), slot(fast, 90, 100)}}
	found, err := AEP{By: MinProcTime}.Find(context.Background(), entity.Request{Nodes: 1, Length: 50 * des.Second}, list, list.To)
	require.NoError(t, err)
	require.True(t, found.OK)
	require.Equal(t, 90*des.Second, found.Window.Start)
	require.Equal(t, 5*des.Second, found.Window.ProcessorTime())
}

func TestAMPIsAEPWithMinStart(t *testing.T) {
	for seed := range uint64(300) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 5)))
		amp, err := AMP{set}.Find(context.Background(), req, list, until)
		require.NoError(t, err)
		aep, err := AEP{set, MinStart}.Find(context.Background(), req, list, until)
		require.NoError(t, err)
		require.Equal(t, amp, aep)
	}
}

func TestALPTakesTheFirstSlotsWithinThePrice(t *testing.T) {
	for seed := range uint64(1000) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 6)))
		req.Budget, req.MaxPrice = 0, 2.5
		found, err := ALP{set}.Find(context.Background(), req, list, until)
		require.NoError(t, err)
		least, ok := bruteRough(set, MinStart, req, list, until)
		require.Equal(t, ok, found.OK)
		if ok {
			checkWindow(t, set, req, list, until, found.Window, false)
			require.Equal(t, least, found.Window.Value)
		}
	}
}

// AMP11: a budget S for n nodes and a time t at performance P is the price
// C = S/(t n).
func TestALPDerivesThePriceFromTheBudget(t *testing.T) {
	_, _, list, _ := smallProblem(rand.New(rand.NewPCG(3, 6)))
	req := entity.Request{Nodes: 2, Length: 4 * des.Second, MinPerf: 1, Budget: 2 * 4 * 1.5}
	derived, err := ALP{}.Find(context.Background(), req, list, des.Forever)
	require.NoError(t, err)
	req.Budget, req.MaxPrice = 0, 1.5
	given, err := ALP{}.Find(context.Background(), req, list, des.Forever)
	require.NoError(t, err)
	require.Equal(t, given.Window, derived.Window)
}

func TestCSAFindsDisjointWindowsAndTheBestOfThem(t *testing.T) {
	for seed := range uint64(300) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 7)))
		rest := list
		rest.Slots = append([]entity.Slot(nil), list.Slots...)
		least, windows := math.Inf(1), 0
		for {
			found, err := AMP{set}.Find(context.Background(), req, rest, until)
			require.NoError(t, err)
			if !found.OK {
				break
			}
			checkWindow(t, set, req, list, until, found.Window, false)
			windows++
			least = min(least, found.Window.Cost)
			rest.Slots, err = Subtract(rest.Slots, &found.Window)
			require.NoError(t, err)
			require.NoError(t, CheckSlots(rest))
		}
		found, err := CSA{set, MinCost}.Find(context.Background(), req, list, until)
		require.NoError(t, err)
		require.Equal(t, windows, found.Alternatives)
		if windows > 0 {
			require.Equal(t, least, found.Window.Cost)
		}
	}
}

func TestALPKeepsABudgetWithoutAMinimalPerformance(t *testing.T) {
	slow := &entity.Node{ID: 1, Perf: 0.5, Price: 2}
	fair := &entity.Node{ID: 2, Perf: 2, Price: 1.9}
	list := plan.SlotList{To: 100 * des.Second, Slots: []entity.Slot{
		{Node: slow, Width: 1, End: 100 * des.Second},
		{Node: fair, Width: 1, Start: des.Second, End: 100 * des.Second},
	}}
	// The slowest node takes 20: C = 38/20 per unit, which only the second meets.
	req := entity.Request{Nodes: 1, Length: 10 * des.Second, Budget: 38}
	found, err := ALP{}.Find(context.Background(), req, list, des.Forever)
	require.NoError(t, err)
	require.True(t, found.OK)
	require.Equal(t, fair, found.Window.Tasks[0].Node)
	require.LessOrEqual(t, found.Window.Cost, 38.0)
}
