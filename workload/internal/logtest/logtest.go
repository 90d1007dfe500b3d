// Package logtest has what the tests of formats have in common.
package logtest

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
)

// Read reads all records of a text.
func Read(f workload.Format, text io.Reader, strict bool) (*workload.Header, []*workload.Record, *workload.Report, error) {
	trace, err := workload.Options{Format: f, Stdin: text, Strict: strict}.Open(workload.StandardInput)
	if err != nil {
		return nil, nil, nil, err
	}
	r, closer, err := trace.Records()
	if err != nil {
		return nil, nil, nil, err
	}
	defer closer.Close()
	var all []*workload.Record
	for r.Next() {
		all = append(all, r.Record().Clone())
		*r.Record() = workload.Record{} // whoever has asked for it may change it
	}
	return trace.Header, all, r.Report(), r.Err()
}

// ThereAndBack holds of any text: an end, a balance, and that what was read can be written
// and read again where nothing is lost.
func ThereAndBack(t *testing.T, f workload.Writable, text string) {
	h, records, report, err := Read(f, bytes.NewReader([]byte(text)), false)
	if err != nil {
		return
	}
	require.Equal(t, report.Lines, int64(len(records))+report.Total(workload.Damaged))
	var out bytes.Buffer
	w, err := f.Write(&out, h)
	require.NoError(t, err)
	for _, rec := range records {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	_, again, _, err := Read(f, &out, false)
	if len(w.Lost().All()) == 0 {
		require.NoError(t, err)
		require.Len(t, again, len(records))
	}
}
