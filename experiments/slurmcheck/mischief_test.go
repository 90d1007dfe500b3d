package slurmcheck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// site is a small site that has of everything a little.
var site = map[string]string{
	replay.ConfigFile: `SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=30
Licenses=matlab:1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityWeightAge=10000
PriorityMaxAge=1-0
PriorityWeightFairshare=100000
PriorityWeightQOS=1000
PriorityWeightJobSize=500
PriorityWeightPartition=1000
PriorityDecayHalfLife=0-1
PreemptType=preempt/qos
PreemptMode=REQUEUE
NodeName=n[1-2] CPUs=4 RealMemory=8000 Feature=fast
NodeName=n[3-4] CPUs=4 RealMemory=8000 Gres=gpu:2
PartitionName=long Nodes=ALL Default=YES MaxTime=600 PriorityJobFactor=1
PartitionName=short Nodes=n[1-2] MaxTime=60 MaxNodes=1 PriorityJobFactor=2 TRESBillingWeights=CPU=2.0,Mem=1G
`,
	replay.AccountsFile: `add qos low priority=0
add qos high priority=10 preempt=low maxjobsperuser=1
add account a fairshare=1
add account b fairshare=3
add user u1 account=a qos=low,high defaultqos=low
add user u2 account=b qos=low,high defaultqos=low maxjobs=2 grptres=cpu=6 maxwall=100
`,
	replay.ReservationsFile: "created,name,start,minutes,nodelist,users,maint\n5.5,maint,40000,60,n4,root,1\n",
	replay.OrdersFile:       "time,do,job,node,value\n13.75,hold,d,,\n900.75,release,d,,\n1000.6,down,,n2,\n2000.6,up,,n2,\n3000.75,limit,h,,20\n3001.75,nice,i,,7\n3500.75,cancel,i,,\n",
	replay.JobsFile: `key,submit,uid,account,partition,qos,nodes,tasks,cpt,mem,gres,licenses,feature,dependency,begin,requeue,limit_min,runtime,rc
a,10.25,5001,a,long,low,2,8,,4000,,,fast,,,,30,1200,
b,11.25,5002,b,"short,long",low,1,2,,1000,,matlab:1,,,,,20,300,
c,12.25,5002,b,long,low,1,2,,1000,gpu:2,,,,,,20,300,
d,13.25,5001,a,long,low,1,1,,1000,,,,,,,10,100,
e,14.25,5001,a,long,low,1,1,,1000,,,,afterok:b,,,10,100,
f,15.25,5001,a,long,low,1,1,,1000,,,,,500,,10,100,
g,16.25,5002,b,short,low,1,2,,1000,,matlab:1,,,,,50,100,
h,2900.25,5001,a,long,low,4,16,,1000,,,,,,,600,2000,
i,2950.25,5001,a,long,low,4,4,,1000,,,,,,,10,100,
k,4300.25,5002,b,long,low,1,4,,,,,,,,1,60,1000,
l,4301.25,5001,a,long,low,3,12,,,,,,,,1,60,1000,
m,4310.25,5001,a,short,high,1,4,,2000,,,,,,,30,200,
n,4311.25,5001,a,short,high,1,1,,2000,,,,,,,30,200,
`,
}

// played is what a run at the site writes.
func played(t *testing.T) (events string, of Given) {
	t.Helper()
	return playedAt(t, site)
}

// playedAt is what a run with other files writes.
func playedAt(t *testing.T, files map[string]string) (events string, of Given) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	of = given(t, dir)
	sim := des.New(des.Config{})
	m, err := replay.NewMachine(sim, of.Input)
	require.NoError(t, err)
	var text strings.Builder
	w := replay.NewEventWriter(&text, false)
	m.Tell = w.Tell
	m.Begin()
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	return text.String(), of
}

func TestWhatSlurmDoesIsValid(t *testing.T) {
	events, of := played(t)
	report, err := Events(strings.NewReader(events), nil, of, 0)
	require.NoError(t, err)
	require.Zero(t, report.Total, "%v\n%s", report, events)
	require.Equal(t, validate.Report{Jobs: 13, Finished: 11, Killed: 1, Rejected: 1}, report, events)
}

// Jobs of a QoS with NoReserve are tried as if they were short, and may be given the limit of another job.
func TestLimitsThatNothingTellsAreNotChecked(t *testing.T) {
	for _, flag := range []string{"", " flags=NoReserve"} {
		events, of := played(t)
		of.Accounts = strings.Replace(of.Accounts, "priority=0", "priority=0"+flag, 1)
		of.Accounts = strings.Replace(of.Accounts, "wall=100", "wall=59", 1)
		of.Config.Partitions[1].MaxTime /= 2
		of.Reservations[0].Reservation.Start = 5400 * des.Second
		kill := line(t, events, "h,8,stop,6540")
		events = strings.Replace(events, kill, strings.Replace(kill, "6540", "6400", 1), 1)
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		if flag == "" {
			require.Greater(t, report.Total, 3)
		} else {
			require.Zero(t, report.Total, report.String())
		}
	}
}

// A limit that is made shorter than a job has run ends the job at the next look after OverTimeLimit, which begins with the order.
func TestAShorterLimitOfARunningJob(t *testing.T) {
	for _, x := range []struct {
		at, kill  string // the seconds of the order and of the end
		overtime  des.Time
		kills     bool // validly
		completes bool // validly, were it the job's own end
	}{
		{"6530", "6540", 0, true, true}, {"6400", "6540", 0, false, false},
		{"6530", "6540", 2 * des.Minute, false, true}, {"6400", "6540", 2 * des.Minute, true, true},
		{"5600", "5930", 0, true, true}, // before the limit has passed
	} {
		events, of := played(t)
		of.Config.OverTimeLimit = x.overtime
		of.Reservations[0].Reservation.Start *= 2 // the limit was 600 minutes
		order := line(t, events, "h,8,limit,3000")
		events = strings.Replace(events, order, "", 1)
		old := line(t, events, "h,8,stop,6540")
		kill := strings.Replace(old, "6540", x.kill, 1)
		order = strings.NewReplacer("3000", x.at, "PENDING", "RUNNING").Replace(order)
		events = strings.Replace(events, old, order+kill, 1)
		for i := range of.Orders {
			if o := &of.Orders[i]; o.Do == "limit" {
				o.At, o.Value = seconds(t, x.at), 10
			}
		}
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, x.kills, report.Total == 0, "%v: %v", x, report)
		for i := range of.Jobs {
			if of.Jobs[i].Key == "h" {
				of.Jobs[i].Job.Length = seconds(t, x.kill) - 5311*des.Second // when it starts
			}
		}
		events = strings.Replace(events, kill, strings.NewReplacer("stop", "end", "TIMEOUT", "COMPLETED").Replace(kill), 1)
		report, err = Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, x.completes, report.Total == 0, "%v: %v", x, report)
	}
}

func seconds(t *testing.T, text string) des.Time {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return des.Time(n) * des.Second
}

// A job waits on hold when its reservation is over. One that is released later needs no reservation.
func TestAReleasedJobOutlivesItsReservation(t *testing.T) {
	for _, end := range []des.Time{7, 950} { // it is released at 900 s
		events, of := played(t)
		maint := line(t, events, "maint")
		events = strings.Replace(events, maint, strings.Replace(maint, "maint", "own", 1)+maint, 1)
		own := of.Reservations[0]
		own.Reservation.Name, own.Reservation.Maintenance, own.Reservation.Users = "own", false, []string{"u1"}
		own.Reservation.Start, own.Reservation.End = 6*des.Second, end*des.Second
		of.Reservations = append(of.Reservations, own)
		for i := range of.Jobs {
			if of.Jobs[i].Key == "d" {
				of.Jobs[i].Job.Reservation = "own"
			}
		}
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, end == 7, report.Total == 0, "%d: %v", end, report)
		require.Equal(t, end == 7, !strings.Contains(report.String(), "d: n3 is no node of its reservation own"), "%d: %v", end, report)
	}
}

// Limits on time do not hold for a job that has got another limit by an order.
func TestANewLimitExcusesAJob(t *testing.T) {
	for minutes, excused := range map[int]bool{20: true, 600: false} {
		events, of := played(t)
		of.Config.Partitions[0].MaxTime = 19 * des.Minute
		of.Accounts = strings.Replace(of.Accounts, "account=a", "account=a maxwall=19", 1)
		of.Accounts = strings.Replace(of.Accounts, "priority=0", "priority=0 maxwall=18", 1)
		for i := range of.Orders {
			if o := &of.Orders[i]; o.Do == "limit" {
				o.Value = minutes
			}
		}
		for _, wall := range []bool{true, false} { // the QoS's limit stands in for the user's
			if !wall {
				of.Accounts = strings.Replace(of.Accounts, " maxwall=18", "", 1)
			}
			report, err := Events(strings.NewReader(events), nil, of, 0)
			require.NoError(t, err)
			require.Contains(t, report.String(), "a: its limit is 1800 s, and MaxWall of")
			require.Contains(t, report.String(), "a: its limit is 1800 s, and partition long allows")
			require.Equal(t, excused, !strings.Contains(report.String(), "h: its limit is"), "%d: %s", minutes, report)
		}
	}
}

// An order for nodes that Slurm refuses is told, and changes nothing.
func TestARefusedOrderForNodes(t *testing.T) {
	events, of := played(t)
	up := line(t, events, ",0,up,2000")
	for refused, valid := range map[string]bool{strings.Replace(up, "up", "refused", 1): true, strings.NewReplacer("up", "refused", "n2", "n1").Replace(up): false} {
		report, err := Events(strings.NewReader(strings.Replace(events, up, up+refused, 1)), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, valid, report.Total == 0, "%s: %v", refused, report)
	}
}

// A node that is put back takes jobs once it has registered, 1 ms after the next whole second. An order for the node before that
// keeps it away, but with ReturnToService=2 one that puts it down does not.
func TestNodesRegister(t *testing.T) {
	files := map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nReturnToService=2\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
		replay.JobsFile:   "key,submit,uid,tasks,limit_min,runtime\nx,10.25,5001,1,10,100\n",
	}
	const out = "it starts on n1, which is out of service"
	check := func(events string, of *replay.Input) string {
		t.Helper()
		report, err := Events(strings.NewReader(events), nil, Given{Input: of}, 0)
		require.NoError(t, err)
		return report.String()
	}
	var start []string
	// startsAt puts a start in a second before the first of the other rows that begins so.
	startsAt := func(second, events, before string) string {
		start[3] = second
		before = line(t, events, before)
		return strings.Replace(events, before, strings.Join(start, ",")+before, 1)
	}
	for _, x := range []struct {
		order, last string
		returns     bool
	}{
		{"20.5,down", "20", true}, {"20.999,down", "20", true}, {"21.0005,down", "20", true}, {"21.0005,up", "20", true},
		{"21.5,down", "21", false}, {"20.5,drain", "20", false},
	} {
		files[replay.OrdersFile] = "time,do,job,node,value\n5.25,down,,n1,\n20.25,up,,n1,\n" + x.order + ",,n1,\n"
		events, of := playedAt(t, files)
		require.Contains(t, check(events, of.Input), "; valid", x.order)
		require.Contains(t, check(events, of.Input.Later(des.Hour)), "; valid", x.order)
		if !x.returns {
			require.NotContains(t, events, "x,1,start", x.order)
			require.Contains(t, check(startsAt("25", events, "x,1,left"), of.Input), out, x.order)
			continue
		}
		own := line(t, events, "x,1,start")
		start = strings.Split(own, ",")
		moved := strings.Replace(events, own, "", 1)
		require.Contains(t, check(startsAt("20", moved, ",0,"+x.order[strings.Index(x.order, ",")+1:]+","+x.order[:2]), of.Input), out, x.order)
		require.NotContains(t, check(startsAt("21", moved, "x,1,end"), of.Input), out, x.order)
		failed := strings.Replace(events, line(t, events, "x,1,end"), strings.NewReplacer("end", "stop", "COMPLETED", "NODE_FAIL").Replace(line(t, events, "x,1,end")), 1)
		require.Contains(t, check(failed, of.Input), "none of its nodes is down", x.order)
		if strings.HasSuffix(x.order, "down") {
			conf, input := *of.Config, *of.Input
			conf.ReturnToService, input.Config = 1, &conf
			require.Contains(t, check(events, &input), out, x.order)
		}
	}
	// A node in service is not put back.
	files[replay.OrdersFile] = "time,do,job,node,value\n5.25,up,,n1,\n5.5,down,,n1,\n"
	events, of := playedAt(t, files)
	require.Contains(t, check(events, of.Input), "; valid")
	require.Contains(t, check(startsAt("25", events, "x,1,left"), of.Input), out)
}

// The instants of outages are not told, only their seconds: what may be right is.
func TestNodesRegisterAfterOutages(t *testing.T) {
	events, of := playedAt(t, map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nReturnToService=2\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
		replay.JobsFile:   "key,submit,uid,tasks,limit_min,runtime\nx,10.25,5001,1,10,100\n",
		replay.OrdersFile: "time,do,job,node,value\n5.25,down,,n1,\n20.25,up,,n1,\n21.0005,down,,n1,\n",
	})
	of.Orders = nil
	report, err := Events(strings.NewReader(events), nil, of, 0)
	require.NoError(t, err)
	require.Zero(t, report.Total, "%v\n%s", report, events)
	start := line(t, events, "x,1,start")
	down := line(t, events, ",0,down,21")
	for second, valid := range map[string]bool{"20": true, "19": false} {
		fields := strings.Split(start, ",")
		fields[3] = second
		moved := strings.Replace(strings.Replace(events, start, "", 1), line(t, events, ",0,up,20"), "", 1)
		up := line(t, events, ",0,up,20")
		if second == "20" {
			moved = strings.Replace(moved, down, up+strings.Join(fields, ",")+down, 1)
		} else {
			moved = strings.Replace(moved, down, strings.Join(fields, ",")+up+down, 1)
		}
		report, err := Events(strings.NewReader(moved), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, valid, !strings.Contains(report.String(), "out of service"), "%s: %v", second, report)
	}
}

// line is the first line of events that begins so.
func line(t *testing.T, events, begin string) string {
	t.Helper()
	for l := range strings.Lines(events) {
		if strings.HasPrefix(l, begin) {
			return l
		}
	}
	require.Fail(t, "no such line", "%s\n%s", begin, events)
	return ""
}

// Each mischief changes what a run has written, or what it was to be made of, and is caught.
func TestMischiefIsCaught(t *testing.T) {
	events, of := played(t)
	for name, mischief := range map[string]struct {
		line     string              // begins so
		old, new string              // in that line; an empty old one stands for the whole line, which {} in the new one is
		site     func(*Given) func() // changes what was given, and changes it back
		want     string
	}{
		"two jobs on a core":       {line: "c,3,start", old: "2-3/2", new: "1-2/2", want: "core 1 of n3 is b's"},
		"a core that there is not": {line: "c,3,start", old: "2-3/2", new: "3-4/2", want: "n3 has cores 0 to 3"},
		"memory":                   {line: "c,3,start", old: "/2/1000", new: "/2/7500", want: "jobs have 8500 MB of n3, which has 8000"},
		"less memory than asked":   {line: "g,7,start", old: "/2/1000", new: "/2/900", want: "900 MB of n1, and it asks for 1000 a node"},
		"devices":                  {line: "c,3,start", old: "n3", new: "n1", want: "jobs have 2 gpu of n1, which has 0"},
		"a feature":                {line: "a,1,start,11", old: "n1:0-3/4/4000 n2", new: "n4:0-3/4/4000 n2", want: "n4 lacks the feature fast"},
		"fewer nodes":              {line: "i,9,cancel", new: "i,9,start,3500,1,4,n1,long,low,main,n1:0-3/4/1000,5=4\n", want: "1 nodes, and it asks for 4"},
		"fewer CPUs":               {line: "g,7,start", old: "0-1/2", new: "0/1", want: "1 CPUs, and it asks for 2"},
		"a node's name":            {line: "g,7,start", old: ",n1,", new: ",n2,", want: "nodes n2, and its cores are of n1"},
		"licences": {line: "c,3,start", site: func(g *Given) func() {
			g.Jobs[2].Job.Licenses = g.Jobs[1].Job.Licenses
			return func() { g.Jobs[2].Job.Licenses = nil }
		}, want: "jobs have 2 licences matlab, and there are 1"},
		"another partition":   {line: "g,7,start", old: "short", new: "long", want: "it does not ask for partition long"},
		"a partition's nodes": {line: "g,7,start", old: "n1", new: "n4", want: "n4 is no node of partition short"},
		"a partition's time": {line: "g,7,start", site: func(g *Given) func() {
			g.Config.Partitions[1].MaxTime /= 2
			return func() { g.Config.Partitions[1].MaxTime *= 2 }
		}, want: "its limit is 3000 s, and partition short allows 1800"},
		"a reservation": {line: "d,4,start", site: func(g *Given) func() {
			g.Reservations[0].Reservation.Start /= 40
			return func() { g.Reservations[0].Reservation.Start *= 40 }
		}, want: "is reserved by maint from 1000"},
		"a dependency":       {line: "b,2,end", new: "e,5,start,314,33911,1,n4,long,low,main,n4:0/1/1000,5=1\n{}", want: "it starts, and afterok:b is not met"},
		"a begin time":       {line: "f,6,start", old: "start,540", new: "start,450", want: "it starts before its begin time, 500"},
		"a job that is held": {line: "d,4,release", new: "", want: "it starts while it is held"},
		"a QoS's limit":      {line: "m,12,end", new: "n,13,start,4400,35433,1,n3,short,high,main,n3:0/1/2000,5=3\n{}", want: "2 jobs run, and maxjobsperuser of QoS high is 1"},
		"an account's limit": {line: "k,10,start", site: func(g *Given) func() {
			g.Accounts = strings.Replace(g.Accounts, "cpu=6", "cpu=3", 1)
			return func() { g.Accounts = strings.Replace(g.Accounts, "cpu=3", "cpu=6", 1) }
		}, want: "4 cpu, and grptres of user u2 is 3"},
		"an account's wall": {line: "k,10,start", site: func(g *Given) func() {
			g.Accounts = strings.Replace(g.Accounts, "wall=100", "wall=59", 1)
			return func() { g.Accounts = strings.Replace(g.Accounts, "wall=59", "wall=100", 1) }
		}, want: "its limit is 3600 s, and MaxWall of user u2 is 3540"},
		"a node that is down":     {line: "g,7,start", old: "n1", new: "n2", want: "it starts on n2, which is out of service"},
		"a job that lives on":     {line: "a,1,stop", new: "", want: "it runs on a node that went down"},
		"a stop for nothing":      {line: "g,7,end", old: "end,1100,,,,,,,,COMPLETED", new: "stop,1100,,,,,,,,NODE_FAIL", want: "none of its nodes is down"},
		"preemption of the high":  {line: "m,12,end", old: "end,4511,,,,,,,,COMPLETED", new: "stop,4511,,,,,,,,PREEMPTED", want: `nothing may preempt QoS "high"`},
		"a kill before the limit": {line: "h,8,stop,6540", old: "6540", new: "6400", want: "killed for its limit after 1089 s, and the limit is 1200"},
		"a run too short":         {line: "g,7,end", old: "1100", new: "1090", want: "it ran for 90 s, and takes 100"},
		"two starts":              {line: "g,7,end", new: "g,7,start,1100,67862,2,n1,short,low,main,n1:0-1/2/1000,5=4\n", want: "it starts while it runs"},
		"a cancelled job":         {line: "i,9,cancel", old: "i,9,cancel,3500,,,,,,,,PENDING", new: "i,9,cancel,3500,,,,,,,,PENDING\ni,9,start,3500,1,4,n1,long,low,main,n1:0-3/4/1000,5=4", want: "it starts after it has left: CANCELLED"},
		"a cancel of nobody":      {line: "i,9,cancel", old: "3500", new: "3501", want: "cancel, which nobody orders"},
		"a job lost":              {line: "l,11,start", new: "", want: "it ends and does not run"},
		"an end lost":             {line: "l,11,end", new: "", want: "nothing tells of its end"},
		"time backwards":          {line: "k,10,end", old: "5311", new: "5300", want: "it ran for 989 s"},
		"a submission moved":      {line: "g,7,submit", old: "16", new: "17", want: "its user submits it at 16"},
		"a priority":              {line: "a,1,start,11", old: "100750", new: "100753", want: "it starts with priority 100753, which is reckoned 100750 to 100750"},
		"a fair share":            {line: "e,5,start", old: "33911", new: "67244", want: "it starts with priority 67244"},
		"a charge":                {line: "g,7,start", old: "5=4", new: "5=2", want: "it is charged for 2 a second, and its partition's weights say 4"},
		"a user without account":  {line: "a,1,submit", site: func(g *Given) func() { g.Jobs[0].Job.Account = "z"; return func() { g.Jobs[0].Job.Account = "a" } }, want: `user "u1" has no account "z"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := line(t, events, mischief.line)
			changed := strings.ReplaceAll(mischief.new, "{}", text)
			if mischief.old != "" {
				require.Contains(t, text, mischief.old)
				changed = strings.ReplaceAll(text, mischief.old, mischief.new)
			}
			if mischief.site != nil {
				changed = text
				defer mischief.site(&of)()
			}
			report, err := Events(strings.NewReader(strings.Replace(events, text, changed, 1)), nil, of, 0)
			require.NoError(t, err)
			require.Contains(t, report.String(), mischief.want)
		})
	}
}

// jobs-slurm.csv is held to the events.
func TestTheJobsAreThoseOfTheEvents(t *testing.T) {
	events, of := played(t)
	rows := map[string]string{
		"a": "1,10,2004,3204,COMPLETED_SUCCESSFULLY,0-7", "b": "2,11,14,314,COMPLETED_SUCCESSFULLY,8-9", "c": "3,12,14,314,COMPLETED_SUCCESSFULLY,10-11",
		"d": "4,13,903,1003,COMPLETED_SUCCESSFULLY,8", "e": "5,14,314,414,COMPLETED_SUCCESSFULLY,12", "f": "6,15,540,640,COMPLETED_SUCCESSFULLY,8",
		"g": "7,16,1000,1100,COMPLETED_SUCCESSFULLY,0-1", "h": "8,2900,5311,6540,COMPLETED_WALLTIME_REACHED,0-15", "i": "9,2950,,,REJECTED,",
		"k": "10,4300,4311,5311,COMPLETED_SUCCESSFULLY,4-7", "l": "11,4301,6540,7540,COMPLETED_SUCCESSFULLY,0-11", "m": "12,4310,4311,4511,COMPLETED_SUCCESSFULLY,0-3",
		"n": "13,4311,4511,4711,COMPLETED_SUCCESSFULLY,0",
	}
	check := func(change map[string]string) validate.Report {
		text := "job_id,submission_time,starting_time,finish_time,final_state,allocated_resources\n"
		for key, row := range rows {
			if other, changed := change[key]; changed {
				row = other
			}
			if row != "" {
				text += row + "\n"
			}
		}
		report, err := Events(strings.NewReader(events), strings.NewReader(text), of, 0)
		require.NoError(t, err)
		return report
	}
	report := check(nil)
	require.Zero(t, report.Total, "%v\n%s", report, events)
	for want, change := range map[string]map[string]string{
		"starting_time is 15, and the events say 14":         {"b": "2,11,15,314,COMPLETED_SUCCESSFULLY,8-9"},
		"finish_time is 315, and the events say 314":         {"b": "2,11,14,315,COMPLETED_SUCCESSFULLY,8-9"},
		"it has 8, and the events say 8-9":                   {"b": "2,11,14,314,COMPLETED_SUCCESSFULLY,8"},
		"COMPLETED_SUCCESSFULLY, and the events say TIMEOUT": {"h": "8,2900,5311,6540,COMPLETED_SUCCESSFULLY,0-15"},
		"it has no row": {"b": ""},
		"job 2 is no job of the run, or has a row already": {"c": rows["b"]},
		"submission_time is 10, and the events say 11":     {"b": "2,10,14,314,COMPLETED_SUCCESSFULLY,8-9"},
		"SUBMITTED, and the events say CANCELLED":          {"i": "9,2950,,,SUBMITTED,"},
		"COMPLETED_KILLED, and the events say COMPLETED":   {"k": "10,4300,4311,5311,COMPLETED_KILLED,4-7"},
		"starting_time is empty, and the events say 4311":  {"m": "12,4310,,4511,COMPLETED_SUCCESSFULLY,0-3"},
	} {
		require.Contains(t, check(change).String(), want)
	}
}

// Jobs that start in one second are told by their numbers. One whose QoS stands in for a limit of the account may have started
// after one that is bound by that limit, but not if it started in an earlier second. All jobs of a QoS are bound by its limits.
func TestJobsThatStartInOneSecond(t *testing.T) {
	const accounts = "add qos free%s\nadd qos bound%s\nadd account a%s\nadd user u1 account=a qos=free,bound defaultqos=bound%s\n"
	for _, limit := range []struct{ ofFree, ofBound, ofAccount, ofUser string }{
		{" grpjobs=8", "", " grpjobs=2", ""},
		{" maxjobsperuser=8", "", "", " maxjobs=2"},
		{" maxjobsperaccount=8", "", "", " maxjobs=2"},
		{" grptres=cpu=8", "", "", " grptres=cpu=2"},
		{" grptresrunmins=cpu=800", "", " grptresrunmins=cpu=20", ""},
		{"", " grptres=cpu=2", "", ""},
		{"", " grptresrunmins=cpu=20", "", ""},
	} {
		for _, x := range []struct {
			submit, qos string
			valid       bool
		}{{"10.25", "free", true}, {"10.25", "bound", false}, {"2.25", "free", false}} {
			events, of := playedAt(t, map[string]string{
				replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\n" +
					"NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
				replay.AccountsFile: fmt.Sprintf(accounts, "", "", "", ""),
				replay.JobsFile: "key,submit,uid,account,qos,tasks,limit_min,runtime\nx," + x.submit + ",5001,a," + x.qos + ",1,10,100\n" +
					"y,10.25,5001,a,bound,1,10,100\nz,10.25,5001,a,bound,1,10,100\n",
			})
			of.Accounts = fmt.Sprintf(accounts, limit.ofFree, limit.ofBound, limit.ofAccount, limit.ofUser)
			report, err := Events(strings.NewReader(events), nil, of, 0)
			require.NoError(t, err)
			if x.valid || x.qos == "free" && limit.ofBound != "" {
				require.Zero(t, report.Total, "%v %v: %v\n%s", limit, x, report, events)
			} else {
				require.Equal(t, 1, report.Total, "%v %v: %v\n%s", limit, x, report, events)
				require.Equal(t, validate.OverCapacity, report.Violations[0].Kind)
			}
		}
	}
}

// Other orders of the same second may come between the order to cancel a job that runs and its end.
func TestOrdersBetweenACancellationAndItsEnd(t *testing.T) {
	events, of := playedAt(t, map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
		replay.JobsFile:   "key,submit,uid,tasks,limit_min,runtime\nx,10.25,5001,1,10,100\ny,10.25,5001,1,10,100\n",
		replay.OrdersFile: "time,do,job,node,value\n50.75,cancel,x,,\n50.75,nice,y,,3\n",
	})
	order, stop := line(t, events, "x,1,cancel,50"), line(t, events, "x,1,stop,50")
	require.Contains(t, events, order+line(t, events, "y,2,nice,50")+stop)
	report, err := Events(strings.NewReader(events), nil, of, 0)
	require.NoError(t, err)
	require.Zero(t, report.Total, "%v", report)
	for _, without := range []string{strings.Replace(events, order, "", 1), strings.Replace(events, stop, strings.Replace(stop, ",50,", ",51,", 1), 1)} {
		report, err = Events(strings.NewReader(without), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, 1, report.Total, "%v", report)
		require.Contains(t, report.String(), "nobody has cancelled it")
	}
}

// Nothing is told of a start that is preempted in its own second. The job has waited anew since then, and is charged for what it
// had in that start.
func TestStartsThatNothingTells(t *testing.T) {
	events, of := played(t)
	start, again := line(t, events, "h,8,start,3204"), line(t, events, "h,8,start,5311")
	charged := strings.Replace(again, "5=16", "5=9", 1)
	for _, x := range []struct {
		edit  []string
		valid bool
	}{
		{[]string{start, ""}, true},
		{[]string{start, "", again, charged}, true},
		{[]string{again, charged}, false},
		{[]string{start, "", again, strings.Replace(again, ",34410,", ",234410,", 1)}, false},
	} {
		report, err := Events(strings.NewReader(strings.NewReplacer(x.edit...).Replace(events)), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, x.valid, report.Total == 0, "%v", report)
	}
}

// A nice value that a job is given while it runs holds when it starts again.
func TestNiceValuesOfRunningJobs(t *testing.T) {
	events, of := playedAt(t, map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nPriorityType=priority/multifactor\nPriorityWeightPartition=5000\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
		replay.JobsFile:   "key,submit,uid,tasks,requeue,limit_min,runtime\nx,10.25,5001,1,1,10,100\n",
		replay.OrdersFile: "time,do,job,node,value\n50.75,nice,x,,1000\n60.6,down,,n1,\n70.6,up,,n1,\n",
	})
	require.Contains(t, line(t, events, "x,1,nice,50"), "RUNNING")
	require.Contains(t, line(t, events, "x,1,start,11"), ",5000,")
	require.Contains(t, events, ",4000,1")
	for from, to := range map[string]string{"": "", ",4000,1": ",5000,1"} {
		report, err := Events(strings.NewReader(strings.Replace(events, from, to, 1)), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, from == "", report.Total == 0, "%v\n%s", report, events)
	}
}

// A job grows older from the first pass on that looks at it: until then it may have no age, but not for longer.
func TestAgesBeforeTheFirstPass(t *testing.T) {
	for after, valid := range map[string]bool{"295.25": true, "280.25": false} {
		events, of := playedAt(t, map[string]string{
			replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityWeightAge=10000\nPriorityMaxAge=0-1\n" +
				"PriorityCalcPeriod=5\nSchedulerParameters=sched_min_interval=10000000\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
			replay.AccountsFile: "add account a\nadd user u1 account=a\n",
			replay.JobsFile:     "key,submit,uid,account,tasks,limit_min,runtime\nfirst,250.25,5001,a,4,1,55\nx," + after + ",5001,a,1,10,100\n",
		})
		start := line(t, events, "x,2,start")
		row := strings.Split(start, ",")
		second, err := strconv.Atoi(row[3])
		require.NoError(t, err)
		require.Greater(t, second, 299, events)
		row[4] = "1"
		report, err := Events(strings.NewReader(strings.Replace(events, start, strings.Join(row, ","), 1)), nil, of, 0)
		require.NoError(t, err)
		require.Equal(t, valid, report.Total == 0, "%v\n%s", report, events)
	}
}

// Each order that makes a limit shorter than its job has run lets the job run on from the order, not once more for what orders
// before it gave. What they gave stays when the limit grows again, and is gone when the job waits again.
func TestSeveralOrdersAfterTheLimit(t *testing.T) {
	const orders = "time,do,job,node,value\n800.75,limit,x,,5\n"
	for _, more := range []string{"900.75,limit,x,,6\n", "900.75,limit,x,,20\n", "900.75,limit,x,,20\n1000.6,down,,n1,\n1010.6,up,,n1,\n"} {
		events, of := playedAt(t, map[string]string{
			replay.ConfigFile: "SelectTypeParameters=CR_Core\nOverTimeLimit=5\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
			replay.JobsFile:   "key,submit,uid,tasks,requeue,limit_min,runtime\nx,10.25,5001,1,1,10,5000\n",
			replay.OrdersFile: orders + more,
		})
		require.Equal(t, 1, strings.Count(events, "TIMEOUT"), events)
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		require.Zero(t, report.Total, "%v\n%s", report, events)
	}
}

// Limits on devices, licences and billing, and on submissions, of QoSs, users and accounts: two jobs run that have two
// CPUs, a GPU and a licence each, and a third that comes later asks for a GPU of each of its nodes without saying how many.
func TestLimitsOnTRESAndSubmissions(t *testing.T) {
	const accounts = "add qos q%s\nadd account a%s\nadd user u1 account=a qos=q defaultqos=q%s\n"
	events, of := playedAt(t, map[string]string{
		replay.ConfigFile: "SelectTypeParameters=CR_Core\nGresTypes=gpu\nLicenses=matlab:4\nAccountingStorageType=accounting_storage/slurmdbd\n" +
			"AccountingStorageTRES=gres/gpu,license/matlab\nAccountingStorageEnforce=associations,limits,qos\n" +
			"NodeName=n[1-2] CPUs=4 Gres=gpu:2\nPartitionName=all Nodes=ALL Default=YES\n",
		replay.AccountsFile: fmt.Sprintf(accounts, "", "", ""),
		replay.JobsFile: "key,submit,uid,account,nodes,tasks,gres,licenses,limit_min,runtime\nx,10.25,5001,a,1,2,gpu:1,matlab:1,10,500\n" +
			"y,20.25,5001,a,1,2,gpu:1,matlab:1,10,500\nz,1000.25,5001,a,,8,gpu:2,,10,100\n",
	})
	for _, limit := range []struct{ ofQOS, ofAccount, ofUser, want string }{
		{" grptres=gres/gpu=1", "", "", "2 gres/gpu, and grptres of QoS q is 1"},
		{" grptres=gres/gpu=2", "", "", "4 gres/gpu, and grptres of QoS q is 2"},
		{" grptres=gres/gpu=4", "", "", ""},
		{"", " grptres=license/matlab=1", "", "2 license/matlab, and grptres of account a is 1"},
		{" grptres=license/matlab=2", " grptres=license/matlab=1", "", ""},
		{" maxtresperuser=cpu=3 maxtresperuser=gres/gpu=1", "", "", "4 cpu, and maxtresperuser of QoS q is 3|8 cpu, and maxtresperuser of QoS q is 3|2 gres/gpu, and maxtresperuser of QoS q is 1"},
		{" maxtresperaccount=billing=7", "", "", "8 billing, and maxtresperaccount of QoS q is 7"},
		{"", " grptres=gres/other=0", "", ""},
		{"", " maxtresperjob=gres/gpu=1", "", "4 gres/gpu, and maxtresperjob of account a is 1"},
		{"", " maxtresperjob=gres/gpu=1", " maxtresperjob=gres/gpu=4", ""},
		{" maxtresperjob=gres/gpu=4", " maxtresperjob=gres/gpu=1", "", ""},
		{"", "", " maxtrespernode=cpu=3", "4 cpu of each node, and maxtrespernode of user u1 is 3"},
		{" mintresperjob=license/matlab=1", "", "", "0 license/matlab, and MinTRES of QoS q is 1"},
		{"", " grptresrunmins=gres/gpu=15", "", "19 minutes of gres/gpu can still be used, and GrpTRESRunMins of account a is 15"},
		{" grpsubmitjobs=1", "", "", "2 jobs wait and run, and GrpSubmitJobs of QoS q is 1"},
		{" maxsubmitjobs=1", "", "", "2 jobs wait and run, and MaxSubmitJobsPerUser of QoS q is 1"},
		{" maxsubmitjobsperaccount=1", "", "", "2 jobs wait and run, and MaxSubmitJobsPerAccount of QoS q is 1"},
		{"", " grpsubmitjobs=1", "", "2 jobs wait and run, and GrpSubmitJobs of account a is 1"},
		{" grpsubmitjobs=2", " grpsubmitjobs=1", "", ""},
		{"", " maxsubmitjobs=1", "", "2 jobs wait and run, and MaxSubmitJobs of account a is 1"},
		{"", " maxsubmitjobs=1", " maxsubmitjobs=2", ""},
		{" maxsubmitjobsperaccount=2", " maxsubmitjobs=1", "", ""},
		{"", "", " maxsubmitjobs=0", "1 jobs wait and run, and MaxSubmitJobs of user u1 is 0"},
	} {
		of.Accounts = fmt.Sprintf(accounts, limit.ofQOS, limit.ofAccount, limit.ofUser)
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		if limit.want == "" {
			require.Zero(t, report.Total, "%v: %v", limit, report)
			continue
		}
		for want := range strings.SplitSeq(limit.want, "|") {
			require.Contains(t, report.String(), want, "%v", limit)
		}
	}
}

// Limits on use: two jobs of two CPUs and a GPU have run for 500 s each when a third one starts, and a fourth is ended for a
// limit that it would not be ended for otherwise.
func TestLimitsOnUse(t *testing.T) {
	const accounts = "add qos q%s\nadd account a%s\nadd user u1 account=a qos=q defaultqos=q%s\n"
	play := func(qos, enforce, jobs string) (string, Given) {
		return playedAt(t, map[string]string{
			replay.ConfigFile: "SelectTypeParameters=CR_Core\nGresTypes=gpu\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageTRES=gres/gpu\n" +
				"AccountingStorageEnforce=associations,qos," + enforce + "\nPriorityType=priority/multifactor\nPriorityCalcPeriod=1\nOverTimeLimit=60\n" +
				"NodeName=n[1-2] CPUs=4 Gres=gpu:2\nPartitionName=all Nodes=ALL Default=YES\n",
			replay.AccountsFile: fmt.Sprintf(accounts, qos, "", ""),
			replay.JobsFile:     "key,submit,uid,account,nodes,tasks,gres,limit_min,runtime\n" + jobs,
		})
	}
	check := func(events string, of Given, ofQOS, ofAccount, ofUser, want string) {
		t.Helper()
		of.Accounts = fmt.Sprintf(accounts, ofQOS, ofAccount, ofUser)
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		if want == "" {
			require.Zero(t, report.Total, "%v", report)
		} else {
			require.Contains(t, report.String(), want)
		}
	}
	events, of := play("", "limits", "x,10.25,5001,a,1,2,gpu:1,10,500\ny,20.25,5001,a,1,2,gpu:1,10,500\nz,1000.25,5001,a,,8,gpu:2,10,100\n")
	for _, limit := range [][4]string{
		{" grptresmins=cpu=33", "", "", "GrpTRESMins=cpu of QoS q has been used up"},
		{" grptresmins=cpu=34", "", "", "at 1080, job 3: wrong run time: z: it runs on at 1080, and since 1020 GrpTRESMins=cpu of QoS q has been used up"},
		{" grptresmins=cpu=42", "", "", ""}, // used up at the tick before its end
		{" grptresmins=cpu=84 usagefactor=2", "", "", ""},
		{"", " grptresmins=gres/gpu=16", "", "GrpTRESMins=gres/gpu of account a has been used up"},
		{" grptresmins=gres/gpu=20", " grptresmins=gres/gpu=16", "", ""},
		{"", "", " grpwall=16", "GrpWall of user u1 has been used up"},
		{" grpwall=18", "", " grpwall=16", ""},
		{" maxtresminsperjob=cpu=79", "", "", "8 cpu for 10 minutes, and MaxTRESMins of QoS q is 79"},
		{"", " maxtresmins=cpu=79", " maxtresmins=cpu=80", ""},
		{"", "", " maxtresmins=cpu=8", "at 1101, job 3: wrong run time: z: it runs on at 1101, and since 1061 MaxTRESMins=cpu of user u1 has been used up"},
		{"", "", " maxtresmins=cpu=9", "x: it runs on at 360, and since 311 MaxTRESMins=cpu of user u1 has been used up"},
		{"", "", " maxwall=0", "MaxWall of user u1 is 0"},
	} {
		check(events, of, limit[0], limit[1], limit[2], limit[3])
	}
	// With safe the ten minutes of z must fit beside what has been used.
	conf := *of.Config
	conf.Enforce.Safe = true
	safe, input := of, *of.Input
	input.Config = &conf
	safe.Input = &input
	for _, limit := range [][2]string{
		{" grptresmins=cpu=112", "8 cpu for 10 minutes beside 33 used and 0 to be used, and GrpTRESMins of QoS q is 112"},
		{" grptresmins=cpu=113", ""},
		{" grpwall=25", "10 minutes beside 16 of others, and GrpWall of QoS q is 25"},
		{" grpwall=26", ""},
	} {
		check(events, safe, limit[0], "", "", limit[1])
	}
	check(events, safe, " grptresmins=cpu=300", " grptresmins=cpu=112", "", "")
	check(events, safe, "", " grptresmins=cpu=112", "", "GrpTRESMins of account a is 112")
	check(events, safe, " grpwall=300", " grpwall=25", "", "")
	check(events, safe, " grptresmins=cpu=38", "", "", "2 cpu for 10 minutes beside 0 used and 19 to be used, and GrpTRESMins of QoS q is 38")
	// It uses 20 minutes in ten, and may run for more than an hour by OverTimeLimit.
	for _, limit := range []string{" grptresmins=cpu=20", " grpwall=10", " maxtresminsperjob=cpu=20"} {
		events, of := play(limit, "limits", "x,10.25,5001,a,1,2,,10,3000\n")
		require.Contains(t, events, "TIMEOUT")
		check(events, of, limit, "", "", "")
		check(events, of, "", "", "", "killed for its limit after 6")
		conf := *of.Config
		conf.Enforce.Safe = true
		of.Config = &conf
		check(events, of, limit, "", "", "killed for its limit after 6")
	}
	// Nothing ends it where nothing limits its use: a limit on nodes of a user does not end jobs, nor does any of the root.
	events, of = play("", "limits", "x,10.25,5001,a,1,2,,10,3000\n")
	require.NotContains(t, events, "TIMEOUT")
	check(events, of, " grptresmins=cpu=20", "", "", "it runs on at 720, and since 660 GrpTRESMins=cpu of QoS q")
	check(events, of, "", "", " maxtresmins=node=10", "")
	check(events, of, " maxtresminsperjob=node=10", "", "", "it runs on at 660, and since 611 MaxTRESMins=node of QoS q")
	check(events, of, " maxtresminsperjob=cpu=20 gracetime=3000", "", "", "")
	check(events, of, "\nmodify account root set grpwall=5", "", "", "")
	for name, change := range map[string]func(*slurm.Config){"safe": func(c *slurm.Config) { c.Enforce.Safe = true }, "no limits": func(c *slurm.Config) { c.Enforce.Limits = false }} {
		conf, input := *of.Config, *of.Input
		change(&conf)
		input.Config = &conf
		t.Log(name)
		check(events, Given{Input: &input}, " grptresmins=cpu=20", "", "", "")
	}
	end := line(t, events, "x,1,end")
	running := strings.NewReplacer("end", "left", "COMPLETED", "RUNNING").Replace(end)
	check(strings.Replace(events, end, strings.Replace(running, ",3011,", ",650,", 1), 1), of, " maxtresminsperjob=cpu=20", "", "", "at 650, job 1: wrong run time: x: it runs on at 650, and since 611")
	of.Accounts = fmt.Sprintf(accounts, " grptresmins=cpu=20", "", "")
	report, err := Events(strings.NewReader(events), nil, of, 0)
	require.NoError(t, err)
	require.Equal(t, 1, report.Total, "told once: %v", report)
	// GrpWall lets a job start whose limit an order has changed.
	for order, wrong := range map[string]bool{"10": true, "9": false} {
		events, of := playedAt(t, map[string]string{
			replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits\n" +
				"PriorityType=priority/multifactor\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
			replay.AccountsFile: "add account a\nadd user u1 account=a\n",
			replay.JobsFile:     "key,submit,uid,account,tasks,begin,limit_min,runtime\nx,10.25,5001,a,1,,10,500\ny,20.25,5001,a,1,1000,10,20\n",
			replay.OrdersFile:   "time,do,job,node,value\n300.75,limit,y,," + order + "\n",
		})
		for _, enforce := range []struct {
			safe bool
			wall string
		}{{false, "5"}, {true, "15"}} {
			conf, input := *of.Config, *of.Input
			conf.Enforce.Safe, input.Config = enforce.safe, &conf
			report, err := Events(strings.NewReader(events), nil, Given{Input: &input, Accounts: "add account a grpwall=" + enforce.wall + "\nadd user u1 account=a\n"}, 0)
			require.NoError(t, err)
			require.Equal(t, wrong, strings.Contains(report.String(), ": y: "), "%s %v: %v", order, enforce, report)
		}
	}
	// A job that comes after it finds its use counted at the first tick, here after half an hour, or at its end.
	for period, ended := range map[string]bool{"30": false, "90": true} {
		events, of := playedAt(t, map[string]string{
			replay.ConfigFile: "SelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits\n" +
				"PriorityType=priority/multifactor\nPriorityCalcPeriod=" + period + "\nNodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
			replay.AccountsFile: "add account a\nadd user u1 account=a\n",
			replay.JobsFile:     "key,submit,uid,account,tasks,limit_min,runtime\nx,10.25,5001,a,1,100,3000\nbefore,1500.25,5001,a,1,10,60\nticked,2000.25,5001,a,1,10,60\nafter,3300.25,5001,a,1,10,60\n",
		})
		of.Accounts = "add account a grptresmins=cpu=20\nadd user u1 account=a\n"
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		for key, wrong := range map[string]bool{"x": !ended, "before": false, "ticked": !ended, "after": true} {
			require.Equal(t, wrong, strings.Contains(report.String(), ": "+key+": "), "%s %s: %v", period, key, report)
		}
	}
}

// Devices of types: more of a type than a node has, a charge that no types come to, and limits on a type.
func TestTypesOfDevices(t *testing.T) {
	const accounts = "add qos q%s\nadd account a\nadd user u1 account=a qos=q defaultqos=q\n"
	play := func(gres string) (string, Given) {
		return playedAt(t, map[string]string{
			replay.ConfigFile: "SelectTypeParameters=CR_Core\nGresTypes=gpu\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageTRES=gres/gpu,gres/gpu:a100\n" +
				"AccountingStorageEnforce=associations,limits,qos\nPriorityType=priority/multifactor\n" +
				"NodeName=n1 CPUs=4 Gres=gpu:a100:2,gpu:v100:2\nPartitionName=all Nodes=ALL Default=YES TRESBillingWeights=CPU=1.0,GRES/gpu:a100=8.0\n",
			replay.AccountsFile: fmt.Sprintf(accounts, ""),
			replay.JobsFile:     "key,submit,uid,account,nodes,tasks,gres,limit_min,runtime\nx,10.25,5001,a,1,1," + gres + ",10,500\ny,10.25,5001,a,1,1,gpu:1,10,500\n",
		})
	}
	check := func(events string, of Given, limit string) string {
		of.Accounts = fmt.Sprintf(accounts, limit)
		report, err := Events(strings.NewReader(events), nil, of, 0)
		require.NoError(t, err)
		return report.String()
	}
	events, of := play("gpu:a100:2")
	require.Contains(t, check(events, of, ""), "; valid")
	require.Contains(t, check(events, of, " grptres=gres/gpu:a100=1"), "2 gres/gpu:a100, and grptres of QoS q is 1")
	require.Contains(t, check(events, of, " grptres=gres/gpu=2"), "3 gres/gpu, and grptres of QoS q is 2")
	conf := *of.Config
	conf.Nodes = []slurm.Node{conf.Nodes[0]}
	conf.Nodes[0].GRES = []slurm.Amount{{Kind: "gpu:a100", Count: 1}, {Kind: "gpu:v100", Count: 3}}
	other := of
	input := *of.Input
	input.Config = &conf
	other.Input = &input
	require.Contains(t, check(events, other, ""), "jobs have 2 gpu:a100 of n1, which has 1")
	// A job that asks for any type is charged for the types that it was given: between none and all of its devices are a100.
	events, of = play("gpu:3")
	require.Contains(t, check(events, of, ""), "; valid")
	require.Contains(t, check(strings.ReplaceAll(events, "5=17,", "5=18,"), of, ""), "it is charged for 18 a second")
}
