// What is known of each search's answers before it searches: see plan.Traits.

package window

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// On equal nodes all tasks take the same time and cost the same. An early start is then an
// early end; and where a goal does not look at the start, all windows are worth the same,
// of which a search keeps the first. So the searches for a figure of the window itself
// come down to the earliest window. What they do not share is Settings.Quantum, which
// makes tasks longer than the nodes say.

// traits are those of a search for a goal: no trait for settings that Find refuses.
func (s Settings) traits(req *entity.Request, g goal) plan.Traits {
	if s.check() != nil {
		return plan.Traits{}
	}
	t := plan.Traits{Sign: g.sign()}
	if s.Quantum <= des.Tick {
		t.Earliest = g.of != theWorth
		t.Complete = (req.Budget == 0 || s.RoundCosts == 0) && (g.of != theWorth || kindOf(g.by).finite())
		t.Worth = worths[g.of]
	}
	return t
}

// firstFit reports whether a scan that ends with the first window takes the first slots
// that have room: nothing binds what they cost.
func (s Settings) firstFit(req *entity.Request) bool {
	return s.Quantum <= des.Tick && s.check() == nil && req.Budget == 0 && s.RoundCosts == 0
}

// sign returns plan.Traits.Sign of the goal: figures are to be small, except worths and
// figures that are shown with their sign changed, which are to be large.
func (g goal) sign() int {
	if g.of == theWorth && reported(g.by, 1) > 0 {
		return 1
	}
	return -1
}

// worths are the functions that return a window's figure as it is shown, for each figure but
// theWorth.
var worths = [...]func(*entity.Window) float64{
	theStart:    func(w *entity.Window) float64 { return goal{of: theStart}.plain(w) },
	theEnd:      func(w *entity.Window) float64 { return goal{of: theEnd}.plain(w) },
	theLength:   func(w *entity.Window) float64 { return goal{of: theLength}.plain(w) },
	theProcTime: func(w *entity.Window) float64 { return goal{of: theProcTime}.plain(w) },
	theCost:     func(w *entity.Window) float64 { return goal{of: theCost}.plain(w) },
	theWorth:    nil,
}

// Traits returns the traits of AMP; but a price limit for each node can refuse a window that
// the budget would hold.
func (a ALP) Traits(req *entity.Request) plan.Traits {
	t := AMP(a).Traits(req)
	t.Complete = t.Complete && req.Budget == 0
	return t
}

// Traits returns the traits of AEP for the earliest start.
func (a AMP) Traits(req *entity.Request) plan.Traits {
	return AEP{a.Settings, MinStart}.Traits(req)
}

// Traits returns the traits of the goal. Among equal nodes every goal but MinProcTimeExact
// leads to the earliest window; the exact search of MinProcTimeExact compares sums with some
// slack.
func (a AEP) Traits(req *entity.Request) plan.Traits {
	g, err := a.By.goal()
	if err != nil {
		return plan.Traits{} // Find refuses it
	}
	t := a.traits(req, g)
	t.Earliest = t.Earliest && a.By != MinProcTimeExact
	t.FirstFit = a.By == MinStart && a.firstFit(req)
	return t
}

// Traits returns the traits of AEP without Earliest and FirstFit: which window CSA takes
// depends on all its windows.
func (c CSA) Traits(req *entity.Request) plan.Traits {
	t := AEP(c).Traits(req)
	t.Earliest, t.FirstFit = false, false
	return t
}

// Traits returns the traits of the goal: every goal but MostWorth, which looks at what is
// free around a window, leads to the earliest window among equal nodes.
func (c Cheapest) Traits(req *entity.Request) plan.Traits {
	g, err := c.Goal.goal(c.By)
	if err != nil {
		return plan.Traits{} // Find refuses it
	}
	t := c.traits(req, g)
	t.Square = true
	return t
}

// Traits returns the traits of a search for the greatest worth.
func (m MultipleBest) Traits(req *entity.Request) plan.Traits {
	return Cheapest{m.Settings, MostWorth, m.By}.Traits(req)
}

// Traits returns the traits of a search for the greatest worth.
func (b Best) Traits(req *entity.Request) plan.Traits {
	t := Cheapest{b.Settings, MostWorth, b.By}.Traits(req)
	t.Square = !b.Rough
	return t
}

// Traits returns the traits of a search for the greatest worth. The search misses subsets
// that are within the budget only by a fraction.
func (k KnapsackDP) Traits(req *entity.Request) plan.Traits {
	t := Cheapest{k.Settings, MostWorth, k.By}.Traits(req)
	t.Complete = false
	return t
}

// Traits returns the traits of Finder for the shape of windows and for which of two is
// preferred, and nothing about the earliest window, which may span nodes of several values.
func (w Within) Traits(req *entity.Request) plan.Traits {
	t := plan.TraitsOf(w.Finder, req)
	return plan.Traits{Square: t.Square, Sign: t.Sign}
}
