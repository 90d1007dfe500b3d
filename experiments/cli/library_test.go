package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// The program of package simulation's text, to the end.
func TestToolsReadWhatAProgramLeaves(t *testing.T) {
	log := write(t, "log.swf", swf("0 60 4 100", "10 300 8 300", "20 30 2 60", "30 30 12 60"))
	dir := filepath.Join(t.TempDir(), "out")
	for _, s := range []simulation.RunSettings{{Policy: backfill.EASY{}}, {Policy: backfill.FCFS{}}, {Policy: backfill.EASY{}}} {
		trace, err := workload.OpenSWF(log)
		require.NoError(t, err)
		jobs, err := trace.Open()
		require.NoError(t, err)
		s.Decisions, s.Processors, s.Dir, s.Warmup = true, trace.MaxProcs, dir, metrics.Warmup{Jobs: 1}
		_, err = simulation.Simulate(context.Background(), jobs, s)
		require.NoError(t, err)
	}
	summary := table(t, filepath.Join(dir, "summary.csv"))
	require.Equal(t, []string{"fcfs", "easy"}, []string{summary[0]["policy"], summary[1]["policy"]})
	require.Len(t, summary, 2, "a policy's second run takes the place of its first")
	for _, args := range [][]string{
		{"report", dir, "-o", filepath.Join(dir, "report.html")},
		{"plot", dir, "-o", dir},
		{"explain", dir},
		{"explain", dir, "2"},
		{"validate", filepath.Join(dir, "jobs-easy.csv"), log},
	} {
		succeed(t, args...)
	}
	trace, err := workload.OpenSWF(log)
	require.NoError(t, err)
	jobs, err := trace.Open()
	require.NoError(t, err)
	_, err = simulation.Simulate(context.Background(), jobs, simulation.RunSettings{Policy: backfill.FCFS{}, Processors: trace.MaxProcs, Dir: dir, Seed: 7})
	require.NoError(t, err)
	manifest := read(t, dir, "manifest.json")
	require.Equal(t, 1, strings.Count(manifest, `"fingerprint"`), manifest)
	require.NotContains(t, manifest, "jobs-easy.csv", "which is of other settings")
	require.Len(t, table(t, filepath.Join(dir, "summary.csv")), 1)
}
