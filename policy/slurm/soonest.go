package slurm

import "math/bits"

// A bound of looks into the future: before which second no job can start for want of CPUs. It spares
// backfill the looks whose answer is later than the second from which it would look again.

// soonestAmong is the second by which so many CPUs of a set of nodes are free, were nobody else to start: before it
// no look among them sees a job start that asks for as many. It is -1 where they are free, and never where there are
// too few. Where it is later than far it may be any second between the two.
func (c *Controller) soonestAmong(nodes nodeSet, cpus int, far int64) int64 {
	for w, word := range nodes {
		for word &= c.free.some[w]; word != 0; word &= word - 1 {
			cpus -= c.free.cpus[w*64+bits.TrailingZeros64(word)]
		}
	}
	if cpus <= 0 {
		return -1
	}
	for i, order := 0, c.runningByLimit(); i < len(order); i++ {
		e := &order[i]
		if e.second > far {
			return far + 1
		}
		if cpus -= e.cpusOn(nodes); cpus <= 0 {
			return e.second
		}
	}
	return never
}

// lowerBound is what soonestAmong tells of an era.
type lowerBound struct {
	era     uint64
	soonest int64
}

// soonestIn is soonestAmong all nodes that the job of e could have of its partition.
func (c *Controller) soonestIn(e *entry) int64 {
	s := c.shapeOf(e)
	for len(s.bounds) <= e.part.at {
		s.bounds = append(s.bounds, lowerBound{})
	}
	b := &s.bounds[e.part.at]
	if b.era != c.era+1 {
		defer c.spare.back(c.spare.mark())
		nodes := c.spare.clone(e.part.nodes)
		nodes.intersect(s.fit)
		b.era, b.soonest = c.era+1, c.soonestAmong(nodes, s.demand.cpus, never)
	}
	return b.soonest
}

// haveIdle reports whether nodes have so many CPUs if idle.
func (c *Controller) haveIdle(nodes nodeSet, cpus int) bool {
	for n := range nodes.all {
		if cpus -= c.idle.cpus[n]; cpus <= 0 {
			return true
		}
	}
	return false
}

// passesOver reports whether backfill may pass over seconds at which a look into the future could not see the
// job of e start soon enough. It may not where a look leaves something behind: how many CPUs a job was found to
// get, where that is not what it asks for, and what GPUs weigh; nor where licences bear on which seconds come next.
func (r *backfillRun) passesOver(e *entry) bool {
	d := &r.c.shapeOf(e).demand
	return !r.c.forgetful && r.table.intervals[0].licenses == nil && len(e.job.GRES) == 0 && r.c.preemptorOf(e).part == nil && !d.whole && d.perTask == 1 && d.perNode == 0
}
