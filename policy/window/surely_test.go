package window

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

func TestWhatIsSureIsFound(t *testing.T) {
	sure := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		set := Settings{
			Quantum:    rapid.SampledFrom([]des.Time{0, 7}).Draw(t, "quantum"),
			RoundCosts: rapid.SampledFrom([]float64{0, 1e-5}).Draw(t, "rounding"),
			AnyStart:   rapid.Bool().Draw(t, "any start"),
		}
		list := plan.SlotList{To: des.Time(rapid.IntRange(1, 40).Draw(t, "interval"))}
		var nodes []*entity.Node
		for id := range rapid.IntRange(1, 8).Draw(t, "nodes") {
			n := &entity.Node{
				ID:    id,
				Perf:  rapid.SampledFrom([]float64{1, 1.5, 2, 4}).Draw(t, "performance"),
				Price: rapid.SampledFrom([]float64{0, 1, 2.3, 5}).Draw(t, "price"),
				Q:     float64(rapid.IntRange(-1, 2).Draw(t, "q")),
			}
			nodes = append(nodes, n)
			list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, End: list.To})
		}
		req := entity.Request{
			Nodes:    rapid.IntRange(1, 4).Draw(t, "n"),
			Length:   des.Time(rapid.IntRange(1, 40).Draw(t, "length")),
			Budget:   rapid.SampledFrom([]float64{0, 2e-5, 1e-4, 4e-4, math.Inf(1)}).Draw(t, "budget"),
			MaxPrice: rapid.SampledFrom([]float64{0, 0, 2.3}).Draw(t, "price limit"),
			MinPerf:  rapid.SampledFrom([]float64{0, 0, 2}).Draw(t, "least performance"),
			Deadline: des.Time(rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "deadline")),
		}
		kind := rapid.SampledFrom([]Kind{Rough, Square}).Draw(t, "kind")
		for _, name := range Names(kind) {
			f, err := ByName(kind, name, set)
			require.NoError(t, err)
			says := plan.TraitsOf(f, &req).Surely(&req, nodes, list.From, list.To)
			sure[says]++
			if !says {
				continue
			}
			found, err := f.Find(context.Background(), req, list, list.To)
			require.NoError(t, err)
			require.True(t, found.OK, name)
		}
	})
	require.Greater(t, sure[true], sure[false]/100, "the property is about something") // one in 14 or so; fewer by chance
}

func TestNearlyTheBudgetIsSummedUpExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "n")
		costs := rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.3, 0.7, 1, 1e9, 1e17})
		var c cheapest
		c.reset(n)
		for i, cost := range rapid.SliceOfN(costs, 1, 30).Draw(t, "costs") {
			now := des.Time(i)
			c.advance(now)
			c.add(offer{cost: cost, slot: int32(i), last: now + des.Time(rapid.IntRange(0, 40).Draw(t, "room"))})
			if rapid.IntRange(0, 9).Draw(t, "shorter") == 0 {
				c.shorten(1)
			}
			limit := costs.Draw(t, "limit") * float64(rapid.IntRange(1, n).Draw(t, "times"))
			within, sure := c.within(limit)
			offers, ok := c.chosen()
			if !ok {
				require.False(t, within)
				continue
			}
			if exact := totalCost(offers) <= limit; sure || !within {
				require.Equal(t, exact, within)
			}
		}
	})
}

// sureOf lists the searches of a kind that are sure of the request on nodes that are
// all free for a minute, and those of the others that find it all the same.
func sureOf(t *testing.T, kind Kind, req entity.Request, nodes ...*entity.Node) (sure, found []string) {
	list := plan.SlotList{To: des.Minute}
	for _, n := range nodes {
		list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, End: list.To})
	}
	for _, name := range Names(kind) {
		f, err := ByName(kind, name, Settings{})
		require.NoError(t, err)
		if _, needsBudget := f.(KnapsackDP); needsBudget {
			continue
		}
		if plan.TraitsOf(f, &req).Surely(&req, nodes, list.From, list.To) {
			sure = append(sure, name)
		} else if w, err := f.Find(context.Background(), req, list, list.To); assert.NoError(t, err) && w.OK {
			found = append(found, name)
		}
	}
	return sure, found
}

func TestNothingIsSureBehindTheDeadline(t *testing.T) {
	node := &entity.Node{ID: 1, Perf: 1, Price: 1}
	req := entity.Request{Nodes: 1, Length: 10 * des.Second}
	for _, kind := range []Kind{Rough, Square} {
		req.Deadline = req.Length
		sure, _ := sureOf(t, kind, req, node)
		require.NotEmpty(t, sure)
		req.Deadline = req.Length - 1
		sure, found := sureOf(t, kind, req, node)
		require.Empty(t, sure)
		require.Empty(t, found)
	}
}

// For 10 s on one node and 5 s on one that is twice as fast, and that costs 3 a second,
// a user pays 25; where both are held for 10 s he pays 40.
func TestASquareWindowIsPricedUpToItsEnd(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1, Price: 1}, &entity.Node{ID: 2, Perf: 2, Price: 3}
	for _, c := range []struct {
		kind Kind
		cost float64
	}{{Rough, 25}, {Square, 40}} {
		req := entity.Request{Nodes: 2, Length: 10 * des.Second, Budget: c.cost * 1.001}
		sure, _ := sureOf(t, c.kind, req, slow, fast)
		require.Greater(t, len(sure), 5)
		req.Budget = c.cost * 0.999
		sure, found := sureOf(t, c.kind, req, slow, fast)
		require.Empty(t, sure)
		require.Empty(t, found)
		req.Budget = c.cost
		sure, found = sureOf(t, c.kind, req, slow, fast)
		require.Empty(t, sure, "so near to the budget the search has to tell")
		require.NotEmpty(t, found)
	}
}

// Two slow nodes cost 20 for 10 s. Two nodes that are four times as fast and twice as dear cost
// 10 for 2.5 s. A window of a slow node and a fast one costs 30 where both are held for 10 s.
func TestFastNodesMayBeSureWhereCheapOnesAreNot(t *testing.T) {
	var nodes []*entity.Node
	for id, n := range []entity.Node{{Perf: 1, Price: 1}, {Perf: 1, Price: 1}, {Perf: 4, Price: 2}, {Perf: 4, Price: 2}} {
		n.ID = id
		nodes = append(nodes, &n)
	}
	for _, kind := range []Kind{Rough, Square} {
		req := entity.Request{Nodes: 2, Length: 10 * des.Second, Budget: 10.01}
		sure, _ := sureOf(t, kind, req, nodes...)
		require.Greater(t, len(sure), 5)
		req.Budget = 9.99
		sure, found := sureOf(t, kind, req, nodes...)
		require.Empty(t, sure)
		require.Empty(t, found)
	}
}
