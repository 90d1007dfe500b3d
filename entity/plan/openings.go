package plan

// What a cluster can offer to brokers.

import (
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Opening is a slot of a cluster: Nodes processors that are free over [Start,
// Start+Length), in which as many tasks of a job can run there.
type Opening struct {
	Nodes  int      // number of processors, 1 or more
	Start  des.Time // when the opening begins
	Length des.Time // of a task on this cluster
}

// Finish returns when tasks that take the opening end.
func (o Opening) Finish() des.Time { return o.Start.Add(o.Length) }

// Openings appends to list the earliest slots for that many tasks of the given length, none
// before from, by start. All of them can be taken together: no two slots share a processor at
// the same time. The list ends when all tasks have a place; a job that prefers an early end can
// use no more.
//
//	free |          ______
//	     |      ___|  2   |__       tasks of length L; slot 2 is as wide as
//	     |_____|  |_______|         what slot 1 leaves over all of [s2, s2+L)
//	     |  1     |
//	     s1---L---s2---L----> time
func (c *Cluster) Openings(list []Opening, nodes int, length, from des.Time) []Opening {
	first, ok := c.find(1, length, from, des.Forever, des.Forever)
	if !ok {
		return list
	}
	p := &c.ahead
	p.begin(c, first)
	for i := 0; nodes > 0; {
		if i == len(p.spans) {
			if !p.more() {
				break
			}
			continue
		}
		start := p.spans[i].at
		end := start.Add(length)
		for p.spans[len(p.spans)-1].at < end && p.more() {
		}
		width, full, j := nodes, -1, i
		for ; j < len(p.spans) && p.spans[j].at < end; j++ {
			width = min(width, p.spans[j].free)
			if p.spans[j].free == 0 {
				full = j
			}
		}
		if full >= 0 {
			i = full + 1 // no task can begin before
			continue
		}
		list = append(list, Opening{Nodes: width, Start: start, Length: length})
		nodes -= width
		p.take(i, j, end, width)
	}
	return list
}

// outlook is the free processors of a cluster from an instant on, as far as
// they have been looked at, as an array: what is listed is taken out of it, and
// not of the plan.
type outlook struct {
	of    *profile
	next  int // block
	spans []level
}

func (p *outlook) begin(c *Cluster, at des.Time) {
	k, i := c.locate(at + des.Tick)
	p.of, p.next = &c.profile, k
	p.spans = append(p.spans[:0], level{at, c.before(k, i).free})
	p.gather(i)
}

// more looks further ahead; false where there is no level left.
func (p *outlook) more() bool { return p.gather(0) }

// gather adds the next block from its i-th level on.
func (p *outlook) gather(i int) bool {
	if p.next == len(p.of.blocks) {
		return false
	}
	b := &p.of.blocks[p.next]
	p.next++
	for _, l := range b.levels[i:] {
		p.spans = append(p.spans, level{l.at, l.free + b.base})
	}
	return true
}

// take removes that many processors from the spans from i to before j, up to end.
func (p *outlook) take(i, j int, end des.Time, nodes int) {
	if j == len(p.spans) || p.spans[j].at > end {
		p.spans = slices.Insert(p.spans, j, level{end, p.spans[j-1].free})
	}
	for k := i; k < j; k++ {
		p.spans[k].free -= nodes
	}
}
