package flow

// Nodes that nobody uses are switched off, and booted when somebody wants them.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/enum"
)

// PowerState is the state of a node for its power, whatever runs on it.
type PowerState uint8

const (
	PoweredOn    PowerState = iota // it can run jobs
	SwitchingOff                   // on its way to PoweredOff; it runs nothing
	PoweredOff                     // it runs nothing until it has been booted
	Booting                        // on its way to PoweredOn; it runs nothing
)

var powerStates = enum.Of[PowerState]("power state", "on", "switching off", "off", "booting")

func (s PowerState) String() string { return powerStates.Name(s) }

// Switch is a change of a node's power state.
type Switch struct {
	At       des.Time      // when the state changes
	Place    procset.Range // the node's processors
	From, To PowerState    // the state before, and the new state
}

// SwitchOff is a flow that switches off unused nodes and boots nodes that jobs want. It is an
// Observer, which attaches itself to the metascheduler that it is given to. On a plan of counted
// processors a node is PerNode processors in a row, and the metascheduler gets a Placer if it has
// none.
//
//	on --idle for Idle--> switching off --Shutdown--> off --wanted--> booting --Boot--> on
//
// While a node is not on, it is withheld from the plan, so no policy uses it. The hold has no
// end until a job wants the node; then it ends with the node's boot, so that policies can plan
// for the time after the boot.
//
// Booting: the flow compares the processors that all jobs without a reservation want together
// with the processors that will be free from the end of a boot on, for the length of the longest
// of these jobs. If too few will be free, nodes begin to boot at once. The flow looks at an
// arriving job before the policy decides, and at the jobs that still wait after the decision.
//
// Switching off: nodes are spare if more processors are free or booting than all jobs in the
// queue want. Only spare nodes are switched off. If an advance reservation lies ahead, a node is
// switched off until its start if the time between is long enough, and it boots in time.
//
// Named nodes are unequal. A job wants only nodes on which it may run, and first the nodes that
// it can pay (each costs at most its share of the job's budget). A named node is spare if it is
// left over after each job in the queue has taken the nodes that it wants from those that are
// on. If jobs wait although none runs and no node boots, all nodes boot. Owners' jobs that do
// not come through the metascheduler wake no nodes.
//
// All nodes are on at first. Their idle time begins with the first round or the first start of
// a job.
//
// For servers that each serve one job, this is the policy ON/OFF of Gandhi, Harchol-Balter and
// Adan, "Server farms with setup costs" (Performance Evaluation 67, 2010), with two differences:
// a server is switched off only after a delay (Idle), and a boot that has begun is not broken off.
type SwitchOff struct {
	Idle     des.Time // idle time of a node before it is switched off
	Boot     des.Time // time that a boot takes
	Shutdown des.Time // time that switching off takes
	PerNode  int      // counted processors of a node; 0 means 1; on named nodes it must be 0 or 1
	// Told, if set, is called with every change, also with states that last no time.
	Told func(Switch)

	operator    Operator // the policy, where it switches nodes itself, or nil
	meta        *entity.Metascheduler
	sim         *des.Simulator
	procs       int                  // or nodes that have names
	number      map[*entity.Node]int // of these; nil of counted processors
	nodes       []powered
	started     []*entity.Run // at this instant: their places are not known yet
	resting     []rest        // nodes that became idle, in order of time
	timer       des.Time      // the latest end of an idle time for which there is an event
	overdue     []int         // nodes whose idle time is over
	asleep      int           // number of nodes that are off or switching off, and that no job wants
	booting     int           // number of nodes that a job wants and that are not on yet
	ready       des.Time      // the instant at which the last booting node is on
	withholding bool
	begun       bool
	tried       bool        // all nodes have been booted since a job came, started or ended; see wakeAll
	expected    *entity.Job // the latest advance reservation that was asked for
}

// Operator is a policy that switches nodes itself, by SwitchOff.Switch. The flow then
// switches no node by itself.
type Operator interface {
	// Operates is called when the flow is attached, and reports whether the policy will
	// switch nodes.
	Operates(s *SwitchOff) bool
	// Switched is called at every change.
	Switched(Switch)
}

// powered is a node of a SwitchOff.
type powered struct {
	state   PowerState
	busy    int          // processors that jobs have
	by      *entity.Run  // the job on a named node, or nil
	since   des.Time     // when it became idle the last time
	overdue bool         // it is among SwitchOff.overdue
	wanted  bool         // it boots, or will boot as soon as it is off
	hold    *entity.Hold // withholds the node while it is not on; nil while it is on
	offAt   des.Time     // when it is off, once it has begun to switch off
	bootAt  des.Time     // when it is to boot; des.Forever if no job wants it
	readyAt des.Time     // when it is on again, once it boots
	next    des.EventID  // of its next change
}

// rest is a node and the instant at which it became idle.
type rest struct {
	node  int
	since des.Time
}

// phaseRest is the phase in which nodes are switched off: after everything else of an instant.
const phaseRest = entity.PhaseStart + 1

// Attach connects the flow with the metascheduler whose nodes it switches.
func (s *SwitchOff) Attach(m *entity.Metascheduler) {
	s.meta, s.sim, s.timer = m, m.Simulator(), -1
	s.PerNode = max(s.PerNode, 1)
	s.procs = m.Plan().Size()
	if o, ok := entity.As[Operator](m.Policy()); ok && o.Operates(s) {
		s.operator, s.Idle = o, des.Forever
	}
	switch {
	case !entity.Named(m.Plan()):
		if m.Placer == nil {
			m.Placer = entity.LowestFirst{}
		}
	case s.PerNode > 1:
		s.sim.Fail(fmt.Errorf("switching nodes off: nodes that have names are switched off one by one, not in rows of %d", s.PerNode))
		return
	default:
		s.number = make(map[*entity.Node]int, s.procs)
		for i := range s.procs {
			s.number[m.Plan().Node(i)] = i
		}
	}
	s.nodes = make([]powered, (s.procs+s.PerNode-1)/s.PerNode)
	for i := range s.nodes {
		s.nodes[i].bootAt = des.Forever
	}
}

// begin starts the idle time of all nodes, once.
func (s *SwitchOff) begin() {
	if s.begun {
		return
	}
	s.begun = true
	for i := range s.nodes {
		s.idle(i, s.sim.Now())
	}
}

// State returns the power state of a processor's node.
func (s *SwitchOff) State(processor int32) PowerState {
	return s.nodes[int(processor)/s.PerNode].state
}

// Withholding reports whether the capacity that is being withheld just now, or given back,
// belongs to a node that is switched off or boots: for observers of capacity.
func (s *SwitchOff) Withholding() bool { return s.withholding }

// place returns the processors of the i-th node.
func (s *SwitchOff) place(i int) procset.Range {
	return procset.Range{First: int32(i * s.PerNode), Last: int32(min((i+1)*s.PerNode, s.procs) - 1)}
}

func (s *SwitchOff) size(i int) int { r := s.place(i); return int(r.Last-r.First) + 1 }

// Observe implements entity.Observer: it follows which nodes are busy, and boots nodes for
// jobs that come or come back.
func (s *SwitchOff) Observe(e entity.JobEvent) {
	r := e.Run
	s.tried = s.tried && e.Kind == entity.JobPromised
	switch e.Kind {
	case entity.JobStarted:
		s.begin()
		s.started = append(s.started, r)
	case entity.JobSubmitted:
		if !r.Booked && r.Job != s.expected && s.asleep > 0 {
			if s.most(r).Nodes > 0 {
				s.provide(r)
			}
		}
	case entity.JobWithdrawn:
		s.provideLater()
	}
	a, _, how, ok := entity.Over(e)
	if !ok {
		return
	}
	s.ended(r, a)
	switch how {
	case entity.EndResized:
		s.started = append(s.started, r)
	case entity.EndRequeued:
		s.provideLater()
	}
}

// provideLater calls provide for jobs that wait again, just before the policy decides. They lost
// their processors to an outage, or to a job that runs on past its estimate, which takes these
// processors only after observers have heard of the loss.
func (s *SwitchOff) provideLater() {
	s.sim.At(s.sim.Now(), s.meta.ChangePhase()-1, (*providing)(s), 0)
}

// providing is the flow as the handler of an instant at which jobs have lost what
// they held.
type providing SwitchOff

func (f *providing) Handle(*des.Simulator, des.Event) { (*SwitchOff)(f).provide(nil) }

// ended takes a job off the nodes of an attempt that has ended. If the attempt ends at the instant
// of its start, its nodes were never noted.
func (s *SwitchOff) ended(r *entity.Run, a entity.Attempt) {
	now := s.sim.Now()
	if a.Start == now {
		s.started = slices.DeleteFunc(s.started, func(other *entity.Run) bool { return other == r })
		return
	}
	s.occupy(a.Place, -1, now)
	for _, t := range a.Window.Tasks {
		s.leaveNode(t.Node, r)
	}
}

// TaskEnded implements entity.TaskObserver: the task's node is idle now.
func (s *SwitchOff) TaskEnded(r *entity.Run, i int) {
	s.leaveNode(r.Reservation.Window.Tasks[i].Node, r)
}

// leaveNode notes that r has left n, unless another job has n by now.
func (s *SwitchOff) leaveNode(n *entity.Node, r *entity.Run) {
	if i, known := s.number[n]; known && s.nodes[i].by == r {
		s.nodes[i].by = nil
		s.idle(i, s.sim.Now())
	}
}

// InstantOver notes where the jobs run that have started.
func (s *SwitchOff) InstantOver(at des.Time) {
	for _, r := range s.started {
		s.occupy(r.Place, 1, at)
		// Each task goes on: all take some time, or none does, and then the job has ended.
		for _, t := range r.Reservation.Window.Tasks {
			k := s.number[t.Node]
			s.nodes[k].by, s.nodes[k].overdue = r, false
		}
	}
	clear(s.started)
	s.started = s.started[:0]
}

// occupy counts the processors that a job takes (sign 1), or leaves (-1), at the instant at.
func (s *SwitchOff) occupy(place []procset.Range, sign int, at des.Time) {
	for _, r := range place {
		for first := int(r.First); first <= int(r.Last); {
			i := first / s.PerNode
			end := min((i+1)*s.PerNode, int(r.Last)+1)
			n := &s.nodes[i]
			before := n.busy
			n.busy += sign * (end - first)
			if before == 0 {
				n.overdue = false
			} else if n.busy == 0 {
				s.idle(i, at)
			}
			first = end
		}
	}
}

// idle notes that the i-th node becomes idle now, and asks for an event at the end of its idle
// time.
func (s *SwitchOff) idle(i int, now des.Time) {
	s.nodes[i].since = now
	due := now.Add(s.Idle)
	if due == des.Forever {
		return
	}
	s.resting = append(s.resting, rest{i, now})
	if due != s.timer {
		s.timer = due
		s.sim.At(due, phaseRest, (*idleFor)(s), 0)
	}
}

// idleFor is the flow as the handler of the end of an idle time.
type idleFor SwitchOff

func (f *idleFor) Handle(_ *des.Simulator, ev des.Event) {
	s := (*SwitchOff)(f)
	s.meta.Advance() // the places of all jobs that started before are known
	done := 0
	for _, r := range s.resting {
		if r.since.Add(s.Idle) > ev.Time {
			break
		}
		done++
		if n := &s.nodes[r.node]; n.state == PoweredOn && n.busy == 0 && n.by == nil && n.since == r.since && !n.overdue {
			n.overdue = true
			s.overdue = append(s.overdue, r.node)
		}
	}
	s.resting = s.resting[done:]
	s.release()
}

// Decided implements entity.RoundObserver: jobs that still wait may want nodes, and nodes
// that jobs have been kept waiting for may be spare.
func (s *SwitchOff) Decided(*entity.Round) {
	s.begin()
	s.provide(nil)
	if s.operator == nil && s.number != nil && !s.tried && s.booting == 0 && s.asleep > 0 && s.meta.Running() == 0 && s.stuck() {
		s.wakeAll()
	}
	s.release()
}

// stuck reports whether jobs wait and none of them holds anything.
func (s *SwitchOff) stuck() bool {
	waits := false
	for r := range s.meta.Queue().By(entity.Submission, s.sim.Now()).All() {
		if r.State != entity.Waiting {
			return false
		}
		waits = true
	}
	return waits
}

// wakeAll boots all nodes: a job may want other nodes than those that are on, for a reason
// that only the policy or the plan knows.
func (s *SwitchOff) wakeAll() {
	s.tried = true
	for i := range s.nodes {
		if n := &s.nodes[i]; n.hold != nil && !n.wanted {
			s.wake(i, s.sim.Now())
		}
	}
}

// Withheld implements entity.CapacityObserver. When withheld capacity is back, idle nodes among it
// may be switched off.
func (s *SwitchOff) Withheld(h *entity.Hold) {
	if end := h.Window().End; !s.withholding && end < des.Forever {
		s.sim.At(end, phaseRest, (*idleFor)(s), 0)
	}
}

// Returned implements entity.CapacityObserver; see Withheld.
func (s *SwitchOff) Returned(*entity.Hold) {
	if !s.withholding && len(s.overdue) > 0 {
		s.sim.At(s.sim.Now(), phaseRest, (*idleFor)(s), 0)
	}
}

// provide boots as many nodes as the waiting jobs lack. coming, if not nil, is a job that is just
// being submitted and counts as waiting.
func (s *SwitchOff) provide(coming *entity.Run) {
	if s.asleep == 0 || s.operator != nil {
		return
	}
	var all []demand
	if coming != nil {
		all = append(all, s.most(coming))
	}
	now := s.sim.Now()
	for r := range s.meta.Queue().By(entity.Submission, now).All() {
		if r.State == entity.Waiting {
			all = append(all, s.most(r))
		}
	}
	longest := des.Time(0)
	for _, d := range all {
		longest = max(longest, d.Length)
	}
	if longest == 0 {
		return
	}
	free := s.supply(max(now.Add(s.Boot), s.ready), longest)
	for _, d := range all {
		s.boot(d, d.Nodes-free.take(s.meta.Plan(), d), &free)
	}
}

// boot boots nodes for d, which lacks short processors or nodes. Counted processors of the last
// node that d does not need are added to free.
func (s *SwitchOff) boot(d demand, short int, free *supply) {
	now := s.sim.Now()
	for _, paid := range []bool{true, false} {
		// A node that is off is on again sooner than a node that is still switching off.
		for _, state := range []PowerState{PoweredOff, SwitchingOff} {
			for i := 0; i < len(s.nodes) && short > 0 && s.asleep > 0; i++ {
				n, node := &s.nodes[i], s.meta.Plan().Node(i)
				if n.state != state || n.wanted || node != nil && !d.admits(node, paid) {
					continue
				}
				s.wake(i, now)
				short -= s.size(i)
			}
		}
	}
	if s.number == nil {
		free.count += max(0, -short)
	}
}

// demand is the largest request that a job can make.
type demand struct{ entity.Request }

// admits reports whether a task of d may run on n. With paid it must also cost at most its share
// of the budget there.
func (d *demand) admits(n *entity.Node, paid bool) bool {
	return d.Admits(n) && (!paid || n.Price*n.TaskTime(d.Length).Seconds() <= d.BudgetLimit()/float64(d.Nodes))
}

// supply is the free part of a plan: a number of counted processors, or nodes by number.
type supply struct {
	count int
	nodes []int
}

// supply returns the part of the plan that is free from an instant on for as long as a task of that
// length takes.
func (s *SwitchOff) supply(from, length des.Time) (p supply) {
	plan := s.meta.Plan()
	if s.number == nil {
		p.count = s.least(from, from.Add(length))
		return p
	}
	end := func(n *entity.Node) des.Time { return from.Add(max(n.TaskTime(length), des.Tick)) }
	to := from
	for i := range s.procs {
		to = max(to, end(plan.Node(i)))
	}
	for slot := range plan.Slots(from, to) {
		if slot.Start > from {
			break
		}
		if slot.End >= end(slot.Node) {
			p.nodes = append(p.nodes, s.number[slot.Node])
		}
	}
	slices.Sort(p.nodes)
	return p
}

// take takes what d wants, as far as there is enough of it, those nodes first that it can
// pay, and returns how many it has got.
func (p *supply) take(plan entity.Plan, d demand) (n int) {
	n = min(p.count, d.Nodes)
	p.count -= n
	for _, paid := range []bool{true, false} {
		p.nodes = slices.DeleteFunc(p.nodes, func(i int) bool {
			taken := n < d.Nodes && d.admits(plan.Node(i), paid)
			if taken {
				n++
			}
			return taken
		})
	}
	return n
}

// most returns the largest demand of r: the most nodes and the greatest length of all shapes that
// fit the machine, or nothing if none fits.
func (s *SwitchOff) most(r *entity.Run) demand {
	req, most := r.Request, demand{r.Request}
	if s.meta.Fits(req) != nil {
		most.Nodes, most.Length = 0, 0
	}
	for _, shape := range r.Shapes {
		if req.Nodes, req.Length = shape.Nodes, shape.Length; s.meta.Fits(req) == nil {
			most.Nodes, most.Length = max(most.Nodes, req.Nodes), max(most.Length, req.Length)
		}
	}
	return most
}

// least returns the least number of processors that are free at a time in [from, to).
func (s *SwitchOff) least(from, to des.Time) int {
	all := s.levels(from, to)
	return all[len(all)-1].free
}

// level is an instant from which on at most a number of processors are free.
type level struct {
	from des.Time
	free int
}

// levels returns the instants of [from, to) at which fewer processors are free by the plan
// than ever before in it; the first is from.
func (s *SwitchOff) levels(from, to des.Time) []level {
	all := []level{{from, s.procs}}
	note := func(at des.Time, free int) {
		if last := &all[len(all)-1]; at == last.from {
			last.free = min(last.free, free)
		} else if free < last.free {
			all = append(all, level{at, free})
		}
	}
	at := from
	for slot := range s.meta.Plan().Slots(from, to) {
		if slot.Start > at {
			note(at, 0)
			return all
		}
		note(slot.Start, slot.Width)
		at = slot.End
	}
	if at < to {
		note(at, 0)
	}
	return all
}

// wake boots the i-th node, which no job wanted so far, as soon as possible.
func (s *SwitchOff) wake(i int, now des.Time) {
	n := &s.nodes[i]
	ready := max(now, n.offAt).Add(s.Boot)
	if err := s.keep(i, ready); err != nil {
		s.sim.Fail(fmt.Errorf("at %v: booting processors %v: %w", now, s.place(i), err))
		return
	}
	n.bootAt = now
	s.want(i, ready)
	s.step(i)
}

// want counts the i-th node among the nodes that will be on again, at the instant ready.
func (s *SwitchOff) want(i int, ready des.Time) {
	if n := &s.nodes[i]; !n.wanted {
		n.wanted = true
		s.asleep--
		s.booting++
		s.ready = max(s.ready, ready)
	}
}

// keep withholds the i-th node from the plan until the instant end, in place of the present hold. It
// returns an error if the node is not free until then.
func (s *SwitchOff) keep(i int, end des.Time) error {
	n := &s.nodes[i]
	if n.hold != nil {
		s.drop(n)
	}
	now := s.sim.Now()
	if end <= now {
		return nil
	}
	s.withholding = true
	hold, err := s.meta.Withhold(entity.Where{Set: []procset.Range{s.place(i)}}, now, end)
	s.withholding = false
	if n.hold = hold; err == nil {
		s.meta.WithheldFor(hold.Run(), entity.BlockedByOff)
	}
	return err
}

// drop gives back to the plan what is withheld of a node.
func (s *SwitchOff) drop(n *powered) {
	s.withholding = true
	n.hold.Drop()
	s.withholding = false
	n.hold = nil
}

// step takes the i-th node through the states whose time has come.
func (s *SwitchOff) step(i int) {
	n, now := &s.nodes[i], s.sim.Now()
	s.sim.Cancel(n.next)
	for {
		due := des.Forever
		switch n.state {
		case SwitchingOff:
			due = n.offAt
		case PoweredOff:
			due = n.bootAt
		case Booting:
			due = n.readyAt
		}
		if due > now {
			if due < des.Forever {
				n.next = s.sim.At(due, entity.PhaseEnd, (*switching)(s), uint64(i))
			}
			return
		}
		switch n.state {
		case SwitchingOff:
			s.turn(i, PoweredOff)
		case PoweredOff:
			n.readyAt = now.Add(s.Boot)
			s.want(i, n.readyAt)
			s.turn(i, Booting)
		case Booting:
			n.hold, n.bootAt = nil, des.Forever
			s.booting--
			s.turn(i, PoweredOn)
			s.idle(i, now)
		}
	}
}

// switching is the flow as the handler of a node's next change.
type switching SwitchOff

func (f *switching) Handle(_ *des.Simulator, ev des.Event) {
	s := (*SwitchOff)(f)
	s.meta.Advance() // observers hear first that the instants before are over
	s.step(int(ev.Arg))
}

func (s *SwitchOff) turn(i int, to PowerState) {
	n := &s.nodes[i]
	from := n.state
	n.state = to
	x := Switch{s.sim.Now(), s.place(i), from, to}
	if s.Told != nil {
		s.Told(x)
	}
	if s.operator != nil {
		s.operator.Switched(x)
	}
}

// Switch turns a node that is on and has no job off until it is switched on again, or boots
// a node that is off or on its way there. It is for an Operator, which knows what it has
// given to jobs at this instant. Any processor of a node stands for the whole node.
func (s *SwitchOff) Switch(processor int, on bool) error {
	i := processor / s.PerNode
	n := &s.nodes[i]
	switch {
	case on && n.hold != nil && !n.wanted:
		s.wake(i, s.sim.Now())
		return nil
	case !on && n.state == PoweredOn && n.busy == 0 && n.by == nil && s.rest(i, des.Forever):
		return nil
	}
	return fmt.Errorf("processor %d is %v", processor, n.state)
}

// release switches off nodes that have been idle for long enough and that no job in the queue wants.
// It switches none off after wakeAll, as long as nothing has happened to a job since.
func (s *SwitchOff) release() {
	if s.tried {
		return
	}
	s.restOverdue()
	s.forget()
}

// forget removes the nodes from the overdue that are no longer overdue.
func (s *SwitchOff) forget() {
	s.overdue = slices.DeleteFunc(s.overdue, func(i int) bool { return !s.nodes[i].overdue })
}

func (s *SwitchOff) restOverdue() {
	s.forget()
	if len(s.overdue) == 0 {
		return
	}
	if s.number == nil {
		s.restRows()
	} else {
		s.restNodes()
	}
}

// restRows switches rows of counted processors off: as many as are free beside what the
// queue wants, each for as long as the plan has that many processors free.
func (s *SwitchOff) restRows() {
	now := s.sim.Now()
	levels := s.levels(now, des.Forever)
	spare := levels[0].free + s.booting*s.PerNode
	for r := range s.meta.Queue().By(entity.Submission, now).All() {
		if spare -= s.most(r).Nodes; spare <= 0 {
			return
		}
	}
	taken := 0
	for _, i := range s.overdue {
		size := s.size(i)
		end := levels[0].from
		for _, l := range levels {
			if end = des.Forever; l.free < taken+size {
				end = l.from
				break
			}
		}
		if spare < size || end-now < s.Shutdown.Add(s.Boot) || end == now {
			return // nor is there room for the others
		}
		if s.rest(i, end) {
			spare -= size
			taken += size
		}
	}
}

// restNodes switches named nodes off: the nodes that the jobs in the queue leave over.
func (s *SwitchOff) restNodes() {
	plan, now := s.meta.Plan(), s.sim.Now()
	free := s.supply(now, des.Tick)
	for i := range s.nodes {
		if n := &s.nodes[i]; n.wanted && n.state != PoweredOn { // it boots, or will
			free.nodes = append(free.nodes, i)
		}
	}
	for r := range s.meta.Queue().By(entity.Submission, now).All() {
		free.take(plan, s.most(r))
	}
	for _, i := range slices.Clone(s.overdue) {
		// Of nodes that it counts a plan tells how many are free, by the first of them.
		like := slices.IndexFunc(free.nodes, func(k int) bool { return plan.Node(k).Alike(plan.Node(i)) })
		if like < 0 {
			continue
		}
		for _, end := range s.ends(i) {
			if end-now >= s.Shutdown.Add(s.Boot) && s.rest(i, end) {
				free.nodes = slices.Delete(free.nodes, like, like+1)
				break
			}
		}
	}
}

// ends returns the instants until which the i-th node may be free, the latest first: the ends of the
// present slots of nodes that are equal to it.
func (s *SwitchOff) ends(i int) (all []des.Time) {
	plan, now := s.meta.Plan(), s.sim.Now()
	for slot := range plan.Slots(now, des.Forever) {
		if slot.Start > now {
			break
		}
		if slot.End > now && slot.Node.Alike(plan.Node(i)) {
			all = append(all, slot.End)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.Reverse(all)
	return all
}

// rest switches the i-th node off, so that it is on again at the instant end. It returns false, and
// changes nothing, if the plan does not have the node free until then.
func (s *SwitchOff) rest(i int, end des.Time) bool {
	if s.keep(i, end) != nil {
		return false
	}
	n, now := &s.nodes[i], s.sim.Now()
	n.overdue, n.wanted = false, false
	n.offAt, n.bootAt = now.Add(s.Shutdown), des.Forever
	if end < des.Forever {
		n.bootAt = end - s.Boot
	}
	s.asleep++
	s.turn(i, SwitchingOff)
	s.step(i)
	return true
}

// Yield gives up nodes that are not on, as far as an outage that is about to begin takes them or can
// take them in place of others. They count as on when the outage is over. See Outages.Before.
func (s *SwitchOff) Yield(x Outage) {
	short := x.Count
	if short > 0 {
		short -= s.least(x.From, x.To)
	}
	for _, wanted := range []bool{false, true} {
		for i := range s.nodes {
			n, mine := &s.nodes[i], s.place(i)
			hit := procset.Overlap(x.Set, []procset.Range{mine})
			if n.hold != nil && n.wanted == wanted && (hit || short > 0) {
				s.leave(i)
				short -= s.size(i)
			}
		}
	}
}

// leave turns the i-th node, which is not on, on at once.
func (s *SwitchOff) leave(i int) {
	n := &s.nodes[i]
	s.drop(n)
	s.sim.Cancel(n.next)
	if n.wanted {
		s.booting--
	} else {
		s.asleep--
	}
	n.bootAt = des.Forever
	s.turn(i, PoweredOn)
	s.idle(i, s.sim.Now())
}

// Expect boots nodes that are off in time for an advance reservation that is about to be
// asked for, if there are enough of them; see Bookings.Ahead.
func (s *SwitchOff) Expect(k Booking) {
	now, start, d := s.sim.Now(), k.Start, demand{s.meta.RequestOf(k.Job)}
	s.expected = k.Job
	free := s.supply(start, d.Length)
	short := d.Nodes - free.take(s.meta.Plan(), d)
	var chosen []int
	for i := 0; i < len(s.nodes) && short > 0; i++ {
		n, node := &s.nodes[i], s.meta.Plan().Node(i)
		if node != nil && !d.admits(node, true) {
			continue
		}
		if n.hold != nil && !n.wanted && n.hold.Window().End > start && max(now, n.offAt).Add(s.Boot) <= start {
			chosen = append(chosen, i)
			short -= s.size(i)
		}
	}
	if short > 0 {
		return
	}
	for _, i := range chosen {
		if err := s.keep(i, start); err != nil {
			s.sim.Fail(fmt.Errorf("at %v: booting processors %v in time: %w", now, s.place(i), err))
			return
		}
		s.nodes[i].bootAt = start - s.Boot
		s.step(i)
	}
}
