package metrics

// queue-POLICY.csv: how long the queue is and how many processors are busy.

import (
	"io"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/rows"
)

// QueueWriter is an Observer that writes queue-POLICY.csv: a row for every
// instant at whose end a number is another than before. On named nodes each is
// busy until its own task ends.
type QueueWriter struct {
	// Beside, if set, is as in JobsWriter. A writer that is not closed is then to be stopped.
	Beside func(do func())

	text *rows.Writer[rows.Level]
	// now is the instant of the latest event, level the numbers at it.
	now   des.Time
	level queueLevel
	// last has the numbers of the latest row, jobs -1 if there is none.
	last queueLevel
	// belt makes rows into text, many at a time; nil before the first row.
	belt *belt[rows.Level]
	leaving
}

// queueLevel is the number of jobs in the queue, the number of processors that they ask for, and
// the number of busy ones.
type queueLevel struct{ jobs, processors, busy int64 }

// NewQueueWriter returns a writer of queue-POLICY.csv to w.
func NewQueueWriter(w io.Writer) *QueueWriter {
	return &QueueWriter{text: rows.NewWriter(w, rows.Queue), last: queueLevel{jobs: -1}}
}

// Observe takes one event in.
func (q *QueueWriter) Observe(e entity.JobEvent) {
	if e.Time != q.now {
		q.reach(e.Time)
	}
	// A job that starts leaves the queue with what it asked for there, and takes what it has got.
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
		a, _, _, _ := entity.Over(e)
		q.level.busy += nodes - int64(a.Window.Nodes)
	case entity.JobRequeued:
		q.queued(1, asked)
		a, _, _, _ := entity.Over(e)
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

// reach ends the latest instant if now is a later one.
func (q *QueueWriter) reach(now des.Time) {
	if now != q.now && q.level != q.last {
		q.put()
	}
	q.now = now
}

// queued adds jobs to the queue, or takes them out.
func (q *QueueWriter) queued(jobs, processors int64) {
	q.level.jobs += jobs
	q.level.processors += processors
}

// put writes the row of the latest instant, if a number has changed since the row before; an empty
// machine at the beginning has no row.
func (q *QueueWriter) put() {
	if q.level == q.last || (q.last.jobs < 0 && q.level == queueLevel{}) {
		return
	}
	q.last = q.level
	if q.belt == nil {
		q.belt = newBelt(queueBatch, q.Beside, q.writeRows)
	}
	q.belt.put(rows.Level{Time: q.now, Jobs: int(q.level.jobs), Processors: int(q.level.processors), Busy: int(q.level.busy)})
}

// queueBatch is the number of rows that become text at a time.
const queueBatch = 1024

// writeRows writes rows as they come from the belt.
func (q *QueueWriter) writeRows(levels []rows.Level) {
	for i := range levels {
		q.text.Write(&levels[i])
	}
}

// Stop waits until all rows that were handed over are written, and ends the goroutine. After Close
// it does nothing.
func (q *QueueWriter) Stop() {
	if q.belt != nil {
		q.belt.close()
		q.belt = nil
	}
}

// Close writes the rows that are left, the row of the latest instant included, and returns the
// first error. The underlying writer stays open.
func (q *QueueWriter) Close() error {
	q.put()
	q.Stop()
	return q.text.Flush()
}
