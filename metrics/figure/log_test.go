package figure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"pgregory.net/rapid"
)

func TestColumnsOfArrivalsAreAsHighAsTheirShares(t *testing.T) {
	l := &Log{Clock: "UTC"}
	l.Hours[0], l.Hours[23] = 30, 10
	l.Days[0], l.Days[6] = 1, 3 // Sunday, Saturday
	f := l.arrivals()
	svg := string(write(t, f, "svg"))
	height := func(b [4]float64) float64 { return b[3] - b[2] }
	hours := bars(t, svg, "#0072B2")
	require.Len(t, hours, 24)
	require.InDelta(t, 3*height(hours[23]), height(hours[0]), 0.01)
	require.Zero(t, height(hours[5]))
	days := bars(t, svg, "#D55E00")
	require.Len(t, days, 7)
	require.InDelta(t, 3*height(days[6]), height(days[5]), 0.01, "Saturday comes before Sunday")
	require.Contains(t, svg, ">Mo<")
	require.Contains(t, svg, "By the clock of UTC.")

	l.Clock = ""
	svg = string(write(t, l.arrivals(), "svg"))
	days = bars(t, svg, "#D55E00")
	require.InDelta(t, 3*height(days[0]), height(days[6]), 0.01, "day 0 comes first")
	require.NotContains(t, svg, ">Mo<")
	require.Contains(t, svg, "It is not known")
}

func TestStepsAreThoseOfTheDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 5, 60, 5000}).Draw(t, "n")
		d := Distribution{}
		total := int64(0)
		for i := range n {
			count := int64(1 + (i*7919)%13)
			d.Values, d.Counts = append(d.Values, float64(1+i*i)), append(d.Counts, count)
			total += count
		}
		xy := append(points{{X: 1}}, d.ecdf(math.Log10)...)
		require.Less(t, len(xy), 2100)
		require.Equal(t, plotter.XY{X: 1}, xy[0])
		require.InDelta(t, 1, xy[len(xy)-1].Y, 1e-9)
		require.Equal(t, d.Values[n-1], xy[len(xy)-1].X)
		at, sum := 0, int64(0)
		for i, v := range d.Values {
			sum += d.Counts[i]
			for at+1 < len(xy) && xy[at+1].X <= v {
				at++
			}
			exact := float64(sum) / float64(total)
			if n <= 2000 {
				require.InDelta(t, exact, xy[at].Y, 1e-9)
			} else {
				require.InDelta(t, exact, xy[at].Y, 0.002)
			}
		}
	})
}

func TestWeeksInWhichNothingComesAreDrawnAsNothing(t *testing.T) {
	l := &Log{
		Sizes: Distribution{[]float64{1}, []int64{1}}, Runtimes: Distribution{[]float64{60}, []int64{1}},
		Weeks: []LoadOfWeek{{Week: 0, Offered: 0.5}, {Week: 3, Offered: 1.5}},
	}
	all, err := DrawLog(l)
	require.NoError(t, err)
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"arrivals", "sizes-and-runtimes", "load-by-week"}, names, "there are no estimates")
	f := all[2]
	require.Equal(t, []float64{0, 4, 0, 1.5}, []float64{f.Panels[0].X.Min, f.Panels[0].X.Max, f.Panels[0].Y.Min, f.Panels[0].Y.Max})
	require.Len(t, f.legend, 1, "there is no schedule in the log")
	f.legend = nil
	line := drawn(t, string(write(t, f, "svg")), "#0072B2")
	ys := map[float64]int{}
	for _, p := range line {
		ys[math.Round(p[1])]++
	}
	require.Len(t, ys, 3, "half, nothing, and one and a half")
}

func TestTheLastTenthIsDrawnLast(t *testing.T) {
	l := &Log{Accuracy: []float64{0.2, 0, 0, 0, 0, 0, 0, 0, 0, 0.8}}
	all := bars(t, string(write(t, l.accuracy(), "svg")), "#0072B2")
	require.InDelta(t, 4*(all[0][3]-all[0][2]), all[9][3]-all[9][2], 0.01)
}

func TestALogWithoutJobsIsNotDrawn(t *testing.T) {
	_, err := DrawLog(&Log{})
	var missing *noDataError
	require.ErrorAs(t, err, &missing)
}
