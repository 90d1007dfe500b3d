package figure

// What is in a log, before anything is simulated.

import (
	"math"

	"gonum.org/v1/plot"
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

// shares is a panel of columns of shares in percent, one for each count, in the colour of a series.
// Without any jobs all columns are 0. The ticks of x stand at 0, 1, 2 ... up to the number of counts.
func shares(x, y string, counts []float64, ticks []plot.Tick, colours int) panel {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	var all boxes
	for i, n := range counts {
		all = append(all, box{float64(i) + 0.1, float64(i) + 0.9, 0, 100 * n / max(total, 1e-300), colour(colours)})
	}
	return panel{x: axis{x, between(0, float64(len(counts)), ticks...)}, y: axis{y, fromZero(1)}, series: []series{draws("", all)}}
}

// arrivals draws when jobs come. A week begins with Monday, as a calendar does, or with day 0.
func (l *Log) arrivals() *Figure {
	hourLabel, dayLabel, note := "hour of the day", "day of the week", "By the clock of "+l.Clock+"."
	days, names := append(append([]float64(nil), l.Days[1:]...), l.Days[0]), []string{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"}
	if l.Clock == "" {
		hourLabel, dayLabel, note = "hour of the log", "day of the log", noClock
		days, names = l.Days[:], []string{"0", "1", "2", "3", "4", "5", "6"}
	}
	var ticks []plot.Tick
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i) + 0.5, Label: name})
	}
	f := inPairs(36*vg.Millimeter).show(shares(hourLabel, "jobs, %", l.Hours[:], hoursOfDay, 0), shares(dayLabel, "", days, ticks, 1))
	f.Name, f.Note = "arrivals", note
	return f
}

// distributions draws the distribution functions of sizes, runtimes and estimates.
func (l *Log) distributions() *Figure {
	sizes := l.Sizes.line(math.Log10, 1, solid(colour(2), vg.Points(lineWidth)))
	var lengths []series
	for i, of := range []struct {
		name string
		Distribution
	}{{"runtime", l.Runtimes}, {"estimate", l.Requests}} {
		if len(of.Values) > 0 {
			lengths = append(lengths, draws(of.name, of.line(durationScale{}.place, 0, line(i))))
		}
	}
	f := column(36*vg.Millimeter).show(
		panel{x: axis{"processors", asFactors}, y: axis{"jobs, %", asPercent}, series: []series{draws("", sizes)}},
		panel{x: axis{"length", asDurationsFromZero}, y: axis{"jobs, %", asPercent}, series: lengths},
	)
	f.Name = "sizes-and-runtimes"
	f.Note = "The share of jobs with no more than that. Lengths: linear up to 10 s, logarithmic beyond."
	return f
}

// accuracy draws what part of their estimates jobs run for.
func (l *Log) accuracy() *Figure {
	var ticks []plot.Tick
	for i := 0; i <= len(l.Accuracy); i += 2 {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: short(float64(100*i) / float64(len(l.Accuracy)))})
	}
	f := column(36 * vg.Millimeter).show(shares("runtime / estimate, %", "jobs, %", l.Accuracy, ticks, 0))
	f.Name = "accuracy"
	f.Note = "The last column has the jobs that ran longer than their estimates, too."
	return f
}

// load draws the offered load and the utilization week by week. Weeks without jobs are not in the
// log, and have the load 0.
func (l *Log) load() *Figure {
	var offered, used points
	inUse := false
	first, next := l.Weeks[0].Week, l.Weeks[0].Week
	for _, w := range l.Weeks {
		if w.Week > next { // nothing in between
			offered, used = append(offered, flat(next, w.Week, 0)...), append(used, flat(next, w.Week, 0)...)
		}
		next = w.Week + 1
		offered, used = append(offered, flat(w.Week, next, w.Offered)...), append(used, flat(w.Week, next, w.Utilization)...)
		inUse = inUse || w.Utilization > 0
	}
	all := []series{draws("offered load", path(offered, line(0)))}
	if inUse {
		all = append(all, draws("utilization, by the waits in the log", path(used, line(1))))
	}
	f := column(36 * vg.Millimeter).show(panel{x: axis{"week of the log", between(float64(first), float64(next))}, y: axis{"load", fromZero(1)}, series: all})
	f.Name = "load-by-week"
	return f
}

// flat is a level from the beginning of one week to the beginning of another.
func flat(from, to int64, y float64) points {
	return points{{X: float64(from), Y: y}, {X: float64(to), Y: y}}
}
