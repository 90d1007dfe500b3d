// The square window search of DEP18 that takes the n cheapest slots at each step:
// FirstFit, MinFinish, MinRuntime, MinCost, the Lite forms, and MultipleBest.
//
//  1. A square window lasts as long as its slowest node needs. So there is a pass over the
//     slot list for each distinct task time L, that is for each distinct performance, the
//     shortest first.
//  2. A pass takes the slots, by start, of nodes no slower than L asks for, in which L has
//     room. Of the open slots, those leave of which less than L is left from the start of
//     the new one on. The new slot joins the others.
//  3. If the n cheapest of the open slots are within the budget for L, and one of them is on a
//     node that needs L, they are a window from the newest start on.
//  4. The best of all these by the goal is the answer, of equals the earliest.
//
//	        L
//	    |------|
//	 [==########=====)        a node so slow that a task takes L
//	[===########==)           a faster node, which is held for L as well
//	  [=########)             a slot that just has room for L
//
// A pass also meets subsets in which no node is slow enough to need L. They are
// no windows of length L, so the pass leaves them out. No window is missed by
// that: the pass of the subset's own, shorter length has met it.

package window

import (
	"context"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// SquareGoal says which square window Cheapest looks for.
type SquareGoal uint8

const (
	FirstFit  SquareGoal = iota // the earliest start, and the shortest of those
	LeastEnd                    // MinFinish: the earliest end
	LeastTime                   // MinRuntime: the shortest
	LeastCost                   // MinCost: the lowest cost
	MostWorth                   // a Lite form: the greatest worth by the criterion
)

func (g SquareGoal) goal(by Criterion) (goal, error) {
	figures := [...]figure{theStart, theEnd, theLength, theCost, theWorth}
	if int(g) >= len(figures) || (g == MostWorth && by == nil) {
		return goal{}, plan.BadInput("the square search has no goal")
	}
	return goal{of: figures[g], by: by}, nil
}

// Cheapest is the square window search that takes the n cheapest slots at each
// step. By is the criterion of MostWorth.
type Cheapest struct {
	Settings
	Goal SquareGoal // what makes a window the best
	By   Criterion  // the criterion of MostWorth
}

// Name is DEP18's name of the goal.
func (c Cheapest) Name() string {
	if c.Goal < MostWorth {
		return [...]string{"first-fit", "min-finish", "min-runtime", "min-cost"}[c.Goal]
	}
	return mostName(c.By) + "-lite"
}

// Find implements plan.Finder. O(m) for each distinct performance, and now and
// then a refill of the n cheapest.
func (c Cheapest) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	g, err := c.Goal.goal(c.By)
	if err != nil {
		return plan.Found{}, err
	}
	s, err := newScan(c.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	if g.by, err = s.criterion(g.by, list); err != nil {
		return plan.Found{}, err
	}
	s.square(ctx, g)
	return s.found(ctx, g)
}

// square makes a pass for each length.
func (s *scan) square(ctx context.Context, g goal) {
	s.admit()
	for _, length := range s.lengths {
		if ctx.Err() != nil {
			return
		}
		s.pass(length, g)
	}
}

// pass looks for windows of one length, until none that starts later can be
// better than the best so far. As DEP18's step 3c it weighs a window at every slot
// that comes in, also where several begin together: the n cheapest of the first
// few of them are another choice than the n cheapest of all.
func (s *scan) pass(length des.Time, g goal) {
	s.cheap.reset(s.req.Nodes)
	weighed := des.Time(-1)
	for i := range s.slots {
		u := &s.slots[i]
		now := u.start
		if u.own <= length && u.last-now >= length {
			if s.best.ok {
				// Of equally good windows the earliest is wanted.
				if b := g.bound(s.best.value, now); b < length || (b == length && now >= s.best.start) {
					return
				}
			}
			// It is held, and paid, for all of the length. Its own task time tells whether a choice
			// has a node that needs the length (step).
			o := offer{cost: s.tariff.cost(u.price, length), last: u.last - length, length: u.own, slot: u.slot}
			if o.cost <= s.tariff.limit {
				s.cheap.advance(now)
				if !s.cheap.add(o) && (g.of != theWorth || now == weighed) {
					continue
				}
				weighed = now // a worth changes with the start, even if the choice does not
				s.work.Steps++
				s.step(now, length, g)
			}
		}
	}
}

// step weighs the n cheapest slots for [now, now+length).
func (s *scan) step(now, length des.Time, g goal) {
	if within, _ := s.cheap.within(s.tariff.limit); !within {
		return
	}
	offers, _ := s.cheap.chosen()
	f := figuresOf(offers, now)
	if f.cost > s.tariff.limit || f.end-now < length { // or no node needs all of the length
		return
	}
	s.work.Subsets++
	if g.of == theWorth {
		sum := 0.0
		for i := range offers {
			sum += g.by.Value(&s.list[offers[i].slot], now, f.end)
		}
		f.worth = sum
	}
	// In a square window each task holds its node as long as the slowest.
	if s.keep(offers, now, g.value(&f)) {
		for i := range s.best.offers {
			s.best.offers[i].length = length
		}
	}
}

// MultipleBest finds a window with FirstFit, cuts it out of the slot list, and repeats this
// until none is left. The answer is the window that is worth most to By (DEP18's
// MultipleBest). Found.Alternatives is the number of windows.
type MultipleBest struct {
	Settings
	By Criterion // what a slot adds to a window's worth
}

// Name returns "multiple-best-" and the criterion's name.
func (m MultipleBest) Name() string { return "multiple-best-" + criterionName(m.By) }

// Find implements plan.Finder.
func (m MultipleBest) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	if m.By == nil {
		return plan.Found{}, plan.BadInput("MultipleBest has no criterion")
	}
	s, err := newScan(m.Settings, req, list, until)
	if err != nil {
		return plan.Found{}, err
	}
	defer s.done()
	by, err := s.criterion(m.By, list)
	if err != nil {
		return plan.Found{}, err
	}
	return s.repeat(ctx, goal{of: theStart}, s.square, func(w entity.Window) (value, weight float64) {
		// The alternatives are not chosen together: a window that was cut out
		// before is no neighbour. So distances are those in the list as given.
		worth := worthIn(list.Slots, by, &w)
		return reported(by, worth), -worth
	})
}

// worthIn is the worth of the window w in a slot list that w lies in.
func worthIn(list []entity.Slot, by Criterion, w *entity.Window) float64 {
	sum, met := 0.0, 0 // met counts the tasks whose slots have been found
	for i := range list {
		slot := &list[i]
		if slot.Start > w.Start || met == len(w.Tasks) {
			break
		}
		if slot.End < w.End {
			continue
		}
		if slices.ContainsFunc(w.Tasks, func(t entity.Task) bool { return t.Node == slot.Node }) {
			sum += by.Value(slot, w.Start, w.End)
			met++
		}
	}
	return sum
}
