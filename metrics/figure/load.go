package figure

// Load by hour and weekday.

import (
	"fmt"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/rows"
)

// rate is the load submitted in all hours of one kind: the number of jobs, their work in processor
// hours, and the number of such hours.
type rate struct{ jobs, work, hours float64 }

// rates returns the rates of the hours of the day, and of the days of the week, Sunday first. The
// work of a job is its processors times its runtime. Time is cut at full hours of the clock; the
// first and the last hour count as far as they lie between the first and the last submission.
func rates(jobs []rows.Job, origin time.Time) (byHour [24]rate, byDay [7]rate) {
	jobs = inOrder(jobs)
	// Whole seconds, because a time.Duration holds no more than 292 years.
	clock := func(t des.Time) time.Time {
		return time.Unix(origin.Unix()+int64(t/des.Second), 0).In(origin.Location())
	}
	add := func(at time.Time, jobs, work, hours float64) {
		for _, r := range []*rate{&byHour[at.Hour()], &byDay[at.Weekday()]} {
			r.jobs += jobs
			r.work += work
			r.hours += hours
		}
	}
	for i := range jobs {
		j := &jobs[i]
		work := 0.0
		if j.Runtime != rows.None {
			work = float64(j.Processors) * j.Runtime.Seconds() / 3600
		}
		add(clock(j.Submit), 1, work, 0)
	}
	last := clock(jobs[len(jobs)-1].Submit)
	for at := clock(jobs[0].Submit); at.Before(last); {
		// The next full hour. In zones off by half an hour full hours are those of the clock, too.
		next := at.Add(time.Hour - time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second)
		if next.After(last) {
			next = last
		}
		add(at, 0, 0, next.Sub(at).Hours())
		at = next
	}
	return byHour, byDay
}

// drawLoad draws how many jobs, and how much work, are submitted in an hour, by the hour
// of the day and by the day of the week. origin is what the clock showed at time 0,
// in the zone of the machine; where it is the zero time hours and days are those of
// the simulation, from 0. Submissions must lie a day apart or more.
func drawLoad(jobs []rows.Job, origin time.Time) (*Figure, error) {
	if len(jobs) == 0 || spanOfJobs(jobs) < des.Day {
		return nil, &noDataError{"load", "job file with submissions over a day or more"}
	}
	if spanOfJobs(jobs) > 200*365*des.Day {
		return nil, &noDataError{"load", "calendar for submissions over more than 200 years"}
	}
	days := []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"}
	order := []int{1, 2, 3, 4, 5, 6, 0}
	hourLabel, dayLabel := "hour of the day", "day of the week"
	note := noClock
	if origin.IsZero() {
		origin = time.Unix(3*86400, 0).UTC() // a Sunday
		hourLabel, dayLabel = "hour of simulation", "day of simulation"
		days, order = []string{"0", "1", "2", "3", "4", "5", "6"}, []int{0, 1, 2, 3, 4, 5, 6}
	} else {
		note = fmt.Sprintf("Clock of the machine: time 0 is %s.", origin.Format("2006-01-02 15:04 MST"))
	}
	byHour, byDay := rates(jobs, origin)
	var dayTicks []plot.Tick
	for x, d := range order {
		dayTicks = append(dayTicks, plot.Tick{Value: float64(x), Label: days[d]})
	}
	// Two rows of panels: the number of jobs above, their work below; hours to the left, days to
	// the right.
	f := inPairs(32 * vg.Millimeter)
	f.Note = note
	for _, quantity := range []struct {
		label               string
		of                  func(rate) float64
		hourLabel, dayLabel string
	}{
		{"jobs/h", func(r rate) float64 { return r.jobs / r.hours }, "", ""},
		{"processor-h/h", func(r rate) float64 { return r.work / r.hours }, hourLabel, dayLabel},
	} {
		var hours, weekdays boxes
		for h, r := range byHour {
			if r.hours > 0 {
				hours = append(hours, box{float64(h) + 0.1, float64(h) + 0.9, 0, quantity.of(r), colour(0)})
			}
		}
		for x, d := range order {
			if r := byDay[d]; r.hours > 0 {
				weekdays = append(weekdays, box{float64(x) - 0.4, float64(x) + 0.4, 0, quantity.of(r), colour(1)})
			}
		}
		f.show(
			panel{x: axis{quantity.hourLabel, between(0, 24, hoursOfDay...)}, y: axis{quantity.label, fromZero(1e-9)}, series: []series{draws("", hours)}},
			panel{x: axis{quantity.dayLabel, between(-0.5, 6.5, dayTicks...)}, y: axis{"", fromZero(1e-9)}, series: []series{draws("", weekdays)}},
		)
	}
	return f, nil
}

func spanOfJobs(jobs []rows.Job) des.Time {
	first, last := jobs[0].Submit, jobs[0].Submit
	for i := range jobs {
		first, last = min(first, jobs[i].Submit), max(last, jobs[i].Submit)
	}
	return last - first
}
