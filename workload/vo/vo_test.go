package vo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/model"
	"github.com/gridslot/gridslot/workload/vo"
)

// whole reports whether t is a whole number of time units.
func whole(t des.Time) bool { return t%des.Second == 0 }

func nodes(t *testing.T, c vo.Nodes) []*entity.Node {
	list, err := c.Generate(1, 0)
	require.NoError(t, err)
	return list
}

func environment(t *testing.T, e vo.Environment, replication uint64) *vo.Instance {
	in, err := e.Generate(1, replication)
	require.NoError(t, err)
	return in
}

func TestPerformanceIsAWholeNumberFrom2To10(t *testing.T) {
	groups := map[float64]int{}
	for _, n := range nodes(t, vo.Nodes{Count: 9000}) {
		groups[n.Perf]++
	}
	require.Len(t, groups, 9)
	for p := 2.0; p <= 10; p++ {
		require.InDelta(t, 1000, groups[p], 150, "performance %v", p)
	}
}

func TestPerformanceCanBeReal(t *testing.T) {
	sum := 0.0
	for _, n := range nodes(t, vo.Nodes{Count: 9000, RealPerf: true}) {
		require.True(t, n.Perf >= 2 && n.Perf <= 10)
		sum += n.Perf
	}
	require.InDelta(t, 6, sum/9000, 0.1)
}

func TestPriceFollowsTheMarketButForADeviation(t *testing.T) {
	var sum, squares float64
	const count = 20_000
	for _, n := range nodes(t, vo.Nodes{Count: count, PriceFactor: 0.1}) {
		d := n.Price/(0.1*n.Perf*math.Exp(0.02*(n.Perf-1))) - 1
		require.LessOrEqual(t, math.Abs(d), 0.6)
		sum += d
		squares += d * d
	}
	require.InDelta(t, 0, sum/count, 0.006)
	// A normal variable within three standard deviations has 0.9733 of the variance of all.
	require.InDelta(t, 0.9733*0.2*0.2, squares/count, 0.002)
}

func TestQIsBetween0And10(t *testing.T) {
	sum := 0.0
	for _, n := range nodes(t, vo.Nodes{Count: 9000}) {
		require.True(t, n.Q >= 0 && n.Q < 10)
		sum += n.Q
	}
	require.InDelta(t, 5, sum/9000, 0.15)
}

func TestEverySourceOfRandomnessHasItsOwnStream(t *testing.T) {
	few := nodes(t, vo.Nodes{Count: 10})
	many := nodes(t, vo.Nodes{Count: 50, PriceSpread: 0.1})
	for i := range few {
		require.Equal(t, few[i].Perf, many[i].Perf)
		require.Equal(t, few[i].Q, many[i].Q)
	}
	a := environment(t, vo.Environment{Nodes: vo.Nodes{Count: 10}}, 3)
	b := environment(t, vo.Environment{Nodes: vo.Nodes{Count: 50, RealPerf: true}}, 3)
	require.Equal(t, a.Tasks, b.Tasks[:10])
}

func TestAnEnvironmentIsAFunctionOfSeedAndReplication(t *testing.T) {
	require.Equal(t, environment(t, vo.META61(), 7), environment(t, vo.META61(), 7))
	require.NotEqual(t, environment(t, vo.META61(), 7), environment(t, vo.META61(), 8))
}

// The levels of load and the numbers of slots that were measured with the
// authors' programs.
// meanLoad is the share of the nodes' time that owners take.
func meanLoad(in *vo.Instance) float64 {
	var taken des.Time
	for _, tasks := range in.Tasks {
		for _, s := range tasks {
			taken += s.End - s.Start
		}
	}
	return taken.Seconds() / in.End.Seconds() / float64(len(in.Nodes))
}

func TestMeanLoadsAreThoseMeasured(t *testing.T) {
	const replications = 150
	for _, c := range []struct {
		name        string
		e           vo.Environment
		load, slots float64
	}{
		{"META 6.1", vo.META61(), 0.326, 467},
		{"DEP18", vo.DEP18(), 0.155, 330},
	} {
		load, slots := 0.0, 0.0
		for i := range uint64(replications) {
			in := environment(t, c.e, i)
			load += meanLoad(in)
			slots += float64(len(in.SlotList().Slots))
		}
		require.InDelta(t, c.load, load/replications, 0.004, c.name)
		require.InEpsilon(t, c.slots, slots/replications, 0.02, c.name)
	}
}

func TestOwnersTasksNeverTouch(t *testing.T) {
	in := environment(t, vo.META61(), 0)
	for _, tasks := range in.Tasks {
		end := -des.Second
		for _, s := range tasks {
			require.Greater(t, s.Start, end)
			require.True(t, whole(s.Start) && whole(s.End))
			require.True(t, s.End-s.Start >= 10*des.Second && s.End-s.Start <= 100*des.Second)
			end = s.End
		}
		require.LessOrEqual(t, end, 600*des.Second)
	}
}

func TestTasksOverSeveralHorizonsAreCutAtTheFirst(t *testing.T) {
	cut := 0
	for _, tasks := range environment(t, vo.DEP18(), 0).Tasks {
		if len(tasks) == 0 {
			continue
		}
		last := tasks[len(tasks)-1]
		require.LessOrEqual(t, last.End, 1200*des.Second)
		if last.End == 1200*des.Second {
			cut++
		}
	}
	require.InDelta(t, 15, cut, 12, "a node is busy at the cut as likely as at any time")
}

func TestLevelsLieBetweenTheirTenths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	count := model.Hypergeometric{Population: 1000, Marked: 150, Draws: 30}
	var mean, mass float64 // of k, given 0 < k < 10
	for k := 1; k < 10; k++ {
		mean += float64(k) * count.Prob(k)
		mass += count.Prob(k)
	}
	mean /= mass
	for _, c := range []struct {
		level        vo.Level
		lo, hi, mean float64
	}{
		{vo.HypergeometricLevel{}, 0.1, 0.5, (1 + mean/10*4) / 10},
		{vo.HypergeometricLevel{Lo: 0, Hi: 2}, 0, 0.2, mean / 10 * 2 / 10},
		{vo.NormalLevel{}, 0.09, 0.2, 0.15},
	} {
		const draws = 20_000
		sum := 0.0
		for range draws {
			l := c.level.Rand(r)
			require.True(t, l > c.lo && l < c.hi, "%#v: %v", c.level, l)
			sum += l
		}
		require.InDelta(t, c.mean, sum/draws, 0.002, "%#v", c.level)
	}
}

func TestSlotsAreWhatOwnersLeave(t *testing.T) {
	in := environment(t, vo.META61(), 0)
	d, err := in.Domain(nil)
	require.NoError(t, err)
	list := in.SlotList()
	require.Equal(t, in.End, list.To)
	require.Equal(t, list.Slots, slices.Collect(d.Slots(0, in.End)))
	require.Equal(t, in.End, d.Horizon)
}

func TestALoadThatFindsNoPlaceIsAnError(t *testing.T) {
	for _, l := range []vo.Load{
		{Level: vo.HypergeometricLevel{Lo: 8, Hi: 9}, Task: vo.Range{Min: 100, Max: 100}},
		{Task: vo.Range{Min: 700, Max: 800}},
	} {
		_, err := l.Generate(rand.New(rand.NewPCG(1, 2)), 600)
		require.ErrorContains(t, err, "no place")
	}
}

func TestABatchIsMETAs(t *testing.T) {
	sizes := map[int]bool{}
	for i := range uint64(20) {
		jobs, err := vo.Batch{}.Generate(1, i)
		require.NoError(t, err)
		require.Len(t, jobs, 20)
		for _, j := range jobs {
			r := j.Request
			sizes[r.Nodes] = true
			require.NoError(t, r.Check())
			require.True(t, r.Length >= 100*des.Second && r.Length <= 500*des.Second)
			require.Equal(t, 1.0, r.MinPerf)
			x := r.Budget / float64(r.Nodes) / r.Length.Seconds()
			require.True(t, x > 0.999999 && x < 1.600001, "%v", x)
			require.Equal(t, r.Length, j.Runtime)
			require.Zero(t, j.Submit)
		}
	}
	require.Equal(t, map[int]bool{2: true, 3: true, 4: true, 5: true}, sizes)
}

func TestThePoorestGetADiscount(t *testing.T) {
	jobs, err := vo.Batch{Jobs: 1000, Poorest: true}.Generate(1, 0)
	require.NoError(t, err)
	least, most := math.Inf(1), 0.0
	for _, j := range jobs {
		x := j.Request.Budget / float64(j.Request.Nodes) / j.Request.Length.Seconds()
		least, most = min(least, x), max(most, x)
	}
	require.InDelta(t, 0.4, least, 0.01)
	require.InDelta(t, 1.6, most, 0.01)
}

func TestRealRuntimesAreAPartOfTheEstimate(t *testing.T) {
	jobs, err := vo.Batch{Jobs: 1000, Real: vo.Range{Min: 0.2, Max: 1}}.Generate(1, 0)
	require.NoError(t, err)
	sum := 0.0
	for _, j := range jobs {
		part := float64(j.Runtime) / float64(j.Request.Length)
		require.True(t, part > 0.199999 && part <= 1)
		sum += part
	}
	require.InDelta(t, 0.6, sum/1000, 0.03)
}

func TestAMP11Slots(t *testing.T) {
	const replications = 200
	count, together := 0, 0
	var lengths, perfs, delays float64
	for i := range uint64(replications) {
		list, err := vo.AMP11Slots{}.Generate(1, i)
		require.NoError(t, err)
		require.True(t, len(list.Slots) >= 120 && len(list.Slots) <= 150)
		count += len(list.Slots)
		for k, s := range list.Slots {
			require.True(t, s.Node.Perf >= 1 && s.Node.Perf <= 3)
			deviation := s.Node.Price / math.Pow(1.7, s.Node.Perf)
			require.True(t, deviation > 0.749999 && deviation < 1.250001)
			require.True(t, s.End-s.Start >= 50*des.Second && s.End-s.Start <= 300*des.Second)
			require.LessOrEqual(t, s.End, list.To)
			require.False(t, whole(s.End-s.Start) || s.Node.Perf == math.Trunc(s.Node.Perf), "real numbers")
			lengths += (s.End - s.Start).Seconds()
			perfs += s.Node.Perf
			if k == 0 {
				continue
			}
			delay := s.Start - list.Slots[k-1].Start
			require.True(t, delay >= 0 && delay <= 10*des.Second)
			if delay == 0 {
				together++
			}
			delays += delay.Seconds()
		}
	}
	require.InDelta(t, 135, float64(count)/replications, 2)
	require.InDelta(t, 0.4, float64(together)/float64(count-replications), 0.015)
	// The means of uniform numbers in [50, 300], [1, 3] and [0, 10], within four standard errors.
	require.InDelta(t, 175, lengths/float64(count), 1.8)
	require.InDelta(t, 2, perfs/float64(count), 0.015)
	require.InDelta(t, 5, delays/float64(count-replications-together), 0.1)
}

func TestAMP11Jobs(t *testing.T) {
	sizes := map[int]bool{}
	var count, times, perfs float64
	for i := range uint64(200) {
		jobs, err := vo.AMP11Jobs{PriceFactor: 1.2}.Generate(1, i)
		require.NoError(t, err)
		require.True(t, len(jobs) >= 3 && len(jobs) <= 7)
		for _, j := range jobs {
			sizes[j.Nodes] = true
			require.True(t, j.MinPerf >= 1 && j.MinPerf <= 2)
			require.True(t, j.Volume >= 50*des.Second && j.Volume <= 300*des.Second)
			require.InDelta(t, 1.2, j.MaxPrice/math.Pow(1.7, j.MinPerf), 1e-12)
			require.NotEqual(t, math.Trunc(j.MinPerf), j.MinPerf, "a real number")
			count++
			times += j.Volume.Seconds() / j.MinPerf
			perfs += j.MinPerf
		}
	}
	require.Len(t, sizes, 6)
	// The means of uniform numbers in [50, 150] and [1, 2], within four standard errors.
	require.InDelta(t, 100, times/count, 3.7)
	require.InDelta(t, 1.5, perfs/count, 0.037)
}

// AMP11 states a request as (N, P, C, t): t is the reservation time at
// performance P, and the whole window may cost C t N.
func TestAMP11JobAsRequests(t *testing.T) {
	j := vo.AMP11Job{Nodes: 3, MinPerf: 2, Volume: 60 * des.Second, MaxPrice: 10}
	require.Equal(t, entity.Request{Nodes: 3, MinPerf: 2, Length: 60 * des.Second, MaxPrice: 10}, j.PerSlot())
	require.Equal(t, entity.Request{Nodes: 3, MinPerf: 2, Length: 60 * des.Second, Budget: 900}, j.PerJob())
}

func TestTheTimeOfAnAMP11JobIsAtItsPerformanceOrAtOne(t *testing.T) {
	atP, err := vo.AMP11Jobs{}.Generate(1, 1)
	require.NoError(t, err)
	atOne, err := vo.AMP11Jobs{AtOne: true}.Generate(1, 1)
	require.NoError(t, err)
	for i, j := range atP {
		require.Equal(t, atOne[i].MinPerf, j.MinPerf)
		require.InDelta(t, atOne[i].Volume.Seconds()*j.MinPerf, j.Volume.Seconds(), 1e-5)
	}
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	nan := math.NaN()
	for i, c := range []interface{ Check() error }{
		vo.Nodes{Count: -1},
		vo.Nodes{Perf: vo.Range{Min: 0, Max: 3}},
		vo.Nodes{Perf: vo.Range{Min: 2.2, Max: 2.8}},
		vo.Nodes{Perf: vo.Range{Min: 3, Max: 2}, RealPerf: true},
		vo.Nodes{PriceFactor: nan},
		vo.Nodes{PriceSpread: 0.5},
		vo.HypergeometricLevel{Lo: 2, Hi: 1},
		vo.HypergeometricLevel{Lo: 2, Hi: 10},
		vo.NormalLevel{Lo: 1, Hi: 1, Mode: 1},
		vo.Load{Task: vo.Range{Min: 0.5, Max: 3}},
		vo.Load{Horizons: -1},
		vo.Environment{Units: -1},
		vo.Environment{Load: vo.Load{Level: vo.HypergeometricLevel{Lo: nan, Hi: 1}}},
		vo.Batch{Jobs: -1},
		vo.Batch{Real: vo.Range{Min: 1, Max: 1.1}},
		vo.Batch{MinPerf: nan},
		vo.Batch{Nodes: vo.Range{Min: 0, Max: 2}},
		vo.AMP11Slots{Count: vo.Range{Min: 0, Max: 2}},
		vo.AMP11Jobs{PriceFactor: nan},
		vo.AMP11Jobs{Nodes: vo.Range{Min: 1, Max: math.Inf(1)}},
	} {
		require.Error(t, c.Check(), "case %d: %+v", i, c)
	}
}

func ExampleEnvironment() {
	e := vo.DEP18()
	e.Nodes.Count = 3
	in, err := e.Generate(1, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range in.Nodes {
		fmt.Printf("node %d: performance %v, price %.2f\n", n.ID, n.Perf, n.Price)
	}
	for _, s := range in.SlotList().Slots {
		fmt.Printf("node %d free over [%v, %v)\n", s.Node.ID, s.Start, s.End)
	}
	// Output:
	// node 1: performance 7, price 0.62
	// node 2: performance 10, price 1.29
	// node 3: performance 7, price 0.75
	// node 1 free over [0, 75)
	// node 2 free over [0, 679)
	// node 3 free over [0, 173)
	// node 1 free over [135, 273)
	// node 3 free over [270, 805)
	// node 1 free over [339, 650)
	// node 1 free over [715, 996)
	// node 2 free over [797, 935)
	// node 3 free over [857, 1090)
	// node 2 free over [1036, 1141)
	// node 1 free over [1080, 1200)
	// node 3 free over [1163, 1200)
}

func BenchmarkEnvironment(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		if _, err := vo.META61().Generate(1, uint64(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// wish is a criterion that is nothing but a name.
type wish string

func (w wish) Name() string { return string(w) }

func TestBatchesAreThoseOfTheirCyclesWithCriteriaDrawn(t *testing.T) {
	b := vo.Batches{
		Batch: vo.Batch{Jobs: 50, Real: vo.Range{Min: 0.2, Max: 1}}, Cycles: 40, Cycle: 600 * des.Second, Users: 3,
		Criteria: []entity.Criterion{wish("a"), wish("b"), wish("c")},
	}
	wishes := map[entity.Criterion]int{}
	perCycle := map[string]int{}
	var text string
	n := 0
	for j, err := range b.Generate(7) {
		require.NoError(t, err)
		cycle := n / 50
		batch, err := b.Batch.Generate(7, uint64(cycle))
		require.NoError(t, err)
		want := *batch[n%50]
		want.ID, want.Submit, want.User, want.Request.Criterion = int64(n+1), des.Time(cycle)*600*des.Second, int32(n%3), j.Request.Criterion
		require.Equal(t, want, *j)
		wishes[j.Request.Criterion]++
		text += j.Request.Criterion.Name()
		if n++; n%50 == 0 {
			perCycle[text]++
			text = ""
		}
	}
	require.Equal(t, 2000, n)
	require.Len(t, perCycle, 40, "each cycle draws anew")
	for _, w := range b.Criteria {
		require.InDelta(t, 2000.0/3, wishes[w], 100)
	}
	for range b.Generate(7) {
		break // whoever stops early is not told more
	}
	b.Nodes = vo.Range{Min: 5, Max: 2}
	for _, err := range b.Generate(7) {
		require.ErrorContains(t, err, "nodes")
	}
}
