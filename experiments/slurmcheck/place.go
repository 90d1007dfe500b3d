package slurmcheck

// Where jobs run: cores, memory, devices and licences of nodes, what a job asks for, partitions,
// reservations, nodes that are down.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// machine is the nodes and who has what of them.
type machine struct {
	conf     *slurm.Config
	at       map[string]int // nodes by name
	nodes    []node
	licenses map[string]int // that jobs have
}

// node is a node, and what jobs have of it.
type node struct {
	*slurm.Node
	of    []*job         // by core: the job that has it, or nil
	mem   int            // MB that jobs have
	gres  map[string]int // by kind: devices that jobs have
	down  bool           // by an operator or an outage
	drain bool           // it takes no more jobs
	back  *registration  // to come after an order to put it back; nil: none
}

// registration is when a node takes jobs again after an order to put it back: between two instants of the log, which are one
// if the order's instant is known. An event tells of an order's second only.
type registration struct{ earliest, latest des.Time }

// registered is the registration of a node that is put back at an instant: 1 ms after the whole second from that instant on,
// since nodes answer once the main loop wakes.
func registered(at des.Time) des.Time {
	return (at+des.Second-des.Tick)/des.Second*des.Second + des.Second/1000
}

// away reports whether a node takes no jobs in a second.
func (n *node) away(second int64) bool {
	return (n.down || n.drain) && (n.back == nil || int64(n.back.earliest/des.Second) > second)
}

// settle puts a node back into service if it must have registered before an instant.
func (n *node) settle(at des.Time) {
	if n.back != nil && n.back.latest < at {
		n.down, n.drain, n.back = false, false, nil
	}
}

func newMachine(conf *slurm.Config) machine {
	m := machine{conf: conf, at: map[string]int{}, licenses: map[string]int{}}
	for i := range conf.Nodes {
		n := &conf.Nodes[i]
		m.at[n.Name] = i
		m.nodes = append(m.nodes, node{Node: n, of: make([]*job, n.CPUs()), gres: map[string]int{}})
	}
	return m
}

// shares reads what a job has: NODE:CORES/CPUS of each node, with /MB behind it if memory is consumed. CORES is
// such as 0-3+6.
func (m *machine) shares(text string) (all []share, err error) {
	for word := range strings.FieldsSeq(text) {
		name, rest, _ := strings.Cut(word, ":")
		at, known := m.at[name]
		parts := strings.Split(rest, "/")
		if !known || len(parts) < 2 || len(parts) > 3 {
			return nil, fmt.Errorf("%q: want NODE:CORES/CPUS of a node of slurm.conf", word)
		}
		s := share{node: at}
		for cores := range strings.SplitSeq(parts[0], "+") {
			first, last, isRange := strings.Cut(cores, "-")
			if !isRange {
				last = first
			}
			from, err1 := strconv.Atoi(first)
			to, err2 := strconv.Atoi(last)
			if err1 != nil || err2 != nil || from > to || from < 0 || to >= m.nodes[at].CPUs() {
				return nil, fmt.Errorf("%q: %s has cores 0 to %d", word, name, m.nodes[at].CPUs()-1)
			}
			for k := from; k <= to; k++ {
				s.cores = append(s.cores, k)
			}
		}
		if s.cpus, err = strconv.Atoi(parts[1]); err != nil {
			return nil, fmt.Errorf("%q: want CPUs", word)
		}
		if len(parts) == 3 {
			if s.mem, err = strconv.Atoi(parts[2]); err != nil {
				return nil, fmt.Errorf("%q: want MB", word)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// whole reports whether a job has its nodes to itself.
func (j *job) whole() bool { return j.Job.Exclusive || j.partition != nil && j.partition.Exclusive }

// gres returns the devices, by kind, that the job has of node at: all if it has the node to itself, else those that it asks
// for. Nothing tells the types of the devices of a job that asks for none.
func (m *machine) gres(j *job, at int) []slurm.Amount {
	if j.whole() {
		return m.nodes[at].GRES
	}
	return j.Job.GRES
}

// kindsOf returns the kinds as which devices count: their kind, and KIND:TYPE if they have a type.
func kindsOf(g slurm.Amount) []string {
	if kind, _, typed := strings.Cut(g.Kind, ":"); typed {
		return []string{kind, g.Kind}
	}
	return []string{g.Kind}
}

// amountOf returns the amount of a kind, of all its types.
func amountOf(all []slurm.Amount, kind string) int {
	n := 0
	for _, a := range all {
		if slices.ContainsFunc(kindsOf(a), func(of string) bool { return strings.EqualFold(of, kind) }) { // names of licences have letters of both cases, kinds of TRES do not
			n += a.Count
		}
	}
	return n
}

// cpus returns the number of CPUs that the job has.
func (j *job) cpus() int {
	n := 0
	for _, s := range j.on {
		n += s.cpus
	}
	return n
}

// give takes back what a job has. A core that another job has got meanwhile stays with that job: the overlap
// was told.
func (m *machine) give(j *job) {
	for _, s := range j.on {
		n := &m.nodes[s.node]
		for _, k := range s.cores {
			if n.of[k] == j {
				n.of[k] = nil
			}
		}
		n.mem -= s.mem
		for _, g := range m.gres(j, s.node) {
			for _, kind := range kindsOf(g) {
				n.gres[kind] -= g.Count
			}
		}
	}
	for _, l := range j.Job.Licenses {
		m.licenses[l.Kind] -= l.Count
	}
}

// checkPlace gives a job what the event says that it has, and looks whether it was free, and what the
// job asks for.
func (c *checker) checkPlace(j *job, e *event) {
	j.partition = nil
	for i := range c.conf.Partitions {
		if p := &c.conf.Partitions[i]; p.Name == e.partition {
			j.partition = p
		}
	}
	// Each node: its cores, memory and devices.
	m, own := &c.machine, j.Job
	for _, s := range j.on {
		n := &m.nodes[s.node]
		for _, k := range s.cores {
			if other := n.of[k]; other != nil {
				c.wrong(validate.TwoJobsOnOne, j, "core %d of %s is %s's", k, n.Name, other.Key)
			}
			n.of[k] = j
		}
		if n.away(c.now) {
			c.wrong(validate.OnWhatIsDown, j, "it starts on %s, which is out of service", n.Name)
		}
		if n.mem += s.mem; n.mem > n.Memory && c.conf.Select.Memory {
			c.wrong(validate.OverCapacity, j, "jobs have %d MB of %s, which has %d", n.mem, n.Name, n.Memory)
		}
		for _, g := range m.gres(j, s.node) {
			for _, kind := range kindsOf(g) {
				if n.gres[kind] += g.Count; n.gres[kind] > amountOf(n.GRES, kind) {
					c.wrong(validate.OverCapacity, j, "jobs have %d %s of %s, which has %d", n.gres[kind], kind, n.Name, amountOf(n.GRES, kind))
				}
			}
		}
		c.checkShare(j, s)
	}
	for _, l := range own.Licenses {
		if m.licenses[l.Kind] += l.Count; m.licenses[l.Kind] > amountOf(c.conf.Licenses, l.Kind) {
			c.wrong(validate.OverCapacity, j, "jobs have %d licences %s, and there are %d", m.licenses[l.Kind], l.Kind, amountOf(c.conf.Licenses, l.Kind))
		}
	}
	c.checkAmounts(j, e)
}

// checkShare looks whether a node suits a job, and what the job gets of it.
func (c *checker) checkShare(j *job, s share) {
	n, own := &c.machine.nodes[s.node], j.Job
	for _, f := range own.Features {
		if !slices.Contains(n.Features, f) {
			c.wrong(validate.Unmet, j, "%s lacks the feature %s", n.Name, f)
		}
	}
	if slices.Contains(own.Excluded, s.node) {
		c.wrong(validate.Unmet, j, "it excludes %s", n.Name)
	}
	if len(s.cores) != s.cpus {
		c.wrong(validate.Disagreement, j, "%d cores of %s for %d CPUs", len(s.cores), n.Name, s.cpus)
	}
	if j.whole() && s.cpus != n.CPUs() {
		c.wrong(validate.Unmet, j, "%d CPUs of %s, which it has to itself", s.cpus, n.Name)
	}
	if per := max(own.CPUsPerTask, 1); own.TasksPerNode > 0 && !j.whole() && s.cpus > own.TasksPerNode*per {
		c.wrong(validate.Unmet, j, "%d CPUs of %s, and it asks for %d tasks a node at most", s.cpus, n.Name, own.TasksPerNode)
	}
	if !c.conf.Select.Memory {
		return
	}
	switch {
	case own.Memory > 0 && s.mem != own.Memory:
		c.wrong(validate.Unmet, j, "%d MB of %s, and it asks for %d a node", s.mem, n.Name, own.Memory)
	case own.Memory == 0 && own.MemoryPerCPU > 0 && s.mem < s.cpus*own.MemoryPerCPU:
		c.wrong(validate.Unmet, j, "%d MB of %s, and it asks for %d a CPU", s.mem, n.Name, own.MemoryPerCPU)
	}
}

// checkAmounts checks that all nodes together meet the job's request.
func (c *checker) checkAmounts(j *job, e *event) {
	own := j.Job
	if own.Nodes > 0 && len(j.on) != own.Nodes {
		c.wrong(validate.Unmet, j, "%d nodes, and it asks for %d", len(j.on), own.Nodes)
	}
	tasks := own.Tasks
	if tasks == 0 {
		tasks = max(own.Nodes, 1)
	}
	// Slurm gives cores that make no whole task: with several CPUs a task up to one CPU less than a
	// task on each node.
	per := max(own.CPUsPerTask, 1)
	if want := tasks * per; j.cpus() < want-(per-1)*len(j.on) {
		c.wrong(validate.Unmet, j, "%d CPUs, and it asks for %d", j.cpus(), want)
	}
	if j.cpus() != e.cpus {
		c.wrong(validate.Disagreement, j, "%d CPUs, and its cores are %d", e.cpus, j.cpus())
	}
	var names []string
	for _, s := range j.on {
		names = append(names, c.machine.nodes[s.node].Name)
	}
	if told, err := slurm.Hosts(e.nodes); err != nil || !slices.Equal(told, names) {
		c.wrong(validate.Disagreement, j, "nodes %s, and its cores are of %s", e.nodes, strings.Join(names, ","))
	}
	for _, must := range own.Required {
		if !slices.ContainsFunc(j.on, func(s share) bool { return s.node == must }) {
			c.wrong(validate.Unmet, j, "it must have %s", c.conf.Nodes[must].Name)
		}
	}
}

// checkPartition looks whether the job may run in its partition.
func (c *checker) checkPartition(j *job, e *event) {
	p := j.partition
	if p == nil {
		c.wrong(validate.Disagreement, j, "there is no partition %q", e.partition)
		return
	}
	if !slices.ContainsFunc(j.Job.Partitions, func(at int) bool { return c.conf.Partitions[at].Name == p.Name }) {
		c.wrong(validate.Unmet, j, "it does not ask for partition %s", p.Name)
	}
	for _, s := range j.on {
		if !slices.Contains(p.Nodes, s.node) {
			c.wrong(validate.Unmet, j, "%s is no node of partition %s", c.conf.Nodes[s.node].Name, p.Name)
		}
	}
	if p.MaxTime < des.Forever && c.tried(j) > int64(p.MaxTime/des.Second) && !j.excused {
		c.wrong(validate.Unmet, j, "its limit is %d s, and partition %s allows %v", j.limit, p.Name, p.MaxTime)
	}
	if p.MaxNodes > 0 && len(j.on) > p.MaxNodes {
		c.wrong(validate.Unmet, j, "%d nodes, and partition %s allows %d", len(j.on), p.Name, p.MaxNodes)
	}
}

// nodesChange checks a change of nodes by an operator or an outage, and makes it.
func (c *checker) nodesChange(e *event) {
	names, err := slurm.Hosts(e.nodes)
	if err != nil {
		c.wrong(validate.Disagreement, nil, "line %d: nodes: %v", e.line, err)
	}
	// Orders of the input have instants; those of outages have not.
	earliest := des.Time(e.time) * des.Second
	latest := earliest + des.Second - des.Tick
	if o := c.orders[orderName{e.kind, e.nodes, e.time + c.late}]; o != nil {
		earliest = o.At - c.Late
		latest = earliest
	}
	var nodes []int
	inService := true
	for _, name := range names {
		at, known := c.machine.at[name]
		if !known {
			c.wrong(validate.Disagreement, nil, "line %d: there is no node %q", e.line, name)
			continue
		}
		n := &c.machine.nodes[at]
		n.settle(earliest)
		nodes = append(nodes, at)
		inService = inService && !n.down && !n.drain
	}
	for _, at := range nodes {
		n := &c.machine.nodes[at]
		switch e.kind {
		case "down":
			n.down = true
			// With ReturnToService=2 a node that registers takes jobs, whatever has been ordered since it was put back.
			if c.conf.ReturnToService != 2 {
				n.back = nil
			}
			for _, j := range c.running {
				if slices.ContainsFunc(j.on, func(s share) bool { return s.node == at }) {
					c.mustStop = append(c.mustStop, j)
				}
			}
		case "drain":
			n.drain, n.back = true, nil
		default:
			if !inService && n.back == nil { // else the order is refused, or the node registers already
				n.back = &registration{registered(earliest), registered(latest)}
				c.returning = append(c.returning, at)
			}
		}
	}
}

// settleNodes puts nodes back into service that have registered before the present second.
func (c *checker) settleNodes() {
	c.returning = slices.DeleteFunc(c.returning, func(at int) bool {
		n := &c.machine.nodes[at]
		n.settle(des.Time(c.now) * des.Second)
		return n.back == nil
	})
}

// reserve is a reservation that an operator makes.
func (c *checker) reserve(e *event) {
	for i := range c.Reservations {
		b := &c.Reservations[i]
		if b.Reservation.Name != e.key || int64(b.At/des.Second)-c.late != e.time {
			continue
		}
		if e.detail == "" {
			c.inForce = append(c.inForce, b)
		}
		return
	}
	c.wrong(validate.Disagreement, nil, "line %d: nobody makes a reservation %q then", e.line, e.key)
}

// checkReservations looks whether a job that starts keeps off nodes that others have reserved for any time until
// its limit, and keeps to its own reservation. Which nodes a reservation of a number of nodes has, nobody tells.
func (c *checker) checkReservations(j *job) {
	inOwn := j.reservation == ""
	for _, b := range c.inForce {
		r := &b.Reservation
		from, to := int64(r.Start/des.Second)-c.late, int64(r.End/des.Second)-c.late
		if r.Name == j.reservation {
			inOwn = inOwn || c.now >= from && c.now <= to
			c.checkOwn(j, r)
			continue
		}
		if len(r.Nodes) == 0 || c.now+c.tried(j) <= from || c.now >= to {
			continue
		}
		for _, s := range j.on {
			if slices.Contains(r.Nodes, s.node) {
				c.wrong(validate.Unmet, j, "%s is reserved by %s from %d to %d", c.machine.nodes[s.node].Name, r.Name, from, to)
			}
		}
	}
	if !inOwn {
		c.wrong(validate.TooEarly, j, "it starts outside the time of its reservation %s", j.reservation)
	}
}

// checkOwn looks whether a job may use the reservation that it names.
func (c *checker) checkOwn(j *job, r *slurm.Reservation) {
	within := []string{j.account} // accounts whose reservations are for the job, too
	if c.conf.Enforce.Associations && len(r.Users) == 0 {
		for at := c.book.account(j.account).parent; at != nil; at = at.parent {
			within = append(within, at.name)
		}
	}
	ofAccount := slices.ContainsFunc(within, func(name string) bool { return slices.Contains(r.Accounts, name) })
	if len(r.Users) > 0 && !slices.Contains(r.Users, j.Job.User) || len(r.Accounts) > 0 && !ofAccount {
		c.wrong(validate.Unmet, j, "reservation %s is not for user %q of account %q", r.Name, j.Job.User, j.account)
	}
	if r.Count > 0 {
		c.checkCount(j, r)
	}
	for _, s := range j.on {
		if len(r.Nodes) > 0 && !slices.Contains(r.Nodes, s.node) {
			c.wrong(validate.Unmet, j, "%s is no node of its reservation %s", c.machine.nodes[s.node].Name, r.Name)
		}
	}
}

// checkCount looks whether the jobs of a reservation of a number of nodes keep to so many, and to its partition. Which nodes
// it has, nobody tells, and those that go down are replaced.
func (c *checker) checkCount(j *job, r *slurm.Reservation) {
	used := map[int]bool{} // nodes of its jobs, and whether they are in service
	for _, other := range append(slices.Clone(c.running), j) {
		if other.reservation == r.Name {
			for _, s := range other.on {
				used[s.node] = used[s.node] || !c.machine.nodes[s.node].down
			}
		}
	}
	maps.DeleteFunc(used, func(_ int, up bool) bool { return !up })
	if len(used) > r.Count {
		c.wrong(validate.Unmet, j, "jobs have %d nodes of reservation %s, which has %d", len(used), r.Name, r.Count)
	}
	if part := &c.conf.Partitions[r.Partition]; slices.ContainsFunc(j.on, func(s share) bool { return !slices.Contains(part.Nodes, s.node) }) {
		c.wrong(validate.Unmet, j, "it has nodes outside partition %s, of which its reservation %s is", part.Name, r.Name)
	}
}

// reservationOver reports whether the reservation of a job is over, which ends the job.
func (c *checker) reservationOver(j *job) bool {
	return slices.ContainsFunc(c.inForce, func(b *replay.Booking) bool {
		return b.Reservation.Name == j.reservation && c.now >= int64(b.Reservation.End/des.Second)-c.late
	})
}

// requeued reports whether a job that is preempted waits again: PreemptMode of its QoS decides if QoSs preempt and the QoS has CANCEL
// or REQUEUE, else PreemptMode of slurm.conf. A job that may not be requeued ends.
func (c *checker) requeued(j *job) bool {
	cancels := c.conf.PreemptCancels
	if of := c.book.qos[j.qos]; c.conf.Preempt == "qos" && of != nil {
		switch strings.ToLower(of.says["preemptmode"]) {
		case "cancel":
			cancels = true
		case "requeue":
			cancels = false
		}
	}
	return j.Job.Requeue && !cancels
}

// preemptible reports whether anything could preempt a running job: a QoS that names its QoS, or a
// partition of a higher tier that shares one of its nodes.
func (c *checker) preemptible(j *job) bool {
	switch c.conf.Preempt {
	case "qos":
		return c.book.preempts(j.qos)
	case "partition_prio":
		return slices.ContainsFunc(c.conf.Partitions, func(p slurm.Partition) bool {
			return j.partition != nil && p.Tier > j.partition.Tier && slices.ContainsFunc(j.on, func(s share) bool { return slices.Contains(p.Nodes, s.node) })
		})
	}
	return false
}
