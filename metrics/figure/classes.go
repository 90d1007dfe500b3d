package figure

// Wait and bounded slowdown by classes of jobs.

import (
	"math"
	"math/bits"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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
	f := column(36 * vg.Millimeter)
	f.Numbers = numbersByClass(runs, told)
	f.heights = []vg.Length{36 * vg.Millimeter, 36 * vg.Millimeter, 24 * vg.Millimeter}
	wait, slowdown := newPanel("", "", "mean wait"), newPanel("", "", "mean bounded\nslowdown")
	count := newPanel("", by.label, "jobs")
	f.Panels = []*plot.Plot{wait, slowdown, count}
	shortest, longest, worst := math.Inf(1), 0.0, 1.0
	first, last := by.last, -1
	var counted boxes
	for i, r := range runs {
		var waits, slowdowns points
		// Classes without jobs have no points: the line goes straight to the next one.
		for c, v := range by.grouped(r.Rows) {
			if v.wait.N() == 0 {
				continue
			}
			x := float64(c)
			waits = append(waits, plotter.XY{X: x, Y: v.wait.Mean()})
			slowdowns = append(slowdowns, plotter.XY{X: x, Y: v.slowdown.Mean()})
			shortest = min(shortest, v.wait.Mean())
			longest, worst = max(longest, v.wait.Mean()), max(worst, v.slowdown.Mean())
			first, last = min(first, c), max(last, c)
			if i == 0 {
				counted = append(counted, box{x - 0.35, x + 0.35, 0, float64(v.wait.N()), grey})
			}
		}
		if len(waits) == 0 {
			continue
		}
		l, m := path(waits, line(i)), marks(waits, i)
		wait.Add(l, m)
		slowdown.Add(path(slowdowns, line(i)), marks(slowdowns, i))
		f.says(r.Name, l, m)
	}
	if last < 0 {
		return nil, &noDataError{name, "jobs that ran"}
	}
	count.Add(counted)
	asDurations(&wait.Y, shortest, longest)
	asFactors(&slowdown.Y, 1, worst)
	count.Y.Min, count.Y.Max = 0, max(1, count.Y.Max*1.05)
	for _, p := range f.Panels {
		asClasses(&p.X, first, last, by.name)
	}
	if wait.Y.Min < linearBelow {
		f.Note = "Waits: linear up to 10 s, logarithmic beyond."
	}
	return f, nil
}

// asClasses makes an axis an axis of classes, from the first to the last.
func asClasses(a *plot.Axis, first, last int, name func(class int) string) {
	// At most about ten classes have labels: more have no room.
	every := 1 + (last-first)/10
	a.Min, a.Max = float64(first)-0.5, float64(last)+0.5
	a.Tick.Marker = ticker(func(lo, hi float64) (ticks []plot.Tick) {
		for c := first; c <= last; c++ {
			t := plot.Tick{Value: float64(c)}
			if (c-first)%every == 0 {
				t.Label = name(c)
			}
			ticks = append(ticks, t)
		}
		return ticks
	})
}

// slant turns the labels of an axis by 0.7 rad, so that long ones have room.
func slant(a *plot.Axis) {
	a.Tick.Label.Rotation = 0.7
	a.Tick.Label.XAlign, a.Tick.Label.YAlign = draw.XRight, draw.YTop
}
