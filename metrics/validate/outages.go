package validate

// Capacity that is withheld, as the online validator sees it.

import (
	"slices"

	"github.com/gridslot/gridslot/entity"
)

// Withheld implements entity.CapacityObserver: h leaves the plan, now or at a later instant.
// Counted processors are one outage; named nodes are one each, because their ends may differ.
func (v *Validator) Withheld(h *entity.Hold) {
	v.move()
	w := h.Window()
	if w.Tasks == nil {
		v.c.outages = append(v.c.outages, &outage{hold: h, from: w.Start, to: w.End, count: w.Nodes, place: h.Where().Set})
	}
	for _, t := range w.Tasks {
		v.c.outages = append(v.c.outages, &outage{hold: h, from: w.Start, to: t.End, nodes: []*entity.Node{t.Node}})
	}
}

// Returned implements entity.CapacityObserver: the withheld capacity h comes back before its end.
// An outage that has not begun never happens.
func (v *Validator) Returned(h *entity.Hold) {
	v.move()
	for _, o := range v.c.outages {
		if o.hold == h {
			o.to = min(o.to, max(o.from, v.c.now))
		}
	}
	v.c.outages = slices.DeleteFunc(v.c.outages, func(o *outage) bool { return o.from >= o.to })
}

// move looks at the simulation's clock, because what is told of capacity has no time of its own.
func (v *Validator) move() {
	if now := v.meta.Simulator().Now(); now > v.c.now {
		v.settle()
		v.c.advance(now)
	}
}
