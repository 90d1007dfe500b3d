package reproduce

// Gantt charts: where the windows of several searches lie among the same owners'
// tasks, as in DEP18's figures 2 and 4.

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/workload/vo"
)

// ganttChart is a chart of one environment: a panel a search, a row a node.
type ganttChart struct {
	Environment environment
	Algorithms  []algorithm
}

// gantt returns DEP18's figures 2 and 4 on a domain that is small enough to be seen. The paper's
// own nodes and tasks are not published as numbers.
func (s searches) gantt() ganttChart {
	g := ganttChart{Environment: s.Environment}
	variation{What: "nodes"}.apply(&g.Environment, s.Gantt.Nodes)
	variation{What: "nodes wanted"}.apply(&g.Environment, s.Gantt.Wanted)
	for _, name := range s.Gantt.Algorithms {
		i := slices.IndexFunc(s.Algorithms, func(a algorithm) bool { return a.Name == name })
		g.Algorithms = append(g.Algorithms, s.Algorithms[i])
	}
	return g
}

// ganttOf returns the chart that goes with e's figures, if there is one.
func ganttOf(e Experiment) (ganttChart, bool) {
	p := e.page()
	program, err := e.program(&p)
	s, ok := program.(searches)
	if !ok || err != nil || s.Gantt.Algorithms == nil {
		return ganttChart{}, false
	}
	return s.gantt(), true
}

// ganttEnding ends the name of the chart's file, behind that of the experiment.
const ganttEnding = "-gantt.svg"

// ganttTries is in how many environments windows are looked for before the chart is given up.
const ganttTries = 1000

// draw draws environments until every search finds a window in one, and returns that with the
// windows.
func (g ganttChart) draw(ctx context.Context, seed uint64) (*vo.Instance, []plan.Found, error) {
	for cycle := range uint64(ganttTries) {
		in, err := g.Environment.Generate(seed, cycle)
		if err != nil {
			return nil, nil, err
		}
		var windows []plan.Found
		for _, a := range g.Algorithms {
			found, err := a.Search.Find(ctx, g.Environment.Request, in.SlotList(), in.End)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			if found.OK {
				windows = append(windows, found)
			}
		}
		if len(windows) == len(g.Algorithms) {
			return in, windows, nil
		}
	}
	return nil, nil, fmt.Errorf("in none of %d environments do all the searches find a window", ganttTries)
}

// writeSVG writes the chart: time from left to right, owners' tasks grey, windows
// in colour, with the means of their distances above each panel.
func (g ganttChart) writeSVG(ctx context.Context, w io.Writer, seed uint64) error {
	in, windows, err := g.draw(ctx, seed)
	if err != nil {
		return err
	}
	var panels [][]*plot.Plot
	for i, a := range g.Algorithms {
		least, most := distances(windows[i], in.SlotList().Slots)
		chart := chartOf(in, windows[i].Window)
		p := plot.New()
		p.Title.Text = fmt.Sprintf("%s: L min %.1f, L max %.1f", a.Name, least, most)
		p.X.Label.Text, p.Y.Label.Text = "time", "node (performance)"
		p.NominalY(chart.Rows...)
		p.Add(bars{chart, in.End})
		panels = append(panels, []*plot.Plot{p})
	}
	c := vgsvg.New(1.5*panelWidth, vg.Length(len(panels))*(1.25*panelHeight+panelGap))
	tiles := draw.Tiles{Cols: 1, Rows: len(panels), PadY: panelGap,
		PadTop: panelGap / 2, PadBottom: panelGap / 2, PadLeft: panelGap / 2, PadRight: panelGap / 2}
	for i, canvases := range plot.Align(panels, tiles, draw.New(c)) {
		panels[i][0].Draw(canvases[0])
	}
	_, err = c.WriteTo(w)
	return err
}

// chartOf returns a chart with a row for every node, with its performance: its owner's tasks, and
// its part of w, which has the number 1 among windows.
func chartOf(in *vo.Instance, w entity.Window) (c gantt.Chart) {
	for i, n := range in.Nodes {
		c.Rows = append(c.Rows, fmt.Sprintf("%d (%v)", n.ID, n.Perf))
		for _, s := range in.Tasks[i] {
			c.Bars = append(c.Bars, gantt.Bar{Row: i, From: s.Start, To: s.End, Mark: gantt.Owner})
		}
		for _, t := range w.Tasks {
			if t.Node == n {
				c.Bars = append(c.Bars, gantt.Bar{Row: i, From: w.Start, To: t.End, Mark: gantt.Mark(1)})
			}
		}
	}
	return c
}

// bars are the rectangles of one panel.
type bars struct {
	gantt.Chart
	until des.Time
}

// Plot implements plot.Plotter.
func (g bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, b := range g.Bars {
		fill := color.Color(oursColor)
		if b.Mark == gantt.Owner {
			fill = paperColor
		}
		// A row is a whole number on the axis of y, and its bar is 0.8 high.
		left, right, low, high := x(b.From.Seconds()), x(b.To.Seconds()), y(float64(b.Row)-0.4), y(float64(b.Row)+0.4)
		c.FillPolygon(fill, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
	}
}

// DataRange implements plot.DataRanger.
func (g bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0, g.until.Seconds(), -0.5, float64(len(g.Rows)) - 0.5
}
