package slurm

import (
	"math"
	"math/bits"
	"slices"
)

// Which nodes select/cons_tres gives a job (plugins/select/cons_tres/job_test.c). Nodes offer the job CPUs; a choice
// is evaluated among all that offer any, and, while it fails, without those that offer the fewest.

// choice is the nodes that select/cons_tres gives a job, in the order in which it took them, and
// how many CPUs of each it offers.
type choice []offer

// offer is a node and a number of its CPUs.
type offer struct{ node, cpus int }

func (c choice) nodes(all int) nodeSet {
	s := newNodeSet(all)
	c.mark(s)
	return s
}

// mark makes s the set of the nodes.
func (c choice) mark(s nodeSet) {
	clear(s)
	for _, o := range c {
		s.add(o.node)
	}
}

// search is one choice of nodes. Of a controller there is one at a time, whose room all use. A look into the future
// runs it again and again, each time with more running jobs taken away (release), so that a search reckons anew only
// what a release has changed, and only when the next run asks for it.
type search struct {
	c     *Controller
	job   *Job
	shape *shape
	plain bool // shape.plain holds, and the controller is not forgetful
	// free has the free resources of each node. Releases of jobs change it, so that it must then be a copy, such
	// as Controller.later.
	free  usage
	among nodeSet // nodes that may be chosen: candidates that suit the shape
	// most is an upper bound on the free CPUs of among. Invariant: these nodes offer no more than most, so that a
	// search whose most is too low fails without a count of what they offer.
	most       int
	considered int     // how many of among Slurm considers for a job that wants devices: see Controller.considers
	looked     bool    // at the GPUs of all that are considered
	freed      []*Job  // jobs that were released and whose nodes have not got back in free what the jobs had
	given      nodeSet // nodes that have got back in free what jobs had that were released; see takeBack

	// What nodes offer. Valid if asked, but for the nodes in stale. Invariant: nodes is the size of open, and cpus the
	// sum of offered over open.
	asked   bool
	open    nodeSet // of among, those that offer CPUs
	offered []int   // by node: CPUs that it offers (avail_cpus), above 0; of nodes of open only
	levels  []int   // by number of CPUs: how many nodes offer as many. Not used if plain
	nodes   int     // how many nodes offer any
	cpus    int     // how many CPUs they offer in all
	stale   nodeSet // of among, nodes of which more is free than open, offered and so on tell of

	// planned says that the choice is for a start to come, when running jobs have ended: then bf_busy_nodes holds
	// (prefer_alloc_nodes).
	planned bool

	left      nodeSet   // of open, those that have not been left out
	chosen    choice    // room for what is chosen,
	stretches []stretch // for the stretches to choose from,
	room      []int     // and for the nodes of all stretches
}

// beginSearch makes room for the searches of a controller.
func (c *Controller) beginSearch() {
	most := 0
	for i := range c.conf.Nodes {
		most = max(most, c.conf.Nodes[i].CPUs())
	}
	nodes := len(c.conf.Nodes)
	c.search = search{c: c, among: newNodeSet(nodes), open: newNodeSet(nodes), left: newNodeSet(nodes), stale: newNodeSet(nodes), given: newNodeSet(nodes),
		offered: make([]int, nodes), levels: make([]int, most+1), chosen: make(choice, 0, nodes), room: make([]int, 0, nodes)}
}

// choose returns the nodes among candidates that the job of e would get with these free resources, or nil. The
// next search reuses the memory of the result.
func (c *Controller) choose(e *entry, candidates nodeSet, free usage) choice {
	return c.newSearch(e, candidates, free).run()
}

// newSearch is a search among candidates. It ends the search before, as both have the same room.
func (c *Controller) newSearch(e *entry, candidates nodeSet, free usage) *search {
	s := &c.search
	s.job, s.shape, s.free, s.most, s.asked, s.planned = e.job, c.shapeOf(e), free, 0, false, false
	s.plain = s.shape.plain && !c.forgetful
	s.freed = s.freed[:0]
	clear(s.given)
	for w, word := range candidates {
		s.among[w] = word & s.shape.suited[w]
		for word = s.among[w] & free.some[w]; word != 0; word &= word - 1 {
			s.most += free.cpus[w*64+bits.TrailingZeros64(word)]
		}
	}
	if s.considered, s.looked = 0, false; len(s.shape.gres) > 0 {
		for n := range s.among.all {
			s.consider(n, 1)
		}
	}
	return s
}

// considers reports whether Slurm considers a candidate. If the question is whether idle nodes would be enough,
// Slurm considers all.
func (s *search) considers(n int) bool {
	return &s.free.cpus[0] == &s.c.idle.cpus[0] || s.c.considers(s.shape, n, s.free)
}

// consider counts the candidate n, a number of times, if Slurm considers it for a job that wants devices. As
// soon as the count reaches the number of nodes that the job needs, and all nodes that the job must have are considered,
// the search looks at the GPUs of all.
func (s *search) consider(n, times int) {
	if !s.considers(n) {
		return
	}
	if s.considered += times; times < 0 || s.considered < s.shape.demand.min {
		return
	}
	if s.looked {
		s.c.notesGPUs(s.shape, n, s.free)
		return
	}
	if slices.ContainsFunc(s.shape.required, func(must int) bool { return !s.considers(must) }) {
		return
	}
	s.looked = true
	for other := range s.among.all {
		if s.considers(other) {
			s.c.notesGPUs(s.shape, other, s.free)
		}
	}
}

// ask reckons what the candidates offer.
func (s *search) ask() {
	s.asked, s.nodes, s.cpus = true, 0, 0
	clear(s.open)
	clear(s.stale)
	if s.plain {
		for w, word := range s.among {
			word &= s.free.some[w]
			s.open[w] = word
			s.nodes += bits.OnesCount64(word)
			for ; word != 0; word &= word - 1 {
				n := w*64 + bits.TrailingZeros64(word)
				s.offered[n] = s.free.cpus[n]
				s.cpus += s.free.cpus[n]
			}
		}
		return
	}
	clear(s.levels)
	for w, word := range s.among {
		for word &= s.free.some[w]; word != 0; word &= word - 1 {
			s.offer(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// hopeless reports whether the nodes that may be chosen have too few CPUs even if idle. Then no running job need be
// taken away to tell that the job would never start.
func (s *search) hopeless() bool {
	lacking := s.shape.demand.cpus
	for n := range s.among.all {
		if lacking -= s.c.idle.cpus[n]; lacking <= 0 {
			return false
		}
	}
	return true
}

// offer reckons anew what a candidate offers: what it offered before leaves the counts, and what it offers joins them.
func (s *search) offer(n int) {
	if s.open.has(n) {
		was := s.offered[n]
		s.levels[was]--
		s.nodes--
		s.cpus -= was
		s.open.drop(n)
	}
	if is := s.c.offered(s.shape, n, s.free); is > 0 {
		s.offered[n] = is
		s.levels[is]++
		s.nodes++
		s.cpus += is
		s.open.add(n)
	}
}

// release treats a running job as ended: what it has of the nodes that may be chosen is free. cpus is the number
// of its CPUs there, or more.
func (s *search) release(j *Job, cpus int) {
	s.freed = append(s.freed, j)
	s.most += cpus
	switch {
	case s.c.forgetful: // tests hold the answers to the answers of counts that are never behind
		s.refresh()
	case len(s.shape.gres) > 0: // what GPUs weigh is noted after each job
		s.give()
	}
}

// offerPlainly has nodes offer what jobs had of them that are over, where the demand is plain. Then a node offers all
// CPUs that are free, so the CPUs of a job are added to what its nodes offer, and free need not change.
func (s *search) offerPlainly() {
	for _, j := range s.freed {
		for _, had := range j.shares {
			n := int(had.node)
			if !s.among.has(n) {
				continue
			}
			if !s.open.has(n) {
				s.open.add(n)
				s.offered[n] = 0
				s.nodes++
			}
			s.offered[n] += int(had.cpus)
			s.cpus += int(had.cpus)
		}
	}
	s.freed = s.freed[:0]
}

// give gives back in free what jobs had that are over, on nodes that may be chosen. With devices, what Slurm considers
// changes with each node, and so do weights by GPUs.
func (s *search) give() {
	for _, j := range s.freed {
		for i := range j.shares {
			had := &j.shares[i]
			n := int(had.node)
			if !s.among.has(n) {
				continue
			}
			s.stale.add(n)
			if s.given.add(n); len(s.shape.gres) == 0 {
				s.free.give(j, had)
				continue
			}
			s.consider(n, -1)
			s.free.give(j, had)
			s.consider(n, 1)
		}
	}
	s.freed = s.freed[:0]
}

// takeBack undoes what give gave back: free is again what is free now, as before the search.
func (s *search) takeBack() { s.free.copyFrom(s.c.free, s.given) }

// refresh reckons anew what nodes offer of which something was given back.
func (s *search) refresh() {
	if s.plain {
		if !s.asked {
			s.ask()
		}
		s.offerPlainly()
		return
	}
	if s.give(); !s.asked {
		s.ask()
		return
	}
	for n := range s.stale.all {
		s.offer(n)
	}
	clear(s.stale)
}

// outOfReach reports whether no choice could have what the job asks for: the nodes that offer most, as
// many as the job may have, have too few CPUs. A choice takes no more of a node than it offers, so it
// would fail, whichever nodes were left out.
func (s *search) outOfReach() bool {
	d := &s.shape.demand
	switch {
	case s.nodes < d.min || s.cpus < d.cpus:
		return true
	case s.plain, s.planned && s.c.conf.Schedule.BusyNodes: // bf_busy_nodes may take more nodes than the job may have
		return false
	}
	lacking, allowed := d.cpus, d.max
	for cpus := len(s.levels) - 1; cpus > 0 && lacking > 0 && allowed > 0; cpus-- {
		nodes := min(s.levels[cpus], allowed)
		lacking -= nodes * cpus
		allowed -= nodes
	}
	return lacking > 0
}

// run tries all nodes that offer CPUs, then without the nodes that offer one CPU, then without the nodes that
// offer two or fewer, and so on while enough nodes are left (choose_nodes). Where small nodes are left out, a job
// with a limit on its number of nodes can take larger ones. A plain job may have as many nodes as it needs, so
// that it is tried once.
func (s *search) run() choice {
	// These two tests find without a search that no choice is large enough.
	if s.most < s.shape.demand.cpus && !s.c.forgetful {
		return nil
	}
	if s.refresh(); s.outOfReach() || slices.ContainsFunc(s.shape.required, func(n int) bool { return !s.open.has(n) }) {
		return nil
	}
	// All nodes that offer CPUs.
	copy(s.left, s.open)
	nodes, least := s.nodes, s.shape.demand.min
	chosen := s.evaluate()
	if chosen != nil || s.plain {
		return s.reckon(chosen)
	}
	// Without those that offer few. Nodes that offer the most are never left out (most_res).
	most := len(s.levels) - 1
	for s.levels[most] == 0 {
		most--
	}
	for few := 1; chosen == nil && nodes > least && few < most; few++ {
		if s.levels[few] == 0 { // nothing would be left out
			continue
		}
		dropped := 0
		for n := range s.left.all {
			if s.offered[n] <= few && nodes > least && !slices.Contains(s.shape.required, n) {
				s.left.drop(n)
				nodes--
				dropped++
			}
		}
		if dropped > 0 {
			chosen = s.evaluate()
		}
	}
	return s.reckon(chosen)
}

// reckon notes how many CPUs the job would have of the nodes chosen (total_cpus), and of how many nodes it would have devices
// (total_gres), if there are any. If there are none, the numbers of an earlier search stay: limits on amounts go by it.
func (s *search) reckon(chosen choice) choice {
	if chosen != nil {
		s.job.reckoned, s.job.spread = s.cpusOf(chosen), len(chosen)
	}
	return chosen
}

// taking is the state of a choice while nodes are taken one by one: the nodes taken, and what the job still
// lacks.
type taking struct {
	*search
	chosen  choice
	cpus    int // still lacking
	nodes   int // still lacking
	allowed int // nodes that may still be taken
}

// take takes one node: all that it offers of a whole one, and otherwise no more than leaves a CPU
// for each node that is still to come, but the CPUs that the job asks of each node at least (_cpus_to_use).
func (t *taking) take(n int) {
	cpus := t.offered[n]
	if !t.shape.demand.whole {
		cpus = min(cpus, max(t.cpus-max(t.nodes-1, 0), t.shape.demand.pnMin))
	}
	t.chosen = append(t.chosen, offer{n, cpus})
	t.cpus -= cpus
	t.nodes--
	t.allowed--
}

func (t *taking) enough() bool { return t.cpus <= 0 && t.nodes <= 0 }

// evaluate chooses among the nodes that are left, or returns nil (_eval_nodes). It takes the required nodes first, and
// the others by the rule that slurm.conf sets.
func (s *search) evaluate() choice {
	d := &s.shape.demand
	t := taking{search: s, chosen: s.chosen[:0], cpus: d.cpus, nodes: d.min, allowed: d.max}
	for _, n := range s.shape.required {
		if t.allowed == 0 {
			return nil
		}
		t.take(n)
	}
	switch {
	case t.enough():
		return t.chosen
	case s.planned && s.c.conf.Schedule.BusyNodes:
		return t.busyFirst()
	case s.c.conf.Select.LeastLoaded:
		return t.leastLoaded()
	case s.c.conf.Schedule.PackSerial && d.cpus == 1 && d.min == 1:
		return t.serial()
	}
	return t.bestFit()
}

// byWeight is the weights of the nodes that are left, the lowest first.
func (t *taking) byWeight() []int {
	var weights []int
	for n := range t.left.all {
		weights = append(weights, t.c.weights[n])
	}
	slices.Sort(weights)
	return slices.Compact(weights)
}

// serial takes nodes of the lowest weight first, and of one weight the last one: pack_serial_at_end keeps jobs of
// one CPU away from the nodes that wide jobs take (_eval_nodes_serial).
func (t *taking) serial() choice {
	for _, weight := range t.byWeight() {
		for n := len(t.c.conf.Nodes) - 1; n >= 0; n-- {
			if t.isFree(n, weight) {
				if t.take(n); t.enough() {
					return t.chosen
				}
				if t.allowed == 0 {
					return nil
				}
			}
		}
	}
	return nil
}

// busyFirst takes nodes of the lowest weight first, and of one weight those in use: bf_busy_nodes leaves idle nodes
// to jobs that need many (_eval_nodes_busy). Slurm looks at the idle nodes of a weight also when those in use were enough, and takes
// one of them more; and when the job may have no more nodes, and takes as many of them as make it enough.
func (t *taking) busyFirst() choice {
	idle := t.c.idleNodes()
	done := false
	for _, weight := range t.byWeight() {
		for _, wantIdle := range []bool{false, true} {
			for n := range t.left.all {
				if idle.has(n) != wantIdle || !t.isFree(n, weight) {
					continue
				}
				if t.take(n); t.enough() || t.allowed == 0 {
					done = true
					break
				}
			}
		}
		if done {
			break
		}
	}
	if t.enough() {
		return t.chosen
	}
	return nil
}

// isFree reports whether a node of that weight is left and not required, which it would be taken for already.
func (t *taking) isFree(n, weight int) bool {
	return t.left.has(n) && t.c.weights[n] == weight && !slices.Contains(t.shape.required, n)
}

// stretch is a run of neighbouring nodes of one weight (consec_ arrays of _eval_nodes). A node that is not left ends
// it, too.
type stretch struct {
	nodes    []int // those that are not taken yet, ascending
	cpus     int   // that these offer
	weight   int   // Controller.weights of each of them
	required int   // the first node of it that the job must have, or -1
}

// findStretches finds the runs of nodes that are left. A required node joins the run that it stands
// in, whatever its weight, and is not counted: it is taken already.
func (s *search) findStretches() []stretch {
	all, room := s.stretches[:0], s.room[:0]
	weights, offered := s.c.weights, s.offered
	var open *stretch
	from, previous := 0, -2 // where the open one begins in room; the node before
	for w, word := range s.left {
		for ; word != 0; word &= word - 1 {
			n := w*64 + bits.TrailingZeros64(word)
			required := len(s.shape.required) > 0 && slices.Contains(s.shape.required, n)
			if n != previous+1 || !required && len(open.nodes) > 0 && open.weight != weights[n] {
				all = append(all, stretch{weight: weights[n], required: -1})
				open, from = &all[len(all)-1], len(room)
			}
			previous = n
			if required {
				if open.required < 0 {
					open.required = n
				}
				continue
			}
			room = append(room, n)
			open.nodes, open.weight = room[from:], weights[n]
			open.cpus += offered[n]
		}
	}
	if s.stretches = all; len(s.shape.required) == 0 {
		return all
	}
	// Runs of required nodes alone have nothing to take.
	return slices.DeleteFunc(all, func(s stretch) bool { return len(s.nodes) == 0 })
}

// bestFit takes nodes of the stretch that fits best, then of the next one (the end of _eval_nodes). A stretch
// with a required node comes first. Among the stretches of the lowest weight it is the stretch with the fewest
// CPUs that has enough, and if none has enough, the stretch with the most. Of equals the first is taken. What is
// enough grows less with each stretch. The tests are Slurm's: as a lower weight wins against a required node that
// was found before, the order of stretches counts, and the tests cannot be one sort.
func (t *taking) bestFit() choice {
	stretches := t.findStretches()
	for len(stretches) > 0 && t.allowed > 0 {
		best, fits := 0, false
		for i := range stretches {
			s, of := &stretches[i], &stretches[best]
			enough := s.cpus >= t.cpus && len(s.nodes) >= t.nodes
			switch {
			case i == 0, of.required < 0 && s.required >= 0, s.weight < of.weight,
				s.weight == of.weight && (enough && !fits || enough && s.cpus < of.cpus || !enough && s.cpus > of.cpus):
				best, fits = i, enough
			}
		}
		t.takeStretch(&stretches[best])
		if t.enough() {
			return t.chosen
		}
		stretches = slices.Delete(stretches, best, best+1)
	}
	return nil
}

// takeStretch takes nodes of a stretch until the job has enough or may have no more: in the order of
// their numbers; upwards from a required node, then downwards; or only the tightest, where one is
// enough.
func (t *taking) takeStretch(s *stretch) {
	nodes := s.nodes
	if s.required >= 0 {
		at, _ := slices.BinarySearch(nodes, s.required)
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
		if s.required < 0 && t.allowed == 1 && t.offered[n] < t.cpus {
			continue
		}
		t.take(n)
	}
}

// tightest is the first of the nodes with the fewest CPUs that are enough for what the job still lacks, or -1.
func (t *taking) tightest(nodes []int) int {
	one, least := -1, math.MaxInt
	for _, n := range nodes {
		if cpus := t.offered[n]; cpus >= t.cpus && cpus < least {
			one, least = n, cpus
		}
	}
	return one
}

// leastLoaded takes, of the nodes of the lowest weight, the node with the largest part of free
// cores, again and again (CR_LLN, _eval_nodes_lln). The scan for it stops at a node that has as many CPUs free as the node
// taken last, for Slurm takes that for the largest part that is left, which it is if all nodes have as many cores.
func (t *taking) leastLoaded() choice {
	conf := t.c.conf
	taken := map[int]bool{}
	for _, weight := range t.byWeight() {
		last := -1
		for t.allowed > 0 {
			best := -1
			for n := range t.left.all {
				if taken[n] || slices.Contains(t.shape.required, n) || t.c.weights[n] != weight {
					continue
				}
				// Parts are compared as products, which are exact.
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

// idleNodes is the nodes on which nothing runs: a node whose jobs complete is among them.
func (c *Controller) idleNodes() nodeSet { return c.eraSets().idle }

// eraSets are sets of nodes that are the same as long as the same jobs run.
type eraSets struct {
	era   uint64  // Controller.era in which they were found
	idle  nodeSet // on which nothing runs; nil: not found yet
	whole nodeSet // that running jobs have to themselves
}

// eraSets are the sets of the present era.
func (c *Controller) eraSets() *eraSets {
	s := &c.sets
	if s.idle != nil && s.era == c.era && !c.forgetful {
		return s
	}
	s.era, s.idle, s.whole = c.era, newNodeSet(len(c.conf.Nodes)), newNodeSet(len(c.conf.Nodes))
	for i, cpus := range c.free.cpus {
		if cpus == c.idle.cpus[i] {
			s.idle.add(i)
		}
	}
	for _, r := range c.running {
		if r.whole {
			s.whole.unite(r.nodes)
		}
	}
	return s
}
