package metrics

// queue-POLICY.csv: how long the queue is and how many processors are busy.

import (
	"fmt"
	"io"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/decimal"
)

// QueueHeader is the first line of queue-POLICY.csv.
const QueueHeader = "time,queued_jobs,queued_processors,busy_processors"

// QueueWriter is an Observer that writes queue-POLICY.csv: a row for every
// instant at whose end a number is another than before. On named nodes each is
// busy until its own task ends.
type QueueWriter struct {
	out   io.Writer
	err   error
	buf   []byte
	now   des.Time   // of the latest event
	level queueLevel // as of the latest event
	last  queueLevel // in the latest row
	leaving
}

type queueLevel struct{ jobs, processors, busy int64 }

// NewQueueWriter returns a writer of queue-POLICY.csv to w.
func NewQueueWriter(w io.Writer) *QueueWriter {
	q := &QueueWriter{out: w, last: queueLevel{jobs: -1}}
	q.buf = append(make([]byte, 0, flushAt+256), QueueHeader...)
	q.buf = append(q.buf, '\n')
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
	b := appendTime(q.buf, q.now)
	b = append(b, ',')
	b = decimal.AppendInt(b, q.level.jobs)
	b = append(b, ',')
	b = decimal.AppendInt(b, q.level.processors)
	b = append(b, ',')
	b = decimal.AppendInt(b, q.level.busy)
	q.buf = append(b, '\n')
	if len(q.buf) >= flushAt {
		q.flush()
	}
}

func (q *QueueWriter) flush() {
	if q.err == nil {
		if _, err := q.out.Write(q.buf); err != nil {
			q.err = fmt.Errorf("queue CSV: %w", err)
		}
	}
	q.buf = q.buf[:0]
}

// Close writes what is left, the row of the latest instant included, and returns
// the first error met. The underlying writer stays open.
func (q *QueueWriter) Close() error {
	q.row()
	q.flush()
	return q.err
}
