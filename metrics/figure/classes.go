package figure

// Wait and bounded slowdown by classes of jobs.

import (
	"math/bits"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// classes put jobs into classes 0, 1, ... up to last.
type classes struct {
	label string                 // of the axis, with its unit
	told  string                 // of the column of a table in which class c is told as 2 to the c
	of    func(*rows.Job) int    // -1 for a job that is in none
	name  func(class int) string // of a tick
	last  int                    // the highest class that there can be
}

// bySize are 1, 2, 3-4, 5-8, ... processors: class c has up to 2 to the c.
var bySize = classes{
	label: "processors, up to",
	told:  "processors, at most",
	of: func(j *rows.Job) int {
		if j.Processors < 1 {
			return -1
		}
		return metrics.SizeClass(j.Processors)
	},
	name: func(class int) string { return strconv.FormatUint(1<<class, 10) },
	last: 62,
}

// lengthNames are the names of the classes of metrics.LengthClass, by their upper ends.
var lengthNames = [len(metrics.LengthLimits)]string{"1 min", "10 min", "30 min", "1 h", "4 h", "12 h", "1 d", "more"}

// byEstimate are estimates of up to a minute, ten minutes, and so on; see metrics.LengthLimits.
var byEstimate = classes{
	label: "estimate, up to",
	of: func(j *rows.Job) int {
		if j.Estimate == rows.None {
			return -1
		}
		return metrics.LengthClass(j.Estimate)
	},
	name: func(class int) string { return lengthNames[class] },
	last: len(lengthNames) - 1,
}

// byMinutes are estimates of up to 1, 2, 4, ... minutes: finer than what is drawn, for the table.
var byMinutes = classes{
	told: "estimate, min, at most",
	of: func(j *rows.Job) int {
		if j.Estimate <= 0 {
			return -1
		}
		// m minutes, begun ones counted, have the class log2(m), rounded up.
		return bits.Len(uint((j.Estimate - 1) / des.Minute))
	},
	last: 62,
}

// class summarises the jobs of one class that ran: their waits and slowdowns.
type class struct {
	wait, slowdown stats.Moments // of jobs that ran; seconds, a factor
}

// grouped returns the jobs that ran by class, up to the highest class that any has. Classes below
// it may be empty.
func (k classes) grouped(jobs []rows.Job) []class {
	var all []class
	for i := range jobs {
		j := &jobs[i]
		c := k.of(j)
		if c < 0 || c > k.last || !counts(j) {
			continue
		}
		for len(all) <= c {
			all = append(all, class{})
		}
		all[c].wait.Add(j.Wait().Seconds())
		all[c].slowdown.Add(j.BoundedSlowdown)
	}
	return all
}

// WaitBySize draws the mean wait and bounded slowdown of jobs of 1, 2, 3-4, 5-8, ... processors, a
// line for each run, and below them how many such jobs ran in the first run.
func WaitBySize(runs []Rows[rows.Job]) (*Figure, error) {
	return byClass(runs, bySize, bySize, "wait-by-size")
}

// WaitByEstimate draws what WaitBySize does by the jobs' estimates of their runtimes.
func WaitByEstimate(runs []Rows[rows.Job]) (*Figure, error) {
	return byClass(runs, byEstimate, byMinutes, "wait-by-estimate")
}

// byClass draws the means by classes, and tells them in Numbers by other classes.
func byClass(runs []Rows[rows.Job], by, told classes, name string) (*Figure, error) {
	var waits, slowdowns []series
	var counted boxes
	first, last := by.last, -1
	for i, r := range runs {
		var wait, slowdown points
		// Classes without jobs have no points: the line goes straight to the next one.
		for c, v := range by.grouped(r.Rows) {
			if v.wait.N() == 0 {
				continue
			}
			x := float64(c)
			wait = append(wait, plotter.XY{X: x, Y: v.wait.Mean()})
			slowdown = append(slowdown, plotter.XY{X: x, Y: v.slowdown.Mean()})
			first, last = min(first, c), max(last, c)
			if i == 0 {
				counted = append(counted, box{x - 0.35, x + 0.35, 0, float64(v.wait.N()), grey})
			}
		}
		if len(wait) > 0 {
			waits = append(waits, draws(r.Name, path(wait, line(i)), marks(wait, i)))
			slowdowns = append(slowdowns, draws(r.Name, path(slowdown, line(i)), marks(slowdown, i)))
		}
	}
	if last < 0 {
		return nil, &noDataError{name, "jobs that ran"}
	}
	classes := asClasses(first, last, by.name)
	f := column(36*vg.Millimeter).show(
		panel{x: axis{"", classes}, y: axis{"mean wait", asDurations}, series: waits, height: 36 * vg.Millimeter},
		panel{x: axis{"", classes}, y: axis{"mean bounded\nslowdown", asFactors}, series: slowdowns, height: 36 * vg.Millimeter},
		panel{x: axis{by.label, classes}, y: axis{"jobs", asNumbers}, series: []series{draws("", counted)}, height: 24 * vg.Millimeter},
	)
	f.Numbers = numbersByClass(runs, told)
	if f.Panels[0].Y.Min < linearBelow {
		f.Note = "Waits: linear up to 10 s, logarithmic beyond."
	}
	return f, nil
}
