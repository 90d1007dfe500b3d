package entity

// Capacity that is held in the plan other than by jobs that have come: windows of jobs that
// may come (Tentative), and nodes or processors that no job may use (Withhold).

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/procset"
)

// Hold is a window that is kept in the plan for a job that may come, or for capacity that is
// withheld.
type Hold struct {
	meta  *Metascheduler
	run   *Run
	where Where       // of capacity that is withheld
	taken bool        // the places of jobs are without its processors
	over  des.EventID // when these are back, or when a window that nobody confirms is over
}

// Tentative keeps w for j, which may come or not. Observers hear of it when the hold is
// confirmed. If it is not confirmed, waiting jobs get a round when the window is over.
func (m *Metascheduler) Tentative(j *Job, w Window) (*Hold, error) {
	if err := j.Check(); err != nil {
		return nil, err
	}
	r := m.newRun(j, true)
	if err := r.accept(&w); err != nil {
		return nil, fmt.Errorf("the window for %v %w", j, err)
	}
	m.Advance()
	if _, err := m.plan.Reserve(r, w); err != nil {
		return nil, err
	}
	m.WithheldFor(r, BlockedByTentative)
	m.changedByOthers()
	h := &Hold{meta: m, run: r}
	if w.End < des.Forever {
		h.over = m.sim.At(w.End, PhaseChange, des.Func(func(*des.Simulator, des.Event) { h.lapse() }), 0)
	}
	return h, nil
}

// lapse gives waiting jobs a round at the end of a window that nobody has confirmed.
func (h *Hold) lapse() {
	if h.meta.queue.Len() > 0 {
		h.meta.wake(CauseWake)
	}
}

// Window returns the window that is kept.
func (h *Hold) Window() Window { return h.run.Reservation.Window }

// Where returns the capacity that is withheld, as it was asked for.
func (h *Hold) Where() Where { return h.where }

// Run returns the run that there will be if the hold is confirmed; for withheld capacity the
// run under which the plan keeps it.
func (h *Hold) Run() *Run { return h.run }

// Confirm submits the job now; the job starts when its window begins, at that instant or not
// at all (Run.Booked). The window must not have begun before. If an observer cancels the job
// as it is submitted, the run is Rejected.
func (h *Hold) Confirm() (*Run, error) {
	m, r := h.meta, h.run
	m.Advance()
	start := r.Reservation.Window.Start
	switch {
	case !r.Reservation.Active || r.State != Created || r.entering || r.Job == nobody:
		return nil, fmt.Errorf("%v has nothing that could be confirmed", r)
	case start < m.sim.Now():
		return nil, fmt.Errorf("the window kept for %v began at %v, which is past", r, start)
	}
	m.sim.Cancel(h.over)
	if start == m.sim.Now() {
		m.overrunFirst()
	}
	if m.enter(r) {
		r.State = Waiting
		m.startWhenDue(r)
	}
	return r, nil
}

// Drop gives back what is left of the window. A second call does nothing. After Confirm the
// job is cancelled or killed instead.
func (h *Hold) Drop() {
	m, r := h.meta, h.run
	now := m.sim.Now()
	m.Advance()
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
	if h.taken {
		h.placeBack()
	}
	m.changedByOthers()
}

// nobody is the job under which a plan has capacity that no job may use.
var nobody = &Job{ID: -1, User: -1, Group: -1, Queue: -1}

// Withhold takes capacity out of the plan over [from, to). If any of it is taken, it returns
// a *ConflictError. Then InTheWay lists the jobs that hold it, and the caller decides which
// of them yield (Preempt, Kill, Withdraw) before calling again. InTheWay does not list
// capacity that is withheld already. Hold.Drop gives the capacity back ahead of time; to may
// be des.Forever.
//
// Named nodes are withheld by number. Counted processors can be withheld by number if there
// is a Placer and the window begins now: no job is placed there meanwhile.
func (m *Metascheduler) Withhold(at Where, from, to des.Time) (*Hold, error) {
	h := &Hold{meta: m, run: NewWithheld(), where: at}
	h.run.meta = m
	now := m.sim.Now()
	m.Advance()
	if err := at.Check(m.plan.Size()); err != nil {
		return nil, fmt.Errorf("at %v: capacity that is to be withheld: %w", now, err)
	}
	if err := m.plan.Withhold(h.run, at, from, to); err != nil {
		return nil, err
	}
	m.busy.withhold(h)
	m.WithheldFor(h.run, BlockedByOther)
	if at.Set != nil && !Named(m.plan) {
		if err := m.withholdPlace(at, from); err != nil {
			m.plan.Release(&h.run.Reservation, now)
			m.busy.back(h)
			return nil, err
		}
		h.taken = true
		if to < des.Forever {
			h.over = m.sim.At(to, PhaseEnd, des.Func(func(*des.Simulator, des.Event) { h.placeBack() }), 0)
		}
	}
	for _, o := range m.observers.capacity {
		o.Withheld(h)
	}
	m.changedByOthers()
	m.WakeAt(to) // when the capacity is back
	return h, nil
}

// withholdPlace keeps the placer from placing any job on these counted processors from now
// on.
func (m *Metascheduler) withholdPlace(at Where, from des.Time) error {
	now := m.sim.Now()
	switch {
	case m.Placer == nil:
		return fmt.Errorf("at %v: which processors are withheld can be said only where there is a Placer", now)
	case from > now:
		return fmt.Errorf("at %v: which processors are withheld can be said only of a window that begins now, not at %v", now, from)
	}
	m.observers.reach(now)
	if c, ok := m.Placer.(Chooser); ok && c.Chosen(at.Set) != nil {
		return fmt.Errorf("at %v: a job that has started now is to have one of the processors %s", now, procset.Append(nil, at.Set))
	}
	return m.places.withhold(m, at.Set)
}

// placeBack gives the withheld processors back: they are free when this instant is over.
func (h *Hold) placeBack() {
	h.meta.observers.reach(h.meta.sim.Now())
	h.meta.observers.begun = true // this instant has an end of its own
	h.meta.places.ended = append(h.meta.places.ended, h.where.Set)
	h.taken = false
}

// InTheWay lists the jobs that hold any of at within [from, to), for Withhold. Of named
// nodes these are the jobs that have one of the nodes; of counted processors with a Placer,
// the jobs that run on one of them (Run.Place), and all reservations ahead, because nobody
// knows ahead which processors they will have. Without numbers all jobs are listed that hold
// anything then.
//
// Running jobs come first, the latest started first; then jobs with a reservation ahead, the
// latest start first. Of equal starts the latest submitted job comes first.
func (m *Metascheduler) InTheWay(at Where, from, to des.Time) []*Run {
	now := m.sim.Now()
	m.Advance()
	m.observers.reach(now) // places are known
	var hit []*Run
	if at.Set != nil && Named(m.plan) {
		hit = m.plan.InTheWay(at, from, to, func(r *Run) bool { return r.State != Created })
	} else {
		for r := range m.RunningJobs() {
			if r.meets(at.Set, from, to) {
				hit = append(hit, r)
			}
		}
		for r := range m.queue.By(Submission, now).All() {
			if r.State == Reserved && r.meets(nil, from, to) {
				hit = append(hit, r)
			}
		}
	}
	slices.SortStableFunc(hit, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.ahead(), b.ahead()), cmp.Compare(b.Reservation.Window.Start, a.Reservation.Window.Start), cmp.Compare(b.seq, a.seq))
	})
	return hit
}

// meets reports whether what r holds overlaps [from, to) and, where processors are
// named, these.
func (r *Run) meets(place []procset.Range, from, to des.Time) bool {
	held := &r.Reservation.Window
	return held.Start < to && from < held.End && (place == nil || procset.Overlap(r.Place, place))
}

// ahead returns 0 for a job that runs, and 1 for a job whose reservation lies ahead.
func (r *Run) ahead() int {
	if r.State == Running {
		return 0
	}
	return 1
}
