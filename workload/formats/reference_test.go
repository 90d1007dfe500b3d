package formats

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

func TestTheReferenceTellsOfEveryFormatWhatItIs(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/formats.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 9 {
			rows[strings.Trim(cells[1], " `")] = cells
		}
	}
	for _, f := range append(All(), workload.SWF) {
		row := rows[f.Name()]
		require.NotNil(t, row, f.Name())
		require.Equal(t, strings.TrimPrefix(reflect.TypeOf(f).PkgPath(), "github.com/gridslot/gridslot/"), strings.Trim(row[2], " `"), f.Name())
		for _, ending := range f.Endings() {
			require.Contains(t, row[3], "`"+ending+"`", f.Name())
		}
		if writable, ok := f.(workload.Writable); ok {
			require.Equal(t, "both", strings.TrimSpace(row[4]), f.Name())
			require.Equal(t, fieldsIn(row[5]), fieldsHeld(t, writable), f.Name())
		}
	}
}

// fieldsIn reads "1-3, 5" or "all 18".
func fieldsIn(text string) (fields [19]bool) {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "all 18") {
		text = "1-18"
	}
	for part := range strings.SplitSeq(text, ", ") {
		var first, last int
		if n, _ := fmt.Sscanf(part, "%d-%d", &first, &last); n == 1 {
			last = first
		}
		for f := first; f <= last; f++ {
			fields[f] = true
		}
	}
	return fields
}

// fieldsHeld are those that a format does not tell as lost of a job of which all is known.
func fieldsHeld(t *testing.T, format workload.Writable) (fields [19]bool) {
	h := &workload.Header{}
	h.Set("UnixStartTime", "1700000000")
	w, err := format.Write(io.Discard, h)
	require.NoError(t, err)
	rec := workload.Record{Job: 7}
	for f := 2; f <= 18; f++ {
		rec.Put(f, int64(f))
		if workload.IsTime(f) {
			rec.Put(f, int64(f)*int64(des.Second))
		}
	}
	rec.Status = workload.StatusCompleted
	require.NoError(t, w.Write(&rec))
	require.NoError(t, w.Close())
	for f := 1; f <= 18; f++ {
		fields[f] = true
	}
	for _, l := range w.Lost().All() {
		var f int
		if n, _ := fmt.Sscanf(l.What, "field %d", &f); n == 1 {
			fields[f] = false
		}
	}
	return fields
}
