// Which searches come down to the earliest window where all nodes are equal.

package window

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// On equal nodes all tasks take the same time and cost the same. An early start
// is then an early end; and where a goal does not look at the start, all windows
// are worth the same, of which these searches keep the first. What they do not
// share is Settings.Quantum, which makes tasks longer than the nodes say.

var (
	_ entity.EarliestFinder = ALP{}
	_ entity.EarliestFinder = AMP{}
	_ entity.EarliestFinder = AEP{}
	_ entity.EarliestFinder = Cheapest{}
)

// plain reports whether tasks take what the nodes say, and the settings are
// usable at all.
func (s Settings) plain() bool { return s.Quantum <= des.Tick && s.check() == nil }

// EarliestAmongEquals implements entity.EarliestFinder.
func (a ALP) EarliestAmongEquals() bool { return a.plain() }

// Worth implements entity.EarliestFinder.
func (ALP) Worth(w *entity.Window) float64 { return goal{of: theStart}.plain(w) }

// EarliestAmongEquals implements entity.EarliestFinder.
func (a AMP) EarliestAmongEquals() bool { return a.plain() }

// Worth implements entity.EarliestFinder.
func (AMP) Worth(w *entity.Window) float64 { return goal{of: theStart}.plain(w) }

// EarliestAmongEquals implements entity.EarliestFinder: true but for
// MinProcTimeExact, whose exact search compares sums with some slack.
func (a AEP) EarliestAmongEquals() bool { return a.By != MinProcTimeExact && a.plain() }

// Worth implements entity.EarliestFinder.
func (a AEP) Worth(w *entity.Window) float64 {
	g, err := a.By.goal()
	if err != nil {
		return 0 // Find refuses it
	}
	return g.plain(w)
}

// EarliestAmongEquals implements entity.EarliestFinder: true but for MostWorth,
// which looks at what is free around a window.
func (c Cheapest) EarliestAmongEquals() bool { return c.Goal < MostWorth && c.plain() }

// Worth implements entity.EarliestFinder.
func (c Cheapest) Worth(w *entity.Window) float64 {
	g, err := c.Goal.goal(c.By)
	if err != nil {
		return 0 // Find refuses it
	}
	return g.plain(w)
}
