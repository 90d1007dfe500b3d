package reproduce

// Gantt charts: where the windows of several searches lie among the same owners'
// tasks, as in DEP18's figures 2 and 4.

import (
	"context"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// Gantt is a chart of one environment: a panel a search, a row a node.
type Gantt struct {
	Environment vo.Environment
	Request     entity.Request
	Algorithms  []Algorithm
}

// placementGantt is DEP18's figures 2 and 4 on a domain small enough to be seen.
// The paper's own nodes and tasks are not published as numbers.
func placementGantt() Gantt {
	g := Gantt{
		Environment: vo.DEP18(), Request: vo.DEP18Request(),
		Algorithms: []Algorithm{
			{Name: "FirstFit", Finder: firstFit()},
			{Name: "DEP", Finder: window.Best{Settings: dep18Knapsack, By: window.DEP{}}},
			{Name: "COORD", Finder: window.Best{Settings: dep18Knapsack, By: window.COORD{}}},
		},
	}
	g.Environment.Nodes.Count = 20
	g.Request.Nodes, g.Request.Budget = 4, 92*4
	return g
}

// ganttOf is the chart that goes with e's figures, if one does.
func ganttOf(e Experiment) (Gantt, bool) {
	s, ok := e.(Search)
	return s.Gantt, ok && len(s.Gantt.Algorithms) > 0
}

const ganttEnding = "-gantt.svg"

// bar is a rectangle of a chart.
type bar struct {
	node     int // position in the environment
	from, to float64
	window   bool // not an owner's task
}

// bars are the owners' tasks and those of w, in time units.
func bars(in *vo.Instance, w entity.Window) []bar {
	var all []bar
	for i, n := range in.Nodes {
		for _, s := range in.Tasks[i] {
			all = append(all, bar{i, s.Start.Seconds(), s.End.Seconds(), false})
		}
		for _, t := range w.Tasks {
			if t.Node == n {
				all = append(all, bar{i, w.Start.Seconds(), t.End.Seconds(), true})
			}
		}
	}
	return all
}

// ganttTries is in how many environments windows are looked for.
const ganttTries = 1000

// draw draws the first environment in which every search finds a window.
func (g Gantt) draw(ctx context.Context, seed uint64) (*vo.Instance, []entity.Window, error) {
	for cycle := range uint64(ganttTries) {
		in, err := g.Environment.Generate(seed, cycle)
		if err != nil {
			return nil, nil, err
		}
		var windows []entity.Window
		for _, a := range g.Algorithms {
			found, err := a.Finder.Find(ctx, g.Request, in.SlotList(), in.End)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			if found.OK {
				windows = append(windows, found.Window)
			}
		}
		if len(windows) == len(g.Algorithms) {
			return in, windows, nil
		}
	}
	return nil, nil, fmt.Errorf("in none of %d environments do all the searches find a window", ganttTries)
}

// WriteSVG writes the chart: time from left to right, owners' tasks grey, windows
// in colour, with the means of their distances above each panel.
func (g Gantt) WriteSVG(ctx context.Context, w io.Writer, seed uint64) error {
	in, windows, err := g.draw(ctx, seed)
	if err != nil {
		return err
	}
	var panels [][]*plot.Plot
	for i, a := range g.Algorithms {
		panels = append(panels, []*plot.Plot{ganttPanel(a.Name, in, windows[i])})
	}
	c := vgsvg.New(1.5*panelWidth, vg.Length(len(panels))*(1.25*panelHeight+panelGap))
	tiles := draw.Tiles{Cols: 1, Rows: len(panels), PadY: panelGap,
		PadTop: panelGap / 2, PadBottom: panelGap / 2, PadLeft: panelGap / 2, PadRight: panelGap / 2}
	for i, canvases := 0, plot.Align(panels, tiles, draw.New(c)); i < len(panels); i++ {
		panels[i][0].Draw(canvases[i][0])
	}
	_, err = c.WriteTo(w)
	return err
}

func ganttPanel(name string, in *vo.Instance, w entity.Window) *plot.Plot {
	p := plot.New()
	least, most := distances(w, in.SlotList().Slots)
	p.Title.Text = fmt.Sprintf("%s: L min %.1f, L max %.1f", name, least, most)
	p.X.Label.Text, p.Y.Label.Text = "time", "node (performance)"
	var rows []string
	for _, n := range in.Nodes {
		rows = append(rows, fmt.Sprintf("%d (%v)", n.ID, n.Perf))
	}
	p.NominalY(rows...)
	p.Add(ganttBars{bars(in, w), len(in.Nodes), in.End.Seconds()})
	return p
}

// ganttBars are the rectangles of one panel.
type ganttBars struct {
	bars  []bar
	nodes int
	until float64
}

// Plot implements plot.Plotter.
func (g ganttBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, b := range g.bars {
		fill := color.Color(paperColor)
		if b.window {
			fill = oursColor
		}
		left, right, low, high := x(b.from), x(b.to), y(float64(b.node)-0.4), y(float64(b.node)+0.4)
		c.FillPolygon(fill, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
	}
}

// DataRange implements plot.DataRanger.
func (g ganttBars) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0, g.until, -0.5, float64(g.nodes) - 0.5
}
