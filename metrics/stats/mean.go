package stats

// Means and ratios with intervals, from independent observations.

import (
	"errors"
	"fmt"
	"math"
)

// Mean is the mean of independent replications with its interval by Student's t at
// the level (0.95, say); see Moments.
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

// Estimate is a value with an interval that covers the true one with the
// probability level that it was made for, and that need not lie evenly around
// the value. A bound that the observations do not give is infinite.
type Estimate struct {
	Value, Low, High float64
	N                int // observations
}

func (e Estimate) String() string {
	return fmt.Sprintf("%.4g (%.4g to %.4g)", e.Value, e.Low, e.High)
}

// Ratio is the quotient of the means of x and y, observed in pairs (x[i] and y[i] with
// the same random numbers), with Fieller's interval: all quotients r for which
// the mean of x - r y does not differ from 0 by Student's t at the level (E. Fieller,
// Journal of the Royal Statistical Society B 16(2), 1954). Where the mean of y
// itself may be 0 at that level, no bound is given: both are infinite.
//
// Unlike a mean of quotients it is not ruled by pairs whose y is about 0.
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
	together := 0.0
	for i := range x {
		together += float64((x[i] - mx.Mean()) * (y[i] - my.Mean()))
	}
	t := student(n - 1).Quantile((1 + level) / 2)
	share := float64(t*t) / n
	// The bounds are the roots of a r² - 2 b r + c.
	a := float64(my.Mean()*my.Mean()) - float64(share*my.Variance())
	b := float64(mx.Mean()*my.Mean()) - float64(share*together/(n-1))
	c := float64(mx.Mean()*mx.Mean()) - float64(share*mx.Variance())
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

// greatest is of a value: sums of squares of such are finite.
const greatest = 1e100

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

func probability(what string, p float64) error {
	if !(0 < p && p < 1) {
		return fmt.Errorf("%s is %v: a number between 0 and 1 is wanted", what, p)
	}
	return nil
}
