// Best: the exact search of DEP18 for a window (MaxQ, DEP, COORD), by an algorithm of ours.
//
// A step is a length L, which is the task time on some node, and a start T at which a slot
// starts whose node needs no more than L. Of the m slots that hold [T, T+L), with values z
// by the criterion and costs c, a step asks for
//
//	max Σ z_i x_i    with   Σ c_i x_i <= S,   Σ x_i = n,   x_i of 0 and 1
//
// such that one of the chosen nodes needs all of L. The answer is the greatest of all steps,
// of equals the earliest. Costs are real numbers, and so is S.
//
// It is found by a branch and bound over boxes. A box is a range of starts times a range of
// lengths, with the candidates that can matter in it. Its bound is Lagrangian:
// with every candidate valued at its best and priced at its least in the box,
//
//	worth <= λ budget + Σ of the n greatest (z_i − λ c_i)      for every λ >= 0
//
//  1. Of the boxes that are open take the one with the greatest bound: at first the one
//     that holds all steps (run).
//  2. If its bound is no better than the best window known, skip it with all its steps.
//  3. Drop its candidates that cannot be in a better window, and halve it (descend, examine).
//  4. A box of one start and one length is a step, and the candidates left in it go to the
//     subset solver (solve; subset.go). Otherwise go on with 2 for the better half; the other
//     one is open.
//
// docs/design/plans.md has the reasons and the measurements.

package window

import (
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Best finds the window of the greatest worth by the criterion: MaxQ, DEP and
// COORD of DEP18 with By set to Q{}, DEP{} or COORD{}, or whatever adds up over
// the slots. The earliest of equals. A criterion that is Bounded is searched
// fastest.
type Best struct {
	Settings
	By Criterion // what a slot adds to a window's worth
	// Rough searches windows with a rough right edge instead of square ones.
	Rough bool
}

// Name returns the name of the criterion's search: "maxq", "dep", "coord".
func (b Best) Name() string { return mostName(b.By) }

// Find implements plan.Finder.
func (b Best) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	if b.By == nil {
		return plan.Found{}, plan.BadInput("the exact search has no criterion")
	}
	s, err := newScan(b.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	if b.By, err = s.criterion(b.By, list); err != nil {
		return plan.Found{}, err
	}
	s.exact(ctx, b)
	return s.found(ctx, goal{theWorth, b.By})
}

// exact searches as b says.
func (s *scan) exact(ctx context.Context, b Best) {
	x := &s.boxes
	x.reset(s, b)
	x.run(ctx)
	x.answer()
}

// A box is the onsets[fromStart:toStart] times the lengths[fromLen:toLen], or
// for AnyStart all starts in [first, last]. Its candidates are
// arena[lo:hi]. It is never empty in either direction.
type box struct {
	bound     float64 // no window of the box is worth more
	lambda    float64 // λ of that bound, >= 0: worth per unit of the tariff's measure
	dear      line    // a selection that passes the budget, for the next λ
	cheap     line    // one within it
	fromStart int32   // index of its first onset
	toStart   int32   // index after its last
	fromLen   int32   // index of its shortest length
	toLen     int32   // index after its longest
	// In arena. What halves of one box share is written once: each half begins with the range
	// of the whole, until store gives it one of its own.
	lo, hi int32
	first  des.Time // earliest start; that of the first onset
	last   des.Time // latest start, itself included; that of the last onset without AnyStart
}

// boxSearch is the scratch of the exact search, which one search after the other uses.
type boxSearch struct {
	*scan
	valuation            // z of a slot by the criterion, at a start and a length
	rough     bool       // each slot ends by itself: lengths do not matter
	anyStart  bool       // starts between those of slots are searched, too
	open      []box      // heap, greatest bound first
	arena     []int32    // candidates of all boxes so far, as indices of slots; it only grows; see box
	peaks     []des.Time // starts of fewPeaks, ascending
	subset    subset     // solver of one step
	selection            // the n candidates chosen for one λ
	incumbent
}

// incumbent is the best window known.
type incumbent struct {
	found   bool
	bestZ   float64  // its worth, in ticks where inTicks; -Inf until there is one
	bestAt  des.Time // its start
	bestLen des.Time // the length of its step; a rough window's tasks take their own, see answer
	bestIDs []int32  // its n slots, as indices of slots
	scale   float64  // the greatest worth, positive or negative, that can be met
	slack   float64  // what rounding may add to a worth
}

// tiny is a scale for worths that are all 0, so that slack is never 0.
const tiny = 1e-200

func (x *boxSearch) reset(s *scan, b Best) {
	x.scan, x.rough = s, b.Rough
	x.valuation = valuationOf(b.By, s.list)
	// Only worths that are concave in the start have their greatest values at few places (fewPeaks).
	x.anyStart = s.set.AnyStart && (x.kind == byDEP || x.kind == byCOORD)
	x.subset.visits, x.subset.looks = 0, 0
	x.incumbent = incumbent{bestZ: math.Inf(-1), scale: tiny, bestIDs: x.bestIDs}
	x.open, x.arena = x.open[:0], x.arena[:0]
}

// answer makes the incumbent the best answer of the search.
func (x *boxSearch) answer() {
	best := &x.scan.best
	if x.found {
		best.ok, best.start, best.offers = true, x.bestAt, best.offers[:0]
		for _, id := range x.bestIDs {
			u := &x.slots[id]
			best.offers = append(best.offers, offer{length: max(u.own, x.bestLen), slot: u.slot})
		}
	}
	best.gap = x.subset.gap()
	if x.inTicks() {
		best.gap /= float64(des.Second)
	}
	x.valuation = valuation{} // the pool must not keep it alive
}

// run goes through the boxes until none can hold a better window.
func (x *boxSearch) run(ctx context.Context) {
	// The slots that can be in a window, by their starts (onsets), and the lengths L that occur.
	x.admit()
	if len(x.slots) < x.req.Nodes {
		return
	}
	if x.rough {
		x.lengths = append(x.lengths[:0], 0) // each its own
	}

	// Steps counts all steps (T, L), at which a search without bounds would look.
	for i := range x.onsets {
		shorter := 0 // lengths for which no slot starts here
		if !x.rough {
			shorter, _ = slices.BinarySearch(x.lengths, x.onsets[i].own)
		}
		x.work.Steps += len(x.lengths) - shorter
	}

	// The root holds all steps, with all slots as candidates.
	for i := range x.slots {
		x.arena = append(x.arena, int32(i))
	}
	root := box{
		toStart: int32(len(x.onsets)), toLen: int32(len(x.lengths)), hi: int32(len(x.arena)),
		first: x.onsets[0].at, last: x.onsets[len(x.onsets)-1].at,
	}
	if x.anyStart {
		for i := range x.slots {
			root.last = max(root.last, min(x.slots[i].last, x.until))
		}
	}

	// Best first. The bound of a box is tested again when it is taken, because the incumbent
	// may have become better since the box was put into the heap.
	if x.examine(&root) {
		x.push(root)
	}
	for len(x.open) > 0 {
		b := x.pop()
		if b.bound <= x.floor(&b) {
			continue
		}
		if x.work.Branches++; x.work.Branches%256 == 0 && ctx.Err() != nil {
			return
		}
		x.descend(b)
	}
}

// descend halves b again and again, following the better half to a step, which
// it solves; the other halves wait in the heap.
func (x *boxSearch) descend(b box) {
	for !x.isStep(&b) {
		if x.anyStart && b.toLen-b.fromLen == 1 && x.fewPeaks(&b) {
			return
		}
		one, two := x.halve(&b)
		keepOne, keepTwo := x.examine(&one), x.examine(&two)
		switch {
		case !keepOne && !keepTwo:
			return
		case !keepOne:
			b = two
		case !keepTwo:
			b = one
		case two.bound > one.bound:
			x.push(one)
			b = two
		default:
			x.push(two)
			b = one
		}
		// Until there is a window each descent goes down to a step, for every window helps to
		// skip boxes. After that it is best first alone.
		if x.found && len(x.open) > 0 && b.bound < x.open[0].bound {
			x.push(b)
			return
		}
	}
	x.solve(&b)
}

// isStep reports whether the box is one start and one length.
func (x *boxSearch) isStep(b *box) bool {
	return b.toLen-b.fromLen == 1 && b.first == b.last
}

// fewPeaks opens, for AnyStart, the steps of a box of one length if they are
// few. As a subset's worth is concave in the start (DEP, COORD), it is greatest
// where the value of one of its slots bends or where the subset begins or
// ceases to fit, so no other start need be looked at.
func (x *boxSearch) fewPeaks(b *box) bool {
	const few = 16
	x.peaks = x.peaks[:0]
	length := x.lengths[b.fromLen]
	add := func(t des.Time) {
		if b.first <= t && t <= b.last {
			if k, known := slices.BinarySearch(x.peaks, t); !known {
				x.peaks = slices.Insert(x.peaks, k, t)
			}
		}
	}
	add(x.until)
	for _, id := range x.arena[b.lo:b.hi] {
		u := &x.slots[id]
		least := max(u.own, length)
		right := u.end - least // the start at which nothing is free behind the task
		add(u.start)           // it begins to fit
		add(u.last - least)    // the last start at which it fits
		// As much is free before as behind: where DEP and COORD bend. Times are whole ticks, so
		// the middle may lie between two.
		add((u.start + right) / 2)
		add((u.start + right + 1) / 2)
		// DEP is flat at its cap, from where it reaches it to where it leaves it.
		if x.cap < float64(right-u.start) {
			add(u.start + des.Time(x.cap))
			add(right - des.Time(x.cap))
		}
		if len(x.peaks) > few {
			return false
		}
	}
	for _, t := range x.peaks {
		at := *b
		at.first, at.last = t, t
		if x.examine(&at) {
			x.push(at)
		}
	}
	return true
}

// halve splits a box that is no step by its lengths or by its starts. The halves keep λ, the
// lines and the candidates of the whole, which examine then filters for each.
func (x *boxSearch) halve(b *box) (one, two box) {
	one, two = *b, *b
	lens := b.toLen - b.fromLen
	span := b.last - b.first                              // what starts differ by
	spread := x.lengths[b.toLen-1] - x.lengths[b.fromLen] // what lengths differ by
	// Values that do not depend on the start gain nothing by fewer starts.
	if lens > 1 && (x.static() || span == 0 || spread*lengthWeight >= span) {
		mid := b.fromLen + lens/2
		one.toLen, two.fromLen = mid, mid
		return one, two
	}
	if x.anyStart {
		mid := b.first + span/2
		one.last, two.first = mid, mid+1
		return one, two
	}
	mid := b.fromStart + (b.toStart-b.fromStart)/2
	one.toStart, two.fromStart = mid, mid
	one.last, two.first = x.onsets[mid-1].at, x.onsets[mid].at
	return one, two
}

// lengthWeight is the factor by which lengths are halved sooner than starts.
const lengthWeight = 4

// How often λ is improved at most for a box that passes, and for a step.
const (
	boxTries   = 1
	stepTries  = 12
	tightTries = 100 // for a step of which too many choices are open; some ten are enough
)

// floor is the worth that a window in b must pass to replace the best: equal
// worth will do where the box has earlier starts.
func (x *boxSearch) floor(b *box) float64 {
	if x.found && b.first < x.bestAt && x.subset.spent() <= patience {
		return x.bestZ - x.slack
	}
	return x.bestZ + max(x.slack, x.subset.gap())
}

// examine bounds b and filters its candidates. It reports whether b can hold a
// better window; then b's bound, lambda and candidates are set.
func (x *boxSearch) examine(b *box) bool {
	if x.isStep(b) && !x.anyStart && !x.rough && x.onsets[b.fromStart].own > x.lengths[b.fromLen] {
		return false // only slots of slower nodes start here: no step of this pass
	}
	x.gather(b)
	// The scale of worths. The root has the greatest values of all, so its are enough, but for
	// a criterion without a bound, of which only steps tell any value.
	if x.scale == tiny || x.kind == byValue {
		most := 0.0
		for _, z := range x.z {
			if size := math.Abs(z); size > most {
				most = size
			}
		}
		x.scale = max(x.scale, float64(x.req.Nodes)*most)
	}
	if len(x.ids) < x.req.Nodes {
		return false
	}
	if x.kind == byValue && !x.isStep(b) { // nothing bounds it
		b.bound = math.Inf(1)
		x.store(b, math.Inf(-1))
		return true
	}
	floor := x.floor(b)
	tries := boxTries
	if x.isStep(b) {
		tries = stepTries
	}
	if !x.minimise(b, floor, tries) {
		return false
	}
	x.store(b, floor)
	return int(b.hi-b.lo) >= x.req.Nodes
}

// store keeps in the arena those candidates that may be in a window worth more
// than floor: the bound with one of them forced in place of the least selected
// is what the bound loses by it.
func (x *boxSearch) store(b *box, floor float64) {
	b.lo = int32(len(x.arena))
	if math.IsInf(floor, -1) {
		x.arena = append(x.arena, x.ids...)
		b.hi = int32(len(x.arena))
		return
	}
	// With candidate i in place of the least selected the bound is sumR − low + r_i + λ limit. It
	// passes floor where r_i passes need.
	need := floor - (x.sumR + float64(b.lambda*x.tariff.limit)) + x.low
	// The selected come first, the greatest first, so that the halves take the same of equals.
	x.selectFrom(x.r)
	in := slices.Grow(x.in[:0], len(x.ids))[:len(x.ids)]
	clear(in)
	for _, s := range x.inOrder() {
		in[s.at] = true
		if s.key > need {
			x.arena = append(x.arena, x.ids[s.at])
		}
	}
	for i, id := range x.ids {
		if x.r[i] > need && !in[i] {
			x.arena = append(x.arena, id)
		}
	}
	x.in = in
	b.hi = int32(len(x.arena))
}

// gather lists b's candidates with the greatest value and the least cost that
// each can have in b.
func (x *boxSearch) gather(b *box) {
	from := x.arena[b.lo:b.hi]
	m := len(from)
	ids, zs := slices.Grow(x.ids[:0], m)[:m], slices.Grow(x.z[:0], m)[:m]
	cs, kept := slices.Grow(x.c[:0], m)[:m], slices.Grow(x.marks[:0], m)[:m]
	slots, tariff, rough := x.slots, x.tariff, x.rough
	short, long := x.lengths[b.fromLen], x.lengths[b.toLen-1]
	exact := short == long && b.first == b.last
	onlyNew := x.static() && b.fromStart > 0
	all := uint8(allMarks) // the marks that all candidates have
	k := 0
	for _, id := range from {
		// It must fit at some start and some length of the box, within the budget alone.
		u := &slots[id]
		if u.start > b.last || (u.own > long && !rough) {
			continue
		}
		least := max(u.own, short) // the shortest that it can be held
		first, last := max(u.start, b.first), min(u.last-least, b.last)
		if first > last {
			continue
		}
		cost := tariff.cost(u.price, least)
		if cost > tariff.limit {
			continue
		}
		z := x.most(u, first, last, least, max(u.own, long), exact)
		// What no other box has: a task as long as this one's lengths, and for
		// values that do not change with the start, a slot that begins in it.
		marks := uint8(allMarks)
		if u.own < short && !rough {
			marks &^= markLength
		}
		if onlyNew && u.start < b.first {
			marks &^= markStart
		}
		all &= marks
		ids[k], zs[k], cs[k], kept[k] = id, z, cost, marks
		k++
	}
	x.ids, x.z, x.c, x.marks, x.partial = ids[:k], zs[:k], cs[:k], kept[:k], all != allMarks
}

// line is one value of the Lagrangian bound as a function of λ: z + λ(limit−c).
type line struct {
	z, c  float64 // what the selection is worth and costs: Σ z_i and Σ c_i of its n
	known bool    // there is such a line
	own   bool    // of this box, and not a guess from the one above
}

// minimise lowers the bound of b by choosing λ, until it does not pass floor
// (then it returns false) or at most so many times. The bound is convex and
// piecewise linear in λ: each λ tried gives a line below it, and the next λ is
// where the lines either side of the minimum meet. At the end r, sumR and low are
// those of b's λ.
func (x *boxSearch) minimise(b *box, floor float64, tries int) bool {
	// Lines of the box above are kept as guesses. They are no lines of this box's bound, but
	// mostly lead to the minimum in one or two steps.
	limit := x.tariff.limit
	b.dear.own, b.cheap.own = false, false
	b.bound = math.Inf(1)
	lambda, sumR, low := b.lambda, 0.0, 0.0 // sumR and low are of the selection by b.lambda
search:
	for try := 0; ; try++ {
		// The bound at λ: Σ of the n greatest z_i − λ c_i, plus λ S.
		x.choose(lambda)
		bound := x.sumR + float64(lambda*limit)
		if bound > floor && x.partial {
			bound -= x.penalty()
		}
		if try == 0 || bound < b.bound {
			b.bound, b.lambda, sumR, low = bound, lambda, x.sumR, x.low
		}
		if bound <= floor {
			return false
		}
		// Its line: left of the minimum the selection passes the budget (dear), right of it the
		// selection is within the budget (cheap), and then it is a window, too.
		within := x.sumC <= limit
		if within {
			x.primal(b)
			b.cheap = line{x.sumZ, x.sumC, true, true}
		} else {
			b.dear = line{x.sumZ, x.sumC, true, true}
		}
		if try >= tries || (within && lambda == 0) {
			break
		}
		// The next λ, where a line left of the minimum meets a line right of it.
		if !b.cheap.known {
			if !x.affordable(b) {
				return false
			}
		}
		if !b.dear.known {
			lambda = 0
			continue
		}
		next := (b.dear.z - b.cheap.z) / (b.dear.c - b.cheap.c)
		if x.found && !x.isStep(b) && b.cheap.z+float64(next*(limit-b.cheap.c)) > (bound+floor)/2 {
			break // even the minimum is far from floor: halve the box instead
		}
		if forward := next > 0 && next < lambda == within && next != lambda; !forward {
			if b.dear.own && b.cheap.own {
				break // the minimum
			}
			// A line of the box above misled.
			switch {
			case within:
				next = lambda / 2
			case lambda > 0:
				next = 2 * lambda
			default:
				// Twice nothing is nothing. The bound stays as it is, which is sound, and with it the
				// order of the boxes, by which one of equal windows is the one that is found.
				break search
			}
		}
		lambda = next
	}
	if !b.cheap.own {
		if !x.affordable(b) {
			return false
		}
	}
	x.reduce(b.lambda)
	x.sumR, x.low = sumR, low
	return true
}

// affordable makes the n cheapest b's cheap line, and reports whether they are
// within the budget. It overwrites the selection.
func (x *boxSearch) affordable(b *box) bool {
	x.chooseCheapest()
	if x.sumC > x.tariff.limit {
		return false
	}
	x.primal(b)
	b.cheap = line{x.sumZ, x.sumC, true, true}
	return true
}

// penalty returns the amount by which the bound falls because the window must have the marks that
// no selected candidate has: the best candidate with the mark takes the place of the least selected
// candidate. It is +Inf if no candidate has the mark: the box then has no window.
func (x *boxSearch) penalty() float64 {
	long, fresh := math.Inf(-1), math.Inf(-1) // the greatest r with either mark
	for i, r := range x.r {
		if r > long && x.marks[i]&markLength != 0 {
			long = r
		}
		if r > fresh && x.marks[i]&markStart != 0 {
			fresh = r
		}
	}
	return max(0, x.low-long, x.low-fresh)
}

// primal takes the selection as a window where it is one.
func (x *boxSearch) primal(b *box) {
	if !x.isStep(b) || x.sumZ <= x.floor(b) {
		return
	}
	met := uint8(0)
	for _, at := range x.sel {
		met |= x.marks[at]
	}
	if met != allMarks {
		return // a window of another step
	}
	x.bestIDs = x.bestIDs[:0]
	for _, at := range x.sel {
		x.bestIDs = append(x.bestIDs, x.ids[at])
	}
	x.improved(b, x.sumZ)
}

// improved takes bestIDs as a window of the step b that is worth z.
func (x *boxSearch) improved(b *box, z float64) {
	x.found, x.bestZ, x.bestAt = true, z, b.first
	x.bestLen = x.lengths[b.fromLen]
	x.slack = plan.Rounding * max(math.Abs(z), x.scale)
}

// solve finds the best subset of the step b. A multiplier far from the best one leaves next
// to all choices open. So where there are many, the best multiplier is found first.
func (x *boxSearch) solve(b *box) {
	x.gather(b)
	if len(x.ids) < x.req.Nodes || b.bound <= x.floor(b) {
		return
	}
	x.work.Subsets++
	if !x.enumerate(b, x.subset.spent()+manyChoices) && x.tighten(b) {
		x.enumerate(b, 0)
	}
}

// manyChoices is the number of choices that a step makes with its present multiplier before it
// looks for a better one. The papers' problems make some hundreds at most.
const manyChoices = 1 << 12

// tighten sets λ of the step b to where its bound is least. What the boxes above said of it is
// forgotten. It reports whether b can still hold a better window.
func (x *boxSearch) tighten(b *box) bool {
	b.lambda, b.dear, b.cheap = 0, line{}, line{}
	return x.minimise(b, x.floor(b), tightTries)
}

// enumerate finds the best subset of the candidates of the step b, if the search has not spent
// more than most before (0 = whatever it takes). It reports whether it has come to the end.
func (x *boxSearch) enumerate(b *box, most int) (done bool) {
	p := &x.subset
	p.n, p.limit = x.req.Nodes, x.tariff.limit
	p.items = p.items[:0]
	for i, id := range x.ids {
		p.items = append(p.items, item{z: x.z[i], c: x.c[i], id: id, marks: x.marks[i]})
	}
	p.scale, p.most = x.scale, most
	before := p.visits // they are counted over all steps of a search
	p.solve(b.lambda, x.floor(b))
	x.work.Branches += p.visits - before
	if p.found {
		x.bestIDs = append(x.bestIDs[:0], p.choose...)
		x.improved(b, p.worth)
	}
	return !p.over()
}

// The heap of open boxes, by bound.

// push opens a box.
func (x *boxSearch) push(b box) {
	x.open = append(x.open, b)
	i := len(x.open) - 1
	for i > 0 {
		up := (i - 1) / 2
		if x.open[up].bound >= x.open[i].bound {
			break
		}
		x.open[up], x.open[i] = x.open[i], x.open[up]
		i = up
	}
}

// pop takes the open box of the greatest bound.
func (x *boxSearch) pop() box {
	top := x.open[0]
	end := len(x.open) - 1
	x.open[0] = x.open[end]
	x.open = x.open[:end]
	for i := 0; ; {
		down := 2*i + 1
		if down >= end {
			break
		}
		if down+1 < end && x.open[down+1].bound > x.open[down].bound {
			down++
		}
		if x.open[i].bound >= x.open[down].bound {
			break
		}
		x.open[i], x.open[down] = x.open[down], x.open[i]
		i = down
	}
	return top
}
