package bench_test

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// siteConf is a cluster of 1,000 nodes and 32,000 cores, with partitions that overlap, fair share and limits.
const siteConf = `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightPartition=1000
PriorityWeightQOS=2000
PriorityDecayHalfLife=7-0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_window=10080,bf_resolution=300,bf_max_job_user=50,default_queue_depth=200
NodeName=a[1-400] Sockets=2 CoresPerSocket=8 Weight=1
NodeName=b[1-400] Sockets=2 CoresPerSocket=16 Weight=2
NodeName=c[1-200] Sockets=2 CoresPerSocket=32 Weight=3
PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0 PriorityJobFactor=5
PartitionName=short Nodes=ALL MaxTime=4:00:00 PriorityJobFactor=10 PriorityTier=2
PartitionName=long Nodes=a[1-400],b[1-200] MaxTime=7-0
PartitionName=fat Nodes=c[1-200] MaxTime=2-0 PriorityJobFactor=5
`

const siteCores = 32_000

// sitePartitions are how often jobs name each partition, the mean of the logarithm of their run time in s, and its limit in s.
var sitePartitions = []struct {
	name  string
	share float64
	mean  float64
	limit int
}{{"batch", .52, 9.6, 2 * 86400}, {"short", .26, 7.6, 4 * 3600}, {"long", .13, 11.2, 7 * 86400}, {"fat", .09, 9.8, 2 * 86400}}

// writeSite writes slurm.conf, accounts and a log of so many jobs, which offer a load of 0.8, most of it to the partition long: 200 users in 20 accounts submit series of jobs
// that are alike, of 1 to 2,048 cores.
func writeSite(tb testing.TB, dir string, jobs int) (conf, accounts, log string) {
	conf, accounts, log = filepath.Join(dir, "slurm.conf"), filepath.Join(dir, "accounts.txt"), filepath.Join(dir, "jobs.txt")
	require.NoError(tb, os.WriteFile(conf, []byte(siteConf), 0o666))
	text := fmt.Sprintf("add qos normal priority=10\nadd qos high priority=100 maxjobsperuser=20\nadd qos low grptres=cpu=%d\n", siteCores/2)
	for a := range 20 {
		text += fmt.Sprintf("add account g%d fairshare=%d\n", a, []int{5, 10, 20, 50}[a%4])
		for u := range 10 {
			text += fmt.Sprintf("add user u%d account=g%d qos=normal,high,low defaultqos=normal\n", 10*a+u, a)
		}
	}
	require.NoError(tb, os.WriteFile(accounts, []byte(text), 0o666))

	type job struct {
		at                          float64
		user, cores, limit, runtime int
		part, qos                   string
	}
	r := rand.New(rand.NewPCG(1, 1))
	var all []job
	work := 0.0
	for len(all) < jobs {
		user, at, pick := int(200*math.Pow(r.Float64(), 2)), r.Float64(), r.Float64()
		part := sitePartitions[0]
		for _, p := range sitePartitions {
			if part = p; pick < p.share {
				break
			}
			pick -= p.share
		}
		cores := 1 << int(min(11, max(0, 5+2.5*r.NormFloat64())))
		mean, qos := part.mean+1.1*r.NormFloat64(), []string{"normal", "normal", "normal", "normal", "normal", "normal", "low", "low", "high"}[r.IntN(9)]
		for range []int{1, 1, 1, 2, 3, 5, 10, 20, 50}[r.IntN(9)] {
			runtime := int(min(float64(part.limit), max(20, math.Exp(mean+.3*r.NormFloat64()))))
			limit := min(part.limit, int(float64(runtime)*[]float64{1, 1.2, 1.5, 2, 3, 5, 10}[r.IntN(7)])/3600*3600+3600)
			all = append(all, job{at, user, cores, limit, runtime, part.name, qos})
			work += float64(cores * runtime)
		}
	}
	all = all[:jobs]
	slices.SortStableFunc(all, func(a, b job) int { return cmp.Compare(a.at, b.at) })
	f, err := os.Create(log)
	require.NoError(tb, err)
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "JobID|User|Account|Partition|QOS|Submit|Start|ElapsedRaw|TimelimitRaw|ReqCPUS|State")
	for i, j := range all {
		at := time.Unix(1_704_067_200+int64(j.at*work/siteCores/.8), 0).UTC().Format("2006-01-02T15:04:05")
		fmt.Fprintf(w, "%d|u%d|g%d|%s|%s|%s|%s|%d|%d|%d|COMPLETED\n", i+1, j.user, j.user/10, j.part, j.qos, at, at, j.runtime, j.limit/60, j.cores)
	}
	require.NoError(tb, w.Flush())
	require.NoError(tb, f.Close())
	return conf, accounts, log
}

// BenchmarkSlurm has the command play logs of an overloaded site of 1,000 nodes under Slurm's rules, all files written: jobs for the partition long ask for 1.5
// times its cores in the log of 10,000 jobs and for 0.97 of them in that of 200,000, and other jobs want them, too. So thousands of jobs come to wait.
func BenchmarkSlurm(b *testing.B) {
	for _, jobs := range []int{10_000, 50_000, 200_000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			if testing.Short() && jobs > 10_000 {
				b.Skip("-short")
			}
			conf, accounts, log := writeSite(b, b.TempDir(), jobs)
			var costs []cost
			for b.Loop() {
				costs = append(costs, run(b, process(roleCommand, "simulate", log, "--slurm", conf, "--accounts", accounts, "--out", b.TempDir())))
			}
			report(b, costs)
			b.ReportMetric(median(costs)/float64(jobs)*1e6, "user-µs/job")
		})
	}
}

// BenchmarkSlurmSteady has the command play logs of a site of 1,000 nodes on which all rules act, all files written: the first blocks of one year, so that
// they differ in their length only. It tells how many jobs wait, in the mean and at most, how often the queue was gone through, what that cost for each job
// that waited, and of which power of the length of the log the cost is.
func BenchmarkSlurmSteady(b *testing.B) {
	var sizes, seconds []float64
	for _, blocks := range geometric(1, 16, 2) {
		jobs := blocks * steadyBlock
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			if testing.Short() && blocks > 1 {
				b.Skip("-short")
			}
			dir, out := b.TempDir(), ""
			writeSteady(b, dir, blocks)
			var costs []cost
			for b.Loop() {
				out = b.TempDir()
				costs = append(costs, run(b, process(roleCommand, "simulate", "--slurm", dir, "--out", out)))
			}
			report(b, costs)
			b.ReportMetric(median(costs)/float64(jobs)*1e6, "user-µs/job")
			mean, most := queueOf(b, filepath.Join(out, "slurm-events.csv"))
			passes := passesOf(b, filepath.Join(out, "summary.csv"))
			b.ReportMetric(mean, "mean-queue")
			b.ReportMetric(float64(most), "longest-queue")
			b.ReportMetric(passes, "passes")
			b.ReportMetric(median(costs)/passes/mean*1e6, "user-µs/pass/waiting-job")
			sizes, seconds = append(sizes, float64(jobs)), append(seconds, median(costs))
		})
	}
	if p, err := fit(sizes, seconds); err == nil {
		b.Logf("power %.2f ± %.2f", p.exponent, p.sigma)
	}
}

// passesOf is how often the main scheduler and backfill have gone through the queue, by the summary of a run.
func passesOf(tb testing.TB, path string) float64 {
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(tb, err)
	passes, err := strconv.ParseFloat(rows[1][slices.Index(rows[0], "rounds")], 64)
	require.NoError(tb, err)
	return passes
}

// queueOf is how many jobs wait, in the mean over the log and at most, by the events of a run.
func queueOf(tb testing.TB, path string) (mean float64, most int) {
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(tb, err)
	column := func(name string) int { return slices.Index(rows[0], name) }
	key, event, second, detail := column("key"), column("event"), column("time"), column("detail")
	waits := map[string]bool{}
	area, first, last := 0, 0, 0
	for i, row := range rows[1:] {
		now, err := strconv.Atoi(row[second])
		require.NoError(tb, err)
		if i == 0 {
			first, last = now, now
		}
		area += len(waits) * (now - last)
		last = now
		switch {
		case row[event] == "submit" && row[detail] == "", row[event] == "stop" && (row[detail] == "PREEMPTED" || row[detail] == "NODE_FAIL"):
			waits[row[key]] = true
		case row[event] == "start":
			delete(waits, row[key])
		}
		most = max(most, len(waits))
	}
	return float64(area) / float64(last-first), most
}
