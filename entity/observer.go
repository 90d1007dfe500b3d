package entity

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// JobEventKind says what happened to a job.
type JobEventKind uint8

const (
	JobSubmitted JobEventKind = iota // came; it enters the queue unless it is rejected now
	JobRejected                      // turned away before it started, or cancelled; Run.Reason says why
	JobPromised                      // told of a start ahead (JobEvent.Start): EASY's hold for the head, a conservative or planned reservation, or a reservation moved
	JobStarted                       // began to run; Run.Reservation.Window says where
	JobFinished                      // its last task ended by itself
	JobKilled                        // its last task was cut off
	JobRequeued                      // preempted, and back in the queue
	JobWithdrawn                     // lost a reservation that lay ahead, and waits again
	JobResized                       // goes on in another shape; the attempt that has ended is the last of Run.Earlier
	JobCorrected                     // runs on at the end of its window, which is later now; where it has outlived its prediction, Run.Prediction is another one
)

var jobEvents = enum.Of[JobEventKind]("job event", "submitted", "rejected", "promised", "started", "finished", "killed", "requeued", "withdrawn", "resized", "corrected")

func (k JobEventKind) String() string { return jobEvents.Name(k) }

// Last reports whether nothing happens to a job after such an event: it has finished, was killed, or was rejected.
func (k JobEventKind) Last() bool { return k == JobFinished || k == JobKilled || k == JobRejected }

// JobEvent is one happening in a job's life.
type JobEvent struct {
	Time  des.Time     // the present instant
	Kind  JobEventKind // what happened
	Run   *Run         // the run to which it happened, in its state after the event
	Start des.Time     // JobPromised: the promised start
	// Head marks a JobPromised for the hold of the first job of the queue, which a
	// backfilling policy must not delay.
	Head bool
}

// Observer is told of every job event, in the order in which the events happen. It reads
// what it is shown. It may call the verbs of the Metascheduler (Submit, Cancel, Kill,
// Preempt, WakeAt) from inside Observe; the events that follow from such a call are told
// when all observers have been told of the present event, whose Run may have gone on by
// then. Events of one instant come in the order of the pass mode. Physically, jobs that end
// at an instant make room for jobs that start at it, in every mode.
//
// An observer may also implement Attacher, InstantObserver, TaskObserver, RoundObserver,
// CapacityObserver and WhyObserver, to be told more.
type Observer interface {
	// Observe is called once for each event, at the instant e.Time. It must not change
	// e.Run.
	Observe(e JobEvent)
}

// Attacher is an Observer that is told, before the first event, which metascheduler it will
// observe. A Policy may be an Attacher, too, and is attached first; it calls
// Metascheduler.Watch if it also wants to observe jobs.
type Attacher interface {
	// Attach is called once, before the first event.
	Attach(m *Metascheduler)
}

// InstantObserver is told that an instant at which something happened to jobs is over: all
// its events have been observed, and Run.Place of the jobs that started is known. It is
// called before the first event of a later instant, and at the end of the run. An observer
// that stops jobs from inside InstantOver must stand behind the observers that only look,
// because a preempted job has no place.
type InstantObserver interface {
	// InstantOver is called once for each instant at which something happened to jobs.
	InstantOver(at des.Time)
}

// TaskObserver is called when a task of a job on named nodes has ended:
// r.Reservation.Window.Tasks[i], at r.Ends[i].
type TaskObserver interface {
	// TaskEnded is called once for each task i of r on named nodes; the job's own end
	// follows the last one.
	TaskEnded(r *Run, i int)
}

// RoundObserver is called after the policy has decided in a round.
type RoundObserver interface {
	// Decided is called once for each round. It must not keep r.
	Decided(r *Round)
}

// CapacityObserver is called when capacity leaves the plan or comes back for another reason
// than jobs.
type CapacityObserver interface {
	// Withheld is called when h.Window() is taken. The window may lie ahead, and its end may
	// be des.Forever.
	Withheld(h *Hold)
	// Returned is called when what is left of the window is given back before its end.
	Returned(h *Hold)
}

// Observers passes events on to a list of observers. Each observer gets the events for which it
// has methods. A Metascheduler has one, and so has any other code that tells observers of jobs.
type Observers struct {
	all      []Observer
	instants []InstantObserver
	tasks    []TaskObserver
	rounds   []RoundObserver
	capacity []CapacityObserver
	whys     []WhyObserver
	now      des.Time
	begun    bool
	telling  telling
	who      int  // which of those that are told of telling is being told now
	run      *Run // whose event that is
	kind     JobEventKind
	round    int        // which of rounds is being told of a round, from 1; 0 where none is
	ahead    []JobEvent // to be told next
	before   func()     // what is to be done at the end of an instant, before anybody is told
}

// telling is the list to which observers are being told the present event. It is a number rather
// than a slice of observers, because it is written once for each observer and event.
type telling uint8

const (
	tellingNothing telling = iota
	tellingEvent           // Observers.all are
	tellingInstant         // Observers.instants are
)

// NewObservers returns the list of the given observers, in their order.
func NewObservers(all ...Observer) *Observers {
	o := &Observers{}
	for _, each := range all {
		o.add(each)
	}
	return o
}

// add appends an observer, which is told behind the others.
func (o *Observers) add(each Observer) {
	o.all = append(o.all, each)
	if i, ok := each.(InstantObserver); ok {
		o.instants = append(o.instants, i)
	}
	if t, ok := each.(TaskObserver); ok {
		o.tasks = append(o.tasks, t)
	}
	if r, ok := each.(RoundObserver); ok {
		o.rounds = append(o.rounds, r)
	}
	if c, ok := each.(CapacityObserver); ok {
		o.capacity = append(o.capacity, c)
	}
	if w, ok := each.(WhyObserver); ok {
		o.whys = append(o.whys, w)
	}
}

// Tell passes an event on at once. If an observer causes the event while observers are being
// told of another one, it is passed on after that one. If an observer panics, the error
// names it and the event.
func (o *Observers) Tell(e JobEvent) {
	o.reach(e.Time)
	o.begun = true
	if o.telling != tellingNothing {
		o.ahead = append(o.ahead, e)
		return
	}
	o.telling = tellingEvent
	for next := 0; ; next++ {
		o.run, o.kind = e.Run, e.Kind
		for i, each := range o.all {
			o.who = i
			each.Observe(e)
		}
		if next == len(o.ahead) {
			break
		}
		e = o.ahead[next]
	}
	o.ahead, o.telling = o.ahead[:0], tellingNothing
}

// reach ends the instant of the latest event where now is a later one.
func (o *Observers) reach(now des.Time) {
	if now != o.now {
		o.Settle()
		o.now = now
	}
}

// Settle tells observers that the instant of the latest event is over.
func (o *Observers) Settle() {
	if !o.begun || o.telling != tellingNothing {
		return
	}
	o.begun = false
	if o.before != nil {
		o.before()
	}
	at := o.now
	o.telling = tellingInstant
	for i, each := range o.instants {
		o.who = i
		each.InstantOver(at)
	}
	o.telling = tellingNothing
	if len(o.ahead) > 0 { // what observers have caused meanwhile
		first := o.ahead[0]
		o.ahead = o.ahead[:copy(o.ahead, o.ahead[1:])]
		o.Tell(first)
	}
}

// calling says which observer is being told of what, or is "".
func (o *Observers) calling() string {
	switch {
	case o.telling == tellingEvent:
		return fmt.Sprintf("the observer %T, told that %v is %v,", o.all[o.who], o.run, o.kind)
	case o.telling == tellingInstant:
		return fmt.Sprintf("the observer %T, told that the instant %v is over,", o.instants[o.who], o.now)
	case o.round > 0:
		return fmt.Sprintf("the observer %T, told of a round,", o.rounds[o.round-1])
	}
	return ""
}
