// Package logtest has what the tests of formats have in common. It does without testify, since it is a package
// like any other to whoever compiles all.
package logtest

import (
	"bytes"
	"io"
	"testing"

	"github.com/gridslot/gridslot/workload"
)

// Read reads all records of a text.
func Read(f workload.Format, text io.Reader, strict bool) (*workload.Header, []*workload.Record, *workload.Report, error) {
	trace, all, report, err := ReadFile(workload.Options{Reading: workload.Reading{Format: f, Stdin: text, Strict: strict}}, workload.StandardInput)
	if trace == nil {
		return nil, nil, nil, err
	}
	return trace.Header, all, report, err
}

// ReadFile reads all records of a file. The trace is nil if the file cannot be opened; after
// another error the records before it are there.
func ReadFile(o workload.Options, path string) (*workload.Trace, []*workload.Record, *workload.Report, error) {
	trace, err := o.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	r, closer, err := trace.Records()
	if err != nil {
		return nil, nil, nil, err
	}
	defer closer.Close()
	var all []*workload.Record
	for rec := range r.Records() {
		all = append(all, rec.Clone())
		*rec = workload.Record{} // whoever has asked for it may change it
	}
	return trace, all, r.Report(), r.Err()
}

// ThereAndBack holds of any text: an end, a balance, and that what was read can be written
// and read again where nothing is lost.
func ThereAndBack(t *testing.T, f workload.Writable, text string) {
	h, records, report, err := Read(f, bytes.NewReader([]byte(text)), false)
	if err != nil {
		return
	}
	if damaged := report.Total(workload.Damaged); report.Lines != int64(len(records))+damaged {
		t.Fatalf("%d lines are %d records and %d damaged ones", report.Lines, len(records), damaged)
	}
	var out bytes.Buffer
	w, err := f.Write(&out, h)
	for _, rec := range records {
		if err == nil {
			err = w.Write(rec)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	if len(w.Lost().All()) > 0 {
		return
	}
	if _, again, _, err := Read(f, &out, false); err != nil || len(again) != len(records) {
		t.Fatalf("of %d records %d come back: %v", len(records), len(again), err)
	}
}

// Endless gives a text again and again, Left bytes of it or a few more.
type Endless struct {
	Text string
	Left int64
	at   int
}

func (e *Endless) Read(p []byte) (int, error) {
	if e.Left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) {
		k := copy(p[n:], e.Text[e.at:])
		n, e.at = n+k, (e.at+k)%len(e.Text)
	}
	e.Left -= int64(n)
	return n, nil
}
