package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/entity"

	"github.com/gridslot/gridslot/des"
)

// A node is separated from its class, the nodes that are equal to it. Reservations ahead
// of a class are only counted; now it must be chosen which of them are this node's.
// Whatever it takes, the nodes that stay must have room for the rest. They have if,
// wherever all nodes of the class are taken, the separated one is among them:
//
//	taken 3 |      ####     ####          "full": one part of what lies there
//	      2 |   ########  ########        must go with the node
//	      1 |##########################
//	        +---------------------------> time
//	separated ......[part].......[part]..
//
// So a choice is a chain of parts, none overlapping the one before, with no
// full instant in between. Chains are searched backwards in time, and the one
// is taken that has the fewest parts in the way of the span for which the node is
// separated (its pin). Without a pin there always is one. A single node can thus be told apart
// exactly and fast; to colour all nodes around several pins at once is hard
// (precolouring extension of interval graphs), and counts spare us that.

// part is a piece of one reservation that a separated node may take: one task's time.
type part struct {
	start, end des.Time            // not before the present
	by         *entity.Run         // that reserved it
	r          *entity.Reservation // nil for what nobody holds any more
	task       int
	// Of the best chain from this part on: how many parts are in the way of the
	// pin, and which part is next, or -1.
	cost, next int
}

// impossible is the cost of a chain with a part in the way that does not yield.
const impossible = math.MaxInt32

// separation is the set of parts that a node may take when it is separated from its
// class, and the best chain among them.
type separation struct {
	parts []part // by start
	full  []span // when no node of the class is free, by start
	since des.Time
	first int // of the best chain; -1 where there is nothing to take
	cost  int
}

// separation lists the parts that the k-th node may take from its class c.
func (d *Domain) separation(c *class, k int) *separation {
	f := &separation{since: max(d.origin, d.on[k].end)}
	for _, r := range d.live {
		if r.Settled {
			continue
		}
		start, tasks := max(r.Window.Start, d.origin), r.Window.Tasks
		for i := 0; i < len(tasks); {
			_, n, of := d.run(tasks, i)
			for t := i; t < i+n && of == c && tasks[i].End > start; t++ {
				if !d.idle(r, t) {
					f.parts = append(f.parts, part{start: start, end: tasks[i].End, by: r.Run, r: r, task: t})
					break // of those that are alike one is enough
				}
			}
			i += n
		}
	}
	c.remains = slices.DeleteFunc(c.remains, func(s span) bool { return s.end <= d.origin })
	for i, s := range c.remains {
		f.parts = append(f.parts, part{start: max(s.start, d.origin), end: s.end, by: s.by, task: i})
	}
	slices.SortStableFunc(f.parts, func(a, b part) int { return cmp.Compare(a.start, b.start) })
	at := d.origin
	for s := range c.plan.Slots(d.origin, des.Forever) {
		if s.Start > at {
			f.full = append(f.full, span{start: at, end: s.Start})
		}
		at = s.End
	}
	if at < des.Forever {
		f.full = append(f.full, span{start: at, end: des.Forever})
	}
	return f
}

// choose finds the chain with the fewest parts in the way of pin, all of which
// yield; it reports whether there is one.
func (f *separation) choose(pin span, yields func(*entity.Run) bool) bool {
	for i := len(f.parts) - 1; i >= 0; i-- {
		p := &f.parts[i]
		p.next, p.cost = f.after(p.end)
		if p.start < pin.end && pin.start < p.end {
			if p.r == nil || !yields(p.by) {
				p.cost = impossible
			}
			p.cost = min(p.cost+1, impossible)
		}
	}
	f.first, f.cost = f.after(f.since)
	return f.cost < impossible
}

// after is the best chain from the instant t on: its first part, and its cost.
// Of equal ones it is the one that begins the latest.
func (f *separation) after(t des.Time) (first, cost int) {
	i := timeline(f.full).after(t)
	if i == len(f.full) {
		return -1, 0 // nothing need be taken any more
	}
	full := max(t, f.full[i].start)
	j, _ := slices.BinarySearchFunc(f.parts, t, func(p part, t des.Time) int { return cmp.Compare(p.start, t) })
	first, cost = -1, impossible
	for ; j < len(f.parts) && f.parts[j].start <= full; j++ {
		if p := &f.parts[j]; p.end > full && p.cost <= cost {
			first, cost = j, p.cost
		}
	}
	return first, cost
}

// separate makes the k-th node, counted so far, a single on which [pin.start,
// pin.end) is taken only by jobs that yield, and by as few of them as can be. It
// changes nothing and returns false where that cannot be.
func (d *Domain) separate(k int, pin span, yields func(*entity.Run) bool) bool {
	c, on := d.classOf[k], d.on[k]
	if on.end > d.origin && on.start < pin.end && pin.start < on.end && !yields(on.by) {
		return false
	}
	f := d.separation(c, k)
	if !f.choose(pin, yields) {
		return false
	}
	c.counted = without(c.counted, k)
	c.plan.grow(-1)
	d.single[k] = true
	d.singles = including(d.singles, k)
	d.on[k] = span{}
	d.updateFree(k)
	d.moveSpan(c, k, on)
	for i := f.first; i >= 0; i = f.parts[i].next {
		d.movePart(c, k, &f.parts[i])
	}
	c.remains = slices.DeleteFunc(c.remains, func(s span) bool { return s.by == nil })
	d.renameSeparated(c, k)
	switch len(c.counted) {
	case 0:
		d.classes = slices.DeleteFunc(d.classes, func(other *class) bool { return other == c })
	case 1:
		d.separate(c.counted[0], span{}, nil) // with no pin it always can
	}
	d.rejoin = d.origin // it may come back when it has nothing of its own ahead
	return true
}

// moveSpan moves s from the counts of c to the k-th node's timeline.
func (d *Domain) moveSpan(c *class, k int, s span) {
	if s.end > d.origin && s.start < s.end {
		c.plan.add(s.start, s.end, 1)
		d.take(k, s)
	}
}

// movePart moves p to the k-th node.
func (d *Domain) movePart(c *class, k int, p *part) {
	if p.r == nil {
		s := &c.remains[p.task]
		d.moveSpan(c, k, *s)
		s.by = nil // separate drops it
		return
	}
	tasks := p.r.Window.Tasks
	d.moveSpan(c, k, span{p.r.Window.Start, p.end, p.by})
	if i := d.named(p.r, k); i >= 0 {
		tasks[i].Node = tasks[p.task].Node
	}
	tasks[p.task].Node = d.nodes[k]
}

// renameSeparated puts another node of class c in the place of the k-th, which has been
// separated, in the tasks of reservations that have nothing on it.
func (d *Domain) renameSeparated(c *class, k int) {
	for _, r := range d.live {
		i := d.named(r, k)
		if i < 0 || r.Settled || d.idle(r, i) {
			continue
		}
		if _, has := d.spanOf(r.Run, k, r.Window.Start); has {
			continue
		}
		tasks := r.Window.Tasks
		for _, other := range c.counted {
			t := d.named(r, other)
			if t < 0 {
				tasks[i].Node = d.nodes[other]
				break
			}
			if d.idle(r, t) || tasks[t].End <= d.origin {
				tasks[i].Node, tasks[t].Node = tasks[t].Node, tasks[i].Node
				break
			}
		}
	}
}

// named is the position of r's task on the k-th node, or -1.
func (d *Domain) named(r *entity.Reservation, k int) int {
	return slices.IndexFunc(r.Window.Tasks, func(t entity.Task) bool { return t.Node == d.nodes[k] })
}

// roomInClass is room for a node that is counted: the first instant from which
// on a choice of what it takes along leaves it free. Such an instant is from
// itself or an end of something.
func (d *Domain) roomInClass(k int, from, length des.Time, yields func(*entity.Run) bool) des.Time {
	f := d.separation(d.classOf[k], k)
	on := d.on[k]
	starts := []des.Time{from, on.end}
	for _, p := range f.parts {
		starts = append(starts, p.end)
	}
	slices.Sort(starts)
	for _, t := range slices.Compact(starts) {
		pin := span{start: t, end: t.Add(length)}
		if t < from || (pin.start < on.end && on.start < pin.end && !yields(on.by)) {
			continue
		}
		if f.choose(pin, yields) {
			return t
		}
	}
	return des.Forever
}
