package entity

// The life of a job: it arrives, gets a reservation, starts and ends.

import (
	"fmt"

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

// enter takes r in as the next in the order of submission.
func (m *Metascheduler) enter(r *Run) {
	r.seq = m.seq
	m.seq++
	m.notify(r, JobSubmitted)
}

// arrive brings r into the queue.
func (m *Metascheduler) arrive(r *Run) {
	m.underContext()
	m.enter(r)
	if err := m.plan.Fits(r.Request); err != nil {
		m.reject(r, err.Error())
		m.checkAnswers()
		return
	}
	if r.Request.Deadline > 0 && !m.setLimit(r) {
		return
	}
	r.State = Waiting
	m.queue.add(r)
	m.fresh = append(m.fresh, r)
	m.wake(CauseArrival)
}

// setLimit has r, which must end by its deadline, rejected when it has waited too
// long: no job behind it shall wait for one that can never start. It reports
// whether r can start at all.
func (m *Metascheduler) setLimit(r *Run) bool {
	latest := r.Request.Deadline
	if m.nodes == nil { // on nodes a task may be shorter than the request's length
		latest -= r.Request.Length
	}
	if latest < m.sim.Now() {
		m.reject(r, fmt.Sprintf("its deadline, %v, is too soon", r.Request.Deadline))
		return false
	}
	r.limit = m.sim.At(latest.Add(des.Tick), phaseOverrun, (*tooLate)(r), uint64(r.ID))
	return true
}

func (l *tooLate) Handle(*des.Simulator, des.Event) {
	if r := (*Run)(l); r.State == Waiting {
		m := r.meta
		m.queue.remove(r)
		m.reject(r, fmt.Sprintf("its deadline, %v, can no longer be met", r.Request.Deadline))
		m.wake(CauseOverrun)
	}
}

func (m *Metascheduler) reject(r *Run, reason string) {
	r.State, r.Reason = Rejected, reason
	m.sim.Cancel(r.limit)
	m.notify(r, JobRejected)
}

// turnAway takes a job that is in the queue, or holds an advance reservation,
// out for good.
func (m *Metascheduler) turnAway(r *Run, reason string) {
	if r.State == Reserved {
		m.withdraw(r)
	}
	if !r.Booked {
		m.queue.remove(r)
	}
	m.reject(r, reason)
}

// placed starts a job whose reservation begins now, or has it wait until then.
func (m *Metascheduler) placed(r *Run) {
	start := r.Reservation.Window.Start
	if start == m.sim.Now() {
		m.begin(r)
		return
	}
	r.State = Reserved
	r.due = m.sim.At(start, PhaseStart, (*starting)(r), uint64(r.ID))
	m.promise(r, start, false)
}

// withdraw takes from r what it holds; it waits again.
func (m *Metascheduler) withdraw(r *Run) {
	m.sim.Cancel(r.due)
	m.plan.Release(&r.Reservation, m.sim.Now())
	m.freed(r.Reservation.Window.Start, r.Reservation.Window.End)
	ahead := r.State == Reserved
	r.State = Waiting
	if ahead {
		m.notify(r, JobWithdrawn)
	}
}

func (s *starting) Handle(*des.Simulator, des.Event) {
	r := (*Run)(s)
	r.meta.begin(r)
}

// begin starts r, whose reservation begins now.
func (m *Metascheduler) begin(r *Run) {
	now := m.sim.Now()
	if !r.Booked {
		r.Backfilled = m.queue.First() != r
		m.queue.remove(r)
	}
	if r.Request.Deadline > 0 {
		m.sim.Cancel(r.limit)
	}
	m.link(r)
	r.State, r.Start = Running, now
	r.Ends, r.Place = nil, nil
	w := &r.Reservation.Window
	if w.Tasks != nil && m.nodes != nil {
		m.nodes.Settle(&r.Reservation)
	}
	m.notify(r, JobStarted)

	if w.Tasks != nil {
		m.beginTasks(r)
		return
	}
	run := r.Remaining()
	if reserved := w.Length(); run > reserved {
		if m.Overrun == OverrunExtend {
			m.sim.At(w.End, phaseOverrun, (*overrun)(r), uint64(r.ID))
		} else {
			run = reserved
		}
	}
	r.due = m.sim.At(now.Add(run), PhaseEnd, (*ending)(r), uint64(r.ID))
}

// taskEnds are the ends to come of a run's tasks.
type taskEnds struct {
	left   int // tasks that still run
	events []taskEnd
}

// taskEnd is the event at which some of a run's tasks end together.
type taskEnd struct {
	at des.Time
	id des.EventID
}

// beginTasks has each task of r end at its own time. Tasks that end together are
// one event.
func (m *Metascheduler) beginTasks(r *Run) {
	w := &r.Reservation.Window
	if r.tasks == nil {
		r.tasks = &taskEnds{}
	}
	r.tasks.left, r.tasks.events = len(w.Tasks), r.tasks.events[:0]
	r.Ends = make([]des.Time, len(w.Tasks))
	for i, t := range w.Tasks {
		end := w.Start.Add(r.RealTime(t.End - w.Start))
		r.Ends[i] = end
		if !r.endsAt(end) {
			id := m.sim.At(end, PhaseEnd, (*taskEnding)(r), uint64(i))
			r.tasks.events = append(r.tasks.events, taskEnd{end, id})
		}
	}
}

// endsAt reports whether there is an event for tasks that end at the instant at.
func (r *Run) endsAt(at des.Time) bool {
	for i := len(r.tasks.events) - 1; i >= 0; i-- { // most often it is the latest
		if r.tasks.events[i].at == at {
			return true
		}
	}
	return false
}

func (e *taskEnding) Handle(_ *des.Simulator, ev des.Event) {
	r := (*Run)(e)
	m := r.meta
	m.forget(ev.Time)
	for i := int(ev.Arg); i < len(r.Ends); i++ {
		if r.Ends[i] != ev.Time {
			continue
		}
		if end := r.Reservation.Window.Tasks[i].End; ev.Time < end {
			m.freed(ev.Time, end)
		}
		if m.nodes != nil {
			m.nodes.ReleaseTask(&r.Reservation, i, ev.Time)
		}
		for _, o := range m.observers.tasks {
			o.TaskEnded(r, i)
		}
		r.tasks.left--
	}
	if r.tasks.left > 0 {
		m.wake(CauseEnd)
		return
	}
	m.finish(r)
}

func (e *ending) Handle(_ *des.Simulator, ev des.Event) {
	r := (*Run)(e)
	m := r.meta
	m.forget(ev.Time)
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
	if r.Remaining() > r.Request.Length && (m.Overrun != OverrunExtend || r.Reservation.Window.Tasks != nil) {
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
	if r.tasks != nil {
		for _, e := range r.tasks.events {
			m.sim.Cancel(e.id)
		}
	}
	for i := range r.Ends {
		r.Ends[i] = min(r.Ends[i], now)
	}
	m.unlink(r)
}

// preempt stops r and puts it back into the queue; see Preempt.
func (m *Metascheduler) preempt(r *Run, keep des.Time) {
	now := m.sim.Now()
	m.stop(r)
	a := r.attempt(now)
	a.Kept = r.progress(min(keep, now-r.Start))
	r.Done += a.Kept
	r.Request.Length = max(r.Request.Length-a.Kept, des.Tick)
	r.Earlier = append(r.Earlier, a)
	m.fresh = append(m.fresh, r)
	m.withdraw(r)
	r.Ends, r.Place = nil, nil
	m.queue.add(r)
	m.notify(r, JobRequeued)
	if r.Request.Deadline > 0 && !m.setLimit(r) {
		m.queue.remove(r)
	}
}

// progress is how much of its runtime r does in so much time of its attempt.
func (r *Run) progress(t des.Time) des.Time {
	w := &r.Reservation.Window
	if w.Tasks == nil {
		return min(t, r.Remaining())
	}
	whole := r.RealTime(w.Length())
	if whole == 0 || t >= whole {
		return r.Remaining()
	}
	done, _ := mulDiv(r.Remaining(), t, whole)
	return done
}
