package figure

// A figure as data: panels, their axes, and the series in them; and the one text that makes plots
// and a legend of these.

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one system of coordinates and what is drawn in it.
type panel struct {
	title string
	x, y  axis
	// series are drawn in this order.
	series []series
	// height is the height of the panel's row. If it is 0, the row has the height of the figure's rows.
	height vg.Length
}

// axis is the label of an axis, its quantity and unit, and the ends that it has.
type axis struct {
	label string
	// ends sets the ends, the scale and the ticks. It is called when all series are there: Min and
	// Max are then those of the data, and stay so if ends is nil.
	ends ends
}

// ends is a rule that sets what an axis shows, such as asDurations.
type ends func(*plot.Axis)

// series has one name in the legend: a line and its markers, bars of one colour. A series without a
// name is not in the legend.
type series struct {
	name   string
	shapes []plot.Plotter
}

// draws returns a series of these shapes.
func draws(name string, shapes ...plot.Plotter) series { return series{name, shapes} }

// says returns a series that is in the legend only, as a field of that colour.
func says(name string, fill color.Color) series { return draws(name, swatch{fill}) }

// show adds panels to the figure, below or beside those that it has, and their series to the
// legend. A name that an earlier panel has said is not said again.
func (f *Figure) show(panels ...panel) *Figure {
	for _, p := range panels {
		drawn := newPanel(p.title, p.x.label, p.y.label)
		earlier := len(f.legend)
		for _, s := range p.series {
			drawn.Add(s.shapes...)
			e := entry{name: plain(s.name)}
			if s.name == "" || slices.ContainsFunc(f.legend[:earlier], func(said entry) bool { return said.name == e.name }) {
				continue
			}
			for _, shape := range s.shapes {
				if thumb, ok := shape.(plot.Thumbnailer); ok {
					e.thumbs = append(e.thumbs, thumb)
				}
			}
			f.legend = append(f.legend, e)
		}
		if p.x.ends != nil {
			p.x.ends(&drawn.X)
		}
		if p.y.ends != nil {
			p.y.ends(&drawn.Y)
		}
		f.Panels = append(f.Panels, drawn)
		if p.height > 0 {
			f.heights = append(f.heights, p.height)
		}
	}
	return f
}

// column returns a figure of panels below each other, each of that height.
func column(height vg.Length) *Figure {
	return &Figure{Columns: 1, Width: columnWidth, Height: height, Gap: gap, aligned: true}
}

// inPairs returns a figure of panels in two columns, each of that height.
func inPairs(height vg.Length) *Figure {
	return &Figure{Columns: 2, Width: columnWidth/2 - gap/2, Height: height, Gap: gap, aligned: true}
}

// between gives an axis its ends and, if there are any, its ticks.
func between(lo, hi float64, ticks ...plot.Tick) ends {
	return func(a *plot.Axis) {
		a.Min, a.Max = lo, hi
		if len(ticks) > 0 {
			a.Tick.Marker = plot.ConstantTicks(ticks)
		}
	}
}

// asRows are the ends of an axis of rows with these labels, at 0, 1, 2 ...
func asRows(ticks plot.ConstantTicks) ends { return between(-0.6, float64(len(ticks))-0.4, ticks...) }

// asPercent are the ends of an axis of parts of a whole.
var asPercent = between(0, 100)

// fromZero has an axis begin at 0, or at the least value below 0, and end at a round number that is
// no less than the greatest value and atLeast.
func fromZero(atLeast float64) ends {
	return func(a *plot.Axis) { a.Min, a.Max = min(0, a.Min), niceAbove(max(a.Max, atLeast)) }
}

// asNumbers has an axis of numbers of things begin at 0 and end a little above the greatest.
func asNumbers(a *plot.Axis) { a.Min, a.Max = 0, max(1, float64(a.Max*1.05)) }

// withRoom lets an axis go beyond its values by a twentieth of them.
func withRoom(a *plot.Axis) {
	more := max((a.Max-a.Min)*0.05, 1e-9)
	a.Min, a.Max = a.Min-more, a.Max+more
}

// asDurations makes an axis an axis of durations in seconds. It begins at the last tick that is
// clearly below the least one, and shows a minute at least.
func asDurations(a *plot.Axis) {
	least := a.Min
	a.Scale, a.Tick.Marker = durationScale{}, ticker(durationTicks)
	a.Min, a.Max = 0, max(60, a.Max*1.1)
	for _, t := range moreDurations {
		if t.Value <= least*0.95 {
			a.Min = t.Value
		}
	}
}

// asDurationsFromZero makes an axis an axis of durations that begins at 0 whatever the least is.
func asDurationsFromZero(a *plot.Axis) {
	a.Min = 0
	asDurations(a)
}

// asFactors makes an axis of factors a logarithmic one, from 1 to beyond the greatest. The least
// factor is 1 whatever the data are.
func asFactors(a *plot.Axis) {
	a.Scale, a.Tick.Marker = plot.LogScale{}, ticker(powersOfTen)
	a.Min, a.Max = 1, max(10, a.Max*1.1)
}

// asClasses are the ends of an axis of classes, from the first to the last.
func asClasses(first, last int, name func(class int) string) ends {
	// At most about ten classes have labels: more have no room.
	every := 1 + (last-first)/10
	var ticks []plot.Tick
	for c := first; c <= last; c++ {
		t := plot.Tick{Value: float64(c)}
		if (c-first)%every == 0 {
			t.Label = name(c)
		}
		ticks = append(ticks, t)
	}
	return between(float64(first)-0.5, float64(last)+0.5, ticks...)
}

// turned turns the labels of an axis by an angle, so that long ones have room.
func turned(of ends, angle float64, yalign draw.YAlignment) ends {
	return func(a *plot.Axis) {
		of(a)
		a.Tick.Label.Rotation, a.Tick.Label.XAlign, a.Tick.Label.YAlign = angle, draw.XRight, yalign
	}
}
