package formats_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

// read reads all records of a file of testdata, whose format is recognised.
func readParquet(t *testing.T, name string) (*workload.Header, []*workload.Record, *workload.Report) {
	trace, all, report, err := logtest.ReadFile(workload.Options{Reading: workload.Reading{Formats: []workload.Format{formats.Parquet{}, formats.CSV{}}}}, "testdata/"+name)
	require.NoError(t, err)
	return trace.Header, all, report
}

func TestALogIsReadAsItsCSVIs(t *testing.T) {
	want, records, _ := readParquet(t, "log.csv")
	got, all, report := readParquet(t, "log.parquet")
	require.Len(t, all, 40)
	require.Equal(t, want.Lines(), got.Lines())
	require.Equal(t, want.Columns, got.Columns)
	require.EqualValues(t, 128, got.MaxProcs)
	require.True(t, got.Unsorted)
	require.Equal(t, `Ann "the" first`, got.Names(workload.FieldUser).Name(3))
	require.Equal(t, "interactive", got.Names(workload.FieldQueue).Name(0))
	require.Len(t, records, 40)
	for i, want := range records {
		require.Equal(t, fmt.Sprintf("%+v", *want), fmt.Sprintf("%+v", *all[i])) // NaN is not equal to itself
	}
	require.EqualValues(t, 40, report.Lines)
	require.Zero(t, report.Total(workload.Damaged))
}

func TestTheSampleIsReadAsItsSWFIs(t *testing.T) {
	name, content := traces.Sample()
	trace, err := workload.ReadSWF(name, content)
	require.NoError(t, err)
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	var want []*workload.Record
	for len(want) < 1000 && r.Next() {
		want = append(want, r.Record().Clone())
	}
	h, got, _ := readParquet(t, "sample.parquet")
	require.Equal(t, trace.Header.Lines(), h.Lines())
	require.False(t, h.Unsorted)
	require.Equal(t, want, got)
}

func TestATableOfANotebookIsRead(t *testing.T) {
	h, all, report := readParquet(t, "notebook.parquet")
	require.Equal(t, []workload.Column{{Name: "mood", Text: true}}, h.Columns)
	require.Len(t, all, 2)
	require.Equal(t, 3*des.Second/2, all[0].Runtime)
	require.EqualValues(t, 4, all[0].Requested)
	require.Equal(t, "good", all[0].More[0].Text)
	require.Equal(t, 5*des.Second, all[1].Submit)
	require.EqualValues(t, workload.Unknown, all[1].Requested, "null")
	require.EqualValues(t, 4, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
	require.Equal(t, `line 3: submit: number out of range: "-5"`, report.Findings()[1].String())
	require.EqualValues(t, 1, report.Count(workload.ExtraFields), "lists are told")
}

func BenchmarkReader(b *testing.B) {
	trace, err := workload.Options{Reading: workload.Reading{Format: formats.Parquet{}}}.Open("testdata/sample.parquet")
	require.NoError(b, err)
	b.SetBytes(trace.Size())
	jobs := 0
	for b.Loop() {
		r, closer, err := trace.Records()
		require.NoError(b, err)
		for r.Next() {
			jobs++
		}
		require.NoError(b, r.Err())
		require.NoError(b, closer.Close())
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
}
