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

const (
	panelWidth  = 13 * vg.Centimeter
	panelHeight = 8 * vg.Centimeter
	panelGap    = 5 * vg.Millimeter
	widestBar   = 1 * vg.Centimeter
)

var (
	paperColor = color.RGBA{R: 0xbb, G: 0xbb, B: 0xbb, A: 0xff}
	codeColor  = color.RGBA{R: 0x88, G: 0xaa, B: 0xcc, A: 0xff}
	oursColor  = color.RGBA{R: 0x22, G: 0x55, B: 0x88, A: 0xff}
)

// against stands in a quantity's name before what it is shown against.
const against = " against "

// WriteSVG draws the table's figures.
func (t *Table) WriteSVG(w io.Writer) error { return t.draw(w, "svg") }

// WritePDF draws the table's figures.
func (t *Table) WritePDF(w io.Writer) error { return t.draw(w, "pdf") }

func (t *Table) draw(w io.Writer, format string) error {
	all := &drawing.Figure{Columns: 1, Width: panelWidth, Height: panelHeight, Gap: panelGap}
	for _, q := range quantities(t.Rows) {
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

// quantities lists them in the order in which rows have them.
func quantities(rows []Row) []string {
	var list []string
	for _, r := range rows {
		if !slices.Contains(list, r.Quantity) {
			list = append(list, r.Quantity)
		}
	}
	return list
}

// panel draws one quantity, or returns nil where nothing was observed.
func (t *Table) panel(quantity string) (*plot.Plot, error) {
	var rows []Row
	lines := false
	for _, r := range t.Rows {
		if r.Quantity == quantity && r.Ours.N > 0 {
			rows = append(rows, r)
			lines = lines || r.Point != ""
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text = t.Name
	p.Y.Label.Text = quantity
	p.Legend.Top = true
	if lines {
		p.X.Label.Text = t.XLabel
		if _, what, ok := strings.Cut(quantity, against); ok {
			p.X.Label.Text = what
		}
		return p, drawLines(p, rows)
	}
	return p, drawBars(p, rows)
}

// errorPoints are means with their intervals.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

func (e *errorPoints) add(x float64, r Row) {
	half := r.Ours.HalfWidth
	if r.Ours.N < 2 {
		half = 0
	}
	e.XYs = append(e.XYs, plotter.XY{X: x, Y: r.Ours.Mean})
	e.YErrors = append(e.YErrors, struct{ Low, High float64 }{half, half})
}

func drawLines(p *plot.Plot, rows []Row) error {
	var series []string
	for _, r := range rows {
		if !slices.Contains(series, r.name()) {
			series = append(series, r.name())
		}
	}
	for i, name := range series {
		var ours errorPoints
		var published plotter.XYs
		for _, r := range rows {
			if r.name() != name {
				continue
			}
			ours.add(r.X, r)
			for _, s := range []string{r.Paper, r.Code} {
				if f, ok := parseFigure(s); ok {
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

func drawBars(p *plot.Plot, rows []Row) error {
	var names []string
	var paper, code, heights plotter.Values
	hasPaper, hasCode := false, false
	for _, r := range rows {
		names = append(names, r.name())
		a, okA := parseFigure(r.Paper)
		b, okB := parseFigure(r.Code)
		hasPaper, hasCode = hasPaper || okA, hasCode || okB
		paper, code, heights = append(paper, a.value), append(code, b.value), append(heights, r.Ours.Mean)
	}
	groups := 1
	if hasPaper {
		groups++
	}
	if hasCode {
		groups++
	}
	width := min(0.7*panelWidth/vg.Length(len(rows)*groups+1), widestBar)
	offset := -width * vg.Length(groups-1) / 2
	add := func(values plotter.Values, name string, c color.Color) error {
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
	if hasPaper {
		if err := add(paper, "paper", paperColor); err != nil {
			return err
		}
	}
	if hasCode {
		if err := add(code, "authors' code", codeColor); err != nil {
			return err
		}
	}
	if err := add(heights, "ours", oursColor); err != nil {
		return err
	}
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

// intervals are the half widths of rows at 0, 1, ..., moved by offset. (Plotter's
// own error bars cannot be moved by a length, as bars are.)
type intervals struct {
	rows   []Row
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
		half := r.Ours.HalfWidth
		if r.Ours.N < 2 {
			half = 0
		}
		ymin, ymax = min(ymin, r.Ours.Mean-half), max(ymax, r.Ours.Mean+half)
	}
	return 0, float64(len(v.rows) - 1), ymin, ymax
}
