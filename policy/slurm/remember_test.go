package slurm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// write writes the files of a folder.
func write(t *testing.T, dir string, files map[string]string) {
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
}

// anySetUp is a folder with a machine, accounts and jobs by chance, each feature on or off.
func anySetUp(r *rand.Rand) map[string]string {
	var conf, accounts, jobs strings.Builder
	on := func(chance float64) bool { return r.Float64() < chance }
	one := func(of ...int) int { return of[r.IntN(len(of))] }
	nodes := one(4, 9, 70)
	limits := on(.6)
	fmt.Fprintf(&conf, "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightFairshare=%d\n", one(0, 10000))
	fmt.Fprintf(&conf, "PriorityCalcPeriod=%d\nSelectType=select/cons_tres\nSelectTypeParameters=%s\nMinJobAge=%d\nSchedulerType=sched/backfill\n", one(1, 5), []string{"CR_Core", "CR_Core", "CR_Core,CR_LLN"}[r.IntN(3)], one(10, 300))
	fmt.Fprintf(&conf, "SchedulerParameters=bf_interval=%d,bf_resolution=%d,bf_window=%d,bf_max_job_test=%d", one(10, 30), one(60, 300), one(60, 1440), one(20, 500))
	for _, name := range []string{"assoc_limit_stop", "bf_licenses", "bf_one_resv_per_job", "bf_busy_nodes", "bf_min_age_reserve=120", "defer", "bf_max_job_user=3", "preempt_youngest_first"} {
		if on(.2) {
			conf.WriteString("," + name)
		}
	}
	conf.WriteString("\nLicenses=matlab:3\nGresTypes=gpu\n")
	if limits {
		conf.WriteString("AccountingStorageEnforce=associations,limits,qos\n")
	}
	preempts := on(.4)
	if preempts {
		fmt.Fprintf(&conf, "PreemptType=preempt/%s\nPreemptMode=REQUEUE\n", []string{"qos", "qos", "partition_prio"}[r.IntN(3)])
		if on(.2) {
			conf.WriteString("PreemptExemptTime=2\n")
		}
	}
	fmt.Fprintf(&conf, "NodeName=n[1-%d] Sockets=2 CoresPerSocket=%d Weight=%d Feature=fast\nNodeName=n[%d-%d] Sockets=1 CoresPerSocket=8 Gres=gpu:2\n", nodes/2, one(2, 8), one(1, 2), nodes/2+1, nodes)
	fmt.Fprintf(&conf, "PartitionName=p0 Nodes=ALL Default=YES MaxTime=240\nPartitionName=p1 Nodes=n[1-%d] MaxTime=60 PriorityTier=%d PriorityJobFactor=5\n", nodes/2, one(1, 2))
	others := []string{"", "", ",node=3", ",gres/gpu=1"}[r.IntN(4)] // beside CPUs
	fmt.Fprintf(&accounts, "add qos low priority=0 grptres=cpu=40%s maxjobsperuser=6\nadd qos high priority=100", others)
	if preempts {
		accounts.WriteString(" preempt=low")
		if on(.3) {
			accounts.WriteString("\nmodify qos low set gracetime=60")
		}
	}
	fmt.Fprintf(&accounts, "\nadd account a fairshare=10\nadd account b fairshare=30 grptresrunmins=cpu=%d\n", one(500, 5000))
	for u := range 4 {
		fmt.Fprintf(&accounts, "add user u%d account=%c fairshare=1 qos=low,high defaultqos=low maxjobs=%d\n", u, 'a'+u/2, one(3, 20))
	}
	jobs.WriteString("key,submit,uid,account,partition,qos,nodes,tasks,cpt,gres,licenses,exclusive,feature,nodelist,dependency,begin,nice,limit_min,runtime\n")
	at := 10
	for i := range 160 {
		at += int(r.ExpFloat64() * float64(one(10, 60, 100)) * 8 / float64(nodes))
		u := r.IntN(4)
		limit := one(5, 10, 30, 60)
		cells := []any{fmt.Sprint("j", i), fmt.Sprint(at, ".25"), 5000 + u, string(rune('a' + u/2)), []string{"p0", "p1", "p0,p1"}[r.IntN(3)], []string{"low", "high"}[r.IntN(2)]}
		for _, cell := range []struct {
			value  any
			chance float64
		}{
			{one(1, 2, nodes/2), .3}, {one(1, 2, 4, 8, 2*nodes), .9}, {2, .1}, {"gpu:1", .05}, {"matlab:1", .1}, {1, .1}, {"fast", .1},
			{"n2", .05}, {fmt.Sprint("afterany:j", i-3), min(.1, float64(max(0, i-2)))}, {at + 300, .05}, {100, .1},
		} {
			if !on(cell.chance) {
				cell.value = ""
			}
			cells = append(cells, cell.value)
		}
		cells = append(cells, limit, 1+r.IntN(limit*66))
		for k, cell := range cells {
			if k > 0 {
				jobs.WriteByte(',')
			}
			fmt.Fprintf(&jobs, "%q", fmt.Sprint(cell))
		}
		jobs.WriteByte('\n')
	}
	files := map[string]string{"slurm.conf": conf.String(), "sacctmgr.txt": accounts.String(), "jobs.csv": jobs.String()}
	if on(.5) { // operators change jobs that wait, mostly soon after these have come
		orders := "time,do,job,node,value\n"
		for at, i := 10., 0; i < 160; i += 1 + r.IntN(8) {
			at += float64(r.IntN(100))
			do := []string{"cancel", "hold", "release", "nice", "limit"}[r.IntN(5)]
			value := ""
			switch do {
			case "nice":
				value = fmt.Sprint(one(0, 50))
			case "limit":
				value = fmt.Sprint(one(5, 60, 300))
			}
			orders += fmt.Sprintf("%v,%s,j%d,,%s\n", at, do, i, value)
		}
		files["actions.csv"] = orders
	}
	if on(.3) {
		files["reservations.csv"] = fmt.Sprintf("created,start,minutes,name,nodelist,users,accounts,maint\n%d,%d,30,r0,n1,u1,,\n%d,%d,20,r1,n[2-3],root,,1\n", at/10, at/3, at/5, at/2)
	}
	return files
}

// crowded is a folder with a machine whose partitions share some nodes, or none, and with more jobs of several sizes than it has room for: a run of backfill
// recalls what the last one found for jobs of one partition while jobs of others start and end. Operators reserve nodes.
func crowded(r *rand.Rand) map[string]string {
	var conf, accounts, jobs strings.Builder
	on := func(chance float64) bool { return r.Float64() < chance }
	one := func(of ...int) int { return of[r.IntN(len(of))] }
	nodes := one(6, 9, 12)
	fmt.Fprintf(&conf, "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\nPriorityType=priority/%s\n", []string{"basic", "multifactor\nPriorityWeightAge=1000"}[r.IntN(2)])
	conf.WriteString("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n")
	fmt.Fprintf(&conf, "SchedulerParameters=default_queue_depth=%d,bf_interval=%d,bf_resolution=%d,bf_window=%d,bf_max_job_test=%d", one(1, 3, 100), one(10, 30), one(60, 300), one(60, 300, 1440), one(3, 6, 12, 100))
	if on(.4) {
		conf.WriteString(",assoc_limit_stop")
	}
	if on(.3) {
		fmt.Fprintf(&conf, ",bf_min_age_reserve=%d", one(200, 1000))
	}
	if on(.2) {
		conf.WriteString(",bf_one_resv_per_job")
	}
	third := nodes / 3
	fmt.Fprintf(&conf, "\nLicenses=matlab:3\nNodeName=n[1-%d] CPUs=%d\n", nodes, one(2, 8))
	fmt.Fprintf(&conf, "PartitionName=p0 Nodes=ALL Default=YES\nPartitionName=p1 Nodes=n[1-%d]\nPartitionName=p2 Nodes=n[%d-%d]\nPartitionName=p3 Nodes=n[%d-%d] OverSubscribe=%s\n",
		third, third+1, 2*third, third+1, nodes, []string{"NO", "EXCLUSIVE"}[r.IntN(2)])
	fmt.Fprintf(&accounts, "add qos free\nadd qos tight grptres=cpu=%d\nadd account a\n", one(4, 8, 16))
	for u := range 4 {
		fmt.Fprintf(&accounts, "add user u%d account=a qos=free,tight defaultqos=free\n", u)
	}
	jobs.WriteString("key,submit,uid,account,partition,qos,nodes,tasks,licenses,limit_min,runtime\n")
	at, tight, pause := 10, []float64{.1, .4, .7}[r.IntN(3)], float64(one(10, 20, 40))
	for i := range 120 {
		at += int(r.ExpFloat64() * pause)
		limit := one(5, 10, 30, 60, 120)
		qos, count, licenses := "free", "", ""
		if on(tight) {
			qos = "tight"
		}
		if on(.4) {
			count = fmt.Sprint(one(1, 2, third, nodes/2))
		}
		if on(.05) {
			licenses = "matlab:2"
		}
		fmt.Fprintf(&jobs, "j%d,%d.25,%d,a,%q,%s,%s,%d,%s,%d,%d\n", i, at, 5000+r.IntN(4), []string{"p0", "p1", "p1", "p2", "p2", "p3", "p1,p2", "p1,p3"}[r.IntN(8)], qos, count, one(1, 2, 4, 8, nodes, 2*nodes), licenses,
			limit, 1+r.IntN(limit*66))
	}
	files := map[string]string{"slurm.conf": conf.String(), "sacctmgr.txt": accounts.String(), "jobs.csv": jobs.String()}
	if on(.4) {
		reservations := "created,start,minutes,name,nodelist,users,accounts,maint\n"
		for i := range 1 + r.IntN(3) {
			created, first := r.IntN(at), 1+r.IntN(nodes)
			reservations += fmt.Sprintf("%d,%d,%d,r%d,n[%d-%d],root,,1\n", created, created+one(100, 1000, 4000), one(5, 20, 60), i, first, first+r.IntN(nodes+1-first))
		}
		files["reservations.csv"] = reservations
	}
	return files
}

// TestWhatIsRememberedIsWhatALookWouldFind holds controllers to ones that remember nothing: neither looks into the future, nor
// what bounds them, nor what the last run of backfill did.
func TestWhatIsRememberedIsWhatALookWouldFind(t *testing.T) {
	draws := 60
	if testing.Short() {
		draws = 15
	}
	repeats := int64(0)
	for seed := range draws {
		more, _ := remembers(t, anySetUp(rand.New(rand.NewPCG(uint64(seed), 1))), fmt.Sprint("set-up ", seed))
		repeats += more
	}
	require.Greater(t, repeats, int64(100*draws), "runs of backfill that repeat the last one")
}

// TestWhatARunRecallsIsWhatALookWouldFind does so on crowded machines.
func TestWhatARunRecallsIsWhatALookWouldFind(t *testing.T) {
	draws := 60
	if testing.Short() {
		draws = 15
	}
	for seed := range draws {
		remembers(t, crowded(rand.New(rand.NewPCG(uint64(seed), 1))), fmt.Sprint("machine ", seed))
	}
}

// drained is a folder with a machine that wide jobs drain again and again, and with more narrow jobs behind them than it has room for: few of them could start
// now, so that most need not be planned. Some are beyond limits, of several partitions, or want devices, so that they are planned at once.
func drained(r *rand.Rand) map[string]string {
	var conf, accounts, jobs strings.Builder
	on := func(chance float64) bool { return r.Float64() < chance }
	one := func(of ...int) int { return of[r.IntN(len(of))] }
	nodes := one(8, 16, 70)
	fmt.Fprintf(&conf, "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\nPriorityType=priority/multifactor\nPriorityWeightQOS=1000\nPriorityWeightAge=%d\n", one(0, 5000))
	fmt.Fprintf(&conf, "SelectType=select/cons_tres\nSelectTypeParameters=%s\nSchedulerType=sched/backfill\n", []string{"CR_Core", "CR_Core_Memory"}[r.IntN(2)])
	fmt.Fprintf(&conf, "SchedulerParameters=default_queue_depth=%d,bf_interval=%d,bf_resolution=%d,bf_window=%d,bf_max_job_test=%d", one(2, 100), one(10, 30), one(60, 300), one(300, 1440), one(10, 100, 500, 500))
	for _, name := range []string{"bf_busy_nodes", "assoc_limit_stop", "bf_min_age_reserve=600", "bf_licenses", "bf_node_space_size=40", "bf_max_job_user=9"} {
		if on(.1) {
			conf.WriteString("," + name)
		}
	}
	if on(.4) { // wide jobs preempt: which of them could make others end, and so start, hangs on who runs
		conf.WriteString("\nPreemptType=preempt/qos\nPreemptMode=REQUEUE")
		if on(.2) {
			conf.WriteString("\nPreemptExemptTime=10")
		}
	}
	fmt.Fprintf(&conf, "\nLicenses=matlab:3\nGresTypes=gpu\nNodeName=n[1-%d] CPUs=4 RealMemory=8000\nNodeName=n[%d-%d] CPUs=8 RealMemory=8000 Gres=gpu:2\n", nodes/2, nodes/2+1, nodes)
	fmt.Fprintf(&conf, "PartitionName=p0 Nodes=ALL Default=YES\nPartitionName=p1 Nodes=n[1-%d]\nPartitionName=p2 Nodes=n[%d-%d]\n", nodes/2, one(1, nodes/2+1), nodes)
	// With a priority of 0 those that may preempt stand behind others, so that backfill has them preempt, not the main scheduler.
	fmt.Fprintf(&accounts, "add qos free\nadd qos tight grptres=%s=%d\nadd qos high priority=%d preempt=tight\nadd account a\n", []string{"cpu", "cpu", "node"}[r.IntN(3)], one(4, 8, 16, 3*nodes), one(0, 100))
	for u := range 4 {
		fmt.Fprintf(&accounts, "add user u%d account=a qos=free,tight,high defaultqos=free\n", u)
	}
	jobs.WriteString("key,submit,uid,account,partition,qos,nodes,tasks,mempercpu,gres,licenses,limit_min,runtime\n")
	at, pause, rare := 10, float64(one(10, 20)), r.Float64()*.1
	for i := range 160 {
		at += int(r.ExpFloat64() * pause * 8 / float64(nodes))
		limit, tasks, count := one(10, 30, 60, 240), one(1, 2, 4, 8), ""
		qos, part, gres, licenses := "free", []string{"p0", "p0", "p1", "p2"}[r.IntN(4)], "", ""
		switch {
		case i%10 == 5: // a wide one
			part, tasks, qos = "p0", 3*nodes, []string{"free", "high"}[r.IntN(2)]
		case on(.1):
			count, tasks = fmt.Sprint(one(1, 2, nodes/4)), nodes
		case on(rare):
			gres = "gpu:1"
		case on(rare):
			licenses = "matlab:2"
		case on(rare):
			part = "p0,p1"
		case on(4 * rare):
			qos = []string{"tight", "tight", "high"}[r.IntN(3)]
		}
		fmt.Fprintf(&jobs, "j%d,%d.25,%d,a,%q,%s,%s,%d,%d,%s,%s,%d,%d\n", i, at, 5000+r.IntN(4), part, qos, count, tasks, one(100, 1000), gres, licenses, limit, 1+r.IntN(limit*66))
	}
	files := map[string]string{"slurm.conf": conf.String(), "sacctmgr.txt": accounts.String(), "jobs.csv": jobs.String()}
	if on(.3) {
		begin := at/3 + r.IntN(at)
		files["reservations.csv"] = fmt.Sprintf("created,start,minutes,name,nodelist,users,accounts,maint\n%d,%d,%d,r0,n[1-%d],root,,1\n", begin/2, begin, one(20, 60), one(2, nodes/2, nodes))
	}
	return files
}

// TestARunThatPutsPlansOffStartsTheSame does so on machines that are drained, on which most plans decide nothing.
func TestARunThatPutsPlansOffStartsTheSame(t *testing.T) {
	draws := 30
	if testing.Short() {
		draws = 10
	}
	spared := int64(0)
	for seed := range draws {
		_, looks := remembers(t, drained(rand.New(rand.NewPCG(uint64(seed), 1))), fmt.Sprint("machine ", seed))
		spared += looks
	}
	require.Greater(t, spared, int64(10*draws), "looks that are spared")
}

// remembers holds a controller that plays a folder to one that remembers nothing. It tells how many runs of backfill are left out, and how many
// looks are spared by putting plans off.
func remembers(t *testing.T, files map[string]string, what string) (repeats, spared int64) {
	dir := t.TempDir()
	write(t, dir, files)
	in, err := replay.ReadFolder(dir)
	require.NoError(t, err)
	events := func(forgets, estimates bool) (string, *slurm.Controller) {
		sim := des.New(des.Config{})
		m, err := replay.NewMachine(sim, in)
		require.NoError(t, err)
		if m.Controller().Estimates = estimates; forgets {
			m.Controller().Forget()
		}
		var text, plans strings.Builder
		w := replay.NewEventWriter(&text, false)
		m.Tell = func(e replay.Event) {
			w.Tell(e)
			plans.WriteString(m.Controller().Plans())
			plans.WriteByte('\n')
		}
		m.Begin()
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, w.Close())
		text.WriteString(plans.String())
		return text.String(), m.Controller()
	}
	got, c := events(false, true)
	want, forgetful := events(true, true)
	require.Equal(t, want, got, what)
	require.Equal(t, forgetful.Passes(), c.Passes(), what)
	// Without estimates all else is the same.
	got, puttingOff := events(false, false)
	want, forgetful = events(true, false)
	require.Equal(t, want, got, what)
	require.Equal(t, forgetful.Passes(), puttingOff.Passes(), what)
	return c.Repeats(), c.Looks() - puttingOff.Looks()
}

// TestAJobOfALongLogCostsNoMore plays logs of one load that differ in length: neither looks into the future nor passes
// a job, nor the records that are kept at a time, grow with it.
func TestAJobOfALongLogCostsNoMore(t *testing.T) {
	cost := func(jobs int) (looks, passes float64, records int) {
		r := rand.New(rand.NewPCG(1, 1))
		var text strings.Builder
		text.WriteString("key,submit,uid,account,tasks,limit_min,runtime\n")
		for i, at := 0, 10.; i < jobs; i++ {
			at += r.ExpFloat64() * 50
			limit := 5 + r.IntN(60)
			fmt.Fprintf(&text, "j%d,%d.25,%d,a,%d,%d,%d\n", i, int(at), 5000+r.IntN(4), 1<<r.IntN(6), limit, 1+r.IntN(limit*60))
		}
		dir := t.TempDir()
		write(t, dir, map[string]string{"jobs.csv": text.String(),
			"slurm.conf": "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityWeightFairshare=1000\nPriorityWeightAge=100\n" +
				"SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nMinJobAge=60\nNodeName=n[1-40] CPUs=8\nPartitionName=p Nodes=ALL Default=YES\n",
			"sacctmgr.txt": "add account a\nadd user u0 account=a\nadd user u1 account=a\nadd user u2 account=a\nadd user u3 account=a\n"})
		in, err := replay.ReadFolder(dir)
		require.NoError(t, err)
		sim := des.New(des.Config{})
		m, err := replay.NewMachine(sim, in)
		require.NoError(t, err)
		m.Tell = func(replay.Event) { records = max(records, m.Controller().Records()) }
		m.Begin()
		require.NoError(t, sim.Run(context.Background()))
		c := m.Controller()
		return float64(c.Looks()) / float64(jobs), float64(c.Passes()) / float64(jobs), records
	}
	looks, passes, records := cost(2000)
	longLooks, longPasses, longRecords := cost(8000)
	t.Logf("a job: %.1f looks, then %.1f; %.1f passes, then %.1f; at most %d records, then %d", looks, longLooks, passes, longPasses, records, longRecords)
	require.Greater(t, looks, 1.5, "jobs wait")
	require.Less(t, longLooks, 1.3*looks)
	require.Less(t, longPasses, 1.1*passes)
	require.Less(t, longRecords, 2*records)
}
