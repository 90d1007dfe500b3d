package simulation

// What a scenario will need in memory, estimated before anything is drawn: a number with
// some zeros too many is refused with a message, not by the system.

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload/vo"
)

// Bytes of things of which there may be very many, as measured (TestTheEstimateIsNearTheTruth).
const (
	nodeBytes   = 300 // a node as it is drawn,
	planBytes   = 250 // as one policy plans it,
	ownerBytes  = 480 // and with the name of an owner
	taskBytes   = 580 // an owner's job at a fixed time, from when it is known until it is over
	queuedBytes = 180 // an owner's job that comes to a queue
	unitBytes   = 120 // a processor or node that fails
)

// memoryNeeds is the memory that a call will need, by its parts. running is the number of policies
// that run at a time: each has its own plan and flows.
type memoryNeeds struct {
	all     []hostmem.Need
	running float64
}

// add adds a number of bytes and says for what.
func (n *memoryNeeds) add(bytes float64, what string, args ...any) {
	n.all = append(n.all, hostmem.Need{What: fmt.Sprintf(what, args...), Bytes: bytes})
}

// checkMemory refuses a call that would need more memory than it may have. It adds up what the
// settings can make large without a large file: nodes, batches, owners' jobs and failures.
func (c *call) checkMemory() error {
	n := memoryNeeds{running: float64(min(max(c.options.Workers, 1), len(c.all)))}
	var batches *vo.Batches
	if c.jobs == nil {
		batches = batchesOf(c.machine())
	}
	n.batches(batches)
	switch m := c.machine().(type) {
	case Cluster:
		processors, err := m.size(c)
		if err != nil {
			return err
		}
		c.needsOfProcessors(&n, float64(processors))
	case *SlurmCluster: // a controller is small
	case *Domain:
		c.needsOfNodes(&n, m)
	case *Grid:
		for _, l := range m.WithDefaults().leaves() {
			if l.domain != nil {
				c.needsOfNodes(&n, l.domain.Domain)
			} else {
				c.needsOfProcessors(&n, float64(l.cluster.Processors))
			}
		}
	}
	return hostmem.Fits(c.options.Memory, n.all...)
}

// batches adds the jobs of batches, which are made before the first policy runs.
func (n *memoryNeeds) batches(b *vo.Batches) {
	if b != nil {
		jobs := float64(b.Cycles) * float64(b.WithDefaults().Jobs)
		n.add(hostmem.BatchJob*jobs, "%.0f jobs of batches", jobs)
	}
}

// needsOfProcessors adds what counted processors need: a bit each for the columns that name them.
func (c *call) needsOfProcessors(n *memoryNeeds, processors float64) {
	if c.Settings.Allocation == metrics.AllocationIntervals && c.options.Dir != "" {
		n.add(processors/8*n.running, "which of %.0f processors are free", processors)
	}
	c.needsOfFailures(n, processors)
}

// needsOfNodes adds what the nodes of a domain need, and the jobs of their owners.
func (c *call) needsOfNodes(n *memoryNeeds, d *Domain) {
	for _, member := range d.Union {
		c.needsOfNodes(n, member.Domain)
	}
	if len(d.Union) > 0 {
		return
	}
	count := n.nodes(d)
	c.needsOfFailures(n, count)
	if l := d.Local; l != nil {
		if l.Load != nil {
			// Jobs at fixed times are drawn a cycle at a time, in each run; jobs of queues all at
			// once, for all runs.
			tasks := count * l.Load.MeanTasks(int(d.Cycle/des.Second))
			n.add(taskBytes*tasks*n.running, "%.0f jobs of owners in a cycle", tasks)
		}
		if l.Queue != nil && l.Queue.Load != nil {
			jobs := l.Queue.Until.Seconds() / l.Queue.Load.Gap * min(count, max(1, float64(d.Generate.Owners)))
			n.add(queuedBytes*jobs, "%.0f jobs of owners", jobs)
		}
	}
}

// nodes adds the nodes of a domain that is no union, and returns how many there are. Given nodes
// stand in a file, which has been read already.
func (n *memoryNeeds) nodes(d *Domain) float64 {
	if len(d.Nodes) > 0 {
		return float64(len(d.Nodes))
	}
	count, each := float64(d.Generate.WithDefaults().Count), nodeBytes+planBytes*n.running
	if d.Generate.Owners > 0 {
		each += ownerBytes
	}
	n.add(each*count, "%.0f nodes", count)
	return count
}

// needsOfFailures adds what a model of failures needs for a number of processors or nodes.
func (c *call) needsOfFailures(n *memoryNeeds, units float64) {
	if c.Flows.Outages == "" || c.tables.isOutageLog(c.Flows.Outages) {
		return
	}
	chosen, err := c.tables.Outages.Parse(c.Flows.Outages)
	if err != nil {
		return // it will be said
	}
	f := chosen.Value(1, 0, 0)
	groups := units / float64(max(f.Group, 1))
	n.add(unitBytes*groups*n.running, "%.0f processors or nodes that fail", groups)
	n.add(8*float64(f.Crews)*n.running, "%d crews", f.Crews)
}
