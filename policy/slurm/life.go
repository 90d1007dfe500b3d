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

// eligible reports whether the job of e may start now in that partition, as far as the job itself
// and the partition's limits say.
func (c *Controller) eligible(e *entry, now des.Time) bool {
	j := e.job
	return j.state == pending && c.independent(j) && !j.Held && c.second(j.Begin) <= c.second(now) && c.withinPartition(e)
}

// independent reports whether what the job depends on is as it wants. It is asked when a queue is
// made, and what is met then stays met.
func (c *Controller) independent(j *Job) bool {
	waits := len(j.After)
	j.After = slices.DeleteFunc(j.After, func(d Dependency) bool { return c.met(j, d) })
	if j.AnyAfter && len(j.After) < waits {
		j.After = nil
	}
	return len(j.After) == 0
}

// met reports whether one dependency is as the job wants. Whoever wants to know how a job ended
// whose record is purged never learns it.
func (c *Controller) met(j *Job, d Dependency) bool {
	if d.Kind == "singleton" {
		for _, other := range c.jobs {
			if other.ID < j.ID && other.Name == j.Name && other.User == j.User && other.state != done {
				return false
			}
		}
		return true
	}
	other := c.jobs[d.Job]
	switch {
	case other == nil:
		return d.Kind == "after" || d.Kind == "afterany"
	case d.Kind == "after":
		return other.began || other.state == done
	case other.state != done:
		return false
	case d.Kind == "afterok":
		return !other.failed
	case d.Kind == "afternotok":
		return other.failed
	}
	return true
}

// Cancel ends a job, whether it waits or runs.
func (c *Controller) Cancel(now des.Time, j *Job) {
	switch j.state {
	case pending:
		j.state, j.failed = done, true
		c.retire(now, j)
		c.count(j, -1, false)
		c.leave(j)
		c.changed(now)
		c.main.stir(&c.conf.Schedule, now)
		c.Stopped(now, j, Cancelled)
	case running:
		c.stop(now, j, Cancelled, false)
		c.main.stir(&c.conf.Schedule, now)
	}
}

// Hold has a job that waits wait until it is released.
func (c *Controller) Hold(now des.Time, j *Job, hold bool) {
	if j.state == pending && j.Held != hold {
		j.Held, j.heldByOperator = hold, hold
		j.basic = 0 // a job that is released gets another one
	}
	c.update(now, j)
}

// Renice gives a job another nice value.
func (c *Controller) Renice(now des.Time, j *Job, nice int) {
	if j.state == pending {
		j.Nice = nice
	}
	c.update(now, j)
}

// Relimit gives a job another limit.
func (c *Controller) Relimit(now des.Time, j *Job, limit des.Time) {
	if j.state == pending || j.state == running {
		j.Limit = limit
	}
	c.update(now, j)
}

// update follows each order of a job's owner or an operator: it is a change, whether or not it
// changes anything.
func (c *Controller) update(now des.Time, j *Job) {
	if j.state == pending {
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

// Up puts nodes back into service. They take jobs when they have registered, after the next second.
func (c *Controller) Up(now des.Time, nodes []int) error {
	set, err := c.setOf(nodes)
	if err != nil {
		return err
	}
	c.returning = append(c.returning, comeback{wholeSecond(now).Add(registers), set})
	c.changed(now)
	c.main.stir(&c.conf.Schedule, now)
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
	j.Begin, j.reckoned, j.Placed = max(j.Begin, now.Add(credentialExpires)), 0, nil
	j.accrued = j.Begin
	c.enter(j) // with the priority that it had
	c.changed(now)
}
