package slurm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/internal/atomicfile"
)

// own is the folder below the study's with the program and the logs.
const own = "slurm"

// Submit queues tasks that do what is missing of the study in dir, and the job that merges. Options
// are those of sbatch, for both, a word each; flags those of sweep shard. It is an error where jobs
// of the folder are queued already (see Free), or where another process submits at the same
// time. If the second job is refused the first is canceled. Submit returns a sentence for the user,
// with the numbers of both jobs and how to end them.
func Submit(ctx context.Context, dir string, tasks int, options, flags []string) (submitted string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	folder, err := outdir.Below(dir, own)
	if err != nil {
		return "", err
	}
	lock, err := outdir.Open(folder)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := Free(ctx, dir); err != nil {
		return "", err
	}
	// The program's copy and the jobs' common options.
	program := filepath.Join(folder, "gridslot")
	if err := copyProgram(program); err != nil {
		return "", fmt.Errorf("copying the program for the jobs: %w", err)
	}
	name, err := jobName(dir) // of both jobs: Jobs finds them by it
	if err != nil {
		return "", err
	}
	// Of options given twice the last one holds, so the user's options cannot change these. In the
	// name of a log % is special.
	common := append(append([]string{}, options...), "--parsable", "--requeue", "--open-mode=append", "--chdir="+dir, "--job-name="+name)
	logs := "--output=" + strings.ReplaceAll(folder, "%", "%%") + "/"
	// The array: task I of N carries out the shard I/N. exec, so that Slurm's signals reach the
	// program and not a shell before it; the variables are Slurm's, which the shell puts in.
	shard := "exec " + quote(program, "sweep", "shard") + ` "$SLURM_ARRAY_TASK_ID/` + strconv.Itoa(tasks) + `" ` +
		quote(append([]string{"--out", dir}, flags...)...) + ` --workers "${SLURM_CPUS_PER_TASK:-1}"`
	array, err := sbatch(ctx, append(common, "--array=1-"+strconv.Itoa(tasks), logs+"%A_%a.out", "--wrap="+shard))
	if err != nil {
		return "", err
	}
	// Whoever looks into the folder at that moment may hold it: the merge tries again.
	script := "for try in 1 2 3 4 5 6; do " + quote(program, "sweep", "merge", dir) + " && exit; sleep 10; done; exit 1"
	merge, err := sbatch(ctx, append(common, "--dependency=afterany:"+array, logs+"%j-merge.out", "--wrap="+script))
	if err != nil {
		_, failed := command(context.WithoutCancel(ctx), "scancel", array)
		return "", errors.Join(err, failed)
	}
	return fmt.Sprintf("submitted job %s of %d tasks, and job %s, which merges their results; end them by: scancel --name %s", array, tasks, merge, name), nil
}

// sbatch submits a job and returns its number.
func sbatch(ctx context.Context, options []string) (string, error) {
	out, err := command(ctx, "sbatch", options...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // behind it stands the cluster's name
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("sbatch answers %q: wanted the number of a job", strings.TrimSpace(out))
	}
	return id, nil
}

// copyProgram copies this program. On Linux /proc/self/exe is the file that the process was started
// from even where another one, or none, stands in its place now.
func copyProgram(to string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		from, err = os.Open(path)
	}
	if err != nil {
		return err
	}
	defer from.Close()
	if err := atomicfile.Write(to, func(w io.Writer) error { _, err := io.Copy(w, from); return err }); err != nil {
		return err
	}
	return os.Chmod(to, 0o755)
}

// quote returns words as a shell reads them, whatever is in them.
func quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// Job is a task of a study's array, or the job that merges, as long as it waits or
// runs.
type Job struct {
	ID     string `json:"id"`             // of the array or the job
	Task   int    `json:"task,omitempty"` // number in the array; 0 is the job that merges
	State  string `json:"state"`          // as squeue says: PENDING, RUNNING, ...
	Reason string `json:"reason"`         // why it waits, in Slurm's words
}

// Jobs returns the jobs of a study's folder that wait or run. A folder for which nothing was ever
// submitted has none, with or without Slurm.
func Jobs(ctx context.Context, dir string) ([]Job, error) {
	if _, err := os.Stat(filepath.Join(dir, own)); err != nil {
		return nil, nil
	}
	name, err := jobName(dir)
	if err != nil {
		return nil, err
	}
	out, err := command(ctx, "squeue", "--noheader", "--array", "--user="+strconv.Itoa(os.Getuid()), "--name="+name, "--format=%F|%K|%T|%r")
	if err != nil {
		return nil, err
	}
	var jobs []Job
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 4)
		if len(f) < 4 {
			return nil, fmt.Errorf("squeue answers %q: wanted four fields between |", line)
		}
		task, _ := strconv.Atoi(f[1]) // of a job that is no array there is none
		jobs = append(jobs, Job{f[0], task, f[2], f[3]})
	}
	// Numbers as texts: the shorter is the lower.
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Task, b.Task))
	})
	return jobs, nil
}

// Free returns an error where jobs of a study's folder are in Slurm's queue.
func Free(ctx context.Context, dir string) error {
	jobs, err := Jobs(ctx, dir)
	if err == nil && len(jobs) > 0 {
		err = fmt.Errorf("jobs of this study are in Slurm's queue already (%s), and nothing is submitted twice", jobs[0].ID)
	}
	return err
}

// jobName returns the name of a folder's jobs. It is the same from wherever the folder is looked at
// on this machine: links are followed.
func jobName(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(path))
	return "gridslot-" + hex.EncodeToString(sum[:6]), nil
}

// command runs one of Slurm's commands and returns what it prints. It is not ended
// with ctx: half a submission is worse than a second's wait.
func command(ctx context.Context, name string, args ...string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not found on this machine: --engine slurm works where Slurm's commands are (a login node); "+
			"under another batch system let each of N tasks run \"gridslot sweep shard I/N STUDY --out DIR\", and \"gridslot sweep merge DIR\" after them", name)
	}
	out, err := exec.Command(path, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "", fmt.Errorf("%s refuses: %s", name, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("running %s: %w", name, err)
	}
	return string(out), nil
}
