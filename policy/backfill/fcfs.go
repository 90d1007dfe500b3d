package backfill

import "github.com/gridslot/gridslot/entity"

// FCFS starts jobs strictly from the head of the queue: while the head does
// not fit, no job starts.
type FCFS struct {
	// Order of the queue; submission where its Key is nil.
	Order entity.Order
	// Shape is which window a moldable job takes.
	Shape entity.ShapeRule
}

// Name is "fcfs", with the order and the choice of shapes if they are others.
func (p FCFS) Name() string { return shaped(named("fcfs", p.Order), p.Shape) }

// Schedule starts heads while they fit.
func (p FCFS) Schedule(r *entity.Round) {
	q := queue(r, p.Order)
	p.explain(r, q, startHeads(r, q, p.Shape))
}

// startHeads starts jobs from the head of the queue while they fit, and returns
// the first that does not, or nil.
func startHeads(r *entity.Round, q *entity.View, rule entity.ShapeRule) *entity.Run {
	for {
		head := q.First()
		if head == nil {
			return nil
		}
		var w entity.Window
		var ok bool
		if len(head.Shapes) == 0 { // straight to the plan: asked in every round
			w, ok = r.Plan.Find(head.Request, r.Now, r.Now)
		} else {
			w, ok = rule.FindNow(r.Plan, head, r.Now)
		}
		if !ok {
			return head
		}
		if !r.Reserve(head, w) {
			return nil
		}
	}
}

func queue(r *entity.Round, o entity.Order) *entity.View {
	if o.Key == nil {
		o = entity.Submission
	}
	return r.Queue.By(o, r.Now)
}
