package cyclic_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

// wide are slots of so many nodes on which every batch below has room.
func wide(nodes int) plan.SlotList {
	list := plan.SlotList{To: 100_000 * des.Second}
	for i := range nodes {
		list.Slots = append(list.Slots, entity.Slot{Node: &entity.Node{ID: i + 1, Perf: 1, Price: 1}, Width: 1, End: list.To})
	}
	return list
}

func request(nodes int, volume, budget float64, by plan.Finder) cyclic.Item {
	return cyclic.Item{Request: entity.Request{Nodes: nodes, Length: des.Seconds(volume), Budget: budget, Criterion: by}}
}

// slicesOf are the positions in each slice.
func slicesOf(t *testing.T, b cyclic.BatchSlicer, batch []cyclic.Item) [][]int {
	b.Search.PerJob = 1
	b.Choice.MaxTime, b.Choice.MaxCost = 1e6*des.Second, 1e9
	out, err := b.Plan(context.Background(), batch, wide(4))
	require.NoError(t, err)
	var all [][]int
	for _, s := range out.Slices {
		all = append(all, s.Jobs)
	}
	return all
}

func TestSlicesAreByFeature(t *testing.T) {
	early, cheap := window.AEP{By: window.MinStart}, window.AEP{By: window.MinCost}
	batch := []cyclic.Item{
		request(1, 100, 1000, cheap), // a price of 10
		request(2, 10, 600, early),   // 30
		request(3, 20, 1200, cheap),  // 20
		request(1, 50, 0, early),     // no limit
	}
	for _, c := range []struct {
		b    cyclic.BatchSlicer
		want [][]int
	}{
		{cyclic.BatchSlicer{Slices: 2}, [][]int{{0, 1}, {2, 3}}},
		{cyclic.BatchSlicer{Slices: 3}, [][]int{{0, 1}, {2}, {3}}},
		{cyclic.BatchSlicer{Slices: 4, By: cyclic.ByNodes}, [][]int{{2}, {1}, {0}, {3}}},
		{cyclic.BatchSlicer{Slices: 4, By: cyclic.ByNodes, LeastFirst: true}, [][]int{{0}, {3}, {1}, {2}}},
		{cyclic.BatchSlicer{Slices: 2, By: cyclic.ByNodes}, [][]int{{1, 2}, {0, 3}}},
		{cyclic.BatchSlicer{Slices: 4, By: cyclic.ByVolume}, [][]int{{0}, {2}, {3}, {1}}},
		{cyclic.BatchSlicer{Slices: 4, By: cyclic.ByBudget}, [][]int{{3}, {2}, {0}, {1}}},
		{cyclic.BatchSlicer{Slices: 4, By: cyclic.ByPrice}, [][]int{{3}, {1}, {2}, {0}}},
		{cyclic.BatchSlicer{Slices: 4, By: cyclic.ByPrice, LeastFirst: true}, [][]int{{0}, {2}, {1}, {3}}},
		{cyclic.BatchSlicer{By: cyclic.ByCriterion}, [][]int{{0, 2}, {1, 3}}},
		{cyclic.BatchSlicer{By: cyclic.ByCriterion, Slices: 2}, [][]int{{0}, {2}, {1}, {3}}},
		{cyclic.BatchSlicer{By: cyclic.ByPrice}, [][]int{{0, 1, 2, 3}}},
	} {
		require.Equal(t, c.want, slicesOf(t, c.b, batch), "%v, %d", c.b.By, c.b.Slices)
	}
	_, err := cyclic.BatchSlicer{By: 9}.Plan(context.Background(), batch, wide(4))
	require.ErrorContains(t, err, "cannot be sliced by")
}

// Slicing by a feature is slicing a batch that comes in its order.
func TestSlicesByAFeatureAreThoseOfABatchInItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var batch []cyclic.Item
		for range rapid.IntRange(0, 8).Draw(t, "jobs") {
			batch = append(batch, request(rapid.IntRange(1, 3).Draw(t, "n"), rapid.Float64Range(10, 200).Draw(t, "V"), rapid.Float64Range(300, 3000).Draw(t, "S"), nil))
		}
		order := make([]int, len(batch))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(batch[b].Request.Budget, batch[a].Request.Budget)
		})
		sorted := make([]cyclic.Item, len(batch))
		for i, k := range order {
			sorted[i] = batch[k]
		}
		list := wide(3)
		list.To = 300 * des.Second
		for i := range list.Slots {
			list.Slots[i].End = list.To
		}
		shift := rapid.SampledFrom([]cyclic.Shift{cyclic.NoShift, cyclic.ShiftEnd, cyclic.ShiftSlice}).Draw(t, "shift")
		by := cyclic.BatchSlicer{Slices: max(len(batch), 1), By: cyclic.ByBudget, Shift: shift}
		got, err := by.Plan(context.Background(), batch, list)
		require.NoError(t, err)
		by.By = cyclic.ByOrder
		want, err := by.Plan(context.Background(), sorted, list)
		require.NoError(t, err)
		for i, k := range order {
			require.Equal(t, want.Jobs[i], got.Jobs[k])
		}
		require.Equal(t, want.Left, got.Left)
	})
}

func TestASliceTellsItsFront(t *testing.T) {
	batch := []cyclic.Item{request(1, 100, 0, nil), request(2, 10, 0, nil), request(1, 60, 0, nil)}
	list := wide(3)
	for i, n := range []float64{1, 2, 4} {
		list.Slots[i].Node.Perf, list.Slots[i].Node.Price = n, n*n
		list.Slots[i].End = 500 * des.Second
	}
	list.To = 500 * des.Second
	for _, p := range []cyclic.Planner{
		cyclic.CSS{Front: 5}, cyclic.BatchSlicer{Slices: 2, Front: 5},
		cyclic.CSS{Front: 5, Choice: cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1, T: 1}, BudgetLimit: cyclic.LargestIncome}},
	} {
		out, err := p.Plan(context.Background(), batch, list)
		require.NoError(t, err)
		for _, s := range out.Slices {
			require.NotNil(t, s.Front)
			require.NotEmpty(t, s.Front.Points)
			require.LessOrEqual(t, len(s.Front.Points), 5)
		}
	}
	out, err := cyclic.CSS{}.Plan(context.Background(), batch, list)
	require.NoError(t, err)
	require.Nil(t, out.Slices[0].Front)
	_, err = cyclic.CSS{Front: 1}.Plan(context.Background(), batch, list)
	require.ErrorContains(t, err, "two ends")
}

func TestFixedLimitsOfAChoiceByWeightsAreForTheBatch(t *testing.T) {
	batch := []cyclic.Item{request(1, 100, 0, nil), request(1, 60, 0, nil)}
	b := cyclic.BatchSlicer{Slices: 2, Front: 5, Search: cyclic.Search{PerJob: 1}, Choice: cyclic.Choice{
		Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1}, MaxCost: 170, MaxTime: 180 * des.Second,
	}}
	out, err := b.Plan(context.Background(), batch, wide(2))
	require.NoError(t, err)
	require.Equal(t, cyclic.Vector{C: 60, D: 10, T: 60, I: 20}, out.Slices[1].Combination.Vector)
	require.Equal(t, []cyclic.Point{{Picks: []int{0}, Vector: cyclic.Vector{C: 60, D: 10, T: 60, I: 20}}}, out.Slices[1].Front.Points)
}
