// A slot list from which many windows are cut, in the two orders that this takes.

package window

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// supply holds what is free by node, where windows are cut out, and by start,
// where searches walk along:
//
//	by node   cheap  [1--)     [3------------)
//	          dear      [2---------)
//	by start  1 cheap, 2 dear, 3 cheap
//
// A cut gives the result of Subtract, at the cost of a look into both orders for each task instead
// of a pass over the list. The rests of a slot keep the places among equal starts that Subtract
// gives them: heads stay at their place, tails come behind the slots of the list. Rests too short
// for any task to come are dropped.
//
// Nodes are numbered by what a unit of work costs on them. For every request the
// low numbers are therefore the cheap nodes, as far as tasks are not rounded up.
type supply struct {
	nodes []*entity.Node         // by number
	index map[*entity.Node]int32 // the number of a node
	rate  []float64              // by node: price of a unit of work (price / performance), ascending
	spans [][]span               // by node, ascending and disjoint
	order places                 // the same slots by start
	least float64                // the work of the smallest task that anybody searches for
	next  int32                  // number of the next tail
	parts []part                 // scratch of subtract
}

// span is a slot of a node.
type span struct {
	start, end des.Time
	number     int32 // settles the order among equal starts: the list's index, and above those of tails
}

func (s *span) place() place { return place{s.start, s.number} }

// work returns the work that node k can do from start to end, in performance times ticks.
func (u *supply) work(k int32, start, end des.Time) float64 {
	return u.nodes[k].Perf * float64(uint64(end-start)) // the difference of any two times
}

// newSupply makes a supply of a list that has been checked. It refuses slots of one node
// that overlap. O(m log m).
func newSupply(list plan.SlotList, least float64) (*supply, error) {
	// The nodes, as they come at first, and then by their rates.
	u := &supply{index: make(map[*entity.Node]int32), least: least, next: int32(len(list.Slots))}
	on := make([]int32, len(list.Slots))
	for i := range list.Slots {
		n := list.Slots[i].Node
		k, known := u.index[n]
		if !known {
			k = int32(len(u.nodes))
			u.index[n] = k
			u.nodes = append(u.nodes, n)
		}
		on[i] = k
	}
	renumbered := u.byRate()

	// Their slots, in both orders.
	u.spans = make([][]span, len(u.nodes))
	entries := make([]placed, 0, len(list.Slots))
	for i := range list.Slots {
		s, k := &list.Slots[i], renumbered[on[i]]
		work := u.work(k, s.Start, s.End)
		if work < least {
			continue
		}
		if of := u.spans[k]; len(of) > 0 && s.Start < of[len(of)-1].end {
			last := &of[len(of)-1]
			return nil, plan.BadInput("slots [%v, %v) and [%v, %v) on node %d overlap", last.start, last.end, s.Start, s.End, s.Node.ID)
		}
		u.spans[k] = append(u.spans[k], span{s.Start, s.End, int32(i)})
		entries = append(entries, placed{place{s.Start, int32(i)}, k, work})
	}
	u.order = placesOf(entries)
	return u, nil
}

// byRate renumbers the nodes and returns the new numbers by the old ones.
func (u *supply) byRate() []int32 {
	order := make([]int32, len(u.nodes))
	rate := make([]float64, len(u.nodes))
	for k, n := range u.nodes {
		order[k], rate[k] = int32(k), n.Price/n.Perf
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(rate[a], rate[b]), cmp.Compare(a, b))
	})
	nodes := u.nodes
	u.nodes, u.rate = make([]*entity.Node, len(nodes)), make([]float64, len(nodes))
	renumbered := make([]int32, len(nodes))
	for k, old := range order {
		u.nodes[k], u.rate[k] = nodes[old], rate[old]
		renumbered[old] = int32(k)
		u.index[nodes[old]] = int32(k)
	}
	return renumbered
}

// at is node k's last slot that begins at p or before it; nil if there is none.
func (u *supply) at(k int32, p place) *span {
	if i := u.last(k, p); i >= 0 {
		return &u.spans[k][i]
	}
	return nil
}

// last is the index of that slot in spans[k]; -1 if there is none.
func (u *supply) last(k int32, p place) int {
	of := u.spans[k]
	low, high := 0, len(of)
	for low < high {
		if mid := int(uint(low+high) / 2); p.before(of[mid].place()) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low - 1
}

// subtract cuts out a window. Slots too short to be kept need no cut.
func (u *supply) subtract(w *entity.Window) {
	u.parts = u.parts[:0]
	for _, t := range w.Tasks {
		k, known := u.index[t.Node]
		if !known {
			continue
		}
		if s := u.at(k, place{w.Start, math.MaxInt32}); s != nil && s.end >= t.End {
			u.parts = append(u.parts, part{s.place(), k, t.End})
		}
	}
	slices.SortFunc(u.parts, func(a, b part) int { return b.compare(a.place) })
	for _, p := range u.parts { // so that tails of one start are numbered as Subtract orders them
		u.cut(p.node, w.Start, p.end)
	}
}

// part is the time that a task takes out of a slot of its node: from the task's start to its end.
// place is the slot's.
type part struct {
	place
	node int32    // its number
	end  des.Time // of the task
}

// cut takes [start, end) of node k out of the slot that holds it.
func (u *supply) cut(k int32, start, end des.Time) {
	of := u.spans[k]
	i := u.last(k, place{start, math.MaxInt32})
	was := of[i]
	// What is left before keeps the slot's place; what is left behind is a slot of its own.
	of[i].end = start
	if work := u.work(k, was.start, start); work >= u.least {
		u.order.shorten(was.place(), work)
		i++
	} else {
		u.order.remove(was.place())
		u.spans[k] = slices.Delete(of, i, i+1)
	}
	if work := u.work(k, end, was.end); work >= u.least {
		u.spans[k] = slices.Insert(u.spans[k], i, span{end, was.end, u.next})
		u.order.insert(placed{place{end, u.next}, k, work})
		u.next++
	}
}

// place is a position in the slot list.
type place struct {
	start  des.Time
	number int32 // of the span; -1 is before all that start then
}

func (p place) before(q place) bool {
	return p.start < q.start || (p.start == q.start && p.number < q.number)
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.start, q.start), cmp.Compare(p.number, q.number))
}

// placed is a slot as those see it who walk along the list.
type placed struct {
	place
	node int32   // its number
	work float64 // what the node can do in it
}

// places are entries in order, in chunks that are short enough to move their
// entries about. Chunk i holds the places from from[i] to before from[i+1].
type places struct {
	chunks [][]placed // at least one; a chunk may be empty
	from   []place    // by chunk; the first begins before all times
}

// chunkSize is the most entries of a chunk.
const chunkSize = 64

// placesOf are the entries, which are in order, in half full chunks.
func placesOf(entries []placed) (o places) {
	for len(entries) > chunkSize/2 {
		o.split(len(o.chunks), entries[:chunkSize/2])
		entries = entries[chunkSize/2:]
	}
	o.split(len(o.chunks), entries)
	return o
}

// split puts a chunk of these entries at i.
func (o *places) split(i int, entries []placed) {
	from := place{start: -des.Forever}
	if i > 0 {
		from = entries[0].place
	}
	o.chunks = slices.Insert(o.chunks, i, append(make([]placed, 0, chunkSize), entries...))
	o.from = slices.Insert(o.from, i, from)
}

// after returns the position of the first slot behind p.
func (o *places) after(p place) (chunk, i int) {
	chunk, i = o.find(p)
	if c := o.chunks[chunk]; i < len(c) && c[i].place == p {
		i++
	}
	return chunk, i
}

// find returns the position of p, or the position at which p would be inserted.
func (o *places) find(p place) (chunk, i int) {
	low, high := 1, len(o.from)
	for low < high {
		mid := int(uint(low+high) / 2)
		if p.before(o.from[mid]) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	chunk = low - 1
	c := o.chunks[chunk]
	low, high = 0, len(c)
	for low < high {
		mid := int(uint(low+high) / 2)
		if c[mid].before(p) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return chunk, low
}

// insert puts a slot in at its place. A full chunk is halved before.
func (o *places) insert(p placed) {
	k, i := o.find(p.place)
	if c := o.chunks[k]; len(c) == chunkSize {
		o.split(k+1, c[chunkSize/2:])
		o.chunks[k] = c[:chunkSize/2]
		k, i = o.find(p.place)
	}
	o.chunks[k] = slices.Insert(o.chunks[k], i, p)
}

// remove takes out the slot at p, which must be there.
func (o *places) remove(p place) {
	k, i := o.find(p)
	o.chunks[k] = slices.Delete(o.chunks[k], i, i+1)
}

// shorten lowers what can be done in the slot at p.
func (o *places) shorten(p place, work float64) {
	k, i := o.find(p)
	o.chunks[k][i].work = work
}
