package entity

// What becomes of a job that outlives its prediction.
//
//	r, which runs   [..........]>>>>>>>>      its window ends here, and it goes on
//	reserved ahead      [ a ]  [ b ]  [ c ]   b or c may have to yield; a has begun
//
// The prediction of r is corrected, and r keeps its processors for as long as is predicted now. Of
// the reservations in the way the one that begins last is withdrawn first. Reservations that turn
// out not to have been in the way get their windows back, so that none is withdrawn for which there
// is room. What is fixed stays: advance reservations, withheld capacity, tentative windows, owners'
// jobs. The job runs on until the first of these needs its processors.

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
)

const (
	// ReasonPrediction is the Run.Reason of a job that had outlived its prediction, and was
	// cut off before its request.
	ReasonPrediction = "killed past its prediction" + takenAhead

	// reasonOverrun is the Run.Reason of a job that ran on past its estimate, by
	// OverrunExtend, until something fixed was in its way: an advance reservation, or
	// capacity that is withheld, for instance by a power cap.
	reasonOverrun = "killed past its estimate" + takenAhead

	takenAhead = ": what it had was taken ahead by what cannot be moved"
)

// watch schedules outlives for the instant at which r outlives its window, if it does. end is the
// real end of r on counted processors; on named nodes each task has its own.
func (m *Metascheduler) watch(r *Run, end des.Time) {
	w, at := &r.Reservation.Window, des.Forever
	if w.Tasks == nil && w.End < end {
		at = w.End
	}
	for i, t := range w.Tasks {
		if t.End < r.rare.ends[i] {
			at = min(at, t.End)
		}
	}
	if at == des.Forever && r.rare == nil {
		return // as most often
	}
	f := r.withRare()
	if f.outlivesAt = at; at < des.Forever {
		f.outlives = m.sim.At(at, phaseOverrun, des.Func(func(*des.Simulator, des.Event) { m.outlives(r) }), uint64(r.ID))
	}
}

// overrunFirst looks at all jobs that outlive a window now, before anything starts on their
// processors: an observer who hears at the beginning of an instant that the one before is
// over may ask for a start at once.
func (m *Metascheduler) overrunFirst() {
	for _, r := range slices.Collect(m.RunningJobs()) {
		if r.rare != nil && r.rare.outlivesAt == m.sim.Now() && r.Start < m.sim.Now() {
			m.outlives(r)
		}
	}
}

// outlives extends the window of r, which ends now while r runs on: by a correction of r's
// prediction, or by the latest prediction if the window had to end before that. A job that
// is planned by its estimate is thought to take twice its time so far, and every job with a
// reservation ahead is planned anew.
func (m *Metascheduler) outlives(r *Run) {
	m.Advance()
	if r.State != Running || r.rare.outlivesAt != m.sim.Now() {
		return // an observer who heard that the instant before is over has stopped it, or had it looked at
	}
	r.rare.outlivesAt = des.Forever
	reason, predicted := reasonOverrun, r.predicted()
	if predicted {
		reason = ReasonPrediction
		if r.outlived(m.sim.Now()) {
			m.correct(r)
		}
	} else {
		m.withdrawAll(m.queue.By(Submission, m.sim.Now()).All())
	}
	m.gained = true // more may end before the shadow time, which is later now
	var out []*Run
	ok := true
	if r.State == Running { // no observer who heard of a withdrawal has stopped it
		if out, ok = m.makeRoom(r); !ok {
			m.kill(r, reason)
		} else if predicted {
			m.notify(r, JobCorrected)
		}
	}
	m.withdrawAll(slices.Values(out))
	if !predicted || len(out) > 0 || !ok || m.Pass == PassInstant {
		m.wake(CauseOverrun)
	}
}

// withdrawAll takes their reservations ahead from those who still hold one: somebody who has
// heard of another one may have taken it out.
func (m *Metascheduler) withdrawAll(jobs iter.Seq[*Run]) {
	for q := range jobs {
		if q.State == Reserved {
			m.fresh = append(m.fresh, q)
			m.withdraw(q)
		}
	}
}

// outlived reports whether r, or one of its tasks that still run, has run for as long as
// is predicted.
func (r *Run) outlived(now des.Time) bool {
	w := &r.Reservation.Window
	if w.Tasks == nil {
		return w.Start.Add(r.planned()) <= now
	}
	for i, t := range r.begun() {
		if r.rare.ends[i] > now && w.Start.Add(r.believed(t.End-w.Start)) <= now {
			return true
		}
	}
	return false
}

// begun returns the tasks of r's window as it began.
func (r *Run) begun() []Task {
	if r.rare != nil && r.rare.begun != nil {
		return r.rare.begun
	}
	return r.Reservation.Window.Tasks
}

// believed returns how long a task takes by the latest prediction, if the given time was
// reserved when it began.
func (r *Run) believed(reserved des.Time) des.Time {
	return scaled(reserved, r.planned(), r.Request.Length)
}

// correct asks for another prediction of r, which has outlived the latest one.
func (m *Metascheduler) correct(r *Run) {
	before, next := r.Prediction(), correction(correctorOf(m.Predictor, m.Corrector), r)
	if next <= before { // it runs on past its request: by OverrunExtend, for as long again
		next = min(before.Add(m.asLongAgain(r)), des.Forever-1)
	}
	r.correct(next)
	r.rare.corrections++
}

// asLongAgain returns the time by which the prediction of r is raised if r runs on past its
// request: the time that it has run so far, but at least a second.
func (m *Metascheduler) asLongAgain(r *Run) des.Time { return max(m.sim.Now()-r.Start, des.Second) }

// correction returns the next prediction of r, which has outlived the present one: the whole
// runtime that c predicts, or r's request if c is nil or predicts nothing longer than the present
// prediction.
func correction(c Corrector, r *Run) (next des.Time) {
	if c != nil {
		next = c.Correct(Known{r})
	}
	if next <= r.Prediction() || next >= des.Forever {
		return r.allowed()
	}
	return next
}

// correctorOf returns the Corrector for the predictions of p: c if it is given, otherwise p itself
// if p is a Corrector, otherwise nil.
func correctorOf(p Predictor, c Corrector) Corrector {
	if c != nil {
		return c
	}
	own, _ := p.(Corrector)
	return own
}

// makeRoom extends the window of r, which runs on, for as long as is predicted by now, or until
// something that is fixed begins; ok is false if that is now. The jobs of out have lost their
// reservations to r, and observers are still to be told of that.
func (m *Metascheduler) makeRoom(r *Run) (out []*Run, ok bool) {
	now := m.sim.Now()
	w := m.extension(r)
	var ahead, yielding []*Run
	for looked := false; ; {
		err := m.extend(r, w)
		var taken *ConflictError
		if ok = err == nil; ok {
			break
		} else if !errors.As(err, &taken) {
			m.sim.Fail(fmt.Errorf("at %v, extending %v past its prediction: %w", now, r, err))
			return nil, true
		}
		if !looked {
			ahead, looked = m.ahead(now, w.End), true
		}
		if k := latestOver(ahead, taken.At); k >= 0 {
			m.plan.Release(&ahead[k].Reservation, now)
			yielding = append(yielding, ahead[k])
			ahead = slices.Delete(ahead, k, k+1)
		} else if !r.cut(&w, max(taken.At, now), now) {
			break
		}
	}
	slices.SortFunc(yielding, byStart)
	for _, q := range yielding {
		if _, err := m.plan.Reserve(q, q.Reservation.Window); err != nil {
			out = append(out, q)
		}
	}
	if ok {
		m.watch(r, r.Start.Add(m.length(r)))
	}
	return out, ok
}

// extension returns r's window, extended for as long as is predicted by now.
func (m *Metascheduler) extension(r *Run) Window {
	w := r.Reservation.Window
	if !r.predicted() {
		w.End = m.sim.Now().Add(m.asLongAgain(r))
		return w
	}
	if w.Tasks == nil {
		w.End = w.Start.Add(r.planned())
		return w
	}
	p := r.rare
	if p.begun == nil {
		p.begun, p.begunLength = w.Tasks, w.Length()
	}
	w.Tasks = slices.Clone(w.Tasks)
	for i := range w.Tasks {
		t := &w.Tasks[i]
		if r.rare.ends[i] > m.sim.Now() {
			t.End = max(t.End, w.Start.Add(r.believed(p.begun[i].End-w.Start)))
			w.End = max(w.End, t.End)
		}
	}
	return w
}

// cut shortens w, an extension of r's window, so that it ends at the instant at; no task ends before
// the end that is reserved for it. cut reports whether r can go on.
func (r *Run) cut(w *Window, at, now des.Time) bool {
	if w.Tasks == nil {
		w.End = at
		return at > now
	}
	w.End = w.Start
	for i := range w.Tasks {
		t := &w.Tasks[i]
		t.End = max(r.Reservation.Window.Tasks[i].End, min(t.End, at))
		if w.End = max(w.End, t.End); t.End <= now && r.rare.ends[i] > now {
			return false
		}
	}
	return true
}

// extend replaces the window of r in the plan by the longer window w. The time that is added costs
// what its nodes cost now.
func (m *Metascheduler) extend(r *Run, w Window) error {
	for i, t := range w.Tasks {
		w.Cost += float64(t.Node.Price * (t.End - r.Reservation.Window.Tasks[i].End).Seconds())
	}
	return m.plan.Extend(&r.Reservation, w)
}

// ahead returns the jobs whose reservations ahead have anything within [from, to) and can be
// withdrawn, in the order of their starts.
func (m *Metascheduler) ahead(from, to des.Time) []*Run {
	var list []*Run
	for q := range m.queue.By(Submission, from).All() {
		if w := &q.Reservation.Window; q.State == Reserved && w.Start < to && from < w.End {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, byStart)
	return list
}

// byStart orders reservations by their starts, ties by submission.
func byStart(a, b *Run) int {
	return cmp.Or(cmp.Compare(a.Reservation.Window.Start, b.Reservation.Window.Start), cmp.Compare(a.seq, b.seq))
}

// latestOver returns the position of the last reservation of the list, which is in order of start,
// that covers the instant at; -1 if there is none. If at is 0, because the plan did not tell the
// instant, it is the last of all.
func latestOver(list []*Run, at des.Time) int {
	for k := len(list) - 1; k >= 0; k-- {
		if w := &list[k].Reservation.Window; at == 0 || w.Start <= at && at < w.End {
			return k
		}
	}
	return -1
}
