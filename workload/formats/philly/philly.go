// Package philly reads cluster_job_log, the jobs of Microsoft's Philly clusters: training of neural
// networks on GPUs, with the attempts at each (Jeon et al., Analysis of Large-Scale Multi-Tenant
// GPU Clusters for DNN Training Workloads, USENIX ATC 2019; keys as in README.md of
// https://github.com/msr-fiddle/philly-traces).
//
//	trace, err := workload.Options{Format: philly.Format{}}.Open("cluster_job_log")
//
// A job is a record whose processors are its GPUs. It may have been tried several times, on
// other servers each time; what its runtime is, is a setting:
//
//	submitted   attempt 1      attempt 2
//	|           |-----|        |-----------|
//	|---wait----|----------span------------|
//	             --1--    +     -----2-----  = sum;  last = 2
package philly

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

// Run is what the runtime of a job with several attempts is.
type Run uint8

const (
	Span Run = iota // from the begin of the first to the end of the last
	Sum             // the length of all
	Last            // the length of the last one, before which all is waiting
)

// Runs are their names.
var Runs = []string{"span", "sum", "last"}

// Format is that of the job log.
type Format struct {
	Run Run
	// Zone is that of the log's clock, which it does not tell; nil is UTC. The tables beside
	// it are in Pacific time.
	Zone *time.Location
}

func (Format) Name() string      { return "philly" }
func (Format) Endings() []string { return nil } // the file has none

// Is reports whether it begins as an array of objects with the log's keys.
func (Format) Is(in *workload.Input) bool {
	head := bytes.TrimLeft(in.Head(), " \t\r\n")
	return bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"attempts"`)) && bytes.Contains(head, []byte(`"submitted_time"`))
}

// job is an object of the log.
type job struct {
	Status    string    `json:"status"`
	VC        string    `json:"vc"`
	ID        string    `json:"jobid"`
	User      string    `json:"user"`
	Submitted string    `json:"submitted_time"`
	Attempts  []attempt `json:"attempts"`
}

type attempt struct {
	Start  string   `json:"start_time"` // null, or "None", where it is not known
	End    string   `json:"end_time"`
	Detail []detail `json:"detail"`
}

type detail = struct {
	IP   string   `json:"ip"`
	GPUs []string `json:"gpus"`
}

// instant is a time of the log; ok is false where it is not known.
func (f Format) instant(text string) (us int64, ok bool) {
	at, ok := scan.Instant([]byte(text), f.Zone)
	return int64(at), ok
}

func (f Format) submitted(j *job) (us int64, ok bool) {
	us, ok = f.instant(j.Submitted)
	return us, ok && us > 0
}

// Survey reads when jobs were submitted, and by whom.
func (f Format) Survey(in *workload.Input) (*workload.Header, error) {
	o, err := newObjects(in)
	if err != nil {
		return nil, err
	}
	h := &workload.Header{Columns: []workload.Column{
		{Name: "id", Text: true}, {Name: "state", Text: true}, {Name: "gpus"}, {Name: "nodes"}, {Name: "node_list", Text: true}, {Name: "attempts"},
	}}
	var submits table.Span
	for o.next() {
		us, ok := f.submitted(&o.current)
		if o.damage != nil || !ok {
			continue
		}
		submits.Add(des.Time(us))
		if o.current.User != "" {
			h.Names(workload.FieldUser).Number([]byte(o.current.User))
		}
		if o.current.VC != "" {
			h.Names(workload.FieldQueue).Number([]byte(o.current.VC))
		}
	}
	if submits.Tell(h, true); h.UnixStartTime > 0 && f.Zone != nil {
		h.Set("TimeZoneString", f.Zone.String())
	}
	return h, o.err
}

// Read begins a reading; an object is a job.
func (f Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	o, err := newObjects(in)
	if err != nil {
		return nil, err
	}
	return &reader{objects: o, f: f, h: h, acc: workload.NewAccount(in, h)}, nil
}

type reader struct {
	*objects
	f    Format
	h    *workload.Header
	acc  *workload.Account
	rec  workload.Record
	more []workload.Value

	servers []string
}

func (r *reader) Header() *workload.Header { return r.h }
func (r *reader) Record() *workload.Record { return &r.rec }
func (r *reader) Line() int64              { return r.number }
func (r *reader) Report() *workload.Report { return r.acc.Report() }
func (r *reader) Err() error               { return r.err }

func (r *reader) Next() bool {
	for r.next() {
		r.acc.Line()
		us, ok := r.f.submitted(&r.current)
		switch {
		case r.damage != nil:
			r.err = r.acc.Damage(r.number, "", workload.NotANumber, []byte(r.damage.Error()), "a job as in README.md of the traces")
			continue
		case !ok:
			r.err = r.acc.Damage(r.number, "submitted_time", workload.NotANumber, []byte(r.current.Submitted), `an instant as in "2017-10-07 01:11:39"`)
			continue
		}
		r.make(us)
		if ok, r.err = r.acc.Take(r.number, &r.rec); ok {
			return true
		}
	}
	if r.err == nil {
		r.err = r.acc.Ended()
	}
	return false
}

// make makes the record of a job that was submitted at that instant.
func (r *reader) make(submitted int64) {
	j := &r.current
	r.rec = workload.UnknownRecord
	r.rec.Job = r.number
	r.rec.Submit = des.Time(submitted - r.h.UnixStartTime*1e6)
	r.rec.User = r.h.Names(workload.FieldUser).Find([]byte(j.User))
	r.rec.Queue = r.h.Names(workload.FieldQueue).Find([]byte(j.VC))
	switch j.Status {
	case "Pass":
		r.rec.Status = workload.StatusCompleted
	case "Killed":
		r.rec.Status = workload.StatusCancelled
	case "Failed":
		r.rec.Status = workload.StatusFailed
	}
	r.times(submitted)
	gpus, servers := 0, r.servers[:0]
	for _, a := range slices.Backward(j.Attempts) { // the last that had any
		for _, d := range a.Detail {
			gpus += len(d.GPUs)
			servers = append(servers, d.IP)
		}
		if gpus > 0 {
			break
		}
		servers = servers[:0]
	}
	r.servers = servers
	known := workload.UnknownValue
	if gpus > 0 {
		r.rec.Requested, r.rec.Allocated = int64(gpus), int64(gpus)
		known = workload.NumberValue(float64(len(servers)))
	}
	r.more = append(r.more[:0], workload.TextValue(j.ID), workload.TextValue(j.Status), workload.NumberValue(float64(gpus)), known,
		workload.TextValue(strings.Join(servers, ",")), workload.NumberValue(float64(len(j.Attempts))))
	r.rec.More = r.more
}

// times takes wait and runtime. An attempt without begin or end, as where the job was running
// when the log was made, leaves unknown what it is needed for.
func (r *reader) times(submitted int64) {
	attempts := r.current.Attempts
	if len(attempts) == 0 {
		return
	}
	first, last := &attempts[0], &attempts[len(attempts)-1]
	if r.f.Run == Last {
		first = last
	}
	begin, ok := r.f.instant(first.Start)
	if ok && begin >= submitted {
		r.rec.Wait = des.Time(begin - submitted)
	}
	if r.f.Run != Sum {
		if end, known := r.f.instant(last.End); ok && known && end >= begin {
			r.rec.Runtime = des.Time(end - begin)
		}
		return
	}
	sum := int64(0)
	for i := range attempts {
		begin, ok := r.f.instant(attempts[i].Start)
		end, known := r.f.instant(attempts[i].End)
		if !ok || !known || end < begin {
			return
		}
		sum += end - begin
	}
	r.rec.Runtime = des.Time(sum)
}
