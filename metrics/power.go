package metrics

// What the nodes draw, over time and for each job.

import (
	"cmp"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/internal/printed"
	"github.com/gridslot/gridslot/metrics/rows"
)

// PowerModel is the power of one node in each of its states. Invariant: no power is negative.
type PowerModel struct {
	Idle, Busy   Power // on, without a job and with one
	Off          Power // switched off, or down
	Booting      Power
	SwitchingOff Power
}

// nodeState is a state of a node, by which its energy is told apart.
type nodeState uint8

const (
	nodeIdle nodeState = iota
	nodeBusy
	nodeOff
	nodeBooting
	nodeSwitchingOff
	nodeDown // withheld, but not by a flow.SwitchOff
	nodeStates
)

// draws returns the power in a state. A node that is down draws what one that is off draws.
func (p *PowerModel) draws(s nodeState) Power {
	return [nodeStates]Power{p.Idle, p.Busy, p.Off, p.Booting, p.SwitchingOff, p.Off}[s]
}

// share returns the model of one of n processors of a node, rounded to the nearest microwatt.
func (p PowerModel) share(n int) PowerModel {
	for _, each := range []*Power{&p.Idle, &p.Busy, &p.Off, &p.Booting, &p.SwitchingOff} {
		*each = (*each + Power(n)/2) / Power(n)
	}
	return p
}

// PowerMeter is an Observer that accounts for the energy of a run: what every node
// draws, by its state, from the first submission to the end of the last job. Set
// the exported fields before the run.
//
// On a plan of counted processors a node is a row of PerNode of them. A node with
// a job on it is busy as a whole; its power is shared out evenly among its
// processors, to the microwatt, and what is down is counted by the processor.
// Where nodes have several processors the meter gives the metascheduler a Placer
// if it has none. On named nodes a node is busy until its own task has ended.
//
// Energies are exact, and the same on every architecture: see Energy.
type PowerMeter struct {
	// Model is the power model of every node.
	Model PowerModel
	// Of, if set, is the model of each named node instead.
	Of func(*entity.Node) PowerModel
	// PerNode is the number of processors of a counted node; 0 means 1. The last node may have
	// fewer.
	PerNode int
	// Price, if set, is the price of a kilowatt-hour over time; Carbon is how many grams a
	// kilowatt-hour emits.
	Price, Carbon *flow.Curve
	// Saving, if set, is the flow that switches nodes off: it is given to the same
	// metascheduler, before the meter.
	Saving *flow.SwitchOff
	// Profile, if set, gets power-POLICY.csv; see PowerSpan.Profile. A meter that shares
	// its span has none of its own.
	Profile io.Writer
	// Span, if set, is shared with the meters of other schedulers. Otherwise the meter has a
	// span of its own.
	Span *PowerSpan

	sim *des.Simulator
	// nodeAt returns a named node by its number.
	nodeAt func(int) *entity.Node
	// hosts are nodes of several processors that share no plan; see Hosts.
	hosts []host
	// procs is the number of counted processors, and model what each of them draws.
	procs int
	model PowerModel
	// jobsOn has, for each counted node, the number of its processors that have a job; nil if a
	// node is a processor. held is the number of counted processors on nodes with a job.
	jobsOn []int32
	held   int
	// named are the named nodes; nil on counted processors; never iterated.
	named map[*entity.Node]*meteredNode
	// level is the present one.
	level powerLevel
	// away counts the processors that are off, booting and so on. It is set for counted processors
	// only.
	away [nodeStates]int

	// started are the jobs that start at this instant, whose places are still to come.
	started []*entity.Run
	// down has the holds that have begun and are not over; never iterated.
	down map[*entity.Hold]bool

	// spent is up to now, last up to the end of the latest job of the span: only that is told,
	// because nobody knows while the run goes on which job is the last one.
	spent, last powerSums
	// booting counts the nodes that begin to boot at this instant.
	booting int64
}

// PowerSpan is the time over which energy is accounted for, by one PowerMeter or, where a
// machine has several schedulers, by one for each of them: from the first submission to any
// of them to the end of the last job at any. The numbers of all meters are of the same time,
// and add up:
//
//	meter of site a   ...|idle |busy      |idle      |...
//	meter of site b   ...|idle       |busy           |...
//	span                 begin                     end
//
// Meters join the span when they are attached. A PowerSpan is an Observer as well, for those
// who come before the schedulers: the span begins with a submission that it hears of.
type PowerSpan struct {
	// Profile, if set, gets power-POLICY.csv. A row stands for each instant at whose end the power,
	// or the number of nodes in a state, has changed. The last row is the end of the last job.
	// Close writes the rows that are left.
	Profile io.Writer

	meters []*PowerMeter
	// downs are the beginnings and ends of what is withheld anywhere, by time.
	downs []downtime
	// begun tells that the first submission has come, at begin. Until then nothing is accounted
	// for.
	begun      bool
	begin, now des.Time
	// peak is the greatest power so far, lastPeak that up to end.
	peak, lastPeak Power
	// end is the end of the latest job, and atEnd the level then.
	end   des.Time
	atEnd powerLevel

	// text is nil without a Profile.
	text *rows.Writer[rows.Draw]
	// behind are the rows after end, which are written once another job ends: the last row of the
	// profile is at the end of the last job.
	behind []rows.Draw
	// written is the level of the latest row.
	written powerLevel
}

// meteredNode is a named node.
type meteredNode struct {
	model PowerModel
	// by is the job on it, nil if there is none.
	by    *entity.Run
	state nodeState
	// away tells that it is withheld.
	away bool
	// power is the state in which its flow.SwitchOff has it; nodeIdle if it is on.
	power nodeState
}

// host is a node of several processors, with the numbers from first on; jobs counts the processors
// that have a job.
type host struct {
	meteredNode
	first, size int32
	jobs        int
}

// Hosts sets the nodes of a machine whose jobs have no metascheduler, by their numbers of
// processors. A node is busy while any of its processors has a job. A job's share of the node's
// power is its share of the node's processors. Call Hosts before the first event, in place of
// Attach.
func (m *PowerMeter) Hosts(sizes []int) {
	m.hosts = make([]host, len(sizes))
	first := int32(0)
	for i, size := range sizes {
		m.hosts[i] = host{meteredNode: meteredNode{model: m.Model}, first: first, size: int32(size)}
		first += int32(size)
		m.level.count[nodeIdle]++
		m.level.draw[nodeIdle] += m.Model.Idle
	}
	if m.Span == nil {
		m.Span = &PowerSpan{Profile: m.Profile}
	}
	m.Span.join(m)
}

// Down takes in that one of the Hosts is down from now on, or up again.
func (m *PowerMeter) Down(now des.Time, at int, down bool) {
	m.Span.advance(now)
	m.hosts[at].away = down
	m.review(&m.hosts[at].meteredNode)
}

// hostsOf yields the Hosts of a place, and how many processors of each belong to it.
func (m *PowerMeter) hostsOf(place []procset.Range) iter.Seq2[*host, int] {
	return func(yield func(*host, int) bool) {
		for _, r := range place {
			// The first host whose last processor is not below the range.
			at, _ := slices.BinarySearchFunc(m.hosts, r.First, func(h host, n int32) int { return cmp.Compare(h.first+h.size-1, n) })
			for ; at < len(m.hosts) && m.hosts[at].first <= r.Last; at++ {
				h := &m.hosts[at]
				if !yield(h, int(min(r.Last+1, h.first+h.size)-max(r.First, h.first))) {
					return
				}
			}
		}
	}
}

// occupy gives processors of Hosts to r (sign 1), or takes them from a job (sign -1, and r is
// nil).
func (m *PowerMeter) occupy(place []procset.Range, r *entity.Run, sign int) {
	for h, n := range m.hostsOf(place) {
		if h.jobs += sign * n; h.jobs == 0 {
			h.by = nil
		} else if r != nil {
			h.by = r
		}
		m.review(&h.meteredNode)
	}
}

// powerLevel holds, for each state, the number of nodes (or processors) in it and their power
// together.
type powerLevel struct {
	count [nodeStates]int
	draw  [nodeStates]Power
}

// total returns the power of all nodes.
func (l *powerLevel) total() (sum Power) {
	for _, p := range l.draw {
		sum += p
	}
	return sum
}

// add counts the nodes of another scheduler as well.
func (l *powerLevel) add(other *powerLevel) {
	for s := range nodeStates {
		l.count[s] += other.count[s]
		l.draw[s] += other.draw[s]
	}
}

// powerSums holds the energy drawn in each state, its price and emission, the greatest power, and
// the number of times that nodes began to boot.
type powerSums struct {
	energy [nodeStates]Energy
	// price and carbon are by the curves of the meter; carbon is in grams.
	price, carbon float64
	peak          Power
	boots         int64
}

// downtime is the beginning or the end of a hold.
type downtime struct {
	at    des.Time
	meter *PowerMeter
	hold  *entity.Hold
	begin bool
}

// Attach tells the meter whose nodes it is to read. All nodes are on and idle.
func (m *PowerMeter) Attach(meta *entity.Metascheduler) {
	m.sim, m.PerNode, m.down = meta.Simulator(), max(m.PerNode, 1), map[*entity.Hold]bool{}
	if p := meta.Plan(); entity.Named(p) {
		m.named, m.nodeAt = map[*entity.Node]*meteredNode{}, p.Node
		for i := range p.Size() {
			n := p.Node(i)
			own := &meteredNode{model: m.Model}
			if m.Of != nil {
				own.model = m.Of(n)
			}
			m.named[n] = own
			m.level.count[nodeIdle]++
			m.level.draw[nodeIdle] += own.model.Idle
		}
	} else {
		m.procs, m.model = p.Size(), m.Model.share(m.PerNode)
		if m.PerNode > 1 {
			m.jobsOn = make([]int32, (m.procs+m.PerNode-1)/m.PerNode)
			if meta.Placer == nil {
				meta.Placer = entity.LowestFirst{}
			}
		}
		m.count()
	}
	if m.Saving != nil {
		m.Saving.Told = m.switched
	}
	if m.Span == nil {
		m.Span = &PowerSpan{Profile: m.Profile}
	}
	m.Span.join(m)
}

// join adds a meter. The first one begins the profile.
func (s *PowerSpan) join(m *PowerMeter) {
	if len(s.meters) == 0 && s.Profile != nil {
		s.text = rows.NewWriter(s.Profile, rows.Power)
	}
	s.meters = append(s.meters, m)
}

// Observe takes one event in. A span that a job ends may go on: the time after its end counts once
// another job ends.
func (m *PowerMeter) Observe(e entity.JobEvent) {
	r := e.Run
	switch e.Kind {
	case entity.JobSubmitted:
		m.Span.Observe(e)
	case entity.JobStarted:
		m.Span.advance(e.Time)
		m.start(r)
	}
	a, _, how, ok := entity.Over(e)
	if !ok {
		return
	}
	m.Span.advance(e.Time)
	m.leave(r, a)
	switch how {
	case entity.EndResized:
		m.start(r)
	case entity.EndRequeued:
	default:
		m.Span.ended(e.Time)
	}
}

// Observe begins the span with the first submission.
func (s *PowerSpan) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted && !s.begun {
		s.advance(e.Time)
		s.begun, s.begin, s.now, s.end = true, e.Time, e.Time, e.Time
	}
}

// ended takes in that a job has ended, which may be the last one.
func (s *PowerSpan) ended(at des.Time) {
	s.end, s.atEnd, s.lastPeak = at, s.level(), s.peak
	for _, m := range s.meters {
		m.last = m.spent
	}
	for i := range s.behind {
		s.text.Write(&s.behind[i])
	}
	s.behind = s.behind[:0]
}

// level returns the level of all meters together.
func (s *PowerSpan) level() (all powerLevel) {
	for _, m := range s.meters {
		all.add(&m.level)
	}
	return all
}

// start puts r on its nodes. Where a node has several processors, they are known when the instant
// is over.
func (m *PowerMeter) start(r *entity.Run) {
	switch {
	case m.hosts != nil:
		m.occupy(r.Place, r, 1)
	case m.named != nil:
		for _, t := range r.Reservation.Window.Tasks {
			m.set(t.Node, r)
		}
	case m.jobsOn != nil:
		m.started = append(m.started, r)
	default:
		m.held += r.Reservation.Window.Nodes
		m.count()
	}
}

// InstantOver takes in where the jobs that started at this instant run.
func (m *PowerMeter) InstantOver(at des.Time) {
	if len(m.started) == 0 {
		return
	}
	m.Span.advance(at)
	for _, r := range m.started {
		m.place(r.Latest(), 1)
	}
	clear(m.started)
	m.started = m.started[:0]
	m.count()
}

// leave takes r from the nodes of an attempt that is over. An attempt that began at this instant
// was not placed yet, and is forgotten.
func (m *PowerMeter) leave(r *entity.Run, a entity.Attempt) {
	switch {
	case m.hosts != nil:
		m.occupy(a.Place, nil, -1)
		return
	case m.named != nil:
		for _, t := range a.Window.Tasks {
			m.clear(t.Node, r)
		}
		return
	case m.jobsOn == nil:
		m.held -= a.Window.Nodes
	case a.Start == m.Span.now: // it has never been there
		m.started = slices.DeleteFunc(m.started, func(other *entity.Run) bool { return other == r })
		return
	default:
		m.place(a, -1)
	}
	m.count()
}

// place puts an attempt on its counted processors (sign 1), or takes it from them (sign -1), node
// by node.
func (m *PowerMeter) place(a entity.Attempt, sign int32) {
	for _, r := range a.Place {
		// first and end bound what the range has of node i.
		for first := int(r.First); first <= int(r.Last); {
			i := first / m.PerNode
			end := min((i+1)*m.PerNode, int(r.Last)+1)
			before := m.jobsOn[i]
			m.jobsOn[i] += sign * int32(end-first)
			size := min((i+1)*m.PerNode, m.procs) - i*m.PerNode
			// Only the first job on a node makes it busy, and only the last one leaves it idle.
			switch {
			case before == 0:
				m.held += size
			case m.jobsOn[i] == 0:
				m.held -= size
			}
			first = end
		}
	}
}

// TaskEnded makes the node idle whose task has ended.
func (m *PowerMeter) TaskEnded(r *entity.Run, i int) {
	if m.named != nil {
		m.Span.advance(m.sim.Now())
		m.clear(r.Reservation.Window.Tasks[i].Node, r)
	}
}

// set puts r on n; clear takes it from there, if it is the job on n.
func (m *PowerMeter) set(n *entity.Node, r *entity.Run) {
	if own := m.named[n]; own != nil {
		own.by = r
		m.review(own)
	}
}

func (m *PowerMeter) clear(n *entity.Node, r *entity.Run) {
	if own := m.named[n]; own != nil && own.by == r {
		own.by = nil
		m.review(own)
	}
}

// review moves a node to the state that it is in now. Power comes first, then outages, then jobs.
func (m *PowerMeter) review(n *meteredNode) {
	state := nodeIdle
	switch {
	case n.power != nodeIdle:
		state = n.power
	case n.away:
		state = nodeDown
	case n.by != nil:
		state = nodeBusy
	}
	if state != n.state {
		m.level.count[n.state]--
		m.level.draw[n.state] -= n.model.draws(n.state)
		n.state = state
		m.level.count[state]++
		m.level.draw[state] += n.model.draws(state)
	}
}

// count sets the level of counted processors: of those that are on, held ones are busy.
func (m *PowerMeter) count() {
	c := m.away
	on := m.procs
	for _, n := range m.away {
		on -= n
	}
	// A node may go down while a job is on it, at one instant: no more are busy than are on.
	c[nodeBusy] = max(0, min(m.held, on))
	c[nodeIdle] = on - c[nodeBusy]
	m.level.count = c
	for s := range nodeStates {
		m.level.draw[s] = Power(c[s]) * m.model.draws(s)
	}
}

// switched takes in that a node's power has been switched, or the power of a range of processors.
func (m *PowerMeter) switched(s flow.Switch) {
	states := [...]nodeState{flow.PoweredOn: nodeIdle, flow.SwitchingOff: nodeSwitchingOff, flow.PoweredOff: nodeOff, flow.Booting: nodeBooting}
	m.Span.advance(s.At)
	// A node that boots before the first submission is not counted, as its energy is not.
	if s.To == flow.Booting && m.Span.begun {
		m.booting++
	}
	if m.named != nil {
		n := m.named[m.nodeAt(int(s.Place.First))]
		n.power = states[s.To]
		m.review(n)
		return
	}
	n := int(s.Place.Last-s.Place.First) + 1
	if s.From != flow.PoweredOn {
		m.away[states[s.From]] -= n
	}
	if s.To != flow.PoweredOn {
		m.away[states[s.To]] += n
	}
	m.count()
}

// Withheld implements entity.CapacityObserver: capacity is to be down. What flow.SwitchOff takes
// to switch nodes off is told by switched.
func (m *PowerMeter) Withheld(h *entity.Hold) {
	if m.Saving != nil && m.Saving.Withholding() {
		return
	}
	w := h.Window()
	m.Span.plan(downtime{w.Start, m, h, true})
	if w.End < des.Forever {
		m.Span.plan(downtime{w.End, m, h, false})
	}
	m.Span.advance(m.sim.Now())
}

// plan keeps d until its time comes, behind others of that time.
func (s *PowerSpan) plan(d downtime) {
	i, _ := slices.BinarySearchFunc(s.downs, d, func(a, b downtime) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return -1 // behind its equals
	})
	s.downs = slices.Insert(s.downs, i, d)
}

// Returned implements entity.CapacityObserver: the withheld capacity h comes back now, or h is
// withdrawn before it begins.
func (m *PowerMeter) Returned(h *entity.Hold) {
	m.Span.advance(m.sim.Now())
	m.Span.downs = slices.DeleteFunc(m.Span.downs, func(d downtime) bool { return d.hold == h })
	if m.down[h] {
		m.turn(h, false)
	}
}

// turn takes what is withheld out of service, or brings it back.
func (m *PowerMeter) turn(h *entity.Hold, down bool) {
	sign := 1
	if m.down[h] = down; !down {
		sign = -1
		delete(m.down, h)
	}
	w := h.Window()
	if m.named == nil {
		m.away[nodeDown] += sign * w.Nodes
		m.count()
		return
	}
	for _, t := range w.Tasks {
		if own := m.named[t.Node]; own != nil {
			own.away = down
			m.review(own)
		}
	}
}

// advance goes on to now, with everything that goes down or comes back until then.
func (s *PowerSpan) advance(now des.Time) {
	for len(s.downs) > 0 && s.downs[0].at <= now {
		d := s.downs[0]
		s.downs = s.downs[1:]
		s.spend(d.at)
		d.meter.turn(d.hold, d.begin)
	}
	s.spend(now)
}

// spend takes in that nothing has changed anywhere up to now.
func (s *PowerSpan) spend(now des.Time) {
	if !s.begun || now <= s.now {
		return
	}
	for _, m := range s.meters {
		m.spend(s.now, now)
	}
	level := s.level()
	s.peak = max(s.peak, level.total())
	if s.Profile != nil && level != s.written {
		s.behind = append(s.behind, level.draws(s.now))
		s.written = level
	}
	s.now = now
}

// spend takes in what the nodes of the meter have drawn in [from, to), at the present level.
func (m *PowerMeter) spend(from, to des.Time) {
	for s, p := range m.level.draw {
		if p > 0 {
			m.spent.energy[s] = m.spent.energy[s].Add(p.overTime(1, to-from))
		}
	}
	m.spent.price += worthOf(m.Price, m.level.total(), from, to)
	m.spent.carbon += worthOf(m.Carbon, m.level.total(), from, to)
	m.spent.boots, m.booting = m.spent.boots+m.booting, 0
	m.spent.peak = max(m.spent.peak, m.level.total())
}

// worthOf returns what a power drawn in [from, to) comes to by a curve over kilowatt-hours; 0
// without a curve.
func worthOf(c *flow.Curve, p Power, from, to des.Time) (sum float64) {
	if c == nil {
		return 0
	}
	for at := from; at < to; {
		next := min(c.Next(at), to)
		sum += float64(p.overTime(1, next-at).Joules() / joulesOfKilowattHour * c.At(at))
		at = next
	}
	return sum
}

// draws returns the row of the profile for the instant at.
func (l *powerLevel) draws(at des.Time) rows.Draw {
	n := &l.count
	return rows.Draw{
		Time: at, Microwatts: int64(l.total()), Idle: n[nodeIdle], Busy: n[nodeBusy], Off: n[nodeOff],
		Booting: n[nodeBooting], SwitchingOff: n[nodeSwitchingOff], Down: n[nodeDown],
	}
}

// Close writes the last row of the profile and returns the first error met. The underlying writer
// stays open.
func (s *PowerSpan) Close() error {
	if s.text == nil {
		return nil
	}
	last := s.atEnd.draws(s.end)
	s.text.Write(&last)
	return s.text.Flush()
}

// Job returns what r's processors or nodes have drawn while it ran, earlier attempts included: the
// power of busy ones over the time in which r had them. Other jobs on the node do not make it
// less.
func (m *PowerMeter) Job(r *entity.Run) (sum Energy) {
	for a := range r.Attempts() {
		sum = sum.Add(m.attempt(&a))
	}
	return sum
}

// attempt returns what the nodes of the meter have drawn for an attempt that is over.
func (m *PowerMeter) attempt(a *entity.Attempt) (sum Energy) {
	if m.hosts != nil {
		for h, n := range m.hostsOf(a.Place) {
			sum = sum.Add(h.model.share(int(h.size)).Busy.overTime(n, a.End-a.Start))
		}
		return sum
	}
	if m.named == nil {
		return m.model.Busy.overTime(a.Window.Nodes, a.End-a.Start)
	}
	for i, t := range a.Window.Tasks {
		if own := m.named[t.Node]; own != nil {
			sum = sum.Add(own.model.Busy.overTime(1, min(a.Ends[i], a.End)-a.Start))
		}
	}
	return sum
}

// Job is PowerMeter.Job of a job of a grid, whose parts have run at the sites of several meters. A
// part does not tell its site: the meters of counted processors must have one model.
func (s *PowerSpan) Job(r *entity.Run) (sum Energy) {
	for _, p := range r.Parts() {
		counted := p.Window.Tasks == nil
		// A meter of named nodes counts only its own nodes; of the meters of counted processors
		// one is enough.
		for _, m := range s.meters {
			if counted != (m.named == nil) {
				continue
			}
			sum = sum.Add(m.attempt(&p.Attempt))
			if counted {
				break
			}
		}
	}
	return sum
}

// EnergyRow is the energy of one run, from the first submission to the end of the last job. It is a
// row of energy.csv.
type EnergyRow struct {
	Policy string
	// Site is a site of a grid; "" is the whole machine.
	Site string
	// Joules is the sum of the six that follow.
	Joules                                       Energy
	Idle, Busy, Off, Booting, SwitchingOff, Down Energy
	// MeanPower and PeakPower are in watts.
	MeanPower, PeakPower float64
	// EnergyDelay is the energy times the makespan, in joule seconds.
	EnergyDelay float64
	// Boots counts the boots that began in the span.
	Boots int64
	// Cost is by the meter's Price, Carbon in kg by its Carbon; NaN without these.
	Cost, Carbon float64
}

// Row returns what the nodes of the meter have taken by the end of the latest job of the span.
func (m *PowerMeter) Row(policy string) EnergyRow { return m.Span.row(policy, &m.last) }

// Row returns what the nodes of all meters together have taken by the end of the latest job.
func (s *PowerSpan) Row(policy string) EnergyRow {
	// The peaks of the sites need not be at one instant: they do not add up.
	all := powerSums{peak: s.lastPeak}
	for _, m := range s.meters {
		for state := range nodeStates {
			all.energy[state] = all.energy[state].Add(m.last.energy[state])
		}
		all.boots += m.last.boots
		all.price += m.last.price
		all.carbon += m.last.carbon
	}
	return s.row(policy, &all)
}

// row makes a row of sums over the span.
func (s *PowerSpan) row(policy string, of *powerSums) EnergyRow {
	e := &of.energy
	row := EnergyRow{
		Policy: policy, Idle: e[nodeIdle], Busy: e[nodeBusy], Off: e[nodeOff], Booting: e[nodeBooting],
		SwitchingOff: e[nodeSwitchingOff], Down: e[nodeDown], PeakPower: of.peak.Watts(), Boots: of.boots,
		Cost: math.NaN(), Carbon: math.NaN(),
	}
	if m := s.meters[0]; m.Price != nil {
		row.Cost = of.price
	}
	if m := s.meters[0]; m.Carbon != nil {
		row.Carbon = of.carbon / gramsOfKilogram
	}
	for _, each := range e {
		row.Joules = row.Joules.Add(each)
	}
	if span := (s.end - s.begin).Seconds(); span > 0 {
		row.MeanPower, row.EnergyDelay = row.Joules.Joules()/span, row.Joules.Joules()*span
	}
	return row
}

// WriteEnergy writes energy.csv: a heading, and the rows. If a row has a site, a cost or its
// carbon, there is a column for it.
func WriteEnergy(w io.Writer, all []EnergyRow) error {
	var conditions []string
	var lines []rows.Energy
	for _, r := range all {
		if r.Site != "" {
			conditions = append(conditions, rows.OnGrid)
		}
		if !math.IsNaN(r.Cost) {
			conditions = append(conditions, rows.WithPriceCurve)
		}
		if !math.IsNaN(r.Carbon) {
			conditions = append(conditions, rows.WithCarbonCurve)
		}
		lines = append(lines, rows.Energy{
			Policy: r.Policy, Site: r.Site, Joules: r.Joules.String(), Idle: r.Idle.String(), Busy: r.Busy.String(), Off: r.Off.String(),
			Booting: r.Booting.String(), SwitchingOff: r.SwitchingOff.String(), Down: r.Down.String(),
			MeanPower: r.MeanPower, PeakPower: r.PeakPower, EnergyDelay: r.EnergyDelay, Boots: r.Boots,
			Cost: r.Cost, Carbon: r.Carbon,
		})
	}
	return rows.WriteAll(w, rows.Energies.Only(conditions...), lines)
}

// energyColumns are the columns of WriteEnergyTable.
var energyColumns = []printed.Column[EnergyRow]{
	{Title: "policy", Cell: func(r EnergyRow) string { return r.Policy }},
	{Title: "energy kWh", Cell: func(r EnergyRow) string { return fixed(r.Joules.Joules() / joulesOfKilowattHour) }},
	{Title: "mean W", Cell: func(r EnergyRow) string { return fixed(r.MeanPower) }},
	{Title: "peak W", Cell: func(r EnergyRow) string { return fixed(r.PeakPower) }},
	{Title: "idle %", Cell: func(r EnergyRow) string { return r.percent(r.Idle) }},
	{Title: "busy %", Cell: func(r EnergyRow) string { return r.percent(r.Busy) }},
	{Title: "off, down %", Cell: func(r EnergyRow) string { return r.percent(r.Off.Add(r.Down)) }},
	{Title: "switching %", Cell: func(r EnergyRow) string { return r.percent(r.Booting.Add(r.SwitchingOff)) }},
	{Title: "boots", Cell: func(r EnergyRow) string { return printed.Int(int(r.Boots)) }},
}

const (
	joulesOfKilowattHour = 3.6e6
	gramsOfKilogram      = 1000
)

// fixed writes a number with one decimal.
func fixed(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// percent returns e as a share of the whole energy, in per cent.
func (r EnergyRow) percent(e Energy) string {
	if all := r.Joules.Joules(); all > 0 {
		return fixed(100 * e.Joules() / all)
	}
	return fixed(0)
}

// WriteEnergyTable writes an aligned table for people, a row for each run: the energy, the power,
// and which share of the energy went where.
func WriteEnergyTable(w io.Writer, rows []EnergyRow) error {
	columns := slices.Clone(energyColumns)
	if slices.ContainsFunc(rows, func(r EnergyRow) bool { return !math.IsNaN(r.Cost) }) {
		columns = append(columns, printed.Column[EnergyRow]{Title: "cost", Cell: func(r EnergyRow) string { return fixed(r.Cost) }})
	}
	if slices.ContainsFunc(rows, func(r EnergyRow) bool { return !math.IsNaN(r.Carbon) }) {
		columns = append(columns, printed.Column[EnergyRow]{Title: "carbon kg", Cell: func(r EnergyRow) string { return fixed(r.Carbon) }})
	}
	return printed.WriteTable(w, columns, rows)
}
