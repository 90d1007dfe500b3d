package des

// eventHeap is a 4-ary min-heap of pending events with lazy cancellation: a
// cancelled event's slot changes generation at once and its entry is thrown
// away when it surfaces, or when the dead outnumber the living.
//
// While the earliest event is being handled its place at the root stays empty
// (hole). An event scheduled meanwhile drops into it and sifts down once,
// instead of one sift for the removal and one for the insertion.
type eventHeap struct {
	entries []pending
	slots   []eventSlot
	free    uint32 // head of the free list, 0 = none; slot 0 is never used
	dead    int
	hole    bool
}

const heapArity = 4

// len counts living events.
func (h *eventHeap) len() int {
	n := len(h.entries) - h.dead
	if h.hole {
		n--
	}
	return n
}

func (h *eventHeap) push(t Time, rank uint64, to Handler, arg uint64) EventID {
	slot := h.free
	if slot == 0 {
		if len(h.slots) == 0 {
			h.slots = append(h.slots, eventSlot{})
		}
		slot = uint32(len(h.slots))
		h.slots = append(h.slots, eventSlot{gen: 1})
	} else {
		h.free = h.slots[slot].next
	}
	s := &h.slots[slot]
	s.to, s.arg = to, arg
	h.insert(pending{t, rank, slot, s.gen})
	return EventID{slot, s.gen}
}

func (h *eventHeap) insert(p pending) {
	if h.hole {
		h.hole = false
		h.down(0, p)
		return
	}
	h.entries = append(h.entries, p)
	h.up(len(h.entries)-1, p)
}

// retire ends the slot's present use: its ID goes stale, it may be used again.
func (h *eventHeap) retire(slot uint32) {
	s := &h.slots[slot]
	s.to = nil
	s.gen++
	s.next = h.free
	h.free = slot
}

func (h *eventHeap) alive(id EventID) bool {
	return id.slot != 0 && id.slot < uint32(len(h.slots)) && h.slots[id.slot].gen == id.gen && h.slots[id.slot].to != nil
}

// kill takes a living event out, lazily.
func (h *eventHeap) kill(id EventID) {
	h.retire(id.slot)
	h.dead++
	if h.dead > h.len()+64 {
		h.compact()
	}
}

// compact throws out all dead entries: amortised O(1) a cancellation.
func (h *eventHeap) compact() {
	h.fill()
	living := h.entries[:0]
	for _, p := range h.entries {
		if h.slots[p.slot].gen == p.gen {
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
	for len(h.entries) > 0 {
		top := &h.entries[0]
		if h.dead == 0 || h.slots[top.slot].gen == top.gen {
			return top
		}
		h.dead--
		h.hole = true
		h.fill()
	}
	return nil
}

// take removes the entry that peek returned, leaving a hole at the root.
func (h *eventHeap) take() (p pending, to Handler, arg uint64) {
	p = h.entries[0]
	s := &h.slots[p.slot]
	to, arg = s.to, s.arg
	h.retire(p.slot)
	h.hole = true
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

func (h *eventHeap) down(i int, p pending) {
	e := h.entries
	for {
		child := i*heapArity + 1
		if child >= len(e) {
			break
		}
		least := child
		for c := child + 1; c < min(child+heapArity, len(e)); c++ {
			if e[c].before(&e[least]) {
				least = c
			}
		}
		if !e[least].before(&p) {
			break
		}
		e[i] = e[least]
		i = least
	}
	e[i] = p
}
