package backfill

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// These are the queue orders that any policy of this package takes. ShortestFirst and
// LongestFirst go by the estimate, SmallestFirst and LargestFirst by the estimate times the
// processors. WFP3 and UNICEF (Tang, Lan, Desai and Buettner 2009) rise with the wait, so that
// small or short jobs go first and no job starves.
var (
	ShortestFirst = entity.Order{Name: "shortest", Key: func(j *entity.Run, _ des.Time) float64 {
		return float64(j.Request.Length)
	}}
	LongestFirst = entity.Order{Name: "longest", Key: func(j *entity.Run, _ des.Time) float64 {
		return -float64(j.Request.Length)
	}}
	SmallestFirst = entity.Order{Name: "smallest", Key: func(j *entity.Run, _ des.Time) float64 {
		return area(j)
	}}
	LargestFirst = entity.Order{Name: "largest", Key: func(j *entity.Run, _ des.Time) float64 {
		return -area(j)
	}}
	// HighestRank is the order of HEFT (Topcuoglu, Hariri and Wu 2002): by upward rank,
	// the highest first. See Ranked.
	HighestRank = entity.Order{Name: "rank", Key: func(j *entity.Run, _ des.Time) float64 {
		if task, ok := j.Extra.(Ranked); ok {
			return -float64(task.UpwardRank())
		}
		return -float64(j.Request.Length)
	}}
	// WFP3 is (wait/estimate)³ n, the greatest first.
	WFP3 = entity.Order{Name: "wfp3", Dynamic: true, Key: func(j *entity.Run, now des.Time) float64 {
		ratio := waitToEstimate(j, now)
		return -(ratio * ratio * ratio * float64(j.Request.Nodes))
	}}
	// F1 to F4 were found by regression in simulations (Carastan-Santos and de Camargo,
	// Obtaining Dynamic Scheduling Policies with Simulation and Machine Learning, SC 2017,
	// table 3): small, short and early jobs go first. r is the estimate and s the submission
	// in seconds, n the processors. The logarithm of a submission at 0 is -Inf, so that such
	// a job goes first.
	F1 = regressed("f1", math.Log10, same, 870)
	F2 = regressed("f2", math.Sqrt, same, 25_600)
	F3 = regressed("f3", same, same, 6_860_000)
	F4 = regressed("f4", same, math.Sqrt, 530_000)
	// LeastExpanded puts the smallest expansion factor first, (wait + estimate) / estimate,
	// and LeastRatio the smallest ratio of the estimate to the processors: SEXP and SRF of
	// Lelong, Reis and Trystram (Tuning EASY-Backfilling Queues, JSSPP 2017).
	LeastExpanded = entity.Order{Name: "sexp", Dynamic: true, Key: waitToEstimate}
	LeastRatio    = entity.Order{Name: "ratio", Key: func(j *entity.Run, _ des.Time) float64 {
		return float64(j.Request.Length) / float64(j.Request.Nodes)
	}}
	// UNICEF is wait / (estimate log2 n), the greatest first.
	UNICEF = entity.Order{Name: "unicef", Dynamic: true, Key: func(j *entity.Run, now des.Time) float64 {
		size := max(math.Log2(float64(j.Request.Nodes)), 1) // serial jobs count as those of two processors
		return -(waitToEstimate(j, now) / size)
	}}
)

// Ranked may be implemented by the Job.Extra of a workflow's task: the length of the longest
// path from the beginning of the task to the end of the workflow, on nodes of performance 1.
// If the speeds of nodes differ by a factor, this rank orders tasks as means over the nodes
// would. A job without a rank is a workflow of its own: its rank is its estimate.
type Ranked interface{ UpwardRank() des.Time }

// Orders lists the queue orders by name, the default first.
func Orders() []entity.Order {
	return []entity.Order{entity.Submission, ShortestFirst, LongestFirst, SmallestFirst, LargestFirst, WFP3, UNICEF, HighestRank,
		F1, F2, F3, F4, LeastExpanded, LeastRatio, Random(0)}
}

// literature has the names that papers and other simulators give to orders, each with the name of
// the same order here.
var literature = map[string]string{
	"fcfs": "submission", "fifo": "submission",
	"sjf": "shortest", "spt": "shortest", "spf": "shortest",
	"ljf": "longest", "lpt": "longest", "lpf": "longest",
	"saf": "smallest", "laf": "largest",
	"srf": "ratio", "heft": "rank",
}

// OrderCalled returns the name, among those of Orders, of the order that papers call by the given
// name in capital or small letters: "shortest" for SJF. It returns "" if no order has that name.
func OrderCalled(name string) string { return literature[strings.ToLower(name)] }

func same(x float64) float64 { return x }

// regressed returns one of F1 to F4: f(r) g(n) + weight log10(s).
func regressed(name string, f, g func(float64) float64, weight float64) entity.Order {
	return entity.Order{Name: name, Key: func(j *entity.Run, _ des.Time) float64 {
		size := f(j.Request.Length.Seconds()) * g(float64(j.Request.Nodes))
		return float64(size) + float64(weight*math.Log10(j.Submit.Seconds()))
	}}
}

// Random returns a random order, which depends on the seed and the ids of jobs alone: "random",
// or "random-7" for a seed that is not 0.
func Random(seed uint64) entity.Order {
	name := "random"
	if seed != 0 {
		name += "-" + strconv.FormatUint(seed, 10)
	}
	return entity.Order{Name: name, Key: func(j *entity.Run, _ des.Time) float64 {
		return rand.New(rand.NewPCG(seed, uint64(j.ID))).Float64()
	}}
}

// area returns the estimate times the processors.
func area(j *entity.Run) float64 { return float64(j.Request.Length) * float64(j.Request.Nodes) }

// waitToEstimate returns the wait so far in estimates. An estimate of no time counts as a tick.
func waitToEstimate(j *entity.Run, now des.Time) float64 {
	return float64(now-j.Submit) / float64(max(j.Request.Length, des.Tick))
}

// named adds an order other than submission to a policy's name.
func named(policy string, o entity.Order) string {
	if o.Key == nil || o.Name == entity.Submission.Name {
		return policy
	}
	return policy + "-" + nameOf(o)
}

// nameOf returns an order's name; "unnamed" of one that has none.
func nameOf(o entity.Order) string {
	if o.Name == "" {
		return "unnamed"
	}
	return o.Name
}

// shaped adds a choice of shapes other than the first start to a policy's name.
func shaped(policy string, rule entity.ShapeRule) string {
	if rule == entity.FirstStart {
		return policy
	}
	return policy + "-shape-" + rule.String()
}
