package slurm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// The program that the jobs run is that of the tests: with the words of a task it
// does its part of a study.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "sweep" {
		if err := job(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if theCluster != nil {
		theCluster.stop()
	}
	os.Exit(code)
}

// job is sweep shard I/N --out DIR --workers 1, or sweep merge DIR.
func job(words []string) error {
	switch {
	case words[0] == "copy" && len(words) == 2: // when it is told to
		if _, err := fmt.Scanln(); err != nil && err.Error() != "unexpected newline" {
			return err
		}
		_, err := Engine{}.copyProgram(words[1])
		return err
	case words[0] == "merge" && len(words) == 2:
		f, err := sweep.OpenFor(words[1], false)
		if err != nil {
			return err
		}
		f.Close()
		return os.WriteFile(filepath.Join(words[1], "merged"), nil, 0o666)
	case words[0] == "shard" && len(words) == 6 && words[2] == "--out" && words[4] == "--workers" && words[5] == "1":
		shard, err := sweep.ParseShard(words[1])
		if err != nil {
			return err
		}
		s, err := readStudy(words[3])
		if err != nil {
			return err
		}
		shard.Engine = sweep.InProcess{Workers: 1}
		s.Engine = shard
		_, err = sweep.Run(context.Background(), s.Study, s.do)
		return err
	}
	return fmt.Errorf("wrong words: %q", words)
}

// A study of the tests is a text such as "units 30, sleep 100ms, fail 3, exit 7": unit 3
// fails, and unit 7 ends its process while there is no file "mended" in the folder.
type study struct {
	sweep.Study
	sleep      time.Duration
	fail, exit uint64
	hold       uint64 // seeds from here on wait until there is the file "go" in the folder
}

func readStudy(dir string) (study, error) {
	text, err := os.ReadFile(filepath.Join(dir, sweep.StudyName))
	if err != nil {
		return study{}, err
	}
	return newStudy(string(text), dir)
}

func newStudy(text, dir string) (study, error) {
	s := study{Study: sweep.Study{
		Dir: dir, Axes: []sweep.Axis{sweep.List("name", `it's "so"`)},
		Portable: &sweep.Portable{Name: "study.yaml", Text: []byte(text)},
	}, hold: math.MaxUint64}
	for _, setting := range strings.Split(text, ", ") {
		name, value, _ := strings.Cut(setting, " ")
		n, err := strconv.ParseUint(value, 10, 64)
		switch name {
		case "units":
			s.Seeds = sweep.Seeds(1, int(n))
		case "fail":
			s.fail = n
		case "exit":
			s.exit = n
		case "hold":
			s.hold = n
		case "sleep":
			s.sleep, err = time.ParseDuration(value)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// do is a unit: it leaves a line about who has done it, and gives a row.
func (s study) do(_ context.Context, c sweep.Case) (sweep.Row, error) {
	if c.Seed == s.exit {
		if _, err := os.Stat(filepath.Join(s.Dir, "mended")); err != nil {
			fmt.Println("the bridge is out")
			os.Exit(3)
		}
	}
	time.Sleep(s.sleep)
	for c.Seed >= s.hold {
		if _, err := os.Stat(filepath.Join(s.Dir, "go")); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if c.Seed == s.fail {
		return nil, errors.New("no such case")
	}
	calls, err := os.OpenFile(filepath.Join(s.Dir, "calls"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	defer calls.Close()
	fmt.Fprintf(calls, "%d %s %s %s\n", c.Seed, os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID"), os.Getenv("SLURMD_NODENAME"))
	return sweep.Row{{Name: "square", Value: strconv.FormatUint(c.Seed*c.Seed, 10)}}, nil
}

// told is what an engine told.
type told struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *told) tell(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.text, format+"\n", args...)
}

func (o *told) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// letGo has units go on that wait.
func letGo(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o666))
}

// run carries a study out by the engine.
func run(t *testing.T, ctx context.Context, e sweep.Engine, text, dir string) (*sweep.Results, string, error) {
	t.Helper()
	var said told
	r, err := runTelling(t, ctx, e, text, dir, &said)
	return r, said.String(), err
}

// runTelling is run where what is told is of interest before its end.
func runTelling(t *testing.T, ctx context.Context, e sweep.Engine, text, dir string, said *told) (*sweep.Results, error) {
	t.Helper()
	s, err := newStudy(text, dir)
	require.NoError(t, err)
	if own, ok := e.(Engine); ok {
		own.poll = 200 * time.Millisecond
		e = own
	}
	s.Engine, s.Tell = e, said.tell
	return sweep.Run(ctx, s.Study, s.do)
}

// same holds a study's results and units against those that this process gets.
func same(t *testing.T, text, dir string) {
	t.Helper()
	other := t.TempDir()
	letGo(t, other)
	_, _, err := run(t, context.Background(), sweep.InProcess{}, text, other)
	require.NoError(t, err)
	for _, pattern := range []string{"results.csv", "plan.csv", "units/*/*", "failures/*"} {
		want, err := filepath.Glob(filepath.Join(other, pattern))
		require.NoError(t, err)
		got, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for _, path := range want {
			name, err := filepath.Rel(other, path)
			require.NoError(t, err)
			require.Equal(t, read(t, path), read(t, filepath.Join(dir, name)), name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// calls are the lines of the units that were carried out: seed, array, task, node.
func calls(t *testing.T, dir string) (lines [][]string) {
	for line := range strings.Lines(read(t, filepath.Join(dir, "calls"))) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

func TestJobsGiveTheSameBytesAsThisProcess(t *testing.T) {
	withCluster(t)
	const text = "units 40, sleep 10ms, fail 9"
	dir := filepath.Join(t.TempDir(), `a folder's "name" of 100 %a`)
	r, said, err := run(t, context.Background(), Engine{Tasks: 5}, text, dir)
	require.NoError(t, err, said)
	require.Equal(t, sweep.Status{Units: 40, Done: 39, Failures: map[sweep.FailureKind]int{sweep.Failed: 1}}, r.Status())
	same(t, text, dir)
	tasks := map[string]int{}
	for _, call := range calls(t, dir) {
		tasks[call[1]+"_"+call[2]]++
	}
	require.Len(t, tasks, 5)
	require.Contains(t, said, "of 5 tasks")
	require.Contains(t, read(t, filepath.Join(dir, "manifest.json")), `"slurm array": "`)
	merge := regexp.MustCompile(`and job (\d+), which merges`).FindStringSubmatch(said)
	require.NotNil(t, merge, said)
	require.NoError(t, within(3*time.Minute, func() bool { // it may have begun
		state, err := command(context.Background(), "scontrol", "show", "job", merge[1])
		return err == nil && strings.Contains(state, "JobState=CANCELLED")
	}), "the job that merges is not needed any more, and is still there")
}

func TestATaskThatEndsEarlyIsToldOfWithTheEndOfItsLogAndDoneAgain(t *testing.T) {
	withCluster(t)
	const text = "units 12, exit 2" // the first or second of its part
	dir := t.TempDir()
	_, said, err := run(t, context.Background(), Engine{Tasks: 3}, text, dir)
	require.ErrorContains(t, err, "not done, since 1 task of 3 ended early; logs are in "+dir+"/logs")
	before := calls(t, dir)
	task, left := sweep.ShardOf(sweep.Unit{Index: 1}, 3), 12-len(before)
	require.GreaterOrEqual(t, left, 3)
	require.Regexp(t, fmt.Sprintf(`task \d+_%d has ended \(FAILED, exit code 3:0\) with %d units not done; logs/slurm-\d+_%[1]d.out ends:\n  the bridge is out`, task, left), said)
	require.Equal(t, 1, strings.Count(said, "has ended"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "mended"), nil, 0o666))
	_, said, err = run(t, context.Background(), Engine{Tasks: 3}, text, dir)
	require.NoError(t, err, said)
	require.Len(t, calls(t, dir), 12, "what was done is done again")
	require.Contains(t, said, "of 1 task,")
	same(t, "units 12", dir)
}

func TestALargerPlanSubmitsOnlyWhatItAdds(t *testing.T) {
	withCluster(t)
	dir := t.TempDir()
	_, said, err := run(t, context.Background(), Engine{Tasks: 4}, "units 12", dir)
	require.NoError(t, err, said)
	first := calls(t, dir)
	require.Len(t, first, 12)
	_, said, err = run(t, context.Background(), Engine{Tasks: 4}, "units 14", dir)
	require.NoError(t, err, said)
	require.Len(t, calls(t, dir), 14)
	require.Contains(t, said, "of 2 tasks")
	same(t, "units 14", dir)
	_, said, err = run(t, context.Background(), Engine{Tasks: 4}, "units 14", dir)
	require.NoError(t, err)
	require.Empty(t, said, "there is nothing left to submit")
}

func TestTheJobThatMergesRunsAfterTheTasksHoweverTheyEnd(t *testing.T) {
	withCluster(t)
	const text = "units 12, exit 7, hold 1"
	dir := t.TempDir()
	_, said, err := run(t, context.Background(), Engine{Tasks: 3, NoWait: true}, text, dir)
	var submitted *SubmittedError
	require.ErrorAs(t, err, &submitted)
	require.Len(t, submitted.Tasks, 3)
	require.Empty(t, said)
	jobs, err := Jobs(context.Background(), dir)
	require.NoError(t, err)
	require.Equal(t, Job{ID: submitted.Merge, State: "PENDING", Reason: "Dependency"}, jobs[len(jobs)-1])
	letGo(t, dir)
	require.NoError(t, within(3*time.Minute, func() bool {
		_, err := os.Stat(filepath.Join(dir, "merged"))
		return err == nil
	}))
	require.NoError(t, within(3*time.Minute, func() bool {
		jobs, err := Jobs(context.Background(), dir)
		return err == nil && !slices.Contains(numbers(jobs), submitted.Array)
	}), "tasks are left in the queue")
	require.GreaterOrEqual(t, len(calls(t, dir)), 8)
}

// queued looks at the jobs of a folder, where there are any, until ctx ends.
func queued(ctx context.Context, dir string, look func([]Job)) {
	go func() {
		for ctx.Err() == nil {
			if jobs, err := Jobs(ctx, dir); err == nil && len(jobs) > 0 {
				look(jobs)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
}

func TestJobsThatAreQueuedAreWaitedForAndNotSubmittedTwice(t *testing.T) {
	withCluster(t)
	const text = "units 12, hold 1"
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	queued(ctx, dir, func(jobs []Job) {
		if !jobs[0].computes() || !jobs[len(jobs)-1].computes() { // the job that merges is submitted last
			interrupt()
		}
	})
	_, said, err := run(t, ctx, Engine{Tasks: 3}, text, dir)
	require.ErrorIs(t, err, context.Canceled)
	require.Contains(t, said, "the jobs go on without this command; follow by: gridslot sweep status "+dir+"   end by: gridslot sweep cancel "+dir+"\n")

	_, _, err = run(t, context.Background(), Engine{NoWait: true}, text, dir)
	var refused *QueuedError
	require.ErrorAs(t, err, &refused)
	require.Regexp(t, `^jobs \d+, \d+ are of this study in Slurm's queue already`, err.Error())

	var telling told
	ended := make(chan error, 1)
	var r *sweep.Results
	go func() {
		var err error
		r, err = runTelling(t, context.Background(), Engine{Tasks: 3}, text, dir, &telling)
		ended <- err
	}()
	require.NoError(t, within(3*time.Minute, func() bool { return strings.Contains(telling.String(), "nothing is submitted twice") }))
	letGo(t, dir)
	require.NoError(t, <-ended, &telling)
	said = telling.String()
	require.NotContains(t, said, "submitted job")
	require.Equal(t, 12, r.Status().Done)
	require.Len(t, calls(t, dir), 12)
	same(t, text, dir)
	require.NoError(t, within(3*time.Minute, func() bool { // it may have begun
		jobs, err := Jobs(context.Background(), dir)
		return err == nil && !slices.ContainsFunc(jobs, func(j Job) bool { return !j.computes() })
	}), "the job that merges is left in the queue")
}

func TestOfSeveralThatSubmitAtOnceOneDoes(t *testing.T) {
	withCluster(t)
	dir := t.TempDir()
	var group sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		group.Go(func() {
			_, _, errs[i] = run(t, context.Background(), Engine{Tasks: 3, Partition: "closed", NoWait: true}, "units 12", dir)
		})
	}
	group.Wait()
	submissions := 0
	for _, err := range errs {
		if submitted := (*SubmittedError)(nil); errors.As(err, &submitted) {
			submissions++
			continue
		}
		queued, busy := (*QueuedError)(nil), (*outdir.BusyError)(nil)
		require.True(t, errors.As(err, &queued) || errors.As(err, &busy), err)
	}
	require.Equal(t, 1, submissions)
	ids, err := Cancel(context.Background(), dir)
	require.NoError(t, err)
	require.Len(t, ids, 2)
}

func TestJobsAreCancelledOnDemand(t *testing.T) {
	withCluster(t)
	const text = "units 12, hold 1"
	dir := t.TempDir()
	_, _, err := run(t, context.Background(), Engine{Tasks: 3, NoWait: true}, text, dir)
	var submitted *SubmittedError
	require.ErrorAs(t, err, &submitted)
	elsewhere := t.TempDir()
	ids, err := Cancel(context.Background(), elsewhere)
	require.NoError(t, err)
	require.Empty(t, ids)
	ids, err = Cancel(context.Background(), dir)
	require.NoError(t, err)
	require.Equal(t, []string{submitted.Array, submitted.Merge}, ids)
	require.NoError(t, within(3*time.Minute, func() bool {
		jobs, err := Jobs(context.Background(), dir)
		return err == nil && len(jobs) == 0
	}))
	require.NoFileExists(t, filepath.Join(dir, "merged"))
}

func TestTasksAreNoMoreThanTheClusterAllows(t *testing.T) {
	withCluster(t)
	dir := t.TempDir()
	_, said, err := run(t, context.Background(), Engine{Tasks: 30, Partition: "closed", NoWait: true}, "units 35", dir)
	var submitted *SubmittedError
	require.ErrorAs(t, err, &submitted)
	require.Len(t, submitted.Tasks, maxArraySize-1)
	require.Contains(t, said, "20 tasks instead of 30: the cluster has no larger job arrays (MaxArraySize)")
	_, err = Cancel(context.Background(), dir)
	require.NoError(t, err)
}

func TestWhyNoTaskRunsIsToldOnce(t *testing.T) {
	withCluster(t)
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	const reason = "no task runs; Slurm's reason: PartitionDown"
	var said told
	looks := 0
	queued(ctx, dir, func([]Job) {
		if strings.Contains(said.String(), reason) {
			looks++
		}
		if looks > 30 { // the engine has looked several times since
			interrupt()
		}
	})
	_, err := runTelling(t, ctx, Engine{Tasks: 3, Partition: "closed"}, "units 12", dir, &said)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, strings.Count(said.String(), reason))
	_, err = Cancel(context.Background(), dir)
	require.NoError(t, err)
}

func TestOptionsReachSlurm(t *testing.T) {
	withCluster(t)
	dir := t.TempDir()
	e := Engine{Time: "0:07:00", Partition: "closed", NoWait: true, Options: []string{"--comment=a 'quoted' word", "--mem=123M", "--job-name=mine", "--no-requeue", "--chdir=/"}}
	_, _, err := run(t, context.Background(), e, "units 3", dir)
	var submitted *SubmittedError
	require.ErrorAs(t, err, &submitted)
	for _, id := range []string{submitted.Array, submitted.Merge} {
		out, err := command(context.Background(), "scontrol", "show", "job", id)
		require.NoError(t, err)
		for _, want := range []string{"TimeLimit=00:07:00", "Partition=closed", "Comment=a 'quoted' word", "MinMemoryNode=123M", "Requeue=1", "JobName=gridslot-", "WorkDir=" + dir} {
			require.Contains(t, out, want)
		}
	}
	_, err = Cancel(context.Background(), dir)
	require.NoError(t, err)
}

func TestWhatSlurmRefusesIsSaidAndNothingStays(t *testing.T) {
	withCluster(t)
	dir := t.TempDir()
	_, _, err := run(t, context.Background(), Engine{Partition: "none"}, "units 3", dir)
	require.ErrorContains(t, err, "sbatch refuses: ")
	require.ErrorContains(t, err, "invalid partition")
	jobs, err := Jobs(context.Background(), dir)
	require.NoError(t, err)
	require.Empty(t, jobs)
}

func TestAnArrayWithoutTheJobThatMergesIsTakenBack(t *testing.T) {
	withCluster(t)
	real, err := exec.LookPath("sbatch")
	require.NoError(t, err)
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *--dependency*) echo 'no more jobs' >&2; exit 1;; esac\nexec " + real + ` "$@"` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sbatch"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	dir := t.TempDir()
	_, _, err = run(t, context.Background(), Engine{Partition: "closed"}, "units 3", dir)
	require.ErrorContains(t, err, "sbatch refuses: no more jobs")
	jobs, err := Jobs(context.Background(), dir)
	require.NoError(t, err)
	require.Empty(t, jobs)
}

func TestAMachineWithoutSlurmIsSaidToBeOne(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, _, err := run(t, context.Background(), Engine{}, "units 3", t.TempDir())
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "gridslot sweep shard I/N STUDY --out DIR")
}

// A node that goes away with its tasks: these are queued again, elsewhere, and do
// what is missing.
func TestANodeIsKilledAndEverythingIsThereOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("jobs of a node begin elsewhere after half a minute")
	}
	c := withCluster(t)
	const text = "units 24, hold 9"
	dir := t.TempDir()
	ended := make(chan error, 1)
	go func() {
		_, said, err := run(t, context.Background(), Engine{Tasks: 4}, text, dir)
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
		ended <- err
	}()
	require.NoError(t, within(2*time.Minute, func() bool { // each task has done two units, and waits
		done, _ := filepath.Glob(filepath.Join(dir, "units", "*", "*.json"))
		return len(done) == 8
	}))
	c.kill(t, "n2")
	letGo(t, dir)
	atDeath := calls(t, dir)
	stored := map[string]bool{} // seeds
	units, err := filepath.Glob(filepath.Join(dir, "units", "*", "*.json"))
	require.NoError(t, err)
	for _, path := range units {
		stored[regexp.MustCompile(`"seed":(\d+)`).FindStringSubmatch(read(t, path))[1]] = true
	}
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(4 * time.Minute):
		require.Fail(t, "the tasks of the node are not done elsewhere", c.logs())
	}
	same(t, text, dir)
	all := calls(t, dir)
	times := map[string]int{}
	for _, call := range all {
		times[call[0]]++
	}
	for seed := range stored {
		require.Equal(t, 1, times[seed], "a unit that was stored is done again")
	}
	moved := map[string]bool{} // tasks that were seen on both nodes
	for _, early := range atDeath {
		for _, late := range all {
			if early[2] == late[2] && early[3] == "n2" && late[3] == "n1" {
				moved[early[2]] = true
			}
		}
	}
	require.NotEmpty(t, moved, "no task was queued again")
	require.NoError(t, c.startNodes("n2"))
}

// gridslot is a copy of the command, which is built once.
func gridslot(t *testing.T) string {
	t.Helper()
	text, err := built()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "gridslot")
	require.NoError(t, os.WriteFile(path, text, 0o777))
	return path
}

var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "gridslot")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "gridslot")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/gridslot/gridslot").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(path)
})

// call runs a command in a folder and returns what it says.
func call(t *testing.T, dir, name string, words ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(name, words...)
	cmd.Dir = dir
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const someRuns = `traces: ['lublin:jobs=200', "a user's log.swf"]
policies: [fcfs, easy]
load: [0.7, 0.9]
replications: 4
`

// someLog writes a study with a log beside it, in a folder with a name that is hard on
// scripts.
func someLog(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "it's a $HOME of studies")
	require.NoError(t, os.Mkdir(dir, 0o777))
	var log strings.Builder
	log.WriteString("; MaxProcs: 8\n")
	for i := range 50 {
		fmt.Fprintf(&log, "%d %d -1 %d %d -1 -1 %[4]d 900 -1 1 1 1 -1 1 -1 -1 -1\n", i+1, 60*i, 100+37*i%700, 1+i%8)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a user's log.swf"), []byte(log.String()), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(someRuns), 0o666))
	return dir
}

func TestTheCommandGivesTheSameResultsOnSlurm(t *testing.T) {
	withCluster(t)
	exe, dir := gridslot(t), someLog(t)
	_, stderr, code := call(t, dir, exe, "sweep", "study.yaml", "--out", "here")
	require.Zero(t, code, stderr)
	stdout, stderr, code := call(t, dir, exe, "sweep", "study.yaml", "--engine", "slurm", "--tasks", "5", "--out", "there",
		"--sbatch", "--comment='two words' --nice=1", "--time", "5", "--limit", "1h")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "32 of 32 runs are done")
	want, got := read(t, filepath.Join(dir, "here", "results.csv")), read(t, filepath.Join(dir, "there", "results.csv"))
	require.Equal(t, 33, strings.Count(want, "\n"))
	require.Equal(t, want, got)
	for _, folder := range []string{"here", "there"} {
		units, err := filepath.Glob(filepath.Join(dir, folder, "units", "*", "*.json"))
		require.NoError(t, err)
		require.Len(t, units, 32)
	}
}

func TestWhatIsChangedBehindASubmissionDoesNotMatter(t *testing.T) {
	withCluster(t)
	exe, dir := gridslot(t), someLog(t)
	_, stderr, code := call(t, dir, exe, "sweep", "study.yaml", "--out", "here")
	require.Zero(t, code, stderr)
	stdout, stderr, code := call(t, dir, exe, "sweep", "study.yaml", "--engine", "slurm", "--tasks", "3", "--out", "there", "--no-wait", "--sbatch", "--begin=now+2")
	require.Zero(t, code, stderr)
	require.Regexp(t, `^submitted job \d+ of 3 tasks, and job \d+, which merges their results; follow by: gridslot sweep status there`, stdout)
	require.NoError(t, os.Remove(exe)) // as a build does
	require.NoError(t, os.WriteFile(exe, []byte("#!/bin/sh\nexit 9\n"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "study.yaml"), []byte("traces: [none]\n"), 0o666))
	require.NoError(t, within(3*time.Minute, func() bool {
		return strings.Count(read(t, filepath.Join(dir, "there", "results.csv")), "\n") == 33
	}), "the job that merges has not written all results")
	require.NoError(t, within(3*time.Minute, func() bool {
		jobs, err := Jobs(context.Background(), filepath.Join(dir, "there"))
		return err == nil && len(jobs) == 0
	}))
	require.Equal(t, read(t, filepath.Join(dir, "here", "results.csv")), read(t, filepath.Join(dir, "there", "results.csv")))
	require.Contains(t, read(t, filepath.Join(dir, "there", "manifest.json")), `"slurm array": "`)
}

func TestTheCommandTellsOfItsJobsAndCancelsThem(t *testing.T) {
	withCluster(t)
	exe, dir := gridslot(t), someLog(t)
	sweeps := func(words ...string) (string, string, int) {
		return call(t, dir, exe, append([]string{"sweep"}, words...)...)
	}
	_, stderr, code := sweeps("study.yaml", "--engine", "slurm", "--tasks", "3", "--out", "there", "--no-wait", "--partition", "closed")
	require.Zero(t, code, stderr)
	stdout, _, code := sweeps("status", "there")
	require.Zero(t, code)
	require.Regexp(t, `\n    32 missing\n\nin Slurm's queue\n     3 job \d+, tasks: PENDING \(PartitionDown\)\n     1 job \d+, merges: PENDING \((Dependency|PartitionDown)\)\n$`, stdout)
	stdout, _, code = sweeps("status", "there", "--format", "json")
	require.Zero(t, code)
	require.Regexp(t, `"slurm": \[\s*\{\s*"id": "\d+",\s*"task": 1,\s*"state": "PENDING",\s*"reason": "PartitionDown"`, stdout)
	_, stderr, code = sweeps("study.yaml", "--engine", "slurm", "--out", "there", "--no-wait")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "nothing is submitted twice")
	stdout, _, code = sweeps("cancel", "there")
	require.Zero(t, code)
	require.Regexp(t, `^cancelled: \d+, \d+\n$`, stdout)
	stdout, _, code = sweeps("cancel", "there")
	require.Zero(t, code)
	require.Equal(t, "no job of this study is in Slurm's queue\n", stdout)
	stdout, _, _ = sweeps("status", "there")
	require.NotContains(t, stdout, "queue")
}

func TestWithoutSlurmTheCommandNamesShards(t *testing.T) {
	exe, dir := gridslot(t), someLog(t)
	t.Setenv("PATH", t.TempDir())
	_, stderr, code := call(t, dir, exe, "sweep", "study.yaml", "--engine", "slurm", "--out", "there")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "is not found on this machine")
	require.Contains(t, stderr, "gridslot sweep shard I/N")
	_, stderr, code = call(t, dir, exe, "sweep", "status", "there")
	require.Zero(t, code)
	require.Empty(t, stderr)
	for _, words := range [][]string{{"--tasks", "0"}, {"--sbatch", "'open"}} {
		_, _, code = call(t, dir, exe, append([]string{"sweep", "study.yaml", "--engine", "slurm", "--out", "there"}, words...)...)
		require.Equal(t, 2, code, words)
	}
}
