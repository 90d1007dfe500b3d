package entity

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Job is one parallel job as its user describes it: Request.Nodes tasks that
// start at the same instant. A run changes nothing in it, so the same jobs can
// be simulated again, and by several simulations side by side. What becomes of
// a job in one simulation is a Run.
//
// What the scheduler may know of a job is everything but Runtime, which is the
// simulation's own knowledge.
//
// All times are in ticks, a million a second: an hour is des.Hour or
// 3600*des.Second, and a bare 3600 is 3.6 milliseconds.
type Job struct {
	// ID is the job's number in its workload. Two jobs may have one number: a job that
	// Slurm has requeued, the parts of a job of a grid. The engine tells runs apart by
	// Run.Seq; dependencies, and rows of results, go by ID.
	ID     int64
	Submit des.Time // instant of submission
	// Runtime is the time that the job really takes on a node of performance 1. On unequal nodes
	// the real time of every task is its reserved time times Runtime/Request.Length.
	Runtime des.Time
	// Request is the job's request to a plan: nodes, length and limits. Invariant: Nodes >= 1 and
	// Length > 0; see Request.Check.
	Request Request
	User    int32 // -1 where unknown
	Group   int32 // -1 where unknown
	Queue   int32 // -1 where unknown
	// Application is the number of the program that the job runs, 1 or more; 0 where
	// unknown.
	Application int32
	// Shapes are the ways in which a moldable job can run, in ascending order of their
	// nodes; nil for a rigid job. The job's own Request and Runtime are one of the shapes,
	// whether they are listed or not; a policy that knows no shapes uses that one.
	// Everything in Request but Nodes and Length holds for every shape.
	Shapes []Shape
	// After lists the jobs that this job must wait for. A metascheduler ignores it; sources
	// that hold jobs back, such as those in package flow, obey it.
	After []Dependency
	// Recorded is the wait that the job's log records, if the log has one; the policy "recorded"
	// repeats it.
	Recorded RecordedWait
	// Extra is further data of the workload about the job, for policies and observers that
	// know its type. The framework does not look at it.
	Extra any
}

// RecordedWait is the wait of a job in the schedule that its log records. The zero value means that
// the wait is unknown.
type RecordedWait struct{ afterSubmit des.Time } // one tick more than the wait

// Waited returns a recorded wait; a negative wait means that the wait is unknown.
func Waited(wait des.Time) RecordedWait {
	if wait < 0 {
		return RecordedWait{}
	}
	return RecordedWait{wait + des.Tick}
}

// Wait returns the time between submission and start, and whether it is known.
func (w RecordedWait) Wait() (wait des.Time, known bool) {
	return w.afterSubmit - des.Tick, w.afterSubmit > 0
}

// Columns may be implemented by Job.Extra. It gives orders by a formula the values of
// columns beyond the fields of a Job, such as "gpus", by their names.
type Columns interface {
	// Column returns the value as a number (NaN if it is no number) and as a text ("" if it
	// is no text). A job without that value returns neither.
	Column(name string) (number float64, text string)
}

// Dependency is another job that must have come to its end before, or only been
// submitted.
type Dependency struct {
	Job int64 // the ID of the other job
	OK  bool  // the other job must have finished by itself; otherwise any end will do
	// Submitted means that the submission of the other job is waited for, not its end. OK is
	// ignored then.
	Submitted bool
	Think     des.Time // how long after that end, or submission
}

const (
	dependencyOK        = ":ok"
	dependencySubmitted = ":submitted"
	dependencyThink     = "+"
)

// String returns d as files write it: 4:ok+60 is 60 time units after job 4 has finished
// well, 4:submitted+60 is 60 after it was submitted.
func (d Dependency) String() string {
	text := strconv.FormatInt(d.Job, 10)
	switch {
	case d.Submitted:
		text += dependencySubmitted
	case d.OK:
		text += dependencyOK
	}
	if d.Think > 0 {
		text += dependencyThink + d.Think.String()
	}
	return text
}

// CutDependency cuts what Dependency.String writes into the job, what of it is waited for
// (OK, Submitted), and the time behind the +, if there is one. Files may name several
// jobs in one place: what the parts say is for the caller to read.
func CutDependency(text string) (d Dependency, job, think string, thinks bool) {
	job, think, thinks = strings.Cut(text, dependencyThink)
	if job, d.Submitted = strings.CutSuffix(job, dependencySubmitted); !d.Submitted {
		job, d.OK = strings.CutSuffix(job, dependencyOK)
	}
	return d, job, think, thinks
}

// Check reports what makes j no job at all, or nil.
func (j *Job) Check() error {
	if j == nil {
		return errors.New("a job is nil")
	}
	if j.Submit < 0 {
		return fmt.Errorf("%v: its submission must not be negative: %v", j, j.Submit)
	}
	if j.Runtime < 0 || j.Runtime == des.Forever {
		return fmt.Errorf("%v: its runtime must be a finite time of 0 or more, not %v", j, j.Runtime)
	}
	if err := j.Request.Check(); err != nil {
		return fmt.Errorf("%v: %w", j, err)
	}
	if len(j.Shapes) > 0 {
		return j.checkShapes()
	}
	return nil
}

func (j *Job) String() string { return fmt.Sprintf("job %d", j.ID) }
