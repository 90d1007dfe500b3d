package entity

// Conservation: what the engine itself counts in every run, whatever the plan says. A
// plan that grants what is taken ends the run.

import (
	"cmp"
	"fmt"

	"github.com/emirpasic/gods/maps/treemap"

	"github.com/gridslot/gridslot/des"
)

// busy is the engine's own record of the processors or nodes that jobs hold. Invariant at the end
// of each instant: taken is 0, or taken + kept <= size.
type busy struct {
	size  int // processors or nodes
	taken int // by jobs that run
	nodes map[*Node]task
	kept  int          // withheld
	steps *treemap.Map // by instant: how many more are withheld from then on, which kept does not count yet; nil where nothing ever was
}

// task is one of a run's.
type task struct {
	run *Run
	i   int
}

// withhold takes h in, and back takes it out again, before its end.
func (b *busy) withhold(h *Hold) { b.hold(h.Window(), 1) }
func (b *busy) back(h *Hold)     { b.hold(h.Window(), -1) }

func (b *busy) hold(w Window, sign int) {
	if b.steps == nil {
		b.steps = treemap.NewWith(func(a, b any) int { return cmp.Compare(a.(des.Time), b.(des.Time)) })
	}
	b.step(w.Start, sign*w.Nodes)
	b.step(w.End, -sign*w.Nodes)
}

// step adds more to what is withheld from the instant at on.
func (b *busy) step(at des.Time, more int) {
	if others, there := b.steps.Get(at); there {
		more += others.(int)
	}
	b.steps.Put(at, more)
}

// due reports whether conserve has anything to do at the end of the instant at: capacity is
// withheld or comes back, or more is taken than there is room.
func (b *busy) due(at des.Time) bool {
	if b.steps == nil {
		return b.taken > b.size
	}
	next, _ := b.steps.Min()
	return b.taken+b.kept > b.size || next != nil && next.(des.Time) <= at
}

// pass counts what is withheld at the instant at.
func (b *busy) pass(at des.Time) {
	for b.steps != nil {
		next, more := b.steps.Min()
		if next == nil || next.(des.Time) > at {
			return
		}
		b.kept += more.(int)
		b.steps.Remove(next)
	}
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
