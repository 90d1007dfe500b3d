package plan

import "github.com/gridslot/gridslot/des"

// barrier is what a search has proved about a profile: a window of at least that many
// processors and at least that length, which begins before the instant at, meets too few free
// processors at some time before both its end and at.
//
//	free |            at
//	     |____  __   __________     no window of that length begins before at,
//	nodes|- - |_| |_|  - - - -      however much is free from at on
//	     +--------------------> time
//
// In a queue that waits long, most jobs ask for as much as the job before them, and since
// that job was looked at nothing has been given back which could help them.
type barrier struct {
	nodes  int
	length des.Time
	at     des.Time // 0 if nothing is known
}

// pass returns from when on a search has to look that begins at from. What lies from the
// instant assured on counts as free for the search, which the barrier does not know: a barrier
// behind that instant tells only of windows that end by then.
func (b *barrier) pass(nodes int, length, from, assured des.Time) des.Time {
	if b.at <= from || b.nodes > nodes || b.length > length {
		return from
	}
	if b.at <= assured {
		return b.at
	}
	return max(from, assured-b.length+des.Tick)
}

// given is told that processors have been given back from the instant from on: so many are
// free before, and at most so many afterwards where they were given back. A barrier for more
// than that stands. A barrier for more than is free before stands where the span begins. In
// front of any other barrier a window may begin before the span and last into it.
func (b *barrier) given(from des.Time, before, most int) {
	switch {
	case b.at <= from || b.nodes > most:
	case b.nodes > before:
		b.at = from
	default:
		b.at = 0
	}
}
