package slurm

import (
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Stop is why a job ended otherwise than by itself.
type Stop string

// Why jobs are stopped, in Slurm's words.
const (
	Timeout   Stop = "TIMEOUT"
	Cancelled Stop = "CANCELLED"
	NodeFail  Stop = "NODE_FAIL"
	Preempted Stop = "PREEMPTED"
)

// independent reports whether the job itself could start now, and notes why it waits where it could
// not. Since when it could is what its age is reckoned from.
func (c *Controller) independent(j *Job, now des.Time) bool {
	switch j.reason {
	case JobHeld, HeldByController, DependencyNeverSatisfied, ReservationDeleted:
		return false
	}
	switch c.depends(j) {
	case notMet:
		if c.second(j.eligible) < c.second(now) {
			j.eligible = 0
		}
		c.ageNoMore(j)
		j.reason = WaitsForDependency
		return false
	case neverMet:
		c.ageNoMore(j)
		c.giveUp(now, j)
		return false
	}
	if j.reason == WaitsForDependency {
		j.reason = NoReason
	}
	switch {
	case c.second(j.eligible) > c.second(now):
		j.reason = WaitsForBegin
		return false
	case j.reservation != nil && !c.inForce(j.reservation, now):
		j.reason = WaitsForReservation
		return false
	case j.eligible == 0 && !j.Held:
		j.eligible = now
	case j.reason == WaitsForBegin:
		j.reason = NoReason
	}
	return true
}

// giveUp follows when what a job depends on can no longer be as it wants.
func (c *Controller) giveUp(now des.Time, j *Job) {
	j.reason = DependencyNeverSatisfied
	if c.conf.Schedule.KillInvalid {
		c.drop(now, j)
	}
}

// tellAgain has the next purge note for a job that is now held that what it depends on can no longer be as it wants.
func (c *Controller) tellAgain(j *Job, now des.Time) {
	if j.doomed {
		c.main.keep(c.purgePeriod(), now)
	}
}

// met is how a dependency stands.
type met uint8

const (
	isMet met = iota
	notMet
	neverMet
)

// depends is how what the job depends on stands. What is met stays met.
func (c *Controller) depends(j *Job) met {
	if len(j.After) == 0 && !j.doomed {
		return isMet
	}
	fulfilled, failed := false, false
	j.After = slices.DeleteFunc(j.After, func(d Dependency) bool {
		stands := c.stands(j, d)
		fulfilled, failed = fulfilled || stands == isMet, failed || stands == neverMet
		return stands == isMet || j.AnyAfter && stands == neverMet
	})
	switch {
	case j.AnyAfter && fulfilled:
		j.After = nil
	case failed && (!j.AnyAfter || len(j.After) == 0):
		j.doomed = true
	}
	switch {
	case j.doomed:
		return neverMet
	case len(j.After) > 0:
		return notMet
	}
	return isMet
}

// singleton is the dependency on all jobs of the same name and user that came before or run.
const singleton = "singleton"

// comesBefore reports whether a singleton j has to wait for other: while it runs, and until it does if it came earlier.
func comesBefore(other, j *Job) bool {
	if other.Name != j.Name || other.User != j.User {
		return false
	}
	waits := other.state == pending || other.state == completing && other.requeued
	return other.state == running || waits && other.ID < j.ID
}

// stands is how one dependency stands. A job whose record is purged stands in nobody's way.
func (c *Controller) stands(j *Job, d Dependency) met {
	if d.Kind == singleton {
		for _, other := range c.jobs {
			if comesBefore(other, j) {
				return notMet
			}
		}
		return isMet
	}
	other := c.jobs[d.Job]
	switch {
	case other == nil:
		return isMet
	case d.Kind == "after":
		if other.state != pending && !other.requeued {
			return isMet
		}
		return notMet
	case other.state != done:
		return notMet
	case d.Kind == "afterok" && other.failed, d.Kind == "afternotok" && !other.failed:
		return neverMet
	}
	return isMet
}

// Cancel ends a job, whether it waits or runs. No pass follows but the one that follows when nodes are free. The
// order is a change to backfill, also where the job is over already.
func (c *Controller) Cancel(now des.Time, j *Job) {
	c.changed(now)
	switch j.state {
	case pending:
		c.drop(now, j)
	case running:
		c.stop(now, j, Cancelled, false)
	}
}

// drop ends a job that waits.
func (c *Controller) drop(now des.Time, j *Job) {
	c.ageNoMore(j)
	j.state, j.failed = done, true
	c.retire(now, j)
	c.count(j, -1, false)
	c.leave(j)
	c.changed(now)
	c.Stopped(now, j, Cancelled)
}

// Hold has a job that waits, or waits again, wait until it is released. A job that is released though it is not held
// loses its nice value, and uses up a priority of priority/basic.
func (c *Controller) Hold(now des.Time, j *Job, hold bool) {
	switch {
	case j.state != pending && j.state != running:
	case hold == j.Held && !hold:
		j.Nice, j.numbered = 0, false
		c.prioritize(j, now)
	case hold == j.Held:
		if j.state == pending {
			j.reason = HeldByController
		}
	case j.state == pending:
		j.Held, j.numbered = hold, false // a job that is released gets another priority
		if c.second(j.eligible) < c.second(now) {
			j.eligible = 0
		}
		if j.reason = NoReason; hold {
			j.reason = HeldByController
			c.ageNoMore(j)
			c.tellAgain(j, now)
		}
	default: // it goes on, and is held should it have to wait again
		j.Held, j.numbered = hold, false
		c.prioritize(j, now)
	}
	c.update(now, j)
}

// Renice gives a job that waits or runs another nice value. With priority/basic it changes the priority of a held job, too, which is 0:
// the job is not held any more.
func (c *Controller) Renice(now des.Time, j *Job, nice int) {
	if j.state == pending {
		c.reconsider(j)
		if j.Held && j.Nice != nice && !c.conf.Priority.Multifactor {
			j.Held, j.numbered, j.basic = false, true, int64(max(j.Nice-nice, 2)+nice)
		}
		j.Nice = nice
	}
	if j.state == running && j.Nice != nice { // should it have to wait again
		j.Nice = nice
		c.prioritize(j, now)
	}
	c.update(now, j)
}

// reconsider releases a job that is held for its constraints: an order may have changed them.
func (c *Controller) reconsider(j *Job) {
	if j.reason == BadConstraints {
		j.reason, j.Held, j.numbered = NoReason, false, false
	}
}

// Relimit gives a job another limit. One that has run for longer already ends now as far as its limit goes, not earlier:
// OverTimeLimit begins now. An order is an operator's: limits on the time of a job that has got another one from it hold
// no longer, neither of partitions nor of its QoS and its associations.
func (c *Controller) Relimit(now des.Time, j *Job, limit des.Time) {
	if j.state == pending || j.state == running {
		c.reconsider(j)
		j.excused = j.excused || j.Limit != limit
		j.Limit = limit
		if j.state == running {
			j.extended += max(0, c.second(now)-c.limitSecond(j))
		}
		c.reorder(j)
	}
	c.update(now, j)
}

// update follows each order of a job's owner or an operator: it is a change, whether or not it
// changes anything. The next pass finds anew why the job waits, unless it is held.
func (c *Controller) update(now des.Time, j *Job) {
	j.shutOut = false
	if j.state == pending {
		if !j.reason.ofHold() && c.beyondPartition(j, j.part) == "" {
			j.reason = NoReason
		}
		c.prioritize(j, now)
		c.sorted = false
	}
	if j.state == pending || j.state == running {
		c.changed(now)
		c.main.stir(&c.conf.Schedule, now)
	}
}

// credentialExpires is how long after a job's nodes are free it does not begin again.
const credentialExpires = 121 * des.Second

// Down takes nodes out of service. Jobs that run there end, and wait again where they may.
func (c *Controller) Down(now des.Time, nodes []int) error {
	gone, err := c.setOf(nodes)
	if err != nil {
		return err
	}
	c.up.remove(gone)
	for _, j := range slices.Clone(c.running) {
		if j.nodes.meets(gone) {
			c.stop(now, j, NodeFail, j.Requeue)
			if !j.nodes.meets(c.up) { // nobody is left to tell that its nodes are free
				c.vacate(now, j)
			}
		}
	}
	c.changed(now)
	c.main.stir(&c.conf.Schedule, now)
	return nil
}

// Drain has nodes take no more jobs.
func (c *Controller) Drain(now des.Time, nodes []int) error {
	set, err := c.setOf(nodes)
	if err != nil {
		return err
	}
	c.up.remove(set)
	c.changed(now)
	c.main.stir(&c.conf.Schedule, now)
	return nil
}

// registers is how long after a whole second a node that comes back has registered.
const registers = des.Second / 1000

// Up puts nodes back into service. They take jobs when they have registered, after the next second. It returns a
// Refusal where none of them is down or drained.
func (c *Controller) Up(now des.Time, nodes []int) error {
	set, err := c.setOf(nodes)
	if err != nil {
		return err
	}
	c.changed(now)
	c.main.stir(&c.conf.Schedule, now)
	if set.within(c.up) {
		return ErrNodeState
	}
	c.returning = append(c.returning, comeback{wholeSecond(now).Add(registers), set})
	return nil
}

// comeback is nodes that will have registered at an instant.
type comeback struct {
	at    des.Time
	nodes nodeSet
}

// comesBack is when the next nodes register, or des.Forever.
func (c *Controller) comesBack() des.Time {
	if len(c.returning) == 0 {
		return des.Forever
	}
	return c.returning[0].at
}

// register puts the nodes back that register at now.
func (c *Controller) register(now des.Time) {
	for c.comesBack() == now {
		c.up.unite(c.returning[0].nodes)
		c.returning = c.returning[1:]
		c.changed(now)
		c.main.stir(&c.conf.Schedule, now)
	}
}

// stop ends a running job; it waits again where it is to be requeued.
func (c *Controller) stop(now des.Time, j *Job, why Stop, requeue bool) {
	c.finish(now, j, true)
	j.requeued = requeue
	c.Stopped(now, j, why)
}

// requeue puts a job whose nodes are free back into the queue.
func (c *Controller) requeue(now des.Time, j *Job) {
	c.ended = slices.DeleteFunc(c.ended, func(r record) bool { return r.job == j })
	j.state, j.requeued, j.failed, j.graceEnds, j.ByBackfill = pending, false, false, 0, false
	if c.second(j.eligible) <= c.second(now) {
		j.eligible = now.Add(credentialExpires)
	}
	j.submitted, j.accrued, j.reckoned, j.Placed, j.told = now, 0, 0, nil, NoReason
	c.enter(j) // with the priority that it had
	c.changed(now)
}
