package slurm

import "github.com/gridslot/gridslot/des"

// outcome is what became of an attempt to start a job.
type outcome uint8

const (
	started      outcome = iota
	busy                 // nodes that suit are in use, or others were asked to leave them
	beyondLimit          // a limit of its QoS or its associations is in the way
	reserved             // what it needs is reserved
	notAvailable         // nodes that suit are down, drained, reserved, or kept for others
	neverFits            // not even idle nodes would do
)

// ground is the nodes on which a job may be tried.
type ground struct {
	all   nodeSet // of the partition, and listed for the job
	open  nodeSet // of them, those that are available and that nobody else has reserved
	ready nodeSet // of them, those that are not kept from it by a job that runs or completes
	inUse bool    // ready lacks some of open
	bar   bar
}

// allocate tries to start the job of e in its partition, on nodes that are available and are among
// those within; nil: any. It notes why the job waits where it does not start.
func (c *Controller) allocate(now des.Time, e *entry, available, within nodeSet) outcome {
	j := e.job
	if !c.withinJobLimits(j) {
		return beyondLimit
	}
	defer c.spare.back(c.spare.mark())
	g := c.groundOf(now, e, available, within)
	switch {
	case len(j.Required) == 0 && g.bar.leavesNone():
		j.reason = NodesNotAvailable
		return reserved
	case g.all.empty():
		j.reason = BadConstraints
		return neverFits
	case !g.all.hasAll(j.Required):
		return neverFits
	}
	if most, limit := c.mostNodes(j); most < max(j.Nodes, 1) {
		j.reason = limit
		return beyondLimit
	}
	wants := j.reckonedNeeds()
	if c.limitedByCPUs(e, g.all) {
		if limit := c.beyondAmounts(j, wants); limit != "" {
			j.reason = limit
			return beyondLimit
		}
	}
	var became outcome
	var placed []Placement
	var victims []*Job
	switch {
	case !g.open.hasAll(j.Required):
		became = notAvailable
	default:
		c.weigh(e, g.all)
		if placed = c.place(e, g.ready); placed != nil {
			wants = allocated(placed)
			j.guess = len(placed)
			break
		}
		var chosen nodeSet
		if victims, chosen = c.victimsFor(e, now, g.ready); len(victims) == 0 {
			chosen, became = c.whyNot(e, &g)
		}
		if wants = j.reckonedNeeds(); chosen != nil {
			wants.nodes = chosen.count()
			j.guess = wants.nodes
		}
	}
	if limit := c.beyondAmounts(j, wants); limit != "" {
		j.reason = limit
		return beyondLimit
	}
	switch {
	case became == notAvailable && g.bar.by != nil && g.bar.by.Maintenance:
		j.reason = NodesNotAvailable
		return reserved
	case became == notAvailable:
		j.reason = NodesNotAvailable
		c.changed(now)
	case became == reserved:
		j.reason = WaitsForReservation
	case became != started:
		j.reason = WaitsForResources
	case len(victims) > 0:
		c.evictAll(now, j, victims)
		j.reason = WaitsForResources
		return busy
	default:
		c.start(now, e, placed)
	}
	return became
}

// limitedByCPUs reports whether limits on amounts can be told before nodes are looked for, and the look leaves nothing behind: the limits of the
// job are on CPUs alone, of which it gets as many as are reckoned on whatever nodes, and these weigh what they usually do.
func (c *Controller) limitedByCPUs(e *entry, nodes nodeSet) bool {
	j, s := e.job, c.shapeOf(e)
	d := &s.demand
	if c.forgetful || !c.conf.Enforce.Limits || j.reservation != nil || len(j.Required) > 0 || d.whole || d.perTask > 1 || d.perNode > 0 || j.reckoned != d.cpus {
		return false
	}
	return j.limitsCPUsOnly() && c.weighUsually(s, nodes)
}

// limitsCPUsOnly reports whether the groups of the job limit no other amounts than CPUs. What they limit does not change.
func (j *Job) limitsCPUsOnly() bool {
	if j.limited == notLookedFor {
		j.limited = byCPUs
		for g := range j.groups {
			for _, most := range []map[string]int{g.amounts, g.minutes, g.amountsOfJob, g.amountsOfUser, g.amountsOfAccount} {
				for kind := range most {
					if kind != "cpu" {
						j.limited = byOthers
					}
				}
			}
		}
	}
	return j.limited == byCPUs
}

// kindsLimited is by which amounts the groups of a job limit it.
type kindsLimited uint8

const (
	notLookedFor kindsLimited = iota
	byCPUs                    // or by none
	byOthers
)

// withinJobLimits reports whether the limits that can be told before nodes are chosen let the job
// start, and notes it where one does not.
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

// reckonedNeeds is what the job asks for, with the CPUs that it would have got when nodes were found
// for it last.
func (j *Job) reckonedNeeds() tres {
	wants := j.requested()
	if j.reckoned > 0 {
		wants.cpus = j.reckoned
	}
	return wants
}

// groundOf is the nodes on which the job of e may be tried.
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

// whyNot tells why no nodes were found for the job of e, and on which nodes it would run were they
// idle; nil: on none.
func (c *Controller) whyNot(e *entry, g *ground) (nodeSet, outcome) {
	if g.ready.count() >= max(e.job.Nodes, 1) {
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

// weigh notes how much the nodes of a set weigh for the job of e: nodes of low weight are taken first.
// In a row of slurm.conf of which a group of the job that may have so many nodes has some, the others weigh more.
func (c *Controller) weigh(e *entry, set nodeSet) {
	preferred := c.preferredNodes(e.job)
	if preferred == nil && !set.meets(c.odd) {
		return
	}
	split := map[int]bool{}
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

// weighs is what select/cons_tres goes by: the weight of a node, and among nodes of one weight first those with the
// most GPUs near the cores of the job that was looked at last.
func weighs(weight, near int) int { return weight<<8 | 255 - min(near, 255) }

// setWeight notes what a node weighs.
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

// gpu is the kind of devices that weigh.
const gpu = "gpu"

// considers reports whether Slurm considers a node for a job of the shape, which wants devices, before it looks how many of its cores and
// devices are free: it has the memory that the job asks for at least, has the devices at all, is not another job's alone, and is idle if
// the job is to have it to itself.
func (c *Controller) considers(s *shape, n int, free usage) bool {
	d, node := &s.demand, &c.conf.Nodes[n]
	if c.conf.Select.Memory {
		least := max(d.memory, d.perCPU*d.pnMin)
		if least == 0 {
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
		return free.cpus[n] == node.CPUs()
	}
	return free.cpus[n] > 0 || !c.heldWhole().has(n)
}

// notesGPUs notes that a job of the shape is looked at which wants GPUs: the node weighs less by how many of its
// free ones the job would have, whether or not its cores are free. Slurm leaves it at that, also for jobs that
// come after, until a pass, backfill or a submission tries a job on the node and weighs it anew.
func (c *Controller) notesGPUs(s *shape, n int, free usage) {
	d, node := &s.demand, &c.conf.Nodes[n]
	near := 0
	for _, g := range s.gres {
		counts := free.gres[g.Kind]
		if counts == nil || counts[n] < g.Count {
			return
		}
		if g.Kind == gpu {
			if near += g.Count; d.whole {
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

// mostNodes is the most nodes that the limits of its QoS and associations let one job have, and the
// limit; all nodes and "" where none is limited. It is reckoned once: neither what limits there are nor
// whose the job is changes.
func (c *Controller) mostNodes(j *Job) (most int, limit Reason) {
	if j.most == 0 {
		j.most, j.mostBy = c.reckonMostNodes(j)
	}
	return j.most, j.mostBy
}

func (c *Controller) reckonMostNodes(j *Job) (most int, limit Reason) {
	most = len(c.conf.Nodes)
	if !c.conf.Enforce.Limits {
		return most, ""
	}
	lower := func(by map[string]int, name Reason) {
		if n, limited := by["node"]; limited && n < most {
			most, limit = n, name
		}
	}
	perJob, sum := false, false
	if q := j.qos; q != nil {
		lower(q.amountsOfAccount, "MaxNodePerAccount")
		lower(q.amountsOfJob, "QOSMaxNodePerJobLimit")
		lower(q.amountsOfUser, "QOSMaxNodePerUserLimit")
		perJob = limit != ""
		lower(q.amounts, "QOSGrpNodeLimit")
		_, sum = q.amounts["node"]
	}
	for at := j.assoc; at != nil; at = at.parent {
		if !sum {
			lower(at.amounts, "AssocGrpNodeLimit")
			if limit == "AssocGrpNodeLimit" {
				sum = true
			}
		}
		if at == j.assoc && !perJob {
			lower(at.amountsOfJob, "AssocMaxNodePerJobLimit")
		}
	}
	return most, limit
}

// evictAll has jobs end so that j can have their nodes, unless it has done so lately.
func (c *Controller) evictAll(now des.Time, j *Job, victims []*Job) {
	if j.preempted > 0 && c.second(j.preempted) > c.second(now)-preemptionLasts {
		return
	}
	for _, v := range victims {
		c.evict(now, v)
	}
	j.preempting, j.preempted = true, now
}

// preemptionLasts is for how many seconds a job that had others end has no more of them end:
// KillWait and MessageTimeout.
const preemptionLasts = 30 + 10
