// Steps at which the budget does not bind: the best subset without a search.

package window

import (
	"math"
	"slices"
)

// Where any n items are within the budget, the n of the greatest worth are the best
// subset, if they meet the marks. Where they lack one, as windows of DEP and COORD
// that must have a task as long as the window, the first item that has it takes the
// place of the least:
//
//	z      9 8 8 7 | 7 7 6 5 5 ...    n = 5, the mark: *
//	marks              *     *        9, 8, 8, the first *7, and the cheapest of
//	                                  the 7s before it
//
// Of equal worth the solver's dominance keeps the cheapest, and of these the first:
// so does this. It costs O(m log m), where lists of all that is not dominated would
// be kept for each of n numbers of items: with nothing to prune by, that is the
// solver's worst case. Two limits keep the answer the solver's own. Worths must add up
// exactly: whole numbers do, as DEP and COORD have them in ticks. And but for the one
// mark all items must have the same ones. What the two could differ in is rounding: of
// two subsets of equal worth whose costs differ by less than their sums can show, the
// solver may keep the dearer one.

// loose reports whether any n of the items are within the limit, and worths add up
// exactly.
func (p *subset) loose() bool {
	dearest, most := 0.0, 0.0
	for i := range p.items {
		it := &p.items[i]
		if it.z != math.Trunc(it.z) {
			return false
		}
		dearest, most = max(dearest, it.c), max(most, math.Abs(it.z))
	}
	n := float64(p.n)
	return n*dearest*(1+1e-9) <= p.limit && n*most < 1<<53
}

// greatest solves a loose problem whose items have been sorted, with a multiplier of
// 0. It does not know the answer to one with two marks to care for.
func (p *subset) greatest(floor float64) (known bool) {
	n := p.n
	met := uint8(0)
	for i := range p.items[:n] {
		met |= p.items[i].marks
	}
	p.picks = p.picks[:0]
	if met == allMarks {
		for i := range n {
			p.picks = append(p.picks, int32(i))
		}
	} else if !p.repair(allMarks &^ met) {
		return false
	}
	worth := 0.0
	p.choose = p.choose[:0]
	for _, i := range p.picks {
		worth += p.items[i].z
		p.choose = append(p.choose, p.items[i].id)
	}
	if p.found = len(p.picks) == n && worth > floor; p.found {
		p.worth = worth
	}
	return true
}

// repair picks the best n items where the mark missing is not among the n greatest.
func (p *subset) repair(missing uint8) (known bool) {
	if missing&(missing-1) != 0 {
		return false
	}
	n, first := p.n, int(p.next[missing][p.n])
	if first < 0 {
		return true // none has it: no subset, and no picks
	}
	for i := range p.items[:first+1] {
		if p.items[i].marks|missing != allMarks {
			return false
		}
	}
	if n > 1 {
		least := p.items[n-2].z
		for i := range p.items[:first] {
			if p.items[i].z >= least {
				p.picks = append(p.picks, int32(i))
			}
		}
		// The items that are worth more come first; the rest is as good as another.
		more := 0
		for p.items[more].z > least {
			more++
		}
		equal := p.picks[more:]
		slices.SortFunc(equal, func(a, b int32) int {
			if x, y := p.items[a].c, p.items[b].c; x != y {
				if x < y {
					return -1
				}
				return 1
			}
			return int(a - b)
		})
		p.picks = p.picks[:n-1]
	}
	p.picks = append(p.picks, int32(first))
	return true
}
