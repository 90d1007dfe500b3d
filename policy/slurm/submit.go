package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// What happens when a job comes: is it refused, and why does it wait?

// Submit puts a job into the queue (job_allocate). It never starts the job: a pass does, after
// batch_sched_delay at the latest. It returns a Refusal if Slurm would refuse the job, and
// another error for what is no job: an ID that is not above the IDs of all jobs accepted
// before, a partition or node that does not exist, an amount below 0. The controller forgets a
// refused job, whose ID may be given again.
func (c *Controller) Submit(now des.Time, j *Job) error {
	if err := c.check(j); err != nil {
		return err
	}
	// Whose the job is, and where it may run.
	j.submitted, j.state, j.eligible, j.reason, j.told = now, pending, j.Begin, NoReason, NoReason
	if j.Held {
		j.reason = JobHeld
	}
	j.assoc = c.accounts.associationOf(j)
	name := j.QOS
	if name == "" && c.conf.Database {
		name = c.accounts.usualQOS(j.assoc)
	}
	j.qos = c.accounts.qos[name]
	for _, at := range j.Partitions {
		j.entries = append(j.entries, &entry{job: j, part: c.parts[at]})
	}
	slices.SortStableFunc(j.entries, func(a, b *entry) int { return cmp.Compare(b.part.Tier, a.part.Tier) })
	// Is it refused? For a job that no nodes suit, Slurm finds so only after it has made a record and
	// given the job a priority, which priority/basic does not give again.
	err := c.refuses(now, j)
	if err == nil {
		j.part = c.parts[j.Partitions[0]] // whose priority the job shows as it comes
		c.independent(j, now)
		c.prioritize(j, now)
		j.part = c.firstFit(j).part // set_job_prio comes before _select_nodes_parts
		// select_nodes returns before it looks for nodes if the job is held or beyond a limit on jobs, so whether
		// nodes suit shows only when a pass tries the job.
		if !j.Held && c.beyondJobLimits(j) == "" {
			err = c.fitsNowhere(now, j)
		}
	}
	if err != nil {
		for _, e := range j.entries {
			c.dropShape(e)
		}
		j.state, j.failed, j.entries = done, true, nil
		// Slurm checks the limits before _job_create makes a record, and the rest afterwards. A record that
		// was made is a change to backfill, and so is its purge.
		switch {
		case errors.Is(err, ErrConfiguration): // the record stays until it is purged
			c.retire(now, j)
			c.changed(now)
		case errors.Is(err, ErrDependency), errors.Is(err, ErrFeature), errors.Is(err, ErrReservation): // the record goes at once
			c.changed(now)
		}
		return err
	}
	// It waits. A limit of its QoS or associations is its reason, also if it waits for something else, too: select_nodes
	// checks limits after the begin time and what the job depends on. The next pass finds those reasons again.
	c.lastID = j.ID
	c.jobs[j.ID] = j
	if limit := c.beyondJobLimits(j); limit != "" && !j.Held {
		j.reason = limit
	}
	c.enter(j)
	c.main.stir(&c.conf.Schedule, now)
	c.changed(now)
	return nil
}

// check returns an error that no user of a real Slurm could cause: for what is no job at all. It names the
// job, what is wrong and what is wanted.
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

// firstFit is the entry at which Slurm stops when the job comes (_select_nodes_parts), whose partition the
// job then shows: the first entry in whose partition the job would fit on idle nodes, or for which Slurm
// does not look for nodes, else the last entry. Only EnforcePartLimits=ANY passes over a partition whose
// limits the job is beyond. With ALL Slurm always looks at all partitions.
func (c *Controller) firstFit(j *Job) *entry {
	last := len(j.entries) - 1
	if c.conf.EnforceLimits == "ALL" {
		return j.entries[last]
	}
	// waits: select_nodes returns before it looks for nodes, whatever the partition.
	waits := j.Held || last > 0 && (c.beyondJobLimits(j) != "" || !c.up.hasAll(j.Required))
	for _, e := range j.entries[:last] {
		switch limit := c.beyondPartition(j, e.part); {
		case limit != "" && c.conf.EnforceLimits == "ANY":
		case waits, (e.part.MaxNodes == 0 || j.leastNodes() <= e.part.MaxNodes) && c.fitIdle(e, e.part.nodes) != nil:
			return e
		}
	}
	return j.entries[last]
}

// Refusal is the error with which Slurm refuses a job, a reservation or an order about nodes, in Slurm's words
// (slurm_strerror).
type Refusal string

func (r Refusal) Error() string { return string(r) }

// What Slurm refuses.
const (
	// ErrConfiguration refuses a job that would not fit on idle nodes.
	ErrConfiguration Refusal = "Requested node configuration is not available"
	// ErrDependency refuses a job that depends on an ID that was never given.
	ErrDependency Refusal = "Job dependency problem"
	// ErrCPUs refuses a job of more CPUs than its partition has.
	ErrCPUs Refusal = "More processors requested than permitted"
	// ErrNodeCount refuses a job of more nodes than its partition has, or than MaxNodes.
	ErrNodeCount Refusal = "Node count specification invalid"
	// ErrTimeLimit refuses a job whose limit is beyond MaxTime.
	ErrTimeLimit Refusal = "Requested time limit is invalid (missing or exceeds some limit)"
	// ErrPolicy refuses a job beyond MaxSubmitJobs, or beyond a limit with DenyOnLimit.
	ErrPolicy Refusal = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
	// ErrDeviceTypes refuses a job that asks for devices of a kind both with and without a type.
	ErrDeviceTypes Refusal = "Invalid GRES specification (with and without type identification)"
	// ErrLicenses refuses a job that asks for a licence which does not exist, or for more than there are.
	ErrLicenses Refusal = "Invalid license specification"
	// ErrDevices refuses a job that asks for devices of a kind which slurm.conf does not name.
	ErrDevices Refusal = "Invalid generic resource (gres) specification"
	// ErrAssociation refuses a job whose user is not in its account.
	ErrAssociation Refusal = "Invalid account or account/partition combination specified"
	// ErrQOS refuses a job whose QoS does not exist, or that its user may not use.
	ErrQOS Refusal = "Invalid qos specification"
	// ErrFeature refuses a job that wants a feature which no node has.
	ErrFeature Refusal = "Invalid feature specification"
	// ErrReservation refuses a job whose reservation does not exist, or that it may not use.
	ErrReservation Refusal = "Requested reservation is invalid"
	// ErrOverlap refuses a reservation of nodes that are reserved at that time.
	ErrOverlap Refusal = "Requested reservation overlaps with another reservation"
	// ErrBusy refuses a reservation of nodes on which jobs run into it.
	ErrBusy Refusal = "Requested nodes are busy"
	// ErrPartition refuses a job that names a partition which does not exist; the reader of jobs finds so.
	ErrPartition Refusal = "Invalid partition name specified"
	// ErrNode refuses a job that names a node which does not exist (the reader of jobs finds so), or that it must both have and
	// not have.
	ErrNode Refusal = "Invalid node name specified"
	// ErrNodeState refuses an order to resume nodes of which none is down or drained.
	ErrNodeState Refusal = "Invalid node state specified"
	// ErrOutside refuses a job that must have a node outside its partition.
	ErrOutside Refusal = "Requested nodes not in this partition"
)

// refuses returns the Refusal of a job that needs no search for nodes to be refused, or nil. The checks come in
// Slurm's order, and the first that fails decides. It sets the job's reservation.
func (c *Controller) refuses(now des.Time, j *Job) error {
	// _job_create: the number of nodes that it must have, account and QoS, limits of partitions (_valid_job_part), licences
	// (license_validate), devices (gres_job_state_validate), limits of submission (acct_policy_validate), excluded nodes.
	switch {
	case j.Nodes > 0 && len(j.Required) > j.Nodes:
		return ErrNodeCount
	case c.conf.Enforce.Associations && j.assoc == nil:
		return ErrAssociation
	case c.conf.Enforce.QOS && (j.qos == nil || !slices.Contains(j.assoc.usable(), j.qos.name)):
		return ErrQOS
	}
	if err := c.enforce(j); err != nil {
		return err
	}
	switch {
	case c.lacksLicenses(j):
		return ErrLicenses
	case slices.ContainsFunc(j.GRES, func(g Amount) bool { return !slices.Contains(c.conf.Devices, g.family()) }):
		return ErrDevices
	case mixesTypes(j.GRES):
		return ErrDeviceTypes
	case !c.submittable(j):
		return ErrPolicy
	case slices.ContainsFunc(j.Required, func(n int) bool { return slices.Contains(j.Excluded, n) }):
		return ErrNode
	}
	// With a record: dependencies, features, the reservation.
	for _, d := range j.After {
		if d.Kind != singleton && c.jobs[d.Job] == nil && !c.purged.has(d.Job) {
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
	return nil
}

// lacksLicenses reports whether the job asks for more licences than the cluster has.
func (c *Controller) lacksLicenses(j *Job) bool {
	return slices.ContainsFunc(j.Licenses, func(wanted Amount) bool {
		for _, l := range c.conf.Licenses {
			if l.Kind == wanted.Kind {
				wanted.Count -= l.Count
			}
		}
		return wanted.Count > 0
	})
}

// mixesTypes reports whether a job asks for devices of one kind both with and without a type.
func mixesTypes(gres []Amount) bool {
	for i := range gres {
		if gres[i].typed() && slices.ContainsFunc(gres, func(g Amount) bool { return g.Kind == gres[i].family() }) {
			return true
		}
	}
	return false
}

// enforce is the limit of a partition for which the job is refused under EnforcePartLimits, or nil
// (_valid_job_part). With ALL that is the first limit which the job is beyond. With ANY it is the last one
// if the job is beyond limits of all its partitions. They are looked at in the order
// in which the job names them, whatever their tiers. With NO there is none.
func (c *Controller) enforce(j *Job) error {
	var last error
	for _, at := range j.Partitions {
		refusal := c.refusedBy(j, c.parts[at])
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

// refusedBy returns the Refusal of a job that may not run in the partition, or "" (_part_access_check): the
// numbers of CPUs and nodes of the partition come first, then the nodes that the job must have, then MaxNodes and
// MaxTime.
func (c *Controller) refusedBy(j *Job, p *partition) Refusal {
	limit := c.beyondPartition(j, p)
	if limit != PartitionConfig && j.leastNodes() <= len(p.Nodes) && !p.nodes.hasAll(j.Required) {
		return ErrOutside
	}
	return partitionRefusals[limit]
}

// partitionRefusals are Slurm's words for jobs beyond the limits of partitions.
var partitionRefusals = map[Reason]Refusal{PartitionConfig: ErrCPUs, PartitionNodeLimit: ErrNodeCount, PartitionTimeLimit: ErrTimeLimit}

// fitsNowhere returns ErrConfiguration for a job that would not fit on idle nodes, else nil
// (_select_nodes_parts with test_only). Slurm looks for nodes in one partition after the other, also
// where the job is beyond limits that make it wait, until one of them has nodes. What it found last
// counts. With EnforcePartLimits=ALL it goes on after a partition whose nodes are only busy.
func (c *Controller) fitsNowhere(now des.Time, j *Job) error {
	fits := true // what the last partition said for which nodes were looked for
	for _, e := range j.entries {
		limit := c.beyondPartition(j, e.part)
		switch {
		case limit != "" && (len(j.entries) == 1 || c.conf.EnforceLimits == "ANY"):
			continue // job_limits_check fails, so that select_nodes is not called
		case e.part.MaxNodes > 0 && j.leastNodes() > e.part.MaxNodes && c.lists(e):
			fits = true // get_node_cnts fails before any choice of nodes, which is no refusal
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

// lists reports whether the partition of e has nodes that could be its job's, and all that the job must
// have: _build_node_list and _nodes_in_sets succeed.
func (c *Controller) lists(e *entry) bool {
	defer c.spare.back(c.spare.mark())
	listed := c.spare.clone(e.part.nodes)
	listed.intersect(c.shapeOf(e).listed)
	return !listed.empty() && listed.hasAll(e.job.Required)
}

// missesNodes looks why a job has to wait that comes and would fit on idle nodes. It notes a reason if too
// few of the nodes are in service or free of reservations. It reports false if the nodes are only busy,
// since other jobs have them to themselves or the job would, or if maintenance has all of them.
func (c *Controller) missesNodes(now des.Time, e *entry) bool {
	defer c.spare.back(c.spare.mark())
	g := c.groundOf(now, e, c.up, nil)
	shared := g.ready
	if c.conf.Preempt != "" { // then ready has nodes that jobs have to themselves: it may have the nodes of its victims
		kept := c.spare.clone(c.heldWhole())
		for _, v := range c.victims(e, now) {
			kept.remove(v.nodes)
		}
		shared = c.spare.clone(g.ready)
		shared.remove(kept)
	}
	if c.fitsIdle(e, shared) {
		return true
	}
	if g.open.hasAll(e.job.Required) {
		switch _, why := c.whyNot(e, &g); why {
		case notAvailable:
		case busy:
			e.job.reason = WaitsForResources
			return false
		default:
			return true
		}
	}
	if g.bar.by != nil && g.bar.by.Maintenance {
		e.job.reason = WaitsForReservation
		return false
	}
	e.job.reason, e.job.maintained = NodesNotAvailable, false
	return true
}

// isKept reports whether nodes that the job of e must have, and that a pass would look at for it, are out of service
// or reserved for others within its limit. Then _pick_best_nodes returns ESLURM_NODE_NOT_AVAIL and looks no
// further, so that the job is not refused.
func (c *Controller) isKept(now des.Time, e *entry) bool {
	j := e.job
	if j.reservation != nil || len(j.Required) == 0 || !c.shapeOf(e).listed.hasAll(j.Required) || !e.part.nodes.hasAll(j.Required) {
		return false
	}
	available := c.up.clone()
	c.barOf(e, now, available)
	return !available.hasAll(j.Required)
}

// couldEver reports whether the job of e would fit on idle nodes, as far as Slurm knows when the job comes.
// It notes why the job waits if that is known, and how many nodes it would have (Job.guess).
func (c *Controller) couldEver(now des.Time, e *entry) bool {
	// A job of a reservation must fit on the nodes of the reservation which no other reservation overlaps.
	// Before the reservation begins Slurm does not look (job_test_resv).
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
	// Then the steps of select_nodes: the nodes that are listed, limits on the number of nodes
	// (get_node_cnts), a choice among idle nodes.
	listed := nodes.clone()
	listed.intersect(c.shapeOf(e).listed)
	switch most, limit := c.mostNodes(e.job); {
	case listed.empty():
		e.job.reason = BadConstraints // which stays where another partition has nodes for it
		return false
	case !listed.hasAll(e.job.Required):
		return false
	case most < e.job.leastNodes(): // nobody looks further
		e.job.reason = limit
		return true
	}
	c.settleAlone(e)
	c.weigh(e, listed)
	chosen := c.fitIdle(e, nodes)
	e.job.reckoned, e.job.guess = 0, 0
	if chosen != nil {
		e.job.guess = chosen.count()
	} else if !e.job.reason.ofLimit() && e.job.reason != BadConstraints { // which stay, too
		e.job.reason = WaitsForResources
	}
	return chosen != nil
}

// beyondPartition returns the limit of the partition that keeps the job from running there, whatever is free, or
// "" (job_limits_check): it asks for more CPUs or nodes than the partition has, for more nodes than MaxNodes, or
// for more time than MaxTime.
func (c *Controller) beyondPartition(j *Job, p *partition) Reason {
	switch {
	case j.requestedCPUs() > p.cpus:
		return PartitionConfig
	case j.leastNodes() > len(p.Nodes), p.MaxNodes > 0 && j.leastNodes() > p.MaxNodes:
		return PartitionNodeLimit
	case j.Limit > p.MaxTime && !j.excused:
		return PartitionTimeLimit
	}
	return ""
}
