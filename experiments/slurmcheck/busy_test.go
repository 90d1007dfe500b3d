package slurmcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// With bf_busy_nodes a plan of backfill has one node more than the job needs, if a node is idle after those in use were enough.
// Priorities are computed with the number of CPUs that a job has in its plan. The priority shows this number when the job starts.
// Job x plans to start on n1 to n3 when job a ends, and n4 is idle.
func TestPlansOfBusyNodesHaveOneNodeMore(t *testing.T) {
	for name, x := range map[string]struct {
		asks           string // partition, nodes, tasks, CPUs a task, tasks a node, exclusive
		plan, one, few int    // CPUs of the plan, the most of a node, and the CPUs of the nodes that the job needs
		nodes          int    // for which it asks, at least 1
	}{
		"a task on each node":     {"all,3,3,,1,", 4, 1, 3, 3},
		"two tasks on a node":     {"all,2,4,,2,", 6, 2, 4, 2},
		"a task without a pair":   {"all,,3,,2,", 6, 2, 4, 1},
		"nodes without all tasks": {"all,3,3,,2,", 8, 2, 6, 3},
		"tasks of several CPUs":   {"all,,2,4,,", 12, 4, 8, 1},
		"whole nodes":             {"all,2,2,,,1", 12, 4, 8, 2},
		"whole in one partition":  {"\"all,alone\",2,2,,,", 12, 4, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			events, of := playedAt(t, map[string]string{
				replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityWeightJobSize=100000\n" +
					"PriorityCalcPeriod=1\nSchedulerParameters=bf_interval=10,bf_busy_nodes\nNodeName=n[1-4] CPUs=4\nPartitionName=all Nodes=ALL Default=YES\nPartitionName=alone Nodes=ALL OverSubscribe=EXCLUSIVE\nPartitionName=small Nodes=n[1-3]\n",
				replay.AccountsFile: "add account a\nadd user u1 account=a\n",
				replay.JobsFile:     "key,submit,uid,account,partition,nodes,tasks,cpt,tpn,exclusive,nodelist,limit_min,runtime\na,10.25,5001,a,all,3,12,,,,\"n[1-3]\",10,500\nx,20.25,5001,a," + x.asks + ",,10,100\n",
			})
			size := func(cpus int) int { return int(100000 * (float64(x.nodes)/4 + float64(cpus)/16) / 2) }
			shows := func(cpus int) string { return fmt.Sprintf(",%d,", size(cpus)) }
			start := line(t, events, "x,2,start")
			require.Contains(t, start, shows(x.plan), events)
			for _, change := range []struct {
				cpus  int
				busy  bool
				valid bool
			}{{x.plan, true, true}, {x.few, true, true}, {x.plan + x.one, true, false}, {x.plan, false, false}, {x.few, false, true}} {
				of.Config.Schedule.BusyNodes = change.busy
				report, err := Events(strings.NewReader(strings.Replace(events, start, strings.Replace(start, shows(x.plan), shows(change.cpus), 1), 1)), nil, of, 0)
				require.NoError(t, err)
				require.Equal(t, change.valid, report.Total == 0, "%v: %v\n%s", change, report, events)
			}
		})
	}
}

// A plan has only nodes of a partition that the job asks for, and a job that has no plan yet has the size for which it asks, also where
// the nodes have less for it. p has three nodes: y has no fourth one, and x gets 17 of 18 CPUs, since two CPUs of n1 make no whole task.
func TestPlansKeepToPartitions(t *testing.T) {
	events, of := playedAt(t, map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityWeightJobSize=100000\n" +
			"PriorityCalcPeriod=1\nSchedulerParameters=bf_interval=10,bf_busy_nodes\nNodeName=n[1-2] CPUs=8\nNodeName=n[3-4] CPUs=6\nPartitionName=p Nodes=n[1-3] Default=YES\n",
		replay.AccountsFile: "add account a\nadd user u1 account=a\n",
		replay.JobsFile:     "key,submit,uid,account,nodes,tasks,cpt,limit_min,runtime\nx,10.25,5001,a,3,6,3,10,500\ny,20.25,5001,a,3,3,,10,100\n",
	})
	x, y := line(t, events, "x,1,start"), line(t, events, "y,2,start")
	require.Contains(t, x, ",69642,17,", "(3/4 + 18/28) / 2")
	require.Contains(t, y, ",42857,3,", "(3/4 + 3/28) / 2")
	for from, to := range map[string]string{"": "", ",42857,3,": ",44642,3,"} {
		report, err := Events(strings.NewReader(strings.Replace(events, from, to, 1)), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, from == "", report.Total == 0, "%v\n%s", report, events)
	}
}

// A job that does not wait again is over when it was preempted in the second of its start, of which nothing is told.
func TestJobsPreemptedAtOnceAreOver(t *testing.T) {
	events, of := playedAt(t, map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\nPreemptType=preempt/qos\nPreemptMode=REQUEUE\n" +
			"NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
		replay.AccountsFile: "add qos low\nadd qos high preempt=low\nadd account a\nadd user u1 account=a qos=low,high defaultqos=low\n",
		replay.JobsFile:     "key,submit,uid,account,qos,tasks,requeue,limit_min,runtime\nx,10.25,5001,a,low,4,0,10,300\ny,100.25,5001,a,high,4,0,10,100\nz,110.25,5001,b,high,4,0,10,100\n",
	})
	require.Contains(t, line(t, events, "x,1,stop"), "PREEMPTED")
	untold := strings.Replace(events, line(t, events, "x,1,start"), "", 1)
	stop := strings.Split(line(t, events, "x,1,stop"), ",")[3]
	jobs := "job_id,submission_time,starting_time,finish_time,final_state,allocated_resources\n1,10," + stop + "," + stop + ",COMPLETED_KILLED,0-3\n2,100,101,201,COMPLETED_SUCCESSFULLY,0-3\n3,110,,,REJECTED,"
	report, err := Events(strings.NewReader(untold), strings.NewReader(jobs), of, 0)
	require.NoError(t, err)
	require.Zero(t, report.Total, "%v\n%s", report, events)
	require.Equal(t, 1, report.Killed)
	report, err = Events(strings.NewReader(untold), strings.NewReader(jobs+"0-3"), of, 0) // of a job that is refused
	require.NoError(t, err)
	require.Contains(t, report.String(), "it has 0-3, and the events say")
	of.Jobs[0].Job.Requeue = true
	report, err = Events(strings.NewReader(untold), nil, of, 0)
	require.NoError(t, err)
	require.Contains(t, report.String(), "nothing tells what becomes of it")
}

// If associations are enforced, accounts below the account of a reservation may use it, too. A reservation for users and accounts
// is only for these users in these accounts.
func TestReservationsAreForAccountsBelow(t *testing.T) {
	for _, c := range []struct {
		enforced        bool
		users, accounts string
		wrong           bool
	}{
		{true, "", "a", false}, {false, "", "a", true}, {true, "", "c", true}, {true, "u1", "a", true}, {true, "u1", "b", false}, {true, "u2", "b", true},
	} {
		conf := "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n"
		if c.enforced {
			conf += "AccountingStorageEnforce=associations\n"
		}
		events, of := playedAt(t, map[string]string{
			replay.ConfigFile:       conf,
			replay.AccountsFile:     "add account a\nadd account b parent=a\nadd account c\nadd user u1 account=b\nadd user u2 account=b\n",
			replay.JobsFile:         "key,submit,uid,account,tasks,reservation,limit_min,runtime\nx,10.25,5001,b,1,r,10,100\n",
			replay.ReservationsFile: "created,name,start,minutes,nodelist,users,accounts\n0.25,r,1,60,n1,u1,b\n",
		})
		of.Reservations[0].Reservation.Users, of.Reservations[0].Reservation.Accounts = strings.Fields(c.users), strings.Fields(c.accounts)
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, c.wrong, strings.Contains(report.String(), `reservation r is not for user "u1" of account "b"`), "%+v: %v\n%s", c, report, events)
	}
}

// A job that is preempted waits again, or is over, by PreemptMode of its QoS, or else of slurm.conf: a schedule that does otherwise
// is wrong.
func TestPreemptedJobsWaitAgainByTheMode(t *testing.T) {
	for _, c := range []struct {
		conf, qos string
		again     bool
	}{
		{"REQUEUE", "", true}, {"CANCEL", "", false}, {"CANCEL", " preemptmode=requeue", true}, {"REQUEUE", " preemptmode=cancel", false},
		{"REQUEUE", " preemptmode=off", true}, {"CANCEL", " preemptmode=off", false},
	} {
		events, of := playedAt(t, map[string]string{
			replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\nPreemptType=preempt/qos\nPreemptMode=" + c.conf + "\n" +
				"NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
			replay.AccountsFile: "add qos low" + c.qos + "\nadd qos high preempt=low\nadd account a\nadd user u1 account=a qos=low,high defaultqos=low\n",
			replay.JobsFile:     "key,submit,uid,account,qos,tasks,limit_min,runtime\nx,10.25,5001,a,,4,10,300\ny,100.25,5001,a,high,4,10,100\n",
		})
		require.Contains(t, line(t, events, "x,1,stop"), "PREEMPTED")
		require.Equal(t, c.again, strings.Count(events, "x,1,start") == 2, events)
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		require.Zero(t, report.Total, "%+v: %v\n%s", c, report, events)
		if c.qos == "" || strings.HasSuffix(c.qos, "off") {
			of.Config.PreemptCancels = !of.Config.PreemptCancels
			report, err = Events(strings.NewReader(events), nil, of, 0)
			require.NoError(t, err)
			require.NotZero(t, report.Total, "%+v: it does otherwise", c)
		}
	}
}

// Limits of the QoS normal, which each cluster has, hold for jobs that name no QoS.
func TestLimitsOfTheUsualQOSHold(t *testing.T) {
	files := map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits\n" +
			"NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
		replay.AccountsFile: "add account a\nadd user u1 account=a\n",
		replay.JobsFile:     "key,submit,uid,tasks,limit_min,runtime\nx,10.25,5001,1,10,300\ny,20.25,5001,1,10,100\n",
	}
	together, free := playedAt(t, files)
	files[replay.AccountsFile] += "modify qos normal set grpjobs=1\n"
	apart, limited := playedAt(t, files)
	for _, c := range []struct {
		events string
		of     Given
		wrong  bool
	}{{together, free, false}, {apart, limited, false}, {together, limited, true}} {
		report, err := Events(strings.NewReader(c.events), nil, c.of, 0)
		require.NoError(t, err)
		require.Equal(t, c.wrong, report.Total > 0, "%v\n%s", report, c.events)
	}
	// The QoS of a job that names none is also the QoS under which submissions are counted.
	files[replay.AccountsFile] += "modify qos normal set maxsubmitjobsperuser=1\n"
	events, of := playedAt(t, files)
	require.Contains(t, line(t, events, "y,"), string(slurm.ErrPolicy))
	report, err := Events(strings.NewReader(events), nil, of, 0)
	require.NoError(t, err)
	require.Zero(t, report.Total, "%v\n%s", report, events)
	report, err = Events(strings.NewReader(apart), nil, of, 0)
	require.NoError(t, err)
	require.Contains(t, report.String(), "MaxSubmitJobsPerUser of QoS normal is 1")
}
