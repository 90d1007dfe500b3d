package slurm

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Preemption: slurmctld/preempt.c and _run_now of plugins/select/cons_common/job_test.c. Victims are requeued
// or end; nobody is suspended.

// preemptor is the part of a job that decides whom it may preempt, beside what runs and the time: the partition
// in which it is to start, and its QoS if QoSs preempt.
type preemptor struct {
	part *partition // nil: it preempts nobody
	qos  *qos       // nil unless Config.Preempt is byQOS
}

// preemptorOf is the preemptor of e. Its part is nil if e cannot preempt anybody, whatever runs.
func (c *Controller) preemptorOf(e *entry) preemptor {
	switch {
	case c.conf.Preempt == byQOS && e.job.qos != nil && len(e.job.qos.preempts) > 0:
		return preemptor{e.part, e.job.qos}
	case c.conf.Preempt == byTier && e.part.Tier > c.lowTier:
		return preemptor{part: e.part}
	}
	return preemptor{}
}

// preys are the victims of a preemptor, as they were found in an era.
type preys struct {
	era uint64 // see Controller.era
	all []*Job
}

// victims are the running jobs that the job of e may preempt, in the order in which they are tried
// (slurm_find_preemptable_jobs): jobs of the lowest standing first, and of equal standing the jobs on the fewest
// nodes first; or with preempt_youngest_first the jobs that started last first. They are the same as long as the
// same jobs run, unless PreemptExemptTime exempts jobs for a time. The caller must not change the slice.
func (c *Controller) victims(e *entry, now des.Time) []*Job {
	by := c.preemptorOf(e)
	if by.part == nil {
		return nil
	}
	if c.forgetful || c.conf.PreemptExempt > 0 {
		return c.findVictims(e, now)
	}
	p, known := c.preys[by]
	if !known || p.era != c.era {
		p = preys{c.era, c.findVictims(e, now)}
		c.preys[by] = p
	}
	return p.all
}

// findVictims looks for the victims of e among what runs (_add_preemptable_job, and then _sort_by_prio or
// _sort_by_youngest).
func (c *Controller) findVictims(e *entry, now des.Time) []*Job {
	var all []*Job
	for _, j := range c.running {
		ran := now - j.Start
		if ran >= c.conf.PreemptExempt && c.mayPreempt(e, &entry{job: j, part: c.parts[j.StartedIn]}) &&
			j.nodes.meets(e.part.nodes) {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) }) // as job_list has them
	slices.SortStableFunc(all, func(a, b *Job) int {
		if c.conf.Schedule.PreemptYoungest {
			return cmp.Compare(b.Start, a.Start)
		}
		return cmp.Or(cmp.Compare(c.standingOf(a), c.standingOf(b)), cmp.Compare(len(a.Placed), len(b.Placed)))
	})
	return all
}

// Values of Config.Preempt (PreemptType): who preempts others.
const (
	byQOS  = "qos"            // jobs of a QoS, the jobs of the QoSs in its Preempt list
	byTier = "partition_prio" // jobs of a partition, the jobs of partitions of a lower PriorityTier
)

// standingOf is the number by which victims are ordered (PREEMPT_DATA_PRIO): the priority of a running job's
// QoS, or the tier of the partition in which it started.
func (c *Controller) standingOf(j *Job) float64 {
	switch {
	case c.conf.Preempt == byTier:
		return float64(c.parts[j.StartedIn].Tier)
	case j.qos == nil:
		return 0
	}
	return j.qos.priority
}

// victimsFor returns the jobs that have to end so that the job of e fits on candidates, and the nodes on
// which it would fit then; nil, nil if it would not fit whoever ends (_run_now). Victims are taken away one by
// one until the job fits. Then the victim that was taken away last comes first, followed by the others with
// the most of the nodes found, and the search begins anew, preempt_reorder_count times. Victims that have none of the
// nodes found at the end are spared.
func (c *Controller) victimsFor(e *entry, now des.Time, candidates nodeSet) ([]*Job, nodeSet) {
	order := slices.Clone(c.victims(e, now))
	if len(order) == 0 {
		return nil, nil
	}
	for passes := 0; ; {
		// Take victims away until the job fits.
		s := c.newSearch(e, candidates, c.free.clone())
		last, chosen := -1, choice(nil)
		for i, j := range order {
			s.release(j, j.cpusOn(candidates))
			if chosen = s.run(); chosen != nil {
				last = i
				break
			}
		}
		if last < 0 {
			return nil, nil
		}
		// Is this the last pass? Slurm compares the count before it grows with preempt_reorder_count, and the
		// count after it has grown with the number of victims.
		nodes := chosen.nodes(len(c.conf.Nodes))
		if passes++; passes-1 > c.conf.Schedule.ReorderVictims || len(order) <= passes {
			return slices.DeleteFunc(order[:last+1], func(j *Job) bool { return !j.nodes.meets(nodes) }), nodes
		}
		// Order the victims anew (_sort_usable_nodes_dec). Those that were not needed have no usable nodes.
		usable := map[*Job]int{order[last]: math.MaxInt} // first, whatever it has
		for _, j := range order[:last] {
			both := j.nodes.clone()
			both.intersect(nodes)
			usable[j] = both.count()
		}
		slices.SortStableFunc(order, func(a, b *Job) int { return cmp.Compare(usable[b], usable[a]) })
	}
}

// evict ends a job that another one preempts, at once or when the GraceTime of its QoS is over
// (slurm_job_preempt). It is called again, with the same job, each time that a preemptor wants the job's
// nodes and each time that the main loop looks at limits.
func (c *Controller) evict(now des.Time, j *Job) {
	if j.graceEnds > 0 && c.second(now) < c.limitSecond(j) {
		return
	}
	if j.graceEnds == 0 && c.conf.Preempt == byQOS && j.qos != nil && j.qos.grace > 0 {
		j.graceEnds = now.Add(j.qos.grace)
		c.reorder(j)
		return
	}
	requeued := j.Requeue && !c.cancels(j)
	c.stop(now, j, Preempted, requeued)
	if requeued {
		c.forgetOrder(j)
	}
}

// cancels reports whether a job that is preempted ends for good, even if it may be requeued: the mode of its QoS decides if QoSs
// preempt and the QoS has a mode, else the mode of slurm.conf (slurm_job_preempt_mode).
func (c *Controller) cancels(j *Job) bool {
	if c.conf.Preempt == byQOS && j.qos != nil && j.qos.mode != "" {
		return j.qos.mode == preemptCancel
	}
	return c.conf.PreemptCancels
}

// Values of PreemptMode that are simulated, in lower case: what becomes of a job that is preempted.
const (
	preemptRequeue = "requeue"
	preemptCancel  = "cancel"
)

// forgetOrder replaces the limit that an operator has given a job, once the job was preempted and waits again: the job gets
// the longest time that its QoS, or else its associations, allow. acct_policy_update_pending_job treats such a job as one
// without a limit. If neither has MaxWall or GrpWall, the operator's limit stays.
func (c *Controller) forgetOrder(j *Job) {
	if !j.excused || !c.conf.Enforce.Limits {
		return
	}
	if most := j.longest(); most.limited {
		j.Limit, j.excused = min(most.most, c.parts[j.StartedIn].MaxTime), false
	}
}

// longest returns the limit on time of a job that has none itself: the lower of MaxWall and GrpWall of its QoS. If the QoS has
// neither, it is GrpWall of the user, else MaxWall that the user has or inherits, else GrpWall of the nearest account.
func (j *Job) longest() timeLimit {
	if j.qos != nil {
		wall, together := j.qos.wall, j.qos.wallTogether
		if wall.limited && !together.exceeded(wall.most) {
			return wall
		}
		if together.limited {
			return together
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if at.wallTogether.limited {
			return at.wallTogether
		}
		if wall := at.wallLimit(); at == j.assoc && wall.limited {
			return wall
		}
	}
	return timeLimit{}
}
