package window

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// levels draws a slot list of equal nodes: how many are free when, as a domain
// cuts it into slots.
func levels(t *rapid.T) (list plan.SlotList, free []int) {
	price := rapid.SampledFrom([]float64{0, 1, 1.3, 0.1}).Draw(t, "price")
	perf := rapid.SampledFrom([]float64{1, 2, 0.7}).Draw(t, "performance")
	var nodes []*entity.Node
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		nodes = append(nodes, &entity.Node{ID: i, Perf: perf, Price: price})
	}
	free = rapid.SliceOfN(rapid.IntRange(0, len(nodes)), 1, 40).Draw(t, "free")
	list.To = des.Time(len(free))
	for k, n := range nodes {
		open := false
		for at := range free {
			if free[at] > k && !open {
				list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, Start: des.Time(at), End: list.To})
			} else if free[at] <= k && open {
				list.Slots[len(list.Slots)-1].End = des.Time(at)
			}
			open = free[at] > k
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return compareTimes(a.Start, b.Start) })
	return list, free
}

// Whoever says so gives the earliest window among equal nodes, at what they
// cost and worth what it says, as long as no budget binds.
func TestEarliestAmongEquals(t *testing.T) {
	var finders []plan.EarliestFinder
	for _, kind := range []Kind{Rough, Square} {
		for _, name := range Names(kind) {
			f, err := ByName(kind, name, Settings{})
			require.NoError(t, err)
			if e, ok := f.(plan.EarliestFinder); ok && e.EarliestAmongEquals() {
				finders = append(finders, e)
			}
		}
	}
	require.Len(t, finders, 14)
	rapid.Check(t, func(t *rapid.T) {
		list, free := levels(t)
		f := rapid.SampledFrom(finders).Draw(t, "finder")
		req := entity.Request{
			Nodes:    rapid.IntRange(1, 7).Draw(t, "n"),
			Length:   des.Time(rapid.IntRange(1, 12).Draw(t, "length")),
			Deadline: des.Time(rapid.IntRange(0, 50).Draw(t, "deadline")),
		}
		until := des.Time(rapid.IntRange(0, 45).Draw(t, "until"))
		want := entity.Window{Start: -1, Nodes: req.Nodes}
		var node *entity.Node
		if len(list.Slots) > 0 {
			node = list.Slots[0].Node
			length := node.TaskTime(req.Length)
			for at := 0; at <= int(until) && want.Start < 0; at++ {
				end := at + int(length)
				if end <= len(free) && des.Time(end) <= req.DeadlineLimit() && slices.Min(free[at:end]) >= req.Nodes {
					want.Start, want.End = des.Time(at), des.Time(end)
				}
			}
		}
		found, err := f.Find(context.Background(), req, list, until)
		require.NoError(t, err)
		require.Equal(t, want.Start >= 0, found.OK)
		if !found.OK {
			return
		}
		got := found.Window
		for _, task := range got.Tasks {
			require.Equal(t, want.End, task.End)
			want.Cost += realCost(node.Price, want.Length())
		}
		want.Value = f.Worth(&want)
		got.Tasks = nil
		require.Equal(t, want, got, "%s", f.Name())
	})
}

func TestWhoRoundsTimesIsNotEarliest(t *testing.T) {
	require.False(t, AMP{Settings{Quantum: des.Second}}.EarliestAmongEquals())
	require.False(t, AMP{Settings{Quantum: -1}}.EarliestAmongEquals())
	require.True(t, AMP{Settings{Quantum: des.Tick, RoundCosts: 1}}.EarliestAmongEquals())
	require.False(t, AEP{By: MinProcTimeExact}.EarliestAmongEquals())
	require.False(t, Cheapest{Goal: MostWorth, By: DEP{}}.EarliestAmongEquals())
}
