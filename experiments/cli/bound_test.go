package cli

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBoundsAreBelowEveryPolicyAndBelowTheOptimum(t *testing.T) {
	for _, seed := range []string{"1", "2", "3", "4"} {
		source, dir := "lublin:jobs=14:procs=16:load=1.2:seed="+seed, t.TempDir()
		o := succeed(t, "simulate", source, "--policy", "optimal,optimal:of=makespan,optimal:of=slowdown,easy,fcfs", "--overrun", "extend", "--out", dir)
		require.Regexp(t, `optimal:of=makespan.*: its plan is proved the best schedule; partial schedules looked at: [1-9]`, o.stderr)
		require.NotRegexp(t, "easy.*is proved", o.stderr)
		require.Zero(t, call("validate", dir).code)
		o = succeed(t, "bound", source, "--overrun", "extend", "--order", "2", "--format", "json")
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
	o := succeed(t, "bound", log, "--format", "csv")
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
	o = exits(t, exitUsage, "bound", log, "--order", "-1")
	require.Contains(t, o.stderr, "--order: want 0 or more sweeps, not -1")
	o = exits(t, exitFailed, "bound", log, "--procs", "2")
	require.Contains(t, o.stderr, "there are no jobs to simulate")
}

func TestAnOptimumIsOfFewJobsOnACluster(t *testing.T) {
	o := exits(t, exitFailed, "simulate", "--first", "21", "--policy", "optimal,fcfs")
	require.Contains(t, o.stderr, "policy optimal: a best schedule is found for at most 20 jobs, and there are 21")
	for _, flags := range [][]string{{"--pass", "each"}, {"--outages", "exponential:mtbf=1d:repair=1h:until=10d"}} {
		succeed(t, append([]string{"simulate", "--first", "12", "--policy", "optimal"}, flags...)...)
	}
}

// With slowdowns bounded by 10 s the wide job goes first, and by 150 s the two narrow ones.
func TestTheBestSlowdownIsBoundedAsItIsTold(t *testing.T) {
	log := write(t, "log.swf", "; MaxProcs: 2\n1 0 -1 100 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1\n2 0 -1 150 1 -1 -1 1 150 -1 1 1 1 -1 1 -1 -1 -1\n3 0 -1 150 1 -1 -1 1 150 -1 1 1 1 -1 1 -1 -1 -1\n")
	for tau, want := range map[string]float64{"10": 13.0 / 3, "150": 11.0 / 3} {
		o := succeed(t, "simulate", log, "--policy", "optimal:of=slowdown", "--tau", tau, "--format", "csv")
		rows, err := csv.NewReader(strings.NewReader(o.stdout)).ReadAll()
		require.NoError(t, err)
		require.InDelta(t, want/3, numberOf(t, rows[1][slices.Index(rows[0], "mean_bounded_slowdown")]), 1e-9, "tau %s", tau)
	}
}

// The optimum of moldable jobs is not above that of rigid ones where their own shapes are among them, nor above
// what policies reach with the same shapes. The shapes that it chose are valid, and told in the rows.
func TestAnOptimumOfMoldableJobs(t *testing.T) {
	molded := 0
	for _, seed := range []string{"1", "2", "3", "4"} {
		simulated := func(flags ...string) []map[string]string {
			dir := t.TempDir()
			o := call(append([]string{"simulate", "lublin:jobs=10:procs=8:load=3:seed=" + seed, "--overrun", "extend", "--decisions", "--out", dir,
				"--policy", "optimal,optimal:of=makespan,optimal:of=slowdown,easy,easy:shape=end,easy:shape=largest,fcfs,conservative"}, flags...)...)
			require.Zero(t, o.code, o.stderr)
			o = succeed(t, "validate", dir)
			if len(flags) > 0 {
				for i, row := range table(t, filepath.Join(dir, "jobs-optimal.csv")) {
					if row["requested_number_of_resources"] != table(t, filepath.Join(dir, "jobs-fcfs.csv"))[i]["requested_number_of_resources"] {
						molded++
					}
				}
			}
			return table(t, filepath.Join(dir, "summary.csv"))
		}
		rigid, rows := simulated(), simulated("--moldable", "amdahl:shapes=4")
		for i, measure := range []string{"mean_wait", "makespan", "mean_bounded_slowdown"} {
			best := numberOf(t, rows[i][measure])
			require.LessOrEqual(t, best, numberOf(t, rigid[i][measure])+1e-6, measure)
			for _, row := range rows {
				require.LessOrEqual(t, best, numberOf(t, row[measure])+1e-6, "%s of %s", measure, row["policy"])
			}
		}
	}
	require.Positive(t, molded)
}

// threeJobs are jobs of all 4 processors: the best order is the second, the third, the first.
const threeJobs = "; MaxProcs: 4\n1 0 -1 300 4 -1 -1 4 300 -1 1 1 1 -1 1 -1 -1 -1\n2 0 -1 100 4 -1 -1 4 100 -1 1 1 1 -1 1 -1 -1 -1\n3 0 -1 200 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 -1 -1\n"

func TestBoundsStandUnderThePolicies(t *testing.T) {
	log, dir := write(t, "log.swf", threeJobs), t.TempDir()
	o := succeed(t, "simulate", log, "--policy", "fcfs,easy:order=shortest,time-slicing:quantum=50", "--bounds", "--out", dir)
	lines := strings.Split(strings.TrimRight(o.stdout, "\n"), "\n")
	require.Equal(t, strings.Fields("at least 0:10:00 0:02:13 1.50"), strings.Fields(lines[4]), o.stdout)
	require.Equal(t, strings.Index(lines[0], "makespan")+len("makespan"), strings.Index(lines[4], "0:10:00")+len("0:10:00"))
	for i, want := range []map[string]string{
		{"mean_wait": "233.33333333333334", "gap_makespan": "0", "gap_mean_wait": "100"}, {"mean_wait": "133.33333333333334", "gap_makespan": "0", "gap_mean_wait": "0"},
	} {
		row := table(t, filepath.Join(dir, "summary.csv"))[i]
		require.Equal(t, "600", row["least_makespan"])
		require.Equal(t, "133.33333333333334", row["least_mean_wait"])
		for column, value := range want {
			require.Equal(t, value, row[column], column)
		}
	}
	require.Zero(t, call("validate", dir).code)
	o = call("simulate", "--from-manifest", dir, "--format", "json")
	require.Contains(t, o.stdout, `"least_mean_wait": 133.3`)
	require.NotContains(t, call("simulate", log, "--format", "csv").stdout, "least_")

	o = succeed(t, "report", dir)
	page := read(t, filepath.Join(dir, "report.html"))
	require.Contains(t, page, "gap of the mean wait")
	require.Contains(t, page, "100 (75%)")
}

// Policies that run other jobs have other bounds, each with the names of the policies.
func TestBoundsOfOtherJobsAreOtherBounds(t *testing.T) {
	log := write(t, "log.swf", threeJobs)
	lost := write(t, "lost.csv", "from,to,processors\n150,151,4\n")
	o := call("simulate", log, "--policy", "fcfs,easy,easy:order=shortest", "--bounds", "--outages", lost)
	require.Contains(t, o.stdout, "\nat least  ")
	o = call("simulate", log, "--policy", "fcfs,easy,easy:order=shortest", "--bounds", "--outages", lost, "--victims", "kill", "--out", t.TempDir())
	require.NotContains(t, o.stdout, "at least")
	require.Contains(t, o.stderr, "fcfs, easy: there are no bounds: job 1 was ended before its time, which another schedule need not do")
	require.Contains(t, o.stderr, "easy:order=shortest: there are no bounds: job 3 was ended")

	lost = write(t, "lost.csv", "from,to,processors\n100,101,4\n") // when the shortest job has ended
	dir := t.TempDir()
	o = succeed(t, "simulate", log, "--policy", "fcfs,easy:order=shortest,easy:order=largest", "--bounds", "--outages", lost, "--victims", "kill", "--out", dir)
	require.Contains(t, o.stdout, "\nat least (easy:order=shortest)  ", o.stdout)
	require.Zero(t, call("report", dir).code)
	require.Contains(t, read(t, filepath.Join(dir, "report.html")), "fcfs has no bounds: job 1 was ended before its time")
}

// Two policies of one call have the bounds of their own jobs: under the cap the three that want all
// processors are rejected.
func TestPoliciesThatRunOtherJobsHaveOtherBounds(t *testing.T) {
	log := write(t, "log.swf", threeJobs+"4 0 -1 50 1 -1 -1 1 50 -1 1 1 1 -1 1 -1 -1 -1\n")
	o := succeed(t, "simulate", log, "--policy", "fcfs,fcfs:power-cap=300", "--power", "idle=0:busy=100", "--bounds", "--format", "csv")
	// The work of all jobs over 4 processors, and the last job alone.
	require.Equal(t, map[string]string{"fcfs": "612.5", "fcfs:power-cap=300": "50"}, column(t, o.stdout, "least_makespan"))
}

// An advance reservation is in no mean, and in no bound.
func TestBoundsAreNotOfReservations(t *testing.T) {
	log := write(t, "log.swf", threeJobs)
	booked := write(t, "booked.csv", "job_id,start,processors,duration\n9,1000,4,100\n")
	o := succeed(t, "simulate", log, "--policy", "fcfs", "--bounds", "--reservations", booked)
	require.Contains(t, strings.Join(strings.Fields(o.stdout), " "), "at least 0:10:00 0:02:13 1.50")
}

func TestAMachineOfNodesHasNoBounds(t *testing.T) {
	domain := write(t, "domain.yaml", "cycle: 600\ngenerate: {count: 10}\nbatches: {cycles: 1, jobs: 3}\n")
	o := succeed(t, "simulate", "--domain", domain, "--bounds", "--format", "csv")
	require.Contains(t, o.stderr, "there are no bounds: bounds are of clusters, and this machine has nodes or sites")
	require.Contains(t, o.stdout, ",least_makespan,")
}

func TestAGapIsAMeasureOfAStudy(t *testing.T) {
	study := write(t, "study.yaml", "traces: [\"lublin:jobs=30:procs=16:load=1.2\"]\npolicies: [fcfs, easy]\nbounds: true\nreplications: 3\nmeasures: [mean_wait, gap_mean_wait]\nbaseline: fcfs\n")
	dir := filepath.Join(t.TempDir(), "out")
	o := swept(t, study, "--out", dir)
	require.Zero(t, o.code, o.stderr)
	for _, row := range table(t, filepath.Join(dir, "results.csv")) {
		require.InDelta(t, numberOf(t, row["mean_wait"]), numberOf(t, row["least_mean_wait"])+numberOf(t, row["gap_mean_wait"]), 1e-6)
	}
	verdicts := 0
	for _, row := range table(t, filepath.Join(dir, "comparisons.csv")) {
		if row["measure"] == "gap_mean_wait" {
			verdicts++
			require.Less(t, numberOf(t, row["difference"]), 0.0)
		}
	}
	require.Positive(t, verdicts)
	require.Contains(t, call("report", dir, "--table", "markdown", "--measure", "gap_mean_wait").stdout, "gap mean wait, s")
}
