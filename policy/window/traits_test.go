package window

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
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return list, free
}

// Whoever says so gives the earliest window among equal nodes, at what they
// cost and worth what it says, as long as no budget binds.
func TestEarliestAmongEquals(t *testing.T) {
	var finders []plan.Finder
	for _, kind := range []Kind{Rough, Square} {
		for _, name := range Names(kind) {
			f, err := ByName(kind, name, Settings{})
			require.NoError(t, err)
			if plan.TraitsOf(f, &entity.Request{}).Earliest {
				finders = append(finders, f)
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
		want.Value = plan.TraitsOf(f, &req).Worth(&want)
		got.Tasks = nil
		require.Equal(t, want, got, "%s", f.Name())
	})
}

func TestWhoRoundsTimesIsNotEarliest(t *testing.T) {
	req := &entity.Request{}
	require.False(t, AMP{Settings{Quantum: des.Second}}.Traits(req).Earliest)
	require.False(t, AMP{Settings{Quantum: -1}}.Traits(req).Earliest)
	require.True(t, AMP{Settings{Quantum: des.Tick, RoundCosts: 1}}.Traits(req).Earliest)
	require.False(t, AEP{By: MinProcTimeExact}.Traits(req).Earliest)
	require.False(t, Cheapest{Goal: MostWorth, By: DEP{}}.Traits(req).Earliest)
}

// Two nodes, of which a user could pay both within 11 for 10 s on each: one is free of
// charge, the other costs 1 a second.
func TestWhatCannotBeSureOfABudget(t *testing.T) {
	free, dear := &entity.Node{ID: 1, Perf: 1}, &entity.Node{ID: 2, Perf: 1, Price: 1}
	list := plan.SlotList{To: des.Minute, Slots: []entity.Slot{{Node: free, Width: 1, End: des.Minute}, {Node: dear, Width: 1, End: des.Minute}}}
	req := entity.Request{Nodes: 2, Length: 10 * des.Second, Budget: 11}
	for _, c := range []struct {
		by          plan.Finder
		sure, found bool
	}{
		{AMP{}, true, true},
		{ALP{}, false, false},                         // 1 is more than the price that each node may have, 11 / 20
		{AMP{Settings{RoundCosts: 12}}, false, false}, // 10 counts as 12
		{AMP{Settings{RoundCosts: 5}}, false, true},
		{AMP{Settings{Quantum: des.Minute}}, false, false}, // 10 s count as a minute
		{Best{By: Q{}}, true, true},
		{MultipleBest{By: unknownWorth{}}, false, true},
		{KnapsackDP{By: Q{}}, false, true},
	} {
		require.Equal(t, c.sure, plan.TraitsOf(c.by, &req).Surely(&req, []*entity.Node{free, dear}, 0, des.Minute), "%T %v", c.by, c.by)
		found, err := c.by.Find(context.Background(), req, list, des.Minute)
		require.NoError(t, err)
		require.Equal(t, c.found, found.OK, "%T %v", c.by, c.by)
	}
}

type unknownWorth struct{}

func (unknownWorth) Value(*entity.Slot, des.Time, des.Time) float64 { return 1 }

func TestTheShapeOfWindowsIsATrait(t *testing.T) {
	for by, square := range map[plan.Finder]bool{
		AMP{}: false, CSA{}: false, Best{By: Q{}, Rough: true}: false, Within{AMP{}, "rack"}: false,
		Cheapest{}: true, MultipleBest{By: Q{}}: true, Best{By: Q{}}: true, Within{Best{By: Q{}}, "rack"}: true,
	} {
		require.Equal(t, square, plan.TraitsOf(by, &entity.Request{}).Square, "%T", by)
	}
}

// The earliest window of all nodes may span racks.
func TestWithinARackNoWindowIsReadOffThePlan(t *testing.T) {
	req := &entity.Request{Nodes: 2}
	require.True(t, AMP{}.Traits(req).FirstFit)
	traits := plan.TraitsOf(Within{AMP{}, "rack"}, req)
	require.False(t, traits.Earliest || traits.FirstFit || traits.Complete)
}
