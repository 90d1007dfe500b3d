package slurm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// Engine submits the units of a study to Slurm and waits for them. The zero value
// makes sense.
type Engine struct {
	// Tasks is about how many tasks do the work; 0 means 64. There are never more
	// than units to be done, nor than the cluster's MaxArraySize allows.
	Tasks int
	// Time, Partition and Account are the options of sbatch; empty means the
	// cluster's defaults. The time is that of one task.
	Time, Partition, Account string
	// Options are other options of sbatch, a word each, such as --qos=long. They hold
	// for the tasks and for the job that merges.
	Options []string
	// NoWait has Run end with a *SubmittedError as soon as the jobs are queued.
	NoWait bool
	// Program is the executable that the jobs run; "" means this one. Flags are
	// given to its shard command beside those that the engine gives.
	Program string
	Flags   []string

	poll time.Duration // between looks into the folder and the queue; 0 lets it grow
}

// Submission is what was handed over to Slurm.
type Submission struct {
	Array string // number of the job array
	Merge string // number of the job that merges after it
	Tasks []int  // numbers of the array's tasks; each does its part of Parts
	Parts int
}

// SubmittedError tells that the units are left to Slurm, which goes on by itself.
type SubmittedError struct {
	Submission
	Dir string
}

func (e *SubmittedError) Error() string {
	return fmt.Sprintf("%s; %s", e.Submission, follow(e.Dir))
}

func (s Submission) String() string {
	return fmt.Sprintf("submitted job %s of %s, and job %s, which merges their results", s.Array, count(len(s.Tasks), "task"), s.Merge)
}

// QueuedError tells that jobs of the folder are still in Slurm's queue.
type QueuedError struct {
	Jobs []Job
	Dir  string
}

func (e *QueuedError) Error() string {
	return fmt.Sprintf("%s of this study in Slurm's queue already, and nothing is submitted twice; %s", are(e.Jobs), follow(e.Dir))
}

func follow(dir string) string {
	if strings.ContainsAny(dir, " \t\n'\"\\$`*?;&|<>()[]{}!#~") {
		dir = quote(dir)
	}
	return fmt.Sprintf("follow by: gridslot sweep status %s   end by: gridslot sweep cancel %[1]s", dir)
}

// are begins a sentence about jobs.
func are(jobs []Job) string {
	if ids := numbers(jobs); len(ids) != 1 {
		return "jobs " + strings.Join(ids, ", ") + " are"
	}
	return "job " + jobs[0].ID + " is"
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// SharesFolder implements sweep.Sharer.
func (Engine) SharesFolder() bool { return true }

// Run implements sweep.Engine. Where jobs of the folder are in Slurm's queue already
// it waits for them first. When ctx ends it leaves the jobs to Slurm.
func (e Engine) Run(ctx context.Context, w *sweep.Work) error {
	if w.Portable == nil || w.Dir == "" {
		return errors.New("jobs of Slurm need a study that other processes can read: a study file, and a folder for it (--out)")
	}
	dir, err := filepath.Abs(w.Dir)
	if err != nil {
		return err
	}
	missing := w.Units
	for {
		s, err := e.submit(ctx, w, dir, missing)
		var queued *QueuedError
		switch {
		case errors.As(err, &queued) && !e.NoWait:
			w.Tell("%s of this study in Slurm's queue already: waiting for what is there, nothing is submitted twice", are(queued.Jobs))
		case err != nil:
			return err
		case e.NoWait:
			return &SubmittedError{*s, w.Dir}
		default:
			w.Tell("%v; %s", s, follow(w.Dir))
		}
		if missing, err = e.wait(ctx, w, dir); err != nil || len(missing) == 0 {
			return err
		}
		if s != nil {
			return s.ended(ctx, w, dir, missing)
		}
	}
}

// submit queues tasks for the units that are missing, and the job that merges;
// *QueuedError where tasks of the folder are queued already. Another process that
// submits at the same time is refused.
func (e Engine) submit(ctx context.Context, w *sweep.Work, dir string, missing []sweep.Unit) (*Submission, error) {
	path, err := outdir.Below(dir, own)
	if err != nil {
		return nil, err
	}
	lock, err := outdir.Open(path)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	queued, err := Jobs(ctx, dir)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(queued, Job.computes) {
		return nil, &QueuedError{queued, w.Dir}
	}
	dismiss(ctx, queued)
	s, err := e.plan(ctx, w, missing)
	if err != nil {
		return nil, err
	}
	scripts, err := e.prepare(w, dir, s.Parts)
	if err != nil {
		return nil, err
	}
	if err := e.queue(ctx, dir, s, scripts); err != nil { // sbatch may have been interrupted after it had submitted
		_, failed := Cancel(context.WithoutCancel(ctx), dir)
		return nil, errors.Join(err, failed)
	}
	w.Note("slurm array", s.Array)
	w.Note("slurm merge", s.Merge)
	return s, nil
}

// Time between looks into the folder and the queue. It grows, as administrators
// do not like to be asked every second, and who waits for hours need not.
const (
	firstPoll = time.Second
	lastPoll  = 20 * time.Second
)

// wait returns when each unit is there or no task is left in the queue, with the
// units that are missing then.
func (e Engine) wait(ctx context.Context, w *sweep.Work, dir string) ([]sweep.Unit, error) {
	said := map[string]bool{}
	once := func(what string) {
		if !said[what] {
			said[what] = true
			w.Tell("%s", what)
		}
	}
	for pause := firstPoll; ; pause = min(pause*3/2, lastPoll) {
		jobs, asked := Jobs(ctx, dir)
		if asked != nil && ctx.Err() == nil { // a controller that is restarted comes back
			once(asked.Error() + "; asking on")
		}
		// The folder is looked at after the queue: a task that is not in the queue any
		// more has stored all that it ever will.
		missing, err := w.Look()
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 || asked == nil && !slices.ContainsFunc(jobs, Job.computes) {
			dismiss(ctx, jobs)
			return missing, nil
		}
		if reason := stuck(jobs); reason != "" {
			once("no task runs; Slurm's reason: " + reason)
		}
		if e.poll > 0 {
			pause = e.poll
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			w.Tell("the jobs go on without this command; %s", follow(w.Dir))
			return nil, ctx.Err()
		}
	}
}

func (j Job) computes() bool { return j.Task > 0 }

// usual are reasons to wait that pass by themselves.
var usual = []string{"None", "Priority", "Resources", "Dependency", "BeginTime", "Prolog", "JobArrayTaskLimit", "Cleaning"}

// stuck is why all tasks wait, where nobody knows whether that passes.
func stuck(jobs []Job) string {
	reason := ""
	for _, j := range jobs {
		switch {
		case !j.computes():
		case j.State != "PENDING" || slices.Contains(usual, j.Reason):
			return ""
		default:
			reason = j.Reason
		}
	}
	return reason
}

// dismiss takes the job that merges out of the queue: this process merges. A job
// that stays there all the same merges again, which changes nothing.
func dismiss(ctx context.Context, jobs []Job) {
	for _, j := range jobs {
		if !j.computes() {
			_, _ = command(ctx, "scancel", j.ID)
		}
	}
}
