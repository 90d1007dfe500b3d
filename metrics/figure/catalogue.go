package figure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// noDataError reports a figure that cannot be drawn because something is missing: Missing says
// what, for "there is no ...".
type noDataError struct{ Figure, Missing string }

func (e *noDataError) Error() string {
	return fmt.Sprintf("%s cannot be drawn: there is no %s", e.Figure, e.Missing)
}

// catalogue has the figures of a folder, in the order in which Draw draws them. about says what a
// figure shows to a reader of a list; a figure whose about names slowdowns gets a note of their
// bound. file is Figure.File.
var catalogue = []struct {
	name, about, file string
	draw              func(*reader) (*Figure, error)
}{
	{"utilization", "processors or nodes in use over time, and those in service", rows.Queue.Name, (*reader).utilization},
	{"queue", "jobs waiting over time", rows.Queue.Name, drawing((*reader).queue, drawQueue)},
	{"demand", "processors that the waiting jobs ask for, over time", rows.Queue.Name, drawing((*reader).queue, drawDemand)},
	{"capacity", "what became of the capacity: useful, lost, overhead, owners, down, idle", rows.Capacities.Name, (*reader).capacity},
	{"policies", "mean wait, turnaround and bounded slowdown of the policies, with intervals", "", drawing((*reader).jobs, Policies)},
	{"distributions", "empirical distributions of wait, bounded slowdown and turnaround", "", drawing((*reader).jobs, Distributions)},
	{"wait-by-size", "mean wait and bounded slowdown by the size of jobs", "", drawing((*reader).jobs, WaitBySize)},
	{"wait-by-estimate", "mean wait and bounded slowdown by the estimates of jobs", "", drawing((*reader).jobs, WaitByEstimate)},
	{"load", "jobs and work submitted by hour and weekday", "", (*reader).load},
	{"estimates", "how accurate estimates are", "", drawing((*reader).jobs, estimatesOfFirst)},
	{"predictions", "predicted against real runtimes, the error by runtime, and what it does to slowdowns", rows.Accuracies.Name, (*reader).predictions},
	{"owners", "income of each owner, and what a node-hour earned", rows.Owners.Name, drawing(each((*results.Run).Owners), drawOwners)},
	{"prices", "mean prices of owners' nodes over time", rows.Prices.Name, drawing(each((*results.Run).Prices), drawPrices)},
	{"income", "income of all owners in each cycle", rows.Cycles.Name, drawing(each((*results.Run).Cycles), drawIncome)},
	{"alternatives", "Pareto front of a batch, and what was chosen", rows.Combinations.Name, drawing(each((*results.Run).Alternatives), drawAlternatives)},
}

// Names returns the names of the figures that there are, and what each shows.
func Names() (names, about []string) {
	for _, c := range catalogue {
		names, about = append(names, c.name), append(about, c.about)
	}
	return names, about
}

// Draw draws figures of a folder, by their names; without names all that it has
// data for, in the order of Names. An unknown name is an *enum.UnknownError, a figure
// that is asked for and has no data a *noDataError.
func Draw(folder *results.Folder, names ...string) ([]*Figure, error) {
	known, _ := Names()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, enum.Unknown("figure", name, known)
		}
	}
	r := &reader{folder: folder}
	var all []*Figure
	for _, c := range catalogue {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		f, err := c.draw(r)
		var none *noDataError
		switch {
		case errors.As(err, &none) && len(names) == 0:
			continue
		case errors.As(err, &none):
			none.Figure = c.name
			return nil, fmt.Errorf("%s: %w", folder.Dir, none)
		case err != nil:
			return nil, err
		}
		f.Name, f.File = c.name, c.file
		if tau := folder.Manifest.Settings["tau"]; tau != "" && strings.Contains(c.about, "slowdown") {
			f.Note = strings.TrimSpace(fmt.Sprintf("%s Slowdowns are bounded at %s s.", f.Note, tau))
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds nothing that could be drawn", folder.Dir)
	}
	return all, nil
}

// reader reads the rows of a folder. Those of jobs and queues, which several figures need, are read
// once, when the first figure asks for them.
type reader struct {
	folder    *results.Folder
	jobRows   []Rows[rows.Job]
	queueRows []Rows[rows.Level]
}

// drawing makes a figure of a folder from what it is drawn from and how.
func drawing[T any](read func(*reader) ([]Rows[T], error), draw func([]Rows[T]) (*Figure, error)) func(*reader) (*Figure, error) {
	return func(r *reader) (*Figure, error) {
		all, err := read(r)
		if err != nil {
			return nil, err
		}
		return draw(all)
	}
}

// each reads the rows of each run of the folder, without the runs that have none. If no run has
// any, draw has to say what is missing.
func each[T any](rows func(*results.Run) ([]T, error)) func(*reader) ([]Rows[T], error) {
	return func(r *reader) (all []Rows[T], err error) {
		for _, run := range r.folder.Runs {
			list, err := rows(run)
			if err != nil {
				return nil, err
			}
			if len(list) > 0 {
				all = append(all, Rows[T]{run.Policy, list})
			}
		}
		return all, nil
	}
}

// once reads rows into kept, unless they are there. missing is what a folder without any lacks.
func once[T any](r *reader, kept *[]Rows[T], rows func(*results.Run) ([]T, error), missing string) (_ []Rows[T], err error) {
	if *kept == nil {
		if *kept, err = each(rows)(r); err != nil {
			return nil, err
		}
	}
	if len(*kept) == 0 {
		return nil, &noDataError{Missing: missing}
	}
	return *kept, nil
}

func (r *reader) jobs() ([]Rows[rows.Job], error) {
	return once(r, &r.jobRows, (*results.Run).Jobs, "jobs-POLICY.csv with jobs")
}

func (r *reader) queue() ([]Rows[rows.Level], error) {
	return once(r, &r.queueRows, (*results.Run).Queue, "queue-POLICY.csv with rows")
}

// utilization draws the levels beside what was out of service. All runs of a folder are of one
// machine: the first one that tells the number of processors tells it for all.
func (r *reader) utilization() (*Figure, error) {
	queue, err := r.queue()
	if err != nil {
		return nil, err
	}
	outages := make([][]rows.Outage, len(queue))
	processors := 0
	for i, q := range queue {
		run, err := r.folder.Run(q.Name)
		if err != nil {
			return nil, err
		}
		if outages[i], err = run.Outages(); err != nil {
			return nil, err
		}
		if processors == 0 {
			if processors, err = run.Processors(); err != nil {
				return nil, err
			}
		}
	}
	return drawUtilization(queue, processors, outages)
}

func (r *reader) capacity() (*Figure, error) {
	t, err := r.folder.Table(rows.Capacities.Name)
	if err != nil {
		return nil, err
	}
	return drawCapacity(t)
}

// load and estimatesOfFirst are about the workload: the first run is enough, because all runs have
// the same.
func (r *reader) load() (*Figure, error) {
	jobs, err := r.jobs()
	if err != nil {
		return nil, err
	}
	return drawLoad(jobs[0].Rows, r.folder.Origin())
}

func estimatesOfFirst(jobs []Rows[rows.Job]) (*Figure, error) { return Estimates(jobs[0].Rows) }

func (r *reader) predictions() (*Figure, error) {
	accuracy, err := each((*results.Run).Accuracy)(r)
	if err != nil {
		return nil, err
	}
	jobs, err := r.jobs()
	if err != nil {
		return nil, err
	}
	return drawPredictions(jobs, accuracy)
}
