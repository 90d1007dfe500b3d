// Windows on nodes that are free or taken together.
//
// Toporkov, Yemelyanov, Tselishchev: Allocation of Distributed Resources with Group
// Dependencies and Availability Uncertainties, ICCS 2023, LNCS 14077. Nodes that one job
// occupies form a group: with a common probability p_g all of them are free, or none is. At a
// step, of the slots that hold a window's time,
//
//	max Π p_g over the groups that the window touches   with   Σ c_i <= S,   n nodes
//
// If the groups that may be touched are I, the n cheapest nodes of I are the best choice. So the
// problem is to find I. Both searches here branch on groups; a partial choice has some groups
// that are in I, some that are not, and others that are open.
//
//   - GroupExact goes through the groups by their probabilities, the greatest first, and into the
//     choice with the group first. As soon as the n cheapest nodes of the groups that are in fit
//     the budget, no further group helps. Two bounds end a branch (groupStep.bound).
//   - The GroupTree searches are the paper's: the partial choice of the greatest estimate is
//     next, and is split at a group that its solution uses in part (grouptree.go).

package window

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// NodeGroup is the label of a node that names its group. A node without it is a group of its
// own. All nodes of a group must have the same NodeAvailability.
const NodeGroup = "group"

// GroupSearch says how Grouped chooses nodes at a step.
type GroupSearch uint8

const (
	GroupExact      GroupSearch = iota // our branch and bound: a best choice
	GroupTree                          // the paper's tree; solutions by a knapsack: a best choice
	GroupTreeGreedy                    // the paper's tree; greedy solutions
	GroupTreeMixed                     // GroupTreeGreedy, whose last solution is replaced by a knapsack's
)

// Grouped finds the square window that is free with the greatest probability, where nodes of a
// group are free or taken together. The earliest of equals. It does not look at EndDeviation. A
// window shows its probability.
type Grouped struct {
	Settings
	By GroupSearch // how it chooses at each step

	patience int // of the exact search, in branches; groupPatience where 0
}

// Name returns "group-available", with the way of search where that is not exact.
func (g Grouped) Name() string {
	return "group-available" + [...]string{"", "-tree", "-tree-greedy", "-tree-mixed"}[min(g.By, GroupTreeMixed)]
}

// Traits returns that windows are square and that the more probable window is preferred.
func (g Grouped) Traits(*entity.Request) plan.Traits {
	if g.Settings.check() != nil {
		return plan.Traits{}
	}
	return plan.Traits{Square: true, Sign: 1}
}

// Find implements plan.Finder.
func (g Grouped) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	s, err := newScan(g.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	if g.By > GroupTreeMixed {
		return plan.Found{}, plan.BadInput("there is no such search over groups")
	}
	if err := checkAvailability(s.list); err != nil {
		return plan.Found{}, err
	}
	groups, err := groupsOf(s.list)
	if err != nil {
		return plan.Found{}, err
	}
	// A step for each length and each start at which a slot begins, as DEP18's square search.
	s.admit()
	p := groupStep{scan: s, ctx: ctx, of: groups, n: s.req.Nodes, patience: cmp.Or(g.patience, groupPatience)}
	for _, length := range s.lengths {
		for _, on := range s.onsets {
			if on.own <= length && ctx.Err() == nil {
				p.step(on.at, length, g.By)
			}
		}
	}
	// Sums of ln p are probabilities again. No window that was given up is more probable than
	// exp(missed).
	if p.gaveUp && s.best.ok {
		s.best.gap = max(math.Exp(p.missed)-math.Exp(-s.best.value), 0)
	}
	found, err := s.found(ctx, goal{of: theStart})
	if found.OK {
		found.Window.Value = math.Exp(-s.best.value)
	}
	return found, err
}

// groups are the groups of a slot list.
type groups struct {
	of  map[*entity.Node]int // the group of each node, an index of log
	log []float64            // ln p_g, at most 0; finite (leastAvailability)
}

// groupsOf are the groups of the nodes of a list, numbered as they come. The error is of a group
// whose nodes differ in their probability.
func groupsOf(list []entity.Slot) (g groups, err error) {
	g.of = make(map[*entity.Node]int)
	byLabel := make(map[string]int)
	for i := range list {
		n := list[i].Node
		if _, known := g.of[n]; known {
			continue
		}
		log := math.Log(max(availabilityOf(n), leastAvailability))
		k := len(g.log)
		if label, given := n.Labels[NodeGroup]; given {
			var known bool
			if k, known = byLabel[label]; !known {
				k = len(g.log)
				byLabel[label] = k
			} else if g.log[k] != log {
				return g, plan.BadInput("node %d: its amount %q must be that of the other nodes of group %q", n.ID, NodeAvailability, label)
			}
		}
		if g.of[n] = k; k == len(g.log) {
			g.log = append(g.log, log)
		}
	}
	return g, nil
}

// groupNode is a slot that holds the window of the step.
type groupNode struct {
	offer          // held for all of the step's length
	own   des.Time // how long a task takes on the node
	group int
}

// groupState is the decision of a partial choice about a group.
type groupState uint8

const (
	groupOpen groupState = iota // not decided
	groupIn                     // the choice may use its nodes, and is worth ln p_g less
	groupOut                    // the choice must not use them
)

// groupStep is the problem of one step after the other.
type groupStep struct {
	*scan
	ctx context.Context
	of  groups // of the whole slot list
	n   int    // nodes of a choice

	nodes  []groupNode  // of the step, the cheapest first
	order  []int        // their groups, the greatest probability first
	size   []int        // by group: its candidates
	state  []groupState // by group: what the partial choice at hand says of it
	lambda float64      // the multiplier of bounds, >= 0: ln p per unit of the tariff's measure
	keys   []float64    // scratch of relaxed

	worth    float64 // a choice must be worth more: Σ ln p of its groups
	chosen   []int   // positions in nodes
	patience int
	missed   float64 // the greatest bound of what patience ran out for, from the first time on
	gaveUp   bool    // patience ran out, and missed is set
	subset   subset  // of the tree's solutions
}

// step looks for a choice for [now, now+length) that is worth more than the best window
// so far, or as much if that starts later.
func (p *groupStep) step(now, length des.Time, by GroupSearch) {
	// The candidates: slots that hold the window, on nodes that do not need longer. All groups
	// are open.
	p.nodes = p.nodes[:0]
	p.size = append(p.size[:0], make([]int, len(p.of.log))...)
	p.state = append(p.state[:0], make([]groupState, len(p.of.log))...)
	for i := range p.slots {
		u := &p.slots[i]
		if u.start > now {
			break
		}
		if u.own > length || u.last-now < length || u.last == now && length == 0 {
			continue
		}
		o := offer{cost: p.tariff.cost(u.price, length), length: length, slot: u.slot}
		if o.cost <= p.tariff.limit {
			g := p.of.of[p.list[u.slot].Node]
			p.nodes, p.size[g] = append(p.nodes, groupNode{o, u.own, g}), p.size[g]+1
		}
	}
	slices.SortStableFunc(p.nodes, func(a, b groupNode) int { return cmp.Compare(a.cost, b.cost) })

	// Their groups. If even the n cheapest of all are over the budget there is no choice.
	p.order = p.order[:0]
	for g, size := range p.size {
		if size > 0 {
			p.order = append(p.order, g)
		}
	}
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(p.of.log[b], p.of.log[a]) })
	if !p.fits(groupOpen) {
		return
	}
	p.work.Steps++

	// What a choice must be worth more than: of equals the earliest is the answer.
	p.chosen, p.worth = p.chosen[:0], math.Inf(-1)
	if b := &p.best; b.ok && now >= b.start {
		p.worth = -b.value
	} else if b.ok {
		p.worth = math.Nextafter(-b.value, math.Inf(-1))
	}
	if by == GroupExact {
		p.tune()
		p.exact(0, 0)
	} else {
		p.tree(by)
	}
	p.take(now, length)
}

// take makes a window of the choice of the step. A choice of which no node needs all of the
// length is a window of a shorter one, and was looked at there.
func (p *groupStep) take(now, length des.Time) {
	if !slices.ContainsFunc(p.chosen, func(i int) bool { return p.nodes[i].own == length }) {
		return
	}
	p.picks = p.picks[:0]
	for _, i := range p.chosen {
		p.picks = append(p.picks, p.nodes[i].offer)
	}
	p.keep(p.picks, now, -p.worthOf(p.chosen))
}

// worthOf is Σ ln p over the groups of a choice, always summed in the same order.
func (p *groupStep) worthOf(chosen []int) (sum float64) {
	touched := make([]bool, len(p.of.log))
	for _, i := range chosen {
		touched[p.nodes[i].group] = true
	}
	for _, g := range p.order {
		if touched[g] {
			sum += p.of.log[g]
		}
	}
	return sum
}

// cheapestOf are the n cheapest candidates of groups that are in or, with groupOpen, may come
// in. There may be fewer of them.
func (p *groupStep) cheapestOf(upTo groupState) (chosen []int, cost float64) {
	for i := range p.nodes {
		if s := p.state[p.nodes[i].group]; s == groupIn || s == upTo {
			if chosen = append(chosen, i); len(chosen) == p.n {
				break
			}
		}
	}
	for _, i := range chosen {
		cost += p.nodes[i].cost
	}
	return chosen, cost
}

// fits reports whether n nodes of such groups are within the budget.
func (p *groupStep) fits(upTo groupState) bool {
	chosen, cost := p.cheapestOf(upTo)
	return len(chosen) == p.n && cost <= p.tariff.limit
}

// groupPatience is the number of branches of GroupExact that a search looks at before it gives up
// the rest, and reports a gap. 21 nodes in 8 groups take some ten for each step.
const groupPatience = 1 << 20

// exact looks at what becomes of a partial choice, of which the groups that are in have the worth
// sum and the groups of order from the at-th on are open.
func (p *groupStep) exact(at int, sum float64) {
	p.work.Branches++
	if p.work.Branches%ctxEvery == 0 && p.ctx.Err() != nil {
		return
	}
	// The n cheapest of the groups that are in: if they will do, further groups only make the
	// choice less probable.
	if chosen, cost := p.cheapestOf(groupIn); len(chosen) == p.n && cost <= p.tariff.limit {
		if sum > p.worth {
			p.chosen, p.worth = chosen, sum
		}
		return
	}
	// No choice, or none that is better.
	if at == len(p.order) || !p.fits(groupOpen) {
		return
	}
	bound := p.bound(at, sum)
	if bound <= p.worth-groupRounding {
		return
	}
	if p.work.Branches > p.patience {
		if p.missed = max(p.missed, bound); !p.gaveUp {
			p.missed, p.gaveUp = bound, true
		}
		return
	}
	// With the likeliest open group, and without it.
	g := p.order[at]
	p.state[g] = groupIn
	p.exact(at+1, sum+p.of.log[g])
	p.state[g] = groupOut
	p.exact(at+1, sum)
	p.state[g] = groupOpen
}

// groupRounding is the greatest rounding error of sums of logarithms.
const groupRounding = 1e-12

// bound is at least the worth of every choice that touches all groups that are in, and at least
// one that is open; choices that do not touch all of them are looked at where those are out. It
// is the lesser of two: with the likeliest open group; and the paper's optimistic estimate, by which
// each of k nodes of an open group at most costs a k-th of its ln p, relaxed with λ for the
// budget.
func (p *groupStep) bound(at int, sum float64) float64 {
	return sum + min(p.of.log[p.order[at]], p.relaxed(p.lambda))
}

// relaxed is λ S + Σ of the n greatest z_i − λ c_i of the groups that are not out, which no open
// choice is worth more than for any λ >= 0. z_i is the estimate of a node.
func (p *groupStep) relaxed(lambda float64) float64 {
	left := p.left()
	if left <= 0 {
		return math.Inf(-1) // there is no room for a node of another group
	}
	p.keys = p.keys[:0]
	for i := range p.nodes {
		o := &p.nodes[i]
		switch p.state[o.group] {
		case groupIn:
			p.keys = append(p.keys, -float64(lambda*o.cost))
		case groupOpen:
			p.keys = append(p.keys, p.estimate(o.group, left)-float64(lambda*o.cost))
		}
	}
	slices.Sort(p.keys)
	bound := lambda * p.tariff.limit
	for _, key := range p.keys[len(p.keys)-p.n:] {
		bound += key
	}
	return bound
}

// left returns the greatest number of nodes of open groups in a choice that has at least one node
// of each group that is in.
func (p *groupStep) left() int {
	left := p.n
	for _, g := range p.order {
		if p.state[g] == groupIn {
			left--
		}
	}
	return left
}

// estimate is the paper's optimistic value of one node of an open group: if as many of its
// nodes are taken as can be, they are worth what the group is.
func (p *groupStep) estimate(g, left int) float64 { return p.of.log[g] / float64(min(p.size[g], left)) }

// tune sets lambda to about where the bound of the step is least. Any other value is right, too.
func (p *groupStep) tune() {
	p.lambda = 0
	if p.tariff.limit >= math.MaxFloat64 || p.tariff.limit == 0 {
		return
	}
	// From 0 to where n nodes of the least probable group, at an n-th of the budget each, would
	// be priced at twice their ln p.
	low, high := 0.0, -2*p.of.log[p.order[len(p.order)-1]]*float64(p.n)/p.tariff.limit
	for range 30 { // ternary search, for the bound is convex in λ
		a, b := low+(high-low)/3, high-(high-low)/3
		if p.relaxed(a) <= p.relaxed(b) {
			high = b
		} else {
			low = a
		}
	}
	p.lambda = low
}
