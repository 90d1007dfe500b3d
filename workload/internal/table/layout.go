// Package table reads and writes logs that have a job a line and a cell for each thing
// said of it: CSV, and formats that are SWF with other columns. What stands in which
// cell is a Layout; the reader, the writer, the survey of names and times, and the
// account of the lines are the same for all.
//
//	# MaxProcs: 128              comments: the header, its "; " written as "# "
//	#! user 3 "alice"            and what a header holds beside its lines; see Comment
//	job,submit,...               a heading, in some
//	1,0,...                      a line a record
package table

import (
	"io"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// Layout says what the cells of a line hold.
type Layout struct {
	// Separator stands between cells. A blank stands for any number of blanks and tabs.
	Separator byte
	// Quotes says that cells may stand in quotes, as in CSV, and then hold anything.
	Quotes bool
	// Heading says that the first line that is no comment names the cells.
	Heading bool
	// Plain says that numbers are as SWF has them: times in seconds from the start of the
	// log, users by number. Otherwise instants may be dates, or count from 1970,
	// durations may be clocks, and users may be names.
	Plain bool
	// Epoch says that instants are written as seconds since 1970.
	Epoch bool
	// Unknown is what is written where nothing is known, "" or "-1". Both are read.
	Unknown string
	// Words are further texts that tell of numbers that they are not known.
	Words []string
	Cells []Cell
	Least int // a line with fewer cells is damaged
	Zone  *time.Location
}

// Cell is what a cell of each line holds.
type Cell struct {
	Name  string   // for messages, and in a heading
	Field int      // of SWF, from 1 to 18, or Start, End or Size; 0 where it is none
	More  int      // of the header's columns, from 1; 0 where it is none of them
	Text  bool     // that column is text
	Unit  des.Time // of a time that is a number
}

// What a cell may hold beside the fields of SWF.
const (
	Start = 19 + iota // the instant at which the job started: its wait
	End               // the instant at which it ended: its runtime
	Size              // requested processors; written are the allocated ones where these are not known
)

// Fields are the fields of SWF that the layout holds.
func (l *Layout) fields() []int {
	var fields []int
	for _, c := range l.Cells {
		switch c.Field {
		case 0, End:
		case Start:
			fields = append(fields, 3)
		case Size:
			fields = append(fields, 8)
		default:
			fields = append(fields, c.Field)
		}
	}
	return fields
}

// SurveyWith surveys an input without a heading whose records have these columns beyond
// SWF.
func (l *Layout) SurveyWith(in *workload.Input, columns []workload.Column) (*workload.Header, error) {
	t, err := Open(in)
	if err != nil {
		return nil, err
	}
	h := &workload.Header{}
	t.Comments(h)
	h.Columns = columns
	_, err = Survey(in, h, l, t)
	return h, err
}

// Read begins a reading of such an input.
func (l *Layout) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	t, err := Open(in)
	if err != nil {
		return nil, err
	}
	t.Comments(nil)
	return Read(in, h, l, t), nil
}

// WriteWith begins such a log.
func (l *Layout) WriteWith(w io.Writer, h *workload.Header, columns []workload.Column, first string, comments Comments) (workload.RecordWriter, error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return write(w, h, l, first, comments, names)
}
