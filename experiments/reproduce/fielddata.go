package reproduce

// What experiments on published data have in common: reading them, and running jobs
// on a cluster.

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/workload"
)

// readColumns reads numbers from a CSV file, which may be compressed: for each row
// those of the columns named, in that order, and -1 where a field is none, the text for
// what there is not; any other text is an error.
func readColumns(path, none string, columns ...string) ([][]float64, error) {
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
			if none != "" && line[c] == none {
				row[i] = -1
			} else if row[i], err = strconv.ParseFloat(line[c], 64); err != nil {
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

// waitOf is the mean wait of runs, in so long a unit.
func waitOf(runs []*entity.Run, unit des.Time) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += float64(r.Wait()) / float64(unit)
	}
	return sum / float64(len(runs))
}
