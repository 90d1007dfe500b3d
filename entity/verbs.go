package entity

// What can be asked of a metascheduler while it runs, beside Submit and WakeAt.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/procset"
)

// Refuse has j come now and be turned away at once: for flows that decide about
// their jobs themselves, as those of advance reservations do.
func (m *Metascheduler) Refuse(j *Job, reason string) *Run {
	m.forget(m.sim.Now())
	r := m.newRun(j, false)
	if m.enter(r) {
		m.reject(r, reason)
	}
	return r
}

// Cancel takes a job out that has not started: one that is still to come, that
// waits, or that holds a reservation ahead. It is Rejected, for the reason given,
// and the others get a round. Cancel reports whether there was such a job.
func (m *Metascheduler) Cancel(r *Run, reason string) bool {
	now := m.sim.Now()
	m.forget(now)
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
			m.stir()
		}
		m.reject(r, reason)
		return true
	case !r.queued():
		return false
	}
	m.turnAway(r, reason)
	m.stir()
	return true
}

// Kill ends a job that runs; what it has done is lost. It reports whether the job
// ran.
func (m *Metascheduler) Kill(r *Run, reason string) bool {
	m.forget(m.sim.Now())
	if r.State != Running || r.meta != m {
		return false
	}
	m.kill(r, reason)
	m.stir()
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

// Preempt stops a job that runs and puts it back into the queue, where it stands
// by its submission. Of the time that it has run, so much is kept: 0 where it
// begins again from nothing, des.Forever where it is suspended, Run.Saved where it
// goes on from its last checkpoint. What is kept is neither run nor asked for
// again. Preempt reports whether the job ran. An advance reservation is not put
// back; it can only be killed.
func (m *Metascheduler) Preempt(r *Run, keep des.Time) bool {
	m.forget(m.sim.Now())
	if r.State != Running || r.Booked || r.meta != m {
		return false
	}
	m.preempt(r, keep)
	m.stir()
	return true
}

// Withdraw takes from a job the reservation that lies ahead; it waits again. It
// reports whether there was one. An advance reservation is not withdrawn but
// cancelled.
func (m *Metascheduler) Withdraw(r *Run) bool {
	m.forget(m.sim.Now())
	if r.State != Reserved || r.Booked || r.meta != m {
		return false
	}
	m.fresh = append(m.fresh, r)
	m.withdraw(r)
	m.stir()
	return true
}

// Changed says that by other means than those of the metascheduler something may
// have become free, or cheap, within [from, to); from >= to where something has
// only been taken. Waiting jobs get a round.
func (m *Metascheduler) Changed(from, to des.Time) {
	if from < to {
		m.freed(from, to)
	}
	m.stir()
}

// Hold is a window that is kept in the plan for the time being.
type Hold struct {
	meta  *Metascheduler
	run   *Run
	place []procset.Range // which processors are withheld, where that was said
	over  des.EventID     // when they are back, or when a window that nobody confirms is over
}

// Tentative keeps w for j, which may come or not. Observers are not told of it
// until it is confirmed. When its window is over waiting jobs get a round, if it was not.
func (m *Metascheduler) Tentative(j *Job, w Window) (*Hold, error) {
	if err := j.Check(); err != nil {
		return nil, err
	}
	r := m.newRun(j, true)
	if err := r.accept(&w); err != nil {
		return nil, fmt.Errorf("the window for %v %w", j, err)
	}
	m.forget(m.sim.Now())
	if _, err := m.plan.Reserve(r, w); err != nil {
		return nil, err
	}
	m.stir()
	h := &Hold{meta: m, run: r}
	if w.End < des.Forever {
		h.over = m.sim.At(w.End, PhaseChange, (*lapsing)(h), 0)
	}
	return h, nil
}

// lapsing is a hold as the handler of the end of a window that nobody has confirmed.
type lapsing Hold

func (l *lapsing) Handle(*des.Simulator, des.Event) {
	if l.meta.queue.Len() > 0 {
		l.meta.wake(CauseWake)
	}
}

// Window is what is kept.
func (h *Hold) Window() Window { return h.run.Reservation.Window }

// Place is which processors are withheld, where that was said, until they are back.
func (h *Hold) Place() []procset.Range { return h.place }

// Run is the run that there will be if the hold is confirmed; for capacity that
// is withheld, the one under which the plan has it.
func (h *Hold) Run() *Run { return h.run }

// Confirm has the job come: it is submitted now and starts when its window
// begins, at that instant or not at all (Run.Booked). The window must not have
// begun before. Where an observer cancels the job as it is submitted, the run is
// Rejected.
func (h *Hold) Confirm() (*Run, error) {
	m, r := h.meta, h.run
	m.forget(m.sim.Now())
	start := r.Reservation.Window.Start
	switch {
	case !r.Reservation.Active || r.State != Created || r.entering || r.Job == nobody:
		return nil, fmt.Errorf("%v has nothing that could be confirmed", r)
	case start < m.sim.Now():
		return nil, fmt.Errorf("the window kept for %v began at %v, which is past", r, start)
	}
	m.sim.Cancel(h.over)
	if m.enter(r) {
		r.State = Waiting
		m.placed(r)
	}
	return r, nil
}

// Drop gives back what is left of what was kept. Dropping twice is harmless; a
// job that was confirmed is cancelled or killed instead.
func (h *Hold) Drop() {
	m, r := h.meta, h.run
	now := m.sim.Now()
	m.forget(now)
	if !r.Reservation.Active || r.State != Created || r.entering {
		return
	}
	m.plan.Release(&r.Reservation, now)
	m.freed(max(now, r.Reservation.Window.Start), r.Reservation.Window.End)
	if r.Job == nobody {
		m.busy.back(h)
		for _, o := range m.observers.capacity {
			o.Returned(h)
		}
	}
	m.sim.Cancel(h.over)
	if h.place != nil {
		h.placeBack()
	}
	m.stir()
}

// nobody is the job under which a plan has capacity that no job may use.
var nobody = &Job{ID: -1, User: -1, Group: -1, Queue: -1}

// Withhold takes capacity out of the plan over the window: so many of its
// processors (Window.Nodes), or exactly the nodes that it names (Window.Tasks).
// It is refused with a *ConflictError where any of it is taken: then InTheWay
// says by which jobs, and it is for the caller to say who yields (Preempt, Kill,
// Withdraw) before asking again. What is withheld already is nobody's: InTheWay
// does not list it. Drop gives the capacity back ahead of time; des.Forever as its
// end is allowed.
//
// A counted plan counts: where there is a Placer and the window begins now, place
// says which processors those are, so that no job is placed there meanwhile.
func (m *Metascheduler) Withhold(w Window, place ...procset.Range) (*Hold, error) {
	h := &Hold{meta: m, run: NewWithheld()}
	h.run.meta = m
	now := m.sim.Now()
	m.forget(now)
	var err error
	if pins, ok := m.plan.(PinPlan); ok && w.Tasks != nil {
		_, err = pins.Pin(h.run, w)
	} else {
		_, err = m.plan.Reserve(h.run, w)
	}
	if err != nil {
		return nil, err
	}
	m.busy.withhold(h)
	if len(place) > 0 {
		if err := m.withholdPlace(w, place); err != nil {
			m.plan.Release(&h.run.Reservation, now)
			m.busy.back(h)
			return nil, err
		}
		h.place = place
		if w.End < des.Forever {
			h.over = m.sim.At(w.End, PhaseEnd, (*placeBack)(h), 0)
		}
	}
	for _, o := range m.observers.capacity {
		o.Withheld(h)
	}
	m.stir()
	m.WakeAt(w.End) // when the capacity is back
	return h, nil
}

// withholdPlace has nobody be placed on these processors.
func (m *Metascheduler) withholdPlace(w Window, place []procset.Range) error {
	now := m.sim.Now()
	n := procset.Count(place)
	switch {
	case m.Placer == nil:
		return fmt.Errorf("at %v: which processors are withheld can be said only where there is a Placer", now)
	case w.Start > now:
		return fmt.Errorf("at %v: which processors are withheld can be said only of a window that begins now, not at %v", now, w.Start)
	case n != w.Nodes:
		return fmt.Errorf("at %v: %d processors are withheld, and %d are named", now, w.Nodes, n)
	}
	m.observers.reach(now)
	return m.places.withhold(m, place)
}

// placeBack is a hold as the handler of its end.
type placeBack Hold

func (b *placeBack) Handle(*des.Simulator, des.Event) { (*Hold)(b).placeBack() }

// placeBack has the processors that were withheld be free when this instant is
// over.
func (h *Hold) placeBack() {
	h.meta.observers.reach(h.meta.sim.Now())
	h.meta.observers.begun = true // this instant has an end of its own
	h.meta.places.ended = append(h.meta.places.ended, h.place)
	h.place = nil
}

// InTheWay lists the jobs that hold what w is about, for Withhold: on named nodes
// those that have any of w's nodes meanwhile; on counted processors those whose
// Run.Place meets place, or, where place is nil, all that overlap w in time.
// Those that run come first, the latest started first; then those that hold a
// reservation ahead, the latest start first. Of equal starts the latest submitted comes
// first.
func (m *Metascheduler) InTheWay(w Window, place []procset.Range) []*Run {
	now := m.sim.Now()
	m.forget(now)
	m.observers.reach(now) // places are known
	var hit []*Run
	if pins, ok := m.plan.(PinPlan); ok && w.Tasks != nil {
		hit = pins.InTheWay(w, func(r *Run) bool { return r.State != Created })
	} else {
		for r := range m.RunningJobs() {
			if r.meets(w, place) {
				hit = append(hit, r)
			}
		}
		for r := range m.queue.By(Submission, now).All() {
			if r.State == Reserved && r.meets(w, nil) {
				hit = append(hit, r)
			}
		}
	}
	slices.SortStableFunc(hit, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.ahead(), b.ahead()), cmp.Compare(b.Reservation.Window.Start, a.Reservation.Window.Start), cmp.Compare(b.seq, a.seq))
	})
	return hit
}

// meets reports whether what r holds overlaps w in time and, where they are
// named, in processors.
func (r *Run) meets(w Window, place []procset.Range) bool {
	held := &r.Reservation.Window
	if held.Start >= w.End || w.Start >= held.End {
		return false
	}
	if place == nil {
		return true
	}
	return slices.ContainsFunc(r.Place, func(mine procset.Range) bool {
		return slices.ContainsFunc(place, func(p procset.Range) bool { return mine.First <= p.Last && p.First <= mine.Last })
	})
}

// ahead is 0 for a job that runs and 1 for one whose reservation lies ahead.
func (r *Run) ahead() int {
	if r.State == Running {
		return 0
	}
	return 1
}
