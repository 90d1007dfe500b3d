// The square window search of DEP18 with the n cheapest slots at each step:
// FirstFit, MinFinish, MinRuntime, MinCost, the Lite forms, and MultipleBest.
//
// A square window lasts as long as its slowest node needs, so there is one pass
// over the slot list for each distinct task time L (each distinct performance),
// the shortest first:
//
//	        L
//	    |------|
//	 [==########=====)        node as slow as L asks for
//	[===########==)           faster node, held as long
//	      ######)             too short: not in the list
//
// A pass also meets subsets without a node as slow as L. They are no windows of
// length L, and none is missed by leaving them out: the pass of their own,
// shorter length has met them.

package window

import (
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// SquareGoal is what Cheapest wants of a square window.
type SquareGoal uint8

const (
	FirstFit    SquareGoal = iota // the earliest start; the shortest of those
	LeastEnd                      // MinFinish: the earliest end
	LeastTime                     // MinRuntime: the shortest
	LeastCost                     // MinCost: the lowest cost
	MostWorth                     // a Lite form: the greatest worth by the criterion
	squareGoals                   // how many there are
)

// Cheapest is the square window search that takes the n cheapest slots at each
// step. By is the criterion of MostWorth.
type Cheapest struct {
	Settings
	Goal SquareGoal
	By   Criterion
}

// Name is DEP18's name of the goal.
func (c Cheapest) Name() string {
	switch c.Goal {
	case FirstFit:
		return "first-fit"
	case LeastEnd:
		return "min-finish"
	case LeastTime:
		return "min-runtime"
	case LeastCost:
		return "min-cost"
	}
	if _, ok := c.By.(Q); ok {
		return "maxq-lite"
	}
	return criterionName(c.By) + "-lite"
}

// Find implements entity.Finder. O(m) for each distinct performance, and a
// refill of the n cheapest now and then.
func (c Cheapest) Find(ctx context.Context, req entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	if c.Goal >= squareGoals || (c.Goal == MostWorth && c.By == nil) {
		return entity.Found{}, badInput("the square search has no goal")
	}
	s, err := newScan(c.Settings, req, list, until)
	if err != nil {
		return entity.Found{}, err
	}
	defer s.done()
	by := withDefaults(c.By, c.Settings)
	if err := s.square(ctx, c.Goal, by); err != nil {
		return entity.Found{}, err
	}
	return s.foundSquare(c.Goal, by), nil
}

// foundSquare makes the window of the best subset.
func (s *scan) foundSquare(goal SquareGoal, by Criterion) entity.Found {
	return s.found(func(w *entity.Window) float64 {
		switch goal {
		case FirstFit:
			return w.Start.Seconds()
		case LeastEnd:
			return w.End.Seconds()
		case LeastTime:
			return w.Length().Seconds()
		case LeastCost:
			return w.Cost
		}
		return s.worth(by, s.best, w.Start, w.End)
	})
}

// worth is the reported value of holding the offers' slots for [start, end).
func (s *scan) worth(by Criterion, offers []offer, start, end des.Time) float64 {
	sum := 0.0
	for i := range offers {
		sum += by.Value(&s.list[offers[i].slot], start, end)
	}
	return reported(by, sum)
}

// usableSlot is a slot that could hold a task on its own node's terms.
type usableSlot struct {
	start, end des.Time
	last       des.Time // when a task must have ended
	own        des.Time // what a task takes on this node
	price, q   float64
	slot       int32
}

// square runs a pass for each length.
func (s *scan) square(ctx context.Context, goal SquareGoal, by Criterion) error {
	s.admit()
	for _, length := range s.lengths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if goal == LeastTime && s.bestOK {
			break // the passes to come are longer
		}
		s.pass(length, goal, by)
	}
	return ctx.Err()
}

// onset is an instant at which slots of admissible nodes start.
type onset struct {
	at  des.Time
	own des.Time // the least task time of these nodes
}

// admit lists the slots that could hold a task, the distinct task times, and
// the instants at which a window may start.
func (s *scan) admit() {
	s.slots, s.lengths, s.onsets = s.slots[:0], s.lengths[:0], s.onsets[:0]
	for i := range s.list {
		slot := &s.list[i]
		if slot.Start > s.until {
			break
		}
		s.work.Slots++
		if !s.req.Admits(slot.Node) {
			continue
		}
		u := usableSlot{
			start: slot.Start,
			end:   slot.End,
			last:  min(slot.End, s.due),
			own:   s.set.taskTime(slot.Node, s.req.Length),
			price: slot.Node.Price,
			q:     slot.Node.Q,
			slot:  int32(i),
		}
		if k := len(s.onsets) - 1; k >= 0 && s.onsets[k].at == u.start {
			s.onsets[k].own = min(s.onsets[k].own, u.own)
		} else {
			s.onsets = append(s.onsets, onset{u.start, u.own})
		}
		if u.last-u.start < u.own {
			continue
		}
		s.slots = append(s.slots, u)
		if k, known := slices.BinarySearch(s.lengths, u.own); !known {
			s.lengths = slices.Insert(s.lengths, k, u.own)
		}
	}
}

// pass looks for windows of one length.
func (s *scan) pass(length des.Time, goal SquareGoal, by Criterion) {
	s.cheap.reset(s.req.Nodes)
	changed := false
	for i := range s.slots {
		u := &s.slots[i]
		now := u.start
		if u.own <= length && u.last-now >= length {
			if s.bestOK && !better(goal, now, length, s.bestAt, s.bestVal) {
				return
			}
			o := offer{cost: s.tariff.cost(u.price, length), last: u.last - length, length: u.own, slot: u.slot}
			if o.cost <= s.tariff.limit {
				s.cheap.advance(now)
				// Worth changes with the start even where the choice does not.
				changed = s.cheap.add(o) || changed || goal == MostWorth
			}
		}
		more := i+1 < len(s.slots) && s.slots[i+1].start == now
		if more || !changed {
			continue
		}
		changed = false
		s.work.Steps++
		if s.step(now, length, goal, by) && goal == FirstFit {
			return
		}
	}
}

// better reports whether a window of the pass at now or later can still beat
// the best so far.
func better(goal SquareGoal, now, length, bestAt des.Time, bestVal float64) bool {
	switch goal {
	case FirstFit:
		return now < bestAt
	case LeastEnd:
		return float64(now+length) < bestVal
	case LeastTime:
		return float64(length) < bestVal
	}
	return true
}

// step weighs the n cheapest slots for [now, now+length) and reports whether
// they are the best so far.
func (s *scan) step(now, length des.Time, goal SquareGoal, by Criterion) bool {
	offers, ok := s.cheap.chosen()
	if !ok {
		return false
	}
	cost, longest := 0.0, des.Time(0)
	for i := range offers {
		cost += offers[i].cost
		longest = max(longest, offers[i].length)
	}
	if cost > s.tariff.limit || longest < length {
		return false
	}
	s.work.Subsets++
	value := cost
	switch goal {
	case LeastEnd:
		value = float64(now + length)
	case LeastTime:
		value = float64(length)
	case MostWorth:
		value = 0
		for i := range offers {
			value -= by.Value(&s.list[offers[i].slot], now, now+length)
		}
	}
	if s.bestOK && (value > s.bestVal || (value == s.bestVal && now >= s.bestAt)) && goal != FirstFit {
		return false
	}
	s.keep(offers, now, value)
	for i := range s.best {
		s.best[i].length = length
	}
	return true
}

// MultipleBest repeats FirstFit, each window cut out of the slot list, until
// none is left, and returns the one that is worth most to By (DEP18's
// MultipleBest). Found.Alternatives says how many there were.
type MultipleBest struct {
	Settings
	By Criterion
}

// Name is "multiple-best-" and the criterion's name.
func (m MultipleBest) Name() string { return "multiple-best-" + criterionName(m.By) }

// Find implements entity.Finder.
func (m MultipleBest) Find(ctx context.Context, req entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	if m.By == nil {
		return entity.Found{}, badInput("MultipleBest has no criterion")
	}
	s, err := newScan(m.Settings, req, list, until)
	if err != nil {
		return entity.Found{}, err
	}
	defer s.done()
	by := withDefaults(m.By, m.Settings)
	best, bestWorth, windows := entity.Found{}, math.Inf(-1), 0
	s.left = append(s.left[:0], list.Slots...)
	for {
		s.list, s.bestOK = s.left, false
		if err := s.square(ctx, FirstFit, nil); err != nil {
			return entity.Found{}, err
		}
		if !s.bestOK {
			break
		}
		windows++
		found := s.foundSquare(FirstFit, nil)
		w := &found.Window
		// What was cut off before counts as a neighbour only if it stays: the
		// alternatives are not chosen together, so distances are those in the
		// list as it was given.
		worth, err := s.worthIn(list.Slots, by, w)
		if err != nil {
			return entity.Found{}, err
		}
		if worth > bestWorth {
			best, bestWorth = found, worth
			best.Window.Value = reported(by, worth)
		}
		if w.Length() <= des.Tick {
			break // takes next to nothing away: there would be no end of them
		}
		if s.left, err = s.cut.subtract(s.left, w); err != nil {
			return entity.Found{}, err
		}
	}
	best.Work, best.Alternatives = s.work, windows
	return best, nil
}

// worthIn is the worth of w in a slot list that may differ from the searched one.
func (s *scan) worthIn(list []entity.Slot, by Criterion, w *entity.Window) (float64, error) {
	sum, met := 0.0, 0
	for i := range list {
		slot := &list[i]
		if slot.Start > w.Start || met == len(w.Tasks) {
			break
		}
		if slot.End < w.End {
			continue
		}
		for k := range w.Tasks {
			if w.Tasks[k].Node == slot.Node {
				sum += by.Value(slot, w.Start, w.End)
				met++
				break
			}
		}
	}
	if met < len(w.Tasks) {
		return 0, badInput("the window at %v does not lie in the slot list", w.Start)
	}
	return sum, nil
}

func criterionName(by Criterion) string {
	switch by.(type) {
	case nil:
		return "none"
	case Q:
		return "q"
	case DEP:
		return "dep"
	case COORD:
		return "coord"
	}
	if named, ok := by.(interface{ Name() string }); ok {
		return named.Name()
	}
	return "custom"
}
