package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// slurmFolder is a folder with two nodes, on which Slurm decides, and some jobs.
func slurmFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		replay.ConfigFile: "SchedulerParameters=fancy_option,bf_interval=30\nFancy=1\n" +
			"NodeName=n[1-2] Sockets=1 CoresPerSocket=4\nPartitionName=p Nodes=ALL Default=YES MaxTime=60\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.JobsFile: "key,submit,partition,nodes,tasks,limit_min,runtime,requeue\n" +
			"a,1.25,,2,8,10,100,\nb,2.25,,2,8,10,50,\nc,3.25,p,1,1,1,20,\nd,4.25,q,1,1,1,20,\ne,5.25,,3,,1,20,\nf,6.25,,1,1,1,200,0\ng,7.25,,1,1,90,1,\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// plainSlurmFolder is the same with one job, whose events are told as plain recordings tell them.
func plainSlurmFolder(t *testing.T) string {
	t.Helper()
	dir := slurmFolder(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, replay.JobsFile), []byte("name,submit,limit_min,runtime\na,1.25,10,60\n"), 0o666))
	return dir
}

// A folder's run ends two days after its last input: jobs that still run are told of, and are in none of the means.
func TestSlurmTellsOfJobsThatStillRun(t *testing.T) {
	dir, out := plainSlurmFolder(t), filepath.Join(t.TempDir(), "out")
	require.NotContains(t, call("simulate", "--slurm", dir).stderr, "still run")
	require.NoError(t, os.WriteFile(filepath.Join(dir, replay.ConfigFile), []byte("NodeName=n1 CPUs=4\nPartitionName=all Nodes=n1 Default=YES\nSelectTypeParameters=CR_Core\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, replay.JobsFile), []byte("name,submit,limit_min,runtime\na,1.25,6000,100\nb,2.25,6000,172700\nc,2.5,6000,172900\n"), 0o666))
	o := succeed(t, "simulate", "--slurm", dir, "--out", out)
	require.Contains(t, o.stderr, "1 jobs still run, from job 3 on, as the run ends two days after its last input")
	require.Equal(t, "3", table(t, out, "summary.csv")[0]["jobs"])
	require.Equal(t, "RUNNING", table(t, out, "jobs-slurm.csv")[2]["final_state"])
}

func TestSlurmDecidesForAFolder(t *testing.T) {
	dir, out := slurmFolder(t), filepath.Join(t.TempDir(), "out")
	o := succeed(t, "simulate", "--slurm", dir, "--out", out)
	require.Contains(t, o.stdout, "slurm")
	require.Contains(t, o.stderr, "slurm.conf:1: fancy_option is not simulated")
	require.Contains(t, o.stderr, "slurm.conf:2: Fancy is not simulated")
	require.Contains(t, o.stderr, "1 of 7 jobs rejected")
	require.Contains(t, o.stderr, filepath.Join(dir, replay.JobsFile)+`:5: job d is refused: Invalid partition name specified: "q" is none of slurm.conf`)
	require.Contains(t, o.stderr, "2 jobs still wait, from job 5 on: PartitionNodeLimit")
	var jobs []string
	for _, r := range table(t, out, "jobs-slurm.csv") {
		jobs = append(jobs, strings.Join([]string{r["job_id"], r["final_state"], r["starting_time"], r["finish_time"], r["allocated_resources"]}, " "))
	}
	require.Equal(t, []string{
		"1 COMPLETED_SUCCESSFULLY 3 103 0-7", "2 COMPLETED_SUCCESSFULLY 103 153 0-7", "3 COMPLETED_SUCCESSFULLY 153 173 0",
		"4 REJECTED   ", "5 SUBMITTED   ", "6 COMPLETED_WALLTIME_REACHED 153 240 1", "7 SUBMITTED   ",
	}, jobs)
	require.Equal(t, "2", table(t, out, "summary.csv")[0]["waiting"])
	require.Len(t, table(t, out, replay.EventsFile), 7+4+3+1+2)
	require.NotEmpty(t, table(t, out, "queue-slurm.csv"))
	require.Contains(t, read(t, out, "manifest.json"), "sha256 at "+filepath.Join(dir, replay.JobsFile))

	again := filepath.Join(t.TempDir(), "again")
	o = succeed(t, "simulate", "--from-manifest", out, "--out", again)
	for _, name := range []string{replay.EventsFile, "jobs-slurm.csv", "queue-slurm.csv"} {
		require.Equal(t, read(t, out, name), read(t, again, name), name)
	}
}

// A machine with nothing to play is over at once.
func TestSlurmsRulesEndWithoutJobs(t *testing.T) {
	conf := write(t, "slurm.conf", "NodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL Default=YES\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n")
	o := exits(t, exitFailed, "simulate", write(t, "one.swf", swf("0 10 1 20")), "--slurm", conf, "--skip", "1")
	require.Contains(t, o.stderr, "there are no jobs to simulate")
}

// A log of Slurm's accounting has the partitions, accounts, QoSs and features of its jobs; a job of a
// partition or an account that there is not is refused, and told.
func TestSlurmDecidesForALogOfASite(t *testing.T) {
	log := write(t, "jobs.txt", `JobID|User|Account|Partition|QOS|Submit|Start|ElapsedRaw|TimelimitRaw|ReqCPUS|NNodes|State|Constraints
1|ada|phys|long|normal|2024-01-31T10:00:00|2024-01-31T10:00:00|100|10|8|2|COMPLETED|
2|bob|chem|short|normal|2024-01-31T10:00:10|2024-01-31T10:01:00|50|10|4|1|COMPLETED|fast
3|eve|chem|none|normal|2024-01-31T10:00:20|2024-01-31T10:01:00|50|10|4|1|COMPLETED|
4|eve|bio|long|normal|2024-01-31T10:00:30|2024-01-31T10:01:00|50|10|4|1|COMPLETED|
5|ada|phys|long|normal|2024-01-31T10:00:40|2024-01-31T10:01:00|50|10|4|1|COMPLETED|
`)
	conf := write(t, "slurm.conf", `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations
PriorityType=priority/multifactor
PriorityWeightFairshare=1000
NodeName=n[1-2] Sockets=1 CoresPerSocket=4 Feature=fast
NodeName=n3 Sockets=1 CoresPerSocket=4
PartitionName=long Nodes=ALL Default=YES MaxTime=600
PartitionName=short Nodes=ALL MaxTime=60 PriorityTier=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
`)
	accounts := write(t, "accounts.txt", "add account phys fairshare=1\nadd account chem fairshare=1\nadd user ada account=phys\nadd user bob account=chem\n")
	reservations := write(t, "reservations.csv", "name,start,minutes,nodelist,users,maint\nmaint,5,10,n3,root,1\n")
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"simulate", log, "--from", "sacct:zone=UTC", "--slurm", conf, "--out", out}
	o := exits(t, exitFailed, args...)
	require.Contains(t, o.stderr, "enforces them (AccountingStorageEnforce): give the commands of sacctmgr that made them")
	o = succeed(t, append(args, "--accounts", accounts, "--reservations", reservations, "--decisions")...)
	require.Contains(t, call("explain", out, "2").stdout, "\n2024-01-31 10:01:43           103 s  started, after waiting for 93 s", "the log has dates")
	require.Contains(t, o.stderr, "2 of 5 jobs rejected, 1 of them: Invalid partition name specified")
	require.Contains(t, o.stderr, `job 3 is refused: Invalid partition name specified: "none" is none of slurm.conf`)
	require.Contains(t, o.stderr, `job 4 is refused: Invalid account or account/partition combination specified: user "eve" is not in account "bio"`)
	require.Equal(t, `key,job,event,time,priority,cpus,nodes,partition,qos,by,cores,detail
maint,0,resv,0,,,,,,,,
1,1,submit,0,,,,,,,,
1,1,start,3,1000,8,n[1-2],long,normal,main,n1:0-3/4 n2:0-3/4,"1=8,3=18446744073709551614,4=2,5=8"
2,2,submit,10,,,,,,,,
3,0,submit,20,,,,,,,,Invalid partition name specified
4,0,submit,30,,,,,,,,Invalid account or account/partition combination specified
5,3,submit,40,,,,,,,,
1,1,end,103,,,,,,,,COMPLETED
2,2,start,103,1000,4,n1,short,normal,main,n1:0-3/4,"1=4,3=18446744073709551614,4=1,5=4"
5,3,start,103,1000,4,n2,long,normal,main,n2:0-3/4,"1=4,3=18446744073709551614,4=1,5=4"
2,2,end,153,,,,,,,,COMPLETED
5,3,end,153,,,,,,,,COMPLETED
`, read(t, out, replay.EventsFile))

	o = succeed(t, "simulate", write(t, "a.swf", smallTrace), "--slurm", conf, "--accounts", accounts)
	require.Contains(t, o.stderr, "Invalid account", "users of a log that are in no account")
	o = exits(t, exitUsage, "simulate", "--slurm", conf)
	require.Contains(t, o.stderr, "has no jobs: give a log as TRACE")
}

// A job whose queue is unknown goes to the default partition, also where the log names queues.
func TestJobsWithoutAQueueGoToTheDefaultPartition(t *testing.T) {
	conf := write(t, "slurm.conf", "NodeName=n[1-4] CPUs=1\nPartitionName=all Nodes=ALL Default=YES\nPartitionName=debug Nodes=n1\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n")
	log := write(t, "a.swf", `; MaxProcs: 4
; Queue: 3 debug
; Queue: 4 none
1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 -1 1 -1 -1
2 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 3 1 -1 -1
3 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 4 1 -1 -1
4 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 0 1 -1 -1
`)
	out := filepath.Join(t.TempDir(), "out")
	o := succeed(t, "simulate", log, "--slurm", conf, "--out", out)
	require.Contains(t, o.stderr, `job 3 is refused: Invalid partition name specified: "none" is none of slurm.conf`)
	require.Contains(t, o.stderr, `job 4 is refused: Invalid partition name specified: "0" is none of slurm.conf`)
	events := read(t, out, replay.EventsFile)
	require.Regexp(t, `(?m)^1,1,start,.*,all,`, events)
	require.Regexp(t, `(?m)^2,2,start,.*,debug,`, events)
}

// Accounts and reservations of a site are what its Slurm itself prints.
func TestWhatSlurmPrintsOfASiteIsRead(t *testing.T) {
	log := write(t, "jobs.txt", `JobID|User|Account|Partition|QOS|Submit|Start|ElapsedRaw|TimelimitRaw|ReqCPUS|NNodes|State|Constraints
1|ada|phys|long|hi|2024-01-31T10:00:00|2024-01-31T10:00:00|100|10|4|1|COMPLETED|
2|ada|phys|long|hi|2024-01-31T10:00:10|2024-01-31T10:01:00|50|10|4|1|COMPLETED|
3|bob||long|normal|2024-01-31T10:00:20|2024-01-31T10:01:00|50|10|4|1|COMPLETED|
`)
	conf := write(t, "slurm.conf", "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\nPriorityType=priority/multifactor\n"+
		"PriorityWeightFairshare=1000\nNodeName=n[1-2] Sockets=1 CoresPerSocket=4\nPartitionName=long Nodes=ALL Default=YES\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n")
	accounts := write(t, "accounts.txt", `Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|Flags|UsageThres|UsageFactor|GrpTRES|GrpJobs|GrpWall|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU
normal|0|00:00:00|||cluster|||1.000000||||||||
hi|100|00:00:00|normal||cluster||0.5|1.000000|||100|||cpu=7|1|
Cluster - 'site':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'phys':Description='physics: all':Organization='x':Fairshare=50:QOS='hi,normal'
Account - 'chem':Description='chem':Organization='x':Fairshare=50:GrpTRES=cpu=4,mem=2G
Parent - 'phys'
User - 'ada':DefaultAccount='phys':Fairshare=1
User - 'bob':DefaultAccount='chem':Fairshare=1
Parent - 'chem'
User - 'bob':DefaultAccount='chem':Fairshare=1
`)
	reservations := write(t, "res.txt", "ReservationName=maint StartTime=2024-01-31T10:05:00 EndTime=2024-01-31T11:05:00 Duration=01:00:00 Nodes=n2 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=(null) "+
		"Flags=MAINT,IGNORE_JOBS,SPEC_NODES,DAILY TRES=cpu=4 Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n")
	out := filepath.Join(t.TempDir(), "out")
	o := succeed(t, "simulate", log, "--from", "sacct:zone=UTC", "--slurm", conf, "--accounts", accounts, "--reservations", reservations, "--out", out)
	require.Contains(t, o.stderr, accounts+":3: usagethreshold=0.5 is not simulated: this limit does not hold")
	require.Contains(t, o.stderr, reservations+":1: Flags=DAILY is not simulated: the reservation is there once, with these nodes")
	events := read(t, out, replay.EventsFile)
	require.Contains(t, events, "\n1,1,start,3,1000,4,n1,", "on n1, as n2 is reserved before its limit is over")
	require.Regexp(t, `\n2,2,start,10[0-9],`, events, "MaxJobsPU")
	require.Contains(t, events, "\n3,3,start,")
	o = succeed(t, "validate", out)
	o = call("simulate", write(t, "a.swf", smallTrace), "--slurm", conf, "--accounts", accounts, "--reservations", reservations)
	require.NotZero(t, o.code)
	require.Contains(t, o.stderr, "is a date")
}

// What Slurm's rules have made is checked by the site's own files; a mischief in it is told.
func TestSlurmsSchedulesAreValidated(t *testing.T) {
	dir, out := slurmFolder(t), filepath.Join(t.TempDir(), "out")
	require.Zero(t, call("simulate", "--slurm", dir, "--out", out).code)
	o := succeed(t, "validate", out)
	require.Contains(t, o.stdout, "7 jobs: 3 finished, 1 killed, 1 rejected, 2 unfinished; valid")
	events := filepath.Join(out, replay.EventsFile)
	text := strings.Replace(read(t, out, replay.EventsFile), "c,3,start,153,", "c,3,start,103,", 1)
	require.NoError(t, os.WriteFile(events, []byte(text), 0o666))
	o = exits(t, exitFailed, "validate", out)
	require.Contains(t, o.stdout, "job 3: wrong run time: c: it ran for 70 s, and takes 20")
	require.Equal(t, 2, call("validate", filepath.Join(out, "jobs-slurm.csv"), "--policy", "easy").code)

	require.Zero(t, call("simulate", "--slurm", plainSlurmFolder(t), "--out", out).code)
	o = succeed(t, "validate", out)
	require.Equal(t, "name,job,event,time,priority,cpus,nodes\na,1,start,3,4294901759,1,n1\na,1,end,63,,,\n", read(t, out, replay.EventsFile))
	for old, mischief := range map[string]struct{ with, want string }{
		"3,4294901759": {"4,4294901759", `slurm-events.csv, line 2: time is "4", and of the event it is "3"`},
		"a,1,end":      {"b,1,end", `slurm-events.csv, line 3: name is "b", and of the event it is "a"`},
		"end,63,,,\n":  {"end,63,,,\na,1,end,63,,,\n", "slurm-events.csv, line 4: there is no such event"},
		"a,1,end,63,,": {"", "slurm-events.csv: the end has no row"},
	} {
		text := read(t, out, replay.EventsFile)
		changed := strings.Replace(text, old, mischief.with, 1)
		if mischief.with == "" {
			changed = text[:strings.Index(text, old)]
		}
		require.NoError(t, os.WriteFile(filepath.Join(out, replay.EventsFile), []byte(changed), 0o666))
		o = exits(t, exitFailed, "validate", out)
		require.Contains(t, o.stdout, mischief.want)
		require.NoError(t, os.WriteFile(filepath.Join(out, replay.EventsFile), []byte(text), 0o666))
	}
	require.NoError(t, os.WriteFile(filepath.Join(out, replay.AllEventsFile), []byte(strings.Replace(read(t, out, replay.AllEventsFile), "n1:0/1", "n1:0-1/1", 1)), 0o666))
	require.Equal(t, 1, call("validate", out).code)
	require.NoError(t, os.Remove(filepath.Join(out, replay.AllEventsFile))) // as keep: [jobs, slurm] of a study does
	o = exits(t, exitFailed, "validate", out)
	require.Contains(t, o.stderr, "what is checked stands in controller-events.csv, which a study keeps with keep: controller")
}

// Phases are runs that differ only in when the loops of the controller wake; the spread of each
// measure is told, and each of them is checked, repeated and read like any run.
func TestPhasesTellTheSpread(t *testing.T) {
	conf, out := filepath.Join(slurmFolder(t), replay.ConfigFile), filepath.Join(t.TempDir(), "out")
	simulate := func(args ...string) outcome {
		return call(append([]string{"simulate", "lublin:jobs=60:procs=8:load=1", "--slurm", conf}, args...)...)
	}
	o := simulate("--phases", "3", "--out", out)
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, "over 3 phases")
	require.Contains(t, o.stdout, "rules exact, phase unknown")
	summary := table(t, out, "summary.csv")
	require.Len(t, summary, 3)
	spread := map[string]map[string]string{}
	for _, row := range table(t, out, "phases.csv") {
		spread[row["measure"]] = row
	}
	require.Equal(t, "3", spread["mean_wait"]["phases"])
	least, most, sum := math.Inf(1), 0., 0.
	for _, row := range summary {
		require.Regexp(t, `^slurm:phase=\d+$`, row["policy"])
		wait, err := strconv.ParseFloat(row["mean_wait"], 64)
		require.NoError(t, err)
		least, most, sum = min(least, wait), max(most, wait), sum+wait
	}
	require.Less(t, least, most)
	number := func(column string) float64 {
		v, err := strconv.ParseFloat(spread["mean_wait"][column], 64)
		require.NoError(t, err)
		return v
	}
	require.Equal(t, []float64{least, most}, []float64{number("min"), number("max")})
	require.InDelta(t, sum/3, number("mean"), 1e-9)
	require.Less(t, number("low"), number("mean"))
	require.Greater(t, number("high"), number("mean"))

	o = succeed(t, "validate", out)
	require.Equal(t, 3, strings.Count(o.stdout, "; valid"))
	require.Zero(t, call("report", out).code)
	again := filepath.Join(t.TempDir(), "again")
	o = succeed(t, "simulate", "--from-manifest", out, "--out", again)
	require.Equal(t, read(t, out, "phases.csv"), read(t, again, "phases.csv"))

	one := filepath.Join(t.TempDir(), "one") // fewer runs leave nothing of the others behind
	require.Zero(t, simulate("--policy", "slurm:phase=7", "--out", one).code)
	require.FileExists(t, filepath.Join(one, "slurm-events-slurm-phase=7.csv"))
	require.NoFileExists(t, filepath.Join(one, "phases.csv"))
	require.Zero(t, call("validate", one).code)
	for args, want := range map[string]string{
		"--phases -1": "want a whole number of 0 or more", "--policy slurm:phase=3600": "want whole seconds of 0 to 3599", "--policy slurm:phas=1": "slurm:phase=SECONDS",
	} {
		o = simulate(strings.Fields(args)...)
		require.Equal(t, 2, o.code, args)
		require.Contains(t, o.stderr, want)
	}
	require.Contains(t, call("simulate", "--phases", "3").stderr, "give slurm, too")
}

// slurmQuarrel is a folder in which every job waits for something else.
func slurmQuarrel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		replay.ConfigFile: `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityWeightAge=100000
PriorityWeightFairshare=1000
PriorityWeightPartition=500
Licenses=matlab:1
SchedulerParameters=bf_max_job_user=2
NodeName=n[1-2] Sockets=1 CoresPerSocket=4
PartitionName=p Nodes=ALL Default=YES MaxTime=60 PriorityJobFactor=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
`,
		replay.AccountsFile: `add qos normal
add account phys grptres=cpu=8
add account chem
add user u1 account=chem
add user u2 account=phys
`,
		replay.ReservationsFile: "name,created,start,minutes,nodelist,users,maint\nlater,0,900,5,n2,u1,\n",
		replay.JobsFile: `key,submit,uid,nodes,tasks,limit_min,runtime,nice,licenses,dependency,begin,hold,reservation
a,1.25,5001,2,8,10,200,,matlab:1,,,,
b,2.25,5001,2,8,20,100,,,,,,
c,3.25,5001,2,8,5,50,100,,,,,
d,4.25,5001,1,1,5,50,,,afterok:b,,,
e,5.25,5001,1,1,5,50,,,,400,,
f,6.25,5001,1,1,5,50,,,,,1,
g,7.25,5001,1,1,4,50,,,,,,later
h,8.25,5001,1,1,1,20,,matlab:1,,,,
i,9.25,5002,2,5,10,300,,,,,,
j,10.25,5002,2,5,10,30,,,,,,
k,11.25,5001,1,1,90,30,,,,,,
l,12.25,5001,1,1,10,30,1,,,,,
`,
		replay.OrdersFile: "time,do,job,node,value\n600,release,f,,\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// Why a job waits is told with Slurm's reason, and with what it does not say: who is ahead, of what the
// priorities are the sum, which limit of whom, when.
func TestExplainTellsWhyJobsOfSlurmWait(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	require.Zero(t, call("simulate", "--slurm", slurmQuarrel(t), "--decisions", "--out", out).code)
	for job, want := range map[string]string{
		"2": `submitted
ReqNodeNotAvail: nodes that it asks for are down, drained or reserved; its start was planned for 1241 s; that changed to 1840 s by 1200 s
Resources: what it asks for is not free in partition p; its own priority is 1031 = age 198.1 + fair share 333.3 + partition 500; its start was planned for 1800 s
started, after waiting for 1228 s (20 min)
finished`,
		"4": `submitted
Dependency: afterok of job 2
started, after waiting for 1326 s (22 min)
finished`,
		"5": `submitted
BeginTime: it does not start before 400 s
started, after waiting for 415 s (7 min); it was backfilled, before a job that stood ahead of it
finished`,
		"6": `submitted
JobHeldUser: its user holds it
started, after waiting for 594 s (10 min); it was backfilled, before a job that stood ahead of it
finished`,
		"7": `submitted
Reservation: later begins at 900 s
started, after waiting for 893 s (15 min); it was backfilled, before a job that stood ahead of it
finished`,
		"8": `submitted
None: no pass of the main scheduler has come to it yet; its own priority is 1500 = fair share 1000 + partition 500
Licenses: it asks for 1 of matlab, of which 0 are free
started, after waiting for 195 s (3 min)
finished`,
		"10": `submitted
None: no pass of the main scheduler has come to it yet; its own priority is 1500 = fair share 1000 + partition 500
Priority: behind job 9 in partition p, whose priority is 1500 = fair share 1000 + partition 500; its own priority is 1500 = fair share 1000 + partition 500; its start was planned for 2440 s
AssocGrpCpuLimit: GrpTRES=cpu=8 of account phys, of which 5 are taken; its start was planned for 2440 s; that changed to 1241 s by 503 s
ReqNodeNotAvail: nodes that it asks for are down, drained or reserved; its start was planned for 1241 s
started, after waiting for 1190 s (20 min); it was backfilled, before a job that stood ahead of it
finished`,
		"11": `submitted
None: no pass of the main scheduler has come to it yet; its own priority is 1500 = fair share 1000 + partition 500
PartitionTimeLimit: it asks for more time than its partition lets a job have (MaxTime)
it was still waiting when the run ended`,
		"12": `submitted
None: no pass of the main scheduler has come to it yet; its own priority is 1499 = fair share 1000 + partition 500 - nice 1
Priority: behind job 9 in partition p, whose priority is 1500 = fair share 1000 + partition 500; its own priority is 1499 = fair share 1000 + partition 500 - nice 1
Priority: behind job 9 in partition p, whose priority is 1500 = fair share 1000 + partition 500; its own priority is 1499 = fair share 1000 + partition 500 - nice 1; backfill passed it over for bf_max_job_user
started, after waiting for 191 s (3 min)
finished`,
	} {
		o := succeed(t, "explain", out, job)
		var told []string
		for _, line := range strings.Split(strings.TrimSpace(o.stdout), "\n")[1:] {
			_, text, _ := strings.Cut(line, " s  ")
			told = append(told, text)
		}
		require.Equal(t, want, strings.Join(told, "\n"), "job %s", job)
	}
}

// A limit is told with the one whose it is, how much of it there is, and how much of that is taken.
func TestExplainTellsLimitsOfSlurm(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, text := range map[string]string{
		replay.ConfigFile: `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
Licenses=matlab:2,ansys:1
NodeName=n1 Sockets=1 CoresPerSocket=8
PartitionName=p Nodes=ALL Default=YES
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
`,
		replay.AccountsFile: `add qos normal
add qos few maxjobsperuser=1
add account phys grpjobs=2
add account chem
add account bio maxwall=00:10:00
add user u1 account=phys
add user u2 account=chem qos=normal,few
add user u3 account=bio
add user u4 account=chem qos=normal,few
`,
		replay.JobsFile: `key,submit,uid,account,qos,nodes,tasks,limit_min,runtime,licenses,dependency,name
a,1.25,5001,phys,normal,1,1,60,600,"matlab:1,ansys:1",,x
b,2.25,5001,phys,normal,1,1,60,700,,,x
c,3.25,5001,phys,normal,1,1,60,30,,,
d,4.25,5002,chem,few,1,1,60,500,,,
e,5.25,5004,chem,few,1,1,60,600,,,
f,6.25,5002,chem,few,1,1,60,30,,,
g,7.25,5004,chem,normal,1,1,60,30,"matlab:1,ansys:1",,
h,8.25,5003,bio,normal,1,1,20,30,,,
i,9.25,5001,phys,normal,1,1,60,30,,singleton,x
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	succeed(t, "simulate", "--slurm", dir, "--decisions", "--out", out)
	for job, want := range map[string]string{
		"3": "AssocGrpJobsLimit: GrpJobs=2 of account phys, of which 2 are taken",
		"6": "QOSMaxJobsPerUserLimit: MaxJobsPerUser=1 of QoS few, of which 1 are taken",
		"7": "Licenses: it asks for 1 of ansys, of which 0 are free",
		"8": "AssocMaxWallDurationPerJobLimit: MaxWall=10 of account bio",
		"9": "Dependency: singleton of job 1",
	} {
		o := succeed(t, "explain", out, job)
		require.Contains(t, o.stdout, want+"\n", "job %s", job)
	}
}

// slurmRun runs a folder, and returns where its files are.
func slurmRun(t *testing.T, dir string, args ...string) (out string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	succeed(t, append([]string{"simulate", "--slurm", dir, "--out", out}, args...)...)
	return out
}

// rewritten is a copy of a folder of which one column of jobs.csv is another one.
func rewritten(t *testing.T, dir, column string, value func(row map[string]string) string) string {
	t.Helper()
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	header, _, _ := strings.Cut(read(t, dir, replay.JobsFile), "\n")
	columns := strings.Split(header, ",")
	text := header + "\n"
	for _, row := range table(t, dir, replay.JobsFile) {
		row[column] = value(row)
		var fields []string
		for _, name := range columns {
			fields = append(fields, row[name])
		}
		text += strings.Join(fields, ",") + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(copied, replay.JobsFile), []byte(text), 0o666))
	return copied
}

// minutesFor are the least whole minutes that a time in seconds fits into.
func minutesFor(t *testing.T, seconds string) int {
	t.Helper()
	s, err := strconv.ParseFloat(seconds, 64)
	require.NoError(t, err)
	return max(1, int(math.Ceil(s/60)))
}

// A prediction stands in place of the limit that a user asks for, as if users asked for it; where it is
// too short the limit is raised, as an operator could do it.
func TestPredictionsAreLimitsOfSlurm(t *testing.T) {
	dir := slurmQuarrel(t)
	plain := slurmRun(t, dir)
	request := slurmRun(t, dir, "--predict", "request")
	require.Equal(t, read(t, plain, replay.EventsFile), read(t, request, replay.EventsFile), "who predicts what was asked for changes nothing")

	exact := slurmRun(t, dir, "--predict", "true")
	known := slurmRun(t, rewritten(t, dir, "limit_min", func(row map[string]string) string { return strconv.Itoa(minutesFor(t, row["runtime"])) }))
	require.Equal(t, read(t, known, replay.EventsFile), read(t, exact, replay.EventsFile), "runtimes that are known are limits that fit")
	require.NotEqual(t, read(t, plain, replay.EventsFile), read(t, exact, replay.EventsFile))
	require.Equal(t, "0.000000", table(t, exact, "accuracy-slurm.csv")[0]["mean_absolute_error"])

	low := slurmRun(t, dir, "--predict", "request:factor=0.1", "--correct", "request")
	asked := map[string]string{}
	orders := read(t, dir, replay.OrdersFile)
	for _, row := range table(t, dir, replay.JobsFile) {
		asked[row["key"]] = row["limit_min"]
	}
	raised := 0
	for _, row := range table(t, low, replay.EventsFile) {
		if row["event"] == "limit" {
			orders += strings.Join([]string{row["time"], "limit", row["key"], "", asked[row["key"]]}, ",") + "\n"
			raised++
		}
	}
	require.Equal(t, 2, raised)
	ordered := rewritten(t, dir, "limit_min", func(row map[string]string) string {
		limit, err := strconv.ParseFloat(row["limit_min"], 64)
		require.NoError(t, err)
		return strconv.Itoa(minutesFor(t, strconv.FormatFloat(limit*6, 'f', -1, 64)))
	})
	require.NoError(t, os.WriteFile(filepath.Join(ordered, replay.OrdersFile), []byte(orders), 0o666))
	require.Equal(t, read(t, slurmRun(t, ordered), replay.EventsFile), read(t, low, replay.EventsFile))
	corrected := 0
	for _, row := range table(t, low, "jobs-slurm.csv") {
		if row["corrections"] == "1" {
			require.Equal(t, row["requested_time"], row["predicted"])
			corrected++
		}
	}
	require.Equal(t, raised, corrected)

	// a job that outlives what it asks for is killed then, whatever was predicted
	late := rewritten(t, dir, "runtime", func(row map[string]string) string {
		if row["key"] == "a" {
			return "5000"
		}
		return row["runtime"]
	})
	out := slurmRun(t, late, "--predict", "request:factor=0.1", "--correct", "doubling")
	require.Contains(t, read(t, out, replay.EventsFile), "a,1,stop,630,,,,,,,,TIMEOUT\n")
	require.Contains(t, read(t, out, replay.EventsFile), "a,1,limit,90,,,,,,,,RUNNING\n")

	for _, folder := range []string{request, exact, low, out, slurmRun(t, dir, "--predict", "recent")} {
		succeed(t, "validate", folder)
	}
	text := strings.Replace(read(t, low, replay.EventsFile), "a,1,limit,90,", "a,1,limit,91,", 1)
	text = strings.Replace(text, "i,9,limit,", "j,9,limit,", 1)
	require.NoError(t, os.WriteFile(filepath.Join(low, replay.EventsFile), []byte(text), 0o666))
	o := exits(t, exitFailed, "validate", low)
	require.Contains(t, o.stdout, "it ran for", "the limit was not raised")
}

// Outages are nodes that go down and come back, as operators' orders say it; those that are known ahead
// are reservations for maintenance as well.
func TestOutagesAreOrdersOfOperators(t *testing.T) {
	dir := rewritten(t, slurmQuarrel(t), "limit_min", func(row map[string]string) string { // no job is left waiting
		if row["key"] == "k" {
			return "50"
		}
		return row["limit_min"]
	})
	outages := write(t, "outages.csv", "from,to,node,known\n60,400,n1,\n450,500,0-7,\n720,840,n2,500\n950,1000,\"n1,n2\",\n")
	ordered := t.TempDir()
	require.NoError(t, os.CopyFS(ordered, os.DirFS(dir)))
	for name, more := range map[string]string{
		replay.OrdersFile:       "60,down,,n1,\n400,up,,n1,\n450,down,,n[1-2],\n500,up,,n[1-2],\n720,down,,n2,\n840,up,,n2,\n950,down,,n[1-2],\n1000,up,,n[1-2],\n",
		replay.ReservationsFile: "outage3,500,720,2,n2,root,1\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(ordered, name), []byte(read(t, ordered, name)+more), 0o666))
	}
	want := slurmRun(t, ordered)
	out := slurmRun(t, dir, "--outages", outages)
	require.Equal(t, read(t, want, replay.EventsFile), read(t, out, replay.EventsFile))
	require.Contains(t, read(t, out, replay.EventsFile), "NODE_FAIL")
	for _, folder := range []string{want, out} {
		succeed(t, "validate", folder)
	}
	require.Equal(t, "from,to,processors,node,known,victims\n60,400,4,0-3,60,1\n450,500,8,0-7,450,5\n720,840,4,4-7,500,\n950,1000,8,0-7,950,7\n",
		read(t, out, "outages-slurm.csv"))
	require.Equal(t, strconv.Itoa(4*340+8*50+4*120+8*50), table(t, out, "capacity.csv")[0]["down"])
	again := slurmRun(t, dir, "--outages", filepath.Join(out, "outages-slurm.csv")) // what came about can be played again
	require.Equal(t, read(t, out, replay.EventsFile), read(t, again, replay.EventsFile))

	// two that overlap are one, and each tells what it adds
	overlap := slurmRun(t, dir, "--outages", write(t, "overlap.csv", "from,to,node\n60,400,n1\n100,300,n1\n350,500,n[1-2]\n390,395,n1\n"))
	require.Equal(t, "from,to,processors,node,known,victims\n60,400,4,0-3,60,1\n350,500,4,4-7,350,\n400,500,4,0-3,400,\n", read(t, overlap, "outages-slurm.csv"))
	require.Equal(t, strconv.Itoa(4*440+4*150), table(t, overlap, "capacity.csv")[0]["down"])
	require.Equal(t, 2, strings.Count(read(t, overlap, replay.EventsFile), ",down,"))
	require.Equal(t, 1, strings.Count(read(t, overlap, replay.EventsFile), ",up,"), "both nodes come back at one instant")

	// a model has no end, and the run has one: what waits in vain does not keep it going
	drawn := slurmRun(t, dir, "--outages", "exponential:mtbf=20m:repair=2m")
	require.Contains(t, read(t, drawn, replay.EventsFile), ",down,")
	require.Zero(t, call("validate", drawn).code)

	for rows, want := range map[string]string{
		"from,to,node\n1,2,n7\n":      `outages.csv: line 2: node: "n7" is no node of slurm.conf`,
		"from,to,node\n1,2,0-2\n":     "line 2: node: 3 of the 4 CPUs of n1 are named: want all of them, or its name, as nodes of Slurm are down as a whole",
		"from,to,node\n1,2,0-9\n":     "line 2: node: want CPUs of 0-7, or names of nodes of slurm.conf",
		"from,to,processors\n1,2,4\n": "line 2: node: want the nodes that are down",
		"from,to,node\n1,2,n[1-\n":    "line 2: node: ",
	} {
		o := call("simulate", "--slurm", dir, "--outages", write(t, "outages.csv", rows))
		require.NotZero(t, o.code, rows)
		require.Contains(t, o.stderr, want)
	}
	o := exits(t, exitUsage, "simulate", "--slurm", dir, "--outages", outages, "--victims", "kill")
	require.Contains(t, o.stderr, "Slurm says itself what becomes of jobs whose nodes fail")
}

// The energy of a run is what its nodes draw while they are busy, idle and down, reckoned here from
// slurm-events.csv alone.
func TestEnergyUnderSlurm(t *testing.T) {
	conf := write(t, "slurm.conf", "NodeName=a[1-2] CPUs=4\nNodeName=b CPUs=8\nPartitionName=p Nodes=ALL Default=YES MaxTime=10-0\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n")
	out := filepath.Join(t.TempDir(), "out")
	o := call("simulate", "lublin:jobs=80:procs=16:load=0.6", "--slurm", conf, "--outages", write(t, "outages.csv", "from,to,node\n30000,90000,b\n"),
		"--power", "idle=80:busy=240:off=8:profile=on", "--out", out)
	require.Zero(t, o.code, o.stderr)
	sizes := map[string]int{"a1": 4, "a2": 4, "b": 8}
	second := func(row map[string]string) int {
		s, err := strconv.Atoi(row["time"])
		require.NoError(t, err)
		return s
	}
	type change struct{ at, jobs, down int }
	changes, since, of := map[string][]change{}, map[string]int{}, map[string]map[string]int{}
	energies := map[string]int{}
	first, last := -1, 0
	for _, row := range table(t, out, replay.EventsFile) {
		at := second(row)
		switch row["event"] {
		case "submit":
			if first < 0 {
				first = at
			}
		case "start":
			of[row["key"]], since[row["key"]] = map[string]int{}, at
			for part := range strings.FieldsSeq(row["cores"]) {
				node, rest, _ := strings.Cut(part, ":")
				_, cpus, _ := strings.Cut(rest, "/")
				n, err := strconv.Atoi(cpus)
				require.NoError(t, err)
				of[row["key"]][node] = n
				changes[node] = append(changes[node], change{at, 1, 0})
			}
		case "end", "stop":
			last = at
			for node, cpus := range of[row["key"]] {
				changes[node] = append(changes[node], change{at, -1, 0})
				energies[row["key"]] += 240 / sizes[node] * cpus * (at - since[row["key"]])
			}
		case "down", "up":
			changes[row["nodes"]] = append(changes[row["nodes"]], change{at, 0, map[string]int{"down": 1, "up": -1}[row["event"]]})
		}
	}
	busy, idle, down := 0, 0, 0
	for node := range sizes {
		jobs, away, from := 0, 0, first
		for _, c := range append(changes[node], change{at: last}) {
			switch t := min(c.at, last) - min(from, last); {
			case away > 0:
				down += t
			case jobs > 0:
				busy += t
			default:
				idle += t
			}
			jobs, away, from = jobs+c.jobs, away+c.down, c.at
		}
	}
	require.Equal(t, 3*(last-first), busy+idle+down)
	require.Equal(t, 60000, down)
	energy := table(t, out, "energy.csv")[0]
	require.Equal(t, []string{strconv.Itoa(240*busy + 80*idle + 8*down), strconv.Itoa(240 * busy), strconv.Itoa(80 * idle), strconv.Itoa(8 * down)},
		[]string{energy["joules"], energy["busy_joules"], energy["idle_joules"], energy["down_joules"]})
	for _, row := range table(t, out, "jobs-slurm.csv") {
		require.Equal(t, strconv.Itoa(energies[row["job_id"]]), row["consumed_energy"], "job %s", row["job_id"])
	}
	require.Equal(t, strconv.Itoa(last), func() string { all := table(t, out, "power-slurm.csv"); return all[len(all)-1]["time"] }())
	for setting, want := range map[string]string{"switch-off=600": "SuspendTime", "per-node=4": "slurm.conf says which nodes there are"} {
		o := exits(t, exitUsage, "simulate", "lublin:jobs=80:procs=16:load=0.6", "--slurm", conf, "--power", setting)
		require.Contains(t, o.stderr, want)
	}
}

func TestWhatDoesNotGoWithSlurmIsRefused(t *testing.T) {
	dir := slurmFolder(t)
	for _, refused := range []struct {
		args []string
		want string
	}{
		{[]string{"--policy", "easy"}, `the policy is "slurm"`},
		{[]string{"--wake", "30s"}, "Slurm's loops wake as slurm.conf says"},
		{[]string{"--feedback"}, "jobs of a folder come when its jobs.csv says"},
		{[]string{"--first", "3"}, "the jobs of a folder are those of its jobs.csv"},
		{[]string{"--where", "user == 1"}, "the jobs of a folder are those of its jobs.csv"},
		{[]string{"--accounts", "x"}, "is a folder, which has all files itself"},
		{[]string{"--procs", "4"}, "slurm.conf says what the machine has: 8 CPUs, not 4"},
	} {
		o := exits(t, exitUsage, append([]string{"simulate", "--slurm", dir}, refused.args...)...)
		require.Contains(t, o.stderr, refused.want)
	}
	o := exits(t, exitFailed, "simulate", "--slurm", t.TempDir())
	require.Contains(t, o.stderr, "slurm.conf")
}

// TestRecordingsOfSlurmByTheCommand has the command play all recordings of real controllers: what
// it writes is what the machine tells that policy/slurm holds to them.
func TestRecordingsOfSlurmByTheCommand(t *testing.T) {
	root := os.Getenv("GRIDSLOT_RECORDINGS")
	if root == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: no recordings of Slurm")
	}
	var folders []string
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(root, "slurm", pattern, replay.ConfigFile))
		require.NoError(t, err)
		folders = append(folders, found...)
	}
	require.Greater(t, len(folders), 40)
	for _, conf := range folders {
		dir := filepath.Dir(conf)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			succeed(t, "simulate", "--slurm", dir, "--decisions", "--out", out)
			in, err := replay.ReadFolder(dir)
			require.NoError(t, err)
			sim := des.New(des.Config{})
			m, err := replay.NewMachine(sim, in)
			require.NoError(t, err)
			var text strings.Builder
			w := replay.NewEventWriter(&text, in.Plain)
			m.Tell, m.Until = w.Tell, replay.RecordingEnds
			m.Begin()
			require.NoError(t, sim.Run(context.Background()))
			require.NoError(t, w.Close())
			require.Equal(t, text.String(), read(t, out, replay.EventsFile))
			first, _, _ := strings.Cut(text.String(), "\n")
			recorded, _, _ := strings.Cut(read(t, dir, "events.1.csv"), "\n")
			require.Equal(t, recorded, first)
			last := map[string]string{} // why each job waits, as the log of decisions has it
			for _, row := range table(t, out, "decisions-slurm.csv") {
				id, err := strconv.Atoi(row["job_id"])
				require.NoError(t, err)
				last[in.Jobs[id-1].Key], _, _ = strings.Cut(row["text"], ":")
			}
			for _, row := range table(t, out, replay.EventsFile) {
				if reason, is := strings.CutPrefix(row["detail"], "PENDING "); is && row["event"] == replay.KindLeft {
					require.Equal(t, reason, last[row["key"]], row["key"])
				}
			}
		})
	}
}

// reactingLog is a log of so many jobs in which most wait for one before them, with what each line says by its columns.
func reactingLog(jobs int) (lines [][]string) {
	draw := rand.New(rand.NewPCG(7, 7))
	at := 0
	for id := 1; id <= jobs; id++ {
		at += draw.IntN(90)
		runtime := 1 + draw.IntN(600)
		asked := max(60, runtime+draw.IntN(900)-200) // some are killed at it
		before, think := -1, -1
		if id > 5 && draw.IntN(4) > 0 {
			before, think = id-1-draw.IntN(5), []int{0, 0, 1, 30, 400}[draw.IntN(5)]
		}
		procs := 1 + draw.IntN(4)
		if draw.IntN(25) == 0 {
			procs = 99 // refused, or waits for ever
		}
		lines = append(lines, strings.Fields(fmt.Sprintf("%d %d -1 %d %d -1 -1 %d %d -1 1 %d 1 -1 -1 -1 %d %d",
			id, at, runtime, procs, procs, asked, 1+draw.IntN(3), before, think)))
	}
	return lines
}

// swfOf is the text of a log of those lines.
func swfOf(lines [][]string) string {
	text := ""
	for _, fields := range lines {
		text += strings.Join(fields, " ") + "\n"
	}
	return text
}

// Users who wait for their jobs submit when they end: that is as if the log had the jobs at the instants that come of
// it. Nobody submits before the end that they have waited for.
func TestUsersOfSlurmReact(t *testing.T) {
	const conf = "SelectTypeParameters=CR_Core\nSchedulerParameters=bf_interval=30\nPriorityType=priority/multifactor\nPriorityWeightJobSize=1000\n" +
		"NodeName=n[1-3] Sockets=1 CoresPerSocket=4\nPartitionName=p Nodes=ALL Default=YES\nEnforcePartLimits="
	lines := reactingLog(300)
	log := write(t, "log.swf", swfOf(lines))
	for _, args := range []string{"ALL", "NO", "ALL --policy slurm:phase=17", "ALL --predict request", "ALL --outages exponential:mtbf=2h:repair=20m"} {
		t.Run(args, func(t *testing.T) {
			enforce, flags, _ := strings.Cut(args, " ")
			more := append([]string{"--slurm", write(t, "slurm.conf", conf+enforce+"\n")}, strings.Fields(flags)...)
			out, again := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "again")
			succeed(t, append([]string{"simulate", log, "--feedback", "--out", out}, more...)...)
			name := "slurm"
			if strings.Contains(args, "phase") {
				name = "slurm-phase=17"
			}
			jobs := map[string]map[string]string{}
			for _, row := range table(t, out, "jobs-"+name+".csv") {
				jobs[row["job_id"]] = row
			}
			if enforce == "ALL" {
				require.Equal(t, len(lines), len(jobs))
			} else {
				require.Less(t, len(jobs), len(lines), "some wait for one that waits for ever")
			}
			at := func(id, column string) int {
				n, err := strconv.Atoi(jobs[id][column])
				require.NoError(t, err, "%s of %v", column, jobs[id])
				return n
			}
			var written [][]string
			moved, after := 0, 0
			for _, fields := range lines {
				own := slices.Clone(fields)
				if own[1] = jobs[own[0]]["submission_time"]; own[1] == "" {
					continue
				}
				if before := own[16]; before != "-1" {
					column := "finish_time"
					if jobs[before]["final_state"] == "REJECTED" {
						column = "submission_time"
					}
					think, err := strconv.Atoi(own[17])
					require.NoError(t, err)
					late := at(own[0], "submission_time") - at(before, column) - think
					require.True(t, late == 0 || late == 1 && think == 0, "job %s comes %d s late after %s", own[0], late, before)
					after += late
					own[16], own[17] = "-1", "-1"
				} else {
					require.Equal(t, fields[1], own[1], "a job that waits for nobody comes when the log says")
				}
				if own[1] != fields[1] {
					moved++
				}
				written = append(written, own)
			}
			require.Greater(t, moved, 150)
			if enforce == "ALL" {
				require.Positive(t, after, "some end after those of their second have come")
			}
			slices.SortStableFunc(written, func(a, b []string) int {
				return cmp.Compare(at(a[0], "submission_time"), at(b[0], "submission_time"))
			})
			succeed(t, append([]string{"simulate", write(t, "written.swf", swfOf(written)), "--out", again}, more...)...)
			events := replay.EventsFile
			if name != "slurm" {
				events = "slurm-events-" + name + ".csv"
			}
			for _, file := range []string{events, "queue-" + name + ".csv"} {
				require.Equal(t, read(t, again, file), read(t, out, file), file)
			}
			succeed(t, "validate", out)
		})
	}
}

// Jobs of a log ask for the types of GPUs that ReqTRES of sacct names, on each of their nodes, and for any GPU if it names none or
// one that no node has.
func TestTypesOfGPUsOfALog(t *testing.T) {
	const row = "|ada|long|2024-01-31T10:00:00|2024-01-31T10:00:00|100|10|"
	log := write(t, "jobs.txt", "JobID|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|ReqCPUS|NNodes|State|ReqTRES\n"+
		"1"+row+"1|1|COMPLETED|billing=1,cpu=1,gres/gpu:v100=1,gres/gpu=1,node=1\n"+
		"2"+row+"1|1|COMPLETED|cpu=1,gres/gpu=1,node=1\n"+
		"3"+row+"1|1|COMPLETED|cpu=1,gres/gpu:k80=1,gres/gpu=1,node=1\n"+
		"4"+row+"2|2|COMPLETED|cpu=2,gres/gpu:v100=4,gres/gpu=4,node=2\n")
	conf := write(t, "slurm.conf", "AccountingStorageTRES=gres/gpu,gres/gpu:v100\nNodeName=n[1-2] CPUs=4 Gres=gpu:a100:1\nNodeName=n[3-5] CPUs=4 Gres=gpu:v100:2\nPartitionName=long Nodes=ALL Default=YES\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n")
	out := filepath.Join(t.TempDir(), "out")
	o := call("simulate", log, "--from", "sacct:zone=UTC", "--slurm", conf, "--out", out)
	require.Zero(t, o.code, o.stderr)
	events := read(t, out, replay.EventsFile)
	require.Regexp(t, `\n1,1,start,[^\n]*,n3,[^\n]*,1001=1,1002=1"`, events)
	require.Regexp(t, `\n2,2,start,[^\n]*,n1,`, events)
	require.Regexp(t, `\n3,3,start,[^\n]*,n2,`, events)
	require.Regexp(t, `\n4,4,start,[^\n]*,n\[4-5\],[^\n]*,1001=4,1002=4"`, events)
}
