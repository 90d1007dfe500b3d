package optimal

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

func rigid(submit, length des.Time, nodes int) Job {
	return Job{Submit: submit, Length: length, Nodes: nodes}
}

// molded has some jobs have further shapes, up to most in all: mostly longer on fewer processors, and at
// times worse than another shape in all, or too wide for the machine.
func molded(r *rand.Rand, jobs []Job, processors, most, longest int) []Job {
	for i := range jobs {
		jobs[i].Shapes = nil
		for range r.IntN(most) {
			j := &jobs[i]
			s := Shape{des.Time(1+r.IntN(longest)) * des.Second, 1 + r.IntN(processors+1)}
			if r.IntN(3) > 0 {
				work := int(j.Length/des.Second) * j.Nodes
				s.Length = des.Time((work+s.Nodes-1)/s.Nodes) * des.Second
			}
			j.Shapes = append(j.Shapes, s)
		}
		if i > 0 && r.IntN(5) == 0 { // jobs that are alike but for their submission
			jobs[i].Length, jobs[i].Nodes, jobs[i].Shapes = jobs[i-1].Length, jobs[i-1].Nodes, jobs[i-1].Shapes
		}
	}
	return jobs
}

// in are the jobs in the shapes of a schedule, as rigid jobs. It fails where a job has no such shape.
func in(t require.TestingT, jobs []Job, s Schedule) (chosen []Job) {
	for i, j := range jobs {
		require.Contains(t, slices.Collect(j.all()), s.Shapes[i])
		chosen = append(chosen, rigid(j.Submit, s.Shapes[i].Length, s.Shapes[i].Nodes))
	}
	return chosen
}

// drawn are jobs whose times are whole seconds, some of them alike.
func drawn(r *rand.Rand, n, processors, shortest, longest int) []Job {
	jobs := make([]Job, n)
	at := 0
	for i := range jobs {
		at += r.IntN(longest/2 + 1)
		if r.IntN(4) == 0 {
			at = 0
		}
		jobs[i] = rigid(des.Time(at)*des.Second, des.Time(shortest+r.IntN(longest))*des.Second, 1+r.IntN(processors))
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

// bruteForce is the least value of each measure over all orders and all shapes: each job of the order
// at the first second at which it fits beside those placed before it. One of these schedules is a
// best one, whatever regular measure is asked, since it is so for any choice of the shapes (Sprecher,
// Kolisch and Drexl, EJOR 80, 1995).
func bruteForce(jobs []Job, processors int, tau float64) [3]float64 {
	const horizon = 2000
	var used [horizon]int
	best, starts, placed := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, make([]int, len(jobs)), make([]bool, len(jobs))
	chosen := slices.Clone(jobs)
	var place func(n int)
	place = func(n int) {
		if n == len(jobs) {
			for m := range best {
				best[m] = min(best[m], costOf(chosen, starts, Measure(m), tau))
			}
			return
		}
		for i := range jobs {
			if placed[i] {
				continue
			}
			for _, s := range append([]Shape{{jobs[i].Length, jobs[i].Nodes}}, jobs[i].Shapes...) {
				if s.Nodes > processors {
					continue
				}
				at, length := int(jobs[i].Submit/des.Second), int(s.Length/des.Second)
				for k := at; k < at+length; k++ {
					if used[k]+s.Nodes > processors {
						at = k + 1
					}
				}
				for k := at; k < at+length; k++ {
					used[k] += s.Nodes
				}
				placed[i], starts[i], chosen[i].Length = true, at, s.Length
				place(n + 1)
				placed[i] = false
				for k := at; k < at+length; k++ {
					used[k] -= s.Nodes
				}
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
		bestAreThoseOfBruteForce(t, jobs, processors, tau, seed)
	}
}

func bestAreThoseOfBruteForce(t *testing.T, jobs []Job, processors int, tau des.Time, seed uint64) (best [3]Schedule) {
	least := bruteForce(jobs, processors, tau.Seconds())
	for m := range Measure(3) {
		s, err := Solve(context.Background(), jobs, processors, m, tau)
		require.NoError(t, err)
		chosen := in(t, jobs, s)
		seconds := feasible(t, chosen, s.Starts, processors)
		require.InEpsilon(t, 1+costOf(chosen, seconds, m, tau.Seconds()), 1+s.Cost, 1e-9, "seed %d, %v", seed, m)
		require.InEpsilon(t, 1+least[m], 1+s.Cost, 1e-8, "seed %d, %v: %v", seed, m, jobs)
		best[m] = s
	}
	return best
}

func TestBestSchedulesOfMoldableJobsAreThoseOfBruteForce(t *testing.T) {
	longer := 0 // chosen for slowdowns, though a shorter shape is no wider
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 21))
		n, most := 1+r.IntN(6), 3
		if seed%40 == 0 {
			n, most = 7, 2
		}
		processors, longest, tau := 1+r.IntN(8), 1+r.IntN(20), des.Time(1+r.IntN(20))*des.Second
		jobs := molded(r, drawn(r, n, processors, 1, longest), processors, most, longest)
		best := bestAreThoseOfBruteForce(t, jobs, processors, tau, seed)
		for i, s := range best[Slowdown].Shapes {
			for o := range jobs[i].all() {
				if o.Length < s.Length && o.Nodes <= s.Nodes {
					longer++
				}
			}
		}
	}
	require.Positive(t, longer, "a shape that is longer and wider can be the best for slowdowns")
}

func TestNoBoundIsAboveAnOptimum(t *testing.T) {
	const tau = 10 * des.Second
	reached := map[Measure]int{}
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		processors := 1 + r.IntN(16)
		n, longest := 1+r.IntN(8), 1+r.IntN(40)
		jobs := drawn(r, n, processors, 0, longest)
		if seed%4 == 0 { // moldable ones take longer
			jobs = molded(r, jobs[:min(n, 6)], processors, 4, longest)
		}
		b, err := Lower(jobs, processors, tau)
		require.NoError(t, err)
		count := float64(len(jobs))
		for m, bound := range map[Measure]float64{Wait: b.MeanWait * count, Makespan: b.Makespan, Slowdown: b.MeanSlowdown * count} {
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
		jobs = append(jobs, rigid(des.Time(at)*des.Second, des.Time(1+r.IntN(30))*des.Second, 1<<r.IntN(5)))
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
		many[i] = rigid(0, des.Time(i+1)*des.Second, 1+i%3)
	}
	for want, solve := range map[string]func() error{
		"at most 20 jobs, and there are 21": func() error { _, err := Solve(context.Background(), many, 4, Wait, DefaultTau); return err },
		"job 1 of 1 needs 5 processors, and the machine has 4": func() error {
			_, err := Solve(context.Background(), []Job{rigid(0, 1, 5)}, 4, Wait, DefaultTau)
			return err
		},
		"job 1 of 1 has no schedule": func() error { _, err := Lower([]Job{rigid(-1, 1, 1)}, 4, DefaultTau); return err },
		"job 2 of 2 needs 1 processor or more, not 0": func() error {
			_, err := Lower([]Job{rigid(0, 1, 1), {Length: 1, Nodes: 1, Shapes: []Shape{{1, 0}}}}, 4, DefaultTau)
			return err
		},
		"job 1 of 1 has no schedule: it is submitted at 0 and runs for -1": func() error {
			_, err := Lower([]Job{{Length: 1, Nodes: 1, Shapes: []Shape{{-des.Second, 2}}}}, 4, DefaultTau)
			return err
		},
		"job 1 of 1 needs 5 processors": func() error {
			_, err := Solve(context.Background(), []Job{{Length: 1, Nodes: 5, Shapes: []Shape{{1, 7}}}}, 4, Wait, DefaultTau)
			return err
		},
		"no jobs to bound": func() error { _, err := Lower(nil, 4, DefaultTau); return err },
		"context canceled": func() error { _, err := Solve(ctx, many[:MostJobs], 3, Makespan, DefaultTau); return err },
	} {
		require.ErrorContains(t, solve(), want)
	}
}

func ExampleLower() {
	jobs := []Job{{Length: 100 * des.Second, Nodes: 3}, {Length: 100 * des.Second, Nodes: 3}, {Length: 100 * des.Second, Nodes: 1}}
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
					jobs = append(jobs, rigid(des.Time(at)*des.Second, des.Time(1+r.IntN(30))*des.Second, 1<<r.IntN(5)))
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
			jobs = append(jobs, rigid(des.Seconds(math.Round(at)), des.Time(1+r.IntN(1+r.IntN(4000)))*des.Second, 1<<r.IntN(7)))
			at += 200 * r.ExpFloat64()
		}
		for _, m := range []Measure{Wait, Slowdown} {
			tasks := tasksOf(jobs, 64, m, DefaultTau)
			l := relaxed(tasks, 64, m)
			lists := &search{processors: 64, measure: m, tasks: tasks, relaxation: l, best: math.Inf(1), chosen: make([]candidate, len(tasks))}
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
