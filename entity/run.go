package entity

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/enum"
)

// RunState is the stage of a job's life.
//
//	Created -> Waiting <-> Running -> Finished | Killed
//	   |          |  ^        ^
//	   |          v  |        |
//	   |       Reserved ------+
//	   |          |
//	   +----------+--> Rejected
//
// A running job that is preempted goes back to Waiting.
type RunState uint8

const (
	Created  RunState = iota // known to the metascheduler, not yet submitted
	Waiting                  // submitted, in the queue, without a reservation
	Reserved                 // in the queue with a reservation that lies ahead
	Running                  // occupies its processors or nodes
	Finished                 // ran to its own end
	Killed                   // cut off while it ran: at its estimate, or by Metascheduler.Kill
	Rejected                 // left the queue for good: it cannot run here, or was cancelled; Run.Reason says why
)

var runStates = enum.Of[RunState]("state of a run", "created", "waiting", "reserved", "running", "finished", "killed", "rejected")

func (s RunState) String() string { return runStates.Name(s) }

// Run is the state of a Job in one simulation: its present request, its reservation, its attempts
// and its end. The metascheduler makes a Run for each submitted job, and nothing else changes it.
type Run struct {
	// Job is the job as it was submitted.
	*Job
	// Request, Runtime and Shapes are the job's present request, runtime and shapes; they hide the
	// fields of Job of these names. A moldable job has the nodes, the length and the runtime of one
	// of its shapes from the time that it is given a window until it gives the window up. After a
	// preemption that keeps work, Request.Length is the remaining length, and the job keeps its
	// shape: Shapes, from which it could choose, is nil then.
	Request Request
	Runtime des.Time
	Shapes  []Shape

	State      RunState // where the job is in its life
	Backfilled bool     // started before a job that stood ahead of it in the queue
	// Booked marks an advance reservation: it starts at its fixed time or not at
	// all, and never stands in the queue.
	Booked   bool
	entering bool // observers are being told of its submission
	// Reason says why the job was rejected or killed, or why it still waits where
	// the policy tells; for people.
	Reason string
	// Promised is the start of the first reservation the job was given while
	// it had to wait, or NeverPromised.
	Promised des.Time

	// Reservation is the job's reservation in the plan; see Reservation.Active.
	Reservation Reservation

	Start  des.Time // of the latest attempt; valid from Running on
	Finish des.Time // end of the last task, or the instant of rejection; valid from Finished, Killed or Rejected on
	// Place is the processors of the latest attempt, if the metascheduler has a Placer. It
	// is known once the instant of the start is over.
	Place []procset.Range

	meta     *Metascheduler
	next     *Run // among the running, in order of start
	previous *Run
	rare     *rareState  // what few runs have, or nil
	seq      int64       // position in the order of submission
	due      des.EventID // the arrival; the pending start of a reservation ahead; then, on counted processors, the end
	standing standing    // in the queue
}

// rareState holds the state that few runs need. It is kept apart so that the other runs stay small.
type rareState struct {
	demand demand

	// Predictions, beside those of demand.
	firstPrediction des.Time    // as the job was submitted
	corrections     int         // how often it has been corrected since
	foreteller      *Foreteller // who predicts a run without a metascheduler, or nil

	// Attempts that have ended.
	earlier []Attempt // that were preempted, or resized, oldest first
	resized int       // how many of the last ones were ended by a resize, since the job began or was preempted
	vain    int       // how many of the last preempted ones left no work
	served  des.Time  // the time of those that left work; see Served
	parts   []Part    // see Parts

	// The latest attempt.
	ends        []des.Time  // of its tasks
	events      []taskEnd   // at which they end
	tasksLeft   int         // how many still run
	outlives    des.EventID // the end of its window, where it runs on past that; see watch
	outlivesAt  des.Time    // when that is, or des.Forever; of no meaning at the instant of the start
	begun       []Task      // the tasks with which its window began, if the window has been extended since; or nil
	begunLength des.Time    // the length of the window then

	lastStart des.EventID // the latest instant at which the job can still start in time
	source    *source     // that brought the job and wants to hear of its end
	part      *Queue      // the part of the queue that has the job, or nil
	inPart    standing    // in that part
}

// withRare returns r.rare, which it makes first if r has none.
func (r *Run) withRare() *rareState {
	if r.rare == nil {
		if m := r.meta; m == nil {
			r.rare = &rareState{}
		} else {
			if len(m.rares) == 0 {
				m.rares = make([]rareState, 16)
			}
			r.rare, m.rares = &m.rares[0], m.rares[1:]
		}
		own := r.Job.own()
		r.rare.demand = demand{shape: own, left: r.estimate(own)}
	}
	return r.rare
}

// NeverPromised marks a job that never held a reservation ahead of its start.
const NeverPromised = des.Time(-1)

// Attempt is one time that a job held processors or nodes: from its start to its
// end, or until it was preempted.
type Attempt struct {
	Window Window          // as it was reserved
	Start  des.Time        // when it began
	End    des.Time        // when its last task ended
	Ends   []des.Time      // when each task ended; nil on counted processors, where all end at End
	Place  []procset.Range // processors that it had; nil without a Placer
	// Work is the part of the job's Runtime that the attempt has done, and Kept the part of Work
	// that is not lost. Overhead is the time of set-up and checkpoints. On a node of performance 1
	// Work and Overhead add up to the attempt's time; on other nodes to the time that the attempt
	// would have taken there. All are 0 while the attempt runs. For a resized job they are in the
	// time of the shape that the attempt had.
	Kept, Work, Overhead des.Time
}

// ProcessorTime returns the time that the attempt really took, summed over its tasks.
func (a Attempt) ProcessorTime() des.Time {
	if a.Ends == nil {
		return des.Time(a.Window.Nodes) * (a.End - a.Start)
	}
	var sum des.Time
	for _, end := range a.Ends {
		sum += min(end, a.End) - a.Start
	}
	return sum
}

// useful returns how much of a's time went into that much of its Work. On unequal nodes,
// whose tasks are faster or slower, it is a proportional part, rounded down.
func (a *Attempt) useful(work des.Time) des.Time {
	took, all := a.End-a.Start, a.Work+a.Overhead
	if work >= all {
		return took
	}
	took, _ = took.MulDiv(work, all)
	return took
}

// Part is an attempt of some tasks of a job, which ran together at one site of a grid. Speed
// is the mean speed of the site's nodes relative to nodes on which a job takes its stated
// times.
type Part struct {
	Attempt
	Speed float64 // above 0
	// Again marks an attempt of the same tasks as the part before, which was preempted
	// or resized.
	Again bool
}

// Parts returns the attempts of a grid's job at its sites, by their ends. It is nil for a
// job of one metascheduler, and until a part has ended.
func (r *Run) Parts() []Part {
	if r.rare == nil {
		return nil
	}
	return r.rare.parts
}

// AddPart adds to Parts, for code that tells observers of jobs which run at several sites.
func (r *Run) AddPart(p Part) { r.withRare().parts = append(r.withRare().parts, p) }

// Ran returns how long a job that has ended took for its own work: the time of its last
// attempt, and of earlier attempts as far as their work was kept. Lost work, set-up and
// checkpoints are left out. If the job ran in pieces, each at its own time, it is the
// longest piece.
func (r *Run) Ran() des.Time {
	if r.Once() { // as most often
		return r.Finish - r.Start
	}
	return r.ran()
}

// ran is Ran of a job that may have had more than one attempt.
func (r *Run) ran() des.Time {
	if parts := r.rare.parts; parts != nil {
		longest, piece := des.Time(0), des.Time(0)
		for i := range parts {
			p := &parts[i]
			if !p.Again {
				piece = 0
			}
			if i+1 < len(parts) && parts[i+1].Again {
				piece += p.useful(p.Kept)
			} else {
				piece += p.useful(p.Work)
			}
			longest = max(longest, piece)
		}
		return longest
	}
	ran := des.Time(0)
	for i := range r.rare.earlier {
		ran += r.rare.earlier[i].useful(r.rare.earlier[i].Kept)
	}
	last := r.Latest()
	return ran + last.useful(last.Work)
}

// Once reports whether a job that has ended had one attempt only, from Start to Finish and
// without overhead. It may be false for such a job, too; then Latest and Earlier have the
// details.
func (r *Run) Once() bool { return r.rare == nil }

// NewRun returns the run of a job that has not been submitted: for tests of
// plans, and for actors that run jobs otherwise than a Metascheduler does. seq
// is the job's position in the order of submission.
func NewRun(j *Job, seq int64) *Run {
	return &Run{Job: j, Request: j.Request, Runtime: j.Runtime, Shapes: j.Shapes, Promised: NeverPromised, seq: seq}
}

// NewWithheld returns a run under which a plan keeps capacity that no job may use, such as
// what a policy keeps idle or an owner takes. Observers are not told of it; use
// Metascheduler.Withhold where they should be. Metascheduler.WithheldFor says what it is for.
func NewWithheld() *Run { return NewRun(nobody, 0) }

// Restore sets the results of Earlier, Done and Ends: for tests of observers, and for code
// that tells observers of jobs without a Metascheduler.
func (r *Run) Restore(earlier []Attempt, done des.Time, ends []des.Time) {
	f := r.withRare()
	f.earlier, f.served, f.demand.done, f.ends = nil, 0, done, ends
	for _, a := range earlier {
		f.over(a)
	}
}

// over adds an attempt to the attempts that have ended.
func (f *rareState) over(a Attempt) {
	f.earlier = append(f.earlier, a)
	if a.Kept > 0 {
		f.served += a.End - a.Start
	}
}

// Wait returns the time from submission to the latest start, a resize apart.
func (r *Run) Wait() des.Time { return r.Began() - r.Submit }

// Seq returns the job's position in the order of submission, from 0. It is given
// when the job arrives.
func (r *Run) Seq() int64 { return r.seq }

// SetSeq gives a run of NewRun its position in the order of submission, where that is known only
// as the job arrives.
func (r *Run) SetSeq(seq int64) { r.seq = seq }

// Earlier returns the attempts that were preempted, or ended by a resize, oldest first.
func (r *Run) Earlier() []Attempt {
	if r.rare == nil {
		return nil
	}
	return r.rare.earlier
}

// Served returns how long the Earlier attempts whose work was kept have had their processors
// or nodes. It is cheap enough to be called at every event.
func (r *Run) Served() des.Time {
	if r.rare == nil {
		return 0
	}
	return r.rare.served
}

// Ends returns the real ends of the tasks of the latest attempt, in the order of
// Reservation.Window.Tasks. Ends of running tasks lie ahead, and only the simulation may
// know them, like Runtime. Ends is nil on counted processors, where all tasks end together.
func (r *Run) Ends() []des.Time {
	if r.rare == nil {
		return nil
	}
	return r.rare.ends
}

// Attempts yields what the job has had of processors or nodes: the attempts that were preempted
// or ended by a resize, then the latest one if it has started. The End of an attempt that still
// runs is des.Forever.
func (r *Run) Attempts() iter.Seq[Attempt] {
	return func(yield func(Attempt) bool) {
		for _, a := range r.Earlier() {
			if !yield(a) {
				return
			}
		}
		if r.State == Running || r.State == Finished || r.State == Killed {
			yield(r.Latest())
		}
	}
}

// Latest returns the present attempt, whose End is des.Forever, or the attempt that ended
// the job.
func (r *Run) Latest() Attempt {
	if r.State == Running {
		return r.attempt(des.Forever)
	}
	return r.attempt(r.Finish)
}

// attempt returns the latest attempt, which ends at the instant end; des.Forever means that it runs.
func (r *Run) attempt(end des.Time) Attempt {
	a := Attempt{Window: r.Reservation.Window, Start: r.Start, End: end, Ends: r.Ends(), Place: r.Place}
	if end == des.Forever {
		return a
	}
	elapsed := r.elapsed(end - r.Start)
	a.Work = r.worked(elapsed)
	a.Overhead = elapsed - a.Work
	if r.State == Finished {
		a.Kept = a.Work
	}
	return a
}

// RealTime returns how long a task of r really takes, given the time that was reserved for the
// task when it began. It is the job's share of the planned time, rounded up to a whole tick,
// and at most the share of its limit. If nothing is predicted, it is never above the reserved
// time.
func (r *Run) RealTime(reserved des.Time) des.Time {
	if r.predicted() {
		return scaled(reserved, min(r.span(), r.Limit()), r.Request.Length)
	}
	return share(reserved, r.span(), r.Request.Length)
}

// share returns t*part/whole rounded up, exactly; t itself if part is not less than whole.
func share(t, part, whole des.Time) des.Time {
	if part >= whole {
		return t
	}
	return scaled(t, part, whole)
}

// scaled returns t*part/whole rounded up, exactly; at most the largest finite time.
func scaled(t, part, whole des.Time) des.Time {
	times := part / whole
	quotient, rest := t.MulDiv(part%whole, whole)
	if rest > 0 {
		quotient++
	}
	if times > 0 && t > (des.Forever-1-quotient)/times {
		return des.Forever - 1
	}
	return t*times + quotient
}

// queued reports whether the job is in the queue.
func (r *Run) queued() bool { return r.State == Waiting || r.State == Reserved }

func (r *Run) String() string {
	if r.Job == nobody {
		return "withheld capacity"
	}
	return fmt.Sprintf("job %d", r.ID)
}
