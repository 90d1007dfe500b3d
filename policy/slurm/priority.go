package slurm

import (
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// billing is what a second of the job is charged for: its CPUs, or the weights of its partition. One
// that has its nodes to itself is charged for all of their devices.
func (c *Controller) billing(j *Job, p *partition) float64 {
	has := j.has()
	if len(p.BillingWeights) == 0 {
		return float64(has.cpus)
	}
	var sum, most, global float64
	for _, w := range p.BillingWeights {
		amount := 0.0
		switch {
		case w.Kind == "cpu":
			amount = float64(has.cpus)
		case w.Kind == "mem":
			amount = float64(has.mem) / 1024
		case w.Kind == "node":
			amount = float64(has.nodes)
		default:
			if kind, is := strings.CutPrefix(w.Kind, "gres/"); is {
				amount = float64(c.Devices(j, kind))
			}
			for _, l := range j.Licenses {
				if w.Kind == "license/"+l.Kind {
					global += float64(l.Count) * w.Value
				}
			}
		}
		sum += amount * w.Value
		most = max(most, amount*w.Value)
	}
	if c.conf.Priority.MaxTRES {
		return most + global
	}
	return sum + global
}

// decayLoop computes priorities every PriorityCalcPeriod.
type decayLoop struct {
	due  des.Time
	last des.Time // it ran last; valid if ran
	ran  bool
	// first reports whether it woke before backfill when both woke at one instant last.
	first bool
}

// perSecond is the part of usage that is left after a second.
func (c *Controller) perSecond() float64 {
	if c.conf.Priority.HalfLife == 0 {
		return 1
	}
	return 1 - .693/float64(c.conf.Priority.HalfLife/des.Second)
}

// charge adds what the job has used since priorities were computed last, as often as the UsageFactor of
// its QoS says: a site has cheap QoSs count for less in fair share.
func (c *Controller) charge(j *Job, now des.Time) {
	if j.assoc == nil {
		return
	}
	from := c.second(j.Start)
	if c.decay.ran {
		from = max(from, c.second(c.decay.last))
	}
	seconds := float64(max(0, c.second(now)-from))
	j.assoc.charge(seconds * math.Pow(c.perSecond(), seconds) * j.billing * j.usageFactor())
}

// computePriorities has usage decay, charges what runs, ranks the shares and gives every job that
// waits its priority.
func (c *Controller) computePriorities(now des.Time) {
	if c.decay.ran {
		c.accounts.decay(math.Pow(c.perSecond(), float64(c.second(now)-c.second(c.decay.last))))
	}
	for _, j := range c.running {
		c.charge(j, now)
	}
	c.accounts.rankShares()
	for i, e := range c.pending {
		if i == 0 || e.job != c.pending[i-1].job {
			c.prioritize(e.job, now)
		}
		if !e.job.Held { // whose priority stays 0
			c.changed(now)
		}
	}
	c.sorted = false
	c.decay.last, c.decay.ran = now, true
}

// prioritize computes the priorities of a job that waits.
func (c *Controller) prioritize(j *Job, now des.Time) {
	if !j.numbered && !j.Held && !c.conf.Priority.Multifactor {
		c.basic--
		j.numbered, j.basic = true, int64(c.basic)
	}
	for _, e := range j.entries {
		e.terms = c.termsOf(j, e.part, now)
		sum := e.terms.sum()
		if len(j.entries) > 1 { // rounded otherwise
			sum = e.terms.Partition + (e.terms.Age + e.terms.FairShare + e.terms.JobSize + e.terms.QOS)
		}
		e.priority = c.priorityOf(j, sum)
	}
	terms := c.termsOf(j, j.part, now)
	j.Priority = c.priorityOf(j, terms.sum())
}

// Terms are what the priority of a job in a partition is the sum of: each factor of
// priority/multifactor, from 0 to 1, times its weight. All are 0 with priority/basic.
type Terms struct{ Age, FairShare, JobSize, Partition, QOS float64 }

// sum is the sum of the terms, in Slurm's order.
func (t *Terms) sum() float64 { return t.Age + t.FairShare + t.JobSize + t.Partition + t.QOS }

// termsOf is the terms of the priority of a job in a partition.
func (c *Controller) termsOf(j *Job, part *partition, now des.Time) (t Terms) {
	rules := &c.conf.Priority
	if !rules.Multifactor {
		return t
	}
	if c.conf.Database {
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

// priorityOf is the priority of a job whose terms have that sum.
func (c *Controller) priorityOf(j *Job, sum float64) uint32 {
	switch {
	case j.Held:
		return 0
	case !c.conf.Priority.Multifactor:
		return uint32(max(j.basic-int64(j.Nice), 1))
	}
	return uint32(min(math.MaxUint32, max(1, sum-float64(j.Nice))))
}

// basicPriority is what priority/basic counts down from: the first job has one less.
const basicPriority = 4_294_901_760

// sizeFactor is PriorityWeightJobSize's factor: the mean of the job's part of the nodes and of the
// CPUs, or that of what is left of each. The CPUs are those that nodes were last found with, and until then
// those that the job asks for.
func (c *Controller) sizeFactor(j *Job) float64 {
	nodes, wanted := max(j.Nodes, 1), j.reckoned
	if wanted == 0 {
		wanted = j.requested().cpus
	}
	if c.conf.Priority.FavorSmall {
		nodes, wanted = len(c.conf.Nodes)-nodes, c.cpus-wanted
	}
	return (float64(nodes)/float64(len(c.conf.Nodes)) + float64(wanted)/float64(c.cpus)) / 2
}
