package validate

// Moldable jobs run in one of their shapes, malleable ones in several, one after the
// other.

import (
	"math/big"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// ask is the shape that j's request is.
func (v *Validator) ask(j *entity.Job) entity.Shape {
	s := entity.Shape{Nodes: j.Request.Nodes, Length: j.Request.Length, Runtime: j.Runtime}
	if v.Overrun == entity.OverrunRaise {
		s.Length = max(s.Length, s.Runtime)
	}
	return s
}

// shape takes in the shape in which f, which may be moldable, starts. One that has
// kept work stays in its shape.
func (v *Validator) shape(f *followed) {
	j := f.job
	asked := j.Job
	if len(asked.Shapes) == 0 {
		return
	}
	nodes := j.Reservation.Window.Nodes
	taken, ok := asked.In(nodes)
	switch {
	case !ok:
		v.violation(Unmet, j, "has %d nodes, and no shape of so many", nodes)
		return
	case len(j.Shapes) == 0: // it has no choice any more
		if nodes != f.asks.Nodes {
			v.violation(Unmet, j, "has %d nodes, and was to stay on %d", nodes, f.asks.Nodes)
		}
		return
	case f.done > 0:
		v.violation(Unmet, j, "chooses its shape, and has kept work of a run on %d nodes", f.asks.Nodes)
		return
	}
	f.asks = v.ask(taken)
	if j.Request.Nodes != f.asks.Nodes || j.Runtime != f.asks.Runtime {
		v.violation(Unmet, j, "runs for %v on %d nodes, and in that shape it runs for %v", j.Runtime, j.Request.Nodes, f.asks.Runtime)
	}
}

// resized takes in that f goes on in another shape.
func (v *Validator) resized(f *followed) {
	j := f.job
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
	v.leave(f, a.Place)
	f.before, f.start = a.Place, v.c.now
	was, _ := j.Job.In(f.asks.Nodes)
	is, ok := j.Job.In(j.Reservation.Window.Nodes)
	if !ok || j.Request.Nodes != is.Request.Nodes || j.Runtime != is.Runtime {
		v.violation(Unmet, j, "has %d nodes, and runs for %v, which is no shape of its own", j.Reservation.Window.Nodes, j.Runtime)
		return
	}
	before, after := v.ask(was), v.ask(is)
	left := max(f.asks.Length-f.done-a.Kept, des.Tick)
	left = max(shareOf(after.Length, left, before.Length), des.Tick)
	done := partOf(after.Runtime, f.done+a.Kept, before.Runtime)
	if done != j.Done() {
		v.violation(WrongRunTime, j, "has done %v of %v, and was resized: that is %v of %v, not %v", f.done+a.Kept, before.Runtime, done, after.Runtime, j.Done())
	}
	f.asks, f.done = after, j.Done()
	f.asks.Length = left + f.done // so that this is left
	v.begins(f)
	v.request(f)
	v.c.resizes = true
	v.begun(f)
}

// partOf is t*part/whole, rounded down; 0 of nothing.
func partOf(t, part, whole des.Time) des.Time {
	if whole == 0 {
		return 0
	}
	product := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(int64(part)))
	return des.Time(product.Quo(product, big.NewInt(int64(whole))).Int64())
}

// keeps checks that f, which may have been resized, keeps as many of its processors
// as it can.
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
