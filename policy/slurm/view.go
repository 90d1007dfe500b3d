package slurm

import (
	"math/bits"
	"slices"
)

// A job that is behind many others in the queue finds most of backfill's table full. A view tells of each
// interval, by a few numbers, that the job cannot be planned in it, so that sets of nodes are looked at only
// where it might be. It is not of Slurm: a run with views plans what a run without them plans.

// view is an upper bound, for each interval of a table, on the nodes and CPUs that jobs of one partition could
// have there. Cuts, plans and merges of the table keep the view up to date (cut, taken, merge).
type view struct {
	wanted nodeSet // the nodes of the partition that are in service
	spans  []span  // of each interval of the table
	vain   []vain  // openings that are known to be vain, in the order in which that was found
}

// span counts the wanted nodes that are free in an interval.
type span struct {
	nodes, cpus int          // how many nodes are free, and how many CPUs these have if idle
	vain        [vains]int32 // vain openings that begin in the interval, by position in view.vain
	noted       int          // how many have been noted; at most vains of them are in vain
}

// vains is the largest number of vain openings that are remembered for an interval: the openings noted last.
const vains = 6

// vain is an opening of which it is known that the jobs it was looked at for cannot use it soon: cpus CPUs of its
// nodes are free only from the second soonest on. A run takes from its table and never gives back, so no other
// opening that begins in the interval and is at least as long has these CPUs sooner. When a job makes others end, all are
// forgotten.
type vain struct {
	cpus    int     // CPUs that were asked for
	end     int64   // the second up to which the opening goes
	fit     nodeSet // shape.fit of the job: its nodes were among these
	soonest int64   // never: they have too few CPUs even if idle
	wanted  nodeSet // nodes that were asked for, where something is reserved; nil: all of the partition
	among   nodeSet // its nodes; nil if soonest is never
}

// bearsOn reports whether what is known of the opening holds for one of other wanted nodes.
func (n *vain) bearsOn(wanted nodeSet) bool {
	return n.wanted == nil || wanted != nil && wanted.within(n.wanted)
}

// note notes that an opening which begins in an interval is vain. It takes the place of a vain opening that
// tells no more than the new one, or else of the oldest.
func (v *view) note(interval int, n vain) {
	s := &v.spans[interval]
	at := s.noted % vains
	for i, k := range s.vain[:min(s.noted, vains)] {
		if was := &v.vain[k]; n.cpus <= was.cpus && n.end <= was.end && n.soonest >= was.soonest && was.fit.within(n.fit) && n.bearsOn(was.wanted) {
			at = i
			s.noted--
			break
		}
	}
	s.vain[at] = int32(len(v.vain))
	s.noted++
	v.vain = append(v.vain, n)
}

// inVain is a vain opening which shows that no opening of wanted nodes (nil: all) that begins in the interval and
// lasts until end has cpus CPUs free on nodes of fit by the given second; nil if none shows that.
func (v *view) inVain(interval, cpus int, end int64, fit, wanted nodeSet, second int64) *vain {
	s := &v.spans[interval]
	for _, k := range s.vain[:min(s.noted, vains)] {
		n := &v.vain[k]
		if n.cpus <= cpus && n.end <= end && n.soonest > second && (&n.fit[0] == &fit[0] || fit.within(n.fit)) && n.bearsOn(wanted) { // jobs of one shape share fit
			return n
		}
	}
	return nil
}

// forgetVain forgets which openings are vain, because jobs that are made to end free CPUs sooner.
func (t *table) forgetVain() {
	for _, v := range t.views {
		if v == nil {
			continue
		}
		for k := range v.spans {
			v.spans[k].noted = 0
		}
	}
}

// viewOf is the view of the partition. The first call makes it.
func (t *table) viewOf(p *partition, up nodeSet) *view {
	for len(t.views) <= p.at {
		t.views = append(t.views, nil)
	}
	if v := t.views[p.at]; v != nil {
		return v
	}
	for len(t.roomToView) <= p.at {
		t.roomToView = append(t.roomToView, nil)
	}
	v := t.roomToView[p.at]
	if v == nil {
		v = &view{}
		t.roomToView[p.at] = v
	}
	*v = view{wanted: append(v.wanted[:0], p.nodes...), spans: v.spans[:0], vain: v.vain[:0]}
	for range t.intervals {
		v.spans = append(v.spans, span{})
	}
	v.wanted.intersect(up)
	v.count(t, 0, len(t.intervals))
	t.views[p.at] = v
	return v
}

// count counts anew what is free in the intervals first to last-1.
func (v *view) count(t *table, first, last int) {
	for k := first; k < last; k++ {
		v.spans[k].nodes, v.spans[k].cpus = v.sum(t, t.intervals[k].free)
	}
}

// sum returns the number of wanted nodes in a set, and the number of CPUs that these nodes have if idle.
func (v *view) sum(t *table, set nodeSet) (nodes, cpus int) {
	for w, word := range v.wanted {
		for word &= set[w]; word != 0; word &= word - 1 {
			nodes++
			cpus += t.cpus[w*64+bits.TrailingZeros64(word)]
		}
	}
	return nodes, cpus
}

// cut follows a cut of interval k into two that are equal. v may be nil, here and below: then nobody has asked
// for the view yet.
func (v *view) cut(k int) {
	if v != nil {
		v.spans = slices.Insert(v.spans, k+1, v.spans[k])
	}
}

// merge follows the merging of interval k with the next one, which has the same nodes free.
func (v *view) merge(k int) {
	if v != nil {
		v.spans = slices.Delete(v.spans, k, k+1)
	}
}

// taken follows the taking of nodes from the intervals first to last-1. If all of the nodes were free in all
// of them, each loses the same.
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
}

// viewed reports whether the view of its partition tells where the job of e cannot be planned, and which second
// comes next. While nodes are reserved, the next second depends on the reservations, too.
func (r *backfillRun) viewed(e *entry) bool { return len(r.c.reserved) == 0 && r.prunes(e) }

// prunes reports whether openings in which the job of e cannot be planned may be passed over. They may not if
// licences bear on what the job may have, nor for a job with devices, whose looks leave weights behind even if
// they find nothing.
func (r *backfillRun) prunes(e *entry) bool {
	return !r.c.forgetful && r.table.intervals[0].licenses == nil && len(e.job.GRES) == 0
}

// vain reports whether a view tells that the job of e cannot be planned in an opening that begins at start and is not
// narrowed yet. chance tells the same where nothing is reserved.
func (r *backfillRun) vain(e *entry, o *opening, start int64, passes bool) bool {
	c, f := r.c, e.found
	if !f.tested || o.from == o.to || !r.prunes(e) {
		return false
	}
	s, v, least := c.shapeOf(e), r.table.viewOf(e.part, c.up), e.job.leastNodes()
	if passes && o.later > 0 {
		if c.soonestIn(e) > o.later {
			f.passed = max(f.passed, o.later)
			return true
		}
		if n := v.inVain(o.from, s.demand.cpus, max(start, r.second)+e.limit(), s.fit, o.wanted, o.later); n != nil {
			f.looked.unite(n.among)
			return true
		}
	}
	for k := o.from; k < o.to; k++ {
		if v.spans[k].nodes < least || v.spans[k].cpus < s.demand.cpus {
			return true
		}
	}
	return false
}

// chance returns the first second from start on at which it makes sense to look for nodes for the job of e, of
// those at which find would look; any is false if there is none.
// With nowOnly only start itself is such a second. Until the job counts as tested (bf_max_job_test), a look
// makes sense where there are enough nodes, even if they have too few CPUs: Slurm counts that look. With passes a
// look makes no sense that would see the job start after the second from which there may be other nodes.
func (r *backfillRun) chance(e *entry, start int64, nowOnly, tested, passes bool) (second int64, any bool) {
	// What the job needs, at least.
	c, t, s := r.c, r.table, r.c.shapeOf(e)
	v := t.viewOf(e.part, c.up)
	long, least := e.limit(), e.job.leastNodes()
	cpus, soonest := 0, int64(0)
	if passes = passes && tested; passes {
		soonest = c.soonestIn(e)
	}
	if tested {
		cpus = s.demand.cpus
	}
	// Until when would the next run come to the same answer? A look at the present covers the intervals that
	// begin by its end, which moves with the time.
	k := t.intervalAt(start)
	if k < len(t.intervals) && start == r.second {
		r.expires(t.intervals[k].end)
		if at := slices.IndexFunc(t.intervals[k:], func(i interval) bool { return i.begin > start+long }); at >= 0 {
			r.expires(t.intervals[k+at].begin - long)
		}
	} else {
		r.expires(start)
	}
	// From opening to opening, as find goes: the next one begins where an interval ends behind which there are
	// more nodes.
	for k < len(t.intervals) {
		end, later := start+long, int64(0)
		next := k // the interval behind the interval at whose end there may be other nodes
		for next < len(t.intervals) && later == 0 && (next == k || t.intervals[next-1].begin <= end) {
			if t.gains(next, v.wanted) {
				later = t.intervals[next].end
			}
			next++
		}
		// Might a look find something? Not if no CPUs are free before the next opening, if the same opening is
		// known to be vain, or if an interval that the job would cover has too few nodes or CPUs.
		hopeful := later == 0 || soonest <= later
		if !hopeful {
			e.found.passed = max(e.found.passed, later)
		} else if later > 0 && passes {
			if n := v.inVain(k, cpus, end, s.fit, nil, later); n != nil {
				e.found.looked.unite(n.among)
				hopeful = false
			}
		}
		for m := k; hopeful && m < len(t.intervals) && t.intervals[m].begin <= end; m++ {
			hopeful = v.spans[m].nodes >= least && v.spans[m].cpus >= cpus
		}
		switch {
		case hopeful:
			return start, true
		case later == 0, nowOnly:
			return 0, false
		}
		start, k = later, next
	}
	return start, true
}

// noteVain notes that the opening which begins at start is vain: its nodes, among, have the CPUs that the job of e
// needs only from the second soonest on. among is nil if that is never.
func (r *backfillRun) noteVain(e *entry, o *opening, among nodeSet, start, soonest int64) {
	if o.from == o.to {
		return
	}
	c, s, wanted := r.c, r.c.shapeOf(e), o.wanted
	if among != nil {
		among = c.plans.clone(among) // until the run ends
	}
	if wanted != nil {
		wanted = c.plans.clone(wanted)
	}
	r.table.viewOf(e.part, c.up).note(o.from, vain{s.demand.cpus, max(start, r.second) + e.limit(), s.fit, soonest, wanted, among})
}
