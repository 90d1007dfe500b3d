package slurm

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// purgeInterval is the time between two purges of old records, unless MinJobAge is shorter.
const purgeInterval = 60 * des.Second

// mainLoop is the loop that asks for passes of the main scheduler. It wakes every second; here it
// wakes at those seconds at which it has something to do.
type mainLoop struct {
	fullDue  des.Time // the next full pass
	batchDue des.Time // the next pass for submissions and the like, or des.Forever
	last     des.Time // when this loop last asked for a pass
	purgeDue des.Time // old records are looked at next, or des.Forever where there are none
	limitDue des.Time // jobs beyond their limits are looked for next, or des.Forever where none runs
	resvDue  des.Time // states of reserved nodes are set next, or des.Forever where nothing is reserved
	mendDue  des.Time // reservations are mended next for an order about nodes, or des.Forever; see nodesOrdered

	full     bool     // the pass that is asked for looks at the whole queue
	passDue  des.Time // a pass that is asked for, or des.Forever
	lastPass des.Time // a pass began last; valid if passed
	passed   bool
	passes   int64 // so far
}

func (l *mainLoop) begin(rules *Scheduling) {
	*l = mainLoop{fullDue: rules.Interval, batchDue: des.Forever, purgeDue: des.Forever, limitDue: des.Forever, resvDue: des.Forever, mendDue: des.Forever, passDue: des.Forever}
}

// wholeSecond is the first whole second from t on.
func wholeSecond(t des.Time) des.Time { return (t + des.Second - des.Tick) / des.Second * des.Second }

// stir makes a pass of the usual depth due: BatchDelay after the loop last asked for a pass, or at the next whole
// second if that is later.
func (l *mainLoop) stir(rules *Scheduling, now des.Time) {
	if l.batchDue == des.Forever {
		l.batchDue = max(l.last.Add(rules.BatchDelay), wholeSecond(now))
	}
}

// nodesOrdered has the loop do what every order about nodes asks for, also a refused one: a pass, and at the next whole second a look
// for reservations that lack nodes (_slurm_rpc_update_node, validate_all_reservations).
func (c *Controller) nodesOrdered(now des.Time) {
	c.main.stir(&c.conf.Schedule, now)
	if len(c.reserved) > 0 {
		c.main.mendDue = wholeSecond(now)
	}
}

// keep notes that there is a record that will be purged.
func (l *mainLoop) keep(period, now des.Time) {
	if l.purgeDue == des.Forever {
		l.purgeDue = (now/period + 1) * period
	}
}

// next is the second at which the loop has something to do.
func (l *mainLoop) next() des.Time {
	return min(l.fullDue, l.batchDue, l.purgeDue, l.limitDue, l.resvDue, l.mendDue)
}

// wakeMain does what is due in the main loop.
func (c *Controller) wakeMain(now des.Time) {
	l := &c.main
	// The order counts: setReservedNodes may make a look at limits due at this very instant.
	if l.resvDue == now {
		c.setReservedNodes(now)
	}
	if l.mendDue == now {
		l.mendDue = des.Forever
		c.mendReservations(now)
	}
	if l.limitDue == now {
		c.endBeyondLimits(now)
		c.mendReservations(now)
		c.dropReservations(now)
		c.watchLimits(now)
	}
	if l.purgeDue == now {
		c.purge(now)
	}
	full := now == l.fullDue
	if !full && now != l.batchDue {
		return
	}
	if full {
		l.fullDue = now.Add(c.conf.Schedule.Interval)
	}
	l.batchDue, l.last = des.Forever, now
	c.findEligible(now)
	l.request(c, now, full)
}

// findEligible looks which jobs may start as far as they themselves say, whenever the loop asks for a pass. Slurm's
// pass is another thread's, which has to wake up first: the jobs of its queue are those that this look has found.
func (c *Controller) findEligible(now des.Time) {
	for j := range c.restlessJobs { // it finds nothing new of the others
		if c.second(j.eligible) <= c.second(now) && c.beyondPartition(j, j.part) == "" {
			c.independent(j, now)
		}
	}
}

// purgePeriod is the time between two purges of old records: MinJobAge, but 10 s at least and purgeInterval at
// most.
func (c *Controller) purgePeriod() des.Time {
	return min(max(10*des.Second, c.conf.MinJobAge), purgeInterval)
}

// purge drops the records of jobs that ended MinJobAge ago or longer.
func (c *Controller) purge(now des.Time) {
	held := false
	for j := range c.restlessJobs { // a dependency on a purged record counts as met, so those that never can be are found before
		if j.reason != DependencyNeverSatisfied && c.depends(j) == neverMet {
			c.giveUp(now, j)
		}
		held = held || j.Held && j.doomed
	}
	kept := len(c.ended)
	oldest := c.second(now) - int64(c.conf.MinJobAge/des.Second)
	c.ended = slices.DeleteFunc(c.ended, func(r record) bool {
		if r.end <= oldest && c.jobs[r.job.ID] == r.job {
			delete(c.jobs, r.job.ID)
			c.purged.add(r.job.ID)
		}
		return r.end <= oldest
	})
	if len(c.ended) < kept {
		c.changed(now)
	}
	c.main.purgeDue = des.Forever
	if held || len(c.ended) > 0 { // the next pass notes the hold of a held job as its reason, and the next purge the dependency again
		c.main.keep(c.purgePeriod(), now)
	}
}

// limitInterval is the time between two looks for jobs beyond their limits.
const limitInterval = 30 * des.Second

// endBeyondLimits ends jobs whose limit and OverTimeLimit have passed, whose reservation is over, or for which a limit on
// use has been reached. A job that is preempted ends after its grace time, without OverTimeLimit and whatever becomes of its
// reservation.
func (c *Controller) endBeyondLimits(now des.Time) {
	c.roomToStop = append(c.roomToStop[:0], c.running...) // a job that is ended leaves them
	if c.accounts.limitsUse {                             // Slurm goes by job numbers, and the use of a job that it ends counts for later jobs
		slices.SortFunc(c.roomToStop, func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
	}
	for _, j := range c.roomToStop {
		switch r := j.reservation; {
		case j.graceEnds > 0:
			c.evict(now, j)
		case c.overdueSecond(j) <= c.second(now), r != nil && c.second(r.End) < c.second(now), c.outOfUse(now, j):
			c.stop(now, j, Timeout, false)
		}
	}
}

// LimitActs returns the instant at which the controller would end a running job for its limit,
// if the job were not over by then.
func (c *Controller) LimitActs(j *Job) des.Time {
	if c.conf.OverTimeLimit == des.Forever {
		return des.Forever
	}
	beyond := des.Time(c.limitSecond(j)-c.conf.Epoch)*des.Second + c.conf.OverTimeLimit
	return (beyond + limitInterval - des.Tick) / limitInterval * limitInterval
}

// watchLimits makes the next look for jobs beyond their limits, and for reservations that are over, due at the
// first multiple of limitInterval after now. None is due unless a job runs, or a reservation is over or has nodes
// that Slurm chose (see mendReservations).
func (c *Controller) watchLimits(now des.Time) {
	c.main.limitDue = des.Forever
	if len(c.running) > 0 || slices.ContainsFunc(c.reserved, func(r *Reservation) bool { return r.over || len(r.Nodes) == 0 }) {
		c.main.limitDue = (now/limitInterval + 1) * limitInterval
	}
}

// request asks for a pass. The pass begins at once, or as soon as sched_min_interval has passed since the last
// pass began. Further requests before it begins are met by the same pass, which is full if any request was.
func (l *mainLoop) request(c *Controller, now des.Time, full bool) {
	l.full = l.full || full
	switch {
	case l.passDue != des.Forever:
	case !l.passed || now-l.lastPass > c.conf.Schedule.MinInterval:
		c.pass(now)
	default:
		l.passDue = l.lastPass.Add(c.conf.Schedule.MinInterval + des.Tick)
	}
}

// mainPass is the state of a pass of the main scheduler under way.
type mainPass struct {
	now       des.Time
	available nodeSet               // nodes that no job further ahead waits for
	closed    []*Job                // of partitions, by position: the first job that did not fit; nil: none was met
	looked    []int                 // how many jobs of each partition have been looked at
	passed    map[*Reservation]*Job // the same of reservations
}

// pass is a pass of the main scheduler (_schedule of slurmctld/job_scheduler.c).
func (c *Controller) pass(now des.Time) {
	rules, full := &c.conf.Schedule, c.main.full
	c.main.full, c.main.passDue, c.main.lastPass, c.main.passed = false, des.Forever, now, true
	c.main.passes++
	if c.completes(now) {
		return
	}
	p := &mainPass{now, c.up.clone(), make([]*Job, len(c.parts)), make([]int, len(c.parts)), map[*Reservation]*Job{}}
	starts, depth := 0, 0
	for _, e := range c.runnable(now) {
		j := e.job
		j.Priority = e.priority
		if j.state != pending || j.preempting || c.tooSmall(e) { // it has started in another partition, or is about to
			continue
		}
		if rules.MaxStarts > 0 && starts >= rules.MaxStarts {
			return
		}
		// A job beyond partition_job_depth waits for its priority, but behind no job in particular.
		if at := e.part.at; rules.PartitionDepth > 0 {
			if p.looked[at]++; p.looked[at] > rules.PartitionDepth {
				if j.behind = nil; j.reason == NoReason {
					j.reason = WaitsForPriority
					c.changed(now)
				}
				continue
			}
		}
		if depth++; !full && depth > rules.QueueDepth+1 { // Slurm compares before it counts: one more than the key says
			return
		}
		became, goOn := c.try(e, p)
		if became {
			starts++
		}
		if !goOn {
			return
		}
	}
}

// completes reports whether a job completes for which CompleteWait makes all others wait (job_is_completing).
func (c *Controller) completes(now des.Time) bool {
	recent := c.second(now) - int64(c.conf.CompleteWait/des.Second)
	return c.conf.CompleteWait > 0 && slices.ContainsFunc(c.ended, func(r record) bool {
		return r.job.state == completing && r.end >= recent
	})
}

// tooSmall reports whether the reservation has too few nodes of the partition for the job of e, as far as
// is known. Slurm goes by the nodes that it last found for the job: one for which it has not looked yet is
// tried, and held where it does not fit.
func (c *Controller) tooSmall(e *entry) bool {
	if e.job.reservation == nil {
		return false
	}
	defer c.spare.back(c.spare.mark())
	both := c.spare.clone(e.part.nodes)
	both.intersect(e.job.reservation.nodes)
	return both.count() < e.job.guess
}

// try starts the job of e, or keeps for it what others are not to take. It reports whether the job
// has started, and whether the pass is to go on.
func (c *Controller) try(e *entry, p *mainPass) (starts, goOn bool) {
	j := e.job
	j.part = e.part
	// A partition that is closed (_failed_partition), or a reservation, lets nobody else start.
	ahead := p.closed[e.part.at]
	if j.reservation != nil {
		ahead = p.passed[j.reservation]
	}
	if ahead != nil {
		if j.reservation != nil || j.reason == NoReason || j.reason == WaitsForResources {
			j.reason = WaitsForPriority
		}
		j.behind = ahead
		c.changed(p.now)
		return false, true
	}
	c.visited = append(c.visited, j)
	switch {
	// The job is still beyond the limit for which it waits, or nodes that it must have are still not available.
	case j.reason.ofLimit() && !c.withinJobLimits(j), j.reason == NodesNotAvailable && !p.available.hasAll(j.Required):
		return false, true
	}
	// Too few nodes of the partition are left: the others are out of service, or jobs further ahead wait for
	// them.
	if e.part.nodes.countIn(p.available) < j.leastNodes() {
		j.reason = WaitsForResources
		c.changed(p.now)
		p.close(e)
		return false, true
	}
	// With bf_licenses a job that lacks licences ends the pass.
	if !c.licensed(j) {
		j.reason = WaitsForLicenses
		c.changed(p.now)
		return false, !c.conf.Schedule.Licenses
	}
	// Try to start the job, and then keep nodes for it if it is to be waited for.
	blocks := false
	switch became := c.allocate(p.now, e, p.available, nil); {
	case became == started:
		return true, true
	case became == busy, became == beyondLimit && c.conf.Schedule.AssocLimitStop:
		blocks = true
	case became == reserved && j.reservation != nil:
		p.available.remove(j.reservation.nodes)
	case became == neverFits && len(j.entries) == 1:
		j.reason, j.Held = BadConstraints, true
		c.prioritize(j, p.now)
		c.sorted = false
		c.changed(p.now)
	}
	switch {
	case len(j.Required) > 0 && len(j.Required) >= j.Nodes: // others can have the rest of the partition
		for _, n := range j.Required {
			p.available.drop(n)
		}
	case blocks && j.reservation != nil:
		p.passed[j.reservation] = j
	case blocks && c.reserves(p.now, e):
		p.close(e)
	}
	return false, true
}

// close closes the partition of e for the rest of the pass: no other job starts there, nor on its nodes, since
// the job of e waits for them.
func (p *mainPass) close(e *entry) {
	if part := e.part; p.closed[part.at] == nil {
		p.closed[part.at] = e.job
		p.available.remove(part.nodes)
	}
}
