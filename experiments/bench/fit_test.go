package bench_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

func TestAFitFindsThePowerThatDataWereMadeBy(t *testing.T) {
	for _, exponent := range []float64{0, 0.5, 1, 1.7, 2} {
		var x, y []float64
		for _, n := range geometric(100, 12_800, 2) {
			x, y = append(x, float64(n)), append(y, 3e-6*math.Pow(float64(n), exponent))
		}
		p, err := fit(x, y)
		require.NoError(t, err)
		require.InDelta(t, exponent, p.exponent, 1e-12)
		require.InEpsilon(t, 3e-6, p.factor, 1e-9)
		require.InDelta(t, 0, p.sigma, 1e-9)
	}
}

func TestTheErrorOfAFitIsHowFarExponentsScatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var exponents, variances []float64
	for range 20_000 {
		var x, y []float64
		for _, n := range geometric(10, 1000, 3) { // 5 points, 3 of them free
			x, y = append(x, float64(n)), append(y, math.Pow(float64(n), 1.2)*math.Exp(0.1*r.NormFloat64()))
		}
		p, err := fit(x, y)
		require.NoError(t, err)
		exponents, variances = append(exponents, p.exponent), append(variances, p.sigma*p.sigma)
	}
	require.InDelta(t, 1.2, stat.Mean(exponents, nil), 0.002)
	require.InEpsilon(t, stat.Variance(exponents, nil), stat.Mean(variances, nil), 0.05)
}

func TestWhatHasNoPowerIsRefused(t *testing.T) {
	for _, c := range []struct{ x, y []float64 }{
		{[]float64{1, 2}, []float64{1, 2}},
		{[]float64{1, 2, 3}, []float64{1, 2}},
		{[]float64{1, 2, 0}, []float64{1, 2, 3}},
		{[]float64{1, 2, 3}, []float64{1, 2, -3}},
		{[]float64{1, 2, math.NaN()}, []float64{1, 2, 3}},
		{[]float64{7, 7, 7}, []float64{1, 2, 3}},
	} {
		_, err := fit(c.x, c.y)
		require.Error(t, err)
	}
}

// What is counted is the same each time that a work is done, and on every machine; and
// there is no growth of what has one size.
func TestWorksOfGrowthDoTheSameEachTime(t *testing.T) {
	for _, c := range charts() {
		for _, v := range c.curves {
			require.GreaterOrEqual(t, len(v.sizes), 4, v.name)
			for i := 2; i < len(v.sizes); i++ {
				require.Equal(t, v.sizes[1]*v.sizes[i-1], v.sizes[0]*v.sizes[i], v.name)
			}
			do, err := v.of(v.sizes[0]).begin()
			require.NoError(t, err)
			first, err := do()
			require.NoError(t, err)
			again, err := do()
			require.NoError(t, err)
			require.Equal(t, first, again, v.name)
		}
	}
}

func TestGrowthIsMeasuredFittedWrittenAndDrawn(t *testing.T) {
	c := charts()[1]
	require.Equal(t, "slots", c.name)
	c.curves = c.curves[:1]
	g := c.measure(t, 2400)
	require.Len(t, g.points[0], 3)
	rows := g.rows()
	require.Len(t, rows, 3)
	for i, row := range rows {
		require.Len(t, row, len(growthHeader))
		require.Equal(t, []string{"slots", "AMP"}, row[:2])
		size, err := strconv.ParseFloat(row[2], 64)
		require.NoError(t, err)
		require.InEpsilon(t, g.points[0][i].Counts["slots"], size, 1e-4)
		require.Positive(t, g.points[0][i].CPU)
		require.GreaterOrEqual(t, g.points[0][i].Peak, g.points[0][i].Given)
	}
	f, err := g.draw()
	require.NoError(t, err)
	require.Equal(t, "growth-slots", f.Name)
	require.True(t, slices.IsSorted(g.measured[0].Size))
	require.Contains(t, g.measured[0].Name, "AMP: ")
}
