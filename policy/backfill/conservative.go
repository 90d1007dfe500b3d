package backfill

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Conservative backfilling (Mu'alem and Feitelson 2001): every job gets the
// earliest window behind all reservations already given, when it arrives. No
// later job can delay it.
//
// When something is given back early the reservations are compressed: in queue
// order each job whose start lies ahead gets the earliest window it can have,
// which is never later than its present window.
type Conservative struct {
	// Order of the queue, for compression and among jobs that arrive at once;
	// submission where its Key is nil.
	Order entity.Order
	// NoCompression leaves reservations where they are; what is given back
	// early serves later arrivals only.
	NoCompression bool
	// Shape says which window a moldable job takes. Compression moves a job into another
	// shape only if that starts earlier, too.
	Shape entity.ShapeRule
}

// Name returns "conservative", with the order and the choice of shapes if they are not the
// defaults.
func (p Conservative) Name() string { return shaped(named("conservative", p.Order), p.Shape) }

// PlansAll reports that every waiting job holds a window: a run takes several times as long
// as under policies that plan few jobs ahead. A program that runs several policies side by
// side begins with such policies.
func (Conservative) PlansAll() bool { return true }

// Schedule compresses if anything was given back, then places new jobs.
func (p Conservative) Schedule(r *entity.Round) {
	if r.Cause.Has(entity.CauseEnd|entity.CauseOverrun|entity.CauseChange) && !p.NoCompression {
		compress(r, queue(r, p.Order), p.Shape)
	}
	// New jobs one after the other, each behind all reservations that are there.
	fresh := r.Fresh()
	if key := p.Order.Key; key != nil {
		slices.SortStableFunc(fresh, func(a, b *entity.Run) int {
			return cmp.Compare(key(a, r.Now), key(b, r.Now))
		})
	}
	for _, j := range fresh {
		if j.State != entity.Waiting {
			continue // an observer who heard of another one has cancelled it
		}
		w, ok := p.Shape.Find(r.Plan, j, r.Now, des.Forever)
		if !ok {
			r.Retry(j)
		} else {
			r.Reserve(j, w) // refused, it is new in the next round; the others are so in this one alone
		}
		p.explain(r, j, ok)
	}
}

// compress moves reservations up, in queue order.
//
// A job can move only to a start before the end of what has been given back
// since it was last looked at: the search is bounded by that, which changes no
// answer. The span includes what jobs further back freed when they moved up in
// the compression before this one, and grows as jobs move up in this one.
func compress(r *entity.Round, q *entity.View, rule entity.ShapeRule) {
	_, freed := r.Freed() // the end of what was given back since the compression before this one
	if freed <= r.Now {
		return
	}
	for j := range q.All() {
		held := &j.Reservation.Window
		if j.State != entity.Reserved || held.Start <= r.Now {
			continue
		}
		var w entity.Window
		var ok bool
		if len(j.Shapes) == 0 { // straight to the plan: conservative backfilling spends its time here
			w, ok = r.Plan.FindEarlier(&j.Reservation, r.Now, freed-1)
		} else {
			w, ok = r.FindEarlier(j, freed-1, rule)
		}
		if !ok {
			continue
		}
		end := held.End
		if !r.Move(j, w) {
			return
		}
		freed = max(freed, end) // what it held is free for those further back
	}
}
