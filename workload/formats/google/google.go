// Package google reads the tables job_events and task_events of Google's ClusterData 2011
// (Reiss, Wilkes and Hellerstein, Google cluster-usage traces: format + schema, version 2.1): what
// happened to jobs and tasks of a cell of 12,500 machines in 29 days. The files have no heading;
// parts may be packed, and concatenated.
//
//	trace, err := workload.Options{Format: google.Format{Table: google.TaskEvents}}.Open("task_events.csv.gz")
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
package google

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// Table is one of those published.
type Table uint8

const (
	JobEvents  Table = iota // a record is a job
	TaskEvents              // a record is a task
)

// Tables are their names.
var Tables = []string{"job_events", "task_events"}

// Format is that of a table.
type Format struct {
	Table Table
	// Size is how many processors a job has, of which job_events does not tell; 1 for 0. A
	// task has one.
	Size int
}

func (Format) Name() string      { return "google" }
func (Format) Endings() []string { return nil }

// Is is false: the files do not tell what they are.
func (Format) Is(*workload.Input) bool { return false }

var (
	jobEvents  = []string{"time", "missing info", "job ID", "event type", "user", "scheduling class", "job name", "logical job name"}
	taskEvents = []string{"time", "missing info", "job ID", "task index", "machine ID", "event type", "user", "scheduling class", "priority", "CPU request", "memory request", "disk space request", "different machines"}
)

// place is where the columns that both tables have stand.
type place struct{ event, user, class int }

func (f Format) columns() ([]string, place) {
	if f.Table == TaskEvents {
		return taskEvents, place{5, 6, 7}
	}
	return jobEvents, place{3, 4, 5}
}

// Survey reads who the users are.
func (f Format) Survey(in *workload.Input) (*workload.Header, error) {
	h := &workload.Header{Unsorted: true}
	h.Set("UnixStartTime", "1304290200") // 600 s was 19:00 in New York on 1 May
	h.Set("TimeZoneString", "America/New_York")
	class, event := workload.Column{Name: "scheduling_class"}, workload.Column{Name: "event", Text: true}
	if f.Table == TaskEvents {
		h.Columns = []workload.Column{
			class, event, {Name: "array", Text: true}, {Name: "array_index"}, {Name: "node_list", Text: true}, {Name: "priority"},
			{Name: "cpu_share"}, {Name: "memory_share"}, {Name: "disk_share"}, {Name: "different_machines"},
		}
	} else {
		h.Columns = []workload.Column{class, event, {Name: "name", Text: true}, {Name: "logical_name", Text: true}}
	}
	names, at := f.columns()
	t, err := table.ReadRows(in, nil, names...)
	if err != nil {
		return nil, err
	}
	for t.Next() {
		if user := t.Text(at.user); len(user) > 0 {
			h.Names(workload.FieldUser).Number(user)
		}
	}
	return h, t.Err()
}

// Read begins a reading. In memory are the jobs or tasks that have been submitted and have not
// ended.
func (f Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	names, at := f.columns()
	rows, err := table.ReadRows(in, h, names...)
	return &reader{Rows: rows, f: f, at: at, open: map[key]*life{}}, err
}

// Events, as version 2 numbers them.
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

var endings = map[int64]struct {
	name   string
	status int64
}{
	evict: {"evict", workload.StatusFailed}, fail: {"fail", workload.StatusFailed}, finish: {"finish", workload.StatusCompleted},
	kill: {"kill", workload.StatusCancelled}, lost: {"lost", workload.Unknown},
}

// key is a job, or a task of one.
type key struct{ job, task int64 }

// life is from a submission to an end.
type life struct {
	key
	line     int64 // of the first event
	from     int64 // times in microseconds; none before the trace or after it, which are unknown
	begin    int64
	user     int64
	class    float64
	name     string // of a job
	logical  string
	machine  string // of a task
	priority float64
	share    [3]float64
	spread   float64
}

const (
	before = 0             // the trace
	after  = math.MaxInt64 // the trace
)

type reader struct {
	*table.Rows
	f    Format
	at   place
	open map[key]*life
	rest []*life // open at the end, in order
	line int64
	more []workload.Value
	done bool
}

// Line is that of the record's first event. The others are told as steps.
func (r *reader) Line() int64 { return r.line }

func (r *reader) Next() bool {
	for !r.done && r.Rows.Next() {
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
		if r.make(l, after, "", workload.Unknown) {
			return true
		}
	}
	return false
}

// event takes in a row, and reports whether it ends a life.
func (r *reader) event() bool {
	at, known := r.Integer(0)
	if !known || at < 0 {
		r.Damage(0, workload.NotANumber, "a time in microseconds")
	}
	k := key{}
	if k.job, known = r.Integer(2); !known {
		r.Damage(2, workload.NotANumber, "a job")
	}
	if r.f.Table == TaskEvents {
		if k.task, known = r.Integer(3); !known {
			r.Damage(3, workload.NotANumber, "a task of a job")
		}
	}
	kind, known := r.Integer(r.at.event)
	if !known || kind < submit || kind > updateRunning {
		r.Damage(r.at.event, workload.OutOfRange, "an event from 0 to 8")
	}
	fresh := life{key: k, line: r.Rows.Line(), from: at, begin: before}
	r.describe(&fresh)
	if r.Wrong() {
		return false
	}
	l, isOpen := r.open[k]
	if kind != submit {
		fresh.from = before
	}
	if kind == schedule {
		fresh.begin = at
	}
	_, ends := endings[kind]
	switch {
	case !isOpen && ends: // its beginning is missing
		return r.end(&fresh, at, kind)
	case kind == submit || !isOpen:
		r.open[k] = new(fresh)
		return isOpen && r.make(l, after, "", workload.Unknown) // its end is missing
	}
	r.Account.Add(r.Rows.Line(), "", workload.JobStep, nil)
	fresh.line, fresh.from, fresh.begin = l.line, l.from, l.begin
	if kind == schedule && l.begin == before {
		fresh.begin = at
	}
	if fresh.machine == "" {
		fresh.machine = l.machine
	}
	*l = fresh
	return ends && r.end(l, at, kind)
}

// describe takes what a row says of a job or task beside the event.
func (r *reader) describe(l *life) {
	l.user = workload.Unknown
	if user := r.Text(r.at.user); len(user) > 0 {
		l.user = r.Header().Names(workload.FieldUser).Find(user)
	}
	l.class = r.Number(r.at.class)
	if r.f.Table == JobEvents {
		l.name, l.logical = string(r.Text(6)), string(r.Text(7))
		return
	}
	l.machine = r.Word(4)
	l.priority = r.Number(8)
	for i := range l.share {
		l.share[i] = r.Share(9 + i)
	}
	l.spread = r.Number(12)
}

func (r *reader) end(l *life, at, kind int64) bool {
	delete(r.open, l.key)
	e := endings[kind]
	return r.make(l, at, e.name, e.status)
}

// make makes the record of a life that has ended, and reports whether a log can have it. What happened before the trace or after it
// has no instant.
func (r *reader) make(l *life, end int64, event string, status int64) bool {
	r.line = l.line
	r.Rec = workload.UnknownRecord
	if r.Rec.Job = l.line; r.f.Table == JobEvents {
		r.Rec.Job = l.job
	}
	r.Rec.Submit = ticks(l.from)
	if l.from == before && l.begin > before {
		r.Rec.Submit = ticks(l.begin) // there is no earlier instant that is known
	}
	if l.from > before && l.begin >= l.from && l.begin < after {
		r.Rec.Wait = ticks(l.begin - l.from)
	}
	if l.begin > before && end >= l.begin && end < after {
		r.Rec.Runtime = ticks(end - l.begin)
	}
	r.Rec.Requested = 1
	if r.f.Table == JobEvents && r.f.Size > 0 {
		r.Rec.Requested = int64(r.f.Size)
	}
	r.Rec.Allocated = r.Rec.Requested
	r.Rec.Status, r.Rec.User = status, l.user
	r.more = append(r.more[:0], workload.NumberValue(l.class), workload.TextValue(event))
	if r.f.Table == JobEvents {
		r.more = append(r.more, workload.TextValue(l.name), workload.TextValue(l.logical))
	} else {
		r.more = append(r.more, workload.TextValue(strconv.FormatInt(l.job, 10)), workload.NumberValue(float64(l.task)), workload.TextValue(l.machine), workload.NumberValue(l.priority),
			workload.NumberValue(l.share[0]), workload.NumberValue(l.share[1]), workload.NumberValue(l.share[2]), workload.NumberValue(l.spread))
	}
	r.Rec.More = r.more
	return r.Take(l.line)
}

func ticks(us int64) des.Time { return min(des.Time(us), workload.MaxTime) }
