package entity

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// Phases of one instant, in the order in which they run: predictions and estimates that are
// outlived; ends, which make room; changes of the world (owners' jobs, prices, bookings);
// arrivals; one round of decisions; starts of what was reserved for this instant. PassEvent
// puts arrivals before ends.
const (
	phaseOverrun des.Phase = 10 * (iota + 1)
	phaseArrivalFirst
	PhaseEnd
	PhaseChange
	PhaseArrival
	PhaseDecide
	PhaseStart
)

// phaseTick is when a cycle begins: every job that comes at that instant is part
// of it.
const phaseTick = PhaseDecide - 5

// Pass says when a policy gets its rounds.
type Pass uint8

const (
	// PassInstant is one round an instant, after everything that happens at it.
	PassInstant Pass = iota
	// PassEvent is a round after every single submission and termination, the
	// submissions of an instant before its terminations. A processor then counts
	// as free once the estimated end of its job has come. Published schedules
	// of the pyss simulator follow this convention.
	PassEvent
	// PassEach is a round after every single termination and submission, in the order in
	// which they happen: terminations first, in the order in which the jobs started, then
	// submissions. Published schedules of ElastiSim follow it.
	PassEach
)

var passes = enum.Of[Pass]("pass", "instant", "event", "each")

func (p Pass) String() string { return passes.Name(p) }

// ParsePass reads "instant", "event" or "each".
func ParsePass(s string) (Pass, error) { return passes.Parse(s) }

// Metascheduler runs jobs through a policy on a plan. Nothing else starts or ends jobs. Set its
// exported fields before the run.
//
// Whatever else is to happen to the world during a run asks it, from an
// Observer, from a policy or from an event of its own:
//
//	Submit, SubmitAll, SubmitFrom   jobs come, at any instant from now on
//	Cancel, Kill, Preempt           and are taken out again
//	Resize                          or go on on more processors, or fewer
//	WakeAt                          the policy gets a round
//	Tentative                       a window is kept for a job that may come
//	Withhold                        capacity leaves the plan
//	Changed                         anything else that waiting jobs may gain by
type Metascheduler struct {
	// Pass is when the policy gets its rounds.
	Pass Pass
	// Overrun says what becomes of a job whose runtime exceeds its estimate.
	Overrun Overrun
	// Cycle, if not 0, gives the policy a round (CauseTick) at every multiple of it at which
	// jobs wait. There are no more ticks if the jobs wait for nothing (none runs, nothing
	// will become free or arrive). A policy that starts jobs by the clock alone asks for its
	// rounds by Round.WakeAt.
	Cycle des.Time
	// Wakes says when the policy is awake. All its rounds wait for that, also rounds of
	// cycles and rounds that were asked for, whatever Pass says. The zero value means
	// always.
	Wakes Wakes
	// Predictor, if set, says how long jobs will run, and jobs are planned by that.
	// Corrector says how long jobs will run that outlive their predictions; without a
	// Corrector they are planned by their requests. Advance reservations keep their windows.
	// The predictor and corrector of a Predicting policy hold if these are nil.
	Predictor Predictor
	Corrector Corrector
	// LeaveWaiting allows a run to end with jobs left in the queue. Otherwise such a run ends
	// with an *UnfinishedError.
	LeaveWaiting bool
	// Checkpoints says when running jobs write checkpoints. The requests of jobs grow by the
	// time of their checkpoints. Advance reservations write none.
	Checkpoints Checkpoints
	// Placer, if set, chooses which processors of a counted plan a job has
	// (Run.Place).
	Placer Placer

	sim       *des.Simulator
	plan      Plan
	named     bool // the plan's nodes have names
	policy    Policy
	limiting  Limiting // the policy, where it is one, or nil
	observers *Observers
	queue     *Queue
	places    places
	busy      busy
	slab      []Run // runs to come

	rares        []rareState // rare states of runs to come: few runs have one
	deciding     bool        // the policy is
	predictLater []Known     // jobs to be predicted anew when the policy has decided

	sources []*source
	seq     int64

	reasons      []toldReason  // by number in the queue; see Round.TellWhy
	withheld     []withheldFor // see WithheldFor; kept only if there is a WhyObserver
	round        Round
	roundPending bool
	causes       Cause  // of the next round
	changes      uint64 // see Round.Changes
	rounds       int64
	fresh        []*Run
	running      int
	booked       int  // advance reservations that lie ahead
	coming       int  // submitted one by one, and still to come
	first, last  *Run // of the running, in order of start

	gained             bool     // something became free since the last round
	freedFrom, freedTo des.Time // see Round.Freed

	ticking bool       // the next tick is due
	ticked  des.Time   // the latest tick
	wakes   []des.Time // instants that were asked for, ascending

	decided des.Time // the latest round, where there are Wakes; -1 before the first

	alarm   des.EventID // see setAlarm
	alarmAt des.Time
}

// NewMetascheduler connects a simulation, a plan and a policy. Observers are told of every
// job event, in the order given.
//
// A nil plan, policy or observer ends the run with an error before it begins, and so does a
// plan whose Err is not nil; then nothing is attached.
func NewMetascheduler(sim *des.Simulator, plan Plan, policy Policy, observers ...Observer) *Metascheduler {
	if err := usable(plan, policy, observers); err != nil {
		sim.Fail(err)
		return &Metascheduler{sim: sim, plan: noPlan{}, policy: policy, observers: NewObservers(), queue: &Queue{}, alarmAt: des.Forever}
	}
	m := &Metascheduler{
		sim: sim, plan: plan, policy: policy, observers: NewObservers(observers...),
		queue: &Queue{}, freedFrom: des.Forever, ticked: -1, decided: -1, alarmAt: des.Forever,
	}
	m.named = Named(plan)
	m.limiting, _ = As[Limiting](policy)
	m.busy.size = plan.Size()
	m.observers.before = m.instantOver
	name := "metascheduler"
	for n := 2; sim.EntityByName(name) != nil; n++ {
		name = fmt.Sprintf("metascheduler %d", n)
	}
	sim.AddEntity(name, (*lifetime)(m))
	m.Predictor, m.Corrector = PredictionsOf(policy)
	m.attach(plan)
	m.attach(policy)
	for _, o := range observers {
		m.attach(o)
	}
	return m
}

// attach tells part, if it is an Attacher, which metascheduler it belongs to.
func (m *Metascheduler) attach(part any) {
	if a, ok := part.(Attacher); ok {
		a.Attach(m)
	}
}

// usable reports why there can be no run with these, or nil.
func usable(plan Plan, policy Policy, observers []Observer) error {
	if plan == nil {
		return errors.New("a metascheduler needs a plan, and it is nil")
	}
	if policy == nil {
		return errors.New("a metascheduler needs a policy, and it is nil")
	}
	if i := slices.Index(observers, nil); i >= 0 {
		return fmt.Errorf("observer %d of a metascheduler is nil", i+1)
	}
	return plan.Err()
}

// errNoRun is the answer to every question to noPlan.
var errNoRun = errors.New("there is no plan: the run has failed before it began")

// noPlan is the plan of a run that cannot begin.
type noPlan struct{}

func (noPlan) Size() int                                                   { return 0 }
func (noPlan) Node(int) *Node                                              { return nil }
func (noPlan) Fits(Request) error                                          { return errNoRun }
func (noPlan) Find(Request, des.Time, des.Time) (Window, bool)             { return Window{}, false }
func (noPlan) FindEarlier(*Reservation, des.Time, des.Time) (Window, bool) { return Window{}, false }
func (noPlan) FitsAt(_ des.Time, n int, l des.Time) (bool, int, des.Time)  { return false, n, l }
func (noPlan) Slots(des.Time, des.Time) iter.Seq[Slot]                     { return func(func(Slot) bool) {} }
func (noPlan) InTheWay(Where, des.Time, des.Time, func(*Run) bool) []*Run  { return nil }
func (noPlan) NextGain() des.Time                                          { return des.Forever }
func (noPlan) Reserve(*Run, Window) (*Reservation, error)                  { return nil, errNoRun }
func (noPlan) Move(*Reservation, Window) error                             { return errNoRun }
func (noPlan) Withhold(*Run, Where, des.Time, des.Time) error              { return errNoRun }
func (noPlan) Forget(des.Time) bool                                        { return false }
func (noPlan) Settle(*Reservation)                                         {}
func (noPlan) Extend(*Reservation, Window) error                           { return errNoRun }
func (noPlan) ReleaseTask(*Reservation, int, des.Time)                     {}
func (noPlan) Release(*Reservation, des.Time)                              {}
func (noPlan) Err() error                                                  { return nil }

// lifetime is the metascheduler as the simulation starts it and takes leave of
// it.
type lifetime Metascheduler

func (*lifetime) Handle(*des.Context, des.Message) {}

// Calling names the outside code that is being called: an observer or the policy.
func (l *lifetime) Calling() string {
	m := (*Metascheduler)(l)
	if who := m.observers.calling(); who != "" {
		return who
	}
	if m.deciding {
		return "policy " + m.policy.Name()
	}
	return ""
}

// Start is called before anything happens.
func (l *lifetime) Start(*des.Context) {
	m := (*Metascheduler)(l)
	m.attach(m.Predictor)
	m.attach(m.Corrector)
}

// Shutdown is called when nothing is left to happen.
func (l *lifetime) Shutdown(*des.Context) {
	m := (*Metascheduler)(l)
	m.Settle()
	if first := m.queue.First(); first != nil && !m.LeaveWaiting {
		m.sim.Fail(&UnfinishedError{Policy: m.policy.Name(), Waiting: m.queue.Len(), First: first})
	}
}

// UnfinishedError reports jobs that were left waiting when nothing was left to
// happen.
type UnfinishedError struct {
	Policy  string // name of the policy
	Waiting int    // number of jobs in the queue
	First   *Run   // in order of submission
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("policy %s left %d jobs in the queue for ever, from %v on: nothing is left to happen that could start them (a policy that goes by the clock asks for rounds by Round.WakeAt; Metascheduler.LeaveWaiting allows it)",
		e.Policy, e.Waiting, e.First)
}

// Simulator returns the simulation the jobs run in.
func (m *Metascheduler) Simulator() *des.Simulator { return m.sim }

// Plan returns the plan the jobs run on, as of now.
func (m *Metascheduler) Plan() Plan {
	m.Advance()
	return m.plan
}

// Fits reports whether req could be met here if nothing were taken, as far as the plan
// and the policy tell; the error says why not, for the job's user.
func (m *Metascheduler) Fits(req Request) error {
	if err := m.plan.Fits(req); err != nil || m.limiting == nil {
		return err
	}
	return m.limiting.Refuses(req)
}

// Watch adds an observer of every job event, behind the observers that were given. An
// Attacher calls it before the run.
func (m *Metascheduler) Watch(o Observer) { m.observers.add(o) }

// Policy returns the policy that decides.
func (m *Metascheduler) Policy() Policy { return m.policy }

// Rounds returns the number of decision rounds so far.
func (m *Metascheduler) Rounds() int64 { return m.rounds }

// Queue returns the waiting queue.
func (m *Metascheduler) Queue() *Queue { return m.queue }

// Running counts the jobs that occupy processors or nodes now.
func (m *Metascheduler) Running() int { return m.running }

// RunningJobs yields the jobs that occupy processors or nodes now, in the order
// in which they started. Jobs that end meanwhile are passed over, and jobs that
// start meanwhile are left out.
func (m *Metascheduler) RunningJobs() iter.Seq[*Run] {
	return func(yield func(*Run) bool) {
		now := make([]*Run, 0, m.running)
		for r := m.first; r != nil; r = r.next {
			now = append(now, r)
		}
		for _, r := range now {
			if r.State == Running && !yield(r) {
				return
			}
		}
	}
}

// Settle tells observers that the present instant is over. A run does so by
// itself as time goes on and at its end; it is needed only where a run is
// stopped in between and is to be looked at.
func (m *Metascheduler) Settle() { m.observers.Settle() }

// newRun returns the run of a job that is to come. Runs are allocated many at a time,
// to spare the collector; a slab lives as long as any of them.
func (m *Metascheduler) newRun(j *Job, booked bool) *Run {
	if len(m.slab) == 0 {
		m.slab = make([]Run, 64)
	}
	r := &m.slab[0]
	m.slab = m.slab[1:]
	// Fields one by one: several at once would be copied by way of temporary ones.
	r.Job = j
	r.Request = j.Request
	r.Runtime = j.Runtime
	r.Shapes = j.Shapes
	r.Promised = NeverPromised
	r.Booked = booked
	r.meta = m
	if m.Overrun == OverrunRaise && j.Runtime > j.Request.Length || m.Checkpoints.Cost > 0 && !booked {
		r.withRare()
		r.renew()
	}
	return r
}

// RequestOf returns what j asks for here: its own request, with its runtime as the length if
// Overrun is OverrunRaise and the runtime is longer.
func (m *Metascheduler) RequestOf(j *Job) Request {
	req := j.Request
	if m.Overrun == OverrunRaise {
		req.Length = max(req.Length, j.Runtime)
	}
	return req
}

// instantOver ends an instant, before observers hear of that.
func (m *Metascheduler) instantOver() {
	if m.Placer != nil {
		m.place()
	}
	if m.busy.due(m.observers.now) {
		m.conserve()
	}
}

// link puts r, whose attempt begins, at the end of the running; unlink takes it out, once.
func (m *Metascheduler) link(r *Run) {
	m.running++
	m.busy.taken += r.Reservation.Window.Nodes
	r.previous, r.next = m.last, nil
	if m.last == nil {
		m.first = r
	} else {
		m.last.next = r
	}
	m.last = r
}

func (m *Metascheduler) unlink(r *Run) {
	m.running--
	if w := &r.Reservation.Window; w.Tasks == nil {
		m.busy.taken -= w.Nodes
	} else {
		m.busy.taken -= r.rare.tasksLeft
	}
	if r.previous == nil {
		if m.first != r {
			m.sim.Fail(fmt.Errorf("at %v, policy %s: an attempt of %v ends, and none is under way", m.sim.Now(), m.policy.Name(), r))
		}
		m.first = r.next
	} else {
		r.previous.next = r.next
	}
	if r.next == nil {
		m.last = r.previous
	} else {
		r.next.previous = r.previous
	}
	r.previous, r.next = nil, nil // what is over must not keep others from the collector
}

// Advance begins the present instant, if it has not begun: observers hear that the instant
// before is over, and may stop jobs, before anything else is done or looked at. After it the
// places of jobs that started before are known, and the plan is as of now. The verbs of the
// metascheduler call it by themselves.
func (m *Metascheduler) Advance() {
	now := m.sim.Now()
	m.observers.reach(now)
	m.gained = m.plan.Forget(now) || m.gained
}

// freed widens the span within which something was given back.
func (m *Metascheduler) freed(from, to des.Time) {
	m.freedFrom = min(m.freedFrom, from)
	m.freedTo = max(m.freedTo, to)
}

// notify tells of an event. Its place is noted first: an observer may stop at once
// what has just started.
func (m *Metascheduler) notify(r *Run, k JobEventKind) {
	now := m.sim.Now()
	if m.Predictor != nil && !r.Booked {
		m.Predictor.Observe(k, Known{r})
	}
	if m.Placer != nil {
		m.places.note(r, k)
	}
	m.observers.Tell(JobEvent{Time: now, Kind: k, Run: r})
	if r.rare != nil && r.rare.source != nil && k.Last() {
		r.rare.source.ended(r)
	}
}

func (m *Metascheduler) promise(r *Run, start des.Time, head bool) {
	if r.Promised == NeverPromised {
		r.Promised = start
	}
	m.observers.Tell(JobEvent{Time: m.sim.Now(), Kind: JobPromised, Run: r, Start: start, Head: head})
}
