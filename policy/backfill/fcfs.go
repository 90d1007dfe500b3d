package backfill

import "github.com/gridslot/gridslot/entity"

// FCFS starts jobs strictly from the head of the queue: while the head does
// not fit, no job starts.
type FCFS struct {
	// Order of the queue; submission where its Key is nil.
	Order entity.Order
	// Shape is which window a moldable job takes.
	Shape entity.ShapeRule
	// Sticky and Window are those of EASY.
	Sticky bool
	Window int

	single bool // one start a round
}

// Name is "fcfs", with the settings that are not those of the zero value.
func (p FCFS) Name() string {
	return seen(shaped(named("fcfs", p.Order), p.Shape), p.Sticky, p.Window)
}

// Schedule starts heads while they fit.
func (p FCFS) Schedule(r *entity.Round) {
	if p.Window > 0 {
		within(r, p.Window, FCFS{Order: p.Order, Shape: p.Shape, Sticky: p.Sticky, single: true}, p.explainSight)
		return
	}
	if p.Order.Dynamic && settled(r, p.Sticky) {
		return
	}
	q := queue(r, p.Order)
	head := startHeads(r, q, p.Shape, p.Sticky, p.single)
	if !p.single {
		p.explain(r, q, head)
	}
}

// startHeads starts jobs from the head of the queue while they fit, a single one
// where that is said, and returns the first that does not fit, or nil.
func startHeads(r *entity.Round, q *entity.View, rule entity.ShapeRule, sticky, single bool) *entity.Run {
	for {
		head := first(r.Queue, q, sticky)
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
		if sticky {
			r.Queue.Kept = nil
		}
		if !r.Reserve(head, w) || single {
			return nil
		}
	}
}

func queue(r *entity.Round, o entity.Order) *entity.View {
	return r.Queue.By(orSubmission(o), r.Now)
}

func orSubmission(o entity.Order) entity.Order {
	if o.Key == nil {
		return entity.Submission
	}
	return o
}

// settled reports whether a round comes to nothing whatever the order of the queue: on a
// plan that counts no waiting job asks for as little as is free, and nobody has to be told
// who the first is. An order that changes with time, which is sorted anew for each round
// that asks, need not be asked for then.
//
// Not so where the first job stays the head: which one that is, is decided by who is first
// now.
func settled(r *entity.Round, sticky bool) bool {
	if sticky || r.Heard() {
		return false
	}
	counted, ok := r.Plan.(interface{ Free() int })
	return ok && r.Queue.LeastNodes() > counted.Free()
}
