package reproduce

// What experiments on published data have in common: reading them, running jobs on a
// cluster, and means.

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload"
)

// readColumns reads numbers from a CSV file, which may be compressed: for each row
// those of the columns named, in that order. Any other text is an error.
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
	r := csv.NewReader(text)
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: the first line: %w", filepath.Base(path), err)
	}
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.Index(head, name); at[i] < 0 {
			return nil, fmt.Errorf("%s: there is no column %q", filepath.Base(path), name)
		}
	}
	var rows [][]float64
	for {
		line, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		row := make([]float64, len(columns))
		for i, c := range at {
			if row[i], err = strconv.ParseFloat(line[c], 64); err != nil {
				n, _ := r.FieldPos(c)
				return nil, fmt.Errorf("%s, line %d, %s: want a number, not %q", filepath.Base(path), n, columns[i], line[c])
			}
		}
		rows = append(rows, row)
	}
}

// runOn has jobs run on a cluster of so many processors, and returns what became of
// them, in their order.
func runOn(ctx context.Context, procs int, p entity.Policy, pass entity.Pass, jobs []*entity.Job) ([]*entity.Run, error) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(procs), p)
	m.Pass = pass
	runs := make([]*entity.Run, len(jobs))
	for i, j := range jobs {
		runs[i] = m.Submit(j)
	}
	return runs, sim.Run(ctx)
}

// each calls do for the n runs of an experiment, as many at a time as c says, and tells
// c of the progress.
func (c Config) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	var done atomic.Int64
	return scenario.Each(ctx, n, cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), func(ctx context.Context, i int) error {
		if err := do(ctx, i); err != nil {
			return err
		}
		if c.Progress != nil {
			c.Progress(int(done.Add(1)), n)
		}
		return nil
	})
}

// waitOf is the mean wait of runs, in so long a unit.
func waitOf(runs []*entity.Run, unit des.Time) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += float64(r.Wait()) / float64(unit)
	}
	return sum / float64(len(runs))
}

// meanSlowdown is the mean bounded slowdown of runs.
func meanSlowdown(runs []*entity.Run) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += metrics.BoundedSlowdown(r.Wait(), r.Runtime)
	}
	return sum / float64(len(runs))
}

// mean is that of one number or more.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// median is the lower one of two.
func median(x []float64) float64 {
	return slices.Sorted(slices.Values(x))[(len(x)-1)/2]
}
