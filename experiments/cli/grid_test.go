package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const smallGrid = `clusters:
  - {name: big, processors: 6, speed: 2}
  - {processors: 4}
brokers: 2
strategies: [oar, rla]
network: {latency: 1}
log: true
`

func TestSimulateOnAGridWritesItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	got := succeed(t, "simulate", write(t, "a.swf", smallTrace), "--grid", write(t, "grid.yaml", smallGrid), "--out", dir, "--format", "csv")
	require.Equal(t, []string{
		"clusters-oar.csv", "clusters-rla.csv", "jobs-oar-big.csv", "jobs-oar-cluster-2.csv", "jobs-oar.csv",
		"jobs-rla-big.csv", "jobs-rla-cluster-2.csv", "jobs-rla.csv", "log-oar.txt", "log-rla.txt", "manifest.json", "summary.csv",
	}, files(t, dir))
	require.Equal(t, got.stdout, read(t, dir, "summary.csv"))
	rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(strings.Join(rows[0], ","), "policy,jobs,killed,rejected,makespan,"), "the contract's columns come first")
	require.Equal(t, []string{"oar", "4"}, rows[1][:2])
	require.Equal(t, []string{"rla", "4"}, rows[2][:2])
	require.Contains(t, read(t, dir, "manifest.json"), `"policy": "rla"`)
	require.Len(t, strings.Split(strings.TrimSpace(read(t, dir, "jobs-oar.csv")), "\n"), 5)
}

// A job's wait ends with its first fragment's: people see the fragments' own too.
func TestTheTableOfAGridHasTheWaitOfFragments(t *testing.T) {
	trace := "; MaxProcs: 10\n1 0 -1 100 10 -1 -1 10 100 -1 1 1 1 -1 -1 -1 -1 -1\n2 0 -1 100 10 -1 -1 10 100 -1 1 1 1 -1 -1 -1 -1 -1\n"
	grid := "clusters: [{processors: 10}, {processors: 5}]\nstrategies: [central]\n"
	got := succeed(t, "simulate", write(t, "a.swf", trace), "--grid", write(t, "grid.yaml", grid))
	lines := strings.Split(got.stdout, "\n")
	require.True(t, strings.HasSuffix(lines[0], "  fragments' wait"), lines[0])
	// The first takes the large cluster; of the second five tasks start at once
	// and five at 100, so that it does not wait.
	require.True(t, strings.HasSuffix(lines[1], "  33.3s"), lines[1])
	require.Contains(t, lines[1], "  0.0s  ")
}

func TestAGridTwiceIsTheSame(t *testing.T) {
	grid := write(t, "grid.yaml", strings.Replace(smallGrid, "brokers: 2", "brokers: 3\nassign: random", 1))
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.Zero(t, call("simulate", "--first", "300", "--grid", grid, "--out", a, "--policy", "rla,hybrid", "--workers", "1").code)
	require.Zero(t, call("simulate", "--first", "300", "--grid", grid, "--out", b, "--policy", "rla,hybrid", "--workers", "2").code)
	for _, name := range files(t, a) {
		if name != "manifest.json" && name != "summary.csv" { // times
			require.Equal(t, read(t, a, name), read(t, b, name), name)
		}
	}
}

func TestGridsThatCannotBe(t *testing.T) {
	grid := write(t, "grid.yaml", smallGrid)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--grid", grid, "--policy", "easy"}, exitUsage, `"easy" is not known: want one of oar`},
		{[]string{"--grid", grid, "--reservations", write(t, "r.csv", "job_id,start,processors,duration\n1,0,1,5\n")}, exitUsage, "--reservations: they are made with a cluster or a domain"},
		{[]string{"--grid", ""}, exitUsage, "--grid needs the name of a file"},
		{[]string{"--grid", write(t, "d.yaml", "clusters: [{processors: 4, name: ../../../x}]")}, exitFailed, "line 1, column 34: name: \"../../../x\" cannot be part of the name of a file"},
		{[]string{"--grid", grid, "--domain", grid}, exitUsage, "exclude each other"},
		{[]string{"--domain", grid}, exitFailed, `line 2, column 3: "clusters" is of a grid, but a domain is wanted here`},
		{[]string{"--grid", "nowhere.yaml"}, exitFailed, "opening the grid nowhere.yaml: no such file"},
		{[]string{"--grid", write(t, "a.yaml", "clusters: []")}, exitFailed, "a grid needs clusters"},
		{[]string{"--grid", write(t, "b.yaml", "clusters: [{processors: 4, sped: 1}]")}, exitFailed, "sped"},
		{[]string{"--grid", write(t, "c.yaml", "")}, exitFailed, "empty"},
	} {
		got := call(append([]string{"simulate"}, c.args...)...)
		require.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		require.Contains(t, got.stderr, c.says)
	}
}

func TestAGridOutOfReachRejectsItsJobs(t *testing.T) {
	grid := write(t, "grid.yaml", "clusters: [{processors: 10}]\nstrategies: [rla]\nnetwork: {bandwidth: 0}\n")
	got := succeed(t, "simulate", write(t, "a.swf", smallTrace), "--grid", grid, "--format", "csv")
	require.Contains(t, got.stdout, "\nrla,4,0,4,")
}

func TestSimulateWithReservations(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	booked := write(t, "booked.csv", "job_id,start,processors,duration\n101,150,10,20\n102,160,1,5\n")
	got := succeed(t, "simulate", write(t, "a.swf", smallTrace), "--reservations", booked, "--out", dir)
	require.Contains(t, got.stderr, "fcfs, easy, conservative: 1 of 6 jobs rejected")
	for _, policy := range []string{"fcfs", "easy", "conservative"} {
		rows, err := csv.NewReader(strings.NewReader(read(t, dir, "jobs-"+policy+".csv"))).ReadAll()
		require.NoError(t, err)
		seen := 0
		for _, r := range rows[1:] {
			switch r[0] {
			case "101":
				require.Equal(t, []string{"COMPLETED_SUCCESSFULLY", "150", "20"}, r[7:10], policy)
				seen++
			case "102":
				require.Equal(t, "REJECTED", r[7], policy)
				seen++
			}
		}
		require.Equal(t, 2, seen)
	}
	bad := exits(t, exitUsage, "simulate", "--reservations", write(t, "bad.csv", "job_id,start,processors,duration\n101,150,0,20\n"))
	require.Contains(t, bad.stderr, "processors must be 1 or more")
}

// What the summary says of the jobs as a whole and of the sites is what the files of
// jobs say, row by row.
func TestAGridsFilesAgree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	grid := write(t, "grid.yaml", "clusters: [{name: a, processors: 96, speed: 1.5}, {name: b, processors: 64}, {name: c, processors: 48, speed: 0.5}]\nnetwork: {latency: 1}")
	got := call("simulate", "--first", "400", "--grid", grid, "--out", dir,
		"--policy", "oar,rla,round-robin,shortest-queue,dispatch,dispatch:by=random,dispatch:by=least-jobs:age=600,earliest")
	require.Equal(t, exitOK, got.code, got.stderr)
	table := func(name string) (rows []map[string]string) {
		all, err := csv.NewReader(strings.NewReader(read(t, dir, name))).ReadAll()
		require.NoError(t, err)
		for _, cells := range all[1:] {
			row := map[string]string{}
			for i, c := range cells {
				row[all[0][i]] = c
			}
			rows = append(rows, row)
		}
		return rows
	}
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return x
	}
	for _, s := range table("summary.csv") {
		file := strings.ReplaceAll(s["policy"], ":", "-")
		makespan := number(s["makespan"])
		work, capacity := 0.0, 0.0
		longest := map[string]float64{}
		for _, k := range table("clusters-" + file + ".csv") {
			busy := 0.0
			rows := table("jobs-" + file + "-" + k["cluster"] + ".csv")
			for _, r := range rows {
				busy += number(r["requested_number_of_resources"]) * number(r["execution_time"])
				longest[r["job_id"]] = max(longest[r["job_id"]], number(r["execution_time"]))
			}
			require.InEpsilon(t, busy/(number(k["processors"])*makespan), number(k["utilization"]), 1e-9)
			require.Equal(t, k["jobs"], strconv.Itoa(len(rows)))
			work += busy * number(k["speed"])
			capacity += number(k["processors"]) * number(k["speed"])
		}
		require.InEpsilon(t, work/(capacity*makespan), number(s["utilization"]), 1e-9, file)
		slowdown, ended := 0.0, 0.0
		for _, r := range table("jobs-" + file + ".csv") {
			if r["final_state"] == "REJECTED" {
				continue
			}
			ended++
			own := max(1, number(r["turnaround_time"])/max(longest[r["job_id"]], 10))
			require.InDelta(t, own, number(r["bounded_slowdown"]), 1e-5*own)
			slowdown += own
		}
		require.InEpsilon(t, slowdown/ended, number(s["mean_bounded_slowdown"]), 1e-6, file)
		succeed(t, "validate", filepath.Join(dir, "jobs-"+file+".csv"), "--first", "400", "--grid", grid)
	}
}

// Sites may stop jobs: their files tell of attempts, and what cannot have been is
// found.
func TestAGridWhoseSitesPreemptIsChecked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	grid := write(t, "grid.yaml", "clusters: [{name: a, processors: 96, speed: 1.5, policy: 'selective-preemption:cost=30'}, {name: b, processors: 64, policy: time-slicing}]")
	require.Equal(t, exitOK, call("simulate", "--first", "400", "--grid", grid, "--out", dir, "--policy", "dispatch").code)
	file := filepath.Join(dir, "jobs-dispatch.csv")
	require.Equal(t, exitOK, call("validate", file, "--first", "400", "--grid", grid).code)
	name := filepath.Join(dir, "jobs-dispatch-a.csv")
	rows, err := csv.NewReader(strings.NewReader(read(t, dir, "jobs-dispatch-a.csv"))).ReadAll()
	require.NoError(t, err)
	restarts := slices.Index(rows[0], "restarts")
	require.True(t, slices.ContainsFunc(rows[1:], func(row []string) bool { return row[restarts] != "0" }))
	stopped := slices.IndexFunc(rows, func(row []string) bool { return row[restarts] == "0" })
	rows[stopped][slices.Index(rows[0], "finish_time")] += "9"
	var text strings.Builder
	require.NoError(t, csv.NewWriter(&text).WriteAll(rows))
	require.NoError(t, os.WriteFile(name, []byte(text.String()), 0o666))
	got := exits(t, exitFailed, "validate", file, "--first", "400", "--grid", grid)
	require.Contains(t, got.stdout, "wrong run time")
}

// The own jobs of a site are any workload: a log, a job file whose jobs wait for others, a
// model.
func TestASiteHasOwnJobsOfAnyKind(t *testing.T) {
	log := write(t, "log.swf", swf("0 9 1 9", "200 9 1 9"))
	own := write(t, "own.csv", "id,submit,nodes,volume,runtime,after\n1,0,4,50,,\n2,10,4,20,,1+5\n")
	for local, jobs := range map[string]int{own: 4, "lublin:jobs=20:procs=4": 22} {
		dir := t.TempDir()
		grid := write(t, "grid.yaml", "clusters:\n  - {name: a, processors: 4, local: \""+local+"\"}\n  - {name: b, processors: 1, speed: 0.01}\n")
		succeed(t, "simulate", log, "--grid", grid, "--policy", "earliest", "--out", dir)
		text := read(t, dir, "jobs-earliest-a.csv")
		require.Contains(t, read(t, dir, "clusters-earliest.csv"), "a,4,1,"+strconv.Itoa(jobs)+",", text)
		if local == own {
			require.Contains(t, text, "\n2,log.swf,20,55,", "it comes 5 s after the other's end")
			require.Contains(t, text, ",1+5,")
		}
		require.Zero(t, call("validate", dir).code)
		again := ran(t, "--from-manifest", dir)
		require.Equal(t, text, read(t, again, "jobs-earliest-a.csv"))
	}
	got := exits(t, exitFailed, "simulate", log, "--grid", write(t, "grid.yaml", "clusters: [{processors: 4, local: \"-\"}]\n"))
	require.Contains(t, got.stderr, "cluster-1, jobs of its own: standard input can be read once")
	got = call("simulate", log, "--grid", write(t, "grid.yaml", "clusters: [{processors: 4, local: gone.csv}]\n"))
	require.Contains(t, got.stderr, "cluster-1, jobs of its own: ")
}

// The files of a run's sites are its own: another run in the folder replaces them without a
// word, and reads none of them.
func TestTheFilesOfSitesBelongToTheirRun(t *testing.T) {
	dir := t.TempDir()
	args := []string{"simulate", write(t, "log.swf", swf("0 9 1 9")), "--grid", write(t, "grid.yaml", "clusters: [{name: a, processors: 4}]\n"), "--policy", "earliest", "--out", dir}
	require.Zero(t, call(args...).code)
	got := succeed(t, args...)
	require.NotContains(t, got.stderr, "also holds files of policies not in this run")
	losses := filepath.Join(dir, "events-earliest-a.csv")
	require.NoError(t, os.WriteFile(losses, []byte("site,from,to,processors\na,5,6,1\n"), 0o666))
	got = exits(t, exitUsage, append(args, "--outages", losses)...)
	require.Contains(t, got.stderr, "--out: the run reads "+losses+", and would replace or remove it")
}
