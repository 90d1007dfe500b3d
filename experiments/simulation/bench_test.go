package simulation_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// Whole runs on real logs: reading, simulating and writing the files.
func BenchmarkSimulate(b *testing.B) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		b.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	for _, trace := range []string{"KTH-SP2-1996-2.recon", "SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln-thin.recon", "RICC-2010-2"} {
		for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
			b.Run(trace+"/"+p.Name(), func(b *testing.B) {
				t, err := workload.OpenSWF(filepath.Join(dir, trace+".swf.gz"))
				require.NoError(b, err)
				out := b.TempDir()
				cpu, jobs := 0.0, 0
				for b.Loop() {
					source, err := t.Open()
					require.NoError(b, err)
					r, err := simulation.Simulate(context.Background(), source, simulation.RunSettings{Policy: p, Processors: t.MaxProcs, Dir: out, Workload: t.Name})
					require.NoError(b, err)
					cpu += r.Summary.CPUSeconds
					jobs = r.Summary.Jobs
				}
				b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
				b.ReportMetric(float64(jobs), "jobs")
			})
		}
	}
}
