package plantest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// model is the list of all that is taken from a plan: slow, and too simple to be wrong. Nodes that
// are equal are one class; counted processors are a class, too.
type model struct {
	size []int // nodes by class
	held []*holding
	left []remnant
	// nodes and classes are of a plan with Tasks: its nodes, and the class of each
	// by its ID.
	nodes   []*entity.Node
	classes map[int]int
}

// holding is an active reservation.
type holding struct {
	run      *entity.Run
	window   entity.Window // as it must be
	begun    bool
	settled  bool       // its nodes are final
	quiet    bool       // it is a hold of which nobody tells the plan that it begins
	withheld bool       // it is no job's
	ended    []des.Time // when each task was given back, or des.Forever
}

// GoString returns the text by which rapid shows a holding that was drawn.
func (h *holding) GoString() string { return fmt.Sprintf("of %v: %s", h.run, windowText(h.window)) }

// remnant is the capacity that a reservation still holds for a while after its release, because it
// was released from a later instant on.
type remnant struct {
	run          *entity.Run
	class, nodes int
	node         *entity.Node // on a plan with Tasks
	named        bool         // the node is final
	from, to     des.Time
}

// newModel finds out what a plan consists of by the slots of the empty plan.
func newModel(slots []entity.Slot) (*model, error) {
	m := &model{classes: map[int]int{}}
	for _, s := range slots {
		switch {
		case s.Node == nil:
			if len(m.nodes) > 0 || len(m.size) > 0 {
				return nil, fmt.Errorf("the empty plan must have one slot of counted processors or one for each node: %s", spans(slots))
			}
			m.size = []int{s.Width}
		case len(m.nodes) == 0 && len(m.size) > 0:
			return nil, fmt.Errorf("a plan has either counted processors or nodes: %s", spans(slots))
		default:
			if _, twice := m.classes[s.Node.ID]; twice {
				return nil, fmt.Errorf("the empty plan has two slots of node %d, or two nodes of that ID: %s", s.Node.ID, spans(slots))
			}
			c := slices.IndexFunc(m.nodes, func(n *entity.Node) bool { return n.Alike(s.Node) })
			if c >= 0 {
				c = m.classes[m.nodes[c].ID]
			} else {
				c = len(m.size)
				m.size = append(m.size, 0)
			}
			m.size[c]++
			m.nodes = append(m.nodes, s.Node)
			m.classes[s.Node.ID] = c
		}
	}
	if len(m.size) == 0 {
		return nil, fmt.Errorf("the empty plan has nothing that is free at 0")
	}
	return m, nil
}

func (m *model) counted() bool { return len(m.nodes) == 0 }

// total returns the number of nodes.
func (m *model) total() (n int) {
	for _, s := range m.size {
		n += s
	}
	return n
}

// parts yields what w takes: so many nodes of a class until an instant.
func (m *model) parts(w entity.Window, yield func(class, nodes, task int, end des.Time)) {
	if m.counted() {
		yield(0, w.Nodes, 0, w.End)
		return
	}
	for i, t := range w.Tasks {
		yield(m.classes[t.Node.ID], 1, i, t.End)
	}
}

// end is when the i-th part of h, which ends at the instant end, is over.
func (h *holding) end(i int, end des.Time) des.Time {
	if h.ended == nil {
		return end
	}
	return min(end, h.ended[i])
}

// free returns the number of nodes of a class that are free at the instant t, without the nodes
// that except holds.
func (m *model) free(class int, t des.Time, except *holding) int {
	free := m.size[class]
	for _, h := range m.held {
		if h == except || t < h.window.Start {
			continue
		}
		m.parts(h.window, func(c, nodes, i int, end des.Time) {
			if c == class && t < h.end(i, end) {
				free -= nodes
			}
		})
	}
	for _, l := range m.left {
		if l.class == class && l.from <= t && t < l.to {
			free -= l.nodes
		}
	}
	return free
}

// room reports whether w can be taken beside all but except.
func (m *model) room(w entity.Window, except *holding) bool {
	for class := range m.size {
		for t := w.Start; t < w.End; t++ {
			need := 0
			m.parts(w, func(c, nodes, _ int, end des.Time) {
				if c == class && t < end {
					need += nodes
				}
			})
			if need == 0 {
				break // its parts begin together
			}
			if m.free(class, t, except) < need {
				return false
			}
		}
	}
	return true
}

// single reports whether each class that w takes nodes of has one node only, so
// that room for w is room on the nodes that it names.
func (m *model) single(w entity.Window) bool {
	single := true
	m.parts(w, func(c, _, _ int, _ des.Time) { single = single && (m.counted() || m.size[c] == 1) })
	return single
}

// earliest is the first start in [from, until] of a window for n counted
// processors and a length that ends by the deadline.
func (m *model) earliest(n int, length, from, until, deadline des.Time, except *holding) (des.Time, bool) {
	last := from // from here on all is free
	for _, h := range m.held {
		last = max(last, h.window.End)
	}
	for _, l := range m.left {
		last = max(last, l.to)
	}
	for t := from; t <= min(until, last); t++ {
		if t.Add(length) <= deadline && n <= m.total() && m.room(entity.Window{Start: t, End: t.Add(length), Nodes: n}, except) {
			return t, true
		}
	}
	return 0, false
}

// rises reports whether at any instant in (from, to] more nodes of a class are
// free than just before, and whether anything that was taken ends then, which may
// be the same or not: another window may begin where one ends.
func (m *model) rises(from, to des.Time) (more, ends bool) {
	for t := from + 1; t <= to; t++ {
		for class := range m.size {
			more = more || m.free(class, t, nil) > m.free(class, t-1, nil)
		}
	}
	m.each(func(r remnant) { ends = ends || (r.from < r.to && from < r.to && r.to <= to) })
	return more, ends
}

// each yields everything that is taken.
func (m *model) each(yield func(remnant)) {
	for _, h := range m.held {
		m.parts(h.window, func(c, nodes, i int, end des.Time) {
			yield(m.part(h, c, nodes, i, h.end(i, end)))
		})
	}
	for _, l := range m.left {
		yield(l)
	}
}

// part returns the capacity that the i-th part of h takes until the instant to.
func (m *model) part(h *holding, class, nodes, i int, to des.Time) remnant {
	r := remnant{run: h.run, class: class, nodes: nodes, from: h.window.Start, to: to}
	if !m.counted() {
		r.node, r.named = h.window.Tasks[i].Node, h.settled
	}
	return r
}

// clash finds a node that two have at once, of those that have been named.
func (m *model) clash() error {
	var all []remnant
	m.each(func(r remnant) {
		if r.named {
			all = append(all, r)
		}
	})
	for i, a := range all {
		for _, b := range all[:i] {
			if a.node == b.node && max(a.from, b.from) < min(a.to, b.to) {
				return fmt.Errorf("node %d is taken over [%s, %s) and over [%s, %s)", a.node.ID, tick(a.from), tick(a.to), tick(b.from), tick(b.to))
			}
		}
	}
	return nil
}

// release takes h out; what it goes on holding until the instant at is left.
func (m *model) release(h *holding, at des.Time) {
	m.held = slices.DeleteFunc(m.held, func(o *holding) bool { return o == h })
	m.parts(h.window, func(c, nodes, i int, end des.Time) {
		if l := m.part(h, c, nodes, i, min(h.end(i, end), at)); l.from < l.to {
			l.named = l.named && !h.withheld // nobody asks which of equal nodes it is any more
			m.left = append(m.left, l)
		}
	})
}

// tick is an instant as a number of ticks.
func tick(t des.Time) string {
	if t == des.Forever {
		return "forever"
	}
	return fmt.Sprint(int64(t))
}

// spans is a list of slots for a reader.
func spans(slots []entity.Slot) string {
	var b strings.Builder
	for i, s := range slots {
		if i == 12 {
			fmt.Fprintf(&b, " and %d more", len(slots)-i)
			break
		}
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "[%s, %s)", tick(s.Start), tick(s.End))
		if s.Node != nil {
			fmt.Fprintf(&b, " on %d", s.Node.ID)
		} else {
			fmt.Fprintf(&b, " x%d", s.Width)
		}
	}
	if len(slots) == 0 {
		return "nothing"
	}
	return b.String()
}

// windowText is a window for a reader.
func windowText(w entity.Window) string {
	if w.Tasks == nil {
		return fmt.Sprintf("[%s, %s) x%d", tick(w.Start), tick(w.End), w.Nodes)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s, %s) on", tick(w.Start), tick(w.End))
	for _, t := range w.Tasks {
		if t.Node == nil {
			b.WriteString(" nil")
			continue
		}
		fmt.Fprintf(&b, " %d", t.Node.ID)
		if t.End != w.End {
			fmt.Fprintf(&b, " until %s", tick(t.End))
		}
	}
	return b.String()
}

// requestText is a request for a reader.
func requestText(r entity.Request) string {
	text := fmt.Sprintf("%d for %s", r.Nodes, tick(r.Length))
	if r.MinPerf > 0 {
		text += fmt.Sprintf(", performance %g", r.MinPerf)
	}
	if r.Budget > 0 {
		text += fmt.Sprintf(", budget %g", r.Budget)
	}
	if r.MaxPrice > 0 {
		text += fmt.Sprintf(", price %g", r.MaxPrice)
	}
	if r.Deadline > 0 {
		text += ", by " + tick(r.Deadline)
	}
	return text
}
