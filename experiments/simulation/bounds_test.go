package simulation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/optimal"
)

// drawn are some jobs and the processors of a small cluster. Some jobs run longer than they ask for, some
// come at one instant, and some have several shapes.
func drawn(r *rand.Rand, most int) (jobs []entity.Job, processors int) {
	processors, at := 1+r.IntN(12), 0
	for i := range 1 + r.IntN(most) {
		long := r.IntN(40)
		jobs = append(jobs, entity.Job{
			ID: int64(i + 1), Submit: des.Time(at) * des.Second, Runtime: des.Time(long) * des.Second, User: -1, Group: -1, Queue: -1,
			Request: entity.Request{Nodes: 1 + r.IntN(processors), Length: des.Time(1+long*r.IntN(4)/2) * des.Second},
		})
		if j := &jobs[i]; r.IntN(6) == 0 && j.Request.Nodes > 1 {
			s := entity.Shape{Nodes: 1 + r.IntN(j.Request.Nodes-1), Length: j.Request.Length * des.Time(2+r.IntN(2)), Runtime: j.Runtime * des.Time(1+r.IntN(3))}
			j.Shapes = []entity.Shape{s, {Nodes: j.Request.Nodes, Length: j.Request.Length, Runtime: j.Runtime}}
		}
		at += r.IntN(3) * r.IntN(20)
	}
	return jobs, processors
}

// bounded runs jobs under a policy, with bounds.
func bounded(t *testing.T, jobs []entity.Job, spec string, s simulation.RunSettings) simulation.Result {
	t.Helper()
	chosen, err := policy.Registry().Parse(spec)
	require.NoError(t, err)
	s.Policy, s.Bounds, s.LeaveWaiting = chosen.Value, true, true
	r, err := simulation.Simulate(context.Background(), &list{jobs: jobs}, s)
	require.NoError(t, err, spec)
	return r
}

// Of every policy the bounds are those of the jobs, which are below the proven optimum and below what
// any policy reaches; also of policies that interrupt jobs.
func TestBoundsOfARunAreBelowTheOptimumAndEveryPolicy(t *testing.T) {
	specs := []string{"easy:order=shortest", "conservative:compression=off", "time-slicing:quantum=3", "selective-preemption:sf=1.5"}
	for _, e := range policy.Registry().ForAny() {
		specs = append(specs, e.Name)
	}
	interrupted := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		jobs, processors := drawn(r, 8)
		overrun := []entity.Overrun{entity.OverrunKill, entity.OverrunExtend, entity.OverrunRaise}[r.IntN(3)]
		tau := metrics.Tau(r.IntN(2) * 3 * int(des.Second))
		var of []optimal.Job
		for i := range jobs {
			of = append(of, optimal.JobOf(&jobs[i], overrun.Lasts))
		}
		least, err := optimal.Lower(of, processors, des.Time(tau))
		require.NoError(t, err)
		n := float64(len(of))
		for m, bound := range map[optimal.Measure]float64{optimal.Makespan: least.Makespan, optimal.Wait: least.MeanWait * n, optimal.Slowdown: least.MeanSlowdown * n} {
			best, err := optimal.Solve(context.Background(), of, processors, m, des.Time(tau))
			require.NoError(t, err)
			require.LessOrEqual(t, bound, best.Cost*(1+1e-9)+1e-6, "seed %d, %v", seed, m)
		}
		for _, spec := range specs {
			got := bounded(t, jobs, spec, simulation.RunSettings{Processors: processors, Overrun: overrun, Tau: tau})
			if _, resized, _ := strings.Cut(got.Unbounded, " was "); spec == "equipartition" && resized == "resized, and bounds are of jobs that keep their processors" {
				continue
			}
			require.Empty(t, got.Unbounded, "seed %d, %s", seed, spec)
			s, b := got.Summary, got.Bounds
			for _, m := range []struct{ bound, least, gap, reached float64 }{
				{least.Makespan, b.Least.Makespan, b.Gap.Makespan, s.Makespan}, {least.MeanWait, b.Least.MeanWait, b.Gap.MeanWait, s.MeanWait},
				{least.MeanSlowdown, b.Least.MeanSlowdown, b.Gap.MeanSlowdown, s.MeanBoundedSlowdown},
			} {
				require.InDelta(t, m.bound, m.least, 1e-9*m.bound+1e-6, "seed %d, %s", seed, spec)
				require.LessOrEqual(t, m.least, m.reached, "seed %d, %s", seed, spec)
				require.InDelta(t, m.reached, m.least+m.gap, 1e-9*m.reached, "seed %d, %s", seed, spec)
			}
			if got.Summary.Events > 0 && strings.Contains(spec, "slicing") && s.MeanTurnaround-s.MeanWait < 0.999*mean(of) {
				interrupted++ // the last stretch of a job alone counts as its run
			}
		}
	}
	require.Positive(t, interrupted)
}

// mean is the mean length of jobs in seconds.
func mean(jobs []optimal.Job) float64 {
	sum := 0.0
	for _, j := range jobs {
		sum += j.Length.Seconds()
	}
	return sum / float64(len(jobs))
}

// Bounds hold, or there are none, whatever else happens on the machine: a run that is below its bounds
// fails. What a run's bounds hold for is the jobs that its means count.
func TestBoundsHoldWhateverHappens(t *testing.T) {
	ctx := context.Background()
	with, without := 0, map[string]int{}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		jobs, processors := drawn(r, 12)
		s := simulation.RunSettings{Processors: processors, Overrun: []entity.Overrun{entity.OverrunKill, entity.OverrunExtend, entity.OverrunRaise}[r.IntN(3)], Bounds: true, LeaveWaiting: true}
		if r.IntN(4) == 0 {
			s.Warmup.Jobs = r.IntN(len(jobs))
		}
		if r.IntN(2) == 0 {
			victims := []flow.Victims{
				{}, {Rule: flow.VictimsKill}, {Rule: flow.VictimsWait}, {Limit: 1, Restart: des.Second},
				{Rule: flow.VictimsCheckpoint, Restart: 2 * des.Second, Checkpoints: entity.Checkpoints{Interval: 5 * des.Second, Cost: des.Second}},
			}[r.IntN(5)]
			var all []flow.Outage
			for from := r.IntN(50); from < 200; from += 1 + r.IntN(60) {
				all = append(all, flow.Outage{Known: des.Time(from) * des.Second, From: des.Time(from) * des.Second, To: des.Time(from+1+r.IntN(20)) * des.Second, Where: entity.Where{Count: 1 + r.IntN(processors)}})
			}
			s.Outages = &flow.Outages{Victims: victims}
			s.Outages.Submit(slices.Values(all))
		}
		specs := []string{"fcfs", "easy", "conservative", "easy-sjbf", "time-slicing:quantum=4", "selective-preemption:sf=1.2", "equipartition"}
		chosen, err := policy.Registry().Parse(specs[r.IntN(len(specs))])
		require.NoError(t, err)
		s.Policy = chosen.Value
		got, err := simulation.Simulate(ctx, &list{jobs: jobs}, s)
		require.NoError(t, err, "seed %d", seed)
		if got.Bounds == nil {
			require.NotEmpty(t, got.Unbounded, "seed %d", seed)
			_, why, _ := strings.Cut(got.Unbounded, " was ")
			without[why]++
			continue
		}
		with++
		require.LessOrEqual(t, got.Bounds.Least.MeanWait, got.Summary.MeanWait, "seed %d", seed)
	}
	require.Greater(t, with, 2000)
	require.Greater(t, without["ended before its time, which another schedule need not do"], 50, "%v", without)
}

// Why a run has no bounds is said.
func TestWhatHasNoBoundsIsSaid(t *testing.T) {
	job := func(id, nodes int, submit, length des.Time, more ...func(*entity.Job)) entity.Job {
		j := entity.Job{ID: int64(id), Submit: submit * des.Second, Runtime: length * des.Second, User: -1, Group: -1, Queue: -1, Request: entity.Request{Nodes: nodes, Length: length * des.Second}}
		for _, m := range more {
			m(&j)
		}
		return j
	}
	plain := []entity.Job{job(1, 2, 0, 10), job(2, 2, 0, 20)}
	molded := slices.Clone(plain)
	molded[1].Shapes = []entity.Shape{{Nodes: 1, Length: 40 * des.Second, Runtime: 40 * des.Second}, {Nodes: 2, Length: 20 * des.Second, Runtime: 20 * des.Second}}
	after := slices.Clone(plain)
	after[1].After = []entity.Dependency{{Job: 1}}
	links, err := flow.Survey(func(yield func(*entity.Job) bool) {
		for i := range after {
			if !yield(&after[i]) {
				return
			}
		}
	}, false)
	require.NoError(t, err)
	lost := func(rule flow.VictimRule) *flow.Outages {
		o := &flow.Outages{Victims: flow.Victims{Rule: rule}}
		o.Submit(slices.Values([]flow.Outage{{Known: 5 * des.Second, From: 5 * des.Second, To: 6 * des.Second, Where: entity.Where{Count: 2}}}))
		return o
	}
	for _, c := range []struct {
		name string
		jobs []entity.Job
		s    simulation.RunSettings
		want string
	}{
		{"plain", plain, simulation.RunSettings{}, ""},
		{"too wide for the machine", append(slices.Clone(plain), job(3, 9, 0, 5)), simulation.RunSettings{}, ""},
		{"begun anew", plain, simulation.RunSettings{Outages: lost(flow.VictimsRequeue)}, ""},
		{"shapes", molded, simulation.RunSettings{}, ""},
		{"dependencies", after, simulation.RunSettings{Links: links}, "jobs come when others have ended, which is another time in another schedule"},
		{"killed", plain, simulation.RunSettings{Outages: lost(flow.VictimsKill)}, "job 1 was ended before its time, which another schedule need not do"},
		{"only wide", []entity.Job{job(1, 9, 0, 5)}, simulation.RunSettings{}, "no job has ended whose wait is counted"},
	} {
		s := c.s
		s.Processors = 2
		got := bounded(t, c.jobs, "easy", s)
		require.Equal(t, c.want, got.Unbounded, c.name)
		require.Equal(t, c.want == "", got.Bounds != nil, c.name)
	}
	got := bounded(t, molded[1:], "equipartition", simulation.RunSettings{Processors: 2})
	require.Empty(t, got.Unbounded)
	molded[0].Shapes, molded[1].Submit = []entity.Shape{{Nodes: 1, Length: 20 * des.Second, Runtime: 20 * des.Second}}, 5*des.Second
	got = bounded(t, molded, "equipartition", simulation.RunSettings{Processors: 2})
	require.Equal(t, "job 1 was resized, and bounds are of jobs that keep their processors", got.Unbounded)
	// Each job takes the whole machine. The shorter goes first in the best schedule, where the longer waits for
	// 10 s, and second under FCFS, where it waits for 20 s.
	got = bounded(t, []entity.Job{job(1, 2, 0, 20), job(2, 2, 0, 10)}, "fcfs", simulation.RunSettings{Processors: 2})
	require.Equal(t, "{{30 5 1.25} {0 5 0.75}}", fmt.Sprint(*got.Bounds))
}

// A source that hears of the ends of its jobs may have other jobs come at other times.
type listening struct{ list }

func (*listening) Ended(*entity.Run) {}

func TestJobsOfASourceThatListensHaveNoBounds(t *testing.T) {
	jobs, processors := drawn(rand.New(rand.NewPCG(1, 3)), 5)
	chosen, err := policy.Registry().Parse("easy")
	require.NoError(t, err)
	r, err := simulation.Simulate(context.Background(), &listening{list{jobs: jobs}}, simulation.RunSettings{Processors: processors, Policy: chosen.Value, Bounds: true})
	require.NoError(t, err)
	require.Nil(t, r.Bounds)
	require.Equal(t, "jobs come when others have ended, which is another time in another schedule", r.Unbounded)
}
