package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFitHyperErlangMeetsTheMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Moments of some hyper-Erlang distribution, so that a fit exists.
		rate := rapid.Float64Range(1e-4, 10).Draw(t, "rate")
		want := HyperErlang{
			P:     rapid.Float64Range(0.05, 0.95).Draw(t, "p"),
			Order: rapid.IntRange(1, 7).Draw(t, "order"),
			Rate1: rate,
			Rate2: rate * rapid.Float64Range(1.5, 100).Draw(t, "ratio"),
		}
		got, err := fitHyperErlang(want.moment(1), want.moment(2), want.moment(3), want.Order)
		require.NoError(t, err)
		for k := 1; k <= 3; k++ {
			require.InEpsilon(t, want.moment(k), got.moment(k), 1e-6, "moment %d", k)
		}
		require.LessOrEqual(t, got.Order, want.Order)
	})
}

// At order 5 rounding gives these moments a point of probability 4e-15, which would spoil
// the third moment.
func TestFitHyperErlangPassesOverAnOrderThatRoundingSpoils(t *testing.T) {
	want := HyperErlang{P: 0.05078125, Order: 6, Rate1: 1, Rate2: 1.801239013671875}
	got, err := fitHyperErlang(want.moment(1), want.moment(2), want.moment(3), want.Order)
	require.NoError(t, err)
	require.Equal(t, want.Order, got.Order)
}

func TestFitHyperErlangRefusesImpossibleMoments(t *testing.T) {
	for _, m := range [][3]float64{{1, 0.5, 1}, {1, 1, 1}, {-1, 2, 6}, {1, 2, 3}, {nan, 2, 6}} {
		_, err := fitHyperErlang(m[0], m[1], m[2], 10)
		require.ErrorIs(t, err, errNoFit, "%v", m)
	}
}
