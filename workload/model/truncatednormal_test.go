package model

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTruncatedNormal(t *testing.T) {
	for _, d := range []TruncatedNormal{
		{1.5, 0.3, 0.9, 2},    // by inversion
		{0, 1, 2, inf},        // a tail by inversion
		{0, 1, -inf, -4},      // a tail by rejection
		{10, 2, 20, 30},       // 5 to 10 sigma above
		{0, 1, 5, 5.1},        // far and narrow: uniform proposals
		{0, 1, -0.0005, 5e-4}, // narrow around the mode
		{0, 1, -inf, inf},     // not truncated at all
	} {
		t.Run(fmt.Sprint(d), func(t *testing.T) { checkContinuous(t, d, d.Min, d.Max) })
	}
	requireRejected(t, TruncatedNormal{0, 0, 0, 1}, TruncatedNormal{0, 1, 1, 1}, TruncatedNormal{0, 1, 2, 1},
		TruncatedNormal{nan, 1, 0, 1}, TruncatedNormal{0, 1, nan, 1}, TruncatedNormal{0, inf, 0, 1})
}

func TestTruncatedNormalKnownTailMean(t *testing.T) {
	// E[Z | Z > a] is the inverse Mills ratio, phi(a)/(1-Phi(a)).
	want := math.Exp(-8) / math.Sqrt(2*math.Pi) / (math.Erfc(4/math.Sqrt2) / 2)
	require.InEpsilon(t, want, TruncatedNormal{0, 1, 4, inf}.Mean(), 1e-12)
}

func ExampleTruncatedNormal() {
	// A task length: mean at the middle of [10, 150], sigma a third of the half
	// range.
	d := TruncatedNormal{Mu: 80, Sigma: 70.0 / 3, Min: 10, Max: 150}
	fmt.Printf("mean %.1f, P(X < 50) = %.3f\n", d.Mean(), d.CDF(50))
	// Output: mean 80.0, P(X < 50) = 0.098
}
