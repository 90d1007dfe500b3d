// How long searches take: median, 99th percentile and maximum over random
// problems, because a search that is fast on most and explodes on a few is not
// fast. docs/reference/performance.md has figures.

package window

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/workload/vo"
)

// The requests of the papers' experiments.
var (
	dep18Request = vo.DEP18Request()
	metaRequest  = vo.META61Request()
)

// dep18 is DEP18's environment on that many nodes.
func dep18(nodes int) vo.Environment {
	env := vo.DEP18()
	env.Nodes.Count = nodes
	return env
}

// slotsOf draws a slot list; the same seed always draws the same one.
func slotsOf(t testing.TB, env vo.Environment, seed uint64) plan.SlotList {
	t.Helper()
	in, err := env.Generate(seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	return in.SlotList()
}

// measure runs f on a number of problems drawn from env and reports how long
// they took: the median and the tail. A search that takes far longer than the
// median is run again, to tell the search from the machine.
func measure(b *testing.B, f plan.Finder, env vo.Environment, req entity.Request, problems int) (median float64) {
	b.Helper()
	const batch = 200
	var took []float64
	slots, work := 0, plan.Work{}
	seed := uint64(0)
	once := func(list plan.SlotList) float64 {
		from := time.Now()
		found, err := f.Find(context.Background(), req, list, des.Forever)
		ms := float64(time.Since(from)) / float64(time.Millisecond)
		if err != nil {
			b.Fatal(err)
		}
		work.Add(found.Work)
		return ms
	}
	for len(took) < problems {
		lists := make([]plan.SlotList, min(batch, problems-len(took)))
		for i := range lists {
			lists[i] = slotsOf(b, env, seed)
			seed++
			slots += len(lists[i].Slots)
		}
		runtime.GC()
		once(lists[0])
		now := make([]float64, len(lists))
		for i, list := range lists {
			now[i] = once(list)
		}
		typical := slices.Sorted(slices.Values(now))[len(now)/2]
		for i, list := range lists {
			for again := 0; again < 5 && now[i] > 5*typical; again++ {
				now[i] = min(now[i], once(list))
			}
		}
		took = append(took, now...)
	}
	slices.Sort(took)
	median = took[len(took)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median, "median-ms")
	b.ReportMetric(took[len(took)*99/100], "p99-ms")
	b.ReportMetric(took[len(took)-1], "max-ms")
	b.ReportMetric(float64(slots)/float64(problems), "slots")
	b.ReportMetric(float64(work.Subsets)/float64(problems), "subsets")
	return median
}

func exactSearches(set Settings) []plan.Finder {
	return []plan.Finder{Best{Settings: set, By: Q{}}, Best{Settings: set, By: DEP{}}, Best{Settings: set, By: COORD{}}}
}

// Every search once, at the papers' scale.
func BenchmarkSearches(b *testing.B) {
	for _, name := range Names(Square) {
		f, _ := ByName(Square, name, Settings{Quantum: des.Second})
		if _, slow := f.(KnapsackDP); slow {
			continue
		}
		b.Run("DEP18/"+name, func(b *testing.B) { measure(b, f, dep18(100), dep18Request, 400) })
	}
	for _, name := range Names(Rough) {
		f, _ := ByName(Rough, name, Settings{Quantum: des.Second})
		b.Run("META/"+name, func(b *testing.B) { measure(b, f, vo.META61(), metaRequest, 400) })
	}
}

// The exact searches beside the paper's dynamic programme, in one run.
func BenchmarkAgainstTheDynamicProgramme(b *testing.B) {
	for _, by := range []Criterion{Q{}, DEP{}, COORD{}} {
		b.Run(Best{By: by}.Name(), func(b *testing.B) {
			set := Settings{Quantum: des.Second}
			reference := measure(b, KnapsackDP{set, by}, dep18(100), dep18Request, 3)
			exact := measure(b, Best{Settings: set, By: by}, dep18(100), dep18Request, 400)
			b.ReportMetric(reference, "dp-median-ms")
			b.ReportMetric(reference/exact, "dp/exact")
		})
	}
}

// The exact searches where the tail would show: 10,000 searches on 100 nodes,
// 1,000 on 1,000 nodes, a few on 10,000.
func BenchmarkTail(b *testing.B) {
	for _, size := range []struct{ nodes, problems int }{{100, 10000}, {1000, 1000}, {10000, 10}} {
		for _, real := range []bool{false, true} {
			env := dep18(size.nodes)
			env.Nodes.RealPerf = real
			for _, f := range exactSearches(Settings{}) {
				name := fmt.Sprintf("%s/nodes=%d/real=%v", f.Name(), size.nodes, real)
				b.Run(name, func(b *testing.B) { measure(b, f, env, dep18Request, size.problems) })
			}
		}
	}
}

// How the exact searches grow with the interval, the nodes and n.
func BenchmarkGrowth(b *testing.B) {
	run := func(name string, env vo.Environment, req entity.Request) {
		for _, f := range exactSearches(Settings{}) {
			b.Run(name+"/"+f.Name(), func(b *testing.B) { measure(b, f, env, req, 100) })
		}
	}
	for _, interval := range []int{400, 1200, 3600, 6000} {
		env := dep18(100)
		env.Units = interval
		run(fmt.Sprintf("interval=%d", interval), env, dep18Request)
	}
	for _, nodes := range []int{30, 50, 100, 200} {
		run(fmt.Sprintf("nodes=%d", nodes), dep18(nodes), dep18Request)
	}
	for _, n := range []int{1, 5, 10, 20, 30} {
		req := dep18Request
		req.Nodes, req.Budget = n, 92*float64(n)
		run(fmt.Sprintf("n=%d", n), dep18(100), req)
	}
}

// How the searches for rough windows grow with the interval, and with that the
// slots.
func BenchmarkRoughGrowth(b *testing.B) {
	for _, interval := range []int{600, 1200, 2400, 3600} {
		env := vo.META61()
		env.Units = interval
		for _, name := range []string{"amp", "min-cost", "min-runtime", "min-finish", "min-proctime", "csa"} {
			f, _ := ByName(Rough, name, Settings{Quantum: des.Second})
			b.Run(fmt.Sprintf("interval=%d/%s", interval, name), func(b *testing.B) { measure(b, f, env, metaRequest, 100) })
		}
	}
}
