package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics"
)

func TestQuantilesLieWithinTheirBoundsAndBoundsAreObservations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-100, 100), 1, 60).Draw(t, "x")
		p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		e, err := Quantile(x, p, 0.9)
		require.NoError(t, err)
		for _, bound := range []float64{e.Low, e.High} {
			require.True(t, math.IsInf(bound, 0) || contains(x, bound))
		}
		require.True(t, e.Low < e.High || contains(x, e.Low))
		wide, err := Quantile(x, p, 0.99)
		require.NoError(t, err)
		require.LessOrEqual(t, wide.Low, e.Low)
		require.GreaterOrEqual(t, wide.High, e.High)
	})
}

func contains(x []float64, v float64) bool {
	for _, w := range x {
		if v == w {
			return true
		}
	}
	return false
}

// Order statistics are steps: the interval covers at least as often as it says,
// and that of the median of 100 no more than 98 times in 100.
func TestIntervalsOfQuantilesCoverThem(t *testing.T) {
	r := des.NewStream(1, 0, "quantiles")
	const runs = 2000
	for _, c := range []struct{ p, most float64 }{{0.5, 0.98}, {0.9, 0.99}} {
		covered := 0
		for range runs {
			x := make([]float64, 100)
			for i := range x {
				x[i] = r.ExpFloat64()
			}
			e, err := Quantile(x, c.p, 0.95)
			require.NoError(t, err)
			if e.Contains(-math.Log(1 - c.p)) {
				covered++
			}
		}
		require.GreaterOrEqual(t, float64(covered)/runs, 0.94)
		require.LessOrEqual(t, float64(covered)/runs, c.most)
	}
}

func TestFewObservationsDoNotBoundAQuantileFarOut(t *testing.T) {
	e, err := Quantile([]float64{3, 1, 2}, 0.99, 0.95)
	require.NoError(t, err)
	require.Equal(t, Estimate{Value: 2.98, Low: 2, High: math.Inf(1), N: 3}, e)
	require.Equal(t, "2.98 (2 to +Inf)", e.String())
	_, err = Quantile(nil, 0.5, 0.95)
	require.EqualError(t, err, "a quantile of no values")
	_, err = Quantile([]float64{1, math.Inf(1)}, 50, 0.95)
	require.EqualError(t, err, "values: number 2 is +Inf: a finite number is wanted\np is 50: a number between 0 and 1 is wanted")
}

func TestTheQuantileOfRunsIsTheMeanOfTheirs(t *testing.T) {
	runs := [][]float64{{1, 2, 3}, {5, 4, 3, 2}, {9}}
	e, err := QuantileOfRuns(runs, 0.5, 0.9)
	require.NoError(t, err)
	require.Equal(t, Mean([]float64{2, 3.5, 9}, 0.9), e)
	_, err = QuantileOfRuns([][]float64{{1}, {}}, 0.5, 0.9)
	require.EqualError(t, err, "run 2: a quantile of no values")
}

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
		if e.Contains(1.2) {
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
	var m metrics.Moments
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
	s := Stopping{Relative: 0.1, Level: 3, Minimum: 2}
	s.Add(1)
	s.Add(2)
	require.False(t, s.Enough())
	require.Equal(t, -1, s.Needed())
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
