package table

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/blocks"
	"github.com/gridslot/gridslot/workload"
)

// writer writes records as lines in a Form. What the form cannot hold is told in lost, and a cell of
// that kind is written so that it is read as something else only when that was told.
type writer struct {
	layout *Columns
	form   *Form // of layout
	header *workload.Header
	blocks.Writer
	from  []int    // by field: the column of the records that its cell holds, or -1
	start des.Time // of the log, since 1970; 0 if that is not known
	lost  *workload.Losses
}

// inComments says what of a header is written before the records.
type inComments uint8

const (
	NoComments inComments = iota // nothing: the format has no comments
	Lines                        // its lines, and what numbers stand for
	All                          // also which columns there are beyond SWF
)

// blockSize is the number of bytes that a writer gathers before it writes them.
const blockSize = 128 << 10

// write begins a log. Of the columns beyond SWF it holds those that fields become: with All these
// are the header's, in their order, and otherwise those of the same names.
func write(w io.Writer, h *workload.Header, l *Columns, first string, comments inComments) (*writer, error) {
	t := &writer{layout: l, form: l.Form, header: h, Writer: blocks.NewWriter(w, blockSize), start: des.Time(h.UnixStartTime) * des.Second}
	var names []string
	for i := range l.Fields {
		f, from := &l.Fields[i], -1
		if l.becomes(f) {
			name := f.column().Name
			if from = len(names); comments != All {
				from = slices.IndexFunc(h.Columns, func(of workload.Column) bool { return of.Name == name })
			}
			names = append(names, name)
		}
		t.from = append(t.from, from)
	}
	// What comes in front of the records, in this order: the first line, the header's lines, names,
	// columns, the heading.
	t.lost = workload.NewLosses(h, workload.FieldSet(l.held()...), names...)
	t.Text = append(t.Text, first...)
	if comments == NoComments && len(h.Lines()) > 0 {
		t.lost.Add("header", "")
	}
	if comments != NoComments {
		t.Text = appendHeader(t.Text, h, t.lost)
		t.Text = appendNames(t.Text, h, t.lost)
	}
	if comments == All {
		t.Text = appendColumns(t.Text, h.Columns)
	}
	if t.form.Heading {
		for i, c := range l.Fields {
			if i > 0 {
				t.Text = append(t.Text, t.form.Separator)
			}
			t.Text = t.text(t.Text, []byte(c.Name), "heading")
		}
		t.Text = append(t.Text, '\n')
	}
	return t, t.Spill()
}

// Lost counts the values so far that the written format cannot hold.
func (t *writer) Lost() *workload.Losses { return t.lost }

// Close writes what is held back. What it is written to stays open.
func (t *writer) Close() error { return t.Flush() }

// Write writes a record as a line. A line that would be longer than what is read is left out, and
// told as lost.
func (t *writer) Write(rec *workload.Record) error {
	t.lost.Count(rec)
	begin := len(t.Text)
	sep := t.form.Separator
	for i := range t.layout.Fields {
		if i > 0 {
			t.Text = append(t.Text, sep)
		}
		at := len(t.Text)
		t.Text = t.cell(t.Text, i, rec)
		if len(t.Text) == at {
			t.Text = append(t.Text, t.form.Unknown...)
		}
	}
	t.Text = append(t.Text, '\n')
	if len(t.Text)-begin > longest {
		t.lost.Add("record", "it is longer than what is read")
		t.Text = t.Text[:begin]
	}
	return t.Spill()
}

// cell appends the cell of field i, or nothing if nothing is known.
func (t *writer) cell(b []byte, i int, rec *workload.Record) []byte {
	c := &t.layout.Fields[i]
	switch f := c.SWF; {
	case t.from[i] >= 0 && t.from[i] < len(rec.More):
		return t.value(b, c, rec.More[t.from[i]])
	case f == 0 || f == End:
		return b
	case f == Start:
		if rec.Wait < 0 || rec.Submit < 0 {
			return b
		}
		return (t.start + rec.Submit + rec.Wait).Append(b)
	case f == 2 && c.Is == Loose && rec.Submit >= 0:
		// A reader takes a number from absolute on as counted from 1970, and a smaller one as
		// counted from the start of the log. A submission on the wrong side would move.
		at := rec.Submit
		if t.form.Epoch {
			at += t.start
		}
		if (at >= absolute) != (t.form.Epoch && t.start > 0) {
			t.lost.Add("submission", "it is so large, or so small, that it would be read as counted from elsewhere")
		}
		return at.Append(b)
	case f == Size:
		f = 8
		if rec.Requested < 0 {
			f = 5
			if rec.Allocated != workload.Unknown {
				t.lost.Add("requested processors", "they are unknown, and the allocated ones stand in their place")
			}
		}
		fallthrough
	default:
		n := rec.Field(f)
		switch {
		case workload.IsTime(f) && n == int64(workload.UnknownTime), !workload.IsTime(f) && n == workload.Unknown:
			return b
		case c.Is == Loose && f >= workload.FieldUser && f <= workload.FieldPartition:
			return t.name(b, f, n)
		}
		return rec.AppendField(b, f)
	}
}

// name appends the name that a number stands for if a reader would find the number by it again: it
// fits into a cell, no other number has it, and it is not -1, which says "not known". Otherwise it
// appends the number, unless that is itself the name of another number, which is told as lost.
func (t *writer) name(b []byte, field int, n int64) []byte {
	names := t.header.Names(field)
	name := []byte(names.Name(n))
	if len(name) > 0 && t.fits(name) && names.Find(name) == n && string(name) != "-1" {
		return append(b, name...)
	}
	at := len(b)
	b = strconv.AppendInt(b, n, 10)
	if of := names.Find(b[at:]); of != workload.Unknown && of != n {
		t.lost.Add(workload.FieldNames[field-1], "its number is the name of another one")
	}
	return b
}

// value appends what a record says in a column beyond SWF.
func (t *writer) value(b []byte, c *Field, v workload.Value) []byte {
	at := len(b)
	switch {
	case !v.Known():
		return b
	case c.isText():
		b = t.text(b, []byte(v.Text), c.Name)
	default:
		b = appendFloat(b, v.Number)
	}
	if t.form.Unknown != "" && string(b[at:]) == t.form.Unknown {
		t.lost.Add(c.Name, t.form.Unknown+" stands for what is not known")
	}
	return b
}

// appendFloat appends a number such that it is read as the same float64, -0 and inf among them.
// Whole numbers below 2^53 stand without an exponent.
func appendFloat(b []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 && (x != 0 || !math.Signbit(x)) {
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

// text appends a text as it is, or in quotes if it must be and the form has them, or else with a _
// for every byte that has no place in a cell, which is told as lost.
func (t *writer) text(b, s []byte, column string) []byte {
	if t.fits(s) {
		return append(b, s...)
	}
	if t.form.Quotes {
		b = append(b, '"')
		b = append(b, bytes.ReplaceAll(s, []byte{'"'}, []byte{'"', '"'})...)
		return append(b, '"')
	}
	t.lost.Add(column, "its blanks and separators are written as _")
	return append(b, bytes.Map(func(r rune) rune {
		if t.separates(r) {
			return '_'
		}
		return r
	}, s)...)
}

// fits reports whether a text can stand in a cell as it is. An empty text cannot: it would be read as
// not known. Blanks around a text cannot, since some readers cut them off.
func (t *writer) fits(s []byte) bool {
	return len(s) > 0 && !bytes.ContainsFunc(s, t.separates) && len(bytes.TrimSpace(s)) == len(s)
}

// separates reports whether a letter would end the cell or the line, or has no place in the form.
func (t *writer) separates(r rune) bool {
	return r == rune(t.form.Separator) || r == '"' || r == '\n' || r == '\r' || t.form.Separator == ' ' && unicode.IsSpace(r) || !t.form.Quotes && unicode.IsControl(r)
}
