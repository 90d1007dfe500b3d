package formats

import (
	"bytes"
	"io"
	"strings"

	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// MWF is the format of MetaCentrum's logs, as the simulator Alea
// reads it (Klusacek and Rudova, Alea 2, SIMUTools 2010; class MWFLoader of Alea 3): cells
// separated by tabs, a job a line, without a heading. Counted from 0 these are
//
//	0 number   1 user   2 queue   3 processors   5 required properties, as [a;b]
//	7 submission, s since 1970    8 start, s since 1970   10 runtime, s
//	12 numbers of the processors used, separated by blanks   13 limit, s
//
// What cells 4, 6, 9 and 11 hold could not be verified: they are kept as they are.
//
// It shares its short name with the Modular Workload Format (Corbalan and D'Amico,
// JSSPP 2021), which is another one.
type MWF struct{}

// mwfFields are the cells of a line in their order; those beyond SWF become columns of their names.
var mwfFields = []table.Field{
	{Name: "job", Is: table.Loose, SWF: 1},
	{Name: "user", Is: table.Loose, SWF: workload.FieldUser},
	{Name: "queue", Is: table.Loose, SWF: workload.FieldQueue},
	{Name: "procs", Is: table.Loose, SWF: table.Size},
	{Name: "cell_4", Is: table.Word},
	{Name: "constraints", Is: table.Word},
	{Name: "cell_6", Is: table.Word},
	{Name: "submit", Is: table.Loose, SWF: 2},
	{Name: "start", Is: table.Loose, SWF: table.Start},
	{Name: "cell_9", Is: table.Word},
	{Name: "runtime", Is: table.Loose, SWF: 4},
	{Name: "cell_11", Is: table.Word},
	{Name: "processor_list", Is: table.Word},
	{Name: "estimate", Is: table.Loose, SWF: 9},
}

// mwfLeast is the least number of cells in a line: up to the runtime.
const mwfLeast = 11

// mwfLayout has the cells in their order. Logs count from 1970, and -1 is what is not known.
func mwfLayout() *table.Columns {
	return &table.Columns{Fields: mwfFields, Form: &table.Form{Separator: '\t', Unknown: "-1", Epoch: true, Least: mwfLeast}}
}

// Name is "mwf".
func (MWF) Name() string { return "mwf" }

// Endings are Alea's.
func (MWF) Endings() []string { return []string{".mwf"} }

// Is knows files that end in .mwf and whose first line has cells, with numbers where
// they belong. Without a heading the content alone does not tell.
func (f MWF) Is(in *workload.Input) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(in.Name(), ".gz"), ".zst")
	first, _, _ := bytes.Cut(in.Head(), []byte("\n"))
	cells := bytes.Split(first, []byte("\t"))
	if !strings.HasSuffix(name, f.Endings()[0]) || len(cells) < mwfLeast {
		return false
	}
	for _, i := range []int{0, 7, 10} {
		if _, fault := number.Float(cells[i]); fault != number.Sound {
			return false
		}
	}
	return true
}

// Survey reads all lines for names and the earliest submission.
func (MWF) Survey(in *workload.Input) (*workload.Header, error) {
	return mwfLayout().SurveyText(in)
}

// Read begins a reading.
func (MWF) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return mwfLayout().ReadText(in, h)
}

// Write begins a log. The format has no comments, and so no place for the size of the machine: give
// the size again when the log is read.
func (MWF) Write(w io.Writer, h *workload.Header) (workload.RecordWriter, error) {
	return mwfLayout().Write(w, h, "", table.NoComments)
}
