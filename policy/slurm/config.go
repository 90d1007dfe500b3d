package slurm

import (
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Config is the part of slurm.conf on which Slurm's scheduler depends. ReadConfig makes one, with Slurm's
// defaults for keys that the file does not set. The key of a field stands in parentheses, with its default if
// that is not 0, no or empty.
type Config struct {
	// Epoch is the second of the host's UNIX clock at which the controller begins. Backfill rounds times to
	// multiples of bf_resolution of that clock.
	Epoch int64

	Nodes      []Node
	Partitions []Partition
	Licenses   []Amount // of the whole cluster: how many there are of each kind (Licenses)
	Devices    []string // the kinds of devices that jobs may ask for (GresTypes), and the kinds that nodes have

	// Database says whether slurmdbd keeps accounts (AccountingStorageType). Without it Slurm ignores the
	// weights of age and fair share, and computes a job's priority once.
	Database bool
	// TrackedTRES are the kinds of TRES that accounting counts beside the usual ones (AccountingStorageTRES), in
	// lower case and in order: gres/KIND, license/NAME and others.
	TrackedTRES []string
	// Enforce says which rules of accounts are enforced (AccountingStorageEnforce): that a job has an
	// account and user that there are, that limits hold, that the user may use the QoS.
	// With Safe a job only starts if it can run to its limit within the limits on use.
	Enforce struct{ Associations, Limits, QOS, Safe bool }

	// EnforceLimits says whether jobs beyond the limits of a partition are refused as they come
	// (EnforcePartLimits): NO, ANY (beyond the limits of all its partitions) or ALL (beyond the
	// limits of any).
	EnforceLimits string

	// Preempt says whose jobs may be preempted (PreemptType): "qos", jobs of the QoSs that the
	// preemptor's QoS names; "partition_prio", jobs in partitions of a lower tier; empty, no
	// jobs.
	Preempt        string
	PreemptCancels bool     // jobs that are preempted end, even if they may be requeued (PreemptMode=CANCEL)
	PreemptExempt  des.Time // a job that has run for less time is not preempted (PreemptExemptTime)

	Select   Selection
	Schedule Scheduling
	Priority PriorityRules

	MinJobAge     des.Time // how long the record of an ended job is kept (MinJobAge, 300 s; 2 s at least). Its purge is a change to backfill
	OverTimeLimit des.Time // how long a job may run beyond its limit (OverTimeLimit, in minutes there); des.Forever: no job is ended
	// KillWait is the time that Slurm grants a job between the signals SIGTERM and SIGKILL (KillWait, 30 s). Jobs
	// here end at the first signal. Backfill expects a job beyond its limit to end KillWait plus OverTimeLimit
	// after its limit: see guessEnd.
	KillWait       des.Time
	MessageTimeout des.Time // a job that preempted others preempts no more for this time plus KillWait (MessageTimeout, 10 s)
	// ReturnToService tells what becomes of a node that is down when it registers (ReturnToService): with 2 it takes
	// jobs again, even if an order has put it down since the order to put it back; else it stays down. 0 and 1 differ
	// only for nodes that stop to respond by themselves, which is not simulated.
	ReturnToService int
	CompleteWait    des.Time // nothing starts while a job completes that ended less than this ago (CompleteWait)
}

// Node is a node of a row NodeName of slurm.conf.
type Node struct {
	Name     string
	Sockets  int      // 1 or more (Sockets). Cores are numbered through them: socket s has s*Cores to s*Cores+Cores-1
	Cores    int      // cores of a socket, 1 or more (CoresPerSocket); a core has one thread, and is a CPU
	Memory   int      // MB, 1 or more (RealMemory, 1)
	Weight   int      // nodes of low weight are taken first (Weight, 1)
	Features []string // what jobs may ask for (Feature)
	GRES     []Amount // devices by kind, as {"gpu", 4}, or by kind and type, as {"gpu:a100", 4}, in the order in which they are given out (Gres)
	Row      int      // position of the row NodeName that defines it, from 0; weights of groups go by rows
}

// CPUs returns how many cores the node has: a core has one thread.
func (n *Node) CPUs() int { return n.Sockets * n.Cores }

// CPUs returns how many CPUs all nodes have together.
func (conf *Config) CPUs() int {
	n := 0
	for i := range conf.Nodes {
		n += conf.Nodes[i].CPUs()
	}
	return n
}

// HasGRES reports whether any node has devices of a kind, or of a kind and type.
func (conf *Config) HasGRES(kind string) bool {
	return slices.ContainsFunc(conf.Nodes, func(n Node) bool {
		return slices.ContainsFunc(n.GRES, func(g Amount) bool { return g.Kind == kind || g.family() == kind })
	})
}

// hasFeature reports whether any node has a feature.
func (conf *Config) hasFeature(name string) bool {
	return slices.ContainsFunc(conf.Nodes, func(n Node) bool { return slices.Contains(n.Features, name) })
}

// Amount is a number of things of a kind: devices of a node, or licences.
type Amount struct {
	Kind  string // of devices also KIND:TYPE, such as gpu:a100. A job that asks for gpu may have any type
	Count int    // 0 or more
}

// family returns the kind without the type.
func (a *Amount) family() string {
	kind, _, _ := strings.Cut(a.Kind, ":")
	return kind
}

// typed reports whether the amount is of one type.
func (a *Amount) typed() bool { return strings.Contains(a.Kind, ":") }

// Partition is a row PartitionName of slurm.conf.
type Partition struct {
	Name           string
	Nodes          []int    // positions in Config.Nodes, ascending (Nodes)
	Default        bool     // jobs that name no partition go there (Default)
	Exclusive      bool     // a job has its nodes to itself (OverSubscribe=EXCLUSIVE)
	MaxTime        des.Time // the longest limit of a job (MaxTime); des.Forever: any
	MaxNodes       int      // the most nodes of a job (MaxNodes); 0: no limit
	Tier           int      // jobs of a higher tier come first, whatever their priority (PriorityTier, 1)
	JobFactor      int      // of the partition's term of a priority (PriorityJobFactor, 1)
	BillingWeights []Weight // what a second of a job is charged for (TRESBillingWeights); empty: its CPUs
}

// Weight is a weight of one kind of resource (TRES): cpu, mem (of a GB), node, gres/KIND or
// license/KIND.
type Weight struct {
	Kind  string
	Value float64
}

// Selection is SelectTypeParameters of select/cons_tres.
type Selection struct {
	Memory       bool // memory is consumed (CR_Core_Memory)
	BestFit      bool // cores come from the socket that fits best, not from all sockets in turn (CR_CPU)
	LeastLoaded  bool // of one weight, the node with the largest share of free cores comes first (CR_LLN)
	DefMemPerCPU int  // MB a CPU for jobs that ask for no memory (DefMemPerCPU); 0: they get all memory of the node
}

// Scheduling is SchedulerParameters of slurm.conf, and a few keys like them. A parameter stands in parentheses,
// with its default.
type Scheduling struct {
	// Passes of the main scheduler.
	Interval       des.Time // from one full pass to the next (sched_interval, 60 s)
	BatchDelay     des.Time // the least from one request for a pass to the next one for submissions and orders (batch_sched_delay, 3 s)
	MinInterval    des.Time // a pass begins later than this after the last one (sched_min_interval, 2 µs)
	QueueDepth     int      // a pass that is not full looks at one entry more than this (default_queue_depth, 100)
	PartitionDepth int      // the most entries of each partition in a pass (partition_job_depth); 0: no limit
	MaxStarts      int      // the most starts of a pass (sched_max_job_start); 0: no limit
	Defer          bool     // the end of a job makes a pass due, and does not begin it (defer)
	AssocLimitStop bool     // a job beyond a limit of its QoS or associations closes its partition (assoc_limit_stop)
	KillInvalid    bool     // a job whose dependency is never satisfied is cancelled (DependencyParameters=kill_invalid_depend)

	// Choice of nodes and of victims.
	ReorderVictims  int  // how often victims are ordered anew (preempt_reorder_count, 1)
	PreemptYoungest bool // victims that started last come first (preempt_youngest_first)
	PackSerial      bool // jobs of one CPU take the last node of the lowest weight (pack_serial_at_end)

	// Backfill.
	Backfill         bool     // there is backfill (SchedulerType=sched/backfill, the default)
	BackfillInterval des.Time // from the beginning of a run to the next one, at least (bf_interval, 30 s)
	Resolution       des.Time // plans begin and end at multiples of it (bf_resolution, 60 s)
	Window           des.Time // how far ahead a run plans (bf_window, 1440 min)
	MaxTests         int      // a run ends when it has looked for nodes for this many entries (bf_max_job_test, 500)
	TableSize        int      // a run ends when its table has this many records (bf_node_space_size, MaxTests)
	MaxBackfillStart int      // the most starts of a run (bf_max_job_start); 0: no limit
	MaxPerUser       int      // the most entries of a user in a run (bf_max_job_user); 0: no limit, as also if there is MaxPerAssoc
	MaxPerPartition  int      // the most entries of a partition in a run (bf_max_job_part); 0: no limit
	MaxPerUserPart   int      // the most entries of a user in a partition in a run (bf_max_job_user_part); 0: no limit
	MaxPerAssoc      int      // the most entries of an association in a run (bf_max_job_assoc); 0: no limit
	MinAgeReserve    des.Time // jobs that could start for less time are not planned, and close no partition (bf_min_age_reserve)
	MinPrioReserve   int      // jobs of a lower priority are not planned, and close no partition (bf_min_prio_reserve)
	Licenses         bool     // backfill plans licences (bf_licenses)
	OnePlan          bool     // backfill plans a job in one of its partitions only (bf_one_resv_per_job)
	WindowLinear     int      // seconds by which windows of a look into the future grow (bf_window_linear); 0: each is twice the last
	BusyNodes        bool     // backfill plans nodes in use before idle ones (bf_busy_nodes)
}

// PriorityRules is the part of slurm.conf that sets priorities. Age to QOS are the weights PriorityWeightAge to
// PriorityWeightQOS, 0 or more, of factors from 0 to 1: see Terms.
type PriorityRules struct {
	Multifactor bool // priority/multifactor; else priority/basic, by submission (PriorityType)
	Age         float64
	FairShare   float64
	JobSize     float64
	Partition   float64
	QOS         float64
	MaxAge      des.Time // the age from which on its factor is 1, a second or more (PriorityMaxAge, 7 days)
	HalfLife    des.Time // of usage (PriorityDecayHalfLife, 7 days); 0: usage does not decay
	Period      des.Time // from one tick to the next, a second or more (PriorityCalcPeriod, 5 min)
	FavorSmall  bool     // small jobs get the larger size factor (PriorityFavorSmall)
	MaxTRES     bool     // a node's billing is its largest weighted amount, not their sum (PriorityFlags=MAX_TRES)
}
