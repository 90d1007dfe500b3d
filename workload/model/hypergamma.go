// The hyper-gamma distribution: log runtimes of the Lublin-Feitelson model.

package model

import (
	"errors"
	"math/rand/v2"
)

// hyperGamma is a mixture of two gamma distributions: First with probability P,
// else Second.
type hyperGamma struct {
	P             float64
	First, Second gamma
}

// Check reports what makes h meaningless, or nil.
func (h hyperGamma) Check() error {
	return errors.Join(probability("hyper-gamma", "P", h.P), h.First.Check(), h.Second.Check())
}

// Mean is the expectation.
func (h hyperGamma) Mean() float64 {
	return float64(h.P*h.First.Mean()) + float64((1-h.P)*h.Second.Mean())
}

// CDF is P(X <= x).
func (h hyperGamma) CDF(x float64) float64 {
	return float64(h.P*h.First.CDF(x)) + float64((1-h.P)*h.Second.CDF(x))
}

// Rand draws a value: one uniform for the choice, then the gamma's own draws.
func (h hyperGamma) Rand(r *rand.Rand) float64 {
	if r.Float64() < h.P {
		return h.First.Rand(r)
	}
	return h.Second.Rand(r)
}
