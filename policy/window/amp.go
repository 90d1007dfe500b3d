// AMP, the algorithm by maximal job price (AMP11, section 3).
//
// Given a slot list in the order of starts, and a request for n nodes at a total cost of at
// most S:
//
//  1. Take the next slot whose node meets the request and in which a task has room: V/p, its
//     volume by the node's performance.
//  2. Of the open slots, those leave that have less than their task's time left from the
//     start of that slot on. The slot joins the others.
//  3. If the n cheapest of the open slots cost S or less together they are the window, which
//     begins when the slot does. Otherwise go on with 1.

package window

import (
	"context"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// AMP is the algorithm by maximal job price. Without a budget any n open slots will do: it
// takes the first n in the list, whatever they cost. For cheap nodes without a limit, use AEP
// by MinCost.
type AMP struct{ Settings }

// Name returns "amp".
func (AMP) Name() string { return "amp" }

// Find implements plan.Finder. O(m), and now and then a refill of the n
// cheapest.
func (a AMP) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	return AEP{a.Settings, MinStart}.Find(ctx, req, list, until)
}

// nCheapest is the scan of AMP, and of AEP by MinCost: it looks at the n cheapest of the open
// slots whenever a new slot is among them. (Otherwise they start later than before and cost
// no less.) The scan ends when no later window can be better by the goal.
func (s *scan) nCheapest(ctx context.Context, g goal) {
	s.cheap.reset(s.req.Nodes)
	for now, o := range s.offers(ctx) {
		s.cheap.advance(now)
		if !s.cheap.add(o) {
			continue
		}
		s.work.Steps++
		within, sure := s.cheap.within(s.tariff.limit)
		if !within {
			continue
		}
		if sure && g.of == theStart {
			s.keep(s.cheap.best[:s.cheap.n], now, float64(now)) // in whichever order
			break
		}
		offers, _ := s.cheap.chosen()
		f := figuresOf(offers, now)
		if f.cost > s.tariff.limit {
			continue
		}
		s.keep(offers, now, g.value(&f))
		if g.bound(s.best.value, now) <= 0 {
			break
		}
	}
}
