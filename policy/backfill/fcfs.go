package backfill

import "github.com/gridslot/gridslot/entity"

// FCFS starts jobs strictly from the head of the queue: while the head does
// not fit, no job starts.
type FCFS struct {
	// Order of the queue; submission where its Key is nil.
	Order entity.Order
}

// Name is "fcfs", with the order if it is another one.
func (p FCFS) Name() string { return named("fcfs", p.Order) }

// Schedule starts heads while they fit.
func (p FCFS) Schedule(r *entity.Round) {
	startHeads(r, queue(r, p.Order))
}

// startHeads starts jobs from the head of the queue while they fit, and returns
// the first that does not, or nil.
func startHeads(r *entity.Round, q *entity.View) *entity.Run {
	for {
		head := q.First()
		if head == nil {
			return nil
		}
		w, ok := r.Plan.Find(head.Request, r.Now, r.Now)
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
