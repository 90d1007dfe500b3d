package metrics

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/stretchr/testify/require"
)

var twoSummaries = []Summary{
	{Policy: "fcfs", Jobs: 28481, Killed: 3, Rejected: 1, Makespan: 29363626, MeanWait: 354002.25, MedianWait: 12.5, P95Wait: 86399.6,
		MaxWait: 1e6, MeanBoundedSlowdown: 6818.585, MeanTurnaround: 360000, Utilization: 0.68125, Rounds: 5, Events: 1 << 40, CPUSeconds: 0.04, Waiting: 2},
	{Policy: "easy-sjbf"},
}

func TestSummaryCSV(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeSummaryCSV(&b, twoSummaries))
	require.Equal(t, `policy,jobs,killed,rejected,makespan,mean_wait,median_wait,p95_wait,max_wait,mean_bounded_slowdown,mean_turnaround,utilization,backfilled,rounds,events,cpu_seconds,waiting,offered_load
fcfs,28481,3,1,29363626,354002.25,12.5,86399.6,1000000,6818.585,360000,0.68125,0,5,1099511627776,0.04,2,0
easy-sjbf,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
`, b.String())
}

func TestSummaryTable(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, rows.WriteSummaryTable(&b, twoSummaries))
	require.Equal(t, `policy       jobs  killed  rejected       makespan   mean wait  median         p95      max wait  slowdown  util %  backfilled  cpu s
fcfs       28,481       3         1  339d 20:33:46  4d 2:20:02   12.5s  1d 0:00:00  11d 13:46:40   6818.59    68.1           0   0.04
easy-sjbf       0       0         0           0.0s        0.0s    0.0s        0.0s          0.0s      0.00     0.0           0   0.00
`, b.String())
}

func TestDurationsForPeople(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0.0s", 0.000001: "0.001ms", 0.0036: "3.6ms", 0.0999: "99.9ms", 0.1: "0.1s", 12.34: "12.3s",
		59.94: "59.9s", 59.96: "0:01:00", 3600: "1:00:00", 90061.4: "1d 1:01:01",
	} {
		require.Equal(t, want, Clock(seconds))
	}
}

func TestManifestFile(t *testing.T) {
	start := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	m := Manifest{
		Version: "v1.0.0", Command: []string{"simulate", "a.swf"}, Seed: 7, Trace: TraceFile{Name: "a.swf", SHA256: "00ff"},
		Dropped:  []ReasonCount{{"no processors", 3}},
		Settings: map[string]string{"pass": "instant", "overrun": "kill"},
		Runs:     []ManifestRun{{Policy: "easy", Fingerprint: "0123456789abcdef"}},
		Start:    start, End: start.Add(time.Second),
	}
	path := filepath.Join(t.TempDir(), "manifest.json")
	require.NoError(t, m.WriteFile(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var back Manifest
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, m, back)
	require.NotContains(t, string(text), "stopped")
}

func TestSummaryFileIsWholeOrNotThere(t *testing.T) {
	require.Error(t, WriteSummaryFile(filepath.Join(t.TempDir(), "no", "summary.csv"), twoSummaries))
	path := filepath.Join(t.TempDir(), "summary.csv")
	require.NoError(t, WriteSummaryFile(path, twoSummaries))
	require.FileExists(t, path)
}
