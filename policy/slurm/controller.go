package slurm

import (
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Controller schedules jobs as slurmctld does. It begins at time 0.
type Controller struct {
	// Started is called for each job that starts, at its start.
	Started func(now des.Time, j *Job)
	// Stopped is called for each job that the controller ends, and why: its nodes are free when
	// Release says so. A job that had not started has none, and Release is not to be called.
	Stopped func(now des.Time, j *Job, why Stop)

	jobs      map[int]*Job // whose records are kept
	purged    idSet        // whose records were
	lastID    int
	conf      *Config
	accounts  *Accounts
	parts     []*partition
	up        nodeSet    // nodes that are up
	returning []comeback // nodes that will be, by when
	idle      usage      // what the nodes have
	free      usage      // what no job has
	later     usage      // room for one look into the future
	search    search     // room for one search
	cores     []coreSet
	licenses  map[string]int // that no job has
	leaving   nodeSet        // nodes of jobs that complete
	weights   []int          // of nodes, as the last job that was to start saw them
	odd       nodeSet        // nodes that do not weigh what slurm.conf says
	cpus      int            // of all nodes
	topQOS    float64        // the highest priority of a QoS

	reserved    []*Reservation
	booked      int      // how often these or their nodes have changed
	basic       uint32   // the last priority that priority/basic gave
	pending     []*entry // by submission
	order       []*entry // the same; in the order of the queue, if sorted
	sorted      bool
	unmerged    []*entry // where jobs preempt others: what runnable sorted last, if sorted still holds,
	merged      []*entry // what came of it
	roomToMerge []*entry // and room for that
	could       []*entry // room for what runnable returns
	roomToWait  []*entry // room for those that waiting yields
	running     []*Job   // by start
	byLimit     []ending // the same by their limits; nil: to be sorted anew
	onNode      [][]part // what they have of each node; nil: to be looked for anew
	era         uint64   // how often what runs, where, or until when has changed
	preys       map[preemptor]preys
	lowTier     int    // of partitions
	weighed     uint64 // how often weights of nodes have
	looks       int64  // how many looks into the future have been made
	shapes      map[string]*shape
	// forgetful has everything be looked for anew that is remembered otherwise: what tests hold that to.
	forgetful bool
	spare     spareSets // sets that are needed for a moment only
	plans     spareSets // sets of the intervals of backfill's table
	sets      eraSets

	main     mainLoop
	backfill backfillLoop
	decay    decayLoop
	ended    []record // of jobs that are over and whose records are kept
}

// idSet is a set of the numbers of jobs, of which a year has many.
type idSet []uint64

func (s *idSet) add(id int) {
	for len(*s) <= id/64 {
		*s = append(*s, 0)
	}
	(*s)[id/64] |= 1 << (id % 64)
}

func (s idSet) has(id int) bool { return id >= 0 && id/64 < len(s) && s[id/64]&(1<<(id%64)) != 0 }

// record is a job that is over, and the second in which it ended.
type record struct {
	job *Job
	end int64
}

// retire keeps the record of a job that is over.
func (c *Controller) retire(now des.Time, j *Job) {
	c.ended = append(c.ended, record{j, c.second(now)})
	c.main.keep(c.purgePeriod(), now)
}

// partition is a partition as passes need it.
type partition struct {
	*Partition
	at     int
	nodes  nodeSet
	cpus   int     // of its nodes
	factor float64 // PriorityJobFactor as a part of the largest
}

// New is a controller of an idle machine.
func New(conf *Config, accounts *Accounts) *Controller {
	c := &Controller{jobs: map[int]*Job{}, shapes: map[string]*shape{}, preys: map[preemptor]preys{}, conf: conf, accounts: accounts, up: allNodes(len(conf.Nodes)), leaving: newNodeSet(len(conf.Nodes)), odd: newNodeSet(len(conf.Nodes))}
	top := 1
	c.lowTier = math.MaxInt
	for _, p := range conf.Partitions {
		top, c.lowTier = max(top, p.JobFactor), min(c.lowTier, p.Tier)
	}
	for i := range conf.Partitions {
		p := &partition{Partition: &conf.Partitions[i], at: i, nodes: newNodeSet(len(conf.Nodes))}
		p.factor = float64(p.JobFactor) / float64(top)
		for _, n := range p.Nodes {
			p.nodes.add(n)
			p.cpus += conf.Nodes[n].CPUs()
		}
		c.parts = append(c.parts, p)
	}
	c.beginSearch()
	c.spare.nodes, c.plans.nodes = len(conf.Nodes), len(conf.Nodes)
	c.later = newUsage(conf)
	c.idle, c.free, c.licenses = newUsage(conf), newUsage(conf), map[string]int{}
	for _, l := range conf.Licenses {
		c.licenses[l.Kind] += l.Count
	}
	for i := range conf.Nodes {
		c.cores = append(c.cores, newCoreSet(conf.Nodes[i].CPUs()))
		c.cpus += conf.Nodes[i].CPUs()
		c.weights = append(c.weights, weighs(conf.Nodes[i].Weight, 0))
	}
	for _, q := range accounts.qos {
		c.topQOS = max(c.topQOS, q.priority)
	}
	c.basic = basicPriority
	c.main.begin(&conf.Schedule)
	c.backfill.begin(&conf.Schedule)
	if conf.Priority.Multifactor && conf.Database {
		c.computePriorities(0)
		c.decay.due = conf.Priority.Period
	} else {
		c.decay.due = des.Forever
	}
	return c
}

// second is the second of the host's clock that t lies in.
func (c *Controller) second(t des.Time) int64 { return int64(t/des.Second) + c.conf.Epoch }

// setOf is a set of nodes by their positions.
func (c *Controller) setOf(nodes []int) (nodeSet, error) {
	set := newNodeSet(len(c.conf.Nodes))
	for _, n := range nodes {
		if n < 0 || n >= len(c.conf.Nodes) {
			return nil, fmt.Errorf("there is no node %d", n)
		}
		set.add(n)
	}
	return set, nil
}

// endEra notes that what runs, where, or until when is about to change or has just changed.
func (c *Controller) endEra() { c.era++ }

// changed notes that something has changed at now that backfill may make use of.
func (c *Controller) changed(now des.Time) { c.backfill.changed = now }

// End says that the job's work is over. Its nodes complete until Release. A job that has run beyond
// its limit and OverTimeLimit has failed, also where nobody has ended it yet.
func (c *Controller) End(now des.Time, j *Job) {
	c.finish(now, j, j.ExitCode != 0 || c.Overdue(now, j))
}

// Overdue reports whether a running job is beyond its limit and OverTimeLimit, and nobody has ended it yet.
func (c *Controller) Overdue(now des.Time, j *Job) bool { return c.overdueSecond(j) < c.second(now) }

// finish ends a job that runs.
func (c *Controller) finish(now des.Time, j *Job, failed bool) {
	j.state, j.failed = completing, failed
	c.quitByLimit(j)
	c.endEra()
	c.running = slices.DeleteFunc(c.running, func(r *Job) bool { return r == j })
	c.retire(now, j)
	c.count(j, 0, false)
	if c.conf.Enforce.Limits {
		c.lose(j)
		c.charge(j, now)
	}
	c.backfill.trail.note(j.nodes, c.limitSecond(j))
	c.free.release(j)
	c.later.release(j)
	for _, p := range j.Placed {
		c.cores[p.Node].free(p.Cores)
	}
	c.leaving.unite(j.nodes)
	c.changed(now)
}

// Release says that the nodes of a job that ended are free.
func (c *Controller) Release(now des.Time, j *Job) {
	switch j.state {
	case completing:
		c.vacate(now, j)
	case done:
	default: // it waits again already
		return
	}
	if c.conf.Schedule.Defer {
		c.main.stir(&c.conf.Schedule, now)
	} else {
		c.main.request(c, now, false)
	}
}

// vacate frees what a job that completes still has.
func (c *Controller) vacate(now des.Time, j *Job) {
	j.state = done
	for _, l := range j.Licenses {
		c.licenses[l.Kind] += l.Count
	}
	c.leaving = newNodeSet(len(c.conf.Nodes))
	for _, r := range c.ended {
		if r.job.state == completing {
			c.leaving.unite(r.job.nodes)
		}
	}
	c.changed(now)
	if j.requeued {
		c.requeue(now, j)
	} else {
		j.Placed, j.nodes, j.shares, j.allocated.on = nil, nil, nil, nil // a year has many jobs
	}
}

// Next is the instant at which the controller wants to act next.
func (c *Controller) Next() des.Time {
	return min(c.main.passDue, c.backfill.next(), c.decay.due, c.main.next(), c.comesBack())
}

// Act has the controller do what is due at now, which is what Next said. Of loops that wake at one
// instant the one that has slept longest comes first; the main loop sleeps a second at a time, and
// is the last.
func (c *Controller) Act(now des.Time) {
	c.register(now)
	if c.main.passDue == now {
		c.pass(now)
	}
	if c.decay.due == now && c.decaysFirst(now) {
		c.tick(now)
	}
	if c.backfill.next() == now {
		c.runBackfill(now)
	}
	c.backfill.looked = now
	if c.decay.due == now {
		c.tick(now)
	}
	if c.main.next() == now {
		c.wakeMain(now)
	}
}

// decaysFirst reports whether the loop of priorities has slept longer than backfill. Where both
// fell asleep at one instant they wake in the order in which they did.
func (c *Controller) decaysFirst(now des.Time) bool {
	asleep := now - des.Second // backfill looks every second
	if now == c.backfill.ran.Add(c.backfill.interval) {
		asleep = c.backfill.ran
	}
	if c.decay.last != asleep {
		c.decay.first = c.decay.last < asleep
	}
	return c.decay.first
}

// tick computes priorities, and has them be computed again a period later.
func (c *Controller) tick(now des.Time) {
	c.computePriorities(now)
	c.decay.due = now.Add(c.conf.Priority.Period)
}

// start starts the job of e on the nodes chosen.
func (c *Controller) start(now des.Time, e *entry, placed []Placement) {
	j := e.job
	c.giveCores(e, placed)
	j.state, j.Start, j.StartedIn, j.Placed = running, now, e.part.at, placed
	j.nodes, j.allocated = newNodeSet(len(c.conf.Nodes)), allocated(placed)
	for _, l := range j.Licenses {
		c.licenses[l.Kind] -= l.Count
	}
	c.free.take(j)
	c.later.take(j)
	j.shares = nil
	for _, p := range placed {
		j.nodes.add(p.Node)
		j.shares = append(j.shares, share{int32(p.Node), int32(len(p.Cores))})
		c.cores[p.Node].take(p.Cores)
	}
	j.whole, j.reason, j.hasty, j.behind, j.extended = c.whole(e), NoReason, false, nil, 0
	if !j.began { // a job that waited again is charged for what it had at first
		j.billing = c.billing(j, e.part)
	}
	c.ageNoMore(j)
	c.leave(j)
	c.running = append(c.running, j)
	c.joinByLimit(j)
	c.backfill.trail.note(j.nodes, c.limitSecond(j))
	c.endEra()
	c.count(j, -1, true)
	j.began = true
	if c.main.limitDue == des.Forever {
		c.watchLimits(now)
	}
	c.changed(now)
	c.Started(now, j)
}

// licensed reports whether the licences that the job needs are free.
func (c *Controller) licensed(j *Job) bool {
	for _, l := range j.Licenses {
		if c.licenses[l.Kind] < l.Count {
			return false
		}
	}
	return true
}
