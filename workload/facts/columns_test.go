package facts

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// wide is a log of two columns beyond SWF: a job a second, of one processor.
type wide [][]workload.Value

func (wide) Name() string            { return "wide" }
func (wide) Endings() []string       { return nil }
func (wide) Is(*workload.Input) bool { return true }
func (w wide) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return &wideReader{rows: w, header: h, tally: workload.NewTally(in, h)}, nil
}

func (wide) Survey(*workload.Input) (*workload.Header, error) {
	h := &workload.Header{Columns: []workload.Column{{Name: "energy", Unit: "J"}, {Name: "qos", Text: true}}}
	h.Names(workload.FieldUser).Set(1, "anna")
	return h, nil
}

type wideReader struct {
	rows   wide
	header *workload.Header
	tally  *workload.Tally
	row    int
	record workload.Record
}

func (r *wideReader) Header() *workload.Header { return r.header }
func (r *wideReader) Record() *workload.Record { return &r.record }
func (r *wideReader) Line() int64              { return int64(r.row) }
func (r *wideReader) Err() error               { return nil }
func (r *wideReader) Report() *workload.Report { return r.tally.Report() }

func (r *wideReader) Next() bool {
	if r.row == len(r.rows) {
		return false
	}
	r.record = workload.Record{Job: int64(r.row) + 1, Submit: des.Time(r.row) * des.Second, Runtime: des.Second, Requested: 1, User: 1, More: r.rows[r.row]}
	r.row++
	r.tally.Line()
	return true
}

func TestColumnsBeyondSWFAreSummedUp(t *testing.T) {
	number, text := workload.NumberValue, workload.TextValue
	log := wide{
		{number(10.5), text("high")},
		{number(0), text("low")},
		{workload.UnknownValue, text("high")},
		{number(-3), workload.Value{Number: math.NaN()}},
		{number(1e15), text("low")},
		{number(3.0004), text("high")},
	}
	trace, err := workload.Options{Reading: workload.Reading{Stdin: strings.NewReader("any\n"), Format: log}}.Open(workload.StandardInput)
	require.NoError(t, err)
	f, _, err := Of(context.Background(), trace)
	require.NoError(t, err)
	require.Len(t, f.Columns, 2)
	energy, qos := f.Columns[0], f.Columns[1]
	require.Equal(t, []any{"energy", "J", int64(5), int64(2), int64(3)}, []any{energy.Name, energy.Unit, energy.Known, energy.Outside, energy.Numbers.N})
	require.Equal(t, []float64{0, 3, 10.5}, []float64{energy.Numbers.Least, energy.Numbers.Median, energy.Numbers.Greatest})
	require.Equal(t, column{Name: "qos", Known: 5, Distinct: 2, Popular: []popularText{{"high", 3, 0.5}, {"low", 2, 2.0 / 6}}}, qos)
	require.Equal(t, "anna", f.Owners[0].Top[0].Name)

	all := Compare(f, f)
	require.Equal(t, []string{"energy", "J"}, []string{all[len(all)-1].Quantity, all[len(all)-1].Unit})
	require.EqualValues(t, 3, all[len(all)-1].B.N)
	bare, _ := of(t, workload.Options{}, jobs(0, 1)...)
	for _, d := range Compare(f, bare) {
		require.NotEqual(t, "energy", d.Quantity)
	}
}
