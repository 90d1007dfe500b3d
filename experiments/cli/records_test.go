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

// columnsOf reads a CSV file as maps from its columns.
func columnsOf(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func TestTheFilesOfARunWithFailuresAgreeAndAreValid(t *testing.T) {
	out := t.TempDir()
	got := call("simulate", "--first", "600", "--policy", "fcfs,easy,conservative", "--out", out,
		"--outages", "exponential:mtbf=10d:repair=4h", "--victims", "checkpoint:interval=1h:cost=60s:restart=30s")
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stdout, "capacity %")
	summaries := columnsOf(t, filepath.Join(out, "summary.csv"))
	for i, c := range columnsOf(t, filepath.Join(out, "capacity.csv")) {
		busy := numberOf(t, c["useful"]) + numberOf(t, c["lost"]) + numberOf(t, c["overhead"])
		all := busy + numberOf(t, c["owners"]) + numberOf(t, c["down"]) + numberOf(t, c["idle"])
		require.InDelta(t, numberOf(t, c["capacity"]), all, 1e-3)
		require.InDelta(t, numberOf(t, summaries[i]["utilization"]), busy/all, 1e-9)
		lost := 0.0
		for _, a := range columnsOf(t, filepath.Join(out, "attempts-"+c["policy"]+".csv")) {
			lost += numberOf(t, a["lost"]) * numberOf(t, a["processors"])
		}
		require.Positive(t, lost)
		require.InDelta(t, numberOf(t, c["lost"]), lost, 1e-3)
		area, before, busyNow := 0.0, 0.0, 0.0
		for _, q := range columnsOf(t, filepath.Join(out, "queue-"+c["policy"]+".csv")) {
			area += busyNow * (numberOf(t, q["time"]) - before)
			before, busyNow = numberOf(t, q["time"]), numberOf(t, q["busy_processors"])
		}
		require.InDelta(t, busy, area, 1e-2)
		got = succeed(t, "validate", filepath.Join(out, "jobs-"+c["policy"]+".csv"), "--first", "600")
	}
}

// bent is a copy of a run's folder in which the lines of a file are others.
func bent(t *testing.T, run, bad string, bend func([]string) []string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range files(t, run) {
		text := read(t, run, file)
		if file == bad {
			text = strings.Join(bend(strings.Split(strings.TrimSuffix(text, "\n"), "\n")), "\n") + "\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	return dir
}

func TestWhatTheFilesOfARunWithFailuresHideIsFound(t *testing.T) {
	run := ran(t, "--first", "300", "--policy", "easy", "--outages", "exponential:mtbf=10d:repair=8h", "--victims", "checkpoint:interval=1h:cost=60s")
	for name, c := range map[string]struct {
		file string
		bend func([]string) []string // of the lines
		want string
	}{
		"an attempt is left out": {"attempts-easy.csv", func(lines []string) []string { return append(lines[:1:1], lines[2:]...) }, "attempt"},
		"more is kept": {"attempts-easy.csv", func(lines []string) []string {
			fields := strings.Split(lines[1], ",")
			fields[6] += "1"
			lines[1] = strings.Join(fields, ",")
			return lines
		}, "wrong run time"},
		"an attempt begins before the one in front of it has ended": {"attempts-easy.csv", func(lines []string) []string {
			for i := len(lines) - 1; i > 0; i-- {
				if fields := strings.Split(lines[i], ","); len(fields) > 2 && fields[1] == "2" {
					fields[2] = "0"
					lines[i] = strings.Join(fields, ",")
					return lines
				}
			}
			panic("no job ran twice")
		}, "two jobs on one processor"},
		"an attempt begins a second before the one in front of it has ended": {"attempts-easy.csv", func(lines []string) []string {
			end := map[string]string{} // of the first attempts, by job
			for i, line := range lines[1:] {
				fields := strings.Split(line, ",")
				if before, ok := end[fields[0]]; ok && fields[1] == "2" {
					fields[2] = strconv.Itoa(int(numberOf(t, before)) - 1)
					lines[i+1] = strings.Join(fields, ",")
					return lines
				}
				end[fields[0]] = fields[3]
			}
			panic("no job ran twice")
		}, "when the job had not ended before"},
		"a processor is, and has been for longer than since its latest outage": {"outages-easy.csv", func(lines []string) []string {
			return append(lines, "0,100000000,1,3,0,", "1,2,1,3,0,")
		}, "has 3 until"},
		"all is out of service": {"outages-easy.csv", func(lines []string) []string { return append(lines, "0,100000000,100,0-99,0,") }, "on what is down"},
		"a processor is":        {"outages-easy.csv", func(lines []string) []string { return append(lines, "0,100000000,1,3,0,") }, "on what is down"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := bent(t, run, c.file, c.bend)
			got := exits(t, exitFailed, "validate", filepath.Join(dir, "jobs-easy.csv"), "--first", "300", "--limit", "100000")
			require.Contains(t, got.stdout, c.want)
		})
	}
}

func TestAScheduleWithAdvanceReservationsIsValidWithThem(t *testing.T) {
	trace := write(t, "small.swf", swf("0 100 1 100", "1 60 2 100", "2 50 4 90", "3 10 1 10"))
	book := write(t, "book.csv", "job_id,submit,start,processors,duration\n100,5,300,3,50\n101,6,20,4,50\n")
	out := t.TempDir()
	got := succeed(t, "simulate", trace, "--policy", "easy", "--reservations", book, "--out", out)
	jobs := filepath.Join(out, "jobs-easy.csv")
	got = succeed(t, "validate", jobs, trace, "--scenario", settingsFile(t, "--reservations="+book))
	require.Contains(t, got.stdout, "6 jobs")
	got = succeed(t, "validate", jobs, trace)
	require.NoError(t, os.Remove(filepath.Join(out, "manifest.json")))
	got = exits(t, exitFailed, "validate", jobs, trace)
	require.Contains(t, got.stdout, "the trace has no such job")
	later := write(t, "later.csv", "job_id,submit,start,processors,duration\n100,5,301,3,50\n101,6,20,4,50\n")
	got = exits(t, exitFailed, "validate", jobs, trace, "--scenario", settingsFile(t, "--reservations="+later))
	require.Contains(t, got.stdout, "promise broken")
}

func TestJobsThatFollowOthersAreValidOffline(t *testing.T) {
	jobs := write(t, "chain.csv", "id,submit,nodes,volume,runtime,after\n1,0,2,50,40,\n2,0,1,30,30,1:ok+5\n3,0,4,60,100,\n4,1,1,10,10,3:ok\n")
	out := t.TempDir()
	got := succeed(t, "simulate", jobs, "--procs", "4", "--policy", "easy", "--out", out)
	path := filepath.Join(out, "jobs-easy.csv")
	rows := columnsOf(t, path)
	require.Equal(t, []string{"", "1:ok+5", "", "3:ok"}, []string{rows[0]["after"], rows[1]["after"], rows[2]["after"], rows[3]["after"]})
	got = succeed(t, "validate", path, jobs, "--procs", "4")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "1:ok+5", "3:ok+5", 1)), 0o644))
	got = exits(t, exitFailed, "validate", path, jobs, "--procs", "4")
	require.Contains(t, got.stdout, "before its turn")
}

func TestJobsThatAreResizedAreValidOffline(t *testing.T) {
	for name, flags := range map[string][]string{
		"killed at their estimates":    {"--first=200", "--moldable=linear"},
		"that run on":                  {"--first=200", "--moldable=amdahl:serial=0.1", "--overrun=extend"},
		"whose estimates are too high": {"--first=200", "--moldable=amdahl:serial=0.1", "--estimates=factor:5"},
		"whose estimates are raised":   {"--first=200", "--moldable=amdahl:serial=0.1", "--overrun=raise"},
	} {
		t.Run(name, func(t *testing.T) {
			out := ran(t, append([]string{"--policy", "equipartition:cost=30"}, flags...)...)
			require.Contains(t, read(t, out, "attempts-equipartition-cost=30.csv"), ",resized,")
			succeed(t, "validate", filepath.Join(out, "jobs-equipartition-cost=30.csv"), settingsFile(t, flags...))
		})
	}
}

func TestWhatTheAttemptsOfResizedJobsHideIsFound(t *testing.T) {
	run := t.TempDir()
	got := call("simulate", "--first", "200", "--moldable", "amdahl:serial=0.1", "--policy", "equipartition", "--out", run,
		"--outages", "exponential:mtbf=5d:repair=8h", "--victims", "checkpoint:interval=1h:cost=60s:restart=30s")
	require.Zero(t, got.code, got.stderr)
	got = succeed(t, "validate", filepath.Join(run, "jobs-equipartition.csv"), "--first", "200")
	// change changes a field of the first row that has this end.
	change := func(end string, field int, to func(string) string) func([]string) []string {
		return func(lines []string) []string {
			for i, line := range lines {
				if fields := strings.Split(line, ","); fields[9] == end {
					fields[field] = to(fields[field])
					lines[i] = strings.Join(fields, ",")
					return lines
				}
			}
			panic("no attempt ended so")
		}
	}
	for name, c := range map[string]struct {
		bend func([]string) []string
		want string
	}{
		"it was preempted":    {change("resized", 9, func(string) string { return "requeued" }), "restarts is"},
		"it had ended":        {change("resized", 9, func(string) string { return "finished" }), "out of place"},
		"it was only resized": {change("requeued", 9, func(string) string { return "resized" }), "restarts is"},
		"less is kept": {func(lines []string) []string {
			less := change("resized", 6, func(kept string) string { return strconv.Itoa(int(numberOf(t, kept)) - 1) })
			return less(change("resized", 7, func(string) string { return "1" })(lines))
		}, "of its run time were left"},
		"another shape": {change("resized", 4, func(string) string { return "99" }), "99 processors instead of"},
		"a pause":       {change("resized", 3, func(at string) string { return strconv.Itoa(int(numberOf(t, at)) - 1) }), "the job was resized at"},
	} {
		t.Run(name, func(t *testing.T) {
			got := exits(t, exitFailed, "validate", filepath.Join(bent(t, run, "attempts-equipartition.csv", c.bend), "jobs-equipartition.csv"), "--first", "200", "--limit", "1000")
			require.Contains(t, got.stdout, c.want)
		})
	}
}

func TestARunUnderFeedbackIsValidByItsRule(t *testing.T) {
	log := write(t, "log.swf", sessions)
	for _, flags := range []string{"", "--shift", "--skip=1", "--skip=2 --shift", "--moldable=linear"} {
		for _, policy := range []string{"easy", "equipartition"} {
			out := t.TempDir()
			path := filepath.Join(out, "jobs-"+policy+".csv")
			given := append([]string{"--feedback"}, strings.Fields(flags)...)
			succeed(t, append([]string{"simulate", log, "--policy", policy, "--out", out}, given...)...)
			succeed(t, "validate", path, log)
			require.NoError(t, os.Remove(filepath.Join(out, "manifest.json")))
			succeed(t, "validate", path, log, "--scenario", settingsFile(t, given...))
		}
	}
}

func TestASubmissionThatIsNotByTheEndsOfOthersIsFound(t *testing.T) {
	log := write(t, "log.swf", sessions)
	run := ran(t, log, "--feedback", "--policy", "easy")
	for _, c := range []struct{ from, to, want string }{
		{"4,log.swf,100,307,", "4,log.swf,100,950,", "submission_time is 950, and those that it follows have ended at 307"},
		{",3,1,1\n5,", ",,1,1\n5,", "after has other jobs than those that it was to wait for"},
		{",3,1,1\n5,", ",2,1,1\n5,", "after has other jobs than those that it was to wait for"},
	} {
		dir := bent(t, run, "jobs-easy.csv", func(lines []string) []string {
			text := strings.Replace(strings.Join(lines, "\n"), c.from, c.to, 1)
			require.NotEqual(t, strings.Join(lines, "\n"), text)
			return strings.Split(text, "\n")
		})
		got := exits(t, exitFailed, "validate", filepath.Join(dir, "jobs-easy.csv"), log)
		require.Contains(t, got.stdout, c.want)
	}
}

func TestAScheduleOfAnotherTraceIsOneError(t *testing.T) {
	out := t.TempDir()
	got := succeed(t, "simulate", "--first", "60", "--policy", "easy", "--out", out, "--victims", "requeue", "--outages", "exponential:mtbf=10d:repair=4h")
	path := filepath.Join(out, "jobs-easy.csv")
	for _, c := range []struct {
		trace []string
		want  string
	}{
		{[]string{write(t, "other.swf", sessions)}, "60 of the 60 rows, the first in line 2, are of no job of this workload"},
		{[]string{settingsFile(t, "--skip=60", "--first=60")}, "60 of the 60 rows, the first in line 2, are of no job of this workload"},
		{[]string{settingsFile(t, "--first=60", "--shift")}, "60 of the 60 rows, the first in line 2"},
		{[]string{"--first", "20"}, "40 of the 60 rows, the first in line 22"},
	} {
		got := exits(t, exitFailed, append([]string{"validate", path}, c.trace...)...)
		require.Contains(t, got.stderr, c.want)
		require.Empty(t, got.stdout)
	}
	got = call("validate", path, "--first", "30")
	require.Contains(t, got.stderr+got.stdout, "there is no such job")
}

func TestAScheduleOfAWorkflowIsValid(t *testing.T) {
	flow, run := write(t, "fork.json", fork), t.TempDir()
	got := succeed(t, "simulate", flow, "--procs", "2", "--policy", "fcfs,heft", "--out", run)
	for _, policy := range []string{"fcfs", "heft"} {
		for _, of := range []string{flow, filepath.Join(run, "requests.csv")} {
			got = succeed(t, "validate", filepath.Join(run, "jobs-"+policy+".csv"), of, "--procs", "2")
			require.Contains(t, got.stdout, "5 jobs: 5 finished")
		}
	}
	early := bent(t, run, "jobs-fcfs.csv", func(lines []string) []string {
		return append(lines[:5], strings.Replace(lines[5], ",4:ok", ",3:ok", 1))
	})
	got = exits(t, exitFailed, "validate", filepath.Join(early, "jobs-fcfs.csv"), flow, "--procs", "2")
	require.Contains(t, got.stdout, "after has other jobs")

	nodes := domainOf(t, "nodes: nodes.csv\ncycle: 600\n", "nodes.csv", "id,performance,price\n1,1,1\n2,2,1\n")
	got = succeed(t, "simulate", flow, "--domain", nodes, "--policy", "heft", "--out", run)
	got = succeed(t, "validate", filepath.Join(run, "jobs-heft.csv"), flow, "--domain", nodes)
}

func TestWhatAWorkflowCannotTellIsWrongUsageOfValidate(t *testing.T) {
	flow := write(t, "fork.json", fork)
	for _, c := range []struct{ flags, want string }{
		{"", "give --procs, the number of processors: fork.json does not tell it"},
		{"--procs 2 --first 3", "--first: it is about a log, and fork.json is a workflow"},
	} {
		got := exits(t, exitUsage, append([]string{"validate", "jobs-easy.csv", flow}, strings.Fields(c.flags)...)...)
		require.Contains(t, got.stderr, c.want)
	}
}
