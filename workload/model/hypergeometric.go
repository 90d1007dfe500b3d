// The hypergeometric distribution: levels of local load in the papers'
// environments.

package model

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
)

// Hypergeometric is the number of marked members among Draws drawn without
// replacement from a Population of which Marked are marked.
type Hypergeometric struct {
	Population, Marked, Draws int // Marked and Draws are from 0 to Population
}

// Check reports what makes h meaningless, or nil.
func (h Hypergeometric) Check() error {
	switch {
	case h.Population < 0:
		return fmt.Errorf("hypergeometric: the population must not be negative, %d", h.Population)
	case h.Marked < 0 || h.Marked > h.Population:
		return fmt.Errorf("hypergeometric: %d marked of a population of %d", h.Marked, h.Population)
	case h.Draws < 0 || h.Draws > h.Population:
		return fmt.Errorf("hypergeometric: %d draws from a population of %d", h.Draws, h.Population)
	}
	return nil
}

// support is the least and the greatest possible value.
func (h Hypergeometric) support() (lo, hi int) {
	return max(0, h.Draws+h.Marked-h.Population), min(h.Draws, h.Marked)
}

// Mean is the expectation.
func (h Hypergeometric) Mean() float64 {
	if h.Population == 0 {
		return 0
	}
	return float64(h.Draws) * float64(h.Marked) / float64(h.Population)
}

// Prob is P(X = k), to the digits that differences of log-factorials keep:
// 12 for populations of thousands, 8 for millions.
func (h Hypergeometric) Prob(k int) float64 {
	if lo, hi := h.support(); k < lo || k > hi {
		return 0
	}
	return math.Exp(logChoose(h.Marked, k) + logChoose(h.Population-h.Marked, h.Draws-k) - logChoose(h.Population, h.Draws))
}

// Values yields the possible values.
func (h Hypergeometric) Values() iter.Seq2[float64, float64] {
	return func(yield func(float64, float64) bool) {
		low, high := h.support()
		for k := low; k <= high; k++ {
			if !yield(float64(k), h.Prob(k)) {
				return
			}
		}
	}
}

// Rand draws a value by inversion, with one uniform. The probabilities are
// taken off the uniform from the mode outward, the greatest first, so the
// expected number of steps is of the order of the standard deviation.
func (h Hypergeometric) Rand(r *rand.Rand) float64 {
	lo, hi := h.support()
	mode := int((float64(h.Draws) + 1) * (float64(h.Marked) + 1) / (float64(h.Population) + 2))
	mode = min(max(mode, lo), hi)
	left, right := mode, mode
	u := r.Float64()
	pLeft := h.Prob(mode)
	pRight := pLeft
	u -= pLeft
	for u >= 0 && (left > lo || right < hi) {
		// P(left-1) and P(right+1), from their neighbours.
		var down, up float64
		if left > lo {
			down = pLeft / h.ratio(left-1)
		}
		if right < hi {
			up = pRight * h.ratio(right)
		}
		if right == hi || (left > lo && down >= up) {
			left, pLeft = left-1, down
			if u -= down; u < 0 {
				return float64(left)
			}
		} else {
			right, pRight = right+1, up
			if u -= up; u < 0 {
				return float64(right)
			}
		}
	}
	return float64(mode) // also what rounding leaves of u: 1e-9 at populations of millions
}

// ratio is P(k+1)/P(k).
func (h Hypergeometric) ratio(k int) float64 {
	return float64(h.Marked-k) * float64(h.Draws-k) /
		(float64(k+1) * float64(h.Population-h.Marked-h.Draws+k+1))
}

// logChoose is the logarithm of the binomial coefficient n over k.
func logChoose(n, k int) float64 {
	lgamma := func(x int) float64 {
		v, _ := math.Lgamma(float64(x) + 1)
		return v
	}
	return lgamma(n) - lgamma(k) - lgamma(n-k)
}
