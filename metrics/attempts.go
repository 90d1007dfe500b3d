package metrics

// attempts-POLICY.csv: a row an attempt, streamed in the order in which they end.

import (
	"fmt"
	"io"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/internal/ended"
)

// AttemptsHeader is the first line of attempts-POLICY.csv.
const AttemptsHeader = "job_id,attempt,starting_time,finish_time,processors,allocated_resources,kept,lost,overhead,end,processor_time"

// AttemptsWriter is an Observer that writes attempts-POLICY.csv, a row for each
// attempt that is over. kept, lost and overhead are times of the job, as its
// runtime is, on a node of performance 1: what an attempt has done, and is kept or
// lost as in Account, and what went into set-up and checkpoints. processor_time
// is what all its processors or nodes together really took.
type AttemptsWriter struct {
	// Allocation is what allocated_resources says, as in JobsWriter.
	Allocation Allocation

	out  io.Writer
	err  error
	buf  []byte
	rows []attemptRow // of this instant: places are known when it is over
	meta *entity.Metascheduler
}

type attemptRow struct {
	run    *entity.Run
	number int
	end    string
	entity.Attempt
}

// NewAttemptsWriter returns a writer of attempts-POLICY.csv to w.
func NewAttemptsWriter(w io.Writer) *AttemptsWriter {
	a := &AttemptsWriter{out: w}
	a.buf = append(make([]byte, 0, flushAt+4096), AttemptsHeader...)
	a.buf = append(a.buf, '\n')
	return a
}

// Attach tells the writer whose jobs it is to write.
func (w *AttemptsWriter) Attach(m *entity.Metascheduler) {
	w.meta = m
	w.Allocation = w.Allocation.of(processorsOf(m.Plan()))
}

// Observe takes one event in.
func (w *AttemptsWriter) Observe(e entity.JobEvent) {
	r := e.Run
	row := attemptRow{run: r, number: len(r.Earlier()) + 1}
	switch e.Kind {
	case entity.JobRequeued:
		row.number--
		row.Attempt, row.end = *latestOf(r.Earlier()), ended.Requeued
	case entity.JobResized:
		row.number--
		row.Attempt, row.end = *latestOf(r.Earlier()), ended.Resized
	case entity.JobFinished:
		row.Attempt, row.end = r.Latest(), ended.Finished
	case entity.JobKilled:
		row.Attempt, row.end = r.Latest(), ended.Killed
		if r.Reason == entity.ReasonEstimate {
			row.Kept, row.end = row.Work, ended.Walltime
		}
	default:
		return
	}
	w.rows = append(w.rows, row)
}

// InstantOver writes the attempts that have ended at this instant.
func (w *AttemptsWriter) InstantOver(des.Time) {
	for i := range w.rows {
		r := &w.rows[i]
		if r.end != ended.Requeued && r.end != ended.Resized {
			r.Place = r.run.Place
		}
		w.buf = w.appendRow(w.buf, r)
	}
	clear(w.rows)
	w.rows = w.rows[:0]
	if len(w.buf) >= flushAt {
		w.flush()
	}
}

func (w *AttemptsWriter) appendRow(b []byte, r *attemptRow) []byte {
	b = append(appendInt(b, r.run.ID), ',')
	b = append(appendInt(b, int64(r.number)), ',')
	b = append(appendTime(b, r.Start), ',')
	b = append(appendTime(b, r.End), ',')
	b = append(appendInt(b, int64(r.Window.Nodes)), ',')
	switch w.Allocation {
	case AllocationCount:
		b = appendInt(b, int64(r.Window.Nodes))
	case AllocationIntervals:
		b = procset.Append(b, placeOf(nil, r.Place, &r.Window))
	}
	b = append(b, ',')
	b = append(appendTime(b, r.Kept), ',')
	b = append(appendTime(b, r.Work-r.Kept), ',')
	b = append(appendTime(b, r.Overhead), ',')
	b = append(append(b, r.end...), ',')
	var took sum128
	took.addAttempt(r.Window.Nodes, r.Start, r.End, r.Ends)
	return append(took.appendTo(b), '\n')
}

func (w *AttemptsWriter) flush() {
	if w.err == nil {
		if _, err := w.out.Write(w.buf); err != nil {
			w.err = fmt.Errorf("attempts CSV: %w", err)
		}
	}
	w.buf = w.buf[:0]
}

// Close writes what is left and returns the first error met. The underlying writer
// stays open.
func (w *AttemptsWriter) Close() error {
	if w.meta != nil {
		w.meta.Settle()
	}
	w.InstantOver(0)
	w.flush()
	return w.err
}

// AttemptsFile is an attempts-POLICY.csv being written. It is an Observer; Commit
// ends it.
type AttemptsFile struct {
	*AttemptsWriter
	file *atomicfile.File
}

// CreateAttempts begins the file path.
func CreateAttempts(path string) (*AttemptsFile, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	return &AttemptsFile{NewAttemptsWriter(f), f}, nil
}

// Commit writes what is left and gives the file its name.
func (f *AttemptsFile) Commit() error {
	defer f.file.Abort()
	if err := f.Close(); err != nil {
		return err
	}
	return f.file.Commit()
}

// Abort throws the file away. After Commit it does nothing.
func (f *AttemptsFile) Abort() { f.file.Abort() }
