package slurm

import (
	"math/bits"
	"slices"
)

// A job that is behind many others in the queue finds most of backfill's table full. A view tells of each interval, by a
// few numbers, that the job cannot be planned in it, so that sets of nodes are looked at only where it might be.

// view is what the jobs of one partition could have of each interval of a table, at most.
type view struct {
	wanted nodeSet // the nodes of the partition that are in service
	spans  []span  // of the intervals
	vain   []vain  // openings that are known to be vain
}

// span is what of the wanted nodes is free in an interval.
type span struct {
	nodes, cpus int          // how many nodes, and how many CPUs they have, idle
	gains       bool         // some of them are free in the next interval and not in this one
	vain        [vains]int32 // openings that begin in the interval, by position in view.vain
	noted       int          // how many have been noted
}

// vains is how many of the vain openings of an interval are remembered.
const vains = 6

// vain is what has been found of an opening that begins in an interval: so many CPUs of its nodes are free from a second
// on only. A run takes from its table and never gives back, so no opening that begins in the interval has them sooner
// that is at least as long.
type vain struct {
	cpus    int
	end     int64 // of the opening
	fit     nodeSet
	soonest int64
	among   nodeSet // its nodes; nil: they have too few CPUs even if idle
}

// note notes that an opening that begins in an interval is vain, in place of one that tells no more, or of the oldest.
func (v *view) note(interval int, n vain) {
	s := &v.spans[interval]
	at := s.noted % vains
	for i, k := range s.vain[:min(s.noted, vains)] {
		if was := &v.vain[k]; n.cpus <= was.cpus && n.end <= was.end && n.soonest >= was.soonest && was.fit.within(n.fit) {
			at = i
			s.noted--
			break
		}
	}
	s.vain[at] = int32(len(v.vain))
	s.noted++
	v.vain = append(v.vain, n)
}

// inVain is what is known of openings that begin in an interval and last until end: why their nodes that
// fit have as many CPUs free as asked only after a second. It is nil if they may have them sooner.
func (v *view) inVain(interval, cpus int, end int64, fit nodeSet, second int64) *vain {
	s := &v.spans[interval]
	for _, k := range s.vain[:min(s.noted, vains)] {
		n := &v.vain[k]
		if n.cpus <= cpus && n.end <= end && n.soonest > second && (&n.fit[0] == &fit[0] || fit.within(n.fit)) {
			return n
		}
	}
	return nil
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
// fill would, and the interval that it lies in; false if there is none. With nowOnly only start itself is one. Until the
// job counts as tested (bf_max_job_test) a look makes sense where there are enough nodes, though they have too few CPUs.
// With passes one does not that would see the job start after the second from which there may be other nodes.
func (r *backfillRun) chance(e *entry, start int64, nowOnly, tested, passes bool) (second int64, within int, any bool) {
	c, t, s := r.c, r.table, r.c.shapeOf(e)
	v := t.viewOf(e.part, c.up)
	long, least := e.limit(), max(e.job.Nodes, 1)
	cpus, soonest := 0, int64(0)
	if passes = passes && tested; passes {
		soonest = c.soonestIn(e)
	}
	if tested {
		cpus = s.demand.cpus
	}
	k := t.intervalAt(start)
	if k < len(t.intervals) && start == r.second {
		r.expires(t.intervals[k].end)
		if at := slices.IndexFunc(t.intervals[k:], func(i interval) bool { return i.begin > start+long }); at >= 0 {
			r.expires(t.intervals[k+at].begin - long)
		}
	} else {
		r.expires(start)
	}
	for k < len(t.intervals) {
		end, later := start+long, int64(0)
		next := k // the interval behind the one at whose end there may be other nodes
		for next < len(t.intervals) && later == 0 && (next == k || t.intervals[next-1].begin <= end) {
			if v.spans[next].gains {
				later = t.intervals[next].end
			}
			next++
		}
		hopeful := later == 0 || soonest <= later
		if !hopeful {
			e.found.passed = max(e.found.passed, later)
		} else if later > 0 && passes {
			if n := v.inVain(k, cpus, end, s.fit, later); n != nil {
				e.found.looked.unite(n.among)
				hopeful = false
			}
		}
		for m := k; hopeful && m < len(t.intervals) && t.intervals[m].begin <= end; m++ {
			hopeful = v.spans[m].nodes >= least && v.spans[m].cpus >= cpus
		}
		switch {
		case hopeful:
			return start, k, true
		case later == 0, nowOnly:
			return 0, 0, false
		}
		start, k = later, next
	}
	return start, k, true
}

// noteVain notes that an opening that begins at start in an interval is vain: its nodes have the CPUs that the job of e needs
// from a second on only. They are nil where that second never comes, whoever runs.
func (r *backfillRun) noteVain(e *entry, among nodeSet, start int64, within int, soonest int64) {
	if within < len(r.table.intervals) {
		s := r.c.shapeOf(e)
		if among != nil {
			among = r.c.plans.clone(among) // until the run ends
		}
		r.table.viewOf(e.part, r.c.up).note(within, vain{s.demand.cpus, start + e.limit(), s.fit, soonest, among})
	}
}
