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

// Jobs returns the rows of jobs-POLICY.csv, in order of job id, those of the warm-up included. It
// is an error if they are not as many as summary.csv counts: the file has been cut off, or belongs
// to another run.
func (r *Run) Jobs() ([]rows.Job, error) {
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

// warmUp returns how many of all jobs of a run belong to its warm-up. Rows are not in order of
// submission.
func warmUp(jobs []rows.Job, w metrics.Warmup) (n int) {
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
func (r *Run) Queue() ([]rows.Level, error) { return read(r, "queue", rows.Queue) }

// Attempts are the rows of attempts-POLICY.csv, in the order in which they ended.
func (r *Run) Attempts() ([]rows.Attempt, error) {
	return read(r, "attempts", rows.Attempts)
}

// Accuracy are the rows of accuracy-POLICY.csv: how good predictions of runtimes were, by
// classes of jobs.
func (r *Run) Accuracy() ([]rows.Accuracy, error) {
	return read(r, "accuracy", rows.Accuracies)
}

// Tasks are the rows of tasks-POLICY.csv.
func (r *Run) Tasks() ([]rows.Task, error) {
	return read(r, "tasks", rows.Tasks)
}

// Outages are the rows of outages-POLICY.csv, in the order in which they began.
func (r *Run) Outages() ([]rows.Outage, error) {
	return read(r, "outages", rows.Outages)
}

// Prices are the rows of prices-POLICY.csv, of each node in order of time.
func (r *Run) Prices() ([]rows.Price, error) { return read(r, "prices", rows.Prices) }

// Owners are the rows of owners-POLICY.csv.
func (r *Run) Owners() ([]rows.Owner, error) {
	return read(r, "owners", rows.Owners)
}

// Cycles are the rows of cycles-POLICY.csv.
func (r *Run) Cycles() ([]rows.Cycle, error) {
	return read(r, "cycles", rows.Cycles)
}

// Alternatives are the rows of pareto-POLICY.csv.
func (r *Run) Alternatives() ([]rows.Combination, error) {
	return read(r, "pareto", rows.Combinations)
}

// Windows are the rows of alternatives-POLICY.csv, the windows that each job of a
// batch could choose from; nil without simulate --alternatives.
func (r *Run) Windows() ([]rows.WindowTask, error) {
	return read(r, "alternatives", rows.Alternatives)
}

// Nodes are the rows of nodes.csv.
func (f *Folder) Nodes() ([]rows.Node, error) {
	nodes, err := readFile(f, "nodes.csv", rows.Nodes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nodes, err
}

// Decisions are the rows of decisions-POLICY.csv, in the order in which each thing
// ceased to hold its job; nil without simulate --decisions.
func (r *Run) Decisions() ([]rows.Decision, error) { return read(r, "decisions", rows.Decisions) }

// Messages are the lines of log-STRATEGY.txt, in order of time; nil where the file of
// the grid does not say log: true.
func (r *Run) Messages() ([]rows.Message, error) {
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
