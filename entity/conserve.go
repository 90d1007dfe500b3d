package entity

// Conservation: what the engine itself counts in every run, whatever the plan says. A
// plan that grants what is taken ends the run.

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// busy is what jobs have of the machine, by the engine's own books.
type busy struct {
	size   int // processors or nodes; 0 where the plan does not tell
	taken  int // by jobs that run
	nodes  map[*Node]task
	holds  []*Hold  // that are not over
	kept   int      // by those of holds that last
	change des.Time // when kept will be another number
}

// task is one of a run's.
type task struct {
	run *Run
	i   int
}

// sizeOf is how many processors or nodes a plan has, 0 where it does not tell.
func sizeOf(p Plan) int {
	switch p := p.(type) {
	case interface{ Processors() int }:
		return p.Processors()
	case interface{ Nodes() []*Node }:
		return len(p.Nodes())
	}
	return 0
}

// withhold takes h in; back takes it out again, before its end.
func (b *busy) withhold(h *Hold) { b.holds, b.change = append(b.holds, h), 0 }

func (b *busy) back(h *Hold) {
	for i, o := range b.holds {
		if o == h {
			b.holds = append(b.holds[:i], b.holds[i+1:]...)
			b.change = 0
			return
		}
	}
}

// recount counts how much nobody may use at the instant at.
func (b *busy) recount(at des.Time) {
	lasting := b.holds[:0]
	b.kept, b.change = 0, des.Forever
	for _, h := range b.holds {
		w := &h.run.Reservation.Window
		if w.End <= at {
			continue
		}
		lasting = append(lasting, h)
		if w.Start > at {
			b.change = min(b.change, w.Start)
			continue
		}
		b.kept += w.Nodes
		b.change = min(b.change, w.End)
	}
	clear(b.holds[len(lasting):])
	b.holds = lasting
}

// conserve checks, at the end of an instant, that jobs have no more of the machine than
// there is of it: whatever ends at an instant makes room for whatever starts at it.
func (m *Metascheduler) conserve() {
	b, at := &m.busy, m.observers.now
	if at >= b.change {
		b.recount(at)
	}
	if b.taken > 0 && b.taken+b.kept > b.size && b.size > 0 {
		m.sim.Fail(fmt.Errorf("at %v, policy %s: jobs have %d of %d processors or nodes, and %d are withheld; %v started last. The plan, %T, has granted what is taken",
			at, m.policy.Name(), b.taken, b.size, b.kept, m.last, m.plan))
	}
}

// occupy checks that nobody else runs on the nodes of r, which begins now.
func (m *Metascheduler) occupy(r *Run) {
	b, now := &m.busy, m.sim.Now()
	if b.nodes == nil {
		b.nodes = map[*Node]task{}
	}
	for i, t := range r.Reservation.Window.Tasks {
		if o := b.nodes[t.Node]; o.run != nil && o.run != r && o.runs(t.Node, now) {
			m.sim.Fail(fmt.Errorf("at %v, policy %s: %v starts on node %d, on which %v runs. The plan, %T, has granted what is taken",
				now, m.policy.Name(), r, t.Node.ID, o.run, m.plan))
		}
		b.nodes[t.Node] = task{r, i}
	}
}

// runs reports whether t is on the node n and goes on behind the instant now.
func (t task) runs(n *Node, now des.Time) bool {
	tasks, ends := t.run.Reservation.Window.Tasks, t.run.Ends()
	return t.run.State == Running && t.i < len(tasks) && tasks[t.i].Node == n && t.i < len(ends) && ends[t.i] > now
}
