package slurm

import (
	"slices"

	"github.com/gridslot/gridslot/des"
)

// What becomes of jobs and nodes beside scheduling: dependencies, orders of operators and users, nodes
// that go down and come back, and jobs that wait again.

// Stop is the reason for which a job ended otherwise than by itself.
type Stop string

// Why jobs are stopped, in Slurm's words.
const (
	Timeout   Stop = "TIMEOUT"
	Cancelled Stop = "CANCELLED"
	NodeFail  Stop = "NODE_FAIL"
	Preempted Stop = "PREEMPTED"
)

// independent reports whether the job itself could start now (job_independent): it is not held, what it
// depends on is met, its begin time has come and its reservation is in force. Otherwise it notes why
// the job waits. The first time that it reports true for a job sets its eligible, from which its age
// is reckoned.
func (c *Controller) independent(j *Job, now des.Time) bool {
	switch j.reason {
	case JobHeld, HeldByController, DependencyNeverSatisfied, ReservationDeleted:
		return false
	}
	// Dependencies come before begin times: a parent's record may be purged while the job waits for its
	// begin time.
	switch c.depends(j) {
	case notMet:
		if c.second(j.eligible) < c.second(now) {
			j.eligible = 0 // a begin time to come stays
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
	// eligible is Begin, or 0 if there is no begin time or the job depended on another one.
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

// giveUp follows when what a job depends on can no longer be as it wants (handle_invalid_dependency): the
// job waits for ever, or is cancelled with DependencyParameters=kill_invalid_depend.
func (c *Controller) giveUp(now des.Time, j *Job) {
	j.reason = DependencyNeverSatisfied
	if c.conf.Schedule.KillInvalid {
		c.drop(now, j)
	}
}

// tellAgain makes a purge due for a job that has just been held and whose dependency can never be met:
// the purge notes DependencyNeverSatisfied anew as its reason, in place of the hold.
func (c *Controller) tellAgain(j *Job, now des.Time) {
	if j.doomed {
		c.main.keep(c.purgePeriod(), now)
	}
}

// met is the state of a dependency.
type met uint8

const (
	isMet    met = iota // NO_DEPEND, or DEPEND_FULFILLED of one dependency
	notMet              // LOCAL_DEPEND: it may still be met
	neverMet            // FAIL_DEPEND: the other job ended otherwise than the job wants
)

// depends returns the state of all dependencies of the job together (test_job_dependency): the job needs all of
// After, or with AnyAfter one of them. It takes out of After what is met, and with AnyAfter also what never will
// be; what is met stays met, and a job that is doomed stays doomed.
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

// singleton is the kind of a dependency on all jobs of the same name and user that came before or run.
const singleton = "singleton"

// comesBefore reports whether a singleton j has to wait for other (_find_singleton_job): for every job
// of its name and user that runs, and for those that wait and were submitted earlier.
func comesBefore(other, j *Job) bool {
	if other.Name != j.Name || other.User != j.User {
		return false
	}
	waits := other.state == pending || other.state == completing && other.requeued
	return other.state == running || waits && other.ID < j.ID
}

// stands returns the state of one dependency (_test_job_dependency_common). A dependency on a job whose record is
// purged is met, whatever became of that job: purge has looked at all dependencies before it dropped the record.
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
	case d.Kind == "after": // once it has started
		if other.state != pending && !other.requeued {
			return isMet
		}
		return notMet
	case other.state != done: // the other kinds wait until its nodes are free
		return notMet
	case d.Kind == "afterok" && other.failed, d.Kind == "afternotok" && !other.failed:
		return neverMet
	}
	return isMet
}

// Cancel ends a job, whether it waits or runs (scancel). No pass follows before the nodes of a running
// job are free. The order is a change to backfill even if the job is over already; j may be nil for a job whose
// record is purged.
func (c *Controller) Cancel(now des.Time, j *Job) {
	c.changed(now)
	switch {
	case j == nil:
	case j.state == pending:
		c.drop(now, j)
	case j.state == running:
		c.stop(now, j, Cancelled, false)
	}
}

// drop ends a job that waits: it is cancelled, and its record is kept like records of jobs that ran.
func (c *Controller) drop(now des.Time, j *Job) {
	c.ageNoMore(j)
	j.state, j.failed = done, true
	c.retire(now, j)
	c.count(j, -1, false)
	c.leave(j)
	c.changed(now)
	c.Stopped(now, j, Cancelled)
}

// Hold holds a job that waits until it is released, or releases it (scontrol hold and release, which set
// a priority: see _update_job). A running job goes on, and is held if it has to wait again. If a job is
// released that is not held, it loses its nice value and gets another number of priority/basic.
func (c *Controller) Hold(now des.Time, j *Job, hold bool) {
	switch {
	case j.state != pending && j.state != running:
	case hold == j.Held && !hold: // Slurm sets the nice value before it looks whether there is anything to release
		j.Nice, j.numbered = 0, false
		c.prioritize(j, now)
	case hold == j.Held: // the operator's hold takes the place of the user's
		if j.state == pending {
			j.reason = HeldByController
		}
	case j.state == pending:
		j.Held, j.numbered = hold, false // a job that is released gets another priority
		if c.second(j.eligible) < c.second(now) {
			j.eligible = 0 // its age begins anew when it could start again
		}
		if j.reason = NoReason; hold {
			j.reason = HeldByController
			c.ageNoMore(j)
			c.tellAgain(j, now)
		}
	default: // it runs
		j.Held, j.numbered = hold, false
		c.prioritize(j, now)
	}
	c.update(now, j)
}

// Renice gives a job that waits or runs another nice value (scontrol update Nice=). Under priority/basic
// Slurm adds the difference to the job's priority. So a held job, whose priority is 0, gets a priority
// above 0, and is held no longer.
func (c *Controller) Renice(now des.Time, j *Job, nice int) {
	if j.state == pending {
		c.reconsider(j)
		if j.Held && j.Nice != nice && !c.conf.Priority.Multifactor {
			// priorityOf subtracts nice again: what is left is the difference, at least 2.
			j.Held, j.numbered, j.basic = false, true, int64(max(j.Nice-nice, 2)+nice)
		}
		j.Nice = nice
	}
	if j.state == running && j.Nice != nice { // it counts if the job has to wait again
		j.Nice = nice
		c.prioritize(j, now)
	}
	c.update(now, j)
}

// reconsider releases a job that is held for BadConstraints: an order may have changed what it asks for.
func (c *Controller) reconsider(j *Job) {
	if j.reason == BadConstraints {
		j.reason, j.Held, j.numbered = NoReason, false, false
	}
}

// Relimit gives a job another limit (scontrol update TimeLimit=). If the job has run longer than that, its
// limit ends now, not earlier, and OverTimeLimit begins now. An order is an operator's
// (ADMIN_SET_LIMIT): once it has changed the limit of a job, MaxTime of partitions and MaxWall of its QoS
// and associations no longer hold for the job.
func (c *Controller) Relimit(now des.Time, j *Job, limit des.Time) {
	if j.state == pending || j.state == running {
		c.reconsider(j)
		j.excused = j.excused || j.Limit != limit
		j.altered += int64((limit - j.Limit) / des.Second) // before a start it does not matter
		j.Limit = limit
		if j.state == running { // end_time is max(now, start + limit)
			j.extended += max(0, c.second(now)-c.limitSecond(j))
		}
		c.reorder(j)
	}
	c.update(now, j)
}

// update follows each order about a job (_update_job): the order is a change to backfill, even if it
// changes nothing, and makes a pass due. That pass finds anew why the job waits, unless it is held.
func (c *Controller) update(now des.Time, j *Job) {
	c.wake(j)
	if j.state == pending {
		if !j.reason.ofHold() && c.beyondPartition(j, j.part) == "" {
			j.reason = NoReason
		}
		c.prioritize(j, now)
		c.sorted = false
	}
	if j.state == running && !j.Held {
		c.prioritize(j, now) // which it has if it must start again
	}
	if j.state == pending || j.state == running {
		c.changed(now)
		c.main.stir(&c.conf.Schedule, now)
	}
}

// credentialExpires is the least time from the release of a requeued job's nodes to its next start: its
// credential expires after 120 s (DEFAULT_EXPIRATION_WINDOW), and batch_requeue_fini adds one.
const credentialExpires = 121 * des.Second

// Down takes nodes out of service (scontrol update State=DOWN). Jobs that run there end, and those with
// Requeue wait again. It returns an error, and changes nothing, if there is no such node.
func (c *Controller) Down(now des.Time, nodes []int) error {
	gone, err := c.setOf(nodes)
	if err != nil {
		return err
	}
	c.up.remove(gone)
	if c.conf.ReturnToService != 2 {
		c.keepAway(gone)
	}
	for _, j := range slices.Clone(c.running) { // stop takes jobs out of running
		if j.nodes.meets(gone) {
			c.stop(now, j, NodeFail, j.Requeue)
			if !j.nodes.meets(c.up) { // nobody is left to tell that its nodes are free
				c.vacate(now, j)
			}
		}
	}
	c.changed(now)
	c.nodesOrdered(now)
	return nil
}

// Drain takes nodes out of service once the jobs that run there have ended (State=DRAIN): they take no
// more jobs. It returns an error, and changes nothing, if there is no such node.
func (c *Controller) Drain(now des.Time, nodes []int) error {
	set, err := c.setOf(nodes)
	if err != nil {
		return err
	}
	c.up.remove(set)
	c.keepAway(set)
	c.changed(now)
	c.nodesOrdered(now)
	return nil
}

// registers is the time from a whole second to the registration of a node that comes back: the order makes the
// main loop ping the node when the loop next wakes (ping_nodes_now), and the node answers at once.
const registers = des.Second / 1000

// Up puts nodes back into service (State=RESUME). They take jobs when they have registered, right after
// the next whole second. It returns the Refusal ErrNodeState if none of them is down or drained.
func (c *Controller) Up(now des.Time, nodes []int) error {
	set, err := c.setOf(nodes)
	if err != nil {
		return err
	}
	c.changed(now)
	c.nodesOrdered(now)
	if set.within(c.up) {
		return ErrNodeState
	}
	c.returning = append(c.returning, comeback{wholeSecond(now).Add(registers), set})
	return nil
}

// comeback is nodes that will have registered at an instant: those of one Up, less those that were ordered away since.
type comeback struct {
	at    des.Time
	nodes nodeSet
}

// keepAway takes nodes out of the comebacks under way: the nodes register, and are still down or drained.
func (c *Controller) keepAway(set nodeSet) {
	for _, back := range c.returning {
		back.nodes.remove(set)
	}
}

// comesBack returns the instant at which the next nodes register, or des.Forever.
func (c *Controller) comesBack() des.Time {
	if len(c.returning) == 0 {
		return des.Forever
	}
	return c.returning[0].at
}

// register puts the nodes back that register at now.
func (c *Controller) register(now des.Time) {
	for c.comesBack() == now {
		back := c.returning[0].nodes
		c.returning = c.returning[1:]
		if back.empty() {
			continue
		}
		c.up.unite(back)
		c.changed(now)
		c.main.stir(&c.conf.Schedule, now)
	}
}

// stop ends a running job. With requeue the job waits again when its nodes are free.
func (c *Controller) stop(now des.Time, j *Job, why Stop, requeue bool) {
	c.finish(now, j, true)
	j.requeued = requeue
	c.Stopped(now, j, why)
}

// requeue puts a job whose nodes are free back into the queue (batch_requeue_fini): it keeps its ID and
// priority, counts as submitted now, and its age begins anew.
func (c *Controller) requeue(now des.Time, j *Job) {
	c.ended = slices.DeleteFunc(c.ended, func(r record) bool { return r.job == j }) // its record stays: it waits
	j.state, j.requeued, j.failed, j.graceEnds, j.ByBackfill = pending, false, false, 0, false
	if c.second(j.eligible) <= c.second(now) {
		j.eligible = now.Add(credentialExpires)
	}
	j.submitted, j.accrued, j.reckoned, j.spread, j.Placed, j.told = now, 0, 0, 0, nil, NoReason
	c.enter(j) // with the priority that it had
	c.changed(now)
}
