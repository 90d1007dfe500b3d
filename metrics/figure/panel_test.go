package figure

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/metrics/rows"
)

func TestALegendSaysWhatAnEarlierPanelSaidOnce(t *testing.T) {
	of := func(name string, i int) series { return draws(name, path(points{{}, {X: 1, Y: 1}}, line(i))) }
	f := column(30*vg.Millimeter).show(
		panel{series: []series{of("a", 0), of("a", 1), of("", 2)}}, // two runs may have one name
		panel{series: []series{of("a", 0), of("b", 3), says("c", grey)}},
	)
	var names []string
	for _, e := range f.legend {
		names = append(names, e.name)
		require.Len(t, e.thumbs, 1)
	}
	require.Equal(t, []string{"a", "a", "b", "c"}, names)
}

func TestEndsOfAxesFollowFromTheData(t *testing.T) {
	for name, c := range map[string]struct {
		of       ends
		lo, hi   float64
		min, max float64
	}{
		"up to what is asked for":       {fromZero(1), 0.2, 0.4, 0, 1},
		"beyond what is asked for":      {fromZero(1), 2, 7, 0, 8},
		"below zero":                    {fromZero(1), -3, 7, -3, 8},
		"numbers":                       {asNumbers, 3, 10, 0, 10.5},
		"no numbers":                    {asNumbers, 0, 0, 0, 1},
		"room":                          {withRoom, 1, 3, 0.9, 3.1},
		"durations":                     {asDurations, 100, 1000, 60, 1100},
		"durations, not clearly below":  {asDurations, 61, 1000, 20, 1100},
		"durations of less than 0.05 s": {asDurations, 0, 0.05, 0, 60},
		"durations from zero":           {asDurationsFromZero, 100, 1000, 0, 1100},
		"factors":                       {asFactors, 3, 50, 1, 55},
		"powers":                        {asPowers, 1.15, 10, 1, 11.5},
		"means that begin near zero":    {paddedMeans, 1, 10, 0, 10.4},
		"means far from zero":           {paddedMeans, 8, 10, 7.92, 10.08},
		"logarithms":                    {asLogarithms, 1, 2, 0.92, 2.08},
		"rows":                          {asRows(plot.ConstantTicks{{}, {}}), 7, 8, -0.6, 1.6},
	} {
		a := plot.Axis{Min: c.lo, Max: c.hi}
		c.of(&a)
		require.InDelta(t, c.min, a.Min, 1e-9, name)
		require.InDelta(t, c.max, a.Max, 1e-9, name)
	}
}

func TestAnOwnerHasOneColourInAllPanelsOfPrices(t *testing.T) {
	of := func(name, owner string) Rows[rows.Price] {
		return Rows[rows.Price]{name, []rows.Price{{Owner: owner, Price: 2}, {Owner: owner, Price: 3, Time: 600 * s}}}
	}
	f, err := drawPrices([]Rows[rows.Price]{of("p", "a"), of("q", "b")})
	require.NoError(t, err)
	require.Len(t, f.legend, 2)
	f.legend = nil
	svg := string(write(t, f, "svg"))
	require.NotEmpty(t, drawn(t, svg, "#0072B2"))
	require.NotEmpty(t, drawn(t, svg, "#D55E00"))
}

func TestAxesShowAllThatThereCanBe(t *testing.T) {
	queue := []Rows[rows.Level]{{"p", []rows.Level{{Busy: 50}, {Time: 9 * s}}}}
	f, err := drawUtilization(queue, 200, nil)
	require.NoError(t, err)
	require.Equal(t, 100.0, f.Panels[0].Y.Max)
	f, err = drawUtilization(queue, 0, nil)
	require.NoError(t, err)
	require.InDelta(t, 52.5, f.Panels[0].Y.Max, 1e-9)
	require.Equal(t, 0.0, everyFigure(t, "easy")["predictions"].Panels[1].Y.Min, "errors begin at 0")
}

func TestSharesOfTheVarianceAddUpToAHundred(t *testing.T) {
	figures, err := DrawStudy(found(t, 1), "sensitivity")
	require.NoError(t, err)
	sum := 0.0
	for _, row := range figures[0].Numbers.Rows {
		sum += row[0]
	}
	require.InDelta(t, 100, sum, 1e-6)
}
