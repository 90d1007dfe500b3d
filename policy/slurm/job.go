package slurm

import "github.com/gridslot/gridslot/des"

// Job is a batch job as it was submitted, and what has become of it. Who submits it must not change
// what it asks for afterwards: orders do (Hold, Renice, Relimit).
type Job struct {
	ID int // as Slurm numbers jobs: above 0, and each above those accepted before

	// What the job asks for, as options of sbatch; 0 or empty if its submitter did not say.
	Nodes        int // nodes, at least and at most (-N); 0: as few as it needs
	Tasks        int // tasks (-n); 0: one a node
	CPUsPerTask  int // CPUs a task (-c); 0: one
	TasksPerNode int // tasks of each node (--ntasks-per-node); 0: as many as fit
	Memory       int // MB a node (--mem)
	MemoryPerCPU int // MB a CPU (--mem-per-cpu)
	// GRES are devices of each node (--gres), of a kind or of a kind and type, and Licenses licences in all (-L).
	GRES        []Amount
	Licenses    []Amount
	Exclusive   bool     // no other job runs on its nodes (--exclusive)
	Partitions  []int    // positions in Config.Partitions, one or more, in the order in which the submitter named them (-p)
	Limit       des.Time // how long it may run (-t), more than 0
	Length      des.Time // how long it really runs: the controller never reads it
	Account     string   // -A; empty: see Accounts.associationOf
	User        string
	QOS         string       // empty: the default of the user's association
	Name        string       // for `singleton` only
	Features    []string     // features that each of its nodes must have, all of them (-C)
	Required    []int        // positions of nodes that it must have (-w)
	Excluded    []int        // positions of nodes that it must not have (-x)
	Begin       des.Time     // it does not start before (--begin); 0: at once
	Reservation string       // name of the reservation in which it runs; empty: none
	Nice        int          // is subtracted from its priority (--nice)
	Requeue     bool         // it waits again after its node failed or it was preempted (--requeue)
	Held        bool         // its priority is 0: it waits until it is released (-H)
	After       []Dependency // what it depends on (-d); what is met is taken out
	AnyAfter    bool         // one of After is enough, not all (? in place of the commas)
	ExitCode    int          // of its script, once it has run: 0 is success. The controller reads it at End

	// Priority is the number that Slurm shows: the priority in the partition that was looked at last when
	// priorities were computed, or in which a pass or backfill last tried the job. Until then it is the priority
	// in the partition that the job names first. It decides nothing.
	Priority uint32
	// StartedIn is the position of the partition in which it started last.
	StartedIn  int
	Start      des.Time    // its last start; 0 until it has started
	ByBackfill bool        // backfill started it, not the main scheduler
	Placed     []Placement // what it has of each node, by position of the node; nil when its nodes are free again

	// Whose the job is, and where it may run. None of it changes after its submission, but that a
	// reservation may be deleted.
	assoc       *association // nil: its user has none, or there are no accounts
	qos         *qos         // nil: none
	reservation *Reservation // nil: it names none, or it was deleted
	entries     []*entry     // one for each of its partitions, by PriorityTier, the highest first
	most        int          // the most nodes that limits let it have; 0: not reckoned yet, see mostNodes
	mostBy      Reason       // the limit that says so; empty: none does
	limited     kindsLimited // which amounts its groups limit
	ofUser      *crowd       // the jobs of its user in its QoS; nil: not looked for yet
	ofAccount   *crowd       // and the jobs of its account; nil as long as ofUser is

	// Why it waits, and since when.
	state     jobState
	part      *partition // the partition that was looked at last (part_ptr)
	submitted des.Time   // or when it was requeued last
	// eligible is the instant from which on the job could start or could have started (begin_time); 0:
	// it depends on another job or was held.
	eligible     des.Time
	accrued      des.Time // the instant from which its age counts (accrue_time); 0: it does not count
	reason       Reason   // state_reason
	told         Reason   // the last reason, passing ones apart, that counted as a change (state_reason_prev_db)
	behind       *Job     // with WaitsForPriority: who closed the partition or the reservation to it; nil: nobody did
	doomed       bool     // it depends on a job that ended otherwise than it wants, and never starts
	maintained   bool     // NodesNotAvailable: maintenance has the nodes that it needs (RESERVATION_MAINT)
	blockedByQOS bool     // amounts of its QoS kept it from starting when they were last looked at
	calm         bool     // it waits, and runnable would find of it what it has found: see Controller.staysCalm

	// What passes and backfill have left for the next one.
	omitted    string   // which of SchedulerParameters made the last run of backfill pass it over when it got to the job; empty: none. See backfillLoop.omitted
	estimate   int64    // the second of the host's clock in which the last run of backfill saw it start; 0: it saw no start
	alone      bool     // nodes have been looked for in a partition with OverSubscribe=EXCLUSIVE: see settleAlone
	preempting bool     // it made others end in this pass, and does not start before the next (preempt_in_progress)
	preempted  des.Time // when it last made others end (preempt_start_time); 0: never
	numbered   bool     // basic holds a number
	basic      int64    // its priority under priority/basic, before Nice is subtracted
	reckoned   int      // CPUs that it would have got when nodes were last found for it (total_cpus); 0: they never were
	spread     int      // number of nodes that a search has chosen for it last, whose devices count (total_gres); 0: none has. Valid of jobs with devices, whose searches are never recalled
	guess      int      // number of nodes that were found for it last (node_cnt_wag); 0: none were

	// What it has while it runs or completes.
	nodes     nodeSet            // its nodes
	shares    []share            // what of Placed looks into the future need, for each of its nodes
	devices   map[int32][]Amount // by position of the node: devices that it has, by type where the node has types; nil: it asks for none
	allocated tres               // what it has in all
	billing   float64            // what a second is charged for; see Controller.weighted
	whole     bool               // it has its nodes to itself
	// hasty reports whether backfill started the job as one that is over in a minute (NoReserve). What
	// it uses after that minute is not taken from what it may still use (GrpTRESRunMins), not even when
	// it is over.
	hasty     bool
	altered   int64    // seconds by which orders, or the end of a hasty start, have put its limit up since it started; below 0: down
	began     bool     // it has started at some time
	graceEnds des.Time // it is preempted, and ends then at the latest; 0: it is not
	excused   bool     // limits on its time do not hold; see Relimit
	extended  int64    // seconds by which it ends later than Start and Limit say, or below 0 earlier; see Relimit, relimitStarted
	requeued  bool     // it was stopped, and waits again when its nodes are free
	failed    bool     // it failed, was killed or was cancelled; set when it completes
}

// jobState is the state of a job between its submission and the end of its record:
//
//	pending -> running -> completing -> done
//	   |  ^                   |          ^
//	   |  +---- requeued -----+          |
//	   +---- cancelled, refused ---------+
type jobState uint8

const (
	pending    jobState = iota // it waits
	running                    // it has nodes
	completing                 // its work is over, its nodes are not free yet
	done                       // its record alone is left
)

// Placement is the part of one node that a job has: cores and memory.
type Placement struct {
	Node  int   // position in Config.Nodes
	Cores []int // of the node, ascending; as many as CPUs
	CPUs  int   // above 0
	Mem   int   // MB; 0 where memory is not consumed
}

// Dependency is one condition of a job on another one.
type Dependency struct {
	Kind string // after, afterok, afternotok, afterany or singleton
	Job  int    // the ID; 0 for singleton
}

// entry is a job in one of its partitions (job_queue_rec_t). The queue consists of entries.
type entry struct {
	job      *Job
	part     *partition
	at       int    // position in job.entries
	priority uint32 // of the job in this partition; 0: the job is held
	terms    Terms  // the summands of priority

	could bool     // it waits, and could start now as far as the job itself and its partition say: see runnable
	found *finding // what the last run of backfill found that came to it; nil: none has
	shape *shape   // see Controller.shapeOf; nil: not known yet, or no longer
}

// leastNodes is the number of nodes that the job has at least: what it asks for, those that it must have, or one (min_nodes).
func (j *Job) leastNodes() int { return max(j.Nodes, len(j.Required), 1) }

// tasks is the number of tasks of the job: what it asks for, or one a node.
func (j *Job) tasks() int {
	switch {
	case j.Tasks > 0:
		return j.Tasks
	case j.Nodes > 0:
		return j.Nodes
	}
	return 1
}

// cpusPerTask is the number of CPUs of each task, at least one.
func (j *Job) cpusPerTask() int { return max(j.CPUsPerTask, 1) }
