package stats

// The distributions that intervals and tests are read from: thin over gonum/mathext, and the same to
// the bit as gonum/stat/distuv on amd64. That package has them as well, but with it come matrices,
// LAPACK and BLAS: as much to compile as all policies.

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// student is Student's t distribution. Its value is the number of degrees of freedom, above 0.
type student float64

// cdf returns the probability of at most x: both tails beyond |x| are the incomplete beta function
// I(nu/2, 1/2) at nu / (x² + nu).
func (nu student) cdf(x float64) float64 {
	if x == 0 {
		return 0.5
	}
	n := float64(nu)
	tail := mathext.RegIncBeta(0.5*n, 0.5, n/(float64(x*x)+n)) // both of them
	if x > 0 {
		return 1 - float64(0.5*tail)
	}
	return 0.5 * tail
}

// quantile returns the x of which cdf is p, from 0 to 1.
func (nu student) quantile(p float64) float64 {
	if p == 0.5 {
		return 0
	}
	n := float64(nu)
	if p > 0.5 {
		t := mathext.InvRegIncBeta(n/2, 0.5, 2*(1-p))
		return math.Sqrt(float64(n*(1-t)) / t)
	}
	t := mathext.InvRegIncBeta(n/2, 0.5, 2*p)
	return -math.Sqrt(float64(n*(1-t)) / t)
}

// normal returns the probability of at most x under the standard normal distribution.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// chiSquared is the chi-squared distribution. Its value is the number of degrees of freedom, above 0.
type chiSquared float64

// survival returns the probability of more than x: the upper incomplete gamma function at (k/2,
// x/2).
func (k chiSquared) survival(x float64) float64 {
	if x < 0 {
		return 1
	}
	return mathext.GammaIncRegComp(0.5*float64(k), 0.5*x)
}
