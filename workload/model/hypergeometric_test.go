package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHypergeometric(t *testing.T) {
	for _, h := range []Hypergeometric{
		{50, 20, 10},
		{1000, 150, 30},              // the papers' load levels
		{30, 25, 20},                 // least possible value above 0
		{10, 3, 10},                  // everything is drawn: a constant
		{7, 0, 4},                    // nothing is marked
		{2_000_000, 900_000, 50_000}, // standard deviation 110
	} {
		t.Run(fmt.Sprint(h), func(t *testing.T) {
			lo, hi := h.support()
			checkDiscrete(t, h, lo, hi)
		})
	}
	requireRejected(t, Hypergeometric{-1, 0, 0}, Hypergeometric{5, 6, 1}, Hypergeometric{5, 1, 6}, Hypergeometric{5, -1, 1})
}

func TestHypergeometricPublishedValues(t *testing.T) {
	h := Hypergeometric{Population: 50, Marked: 20, Draws: 10}
	require.Equal(t, 4.0, h.Mean())
	require.InDelta(t, 0.2801, h.Prob(4), 5e-5)
}

func ExampleHypergeometric() {
	h := Hypergeometric{Population: 50, Marked: 20, Draws: 10}
	fmt.Printf("mean %g, P(4) = %.4f\n", h.Mean(), h.Prob(4))
	// Output: mean 4, P(4) = 0.2801
}
