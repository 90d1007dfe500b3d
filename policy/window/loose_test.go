package window

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWhereNoBudgetBindsTheGreatestAreWhatListsOfChoicesFind(t *testing.T) {
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
		if limit == math.MaxFloat64 && len(marks) != 4 {
			require.Zero(t, quick.visits, "no choice need be made one by one")
		}
	})
}

func TestOnlyWorthsThatAddUpExactlyAreSummedUp(t *testing.T) {
	for _, z := range []float64{0.5, 1 << 52} {
		p := subset{n: 2, limit: math.MaxFloat64, items: []item{{z: z}, {z: 1}}}
		require.False(t, p.loose(), "%v", z)
	}
	p := subset{n: 2, limit: 10, items: []item{{z: 1, c: 4}, {z: 1, c: 5.1}}}
	require.False(t, p.loose())
	p.items[1].c = 4.9
	require.True(t, p.loose())
}
