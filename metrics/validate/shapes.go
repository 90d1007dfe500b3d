package validate

// Moldable jobs run in one of their shapes, malleable ones in several, one after the
// other.

import (
	"math/big"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// remainder is the rest of a job that is still to be done: of its run time and of its estimate, in
// its present shape. A job that has kept work stays in its shape until it is resized, because the
// kept work was done in that shape.
type remainder struct {
	// asked is the job as it came, with all its shapes.
	asked *entity.Job
	// raise tells that an estimate below the run time is raised to it (entity.OverrunRaise).
	raise bool
	// shape is the job's shape now; Length and Runtime are of the whole job in it.
	shape entity.Shape
	// work is left of shape.Runtime, length of shape.Length.
	// Invariant: 0 <= work; des.Tick <= length once work is kept.
	work, length des.Time
	// settled reports that the job cannot choose another shape.
	settled bool
}

// remainderOf returns the remainder of a job that has not run yet, in the shape of its request.
func remainderOf(asked *entity.Job, raise bool) remainder {
	r := remainder{asked: asked, raise: raise}
	r.take(asked.Request.Nodes)
	return r
}

// in returns the job's shape of that many nodes; false if there is none.
func (r *remainder) in(nodes int) (entity.Shape, bool) {
	j, ok := r.asked.In(nodes)
	s := entity.Shape{Nodes: j.Request.Nodes, Length: j.Request.Length, Runtime: j.Runtime}
	if r.raise {
		s.Length = max(s.Length, s.Runtime)
	}
	return s, ok
}

// take begins the job, which is not settled, in its shape of that many nodes. It reports whether
// there is one; the remainder is as before if there is none.
func (r *remainder) take(nodes int) bool {
	s, ok := r.in(nodes)
	if ok {
		r.shape, r.work, r.length = s, s.Runtime, s.Length
	}
	return ok
}

// done returns how much of the run time of its shape is done.
func (r *remainder) done() des.Time { return r.shape.Runtime - r.work }

// keep takes in that an attempt has ended of which that much work is kept. The estimate shrinks by
// as much, to a tick at least. If nothing is kept, the job begins again, in any shape.
func (r *remainder) keep(work des.Time) {
	if work != 0 {
		r.work, r.length, r.settled = r.work-work, max(r.length-work, des.Tick), true
	}
}

// resize goes on in the job's shape of that many nodes. It reports whether there is one. The part
// of the run time that is done stays done, rounded down; the estimate that is left is rounded up,
// so that rounding never makes a job late.
func (r *remainder) resize(nodes int) bool {
	r.settled = true
	s, ok := r.in(nodes)
	if !ok {
		return false
	}
	r.length = max(shareOf(s.Length, r.length, r.shape.Length), des.Tick)
	r.work = s.Runtime - partOf(s.Runtime, r.done(), r.shape.Runtime)
	r.shape = s
	return true
}

// choose takes in the shape in which f, which may be moldable, starts.
func (v *Validator) choose(f *followed) {
	j := f.job
	if len(j.Job.Shapes) == 0 {
		return
	}
	nodes := j.Reservation.Window.Nodes
	_, ok := f.in(nodes)
	switch {
	case !ok:
		v.violation(Unmet, j, "has %d nodes, and no shape of so many", nodes)
	case len(j.Shapes) == 0: // it has no choice any more
		if nodes != f.shape.Nodes {
			v.violation(Unmet, j, "has %d nodes, and was to stay on %d", nodes, f.shape.Nodes)
		}
	case f.settled:
		v.violation(Unmet, j, "chooses its shape, and has kept work of a run on %d nodes", f.shape.Nodes)
	default:
		f.take(nodes)
		if j.Request.Nodes != f.shape.Nodes || j.Runtime != f.shape.Runtime {
			v.violation(Unmet, j, "runs for %v on %d nodes, and in that shape it runs for %v", j.Runtime, j.Request.Nodes, f.shape.Runtime)
		}
	}
}

// resized takes in that f goes on in another shape: an attempt ends, which keeps all its work, and
// another one begins at the same instant.
func (v *Validator) resized(f *followed) {
	j := f.job
	// Phase 1: the attempt that ends.
	v.recalled(f)
	v.past(f)
	if f.attempts++; len(j.Earlier()) != f.attempts {
		v.violation(OutOfPlace, j, "has ended %d attempts, and it tells of %d", f.attempts, len(j.Earlier()))
		return
	}
	a := &j.Earlier()[f.attempts-1]
	if a.Start != f.start || a.End != v.c.now {
		v.violation(OutOfPlace, j, "ran from %v to %v, and it tells of an attempt from %v to %v", f.start, v.c.now, a.Start, a.End)
	}
	v.did(f, a)
	if a.Kept != a.Work {
		v.violation(WrongRunTime, j, "was resized, and keeps %v of %v", a.Kept, a.Work)
	}
	// Phase 2: what is left, in the new shape.
	v.leave(f, a.Place)
	f.before, f.start = a.Place, v.c.now
	f.keep(a.Kept)
	before, done := f.shape.Runtime, f.done()
	if !f.resize(j.Reservation.Window.Nodes) || j.Request.Nodes != f.shape.Nodes || j.Runtime != f.shape.Runtime {
		v.violation(Unmet, j, "has %d nodes, and runs for %v, which is no shape of its own", j.Reservation.Window.Nodes, j.Runtime)
		return
	}
	if f.done() != j.Done() {
		v.violation(WrongRunTime, j, "has done %v of %v, and was resized: that is %v of %v, not %v", done, before, f.done(), f.shape.Runtime, j.Done())
	}
	// Phase 3: the attempt that begins, checked as at a start.
	v.begins(f)
	v.request(f)
	v.c.resizes = true
	v.begun(f)
}

// partOf returns t*part/whole, rounded down; 0 if whole is 0. Like partUp, it has no text in
// common with the engine.
func partOf(t, part, whole des.Time) des.Time {
	if whole == 0 {
		return 0
	}
	product := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(int64(part)))
	return des.Time(product.Quo(product, big.NewInt(int64(whole))).Int64())
}

// keeps checks that f, which may have been resized, keeps as many of its processors as it can:
// all, or as many as it has now.
func (v *Validator) keeps(f *followed) {
	kept := 0
	for _, b := range f.before {
		for _, p := range f.place {
			kept += max(0, int(min(b.Last, p.Last)-max(b.First, p.First))+1)
		}
	}
	if kept < min(procset.Count(f.place), procset.Count(f.before)) {
		v.violation(TwoJobsOnOne, f.job, "had the processors %s, and keeps %d of them on %s", processors(f.before), kept, processors(f.place))
	}
	f.before = nil
}
