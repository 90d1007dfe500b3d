package slurm

import (
	"maps"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// What a controller tells of its jobs to whoever writes down what happens.

// Keeps reports whether the controller still has the record of the job.
func (c *Controller) Keeps(j *Job) bool { return c.jobs[j.ID] == j }

// Requeued reports whether the job was stopped and waits again, or will when its nodes are free.
func (j *Job) Requeued() bool { return j.requeued }

// usualQOS is the QoS of jobs that have no other, where accounts are kept.
const usualQOS = "normal"

// QOSOf is the name of the QoS that the job has: its own or its user's default; empty without
// accounts.
func (c *Controller) QOSOf(j *Job) string {
	switch {
	case j.qos != nil:
		return j.qos.name
	case c.conf.Database:
		return usualQOS
	}
	return ""
}

// Billing is what a second of the running job is charged for.
func (j *Job) Billing() float64 { return j.billing }

// CPUs is how many CPUs the job asks for, before nodes are known.
func (j *Job) CPUs() int { return j.requested().cpus }

// Passes is how often the main scheduler and backfill have gone through the queue.
func (c *Controller) Passes() int64 { return c.main.passes + c.backfill.runs }

// Devices is how many devices of a kind the running job has. One that has its nodes to itself has
// all of theirs.
func (c *Controller) Devices(j *Job, kind string) int {
	whole := j.Exclusive || c.parts[j.StartedIn].Exclusive
	n := 0
	for _, p := range j.Placed {
		amounts := j.GRES
		if whole {
			amounts = c.conf.Nodes[p.Node].GRES
		}
		for _, g := range amounts {
			if g.Kind == kind {
				n += g.Count
			}
		}
	}
	return n
}

// Reason is why the job waits at now, in Slurm's words: what bars it by itself, by its partitions
// and by the limits of its QoS and associations, or else those in front of it.
func (c *Controller) Reason(now des.Time, j *Job) string {
	switch {
	case j.state != pending:
		return "None"
	case j.reservation != nil && j.reservation.End <= now:
		return "ReservationDeleted"
	case j.Held && j.heldByOperator:
		return "JobHeldAdmin"
	case j.Held:
		return "JobHeldUser"
	case !c.independent(j):
		return c.dependencyReason(j)
	case c.second(j.Begin) > c.second(now):
		return "BeginTime"
	}
	if last := j.entries[len(j.entries)-1]; !slices.ContainsFunc(j.entries, c.withinPartition) {
		if j.Limit > last.part.MaxTime {
			return "PartitionTimeLimit"
		}
		return "PartitionNodeLimit"
	}
	if why := c.limitReason(j); why != "" {
		return why
	}
	if !c.licensed(j) {
		return "Licenses"
	}
	return "Priority"
}

// dependencyReason tells whether what the job depends on can still be as it wants.
func (c *Controller) dependencyReason(j *Job) string {
	never := func(d Dependency) bool {
		other := c.jobs[d.Job]
		return d.Kind != "singleton" && (other == nil || other.state == done)
	}
	if j.AnyAfter && !slices.ContainsFunc(j.After, func(d Dependency) bool { return !never(d) }) || !j.AnyAfter && slices.ContainsFunc(j.After, never) {
		return "DependencyNeverSatisfied"
	}
	return "Dependency"
}

// limitNames are the names of kinds of TRES in reasons.
var limitNames = map[string]string{"cpu": "Cpu", "node": "Node", "mem": "Memory"}

// limitReason is the first limit of its QoS and associations that bars the job, or "".
func (c *Controller) limitReason(j *Job) string {
	if !c.conf.Enforce.Limits {
		return ""
	}
	if q := j.qos; q != nil {
		ofUser, ofAccount := q.sharers(j)
		switch {
		case q.jobs > 0 && len(q.running) >= q.jobs:
			return "QOSGrpJobsLimit"
		case q.wall > 0 && j.Limit > q.wall:
			return "QOSMaxWallDurationPerJobLimit"
		case q.jobsOfAccount > 0 && len(ofAccount) >= q.jobsOfAccount:
			return "MaxJobsPerAccount"
		case q.jobsOfUser > 0 && len(ofUser) >= q.jobsOfUser:
			return "QOSMaxJobsPerUserLimit"
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if at.jobs > 0 && len(at.running) >= at.jobs {
			return "AssocGrpJobsLimit"
		}
	}
	if j.assoc != nil {
		if most := j.assoc.inherited(func(l *limits) int64 { return int64(l.jobsOfUser) }); most > 0 && int64(len(j.assoc.running)) >= most {
			return "AssocMaxJobsLimit"
		}
		if wall := j.assoc.inherited(func(l *limits) int64 { return int64(l.wall) }); wall > 0 && int64(j.Limit) > wall {
			return "AssocMaxWallDurationPerJobLimit"
		}
	}
	return c.amountReason(j)
}

// amountReason is the first limit on amounts that bars the job, or "".
func (c *Controller) amountReason(j *Job) string {
	wants := j.requested()
	if q := j.qos; q != nil {
		if why := c.groupReason(&q.group, j, "QOS"); why != "" {
			return why
		}
		ofUser, ofAccount := q.sharers(j)
		if kind := c.beyond(wants, q.amountsOfJob, nil); kind != "" {
			return "QOSMax" + kind + "PerJobLimit"
		}
		if kind := c.beyond(wants, q.amountsOfAccount, ofAccount); kind != "" {
			return "Max" + kind + "PerAccount"
		}
		if kind := c.beyond(wants, q.amountsOfUser, ofUser); kind != "" {
			return "QOSMax" + kind + "PerUserLimit"
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if why := c.groupReason(&at.group, j, "Assoc"); why != "" {
			return why
		}
		if kind := c.beyond(wants, at.amountsOfJob, nil); kind != "" {
			return "AssocMax" + kind + "PerJobLimit"
		}
	}
	return ""
}

// groupReason is the first limit on the amounts of a group that bars the job, or "".
func (c *Controller) groupReason(g *group, j *Job, whose string) string {
	wants := j.requested()
	for _, kind := range slices.Sorted(maps.Keys(g.amounts)) {
		if c.has(g.running, kind)+wants.of(kind) > g.amounts[kind] {
			return whose + "Grp" + limitNames[kind] + "Limit"
		}
	}
	if !c.hasRoom(g, j, wants) {
		return whose + "GrpCPURunMinutesLimit"
	}
	return ""
}

// beyond is the name of the first kind of which so much is beyond what jobs may have together, or "".
func (c *Controller) beyond(wants tres, most map[string]int, running []*Job) string {
	for _, kind := range slices.Sorted(maps.Keys(most)) {
		if c.has(running, kind)+wants.of(kind) > most[kind] {
			return limitNames[kind]
		}
	}
	return ""
}
