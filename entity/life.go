package entity

// The life of a job: it arrives, gets a reservation, starts and ends.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// The kernel calls these; each is a run as the handler of one kind of event,
// which costs no allocation.
type (
	starting   Run
	ending     Run
	taskEnding Run
	overrun    Run
	tooLate    Run
)

// enter takes r in as the next in the order of submission. It reports whether r is
// still to come: an observer may cancel it at once.
func (m *Metascheduler) enter(r *Run) bool {
	r.seq = m.seq
	m.seq++
	r.entering = true
	m.notify(r, JobSubmitted)
	r.entering = false
	return r.State == Created
}

// arrive brings r into the queue.
func (m *Metascheduler) arrive(r *Run) {
	m.observers.reach(m.sim.Now())
	if !m.enter(r) {
		return
	}
	if err := m.Fits(r.Request); err != nil && !m.fits(r) {
		m.reject(r, err.Error())
		m.checkAnswers()
		return
	}
	if r.Request.Deadline > 0 && !m.setLimit(r) {
		return
	}
	r.State = Waiting
	if m.Predictor != nil && r.Request.Deadline == 0 {
		m.predict(r)
	}
	m.queue.add(r)
	m.fresh = append(m.fresh, r)
	m.wake(CauseArrival)
}

// setLimit has r, which must end by its deadline, rejected when it has waited too
// long: no job behind it shall wait for one that can never start. It reports
// whether r can start at all.
func (m *Metascheduler) setLimit(r *Run) bool {
	latest := r.Request.Deadline - m.leastTime(r)
	if latest < m.sim.Now() {
		if r.queued() {
			m.leave(r)
		}
		m.reject(r, fmt.Sprintf("its deadline, %v, is too soon", r.Request.Deadline))
		return false
	}
	m.unlimit(r)
	r.rare().limit = m.sim.At(latest.Add(des.Tick), phaseOverrun, (*tooLate)(r), uint64(r.ID))
	return true
}

// unlimit forgets about r's deadline: it has started, or is gone.
func (m *Metascheduler) unlimit(r *Run) {
	if r.few != nil {
		m.sim.Cancel(r.few.limit)
	}
}

func (l *tooLate) Handle(*des.Simulator, des.Event) {
	r := (*Run)(l)
	m := r.meta
	m.forget(m.sim.Now())
	if r.State == Waiting {
		m.leave(r)
		m.reject(r, fmt.Sprintf("its deadline, %v, can no longer be met", r.Request.Deadline))
		m.wake(CauseOverrun)
	}
}

func (m *Metascheduler) reject(r *Run, reason string) {
	r.State, r.Reason = Rejected, reason
	r.Finish = m.sim.Now()
	m.unlimit(r)
	m.notify(r, JobRejected)
}

// turnAway takes a job that is in the queue, or holds an advance reservation,
// out for good.
func (m *Metascheduler) turnAway(r *Run, reason string) {
	if r.State == Reserved {
		m.withdraw(r)
		if !r.queued() {
			return // an observer who heard of it was faster
		}
	}
	if !r.Booked {
		m.leave(r)
	}
	m.reject(r, reason)
}

// leave takes r out of the queue without a start: the next round does not hear of
// it.
func (m *Metascheduler) leave(r *Run) {
	m.queue.remove(r)
	m.fresh = slices.DeleteFunc(m.fresh, func(f *Run) bool { return f == r })
}

// placed starts a job whose reservation begins now, or has it wait until then.
func (m *Metascheduler) placed(r *Run) {
	start := r.Reservation.Window.Start
	if start == m.sim.Now() {
		m.begin(r)
		return
	}
	r.State = Reserved
	if r.Booked {
		m.booked++
	}
	r.due = m.sim.At(start, PhaseStart, (*starting)(r), uint64(r.ID))
	m.promise(r, start, false)
}

// withdraw takes from r what it holds; it waits again.
func (m *Metascheduler) withdraw(r *Run) {
	m.sim.Cancel(r.due)
	m.plan.Release(&r.Reservation, m.sim.Now())
	m.freed(r.Reservation.Window.Start, r.Reservation.Window.End)
	r.unmold()
	m.unsay(r)
	ahead := r.State == Reserved
	if ahead && r.Booked {
		m.booked--
	}
	r.State = Waiting
	if ahead {
		m.notify(r, JobWithdrawn)
	}
}

func (s *starting) Handle(*des.Simulator, des.Event) {
	r := (*Run)(s)
	r.meta.forget(r.meta.sim.Now())
	if r.State == Reserved {
		r.meta.begin(r)
	}
}

// begin starts r, whose reservation begins now.
func (m *Metascheduler) begin(r *Run) {
	now := m.sim.Now()
	switch {
	case !r.Booked:
		r.Backfilled = m.queue.First() != r
		m.queue.remove(r)
	case r.State == Reserved:
		m.booked--
	}
	m.unlimit(r)
	m.link(r)
	r.State, r.Start, r.Place = Running, now, nil
	m.schedule(r)
	m.notify(r, JobStarted) // last: whoever hears of it may stop the job at once
}

// endless ends the run where r would end past the largest instant, if it took so long from
// the instant at on. It reports whether it has.
func (r *Run) endless(at, length des.Time) bool {
	return length >= des.Forever-at && r.tooLong(at, length)
}

func (r *Run) tooLong(at, length des.Time) bool {
	r.meta.sim.Fail(fmt.Errorf("at %v: %v, which takes %v, would begin at %v and end past the largest instant, %v: the times of the workload are too long",
		r.meta.sim.Now(), r, length, at, des.Forever-1))
	return true
}

// schedule has r, which begins now, come to its end.
func (m *Metascheduler) schedule(r *Run) {
	now, w := m.sim.Now(), &r.Reservation.Window
	if w.Tasks != nil {
		m.plan.Settle(&r.Reservation)
		m.scheduleTasks(r)
		return
	}
	run, reserved := r.span(), w.Length()
	if r.endless(now, run) {
		return
	}
	if r.predicted() {
		run = m.length(r)
		m.watch(r, now.Add(run))
	} else if run > reserved {
		if m.Overrun == OverrunExtend {
			m.sim.At(w.End, phaseOverrun, (*overrun)(r), uint64(r.ID))
		} else {
			run = reserved
		}
	}
	r.due = m.sim.At(now.Add(run), PhaseEnd, (*ending)(r), uint64(r.ID))
}

// taskEnd is the event at which some of a run's tasks end together.
type taskEnd struct {
	at des.Time
	id des.EventID
}

// scheduleTasks has each task of r end at its own time. Tasks that end together
// are one event.
func (m *Metascheduler) scheduleTasks(r *Run) {
	m.occupy(r)
	w, f := &r.Reservation.Window, r.rare()
	f.left, f.events, f.ends = len(w.Tasks), f.events[:0], make([]des.Time, len(w.Tasks))
	for i, t := range w.Tasks {
		if i > 0 && t.End == w.Tasks[i-1].End { // as most often
			f.ends[i] = f.ends[i-1]
			continue
		}
		end := w.Start.Add(r.RealTime(t.End - w.Start))
		f.ends[i] = end
		if !slices.ContainsFunc(f.events, func(e taskEnd) bool { return e.at == end }) {
			f.events = append(f.events, taskEnd{end, m.sim.At(end, PhaseEnd, (*taskEnding)(r), uint64(i))})
		}
	}
	if r.predicted() {
		f.prediction.begun = nil
		m.watch(r, 0)
	}
}

func (e *taskEnding) Handle(_ *des.Simulator, ev des.Event) {
	r := (*Run)(e)
	m := r.meta
	m.forget(ev.Time)
	if r.State != Running {
		return
	}
	f := r.few
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
		f.left--
		m.busy.taken--
	}
	if f.left > 0 {
		m.wake(CauseEnd)
		return
	}
	m.finish(r)
}

func (e *ending) Handle(_ *des.Simulator, ev des.Event) {
	r := (*Run)(e)
	m := r.meta
	m.forget(ev.Time)
	if r.State != Running {
		return
	}
	if end := r.Reservation.Window.End; ev.Time < end {
		m.freed(ev.Time, end)
	}
	m.finish(r)
}

// ReasonEstimate is the Run.Reason of a job that was cut off at its estimate.
const ReasonEstimate = "killed at its estimate"

// finish takes leave of a job that has come to its end.
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

// stop ends the attempt under way of r, which runs: no task of it ends by itself
// any more.
func (m *Metascheduler) stop(r *Run) {
	now := m.sim.Now()
	m.observers.reach(now) // it has its place
	m.sim.Cancel(r.due)
	if f := r.few; f != nil {
		m.sim.Cancel(f.prediction.expiry)
		for _, e := range f.events {
			m.sim.Cancel(e.id)
		}
		for i := range f.ends {
			f.ends[i] = min(f.ends[i], now)
		}
	}
	m.unlink(r)
}

// mostVain is how many attempts of one job may be stopped in a row of which nothing is
// kept: a run in which that goes on would have no end.
const mostVain = 10_000

// preempt stops r and puts it back into the queue; see Preempt.
func (m *Metascheduler) preempt(r *Run, keep des.Time) {
	now := m.sim.Now()
	m.stop(r)
	a := r.attempt(now)
	a.Kept = r.worked(r.elapsed(min(max(keep, 0), now-r.Start)))
	f := r.rare()
	f.done += a.Kept
	if a.Kept > 0 {
		f.vain = 0
		r.keepShape()
	} else {
		r.unmold() // what it asks for next is in any of its shapes
		if f.vain++; f.vain == mostVain {
			m.sim.Fail(fmt.Errorf("at %v: %v has been stopped %d times in a row under policy %s, and nothing was kept of these attempts: "+
				"stop it more rarely than its set-up takes, have it write checkpoints more often, or limit how often it begins anew",
				now, r, f.vain, m.policy.Name()))
		}
	}
	if expected := r.expected(); a.Kept > 0 || f.setUp > 0 || r.predicted() {
		f.setUp = 0
		r.expect(max(expected-a.Kept, des.Tick))
	}
	f.over(a)
	f.resized = 0
	m.fresh = append(m.fresh, r)
	m.withdraw(r)
	f.ends, f.events, r.Place = nil, nil, nil
	m.queue.add(r)
	m.unsay(r)
	m.notify(r, JobRequeued)
	if r.queued() && r.Request.Deadline > 0 {
		m.setLimit(r)
	}
}
