package slurm

import (
	"math/bits"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// A job that is behind many others in the queue finds most of backfill's table full. A view tells of each interval, by a
// few numbers, that the job cannot be planned in it, so that sets of nodes are looked at only where it might be.

// view is what the jobs of one partition could have of each interval of a table, at most.
type view struct {
	wanted nodeSet // the nodes of the partition that are in service
	spans  []span  // of the intervals
}

// span is what of the wanted nodes is free in an interval.
type span struct {
	nodes, cpus int  // how many nodes, and how many CPUs they have, idle
	gains       bool // some of them are free in the next interval and not in this one
}

// viewOf is the view of the partition.
func (t *table) viewOf(p *partition, up nodeSet) *view {
	for len(t.views) <= p.at {
		t.views = append(t.views, nil)
	}
	if v := t.views[p.at]; v != nil {
		return v
	}
	v := &view{wanted: p.nodes.clone(), spans: make([]span, len(t.intervals))}
	v.wanted.intersect(up)
	v.count(t, 0, len(t.intervals))
	t.views[p.at] = v
	return v
}

// count counts anew what is free in the intervals from first up to last.
func (v *view) count(t *table, first, last int) {
	for k := first; k < last; k++ {
		v.spans[k].nodes, v.spans[k].cpus = v.sum(t, t.intervals[k].free)
	}
	for k := max(first-1, 0); k < last; k++ {
		v.compare(t, k)
	}
}

// sum is how many of the wanted nodes are in a set, and how many CPUs these have.
func (v *view) sum(t *table, set nodeSet) (nodes, cpus int) {
	for w, word := range v.wanted {
		for word &= set[w]; word != 0; word &= word - 1 {
			nodes++
			cpus += t.cpus[w*64+bits.TrailingZeros64(word)]
		}
	}
	return nodes, cpus
}

// compare notes whether the interval behind one has more.
func (v *view) compare(t *table, k int) {
	if v.spans[k].gains = false; k+1 < len(t.intervals) {
		free := t.intervals[k].free
		v.spans[k].gains = gains(v.wanted, t.intervals[k+1].free, free, free)
	}
}

// cut follows a cut of an interval.
func (v *view) cut(k int) {
	if v != nil {
		v.spans = slices.Insert(v.spans, k+1, v.spans[k])
		v.spans[k].gains = false
	}
}

// merge follows the merging of an interval with the next one, which is equal.
func (v *view) merge(k int) {
	if v != nil {
		v.spans = slices.Delete(v.spans, k, k+1)
	}
}

// taken follows the taking of nodes from the intervals from first up to last. Where all of them were free there, none
// of these intervals comes to have more than the one before it.
func (v *view) taken(t *table, first, last int, nodes nodeSet, allFree bool) {
	switch {
	case v == nil:
		return
	case !allFree:
		v.count(t, first, last)
		return
	}
	gone, cpus := v.sum(t, nodes)
	if gone == 0 {
		return
	}
	for k := first; k < last; k++ {
		v.spans[k].nodes -= gone
		v.spans[k].cpus -= cpus
	}
	if first > 0 {
		v.compare(t, first-1)
	}
	v.compare(t, last-1)
}

// viewed reports whether the view of its partition tells where the job of e cannot be planned: not where what it may
// have depends on reservations or licences, too, and not where a look for it leaves something behind though it finds
// nothing, which one for GPUs does.
func (r *backfillRun) viewed(e *entry) bool {
	return !r.c.forgetful && len(r.c.reserved) == 0 && r.table.intervals[0].licenses == nil && len(e.job.GRES) == 0
}

// chance is the first second from start on at which it makes sense to look for nodes for the job of e, of those at which
// fill would; false if there is none. With nowOnly only start itself is one. Until the job counts as tested
// (bf_max_job_test) a look makes sense where there are enough nodes, though they have too few CPUs. With passes one
// does not that would see the job start after the second from which there may be other nodes.
func (r *backfillRun) chance(e *entry, start int64, nowOnly, tested, passes bool) (int64, bool) {
	c, t, d := r.c, r.table, &r.c.shapeOf(e).demand
	v := t.viewOf(e.part, c.up)
	long, least := int64(e.job.Limit/des.Second), max(e.job.Nodes, 1)
	cpus := d.cpus
	if !tested {
		cpus = 0
	}
	soonest := int64(0)
	if passes && tested {
		soonest = c.soonestIn(e)
	}
	if start > r.second {
		r.expires(start)
	}
	for k, first := 0, true; ; first = false {
		for t.intervals[k].end <= start {
			if k++; k == len(t.intervals) {
				return start, true
			}
		}
		end, later, enough := max(start, r.second)+long, int64(0), true
		if first && start == r.second {
			r.expires(t.intervals[k].end)
			if at := slices.IndexFunc(t.intervals[k:], func(i interval) bool { return i.begin > end }); at >= 0 {
				r.expires(t.intervals[k+at].begin - long)
			}
		}
		for m := k; m < len(t.intervals) && (enough || later == 0); m++ {
			if v.spans[m].gains && later == 0 {
				later = t.intervals[m].end
			}
			if t.intervals[m].begin > end {
				break
			}
			if v.spans[m].nodes < least || v.spans[m].cpus < cpus {
				enough = false
			}
		}
		switch {
		case enough && (later == 0 || soonest <= later):
			return start, true
		case later == 0, nowOnly:
			return 0, false
		}
		start = later
	}
}
