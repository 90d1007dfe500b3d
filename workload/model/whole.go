// Whole numbers of a distribution of real ones: a job has whole processors and, in a
// trace, whole seconds.

package model

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// round is to the nearest whole number, halves up.
func round(x float64) float64 { return math.Floor(x + 0.5) }

// below is P(X < x), for any of the distributions: a finite one has its values, every
// other a distribution function without steps.
func below(d Distribution, x float64) float64 {
	switch d := d.(type) {
	case discrete:
		var p float64
		for v, share := range d.Values() {
			if v < x {
				p += share
			}
		}
		return p
	case interface{ CDF(float64) float64 }:
		return d.CDF(x)
	}
	return math.NaN()
}

// sizes are whole numbers of 1 to most: what a distribution draws is rounded, and drawn
// anew where it is outside.
type sizes struct {
	of   Distribution
	most int // the size of the machine, 1 or more
}

// check returns an error if less than one in a thousand numbers is within: rand would hardly end.
func (s sizes) check() error {
	if kept := below(s.of, float64(s.most)+0.5) - below(s.of, 0.5); !(kept >= 1e-3) {
		return fmt.Errorf("sizes: less than a thousandth of what is drawn would be from 1 to %d processors", s.most)
	}
	return nil
}

// rand draws a size.
func (s sizes) rand(r *rand.Rand) int {
	for {
		if x := round(s.of.Rand(r)); x >= 1 && x <= float64(s.most) {
			return int(x)
		}
	}
}

// mean is the mean of what rand draws, E[n; 1 <= n <= most] / P(1 <= n <= most). It looks at every
// value of a discrete distribution, or at every size: n has the probability between n-0.5 and n+0.5.
func (s sizes) mean() float64 {
	var sum, kept float64
	if d, ok := s.of.(discrete); ok {
		for v, p := range d.Values() {
			if x := round(v); x >= 1 && x <= float64(s.most) {
				sum += float64(x * p)
				kept += p
			}
		}
		return sum / kept
	}
	before := below(s.of, 0.5)
	for n := 1; n <= s.most; n++ {
		p := below(s.of, float64(n)+0.5)
		sum += float64(float64(n) * (p - before))
		kept += p - before
		before = p
	}
	return sum / kept
}

// atLeastOne returns a draw, rounded to a whole number of at least 1.
func atLeastOne(d Distribution, r *rand.Rand) float64 { return max(round(d.Rand(r)), 1) }

// meanAtLeastOne is the mean of what atLeastOne draws, E[max(1, round X)]; runtimes are
// among it, of which newJob makes a second at least.
//
// It is 1 + P(X >= 1.5) + P(X >= 2.5) + ..., where E[X] is the integral of P(X >= x).
// From one whole number to the next the two differ by what a chord differs from a curve,
// which is nothing where the curve is smooth: only the beginning counts.
func meanAtLeastOne(d Distribution) float64 {
	if d, ok := d.(discrete); ok {
		var mean float64
		for v, p := range d.Values() {
			mean += float64(max(round(v), 1) * p)
		}
		return mean
	}
	// E[X] has the integral of P(X >= x) over all x. Up to the beginning's end it is taken away (by the
	// midpoint rule) and the sum is put in its place.
	const beginning, steps = 256, 64
	mean := d.Mean() + 1
	for i := range beginning * steps {
		mean -= (1 - below(d, (float64(i)+0.5)/steps)) / steps
	}
	for k := 1; k < beginning; k++ {
		mean += 1 - below(d, float64(k)+0.5)
	}
	return mean
}
