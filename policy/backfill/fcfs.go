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
	named := entity.Named(r.Plan)
	for {
		head := q.First()
		if head == nil {
			return nil
		}
		// The question of every round, and most often the answer is no. On counted processors FitsAt
		// answers it with less than a window.
		if !named && len(head.Shapes) == 0 {
			if fits, _, _ := r.Plan.FitsAt(r.Now, head.Request.Nodes, head.Request.Length); !fits {
				return head
			}
		}
		w, fits := rule.FindNow(r.Plan, head, r.Now)
		if !fits {
			return head
		}
		if !r.Reserve(head, w) {
			return nil
		}
	}
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
