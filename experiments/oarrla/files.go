package oarrla

// The files of one run, written whole or not at all: jobs-STRATEGY.csv and
// jobs-STRATEGY-CLUSTER.csv, clusters-STRATEGY.csv, log-STRATEGY.txt.

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/metrics"
)

type files struct {
	dir, name, workload string

	open    []*metrics.JobsFile
	logFile *atomicfile.File
	logText *bufio.Writer
}

// jobs adds to observers the writer of a file of jobs, where files are wanted.
// A job as a whole has no processors to name.
func (f *files) jobs(observers []entity.Observer, of string, processors int) ([]entity.Observer, error) {
	if f.dir == "" {
		return observers, nil
	}
	w, err := metrics.CreateJobs(filepath.Join(f.dir, "jobs-"+f.name+of+".csv"))
	if err != nil {
		return nil, err
	}
	w.Workload, w.Processors = f.workload, processors
	if processors == 0 {
		w.Allocation = metrics.AllocationNone
	}
	f.open = append(f.open, w)
	return append(observers, w), nil
}

// log begins the log of negotiations.
func (f *files) log() (func(grid.Note), error) {
	if f.dir == "" {
		return nil, nil
	}
	var err error
	if f.logFile, err = atomicfile.Create(filepath.Join(f.dir, "log-"+f.name+".txt")); err != nil {
		return nil, err
	}
	f.logText = bufio.NewWriter(f.logFile)
	return func(n grid.Note) { fmt.Fprintln(f.logText, n) }, nil // Flush has what went wrong
}

func (f *files) commit(clusters []ClusterSummary) error {
	if f.dir == "" {
		return nil
	}
	for _, w := range f.open {
		if err := w.Commit(); err != nil {
			return err
		}
	}
	f.open = nil
	if f.logFile != nil {
		if err := f.logText.Flush(); err != nil {
			return err
		}
		if err := f.logFile.Commit(); err != nil {
			return err
		}
	}
	return writeCSV(filepath.Join(f.dir, "clusters-"+f.name+".csv"), clusters)
}

func (f *files) abort() {
	for _, w := range f.open {
		w.Abort()
	}
	if f.logFile != nil {
		f.logFile.Abort()
	}
}

// WriteSummaryCSV writes a heading and a row a strategy.
func WriteSummaryCSV(w io.Writer, rows []Summary) error {
	if err := gocsv.Marshal(rows, w); err != nil {
		return fmt.Errorf("writing summaries as CSV: %w", err)
	}
	return nil
}

func writeCSV(path string, rows any) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := gocsv.Marshal(rows, f); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return f.Commit()
}
