package entity

// How a job ends.
//
//	its runtime is over             finish     Finished  JobFinished
//	its estimate is over            finish     Killed    JobKilled, ReasonEstimate; see Overrun
//	past what is planned of it,
//	  and no room to run on         outlives   Killed    JobKilled; see correct.go
//	somebody ends it                Kill       Killed    JobKilled
//	it has not started:
//	  cannot run, is cancelled,
//	  its deadline is too soon      reject     Rejected  JobRejected
//
// Each of these, but for a job of which nobody has heard yet, does the same in this order:
// what the job holds goes back to the plan (Plan.Release), Run.State, Run.Finish and
// Run.Reason are set, observers and the predictor are told (notify), and waiting jobs get a
// round (wake, rounds.go), but after a job that is rejected as it comes. Invariant: a job
// ends once; Finished, Killed and Rejected are final.
//
// When a job begins its attempt, start.go puts its end into the event list: one event
// (ending) on counted processors, where all tasks end together; on named nodes one event for
// all tasks that end at the same instant (taskEnding). An end by somebody (Kill, Preempt)
// cancels that event (stop).
//
// Two things end an attempt only, and not the job: Preempt, after which the job waits again, and
// Resize (resize.go), after which it goes on in another shape.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// Overrun says what becomes of a job whose real runtime is above its estimate.
type Overrun uint8

const (
	OverrunKill   Overrun = iota // the job is cut off at its estimate
	OverrunExtend                // the job runs on to its real end; the plan learns of it as it happens. On named nodes it is cut off all the same
	OverrunRaise                 // the estimate is raised to the runtime before the scheduler sees it
)

// Lasts returns how long j occupies its processors on a cluster where nothing else stops it: no
// longer than its estimate under OverrunKill, and otherwise its runtime.
func (o Overrun) Lasts(j *Job) des.Time {
	if o == OverrunKill {
		return min(j.Runtime, j.Request.Length)
	}
	return j.Runtime
}

var overruns = enum.Of[Overrun]("treatment of a runtime above the estimate", "kill", "extend", "raise")

func (o Overrun) String() string { return overruns.Name(o) }

// ParseOverrun reads "kill", "extend" or "raise".
func ParseOverrun(s string) (Overrun, error) { return overruns.Parse(s) }

// ending and taskEnding are a run as the handler of its end, and of the end of some of
// its tasks. They cost no allocation, as closures would.
type (
	ending     Run
	taskEnding Run
)

func (e *ending) Handle(_ *des.Simulator, ev des.Event) {
	r := (*Run)(e)
	m := r.meta
	m.Advance()
	if r.State != Running {
		return
	}
	if end := r.Reservation.Window.End; ev.Time < end {
		m.freed(ev.Time, end)
	}
	m.finish(r)
}

func (e *taskEnding) Handle(_ *des.Simulator, ev des.Event) {
	r := (*Run)(e)
	m := r.meta
	m.Advance()
	if r.State != Running {
		return
	}
	f := r.rare
	together := len(f.events) == 1 // then finish gives all back at once
	for i := int(ev.Arg); i < len(f.ends); i++ {
		if f.ends[i] != ev.Time {
			continue
		}
		if end := r.Reservation.Window.Tasks[i].End; ev.Time < end {
			m.freed(ev.Time, end)
		}
		if !together {
			m.plan.ReleaseTask(&r.Reservation, i, ev.Time)
		}
		for _, o := range m.observers.tasks {
			o.TaskEnded(r, i)
		}
		if r.State != Running {
			return // an observer has stopped it
		}
		f.tasksLeft--
		m.busy.taken--
	}
	if f.tasksLeft > 0 {
		m.wake(CauseEnd)
		return
	}
	m.finish(r)
}

// ReasonEstimate is the Run.Reason of a job that was cut off at its estimate.
const ReasonEstimate = "killed at its estimate"

// finish ends a job that has come to its end.
func (m *Metascheduler) finish(r *Run) {
	now := m.sim.Now()
	m.plan.Release(&r.Reservation, now)
	m.unlink(r)
	r.Finish = now
	// On named nodes a job is cut off whatever Overrun says.
	if r.span() > r.Limit() && (m.Overrun != OverrunExtend || r.Reservation.Window.Tasks != nil) {
		r.State, r.Reason = Killed, ReasonEstimate
		m.notify(r, JobKilled)
	} else {
		r.State = Finished
		m.notify(r, JobFinished)
	}
	if !r.Booked || m.queue.Len() > 0 {
		m.wake(CauseEnd)
	}
}

// Kill ends a job that runs; what it has done is lost. It reports whether the job
// ran.
func (m *Metascheduler) Kill(r *Run, reason string) bool {
	m.Advance()
	if r.State != Running || r.meta != m {
		return false
	}
	m.kill(r, reason)
	m.changedByOthers()
	return true
}

// kill ends r, which runs, now.
func (m *Metascheduler) kill(r *Run, reason string) {
	now := m.sim.Now()
	m.stop(r)
	m.plan.Release(&r.Reservation, now)
	m.freed(now, r.Reservation.Window.End)
	r.Finish, r.State, r.Reason = now, Killed, reason
	m.notify(r, JobKilled)
}

// stop ends the attempt under way of r and cancels the events of its end.
func (m *Metascheduler) stop(r *Run) {
	now := m.sim.Now()
	m.observers.reach(now) // it has its place
	m.sim.Cancel(r.due)
	if f := r.rare; f != nil {
		m.sim.Cancel(f.outlives)
		for _, e := range f.events {
			m.sim.Cancel(e.id)
		}
		for i := range f.ends {
			f.ends[i] = min(f.ends[i], now)
		}
	}
	m.unlink(r)
}

// Preempt stops a running job and puts it back into the queue, at the place of its
// submission. keep is the work of this attempt that is not lost: 0 if the job begins again
// from nothing, des.Forever if it is suspended, Run.Saved if it goes on from its last
// checkpoint. Kept work is neither run nor asked for again. Preempt reports whether the job
// ran. An advance reservation cannot be preempted, only killed.
func (m *Metascheduler) Preempt(r *Run, keep des.Time) bool {
	m.Advance()
	if r.State != Running || r.Booked || r.meta != m {
		return false
	}
	m.preempt(r, keep)
	m.changedByOthers()
	return true
}

// mostVain is the number of attempts of one job in a row that may be stopped without any kept work.
// A run in which that goes on would never end.
const mostVain = 10_000

// preempt stops r and puts it back into the queue; see Preempt.
func (m *Metascheduler) preempt(r *Run, keep des.Time) {
	now := m.sim.Now()
	m.stop(r)
	a := r.attempt(now)
	a.Kept = r.worked(r.elapsed(min(max(keep, 0), now-r.Start)))
	r.keepWork(a.Kept)
	f := r.rare
	if a.Kept > 0 {
		f.vain = 0
	} else if f.vain++; f.vain == mostVain {
		m.sim.Fail(fmt.Errorf("at %v: %v has been stopped %d times in a row under policy %s, and nothing was kept of these attempts: "+
			"stop it more rarely than its set-up takes, have it write checkpoints more often, or limit how often it begins anew",
			now, r, f.vain, m.policy.Name()))
	}
	f.over(a)
	f.resized = 0
	m.fresh = append(m.fresh, r)
	m.withdraw(r)
	f.ends, f.events, r.Place = nil, nil, nil
	m.queue.add(r)
	m.forgetReason(r)
	m.notify(r, JobRequeued)
	if r.queued() && r.Request.Deadline > 0 {
		m.setStartLimit(r)
	}
}

// Cancel rejects a job that has not started: one that is still to come, that waits, or that
// has a reservation ahead. reason becomes its Run.Reason, and the waiting jobs get a round.
// Cancel reports whether there was such a job.
func (m *Metascheduler) Cancel(r *Run, reason string) bool {
	now := m.sim.Now()
	m.Advance()
	switch {
	case r.meta != m: // it shares a plan with this one, and is not its
		return false
	case r.State == Created && m.sim.Cancel(r.due): // nobody has heard of it
		m.coming--
		r.State, r.Reason, r.Finish = Rejected, reason, m.sim.Now()
		return true
	case r.entering && r.State == Created: // it is on the threshold
		if held := r.Reservation; held.Active {
			m.plan.Release(&r.Reservation, now)
			m.freed(held.Window.Start, held.Window.End)
			m.changedByOthers()
		}
		m.reject(r, reason)
		return true
	case !r.queued():
		return false
	}
	m.rejectQueued(r, reason)
	m.changedByOthers()
	return true
}

// rejectQueued rejects a job that is in the queue, or holds an advance reservation.
func (m *Metascheduler) rejectQueued(r *Run, reason string) {
	if r.State == Reserved {
		m.withdraw(r)
		if !r.queued() {
			return // an observer who heard of it was faster
		}
	}
	if !r.Booked {
		m.dequeue(r)
	}
	m.reject(r, reason)
}

// dequeue takes r out of the queue without a start: it is not among the Fresh jobs of the
// next round.
func (m *Metascheduler) dequeue(r *Run) {
	m.queue.remove(r)
	m.fresh = slices.DeleteFunc(m.fresh, func(f *Run) bool { return f == r })
}

// Refuse submits j now and rejects it at once, for flows that decide about their jobs
// themselves, such as advance reservations.
func (m *Metascheduler) Refuse(j *Job, reason string) *Run {
	m.Advance()
	r := m.newRun(j, false)
	if m.enter(r) {
		m.reject(r, reason)
	}
	return r
}

// reject ends r, which is not in the queue and has not started.
func (m *Metascheduler) reject(r *Run, reason string) {
	r.State, r.Reason = Rejected, reason
	r.Finish = m.sim.Now()
	m.cancelStartLimit(r)
	m.notify(r, JobRejected)
}
