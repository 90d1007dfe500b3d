// Algorithm 2 of META: how AEP's goals MinRunTime, MinFinish and
// MinProcTimeSubstitution form n of the open slots of a step.
//
//  1. Begin with the n cheapest. If they are over the budget there is no choice.
//  2. Take the cheapest of the spare slots, which are the other open ones, off their list.
//  3. If its task is shorter than the longest task of the choice, and the choice is within
//     the budget with it in place of that, it takes the place of it.
//  4. Go on with 2 until no spare slot is left.
//
// META takes the longest task of the choice, and then the spare slot; that is the same.

package window

import (
	"context"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// substitute carries out steps 2 to 4 on the choice, picks, which has that cost. The cheapest
// of the spares comes first.
func (s *scan) substitute(spares []offer, cost float64) {
	for _, spare := range spares {
		longest := &s.picks[longestOf(s.picks)]
		after := cost - longest.cost + spare.cost
		if spare.length < longest.length && after <= s.tariff.limit {
			*longest, cost = spare, after
		}
	}
}

// longestOf is the position of the longest task, of equals the first.
func longestOf(offers []offer) int {
	at := 0
	for i := range offers {
		if offers[i].length > offers[at].length {
			at = i
		}
	}
	return at
}

// substitution is AEP by algorithm 2: at every step the n cheapest of the open slots, then
// substitute, then the better of the result and the best so far.
//
// Whatever the algorithm chooses are n open slots within the budget. So if the choice is to
// be better than the best so far, there must be n open slots whose tasks are below the
// goal's bound, and the n cheapest of those, the rivals, must be within the budget. At
// most steps they are not, and the algorithm need not run; it may run in vain, since it is
// no exact search and can miss the rivals:
//
//	   tasks below the bound, n = 3     the rivals' cost, budget 9
//	   [==== 2 ====)
//	      [===== 5 =====)
//	         [====== 4 ======)          11
//	             [==== 3 ====)          9, since 5 gives way: the algorithm runs
//	                  [==== 9 ====)     16, since 2 has left
//	--------------------------------> time
//
// Without the rivals META's batches on 1,600 nodes take eight times as long.
func (s *scan) substitution(ctx context.Context, g goal) {
	s.cheap.reset(s.req.Nodes)
	s.rivals.reset(s.req.Nodes)
	for now, o := range s.offers(ctx) {
		s.cheap.advance(now)
		s.cheap.add(o)

		// The rivals: tasks below what would be better than the best so far.
		bound := des.Forever
		if s.best.ok {
			bound = g.bound(s.best.value, now)
		}
		if o.length < bound {
			s.rivals.advance(now)
			s.rivals.add(o)
		}

		// Step 1, where it can lead to something better.
		chosen, ok := s.cheap.chosen()
		if !ok {
			continue
		}
		s.work.Steps++
		cost := totalCost(chosen)
		if cost > s.tariff.limit || (s.best.ok && !s.rivalled(now, bound)) {
			continue
		}

		// Steps 2 to 4, and the better of the result and the best so far.
		s.work.Subsets++
		s.picks = append(s.picks[:0], chosen...)
		s.substitute(s.sparesAt(now, cost), cost)
		f := figuresOf(s.picks, now)
		s.keep(s.picks, now, g.value(&f))
	}
}

// rivalled reports whether there are n open slots whose tasks are below the bound at a
// cost within the budget, or so near to it that costs added up in another order could be.
// Longer tasks leave only where they are in the way.
func (s *scan) rivalled(now, bound des.Time) bool {
	within := func(offers []offer) bool { return totalCost(offers) <= s.tariff.limit*(1+1e-9) }
	s.rivals.advance(now)
	offers, ok := s.rivals.chosen()
	if ok && within(offers) && slices.ContainsFunc(offers, func(o offer) bool { return o.length >= bound }) {
		s.rivals.shorten(bound)
		s.rivals.advance(now)
		offers, ok = s.rivals.chosen()
	}
	return ok && within(offers)
}

// sparesAt are the open slots beside the n cheapest, which have that cost, by cost, then
// by place. It leaves out those that substitute cannot take: the budget would not hold them
// in place of the dearest, or their tasks are no shorter than the longest of the n cheapest.
func (s *scan) sparesAt(now des.Time, cost float64) []offer {
	others := cost - s.cheap.best[s.cheap.n-1].cost // what n-1 slots of any later choice cost at least
	longest := s.picks[longestOf(s.picks)].length
	s.spares = s.spares[:0]
	for _, list := range [][]offer{s.cheap.best[s.cheap.n:], s.cheap.rest} {
		for _, o := range list {
			if o.last >= now && o.length < longest && (others+o.cost)*(1-1e-9) <= s.tariff.limit {
				s.spares = append(s.spares, o)
			}
		}
	}
	sortOffers(s.spares)
	return s.spares
}
