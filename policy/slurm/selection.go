package slurm

import (
	"cmp"
	"math"
	"slices"
)

// choice is the nodes that select/cons_tres gives a job, in the order in which it took them, and
// how many CPUs of each it offers.
type choice []offer

// offer is a node and so many CPUs of it.
type offer struct{ node, cpus int }

func (c choice) nodes(all int) nodeSet {
	s := newNodeSet(all)
	for _, o := range c {
		s.add(o.node)
	}
	return s
}

// demand is what a job asks of its nodes, as select/cons_tres reckons it.
type demand struct {
	tasks    int
	perTask  int // CPUs
	perNode  int // tasks; 0: as many as fit
	oneNode  bool
	cpus     int // in all, at least
	pnMin    int // CPUs of each node, at least
	min, max int // nodes
	whole    bool
	memory   int // MB a node; 0: none asked for
	perCPU   int // MB a CPU; 0: none asked for
}

// whole reports whether the job of e gets its nodes to itself.
func (c *Controller) whole(e *entry) bool { return e.part.Exclusive || e.job.Exclusive }

// demandOf reckons what the job of e asks for.
func (c *Controller) demandOf(e *entry) demand {
	j := e.job
	d := demand{tasks: j.tasks(), perTask: j.cpusPerTask(), perNode: j.TasksPerNode, oneNode: j.Nodes == 1, min: max(j.Nodes, 1),
		max: len(c.conf.Nodes), whole: c.whole(e), memory: j.Memory, perCPU: j.MemoryPerCPU}
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

// couldTake reports whether the node, idle, has the CPUs and the memory that the job asks of each.
func (d *demand) couldTake(n *Node) bool {
	return d.pnMin <= n.CPUs() && max(d.memory, d.perCPU*d.pnMin) <= n.Memory
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

// offered is how many CPUs the node offers the job; 0 if it cannot be one of its nodes.
func (c *Controller) offered(d *demand, j *Job, n int, free usage) int {
	node := &c.conf.Nodes[n]
	cpus := free.cpus[n]
	if d.whole && cpus < node.CPUs() || cpus < 1 || cpus < d.tasksFit()*d.perTask || cpus < d.pnMin {
		return 0
	}
	for _, g := range j.GRES {
		if counts := free.gres[g.Kind]; counts == nil || counts[n] < g.Count {
			return 0
		}
	}
	if tasks := d.tasksKnown(j); len(j.GRES) > 0 && tasks > 0 && !d.whole {
		cpus = min(cpus, tasks*d.perTask) // the cores near its devices: no more than its tasks need
	}
	if !c.conf.Select.Memory {
		return cpus
	}
	if cpus = c.fitsMemory(d, node, cpus, free.mem[n]); cpus/d.perTask < d.tasksFit() {
		return 0
	}
	return cpus
}

// fitsMemory is how many of the CPUs can be had with so much memory free.
func (c *Controller) fitsMemory(d *demand, node *Node, cpus, mem int) int {
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

// choose is the nodes among candidates that the job of e would be given with so much free, or nil.
func (c *Controller) choose(e *entry, candidates nodeSet, free usage) choice {
	return c.newSearch(e, candidates, free).run()
}

// suited is the nodes that have the features which the job of e asks for and are none that it excludes.
func (c *Controller) suited(e *entry) nodeSet {
	if e.suited == nil {
		e.suited = newNodeSet(len(c.conf.Nodes))
		for n := range c.conf.Nodes {
			if c.suits(e.job, n) {
				e.suited.add(n)
			}
		}
	}
	return e.suited
}

// couldRun is the nodes of suited that could be the job's were they idle.
func (c *Controller) couldRun(e *entry) nodeSet {
	if e.fit == nil {
		d := c.demandOf(e)
		e.fit = c.suited(e).clone()
		for n := range e.fit.all {
			if !d.couldTake(&c.conf.Nodes[n]) {
				e.fit.drop(n)
			}
		}
	}
	return e.fit
}

// newSearch is a search among candidates.
func (c *Controller) newSearch(e *entry, candidates nodeSet, free usage) *search {
	s := &search{c: c, job: e.job, demand: c.demandOf(e), free: free, candidates: candidates.clone(), offered: c.offers, cpus: c.left}
	s.candidates.intersect(c.suited(e))
	clear(s.offered)
	open := s.candidates.clone()
	open.intersect(free.some)
	for n := range open.all {
		s.offer(n)
	}
	return s
}

// search is one choice of nodes. Of a controller there is one at a time.
type search struct {
	c          *Controller
	job        *Job
	demand     demand
	free       usage
	candidates nodeSet
	offered    []int // CPUs that each node offers; 0: none
	nodes, sum int   // how many nodes offer any, and how many CPUs they offer in all
	cpus       []int // what of that is left while nodes are dropped
}

// offer reckons anew what a candidate offers.
func (s *search) offer(n int) {
	was, is := s.offered[n], s.c.offered(&s.demand, s.job, n, s.free)
	s.offered[n] = is
	s.sum += is - was
	if is > 0 {
		s.nodes++
	}
	if was > 0 {
		s.nodes--
	}
}

// release gives back what a running job has.
func (s *search) release(j *Job) {
	s.free.release(j)
	for _, p := range j.Placed {
		if s.candidates.has(p.Node) {
			s.offer(p.Node)
		}
	}
}

// run tries the nodes that offer CPUs, and then without those that offer one, at most two, and so
// on while enough are left.
func (s *search) run() choice {
	nodes := s.nodes
	if nodes < s.demand.min || s.sum < s.demand.cpus || slices.ContainsFunc(s.job.Required, func(n int) bool { return s.offered[n] == 0 }) {
		return nil
	}
	copy(s.cpus, s.offered)
	chosen := s.evaluate()
	most := slices.Max(s.cpus)
	for few := 1; chosen == nil && nodes > s.demand.min && few < most; few++ {
		dropped := 0
		for n, cpus := range s.cpus {
			if cpus > 0 && cpus <= few && nodes > s.demand.min && !slices.Contains(s.job.Required, n) {
				s.cpus[n] = 0
				nodes--
				dropped++
			}
		}
		if dropped > 0 || few == 1 {
			chosen = s.evaluate()
		}
	}
	if chosen != nil {
		s.job.reckoned = s.cpusOf(chosen)
	}
	return chosen
}

// cpusOf is how many CPUs the job would have of the nodes chosen.
func (s *search) cpusOf(chosen choice) int {
	sum := 0
	if s.demand.whole {
		for _, o := range chosen {
			sum += s.c.conf.Nodes[o.node].CPUs()
		}
		return sum
	}
	order := slices.Clone(chosen)
	slices.SortFunc(order, func(a, b offer) int { return cmp.Compare(a.node, b.node) })
	for _, cpus := range s.demand.distribute(order) {
		sum += cpus
	}
	return sum
}

// taking is what a choice has and still lacks while nodes are taken one by one.
type taking struct {
	*search
	chosen  choice
	cpus    int // still lacking
	nodes   int // still lacking
	allowed int // nodes that may still be taken
}

// take takes one node: all that it offers of a whole one, and otherwise no more than leaves a CPU
// for each node that is still to come.
func (t *taking) take(n int) {
	cpus := t.search.cpus[n]
	if !t.demand.whole {
		cpus = min(cpus, max(t.cpus-max(t.nodes-1, 0), t.demand.pnMin))
	}
	t.chosen = append(t.chosen, offer{n, cpus})
	t.cpus -= cpus
	t.nodes--
	t.allowed--
}

func (t *taking) enough() bool { return t.cpus <= 0 && t.nodes <= 0 }

// evaluate chooses among the nodes that offer CPUs, or returns nil.
func (s *search) evaluate() choice {
	t := taking{search: s, cpus: s.demand.cpus, nodes: s.demand.min, allowed: s.demand.max}
	for _, n := range s.job.Required {
		if t.allowed == 0 {
			return nil
		}
		t.take(n)
	}
	if t.enough() {
		return t.chosen
	}
	if s.c.conf.Select.LeastLoaded {
		return t.leastLoaded()
	}
	return t.bestFit()
}

// stretch is a run of neighbouring nodes of one weight.
type stretch struct {
	nodes    []int // those that are not taken yet
	cpus     int
	weight   int
	required int // the first node of it that the job must have, or -1
}

// stretches are the runs of nodes that offer CPUs. A required node joins the run that it stands
// in, whatever its weight, and is not counted: it is taken already.
func (s *search) stretches() []stretch {
	var all []stretch
	var open *stretch
	room, from := make([]int, 0, s.nodes), 0 // of all stretches one behind the other; where the open one begins
	for n, cpus := range s.cpus {
		required := slices.Contains(s.job.Required, n)
		switch {
		case cpus == 0:
			open = nil
			continue
		case open == nil, !required && len(open.nodes) > 0 && open.weight != s.c.weights[n]:
			all = append(all, stretch{weight: s.c.weights[n], required: -1})
			open, from = &all[len(all)-1], len(room)
		}
		if required {
			if open.required < 0 {
				open.required = n
			}
			continue
		}
		room = append(room, n)
		open.nodes, open.weight = room[from:], s.c.weights[n]
		open.cpus += cpus
	}
	return slices.DeleteFunc(all, func(s stretch) bool { return len(s.nodes) == 0 })
}

// bestFit takes nodes of the stretch that fits best, then of the next one: of those of the lowest
// weight the one with the fewest CPUs that has enough, and where none has enough the one with the
// most.
func (t *taking) bestFit() choice {
	stretches := t.stretches()
	for len(stretches) > 0 && t.allowed > 0 {
		best, fits := 0, false
		for i, s := range stretches {
			enough := s.cpus >= t.cpus && len(s.nodes) >= t.nodes
			of := &stretches[best]
			switch {
			case i == 0, of.required < 0 && s.required >= 0, s.weight < of.weight,
				s.weight == of.weight && (enough && !fits || enough && s.cpus < of.cpus || !enough && s.cpus > of.cpus):
				best, fits = i, enough
			}
		}
		nodes := stretches[best].nodes
		if of := stretches[best].required; of >= 0 { // upwards from the required node, then downwards
			at, _ := slices.BinarySearch(nodes, of)
			below := slices.Clone(nodes[:at])
			slices.Reverse(below)
			nodes = append(slices.Clone(nodes[at:]), below...)
		} else if t.nodes <= 1 {
			if one := t.tightest(nodes); one >= 0 {
				nodes = []int{one}
			}
		}
		for _, n := range nodes {
			if t.allowed == 0 || t.enough() {
				break
			}
			if stretches[best].required < 0 && t.allowed == 1 && t.search.cpus[n] < t.cpus {
				continue
			}
			t.take(n)
		}
		if t.enough() {
			return t.chosen
		}
		stretches = slices.Delete(stretches, best, best+1)
	}
	return nil
}

// tightest is the first of the nodes with the fewest CPUs that are enough, or -1.
func (t *taking) tightest(nodes []int) int {
	one, least := -1, math.MaxInt
	for _, n := range nodes {
		if cpus := t.search.cpus[n]; cpus >= t.cpus && cpus < least {
			one, least = n, cpus
		}
	}
	return one
}

// leastLoaded takes, of the nodes of the lowest weight, the one with the largest part of free
// cores, again and again.
func (t *taking) leastLoaded() choice {
	conf := t.c.conf
	weights := []int{}
	for n, cpus := range t.search.cpus {
		if cpus > 0 {
			weights = append(weights, t.c.weights[n])
		}
	}
	slices.Sort(weights)
	taken := map[int]bool{}
	for _, weight := range slices.Compact(weights) {
		last := -1
		for t.allowed > 0 {
			best := -1
			for n, cpus := range t.search.cpus {
				if cpus == 0 || taken[n] || slices.Contains(t.job.Required, n) || t.c.weights[n] != weight {
					continue
				}
				if best < 0 || t.free.cpus[best]*conf.Nodes[n].CPUs() < t.free.cpus[n]*conf.Nodes[best].CPUs() {
					if best = n; t.free.cpus[best] == last {
						break
					}
				}
			}
			if best < 0 {
				break
			}
			last = t.free.cpus[best]
			taken[best] = true
			if t.take(best); t.enough() {
				return t.chosen
			}
		}
	}
	return nil
}

// place is the nodes, CPUs and cores that the job of e gets among candidates now, or nil.
func (c *Controller) place(e *entry, candidates nodeSet) []Placement {
	chosen := c.choose(e, candidates, c.free)
	if chosen == nil {
		return nil
	}
	slices.SortFunc(chosen, func(a, b offer) int { return cmp.Compare(a.node, b.node) })
	d := c.demandOf(e)
	placed := make([]Placement, len(chosen))
	cpus := d.distribute(chosen)
	for i, o := range chosen {
		node := &c.conf.Nodes[o.node]
		p := Placement{Node: o.node, CPUs: cpus[i]}
		if d.whole {
			p.CPUs = node.CPUs()
			for core := range node.CPUs() {
				p.Cores = append(p.Cores, core)
			}
		} else {
			p.Cores = c.pickCores(&d, e.job, o.node, cpus[i])
			p.CPUs = len(p.Cores)
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
		placed[i] = p
	}
	return placed
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
	if tasks := d.tasksKnown(j); len(j.GRES) > 0 && tasks > 0 {
		for ; left > tasks*d.perTask; left-- { // the fullest socket gives back its last core
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

// tasksKnown is how many tasks each node has, where that is known before nodes are chosen, or 0.
func (d *demand) tasksKnown(j *Job) int {
	switch {
	case d.perNode > 0:
		return d.perNode
	case d.oneNode:
		return d.tasks
	case d.tasks == j.Nodes:
		return 1
	}
	return 0
}

// idleNodes is the nodes on which nothing runs.
func (c *Controller) idleNodes() nodeSet {
	all := newNodeSet(len(c.conf.Nodes))
	for i := range c.conf.Nodes {
		if c.free.cpus[i] == c.idle.cpus[i] {
			all.add(i)
		}
	}
	return all
}
