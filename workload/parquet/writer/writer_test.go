package writer_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	library "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/parquet/writer"
)

func table(t require.TestingT, h *workload.Header, records []*workload.Record) ([]byte, []workload.Loss) {
	var out bytes.Buffer
	w, err := writer.Format{}.Write(&out, h)
	require.NoError(t, err)
	for _, rec := range records {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return out.Bytes(), w.Lost().All()
}

func read(t require.TestingT, dir string, data []byte) (*workload.Header, []*workload.Record, *workload.Report) {
	path := filepath.Join(dir, "log.parquet")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	trace, err := workload.Options{Formats: []workload.Format{writer.Format{}}}.Open(path)
	require.NoError(t, err)
	require.Equal(t, "parquet", trace.Format.Name())
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	var all []*workload.Record
	for rec := range r.Records() {
		all = append(all, rec.Clone())
		*rec = workload.Record{} // whoever has asked for it may change it
	}
	require.NoError(t, r.Err())
	return trace.Header, all, r.Report()
}

func TestALogComesBackAsItWas(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		h := &workload.Header{}
		h.Add("MaxProcs", "128")
		h.Add("Note", "a note\non two lines")
		h.Names(workload.FieldUser).Set(3, `Ann "the" first`)
		h.Names(workload.FieldQueue).Set(0, "interactive")
		h.Columns = []workload.Column{{Name: "gpus"}, {Name: "qos", Text: true}, {Name: "energy", Unit: "J"}}
		h.Unsorted = rapid.Bool().Draw(t, "unsorted")
		ticks := rapid.Int64Range(-1, 1<<32).Draw
		var records []*workload.Record
		for i := range rapid.IntRange(0, 40).Draw(t, "jobs") {
			rec := &workload.Record{Job: int64(i + 1)}
			for f := 2; f <= len(workload.FieldNames); f++ {
				if !workload.IsTime(f) {
					rec.Put(f, rapid.Int64Range(-1, math.MaxInt64).Draw(t, "number"))
					continue
				}
				rec.Put(f, rapid.Int64Range(0, 1<<32*1_000_000).Draw(t, "ticks"))
				if f > 2 && ticks(t, "given") < 0 {
					rec.Put(f, int64(workload.UnknownTime))
				}
			}
			rec.More = []workload.Value{
				workload.NumberValue(rapid.Float64().Draw(t, "gpus")), workload.TextValue(rapid.String().Draw(t, "qos")), workload.UnknownValue,
			}
			records = append(records, rec)
		}
		data, lost := table(t, h, records)
		require.Empty(t, lost)
		got, all, report := read(t, dir, data)
		require.Equal(t, h.Lines(), got.Lines())
		require.Equal(t, h.Columns, got.Columns)
		require.Equal(t, h.MaxProcs, got.MaxProcs)
		require.Equal(t, h.Unsorted, got.Unsorted)
		require.Equal(t, `Ann "the" first`, got.Names(workload.FieldUser).Name(3))
		require.Equal(t, "interactive", got.Names(workload.FieldQueue).Name(0))
		require.Equal(t, fmt.Sprintf("%+v", values(records)), fmt.Sprintf("%+v", values(all)))
		require.EqualValues(t, len(records), report.Lines)
		require.Zero(t, report.Total(workload.Damaged))
	})
}

func values(records []*workload.Record) (all []workload.Record) {
	for _, r := range records {
		all = append(all, *r)
	}
	return all
}

func TestTheSampleComesBackAsItWas(t *testing.T) {
	name, content := traces.Sample()
	trace, err := workload.ReadSWF(name, content)
	require.NoError(t, err)
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	var want []*workload.Record
	for rec := range r.Records() {
		want = append(want, rec.Clone())
	}
	data, lost := table(t, trace.Header, want)
	require.Empty(t, lost)
	h, got, _ := read(t, t.TempDir(), data)
	require.Equal(t, trace.Header.Lines(), h.Lines())
	require.Equal(t, want, got)
}

func TestTheLibraryReadsSecondsAndNulls(t *testing.T) {
	rec := &workload.Record{Job: 7, Submit: 12 * des.Second, Wait: workload.UnknownTime, Runtime: des.Second / 2, Allocated: 4, Requested: workload.Unknown}
	data, _ := table(t, &workload.Header{}, []*workload.Record{rec})
	type row struct {
		Job       *int64   `parquet:"job,optional"`
		Submit    *float64 `parquet:"submit,optional"`
		Wait      *float64 `parquet:"wait,optional"`
		Run       *float64 `parquet:"runtime,optional"`
		Requested *int64   `parquet:"requested,optional"`
	}
	rows, err := library.Read[row](bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.EqualValues(t, 7, *rows[0].Job)
	require.Equal(t, 12.0, *rows[0].Submit)
	require.Equal(t, 0.5, *rows[0].Run)
	require.Nil(t, rows[0].Wait)
	require.Nil(t, rows[0].Requested)
}

func TestATableOfANotebookIsRead(t *testing.T) {
	type row struct {
		Job    float64  `parquet:"job"`
		Submit int64    `parquet:"submit"`
		Run    *float64 `parquet:"runtime,optional"`
		Procs  *float64 `parquet:"requested,optional"`
		Mood   string   `parquet:"mood,plain"`
		Tags   []string `parquet:"tags,dict"`
	}
	half, four := 1.5, 4.0
	var out bytes.Buffer
	w := library.NewGenericWriter[row](&out)
	_, err := w.Write([]row{{1, 0, &half, &four, "good", nil}, {2, 5, nil, nil, "", nil}, {3, -5, nil, nil, "", nil}, {4, 9, nil, &half, "bad", nil}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	h, all, report := read(t, t.TempDir(), out.Bytes())
	require.Equal(t, []workload.Column{{Name: "mood", Text: true}}, h.Columns)
	require.Len(t, all, 2)
	require.Equal(t, 3*des.Second/2, all[0].Runtime)
	require.EqualValues(t, 4, all[0].Requested)
	require.Equal(t, "good", all[0].More[0].Text)
	require.EqualValues(t, 4, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
	require.Equal(t, `line 3: submit: number out of range: "-5"`, report.Findings()[1].String())
	require.EqualValues(t, 1, report.Count(workload.ExtraFields), "lists are told")
}

func TestTimesThatSecondsCannotHoldAreTold(t *testing.T) {
	rec := &workload.Record{Job: 1, Submit: 1<<60 + 1}
	_, lost := table(t, &workload.Header{}, []*workload.Record{rec})
	require.Equal(t, []workload.Loss{{What: "microseconds", Why: "a number of seconds is not that exact", Records: 1}}, lost)
}

func TestAColumnThatCannotBeIsAnError(t *testing.T) {
	for _, name := range []string{"", "-", "a,b", "submit"} {
		_, err := writer.Format{}.Write(&bytes.Buffer{}, &workload.Header{Columns: []workload.Column{{Name: name}}})
		require.ErrorContains(t, err, "cannot have a column", name)
	}
}
