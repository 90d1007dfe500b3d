// Package alibaba reads tables that Alibaba has published of its clusters: batch_task and
// batch_instance of cluster-trace-v2018, and pai_task_table of cluster-trace-gpu-v2020 (Weng et
// al., MLaaS in the Wild, NSDI 2022). Columns are as in schema.txt and README.md of
// https://github.com/alibaba/clusterdata; the files have no heading.
//
//	format := alibaba.Format{Table: alibaba.PAITask, Size: alibaba.GPUs}
//	trace, err := workload.Options{Format: format}.Open("pai_task_table.csv")
//
// These are not parallel rigid jobs. A job there is a graph of tasks, and a task any number of
// instances, which come and go one by one. Here a row is a job: a task with all its instances
// at once, or an instance. When users submitted is not told; a task counts as submitted when it
// began, so that there are no waits.
package alibaba

import (
	"bytes"
	"math"
	"strings"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// Table is one of those published.
type Table uint8

const (
	BatchTask     Table = iota // of 2018: a row a task
	BatchInstance              // of 2018: a row an instance
	PAITask                    // of 2020: a row a task
)

// Tables are their names.
var Tables = []string{"batch_task", "batch_instance", "pai_task_table"}

// Size is what the processors of a task are.
type Size uint8

const (
	Cores     Size = iota // those planned for all its instances, rounded up
	Instances             // how many there are
	GPUs                  // those planned for all its instances, rounded up
)

// Sizes are their names.
var Sizes = []string{"cores", "instances", "gpus"}

// Format is that of a table.
type Format struct {
	Table Table
	Size  Size // of tasks; an instance is one processor
}

func (Format) Name() string      { return "alibaba" }
func (Format) Endings() []string { return nil }

// Is is false: the files do not tell what they are.
func (Format) Is(*workload.Input) bool { return false }

// layout is the columns of a table and those that records have beyond SWF.
type layout struct {
	names  []string
	beyond []workload.Column
	record func(r *reader)
}

func (f Format) layout() layout {
	text := func(name string) workload.Column { return workload.Column{Name: name, Text: true} }
	number := func(name, unit string) workload.Column { return workload.Column{Name: name, Unit: unit} }
	switch f.Table {
	case BatchInstance:
		return layout{
			[]string{"instance_name", "task_name", "job_name", "task_type", "status", "start_time", "end_time", "machine_id", "seq_no", "total_seq_no", "cpu_avg", "cpu_max", "mem_avg", "mem_max"},
			[]workload.Column{
				text("name"), text("task"), text("array"), number("task_type", ""), text("state"), text("node_list"), number("attempt", ""), number("attempts", ""),
				number("cores_used", ""), number("cores_max", ""), number("memory_share", ""), number("memory_share_max", ""),
			},
			instance,
		}
	case PAITask:
		return layout{
			[]string{"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"},
			[]workload.Column{text("array"), text("name"), text("state"), number("instances", ""), number("cores", ""), number("memory", "kB"), number("gpus", ""), text("gpu_type")},
			paiTask,
		}
	}
	return layout{
		[]string{"task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time", "plan_cpu", "plan_mem"},
		[]workload.Column{text("name"), text("after"), text("array"), number("task_type", ""), text("state"), number("instances", ""), number("cores", ""), number("memory_share", "")},
		batchTask,
	}
}

// Survey reads nothing: rows are not in the order of their begin, and the instants count
// from a day that is not told.
func (f Format) Survey(*workload.Input) (*workload.Header, error) {
	h := &workload.Header{Unsorted: true, Columns: f.layout().beyond}
	if f.Table == PAITask {
		h.Set("TimeZoneString", "Asia/Shanghai")
		h.Add("Note", "as Unix times submissions have the hour and weekday of the original, but another date")
	}
	return h, nil
}

// Read begins a reading.
func (f Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	l := f.layout()
	rows, err := table.ReadRows(in, h, l.names...)
	return &reader{Rows: rows, l: l, f: f, after: map[string]string{}}, err
}

type reader struct {
	*table.Rows
	l     layout
	f     Format
	more  []workload.Value
	after map[string]string // what tasks of a name come after
}

func (r *reader) Next() bool {
	for r.Rows.Next() {
		r.Rec, r.more = workload.UnknownRecord, r.more[:0]
		r.Rec.Job = r.Line()
		r.l.record(r)
		r.Rec.More = r.more
		if !r.Wrong() && r.Take(r.Line()) {
			return true
		}
	}
	return false
}

// maxAfter is of how many names of tasks it is kept what they come after.
const maxAfter = 1 << 14

func batchTask(r *reader) {
	name := r.Word(0)
	before, seen := r.after[name]
	if !seen {
		if before = after(name); len(r.after) < maxAfter {
			r.after[name] = before
		}
	}
	instances, cores := r.size(1, 7, math.NaN())
	r.span(5, 6)
	r.status(4)
	r.more = append(r.more, workload.TextValue(name), workload.TextValue(before), r.text(2), workload.NumberValue(r.Number(3)), r.word(4),
		workload.NumberValue(instances), workload.NumberValue(cores), workload.NumberValue(r.Share(8)))
}

func instance(r *reader) {
	r.Rec.Requested, r.Rec.Allocated = 1, 1
	r.span(5, 6)
	r.status(4)
	r.more = append(r.more, r.text(0), r.word(1), r.text(2), workload.NumberValue(r.Number(3)), r.word(4), r.word(7), workload.NumberValue(r.Number(8)), workload.NumberValue(r.Number(9)),
		workload.NumberValue(r.Share(10)/100), workload.NumberValue(r.Share(11)/100), workload.NumberValue(r.Share(12)), workload.NumberValue(r.Share(13)))
}

func paiTask(r *reader) {
	gpus := r.Share(8) / 100
	instances, cores := r.size(2, 6, gpus)
	r.span(4, 5)
	r.status(3)
	r.more = append(r.more, r.text(0), r.word(1), r.word(3), workload.NumberValue(instances), workload.NumberValue(cores),
		workload.NumberValue(instances*r.Share(7)*(1<<20)), workload.NumberValue(instances*gpus), r.word(9))
}

// size takes the size of a task with so many instances of so many hundredths of a core and
// so many GPUs each; it gives back the instances, and the cores of all.
func (r *reader) size(instances, planned int, gpus float64) (n, cores float64) {
	count := r.Whole(instances)
	n = math.NaN()
	if count >= 0 {
		n = float64(count)
	}
	cores = n * r.Share(planned) / 100
	procs := cores
	switch r.f.Size {
	case Instances:
		procs = n
	case GPUs:
		procs = n * gpus
	}
	if procs = math.Ceil(procs - 1e-9); procs >= 1 && procs <= 1<<53 {
		r.Rec.Requested, r.Rec.Allocated = int64(procs), int64(procs)
	}
	return n, cores
}

// span takes begin and end; in the tables of 2018 0 is an instant outside of the days that
// were watched.
func (r *reader) span(from, to int) {
	begin, end := r.Seconds(from), r.Seconds(to)
	if r.Wrong() {
		return
	}
	if begin < 0 {
		r.Damage(from, workload.NotANumber, "when it began")
		return
	}
	r.Rec.Submit = begin
	if end >= begin && (begin > 0 || r.f.Table == PAITask) {
		r.Rec.Runtime = end - begin
	}
}

func (r *reader) status(i int) {
	switch string(r.Text(i)) {
	case "Terminated":
		r.Rec.Status = workload.StatusCompleted
	case "Failed":
		r.Rec.Status = workload.StatusFailed
	case "Cancelled":
		r.Rec.Status = workload.StatusCancelled
	}
}

func (r *reader) text(i int) workload.Value { return workload.TextValue(string(r.Text(i))) }

func (r *reader) word(i int) workload.Value { return workload.TextValue(r.Word(i)) }

// after tells which tasks of its job a task comes after, by its name: in M5_3_4 the third and
// the fourth. Names of tasks outside of a graph, "task_...", tell of none.
func after(name string) string {
	_, others, ok := strings.Cut(name, "_")
	if !ok || strings.HasPrefix(name, "task_") {
		return ""
	}
	var b []byte
	for part := range bytes.SplitSeq([]byte(others), []byte{'_'}) {
		if len(part) == 0 || len(bytes.Trim(part, "0123456789")) > 0 {
			continue // as in M2_1_Stg1
		}
		if b != nil {
			b = append(b, ',')
		}
		b = append(b, part...)
	}
	return string(b)
}
