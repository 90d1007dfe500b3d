package figure

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/findings"
)

// found are the findings of two policies at loads and under estimates, on six seeds.
func found(t require.TestingT, effect float64) *findings.Findings {
	var b strings.Builder
	b.WriteString("policy,load,estimates,seed,mean_wait\n")
	for _, policy := range []string{"easy", "sjbf"} {
		for i, load := range []string{"0.7", "1e0", "0.8"} {
			for _, estimates := range []string{"user", "<exact>"} {
				r := rand.New(rand.NewPCG(uint64(i), uint64(policy[0])))
				for seed := range 6 {
					v := 100*float64(i+1) + float64(10*seed) + r.Float64()
					if policy == "sjbf" && i > 0 {
						v += effect
					}
					fmt.Fprintf(&b, "%s,%s,%s,%d,%v\n", policy, load, estimates, seed, v)
				}
			}
		}
	}
	return analyzed(t, b.String())
}

func analyzed(t require.TestingT, text string) *findings.Findings {
	table, err := findings.Read(strings.NewReader(text), "results.csv")
	require.NoError(t, err)
	f, err := findings.Analyze(table, findings.Options{})
	require.NoError(t, err)
	return f
}

func svgOf(t require.TestingT, f *Figure) string {
	var b bytes.Buffer
	require.NoError(t, f.Write(&b, "svg"))
	return b.String()
}

func TestAStudyHasAFigureOfEachKindAndMeasure(t *testing.T) {
	figures, err := DrawStudy(found(t, -20))
	require.NoError(t, err)
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
		require.Equal(t, svgOf(t, f), svgOf(t, f))
	}
	require.Equal(t, []string{"lines-mean_wait", "heat-mean_wait", "differences-mean_wait", "sensitivity-mean_wait"}, names)
	require.Contains(t, svgOf(t, figures[0]), "estimates &lt;exact&gt;")
}

func TestALogarithmicAxisHasThePlacesOfLogarithms(t *testing.T) {
	figures, err := DrawStudy(found(t, 0), "lines:y=log")
	require.NoError(t, err)
	p := figures[0].Panels[0]
	for _, tick := range p.Y.Tick.Marker.Ticks(1.8, 2.6) {
		require.InDelta(t, number(t, tick.Label), math.Pow(10, tick.Value), 1e-9)
		require.True(t, tick.Value >= 1.8 && tick.Value <= 2.6)
	}
	require.Len(t, p.Y.Tick.Marker.Ticks(1.8, 2.6), 2, "100, 200")
	require.Len(t, p.Y.Tick.Marker.Ticks(1.6, 2.6), 3, "50, 100, 200")
	require.InDelta(t, 2, p.Y.Min, 0.1, "the least mean is some 120")
	require.InDelta(t, 2.6, p.Y.Max, 0.1, "and the greatest some 330")

	zero := analyzed(t, "policy,load,seed,mean_wait\na,1,1,0\na,2,1,5\nb,1,1,1\nb,2,1,2\n")
	_, err = DrawStudy(zero, "lines:y=log")
	require.ErrorContains(t, err, "mean wait, s is 0 or less")
	_, err = DrawStudy(zero, "lines:x=log")
	require.ErrorContains(t, err, "lines:y=log")
}

func TestAFigureOfAStudyShowsWhatIsAskedFor(t *testing.T) {
	f := found(t, -20)
	o := f.Options
	o.Where = []findings.Param{{Name: "estimates", Value: "user"}, {Name: "load", Value: "0.7"}, {Name: "load", Value: "0.8"}}
	f, err := findings.Analyze(f.Results, o)
	require.NoError(t, err)
	figures, err := DrawStudy(f, "lines", "differences")
	require.NoError(t, err)
	require.Len(t, figures[0].Panels, 1)
	require.Contains(t, svgOf(t, figures[0]), "over 6 seeds")
	differences := svgOf(t, figures[1])
	require.NotContains(t, differences, "exact")
	require.NotContains(t, differences, "1e0")
	require.Contains(t, differences, "sjbf 0.8 user")
}

func TestLinesGoFromTheLeastNumberToTheGreatest(t *testing.T) {
	f := found(t, 0)
	grids, err := f.Grids(findings.Pivot{Columns: []string{"load"}})
	require.NoError(t, err)
	l, marks := lineOf(&grids[0], 0, 0, false)
	require.Equal(t, []float64{0.7, 0.8, 1}, []float64{l.XYs[0].X, l.XYs[1].X, l.XYs[2].X})
	for i, c := range []int{0, 2, 1} { // as the columns stand in the table
		e := grids[0].Entries[0][c].Estimate
		require.Equal(t, e.Mean, l.XYs[i].Y)
		require.InDelta(t, e.HalfWidth, marks.all[i].hi-marks.all[i].value, 1e-9)
		require.InDelta(t, e.HalfWidth, marks.all[i].value-marks.all[i].lo, 1e-9)
	}
}

func TestHeatMapsSayInPerCentWhatComparisonsSay(t *testing.T) {
	f := found(t, -20)
	figure, err := heatOf(f, 0, false)
	require.NoError(t, err)
	require.Len(t, figure.Panels, 1, "of the baseline there is none")
	svg := svgOf(t, figure)
	for i := range f.Comparisons {
		c := &f.Comparisons[i]
		text := signed(c.Percent.Value)
		if c.Verdict.Significant() {
			text += "*"
		}
		require.Contains(t, svg, ">"+text+"<")
	}
	require.Contains(t, svg, "*<")
}

func TestBetterIsBlueAndWorseIsRed(t *testing.T) {
	h := heat{relative: true, least: -50, greatest: 20, direction: -1}
	require.Greater(t, h.fill(-50).B, h.fill(-50).R)
	require.Greater(t, h.fill(20).R, h.fill(20).B)
	require.Equal(t, white, h.fill(0))
	h.direction = 1
	require.Greater(t, h.fill(20).B, h.fill(20).R)
}

func TestFiguresOfWhatDoesNotVaryAreNotDrawn(t *testing.T) {
	f := analyzed(t, "policy,seed,mean_wait\na,1,1\na,2,2\nb,1,3\nb,2,5\n")
	var none *noDataError
	for _, name := range []string{"lines", "heat"} {
		_, err := DrawStudy(f, name)
		require.ErrorAs(t, err, &none, name)
	}
	figures, err := DrawStudy(f)
	require.NoError(t, err)
	require.Len(t, figures, 2)
	_, err = DrawStudy(analyzed(t, "policy,seed,mean_wait\na,1,1\na,2,2\n"))
	require.ErrorContains(t, err, "nothing that could be drawn")
	var unknown *enum.UnknownError
	_, err = DrawStudy(f, "pie")
	require.ErrorAs(t, err, &unknown)
}

func TestWhateverAStudyHoldsCanBeDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "policy,x,y,seed,mean_wait,other\n"
		rows := map[string]bool{}
		value := rapid.OneOf(rapid.Just("0"), rapid.Just(""), rapid.Just("-5"), rapid.Just("1e100"), rapid.Just("1e-300"), rapid.Map(rapid.Float64Range(-1e6, 1e6), func(v float64) string { return fmt.Sprint(v) }))
		for range rapid.IntRange(1, 40).Draw(t, "rows") {
			id := fmt.Sprintf("%s,%s,%s,%d", rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "policy"), rapid.SampledFrom([]string{"1", "2", "0"}).Draw(t, "x"), rapid.SampledFrom([]string{"u", "v"}).Draw(t, "y"), rapid.IntRange(1, 6).Draw(t, "seed"))
			if !rows[id] {
				rows[id] = true
				text += id + "," + value.Draw(t, "wait") + "," + value.Draw(t, "other") + "\n"
			}
		}
		table, err := findings.Read(strings.NewReader(text), "results.csv")
		require.NoError(t, err)
		f, err := findings.Analyze(table, findings.Options{})
		if err != nil {
			t.Skip(err)
		}
		figures, err := DrawStudy(f)
		if err != nil {
			return
		}
		for _, fig := range figures {
			svg := svgOf(t, fig)
			require.NotContains(t, svg, "NaN", fig.Name+"\n"+text)
			require.NotRegexp(t, `[ML ,"][+-]?Inf`, svg, fig.Name+"\n"+text)
		}
	})
}

func TestNumbersInAHeatMapAreNotCut(t *testing.T) {
	var b strings.Builder
	b.WriteString("policy,load,seed,mean_wait\n")
	for i := range 14 {
		fmt.Fprintf(&b, "easy,0.%d,1,%d\n", 100+i, 123456+i)
		fmt.Fprintf(&b, "sjbf,0.%d,1,%d\n", 100+i, 123456-i)
	}
	figures, err := DrawStudy(analyzed(t, b.String()), "heat")
	require.NoError(t, err)
	text := svgOf(t, figures[0])
	require.NotContains(t, text, "…")
	require.Contains(t, text, "rotate(90)", "nor are names of columns on top of each other")
}

func TestTheParameterWithMoreValuesGoesDownThePage(t *testing.T) {
	f := found(t, 0) // three loads, two kinds of estimates
	for _, names := range [][2]string{{"load", "estimates"}, {"estimates", "load"}} {
		rows, columns := acrossPage(f, names[0], names[1])
		require.Equal(t, []string{"load"}, rows)
		require.Equal(t, []string{"estimates"}, columns)
	}
}

func TestEachSeriesStandsOnceInTheLegend(t *testing.T) {
	figure, err := linesOf(found(t, -20), 0, false)
	require.NoError(t, err)
	require.Len(t, figure.Panels, 2, "of each kind of estimates")
	var names []string
	for _, e := range figure.legend {
		names = append(names, e.name)
		require.Len(t, e.thumbs, 2, "line and marker")
	}
	require.Equal(t, []string{"easy", "sjbf"}, names)
}

func TestAPanelIsHigherWhereTheNamesOfItsColumnsAreTurned(t *testing.T) {
	grid := func(columns int) findings.Grid {
		g := findings.Grid{RowValues: make([][]string, 3)}
		g.ColumnValues = make([][]string, columns)
		return g
	}
	_, few := heatRows([]findings.Grid{grid(mostAcross)})
	_, many := heatRows([]findings.Grid{grid(mostAcross), grid(mostAcross + 1)})
	require.InDelta(t, 29, float64(few/vg.Millimeter), 1e-9, "three rows of 5 mm and 14 mm")
	require.InDelta(t, 39, float64(many/vg.Millimeter), 1e-9, "three rows of 5 mm and 24 mm")
	_, higher := heatRows([]findings.Grid{{RowValues: make([][]string, 1)}, {RowValues: make([][]string, 4)}})
	require.InDelta(t, 34, float64(higher/vg.Millimeter), 1e-9, "the most rows count")
}

func TestAnIntervalOfAlmostAnythingLeavesTheOthersTheirRoom(t *testing.T) {
	comparison := func(mean, half float64, verdict findings.Verdict) *findings.Comparison {
		c := &findings.Comparison{BaselineMean: 100, Verdict: verdict}
		c.Difference.Mean, c.Difference.HalfWidth = mean, half
		return c
	}
	all, lowest, highest := differenceSpreads([]*findings.Comparison{
		comparison(-10, 2, findings.Better), comparison(4, 1000, findings.Unclear), comparison(5, math.Inf(1), findings.TooFew), comparison(20, 3, findings.Worse),
	})
	require.Equal(t, []spread{
		{lo: -12, value: -10, hi: -8, at: 3, series: 0}, {lo: -30, value: 4, hi: 30, at: 2, series: 4},
		{lo: 5, value: 5, hi: 5, at: 1, series: 4}, {lo: 17, value: 20, hi: 23, at: 0, series: 1},
	}, all)
	require.Equal(t, []float64{-30, 30}, []float64{lowest, highest}, "one and a half times the greatest difference")
}
