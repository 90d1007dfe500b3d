// The Zipf distribution: sizes and repetitions in Feitelson's 1996 model.

package model

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
)

// zipf is the distribution on 1..N with P(k) proportional to k^-Order (the
// "harmonic distribution of order" Order). math/rand's Zipf needs an order
// above 1; this one needs it above 0.
type zipf struct {
	Order float64 // above 0
	N     int     // 1 or more
}

// Check reports what makes z meaningless, or nil.
func (z zipf) Check() error {
	if z.N < 1 {
		return fmt.Errorf("zipf: N must be at least 1, not %d", z.N)
	}
	return positive("zipf", "Order", z.Order)
}

// sum is the sum of k^-s over 1..N, the small terms first.
func (z zipf) sum(s float64) float64 {
	var sum float64
	for k := z.N; k >= 1; k-- {
		sum += math.Pow(float64(k), -s)
	}
	return sum
}

// Mean is the expectation. It costs O(N).
func (z zipf) Mean() float64 { return z.sum(z.Order-1) / z.sum(z.Order) }

// Values yields 1 to N.
func (z zipf) Values() iter.Seq2[float64, float64] {
	return func(yield func(float64, float64) bool) {
		sum := z.sum(z.Order)
		for k := 1; k <= z.N; k++ {
			if !yield(float64(k), math.Pow(float64(k), -z.Order)/sum) {
				return
			}
		}
	}
}

// Rand draws a value in constant expected time by rejection-inversion: Hörmann
// and Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", ACM TOMACS 6(3), 1996. A point drawn under the
// continuous hat x^-Order on [1/2, N+1/2] is rounded to the nearest k and
// accepted if it lies under k's bar.
func (z zipf) Rand(r *rand.Rand) float64 {
	if z.N < 1 || !(z.Order > 0) {
		return 0
	}
	top := z.hat(float64(z.N) + 0.5)
	bottom := z.hat(1.5) - 1 // k = 1 takes its whole bar, of area 1
	for {
		u := top + float64(r.Float64()*(bottom-top))
		k := min(max(math.Floor(z.hatInverse(u)+0.5), 1), float64(z.N))
		if u >= z.hat(k+0.5)-math.Pow(k, -z.Order) {
			return k
		}
	}
}

// hat is the integral of t^-Order from 1 to x.
func (z zipf) hat(x float64) float64 {
	log := math.Log(x)
	if e := (1 - z.Order) * log; math.Abs(e) > 1e-8 {
		return math.Expm1(e) / (1 - z.Order)
	}
	return log
}

// hatInverse is the x at which hat(x) is y.
func (z zipf) hatInverse(y float64) float64 {
	if e := (1 - z.Order) * y; math.Abs(e) > 1e-8 {
		return math.Exp(math.Log1p(max(e, -1)) / (1 - z.Order))
	}
	return math.Exp(y)
}
