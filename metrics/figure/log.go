package figure

// What is in a log, before anything is simulated.

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Log has the data of a workload that DrawLog draws, before anything is simulated.
type Log struct {
	// Hours and Days are numbers of jobs by hour of the day and by day of the week, Sunday first.
	// Clock names the clock; if it is "", hours and days count from time 0.
	Hours [24]float64
	Days  [7]float64
	Clock string
	// Weeks are the loads that were offered to the machine and in use by the log itself, week by
	// week; empty if the machine is not known.
	Weeks []LoadOfWeek
	Sizes Distribution // processors
	// Runtimes and Requests are in seconds; Requests is empty if there are none.
	Runtimes, Requests Distribution
	// Accuracy is the share of jobs in each tenth of runtime / request. The last share includes all
	// jobs above it. Nil if there are no requests.
	Accuracy []float64
}

// Distribution says how often each value occurs. Invariant: Values ascend, from 0 on, and Counts
// are as many, above 0.
type Distribution struct {
	Values []float64
	Counts []int64
}

// LoadOfWeek is one week of the log, counted from time 0: the load that was offered and the part
// of the machine in use, both relative to its capacity.
type LoadOfWeek struct {
	Week        int64
	Offered     float64
	Utilization float64 // 0 where the log does not tell
}

// DrawLog draws all figures that a log has data for: arrivals, sizes-and-runtimes,
// accuracy, load-by-week.
func DrawLog(l *Log) ([]*Figure, error) {
	if len(l.Sizes.Values) == 0 {
		return nil, &noDataError{"a log", "job"}
	}
	all := []*Figure{l.arrivals(), l.distributions()}
	if l.Accuracy != nil {
		all = append(all, l.accuracy())
	}
	if len(l.Weeks) > 0 {
		all = append(all, l.load())
	}
	return all, nil
}

// addShares adds columns of shares in percent to a panel, one for each count, in the colour of a
// series. Without any jobs all columns are 0.
func addShares(p *plot.Plot, counts []float64, series int) {
	total, greatest := 0.0, 0.0
	for _, n := range counts {
		total += n
	}
	var all boxes
	for i, n := range counts {
		share := 100 * n / max(total, 1e-300)
		greatest = max(greatest, share)
		all = append(all, box{float64(i) + 0.1, float64(i) + 0.9, 0, share, colour(series)})
	}
	p.Add(all)
	p.X.Min, p.X.Max = 0, float64(len(counts))
	p.Y.Min, p.Y.Max = 0, niceAbove(max(greatest, 1))
}

// arrivals draws when jobs come. A week begins with Monday, as a calendar does, or with day 0.
func (l *Log) arrivals() *Figure {
	f := &Figure{Name: "arrivals", Columns: 2, Width: columnWidth/2 - gap/2, Height: 36 * vg.Millimeter, Gap: gap, aligned: true}
	hour, day := newPanel("", "hour of the day", "jobs, %"), newPanel("", "day of the week", "")
	addShares(hour, l.Hours[:], 0)
	monday := append(append([]float64(nil), l.Days[1:]...), l.Days[0])
	names := []string{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"}
	f.Note = "By the clock of " + l.Clock + "."
	if l.Clock == "" {
		hour.X.Label.Text, day.X.Label.Text = "hour of the log", "day of the log"
		monday, names = l.Days[:], []string{"0", "1", "2", "3", "4", "5", "6"}
		f.Note = noClock
	}
	addShares(day, monday, 1)
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i) + 0.5, Label: name})
	}
	hour.X.Tick.Marker = hoursOfDay
	day.X.Tick.Marker = ticks
	f.Panels = []*plot.Plot{hour, day}
	return f
}

// cumulated returns the steps of the distribution function in percent, from the least value that
// there can be. Of more than 2000 steps those are left out that are nearer to the step before than
// a thousandth of either axis: nobody can see them.
func (d Distribution) cumulated(scale func(float64) float64, least float64) points {
	xy := points{{X: least}}
	if len(d.Values) == 0 {
		return xy
	}
	total, sum := 0.0, 0.0
	for _, n := range d.Counts {
		total += float64(n)
	}
	near := (scale(d.Values[len(d.Values)-1]) - scale(least)) / 1000
	for i, v := range d.Values {
		sum += float64(d.Counts[i])
		p, before := plotter.XY{X: v, Y: 100 * sum / total}, xy[len(xy)-1]
		if i+1 == len(d.Values) || len(d.Values) <= 2000 || scale(v)-scale(before.X) >= near || p.Y-before.Y >= 0.1 {
			xy = append(xy, p)
		}
	}
	return xy
}

// greatest returns the greatest value, 0 if there is none.
func (d Distribution) greatest() float64 {
	if len(d.Values) == 0 {
		return 0
	}
	return d.Values[len(d.Values)-1]
}

// distributions draws the distribution functions of sizes, runtimes and estimates.
func (l *Log) distributions() *Figure {
	f := column(36 * vg.Millimeter)
	f.Name = "sizes-and-runtimes"
	sizes := newPanel("", "processors", "jobs, %")
	sizes.Add(path(steps(l.Sizes.cumulated(math.Log10, 1)), solid(colour(2), vg.Points(lineWidth))))
	asFactors(&sizes.X, 1, l.Sizes.greatest())
	lengths := newPanel("", "length", "jobs, %")
	for i, of := range []struct {
		name string
		Distribution
	}{{"runtime", l.Runtimes}, {"estimate", l.Requests}} {
		if len(of.Values) == 0 {
			continue
		}
		drawn := path(steps(of.cumulated(durationScale{}.place, 0)), line(i))
		lengths.Add(drawn)
		f.says(of.name, drawn)
	}
	asDurations(&lengths.X, 0, max(l.Runtimes.greatest(), l.Requests.greatest()))
	f.Panels = []*plot.Plot{sizes, lengths}
	for _, p := range f.Panels {
		p.Y.Min, p.Y.Max = 0, 100
	}
	f.Note = "The share of jobs with no more than that. Lengths: linear up to 10 s, logarithmic beyond."
	return f
}

// accuracy draws what part of their estimates jobs run for.
func (l *Log) accuracy() *Figure {
	f := column(36 * vg.Millimeter)
	f.Name = "accuracy"
	p := newPanel("", "runtime / estimate, %", "jobs, %")
	addShares(p, l.Accuracy, 0)
	var ticks plot.ConstantTicks
	for i := 0; i <= len(l.Accuracy); i += 2 {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: short(float64(100*i) / float64(len(l.Accuracy)))})
	}
	p.X.Tick.Marker = ticks
	f.Panels = []*plot.Plot{p}
	f.Note = "The last column has the jobs that ran longer than their estimates, too."
	return f
}

// load draws the offered load and the utilization week by week. Weeks without jobs are not in the
// log, and have the load 0.
func (l *Log) load() *Figure {
	f := column(36 * vg.Millimeter)
	f.Name = "load-by-week"
	p := newPanel("", "week of the log", "load")
	var offered, used points
	greatest, next := 1.0, l.Weeks[0].Week
	for _, w := range l.Weeks {
		if w.Week > next { // nothing in between
			offered, used = append(offered, flat(next, w.Week, 0)...), append(used, flat(next, w.Week, 0)...)
		}
		next = w.Week + 1
		offered, used = append(offered, flat(w.Week, next, w.Offered)...), append(used, flat(w.Week, next, w.Utilization)...)
		greatest = max(greatest, w.Offered, w.Utilization)
	}
	a := path(offered, line(0))
	p.Add(a)
	f.says("offered load", a)
	if maxOf(used) > 0 {
		b := path(used, line(1))
		p.Add(b)
		f.says("utilization, by the waits in the log", b)
	}
	p.X.Min, p.X.Max = float64(l.Weeks[0].Week), float64(next)
	p.Y.Min, p.Y.Max = 0, niceAbove(greatest)
	f.Panels = []*plot.Plot{p}
	return f
}

// flat is a level from the beginning of one week to the beginning of another.
func flat(from, to int64, y float64) points {
	return points{{X: float64(from), Y: y}, {X: float64(to), Y: y}}
}

// maxOf returns the greatest y, 0 if all are below.
func maxOf(xy points) (greatest float64) {
	for _, p := range xy {
		greatest = max(greatest, p.Y)
	}
	return greatest
}
