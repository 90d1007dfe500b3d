package entity

// Conservation: what the engine itself counts in every run, whatever the plan says. A
// plan that grants what is taken ends the run.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// busy is what jobs have of the machine, by the engine's own books.
type busy struct {
	size  int // processors or nodes
	taken int // by jobs that run
	nodes map[*Node]task
	holds map[*Hold]bool // of capacity that are not over: true of those that have begun
	edges []edge         // where they begin and end, in order of time
	kept  int            // by those that have begun
}

// edge is the instant at which a hold of capacity begins or ends.
type edge struct {
	at   des.Time
	hold *Hold
}

// task is one of a run's.
type task struct {
	run *Run
	i   int
}

// withhold takes h in.
func (b *busy) withhold(h *Hold) {
	if b.holds == nil {
		b.holds = map[*Hold]bool{}
	}
	b.holds[h] = false
	w := h.Window()
	b.insert(edge{w.Start, h})
	if w.End < des.Forever {
		b.insert(edge{w.End, h})
	}
}

func (b *busy) insert(e edge) {
	i, _ := slices.BinarySearchFunc(b.edges, e.at, func(o edge, at des.Time) int { return cmp.Or(cmp.Compare(o.at, at), -1) })
	b.edges = slices.Insert(b.edges, i, e)
}

// back takes h out again, before its end.
func (b *busy) back(h *Hold) {
	if b.holds[h] {
		b.kept -= h.Window().Nodes
	}
	delete(b.holds, h)
	b.edges = slices.DeleteFunc(b.edges, func(e edge) bool { return e.hold == h })
}

// pass has holds begin and end up to the instant at.
func (b *busy) pass(at des.Time) {
	n := 0
	for ; n < len(b.edges) && b.edges[n].at <= at; n++ {
		h := b.edges[n].hold
		if begun := b.holds[h]; begun {
			b.kept -= h.Window().Nodes
			delete(b.holds, h)
		} else {
			b.kept += h.Window().Nodes
			b.holds[h] = true
		}
	}
	b.edges = slices.Delete(b.edges, 0, n)
}

// due reports whether conserve has anything to do at the end of the instant at: holds of
// capacity begin or end, or more is taken than there is room.
func (b *busy) due(at des.Time) bool {
	return b.taken+b.kept > b.size || len(b.edges) > 0 && b.edges[0].at <= at
}

// conserve checks, at the end of an instant, that jobs have no more of the machine than
// there is of it: whatever ends at an instant makes room for whatever starts at it.
func (m *Metascheduler) conserve() {
	b, at := &m.busy, m.observers.now
	b.pass(at)
	if b.taken > 0 && b.taken+b.kept > b.size {
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
