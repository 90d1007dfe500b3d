package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestReplicationsStopWhereTheMeanIsKnownWell(t *testing.T) {
	const runs = 1000
	for name, rule := range map[string]Stopping{"relative": {Relative: 0.1}, "absolute": {Absolute: 1}} {
		r := des.NewStream(1, 0, name)
		within, covered := 0, 0
		for range runs {
			s := rule
			require.NoError(t, s.Check())
			for !s.Enough() {
				s.Add(10 + 3*r.NormFloat64())
			}
			e := s.Interval()
			if e.Contains(10) {
				covered++
			}
			if math.Abs(e.Mean-10) <= 1 { // a tenth of the true mean, or 1
				within++
			}
			require.Zero(t, s.Needed())
		}
		require.InDelta(t, 0.935, float64(covered)/runs, 0.02, name) // looked at again and again
		require.InDelta(t, 0.945, float64(within)/runs, 0.025, name)
	}
}

// The rule as it is written: the first number, from the least on, of which the half width is
// narrow enough with the mean and the deviation of now.
func TestTheNumberNeededIsTheFirstThatIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Stopping{Minimum: rapid.IntRange(2, 12).Draw(t, "least"), Absolute: rapid.Float64Range(0.5, 4).Draw(t, "absolute")}
		for _, x := range rapid.SliceOfN(rapid.Float64Range(-5, 5), 2, 15).Draw(t, "seen") {
			s.Add(x)
		}
		n := s.seen.N()
		if s.Enough() {
			require.GreaterOrEqual(t, n, s.Minimum)
			require.LessOrEqual(t, s.Interval().HalfWidth, s.Absolute)
			require.Zero(t, s.Needed())
			return
		}
		total := s.Minimum
		for halfWidth(s.seen.StdDev(), total, 0.95) > s.Absolute {
			total++
		}
		require.Equal(t, max(1, total-n), s.Needed())
	})
}

// Law's correction: half a width of 9.09% of the estimate for 10% of what is true.
func TestARelativeErrorIsOfTheTrueMean(t *testing.T) {
	s := Stopping{Relative: 0.1, Minimum: 2}
	s.Add(99)
	s.Add(101)
	width := s.Interval().HalfWidth
	s.Relative = width/(100-width) + 1e-9
	require.True(t, s.Enough())
	s.Relative -= 2e-9
	require.False(t, s.Enough())
	s.Absolute = width
	require.True(t, s.Enough())
	s = Stopping{Relative: 0.5, Minimum: 2}
	s.Add(-99)
	s.Add(-101)
	require.True(t, s.Enough(), "the mean is below 0")
}

func TestNothingIsProjectedFromNothing(t *testing.T) {
	s := Stopping{Relative: 0.05}
	require.Equal(t, -1, s.Needed())
	s.Add(-1)
	require.Equal(t, -1, s.Needed())
	s.Add(1)
	require.Equal(t, -1, s.Needed(), "the mean is 0")
	s = Stopping{Absolute: 1}
	s.Add(3)
	s.Add(3)
	require.False(t, s.Enough(), "two of ten")
	require.Equal(t, 8, s.Needed())
	s = Stopping{Absolute: 1e-9}
	s.Add(-1e9)
	s.Add(1e9)
	require.Equal(t, -1, s.Needed(), "nobody makes so many")
}

func TestSettingsThatNeverStopAreRefused(t *testing.T) {
	for _, c := range []struct {
		s    Stopping
		want string
	}{
		{Stopping{}, "neither a relative nor an absolute half width is given: there would never be enough replications"},
		{Stopping{Relative: -1}, "the half width is to be -1 of the mean or 0: positive numbers are wanted"},
		{Stopping{Absolute: math.NaN()}, "the half width is to be 0 of the mean or NaN: positive numbers are wanted"},
		{Stopping{Absolute: 1, Level: 95}, "level is 95: a number between 0 and 1 is wanted"},
		{Stopping{Absolute: 1, Minimum: 1}, "a minimum of 1 replications: 2 are the least of which there is an interval"},
	} {
		require.EqualError(t, c.s.Check(), c.want)
	}
}
