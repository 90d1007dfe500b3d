package slurm

import (
	"fmt"
	"slices"
)

// What a job asks of nodes, as select/cons_tres reckons it, and which nodes could ever be its own.

// demand is the request of a job in a partition, in nodes, tasks, CPUs and memory: the fields of job_details,
// after slurmctld has filled them in. min is more than max if the job can never run in the partition.
type demand struct {
	tasks    int  // at least 1 (num_tasks)
	perTask  int  // CPUs of a task, at least 1 (cpus_per_task)
	perNode  int  // tasks of each node (ntasks_per_node); 0: as many as fit
	oneNode  bool // the job asks for exactly one node
	cpus     int  // CPUs in all, at least (min_cpus)
	pnMin    int  // CPUs of each node, at least (pn_min_cpus)
	min, max int  // nodes, from and to (min_nodes, max_nodes)
	whole    bool // the job has its nodes to itself (whole_node)
	reserves bool // in its partition every job has its nodes to itself (OverSubscribe=EXCLUSIVE, NODE_CR_RESERVED)
	counts   bool // whole, and select_nodes knows so: all devices of a node count for what the node weighs (whole_node)
	memory   int  // MB a node; 0: none asked for
	perCPU   int  // MB a CPU; 0: none asked for, and there is no DefMemPerCPU
}

// whole reports whether the job of e gets its nodes to itself.
func (c *Controller) whole(e *entry) bool { return e.part.Exclusive || e.job.Exclusive }

// settleAlone notes that select_nodes looks for nodes for the job of e: in a partition with OverSubscribe=EXCLUSIVE
// this sets whole_node of the job for good (_resolve_shared_status). A look into the future may come before, for a job
// that was held or beyond a limit when it came. Only what GPUs weigh hangs on that, and no finding of a job with GPUs
// is remembered, so that shapes alone have to be found anew.
func (c *Controller) settleAlone(e *entry) {
	if !e.part.Exclusive || e.job.alone {
		return
	}
	e.job.alone = true
	for _, other := range e.job.entries {
		c.dropShape(other)
	}
}

// demandOf reckons what the job of e asks for in its partition.
func (c *Controller) demandOf(e *entry) demand {
	j := e.job
	d := demand{tasks: j.tasks(), perTask: j.cpusPerTask(), perNode: j.TasksPerNode, oneNode: j.Nodes == 1, min: j.leastNodes(),
		max: len(c.conf.Nodes), whole: c.whole(e), reserves: e.part.Exclusive, counts: j.Exclusive || j.alone, memory: j.Memory, perCPU: j.MemoryPerCPU}
	d.pnMin = max(1, d.perTask, d.perNode*d.perTask)
	// The most nodes: what the job asks for, MaxNodes of the partition, limits on it (get_node_cnts).
	if j.Nodes > 0 {
		d.max = min(d.max, j.Nodes)
	}
	if e.part.MaxNodes > 0 {
		d.max = min(d.max, e.part.MaxNodes)
	}
	most, _ := c.mostNodes(j)
	d.max = min(d.max, most)
	// CPUs, and the fewest nodes: with --ntasks-per-node as many as all tasks need (_select_nodes of job_test.c).
	d.cpus = max(d.tasks*d.perTask, d.min)
	if d.perNode > 0 || d.perTask > 1 {
		d.cpus = max(d.cpus, d.min*d.pnMin)
	}
	if d.perNode > 0 {
		d.min = max(d.min, (d.tasks+d.perNode-1)/d.perNode)
	}
	if d.max > d.tasks { // a node without a task is of no use (choose_nodes)
		d.max = max(d.tasks, d.min)
	}
	if c.conf.Select.Memory && d.memory == 0 && d.perCPU == 0 {
		d.perCPU = c.conf.Select.DefMemPerCPU
	}
	return d
}

// couldTake reports whether the idle node has the CPUs that the job asks of each node, and memory for cpus of
// them.
func (d *demand) couldTake(n *Node, cpus int) bool {
	return d.pnMin <= n.CPUs() && max(d.memory, d.perCPU*cpus) <= n.Memory
}

// tasksFit is the fewest tasks for which a node must have room (ntasks_per_node in can_job_run_on_node).
func (d *demand) tasksFit() int {
	switch {
	case d.perNode > 0:
		return d.perNode
	case d.oneNode:
		return d.tasks
	}
	return 1
}

// tasksKnown returns the number of tasks of each node if it is known before nodes are chosen, else 0
// (max_tasks_this_node in _select_cores).
func (d *demand) tasksKnown(j *Job) int {
	switch {
	case d.perNode > 0:
		return d.perNode
	case d.oneNode:
		return d.tasks
	case d.tasks == j.Nodes, d.tasks == 1:
		return 1
	}
	return 0
}

// wholeTasks returns the number of tasks for which cpus CPUs of a node are enough: at most known tasks, or any
// number if known is 0.
func (d *demand) wholeTasks(cpus, known int) int {
	tasks := cpus / d.perTask
	if known > 0 {
		tasks = min(tasks, known)
	}
	return tasks
}

// shape is the part of a job's request on which a choice of nodes depends, beside the free resources and the
// weights of nodes. Jobs of one shape would get the same nodes, so that they share forecasts. Invariant: fit is
// within listed, and listed within suited.
type shape struct {
	key        string // names the shape in Controller.shapes
	entries    int    // entries of the queue that have it; see dropShape
	demand     demand
	tasksKnown int      // see demand.tasksKnown
	anywhere   bool     // see goesAnywhere
	plain      bool     // see isPlain
	gres       []Amount // Job.GRES
	required   []int    // Job.Required
	suited     nodeSet  // nodes that have the features asked for and are not excluded
	listed     nodeSet  // of suited, those that a pass looks at: idle, they have the memory for one CPU of the job
	fit        nodeSet  // of listed, those that backfill looks at: idle, they have the memory for all CPUs asked of each
	forecasts  forecasts
	onIdle     forecasts    // what a choice would be if all nodes were idle; they hold for ever
	bounds     []lowerBound // by position of the partition: see Controller.soonestIn. An era is stored plus one, so that 0 is none
}

// goesAnywhere reports whether jobs of the shape are tasks of one CPU that go wherever there is a CPU, on as many nodes as it takes.
// Such a job fits on any nodes that together offer enough: a choice takes all that a node offers, and goes on to the next node.
func (c *Controller) goesAnywhere(s *shape) bool {
	d := &s.demand
	return !d.whole && d.perTask == 1 && d.perNode == 0 && !d.oneNode && d.min == 1 && d.max >= min(d.tasks, len(c.conf.Nodes)) && len(s.gres) == 0 && len(s.required) == 0
}

// isPlain reports whether jobs of the shape go anywhere, and a node offers what CPUs it has free. Then a search needs no count of
// what nodes offer, and only one evaluation (see search).
func (c *Controller) isPlain(s *shape) bool {
	return s.anywhere && !c.conf.Select.Memory && !c.conf.Select.LeastLoaded
}

// shapeOf is the shape of what e asks for. While the job waits, its shape changes only by settleAlone: requests
// of jobs, partitions and limits on nodes stay as they were at the job's submission. The first call for an entry
// counts the entry among the entries of its shape.
func (c *Controller) shapeOf(e *entry) *shape {
	if e.shape != nil {
		return e.shape
	}
	j, d := e.job, c.demandOf(e)
	key := fmt.Sprint(d, d.tasksKnown(j), j.GRES, j.Required, j.Excluded, len(j.Features), j.Features)
	s := c.shapes[key]
	if s == nil {
		s = &shape{key: key, demand: d, tasksKnown: d.tasksKnown(j), gres: j.GRES, required: j.Required, suited: newNodeSet(len(c.conf.Nodes)), onIdle: forecasts{idle: true}}
		for n := range c.conf.Nodes {
			if c.suits(j, n) {
				s.suited.add(n)
			}
		}
		s.listed, s.fit = s.suited.clone(), s.suited.clone()
		for n := range s.suited.all {
			if !d.couldTake(&c.conf.Nodes[n], 1) {
				s.listed.drop(n)
			}
			if !d.couldTake(&c.conf.Nodes[n], d.pnMin) {
				s.fit.drop(n)
			}
		}
		s.anywhere = c.goesAnywhere(s)
		s.plain = c.isPlain(s)
		c.shapes[key] = s
	}
	s.entries++
	e.shape = s
	return s
}

// shapesKept is the number of shapes up to which a shape stays although no job of it waits: the next jobs
// of a user often ask for the same.
const shapesKept = 100

// dropShape takes e out of the entries of its shape. A shape without entries is forgotten if there are more than
// shapesKept shapes.
func (c *Controller) dropShape(e *entry) {
	if e.shape == nil {
		return
	}
	if e.shape.entries--; e.shape.entries == 0 && len(c.shapes) > shapesKept {
		delete(c.shapes, e.shape.key)
	}
	e.shape = nil
}

// suits reports whether the node has all features that the job asks for, and the job does not exclude it.
func (c *Controller) suits(j *Job, n int) bool {
	for _, feature := range j.Features {
		if !slices.Contains(c.conf.Nodes[n].Features, feature) {
			return false
		}
	}
	return !slices.Contains(j.Excluded, n)
}

// offered returns the number of CPUs that node n offers a job of the shape, by the free resources of the node
// (can_job_run_on_node); 0 if the node cannot be one of the job's nodes.
func (c *Controller) offered(s *shape, n int, free usage) int {
	// CPUs: all of a whole node, enough for the fewest tasks.
	node, d := &c.conf.Nodes[n], &s.demand
	cpus := free.cpus[n]
	if d.whole && cpus < node.CPUs() || cpus < 1 || cpus < d.tasksFit()*d.perTask || cpus < d.pnMin {
		return 0
	}
	for _, g := range s.gres {
		if counts := free.gres[g.Kind]; counts == nil || counts[n] < g.Count {
			return 0
		}
	}
	if c.conf.Select.Memory {
		if cpus = d.fitsMemory(node, cpus, free.mem[n]); cpus < d.tasksFit()*d.perTask {
			return 0
		}
	}
	if len(s.gres) > 0 { // no more than whole tasks need (gres_select_filter_sock_core)
		cpus = d.wholeTasks(cpus, s.tasksKnown) * d.perTask
	}
	return cpus
}

// fitsMemory returns the number of CPUs, at most cpus, that the job can have of the node if mem MB are free: all
// or none, but with memory per CPU the number for which the memory is enough, cut to whole tasks (the end of
// can_job_run_on_node).
func (d *demand) fitsMemory(node *Node, cpus, mem int) int {
	switch {
	case d.perCPU > 0 && d.whole && d.perCPU*cpus > mem: // a whole node needs the memory for all of its CPUs
		return 0
	case d.perCPU > 0:
		if d.perCPU*cpus > mem { // a division takes long, and most nodes have enough
			cpus = mem / d.perCPU
		}
		if d.perTask > 1 {
			cpus -= cpus % d.perTask
		}
		if cpus < d.perNode {
			return 0
		}
	case d.memory == 0: // none asked for: the job takes all of the node's, of which none may be given away
		if mem < node.Memory {
			return 0
		}
	case d.memory > mem:
		return 0
	}
	return cpus
}
