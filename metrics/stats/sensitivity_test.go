package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestEffectsOfAGridByHand(t *testing.T) {
	factors := []Factor{
		{"policy", []string{"fcfs", "fcfs", "easy", "easy"}},
		{"load", []string{"0.7", "0.9", "0.7", "0.9"}},
	}
	effects, err := Effects(factors, nil, []float64{10, 30, 5, 11})
	require.NoError(t, err)
	// Means 20 and 8; 7.5 and 20.5; the grand mean 14; what is left over by cell 3.5.
	require.Len(t, effects, 4)
	for i, squares := range []float64{144, 169, 49, 0} {
		require.Equal(t, squares, effects[i].squares)
		require.Equal(t, squares/362, effects[i].Share)
	}
	require.Equal(t, []string{"policy", "load"}, effects[2].Factors)
	require.Empty(t, effects[3].Factors)
	require.True(t, math.IsNaN(effects[0].Test.P), "nothing is left over to test against")
}

func TestSharesOfAGridAddUpAndDoNotDependOnTheOrderOfRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factors := []Factor{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 3), 3, 3).Draw(t, "sizes")
		seeds := rapid.IntRange(1, 3).Draw(t, "seeds")
		var seed []string
		var y []float64
		for a := range sizes[0] {
			for b := range sizes[1] {
				for c := range sizes[2] {
					for s := range seeds {
						for i, v := range []int{a, b, c} {
							factors[i].Levels = append(factors[i].Levels, fmt.Sprint(v))
						}
						seed = append(seed, fmt.Sprint(s))
						y = append(y, rapid.Float64Range(-9, 9).Draw(t, "y"))
					}
				}
			}
		}
		effects, err := Effects(factors, seed, y)
		if err != nil {
			t.Skip("too few runs, or all equal")
		}
		order := rapid.Permutation(y).Draw(t, "order") // of runs, not of results
		at := map[float64][]int{}
		for i, v := range y {
			at[v] = append(at[v], i)
		}
		mixed := []Factor{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		var mixedSeed []string
		for _, v := range order {
			i := at[v][0]
			at[v] = at[v][1:]
			for k := range mixed {
				mixed[k].Levels = append(mixed[k].Levels, factors[k].Levels[i])
			}
			mixedSeed = append(mixedSeed, seed[i])
		}
		again, err := Effects(mixed, mixedSeed, order)
		require.NoError(t, err)
		sum, degrees := 0.0, 0
		for i, e := range effects {
			sum, degrees = sum+e.Share, degrees+e.Degrees
			require.GreaterOrEqual(t, e.Degrees, 0)
			require.InDelta(t, e.Share, again[i].Share, 1e-9)
			require.Equal(t, e.Degrees, again[i].Degrees)
		}
		require.InDelta(t, 1, sum, 1e-9)
		require.Equal(t, len(y)-1, degrees)
	})
}

func TestAFactorWithoutEffectIsFoundOnceInTwenty(t *testing.T) {
	r := des.NewStream(1, 0, "no effect")
	const runs = 2000
	found := 0
	for range runs {
		var a, b, seeds []string
		var y []float64
		for s := range 4 {
			u := 10 * r.NormFloat64()
			for i := range 6 {
				a, b, seeds = append(a, fmt.Sprint(i%3)), append(b, fmt.Sprint(i/3)), append(seeds, fmt.Sprint(s))
				y = append(y, u+float64(i/3)+r.NormFloat64())
			}
		}
		effects, err := Effects([]Factor{{"a", a}, {"b", b}}, seeds, y)
		require.NoError(t, err)
		if effects[0].Test.P <= 0.05 {
			found++
		}
	}
	require.InDelta(t, 0.05, float64(found)/runs, 0.015)
}

func TestWhatIsNoFullGridIsRefused(t *testing.T) {
	a, b := Factor{"a", []string{"1", "1", "2", "2"}}, Factor{"b", []string{"x", "y", "x", "y"}}
	y := []float64{1, 2, 3, 4}
	for _, c := range []struct {
		factors []Factor
		seeds   []string
		y       []float64
		want    string
	}{
		{nil, nil, y, "sensitivity: there are 0 parameters and 4 runs: at least 1 and 2 are wanted"},
		{[]Factor{a, b}, nil, y[:3], "sensitivity: there are 3 runs, and 4 of them have the parameter a"},
		{[]Factor{a, b}, []string{"1"}, y, "sensitivity: there are 4 runs and 1 seeds"},
		{[]Factor{a, {"b", []string{"x", "y", "x", "x"}}}, nil, y, "sensitivity: of 4 combinations of the parameters' values 3 are there: a full grid is wanted"},
		{[]Factor{{"a", []string{"1", "1", "2"}}}, nil, y[:3], "sensitivity: there are 1 runs with a=2, and 2 of another combination: equally many are wanted"},
		{[]Factor{a}, []string{"7", "8", "7", "9"}, y, "sensitivity: of 6 combinations of the parameters' values 4 are there: a full grid is wanted"},
		{[]Factor{a}, nil, []float64{1, 2, 3, math.NaN()}, "sensitivity: results: number 4 is NaN: a finite number is wanted"},
		{[]Factor{a}, nil, []float64{1, 1, 1, 1}, "sensitivity: all results are equal"},
	} {
		_, err := Effects(c.factors, c.seeds, c.y)
		require.EqualError(t, err, c.want)
	}
}

func TestRanksFindWhatRisesThroughout(t *testing.T) {
	r := des.NewStream(1, 0, "ranks")
	var strong, weak, none, kind Factor
	strong.Name, weak.Name, none.Name, kind.Name = "strong", "weak", "none", "kind"
	var y []float64
	for range 400 {
		a, b, c, k := r.Float64(), r.Float64(), r.Float64(), r.IntN(3)
		strong.Levels = append(strong.Levels, fmt.Sprint(a))
		weak.Levels = append(weak.Levels, fmt.Sprint(b))
		none.Levels = append(none.Levels, fmt.Sprint(c))
		kind.Levels = append(kind.Levels, []string{"x", "y", "z"}[k])
		y = append(y, math.Exp(6*a-2*b+2*float64(k%2)))
	}
	found, r2, err := RankRegression([]Factor{strong, weak, none, kind}, y)
	require.NoError(t, err)
	require.Greater(t, r2, 0.9)
	require.Greater(t, found[0].Coefficient, 0.7)
	require.Less(t, found[1].Coefficient, -0.15)
	require.InDelta(t, 0, found[2].Coefficient, 0.05)
	require.True(t, math.IsNaN(found[3].Coefficient))
	require.Greater(t, found[0].Unique, found[3].Unique)
	require.Greater(t, found[3].Unique, 0.1)
	require.Less(t, found[2].Unique, 0.01)
	require.Greater(t, found[2].Test.P, 0.05)
	require.Less(t, found[3].Test.P, 1e-6)
}

func TestParametersThatCannotBeToldApartAreRefused(t *testing.T) {
	a := Factor{"a", []string{"1", "5", "2", "4", "3"}}
	twice := Factor{"twice", []string{"2", "10", "4", "8", "6"}}
	y := []float64{3, 1, 4, 1.5, 9}
	_, _, err := RankRegression([]Factor{a, twice}, y)
	require.EqualError(t, err, "sensitivity: 5 runs do not tell the parameter twice apart from those before it")
	kinds := Factor{"kind", []string{"p", "q", "r", "s", "t"}}
	_, _, err = RankRegression([]Factor{a, kinds}, y)
	require.EqualError(t, err, "sensitivity: 5 runs do not tell the parameter kind apart from those before it")
	_, _, err = RankRegression([]Factor{a}, []float64{2, 2, 2, 2, 2})
	require.EqualError(t, err, "sensitivity: all results are equal")
	same, r2, err := RankRegression([]Factor{{"same", []string{"1", "1", "1", "1", "1"}}, a}, y)
	require.NoError(t, err)
	require.Zero(t, same[0].Alone)
	require.True(t, math.IsNaN(same[0].Test.P))
	require.InDelta(t, r2, same[1].Alone, 1e-12)
	require.InDelta(t, r2, same[1].Unique, 1e-12)
	require.InDelta(t, same[1].Correlation, same[1].Coefficient, 1e-12)
}

func TestCategoriesUnderOtherNamesAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(12, 30).Draw(t, "runs")
		a, b, load := Factor{Name: "a"}, Factor{Name: "b"}, Factor{Name: "load"}
		var y []float64
		for i := range n {
			kind := rapid.IntRange(0, 2).Draw(t, "kind")
			if i < 3 {
				kind = i
			}
			a.Levels = append(a.Levels, []string{"p", "q", "r"}[kind])
			b.Levels = append(b.Levels, []string{"x", "y", "z"}[kind])
			load.Levels = append(load.Levels, fmt.Sprint(rapid.IntRange(0, 1000).Draw(t, "load")))
			y = append(y, float64(i))
		}
		if _, _, err := RankRegression([]Factor{load, a}, y); err != nil {
			t.Skip("they cannot be told apart, either")
		}
		_, _, err := RankRegression([]Factor{load, a, b}, y)
		require.ErrorContains(t, err, "the parameter b apart")
	})
}
