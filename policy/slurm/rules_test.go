package slurm

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// ruled is a controller of a small machine, whose slurm.conf and accounts are given as text, and what it did.
type ruled struct {
	*Controller
	t       *testing.T
	started []*Job
	stopped []*Job
}

// ofCores adds to a slurm.conf that jobs share nodes by cores, and by no memory, unless it says how they share them. Lines
// keep their numbers.
func ofCores(conf string) string {
	if !strings.Contains(conf, "SelectType=") {
		conf = strings.TrimSuffix(conf, "\n") + "\nSelectType=select/cons_tres\n"
	}
	if !strings.Contains(conf, "SelectTypeParameters=") {
		conf += "SelectTypeParameters=CR_Core\n"
	}
	return conf
}

func newRuled(t *testing.T, conf, accounts string) *ruled {
	t.Helper()
	read, unknown, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(conf)))
	require.NoError(t, err)
	// Without backfill only passes of the main scheduler start jobs; that Slurm has another order then does not matter to these rules.
	unknown = slices.DeleteFunc(unknown, func(u Unknown) bool { return strings.HasPrefix(u.Key, "SchedulerType=sched/builtin with ") })
	require.Empty(t, unknown)
	users, missed, err := ReadAccounts("accounts", strings.NewReader(accounts))
	require.NoError(t, err)
	require.Empty(t, missed)
	r := &ruled{Controller: New(read, users), t: t}
	r.Started = func(_ des.Time, j *Job) { r.started = append(r.started, j) }
	r.Stopped = func(_ des.Time, j *Job, _ Stop) { r.stopped = append(r.stopped, j) }
	return r
}

// amounts returns amounts of TRES by the positions of their kinds, on the nodes at the positions on.
func (r *ruled) amounts(of map[int]int, on ...int) tres {
	t := tres{amounts: make([]int, len(r.kinds)), on: on}
	for kind, n := range of {
		t.amounts[kind] = n
	}
	return t
}

// submit puts a job into the queue at an instant, of one hour unless it says otherwise, in the first partition
// unless it names others.
func (r *ruled) submit(now des.Time, j *Job) *Job {
	r.t.Helper()
	require.NoError(r.t, r.try(now, j))
	return j
}

func (r *ruled) try(now des.Time, j *Job) error {
	j.ID = r.lastID + 1
	if j.Limit == 0 {
		j.Limit = des.Hour
	}
	if j.Partitions == nil {
		j.Partitions = []int{0}
	}
	return r.Submit(now, j)
}

// until has the controller act up to an instant.
func (r *ruled) until(end des.Time) {
	for r.Next() <= end {
		r.Act(r.Next())
	}
}

// over ends a job and frees its nodes.
func (r *ruled) over(now des.Time, j *Job) {
	r.End(now, j)
	r.Release(now, j)
}

// on is the positions of the nodes that a job has.
func on(j *Job) []int { return slices.Collect(j.nodes.all) }

// Four nodes of four cores; the first two weigh more.
const fourNodes = "NodeName=n[1-2] CPUs=4 Weight=9\nNodeName=n[3-4] CPUs=4\nPartitionName=all Nodes=ALL\nPartitionName=some Nodes=n[1-2]\n" +
	"SelectTypeParameters=CR_Core\n"

// A job of one CPU takes the last node of the lowest weight under pack_serial_at_end; others fit best.
func TestSerialJobsArePackedAtTheEnd(t *testing.T) {
	r := newRuled(t, fourNodes+"SchedulerParameters=pack_serial_at_end\n", "")
	one, two, wide := r.submit(0, &Job{Tasks: 1}), r.submit(0, &Job{Tasks: 2}), r.submit(0, &Job{Tasks: 1, Required: []int{0}})
	r.until(10 * des.Second)
	require.Equal(t, []int{3}, on(one))
	require.Equal(t, []int{3}, on(two), "the tightest")
	require.Equal(t, []int{0}, on(wide))
	r = newRuled(t, fourNodes, "")
	one = r.submit(0, &Job{Tasks: 1})
	r.until(10 * des.Second)
	require.Equal(t, []int{2}, on(one))
}

// What a second of a job counts for in fair share is multiplied by the UsageFactor of its QoS.
func TestUsageFactors(t *testing.T) {
	const conf = "NodeName=n[1-2] CPUs=4\nPartitionName=all Nodes=ALL\nAccountingStorageType=accounting_storage/slurmdbd\n" +
		"AccountingStorageEnforce=limits,qos\nPriorityType=priority/multifactor\nPriorityWeightFairshare=1000\n"
	usage := func(factor string) float64 {
		r := newRuled(t, conf, "add qos low "+factor+" grptresrunmins=cpu=9999\nadd account a\nadd user u account=a qos=low\n")
		j := r.submit(0, &Job{Tasks: 4, Account: "a", User: "u", QOS: "low"})
		r.until(10 * des.Second)
		require.Equal(t, running, j.state)
		was := r.unused(j)
		r.over(100*des.Second, j)
		require.InDelta(t, 3600*j.usageFactor(), was, 60)
		return j.assoc.usage
	}
	full := usage("")
	require.Positive(t, full)
	require.InDelta(t, full/4, usage("usagefactor=0.25"), 1e-6)
	require.InDelta(t, full, usage("usagefactor=-1"), 1e-6)
	require.Zero(t, usage("usagefactor=0"))
}

// A job of a reservation that is in force must fit on that reservation's nodes as it comes; before it begins
// nobody looks.
func TestJobsOfReservationsMustFitIntoThem(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	mine := &Reservation{Name: "mine", Start: 100 * des.Second, End: des.Hour, Nodes: []int{2}, Users: []string{"u"}}
	require.NoError(t, r.Reserve(0, mine))
	wide := func() *Job { return &Job{Nodes: 2, User: "u", Reservation: "mine"} }
	early := r.submit(50*des.Second, wide())
	r.until(101 * des.Second)
	require.ErrorIs(t, r.try(101*des.Second, wide()), ErrConfiguration)
	require.NoError(t, r.try(101*des.Second, &Job{Nodes: 1, User: "u", Reservation: "mine"}))
	require.ErrorIs(t, r.try(101*des.Second, &Job{Nodes: 1, User: "u", Reservation: "mine", Partitions: []int{1}}), ErrConfiguration, "no node of the partition is in it")
	r.until(200 * des.Second)
	require.Equal(t, BadConstraints, early.Reason(), "what could not be seen as it came is held when it is tried")
	require.Zero(t, early.Priority)
	maintained := &Reservation{Name: "m", Start: 300 * des.Second, End: des.Hour, Nodes: []int{2}, Maintenance: true}
	require.NoError(t, r.Reserve(200*des.Second, maintained), "maintenance may overlap")
	r.until(301 * des.Second)
	require.NoError(t, r.try(301*des.Second, &Job{Nodes: 1, User: "u", Reservation: "mine"}), "maintenance has all of its nodes, for a while")
	require.ErrorIs(t, r.try(3602*des.Second, &Job{Nodes: 1, User: "u", Reservation: "mine"}), ErrConfiguration, "it is over")
}

// A node that goes down is replaced in a reservation of a number of nodes, in the second after the order. If no other node is
// free by then, it is replaced after a later order about any nodes, which may be refused, or at the next look at limits.
func TestReservationsAreMended(t *testing.T) {
	const half = des.Second / 2
	down := func(r *ruled, now des.Time, nodes []int) { require.NoError(t, r.Down(now, nodes)) }
	drain := func(r *ruled, now des.Time, nodes []int) { require.NoError(t, r.Drain(now, nodes)) }
	up := func(r *ruled, now des.Time, nodes []int) { require.ErrorIs(t, r.Up(now, nodes), ErrNodeState) }
	for name, x := range map[string]struct {
		first, later func(*ruled, des.Time, []int) // orders, the later of node of
		of           int
		busy         bool // the third node, until second 20
		mended       des.Time
	}{
		"down":             {first: down, mended: 11 * des.Second},
		"drain":            {first: drain, mended: 11 * des.Second},
		"later order":      {first: down, later: drain, of: 1, busy: true, mended: 22 * des.Second},
		"refused order":    {first: down, later: up, busy: true, mended: 22 * des.Second},
		"a look at limits": {first: drain, busy: true, mended: 30 * des.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRuled(t, fourNodes, "")
			two := &Reservation{Name: "two", Start: des.Hour, End: 2 * des.Hour, Count: 2}
			named := &Reservation{Name: "named", Start: des.Hour, End: 2 * des.Hour, Nodes: []int{3}}
			var job *Job
			if x.busy {
				job = r.submit(0, &Job{Tasks: 4, Required: []int{2}, Limit: 2 * des.Hour})
				r.until(5 * des.Second)
			}
			require.NoError(t, r.Reserve(6*des.Second, named))
			require.NoError(t, r.Reserve(6*des.Second, two))
			require.Equal(t, []int{0, 1}, slices.Collect(two.nodes.all))
			x.first(r, 10*des.Second+half, []int{1, 3})
			if x.busy {
				r.until(20 * des.Second)
				r.over(20*des.Second, job)
			}
			if x.later != nil {
				r.until(21 * des.Second)
				x.later(r, 21*des.Second+half, []int{x.of})
			}
			r.until(x.mended - des.Tick)
			require.Equal(t, []int{0, 1}, slices.Collect(two.nodes.all))
			r.until(x.mended)
			require.Equal(t, []int{0, 2}, slices.Collect(two.nodes.all))
			require.Equal(t, []int{3}, slices.Collect(named.nodes.all), "named nodes stay")
		})
	}
}

// A partition that has too few CPUs or nodes for a job is none of its partitions; where limits are enforced the
// job is refused.
func TestPartitionsThatAreTooSmall(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	cpus, nodes := r.submit(0, &Job{Tasks: 9, Partitions: []int{1}}), r.submit(0, &Job{Nodes: 3, Partitions: []int{1}})
	both := r.submit(0, &Job{Tasks: 9, Partitions: []int{1, 0}})
	r.until(10 * des.Second)
	require.Equal(t, PartitionConfig, cpus.Reason())
	require.Equal(t, PartitionNodeLimit, nodes.Reason())
	require.Equal(t, running, both.state)
	for enforce, want := range map[string]error{"ALL": ErrCPUs, "ANY": nil, "NO": nil} {
		r = newRuled(t, fourNodes+"EnforcePartLimits="+enforce+"\n", "")
		require.Equal(t, want, r.try(0, &Job{Tasks: 9, Partitions: []int{1, 0}}))
	}
	r = newRuled(t, fourNodes+"EnforcePartLimits=ANY\n", "")
	require.ErrorIs(t, r.try(0, &Job{Nodes: 3, Partitions: []int{1}}), ErrNodeCount)
	require.ErrorIs(t, r.try(0, &Job{Tasks: 9, Partitions: []int{1}}), ErrCPUs)
}

// Limits of a partition do not save a job of several partitions that fits into none of them.
func TestJobsThatFitNowhereAreRefused(t *testing.T) {
	r := newRuled(t, fourNodes+"PartitionName=short Nodes=n4 MaxTime=10\n", "")
	require.ErrorIs(t, r.try(0, &Job{Tasks: 5, Nodes: 1, Partitions: []int{2, 0}}), ErrConfiguration)
	require.ErrorIs(t, r.try(0, &Job{Tasks: 5, Nodes: 1, Partitions: []int{0, 2}}), ErrConfiguration)
	require.NoError(t, r.try(0, &Job{Tasks: 1, Excluded: []int{3}, Partitions: []int{2}}), "of a single one no nodes are looked for")
	r = newRuled(t, fourNodes+"PartitionName=short Nodes=n4 MaxTime=10\nPartitionName=brief Nodes=n3 MaxTime=5\n", "")
	require.NoError(t, r.try(0, &Job{Tasks: 1, Partitions: []int{2, 3}}), "idle nodes suit, whatever the limits")
	require.ErrorIs(t, r.try(0, &Job{Tasks: 1, Excluded: []int{2, 3}, Partitions: []int{2, 3}}), ErrConfiguration)
}

// A job that is cancelled has no pass follow: a job that comes in the same second is looked at in the next one.
func TestCancelledJobsAskForNoPass(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	waits := r.submit(0, &Job{Tasks: 1, Held: true})
	r.until(10 * des.Second)
	r.Cancel(10*des.Second+des.Second/2, waits)
	r.until(11 * des.Second)
	r.Cancel(11*des.Second+des.Second/8, waits)
	require.Equal(t, 11*des.Second+des.Second/8, r.backfill.changed, "a change, though the job is over")
	next := r.submit(11*des.Second+des.Second/4, &Job{Tasks: 1})
	r.until(12 * des.Second)
	require.Equal(t, 12*des.Second, next.Start)
}

// Under bf_busy_nodes a start is planned on nodes in use before idle ones; one that is idle is taken though those in
// use were enough.
func TestBusyNodesArePlannedFirst(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-4] CPUs=4\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\nSchedulerParameters=bf_busy_nodes\n", "")
	r.submit(0, &Job{Tasks: 4, Required: []int{1}})
	r.submit(0, &Job{Tasks: 4, Required: []int{2}})
	r.submit(0, &Job{Tasks: 4, Required: []int{3}})
	r.until(10 * des.Second)
	j := r.submit(10*des.Second, &Job{Tasks: 8, Exclusive: true})
	_, nodes, _ := r.willRun(j.entries[0], j.entries[0].part.nodes, r.second(10*des.Second), false)
	require.Equal(t, []int{0, 1, 2}, slices.Collect(nodes.all))
}

// Where the nodes in use of a weight are as many as a job may have, and are not enough, bf_busy_nodes has it planned on idle ones
// of that weight beside them.
func TestBusyNodesMayBeMoreThanAllowed(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-4] CPUs=4\nPartitionName=all Nodes=ALL MaxNodes=2\nSelectTypeParameters=CR_Core\nSchedulerParameters=bf_busy_nodes\n", "")
	for _, node := range []int{1, 3} {
		r.submit(0, &Job{Tasks: 1, Required: []int{node}})
		r.submit(0, &Job{Tasks: 3, Required: []int{node}, Limit: 30 * des.Minute})
	}
	r.submit(0, &Job{Nodes: 1, Exclusive: true, Required: []int{0}})
	r.until(10 * des.Second)
	j := r.submit(10*des.Second, &Job{Tasks: 8})
	begins, nodes, _ := r.willRun(j.entries[0], j.entries[0].part.nodes, r.second(10*des.Second), false)
	require.Equal(t, r.limitSecond(r.started[1]), begins)
	require.Equal(t, []int{1, 2, 3}, slices.Collect(nodes.all))
}

// A machine whose accounts are kept, with two users of one account.
const kept = "NodeName=n[1-2] CPUs=4\nPartitionName=all Nodes=ALL\nAccountingStorageType=accounting_storage/slurmdbd\n" +
	"AccountingStorageEnforce=limits,qos\nPriorityType=priority/multifactor\nSelectTypeParameters=CR_Core\n"

const users = "add user u account=a qos=q,other\nadd user v account=a qos=q,other\n"

// DenyOnLimit has jobs be refused that alone are beyond any limit of the QoS or of their associations.
func TestDenyOnLimit(t *testing.T) {
	for limit, denied := range map[string]bool{
		"grptres=cpu=3": true, "maxtresperuser=cpu=3": true, "maxtresperaccount=cpu=3": true, "maxtresperjob=cpu=3": true, "maxwall=59": true,
		"grptresrunmins=cpu=239": true, "grptresrunmins=cpu=240": false, "grptres=cpu=4": false, "maxwall=60": false,
	} {
		r := newRuled(t, kept, "add qos other\nadd qos q flags=DenyOnLimit "+limit+"\nadd account a\n"+users)
		err := r.try(0, &Job{Tasks: 4, Account: "a", User: "u", QOS: "q"})
		require.Equal(t, denied, err == ErrPolicy, limit)
		r = newRuled(t, kept, "add qos other\nadd qos q flags=DenyOnLimit\nadd account a "+limit+"\n"+users)
		if strings.HasPrefix(limit, "grp") || strings.HasPrefix(limit, "maxwall") {
			err = r.try(0, &Job{Tasks: 4, Account: "a", User: "u", QOS: "q"})
			require.Equal(t, denied, err == ErrPolicy, "of the account: "+limit)
		}
		require.NoError(t, r.try(0, &Job{Tasks: 4, Account: "a", User: "u", QOS: "other"}), "another QoS")
	}
}

// A limit on the jobs that a user of a QoS submits stands in for that of the user's association.
func TestSubmitLimitsOfTheQOSComeFirst(t *testing.T) {
	r := newRuled(t, kept, "add qos other\nadd qos q maxsubmitjobsperuser=2\nadd account a\nadd user u account=a qos=q,other maxsubmitjobs=1\n")
	own := func(qos string) *Job { return &Job{Tasks: 1, Account: "a", User: "u", QOS: qos} }
	require.NoError(t, r.try(0, own("q")))
	require.NoError(t, r.try(0, own("q")))
	require.ErrorIs(t, r.try(0, own("q")), ErrPolicy)
	require.ErrorIs(t, r.try(0, own("other")), ErrPolicy)
}

// bf_max_job_assoc switches bf_max_job_user off.
func TestAssociationsComeBeforeUsers(t *testing.T) {
	r := newRuled(t, kept+"SchedulerParameters=bf_max_job_user=1,bf_max_job_assoc=2\n", "")
	require.Zero(t, r.conf.Schedule.MaxPerUser)
	require.Equal(t, 2, r.conf.Schedule.MaxPerAssoc)
}

// With assoc_limit_stop a job that waits for what its QoS may have together keeps the others of that QoS from
// being planned before it.
func TestJobsOfABlockedQOSAreNotPlanned(t *testing.T) {
	for parameters, want := range map[string]bool{"assoc_limit_stop": false, "bf_interval=30": true} {
		r := newRuled(t, kept+"SchedulerParameters="+parameters+"\n", "add qos other\nadd qos q grptres=cpu=4\nadd account a\n"+users)
		r.submit(0, &Job{Tasks: 3, Account: "a", User: "u", QOS: "q"})
		r.until(5 * des.Second)
		wide := r.submit(5*des.Second, &Job{Tasks: 2, Account: "a", User: "u", QOS: "q"})
		small := r.submit(5*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
		r.until(65 * des.Second)
		require.Equal(t, pending, wide.state)
		require.Equal(t, want, small.state == running, parameters)
	}
}

// A job is charged for what it had when it first started, also where it starts again; and for all devices of the
// nodes that it has to itself.
func TestWhatJobsAreChargedFor(t *testing.T) {
	r := newRuled(t, "GresTypes=gpu\nNodeName=n1 CPUs=2 Gres=gpu:3\nNodeName=n2 CPUs=4 Gres=gpu:1\nPartitionName=all Nodes=ALL OverSubscribe=EXCLUSIVE TRESBillingWeights=CPU=1,GRES/gpu=10\n", "")
	j := r.submit(0, &Job{Tasks: 1, Nodes: 1, GRES: []Amount{{"gpu", 1}}, Requeue: true})
	r.until(10 * des.Second)
	require.Equal(t, []int{0}, on(j))
	require.InDelta(t, 32, j.Billing(), 1e-9)
	require.NoError(t, r.Down(10*des.Second, []int{0}))
	r.until(300 * des.Second)
	require.Equal(t, []int{1}, on(j))
	require.InDelta(t, 32, j.Billing(), 1e-9)
}

// A job with devices counts no more CPUs of a node than its tasks need, also of a node that it gets whole: the
// run of neighbours that has the fewest of them fits best.
func TestDevicesLimitWhatWholeNodesOffer(t *testing.T) {
	r := newRuled(t, "GresTypes=gpu\nNodeName=n[1-2] CPUs=2 Gres=gpu:1\nNodeName=n3 CPUs=2\nNodeName=n4 CPUs=16 Gres=gpu:1\nPartitionName=all Nodes=ALL OverSubscribe=EXCLUSIVE\n", "")
	now := des.Time(0)
	for _, j := range []*Job{{Tasks: 1, Nodes: 1}, {Tasks: 1}} {
		j.GRES = []Amount{{"gpu", 1}}
		r.submit(now, j)
		now += 10 * des.Second
		r.until(now)
		require.Equal(t, []int{3}, on(j))
		r.over(now, j)
	}
}

// A whole node must have the memory for all of its CPUs, also for a job with devices, which needs fewer.
func TestWholeNodesNeedMemoryForAllCPUs(t *testing.T) {
	r := newRuled(t, "GresTypes=gpu\nSelectTypeParameters=CR_Core_Memory\nNodeName=n1 CPUs=4 RealMemory=4000 Gres=gpu:2\nPartitionName=all Nodes=ALL OverSubscribe=EXCLUSIVE\n", "")
	gpu := []Amount{{"gpu", 1}}
	require.Equal(t, ErrConfiguration, r.try(0, &Job{Nodes: 1, MemoryPerCPU: 1001, GRES: gpu}))
	r.submit(0, &Job{Nodes: 1, MemoryPerCPU: 1000, GRES: gpu})
}

// For a job with devices cores count that make whole tasks: without devices five cores of one node and seven of the
// other would be enough for four tasks of three.
func TestDevicesNeedCoresForWholeTasks(t *testing.T) {
	r := newRuled(t, "GresTypes=gpu\nNodeName=n1 CPUs=5 Gres=gpu:1\nNodeName=n2 CPUs=7 Gres=gpu:1\nPartitionName=all Nodes=ALL\n", "")
	wants := Job{Nodes: 2, Tasks: 4, CPUsPerTask: 3}
	plain, with := wants, wants
	with.GRES = []Amount{{"gpu", 1}}
	require.Equal(t, ErrConfiguration, r.try(0, &with))
	r.submit(0, &plain)
	with.Tasks = 3
	r.submit(0, &with)
}

// An order about a job that runs computes its priority, which is what it has if it must start again. Without an order
// it keeps the priority with which it started.
func TestOrdersComputePrioritiesOfJobsThatRun(t *testing.T) {
	const conf = "NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL\nAccountingStorageType=accounting_storage/slurmdbd\n" +
		"PriorityType=priority/multifactor\nPriorityWeightAge=36000\nPriorityMaxAge=0-10\n"
	for order, want := range map[bool]uint32{false: 1, true: 597} { // the age counts from the first pass on, at 3 s
		r := newRuled(t, conf, "")
		j := r.submit(0, &Job{Tasks: 1, Requeue: true})
		r.until(10 * des.Second)
		require.Equal(t, running, j.state)
		require.Equal(t, uint32(1), j.Priority)
		if r.until(600 * des.Second); order {
			r.Relimit(600*des.Second, j, 2*des.Hour)
		}
		require.NoError(t, r.Down(610*des.Second, []int{0}))
		require.Equal(t, pending, j.state)
		require.Equal(t, want, j.entries[0].priority)
	}
}

// In a partition with OverSubscribe=EXCLUSIVE a job counts all GPUs of a node once nodes were looked for; a job that was
// beyond a limit when it came counts those that it asks for, so that backfill plans it on the small node.
func TestGPUsOfWholeNodesCountOnceNodesWereLookedFor(t *testing.T) {
	const conf = "GresTypes=gpu\nNodeName=n1 CPUs=4 Gres=gpu:2\nNodeName=n[2-3] CPUs=16 Gres=gpu:4\nPartitionName=all Nodes=ALL OverSubscribe=EXCLUSIVE\n" +
		"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\nSchedulerParameters=assoc_limit_stop,default_queue_depth=1\n"
	plan := func(limit string) []int {
		r := newRuled(t, conf, "add account a\nadd user u account=a "+limit+"\n")
		first := r.submit(0, &Job{Nodes: 1, Account: "a", User: "u", Required: []int{2}})
		r.until(10 * des.Second)
		require.Equal(t, running, first.state)
		j := r.submit(10*des.Second, &Job{Nodes: 1, Account: "a", User: "u", GRES: []Amount{{gpu, 2}}})
		if limit == "maxjobs=2" {
			require.Equal(t, weighs(1, 4), r.weights[1], "it was looked for as it came")
		}
		r.until(30 * des.Second)
		if j.state == running {
			return on(j)
		}
		planned := slices.Collect(r.backfill.planned.all)
		r.over(40*des.Second, first)
		r.until(100 * des.Second)
		require.Equal(t, running, j.state)
		require.True(t, j.alone)
		return planned
	}
	require.Equal(t, []int{1}, plan("maxjobs=2"))
	require.Equal(t, []int{0}, plan("maxjobs=1"))
}

// A job with devices is given cores of those for which the node has memory: on the second node that is one core, and
// sockets give back the others, so that core 2 is left and not core 0.
func TestDevicesAndMemoryLeaveTheLastSocket(t *testing.T) {
	const conf = "GresTypes=gpu\nSelectTypeParameters=CR_Core_Memory\nNodeName=n1 CPUs=8 RealMemory=8000 Gres=gpu:1\n" +
		"NodeName=n2 Sockets=2 CoresPerSocket=2 RealMemory=1500 Gres=gpu:1\nPartitionName=all Nodes=ALL\n"
	cores := func(gres []Amount) []int {
		r := newRuled(t, conf, "")
		j := r.submit(0, &Job{Nodes: 2, Tasks: 4, MemoryPerCPU: 1000, GRES: gres})
		r.until(10 * des.Second)
		require.Equal(t, []int{0, 1}, on(j))
		return j.Placed[1].Cores
	}
	require.Equal(t, []int{2}, cores([]Amount{{"gpu", 1}}))
	require.Equal(t, []int{0}, cores(nil))
}

// A job that is beyond a limit as it comes has the limit as its reason, although it also waits for its begin time or
// for another job. The pass that finds the begin time in the way has a new reason, which is a change to backfill.
func TestLimitsReplaceBeginTimesAsReasons(t *testing.T) {
	r := newRuled(t, "NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n",
		"add account a\nadd user u account=a maxjobs=1\n")
	runs := r.submit(0, &Job{Tasks: 1, Account: "a", User: "u"})
	r.until(10 * des.Second)
	require.Equal(t, running, runs.state)
	later := r.submit(10*des.Second, &Job{Tasks: 1, Account: "a", User: "u", Begin: des.Hour})
	after := r.submit(10*des.Second, &Job{Tasks: 1, Account: "a", User: "u", After: []Dependency{{"afterany", runs.ID}}})
	held := r.submit(10*des.Second, &Job{Tasks: 1, Account: "a", User: "u", Held: true})
	require.Equal(t, Reason("AssocMaxJobsLimit"), later.Reason())
	require.Equal(t, Reason("AssocMaxJobsLimit"), after.Reason())
	require.Equal(t, JobHeld, held.Reason())
	r.until(13 * des.Second)
	require.Equal(t, WaitsForBegin, later.Reason())
	require.Equal(t, WaitsForDependency, after.Reason())
}

// A look for a job that wants GPUs has the nodes with GPUs weigh less, also for jobs that come after, until a job
// is tried on them.
func TestGPUsWeigh(t *testing.T) {
	r := newRuled(t, "GresTypes=gpu\nNodeName=n[1-2] CPUs=4\nNodeName=n[3-4] CPUs=4 Gres=gpu:2\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\n", "")
	with := r.submit(0, &Job{Tasks: 1, Nodes: 1, GRES: []Amount{{"gpu", 2}}, Begin: des.Hour})
	require.Equal(t, []int{weighs(1, 0), weighs(1, 0), weighs(1, 2), weighs(1, 2)}, r.weights)
	plain := r.submit(0, &Job{Tasks: 1, Begin: des.Hour})
	require.Equal(t, weighs(1, 0), r.weights[2], "weighed anew as the next job comes")
	r.willRun(with.entries[0], with.entries[0].part.nodes, 0, true)
	_, nodes, _ := r.willRun(plain.entries[0], plain.entries[0].part.nodes, 0, true)
	require.Equal(t, []int{2}, slices.Collect(nodes.all), "a node that weighs less, though others are before it")
	whole := r.submit(0, &Job{Tasks: 1, Nodes: 1, GRES: []Amount{{"gpu", 1}}, Exclusive: true, Begin: des.Hour})
	require.Equal(t, weighs(1, 2), r.weights[3], "one that gets the whole node would have all of them")
	r.free.gres["gpu"][3] = 0
	r.submit(0, &Job{Tasks: 1, Begin: des.Hour})
	r.willRun(whole.entries[0], whole.entries[0].part.nodes, 0, true)
	require.Equal(t, weighs(1, 0), r.weights[3], "one whose GPUs are taken does not weigh less")
}

// A look notes what GPUs weigh only where as many nodes are considered for the job as it wants: those that have the devices at all, the
// memory that it asks for at least, and that are idle if it is to have them to itself. Nodes that it must have are among them.
func TestGPUsWeighWhereEnoughNodesAreConsidered(t *testing.T) {
	two := []Amount{{"gpu", 1}}
	for _, wide := range []struct {
		job  Job
		busy *Job
		want bool
	}{
		{job: Job{Nodes: 2, GRES: two}, want: true},
		{job: Job{Nodes: 3, GRES: two}},
		{job: Job{Nodes: 2, GRES: []Amount{{"gpu", 3}}}},
		{job: Job{Nodes: 2, GRES: two, Memory: 1000}, busy: &Job{Tasks: 1, Memory: 1000, Required: []int{3}}, want: true},
		{job: Job{Nodes: 2, GRES: two, Memory: 1001}, busy: &Job{Tasks: 1, Memory: 1000, Required: []int{3}}},
		{job: Job{Nodes: 2, GRES: two, MemoryPerCPU: 501, CPUsPerTask: 2}, busy: &Job{Tasks: 1, Memory: 1000, Required: []int{3}}},
		{job: Job{Nodes: 2, GRES: two}, busy: &Job{Tasks: 1, Memory: 1, Required: []int{3}}},
		{job: Job{Nodes: 2, GRES: two, Memory: 1}, busy: &Job{Nodes: 1, Memory: 1, Exclusive: true, Required: []int{3}}},
		{job: Job{Nodes: 2, GRES: two, Memory: 1}, busy: &Job{Tasks: 4, Memory: 1, Required: []int{3}}, want: true},
		{job: Job{Nodes: 2, GRES: two, Memory: 1, Exclusive: true}, busy: &Job{Tasks: 1, Memory: 1, Required: []int{3}}, want: true},
		{job: Job{Nodes: 2, GRES: two, Memory: 1, Exclusive: true}, busy: &Job{Tasks: 1, Memory: 1, GRES: two, Required: []int{3}}},
		{job: Job{Nodes: 1, GRES: two, Memory: 1001, Required: []int{2}}, busy: &Job{Tasks: 1, Memory: 1000, Required: []int{3}}, want: true},
		{job: Job{Nodes: 1, GRES: two, Memory: 1001, Required: []int{3}}, busy: &Job{Tasks: 1, Memory: 1000, Required: []int{3}}},
		{job: Job{Nodes: 2, GRES: two, Required: []int{0}}},
		{job: Job{Nodes: 2, GRES: two, Memory: 1, Partitions: []int{1}}, busy: &Job{Tasks: 1, Memory: 1, Required: []int{3}}},
	} {
		r := newRuled(t, "GresTypes=gpu\nNodeName=n[1-2] CPUs=4 RealMemory=2000\nNodeName=n[3-4] CPUs=4 RealMemory=2000 Gres=gpu:2\nPartitionName=all Nodes=ALL\n"+
			"PartitionName=own Nodes=ALL OverSubscribe=EXCLUSIVE\nSelectTypeParameters=CR_Core_Memory\n", "")
		if wide.busy != nil {
			r.submit(0, wide.busy)
			r.until(10 * des.Second)
		}
		wide.job.Begin, wide.job.Held = des.Hour, true
		j := r.submit(10*des.Second, &wide.job)
		for n := range r.weights { // whatever looks for the busy job have left
			r.setWeight(n, weighs(1, 0))
		}
		s := r.newSearch(j.entries[0], j.entries[0].part.nodes, r.free.clone())
		require.Equal(t, wide.want, r.weights[2] != weighs(1, 0), "%+v", wide.job)
		if wide.busy != nil {
			s.release(wide.busy, wide.busy.cpusOn(s.among))
			require.Less(t, r.weights[2], weighs(1, 0), "where that is over all are considered")
			require.Less(t, r.weights[3], weighs(1, 0))
		}
	}
	r := newRuled(t, "GresTypes=gpu\nNodeName=n[1-2] CPUs=4\nNodeName=n[3-4] CPUs=4 Gres=gpu:2\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\n", "")
	r.submit(0, &Job{Tasks: 1, Required: []int{3}})
	r.until(10 * des.Second)
	wide := r.submit(10*des.Second, &Job{Nodes: 3, GRES: two, Held: true})
	r.newSearch(wide.entries[0], r.parts[0].nodes, r.free.clone()).release(r.started[0], 1)
	require.Equal(t, weighs(1, 0), r.weights[3], "a node counts once, before and after")
	require.ErrorIs(t, r.try(10*des.Second, &Job{Nodes: 3, GRES: two}), ErrConfiguration)
	require.Equal(t, weighs(1, 1), r.weights[3], "all are considered where the look is whether idle nodes would do")
}

// Limits on amounts are told before nodes are looked for where they are on what all nodes give alike, whichever limits they are, and where the look
// that was made last reckoned as many CPUs as the job asks for.
func TestWhichLimitsAreToldBeforeNodesAreLookedFor(t *testing.T) {
	own := func(r *ruled) *entry {
		return r.submit(0, &Job{Tasks: 2, Account: "a", User: "u", QOS: "q", Held: true}).entries[0]
	}
	for _, kind := range []string{"grptres", "grptresrunmins", "maxtresperjob", "maxtresperuser", "maxtresperaccount"} {
		for of, early := range map[string]bool{"cpu": true, "gres/gpu": true, "license/m": true, "node": false, "mem": false, "billing": false} {
			r := newRuled(t, counted, "add qos other\nadd qos q "+kind+"="+of+"=900\nadd account a\n"+users)
			e := own(r)
			e.job.reckoned = 2
			require.Equal(t, early, r.limitsTold(e, r.up), "%s=%s", kind, of)
		}
	}
	r := newRuled(t, kept, "add qos other\nadd qos q maxtrespernode=cpu=9\nadd account a\n"+users)
	perNode := own(r)
	perNode.job.reckoned = 2
	require.False(t, r.limitsTold(perNode, r.up), "CPUs of a node hang on nodes")
	r = newRuled(t, kept, "add qos other\nadd qos q grptres=cpu=900\nadd account a grptres=node=9\n"+users)
	e := own(r)
	e.job.reckoned = 2
	require.False(t, r.limitsTold(e, r.up), "its account limits nodes")
	r = newRuled(t, kept, "add qos other\nadd qos q grptres=cpu=900\nadd account a\n"+users)
	e = own(r)
	for _, reckoned := range []int{0, 1, 3} {
		e.job.reckoned = reckoned
		require.False(t, r.limitsTold(e, r.up), "it would get %d", reckoned)
	}
}

// A singleton waits for jobs of its name and its user: for all that run, and of those that wait for the earlier ones.
func TestSingletons(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	named := func(j Job) *Job { j.Tasks, j.Name, j.User = 1, "solo", "u"; return &j }
	earlier := r.submit(0, named(Job{Begin: des.Hour}))
	r.submit(0, &Job{Tasks: 1, Name: "solo", User: "v", Begin: des.Hour})
	single := r.submit(0, named(Job{After: []Dependency{{Kind: singleton}}}))
	later := r.submit(0, named(Job{}))
	r.submit(0, named(Job{Begin: des.Hour}))
	r.until(10 * des.Second)
	require.Equal(t, []*Job{later}, r.started)
	r.Cancel(10*des.Second, earlier)
	r.until(70 * des.Second)
	require.Equal(t, WaitsForDependency, single.Reason())
	r.End(70*des.Second, later)
	require.True(t, r.depends(single) == isMet, "it completes")
}

// A job whose reservation is all under maintenance waits for the end of that, and has nobody else get these nodes; one that must have
// another node is held in a pass, and refused as it comes.
func TestReservationsUnderMaintenance(t *testing.T) {
	r := newRuled(t, fourNodes+"SchedulerType=sched/builtin\n", "")
	own := func(required ...int) *Job {
		return &Job{Tasks: 1, User: "u", Reservation: "mine", Required: required, Limit: 10 * des.Minute}
	}
	require.NoError(t, r.Reserve(0, &Reservation{Name: "mine", Start: des.Minute, End: 2 * des.Hour, Nodes: []int{2}, Users: []string{"u"}}))
	require.NoError(t, r.Reserve(0, &Reservation{Name: "m", Start: des.Minute, End: des.Hour, Nodes: []int{2}, Maintenance: true}))
	waits, outside := r.submit(0, own()), r.submit(0, own(3))
	wide := r.submit(0, &Job{Nodes: 4, User: "u", Reservation: "mine"})
	r.until(130 * des.Second)
	require.Equal(t, WaitsForResources, wide.Reason(), "its partition has too few nodes but for these")
	require.Equal(t, NodesNotAvailable, waits.Reason())
	require.False(t, waits.Held)
	require.Equal(t, BadConstraints, outside.Reason())
	require.ErrorIs(t, r.try(130*des.Second, own(3)), ErrConfiguration)
	require.NoError(t, r.try(130*des.Second, own()))
	require.NoError(t, r.Drain(130*des.Second, []int{3}))
	require.ErrorIs(t, r.try(130*des.Second, own(3)), ErrConfiguration, "whether or not it is in service")
	require.ErrorIs(t, r.try(130*des.Second, &Job{Tasks: 1, Required: []int{3}, Partitions: []int{1}}), ErrConfiguration, "nor is it of the partition")
	require.NoError(t, r.try(130*des.Second, &Job{Tasks: 5, Nodes: 1, Required: []int{3}}), "nobody looks whether it would fit")
	r.until(des.Hour + des.Minute)
	require.Equal(t, running, waits.state)
}

// Limits on several kinds of amounts may come one by one; -1 clears one.
func TestAmountsAreLimitedOneByOne(t *testing.T) {
	a, _, err := ReadAccounts("f", strings.NewReader("add qos q grptres=node=2 grptres=cpu=5\nmodify qos q set grptres=node=3\nmodify qos q set grptres=cpu=-1,mem=7\n"))
	require.NoError(t, err)
	require.Equal(t, map[string]int{"node": 3, "mem": 7}, a.qos["q"].asked[grpTRES])
}

// A running job that is held goes on, and waits for its release should it have to start again.
func TestRunningJobsAreHeldForLater(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	j := r.submit(0, &Job{Tasks: 1, Required: []int{2}, Requeue: true})
	r.until(10 * des.Second)
	r.Hold(10*des.Second, j, true)
	require.Equal(t, running, j.state)
	require.NoError(t, r.Down(20*des.Second, []int{2}))
	require.NoError(t, r.Up(30*des.Second, []int{2}))
	r.until(400 * des.Second)
	require.Equal(t, pending, j.state)
	require.Equal(t, HeldByController, j.Reason())
	r.Hold(400*des.Second, j, false)
	r.until(410 * des.Second)
	require.Equal(t, running, j.state)
}

// A job with several faults is refused for the one that Slurm looks at first.
func TestTheFirstFaultCounts(t *testing.T) {
	r := newRuled(t, fourNodes+"PartitionName=short Nodes=n4 MaxTime=10\nEnforcePartLimits=ALL\n", "")
	j := func(limit des.Time) *Job {
		return &Job{Tasks: 1, Partitions: []int{2}, Limit: limit, After: []Dependency{{"afterok", 99}}, Reservation: "none"}
	}
	require.ErrorIs(t, r.try(0, j(des.Hour)), ErrTimeLimit)
	require.ErrorIs(t, r.try(0, j(des.Minute)), ErrDependency)
	last := j(des.Minute)
	last.After = nil
	require.ErrorIs(t, r.try(0, last), ErrReservation)
}

// A node that is in service cannot be put back into it; that it was tried is a change.
func TestNodesInServiceAreNotResumed(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	require.ErrorIs(t, r.Up(10*des.Second, []int{1}), ErrNodeState)
	require.Equal(t, 10*des.Second, r.backfill.changed)
	require.NoError(t, r.Drain(11*des.Second, []int{1}))
	require.NoError(t, r.Up(12*des.Second, []int{1}))
}

// A node that is ordered away before it has registered stays away, but for ReturnToService=2, with which a node that is down
// takes jobs as soon as it registers, as a recorded slurmctld has it.
func TestNodesAreOrderedAwayBeforeTheyRegister(t *testing.T) {
	for returns, away := range map[string][2]bool{"": {true, true}, "ReturnToService=1\n": {true, true}, "ReturnToService=2\n": {false, true}} {
		for i, order := range []func(r *ruled, now des.Time) error{
			func(r *ruled, now des.Time) error { return r.Down(now, []int{1}) },
			func(r *ruled, now des.Time) error { return r.Drain(now, []int{1}) },
		} {
			r := newRuled(t, fourNodes+returns, "")
			require.NoError(t, r.Down(10*des.Second, []int{1, 2}))
			require.NoError(t, r.Up(20*des.Second+des.Second/4, []int{1, 2}))
			require.NoError(t, order(r, 20*des.Second+des.Second/2))
			r.until(30 * des.Second)
			require.Equal(t, !away[i], r.up.has(1), "%q %d", returns, i)
			require.True(t, r.up.has(2), "%q %d", returns, i)
		}
	}
}

// A job that is refused for its dependency or its reservation is a change, and leaves no record.
func TestRefusedJobsAreChangesWithoutRecords(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	require.ErrorIs(t, r.try(5*des.Second, &Job{Tasks: 1, Reservation: "none"}), ErrReservation)
	require.Equal(t, 5*des.Second, r.backfill.changed)
	require.ErrorIs(t, r.try(7*des.Second, &Job{Tasks: 1, After: []Dependency{{"afterany", 9}}}), ErrDependency)
	require.Equal(t, 7*des.Second, r.backfill.changed)
	require.ErrorIs(t, r.try(9*des.Second, &Job{Tasks: 1, Features: []string{"none"}}), ErrFeature)
	require.Equal(t, 9*des.Second, r.backfill.changed)
	require.Empty(t, r.ended)
}

// A release of a job that runs uses up a number of priority/basic.
func TestReleasesUseUpPriorities(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	j := r.submit(0, &Job{Tasks: 1})
	r.until(10 * des.Second)
	was := r.basic
	r.Hold(10*des.Second, j, true)
	require.Equal(t, was, r.basic)
	r.Hold(11*des.Second, j, false)
	require.Equal(t, was-1, r.basic)
	r.Hold(12*des.Second, j, false)
	require.Equal(t, was-2, r.basic, "also where it was released already")
}

// A job that must have a node which is reserved for others by its end is planned from the end of the reservation on if it is to
// have the node to itself; to others the node is one of those that they cannot have, for which Slurm looks a second after the next
// multiple of bf_resolution.
func TestRequiredNodesThatAreReserved(t *testing.T) {
	for exclusive, later := range map[bool]int64{true: 0, false: 41} {
		r := newRuled(t, fourNodes+"SchedulerParameters=bf_interval=10\n", "")
		require.NoError(t, r.Reserve(0, &Reservation{Name: "r", Start: 50 * des.Minute, End: des.Hour, Nodes: []int{3}, Users: []string{"u"}}))
		j := r.submit(0, &Job{Tasks: 1, Required: []int{3}, Exclusive: exclusive})
		r.until(15 * des.Second)
		require.Equal(t, r.second(des.Hour)+later, j.estimate)
	}
}

// A job that must have a node which is reserved for others by its end is not refused, though it would not fit.
func TestJobsOfReservedNodesAreNotRefused(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	wide := func() *Job { return &Job{Nodes: 1, Tasks: 5, Required: []int{3}} }
	require.ErrorIs(t, r.try(0, wide()), ErrConfiguration)
	require.NoError(t, r.Reserve(0, &Reservation{Name: "r", Start: 50 * des.Minute, End: des.Hour, Nodes: []int{3}, Users: []string{"u"}}))
	require.NoError(t, r.try(0, wide()))
	short := wide()
	short.Limit = 10 * des.Minute
	require.ErrorIs(t, r.try(0, short), ErrConfiguration)
}

// A plan begins with the table at the earliest, and lasts for a resolution at least; what a job is to be planned on
// must be free up to and including the second in which its limit ends.
func TestPlansInTheTable(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	all := r.up
	table := newTable(nil, 610, 6000, 300, 9, all, nil, &r.plans, &r.spare)
	first := newNodeSet(4)
	first.add(0)
	table.plan(0, 700, need{nodes: first})
	require.Equal(t, int64(600), table.intervals[0].begin)
	require.Equal(t, int64(900), table.intervals[len(table.intervals)-1].begin, "for a resolution")
	require.True(t, table.clashes(600, 900, need{nodes: first}))
	require.False(t, table.clashes(900, 1200, need{nodes: first}))
	second := newNodeSet(4)
	second.add(1)
	table.plan(1200, 1800, need{nodes: second})
	free := func(end int64) []int {
		o := table.openingFrom(900, end, need{nodes: all})
		table.narrow(&o)
		return slices.Collect(o.nodes.all)
	}
	require.Equal(t, []int{0, 1, 2, 3}, free(1199))
	require.Equal(t, []int{0, 2, 3}, free(1200))
	require.Equal(t, int64(1800), table.openingFrom(1200, 1500, need{nodes: all}).later)
}

// Ends of limits are looked at in windows: the first one is of 30 s from the next multiple of 30 s after the first
// end, and each is twice as long as the last one. What ends within a window is waited for together.
func TestLooksTakeEndsTogether(t *testing.T) {
	r := newRuled(t, "NodeName=n1 CPUs=6\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\n", "")
	at := func(minutes des.Time) *Job { return r.submit(0, &Job{Tasks: 1, Limit: minutes * des.Minute}) }
	jobs := []*Job{at(60), at(61), at(62), at(63), at(70), at(72)}
	r.until(10 * des.Second)
	require.Len(t, r.started, 6)
	require.NotZero(t, r.limitSecond(jobs[0])%30, "so that the second end is beyond the first window")
	begins := func(cpus int) int64 {
		j := r.submit(10*des.Second, &Job{Tasks: cpus})
		second, nodes, _ := r.willRun(j.entries[0], r.parts[0].nodes, r.second(10*des.Second), false)
		require.NotNil(t, nodes)
		return second
	}
	require.Equal(t, r.limitSecond(jobs[0]), begins(1))
	require.Equal(t, r.limitSecond(jobs[1]), begins(2), "a window of 60 s has the second end")
	require.Equal(t, r.limitSecond(jobs[2]), begins(3), "one of 120 s the third")
	require.Equal(t, r.limitSecond(jobs[3]), begins(4), "one of 240 s the fourth")
	require.Equal(t, r.limitSecond(jobs[5]), begins(5), "one of 960 s both that are left")
}

// A window that has ended is doubled, or made longer by bf_window_linear, until it has the next end; all windows are counted from the base.
// An end in the last second of a window is within it.
func TestHowWindowsGrow(t *testing.T) {
	for parameters, x := range map[string]struct{ ends, begins []int64 }{ // seconds from the base, by number of CPUs
		"bf_resolution=60":    {ends: []int64{-27, 30, 31, 60, 61, 240, 241, 300}, begins: []int64{30, 30, 60, 60, 61, 240, 300, 300}},
		"bf_window_linear=20": {ends: []int64{-27, 30, 31, 50, 51, 240, 241, 251}, begins: []int64{30, 30, 50, 50, 51, 241, 241, 251}},
	} {
		r := newRuled(t, "NodeName=n1 CPUs=8\nPartitionName=all Nodes=ALL\nSchedulerParameters="+parameters+"\n", "")
		start := r.second(3 * des.Second)
		base := (start + 3600 + 27) / 30 * 30
		for _, end := range x.ends {
			r.submit(0, &Job{Tasks: 1, Limit: des.Time(base+end-start) * des.Second})
		}
		r.until(10 * des.Second)
		for i := range x.ends {
			require.Equal(t, base+x.ends[i], r.limitSecond(r.started[i]))
		}
		for i, want := range x.begins {
			j := r.submit(10*des.Second, &Job{Tasks: i + 1})
			begins, _, _ := r.willRun(j.entries[0], r.parts[0].nodes, r.second(10*des.Second), false)
			require.Equal(t, want, begins-base, "%s: %d CPUs", parameters, i+1)
		}
	}
}

// A pass looks at one job more than default_queue_depth says, unless it is a full one. A partition whose job does not
// fit is closed, and its nodes to other partitions.
func TestPassesStop(t *testing.T) {
	r := newRuled(t, fourNodes+"SchedulerType=sched/builtin\nSchedulerParameters=default_queue_depth=1\n", "")
	var jobs []*Job
	for range 4 {
		jobs = append(jobs, r.submit(10*des.Second, &Job{Tasks: 1}))
	}
	r.until(20 * des.Second)
	require.Len(t, r.started, 2)
	r.until(61 * des.Second)
	require.Len(t, r.started, 4)
	for _, j := range jobs {
		r.over(62*des.Second, j)
	}
	r.submit(100*des.Second, &Job{Nodes: 1, Tasks: 4, Required: []int{0}})
	r.until(110 * des.Second)
	blocked := r.submit(110*des.Second, &Job{Nodes: 2, Exclusive: true, Partitions: []int{1}})
	other := r.submit(110*des.Second, &Job{Nodes: 1, Required: []int{1}})
	free := r.submit(110*des.Second, &Job{Nodes: 1, Required: []int{2}})
	r.until(200 * des.Second)
	require.Equal(t, pending, blocked.state)
	require.Equal(t, pending, other.state, "its node is kept for a job of another partition")
	require.Equal(t, running, free.state)
}

// The main loop sleeps for a second between two looks whether a full pass is due, so that sched_interval=0 makes one in each second.
func TestFullPassesInEachSecond(t *testing.T) {
	for _, seconds := range []string{"0", "1"} {
		r := newRuled(t, fourNodes+"SchedulerType=sched/builtin\nSchedulerParameters=default_queue_depth=1,sched_interval="+seconds+"\n", "")
		for range 4 {
			r.submit(10*des.Second+des.Second/2, &Job{Tasks: 1})
		}
		r.until(11 * des.Second)
		require.Len(t, r.started, 4, "sched_interval=%s", seconds)
	}
}

// Jobs of a partition of a higher tier come first, whatever their priority; then priority decides, then submission.
func TestTheOrderOfTheQueue(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-2] CPUs=4\nPartitionName=low Nodes=ALL\nPartitionName=high Nodes=ALL PriorityTier=9\n", "")
	r.submit(0, &Job{Tasks: 1, Nice: 50})
	r.submit(0, &Job{Tasks: 1})
	r.submit(0, &Job{Tasks: 1, Nice: 100, Partitions: []int{1}})
	r.submit(0, &Job{Tasks: 1})
	var ids []int
	for _, e := range r.queue() {
		ids = append(ids, e.job.ID)
	}
	require.Equal(t, []int{3, 2, 4, 1}, ids)
}

// Usage halves, as Slurm reckons it: a second leaves 1 - 0.693/half-life of it.
func TestUsageDecays(t *testing.T) {
	r := newRuled(t, kept+"PriorityDecayHalfLife=1-0\n", "add qos q\nadd account a\nadd user u account=a qos=q\n")
	require.InDelta(t, 1-.693/86400, r.perSecond(), 1e-15)
}

// The look of a main pass is not that of bf_busy_nodes.
func TestBusyNodesArePlannedOnly(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-2] CPUs=4\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\nSchedulerParameters=bf_busy_nodes\n", "")
	r.submit(0, &Job{Tasks: 1, Required: []int{1}})
	r.until(10 * des.Second)
	j := r.submit(10*des.Second, &Job{Tasks: 4})
	r.until(20 * des.Second)
	require.Equal(t, []int{0}, on(j), "the tightest that suffices, not the first in use")
}

// With bf_licenses a job that waits for licences is planned, but not as long as there is any reservation.
func TestLicencesAndReservations(t *testing.T) {
	for reserves, want := range map[bool]bool{false: true, true: false} {
		r := newRuled(t, "Licenses=l:1\nNodeName=n[1-3] CPUs=4\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\nSchedulerParameters=bf_licenses\n", "")
		r.submit(0, &Job{Tasks: 1, Licenses: []Amount{{"l", 1}}})
		r.until(5 * des.Second)
		if reserves {
			require.NoError(t, r.Reserve(5*des.Second, &Reservation{Name: "r", Start: 10 * des.Hour, End: 11 * des.Hour, Nodes: []int{2}, Users: []string{"u"}}))
		}
		j := r.submit(6*des.Second, &Job{Tasks: 1, Licenses: []Amount{{"l", 1}}})
		r.until(40 * des.Second)
		require.Equal(t, pending, j.state)
		require.Equal(t, want, j.estimate > 0)
	}
}

// sched/builtin ignores bf_licenses: no backfill would look at the jobs behind a job that waits for licences.
func TestLicencesWithoutBackfill(t *testing.T) {
	for kind, want := range map[string]jobState{"backfill": pending, "builtin": running} {
		r := newRuled(t, fourNodes+"Licenses=l:1\nSchedulerType=sched/"+kind+"\nSchedulerParameters=bf_licenses\n", "")
		r.submit(0, &Job{Tasks: 1, Licenses: []Amount{{"l", 1}}})
		r.until(5 * des.Second)
		waits := r.submit(6*des.Second, &Job{Tasks: 1, Licenses: []Amount{{"l", 1}}})
		behind := r.submit(6*des.Second, &Job{Tasks: 1})
		r.until(15 * des.Second)
		require.Equal(t, pending, waits.state)
		require.Equal(t, want, behind.state, kind)
	}
}

// With CR_CPU cores come from the socket that fits best; else from all sockets in turn.
func TestCoresOfTheSocketThatFitsBest(t *testing.T) {
	for _, pick := range []struct {
		free [][]int
		cpus int
		want []int
	}{
		{[][]int{{0, 1, 2, 3}, {4, 5}}, 2, []int{4, 5}},                   // the fewest that suffice
		{[][]int{{1}, {4, 5, 6}, {8, 9, 10}}, 2, []int{4, 5}},             // of equals the first
		{[][]int{{0, 1}, {4, 5, 6}}, 4, []int{0, 4, 5, 6}},                // none suffices: the most
		{[][]int{{0, 1}, {4, 5}, {8}}, 3, []int{0, 1, 4}},                 // of equals the first
		{[][]int{{1, 2}, {4}, {8, 9, 10, 11}}, 5, []int{1, 8, 9, 10, 11}}, // then the most again, though the core of another would do
	} {
		require.Equal(t, pick.want, bestFit(pick.free, pick.cpus), "%v", pick)
	}
	for params, want := range map[string][]int{"CR_CPU": {0, 1}, "CR_CPU_Memory": {0, 1}, "CR_Core": {0, 4}, "CR_Core_Memory": {0, 4}} {
		r := newRuled(t, "NodeName=n1 Sockets=2 CoresPerSocket=4\nPartitionName=all Nodes=ALL\nSelectTypeParameters="+params+"\n", "")
		j := r.submit(0, &Job{Tasks: 2})
		r.until(5 * des.Second)
		require.Equal(t, want, j.Placed[0].Cores, params)
		require.Equal(t, strings.HasSuffix(params, "Memory"), r.conf.Select.Memory)
	}
}

// Maintenance may be made over a reservation, and a reservation over maintenance; two reservations may not overlap.
func TestMaintenanceOverlaps(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	at := func(name string, maintenance bool) error {
		return r.Reserve(0, &Reservation{Name: name, Start: des.Hour, End: 2 * des.Hour, Nodes: []int{1}, Maintenance: maintenance, Users: []string{"u"}})
	}
	require.NoError(t, at("m", true))
	require.NoError(t, at("a", false), "over maintenance")
	require.ErrorIs(t, at("b", false), ErrOverlap)
	require.NoError(t, at("n", true), "maintenance over all")
}

// The base of the windows is the next multiple of 30 s after the first end, not that end.
func TestWindowsBeginAtMultiples(t *testing.T) {
	r := newRuled(t, "NodeName=n1 CPUs=2\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\n", "")
	first := r.submit(4*des.Second, &Job{Tasks: 1})
	r.until(8 * des.Second)
	second := r.submit(37*des.Second, &Job{Tasks: 1})
	r.until(60 * des.Second)
	require.Equal(t, running, second.state)
	apart := r.limitSecond(second) - r.limitSecond(first)
	require.Greater(t, apart, int64(30))
	require.LessOrEqual(t, apart, 60-r.limitSecond(first)%30)
	j := r.submit(60*des.Second, &Job{Tasks: 1})
	begins, _, _ := r.willRun(j.entries[0], r.parts[0].nodes, r.second(60*des.Second), false)
	require.Equal(t, r.limitSecond(second), begins, "both ends are in the first window")
}

// A job that waited for a limit is held to it before others are looked at: it does not close its partition again.
func TestLimitsAreLookedAtFirst(t *testing.T) {
	r := newRuled(t, kept+"SchedulerParameters=assoc_limit_stop\nSchedulerType=sched/builtin\n", "add qos other\nadd qos q maxjobsperuser=1\nadd account a\n"+users)
	r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	r.until(5 * des.Second)
	limited := r.submit(5*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	next := r.submit(5*des.Second, &Job{Tasks: 1, Account: "a", User: "v", QOS: "other"})
	r.until(70 * des.Second)
	require.Equal(t, pending, limited.state)
	require.Equal(t, running, next.state)
}

// A job that is over by itself within OverTimeLimit has not failed, though it ran beyond its limit; one that nobody has
// ended yet after that has.
func TestJobsThatEndInOvertimeAreCompleted(t *testing.T) {
	for late, want := range map[des.Time]jobState{2 * des.Minute: running, 2*des.Minute + des.Second: pending} {
		r := newRuled(t, fourNodes+"OverTimeLimit=2\n", "")
		j := r.submit(0, &Job{Tasks: 1, Limit: 10 * des.Minute})
		r.until(10 * des.Second)
		after := r.submit(10*des.Second, &Job{Tasks: 1, After: []Dependency{{"afterok", j.ID}}})
		r.over(j.Start+j.Limit+late, j)
		require.Empty(t, r.stopped)
		r.until(20 * des.Minute)
		require.Equal(t, want, after.state)
	}
}

// A node in use that could never be the job's, for its CPUs or for its memory, is not what the job waits for: it closes
// no partition for it. One that has the memory for one CPU of the job counts, whatever the job asks of each node.
func TestNodesThatAreTooSmallCloseNoPartition(t *testing.T) {
	for _, wide := range []struct {
		job    Job
		closes bool
	}{
		{Job{Tasks: 1, CPUsPerTask: 3, MemoryPerCPU: 1}, false},
		{Job{Tasks: 1, Memory: 10}, false},
		{Job{Tasks: 1, CPUsPerTask: 2, MemoryPerCPU: 6}, true},
	} {
		r := newRuled(t, "NodeName=n1 CPUs=2 RealMemory=9\nNodeName=n2 CPUs=4 RealMemory=99\nNodeName=n3 CPUs=1 RealMemory=9\n"+
			"PartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core_Memory\nSchedulerType=sched/builtin\n", "")
		r.submit(0, &Job{Tasks: 1, MemoryPerCPU: 1, Exclusive: true, Required: []int{0}})
		r.submit(0, &Job{Tasks: 1, MemoryPerCPU: 1, Required: []int{1}})
		r.until(5 * des.Second)
		r.submit(5*des.Second, &Job{Tasks: 4, Nodes: 1, MemoryPerCPU: 1, Required: []int{1}})
		r.submit(5*des.Second, &wide.job)
		j := r.submit(5*des.Second, &Job{Tasks: 1, MemoryPerCPU: 1})
		r.until(20 * des.Second)
		require.Equal(t, pending, wide.job.state)
		require.Equal(t, wide.closes, j.state == pending, "%+v", wide.job)
	}
}

// Backfill looks at a job of a QoS with NoReserve as if it were over in a minute. One that is beyond a limit gets the
// limit of the job that backfill looked at before, for good.
func TestJobsWithoutPlansMayGetAnotherLimit(t *testing.T) {
	r := newRuled(t, kept+"PreemptType=preempt/qos\nPreemptMode=REQUEUE\nPriorityWeightQOS=1000\n",
		"add qos other priority=9\nadd qos q flags=NoReserve\nadd account a\nadd user u account=a qos=q,other maxwall=30\nadd user v account=a qos=q,other\n")
	r.submit(0, &Job{Nodes: 2, Exclusive: true, Account: "a", User: "v", QOS: "other", Limit: 50 * des.Minute})
	r.until(5 * des.Second)
	first := r.submit(5*des.Second, &Job{Nodes: 2, Account: "a", User: "v", QOS: "other", Limit: 20 * des.Minute})
	beyond := r.submit(5*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q", Limit: 90 * des.Minute})
	waits := r.submit(5*des.Second, &Job{Tasks: 1, Account: "a", User: "v", QOS: "q", Limit: 90 * des.Minute})
	require.Equal(t, Reason("AssocMaxWallDurationPerJobLimit"), beyond.Reason())
	r.until(40 * des.Second)
	require.Equal(t, []des.Time{20 * des.Minute, 20 * des.Minute, 90 * des.Minute}, []des.Time{first.Limit, beyond.Limit, waits.Limit})
}

// Priorities that are computed anew are a change to backfill, but for those of jobs that are held.
func TestPrioritiesOfHeldJobsAreNoChange(t *testing.T) {
	for _, held := range []bool{true, false} {
		r := newRuled(t, kept, "add qos other\nadd qos q\nadd account a\n"+users)
		r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q", Held: held, Begin: des.Hour})
		r.until(des.Second)
		r.computePriorities(10 * des.Second)
		require.Equal(t, held, r.backfill.changed < 10*des.Second)
	}
}

// A job that must have nodes which are not in one of its partitions is not tried there: why it waits elsewhere stays,
// and nothing changes.
func TestRequiredNodesOutsideThePartition(t *testing.T) {
	r := newRuled(t, fourNodes+"PartitionName=rest Nodes=n[3-4]\nSchedulerType=sched/builtin\nSchedulerParameters=sched_interval=1000\n", "")
	r.submit(0, &Job{Tasks: 4, Required: []int{0}})
	r.until(5 * des.Second)
	j := r.submit(5*des.Second, &Job{Tasks: 1, Required: []int{0}, Partitions: []int{2, 0}})
	r.until(des.Minute)
	require.Equal(t, NodesNotAvailable, j.Reason(), "the look in the first partition has kept the node for the job itself")
	changed := r.backfill.changed
	r.until(2 * des.Minute)
	require.Equal(t, NodesNotAvailable, j.Reason())
	require.Equal(t, changed, r.backfill.changed, "the second full pass changed nothing")
}

// A job that no node of its partitions is listed for waits for its constraints; with one partition it is held.
func TestJobsThatNoNodeIsListedFor(t *testing.T) {
	for _, partitions := range [][]int{{0}, {0, 1}} {
		r := newRuled(t, fourNodes, "")
		j := r.submit(0, &Job{Tasks: 1, CPUsPerTask: 5, Partitions: partitions, Held: true})
		r.Hold(0, j, false)
		r.until(10 * des.Second)
		require.Equal(t, BadConstraints, j.Reason())
		require.Equal(t, len(partitions) == 1, j.Held)
	}
}

// A job that no nodes suit is held each time that it is tried: an order releases it, and no pass tries it after that.
func TestJobsThatNoNodesSuitAreHeldEachTime(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	j := r.submit(0, &Job{Tasks: 1, CPUsPerTask: 5, Held: true})
	r.Hold(0, j, false)
	for at := 10 * des.Second; at < 5*des.Minute; at += des.Minute {
		r.until(at)
		require.True(t, j.Held)
		r.Renice(at, j, int(at/des.Second))
		require.False(t, j.Held)
	}
	r.until(6 * des.Minute)
	require.Equal(t, BadConstraints, j.Reason())
	runs := r.backfill.runs
	r.until(des.Hour)
	require.Equal(t, runs, r.backfill.runs, "nothing changes")
}

// A job that comes leaves the weights of nodes as they are that are not listed for it.
func TestNodesThatAreNotListedKeepTheirWeights(t *testing.T) {
	r := newRuled(t, "GresTypes=gpu\nNodeName=n1 CPUs=4\nNodeName=n2 CPUs=2 Gres=gpu:2\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core\n", "")
	r.submit(0, &Job{Tasks: 1, Nodes: 1, GRES: []Amount{{"gpu", 2}}, Begin: des.Hour})
	r.submit(0, &Job{Tasks: 1, CPUsPerTask: 3, Begin: des.Hour})
	require.Equal(t, weighs(1, 2), r.weights[1])
	r.submit(0, &Job{Tasks: 1, Begin: des.Hour})
	require.Equal(t, weighs(1, 0), r.weights[1])
}

// A job grows older from when it could start, also where the pass that saw this first could not start it.
func TestJobsGrowOlderFromTheirFirstPass(t *testing.T) {
	r := newRuled(t, kept+"PriorityWeightAge=1000\nSchedulerType=sched/builtin\n", "add qos other\nadd qos q\nadd account a\n"+users)
	of := func(j Job) *Job { j.Account, j.User, j.QOS = "a", "u", "q"; return &j }
	first := r.submit(0, of(Job{Tasks: 1}))
	r.submit(0, of(Job{Nodes: 2, Tasks: 6}))
	r.until(5 * des.Second)
	after := r.submit(5*des.Second, of(Job{Nodes: 2, Exclusive: true, After: []Dependency{{"afterany", first.ID}}}))
	r.until(20 * des.Second)
	r.End(20*des.Second, first)
	r.vacate(20*des.Second, first)
	r.main.stir(&r.conf.Schedule, 20*des.Second)
	r.until(21 * des.Second)
	require.Equal(t, pending, after.state)
	require.NotZero(t, after.accrued)
}

// A release of a job that is not held takes its nice value away, and gives it another priority of priority/basic.
func TestReleasesForgetNiceValues(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	j := r.submit(0, &Job{Tasks: 1, Nice: 50, Begin: des.Hour})
	require.Equal(t, uint32(basicPriority-1-50), j.Priority)
	r.Hold(10*des.Second, j, false)
	require.Equal(t, uint32(basicPriority-2), j.Priority)
}

// With priority/basic another nice value changes the priority of a held job, which is held no longer then.
func TestNiceValuesReleaseHeldJobs(t *testing.T) {
	for _, nice := range []struct {
		was, is int
		want    uint32
	}{{10, 5, 5}, {0, -7, 7}, {0, 200, 2}} {
		r := newRuled(t, fourNodes, "")
		j := r.submit(0, &Job{Tasks: 1, Held: true, Nice: nice.was})
		r.Renice(10*des.Second, j, nice.was)
		require.True(t, j.Held, "it is the same value")
		r.Renice(10*des.Second, j, nice.is)
		r.until(2 * des.Minute)
		require.Equal(t, running, j.state)
		require.Equal(t, nice.want, j.Priority)
	}
	r := newRuled(t, kept, "add qos other\nadd qos q\nadd account a\n"+users)
	j := r.submit(0, &Job{Tasks: 1, Held: true, Account: "a", User: "u", QOS: "q"})
	r.Renice(10*des.Second, j, 9)
	require.True(t, j.Held, "not so with priority/multifactor")
}

// Any other order for a job that is held for its constraints releases it, until a pass looks at it; an order to hold a
// job that its user holds makes the hold the controller's.
func TestOrdersForHeldJobs(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	j := r.submit(0, &Job{Tasks: 1, CPUsPerTask: 5, Held: true})
	require.Equal(t, JobHeld, j.Reason())
	r.Hold(0, j, true)
	require.Equal(t, HeldByController, j.Reason())
	r.Hold(0, j, false)
	r.until(10 * des.Second)
	require.Equal(t, BadConstraints, j.Reason())
	basic := r.basic
	r.Relimit(10*des.Second, j, des.Minute)
	require.Equal(t, NoReason, j.Reason())
	require.Equal(t, basic-1, r.basic)
	r.until(20 * des.Second)
	require.Equal(t, BadConstraints, j.Reason())
	r.Renice(20*des.Second, j, 5)
	require.False(t, j.Held)
	require.Equal(t, basic-2-5, j.Priority)
}

// A job that wants more nodes than a limit lets it have is not refused for the nodes that it lacks; nor is one that
// waits for the end of maintenance, but for the feature that no node has.
func TestJobsThatWaitAsTheyCome(t *testing.T) {
	r := newRuled(t, kept+"NodeName=n[3-4] CPUs=2\n", "add qos other\nadd qos q grptres=node=1\nadd account a\n"+users)
	limited := r.submit(0, &Job{Nodes: 2, Account: "a", User: "u", QOS: "q"})
	require.Equal(t, Reason("QOSGrpNodeLimit"), limited.Reason())
	require.ErrorIs(t, r.try(0, &Job{Nodes: 2, CPUsPerTask: 5, Account: "a", User: "u", QOS: "q"}), ErrConfiguration, "no node is listed")
	r = newRuled(t, "NodeName=n[1-2] CPUs=4 Feature=fast\nNodeName=n[3-4] CPUs=4\nPartitionName=all Nodes=ALL\nPartitionName=rest Nodes=n[3-4]\n", "")
	require.ErrorIs(t, r.try(0, &Job{Tasks: 1, Features: []string{"slow"}, Held: true}), ErrFeature)
	require.ErrorIs(t, r.try(0, &Job{Tasks: 1, Features: []string{"fast"}, Partitions: []int{1}}), ErrConfiguration)
	require.NoError(t, r.Reserve(0, &Reservation{Name: "m", Start: 30 * des.Minute, End: des.Hour, Nodes: []int{2, 3}, Maintenance: true}))
	require.Equal(t, WaitsForReservation, r.submit(0, &Job{Tasks: 1, Partitions: []int{1}}).Reason())
	require.Equal(t, NoReason, r.submit(0, &Job{Tasks: 1, Partitions: []int{0}}).Reason())
	require.Equal(t, BadConstraints, r.submit(0, &Job{Tasks: 1, Features: []string{"fast"}, Partitions: []int{1, 0}}).Reason(), "of the first partition")
	require.NoError(t, r.Drain(0, []int{0}))
	require.Equal(t, NodesNotAvailable, r.submit(0, &Job{Nodes: 4, Limit: des.Minute, Partitions: []int{0}}).Reason())
	require.Equal(t, NoReason, r.submit(0, &Job{Nodes: 3, Limit: des.Minute, Partitions: []int{0}}).Reason())
	r = newRuled(t, "NodeName=n[1-4] CPUs=4\nNodeName=n5 CPUs=8\nPartitionName=small Nodes=n[1-4]\nPartitionName=big Nodes=n5\nSelectTypeParameters=CR_Core\n", "")
	require.Equal(t, WaitsForResources, r.submit(0, &Job{Nodes: 1, Tasks: 6, Partitions: []int{0, 1}}).Reason(), "no node of the first partition suits")
	require.Equal(t, NoReason, r.submit(0, &Job{Nodes: 1, Tasks: 6, Partitions: []int{1, 0}}).Reason())
	require.Equal(t, NoReason, r.submit(0, &Job{Tasks: 1, Required: []int{4}, Partitions: []int{0, 1}}).Reason(), "the first partition lacks the node that it must have")
	alone := r.submit(0, &Job{Exclusive: true, Required: []int{1}})
	r.until(10 * des.Second)
	require.Equal(t, running, alone.state)
	require.Equal(t, WaitsForResources, r.submit(10*des.Second, &Job{Nodes: 4}).Reason(), "a job has one of the nodes to itself")
	require.NoError(t, r.Drain(10*des.Second, []int{0}))
	require.Equal(t, NodesNotAvailable, r.submit(10*des.Second, &Job{Nodes: 2, Required: []int{0, 1}}).Reason(), "one of the nodes that it must have is drained")
}

// When maintenance is over, jobs that it kept from their nodes wait for no reason, until a pass looks at them.
func TestEndsOfMaintenance(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-4] CPUs=4\nPartitionName=kept Nodes=n[1-2]\nPartitionName=rest Nodes=n[3-4]\nSchedulerType=sched/builtin\nSchedulerParameters=sched_interval=1000\n", "")
	require.NoError(t, r.Reserve(0, &Reservation{Name: "m", Start: des.Minute, End: des.Hour, Nodes: []int{0, 1}, Maintenance: true}))
	require.NoError(t, r.Reserve(0, &Reservation{Name: "other", Start: des.Minute, End: des.Hour - 100*des.Second, Nodes: []int{3}, Users: []string{"u"}}))
	require.NoError(t, r.Drain(0, []int{2}))
	maintained, drained := r.submit(0, &Job{Nodes: 2}), r.submit(0, &Job{Tasks: 4, Required: []int{2}, Partitions: []int{1}})
	r.until(des.Hour + 29*des.Second)
	require.Equal(t, []Reason{NodesNotAvailable, NodesNotAvailable}, []Reason{maintained.Reason(), drained.Reason()})
	r.until(des.Hour + 30*des.Second)
	require.Equal(t, []Reason{NoReason, NodesNotAvailable}, []Reason{maintained.Reason(), drained.Reason()})
}

// newHasty returns a controller at eleven minutes, and a job of three CPUs in it that backfill has started as if it were over in a
// minute, for its QoS q has NoReserve. options are further options of q.
func newHasty(t *testing.T, options string) (*ruled, *Job) {
	r := newRuled(t, kept+"PriorityCalcPeriod=5\nPreemptType=preempt/qos\nPreemptMode=REQUEUE\n", "add qos other\nadd qos q flags=NoReserve grptresrunmins=cpu=999 "+options+"\nadd account a\n"+users)
	of := func(qos string, j Job) *Job { j.Account, j.User, j.QOS = "a", "u", qos; return &j }
	r.submit(0, of("other", Job{Nodes: 1, Exclusive: true, Required: []int{0}}))
	r.until(5 * des.Second)
	r.submit(5*des.Second, of("other", Job{Nodes: 2, Exclusive: true}))
	j := r.submit(5*des.Second, of("q", Job{Tasks: 3}))
	r.until(11 * des.Minute)
	require.True(t, j.ByBackfill)
	return r, j
}

// What backfill starts as if it were over in a minute (NoReserve) counts for its whole limit but for that minute among
// what its QoS may still use, as long as it runs; and what it used beyond that minute goes on to count for ever.
func TestHastyJobsAreCountedForEver(t *testing.T) {
	r, j := newHasty(t, "")
	require.InDelta(t, 59*60, r.unused(j), 1e-9, "though it has run for ten minutes")
	r.over(11*des.Minute, j)
	ran := float64(10*des.Minute-j.Start) / float64(des.Second)
	require.InDelta(t, 3*(ran-60), r.accounts.qos["q"].lost[tresCPU], 1e-9)
	require.InDelta(t, ran-60, j.assoc.lost[tresNode], 1e-9)
	limit := 999 - int(3*(ran-60)/60)
	at := func(cpus int) bool {
		q := r.accounts.qos["q"]
		return r.beyond(amountLimit{grpTRESRunMins, q.ceilings[grpTRESRunMins][0], &q.group, &q.crowd}, &Job{Limit: des.Minute}, r.amounts(map[int]int{tresCPU: cpus}))
	}
	require.False(t, at(limit))
	require.True(t, at(limit+1))
	again := r.submit(11*des.Minute, &Job{Tasks: 1, hasty: true, Account: "a", User: "u", QOS: "q"})
	r.start(11*des.Minute, again.entries[0], []Placement{{Node: 1, CPUs: 1}})
	require.False(t, again.hasty, "it is a pass that starts it now")
}

// The seconds by which the limit of a running job changes count as they are among what its QoS may still use, though its
// use counts by the UsageFactor: those that backfill adds to a job of a QoS with NoReserve when it has started it as if it were
// over in a minute, and those of orders. What is not used of them counts for ever.
func TestLimitsThatChangeCountWithoutUsageFactor(t *testing.T) {
	r, j := newHasty(t, "usagefactor=0.5")
	require.InDelta(t, 59*60*.5+59*60*.5, r.unused(j), 1e-9)
	r.over(11*des.Minute, j)
	ran := float64(10*des.Minute-j.Start) / float64(des.Second)
	require.InDelta(t, 3*((ran-60)*.5+59*60*.5), r.accounts.qos["q"].lost[tresCPU], 1e-9)

	r = newRuled(t, kept, "add qos other\nadd qos q usagefactor=0.5\nadd account a\n"+users)
	j = r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	r.until(10 * des.Second)
	require.InDelta(t, 1800, r.unused(j), 1e-9)
	r.Relimit(10*des.Second, j, 2*des.Hour)
	require.InDelta(t, 1800+3600, r.unused(j), 1e-9)
	r.over(20*des.Second, j)
	require.InDelta(t, 1800, r.accounts.qos["q"].lost[tresCPU], 1e-9)
}

// With memory a CPU a node offers whole tasks only, also a job that gets the node to itself: of two nodes that would offer as
// much the first is taken, though it has more CPUs.
func TestWholeNodesOfferWholeTasks(t *testing.T) {
	r := newRuled(t, "NodeName=n1 CPUs=6 RealMemory=6000\nNodeName=n2 CPUs=4 RealMemory=8000\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=500\n", "")
	j := r.submit(0, &Job{Tasks: 1, CPUsPerTask: 4, Exclusive: true})
	r.until(10 * des.Second)
	require.Equal(t, []int{0}, on(j))
	require.Equal(t, 6, j.Placed[0].CPUs)
}

// Slurm does not take a limit on what an account has in a QoS for a limit: a job that waits for it is looked at anew in
// each pass, and with assoc_limit_stop closes its partition each time.
func TestLimitsOfAccountsAreNotKnown(t *testing.T) {
	r := newRuled(t, kept+"SchedulerParameters=assoc_limit_stop\nSchedulerType=sched/builtin\n", "add qos other\nadd qos q maxjobsperaccount=1\nadd account a\n"+users)
	r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	r.until(5 * des.Second)
	r.submit(5*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	next := r.submit(5*des.Second, &Job{Tasks: 1, Account: "a", User: "v", QOS: "other"})
	r.until(70 * des.Second)
	require.Equal(t, pending, next.state)
	for reason, known := range map[Reason]bool{
		"QOSGrpMemLimit": true, "QOSMinCpuNotSatisfied": true, "QOSGrpCPURunMinutesLimit": true, "AssocMaxJobsLimit": true, "AssocGrpNodeLimit": true, "QOSMaxCpuPerUserLimit": true,
		"QOSMaxMemoryPerUser": false, "AssocGrpMemRunMinutes": false, "QOSGrpNodeRunMinutes": false, "QOSGrpGRES": false, "AssocGrpLicense": false, "AssocGrpBilling": false,
		"MaxCpuPerAccount": false, WaitsForLicenses: false, PartitionNodeLimit: false,
	} {
		require.Equal(t, known, reason.ofLimit(), reason)
	}
}

// Nodes that a job must have, and that are outside one of its partitions, have EnforcePartLimits refuse it, before MaxNodes
// and MaxTime; one that uses up no number.
func TestRequiredNodesOutsideAPartitionAreRefused(t *testing.T) {
	conf := "NodeName=n[1-4] CPUs=4\nPartitionName=all Nodes=ALL\nPartitionName=some Nodes=n[1-2] MaxTime=10 MaxNodes=1\nEnforcePartLimits="
	outside := func() *Job { return &Job{Nodes: 2, Required: []int{3}, Partitions: []int{0, 1}} }
	r := newRuled(t, conf+"ALL\n", "")
	require.ErrorIs(t, r.try(0, outside()), ErrOutside)
	require.ErrorIs(t, r.try(0, &Job{Nodes: 3, Required: []int{3}, Partitions: []int{1}}), ErrNodeCount, "more than it has come before")
	r = newRuled(t, conf+"ANY\nPartitionName=first Nodes=ALL MaxTime=20 PriorityTier=2\n", "")
	require.NoError(t, r.try(0, outside()))
	require.ErrorIs(t, r.try(0, &Job{Nodes: 2, Partitions: []int{1, 2}}), ErrTimeLimit, "that of the partition named last")
	require.ErrorIs(t, r.try(0, &Job{Nodes: 2, Partitions: []int{2, 1}}), ErrNodeCount, "whatever the tiers")
	require.NoError(t, newRuled(t, conf+"NO\n", "").try(0, outside()))
}

// A job of several partitions into none of which it fits is refused for what is found in the last of them: nodes that it
// must have come before MaxNodes.
func TestRequiredNodesComeBeforeMaxNodes(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-4] CPUs=4\nNodeName=n5 CPUs=1\nPartitionName=all Nodes=ALL\nPartitionName=some Nodes=n[1-2] MaxNodes=1\n", "")
	job := func(required ...int) *Job {
		return &Job{Nodes: 2, CPUsPerTask: 3, Required: required, Partitions: []int{0, 1}}
	}
	require.ErrorIs(t, r.try(0, job(0, 4)), ErrConfiguration)
	require.NoError(t, r.try(0, job(0, 1)))
}

// With EnforcePartLimits=ALL a partition whose nodes are only busy does not save a job that the last one has no nodes for.
func TestBusyPartitionsDoNotSaveJobs(t *testing.T) {
	conf := "NodeName=n[1-4] CPUs=4\nPartitionName=all Nodes=ALL\nPartitionName=some Nodes=n[1-3] MaxNodes=1\nSelectTypeParameters=CR_Core\nEnforcePartLimits="
	for enforce, want := range map[string]error{"ALL": ErrConfiguration, "NO": nil} {
		r := newRuled(t, conf+enforce+"\n", "")
		wide := func() *Job { return &Job{Tasks: 12, Exclusive: true, Partitions: []int{0, 1}} }
		require.NoError(t, r.try(0, wide()), "nodes are idle")
		r.submit(0, &Job{Nodes: 4})
		r.until(10 * des.Second)
		require.Equal(t, want, r.try(10*des.Second, wide()), enforce)
	}
}

// With EnforcePartLimits=ALL nor does a partition save it whose nodes maintenance has all of, nor where jobs preempt others one whose
// nodes are jobs' alone that it may not preempt.
func TestPartitionsThatDoNotSaveJobs(t *testing.T) {
	conf := "NodeName=n1 CPUs=4\nNodeName=n[2-4] CPUs=4 Feature=f\nPartitionName=all Nodes=ALL\nPartitionName=some Nodes=n[1-3]\nPartitionName=high Nodes=ALL PriorityTier=2\n" +
		"SelectTypeParameters=CR_Core\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nEnforcePartLimits="
	for enforce, want := range map[string]error{"ALL": ErrConfiguration, "NO": nil} {
		wide := func(partition int) *Job {
			return &Job{Nodes: 3, Features: []string{"f"}, Partitions: []int{partition, 1}, Limit: 10 * des.Minute}
		}
		r := newRuled(t, conf+enforce+"\n", "")
		require.NoError(t, r.Reserve(0, &Reservation{Name: "m", Start: 5 * des.Minute, End: des.Hour, Nodes: []int{0, 1, 2, 3}, Maintenance: true}))
		require.Equal(t, want, r.try(0, wide(0)), enforce)
		r = newRuled(t, conf+enforce+"\n", "")
		r.submit(0, &Job{Nodes: 2, Exclusive: true, Required: []int{2, 3}})
		r.until(10 * des.Second)
		require.Equal(t, want, r.try(10*des.Second, wide(0)), enforce)
		require.NoError(t, r.try(10*des.Second, wide(2)), "it preempts")
	}
}

// Partitions that preempt others take jobs of the lowest tier first, and of those the ones on the fewest nodes, whatever their
// QoSs; these give no grace.
func TestPartitionsPreemptByTier(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-4] CPUs=4\nPartitionName=low Nodes=ALL\nPartitionName=mid Nodes=ALL PriorityTier=2\nPartitionName=high Nodes=ALL PriorityTier=3\n"+
		"SelectTypeParameters=CR_Core\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nAccountingStorageType=accounting_storage/slurmdbd\n"+
		"AccountingStorageEnforce=associations,qos\n", "add qos poor gracetime=60\nadd qos rich priority=9\nadd account a\nadd user u account=a qos=poor,rich\n")
	job := func(qos string, nodes, partition int) *Job {
		return &Job{Nodes: nodes, Tasks: 4 * nodes, Partitions: []int{partition}, User: "u", Account: "a", QOS: qos}
	}
	wide, poor, rich := r.submit(0, job("poor", 2, 0)), r.submit(0, job("poor", 1, 1)), r.submit(0, job("rich", 1, 0))
	r.until(60 * des.Second)
	require.Len(t, r.started, 3)
	r.submit(60*des.Second, job("rich", 1, 2))
	r.until(80 * des.Second)
	require.Len(t, r.stopped, 1)
	require.Equal(t, rich.ID, r.stopped[0].ID, "of the lower tier, on one node")
	require.Equal(t, running, wide.state)
	require.Equal(t, running, poor.state)
}

// What is left of nodes and of CPUs is added up, not taken from 1: the last bit decides where terms add up to a whole number.
func TestSizesAreRoundedAsSlurmDoes(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-6] CPUs=7\nPartitionName=all Nodes=ALL\nPriorityType=priority/multifactor\nPriorityWeightJobSize=500\nPriorityFavorSmall=YES\n", "")
	j := r.submit(0, &Job{Tasks: 2})
	nodes, cpus := 5.0/6, 40.0/42
	require.Equal(t, (nodes+cpus)/2, r.sizeFactor(j), "to the last bit")
	rank := 1.0
	require.Less(t, 10000*(rank/7)+500*r.sizeFactor(j), 1875.0)
}

// A job of several partitions shows its priority in the one that it names first. When priorities are computed it shows that in
// the first one that it would fit into, though it is beyond the limit on time there; with EnforcePartLimits=ANY in the next one,
// and with ALL in the last one.
func TestWhichPriorityIsShownOfJobsThatWait(t *testing.T) {
	conf := "NodeName=n[1-4] CPUs=4\nPartitionName=short Nodes=ALL MaxTime=10\nPartitionName=long Nodes=ALL PriorityJobFactor=2\nPartitionName=last Nodes=ALL PriorityJobFactor=4\n" +
		"PriorityType=priority/multifactor\nPriorityWeightPartition=4000\nPriorityCalcPeriod=1\n"
	for enforce, want := range map[string]uint32{"NO": 1000, "ANY": 2000, "ALL": 4000} {
		r := newRuled(t, strings.Replace(conf, "MaxTime=10", "MaxTime="+map[string]string{"NO": "10", "ANY": "10", "ALL": "100"}[enforce], 1)+
			"AccountingStorageType=accounting_storage/slurmdbd\nEnforcePartLimits="+enforce+"\n", "")
		r.submit(0, &Job{Partitions: []int{1}})
		waits := r.submit(0, &Job{Partitions: []int{0, 1, 2}, After: []Dependency{{"afterany", 1}}})
		other := r.submit(0, &Job{Partitions: []int{2, 0, 1}, After: []Dependency{{"afterany", 1}}})
		require.Equal(t, []uint32{1000, 4000}, []uint32{waits.Priority, other.Priority}, enforce)
		r.Controller.tick(des.Minute)
		require.Equal(t, want, waits.Priority, enforce)
	}
	r := newRuled(t, conf, "")
	held := r.submit(0, &Job{Nodes: 9, Held: true, Partitions: []int{1, 2}})
	require.Equal(t, "long", held.part.Name, "nobody looks for nodes")
}

// A new nice value of a job that runs holds when it waits again.
func TestNiceValuesOfRunningJobsAreKept(t *testing.T) {
	r := newRuled(t, fourNodes+"PriorityType=priority/multifactor\nPriorityWeightJobSize=4000\n", "")
	j := r.submit(0, &Job{Nodes: 1, Requeue: true, Nice: 5})
	r.until(10 * des.Second)
	before := j.Priority
	r.Renice(10*des.Second, j, 105)
	require.Equal(t, before-100, j.Priority)
	require.NoError(t, r.Down(20*des.Second, on(j)))
	r.until(20 * des.Second)
	require.Equal(t, pending, j.state)
	require.Equal(t, 105, j.Nice)
	require.Equal(t, before-100, j.Priority)
}

// A job that backfill starts in one of its partitions ends by its own limit. In the next partition it is given that of the job
// before, where that one is of a QoS with NoReserve, and has it when it starts again.
func TestStartedJobsMayGetAnotherLimit(t *testing.T) {
	for flags, want := range map[string]des.Time{"flags=NoReserve": 20 * des.Minute, "": 30 * des.Minute} {
		r := newRuled(t, "NodeName=n[1-3] CPUs=4\nPartitionName=first Nodes=n1 PriorityTier=2\nPartitionName=second Nodes=n[2-3]\nSelectTypeParameters=CR_Core\n"+
			"PriorityType=priority/multifactor\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,qos\n"+
			"PreemptType=preempt/qos\nPreemptMode=REQUEUE\n", "add qos q "+flags+"\nadd qos other\nadd account a\nadd user u account=a qos=q,other\n")
		job := func(qos string, tasks int, limit des.Time, partitions ...int) *Job {
			return r.submit(0, &Job{Tasks: tasks, Account: "a", User: "u", QOS: qos, Limit: limit, Partitions: partitions, Requeue: true})
		}
		job("other", 8, 50*des.Minute, 1)
		job("other", 3, 50*des.Minute, 0)
		r.until(5 * des.Second)
		require.Len(t, r.started, 2)
		ahead := job("other", 4, 50*des.Minute, 0)
		job("q", 4, 20*des.Minute, 1)
		both := job("other", 1, 30*des.Minute, 0, 1)
		r.until(40 * des.Second)
		require.True(t, both.ByBackfill)
		require.Equal(t, want, both.Limit)
		require.Equal(t, r.second(both.Start)+30*60, r.limitSecond(both))
		r.Cancel(40*des.Second, ahead)
		require.NoError(t, r.Down(40*des.Second, []int{0}))
		require.NoError(t, r.Up(40*des.Second, []int{0}))
		r.until(10 * des.Minute)
		require.Equal(t, running, both.state)
		require.Equal(t, r.second(both.Start)+int64(want/des.Second), r.limitSecond(both))
	}
}

// A job that has run beyond its limit is expected to be over KillWait and OverTimeLimit after it, else in the next second. If nothing
// ends it, it is expected to go on for its limit.
func TestEndsOfJobsBeyondTheirLimits(t *testing.T) {
	for over, want := range map[string]map[int64]int64{
		"0":                   {-1: 0, 0: 30, 29: 30, 30: 31, 99: 100},
		"0\nKillWait=5":       {-1: 0, 0: 5, 4: 5, 5: 6},
		"0\nKillWait=0":       {-1: 0, 0: 1, 4: 5},
		"2":                   {-1: 0, 0: 150, 149: 150, 150: 151},
		"2\nKillWait=60":      {-1: 0, 0: 180, 179: 180, 180: 181},
		"0\nMessageTimeout=5": {-1: 0, 0: 30},
		"UNLIMITED":           {-1: 0, 0: 600, 150: 750},
	} {
		r := newRuled(t, kept+"OverTimeLimit="+over+"\n", "add account a\nadd user u account=a\n")
		first := r.submit(0, &Job{Nodes: 2, Exclusive: true, Account: "a", User: "u", Limit: 10 * des.Minute})
		r.until(5 * des.Second)
		next := r.submit(5*des.Second, &Job{Nodes: 2, Account: "a", User: "u"})
		limit := r.limitSecond(first)
		for after, begins := range want {
			second, _, _ := r.willRun(next.entries[0], r.up, limit+after, false)
			require.Equal(t, begins, second-limit, "OverTimeLimit=%s, %d s after the limit", over, after)
		}
	}
}

// A job that made others end makes no more of them end for KillWait and MessageTimeout.
func TestHowLongAPreemptionLasts(t *testing.T) {
	for keys, lasts := range map[string]des.Time{"": 40, "KillWait=5\n": 15, "MessageTimeout=60\n": 90, "KillWait=0\n": 10} {
		r := newRuled(t, fourNodes+keys, "")
		var victims []*Job
		for range 3 {
			victims = append(victims, r.submit(0, &Job{Tasks: 1}))
		}
		r.until(10 * des.Second)
		j := r.submit(10*des.Second, &Job{Tasks: 1, Held: true})
		for i, now := range []des.Time{10, 10 + lasts - 1, 10 + lasts} {
			r.evictAll(now*des.Second, j, victims[i:i+1])
		}
		require.Equal(t, []*Job{victims[0], victims[2]}, r.stopped, keys)
	}
	_, _, err := ReadConfig("slurm.conf", strings.NewReader(fourNodes+"KillWait=soon\n"))
	require.EqualError(t, err, `slurm.conf:6: KillWait: "soon": want a whole number of 0 or more`)
}

// Backfill looks anew at each run for the guessed end of a job that nothing ends.
func TestGuessesMoveWithTheTime(t *testing.T) {
	r := newRuled(t, fourNodes+"OverTimeLimit=UNLIMITED\nSchedulerParameters=bf_interval=30\n", "")
	r.submit(0, &Job{Nodes: 4, Exclusive: true, Limit: 10 * des.Minute})
	r.until(5 * des.Second)
	next := r.submit(5*des.Second, &Job{Nodes: 4})
	for _, now := range []des.Time{20 * des.Minute, 30 * des.Minute} {
		r.until(now)
		r.submit(now, &Job{Nodes: 4, Begin: 2 * des.Hour, Held: true}) // a change
		r.until(now + des.Minute)
		require.Greater(t, r.backfill.ran, now)
		require.Equal(t, r.second(r.backfill.ran)+600, next.estimate)
	}
}

// A job whose limit an operator has changed gets the MaxWall of its QoS, else of its associations, when it is preempted and waits
// again; not when its node fails, nor without an order or a MaxWall.
func TestPreemptedJobsForgetOrders(t *testing.T) {
	for _, a := range []struct {
		ofQOS, ofUser, partition string
		order, fails             bool
		want                     des.Time
	}{
		{ofUser: "maxwall=30", order: true, want: 30 * des.Minute},
		{ofUser: "maxwall=30", ofQOS: "maxwall=20", order: true, want: 20 * des.Minute},
		{ofUser: "maxwall=30", partition: "MaxTime=15", order: true, want: 15 * des.Minute},
		{ofUser: "maxwall=30", want: 10 * des.Minute},
		{ofUser: "maxwall=30", order: true, fails: true, want: 5 * des.Minute},
		{order: true, want: 5 * des.Minute},
	} {
		r := newRuled(t, "NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL "+a.partition+"\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits,qos\n"+
			"PriorityType=priority/multifactor\nSelectTypeParameters=CR_Core\nPreemptType=preempt/qos\nPreemptMode=REQUEUE\n",
			"add qos low "+a.ofQOS+"\nadd qos high preempt=low\nadd account a\nadd user u account=a qos=low,high "+a.ofUser+"\n")
		low := r.submit(0, &Job{Tasks: 4, Account: "a", User: "u", QOS: "low", Limit: 10 * des.Minute, Requeue: true})
		r.until(5 * des.Second)
		if a.order {
			r.Relimit(5*des.Second, low, 5*des.Minute)
		}
		if a.fails {
			require.NoError(t, r.Down(6*des.Second, []int{0}))
		} else {
			r.submit(6*des.Second, &Job{Tasks: 4, Account: "a", User: "u", QOS: "high", Limit: 10 * des.Minute})
		}
		r.until(20 * des.Second)
		require.NotEqual(t, running, low.state)
		require.Equal(t, a.want, low.Limit, "%+v", a)
		require.Equal(t, a.order && a.want == 5*des.Minute, low.excused)
	}
}

// Where jobs preempt others, a job that comes back is sorted anew, though the same jobs wait as at the last look.
func TestJobsThatComeBackAreSortedAnew(t *testing.T) {
	r := newRuled(t, fourNodes+"PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n", "")
	r.submit(0, &Job{Nodes: 4, Exclusive: true})
	r.until(5 * des.Second)
	one, two := r.submit(5*des.Second, &Job{Nodes: 4}), r.submit(5*des.Second, &Job{Nodes: 4})
	r.until(10 * des.Second)
	require.Equal(t, []*entry{one.entries[0], two.entries[0]}, r.runnable(10*des.Second))
	r.leave(one)
	one.entries[0].priority = two.entries[0].priority - 1
	r.enter(one)
	require.Equal(t, []*entry{two.entries[0], one.entries[0]}, r.runnable(10*des.Second))
}

// Limits on memory and nodes, of a QoS and of an account, count what the others have; a node that the others have already
// counts once.
func TestLimitsOnMemoryAndNodes(t *testing.T) {
	for limit, reasons := range map[string][2]Reason{
		"qos q grptres=mem=1999":           {"QOSGrpMemLimit", ""},
		"qos q maxtresperuser=mem=1999":    {"QOSMaxMemoryPerUser", ""},
		"qos q maxtresperaccount=mem=1999": {"MaxMemoryPerAccount", ""},
		"qos q maxtresperjob=mem=999":      {"QOSMaxMemoryPerJob", ""},
		"qos q grptres=node=1":             {"QOSGrpNodeLimit", ""},
		"qos q maxtresperuser=node=1":      {"QOSMaxNodePerUserLimit", ""},
		"qos q maxtresperaccount=node=1":   {"MaxNodePerAccount", ""},
		"qos q grptres=mem=2000,node=2":    {"", ""},
		"account a grptres=mem=1999":       {"AssocGrpMemLimit", ""},
		"account a grptres=node=1":         {"AssocGrpNodeLimit", ""},
		"account a maxtresperjob=mem=999":  {"AssocMaxMemPerJob", ""},
		"account a grptres=mem=2000":       {"", ""},
		"account a grptres=node=2":         {"", ""},
		"account a maxtresperjob=mem=1000": {"", ""},
	} {
		r := newRuled(t, strings.NewReplacer("CPUs=4", "CPUs=4 RealMemory=4000", "CR_Core", "CR_Core_Memory").Replace(kept),
			"add qos other\nadd qos q\nadd account a\n"+users+"\nmodify "+strings.NewReplacer(" q ", " q set ", " a ", " a set ").Replace(limit))
		job := func(held bool) *Job {
			return r.submit(0, &Job{Tasks: 1, Memory: 1000, Account: "a", User: "u", QOS: "q", Held: held})
		}
		wants := func(mem int, on ...int) tres {
			return r.amounts(map[int]int{tresCPU: 1, tresNode: 1, tresMem: mem}, on...)
		}
		if strings.Contains(limit, "perjob") {
			require.Equal(t, reasons[0], r.beyondAmounts(job(true), wants(1000)), limit)
			continue
		}
		first := job(false)
		r.until(10 * des.Second)
		require.Equal(t, []int{0}, on(first), limit)
		next := job(true)
		require.Equal(t, reasons[0], r.beyondAmounts(next, wants(1000, 1)), limit)
		require.Equal(t, reasons[1], r.beyondAmounts(next, wants(999, 0)), limit)
		r.over(20*des.Second, first)
		require.Equal(t, reasons[1], r.beyondAmounts(next, wants(1000, 1)), limit)
	}
}

// A job that names no account is a job of its user's default account, for limits of a QoS on accounts.
func TestJobsOfTheDefaultAccount(t *testing.T) {
	r := newRuled(t, kept, "add qos other\nadd qos q maxjobsperaccount=1\nadd account a\n"+users)
	r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	j := r.submit(0, &Job{Tasks: 1, User: "u", QOS: "q"})
	r.until(5 * des.Second)
	require.Equal(t, Reason("MaxJobsPerAccount"), j.Reason())
}

// A reservation that names users and accounts is for those users in those accounts. Where associations are enforced, one for an
// account alone is for the accounts below, too.
func TestWhomReservationsAreFor(t *testing.T) {
	const tree = "add account a\nadd account b parent=a\nadd account c\nadd user u account=a\nadd user u account=c\nadd user v account=b\n"
	for _, c := range []struct {
		enforced        bool
		users, accounts string
		of              map[string]bool // by user@account; without an account it is a, the user's first
	}{
		{true, "u", "", map[string]bool{"u@a": true, "u@c": true, "v@b": false}},
		{true, "", "a", map[string]bool{"u@": true, "u@a": true, "u@c": false, "v@b": true}},
		{false, "", "a", map[string]bool{"u@": true, "u@a": true, "u@c": false, "v@b": false}},
		{true, "u,v", "a", map[string]bool{"u@a": true, "u@c": false, "v@b": false}},
		{false, "u", "a", map[string]bool{"u@a": true, "u@c": false, "v@a": false}},
		{true, "", "", map[string]bool{"u@a": false}},
	} {
		conf := "NodeName=n[1-2] CPUs=4\nPartitionName=all Nodes=ALL\nAccountingStorageType=accounting_storage/slurmdbd\nSelectTypeParameters=CR_Core\n"
		if c.enforced {
			conf += "AccountingStorageEnforce=associations\n"
		}
		r := newRuled(t, conf, tree)
		names := func(list string) []string { return strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) }
		require.NoError(t, r.Reserve(0, &Reservation{Name: "r", Start: des.Minute, End: des.Hour, Nodes: []int{0}, Users: names(c.users), Accounts: names(c.accounts)}))
		for of, admitted := range c.of {
			user, account, _ := strings.Cut(of, "@")
			err := r.try(0, &Job{Tasks: 1, User: user, Account: account, Reservation: "r"})
			require.Equal(t, admitted, err == nil, "%+v: %s: %v", c, of, err)
		}
	}
}

// Nodes that a job would have in its second partition do not count as planned if it would start as early in the first one.
// The first partition has n1 and n2 until the limit of wide; the second one has n3, until the limit of its job, and n4, which is idle.
func TestNodesOfAnEquallyEarlyPlanAreNotPlanned(t *testing.T) {
	const conf = "NodeName=n[1-4] CPUs=4\nPartitionName=first Nodes=n[1-2] PriorityJobFactor=2\nPartitionName=second Nodes=n[3-4]\nPriorityType=priority/multifactor\n" +
		"PriorityWeightPartition=1000\nSelectTypeParameters=CR_Core\nSchedulerParameters=bf_resolution=1\n"
	for limit, planned := range map[des.Time]bool{50 * des.Minute: true, des.Hour: false, 70 * des.Minute: false} {
		r := newRuled(t, conf, "")
		r.submit(0, &Job{Nodes: 2, Exclusive: true})
		r.submit(0, &Job{Nodes: 1, Exclusive: true, Required: []int{2}, Limit: limit, Partitions: []int{1}})
		r.until(5 * des.Second)
		both := r.submit(5*des.Second, &Job{Nodes: 2, Exclusive: true, Partitions: []int{0, 1}})
		r.until(35 * des.Second)
		require.Equal(t, pending, both.state)
		require.Equal(t, planned, r.backfill.planned.has(3), "limit of the job in the second partition: %v", limit)
	}
}

// A job is not refused if it must have a reserved node that has the memory for one of its CPUs, but not for all.
func TestJobsOfReservedNodesWithTooLittleMemoryAreNotRefused(t *testing.T) {
	r := newRuled(t, "NodeName=n1 CPUs=4 RealMemory=16000\nNodeName=n2 CPUs=2 RealMemory=4000\nPartitionName=all Nodes=ALL\nSelectTypeParameters=CR_Core_Memory\n", "")
	heavy := func(memory int) *Job { return &Job{Nodes: 1, CPUsPerTask: 2, MemoryPerCPU: memory, Required: []int{1}} }
	require.ErrorIs(t, r.try(0, heavy(3000)), ErrConfiguration)
	require.NoError(t, r.Reserve(0, &Reservation{Name: "r", Start: 50 * des.Minute, End: des.Hour, Nodes: []int{1}, Users: []string{"u"}}))
	require.NoError(t, r.try(0, heavy(3000)))
	require.ErrorIs(t, r.try(0, heavy(5000)), ErrConfiguration, "it has not the memory for one CPU")
}

// A job is tried on the nodes of its partition that are listed for it and among which it may choose; of these it may have those that
// are available and reserved for nobody else, and start on those that no job keeps from it. To try it takes no node from its
// partition, from what the pass has left, or from what backfill lets it choose among.
func TestTheGroundOfAJob(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-7] CPUs=4\nPartitionName=all Nodes=n[1-6]\n", "")
	r.submit(0, &Job{Nodes: 1, Exclusive: true, Required: []int{0}})
	r.until(10 * des.Second)
	require.NoError(t, r.Reserve(10*des.Second, &Reservation{Name: "theirs", Start: 20 * des.Second, End: des.Hour, Nodes: []int{1}, Users: []string{"u"}}))
	j := r.submit(10*des.Second, &Job{Tasks: 1, Excluded: []int{2}})
	part, available, within := r.parts[0].nodes, allNodes(7), allNodes(7)
	available.drop(3)
	within.drop(4)
	g := r.groundOf(10*des.Second, j.entries[0], available, within)
	require.Equal(t, []int{0, 1, 3, 5}, slices.Collect(g.all.all))
	require.Equal(t, []int{0, 5}, slices.Collect(g.open.all))
	require.Equal(t, []int{5}, slices.Collect(g.ready.all))
	require.True(t, g.inUse)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, slices.Collect(part.all))
	require.Equal(t, []int{0, 1, 2, 4, 5, 6}, slices.Collect(available.all))
	require.Equal(t, []int{0, 1, 2, 3, 5, 6}, slices.Collect(within.all))
}

// A limit of a QoS holds for the jobs of that QoS, and not for those that one user has in another one.
func TestLimitsOnAmountsAreOfOneQOS(t *testing.T) {
	for _, first := range []string{"q", "other"} {
		r := newRuled(t, kept, "add qos other\nadd qos q grptres=cpu=1\nadd account a\n"+users)
		own := func(qos string) *Job { return r.submit(0, &Job{Tasks: 2, Account: "a", User: "u", QOS: qos}) }
		second := map[string]string{"q": "other", "other": "q"}[first]
		jobs := map[string]*Job{first: own(first)}
		jobs[second] = own(second)
		r.until(10 * des.Second)
		require.Equal(t, Reason("QOSGrpCpuLimit"), jobs["q"].Reason(), "%s came first", first)
		require.Equal(t, running, jobs["other"].state, "%s came first", first)
	}
}

// A job that a pass has looked at in its reservation is held when the reservation is over, and does not start then.
func TestJobsDoNotOutlastTheirReservation(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	require.NoError(t, r.Reserve(0, &Reservation{Name: "mine", Start: 0, End: 30 * des.Minute, Nodes: []int{0}, Users: []string{"u"}}))
	own := func() *Job {
		return &Job{Nodes: 1, Exclusive: true, User: "u", Reservation: "mine", Limit: 20 * des.Minute}
	}
	r.submit(0, own())
	waits := r.submit(0, own())
	r.until(25 * des.Minute)
	require.Equal(t, WaitsForResources, waits.Reason())
	r.until(2 * des.Hour)
	require.Equal(t, ReservationDeleted, waits.Reason())
	require.Zero(t, waits.Start)
}
