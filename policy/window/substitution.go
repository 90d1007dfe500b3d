// META's substitution: the n cheapest slots of a step, of which the longest tasks
// give way to shorter ones as far as the budget goes.

package window

import (
	"context"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// substitution is META's algorithm 2 at every step of the scan at which it could
// find a better window. Whatever it picks are n usable slots within the budget. So
// where the window is to be better than the best so far, there must be n usable
// slots whose tasks are below the goal's bound, and the n cheapest of those, the
// rivals, must be within the budget. At most steps they are not:
//
//	   tasks below the bound, n = 3     the rivals' cost, budget 9
//	   [==== 2 ====)
//	      [===== 5 =====)
//	         [====== 4 ======)          11
//	             [==== 3 ====)          9, since 5 gives way: the algorithm runs
//	                  [==== 9 ====)     16, since 2 has left
//	--------------------------------> time
//
// The rivals cost what AMP costs. All usable slots are put in the order of cost
// where the algorithm runs, and only there: O(u). It may run in vain, since it is
// no exact search and can miss the rivals.
func (s *scan) substitution(ctx context.Context, g goal) {
	n := s.req.Nodes
	s.usable.reset()
	s.lasting.reset(n)
	s.cheap.reset(n)
	s.brief.reset(n)
	for now, o := range s.offers(ctx) {
		s.usable.add(o)
		s.lasting.add(o.last)
		bound := des.Forever
		if s.best.ok {
			bound = g.bound(s.best.value, now)
		}
		if o.length < bound || !s.best.ok {
			s.cheap.advance(now)
			s.cheap.add(o)
			if g.of == theProcTime {
				s.brief.advance(now)
				s.brief.add(offer{cost: float64(o.length), last: o.last, length: o.length, slot: o.slot})
			}
		}
		if !s.lasting.reach(now) {
			continue
		}
		s.work.Steps++
		if !s.rivals(now, bound) || (g.of == theProcTime && s.best.ok && !s.briefer(now)) {
			continue
		}
		usable := s.usable.at(now)
		cost := totalCost(usable[:n])
		if cost > s.tariff.limit {
			continue
		}
		s.work.Subsets++
		s.picks = append(s.picks[:0], usable[:n]...)
		s.substitute(usable[n:], cost)
		f := figuresOf(s.picks, now)
		s.keep(s.picks, now, g.value(&f))
	}
}

// rivals reports whether there are n usable slots whose tasks are below the bound,
// if there is a best that they have to beat, at a cost within the budget. Longer
// tasks leave only where they are in the way.
func (s *scan) rivals(now, bound des.Time) bool {
	s.cheap.advance(now)
	offers, ok := s.cheap.chosen()
	if ok && s.best.ok && s.within(offers) && slices.ContainsFunc(offers, func(o offer) bool { return o.length >= bound }) {
		s.cheap.shorten(bound)
		s.cheap.advance(now)
		offers, ok = s.cheap.chosen()
	}
	return ok && s.within(offers)
}

// within reports whether offers are within the budget, or so near to it that costs
// added up in another order could be.
func (s *scan) within(offers []offer) bool {
	return totalCost(offers) <= s.tariff.limit*(1+1e-9)
}

// briefer reports whether the n shortest usable tasks take less in all than the
// best so far.
func (s *scan) briefer(now des.Time) bool {
	s.brief.advance(now)
	offers, ok := s.brief.chosen()
	return ok && totalCost(offers) < s.best.value
}

// substitute is algorithm 2. The choice begins with the n cheapest slots, at the
// given cost. Every spare is tried once, the cheapest first: it takes the place of
// the longest task in the choice if its own task is shorter and the budget still
// holds. It ends with the first spare that the budget would not hold even in place
// of the dearest.
func (s *scan) substitute(spares []offer, cost float64) {
	longest := longestOf(s.picks)
	dearest := s.picks[len(s.picks)-1].cost
	for i := range spares {
		spare := &spares[i]
		if (cost-dearest+spare.cost)*(1-1e-9) > s.tariff.limit {
			break
		}
		after := cost - s.picks[longest].cost + spare.cost
		if spare.length < s.picks[longest].length && after <= s.tariff.limit {
			s.picks[longest] = *spare
			cost, dearest = after, spare.cost // no cheaper than those before it
			longest = longestOf(s.picks)
		}
	}
}

func longestOf(offers []offer) int {
	at := 0
	for i := range offers {
		if offers[i].length > offers[at].length {
			at = i
		}
	}
	return at
}

// cheapestOfEach keeps the best of the n cheapest of all steps: META's simplified
// MinProcTime. They change where a slot comes that is among them, and where one of
// them leaves, which can be for the better.
func (s *scan) cheapestOfEach(ctx context.Context, g goal) {
	s.cheap.reset(s.req.Nodes)
	for now, o := range s.offers(ctx) {
		s.cheap.advance(now)
		s.cheap.add(o)
		offers, ok := s.cheap.chosen()
		if !ok {
			continue
		}
		s.work.Steps++
		if f := figuresOf(offers, now); f.cost <= s.tariff.limit {
			s.work.Subsets++
			s.keep(offers, now, g.value(&f))
		}
	}
}

// costOrder puts offers in the order of cost when it is asked for.
type costOrder struct {
	sorted []offer // by cost, then by place; some may have left
	fresh  []offer // those that came since, by place
	merged []offer // scratch
}

func (b *costOrder) reset() { b.sorted, b.fresh = b.sorted[:0], b.fresh[:0] }

func (b *costOrder) add(o offer) { b.fresh = append(b.fresh, o) }

// at are the offers that are usable at now, which is no earlier than before.
func (b *costOrder) at(now des.Time) []offer {
	gone := func(o offer) bool { return o.last < now }
	b.fresh = slices.DeleteFunc(b.fresh, gone)
	slices.SortFunc(b.fresh, func(o, p offer) int {
		if o.before(&p) {
			return -1
		}
		return 1 // no two are the same
	})
	out, fresh := b.merged[:0], b.fresh
	for _, o := range b.sorted {
		if gone(o) {
			continue
		}
		for len(fresh) > 0 && fresh[0].cost < o.cost {
			out, fresh = append(out, fresh[0]), fresh[1:]
		}
		out = append(out, o)
	}
	out = append(out, fresh...)
	b.sorted, b.merged, b.fresh = out, b.sorted, b.fresh[:0]
	return out
}

// lasting are the n offers that can start the latest of all that have come: n are
// usable as long as these are.
type lasting struct {
	n     int
	lasts []des.Time // ascending
}

func (l *lasting) reset(n int) { *l = lasting{n, l.lasts[:0]} }

func (l *lasting) add(last des.Time) {
	at, _ := slices.BinarySearch(l.lasts, last)
	if len(l.lasts) < l.n {
		l.lasts = slices.Insert(l.lasts, at, last)
	} else if at > 0 {
		copy(l.lasts, l.lasts[1:at])
		l.lasts[at-1] = last
	}
}

// reach reports whether n offers are usable at now.
func (l *lasting) reach(now des.Time) bool { return len(l.lasts) == l.n && l.lasts[0] >= now }
