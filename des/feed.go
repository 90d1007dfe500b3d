package des

import (
	"fmt"
	"iter"
)

// Feed brings the items of a sequence into a simulation, each at its own
// instant. It pulls one item ahead of the clock, so that a sequence of any
// length takes the room of one event:
//
//	sequence  d e f ...        Next
//	              |
//	heap          c            one pending event, at At(c)
//	              |
//	model         b            Do(b), at its instant
//
// A feed whose sequence is over may be pulled again by Pull, when there is more.
type Feed[T any] struct {
	// Next returns the next item, or false if there is none for now.
	Next func() (T, bool)
	// At is when an item comes. It must not be before the item in front of it.
	At func(T) Time
	// Phase is the phase in which items come.
	Phase Phase
	// Arg, if set, is the argument of an item's event, for the fingerprint.
	Arg func(T) uint64
	// Check, if set, refuses an item that makes no sense. Its error ends the run.
	Check func(T) error
	// Do takes an item at its instant. The feed has pulled the next item by then.
	Do func(T)

	sim     *Simulator
	stop    func()
	coming  T
	pending EventID
	waits   bool // coming is on its way
}

// Begin connects the feed with a simulation and pulls the first item.
func (f *Feed[T]) Begin(s *Simulator) {
	f.sim = s
	f.Pull()
}

// From sets the sequence that the feed takes its items from. Close stops the sequence.
func (f *Feed[T]) From(items iter.Seq[T]) { f.Next, f.stop = iter.Pull(items) }

// Pull fetches the next item if none is on its way.
func (f *Feed[T]) Pull() {
	if f.waits || f.Next == nil {
		return
	}
	item, ok := f.Next()
	if !ok {
		return
	}
	var err error
	if f.Check != nil {
		err = f.Check(item)
	}
	var at Time
	if err == nil {
		at = f.At(item)
	}
	if err == nil && at < f.sim.now {
		err = fmt.Errorf("%v comes at %v, before the one in front of it (%v): a sequence must be in order of time", item, at, f.sim.now)
	}
	if err != nil {
		f.sim.Fail(err)
		return
	}
	var arg uint64
	if f.Arg != nil {
		arg = f.Arg(item)
	}
	f.coming, f.waits = item, true
	f.pending = f.sim.At(at, f.Phase, f, arg)
}

// Coming reports whether an item is on its way.
func (f *Feed[T]) Coming() bool { return f.waits }

// Handle passes to Do the item whose instant has come.
func (f *Feed[T]) Handle(*Simulator, Event) {
	item := f.coming
	f.waits = false
	f.Pull()
	f.Do(item)
}

// Close stops the sequence of From; no more items come from it. It is needed only where a
// run ended before the sequence did.
func (f *Feed[T]) Close() {
	if f.stop != nil {
		f.stop()
	}
	if f.waits {
		f.sim.Cancel(f.pending)
	}
	f.Next, f.stop, f.waits = nil, nil, false
}
