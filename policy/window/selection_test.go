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
		for at, key := range rapid.SliceOfN(rapid.IntRange(0, kinds-1), rapid.SampledFrom([]int{1, 120}).Draw(t, "least size"), 300).Draw(t, "keys") {
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

// A box keeps its selection greatest first, and then the others in their places: so its halves
// find theirs nearly in order, and of equals take the same.
func TestABoxKeepsItsSelectionInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SampledFrom([]int{2, 10, 1000}).Draw(t, "kinds of worths")
		x := boxSearch{scan: new(scan)}
		var want []ranked
		for at, z := range rapid.SliceOfN(rapid.IntRange(0, kinds-1), rapid.SampledFrom([]int{1, 120}).Draw(t, "least size"), 300).Draw(t, "worths") {
			x.ids, x.z, x.c = append(x.ids, int32(at)), append(x.z, float64(z)), append(x.c, 1)
			want = append(want, ranked{float64(z), int32(at)})
		}
		n := rapid.IntRange(1, len(want)).Draw(t, "n")
		x.req.Nodes, x.marks = n, make([]uint8, len(want))
		slices.SortFunc(want, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.at, b.at)) })
		x.choose(0)
		sum := 0.0
		for _, w := range want[:n] {
			sum += w.key
		}
		require.Equal(t, []float64{sum, sum, float64(n), want[n-1].key}, []float64{x.sumR, x.sumZ, x.sumC, x.low})

		need := float64(rapid.IntRange(-1, kinds).Draw(t, "least worth"))
		var b box
		x.store(&b, need+sum-x.low)
		slices.SortFunc(want[n:], func(a, b ranked) int { return cmp.Compare(a.at, b.at) })
		var kept []int32
		for _, w := range want {
			if w.key > need {
				kept = append(kept, w.at)
			}
		}
		require.Equal(t, kept, append([]int32(nil), x.arena[b.lo:b.hi]...))
	})
}
