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

// overTime returns the shapes of a value that changes, in n spans if there are too many changes,
// and whether there were. unit is the unit of the axis in seconds.
func overTime(changes []change, unit float64, n, series int) (shapes []plot.Plotter, thinned bool) {
	style := solid(colour(series), vg.Points(0.7))
	if len(changes) <= mostChanges || changes[0].at == changes[len(changes)-1].at {
		var xy points
		for _, c := range changes {
			xy = append(xy, plotter.XY{X: c.at / unit, Y: c.value})
		}
		return []plot.Plotter{path(steps(xy), style)}, false
	}
	var bands boxes
	var means points
	for _, s := range thin(changes, n) {
		if s.most > s.least {
			bands = append(bands, box{s.from / unit, s.to / unit, s.least, s.most, light(colour(series))})
		}
		means = append(means, plotter.XY{X: s.from / unit, Y: s.mean}, plotter.XY{X: s.to / unit, Y: s.mean})
	}
	return []plot.Plotter{bands, path(means, style)}, true
}

// thinned says in a note what a band is, on an axis of that many seconds.
func thinned(seconds float64) string {
	size, unit := timeUnit(seconds / spansOfLine)
	return "Line: mean of " + strconv.FormatFloat(seconds/spansOfLine/size, 'g', 3, 64) + " " + unit + "; band: least to most in that time."
}

// quantityOverTime is what a figure shows of the levels of runs over time.
type quantityOverTime struct {
	name  string // of the figure
	label string // of the axis
	of    func(rows.Level) float64
	// atLeast is what the axis shows at least.
	atLeast float64
	// beside, if set, returns what is drawn beside it in the panel of a run.
	beside func(run int) []series
}

// drawUtilization draws how many of the processors, or nodes, are in use, a panel for each run: in
// percent of processors if that is above 0, otherwise their number. Where outages are given, by
// run, a line shows what is in service.
func drawUtilization(runs []Rows[rows.Level], processors int, outages [][]rows.Outage) (*Figure, error) {
	if processors == 0 {
		return levels(runs, quantityOverTime{"utilization", "nodes in use", func(l rows.Level) float64 { return float64(l.Busy) }, 1, nil})
	}
	scale := 100 / float64(processors)
	unit, _ := timeUnit(spanOf(runs))
	inService := func(run int) []series {
		if run >= len(outages) || len(outages[run]) == 0 {
			return nil
		}
		// The line of steps begins with what is in service at the first row, and ends with the
		// last one.
		rows := runs[run].Rows
		begin, end := rows[0].Time.Seconds(), rows[len(rows)-1].Time.Seconds()
		in := points{{}}
		for _, c := range inService(outages[run], float64(processors)) {
			at := plotter.XY{X: max(begin, c.at) / unit, Y: c.value * scale}
			if c.at <= begin {
				in[0] = at
			} else if c.at <= end {
				in = append(in, at)
			}
		}
		in = steps(append(in, plotter.XY{X: end / unit, Y: in[len(in)-1].Y}))
		return []series{draws("in service", path(in, solid(colour(6), vg.Points(0.6))))}
	}
	return levels(runs, quantityOverTime{"utilization", "in use, %", func(l rows.Level) float64 { return float64(l.Busy) * scale }, 100, inService})
}

// drawQueue draws how many jobs wait, a panel a run.
func drawQueue(runs []Rows[rows.Level]) (*Figure, error) {
	return levels(runs, quantityOverTime{"queue", "jobs waiting", func(l rows.Level) float64 { return float64(l.Jobs) }, 1, nil})
}

// drawDemand draws how many processors, or nodes, the waiting jobs ask for, a panel a run.
func drawDemand(runs []Rows[rows.Level]) (*Figure, error) {
	return levels(runs, quantityOverTime{"demand", "processors\nasked for", func(l rows.Level) float64 { return float64(l.Processors) }, 1, nil})
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

// levels draws a quantity of the rows over time, a panel for each run, all with one axis of time.
// Panels have axes of values of their own if the greatest values are more than four times apart.
func levels(runs []Rows[rows.Level], q quantityOverTime) (*Figure, error) {
	seconds := spanOf(runs)
	if seconds <= 0 {
		return nil, &noDataError{q.name, "rows of queue-POLICY.csv at two instants"}
	}
	unit, unitName := timeUnit(seconds)
	bands := false
	lo, hi := math.Inf(1), math.Inf(-1)
	var panels []panel
	var most []float64 // of each panel
	for i, r := range runs {
		if len(r.Rows) == 0 {
			return nil, &noDataError{q.name, "row of queue-POLICY.csv of " + plain(r.Name)}
		}
		var changes []change
		greatest := 0.0
		for _, l := range r.Rows {
			c := change{l.Time.Seconds(), q.of(l)}
			changes = append(changes, c)
			greatest = max(greatest, c.value)
		}
		most = append(most, greatest)
		// A shorter run has fewer spans, so that spans have the same length in all panels.
		from, to := changes[0].at, changes[len(changes)-1].at
		shapes, thinned := overTime(changes, unit, max(1, int(math.Round(spansOfLine*(to-from)/seconds))), i)
		bands = bands || thinned
		lo, hi = min(lo, from/unit), max(hi, to/unit)
		p := panel{title: r.Name, series: []series{draws("", shapes...)}}
		if q.beside != nil {
			p.series = append(p.series, q.beside(i)...)
		}
		panels = append(panels, p)
	}
	apart := slices.Max(most) > 4*slices.Min(most)
	for i := range panels {
		greatest := most[i]
		if !apart {
			greatest = slices.Max(most)
		}
		panels[i].x = axis{"time, " + unitName, between(lo, hi)}
		panels[i].y = axis{q.label, between(0, max(q.atLeast, float64(greatest*1.05)))}
	}
	f := column(30 * vg.Millimeter).show(panels...)
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
