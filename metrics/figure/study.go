package figure

// What a study has found: lines over a parameter, heat maps of two, differences with
// intervals, sensitivities.

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/findings"
)

// studies are the figures of findings; each is drawn once for each measure. m is the position of
// the measure in Options.Measures.
var studies = []struct {
	name, about string
	draw        func(f *findings.Findings, m int, logarithmic bool) (*Figure, error)
}{
	{"lines", "means over a parameter that is a number, a line for each of what is compared; lines:y=log for a logarithmic axis", linesOf},
	{"heat", "difference from the baseline, or mean, by two parameters", heatOf},
	{"differences", "differences from the baseline with intervals, one below the other", differencesOf},
	{"sensitivity", "what part of the variance goes with each parameter", sensitivityOf},
}

// StudyNames returns the names of the figures that DrawStudy knows, and what each shows.
func StudyNames() (names, about []string) {
	// A figure that nobody named is left out if it has no data.
	for _, s := range studies {
		names, about = append(names, s.name), append(about, s.about)
	}
	return names, about
}

// DrawStudy draws figures of findings, by their names. Without names it draws all figures for which
// there is data. It returns one figure for each measure, called NAME-MEASURE. The name
// "lines:y=log" gives lines with a logarithmic axis of means. An unknown name is an
// *enum.UnknownError. A named figure without data is a *noDataError.
func DrawStudy(f *findings.Findings, names ...string) ([]*Figure, error) {
	known, _ := StudyNames()
	names = slices.Clone(names)
	logarithmic := false
	for i, name := range names {
		if name == "lines:y=log" {
			names[i], logarithmic = "lines", true
		} else if !slices.Contains(known, name) {
			return nil, enum.Unknown("figure", name, append(known, "lines:y=log"))
		}
	}
	var all []*Figure
	for _, s := range studies {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		for m, measure := range f.Options.Measures {
			fig, err := s.draw(f, m, logarithmic)
			if err != nil && len(names) > 0 {
				return nil, err
			}
			if err == nil {
				fig.Name = s.name + "-" + measure
				all = append(all, fig)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds nothing that could be drawn: no parameter has more than one value", f.Results.Name)
	}
	return all, nil
}

// mostPanels is the most panels of a figure: more make no page.
const mostPanels = 24

// panels returns a figure of n panels of the given height, in two columns, or in one for up to two
// panels.
func panels(height vg.Length, n int) *Figure {
	f := column(height)
	f.aligned = false
	if n > 2 {
		f.Columns, f.Width = 2, columnWidth*0.85
	}
	return f
}

// others returns the parameters that vary and are not compared.
func others(f *findings.Findings) (names []string) {
	for _, i := range f.Varied() {
		name := f.Results.Params[i]
		if !slices.ContainsFunc(f.Options.Baseline, func(p findings.Param) bool { return p.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// tooMany drops the tables for which a figure has no room, and says so in the note.
func tooMany(f *Figure, grids []findings.Grid) []findings.Grid {
	if left := len(grids) - mostPanels; left > 0 {
		f.Note = strings.TrimSpace(f.Note + fmt.Sprintf(" %d more panels are left out.", left))
		return grids[:mostPanels]
	}
	return grids
}

// linesOf draws means over the first parameter that is a number, a panel for each combination of
// the other parameters. The legend stands above all panels: what is compared has one series in all.
func linesOf(f *findings.Findings, m int, logarithmic bool) (*Figure, error) {
	measure := f.Options.Measures[m]
	var x string
	for _, name := range others(f) {
		if len(f.Results.NumbersOf(slices.Index(f.Results.Params, name))) > 1 {
			x = name
			break
		}
	}
	if x == "" {
		return nil, &noDataError{"lines", "parameter with several numbers beside what is compared"}
	}
	grids, err := f.Grids(findings.Pivot{Measure: measure, Columns: []string{x}})
	if err != nil {
		return nil, err
	}
	fig := panels(48*vg.Millimeter, len(grids))
	fig.Note = intervals(f, grids)
	known := map[string]int{} // of what is compared: the series
	for _, g := range tooMany(fig, grids) {
		p := panel{title: g.Title(), x: axis{x, padded}, y: axis{findings.Label(measure), paddedMeans}}
		if logarithmic {
			p.y.ends = asLogarithms
		}
		var least float64
		if p.series, least = linesIn(&g, known, logarithmic); math.IsInf(least, -1) {
			return nil, fmt.Errorf("lines:y=log: a %s is 0 or less, and a logarithmic axis has only numbers above 0", findings.Label(measure))
		}
		fig.show(p)
	}
	return fig, nil
}

// linesIn returns a line for each row of a table. known are the numbers of the series by the names
// of their rows, to which it adds new ones. least is the least mean, or its logarithm: -Inf if that
// is of 0 or less.
func linesIn(g *findings.Grid, known map[string]int, logarithmic bool) (all []series, least float64) {
	least = math.Inf(1)
	for r := range g.RowValues {
		name := strings.Join(g.RowNames(r), ", ")
		if _, ok := known[name]; !ok {
			known[name] = len(known)
		}
		l, marks := lineOf(g, r, known[name], logarithmic)
		if len(l.XYs) > 0 {
			all = append(all, draws(name, l, marks))
		}
		for _, v := range marks.all {
			least = min(least, v.value)
		}
	}
	return all, least
}

// intervals says in a note what the bars of means are, and over how many observations they are.
func intervals(f *findings.Findings, grids []findings.Grid) string {
	fewest, most, one := math.MaxInt, 0, false
	by := ""
	for _, g := range grids {
		for _, row := range g.Entries {
			for _, e := range row {
				switch {
				case e.Cell < 0:
				case math.IsInf(e.Estimate.HalfWidth, 0) || math.IsNaN(e.Estimate.HalfWidth):
					one = true
				default:
					fewest, most, by = min(fewest, e.Estimate.N), max(most, e.Estimate.N), string(e.Estimate.By)
				}
			}
		}
	}
	if most == 0 {
		return "A point is the result of one run."
	}
	n := strconv.Itoa(most)
	if fewest < most {
		n = fmt.Sprintf("%d to %d", fewest, most)
	}
	note := fmt.Sprintf("Bars: %s confidence intervals of means over %s %s.", findings.Percent(f.Options.Level), n, by)
	if one {
		note += " A point without a bar is the result of one run."
	}
	return note
}

// padded leaves room at both ends of an axis: 4% of it. An axis that begins at 0 keeps its
// beginning.
func padded(a *plot.Axis) {
	room := 0.04 * (a.Max - a.Min)
	if room == 0 {
		room = max(1e-9, 0.1*math.Abs(a.Max))
	}
	if a.Min != 0 {
		a.Min -= room
	}
	a.Max += room
}

// paddedMeans is padded for an axis that begins at 0 if 0 is near: heights compare as the means do.
func paddedMeans(a *plot.Axis) {
	if a.Min > 0 && a.Min < 0.5*a.Max {
		a.Min = 0
	}
	padded(a)
}

// asLogarithms has an axis of decimal logarithms end 0.08 of a decade beyond its values.
func asLogarithms(a *plot.Axis) {
	a.Min, a.Max, a.Tick.Marker = a.Min-0.08, a.Max+0.08, ticker(ticksOfLogarithms)
}

// lineOf makes a line of a row of a table, from the least x on, with the intervals of its means.
// Columns whose value is no number are left out. On a logarithmic axis all values are decimal
// logarithms; a value of 0 or less has -Inf, below all numbers.
func lineOf(g *findings.Grid, row, series int, logarithmic bool) (*plotter.Line, spreads) {
	marks := spreads{upright: true, width: vg.Points(lineWidth * 0.7)}
	for c, e := range g.Entries[row] {
		x, err := strconv.ParseFloat(g.ColumnValues[c][0], 64)
		if e.Cell < 0 || err != nil || math.IsNaN(e.Estimate.Mean) {
			continue
		}
		half := e.Estimate.HalfWidth
		if math.IsInf(half, 0) {
			half = 0
		}
		s := spread{e.Estimate.Mean - half, e.Estimate.Mean, e.Estimate.Mean + half, x, series}
		if logarithmic {
			s.lo, s.value, s.hi = math.Log10(max(0, s.lo)), math.Log10(max(0, s.value)), math.Log10(max(0, s.hi))
		}
		marks.all = append(marks.all, s)
	}
	slices.SortFunc(marks.all, func(a, b spread) int { return cmp.Compare(a.at, b.at) })
	var xy points
	for _, v := range marks.all {
		xy = append(xy, plotter.XY{X: v.at, Y: v.value})
	}
	return path(xy, line(series)), marks
}

// ticksOfLogarithms returns the ticks of an axis of decimal logarithms, labelled with the numbers
// themselves. plot.LogScale would leave a gap above panels whose axis has a long label, because it
// takes the mean of the ends for the middle.
func ticksOfLogarithms(lo, hi float64) []plot.Tick {
	ticks := powersOfTen(math.Pow(10, lo), math.Pow(10, hi))
	for i := range ticks {
		ticks[i].Value = math.Log10(ticks[i].Value)
	}
	return ticks
}

// heatOf draws differences from the baseline in per cent by the first two parameters that are not
// compared, a panel for each combination of the others. With only one such parameter it draws
// means, by what is compared and that parameter.
func heatOf(f *findings.Findings, m int, _ bool) (*Figure, error) {
	measure := f.Options.Measures[m]
	names := others(f)
	if len(names) == 0 {
		return nil, &noDataError{"heat", "second parameter with several values"}
	}
	relative := len(names) > 1
	pivot, compared := findings.Pivot{Measure: measure, Columns: names[:1]}, map[int]*findings.Comparison{}
	label := findings.Label(measure)
	if relative {
		pivot.Rows, pivot.Columns = acrossPage(f, names[0], names[1])
		for i := range f.Comparisons {
			if c := &f.Comparisons[i]; c.Measure == measure {
				compared[c.Cell] = c
			}
		}
		label += ": difference from " + f.BaselineName() + ", %"
	}
	grids, err := f.Grids(pivot)
	if err != nil {
		return nil, err
	}
	if relative { // nothing is left of the baseline's own panel
		grids = slices.DeleteFunc(grids, func(g findings.Grid) bool { return !hasAny(&g, compared) })
	}
	if len(grids) == 0 {
		return nil, &noDataError{"heat", "cell to compare with the baseline"}
	}
	rowTicks, height := heatRows(grids)
	fig := panels(height, len(grids))
	fig.Note = strings.ToUpper(label[:1]) + label[1:] + "."
	if relative {
		fig.Note += " *: significantly different (paired t test, Holm's correction)."
	}
	grids = tooMany(fig, grids)
	// All panels have one scale of colours: the least and the greatest value of the figure.
	fields := make([]heat, len(grids))
	least, greatest := math.Inf(1), math.Inf(-1)
	for i := range grids {
		fields[i] = fieldOf(&grids[i], compared, relative)
		for _, c := range fields[i].cells {
			least, greatest = min(least, c.value), max(greatest, c.value)
		}
	}
	for i, h := range fields {
		h.least, h.greatest, h.relative, h.direction = least, greatest, relative, f.Options.Direction(measure)
		fig.show(heatPanel(&grids[i], h, rowTicks[i]))
	}
	return fig, nil
}

// acrossPage returns two parameters as rows and columns of tables: the one with fewer values goes
// along the page, which is narrower than it is high.
func acrossPage(f *findings.Findings, first, second string) (rows, columns []string) {
	values := func(name string) int { return len(f.Results.ValuesOf(slices.Index(f.Results.Params, name))) }
	if values(first) < values(second) {
		first, second = second, first
	}
	return []string{first}, []string{second}
}

// hasAny reports whether any cell of a table is compared with the baseline.
func hasAny(g *findings.Grid, compared map[int]*findings.Comparison) bool {
	return slices.ContainsFunc(g.Entries, func(row []findings.Entry) bool {
		return slices.ContainsFunc(row, func(e findings.Entry) bool { return compared[e.Cell] != nil })
	})
}

// heatRows returns the labels of the rows of each table, and the height of a panel that has room
// for the most rows of any of them, and for the labels of its columns.
func heatRows(grids []findings.Grid) (ticks []plot.ConstantTicks, height vg.Length) {
	rows, labels, rowHeight := 0, 14*vg.Millimeter, 5*vg.Millimeter
	for i := range grids {
		g := &grids[i]
		names := make([]string, len(g.RowValues))
		for r := range names {
			names[r] = strings.Join(g.RowNames(r), ", ")
		}
		of, needed := rowsOf(names, 30*vg.Millimeter)
		ticks = append(ticks, of)
		rows, rowHeight = max(rows, len(names)), max(rowHeight, needed)
		if len(g.ColumnValues) > mostAcross {
			labels = 24 * vg.Millimeter
		}
	}
	return ticks, vg.Length(rows)*rowHeight + labels
}

// heatPanel is the panel of one table. Many labels of columns are turned.
func heatPanel(g *findings.Grid, h heat, rowTicks plot.ConstantTicks) panel {
	columns := between(-0.5, float64(h.columns)-0.5, columnsOf(g)...)
	if h.columns > mostAcross {
		columns = turned(columns, math.Pi/2, draw.YCenter)
	}
	return panel{
		title: g.Title(), x: axis{strings.Join(g.Columns, ", "), columns}, y: axis{"", between(-0.5, float64(h.rows)-0.5, rowTicks...)},
		series: []series{draws("", h)},
	}
}

// columnsOf returns the labels of the columns of a table.
func columnsOf(g *findings.Grid) (ticks plot.ConstantTicks) {
	for c := range g.ColumnValues {
		ticks = append(ticks, plot.Tick{Value: float64(c), Label: wrap(g.ColumnName(c, true), tickSize, 14*vg.Millimeter)})
	}
	return ticks
}

// heat is a plotter of a table: a coloured field with a number for each cell. Row 0 is on top.
type heat struct {
	rows, columns int
	cells         []heatCell
	// least and greatest are over all panels of the figure: one colour means one value everywhere.
	least, greatest float64
	// relative tells that values are differences from the baseline, of which 0 is white.
	relative bool
	// direction is findings.Options.Direction: +1 if more is better.
	direction int
}

// heatCell is a field, with the text that is written on it.
type heatCell struct {
	row, column int
	value       float64
	text        string
}

// fieldOf makes the fields of a table. A cell that the study does not have, or that cannot be
// compared, stays empty.
func fieldOf(g *findings.Grid, compared map[int]*findings.Comparison, relative bool) heat {
	h := heat{rows: len(g.RowValues), columns: len(g.ColumnValues)}
	for r := range g.Entries {
		for c, e := range g.Entries[r] {
			if e.Cell < 0 || math.IsNaN(e.Estimate.Mean) {
				continue
			}
			cell := heatCell{row: r, column: c}
			if relative {
				d := compared[e.Cell]
				if d == nil || !(math.Abs(d.Percent.Value) < most) {
					continue
				}
				cell.value, cell.text = d.Percent.Value, signed(d.Percent.Value)
				if d.Verdict.Significant() {
					cell.text += "*"
				}
			} else {
				cell.value = e.Estimate.Mean
				cell.text, _ = findings.Number(e.Estimate)
			}
			h.cells = append(h.cells, cell)
		}
	}
	return h
}

// signed writes a difference in per cent with two digits or more, and a true minus.
func signed(v float64) string {
	digits := 0
	if math.Abs(v) < 9.95 {
		digits = 1
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', digits, 64), "-", "−", 1)
}

// fill returns the colour of a value. Relative values are blue if better than the baseline and
// vermilion if worse, the stronger the further; the scale ends at 100%, so that one bad case does
// not make all others white. Other values are the more blue the greater.
func (h *heat) fill(v float64) color.RGBA {
	to, part := colour(0), 0.0
	if h.relative {
		limit := min(100, max(math.Abs(h.least), math.Abs(h.greatest)))
		if v*float64(h.direction) < 0 {
			to = colour(1)
		}
		if limit > 0 {
			part = min(1, math.Abs(v)/limit)
		}
	} else if h.greatest > h.least {
		part = (v - h.least) / (h.greatest - h.least)
	}
	part *= 0.75 // black text is to be read on it
	mix := func(c uint8) uint8 { return uint8(math.Round(255 - part*(255-float64(c)))) }
	return color.RGBA{R: mix(to.R), G: mix(to.G), B: mix(to.B), A: 0xff}
}

// Plot implements plot.Plotter.
func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := textStyle(tickSize)
	style.XAlign, style.YAlign = text.XCenter, text.YCenter
	for _, v := range h.cells {
		cx, cy := float64(v.column), float64(h.rows-1-v.row)
		c.SetColor(h.fill(v.value))
		c.Fill(vg.Rectangle{Min: vg.Point{X: x(cx - 0.48), Y: y(cy - 0.46)}, Max: vg.Point{X: x(cx + 0.48), Y: y(cy + 0.46)}}.Path())
		if style.Width(v.text) <= x(cx+0.48)-x(cx-0.48) { // a number that is cut is another number
			c.FillText(style, vg.Point{X: x(cx), Y: y(cy)}, v.text)
		}
	}
}

const (
	// mostRows is the most comparisons for which there is room below each other.
	mostRows = 70
	// mostAcross are the columns whose names there is room for side by side; those of
	// more are turned.
	mostAcross = 5
	// most is a difference in per cent beyond which the baseline's mean is as good as 0: such a
	// comparison says nothing.
	most = 1e9
)

// differencesOf draws the comparisons of a measure one below the other, in the order of the cells.
func differencesOf(f *findings.Findings, m int, _ bool) (*Figure, error) {
	measure := f.Options.Measures[m]
	var of []*findings.Comparison
	for i := range f.Comparisons {
		c := &f.Comparisons[i]
		if c.Measure == measure && f.Shown(c.Cell) && math.Abs(c.Percent.Value) < most {
			of = append(of, c)
		}
	}
	if len(of) == 0 {
		return nil, &noDataError{"differences", "two cells that could be compared"}
	}
	note := "Bars: " + findings.Percent(f.Options.Level) + " confidence intervals, each by itself. Round and blue: better, square and red: worse, significantly so (paired t test, Holm's correction); open: not significant, or too few pairs."
	if len(of) > mostRows {
		note += fmt.Sprintf(" %d more are left out.", len(of)-mostRows)
		of = of[:mostRows]
	}
	all, lowest, highest := differenceSpreads(of)
	ticks, height := rowsOf(cellNames(f, of), 62*vg.Millimeter)
	fig := column(vg.Length(len(of))*max(3.4*vg.Millimeter, height) + 14*vg.Millimeter)
	fig.Width, fig.Note = columnWidth*1.6, note
	room := 0.03 * (highest - lowest)
	return fig.show(panel{
		x:      axis{findings.Label(measure) + ":\ndifference from " + plain(f.BaselineName()) + ", %", between(lowest-room, highest+room)},
		y:      axis{"", asRows(ticks)},
		series: []series{draws("", zero{}, spreads{all: all, width: vg.Points(lineWidth)})},
	}), nil
}

// cellNames are the names of the cells that are compared, by the parameters that vary.
func cellNames(f *findings.Findings, of []*findings.Comparison) (all []string) {
	varied := f.Varied()
	for _, c := range of {
		var names []string
		for _, k := range varied {
			names = append(names, f.Told(f.Results.Params[k], f.Cells[c.Cell].Params[k]))
		}
		all = append(all, strings.Join(names, " "))
	}
	return all
}

// differenceSpreads are the comparisons in per cent with their intervals, the first on top, and
// the ends of the axis. The axis has all differences, and of the intervals what lies within one
// and a half times the greatest difference: a mean of which hardly anything is known must not push
// the others together.
func differenceSpreads(of []*findings.Comparison) (all []spread, lowest, highest float64) {
	for i, c := range of {
		at, half := c.Relative()
		s := spread{lo: at, value: at, hi: at, at: float64(len(of) - 1 - i), series: 4} // an open circle
		if !math.IsInf(half, 0) {
			s.lo, s.hi = at-half, at+half
		}
		switch c.Verdict {
		case findings.Better, findings.Lower:
			s.series = 0
		case findings.Worse, findings.Higher:
			s.series = 1
		}
		lowest, highest = min(lowest, at), max(highest, at)
		all = append(all, s)
	}
	lowest, highest = min(lowest, -1), max(highest, 1)
	room := 1.5 * max(-lowest, highest)
	for i := range all {
		all[i].lo, all[i].hi = max(all[i].lo, -room), min(all[i].hi, room)
		lowest, highest = min(lowest, all[i].lo), max(highest, all[i].hi)
	}
	return all, lowest, highest
}

// zero is a line where nothing differs.
type zero struct{}

// Plot implements plot.Plotter.
func (zero) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	c.StrokeLine2(solid(grey, vg.Points(0.6)), x(0), c.Min.Y, x(0), c.Max.Y)
}

// sensitivityOf draws what part of the variance of a measure goes with each parameter: eta squared
// of a full grid, or the shares of ranks of a sample.
func sensitivityOf(f *findings.Findings, m int, _ bool) (*Figure, error) {
	n := &Numbers{Columns: []numberColumn{{Name: "parameter"}, {"share of the variance, %", 1}}}
	add := func(name string, share float64) {
		n.Names, n.Rows = append(n.Names, name), append(n.Rows, []float64{100 * share})
	}
	note := "Parts of the variance (eta squared) of all runs."
	for _, s := range f.Sensitivities {
		if s.Measure != f.Options.Measures[m] {
			continue
		}
		for _, e := range s.Effects {
			add(cmp.Or(strings.Join(e.Factors, " × "), findings.Rest), e.Share)
		}
		for _, in := range s.Influences {
			add(in.Name, in.Alone)
			note = fmt.Sprintf("Parts of the variance of ranks that each parameter explains alone; all together %.0f%%.", 100*s.R2)
		}
	}
	if len(n.Rows) == 0 {
		return nil, &noDataError{"sensitivity", "full grid, or enough runs"}
	}
	var all boxes
	for i, row := range n.Rows {
		y := float64(len(n.Rows) - 1 - i)
		all = append(all, box{0, row[0], y - 0.32, y + 0.32, colour(0)})
	}
	ticks, height := rowsOf(n.Names, 34*vg.Millimeter)
	fig := column(vg.Length(len(n.Names))*max(4*vg.Millimeter, height) + 12*vg.Millimeter)
	fig.Numbers, fig.Note = n, note
	return fig.show(panel{
		x: axis{"share of the variance of " + findings.Label(f.Options.Measures[m]) + ", %", asPercent}, y: axis{"", asRows(ticks)},
		series: []series{draws("", all)},
	}), nil
}
