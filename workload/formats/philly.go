package formats

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// PhillyRun is the rule for the runtime of a job with several attempts.
type PhillyRun uint8

const (
	Span PhillyRun = iota // from the begin of the first to the end of the last
	Sum                   // the length of all
	Last                  // the length of the last one, before which all is waiting
)

// PhillyRuns are their names.
var PhillyRuns = []string{"span", "sum", "last"}

// Philly is cluster_job_log, the jobs of Microsoft's Philly clusters: training of neural networks on
// GPUs, with the attempts at each (Jeon et al., Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN
// Training Workloads, USENIX ATC 2019; keys as in README.md of https://github.com/msr-fiddle/philly-traces).
//
// A job is a record whose processors are its GPUs. It may have been tried several times, on
// other servers each time; what its runtime is, is a setting:
//
//	submitted   attempt 1      attempt 2
//	|           |-----|        |-----------|
//	|---wait----|----------span------------|
//	             --1--    +     -----2-----  = sum;  last = 2
type Philly struct {
	unnamed
	Run PhillyRun
	// Zone is the time zone of the clock of the log, which the log does not tell; nil is UTC. The
	// other tables of the data set are in Pacific time.
	Zone *time.Location
}

// Name is "philly".
func (Philly) Name() string { return "philly" }

// Is reports whether it begins as an array of objects with the log's keys.
func (f Philly) Is(in *workload.Input) bool {
	head := bytes.TrimLeft(in.Head(), " \t\r\n")
	return bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"attempts"`)) && bytes.Contains(head, []byte(`"submitted_time"`))
}

// Survey reads when jobs were submitted, and by whom. A virtual cluster (vc) is a queue.
func (f Philly) Survey(in *workload.Input) (*workload.Header, error) { return f.layout().Survey(in) }

// Read begins a reading; an object is a job.
func (f Philly) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return f.layout().Read(in, h)
}

// The places in phillyFields of the columns that record fills in, or needs.
const (
	jobID = iota
	status
	jobGPUs
	jobNodes
	nodeList
	attempts
	submittedTime
)

// phillyFields are the keys of an object that are text, and the columns that its attempts make.
var phillyFields = []table.Field{
	jobID:         {Name: "jobid", Is: table.Text, As: "id"},
	status:        {Name: "status", Is: table.Text, As: "state"},
	jobGPUs:       {As: "gpus"},
	jobNodes:      {As: "nodes"},
	nodeList:      {Is: table.Text, As: "node_list"},
	attempts:      {As: "attempts"},
	submittedTime: {Name: "submitted_time", Is: table.Instant, SWF: 2, Always: true},
	{Name: "user", Is: table.Text, SWF: workload.FieldUser},
	{Name: "vc", Is: table.Text, SWF: workload.FieldQueue},
}

// layout is the layout of the objects; Run and Zone are settings of it.
func (f Philly) layout() *table.Columns {
	return &table.Columns{Fields: phillyFields, Over: openObjects, Zone: f.Zone, Header: func(*workload.Header) {}, Record: f.record}
}

// record completes the record of a job. Its size and its servers are those of the last attempt that
// had any GPUs, since an attempt may fail before it gets some; without one the size is unknown.
func (f Philly) record(t *table.Rows, rec *workload.Record) {
	j := &t.Source.(*objects).current
	switch j.Status {
	case "Pass":
		rec.Status = workload.StatusCompleted
	case "Killed":
		rec.Status = workload.StatusCancelled
	case "Failed":
		rec.Status = workload.StatusFailed
	}
	f.times(t, j, rec)
	gpus, servers := 0, []string(nil)
	for _, a := range slices.Backward(j.Attempts) {
		for _, d := range a.Detail {
			gpus += len(d.GPUs)
			servers = append(servers, d.IP)
		}
		if gpus > 0 {
			break
		}
		servers = nil
	}
	// The columns that attempts make. Without a GPU the servers are unknown, too.
	t.Set(jobNodes, workload.UnknownValue)
	if gpus > 0 {
		rec.Requested, rec.Allocated = int64(gpus), int64(gpus)
		t.Set(jobNodes, workload.NumberValue(float64(len(servers))))
	}
	t.Set(jobGPUs, workload.NumberValue(float64(gpus)))
	t.Set(nodeList, workload.TextValue(strings.Join(servers, ",")))
	t.Set(attempts, workload.NumberValue(float64(len(j.Attempts))))
}

// instant is a time of the log, in microseconds since 1970; ok is false where it is not known.
func (f Philly) instant(text string) (us des.Time, ok bool) {
	return scan.Instant([]byte(text), f.Zone)
}

// times takes wait and runtime. An attempt without begin or end, as where the job was running
// when the log was made, leaves unknown what it is needed for.
func (f Philly) times(t *table.Rows, j *job, rec *workload.Record) {
	attempts := j.Attempts
	if len(attempts) == 0 { // the job never started
		return
	}
	first, last := &attempts[0], &attempts[len(attempts)-1]
	if f.Run == Last {
		first = last
	}
	submitted, _ := f.instant(j.Submitted)
	begin, ok := f.instant(first.Start)
	if ok && begin >= submitted {
		rec.Wait = begin - submitted
	}
	if f.Run != Sum {
		if end, known := f.instant(last.End); ok && known && end >= begin {
			rec.Runtime = end - begin
		}
		return
	}
	// A sum of which one part is not known is not known.
	sum := des.Time(0)
	for i := range attempts {
		begin, ok := f.instant(attempts[i].Start)
		end, known := f.instant(attempts[i].End)
		if !ok || !known || end < begin {
			return
		}
		sum += end - begin
	}
	rec.Runtime = sum
}
