package slurm

import (
	"math/bits"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Of a hundred runs of backfill few start a job, and most plans decide nothing: a plan matters only to jobs behind it that
// could start now on its nodes. So a run puts off planning a job that cannot start now whatever is planned, and makes the
// plan up for when a job behind it might start now without it. What a run does beside is the same:
//
//	starts    a job is put off only if too few CPUs are free now on nodes that are in no plan made so far, even if all jobs
//	          that it may preempt had ended. More plans leave fewer nodes, so that it would neither start nor make others end
//	          if it were planned at once
//	plans     a job is planned only when all jobs ahead of it are, in the order of the queue
//	changes   at its end a run plans more until it is known whether it notes a change and whether idle nodes are planned
//
// Only the estimates of jobs that were put off are missing: see Controller.Estimates.

// putOff is an entry of the queue that was put off. What it depends on has not changed when it is made up for: nothing starts in
// between.
type putOff struct {
	entry   *entry
	nowOnly bool // see fill
}

// putsOff puts off the planning of the job of e if it may, and reports whether it did. Before that it plans entries that were
// put off, the first first, until it is known that the job cannot start now and that the table has room for its plan. If putsOff
// returns false, no entry is put off any more.
func (r *backfillRun) putsOff(e *entry, nowOnly bool) bool {
	for may := r.mayPutOff(e, nowOnly); ; r.makeUp() {
		switch {
		case may && r.hasRoom(len(r.off)+1) && r.lacksCPUs(e):
			r.off = append(r.off, putOff{e, nowOnly})
			return true
		case len(r.off) == 0:
			return false
		}
	}
}

// makeUp plans the first entry that was put off.
func (r *backfillRun) makeUp() {
	first := r.off[0]
	r.off = r.off[1:]
	r.findAndUse(first.entry, first.nowOnly) // the table has room: see putsOff
}

// makeUpAll plans all entries that were put off.
func (r *backfillRun) makeUpAll() {
	for len(r.off) > 0 {
		r.makeUp()
	}
}

// settle makes up for entries at the end of a run until it is known what the run leaves: whether idle nodes are planned, and
// whether it has noted a change, which it does if any are planned.
func (r *backfillRun) settle() {
	c := r.c
	idle := c.idleNodes()
	onIdle := func(o putOff) bool {
		fit := c.shapeOf(o.entry).fit
		for w, word := range o.entry.part.nodes {
			if word&fit[w]&idle[w] != 0 {
				return true
			}
		}
		return false
	}
	for len(r.off) > 0 && !c.backfill.planned.meets(idle) && (c.backfill.changed != r.now || slices.ContainsFunc(r.off, onIdle)) {
		r.makeUp()
	}
}

// mayPutOff reports whether the planning of the job of e leaves nothing behind but a plan. What may be left behind otherwise:
// what looks leave (see leavesNothing); with bf_busy_nodes how many CPUs a job gets; with assoc_limit_stop, and for a QoS with
// NoReserve, what becomes of jobs behind it; for a job of several partitions, its plans in others; the limit that keeps it from
// being planned, as its reason.
func (r *backfillRun) mayPutOff(e *entry, nowOnly bool) bool {
	c, j := r.c, e.job
	switch rules := &c.conf.Schedule; {
	case c.Estimates || r.hasty || rules.BusyNodes || rules.AssocLimitStop || len(j.entries) > 1 || j.reservation != nil || !r.leavesNothing(e):
		return false
	case nowOnly || !c.conf.Enforce.Limits: // no plan, or no limits
		return true
	case j.blockedByQOS || !c.limitsGiven(j):
		return false
	}
	over := c.beyondAmounts(j, c.reckonedNeeds(e, 0, nil))
	j.blockedByQOS = false // as it was
	return over == ""
}

// lack is the question for which lacksCPUs remembers an answer. Users submit many jobs that are alike.
type lack struct {
	shape *shape
	part  *partition
}

// lacksCPUs reports whether the job of e can neither start now nor make others end, because nodes that are in no plan made so
// far have too few CPUs for it. CPUs of jobs that it may preempt count as free. Once a job lacks them, all jobs of its shape that
// last as long do for the rest of the run: more plans and starts leave fewer CPUs, and more reservations stand in the way of a
// longer job. When a job makes others end, the answers are forgotten.
func (r *backfillRun) lacksCPUs(e *entry) bool {
	c := r.c
	s, victims := c.shapeOf(e), c.victims(e, c.instant(0, r.second))
	if len(victims) == 0 && c.soonestIn(e) != -1 {
		return true
	}
	ask := lack{s, e.part}
	if limit, known := r.lacking[ask]; known && len(victims) == 0 && e.job.Limit >= limit {
		return true
	}
	r.catchUp()
	defer c.spare.back(c.spare.mark())
	o, from := r.openingFrom(e, r.second)
	if o == nil || from > r.second { // reservations keep all nodes from it
		return true
	}
	r.table.narrow(o)
	o.nodes.intersect(s.fit)
	lacking := s.demand.cpus
	for _, j := range victims {
		lacking -= j.cpusOn(o.nodes)
	}
	if c.haveFree(o.nodes, lacking) {
		return false
	}
	if len(victims) == 0 {
		if r.lacking == nil {
			r.lacking = map[lack]des.Time{}
		}
		r.lacking[ask] = e.job.Limit
	}
	return true
}

// haveFree reports whether nodes have together cpus CPUs free now.
func (c *Controller) haveFree(nodes nodeSet, cpus int) bool {
	for w, word := range nodes {
		for word &= c.free.some[w]; word != 0; word &= word - 1 {
			if cpus -= c.free.cpus[w*64+bits.TrailingZeros64(word)]; cpus <= 0 {
				return true
			}
		}
	}
	return cpus <= 0
}
