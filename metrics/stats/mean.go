package stats

// Means and ratios with intervals, from independent observations.

import (
	"errors"
	"fmt"
	"math"
)

// Mean returns the mean of independent replications with its interval by Student's t at the level
// (0.95, say); see Moments.
func Mean(values []float64, level float64) Interval {
	m := momentsOf(values)
	return m.Interval(level)
}

func momentsOf(values []float64) (m Moments) {
	for _, v := range values {
		m.Add(v)
	}
	return m
}

// Estimate is a value with an interval that covers the true value with the probability for which
// it was made. The interval need not lie evenly around the value. A bound that the observations do
// not give is infinite.
type Estimate struct {
	Value, Low, High float64
	// N is the number of observations.
	N int
}

func (e Estimate) String() string {
	return fmt.Sprintf("%.4g (%.4g to %.4g)", e.Value, e.Low, e.High)
}

// Ratio returns the quotient of the means of x and y, observed in pairs (x[i] and y[i] with the
// same random numbers), with Fieller's interval: all quotients r for which the mean of x - r y
// does not differ from 0 by Student's t at the level (E. Fieller, Journal of the Royal Statistical
// Society B 16(2), 1954). If the mean of y itself may be 0 at that level, no bound is given: both
// are infinite.
//
// Pairs with a y near 0 do not rule it, as they rule a mean of quotients.
func Ratio(x, y []float64, level float64) (Estimate, error) {
	if err := pairs(x, y, level); err != nil {
		return Estimate{}, err
	}
	n := float64(len(x))
	mx, my := momentsOf(x), momentsOf(y)
	e := Estimate{Value: mx.Mean() / my.Mean(), Low: math.Inf(-1), High: math.Inf(1), N: len(x)}
	if len(x) < 2 {
		return e, nil
	}
	// together is n-1 times the covariance of x and y.
	together := 0.0
	for i := range x {
		together += float64((x[i] - mx.Mean()) * (y[i] - my.Mean()))
	}
	t := student(n - 1).quantile((1 + level) / 2)
	share := float64(t*t) / n
	// r is in the interval if (mx - r my)² <= t²/n * (vx - 2 r cov + r² vy): a parabola in r,
	// whose roots are the bounds: a r² - 2 b r + c = 0.
	a := float64(my.Mean()*my.Mean()) - float64(share*my.variance())
	b := float64(mx.Mean()*my.Mean()) - float64(share*together/(n-1))
	c := float64(mx.Mean()*mx.Mean()) - float64(share*mx.variance())
	// The parabola opens downwards: y may have the mean 0.
	if a <= 0 {
		return e, nil
	}
	root := math.Sqrt(max(0, float64(b*b)-float64(a*c)))
	e.Low, e.High = (b-root)/a, (b+root)/a
	return e, nil
}

// pairs checks observations that belong together, and a level.
func pairs(x, y []float64, level float64) error {
	if len(x) != len(y) {
		return fmt.Errorf("pairs are wanted, but there are %d and %d values", len(x), len(y))
	}
	return errors.Join(finite("the first values", x), finite("the second values", y), probability("level", level))
}

// greatest bounds values, so that sums of their squares are finite.
const greatest = 1e100

// finite returns an error that names the first value that is not finite, or too great.
func finite(what string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: number %d is %v: a finite number is wanted", what, i+1, v)
		}
		if math.Abs(v) > greatest {
			return fmt.Errorf("%s: number %d is %v: a number within ±%g is wanted", what, i+1, v, greatest)
		}
	}
	return nil
}

// probability returns an error if p is not between 0 and 1.
func probability(what string, p float64) error {
	if !(0 < p && p < 1) {
		return fmt.Errorf("%s is %v: a number between 0 and 1 is wanted", what, p)
	}
	return nil
}
