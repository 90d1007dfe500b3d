package cli

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/metrics"
)

// scenarioOf writes a scenario and a trace beside it, and returns its path.
func scenarioOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "a.swf"), []byte(smallTrace), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "booked.csv"), []byte("job_id,start,processors,duration\n101,500,10,20\n"), 0o666))
	return path
}

const aScenario = `processors: 12
workload: {trace: a.swf, estimates: exact, first: 3, overrun: raise}
flows: {reservations: booked.csv}
policies: [easy, "conservative:compression=off"]
settings: {seed: 7, pass: event, compression: off, allocation: count}
`

func manifestOf(t *testing.T, dir string) (m metrics.Manifest) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(read(t, dir, "manifest.json")), &m))
	return m
}

func TestAScenarioFileSaysItAll(t *testing.T) {
	path := scenarioOf(t, aScenario)
	byHand, byFile := t.TempDir(), t.TempDir()
	got := succeed(t, "simulate", path, "--out", byFile)
	dir := filepath.Dir(path)
	got = call("simulate", filepath.Join(dir, "a.swf"), "--procs=12", "--estimates=exact", "--first=3", "--overrun=raise",
		"--reservations="+filepath.Join(dir, "booked.csv"), "--policy=easy,conservative:compression=off", "--seed=7", "--pass=event",
		"--compression=off", "--allocation=count", "--out", byHand)
	require.Zero(t, got.code, got.stderr)
	for _, name := range files(t, byHand) {
		if name != "manifest.json" && name != "summary.csv" { // times
			require.Equal(t, read(t, byHand, name), read(t, byFile, name), name)
		}
	}
	hand, file := manifestOf(t, byHand), manifestOf(t, byFile)
	require.Equal(t, hand.Runs, file.Runs)
	require.Equal(t, aScenario, file.Settings["scenario"])
	for key, want := range hand.Settings {
		require.Equal(t, want, file.Settings[key], key)
	}
	require.Equal(t, []string{"jobs-easy.csv", "queue-easy.csv"}, file.Runs[0].Files)
	require.Equal(t, "cluster", file.Settings["machine"])
}

func TestFlagsStandInPlaceOfWhatAScenarioSays(t *testing.T) {
	path, out := scenarioOf(t, aScenario), t.TempDir()
	got := succeed(t, "simulate", "--scenario", path, "--policy=fcfs", "--first=2", "--pass=instant", "--out", out)
	m := manifestOf(t, out)
	for key, want := range map[string]string{"policy": "fcfs", "first": "2", "pass": "instant", "estimates": "exact", "procs": "12", "seed": "7"} {
		require.Equal(t, want, m.Settings[key], key)
	}
	other := write(t, "b.swf", swf("0 5 1 5"))
	got = succeed(t, "simulate", other, "--scenario", path, "--format=csv")
	require.Contains(t, got.stdout, "\neasy,2,", "the other trace's job and the reservation")
}

func TestDomainsAndGridsAreScenarios(t *testing.T) {
	domain := "generate: {count: 8}\ncycle: 600\nbatches: {cycles: 2}\npolicies: [css]\n"
	got := succeed(t, "simulate", write(t, "d.yaml", domain), "--format=csv")
	require.Contains(t, got.stdout, "\ncss,40,")
	got = succeed(t, "simulate", write(t, "g.yaml", smallGrid), "--format=csv", "--first=10")
	require.Contains(t, got.stdout, "\noar,10,")

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d.yaml"), []byte(domain), 0o666))
	path := filepath.Join(dir, "whole.yaml")
	require.NoError(t, os.WriteFile(path, []byte("machine: d.yaml\npolicies: [easy]\nsettings: {seed: 3}\n"), 0o666))
	got = succeed(t, "simulate", path, "--format=csv")
	require.Contains(t, got.stdout, "\neasy,40,")
}

func TestOnEveryMachineTheSummaryBeginsTheSame(t *testing.T) {
	trace := write(t, "a.swf", smallTrace)
	domain := domainOf(t, "generate: {count: 20}\ncycle: 100\ntrace: {free: true}\npolicies: [easy]\n")
	site := write(t, "g.yaml", smallGrid)
	var headings, tables []string
	for _, args := range [][]string{{}, {"--domain", domain}, {"--grid", site}} {
		got := succeed(t, append([]string{"simulate", trace, "--format=csv"}, args...)...)
		rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
		require.NoError(t, err)
		headings = append(headings, strings.Join(rows[0], ","))
		got = call(append([]string{"simulate", trace}, args...)...)
		line, _, _ := strings.Cut(got.stdout, "\n")
		tables = append(tables, strings.Join(strings.Fields(line), " "))
	}
	require.Equal(t, headings[0]+",cost,refund,income", headings[1])
	require.True(t, strings.HasPrefix(headings[2], headings[0]+",total_execution_time,"), headings[2])
	require.Equal(t, tables[0], tables[1])
	require.True(t, strings.HasPrefix(tables[2], tables[0]+" fragments"), tables[2])
}

func TestWhatHoldsForOneMachineHoldsForAll(t *testing.T) {
	trace := write(t, "a.swf", strings.Replace(smallTrace, "2 1 -1 100", "2 1 -1 long", 1))
	domain := domainOf(t, "generate: {count: 20}\ncycle: 100\ntrace: {free: true}\npolicies: [easy]\n")
	site := write(t, "g.yaml", smallGrid)
	for _, machine := range [][]string{nil, {"--domain", domain}, {"--grid", site}} {
		out := t.TempDir()
		args := append([]string{"simulate", trace, "--skip=1", "--first=1", "--shift", "--estimates=exact", "--missing-estimate=60",
			"--pass=event", "--allocation=count", "--seed=5", "--workers=1", "--compression=off", "--out", out}, machine...)
		got := succeed(t, args...)
		require.Contains(t, got.stderr, "a.swf: 1 damaged", machine)
		m := manifestOf(t, out)
		require.Contains(t, m.Dropped, metrics.ReasonCount{Reason: "not-a-number", Count: 1})
		for key, want := range map[string]string{
			"skip": "1", "first": "1", "shift": "true", "estimates": "exact", "missing-estimate": "60",
			"pass": "event", "allocation": "count", "seed": "5", "compression": "off",
		} {
			require.Equal(t, want, m.Settings[key], "%v: %s", machine, key)
		}
		require.NotEmpty(t, m.Runs[0].Fingerprint)
		for _, name := range m.Runs[0].Files {
			require.FileExists(t, filepath.Join(out, name))
		}
	}
}

func TestWhatIsWrongWithAScenarioIsSaidWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "the file is empty: describe a machine, such as processors: 128",
		"procesors: 8\n":           `line 1, column 1: there is no key "procesors": did you mean "processors"?`,
		"processors:\n":            "processors: want a number of processors of 1 or more, at most 2147483647, not nothing",
		"processors: 0\n":          "line 1, column 13: processors: want a number of processors of 1 or more, at most 2147483647, not 0",
		"processors: 2147483648\n": "line 1, column 13: processors: want a number of processors of 1 or more, at most 2147483647, not 2147483648",
		"generate: {count: 4}\ncycle: 600\nbatches: {users: -1}\n":          "line 3, column 18: batches: users: want a number of 0 or more, not -1",
		"processors: 8\nclusters: []\n":                                     "describe one machine",
		"workload:\n  loud: 0.9\n":                                          `line 2, column 9: workload: there is no key "loud": there are trace, from, procs-from, estimates`,
		"workload:\n  load: many\n":                                         `line 2, column 9: load: want a number above 0, at most 1000, not "many"`,
		"settings: {pass: never}\n":                                         `line 1, column 18: pass: pass "never": want instant, event or each`,
		"settings: {seed: 1.5}\n":                                           "seed: want a whole number of 0 or more",
		"policies: [easy, best]\n":                                          `line 1, column 11: policies: "best" is not known: want one of fcfs`,
		"policies: [css]\n":                                                 "css needs --domain",
		"clusters: [{processors: 4}]\npolicies: [oar]\nstrategies: [oar]\n": "policies are given, too",
		"machine: study.yaml\n":                                             "the file of a machine cannot name another one",
		"machine: none.yaml\n":                                              "line 1, column 10: machine: opening the scenario",
		"flows: {reservations: none.csv}\n":                                 "none.csv",
		"workload: {trace: none.swf}\n":                                     "none.swf: no such file",
		"workload: {trace: 'lublin:jobs=x'}\n":                              `jobs is "x": want a whole number of 1 or more`,
		"generate: {}\ncycle: 1\nprocessors: 8\n":                           "describe one machine",
		"generate: {}\ncycle: 1\nprices: p.csv\n":                           "line 3, column 9: prices",
		"generate: {}\ncycle: 1\nbatches: {cycles: -1}\n":                   "line 3, column 19: batches: cycles",
	} {
		got := exits(t, exitFailed, "simulate", scenarioOf(t, text))
		require.Contains(t, got.stderr, want, "%q", text)
		require.NotContains(t, got.stderr, "strconv", "%q", text)
		require.NotContains(t, got.stderr, "unmarshal", "%q", text)
	}
	got := exits(t, exitUsage, "simulate", scenarioOf(t, aScenario), "--scenario", "b.yaml")
	require.Contains(t, got.stderr, "two scenarios")
	require.Equal(t, exitUsage, call("simulate", "").code)
	require.Equal(t, exitUsage, call("simulate", "lublin:jobs=x").code)
}

func TestASourceStandsWhereATraceDoes(t *testing.T) {
	got := succeed(t, "simulate", "lublin:jobs=200:procs=64:load=0.7", "--policy=easy", "--format=csv", "--first=150")
	require.Contains(t, got.stdout, "\neasy,150,0,0,")
	got = succeed(t, "trace", "info", "lublin:jobs=200:procs=64")
	require.Contains(t, got.stdout, "200 of 200 lines")
	require.Contains(t, call("simulate", "downey").stderr, "either it or mean-gap")
}

func TestTwoWritersDoNotShareAFolder(t *testing.T) {
	out, trace := t.TempDir(), write(t, "a.swf", smallTrace)
	held, err := outdir.Open(out)
	require.NoError(t, err)
	got := exits(t, exitFailed, "simulate", trace, "--out", out)
	require.Contains(t, got.stderr, "is writing into "+out+": wait until it has ended, or choose another folder (--out)")
	require.Empty(t, got.stdout)
	held.Close()
	require.Zero(t, call("simulate", trace, "--out", out).code)
}

func TestWhatAKilledRunLeftIsCleanedAndTold(t *testing.T) {
	out, trace := t.TempDir(), write(t, "a.swf", smallTrace)
	require.NoError(t, os.WriteFile(filepath.Join(out, ".jobs-easy.csv.00c0ffee.tmp"), nil, 0o666))
	got := succeed(t, "simulate", trace, "--out", out, "--policy=easy")
	require.Contains(t, got.stderr, "what an earlier run had left when it was killed, which is removed: .jobs-easy.csv.00c0ffee.tmp")
	require.Equal(t, []string{"jobs-easy.csv", "manifest.json", "queue-easy.csv", "summary.csv"}, files(t, out))
}

// blocked is a call of the command that waits for its standard input, or for a
// named pipe, and is interrupted then. No one sees from outside that it waits: a
// process that the signal has ended, before it listened for any, is given more time.
func blocked(t *testing.T, stdin io.Reader, args ...string) outcome {
	t.Helper()
	for pause := 300 * time.Millisecond; ; pause *= 2 {
		cmd := process(args...)
		var stderr strings.Builder
		cmd.Stdin, cmd.Stderr = stdin, &stderr
		require.NoError(t, cmd.Start())
		interrupt := time.AfterFunc(pause, func() { _ = cmd.Process.Signal(os.Interrupt) })
		kill := time.AfterFunc(pause+enough, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // the code tells
		interrupt.Stop()
		require.True(t, kill.Stop(), "%v goes on after an interrupt", args)
		if code := cmd.ProcessState.ExitCode(); code >= 0 || pause > time.Minute {
			return outcome{code: code, stderr: stderr.String()}
		}
	}
}

func TestAnInterruptEndsACallThatWaitsForItsInput(t *testing.T) {
	from, to, err := os.Pipe()
	require.NoError(t, err)
	defer from.Close()
	defer to.Close()
	for _, args := range []string{"simulate -", "trace info -", "trace info - --check", "validate jobs-easy.csv -", "window - --algorithm amp"} {
		got := blocked(t, from, strings.Fields(args)...)
		require.Equal(t, exitFailed, got.code, "%s: %s", args, got.stderr)
		require.Contains(t, got.stderr, "interrupted", args)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("no named pipes here: %s", out)
	}
	got := blocked(t, nil, "simulate", pipe)
	require.Equal(t, exitFailed, got.code, got.stderr)
	require.Contains(t, got.stderr, "interrupted; nothing was finished")
}

func TestAnInterruptEndsTheWorkOnEveryMachine(t *testing.T) {
	trace := overloaded(t)
	domain := write(t, "d.yaml", "generate: {count: 60}\ncycle: 600\nbatches: {cycles: 2000, jobs: 300}\n")
	long := write(t, "l.yaml", "generate: {count: 400}\ncycle: 6000\nbatches: {jobs: 2000}\n") // one search takes long
	site := write(t, "g.yaml", "clusters: [{processors: 64, policy: 'easy:order=wfp3'}, {processors: 64, policy: 'easy:order=wfp3'}]\n")
	for _, args := range [][]string{{"--domain", domain, "--policy=css"}, {"--domain", long, "--policy=easy:finder=csa"}, {trace, "--grid", site, "--policy=oar"}} {
		out := filepath.Join(t.TempDir(), "out")
		got := interrupted(t, exists(filepath.Join(out, ".jobs-*.tmp")), append([]string{"simulate", "--out", out}, args...)...)
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.stderr, "interrupted; nothing was finished")
		require.NoDirExists(t, out)
	}
}

func TestAScheduleIsKnownByTheManifestBesideIt(t *testing.T) {
	trace, out := write(t, "a.swf", smallTrace), t.TempDir()
	require.Zero(t, call("simulate", trace, "--policy=easy", "--out", out).code)
	path := filepath.Join(out, "mine.csv")
	require.NoError(t, os.Rename(filepath.Join(out, "jobs-easy.csv"), path))
	text := strings.Replace(read(t, out, "manifest.json"), "jobs-easy.csv", "mine.csv", 1)
	require.NoError(t, os.WriteFile(filepath.Join(out, "manifest.json"), []byte(text), 0o666))
	got := succeed(t, "validate", path, trace)
	require.Empty(t, got.stderr, "the policy is known")

	require.Zero(t, call("simulate", trace, "--grid", write(t, "g.yaml", smallGrid), "--out", out).code)
	got = succeed(t, "validate", filepath.Join(out, "jobs-oar.csv"), trace)
	require.Contains(t, got.stdout, "jobs-oar.csv: ")
}
