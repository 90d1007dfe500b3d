package window

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheGreatestComeFirstAndEqualsByPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SampledFrom([]int{1, 2, 10, 1000}).Draw(t, "kinds of keys")
		var list []ranked
		for at, key := range rapid.SliceOfN(rapid.IntRange(0, kinds-1), 1, 300).Draw(t, "keys") {
			list = append(list, ranked{float64(key), int32(at)})
		}
		byKey := func(a, b ranked) int { return cmp.Compare(a.key, b.key) }
		switch rapid.IntRange(0, 3).Draw(t, "order") {
		case 0:
			slices.SortStableFunc(list, byKey)
		case 1:
			slices.SortStableFunc(list, byKey)
			slices.Reverse(list)
		}
		n := rapid.IntRange(1, len(list)).Draw(t, "n")
		want := slices.SortedFunc(slices.Values(list), func(a, b ranked) int {
			return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.at, b.at))
		})
		greatestFirst(list, n)
		require.Equal(t, want[n-1], list[n-1])
		require.ElementsMatch(t, want, list)
		sortRanked(list[:n])
		require.Equal(t, want[:n], list[:n])
	})
}
