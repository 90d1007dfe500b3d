package entity

// Which requests in a part of the queue are the least demanding: a scan passes over the part if
// none of them fits.

import "github.com/gridslot/gridslot/des"

// front is the Pareto front of requests, by nodes and length: every request that it was made of
// asks for at least the nodes and at least the length of one of its steps. If no step fits, no
// request does.
//
//	length |  o
//	       |  |   .     .
//	       |  +---o   .
//	       |      |       .  .
//	       |      +---o
//	       +--------------------- nodes
//	          steps o, other requests .
//
// Invariant: from step to step nodes rise and lengths fall. Where a front of requests would have
// more than frontSteps, each two neighbours are replaced by their corner, which has the fewer nodes
// and the shorter length of the two: a lower bound of both. The front of n requests that are drawn
// from one distribution has about ln n steps, so that this hardly ever happens.
type front struct {
	count int
	steps [frontSteps]step
}

// step is what a request on a front asks for.
type step struct {
	nodes  int
	length des.Time
}

// frontSteps bounds the steps of a front.
const frontSteps = 16

// add takes a request into the front.
func (f *front) add(s step) {
	// The steps before i ask for fewer nodes, or for as many.
	i := f.count
	for i > 0 && f.steps[i-1].nodes > s.nodes {
		i--
	}
	if i > 0 && f.steps[i-1].length <= s.length {
		return // that step fits wherever s does
	}
	// s replaces steps that ask for as many nodes or more, and for as long or longer.
	from, to := i, i
	if i > 0 && f.steps[i-1].nodes == s.nodes {
		from--
	}
	for to < f.count && f.steps[to].length >= s.length {
		to++
	}
	if from == to && f.count == frontSteps {
		f.coarsen()
		f.add(s)
		return
	}
	copy(f.steps[from+1:], f.steps[to:f.count])
	f.steps[from] = s
	f.count += 1 - (to - from)
}

// coarsen replaces each two neighbours by their corner. A last step without a neighbour stays.
func (f *front) coarsen() {
	for i := 0; i < f.count; i += 2 {
		f.steps[i/2] = step{f.steps[i].nodes, f.steps[min(i+1, f.count-1)].length}
	}
	f.count = (f.count + 1) / 2
}

// Detail makes d the front of the items.
func (queueAlgebra) Detail(d *front, items []queued) {
	d.count = 0
	for i := range items {
		d.add(step{items[i].nodes, items[i].length})
	}
}

// JoinDetails makes d the front of all parts. The summary of a part, a lower bound of its requests,
// stands in for a front that is not known.
func (queueAlgebra) JoinDetails(d *front, sums []queueSum, parts []*front) {
	d.count = 0
	for i, part := range parts {
		if part == nil {
			d.add(step{sums[i].nodes, sums[i].length})
			continue
		}
		for _, s := range part.steps[:part.count] {
			d.add(s)
		}
	}
}
