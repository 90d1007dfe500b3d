package slurm

import (
	"fmt"
	"slices"
)

// What a job asks of nodes, as select/cons_tres reckons it, and which nodes could ever be its own.

// demand is what a job asks of its nodes in a partition.
type demand struct {
	tasks    int
	perTask  int // CPUs
	perNode  int // tasks; 0: as many as fit
	oneNode  bool
	cpus     int // in all, at least
	pnMin    int // CPUs of each node, at least
	min, max int // nodes
	whole    bool
	reserves bool // in its partition every job has its nodes to itself (OverSubscribe=EXCLUSIVE)
	memory   int  // MB a node; 0: none asked for
	perCPU   int  // MB a CPU; 0: none asked for
}

// whole reports whether the job of e gets its nodes to itself.
func (c *Controller) whole(e *entry) bool { return e.part.Exclusive || e.job.Exclusive }

// demandOf reckons what the job of e asks for.
func (c *Controller) demandOf(e *entry) demand {
	j := e.job
	d := demand{tasks: j.tasks(), perTask: j.cpusPerTask(), perNode: j.TasksPerNode, oneNode: j.Nodes == 1, min: max(j.Nodes, 1),
		max: len(c.conf.Nodes), whole: c.whole(e), reserves: e.part.Exclusive, memory: j.Memory, perCPU: j.MemoryPerCPU}
	d.pnMin = max(1, d.perTask, d.perNode*d.perTask)
	if j.Nodes > 0 {
		d.max = min(d.max, j.Nodes)
	}
	if e.part.MaxNodes > 0 {
		d.max = min(d.max, e.part.MaxNodes)
	}
	most, _ := c.mostNodes(j)
	d.max = min(d.max, most)
	d.cpus = max(d.tasks*d.perTask, d.min)
	if d.perNode > 0 || d.perTask > 1 {
		d.cpus = max(d.cpus, d.min*d.pnMin)
	}
	if d.perNode > 0 {
		d.min = max(d.min, (d.tasks+d.perNode-1)/d.perNode)
	}
	if d.max > d.tasks {
		d.max = max(d.tasks, d.min)
	}
	if c.conf.Select.Memory && d.memory == 0 && d.perCPU == 0 {
		d.perCPU = c.conf.Select.DefMemPerCPU
	}
	return d
}

// couldTake reports whether the node, idle, has the CPUs that the job asks of each, and the memory for so many of them.
func (d *demand) couldTake(n *Node, cpus int) bool {
	return d.pnMin <= n.CPUs() && max(d.memory, d.perCPU*cpus) <= n.Memory
}

// tasksFit is the fewest tasks that a node must have room for.
func (d *demand) tasksFit() int {
	switch {
	case d.perNode > 0:
		return d.perNode
	case d.oneNode:
		return d.tasks
	}
	return 1
}

// tasksKnown is how many tasks each node has, where that is known before nodes are chosen, or 0.
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

// wholeTasks is how many tasks so many CPUs of a node are enough for, at most those that are known; 0: none are.
func (d *demand) wholeTasks(cpus, known int) int {
	tasks := cpus / d.perTask
	if known > 0 {
		tasks = min(tasks, known)
	}
	return tasks
}

// shape is what a choice of nodes for a job depends on beside what is free. Jobs of one shape would be
// given the same nodes.
type shape struct {
	key        string // names the shape in Controller.shapes
	entries    int    // of the queue that have it
	demand     demand
	tasksKnown int
	plain      bool // see isPlain
	gres       []Amount
	required   []int
	suited     nodeSet // nodes that have the features asked for and are none that are excluded
	listed     nodeSet // of suited, those that a pass looks at: idle, they would have the memory for one CPU of the job
	fit        nodeSet // of listed, those that backfill looks at: idle, they would have the memory for all CPUs asked of each
	forecasts  forecasts
	bounds     []lowerBound // see Controller.soonestIn, by partition; their eras are one more, so that 0 is none
	onIdle     forecasts    // were all nodes idle
}

// isPlain reports whether jobs of the shape are tasks of one CPU that go wherever there is one: a node offers what it
// has free, and whatever nodes offer enough together, the job fits on them.
func (c *Controller) isPlain(s *shape) bool {
	d := &s.demand
	return !c.conf.Select.Memory && !c.conf.Select.LeastLoaded && !d.whole && d.perTask == 1 && d.perNode == 0 && !d.oneNode && d.min == 1 &&
		d.max >= min(d.tasks, len(c.conf.Nodes)) && len(s.gres) == 0 && len(s.required) == 0
}

// shapeOf is the shape of what e asks for. Nothing that it depends on changes while the job waits:
// requests of jobs, partitions and the limits on nodes are what they were at the job's submission.
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
		s.plain = c.isPlain(s)
		c.shapes[key] = s
	}
	s.entries++
	e.shape = s
	return s
}

// shapesKept is up to how many shapes are kept of which no job waits: jobs of users resemble each other.
const shapesKept = 100

// dropShape has e no longer count among the entries of its shape. A shape of no entry is forgotten where there are many.
func (c *Controller) dropShape(e *entry) {
	if e.shape == nil {
		return
	}
	if e.shape.entries--; e.shape.entries == 0 && len(c.shapes) > shapesKept {
		delete(c.shapes, e.shape.key)
	}
	e.shape = nil
}

// suits reports whether the node has the features that the job asks for, and is not one that it
// excludes.
func (c *Controller) suits(j *Job, n int) bool {
	for _, feature := range j.Features {
		if !slices.Contains(c.conf.Nodes[n].Features, feature) {
			return false
		}
	}
	return !slices.Contains(j.Excluded, n)
}

// offered is how many CPUs the node offers a job of the shape; 0 if it cannot be one of its nodes.
func (c *Controller) offered(s *shape, n int, free usage) int {
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
		if cpus = d.fitsMemory(node, cpus, free.mem[n]); cpus/d.perTask < d.tasksFit() {
			return 0
		}
	}
	if len(s.gres) > 0 { // the cores near its devices: no more than whole tasks need
		cpus = d.wholeTasks(cpus, s.tasksKnown) * d.perTask
	}
	return cpus
}

// fitsMemory is how many of the CPUs can be had with so much memory free.
func (d *demand) fitsMemory(node *Node, cpus, mem int) int {
	switch {
	case d.perCPU > 0 && d.whole:
		if d.perCPU*cpus > mem {
			return 0
		}
	case d.perCPU > 0:
		cpus = min(cpus, mem/d.perCPU)
		cpus -= cpus % d.perTask
		if cpus < d.perNode {
			return 0
		}
	case d.memory == 0: // all of the node's
		if mem < node.Memory {
			return 0
		}
	case d.memory > mem:
		return 0
	}
	return cpus
}
