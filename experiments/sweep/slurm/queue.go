package slurm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Job is a task of a study's array, or the job that merges, as long as it waits or
// runs.
type Job struct {
	ID     string `json:"id"`             // of the array or the job
	Task   int    `json:"task,omitempty"` // number in the array; 0 is the job that merges
	State  string `json:"state"`          // as squeue says: PENDING, RUNNING, ...
	Reason string `json:"reason"`         // why it waits, in Slurm's words
}

// Jobs are the jobs of a study's folder that wait or run, in the order of their
// numbers. They are found by their name, which is made of the folder's: so also
// those whose submitter was killed before it could note them.
func Jobs(ctx context.Context, dir string) ([]Job, error) {
	name, err := jobName(dir)
	if err != nil {
		return nil, err
	}
	out, err := command(ctx, "squeue", "--noheader", "--array", "--user="+strconv.Itoa(os.Getuid()),
		"--name="+name+","+name+merging, "--format=%F|%K|%T|%j|%r")
	if err != nil {
		return nil, err
	}
	return parseJobs(out)
}

func parseJobs(out string) ([]Job, error) {
	var jobs []Job
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 5)
		if len(f) < 5 {
			return nil, fmt.Errorf("squeue answers %q: wanted five fields between |", line)
		}
		j := Job{ID: f[0], State: f[2], Reason: f[4]}
		if _, err := strconv.ParseUint(j.ID, 10, 64); err != nil { // scancel is given it
			return nil, fmt.Errorf("squeue answers %q: wanted the number of a job as its first field", line)
		}
		if !strings.HasSuffix(f[3], merging) {
			var err error
			if j.Task, err = strconv.Atoi(f[1]); err != nil {
				return nil, fmt.Errorf("squeue answers %q: wanted the number of a task as its second field", line)
			}
		}
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Task, b.Task))
	})
	return jobs, nil
}

// Used reports whether jobs of Slurm were ever submitted for a study's folder.
func Used(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, own))
	return err == nil
}

// Cancel takes the jobs of a study's folder out of the queue and ends those that
// run. What they have stored stays. It returns the numbers of the jobs.
func Cancel(ctx context.Context, dir string) ([]string, error) {
	jobs, err := Jobs(ctx, dir)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	ids := numbers(jobs)
	_, err = command(ctx, "scancel", ids...)
	return ids, err
}

// numbers are those of jobs, each once.
func numbers(jobs []Job) []string {
	var ids []string
	for _, j := range jobs {
		if !slices.Contains(ids, j.ID) {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

// merging ends the name of the job that merges.
const merging = "-merge"

// jobName is the same from wherever the folder is looked at on this machine.
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
		return "", &MissingError{Command: name}
	}
	out, err := exec.Command(path, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if said := strings.TrimSpace(string(exit.Stderr)); said != "" {
			return "", fmt.Errorf("%s refuses: %s", name, said)
		}
	}
	if err != nil {
		return "", fmt.Errorf("running %s: %w", name, err)
	}
	return string(out), nil
}

// MissingError is a machine without Slurm's commands.
type MissingError struct{ Command string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not found on this machine: --engine slurm works where Slurm's commands are (a login node); "+
		"under another batch system let each of N tasks run \"gridslot sweep shard I/N STUDY --out DIR\", and \"gridslot sweep merge DIR\" after them", e.Command)
}
