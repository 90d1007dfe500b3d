package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// checkValues draws a sample and holds it against the mean, and the mean
// against the values.
func checkValues(t *testing.T, d interface {
	DistributionOf[float64]
	Finite
},
) {
	t.Helper()
	counts := map[float64]float64{}
	for _, x := range draw(t, d) {
		counts[x]++
	}
	var total, mean float64
	share := map[float64]float64{}
	for x, p := range d.Values() {
		total += p
		mean += p * x
		share[x] += p
	}
	require.InEpsilon(t, 1, total, 1e-9)
	require.InDelta(t, d.Mean(), mean, 1e-9*(1+mean))
	for x, n := range counts {
		require.InDelta(t, share[x], n/batteryDraws, 0.01, "%v", x)
	}
}

func TestDistributionsOfFewValues(t *testing.T) {
	checkValues(t, Constant(2.5))
	checkValues(t, Empirical{[]float64{1, 4, 4, 10}})
	checkValues(t, Real{Zipf{Order: 1.5, N: 20}})
	checkValues(t, Real{Hypergeometric{50, 20, 10}})
	requireRejected(t, Constant(nan), Empirical{}, Empirical{[]float64{1, inf}}, Real{Zipf{}})
	for range (Empirical{[]float64{1, 2}}).Values() {
		break
	}
	for range (Real{Zipf{Order: 1, N: 3}}).Values() {
		break
	}
}

func TestUniform(t *testing.T) {
	checkContinuous(t, Uniform{3, 9}, 3, 9)
	require.Equal(t, 1.0, Uniform{2, 2}.CDF(2))
	require.Zero(t, Uniform{2, 2}.CDF(1.9))
	require.Equal(t, 0.25, Uniform{0, 4}.CDF(1))
	requireRejected(t, Uniform{2, 1}, Uniform{nan, 1}, Uniform{0, inf})
}
