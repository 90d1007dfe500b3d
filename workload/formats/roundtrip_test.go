package formats

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/batsim"
)

// log is what a format is given to write, or what was read of it.
type log struct {
	header  *workload.Header
	records []*workload.Record
}

// told is all that a log tells, as lines that can be compared.
func (l log) told() []string {
	lines := []string{fmt.Sprint(l.header.Lines(), l.header.Columns, l.header.Unsorted)}
	for _, f := range workload.NamedFields {
		for n, name := range l.header.Names(f).All() {
			lines = append(lines, fmt.Sprintf("%d %d %q", f, n, name))
		}
	}
	for _, rec := range l.records {
		lines = append(lines, fmt.Sprintf("%+v", *rec))
	}
	return lines
}

func read(t require.TestingT, f workload.Format, text []byte) log {
	trace, err := workload.Options{Reading: workload.Reading{Format: f, Stdin: bytes.NewReader(text), Strict: true}}.Open(workload.StandardInput)
	require.NoError(t, err, "%s", text)
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	l := log{header: trace.Header}
	for r.Next() {
		l.records = append(l.records, r.Record().Clone())
		*r.Record() = workload.Record{} // whoever has asked for it may change it
	}
	require.NoError(t, r.Err(), "%s", text)
	require.EqualValues(t, len(l.records), r.Report().Lines)
	return l
}

func write(t require.TestingT, f workload.Writable, l log) ([]byte, []workload.Loss) {
	var text bytes.Buffer
	w, err := f.Write(&text, l.header)
	require.NoError(t, err)
	for _, rec := range l.records {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return text.Bytes(), w.Lost().All()
}

// drawLog draws any log that SWF's rules allow, with columns beyond it.
func drawLog(t *rapid.T, columns []workload.Column) log {
	h := &workload.Header{Columns: columns, Unsorted: rapid.Bool().Draw(t, "unsorted")}
	anything := rapid.OneOf(rapid.StringMatching(`[a-z0-9_]{1,6}`), rapid.StringOfN(rapid.SampledFrom([]rune("a1-#!;:,|\"'\t\r\n é\x00=")), 1, 8, -1))
	for range rapid.IntRange(0, 4).Draw(t, "lines") {
		h.AddLine(";" + rapid.StringOfN(rapid.SampledFrom([]rune("a1!;#:, \"\t")), 0, 9, -1).Draw(t, "line"))
	}
	if rapid.Bool().Draw(t, "starts") {
		h.Set("UnixStartTime", fmt.Sprint(rapid.Int64Range(0, 2e9).Draw(t, "start")))
	}
	for _, f := range workload.NamedFields {
		for n, name := range rapid.SliceOfNDistinct(anything, 0, 3, rapid.ID).Draw(t, "names") {
			if h.Names(f).Find([]byte(name)) == workload.Unknown {
				h.Names(f).Set(int64(n), name)
			}
		}
	}
	l := log{header: h}
	count := rapid.OneOf(rapid.Just(int64(workload.Unknown)), rapid.Int64Range(0, 4), rapid.Int64Range(math.MinInt64+1, math.MaxInt64))
	size := rapid.Int64Range(-1, math.MaxInt32)
	known := rapid.OneOf(rapid.Just(workload.UnknownTime), rapid.Map(rapid.Int64Range(0, 1e9), func(s int64) des.Time { return des.Time(s) * des.Second }),
		rapid.Map(rapid.Int64Range(0, 1e15), func(n int64) des.Time { return des.Time(n) }))
	times := rapid.OneOf(known, rapid.Map(rapid.Int64Range(-1e15, 1e15), func(n int64) des.Time { return des.Time(n) }))
	for i := range rapid.IntRange(1, 6).Draw(t, "records") {
		rec := &workload.Record{
			Job: int64(i), Submit: max(known.Draw(t, "submit"), 0), Wait: times.Draw(t, "wait"), Runtime: known.Draw(t, "run"),
			Allocated: size.Draw(t, "allocated"), CPUTime: times.Draw(t, "cpu"), UsedMemory: count.Draw(t, "memory"),
			Requested: size.Draw(t, "requested"), Estimate: known.Draw(t, "estimate"), RequestedMemory: count.Draw(t, "requested memory"),
			Status: count.Draw(t, "status"), User: count.Draw(t, "user"), Group: count.Draw(t, "group"), Executable: count.Draw(t, "executable"),
			Queue: count.Draw(t, "queue"), Partition: count.Draw(t, "partition"), Preceding: count.Draw(t, "preceding"), ThinkTime: times.Draw(t, "think"),
		}
		for _, c := range columns {
			v := workload.UnknownValue
			switch {
			case rapid.Bool().Draw(t, "unknown"):
			case c.Text:
				v = workload.TextValue(anything.Draw(t, "text"))
			default:
				v = workload.NumberValue(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, 7, math.Inf(1), math.Copysign(0, -1)})).Draw(t, "number"))
			}
			rec.More = append(rec.More, v)
		}
		l.records = append(l.records, rec)
	}
	return l
}

func drawColumns(t *rapid.T) []workload.Column {
	var columns []workload.Column
	for range rapid.IntRange(0, 3).Draw(t, "columns") {
		columns = append(columns, workload.Column{
			Name: rapid.StringMatching(`[a-z_, "\n]{1,5}`).Draw(t, "column"),
			Unit: rapid.StringMatching(`[a-zA-Z/" ]{0,3}`).Draw(t, "unit"),
			Text: rapid.Bool().Draw(t, "is text"),
		})
	}
	return columns
}

func TestCSVLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLog(t, drawColumns(t))
		f := CSV{Separator: rapid.SampledFrom([]byte{0, ',', ';', '\t', '|'}).Draw(t, "separator")}
		text, lost := write(t, f, l)
		require.Empty(t, lost)
		again := read(t, CSV{Separator: f.Separator}, text)
		require.Equal(t, l.told(), again.told(), "%s", text)
		trace, err := workload.Options{Reading: workload.Reading{Formats: All(), Stdin: bytes.NewReader(text)}}.Open(workload.StandardInput)
		require.NoError(t, err)
		require.Equal(t, "csv", trace.Format.Name())
	})
}

// holds is what is left of a log in a format: the fields it has.
func (l log) holds(fields ...int) log {
	of := log{header: l.header}
	for _, rec := range l.records {
		kept := workload.UnknownRecord
		for _, f := range fields {
			kept.Put(f, rec.Field(f))
		}
		kept.More = rec.More
		of.records = append(of.records, &kept)
	}
	return of
}

// clean makes texts of columns such that cells of a format without quotes hold them.
func (l log) clean(separators string) {
	for _, rec := range l.records {
		for i, v := range rec.More {
			v.Text = strings.Map(func(r rune) rune {
				if strings.ContainsRune(separators, r) || r < ' ' {
					return '.'
				}
				return r
			}, v.Text)
			if rec.More[i] = v; v.Text == "-1" || v.Number == -1 {
				rec.More[i] = workload.UnknownValue
			}
		}
	}
}

func TestGWFHoldsItsFieldsNamesAndHeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLog(t, gwfColumns())
		l.clean(" \"")
		sort(l)
		text, lost := write(t, GWF{}, l)
		text = bytes.TrimPrefix(text, []byte("\n"))
		again := read(t, GWF{}, text)
		for _, loss := range lost {
			if loss.What == workload.FieldNames[workload.FieldUser-1] || strings.HasPrefix(loss.Why, "its number") {
				return // a number that is another one's name: told
			}
			require.Contains(t, []string{"field 17 (preceding job)", "field 18 (think time)"}, loss.What)
		}
		var fields []int
		for f := 1; f <= 16; f++ {
			fields = append(fields, f)
		}
		l.header.Unsorted = again.header.Unsorted
		require.Equal(t, l.holds(fields...).told(), again.told(), "%s", text)
		in := workload.Options{Reading: workload.Reading{Formats: All(), Stdin: bytes.NewReader(text)}}
		trace, err := in.Open(workload.StandardInput)
		require.NoError(t, err)
		require.Equal(t, "gwf", trace.Format.Name())
		again2, _ := write(t, GWF{}, again)
		require.Equal(t, string(text), string(again2))
	})
}

// sort puts records in the order of submission and has them count from 0, as logs do
// that come from absolute times.
func sort(l log) {
	slices.SortStableFunc(l.records, func(a, b *workload.Record) int { return int(max(-1, min(1, a.Submit-b.Submit))) })
	for _, rec := range l.records[1:] {
		rec.Submit = min(rec.Submit-l.records[0].Submit, 600_000_000*des.Second)
	}
	l.records[0].Submit = 0
}

func TestMWFHoldsItsCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLog(t, mwfColumns())
		l.clean("\t\"")
		sort(l)
		h := &workload.Header{Columns: mwfColumns()}
		h.Set("UnixStartTime", fmt.Sprint(rapid.Int64Range(1e9, 2e9).Draw(t, "epoch")))
		l.header = h
		for _, rec := range l.records {
			for i, v := range rec.More {
				rec.More[i].Text = strings.TrimSpace(v.Text)
				if rec.More[i].Text == "-1" || rec.More[i].Text == "" {
					rec.More[i] = workload.UnknownValue
				}
			}
			rec.Wait = max(rec.Wait, workload.UnknownTime)
			if rec.Wait < 0 {
				rec.Wait = workload.UnknownTime
			}
		}
		text, lost := write(t, MWF{}, l)
		again := read(t, MWF{}, text)
		filled := int64(0)
		for _, rec := range l.records {
			if rec.Requested < 0 && rec.Allocated >= 0 {
				filled++
			}
		}
		for _, loss := range lost {
			if loss.What == "requested processors" {
				require.Equal(t, filled, loss.Records)
				filled = 0
				continue
			}
			require.Contains(t, []string{"header", "field 5", "field 6", "field 7", "field 10", "field 11", "field 13", "field 14", "field 16", "field 17", "field 18"},
				strings.TrimRight(strings.Split(loss.What, "(")[0], " "))
		}
		require.Zero(t, filled, "and not told")
		kept := l.holds(1, 2, 3, 4, 8, 9, workload.FieldUser, workload.FieldQueue)
		for i, rec := range kept.records {
			if rec.Requested < 0 {
				rec.Requested = l.records[i].Allocated
			}
		}
		kept.header.Unsorted = again.header.Unsorted
		require.Equal(t, kept.told(), again.told(), "%s", text)
	})
}

func TestBatsimHoldsJobsThatRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLog(t, []workload.Column{{Name: "gpus"}, {Name: "tag \"x\"", Unit: "kB", Text: true}})
		for _, rec := range l.records { // of which nothing should be lost
			if math.IsInf(rec.More[0].Number, 0) {
				rec.More[0] = workload.UnknownValue
			}
		}
		text, lost := write(t, batsim.Format{}, l)
		again := read(t, batsim.Format{}, text)
		var kept []*workload.Record
		told := map[string]int64{}
		for _, rec := range l.records {
			size := rec.Requested
			if size <= 0 {
				size = rec.Allocated
			}
			if rec.Runtime >= 0 && size > 0 {
				c := rec.Clone()
				c.Requested = size
				kept = append(kept, c)
				if rec.Requested <= 0 {
					told["requested processors"]++
				}
			} else {
				told["record"]++
			}
		}
		for _, loss := range lost {
			require.Equal(t, told[loss.What], loss.Records, loss.What)
			delete(told, loss.What)
		}
		require.Empty(t, told)
		l.records = kept
		l.header.Unsorted = again.header.Unsorted
		want, got := l.told(), again.told()
		if l.header.MaxProcs > 0 {
			want[0], got[0] = "", "" // the header has the size twice
		}
		require.Equal(t, want, got, "%s", text)
		trace, err := workload.Options{Reading: workload.Reading{Formats: All(), Stdin: bytes.NewReader(text)}}.Open(workload.StandardInput)
		require.NoError(t, err)
		require.Equal(t, "batsim", trace.Format.Name())
	})
}

func gwfColumns() []workload.Column { return gwfLayout().RecordColumns() }
func mwfColumns() []workload.Column { return mwfLayout().RecordColumns() }
