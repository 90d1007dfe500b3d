package reproduce

// Figures: one panel a quantity. Where a setting varies, lines over it;
// otherwise bars, the published ones beside ours.

import (
	"cmp"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	drawing "github.com/gridslot/gridslot/metrics/figure"
)

// A figure is panels of one size in one or two columns.
const (
	panelWidth  = 13 * vg.Centimeter
	panelHeight = 8 * vg.Centimeter
	panelGap    = 5 * vg.Millimeter
	widestBar   = 1 * vg.Centimeter
)

var (
	// What was published is pale, and ours is dark; see sources for the first two.
	paperColor = color.RGBA{R: 0xbb, G: 0xbb, B: 0xbb, A: 0xff}
	codeColor  = color.RGBA{R: 0x88, G: 0xaa, B: 0xcc, A: 0xff}
	oursColor  = color.RGBA{R: 0x22, G: 0x55, B: 0x88, A: 0xff}
)

// against stands in a quantity's name before what it is shown against: "cost against performance"
// has performance on the axis of x.
const against = " against "

// draw draws the table's figures as "svg" or "pdf", a panel for each quantity.
func (t *Reproduction) draw(w io.Writer, format string) error {
	all := &drawing.Figure{Columns: 1, Width: panelWidth, Height: panelHeight, Gap: panelGap}
	for _, q := range quantities(t.rows) {
		p, err := t.panel(q)
		if err != nil {
			return err
		}
		if p != nil {
			all.Panels = append(all.Panels, p)
		}
	}
	if len(all.Panels) > 2 {
		all.Columns = 2
	}
	return all.Write(w, format)
}

// panel draws one quantity; it returns nil if nothing was observed. Rows with an X make lines over
// it, and rows without make bars.
func (t *Reproduction) panel(quantity string) (*plot.Plot, error) {
	rows := slices.DeleteFunc(ofQuantity(t.rows, quantity), func(r tableRow) bool { return r.Ours.N == 0 })
	if len(rows) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text = t.name
	p.Y.Label.Text = quantity
	p.Legend.Top = true
	if slices.ContainsFunc(rows, tableRow.hasPoint) {
		p.X.Label.Text = t.xLabel
		if _, what, ok := strings.Cut(quantity, against); ok {
			p.X.Label.Text = what
		}
		return p, drawLines(p, rows)
	}
	return p, drawBars(p, rows)
}

// half returns the half width of the interval that is drawn of a row: 0 of a single run, whose spread
// is not known.
func (r tableRow) half() float64 {
	if r.Ours.N < 2 {
		return 0
	}
	return r.Ours.HalfWidth
}

// errorPoints are means with their intervals.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

// drawLines draws a line for each series over the settings, with intervals. Published figures are
// crosses of the series' colour.
func drawLines(p *plot.Plot, rows []tableRow) error {
	for i, name := range distinct(rows, tableRow.name) {
		var ours errorPoints
		var published plotter.XYs
		for _, r := range rows {
			if r.name() != name {
				continue
			}
			ours.XYs = append(ours.XYs, plotter.XY{X: r.X, Y: r.Ours.Mean})
			ours.YErrors = append(ours.YErrors, struct{ Low, High float64 }{r.half(), r.half()})
			for _, s := range sources {
				if f, ok := parseFigure(s.of(r)); ok {
					published = append(published, plotter.XY{X: r.X, Y: f.value})
				}
			}
		}
		line, points, err := plotter.NewLinePoints(ours.XYs)
		if err != nil {
			return err
		}
		bars, err := plotter.NewYErrorBars(ours)
		if err != nil {
			return err
		}
		line.Color, points.Color, bars.Color = plotutil.Color(i), plotutil.Color(i), plotutil.Color(i)
		// Colours repeat after seven series; then the dashes tell them apart.
		line.Dashes, points.Shape = plotutil.Dashes(i/7), plotutil.Shape(i)
		p.Add(line, points, bars)
		p.Legend.Add(cmp.Or(name, "ours"), line, points)
		if len(published) > 0 {
			marks, err := plotter.NewScatter(published)
			if err != nil {
				return err
			}
			marks.Color, marks.Shape, marks.Radius = plotutil.Color(i), draw.CrossGlyph{}, vg.Points(4)
			p.Add(marks)
			p.Legend.Add(strings.TrimPrefix(name+", published", ", "), marks)
		}
	}
	return nil
}

// drawBars draws a group of bars for each row: what was published of it, if anything was, and ours
// with its interval.
//
//	paper  authors' code  ours
//	 ###       ###        #|#
func drawBars(p *plot.Plot, rows []tableRow) error {
	var names []string
	for _, r := range rows {
		names = append(names, r.name())
	}
	published := sourcesOf(rows)
	// A row without a published figure still has room for it, so that all groups are alike. The
	// bars of a group touch each other, and the group's middle is at the whole number of its row;
	// offset is the position of the next bar of every group.
	groups := vg.Length(len(published) + 1)
	width := min(0.7*panelWidth/(vg.Length(len(rows))*groups+1), widestBar)
	offset := -width * (groups - 1) / 2
	add := func(name string, c color.Color, of func(tableRow) float64) error {
		var values plotter.Values
		for _, r := range rows {
			values = append(values, of(r))
		}
		bars, err := plotter.NewBarChart(values, width)
		if err != nil {
			return err
		}
		bars.Color, bars.Offset, bars.LineStyle.Width = c, offset, 0
		offset += width
		p.Add(bars)
		p.Legend.Add(name, bars)
		return nil
	}
	for _, s := range published {
		if err := add(s.name, s.color, func(r tableRow) float64 { f, _ := parseFigure(s.of(r)); return f.value }); err != nil {
			return err
		}
	}
	if err := add("ours", oursColor, func(r tableRow) float64 { return r.Ours.Mean }); err != nil {
		return err
	}
	// The last bar that was added, at offset - width, is ours.
	p.Add(intervals{rows, offset - width})
	p.Y.Min = min(p.Y.Min, 0)
	p.Y.Max *= 1.2 // room for the legend
	p.NominalX(names...)
	if len(names) > 4 {
		p.X.Tick.Label.Rotation = 0.5
		p.X.Tick.Label.XAlign = draw.XRight
		p.X.Tick.Label.YAlign = draw.YCenter
	}
	return nil
}

// intervals are the half widths of rows at 0, 1, ..., moved by offset. (Plotter's own error bars
// cannot be moved by a length, as bars are.)
type intervals struct {
	rows   []tableRow
	offset vg.Length
}

// Plot implements plot.Plotter.
func (v intervals) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, r := range v.rows {
		if r.Ours.N < 2 {
			continue
		}
		at := x(float64(i)) + v.offset
		c.StrokeLine2(plotter.DefaultLineStyle, at, y(r.Ours.Mean-r.Ours.HalfWidth), at, y(r.Ours.Mean+r.Ours.HalfWidth))
	}
}

// DataRange implements plot.DataRanger.
func (v intervals) DataRange() (xmin, xmax, ymin, ymax float64) {
	ymin, ymax = math.Inf(1), math.Inf(-1)
	for _, r := range v.rows {
		ymin, ymax = min(ymin, r.Ours.Mean-r.half()), max(ymax, r.Ours.Mean+r.half())
	}
	return 0, float64(len(v.rows) - 1), ymin, ymax
}
