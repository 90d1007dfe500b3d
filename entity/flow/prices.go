package flow

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// PriceChange sets what one time unit of a node costs from an instant on.
type PriceChange struct {
	Node  *entity.Node // a node of the plan
	At    des.Time     // from when on the price holds
	Price float64      // per time unit, from 0 to entity.MostPrice
}

// PriceSchedule changes owners' prices at given times. A price is agreed upon when a window
// is reserved: later changes do not touch the reservation. (A reservation that moves gets
// the prices of that moment.)
//
// It changes the nodes themselves, which must therefore not be shared by simulations that
// run side by side.
type PriceSchedule struct {
	stream[PriceChange]
	plan OwnedPlan
	meta *entity.Metascheduler
}

// NewPriceSchedule connects price changes with a plan and with the metascheduler that is
// told of them.
func NewPriceSchedule(p OwnedPlan, m *entity.Metascheduler) *PriceSchedule {
	return &PriceSchedule{plan: p, meta: m}
}

// Submit takes changes in order of time, pulled one ahead of the clock. A change that is out
// of order, of a foreign node, or to an invalid price ends the run with an error.
func (p *PriceSchedule) Submit(changes iter.Seq[PriceChange]) {
	p.begin(p.meta.Simulator(), changes, des.Feed[PriceChange]{
		At:    func(c PriceChange) des.Time { return c.At },
		Phase: entity.PhaseChange,
		Check: p.check,
		Do:    func(c PriceChange) { reprice(p.meta, p.plan, c) },
	})
}

func (p *PriceSchedule) check(c PriceChange) error {
	now := p.meta.Simulator().Now()
	_, known := p.plan.Number(c.Node)
	var err error
	switch {
	case !known:
		err = fmt.Errorf("its node %v is not of the domain", c.Node)
	case !(c.Price >= 0) || math.IsInf(c.Price, 0):
		err = fmt.Errorf("node %d cannot cost %v", c.Node.ID, c.Price)
	case c.At < now:
		err = errors.New("it comes after a later one")
	}
	if err != nil {
		return fmt.Errorf("at %v, a change of price for %v: %w", now, c.At, err)
	}
	return nil
}

// reprice changes a price now, and gives waiting jobs a round.
func reprice(m *entity.Metascheduler, p OwnedPlan, c PriceChange) {
	from, to := des.Time(0), des.Time(0)
	if c.Price < c.Node.Price { // to a budget, as good as something given back
		from, to = m.Simulator().Now(), des.Forever
	}
	m.Advance()
	if err := p.Reprice(c.Node, c.Price); err != nil {
		m.Simulator().Fail(err)
		return
	}
	m.Changed(from, to)
}
