package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

func TestFiellersIntervalCoversTheRatio(t *testing.T) {
	r := des.NewStream(1, 0, "ratios")
	const runs = 2000
	covered := 0
	for range runs {
		x, y := make([]float64, 12), make([]float64, 12)
		for i := range x {
			shared := 3 * r.NormFloat64()
			x[i], y[i] = 12+shared+r.NormFloat64(), 10+shared+r.NormFloat64()
		}
		e, err := Ratio(x, y, 0.95)
		require.NoError(t, err)
		if e.Low <= 1.2 && 1.2 <= e.High {
			covered++
		}
	}
	require.InDelta(t, 0.95, float64(covered)/runs, 0.02)
}

func TestARatioToWhatMayBeZeroHasNoBounds(t *testing.T) {
	e, err := Ratio([]float64{1, 2, 3}, []float64{-1, 0.5, 2}, 0.95)
	require.NoError(t, err)
	require.Equal(t, Estimate{Value: 4, Low: math.Inf(-1), High: math.Inf(1), N: 3}, e)
}

func TestMeanIsThatOfMoments(t *testing.T) {
	var m Moments
	for _, v := range []float64{1, 2, 4} {
		m.Add(v)
	}
	require.Equal(t, m.Interval(0.95), Mean([]float64{1, 2, 4}, 0.95))
}

func TestALevelThatIsNoneGivesNoInterval(t *testing.T) {
	for _, level := range []float64{0, 1, 1.5, -1, 95, math.NaN()} {
		require.Equal(t, math.Inf(1), Mean([]float64{1, 2, 4}, level).HalfWidth, "%v", level)
		require.Equal(t, math.Inf(1), BatchMeans([]float64{1, 2, 3, 5}, 2, level).HalfWidth, "%v", level)
	}
}

func TestNumbersWhoseSquaresAreNoneAreRefused(t *testing.T) {
	huge := []float64{1e308, -1e308, 1e308}
	_, err := Compare(huge, []float64{1, 2, 3}, 0.95)
	require.ErrorContains(t, err, "the first values: number 1 is 1e+308: a number within ±1e+100 is wanted")
	_, err = Ratio([]float64{1, 2, 3}, huge, 0.95)
	require.ErrorContains(t, err, "the second values: number 1")
	_, err = Effects([]Factor{{Name: "a", Levels: []string{"x", "y", "z"}}}, nil, huge)
	require.ErrorContains(t, err, "number 1 is 1e+308")
}
