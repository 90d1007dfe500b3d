package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func compared(t require.TestingT, x, y []float64) Comparison {
	c, err := Compare(x, y, 0.95)
	require.NoError(t, err)
	return c
}

func TestAVerdictSaysWhatCanBeConcluded(t *testing.T) {
	zero := make([]float64, 8)
	for _, c := range []struct {
		d    []float64
		want string
	}{
		{[]float64{-3, -4, -5, -4.5, -3.5, -4.25, -3.75, -4.125}, "lower by 4.02 ± 0.51 (p < 0.001)"},
		{[]float64{3, 4, 5, 4.5, 3.5, 4.25, 3.75, 4.125}, "higher by 4.02 ± 0.51 (p < 0.001)"},
		{[]float64{3, -4, 5, -4.5, 3.5, -4.25, 3.75, -4.125}, "not significant: -0.2 ± 3.6 (p = 0.9)"},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 200}, "not significant: 28 ± 58 (p = 0.28); by ranks it is (Wilcoxon's test, p = 0.0078)"},
		{[]float64{1, 1.25, 1.5}, "higher by 1.25 ± 0.62 (p = 0.013); by ranks not significant (Wilcoxon's test, p = 0.25)"},
		{[]float64{5, 5, 5}, "not tested: all 3 pairs differ by the same, 5"},
		{[]float64{0, 0, 0}, "equal in all 3 pairs"},
		{[]float64{7}, "not tested: 1 of at least 2 pairs"},
		{nil, "not tested: 0 of at least 2 pairs"},
	} {
		require.Equal(t, c.want, compared(t, c.d, zero[:len(c.d)]).Verdict())
	}
}

func TestRoundingIsNoChance(t *testing.T) {
	y := []float64{500.1, 6123.7, 1999.9, 17311.3, 5023.77}
	x := make([]float64, len(y))
	rounded := map[float64]bool{}
	for i := range y {
		x[i] = y[i] + 0.3
		rounded[x[i]-y[i]] = true
	}
	require.Greater(t, len(rounded), 1)
	require.Equal(t, "not tested: all 5 pairs differ by the same, 0.3", compared(t, x, y).Verdict())
}

func TestWhatCannotBeComparedIsAnError(t *testing.T) {
	_, err := Compare([]float64{1, 2}, []float64{1}, 0.95)
	require.EqualError(t, err, "comparing: pairs are wanted, but there are 2 and 1 values")
	_, err = Compare([]float64{1, 2}, []float64{1, math.NaN()}, 0.95)
	require.EqualError(t, err, "comparing: the second values: number 2 is NaN: a finite number is wanted")
	_, err = Compare([]float64{1, 2}, []float64{1, 3}, 95)
	require.EqualError(t, err, "comparing: level is 95: a number between 0 and 1 is wanted")
}

// Signs by hand: of n differences each of 2^n patterns of signs is as likely.
func TestSmallSignedRankTestsCountAllSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfNDistinct(rapid.IntRange(1, 1000), 2, 10, rapid.ID).Draw(t, "sizes")
		d := make([]float64, len(sizes))
		for i, size := range sizes {
			d[i] = float64(size)
			if rapid.Bool().Draw(t, "negative") {
				d[i] = -d[i]
			}
		}
		balance := func(signs func(i int) bool) int { // of positive over negative ranks
			sum := 0
			for i, size := range sizes {
				rank := 0
				for _, other := range sizes {
					if other <= size {
						rank++
					}
				}
				if signs(i) {
					rank = -rank
				}
				sum += rank
			}
			return max(sum, -sum)
		}
		seen := balance(func(i int) bool { return d[i] < 0 })
		asFar := 0
		for pattern := range 1 << len(sizes) {
			if balance(func(i int) bool { return pattern>>i&1 == 1 }) >= seen {
				asFar++
			}
		}
		c := compared(t, d, make([]float64, len(d)))
		require.True(t, c.Wilcoxon.Exact)
		require.InDelta(t, float64(asFar)/float64(int(1)<<len(sizes)), c.Wilcoxon.P, 1e-12)
	})
}

func TestExchangingTheSettingsChangesSignsAlone(t *testing.T) {
	value := rapid.Map(rapid.IntRange(-20, 20), func(i int) float64 { return float64(i) / 4 })
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(value, 2, 70).Draw(t, "x")
		y := rapid.SliceOfN(value, len(x), len(x)).Draw(t, "y")
		a, b := compared(t, x, y), compared(t, y, x)
		same := func(p, q float64) {
			require.True(t, p == q || math.IsNaN(p) && math.IsNaN(q) || math.Abs(p-q) < 1e-12, "%v, %v", p, q)
		}
		same(a.Difference.Mean, -b.Difference.Mean)
		same(a.T.Statistic, -b.T.Statistic)
		same(a.CohensD, -b.CohensD)
		same(a.RankBiserial, -b.RankBiserial)
		same(a.T.P, b.T.P)
		same(a.Wilcoxon.P, b.Wilcoxon.P)
	})
}

// Where there is no difference, one test in twenty finds one.
func TestTestsFindNoDifferenceWhereThereIsNone(t *testing.T) {
	r := des.NewStream(1, 0, "no difference")
	const runs = 2000
	byT, byRanks, covered := 0, 0, 0
	for range runs {
		x, y := make([]float64, 15), make([]float64, 15)
		for i := range x {
			shared := 100 * r.ExpFloat64()
			x[i], y[i] = shared+r.NormFloat64(), shared+r.NormFloat64()
		}
		c := compared(t, x, y)
		if c.Significant() {
			byT++
		}
		if c.Wilcoxon.P <= 0.05 {
			byRanks++
		}
		if c.Difference.Contains(0) {
			covered++
		}
	}
	require.InDelta(t, 0.05, float64(byT)/runs, 0.015)
	require.InDelta(t, 0.05, float64(byRanks)/runs, 0.015)
	require.Equal(t, runs, covered+byT)
}

func TestCorrectionsAreOfAllComparisons(t *testing.T) {
	y := make([]float64, 8)
	three := []Comparison{
		compared(t, []float64{3, -1, 5, 2, 3.5, 4.25, -2.75, 4}, y),
		compared(t, []float64{5, 5, 5, 5, 5, 5, 5, 5}, y), // not tested
		compared(t, []float64{3, 4, 5, 4.5, 3.5, 4.25, 3.75, 4.125}, y),
	}
	Correct(three)
	require.Equal(t, three[0].T.P, three[0].T.Adjusted)
	require.Equal(t, 2*three[2].T.P, three[2].T.Adjusted)
	require.True(t, math.IsNaN(three[1].T.Adjusted))
	require.Equal(t, 2*three[2].Wilcoxon.P, three[2].Wilcoxon.Adjusted)
}

func TestWhatIsNotSignificantAmongManyIsCalledSo(t *testing.T) {
	y := make([]float64, 8)
	two := []Comparison{
		compared(t, []float64{3, -1, 5, 2, 3.5, 4.25, -2.25, 4}, y),
		compared(t, []float64{3, -1, 5, -2, 3.5, -4.25, -2.75, 4}, y),
	}
	require.Equal(t, "higher by 2.3 ± 2.2 (p = 0.04); by ranks not significant (Wilcoxon's test, p = 0.055)", two[0].Verdict())
	require.True(t, two[0].Significant())
	Correct(two)
	require.False(t, two[0].Significant())
	require.Equal(t, "not significant: 2.3 ± 2.2 (p = 0.081)", two[0].Verdict())
}

func TestACorrectionIsNoLessThanWhatItCorrectsAndKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p")
		holm := Holm(p)
		for i := range p {
			require.LessOrEqual(t, p[i], holm[i])
			require.LessOrEqual(t, holm[i], min(1, float64(len(p))*p[i])) // Bonferroni's correction
			for j := range p {
				if p[i] < p[j] {
					require.LessOrEqual(t, holm[i], holm[j])
				}
			}
		}
	})
}

// Among forty true null hypotheses and ten false ones Holm rejects any of the forty
// in one family of twenty.
func TestACorrectionKeepsItsPromise(t *testing.T) {
	r := des.NewStream(1, 0, "families")
	const families = 1000
	anyFalse := 0
	for range families {
		p := make([]float64, 50)
		for i := range p {
			p[i] = r.Float64()
			if i >= 40 {
				p[i] /= 200
			}
		}
		if slices.ContainsFunc(Holm(p)[:40], func(v float64) bool { return v <= 0.05 }) {
			anyFalse++
		}
	}
	require.InDelta(t, 0.045, float64(anyFalse)/families, 0.02)
}
