package cli

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlowdownsAreBoundedWhereThatIsAskedFor(t *testing.T) {
	usual, other := t.TempDir(), t.TempDir()
	require.Equal(t, exitOK, call("simulate", "--policy", "easy", "--predict", "recent", "--out", usual).code)
	require.Equal(t, exitOK, call("simulate", "--policy", "easy", "--predict", "recent", "--tau", "10m", "--out", other).code)
	sum, ended, differ := 0., 0., 0
	before := table(t, filepath.Join(usual, "jobs-easy.csv"))
	for i, row := range table(t, filepath.Join(other, "jobs-easy.csv")) {
		if row["bounded_slowdown"] == "" {
			continue
		}
		want := math.Max(1, numberOf(t, row["turnaround_time"])/math.Max(numberOf(t, row["execution_time"]), 600))
		require.InDelta(t, want, numberOf(t, row["bounded_slowdown"]), 1e-6)
		sum, ended = sum+want, ended+1
		if row["bounded_slowdown"] != before[i]["bounded_slowdown"] {
			differ++
		}
	}
	require.NotZero(t, differ)
	require.InEpsilon(t, sum/ended, numberOf(t, table(t, filepath.Join(other, "summary.csv"))[0]["mean_bounded_slowdown"]), 1e-6)
	require.InEpsilon(t, sum/ended, numberOf(t, table(t, filepath.Join(other, "accuracy-easy.csv"))[0]["mean_bounded_slowdown"]), 1e-6)

	jobs := filepath.Join(other, "jobs-easy.csv")
	require.Equal(t, exitOK, call("validate", jobs).code, "the manifest tells")
	wrong := exits(t, exitFailed, "validate", jobs, settingsFile(t, "--tau=10"))
	require.Contains(t, wrong.stdout, "bounded_slowdown is ")
	require.NoError(t, os.Remove(filepath.Join(other, "manifest.json")))
	require.Equal(t, exitFailed, call("validate", jobs).code)
	require.Equal(t, exitOK, call("validate", jobs, settingsFile(t, "--tau=600")).code)
	require.Contains(t, call("simulate", "--tau", "0").stderr, "want a time above 0")
}

func TestTheSummaryLeavesAWarmUpOutAndTheJobsDoNot(t *testing.T) {
	whole, cut := t.TempDir(), t.TempDir()
	require.Equal(t, exitOK, call("simulate", "--policy", "easy,fcfs", "--out", whole).code)
	require.Equal(t, exitOK, call("simulate", "--policy", "easy,fcfs", "--warmup", "100", "--out", cut).code)
	for i, policy := range []string{"easy", "fcfs"} {
		before, err := os.ReadFile(filepath.Join(whole, "jobs-"+policy+".csv"))
		require.NoError(t, err)
		after, err := os.ReadFile(filepath.Join(cut, "jobs-"+policy+".csv"))
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
		rows := table(t, filepath.Join(cut, "jobs-"+policy+".csv"))
		from, last, wait, ended, busy, all := numberOf(t, rows[100]["submission_time"]), 0., 0., 0., 0., 0.
		for k, row := range rows {
			if row["finish_time"] == "" {
				continue
			}
			finish := numberOf(t, row["finish_time"])
			last = max(last, finish)
			size, start := numberOf(t, row["requested_number_of_resources"]), numberOf(t, row["starting_time"])
			busy, all = busy+size*max(0, finish-max(from, start)), all+size*(finish-start)
			if k >= 100 {
				wait, ended = wait+numberOf(t, row["waiting_time"]), ended+1
			}
		}
		s := table(t, filepath.Join(cut, "summary.csv"))[i]
		require.Equal(t, strconv.Itoa(len(rows)-100), s["jobs"])
		require.InEpsilon(t, last-from, numberOf(t, s["makespan"]), 1e-9)
		require.InDelta(t, wait/ended, numberOf(t, s["mean_wait"]), 1e-5)
		plain := table(t, filepath.Join(whole, "summary.csv"))[i]
		require.InEpsilon(t, busy/all, numberOf(t, s["utilization"])*numberOf(t, s["makespan"])/(numberOf(t, plain["utilization"])*numberOf(t, plain["makespan"])), 1e-5)
	}
	text, err := os.ReadFile(filepath.Join(cut, "manifest.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"warmup": "jobs=100"`)
	require.Contains(t, call("simulate", "--warmup", "mser").stderr, "want how many jobs")
}
