package plan

import "github.com/gridslot/gridslot/des"

// barrier is a fact that a search has proved about a profile: a window of at least that many
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

// pass returns the earliest instant at which a search that begins at from has to look for the begin of a
// window. For the search everything from the instant assured on counts as free. The barrier does
// not know of assured: a barrier behind that instant tells only of windows that end by then.
func (b *barrier) pass(nodes int, length, from, assured des.Time) des.Time {
	if b.at <= from || b.nodes > nodes || b.length > length {
		return from
	}
	if b.at <= assured {
		return b.at
	}
	return max(from, assured-b.length+des.Tick)
}

// given takes in that processors have been given back over a span that begins at from. Just before the
// span before processors are free, and within the span at most most. A barrier for more than most
// stands. A barrier for more than before moves to the begin of the span. In front of any other
// barrier a window may begin before the span and last into it, so the barrier is dropped.
func (b *barrier) given(from des.Time, before, most int) {
	switch {
	case b.at <= from || b.nodes > most:
	case b.nodes > before:
		b.at = from
	default:
		b.at = 0
	}
}
