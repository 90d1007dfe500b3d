package formats

import (
	"math"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/sacct"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// PM100 is the jobs of Marconi100 with the power that they drew, one Parquet file (Antici et al.,
// PM100: A Job Power Consumption Dataset of a Large-scale Production HPC System, SC-W 2023;
// https://zenodo.org/records/10127767; columns as in documentation/job_features.md of the dataset's
// repository).
type PM100 struct {
	unnamed
	// Cores makes cores the processors of jobs in place of nodes.
	Cores bool
	// Zone is the time zone of instants that do not state their own; nil is UTC.
	Zone *time.Location
}

// Name is "pm100".
func (PM100) Name() string { return "pm100" }

// Is reports whether it is a Parquet file with columns of these names.
func (f PM100) Is(in *workload.Input) bool { return f.layout().Is(in) }

// Survey reads the columns of submissions, users, groups and partitions.
func (f PM100) Survey(in *workload.Input) (*workload.Header, error) { return f.layout().Survey(in) }

// Read begins a reading; a row is a job.
func (f PM100) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return f.layout().Read(in, h)
}

// layout is the layout of the table; Cores and Zone are settings of it.
func (f PM100) layout() *table.Columns {
	return &table.Columns{Fields: pm100Fields, Zone: f.Zone, Header: f.header, Record: f.record}
}

// The places in pm100Fields of the columns that record needs.
const (
	submitTime = iota
	startTime
	endTime
	timeLimit
	nodesReq
	nodesAlloc
	coresReq
	coresAlloc
	jobState
)

// pm100Fields are the columns as job_features.md names them. Power is a list of the values
// that were measured during the job, of which the mean is taken.
var pm100Fields = []table.Field{
	submitTime: {Name: "submit_time", Is: table.Instant, SWF: 2, Needed: true, Always: true},
	startTime:  {Name: "start_time", Is: table.Instant, Needed: true},
	endTime:    {Name: "end_time", Is: table.Instant, Needed: true},
	timeLimit:  {Name: "time_limit", Is: table.Text},
	nodesReq:   {Name: "num_nodes_req", As: "nodes_requested"},
	nodesAlloc: {Name: "num_nodes_alloc", Needed: true, As: "nodes"},
	coresReq:   {Name: "num_cores_req", As: "cores_requested"},
	coresAlloc: {Name: "num_cores_alloc", As: "cores"},
	jobState:   {Name: "job_state", Is: table.Text, Needed: true, As: "state"},
	{Name: "job_id", SWF: 1, Needed: true},
	{Name: "run_time", SWF: 4},
	{Name: "user_id", Is: table.Text, SWF: workload.FieldUser},
	{Name: "group_id", Is: table.Text, SWF: workload.FieldGroup},
	{Name: "partition", Is: table.Text, SWF: workload.FieldPartition},
	{Name: "derived_ec", Is: table.Text, As: "derived_ec"},

	{Name: "eligible_time", Is: table.Instant, As: "eligible", Unit: workload.InstantUnit},
	{Name: "num_gpus_req", As: "gpus_requested"},
	{Name: "num_gpus_alloc", As: "gpus"},
	{Name: "mem_req", As: "mem_req"}, // not "memory", which has kB
	{Name: "mem_alloc", As: "mem_alloc"},
	{Name: "num_tasks", As: "tasks"},
	{Name: "cores_per_task", As: "cores_per_task"},
	{Name: "threads_per_core", As: "threads_per_core"},
	{Name: "priority", As: "priority"},
	{Name: "power_flags", Is: table.Text, As: "power_flags"},
	{Name: "qos", Is: table.Text, As: "qos"},
	{Name: "shared", Is: table.Text, As: "shared"},
	{Name: "state_reason", Is: table.Text, As: "reason"},
	{Name: "nodes", Is: table.Text, As: "node_list"},
	{Name: "req_nodes", Is: table.Text, As: "nodes_named"},
	{Name: "node_power_consumption", Is: table.Mean, As: "power", Unit: "W"},
	{Name: "cpu_power_consumption", Is: table.Mean, As: "power_cpu", Unit: "W"},
	{Name: "mem_power_consumption", Is: table.Mean, As: "power_memory", Unit: "W"},
}

// header adds the size of Marconi100, 980 nodes. With Cores its processors are left unknown: a node
// has 128 hardware threads, and which of them the log counts is the user's to say.
func (f PM100) header(h *workload.Header) {
	h.Set("Computer", "Marconi100")
	h.Set("MaxNodes", "980")
	if !f.Cores {
		h.Set("MaxProcs", "980")
	}
}

// record completes the record of a row. The runtime is run_time, or from start to end without it.
func (f PM100) record(r *table.Rows, rec *workload.Record) {
	rec.Wait = r.Since(submitTime, startTime)
	if rec.Runtime < 0 {
		rec.Runtime = r.Since(startTime, endTime)
	}
	rec.Requested, rec.Allocated = r.Whole(nodesReq), r.Whole(nodesAlloc)
	if f.Cores {
		rec.Requested, rec.Allocated = r.Whole(coresReq), r.Whole(coresAlloc)
	}
	rec.Estimate = minutes(r.Text(timeLimit))
	rec.Status = sacct.Status([]byte(r.Text(jobState)))
}

// minutes is a limit given in minutes, or UnknownTime if there is none: as the word INFINITE, as
// Slurm's number for it (2^32-1, INFINITE of slurm.h), or as its NO_VAL, 2^32-2.
func minutes(text string) des.Time {
	n, fault := number.Float(text)
	if fault != number.Sound || !(n >= 0 && n < math.MaxUint32-1) {
		return workload.UnknownTime
	}
	return des.Seconds(60 * n)
}
