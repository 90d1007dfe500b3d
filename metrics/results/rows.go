package results

// The rows of the files, as docs/reference/files.md has them.

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// None is a time that there is none of.
const None = rows.None

// The rows of the files, which package rows explains.
type (
	Job         = rows.Job
	State       = rows.State
	Level       = rows.Level
	Attempt     = rows.Attempt
	Decision    = rows.Decision
	Accuracy    = rows.Accuracy
	Task        = rows.Task
	Outage      = rows.Outage
	Price       = rows.Price
	Owner       = rows.Owner
	Cycle       = rows.Cycle
	Combination = rows.Combination
	WindowTask  = rows.WindowTask
	Node        = rows.Node
	Message     = rows.Message
	Table       = rows.Table
)

// What became of a job.
const (
	Submitted = rows.Submitted
	Running   = rows.Running
	Finished  = rows.Finished
	Walltime  = rows.Walltime
	Killed    = rows.Killed
	Rejected  = rows.Rejected
)

// Jobs are the rows of jobs-POLICY.csv, in order of job id, those of the warm-up included.
// It is an error where there are not as many as summary.csv counts: the file has been cut
// off, or belongs to another run.
func (r *Run) Jobs() ([]Job, error) {
	jobs, err := read(r, "jobs", rows.Jobs)
	want := r.Summary("jobs")
	if err != nil || !(want >= 0) {
		return jobs, err
	}
	warmup, err := r.folder.warmup()
	if err != nil {
		return nil, err
	}
	if early := warmUp(jobs, warmup); float64(len(jobs)-early) != want {
		but := ""
		if early > 0 {
			but = fmt.Sprintf(", %d of which are its warm-up", early)
		}
		err = fmt.Errorf("%s: it has the rows of %d jobs%s, and summary.csv counts %.0f: the file has been cut off, or is of another run", r.folder.path(r.name("jobs")), len(jobs), but, want)
	}
	return jobs, err
}

// warmUp is how many of all jobs of a run belong to its warm-up.
func warmUp(jobs []Job, w metrics.Warmup) (n int) {
	if w.Until == 0 {
		return min(w.Jobs, len(jobs))
	}
	first := des.Forever
	for i := range jobs {
		first = min(first, jobs[i].Submit)
	}
	for i := range jobs {
		if jobs[i].Submit < first.Add(w.Until) {
			n++
		}
	}
	return n
}

// Queue are the rows of queue-POLICY.csv, in order of time.
func (r *Run) Queue() ([]Level, error) { return read(r, "queue", rows.Queue) }

// Attempts are the rows of attempts-POLICY.csv, in the order in which they ended.
func (r *Run) Attempts() ([]Attempt, error) {
	return read(r, "attempts", rows.Attempts)
}

// Accuracy are the rows of accuracy-POLICY.csv: how good predictions of runtimes were, by
// classes of jobs.
func (r *Run) Accuracy() ([]Accuracy, error) {
	return read(r, "accuracy", rows.Accuracies)
}

// Tasks are the rows of tasks-POLICY.csv.
func (r *Run) Tasks() ([]Task, error) {
	return read(r, "tasks", rows.Tasks)
}

// Outages are the rows of outages-POLICY.csv, in the order in which they began.
func (r *Run) Outages() ([]Outage, error) {
	return read(r, "outages", rows.Outages)
}

// Prices are the rows of prices-POLICY.csv, of each node in order of time.
func (r *Run) Prices() ([]Price, error) { return read(r, "prices", rows.Prices) }

// Owners are the rows of owners-POLICY.csv.
func (r *Run) Owners() ([]Owner, error) {
	return read(r, "owners", rows.Owners)
}

// Cycles are the rows of cycles-POLICY.csv.
func (r *Run) Cycles() ([]Cycle, error) {
	return read(r, "cycles", rows.Cycles)
}

// Alternatives are the rows of pareto-POLICY.csv.
func (r *Run) Alternatives() ([]Combination, error) {
	return read(r, "pareto", rows.Combinations)
}

// Windows are the rows of alternatives-POLICY.csv, the windows that each job of a
// batch could choose from; nil without simulate --alternatives.
func (r *Run) Windows() ([]WindowTask, error) {
	return read(r, "alternatives", rows.Alternatives)
}

// Nodes are the rows of nodes.csv.
func (f *Folder) Nodes() ([]Node, error) {
	nodes, err := readFile(f, "nodes.csv", rows.Nodes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nodes, err
}

// Decisions are the rows of decisions-POLICY.csv, in the order in which each thing
// ceased to hold its job; nil without simulate --decisions.
func (r *Run) Decisions() ([]Decision, error) { return read(r, "decisions", rows.Decisions) }

// Messages are the lines of log-STRATEGY.txt, in order of time; nil where the file of
// the grid does not say log: true.
func (r *Run) Messages() ([]Message, error) {
	name := "log-" + r.file + ".txt"
	if !r.wrote(name) {
		return nil, nil
	}
	text, err := r.folder.text(name)
	if err != nil {
		return nil, err
	}
	return rows.ReadMessages(r.folder.path(name), text)
}
