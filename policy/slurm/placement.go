package slurm

import (
	"cmp"
	"slices"
)

// Which CPUs and cores a job gets of the nodes chosen for it: dist_tasks.c of plugins/select/cons_common and
// cons_tres.

// cpusOf returns the number of CPUs that the job would have on the nodes chosen: the sum of distribute over the
// nodes in their order. In the two usual cases the sum is found without distributing.
func (s *search) cpusOf(chosen choice) int {
	d, sum := &s.shape.demand, 0
	switch {
	case d.whole:
		for _, o := range chosen {
			sum += s.c.conf.Nodes[o.node].CPUs()
		}
		return sum
	case d.perTask == 1 && d.perNode == 0: // tasks of one CPU go wherever there is a CPU
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

// place returns what the job of e gets of each node if it starts now among candidates: nodes, CPUs and memory;
// nil if it does not fit. Cores are picked when the job starts: see giveCores.
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

// chooseNow returns the nodes among candidates that the job of e gets if it starts now without preempting
// anybody, in ascending order; nil if it does not fit.
func (c *Controller) chooseNow(e *entry, candidates nodeSet) choice {
	f := c.forecastFor(e, preemptor{}, candidates, 0, true) // the second, 0, does not matter to a look at the present
	if !f.atOnce {
		return nil
	}
	e.job.reckoned, e.job.spread = f.reckoned, len(f.chosen)
	return f.chosen
}

// giveCores picks as many cores of each of its nodes for the job of e as it has CPUs there (dist_tasks).
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

// giveDevices sets the devices that a job has of each of its nodes. A job that asks for a kind without a type gets free
// devices of the node's types, in their order in slurm.conf (_set_node_bits). Its list has each type of the node, also with
// the count 0.
func (c *Controller) giveDevices(j *Job, placed []Placement) {
	if j.devices = nil; len(j.GRES) == 0 {
		return
	}
	j.devices = make(map[int32][]Amount, len(placed))
	for i := range placed {
		n := placed[i].Node
		var all []Amount
		for _, g := range j.GRES {
			left, types := g.Count, false
			for _, has := range c.conf.Nodes[n].GRES {
				if has.typed() && has.family() == g.Kind {
					given := min(left, c.free.gres[has.Kind][n])
					all = append(all, Amount{has.Kind, given})
					left, types = left-given, true
				}
			}
			if !types {
				all = append(all, g)
			}
		}
		j.devices[int32(n)] = all
	}
}

// distribute returns how many CPUs the job uses of each node of a choice (dist_tasks_compute_c_b): each node
// gets a task, then one node after the other gets another task while it has CPUs for one. No node gives more
// CPUs than the choice has of it. Of a job with several CPUs a task that is less than all tasks need if
// CPUs of a node make no whole task.
func (d *demand) distribute(chosen choice) []int {
	// How many tasks: maxtasks, from the CPUs that _job_test reckons (ncpus).
	nodes := len(chosen)
	cpus := max(nodes*max(d.perNode, 1), d.cpus, nodes*d.pnMin)
	tasks := cpus
	switch {
	case d.perTask > 1 && d.perNode > 0:
		tasks = d.perNode * nodes
	case d.perTask > 1:
		tasks = cpus / d.perTask
	}
	// A task to each node. If that leaves no CPU anywhere, the nodes are crowded (over_subscribe): then tasks
	// are counted without CPUs, so that the loop below ends.
	used, of := make([]int, nodes), make([]int, nodes) // CPUs, and tasks, of each node
	given, crowded := 0, true
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
	// Another task to each node in turn. The nodes are crowded once a round leaves no room for a further task
	// on any node to which it gave one.
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

// pickCores picks the free cores of node n that the job gets (_cyclic_sync_core_bitmap): cpus of them, in
// ascending order. They come from the sockets in turn, the lowest free core of each. If a task has several
// CPUs, whole tasks come first, as many as fit into each socket. With CR_CPU bestFit picks instead.
func (c *Controller) pickCores(d *demand, j *Job, n, cpus int) []int {
	node := &c.conf.Nodes[n]
	left := c.cores[n].left()
	if left == cpus && len(j.GRES) == 0 { // it gets all: nothing is to be picked
		return c.cores[n].all(0, left)
	}
	// The free cores of each socket, ascending.
	free := make([][]int, node.Sockets)
	for s := range free {
		free[s] = c.cores[n][s*node.Cores:(s+1)*node.Cores].all(s*node.Cores, node.Cores)
	}
	// For a job with devices only cores of whole tasks are left, and of these no more than the node has memory
	// for (gres_select_filter_sock_core): again and again the fullest socket, the first of equals, gives back its
	// last core.
	if len(j.GRES) > 0 {
		offers := left
		if c.conf.Select.Memory {
			offers = d.fitsMemory(node, left, c.free.mem[n])
		}
		for tasks := d.wholeTasks(offers, d.tasksKnown(j)); left > tasks*d.perTask; left-- {
			fullest := 0
			for s := range free {
				if len(free[s]) > len(free[fullest]) {
					fullest = s
				}
			}
			free[fullest] = free[fullest][:len(free[fullest])-1]
		}
	}
	if c.conf.Select.BestFit {
		return bestFit(free, cpus)
	}
	// Whole tasks, socket by socket.
	var cores []int
	if d.perTask > 1 {
		for s := range free {
			n := min(len(free[s])/d.perTask*d.perTask, cpus-len(cores))
			cores = append(cores, free[s][:n]...)
			free[s] = free[s][n:]
		}
	}
	// The rest, a core of each socket in turn.
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

// bestFit picks cpus of the free cores of sockets, in ascending order (_block_sync_core_bitmap, for nodes of one
// board). Socket after socket gives its lowest cores. Next is the socket with the fewest free cores among those with at
// least cpus free cores, or if no socket has as many, the socket with the most; of equals the first. cpus does not shrink
// as sockets give cores: a job that needs several sockets takes the sockets with the most free cores one after the other.
func bestFit(free [][]int, cpus int) []int {
	var cores []int
	for len(cores) < cpus {
		best := 0
		for s := range free {
			has, most := len(free[s]), len(free[best])
			if enough := has >= cpus; enough && (most < cpus || has < most) || !enough && has > most {
				best = s
			}
		}
		if len(free[best]) == 0 {
			break
		}
		given := min(len(free[best]), cpus-len(cores))
		cores = append(cores, free[best][:given]...)
		free[best] = free[best][given:]
	}
	slices.Sort(cores)
	return cores
}
