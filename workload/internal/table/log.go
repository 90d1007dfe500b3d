package table

import (
	"bytes"
	"fmt"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// longest is the longest line, and the longest record of several lines, in bytes.
const longest = scan.LongestLine

// log is the Source of text: lines in a Form. It is read in this order: Comments, Heading if the
// Form has one, and then the records, by the Rows that took it as their Source. No line takes an
// allocation.
type log struct {
	lines    *scan.Lines
	name     string   // of the input, for messages
	line     []byte   // the present record; more than one line if line ends stand in quotes
	number   int64    // of its first line, from 1
	joined   []byte   // the memory of records of several lines
	again    bool     // line has been looked at, and next returns it once more
	quoted   bool     // line has quotes that mean something: split must unpack them
	unclosed bool     // the input ends within the quotes of line
	tooLong  bool     // line is longer than longest, and cut
	first    bool     // no line has been read yet: a byte order mark may stand here
	dropped  [][]byte // up to five comments for which the header has no room, 80 bytes of each

	form    *Form
	columns []string // the names of the columns of a table of CommaRows; nil for other texts
	cells   [][]byte // of the present record, valid until the next one
	buf     []byte   // the memory of unpacked cells
	entry   Entry    // what Entry returns a pointer to: a Kind and bytes
}

// Open begins a reading of an input.
func Open(in *workload.Input) (*log, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return &log{lines: scan.NewLines(text), name: in.Name(), first: true}, nil
}

// Comments reads the comments at the beginning into a header. It reports whether Write has made
// them, so that the columns are known without a look at the records.
func (t *log) Comments(h *workload.Header) (ours bool) {
	c := comments{h: h}
	for t.next(false) {
		if t.line[0] != '#' {
			t.again = true
			break
		}
		if t.tooLong || !c.add(t.line) {
			t.dropped = append(t.dropped, bytes.Clone(t.line[:min(len(t.line), 80)]))
			t.dropped = t.dropped[:min(len(t.dropped), 5)]
		}
	}
	return c.ours
}

// Heading reads the cells of the next line, cut of the blanks around them. If the form has no
// heading the line stays to be read as a record, and only the number of its cells is of use. A form
// without a separator gets the one of , ; tab | that the line has most of, and of two that are equal
// the first.
func (t *log) Heading(l *Form) ([]string, error) {
	if !t.next(l.Quotes) {
		return nil, fmt.Errorf("%s: it has no heading: its first line should name its columns", t.name)
	}
	if t.tooLong || t.unclosed {
		return nil, fmt.Errorf("%s:%d: the heading is longer than any should be", t.name, t.number)
	}
	t.again = !l.Heading
	if l.Separator == 0 {
		l.Separator = ','
		for _, sep := range []byte(",;\t|") {
			if bytes.Count(t.line, []byte{sep}) > bytes.Count(t.line, []byte{l.Separator}) {
				l.Separator = sep
			}
		}
	}
	var names []string
	for _, c := range t.split(nil, l.Separator, new([]byte)) {
		names = append(names, string(bytes.TrimSpace(c)))
	}
	return names, nil
}

// next finds the next line that is not blank and makes it the present record. With quotes, lines
// are joined to it until all its quotes are closed, unless it is a comment.
func (t *log) next(quotes bool) bool {
	for t.again || t.lines.Next() {
		if !t.again {
			t.line, t.number, t.tooLong, t.unclosed = t.lines.Text(), t.lines.Number(), t.lines.TooLong(), false
		}
		t.again = false
		if t.first {
			t.line, t.first = bytes.TrimPrefix(t.line, []byte("\ufeff")), false
		}
		if isBlank(t.line) {
			continue
		}
		if t.quoted = quotes && bytes.IndexByte(t.line, '"') >= 0; t.quoted && !t.tooLong && t.line[0] != '#' && t.columns == nil {
			t.join()
		}
		return true
	}
	return false
}

// isBlank reports whether a line has nothing but blanks, tabs and carriage returns.
func isBlank(line []byte) bool {
	return len(line) == 0 || line[0] <= ' ' && len(bytes.TrimLeft(line, " \t\r")) == 0
}

// join appends lines to the present one until its quotes are closed. The line ends between them are
// kept as they were. It gives up at the end of the input (unclosed), or when the record gets too
// long: the rest of such a record is then read as lines of their own, most of them damaged.
func (t *log) join() {
	state := cellStart
	if state = state.after(t.line); state != inQuotes {
		return
	}
	t.joined = append(t.joined[:0], t.line...)
	for state == inQuotes {
		if t.lines.Return() {
			t.joined = append(t.joined, '\r')
		}
		t.joined = append(t.joined, '\n')
		if !t.lines.Next() {
			t.unclosed = true
			break
		}
		if t.tooLong = t.lines.TooLong() || len(t.joined)+len(t.lines.Text()) > longest; t.tooLong {
			break
		}
		t.joined = append(t.joined, t.lines.Text()...)
		state = state.after(t.lines.Text())
	}
	t.line = t.joined
}

// quoting is the state of a reader of CSV between two bytes. A quote has a meaning only at the start
// of a cell or within quotes; 7" is a cell like any other.
type quoting uint8

const (
	cellStart   quoting = iota
	inCell              // in a cell without quotes
	inQuotes            // in a cell in quotes, where separators and line ends are text
	behindQuote         // behind a quote that ends the cell, unless another quote follows
)

// after returns the state behind a text. Any of the usual separators begins a cell, since lines are
// joined before it is known which of them the file uses.
func (q quoting) after(text []byte) quoting {
	for _, c := range text {
		switch {
		case q == inQuotes:
			if c == '"' {
				q = behindQuote
			}
		case c == '"' && q != inCell:
			q = inQuotes // also of two quotes, which stand for one
		case c == ',' || c == ';' || c == '\t' || c == '|':
			q = cellStart
		default:
			q = inCell
		}
	}
	return q
}

// split cuts the present record at its separators. Cells in quotes are unpacked into buf; the others
// are parts of the line. In a damaged quotation the text is taken as it stands.
func (t *log) split(into [][]byte, separator byte, buf *[]byte) [][]byte {
	switch {
	case separator == ' ':
		return scan.CutBlanks(into, t.line)
	case t.quoted:
		into, _ = scan.CutQuoted(into, t.line, separator, buf)
		return into
	}
	return scan.Cut(into, t.line, separator)
}

// Rows returns the log as the Source of the records behind its comments and heading. It has the type
// of Columns.Over, and ignores its argument: the input is open already.
func (t *log) Rows(*workload.Input) (Source, error) { return t, nil }

// CommaRows opens the tables of published data sets: text with commas between cells, in which each
// line is a row, no line is a comment, and quotes do not reach over a line end. The columns are given
// here, in the order of the cells. The files have no heading; if a person has added one, its first
// cell is the name of the first column, and the line is passed over.
func CommaRows(columns ...string) func(in *workload.Input) (Source, error) {
	return func(in *workload.Input) (Source, error) {
		t, err := Open(in)
		if err != nil {
			return nil, err
		}
		t.columns, t.form = columns, &Form{Separator: ',', Quotes: true, Plain: true, Least: len(columns)}
		return t, nil
	}
}

// Columns are the names of the columns of a table of CommaRows, and nil for other texts: there, the
// cells belong to the fields by their places.
func (t *log) Columns() []string { return t.columns }

// Next finds the next line that may be a record. Every such line is counted, so that each is found
// again in the report as a record or as damaged. Comments among the records are told, not kept.
func (t *log) Next(r *Rows) bool {
	for t.next(t.form.Quotes) {
		r.line = t.number
		if t.line[0] == '#' && t.columns == nil {
			r.Tally.Add(t.number, "", workload.CommentNotKept, t.line)
			continue
		}
		t.cells = t.split(t.cells[:0], t.form.Separator, &t.buf)
		if t.columns != nil && t.number == 1 && string(t.cells[0]) == t.columns[0] {
			continue
		}
		r.Tally.Line()
		switch {
		case t.tooLong:
			r.DamageRow("", workload.LineTooLong, t.line, fmt.Sprintf("a record of at most %d bytes", longest))
		case t.unclosed:
			r.DamageRow("", workload.TooFewFields, t.line, "a \" that closes the cell")
		case len(t.cells) < t.form.Least:
			r.DamageRow("", workload.TooFewFields, t.line, fmt.Sprintf("%d cells or more", t.form.Least))
		case t.columns != nil && len(t.cells) > len(t.columns):
			r.Tally.Add(t.number, "", workload.ExtraFields, t.line)
		}
		return true
	}
	return false
}

// trims reports whether blanks around cells are cut off, as in CSV that people have made; in other
// forms they are part of the text or cannot be.
func (t *log) trims() bool { return t.form.Quotes && !t.form.Plain }

// text is the text at a place, or nothing if the cell is empty, the form's Unknown, or behind the end
// of the line.
func (t *log) text(at int) []byte {
	if at >= len(t.cells) {
		return nil
	}
	text := t.cells[at]
	if t.trims() {
		text = bytes.TrimSpace(text)
	}
	if string(text) == t.form.Unknown {
		return nil
	}
	return text
}

// Entry is text as an Entry, or noEntry where there is none. Cells of data sets need no look at the
// Form: each line has all of them, as they are.
func (t *log) Entry(at int, _ Type) *Entry {
	var text []byte
	if t.columns != nil {
		text = t.cells[at]
	} else {
		text = t.text(at)
	}
	if len(text) == 0 {
		return &noEntry
	}
	t.entry.Kind, t.entry.bytes = parquetfile.Text, text
	return &t.entry
}

// Err is the error that ended the reading before the end of the input, or nil.
func (t *log) Err() error {
	if err := t.lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}
