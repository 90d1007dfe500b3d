package stats

// Intervals of confidence from independent replications.

import (
	"fmt"
	"math"
)

// Moments is a running mean and variance (Welford, Technometrics 4(3), 1962).
// The zero value is empty.
type Moments struct {
	n    int
	mean float64
	m2   float64 // sum of squared deviations from the mean
}

// Add takes one observation in.
func (m *Moments) Add(x float64) {
	m.n++
	// m2 grows by the product of the deviations from the mean before and after: no squares of
	// large numbers are subtracted from each other.
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += float64(d * (x - m.mean))
}

// N returns the number of observations.
func (m *Moments) N() int { return m.n }

// Mean returns the mean of the observations, 0 of none.
func (m *Moments) Mean() float64 { return m.mean }

// variance returns the unbiased sample variance, 0 of fewer than two observations.
func (m *Moments) variance() float64 {
	if m.n < 2 {
		return 0
	}
	return m.m2 / float64(m.n-1)
}

// stdDev returns the square root of variance.
func (m *Moments) stdDev() float64 { return math.Sqrt(m.variance()) }

// Interval is the mean of the observations with an interval that covers the
// true mean with the probability level (0.95, say), where the observations are
// independent and about normal, as means of long replications are: Student's t
// with N-1 degrees of freedom. Of fewer than two observations, and at a level that
// is not between 0 and 1, HalfWidth is +Inf.
func (m *Moments) Interval(level float64) Interval {
	e := Interval{Mean: m.mean, HalfWidth: math.Inf(1), N: m.n}
	if m.n >= 2 && level > 0 && level < 1 {
		t := student(m.n - 1)
		// half width = t(n-1, (1+level)/2) * s / sqrt(n)
		e.HalfWidth = t.quantile((1+level)/2) * m.stdDev() / math.Sqrt(float64(m.n))
	}
	return e
}

// Interval is a mean over N replications. At the level of confidence for which it was made, the
// true mean lies within HalfWidth of Mean.
type Interval struct {
	Mean      float64
	HalfWidth float64
	N         int
}

// Contains reports whether x lies within the interval.
func (e Interval) Contains(x float64) bool { return math.Abs(x-e.Mean) <= e.HalfWidth }

// String formats the mean and the half width, with as many decimals as the half width justifies.
func (e Interval) String() string {
	if !(e.HalfWidth > 0) || math.IsInf(e.HalfWidth, 1) {
		return fmt.Sprintf("%.5g ± %v", e.Mean, e.HalfWidth)
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(e.HalfWidth))))
	return fmt.Sprintf("%.*f ± %.*f", decimals, e.Mean, decimals, e.HalfWidth)
}
