// Which searches come down to the earliest window where all nodes are equal.

package window

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// On equal nodes all tasks take the same time and cost the same. An early start
// is then an early end; and where a goal does not look at the start, all windows
// are worth the same, of which these searches keep the first. What they do not
// share is Settings.Quantum, which makes tasks longer than the nodes say.

var (
	_ plan.FirstFinder    = ALP{}
	_ plan.FirstFinder    = AMP{}
	_ plan.FirstFinder    = AEP{}
	_ plan.EarliestFinder = Cheapest{}
)

// plain reports whether tasks take what the nodes say, and the settings are
// usable at all.
func (s Settings) plain() bool { return s.Quantum <= des.Tick && s.check() == nil }

// first reports whether a scan that ends with the first window takes the first
// slots that have room: nothing binds what they cost.
func (s Settings) first(req *entity.Request) bool {
	return req.Budget == 0 && s.RoundCosts == 0 && s.plain()
}

// TakesFirst implements plan.FirstFinder.
func (a ALP) TakesFirst(req *entity.Request) bool { return a.first(req) }

// TakesFirst implements plan.FirstFinder.
func (a AMP) TakesFirst(req *entity.Request) bool { return a.first(req) }

// TakesFirst implements plan.FirstFinder.
func (a AEP) TakesFirst(req *entity.Request) bool { return a.By == MinStart && a.first(req) }

// EarliestAmongEquals implements plan.EarliestFinder.
func (a ALP) EarliestAmongEquals() bool { return a.plain() }

// Worth implements plan.EarliestFinder.
func (ALP) Worth(w *entity.Window) float64 { return goal{of: theStart}.plain(w) }

// EarliestAmongEquals implements plan.EarliestFinder.
func (a AMP) EarliestAmongEquals() bool { return a.plain() }

// Worth implements plan.EarliestFinder.
func (AMP) Worth(w *entity.Window) float64 { return goal{of: theStart}.plain(w) }

// EarliestAmongEquals implements plan.EarliestFinder: true but for
// MinProcTimeExact, whose exact search compares sums with some slack.
func (a AEP) EarliestAmongEquals() bool { return a.By != MinProcTimeExact && a.plain() }

// Worth implements plan.EarliestFinder.
func (a AEP) Worth(w *entity.Window) float64 {
	g, err := a.By.goal()
	if err != nil {
		return 0 // Find refuses it
	}
	return g.plain(w)
}

// EarliestAmongEquals implements plan.EarliestFinder: true but for MostWorth,
// which looks at what is free around a window.
func (c Cheapest) EarliestAmongEquals() bool { return c.Goal < MostWorth && c.plain() }

// Worth implements plan.EarliestFinder.
func (c Cheapest) Worth(w *entity.Window) float64 {
	g, err := c.Goal.goal(c.By)
	if err != nil {
		return 0 // Find refuses it
	}
	return g.plain(w)
}
