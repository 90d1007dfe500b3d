// ALP, the algorithm by local price (AMP11, section 3).
//
// Given a slot list in the order of starts, and a request for n nodes at a price of at most C
// for each node and time unit:
//
//  1. Take the next slot whose node meets the request and costs C or less, and in which a
//     task has room: V/p, its volume by the node's performance.
//  2. Of the open slots, those leave that have less than their task's time left from the
//     start of that slot on. The slot joins the others.
//  3. If n slots are open they are the window, which begins when the slot does. Otherwise go
//     on with 1.

package window

import (
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// ALP is the algorithm by local price. C is the request's MaxPrice. If only a budget S is
// given, C is AMP11's S/(t n) with t = V/P. If no minimal performance P is asked for, P is
// the performance of the slowest node in the list, so that no choice of slots can cost more
// than the budget. If a price is given, ALP does not look at the budget.
type ALP struct{ Settings }

// Name returns "alp".
func (ALP) Name() string { return "alp" }

// Find implements plan.Finder. O(m n).
func (a ALP) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	if req.MaxPrice == 0 && req.Budget > 0 && req.Length > 0 && req.Nodes > 0 && len(list.Slots) > 0 {
		perf := req.MinPerf
		if perf == 0 {
			perf = math.Inf(1)
			for _, s := range list.Slots {
				if s.Node != nil { // newScan refuses a slot without a node
					perf = min(perf, s.Node.Perf)
				}
			}
		}
		req.MaxPrice = localPrice(&req, perf)
	}
	s, err := newScan(a.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	s.tariff = a.tariff(math.Inf(1))
	s.open = s.open[:0]
	for now, o := range s.offers(ctx) {
		s.open = slices.DeleteFunc(s.open, func(o offer) bool { return o.last < now })
		if s.open = append(s.open, o); len(s.open) == req.Nodes {
			s.keep(s.open, now, 0)
			break
		}
	}
	return s.found(ctx, goal{of: theStart})
}

// localPrice is AMP11's C = S/(t n) with t = V/P.
func localPrice(req *entity.Request, perf float64) float64 {
	t := req.Length.Seconds() / perf
	return req.Budget / (t * float64(req.Nodes)) * (1 + plan.Rounding)
}
