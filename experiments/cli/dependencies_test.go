package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// column is a column of a jobs-POLICY.csv, by job.
func column(t *testing.T, text, name string) map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	by := map[string]string{}
	for i, title := range rows[0] {
		if title == name {
			for _, row := range rows[1:] {
				by[row[0]] = row[i]
			}
		}
	}
	return by
}

const sessions = `; MaxProcs: 4
1 100 0 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1
2 105 0 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1
3 900 0 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 1 7
4 950 0 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 3 -1
5 960 0 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 999 5
6 970 0 100 8 -1 -1 8 100 -1 1 1 1 1 1 1 -1 -1
7 980 0 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 6 20
`

func TestUnderFeedbackJobsOfALogComeByTheEndsOfOthers(t *testing.T) {
	log := write(t, "log.swf", sessions)
	for args, want := range map[string]map[string]string{
		"":                    {"1": "100", "2": "105", "3": "207", "4": "307", "5": "960", "6": "970", "7": "990"},
		"--pass event":        {"1": "100", "2": "105", "3": "207", "4": "307", "5": "960", "6": "970", "7": "990"},
		"--shift":             {"1": "0", "2": "5", "3": "107", "4": "207", "5": "860", "6": "870", "7": "890"},
		"--skip 1":            {"2": "105", "3": "900", "4": "1000", "5": "960", "6": "970", "7": "990"},
		"--skip 2 --shift":    {"3": "0", "4": "100", "5": "60", "6": "70", "7": "90"},
		"--first 2":           {"1": "100", "2": "105"},
		"--estimates tsafrir": {"1": "100", "2": "105", "3": "207", "4": "307", "5": "960", "6": "970", "7": "990"},
	} {
		dir := ran(t, append([]string{log, "--feedback", "--policy", "easy"}, strings.Fields(args)...)...)
		require.Equal(t, want, column(t, read(t, dir, "jobs-easy.csv"), "submission_time"), args)
		if args == "" {
			require.Equal(t, map[string]string{"1": "", "2": "", "3": "1+7", "4": "3", "5": "", "6": "", "7": "6+20"}, column(t, read(t, dir, "jobs-easy.csv"), "after"))
		}
	}
}

func TestFeedbackThatChangesNothingIsTold(t *testing.T) {
	const note = "no job names another one of the log as its preceding job (field 17), so that feedback changes nothing"
	got := succeed(t, "simulate", write(t, "small.swf", swf("0 9 1 9", "1 9 1 9")), "--feedback")
	require.Equal(t, 1, strings.Count(got.stderr, note), got.stderr)
	log := write(t, "log.swf", sessions)
	require.Contains(t, call("simulate", log, "--feedback", "--skip", "4", "--first", "2").stderr, "log.swf: "+note)
	require.NotContains(t, call("simulate", log, "--feedback").stderr, note)
	require.NotContains(t, call("simulate", log, "--skip", "4", "--first", "2").stderr, note)
}

func TestWhatFeedbackCannotMeanIsWrongUsage(t *testing.T) {
	log := write(t, "log.swf", sessions)
	jobs := write(t, "jobs.csv", "id,nodes,volume\n1,1,1\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{log, "--feedback", "--load", "0.7"}, "--load: under feedback jobs come when others have ended"},
		{[]string{jobs, "--feedback", "--procs", "4"}, "--feedback: it is about the records of a log"},
		{[]string{"--feedback", "--domain", domainOf(t, batchDomain+"batches: {cycles: 3, jobs: 8}\n")}, "--feedback: it is about a trace"},
	} {
		got := exits(t, exitUsage, append([]string{"simulate"}, c.args...)...)
		require.Contains(t, got.stderr, c.want)
	}
}

func TestACycleInALogIsAnErrorThatNamesTheJobs(t *testing.T) {
	log := write(t, "log.swf", strings.Replace(sessions, " 1 -1 -1\n", " 1 4 -1\n", 1))
	got := exits(t, exitFailed, "simulate", log, "--feedback")
	require.Contains(t, got.stderr, "log.swf: jobs wait for each other, and none of them could ever come: 1 after 4 after 3 after 1")
	require.Zero(t, call("simulate", log).code, "nobody asked")
}

const pipeline = `id,submit,nodes,volume,runtime,array,after
1,0,2,60,,,
10,0,1,120,100,6,1
20,0,3,50,,,10-15:ok+30
30,0,1,10,15,,20
31,0,1,10,,,30:ok
32,5000,1,10,,,31
`

func TestEveryPolicyRunsJobsThatWaitForOthers(t *testing.T) {
	jobs := write(t, "jobs.csv", pipeline)
	domain := domainOf(t, "generate: {count: 8, performance: [1, 1]}\ncycle: 600\n")
	lists := map[string][]string{
		"--procs=4":          {"fcfs", "easy", "conservative", "easy-sjbf"},
		"--domain=" + domain: {"fcfs", "easy", "conservative", "css", "batch-slicer:k=3", "bsf:q=0.5:fill=conservative"},
	}
	for machine, policies := range lists {
		dir := t.TempDir()
		got := succeed(t, "simulate", jobs, machine, "--policy", strings.Join(policies, ","), "--out", dir)
		checked := 0
		for _, name := range files(t, dir) {
			if !strings.HasPrefix(name, "jobs-") {
				continue
			}
			checked++
			text := read(t, dir, name)
			at := func(column map[string]string, job string) float64 { return numberOf(t, column[job]) }
			submit, start, end, state := column(t, text, "submission_time"), column(t, text, "starting_time"), column(t, text, "finish_time"), column(t, text, "final_state")
			require.Len(t, submit, 11)
			latest := 0.0
			for job := 10; job <= 15; job++ {
				require.Equal(t, end["1"], submit[strconv.Itoa(job)], name)
				latest = max(latest, at(end, strconv.Itoa(job)))
			}
			require.Equal(t, latest+30, at(submit, "20"), name)
			require.GreaterOrEqual(t, at(start, "20"), latest+30)
			require.Equal(t, end["20"], submit["30"], name)
			require.Equal(t, "COMPLETED_WALLTIME_REACHED", state["30"])
			require.Equal(t, "REJECTED", state["31"], name)
			require.Equal(t, "30:ok", column(t, text, "after")["31"], name)
			require.Equal(t, end["30"], submit["31"], name)
			require.Equal(t, "5000", submit["32"], name)
		}
		require.Equal(t, len(policies), checked)
		require.Contains(t, got.stderr, "1 of 11 jobs rejected, 1 of them: a job failed, after which it was to run")
		require.Contains(t, read(t, dir, "requests.csv"), ",queue,after\n")
		require.Contains(t, read(t, dir, "requests.csv"), ",10-15:ok+30\n")

		again := t.TempDir()
		got = succeed(t, "simulate", filepath.Join(dir, "requests.csv"), machine, "--policy", strings.Join(policies, ","), "--out", again)
		require.Equal(t, schedules(t, dir), schedules(t, again))
	}
}

func TestJobsWhosePredecessorsFailedAreToldTogether(t *testing.T) {
	jobs := write(t, "jobs.csv", "id,submit,nodes,volume,runtime,after\n1,0,1,10,20,\n2,0,1,10,20,\n3,0,1,10,10,1:ok\n4,0,1,10,10,2:ok\n5,0,1,10,10,4:ok\n6,0,9,10,10,\n")
	got := succeed(t, "simulate", jobs, "--procs", "4", "--policy", "easy")
	require.Contains(t, got.stderr, "easy: 4 of 6 jobs rejected, 3 of them: a job failed, after which it was to run")
}

func TestAPredecessorThatIsNotInTheFileIsAnError(t *testing.T) {
	jobs := write(t, "jobs.jsonl", `{"id":1,"nodes":1,"volume":1,"after":"2"}`+"\n")
	got := exits(t, exitFailed, "simulate", jobs, "--procs", "4")
	require.Contains(t, got.stderr, "jobs.jsonl: job 1 is to run after job 2, and there is no job 2")
}

// A job of a grid comes when the others have ended as a whole, wherever their tasks ran.
func TestJobsOfAGridWaitForOthers(t *testing.T) {
	jobs := write(t, "jobs.csv", pipeline)
	grids := map[string]string{
		"oar,earliest,rla":  "clusters: [{processors: 3}, {processors: 2, policy: conservative}]\nnetwork: {latency: 0.5}\n",
		"earliest":          "clusters: [{processors: 3}]\ndomains: [{generate: {count: 4, performance: [1, 1]}, cycle: 600}]\n",
		"earliest,dispatch": "clusters: [{processors: 3}]\ngrids: [{name: in, clusters: [{processors: 3}]}]\n",
	}
	for policies, text := range grids {
		grid, dir := write(t, "grid.yaml", text), t.TempDir()
		got := succeed(t, "simulate", jobs, "--grid", grid, "--policy", policies, "--out", dir)
		for _, name := range strings.Split(policies, ",") {
			text := read(t, dir, "jobs-"+name+".csv")
			submit, end, state := column(t, text, "submission_time"), column(t, text, "finish_time"), column(t, text, "final_state")
			latest := 0.0
			for job := 10; job <= 15; job++ {
				require.Equal(t, end["1"], submit[strconv.Itoa(job)], name)
				latest = max(latest, numberOf(t, end[strconv.Itoa(job)]))
			}
			require.Equal(t, latest+30, numberOf(t, submit["20"]), name)
			require.Equal(t, end["20"], submit["30"], name)
			require.Equal(t, "REJECTED", state["31"], name)
			require.Equal(t, end["30"], submit["31"], name)
			require.Equal(t, "5000", submit["32"], name)
			require.Equal(t, "30:ok", column(t, text, "after")["31"], name)
		}
		require.Zero(t, call("validate", dir).code, policies)
		again := ran(t, filepath.Join(dir, "requests.csv"), "--grid", grid, "--policy", policies)

		path := filepath.Join(dir, "jobs-"+strings.Split(policies, ",")[0]+".csv")
		ends := func(dir string) map[string]string { return column(t, read(t, dir, filepath.Base(path)), "finish_time") }
		require.Equal(t, ends(dir), ends(again))
		text := read(t, dir, filepath.Base(path))
		at := strings.Index(text, "\n20,")
		submit := column(t, text, "submission_time")["20"]
		late := text[:at] + strings.Replace(text[at:], ","+submit+",", ",7,", 1)
		require.NoError(t, os.WriteFile(path, []byte(late), 0o666))
		got = exits(t, exitFailed, "validate", path)
		require.Contains(t, got.stdout, "submission_time is 7, and those that it follows have ended at "+submit)
	}
}

// Outages go on while a job that waits for others is still to come, to a broker or to the
// queue of a site.
func TestOutagesOfAGridGoOnWhileJobsWaitForOthers(t *testing.T) {
	waits := write(t, "jobs.csv", "id,submit,nodes,volume,runtime,after\n1,0,1,10,,\n2,0,1,10,,1+1000\n")
	short := write(t, "short.swf", swf("0 9 1 9"))
	for jobs, grid := range map[string]string{waits: "clusters: [{processors: 2}]\n", short: "clusters: [{processors: 2, local: \"" + waits + "\"}]\n"} {
		dir := ran(t, jobs, "--grid", write(t, "grid.yaml", grid), "--policy", "earliest", "--outages", "exponential:mtbf=100:repair=10")
		rows := strings.Split(strings.TrimSpace(read(t, dir, "outages-earliest.csv")), "\n")
		require.Greater(t, len(rows), 8, "of two processors in a thousand seconds: %v", rows)
	}
}

func TestUnderFeedbackJobsOfAGridComeByTheEndsOfOthers(t *testing.T) {
	dir := ran(t, write(t, "log.swf", sessions), "--feedback", "--grid", write(t, "grid.yaml", "clusters: [{processors: 4}]\n"), "--policy", "earliest")
	want := map[string]string{"1": "100", "2": "105", "3": "207", "4": "307", "5": "960", "6": "970", "7": "990"}
	require.Equal(t, want, column(t, read(t, dir, "jobs-earliest.csv"), "submission_time"))
	require.Zero(t, call("validate", dir).code)
}

const fork = `{"name": "fork", "schemaVersion": "1.5", "workflow": {
  "specification": {"tasks": [
    {"name": "a", "id": "a", "parents": [], "children": ["b", "c", "d"]},
    {"name": "b", "id": "b", "parents": ["a"], "children": []},
    {"name": "c", "id": "c", "parents": ["a"], "children": []},
    {"name": "d", "id": "d", "parents": ["a"], "children": ["e"]},
    {"name": "e", "id": "e", "parents": ["d"], "children": []}]},
  "execution": {"makespanInSeconds": 0, "executedAt": "", "tasks": [
    {"id": "a", "runtimeInSeconds": 10}, {"id": "b", "runtimeInSeconds": 30}, {"id": "c", "runtimeInSeconds": 30},
    {"id": "d", "runtimeInSeconds": 20}, {"id": "e", "runtimeInSeconds": 40, "coreCount": 2}]}}}`

func TestAWorkflowIsATrace(t *testing.T) {
	flow, dir := write(t, "fork.json", fork), t.TempDir()
	succeed(t, "simulate", flow, "--procs", "2", "--policy", "fcfs,heft", "--out", dir)
	require.Equal(t, map[string]string{"1": "0", "2": "10", "3": "10", "4": "40", "5": "60"}, column(t, read(t, dir, "jobs-fcfs.csv"), "starting_time"))
	require.Equal(t, map[string]string{"1": "0", "2": "10", "3": "80", "4": "10", "5": "40"}, column(t, read(t, dir, "jobs-heft.csv"), "starting_time"), "the longest way out is first, and what it waits for is kept")

	nodes := domainOf(t, "nodes: nodes.csv\ncycle: 600\n", "nodes.csv", "id,performance,price\n1,1,1\n2,2,1\n")
	succeed(t, "simulate", flow, "--domain", nodes, "--policy", "heft", "--out", dir)
	require.Equal(t, map[string]string{"1": "0", "2": "15", "3": "5", "4": "5", "5": "35"}, column(t, read(t, dir, "jobs-heft.csv"), "starting_time"))
}

func TestWhatIsNoWorkflowIsSaid(t *testing.T) {
	got := exits(t, exitFailed, "simulate", write(t, "x.json", `{"instances": []}`), "--procs", "2")
	require.Contains(t, got.stderr, "x.json: workflow: this is no workflow in the format of WfCommons")
	got = exits(t, exitUsage, "simulate", write(t, "fork.json", fork), "--procs", "2", "--first", "3")
	require.Contains(t, got.stderr, "--first: it is about a log, and fork.json is a workflow")
	got = call("simulate", write(t, "fork.json", fork))
	require.Contains(t, got.stderr, "procs: give the number of processors")
}

// Under feedback submissions are others under every policy.
func TestFeedbackOnADomainLeavesNoRequests(t *testing.T) {
	dir := t.TempDir()
	nodes := domainOf(t, "nodes: nodes.csv\ncycle: 600\n", "nodes.csv", "id,performance,price\n1,1,1\n2,1,1\n3,1,1\n4,1,1\n")
	succeed(t, "simulate", write(t, "log.swf", sessions), "--feedback", "--domain", nodes, "--policy", "easy", "--out", dir)
	require.Equal(t, "207", column(t, read(t, dir, "jobs-easy.csv"), "submission_time")["3"])
	require.NotContains(t, files(t, dir), "requests.csv")
}
