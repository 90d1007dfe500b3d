package reproduce

// Published results of others beside ours: the same jobs, which they have published, so that each
// figure is a figure of one run and not a mean over cycles. This file has the common parts of such
// experiments: finding and reading the data, running jobs on a cluster, judging by single runs.

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/internal/parallel"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/stats"
	"github.com/gridslot/gridslot/workload"
)

// referenceVariable names, in the environment, the folder of what others have published: its files
// are there, or in a folder "field" or "inputs" in it. tracesVariable names the folder of real
// logs.
const (
	referenceVariable = "GRIDSLOT_REFERENCE"
	tracesVariable    = "GRIDSLOT_TRACES"
)

// MissingError reports an experiment whose data are not at hand, and says where they are to be had.
type MissingError struct {
	File     string // its name
	How      string // where it is to be had, a sentence
	Variable string // names the folder it is looked for in; GRIDSLOT_REFERENCE where empty
}

// Error ends without a full stop, though How is a sentence.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not at hand: set %s to the folder that has it. %s", e.File, cmp.Or(e.Variable, referenceVariable), strings.TrimSuffix(e.How, "."))
}

// logFile returns the path of a log of that name, with one of the usual endings; how says where it
// is to be had.
func logFile(name, how string) (string, error) {
	for _, ending := range []string{".swf.gz", ".swf", ".recon.swf.gz"} {
		if path, ok := dataFile(tracesVariable, name+ending); ok {
			return path, nil
		}
	}
	return "", &MissingError{name + ".swf", how, tracesVariable}
}

// fieldFile returns the path of a published file; how says where it is to be had.
func fieldFile(name, how string) (string, error) {
	for _, path := range []string{filepath.Join("field", name), filepath.Join("inputs", name), name} {
		if path, ok := dataFile(referenceVariable, path); ok {
			return path, nil
		}
	}
	return "", &MissingError{File: name, How: how}
}

// dataFile returns the path of a file in the folder that a variable names, and whether it is there.
func dataFile(variable, name string) (path string, ok bool) {
	dir := os.Getenv(variable)
	path = filepath.Join(dir, name)
	_, err := os.Stat(path)
	return path, dir != "" && err == nil
}

// log returns the path of a log of the experiment.
func (p *page) log(name string) (string, error) { return logFile(name, p.How) }

// file returns the path of a published file of the experiment.
func (p *page) file(name string) (string, error) { return fieldFile(name, p.How) }

// dataOf returns the published files of e that are at hand, with their checksums.
func dataOf(e Experiment) (data []string, err error) {
	p := e.page()
	var found []string
	for _, name := range p.Logs {
		if path, err := p.log(name); err == nil {
			found = append(found, path)
		}
	}
	for _, name := range p.Files {
		if path, err := p.file(name); err == nil {
			found = append(found, path)
		}
	}
	for _, path := range found {
		in, err := sweep.InputFile(path)
		if err != nil {
			return nil, err
		}
		data = append(data, filepath.Base(path)+" sha256:"+in.Sum)
	}
	return data, nil
}

// single returns the figure of a single run: an interval without a width.
func single(x float64) stats.Interval { return stats.Interval{Mean: x, N: 1} }

// fill gives a table of single runs its rows, and judges claims by them: first those that the
// published figures make by their order.
func (t *Reproduction) fill(rows []tableRow, claims ...tableClaim) error {
	if err := checkSettings(t.settings); err != nil {
		return err
	}
	index, err := indexOf(rows)
	if err != nil {
		return err
	}
	found := make(singleRuns, len(rows))
	for ref, i := range index {
		if found[ref] = math.NaN(); rows[i].Ours.N > 0 { // others are theirs alone
			found[ref] = rows[i].Ours.Mean
		}
	}
	t.cycles, t.publishedCycles, t.rows = 1, 1, rows
	t.claims = append(t.orderings(), claims...)
	for i := range t.claims {
		t.claims[i].judge(found)
	}
	return nil
}

// readColumns reads numbers from a CSV file, which may be compressed: for each row those of the
// columns named, in that order. Any text in them that is no number is an error.
func readColumns(path string, columns ...string) ([][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := workload.Decompress(f)
	if err != nil {
		return nil, err
	}
	r, name := csv.NewReader(text), filepath.Base(path)
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: the first line: %w", name, err)
	}
	at := make([]int, len(columns))
	for i, column := range columns {
		if at[i] = slices.Index(head, column); at[i] < 0 {
			return nil, fmt.Errorf("%s: there is no column %q", name, column)
		}
	}
	var rows [][]float64
	for {
		line, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		row := make([]float64, len(columns))
		for i, c := range at {
			if row[i], err = strconv.ParseFloat(line[c], 64); err != nil {
				n, _ := r.FieldPos(c)
				return nil, fmt.Errorf("%s, line %d, %s: want a number, not %q", name, n, columns[i], line[c])
			}
		}
		rows = append(rows, row)
	}
}

// columns reads columns of a published file of the experiment.
func (p *page) columns(file string, columns ...string) ([][]float64, error) {
	path, err := p.file(file)
	if err != nil {
		return nil, err
	}
	return readColumns(path, columns...)
}

// reconstructed reports whether a log's header says that it is not the archive's file.
func reconstructed(t *workload.Trace) (how string, ok bool) {
	how = t.Header.Get("Conversion")
	return how, strings.Contains(strings.ToLower(how), "reconstruct")
}

// runOn runs jobs on a cluster of procs processors and returns what became of them, in their order.
// set changes conditions of the metascheduler from the usual ones.
func runOn(ctx context.Context, procs int, p entity.Policy, jobs []*entity.Job, set func(*entity.Metascheduler), observers ...entity.Observer) ([]*entity.Run, error) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(procs), p, observers...)
	set(m)
	runs := make([]*entity.Run, len(jobs))
	for i, j := range jobs {
		runs[i] = m.Submit(j)
	}
	return runs, sim.Run(ctx)
}

// decideAt makes decisions come at the passes given.
func decideAt(pass entity.Pass) func(*entity.Metascheduler) {
	return func(m *entity.Metascheduler) { m.Pass = pass }
}

// each calls do for the n runs of an experiment, as many at a time as c says, and tells c of the
// progress.
func (c Config) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	var done atomic.Int64
	return parallel.Each(ctx, cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), n, func(ctx context.Context, _, i int) error {
		if err := do(ctx, i); err != nil {
			return err
		}
		if c.Progress != nil {
			c.Progress(int(done.Add(1)), n)
		}
		return nil
	})
}

// waitsOf returns the waits of runs in a unit.
func waitsOf(runs []*entity.Run, unit des.Time) (waits []float64) {
	for _, r := range runs {
		waits = append(waits, float64(r.Wait())/float64(unit))
	}
	return waits
}

// meanSlowdown returns the mean bounded slowdown of runs, max(1, (wait + runtime) / max(runtime, 10
// s)).
func meanSlowdown(runs []*entity.Run) float64 {
	var all []float64
	for _, r := range runs {
		all = append(all, metrics.BoundedSlowdown(r.Wait(), r.Runtime))
	}
	return mean(all)
}

// mean returns the mean of one number or more; NaN of none.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// median returns the middle number of one or more; the lower one of two.
func median(x []float64) float64 {
	return slices.Sorted(slices.Values(x))[(len(x)-1)/2]
}
