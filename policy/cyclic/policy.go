// Planners in a simulation: who is planned when, and what is done in between.

package cyclic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// Policy plans by the cycle: jobs are collected until the tick that begins the next cycle
// (entity.Metascheduler.Cycle), then planned as one batch, and the plan becomes
// reservations. A job without a window waits for the next tick. Policy needs a plan that
// lists what is free, such as *plan.Domain, and plans up to its horizon.
//
// Planners know nothing of shapes: a moldable job is planned by its own request. A job that
// fits only in another shape is left to Rest, or rejected without Rest.
//
// With Rest, a share of each batch is planned and the other jobs are left to that policy for
// good, which decides whenever something has changed: BSF. At share 0 no job is collected:
// all go to Rest as they come.
//
// A Policy keeps state: each simulation needs its own.
type Policy struct {
	// Planner plans batches; nil means CSS{}.
	Planner Planner
	// Rest, if set, decides about the jobs outside Share.
	Rest  entity.Policy
	Share Share // which jobs Planner gets; only with Rest
	// Replan is when the plans of jobs that have not started are made anew.
	Replan Replan
	// Order is the order of priority in a batch; submission if its Key is nil.
	Order entity.Order
	// Criterion, if set, is the user's search for windows where a request states
	// none.
	Criterion func(*entity.Run) plan.Finder
	// Told, if set, is called for every batch that is planned, with the jobs and what became
	// of them.
	Told func(r *entity.Round, batch []*entity.Run, out *Outcome)

	queue *entity.Queue // of the run
	rest  *entity.Queue // its part that is left to Rest
}

// Replan is when plans are made anew.
type Replan uint8

const (
	ReplanNever     Replan = iota
	ReplanOnRelease        // whenever a job, or a part of it, ends
	ReplanEachCycle        // at every tick, together with the new batch
)

var replans = enum.Of[Replan]("replan", "never", "on-release", "every-cycle")

func (r Replan) String() string { return replans.Name(r) }

// ParseReplan reads "never", "on-release" or "every-cycle".
func ParseReplan(s string) (Replan, error) { return replans.Parse(s) }

// Name returns the planner's name, or "bsf" with a Rest.
func (p *Policy) Name() string {
	if p.Rest != nil {
		return BSF{}.Name()
	}
	return p.planner().Name()
}

// Unwrap returns Rest, whose predictions hold for batches as well.
func (p *Policy) Unwrap() entity.Policy { return p.Rest }

func (p *Policy) planner() Planner {
	if p.Planner == nil {
		return CSS{}
	}
	return p.Planner
}

// slotted is a plan over named nodes.
type slotted interface {
	SlotList() plan.SlotList
	// SlotListWithout is SlotList as though these reservations, which lie ahead,
	// had been given up.
	SlotListWithout([]*entity.Reservation) plan.SlotList
	// Same reports whether it makes no difference which of the windows is taken.
	Same(a, b entity.Window) bool
}

// Schedule implements entity.Policy.
func (p *Policy) Schedule(r *entity.Round) {
	if err := p.schedule(r); err != nil {
		r.Fail(err)
	}
}

// schedule is Schedule with an error for the run to end with.
func (p *Policy) schedule(r *entity.Round) error {
	if p.queue != r.Queue {
		p.queue, p.rest = r.Queue, r.Queue.Part()
	}
	// Jobs that come: those of the rest at once, others wait for the tick.
	var fresh []*entity.Run // of the rest
	for _, j := range r.Fresh() {
		if j.State == entity.Rejected {
			continue
		}
		if p.Rest != nil && p.Share.Q == 0 {
			p.leave(j)
		}
		if p.rest.Holds(j) {
			fresh = append(fresh, j)
		} else if !r.Cause.Has(entity.CauseTick) {
			r.TellWhy(j, entity.Why{What: entity.UntilCycle})
		}
	}
	// The tick plans the batch, and hands more jobs to the rest.
	switch {
	case r.Cause.Has(entity.CauseTick):
		left, err := p.tick(r)
		if err != nil {
			return err
		}
		fresh = slices.DeleteFunc(append(fresh, left...), func(j *entity.Run) bool { return j.State == entity.Rejected })
	case p.Replan == ReplanOnRelease && r.Cause.Has(entity.CauseEnd):
		if _, err := p.replan(r, nil); err != nil {
			return err
		}
	}
	// The rest is asked if it has new jobs or anything has become free.
	if p.Rest != nil && p.rest.Len() > 0 && (r.Gained || len(fresh) > 0) {
		r.Delegate(p.Rest, p.rest, fresh)
	}
	return nil
}

// leave leaves j to the rest.
func (p *Policy) leave(j *entity.Run) {
	if !p.rest.Holds(j) {
		p.rest.Take(j)
	}
}

// tick plans what has been collected, and returns the jobs that are left to the
// rest from now on.
func (p *Policy) tick(r *entity.Round) (left []*entity.Run, err error) {
	// The batch, in order of priority. A job that no batch can have goes to the rest, or away.
	var batch []*entity.Run
	for j := range r.Queue.By(p.order(), r.Now).All() {
		if j.State != entity.Waiting || p.rest.Holds(j) {
			continue
		}
		err := plannable(r, j)
		switch {
		case err == nil:
			batch = append(batch, j)
		case p.Rest != nil:
			p.leave(j)
			left = append(left, j)
		default:
			r.Reject(j, "batches are planned by what jobs ask for, in no other shape: "+err.Error())
		}
	}
	// BSF: a share of the batch is planned, the others go to the rest.
	if p.Rest != nil {
		sliced, others, err := p.Share.Split(p.jobs(batch))
		if err != nil {
			return nil, err
		}
		for _, i := range others {
			p.leave(batch[i])
			left = append(left, batch[i])
		}
		slices.SortFunc(left, func(a, b *entity.Run) int { return cmp.Compare(a.Seq(), b.Seq()) })
		batch = at(batch, sliced)
	}
	// Plan it: together with what was planned before, or on what that has left.
	if p.Replan == ReplanEachCycle {
		if done, err := p.replan(r, batch); done || err != nil {
			return left, err
		}
	}
	if len(batch) == 0 {
		return left, nil
	}
	nodes, err := slots(r)
	if err != nil {
		return nil, err
	}
	out, err := p.plan(r.Context(), p.jobs(batch), nodes.SlotList())
	if err != nil {
		return nil, err
	}
	p.book(r, batch, out)
	return left, nil
}

// plannable reports why j can be in no batch, or nil: it was accepted for the sake of
// another shape than it asks for.
func plannable(r *entity.Round, j *entity.Run) error {
	if len(j.Shapes) == 0 {
		return nil
	}
	return r.Plan.Fits(j.Request)
}

// order is the order of priority.
func (p *Policy) order() entity.Order {
	if p.Order.Key == nil {
		return entity.Submission
	}
	return p.Order
}

func at[T any](jobs []T, positions []int) []T {
	out := make([]T, len(positions))
	for i, k := range positions {
		out[i] = jobs[k]
	}
	return out
}

func slots(r *entity.Round) (slotted, error) {
	plan, ok := r.Plan.(slotted)
	if !ok {
		return nil, errors.New("batches are planned on named nodes, which this plan does not have")
	}
	return plan, nil
}

// jobs are the batch as planners see it.
func (p *Policy) jobs(batch []*entity.Run) []Item {
	jobs := make([]Item, len(batch))
	for i, j := range batch {
		jobs[i].Request = j.Request
		if r := &jobs[i].Request; p.Criterion != nil && r.Criterion == nil {
			r.Criterion = p.Criterion(j)
		}
	}
	return jobs
}

func (p *Policy) plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	out, err := p.planner().Plan(ctx, batch, list)
	if err != nil {
		return nil, fmt.Errorf("planning a batch of %d jobs: %w", len(batch), err)
	}
	return out, nil
}

// book makes reservations of a plan for jobs that have none.
func (p *Policy) book(r *entity.Round, batch []*entity.Run, out *Outcome) {
	if p.Told != nil {
		p.Told(r, batch, out)
	}
	explain(r, batch, out)
	for i, j := range batch {
		if d := &out.Jobs[i]; !d.OK {
			j.Reason = d.Reason
		} else {
			j.Reason = ""
			explainAhead(r, j, d.Window.Start)
			r.Reserve(j, d.Window) // refused, it is in the next batch
		}
	}
}

// replan plans anew the jobs that have not begun what they have reserved,
// together with a batch that has nothing. No job loses what was promised: none
// of the former may start later than it was promised first (or plans could be
// put off for ever), and a plan that leaves out any of them is not carried out.
// done is false then, and where no job has a reservation.
func (p *Policy) replan(r *entity.Round, batch []*entity.Run) (done bool, err error) {
	fresh := make(map[*entity.Run]bool, len(batch)) // never iterated
	for _, j := range batch {
		fresh[j] = true
	}
	// Whom it is about: jobs that have a reservation ahead, and the batch, in order of priority.
	var all []*entity.Run
	var held []*entity.Reservation
	for j := range r.Queue.By(p.order(), r.Now).All() {
		ahead := j.State == entity.Reserved && !p.rest.Holds(j) && j.Reservation.Window.Start > r.Now
		if ahead {
			held = append(held, &j.Reservation)
		}
		if ahead || fresh[j] {
			all = append(all, j)
		}
	}
	if len(held) == 0 {
		return false, nil
	}
	nodes, err := slots(r)
	if err != nil {
		return false, err
	}
	// Plan them as though the reservations had been given up, but none later than it was promised.
	jobs := p.jobs(all)
	for i, j := range all {
		if j.State == entity.Reserved {
			jobs[i].Until = max(j.Promised, j.Reservation.Window.Start)
		}
	}
	out, err := p.plan(r.Context(), jobs, nodes.SlotListWithout(held))
	if err != nil {
		return false, err
	}
	for i, j := range all {
		if j.State == entity.Reserved && !out.Jobs[i].OK {
			return false, nil
		}
	}
	// Move those whose window is another one, and book the batch.
	var moved []*entity.Run
	plan := &Outcome{Left: out.Left, Slices: out.Slices, Stats: out.Stats}
	for i, j := range all {
		if j.State == entity.Reserved && nodes.Same(j.Reservation.Window, out.Jobs[i].Window) {
			continue
		}
		r.Withdraw(j)
		moved = append(moved, j)
		plan.Jobs = append(plan.Jobs, out.Jobs[i])
	}
	p.book(r, moved, plan)
	return true, nil
}
