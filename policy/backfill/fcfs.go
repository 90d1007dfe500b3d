package backfill

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// FCFS starts jobs strictly from the head of the queue: while the head does
// not fit, no job starts.
type FCFS struct {
	// Order of the queue; submission where its Key is nil.
	Order entity.Order
	// Shape is the rule by which a moldable job chooses its window.
	Shape entity.ShapeRule
}

// Name returns "fcfs", followed by the settings that differ from the zero value.
func (p FCFS) Name() string { return shaped(named("fcfs", p.Order), p.Shape) }

// Schedule starts heads while they fit.
func (p FCFS) Schedule(r *entity.Round) {
	if p.Order.Dynamic && noneCanStart(r) {
		return
	}
	q := queue(r, p.Order)
	p.explain(r, q, startHeads(r, q, p.Shape))
}

// startHeads starts jobs from the head of the queue while they fit, and returns the
// first that does not fit, or nil.
func startHeads(r *entity.Round, q *entity.View, rule entity.ShapeRule) *entity.Run {
	for {
		head := q.First()
		if head == nil {
			return nil
		}
		w, fits := fitsNow(r, head, rule)
		if !fits {
			return head
		}
		if !r.Reserve(head, w) {
			return nil
		}
	}
}

// fitsNow is the window in which the head of the queue would start now.
func fitsNow(r *entity.Round, head *entity.Run, rule entity.ShapeRule) (entity.Window, bool) {
	if len(head.Shapes) == 0 { // straight to the plan: the question of every round
		return r.Plan.Find(head.Request, r.Now, r.Now)
	}
	return rule.FindNow(r.Plan, head, r.Now)
}

// queue returns the queue in the order o, or in order of submission if o has no key.
func queue(r *entity.Round, o entity.Order) *entity.View { return r.Queue.By(o, r.Now) }

// noneCanStart reports whether a round starts no job, whatever the order of the queue: on
// counted processors fewer are free than the least that a waiting job asks for, and no
// WhyObserver wants to know which job is the head. An order that changes with time is
// sorted anew for each round that asks for it; then it is not asked for.
func noneCanStart(r *entity.Round) bool {
	if r.WhyObserved() {
		return false
	}
	if entity.Named(r.Plan) {
		return false
	}
	ok, _, _ := r.Plan.FitsAt(r.Now, r.Queue.LeastNodes(), des.Tick)
	return !ok
}
