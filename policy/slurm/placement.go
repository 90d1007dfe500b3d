package slurm

import (
	"cmp"
	"slices"
)

// Which CPUs and cores a job gets of the nodes chosen for it.

// cpusOf is how many CPUs the job would have of the nodes chosen.
func (s *search) cpusOf(chosen choice) int {
	d, sum := &s.shape.demand, 0
	switch {
	case d.whole:
		for _, o := range chosen {
			sum += s.c.conf.Nodes[o.node].CPUs()
		}
		return sum
	case d.perTask == 1 && d.perNode == 0: // tasks of one CPU go wherever there is one
		for _, o := range chosen {
			sum += o.cpus
		}
		return min(sum, max(len(chosen), d.cpus))
	}
	order := slices.Clone(chosen)
	slices.SortFunc(order, func(a, b offer) int { return cmp.Compare(a.node, b.node) })
	for _, cpus := range d.distribute(order) {
		sum += cpus
	}
	return sum
}

// place is the nodes, CPUs and memory that the job of e gets among candidates now, or nil.
func (c *Controller) place(e *entry, candidates nodeSet) []Placement {
	chosen := c.chooseNow(e, candidates)
	if chosen == nil {
		return nil
	}
	d := &c.shapeOf(e).demand
	placed := make([]Placement, len(chosen))
	cpus := d.distribute(chosen)
	for i, o := range chosen {
		node := &c.conf.Nodes[o.node]
		p := &placed[i]
		p.Node, p.CPUs = o.node, cpus[i]
		if d.whole {
			p.CPUs = node.CPUs()
		}
		switch {
		case !c.conf.Select.Memory:
		case d.perCPU > 0:
			p.Mem = d.perCPU * p.CPUs
		case d.memory > 0:
			p.Mem = d.memory
		default:
			p.Mem = node.Memory
		}
	}
	return placed
}

// chooseNow is the nodes among candidates that the job of e gets now, by their numbers, or nil.
func (c *Controller) chooseNow(e *entry, candidates nodeSet) choice {
	f := c.forecastFor(e, preemptor{}, candidates, 0, true) // without preempting anybody
	if !f.atOnce {
		return nil
	}
	e.job.reckoned = f.reckoned
	return f.chosen
}

// giveCores gives the job of e as many cores of each of its nodes as it has CPUs there.
func (c *Controller) giveCores(e *entry, placed []Placement) {
	d := &c.shapeOf(e).demand
	for i := range placed {
		p := &placed[i]
		if !d.whole {
			p.Cores = c.pickCores(d, e.job, p.Node, p.CPUs)
			continue
		}
		for core := range p.CPUs {
			p.Cores = append(p.Cores, core)
		}
	}
}

// distribute is how many CPUs the job uses of each node: a task to each, then one each in turn
// while the node has CPUs for another.
func (d *demand) distribute(chosen choice) []int {
	nodes := len(chosen)
	cpus := max(nodes*max(d.perNode, 1), d.cpus, nodes*d.pnMin)
	tasks := cpus
	switch {
	case d.perTask > 1 && d.perNode > 0:
		tasks = d.perNode * nodes
	case d.perTask > 1:
		tasks = cpus / d.perTask
	}
	used, of := make([]int, nodes), make([]int, nodes)
	given, crowded := 0, true // crowded: no node has CPUs for another task
	give := func(i int) {
		given++
		of[i]++
		used[i] = min(chosen[i].cpus, used[i]+d.perTask)
	}
	for i := range chosen {
		if given == tasks {
			break
		}
		give(i)
		if used[i] < chosen[i].cpus {
			crowded = false
		}
	}
	for given < tasks {
		room := false
		for i := range chosen {
			if given == tasks {
				break
			}
			if !crowded && (chosen[i].cpus-used[i] < d.perTask || d.perNode > 0 && of[i] >= d.perNode) {
				continue
			}
			give(i)
			if chosen[i].cpus-used[i] >= d.perTask {
				room = true
			}
		}
		crowded = !room
	}
	return used
}

// pickCores is which free cores of a node the job gets, so many: sockets in turn, the lowest free
// core of each. Where a task has several CPUs, as many whole tasks as fit into a socket come
// first.
func (c *Controller) pickCores(d *demand, j *Job, n, cpus int) []int {
	node := &c.conf.Nodes[n]
	free := make([][]int, node.Sockets)
	left := 0
	for core, taken := range c.cores[n] {
		if !taken {
			free[core/node.Cores] = append(free[core/node.Cores], core)
			left++
		}
	}
	if len(j.GRES) > 0 {
		for tasks := d.wholeTasks(left, d.tasksKnown(j)); left > tasks*d.perTask; left-- { // the fullest socket gives back its last core
			fullest := 0
			for s := range free {
				if len(free[s]) > len(free[fullest]) {
					fullest = s
				}
			}
			free[fullest] = free[fullest][:len(free[fullest])-1]
		}
	}
	var cores []int
	if d.perTask > 1 {
		for s := range free {
			n := min(len(free[s])/d.perTask*d.perTask, cpus-len(cores))
			cores = append(cores, free[s][:n]...)
			free[s] = free[s][n:]
		}
	}
	for more := true; more && len(cores) < cpus; {
		more = false
		for s := range free {
			if len(free[s]) > 0 && len(cores) < cpus {
				cores = append(cores, free[s][0])
				free[s] = free[s][1:]
				more = true
			}
		}
	}
	slices.Sort(cores)
	return cores
}
