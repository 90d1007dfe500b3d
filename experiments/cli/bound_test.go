package cli

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBoundsAreBelowEveryPolicyAndBelowTheOptimum(t *testing.T) {
	for _, seed := range []string{"1", "2", "3", "4"} {
		source, dir := "lublin:jobs=14:procs=16:load=1.2:seed="+seed, t.TempDir()
		o := call("simulate", source, "--policy", "optimal,optimal:of=makespan,optimal:of=slowdown,easy,fcfs", "--overrun", "extend", "--out", dir)
		require.Zero(t, o.code, o.stderr)
		require.Zero(t, call("validate", dir).code)
		o = call("bound", source, "--overrun", "extend", "--order", "2", "--format", "json")
		require.Zero(t, o.code, o.stderr)
		var least map[string]any
		require.NoError(t, json.Unmarshal([]byte(o.stdout), &least))
		most := least["ordered"].(map[string]any)
		rows := table(t, filepath.Join(dir, "summary.csv"))
		for i, measure := range []string{"mean_wait", "makespan", "mean_bounded_slowdown"} {
			best := numberOf(t, rows[i][measure]) // of the policy that has least of it
			require.LessOrEqual(t, least[measure].(float64), best+1e-6)
			require.LessOrEqual(t, best, most[measure].(float64)+1e-6)
			require.LessOrEqual(t, most[measure].(float64), 1.5*best+1e-6)
			for _, row := range rows {
				require.LessOrEqual(t, best, numberOf(t, row[measure])+1e-6, "%s of %s", measure, row["policy"])
			}
		}
	}
}

func TestBoundsAreTold(t *testing.T) {
	log := write(t, "log.swf", "; MaxProcs: 4\n1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 -1 1 -1 -1 -1\n2 0 -1 100 3 -1 -1 3 50 -1 1 1 1 -1 1 -1 -1 -1\n3 0 -1 9 5 -1 -1 5 9 -1 1 1 1 -1 1 -1 -1 -1\n")
	o := call("bound", log, "--format", "csv")
	require.Zero(t, o.code, o.stderr)
	rows, err := csv.NewReader(strings.NewReader(o.stdout)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"trace", "processors", "jobs", "rejected", "makespan", "mean_wait", "mean_bounded_slowdown"},
		{"log.swf", "4", "2", "1", "150", "25", "1.25"}, // job 2 is cut at 50 s and goes first; job 1 then waits as long
	}, rows)
	o = call("bound", log, "--overrun", "extend")
	require.Contains(t, o.stdout, "makespan               at least 0:03:20")
	o = call("bound", log, "--overrun", "extend", "--order", "1")
	require.Contains(t, o.stdout, "makespan               at least 0:03:20, at most 0:03:20")
	o = call("bound", log, "--order", "1", "--format", "csv")
	require.Contains(t, o.stdout, ",ordered_makespan,ordered_mean_wait,ordered_mean_bounded_slowdown\nlog.swf,4,2,1,150,25,1.25,150,25,1.25\n")
	o = call("bound", log, "--order", "-1")
	require.Equal(t, 2, o.code)
	require.Contains(t, o.stderr, "--order: want 0 or more sweeps, not -1")
	o = call("bound", log, "--procs", "2")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "there are no jobs to simulate")
}

func TestAnOptimumIsOfFewJobsOnACluster(t *testing.T) {
	o := call("simulate", "--first", "21", "--policy", "optimal,fcfs")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "policy optimal: a best schedule is found for at most 20 jobs, and there are 21")
	for _, flags := range [][]string{{"--moldable", "linear"}, {"--pass", "each"}, {"--outages", "exponential:mtbf=1d:repair=1h:until=10d"}} {
		o := call(append([]string{"simulate", "--first", "12", "--policy", "optimal"}, flags...)...)
		if flags[0] == "--moldable" {
			require.Contains(t, o.stderr, "is moldable, and a best schedule is found for rigid jobs")
		} else {
			require.Zero(t, o.code, o.stderr)
		}
	}
}
