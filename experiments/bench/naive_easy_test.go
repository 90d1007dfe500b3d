package bench_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	sim "github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// starts is an observer that keeps the start of every job.
type starts map[int64]des.Time

func (s starts) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		s[e.Run.ID] = e.Time
	}
}

// Both sides of BenchmarkNaive make the same schedule.
func TestNaiveStartsEveryJobWhenWeDo(t *testing.T) {
	for _, name := range []string{"KTH-SP2-1996-2.recon", "SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln-thin.recon"} {
		t.Run(name, func(t *testing.T) {
			path := logFile(t, name)
			jobs, procs, err := naiveRead(path)
			require.NoError(t, err)

			trace, err := workload.OpenSWF(path)
			require.NoError(t, err)
			source, err := trace.Open()
			require.NoError(t, err)
			ours := starts{}
			_, err = sim.Simulate(context.Background(), source, sim.RunSettings{
				Policy: backfill.EASY{}, Processors: trace.MaxProcs, Observers: []entity.Observer{ours},
			})
			require.NoError(t, err)
			require.Len(t, ours, len(jobs))
			for _, lean := range []bool{false, true} {
				naiveEASY(jobs, procs, lean)
				for _, j := range jobs {
					require.Equal(t, des.Time(j.start)*des.Second, ours[j.id], "job %d", j.id)
				}
			}
		})
	}
}

// naiveLogs are the logs on which we are set against the naive simulators.
var naiveLogs = []string{"SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln-thin.recon", "KTH-SP2-1996-2.recon"}

// turns runs EASY on a log through the command (read, simulate, write jobs.csv,
// queue.csv, summary and manifest) and through the naive simulators (read and
// simulate), so many times by turns.
func turns(tb testing.TB, name string, times int) (ours, naive, lean []cost) {
	path, out := logFile(tb, name), tb.TempDir()
	for range times {
		ours = append(ours, run(tb, process(roleCommand, "simulate", path, "--policy", "easy", "--out", out)))
		naive = append(naive, run(tb, process(roleNaive, path)))
		lean = append(lean, run(tb, process(roleLean, path)))
	}
	return ours, naive, lean
}

// BenchmarkNaive reports turns. Figures are medians of the processes' user times, and of their
// times on the clock, which mean something on a machine that has nothing else to do.
func BenchmarkNaive(b *testing.B) {
	for _, name := range naiveLogs {
		b.Run(name, func(b *testing.B) {
			ours, naive, lean := turns(b, name, b.N)
			b.ReportMetric(median(ours), "user-s")
			b.ReportMetric(median(naive), "naive-user-s")
			b.ReportMetric(median(ours)/median(naive), "of-naive")
			b.ReportMetric(median(lean), "lean-user-s")
			b.ReportMetric(median(ours)/median(lean), "of-lean")
			b.ReportMetric(medianOf(ours, cost.onClock), "clock-s")
			b.ReportMetric(medianOf(ours, cost.onClock)/medianOf(naive, cost.onClock), "clock-of-naive")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkCommand runs each policy on each log through the command, files
// written.
func BenchmarkCommand(b *testing.B) {
	for _, name := range []string{"KTH-SP2-1996-2.recon", "SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln-thin.recon", "RICC-2010-2"} {
		for _, policy := range []string{"fcfs", "easy", "conservative"} {
			b.Run(name+"/"+policy, func(b *testing.B) {
				path, out := logFile(b, name), b.TempDir()
				var costs []cost
				for b.Loop() {
					costs = append(costs, run(b, process(roleCommand, "simulate", path, "--policy", policy, "--out", out)))
				}
				report(b, costs)
			})
		}
	}
}

// report reports medians, and the greatest peak of memory.
func report(b *testing.B, costs []cost) {
	peak, system := int64(0), time.Duration(0)
	for _, c := range costs {
		peak, system = max(peak, c.peak), system+c.system
	}
	b.ReportMetric(median(costs), "user-s")
	b.ReportMetric(system.Seconds()/float64(len(costs)), "system-s")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	b.ReportMetric(0, "ns/op")
}
