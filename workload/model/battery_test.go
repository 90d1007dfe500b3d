// The battery: what every distribution must pass. A new one gets these checks
// by a line in its own test.

package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/exp/constraints"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const batteryDraws = 100_000

type continuous interface {
	DistributionOf[float64]
	CDF(float64) float64
}

// draw takes a sample, and another one from the same stream to compare.
func draw[T constraints.Integer | constraints.Float](t *testing.T, d DistributionOf[T]) []float64 {
	t.Helper()
	require.NoError(t, d.Check())
	sample := func() []float64 {
		r := rand.New(rand.NewPCG(1, 2))
		xs := make([]float64, batteryDraws)
		for i := range xs {
			xs[i] = float64(d.Rand(r))
		}
		return xs
	}
	xs := sample()
	require.Equal(t, xs, sample(), "the same stream gives the same draws")
	checkMean(t, xs, d.Mean())
	return xs
}

// checkContinuous draws a sample and holds it against the closed mean, the
// support and the distribution function.
func checkContinuous(t *testing.T, d continuous, lo, hi float64) {
	t.Helper()
	xs := draw(t, d)
	slices.Sort(xs)
	require.GreaterOrEqual(t, xs[0], lo, "support")
	require.LessOrEqual(t, xs[len(xs)-1], hi, "support")
	// Kolmogorov-Smirnov: sqrt(n) D exceeds 1.95 once in a thousand samples.
	var distance float64
	n := float64(len(xs))
	for i, x := range xs {
		f := d.CDF(x)
		distance = max(distance, f-float64(i)/n, float64(i+1)/n-f)
	}
	require.Less(t, math.Sqrt(n)*distance, 1.95, "Kolmogorov-Smirnov")
}

// checkDiscrete does the same with a chi-square test on [lo, hi].
func checkDiscrete(t *testing.T, d DistributionOf[int], lo, hi int) {
	t.Helper()
	xs := draw(t, d)
	probability := map[int]float64{}
	for v, p := range (Real{d}).Values() {
		probability[int(v)] += p
	}
	require.GreaterOrEqual(t, slices.Min(xs), float64(lo), "support")
	require.LessOrEqual(t, slices.Max(xs), float64(hi), "support")

	counts := make([]float64, hi-lo+1)
	for _, x := range xs {
		counts[int(x)-lo]++
	}
	// Neighbouring values are pooled until 10 draws are expected.
	var total, chi2, observed, expected float64
	cells := 0
	for i, c := range counts {
		p := probability[lo+i]
		total += p
		observed += c
		expected += p * batteryDraws
		if expected >= 10 {
			chi2 += (observed - expected) * (observed - expected) / expected
			observed, expected = 0, 0
			cells++
		}
	}
	require.InDelta(t, 1, total, 1e-8, "the probabilities sum to 1")
	if cells > 1 {
		require.Greater(t, distuv.ChiSquared{K: float64(cells - 1)}.Survival(chi2), 1e-3, "chi-square")
	}
	require.Len(t, probability, hi-lo+1, "no other value has a probability")
}

// checkMean allows five standard errors, taken from the sample itself: the
// fixed seeds make it a fact, not a gamble.
func checkMean(t *testing.T, xs []float64, mean float64) {
	t.Helper()
	m, deviation := stat.MeanStdDev(xs, nil)
	const rounding = 1e-12
	require.InDelta(t, mean, m, 5*deviation/math.Sqrt(float64(len(xs)))+rounding*math.Abs(mean), "mean")
}

// requireRejected checks that each set of parameters is refused.
func requireRejected(t *testing.T, ds ...interface{ Check() error }) {
	t.Helper()
	for _, d := range ds {
		require.Error(t, d.Check(), "%+v", d)
	}
}

var inf, nan = math.Inf(1), math.NaN()
