package table

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
)

// typed is a format whose rows are entries that stand in a test.
type typed struct {
	Columns
	rows [][]Entry
}

func (f *typed) Name() string            { return "typed" }
func (f *typed) Endings() []string       { return nil }
func (f *typed) Is(*workload.Input) bool { return false }

// entries is the Source of these rows.
type entries struct {
	of *typed
	at int
}

func (s *entries) Columns() (names []string) {
	for _, f := range s.of.Fields {
		names = append(names, f.Name)
	}
	return names
}

func (s *entries) Next(t *Rows) bool {
	if s.at == len(s.of.rows) {
		return false
	}
	s.at++
	t.Tally.Line()
	return true
}

func (s *entries) Entry(at int, _ Type) *Entry { return &s.of.rows[s.at-1][at] }
func (s *entries) Err() error                  { return nil }

func readTyped(t *testing.T, fields []Field, zone *time.Location, rows ...[]Entry) ([]*workload.Record, *workload.Report, error) {
	f := &typed{rows: rows}
	f.Columns = Columns{Fields: fields, Zone: zone, Header: func(*workload.Header) {}, Over: func(*workload.Input) (Source, error) {
		return &entries{of: f}, nil
	}}
	_, all, report, err := logtest.Read(f, strings.NewReader(""), false)
	return all, report, err
}

func number64(n int64) Entry   { return Entry{Kind: parquetfile.Whole, whole: n} }
func instant64(us int64) Entry { return Entry{Kind: parquetfile.Instant, whole: us} }
func textEntry(s string) Entry { return Entry{Kind: parquetfile.Text, Text: s} }

func TestANegativeNumberIsNone(t *testing.T) {
	fields := []Field{{Name: "job", SWF: 1}, {Name: "submit", SWF: 2}, {Name: "size", SWF: 8}, {Name: "share", Is: Share, As: "share"}, {Name: "percent", Is: Percent, As: "percent"}}
	all, _, err := readTyped(t, fields, nil,
		[]Entry{number64(-7), number64(5), number64(-9), number64(-3), number64(-3)},
		[]Entry{number64(20), number64(6), number64(4), number64(3), number64(3)})
	require.NoError(t, err)
	require.EqualValues(t, 1, all[0].Job, "the number of the row")
	require.EqualValues(t, 20, all[1].Job)
	require.EqualValues(t, workload.Unknown, all[0].Requested)
	require.False(t, all[0].More[0].Known())
	require.False(t, all[0].More[1].Known())
	require.Equal(t, []float64{3, 0.03}, []float64{all[1].More[0].Number, all[1].More[1].Number})
}

func TestARowNeedsWhatItAlwaysHas(t *testing.T) {
	_, report, err := readTyped(t, []Field{{Name: "submit", SWF: 2, Always: true}}, nil, []Entry{number64(1)}, []Entry{{}}, []Entry{number64(-1)})
	require.NoError(t, err)
	require.EqualValues(t, 1, report.Count(workload.NotANumber), "it is not given")
	require.EqualValues(t, 1, report.Count(workload.OutOfRange), "it is below 0")
}

func TestInstantsThatAreNoneAndThatAreTooLate(t *testing.T) {
	fields := []Field{{Name: "submit", Is: Instant, SWF: 2, Always: true}, {Name: "queued", Is: Instant, As: "queued"}}
	const noon = 1_590_000_000_000_000
	var rows [][]Entry
	for _, none := range []string{"", "NaT", "None", "nan"} {
		rows = append(rows, []Entry{instant64(noon), textEntry(none)})
	}
	late := func(us int64, local bool) []Entry {
		return []Entry{instant64(noon), {Kind: parquetfile.Instant, whole: us, local: local}}
	}
	rows = append(rows, late(0, true), late(maxInstant, false), late(maxInstant+1, false), late(math.MaxInt64, true))
	all, report, err := readTyped(t, fields, time.FixedZone("west", -10*3600), rows...)
	require.NoError(t, err)
	require.Len(t, all, 6)
	for _, rec := range all[:5] {
		require.False(t, rec.More[0].Known())
		require.Equal(t, des.Time(0), rec.Submit)
	}
	require.Equal(t, float64(maxInstant-noon)/1e6, all[5].More[0].Number)
	require.EqualValues(t, 2, report.Count(workload.OutOfRange))
}

// A survey does not judge the rows, so that the reading tells which one is damaged, and how.
func TestATableOfDamagedRowsIsToldByItsReading(t *testing.T) {
	fields := []Field{{Name: "submit", Is: Instant, SWF: 2, Always: true}}
	_, report, err := readTyped(t, fields, nil, []Entry{textEntry("soon")}, []Entry{textEntry("later")})
	require.EqualError(t, err, `standard input: none of its 2 lines is a record (line 1: submit: text where a number belongs: "soon")`)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
}
