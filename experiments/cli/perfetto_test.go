package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatTraceEventsDrawIsWhatWasBusy(t *testing.T) {
	out := t.TempDir()
	got := call("simulate", "--first", "600", "--policy", "easy,fcfs", "--out", out, "--perfetto",
		"--outages", "exponential:mtbf=10d:repair=4h", "--victims", "checkpoint:interval=1h:cost=60s:restart=30s")
	require.Zero(t, got.code, got.stderr)
	for _, policy := range []string{"easy", "fcfs"} {
		text, err := os.ReadFile(filepath.Join(out, "perfetto-"+policy+".json"))
		require.NoError(t, err)
		var trace struct {
			Events []struct {
				Phase string `json:"ph"`
				Cat   string
				Dur   float64
				Args  struct{ Processors float64 }
			} `json:"traceEvents"`
		}
		require.NoError(t, json.Unmarshal(text, &trace))
		drawn := 0.0
		for _, e := range trace.Events {
			if e.Phase == "X" && e.Cat == "job" {
				drawn += e.Dur / 1e6 * e.Args.Processors
			}
		}
		busy, before, now := 0.0, 0.0, 0.0
		for _, q := range columnsOf(t, filepath.Join(out, "queue-"+policy+".csv")) {
			busy += now * (numberOf(t, q["time"]) - before)
			before, now = numberOf(t, q["time"]), numberOf(t, q["busy_processors"])
		}
		require.InDelta(t, busy, drawn, 1e-2)
	}
	manifest, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	require.NoError(t, err)
	require.Contains(t, string(manifest), `"perfetto-fcfs.json"`)

	got = succeed(t, "simulate", "--first", "600", "--policy", "fcfs", "--out", out)
	require.NoFileExists(t, filepath.Join(out, "perfetto-fcfs.json")) // it would tell of the run before
	require.FileExists(t, filepath.Join(out, "perfetto-easy.json"))

	got = exits(t, exitUsage, "simulate", "--perfetto")
	require.Contains(t, got.stderr, "--out")
}

// The reader is that of ui.perfetto.dev, as a command.
func TestPerfettoReadsTraceEvents(t *testing.T) {
	reader, err := exec.LookPath("trace_processor_shell")
	if err != nil {
		t.Skip("trace_processor_shell (perfetto.dev) is not in PATH: it reads trace events as ui.perfetto.dev does")
	}
	out := ran(t, "--policy", "easy", "--perfetto")
	jobs := columnsOf(t, filepath.Join(out, "jobs-easy.csv"))
	query := filepath.Join(out, "query.sql")
	require.NoError(t, os.WriteFile(query, []byte("select count(*) as n, sum(dur) / 1000000000 as seconds from slice;"), 0o666))
	said, err := exec.Command(reader, "-q", query, filepath.Join(out, "perfetto-easy.json")).Output()
	require.NoError(t, err)
	seconds := 0.0
	for _, j := range jobs {
		seconds += numberOf(t, j["execution_time"])
	}
	require.Contains(t, strings.TrimSpace(string(said)), fmt.Sprintf("%d,%.0f", len(jobs), seconds))
}
