// What all searches share: how long a task takes, what it costs, and when a
// request makes no sense.

package window

import (
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Settings are common to all searches. The zero value is the exact model.
type Settings struct {
	// Quantum rounds task times up to a multiple of itself; 0 keeps V/p, rounded
	// up to a tick. The authors of the papers use one time unit.
	Quantum des.Time
	// RoundCosts rounds the cost of each task up to a multiple of itself before
	// the sum is compared with the budget; 0 compares real costs. The cost that
	// a window reports is never rounded.
	RoundCosts float64
	// MaxDistance caps the distance that DEP counts for one slot; 0 is no cap.
	// The authors of DEP18 use 500. COORD, which minimises, counts in full.
	MaxDistance des.Time
	// AnyStart lets DEP and COORD place a window between the starts of slots.
	AnyStart bool
}

func (s Settings) check() error {
	switch {
	case s.Quantum < 0:
		return plan.BadInput("the quantum must not be negative, and %v is", s.Quantum)
	case !(s.RoundCosts >= 0) || math.IsInf(s.RoundCosts, 0):
		return plan.BadInput("costs cannot be rounded to multiples of %v", s.RoundCosts)
	case s.MaxDistance < 0:
		return plan.BadInput("the maximal distance must not be negative, and %v is", s.MaxDistance)
	}
	return nil
}

// taskTime returns the time for which a task of the given length holds n: at least a tick, since a
// window of no length could hold the same node twice.
func (s Settings) taskTime(n *entity.Node, length des.Time) des.Time {
	if s.Quantum <= des.Tick {
		return max(n.TaskTime(length), des.Tick)
	}
	// In one step: rounding to ticks first could add a whole quantum.
	quanta := float64(length) / (n.Perf * float64(s.Quantum))
	return s.Quantum * max(des.Time(math.Ceil(quanta*(1-plan.Rounding))), 1)
}

// tariff turns prices and times into the numbers that are compared with the
// budget: price times ticks, or whole multiples of RoundCosts.
type tariff struct {
	step  float64 // RoundCosts in price times ticks; 0 = real costs
	limit float64 // the budget in the same measure
}

func (s Settings) tariff(budget float64) tariff {
	unit := float64(des.Second)
	if math.IsInf(budget, 1) {
		return tariff{step: s.RoundCosts * unit, limit: math.MaxFloat64} // finite, for 0 times it is 0
	}
	if s.RoundCosts > 0 {
		return tariff{
			step:  s.RoundCosts * unit,
			limit: math.Floor(budget / s.RoundCosts * (1 + plan.Rounding)),
		}
	}
	return tariff{limit: budget * unit * (1 + plan.Rounding)}
}

// cost returns the amount that one task adds to the sum that must not exceed the limit.
func (t tariff) cost(price float64, length des.Time) float64 {
	c := price * float64(length)
	if t.step > 0 {
		return math.Ceil(c / t.step * (1 - plan.Rounding))
	}
	return c
}

// realCost is price times time units.
func realCost(price float64, length des.Time) float64 {
	return float64(price * length.Seconds())
}
