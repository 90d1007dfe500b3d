// The gamma distribution by shape and scale, as the workload papers state it.

package model

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// gamma is the gamma distribution. Scale is a scale: the mean is Shape*Scale
// (gonum's distuv.Gamma takes the rate 1/Scale instead, and allocates on every
// draw from a source).
type gamma struct {
	Shape float64
	Scale float64
}

// Check reports what makes g meaningless, or nil.
func (g gamma) Check() error {
	return errors.Join(positive("gamma", "shape", g.Shape), positive("gamma", "scale", g.Scale))
}

// Mean is the expectation.
func (g gamma) Mean() float64 { return g.Shape * g.Scale }

// CDF is P(X <= x).
func (g gamma) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return mathext.GammaIncReg(g.Shape, x/g.Scale)
}

// expMean is E[e^X; X <= c], the part of the mean of e^X that lies below e^c. It gives the mean of
// a model that draws logarithms of times and redraws those above c. Completing the exponent makes
// it a gamma again, of scale Scale/(1-Scale); from Scale 1 on that fails and expMean is NaN.
func (g gamma) expMean(c float64) float64 {
	if g.Scale >= 1 {
		return math.NaN()
	}
	tilted := gamma{g.Shape, g.Scale / (1 - g.Scale)}
	return math.Pow(1-g.Scale, -g.Shape) * tilted.CDF(c)
}

// Rand draws a value by squeeze and rejection: Marsaglia and Tsang, "A simple
// method for generating gamma variables", ACM TOMS 26(3), 2000. A shape below 1
// is drawn as shape+1 times U^(1/shape).
func (g gamma) Rand(r *rand.Rand) float64 {
	if !(g.Shape > 0) {
		return math.NaN()
	}
	// The paper's method is for shapes of 1 and more. v = (1+cx)^3 with a normal x is accepted by the
	// squeeze, which needs no logarithm, or by the exact test behind it.
	shape, boost := g.Shape, 1.0
	if shape < 1 {
		boost = math.Pow(1-r.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / (3 * math.Sqrt(d))
	for {
		x := r.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - r.Float64() // in (0, 1]
		xx := x * x
		if u < 1-float64(0.0331*float64(xx*xx)) ||
			math.Log(u) < float64(0.5*xx)+float64(d*(1-v+math.Log(v))) {
			return boost * d * v * g.Scale
		}
	}
}
