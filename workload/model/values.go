// Distributions of few values, and what is even: what a user gives instead of a law.

package model

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
)

// discrete is a distribution of finitely many values. Others have a distribution function without steps
// (CDF); what needs a probability or a mean of rounded values asks for one or the other (below).
type discrete interface {
	// Values are the values, each with its probability. A value may come twice; the probabilities sum
	// to 1.
	Values() iter.Seq2[float64, float64]
}

// Constant is always the same value, and draws nothing.
type Constant float64

// Check reports what makes c meaningless, or nil.
func (c Constant) Check() error { return finite("constant", "the value", float64(c)) }

// Mean is the expectation.
func (c Constant) Mean() float64 { return float64(c) }

// Values yields the constant alone.
func (c Constant) Values() iter.Seq2[float64, float64] {
	return func(yield func(float64, float64) bool) { yield(float64(c), 1) }
}

// Rand is the value.
func (c Constant) Rand(*rand.Rand) float64 { return float64(c) }

// Uniform is even on [Min, Max).
type Uniform struct{ Min, Max float64 }

// Check reports what makes u meaningless, or nil.
func (u Uniform) Check() error {
	if err := errors.Join(finite("uniform", "Min", u.Min), finite("uniform", "Max", u.Max)); err != nil {
		return err
	}
	if u.Min > u.Max {
		return fmt.Errorf("uniform: %v is above %v", u.Min, u.Max)
	}
	return nil
}

// Mean is the expectation.
func (u Uniform) Mean() float64 { return (u.Min + u.Max) / 2 }

// CDF is P(X <= x).
func (u Uniform) CDF(x float64) float64 {
	switch {
	case x >= u.Max: // also where there is one value alone
		return 1
	case x <= u.Min:
		return 0
	}
	return (x - u.Min) / (u.Max - u.Min)
}

// Rand draws a value, with one uniform.
func (u Uniform) Rand(r *rand.Rand) float64 { return u.Min + float64((u.Max-u.Min)*r.Float64()) }

// Empirical draws from a sample, each of its values as likely as any other.
type Empirical struct{ Sample []float64 }

// Check reports what makes e meaningless, or nil.
func (e Empirical) Check() error {
	if len(e.Sample) == 0 {
		return errors.New("empirical: there are no values")
	}
	for _, x := range e.Sample {
		if err := finite("empirical", "each value", x); err != nil {
			return err
		}
	}
	return nil
}

// Mean is the expectation.
func (e Empirical) Mean() float64 {
	var sum float64
	for _, x := range e.Sample {
		sum += x
	}
	return sum / float64(len(e.Sample))
}

// Values yields the values of the sample, each with its probability, 1 by their number.
func (e Empirical) Values() iter.Seq2[float64, float64] {
	return func(yield func(float64, float64) bool) {
		p := 1 / float64(len(e.Sample))
		for _, x := range e.Sample {
			if !yield(x, p) {
				return
			}
		}
	}
}

// Rand draws a value, with one whole number.
func (e Empirical) Rand(r *rand.Rand) float64 { return e.Sample[r.IntN(len(e.Sample))] }
