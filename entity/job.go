package entity

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// JobState is where a job is in its life.
//
//	Created -> Waiting <-> Running -> Finished | Killed
//	              |  ^        ^
//	              v  |        |
//	            Reserved -----+         Created -> Rejected
//
// A running job goes back to Waiting when an owner's job preempts it.
type JobState uint8

const (
	Created  JobState = iota // read from the workload, not yet submitted
	Waiting                  // submitted, in the queue, without a reservation
	Reserved                 // in the queue with a reservation that lies ahead
	Running                  // occupies its processors or nodes
	Finished                 // ran to its own end
	Killed                   // cut off: at its estimate, or preempted
	Rejected                 // can never run here; Job.Reason says why
)

var jobStateNames = [...]string{"created", "waiting", "reserved", "running", "finished", "killed", "rejected"}

func (s JobState) String() string {
	if int(s) < len(jobStateNames) {
		return jobStateNames[s]
	}
	return fmt.Sprintf("JobState(%d)", s)
}

// Job is one parallel job: Request.Nodes tasks that start at the same instant.
// What the scheduler may know of it is Submit, Request and User; Runtime is the
// simulation's own knowledge.
type Job struct {
	ID     int64
	Submit des.Time // instant of submission
	// Runtime is how long the job really takes, on a node of performance 1. On
	// unequal nodes every task's real time is its reserved time times
	// Runtime/Request.Length.
	Runtime des.Time
	Request Request
	User    int32 // -1 where unknown
	Group   int32 // -1 where unknown
	Queue   int32 // -1 where unknown

	State  JobState
	Reason string // why it was rejected or killed, or why it still waits where the policy says so; for people

	Start  des.Time // valid from Running on
	Finish des.Time // valid from Finished or Killed on; the end of its last task
	// Promised is the start of the first reservation the job was given while
	// it had to wait, or NeverPromised.
	Promised   des.Time
	Backfilled bool // started before a job that stood ahead of it in the queue
	// Booked marks an advance reservation: it starts at its fixed time or not at
	// all, and never stands in the queue.
	Booked    bool
	Preempted int // how often it was sent back to the queue while it ran
	// Lost is the processor time of the runs that were preempted.
	Lost des.Time

	// Reservation is what the job holds in the plan; see Reservation.Active.
	Reservation Reservation

	seq  int64 // position in the order of submission
	home *Metascheduler
	part *Queue        // of the queue, or nil
	due  des.EventID   // the pending start of a reservation ahead; then, on counted processors, the end
	left int           // tasks that still run
	ends []des.EventID // of the tasks, on named nodes
}

// NeverPromised marks a job that never held a reservation ahead of its start.
const NeverPromised = des.Time(-1)

// Wait is the time from submission to start.
func (j *Job) Wait() des.Time { return j.Start - j.Submit }

// Seq is the job's position in the order of submission, from 0.
func (j *Job) Seq() int64 { return j.seq }

// SetSeq numbers j in the order of submission. The metascheduler does so for
// the jobs it is given; only what stands in for it has to.
func (j *Job) SetSeq(seq int64) { j.seq = seq }

func (j *Job) String() string { return fmt.Sprintf("job %d", j.ID) }
