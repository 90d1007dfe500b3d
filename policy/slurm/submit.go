package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Submit puts a job into the queue. It returns a Refusal where Slurm would refuse the job, and
// another error for what is no job: an ID that is not above those of all jobs that were accepted
// before, a partition or a node that there is none of, an amount below 0.
func (c *Controller) Submit(now des.Time, j *Job) error {
	if err := c.check(j); err != nil {
		return err
	}
	j.submitted, j.state, j.eligible, j.reason, j.told = now, pending, j.Begin, NoReason, NoReason
	if j.Held {
		j.reason = JobHeld
	}
	j.assoc = c.accounts.associationOf(j)
	name := j.QOS
	if name == "" && j.assoc != nil {
		name = j.assoc.defaultQOS
	}
	j.qos = c.accounts.qos[name]
	for _, at := range j.Partitions {
		j.entries = append(j.entries, &entry{job: j, part: c.parts[at]})
	}
	slices.SortStableFunc(j.entries, func(a, b *entry) int { return cmp.Compare(b.part.Tier, a.part.Tier) })
	err := c.refuses(now, j)
	if err == nil || errors.Is(err, ErrConfiguration) {
		j.part = c.firstFit(j).part
		if err == nil {
			c.independent(j, now)
		}
		c.prioritize(j, now) // priority/basic counts those that no nodes suit
	}
	if err != nil {
		for _, e := range j.entries {
			c.dropShape(e)
		}
		j.state, j.failed, j.entries = done, true, nil
		switch {
		case errors.Is(err, ErrConfiguration): // there is a record of it, whose number nobody is told
			c.retire(now, j)
			c.changed(now)
		case errors.Is(err, ErrDependency), errors.Is(err, ErrFeature), errors.Is(err, ErrReservation): // there was one for a moment
			c.changed(now)
		}
		return err
	}
	c.lastID = j.ID
	c.jobs[j.ID] = j
	if limit := c.beyondJobLimits(j); limit != "" && j.reason.passing() {
		j.reason = limit
	}
	c.enter(j)
	c.main.stir(&c.conf.Schedule, now)
	c.changed(now)
	return nil
}

// check reports what is no job.
func (c *Controller) check(j *Job) error {
	if j.ID <= c.lastID {
		return fmt.Errorf("job %d comes after job %d: want rising numbers", j.ID, c.lastID)
	}
	if len(j.Partitions) == 0 {
		return fmt.Errorf("job %d names no partition", j.ID)
	}
	for _, at := range j.Partitions {
		if at < 0 || at >= len(c.parts) {
			return fmt.Errorf("job %d: there is no partition %d", j.ID, at)
		}
	}
	for _, n := range append(slices.Clone(j.Required), j.Excluded...) {
		if n < 0 || n >= len(c.conf.Nodes) {
			return fmt.Errorf("job %d: there is no node %d", j.ID, n)
		}
	}
	amounts := []int{j.Nodes, j.Tasks, j.CPUsPerTask, j.TasksPerNode, j.Memory, j.MemoryPerCPU}
	for _, a := range append(slices.Clone(j.GRES), j.Licenses...) {
		amounts = append(amounts, a.Count)
	}
	if slices.Min(amounts) < 0 || slices.Max(amounts) > maxCPUs {
		return fmt.Errorf("job %d: want amounts from 0 to %d", j.ID, maxCPUs)
	}
	if j.Limit <= 0 || j.Begin < 0 {
		return fmt.Errorf("job %d: want a limit above 0 and no time below 0", j.ID)
	}
	return nil
}

// firstFit is the entry of a job at which Slurm stops as the job comes: the first one in whose partition it would fit, or
// in which it is not looked for nodes, or the last one. Limits on time do not count, except with EnforcePartLimits=ANY; with ALL it
// goes on to the last one.
func (c *Controller) firstFit(j *Job) *entry {
	last := len(j.entries) - 1
	if c.conf.EnforceLimits == "ALL" {
		return j.entries[last]
	}
	waits := j.Held || last > 0 && (c.beyondJobLimits(j) != "" || !c.up.hasAll(j.Required))
	for _, e := range j.entries[:last] {
		switch limit := c.beyondPartition(j, e.part); {
		case limit != "" && c.conf.EnforceLimits == "ANY":
		case waits, (e.part.MaxNodes == 0 || j.Nodes <= e.part.MaxNodes) && c.fitIdle(e, e.part.nodes) != nil:
			return e
		}
	}
	return j.entries[last]
}

// Refusal is why a job or a reservation is refused as it comes, in Slurm's words.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// What is refused: a job that would not fit on idle nodes, that depends on a job that never was, that wants a feature
// which no node has, whose limit is beyond what its partitions allow, that its user may not submit, or that names an
// account, a QoS, a reservation, a partition or a node which there is not or it may not use; a reservation of nodes that are reserved, or in use; and nodes that are put back into service that were in service.
const (
	ErrConfiguration Refusal = "Requested node configuration is not available"
	ErrDependency    Refusal = "Job dependency problem"
	ErrCPUs          Refusal = "More processors requested than permitted"
	ErrNodeCount     Refusal = "Node count specification invalid"
	ErrTimeLimit     Refusal = "Requested time limit is invalid (missing or exceeds some limit)"
	ErrPolicy        Refusal = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
	ErrAssociation   Refusal = "Invalid account or account/partition combination specified"
	ErrQOS           Refusal = "Invalid qos specification"
	ErrFeature       Refusal = "Invalid feature specification"
	ErrReservation   Refusal = "Requested reservation is invalid"
	ErrOverlap       Refusal = "Requested reservation overlaps with another reservation"
	ErrBusy          Refusal = "Requested nodes are busy"
	ErrPartition     Refusal = "Invalid partition name specified"
	ErrNode          Refusal = "Invalid node name specified"
	ErrNodeState     Refusal = "Invalid node state specified"
	ErrOutside       Refusal = "Requested nodes not in this partition"
)

// refuses is why the job is refused as it comes, or nil: what Slurm finds first, in its order.
func (c *Controller) refuses(now des.Time, j *Job) error {
	switch {
	case c.conf.Enforce.Associations && j.assoc == nil:
		return ErrAssociation
	case c.conf.Enforce.QOS && j.QOS != "" && (j.qos == nil || !j.assoc.mayUse(j.QOS)):
		return ErrQOS
	}
	if err := c.enforce(j); err != nil {
		return err
	}
	if !c.submittable(j) {
		return ErrPolicy
	}
	for _, d := range j.After {
		if d.Kind != "singleton" && c.jobs[d.Job] == nil && !c.purged.has(d.Job) {
			return ErrDependency
		}
	}
	if slices.ContainsFunc(j.Features, func(f string) bool { return !c.conf.hasFeature(f) }) {
		return ErrFeature
	}
	if j.Reservation != "" {
		var err error
		if j.reservation, err = c.reservationOf(j); err != nil {
			return err
		}
	}
	if j.Held || c.beyondJobLimits(j) != "" {
		return nil // whether nodes suit is seen when it may start
	}
	return c.fitsNowhere(now, j)
}

// enforce is the limit of a partition for which EnforcePartLimits has the job be refused: the first one that
// the job is beyond (ALL), or the last one where no partition has it (ANY); or nil.
func (c *Controller) enforce(j *Job) error {
	var last error
	for _, e := range j.entries {
		refusal := c.refusedBy(j, e.part)
		switch {
		case refusal == "" && c.conf.EnforceLimits == "ANY":
			return nil
		case refusal != "":
			last = refusal
		}
		if last != nil && c.conf.EnforceLimits == "ALL" {
			break
		}
	}
	if c.conf.EnforceLimits == "NO" {
		return nil
	}
	return last
}

// refusedBy is why the partition has the job be refused, or "". Nodes that the job must have are looked at before MaxNodes
// and MaxTime.
func (c *Controller) refusedBy(j *Job, p *partition) Refusal {
	limit := c.beyondPartition(j, p)
	if limit != PartitionConfig && j.Nodes <= len(p.Nodes) && !p.nodes.hasAll(j.Required) {
		return ErrOutside
	}
	return partitionRefusals[limit]
}

// partitionRefusals are Slurm's words for jobs beyond the limits of partitions.
var partitionRefusals = map[Reason]Refusal{PartitionConfig: ErrCPUs, PartitionNodeLimit: ErrNodeCount, PartitionTimeLimit: ErrTimeLimit}

// fitsNowhere refuses a job that would not fit on idle nodes. One of several partitions is refused for what
// Slurm finds in the last of them, where it fits into none; limits of the others do not save it. With EnforcePartLimits=ALL
// nor does a partition whose nodes are only busy.
func (c *Controller) fitsNowhere(now des.Time, j *Job) error {
	fits := true
	for _, e := range j.entries {
		limit := c.beyondPartition(j, e.part)
		switch {
		case limit != "" && (len(j.entries) == 1 || c.conf.EnforceLimits == "ANY"):
			continue // no nodes are looked for
		case e.part.MaxNodes > 0 && j.Nodes > e.part.MaxNodes && c.lists(e):
			fits = true // it could, as far as Slurm looks
			continue
		}
		if fits = c.isKept(now, e) || c.couldEver(now, e); fits {
			if !c.missesNodes(now, e) && c.conf.EnforceLimits == "ALL" {
				continue
			}
			break
		}
	}
	if !fits {
		return ErrConfiguration
	}
	return nil
}

// lists reports whether the partition of e lists nodes that could be its job's, and all that the job must have.
func (c *Controller) lists(e *entry) bool {
	defer c.spare.back(c.spare.mark())
	listed := c.spare.clone(e.part.nodes)
	listed.intersect(c.shapeOf(e).listed)
	return !listed.empty() && listed.hasAll(e.job.Required)
}

// missesNodes notes for a job that comes why it has to wait where idle nodes would suit, but too few are in service or
// free of reservations. It reports false where nodes are only busy, since others have them to themselves or the job would, and where
// maintenance has all of them.
func (c *Controller) missesNodes(now des.Time, e *entry) bool {
	defer c.spare.back(c.spare.mark())
	g := c.groundOf(now, e, c.up, nil)
	shared := g.ready
	if c.conf.Preempt != "" { // then ready has nodes that jobs have to themselves: it may have those of its victims
		kept := c.spare.clone(c.heldWhole())
		for _, v := range c.victims(e, now) {
			kept.remove(v.nodes)
		}
		shared = c.spare.clone(g.ready)
		shared.remove(kept)
	}
	if c.fitIdle(e, shared) != nil {
		return true
	}
	if _, why := c.whyNot(e, &g); why != notAvailable {
		return why != busy
	}
	if g.bar.by != nil && g.bar.by.Maintenance {
		e.job.reason = WaitsForReservation
		return false
	}
	e.job.reason = NodesNotAvailable
	return true
}

// isKept reports whether nodes that the job of e must have, and that could be its own, are out of service or reserved for others
// within its limit: Slurm looks no further as it comes.
func (c *Controller) isKept(now des.Time, e *entry) bool {
	j := e.job
	if j.reservation != nil || len(j.Required) == 0 || !c.shapeOf(e).fit.hasAll(j.Required) || !e.part.nodes.hasAll(j.Required) {
		return false
	}
	available := c.up.clone()
	c.barOf(e, now, available)
	return !available.hasAll(j.Required)
}

// couldEver reports whether the job of e would fit on idle nodes, as far as is known as it comes: a job of a
// reservation that is in force must fit on the nodes of that reservation which no other one overlaps.
func (c *Controller) couldEver(now des.Time, e *entry) bool {
	nodes := e.part.nodes
	if r := e.job.reservation; r != nil {
		if c.second(now) < c.second(r.Start) {
			return true
		}
		if c.second(now) > c.second(r.End) {
			return false
		}
		nodes = nodes.clone()
		switch b := c.barOf(e, now, nodes); {
		case !b.within.hasAll(e.job.Required):
			return false
		case b.leavesNone():
			return true
		}
	}
	listed := nodes.clone()
	listed.intersect(c.shapeOf(e).listed)
	switch most, limit := c.mostNodes(e.job); {
	case listed.empty():
		e.job.reason = BadConstraints // which stays where another partition has nodes for it
		return false
	case !listed.hasAll(e.job.Required):
		return false
	case most < max(e.job.Nodes, 1): // nobody looks further
		e.job.reason = limit
		return true
	}
	c.weigh(e, listed)
	chosen := c.fitIdle(e, nodes)
	e.job.reckoned, e.job.guess = 0, 0
	if chosen != nil {
		e.job.guess = chosen.count()
	}
	return chosen != nil
}

// beyondPartition is why the job cannot run in the partition, whatever is free, or "": it asks for more CPUs or
// nodes than the partition has, for more nodes than MaxNodes, or for more time than MaxTime.
func (c *Controller) beyondPartition(j *Job, p *partition) Reason {
	switch {
	case j.requested().cpus > p.cpus:
		return PartitionConfig
	case j.Nodes > len(p.Nodes), p.MaxNodes > 0 && j.Nodes > p.MaxNodes:
		return PartitionNodeLimit
	case j.Limit > p.MaxTime && !j.excused:
		return PartitionTimeLimit
	}
	return ""
}
