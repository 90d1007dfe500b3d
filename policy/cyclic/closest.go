// The idleness problem, where what is maximised is what is limited: a subset
// sum, in which no bound tells combinations apart and no pair dominates another.
// It is solved in the middle: the sums that some jobs reach and the sums that
// others reach are walked against each other, once for every combination of the
// jobs left over. Either the combinations are few, and all are seen, or they are
// many, and one that fills the limit to the tick is met soon.

package cyclic

import (
	"context"
	"math"
	"slices"
)

// halfSize is the largest number of sums of one half. Two halves make 2^26 combinations a walk;
// some hundred times as many make it likely that one of them fills the limit to the tick. Larger
// halves cost more to make than walks.
const halfSize = 1 << 13

// closest finds the combination whose g, whole numbers of ticks, comes closest
// to the limit from below.
func (k *knapsack) closest(ctx context.Context) error {
	n := len(k.classes)
	classes, step, most := k.aboveLeast()
	room := math.Floor(over(k.limit)) - k.least
	if room < 0 {
		return nil
	}
	if room = min(room, most); step > 0 {
		room = math.Floor(room/step) * step // no combination comes closer
	}

	// Meet in the middle (Horowitz and Sahni 1974): all sums of two groups of classes, sorted.
	// The classes beyond both groups are walked through, one combination at a time (odometer).
	left := newHalf(classes, 0, n, room)
	right := newHalf(classes, left.to, n, room)
	k.states = left.size() + right.size()
	best := math.Inf(-1)
	outers := classes[right.to:]
	odometer := make([]int, len(outers))
	beginNear(outers, room/max(most, 1))

	// For each outer combination the best pair of the two groups fills what is left of the room.
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		outer := 0.0
		for i, s := range odometer {
			outer += outers[i][s].g
		}
		if sum, l, r := meet(left.top(), right.top(), room-outer); l >= 0 && outer+sum > best {
			best = outer + sum
			k.picks = make([]int, n)
			trace(left.fronts, l, func(i, pick int) { k.picks[i] = pick })
			trace(right.fronts, r, func(i, pick int) { k.picks[right.from+i] = pick })
			for i, s := range odometer {
				k.picks[right.to+i] = int(outers[i][s].pick)
			}
			if best >= room {
				return nil
			}
		}
		if k.states += len(left.top()) + len(right.top()); k.states > k.patience {
			k.gap = room - best
			return nil
		}
		if !turn(odometer, outers) {
			return nil
		}
	}
}

// aboveLeast counts from the least combination, whose Σ g becomes k.least: it returns what each alternative takes
// above that, so that each class begins with 0. All sums are multiples of their greatest common divisor, step,
// which bounds how close to the limit a sum can come. most is the greatest sum.
func (k *knapsack) aboveLeast() (classes [][]state, step, most float64) {
	k.least = 0
	for _, items := range k.classes {
		sorted := undominated(items)
		low := sorted[0].g
		k.least += low
		for s := range sorted {
			sorted[s].g -= low
			sorted[s].f = sorted[s].g
			step = gcd(step, sorted[s].g)
		}
		classes = append(classes, sorted)
		most += sorted[len(sorted)-1].g
	}
	return classes, step, most
}

// beginNear makes the walk begin near the limit: each outer class starts with the item that comes closest to a
// share of the class's greatest item, and what it falls short of that goes to the next class.
func beginNear(outers [][]state, share float64) {
	short := 0.0
	for _, items := range outers {
		want := short + float64(share*items[len(items)-1].g)
		turnTo(items, want)
		short = want - items[0].g
	}
}

// turnTo rotates a class so that it begins with the item that comes closest to
// g: the first walk is near the limit then.
func turnTo(items []state, g float64) {
	at := 0
	for i := range items {
		if math.Abs(items[i].g-g) < math.Abs(items[at].g-g) {
			at = i
		}
	}
	// Three reversals rotate in place.
	slices.Reverse(items[:at])
	slices.Reverse(items[at:])
	slices.Reverse(items)
}

// turn moves the odometer on; false at its end.
func turn(odometer []int, classes [][]state) bool {
	for i := range odometer {
		if odometer[i]++; odometer[i] < len(classes[i]) {
			return true
		}
		odometer[i] = 0
	}
	return false
}

// half is the sums that the classes [from, to) can reach, each with its way.
type half struct {
	from, to int
	fronts   [][]state // the sums of the first classes, one class more each; the last is top
}

// newHalf adds classes, one at least, while the sums are at most halfSize.
func newHalf(classes [][]state, from, until int, room float64) half {
	h := half{from: from, to: from, fronts: [][]state{{{}}}}
	var merge merger
	for h.to < until {
		top := h.top()
		if len(top)*len(classes[h.to]) > halfSize && h.to > from {
			break
		}
		h.fronts = append(h.fronts, slices.Clone(merge.extend(top, classes[h.to], room)))
		h.to++
	}
	return h
}

// top is the sums of all classes of the half, ascending.
func (h *half) top() []state { return h.fronts[len(h.fronts)-1] }

// size returns the number of sums that are kept.
func (h *half) size() int {
	n := 0
	for _, f := range h.fronts[1:] {
		n += len(f)
	}
	return n
}

// meet is the greatest sum of one of each that is not above room; l < 0 where
// there is none.
func meet(left, right []state, room float64) (best float64, l, r int) {
	// As left sums rise, the greatest right sum that fits beside them falls.
	best, l = math.Inf(-1), -1
	j := len(right) - 1
	for i := range left {
		for j >= 0 && left[i].g+right[j].g > room {
			j--
		}
		if j < 0 {
			break
		}
		if sum := left[i].g + right[j].g; sum > best {
			if best, l, r = sum, i, j; sum == room {
				break
			}
		}
	}
	return best, l, r
}

// gcd of whole numbers.
func gcd(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return a
}
