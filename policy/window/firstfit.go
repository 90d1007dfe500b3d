// First fit that goes on where it stopped: one pass along the slot list for all the
// windows of a request. Exhaustion says why that is enough.

package window

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// firstFit is a search on its way along the supply.
type firstFit struct {
	set    Settings
	req    entity.Request
	tariff tariff
	until  des.Time // the latest start
	due    des.Time // the latest end of a task
	least  float64  // a task's work, less what rounding can do
	floor  float64  // of a task's costs, for each unit of a node's rate

	supply *supply
	at     place     // the last slot that was taken in
	over   bool      // there is no window any more
	work   plan.Work // of the turn at hand

	// The nodes that can still take a task:
	//
	//	near  the cheapest n to 2n, by cost, then by place
	//	far   the others, none of them cheaper than the last of near, and some that
	//	      have no room any more
	//
	// With fewer than n in near there is none in far.
	near    []candidate
	soonest des.Time // no candidate in near expires before it
	far     bitset   // by number in the supply, which is the order of what work costs
	others  int      // how many there are in far
}

// candidate is a node that could hold a task.
type candidate struct {
	place           // of the slot that it has room in
	node   int32    // its number in the supply
	cost   float64  // in the tariff's measure
	length des.Time // how long the task takes
	last   des.Time // latest start of the task in this slot
}

// before is the order of near: by cost, then by place.
func (c *candidate) before(other *candidate) bool {
	return c.cost < other.cost || (c.cost == other.cost && c.place.before(other.place))
}

// slack is more than what rounding does to a product of a few numbers.
const slack = 1e-9

// newFirstFit begins a search, whose settings and request have been checked.
func newFirstFit(set Settings, req entity.Request, until des.Time) *firstFit {
	p := &firstFit{
		set: set, req: req, tariff: set.tariff(req.BudgetLimit()), until: until, due: req.DeadlineLimit(),
		least: leastWork(&req), at: place{start: -des.Forever, number: -1},
		near: make([]candidate, 0, 2*req.Nodes), soonest: des.Forever,
	}
	// A task of work V costs V times the node's rate, in multiples of the step where costs are
	// rounded, and never less after rounding up.
	p.floor = p.least
	if p.tariff.step > 0 {
		p.floor /= p.tariff.step
	}
	return p
}

// on sets out on the supply.
func (p *firstFit) on(u *supply) {
	p.supply, p.far = u, make(bitset, (len(u.nodes)+63)/64)
}

// next goes on to the next place with a window.
func (p *firstFit) next(ctx context.Context) (plan.Found, error) {
	p.work = plan.Work{}
	if !p.over {
		p.renew()
	}
	order := &p.supply.order
	for k, i := order.after(p.at); k < len(order.chunks) && !p.over; k, i = k+1, 0 {
		if err := ctx.Err(); err != nil {
			return plan.Found{}, err
		}
		for chunk := order.chunks[k]; i < len(chunk); i++ {
			e := &chunk[i]
			if e.start > p.until {
				p.over = true
				break
			}
			p.work.Slots++
			if e.work >= p.least && p.meet(e) {
				return plan.Found{OK: true, Window: p.window(), Work: p.work}, nil
			}
		}
	}
	p.over = true
	return plan.Found{Work: p.work}, ctx.Err()
}

// meet adds a slot and reports whether a window begins with it. Only a slot among the n
// cheapest can begin one: otherwise the n cheapest start later than before and cost no less.
func (p *firstFit) meet(e *placed) bool {
	p.at = e.place
	n := p.req.Nodes
	if e.start > p.soonest {
		p.expire()
		// Its node may have been one of the others, and then the slot is in near now.
		if i := slices.IndexFunc(p.near, func(c candidate) bool { return c.node == e.node }); i >= 0 {
			return i < n && p.affordable()
		}
	}

	// Whoever cannot be among the near is one of the others, and is not looked at closely: its
	// rate may tell as much, before its cost is computed.
	size := len(p.near)
	dearest := math.Inf(1) // whoever costs as much is one of the others
	if size == 2*n || p.others > 0 {
		dearest = p.near[size-1].cost
	}
	if least := p.supply.rate[e.node] * p.floor; math.IsInf(least, 1) {
		return false // no sum of costs has room for it
	} else if least >= dearest {
		p.leave(e.node)
		return false
	}
	c := candidate{node: e.node}
	switch {
	case !p.price(&c) || math.IsInf(c.cost, 1):
		return false
	case c.cost >= dearest:
		p.leave(e.node)
		return false
	case !p.room(&c) || p.admit(c) >= n:
		return false
	}
	return p.affordable()
}

// affordable reports whether there are n candidates within the budget.
func (p *firstFit) affordable() bool {
	p.work.Steps++
	return len(p.near) >= p.req.Nodes && p.cost() <= p.tariff.limit
}

// cost returns the cost of the n cheapest, added up from the cheapest on.
func (p *firstFit) cost() float64 {
	sum := 0.0
	for i := range p.near[:p.req.Nodes] {
		sum += p.near[i].cost
	}
	return sum
}

// price says how long a task takes and what it costs; false if it must not run there
// or that is too much.
func (p *firstFit) price(c *candidate) bool {
	n := p.supply.nodes[c.node]
	c.length = p.set.taskTime(n, p.req.Length)
	c.cost = p.tariff.cost(n.Price, c.length)
	return c.cost <= p.tariff.limit && p.req.Admits(n)
}

// room finds the slot in which c could take a task now; false if there is none.
func (p *firstFit) room(c *candidate) bool {
	s := p.supply.at(c.node, p.at)
	if s == nil {
		return false
	}
	c.place, c.last = s.place(), min(s.end, p.due)-c.length
	return c.last >= p.at.start
}

// admit takes c into near, and says where.
func (p *firstFit) admit(c candidate) int {
	if size := len(p.near); size == 2*p.req.Nodes {
		p.leave(p.near[size-1].node)
		p.near = p.near[:size-1]
	}
	at := len(p.near)
	for at > 0 && c.before(&p.near[at-1]) {
		at--
	}
	p.near = slices.Insert(p.near, at, c)
	p.soonest = min(p.soonest, c.last)
	return at
}

// leave leaves a node to the others.
func (p *firstFit) leave(k int32) {
	if !p.far.has(k) {
		p.far.set(k)
		p.others++
	}
}

// renew looks at near again after the others' turns.
func (p *firstFit) renew() {
	near := p.near
	p.near, p.soonest = p.near[:0], des.Forever
	for _, c := range near {
		if p.room(&c) {
			p.admit(c) // a slot's tail may come later among equal costs
		}
	}
	p.refill()
}

// expire drops what can no longer start.
func (p *firstFit) expire() {
	near := p.near
	p.near, p.soonest = p.near[:0], des.Forever
	for _, c := range near {
		if c.last >= p.at.start {
			p.near = append(p.near, c)
			p.soonest = min(p.soonest, c.last)
		}
	}
	p.refill()
}

// refill fills near up with the cheapest of the others where it has fewer than n.
func (p *firstFit) refill() {
	if len(p.near) < p.req.Nodes && p.others > 0 {
		p.gather(2*p.req.Nodes-1, false)
	}
}

// settle brings those of equal costs into near that stand first in the list, if
// they are among the n cheapest.
func (p *firstFit) settle() {
	if n := p.req.Nodes; p.others > 0 && p.near[len(p.near)-1].cost == p.near[n-1].cost {
		p.gather(n-1, true)
	}
}

// gather takes the others into near who cost less than the candidate there at the
// position, or with ties as much at an earlier place; all, as long as there is none
// at the position. It forgets those it sees to have no room.
func (p *firstFit) gather(position int, ties bool) {
	for i, word := range p.far {
		for ; word != 0; word &= word - 1 {
			c := candidate{node: int32(i<<6 | bits.TrailingZeros64(word))}
			bound := math.Inf(1)
			if position < len(p.near) {
				bound = p.near[position].cost
			}
			if p.supply.rate[c.node]*p.floor > bound {
				return // those that follow have greater rates
			}
			affordable := p.price(&c)
			if c.cost > bound || (c.cost == bound && !ties) {
				continue
			}
			if affordable && p.room(&c) {
				if c.cost == bound && !c.before(&p.near[position]) {
					continue
				}
				p.admit(c)
			}
			p.far.clear(c.node)
			p.others--
		}
	}
}

// window returns the window of the n cheapest, which are candidates no more. Its tasks are
// in the order of the slot list.
func (p *firstFit) window() entity.Window {
	p.settle()
	n, start := p.req.Nodes, p.at.start
	chosen := p.near[:n]
	slices.SortFunc(chosen, func(a, b candidate) int { return a.place.compare(b.place) })
	w := entity.Window{Start: start, Nodes: n, Tasks: make([]entity.Task, n), Value: start.Seconds()}
	for i, c := range chosen {
		node := p.supply.nodes[c.node]
		w.Tasks[i] = entity.Task{Node: node, End: start + c.length}
		w.End = max(w.End, w.Tasks[i].End)
		w.Cost += realCost(node.Price, c.length)
	}
	p.near = slices.Delete(p.near, 0, n)
	return w
}

// bitset is a set of numbers, the k-th of which is bit k%64 of word k/64.
type bitset []uint64

func (b bitset) has(k int32) bool { return b[k>>6]&(1<<(k&63)) != 0 }
func (b bitset) set(k int32)      { b[k>>6] |= 1 << (k & 63) }
func (b bitset) clear(k int32)    { b[k>>6] &^= 1 << (k & 63) }
