package figure

// What all figures look like: fonts, colours, lines, and axes with their ticks.

import (
	"image/color"
	"math"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	columnWidth = 82 * vg.Millimeter // of a panel; with half a gap on either side it is 85
	gap         = 3 * vg.Millimeter
	// lineWidth and the sizes of text are in points.
	lineWidth  = 1 // points
	labelSize  = 8
	tickSize   = 7
	legendSize = 7.5
	noteSize   = 6
)

var (
	white = color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	grey  = color.RGBA{R: 0x55, G: 0x55, B: 0x55, A: 0xff}
	pale  = color.RGBA{R: 0xdd, G: 0xdd, B: 0xdd, A: 0xff} // grid lines
)

// palette is Okabe and Ito's without yellow, which is too light for lines on white.
var palette = []color.RGBA{
	{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
	{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
	{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // bluish green
	{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // reddish purple
	{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
	{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky blue
	{A: 0xff},                            // black
}

// colour returns the colour of the i-th series; colours begin anew after the last one.
func colour(i int) color.RGBA { return palette[i%len(palette)] }

// light returns a colour mixed with two parts of white.
func light(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((int(v) + 2*255) / 3) }
	return color.RGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: 0xff}
}

// line returns the style of the i-th series. Dashes differ, too, for print without colours; where
// the colours begin anew, other dashes go with them.
func line(i int) draw.LineStyle {
	dashes := [][]vg.Length{nil, {4, 1.5}, {1.2, 1.2}, {5, 1.5, 1.2, 1.5}, {8, 2}, {2.5, 1}}
	return draw.LineStyle{Color: colour(i), Width: vg.Points(lineWidth), Dashes: dashes[(i+i/len(palette))%len(dashes)]}
}

// solid returns a line of that colour, without dashes.
func solid(c color.Color, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width}
}

// glyph returns the marker of the i-th series. There are eight shapes and seven colours: 56 series
// differ.
func glyph(i int) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
	return draw.GlyphStyle{Color: colour(i), Radius: vg.Points(1.8), Shape: shapes[i%len(shapes)]}
}

// textStyle returns the sans serif of that many points.
func textStyle(points vg.Length) text.Style {
	return text.Style{
		Color: color.Black, Handler: plot.DefaultTextHandler,
		Font: plotfont.Font{Typeface: "Liberation", Variant: "Sans", Size: points},
	}
}

// newPanel returns an empty panel with the pale grid; the labels name quantity and unit.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	// The page has its background.
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = plain(title), x, y
	setFont := func(s *text.Style, points vg.Length) { s.Font = textStyle(points).Font }
	setFont(&p.Title.TextStyle, labelSize)
	p.Title.Padding = 1
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		setFont(&a.Label.TextStyle, labelSize)
		setFont(&a.Tick.Label, tickSize)
		a.Label.Padding, a.Padding, a.Tick.Length = 1, 0, 2.5
		a.Tick.Marker = ticker(decimalTicks)
	}
	p.Add(grid{})
	return p
}

// plain returns a name as it can stand on paper: on one line, valid UTF-8, and without signs that
// control a printer or the direction of text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		// Signs of the class Cf are invisible, and turn the direction of what follows.
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// grid draws pale lines at the labelled ticks, but not on the edges of the panel.
type grid struct{}

func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: pale, Width: vg.Points(0.4)}
	x, y := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if at := x(t.Value); t.Label != "" && t.Value > p.X.Min && t.Value < p.X.Max {
			c.StrokeLine2(style, at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if at := y(t.Value); t.Label != "" && t.Value > p.Y.Min && t.Value < p.Y.Max {
			c.StrokeLine2(style, c.Min.X, at, c.Max.X, at)
		}
	}
}

// ticker makes the ticks of an axis that goes from lo to hi.
type ticker func(lo, hi float64) []plot.Tick

// Ticks implements plot.Ticker.
func (t ticker) Ticks(lo, hi float64) []plot.Tick { return t(lo, hi) }

// decimalTicks returns three to six ticks at steps of 1, 2 or 5 times a power of ten, both ends of
// the axis included if they are multiples of the step. A float64 cannot tell the ticks of a very
// short axis apart: it has none.
func decimalTicks(lo, hi float64) (ticks []plot.Tick) {
	step := niceStep((hi - lo) / 5)
	if hi-lo < 1e-12*math.Abs(hi) || math.IsInf(hi-lo, 0) { // no numbers between them
		return nil
	}
	for k := math.Ceil(lo/step - 1e-9); float64(k*step) <= hi+1e-9*step; k++ {
		v := float64(k*step) + 0 // never -0
		ticks = append(ticks, plot.Tick{Value: v, Label: short(v)})
	}
	return ticks
}

// niceStep returns the least 1, 2 or 5 times a power of ten that is no less than x > 0, apart from
// an error of rounding.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// niceAbove returns the end of an axis for values up to x > 0: the least multiple of a nice step.
func niceAbove(x float64) float64 {
	step := niceStep(x / 5)
	return step * math.Ceil(x/step-1e-9)
}

// short writes a number for a tick: 2500000 is "2.5 M". From 10000 on numbers have a unit.
func short(v float64) string {
	unit := ""
	switch a := math.Abs(v); {
	case a >= 1e9:
		v, unit = v/1e9, " G"
	case a >= 1e6:
		v, unit = v/1e6, " M"
	case a >= 1e4:
		v, unit = v/1e3, " k"
	}
	return strconv.FormatFloat(v, 'g', 6, 64) + unit
}

// powersOfTen returns the ticks of a logarithmic axis from lo > 0 to hi. About six of them have
// labels; within two decades there are 2 and 5 times each power, too.
func powersOfTen(lo, hi float64) (ticks []plot.Tick) {
	// every is the number of decades between two labels.
	every := max(1, int(math.Ceil((math.Log10(hi)-math.Log10(lo))/6)))
	add := func(v float64, label bool) {
		if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
			return
		}
		t := plot.Tick{Value: v}
		if label {
			t.Label = short(v)
		}
		ticks = append(ticks, t)
	}
	for k := int(math.Floor(math.Log10(lo))); float64(k) <= math.Log10(hi)+1e-9; k++ {
		v := math.Pow10(k)
		add(v, k%every == 0)
		if hi < 100*lo { // too few powers by themselves
			add(2*v, true)
			add(5*v, true)
		}
	}
	return ticks
}

// durationScale is a scale of durations: linear from 0 to ten seconds, because many waits are 0
// and 0 needs a place, and logarithmic beyond. Both parts meet with the same value:
//
//	seconds  0        10       100      1000
//	place    0        1        2        3
type durationScale struct{}

const linearBelow = 10 // s

// place returns where a duration in seconds stands: the part of ten seconds, or the decades from
// there on.
func (durationScale) place(seconds float64) float64 {
	if seconds <= linearBelow {
		return seconds / linearBelow
	}
	return 1 + math.Log10(seconds/linearBelow)
}

// Normalize implements plot.Normalizer.
func (s durationScale) Normalize(lo, hi, x float64) float64 {
	return (s.place(x) - s.place(lo)) / (s.place(hi) - s.place(lo))
}

// durations are the ticks of a durationScale, moreDurations are more for where these are few.
var (
	// durations are shown if more than two of them lie on the axis, otherwise moreDurations.
	durations = []plot.Tick{
		{Value: 0, Label: "0"}, {Value: 10, Label: "10 s"}, {Value: 60, Label: "1 min"}, {Value: 600, Label: "10 min"},
		{Value: 3600, Label: "1 h"}, {Value: 36000, Label: "10 h"}, {Value: 2 * 86400, Label: "2 d"}, {Value: 20 * 86400, Label: "20 d"},
		{Value: 200 * 86400, Label: "200 d"}, {Value: 2000 * 86400, Label: "2000 d"},
	}
	moreDurations = []plot.Tick{
		{Value: 0, Label: "0"}, {Value: 5, Label: "5 s"}, {Value: 10, Label: "10 s"}, {Value: 20, Label: "20 s"}, {Value: 60, Label: "1 min"},
		{Value: 120, Label: "2 min"}, {Value: 300, Label: "5 min"}, {Value: 600, Label: "10 min"}, {Value: 1200, Label: "20 min"},
		{Value: 3600, Label: "1 h"}, {Value: 2 * 3600, Label: "2 h"}, {Value: 5 * 3600, Label: "5 h"}, {Value: 10 * 3600, Label: "10 h"},
		{Value: 86400, Label: "1 d"}, {Value: 2 * 86400, Label: "2 d"}, {Value: 5 * 86400, Label: "5 d"}, {Value: 10 * 86400, Label: "10 d"},
		{Value: 20 * 86400, Label: "20 d"}, {Value: 50 * 86400, Label: "50 d"}, {Value: 100 * 86400, Label: "100 d"}, {Value: 200 * 86400, Label: "200 d"},
	}
)

// durationTicks returns the ticks of an axis of durations; it has few labels, each in a round
// unit.
func durationTicks(lo, hi float64) []plot.Tick {
	within := func(all []plot.Tick) (ticks []plot.Tick) {
		for _, t := range all {
			if t.Value >= lo && t.Value <= hi {
				ticks = append(ticks, t)
			}
		}
		return ticks
	}
	if ticks := within(durations); len(ticks) > 2 {
		return ticks
	}
	return within(moreDurations)
}

// hoursOfDay are the ticks of an axis of hours, from midnight to midnight.
var hoursOfDay = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 6, Label: "6"}, {Value: 12, Label: "12"}, {Value: 18, Label: "18"}, {Value: 24, Label: "24"}}

// noClock is the note of a figure of hours and days that are not those of a clock.
const noClock = "It is not known what the clock showed at time 0: hours are those since then, modulo 24, and days modulo 7."

// timeUnit returns the unit in which a span of that many seconds is told best: its size in seconds
// and its name. A span has four units at least.
func timeUnit(seconds float64) (size float64, name string) {
	switch {
	case seconds >= 4*86400:
		return 86400, "days"
	case seconds >= 4*3600:
		return 3600, "hours"
	case seconds >= 4*60:
		return 60, "minutes"
	}
	return 1, "seconds"
}
