package bench_test

import (
	"cmp"
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
)

// steadyConf is a cluster of 1,000 nodes and 30,720 cores on which all rules act: partitions that overlap and have tiers, memory,
// GPUs, licences, fair share, limits, and QoSs that preempt.
const steadyConf = `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightJobSize=500
PriorityWeightPartition=1000
PriorityWeightQOS=2000
PriorityDecayHalfLife=7-0
PreemptType=preempt/qos
PreemptMode=REQUEUE
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=2000
SchedulerType=sched/backfill
SchedulerParameters=bf_window=10080,bf_resolution=300,bf_max_job_user=50,default_queue_depth=200
GresTypes=gpu
Licenses=matlab:100
NodeName=a[1-400] Sockets=2 CoresPerSocket=8 RealMemory=64000 Weight=1
NodeName=b[1-400] Sockets=2 CoresPerSocket=16 RealMemory=128000 Weight=2
NodeName=c[1-160] Sockets=2 CoresPerSocket=32 RealMemory=512000 Weight=3
NodeName=g[1-40] Sockets=2 CoresPerSocket=16 RealMemory=256000 Gres=gpu:4 Weight=4
PartitionName=batch Nodes=a[1-400],b[1-400],c[1-160] Default=YES MaxTime=2-0 PriorityJobFactor=5
PartitionName=short Nodes=a[1-400],b[1-400],c[1-160] MaxTime=4:00:00 PriorityJobFactor=10 PriorityTier=2
PartitionName=long Nodes=a[201-400],b[1-200] MaxTime=7-0
PartitionName=fat Nodes=c[1-160] MaxTime=2-0 PriorityJobFactor=5
PartitionName=gpu Nodes=g[1-40] MaxTime=2-0 PriorityJobFactor=5
`

const steadyCores = 400*16 + 400*32 + 160*64 + 40*32

// steadyPartitions are how often series of jobs name each partition, the mean of the logarithm of their run time in s, its limit in s, and
// the most cores that they ask for.
var steadyPartitions = []struct {
	name  string
	share float64
	mean  float64
	limit int
	cores int
}{{"batch", .52, 9.9, 2 * 86400, 2048}, {"short", .28, 7.6, 4 * 3600, 1024}, {"long", .05, 11.2, 7 * 86400, 512}, {"fat", .1, 9.6, 2 * 86400, 1024}, {"gpu", .05, 9, 2 * 86400, 32}}

// steadyJob is a job of writeSteady.
type steadyJob struct {
	at, runtime, limit int // s
	user, cores, nodes int
	perCPU             int // MB
	part, qos, gres    string
	licenses           string
	follows            bool // it waits for the end of the job before it
}

// steadyLoad is what the jobs of each block of writeSteady ask for, as a part of all cores. Half weeks ask for 0.4 to 1.1.
const steadyLoad = .7

// steadyBlock is how many jobs come in a block of the log of writeSteady. Its length follows from its work: about 12 days.
const steadyBlock = 12_500

// writeSteady writes a folder with a log of so many blocks of jobs. Each block is a draw of its own from the same law, offers the same load and has one
// maintenance. The first blocks are the same whatever the length of the log.
func writeSteady(tb testing.TB, dir string, blocks int) {
	accounts := fmt.Sprintf("add qos normal priority=10\nadd qos high priority=100 maxjobsperuser=20 preempt=spare\nadd qos spare priority=0 grptres=cpu=%d\n", steadyCores/4)
	for a := range 20 {
		accounts += fmt.Sprintf("add account g%d fairshare=%d grptres=cpu=%d\n", a, []int{5, 10, 20, 50}[a%4], steadyCores/2)
		for u := range 10 {
			accounts += fmt.Sprintf("add user u%d account=g%d qos=normal,high,spare defaultqos=normal maxjobs=200\n", 10*a+u, a)
		}
	}
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "slurm.conf"), []byte(steadyConf), 0o666))
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "sacctmgr.txt"), []byte(accounts), 0o666))
	var jobs, reservations, actions strings.Builder
	jobs.WriteString("key,submit,uid,account,partition,qos,nodes,tasks,mempercpu,gres,licenses,dependency,limit_min,runtime\n")
	reservations.WriteString("created,start,minutes,name,nodelist,users,accounts,maint\n")
	actions.WriteString("time,do,job,node,value\n")
	begin := 0
	for b := range blocks {
		r := rand.New(rand.NewPCG(3, uint64(b)))
		all, length := steadyJobs(r, begin)
		for i, j := range all {
			jobs.WriteString(j.row(b*steadyBlock + i + 1))
		}
		more, acts := steadyOperators(r, b, begin, length)
		reservations.WriteString(more)
		actions.WriteString(acts)
		begin += length
	}
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "jobs.csv"), []byte(jobs.String()), 0o666))
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "reservations.csv"), []byte(reservations.String()), 0o666))
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "actions.csv"), []byte(actions.String()), 0o666))
}

// steadyJobs draws the jobs of a block that begins at a second, in the order of their submission, and tells how many seconds the block lasts: 200 users in 20
// accounts submit series of jobs that are alike, by day and on weekdays more than at night.
func steadyJobs(r *rand.Rand, begin int) (all []steadyJob, length int) {
	work := 0
	var firsts []int // of series
	for len(all) < steadyBlock {
		firsts = append(firsts, len(all))
		all = append(all, steadySeries(r)...)
	}
	all = all[:steadyBlock]
	for i := range all {
		work += all[i].cores * all[i].runtime
	}
	length = int(float64(work) / steadyCores / steadyLoad)
	at := 0
	for i := range all {
		if len(firsts) > 0 && firsts[0] == i {
			for firsts = firsts[1:]; ; { // by day four times as many come as at night, on Saturdays and Sundays half as many
				at = begin + int(r.Float64()*float64(length))
				hour, day := at/3600%24, at/86400%7
				weight := 1.
				if hour < 8 || hour >= 20 {
					weight /= 4
				}
				if day >= 5 {
					weight /= 2
				}
				if r.Float64() < weight {
					break
				}
			}
		}
		all[i].at = at
	}
	slices.SortStableFunc(all, func(a, b steadyJob) int { return cmp.Compare(a.at, b.at) })
	return all, length
}

// steadySeries draws jobs of one user that are alike.
func steadySeries(r *rand.Rand) (all []steadyJob) {
	pick, p := r.Float64(), steadyPartitions[0]
	for _, p = range steadyPartitions {
		if pick < p.share {
			break
		}
		pick -= p.share
	}
	j := steadyJob{user: int(200 * math.Pow(r.Float64(), 2)), part: p.name, cores: min(p.cores, 1<<int(min(11, max(0, 5+2.5*r.NormFloat64()))))}
	j.qos = []string{"normal", "normal", "normal", "normal", "normal", "normal", "spare", "spare", "high"}[r.IntN(9)]
	if j.perCPU = []int{0, 0, 0, 1000, 3000, 4000, 7000}[r.IntN(7)]; j.perCPU == 7000 && j.part != "fat" {
		j.perCPU = 0
	}
	if j.part == "gpu" {
		j.nodes = 1 + r.IntN(4)/2
		j.cores = j.nodes * 8
		j.gres = fmt.Sprint("gpu:", []int{1, 1, 2, 4}[r.IntN(4)])
	}
	if r.IntN(30) == 0 && j.part != "gpu" {
		j.licenses = fmt.Sprint("matlab:", 1+r.IntN(8))
	}
	if j.part == "short" && r.IntN(20) == 0 {
		j.part = "batch,short"
	}
	mean, series := p.mean+1.1*r.NormFloat64(), []int{1, 1, 1, 2, 3, 5, 10, 20, 50}[r.IntN(9)]
	chained := series > 2 && series <= 5 && r.IntN(4) == 0
	for i := range max(1, min(series, steadyCores/4/j.cores)) {
		j.runtime = int(min(float64(p.limit), max(20, math.Exp(mean+.3*r.NormFloat64()))))
		j.limit = min(p.limit, int(float64(j.runtime)*[]float64{1, 1.2, 1.5, 2, 3, 5, 10}[r.IntN(7)])/3600*3600+3600)
		j.follows = chained && i > 0
		all = append(all, j)
	}
	return all
}

// row is the job as a row of jobs.csv.
func (j *steadyJob) row(key int) string {
	nodes, mem, dep := "", "", ""
	if j.nodes > 0 {
		nodes = strconv.Itoa(j.nodes)
	}
	if j.perCPU > 0 {
		mem = strconv.Itoa(j.perCPU)
	}
	if j.follows {
		dep = fmt.Sprintf("afterany:%d", key-1)
	}
	return fmt.Sprintf("%d,%d.25,%d,g%d,%q,%s,%s,%d,%s,%s,%s,%s,%d,%d\n", key, j.at, 5000+j.user, j.user/10, j.part, j.qos, nodes, j.cores, mem, j.gres, j.licenses, dep, j.limit/60, j.runtime)
}

// steadyOperators tells what operators do in a block: in its middle 8 hours of maintenance of all nodes of one kind, told as the block begins; a course on ten nodes a
// week; and a node that fails, out of a thousand, every eight hours and is back after four.
func steadyOperators(r *rand.Rand, block, begin, length int) (reservations, actions string) {
	kinds := []string{"a[1-400]", "b[1-400]", "c[1-160]", "g[1-40]"}
	start := begin + length/2
	reservations = fmt.Sprintf("%d,%d,480,maint%d,\"%s\",root,,1\n", begin, start, block, kinds[block%4])
	for at := begin + 3*86400; at < begin+length; at += 7 * 86400 {
		first := 10*(at/86400/7%30) + 1
		reservations += fmt.Sprintf("%d,%d,240,course%d,\"a[%d-%d]\",u1,g1,\n", at-2*86400, at, at/86400, first, first+9)
	}
	for t := begin + 3600; t < begin+length-8*3600; t += 8 * 3600 {
		node := fmt.Sprintf("%c%d", kinds[r.IntN(4)][0], 1+r.IntN(40))
		actions += fmt.Sprintf("%d,down,,%s,\n%d,up,,%s,\n", t, node, t+4*3600, node)
	}
	return reservations, actions
}
