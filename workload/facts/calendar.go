package facts

import (
	"cmp"
	"slices"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// Arrivals are submissions by the hour of the day and the day of the week.
type Arrivals struct {
	// Zone is the clock's, by the header; empty where nothing tells what the clock showed. Then
	// hours and days are those from time 0 of the log, modulo 24 and 7.
	Zone  string `json:"time_zone"`
	Start string `json:"start,omitempty"` // time 0 of the log on that clock (RFC 3339)
	// Hours are from 0 to 23, Days from Sunday to Saturday.
	Hours [24]rush `json:"hours"`
	Days  [7]rush  `json:"weekdays"`

	sample *Sample // hours
}

// rush sums up the jobs that are submitted in the same hour of all days, or on the same day of all
// weeks.
type rush struct {
	Jobs  int64   `json:"jobs"`
	Share float64 `json:"share"` // of all jobs
	Work  float64 `json:"processor_hours"`
}

// Week is seven days, from the first submission on. Those without jobs that come or run are left
// out.
type Week struct {
	Number int64   `json:"week"` // from 0
	Jobs   int64   `json:"jobs"`
	Work   float64 `json:"processor_hours"`
	// Load is the work that is submitted by what the machine could do; of the last week, up to the
	// last submission. 0 where the machine is unknown.
	Load        float64 `json:"offered_load"`
	Utilization float64 `json:"utilization,omitempty"` // of the schedule in the log
	TopUser     int64   `json:"top_user"`              // who submits most; -1 where nobody is known
	TopJobs     int64   `json:"top_user_jobs"`
}

// lengthOfWeek is the length of a Week; days in which the clock is set are not told apart.
const lengthOfWeek = 7 * des.Day

// maxWeeks is for how long weeks are told: a century. Logs that go on have times of another kind.
const maxWeeks = 5200

// weekOf is the number of the week of an instant, counted from the first submission.
func weekOf(since des.Time) int64 { return int64(since / lengthOfWeek) }

// calendar counts submissions by the clock, and by weeks.
type calendar struct {
	arrivals Arrivals
	zone     *time.Location
	unix     int64        // of the instant that jobs call 0; what the clock showed is known where it is not 0
	origin   des.Time     // that instant in the log
	seasons  [2][24]int64 // submissions by hour, in standard time and in summer time

	first  des.Time        // submission, with which week 0 begins
	weeks  []Week          // those with submissions so far, ascending
	ofWeek map[int64]int64 // jobs of each user in the latest of them
}

// begin is told when the log began: unix is the header's UnixStartTime or 0, first the first
// submission, and origin the instant of the log that jobs call 0.
func (c *calendar) begin(unix int64, in *time.Location, first, origin des.Time) {
	c.first, c.origin, c.zone = first, origin, in
	if unix != 0 {
		c.unix = unix + int64(origin/des.Second)
		c.arrivals.Zone = in.String()
		c.arrivals.Start = time.Unix(unix, 0).In(in).Format(time.RFC3339)
	}
}

// clock is the hour and the weekday of an instant, and whether it is in summer time.
func (c *calendar) clock(t des.Time) (hour, day int, summer bool) {
	if c.unix == 0 {
		t += c.origin
		return int(t / des.Hour % 24), int(t / des.Day % 7), false
	}
	at := time.Unix(c.unix+int64(t/des.Second), 0).In(c.zone)
	return at.Hour(), int(at.Weekday()), at.IsDST()
}

// add takes in a submission, of work in processor hours. Submissions come in order.
func (c *calendar) add(submit des.Time, user int64, work float64) {
	hour, day, summer := c.clock(submit)
	for _, r := range []*rush{&c.arrivals.Hours[hour], &c.arrivals.Days[day]} {
		r.Jobs++
		r.Work += work
	}
	// Hours of summer and of winter, to find logs whose clock knows no summer time.
	c.arrivals.sample.add(int64(hour))
	if summer {
		c.seasons[1][hour]++
	} else {
		c.seasons[0][hour]++
	}

	// The week: since submissions come in order, it is the latest one or a new one.
	number := weekOf(submit - c.first)
	if number >= maxWeeks {
		return
	}
	if n := len(c.weeks); n == 0 || c.weeks[n-1].Number != number {
		c.weeks = append(c.weeks, Week{Number: number, TopUser: workload.Unknown})
		c.ofWeek = map[int64]int64{}
	}
	w := &c.weeks[len(c.weeks)-1]
	w.Jobs++
	w.Work += work
	if user < 0 {
		return
	}
	c.ofWeek[user]++
	if n := c.ofWeek[user]; n > w.TopJobs {
		w.TopUser, w.TopJobs = user, n
	}
}

// conclude is told the last submission, and the schedule of the log. The load of a week is the work
// that was submitted in it over what the machine can do in that time; its utilization is what the
// machine did, which may be of jobs of earlier weeks. So a week may have one without the other.
func (c *calendar) conclude(last des.Time, processors int, r *recorded) (Arrivals, []Week) {
	for _, all := range [][]rush{c.arrivals.Hours[:], c.arrivals.Days[:]} {
		var jobs int64
		for _, r := range all {
			jobs += r.Jobs
		}
		for i := range all {
			all[i].Share = share(all[i].Jobs, jobs)
		}
	}
	place := map[int64]int{} // of each week
	for i := range c.weeks {
		w := &c.weeks[i]
		place[w.Number] = i
		length := min(lengthOfWeek, last-c.first-des.Time(w.Number)*lengthOfWeek)
		if processors > 0 && length > 0 {
			w.Load = w.Work / float64(float64(processors)*length.Seconds()/3600)
		}
	}
	for number, busy := range r.weekly {
		if processors <= 0 {
			break
		}
		i, ok := place[number]
		if !ok {
			i = len(c.weeks)
			c.weeks = append(c.weeks, Week{Number: number, TopUser: workload.Unknown})
		}
		length := min(lengthOfWeek, r.now-c.first-des.Time(number)*lengthOfWeek)
		c.weeks[i].Utilization = busy / float64(float64(processors)*length.Seconds())
	}
	slices.SortFunc(c.weeks, func(a, b Week) int { return cmp.Compare(a.Number, b.Number) })
	return c.arrivals, c.weeks
}
