package slurm

import "math/bits"

// A bound of looks into the future: before which second no job can start for want of CPUs. It spares
// backfill the looks whose answer is later than the second from which it would look again.

// giving is what a running job gives back of a node in the second in which its limit ends.
type giving struct {
	second     int64
	node, cpus int32
}

// givings are what running jobs give back in the present era, in the order of their limits.
func (c *Controller) givings() []giving {
	if c.giveEra != c.era || c.forgetful {
		c.give, c.giveEra = c.give[:0], c.era
		for _, j := range c.runningByLimit() {
			second := c.limitSecond(j)
			for i := range j.Placed {
				p := &j.Placed[i]
				c.give = append(c.give, giving{second, int32(p.Node), int32(len(p.Cores))})
			}
		}
	}
	return c.give
}

// soonestAmong is the second by which so many CPUs of a set of nodes are free, were nobody else to start: before it
// no look among them sees a job start that asks for as many. It is -1 where they are free, and never where there are
// too few.
func (c *Controller) soonestAmong(nodes nodeSet, cpus int) int64 {
	for w, word := range nodes {
		for word &= c.free.some[w]; word != 0; word &= word - 1 {
			cpus -= c.free.cpus[w*64+bits.TrailingZeros64(word)]
		}
	}
	if cpus <= 0 {
		return -1
	}
	for _, g := range c.givings() {
		if nodes.has(int(g.node)) {
			if cpus -= int(g.cpus); cpus <= 0 {
				return g.second
			}
		}
	}
	return never
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
