package figure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPowerOfTheSizeIsAStraightLineThroughWhatWasMeasured(t *testing.T) {
	c := Curve{Name: "square", Size: []float64{1000, 10, 100}, Factor: 0.5, Exponent: 2}
	for _, n := range c.Size {
		c.Cost = append(c.Cost, 0.5*n*n)
	}
	f, err := Growth("nodes", "time, s", []Curve{c})
	require.NoError(t, err)
	svg := string(write(t, f, "svg"))
	var line []string
	for _, m := range lines.FindAllStringSubmatch(svg, -1) {
		if m[2] == "#0072B2" && len(pairs.FindAllString(m[1], -1)) == 2 {
			line = append(line, m[1])
		}
	}
	require.Len(t, line, 2, "in the legend, and in the panel")
	ends := pairs.FindAllStringSubmatch(line[len(line)-1], -1)
	require.Less(t, number(t, ends[0][1]), number(t, ends[1][1]), "from the least size on")
	p := f.Panels[0]
	at := func(v float64) float64 { return p.Y.Norm(v) }
	require.InDelta(t, 0.5, (at(0.5*100*100)-at(0.5*10*10))/(at(0.5*1000*1000)-at(0.5*10*10)), 1e-9)
	require.Less(t, p.X.Min, 10.0)
	require.Greater(t, p.Y.Max, 0.5*1e6)
	require.Equal(t, points{{X: 10, Y: 50}, {X: 1000, Y: 500_000}}, c.line(c.points()))
	require.Equal(t, svg, string(write(t, f, "svg")))
	require.Contains(t, svg, ">square</text>")
}

func TestLogarithmicAxesLeaveOutWhatIsNotAboveZero(t *testing.T) {
	c := Curve{Name: "a", Size: []float64{0, 10, 20, math.Inf(1), 40}, Cost: []float64{1, 0, 3, 4}}
	require.Equal(t, points{{X: 20, Y: 3}}, c.points())
	f, err := Growth("nodes", "s", []Curve{c, {Name: "none"}})
	require.NoError(t, err)
	require.Len(t, f.legend, 1)
	require.NotPanics(t, func() { write(t, f, "png") })
	_, err = Growth("nodes", "s", []Curve{{Name: "none"}})
	require.ErrorContains(t, err, "no cost that was measured")
}
