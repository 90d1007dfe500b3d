// What a window is worth: criteria that add up over its slots.

package window

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Criterion says what a slot adds to the worth of a window that occupies
// [start, end) of it. A window is worth the sum over its slots, which may be
// negative; searches maximise it. Q, DEP and COORD are the criteria of DEP18.
type Criterion interface {
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

// Q is the criterion of MaxQ: the nodes' own values q.
type Q struct{}

// Value is the node's q.
func (Q) Value(s *entity.Slot, _, _ des.Time) float64 { return s.Node.Q }

// DEP is the criterion of dependable windows: far from the neighbours, so that
// neither a delay before nor an overrun of the window's own does harm. A slot
// counts with the lesser of its free times before and after the window.
type DEP struct {
	// MaxDistance caps what one slot counts; 0 = Settings.MaxDistance.
	MaxDistance des.Time
}

// Value is min(L_left, L_right, MaxDistance) in time units.
func (d DEP) Value(s *entity.Slot, start, end des.Time) float64 {
	v := min(start-s.Start, s.End-end)
	if d.MaxDistance > 0 {
		v = min(v, d.MaxDistance)
	}
	return v.Seconds()
}

// COORD is the criterion of coordinated windows: close to the neighbours, so
// that no gap is cut into pieces. A slot counts with the greater of its free
// times before and after the window, and windows report that sum as a positive
// number, the less the better.
type COORD struct{}

// Value is -max(L_left, L_right) in time units.
func (COORD) Value(s *entity.Slot, start, end des.Time) float64 {
	return -max(start-s.Start, s.End-end).Seconds()
}

// reported is the value that a window shows for the sum of by's values.
func reported(by Criterion, sum float64) float64 {
	if _, minimised := by.(COORD); minimised {
		return 0 - sum // not -0 for a perfect fit
	}
	return sum
}

// withDefaults gives DEP the cap of the settings where it has none of its own.
func withDefaults(by Criterion, s Settings) Criterion {
	if d, ok := by.(DEP); ok && d.MaxDistance == 0 {
		return DEP{MaxDistance: s.MaxDistance}
	}
	return by
}
