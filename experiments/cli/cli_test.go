package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// asCommand, set in the environment, makes the test program the command.
const asCommand = "GRIDSLOT_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	switch os.Getenv(asCommand) {
	case "":
	case withBadPolicies:
		os.Exit(Main(badPolicies))
	default:
		os.Exit(Main(Extend{}))
	}
	os.Exit(m.Run())
}

// process is a call of the command as a process of its own.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

type outcome struct {
	code           int
	stdout, stderr string
}

// call runs the command within the test.
func call(args ...string) outcome { return callWith("", args...) }

// succeed calls the command, which must succeed.
func succeed(t require.TestingT, args ...string) outcome { return exits(t, exitOK, args...) }

// exits calls the command, which must end with an exit code.
func exits(t require.TestingT, code int, args ...string) outcome {
	got := call(args...)
	require.Equal(t, code, got.code, "%v\n%s", args, got.stderr)
	return got
}

// ran runs simulate, which must succeed, into a folder of its own, and returns that.
func ran(t *testing.T, args ...string) (dir string) {
	dir = t.TempDir()
	succeed(t, append([]string{"simulate", "--out", dir}, args...)...)
	return dir
}

func callWith(stdin string, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), Env{Args: args, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr})
	return outcome{code, stdout.String(), stderr.String()}
}

// write puts text into a file of a folder of its own and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// swf is a trace of jobs given as "submit run procs estimate" on ten processors.
func swf(jobs ...string) string {
	text := "; MaxProcs: 10\n"
	for i, job := range jobs {
		var submit, run, procs, estimate string
		fmt.Sscan(job, &submit, &run, &procs, &estimate)
		text += fmt.Sprintf("%d %s -1 %s %s -1 -1 %s %s -1 1 1 1 -1 -1 -1 -1 -1\n", i+1, submit, run, procs, procs, estimate)
	}
	return text
}

var smallTrace = swf("0 100 6 100", "1 100 6 100", "2 50 4 90", "3 10 1 10")

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}

func TestSimulateWithoutATraceRunsTheSample(t *testing.T) {
	got := succeed(t, "simulate")
	require.Empty(t, got.stderr, "no progress bar where there is no terminal")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 4)
	for i, policy := range []string{"policy", "fcfs", "easy", "conservative"} {
		require.True(t, strings.HasPrefix(lines[i], policy+" "), lines[i])
	}
}

func TestSimulateWritesItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	succeed(t, "simulate", write(t, "a.swf", smallTrace), "--policy", "easy,fcfs:order=wfp3", "--out", dir)
	require.Equal(t, []string{
		"jobs-easy.csv", "jobs-fcfs-order=wfp3.csv", "manifest.json", "queue-easy.csv", "queue-fcfs-order=wfp3.csv", "summary.csv",
	}, files(t, dir))

	jobs := strings.Split(read(t, dir, "jobs-easy.csv"), "\n")
	require.Equal(t, "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata,user_id,bounded_slowdown,estimate,actual_runtime,backfilled,group_id,queue_id", jobs[0])
	require.Len(t, jobs, 6)
	require.Equal(t, "time,queued_jobs,queued_processors,busy_processors", strings.Split(read(t, dir, "queue-easy.csv"), "\n")[0])

	summary, err := csv.NewReader(strings.NewReader(read(t, dir, "summary.csv"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, "policy jobs killed rejected makespan mean_wait median_wait p95_wait max_wait mean_bounded_slowdown mean_turnaround utilization backfilled rounds events cpu_seconds waiting offered_load", strings.Join(summary[0], " "))
	require.Equal(t, []string{"easy", "4"}, summary[1][:2])
	require.Equal(t, []string{"fcfs:order=wfp3", "4"}, summary[2][:2])

	var m metrics.Manifest
	require.NoError(t, json.Unmarshal([]byte(read(t, dir, "manifest.json")), &m))
	require.Equal(t, "a.swf", m.Trace.Name)
	require.Len(t, m.Trace.SHA256, 64)
	require.Equal(t, []string{"gridslot", "simulate"}, m.Command[:2])
	require.Equal(t, "10", m.Settings["procs"])
	require.Equal(t, "instant", m.Settings["pass"])
	require.Len(t, m.Runs, 2)
	require.NotEqual(t, m.Runs[0].Fingerprint, m.Runs[1].Fingerprint)
	require.False(t, m.End.Before(m.Start))
	require.Empty(t, m.Stopped)
}

func TestSimulateReadsStandardInput(t *testing.T) {
	got := callWith(smallTrace, "simulate", "-", "--format", "csv", "--policy", "easy")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "\neasy,4,")
}

func TestFormatsOfTheSummary(t *testing.T) {
	path := write(t, "a.swf", smallTrace)
	var rows []metrics.Summary
	got := call("simulate", path, "--format", "json")
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &rows))
	require.Len(t, rows, 3)
	require.Equal(t, "conservative", rows[2].Policy)

	got = call("simulate", path, "--format", "csv")
	table, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	require.NoError(t, err)
	require.Len(t, table, 4)
}

// The facts of this schedule, drawn (10 processors, EASY):
//
//	job 1  6 procs  [0, 100)
//	job 2  6 procs  waits for job 1: [100, 200)
//	job 3  4 procs  says 90, takes 50: backfilled at 2, ends at 52
//	job 4  1 proc   says 10: no room until job 3 ends
func TestFlagsReachTheSimulation(t *testing.T) {
	path := write(t, "a.swf", smallTrace)
	overrunning := write(t, "b.swf", swf("0 100 10 60", "5 10 10 10"))
	for _, c := range []struct {
		args []string
		path string
		want map[string]string // of job rows: "id column" -> value
	}{
		{args: []string{"--policy=easy"}, want: map[string]string{"3 starting_time": "2", "3 backfilled": "1", "2 starting_time": "100", "4 starting_time": "52"}},
		{args: []string{"--policy=fcfs"}, want: map[string]string{"3 starting_time": "100", "3 backfilled": "0"}},
		{args: []string{"--policy=easy", "--procs=20"}, want: map[string]string{"2 starting_time": "1"}},
		{args: []string{"--policy=easy", "--estimates=exact"}, want: map[string]string{"3 requested_time": "50"}},
		{args: []string{"--policy=easy", "--estimates=factor:3"}, want: map[string]string{"3 requested_time": "150"}},
		{args: []string{"--policy=easy", "--skip=1", "--first=2", "--shift"}, want: map[string]string{"2 starting_time": "0", "3 submission_time": "1"}},
		{args: []string{"--policy=easy", "--allocation=none"}, want: map[string]string{"1 allocated_resources": ""}},
		{args: []string{"--policy=easy", "--allocation=count"}, want: map[string]string{"1 allocated_resources": "6"}},
		{args: []string{"--policy=easy"}, want: map[string]string{"1 allocated_resources": "0-5", "3 allocated_resources": "6-9"}},
		{args: []string{"--policy=fcfs"}, path: overrunning, want: map[string]string{"1 final_state": "COMPLETED_WALLTIME_REACHED", "2 starting_time": "60"}},
		{args: []string{"--policy=fcfs", "--overrun=extend"}, path: overrunning, want: map[string]string{"1 execution_time": "100", "1 requested_time": "60", "2 starting_time": "100"}},
		{args: []string{"--policy=fcfs", "--overrun=raise"}, path: overrunning, want: map[string]string{"1 requested_time": "100", "2 starting_time": "100"}},
	} {
		if c.path == "" {
			c.path = path
		}
		dir := ran(t, append([]string{c.path}, c.args...)...)
		table, err := csv.NewReader(strings.NewReader(read(t, dir, "jobs-"+strings.TrimPrefix(c.args[0], "--policy=")+".csv"))).ReadAll()
		require.NoError(t, err)
		cells := map[string]string{}
		for _, row := range table[1:] {
			for i, column := range table[0] {
				cells[row[0]+" "+column] = row[i]
			}
		}
		for cell, want := range c.want {
			require.Equal(t, want, cells[cell], "%v: job %s", c.args, cell)
		}
	}
}

func TestCompressionCanBeTurnedOff(t *testing.T) {
	// Job 1 says 100 and takes 10; job 2, planned for 100, moves up only by
	// compression.
	path := write(t, "a.swf", swf("0 10 10 100", "1 10 10 10"))
	wait := func(args ...string) float64 {
		var rows []metrics.Summary
		got := call(append([]string{"simulate", path, "--format=json", "--policy"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &rows), got.stderr)
		return rows[0].MaxWait
	}
	require.EqualValues(t, 9, wait("conservative"))
	require.EqualValues(t, 99, wait("conservative", "--compression=off"))
	require.EqualValues(t, 99, wait("conservative:compression=off"))
	require.EqualValues(t, 9, wait("conservative:compression=on", "--compression=off"))
}

func TestFilesAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	results := func(workers string) map[string]string {
		dir := ran(t, "--policy=fcfs,easy,conservative,easy-sjbf,easy:order=wfp3", "--estimates=tsafrir", "--first=1500", "--workers", workers)
		texts := map[string]string{}
		for _, name := range files(t, dir) {
			texts[name] = read(t, dir, name)
		}
		// Processor time and the wall clock are not the simulation's.
		summary, err := csv.NewReader(strings.NewReader(texts["summary.csv"])).ReadAll()
		require.NoError(t, err)
		cpu := slices.Index(summary[0], "cpu_seconds")
		for i := range summary {
			summary[i] = slices.Delete(summary[i], cpu, cpu+1)
		}
		texts["summary.csv"] = fmt.Sprint(summary)
		var m metrics.Manifest
		require.NoError(t, json.Unmarshal([]byte(texts["manifest.json"]), &m))
		texts["manifest.json"] = fmt.Sprint(m.Runs, m.Settings, m.Trace, m.Seed)
		return texts
	}
	one, two := results("1"), results("2")
	require.Len(t, one, 12)
	require.Equal(t, one, two)
}

func TestWrongUsageIsCode2AndSaysWhatIsWanted(t *testing.T) {
	path := write(t, "a.swf", smallTrace)
	for _, c := range []struct {
		args string
		want string
	}{
		{"simulat", "unknown command \"simulat\" for \"gridslot\": did you mean \"simulate\"?"},
		{"simulate --policy esay", "did you mean \"easy\"?"},
		{"simulate --policy easy:ordr=wfp3", "did you mean \"order\"?"},
		{"simulate --predict recnt", "did you mean \"recent\"?"},
		{"simulate --correct tsafir", "did you mean \"tsafrir\"?"},
		{"simulate --victims kil --outages exponential", "did you mean \"kill\"?"},
		{"simulate --outages expnential:mtbf=30d:repair=4h", "did you mean \"exponential\"?"},
		{"simulate --overrun raize", "did you mean \"raise\"?"},
		{"window problem.json --algorithm maq", "did you mean \"maxq\"?"},
		{"trace fetch KTH-SP2-1996-2.1-cnl", "did you mean \"KTH-SP2-1996-2.1-cln\"?"},
		{"reproduce alp-apm", "did you mean \"alp-amp\"?"},
		{"plot study --where estimates=user", "unknown flag: --where: values of parameters are arguments, as in gridslot plot study lines estimates=user"},
		{"simulate --polcy easy", "unknown flag: --polcy: did you mean \"--policy\"?"},
		{"simulate a b", "at most 1 arg"},
		{"simulate --policy eazy", "fcfs, easy, conservative, easy-sjbf"},
		{"simulate --policy easy,easy", "twice"},
		{"simulate --policy easy:order=best", "wfp3"},
		{"simulate --pass sometimes", "instant, event or each"},
		{"simulate --compression maybe", "on or off"},
		{"simulate --estimates factor:-1", "factor"},
		{"simulate --estimates guess", "user, exact, factor:F"},
		{"simulate --overrun ignore", "kill, extend or raise"},
		{"simulate --missing-estimate 0", "runtime, drop or a number"},
		{"simulate --procs-from used", "requested, allocated or max"},
		{"simulate --procs 0", "1 or more"},
		{"simulate --procs many", "--procs: want a whole number of 1 or more, not \"many\""},
		{"simulate --first -1", "--first: want a whole number of 0 or more, not \"-1\""},
		{"simulate --skip -1", "--skip: want a whole number of 0 or more, not \"-1\""},
		{"simulate --load 0", "above 0"},
		{"simulate --load NaN", "above 0"},
		{"simulate --seed -1", "--seed: want a whole number of 0 or more, not \"-1\""},
		{"simulate --format xml", "table, csv, json"},
		{"simulate --allocation all", "auto, intervals, count or none"},
		{"simulate --workers 0", "1 or more"},
		{"simulate --load inf", "above 0"},
		{"simulate --procs 2147483648", "want a whole number of 1 to 2147483647"},
		{"simulate --policy easy,css", "css needs --domain"},
		{"simulate --policy easy:finder=amp", "easy:finder=amp needs --domain"},
		{"simulate --load 0x1p-1", "--load: want a number above 0"},
		{"simulate --estimates factor:0x2", "the factor must be a number above 0"},
		{"simulate --estimates fmodel:0x2", "the largest factor must be a number"},
		{"simulate --predict request:factor=0x2", "want a number"},
		{"simulate poisson:load=0x1p-1:size=1:runtime=60", "want a number"},
		{"simulate poisson:load=0.5:size=1:runtime=lognormal/60/0x1", "want a number"},
		{"simulate poisson:load=0.5:size=1:runtime=60:cycle=day=1/0x2", "want weights"},
		{"simulate --overhead dispatch=lognormal/1s/0x1", "want a number"},
		{"simulate --overhead dispatch=lognormal/1s/1e9", "a standard deviation of the logarithm above 5"},
		{"simulate --accounts x", "--accounts: they are what Slurm's rules read: give slurm, too"},
		{"simulate --from csv", "--from: it is the format of a log, and no log is named"},
		{"simulate lublin:jobs=3 --from csv", "lublin:jobs=3 is a source"},
		{"trace info --from csv", "no log is named"},
		{"trace info lublin:jobs=3 --from swf", "is a source"},
		{"simulate --out=", "--out needs the name of a folder, and its value is empty"},
		{"simulate --until 5 --save=", "--save needs the name of a file"},
		{"sweep study.yaml --out=", "--out needs the name of a folder"},
		{"completion", "needs one of its commands"},
		{"completion tcsh", "unknown command \"tcsh\""},
		{"trace", "Usage:"},
		{"trace convert jann -", "from"},
		{"trace convert lublin:load=inf -", "load"},
		{"trace convert downey:load=1:mean-gap=1 -", "either it or mean-gap"},
		{"trace convert feitelson:time-unit=600 -", "either it or mean-gap"},
		{"trace convert feitelson:load=0.7 -", "time-unit"},
		{"trace convert lublin:exact=on -", "a load beside it"},
		{"trace convert lublin:jobs=0 -", "1 or more"},
		{"trace convert lublin:procs=0 -", "1 or more"},
		{"trace convert downey -", "either it or mean-gap"},
		{"trace convert vo:jobs=0 -", "1 or more"},
		{"trace convert lublin vo:cycles=2 -", "vo:cycles=2 is no log: it cannot be merged with others"},
		{"trace convert vo:cycles=2 lublin -", "vo:cycles=2 is no log: it cannot be merged with others"},
		{"trace convert vo --first 3 -", "--first means nothing with vo"},
		{"trace convert a.swf b.swf -  --first 3", "--first means nothing with several logs"},
		{"trace nonsense", "unknown command"},
		{"trace inof", "did you mean \"info\"?"},
		{"help polices", "did you mean \"policies\"?"},
		{"trace convert " + path, "2 or more arguments (LOG|SOURCE... OUT), not 1"},
		{"plot", "1 or more arguments (DIR [FIGURE...] [NAME=VALUE...]), and there is none"},
		{"report", "takes 1 argument (DIR), and there is none"},
		{"report a b", "takes 1 argument (DIR), not 2: a b"},
		{"sweep work a", "takes no arguments, only flags: a"},
		{"sweep shard 1/2 a b", "between 1 and 2 arguments (I/N [STUDY.yaml]), not 3"},
		{"trace convert " + path + " " + path, "overwrite itself"},
		{"trace info a b c", "at most 2 arg"},
		{"validate", "between 1 and 2 arg"},
		{"validate jobs-easy.csv --policy eazy", "fcfs, easy"},
	} {
		got := exits(t, exitUsage, strings.Fields(c.args)...)
		require.Contains(t, got.stderr, c.want, c.args)
		require.Contains(t, got.stderr, "--help", c.args)
		require.Empty(t, got.stdout, c.args)
	}
}

func TestAFileNamesItsPolicyWithParameters(t *testing.T) {
	trace, dir := write(t, "a.swf", smallTrace), t.TempDir()
	require.Equal(t, exitOK, call("simulate", trace, "--policy=easy-sjbf:reservations=2:depth=3", "--out", dir).code)
	got := succeed(t, "validate", filepath.Join(dir, "jobs-easy-sjbf-reservations=2-depth=3.csv"), trace)
	require.Empty(t, got.stderr)
}

func TestFilesOfOtherPoliciesAreToldOfAndKept(t *testing.T) {
	trace, dir := write(t, "a.swf", smallTrace), t.TempDir()
	require.Empty(t, call("simulate", trace, "--policy=fcfs,easy", "--out", dir).stderr)
	require.Empty(t, call("simulate", trace, "--policy=fcfs,easy", "--out", dir).stderr)
	got := succeed(t, "simulate", trace, "--policy=easy", "--out", dir)
	require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
	require.Contains(t, got.stderr, "not in this run, which are kept: jobs-fcfs.csv")
	require.FileExists(t, filepath.Join(dir, "jobs-fcfs.csv"))
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, args := range []string{
		"", "simulate", "validate", "report", "plot", "explain", "sweep", "reproduce", "window",
		"trace", "trace info", "trace list", "trace convert", "trace fetch", "completion",
	} {
		got := succeed(t, append(strings.Fields(args), "--help")...)
		require.Contains(t, got.stdout, "Usage:", args)
	}
}

func TestHelpListsThePoliciesAndTheirParameters(t *testing.T) {
	help := call("help", "policies").stdout
	for _, want := range []string{"easy-sjbf", "reservations=none|N|all", "wfp3", "compression=on|off"} {
		require.Contains(t, help, want)
	}
}

func TestVersionIsTold(t *testing.T) {
	require.Contains(t, call("--version").stdout, "gridslot "+Version)
}

func TestShellsCompleteCommandsAndValues(t *testing.T) {
	require.Contains(t, call("completion", "bash").stdout, "gridslot")
	require.Contains(t, call("__complete", "sim").stdout, "simulate")
	require.Contains(t, call("__complete", "simulate", "--pass", "").stdout, "instant\nevent\n")
	require.Contains(t, call("__complete", "simulate", "--policy", "").stdout, "easy-sjbf\n")
	require.Regexp(t, `(?m)^all\n(.*\n)*placement\t\S.*\n`, call("__complete", "reproduce", "").stdout)
	require.NotContains(t, call("__complete", "simulate", "--estimates", "").stdout, "factor:F")
}

func TestGeneratedTracesSimulate(t *testing.T) {
	for _, args := range []string{
		"lublin --jobs 200 --procs 64",
		"lublin --jobs 200 --procs 64 --load 0.7 --typed --estimates tsafrir",
		"downey --jobs 200 --procs 64 --load 0.7",
		"feitelson --jobs 200 --procs 64 --load 0.7 --time-unit 600",
	} {
		trace := drawn(strings.Fields(args)...)
		require.Equal(t, exitOK, trace.code, trace.stderr)
		got := callWith(trace.stdout, "simulate", "-", "--policy=easy", "--format=csv", "--strict")
		require.Equal(t, exitOK, got.code, got.stderr)
		require.Empty(t, got.stderr, "nothing to report about %s", args)
		require.Contains(t, got.stdout, "\neasy,200,0,0,")
	}
}

func TestGenerationIsRepeatable(t *testing.T) {
	a := drawn("lublin", "--jobs=50", "--seed=7").stdout
	require.Equal(t, a, drawn("lublin", "--jobs=50", "--seed=7").stdout)
	require.NotEqual(t, a, drawn("lublin", "--jobs=50", "--seed=8").stdout)
	path := filepath.Join(t.TempDir(), "a.swf.gz")
	require.Equal(t, exitOK, drawn("lublin", "--jobs=50", "--out", path).code)
	require.Equal(t, exitOK, call("simulate", path).code)
}

// toldOfALog is what is read of what trace info --format=json writes.
type toldOfALog struct {
	Jobs       int64   `json:"jobs"`
	Processors int     `json:"processors"`
	First      float64 `json:"first_submission"`
	Load       float64 `json:"offered_load"`
}

func TestTraceInfoTellsWhatIsInALog(t *testing.T) {
	path := write(t, "a.swf", smallTrace)
	got := succeed(t, "trace", "info", path)
	for _, want := range []string{"a.swf", "4 of 4 lines", "largest 6 processors", "longest 100 s"} {
		require.Contains(t, got.stdout, want)
	}
	var info toldOfALog
	require.NoError(t, json.Unmarshal([]byte(call("trace", "info", path, "--format=json").stdout), &info))
	require.EqualValues(t, 4, info.Jobs)
	require.Equal(t, 10, info.Processors)
	require.InDelta(t, (600+600+200+10)/10.0/3, info.Load, 1e-9)

	got = succeed(t, "trace", "info", write(t, "b.swf", strings.Replace(smallTrace, "MaxProcs", "Note", 1)))
	require.Contains(t, got.stdout, "neither MaxProcs nor MaxNodes")
}

func TestInfoTellsLineFieldAndReason(t *testing.T) {
	require.Equal(t, exitOK, call("trace", "info", write(t, "a.swf", smallTrace), "--check").code)
	bad := write(t, "b.swf", strings.Replace(smallTrace, "2 1 -1 100", "2 1 -1 long", 1))
	got := exits(t, exitFailed, "trace", "info", bad, "--check")
	require.Contains(t, got.stdout, `line 3: field 4 (run time): text where a number belongs: "long"`)
	require.Contains(t, got.stderr, "1 damaged")

	got = call("trace", "info", bad, "--check", "--format=csv")
	require.Contains(t, got.stdout, "damaged,not-a-number,3,4,long,\n")
	var report struct {
		Findings []struct {
			Field int `json:"field"`
		} `json:"findings"`
		Counts map[string]int64 `json:"counts"`
	}
	require.NoError(t, json.Unmarshal([]byte(call("trace", "info", bad, "--check", "--format=json").stdout), &report))
	require.EqualValues(t, 1, report.Counts["not-a-number"])
	require.Equal(t, 4, report.Findings[0].Field)

	got = exits(t, exitFailed, "trace", "info", write(t, "c.swf", swf("9 1 1 1", "3 1 1 1")), "--check")
	require.Contains(t, got.stderr, "1 out of order")
}

func TestTraceListNamesTheLogs(t *testing.T) {
	require.Contains(t, call("trace", "list").stdout, "KTH-SP2-1996-2.1-cln")
	var logs []map[string]any
	require.NoError(t, json.Unmarshal([]byte(call("trace", "list", "--format=json").stdout), &logs))
	require.NotEmpty(t, logs)
}

func TestTraceConvert(t *testing.T) {
	path := write(t, "a.swf", swf("500 100 5 100", "400 100 5 100", "700 100 5 100", "600 100 5 100"))
	dir := t.TempDir()
	for _, name := range []string{"b.swf", "b.swf.gz", "b.swf.zst"} {
		out := filepath.Join(dir, name)
		succeed(t, "trace", "convert", path, out, "--sort", "--skip=1", "--first=2", "--shift", "--load=0.5")
		var info toldOfALog
		require.NoError(t, json.Unmarshal([]byte(call("trace", "info", out, "--format=json").stdout), &info))
		require.EqualValues(t, 2, info.Jobs)
		require.EqualValues(t, 0, info.First)
		require.InDelta(t, 0.5, info.Load, 1e-9)
	}
	got := call("trace", "convert", path, "-", "--sort")
	require.Contains(t, got.stdout, "trace convert --sort=true\n2 400 -1 100")
}

func TestValidateAcceptsWhatSimulateWrites(t *testing.T) {
	for _, flags := range [][]string{
		{}, {"--pass=event"}, {"--estimates=exact"}, {"--estimates=tsafrir"}, {"--estimates=factor:2", "--load=0.8"},
		{"--overrun=raise"}, {"--overrun=extend", "--estimates=factor:0.5"}, {"--estimates=factor:0.5"},
	} {
		dir := t.TempDir()
		flags = append(flags, "--first=1000")
		require.Equal(t, exitOK, call(append([]string{"simulate", "--out", dir, "--policy=fcfs,easy,conservative,easy-sjbf"}, flags...)...).code)
		flags = slices.DeleteFunc(flags, func(f string) bool { return f == "--pass=event" }) // promises hold in either mode
		require.NoError(t, os.Remove(filepath.Join(dir, "manifest.json")))
		for _, p := range []string{"fcfs", "easy", "conservative", "easy-sjbf"} {
			got := succeed(t, "validate", filepath.Join(dir, "jobs-"+p+".csv"), settingsFile(t, flags...))
			require.Contains(t, got.stdout, "valid\n")
			require.Empty(t, got.stderr)
		}
	}
}

func TestValidateRefusesABrokenSchedule(t *testing.T) {
	trace := write(t, "a.swf", smallTrace)
	dir := ran(t, trace, "--policy=easy")
	jobs := read(t, dir, "jobs-easy.csv")
	broken := write(t, "jobs-easy.csv", strings.Replace(jobs, ",100,100,200,99,199,", ",90,100,190,89,189,", 1))
	require.NotEqual(t, jobs, read(t, broken))
	got := exits(t, exitFailed, "validate", broken, trace)
	require.Contains(t, got.stdout, "over capacity")
	require.Contains(t, got.stderr, "not a valid schedule")
}

func TestValidateTakesSettingsFromTheManifest(t *testing.T) {
	out := ran(t, "--policy", "easy", "--first", "100", "--load", "0.5")
	got := succeed(t, "validate", out+"/jobs-easy.csv")
	require.Contains(t, got.stdout, "100 jobs: ")
	require.Contains(t, got.stderr, "by "+out+"/manifest.json the run was made with --first=100 --load=0.5\n")
	got = exits(t, exitFailed, "validate", out+"/jobs-easy.csv", "--first", "99")
	require.Contains(t, got.stderr, "was made with --load=0.5\n")
	got = exits(t, exitFailed, "validate", out+"/jobs-easy.csv", settingsFile(t, "--first=100", "--load=0.6"))
	require.NotContains(t, got.stderr, "was made with")
	require.NoError(t, os.Remove(filepath.Join(out, "manifest.json")))
	require.Equal(t, 1, call("validate", out+"/jobs-easy.csv").code)
	require.Zero(t, call("validate", out+"/jobs-easy.csv", settingsFile(t, "--first=100", "--load=0.5")).code)
}

func TestValidateTakesPromisesFromThePolicy(t *testing.T) {
	trace := write(t, "a.swf", smallTrace)
	dir := ran(t, trace, "--policy=easy")
	path := filepath.Join(dir, "jobs-easy.csv")
	got := exits(t, exitFailed, "validate", path, trace, "--policy=fcfs")
	require.Contains(t, got.stdout, "out of order")
	require.Equal(t, exitOK, call("validate", path, trace, "--policy=none").code)
	renamed := filepath.Join(dir, "mine.csv")
	require.NoError(t, os.Rename(path, renamed))
	got = succeed(t, "validate", renamed, trace)
	require.Contains(t, got.stderr, "does not name a policy")
}

func TestValidateSaysWhereAFileIsDamaged(t *testing.T) {
	trace := write(t, "a.swf", smallTrace)
	for text, want := range map[string]string{
		"":                                "line 1",
		"job_id\n1\n":                     "line 1",
		rows.Jobs.Only().Header() + "\nx": "line 2",
	} {
		got := exits(t, exitFailed, "validate", write(t, "jobs-easy.csv", text), trace)
		require.Contains(t, got.stderr, want)
	}
	got := exits(t, exitFailed, "validate", filepath.Join(t.TempDir(), "none.csv"), trace)
	require.Contains(t, got.stderr, "no such file")
}

func TestPoliciesThatAreGivenSeveralTimesAreAllRun(t *testing.T) {
	trace := write(t, "a.swf", swf("0 100 1 100"))
	got := succeed(t, "simulate", trace, "--policy", "easy", "--policy", "fcfs,conservative", "--format", "csv")
	seconds := regexp.MustCompile(`,[0-9.]+(,0,[0-9.]+\n)`) // cpu_seconds, and nobody waits
	once := call("simulate", trace, "--policy", "easy,fcfs,conservative", "--format", "csv")
	require.Equal(t, seconds.ReplaceAllString(once.stdout, "$1"), seconds.ReplaceAllString(got.stdout, "$1"))
	require.Contains(t, got.stdout, "\neasy,")
	require.Contains(t, call("simulate", trace, "--policy", "easy", "--policy", "easy").stderr, "easy", "no name twice")
	require.Contains(t, drawn("vo", "--jobs", "20", "--criteria", "amp,alp").stdout, "alp")
}
