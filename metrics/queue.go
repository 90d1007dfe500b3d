package metrics

// queue-POLICY.csv: how long the queue is and how many processors are busy.

import (
	"fmt"
	"io"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/decimal"
	"github.com/gridslot/gridslot/metrics/internal/belt"
)

// QueueHeader is the first line of queue-POLICY.csv.
const QueueHeader = "time,queued_jobs,queued_processors,busy_processors"

// QueueWriter is an Observer that writes queue-POLICY.csv: a row for every
// instant at whose end a number is another than before. On named nodes each is
// busy until its own task ends.
type QueueWriter struct {
	// Beside, if set, is as in JobsWriter.
	Beside func(do func())

	text  text
	now   des.Time               // of the latest event
	level queueLevel             // as of the latest event
	last  queueLevel             // in the latest row
	belt  *belt.Belt[[]queueRow] // nil where rows become text at once
	batch *[]queueRow            // of the belt, to be handed over
	leaving
}

type queueLevel struct{ jobs, processors, busy int64 }

// queueRow is a row on its way to become text.
type queueRow struct {
	at des.Time
	queueLevel
}

// NewQueueWriter returns a writer of queue-POLICY.csv to w.
func NewQueueWriter(w io.Writer) *QueueWriter {
	q := &QueueWriter{text: text{out: w}, last: queueLevel{jobs: -1}}
	q.text.buf = append(make([]byte, 0, flushAt+256), QueueHeader...)
	q.text.buf = append(q.text.buf, '\n')
	return q
}

// Observe takes one event in.
func (q *QueueWriter) Observe(e entity.JobEvent) {
	if e.Time != q.now {
		q.reach(e.Time)
	}
	nodes := int64(e.Run.Request.Nodes)
	asked := nodes
	if e.Run.Shapes != nil { // a moldable job that waits counts by its own request
		asked = int64(e.Run.Job.Request.Nodes)
	}
	switch e.Kind {
	case entity.JobSubmitted:
		q.queued(1, asked)
	case entity.JobRejected:
		q.queued(-1, -asked)
	case entity.JobStarted:
		q.queued(-1, -asked)
		q.level.busy += nodes
	case entity.JobFinished, entity.JobKilled:
		q.level.busy -= q.left(e.Run, e.Run.Request.Nodes, e.Run.Ends(), e.Time)
	case entity.JobResized:
		q.level.busy += nodes - int64(latestOf(e.Run.Earlier()).Window.Nodes)
	case entity.JobRequeued:
		q.queued(1, asked)
		a := latestOf(e.Run.Earlier())
		q.level.busy -= q.left(e.Run, a.Window.Nodes, a.Ends, e.Time)
	}
}

// TaskEnded takes in the end of a task on named nodes.
func (q *QueueWriter) TaskEnded(r *entity.Run, i int) {
	if q.taskEnded(r, i) {
		q.reach(r.Ends()[i])
		q.level.busy--
	}
}

// reach ends the latest instant where now is a later one.
func (q *QueueWriter) reach(now des.Time) {
	if now != q.now && q.level != q.last {
		q.row()
	}
	q.now = now
}

func (q *QueueWriter) queued(jobs, processors int64) {
	q.level.jobs += jobs
	q.level.processors += processors
}

// row writes the row of the latest instant where a number has changed.
func (q *QueueWriter) row() {
	if q.level == q.last || (q.last.jobs < 0 && q.level == queueLevel{}) {
		return
	}
	q.last = q.level
	r := queueRow{q.now, q.level}
	if q.Beside == nil {
		q.text.put(r.appendTo(q.text.buf))
		return
	}
	if q.belt == nil {
		q.belt = belt.New(q.Beside, q.writeRows)
		q.batch = q.belt.Empty()
	}
	if *q.batch = append(*q.batch, r); len(*q.batch) == queueBatch {
		q.handOver()
	}
}

// queueBatch is how many rows are handed over at a time.
const queueBatch = 4096

// handOver sends the rows that wait.
func (q *QueueWriter) handOver() {
	q.belt.Send(q.batch)
	q.batch = q.belt.Empty()
}

// writeRows writes rows as they come from the belt.
func (q *QueueWriter) writeRows(rows *[]queueRow) {
	for _, r := range *rows {
		q.text.put(r.appendTo(q.text.buf))
	}
	*rows = (*rows)[:0]
}

func (r queueRow) appendTo(b []byte) []byte {
	b = append(appendTime(b, r.at), ',')
	b = append(decimal.AppendInt(b, r.jobs), ',')
	b = append(decimal.AppendInt(b, r.processors), ',')
	return append(decimal.AppendInt(b, r.busy), '\n')
}

// stop has all rows that were handed over be written, and lets go of the goroutine.
func (q *QueueWriter) stop() {
	if q.belt == nil {
		return
	}
	q.handOver()
	q.belt.Close()
	q.belt = nil
}

// Close writes what is left, the row of the latest instant included, and returns
// the first error met. The underlying writer stays open.
func (q *QueueWriter) Close() error {
	q.row()
	q.stop()
	if err := q.text.flush(); err != nil {
		return fmt.Errorf("queue CSV: %w", err)
	}
	return nil
}
