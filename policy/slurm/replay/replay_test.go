package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

const conf = `ClusterName=small
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightJobSize=1000
EnforcePartLimits=ALL
NodeName=n[1-2] Sockets=1 CoresPerSocket=4 RealMemory=1000
NodeName=n3 Sockets=1 CoresPerSocket=4 RealMemory=1000 Feature=fast
PartitionName=long Nodes=ALL Default=YES MaxTime=600
PartitionName=short Nodes=n[1-2] MaxTime=60 PriorityTier=2
`

// jobs: a runs; b waits for it and is cancelled; c asks for a feature; d runs into its limit; e is
// beyond that of its partition; f names a partition that there is not; g wants more nodes than there are,
// m more CPUs of each; h depends on what never is; i is held for good.
const jobs = `key,submit,uid,partition,nodes,tasks,cpt,feature,nodelist,dependency,hold,requeue,limit_min,runtime,rc
a,10.25,5001,,3,12,,,,,,,10,100,
b,11.25,5001,long,3,12,,,,,,,10,50,
c,12.25,5002,,,1,2,fast,,,,,10,30,1
d,13.25,5002,short,1,,,,,,,0,1,300,
e,14.25,5001,short,1,,,,,,,,90,5,
f,15.25,5001,wide,1,,,,,,,,10,5,
g,16.25,5001,,4,,,,,,,,10,5,
m,16.25,5001,,,1,5,,,,,,10,5,
h,17.25,5001,,1,,,,,afternotok:a,,,10,5,
i,18.25,5001,,1,,,,,,1,,10,5,
k,200.25,5001,,,2,,,n3,,,,10,500,
`

const orders = `time,do,job,node,value
50.75,cancel,b,,
51.75,nice,a,,10
52.75,release,f,,
150.75,hold,a,,
250.60,down,,n3,
260.60,up,,n3,
`

// folder is a folder with those files, by their names.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// heard is what an observer heard.
type heard struct{ events []string }

func (h *heard) Observe(e entity.JobEvent) {
	h.events = append(h.events, e.Time.String()+" "+e.Run.String()+" "+e.Kind.String()+" "+e.Run.Reason)
}

// play plays a folder, and returns slurm-events.csv and what an observer heard.
func play(t *testing.T, dir string) (string, []string) {
	t.Helper()
	in, err := replay.ReadFolder(dir)
	require.NoError(t, err)
	return playInput(t, in)
}

// playInput plays an input, and returns the same as play.
func playInput(t *testing.T, in *replay.Input) (string, []string) {
	t.Helper()
	sim := des.New(des.Config{})
	m, err := replay.NewMachine(sim, in)
	require.NoError(t, err)
	var text strings.Builder
	w, h := replay.NewEventWriter(&text, in.Plain), &heard{}
	m.Tell, m.Until = w.Tell, replay.RecordingEnds
	m.Watch = replay.NewWatch(in.Config, entity.NewObservers(h))
	m.Watch.Late = in.Late
	m.Begin()
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	var left []string
	for _, r := range m.Waiting() {
		left = append(left, r.String()+" "+r.Reason)
	}
	return text.String(), append(h.events, left...)
}

// A job that ends by itself beyond its limit is told of as completed at its end, and as timed out in what follows.
func TestJobsThatEndBeyondTheirLimits(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.JobsFile:   "key,submit,limit_min,runtime,tasks\na,10,1,65,1\nb,10,1,55,1\n",
		replay.OrdersFile: "time,do,job,node,value\n90,nice,a,,5\n90,nice,b,,5\n",
	}))
	require.Contains(t, text, "a,1,end,75,,,,,,,,COMPLETED\n")
	require.Contains(t, text, "a,1,nice,90,,,,,,,,TIMEOUT\n")
	require.Contains(t, text, "b,2,nice,90,,,,,,,,COMPLETED\n")
}

// Of a job that is stopped before it is launched there is no start to be told of; nor is the stop, where another end was told before.
func TestStopsBeforeLaunches(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.JobsFile:   "key,submit,limit_min,runtime,tasks,requeue\na,10,1,50,1,1\n",
		replay.OrdersFile: "time,do,job,node,value\n10.005,down,,n1,\n20,up,,n1,\n180.005,down,,n1,\n190,up,,n1,\n",
	}))
	require.Equal(t, 1, strings.Count(text, ",stop,"), text)
	require.Contains(t, text, "a,1,stop,10,,,,,,,,NODE_FAIL\n")
	require.Equal(t, 1, strings.Count(text, ",start,"), text)
	require.Equal(t, 1, strings.Count(text, ",end,"), text)
}

// Each message takes slurmctld a microsecond, and one waits for the other. So job a, which got the three nodes of w, ends
// after b, which got the single node of v, although both end in the same hundredth of a second and a has the lower
// number.
func TestEndsOfOneInstantComeInTheOrderOfTheirMessages(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "NodeName=n[1-4] CPUs=1\nPartitionName=three Nodes=n[1-3] Default=YES\nPartitionName=one Nodes=n4\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.JobsFile: "key,submit,partition,nodes,limit_min,runtime\n" +
			"w,9.25,three,3,60,20\nv,9.25,one,1,60,30\na,9.25,three,3,60,50\nb,9.25,one,1,60,40\n",
	}))
	require.Contains(t, text, "b,4,end,80,,,,,,,,COMPLETED\na,3,end,80,,,,,,,,COMPLETED\n")
}

// The two nodes of y are free one microsecond after the other, n10 first, as names are ordered. The pass that had to wait
// for sched_min_interval comes when n9 is about to be free: one job starts then, the other 10 s later.
func TestAPassBetweenTwoNodesOfAJob(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "NodeName=n[9-11] CPUs=1\nPartitionName=two Nodes=n[9-10] Default=YES\nPartitionName=one Nodes=n11\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n" +
			"SchedulerParameters=sched_min_interval=10000000\n",
		replay.JobsFile: "key,submit,partition,nodes,limit_min,runtime\n" +
			"x,10.25,one,1,60,19\ny,10.25,two,2,60,29\nz,35.25,two,1,60,5\nlast,35.25,two,1,60,5\n",
	}))
	require.Regexp(t, "z,3,start,40,[0-9]*,1,n10,", text)
	require.Regexp(t, "last,4,start,50,[0-9]*,1,n9,", text)
}

// Nodes of y say that they are free after those of y0, which ends in the same instant: the pass that had to wait comes
// before any of them is free, although y's first message came before that pass.
func TestMessagesOfNodesWaitForEachOther(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "NodeName=n[1-8] CPUs=1\nPartitionName=x Nodes=n[1-3] Default=YES\nPartitionName=y0 Nodes=n[4-6]\nPartitionName=y Nodes=n[7-8]\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n" +
			"SchedulerParameters=sched_min_interval=10000000\n",
		replay.JobsFile: "key,submit,partition,nodes,limit_min,runtime\n" +
			"x,10.25,x,3,60,19\ny0,10.25,y0,3,60,29\ny,10.25,y,2,60,29\nz,35.25,y,1,60,5\n",
	}))
	require.Contains(t, text, "z,4,start,50,")
}

// A job is launched when messages that came before have been handled, and its work is over that much later: l is launched
// while two other messages are, so that it ends after m, which has the higher number.
func TestLaunchesWaitForMessages(t *testing.T) {
	for what, at := range map[string]string{"submissions": "u,11.01,,1,60,1\nv,11.01,,1,60,1\n", "ends": ""} {
		early := "u,3.25,,1,60,7\nv,3.25,,1,60,7\n"
		if at != "" {
			early = ""
		}
		text, _ := play(t, folder(t, map[string]string{
			replay.ConfigFile: "NodeName=n[1-9] CPUs=1\nPartitionName=all Nodes=ALL Default=YES\nSchedulerParameters=sched_min_interval=1000000,batch_sched_delay=1\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
			replay.JobsFile: "key,submit,partition,nodes,limit_min,runtime\n" + early +
				"p,9.25,,1,60,900\nl,10.25,,1,60,39\n" + at + "q,18.25,,1,60,900\nm,19.25,,1,60,30\n",
		}))
		require.Regexp(t, "m,[0-9]+,end,50,.*\nl,[0-9]+,end,50,", text, what)
	}
}

// What cancellations do comes in the order of the orders, not of the jobs: b's node is free first, and the pass that
// follows has c start on it. The pass after that one waits for sched_min_interval.
func TestCancellationsOfOneInstantComeInTheirOrder(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "NodeName=n[1-2] CPUs=1\nPartitionName=all Nodes=ALL Default=YES\nSchedulerParameters=sched_min_interval=10000000\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.JobsFile: "key,submit,nodes,limit_min,runtime\n" +
			"a,9.25,1,60,90\nb,9.25,1,60,90\nc,9.25,1,60,5\n",
		replay.OrdersFile: "time,do,job,node,value\n30.75,cancel,b,,\n30.75,cancel,a,,\n",
	}))
	require.Contains(t, text, "b,2,stop,30,,,,,,,,CANCELLED\na,1,stop,30,,,,,,,,CANCELLED\nc,3,start,30,4294901757,1,n2,")
}

func TestAFolderIsPlayed(t *testing.T) {
	text, heard := play(t, folder(t, map[string]string{replay.ConfigFile: conf, replay.JobsFile: jobs, replay.OrdersFile: orders}))
	require.Equal(t, `key,job,event,time,priority,cpus,nodes,partition,qos,by,cores,detail
a,1,submit,10,,,,,,,,
a,1,start,11,1000,12,n[1-3],long,,main,n1:0-3/4 n2:0-3/4 n3:0-3/4,"1=12,3=18446744073709551614,4=3,5=12"
b,2,submit,11,,,,,,,,
c,3,submit,12,,,,,,,,
d,4,submit,13,,,,,,,,
e,0,submit,14,,,,,,,,Requested time limit is invalid (missing or exceeds some limit)
f,0,submit,15,,,,,,,,Invalid partition name specified
g,0,submit,16,,,,,,,,Node count specification invalid
m,0,submit,16,,,,,,,,Requested node configuration is not available
h,6,submit,17,,,,,,,,
i,7,submit,18,,,,,,,,
b,2,cancel,50,,,,,,,,PENDING
a,1,nice,51,,,,,,,,RUNNING
a,1,end,111,,,,,,,,COMPLETED
c,3,start,111,250,2,n3,long,,main,n3:0-1/2,"1=2,3=18446744073709551614,4=1,5=2"
d,4,start,111,208,1,n1,short,,main,n1:0/1,"1=1,3=18446744073709551614,4=1,5=1"
c,3,end,141,,,,,,,,FAILED
a,1,hold,150,,,,,,,,COMPLETED
a,1,refused,150,,,,,,,,Job has already finished
d,4,stop,180,,,,,,,,TIMEOUT
k,8,submit,200,,,,,,,,
k,8,start,201,250,2,n3,long,,main,n3:0-1/2,"1=2,3=18446744073709551614,4=1,5=2"
,0,down,250,,,n3,,,,,
k,8,stop,250,,,,,,,,NODE_FAIL
,0,up,260,,,n3,,,,,
k,8,start,420,250,2,n3,long,,main,n3:0-1/2,"1=2,3=18446744073709551614,4=1,5=2"
k,8,end,920,,,,,,,,COMPLETED
h,6,left,22530,208,,,,,,,PENDING DependencyNeverSatisfied
i,7,left,22530,0,,,,,,,PENDING JobHeldUser
`, text)
	require.Equal(t, []string{
		"10 job 1 submitted ", "11 job 1 started ", "11 job 2 submitted ", "12 job 3 submitted ", "13 job 4 submitted ",
		"14 job 5 submitted ", "14 job 5 rejected Requested time limit is invalid (missing or exceeds some limit)",
		"15 job 6 submitted ", "15 job 6 rejected Invalid partition name specified",
		"16 job 7 submitted ", "16 job 7 rejected Node count specification invalid",
		"16 job 8 submitted ", "16 job 8 rejected Requested node configuration is not available", "17 job 9 submitted ", "18 job 10 submitted ",
		"50 job 2 rejected CANCELLED", "111 job 1 finished ", "111 job 4 started ", "111 job 3 started ", "141 job 3 finished ",
		"180 job 4 killed killed at its estimate", "200 job 11 submitted ", "201 job 11 started ", "250 job 11 requeued ", "420 job 11 started ",
		"920 job 11 finished ", "job 9 DependencyNeverSatisfied", "job 10 JobHeldUser",
	}, heard)
}

// An hour is a multiple of the periods of all loops: a controller that has been up for two does the
// same as one that has been up for one. One that has been up for 17 s more does other things.
func TestAControllersPhaseMovesStarts(t *testing.T) {
	dir := folder(t, map[string]string{replay.ConfigFile: conf, replay.JobsFile: jobs, replay.OrdersFile: orders,
		replay.ReservationsFile: "created,name,start,minutes,nodelist,users\n30,r,4000,5,n1,u1\n"})
	in, err := replay.ReadFolder(dir)
	require.NoError(t, err)
	events, heard := playInput(t, in.Later(des.Hour))
	again, heardAgain := playInput(t, in.Later(2*des.Hour))
	require.Equal(t, events, again)
	require.Equal(t, heard, heardAgain)
	other, _ := playInput(t, in.Later(des.Hour+17*des.Second))
	require.NotEqual(t, events, other)
	require.Contains(t, other, "a,1,submit,10,")
}

// A plain recording has starts and ends only, under the name of the job.
func TestAPlainFolderTellsOfStartsAndEnds(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{replay.ConfigFile: conf, replay.JobsFile: "name,submit,limit_min,runtime,nodes\nx,1.25,10,5,2\n"}))
	require.Equal(t, "name,job,event,time,priority,cpus,nodes\nx,1,start,3,416,2,n[1-2]\nx,1,end,8,,,\n", text)
}

// What is wrong with a file is said with its name, line and column, and what is wanted.
func TestBadFilesAreNamed(t *testing.T) {
	first := "key,submit,limit_min,runtime,nodes,nodelist,dependency,gres\n"
	for _, bad := range []struct{ file, text, want string }{
		{replay.ConfigFile, "NodeName=n[1-2\n", "slurm.conf:1: NodeName"},
		{replay.ConfigFile, "PartitionName=p Nodes=ALL\n", "slurm.conf: no row NodeName"},
		{replay.AccountsFile, "add user u1 account=b\n", `sacctmgr.txt:1: add user u1: there is no account "b"`},
		{replay.JobsFile, "key,submit,runtime\n", `jobs.csv: it has no column "limit_min"`},
		{replay.JobsFile, first + "a,x,1,1,,,,\n", "jobs.csv: line 2: submit: want a time"},
		{replay.JobsFile, first + "a,1,0,1,,,,\n", "jobs.csv: line 2: limit_min: want a limit of 1 minute or more"},
		{replay.JobsFile, first + "a,1,1,1,-1,,,\n", "jobs.csv: line 2: nodes: want a whole number of 0 or more"},
		{replay.JobsFile, first + ",1,1,1,,,,\n", "jobs.csv: line 2: want a name of the job"},
		{replay.JobsFile, first + "a,1,1,1,,,,\na,2,1,1,,,,\n", `jobs.csv: line 3: there is a job "a" in line 2 already`},
		{replay.JobsFile, first + "a,2,1,1,,,,\nb,1,1,1,,,,\n", "jobs.csv: line 3: submit: 1 is before 2 of the line above"},
		{replay.JobsFile, first + "a,2,1,1,,n[1,,\n", "jobs.csv: line 2"},
		{replay.JobsFile, first + "a,2,1,1,,,afterok:b,\n", `jobs.csv: line 2: dependency: no line above has a job "b"`},
		{replay.JobsFile, first + "a,2,1,1,,,later:b,\n", `jobs.csv: line 2: dependency: "later:b": want one of after, afterany`},
		{replay.JobsFile, first + "a,2,1,1,,,,gpu:a100:b:2\n", `jobs.csv: line 2: gres: "gpu:a100:b:2": want KIND:COUNT or KIND:TYPE:COUNT`},
		{replay.JobsFile, first + "a,2,1,1,,,,gpu:2x\n", `jobs.csv: line 2: gres: "gpu:2x": want a whole number as the count of KIND:COUNT or KIND:TYPE:COUNT`},
		{replay.JobsFile, "key,submit,limit_min,runtime,feature\na,1,1,1,x|y\n", `jobs.csv: line 2: feature: want features with & between them, as other ways to combine them are not simulated, not "x|y"`},
		{replay.JobsFile, "key,submit,limit_min,runtime,reservation\na,1,1,1,\"r,s\"\n", "jobs.csv: line 2: reservation: want the name of one reservation"},
		{replay.OrdersFile, "time,do,job\n1,hold,z\n", `actions.csv: line 2: job: there is no job "z"`},
		{replay.OrdersFile, "time,do,job,value\n1,limit,a,0\n", "actions.csv: line 2: value: want a limit of 1 minute or more"},
		{replay.OrdersFile, "time,do,node\n1,down,n9\n", `actions.csv: line 2: node: "n9" is no node of slurm.conf`},
		{replay.OrdersFile, "time,do\n1,burn\n", "actions.csv: line 2: do: want cancel"},
		{replay.ReservationsFile, "created,name,start,minutes,nodelist\n1,r,2,3,n9\n", `reservations.csv: line 2: nodelist: "n9" is no node of slurm.conf`},
	} {
		files := map[string]string{replay.ConfigFile: conf, replay.JobsFile: jobs}
		files[bad.file] = bad.text
		_, err := replay.ReadFolder(folder(t, files))
		require.ErrorContains(t, err, bad.want)
	}
	_, err := replay.ReadFolder(t.TempDir())
	require.ErrorContains(t, err, replay.ConfigFile)
}

// Outages that begin while nothing runs are, after ten in a row for each node, nothing that happens: a job that
// waits in vain has the run go on for six hours after them. A job that runs has the count begin anew.
func TestOutagesThatStopNobodyAreNothingThatHappens(t *testing.T) {
	ends := func(jobs string) string {
		in, err := replay.ReadFolder(folder(t, map[string]string{replay.ConfigFile: conf,
			replay.JobsFile: "key,submit,hold,nodes,nodelist,requeue,limit_min,runtime\nheld,1.25,1,1,,,10,5\n" + jobs}))
		require.NoError(t, err)
		in.Outages = func(yield func(replay.Outage) bool) {
			for at := 10 * des.Minute; yield(replay.Outage{Known: at, From: at, To: at.Add(des.Minute), Nodes: []int{0}}); at = at.Add(10 * des.Minute) {
			}
		}
		text, _ := playInput(t, in)
		var last string
		for line := range strings.Lines(text) {
			last = line
		}
		require.Contains(t, last, "PENDING JobHeldUser")
		return strings.Split(last, ",")[3]
	}
	// The 30th of three nodes ends at 301 minutes; the machine is looked at each minute from 10 s after the last
	// input on.
	require.Equal(t, "39671", ends(""))
	// On another node a job runs at 100 minutes: the 30 after that are counted, the last of which ends at 401 minutes.
	require.Equal(t, "45700", ends("runs,5970.25,,1,n3,,10,40\n"))
}

// An operator's order does not bring back a node that is in an outage, and the end of an outage not one that
// operators have drained.
func TestNodesInOutagesWaitForTheirEnd(t *testing.T) {
	in, err := replay.ReadFolder(folder(t, map[string]string{replay.ConfigFile: conf,
		replay.JobsFile:   "key,submit,nodes,nodelist,limit_min,runtime\na,100.25,1,n1,10,5\nb,100.25,1,n2,10,5\nc,100.25,1,n3,10,5\n",
		replay.OrdersFile: "time,do,node\n10.75,drain,n2\n60.75,up,\"n[1,3]\"\n900.75,up,n2\n"}))
	require.NoError(t, err)
	in.Outages = slices.Values([]replay.Outage{{From: 50 * des.Second, To: 500 * des.Second, Nodes: []int{0, 1}}})
	text, _ := playInput(t, in)
	var told []string
	for line := range strings.Lines(text) {
		if f := strings.Split(line, ","); f[2] == "up" || f[2] == "start" {
			told = append(told, strings.TrimSuffix(f[0]+" "+f[3]+" "+f[6], "\n"))
		}
	}
	require.Equal(t, []string{" 60 n3", "c 101 n3", " 500 n1", "a 503 n1", " 900 n2", "b 903 n2"}, told, text)
}

// A job whose dependency can never be met leaves the queue where slurm.conf says so: a row tells of it, also if
// that is clear as it comes.
func TestHopelessJobsAreCancelled(t *testing.T) {
	text, heard := play(t, folder(t, map[string]string{replay.ConfigFile: conf + "DependencyParameters=kill_invalid_depend\n",
		replay.JobsFile: "key,submit,nodes,dependency,limit_min,runtime,rc\na,1.25,1,,10,50,1\nb,2.25,1,afterok:a,10,5,\nc,90.25,1,afterok:a,10,5,\n"}))
	require.Contains(t, text, "b,2,stop,53,,,,,,,,CANCELLED\n", text)
	require.Contains(t, text, "c,3,submit,90,,,,,,,,\nc,3,stop,90,,,,,,,,CANCELLED\n", text)
	require.Equal(t, []string{"90 job 3 submitted ", "90 job 3 rejected CANCELLED"}, heard[len(heard)-2:])
	// A hopeless job that is refused, too, is one job: the run goes on until the last of the others has ended.
	text, _ = play(t, folder(t, map[string]string{replay.ConfigFile: conf + "DependencyParameters=kill_invalid_depend\n",
		replay.JobsFile: "key,submit,nodes,tasks,cpt,dependency,limit_min,runtime,rc\na,1.25,1,1,1,,10,50,1\nb,90.25,1,1,5,afterok:a,10,5,\nc,91.25,1,1,1,,10,500,\n"}))
	require.Contains(t, text, "b,0,submit,90,,,,,,,,Requested node configuration is not available\n", text)
	require.Contains(t, text, "COMPLETED\n", text)
	require.NotContains(t, text, "left", text)
}

// What scontrol -o show res of 22.05.8 has printed is read; unknown keys are told once.
func TestReservationsOfScontrolAreRead(t *testing.T) {
	const rest = " State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n"
	shown := "ReservationName=over StartTime=1999-12-31T20:00:00 EndTime=1999-12-31T21:00:00 Duration=01:00:00 Nodes=n3 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=4 Users=u1 Groups=(null) Accounts=(null) Licenses=(null)" + rest +
		"ReservationName=maint StartTime=2000-01-01T03:04:05 EndTime=2000-01-01T05:04:05 Duration=02:00:00 Nodes=n[1-2] NodeCnt=2 CoreCnt=8 Features=(null) PartitionName=(null) Flags=MAINT,IGNORE_JOBS,SPEC_NODES TRES=cpu=8 Users=root Groups=(null) Accounts=(null) Licenses=(null)" + rest +
		"ReservationName=daily StartTime=1999-12-31T23:00:00 EndTime=2000-01-01T01:00:00 Duration=02:00:00 Nodes=n3 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=short Flags=DAILY,SPEC_NODES TRES=cpu=4 Users=u1,u2 Groups=(null) Accounts=phys Licenses=matlab:1 Colour=blue" + rest +
		"ReservationName=weekly StartTime=2000-01-02T00:00:00 EndTime=2000-01-02T01:00:00 Duration=01:00:00 Nodes=n3 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=(null) Flags=DAILY TRES=cpu=4 Users=-u1 Groups=(null) Accounts=(null) Licenses=(null) Colour=blue" + rest
	in, err := replay.ReadFolder(folder(t, map[string]string{replay.ConfigFile: conf, replay.JobsFile: jobs}))
	require.NoError(t, err)
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	dates := func(text string) (des.Time, error) {
		at, err := time.Parse("2006-01-02T15:04:05", text)
		return des.Time(at.Unix()-midnight.Unix()) * des.Second, err
	}
	before, unknown := len(in.Unknown), []string{}
	path := filepath.Join(folder(t, map[string]string{"shown.txt": shown}), "shown.txt")
	require.NoError(t, in.ReadReservations(path, dates))
	for _, u := range in.Unknown[before:] {
		unknown = append(unknown, fmt.Sprintf("%d: %v", u.Line, u.Unknown))
	}
	require.Equal(t, []string{
		"3: Flags=DAILY is not simulated (1 lines more have it): the reservation is there once, with these nodes", "3: Licenses=matlab:1 is not simulated: licences are not reserved",
		"3: Colour=blue is not simulated (1 lines more have it)", "4: Users=-u1 is not simulated: those who may not use it may",
	}, unknown)
	require.Equal(t, []replay.Booking{
		{Reservation: slurm.Reservation{Name: "maint", Start: 11045 * des.Second, End: 18245 * des.Second, Nodes: []int{0, 1}, Users: []string{"root"}, Maintenance: true}},
		{Reservation: slurm.Reservation{Name: "daily", End: des.Hour, Nodes: []int{2}, Users: []string{"u1", "u2"}, Accounts: []string{"phys"}, Partition: 1}},
		{Reservation: slurm.Reservation{Name: "weekly", Start: 24 * des.Hour, End: 25 * des.Hour, Nodes: []int{2}}},
	}, in.Reservations)
	require.ErrorContains(t, in.ReadReservations(path, nil), "shown.txt: StartTime is a date: want a log whose header tells its calendar")
	for bad, want := range map[string]string{
		strings.Replace(shown, "n3", "n9", 1):                                       `shown.txt:1: Nodes: "n9" is no node of slurm.conf`,
		strings.Replace(shown, "PartitionName=short", "PartitionName=x", 1):         `shown.txt:3: PartitionName: there is no partition "x"`,
		strings.Replace(shown, "EndTime=2000-01-01T05", "EndTime=2000-01-01T03", 1): "shown.txt:2: want Nodes, StartTime and a later EndTime",
		shown + "No reservations\n":                                                 "shown.txt:5: want lines of scontrol -o show res",
	} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o666))
		require.ErrorContains(t, in.ReadReservations(path, dates), want)
	}
}

// A job that asks for GPUs with a type and for GPUs without one is refused before it is given a number.
func TestAJobOfMixedDevicesUsesUpNoNumber(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "GresTypes=gpu\nNodeName=n1 CPUs=4 Gres=gpu:a:2\nPartitionName=all Nodes=ALL Default=YES\nAccountingStorageTRES=gres/gpu,gres/gpu:a\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.JobsFile:   "key,submit,nodes,limit_min,runtime,gres\nx,9.25,1,60,5,\"gpu:1,gpu:a:1\"\ny,10.25,1,60,5,\n",
	}))
	require.Contains(t, text, "y,1,submit,10,")
}

// A job whose QoS, account, licences, devices or nodes Slurm does not take uses up no number, and one in a partition that it names twice
// is there once.
func TestWhatUsesUpNoNumber(t *testing.T) {
	text, _ := play(t, folder(t, map[string]string{
		replay.ConfigFile: "Licenses=m:1\nGresTypes=gpu\nNodeName=n[1-2] CPUs=4\nPartitionName=all Nodes=ALL Default=YES\nAccountingStorageType=accounting_storage/slurmdbd\n" +
			"AccountingStorageEnforce=qos\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerParameters=partition_job_depth=1\n",
		replay.AccountsFile: "add account a\nadd user u1 account=a\nadd qos hi\n",
		replay.JobsFile: "key,submit,uid,qos,licenses,gres,nodelist,exclude,partition,limit_min,runtime\na,1.25,5001,hi,,,,,,10,5\nb,2.25,5002,,,,,,,10,5\nc,3.25,5001,,m:2,,,,,10,5\n" +
			"d,4.25,5001,,,mic:1,,,,10,5\ne,5.25,5001,,,,n1,n1,,10,5\nf,6.25,5001,,,,,,\"all,all\",10,5\n",
	}))
	for key, why := range map[string]string{"a": "Invalid qos specification", "b": "Invalid account or account/partition combination specified", "c": "Invalid license specification",
		"d": "Invalid generic resource (gres) specification", "e": "Invalid node name specified"} {
		require.Contains(t, text, why+"\n", key)
	}
	require.Contains(t, text, "f,1,submit,6,,,,,,,,\nf,1,start,7,", text)
}

// A column that is not read is told: what it asks for is not simulated.
func TestColumnsThatAreNotReadAreTold(t *testing.T) {
	in, err := replay.ReadFolder(folder(t, map[string]string{replay.ConfigFile: conf, replay.JobsFile: "key,submit,limit_min,runtime,deadline,nodes\na,1.25,10,5,900,1\n",
		replay.OrdersFile: "time,do,job,by\n2.75,cancel,a,root\n", replay.ReservationsFile: "name,start,minutes,nodelist,flags\nr,100,5,n1,FLEX\n"}))
	require.NoError(t, err)
	var told []string
	for _, u := range in.Unknown {
		told = append(told, fmt.Sprintf("%s:%d: %v", filepath.Base(u.File), u.Line, u.Unknown))
	}
	require.Equal(t, []string{`jobs.csv:1: column "deadline" is not simulated`, `reservations.csv:1: column "flags" is not simulated`, `actions.csv:1: column "by" is not simulated`}, told)
}
