package bench_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	sim "github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload/model"
)

// scaleSizes are numbers of jobs; the last takes minutes and is left out of
// `go test -short`.
var scaleSizes = []int{100_000, 1_000_000, 10_000_000}

// generate is a call of the command; without out it writes to standard output.
func generate(jobs int, out string) []string {
	args := []string{"generate", "lublin", "--jobs", fmt.Sprint(jobs), "--procs", "1152", "--load", "0.9", "--seed", "1"}
	if out != "" {
		args = append(args, "--out", out)
	}
	return args
}

// BenchmarkScale has the command generate jobs of the Lublin-Feitelson model
// for 1,152 processors at load 0.9, and simulate them from the file under EASY
// with all files written. Cost per job should not depend on their number.
func BenchmarkScale(b *testing.B) {
	for _, jobs := range scaleSizes {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			if testing.Short() && jobs > 1_000_000 {
				b.Skip("-short")
			}
			trace := filepath.Join(b.TempDir(), "lublin.swf")
			run(b, process(roleCommand, generate(jobs, trace)...))
			var costs []cost
			for b.Loop() {
				costs = append(costs, run(b, process(roleCommand, "simulate", trace, "--policy", "easy", "--out", b.TempDir())))
			}
			report(b, costs)
			b.ReportMetric(median(costs)/float64(jobs)*1e9, "user-ns/job")
		})
	}
}

// BenchmarkPipe is the same as one pipeline, generate | simulate -, without
// files. What it costs is that of both sides; the peak is the simulation's.
func BenchmarkPipe(b *testing.B) {
	for _, jobs := range scaleSizes {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			if testing.Short() && jobs > 1_000_000 {
				b.Skip("-short")
			}
			var costs []cost
			for b.Loop() {
				from := process(roleCommand, generate(jobs, "")...)
				to := process(roleCommand, "simulate", "-", "--policy", "easy")
				var err error
				to.Stdin, err = from.StdoutPipe()
				require.NoError(b, err)
				require.NoError(b, from.Start())
				c := run(b, to)
				require.NoError(b, from.Wait())
				c.user += costOf(from).user
				costs = append(costs, c)
			}
			report(b, costs)
			b.ReportMetric(median(costs)/float64(jobs)*1e9, "user-ns/job")
		})
	}
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

// BenchmarkOverload offers 256 processors half as much again as they can take,
// so that the queue grows with the number of jobs: the mean number of jobs that
// wait (Little's law) is reported beside the cost of an event.
func BenchmarkOverload(b *testing.B) {
	for _, policy := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		for _, jobs := range []int64{1_000, 4_000, 16_000, 64_000} {
			b.Run(fmt.Sprintf("%s/%d", policy.Name(), jobs), func(b *testing.B) {
				var cpu float64
				var s metrics.Summary
				for b.Loop() {
					s = overload(b, policy, jobs)
					cpu += s.CPUSeconds
				}
				b.ReportMetric(s.MeanWait*float64(s.Jobs)/s.Makespan, "mean-queue")
				b.ReportMetric(cpu/float64(b.N)/float64(s.Events)*1e9, "cpu-ns/event")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func overload(b *testing.B, policy entity.Policy, jobs int64) metrics.Summary {
	model, err := model.Lublin{Processors: 256, Load: 1.5, Seed: 1}.Jobs(jobs)
	require.NoError(b, err)
	source := &list{}
	for j := range model {
		// Users ask for three times what they need: there are holes to fill and
		// reservations to move.
		j.Request.Length = max(3*j.Runtime, des.Second)
		source.jobs = append(source.jobs, j)
	}
	r, err := sim.Simulate(context.Background(), source, sim.Settings{Policy: policy, Processors: 256})
	require.NoError(b, err)
	return r.Summary
}
