// The log-uniform distribution: total work and parallelism in Downey's model.

package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// logUniform is the distribution on [Min, Max) whose logarithm is uniform:
// F(x) = ln(x/Min) / ln(Max/Min).
type logUniform struct {
	Min, Max float64
}

// Check reports what makes l meaningless, or nil.
func (l logUniform) Check() error {
	if err := errors.Join(positive("log-uniform", "Min", l.Min), positive("log-uniform", "Max", l.Max)); err != nil {
		return err
	}
	if l.Max < l.Min {
		return fmt.Errorf("log-uniform: Min <= Max is needed, not %v, %v", l.Min, l.Max)
	}
	return nil
}

// Mean is the expectation.
func (l logUniform) Mean() float64 {
	if l.Min == l.Max {
		return l.Min
	}
	return (l.Max - l.Min) / math.Log(l.Max/l.Min)
}

// CDF is P(X <= x).
func (l logUniform) CDF(x float64) float64 {
	switch {
	case x < l.Min:
		return 0
	case x >= l.Max:
		return 1
	}
	return math.Log(x/l.Min) / math.Log(l.Max/l.Min)
}

// Rand draws a value by inversion, with one uniform.
func (l logUniform) Rand(r *rand.Rand) float64 {
	return l.Min * math.Exp(math.Log(l.Max/l.Min)*r.Float64())
}
