package bench_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	sim "github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// starts is an observer that keeps the start of every job.
type starts map[int64]des.Time

func (s starts) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		s[e.Job.ID] = e.Time
	}
}

// Both sides of BenchmarkNaive make the same schedule.
func TestNaiveStartsEveryJobWhenWeDo(t *testing.T) {
	for _, name := range []string{"KTH-SP2-1996-2.recon", "SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln-thin.recon"} {
		t.Run(name, func(t *testing.T) {
			path := logFile(t, name)
			jobs, procs, err := naiveRead(path)
			require.NoError(t, err)
			naiveEASY(jobs, procs)

			trace, err := workload.OpenSWF(path)
			require.NoError(t, err)
			source, err := trace.Open()
			require.NoError(t, err)
			ours := starts{}
			_, err = sim.Simulate(context.Background(), source, sim.Settings{
				Policy: backfill.EASY{}, Processors: trace.MaxProcs, Observers: []entity.Observer{ours},
			})
			require.NoError(t, err)
			require.Len(t, ours, len(jobs))
			for _, j := range jobs {
				require.Equal(t, des.Time(j.start)*des.Second, ours[j.id], "job %d", j.id)
			}
		})
	}
}

// BenchmarkNaive runs EASY on a log through the command (read, simulate, write
// jobs.csv, queue.csv, summary and manifest) and through the naive simulator
// (read and simulate), by turns.
func BenchmarkNaive(b *testing.B) {
	for _, name := range []string{"SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln-thin.recon"} {
		b.Run(name, func(b *testing.B) {
			path, out := logFile(b, name), b.TempDir()
			var ours, naive []cost
			for b.Loop() {
				ours = append(ours, run(b, process(roleCommand, "simulate", path, "--policy", "easy", "--out", out)))
				naive = append(naive, run(b, process(roleNaive, path)))
			}
			b.ReportMetric(median(ours), "ours-user-s")
			b.ReportMetric(median(naive), "naive-user-s")
			b.ReportMetric(median(ours)/median(naive), "ours/naive")
			b.ReportMetric(least(ours)/least(naive), "ours/naive-least")
		})
	}
}
