package plan

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// overlay is the latest reservation ahead, kept beside the timelines of the nodes. A
// policy that backfills holds the head's window in every round, asks what fits now beside
// it, and gives it up at the end of the round:
//
//	node 1  ####....[ head ]        a question about the present needs only
//	node 2  ........[ head ]        the start of the span on each node
//	node 3  ######..................
//	        ^ origin
//
// A span of the overlay costs a few words and is removed as quickly; the timelines and
// their gaps are left alone. A question about a time ahead, or a change of what lies under
// the overlay, writes the overlay into the timelines first (applyOverlay): the answers are
// the same, only the speed differs. Invariant: the overlay has one reservation or none.
type overlay struct {
	by    *entity.Run // that has the reservation; nil where the overlay is empty
	start des.Time
	spans []overlaySpan
	from  []des.Time // by node: start where there is a span, or des.Forever
}

// overlaySpan is a span of the overlay: from overlay.start to end, on the node at that
// position.
type overlaySpan struct {
	node int
	end  des.Time
}

func newOverlay(nodes int) overlay {
	p := overlay{from: make([]des.Time, nodes)}
	for k := range p.from {
		p.from[k] = des.Forever
	}
	return p
}

// addToOverlay is take into the overlay: for a span of a window ahead that is reserved as
// a whole.
func (d *Domain) addToOverlay(k int, s span) (clash span, ok bool) {
	if s.start >= s.end {
		return span{}, true
	}
	l := d.busy[k]
	if i := l.after(s.start); i < len(l) && l[i].start < s.end {
		return l[i], false
	}
	p := &d.overlay
	p.by, p.start = s.by, s.start
	p.spans = append(p.spans, overlaySpan{k, s.end})
	p.from[k] = s.start
	return span{}, true
}

// clearOverlay removes the reservation from the overlay.
func (d *Domain) clearOverlay() {
	p := &d.overlay
	p.by = nil
	for _, n := range p.spans {
		p.from[n.node] = des.Forever
	}
	p.spans = p.spans[:0]
}

// applyOverlay writes the reservation of the overlay into the timelines.
func (d *Domain) applyOverlay() {
	p := &d.overlay
	if p.by == nil {
		return
	}
	by := p.by
	p.by = nil
	for _, n := range p.spans {
		p.from[n.node] = des.Forever
		d.take(n.node, span{p.start, n.end, by})
	}
	p.spans = p.spans[:0]
}
