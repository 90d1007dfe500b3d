// The exact subset problem of DEP18 at one step, for real costs:
//
//	maximise  Σ z_i   over subsets of n items with   Σ c_i <= limit
//
// It is solved as a shortest list of partial choices: items in the order of
// their reduced values r = z − λc, and for each number of items chosen the
// Pareto list of (cost, value). Two things keep the lists short. A choice that
// costs no less and is worth no more than another of as many items goes
// (dominance). A choice goes whose bound does not pass the best known worth:
// Σ chosen r + the greatest r still to come + λ limit is never less than the
// worth of any completion, whatever λ >= 0.
//
// docs/design/plans.md tells how λ is found and what each step is worth.

package window

import (
	"math"
	"slices"
)

// item is one candidate of a subset problem.
type item struct {
	z, c float64 // what it is worth, and costs (>= 0, in the tariff's measure)
	r    float64 // z − λc
	id   int32   // the caller's name for it
	// marks are conditions that the item meets (bits of allMarks); a subset
	// must meet all of them, each through some item.
	marks uint8
}

// The marks. Without them a step would find windows of other steps, with the length or the
// start of this one.
const (
	markLength = 1 << iota // its node needs all of the step's length
	markStart              // its slot begins at the step's start, where that matters

	allMarks  = markLength | markStart
	markCount = allMarks + 1 // sets of marks
)

// choice is a partial subset: a point on a Pareto list.
type choice struct {
	c, z float64 // Σ c_i and Σ z_i of its items
	step int32   // the last item taken, in subset.steps; -1 = none
}

// list holds the choices with the same number of items and the same marks met, by cost; each
// is worth more than its predecessor.
type list struct {
	choices []choice
	most    float64 // no z − λc of theirs is greater
}

func (l *list) clear() { l.choices, l.most = l.choices[:0], math.Inf(-1) }

// step is the last item of a choice, and where the choice without it is: a choice is a chain
// of steps, which choices of the same beginning share.
type step struct {
	before int32 // in subset.steps; -1 = it is the first
	item   int32 // in subset.items
}

// subset solves subset problems; it is scratch that can be used again.
type subset struct {
	n     int     // how many items are to be chosen
	limit float64 // of their costs
	items []item  // from prepare on by r, the greatest first

	lists  []list             // by how many items are chosen (fewer than n), and their marks
	spare  []choice           // the memory of the list that extend replaced last
	steps  []step             // of all choices made
	sums   []float64          // prefix sums of r: sums[j] is the sum of the first j items
	least  []float64          // least cost of the items from here on; +Inf behind the last
	next   [markCount][]int32 // by mark and item: the first item from here on with the mark, or -1
	choose []int32            // ids of the best subset
	worth  float64            // its Σ z
	found  bool
	visits int     // choices made, over all problems of a search
	looks  int     // at choices on the lists, over all problems of a search
	most   int     // an enumeration ends when more than this is spent; 0 = it goes on
	scale  float64 // of worths, for gap
}

// patience is the number of choices that a search makes before it begins to allow itself a gap. The
// papers' problems take hundreds. Only if worth and cost are equal but for a constant do real
// numbers leave so many choices open: the problem is then subset-sum, and the search would have to
// prove that no window spends the budget to the last digit.
const patience = 1 << 18

// looksPerVisit is the number of looks at choices that count as much as one choice made. An item is
// compared with all choices on the lists, even if no new choice is kept. With 1,600 items of which
// the best are subset-sum that means thousands of looks for each choice: the search would take most
// of a minute before the choices alone had used up the patience.
const looksPerVisit = 1 << 8

// spent returns the part of its patience that a search has used.
func (p *subset) spent() int { return max(p.visits, p.looks/looksPerVisit) }

// over reports whether the enumeration at hand has spent what it may.
func (p *subset) over() bool { return p.most > 0 && p.spent() > p.most }

// gap returns the amount of worth above the best known subset for which the search no longer looks:
// 0 within the patience, then a thousand-millionth of scale, doubled after every 32,768 further
// choices, so that every search ends.
func (p *subset) gap() float64 {
	if p.spent() <= patience {
		return 0
	}
	return 1e-9 * p.scale * math.Exp2(float64((p.spent()-patience)>>15))
}

// solve looks for a subset worth more than floor, with the multiplier lambda
// for the bound. It sorts items.
func (p *subset) solve(lambda, floor float64) {
	p.found = false
	p.prepare(lambda)
	p.deepen(lambda, floor)
}

// deepen enumerates with a floor near the bound at first, then with lower ones, until
// there is a subset or the floor is the one asked for. The best subset is mostly worth
// little less than the bound, and it is the same whatever floor below it is taken; but
// until there is one, a floor far below the bound has next to all choices kept. How far
// a floor is from the bound is told by the items next to the n-th: what a subset
// loses that has the last of the w after it in place of the first of the w before it,
// for w = 2, 4, 8, ... (Korf's iterative deepening, 1985.)
func (p *subset) deepen(lambda, floor float64) {
	n, before := p.n, p.visits
	bound, ok := p.rest(n, 0, 0)
	if !ok {
		return // no subset has all marks
	}
	bound += lambda * p.limit
	for w := 2; w < len(p.items) && p.visits-before <= shallow && !p.over(); w *= 2 {
		guess := bound - (p.items[max(n-w, 0)].r - p.items[min(n+w, len(p.items))-1].r)
		if guess <= floor {
			break
		}
		if p.enumerate(lambda, guess); p.found {
			return
		}
	}
	p.enumerate(lambda, floor)
}

// shallow is the number of choices that deepen makes with floors that are too high before it takes
// the floor that was asked for. If nothing tells choices apart, each floor makes all of them.
const shallow = patience >> 3

// enumerate solves by lists of partial choices. The items have been prepared.
//
// A partial choice of k of the first j items is worth at most, whatever completes it,
//
//	(z − λc) + rest + λ limit
//
// with rest the greatest r of n−k more items. So it is kept if z − λc > floor + gap − λ limit − rest,
// and a list goes whose most is no more than that.
func (p *subset) enumerate(lambda, floor float64) {
	// One empty choice of no items.
	m, n := len(p.items), p.n
	for len(p.lists) < n*markCount {
		p.lists = append(p.lists, list{})
	}
	for i := range p.lists[:n*markCount] {
		p.lists[i].clear()
	}
	p.steps = p.steps[:0]
	p.lists[0].choices, p.lists[0].most = append(p.lists[0].choices, choice{step: -1}), 0
	top, low := 0, 0 // numbers of items chosen that have lists
	budget := lambda * p.limit
	for j := range p.items {
		it := &p.items[j]
		low = max(low, n-(m-j)) // fewer cannot be completed any more
		// The longer choices first: each item is added at most once.
		for k := min(top, n-1); k >= low; k-- {
			for marks := range uint8(markCount) {
				from := &p.lists[k*markCount+int(marks)]
				if len(from.choices) == 0 {
					continue
				}
				if rest, ok := p.rest(n-k, j, marks); !ok || from.most+rest <= floor+p.gap()-budget {
					from.clear() // nor will it with what comes later
					continue
				}
				// With item j: a subset, if it is the n-th item, and otherwise a choice of one more.
				met := marks | it.marks
				if k+1 == n {
					if met == allMarks {
						floor = p.complete(from.choices, j, floor)
					}
					continue
				}
				rest, ok := p.rest(n-k-1, j+1, met)
				if !ok {
					continue
				}
				if threshold := floor + p.gap() - budget - rest; from.most+it.r > threshold && p.extend(k, marks, met, j, threshold, lambda) {
					top = max(top, k+1)
				}
			}
		}
		// The end, where no choice is left that could be completed.
		for low <= top && p.none(low) {
			low++
		}
		if low > top || p.over() {
			return
		}
	}
}

// none reports whether there are no choices of k items.
func (p *subset) none(k int) bool {
	for _, l := range p.lists[k*markCount : (k+1)*markCount] {
		if len(l.choices) > 0 {
			return false
		}
	}
	return true
}

// prepare sorts the items by r, of equals by id, and sums them up.
func (p *subset) prepare(lambda float64) {
	for i := range p.items {
		it := &p.items[i]
		it.r = it.z - float64(lambda*it.c)
	}
	slices.SortFunc(p.items, func(a, b item) int {
		switch {
		case a.r > b.r:
			return -1
		case a.r < b.r:
			return 1
		}
		return int(a.id) - int(b.id)
	})

	// What rest and extend ask for of the items from the j-th on.
	m := len(p.items)
	p.sums = append(p.sums[:0], 0)
	p.least = slices.Grow(p.least[:0], m+1)[:m+1]
	p.least[m] = math.Inf(1)
	for i := range p.items {
		p.sums = append(p.sums, p.sums[i]+p.items[i].r)
	}
	for i := m - 1; i >= 0; i-- {
		p.least[i] = min(p.least[i+1], p.items[i].c)
	}
	for mark := uint8(1); mark < markCount; mark <<= 1 {
		next := slices.Grow(p.next[mark][:0], m+1)[:m+1]
		next[m] = -1
		for i := m - 1; i >= 0; i-- {
			if next[i] = next[i+1]; p.items[i].marks&mark != 0 {
				next[i] = int32(i)
			}
		}
		p.next[mark] = next
	}
}

// rest bounds Σ r of k more items from the j-th on that meet what marks lacks; ok is false if
// there are none.
func (p *subset) rest(k, j int, marks uint8) (sum float64, ok bool) {
	m := len(p.items)
	if j+k > m {
		return 0, false
	}
	// The next k are the greatest. If none of them has a mark that is lacking, the first that
	// has takes the place of the last of the k.
	sum = p.sums[j+k] - p.sums[j]
	penalty := 0.0
	for mark := uint8(1); mark < markCount; mark <<= 1 {
		if marks&mark != 0 {
			continue
		}
		at := int(p.next[mark][j])
		if at < 0 || k == 0 {
			return 0, false
		}
		if at >= j+k {
			penalty = max(penalty, p.items[j+k-1].r-p.items[at].r)
		}
	}
	return sum - penalty, true
}

// extend adds item j to the choices of k items and merges them into those of
// k+1, leaving out what is dominated or whose z − λc does not pass threshold. It
// reports whether there were any.
func (p *subset) extend(k int, marks, met uint8, j int, threshold, lambda float64) bool {
	it := &p.items[j]
	from := p.lists[k*markCount+int(marks)].choices
	into := &p.lists[(k+1)*markCount+int(met)]
	to, out := into.choices, p.spare[:0]
	left := float64(p.n-k-1) * p.least[j+1] // what the items still lacking cost at least
	if p.n == k+1 {
		left = 0 // and not 0 times +Inf
	}
	p.looks += len(from)
	most := math.Inf(-1) // the worth of the last in out
	i := 0               // the next of to
	// Both lists are by cost, and so is the new one.
	for _, f := range from {
		c, z := f.c+it.c, f.z+it.z
		if c+left > p.limit {
			break // those that follow cost more
		}
		r := z - float64(lambda*c)
		if r <= threshold {
			continue
		}
		for ; i < len(to) && to[i].c <= c; i++ {
			if to[i].z > most {
				out = append(out, to[i])
				most = max(most, to[i].z)
			}
		}
		if z <= most {
			continue // dominated
		}
		p.visits++
		p.steps = append(p.steps, step{before: f.step, item: int32(j)})
		out = append(out, choice{c: c, z: z, step: int32(len(p.steps) - 1)})
		most = max(most, z)
		into.most = max(into.most, r)
	}
	if len(out) == 0 {
		return false
	}
	for ; i < len(to); i++ {
		if to[i].z > most {
			out = append(out, to[i])
			most = max(most, to[i].z)
		}
	}
	p.looks += len(to)
	p.spare, into.choices = to, out
	return true
}

// complete adds item j as the last to the choices of n-1 items and keeps what
// is worth more than floor; it returns the new floor.
func (p *subset) complete(from []choice, j int, floor float64) float64 {
	it := &p.items[j]
	for i := len(from) - 1; i >= 0; i-- {
		f := &from[i]
		p.looks++
		if f.z+it.z <= floor {
			break // those before are worth less
		}
		if f.c+it.c <= p.limit {
			p.found = true
			floor = f.z + it.z
			p.worth = floor
			p.choose = append(p.choose[:0], it.id)
			for s := f.step; s >= 0; s = p.steps[s].before {
				p.choose = append(p.choose, p.items[p.steps[s].item].id)
			}
			break
		}
	}
	return floor
}
