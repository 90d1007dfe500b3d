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

// points are in data coordinates, all of them finite.
type points = plotter.XYs

// path is a line through points.
func path(xy points, style draw.LineStyle) *plotter.Line {
	return &plotter.Line{XYs: xy, LineStyle: style}
}

// steps are the corners of a line that keeps each y until the next x.
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

// marks are points with the markers of the i-th series.
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

// DataRange implements plot.DataRanger.
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

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.SetColor(s.fill)
	c.Fill(c.Rectangle.Path())
}

// spread is a horizontal interval around a point, drawn at the height y.
type spread struct {
	lo, at, hi, y float64
	series        int
}

// spreads are points with their intervals.
type spreads []spread

// Plot implements plot.Plotter.
func (s spreads) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const cap = 2 // points
	for _, v := range s {
		style := solid(colour(v.series), vg.Points(lineWidth))
		if v.hi > v.lo {
			c.StrokeLine2(style, x(v.lo), y(v.y), x(v.hi), y(v.y))
			c.StrokeLine2(style, x(v.lo), y(v.y)-cap, x(v.lo), y(v.y)+cap)
			c.StrokeLine2(style, x(v.hi), y(v.y)-cap, x(v.hi), y(v.y)+cap)
		}
		c.DrawGlyph(glyph(v.series), vg.Point{X: x(v.at), Y: y(v.y)})
	}
}

// DataRange implements plot.DataRanger.
func (s spreads) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, v := range s {
		xmin, xmax = min(xmin, v.lo), max(xmax, v.hi)
		ymin, ymax = min(ymin, v.y), max(ymax, v.y)
	}
	return xmin, xmax, ymin, ymax
}

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
