// The two-stage uniform distribution: log job sizes of the Lublin-Feitelson
// model.

package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// twoStageUniform is uniform on [Low, Mid) with probability P, else uniform on
// [Mid, High).
type twoStageUniform struct {
	Low, Mid, High float64 // Low <= Mid <= High
	P              float64 // in [0, 1]
}

// Check reports what makes t meaningless, or nil.
func (t twoStageUniform) Check() error {
	const name = "two-stage uniform"
	if err := errors.Join(finite(name, "Low", t.Low), finite(name, "Mid", t.Mid), finite(name, "High", t.High)); err != nil {
		return err
	}
	if !(t.Low <= t.Mid && t.Mid <= t.High) {
		return fmt.Errorf("two-stage uniform: Low <= Mid <= High is needed, not %v, %v, %v", t.Low, t.Mid, t.High)
	}
	return probability("two-stage uniform", "P", t.P)
}

// Mean is the expectation.
func (t twoStageUniform) Mean() float64 {
	return (float64(t.P*t.Low) + t.Mid + float64((1-t.P)*t.High)) / 2
}

// CDF is P(X <= x).
func (t twoStageUniform) CDF(x float64) float64 {
	switch {
	case x < t.Low:
		return 0
	case x < t.Mid:
		return t.P * (x - t.Low) / (t.Mid - t.Low)
	case x < t.High:
		return t.P + float64((1-t.P)*((x-t.Mid)/(t.High-t.Mid)))
	}
	return 1
}

// Rand draws a value with two uniforms.
func (t twoStageUniform) Rand(r *rand.Rand) float64 {
	lo, hi := t.Low, t.Mid
	if r.Float64() >= t.P {
		lo, hi = t.Mid, t.High
	}
	return lo + float64((hi-lo)*r.Float64())
}
