package slurm

import "github.com/gridslot/gridslot/des"

// Job is a batch job as it was submitted, and what has become of it.
type Job struct {
	ID int // as Slurm numbers them, in order of submission

	// What the job asks for; 0 or empty where its submitter did not say.
	Nodes        int // -N
	Tasks        int // -n
	CPUsPerTask  int // -c
	TasksPerNode int // --ntasks-per-node
	Memory       int // MB a node (--mem)
	MemoryPerCPU int // MB a CPU (--mem-per-cpu)
	GRES         []Amount
	Licenses     []Amount
	Exclusive    bool
	Partitions   []int // positions in Config.Partitions, in the order in which the submitter named them
	Limit        des.Time
	Length       des.Time // how long it really runs: what nobody who schedules knows
	Account      string
	User         string
	QOS          string // empty: the user's default
	Name         string
	Features     []string // all of which each of its nodes must have (-C)
	Required     []int    // nodes that it must have (-w), by position
	Excluded     []int    // nodes that it must not have (-x), by position
	Begin        des.Time // it does not start before (--begin)
	Reservation  string   // that it is to run in
	Nice         int      // taken from its priority
	Requeue      bool     // it waits again after its node failed or it was preempted
	Held         bool     // it waits until it is released (-H)
	After        []Dependency
	AnyAfter     bool // one of After is enough, not all
	ExitCode     int  // of its script: what nobody who schedules knows

	// Priority is what Slurm shows: that in the partition which was looked at last when priorities
	// were computed, or by which backfill tried it last. It decides nothing.
	Priority uint32
	// StartedIn is the position of the partition in which it started.
	StartedIn  int
	Start      des.Time
	ByBackfill bool        // backfill started it, not the main scheduler
	Placed     []Placement // where it runs, by position of the node; nil when its nodes are free again

	assoc        *association
	qos          *qos
	reservation  *Reservation
	part         *partition // that was looked at last, or would be in a first pass
	submitted    des.Time
	eligible     des.Time // it could start then, or could have since; 0: it waits for another job or is held
	accrued      des.Time // since when it grows older; 0: it does not
	reason       Reason   // why it waits
	told         Reason   // the last reason that was worth telling
	behind       *Job     // WaitsForPriority: who closed the partition or the reservation to it; nil: nobody did
	omitted      string   // what had the last run of backfill pass it over, of SchedulerParameters; empty: nothing had
	blockedByQOS bool     // amounts of its QoS kept it from starting when they were last looked at
	doomed       bool     // a job that it depends on ended otherwise than it wants
	estimate     int64    // the second in which the last run of backfill saw it start; 0: it did not
	most         int      // see mostNodes; 0: not reckoned yet
	mostBy       Reason   // the limit of most
	preempting   bool     // it has others end in this pass
	preempted    des.Time // it had others end last; 0: never
	numbered     bool     // it has a priority of priority/basic,
	basic        int64    // which is this one but for its nice value
	reckoned     int      // CPUs that it would have got when nodes were last found for it; 0: never
	guess        int      // on how many nodes it would have run when nodes were last looked for; 0: they never were
	entries      []*entry // waiting: one in each of its partitions
	nodes        nodeSet  // running: those it has
	shares       []share  // running: how many CPUs it has of each of its nodes
	allocated    tres     // running: what it has in all
	billing      float64  // running: billing a second
	whole        bool     // running: it has its nodes to itself
	limited      kindsLimited
	ofUser       *crowd // of the jobs of its QoS, those of its user; nil: not looked for yet
	ofAccount    *crowd // and those of its account
	state        jobState
	failed       bool     // done: it failed, was killed or cancelled
	requeued     bool     // it waits again when its nodes are free
	graceEnds    des.Time // it is preempted, and ends then at the latest; 0: it is not
	excused      bool     // limits on its time do not hold; see Relimit
	extended     int64    // running: how many seconds later than its limit says it ends; see Relimit
	began        bool     // it has started at some time
	// hasty reports whether backfill started the job as one that is over in a minute (NoReserve). What it uses after
	// that minute is not taken from what it may still use (GrpTRESRunMins), not even when it is over.
	hasty bool
	// shutOut reports whether the job, which waits, is beyond what its only partition allows, and nothing but an order about it
	// changes anything about that: there is no need to look at it.
	shutOut bool
}

type jobState uint8

const (
	pending jobState = iota
	running
	completing // its work is over, its nodes are not free yet
	done
)

// Placement is what a job has of one node.
type Placement struct {
	Node  int   // position in Config.Nodes
	Cores []int // of the node, ascending
	CPUs  int
	Mem   int // MB
}

// Dependency is one condition of a job on another one.
type Dependency struct {
	Kind string // after, afterok, afternotok, afterany or singleton
	Job  int    // the ID; 0 for singleton
}

// entry is a job in one of its partitions: what the queue consists of.
type entry struct {
	job      *Job
	part     *partition
	at       int // among the entries of its job
	priority uint32
	terms    Terms // of priority

	could bool     // it could start now as far as the job itself and its partition say: see runnable
	found *finding // by the last run of backfill that came to it; nil: none has
	shape *shape   // see Controller.shapeOf; nil: not known yet
}

// tasks is how many tasks the job has: as many as it says, or one a node.
func (j *Job) tasks() int {
	switch {
	case j.Tasks > 0:
		return j.Tasks
	case j.Nodes > 0:
		return j.Nodes
	}
	return 1
}

func (j *Job) cpusPerTask() int { return max(j.CPUsPerTask, 1) }
