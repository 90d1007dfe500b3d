// The command gridslot with one format of logs more: the accounting of PBS and TORQUE.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// Accounting is the accounting log of PBS and TORQUE, a line an event:
//
//	08/26/2014 17:08:04;E;11923.host;user=ada queue=batch qtime=1409094464 start=1409094470 ...
//
// The event E, the end of a job, tells all of it. The others are counted.
type Accounting struct{}

func (Accounting) Name() string      { return "pbs" }
func (Accounting) Endings() []string { return []string{".pbs"} }

// Is knows the format by its first line.
func (Accounting) Is(in *workload.Input) bool {
	first, _, _ := bytes.Cut(in.Head(), []byte{'\n'})
	date, rest, _ := bytes.Cut(first, []byte{';'})
	return len(date) == len("08/26/2014 17:08:04") && date[2] == '/' && date[5] == '/' && len(rest) > 2 && rest[1] == ';'
}

// Survey reads all jobs for what has to be known before the first one: who and what the
// numbers stand for, when the log begins, and that jobs come in the order of their ends.
func (f Accounting) Survey(in *workload.Input) (*workload.Header, error) {
	h := &workload.Header{Unsorted: true, Columns: []workload.Column{{Name: "host", Text: true}}}
	r, err := f.reader(in, h, &workload.Tally{Name: in.Name()}) // nobody hears of it: what is damaged is told by Read
	if err != nil {
		return nil, err
	}
	earliest := workload.MaxTime
	for r.next(h.Names(workload.FieldUser).Number, h.Names(workload.FieldQueue).Number) {
		earliest = min(earliest, r.rec.Submit)
	}
	if earliest < workload.MaxTime {
		h.Set("UnixStartTime", strconv.FormatInt(int64(earliest/des.Second), 10))
	}
	return h, r.err
}

// Read begins a reading with what the survey has found.
func (f Accounting) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return f.reader(in, h, workload.NewTally(in, h))
}

func (Accounting) reader(in *workload.Input, h *workload.Header, tally *workload.Tally) (*reader, error) {
	text, err := in.Text() // unpacked
	if err != nil {
		return nil, err
	}
	r := &reader{lines: bufio.NewScanner(text), h: h, tally: tally, start: des.Time(h.UnixStartTime) * des.Second}
	r.lines.Buffer(nil, 1<<20) // a job on 10,000 nodes has a long line
	return r, nil
}

type reader struct {
	lines *bufio.Scanner
	line  int64
	h     *workload.Header
	tally *workload.Tally
	start des.Time
	rec   workload.Record
	err   error
}

func (r *reader) Header() *workload.Header { return r.h }
func (r *reader) Record() *workload.Record { return &r.rec }
func (r *reader) Line() int64              { return r.line }
func (r *reader) Report() *workload.Report { return r.tally.Report() }
func (r *reader) Err() error               { return r.err }

func (r *reader) Next() bool {
	if !r.next(r.h.Names(workload.FieldUser).Find, r.h.Names(workload.FieldQueue).Find) {
		return false
	}
	r.tally.Took(r.line, &r.rec) // it looks for numbers given twice and the like
	return true
}

// next reads the next job. Its arguments make numbers of names.
func (r *reader) next(user, queue func(name []byte) int64) bool {
	for r.err == nil && r.lines.Scan() {
		r.line++
		event := strings.SplitN(r.lines.Text(), ";", 4)
		r.tally.Line()
		switch {
		case len(event) < 4:
			r.err = r.tally.Damage(r.line, "", workload.TooFewFields, r.lines.Bytes(), "DATE;EVENT;JOB;WHAT IT TELLS")
		case event[1] != "E":
			r.tally.Add(r.line, "", workload.JobStep, []byte(event[1]+" "+event[2]))
		case r.job(event[2], event[3], user, queue):
			return true
		}
	}
	if r.err == nil {
		if r.err = r.tally.Ended(); r.lines.Err() != nil {
			r.err = fmt.Errorf("%s:%d: %w", r.tally.Name, r.line+1, r.lines.Err())
		}
	}
	return false
}

// job makes a record. What is not told stays unknown.
func (r *reader) job(id, text string, user, queue func(name []byte) int64) bool {
	told := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		told[key] = value
	}
	r.rec = workload.UnknownRecord
	number, host, _ := strings.Cut(id, ".")
	number, _, _ = strings.Cut(number, "[") // an array's
	for _, field := range []struct {
		field int
		name  string
		text  string
	}{{1, "job", number}, {2, "qtime", told["qtime"]}, {8, "Resource_List.ncpus", told["Resource_List.ncpus"]}, {11, "Exit_status", status(told["Exit_status"])}} {
		if why, ok := r.rec.SetField(field.field, []byte(field.text)); !ok && field.text != "" {
			r.err = r.tally.Damage(r.line, field.name, why, []byte(field.text), workload.Expected(field.field))
			return false
		}
	}
	start, end := instant(told["start"]), instant(told["end"])
	if start >= r.rec.Submit && end >= start {
		r.rec.Wait, r.rec.Runtime = start-r.rec.Submit, end-start
	}
	r.rec.Submit -= r.start
	r.rec.Allocated = cores(told["exec_host"])
	r.rec.Estimate = clock(told["Resource_List.walltime"])
	r.rec.User, r.rec.Queue = user([]byte(told["user"])), queue([]byte(told["queue"]))
	r.rec.More = []workload.Value{workload.TextValue(host)}
	return true
}

func status(exit string) string {
	switch exit {
	case "":
		return ""
	case "0":
		return strconv.Itoa(workload.StatusCompleted)
	}
	return strconv.Itoa(workload.StatusFailed)
}

// cores counts those of n1/0+n1/1, as TORQUE writes it, or n1/0*8+n2/0*8, as PBS does.
func cores(hosts string) int64 {
	if hosts == "" {
		return workload.Unknown
	}
	n := int64(0)
	for host := range strings.SplitSeq(hosts, "+") {
		of := int64(1)
		if _, times, ok := strings.Cut(host, "*"); ok {
			of, _ = strconv.ParseInt(times, 10, 32)
		}
		n += of
	}
	return n
}

// instant reads seconds since 1970.
func instant(text string) des.Time {
	if t, _, ok := workload.ParseTime([]byte(text)); ok {
		return t
	}
	return workload.UnknownTime
}

// clock reads 96:00:00.
func clock(text string) des.Time {
	seconds := int64(0)
	for part := range strings.SplitSeq(text, ":") {
		n, err := strconv.ParseInt(part, 10, 32)
		if seconds = seconds*60 + n; err != nil || n < 0 || seconds > math.MaxInt32 {
			return workload.UnknownTime
		}
	}
	return des.Time(seconds) * des.Second
}

var mine = cli.Extend{Formats: policy.Table[workload.Format]{{
	Name: "pbs", Text: "the accounting of PBS and TORQUE",
	New: func(*policy.Args) workload.Format { return Accounting{} },
}}}

func main() { os.Exit(cli.Main(mine)) }
