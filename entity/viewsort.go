package entity

// Orders that change while jobs wait.

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// sort fills v with the jobs of from, in the order of their keys as of now.
//
// From one round to the next time passes for all jobs alike, and a few come and go: the
// order is nearly what it was. So a view is sorted from where it stands, by insertion,
// and costs n keys, and a step for each job and for each pair of jobs that has changed places:
//
//	as it stood   a  b  c  d  e
//	keys now      1  2  5  6  4
//	                   <-----+      two pairs: e passes d and c
//
// Ties are settled by submission, so that the order does not depend on where the view
// stood. Where a formula shuffles the jobs all the time, sorting by insertion is given up
// when it has taken as long as sorting would.
//
// Set aside: a heap, from which a round takes only the jobs that it looks at. Most of the cost is to
// compute the keys, and a heap needs all of them for its first job.
func (v *View) sort(from *View, now des.Time) {
	v.now, v.round, v.head = now, v.queue.round, queued{}
	all := collectAll{v.items[:0]}
	from.tree.Scan(&all)
	v.items = all.items
	for i := range v.items { // what a job asks for is known: see Queue.change
		e := &v.items[i]
		e.key = v.remember(e.run)
	}
	sortAlmostSorted(v.items)
	v.tree.Fill(v.items)
}

// collectAll is a scan that collects every item.
type collectAll struct{ items []queued }

func (*collectAll) Skip(queueSum, *front) bool { return false }

func (g *collectAll) Visit(items []queued) bool {
	g.items = append(g.items, items...)
	return true
}

// shuffled is the mean number of places a job up to which items are moved one by one.
const shuffled = 16

// sortAlmostSorted sorts items that are almost in order, by insertion at first.
func sortAlmostSorted(items []queued) {
	left := shuffled * len(items)
	for i := 1; i < len(items); i++ {
		if !(queueAlgebra{}).Before(&items[i], &items[i-1]) {
			continue
		}
		e, k := items[i], i
		for ; k > 0 && (queueAlgebra{}).Before(&e, &items[k-1]); k-- {
			items[k] = items[k-1]
		}
		items[k] = e
		if left -= i - k; left < 0 {
			slices.SortFunc(items, func(a, b queued) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.seq, b.seq)) })
			return
		}
	}
}

// remember returns r's key as of now, and keeps it: the view finds r by it again, even if the key
// has changed by then.
func (v *View) remember(r *Run) float64 {
	key := v.key(r)
	if math.IsNaN(key) {
		key = math.Inf(1) // last: NaN has no place in an order
	}
	n := int(*v.queue.standing(r))
	if n >= len(v.keys) {
		v.keys = append(v.keys, make([]float64, n+1-len(v.keys))...)
	}
	v.keys[n] = key
	return key
}

// key returns the sort key of r under the view's order for the job's own shape, even while r holds
// a window in another shape.
func (v *View) key(r *Run) float64 {
	held := r.Request.Nodes
	if len(r.Shapes) == 0 || held == r.Job.Request.Nodes {
		return v.order.Key(r, v.now)
	}
	r.takeShape(r.Job.Request.Nodes)
	key := v.order.Key(r, v.now)
	r.takeShape(held)
	return key
}
