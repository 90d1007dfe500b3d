package backfill

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Recorded repeats the schedule that a log records: each job starts as long after its
// submission as it waited there (Job.Recorded). It decides nothing, and stands beside
// policies that do: what really happened, measured as their schedules are.
//
// A job that finds too little free at its recorded start begins as soon as it fits, before
// all whose recorded starts come later. So no schedule has more on a machine than the machine
// has, also where a log does. A job of which the log does not tell the wait ends the run with an
// error.
type Recorded struct{}

// byRecord is the order of the recorded starts.
var byRecord = entity.Order{Name: "recorded", Key: func(j *entity.Run, _ des.Time) float64 {
	return float64(recordedStart(j))
}}

// Name is "recorded".
func (Recorded) Name() string { return "recorded" }

// Schedule starts what is due, and asks for a round when the next start is.
func (Recorded) Schedule(r *entity.Round) {
	for _, j := range r.Fresh() {
		if _, known := j.Recorded.Wait(); !known {
			r.Fail(fmt.Errorf("%v: its log does not tell how long it waited, in field 3 of SWF; leave such jobs out (where wait >= 0)", j))
			return
		}
	}
	q := r.Queue.By(byRecord, r.Now)
	for j, w := range q.Fitting(r.Plan, r.Now, 0) {
		if recordedStart(j) > r.Now {
			break
		}
		r.Reserve(j, w)
	}
	for j := range q.All() {
		if start := recordedStart(j); start > r.Now {
			r.WakeAt(start)
			break
		}
	}
	if !r.WhyObserved() {
		return
	}
	for j := range r.Waiting() {
		why := entity.Why{What: entity.HeldOtherwise, Text: "its log has it start later"}
		if recordedStart(j) <= r.Now {
			why.Text = "its log has it start by now, and too little is free"
		}
		r.TellWhy(j, why)
	}
}

// recordedStart is when j starts by its log.
func recordedStart(j *entity.Run) des.Time {
	wait, _ := j.Recorded.Wait()
	return j.Submit + wait
}
