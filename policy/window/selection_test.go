package window

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawKeys draws keys of which many, some or none are equal, in any order.
func drawKeys(t *rapid.T) []float64 {
	kinds := rapid.SampledFrom([]int{1, 2, 10, 1000}).Draw(t, "kinds of keys")
	var keys []float64
	for _, key := range rapid.SliceOfN(rapid.IntRange(-kinds/2, kinds/2), rapid.SampledFrom([]int{1, 120, 200}).Draw(t, "least size"), 300).Draw(t, "keys") {
		keys = append(keys, float64(key))
	}
	switch rapid.IntRange(0, 3).Draw(t, "order") {
	case 0:
		slices.Sort(keys)
	case 1:
		slices.Sort(keys)
		slices.Reverse(keys)
	}
	return keys
}

func TestTheNthGreatestIsWhereSortingPutsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := drawKeys(t)
		given := slices.Clone(keys)
		var s nth
		for range 3 { // the scratch is used again
			n := rapid.IntRange(1, len(keys)).Draw(t, "n")
			require.Equal(t, slices.Sorted(slices.Values(keys))[len(keys)-n], s.greatest(keys, n))
			require.Equal(t, given, keys)
		}
	})
}

// Where all pivots are bad, a list is sorted in the end: here each round parts off a few of the
// greatest keys.
func TestTheNthGreatestIsFoundWhereAllPivotsAreBad(t *testing.T) {
	const m = 4096
	keys := make([]float64, m)
	left := make([]int, m) // places in keys
	for i := range left {
		left[i] = i
	}
	next := float64(m)
	for range 2*bits.Len(m) + 1 {
		n := len(left)
		for _, i := range []int{0, n / 8, n / 4, n * 3 / 8, n / 2, n * 5 / 8, n * 3 / 4, n * 7 / 8, n - 1} {
			if key := &keys[left[i]]; *key == 0 { // medianOf looks at it for the first time
				*key = next
				next--
			}
		}
		var list []float64
		for _, i := range left {
			list = append(list, keys[i])
		}
		pivot := medianOf(list)
		left = slices.DeleteFunc(left, func(i int) bool { return keys[i] > pivot })
	}
	require.Greater(t, len(left), m*9/10, "medianOf looks at other places")
	for i := range left {
		if key := &keys[left[i]]; *key == 0 {
			*key = -float64(i)
		}
	}
	var s nth
	for n := 1; n <= m; n += 97 {
		require.Equal(t, slices.Sorted(slices.Values(keys))[m-n], s.greatest(keys, n))
	}
}

// A selection is the n greatest, and of equals the first. A box keeps its selection greatest
// first, and then the others in their places, so that its halves take the same of equals.
func TestABoxKeepsItsSelectionInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := boxSearch{scan: new(scan)}
		var want []ranked
		for at, z := range drawKeys(t) {
			x.ids, x.z, x.c = append(x.ids, int32(at)), append(x.z, z), append(x.c, 1)
			want = append(want, ranked{z, int32(at)})
		}
		n := rapid.IntRange(1, len(want)).Draw(t, "n")
		x.req.Nodes, x.marks = n, make([]uint8, len(want))
		slices.SortFunc(want, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.at, b.at)) })
		x.choose(0)
		sum := 0.0
		var selected []int32
		for _, w := range want[:n] {
			sum += w.key
			selected = append(selected, w.at)
		}
		slices.Sort(selected)
		require.Equal(t, []float64{sum, sum, float64(n), want[n-1].key}, []float64{x.sumR, x.sumZ, x.sumC, x.low})
		require.Equal(t, selected, x.sel)

		need := float64(rapid.IntRange(-500, 500).Draw(t, "least worth"))
		var b box
		slices.SortFunc(want[n:], func(a, b ranked) int { return cmp.Compare(a.at, b.at) })
		x.sel = nil // of another λ
		x.store(&b, need+sum-x.low)
		var kept []int32
		for _, w := range want {
			if w.key > need {
				kept = append(kept, w.at)
			}
		}
		require.Equal(t, kept, append([]int32(nil), x.arena[b.lo:b.hi]...))
	})
}

// What a box keeps depends on the selection by its multiplier, which need not be the last one
// that was tried.
func TestABoxIsLeftWithWhatItsMultiplierSelects(t *testing.T) {
	looked := 0
	rapid.Check(t, func(t *rapid.T) {
		x := boxSearch{scan: new(scan)}
		x.incumbent = incumbent{bestZ: math.Inf(-1), scale: tiny}
		for at, z := range drawKeys(t) {
			x.ids, x.z = append(x.ids, int32(at)), append(x.z, z)
			x.c = append(x.c, float64(rapid.IntRange(1, 9).Draw(t, "cost")))
			x.marks = append(x.marks, allMarks)
		}
		if rapid.IntRange(0, 9).Draw(t, "an infinite worth") == 0 {
			x.z[0] = math.Inf(1)
		}
		x.req.Nodes = rapid.IntRange(1, len(x.ids)).Draw(t, "n")
		x.tariff.limit = float64(rapid.IntRange(1, 9*x.req.Nodes).Draw(t, "budget"))
		x.lengths = []des.Time{1}
		b := box{toLen: 1, lambda: float64(rapid.IntRange(0, 50).Draw(t, "multiplier of the box above"))}
		guess := func() line {
			return line{z: float64(rapid.IntRange(-100, 100).Draw(t, "worth")), c: float64(rapid.IntRange(1, 500).Draw(t, "cost")), known: true}
		}
		if rapid.Bool().Draw(t, "lines of the box above") {
			b.dear, b.cheap = guess(), guess()
		}
		if !x.minimise(&b, math.Inf(-1), rapid.IntRange(0, stepTries).Draw(t, "tries")) {
			return
		}
		sumR, low, r := x.sumR, x.low, slices.Clone(x.r)
		x.choose(b.lambda)
		require.Equal(t, []float64{x.sumR, x.low}, []float64{sumR, low})
		require.Equal(t, x.r, r)
		looked++
	})
	require.Positive(t, looked)
}
