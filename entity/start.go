package entity

// How a job starts: it arrives, gets a reservation, and its attempt begins. How it ends
// is told by end.go.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// starting is a run as the handler of the start of its reservation. It costs no
// allocation, as a closure would.
type starting Run

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
	if err := m.FitsRun(r); err != nil {
		m.reject(r, err.Error())
		m.checkAnswers()
		return
	}
	if r.Request.Deadline > 0 && !m.setStartLimit(r) {
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

// setStartLimit schedules the rejection of r for the instant after which r can no longer end by its
// deadline: no job behind it shall wait for a job that can never start. If that instant is past, r
// is rejected at once and setStartLimit returns false.
func (m *Metascheduler) setStartLimit(r *Run) bool {
	latest := r.Request.Deadline - m.leastTime(r)
	if latest < m.sim.Now() {
		if r.queued() {
			m.dequeue(r)
		}
		m.reject(r, fmt.Sprintf("its deadline, %v, is too soon", r.Request.Deadline))
		return false
	}
	m.cancelStartLimit(r)
	r.withRare().lastStart = m.sim.At(latest.Add(des.Tick), phaseOverrun, des.Func(func(*des.Simulator, des.Event) { m.rejectTooLate(r) }), uint64(r.ID))
	return true
}

// cancelStartLimit cancels the rejection at r's latest start: r has started, or is gone.
func (m *Metascheduler) cancelStartLimit(r *Run) {
	if r.rare != nil {
		m.sim.Cancel(r.rare.lastStart)
	}
}

// rejectTooLate rejects r, which can no longer meet its deadline, if it waits without a window.
func (m *Metascheduler) rejectTooLate(r *Run) {
	m.Advance()
	if r.State == Waiting {
		m.dequeue(r)
		m.reject(r, fmt.Sprintf("its deadline, %v, can no longer be met", r.Request.Deadline))
		m.wake(CauseOverrun)
	}
}

// startWhenDue starts a job whose reservation begins now. The start of a later reservation becomes
// an event.
func (m *Metascheduler) startWhenDue(r *Run) {
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

// Withdraw takes from a job the reservation that lies ahead; it waits again. It
// reports whether there was one. An advance reservation is not withdrawn but
// cancelled.
func (m *Metascheduler) Withdraw(r *Run) bool {
	m.Advance()
	if r.State != Reserved || r.Booked || r.meta != m {
		return false
	}
	m.fresh = append(m.fresh, r)
	m.withdraw(r)
	m.changedByOthers()
	return true
}

// withdraw takes from r what it holds; it waits again.
func (m *Metascheduler) withdraw(r *Run) {
	m.sim.Cancel(r.due)
	m.plan.Release(&r.Reservation, m.sim.Now())
	m.freed(r.Reservation.Window.Start, r.Reservation.Window.End)
	r.chooseAnew()
	m.forgetReason(r)
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
	r.meta.Advance()
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
	m.cancelStartLimit(r)
	m.link(r)
	r.State, r.Start, r.Place = Running, now, nil
	m.schedule(r)
	m.notify(r, JobStarted) // last: whoever hears of it may stop the job at once
}

// endsTooLate ends the simulation with an error if r, which takes length from the instant at on,
// would end past the largest instant. It reports whether it has done so.
func (r *Run) endsTooLate(at, length des.Time) bool {
	return length >= des.Forever-at && r.failTooLate(at, length)
}

func (r *Run) failTooLate(at, length des.Time) bool {
	r.meta.sim.Fail(fmt.Errorf("at %v: %v, which takes %v, would begin at %v and end past the largest instant, %v: the times of the workload are too long",
		r.meta.sim.Now(), r, length, at, des.Forever-1))
	return true
}

// schedule puts the end of r, which begins now, into the event list.
func (m *Metascheduler) schedule(r *Run) {
	now, w := m.sim.Now(), &r.Reservation.Window
	if w.Tasks != nil {
		m.plan.Settle(&r.Reservation)
		m.scheduleTasks(r)
		return
	}
	run := r.span()
	if r.endsTooLate(now, run) {
		return
	}
	switch {
	case r.predicted():
		run = m.length(r)
	case m.Overrun != OverrunExtend:
		run = min(run, w.Length())
	}
	m.watch(r, now.Add(run))
	r.due = m.sim.At(now.Add(run), PhaseEnd, (*ending)(r), uint64(r.ID))
}

// taskEnd is the event at which some of a run's tasks end together.
type taskEnd struct {
	at des.Time
	id des.EventID
}

// scheduleTasks puts the end of each task of r into the event list. Tasks that end together are one
// event.
func (m *Metascheduler) scheduleTasks(r *Run) {
	m.occupy(r)
	w, f := &r.Reservation.Window, r.withRare()
	f.tasksLeft, f.events, f.ends, f.outlivesAt = len(w.Tasks), f.events[:0], make([]des.Time, len(w.Tasks)), des.Forever
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
		f.begun = nil
		m.watch(r, 0)
	}
}
