package slurm

import "math/bits"

// A bound of looks into the future: before which second no job can start for want of CPUs. It spares
// backfill the looks whose answer is later than the second from which it would look again.

// soonestAmong returns the second by which cpus CPUs of a set of nodes are free if no other job starts: before
// that second no look among these nodes sees a job start that asks for cpus CPUs. It returns -1 if the CPUs are
// free now, and never if too few are free by the second last.
func (c *Controller) soonestAmong(nodes nodeSet, cpus int, last int64) int64 {
	for w, word := range nodes {
		for word &= c.free.some[w]; word != 0; word &= word - 1 {
			if cpus -= c.free.cpus[w*64+bits.TrailingZeros64(word)]; cpus <= 0 {
				return -1
			}
		}
	}
	for i, order := 0, c.runningByLimit(); i < len(order) && order[i].second <= last; i++ {
		e := &order[i]
		if cpus -= e.cpusOn(nodes); cpus <= 0 {
			return e.second
		}
	}
	return never
}

// lateFor reports whether a look among these nodes, made at now, cannot see the job of e start by a second: fewer CPUs than it
// asks for are free by then, even if all jobs that it may preempt end at once, as a look assumes.
func (c *Controller) lateFor(e *entry, nodes nodeSet, now, second int64) bool {
	cpus := c.shapeOf(e).demand.cpus
	for _, j := range c.victims(e, c.instant(0, now)) {
		if c.limitSecond(j) > second { // soonestAmong counts the others
			cpus -= j.cpusOn(nodes)
		}
	}
	return cpus > 0 && c.soonestAmong(nodes, cpus, second) == never
}

// lowerBound is the answer of soonestAmong in an era.
type lowerBound struct {
	era     uint64 // Controller.era plus one; 0: nothing has been told
	soonest int64  // second of the host's clock, -1 or never
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

// haveIdle reports whether nodes have together cpus CPUs if idle.
func (c *Controller) haveIdle(nodes nodeSet, cpus int) bool {
	for n := range nodes.all {
		if cpus -= c.idle.cpus[n]; cpus <= 0 {
			return true
		}
	}
	return false
}

// passesOver reports whether backfill may pass over seconds at which a look into the future could not see the
// job of e start soon enough, as far as soonestIn and vain openings tell that. Both ignore that a job that may preempt starts
// as soon as its victims are gone: lateFor knows that.
func (r *backfillRun) passesOver(e *entry) bool {
	return r.leavesNothing(e) && r.c.preemptorOf(e).part == nil
}

// leavesNothing reports whether a look into the future for the job of e changes nothing that later looks depend on. A look may
// change the number of CPUs that the job is known to get, if that is not what it asks for, and the weights of GPUs. If
// licences are planned, they decide which seconds come next, so no second may be passed over.
func (r *backfillRun) leavesNothing(e *entry) bool {
	d := &r.c.shapeOf(e).demand
	return !r.c.forgetful && r.table.intervals[0].licenses == nil && len(e.job.GRES) == 0 && !d.whole && d.perTask == 1 && d.perNode == 0
}
