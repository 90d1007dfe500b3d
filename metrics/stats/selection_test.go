package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

// Table A.12 of J. Banks, J. Carson, B. Nelson and D. Nicol, Discrete-Event System
// Simulation, 5th ed. 2010. Where it says 5.797 (ten settings, five first), R's integrate finds
// 5.7953, too.
func TestRinottsConstantIsThatOfThePublishedTable(t *testing.T) {
	for _, c := range []struct {
		probability float64
		first, k    int
		h           float64
	}{
		{0.90, 5, 2, 2.291}, {0.90, 20, 10, 3.437}, {0.95, 5, 10, 5.7953}, {0.95, 10, 2, 2.614},
		{0.95, 10, 8, 4.106}, {0.95, 20, 10, 3.875}, {0.95, 50, 2, 2.373}, {0.975, 10, 8, 4.635},
	} {
		require.InDelta(t, c.h, rinott(c.k, c.first, c.probability), 0.0006, "%+v", c)
	}
}

// chosen runs a procedure on settings of which number best is better than all others by the
// indifference and no more, until it chooses. It returns the choice and all replications that
// were made.
func chosen(t *testing.T, by func([][]float64) (Choice, error), first int, draw func(x [][]float64, i int)) (Choice, int) {
	x := make([][]float64, 5)
	for i := range x {
		for range first {
			draw(x, i)
		}
	}
	for {
		c, err := by(x)
		require.NoError(t, err)
		if c.Best >= 0 {
			made := 0
			for i := range x {
				made += len(x[i])
			}
			return c, made
		}
		for i := range x {
			for len(x[i]) < c.Needed[i] {
				draw(x, i)
			}
		}
	}
}

func TestSelectionsAreRightAsOftenAsTheyPromise(t *testing.T) {
	const runs, best = 300, 2
	right, made := map[string]int{}, map[string]int{}
	for run := range uint64(runs) {
		s := Selection{Probability: 0.9, Indifference: 1, First: 10, Largest: run%2 == 1}
		mean := func(i int) float64 {
			switch {
			case i != best:
				return 20
			case s.Largest:
				return 21
			}
			return 19
		}
		seen := func(name string, c Choice, n int) {
			made[name] += n
			if c.Best == best {
				right[name]++
			}
		}
		own := des.NewStream(1, run, "own seeds")
		c, n := chosen(t, s.Rinott, s.First, func(x [][]float64, i int) {
			x[i] = append(x[i], mean(i)+float64(i+1)*own.NormFloat64())
		})
		seen("Rinott", c, n)
		for name, shared := range map[string]float64{"KN": 0, "KN on common random numbers": 3} {
			c, n := chosen(t, s.KimNelson, s.First, func(x [][]float64, i int) {
				j := uint64(len(x[i]))
				common := shared * des.NewStream(1, run, "common", j).NormFloat64()
				own := math.Sqrt(16-shared*shared) * des.NewStream(1, run, "own", j, uint64(i)).NormFloat64()
				x[i] = append(x[i], mean(i)+common+own)
			})
			seen(name, c, n)
		}
	}
	for _, name := range []string{"Rinott", "KN", "KN on common random numbers"} {
		require.GreaterOrEqual(t, float64(right[name])/runs, 0.87, name)
	}
	require.Less(t, float64(right["Rinott"])/runs, 0.96, "more replications than are needed")
	require.Less(t, made["KN on common random numbers"], made["KN"]*6/10)
}

func TestAChoiceStaysWhenMoreReplicationsComeIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 5).Draw(t, "settings")
		x := make([][]float64, k)
		for i := range x {
			x[i] = rapid.SliceOfN(rapid.Float64Range(0, 10), 60, 60).Draw(t, "replications")
		}
		s := Selection{Probability: 0.9, Indifference: rapid.Float64Range(0.5, 8).Draw(t, "indifference"), First: 5, Largest: rapid.Bool().Draw(t, "largest")}
		for _, by := range []func([][]float64) (Choice, error){s.Rinott, s.KimNelson} {
			all, err := by(x)
			require.NoError(t, err)
			part := make([][]float64, k)
			for i := range x {
				part[i] = x[i][:5]
			}
			for range 1000 {
				c, err := by(part)
				require.NoError(t, err)
				if c.Best >= 0 {
					require.Equal(t, all, c)
					return
				}
				for i := range x {
					if c.Needed[i] > len(x[i]) {
						require.Negative(t, all.Best)
						return
					}
					part[i] = x[i][:c.Needed[i]]
				}
			}
			t.Fatal("no end")
		}
	})
}

func TestAVerdictOnAChoiceStatesWhatIsPromised(t *testing.T) {
	s := Selection{Probability: 0.95, Indifference: 5, First: 3}
	x := [][]float64{{100, 110, 90, 95}, {50, 61, 40, 48}, {48, 60, 41, 49}}
	names := []string{"fcfs", "easy", "sjbf"}
	c, err := s.KimNelson(x)
	require.NoError(t, err)
	require.Equal(t, Choice{Best: 2, Needed: []int{3, 3, 3}, In: []int{2}, Means: []float64{100, 151.0 / 3, 149.0 / 3}}, c)
	require.Equal(t, "sjbf, a right choice with probability 0.95 at least if no other is within 5 of the best", s.Verdict(c, names))
	c, err = s.Rinott(x)
	require.NoError(t, err)
	require.Equal(t, -1, c.Best)
	require.Equal(t, "not decided; replications that are needed of what may be the best: fcfs (163), easy (180), sjbf (150)", s.Verdict(c, names))
}

// h² is 18: with S² = 1 and an indifference of 2 no more than 4.5 replications are needed to tell
// the two apart, so that the fifth decides whatever it is.
func TestSettingsThatStayAlikeAreDecidedByTheLastReplication(t *testing.T) {
	s := Selection{Probability: 0.95, Indifference: 2, First: 3}
	x := [][]float64{{1, -1, 0, 0}, {0, 0, 0, 0}}
	c, err := s.KimNelson(x)
	require.NoError(t, err)
	require.Equal(t, Choice{Best: -1, Needed: []int{5, 5}, In: []int{0, 1}, Means: []float64{0, 0}}, c)
	x[0], x[1] = append(x[0], 0.5), append(x[1], 0)
	c, err = s.KimNelson(x)
	require.NoError(t, err)
	require.Equal(t, Choice{Best: 1, Needed: []int{5, 5}, In: []int{1}, Means: []float64{0.1, 0}}, c)
}

// The third is seen to be worse than the first, not than the second, from which it differs with
// more spread; the first is out by the same step.
func TestASettingIsHeldAgainstThoseThatGoOutWithIt(t *testing.T) {
	s := Selection{Probability: 0.95, Indifference: 1, First: 3}
	c, err := s.KimNelson([][]float64{{7, 5, 6}, {0, 0, 0}, {14, 10, 12}})
	require.NoError(t, err)
	require.Equal(t, Choice{Best: 1, Needed: []int{3, 3, 3}, In: []int{1}, Means: []float64{6, 0, 12}}, c)
}

func TestADifferenceThatIsTooSmallToBeSeenNeedsMoreReplicationsThanThereCanBe(t *testing.T) {
	s := Selection{Probability: 0.95, Indifference: 1e-9, First: 3}
	x := [][]float64{{1e9, 2e9, 3e9}, {2e9, 1e9, 4e9}}
	c, err := s.Rinott(x)
	require.NoError(t, err)
	require.Equal(t, -1, c.Best)
	require.Equal(t, []int{math.MaxInt32, math.MaxInt32}, c.Needed)
	c, err = s.KimNelson(x)
	require.NoError(t, err)
	require.Equal(t, -1, c.Best)
	require.Equal(t, []int{4, 4}, c.Needed)
}

func TestWhatCannotBeSelectedIsAnError(t *testing.T) {
	x := [][]float64{{1, 2, 3}, {2, 3, 4}}
	good := Selection{Probability: 0.9, Indifference: 1, First: 3}
	for _, c := range []struct {
		change func(*Selection)
		x      [][]float64
		want   string
	}{
		{func(*Selection) {}, x[:1], "selecting: there are 1 settings: at least 2 are wanted"},
		{func(s *Selection) { s.Probability = 0.5 }, x, "selecting: the probability of a right choice is 0.5: a number between 0.5 and 1 is wanted"},
		{func(s *Selection) { s.Indifference = 0 }, x, "selecting: the smallest difference that matters is 0: a positive number is wanted"},
		{func(s *Selection) { s.First = 1 }, x, "selecting: variances are to be estimated from 1 replications: at least 2 are wanted"},
		{func(s *Selection) { s.First = 4 }, x, "selecting: setting 1 has 3 replications: the first 4 are wanted of all"},
		{func(*Selection) {}, [][]float64{{1, 2, 3}, {2, math.NaN(), 4}}, "selecting: setting 2: number 2 is NaN: a finite number is wanted"},
	} {
		s := good
		c.change(&s)
		_, err := s.Rinott(c.x)
		require.EqualError(t, err, c.want)
		_, err = s.KimNelson(c.x)
		require.EqualError(t, err, c.want)
	}
}
