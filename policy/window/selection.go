// The n greatest of many keys, in order.

package window

import (
	"math/bits"
	"slices"
)

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
