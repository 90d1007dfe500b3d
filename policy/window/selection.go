// The candidates of a box, and the n of them that are selected: those of the greatest keys.

package window

import (
	"math"
	"math/bits"
	"slices"
)

// selection is what the box at hand holds: its candidates with their values,
// costs, reduced values and marks, and the n of them that were selected.
type selection struct {
	ids     []int32
	z       []float64
	c       []float64
	r       []float64
	marks   []uint8
	partial bool     // some candidate lacks a mark
	sel     []ranked // the n greatest r
	inOrder bool     // sel is, greatest first
	in      []bool   // by position: whether it is in sel; scratch of store
	sumZ    float64
	sumC    float64
	sumR    float64
	low     float64 // the least r in sel
}

// choose selects the n greatest r = z − λc.
func (x *boxSearch) choose(lambda float64) {
	r := slices.Grow(x.r[:0], len(x.z))[:len(x.z)]
	c := x.c[:len(r)]
	for i, z := range x.z[:len(c)] {
		r[i] = z - float64(lambda*c[i])
	}
	x.r = r
	x.selectTop(r)
}

// chooseCheapest selects the n cheapest. Only the sums of the selection hold
// then, not the bound.
func (x *boxSearch) chooseCheapest() {
	for i, c := range x.c {
		x.r[i] = -c
	}
	x.selectTop(x.r)
}

// selectTop sets sel to the n greatest keys, of equals the first, and the sums. Insertion
// is quick, and puts them in order, because store puts the selection of the box above
// first; where it is not, as in the first box, they are selected without an order.
func (x *boxSearch) selectTop(keys []float64) {
	x.sel = x.sel[:0]
	x.inOrder = x.insertTop(keys)
	if !x.inOrder {
		x.sel = slices.Grow(x.sel[:0], len(keys))[:len(keys)]
		for i, key := range keys {
			x.sel[i] = ranked{key, int32(i)}
		}
		greatestFirst(x.sel, x.req.Nodes)
		x.sel = x.sel[:x.req.Nodes]
	}
	x.sumZ, x.sumC, x.sumR, x.low = 0, 0, 0, x.sel[len(x.sel)-1].key
	for _, s := range x.sel {
		x.sumZ += x.z[s.at]
		x.sumC += x.c[s.at]
		x.sumR += s.key
	}
}

// insertTop puts the n greatest keys into sel by insertion, greatest first, or gives up
// where that takes too many moves.
func (x *boxSearch) insertTop(keys []float64) (done bool) {
	n, list := x.req.Nodes, x.sel
	least := math.Inf(-1)
	moves := insertions * len(keys)
	for i, key := range keys {
		k := len(list)
		if k < n {
			list = append(list, ranked{})
		} else if key <= least {
			continue
		} else {
			k--
		}
		for k > 0 && list[k-1].key < key {
			list[k] = list[k-1]
			k--
			moves--
		}
		list[k] = ranked{key, int32(i)}
		if len(list) == n {
			least = list[n-1].key
		}
		if moves < 0 {
			break
		}
	}
	x.sel = list
	return moves >= 0
}

// insertions is how many moves a key insertTop makes.
const insertions = 4

// ranked is a key and where it stands.
type ranked struct {
	key float64
	at  int32
}

// before is the order of the greatest first, and of equals by place.
func (a ranked) before(b ranked) bool { return a.key > b.key || (a.key == b.key && a.at < b.at) }

// greatestFirst moves the n that come first in that order to the front of list, the last of
// them to its place among all, by Hoare's selection, which only goes into the part that has the
// n-th. O(m), and O(m log m) where the pivots are bad again and again. No key may be NaN.
func greatestFirst(list []ranked, n int) {
	const few = 16 // are as soon sorted
	lo, hi := 0, len(list)
	for rounds := 2 * bits.Len(uint(len(list))); hi-lo > few && rounds > 0; rounds-- {
		a, b, c := list[lo], list[lo+(hi-lo)/2], list[hi-1]
		if b.before(a) {
			a, b = b, a
		}
		if c.before(b) {
			if b = c; b.before(a) {
				b = a
			}
		}
		// list[lo:j+1] come no later than b, the median of the three, and list[i:hi] no earlier.
		i, j := lo, hi-1
		for i <= j {
			for list[i].before(b) {
				i++
			}
			for b.before(list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case n <= j+1:
			hi = j + 1
		case n > i:
			lo = i
		default:
			return // it is b
		}
	}
	sortRanked(list[lo:hi])
}

// sortRanked puts list in order.
func sortRanked(list []ranked) {
	slices.SortFunc(list, func(a, b ranked) int {
		if a.before(b) {
			return -1
		}
		return 1 // no two stand at the same place
	})
}
