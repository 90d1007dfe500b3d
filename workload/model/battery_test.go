// The battery: what every distribution must pass. A new one gets these checks
// by a line in its own test.

package model

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const batteryDraws = 100_000

// draw takes a sample, and another one from the same stream to compare.
func draw(t *testing.T, d Distribution) []float64 {
	t.Helper()
	require.NoError(t, d.Check())
	sample := func() []float64 {
		r := rand.New(rand.NewPCG(1, 2))
		xs := make([]float64, batteryDraws)
		for i := range xs {
			xs[i] = d.Rand(r)
		}
		return xs
	}
	xs := sample()
	require.Equal(t, xs, sample(), "the same stream gives the same draws")
	checkMean(t, xs, d.Mean())
	return xs
}

// continuous is a distribution with a distribution function.
type continuous interface {
	Distribution
	CDF(float64) float64
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

// checkDiscrete holds a sample against the values and their probabilities, with a chi-square test.
func checkDiscrete(t *testing.T, d Distribution) {
	t.Helper()
	probability := map[float64]float64{}
	var total, mean float64
	for v, p := range d.(discrete).Values() {
		probability[v] += p
		total += p
		mean += p * v
	}
	require.InDelta(t, 1, total, 1e-8, "the probabilities sum to 1")
	require.InDelta(t, d.Mean(), mean, 1e-8*(1+math.Abs(mean)))
	counts := map[float64]float64{}
	for _, x := range draw(t, d) {
		counts[x]++
	}
	for x := range counts {
		_, possible := probability[x]
		require.True(t, possible, "support: %v", x)
	}
	// Neighbouring values are pooled until 10 draws are expected.
	var chi2, observed, expected float64
	cells := 0
	for _, v := range slices.Sorted(maps.Keys(probability)) {
		observed += counts[v]
		expected += probability[v] * batteryDraws
		if expected >= 10 {
			chi2 += (observed - expected) * (observed - expected) / expected
			observed, expected = 0, 0
			cells++
		}
	}
	if cells > 1 {
		require.Greater(t, distuv.ChiSquared{K: float64(cells - 1)}.Survival(chi2), 1e-3, "chi-square")
	}
	for range d.(discrete).Values() {
		break
	}
}

// checkMean allows five standard errors, taken from the sample itself: the
// fixed seeds make it a fact, not a gamble.
func checkMean(t *testing.T, xs []float64, mean float64) {
	t.Helper()
	m, deviation := stat.MeanStdDev(xs, nil)
	const rounding = 1e-12
	require.InDelta(t, mean, m, 5*deviation/math.Sqrt(float64(len(xs)))+rounding*math.Abs(mean), "mean")
}

var inf, nan = math.Inf(1), math.NaN()

func TestContinuousDistributions(t *testing.T) {
	for _, c := range []struct {
		d        continuous
		low, top float64
	}{
		{Uniform{3, 9}, 3, 9},
		{Exponential{30}, 0, inf},
		{weibull{0.7, 30}, 0, inf},
		{weibull{2, 30}, 0, inf},
		{lognormal{1, 0.8}, 0, inf},
		{gamma{4.2, 0.94}, 0, inf},
		{gamma{312, 0.03}, 0, inf},
		{gamma{1, 2}, 0, inf},
		{gamma{0.3, 1.5}, 0, inf},
		{hyperGamma{0.7, gamma{4.2, 0.94}, gamma{312, 0.03}}, 0, inf},
		{HyperErlang{P: 0.3, Order: 3, Rate1: 0.1, Rate2: 2}, 0, inf},
		{logUniform{math.Exp(1.8), math.Exp(11.8)}, math.Exp(1.8), math.Exp(11.8)},
		{twoStageUniform{0.8, 4.5, 7, 0.86}, 0.8, 7},
		{twoStageUniform{1, 1, 5.5, 0}, 1, 5.5},
		{TruncatedNormal{1.5, 0.3, 0.9, 2}, 0.9, 2},               // by inversion
		{TruncatedNormal{0, 1, 2, inf}, 2, inf},                   // a tail by inversion
		{TruncatedNormal{0, 1, -inf, -4}, -inf, -4},               // a tail by rejection
		{TruncatedNormal{10, 2, 20, 30}, 20, 30},                  // 5 to 10 sigma above
		{TruncatedNormal{0, 1, 5, 5.1}, 5, 5.1},                   // far and narrow: uniform proposals
		{TruncatedNormal{0, 1, -0.0005, 0.0005}, -0.0005, 0.0005}, // narrow around the mode
		{TruncatedNormal{0, 1, -inf, inf}, -inf, inf},             // not truncated at all
	} {
		t.Run(fmt.Sprintf("%T%v", c.d, c.d), func(t *testing.T) { checkContinuous(t, c.d, c.low, c.top) })
	}
}

func TestDiscreteDistributions(t *testing.T) {
	for _, d := range []Distribution{
		Constant(2.5),
		Empirical{[]float64{1, 4, 4, 10}},
		zipf{1.5, 128}, zipf{2.5, 1000}, zipf{1, 64}, zipf{0.5, 20}, zipf{2.5, 1},
		Hypergeometric{50, 20, 10},
		Hypergeometric{1000, 150, 30},              // the papers' load levels
		Hypergeometric{30, 25, 20},                 // least possible value above 0
		Hypergeometric{10, 3, 10},                  // everything is drawn: a constant
		Hypergeometric{7, 0, 4},                    // nothing is marked
		Hypergeometric{2_000_000, 900_000, 50_000}, // standard deviation 110
	} {
		t.Run(fmt.Sprintf("%T%v", d, d), func(t *testing.T) { checkDiscrete(t, d) })
	}
}

func TestKnownMeans(t *testing.T) {
	for _, c := range []struct {
		d    Distribution
		mean float64
	}{
		{zipf{1.5, 128}, 8.708},
		{Hypergeometric{50, 20, 10}, 4},
		{logUniform{math.Exp(1.8), math.Exp(11.8)}, 13325}, // Downey's fit to the SDSC Paragon
		{logUniform{3, 3}, 3},
		{twoStageUniform{0.8, 4.5, 7, 0.86}, 3.084},
		{gamma{10.46, 0.4871}, 5.095},
		{hyperGamma{0.7746, gamma{4.2, 0.94}, gamma{312, 0.03}}, 5.168},
		{WeibullOf(0.7, 42), 42},
		{LognormalOf(1.5, 42), 42},
		// E[Z | Z > a] is the inverse Mills ratio, phi(a)/(1-Phi(a)).
		{TruncatedNormal{0, 1, 4, inf}, math.Exp(-8) / math.Sqrt(2*math.Pi) / (math.Erfc(4/math.Sqrt2) / 2)},
	} {
		require.NoError(t, c.d.Check())
		require.InEpsilon(t, c.mean, c.d.Mean(), 2e-4, "%T%v", c.d, c.d)
	}
}

func TestKnownProbabilities(t *testing.T) {
	require.InDelta(t, 0.2801, Hypergeometric{50, 20, 10}.Prob(4), 5e-5)
	require.InDelta(t, 0.52, gamma{10.46, 0.4871}.CDF(5), 5e-3)
	require.InEpsilon(t, Exponential{42}.CDF(50), WeibullOf(1, 42).(continuous).CDF(50), 1e-12, "a Weibull of shape 1 is exponential")
	require.InEpsilon(t, 0.5, LognormalOf(1.5, 42).(continuous).CDF(42*math.Exp(-1.125)), 1e-12)
	require.Equal(t, 1.0, Uniform{2, 2}.CDF(2))
	require.Zero(t, Uniform{2, 2}.CDF(1.9))
}

func TestDistributionsRefuseNonsense(t *testing.T) {
	g := gamma{4.2, 0.94}
	for _, d := range []Distribution{
		Constant(nan), Empirical{}, Empirical{[]float64{1, inf}},
		Uniform{2, 1}, Uniform{nan, 1}, Uniform{0, inf},
		Exponential{}, Exponential{-1}, Exponential{nan},
		weibull{}, weibull{1, 0}, weibull{0, 1}, weibull{inf, 1},
		lognormal{}, lognormal{nan, 1}, lognormal{1, -1},
		gamma{}, gamma{1, 0}, gamma{-1, 1}, gamma{nan, 1}, gamma{1, inf},
		hyperGamma{}, hyperGamma{1.1, g, g}, hyperGamma{nan, g, g}, hyperGamma{0.5, g, gamma{}},
		HyperErlang{}, HyperErlang{0.5, 0, 1, 1}, HyperErlang{2, 1, 1, 1}, HyperErlang{0.5, 1, 0, 1},
		logUniform{}, logUniform{2, 1}, logUniform{0, 1}, logUniform{1, inf}, logUniform{nan, 1},
		twoStageUniform{2, 1, 3, 0.5}, twoStageUniform{1, 2, 1, 0.5},
		twoStageUniform{0, 1, 2, -0.1}, twoStageUniform{0, nan, 2, 0.5}, twoStageUniform{0, 1, inf, 0.5},
		TruncatedNormal{0, 0, 0, 1}, TruncatedNormal{0, 1, 1, 1}, TruncatedNormal{0, 1, 2, 1},
		TruncatedNormal{nan, 1, 0, 1}, TruncatedNormal{0, 1, nan, 1}, TruncatedNormal{0, inf, 0, 1},
		zipf{}, zipf{1.5, 0}, zipf{0, 5}, zipf{nan, 5}, zipf{inf, 5},
		Hypergeometric{-1, 0, 0}, Hypergeometric{5, 6, 1}, Hypergeometric{5, 1, 6}, Hypergeometric{5, -1, 1},
	} {
		require.Error(t, d.Check(), "%T%v", d, d)
	}
}
