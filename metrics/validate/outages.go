package validate

// Capacity that is withheld, as the online validator sees it.

import (
	"slices"

	"github.com/gridslot/gridslot/entity"
)

// Withheld takes in capacity that leaves the plan.
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

// Returned takes in what comes back of it before its end.
func (v *Validator) Returned(h *entity.Hold) {
	v.move()
	for _, o := range v.c.outages {
		if o.hold == h {
			o.to = min(o.to, max(o.from, v.c.now))
		}
	}
	v.c.outages = slices.DeleteFunc(v.c.outages, func(o *outage) bool { return o.from >= o.to })
}

// move has the validator look at the simulation's clock, since what is told of
// capacity has no time of its own.
func (v *Validator) move() {
	if now := v.meta.Simulator().Now(); now > v.c.now {
		v.settle()
		v.c.advance(now)
	}
}
