package slurm

import (
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Controller schedules jobs as slurmctld does. It begins at time 0. Its caller sets Started and
// Stopped before the first call, and makes all calls in the order of their instants.
type Controller struct {
	// Started is called for each job that starts, at its start.
	Started func(now des.Time, j *Job)
	// Stopped is called for each job that the controller ends, with the reason. The job's nodes
	// complete until the caller calls Release. A job that waited has no nodes: the caller must not
	// call Release for it.
	Stopped func(now des.Time, j *Job, why Stop)

	// Estimates makes each run of backfill plan all jobs that it gets to, so that PlannedStart and Obstacle know of all of them.
	// If it is false, a run may leave out plans that decide nothing. It is set before the first call.
	Estimates bool

	// What the controller was made of. It never changes.
	conf     *Config
	accounts *Accounts    // only the usage and the crowds in it change
	parts    []*partition // by position in Config.Partitions
	idle     usage        // what each node has if nothing runs on it
	cpus     int          // CPUs of all nodes
	kinds    []tresKind   // the kinds of TRES that limits and charges are on, by position
	topQOS   float64      // the highest priority of a QoS, by which QoS priorities are normalized
	lowTier  int          // the lowest PriorityTier of all partitions

	// Records of jobs (job_list of slurmctld).
	jobs   map[int]*Job // by ID: jobs that wait, run or complete, and ended jobs until they are purged
	purged idSet        // IDs of jobs whose records have been purged
	lastID int          // the highest ID that was accepted so far; 0: none was
	ended  []record     // jobs that are over and whose records are kept, by their ends

	// Nodes and licences, as they are now.
	up        nodeSet        // nodes that are up and not drained (avail_node_bitmap)
	returning []comeback     // nodes that were put back and have not registered yet, by instant
	free      usage          // what no job has; a completing job has given back CPUs and memory already
	cores     []coreSet      // of each node, the cores that running jobs have
	licenses  map[string]int // by kind: licences that no job has; a completing job still has its own
	leaving   nodeSet        // nodes of jobs that complete (cg_node_bitmap)
	// weights has the weight of each node for the next choice of nodes (sched_weight): see weighs. A look for one
	// job may change weights, and the next job sees the changed ones.
	weights []int
	odd     nodeSet // nodes whose weight is not their weight of slurm.conf
	weighed uint64  // number of changes of weights so far

	reserved []*Reservation // in the order in which they were made
	booked   int            // number of changes of reserved, or of a reservation's nodes, so far

	// The queue.
	pending []*entry // all entries of jobs that wait, by ID and, of one job, by PriorityTier
	order   []*entry // the same entries; if sorted, in the order of the queue. Not used if Config.Preempt is set
	sorted  bool     // order, or merged, has the order of the present priorities
	barred  int      // how many of the entries could not start: see entry.could
	basic   uint32   // the last priority that priority/basic gave; see basicPriority

	restless []*Job // jobs that wait and are not calm
	visited  []*Job // jobs that passes and runs of backfill have tried since runnable was called last; a job may be there more than once

	// What runs.
	running     []*Job              // by start
	byLimit     []ending            // running, by the ends of their limits; nil: to be sorted again
	roomToOrder []ending            // room for a look that leaves out those that are preempted
	era         uint64              // number of changes so far of what runs, where it runs, or until when
	preys       map[preemptor]preys // victims that were found for each preemptor, with the era in which
	shapes      map[string]*shape   // by shape.key: shapes of jobs that wait, and up to shapesKept others
	looks       int64               // number of looks into the future so far, for tests

	// Room that is used again, so that a pass allocates little.
	later        usage     // what looks into the future change. Invariant: equal to free between two looks: see search.takeBack
	search       search    // the search for nodes: only one is made at a time
	unmerged     []*entry  // the entries that runnable last sorted by merging, before it sorted them
	merged       []*entry  // the same entries after it had sorted them
	roomToMerge  []*entry  // for mergeSort
	roomToReckon []int     // for what reckon returns, by kind
	roomToStop   []*Job    // what endBeyondLimits goes through
	could        []*entry  // what runnable returns
	roomToWait   []*entry  // what waiting goes through; nil while it does
	roomToWake   []*Job    // what restlessJobs goes through
	spare        spareSets // sets that are needed for a moment only
	plans        spareSets // sets of the intervals of backfill's table, lent until the next run
	sets         eraSets   // sets of nodes that hold as long as the same jobs run

	// forgetful makes the controller find everything anew that it otherwise remembers. It is false
	// except in tests, which hold the schedules of both to each other.
	forgetful bool

	main     mainLoop
	backfill backfillLoop
	decay    decayLoop
}

// idSet is a set of job IDs, one bit each: a year has millions of jobs.
type idSet []uint64

func (s *idSet) add(id int) {
	for len(*s) <= id/64 {
		*s = append(*s, 0)
	}
	(*s)[id/64] |= 1 << (id % 64)
}

func (s idSet) has(id int) bool { return id >= 0 && id/64 < len(s) && s[id/64]&(1<<(id%64)) != 0 }

// record is a job that is over, and the second of the host's clock in which it ended.
type record struct {
	job *Job
	end int64
}

// retire keeps the record of a job that is over until purge drops it.
func (c *Controller) retire(now des.Time, j *Job) {
	c.ended = append(c.ended, record{j, c.second(now)})
	c.main.keep(c.purgePeriod(), now)
}

// partition is a partition as passes need it.
type partition struct {
	*Partition
	at     int     // position in Config.Partitions
	nodes  nodeSet // Partition.Nodes as a set
	cpus   int     // CPUs of its nodes (total_cpus)
	factor float64 // PriorityJobFactor divided by the largest of all partitions (norm_priority), 0 to 1
}

// New returns a controller of an idle machine whose nodes are all up.
func New(conf *Config, accounts *Accounts) *Controller {
	c := &Controller{jobs: map[int]*Job{}, shapes: map[string]*shape{}, preys: map[preemptor]preys{}, conf: conf, accounts: accounts, up: allNodes(len(conf.Nodes)), leaving: newNodeSet(len(conf.Nodes)), odd: newNodeSet(len(conf.Nodes))}
	// Partitions, and by what their job factors are normalized.
	top := 1 // not 0: a quotient follows
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
	// Nodes and licences: nothing runs yet.
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
	c.kinds = kindsOf(conf)
	c.setCeilings()
	for _, q := range accounts.qos {
		c.topQOS = max(c.topQOS, q.priority)
	}
	// Loops. Without slurmdbd there is no usage that could decay, so that loop never wakes.
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

// second is the second of the host's clock in which t lies. Slurm compares such seconds (time_t), so
// that two instants of one second are equal to it.
func (c *Controller) second(t des.Time) int64 { return int64(t/des.Second) + c.conf.Epoch }

// setOf returns the set of nodes at these positions of Config.Nodes, or an error for a position that
// is none.
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

// changed notes that something has changed at now that backfill may make use of. It sets what is the
// latest of last_job_update, last_node_update, last_part_update and last_resv_update in Slurm: a run
// of backfill is due only if that is not before the last run (_more_work).
func (c *Controller) changed(now des.Time) { c.backfill.changed = now }

// End says that the job's work is over. Its nodes complete until Release. A job that has run longer
// than its limit and OverTimeLimit counts as failed (TIMEOUT), although the main loop has not ended it.
func (c *Controller) End(now des.Time, j *Job) {
	c.finish(now, j, j.ExitCode != 0 || c.Overdue(now, j))
}

// Overdue reports whether a running job has run longer than its limit and OverTimeLimit. That can be up
// to limitInterval before the main loop ends the job.
func (c *Controller) Overdue(now des.Time, j *Job) bool { return c.overdueSecond(j) < c.second(now) }

// finish makes a running job a completing one: its CPUs, memory and devices are free, but its nodes
// take no other job (leaving) and its licences are not free before vacate.
func (c *Controller) finish(now des.Time, j *Job, failed bool) {
	j.state, j.failed = completing, failed
	c.quitByLimit(j)
	c.endEra()
	c.running = slices.DeleteFunc(c.running, func(r *Job) bool { return r == j })
	c.retire(now, j)
	c.count(j, 0, false)
	if c.conf.Enforce.Limits {
		// _adjust_limit_usage calls priority_g_job_end only if limits are enforced. Otherwise what the
		// job has used since the last tick is never charged.
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

// Free says that a node of a job that ended is free, while others of its nodes are not yet: its epilog has come back.
// Release follows when all are.
func (c *Controller) Free(now des.Time, j *Job, node int) {
	if j.state != completing {
		return
	}
	j.nodes = j.nodes.clone()
	j.nodes.drop(node)
	c.findLeaving()
	c.changed(now)
}

// Release says that the nodes of a job that ended are free: the last epilog has come back
// (job_epilog_complete). A pass follows at once, or with `defer` when the main loop next asks for one.
// Nothing follows if the job waits again already, since Down has freed its nodes in the meantime.
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

// vacate frees what a job that completes still has: its nodes, unless another job completes on them,
// and its licences.
func (c *Controller) vacate(now des.Time, j *Job) {
	j.state = done
	for _, l := range j.Licenses {
		c.licenses[l.Kind] += l.Count
	}
	c.findLeaving()
	c.changed(now)
	if j.requeued {
		c.requeue(now, j)
	} else {
		j.Placed, j.nodes, j.shares, j.devices, j.allocated.on = nil, nil, nil, nil, nil // a year has many jobs
	}
}

// findLeaving finds the nodes of jobs that complete.
func (c *Controller) findLeaving() {
	c.leaving = newNodeSet(len(c.conf.Nodes))
	for _, r := range c.ended {
		if r.job.state == completing {
			c.leaving.unite(r.job.nodes)
		}
	}
}

// Next returns the instant at which the controller next wants to act, or des.Forever. Each
// other call of the controller may change it.
func (c *Controller) Next() des.Time {
	return min(c.main.passDue, c.backfill.next(), c.decay.due, c.main.next(), c.comesBack())
}

// Act does what is due at now, which must be what Next has returned. Several loops may wake at one
// instant: a loop that has slept longer wakes first, and the main loop, which sleeps a second at a
// time, wakes last.
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

// decaysFirst reports whether the loop of priorities has slept longer than backfill. If both fell
// asleep at one instant, they wake in the order in which they fell asleep.
func (c *Controller) decaysFirst(now des.Time) bool {
	// Backfill sleeps a whole interval after a run, and then a second at a time until something changes.
	asleep := now - des.Second
	if now == c.backfill.ran.Add(c.backfill.interval) {
		asleep = c.backfill.ran
	}
	if c.decay.last != asleep { // else first keeps the order of the last time
		c.decay.first = c.decay.last < asleep
	}
	return c.decay.first
}

// tick computes priorities and makes the next computation due a period later (_decay_thread).
func (c *Controller) tick(now des.Time) {
	c.computePriorities(now)
	c.decay.due = now.Add(c.conf.Priority.Period)
}

// start starts the job of e on the nodes chosen, whose cores it picks: the end of select_nodes.
func (c *Controller) start(now des.Time, e *entry, placed []Placement) {
	j := e.job
	// What the job has, and what is left of nodes and licences.
	c.giveCores(e, placed)
	j.state, j.Start, j.StartedIn, j.Placed = running, now, e.part.at, placed
	c.giveDevices(j, placed)
	j.nodes, j.allocated = newNodeSet(len(c.conf.Nodes)), c.has(j, e.part, placed, c.whole(e), true)
	for _, l := range j.Licenses {
		c.licenses[l.Kind] -= l.Count
	}
	j.shares = make([]share, len(placed))
	for i, p := range placed {
		j.nodes.add(p.Node)
		j.shares[i] = share{int32(p.Node), int32(len(p.Cores)), int32(p.Mem)}
		c.cores[p.Node].take(p.Cores)
	}
	c.free.take(j)
	c.later.take(j)
	// The job leaves the queue and joins what runs. Its age no longer counts before it leaves its groups.
	j.whole, j.reason, j.hasty, j.behind, j.extended, j.altered = c.whole(e), NoReason, false, nil, 0, 0
	if !j.began { // a job that waited again is charged for what it had at first
		j.billing = c.weighted(j.allocated, e.part)
	}
	j.allocated.amounts[tresBilling] = int(j.billing)
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
