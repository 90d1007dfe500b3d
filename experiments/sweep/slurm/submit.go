package slurm

// What is submitted: the scripts, and the options of sbatch.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// Folders below the study's.
const (
	own  = "slurm" // what the jobs run
	logs = "logs"  // what they print
)

// Names of logs, as sbatch wants them: %A is the array, %a the task, %j the job.
const (
	taskLog  = logs + "/slurm-%A_%a.out"
	mergeLog = logs + "/slurm-%j-merge.out"
)

// usualTasks is how many tasks there are where nobody asks for a number: more than
// most users get cores at once, and begun within a minute.
const usualTasks = 64

// plan decides on the tasks for units.
func (e Engine) plan(ctx context.Context, w *sweep.Work, missing []sweep.Unit) (*Submission, error) {
	tasks := e.Tasks
	if tasks <= 0 {
		tasks = usualTasks
	}
	most, err := maxArray(ctx)
	if err != nil {
		return nil, err
	}
	if most < tasks && most < len(missing) {
		w.Tell("%d tasks instead of %d: the cluster has no larger job arrays (MaxArraySize)", most, tasks)
	}
	s := &Submission{Parts: min(tasks, most)} // of which some may have nothing to do
	for _, u := range missing {
		s.Tasks = append(s.Tasks, sweep.ShardOf(u, s.Parts))
	}
	slices.Sort(s.Tasks)
	s.Tasks = slices.Compact(s.Tasks)
	return s, nil
}

var arraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)`)

// maxArray is the largest number of a task: one below the cluster's MaxArraySize.
func maxArray(ctx context.Context) (int, error) {
	out, err := command(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	m := arraySize.FindStringSubmatch(out)
	if m == nil {
		return math.MaxInt32, nil // sbatch will say it
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 2 {
		return 0, fmt.Errorf("the cluster allows no job arrays (MaxArraySize is %s)", m[1])
	}
	return n - 1, nil
}

// queue submits the array and the job that merges after it.
func (e Engine) queue(ctx context.Context, dir string, s *Submission, scripts scripts) error {
	name, err := jobName(dir)
	if err != nil {
		return err
	}
	s.Array, err = e.sbatch(ctx, dir, "--job-name="+name, "--array="+ranges(s.Tasks), logOption(dir, taskLog), scripts.tasks)
	if err != nil {
		return err
	}
	s.Merge, err = e.sbatch(ctx, dir, "--job-name="+name+merging, "--dependency=afterany:"+s.Array, logOption(dir, mergeLog), scripts.merge)
	return err
}

// sbatch submits a script and returns the number of the job. Of options given twice
// the last one holds: the engine's own ones.
func (e Engine) sbatch(ctx context.Context, dir string, words ...string) (string, error) {
	options := slices.Clone(e.Options)
	for _, o := range [][2]string{{"--time=", e.Time}, {"--partition=", e.Partition}, {"--account=", e.Account}} {
		if o[1] != "" {
			options = append(options, o[0]+o[1])
		}
	}
	options = append(options, "--parsable", "--requeue", "--open-mode=append", "--chdir="+dir)
	out, err := command(ctx, "sbatch", append(options, words...)...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // behind it stands the cluster's name
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("sbatch answers %q: wanted the number of a job", strings.TrimSpace(out))
	}
	return id, nil
}

// logOption has Slurm write a log into the folder, in whose name % is itself.
func logOption(dir, name string) string {
	return "--output=" + strings.ReplaceAll(dir, "%", "%%") + "/" + name
}

// ranges are ascending numbers as Slurm wants them, such as 1-4,7.
func ranges(numbers []int) string {
	var parts []string
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+n {
			n++
		}
		part := strconv.Itoa(numbers[0])
		if n > 1 {
			part += "-" + strconv.Itoa(numbers[n-1])
		}
		parts, numbers = append(parts, part), numbers[n:]
	}
	return strings.Join(parts, ",")
}

// scripts are the paths of those that the jobs run.
type scripts struct{ tasks, merge string }

// prepare writes what the jobs need. No job of the folder is queued now.
func (e Engine) prepare(w *sweep.Work, dir string, parts int) (s scripts, err error) {
	printed, err := outdir.Below(dir, logs)
	if err != nil {
		return s, err
	}
	if err := os.MkdirAll(printed, 0o777); err != nil { // Slurm does not make it
		return s, err
	}
	exe, err := e.copyProgram(filepath.Join(dir, own))
	if err != nil {
		return s, fmt.Errorf("copying the program for the jobs: %w", err)
	}
	s = scripts{filepath.Join(dir, own, "tasks.sh"), filepath.Join(dir, own, "merge.sh")}
	rest := append([]string{"--out", dir}, e.Flags...)
	if w.Limit.Time > 0 {
		rest = append(rest, "--limit", strconv.FormatFloat(w.Limit.Time.Seconds(), 'f', -1, 64)+"s")
	}
	if w.Limit.Tries > 0 {
		rest = append(rest, "--tries", strconv.Itoa(w.Limit.Tries))
	}
	err = write(s.tasks, `#!/bin/bash
# Written by gridslot: a task of a study does its part of the units that have no
# result yet.
exec `+quote(exe, "sweep", "shard")+` "$SLURM_ARRAY_TASK_ID/`+strconv.Itoa(parts)+`" `+quote(rest...)+` --workers "${SLURM_CPUS_PER_TASK:-1}"
`)
	if err != nil {
		return s, err
	}
	return s, write(s.merge, `#!/bin/bash
# Written by gridslot: results.csv of what the tasks have stored. A command that
# still waits for them holds the folder until it has merged itself.
for try in 1 2 3 4 5 6; do
	`+quote(exe, "sweep", "merge", dir)+` && exit
	sleep 10
done
exit 1
`)
}

// programs begins the names of copies of the program.
const programs = "gridslot-"

// copyProgram copies the program under a name that says what is in it, and removes
// other copies.
func (e Engine) copyProgram(dir string) (string, error) {
	from, err := e.open()
	if err != nil {
		return "", err
	}
	defer from.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, from); err != nil {
		return "", err
	}
	to := filepath.Join(dir, programs+hex.EncodeToString(sum.Sum(nil)[:8]))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, programs) && name != filepath.Base(to) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return "", err
			}
		}
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if err := atomicfile.Write(to, func(w io.Writer) error { _, err := io.Copy(w, from); return err }); err != nil {
		return "", err
	}
	return to, os.Chmod(to, 0o755)
}

// open opens the program. Linux has the file that this process was started from even
// where another one, or none, stands in its place now.
func (e Engine) open() (*os.File, error) {
	if e.Program != "" {
		return os.Open(e.Program)
	}
	if file, err := os.Open("/proc/self/exe"); err == nil {
		return file, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

func write(path, text string) error {
	return atomicfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// quote are words as a shell reads them, whatever is in them.
func quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
