// AEP on a slot list from which many windows are cut: what one turn of a search
// knows from the turns before.

package window

import (
	"context"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// extreme is a search by AEP in an Exhaustion. Each turn weighs the steps of what is
// left, by the same text as AEP.Find. Three things keep most slots out of that:
//
//   - slots in which the search has no room for a task. In a list that is cut to
//     pieces these are most, and the supply says of each how much work it holds;
//   - nodes that are too dear, for the exact goals: beside the n-1 cheapest that have
//     room at all, one of these would be beyond the budget or, for MinCost, beyond the
//     best so far. The others may begin a window where a slot begins that they do not
//     take, because what was in the way has left;
//   - all that is behind a window of the least value there can be (floor).
//
// Cuts take from the list, so that the least value of all windows only rises, and
// what was the least at one turn is a floor at the next:
//
//	value of the best window that begins at the slot; 7 was the best the last time
//
//	  9   8 9     |
//	    8     7   | 7 8   8    not looked at
//	  ------------|----------> slots
//
// For MinCost, MinRunTimeExact and MinFinishExact that is the last window's value.
// META's substitution finds no least value, and nothing says that a slot less cannot
// lead it to a better window. MinRunTime's floor is therefore what MinRunTimeExact
// finds, which is asked when the values have risen. Where performances are whole
// numbers runtimes are few, and most windows last as long as the floor.
//
// A turn takes O(m) looks at slots and, for those that are left, what AEP.Find takes.
// What was set aside: bounds for each place of the list (a cut touches every place
// that its window spans, which takes longer than to look again), and a walk by nodes
// instead of by places (with few nodes cheap enough the looks at the others are the
// lesser part of a turn).
type extreme struct {
	AEP
	goal   goal
	exact  bool // it finds the least value there is
	req    entity.Request
	until  des.Time
	supply *supply

	work     float64  // of a task, less what rounding can do
	unit     float64  // a task costs no less than that many times its node's rate
	shortest des.Time // no task takes less

	others float64 // no n-1 nodes that have room at this turn cost less
	first  int32   // no node before it has room
	floor  float64 // no window has a lower value
	risen  float64 // the greatest value of a window yet
	met    []int32 // the nodes of the slots offered at this turn
}

// newExtreme begins a search, whose settings and request have been checked.
func newExtreme(a AEP, g goal, req entity.Request, until des.Time) *extreme {
	x := &extreme{
		AEP: a, goal: g, req: req, until: until,
		exact: a.By == MinCost || a.By == MinRunTimeExact || a.By == MinFinishExact,
		work:  float64(req.Length) * (1 - slack),
		floor: math.Inf(-1), risen: math.Inf(-1), shortest: des.Forever,
	}
	x.unit = x.work
	if step := a.tariff(req.BudgetLimit()).step; step > 0 {
		x.unit /= step
	}
	return x
}

func (x *extreme) leastWork() float64 { return x.work }

// on sets out on the supply.
func (x *extreme) on(u *supply) {
	x.supply = u
	for _, n := range u.nodes {
		x.shortest = min(x.shortest, x.taskTime(n, x.req.Length))
	}
}

// next finds the best window of what is left.
func (x *extreme) next(ctx context.Context) (plan.Found, error) {
	if x.exact {
		x.compare()
	}
	s := x.scan()
	defer s.done()
	s.weigh(ctx, x.By, x.goal)
	found, err := s.found(ctx, x.goal)
	if err != nil || !found.OK {
		return found, err
	}
	switch {
	case x.exact:
		x.floor = s.best.value
	case x.By == MinRunTime && s.best.value > max(x.floor, x.risen):
		exact := x.scan()
		defer exact.done()
		exact.tariff.limit *= 1 + slack // the substitution adds costs up in another order
		exact.weigh(ctx, MinRunTimeExact, x.goal)
		if err := ctx.Err(); err != nil {
			return plan.Found{}, err // what half a search finds is no floor
		}
		x.risen, x.floor = s.best.value, exact.best.value
		found.Work.Add(exact.work)
	}
	return found, nil
}

// scan is a scan of what is left.
func (x *extreme) scan() *scan {
	s := scans.Get().(*scan)
	s.ask(x.Settings, x.req, nil, x.until)
	s.remains = x
	x.met = x.met[:0]
	return s
}

// compare finds out what n-1 nodes cost at least.
func (x *extreme) compare() {
	x.others = 0
	missing := x.req.Nodes - 1
	for k := x.first; int(k) < len(x.supply.nodes) && missing > 0; k++ {
		if x.room(k) {
			x.others += x.supply.rate[k] * x.unit
			missing--
		} else if k == x.first {
			x.first++
		}
	}
}

// room reports whether node k may have room for a task.
func (x *extreme) room(k int32) bool {
	for _, s := range x.supply.spans[k] {
		if x.supply.work(k, s.start, s.end) >= x.work {
			return x.req.Admits(x.supply.nodes[k])
		}
	}
	return false
}

// each yields for s what is left, as search.offers does for a slot list, but for
// what cannot be part of a better window.
func (x *extreme) each(ctx context.Context, s *search, yield func(des.Time, offer) bool) {
	for _, chunk := range x.supply.order.chunks {
		if ctx.Err() != nil {
			return
		}
		for i := range chunk {
			e := &chunk[i]
			now := e.start
			if now > s.until || x.settled(&s.best, now) {
				return
			}
			s.work.Slots++
			if e.work < x.work || (x.exact && x.others+x.supply.rate[e.node]*x.unit > x.most(s)) {
				continue
			}
			node := x.supply.nodes[e.node]
			if !x.req.Admits(node) {
				continue
			}
			length := x.taskTime(node, x.req.Length)
			last := min(x.supply.at(e.node, e.place).end, s.due) - length
			if last < now {
				continue
			}
			cost := s.tariff.cost(node.Price, length)
			if cost > s.tariff.limit {
				continue
			}
			x.met = append(x.met, e.node)
			if !yield(now, offer{cost, last, length, int32(len(x.met) - 1)}) {
				return
			}
		}
	}
}

// most is what a window that is better than the best so far can cost.
func (x *extreme) most(s *search) float64 {
	most := s.tariff.limit
	if x.goal.of == theCost && s.best.ok {
		most = s.best.value
	}
	return most * (1 + slack)
}

// settled reports whether nothing that begins at now or later is better than the
// best so far.
func (x *extreme) settled(best *answer, now des.Time) bool {
	return best.ok && (best.value <= x.floor || x.goal.bound(best.value, now) <= x.shortest)
}
