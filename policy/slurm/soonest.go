package slurm

import (
	"math"
	"sort"

	"github.com/gridslot/gridslot/des"
)

// A bound of looks into the future: before which second no job can start for want of CPUs. It spares
// backfill the looks whose answer is later than the second from which it would look again.

// supply is how many CPUs of a partition are free by when, were nobody else to start.
type supply struct {
	era  uint64
	ends []int64 // seconds in which limits of running jobs end, ascending; the first is before all others
	cpus []int   // that are free from then on
}

// supplyOf is the supply of a partition in the present era.
func (c *Controller) supplyOf(p *partition) *supply {
	s := &p.supply
	if s.era == c.era && len(s.ends) > 0 && !c.forgetful {
		return s
	}
	s.era, s.ends, s.cpus = c.era, append(s.ends[:0], math.MinInt64), append(s.cpus[:0], 0)
	for _, n := range p.Nodes {
		s.cpus[0] += c.free.cpus[n]
	}
	cpus := s.cpus[0]
	for _, j := range c.runningByLimit() {
		before := cpus
		for i := range j.Placed {
			if at := &j.Placed[i]; p.nodes.has(at.Node) {
				cpus += len(at.Cores)
			}
		}
		if cpus > before {
			s.ends, s.cpus = append(s.ends, c.limitSecond(j)), append(s.cpus, cpus)
		}
	}
	return s
}

// soonest is a second before which a look into the future sees no start of the job of e, whichever nodes of its
// partition it may choose from, or never.
func (c *Controller) soonest(e *entry) int64 {
	s := c.supplyOf(e.part)
	at := sort.SearchInts(s.cpus, c.shapeOf(e).demand.cpus)
	if at == len(s.ends) {
		return never
	}
	return s.ends[at]
}

// passesOver reports whether backfill may pass over seconds at which a look into the future could not see the
// job of e start soon enough. It may not where a look leaves something behind: how many CPUs a job was found to
// get, where that is not what it asks for, and what GPUs weigh; nor where licences and reservations bear on
// which seconds come next.
func (r *backfillRun) passesOver(e *entry) bool {
	d := &r.c.shapeOf(e).demand
	return !r.c.forgetful && r.c.conf.Preempt == "" && len(r.c.reserved) == 0 && r.table.intervals[0].licenses == nil &&
		!d.whole && d.perTask == 1 && d.perNode == 0 && len(e.job.GRES) == 0
}

// next is the second at which backfill is to look for the job of e, where it would look from a second on: it goes
// from one end of a plan to the next one as long as it would see a start after that only.
func (r *backfillRun) next(e *entry, start int64) int64 {
	soonest := r.c.soonest(e)
	all, limit := r.table.intervals, int64(e.job.Limit/des.Second)
	from := sort.Search(len(all), func(k int) bool { return all[k].end > start })
	for k := from; k+1 < len(all) && all[k].end < soonest; k++ {
		if k > from && all[k-1].begin > start+limit {
			break // out of sight: there would be no second to go on from
		}
		if gainsIn(e.part.nodes, r.c.up, all[k+1].free, all[k].free) {
			start, from = all[k].end, k+1
		}
	}
	return start
}

// gainsIn reports whether any node that is in both sets is in next and not in free.
func gainsIn(a, b, next, free nodeSet) bool {
	for w := range a {
		if a[w]&b[w]&next[w]&^free[w] != 0 {
			return true
		}
	}
	return false
}
