package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestMomentsEqualTheTwoPassFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 50).Draw(t, "x")
		var m Moments
		for _, v := range x {
			m.Add(v)
		}
		mean, variance := stat.MeanVariance(x, nil)
		require.Equal(t, len(x), m.N())
		require.InDelta(t, mean, m.Mean(), 1e-6)
		require.InDelta(t, variance, m.variance(), 1e-9*(1+variance)+1e-6)
	})
}

// Known values: of 1..5 the mean is 3, s is sqrt(2.5), and Student's t with 4
// degrees of freedom has its 0.975 quantile at 2.7764.
func TestEstimateIsStudentsInterval(t *testing.T) {
	var m Moments
	for x := range 5 {
		m.Add(float64(x + 1))
	}
	e := m.Interval(0.95)
	require.Equal(t, 3.0, e.Mean)
	require.InDelta(t, 2.776445*math.Sqrt(2.5)/math.Sqrt(5), e.HalfWidth, 1e-6)
	require.Equal(t, 5, e.N)
	require.Equal(t, "3.0 ± 2.0", e.String())
	require.True(t, e.Contains(4.9))
	require.False(t, e.Contains(5))
}

func TestOneObservationEstimatesNothing(t *testing.T) {
	var m Moments
	m.Add(7)
	require.Equal(t, Interval{Mean: 7, HalfWidth: math.Inf(1), N: 1}, m.Interval(0.95))
	require.Zero(t, m.variance())
}

func TestIntervalsAreWrittenAsFarAsTheyAreKnown(t *testing.T) {
	for want, e := range map[string]Interval{
		"6852 ± 234":      {Mean: 6851.7, HalfWidth: 234.3, N: 9},
		"0.0020 ± 0.0013": {Mean: 0.00201, HalfWidth: 0.00131, N: 9},
		"7.5 ± +Inf":      {Mean: 7.5, HalfWidth: math.Inf(1), N: 1},
		"7.5 ± 0":         {Mean: 7.5, N: 3},
	} {
		require.Equal(t, want, e.String())
	}
}

// A 90% interval covers the true mean nine times out of ten.
func TestIntervalsCoverTheMean(t *testing.T) {
	r := des.NewStream(1, 0, "coverage")
	covered := 0
	const runs = 4000
	for range runs {
		var m Moments
		for range 6 {
			m.Add(10 + 3*r.NormFloat64())
		}
		if m.Interval(0.9).Contains(10) {
			covered++
		}
	}
	require.InDelta(t, 0.9, float64(covered)/runs, 0.02)
}
