package window

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Rounded costs are whole numbers, so a choice often costs exactly the budget.
// The best three of these items do: 3 + 2 + 1 = 6. The choice of the first two
// must survive although the cheapest third item, at a cost of 1, uses up the rest.
func TestASubsetMayCostExactlyTheBudget(t *testing.T) {
	p := subset{n: 3, limit: 6, items: []item{
		{z: 30, c: 3, id: 3, marks: allMarks},
		{z: 20, c: 2, id: 2, marks: allMarks},
		{z: 10, c: 1, id: 1, marks: allMarks},
		{z: 1, c: 1, id: 0, marks: allMarks},
	}}
	p.solve(0, 0)
	require.True(t, p.found)
	require.Equal(t, 60.0, p.worth)
	require.ElementsMatch(t, []int32{1, 2, 3}, p.choose)
}

// Where worth is cost, the list of what is not dominated is soon as long as patience
// lets it be, and every one of the many items is still compared with all of it.
func TestASubsetOfManyItemsIsNotLookedForWithoutEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var items []item
	for id := range int32(1600) {
		cost := 5 * (0.5 + r.Float64())
		items = append(items, item{z: cost, c: cost, id: id, marks: allMarks})
	}
	p := subset{n: 8, limit: 36, items: items, scale: 60}
	p.solve(1, 0)
	require.True(t, p.found)
	require.LessOrEqual(t, p.worth, p.limit)
	require.LessOrEqual(t, p.limit-p.worth, p.gap())
	require.Less(t, p.gap(), 1e-3)
	require.Less(t, p.looks, (patience+40<<15)*looksPerVisit)
}

// plainSubset is the text that subset makes faster: items by z − λc, and for each number of
// items chosen, and marks met, all choices of which no other costs no more and is worth no
// less. The first subset that is worth more than any before is the answer.
func plainSubset(items []item, n int, limit, lambda, floor float64) (choose []int32, worth float64) {
	type choice struct {
		z, c  float64
		marks uint8
		ids   []int32
	}
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.z-float64(lambda*b.c), a.z-float64(lambda*a.c)), cmp.Compare(a.id, b.id))
	})
	lists := make([][]choice, n*markCount)
	lists[0] = []choice{{}}
	for _, it := range items {
		for i := range lists {
			k := n - 1 - i/markCount
			for _, f := range lists[k*markCount+i%markCount] {
				add := choice{f.z + it.z, f.c + it.c, f.marks | it.marks, append(slices.Clone(f.ids), it.id)}
				if add.c > limit {
					continue
				}
				if k+1 == n {
					if add.marks == allMarks && add.z > floor {
						floor, worth, choose = add.z, add.z, add.ids
					}
					continue
				}
				to := &lists[(k+1)*markCount+int(add.marks)]
				if slices.ContainsFunc(*to, func(other choice) bool { return other.c <= add.c && other.z >= add.z }) {
					continue
				}
				*to = append(slices.DeleteFunc(*to, func(other choice) bool { return add.c <= other.c && add.z >= other.z }), add)
			}
		}
	}
	return choose, worth
}

func TestASubsetIsThatOfThePlainLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		marks := rapid.SampledFrom([][]uint8{{allMarks}, {allMarks, 2}, {allMarks, 2, 2, 2}, {0, 1, 2, allMarks}}).Draw(t, "marks")
		whole := rapid.Bool().Draw(t, "whole numbers")
		number := func(least, most int, what string) float64 {
			x := float64(rapid.IntRange(64*least, 64*most).Draw(t, what)) / 64
			if whole {
				x = math.Trunc(x)
			}
			return x
		}
		var items []item
		for id := range rapid.IntRange(n, 14).Draw(t, "m") {
			items = append(items, item{
				z: number(-3, 6, "z"), c: number(0, 5, "c"), id: int32(id),
				marks: rapid.SampledFrom(marks).Draw(t, "mark"),
			})
		}
		lambda := rapid.SampledFrom([]float64{0, 0.25, 1, 1.5}).Draw(t, "lambda")
		floor := rapid.SampledFrom([]float64{math.Inf(-1), -3, 0, 2, 7}).Draw(t, "floor")
		limit := rapid.SampledFrom([]float64{math.MaxFloat64, 20, 6, 2}).Draw(t, "limit")
		if lambda > 0 {
			limit = min(limit, 64)
		}

		choose, worth := plainSubset(items, n, limit, lambda, floor)
		p := subset{n: n, limit: limit, items: slices.Clone(items), scale: 100}
		p.prepare(lambda)
		if p.deepen(lambda, floor); choose == nil {
			require.False(t, p.found)
			return
		}
		require.True(t, p.found)
		require.Equal(t, worth, p.worth)
		require.ElementsMatch(t, choose, p.choose)
	})
}

// A list is let go of by the best of its choices, which need not be the one that was made last.
func TestAListIsAsGoodAsTheBestOfItsChoices(t *testing.T) {
	items := make([]item, 14)
	for id := range items {
		items[id] = item{id: int32(id), marks: allMarks}
	}
	items[10].z, items[10].c = 1./64, 5
	items[12].z, items[12].c = 1./64, 5
	items[13].z, items[13].c = 161./64, 1./64
	choose, worth := plainSubset(items, 3, 20, 0.25, math.Inf(-1))
	p := subset{n: 3, limit: 20, items: items, scale: 100}
	p.prepare(0.25)
	p.deepen(0.25, math.Inf(-1))
	require.True(t, p.found)
	require.Equal(t, worth, p.worth)
	require.ElementsMatch(t, choose, p.choose)
}

// Jobs that end together leave nodes of equal worth and of all prices. A search that has
// no window yet knows nothing of how much a subset may be worth, and must not keep all
// choices for that.
func TestAFloorFarBelowTheBestCostsLittle(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		var items []item
		limit := 0.0
		for id := range int32(600) {
			it := item{z: float64(1e9 * (1 + int(id)/75)), c: 1e9 * (0.5 + r.Float64()), id: id, marks: allMarks}
			items, limit = append(items, it), limit+0.45*it.c
		}
		p := subset{n: 300, limit: limit, scale: 3e12, items: items}
		low, lambda := 0.0, 100.0 // between these the 300 greatest come to cost what is allowed
		for lambda-low > 1e-9 {
			middle, cost := (low+lambda)/2, 0.0
			p.prepare(middle)
			for _, it := range items[:p.n] {
				cost += it.c
			}
			if cost > limit {
				low = middle
			} else {
				lambda = middle
			}
		}
		p.solve(lambda, math.Inf(-1))
		require.True(t, p.found)
		require.Zero(t, p.gap())
		require.Less(t, p.visits, 10_000, "seed %d", seed)
		require.Less(t, p.looks, 100_000, "seed %d", seed)
	}
}

func TestFloorsNearTheBoundFindWhatListsOfAllChoicesFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		marks := rapid.SampledFrom([][]uint8{{allMarks}, {allMarks, 2}, {allMarks, 2, 2, 2}, {2}, {1, allMarks}, {0, 1, 2, allMarks}}).Draw(t, "marks")
		var items []item
		for id := range rapid.IntRange(n, 12).Draw(t, "m") {
			items = append(items, item{
				z:     float64(rapid.IntRange(-2, 3).Draw(t, "z")),
				c:     float64(rapid.IntRange(0, 4).Draw(t, "c")),
				id:    int32(id),
				marks: rapid.SampledFrom(marks).Draw(t, "mark"),
			})
		}
		floor := rapid.SampledFrom([]float64{math.Inf(-1), -3, 0, 2, 7}).Draw(t, "floor")
		limit := rapid.SampledFrom([]float64{math.MaxFloat64, 30, 6}).Draw(t, "limit")

		plain := subset{n: n, limit: limit, items: slices.Clone(items)}
		plain.prepare(0)
		plain.enumerate(0, floor)
		quick := subset{n: n, limit: limit, items: slices.Clone(items)}
		quick.solve(0, floor)
		require.Equal(t, plain.found, quick.found)
		if plain.found {
			require.Equal(t, plain.worth, quick.worth)
			require.ElementsMatch(t, plain.choose, quick.choose)
		}
	})
}
