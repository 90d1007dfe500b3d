package metrics

// events-POLICY.csv: all that happened to jobs, in the order in which it happened.

import (
	"fmt"
	"io"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/decimal"
)

// EventsHeader is the first line of events-POLICY.csv.
const EventsHeader = "time,event,job_id,number,attempt,processors,estimate,runtime,start,reserved_end,kept,lost,overhead,processor_time,ran,submission_time,user_id,group_id,queue_id,booked,backfilled,head,after,cause,allocated_resources"

// eventTaskEnded names the one event that no entity.JobEventKind is for.
const eventTaskEnded = "task_ended"

// EventWriter is an Observer that writes events-POLICY.csv, a row an event: the files
// of jobs, attempts and queue can be made again from it, but for energy and money. The
// rows of an instant are written when it is over, since only then the places of jobs
// are known. It must be told of all jobs from the first one on.
type EventWriter struct {
	// Allocation is what allocated_resources says, as in JobsWriter.
	Allocation Allocation

	out   io.Writer
	err   error
	buf   []byte
	rows  []eventRow           // of this instant
	ahead map[*entity.Run]bool // who holds a reservation ahead; never iterated
	meta  *entity.Metascheduler
	ids   []procset.Range

	reason string // the latest, and as it is written
	field  []byte
}

// eventRow is what is to be kept of an event until its instant is over. A run goes on
// meanwhile.
type eventRow struct {
	time    des.Time
	kind    entity.JobEventKind // of a task nothing
	run     *entity.Run
	attempt int      // from 1; 0 where the event is about none
	nodes   int      // that the job asks for; 0 where the event does not tell
	asked   des.Time // in all, in its shape
	runtime des.Time // likewise
	first   bool     // all that is to be told of a job when it comes
	start   des.Time // below 0: none
	until   des.Time // reserved end; below 0: none
	ended   bool     // an attempt has:
	over    entity.Attempt
	ran     des.Time // the longest piece of a job in pieces, or 0
	early   bool     // backfilled, or the hold for the head of the queue
	task    *entity.Task
	cause   string
	open    bool // the round that is under way is the cause
}

// NewEventWriter returns a writer of events-POLICY.csv to w.
func NewEventWriter(w io.Writer) *EventWriter {
	return &EventWriter{out: w, buf: append(make([]byte, 0, flushAt+4096), EventsHeader+"\n"...), ahead: map[*entity.Run]bool{}}
}

// Attach tells the writer whose jobs it is to write.
func (w *EventWriter) Attach(m *entity.Metascheduler) {
	w.meta = m
	w.Allocation = w.Allocation.of(m.Plan().Size())
}

// Observe takes one event in.
func (w *EventWriter) Observe(e entity.JobEvent) {
	r := e.Run
	w.rows = append(w.rows, eventRow{time: e.Time, kind: e.Kind, run: r, start: -1, until: -1})
	row := &w.rows[len(w.rows)-1]
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
		row.attempt, row.ended, row.over = len(r.Earlier())+1, true, r.Latest()
		if e.Kind == entity.JobKilled {
			if row.cause = r.Reason; r.Reason == entity.ReasonEstimate {
				row.over.Kept = row.over.Work
			}
		}
		if r.Parts() != nil {
			row.ran = r.Ran()
		}
	case entity.JobRequeued, entity.JobResized:
		row.attempt, row.ended, row.over = len(r.Earlier()), true, *latestOf(r.Earlier())
		row.asks(r)
		if e.Kind == entity.JobResized {
			row.until = r.Reservation.Window.End
		}
	}
}

// asks has the row tell what its job asks for now.
func (row *eventRow) asks(r *entity.Run) {
	row.nodes, row.asked, row.runtime = r.Request.Nodes, r.Asked(), r.Runtime
}

// lands reports whether r held a reservation ahead, which it does no longer.
func (w *EventWriter) lands(r *entity.Run) bool {
	if len(w.ahead) == 0 || !w.ahead[r] {
		return false
	}
	delete(w.ahead, r)
	return true
}

// TaskEnded takes in the end of a task on named nodes.
func (w *EventWriter) TaskEnded(r *entity.Run, i int) {
	if r.State != entity.Running { // its job has been stopped, which is told
		return
	}
	w.rows = append(w.rows, eventRow{
		time: r.Ends()[i], run: r, attempt: len(r.Earlier()) + 1,
		start: -1, until: -1, task: &r.Reservation.Window.Tasks[i],
	})
}

// roundCauses are what a row calls the causes of a round, by their bits.
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

// Decided gives what a round has started and promised its cause.
func (w *EventWriter) Decided(r *entity.Round) {
	cause := roundCauses[r.Cause]
	for i := len(w.rows) - 1; i >= 0 && w.rows[i].time == r.Now; i-- {
		if row := &w.rows[i]; row.open {
			row.cause, row.open = cause, false
		}
	}
}

// InstantOver writes the events of this instant.
func (w *EventWriter) InstantOver(des.Time) {
	for i := range w.rows {
		w.buf = w.appendRow(w.buf, &w.rows[i])
		if len(w.buf) >= flushAt {
			w.flush()
		}
	}
	clear(w.rows)
	w.rows = w.rows[:0]
}

func (w *EventWriter) appendRow(b []byte, r *eventRow) []byte {
	j := r.run.Job
	b = append(appendTime(b, r.time), ',')
	name := eventTaskEnded
	if r.task == nil {
		name = r.kind.String()
	}
	b = append(append(b, name...), ',')
	b = append(decimal.AppendInt(b, j.ID), ',')
	b = append(decimal.AppendInt(b, r.run.Seq()), ',')
	if r.attempt > 0 {
		b = decimal.AppendInt(b, int64(r.attempt))
	}
	b = append(b, ',')
	if r.nodes > 0 {
		b = append(decimal.AppendInt(b, int64(r.nodes)), ',')
		b = append(appendTime(b, r.asked), ',')
		b = append(appendTime(b, r.runtime), ',')
	} else {
		b = append(b, ",,,"...)
	}
	if r.ended {
		r.start = r.over.Start
	}
	b = append(appendComing(b, r.start), ',')
	b = append(appendComing(b, r.until), ',')
	if x := &r.over; r.ended {
		b = append(appendTime(b, x.Kept), ',')
		b = append(appendTime(b, x.Work-x.Kept), ',')
		b = append(appendTime(b, x.Overhead), ',')
		var took sum128
		took.addAttempt(x.Window.Nodes, x.Start, x.End, x.Ends)
		b = append(took.appendTo(b), ',')
	} else {
		b = append(b, ",,,,"...)
	}
	if r.ran > 0 {
		b = appendTime(b, r.ran)
	}
	b = append(b, ',')
	if r.first {
		b = append(appendTime(b, j.Submit), ',')
		b = append(appendNumber(b, j.User), ',')
		b = append(appendNumber(b, j.Group), ',')
		b = append(appendNumber(b, j.Queue), ',')
		b = append(appendBit(b, r.run.Booked), ',')
	} else {
		b = append(b, ",,,,,"...)
	}
	if r.kind == entity.JobStarted {
		b = appendBit(b, r.early)
	}
	b = append(b, ',')
	if r.kind == entity.JobPromised {
		b = appendBit(b, r.early)
	}
	b = append(b, ',')
	if r.first {
		b = appendDependencies(b, j.After)
	}
	b = append(b, ',')
	switch {
	case r.cause == "":
	case r.kind == entity.JobKilled || r.kind == entity.JobRejected: // in somebody's words
		b = append(b, w.escaped(r.cause)...)
	default:
		b = append(b, r.cause...)
	}
	return append(w.appendPlace(append(b, ','), r), '\n')
}

// escaped is a reason as a CSV field. Most often it is that of the one before.
func (w *EventWriter) escaped(reason string) []byte {
	if reason != w.reason {
		w.reason, w.field = reason, escapeCSV(reason)
	}
	return w.field
}

// appendPlace appends where an attempt began or has ended.
func (w *EventWriter) appendPlace(b []byte, r *eventRow) []byte {
	window, place := &r.run.Reservation.Window, r.run.Place
	switch {
	case w.Allocation == AllocationNone:
		return b
	case r.task != nil:
		return decimal.AppendInt(b, int64(r.task.Node.ID))
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

// appendComing appends t, and nothing where it is below 0 or never comes.
func appendComing(b []byte, t des.Time) []byte {
	if t < 0 {
		return b
	}
	return appendKnownTime(b, t)
}

func (w *EventWriter) flush() {
	if w.err == nil {
		if _, err := w.out.Write(w.buf); err != nil {
			w.err = fmt.Errorf("events CSV: %w", err)
		}
	}
	w.buf = w.buf[:0]
}

// Close writes what is left and returns the first error met. The underlying writer
// stays open.
func (w *EventWriter) Close() error {
	if w.meta != nil {
		w.meta.Settle()
	}
	w.InstantOver(0)
	w.flush()
	return w.err
}
