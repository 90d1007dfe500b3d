package optimal

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// drawn are jobs whose times are whole seconds, some of them alike.
func drawn(r *rand.Rand, n, processors, shortest, longest int) []Job {
	jobs := make([]Job, n)
	at := 0
	for i := range jobs {
		at += r.IntN(longest/2 + 1)
		if r.IntN(4) == 0 {
			at = 0
		}
		jobs[i] = Job{des.Time(at) * des.Second, des.Time(shortest+r.IntN(longest)) * des.Second, 1 + r.IntN(processors)}
		if i > 0 && r.IntN(5) == 0 {
			jobs[i] = jobs[i-1]
		}
	}
	return jobs
}

// costOf is the value of a measure, reckoned from the definition.
func costOf(jobs []Job, starts []int, m Measure, tau float64) (sum float64) {
	first, last := math.Inf(1), 0.0
	for i, j := range jobs {
		start, submit, length := float64(starts[i]), j.Submit.Seconds(), j.Length.Seconds()
		first, last = min(first, submit), max(last, start+length)
		switch m {
		case Wait:
			sum += start - submit
		case Slowdown:
			sum += max(1, (start-submit+length)/max(length, tau))
		}
	}
	if m == Makespan {
		return last - first
	}
	return sum
}

// bruteForce is the least value over all orders: each job of the order at the first second at
// which it fits beside those placed before it. One of these schedules is a best one, whatever
// regular measure is asked (Sprecher, Kolisch and Drexl, EJOR 80, 1995).
func bruteForce(jobs []Job, processors int, m Measure, tau float64) float64 {
	const horizon = 400
	var used [horizon]int
	best, starts, placed := math.Inf(1), make([]int, len(jobs)), make([]bool, len(jobs))
	var place func(n int)
	place = func(n int) {
		if n == len(jobs) {
			best = min(best, costOf(jobs, starts, m, tau))
			return
		}
		for i, j := range jobs {
			if placed[i] {
				continue
			}
			at, length := int(j.Submit/des.Second), int(j.Length/des.Second)
			for k := at; k < at+length; k++ {
				if used[k]+j.Nodes > processors {
					at = k + 1
				}
			}
			for k := at; k < at+length; k++ {
				used[k] += j.Nodes
			}
			placed[i], starts[i] = true, at
			place(n + 1)
			placed[i] = false
			for k := at; k < at+length; k++ {
				used[k] -= j.Nodes
			}
		}
	}
	place(0)
	return best
}

// feasible fails where a schedule has a job before its submission or more at work than there
// are processors.
func feasible(t require.TestingT, jobs []Job, starts []des.Time, processors int) (seconds []int) {
	for i, j := range jobs {
		require.GreaterOrEqual(t, starts[i], j.Submit)
		require.Zero(t, starts[i]%des.Second)
		busy := 0
		for k, o := range jobs {
			before := starts[k] < starts[i] || starts[k] == starts[i] && j.Length > 0
			if k == i || before && starts[i] < starts[k]+o.Length { // jobs of no length go before others
				busy += o.Nodes
			}
		}
		require.LessOrEqual(t, busy, processors)
		seconds = append(seconds, int(starts[i]/des.Second))
	}
	return seconds
}

func TestBestSchedulesAreThoseOfBruteForce(t *testing.T) {
	const tau = 10 * des.Second
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(6)
		if seed%40 == 0 {
			n = 7
		}
		processors := 1 + r.IntN(8)
		jobs := drawn(r, n, processors, 1, 1+r.IntN(20))
		for m := range Measure(3) {
			s, err := Solve(context.Background(), jobs, processors, m, tau)
			require.NoError(t, err)
			seconds := feasible(t, jobs, s.Starts, processors)
			require.InEpsilon(t, 1+costOf(jobs, seconds, m, tau.Seconds()), 1+s.Cost, 1e-9, "seed %d, %v", seed, m)
			require.InEpsilon(t, 1+bruteForce(jobs, processors, m, tau.Seconds()), 1+s.Cost, 1e-8, "seed %d, %v: %v", seed, m, jobs)
		}
	}
}

func TestNoBoundIsAboveAnOptimum(t *testing.T) {
	const tau = 10 * des.Second
	reached := map[Measure]int{}
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		processors := 1 + r.IntN(16)
		jobs := drawn(r, 1+r.IntN(8), processors, 0, 1+r.IntN(40))
		b, err := Lower(jobs, processors, tau)
		require.NoError(t, err)
		n := float64(len(jobs))
		for m, bound := range map[Measure]float64{Wait: b.MeanWait * n, Makespan: b.Makespan, Slowdown: b.MeanSlowdown * n} {
			s, err := Solve(context.Background(), jobs, processors, m, tau)
			require.NoError(t, err)
			require.LessOrEqual(t, bound, s.Cost+1e-6, "seed %d, %v: %v", seed, m, jobs)
			if bound > s.Cost-1e-6 {
				reached[m]++
			}
		}
	}
	for m, n := range reached { // otherwise they would bound nothing
		require.Greater(t, n, 3000, m)
	}
}

func TestABestScheduleIsProvedForTwentyJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	var jobs []Job
	at := 0.0
	for range MostJobs {
		jobs = append(jobs, Job{des.Time(at) * des.Second, des.Time(1+r.IntN(30)) * des.Second, 1 << r.IntN(5)})
		at += r.ExpFloat64() * 5
	}
	for m := range Measure(3) {
		s, err := Solve(context.Background(), jobs, 16, m, DefaultTau)
		require.NoError(t, err)
		feasible(t, jobs, s.Starts, 16)
		require.Positive(t, s.Nodes)
	}
}

func TestWhatHasNoBestScheduleIsRefused(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	many := make([]Job, MostJobs+1)
	for i := range many {
		many[i] = Job{0, des.Time(i+1) * des.Second, 1 + i%3}
	}
	for want, solve := range map[string]func() error{
		"at most 20 jobs, and there are 21": func() error { _, err := Solve(context.Background(), many, 4, Wait, DefaultTau); return err },
		"job 1 of 1 needs 5 processors, and the machine has 4": func() error {
			_, err := Solve(context.Background(), []Job{{0, 1, 5}}, 4, Wait, DefaultTau)
			return err
		},
		"job 1 of 1 has no schedule": func() error { _, err := Lower([]Job{{-1, 1, 1}}, 4, DefaultTau); return err },
		"no jobs to bound":           func() error { _, err := Lower(nil, 4, DefaultTau); return err },
		"context canceled":           func() error { _, err := Solve(ctx, many[:MostJobs], 3, Makespan, DefaultTau); return err },
	} {
		require.ErrorContains(t, solve(), want)
	}
}

func ExampleLower() {
	jobs := []Job{{0, 100 * des.Second, 3}, {0, 100 * des.Second, 3}, {0, 100 * des.Second, 1}}
	b, _ := Lower(jobs, 4, DefaultTau)
	fmt.Println(b.Makespan, b.MeanWait > 33)
	// Output: 200 true
}

func BenchmarkSolve(b *testing.B) {
	for _, m := range []Measure{Wait, Makespan, Slowdown} {
		b.Run(m.String(), func(b *testing.B) {
			var nodes int64
			for i := range b.N {
				r := rand.New(rand.NewPCG(uint64(i), 3))
				var jobs []Job
				at := 0.0
				for range 16 {
					jobs = append(jobs, Job{des.Time(at) * des.Second, des.Time(1+r.IntN(30)) * des.Second, 1 << r.IntN(5)})
					at += r.ExpFloat64() * 5
				}
				s, err := Solve(context.Background(), jobs, 16, m, DefaultTau)
				require.NoError(b, err)
				nodes += s.Nodes
			}
			b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
		})
	}
}

// On long queues the ascent is better than the relaxation alone, and below the schedules of
// lists.
func TestTheAscentIsBetterOnLongQueues(t *testing.T) {
	better := map[Measure]int{}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 61))
		var jobs []Job
		at := 0.0
		for range 300 {
			jobs = append(jobs, Job{des.Seconds(math.Round(at)), des.Time(1+r.IntN(1+r.IntN(4000))) * des.Second, 1 << r.IntN(7)})
			at += 200 * r.ExpFloat64()
		}
		for _, m := range []Measure{Wait, Slowdown} {
			tasks := tasksOf(jobs, m, DefaultTau)
			l := relaxation{tasks: tasks, measure: m, processors: 64, rates: []rateStep{{0, 64}}}
			for i := range tasks {
				l.earliest, l.open = append(l.earliest, tasks[i].release), append(l.open, i)
			}
			lists := &search{processors: 64, measure: m, tasks: tasks, best: math.Inf(1), starts: make([]float64, len(tasks))}
			lists.lists()
			lower, ascended := l.lower(), l.ascend()
			require.LessOrEqual(t, ascended, lists.best, "seed %d, %v", seed, m)
			if ascended > 1.2*lower {
				better[m]++
			}
		}
	}
	require.Greater(t, better[Wait], 5, "%v", better)
	require.Greater(t, better[Slowdown], 5, "%v", better)
}
