// Package table reads and writes logs that are tables: a row a job, a column for each thing that is
// told of it. A format is a table of its own (Columns): which columns there are, which field of SWF
// or which column beyond SWF each of them becomes, and how its values are written. The rows come
// from a Source: lines of text (log, CommaRows), a file of Parquet, objects of JSON. One reader
// (Rows) makes records of the rows of all of them, with one tally of what is damaged.
//
//	# MaxProcs: 128              comments: the header, its "; " written as "# "
//	#! user 3 "alice"            and what a header holds beside its lines; see comment.go
//	job,submit,...               a heading, in some
//	1,0,...                      a line a record
package table

import (
	"io"

	"github.com/gridslot/gridslot/workload"
)

// Form describes how a text holds its rows: each row is a line, and cell i of a line holds field i
// of the Columns. A line may have fewer cells, down to Least; the missing fields are unknown.
type Form struct {
	// Separator stands between cells. A blank stands for any number of blanks and tabs, so that no
	// cell can be empty. 0 lets log.Heading choose one.
	Separator byte
	// Quotes says that a cell may stand in quotes, as in CSV (RFC 4180). Such a cell may hold
	// separators and line ends.
	Quotes bool
	// Heading says that the first line that is no comment names the cells.
	Heading bool
	// Plain says that each record has its own job number, and that no cell has blanks around it: a
	// record without a number is damaged. Tables that people make are not plain: the number of the
	// line among all lines that may be records stands for a job number that is not known, and the
	// blanks around cells in CSV are cut off.
	Plain bool
	// Epoch says that instants are written as seconds since 1970; otherwise they count from the
	// start of the log. What is read tells which of the two it is: see absolute.
	Epoch bool
	// Unknown is the text of an unknown value, "" or "-1". In the fields of SWF both texts are read
	// as unknown. In a column beyond SWF only Unknown is: -1 may be a value there.
	Unknown string
	// Words are further texts which say that a number is not known, such as NA. A column of text
	// keeps them as text.
	Words []string
	// Least is the number of cells without which a line is damaged.
	Least int
}

// What a Loose field may be beside the 18 fields of SWF. They stand in Field.SWF, too.
const (
	Start = 19 + iota // the instant at which the job started, which gives its wait
	End               // the instant at which it ended, which gives its runtime if no column tells that
	// Size is the number of requested processors (field 8). When it is not known the allocated
	// processors (field 5) are written in its place, and the writer tells of it.
	Size
)

// held are the fields of SWF that a log of these columns holds when it is written; the writer tells
// of the others as lost. An End is never written: Start and the runtime tell it.
func (l *Columns) held() []int {
	var fields []int
	for i := range l.Fields {
		switch f := l.Fields[i].SWF; f {
		case 0, End:
		case Start:
			fields = append(fields, 3)
		case Size:
			fields = append(fields, 8)
		default:
			fields = append(fields, f)
		}
	}
	return fields
}

// SurveyText is Survey for text without a heading whose instants are Loose. It passes over the
// whole log, since the numbers of names and the start of the log depend on all records.
func (l *Columns) SurveyText(in *workload.Input) (*workload.Header, error) {
	h := &workload.Header{}
	if err := l.openText(in, h); err != nil {
		return nil, err
	}
	h.Columns = l.RecordColumns()
	return h, l.passOver(in, h, nil)
}

// ReadText is Read for such text, with the header that SurveyText has returned. The comments are
// read again, into a header that is dropped: only those for which there is no room are of use here.
func (l *Columns) ReadText(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	if err := l.openText(in, &workload.Header{}); err != nil {
		return nil, err
	}
	return l.Rows(in, h)
}

// openText opens a text, whose comments go into a header, for the next reading.
func (l *Columns) openText(in *workload.Input, h *workload.Header) error {
	t, err := Open(in)
	if err != nil {
		return err
	}
	t.Comments(h)
	l.Over = t.Rows
	return nil
}

// Write begins a log of these columns as text. It begins with the text first, which is empty or ends
// with a line end; what of the header follows is up to comments.
func (l *Columns) Write(w io.Writer, h *workload.Header, first string, comments inComments) (workload.RecordWriter, error) {
	return write(w, h, l, first, comments)
}

// isInstant reports whether a Loose field is one of the instants of a job.
func isInstant(field int) bool { return field == 2 || field == Start || field == End }
