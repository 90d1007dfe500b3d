package bench_test

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	sim "github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/model"
)

// sorted is EASY in another order on SDSC-BLUE, through the command.
func sorted(tb testing.TB, policy string) cost {
	return run(tb, process(roleCommand, "simulate", logFile(tb, blue), "--policy", policy, "--out", tb.TempDir()))
}

// BenchmarkSorted is EASY under the orders whose keys change with time, so that the
// queue is in another order in every round, and under that of arrival.
func BenchmarkSorted(b *testing.B) {
	for _, policy := range []string{"easy:order=wfp3", "easy:order=unicef", "easy"} {
		b.Run(policy, func(b *testing.B) {
			var costs []cost
			for range b.N {
				costs = append(costs, sorted(b, policy))
			}
			report(b, costs)
		})
	}
}

// gain is how many times as long four policies on one log take on the clock with one
// worker as with two: the medians of some turns.
func gain(tb testing.TB, times int) float64 {
	path := logFile(tb, blue)
	var one, two []float64
	for range times {
		one = append(one, clocked(tb, path, "1").Seconds())
		two = append(two, clocked(tb, path, "2").Seconds())
	}
	slices.Sort(one)
	slices.Sort(two)
	return one[times/2] / two[times/2]
}

// BenchmarkWorkers reports the gain.
func BenchmarkWorkers(b *testing.B) {
	b.ReportMetric(gain(b, b.N), "one/two")
	b.ReportMetric(0, "ns/op")
}

// clocked is how long the command takes on the clock for four policies.
func clocked(tb testing.TB, path, workers string) time.Duration {
	began := time.Now()
	run(tb, process(roleCommand, "simulate", path, "--policy", "fcfs,easy,easy-sjbf,conservative", "--workers", workers, "--out", filepath.Join(tb.TempDir(), "out")))
	return time.Since(began)
}

// list is a workload at hand.
type list struct{ jobs []*entity.Job }

func (l *list) Next() (*entity.Job, bool) {
	if len(l.jobs) == 0 {
		return nil, false
	}
	j := l.jobs[0]
	l.jobs = l.jobs[1:]
	return j, true
}

func (l *list) Err() error { return nil }

// overload offers 256 processors half as much again as they can take, so that the queue
// grows with the number of jobs.
type overload struct {
	Policy string
	Jobs   int
	Shape  string // of the jobs; see adversarial_test.go
}

func init() { works[nameOf(&overload{})] = &overload{} }

const overloaded = 256 // processors

func (o *overload) begin() (func() (counts, error), error) {
	jobs, err := o.draw()
	if err != nil {
		return nil, err
	}
	return func() (counts, error) { return simulated(o.Policy, overloaded, &list{jobs}) }, nil
}

func (o *overload) draw() ([]*entity.Job, error) {
	drawn, err := model.Lublin{Processors: overloaded, Load: 1.5, Seed: 1}.Jobs(int64(o.Jobs))
	if err != nil {
		return nil, err
	}
	var jobs []*entity.Job
	for j := range drawn {
		// Users ask for three times what they need: there are holes to fill and
		// reservations to move.
		j.Request.Length = max(3*j.Runtime, des.Second)
		jobs = append(jobs, j)
	}
	reshapeJobs(o.Shape, jobs, overloaded)
	return jobs, nil
}

// simulated runs jobs on a cluster; it counts events and, by Little's law, the jobs that
// wait in the mean.
func simulated(name string, processors int, jobs entity.Source) (counts, error) {
	p, err := policy.Registry().Parse(name)
	if err != nil {
		return nil, err
	}
	r, err := sim.Simulate(context.Background(), jobs, sim.RunSettings{Policy: p.Value, Processors: processors})
	if err != nil {
		return nil, err
	}
	s := r.Summary
	return counts{"events": float64(s.Events), "mean-queue": s.MeanWait * float64(s.Jobs) / max(s.Makespan, 1)}, nil
}

// BenchmarkOverload is what an event costs, and how long the queue is.
func BenchmarkOverload(b *testing.B) {
	for _, policy := range []string{"fcfs", "easy", "conservative"} {
		for _, jobs := range []int{1_000, 4_000, 16_000, 64_000} {
			b.Run(fmt.Sprintf("%s/%d", policy, jobs), func(b *testing.B) {
				s := reportSpent(b, &overload{Policy: policy, Jobs: jobs})
				b.ReportMetric(s.CPU/s.Counts["events"]*1e9, "cpu-ns/event")
			})
		}
	}
}

// stream is a machine of 1,152 processors at load 0.9, for so many jobs that are
// generated as they come.
type stream struct {
	Policy string
	Jobs   int
}

func init() { works[nameOf(&stream{})] = &stream{} }

func (o *stream) begin() (func() (counts, error), error) {
	return func() (counts, error) {
		drawn, err := model.Lublin{Processors: 1152, Load: 0.9, Seed: 1}.Jobs(int64(o.Jobs))
		if err != nil {
			return nil, err
		}
		next, stop := iter.Pull(drawn)
		defer stop()
		return simulated(o.Policy, 1152, &pulled{next})
	}, nil
}

// pulled is a workload as it comes.
type pulled struct{ next func() (*entity.Job, bool) }

func (p *pulled) Next() (*entity.Job, bool) { return p.next() }
func (p *pulled) Err() error                { return nil }
