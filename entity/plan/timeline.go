package plan

import (
	"slices"

	"github.com/gridslot/gridslot/entity"

	"github.com/gridslot/gridslot/des"
)

// Timelines: what is taken of each single, a node that a Domain keeps by name.
// Spans are stored, gaps follow from them; those that lie ahead are also kept in
// one tree by start, so that no search need sort them.

// span is [start, end) of one node, taken by a run.
type span struct {
	start, end des.Time
	by         *entity.Run
}

// timeline is the list of spans at which one node is taken. Invariant: spans are by start, and do
// not overlap.
type timeline []span

// after returns the position of the first span that ends after t.
func (l timeline) after(t des.Time) int {
	lo, hi := 0, len(l)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if l[mid].end <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// gap returns what is free in front of the i-th span, behind the last one for i = len(l). It may
// be empty.
func (l timeline) gap(i int) (start, end des.Time) {
	end = des.Forever
	if i > 0 {
		start = l[i-1].end
	}
	if i < len(l) {
		end = l[i].start
	}
	return start, end
}

// gap is a free span of the node at that position.
type gap struct {
	start, end des.Time
	node       int
}

// gapAlgebra orders gaps in a sumtree by start, ties by node.
type gapAlgebra struct{ unsummed[gap] }

func (gapAlgebra) Before(a, b *gap) bool {
	return a.start < b.start || (a.start == b.start && a.node < b.node)
}

// unsummed is the part of an algebra that sums nothing up, for sumtrees that only keep an order.
type unsummed[E any] struct{}

func (unsummed[E]) Summarise([]E) struct{}                         { return struct{}{} }
func (unsummed[E]) Join([]struct{}) struct{}                       { return struct{}{} }
func (unsummed[E]) Detail(*struct{}, []E)                          {}
func (unsummed[E]) JoinDetails(*struct{}, []struct{}, []*struct{}) {}

// spanOf returns the position of the span of j on the k-th node that began at start; ok is false if
// the node has no such span.
func (d *Domain) spanOf(j *entity.Run, k int, start des.Time) (i int, ok bool) {
	l := d.busy[k]
	i = l.after(start)
	return i, i < len(l) && l[i].start == start && l[i].by == j
}

// take adds s to the k-th node's spans, or returns the one that is in the way.
func (d *Domain) take(k int, s span) (clash span, ok bool) {
	if s.start >= s.end {
		return span{}, true // a task that takes no time takes no node
	}
	if d.overlay.from[k] < s.end {
		d.applyOverlay()
	}
	l := &d.busy[k]
	past := l.after(d.origin)
	*l = slices.Delete(*l, 0, past)
	i := l.after(s.start)
	if i < len(*l) && (*l)[i].start < s.end {
		return (*l)[i], false
	}
	d.unlist(k, i)
	*l = slices.Insert(*l, i, s)
	d.list(k, i)
	d.list(k, i+1)
	d.updateFree(k)
	return span{}, true
}

// cut ends the k-th node's i-th span at the instant at; one that has not begun
// by then goes altogether.
func (d *Domain) cut(k, i int, at des.Time) {
	l := &d.busy[k]
	s := &(*l)[i]
	switch {
	case at >= s.end:
	case at > s.start:
		d.unlist(k, i+1)
		s.end = at
		d.list(k, i+1)
	default:
		d.unlist(k, i)
		d.unlist(k, i+1)
		*l = slices.Delete(*l, i, i+1)
		d.list(k, i)
	}
	d.updateFree(k)
}

// list keeps the k-th node's i-th gap among those ahead; unlist takes it out
// before it changes.
func (d *Domain) list(k, i int) {
	if start, end := d.busy[k].gap(i); start < end && start > d.origin {
		d.sought = gap{start, end, k}
		d.ahead.Put(&d.sought)
	}
}

func (d *Domain) unlist(k, i int) {
	if start, end := d.busy[k].gap(i); start < end && start > d.origin {
		d.sought = gap{start, end, k}
		d.ahead.Remove(&d.sought)
	}
}

// gapsAhead appends to list the singles' gaps that are free within [from, to)
// and begin no later than latest, by start, ties in the order of the nodes.
func (d *Domain) gapsAhead(list []gap, from, to, latest des.Time) []gap {
	for k, end := range d.freeAt(from, des.Tick) {
		if end = min(end, to); from < end {
			list = append(list, gap{from, end, k})
		}
	}
	if from == latest {
		return list
	}
	d.walk = gapWalk{list, to, latest}
	d.sought = gap{start: from, node: len(d.nodes)}
	d.ahead.ScanAfter(&d.sought, &d.walk)
	return d.walk.list
}

// gapWalk gathers gaps ahead.
type gapWalk struct {
	list       []gap
	to, latest des.Time
}

func (*gapWalk) Skip(struct{}, *struct{}) bool { return false }

// Visit takes in gaps by start, and ends the walk at the first one that begins too late.
func (w *gapWalk) Visit(gaps []gap) bool {
	for _, g := range gaps {
		if g.start > w.latest || g.start >= w.to {
			return false
		}
		w.list = append(w.list, gap{g.start, min(g.end, w.to), g.node})
	}
	return true
}
