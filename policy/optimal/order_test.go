package optimal

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// An order that was found is a schedule, and never below the optimum, and mostly at it.
func TestNoOrderIsBelowTheOptimum(t *testing.T) {
	const tau = 10 * des.Second
	for m := range Measure(3) {
		reached, sum, best := 0, 0.0, 0.0
		const instances = 1000
		for seed := range uint64(instances) {
			r := rand.New(rand.NewPCG(seed, 5))
			processors := 1 + r.IntN(16)
			n, longest := 1+r.IntN(9), 1+r.IntN(40)
			jobs := drawn(r, n, processors, 1, longest)
			if seed%4 == 0 {
				jobs = molded(r, jobs[:min(n, 6)], processors, 3, longest)
			}
			o, err := OrderSearch{Window: 1 + r.IntN(12), Follow: 1 + r.IntN(12)}.Search(context.Background(), jobs, processors, m, tau)
			require.NoError(t, err)
			chosen := in(t, jobs, o)
			cost := costOf(chosen, feasible(t, chosen, o.Starts, processors), m, tau.Seconds())
			require.InEpsilon(t, 1+cost, 1+o.Cost, 1e-9, "seed %d, %v", seed, m)
			s, err := Solve(context.Background(), jobs, processors, m, tau)
			require.NoError(t, err)
			require.GreaterOrEqual(t, o.Cost, s.Cost-1e-8, "seed %d, %v: %v", seed, m, jobs)
			if o.Cost < s.Cost+1e-8 {
				reached++
			}
			sum, best = sum+o.Cost, best+s.Cost
		}
		t.Logf("%v: at the optimum in %d of %d, in the mean %.2f%% above", m, reached, instances, 100*(sum/best-1))
	}
}

// With a window over all jobs, the search is within a few per cent of the optimum.
func TestOrdersOfFewJobsAreCloseToTheOptimum(t *testing.T) {
	closeToTheOptimum(t, 200, 1.03, func(r *rand.Rand) []Job { return drawn(r, 12, 8, 1, 40) })
}

// An order does not choose shapes: each job ends as early as it can behind those ahead of it.
func TestOrdersOfFewMoldableJobsAreCloseToTheOptimum(t *testing.T) {
	closeToTheOptimum(t, 100, 1.25, func(r *rand.Rand) []Job { return molded(r, drawn(r, 8, 8, 1, 40), 8, 3, 40) })
}

func closeToTheOptimum(t *testing.T, instances uint64, most float64, instance func(*rand.Rand) []Job) {
	const tau = 10 * des.Second
	for m := range Measure(3) {
		sum, best, listed := 0.0, 0.0, 0.0
		for seed := range instances {
			r := rand.New(rand.NewPCG(seed, 6))
			jobs := instance(r)
			o, err := OrderSearch{}.Search(context.Background(), jobs, 8, m, tau)
			require.NoError(t, err)
			none, err := OrderSearch{Window: 1}.Search(context.Background(), jobs, 8, m, tau)
			require.NoError(t, err)
			require.LessOrEqual(t, o.Cost, none.Cost)
			s, err := Solve(context.Background(), jobs, 8, m, tau)
			require.NoError(t, err)
			sum, best, listed = sum+o.Cost, best+s.Cost, listed+none.Cost
		}
		t.Logf("%v: %.2f%% above the optimum, one list %.0f%%", m, 100*(sum/best-1), 100*(listed/best-1))
		require.Less(t, sum, most*best, m)
		require.Greater(t, listed, 1.02*best, m)
	}
}

// busiest is the greatest number of processors that jobs have at a time. Jobs of no length count for a
// tick.
func busiest(jobs []Job, starts []des.Time) (most int) {
	type change struct {
		at    des.Time
		nodes int
	}
	var changes []change
	for i, j := range jobs {
		changes = append(changes, change{starts[i], j.Nodes}, change{starts[i] + max(j.Length, 1), -j.Nodes})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.nodes-b.nodes) })
	busy := 0
	for _, c := range changes {
		busy += c.nodes
		most = max(most, busy)
	}
	return most
}

// Between the bound from below and the best of a few lists there is what a search finds for a long log.
func TestOrdersOfLongLogsAreSchedules(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var jobs []Job
	at := 0.0
	for range 500 {
		jobs = append(jobs, rigid(des.Seconds(at), des.Time(r.IntN(1+r.IntN(4000)))*des.Second, 1<<r.IntN(7)))
		at += 400 * r.ExpFloat64()
	}
	b, err := Lower(jobs, 64, DefaultTau)
	require.NoError(t, err)
	for m, least := range []float64{b.MeanWait * 500, b.Makespan, b.MeanSlowdown * 500} {
		found, err := OrderSearch{}.Search(context.Background(), jobs, 64, Measure(m), DefaultTau)
		require.NoError(t, err)
		again, err := OrderSearch{Sweeps: 2}.Search(context.Background(), jobs, 64, Measure(m), DefaultTau)
		require.NoError(t, err)
		none, err := OrderSearch{Window: 1}.Search(context.Background(), jobs, 64, Measure(m), DefaultTau)
		require.NoError(t, err)
		t.Log(Measure(m), least, again.Cost, found.Cost, none.Cost)
		for i, start := range found.Starts {
			require.GreaterOrEqual(t, start, jobs[i].Submit)
		}
		require.LessOrEqual(t, busiest(jobs, found.Starts), 64)
		require.LessOrEqual(t, least, found.Cost)
		require.LessOrEqual(t, again.Cost, found.Cost)
		if Measure(m) != Makespan {
			require.Less(t, found.Cost, 0.8*none.Cost)
		}
	}
}

// The orders that a search begins with leave no job out.
func TestBackfilledOrdersHaveAllJobs(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 8))
		processors := 1 + r.IntN(8)
		jobs := molded(r, drawn(r, 1+r.IntN(12), processors, 0, 40), processors, 3, 40)
		s := &orders{tasks: tasksOf(jobs, processors, Wait, 0), measure: Wait, processors: processors}
		var submitted []int
		for i := range s.tasks {
			submitted = append(submitted, i)
		}
		slices.SortStableFunc(submitted, func(i, j int) int { return cmp.Compare(s.tasks[i].release, s.tasks[j].release) })
		s.order = s.backfilled(submitted, func(t *task) float64 { return t.narrow.length })
		require.ElementsMatch(t, submitted, s.order, "seed %d", seed)
	}
}
