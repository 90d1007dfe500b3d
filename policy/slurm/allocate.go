package slurm

import (
	"math"

	"github.com/gridslot/gridslot/des"
)

// An attempt to start a job: select_nodes of slurmctld/node_scheduler.c, in its order.

// outcome is the result of an attempt to start a job: the error code of select_nodes.
type outcome uint8

const (
	started      outcome = iota // SLURM_SUCCESS
	busy                        // ESLURM_NODES_BUSY: nodes that suit are in use, or others were asked to leave them
	beyondLimit                 // ESLURM_ACCOUNTING_POLICY: a limit of its QoS or its associations is in the way
	reserved                    // ESLURM_RESERVATION_BUSY: what it needs is reserved
	notAvailable                // ESLURM_NODE_NOT_AVAIL: nodes that suit are down, drained, reserved, or kept for others
	neverFits                   // ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE: not even idle nodes would do
)

// ground is the nodes on which a job may be tried. Its sets are lent by Controller.spare.
// Invariant: ready is within open, and open within all.
type ground struct {
	all   nodeSet // nodes of the partition that are listed for the job (total_bitmap)
	open  nodeSet // of them, those that are available and that nobody else has reserved
	ready nodeSet // of them, those that no job which runs or completes keeps from it (avail_bitmap)
	inUse bool    // ready lacks some of open (nodes_busy)
	bar   bar
}

// allocate tries to start the job of e in its partition (select_nodes). Its nodes have to be in available
// and in within; within is nil if all may be taken. If the job does not start, it notes why it waits.
func (c *Controller) allocate(now des.Time, e *entry, available, within nodeSet) outcome {
	j := e.job
	// Limits that can be told without nodes (acct_policy_job_runnable_pre_select).
	if !c.withinJobLimits(j) {
		return beyondLimit
	}
	// The nodes that are listed for the job (_build_node_list, _nodes_in_sets).
	defer c.spare.back(c.spare.mark())
	g := c.groundOf(now, e, available, within)
	switch {
	case len(j.Required) == 0 && g.bar.leavesNone():
		j.reason, j.maintained = NodesNotAvailable, false
		return reserved
	case g.all.empty():
		j.reason = BadConstraints
		return neverFits
	case !g.all.hasAll(j.Required):
		return neverFits
	}
	// Limits on the number of nodes (get_node_cnts).
	if most, limit := c.mostNodes(j); most < j.leastNodes() {
		j.reason = limit
		return beyondLimit
	}
	c.settleAlone(e)
	// Limits on amounts come after the search for nodes. Where the search cannot matter, it is spared.
	if c.limitsTold(e, g.all) {
		if limit := c.beyondAmounts(j, c.reckonedNeeds(e, 0, nil)); limit != "" {
			j.reason = limit
			return beyondLimit
		}
	}
	t := c.seek(now, e, &g)
	if limit := c.beyondAmounts(j, t.wants); limit != "" { // in place of whatever the search has found
		j.reason = limit
		return beyondLimit
	}
	return c.conclude(now, e, &g, &t)
}

// trial is the result of a search for nodes for a job.
type trial struct {
	became  outcome     // started if placed or victims are not nil
	placed  []Placement // what the job gets now
	victims []*Job      // who has to end before the job fits
	wants   tres        // what the job would have, by which limits on amounts go
}

// seek looks for nodes for the job of e on its ground (_get_req_features, _pick_best_nodes): ready nodes,
// else ready nodes once others have ended; else it finds out why there are none. It notes on how many
// nodes the job would run (Job.guess, node_cnt_wag).
func (c *Controller) seek(now des.Time, e *entry, g *ground) (t trial) {
	j := e.job
	if !g.open.hasAll(j.Required) {
		return trial{became: notAvailable, wants: c.reckonedNeeds(e, 0, nil)}
	}
	c.weigh(e, g.all)
	if t.placed = c.place(e, g.ready); t.placed != nil {
		t.wants = c.has(j, e.part, t.placed, c.whole(e), false)
		j.guess = len(t.placed)
		return t
	}
	var chosen nodeSet
	if t.victims, chosen = c.victimsFor(e, now, g.ready); len(t.victims) == 0 {
		chosen, t.became = c.whyNot(e, g)
	}
	if chosen == nil {
		t.wants = c.reckonedNeeds(e, 0, nil)
		return t
	}
	j.guess = chosen.count()
	if !c.whole(e) {
		t.wants = c.reckonedNeeds(e, j.guess, nil)
	} else { // all devices of its nodes count (_handle_exclusive_gres)
		t.wants = c.reckonedNeeds(e, j.guess, chosen)
	}
	return t
}

// conclude starts the job of e, makes its victims end, or notes why it waits: the end of select_nodes, where
// the error code becomes a reason.
func (c *Controller) conclude(now des.Time, e *entry, g *ground, t *trial) outcome {
	j := e.job
	switch {
	case t.became == notAvailable && g.bar.by != nil && g.bar.by.Maintenance: // ESLURM_RESERVATION_MAINT
		j.reason, j.maintained = NodesNotAvailable, true
		return reserved
	case t.became == notAvailable:
		j.reason, j.maintained = NodesNotAvailable, false
		c.changed(now)
	case t.became == reserved:
		j.reason = WaitsForReservation
	case t.became != started:
		j.reason = WaitsForResources
	case len(t.victims) > 0: // _preempt_jobs: a later pass starts the job
		c.evictAll(now, j, t.victims)
		j.reason = WaitsForResources
		return busy
	default:
		c.start(now, e, t.placed)
	}
	return t.became
}

// limitsTold reports whether limits on amounts can be told before nodes are looked for, and the look
// would leave nothing behind. That is so if the limits of the job are on what whatever nodes give it, if it gets as many
// CPUs as are reckoned, and if the nodes weigh what they usually do.
func (c *Controller) limitsTold(e *entry, nodes nodeSet) bool {
	j, s := e.job, c.shapeOf(e)
	d := &s.demand
	if c.forgetful || !c.conf.Enforce.Limits || j.reservation != nil || len(j.Required) > 0 || d.whole || d.perTask > 1 || d.perNode > 0 || j.reckoned != d.cpus {
		return false
	}
	return c.limitsGiven(j) && c.weighUsually(s, nodes)
}

// limitsGiven reports whether the groups of the job limit only what does not depend on its nodes: CPUs, licences and, for
// a job without devices, devices. What they limit does not change, so the answer is kept in Job.limited.
func (c *Controller) limitsGiven(j *Job) bool {
	if j.limited == notLookedFor {
		j.limited = byGiven
		for _, l := range j.amountLimits() {
			k := &c.kinds[l.kind]
			if l.kind != tresCPU && k.license == "" && k.device == "" || l.limit == maxTRESPerNode {
				j.limited = byOthers
			}
		}
	}
	return j.limited == byGiven
}

// kindsLimited says whether the groups of a job limit amounts that depend on the nodes chosen for it.
type kindsLimited uint8

const (
	notLookedFor kindsLimited = iota
	byGiven                   // by none, or by amounts that are the same on all nodes
	byOthers
)

// withinJobLimits reports whether the limits that can be told before nodes are chosen let the job start
// (acct_policy_job_runnable_pre_select), and notes the limit that does not. A reason of the last time that is
// such a limit goes first.
func (c *Controller) withinJobLimits(j *Job) bool {
	if c.conf.Enforce.Limits && j.reason.ofLimit() {
		j.reason = NoReason
	}
	limit := c.beyondJobLimits(j)
	if limit != "" {
		j.reason = limit
	}
	return limit == ""
}

// groundOf returns the nodes on which the job of e may be tried at now. available are the nodes that the pass has
// left; within are the nodes among which backfill lets the job choose, or nil for all.
func (c *Controller) groundOf(now des.Time, e *entry, available, within nodeSet) ground {
	g := ground{all: c.spare.clone(e.part.nodes), open: c.spare.clone(available)}
	if within != nil {
		g.all.intersect(within)
	}
	g.all.intersect(c.shapeOf(e).listed)
	if g.bar = c.barOf(e, now, g.open); g.bar.within != nil {
		g.all.intersect(g.bar.within)
	}
	g.open.intersect(g.all)
	g.ready = c.spare.clone(g.open)
	g.ready.remove(c.leaving)
	// With preemption _pick_best_nodes does not look whether nodes are shared or idle: their jobs may be
	// victims.
	if c.conf.Preempt == "" {
		if c.whole(e) {
			g.ready.intersect(c.idleNodes())
		} else {
			g.ready.remove(c.heldWhole())
		}
	}
	g.inUse = !g.open.equal(g.ready)
	return g
}

// heldWhole is the nodes that jobs have to themselves.
func (c *Controller) heldWhole() nodeSet { return c.eraSets().whole }

// whyNot tells why no nodes were found for the job of e, and on which nodes it would run if they were idle; nil:
// on none. It is the end of _pick_best_nodes, where runable_avail says whether the open nodes would be enough if
// idle, and runable_ever whether all listed nodes would be.
func (c *Controller) whyNot(e *entry, g *ground) (nodeSet, outcome) {
	if g.ready.count() >= e.job.leastNodes() {
		if chosen := c.fitIdle(e, g.open); chosen != nil {
			return chosen, busy
		}
	}
	chosen := c.fitIdle(e, g.all)
	switch {
	case chosen == nil && g.bar.overlaps:
		return nil, reserved
	case chosen == nil:
		return nil, neverFits
	case g.inUse:
		return chosen, busy
	}
	return chosen, notAvailable
}

// weigh notes how much the nodes of a set weigh for the job of e: nodes of low weight are taken first. If a
// group of the job whose number of nodes is limited has some nodes of a row of slurm.conf, the other nodes of
// that row weigh one more (the end of _build_node_list).
func (c *Controller) weigh(e *entry, set nodeSet) {
	preferred := c.preferredNodes(e.job)
	if preferred == nil && !set.meets(c.odd) {
		return
	}
	split := map[int]bool{} // rows of which some nodes are preferred
	for n := range set.all {
		if preferred != nil && preferred.has(n) {
			split[c.conf.Nodes[n].Row] = true
		}
	}
	for n := range set.all {
		node := &c.conf.Nodes[n]
		weight := node.Weight
		if split[node.Row] && !preferred.has(n) {
			weight++
		}
		c.setWeight(n, weighs(weight, 0))
	}
}

// weighs is the number by which select/cons_tres orders nodes (sched_weight): the weight of slurm.conf times
// 256, and 255 less the GPUs that the job which was looked at last would have, at most 255. So among nodes of
// one weight those with the most such GPUs come first.
func weighs(weight, near int) int { return weight<<8 | 255 - min(near, 255) }

// setWeight notes what a node weighs, and counts a change.
func (c *Controller) setWeight(n, weight int) {
	if c.weights[n] != weight {
		if c.weights[n] = weight; weight == weighs(c.conf.Nodes[n].Weight, 0) {
			c.odd.drop(n)
		} else {
			c.odd.add(n)
		}
		c.weighed++
	}
}

// gpu is the kind of devices that changes weights of nodes.
const gpu = "gpu"

// considers reports whether Slurm considers a node for a job of the shape, which wants devices, before it
// looks how many of its cores and devices are free (_verify_node_state): the node has the least memory that
// the job asks for free, has the devices at all, and is not another job's alone. If the job is to have the node to
// itself, no device is in use; with OverSubscribe=EXCLUSIVE no CPU is. With --exclusive CPUs may be in use.
func (c *Controller) considers(s *shape, n int, free usage) bool {
	d, node := &s.demand, &c.conf.Nodes[n]
	if c.conf.Select.Memory {
		least := max(d.memory, d.perCPU*d.pnMin)
		if least == 0 { // a job that asks for no memory gets all of the node
			least = node.Memory
		}
		if free.mem[n] < least {
			return false
		}
	}
	for _, g := range s.gres {
		if counts := c.idle.gres[g.Kind]; counts == nil || counts[n] < g.Count {
			return false
		}
	}
	if d.whole {
		for kind, counts := range c.idle.gres {
			if free.gres[kind][n] < counts[n] {
				return false
			}
		}
	}
	if d.reserves {
		return free.cpus[n] == node.CPUs()
	}
	return free.cpus[n] > 0 || !c.heldWhole().has(n)
}

// notesGPUs notes that a job of the shape which wants GPUs is looked at on a node: the node weighs less by the
// number of its free GPUs that the job would have, whether or not its cores are free (the end of
// can_job_run_on_node). Slurm leaves the weight so, also for jobs that come after, until a pass, a start by
// backfill or a submission tries a job on the node and weighs it anew.
func (c *Controller) notesGPUs(s *shape, n int, free usage) {
	d, node := &s.demand, &c.conf.Nodes[n]
	near := 0
	for _, g := range s.gres {
		counts := free.gres[g.Kind]
		if counts == nil || counts[n] < g.Count {
			return
		}
		if g.family() == gpu {
			if near += g.Count; d.counts { // a whole node comes with all its GPUs
				near += counts[n] - g.Count
			}
		}
	}
	cpus := node.CPUs()
	if near == 0 || cpus < max(d.pnMin, d.tasksFit()*d.perTask) || d.reserves && free.cpus[n] < cpus {
		return
	}
	if c.conf.Select.Memory && d.fitsMemory(node, cpus, free.mem[n])/d.perTask < d.tasksFit() {
		return
	}
	c.setWeight(n, weighs(c.weights[n]>>8, near))
}

// mostNodes is the largest number of nodes that limits of its QoS and associations let the job have, and the
// limit that says so; math.MaxInt and "" if none is below the number of all nodes. It is reckoned once: the limits do
// not change, and neither do the job's groups.
func (c *Controller) mostNodes(j *Job) (most int, limit Reason) {
	if j.most == 0 {
		j.most, j.mostBy = c.reckonMostNodes(j)
	}
	return j.most, j.mostBy
}

// reckonMostNodes goes through the limits in the order of acct_policy_get_max_nodes: of equal limits the
// first names the reason. A limit of the QoS stands in for the same limit of associations, one on what a job, a user or an
// account has for MaxTRES, and the nearest association with a limit on all its jobs for those above it.
func (c *Controller) reckonMostNodes(j *Job) (most int, limit Reason) {
	most = math.MaxInt
	if !c.conf.Enforce.Limits {
		return most, ""
	}
	lower := func(by *ceilings, of tresLimit) (lowers, limited bool) {
		n, limited := by.on(of, tresNode)
		if lowers = limited && n.most < most; lowers {
			most, limit = n.most, n.reason
		}
		return lowers, limited
	}
	perJob, sum := false, false // a limit per job, and one on all jobs together, has been met
	if q := j.qos; q != nil {
		for _, of := range []tresLimit{maxTRESPerAccount, maxTRESPerJob, maxTRESPerUser} {
			_, limited := lower(&q.ceilings, of)
			perJob = perJob || limited
		}
		_, sum = lower(&q.ceilings, grpTRES)
	}
	for at := j.assoc; at != nil; at = at.parent {
		nearest := false
		if !sum {
			nearest, _ = lower(&at.ceilings, grpTRES)
		}
		if at == j.assoc && !perJob {
			lower(&at.ceilings, maxTRESPerJob)
		}
		if nearest {
			break
		}
	}
	if most >= len(c.conf.Nodes) {
		return math.MaxInt, ""
	}
	return most, limit
}

// evictAll ends jobs so that j can have their nodes, at once or after their grace time, unless j made jobs
// end less than KillWait and MessageTimeout ago: that preemption may still be under way.
func (c *Controller) evictAll(now des.Time, j *Job, victims []*Job) {
	lasts := int64((c.conf.KillWait + c.conf.MessageTimeout) / des.Second)
	if j.preempted > 0 && c.second(j.preempted) > c.second(now)-lasts {
		return
	}
	for _, v := range victims {
		c.evict(now, v)
	}
	j.preempting, j.preempted = true, now
}
