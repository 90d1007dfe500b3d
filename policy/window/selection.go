// The candidates of a box, and the n of them that are selected: those of the greatest keys.

package window

import (
	"math/bits"
	"slices"
)

// selection is the content of the present box: its candidates with their values, costs, reduced
// values and marks, and the n selected candidates.
type selection struct {
	// By position, of all candidates; gather sets all but r.
	ids     []int32   // indices of slots
	z       []float64 // the greatest values in the box, in ticks where inTicks
	c       []float64 // the least costs in the box, in the tariff's measure
	r       []float64 // z − λc of the λ that was tried last; -c after chooseCheapest
	marks   []uint8   // the marks that each has; see allMarks
	partial bool      // some candidate lacks a mark

	sel    []int32 // the positions of the n greatest r, ascending
	nth    nth
	sumZ   float64  // Σ z of sel
	sumC   float64  // Σ c of sel
	sumR   float64  // Σ r of sel
	low    float64  // the least r in sel
	ranked []ranked // scratch of inOrder
	in     []bool   // by position: whether it is in sel; scratch of store
}

// ranked is a key and where it stands.
type ranked struct {
	key float64
	at  int32 // position among the candidates
}

// inOrder returns the selection with the greatest r first, and equals by place.
func (x *boxSearch) inOrder() []ranked {
	x.ranked = x.ranked[:0]
	for _, at := range x.sel {
		x.ranked = append(x.ranked, ranked{x.r[at], at})
	}
	slices.SortFunc(x.ranked, func(a, b ranked) int {
		if a.key > b.key || a.key == b.key && a.at < b.at {
			return -1
		}
		return 1 // no two stand at the same place
	})
	return x.ranked
}

// choose selects the n greatest r = z − λc.
func (x *boxSearch) choose(lambda float64) {
	x.reduce(lambda)
	x.selectTop(x.r)
}

// reduce sets r to z − λc.
func (x *boxSearch) reduce(lambda float64) {
	r := slices.Grow(x.r[:0], len(x.z))[:len(x.z)]
	c := x.c[:len(r)]
	for i, z := range x.z[:len(c)] {
		r[i] = z - float64(lambda*c[i])
	}
	x.r = r
}

// chooseCheapest selects the n cheapest. Only the sums of the selection hold
// then, not the bound.
func (x *boxSearch) chooseCheapest() {
	for i, c := range x.c {
		x.r[i] = -c
	}
	x.selectTop(x.r)
}

// selectTop sets sel to the n greatest keys, of equals the first, and the sums.
func (x *boxSearch) selectTop(keys []float64) {
	x.low = x.nth.greatest(keys, x.req.Nodes)
	x.selectFrom(keys)
	x.sumZ, x.sumC, x.sumR = 0, 0, 0
	for _, at := range x.sel {
		x.sumZ += x.z[at]
		x.sumC += x.c[at]
		x.sumR += keys[at]
	}
}

// selectFrom sets sel to the n greatest keys, the least of which is low.
func (x *boxSearch) selectFrom(keys []float64) {
	n, m := x.req.Nodes, len(keys)
	sel := slices.Grow(x.sel[:0], m+1)[:m+1] // one more, so that each place can be written
	k := 0
	for i, key := range keys { // each is written, and stays if the next goes behind it
		sel[k] = int32(i)
		k += one(key >= x.low)
	}
	if k > n { // of those that equal the n-th the last are too many
		above := 0
		for _, at := range sel[:k] {
			above += one(keys[at] > x.low)
		}
		all, equal := sel[:k], n-above
		k = 0
		for i := 0; k < n; i++ {
			if at := all[i]; keys[at] > x.low || equal > 0 {
				equal -= one(keys[at] == x.low)
				sel[k] = at
				k++
			}
		}
	}
	x.sel = sel[:k]
}

// one is 1 if b is true, and otherwise 0. It makes no branch, half of which a processor would
// mispredict where keys are compared.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nth finds the n-th greatest of some keys; it is scratch that can be used again.
type nth struct{ room [3][]float64 }

// few keys are as soon inserted one by one as parted.
const few = 16

// greatest returns the n-th greatest of the keys, 1 <= n <= len(keys), by Hoare's selection,
// which only goes into the part that has the n-th. O(m), and O(m log m) where the pivots are bad
// again and again. No key may be NaN.
func (s *nth) greatest(keys []float64, n int) float64 {
	list := keys
	if n <= few {
		return leastOf(list, n)
	}
	for i := range s.room {
		s.room[i] = slices.Grow(s.room[i][:0], len(list)+1)[:len(list)+1]
	}
	above, below, own := s.room[0], s.room[1], s.room[2] // after the first round list lies in own
	for rounds := 2 * bits.Len(uint(len(list))); len(list) > few; rounds-- {
		if rounds == 0 { // good pivots would have been done by now
			return slices.Sorted(slices.Values(list))[len(list)-n]
		}
		// The k keys above the pivot, and the others. The list itself is room for the next round.
		pivot, k := medianOf(list), 0
		for i, key := range list {
			above[k] = key
			below[i-k] = key
			k += one(key > pivot)
		}
		if n <= k { // the n-th is above
			list, own, above = above[:k], above, own
			continue
		}
		if k == 0 { // the pivot is the greatest
			for i, key := range list {
				below[i-k] = key
				k += one(key == pivot)
			}
			if n <= k {
				return pivot
			}
		}
		list, n, own, below = below[:len(list)-k], n-k, below, own // the n-th is not
	}
	return leastOf(list, n)
}

// medianOf returns the median of three keys of a list, or where it is long, of three such
// medians.
func medianOf(list []float64) float64 {
	const long = 128
	if m := len(list); m > long {
		return medianOfThree(medianOfThree(list[0], list[m/8], list[m/4]), medianOfThree(list[m*3/8], list[m/2], list[m*5/8]), medianOfThree(list[m*3/4], list[m*7/8], list[m-1]))
	}
	return medianOfThree(list[0], list[len(list)/2], list[len(list)-1])
}

func medianOfThree(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }

// leastOf returns the n-th greatest key, where n is few, by insertion among the greatest so far.
func leastOf(keys []float64, n int) float64 {
	var top [few]float64 // the greatest first
	for i, key := range keys {
		k := i
		if i >= n {
			if key <= top[n-1] {
				continue
			}
			k = n - 1
		}
		for ; k > 0 && top[k-1] < key; k-- {
			top[k] = top[k-1]
		}
		top[k] = key
	}
	return top[n-1]
}
