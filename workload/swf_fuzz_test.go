package workload

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/stretchr/testify/require"
)

// FuzzReader holds of any input: no panic, an end, a balance, and what was
// read comes back from what the Writer makes of it.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		"", ";", "; MaxProcs: 10\n" + sound, sound + "\r\n\r\n;x\n" + sound, odd, "1 2 3\n" + withField(4, "NaN"),
		withField(2, "1e18"), withField(2, "-1"), strings.Repeat("-", 40), ";\r\r\n" + sound, "\uFEFF" + sound, "1\x002", sound + " 19 20",
	} {
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, strict bool) {
		r := NewReader(bytes.NewReader(text))
		r.strict = strict
		var records []Record
		for r.Next() {
			records = append(records, *r.Record())
		}
		report := r.Report()
		require.Equal(t, report.Lines, int64(len(records))+report.Total(Damaged))
		require.LessOrEqual(t, r.Line(), int64(bytes.Count(text, []byte("\n"))+1))

		var out bytes.Buffer
		w := NewWriter(&out)
		require.NoError(t, w.WriteHeader(r.Header()))
		for i := range records {
			require.NoError(t, w.Write(&records[i]))
		}
		require.NoError(t, w.Flush())
		again := NewReader(&out)
		again.strict = true
		require.Equal(t, r.Header(), again.Header())
		for i := range records {
			require.True(t, again.Next(), again.Err())
			require.Equal(t, records[i], *again.Record())
		}
		require.False(t, again.Next())
		if len(records) > 0 {
			require.NoError(t, again.Err())
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add("Version: 2.2")
	f.Add("       MaxProcs:128 x")
	f.Add("\tsee: http://example.org")
	f.Add(";;:")
	f.Fuzz(func(t *testing.T, comment string) {
		var h Header
		h.Add("Note", "before")
		h.addLine(";" + comment)
		last := h.Entries()[len(h.Entries())-1]
		require.NotEmpty(t, last.Key)
		if !strings.EqualFold(last.Key, "Note") { // the first of a key is what Get tells
			require.Equal(t, last.Value, h.Get(last.Key))
		}
		require.GreaterOrEqual(t, h.MaxProcs, int64(0))
		require.Equal(t, &h, h.Clone())
	})
}

// FuzzTrace reads any bytes as a trace may be stored: plain or packed.
func FuzzTrace(f *testing.F) {
	f.Add([]byte(odd))
	f.Add([]byte("\x1F\x8B\x08\x00\x00\x00"))
	f.Add([]byte("\x28\xB5\x2F\xFD\x24\x00\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := Options{Reading: Reading{Stdin: io.LimitReader(bytes.NewReader(data), 1<<16)}, Part: Part{Sort: true}}.Open(StandardInput)
		if err != nil {
			return
		}
		latest := des.Time(0)
		for j := range trace.Jobs() {
			require.NoError(t, j.Request.Check())
			require.GreaterOrEqual(t, j.Submit, latest)
			require.GreaterOrEqual(t, j.Runtime, des.Time(0))
			latest = j.Submit
		}
		if report := trace.Report(); trace.Err() == nil {
			require.Equal(t, report.Lines, report.Jobs+report.Total(Damaged)+report.Total(LeftOut))
		}
	})
}
