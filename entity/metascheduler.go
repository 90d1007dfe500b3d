package entity

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Phases of one instant, in the order in which they run. What outlives its
// estimate says so first; what ends makes room; then owners' jobs and arrivals
// come in; then one round decides; then what was reserved for this instant
// starts. PassEvent puts arrivals before ends.
const (
	PhaseOverrun des.Phase = 10 * (iota + 1)
	PhaseArrivalFirst
	PhaseEnd
	PhaseLocal
	PhaseArrival
	PhaseDecide
	PhaseStart
)

// PhaseTick is when a cycle begins: everybody who comes at that instant is part
// of it.
const PhaseTick = PhaseDecide - 5

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
)

// ParsePass reads "instant" or "event".
func ParsePass(s string) (Pass, error) {
	switch s {
	case "instant":
		return PassInstant, nil
	case "event":
		return PassEvent, nil
	}
	return 0, fmt.Errorf("pass %q: want instant or event", s)
}

// Metascheduler runs a stream of jobs through a policy on a plan: it is the
// only one that starts and ends jobs. Set its exported fields before the run.
type Metascheduler struct {
	// Pass is when the policy gets its rounds.
	Pass Pass
	// Overrun is what happens to a job whose runtime passes its estimate.
	Overrun Overrun
	// Cycle, where it is not 0, gives the policy a round (CauseTick) at every
	// multiple of it at which jobs wait. Where they wait for nothing (none runs,
	// nothing will become free or arrive) there are no more ticks.
	Cycle des.Time

	sim       *des.Simulator
	plan      Plan
	policy    Policy
	observers []Observer
	queue     *Queue

	next    func() (*Job, bool)
	stop    func()
	arrival *Job        // the one pending arrival
	coming  des.EventID // its event
	seq     int64

	bookings []*bookings

	round        Round
	roundPending bool
	rounds       int64
	fresh        []*Job
	running      int

	gained             bool     // something became free since the last round
	freedFrom, freedTo des.Time // see Round.Freed

	nodes   nodePlan // the plan, where it is over named nodes, or nil
	ticking bool     // the next tick is due
	ticked  des.Time // the latest tick

	alarm   des.EventID // see setAlarm
	alarmAt des.Time
}

// nodePlan is a plan over named nodes: reservations end node by node, and nodes
// become free without the metascheduler's doing.
type nodePlan interface {
	// ReleaseTask gives back the i-th task's node from the instant at on.
	ReleaseTask(r *Reservation, i int, at des.Time)
	// NextGain is the next instant at which a node becomes free as planned.
	NextGain() des.Time
	// Err is what ends the run: an answer of the plan that was none.
	Err() error
}

// NewMetascheduler connects a simulation, a plan and a policy; observers are
// told of every job event, in the order given.
func NewMetascheduler(sim *des.Simulator, plan Plan, policy Policy, observers ...Observer) *Metascheduler {
	m := &Metascheduler{
		sim: sim, plan: plan, policy: policy, observers: observers,
		queue: newQueue(), freedFrom: des.Forever, ticked: -1, alarmAt: des.Forever,
	}
	m.nodes, _ = plan.(nodePlan)
	for _, o := range observers {
		if a, ok := o.(Attacher); ok {
			a.Attach(m)
		}
	}
	return m
}

// Simulator is the simulation the jobs run in.
func (m *Metascheduler) Simulator() *des.Simulator { return m.sim }

// Plan is the plan the jobs run on.
func (m *Metascheduler) Plan() Plan { return m.plan }

// Policy is the policy that decides.
func (m *Metascheduler) Policy() Policy { return m.policy }

// Submit takes the workload, in the place of one that has not ended: jobs in
// order of submission, pulled one ahead of the clock. A job submitted before the one in front of it ends the run with an
// error.
func (m *Metascheduler) Submit(jobs iter.Seq[*Job]) {
	m.closeJobs()
	next, stop := iter.Pull(jobs)
	m.SubmitNext(next)
	m.stop = stop
}

// SubmitNext is Submit for a workload that is read by calls: next returns the
// next job, or false at the end.
func (m *Metascheduler) SubmitNext(next func() (*Job, bool)) {
	m.closeJobs()
	m.next = next
	m.pull()
}

// Close lets go of the workload: no more jobs arrive. It is needed only where a
// run ended before its workload did.
func (m *Metascheduler) Close() {
	m.closeJobs()
	for _, b := range m.bookings {
		b.close()
	}
}

func (m *Metascheduler) closeJobs() {
	if m.stop != nil {
		m.stop()
	}
	m.next, m.stop = nil, nil
	m.sim.Cancel(m.coming)
}

// Rounds counts the decision rounds so far.
func (m *Metascheduler) Rounds() int64 { return m.rounds }

// Queue is the waiting queue.
func (m *Metascheduler) Queue() *Queue { return m.queue }

// Running counts the jobs that occupy processors or nodes now.
func (m *Metascheduler) Running() int { return m.running }

func (m *Metascheduler) pull() {
	j, ok := m.next()
	if !ok {
		m.closeJobs()
		return
	}
	if j.Submit < m.sim.Now() {
		m.sim.Fail(fmt.Errorf("%v is submitted at %v, before the job in front of it (%v): the workload must be sorted by submission", j, j.Submit, m.sim.Now()))
		return
	}
	m.arrival = j
	phase := PhaseArrival
	if m.Pass == PassEvent {
		phase = PhaseArrivalFirst
	}
	m.coming = m.sim.At(j.Submit, phase, (*arriving)(m), uint64(j.ID))
}

// The kernel calls these; each is a view of a metascheduler or a job as the
// handler of one kind of event, which costs no allocation.
type (
	arriving   Metascheduler
	deciding   Metascheduler
	ticker     Metascheduler
	alarm      Metascheduler
	starting   Job
	ending     Job
	taskEnding Job
	overrun    Job
	tooLate    Job
)

func (a *arriving) Handle(*des.Simulator, des.Event) {
	m := (*Metascheduler)(a)
	j := m.arrival
	m.pull()
	m.submit(j)
}

// enter takes j in, whoever brings it, as the next in the order of submission.
func (m *Metascheduler) enter(j *Job) {
	j.seq = m.seq
	m.seq++
	j.home = m
	j.Promised = NeverPromised
	m.notify(j, JobSubmitted)
}

func (m *Metascheduler) submit(j *Job) {
	m.enter(j)
	if err := m.plan.Fits(j.Request); err != nil {
		m.reject(j, err.Error())
		if m.nodes != nil {
			m.checkAnswers()
		}
		return
	}
	if j.Request.Deadline > 0 && !m.limit(j) {
		return
	}
	j.State = Waiting
	m.queue.add(j)
	m.fresh = append(m.fresh, j)
	m.wake(CauseArrival)
}

// limit has j, which must end by its deadline, rejected when it has waited too
// long: nobody behind it shall wait for a job that can never start. It reports
// whether j can start at all.
func (m *Metascheduler) limit(j *Job) bool {
	latest := j.Request.Deadline
	if m.nodes == nil { // on nodes a task may be shorter than the request's length
		latest -= j.Request.Length
	}
	if latest < m.sim.Now() {
		m.reject(j, fmt.Sprintf("its deadline, %v, is too soon", j.Request.Deadline))
		return false
	}
	m.sim.At(latest.Add(des.Tick), PhaseOverrun, (*tooLate)(j), uint64(j.ID))
	return true
}

func (l *tooLate) Handle(*des.Simulator, des.Event) {
	if j := (*Job)(l); j.State == Waiting {
		m := j.home
		m.queue.remove(j)
		m.reject(j, fmt.Sprintf("its deadline, %v, can no longer be met", j.Request.Deadline))
		m.wake(CauseOverrun)
	}
}

func (m *Metascheduler) reject(j *Job, reason string) {
	j.State, j.Reason = Rejected, reason
	m.notify(j, JobRejected)
}

// wake asks for a round: at once, or once for everything at this instant.
// Jobs that outlive their estimates at one instant are all known to do so
// before anyone decides.
func (m *Metascheduler) wake(c Cause) {
	if c != CauseTick {
		m.armTick()
	}
	m.round.Cause |= c
	phase := PhaseDecide
	if m.Pass == PassEvent {
		if c != CauseOverrun {
			m.decide()
			return
		}
		phase = PhaseOverrun + 1
	}
	if !m.roundPending {
		m.roundPending = true
		m.sim.At(m.sim.Now(), phase, (*deciding)(m), uint64(c))
	}
}

// armTick has the next cycle begin on time, if anybody waits for it.
func (m *Metascheduler) armTick() {
	if m.Cycle <= 0 || m.ticking || m.queue.Len() == 0 {
		return
	}
	now := m.sim.Now()
	at := now - now%m.Cycle
	if at < now || at == m.ticked {
		at = at.Add(m.Cycle)
	}
	if at < des.Forever {
		m.ticking = true
		m.sim.At(at, PhaseTick, (*ticker)(m), 0)
	}
}

func (t *ticker) Handle(_ *des.Simulator, ev des.Event) {
	m := (*Metascheduler)(t)
	m.ticking, m.ticked = false, ev.Time
	m.wake(CauseTick)
}

// changes reports whether anything will change while time passes, arrivals
// apart.
func (m *Metascheduler) changes() bool {
	if m.running > 0 || (m.nodes != nil && m.nodes.NextGain() < des.Forever) {
		return true
	}
	for j := range m.queue.By(Submission, m.sim.Now()).All() {
		if j.State == Reserved {
			return true
		}
	}
	return false
}

func (d *deciding) Handle(*des.Simulator, des.Event) { (*Metascheduler)(d).decide() }

func (m *Metascheduler) decide() {
	m.roundPending = false
	m.rounds++
	r := &m.round
	r.Now, r.Plan, r.Queue, r.meta = m.sim.Now(), m.plan, m.queue, m
	r.fresh, m.fresh = m.fresh, r.fresh[:0]
	if r.Cause.Has(CauseOverrun | CauseLocal) {
		slices.SortFunc(r.fresh, func(a, b *Job) int { return int(a.seq - b.seq) })
	}
	r.Gained = m.plan.Forget(r.Now) || m.gained || r.Cause != CauseArrival
	m.policy.Schedule(r)
	r.dropHolds()
	if r.Cause.Has(CauseTick) && m.changes() {
		m.armTick()
	}
	r.Cause, m.gained = 0, false
	clear(r.fresh)
	if m.nodes != nil {
		m.checkAnswers()
		m.setAlarm()
	}
}

// checkAnswers ends the run if the plan over named nodes gave no proper answer.
func (m *Metascheduler) checkAnswers() {
	if err := m.nodes.Err(); err != nil {
		m.sim.Fail(fmt.Errorf("at %v, policy %s: %w", m.sim.Now(), m.policy.Name(), err))
	}
}

// setAlarm has waiting jobs get a round when time alone makes nodes free: where
// an owner's job ends.
func (m *Metascheduler) setAlarm() {
	at := des.Forever
	if m.queue.Len() > 0 {
		at = m.nodes.NextGain()
	}
	if at == m.alarmAt {
		return
	}
	m.sim.Cancel(m.alarm)
	m.alarmAt = at
	if at < des.Forever {
		m.alarm = m.sim.At(at, PhaseEnd, (*alarm)(m), 0)
	}
}

func (a *alarm) Handle(*des.Simulator, des.Event) {
	m := (*Metascheduler)(a)
	m.alarmAt = des.Forever
	m.wake(CauseLocal)
}

// placed starts a job whose reservation begins now, or has it wait until then.
func (m *Metascheduler) placed(j *Job) {
	start := j.Reservation.Window.Start
	if start == m.sim.Now() {
		m.begin(j)
		return
	}
	j.State = Reserved
	j.due = m.sim.At(start, PhaseStart, (*starting)(j), uint64(j.ID))
	m.promise(j, start, false)
}

func (m *Metascheduler) withdraw(j *Job) {
	m.sim.Cancel(j.due)
	m.plan.Release(&j.Reservation, m.sim.Now())
	m.freed(j.Reservation.Window.Start, j.Reservation.Window.End)
	ahead := j.State == Reserved
	j.State = Waiting
	if ahead {
		m.notify(j, JobWithdrawn)
	}
}

// evict takes from j what it holds, a reservation ahead or the nodes it runs
// on, and puts it back into the queue, where it stood by its submission. What a
// running job has done is lost. The caller asks for the round.
func (m *Metascheduler) evict(j *Job) {
	m.fresh = append(m.fresh, j)
	running := j.State == Running
	if running {
		for i, t := range j.Reservation.Window.Tasks {
			ran := j.realTime(t.End - j.Start)
			if m.sim.Cancel(j.ends[i]) {
				ran = m.sim.Now() - j.Start
			}
			j.Lost += ran
		}
		j.Preempted++
		m.running--
	}
	m.withdraw(j)
	if running {
		m.queue.add(j)
		m.notify(j, JobRequeued)
	}
}

func (m *Metascheduler) forget(now des.Time) {
	m.gained = m.plan.Forget(now) || m.gained
}

// freed widens the span within which something was given back.
func (m *Metascheduler) freed(from, to des.Time) {
	m.freedFrom = min(m.freedFrom, from)
	m.freedTo = max(m.freedTo, to)
}

func (m *Metascheduler) promise(j *Job, start des.Time, head bool) {
	if j.Promised == NeverPromised {
		j.Promised = start
	}
	for _, o := range m.observers {
		o.Observe(JobEvent{Time: m.sim.Now(), Kind: JobPromised, Job: j, Start: start, Head: head})
	}
}

func (s *starting) Handle(*des.Simulator, des.Event) {
	j := (*Job)(s)
	j.home.begin(j)
}

// begin starts j, whose reservation begins now.
func (m *Metascheduler) begin(j *Job) {
	now := m.sim.Now()
	if !j.Booked {
		j.Backfilled = m.queue.First() != j
		m.queue.remove(j)
	}
	m.running++
	j.State = Running
	j.Start = now
	m.notify(j, JobStarted)

	w := &j.Reservation.Window
	if w.Tasks != nil {
		m.beginTasks(j)
		return
	}
	run := j.Runtime
	if reserved := w.Length(); run > reserved {
		if m.Overrun == OverrunExtend {
			m.sim.At(w.End, PhaseOverrun, (*overrun)(j), uint64(j.ID))
		} else {
			run = reserved
		}
	}
	j.due = m.sim.At(now.Add(run), PhaseEnd, (*ending)(j), uint64(j.ID))
}

// beginTasks has each task of j end at its own time.
func (m *Metascheduler) beginTasks(j *Job) {
	w := &j.Reservation.Window
	j.left, j.ends = len(w.Tasks), j.ends[:0]
	for i, t := range w.Tasks {
		end := w.Start.Add(j.realTime(t.End - w.Start))
		j.ends = append(j.ends, m.sim.At(end, PhaseEnd, (*taskEnding)(j), uint64(i)))
	}
}

// realTime is how long a task really takes for which so much was reserved:
// times how much of its estimate the job really takes, and never more.
func (j *Job) realTime(reserved des.Time) des.Time {
	if j.Runtime >= j.Request.Length {
		return reserved
	}
	share := float64(j.Runtime) / float64(j.Request.Length)
	return min(reserved, des.Time(math.Ceil(share*float64(reserved))))
}

func (e *taskEnding) Handle(_ *des.Simulator, ev des.Event) {
	j := (*Job)(e)
	m, i := j.home, int(ev.Arg)
	m.forget(ev.Time)
	if end := j.Reservation.Window.Tasks[i].End; ev.Time < end {
		m.freed(ev.Time, end)
	}
	m.nodes.ReleaseTask(&j.Reservation, i, ev.Time)
	if j.left--; j.left > 0 {
		m.wake(CauseEnd)
		return
	}
	m.finish(j)
}

func (e *ending) Handle(_ *des.Simulator, ev des.Event) {
	j := (*Job)(e)
	m := j.home
	m.forget(ev.Time)
	if end := j.Reservation.Window.End; ev.Time < end {
		m.freed(ev.Time, end)
	}
	m.plan.Release(&j.Reservation, ev.Time)
	m.finish(j)
}

// finish takes leave of a job that no longer holds anything.
func (m *Metascheduler) finish(j *Job) {
	m.running--
	j.Finish = m.sim.Now()
	// On named nodes a job is cut off whatever Overrun says.
	if j.Runtime > j.Request.Length && (m.Overrun != OverrunExtend || j.Reservation.Window.Tasks != nil) {
		j.State = Killed
		j.Reason = "killed at its estimate"
		m.notify(j, JobKilled)
	} else {
		j.State = Finished
		m.notify(j, JobFinished)
	}
	if !j.Booked || m.queue.Len() > 0 {
		m.wake(CauseEnd)
	}
}

// Handle extends the reservation of a job that runs on past its estimate: the
// scheduler now believes that it will take twice what it has taken. Plans made
// behind it are void; the policy makes new ones. Advance reservations stand:
// the job runs on until one needs its processors, and is cut off there.
func (o *overrun) Handle(s *des.Simulator, _ des.Event) {
	j := (*Job)(o)
	if j.State != Running {
		return
	}
	m := j.home
	now := s.Now()
	m.forget(now)
	for q := range m.queue.By(Submission, now).All() {
		if q.State == Reserved {
			m.withdraw(q)
			m.fresh = append(m.fresh, q)
		}
	}
	w := j.Reservation.Window
	w.End = now.Add(max(now-w.Start, des.Second))
	m.plan.Release(&j.Reservation, now)
	rest := w
	rest.Start = now
	if c, ok := m.plan.(counted); ok {
		if fits, _, miss := c.FitsAt(now, rest.Nodes, rest.Length()); !fits {
			rest.End = max(now, now+miss-des.Tick)
			w.End = rest.End
		}
	}
	if w.End == now {
		j.Reservation.Window = w
		s.Cancel(j.due)
		m.running--
		j.Finish, j.State, j.Reason = now, Killed, "killed past its estimate: an advance reservation needs its processors"
		m.notify(j, JobKilled)
		m.wake(CauseOverrun)
		return
	}
	if _, err := m.plan.Reserve(j, rest); err != nil {
		s.Fail(fmt.Errorf("at %v, extending %v past its estimate: %w", now, j, err))
		return
	}
	j.Reservation.Window = w
	if w.Start.Add(j.Runtime) > w.End {
		s.At(w.End, PhaseOverrun, o, uint64(j.ID))
	}
	m.wake(CauseOverrun)
}

func (m *Metascheduler) notify(j *Job, k JobEventKind) {
	for _, o := range m.observers {
		o.Observe(JobEvent{Time: m.sim.Now(), Kind: k, Job: j})
	}
}

// queued reports whether j is in the queue.
func (j *Job) queued() bool { return j.State == Waiting || j.State == Reserved }
