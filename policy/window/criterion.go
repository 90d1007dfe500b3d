// What a window is worth: criteria that add up over its slots.

package window

import (
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Criterion says what a slot adds to the worth of a window that occupies
// [start, end) of it. A window is worth the sum over its slots, which may be
// negative; searches maximise it. Q, DEP and COORD are the criteria of DEP18.
type Criterion interface {
	// Value returns what s adds to the worth of a window over [start, end), which lies in s.
	Value(s *entity.Slot, start, end des.Time) float64
}

// Bounded is a Criterion that can also bound itself, which lets Best skip whole
// ranges of starts and lengths at once.
type Bounded interface {
	Criterion
	// Bound is at least Value of s for every start in [from, to] and every
	// length in [short, long] for which the window lies in the slot.
	Bound(s *entity.Slot, from, to, short, long des.Time) float64
}

// Q is the criterion of MaxQ: each node has a value q of its own.
type Q struct{}

// Name returns "q".
func (Q) Name() string { return "q" }

// Value returns the node's q.
func (Q) Value(s *entity.Slot, _, _ des.Time) float64 { return s.Node.Q }

// DEP is the criterion of dependable windows. They lie far from their neighbours,
// so that it does no harm if the task before is delayed or if the window itself
// overruns. A slot counts with the lesser of its free times before and after the
// window.
type DEP struct {
	// MaxDistance caps what one slot counts; 0 = Settings.MaxDistance.
	MaxDistance des.Time
}

// Name returns "dep".
func (DEP) Name() string { return "dep" }

// Value is min(L_left, L_right, MaxDistance) in time units.
func (d DEP) Value(s *entity.Slot, start, end des.Time) float64 {
	v := min(start-s.Start, s.End-end)
	if d.MaxDistance > 0 {
		v = min(v, d.MaxDistance)
	}
	return v.Seconds()
}

// within gives d the cap of the settings if it has none of its own.
func (d DEP) within(s Settings, _ des.Time) Criterion {
	if d.MaxDistance == 0 {
		d.MaxDistance = s.MaxDistance
	}
	return d
}

// COORD is the criterion of coordinated windows. They lie close to a neighbour,
// so that free time is not cut into small pieces. A slot counts with the greater
// of its free times before and after the window. A window shows the sum as a
// positive number; less is better.
type COORD struct{}

// Name returns "coord".
func (COORD) Name() string { return "coord" }

// Value is -max(L_left, L_right) in time units.
func (COORD) Value(s *entity.Slot, start, end des.Time) float64 {
	return -max(start-s.Start, s.End-end).Seconds()
}

// shown is a criterion whose windows show another value than the sum over their slots.
type shown interface{ shown(sum float64) float64 }

// reported is the value that a window shows if the values of its slots have this
// sum: the sum itself or, for a criterion that is minimised, minus the sum.
func reported(by Criterion, sum float64) float64 {
	if s, ok := by.(shown); ok {
		return s.shown(sum)
	}
	if kindOf(by).minimised() {
		return 0 - sum // not -0 for a perfect fit
	}
	return sum
}

// situated is a criterion that depends on the search: on its settings, and on the instant at
// which its slot list begins.
type situated interface {
	within(s Settings, from des.Time) Criterion
}

// withDefaults gives a criterion what it needs to know of the search.
func withDefaults(by Criterion, s Settings, from des.Time) Criterion {
	if c, ok := by.(situated); ok {
		return c.within(s, from)
	}
	return by
}

// choosy is a criterion that makes no sense of some nodes. The error is of the first of them.
type choosy interface {
	check(list []entity.Slot) error
}

// criterion is the criterion with what it needs to know of the search. The error is of nodes
// that the criterion makes no sense of.
func (s *search) criterion(by Criterion, list plan.SlotList) (Criterion, error) {
	if c, ok := by.(choosy); ok {
		if err := c.check(s.list); err != nil {
			return nil, err
		}
	}
	return withDefaults(by, s.set, list.From), nil
}

// criterionName is the name of a criterion in those of searches: what its method Name
// says, if it has one.
func criterionName(by Criterion) string {
	if named, ok := by.(interface{ Name() string }); ok {
		return named.Name()
	}
	if by == nil {
		return "none"
	}
	return "custom"
}

// mostName is DEP18's name of the search for the most by a criterion.
func mostName(by Criterion) string {
	if _, ok := by.(Q); ok {
		return "maxq"
	}
	return criterionName(by)
}

// taskTimes is the criterion of AEP's MinProcTimeExact: it values short tasks.
type taskTimes struct{}

func (taskTimes) Value(_ *entity.Slot, start, end des.Time) float64 { return -(end - start).Seconds() }

// valuation is a criterion as Best asks it: for the greatest value that a slot
// can have over a range of starts and lengths. DEP, COORD and taskTimes count
// in ticks here.
type valuation struct {
	by Criterion
	kind
	cap  float64       // of DEP, in ticks; +Inf = none
	list []entity.Slot // the slot list
}

// kind tells the built-in criteria apart. Their bounds are written out in most,
// because a call for each candidate would take most of the search's time.
type kind uint8

const (
	byQ         kind = iota
	byDEP            // min(L_left, L_right), capped
	byCOORD          // -max(L_left, L_right)
	byTaskTimes      // minus the task's own time
	byBounded        // another that bounds itself
	byValue          // another, of which nothing is known but its values
)

// kindOf is the kind of a criterion.
func kindOf(by Criterion) kind {
	switch by.(type) {
	case Q:
		return byQ
	case DEP:
		return byDEP
	case COORD:
		return byCOORD
	case taskTimes:
		return byTaskTimes
	case Bounded:
		return byBounded
	}
	return byValue
}

// static reports whether values do not depend on the start.
func (k kind) static() bool { return k == byQ || k == byTaskTimes }

// inTicks reports whether a valuation counts in ticks.
func (k kind) inTicks() bool { return k == byDEP || k == byCOORD || k == byTaskTimes }

// minimised reports whether windows show the criterion with its sign changed.
func (k kind) minimised() bool { return k == byCOORD || k == byTaskTimes }

// finite reports whether the criterion is known to give every slot a number.
func (k kind) finite() bool { return k < byBounded }

// valuationOf is the valuation of the slots of a list by a criterion.
func valuationOf(by Criterion, list []entity.Slot) valuation {
	v := valuation{by: by, kind: kindOf(by), list: list, cap: math.Inf(1)}
	if d, ok := by.(DEP); ok && d.MaxDistance > 0 {
		v.cap = float64(d.MaxDistance)
	}
	return v
}

// most is the greatest value that slot u can have if the window starts in
// [from, to] and occupies the slot for a length in [short, long]; exact says
// that there is one start and one length only.
func (v *valuation) most(u *usableSlot, from, to, short, long des.Time, exact bool) float64 {
	// With the window [t, t+L), L_left is t − start and L_right is end − L − t: so a short window
	// leaves more behind it, which DEP prefers, and a long one less, which COORD does.
	switch v.kind {
	case byQ:
		return u.q
	case byDEP:
		return min(peakOfLesser(u.start, u.end-short, from, to), v.cap)
	case byCOORD:
		return -lowOfGreater(u.start, u.end-long, from, to)
	case byTaskTimes:
		return -float64(u.own)
	}
	slot := &v.list[u.slot]
	if exact {
		return v.by.Value(slot, from, from+short)
	}
	if b, ok := v.by.(Bounded); ok {
		return b.Bound(slot, from, to, short, long)
	}
	return 0 // A criterion without a bound: Best looks at single steps only.
}

// peakOfLesser is the greatest min(t-start, right-t) for t in [from, to]: the first term rises
// with t, the other falls, and they meet in the middle of start and right.
func peakOfLesser(start, right, from, to des.Time) float64 {
	switch twice := start + right; {
	case twice < 2*from:
		return float64(right - from)
	case twice > 2*to:
		return float64(to - start)
	}
	return float64(right-start) / 2
}

// lowOfGreater is the least max(t-start, right-t) for t in [from, to], likewise.
func lowOfGreater(start, right, from, to des.Time) float64 {
	switch twice := start + right; {
	case twice < 2*from:
		return float64(from - start)
	case twice > 2*to:
		return float64(right - to)
	}
	return float64(right-start) / 2
}
