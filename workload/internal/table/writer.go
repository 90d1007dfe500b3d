package table

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// writer writes records.
type writer struct {
	layout *Layout
	header *workload.Header
	out    io.Writer
	buf    []byte
	from   []int // of each cell, the column of the records that it holds, or -1
	start  des.Time
	lost   *workload.Losses
	err    error
}

// Comments says what of a header is written before the records.
type Comments uint8

const (
	NoComments Comments = iota // nothing
	Lines                      // its lines, and names
	All                        // columns, too
)

// blockSize is how much is written at a time.
const blockSize = 256 << 10

// Write begins a log. Of the columns beyond SWF it holds those of these names: column i
// of a cell is names[i-1].
func write(w io.Writer, h *workload.Header, l *Layout, first string, comments Comments, names []string) (*writer, error) {
	t := &writer{
		layout: l, header: h, out: w, buf: make([]byte, 0, blockSize), start: des.Time(h.UnixStartTime) * des.Second,
		lost: workload.NewLosses(h, workload.FieldSet(l.fields()...), names...),
	}
	for _, c := range l.Cells {
		from := -1
		if c.More > 0 {
			from = slices.IndexFunc(h.Columns, func(of workload.Column) bool { return of.Name == names[c.More-1] })
			if comments == All { // the columns are those of the header
				from = c.More - 1
			}
		}
		t.from = append(t.from, from)
	}
	t.buf = append(t.buf, first...)
	if comments == NoComments && len(h.Lines()) > 0 {
		t.lost.Add("header", "")
	}
	if comments != NoComments {
		t.buf = appendHeader(t.buf, h, t.lost)
		t.buf = appendNames(t.buf, h, t.lost)
	}
	if comments == All {
		t.buf = appendColumns(t.buf, h.Columns)
	}
	if l.Heading {
		for i, c := range l.Cells {
			if i > 0 {
				t.buf = append(t.buf, l.Separator)
			}
			t.buf = t.text(t.buf, []byte(c.Name), "heading")
		}
		t.buf = append(t.buf, '\n')
	}
	return t, t.spill()
}

// Lost is what could not be held so far.
func (t *writer) Lost() *workload.Losses { return t.lost }

// Close writes what is held back.
func (t *writer) Close() error {
	if t.err == nil && len(t.buf) > 0 {
		_, t.err = t.out.Write(t.buf)
	}
	t.buf = t.buf[:0]
	return t.err
}

func (t *writer) spill() error {
	if len(t.buf) < blockSize/2 {
		return t.err
	}
	return t.Close()
}

// Write writes a record.
func (t *writer) Write(rec *workload.Record) error {
	t.lost.Count(rec)
	begin := len(t.buf)
	sep := t.layout.Separator
	for i := range t.layout.Cells {
		if i > 0 {
			t.buf = append(t.buf, sep)
		}
		at := len(t.buf)
		t.buf = t.cell(t.buf, i, rec)
		if len(t.buf) == at {
			t.buf = append(t.buf, t.layout.Unknown...)
		}
	}
	t.buf = append(t.buf, '\n')
	if len(t.buf)-begin > longest {
		t.lost.Add("record", "it is longer than what is read")
		t.buf = t.buf[:begin]
	}
	return t.spill()
}

// cell appends a cell, or nothing where nothing is known.
func (t *writer) cell(b []byte, i int, rec *workload.Record) []byte {
	c := &t.layout.Cells[i]
	switch f := c.Field; {
	case t.from[i] >= 0 && t.from[i] < len(rec.More):
		return t.value(b, c, rec.More[t.from[i]])
	case f == 0 || f == End:
		return b
	case f == Start:
		if rec.Wait < 0 || rec.Submit < 0 {
			return b
		}
		return (t.start + rec.Submit + rec.Wait).Append(b)
	case f == 2 && !t.layout.Plain && rec.Submit >= 0:
		at := rec.Submit
		if t.layout.Epoch {
			at += t.start
		}
		if (at >= absolute) != (t.layout.Epoch && t.start > 0) {
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
		case !t.layout.Plain && f >= workload.FieldUser && f <= workload.FieldPartition:
			return t.name(b, f, n)
		}
		return rec.AppendField(b, f)
	}
}

// name appends what a number stands for, or the number.
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

// value appends what a record says in a column.
func (t *writer) value(b []byte, c *Cell, v workload.Value) []byte {
	at := len(b)
	switch {
	case !v.Known():
		return b
	case c.Text:
		b = t.text(b, []byte(v.Text), c.Name)
	default:
		b = appendFloat(b, v.Number)
	}
	if t.layout.Unknown != "" && string(b[at:]) == t.layout.Unknown {
		t.lost.Add(c.Name, t.layout.Unknown+" stands for what is not known")
	}
	return b
}

func appendFloat(b []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 && (x != 0 || !math.Signbit(x)) {
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

// text appends text: in quotes where it must be, or with _ for what has no place.
func (t *writer) text(b, s []byte, column string) []byte {
	if t.fits(s) {
		return append(b, s...)
	}
	if t.layout.Quotes {
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

// fits reports whether a text can stand in a cell as it is.
func (t *writer) fits(s []byte) bool {
	return len(s) > 0 && !bytes.ContainsFunc(s, t.separates) && len(bytes.TrimSpace(s)) == len(s)
}

func (t *writer) separates(r rune) bool {
	return r == rune(t.layout.Separator) || r == '"' || r == '\n' || r == '\r' || t.layout.Separator == ' ' && unicode.IsSpace(r) || !t.layout.Quotes && unicode.IsControl(r)
}
