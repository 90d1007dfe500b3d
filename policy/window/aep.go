// AEP, the algorithm of extreme performance (META, algorithm 1).
//
//  1. Scan the slot list as AMP does, but to its end.
//  2. At each step, which is a slot that joins the open ones, form n of these within the
//     budget, as good by the goal as the goal's way to form them gives:
//
//     MinStart, MinCost         the n cheapest
//     MinProcTime               the n cheapest
//     MinRunTime, MinFinish     the n cheapest, of which long tasks give way to shorter
//                               ones: algorithm 2 of META (substitution.go)
//     the exact goals           the best n there are
//
//  3. The best of all steps by the goal is the window, of equals the earliest.
//
// A scan ends before the list does where no later step can be better. So AEP by the earliest
// start is AMP.

package window

import (
	"context"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// RoughGoal says which window with a rough right edge AEP and CSA look for. META calls its
// MinProcTime simplified, because it forms no other subset than the n cheapest.
// MinProcTimeSubstitution and the exact goals are ours.
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

// AEP is the algorithm of extreme performance, by a goal.
type AEP struct {
	Settings
	By RoughGoal // what makes a window the best
}

// Name returns the goal's name.
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

// fastest finds the window whose slowest task is the fastest of all or, if the
// goal is the end, the window that ends first. Only tasks below the goal's bound
// can make a better window, so the n cheapest of those decide: as long as they
// are within the budget they are the best so far, which lowers the bound, and
// the slowest of them leaves.
func (s *scan) fastest(ctx context.Context, g goal) {
	bound := des.Forever
	s.cheap.reset(s.req.Nodes)
	for now, o := range s.offers(ctx) {
		// The bound falls with time where the goal is the end: a later start leaves less.
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
				break // there are fewer than n such tasks
			}
			f := figuresOf(offers, now)
			if f.cost > s.tariff.limit {
				break // nor are any other n of them within the budget
			}
			s.work.Subsets++
			s.keep(offers, now, g.value(&f))
			bound = g.bound(s.best.value, now)
			s.cheap.shorten(bound)
			s.cheap.advance(now)
		}
	}
}
