package remote

// When the scheduler is asked, and how its decisions are carried out.
//
//	events of an instant --tell--> pending --ask, exchange--> scheduler
//	                                              |
//	     jobs start, end, ... <--do, act-- agenda <
//
// Pending events go out at the end of their instant: in its round (Schedule), or behind where the
// round would be (flushing). Decisions that need a round wait for the next one of their instant.

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
)

// mostCalls is the number of calls in a row that a scheduler may ask for while nothing else
// happens. A run in which that goes on would never end.
const mostCalls = 100_000

// tell adds an event to the next request, which will be sent at this instant, or when the scheduler is ready.
func (p *Policy) tell(kind string, data any) {
	p.tellNow(kind, data)
	p.arm()
}

// tellNow adds an event to the next request.
func (p *Policy) tellNow(kind string, data any) {
	e, err := newEvent(p.sim.Now(), kind, data)
	if err != nil {
		p.fail(err)
		return
	}
	switch d := data.(type) { // what may be taken back, or joined with the next event, while it is pending
	case submittedData:
		e.job = p.jobs[d.JobID]
	case stateData:
		e.state = d.State
	}
	p.pending = append(p.pending, e)
}

// arm makes sure that the next request is sent at this instant, or when the scheduler is ready, even if there is
// no round.
func (p *Policy) arm() {
	p.sim.Cancel(p.asking)
	p.asking = p.sim.At(max(p.sim.Now(), p.ready), phaseFlush, (*flushing)(p), 0)
}

// flushing is the policy as the handler of the instant at which it must have asked.
type flushing Policy

func (f *flushing) Handle(*des.Simulator, des.Event) {
	p := (*Policy)(f)
	switch {
	case len(p.pending) == 0:
	case p.meta.Wakes != entity.Wakes{} && p.meta.Queue().Len() > 0:
		p.meta.WakeAt(p.sim.Now()) // it is asked when the policy is awake
	default:
		p.ask(nil)
	}
}

// Schedule implements entity.Policy. It carries out what the scheduler has decided for this instant, and asks it
// about what has happened.
func (p *Policy) Schedule(r *entity.Round) {
	p.act(r)
	if len(p.pending) > 0 && p.sim.Now() >= p.ready {
		p.ask(r)
	}
}

// exchange sends the pending events, of which there is one at least, and returns the reply. An error names the
// request by its number, its first event and its instant.
func (p *Policy) exchange() (message, error) {
	now := p.sim.Now()
	request := message{instant(now), p.pending}
	p.text = request.Append(p.text[:0])
	p.requests++
	told := p.pending[0].Type
	p.pending = p.pending[:0]
	text, err := p.conn.Ask(p.sim.Context(), p.text)
	if err != nil {
		return message{}, fmt.Errorf("request %d (%s at %v): %w", p.requests, told, now, err)
	}
	m, err := decode(text, now)
	if err != nil {
		return message{}, fmt.Errorf("request %d (%s at %v): the reply %w", p.requests, told, now, err)
	}
	return m, nil
}

// ask sends a request and takes in the reply. If r is nil, decisions that need a round wait for one.
func (p *Policy) ask(r *entity.Round) {
	if p.conn == nil || p.sim.Err() != nil {
		return
	}
	if !p.noMore && p.requests > 0 && !p.meta.Coming() {
		p.noMore = true
		p.tellNow(notify, notifyData{Type: noMoreStaticJobs})
	}
	m, err := p.exchange()
	if err != nil {
		p.fail(err)
		return
	}
	p.ready = des.Time(m.Now)
	p.agenda = append(p.agenda, m.Events...)
	p.act(r)
	if len(p.pending) > 0 {
		p.arm() // what the decisions themselves have caused goes out when the scheduler is ready
	}
}

// act carries out the decisions whose instant has come, in their order. If r is nil, it stops at the first
// decision that needs a round, and asks for a round at this instant.
func (p *Policy) act(r *entity.Round) {
	now := instant(p.sim.Now())
	for len(p.agenda) > 0 && p.agenda[0].Timestamp <= now && p.sim.Err() == nil {
		e := p.agenda[0]
		done, err := p.do(&e, r)
		if err != nil {
			p.fail(p.wrong(&e, err))
			return
		}
		if !done {
			p.meta.WakeAt(p.sim.Now())
			return
		}
		p.agenda = p.agenda[1:]
	}
	if len(p.agenda) > 0 && p.sim.Err() == nil {
		p.sim.Cancel(p.acts)
		p.acts = p.sim.At(des.Time(p.agenda[0].Timestamp), phaseAct, (*acting)(p), 0)
	}
}

// acting is the policy as the handler of the instant of a decision.
type acting Policy

func (a *acting) Handle(*des.Simulator, des.Event) { (*Policy)(a).act(nil) }

// do carries out one decision. It reports false if the decision must wait for another round of this instant. An
// error is the scheduler's fault, and ends the run.
func (p *Policy) do(e *event, r *entity.Round) (done bool, err error) {
	switch e.Type {
	case executeJob:
		return p.execute(e, r)
	case rejectJob:
		return true, p.reject(e, r)
	case killJob:
		return true, p.kill(e)
	case callMeLater:
		return true, p.callLater(e)
	case registerJob:
		return true, p.registerJob(e)
	case registerProfile:
		return true, p.registerProfile(e)
	case setResourceState:
		return true, p.setState(e)
	case notify:
		return true, p.notified(e)
	}
	return true, errors.New("this is not played")
}

// known returns a job that waits or runs, or has been registered, by its name.
func (p *Policy) known(name string) (*job, error) {
	j := p.jobs[name]
	switch {
	case j != nil:
		return j, nil
	case p.over[name]:
		return nil, fmt.Errorf("the job %s is over", shown([]byte(name)))
	}
	return nil, fmt.Errorf("no job is called %s", shown([]byte(name)))
}

// waiting returns a job that can be started or rejected.
func (p *Policy) waiting(name string) (*job, error) {
	j, err := p.known(name)
	if err == nil && j.run != nil && j.run.State != entity.Waiting {
		err = fmt.Errorf("the job %s is %v, not waiting", shown([]byte(name)), j.run.State)
	}
	return j, err
}

// execute starts a job on the processors of its allocation. A job that was registered at this instant comes
// first, so that the decision waits for a round.
func (p *Policy) execute(e *event, r *entity.Round) (done bool, err error) {
	var d executeData
	if err := read(e, &d); err != nil {
		return true, err
	}
	j, err := p.waiting(d.JobID)
	switch {
	case err != nil:
		return true, err
	case given(d.StorageMapping):
		return true, errors.New("a storage_mapping is not played")
	case given(d.AdditionalIOJob):
		return true, errors.New("an additional_io_job is not played")
	case r == nil || j.run == nil:
		return false, nil
	}
	run := j.run
	place, err := p.place(d.Alloc, run.Request.Nodes)
	if err != nil {
		return true, fmt.Errorf("the job %s: %w", j.name, err)
	}
	j.place, p.placing[run] = place, place
	w := entity.Window{Start: r.Now, End: r.Now.Add(run.Request.Length), Nodes: run.Request.Nodes}
	if entity.Named(r.Plan) {
		if err := p.onNodes(&w, run); err != nil {
			return true, fmt.Errorf("the job %s: %w", j.name, err)
		}
	}
	return r.Reserve(run, w) || p.sim.Err() != nil, nil
}

// onNodes makes w a window on the nodes of a job's place, each of which has its own speed and price. It returns
// an error if the job's budget or deadline does not allow these nodes.
func (p *Policy) onNodes(w *entity.Window, run *entity.Run) error {
	w.End = w.Start
	for i := range (entity.Where{Set: p.placing[run]}).Numbers() {
		node := p.meta.Plan().Node(i)
		length := node.TaskTime(run.Request.Length)
		end := w.Start.Add(length)
		w.Tasks = append(w.Tasks, entity.Task{Node: node, End: end})
		w.End = max(w.End, end)
		w.Cost += float64(node.Price * length.Seconds())
	}
	switch {
	case w.Cost > run.Request.BudgetLimit():
		return fmt.Errorf("these nodes cost %v, and its budget is %v", w.Cost, run.Request.Budget)
	case w.End > run.Request.DeadlineLimit():
		return fmt.Errorf("on these nodes it may end at %v, and its deadline is %v", w.End, run.Request.Deadline)
	}
	return nil
}

// place reads an allocation, which must be of n processors that are free, in service and switched on.
func (p *Policy) place(alloc string, n int) ([]procset.Range, error) {
	place, err := p.processors("allocation", alloc)
	if err != nil {
		return nil, err
	}
	if total := procset.Count(place); total != n {
		return nil, fmt.Errorf("the allocation %s has %d processors, and the job asks for %d", shown([]byte(alloc)), total, n)
	}
	for i := range (entity.Where{Set: place}).Numbers() {
		switch by := p.owner[i]; {
		case by != nil:
			return nil, fmt.Errorf("processor %d is taken by the job %s", i, by.name)
		case p.down[i] > 0:
			return nil, fmt.Errorf("processor %d is not available", i)
		case p.switches != nil && p.switches.State(int32(i)) != flow.PoweredOn:
			return nil, fmt.Errorf("processor %d is %v", i, p.switches.State(int32(i)))
		}
	}
	return place, nil
}

// processors reads a set of processors, each once; what says what the set is.
func (p *Policy) processors(what, text string) ([]procset.Range, error) {
	set, err := procset.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the %s %s: %w", what, shown([]byte(text)), err)
	}
	total := 0
	for _, r := range set {
		if int(r.Last) >= len(p.owner) {
			return nil, fmt.Errorf("the %s %s: there are the processors 0-%d", what, shown([]byte(text)), len(p.owner)-1)
		}
		total += int(r.Last-r.First) + 1
	}
	if set = procset.Join(set); procset.Count(set) != total {
		return nil, fmt.Errorf("the %s %s has a processor twice", what, shown([]byte(text)))
	}
	return set, nil
}

// setState switches nodes on or off. All processors of a node are switched together.
func (p *Policy) setState(e *event) error {
	var d stateData
	switch err := read(e, &d); {
	case err != nil:
		return err
	case p.switches == nil:
		return errors.New("nodes are switched by the scheduler only with power=on, on a machine whose nodes can be switched off (--power switch-off=600)")
	case d.State != stateOn && d.State != stateOff:
		return fmt.Errorf("the state %s is not known: want %s (on) or %s (off)", shown([]byte(d.State)), stateOn, stateOff)
	}
	set, err := p.processors("set", d.Resources)
	if err != nil {
		return err
	}
	per := p.switches.PerNode
	for _, r := range set {
		if int(r.First)%per != 0 || (int(r.Last)+1)%per != 0 && int(r.Last)+1 != len(p.owner) {
			return fmt.Errorf("the set %s cuts a node: each has %d processors", shown([]byte(d.Resources)), per)
		}
	}
	for i := range (entity.Where{Set: set}).Numbers() {
		if by := p.owner[i]; by != nil {
			return fmt.Errorf("processor %d is taken by the job %s", i, by.name)
		}
		if i%per != 0 {
			continue
		}
		if err := p.switches.Switch(i, d.State == stateOn); err != nil {
			return err
		}
	}
	return nil
}

// reject turns a job away.
func (p *Policy) reject(e *event, r *entity.Round) error {
	var d rejectData
	if err := read(e, &d); err != nil {
		return err
	}
	j, err := p.waiting(d.JobID)
	if err != nil {
		return err
	}
	if j.run == nil {
		return fmt.Errorf("the job %s has not come yet", j.name)
	}
	p.turned = j
	if r != nil {
		r.Reject(j.run, rejected)
	} else {
		p.meta.Cancel(j.run, rejected)
	}
	p.turned = nil
	return nil
}

// rejected and killed are the reasons of what becomes of jobs by such decisions.
const (
	rejected = "rejected by the scheduler"
	killed   = "killed by the scheduler"
)

// kill ends jobs that run, and tells which ones. Jobs that have ended since the scheduler decided are left out: it
// could not know.
func (p *Policy) kill(e *event) error {
	var d killData
	if err := read(e, &d); err != nil {
		return err
	}
	ack := killedData{JobIDs: []string{}, JobProgress: map[string]jobProgress{}}
	for _, name := range d.JobIDs {
		if p.over[name] {
			continue
		}
		j, err := p.known(name)
		if err != nil {
			return err
		}
		run := j.run
		if run == nil || run.State != entity.Running {
			return fmt.Errorf("the job %s does not run", j.name)
		}
		if p.Profiles && run.Runtime > 0 {
			done := math.Min(1, float64(p.sim.Now()-run.Start)/float64(run.Runtime))
			ack.JobProgress[name] = jobProgress{"d" + run.Runtime.String(), done}
		}
		ack.JobIDs = append(ack.JobIDs, name)
		p.meta.Kill(run, killed)
	}
	p.tell(jobKilled, ack)
	return nil
}

// callLater notes that the scheduler wants to be called at an instant. Each wish is a call of its own.
func (p *Policy) callLater(e *event) error {
	var d callData
	if err := read(e, &d); err != nil {
		return err
	}
	at := des.Time(d.Timestamp)
	if d.Timestamp < e.Timestamp || at > latest {
		return fmt.Errorf("it asks to be called at %v: want an instant that lies ahead, and at most %v", at, latest)
	}
	p.sim.At(max(at, p.sim.Now()), phaseCall, (*calling)(p), 0)
	return nil
}

// calling is the policy as the handler of a call that the scheduler has asked for.
type calling Policy

func (c *calling) Handle(*des.Simulator, des.Event) {
	p := (*Policy)(c)
	if p.calls++; p.calls > mostCalls {
		p.fail(fmt.Errorf("the scheduler has asked %d times in a row to be called, and nothing else has happened meanwhile: this would never end", mostCalls))
		return
	}
	p.tell(requestedCall, struct{}{})
}

// registerJob submits a job of the scheduler's own.
func (p *Policy) registerJob(e *event) error {
	var d registerData
	switch err := read(e, &d); {
	case err != nil:
		return err
	case !p.Dynamic:
		return errors.New("jobs cannot be registered unless that is switched on (dynamic=on)")
	case !strings.Contains(d.JobID, "!") || len(d.JobID) > 200:
		return fmt.Errorf("a job is called WORKLOAD!NAME, not %s", shown([]byte(d.JobID)))
	case p.jobs[d.JobID] != nil || p.over[d.JobID]:
		return fmt.Errorf("there is a job %s already", shown([]byte(d.JobID)))
	}
	from, _, _ := strings.Cut(d.JobID, "!")
	profile := from + "!" + d.Job.Profile
	if d.Profile != nil {
		if err := p.setProfile(profile, d.Profile); err != nil {
			return err
		}
	}
	length, is := p.profiles[profile]
	if !is {
		return fmt.Errorf("the job %s has the profile %s, which is not registered", shown([]byte(d.JobID)), shown([]byte(d.Job.Profile)))
	}
	walltime := des.Day * 365 // a job without a walltime still needs an estimate
	if w := d.Job.Walltime; w != nil && *w != -1 {
		walltime = des.Seconds(*w)
	}
	j := &entity.Job{
		ID: p.number, Submit: p.sim.Now(), Runtime: length, User: -1, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: d.Job.Res, Length: walltime},
	}
	if err := j.Check(); err != nil {
		return fmt.Errorf("the job %s: %w", shown([]byte(d.JobID)), err)
	}
	if err := p.meta.Fits(j.Request); err != nil {
		return fmt.Errorf("the job %s: %w", shown([]byte(d.JobID)), err)
	}
	p.number++
	own := &job{name: d.JobID}
	p.jobs[d.JobID], p.coming[j] = own, own
	p.meta.Submit(j)
	return nil
}

// registerProfile takes in what jobs can be made of.
func (p *Policy) registerProfile(e *event) error {
	var d registeredProfileData
	if err := read(e, &d); err != nil {
		return err
	}
	if !p.Dynamic {
		return errors.New("profiles cannot be registered unless that is switched on (dynamic=on)")
	}
	return p.setProfile(d.Workload+"!"+d.Name, &d.Profile)
}

// setProfile notes how long a profile takes, by WORKLOAD!NAME. A later one of the same name takes its place.
func (p *Policy) setProfile(name string, d *registeredProfile) error {
	if d.Type != delayProfile {
		return fmt.Errorf("the profile %s is of the type %s: of profiles only %s is played", shown([]byte(name)), shown([]byte(d.Type)), delayProfile)
	}
	p.profiles[name] = des.Time(d.Delay)
	return nil
}

// notified takes in what the scheduler says of the jobs that it registers. Neither note changes anything: a run
// ends when its jobs have ended.
func (p *Policy) notified(e *event) error {
	var d notifyData
	if err := read(e, &d); err != nil {
		return err
	}
	if (d.Type != registrationFinished && d.Type != registrationGoesOn) || !p.Dynamic {
		return fmt.Errorf("the note %s is not played", shown([]byte(d.Type)))
	}
	return nil
}
