package slurm_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/experiments/sweep/slurm"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
)

// asCommand, set in the environment, which jobs of Slurm inherit, makes this test
// program the command, with a policy that waits until there is the file that goOn names.
const (
	asCommand = "GRIDSLOT_TEST_AS_COMMAND"
	goOn      = "GRIDSLOT_TEST_GO_ON"
)

// waits is first come first served, begun when the file is there. While there is a
// file of that name with .crash behind it, it ends its process.
type waits struct{}

func (waits) Name() string { return "waits" }

func (waits) Schedule(r *entity.Round) {
	for mark := os.Getenv(goOn); mark != ""; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(mark + ".crash"); err == nil && os.Getenv("SLURM_ARRAY_TASK_ID") == "1" {
			p, _ := os.FindProcess(os.Getppid()) // the task, and with it this worker
			_ = p.Kill()
		}
		if _, err := os.Stat(mark); err == nil {
			break
		}
	}
	backfill.FCFS{}.Schedule(r)
}

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Main(cli.Extend{Policies: policy.Table[entity.Policy]{
			{Name: "waits", Text: "waits", New: func(*policy.Args) entity.Policy { return waits{} }},
		}}))
	}
	code := m.Run()
	if theCluster != nil {
		theCluster.stop()
	}
	os.Exit(code)
}

// world is a study of 96 runs in a folder with a name that is hard on scripts, half of
// which wait for the file mark; and a copy of the command.
type world struct {
	t                    *testing.T
	program, study, mark string
	out                  string // its folder on Slurm
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's 100% a $HOME of studies")
	require.NoError(t, os.Mkdir(dir, 0o777))
	w := &world{t, filepath.Join(dir, "gridslot"), filepath.Join(dir, "study.yaml"), filepath.Join(dir, "mark"), filepath.Join(dir, "there")}
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.program, self, 0o777))
	require.NoError(t, os.WriteFile(w.study, []byte("traces: ['lublin:jobs=100']\npolicies: [easy, waits]\nload: [0.7, 0.9]\nreplications: 24\nkeep: [jobs]\n"), 0o666))
	t.Setenv(asCommand, "yes")
	t.Setenv(goOn, w.mark)
	return w
}

// call runs sweep.
func (w *world) call(words ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	cmd := exec.Command(w.program, append([]string{"sweep"}, words...)...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(w.t, err, &exit)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// submit has the study carried out by Slurm.
func (w *world) submit(words ...string) {
	w.t.Helper()
	stdout, stderr, code := w.call(append([]string{w.study, "--engine", "slurm", "--out", w.out}, words...)...)
	require.Zero(w.t, code, stderr)
	require.Regexp(w.t, `^submitted job \d+ of \d+ tasks, and job \d+, which merges their results; end them by: scancel --name gridslot-[0-9a-f]{12}\n\d+ runs are to be done: 'gridslot sweep status `, stdout)
}

func (w *world) letGo() { require.NoError(w.t, os.WriteFile(w.mark, nil, 0o666)) }

// stored are the files of results.
func (w *world) stored() []string {
	all, err := filepath.Glob(filepath.Join(w.out, "units", "*", "*.json"))
	require.NoError(w.t, err)
	return all
}

func (w *world) jobs() []slurm.Job {
	jobs, err := slurm.Jobs(context.Background(), w.out)
	require.NoError(w.t, err)
	return jobs
}

// drained waits until no job is left in the queue.
func (w *world) drained() {
	w.t.Helper()
	require.NoError(w.t, within(10*time.Minute, func() bool { return len(w.jobs()) == 0 }), theCluster.logs())
}

// cancel ends all jobs.
func (w *world) cancel() {
	w.t.Helper()
	for _, j := range w.jobs() {
		require.NoError(w.t, exec.Command("scancel", j.ID).Run())
	}
	w.drained()
}

// same requires the results of a call on this machine, to the byte, and each run once.
func (w *world) same() {
	w.t.Helper()
	here := filepath.Join(filepath.Dir(w.out), "here")
	w.letGo()
	_, stderr, code := w.call(w.study, "--out", here)
	require.Zero(w.t, code, stderr)
	for _, pattern := range []string{"*.csv", "study.yaml", "units/*/*", "failures/*", "runs/*/jobs-*.csv"} {
		want, err := filepath.Glob(filepath.Join(here, pattern))
		require.NoError(w.t, err)
		got, err := filepath.Glob(filepath.Join(w.out, pattern))
		require.NoError(w.t, err)
		require.Len(w.t, got, len(want), pattern)
		for _, path := range want {
			name, err := filepath.Rel(here, path)
			require.NoError(w.t, err)
			if name != "usage.csv" {
				require.Equal(w.t, w.read(path), w.read(filepath.Join(w.out, name)), name)
			}
		}
	}
	require.Len(w.t, w.stored(), 96)
	left, err := filepath.Glob(filepath.Join(w.out, "*.part"))
	require.NoError(w.t, err)
	require.Empty(w.t, left)
}

func (w *world) read(path string) string {
	w.t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(w.t, err)
	return string(text)
}

// A node goes away with its tasks: these are queued again, elsewhere, and do what is
// missing. The program and the study are changed meanwhile, and somebody calls again.
func TestANodeIsKilledAndEverythingIsThereOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("jobs of a node begin elsewhere after half a minute")
	}
	c := withCluster(t)
	w := newWorld(t)
	w.submit("--tasks", "4")
	study := w.read(w.study)
	require.NoError(t, within(10*time.Minute, func() bool { return len(w.stored()) >= 20 }), c.logs())
	require.NoError(t, within(10*time.Minute, func() bool { // all tasks have come to a run that waits
		before := len(w.stored())
		time.Sleep(500 * time.Millisecond)
		return len(w.stored()) == before && len(c.scripts("n1")) > 0 && len(c.scripts("n2")) > 0
	}), c.logs())
	c.kill(t, "n2")
	times := map[string]time.Time{} // of what is stored
	for _, path := range w.stored() {
		info, err := os.Stat(path)
		require.NoError(t, err)
		times[path] = info.ModTime()
	}
	require.Less(t, len(times), 96)

	_, stderr, code := w.call(w.study, "--engine", "slurm", "--out", w.out)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "are in Slurm's queue already")
	require.NoError(t, os.WriteFile(w.study, []byte("traces: [none]\n"), 0o666))
	w.letGo()
	w.drained()
	require.NoError(t, os.WriteFile(w.study, []byte(study), 0o666))
	w.same()
	for path, at := range times {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, at, info.ModTime(), "what was stored is done again")
	}
	logs, err := filepath.Glob(filepath.Join(w.out, "slurm", "*_*.out"))
	require.NoError(t, err)
	all := ""
	for _, path := range logs {
		all += w.read(path)
	}
	require.Equal(t, 4, strings.Count(all, "runs of the shard are done"), all)
	stdout, stderr, code := w.call(w.study, "--engine", "slurm", "--out", w.out)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "96 of 96 runs are done")
	require.NoError(t, c.startNodes("n2"))
}

// A task that crashes leaves its runs missing; what is there is merged all the same,
// and the same call does the others.
func TestATaskThatCrashesLeavesItsRunsToTheNextCall(t *testing.T) {
	withCluster(t)
	w := newWorld(t)
	require.NoError(t, os.WriteFile(w.mark+".crash", nil, 0o666))
	w.submit("--tasks", "3")
	require.NoError(t, os.Remove(w.program)) // as a build does
	require.NoError(t, os.WriteFile(w.program, []byte("#!/bin/sh\nexit 9\n"), 0o777))
	require.NoError(t, within(10*time.Minute, func() bool { // the first task has crashed
		for _, j := range w.jobs() {
			if j.Task == 1 {
				return false
			}
		}
		return true
	}))
	require.NoError(t, os.Remove(w.mark+".crash"))
	w.letGo()
	w.drained()
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.Remove(w.program))
	require.NoError(t, os.WriteFile(w.program, self, 0o777))
	done := len(w.stored())
	require.GreaterOrEqual(t, done, 64)
	require.Less(t, done, 96)
	require.Equal(t, 1+done, strings.Count(w.read(filepath.Join(w.out, "results.csv")), "\n"))
	w.submit("--tasks", "2")
	w.drained()
	w.same()
}

func TestOfSeveralThatSubmitAtOnceOneDoesAndStatusTellsOfItsJobs(t *testing.T) {
	withCluster(t)
	w := newWorld(t)
	var group sync.WaitGroup
	var mu sync.Mutex
	submissions := 0
	for range 4 {
		group.Go(func() {
			stdout, stderr, code := w.call(w.study, "--engine", "slurm", "--out", w.out, "--tasks", "3", "--sbatch", "--partition=closed --time=0:07:00",
				"--sbatch", "--mem=123M --job-name=mine --no-requeue --chdir=/", "--limit", "1h", "--memory", "300M")
			mu.Lock()
			defer mu.Unlock()
			if code == 0 && strings.Contains(stdout, "submitted job") {
				submissions++
			} else if !strings.Contains(stderr, "is writing into") && !strings.Contains(stderr, "are in Slurm's queue already") {
				t.Error(stdout, stderr)
			}
		})
	}
	group.Wait()
	require.Equal(t, 1, submissions)
	stdout, stderr, code := w.call("status", w.out)
	require.Zero(t, code, stderr)
	require.Regexp(t, `\n    96 missing\n\nin Slurm's queue\n     3 job \d+, tasks: PENDING \(PartitionDown\)\n     1 job \d+, merges: PENDING \((Dependency|PartitionDown)\)\n$`, stdout)
	stdout, _, _ = w.call("status", w.out, "--format", "json")
	require.Regexp(t, `"slurm": \[\s*\{\s*"id": "\d+",\s*"task": 1,\s*"state": "PENDING",\s*"reason": "PartitionDown"`, stdout)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(w.out, link))
	jobs, err := slurm.Jobs(context.Background(), link+"/.")
	require.NoError(t, err)
	require.Equal(t, w.jobs(), jobs, "the folder has one name")
	for _, id := range []string{jobs[0].ID, jobs[3].ID} {
		out, err := exec.Command("scontrol", "show", "job", id).Output()
		require.NoError(t, err)
		for _, want := range []string{"TimeLimit=00:07:00", "Partition=closed", "MinMemoryNode=123M", "Requeue=1", "JobName=gridslot-", "WorkDir=" + w.out} {
			require.Contains(t, string(out), want)
		}
	}
	script, err := exec.Command("scontrol", "write", "batch_script", jobs[0].ID, "-").Output()
	require.NoError(t, err)
	require.Contains(t, string(script), `'--memory' '314572800' '--limit' '3600s' --workers "${SLURM_CPUS_PER_TASK:-1}"`)
	w.cancel()
	stdout, _, _ = w.call("status", w.out)
	require.NotContains(t, stdout, "queue")
}

func TestWhatSlurmRefusesIsSaidAndNothingStays(t *testing.T) {
	withCluster(t)
	w := newWorld(t)
	refused := func(want string, words ...string) {
		t.Helper()
		_, stderr, code := w.call(append([]string{w.study, "--engine", "slurm", "--out", w.out}, words...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, want)
		require.Empty(t, w.jobs())
	}
	refused("sbatch refuses: ", "--sbatch", "--partition=none")
	refused("sbatch refuses: ", "--tasks", fmt.Sprint(maxArraySize))
	real, err := exec.LookPath("sbatch")
	require.NoError(t, err)
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *--dependency*) echo 'no more jobs' >&2; exit 1;; esac\nexec " + real + ` "$@"` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sbatch"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	refused("sbatch refuses: no more jobs", "--tasks", "3", "--sbatch", "--partition=closed") // the array is taken back
	require.NoError(t, os.WriteFile(filepath.Join(bin, "squeue"), []byte("#!/bin/sh\necho 7\n"), 0o755))
	_, err = slurm.Jobs(context.Background(), w.out)
	require.ErrorContains(t, err, "squeue answers")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sbatch"), []byte("#!/bin/sh\necho --all\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "squeue"), []byte("#!/bin/sh\n"), 0o755))
	_, err = slurm.Submit(context.Background(), w.out, 1, nil, nil)
	require.ErrorContains(t, err, "sbatch answers \"--all\"")
}

func TestWithoutSlurmTheCommandNamesShards(t *testing.T) {
	w := newWorld(t)
	w.letGo()
	t.Setenv("PATH", t.TempDir())
	_, stderr, code := w.call(w.study, "--engine", "slurm", "--out", w.out)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "is not found on this machine")
	require.Contains(t, stderr, "gridslot sweep shard I/N")
	_, _, code = w.call("status", w.out)
	require.Zero(t, code)
	for _, words := range [][]string{{"--engine", "slurm", "--tasks", "0"}, {"--tasks", "3"}, {"--sbatch", "--time=1"}} {
		_, _, code = w.call(append([]string{w.study, "--out", w.out}, words...)...)
		require.Equal(t, 2, code, words)
	}
}

func TestNothingIsWrittenWhereALinkInTheFolderLeads(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "slurm")))
	_, err := slurm.Submit(context.Background(), dir, 1, nil, nil)
	require.ErrorContains(t, err, filepath.Join(dir, "slurm")+" leads out of its folder")
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}
