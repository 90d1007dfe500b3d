package formats

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

func readMWF(text string, strict bool) (*workload.Header, []*workload.Record, *workload.Report, error) {
	return logtest.Read(MWF{}, strings.NewReader(text), strict)
}

// FuzzMWF holds of any input: an end, a balance, and what was read can be written and
// read again.
func FuzzMWF(f *testing.F) {
	f.Add(mwfSample)
	f.Add("# a\n#! user 1 \"x y\"\n" + mwfSample + "x\n\n#")
	f.Fuzz(func(t *testing.T, text string) { logtest.ThereAndBack(t, MWF{}, text) })
}

const mwfSample = "7\tu1\tlong\t4\tx\t[linux;amd64]\ty\t1230768010\t1230768020\tz\t3600\tw\t3 4 5 6\t86400\n" +
	"8\tu2\tshort\t1\t\t\t\t1230768000\t0\t\t0\t\tunspecified\n"

func TestCellsAreReadAsAleaReadsThem(t *testing.T) {
	h, records, _, err := readMWF(mwfSample, true)
	require.NoError(t, err)
	require.EqualValues(t, 1230768000, h.UnixStartTime)
	require.True(t, h.Unsorted)
	first, second := records[0], records[1]
	require.Equal(t, []any{int64(7), 10.0, 10.0, 3600.0, int64(4), 86400.0, int64(1), int64(1)},
		[]any{first.Job, first.Submit.Seconds(), first.Wait.Seconds(), first.Runtime.Seconds(), first.Requested, first.Estimate.Seconds(), first.User, first.Queue})
	var more []string
	for _, v := range first.More {
		more = append(more, v.Text)
	}
	require.Equal(t, []string{"x", "[linux;amd64]", "y", "z", "w", "3 4 5 6"}, more)
	require.Equal(t, "constraints", h.Columns[1].Name)
	require.Equal(t, "short", h.Names(workload.FieldQueue).Name(second.Queue))
	require.Equal(t, workload.UnknownTime, second.Wait, "a start of 0 is none")
	require.Equal(t, workload.UnknownTime, second.Estimate)
}

func TestFilesOfItsEndingAreRecognised(t *testing.T) {
	for name, want := range map[string]bool{"a.mwf": true, "a.mwf.gz": true, "a.txt": false} {
		path := t.TempDir() + "/" + name
		require.NoError(t, os.WriteFile(path, []byte(mwfSample), 0o666))
		require.Equal(t, want, workload.Options{Reading: workload.Reading{Formats: []workload.Format{MWF{}}}}.Recognise(path) != nil, name)
	}
}
