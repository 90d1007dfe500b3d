package backfill

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Recorded repeats the schedule that a log records: each job starts as long after its
// submission as it waited in the log (Job.Recorded). It decides nothing. It stands beside
// other policies as what really happened, measured by the same rules. If a log has more jobs
// on the machine than fit, jobs start later; see Timetable. A job whose wait the log does
// not tell ends the run with an error.
type Recorded struct{}

// Name returns "recorded".
func (Recorded) Name() string { return "recorded" }

// Schedule starts the jobs that the log starts now.
func (Recorded) Schedule(r *entity.Round) {
	for _, j := range r.Fresh() {
		if _, known := j.Recorded.Wait(); !known {
			r.Fail(fmt.Errorf("%v: its log does not tell how long it waited, in field 3 of SWF; leave such jobs out (where wait >= 0)", j))
			return
		}
	}
	byRecord.Schedule(r)
}

// byRecord is the timetable of the recorded starts.
var byRecord = NewTimetable("recorded", "its log", func(j *entity.Run) des.Time {
	wait, _ := j.Recorded.Wait()
	return j.Submit + wait
})

// Timetable starts each job at an instant that is known beforehand, and decides nothing else.
// A job that finds too little free then begins as soon as it fits, before all whose instants
// come later.
type Timetable struct {
	order entity.Order               // by start
	start func(*entity.Run) des.Time // the instant of each job; it must not change
	nodes func(*entity.Run) int      // nil: a moldable job takes the first of its windows (entity.FirstStart)
	ahead entity.Why                 // of jobs whose instants come later
	since entity.Why                 // of jobs whose instants have come, and which do not fit
}

// NewTimetable returns a timetable. source names it, as "its log", in the reasons why jobs
// wait. start returns the instant of a job, always the same one.
func NewTimetable(name, source string, start func(*entity.Run) des.Time) Timetable {
	return Timetable{
		order: entity.Order{Name: name, Key: func(j *entity.Run, _ des.Time) float64 { return float64(start(j)) }},
		start: start,
		ahead: entity.Why{What: entity.HeldOtherwise, Text: source + " has it start later"},
		since: entity.Why{What: entity.HeldOtherwise, Text: source + " has it start by now, and too little is free"},
	}
}

// Molding returns t for moldable jobs, of which each takes its shape of that many nodes.
func (t Timetable) Molding(nodes func(*entity.Run) int) *Timetable {
	t.nodes = nodes
	return &t
}

// Name returns the name of the timetable.
func (t Timetable) Name() string { return t.order.Name }

// Schedule starts the jobs whose time has come, and asks for a round at the next start.
func (t Timetable) Schedule(r *entity.Round) {
	// Those whose instants have come and that fit.
	q := r.Queue.By(t.order, r.Now)
	for j, w := range q.Fitting(r.Plan, r.Now, 0) {
		if t.start(j) > r.Now {
			break // nor have those of the jobs behind it
		}
		fits := true
		if t.nodes != nil { // a job that has kept work, or that is not known, has no such shape
			if req, has := j.RequestOn(t.nodes(j)); has && req.Nodes != w.Nodes {
				w, fits = r.Plan.Find(req, r.Now, r.Now)
			}
		}
		if fits {
			r.Reserve(j, w)
		}
	}
	// The first instant to come. Those that did not fit need no round of their own: they are
	// tried whenever something ends.
	for j := range q.All() {
		if start := t.start(j); start > r.Now {
			r.WakeAt(start)
			break
		}
	}
	if !r.WhyObserved() {
		return
	}
	for j := range r.Waiting() {
		if t.start(j) > r.Now {
			r.TellWhy(j, t.ahead)
		} else {
			r.TellWhy(j, t.since)
		}
	}
}
