// The truncated normal distribution: task lengths and load levels in the
// papers' environments.

package model

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// TruncatedNormal is the normal distribution (Mu, Sigma) given that the value
// lies in [Min, Max]. Either border may be infinite. It is not a clamp: no
// probability gathers at the borders.
type TruncatedNormal struct {
	Mu, Sigma float64 // of the normal distribution before it is cut; Sigma > 0
	Min, Max  float64 // Min < Max
}

// Check reports what makes t meaningless, or nil.
func (t TruncatedNormal) Check() error {
	if err := finite("truncated normal", "Mu", t.Mu); err != nil {
		return err
	}
	if err := positive("truncated normal", "Sigma", t.Sigma); err != nil {
		return err
	}
	if !(t.Min < t.Max) {
		return fmt.Errorf("truncated normal: Min < Max is needed, not %v, %v", t.Min, t.Max)
	}
	return nil
}

// standard returns the borders in units of Sigma from Mu. Where they lie to the
// right of Mu they are mirrored, since the lower tail of the normal distribution
// is the one that keeps its digits.
func (t TruncatedNormal) standard() (a, b float64, mirrored bool) {
	a, b = (t.Min-t.Mu)/t.Sigma, (t.Max-t.Mu)/t.Sigma
	if a > 0 {
		return -b, -a, true
	}
	return a, b, false
}

// Mean is the expectation: Mu + Sigma (phi(a)-phi(b)) / (Phi(b)-Phi(a)), where
// a and b are the borders in units of Sigma. It is NaN where the probability
// between the borders underflows, beyond 37 Sigma.
func (t TruncatedNormal) Mean() float64 {
	a, b, mirrored := t.standard()
	shift := t.Sigma * (phi(a) - phi(b)) / (normalCDF(b) - normalCDF(a))
	if mirrored {
		shift = -shift
	}
	return t.Mu + shift
}

// CDF is P(X <= x).
func (t TruncatedNormal) CDF(x float64) float64 {
	switch {
	case x <= t.Min:
		return 0
	case x >= t.Max:
		return 1
	}
	a, b, mirrored := t.standard()
	z := (x - t.Mu) / t.Sigma
	if mirrored {
		return (normalCDF(b) - normalCDF(-z)) / (normalCDF(b) - normalCDF(a))
	}
	return (normalCDF(z) - normalCDF(a)) / (normalCDF(b) - normalCDF(a))
}

// Rand draws a value: by inversion, with one uniform, where the borders hold
// more than a thousandth of the normal's probability; else by rejection, Robert,
// "Simulation of truncated normal variables", Statistics and Computing 5, 1995.
func (t TruncatedNormal) Rand(r *rand.Rand) float64 {
	a, b, mirrored := t.standard()
	var z float64
	low := normalCDF(a)
	if mass := normalCDF(b) - low; mass > 1e-3 {
		p := low + float64(mass*r.Float64())
		z = -math.Sqrt2 * math.Erfcinv(2*p)
	} else {
		z = rareNormal(r, a, b)
	}
	if mirrored {
		z = -z
	}
	// The last rounding may step over a border.
	return min(max(t.Mu+float64(t.Sigma*z), t.Min), t.Max)
}

// rareNormal draws a standard normal given a <= z <= b, where that is rare:
// either the interval is narrow, or it lies wholly in the lower tail.
func rareNormal(r *rand.Rand, a, b float64) float64 {
	if b >= 0 || useUniform(-b, -a) {
		nearest := min(b, 0) // the densest point of the interval: a <= 0
		for {
			z := a + float64((b-a)*r.Float64())
			if math.Log(1-r.Float64()) <= (float64(nearest*nearest)-float64(z*z))/2 {
				return z
			}
		}
	}
	// The upper tail [-b, -a], by an exponential from -b on.
	lo, hi := -b, -a
	rate := (lo + math.Sqrt(float64(lo*lo)+4)) / 2
	for {
		z := lo + r.ExpFloat64()/rate
		if z > hi {
			continue
		}
		d := z - rate
		if math.Log(1-r.Float64()) <= -float64(d*d)/2 {
			return -z
		}
	}
}

// useUniform is Robert's comparison of the two proposals on [lo, hi], lo > 0:
// the uniform accepts more often where the interval is narrow.
func useUniform(lo, hi float64) bool {
	root := math.Sqrt(float64(lo*lo) + 4)
	return hi <= lo+2*math.Sqrt(math.E)/(lo+root)*math.Exp((float64(lo*lo)-float64(lo*root))/4)
}

// phi is the standard normal density.
func phi(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// normalCDF is the standard normal distribution function.
func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
