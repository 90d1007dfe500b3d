package slurm

import (
	"slices"

	"github.com/gridslot/gridslot/des"
)

// purgeInterval is how often old records are purged, where MinJobAge is not shorter.
const purgeInterval = 60 * des.Second

// mainLoop is the loop that asks for passes of the main scheduler. It wakes every second; here it
// wakes at those seconds at which it has something to do.
type mainLoop struct {
	fullDue  des.Time // the next full pass
	batchDue des.Time // the next pass for submissions and the like, or des.Forever
	last     des.Time // this loop asked for a pass last
	purgeDue des.Time // old records are looked at next, or des.Forever where there are none
	limitDue des.Time // jobs beyond their limits are looked for next, or des.Forever where none runs

	full     bool     // the pass that is asked for looks at the whole queue
	passDue  des.Time // a pass that is asked for, or des.Forever
	lastPass des.Time // a pass began last; valid if passed
	passed   bool
	passes   int64 // so far
}

func (l *mainLoop) begin(rules *Scheduling) {
	*l = mainLoop{fullDue: rules.Interval, batchDue: des.Forever, purgeDue: des.Forever, limitDue: des.Forever, passDue: des.Forever}
}

// wholeSecond is the first whole second from t on.
func wholeSecond(t des.Time) des.Time { return (t + des.Second - des.Tick) / des.Second * des.Second }

// stir has a pass of the usual depth follow, at most BatchDelay after the last one.
func (l *mainLoop) stir(rules *Scheduling, now des.Time) {
	if l.batchDue == des.Forever {
		l.batchDue = max(l.last.Add(rules.BatchDelay), wholeSecond(now))
	}
}

// keep notes that there is a record that will be purged.
func (l *mainLoop) keep(period, now des.Time) {
	if l.purgeDue == des.Forever {
		l.purgeDue = (now/period + 1) * period
	}
}

// next is the second at which the loop has something to do.
func (l *mainLoop) next() des.Time { return min(l.fullDue, l.batchDue, l.purgeDue, l.limitDue) }

// wakeMain does what is due in the main loop.
func (c *Controller) wakeMain(now des.Time) {
	l := &c.main
	if l.limitDue == now {
		c.endBeyondLimits(now)
	}
	if l.purgeDue == now {
		c.purge(now)
	}
	switch now {
	case l.fullDue:
		l.fullDue, l.batchDue, l.last = now.Add(c.conf.Schedule.Interval), des.Forever, now
		l.request(c, now, true)
	case l.batchDue:
		l.batchDue, l.last = des.Forever, now
		l.request(c, now, false)
	}
}

// purgePeriod is how often old records are purged.
func (c *Controller) purgePeriod() des.Time {
	if age := c.conf.MinJobAge; age > 0 && age < purgeInterval {
		return max(10*des.Second, age)
	}
	return purgeInterval
}

// purge drops the records of jobs that ended MinJobAge ago or longer.
func (c *Controller) purge(now des.Time) {
	kept := len(c.ended)
	if c.conf.MinJobAge > 0 {
		oldest := c.second(now) - int64(c.conf.MinJobAge/des.Second)
		c.ended = slices.DeleteFunc(c.ended, func(r record) bool {
			if r.end <= oldest {
				delete(c.jobs, r.job.ID)
				c.purged[r.job.ID] = true
			}
			return r.end <= oldest
		})
	}
	if len(c.ended) < kept {
		c.changed(now)
	}
	c.main.purgeDue = des.Forever
	if len(c.ended) > 0 {
		c.main.keep(c.purgePeriod(), now)
	}
}

// limitInterval is how often jobs beyond their limits are looked for.
const limitInterval = 30 * des.Second

// endBeyondLimits ends jobs whose limit and OverTimeLimit have passed, or whose reservation is over.
func (c *Controller) endBeyondLimits(now des.Time) {
	for _, j := range slices.Clone(c.running) {
		beyond := c.limitSecond(j)+int64(c.conf.OverTimeLimit/des.Second) <= c.second(now)
		if r := j.reservation; beyond || r != nil && c.second(r.End) < c.second(now) {
			if j.graceEnds > 0 {
				c.stop(now, j, Preempted, j.Requeue)
			} else {
				c.stop(now, j, Timeout, false)
			}
		}
	}
	c.main.limitDue = des.Forever
	if len(c.running) > 0 {
		c.main.limitDue = now.Add(limitInterval)
	}
}

// request asks for a pass. Requests while one is asked for are one; a full one wins.
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

// mainPass is what a pass of the main scheduler has left.
type mainPass struct {
	now       des.Time
	available nodeSet // nodes that no job further ahead waits for
	closed    []bool  // partitions, by position, whose first job that does not fit has been met
	looked    []int   // how many jobs of each partition have been looked at
}

// pass is a pass of the main scheduler.
func (c *Controller) pass(now des.Time) {
	rules, full := &c.conf.Schedule, c.main.full
	c.main.full, c.main.passDue, c.main.lastPass, c.main.passed = false, des.Forever, now, true
	c.main.passes++
	p := &mainPass{now, c.up.clone(), make([]bool, len(c.parts)), make([]int, len(c.parts))}
	runnable := slices.DeleteFunc(c.runnable(now), func(e *entry) bool {
		return e.job.reservation != nil && !e.job.reservation.inForce(now)
	})
	starts := 0
	for depth, e := range runnable {
		if !full && depth > rules.QueueDepth {
			return
		}
		if e.job.state != pending { // it has started in another partition
			continue
		}
		if at := e.part.at; rules.PartitionDepth > 0 {
			if p.looked[at] == rules.PartitionDepth {
				continue
			}
			p.looked[at]++
		}
		if c.try(e, p) {
			if starts++; starts == rules.MaxStarts {
				return
			}
		}
	}
}

// try starts the job of e, or keeps for it what others are not to take. It reports whether the job
// has started.
func (c *Controller) try(e *entry, p *mainPass) bool {
	j := e.job
	switch {
	case p.closed[e.part.at]:
		c.changed(p.now)
		return false
	case !c.licensed(j) || !c.mayRun(j):
		return false
	case !c.allowed(j, j.requested()):
		p.keepRequired(j)
		return false
	}
	j.part = e.part
	candidates := e.part.nodes.clone()
	candidates.intersect(p.available)
	if candidates.count() < max(j.Nodes, 1) {
		c.changed(p.now)
		c.closePartition(e, p)
		return false
	}
	c.barReserved(j, p.now, candidates)
	placed := c.place(e, candidates)
	if placed != nil {
		if c.allowed(j, allocated(placed)) {
			c.start(p.now, e, placed)
			return true
		}
		if c.conf.Schedule.AssocLimitStop {
			c.closePartition(e, p)
		}
		return false
	}
	c.preempt(e, p.now, candidates)
	switch {
	case !c.suffices(e, candidates): // it waits for what others keep or have reserved, and not for what is busy
	case j.reservation != nil:
		p.available.remove(j.reservation.nodes)
	case len(j.Required) > 0:
		p.keepRequired(j)
	default:
		c.closePartition(e, p)
	}
	return false
}

// keepRequired has nobody else take the nodes that the job names.
func (p *mainPass) keepRequired(j *Job) {
	for _, n := range j.Required {
		p.available.drop(n)
	}
}

// closePartition has nobody else start in the partition of e, nor on its nodes, if the job is one
// that others wait for.
func (c *Controller) closePartition(e *entry, p *mainPass) {
	if c.reserves(p.now, e) {
		p.closed[e.part.at] = true
		p.available.remove(e.part.nodes)
	}
}

// suffices reports whether the job of e would fit on candidates were they idle.
func (c *Controller) suffices(e *entry, candidates nodeSet) bool {
	reckoned := e.job.reckoned
	defer func() { e.job.reckoned = reckoned }()
	return c.choose(e, candidates, c.idle) != nil
}
