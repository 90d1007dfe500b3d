package entity

// Malleable jobs: those that can change their shape while they run.
//
//	nodes  4 |             [cost][  rest of the work, on 4  ]
//	       2 | [ work, on 2 ]
//	         +----------------------------------------------> time
//	             attempt 1        attempt 2
//
// A resize ends an attempt, whose work is kept, and begins another one at the same
// instant. The job does not come to the queue in between.

import (
	"errors"
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// Resize lets a running job go on in its shape of that many nodes (Job.Shapes), from now on.
// For the time cost it does no work at first, and its request grows by that time. Work that
// is done stays done, as after a checkpoint: what is left is the same part of the runtime,
// and of the estimate, of the new shape, rounded up to a tick. The job keeps its processors
// as far as the new shape has room for them.
//
// Observers are told of JobResized, and the attempt that has ended is the last of
// Run.Earlier. Resize returns an error and changes nothing if the job does not run, has no
// such shape, is an advance reservation, has nothing left to do, or runs on named nodes; and
// a *ConflictError if the plan has no room for the new window.
func (m *Metascheduler) Resize(r *Run, nodes int, cost des.Time) error {
	m.Advance()
	err := m.resize(r, nodes, cost)
	if err == nil {
		m.changes++
		m.wake(CauseChange)
	}
	return err
}

// Resize resizes a running job in a round; see Metascheduler.Resize. No round follows from
// it: the processors that it gives back are for the present round.
func (r *Round) Resize(j *Run, nodes int, cost des.Time) error {
	err := r.meta.resize(j, nodes, cost)
	r.Gained = r.Gained || r.meta.gained
	return err
}

// Began returns when r began to run, however often it has been resized since.
func (r *Run) Began() des.Time {
	if r.rare == nil || r.rare.resized == 0 {
		return r.Start
	}
	return r.rare.earlier[len(r.rare.earlier)-r.rare.resized].Start
}

func (m *Metascheduler) resize(r *Run, nodes int, cost des.Time) error {
	now := m.sim.Now()
	shape, ok := r.Job.shape(nodes)
	held := r.Reservation.Window
	switch {
	case r.State != Running || r.meta != m:
		return fmt.Errorf("%v is %v: only a job that runs can be resized", r, r.State)
	case held.Tasks != nil:
		return fmt.Errorf("%v runs on named nodes, where jobs cannot be resized", r)
	case r.Booked:
		return fmt.Errorf("%v is an advance reservation, which has its window and no other", r)
	case !ok:
		return fmt.Errorf("%v has no shape of %d nodes", r, nodes)
	case cost < 0:
		return errors.New("a resize cannot cost less than no time")
	case nodes == held.Nodes:
		return nil
	}
	m.observers.reach(now) // its place is known
	a := r.attempt(now)
	a.Kept = a.Work
	if r.Done()+a.Kept >= r.Runtime || held.End <= now {
		return fmt.Errorf("%v is at its end", r)
	}
	next := r.resized(shape, a.Kept, cost, now)
	length := next.lasts(next.work(), r.checkpoints())
	if end := now.Add(length); end > r.Request.DeadlineLimit() {
		return fmt.Errorf("%v on %d nodes would have its processors until %v, past its deadline %v", r, nodes, end, r.Request.Deadline)
	}
	m.plan.Release(&r.Reservation, now)
	if _, err := m.plan.Reserve(r, Window{Start: now, End: now.Add(length), Nodes: nodes}); err != nil {
		back := held
		back.Start = now
		_, again := m.plan.Reserve(r, back)
		r.Reservation.Window = held
		return errors.Join(err, again)
	}
	m.sim.Cancel(r.due)
	m.freed(now, held.End)
	m.gained = true // one that grows has less of the time to come
	m.busy.taken += nodes - held.Nodes

	f := r.withRare()
	m.sim.Cancel(f.outlives)
	f.demand = next
	r.renew()
	f.over(a)
	f.resized++
	r.Start = now
	m.schedule(r)
	m.notify(r, JobResized)
	return nil
}
