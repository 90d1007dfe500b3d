package des

import "fmt"

// EventID names a pending event, for Cancel and Reschedule. The zero value
// names none. An ID goes stale when its event has run or been cancelled; stale
// IDs are recognised, not mistaken for a later event.
type EventID struct{ slot, gen uint32 }

// Phase orders the events of one instant, lower first. The kernel gives the
// numbers no meaning; models name theirs.
type Phase uint8

// Event describes one happening to handlers and observers. It is passed by value.
type Event struct {
	Time  Time   // instant at which it runs
	Phase Phase  // its phase within the instant; lower phases run first
	Seq   uint64 // rank in the order of scheduling
	Arg   uint64 // whatever the scheduling call passed: a kind, an index
	to    Handler
}

// Handler returns the handler that the event calls.
func (e Event) Handler() Handler { return e.to }

// String names the event in errors: by its handler, and what tells it from the
// handler's other events.
func (e Event) String() string {
	return fmt.Sprintf("%s (time %v, phase %d, event %d, arg %d)", handlerName(e.to), e.Time, e.Phase, e.Seq, e.Arg)
}

// handlerName returns the name that a handler gives itself by String, or the name of its type.
func handlerName(to Handler) string {
	if named, ok := to.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", to)
}

// Handler handles events. Scheduling a pointer type as a handler allocates nothing. Errors
// name a handler by its String method, if it has one.
type Handler interface {
	// Handle is called once for each event, with the clock at e.Time. It may schedule and
	// cancel events, call Fail, and stop the run; an event that it schedules for this
	// instant runs after it.
	Handle(s *Simulator, e Event)
}

// Func makes a function a Handler.
type Func func(s *Simulator, e Event)

// Handle calls f.
func (f Func) Handle(s *Simulator, e Event) { f(s, e) }

// Observer is told of every event after its handler has returned. It must not
// schedule or cancel.
type Observer interface {
	// ObserveEvent is called after the event's handler has returned.
	ObserveEvent(e Event)
}

// pending is an event's entry in the heap: 24 bytes, moved by sifting. What
// only matters when the event runs lies in its slot.
type pending struct {
	time Time
	rank uint64 // phase in the top 8 bits, sequence below
	slot uint32
	gen  uint32 // differs from the slot's when the entry is dead
}

const seqBits = 56

func (p *pending) before(q *pending) bool {
	return p.time < q.time || (p.time == q.time && p.rank < q.rank)
}

// eventSlot holds the rest of an event. A free slot's next links the free list.
type eventSlot struct {
	to   Handler
	arg  uint64
	gen  uint32
	next uint32
}
