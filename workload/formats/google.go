package formats

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// GoogleTable is one of the tables that Google has published.
type GoogleTable uint8

const (
	JobEvents  GoogleTable = iota // a record is a job
	TaskEvents                    // a record is a task
)

// GoogleTables are their names.
var GoogleTables = []string{"job_events", "task_events"}

// Google is the table job_events or task_events of Google's ClusterData 2011 (Reiss, Wilkes and
// Hellerstein, Google cluster-usage traces: format + schema, version 2.1): what happened to jobs and tasks
// of a cell of 12,500 machines in 29 days. The files have no heading; parts may be packed, and
// concatenated.
//
// An event is a row, and the events from a submission to an end are folded into a record:
//
//	submit  schedule  evict   submit  schedule  finish
//	|--wait-|---run---|       |-wait--|---run---|
//	record 1: failed          record 2: completed
//
// These are not parallel rigid jobs. Tasks of a job begin and end one by one, take shares of
// machines (of the largest one's, which is not told), are evicted, and many are services that run
// all month. A record is a task, or a job whose size the table does not tell.
type Google struct {
	unnamed
	// Table is the table that the file is; nothing in the file tells it. job_events by default.
	Table GoogleTable
	// Size is the number of processors of each job of job_events, which does not tell it; 0 means
	// 1. A task has one processor.
	Size int
}

// Name is "google".
func (Google) Name() string { return "google" }

// Survey reads who the users are. The start of the log is a constant, and records are never sorted:
// one is complete at the end of its life.
func (f Google) Survey(in *workload.Input) (*workload.Header, error) { return f.layout().Survey(in) }

// googleTables are the columns of each table, in their order.
var googleTables = [...][]string{
	JobEvents:  {"time", "missing info", "job ID", "event type", "user", "scheduling class", "job name", "logical job name"},
	TaskEvents: {"time", "missing info", "job ID", "task index", "machine ID", "event type", "user", "scheduling class", "priority", "CPU request", "memory request", "disk space request", "different machines"},
}

// googleFields are the fields of the records of each table. The reader adds the job of a task
// (array), and the end of a life (event).
var googleFields = [...][]table.Field{
	JobEvents: {
		{Name: "scheduling class", As: "scheduling_class"},
		{Is: table.Text, As: "event"},
		{Name: "job name", Is: table.Text, As: "name"},
		{Name: "logical job name", Is: table.Text, As: "logical_name"},
		{Name: "time"},
		{Name: "job ID"},
		{Name: "event type"},
		{Name: "user", Is: table.Word, SWF: workload.FieldUser},
	},
	TaskEvents: {
		{Name: "scheduling class", As: "scheduling_class"},
		{Is: table.Text, As: "event"},
		{Is: table.Text, As: "array"},
		{Name: "task index", As: "array_index"},
		{Name: "machine ID", Is: table.Word, As: "node_list"},
		{Name: "priority", As: "priority"},
		{Name: "CPU request", Is: table.Share, As: "cpu_share"},
		{Name: "memory request", Is: table.Share, As: "memory_share"},
		{Name: "disk space request", Is: table.Share, As: "disk_share"},
		{Name: "different machines", As: "different_machines"},
		{Name: "time"},
		{Name: "job ID"},
		{Name: "event type"},
		{Name: "user", Is: table.Word, SWF: workload.FieldUser},
	},
}

// layout is the layout of the table. The trace counts in microseconds from 600 s before its start;
// its schema (section "Time and timestamps") says when that was.
func (f Google) layout() *table.Columns {
	return &table.Columns{Fields: googleFields[f.Table], Over: table.CommaRows(googleTables[f.Table]...), Header: func(h *workload.Header) {
		h.Unsorted = true
		h.Set("UnixStartTime", "1304290200") // 600 s was 19:00 in New York on 1 May
		h.Set("TimeZoneString", "America/New_York")
	}}
}

// Read begins a reading. In memory are the jobs or tasks that have been submitted and have not
// ended.
func (f Google) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	l := f.layout()
	rows, err := l.Rows(in, h)
	return &lives{
		Rows: rows, f: f, open: map[key]*life{}, time: l.At("time"), job: l.At("job ID"), task: l.At("task index"),
		kind: l.At("event type"), user: l.At("user"), ended: l.At("event"), array: l.At("array"), machine: l.At("machine ID"),
	}, err
}

// Events, as version 2 of the schema numbers them (section "Job and task life cycles and event
// types"). The last two change a request and neither begin nor end anything.
const (
	submit = iota
	schedule
	evict
	fail
	finish
	kill
	lost
	updatePending
	updateRunning
)

// endings are the events that end a life, with what SWF has for them. An evicted task is submitted
// again by the system, which begins another life; of a lost one nothing is known.
var endings = map[int64]struct {
	name   string
	status int64
}{
	evict: {"evict", workload.StatusFailed}, fail: {"fail", workload.StatusFailed}, finish: {"finish", workload.StatusCompleted},
	kill: {"kill", workload.StatusCancelled}, lost: {"lost", workload.Unknown},
}

// key is a job, or a task of one.
type key struct{ job, task int64 }

// life is the course of a job or task from a submission to an end; each becomes a record.
type life struct {
	key
	line  int64            // of the first event, from 1
	from  int64            // its submission in microseconds, or beforeTrace
	begin int64            // its first schedule in microseconds, or beforeTrace
	user  int64            // the number of the user's name
	cells []workload.Value // the columns beyond SWF, as the latest event tells them
}

// Two times of the trace stand for unknown ones (section "Time and timestamps").
const (
	beforeTrace = 0
	afterTrace  = math.MaxInt64
)

// lives is the RecordReader of events: it folds the rows into lives.
type lives struct {
	*table.Rows
	f    Google
	open map[key]*life // lives without an end so far
	rest []*life       // lives without an end at the end of the table, by their first lines
	line int64         // of the present record's first event
	done bool          // the table has been read, and rest is what is left

	time, job, task, kind, user, ended, array, machine int // places of fields, or -1 if the table lacks them
}

// Line returns the line of the record's first event. The other events are counted as steps.
func (r *lives) Line() int64 { return r.line }

// Next finds the next life that has ended. Behind the last row the lives follow that are still open:
// what they did not live to see is unknown.
func (r *lives) Next() bool {
	for !r.done && r.NextRow() {
		if r.event() {
			return true
		}
	}
	if r.Err() != nil {
		return false
	}
	if !r.done {
		r.done = true
		for _, l := range r.open {
			r.rest = append(r.rest, l)
		}
		slices.SortFunc(r.rest, func(a, b *life) int { return cmp.Compare(a.line, b.line) })
		r.open = nil
	}
	for len(r.rest) > 0 && r.Err() == nil {
		l := r.rest[0]
		r.rest = r.rest[1:]
		if r.record(l, afterTrace, "", workload.Unknown) {
			return true
		}
	}
	return false
}

// event takes in a row, and reports whether a record has come of it, which it does if the row ends a
// life, or begins the next one of a key whose last end is missing.
func (r *lives) event() bool {
	// Read the row. A row with any of these fields damaged is left out as a whole.
	at, known := r.Integer(r.time)
	if !known || at < 0 {
		r.Damage(r.time, workload.NotANumber, "a time in microseconds")
	}
	k := key{}
	if k.job, known = r.Integer(r.job); !known {
		r.Damage(r.job, workload.NotANumber, "a job")
	}
	if r.task >= 0 {
		if k.task, known = r.Integer(r.task); !known {
			r.Damage(r.task, workload.NotANumber, "a task of a job")
		}
	}
	kind, known := r.Integer(r.kind)
	if !known || kind < submit || kind > updateRunning {
		r.Damage(r.kind, workload.OutOfRange, "an event from 0 to 8")
	}
	cells := r.Cells()
	if r.Wrong() {
		return false
	}
	// Find the life that the event belongs to, or begin one. An event of a life whose submission was
	// before the trace, or is missing, begins it, too.
	l, isOpen := r.open[k]
	end, ends := endings[kind]
	switch {
	case kind == submit && isOpen: // the end of that life is missing
		r.open[k] = &life{key: k, line: r.Rows.Line(), from: at, begin: beforeTrace, user: r.Name(r.user), cells: slices.Clone(cells)}
		return r.record(l, afterTrace, "", workload.Unknown)
	case !isOpen:
		l = &life{key: k, line: r.Rows.Line(), from: beforeTrace, begin: beforeTrace}
		if kind == submit {
			l.from = at
		}
		r.open[k] = l
	default:
		r.Tally.Add(r.Rows.Line(), "", workload.JobStep, nil)
	}
	// Take in what the event tells. A task keeps its machine when a later event names none.
	if kind == schedule && l.begin == beforeTrace {
		l.begin = at
	}
	if i := r.machine; i >= 0 && r.Text(i) == "" && l.cells != nil {
		cells[i] = l.cells[i] // the fields that become columns come first
	}
	l.user, l.cells = r.Name(r.user), append(l.cells[:0], cells...)
	if !ends {
		return false
	}
	delete(r.open, k)
	return r.record(l, at, end.name, end.status)
}

// record makes the record of a life that has ended, and reports whether a log can have it. What
// happened before the trace or after it has no instant. A task has no number of its own, so that of
// its first line stands for it.
func (r *lives) record(l *life, end int64, event string, status int64) bool {
	r.line = l.line
	r.Rec = workload.UnknownRecord
	if r.Rec.Job = l.line; r.f.Table == JobEvents {
		r.Rec.Job = l.job
	}
	r.Rec.Submit = ticks(l.from)
	if l.from == beforeTrace && l.begin > beforeTrace {
		r.Rec.Submit = ticks(l.begin) // there is no earlier instant that is known
	}
	if l.from > beforeTrace && l.begin >= l.from && l.begin < afterTrace {
		r.Rec.Wait = ticks(l.begin - l.from)
	}
	if l.begin > beforeTrace && end >= l.begin && end < afterTrace {
		r.Rec.Runtime = ticks(end - l.begin)
	}
	r.Rec.Requested = 1
	if r.f.Table == JobEvents && r.f.Size > 0 {
		r.Rec.Requested = int64(r.f.Size)
	}
	r.Rec.Allocated = r.Rec.Requested
	r.Rec.Status, r.Rec.User = status, l.user
	l.cells[r.ended] = workload.TextValue(event)
	if r.array >= 0 {
		l.cells[r.array] = workload.TextValue(strconv.FormatInt(l.job, 10))
	}
	r.Rec.More = l.cells
	return r.Take(l.line)
}

// ticks is a time of the trace, in microseconds as des.Time is. Times beyond what a log may have, of
// which the schema knows but one, are cut to the bound.
func ticks(us int64) des.Time { return min(des.Time(us), workload.MaxTime) }
