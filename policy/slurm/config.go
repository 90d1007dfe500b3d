package slurm

import (
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Config is what the scheduler of Slurm takes from slurm.conf. ReadConfig makes one, with Slurm's
// defaults for what the file does not say.
type Config struct {
	// Epoch is the second of the host's clock (of UNIX) at which the controller begins. Backfill
	// rounds times to multiples of bf_resolution there.
	Epoch int64

	Nodes      []Node
	Partitions []Partition
	Licenses   []Amount // of the whole cluster: how many there are of each

	// Database says whether accounts are kept by slurmdbd. Without it Slurm ignores the weights of
	// age and fair share, and computes a job's priority once.
	Database bool
	// TrackedGRES are the kinds of devices that accounting counts (AccountingStorageTRES), in order.
	TrackedGRES []string
	// Enforce says which rules of accounts are enforced (AccountingStorageEnforce): that a job has an
	// account and user that there are, that limits hold, that the user may use the QoS.
	Enforce struct{ Associations, Limits, QOS bool }

	// EnforceLimits says whether jobs beyond the limits of a partition are refused as they come:
	// NO, ANY (beyond those of all its partitions) or ALL (beyond those of any).
	EnforceLimits string

	// Preempt says whose jobs may be preempted: those of QoSs that another one names (qos), those of
	// partitions of a lower tier (partition_prio), or nobody's (empty).
	Preempt       string
	PreemptExempt des.Time // a job that has run less is not preempted (PreemptExemptTime)

	Select   Selection
	Schedule Scheduling
	Priority PriorityRules

	MinJobAge     des.Time // a record that is so old is purged, which is a change to backfill (MinJobAge); 0: never
	OverTimeLimit des.Time // a job may run so much beyond its limit
	CompleteWait  des.Time // nothing starts while a job completes that ended less than so long ago
}

// Node is a row NodeName of slurm.conf, for one node.
type Node struct {
	Name     string
	Sockets  int // cores are numbered through the sockets: socket s has s*Cores to s*Cores+Cores-1
	Cores    int // of a socket; a core has one thread
	Memory   int // MB (RealMemory)
	Weight   int // nodes of low weight are taken first
	Features []string
	GRES     []Amount // devices by kind, as {"gpu", 4}
	Row      int      // which row NodeName of slurm.conf defines it, from 0 on
}

// CPUs is how many cores the node has: a core has one thread.
func (n *Node) CPUs() int { return n.Sockets * n.Cores }

// CPUs is how many CPUs all nodes have.
func (conf *Config) CPUs() int {
	n := 0
	for i := range conf.Nodes {
		n += conf.Nodes[i].CPUs()
	}
	return n
}

// HasGRES reports whether any node has devices of a kind.
func (conf *Config) HasGRES(kind string) bool {
	return slices.ContainsFunc(conf.Nodes, func(n Node) bool {
		return slices.ContainsFunc(n.GRES, func(g Amount) bool { return g.Kind == kind })
	})
}

// hasFeature reports whether any node has a feature.
func (conf *Config) hasFeature(name string) bool {
	return slices.ContainsFunc(conf.Nodes, func(n Node) bool { return slices.Contains(n.Features, name) })
}

// Amount is so many of a kind: devices of a node, or licences.
type Amount struct {
	Kind  string
	Count int
}

// Partition is a row PartitionName of slurm.conf.
type Partition struct {
	Name           string
	Nodes          []int // positions in Config.Nodes, ascending
	Default        bool
	Exclusive      bool     // OverSubscribe=EXCLUSIVE: a job has its nodes to itself
	MaxTime        des.Time // of a job's limit; des.Forever: none
	MaxNodes       int      // of a job; 0: no limit
	Tier           int      // PriorityTier: jobs of a higher tier come first, whatever their priority
	JobFactor      int      // PriorityJobFactor
	BillingWeights []Weight // TRESBillingWeights
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
	LeastLoaded  bool // the node with the largest part of free cores comes first (CR_LLN)
	DefMemPerCPU int  // MB a CPU for jobs that ask for none; 0: all memory of the node
}

// Scheduling is SchedulerParameters of slurm.conf, and its defaults.
type Scheduling struct {
	Interval         des.Time // of full passes (sched_interval)
	BatchDelay       des.Time // from one pass for submissions to the next (batch_sched_delay)
	MinInterval      des.Time // from one pass to the next (sched_min_interval)
	QueueDepth       int      // entries that a pass looks at that is not full (default_queue_depth)
	PartitionDepth   int      // the same of each partition; 0: no limit (partition_job_depth)
	MaxStarts        int      // of one pass; 0: no limit (sched_max_job_start)
	Defer            bool     // the end of a job does not start a pass (defer)
	AssocLimitStop   bool     // a job beyond a limit closes its partition (assoc_limit_stop)
	KillInvalid      bool     // a job whose dependency is never satisfied is cancelled (DependencyParameters=kill_invalid_depend)
	Licenses         bool     // backfill plans licences (bf_licenses)
	OnePlan          bool     // backfill plans a job in one of its partitions only (bf_one_resv_per_job)
	ReorderVictims   int      // preempt_reorder_count
	PreemptYoungest  bool     // preempt_youngest_first
	Backfill         bool     // SchedulerType=sched/backfill
	BackfillInterval des.Time // bf_interval
	Resolution       des.Time // bf_resolution
	Window           des.Time // bf_window
	MaxTests         int      // jobs that a run of backfill tests (bf_max_job_test)
	TableSize        int      // records of its table (bf_node_space_size); 0: MaxTests
	MaxBackfillStart int      // of one run; 0: no limit (bf_max_job_start)
	MaxPerUser       int      // jobs of a user in one run; 0: no limit (bf_max_job_user; none where there is MaxPerAssoc)
	MaxPerPartition  int      // bf_max_job_part
	MaxPerUserPart   int      // bf_max_job_user_part
	MaxPerAssoc      int      // bf_max_job_assoc
	MinAgeReserve    des.Time // younger jobs are not planned (bf_min_age_reserve)
	MinPrioReserve   int      // jobs of a lower priority are not planned (bf_min_prio_reserve)
	WindowScale      int      // bf_window_scale
	PackSerial       bool     // jobs of one CPU take the last node of the lowest weight (pack_serial_at_end)
	BusyNodes        bool     // backfill plans nodes in use before idle ones (bf_busy_nodes)
}

// PriorityRules is what slurm.conf says of priority/multifactor.
type PriorityRules struct {
	Multifactor bool // else priority/basic: by submission
	Age         float64
	FairShare   float64
	JobSize     float64
	Partition   float64
	QOS         float64
	MaxAge      des.Time // the age at which its factor is 1
	HalfLife    des.Time // of usage; 0: usage does not decay
	Period      des.Time // from one computation to the next (PriorityCalcPeriod)
	FavorSmall  bool
	MaxTRES     bool // a node's billing is the largest of its weights, not their sum
}
