// The hyper-Erlang distribution of common order, and the fit of its four
// parameters to three moments: gaps and runtimes of the Jann model.

package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// HyperErlang is a mixture of two Erlang distributions of the same order: the
// sum of Order exponentials of rate Rate1 with probability P, else of rate
// Rate2. Jann, Pattnaik, Franke, Wang, Skovira, Riordan, "Modeling of workload
// in MPPs", JSSPP 1997.
type HyperErlang struct {
	P            float64 // in [0, 1]
	Order        int     // 1 or more; with 1 it is a hyperexponential distribution
	Rate1, Rate2 float64 // per unit of what is drawn, above 0
}

// Check reports what makes h meaningless, or nil.
func (h HyperErlang) Check() error {
	if h.Order < 1 {
		return fmt.Errorf("hyper-Erlang: the order must be at least 1, not %d", h.Order)
	}
	return errors.Join(probability("hyper-Erlang", "P", h.P),
		positive("hyper-Erlang", "Rate1", h.Rate1), positive("hyper-Erlang", "Rate2", h.Rate2))
}

// moment is E[X^k] for k >= 0: (n)_k (p/l1^k + (1-p)/l2^k), with the rising
// factorial (n)_k = n(n+1)...(n+k-1).
func (h HyperErlang) moment(k int) float64 {
	scale := float64(h.P*math.Pow(h.Rate1, -float64(k))) + float64((1-h.P)*math.Pow(h.Rate2, -float64(k)))
	return risingFactorial(h.Order, k) * scale
}

// Mean is the expectation.
func (h HyperErlang) Mean() float64 { return h.moment(1) }

// CDF is P(X <= x).
func (h HyperErlang) CDF(x float64) float64 { return h.gammas().CDF(x) }

// Rand draws a value.
func (h HyperErlang) Rand(r *rand.Rand) float64 { return h.gammas().Rand(r) }

// gammas is the same distribution seen as a hyper-gamma.
func (h HyperErlang) gammas() hyperGamma {
	n := float64(h.Order)
	return hyperGamma{P: h.P, First: gamma{n, 1 / h.Rate1}, Second: gamma{n, 1 / h.Rate2}}
}

// errNoFit is returned by fitHyperErlang where no order meets the moments.
var errNoFit = errors.New("no hyper-Erlang distribution has these moments")

// fitHyperErlang returns the hyper-Erlang distribution of least order, up to
// maxOrder, whose first three moments E[X], E[X^2], E[X^3] are those given.
//
// Divided by (n)_k the moments must be those of two points x = 1/rate with
// weights p and 1-p. The points are then the roots of x^2 - s x + q with
// s = (m3-m1 m2)/(m2-m1^2), q = (m1 m3-m2^2)/(m2-m1^2), and the weight is
// p = (m1-x2)/(x1-x2). An order will not do where the roots are not real and
// positive, where p is no probability, or where rounding leaves the third moment
// unmet (p is then of the order of 1e-15). The error wraps errNoFit.
func fitHyperErlang(mean, second, third float64, maxOrder int) (HyperErlang, error) {
	for n := 1; n <= maxOrder; n++ {
		m1 := mean / risingFactorial(n, 1)
		m2 := second / risingFactorial(n, 2)
		m3 := third / risingFactorial(n, 3)
		variance := m2 - float64(m1*m1)
		s := (m3 - float64(m1*m2)) / variance
		q := (float64(m1*m3) - float64(m2*m2)) / variance
		root := math.Sqrt(float64(s*s) - float64(4*q))
		x1, x2 := (s+root)/2, (s-root)/2
		p := (m1 - x2) / (x1 - x2)
		h := HyperErlang{P: p, Order: n, Rate1: 1 / x1, Rate2: 1 / x2}
		if variance > 0 && x1 > x2 && h.Check() == nil && math.Abs(h.moment(3)-third) < 1e-6*third {
			return h, nil
		}
	}
	return HyperErlang{}, fmt.Errorf("moments %v, %v, %v with orders up to %d: %w", mean, second, third, maxOrder, errNoFit)
}

// risingFactorial is n (n+1) ... (n+k-1).
func risingFactorial(n, k int) float64 {
	f := 1.0
	for i := range k {
		f *= float64(n + i)
	}
	return f
}
