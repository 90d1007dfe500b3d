package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
)

// Policy is the entity.Policy of a scheduler outside the program. It decides nothing by
// itself, and keeps state: each run needs its own. Set the exported fields before the run,
// and call Close after it, also after a failure.
//
// Jobs are named "w0!ID" to the scheduler. A job that was stopped and waits again is
// reported as killed, and submitted anew as "w0!ID#1", "w0!ID#2" and so on.
type Policy struct {
	// Open connects with the scheduler when the run begins: TCP, Command, or one of a
	// program's own.
	Open func(context.Context) (Conn, error)
	// Label is the name of the policy; "remote" where it is empty.
	Label string
	// Profiles sends the scheduler how long each job really takes, as Batsim does in the
	// profile of a job. Otherwise all jobs have one profile, which says nothing.
	Profiles bool
	// Dynamic lets the scheduler register jobs of its own; with Acknowledge they are sent
	// back by JOB_SUBMITTED like other jobs. They have numbers from FirstRegistered on.
	Dynamic, Acknowledge bool
	// Power lets the scheduler switch nodes on and off (SET_RESOURCE_STATE), by the
	// flow.SwitchOff of the metascheduler, which then switches no node by itself.
	Power bool

	meta *entity.Metascheduler
	sim  *des.Simulator
	conn Conn

	// What the scheduler knows: jobs and the machine.
	jobs     map[string]*job                 // jobs that wait or run, by name; never iterated
	of       map[*entity.Run]*job            // the same by run; never iterated
	over     map[string]bool                 // names of jobs that have ended, which are not given again
	owner    []*job                          // by number of the processor: the job that has it; nil: none
	down     []int32                         // by number of the processor: how many losses under way take it
	placing  map[*entity.Run][]procset.Range // where jobs that start at this instant go, until it is over; see Place
	profiles map[string]des.Time             // how long each profile takes that the scheduler has registered, by WORKLOAD!NAME
	coming   map[*entity.Job]*job            // registered jobs that have not come yet
	switches *flow.SwitchOff                 // by which the scheduler switches nodes; nil: it does not
	switched []procset.Range                 // the nodes of the last pending event, if that is RESOURCE_STATE_CHANGED
	losses   map[*entity.Hold]des.EventID    // the end of each loss under way

	// The conversation.
	pending  []event     // what the next request tells
	asking   des.EventID // the instant at which the next request goes out at the latest; see arm
	ready    des.Time    // the now of the last reply: before it the scheduler is not asked
	agenda   []event     // decisions that are not carried out yet, by their instants
	acts     des.EventID // the instant of the first of them
	turned   *job        // the job that the scheduler is just rejecting, which it need not be told
	noMore   bool        // it has been told that no job of the workload is to come
	calls    int         // number of REQUESTED_CALL in a row without anything else
	requests int64       // number of requests so far
	number   int64       // entity.Job.ID of the next registered job
	text     []byte      // room for a request
}

// FirstRegistered is the number (entity.Job.ID) of the first job that a scheduler registers.
const FirstRegistered = 1_000_000_000

// job is a job as the scheduler knows it.
type job struct {
	name  string
	run   *entity.Run     // nil of a registered job that has not come yet
	place []procset.Range // processors that it was started on; nil before
}

// Phases of an instant. The scheduler's calls come behind the arrivals of jobs, and what it
// has decided for later is done before rounds. A request is sent in a round, or, where there is
// none, behind it.
const (
	phaseCall  = entity.PhaseArrival + 1
	phaseAct   = entity.PhaseDecide - 1
	phaseFlush = entity.PhaseDecide + 1
)

var (
	_ entity.Policy           = (*Policy)(nil)
	_ entity.Attacher         = (*Policy)(nil)
	_ entity.InstantObserver  = (*Policy)(nil)
	_ entity.CapacityObserver = (*Policy)(nil)
	_ entity.Placer           = (*Policy)(nil)
	_ entity.Chooser          = (*Policy)(nil)
	_ flow.Operator           = (*Policy)(nil)
	_ des.Entity              = (*Policy)(nil)
)

// Name returns the label.
func (p *Policy) Name() string {
	if p.Label == "" {
		return "remote"
	}
	return p.Label
}

// Attach is called by the metascheduler before the run. It makes the scheduler the placer of jobs, and an
// entity of the simulator, whose Start and Shutdown begin and end the conversation.
func (p *Policy) Attach(m *entity.Metascheduler) {
	if p.meta != nil {
		m.Simulator().Fail(fmt.Errorf("policy %s: a scheduler outside serves one run and one queue, and this one is asked to serve another", p.Name()))
		return
	}
	p.meta, p.sim = m, m.Simulator()
	n := m.Plan().Size()
	p.owner, p.down = make([]*job, n), make([]int32, n)
	p.jobs, p.of, p.over = map[string]*job{}, map[*entity.Run]*job{}, map[string]bool{}
	p.placing, p.profiles = map[*entity.Run][]procset.Range{}, map[string]des.Time{}
	p.coming, p.losses = map[*entity.Job]*job{}, map[*entity.Hold]des.EventID{}
	p.number = FirstRegistered
	m.Watch(p)
	m.Placer = p
	name := "scheduler"
	for n := 2; p.sim.EntityByName(name) != nil; n++ {
		name = fmt.Sprintf("scheduler %d", n)
	}
	p.sim.AddEntity(name, p)
}

// Start connects with the scheduler and tells it of the machine.
func (p *Policy) Start(*des.Context) {
	p.sim.At(p.sim.Now(), 0, des.Func(func(*des.Simulator, des.Event) { p.begin() }), 0)
}

// Handle implements des.Entity; nobody sends messages.
func (p *Policy) Handle(*des.Context, des.Message) {}

// begin opens the connection and sends the first request. It is the first event of the run, after all flows have
// attached themselves.
func (p *Policy) begin() {
	p.meta.Placer = p // whatever a flow has put before it: the scheduler chooses
	if p.Open == nil {
		p.fail(errors.New("it is not said where the scheduler is: Policy.Open is nil"))
		return
	}
	var err error
	if p.conn, err = p.Open(p.sim.Context()); err != nil {
		p.fail(err)
		return
	}
	p.tellNow(simulationBegins, p.begins())
	p.ask(nil)
}

// begins returns the description of the machine for the scheduler.
func (p *Policy) begins() beginsData {
	n := len(p.owner)
	hosts := make([]resourceData, n)
	for i := range hosts {
		node := p.meta.Plan().Node(i)
		hosts[i] = resourceData{CoreCount: 1, ID: i, Name: "host" + strconv.Itoa(i), State: "idle", Properties: map[string]string{"role": ""}, ZoneProperties: map[string]string{}}
		if node != nil {
			hosts[i].Name = "node" + strconv.Itoa(node.ID)
			hosts[i].Properties["speed"] = strconv.FormatFloat(node.Perf, 'g', -1, 64)
			hosts[i].Properties["price"] = strconv.FormatFloat(node.Price, 'g', -1, 64)
		}
	}
	return beginsData{
		AllowStorageSharing: true, ComputeResources: hosts, StorageResources: []resourceData{},
		NbComputeResources: n, NbResources: n,
		Workloads: map[string]string{ourWorkload: "jobs"},
		Profiles:  map[string]map[string]profileData{ourWorkload: {unknownProfile: {delayProfile, instant(des.Second)}}},
		Config: map[string]any{
			"redis-enabled": false, "redis-hostname": "127.0.0.1", "redis-port": 6379, "redis-prefix": "default",
			"profiles-forwarded-on-submission": p.Profiles, "profile-reuse-enabled": false,
			"dynamic-jobs-enabled": p.Dynamic, "dynamic-jobs-acknowledged": p.Dynamic && p.Acknowledge,
			"sched-config": "", "forward-unknown-events": false,
		},
	}
}

// ourWorkload is the name of the workload, which begins the names of its jobs, and
// unknownProfile that of the profile of jobs whose real length is not told.
const (
	ourWorkload    = "w0"
	unknownProfile = "unknown"
)

// Shutdown tells the scheduler that the run is over, if it went well, and lets it go.
func (p *Policy) Shutdown(*des.Context) {
	if p.sim.Err() != nil || p.conn == nil {
		p.Close()
		return
	}
	p.pending = p.pending[:0]
	p.tellNow(simulationEnds, struct{}{})
	m, err := p.exchange()
	switch {
	case errors.Is(err, errGone): // it did not wait to be told twice
	case err != nil:
		p.fail(err)
	case len(m.Events) > 0:
		p.fail(p.wrong(&m.Events[0], errors.New("the simulation is over")))
	}
	if p.conn != nil {
		p.conn.Close(patience)
		p.conn = nil
	}
}

// patience is the time that a scheduler has to leave by itself after it has been told that the run
// is over.
const patience = 2 * time.Second

// Close ends the connection with the scheduler at once; its error is always nil. It is needed
// where a run has not come to its end, and may be called in any case.
func (p *Policy) Close() error {
	if p.conn != nil {
		p.conn.Close(0)
		p.conn = nil
	}
	return nil
}

var _ io.Closer = (*Policy)(nil)

// fail ends the run, and the conversation.
func (p *Policy) fail(err error) {
	p.sim.Fail(fmt.Errorf("at %v, policy %s: %w", p.sim.Now(), p.Name(), err))
	_ = p.Close()
}

// wrong returns the error about a decision that cannot be carried out: which one, of which reply, and why.
func (p *Policy) wrong(e *event, err error) error {
	return fmt.Errorf("request %d is answered by %s at %v: %w", p.requests, shown([]byte(e.Type)), des.Time(e.Timestamp), err)
}

// Observe notes what has happened to a job, for the next message.
func (p *Policy) Observe(e entity.JobEvent) {
	r := e.Run
	switch e.Kind {
	case entity.JobSubmitted:
		p.submitted(r)
	case entity.JobRejected:
		p.rejected(r)
	case entity.JobStarted:
		p.started(r)
	case entity.JobFinished:
		p.ended(r, completedSuccessfully)
	case entity.JobKilled:
		delete(p.placing, r)
		if r.Reason == entity.ReasonEstimate {
			p.ended(r, completedWalltimeReached)
		} else {
			p.ended(r, completedKilled)
		}
	case entity.JobRequeued:
		delete(p.placing, r)
		p.ended(r, completedKilled)
		p.submitted(r)
	case entity.JobResized:
		p.fail(fmt.Errorf("%v is resized, and a scheduler outside cannot be told of that", r))
	default: // JobPromised, JobWithdrawn, JobCorrected: nothing that the protocol has
		return
	}
	p.calls = 0
}

// submitted tells of a job that enters the queue.
func (p *Policy) submitted(r *entity.Run) {
	if r.Booked {
		p.fail(fmt.Errorf("%v is an advance reservation, by a user or by the strategy of a grid, and a scheduler outside cannot be told of those", r))
		return
	}
	j, registered := p.coming[r.Job]
	if registered {
		delete(p.coming, r.Job)
	} else {
		j = &job{name: p.nameOf(r)}
	}
	j.run = r
	p.jobs[j.name], p.of[r] = j, j
	if registered && !p.Acknowledge {
		return
	}
	d := submittedData{JobID: j.name, Job: jobData{ID: j.name, Profile: unknownProfile, Res: r.Request.Nodes, Subtime: instant(p.sim.Now()), Walltime: instant(r.Request.Length)}}
	if p.Profiles {
		d.Job.Profile = "d" + r.Runtime.String()
		d.Profile = &profileData{delayProfile, instant(r.Runtime)}
	}
	p.tell(jobSubmitted, d)
}

// nameOf returns a name that no other job has or has had: w0!ID, and for a job that was stopped and waits again w0!ID#1
// and so on, since a scheduler takes a name for over once it was told of its end.
func (p *Policy) nameOf(r *entity.Run) string {
	name := ourWorkload + "!" + strconv.FormatInt(r.ID, 10)
	free := name
	for n := 1; p.jobs[free] != nil || p.over[free]; n++ {
		free = name + "#" + strconv.Itoa(n)
	}
	return free
}

// rejected forgets a job that has left the queue without a start. The scheduler is told,
// unless the rejection is its own, or it has not heard of the job yet.
func (p *Policy) rejected(r *entity.Run) {
	j := p.of[r]
	if j == nil {
		return // it has been refused by somebody else before the run
	}
	p.forget(j)
	i := slices.IndexFunc(p.pending, func(e event) bool { return e.Type == jobSubmitted && e.job == j })
	switch {
	case i >= 0:
		p.pending = slices.Delete(p.pending, i, i+1)
	case p.turned != j:
		p.tell(notify, notifyData{Type: jobCancelled, JobID: j.name})
	}
}

// forget notes that a job is over.
func (p *Policy) forget(j *job) {
	delete(p.jobs, j.name)
	delete(p.of, j.run)
	p.over[j.name] = true
}

// started notes that a job has the processors that the scheduler has said.
func (p *Policy) started(r *entity.Run) {
	j := p.of[r]
	if j == nil || j.place == nil {
		p.fail(fmt.Errorf("%v starts, and it is not the scheduler who has started it", r))
		return
	}
	for i := range (entity.Where{Set: j.place}).Numbers() {
		p.owner[i] = j
	}
}

// ended notes that the processors of a job are free, and tells of its end.
func (p *Policy) ended(r *entity.Run, state string) {
	j := p.of[r]
	if j == nil {
		return
	}
	for i := range (entity.Where{Set: j.place}).Numbers() {
		p.owner[i] = nil
	}
	code := -1
	if state == completedSuccessfully {
		code = 0
	}
	p.tell(jobCompleted, completedData{j.name, state, code, string(procset.Append(nil, j.place))})
	p.forget(j)
}

// InstantOver forgets the places of an instant, which have been given by now.
func (p *Policy) InstantOver(des.Time) { clear(p.placing) }

// Chosen implements entity.Chooser, by what the scheduler has said at this instant.
func (p *Policy) Chosen(place []procset.Range) *entity.Run {
	for r, chosen := range p.placing {
		if procset.Overlap(chosen, place) {
			return r
		}
	}
	return nil
}

// Place gives a started job n of the processors that the scheduler has chosen. On named nodes
// it is called once for each kind of nodes; free then holds the free nodes of that kind.
func (p *Policy) Place(free *procset.Set, r *entity.Run, n int, ranges []procset.Range) ([]procset.Range, error) {
	// Counted processors: exactly the place. A job that was stopped as it started has none any more: any will do, for no time.
	place := p.placing[r]
	if place == nil {
		return free.Allocate(n, ranges)
	}
	if procset.Count(place) == n {
		for _, wanted := range place {
			if err := free.Take(wanted); err != nil {
				return ranges, err
			}
			ranges = append(ranges, wanted)
		}
		return ranges, nil
	}
	// Named nodes: those of the place that are of this kind.
	for i := range (entity.Where{Set: place}).Numbers() {
		if one := entity.NodeAt(i).Set[0]; n > 0 && free.Take(one) == nil {
			ranges = append(ranges, one)
			n--
		}
	}
	if n > 0 {
		return ranges, fmt.Errorf("the scheduler has said %s, and %d of those are not free", procset.Append(nil, place), n)
	}
	return ranges, nil
}

// Withheld implements entity.CapacityObserver: it tells of processors that are lost, and notes when they are back.
// The protocol has no word for a loss that is known ahead, or for a number of processors that are not named.
func (p *Policy) Withheld(h *entity.Hold) {
	if p.switches != nil && p.switches.Withholding() {
		return // it is the scheduler who has switched a node off
	}
	w, now := h.Window(), p.sim.Now()
	switch {
	case w.Start > now:
		p.fail(fmt.Errorf("capacity is announced to be lost from %v on, and a scheduler outside cannot be told ahead: have it be known when it is lost, and have no outage of a processor outlast an earlier one", w.Start))
		return
	case h.Where().Set == nil:
		p.fail(errors.New("capacity is lost without saying which processors, and a scheduler outside must be told which"))
		return
	}
	p.lose(h, 1)
	p.losses[h] = des.EventID{}
	if w.End < des.Forever {
		p.losses[h] = p.sim.At(w.End, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { p.regain(h) }), 0)
	}
}

// Returned implements entity.CapacityObserver: lost processors are back before their time.
func (p *Policy) Returned(h *entity.Hold) {
	if id, lost := p.losses[h]; lost {
		p.sim.Cancel(id)
		p.regain(h)
	}
}

// regain ends a loss.
func (p *Policy) regain(h *entity.Hold) {
	delete(p.losses, h)
	p.lose(h, -1)
}

// lose counts one loss more of the processors of h, or with more = -1 one less. Losses may overlap: it tells of
// the processors that have their first loss, or no loss any more.
func (p *Policy) lose(h *entity.Hold, more int32) {
	var changed []procset.Range
	for i := range h.Where().Numbers() {
		if was := p.down[i]; was == 0 || was+more == 0 {
			changed = procset.Extend(changed, int32(i))
		}
		p.down[i] += more
	}
	kind := machineUnavailable
	if more < 0 {
		kind = machineAvailable
	}
	if len(changed) > 0 {
		p.calls = 0
		p.tell(notify, notifyData{Type: kind, Resources: string(procset.Append(nil, changed))})
	}
}

// Operates implements flow.Operator. It reports whether the scheduler is to switch nodes, and keeps the flow by
// which it does.
func (p *Policy) Operates(s *flow.SwitchOff) bool {
	if p.Power {
		p.switches = s
	}
	return p.Power
}

// Switched notes nodes that are on or off now. Nodes that change at one instant are reported
// in one event.
func (p *Policy) Switched(x flow.Switch) {
	state := stateOn
	switch x.To {
	case flow.PoweredOff:
		state = stateOff
	case flow.PoweredOn:
	default:
		return
	}
	p.calls = 0
	if n := len(p.pending) - 1; n >= 0 && p.pending[n].state == state && p.pending[n].Timestamp == instant(x.At) {
		p.pending = p.pending[:n]
	} else {
		p.switched = nil
	}
	p.switched = procset.Join(append(p.switched, x.Place))
	p.tell(resourceStateChanged, stateData{string(procset.Append(nil, p.switched)), state})
}
