package plan

import (
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// First fit: what a Finder of the trait FirstFit would answer, read off the plan itself. The slots
// come by start, and the first n that are usable side by side are the window:
//
//	node 1  ####....                at t nodes 1 and 3 have room for their
//	node 2  ####################    tasks, and nobody earlier: the window
//	node 3  ........                for two nodes
//	            ^ t
//
// No list of slots is made, and the walk ends with the n-th. Singles that are free
// now come from the present, gaps ahead from their tree. It costs a few steps for
// each gap that begins before the window does, and n more where one of those that
// were usable has become too short meanwhile.
type firstFit struct {
	d   *Domain
	req *entity.Request
	// to is the end of what is looked at, due the latest end of a task, latest the latest start.
	to, due des.Time
	latest  des.Time
	// usable are the gaps that have room for a task that starts at the latest gap's beginning, in
	// the order in which they came. Some may have become too short: soonest bounds when the first
	// one does.
	usable  []usableGap
	soonest des.Time
	// start is the beginning of the latest gap, and the start of the window if it is complete.
	start    des.Time
	complete bool
}

// usableGap is a gap on the node at that position: a task there takes length, and must start by
// last.
type usableGap struct {
	node         int
	length, last des.Time
}

// byFirstFit reports whether firstFit answers req as the finder would.
func (d *Domain) byFirstFit(req *entity.Request) bool {
	return len(d.classes) == 0 && TraitsOf(d.finder(req), req).FirstFit && req.Check() == nil
}

// firstFit finds the first window of req that starts in [from, until].
func (d *Domain) firstFit(req *entity.Request, from, until des.Time) (w entity.Window, ok bool) {
	f := &d.first
	*f = firstFit{
		d: d, req: req, usable: f.usable[:0], soonest: des.Forever,
		to: d.horizon(), due: req.DeadlineLimit(), latest: until,
	}
	if until < from || (until == from && d.freeAtMost(from) < req.Nodes) {
		return w, false
	}
	shortest, _ := d.freeNodes.taskTimes(req.Length)
	for k, end := range d.freeAt(from, shortest) {
		if f.add(gap{from, end, k}) {
			break
		}
	}
	if !f.complete && from < until {
		d.applyOverlay()
		d.sought = gap{start: from, node: len(d.nodes)}
		d.ahead.ScanAfter(&d.sought, f)
	}
	f.req = nil
	if !f.complete {
		return w, false
	}
	w = f.window()
	w.Value = TraitsOf(d.finder(req), req).Worth(&w)
	return w, true
}

func (*firstFit) Skip(struct{}, *struct{}) bool { return false }

// Visit takes gaps ahead in; false ends the walk.
func (f *firstFit) Visit(gaps []gap) bool {
	for _, g := range gaps {
		if g.start > f.latest || g.start >= f.to || f.add(g) {
			return false
		}
	}
	return true
}

// add takes the gap g in, and reports whether the window is complete.
func (f *firstFit) add(g gap) bool {
	n := f.d.nodes[g.node]
	if !f.req.Admits(n) {
		return false
	}
	length := max(n.TaskTime(f.req.Length), des.Tick)
	last := min(g.end, f.to, f.due) - length
	if last < g.start {
		return false
	}
	if f.soonest < g.start {
		f.usable = slices.DeleteFunc(f.usable, func(u usableGap) bool { return u.last < g.start })
		f.soonest = des.Forever
		for _, u := range f.usable {
			f.soonest = min(f.soonest, u.last)
		}
	}
	f.usable = append(f.usable, usableGap{g.node, length, last})
	f.soonest = min(f.soonest, last)
	f.start, f.complete = g.start, len(f.usable) == f.req.Nodes
	return f.complete
}

// window returns the window on the n usable gaps.
func (f *firstFit) window() entity.Window {
	w := entity.Window{Start: f.start, Nodes: len(f.usable), Tasks: make([]entity.Task, len(f.usable))}
	for i, u := range f.usable {
		n := f.d.nodes[u.node]
		w.Tasks[i] = entity.Task{Node: n, End: f.start + u.length}
		w.End = max(w.End, w.Tasks[i].End)
		w.Cost += float64(n.Price * u.length.Seconds())
	}
	return w
}
