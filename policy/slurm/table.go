package slurm

import (
	"maps"
	"math/bits"
	"slices"
)

// interval is a part of backfill's table, from begin to end in seconds of the host's clock: the nodes and the
// licences that are in no plan over that time.
type interval struct {
	begin, end int64
	free       nodeSet
	licenses   map[string]int // nil: licences are not planned
	// more tells in which words of the sets the next interval has nodes free that this one has not: bit w%64 is set if
	// any word w has. Most plans are on a few nodes, so that most words need not be compared. Invariant: 0 for the last interval.
	more uint64
}

// The table is node_space of plugins/sched/backfill/backfill.c.

// need is the nodes and the licences that a plan takes.
type need struct {
	nodes    nodeSet
	licenses []Amount
}

// take takes a need from the interval, and reports whether all of its nodes were free. These are in the words first to last-1.
func (i *interval) take(n need, first, last int) (allFree bool) {
	nodes, free, lacking := n.nodes[first:last], i.free[first:last], uint64(0)
	for w, word := range nodes {
		lacking |= word &^ free[w]
		free[w] &^= word
	}
	if i.licenses != nil {
		for _, l := range n.licenses {
			i.licenses[l.Kind] = max(0, i.licenses[l.Kind]-l.Count)
		}
	}
	return lacking == 0
}

// licensed reports whether these licences are in no plan over the interval.
func (i *interval) licensed(amounts []Amount) bool {
	return i.licenses == nil || !slices.ContainsFunc(amounts, func(l Amount) bool { return i.licenses[l.Kind] < l.Count })
}

// table is the table of plans of a run of backfill: intervals that cover the window of the run. Invariant: each
// interval begins where the interval before it ends. The first may come to be empty, for a plan that begins where
// it begins cuts it there.
type table struct {
	intervals  []interval // one at least
	resolution int64      // seconds, 1 or more (bf_resolution)
	sets       *spareSets // for its intervals
	spare      *spareSets // for openings
	records    int        // that the table has used; one that is merged with another is not given back
	size       int        // most records
	cpus       []int      // of each node, for views
	views      []*view    // of partitions, by position; nil: not asked for yet
	roomToView []*view    // views of tables before, by position, whose room can be used again
}

// newTable returns a table for a run that begins at now. The sets of its intervals are lent. It takes the room of
// the table of the run before, which may be nil.
func newTable(before *table, now, window, resolution int64, size int, all nodeSet, licenses map[string]int, sets, spare *spareSets) *table {
	t := &table{resolution: resolution, records: 1, size: size, sets: sets, spare: spare}
	if before != nil {
		t.intervals, t.views, t.roomToView = before.intervals[:0], before.views[:0], before.roomToView
	}
	t.intervals = append(t.intervals, interval{now / resolution * resolution, (now + window) / resolution * resolution, sets.clone(all), licenses, 0})
	return t
}

// windowEnd is the end of the table.
func (t *table) windowEnd() int64 { return t.intervals[len(t.intervals)-1].end }

// intervalAt is the first interval that ends after a second.
func (t *table) intervalAt(second int64) int {
	k, _ := slices.BinarySearchFunc(t.intervals, second, func(i interval, second int64) int {
		if i.end <= second {
			return -1
		}
		return 1
	})
	return k
}

// cut splits an interval in two at a second.
func (t *table) cut(at int, second int64) {
	later := t.intervals[at]
	later.begin, later.free, later.licenses = second, t.sets.clone(later.free), maps.Clone(later.licenses)
	t.intervals[at].end, t.intervals[at].more = second, 0
	t.intervals = slices.Insert(t.intervals, at+1, later)
	t.records++
	for _, v := range t.views {
		v.cut(at)
	}
}

// plan takes what is needed from begin to end, for a resolution at least (_add_reservation). The first two neighbours
// from the beginning of the plan on that have come to have the same free are made one: no more than two, as in Slurm.
func (t *table) plan(begin, end int64, needs need) {
	// Find the interval that ends at the plan's begin. If no interval ends there, cut one in two.
	begin = max(begin, t.intervals[0].begin)
	end = max(end, begin+t.resolution)
	at := slices.IndexFunc(t.intervals, func(i interval) bool { return i.end >= begin })
	if at < 0 {
		return
	}
	if t.intervals[at].end > begin {
		t.cut(at, begin)
	}
	// Take the needs from the intervals up to the plan's end, where the last one is cut.
	merge := max(at-1, 0)
	first, last := at+1, len(t.intervals) // of the plan, and behind it
	from, to := needs.nodes.words()
	allFree := true
	for at++; at < len(t.intervals); at++ {
		if end < t.intervals[at].end {
			t.cut(at, end)
		}
		if !t.intervals[at].take(needs, from, to) {
			allFree = false
		}
		if end == t.intervals[at].end {
			last = at + 1
			break
		}
	}
	for k := first - 1; k < last; k++ {
		t.compare(k, from, to)
	}
	for _, v := range t.views {
		v.taken(t, first, last, needs.nodes, allFree)
	}
	// Merge.
	for k := merge; k < last && k+1 < len(t.intervals); k++ {
		this, next := &t.intervals[k], &t.intervals[k+1]
		if this.more == 0 && this.free.equal(next.free) && maps.Equal(this.licenses, next.licenses) {
			this.end, this.more = next.end, next.more
			t.intervals = slices.Delete(t.intervals, k+1, k+2)
			for _, v := range t.views {
				v.merge(k)
			}
			return
		}
	}
}

// clashes reports whether any of what is needed is taken within [begin, end) (_test_resv_overlap).
func (t *table) clashes(begin, end int64, needs need) bool {
	for k := range t.intervals {
		i := &t.intervals[k]
		if i.end > begin && i.begin < end && !(needs.nodes.within(i.free) && i.licensed(needs.licenses)) {
			return true
		}
	}
	return false
}

// opening is a chance to plan a job from a second on for its limit: nodes, and whether there are licences.
type opening struct {
	nodes    nodeSet // those that are in no plan; before they are narrowed, those that are wanted
	wanted   nodeSet // those that are wanted, where reservations have a say in that; nil: all of the partition
	from, to int     // the intervals that it covers, to excluded
	licensed bool    // enough licences are in no plan
	later    int64   // the next second from which there may be other nodes; 0: there is none
	first    int64   // the end of the first interval that it covers
	beyond   int64   // the beginning of the first interval that it does not reach, or never
}

// openingFrom returns the opening from start to end, both included, and tells whether its licences are in no plan
// over that time. Its nodes are still all nodes that are wanted: narrow takes away nodes that are in plans. Their
// set is lent.
func (t *table) openingFrom(start, end int64, needs need) opening {
	o := opening{nodes: t.spare.clone(needs.nodes), licensed: true, first: never, beyond: never}
	from := t.intervalAt(start)
	if o.from, o.to = from, from; from == len(t.intervals) {
		return o
	}
	o.first = t.intervals[from].end
	to := from // the first interval that begins after the end
	for ; to < len(t.intervals) && t.intervals[to].begin <= end; to++ {
	}
	// Slurm looks at one interval more for the second from which there may be other nodes.
	for k := from; k <= to && k+1 < len(t.intervals); k++ {
		if t.gains(k, needs.nodes) {
			o.later = t.intervals[k].end
			break
		}
	}
	if o.to = to; to < len(t.intervals) {
		o.beyond = t.intervals[to].begin
	}
	for k := from; k < to && t.intervals[k].licenses != nil; k++ {
		if i := &t.intervals[k]; !i.licensed(needs.licenses) {
			o.licensed, o.later = false, i.end
		}
	}
	return o
}

// narrow leaves an opening only the nodes that are in no plan.
func (t *table) narrow(o *opening) {
	covered := t.intervals[o.from:o.to]
	for w, word := range o.nodes { // word by word: most come to be empty after a few intervals
		for k := 0; word != 0 && k < len(covered); k++ {
			word &= covered[k].free[w]
		}
		o.nodes[w] = word
	}
}

// compare notes whether the interval behind k has nodes free that k has not, in the words first to last-1 of the sets. The
// other words are as they were compared last.
func (t *table) compare(k, first, last int) {
	if k+1 == len(t.intervals) {
		return
	}
	i, next := &t.intervals[k], t.intervals[k+1].free
	for w := first; w < last; w++ {
		var gained uint64
		for v := w % 64; v < len(next); v += 64 { // all words of the bit
			gained |= next[v] &^ i.free[v]
		}
		if bit := uint64(1) << (w % 64); gained != 0 {
			i.more |= bit
		} else {
			i.more &^= bit
		}
	}
}

// gains reports whether any of the wanted nodes is free in the interval behind k and not in k.
func (t *table) gains(k int, wanted nodeSet) bool {
	more := t.intervals[k].more
	if more == 0 {
		return false
	}
	now, next := t.intervals[k].free, t.intervals[k+1].free
	for ; more != 0; more &= more - 1 {
		for w := bits.TrailingZeros64(more); w < len(wanted); w += 64 {
			if wanted[w]&next[w]&^now[w] != 0 {
				return true
			}
		}
	}
	return false
}
