// CSA, the scheme of common statistics (META), and what it shares with MultipleBest.
//
//  1. Find a window by AMP, and cut it out of the slot list.
//  2. Do so again until there is none.
//  3. The best of these windows by the goal is the answer, of equals the first.

package window

import (
	"context"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// CSA is the scheme of common statistics, by a goal. Found.Alternatives says how many windows
// there were.
type CSA struct {
	Settings
	By RoughGoal // which of the windows is the answer
}

// Name returns "csa", or "csa-" and the goal if that is not MinCost.
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

// repeat finds a window with first, cuts it out of the slot list, and does so
// again until no window is left. It returns the window of the least weight, the
// first of equals, with the value to show that weigh gives it, and says how many
// windows there were.
func (s *scan) repeat(ctx context.Context, g goal, first func(context.Context, goal), weigh func(entity.Window) (value, weight float64)) (plan.Found, error) {
	var best plan.Found
	least, windows := 0.0, 0
	s.left = append(s.left[:0], s.list...)
	for {
		s.list, s.best.ok = s.left, false
		first(ctx, g)
		found, err := s.found(ctx, g)
		if err != nil {
			return plan.Found{}, err
		}
		if !found.OK {
			break
		}
		windows++
		if value, weight := weigh(found.Window); windows == 1 || weight < least {
			best, least = found, weight
			best.Window.Value = value
		}
		if found.Window.Length() <= des.Tick {
			break // It takes next to nothing away, so there would be no end of them.
		}
		if s.left, err = s.cut.subtract(s.left, &found.Window); err != nil {
			return plan.Found{}, err
		}
	}
	best.Work, best.Alternatives = s.work, windows
	return best, nil
}
