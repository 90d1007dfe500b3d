package table

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// input is an empty one, for what a reader needs of it beside its text.
func input(t *testing.T) *workload.Input {
	var in *workload.Input
	path := t.TempDir() + "/x"
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o666))
	_, err := workload.Options{Reading: workload.Reading{Format: probe{&in}}}.Open(path)
	require.NoError(t, err)
	return in
}

type probe struct{ in **workload.Input }

func (probe) Name() string            { return "probe" }
func (probe) Endings() []string       { return nil }
func (probe) Is(*workload.Input) bool { return true }
func (p probe) Survey(in *workload.Input) (*workload.Header, error) {
	*p.in = in
	return &workload.Header{}, nil
}
func (probe) Read(*workload.Input, *workload.Header) (workload.RecordReader, error) { return nil, nil }

func TestHostileSizesTakeBoundedMemory(t *testing.T) {
	const size = 48 << 20
	layout := &Columns{Form: &Form{Separator: ',', Quotes: true, Least: 2}, Fields: []Field{
		{Name: "submit", Is: Loose, SWF: 2}, {Name: "user", Is: Loose, SWF: 12}, {Name: "runtime", Is: Loose, SWF: 4}, {Name: "tag", Is: Word, As: "tag"},
	}}
	in := input(t)
	for text, begin := range map[string]string{
		"x":                           "",         // a line without an end
		"9":                           "0,1,",     // a number of millions of digits
		"#x\n":                        "",         // comments
		"# k: v\n":                    "",         // header lines
		"#! user 1 \"x\"\n":           "",         // names
		"#! column \"x\" text \"\"\n": "",         // columns
		"x\n":                         "0,1,2,\"", // a quote that is not closed
		"\n":                          "",         // blank lines
		"\"\"":                        "0,\"",     // quotes in quotes
		"0,,,x\"\n1,\"":               "",         // quotes that open at the end
		"1:":                          "0,1,",     // a clock
		"0,bob,1,x\n":                 "",         // sound lines
	} {
		all := &logtest.Endless{Text: text, Left: size}
		h := &workload.Header{}
		tx := &log{lines: scan.NewLines(io.MultiReader(strings.NewReader(begin), all)), name: "x", first: true}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tx.Comments(h)
		h.Columns = []workload.Column{{Name: "tag", Text: true}}
		layout.Over = tx.Rows
		_, err := layout.SurveyLoose(in, h)
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(44<<20), "%q", text)
		require.LessOrEqual(t, all.Left, int64(0), "%q", text)
		_ = err
		runtime.KeepAlive(h)
	}
}

func TestTooManyNamesAreRefused(t *testing.T) {
	n := named{isName: true, more: true}
	require.ErrorContains(t, n.settle(&workload.Names{}), "more than 1048576 names")
	s := survey{header: &workload.Header{}}
	long := strings.Repeat("x", maxNames/2)
	for _, end := range []string{"a", "b", "c"} {
		s.name(workload.FieldUser, []byte(long+end))
	}
	require.Len(t, s.named[workload.FieldUser].order, 1)
	require.True(t, s.named[workload.FieldUser].more)
}
