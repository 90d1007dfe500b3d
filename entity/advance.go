package entity

// Advance reservations: jobs that start at a fixed time or not at all. They are
// reservations in the plan like any other, so that every policy sees holes
// where they are.

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Booking is a user's advance reservation: Job starts at Start, or not at all.
// It is asked for at Job.Submit.
type Booking struct {
	Job   *Job
	Start des.Time
}

// bookings is the flow of users' advance reservations into a metascheduler.
type bookings struct {
	meta   *Metascheduler
	next   func() (Booking, bool)
	stop   func()
	coming Booking // the one pending arrival
}

// SubmitBookings takes users' advance reservations, in order of Job.Submit,
// pulled one ahead of the clock. One out of order ends the run with an error.
//
// A booking is granted where its time is free in the plan when it is asked for;
// otherwise its job is Rejected. Among what is taken are the reservations that
// the policy has given to waiting jobs (all of them under conservative
// backfilling), but not the holds of a round: the head of EASY's queue may be
// delayed by a later booking.
//
// It may be called more than once, for several sources.
func (m *Metascheduler) SubmitBookings(all iter.Seq[Booking]) {
	b := &bookings{meta: m}
	b.next, b.stop = iter.Pull(all)
	m.bookings = append(m.bookings, b)
	b.pull()
}

func (b *bookings) close() {
	if b.stop != nil {
		b.stop()
	}
	b.next, b.stop = nil, nil
}

func (b *bookings) pull() {
	k, ok := b.next()
	if !ok {
		b.close()
		return
	}
	sim := b.meta.sim
	if k.Job.Submit < sim.Now() {
		sim.Fail(fmt.Errorf("the booking of %v is asked for at %v, before the one in front of it (%v)", k.Job, k.Job.Submit, sim.Now()))
		return
	}
	b.coming = k
	sim.At(k.Job.Submit, PhaseLocal, b, uint64(k.Job.ID))
}

// Handle asks for a booking whose time of asking has come.
func (b *bookings) Handle(*des.Simulator, des.Event) {
	k := b.coming
	if b.next != nil {
		b.pull()
	}
	b.meta.Book(k)
}

// Book asks for an advance reservation now. It reports whether it was granted;
// where it was not, the job is Rejected and Job.Reason says why.
func (m *Metascheduler) Book(b Booking) bool {
	j, now := b.Job, m.sim.Now()
	j.Booked = true
	m.enter(j)
	m.forget(now)
	w, reason := m.windowAt(j.Request, b.Start)
	if reason != "" {
		j.State, j.Reason = Rejected, reason
		m.notify(j, JobRejected)
		return false
	}
	if !m.keep(j, w) {
		return false
	}
	m.confirm(j)
	return true
}

// windowAt is the window for req that begins at the instant start, or why there
// is none.
func (m *Metascheduler) windowAt(req Request, start des.Time) (w Window, reason string) {
	if start < m.sim.Now() {
		return w, fmt.Sprintf("wants to start at %v, which is past", start)
	}
	if err := m.plan.Fits(req); err != nil {
		return w, err.Error()
	}
	w, ok := m.plan.Find(req, start, start)
	if !ok {
		return w, fmt.Sprintf("wants to start at %v, when there is no room for it", start)
	}
	return w, ""
}

// keep takes w for j in the plan, for the time being: no one is told.
func (m *Metascheduler) keep(j *Job, w Window) bool {
	if _, err := m.plan.Reserve(j, w); err != nil {
		m.sim.Fail(fmt.Errorf("at %v, an advance reservation: %w", m.sim.Now(), err))
		return false
	}
	j.Booked = true
	m.stir()
	return true
}

// drop gives back what keep took.
func (m *Metascheduler) drop(j *Job) {
	now := m.sim.Now()
	m.forget(now)
	m.plan.Release(&j.Reservation, now)
	m.freed(max(now, j.Reservation.Window.Start), j.Reservation.Window.End)
	m.stir()
}

// confirm has j start when its window, which has not begun, begins.
func (m *Metascheduler) confirm(j *Job) {
	j.State = Waiting
	m.placed(j)
}

// CancelBooking gives up an advance reservation that lies ahead, and reports
// whether it did: the job is then Rejected.
func (m *Metascheduler) CancelBooking(j *Job) bool {
	if !j.Booked || j.State != Reserved {
		return false
	}
	m.forget(m.sim.Now())
	m.withdraw(j)
	j.State, j.Reason = Rejected, "the advance reservation was cancelled"
	m.notify(j, JobRejected)
	m.stir()
	return true
}

// stir gives waiting jobs a round: the plan has changed.
func (m *Metascheduler) stir() {
	if m.queue.Len() > 0 {
		m.wake(CauseLocal)
	}
}
