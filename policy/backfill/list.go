package backfill

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// ListScheduling is list scheduling as a policy of the engine, after HEFT: of the waiting
// jobs the job of the highest rank comes first, each in the plan's best window. If the
// plan's finder looks for the earliest end (window.MinFinish), a job gets the window in
// which it ends earliest. A moldable job takes the shape in which it ends first. A window
// that begins later is held: a job of a lower rank may begin before it, but takes nothing of
// it. Every round looks anew. If no job runs, the first window that begins later is reserved
// instead, because nothing else would lead to another round.
//
// HEFT also inserts tasks that have not come, which this policy cannot do. The engine knows
// no transfer of data between nodes either: a Dependency.Think alone can stand for the cost
// of an edge, and it is paid wherever the two tasks run. On equal processors, for tasks of
// one processor each, nothing idles while a job waits: that is Graham's list scheduling
// (1966), at most 2 - 1/m times the optimum on m processors.
type ListScheduling struct {
	// Order of the queue; HighestRank where its Key is nil.
	Order entity.Order
	// Depth is the number of waiting jobs, in order, that are looked at in a round; 0 means all.
	Depth int
}

// Name returns "heft", with the order if it is another one.
func (p ListScheduling) Name() string {
	if p.Order.Key == nil || p.Order.Name == HighestRank.Name {
		return "heft"
	}
	return "heft-" + p.Order.Name
}

// Schedule starts or holds job after job.
func (p ListScheduling) Schedule(r *entity.Round) {
	order := p.Order
	if order.Key == nil {
		order = HighestRank
	}
	tried, led := 0, active(r) // led: something leads to another round
	for j := range r.Queue.By(order, r.Now).All() {
		if j.State != entity.Waiting {
			continue
		}
		if tried++; p.Depth > 0 && tried > p.Depth || !anythingFree(r) {
			break
		}
		w, ok := entity.FirstEnd.Find(r.Plan, j, r.Now, des.Forever)
		switch {
		case !ok: // not before something changes
		case w.Start == r.Now || !led:
			if !r.Reserve(j, w) {
				return
			}
			led = true
		default:
			if !r.Hold(j, w) {
				return
			}
		}
	}
}

// active reports whether a job runs, or has a reservation.
func active(r *entity.Round) bool {
	for range r.Running() {
		return true
	}
	for j := range r.Queue.By(entity.Submission, r.Now).All() {
		if j.State != entity.Waiting {
			return true
		}
	}
	return false
}

// anythingFree reports whether any processor is free now: if none is, no job can
// start, and holding windows for those that are left would change nothing.
func anythingFree(r *entity.Round) bool {
	for range r.Plan.Slots(r.Now, r.Now.Add(des.Tick)) {
		return true
	}
	return false
}
