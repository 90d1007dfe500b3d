package validate

// Moldable jobs: each runs in one of its shapes.

import (
	"github.com/gridslot/gridslot/entity"
)

// ask is the shape that j's request is.
func (v *Validator) ask(j *entity.Job) entity.Shape {
	s := entity.Shape{Nodes: j.Request.Nodes, Length: j.Request.Length, Runtime: j.Runtime}
	if v.Overrun == entity.OverrunRaise {
		s.Length = max(s.Length, s.Runtime)
	}
	return s
}

// shape takes in the shape in which f, which may be moldable, starts. One that has
// kept work stays in its shape.
func (v *Validator) shape(f *followed) {
	j := f.job
	asked := j.Submitted()
	if len(asked.Shapes) == 0 {
		return
	}
	nodes := j.Reservation.Window.Nodes
	taken, ok := asked.In(nodes)
	switch {
	case !ok:
		v.violation(Unmet, j, "has %d nodes, and no shape of so many", nodes)
		return
	case f.done > 0 && nodes != f.asks.Nodes:
		v.violation(Unmet, j, "has %d nodes, and has kept work of a run on %d", nodes, f.asks.Nodes)
		return
	}
	f.asks = v.ask(taken)
	if j.Request.Nodes != f.asks.Nodes || j.Runtime != f.asks.Runtime {
		v.violation(Unmet, j, "runs for %v on %d nodes, and in that shape it runs for %v", j.Runtime, j.Request.Nodes, f.asks.Runtime)
	}
}
