// Searches for windows with a rough right edge: ALP and AMP (AMP11), AEP with
// its criteria (META), and CSA.

package window

import (
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// RoughGoal is what AEP and CSA want of a window with a rough right edge. META
// calls its MinProcTime simplified: it takes the n cheapest slots of each step, as
// every scan of AEP holds them, and keeps the best of these by the sum of task
// times. MinProcTimeSubstitution and MinProcTimeExact are ours.
type RoughGoal uint8

const (
	MinStart                RoughGoal = iota // the earliest start: AMP
	MinCost                                  // the lowest cost; exact
	MinRunTime                               // the shortest slowest task, by META's substitution
	MinFinish                                // the earliest end, by META's substitution
	MinProcTime                              // the least sum of task times, among the n cheapest of each step
	MinRunTimeExact                          // the shortest slowest task of all
	MinFinishExact                           // the earliest end of all
	MinProcTimeExact                         // the least sum of task times of all
	MinProcTimeSubstitution                  // the least sum of task times, among the substitution's subsets
)

var roughGoalNames = [...]string{
	"min-start", "min-cost", "min-runtime", "min-finish", "min-proctime",
	"min-runtime-exact", "min-finish-exact", "min-proctime-exact",
	"min-proctime-substitution",
}

func (g RoughGoal) String() string {
	if int(g) < len(roughGoalNames) {
		return roughGoalNames[g]
	}
	return "unknown goal"
}

func (g RoughGoal) goal() (goal, error) {
	figures := [...]figure{theStart, theCost, theLength, theEnd, theProcTime, theLength, theEnd, theProcTime, theProcTime}
	if int(g) >= len(figures) {
		return goal{}, plan.BadInput("there is no goal %d", g)
	}
	return goal{of: figures[g]}, nil
}

// ALP is the algorithm by local price of AMP11. It takes the first n slots, by
// start, whose nodes each cost no more than the request's MaxPrice. If only a
// budget is given, the price is AMP11's C = S/(t n) with t = V/P. If no minimal
// performance P is asked for, P is the performance of the slowest node in the
// list, so that no choice of slots can cost more than the budget. If a price is
// given, ALP does not look at the budget.
type ALP struct{ Settings }

// Name is "alp".
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

// AMP is the algorithm by maximal job price of AMP11. It stops at the first
// moment of the scan at which the n cheapest of the usable slots together cost
// no more than the budget. Without a budget that is as soon as there are n of
// them: it takes the first n in the list, whatever they cost. Who wants cheap
// nodes without a limit asks for MinCost.
type AMP struct{ Settings }

// Name is "amp".
func (AMP) Name() string { return "amp" }

// Find implements plan.Finder. O(m), and now and then a refill of the n
// cheapest.
func (a AMP) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	return AEP{a.Settings, MinStart}.Find(ctx, req, list, until)
}

// AEP is the algorithm of extreme performance of META. It continues the scan of
// AMP to the end of the list and keeps the subset that is best by a criterion,
// the earliest of equals.
type AEP struct {
	Settings
	By RoughGoal
}

// Name is the goal's name.
func (a AEP) Name() string { return a.By.String() }

// Find implements plan.Finder. MinStart and MinCost take as long as AMP. The
// substitution goals take O(m log m), and O(u) with u usable slots at each step
// that could be better than the best before it; MinProcTime takes O(m log m).
// MinRunTimeExact and MinFinishExact take O(m) and some refills; MinProcTimeExact
// is a search by Best.
func (a AEP) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	g, err := a.By.goal()
	if err != nil {
		return plan.Found{}, err
	}
	s, err := newScan(a.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	switch a.By {
	case MinStart, MinCost:
		s.nCheapest(ctx, g)
	case MinRunTime, MinFinish, MinProcTimeSubstitution:
		s.substitution(ctx, g)
	case MinProcTime:
		s.cheapestOfEach(ctx, g)
	case MinRunTimeExact, MinFinishExact:
		s.fastest(ctx, g)
	case MinProcTimeExact:
		g = goal{theWorth, taskTimes{}}
		s.exact(ctx, Best{By: g.by, Rough: true})
	}
	return s.found(ctx, g)
}

// nCheapest looks at the n cheapest usable slots whenever a new slot is among
// them. (Otherwise they start later than before and cost no less.) The scan ends
// when no later window can be better.
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

// fastest finds the window whose slowest task is the fastest of all or, if the
// goal is the end, the window that ends first. Only tasks below the goal's bound
// can make a better window, so the n cheapest of those decide: as long as they
// are within the budget they are the best so far, which lowers the bound, and
// the slowest of them leaves.
func (s *scan) fastest(ctx context.Context, g goal) {
	bound := des.Forever
	s.cheap.reset(s.req.Nodes)
	for now, o := range s.offers(ctx) {
		if s.best.ok {
			if b := g.bound(s.best.value, now); b < bound {
				if bound = b; bound <= 0 {
					break
				}
				s.cheap.shorten(bound)
			}
		}
		if o.length >= bound {
			continue
		}
		s.cheap.advance(now)
		if !s.cheap.add(o) {
			continue
		}
		s.work.Steps++
		for {
			offers, ok := s.cheap.chosen()
			if !ok {
				break
			}
			f := figuresOf(offers, now)
			if f.cost > s.tariff.limit {
				break
			}
			s.work.Subsets++
			s.keep(offers, now, g.value(&f))
			bound = g.bound(s.best.value, now)
			s.cheap.shorten(bound)
			s.cheap.advance(now)
		}
	}
}

// CSA is the common-statistics scheme of META. It finds a window with AMP, cuts
// it out of the slot list, and repeats this until none is left; the answer is
// the best of these windows by a goal. Found.Alternatives says how many windows
// there were.
type CSA struct {
	Settings
	By RoughGoal
}

// Name is "csa", or "csa-" and the goal if that is not MinCost.
func (c CSA) Name() string {
	if c.By == MinCost {
		return "csa"
	}
	return "csa-" + c.By.String()
}

// Find implements plan.Finder.
func (c CSA) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	g, err := c.By.goal()
	if err != nil {
		return plan.Found{}, err
	}
	s, err := newScan(c.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	return s.repeat(ctx, goal{of: theStart}, s.nCheapest, func(w entity.Window) (value, weight float64) {
		value = s.shown(g, &w)
		return value, value
	})
}
