package plan

import (
	"iter"
	"math"
	"math/bits"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// freeNodes is the set of single nodes that are free at the domain's origin, which is the
// present, each with the end of its gap. Most questions to a plan are what fits now, and
// most of those are answered by "too few". So the set is kept, one bit a node, in place of
// a search on each timeline:
//
//	node 1  ####......####      0
//	node 2  ..####.........     1   until the span that follows begins
//	node 3  ...............     1   for ever
//	        ^ origin
//
// A bit is set anew whenever its node's timeline changes, and when a gap that lay
// ahead begins. Only one thing happens by time alone that nobody tells: a span
// that was reserved ahead begins. Such a node keeps its bit until it is looked at
// (freeNow). So the count is never below the number of nodes that are free, and
// fewer than a request wants is a refusal without a search.
type freeNodes struct {
	// free has a bit for each node: set if the node may be free now. count is the number of set
	// bits.
	free  []uint64
	count int
	// until is, for a node whose bit is set, the instant at which its gap ends.
	until []des.Time
	// slowest and fastest are the least and the greatest performance of a node of the domain.
	slowest, fastest float64
}

// newFreeNodes returns the set over these nodes, with no bit set.
func newFreeNodes(nodes []*entity.Node) freeNodes {
	p := freeNodes{free: make([]uint64, (len(nodes)+63)/64), until: make([]des.Time, len(nodes)), slowest: math.Inf(1)}
	for _, n := range nodes {
		p.slowest = min(p.slowest, n.Perf)
		p.fastest = max(p.fastest, n.Perf)
	}
	return p
}

// taskTimes returns how long a task of the given length takes on the fastest node and on the
// slowest one, at least a tick. It spares to compute for most gaps how long it takes on their node.
func (p *freeNodes) taskTimes(length des.Time) (shortest, longest des.Time) {
	shortest = (&entity.Node{Perf: p.fastest}).TaskTime(length)
	longest = (&entity.Node{Perf: p.slowest}).TaskTime(length)
	return max(shortest, des.Tick), max(longest, des.Tick)
}

// updateFree sets or clears the k-th node's bit by its timeline, and reports whether the node is
// free. A node that is counted in a class has no bit.
func (d *Domain) updateFree(k int) (free bool) {
	p, bit := &d.freeNodes, uint64(1)<<(k%64)
	if d.single[k] {
		l := d.busy[k]
		start, end := l.gap(l.after(d.origin))
		free = start <= d.origin && d.origin < end
		p.until[k] = end
	}
	if was := p.free[k/64]&bit != 0; was != free {
		p.free[k/64] ^= bit
		if free {
			p.count++
		} else {
			p.count--
		}
	}
	return free
}

// freeAt yields the singles that are free from the instant t on for at least that long, a tick or
// more, in the order of the nodes, each with the end of its gap. Any t but the present is ahead.
func (d *Domain) freeAt(t, long des.Time) iter.Seq2[int, des.Time] {
	if t == d.origin {
		return d.freeNow(long)
	}
	d.applyOverlay()
	return func(yield func(k int, end des.Time) bool) {
		enough := t.Add(long)
		for _, k := range d.singles {
			l := d.busy[k]
			if start, end := l.gap(l.after(t)); start <= t && end >= enough && !yield(k, end) {
				return
			}
		}
	}
}

// freeAtMost is never less than the number of nodes that are free at the instant t.
func (d *Domain) freeAtMost(t des.Time) int {
	if t == d.origin && len(d.classes) == 0 {
		return d.freeNodes.count
	}
	return len(d.nodes)
}

// freeNow is freeAt for the present: it goes over the set bits, and clears those of nodes whose
// gap has ended by the passing of time.
func (d *Domain) freeNow(long des.Time) iter.Seq2[int, des.Time] {
	return func(yield func(k int, end des.Time) bool) {
		p, enough := &d.freeNodes, d.origin.Add(long)
		for i, word := range p.free {
			for ; word != 0; word &= word - 1 {
				k := i*64 + bits.TrailingZeros64(word)
				if p.until[k] <= d.origin && !d.updateFree(k) {
					continue
				}
				if end := min(p.until[k], d.overlay.from[k]); end >= enough && !yield(k, end) {
					return
				}
			}
		}
	}
}

// fitsNow is FitsAt for the present of a domain without classes. Most refusals are
// for want of nodes, whatever they are wanted for.
func (d *Domain) fitsNow(nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time) {
	if d.freeNodes.count < nodes {
		return false, d.freeNodes.count + 1, 0
	}
	shortest, longest := d.freeNodes.taskTimes(length)
	to, have := d.horizon(), 0
	for k, end := range d.freeNow(shortest) {
		room := min(end, to) - d.origin
		if room < longest && room < d.nodes[k].TaskTime(length) {
			continue
		}
		if have++; have == nodes {
			return true, 0, 0
		}
	}
	return false, have + 1, length
}
