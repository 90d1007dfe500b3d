package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGammaExpMeanIsTheMeanOfTheExponential(t *testing.T) {
	// The closed value without truncation: E[e^g] = (1-b)^-a.
	require.InEpsilon(t, math.Pow(0.06, -4.2), gamma{4.2, 0.94}.expMean(inf), 1e-12)
	require.InEpsilon(t, 1.35e5, gamma{4.2, 0.94}.expMean(inf), 0.01)
	// With truncation, against the integral of e^x dF by the trapezium rule.
	g := gamma{4.2, 0.94}
	var sum float64
	const steps = 120_000
	for i := range steps {
		lo, hi := 12*float64(i)/steps, 12*float64(i+1)/steps
		sum += (g.CDF(hi) - g.CDF(lo)) * math.Exp((lo+hi)/2)
	}
	require.InEpsilon(t, sum, g.expMean(12), 1e-6)
	require.True(t, math.IsNaN(gamma{2, 1}.expMean(12)))
}

// The squeeze saves logarithms and decides nothing: what it accepts, the exact test would accept.
func TestTheSqueezeOfGammaDecidesNothing(t *testing.T) {
	for _, shape := range []float64{1, 1.5, 4.2, 312} {
		squeezed, exact := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
		d := shape - 1.0/3
		for range 200_000 {
			want := 0.0
			for accepted := false; !accepted; {
				x := exact.NormFloat64()
				v := math.Pow(1+x/math.Sqrt(9*d), 3)
				if v > 0 {
					accepted = math.Log(1-exact.Float64()) < x*x/2+d-d*v+d*math.Log(v)
				}
				want = d * v
			}
			require.InEpsilon(t, want, gamma{shape, 1}.Rand(squeezed), 1e-9, "shape %v", shape)
		}
	}
}

func TestGammaDrawsWithoutAllocating(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	require.Zero(t, testing.AllocsPerRun(100, func() { gamma{4.2, 0.94}.Rand(r) }))
}
