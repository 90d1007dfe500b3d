package figure

// What is drawn: lines, bands, bars, points.

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// points are in data coordinates. Invariant: all are finite.
type points = plotter.XYs

// path is a line through points.
func path(xy points, style draw.LineStyle) *plotter.Line {
	return &plotter.Line{XYs: xy, LineStyle: style}
}

// steps returns the corners of a line that keeps each y until the next x.
func steps(xy points) points {
	var all points
	for i, p := range xy {
		if i > 0 {
			all = append(all, plotter.XY{X: p.X, Y: xy[i-1].Y})
		}
		all = append(all, p)
	}
	return all
}

// marks are points with the marker and the colour of the i-th series.
func marks(xy points, i int) *plotter.Scatter {
	return &plotter.Scatter{XYs: xy, GlyphStyle: glyph(i)}
}

// box is a rectangle in data coordinates.
type box struct {
	x0, x1, y0, y1 float64
	fill           color.Color
}

// boxes are filled rectangles.
type boxes []box

// Plot implements plot.Plotter.
func (b boxes) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, r := range b {
		c.SetColor(r.fill)
		c.Fill(vg.Rectangle{Min: vg.Point{X: x(r.x0), Y: y(r.y0)}, Max: vg.Point{X: x(r.x1), Y: y(r.y1)}}.Path())
	}
}

// DataRange implements plot.DataRanger. Without boxes it is empty: the least is above the
// greatest.
func (b boxes) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, r := range b {
		xmin, xmax = min(xmin, r.x0), max(xmax, r.x1)
		ymin, ymax = min(ymin, r.y0), max(ymax, r.y1)
	}
	return xmin, xmax, ymin, ymax
}

// swatch is a field of colour in a legend.
type swatch struct{ fill color.Color }

// Plot implements plot.Plotter: a swatch is in the legend only.
func (swatch) Plot(draw.Canvas, *plot.Plot) {}

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.SetColor(s.fill)
	c.Fill(c.Rectangle.Path())
}

// spread is an interval around a value, drawn at the place at on the other axis. series tells its
// colour and its marker. Invariant: lo <= value <= hi.
type spread struct {
	lo, value, hi, at float64
	series            int
}

// spreads are values with their intervals, which lie or, if upright, stand.
type spreads struct {
	all     []spread
	upright bool
	width   vg.Length // of the lines
}

// Plot implements plot.Plotter.
func (s spreads) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	// cap is half the length of the line at each end of an interval.
	const cap = 2 // points
	least, ends := p.X.Min, vg.Point{Y: cap}
	place := func(value, at float64) vg.Point { return vg.Point{X: x(value), Y: y(at)} }
	if s.upright {
		least, ends = p.Y.Min, vg.Point{X: cap}
		place = func(value, at float64) vg.Point { return vg.Point{X: x(at), Y: y(value)} }
	}
	for _, v := range s.all {
		style := solid(colour(v.series), s.width)
		if v.hi > v.lo {
			lo, hi := place(max(v.lo, least), v.at), place(v.hi, v.at) // the logarithm of less than 0 is below any axis
			c.StrokeLine2(style, lo.X, lo.Y, hi.X, hi.Y)
			for _, end := range []vg.Point{lo, hi} {
				c.StrokeLine2(style, end.X-ends.X, end.Y-ends.Y, end.X+ends.X, end.Y+ends.Y)
			}
		}
		c.DrawGlyph(glyph(v.series), place(v.value, v.at))
	}
}

// DataRange implements plot.DataRanger.
func (s spreads) DataRange() (xmin, xmax, ymin, ymax float64) {
	all := make(boxes, len(s.all))
	for i, v := range s.all {
		if math.IsInf(v.lo, -1) {
			v.lo = v.value
		}
		if all[i] = (box{x0: v.lo, x1: v.hi, y0: v.at, y1: v.at}); s.upright {
			all[i] = box{x0: v.at, x1: v.at, y0: v.lo, y1: v.hi}
		}
	}
	return all.DataRange()
}

// Thumbnail implements plot.Thumbnailer: the marker of the first value.
func (s spreads) Thumbnail(c *draw.Canvas) { c.DrawGlyph(glyph(s.all[0].series), c.Center()) }

// ring is a marker around others: a thick circle.
type ring struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (ring) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(solid(sty.Color, 1.2))
	var p vg.Path
	p.Move(vg.Point{X: at.X + sty.Radius, Y: at.Y})
	p.Arc(at, sty.Radius, 0, 2*math.Pi)
	p.Close()
	c.Stroke(p)
}
