// KnapsackDP: the square search with DEP18's dynamic programme for the subset
// at each step. It is the reference that Best is tested and measured against.

package window

import (
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// KnapsackDP is DEP18's square search with knapsackDP at every step. The dynamic
// programme needs costs that are whole numbers, so each cost is rounded up to a
// multiple of RoundCosts, or of 1 if RoundCosts is 0. Subsets that are within the
// budget only by a fraction are therefore missed. A step takes time and memory
// O(m n budget/RoundCosts).
//
// A request without a budget is bad input: the programme's table would have no end.
// So a run whose policy searches by KnapsackDP ends at the first such job, and a job
// that asks for the search itself is rejected.
type KnapsackDP struct {
	Settings
	By Criterion // what a slot adds to a window's worth
}

// Name returns "knapsack-dp-" and the criterion's name.
func (k KnapsackDP) Name() string { return "knapsack-dp-" + criterionName(k.By) }

// Find implements plan.Finder. The request needs a budget.
func (k KnapsackDP) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	if k.By == nil {
		return plan.Found{}, plan.BadInput("KnapsackDP has no criterion")
	}
	if req.Budget == 0 {
		return plan.Found{}, plan.BadInput("the dynamic programme needs a budget: give every job one, or take a search that needs none, such as multiple-best")
	}
	if k.RoundCosts == 0 {
		k.RoundCosts = 1
	}
	s, err := newScan(k.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	by, err := s.criterion(k.By, list)
	if err != nil {
		return plan.Found{}, err
	}
	// A step for each length and each start at which a slot of a node no slower begins.
	g := goal{theWorth, by}
	s.admit()
	budget := int(s.tariff.limit) // a whole number of RoundCosts
	for _, length := range s.lengths {
		for _, on := range s.onsets {
			if on.own > length {
				continue
			}
			if ctx.Err() != nil {
				break
			}
			s.knapsackStep(on.at, length, g.by, budget)
		}
	}
	return s.found(ctx, g)
}

// knapsackStep lets the dynamic programme choose among all slots that hold
// [now, now+length).
func (s *scan) knapsackStep(now, length des.Time, by Criterion, budget int) {
	// The slots that hold it, on nodes that do not need longer and are within the budget alone.
	var offers []offer
	var goods []good  // the same as items
	atLength := false // a slot of a node as slow as the length asks for
	for i := range s.slots {
		u := &s.slots[i]
		if u.start > now {
			break
		}
		if u.own > length || u.last-now < length || (u.last == now && length == 0) {
			continue
		}
		atLength = atLength || u.own == length
		cost := s.tariff.cost(u.price, length)
		if cost > s.tariff.limit {
			continue
		}
		offers = append(offers, offer{cost: cost, length: length, slot: u.slot})
		goods = append(goods, good{
			cost: int(cost), value: by.Value(&s.list[u.slot], now, now+length), must: u.own == length,
		})
	}
	if len(goods) < s.req.Nodes || !atLength {
		return
	}
	s.work.Steps++
	s.work.Subsets++
	s.work.Branches += len(goods) * s.req.Nodes * budget
	chosen, value, ok := knapsackDP(goods, s.req.Nodes, budget)
	if ok && !anyMust(goods, chosen) {
		// The best subset is faster than this length, so it is no window of it.
		chosen, value, ok = knapsackWithMust(goods, s.req.Nodes, budget)
	}
	if !ok {
		return
	}
	s.picks = s.picks[:0]
	for _, i := range chosen {
		s.picks = append(s.picks, offers[i])
	}
	s.keep(s.picks, now, -value)
}

// good is an item of the dynamic programme.
type good struct {
	cost  int     // c_i, in multiples of RoundCosts; 0 or more
	value float64 // z_i
	must  bool    // the choice has to hold one such
}

// anyMust reports whether one of the chosen is such a good.
func anyMust(goods []good, chosen []int) bool {
	for _, i := range chosen {
		if goods[i].must {
			return true
		}
	}
	return false
}

// knapsackDP is DEP18's recurrence
//
//	f_i(C, k) = max{ f_{i-1}(C, k), f_{i-1}(C − c_i, k−1) + z_i }
//
// for exactly n of the goods at a total cost of at most budget. What cannot be
// is its own state (−Inf), never 0: values may be negative.
// O(len(goods) n budget).
func knapsackDP(goods []good, n, budget int) (chosen []int, value float64, ok bool) {
	// State k*width+c is f(c, k): the greatest value of k goods at a cost of at most c. It is 0
	// for no goods, and as yet nothing for more.
	width := budget + 1
	f := make([]float64, (n+1)*width)
	for i := width; i < len(f); i++ {
		f[i] = math.Inf(-1)
	}
	taken := make([]bool, len(goods)*len(f)) // taken[i*len(f)+state]: f_i took good i
	for i, g := range goods {
		took := taken[i*len(f):][:len(f)]
		// From the greatest state on, so that what is read is f_{i-1} still.
		for k := n; k >= 1; k-- {
			for c := budget; c >= g.cost; c-- {
				state := k*width + c
				if v := f[(k-1)*width+c-g.cost] + g.value; v > f[state] {
					f[state], took[state] = v, true
				}
			}
		}
	}
	// Back along what was taken: a good leads to the state of one less, cheaper by its cost.
	state := n*width + budget
	if value = f[state]; math.IsInf(value, -1) {
		return nil, 0, false
	}
	for i := len(goods) - 1; i >= 0; i-- {
		if taken[i*len(f)+state] {
			chosen = append(chosen, i)
			state -= width + goods[i].cost
		}
	}
	return chosen, value, true
}

// knapsackWithMust is knapsackDP for choices that hold a good marked must: each
// of those is taken for sure in turn.
func knapsackWithMust(goods []good, n, budget int) (chosen []int, value float64, ok bool) {
	for i, g := range goods {
		if !g.must || g.cost > budget {
			continue
		}
		rest, more, fits := knapsackDP(slices.Delete(slices.Clone(goods), i, i+1), n-1, budget-g.cost)
		if !fits || (ok && more+g.value <= value) {
			continue
		}
		ok, value, chosen = true, more+g.value, append(chosen[:0], i)
		for _, r := range rest {
			if r >= i {
				r++
			}
			chosen = append(chosen, r)
		}
	}
	return chosen, value, ok
}
