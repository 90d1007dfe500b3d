package figure

// Utilization, queue and capacity over time.

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Rows are the rows of one run, under the name that the run has in legends.
type Rows[T any] struct {
	Name string
	Rows []T
}

const (
	// mostChanges is the number of changes up to which a line over time is drawn change by change.
	// A line with more is drawn in spansOfLine spans of about half a millimetre, which the eye can
	// still tell apart.
	mostChanges = 600
	spansOfLine = 150
)

// change is a value that holds from an instant, in seconds, until the next one.
type change struct{ at, value float64 }

// span summarises a value between two instants: its least, its greatest and its mean, weighted by
// time.
type span struct{ from, to, least, mean, most float64 }

// thin cuts the time from the first change to the last into n spans of one length. Changes are in
// order of time. Of several at one instant the last one counts for the mean, but all are among the
// least and the most. The last change must be later than the first.
func thin(changes []change, n int) []span {
	first, last := changes[0].at, changes[len(changes)-1].at
	width := (last - first) / float64(n)
	spans := make([]span, n)
	next, value := 1, changes[0].value
	for i := range spans {
		s := span{from: first + float64(float64(i)*width), to: first + float64(float64(i+1)*width), least: value, most: value}
		if i == n-1 {
			s.to = last
		}
		// A span begins with the value with which the span before ended.
		now, area := s.from, 0.0
		for ; next < len(changes) && (changes[next].at < s.to || i == n-1); next++ {
			area += float64(value * (changes[next].at - now))
			now, value = changes[next].at, changes[next].value
			s.least, s.most = min(s.least, value), max(s.most, value)
		}
		area += float64(value * (s.to - now))
		s.mean = area / (s.to - s.from)
		spans[i] = s
	}
	return spans
}

// overTime draws a value that changes, in spans if there are too many changes, and reports whether
// there were. unit is the unit of the axis in seconds.
func overTime(p *plot.Plot, changes []change, unit float64, n, series int) bool {
	if len(changes) <= mostChanges || changes[0].at == changes[len(changes)-1].at {
		var xy points
		for _, c := range changes {
			xy = append(xy, plotter.XY{X: c.at / unit, Y: c.value})
		}
		p.Add(path(steps(xy), solid(colour(series), vg.Points(0.7))))
		return false
	}
	var bands boxes
	var means points
	for _, s := range thin(changes, n) {
		if s.most > s.least {
			bands = append(bands, box{s.from / unit, s.to / unit, s.least, s.most, light(colour(series))})
		}
		means = append(means, plotter.XY{X: s.from / unit, Y: s.mean}, plotter.XY{X: s.to / unit, Y: s.mean})
	}
	p.Add(bands, path(means, solid(colour(series), vg.Points(0.7))))
	return true
}

// thinned says in a note what a band is, on an axis of that many seconds.
func thinned(seconds float64) string {
	size, unit := timeUnit(seconds / spansOfLine)
	return "Line: mean of " + strconv.FormatFloat(seconds/spansOfLine/size, 'g', 3, 64) + " " + unit + "; band: least to most in that time."
}

// drawUtilization draws how many of the processors, or nodes, are in use, a panel for each run: in
// percent of processors if that is above 0, otherwise their number. Where outages are given, by
// run, a line shows what is in service.
func drawUtilization(runs []Rows[rows.Level], processors int, outages [][]rows.Outage) (*Figure, error) {
	label, scale := "nodes in use", 1.0
	if processors > 0 {
		label, scale = "in use, %", 100/float64(processors)
	}
	f, err := levels(runs, "utilization", label, func(l rows.Level) float64 { return float64(l.Busy) * scale })
	if err != nil {
		return nil, err
	}
	// In service is a line of steps over the whole run, from what it was before the first row.
	for i, p := range f.Panels {
		if processors > 0 {
			p.Y.Max = max(100, p.Y.Max)
		}
		if i >= len(outages) || len(outages[i]) == 0 || processors == 0 {
			continue
		}
		unit, _ := timeUnit(spanOf(runs))
		rows := runs[i].Rows
		// The line begins with what is in service at the first row, and ends with the last one.
		begin, end := rows[0].Time.Seconds(), rows[len(rows)-1].Time.Seconds()
		in := path(points{{}}, solid(colour(6), vg.Points(0.6)))
		for _, c := range inService(outages[i], float64(processors)) {
			at := plotter.XY{X: max(begin, c.at) / unit, Y: c.value * scale}
			if c.at <= begin {
				in.XYs[0] = at
			} else if c.at <= end {
				in.XYs = append(in.XYs, at)
			}
		}
		in.XYs = steps(append(in.XYs, plotter.XY{X: end / unit, Y: in.XYs[len(in.XYs)-1].Y}))
		p.Add(in)
		if len(f.legend) == 0 {
			f.says("in service", in)
		}
	}
	return f, nil
}

// drawQueue draws how many jobs wait, a panel a run.
func drawQueue(runs []Rows[rows.Level]) (*Figure, error) {
	return levels(runs, "queue", "jobs waiting", func(l rows.Level) float64 { return float64(l.Jobs) })
}

// drawDemand draws how many processors, or nodes, the waiting jobs ask for, a panel a run.
func drawDemand(runs []Rows[rows.Level]) (*Figure, error) {
	return levels(runs, "demand", "processors\nasked for", func(l rows.Level) float64 { return float64(l.Processors) })
}

// spanOf returns the longest time that any of the runs took, in seconds.
func spanOf(runs []Rows[rows.Level]) (longest float64) {
	for _, r := range runs {
		if n := len(r.Rows); n > 0 {
			longest = max(longest, (r.Rows[n-1].Time - r.Rows[0].Time).Seconds())
		}
	}
	return longest
}

// levels draws one value of the rows over time, a panel for each run, all with one axis of time.
// Panels have axes of values of their own if the greatest values are more than four times apart.
func levels(runs []Rows[rows.Level], name, label string, value func(rows.Level) float64) (*Figure, error) {
	seconds := spanOf(runs)
	if seconds <= 0 {
		return nil, &noDataError{name, "rows of queue-POLICY.csv at two instants"}
	}
	unit, unitName := timeUnit(seconds)
	f := column(30 * vg.Millimeter)
	bands := false
	lo, hi := math.Inf(1), math.Inf(-1)
	var most []float64 // of each panel
	for i, r := range runs {
		if len(r.Rows) == 0 {
			return nil, &noDataError{name, "row of queue-POLICY.csv of " + plain(r.Name)}
		}
		var changes []change
		greatest := 0.0
		for _, l := range r.Rows {
			c := change{l.Time.Seconds(), value(l)}
			changes = append(changes, c)
			greatest = max(greatest, c.value)
		}
		most = append(most, greatest)
		// A shorter run has fewer spans, so that spans have the same length in all panels.
		p := newPanel(r.Name, "time, "+unitName, label)
		from, to := changes[0].at, changes[len(changes)-1].at
		if overTime(p, changes, unit, max(1, int(math.Round(spansOfLine*(to-from)/seconds))), i) {
			bands = true
		}
		lo, hi = min(lo, from/unit), max(hi, to/unit)
		f.Panels = append(f.Panels, p)
	}
	apart := slices.Max(most) > 4*slices.Min(most)
	for i, p := range f.Panels {
		greatest := most[i]
		if !apart {
			greatest = slices.Max(most)
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, 0, max(1, float64(greatest*1.05))
	}
	f.labelBelow()
	if bands {
		f.Note = thinned(seconds)
	}
	if apart {
		f.Note += " The panels have axes of their own."
	}
	return f, nil
}

// inService returns how many processors there are from each instant on, in order of time, 0 first.
// Outages that never began or take no time change nothing.
func inService(outages []rows.Outage, processors float64) []change {
	type turn struct {
		at des.Time
		by float64
	}
	var turns []turn
	for _, o := range outages {
		if o.From == rows.None || o.To == rows.None || o.To <= o.From {
			continue
		}
		turns = append(turns, turn{o.From, -float64(o.Processors)})
		if o.To != des.Forever {
			turns = append(turns, turn{o.To, float64(o.Processors)})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return int(min(1, max(-1, a.at-b.at))) })
	all := []change{{0, processors}}
	for _, t := range turns {
		processors += t.by
		if last := &all[len(all)-1]; last.at == t.at.Seconds() {
			last.value = processors
		} else {
			all = append(all, change{t.at.Seconds(), processors})
		}
	}
	return all
}

// column returns a figure of panels below each other, each of that height.
func column(height vg.Length) *Figure {
	return &Figure{Columns: 1, Width: columnWidth, Height: height, Gap: gap, aligned: true}
}
