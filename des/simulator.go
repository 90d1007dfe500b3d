package des

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
)

// Config sets up a simulation. The zero value is usable.
type Config struct {
	// Seed and Replication determine every random stream of the simulation.
	Seed        uint64
	Replication uint64
	// MaxEvents is the number of events after which a run ends with an *EventLimitError; 0
	// means no limit.
	MaxEvents uint64
	// Fingerprint makes the kernel hash (time, phase, sequence, arg) of every event;
	// Simulator.Fingerprint returns the hash.
	Fingerprint bool
}

// Simulator is one simulation: its clock and its pending events. Use New.
type Simulator struct {
	cfg       Config
	now       Time
	seq       uint64
	executed  uint64
	heap      eventHeap
	observers []Observer
	done      func() bool // the stop condition
	running   bool
	stopped   bool
	hash      uint64
	err       error
	ctx       context.Context // of the run under way

	entities []*Context // in the order of addition
	byName   map[string]*Context
	started  int // how many of the entities have been started
	down     int // how many have been shut down
	starting bool
}

// New returns a simulation at time 0 with nothing to do.
func New(cfg Config) *Simulator {
	return &Simulator{cfg: cfg, hash: fingerprintSeed}
}

// Now returns the present instant.
func (s *Simulator) Now() Time { return s.now }

// Executed counts the events that have run.
func (s *Simulator) Executed() uint64 { return s.executed }

// Pending counts the events still to run, cancelled ones left out.
func (s *Simulator) Pending() int { return s.heap.len() }

// Stream returns the random stream of that name in this simulation; see
// NewStream.
func (s *Simulator) Stream(name string, keys ...uint64) *rand.Rand {
	return NewStream(s.cfg.Seed, s.cfg.Replication, name, keys...)
}

// At schedules an event for the instant t, which may be now. An instant in the past is a fault
// of the model: nothing is scheduled, At returns the zero EventID, and the run ends with a
// *SchedulingError. An event at Forever is the same fault.
func (s *Simulator) At(t Time, p Phase, to Handler, arg uint64) EventID {
	if t < s.now || t == Forever || to == nil {
		s.refuse(t, p, to, arg)
		return EventID{}
	}
	rank := uint64(p)<<seqBits | s.seq
	s.seq++
	return s.heap.push(t, rank, to, arg)
}

// After schedules an event d from now; see At. A sum past the end of time ends
// the run with a *SchedulingError.
func (s *Simulator) After(d Time, p Phase, to Handler, arg uint64) EventID {
	t := s.now + d
	if d > 0 && t < s.now {
		s.Fail(&SchedulingError{Now: s.now, At: Forever, Delay: d, Phase: p, Arg: arg, To: to})
		return EventID{}
	}
	return s.At(t, p, to, arg)
}

// refuse ends the run over an event that cannot be.
func (s *Simulator) refuse(t Time, p Phase, to Handler, arg uint64) {
	if to == nil {
		s.Fail(fmt.Errorf("at %v: %w (time %v, phase %d, arg %d)", s.now, errNoHandler, t, p, arg))
		return
	}
	s.Fail(&SchedulingError{Now: s.now, At: t, Delay: t - s.now, Phase: p, Arg: arg, To: to})
}

// Cancel takes a pending event out and reports whether it was still pending.
func (s *Simulator) Cancel(id EventID) bool {
	if !s.heap.alive(id) {
		return false
	}
	s.heap.kill(id)
	return true
}

// Reschedule moves a pending event to the instant t and the phase p; it is ordered as if
// scheduled now. The old ID is stale afterwards. Reschedule returns the new ID and reports
// whether the event was still pending. An instant that At would refuse ends the run.
func (s *Simulator) Reschedule(id EventID, t Time, p Phase) (EventID, bool) {
	if !s.heap.alive(id) {
		return EventID{}, false
	}
	slot := s.heap.slots[id.slot]
	s.heap.kill(id)
	return s.At(t, p, slot.to, slot.arg), true
}

// Observe adds an observer, told of every event from now on.
func (s *Simulator) Observe(o Observer) { s.observers = append(s.observers, o) }

// Stop ends the run after the event being handled. A later Run goes on.
func (s *Simulator) Stop() { s.stopped = true }

// StopWhen ends a run as soon as done reports true; it is asked after every
// event. Nil takes the condition away.
func (s *Simulator) StopWhen(done func() bool) { s.done = done }

// Fail ends the run with err, after the event being handled; the first failure
// stands, and the simulation cannot go on after it. Models call it where they
// find that going on would be wrong.
func (s *Simulator) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Err returns the error that ended the simulation for good, or nil.
func (s *Simulator) Err() error { return s.err }

// Context returns the context of the run under way, for handlers whose own work is
// long; context.Background outside a run.
func (s *Simulator) Context() context.Context {
	if s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// NextTime returns the instant of the earliest pending event, or Forever.
func (s *Simulator) NextTime() Time {
	if top := s.heap.peek(); top != nil {
		return top.time
	}
	return Forever
}

// Step runs the earliest pending event and reports whether there was one.
func (s *Simulator) Step() (more bool, err error) {
	if err := s.enter(); err != nil {
		return false, err
	}
	defer s.leave(&err)
	if s.startEntities(); s.err != nil {
		return false, s.err
	}
	return s.step(Forever)
}

// Run runs until no event is left, Stop is called, the stop condition holds,
// or ctx ends; the last is reported as its error. A run that failed stays
// failed. Once no event is left, the entities are shut down.
func (s *Simulator) Run(ctx context.Context) (err error) {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave(&err)
	if s.startEntities(); s.err != nil {
		return s.err
	}
	if err := s.run(ctx, Forever); err != nil {
		return err
	}
	if s.heap.len() == 0 {
		s.shutdown()
	}
	return s.err
}

// RunUntil runs every event up to and including the instant t and leaves the
// clock at t, or where the run was stopped. An instant in the past is an error.
func (s *Simulator) RunUntil(ctx context.Context, t Time) (err error) {
	if t < s.now {
		return fmt.Errorf("cannot run until %v: it is %v already", t, s.now)
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave(&err)
	if s.startEntities(); s.err != nil {
		return s.err
	}
	if err := s.run(ctx, t); err != nil {
		return err
	}
	if !s.stopped && t < Forever {
		s.now = t
	}
	return nil
}

// enter begins a run.
func (s *Simulator) enter() error {
	if s.running {
		return fmt.Errorf("at %v: %w", s.now, errNested)
	}
	if s.err != nil {
		return s.err
	}
	s.stopped, s.running = false, true
	return nil
}

// leave ends a run. What a handler, or an entity, has panicked with is its error.
func (s *Simulator) leave(err *error) {
	if p := recover(); p != nil {
		s.err = errors.Join(s.err, s.panicked(p))
		*err = s.err
	}
	s.running, s.starting, s.ctx = false, false, nil
}

// contextInterval is the number of events that run between two looks at the context.
const contextInterval = 1024

func (s *Simulator) run(ctx context.Context, until Time) error {
	s.ctx = ctx
	for n := uint(0); !s.stopped; n++ {
		if n%contextInterval == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("stopped at %v: %w", s.now, err)
			}
		}
		if more, err := s.step(until); !more || err != nil {
			return err
		}
		if s.done != nil && s.done() {
			s.stopped = true
		}
	}
	return nil
}

// step runs the earliest event if it is not after until.
func (s *Simulator) step(until Time) (bool, error) {
	top := s.heap.peek()
	if top == nil || top.time > until {
		return false, nil
	}
	if s.cfg.MaxEvents > 0 && s.executed >= s.cfg.MaxEvents {
		return false, &EventLimitError{Limit: s.cfg.MaxEvents, Now: s.now}
	}
	p, to, arg := s.heap.take()
	s.now = p.time
	s.executed++
	e := Event{Time: p.time, Phase: Phase(p.rank >> seqBits), Seq: p.rank & (1<<seqBits - 1), Arg: arg, to: to}
	if s.cfg.Fingerprint {
		s.hash = mix(s.hash, scatter(uint64(e.Time), p.rank, arg))
	}
	to.Handle(s, e)
	for _, o := range s.observers {
		o.ObserveEvent(e)
	}
	if s.err != nil {
		blame(s.err, e)
	}
	return true, s.err
}
