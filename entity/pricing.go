package entity

import (
	"fmt"
	"iter"
	"math"

	"github.com/gridslot/gridslot/des"
)

// PriceChange sets what one time unit of a node costs from an instant on.
type PriceChange struct {
	Node  *Node
	At    des.Time
	Price float64
}

// PriceSchedule changes owners' prices as time goes by. A price is agreed upon
// when a window is reserved: reservations keep theirs, whatever comes later. (A
// reservation that moves is agreed upon anew.)
//
// It changes the nodes themselves, which must therefore not be shared by
// simulations that run side by side.
type PriceSchedule struct {
	sim    *des.Simulator
	domain *Domain
	meta   *Metascheduler
	next   func() (PriceChange, bool)
	stop   func()
	coming PriceChange
}

// NewPriceSchedule connects price changes with the domain whose nodes they are
// about and the metascheduler that is to know of them.
func NewPriceSchedule(sim *des.Simulator, d *Domain, m *Metascheduler) *PriceSchedule {
	return &PriceSchedule{sim: sim, domain: d, meta: m}
}

// Submit takes changes in order of time, pulled one ahead of the clock. One out
// of order, of a foreign node or to a price that is none ends the run with an
// error.
func (p *PriceSchedule) Submit(changes iter.Seq[PriceChange]) {
	p.Close()
	p.next, p.stop = iter.Pull(changes)
	p.pull()
}

// Close lets go of the changes to come. It is needed only where a run ended
// before they did.
func (p *PriceSchedule) Close() {
	if p.stop != nil {
		p.stop()
	}
	p.next, p.stop = nil, nil
}

func (p *PriceSchedule) pull() {
	c, ok := p.next()
	if !ok {
		p.Close()
		return
	}
	if err := p.check(c); err != nil {
		p.sim.Fail(fmt.Errorf("at %v, a change of price for %v: %w", p.sim.Now(), c.At, err))
		return
	}
	p.coming = c
	p.sim.At(c.At, PhaseLocal, (*priceChanging)(p), 0)
}

func (p *PriceSchedule) check(c PriceChange) error {
	switch _, known := p.domain.index[c.Node]; {
	case !known:
		return fmt.Errorf("its node %v is not of the domain", c.Node)
	case !(c.Price >= 0) || math.IsInf(c.Price, 0):
		return fmt.Errorf("node %d cannot cost %v", c.Node.ID, c.Price)
	case c.At < p.sim.Now():
		return fmt.Errorf("it comes after a later one")
	}
	return nil
}

// priceChanging is the schedule as the kernel sees it.
type priceChanging PriceSchedule

func (h *priceChanging) Handle(*des.Simulator, des.Event) {
	p := (*PriceSchedule)(h)
	if p.coming.Price < p.coming.Node.Price { // to a budget, as good as something given back
		p.meta.freed(p.sim.Now(), des.Forever)
	}
	p.coming.Node.Price = p.coming.Price
	if p.next != nil {
		p.pull()
	}
	if p.meta.queue.Len() > 0 {
		p.meta.wake(CauseLocal)
	}
}
