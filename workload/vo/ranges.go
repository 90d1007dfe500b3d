// Ranges of numbers to draw from.

package vo

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Range is the numbers from Min to Max. The zero value stands for the paper's
// range wherever a setting has one.
type Range struct{ Min, Max float64 }

// ReadNumbers takes the bounds from a list of them; an empty list is the zero value.
func (g *Range) ReadNumbers(bounds []float64) error {
	switch len(bounds) {
	case 0:
		*g = Range{}
	case 2:
		*g = Range{bounds[0], bounds[1]}
	default:
		return fmt.Errorf("want [MIN, MAX], not %d numbers", len(bounds))
	}
	return nil
}

func (g Range) String() string { return fmt.Sprintf("[%v, %v]", g.Min, g.Max) }

// or is the range, or the papers' in place of the zero value.
func (g Range) or(papers Range) Range {
	if g == (Range{}) {
		return papers
	}
	return g
}

// check reports a range that is empty, not finite or begins below least.
func (g Range) check(what string, least float64) error {
	if !(g.Min >= least) || !(g.Max >= g.Min) || math.IsInf(g.Max, 0) {
		return fmt.Errorf("%s: want a range from %g or more upwards, not %v", what, least, g)
	}
	return nil
}

// real draws a uniform real number.
func (g Range) real(r *rand.Rand) float64 { return g.Min + float64((g.Max-g.Min)*r.Float64()) }

// whole draws a uniform whole number, both ends included.
func (g Range) whole(r *rand.Rand) int {
	lo, hi := int(math.Ceil(g.Min)), int(math.Floor(g.Max))
	return lo + r.IntN(max(hi-lo, 0)+1)
}
