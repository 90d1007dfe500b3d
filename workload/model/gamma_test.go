package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGamma(t *testing.T) {
	for _, g := range []Gamma{{4.2, 0.94}, {312, 0.03}, {1, 2}, {0.3, 1.5}} {
		t.Run(fmt.Sprint(g), func(t *testing.T) { checkContinuous(t, g, 0, inf) })
	}
	requireRejected(t, Gamma{}, Gamma{1, 0}, Gamma{-1, 1}, Gamma{nan, 1}, Gamma{1, inf})
}

func TestGammaExpMeanIsTheMeanOfTheExponential(t *testing.T) {
	// The closed value without truncation: E[e^g] = (1-b)^-a.
	require.InEpsilon(t, math.Pow(0.06, -4.2), Gamma{4.2, 0.94}.expMean(inf), 1e-12)
	require.InEpsilon(t, 1.35e5, Gamma{4.2, 0.94}.expMean(inf), 0.01)
	// With truncation, against the integral of e^x dF by the trapezium rule.
	g := Gamma{4.2, 0.94}
	var sum float64
	const steps = 120_000
	for i := range steps {
		lo, hi := 12*float64(i)/steps, 12*float64(i+1)/steps
		sum += (g.CDF(hi) - g.CDF(lo)) * math.Exp((lo+hi)/2)
	}
	require.InEpsilon(t, sum, g.expMean(12), 1e-6)
	require.True(t, math.IsNaN(Gamma{2, 1}.expMean(12)))
}

func TestGammaDrawsWithoutAllocating(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	require.Zero(t, testing.AllocsPerRun(100, func() { Gamma{4.2, 0.94}.Rand(r) }))
}

func ExampleGamma() {
	g := Gamma{Shape: 10.46, Scale: 0.4871} // log gaps of the Lublin-Feitelson model
	fmt.Printf("mean %.2f, P(X <= 5) = %.2f\n", g.Mean(), g.CDF(5))
	// Output: mean 5.10, P(X <= 5) = 0.52
}
