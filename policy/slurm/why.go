package slurm

// Why a job waits, for people: Slurm's reason, and what the controller knows beside it.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Obstacle is the cause of a job's wait, as a comparable value.
type Obstacle struct {
	Reason Reason
	// Partition is the name of the partition in which the job was looked at last.
	Partition string
	// Behind is, with WaitsForPriority, the first job that found no room in the partition or in the
	// reservation; nil: the job is one too many for partition_job_depth.
	Behind *Job
	// Omitted names the parameter (of SchedulerParameters), such as bf_max_job_test, that made
	// the last run of backfill pass the job over. It is empty if backfill looked at the job, or
	// sees it start.
	Omitted string
}

// Obstacle returns what holds the job. The result is comparable, so that a log of decisions can
// tell what is new; Why says more.
func (c *Controller) Obstacle(j *Job) Obstacle {
	o := Obstacle{Reason: j.Reason()}
	if j.part != nil {
		o.Partition = j.part.Name
	}
	if o.Reason == WaitsForPriority {
		o.Behind = j.behind
	}
	if j.estimate == 0 {
		o.Omitted = c.backfill.omitted(j)
	}
	return o
}

// PlannedStart returns the instant at which the last run of backfill saw the job start
// (start_time of a pending job); 0: it saw no start, or without Estimates may not have looked. It is no
// promise: the next run may plan otherwise.
func (c *Controller) PlannedStart(j *Job) des.Time {
	if j.estimate == 0 {
		return 0
	}
	return des.Time(j.estimate-c.conf.Epoch) * des.Second
}

// Waiting yields the jobs that wait, in the order of their IDs.
func (c *Controller) Waiting(yield func(*Job) bool) { c.waiting(yield) }

// Why is the explanation of a job's wait: its obstacle, and what the controller knows about that obstacle.
type Why struct {
	Obstacle
	Own Standing // of the job in the partition in which it was looked at last
	// Ahead is the standing of Behind in the same partition; zero if Behind no longer waits there.
	Ahead Standing
	// On is, with WaitsForDependency, the first job that it still waits for, and with DependencyNeverSatisfied
	// the first that ended otherwise than it asks; nil: its record is purged. Dependency is the kind of that
	// dependency, such as afterok.
	On         *Job
	Dependency string
	// At is the instant at which the job may start (WaitsForBegin) or at which its reservation begins
	// (WaitsForReservation); 0: it is not known.
	At des.Time
	// Limit tells the limit, or the licences, that keep the job from starting; else it is empty.
	Limit string
}

// Standing is the place of a job in the queue of a partition: its priority there, and the terms of that priority.
type Standing struct {
	Partition string // its name; empty: the job does not wait there
	Priority  uint32 // 0: the job is held
	Terms     Terms  // of Priority; all 0 with priority/basic
	Nice      int    // is subtracted from their sum
}

// standing returns the standing of a job in a partition; the zero Standing if the job does not wait there.
func (j *Job) standing(part *partition) Standing {
	for _, e := range j.entries {
		if e.part == part && j.state == pending {
			return Standing{part.Name, e.priority, e.terms, j.Nice}
		}
	}
	return Standing{}
}

// Why tells why a job waits, as the last pass and the last run of backfill left it. It makes no search for
// nodes of its own.
func (c *Controller) Why(j *Job) Why {
	w := Why{Obstacle: c.Obstacle(j), Own: j.standing(j.part)}
	switch w.Reason {
	case WaitsForPriority:
		if w.Behind != nil {
			w.Ahead = w.Behind.standing(j.part)
		}
	case WaitsForDependency, DependencyNeverSatisfied:
		inTheWay := notMet
		if w.Reason == DependencyNeverSatisfied {
			inTheWay = neverMet
		}
		for _, d := range j.After {
			if c.stands(j, d) == inTheWay {
				w.Dependency, w.On = d.Kind, c.dependsOn(j, d)
				break
			}
		}
	case WaitsForBegin:
		w.At = j.eligible // Begin, or later where the job waits again
	case WaitsForReservation:
		if j.reservation != nil {
			w.At = j.reservation.Start
		}
	case WaitsForLicenses:
		for _, l := range j.Licenses {
			if c.licenses[l.Kind] < l.Count {
				w.Limit = fmt.Sprintf("%d of %s, of which %d are free", l.Count, l.Kind, c.licenses[l.Kind])
				break
			}
		}
	default:
		w.Limit = c.limitOf(j, w.Reason)
	}
	return w
}

// dependsOn returns the job of a dependency that is not met. For a singleton it returns, of the jobs for which j
// waits, the job with the lowest ID. It returns nil if the record is purged.
func (c *Controller) dependsOn(j *Job, d Dependency) (on *Job) {
	if d.Kind != singleton {
		return c.jobs[d.Job]
	}
	for _, other := range c.jobs {
		if comesBefore(other, j) && (on == nil || other.ID < on.ID) {
			on = other
		}
	}
	return on
}

// limited is a limit on what jobs have, and how much of it they have already.
type limited struct {
	reason Reason // of jobs that wait for it
	option string // of sacctmgr, as GrpTRES=cpu
	most   int    // the limit
	is     bool   // there is such a limit
	has    int    // how much of it is taken; 0 of a limit on each single job
}

// bound is a limit on a count.
func bound(reason Reason, option string, most count, has int) limited {
	return limited{reason, option, most.most, most.limited, has}
}

// count returns the limit as a number of minutes.
func (s timeLimit) count() count { return count{int(s.most / des.Minute), s.limited} }

// limitOf tells the limit that a reason names, as "GrpTRES=cpu=16 of account phys, of which 12 are taken"; ""
// if the reason names none. A QoS is asked before associations, the nearest association first, as limits
// are checked.
func (c *Controller) limitOf(j *Job, reason Reason) string {
	tell := func(of string, all []limited) string {
		at := slices.IndexFunc(all, func(l limited) bool { return l.reason == reason && l.is })
		switch {
		case at < 0:
			return ""
		case all[at].has > 0:
			return fmt.Sprintf("%s=%d of %s, of which %d are taken", all[at].option, all[at].most, of, all[at].has)
		}
		return fmt.Sprintf("%s=%d of %s", all[at].option, all[at].most, of)
	}
	if q := j.qos; q != nil {
		if text := tell("QoS "+q.name, c.limitsOfQOS(q, j)); text != "" {
			return text
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		of := "account "
		if at.isUser {
			of = "user "
		}
		if text := tell(of+at.name, c.limitsOf("Assoc", &at.group, j, func(tresLimit) *crowd { return &at.crowd })); text != "" {
			return text
		}
	}
	return ""
}

// limitsOf returns the limits of a group on its jobs. of is the word with which their reasons begin: QOS or
// Assoc.
func (c *Controller) limitsOf(of string, g *group, j *Job, counted func(tresLimit) *crowd) []limited {
	all := []limited{
		bound(Reason(of+"GrpJobsLimit"), "GrpJobs", g.jobs, len(g.running)),
		bound(Reason(of+"MaxJobsLimit"), "MaxJobs", g.jobsOfUser, len(g.running)),
		bound(Reason(of+"MaxWallDurationPerJobLimit"), "MaxWall", g.wall.count(), 0),
		bound(Reason(of+"GrpWallLimit"), "GrpWall", g.wallTogether.count(), g.used.wallMinutes()),
	}
	for limit, most := range g.ceilings {
		for _, m := range most {
			has := 0
			switch limit := tresLimit(limit); tresLimits[limit].measure {
			case together:
				has = c.taken(counted(limit), m.kind)
			case minutes:
				has = c.minutesLeft(g, m.kind, j)
			case used:
				has = g.used.minutes(m.kind)
			}
			all = append(all, limited{m.reason, tresLimits[limit].option + "=" + c.kinds[m.kind].name, m.most, true, has})
		}
	}
	return all
}

// limitsOfQOS returns the limits of a QoS on all its jobs, and on its jobs of j's user and of j's account.
func (c *Controller) limitsOfQOS(q *qos, j *Job) []limited {
	ofUser, ofAccount := q.sharers(j)
	return append(c.limitsOf("QOS", &q.group, j, func(l tresLimit) *crowd { return q.countedFor(l, j) }),
		bound("QOSMaxJobsPerUserLimit", "MaxJobsPerUser", q.jobsOfUser, len(ofUser.running)),
		bound("MaxJobsPerAccount", "MaxJobsPerAccount", q.jobsOfAccount, len(ofAccount.running)))
}
