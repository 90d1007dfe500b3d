package plan

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Pencil: what is reserved ahead is first noted beside the timelines. A policy
// that backfills holds the head's window in every round, asks what fits now beside
// it, and gives it up at the end of the round:
//
//	node 1  ####....[ head ]        a look at the present needs only the
//	node 2  ........[ head ]        start of the note on each node
//	node 3  ######..................
//	        ^ origin
//
// A note costs a few words a node and is rubbed out as quickly; the timelines and
// their gaps are left alone. Whoever looks ahead, or changes what a note lies on,
// has it written into the timelines first (ink): nothing but the speed tells a
// note from what is written. There is one note at a time.
type pencil struct {
	by    *entity.Run // whose note it is; nil where there is none
	start des.Time
	notes []note
	from  []des.Time // by node: start where there is a note, or des.Forever
}

// note is the end of a span on the node at that position.
type note struct {
	node int
	end  des.Time
}

func newPencil(nodes int) pencil {
	p := pencil{from: make([]des.Time, nodes)}
	for k := range p.from {
		p.from[k] = des.Forever
	}
	return p
}

// note is take in pencil: for the span of a window ahead that is reserved as a
// whole.
func (d *Domain) note(k int, s span) (clash span, ok bool) {
	if s.start >= s.end {
		return span{}, true
	}
	l := d.busy[k]
	if i := l.after(s.start); i < len(l) && l[i].start < s.end {
		return l[i], false
	}
	p := &d.pencil
	p.by, p.start = s.by, s.start
	p.notes = append(p.notes, note{k, s.end})
	p.from[k] = s.start
	return span{}, true
}

// erase rubs the notes out.
func (d *Domain) erase() {
	p := &d.pencil
	p.by = nil
	for _, n := range p.notes {
		p.from[n.node] = des.Forever
	}
	p.notes = p.notes[:0]
}

// ink writes the notes into the timelines.
func (d *Domain) ink() {
	p := &d.pencil
	if p.by == nil {
		return
	}
	by := p.by
	p.by = nil
	for _, n := range p.notes {
		p.from[n.node] = des.Forever
		d.take(n.node, span{p.start, n.end, by})
	}
	p.notes = p.notes[:0]
}
