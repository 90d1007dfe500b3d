// The distributions of the times between failures and of repairs.

package model

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Exponential is the distribution without memory, F(x) = 1 - exp(-x/Scale); Scale is its mean.
type Exponential struct{ Scale float64 }

// Check reports what makes e meaningless, or nil.
func (e Exponential) Check() error { return positive("exponential", "scale", e.Scale) }

// Mean is the expectation.
func (e Exponential) Mean() float64 { return e.Scale }

// CDF is P(X <= x).
func (e Exponential) CDF(x float64) float64 { return -math.Expm1(-max(x, 0) / e.Scale) }

// Rand draws a value.
func (e Exponential) Rand(r *rand.Rand) float64 { return e.Scale * r.ExpFloat64() }

// weibull is F(x) = 1 - exp(-(x/Scale)^Shape). With a shape below 1 the hazard falls
// as time goes by; with 1 it is the exponential distribution.
type weibull struct{ Shape, Scale float64 }

// WeibullOf is the Weibull distribution of a shape and a mean, which is Scale Gamma(1 + 1/Shape).
func WeibullOf(shape, mean float64) Distribution {
	return weibull{shape, mean / math.Gamma(1+1/shape)}
}

// Check reports what makes w meaningless, or nil.
func (w weibull) Check() error {
	return errors.Join(positive("weibull", "shape", w.Shape), positive("weibull", "scale", w.Scale))
}

// Mean is the expectation.
func (w weibull) Mean() float64 { return w.Scale * math.Gamma(1+1/w.Shape) }

// CDF is P(X <= x).
func (w weibull) CDF(x float64) float64 {
	return -math.Expm1(-math.Pow(max(x, 0)/w.Scale, w.Shape))
}

// Rand draws a value by inversion, with one exponential.
func (w weibull) Rand(r *rand.Rand) float64 {
	return w.Scale * math.Pow(r.ExpFloat64(), 1/w.Shape)
}

// lognormal is the distribution whose logarithm is normal with mean Mu and standard
// deviation Sigma.
type lognormal struct{ Mu, Sigma float64 }

// LognormalOf is the lognormal distribution of a sigma and a mean, which is exp(Mu + Sigma^2/2).
func LognormalOf(sigma, mean float64) Distribution {
	return lognormal{math.Log(mean) - float64(sigma*sigma)/2, sigma}
}

// Check reports what makes l meaningless, or nil.
func (l lognormal) Check() error {
	return errors.Join(finite("lognormal", "mu", l.Mu), positive("lognormal", "sigma", l.Sigma))
}

// Mean is the expectation.
func (l lognormal) Mean() float64 { return math.Exp(l.Mu + float64(l.Sigma*l.Sigma)/2) }

// CDF is P(X <= x).
func (l lognormal) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return math.Erfc((l.Mu-math.Log(x))/(l.Sigma*math.Sqrt2)) / 2
}

// Rand draws a value, with one normal.
func (l lognormal) Rand(r *rand.Rand) float64 {
	return math.Exp(l.Mu + float64(l.Sigma*r.NormFloat64()))
}
