package slurm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestHostLists(t *testing.T) {
	for list, want := range map[string][]string{
		"n1":             {"n1"},
		"n[1-3]":         {"n1", "n2", "n3"},
		"n[08-10],n7,x":  {"n08", "n09", "n10", "n7", "x"},
		"gpu[1-2],login": {"gpu1", "gpu2", "login"},
		"":               nil,
	} {
		got, err := Hosts(list)
		require.NoError(t, err, list)
		require.Equal(t, want, got, list)
		require.Equal(t, list, HostList(want))
	}
	for _, wrong := range []string{"n[1-", "n[3-1]", "n[a]", "n[1-2]x", "a,,b", ",a", "n[1-4000000000]", "n[]"} {
		_, err := Hosts(wrong)
		require.Error(t, err, wrong)
	}
}

// TestHostListsAreReadBack writes any names and reads them back.
func TestHostListsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{1,3}(0?[1-9][0-9]{0,3}|0|00)?`)
		names := rapid.SliceOfNDistinct(name, 1, 30, rapid.ID).Draw(t, "names")
		got, err := Hosts(HostList(names))
		require.NoError(t, err)
		require.ElementsMatch(t, names, got)
	})
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]des.Time{
		"5": 5 * des.Minute, "5:30": 5*des.Minute + 30*des.Second, "1:00:00": des.Hour, "2-0": 48 * des.Hour,
		"1-2:30": 26*des.Hour + 30*des.Minute, "0-0:0:7": 7 * des.Second, "INFINITE": des.Forever, "unlimited": des.Forever,
	} {
		got, err := Duration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, wrong := range []string{"", "x", "1:2:3:4", "-5", "1-", "99999999999", "1.5"} {
		_, err := Duration(wrong)
		require.Error(t, err, wrong)
	}
}

const smallConf = `
# a cluster
NodeName=DEFAULT Sockets=2 CoresPerSocket=4 RealMemory=16000
NodeName=n[1-4] Weight=2
NodeName=g[1-2] Gres=gpu:4 Feature=fast,big
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
PartitionName=gpu Nodes=g[1-2] MaxNodes=1 OverSubscribe=EXCLUSIVE PriorityTier=3
SchedulerParameters=bf_interval=60,\
defer,bf_topopt_enable
SlurmctldLogFile=/var/log/slurmctld.log
JobSubmitPlugins=lua
`

func TestConfigurationIsRead(t *testing.T) {
	conf, unknown, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(smallConf)))
	require.NoError(t, err)
	require.Len(t, conf.Nodes, 6)
	require.Equal(t, Node{Name: "g2", Sockets: 2, Cores: 4, Memory: 16000, Weight: 1, Features: []string{"fast", "big"}, GRES: []Amount{{"gpu", 4}}, Row: 2}, conf.Nodes[5])
	require.Equal(t, []int{4, 5}, conf.Partitions[1].Nodes)
	require.True(t, conf.Partitions[1].Exclusive)
	require.Equal(t, 24*des.Hour, conf.Partitions[0].MaxTime)
	require.Equal(t, 60*des.Second, conf.Schedule.BackfillInterval)
	require.True(t, conf.Schedule.Defer)
	require.Equal(t, []Unknown{{Key: "bf_topopt_enable", Line: 8}, {Key: "JobSubmitPlugins", Line: 11, Effect: effects["jobsubmitplugins"]}}, unknown, "told; paths are not")
}

// With sched/builtin and priority/basic Slurm takes jobs in the order of submission, unless partitions differ in tier.
func TestTheOrderOfSubmissionIsTold(t *testing.T) {
	const nodes = "NodeName=n[1-2]\nPartitionName=p Nodes=n1 PriorityTier=2\nPartitionName=q Nodes=n2 PriorityTier="
	told := []Unknown{{Key: "SchedulerType=sched/builtin with PriorityType=priority/basic", Line: 4, Effect: effects["schedulertype="]}}
	for conf, want := range map[string][]Unknown{
		"2\nSchedulerType=sched/builtin\n":                                    told,
		"2\nSchedulerType=sched/builtin\nPriorityType=priority/basic\n":       told,
		"2\nSchedulerType=sched/builtin\nPriorityType=priority/multifactor\n": nil,
		"3\nSchedulerType=sched/builtin\n":                                    nil,
		"2\nSchedulerType=sched/backfill\n":                                   nil,
	} {
		_, unknown, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(nodes+conf)))
		require.NoError(t, err)
		require.Equal(t, want, unknown, conf)
	}
	builtin := Override{Key: "SchedulerType", Value: "sched/builtin"}
	_, unknown, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(nodes+"2\n")), builtin)
	require.NoError(t, err)
	told[0].Line = 2
	require.Equal(t, told, unknown, "with the first partition")
	conf, unknown, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(nodes+"2\nPriorityType=priority/multifactor\n")), builtin)
	require.NoError(t, err)
	require.Empty(t, unknown)
	require.False(t, conf.Schedule.Backfill)
}

func TestWhatIsNotSimulatedIsToldOnceWithWhatThatMayChange(t *testing.T) {
	_, unknown, err := ReadConfig("slurm.conf", strings.NewReader("NodeName=n1 ThreadsPerCore=2\nNodeName=n2 ThreadsPerCore=2 State=UNKNOWN\nNodeName=n3 State=DOWN\n"+
		"PartitionName=p Nodes=n1 OverSubscribe=FORCE:2 AllowAccounts=a\nPartitionName=q Nodes=n2 AllowAccounts=b State=DRAIN\nPriorityWieghtAge=3\nSelectType=select/linear\nPriorityFlags=NO_FAIR_TREE\nZzz=1\n"))
	require.NoError(t, err)
	var told []string
	for _, u := range unknown {
		told = append(told, fmt.Sprintf("%d: %v", u.Line, u))
	}
	require.Equal(t, []string{
		"1: ThreadsPerCore is not simulated (1 lines more have it): a core has one CPU here, so that nodes have fewer CPUs than with hyperthreads",
		"3: NodeName State=DOWN is not simulated: the node takes jobs from the beginning on",
		"4: OverSubscribe=FORCE:2 is not simulated: jobs do not share CPUs, so that they wait where Slurm may start them",
		"4: AllowAccounts is not simulated (1 lines more have it): every account may use the partition",
		"5: PartitionName State=DRAIN is not simulated: the partition takes and starts jobs",
		`6: PriorityWieghtAge is not simulated: did you mean "PriorityWeightAge"?`,
		"7: SelectType=select/linear is not simulated: jobs share nodes here (select/cons_tres), unless OverSubscribe=EXCLUSIVE keeps them apart",
		"8: PriorityFlags=NO_FAIR_TREE is not simulated: priorities are reckoned without it, where they may be others",
		"9: Zzz is not simulated",
	}, told)
	for key := range effects {
		require.Equal(t, strings.ToLower(key), key)
	}
}

// Whatever stands in the files is read or refused, and a controller can be made of what is read.
func FuzzReadConfig(f *testing.F) {
	f.Add(smallConf, "add account a\nadd user u account=a fairshare=2\nmodify user u set maxjobs=2\nadd qos q priority=3 preempt=q\n")
	f.Fuzz(func(t *testing.T, conf, accounts string) {
		a, _, err := ReadAccounts("sacctmgr.txt", strings.NewReader(accounts))
		if err != nil {
			a = NewAccounts()
		}
		c, _, err := ReadConfig("slurm.conf", strings.NewReader(conf))
		if err != nil || len(c.Nodes) > 1000 || c.CPUs() > 10_000 {
			return
		}
		m := New(c, a)
		m.Started, m.Stopped = func(des.Time, *Job) {}, func(des.Time, *Job, Stop) {}
		_ = m.Submit(0, &Job{ID: 1, Tasks: 2, Limit: des.Minute, Partitions: []int{0}, User: "u"})
		for range 20 {
			if next := m.Next(); next < des.Forever {
				m.Act(next)
			}
		}
	})
}

func TestWrongConfigurationsNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"NodeName=n1\nPartitionName=p Nodes=n2":                           `slurm.conf:2: Nodes: node "n2" has no row NodeName`,
		"NodeName=n1 CPUs=none\nPartitionName=p Nodes=n1":                 `slurm.conf:1: CPUs: "none": want a whole number of 1 or more`,
		"NodeName=n1\nPartitionName=p Nodes=n1\nPartitionName=p Nodes=n1": `slurm.conf:3: PartitionName: partition "p" is defined twice`,
		"nonsense":           `slurm.conf:1: nonsense: want KEY=VALUE`,
		"Include nodes.conf": `slurm.conf:1: Include nodes.conf: other files are not read: put what it says here`,
		"NodeName=n1\nPartitionName=p Nodes=n1\nSchedulerType=sched/backfil":       `slurm.conf:3: SchedulerType: "sched/backfil": want sched/backfill or sched/builtin`,
		"NodeName=n1\nPartitionName=p Nodes=n1\nPriorityType=priority/multifacter": `slurm.conf:3: PriorityType: "priority/multifacter": want priority/basic or priority/multifactor`,
		"NodeName=n1": `slurm.conf: no row PartitionName: jobs need a partition`,
		"NodeName=n1\nPartitionName=p Nodes=n1\nPriorityCalcPeriod=0":                    `slurm.conf:3: PriorityCalcPeriod: want a time of a second or more`,
		"NodeName=n[1-9] Sockets=100000 CoresPerSocket=100000":                           `slurm.conf:1: NodeName: more than 268435456 CPUs`,
		"NodeName=n1\nPartitionName=p Nodes=n1\nSchedulerParameters=defer,bf_interval=0": `slurm.conf:3: bf_interval: "0": want a whole number of 1 or more`,
		"NodeName=n1\nPartitionName=p Nodes=n1\nSchedulerParameters=sched_interval=-1":   `slurm.conf:3: sched_interval: "-1": want a whole number of 0 or more`,
	} {
		_, _, err := ReadConfig("slurm.conf", strings.NewReader(text))
		require.EqualError(t, err, want)
	}
}

func TestAccountsAreRead(t *testing.T) {
	a, unknown, err := ReadAccounts("sacctmgr.txt", strings.NewReader(`
add qos low priority=10 maxtresperuser=cpu=8,node=2 maxwall=60
add account a fairshare=3 grpwall=2 grptres=cpu=9,gres/gpu=2,license/x=-1,gpu=3
sacctmgr -i add account b parent=a
add user u1 account=b fairshare=5 qos=low defaultqos=low
modify user u1 set maxjobs=4
`))
	require.NoError(t, err)
	require.Equal(t, []Unknown{{Key: "grptres=cpu=9,gres/gpu=2,license/x=-1,gpu=3", Line: 3, Effect: otherKinds}}, unknown, "for gpu, which is no kind")
	require.Equal(t, map[string]int{"cpu": 9, "gres/gpu": 2}, a.find("a", "").asked[grpTRES])
	require.Equal(t, []Unknown{{Key: "grptres=gres/gpu", Line: 3, Effect: otherKinds}}, a.Uncounted(&Config{TrackedTRES: []string{"license/x"}}))
	u := a.find("b", "u1")
	require.Equal(t, "a", u.parent.parent.name)
	require.Equal(t, count{4, true}, u.jobsOfUser)
	require.Equal(t, map[string]int{"cpu": 8, "node": 2}, a.qos["low"].asked[maxTRESPerUser])
	require.Equal(t, des.Hour, a.qos["low"].wall.most)
	for text, want := range map[string]string{
		"add user u1 account=x":        `f:1: add user u1: there is no account "x"`,
		"add account a\nadd account a": `f:2: add account a: the account is there already`,
		"add account a fairshare=-1":   `f:1: add account a: fairshare=-1: want a number of 0 or more`,
		"modify qos x set grpjobs=1":   `f:1: modify qos x: there is no QoS "x"`,
		"add qos x grptres=cpu":        `f:1: add qos x: grptres=cpu: "cpu": want KIND=COUNT`,
		"sacctmgr":                     `f:1: : want add or modify, then account, user or qos, a name and KEY=VALUE`,
		"drop user u1":                 `f:1: drop user u1: want add or modify, then account, user or qos, a name and KEY=VALUE`,
	} {
		_, _, err := ReadAccounts("f", strings.NewReader(text))
		require.EqualError(t, err, want)
	}
}

// TestFairTree ranks users of two accounts as Slurm's documentation of the fair tree does: an
// account's users stand where their account stands, and root's own user counts.
func TestFairTree(t *testing.T) {
	a, _, err := ReadAccounts("f", strings.NewReader("add account a fairshare=1\nadd account b fairshare=1\n"+
		"add user a1 account=a\nadd user a2 account=a\nadd user b1 account=b\n"))
	require.NoError(t, err)
	a.find("a", "a1").charge(30)
	a.find("b", "b1").charge(70)
	a.rankShares()
	require.Equal(t, 1.0, a.root.children[0].factor, "root has used nothing")
	require.Equal(t, 3.0/4, a.find("a", "a2").factor)
	require.Equal(t, 2.0/4, a.find("a", "a1").factor)
	require.Equal(t, 1.0/4, a.find("b", "b1").factor)
	a.decay(0.5)
	require.Equal(t, 50.0, a.root.usage)
}

// What sacctmgr dump and sacctmgr -P show qos of 22.05.8 have written is read as the commands that made it.
func TestDumpsOfAccountsAreRead(t *testing.T) {
	text, err := os.ReadFile("testdata/accounts.txt")
	require.NoError(t, err)
	a, unknown, err := ReadAccounts("accounts.txt", strings.NewReader(string(text)))
	require.NoError(t, err)
	var missed []string
	for _, u := range unknown {
		missed = append(missed, fmt.Sprintf("%d: %v", u.Line, u))
	}
	require.Equal(t, []string{
		"13: fairshare=parent is not simulated: who has it has one share of the account's",
		"14: partition=p1 is not simulated: the user is in the account in all partitions, with the limits of the last row",
		"15: partition=p0 is not simulated: the user is in the account in all partitions, with the limits of the last row",
	}, missed)
	require.Equal(t, 50.0, a.find("a", "").shares)
	require.Equal(t, map[string]int{"cpu": 7, "mem": 2000}, a.find("a", "").asked[grpTRES])
	require.Equal(t, a.find("a", ""), a.find("sub", "").parent)
	require.Equal(t, []timeLimit{{2 * 24 * des.Hour, true}, {100 * des.Minute, true}}, []timeLimit{a.find("sub", "").wall, a.find("sub", "").wallTogether})
	u1 := a.find("a", "u1")
	require.Equal(t, 2.0, u1.shares)
	require.Equal(t, count{3, true}, u1.jobsOfUser)
	require.Equal(t, count{9, true}, u1.submittedOfUser)
	require.True(t, slices.Contains(u1.usable(), "low"))
	require.False(t, slices.Contains(u1.usable(), "none"))
	require.Equal(t, "low", u1.defaultQOS)
	require.Equal(t, a.find("sub", "u1"), a.associationOf(&Job{User: "u1"}), "the default account is not the first one")
	require.Equal(t, []string{UsualQOS}, a.find("sub", "u1").usable(), "as the cluster says")
	require.Equal(t, map[string]int{"cpu": 3, "node": 2}, a.find("sub", "u2").asked[maxTRESPerJob])
	hi, low := a.qos["hi"], a.qos["low"]
	require.Equal(t, map[string]int{"cpu": 8, "mem": 10240, "node": 2}, hi.asked[grpTRES])
	require.Equal(t, []string{"low"}, hi.preempts)
	require.Equal(t, []count{{8, true}, {2, true}, {3, true}}, []count{hi.jobs, hi.jobsOfUser, hi.submittedOfUser})
	require.Equal(t, []des.Time{30 * des.Minute, 60 * des.Second}, []des.Time{hi.wall.most, low.grace})
	require.Equal(t, map[string]int{"cpu": 100}, hi.asked[grpTRESRunMins])
	require.Equal(t, map[string]int{"cpu": 4}, hi.asked[maxTRESPerUser])
	require.Equal(t, 100.0, hi.priority)
	require.Equal(t, 0.5, low.usageFactor)
	require.True(t, low.denied && low.noPlans)
	_, _, err = ReadAccounts("accounts.txt", strings.NewReader("Parent - 'none'\nUser - 'u':Fairshare=1\n"))
	require.EqualError(t, err, `accounts.txt:2: add user u: there is no account "none"`)
}

// The error of a file tells the keys that are written wrongly, too: it may come from one of them.
func TestAnErrorOfTheFileTellsMisspeltKeys(t *testing.T) {
	read := func(text string, overrides ...Override) error {
		_, _, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(text)), overrides...)
		return err
	}
	require.EqualError(t, read("SelectTypeParametrs=CR_CPU\nFooBar=1\nTopologyPlugin=tree\nNodeName=n CPUs=4\nPartitonName=p Nodes=n\n"),
		`slurm.conf: no row PartitionName: jobs need a partition (line 1: SelectTypeParametrs is not simulated: did you mean "SelectTypeParameters"?; `+
			`line 2: FooBar is not simulated; line 5: PartitonName is not simulated: did you mean "PartitionName"?)`)
	wrong := new(ConfigError)
	require.ErrorAs(t, read("FooBar=1\nSchedulerParameters=bf_window=abc\nNodeName=n CPUs=4\nPartitionName=p Nodes=n\n"), &wrong)
	require.Equal(t, 2, wrong.Line)
	require.EqualError(t, read("SchedulerParameters=bf_window=abc\nNodeName=n CPUs=4\nPartitionName=p Nodes=n\n"),
		`slurm.conf:1: bf_window: "abc": want a whole number of 1 or more`, "no key is wrong")
}

// Priorities take 32 bits, which numbers of other parameters do not. Windows grow by bf_window_linear, as Slurm 22.05 calls it.
func TestLargeNumbersOfSchedulerParameters(t *testing.T) {
	read := func(parameters string) (*Config, []Unknown, error) {
		return ReadConfig("slurm.conf", strings.NewReader(ofCores("SchedulerParameters="+parameters+"\nNodeName=n CPUs=4\nPartitionName=p Nodes=n\n")))
	}
	conf, unknown, err := read("bf_min_prio_reserve=4294967295,bf_window_linear=20")
	require.NoError(t, err)
	require.Empty(t, unknown)
	require.Equal(t, 4294967295, conf.Schedule.MinPrioReserve)
	require.Equal(t, 20, conf.Schedule.WindowLinear)
	for wrong, want := range map[string]string{
		"bf_min_prio_reserve=4294967296": `slurm.conf:1: bf_min_prio_reserve: "4294967296": want a whole number from 0 to 4294967295`,
		"bf_min_prio_reserve=-1":         `slurm.conf:1: bf_min_prio_reserve: "-1": want a whole number of 0 or more`,
		"bf_max_job_test=2147483648":     `slurm.conf:1: bf_max_job_test: "2147483648": want a whole number from 1 to 1000000`,
	} {
		_, _, err := read(wrong)
		require.EqualError(t, err, want)
	}
}
