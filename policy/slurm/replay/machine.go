package replay

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Launch is the time from a job's start to its launch, and Epilog the time from its end, or from the order to
// kill it, until its nodes are free: 10 ms each. The recordings of real controllers were made with simulated
// nodes that took this long.
const (
	Launch = 10 * des.Second / 1000
	Epilog = 10 * des.Second / 1000
)

// perMessage is the time that slurmctld waits before it acts on a message (_throttle_start): the end of a job,
// the end of a node's epilog, a submission or a cancellation. It acts on one message after the other, so messages
// of one instant take effect at different instants. A pass for which sched_min_interval has been waited can come
// between them.
const perMessage = des.Tick

// RecordingEnds is the time from the last input to the end of a recording, at the latest: the value of
// Machine.Until for a recording.
const RecordingEnds = 2 * 24 * des.Hour

// What happens at one instant happens in this order.
const (
	phaseSubmit des.Phase = iota // users submit jobs
	phaseOrder                   // operators and outages act
	phasePass                    // the controller acts between two whole seconds: it has waited longer than any message
	phaseJob                     // jobs are launched, end, and their nodes are free: see step
	phaseCheck                   // the machine looks whether anything can still happen
	phaseAct                     // the controller acts
)

// Machine is the nodes and the users of a controller while a simulator plays them. Set the exported fields before
// Begin. It serves one run.
type Machine struct {
	// Tell, if set, is told of everything that happens: the rows of slurm-events.csv.
	Tell func(Event)
	// Watch, if set, hears of the jobs as observers of the project do.
	Watch *Watch
	// Lost, if set, hears of each outage that begins, and Regained of the nodes that come back.
	Lost     func(Lost)
	Regained func(nodes []int)
	// Whys makes Watch tell observers why jobs wait.
	Whys bool
	// Until, if not 0, is the time from the last input after which the run ends, whatever still waits or runs.
	Until des.Time
	// More, if set, reports whether jobs will still be brought by Come, whatever happens: the run does not end
	// before.
	More func() bool

	// The controller, and the instant at which it next acts.
	sim   *des.Simulator
	in    *Input
	c     *slurm.Controller
	wake  des.EventID
	awake des.Time // when wake is due; des.Forever: it is not

	// Jobs that have come, and the input that is still to come.
	jobs   map[string]*job     // by key
	all    []*job              // in the order in which they came
	of     map[*slurm.Job]*job // the same by the controller's record; without those whose record is purged
	past   []*job              // those that are over and whose records may be kept, in the order in which they came to be over
	feed   des.Feed[*Submission]
	coming int // number of submissions, reservations and orders that are still to come
	lastID int // the last ID that was given to a job

	// What is to happen to jobs, and when the run ends.
	due       steps       // a heap: the next step first
	handled   des.Time    // when the last message that has come so far takes effect
	releasing []release   // jobs whose nodes are being freed, in the order of their messages
	stepping  des.EventID // the instant of the next step
	open      int         // number of jobs that wait or have nodes
	busy      int         // number of jobs that have nodes, also of those that complete
	touched   des.Time    // when something last happened to a job
	lastInput des.Time    // when the last input came
	checking  des.EventID // the next check
	over      bool        // the machine has ended the run

	cancelling *job // the job that an operator is just cancelling
	failures   failures
	refusals   []string // a sentence for each job that was refused

	// What tellWhys has looked at: passes so far, the job that came last, and whether there were orders since.
	passes  int64
	newest  *job
	ordered bool
}

// job is a job that has come.
type job struct {
	*Submission
	id      int        // its ID; 0: it was refused
	job     *slurm.Job // the controller's record, a copy of Submission.Job; nil: it is purged
	asked   des.Time   // the limit that its user, or the last order, says; job.Limit may be a predicted one
	told    bool       // its submission was told: only then a cancellation is
	over    bool       // a stop was told, and no launch since: another stop gets no row, as its start got none
	state   string     // one of the states below, or a slurm.Stop
	watched watched
}

// release is the messages of the nodes of a job that they are free, one for each node.
type release struct {
	job   *job
	from  des.Time // the node at position i is free i+1 messages later
	nodes []int    // by name, as strings are ordered; those that are not free yet
}

// step is an event of a job that is due after a while. Steps of one instant come by kind, and then by the IDs of
// the jobs.
type step struct {
	at   des.Time
	kind stepKind
	job  *job
	from des.Time // the start of the attempt that it is about: of another attempt nothing happens
	stop Event    // of toTell
}

type stepKind uint8

const (
	toTell    stepKind = iota // the stop of the job is told
	toLaunch                  // the job's work begins
	toEnd                     // the job's work is over
	toRelease                 // its nodes are free
)

// steps is a heap of steps (container/heap).
type steps []step

func (s steps) Len() int { return len(s) }
func (s steps) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(s[i].at, s[k].at), cmp.Compare(s[i].kind, s[k].kind), cmp.Compare(s[i].job.id, s[k].job.id)) < 0
}
func (s steps) Swap(i, k int) { s[i], s[k] = s[k], s[i] }
func (s *steps) Push(x any)   { *s = append(*s, x.(step)) }
func (s *steps) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// States of a job, as Slurm calls them. A job that the controller has stopped has the reason as its state.
const (
	statePending   = "PENDING"
	stateRunning   = "RUNNING"
	stateCompleted = "COMPLETED"
	stateFailed    = "FAILED"
	stateGone      = "GONE" // its record is purged
)

// NewMachine returns a machine that plays the input on the simulator from time 0 on, once Begin was called. It
// returns an error if the accounts cannot be read.
func NewMachine(sim *des.Simulator, in *Input) (*Machine, error) {
	accounts, err := in.Accounts()
	if err != nil {
		return nil, err
	}
	m := &Machine{sim: sim, in: in, c: slurm.New(in.Config, accounts), jobs: map[string]*job{}, of: map[*slurm.Job]*job{}, awake: des.Forever}
	m.c.Started, m.c.Stopped = m.started, m.stopped
	return m, nil
}

// Controller returns the controller of the machine.
func (m *Machine) Controller() *slurm.Controller { return m.c }

// Now returns the second of the log in which the machine is.
func (m *Machine) Now() des.Time { return SecondOf(m.sim.Now() - m.in.Late) }

// Begin puts what the input has into the simulator: jobs one after the other, the rest at once.
func (m *Machine) Begin() {
	m.c.Estimates = m.c.Estimates || m.Whys
	if m.in.Outages != nil {
		m.fail(m.in.Outages)
	}
	m.coming = len(m.in.Jobs) + len(m.in.Reservations) + len(m.in.Orders)
	next := 0
	m.feed = des.Feed[*Submission]{
		Next: func() (*Submission, bool) {
			if next == len(m.in.Jobs) {
				return nil, false
			}
			next++
			return &m.in.Jobs[next-1], true
		},
		At: func(s *Submission) des.Time { return s.At }, Phase: phaseSubmit,
		Do: func(s *Submission) { m.came(func(now des.Time) { m.submit(now, s) }) },
	}
	m.feed.Begin(m.sim)
	for _, b := range m.in.Reservations {
		m.at(b.At, phaseOrder, func(des.Time) { m.came(func(now des.Time) { m.reserve(now, &b) }) })
	}
	for _, o := range m.in.Orders {
		m.at(o.At, phaseOrder, func(des.Time) { m.came(func(now des.Time) { m.carryOut(now, &o) }) })
	}
	m.rouse()
}

// at schedules something, after which the controller may want to act at another instant than before.
func (m *Machine) at(t des.Time, p des.Phase, do func(now des.Time)) des.EventID {
	return m.sim.At(t, p, des.Func(func(_ *des.Simulator, e des.Event) {
		do(e.Time)
		m.follows(e.Time)
	}), 0)
}

// follows is called after each event: it tells observers of new reasons, and schedules the controller's next act.
func (m *Machine) follows(now des.Time) {
	if m.Whys {
		m.tellWhys(now)
	}
	m.rouse()
}

// rouse schedules the next act of the controller, for the instant that Next says now.
func (m *Machine) rouse() {
	next := m.c.Next()
	if next == m.awake {
		return
	}
	m.sim.Cancel(m.wake)
	m.awake = next
	if next == des.Forever {
		return
	}
	phase := phaseAct
	if next%des.Second != 0 {
		phase = phasePass
	}
	m.wake = m.at(next, phase, func(now des.Time) {
		m.awake = des.Forever
		m.freeBefore(now)
		m.c.Act(now)
	})
}

// checkFirst is the time from the last input to the first check whether the run is over, checkEach the time
// between later checks, and patience the time without an event of any job after which the run ends.
const (
	checkFirst = 10 * des.Second
	checkEach  = 60 * des.Second
	patience   = 6 * des.Hour
)

// came carries out an input that has come. After the last one, checks begin.
func (m *Machine) came(do func(now des.Time)) {
	now := m.sim.Now()
	do(now)
	m.follows(now)
	if m.coming--; m.coming == 0 {
		m.lastInput = now
		m.checkAt(now.Add(checkFirst))
	}
}

// Come submits a job that is not in the input. s.At must be the present instant.
func (m *Machine) Come(s *Submission) {
	m.coming++
	m.came(func(now des.Time) { m.submit(now, s) })
}

// checkAt schedules the next check, in place of any check that was scheduled before.
func (m *Machine) checkAt(t des.Time) {
	m.sim.Cancel(m.checking)
	m.checking = m.at(t, phaseCheck, m.check)
}

// check ends the run if nothing can happen any more: no job is left, or none runs and nothing has happened to
// those that wait for as long as patience. The controller itself never stops waking.
func (m *Machine) check(now des.Time) {
	switch {
	case m.More != nil && m.More():
		m.checkAt(now.Add(checkEach))
	case m.open == 0, m.busy == 0 && now > m.touched.Add(patience), m.Until > 0 && now > m.lastInput.Add(m.Until):
		m.leave(now)
		m.over = true
		m.sim.Stop()
	default:
		m.checkAt(now.Add(checkEach))
	}
}

// Over reports whether the machine has ended the run. Events may be left, such as the next wake of a loop: a
// simulator that runs on would carry them out.
func (m *Machine) Over() bool { return m.over }

// leave tells of the jobs that wait or run when the run ends.
func (m *Machine) leave(now des.Time) {
	for _, j := range m.all {
		if j.state != statePending && j.state != stateRunning {
			continue
		}
		reason := string(j.job.Reason())
		if j.watched.run != nil && j.state == statePending {
			j.watched.run.Reason = reason
		}
		m.tell(Event{Key: j.Key, Job: j.job.ID, Kind: KindLeft, Time: now, Priority: j.job.Priority, HasPriority: true, Detail: j.state + " " + reason})
	}
}

// Waiting returns the runs of the jobs that wait, by submission, as observers know them.
func (m *Machine) Waiting() []*entity.Run { return m.runsOf(statePending) }

// Running returns the runs of the jobs that run, as observers know them; see Waiting.
func (m *Machine) Running() []*entity.Run { return m.runsOf(stateRunning) }

// runsOf are the runs of the jobs in a state.
func (m *Machine) runsOf(state string) []*entity.Run {
	var all []*entity.Run
	for _, j := range m.all {
		if j.state == state && j.watched.run != nil {
			all = append(all, j.watched.run)
		}
	}
	return all
}

// tell tells of an event.
func (m *Machine) tell(e Event) {
	if m.Tell != nil {
		e.Time -= m.in.Late
		m.Tell(e)
	}
}

// submit submits the job of a user.
func (m *Machine) submit(now des.Time, s *Submission) {
	m.touched = now
	m.handle(now, 1)
	own := *s.Job
	own.After = slices.Clone(own.After)
	j := &job{Submission: s, job: &own, asked: own.Limit, state: statePending}
	m.jobs[s.Key], m.of[&own] = j, j
	m.all = append(m.all, j)
	m.lastID++ // given back below if Slurm refuses the job before it gives an ID
	own.ID, j.id = m.lastID, m.lastID
	for _, d := range s.After {
		id := 0
		if d.Key != "" && m.jobs[d.Key] != nil {
			id = m.jobs[d.Key].id
		}
		own.After = append(own.After, slurm.Dependency{Kind: d.Kind, Job: id})
	}
	m.Watch.predict(j)
	m.open++
	// Is it refused: by the reader already, or by the controller?
	var err error = s.Refused
	if s.Refused == "" {
		err = m.c.Submit(now, &own)
	}
	var refusal slurm.Refusal
	switch {
	case err == nil:
		m.newest = j
		m.tell(Event{Key: s.Key, Job: own.ID, Kind: KindSubmit, Time: now})
		m.Watch.submitted(now, j)
		if j.told = true; j.state != statePending { // the controller has cancelled it at once (kill_invalid_depend)
			m.gaveUp(now, j)
		}
	case errors.As(err, &refusal):
		switch refusal {
		case slurm.ErrAssociation, slurm.ErrQOS, slurm.ErrTimeLimit, slurm.ErrCPUs, slurm.ErrNodeCount, slurm.ErrOutside, slurm.ErrPolicy,
			slurm.ErrLicenses, slurm.ErrDevices, slurm.ErrDeviceTypes, slurm.ErrNode, s.Refused:
			m.lastID--
		}
		if j.state == statePending { // kill_invalid_depend may have cancelled it before nodes were looked for
			m.open--
		}
		own.ID, j.id, j.state = 0, 0, stateFailed
		m.isOver(j)
		m.refusals = append(m.refusals, m.refusal(s, refusal))
		m.tell(Event{Key: s.Key, Kind: KindSubmit, Time: now, Detail: refusal.Error()})
		m.Watch.refused(now, j, refusal.Error())
	default:
		m.sim.Fail(fmt.Errorf("%s: %w", s.Key, err))
	}
}

// Refusals returns a sentence about each job that was refused, in order of submission: where a
// job stands, why it is refused, and what of it is meant.
func (m *Machine) Refusals() []string { return m.refusals }

// refusal is the sentence about a job that is refused.
func (m *Machine) refusal(s *Submission, why slurm.Refusal) string {
	text := "job " + s.Key
	if m.in.JobsFile != "" {
		text = fmt.Sprintf("%s:%d: job %s", m.in.JobsFile, s.Line, s.Key)
	}
	text += " is refused: " + why.Error()
	switch j := s.Job; why {
	case slurm.ErrPartition, slurm.ErrNode:
		if s.Unknown == "" {
			return text + ": it must both have and not have a node"
		}
		return fmt.Sprintf("%s: %q is none of %s", text, s.Unknown, ConfigFile)
	case slurm.ErrAssociation:
		if j.Account != "" {
			return fmt.Sprintf("%s: user %q is not in account %q", text, j.User, j.Account)
		}
		return fmt.Sprintf("%s: user %q is in no account", text, j.User)
	case slurm.ErrQOS:
		if j.QOS == "" {
			return fmt.Sprintf("%s: it names no QoS, and user %q may not use the usual one", text, j.User)
		}
		return fmt.Sprintf("%s: user %q has no QoS %q", text, j.User, j.QOS)
	case slurm.ErrReservation:
		return fmt.Sprintf("%s: there is no %q that user %q may use", text, j.Reservation, j.User)
	case slurm.ErrConfiguration:
		return text + ": no nodes of its partitions have what it asks for"
	}
	return text
}

// reserve makes the reservation of an operator.
func (m *Machine) reserve(now des.Time, b *Booking) {
	r := b.Reservation
	e := Event{Key: r.Name, Kind: KindReservation, Time: now}
	if err := m.c.Reserve(now, &r); err != nil {
		e.Detail = err.Error()
	}
	m.tell(e)
}

// Why an order about a job is refused, in Slurm's words.
const (
	refusedGone     = "Invalid job id specified"
	refusedFinished = "Job has already finished"
	refusedCancel   = "Job/step already completing or completed"
)

// carryOut carries out an order, about nodes or about a job. An order about a job that is over is told, and then
// that Slurm refuses it.
func (m *Machine) carryOut(now des.Time, o *Order) {
	m.ordered = true
	if o.Key == "" {
		switch nodes := m.reached(o); {
		case len(nodes) == len(o.Nodes):
			m.serve(now, o.Do, nodes, o.Hosts)
		case len(nodes) > 0:
			m.serve(now, o.Do, nodes, m.hosts(nodes))
		}
		return
	}
	j := m.jobs[o.Key]
	if j == nil || j.id == 0 { // there is no such job to give orders about
		return
	}
	m.touched = now
	state := j.state
	if j.job == nil || !m.c.Keeps(j.job) {
		state = stateGone
	}
	e := Event{Key: j.Key, Job: j.id, Kind: o.Do, Time: now, Detail: state}
	m.tell(e)
	switch {
	case state == stateGone:
		if o.Do == "cancel" { // which is a change to backfill all the same
			m.order(now, j, o)
		}
		e.Kind, e.Detail = KindRefused, refusedGone
	case state == statePending || state == stateRunning:
		m.order(now, j, o)
		return
	case o.Do == "cancel":
		m.order(now, j, o)
		e.Kind, e.Detail = KindRefused, refusedCancel
	default:
		e.Kind, e.Detail = KindRefused, refusedFinished
	}
	m.tell(e)
}

// serve takes nodes out of service, or back. hosts is their host list, as the file of orders writes it.
func (m *Machine) serve(now des.Time, do string, nodes []int, hosts string) {
	m.ordered, m.touched = true, now
	m.tell(Event{Kind: do, Time: now, Nodes: hosts})
	var err error
	switch do {
	case "down":
		err = m.c.Down(now, nodes)
	case "drain":
		err = m.c.Drain(now, nodes)
	case "up":
		err = m.c.Up(now, nodes)
	}
	var refusal slurm.Refusal
	switch {
	case errors.As(err, &refusal):
		m.tell(Event{Kind: KindRefused, Time: now, Nodes: hosts, Detail: refusal.Error()})
	case err != nil:
		m.sim.Fail(err)
	}
}

// order carries an order out about a job.
func (m *Machine) order(now des.Time, j *job, o *Order) {
	switch o.Do {
	case "cancel":
		m.handle(now, 1)
		m.cancelling = j
		m.c.Cancel(now, j.job)
		m.cancelling = nil
	case "hold", "release":
		m.c.Hold(now, j.job, o.Do == "hold")
	case "nice":
		m.c.Renice(now, j.job, o.Value)
	case "limit":
		j.asked = des.Time(o.Value) * des.Minute
		m.c.Relimit(now, j.job, j.asked)
	}
}

// follow schedules a step of a job, after a while from now on.
func (m *Machine) follow(now, after des.Time, kind stepKind, j *job) {
	m.push(step{at: now.Add(after), kind: kind, job: j, from: j.job.Start})
}

// handle takes messages that arrive at now, and returns the instant at which the last of them takes effect. The
// effect of a message about free nodes is held back until then. The effect of any other message is not, but what
// follows from it is.
func (m *Machine) handle(now des.Time, messages int) des.Time {
	m.handled = max(m.handled, now).Add(des.Time(messages) * perMessage)
	return m.handled
}

// push adds a step.
func (m *Machine) push(s step) {
	heap.Push(&m.due, s)
	m.next()
}

// next schedules the next step.
func (m *Machine) next() {
	m.sim.Cancel(m.stepping)
	if len(m.due) > 0 {
		m.stepping = m.at(m.due[0].at, phaseJob, m.take)
	}
}

// take takes the next step.
func (m *Machine) take(now des.Time) {
	s := heap.Pop(&m.due).(step)
	runs := s.job.state == stateRunning && s.job.job.Start == s.from
	switch {
	case s.kind == toTell:
		if !s.job.over {
			m.tell(s.stop)
		}
		s.job.over = true
	case s.kind == toRelease:
		m.beginRelease(now, s.job)
	case !runs: // it was stopped in the meantime
	case s.kind == toLaunch:
		m.touched, s.job.over = now, false
		m.tell(m.startOf(s.job))
		m.follow(max(m.handled, now), s.job.job.Length, toEnd, s.job)
	default:
		m.end(now, s.job)
	}
	m.next()
}

// tellsStop is the time from the order to kill a job until its stop is told.
const tellsStop = des.Second / 10_000

// started follows a start by the controller: the job is launched a while later.
func (m *Machine) started(now des.Time, own *slurm.Job) {
	j := m.of[own]
	j.state = stateRunning
	m.busy++
	m.Watch.started(now, j)
	m.follow(now, Launch, toLaunch, j)
	m.watchLimit(j)
}

// watchLimit raises the limit of a job that is predicted when the controller would end the job for it, until the
// job has the limit that its user asked for.
func (m *Machine) watchLimit(j *job) {
	if !m.Watch.isPredicted(j) || j.job.Limit >= j.asked {
		return
	}
	start, limit := j.job.Start, j.job.Limit
	acts := m.c.LimitActs(j.job)
	if acts == des.Forever {
		return
	}
	m.at(acts, phaseOrder, func(now des.Time) {
		if j.state != stateRunning || j.job.Start != start || j.job.Limit != limit {
			return
		}
		m.tell(Event{Key: j.Key, Job: j.job.ID, Kind: "limit", Time: now, Detail: j.state})
		m.c.Relimit(now, j.job, m.Watch.corrected(now, j))
		m.watchLimit(j)
	})
}

// end ends a job whose work is over.
func (m *Machine) end(now des.Time, j *job) {
	m.touched = now
	j.state = stateCompleted
	if j.job.ExitCode != 0 {
		j.state = stateFailed
	}
	m.tell(Event{Key: j.Key, Job: j.job.ID, Kind: KindEnd, Time: now, Detail: j.state})
	if j.job.ExitCode == 0 && m.c.Overdue(now, j.job) { // what orders for it tell from now on
		j.state = string(slurm.Timeout)
	}
	m.Watch.ended(now, j)
	m.c.End(now, j.job)
	m.follow(m.handle(now, 1), Epilog, toRelease, j)
}

// beginRelease has the nodes of a job say that they are free, in the order of their names.
func (m *Machine) beginRelease(now des.Time, j *job) {
	r := release{job: j, from: max(m.handled, now)}
	for _, p := range j.job.Placed {
		r.nodes = append(r.nodes, p.Node)
	}
	slices.SortFunc(r.nodes, func(a, b int) int { return strings.Compare(m.in.Config.Nodes[a].Name, m.in.Config.Nodes[b].Name) })
	m.releasing = append(m.releasing, r)
	m.at(m.handle(now, max(len(r.nodes), 1)), phaseJob, m.endRelease)
}

// freeBefore tells the controller of the nodes that have become free before now, of jobs with other nodes that have
// not.
func (m *Machine) freeBefore(now des.Time) {
	for i := range m.releasing {
		r := &m.releasing[i]
		for len(r.nodes) > 0 && r.from.Add(perMessage) < now {
			m.c.Free(now, r.job.job, r.nodes[0])
			r.from, r.nodes = r.from.Add(perMessage), r.nodes[1:]
		}
	}
}

// endRelease tells the controller that all nodes of a job are free.
func (m *Machine) endRelease(now des.Time) {
	j := m.releasing[0].job
	m.releasing = m.releasing[1:]
	m.busy--
	if j.state != statePending {
		m.open--
		m.isOver(j)
	}
	m.c.Release(now, j.job)
}

// isOver notes that a job is over. It forgets the records of older jobs that the controller has purged: a log of a year has
// many jobs.
func (m *Machine) isOver(j *job) {
	gone := 0
	for gone < len(m.past) && (m.past[gone].id == 0 || !m.c.Keeps(m.past[gone].job)) {
		old := m.past[gone]
		delete(m.of, old.job)
		old.job = nil
		gone++
	}
	m.past = append(slices.Delete(m.past, 0, gone), j)
}

// gaveUp follows a job that waited and has been cancelled. A row tells of it unless the row of an order does.
func (m *Machine) gaveUp(now des.Time, j *job) {
	if m.cancelling != j {
		m.tell(Event{Key: j.Key, Job: j.id, Kind: KindStop, Time: now, Detail: j.state})
	}
	m.Watch.cancelled(now, j, slurm.Stop(j.state))
}

// stopped follows a job that the controller has ended.
func (m *Machine) stopped(now des.Time, own *slurm.Job, why slurm.Stop) {
	j := m.of[own]
	if j.state == statePending { // it waited, and has no nodes
		j.state = string(why)
		m.open--
		m.isOver(j)
		if j.told {
			m.gaveUp(now, j)
		}
		return
	}
	m.touched = now
	if why == slurm.NodeFail && j.watched.run != nil {
		m.failures.victims = append(m.failures.victims, j.watched.run)
	}
	acted := now
	if m.cancelling == j {
		acted = m.handled // when the message of the cancellation takes effect
	}
	m.push(step{at: acted.Add(tellsStop), kind: toTell, job: j, stop: Event{Key: j.Key, Job: own.ID, Kind: KindStop, Time: now, Detail: string(why)}})
	if own.Requeued() {
		j.state = statePending
		m.Watch.requeued(now, j)
	} else {
		j.state = string(why)
		m.Watch.killed(now, j, why)
	}
	m.follow(acted, Epilog, toRelease, j)
}
