package slurm

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// preemptor is what goes into whom a job may preempt, beside what runs and the time: the partition in which it is to start,
// and its QoS where QoSs preempt.
type preemptor struct {
	part *partition // nil: it preempts nobody
	qos  *qos
}

// preemptorOf is the preemptor of e.
func (c *Controller) preemptorOf(e *entry) preemptor {
	switch {
	case c.conf.Preempt == byQOS && e.job.qos != nil && len(e.job.qos.preempts) > 0:
		return preemptor{e.part, e.job.qos}
	case c.conf.Preempt == byTier && e.part.Tier > c.lowTier:
		return preemptor{part: e.part}
	}
	return preemptor{}
}

// preys are the victims of a preemptor among what runs.
type preys struct {
	era uint64
	all []*Job
}

// victims are the running jobs that the job of e may preempt: those of a low standing and small
// jobs first, or the youngest first. They are the same as long as the same jobs run, unless jobs that have run for a while
// only are exempt.
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

// findVictims looks among what runs.
func (c *Controller) findVictims(e *entry, now des.Time) []*Job {
	var all []*Job
	for _, j := range c.running {
		ran := now - j.Start
		if ran >= c.conf.PreemptExempt && c.mayPreempt(e, &entry{job: j, part: c.parts[j.StartedIn]}) &&
			j.nodes.meets(e.part.nodes) && c.preemptable(j) {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortStableFunc(all, func(a, b *Job) int {
		if c.conf.Schedule.PreemptYoungest {
			return cmp.Compare(b.Start, a.Start)
		}
		return cmp.Or(cmp.Compare(c.standingOf(a), c.standingOf(b)), cmp.Compare(len(a.Placed), len(b.Placed)))
	})
	return all
}

// preemptable reports whether a job may be preempted by anybody.
func (c *Controller) preemptable(j *Job) bool {
	return c.conf.Preempt != "" && (c.conf.Preempt != byQOS || j.qos == nil || !j.qos.spared)
}

// Which jobs preempt others: those of a QoS that may, or of a partition of a higher tier.
const (
	byQOS  = "qos"
	byTier = "partition_prio"
)

// standingOf is the priority of a running job's QoS, or the tier of the partition in which it started, by which of the two jobs
// preempt others.
func (c *Controller) standingOf(j *Job) float64 {
	switch {
	case c.conf.Preempt == byTier:
		return float64(c.parts[j.StartedIn].Tier)
	case j.qos == nil:
		return 0
	}
	return j.qos.priority
}

// victimsFor are the jobs that are to end so that the job of e fits on candidates, and where it would
// fit then; none where it would not. Victims are taken away one by one until the job fits; then, as
// often as preempt_reorder_count says, the last one is put first and those with the most of the nodes
// found before others, and it begins anew.
func (c *Controller) victimsFor(e *entry, now des.Time, candidates nodeSet) ([]*Job, nodeSet) {
	order := slices.Clone(c.victims(e, now))
	if len(order) == 0 {
		return nil, nil
	}
	for passes := 0; ; {
		s := c.newSearch(e, candidates, c.free.clone())
		last, chosen := -1, choice(nil)
		for i, j := range order {
			s.release(j)
			if chosen = s.run(); chosen != nil {
				last = i
				break
			}
		}
		if last < 0 {
			return nil, nil
		}
		nodes := chosen.nodes(len(c.conf.Nodes))
		if passes++; passes-1 > c.conf.Schedule.ReorderVictims || len(order) <= passes {
			return slices.DeleteFunc(order[:last+1], func(j *Job) bool { return !j.nodes.meets(nodes) }), nodes
		}
		usable := map[*Job]int{order[last]: math.MaxInt} // first, whatever it has
		for _, j := range order[:last] {
			both := j.nodes.clone()
			both.intersect(nodes)
			usable[j] = both.count()
		}
		slices.SortStableFunc(order, func(a, b *Job) int { return cmp.Compare(usable[b], usable[a]) })
	}
}

// evict ends a job that another one preempts, at once or after its grace time.
func (c *Controller) evict(now des.Time, j *Job) {
	if j.graceEnds > 0 && c.second(now) < c.limitSecond(j) {
		return
	}
	if j.graceEnds == 0 && c.conf.Preempt == byQOS && j.qos != nil && j.qos.grace > 0 {
		j.graceEnds = now.Add(j.qos.grace)
		c.reorder(j)
		return
	}
	c.stop(now, j, Preempted, j.Requeue)
}
