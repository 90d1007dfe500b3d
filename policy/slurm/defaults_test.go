package slurm

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// What slurmctld takes where slurm.conf or slurmdbd says nothing, or says it twice. Each expectation is what recordings show.

// readBare reads a slurm.conf, and returns the keys that are not simulated, too.
func readBare(t *testing.T, text string) (*Config, []string) {
	conf, unknown, err := ReadConfig("slurm.conf", strings.NewReader(text))
	require.NoError(t, err)
	var keys []string
	for _, u := range unknown {
		keys = append(keys, u.Key)
	}
	return conf, keys
}

const bareNode = "NodeName=n CPUs=4 RealMemory=4000\nPartitionName=p Nodes=n\n"

// Without SelectTypeParameters memory is consumed. Without SelectType Slurm gives whole nodes, which is told.
func TestHowNodesAreSharedWhereNothingIsSaid(t *testing.T) {
	conf, unknown := readBare(t, bareNode)
	require.True(t, conf.Select.Memory)
	require.Equal(t, []string{"SelectType=select/linear, Slurm's default,"}, unknown)
	conf, unknown = readBare(t, bareNode+"SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n")
	require.False(t, conf.Select.Memory)
	require.Empty(t, unknown)
}

// How many sockets and cores a node has, of rows that leave a part out.
func TestShapesOfNodes(t *testing.T) {
	for row, want := range map[string][2]int{
		"CPUs=8":                                     {8, 1},
		"Sockets=2 CoresPerSocket=3":                 {2, 3},
		"CPUs=8 CoresPerSocket=4":                    {2, 4},
		"CPUs=6 CoresPerSocket=4":                    {1, 4}, // CPUs that make no whole sockets do not count
		"CPUs=8 Sockets=2":                           {2, 1}, // nor those that the cores do not make
		"CPUs=16 CoresPerSocket=4 ThreadsPerCore=2":  {2, 4},
		"Boards=2 CoresPerSocket=4":                  {2, 4},
		"Boards=2 SocketsPerBoard=2":                 {4, 1},
		"SocketsPerBoard=3 Sockets=2":                {3, 1},
		"Boards=2 SocketsPerBoard=1 Sockets=9 CPUs=": {2, 1},
	} {
		conf, _ := readBare(t, "NodeName=n "+strings.TrimSuffix(row, " CPUs=")+"\nPartitionName=p Nodes=n\n")
		require.Equal(t, want, [2]int{conf.Nodes[0].Sockets, conf.Nodes[0].Cores}, row)
	}
	_, unknown := readBare(t, ofCores("NodeName=n Boards=2\nNodeName=m Boards=1\nPartitionName=p Nodes=n\n"))
	require.Equal(t, []string{"Boards"}, unknown)
}

// Priority of a partition, or of the defaults, stands in place of PriorityTier and PriorityJobFactor, wherever it stands. Times are
// rounded up to whole minutes.
func TestKeysOfPartitionsAndTimesAreReadAsSlurmDoes(t *testing.T) {
	conf, unknown := readBare(t, ofCores("NodeName=n\nPartitionName=a Nodes=n Priority=3 PriorityTier=5 MaxTime=29:30 ReqResv=NO\nPartitionName=DEFAULT Priority=4\n"+
		"PartitionName=b Nodes=n PriorityJobFactor=2 ReqResv=YES\nPartitionName=c Nodes=n RootOnly=YES Priority=6 MaxTime=INFINITE\n"+
		"PriorityMaxAge=0:30\nPriorityDecayHalfLife=61:01\nPriorityCalcPeriod=1:30\n"))
	require.Equal(t, []string{"ReqResv", "RootOnly"}, unknown)
	for i, want := range []int{3, 4, 6} {
		require.Equal(t, []int{want, want}, []int{conf.Partitions[i].Tier, conf.Partitions[i].JobFactor})
	}
	require.Equal(t, []des.Time{30 * des.Minute, des.Forever}, []des.Time{conf.Partitions[0].MaxTime, conf.Partitions[2].MaxTime})
	require.Equal(t, []des.Time{des.Minute, 62 * des.Minute, 2 * des.Minute}, []des.Time{conf.Priority.MaxAge, conf.Priority.HalfLife, conf.Priority.Period})
}

// The first of several values of a parameter counts. Slurm does not take values beyond its bounds; here they are errors.
func TestParametersThatAreGivenTwiceOrBeyondTheirBounds(t *testing.T) {
	conf, unknown := readBare(t, ofCores(bareNode+"SchedulerParameters=bf_interval=7,BF_Interval=60,default_queue_depth=3,default_queue_depth=50,foo,foo=2\n"))
	require.Equal(t, []string{"foo"}, unknown)
	require.Equal(t, 7*des.Second, conf.Schedule.BackfillInterval)
	require.Equal(t, 3, conf.Schedule.QueueDepth)
	for parameter, want := range map[string]string{
		"bf_resolution=7200":             "from 1 to 3600",
		"bf_interval=10801":              "from 1 to 10800",
		"bf_window=43201":                "from 1 to 43200",
		"bf_max_job_start=10001":         "from 0 to 10000",
		"bf_max_job_test=99999999999999": "from 1 to 1000000",
		"bf_interval=-7":                 "of 1 or more",
	} {
		_, _, err := ReadConfig("slurm.conf", strings.NewReader(bareNode+"SchedulerParameters="+parameter+"\n"))
		require.ErrorContains(t, err, "want a whole number "+want, parameter)
	}
}

// Shares that a later command changes are the new ones.
func TestSharesAreModified(t *testing.T) {
	a, unknown, err := ReadAccounts("f", strings.NewReader("add account a fairshare=2\nadd account b\nadd user u account=a fairshare=3\nadd user u account=b\n"+
		"modify account a set fairshare=7\nmodify user u account=b set fairshare=0.5\nmodify account b set parent=a\n"))
	require.NoError(t, err)
	require.Equal(t, []Unknown{{Key: "parent=a", Line: 7, Effect: effects["parent="]}}, unknown)
	require.Equal(t, []float64{7, 3, 0.5}, []float64{a.find("a", "").shares, a.find("a", "u").shares, a.find("b", "u").shares})
	_, _, err = ReadAccounts("f", strings.NewReader("add account a\nmodify account a set fairshare=-2\n"))
	require.EqualError(t, err, "f:2: modify account a: fairshare=-2: want a number of 0 or more")
}

// Which QoS a job has that names none, and which jobs are refused for their QoS. Users without a list may use the QoS normal only,
// which every cluster has.
func TestTheQOSOfJobsThatNameNone(t *testing.T) {
	for accounts, want := range map[string]string{
		"":                                    "normal",
		"modify account a set qos=low":        "low",
		"modify account a set qos=low,hi":     "",
		"modify account a set qos=low,normal": "normal",
		"modify account a set qos=low,hi defaultqos=hi":                                          "hi",
		"modify account a set qos=low,normal defaultqos=hi":                                      "normal",
		"modify account root set qos=low,hi,normal defaultqos=hi":                                "hi",
		"modify account root set defaultqos=low\nmodify user u set qos=low,hi defaultqos=normal": "low",
	} {
		r := newRuled(t, "NodeName=n CPUs=4\nPartitionName=p Nodes=n\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=qos\n",
			"add qos low\nadd qos hi\nadd account a\nadd user u account=a\n"+accounts+"\n")
		j := &Job{Account: "a", User: "u"}
		if err := r.try(0, j); want == "" {
			require.ErrorIs(t, err, ErrQOS)
			continue
		}
		require.Equal(t, want, r.QOSOf(j), accounts)
		require.ErrorIs(t, r.try(0, &Job{Account: "a", User: "u", QOS: "none"}), ErrQOS)
	}
	r := newRuled(t, "NodeName=n CPUs=4\nPartitionName=p Nodes=n\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n",
		"modify qos normal set maxjobsperuser=1\nadd account a\nadd user u account=a\n")
	r.submit(0, &Job{Account: "a", User: "u"})
	second := r.submit(0, &Job{Account: "a", User: "u"})
	r.until(10 * des.Second)
	require.Len(t, r.started, 1)
	require.Equal(t, Reason("QOSMaxJobsPerUserLimit"), second.reason)
}

// What becomes of a job that is preempted: with PreemptMode=CANCEL of slurm.conf or its QoS it ends for good. PreemptMode=OFF of a QoS
// is the mode of slurm.conf.
func TestModesOfPreemption(t *testing.T) {
	for modes, want := range map[[2]string]jobState{
		{"REQUEUE", ""}: pending, {"REQUEUE", "requeue"}: pending, {"REQUEUE", "cancel"}: done, {"REQUEUE", "off"}: pending, {"REQUEUE", "cluster"}: pending,
		{"CANCEL", ""}: done, {"CANCEL", "requeue"}: pending, {"CANCEL", "off"}: done,
	} {
		mode := ""
		if modes[1] != "" {
			mode = " preemptmode=" + modes[1]
		}
		r := newRuled(t, kept+"PreemptType=preempt/qos\nPreemptMode="+modes[0]+"\n", "add qos other\nadd qos q preempt=other\nmodify qos other set gracetime=0"+mode+"\nadd account a\n"+users)
		victim := r.submit(0, &Job{Nodes: 2, Exclusive: true, Account: "a", User: "u", QOS: "other", Requeue: true})
		r.until(10 * des.Second)
		require.Equal(t, running, victim.state)
		r.submit(10*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
		r.until(15 * des.Second)
		require.Len(t, r.stopped, 1, modes)
		r.Release(15*des.Second, victim)
		require.Equal(t, want, victim.state, modes)
	}
	conf, unknown := readBare(t, ofCores(bareNode+"PreemptType=preempt/partition_prio\nPreemptMode=cancel\n"))
	require.True(t, conf.PreemptCancels)
	require.Empty(t, unknown)
	_, missed, err := ReadAccounts("f", strings.NewReader("add qos q preemptmode=suspend\n"))
	require.NoError(t, err)
	require.True(t, slices.Equal([]Unknown{{Key: "preemptmode=suspend", Line: 1, Effect: effects["preemptmode="]}}, missed))
}

// What is refused as the job comes, in Slurm's order: licences and devices that there are not, nodes that it must both have and
// not have, more nodes that it must have than it asks for.
func TestRefusalsOfWhatThereIsNot(t *testing.T) {
	r := newRuled(t, "Licenses=m:2,m:1\nGresTypes=gpu,fpga\nNodeName=n[1-4] CPUs=4 Gres=gpu:2\nPartitionName=p Nodes=ALL MaxTime=60\nEnforcePartLimits=ALL\n", "")
	for _, x := range []struct {
		job  Job
		want error
	}{
		{Job{Licenses: []Amount{{"m", 3}}}, nil},
		{Job{Licenses: []Amount{{"m", 4}}}, ErrLicenses},
		{Job{Licenses: []Amount{{"m", 1}, {"x", 1}}}, ErrLicenses},
		{Job{GRES: []Amount{{"mic", 1}}}, ErrDevices},
		{Job{GRES: []Amount{{"mic", 1}}, Licenses: []Amount{{"x", 1}}}, ErrLicenses},
		{Job{GRES: []Amount{{"fpga", 1}}}, ErrConfiguration},
		{Job{GRES: []Amount{{"gpu:a", 1}, {"gpu", 1}}}, ErrDeviceTypes},
		{Job{Required: []int{1}, Excluded: []int{0, 1}}, ErrNode},
		{Job{Required: []int{1, 2}, Nodes: 1, Limit: 2 * des.Hour}, ErrNodeCount},
		{Job{Required: []int{1, 2}, Nodes: 2, Limit: 2 * des.Hour, Licenses: []Amount{{"x", 1}}}, ErrTimeLimit},
	} {
		require.ErrorIs(t, r.try(0, &x.job), x.want, "%+v", x.job)
	}
}

// A job of more nodes than the machine has is refused where it names several partitions: Slurm looks for nodes in each. With one
// partition it waits.
func TestMoreNodesThanTheMachineHas(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-3] CPUs=4\nPartitionName=p Nodes=n[1-2]\nPartitionName=q Nodes=ALL\n", "")
	require.ErrorIs(t, r.try(0, &Job{Nodes: 4, Partitions: []int{0, 1}}), ErrConfiguration)
	require.NoError(t, r.try(0, &Job{Nodes: 4}))
	few := &Job{Nodes: 9, Tasks: 2} // CPUs are those of tasks: it asks for no more than the partition has
	require.NoError(t, r.try(0, few))
	require.Equal(t, PartitionNodeLimit, r.beyondPartition(few, r.parts[0]))
}

// A job that must have several nodes, and names no number of nodes, asks for as many, and for a CPU of each.
func TestRequiredNodesAreTheLeastNumber(t *testing.T) {
	r := newRuled(t, "NodeName=n[1-6] CPUs=4\nPartitionName=p Nodes=n[1-4]\n", "")
	j := r.submit(0, &Job{Required: []int{1, 2}})
	require.Equal(t, 2, j.requestedCPUs())
	require.ErrorIs(t, r.try(0, &Job{Required: []int{2, 5}}), ErrConfiguration)
	r.until(10 * des.Second)
	require.Equal(t, []int{1, 2}, on(j))
	require.Equal(t, []int{1, 1}, []int{j.Placed[0].CPUs, j.Placed[1].CPUs})
}

// Slurm keeps the record of a job for 2 s at least.
func TestRecordsAreKeptForTwoSeconds(t *testing.T) {
	for value, want := range map[string]des.Time{"0": 2 * des.Second, "1": 2 * des.Second, "20": 20 * des.Second} {
		conf, _ := readBare(t, bareNode+"MinJobAge="+value+"\n")
		require.Equal(t, want, conf.MinJobAge)
	}
}
