package flow

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

// slowAt goes through whole seconds from a time at which the value is known.
func slowAt(c *Curve, t des.Time) float64 {
	if c.Every > 0 {
		t %= c.Every
	}
	value := c.Values[0]
	if c.Every > 0 {
		value = c.Values[len(c.Values)-1]
	}
	for i, at := range c.Times {
		if at <= t {
			value = c.Values[i]
		}
	}
	return value
}

func TestACurveIsConstantBetweenItsTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Curve{Every: des.Time(rapid.SampledFrom([]int{0, 0, 10, 17}).Draw(t, "every")) * des.Second}
		at := 0
		for range rapid.IntRange(1, 5).Draw(t, "values") {
			at += rapid.IntRange(0, 3).Draw(t, "gap")
			if c.Every > 0 && des.Time(at)*des.Second >= c.Every {
				break
			}
			c.Times, c.Values = append(c.Times, des.Time(at)*des.Second), append(c.Values, float64(rapid.IntRange(-3, 9).Draw(t, "value")))
			at++
		}
		coarse := c.Map(func(v float64) float64 { return math.Floor(v / 3) })
		for s := range 60 {
			now := des.Time(s) * des.Second
			require.Equal(t, math.Floor(c.At(now)/3), coarse.At(now), "at %v", now)
			if next := coarse.Next(now); next < des.Forever {
				require.NotEqual(t, coarse.At(now), coarse.At(next), "from %v to %v", now, next)
			}
		}
		limit := float64(rapid.IntRange(-3, 9).Draw(t, "limit"))
		const horizon = 60
		for s := range horizon {
			now := des.Time(s) * des.Second
			require.Equal(t, slowAt(c, now), c.At(now), "at %v", now)
			next := c.Next(now)
			require.Greater(t, next, now)
			for u := now + des.Second; u < min(next, horizon*des.Second); u += des.Second {
				require.Equal(t, c.At(now), c.At(u), "from %v to %v", now, next)
			}
			found := des.Forever
			for u := now; u <= now+20*des.Second && found == des.Forever; u += des.Second {
				if slowAt(c, u) <= limit {
					found = u
				}
			}
			require.Equal(t, found, c.NotAbove(limit, now), "from %v on", now)
		}
	})
}

func TestCurvesThatMakeNoSenseAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "time",
		"time,value\n":              "no line",
		"time\n1\n":                 "value",
		"time,value\n0,1\n0,2\n":    "line 3: time: want more than 0",
		"time,value\n0,x\n":         "line 2",
		"time,value\n0,1\n3600,2\n": "line 3: time: want at least 0 and less than 3600",
	} {
		_, err := ReadCurve(strings.NewReader(text), 3600*des.Second)
		require.ErrorContains(t, err, want, "%q", text)
	}
	c, err := ReadCurve(strings.NewReader("value,time\n2.5,0\n-1,7.5\n"), 0)
	require.NoError(t, err)
	require.Equal(t, &Curve{Times: []des.Time{0, 7_500_000}, Values: []float64{2.5, -1}}, c)
}

func TestACurveThatBeginsLateHoldsItsFirstValueBefore(t *testing.T) {
	c := &Curve{Times: []des.Time{des.Second, 2 * des.Second}, Values: []float64{5, 1}}
	require.Equal(t, 2*des.Second, c.NotAbove(3, 0))
	c.Every = 10 * des.Second
	require.Equal(t, 11*des.Second, c.Next(2*des.Second), "the last value holds into the next period")
}
