package formats

import (
	"time"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// FData is F-DATA, the jobs of Fugaku, a Parquet file a month, with the energy and the operations of
// every job (Antici et al., F-DATA: A Fugaku Workload Dataset for Job-centric Predictive Modelling in HPC
// Systems, Scientific Data 12, 1321, 2025, table 2; https://zenodo.org/records/11467483).
type FData struct {
	unnamed
	// Cores makes cores the processors of jobs in place of nodes, which Fugaku gives as a
	// whole.
	Cores bool
	// Zone is the time zone of instants that do not state their own; nil is UTC.
	Zone *time.Location
}

// Name is "fdata".
func (FData) Name() string { return "fdata" }

// Is reports whether it is a Parquet file with columns of these names.
func (f FData) Is(in *workload.Input) bool { return f.layout().Is(in) }

// Survey reads the columns of submissions and users.
func (f FData) Survey(in *workload.Input) (*workload.Header, error) { return f.layout().Survey(in) }

// Read begins a reading; a row is a job.
func (f FData) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return f.layout().Read(in, h)
}

// layout is the layout of the table; Cores and Zone are settings of it.
func (f FData) layout() *table.Columns {
	return &table.Columns{Fields: fdataFields, Zone: f.Zone, Header: f.header, Record: f.record}
}

// The places in fdataFields of the columns that record needs: the instants of arrival, start and end,
// nodes and cores, requested (r) and allocated (a), and how the job ended.
const (
	adt = iota
	sdt
	edt
	nnumr
	nnuma
	cnumr
	cnumat
	exitState
)

// fdataFields are the columns under the names of table 2; the embedding of names, 384 numbers a job,
// is left. Columns whose unit table 2 does not tell keep their name, so that nobody takes them for the
// columns of that meaning in other formats.
var fdataFields = []table.Field{
	adt:       {Name: "adt", Is: table.Instant, SWF: 2, Needed: true, Always: true},
	sdt:       {Name: "sdt", Is: table.Instant, Needed: true},
	edt:       {Name: "edt", Is: table.Instant, Needed: true},
	nnumr:     {Name: "nnumr", Needed: true, As: "nodes_requested"},
	nnuma:     {Name: "nnuma", As: "nodes"},
	cnumr:     {Name: "cnumr", As: "cores_requested"},
	cnumat:    {Name: "cnumat", As: "cores"},
	exitState: {Name: "exit state", Is: table.Text, As: "state"},
	{Name: "usr", Is: table.Text, SWF: workload.FieldUser, Needed: true},
	{Name: "elpl", SWF: 9, Needed: true},

	{Name: "jid", Is: table.Text, As: "id"},
	{Name: "jnam", Is: table.Text, As: "name"},
	{Name: "jobenv_req", Is: table.Text, As: "environment"},
	{Name: "nnumu", As: "nodes_used"},
	{Name: "cnumut", As: "cores_used"},
	{Name: "qdt", Is: table.Instant, As: "queued", Unit: workload.InstantUnit},
	{Name: "schedsdt", Is: table.Instant, As: "scheduled", Unit: workload.InstantUnit},
	{Name: "deldt", Is: table.Instant, As: "deleted", Unit: workload.InstantUnit},
	{Name: "duration", As: "duration", Unit: "s"},
	{Name: "ec", As: "exit_code"},
	{Name: "pri", As: "priority"},
	{Name: "avgpcon", As: "power", Unit: "W"},
	{Name: "minpcon", As: "power_min", Unit: "W"},
	{Name: "maxpcon", As: "power_max", Unit: "W"},
	{Name: "econ", As: "econ"}, // not "energy", which has joules
	{Name: "mszl", As: "mszl"},
	{Name: "msza", As: "msza"},
	{Name: "mmszu", As: "mmszu"},
	{Name: "uctmut", As: "uctmut"},
	{Name: "sctmut", As: "sctmut"},
	{Name: "usctmut", As: "usctmut"},
	{Name: "idle_time_ave", As: "idle_time_ave"},
	{Name: "freq_req", As: "frequency_requested"},
	{Name: "freq_alloc", As: "frequency"},
	{Name: "perf1", As: "perf1"},
	{Name: "perf2", As: "perf2"},
	{Name: "perf3", As: "perf3"},
	{Name: "perf4", As: "perf4"},
	{Name: "perf5", As: "perf5"},
	{Name: "perf6", As: "perf6"},
	{Name: "flops", As: "flops"},
	{Name: "mbwidth", As: "bandwidth"},
	{Name: "opint", As: "intensity"},
	{Name: "pclass", Is: table.Text, As: "class"},
}

// header adds the size of Fugaku: 158,976 nodes of 48 cores for jobs.
func (f FData) header(h *workload.Header) {
	h.Set("Computer", "Fugaku")
	h.Set("MaxNodes", "158976")
	if f.Cores {
		h.Set("MaxProcs", "7630848") // 48 a node
	} else {
		h.Set("MaxProcs", "158976")
	}
}

// record completes the record of a row.
func (f FData) record(r *table.Rows, rec *workload.Record) {
	rec.Wait, rec.Runtime = r.Since(adt, sdt), r.Since(sdt, edt)
	rec.Requested, rec.Allocated = r.Whole(nnumr), r.Whole(nnuma)
	if f.Cores {
		rec.Requested, rec.Allocated = r.Whole(cnumr), r.Whole(cnumat)
	}
	switch r.Text(exitState) {
	case "completed":
		rec.Status = workload.StatusCompleted
	case "failed":
		rec.Status = workload.StatusFailed
	}
}
