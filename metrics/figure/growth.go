package figure

// How costs grow with a size.

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Curve is the measured cost of one thing at several sizes, perhaps with a fitted power.
type Curve struct {
	// Name is its name in the legend.
	Name string
	// Size and Cost are above 0. Invariant: they are as many.
	Size, Cost []float64
	// Factor and Exponent describe the fitted power Factor size^Exponent, which is drawn as a
	// straight line beside the measurements. No line is drawn if Factor is 0.
	Factor, Exponent float64
}

// Growth draws costs over sizes, both on logarithmic axes, on which a power of the size is a
// straight line: the greater its exponent, the steeper the line. The labels size and cost name
// quantity and unit.
func Growth(size, cost string, curves []Curve) (*Figure, error) {
	var all []series
	for i, c := range curves {
		measured := c.points()
		if len(measured) == 0 {
			continue
		}
		s := draws(c.Name, marks(measured, i))
		if c.Factor > 0 {
			s.shapes = append(s.shapes, path(c.line(measured), line(i)))
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, &noDataError{"growth", "cost that was measured"}
	}
	f := column(60 * vg.Millimeter)
	f.Note = "Both axes are logarithmic."
	return f.show(panel{x: axis{size, asPowers}, y: axis{cost, asPowers}, series: all}), nil
}

// asPowers makes an axis a logarithmic one with room at both ends.
func asPowers(a *plot.Axis) {
	const room = 1.15
	a.Scale, a.Tick.Marker = plot.LogScale{}, ticker(powersOfTen)
	a.Min, a.Max = a.Min/room, a.Max*room
}

// points returns what was measured, by size; logarithmic axes have no place for what is not above
// 0.
func (c *Curve) points() (all points) {
	for i := range min(len(c.Size), len(c.Cost)) {
		if x, y := c.Size[i], c.Cost[i]; x > 0 && y > 0 && !math.IsInf(x, 1) && !math.IsInf(y, 1) {
			all = append(all, plotter.XY{X: x, Y: y})
		}
	}
	slices.SortFunc(all, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	return all
}

// line returns the ends of the power over what was measured.
func (c *Curve) line(measured points) points {
	var ends points
	for _, at := range []float64{measured[0].X, measured[len(measured)-1].X} {
		ends = append(ends, plotter.XY{X: at, Y: c.Factor * math.Pow(at, c.Exponent)})
	}
	return ends
}
