package replay

// Nodes that fail. Slurm hears of an outage as of an operator's orders: down at its beginning, up at its end.

import (
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Outage is a time [From, To) of the log over which nodes are down; To may be des.Forever. Known is the instant
// of the log at which the outage became known: Slurm does not make use of it.
type Outage struct {
	Known, From, To des.Time
	Nodes           []int // positions in Config.Nodes
}

// Lost is an outage as it begins: the nodes of it that were in service, and the jobs that it stops.
type Lost struct {
	Outage
	Victims []*entity.Run
}

// failures is the flow of outages into a machine.
type failures struct {
	feed    des.Feed[Outage]
	on      []int         // of each node, how many outages under way it is in
	victims []*entity.Run // the runs that the outage which begins now stops
	until   []des.Time    // of each node, the latest end of the outages that it has been in
	told    []des.Time    // of each node, the end that Lost has heard of
	vain    int           // number of outages in a row that began while no job ran
	closed  map[int]bool  // nodes that operators have down or drained: they do not come back after an outage
}

// vainOutages is the number of outages in a row, for each node of the machine, that may begin while no job runs.
// Further ones no longer count as events of jobs, since a job that waits in vain would keep the run going for
// ever.
const vainOutages = 10

// fail feeds outages into the simulation, in order of their beginnings. Slurm hears of each when it begins.
func (m *Machine) fail(all iter.Seq[Outage]) {
	nodes := len(m.in.Config.Nodes)
	m.failures.on, m.failures.until, m.failures.told = make([]int, nodes), make([]des.Time, nodes), make([]des.Time, nodes)
	m.failures.feed = des.Feed[Outage]{
		At: func(o Outage) des.Time { return o.From.Add(m.in.Late) }, Phase: phaseOrder,
		Do: func(o Outage) {
			now := m.sim.Now()
			m.lose(now, o)
			m.follows(now)
			if o.To < des.Forever {
				m.at(o.To.Add(m.in.Late), phaseOrder, func(now des.Time) { m.regain(now, o) })
			}
		},
	}
	m.failures.feed.From(all)
	m.failures.feed.Begin(m.sim)
}

// Close ends what the machine has begun; it is called when the run is over.
func (m *Machine) Close() { m.failures.feed.Close() }

// lose takes down the nodes of an outage that are in no other outage.
func (m *Machine) lose(now des.Time, o Outage) {
	f := &m.failures
	if f.vain++; m.busy > 0 {
		f.vain = 0
	}
	lost := m.turn(o.Nodes, 1, 1)
	for _, n := range o.Nodes {
		f.until[n] = max(f.until[n], o.To)
	}
	if len(lost) == 0 {
		return
	}
	f.victims = nil
	m.service(now, "down", lost)
	m.tellLost(Lost{Outage{o.Known, o.From, o.To, lost}, f.victims})
}

// tellLost tells of an outage that begins.
func (m *Machine) tellLost(l Lost) {
	for _, n := range l.Nodes {
		m.failures.told[n] = l.To
	}
	if m.Lost != nil {
		m.Lost(l)
	}
}

// regain brings back the nodes of an outage that are in no other outage. For each of the other nodes it tells the
// end of the outages that the node is still in, if nobody has heard of that end.
func (m *Machine) regain(now des.Time, o Outage) {
	f := &m.failures
	if back := m.turn(o.Nodes, -1, 0); len(back) > 0 {
		if open := slices.DeleteFunc(slices.Clone(back), func(n int) bool { return f.closed[n] }); len(open) > 0 {
			m.service(now, "up", open)
		}
		if m.Regained != nil {
			m.Regained(back)
		}
	}
	for _, n := range o.Nodes {
		if f.on[n] > 0 && f.told[n] <= o.To {
			if m.Regained != nil {
				m.Regained([]int{n})
			}
			m.tellLost(Lost{Outage{Known: o.To, From: o.To, To: f.until[n], Nodes: []int{n}}, nil})
		}
	}
}

// turn adds by to the number of outages that each of the nodes is in, and returns the nodes for which that number
// has become now.
func (m *Machine) turn(nodes []int, by, now int) (turned []int) {
	for _, n := range nodes {
		if m.failures.on[n] += by; m.failures.on[n] == now {
			turned = append(turned, n)
		}
	}
	return turned
}

// reached notes what operators want of nodes, and returns those that the order reaches: a node in an outage does not
// come back when it is resumed.
func (m *Machine) reached(o *Order) (nodes []int) {
	f := &m.failures
	for _, n := range o.Nodes {
		if len(f.on) == 0 || f.on[n] == 0 || o.Do != "up" {
			nodes = append(nodes, n)
		}
		if f.closed == nil {
			f.closed = map[int]bool{}
		}
		f.closed[n] = o.Do != "up"
	}
	return nodes
}

// service carries out the order that nodes are down, or up. After many outages in vain it no longer counts as
// something that happens to jobs, so that check can end the run.
func (m *Machine) service(now des.Time, do string, nodes []int) {
	touched := m.touched
	m.serve(now, do, nodes, m.hosts(nodes))
	if m.failures.vain > vainOutages*len(m.failures.on) {
		m.touched = touched
	}
}

// hosts is the host list of nodes.
func (m *Machine) hosts(nodes []int) string {
	var names []string
	for _, n := range nodes {
		names = append(names, m.in.Config.Nodes[n].Name)
	}
	return slurm.HostList(names)
}
