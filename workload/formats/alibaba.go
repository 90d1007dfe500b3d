package formats

import (
	"bytes"
	"math"
	"strings"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// AlibabaTable is one of the tables that Alibaba has published.
type AlibabaTable uint8

const (
	BatchTask     AlibabaTable = iota // of 2018: a row a task
	BatchInstance                     // of 2018: a row an instance
	PAITask                           // of 2020: a row a task
)

// AlibabaTables are their names.
var AlibabaTables = []string{"batch_task", "batch_instance", "pai_task_table"}

// AlibabaSize chooses the quantity that counts as the processors of a task.
type AlibabaSize uint8

const (
	Cores     AlibabaSize = iota // those planned for all its instances, rounded up
	Instances                    // how many there are
	GPUs                         // those planned for all its instances, rounded up
)

// AlibabaSizes are their names.
var AlibabaSizes = []string{"cores", "instances", "gpus"}

// Alibaba is a table that Alibaba has published of its clusters: batch_task and batch_instance of
// cluster-trace-v2018, and pai_task_table of cluster-trace-gpu-v2020 (Weng et al., MLaaS in the Wild,
// NSDI 2022). Columns are as in schema.txt and README.md of https://github.com/alibaba/clusterdata; the
// files have no heading.
//
// These are not parallel rigid jobs. A job there is a graph of tasks, and a task any number of
// instances, which come and go one by one. Here a row is a job: a task with all its instances
// at once, or an instance. When users submitted is not told; a task counts as submitted when it
// began, so that there are no waits.
type Alibaba struct {
	unnamed
	// Table is the table that the file is; nothing in the file tells it. batch_task by default.
	Table AlibabaTable
	// Size chooses the quantity that counts as the processors of a task; cores by default. An
	// instance is one processor.
	Size AlibabaSize
}

// Name is "alibaba".
func (Alibaba) Name() string { return "alibaba" }

// Survey reads nothing of the rows: they are not in the order of their begin, the instants count
// from a day that is not told, and users have no column.
func (f Alibaba) Survey(in *workload.Input) (*workload.Header, error) { return f.layout().Survey(in) }

// Read begins a reading.
func (f Alibaba) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return f.layout().Read(in, h)
}

// header tells that the rows are not sorted and, of the table of 2020, what its README says of the
// clock: the dates are not the real ones, hours and weekdays are.
func (f Alibaba) header(h *workload.Header) {
	h.Unsorted = true
	if f.Table == PAITask {
		h.Set("TimeZoneString", "Asia/Shanghai")
		h.Add("Note", "as Unix times submissions have the hour and weekday of the original, but another date")
	}
}

// alibabaTables are the columns of each table, in their order.
var alibabaTables = [...][]string{
	BatchTask:     {"task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time", "plan_cpu", "plan_mem"},
	BatchInstance: {"instance_name", "task_name", "job_name", "task_type", "status", "start_time", "end_time", "machine_id", "seq_no", "total_seq_no", "cpu_avg", "cpu_max", "mem_avg", "mem_max"},
	PAITask:       {"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"},
}

// alibabaFields are the fields of the records of each table. Memory is in hundredths of a machine's
// in 2018 and in GB in 2020; cores and GPUs are in hundredths of one. The functions below make the
// fields without a Name.
var alibabaFields = [...][]table.Field{
	BatchTask: {
		{Name: "task_name", Is: table.Word, As: "name"},
		{Is: table.Text, As: "after"},
		{Name: "job_name", Is: table.Text, As: "array"},
		{Name: "task_type", As: "task_type"},
		{Name: "status", Is: table.Word, As: "state"},
		{As: "instances"},
		{As: "cores"},
		{Name: "plan_mem", Is: table.Share, As: "memory_share"},
		{Name: "start_time", SWF: 2, Always: true},
		{Name: "end_time"},
		{Name: "instance_num"},
		{Name: "plan_cpu", Is: table.Share},
	},
	BatchInstance: {
		{Name: "instance_name", Is: table.Text, As: "name"},
		{Name: "task_name", Is: table.Word, As: "task"},
		{Name: "job_name", Is: table.Text, As: "array"},
		{Name: "task_type", As: "task_type"},
		{Name: "status", Is: table.Word, As: "state"},
		{Name: "machine_id", Is: table.Word, As: "node_list"},
		{Name: "seq_no", As: "attempt"},
		{Name: "total_seq_no", As: "attempts"},
		{Name: "cpu_avg", Is: table.Percent, As: "cores_used"},
		{Name: "cpu_max", Is: table.Percent, As: "cores_max"},
		{Name: "mem_avg", Is: table.Share, As: "memory_share"},
		{Name: "mem_max", Is: table.Share, As: "memory_share_max"},
		{Name: "start_time", SWF: 2, Always: true},
		{Name: "end_time"},
	},
	PAITask: {
		{Name: "job_name", Is: table.Text, As: "array"},
		{Name: "task_name", Is: table.Word, As: "name"},
		{Name: "status", Is: table.Word, As: "state"},
		{As: "instances"},
		{As: "cores"},
		{As: "memory", Unit: "kB"},
		{As: "gpus"},
		{Name: "gpu_type", Is: table.Word, As: "gpu_type"},
		{Name: "start_time", SWF: 2, Always: true},
		{Name: "end_time"},
		{Name: "inst_num"},
		{Name: "plan_cpu", Is: table.Share},
		{Name: "plan_mem", Is: table.Share},
		{Name: "plan_gpu", Is: table.Percent},
	},
}

// layout is the layout of the table. Its Record takes what all tables have; tasks add to it.
func (f Alibaba) layout() *table.Columns {
	l := &table.Columns{Fields: alibabaFields[f.Table], Over: table.CommaRows(alibabaTables[f.Table]...), Header: f.header}
	status, end := l.At("status"), l.At("end_time")
	l.Record = func(t *table.Rows, rec *workload.Record) {
		// In the tables of 2018 the instant 0 is outside of the days that were watched.
		if end := t.Seconds(end); end >= rec.Submit && (rec.Submit > 0 || f.Table == PAITask) {
			rec.Runtime = end - rec.Submit
		}
		switch t.Text(status) {
		case "Terminated":
			rec.Status = workload.StatusCompleted
		case "Failed":
			rec.Status = workload.StatusFailed
		case "Cancelled":
			rec.Status = workload.StatusCancelled
		}
		rec.Requested, rec.Allocated = 1, 1
	}
	if f.Table != BatchInstance {
		l.Record = f.tasks(l, l.Record)
	}
	return l
}

// tasks completes records of tasks, which have any number of instances, after what is said of all.
func (f Alibaba) tasks(l *table.Columns, first func(t *table.Rows, rec *workload.Record)) func(t *table.Rows, rec *workload.Record) {
	name, planCPU, number := l.At("task_name"), l.At("plan_cpu"), l.At("instance_num")
	planMemory, planGPU := l.At("plan_mem"), l.At("plan_gpu")
	if f.Table == PAITask {
		number = l.At("inst_num")
	}
	instances, cores := l.At("instances"), l.At("cores")
	after, memory, gpus := l.At("after"), l.At("memory"), l.At("gpus")
	before := predecessors{}
	// n is the number of instances, and planned the cores of all of them; NaN if a column that one
	// needs is not known, which makes what is computed of it unknown, too.
	return func(t *table.Rows, rec *workload.Record) {
		first(t, rec)
		n, gpu := math.NaN(), math.NaN()
		if count := t.Whole(number); count >= 0 {
			n = float64(count)
		}
		planned := n * t.Number(planCPU) / 100
		t.Set(instances, workload.NumberValue(n))
		t.Set(cores, workload.NumberValue(planned))
		if f.Table == PAITask {
			gpu = t.Number(planGPU)
			t.Set(memory, workload.NumberValue(n*t.Number(planMemory)*(1<<20)))
			t.Set(gpus, workload.NumberValue(n*gpu))
		} else {
			t.Set(after, workload.TextValue(before.of(t.Text(name))))
		}
		procs := [...]float64{Cores: planned, Instances: n, GPUs: n * gpu}[f.Size]
		rec.Requested, rec.Allocated = workload.Unknown, workload.Unknown
		// 1e-9 below: 3 instances of 33.33 hundredths are one core, whatever the rounding.
		if procs = math.Ceil(procs - 1e-9); procs >= 1 && procs <= 1<<53 {
			rec.Requested, rec.Allocated = int64(procs), int64(procs)
		}
	}
}

// predecessors remembers what predecessorsOf made of the names of tasks, which rows repeat.
type predecessors map[string]string

// mostNames bounds of how many names it is remembered.
const mostNames = 1 << 14

// of is predecessorsOf, from the memory if it is there.
func (p predecessors) of(name string) string {
	before, seen := p[name]
	if !seen {
		if before = predecessorsOf(name); len(p) < mostNames {
			p[name] = before
		}
	}
	return before
}

// predecessorsOf tells which tasks of its job a task comes after, by its name: in M5_3_4 the third and
// the fourth. Names of tasks outside of a graph, "task_...", tell of none.
func predecessorsOf(name string) string {
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
