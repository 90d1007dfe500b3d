package entity

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// JobEventKind says what happened to a job.
type JobEventKind uint8

const (
	JobSubmitted JobEventKind = iota // entered the queue
	JobRejected                      // refused at submission; Job.Reason says why
	JobPromised                      // told of a start ahead (JobEvent.Start): EASY's hold for the head, a conservative or planned reservation, or a reservation moved
	JobStarted                       // began to run; Job.Reservation.Window says where
	JobFinished                      // its last task ended by itself
	JobKilled                        // its last task was cut off
	JobRequeued                      // preempted, and back in the queue
	JobWithdrawn                     // lost a reservation that lay ahead, and waits again
)

var jobEventNames = [...]string{"submitted", "rejected", "promised", "started", "finished", "killed", "requeued", "withdrawn"}

func (k JobEventKind) String() string {
	if int(k) < len(jobEventNames) {
		return jobEventNames[k]
	}
	return fmt.Sprintf("JobEventKind(%d)", k)
}

// JobEvent is one happening in a job's life.
type JobEvent struct {
	Time  des.Time
	Kind  JobEventKind
	Job   *Job
	Start des.Time // JobPromised: the promised start
	// Head marks a JobPromised that is the hold for the first job of the
	// queue, which a backfilling policy must not delay.
	Head bool
}

// Observer is told of every job event, in the order in which they happen. It
// reads; it must change nothing. Events of one instant come in the order of
// the pass mode: physically, whatever ends at an instant makes room for
// whatever starts at it, in either mode.
type Observer interface {
	Observe(e JobEvent)
}

// Attacher is an Observer that wants to know, before the first event, whose
// jobs it will be told of.
type Attacher interface {
	Attach(m *Metascheduler)
}
