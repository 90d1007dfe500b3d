package metrics

// events-POLICY.csv: all that happened to jobs, in the order in which it happened.

import (
	"io"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/decimal"
	"github.com/gridslot/gridslot/metrics/rows"
)

// EventWriter is an Observer that writes events-POLICY.csv, a row for each event. The files of
// jobs, attempts and queue can be made again from it, except energy and money. The rows of an
// instant are written when the instant is over, because the places of jobs are known only then. The
// writer must see all jobs from the first one on.
type EventWriter struct {
	// Allocation is the content of the column allocated_resources, as in JobsWriter.
	Allocation Allocation

	text *rows.Writer[rows.Event]
	now  []eventRow // the events of this instant
	// of is the event from which row, the row being written, is made.
	of  *eventRow
	row rows.Event
	// ahead has the jobs that hold a reservation ahead; never iterated.
	ahead map[*entity.Run]bool
	meta  *entity.Metascheduler
	// ids is room for the places of one row.
	ids []procset.Range
}

// eventRow holds the values of an event until its instant is over, because the run of the event
// changes meanwhile.
type eventRow struct {
	time    des.Time
	kind    entity.JobEventKind // of a task nothing
	run     *entity.Run
	attempt int // from 1; 0 where the event is about none
	// nodes is the number of nodes or processors that the job asks for, 0 if the event does not
	// tell. asked is its whole estimate and runtime its runtime, in the same shape.
	nodes   int
	asked   des.Time
	runtime des.Time
	// first tells that the row says everything about a job that comes.
	first bool
	start des.Time // below 0: none
	until des.Time // reserved end; below 0: none
	ended bool     // an attempt has:
	over  entity.Attempt
	// ran is the longest piece of a job that ran in pieces, or 0.
	ran des.Time
	// early is set for a job that was backfilled, and for a hold for the head of the queue.
	early bool
	task  *entity.Task
	cause string
	// open tells that the round under way is the cause; Decided fills it in.
	open bool
}

// NewEventWriter returns a writer of events-POLICY.csv to w.
func NewEventWriter(w io.Writer) *EventWriter {
	e := &EventWriter{ahead: map[*entity.Run]bool{}}
	e.text = rows.NewWriter(w, rows.Events.With("processor_time", e.appendTook).With("allocated_resources", e.appendPlace))
	return e
}

// Attach gives the writer the metascheduler whose jobs it writes.
func (w *EventWriter) Attach(m *entity.Metascheduler) {
	w.meta = m
	w.Allocation = w.Allocation.of(m.Plan().Size())
}

// Observe adds one event.
func (w *EventWriter) Observe(e entity.JobEvent) {
	r := e.Run
	w.now = append(w.now, eventRow{time: e.Time, kind: e.Kind, run: r, start: -1, until: -1})
	row := &w.now[len(w.now)-1]
	switch e.Kind {
	case entity.JobSubmitted:
		row.first = true
		row.asks(r)
	case entity.JobRejected:
		w.lands(r)
		row.cause = r.Reason
	case entity.JobPromised:
		row.start, row.early, row.open = e.Start, e.Head, true
		if r.State == entity.Reserved {
			w.ahead[r] = true
		}
	case entity.JobWithdrawn:
		w.lands(r)
	case entity.JobStarted:
		row.attempt, row.early = len(r.Earlier())+1, r.Backfilled
		row.asks(r)
		row.until = r.Reservation.Window.End
		if row.open = !w.lands(r) && !r.Booked; !row.open {
			row.cause = "reservation"
		}
	case entity.JobCorrected:
		row.attempt, row.until = len(r.Earlier())+1, r.Reservation.Window.End
	case entity.JobFinished, entity.JobKilled:
		row.over, row.attempt, _, row.ended = entity.Over(e)
		if e.Kind == entity.JobKilled {
			row.cause = r.Reason
		}
		if r.Parts() != nil {
			row.ran = r.Ran()
		}
	case entity.JobRequeued, entity.JobResized:
		row.over, row.attempt, _, row.ended = entity.Over(e)
		row.asks(r)
		if e.Kind == entity.JobResized {
			row.until = r.Reservation.Window.End
		}
	}
}

// asks takes in what the job asks for now.
func (row *eventRow) asks(r *entity.Run) {
	row.nodes, row.asked, row.runtime = r.Request.Nodes, r.Asked(), r.Runtime
}

// lands reports whether r held a reservation ahead, which it holds no longer.
func (w *EventWriter) lands(r *entity.Run) bool {
	if len(w.ahead) == 0 || !w.ahead[r] {
		return false
	}
	delete(w.ahead, r)
	return true
}

// TaskEnded records the end of the i-th task of a job on named nodes.
func (w *EventWriter) TaskEnded(r *entity.Run, i int) {
	if r.State != entity.Running { // its job has been stopped, which is told
		return
	}
	w.now = append(w.now, eventRow{
		time: r.Ends()[i], run: r, attempt: len(r.Earlier()) + 1,
		start: -1, until: -1, task: &r.Reservation.Window.Tasks[i],
	})
}

// roundCauses are the words of the causes of a round, by the bits of entity.Round.Cause, made
// once.
var roundCauses = func() (texts [64]string) {
	for c := range texts {
		var names []string
		for bit, name := range []string{"arrival", "end", "overrun", "cycle", "change", "wake"} {
			if c&(1<<bit) != 0 {
				names = append(names, name)
			}
		}
		texts[c] = strings.Join(names, "+")
	}
	return texts
}()

// Decided implements entity.RoundObserver: the starts and promises since the round before have its
// cause.
func (w *EventWriter) Decided(r *entity.Round) {
	cause := roundCauses[r.Cause]
	for i := len(w.now) - 1; i >= 0 && w.now[i].time == r.Now; i-- {
		if row := &w.now[i]; row.open {
			row.cause, row.open = cause, false
		}
	}
}

// InstantOver writes the events of this instant.
func (w *EventWriter) InstantOver(des.Time) {
	for i := range w.now {
		w.write(&w.now[i])
	}
	clear(w.now)
	w.now = w.now[:0]
}

// write writes the row of an event.
func (w *EventWriter) write(r *eventRow) {
	j := r.run.Job
	w.of, w.row = r, rows.Events.Missing
	e := &w.row
	e.Time, e.Event, e.Job, e.Number, e.Attempt, e.Cause = r.time, r.kind.String(), j.ID, r.run.Seq(), r.attempt, r.cause
	if r.task != nil {
		e.Event = rows.TaskEnded
	}
	if r.nodes > 0 {
		e.Processors, e.Estimate, e.Runtime = r.nodes, r.asked, r.runtime
	}
	if r.ended {
		r.start = r.over.Start
		e.Kept, e.Lost, e.Overhead = r.over.Kept, r.over.Work-r.over.Kept, r.over.Overhead
	}
	e.Start, e.ReservedEnd = coming(r.start), coming(r.until)
	if r.ran > 0 {
		e.Ran = r.ran
	}
	if r.first {
		e.Submission, e.User, e.Group, e.Queue = j.Submit, int64(j.User), int64(j.Group), int64(j.Queue)
		e.Booked, e.After = bit(r.run.Booked), string(appendDependencies(nil, j.After))
	}
	if r.kind == entity.JobStarted {
		e.Backfilled = bit(r.early)
	}
	if r.kind == entity.JobPromised {
		e.Head = bit(r.early)
	}
	w.text.Write(e)
}

// bit is 1 or 0.
func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}

// coming returns a time, or rows.None for one that never comes.
func coming(t des.Time) des.Time {
	if t == des.Forever {
		return rows.None
	}
	return t
}

// appendTook appends the processor time of the attempt that the row at hand ends, exactly.
func (w *EventWriter) appendTook(b []byte, _ *rows.Event) []byte {
	if x := &w.of.over; w.of.ended {
		var took sum128
		took.addAttempt(x.Window.Nodes, x.Start, x.End, x.Ends)
		return took.appendTo(b)
	}
	return b
}

// appendPlace appends where an attempt began or has ended.
func (w *EventWriter) appendPlace(b []byte, _ *rows.Event) []byte {
	r := w.of
	window, place := &r.run.Reservation.Window, r.run.Place
	switch {
	case w.Allocation == AllocationNone:
		return b
	case r.task != nil:
		return decimal.AppendInt(b, int64(r.task.Node.ID))
	// It was sent back at this very instant, and never had a place.
	case r.kind == entity.JobStarted && r.attempt != len(r.run.Earlier())+1:
		window, place = &r.run.Earlier()[r.attempt-1].Window, nil // it was sent back at once
	case r.ended:
		window = &r.over.Window
		if r.kind != entity.JobRequeued && r.kind != entity.JobResized {
			r.over.Place = place // known by now
		}
		place = r.over.Place
	case r.kind != entity.JobStarted:
		return b
	}
	if w.Allocation == AllocationCount {
		return decimal.AppendInt(b, int64(window.Nodes))
	}
	w.ids = placeOf(w.ids[:0], place, window)
	return procset.Append(b, w.ids)
}

// Close writes the remaining rows and returns the first error of all writing. The underlying writer
// stays open.
func (w *EventWriter) Close() error {
	if w.meta != nil {
		w.meta.Settle()
	}
	w.InstantOver(0)
	return w.text.Flush()
}
