package des

import "math/bits"

// eventHeap is a 4-ary min-heap of pending events with lazy cancellation: a
// cancelled event's slot changes generation at once and its entry is thrown
// away when it surfaces, or when the dead outnumber the living.
//
// While the earliest event is being handled its place at the root stays empty
// (hole). An event scheduled meanwhile drops into it and sifts down once,
// instead of one sift for the removal and one for the insertion. A second one that
// comes before all others, such as a round of decisions at this very instant, waits
// in front of the heap and is not sifted at all.
//
//	front    p, if ahead
//	entries  [hole| p | p | dead | p ...]   24 bytes each, ordered
//	               |   |          |
//	slots    [ - | s | s | free | s ...]    32 bytes each, in place
//
// Invariants: front comes before all entries; ahead and hole exclude each other.
type eventHeap struct {
	entries []pending
	slots   []eventSlot
	free    uint32 // head of the free list, 0 = none; slot 0 is never used
	dead    int    // of the entries and front
	hole    bool
	ahead   bool // there is a front
	front   pending
}

const (
	heapArity = 4
	// compactSlack keeps small heaps from compacting all the time. With it the
	// heap never holds more than twice the living events + 64.
	compactSlack = 60
	// cachedEntries is a number of entries that surely fit into a processor's cache.
	cachedEntries = 1 << 14
)

// len counts living events.
func (h *eventHeap) len() int {
	n := len(h.entries) - h.dead
	if h.hole {
		n--
	}
	if h.ahead {
		n++
	}
	return n
}

func (h *eventHeap) push(t Time, rank uint64, to Handler, arg uint64) EventID {
	slot := h.free
	if slot == 0 {
		if len(h.slots) == 0 {
			h.slots = appendLean(h.slots, eventSlot{})
		}
		slot = uint32(len(h.slots))
		h.slots = appendLean(h.slots, eventSlot{gen: 1})
	} else {
		h.free = h.slots[slot].next
	}
	s := &h.slots[slot]
	s.to, s.arg = to, arg
	p := pending{t, rank, slot, s.gen}
	id := EventID{slot, s.gen}
	if h.hole {
		h.hole = false
		h.down(0, p)
		return id
	}
	switch {
	case h.ahead:
		if p.before(&h.front) {
			p, h.front = h.front, p
		}
	case len(h.entries) == 0 || p.before(&h.entries[0]):
		h.front, h.ahead = p, true
		return id
	}
	h.entries = appendLean(h.entries, p)
	h.up(len(h.entries)-1, p)
	return id
}

// appendLean is append with room for an eighth more instead of a quarter: an
// entry and a slot are 56 bytes, so that a pending event costs at most 63.
func appendLean[E any](s []E, e E) []E {
	if len(s) == cap(s) {
		s = append(make([]E, 0, len(s)+len(s)/8+64), s...)
	}
	return append(s, e)
}

// retire ends the slot's present use: its ID goes stale, it may be used again.
// After 2^32 uses it is left alone, since an old ID would look like a new one.
func (h *eventHeap) retire(slot uint32) {
	s := &h.slots[slot]
	s.to = nil
	s.gen++
	if s.gen != 0 {
		s.next = h.free
		h.free = slot
	}
}

func (h *eventHeap) alive(id EventID) bool {
	return id.slot < uint32(len(h.slots)) && h.slots[id.slot].gen == id.gen && h.slots[id.slot].to != nil
}

// kill takes a living event out, lazily.
func (h *eventHeap) kill(id EventID) {
	h.retire(id.slot)
	h.dead++
	if h.crowded() {
		h.compact()
	}
}

// crowded reports whether the dead outnumber the living.
func (h *eventHeap) crowded() bool { return h.dead > h.len()+compactSlack }

// compact throws out all dead entries: amortised O(1) a cancellation.
func (h *eventHeap) compact() {
	h.fill()
	if h.ahead && h.stale(&h.front) {
		h.ahead = false
	}
	living := h.entries[:0]
	for _, p := range h.entries {
		if !h.stale(&p) {
			living = append(living, p)
		}
	}
	h.entries = living
	h.dead = 0
	for i := (len(living) - 2) / heapArity; i >= 0 && len(living) > 1; i-- {
		h.down(i, living[i])
	}
}

// fill closes the hole at the root, if there is one.
func (h *eventHeap) fill() {
	if !h.hole {
		return
	}
	h.hole = false
	last := len(h.entries) - 1
	p := h.entries[last]
	h.entries = h.entries[:last]
	if last > 0 {
		h.down(0, p)
	}
}

// peek returns the earliest living entry, or nil.
func (h *eventHeap) peek() *pending {
	h.fill()
	if h.dead > 0 {
		h.bury()
	}
	if h.ahead {
		return &h.front
	}
	if len(h.entries) == 0 {
		return nil
	}
	return &h.entries[0]
}

// stale reports whether p is dead.
func (h *eventHeap) stale(p *pending) bool { return h.slots[p.slot].gen != p.gen }

// bury throws out the dead entries at the root, or front; or all of them where events
// that ran have left them in the majority.
func (h *eventHeap) bury() {
	if h.crowded() {
		h.compact()
	}
	if h.ahead {
		if !h.stale(&h.front) {
			return
		}
		h.dead--
		h.ahead = false
	}
	for h.dead > 0 {
		if !h.stale(&h.entries[0]) {
			return
		}
		h.dead--
		h.hole = true
		h.fill()
	}
}

// take removes the entry that peek returned. At the root it leaves a hole.
func (h *eventHeap) take() (p pending, to Handler, arg uint64) {
	if h.ahead {
		p, h.ahead = h.front, false
	} else {
		p, h.hole = h.entries[0], true
	}
	s := &h.slots[p.slot]
	to, arg = s.to, s.arg
	h.retire(p.slot)
	return p, to, arg
}

func (h *eventHeap) up(i int, p pending) {
	e := h.entries
	for i > 0 {
		parent := (i - 1) / heapArity
		if !p.before(&e[parent]) {
			break
		}
		e[i] = e[parent]
		i = parent
	}
	e[i] = p
}

// down sifts p from place i towards the leaves. Which of four children is the
// earliest is as good as random, and a processor mispredicts every other
// branch. So among entries that lie in its cache the earliest is found without
// branches; further down it is better to guess, since a guess fetches the next
// entries from memory meanwhile.
func (h *eventHeap) down(i int, p pending) {
	e := h.entries
	for {
		first := i*heapArity + 1
		var least int
		if first+heapArity <= min(len(e), cachedEntries) {
			c := e[first : first+heapArity : first+heapArity]
			a := c[1].earlier(&c[0])
			b := 2 + c[3].earlier(&c[2])
			least = first + a + (b-a)*c[b].earlier(&c[a])
		} else if first < len(e) {
			least = first
			for c := first + 1; c < min(first+heapArity, len(e)); c++ {
				if e[c].before(&e[least]) {
					least = c
				}
			}
		} else {
			break
		}
		if !e[least].before(&p) {
			break
		}
		e[i] = e[least]
		i = least
	}
	e[i] = p
}

// earlier is before as a number, 1 or 0, without a branch: the borrow of
// (p.time, p.rank) - (q.time, q.rank). Times of events are never negative.
func (p *pending) earlier(q *pending) int {
	_, borrow := bits.Sub64(p.rank, q.rank, 0)
	_, borrow = bits.Sub64(uint64(p.time), uint64(q.time), borrow)
	return int(borrow)
}
