package sweep

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestASampleHasASizeAndDimensions(t *testing.T) {
	for _, a := range []Axis{Random(0, 1, Dimension{Name: "k", Max: 1}), LatinHypercube(3, 1)} {
		require.ErrorContains(t, a.Check(), "a sample needs a size of 1 or more and something to draw")
	}
}

// A Latin hypercube has a point in each of size parts of equal weight of each
// dimension: the definition, counted.
func TestALatinHypercubeHasAPointInEachStratum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 60).Draw(t, "size")
		from := rapid.Float64Range(0.01, 1000).Draw(t, "from")
		to := from * rapid.Float64Range(1.001, 1000).Draw(t, "factor")
		a := LatinHypercube(size, rapid.Uint64().Draw(t, "seed"),
			Dimension{Name: "linear", Min: -from, Max: to},
			Dimension{Name: "log", Min: from, Max: to, Log: true},
			Dimension{Name: "whole", Min: -3, Max: float64(size) - 4, Whole: true}.orChoice(size),
			Dimension{Name: "choice", Choices: []string{"a", "b", "c"}})
		require.NoError(t, a.Check())
		require.Len(t, a.Points, size)
		var linear, log []float64
		wholes, choices := map[string]int{}, map[string]int{}
		for _, p := range a.Points {
			linear = append(linear, (number(t, p[0])+from)/(to+from))
			log = append(log, math.Log(number(t, p[1])/from)/math.Log(to/from))
			wholes[p[2]]++
			choices[p[3]]++
		}
		oneInEach(t, linear)
		oneInEach(t, log)
		require.Len(t, wholes, size)
		for _, n := range choices {
			require.LessOrEqual(t, n, size/3+2)
		}
	})
}

// orChoice is a dimension that has one value where a range of one whole number would
// be none.
func (d Dimension) orChoice(size int) Dimension {
	if size == 1 {
		return Dimension{Name: d.Name, Choices: []string{"-3"}}
	}
	return d
}

// oneInEach holds the sorted parts of a range to be one in each stratum; numbers are
// rounded, so that one may lie a hair's breadth beyond a border.
func oneInEach(t *rapid.T, u []float64) {
	slices.Sort(u)
	for i, x := range u {
		require.GreaterOrEqual(t, x, float64(i)/float64(len(u))-1e-6)
		require.LessOrEqual(t, x, float64(i+1)/float64(len(u))+1e-6)
	}
}

func number(t require.TestingT, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}

func TestARandomSampleFillsItsRanges(t *testing.T) {
	const size = 4000
	a := Random(size, 3, Dimension{Name: "u", Min: 2, Max: 4}, Dimension{Name: "log", Min: 1, Max: 1e4, Log: true},
		Dimension{Name: "whole", Min: 1, Max: 4, Whole: true}, Dimension{Name: "logwhole", Min: 1, Max: 7, Log: true, Whole: true})
	require.NoError(t, a.Check())
	sum, logs := 0.0, 0.0
	counts, logCounts := map[string]int{}, map[string]int{}
	for _, p := range a.Points {
		sum += number(t, p[0])
		logs += math.Log10(number(t, p[1]))
		counts[p[2]]++
		logCounts[p[3]]++
	}
	// Within four standard errors of the uniform distribution's mean.
	require.InDelta(t, 3, sum/size, 4*2/math.Sqrt(12*size))
	require.InDelta(t, 2, logs/size, 4*4/math.Sqrt(12*size))
	require.Len(t, counts, 4)
	for _, n := range counts {
		require.InDelta(t, size/4, n, 4*math.Sqrt(size*0.25*0.75))
	}
	require.InDelta(t, size*math.Log(2)/math.Log(8), logCounts["1"], 4*math.Sqrt(size/4))
	require.InDelta(t, size*math.Log(8.0/7)/math.Log(8), logCounts["7"], 4*math.Sqrt(size/16))
}

func TestASampleIsThatOfItsSeed(t *testing.T) {
	d := []Dimension{{Name: "x", Min: 0.001, Max: 1, Log: true}, {Name: "k", Min: 1, Max: 64, Whole: true}}
	require.Equal(t, LatinHypercube(5, 1, d...).Points, LatinHypercube(5, 1, d...).Points)
	require.NotEqual(t, LatinHypercube(5, 1, d...).Points, LatinHypercube(5, 2, d...).Points)
	require.NotEqual(t, Random(5, 1, d...).Points, Random(5, 2, d...).Points)
	require.Equal(t, [][]string{{"0.0338678", "28"}, {"0.0171032", "36"}}, LatinHypercube(2, 7, d...).Points, "the same on every machine")
}

func TestASampleOfFewPossibilitiesIsWithoutRepetition(t *testing.T) {
	coin := Dimension{Name: "coin", Choices: []string{"heads", "tails"}}
	a := Random(2, 1, coin)
	require.NoError(t, a.Check())
	require.ElementsMatch(t, [][]string{{"heads"}, {"tails"}}, a.Points)
	require.EqualError(t, Random(3, 1, coin).Check(), "a sample of 3 points of coin: its values do not give so many different ones: ask for fewer")
}

func TestRangesThatMeanNothingAreRefused(t *testing.T) {
	for want, d := range map[string]Dimension{
		"x: want a range from a lower number to a higher one, not 2 to 2":            {Name: "x", Min: 2, Max: 2},
		"x: want a range from a lower number to a higher one, not NaN to 1":          {Name: "x", Min: math.NaN(), Max: 1},
		"x: on a logarithmic scale a range begins above 0, not at 0":                 {Name: "x", Max: 1, Log: true},
		"x: a range of whole numbers has whole ends, not 0.5 and 3":                  {Name: "x", Min: 0.5, Max: 3, Whole: true},
		"x: want a range from a lower number to a higher one, not -1e+308 to 1e+308": {Name: "x", Min: -1e308, Max: 1e308},
	} {
		require.EqualError(t, Random(1, 1, d).Check(), want)
	}
}
