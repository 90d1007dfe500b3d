// The tree of ICCS 2023 over groups, as published; see groups.go for the problem.
//
//  1. A partial choice has groups that are in, of each of which it has the cheapest node for
//     sure, and groups that are out. What is left to choose it fills with the best of the
//     other nodes: those of groups that are in are free (ln p = 0), those of open groups count
//     their estimate.
//  2. Its estimate is the worth of that solution. Of all partial choices the one with the
//     greatest estimate is next.
//  3. If its solution uses no open group in part, it is the answer. Otherwise the group of its
//     likeliest node per cost among these groups is taken in by one partial choice and put out
//     by another.
//
// Where solutions are best ones (a knapsack), estimates are bounds and the answer is a best
// choice. Greedy solutions are the first that is within the budget of: the likeliest nodes, the
// likeliest per cost, the cheapest.

package window

import (
	"cmp"
	"math"
	"slices"
)

// branch is a partial choice.
type branch struct {
	state    []groupState // by group
	solution []int        // positions in nodes
	estimate float64      // Σ ln p of the groups that are in, and the nodes' estimates of open ones
	split    int          // the group to split at, or -1
}

// tree looks for a choice as the paper does.
func (p *groupStep) tree(by GroupSearch) {
	root := branch{state: make([]groupState, len(p.of.log))}
	var open []branch
	add := func(b branch) {
		if p.solve(&b, by == GroupTree) {
			open = append(open, b)
		}
	}
	for add(root); len(open) > 0 && p.ctx.Err() == nil; {
		// Step 2: the greatest estimate, of equals the partial choice made first.
		p.work.Branches++
		at := 0
		for i := range open {
			if open[i].estimate > open[at].estimate {
				at = i
			}
		}
		b := open[at]
		open = slices.Delete(open, at, at+1)
		// Step 3: the answer, or two more partial choices.
		if b.split < 0 {
			if by == GroupTreeMixed {
				if last := (branch{state: b.state}); p.solve(&last, true) && last.split < 0 {
					b = last
				}
			}
			if worth := p.worthOf(b.solution); worth > p.worth {
				p.chosen, p.worth = b.solution, worth
			}
			return
		}
		for _, to := range []groupState{groupIn, groupOut} {
			next := branch{state: slices.Clone(b.state)}
			next.state[b.split] = to
			add(next)
		}
	}
}

// solve finds the solution of a partial choice, its estimate and where to split it. It reports
// whether there is a solution.
func (p *groupStep) solve(b *branch, knapsack bool) bool {
	p.state = b.state
	left, budget := p.left(), p.tariff.limit
	if left < 0 {
		return false
	}
	// Step 1. The groups that are in have their cheapest nodes for sure (nodes come the cheapest
	// first); the others of their nodes, and those of open groups, are items.
	taken := make([]bool, len(p.of.log)) // groups that are in and have their cheapest node
	p.subset.items = p.subset.items[:0]
	for i := range p.nodes {
		o := &p.nodes[i]
		switch state := p.state[o.group]; {
		case state == groupIn && !taken[o.group]:
			taken[o.group] = true
			b.solution, b.estimate, budget = append(b.solution, i), b.estimate+p.of.log[o.group], budget-o.cost
		case state == groupIn:
			p.subset.items = append(p.subset.items, item{c: o.cost, id: int32(i), marks: allMarks})
		case state == groupOpen && left > 0:
			p.subset.items = append(p.subset.items, item{z: p.estimate(o.group, left), c: o.cost, id: int32(i), marks: allMarks})
		}
	}
	if budget < 0 || len(p.subset.items) < left {
		return false
	}
	// Of them the best, or a greedy, choice of what is left of nodes and budget.
	if left > 0 {
		p.subset.n, p.subset.limit = left, budget
		if p.subset.choose = p.subset.choose[:0]; knapsack {
			if p.subset.solve(0, math.Inf(-1)); !p.subset.found {
				return false
			}
		} else if !p.subset.greedy() {
			return false
		}
		for _, id := range p.subset.choose {
			b.solution = append(b.solution, int(id))
		}
		for _, id := range p.subset.choose {
			if g := p.nodes[id].group; p.state[g] == groupOpen {
				b.estimate += p.estimate(g, left)
			}
		}
	}
	p.splitAt(b, left)
	return true
}

// splitAt finds the open group that a solution uses in part, if there is any, by its likeliest node
// per cost.
func (p *groupStep) splitAt(b *branch, left int) {
	used := make([]int, len(p.of.log))
	for _, i := range b.solution {
		used[p.nodes[i].group]++
	}
	b.split = -1
	utility := math.Inf(-1)
	for _, i := range b.solution {
		o := &p.nodes[i]
		// A group that is all of the solution, or all of whose candidates are in it, counts what it
		// is worth: as many estimates as it was divided by.
		if p.state[o.group] != groupOpen || used[o.group] == len(b.solution) || used[o.group] == p.size[o.group] {
			continue
		}
		if u := math.Exp(p.estimate(o.group, left)) / o.cost; u > utility {
			b.split, utility = o.group, u
		}
	}
}

// greedy chooses n of the items: the first way that is within the limit. It reports whether
// there is one.
func (p *subset) greedy() bool {
	for _, better := range []func(a, b *item) int{
		func(a, b *item) int { return cmp.Compare(b.z, a.z) },
		func(a, b *item) int { return cmp.Compare(math.Exp(b.z)/b.c, math.Exp(a.z)/a.c) },
		func(a, b *item) int { return cmp.Compare(a.c, b.c) },
	} {
		slices.SortStableFunc(p.items, func(a, b item) int { return better(&a, &b) })
		cost := 0.0
		p.choose = p.choose[:0]
		for _, it := range p.items[:p.n] {
			p.choose = append(p.choose, it.id)
			cost += it.c
		}
		if cost <= p.limit {
			return true
		}
	}
	return false
}
