// Package pm100 reads PM100, jobs of Marconi100 from May to October 2020 with the power that
// they drew, one Parquet file (Antici et al., PM100: A Job Power Consumption Dataset of a
// Large-scale Production HPC System, SC-W 2023; https://zenodo.org/records/10127767; columns as in
// documentation/job_features.md of the dataset's repository).
//
//	trace, err := workload.Options{Format: pm100.Format{}}.Open("job_table.parquet")
//
// What the publication does not tell is not guessed: units of memory are those of the file.
package pm100

import (
	"math"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/sacct"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// Format is that of PM100.
type Format struct {
	// Cores makes cores the processors of jobs in place of nodes.
	Cores bool
	// Zone is that of instants without one; nil is UTC.
	Zone *time.Location
}

func (Format) Name() string      { return "pm100" }
func (Format) Endings() []string { return nil } // they are told by their columns
func (f Format) layout() *table.Columns {
	return &table.Columns{Fields: fields, Submit: submitTime, Zone: f.Zone, Header: f.header, Record: f.record}
}

// Is reports whether it is a Parquet file with columns of these names.
func (f Format) Is(in *workload.Input) bool { return f.layout().Is(in) }

// Survey reads the columns of submissions, users, groups and partitions.
func (f Format) Survey(in *workload.Input) (*workload.Header, error) { return f.layout().Survey(in) }

// Read begins a reading; a row is a job.
func (f Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return f.layout().Read(in, h)
}

const (
	submitTime = iota
	startTime
	endTime
	jobID
	runTime
	timeLimit
	nodesReq
	nodesAlloc
	coresReq
	coresAlloc
	userID
	groupID
	partition
	jobState
)

var fields = []table.Field{
	submitTime: {Name: "submit_time", Is: table.Instant, Needed: true},
	startTime:  {Name: "start_time", Is: table.Instant, Needed: true},
	endTime:    {Name: "end_time", Is: table.Instant, Needed: true},
	jobID:      {Name: "job_id", Needed: true},
	runTime:    {Name: "run_time"},
	timeLimit:  {Name: "time_limit", Is: table.Text},
	nodesReq:   {Name: "num_nodes_req", As: "nodes_requested"},
	nodesAlloc: {Name: "num_nodes_alloc", Needed: true, As: "nodes"},
	coresReq:   {Name: "num_cores_req", As: "cores_requested"},
	coresAlloc: {Name: "num_cores_alloc", As: "cores"},
	userID:     {Name: "user_id", Is: table.Text, Names: workload.FieldUser},
	groupID:    {Name: "group_id", Is: table.Text, Names: workload.FieldGroup},
	partition:  {Name: "partition", Is: table.Text, Names: workload.FieldPartition},
	jobState:   {Name: "job_state", Is: table.Text, Needed: true, As: "state"},
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

func (f Format) header(h *workload.Header) {
	h.Set("Computer", "Marconi100")
	h.Set("MaxNodes", "980")
	if !f.Cores {
		h.Set("MaxProcs", "980")
	}
}

func (f Format) record(r *table.Row, rec *workload.Record) {
	if id := r.Whole(jobID); id >= 0 {
		rec.Job = id
	}
	rec.Wait, rec.Runtime = r.Since(submitTime, startTime), r.Seconds(runTime, 1)
	if rec.Runtime < 0 {
		rec.Runtime = r.Since(startTime, endTime)
	}
	rec.Requested, rec.Allocated = r.Whole(nodesReq), r.Whole(nodesAlloc)
	if f.Cores {
		rec.Requested, rec.Allocated = r.Whole(coresReq), r.Whole(coresAlloc)
	}
	rec.Estimate = limit(r.Text(timeLimit))
	rec.User, rec.Group, rec.Partition = r.Name(userID), r.Name(groupID), r.Name(partition)
	rec.Status = sacct.Status([]byte(r.Text(jobState)))
}

// limit is a limit in minutes; INFINITE is none, as a word and as Slurm's number.
func limit(text string) des.Time {
	minutes, fault := number.Float(text)
	if fault != number.Sound || !(minutes >= 0 && minutes < math.MaxUint32-1) {
		return workload.UnknownTime
	}
	return des.Seconds(60 * minutes)
}
