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
	First, Second Gamma
}

// Check reports what makes h meaningless, or nil.
func (h hyperGamma) Check() error {
	return errors.Join(probability("hyper-gamma", "P", h.P), h.First.Check(), h.Second.Check())
}

// Mean is the expectation.
func (h hyperGamma) Mean() float64 {
	return float64(h.P*h.First.Mean()) + float64((1-h.P)*h.Second.Mean())
}

// Variance is the second central moment. (The formula in the comments of the
// Lublin-Feitelson program is wrong.)
func (h hyperGamma) Variance() float64 {
	second := func(g Gamma) float64 { return g.Shape * (1 + g.Shape) * g.Scale * g.Scale }
	m := h.Mean()
	return float64(h.P*second(h.First)) + float64((1-h.P)*second(h.Second)) - float64(m*m)
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
