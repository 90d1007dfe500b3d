package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
)

// withBadPolicies, as the value of asCommand, makes the test program a command that
// has policies which do harm.
const withBadPolicies = "bad"

var badPolicies = Extend{Policies: policy.Table[entity.Policy]{
	bad("panics", func() { panic("the policy is at a loss") }),
	bad("crashes", func() {
		go panic("nobody recovers here")
		select {}
	}),
	bad("exits", func() { os.Exit(7) }),
	bad("hangs", func() {
		for { //nolint
			runtime.Gosched()
		}
	}),
	bad("eats", func() {
		for held := [][]byte{}; ; {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			if held = append(held, b); len(held) > 1000 {
				select {} // enough for whoever watches, if not at once
			}
		}
	}),
	bad("waits", func() {
		if mark := os.Getenv(goOn); mark != "" {
			_ = os.WriteFile(fmt.Sprintf("%s.%d", mark, os.Getpid()), nil, 0o666) // it waits
		}
		for os.Getenv(goOn) != "" {
			if _, err := os.Stat(os.Getenv(goOn)); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}),
	bad("flaky", func() {
		if os.Getenv(goOn) == "" {
			panic("not yet")
		}
	}),
}}

// goOn names a file for which the policy "waits" waits.
const goOn = "GRIDSLOT_TEST_GO_ON"

func bad(name string, do func()) policy.Entry[entity.Policy] {
	return policy.Entry[entity.Policy]{Name: name, Text: "does harm", New: func(*policy.Args) entity.Policy { return harm{name, do} }}
}

type harm struct {
	name string
	do   func()
}

func (h harm) Name() string { return h.name }

func (h harm) Schedule(r *entity.Round) {
	h.do()
	backfill.FCFS{}.Schedule(r)
}

// runsOf is a study of n runs that takes about a hundredth of a second each.
func runsOf(t *testing.T, n int, policies ...string) string {
	t.Helper()
	if len(policies) == 0 {
		policies = []string{"fcfs", "easy"}
	}
	return write(t, "study.yaml", fmt.Sprintf("traces: ['lublin:jobs=300']\npolicies: [%s]\nreplications: %d\n", strings.Join(policies, ", "), n/len(policies)))
}

// sweepProcess is a call of sweep as a process of its own.
func sweepProcess(args ...string) *exec.Cmd {
	cmd := process(append([]string{"sweep"}, args...)...)
	cmd.Env = append(cmd.Env, asCommand+"="+withBadPolicies)
	return cmd
}

// swept runs a call of sweep.
func swept(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd := sweepProcess(args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// undisturbed are the results of a study that nothing befalls, and how many units it has.
func undisturbed(t *testing.T, study string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "undisturbed")
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	return read(t, dir, "results.csv")
}

// stored are the results of units that stand in a folder, and what else is there in
// folders of units.
func stored(t *testing.T, dir string) (units, others []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		switch rel, _ := filepath.Rel(dir, path); {
		case err != nil || e.IsDir():
		case strings.HasPrefix(rel, "units"+string(filepath.Separator)) && !strings.HasPrefix(e.Name(), "."):
			units = append(units, rel)
		case strings.HasPrefix(e.Name(), "."):
			others = append(others, rel)
		}
		return err
	})
	require.NoError(t, err)
	return units, others
}

// enough is how long a test waits for what is sure to come: only a fault takes so long.
const enough = 10 * time.Minute

// until waits for so many results in a folder.
func until(t *testing.T, dir string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		units, _ := filepath.Glob(filepath.Join(dir, "units", "*", "*.json"))
		return len(units) >= n
	}, enough, time.Millisecond)
}

func TestASweepThatIsKilledAgainAndAgainGivesTheResultsOfOneThatIsNot(t *testing.T) {
	study, dir, mark := runsOf(t, 200, "fcfs", "easy", "conservative", "waits"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "mark")
	want := undisturbed(t, study)
	t.Setenv(goOn, mark) // the last fifty wait
	for _, n := range []int{1, 30, 31, 90, 150} {
		cmd := sweepProcess(study, "--out", dir)
		require.NoError(t, cmd.Start())
		until(t, dir, n)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	}
	units, _ := stored(t, dir)
	require.Len(t, units, 150)
	require.NoError(t, os.WriteFile(mark, nil, 0o666))
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, want, read(t, dir, "results.csv"))
	units, others := stored(t, dir)
	require.Len(t, units, 200)
	require.Empty(t, others)
}

// children are the processes that a process has started.
func children(pid int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		text, _ := os.ReadFile(path) // the thread may be gone
		for _, f := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(f)
			all = append(all, child)
		}
	}
	return all
}

func TestARunThatDoesHarmFailsAlone(t *testing.T) {
	study := runsOf(t, 14, "easy", "panics", "crashes", "exits", "hangs", "eats", "fcfs")
	// On a machine that has much else to do others than "hangs" are late as well: then
	// they have four times as long.
	var dir string
	var got outcome
	limit := 5
	for ; ; limit *= 4 {
		dir = filepath.Join(t.TempDir(), "out")
		got = swept(t, study, "--out", dir, "--limit", fmt.Sprintf("%ds", limit), "--memory", "400M")
		if late := regexp.MustCompile(`(?m)^ +(\d+) +time `).FindStringSubmatch(swept(t, "status", dir).stdout); limit > 60 || late != nil && late[1] == "2" {
			break
		}
	}
	require.Equal(t, exitFailed, got.code)
	require.Equal(t, "4 of 14 runs are done: "+filepath.Join(dir, "results.csv")+"\n", got.stdout)
	require.Contains(t, got.stderr, "10 runs have failed: 'gridslot sweep status "+dir+"' tells more")
	require.Equal(t, 1+4, strings.Count(read(t, dir, "results.csv"), "\n"))

	var status struct {
		Runs, Done, Failed, Missing int
		Failures                    []struct {
			Kind sweep.FailureKind
			Runs int
		}
	}
	got = swept(t, "status", dir, "--format", "json")
	require.Equal(t, exitOK, got.code)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &status))
	require.Equal(t, [4]int{14, 4, 10, 0}, [4]int{status.Runs, status.Done, status.Failed, status.Missing})
	kinds := map[sweep.FailureKind]int{}
	for _, f := range status.Failures {
		kinds[f.Kind] = f.Runs
	}
	if runtime.GOOS == "linux" {
		require.Equal(t, map[sweep.FailureKind]int{sweep.Panics: 6, sweep.Late: 2, sweep.Large: 2}, kinds)
	}
	text := swept(t, "status", dir)
	require.Equal(t, exitOK, text.code)
	for _, want := range []string{"14 runs", "4 done", "10 failed", "0 missing", "panic   first trace=lublin:jobs=300 policy=panics seed=1", "the policy is at a loss", fmt.Sprintf("it took longer than %ds", limit), "(--memory): 400 MiB"} {
		require.Contains(t, text.stdout, want)
	}
	failures, err := filepath.Glob(filepath.Join(dir, "failures", "*.json"))
	require.NoError(t, err)
	require.Len(t, failures, 10)
	all := ""
	for _, path := range failures {
		all += read(t, path)
	}
	for _, want := range []string{"panic: nobody recovers here", "exit status 7", "goroutine "} {
		require.Contains(t, all, want)
	}

	again := swept(t, study, "--out", dir)
	require.Equal(t, exitFailed, again.code)
	require.Contains(t, again.stderr, "10 runs have failed", "they are not tried again unless that is asked for")
}

func TestRetryDoesWhatHasFailedAgain(t *testing.T) {
	study, dir := runsOf(t, 20, "easy", "flaky"), filepath.Join(t.TempDir(), "out")
	require.Equal(t, exitFailed, swept(t, study, "--out", dir).code)
	require.Contains(t, swept(t, "status", dir).stdout, "10 failed")
	before := read(t, dir, "results.csv")
	t.Setenv(goOn, "yes")
	got := swept(t, "retry", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, undisturbed(t, study), read(t, dir, "results.csv"))
	require.NotEqual(t, before, read(t, dir, "results.csv"))
	require.Empty(t, files(t, filepath.Join(dir, "failures")))
	require.Equal(t, exitFailed, swept(t, "retry", t.TempDir()).code)
}

func TestAWorkerOfAnotherProgramIsRefused(t *testing.T) {
	worker := sweepProcess("work")
	in, err := worker.StdinPipe()
	require.NoError(t, err)
	out, err := worker.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	_, err = io.WriteString(in, `{"study":{"portable":{"Name":"a.yaml"},"basis":{"Build":"another"}}}`+"\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, `{"refused":"the program is not the one that has begun the study`)
	require.NoError(t, in.Close())
	require.NoError(t, worker.Wait())
}

func TestAFolderHasOneSweep(t *testing.T) {
	study, dir, mark := runsOf(t, 2, "waits"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "mark")
	t.Setenv(goOn, mark)
	cmd := sweepProcess(study, "--out", dir)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return len(children(cmd.Process.Pid)) > 0 }, enough, time.Millisecond)
	for _, second := range [][]string{{study, "--out", dir}, {"retry", dir}, {"merge", dir}, {"clean", dir}, {"shard", "1/2", study, "--out", dir}} {
		got := swept(t, second...)
		require.Equal(t, exitFailed, got.code, second)
		require.Contains(t, got.stderr, fmt.Sprintf("another gridslot (process %d) is writing into %s", cmd.Process.Pid, dir))
	}
	require.Equal(t, exitOK, swept(t, "status", dir).code, "to look is allowed")
	require.NoError(t, os.WriteFile(mark, nil, 0o666))
	require.NoError(t, cmd.Wait())
	require.Contains(t, swept(t, "status", dir).stdout, "2 done")
}

func TestShardsSideBySideAreTheWholeStudy(t *testing.T) {
	study, dir := runsOf(t, 40), filepath.Join(t.TempDir(), "out")
	var cmds []*exec.Cmd
	for i := 1; i <= 3; i++ {
		cmd := sweepProcess("shard", fmt.Sprintf("%d/3", i), study, "--out", dir, "--workers", "1")
		require.NoError(t, cmd.Start())
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		require.NoError(t, cmd.Wait())
	}
	require.NoFileExists(t, filepath.Join(dir, "results.csv"))
	got := swept(t, "merge", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, "40 of 40 runs are done: "+filepath.Join(dir, "results.csv")+"\n", got.stdout)
	want := undisturbed(t, study)
	require.Equal(t, want, read(t, dir, "results.csv"))
	usage, err := csv.NewReader(strings.NewReader(read(t, dir, "usage.csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, usage, 1+40)
	require.NoError(t, os.Remove(filepath.Join(dir, "results.csv")))
	require.Equal(t, exitOK, swept(t, study, "--out", dir).code)
	require.Equal(t, want, read(t, dir, "results.csv"))
}

func TestAShardThatIsUnderWayIsWaitedFor(t *testing.T) {
	study, dir, mark := runsOf(t, 4, "waits"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "mark")
	t.Setenv(goOn, mark)
	first := sweepProcess("shard", "1/2", study, "--out", dir)
	require.NoError(t, first.Start())
	require.Eventually(t, func() bool { return len(children(first.Process.Pid)) > 0 }, enough, time.Millisecond)
	again := sweepProcess("shard", "1/2", study, "--out", dir)
	said, err := again.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, again.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "gridslot: the shard 1/2 is under way already: waiting for its end\n", line)
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "is writing into "+dir)
	second := sweepProcess("shard", "2/2", study, "--out", dir)
	require.NoError(t, second.Start())
	require.Eventually(t, func() bool { return len(children(second.Process.Pid)) > 0 }, enough, time.Millisecond)
	require.NoError(t, os.WriteFile(mark, nil, 0o666))
	require.NoError(t, first.Wait())
	require.NoError(t, second.Wait())
	require.NoError(t, again.Wait())
	require.Contains(t, swept(t, "merge", dir).stdout, "4 of 4 runs are done")
}

func TestMergeWritesWhatIsThere(t *testing.T) {
	study, dir := runsOf(t, 20), filepath.Join(t.TempDir(), "out")
	require.Equal(t, exitOK, swept(t, "shard", "2/4", study, "--out", dir).code)
	got := swept(t, "merge", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, "5 of 20 runs are done: "+filepath.Join(dir, "results.csv")+"\n", got.stdout)
	require.Contains(t, read(t, dir, "manifest.json"), "15 runs are missing")
}

func TestADryRunTellsAndWritesNothing(t *testing.T) {
	study, dir := runsOf(t, 20), filepath.Join(t.TempDir(), "out")
	got := swept(t, study, "--dry-run", "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Regexp(t, `^20 runs: 0 are done, 0 have failed, 20 are to be done\nthey take (about|more than) \d+ (s|min) on \d+ workers, as \d+ of them tell that were tried\n$`, got.stdout)
	require.NoDirExists(t, dir)
	require.Equal(t, exitOK, swept(t, "shard", "1/2", study, "--out", dir).code)
	before := maps.Collect(filesUnder(t, dir))
	got = swept(t, study, "--dry-run", "--out", dir, "--workers", "1")
	require.Regexp(t, `^20 runs: 10 are done, 0 have failed, 10 are to be done\nthey take (about|more than) \d+ (s|min) on 1 workers?, as \d+ of them tell that were tried\n$`, got.stdout)
	require.Equal(t, before, maps.Collect(filesUnder(t, dir)))
	got = swept(t, runsOf(t, 1, "panics"), "--dry-run")
	require.Contains(t, got.stdout, "1 of those tried failed; the first: trace=lublin:jobs=300 policy=panics seed=1: at 431, policy panics panicked: the policy is at a loss")
}

// filesUnder are the files below a folder and what is in them.
func filesUnder(t *testing.T, dir string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				yield(path, read(t, path))
			}
			return err
		}))
	}
}

func TestCleanRemovesWhatIsNotOfThePlan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	require.Equal(t, exitOK, swept(t, runsOf(t, 8), "--out", dir).code)
	smaller := runsOf(t, 6, "easy", "flaky")
	got := swept(t, smaller, "--out", dir)
	require.Equal(t, exitFailed, got.code)
	want := read(t, dir, "results.csv")
	left := filepath.Join(dir, "units", "00")
	require.NoError(t, os.MkdirAll(left, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(left, ".0011.json.0123abcd.tmp"), nil, 0o666))

	got = swept(t, "clean", dir, "--dry-run")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Regexp(t, `^would remove what is there of 5 runs that are not in the plan \([0-9.]+ KiB\), and 3 failures; 3 runs stay\n$`, got.stdout)
	units, _ := stored(t, dir)
	require.Len(t, units, 8)
	got = swept(t, "clean", dir)
	require.Regexp(t, `^removing what is there of 5 runs that are not in the plan \([0-9.]+ KiB\), and 3 failures; 3 runs stay\n$`, got.stdout)
	units, others := stored(t, dir)
	require.Len(t, units, 3)
	require.Empty(t, others)
	require.Equal(t, want, read(t, dir, "results.csv"))
	require.Contains(t, swept(t, "status", dir).stdout, "3 missing")
}

func TestASweepSaysWhenAllIsToBeDoneAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	study := runsOf(t, 4)
	require.Empty(t, swept(t, study, "--out", dir).stderr)
	require.Empty(t, swept(t, study, "--out", dir).stderr)
	require.Empty(t, swept(t, runsOf(t, 6), "--out", dir).stderr, "these are more of the same")
	other := write(t, "other.yaml", "traces: ['lublin:jobs=301']\npolicies: [fcfs]\n")
	require.Contains(t, swept(t, other, "--out", dir).stderr, "all runs are done anew")
}

func TestSweepKnowsWrongUsage(t *testing.T) {
	study := runsOf(t, 2)
	for args, want := range map[string]string{
		"":                                    "sweep takes 1 argument (STUDY.yaml), and there is none",
		study:                                 "give --out, the folder for the results",
		study + " --out a --workers 0":        "--workers must be 1 or more, not 0",
		study + " --out a --memory much":      "--memory: want a size such as 800M, 4G or 1.5GiB",
		study + " --out a --memory 0":         "--memory must be more than nothing",
		study + " --out a --limit 0":          "--limit: want a time above 0",
		study + " --out a --limit soon":       "--limit: want a time of 0 or more, in seconds or as in 15m, 4h, 30d",
		study + " --out a --engine steam":     "--engine: want",
		study + " --out a --engine nats":      "--engine: want local or slurm, not \"nats\"",
		"retry a --engine slurm":              "unknown flag: --engine",
		"shard 3 " + study + " --out a":       "I/N: want I/N, the I-th of N parts, such as 3/8, not \"3\"",
		"shard 3/2 " + study + " --out a":     "I/N: want I/N",
		"shard 1/2 " + study:                  "give --out",
		"status":                              "sweep status takes 1 argument (DIR), and there is none",
		"work now":                            "takes no arguments",
		"merge a --no-such-flag":              "unknown flag: --no-such-flag",
		"status " + study + " --format table": "want text or json",
	} {
		got := exits(t, exitUsage, append([]string{"sweep"}, strings.Fields(args)...)...)
		require.Contains(t, got.stderr, want)
	}
	for args, want := range map[string]string{
		"status " + t.TempDir():                      "is no folder of a study: there is no plan.csv in it",
		"merge " + t.TempDir():                       "is no folder of a study",
		"clean " + t.TempDir():                       "is no folder of a study",
		write(t, "broken.yaml", "policis: [easy]\n"): "there is no key \"policis\"",
		"none.yaml --out a":                          "opening the study none.yaml: no such file or directory",
		study + " --out " + study:                    "making the folder for the files (--out): mkdir " + study,
		study + " --out /dev/null/a":                 "making the folder for the files (--out): mkdir /dev/null",
	} {
		got := exits(t, exitFailed, append([]string{"sweep"}, strings.Fields(args)...)...)
		require.Contains(t, got.stderr, want)
	}
	require.NoDirExists(t, "a")
}

func TestASweepKeepsFilesOfRuns(t *testing.T) {
	study := write(t, "study.yaml", "traces: ['lublin:jobs=50']\npolicies: [easy]\nreplications: 3\nkeep: [jobs]\n")
	dir := filepath.Join(t.TempDir(), "out")
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	runs := files(t, filepath.Join(dir, "runs"))
	require.Len(t, runs, 3)
	require.Contains(t, files(t, filepath.Join(dir, "runs", runs[0])), "jobs-easy.csv")
}
