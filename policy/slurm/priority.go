package slurm

import (
	"math"

	"github.com/gridslot/gridslot/des"
)

// Priorities, and the use on which fair shares depend: plugins/priority/multifactor of Slurm.

// decayLoop computes priorities every PriorityCalcPeriod (_decay_thread). Each computation is a tick.
type decayLoop struct {
	due  des.Time // the next tick; des.Forever: there is none, since there is no usage without slurmdbd
	last des.Time // the last tick; valid if ran
	ran  bool     // there was a tick
	// first reports whether the loop woke before backfill when both last woke at one instant.
	first bool
}

// perSecond is the part of usage that is left after a second (decay_factor), in (0, 1]: Slurm uses .693 for
// ln 2, and 1 - x for exp(-x).
func (c *Controller) perSecond() float64 {
	if c.conf.Priority.HalfLife == 0 { // no decay
		return 1
	}
	return 1 - .693/float64(c.conf.Priority.HalfLife/des.Second)
}

// charge adds what the job has used since the last tick, or since its start, to its association and all above
// (_apply_new_usage):
//
//	r · f^r · billing · UsageFactor,   r the seconds, f = perSecond
//
// So Slurm decays the use of a whole period as if all of it had been made at the period's beginning. For limits on use the
// formula has the amount of each kind of TRES in place of billing, and the use also counts for the job's QoS. Only
// priority/multifactor counts use: under priority/basic no group ever reaches GrpTRESMins or GrpWall by earlier use.
func (c *Controller) charge(j *Job, now des.Time) {
	if j.assoc == nil || !c.conf.Priority.Multifactor {
		return
	}
	from := c.second(j.Start)
	if c.decay.ran {
		from = max(from, c.second(c.decay.last))
	}
	seconds := float64(max(0, c.second(now)-from))
	decayed := seconds * math.Pow(c.perSecond(), seconds)
	j.assoc.charge(decayed * j.billing * j.usageFactor())
	if !c.accounts.limitsUse {
		return
	}
	for g := range j.groups {
		used := decayed
		if g.keeps {
			used = seconds
		}
		g.used.add(j.allocated.amounts, used*j.usageFactor())
	}
}

// computePriorities is a tick: usage decays (by f^d, d the seconds since the last tick), what runs is charged,
// shares are ranked, and every job that waits gets its priority. Between ticks only jobs that come and
// orders about jobs change priorities.
func (c *Controller) computePriorities(now des.Time) {
	if c.decay.ran {
		c.accounts.decay(math.Pow(c.perSecond(), float64(c.second(now)-c.second(c.decay.last))))
	}
	for _, j := range c.running {
		c.charge(j, now)
	}
	c.accounts.rankShares()
	for i, e := range c.pending {
		if i == 0 || e.job != c.pending[i-1].job { // the entries of a job are neighbours
			c.prioritize(e.job, now)
		}
		if !e.job.Held { // decay_apply_weighted_factors passes over jobs of priority 0
			c.changed(now)
		}
	}
	c.sorted = false
	c.decay.last, c.decay.ran = now, true
}

// prioritize computes the priorities of a job in its partitions (_get_priority_internal), and the priority that
// Slurm shows. Under priority/basic a job that is not held gets the next lower number the first time
// (priority_p_set), and keeps it.
func (c *Controller) prioritize(j *Job, now des.Time) {
	if !j.numbered && !j.Held && !c.conf.Priority.Multifactor {
		c.basic--
		j.numbered, j.basic = true, int64(c.basic)
	}
	for _, e := range j.entries {
		e.terms = c.termsOf(j, e.part, now)
		sum := e.terms.sum()
		if len(j.entries) > 1 { // Slurm adds priority_array in another order, which rounds otherwise
			sum = e.terms.Partition + (e.terms.Age + e.terms.FairShare + e.terms.JobSize + e.terms.QOS)
		}
		e.priority = c.priorityOf(j, sum)
	}
	terms := c.termsOf(j, j.part, now)
	j.Priority = c.priorityOf(j, terms.sum())
}

// Terms are the summands of the priority of a job in a partition: each is a factor of priority/multifactor, from
// 0 to 1, times its weight (PriorityWeightAge and so on). All are 0 with priority/basic.
type Terms struct{ Age, FairShare, JobSize, Partition, QOS float64 }

// sum is the sum of the terms. The order of the additions is Slurm's: another one rounds otherwise.
func (t *Terms) sum() float64 { return t.Age + t.FairShare + t.JobSize + t.Partition + t.QOS }

// termsOf returns the terms of the priority of a job in a partition (set_priority_factors):
//
//	age         seconds since accrued / PriorityMaxAge, at most 1
//	fair share  see rankShares
//	job size    see sizeFactor
//	partition   PriorityJobFactor / the largest of all partitions
//	QoS         Priority / the largest of all QoSs
func (c *Controller) termsOf(j *Job, part *partition, now des.Time) (t Terms) {
	rules := &c.conf.Priority
	if !rules.Multifactor {
		return t
	}
	if c.conf.Database { // without slurmdbd Slurm sets both weights to 0
		if j.accrued > 0 {
			age := float64(max(0, c.second(now)-c.second(j.accrued))) / float64(rules.MaxAge/des.Second)
			t.Age = rules.Age * min(1, age)
		}
		if j.assoc != nil {
			t.FairShare = rules.FairShare * j.assoc.factor
		}
	}
	t.JobSize = rules.JobSize * c.sizeFactor(j)
	t.Partition = rules.Partition * part.factor
	if j.qos != nil && c.topQOS > 0 {
		t.QOS = rules.QOS * (j.qos.priority / c.topQOS)
	}
	return t
}

// priorityOf is the priority of a job whose terms have that sum, cut to a whole number: 0 if the job is held,
// else 1 to 2^32 - 1.
func (c *Controller) priorityOf(j *Job, sum float64) uint32 {
	switch {
	case j.Held:
		return 0
	case !c.conf.Priority.Multifactor:
		return uint32(max(j.basic-int64(j.Nice), 1))
	}
	return uint32(min(math.MaxUint32, max(1, sum-float64(j.Nice))))
}

// basicPriority is the number from which priority/basic counts down (TOP_PRIORITY, 0xffff0000): the first
// job has one less.
const basicPriority = 4_294_901_760

// sizeFactor is the factor of PriorityWeightJobSize, 0 to 1: the mean of the job's share of all nodes and of its
// share of all CPUs, or with PriorityFavorSmall the mean of what is left of each. The CPUs are those with
// which nodes were last found (total_cpus), and until then those that the job asks for.
func (c *Controller) sizeFactor(j *Job) float64 {
	nodes, wanted := j.leastNodes(), j.reckoned
	if wanted == 0 {
		wanted = j.requestedCPUs()
	}
	if c.conf.Priority.FavorSmall {
		nodes, wanted = len(c.conf.Nodes)-nodes, c.cpus-wanted
	}
	return (float64(nodes)/float64(len(c.conf.Nodes)) + float64(wanted)/float64(c.cpus)) / 2
}
