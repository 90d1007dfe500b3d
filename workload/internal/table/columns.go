package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file makes records of the rows of tables in Parquet whose columns are known by name. A format
// says what its columns are, in a Columns, and what a row means.

// Field is a column of the file.
type Field struct {
	Name string
	Is   Type
	// As is the name of the record's column that it becomes as it is, in that unit; "" for
	// what the format makes something else of.
	As, Unit string
	Needed   bool // a file without it is of another kind
	Names    int  // the field of workload.NamedFields that it is, where its texts are names
}

// Type is what a field's values are.
type Type uint8

const (
	Number  Type = iota
	Text         // numbers are taken as text, too, and lists joined by commas
	Instant      // text, or a number of a type for instants
	Mean         // a list of numbers, of which the mean is taken
	Count        // a list, of which the length is taken
)

// Columns is what a kind of files has.
type Columns struct {
	Fields []Field
	Submit int            // the field that has the submission; an instant is put into records
	Zone   *time.Location // of instants without one; nil is UTC
	Header func(h *workload.Header)
	// Record makes a record of a row; what becomes a column as it is, is filled in
	// already.
	Record func(r *Row, rec *workload.Record)
}

// isParquet is how a file begins that is read from front to back.
func isParquet(in *workload.Input) bool {
	return strings.HasPrefix(string(in.Head()), parquetfile.Magic)
}

// openParquet opens the table.
func openParquet(in *workload.Input) (*parquetfile.File, error) {
	stored, size, err := in.Stored()
	if err != nil {
		return nil, err
	}
	f, err := parquetfile.Open(stored, size)
	if err != nil {
		return nil, fmt.Errorf("%s: reading it as Parquet: %w", in.Name(), err)
	}
	return f, nil
}

// OpenParquet opens the table where the input looks like one, or returns nil.
func OpenParquet(in *workload.Input) *parquetfile.File {
	if !isParquet(in) {
		return nil
	}
	f, err := openParquet(in)
	if err != nil {
		return nil
	}
	return f
}

// Is reports whether an input is a table with all columns that are needed.
func (l *Columns) Is(in *workload.Input) bool {
	f := OpenParquet(in)
	return f != nil && l.missing(f) == ""
}

func (l *Columns) missing(f *parquetfile.File) string {
	for _, field := range l.Fields {
		if field.Needed && f.Find(field.Name) < 0 {
			return field.Name
		}
	}
	return ""
}

// fits reports whether values of a column can be taken as that type.
func (t Type) fits(c *parquetfile.Column) bool {
	switch t {
	case Number:
		return !c.List && (c.Kind == parquetfile.Whole || c.Kind == parquetfile.Number)
	case Instant:
		return !c.List && (c.Kind == parquetfile.Instant || c.Kind == parquetfile.Text)
	case Mean:
		return c.List && (c.Kind == parquetfile.Whole || c.Kind == parquetfile.Number)
	case Count:
		return c.List && c.Kind != parquetfile.Other
	}
	return c.Kind != parquetfile.Other && (!c.List || c.Kind != parquetfile.Number)
}

func (t Type) String() string {
	return [...]string{"numbers", "text", "instants", "lists of numbers", "lists"}[t]
}

// Row is the row at hand. Its methods take the place of a field in the layout.
type Row struct {
	l     *Columns
	rows  *parquetfile.Rows
	at    []int // of the fields among the columns that are read, or -1
	cols  []*parquetfile.Column
	zone  *time.Location
	h     *workload.Header
	start int64 // of the log, in microseconds since 1970
	wrong int   // the field that damages the row, or -1
	why   workload.Reason
	want  string
}

// newRow reads those fields of a file that it has, of the fields that are wanted.
func (l *Columns) newRow(in *workload.Input, f *parquetfile.File, wanted func(i int) bool) (*Row, error) {
	if name := l.missing(f); name != "" {
		return nil, fmt.Errorf("%s: it has no column %s, which these tables have", in.Name(), name)
	}
	r := &Row{l: l, zone: l.Zone}
	var read []int
	for i, field := range l.Fields {
		at := f.Find(field.Name)
		if at < 0 || !wanted(i) {
			r.at, r.cols = append(r.at, -1), append(r.cols, nil)
			continue
		}
		c := &f.Columns[at]
		if !field.Is.fits(c) {
			return nil, fmt.Errorf("%s: its column %s does not hold %v", in.Name(), field.Name, field.Is)
		}
		r.at, r.cols = append(r.at, len(read)), append(r.cols, c)
		read = append(read, at)
	}
	r.rows = f.Read(read...)
	return r, nil
}

func (r *Row) value(i int) (*parquetfile.Values, bool) {
	if r.at[i] < 0 {
		return nil, false
	}
	v := r.rows.Column(r.at[i])
	return v, v.Known()
}

// has reports whether the file has a field.
func (r *Row) has(i int) bool { return r.at[i] >= 0 }

// Number is a finite number, or NaN where none is given.
func (r *Row) Number(i int) float64 {
	v, ok := r.value(i)
	if !ok {
		return math.NaN()
	}
	x := v.Number()
	switch r.l.Fields[i].Is {
	case Mean:
		x /= float64(v.Count())
	case Count:
		x = float64(v.Count())
	}
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

// Whole is a whole number of 0 or more, or Unknown where none is given, a negative one among
// them; anything else damages the row.
func (r *Row) Whole(i int) int64 {
	if c := r.cols[i]; c != nil && c.Kind == parquetfile.Whole && !c.List {
		if v, ok := r.value(i); ok {
			return max(v.Whole(), workload.Unknown)
		}
		return workload.Unknown
	}
	n, why, want := wholeOf(r.Number(i))
	if want != "" {
		r.Damage(i, why, want)
	}
	return n
}

// Text is text, or "".
func (r *Row) Text(i int) string {
	v, ok := r.value(i)
	switch {
	case !ok:
		return ""
	case r.cols[i].Kind == parquetfile.Text || r.cols[i].List:
		return v.Text()
	case r.cols[i].Kind == parquetfile.Whole:
		return strconv.FormatInt(v.Whole(), 10)
	}
	return strconv.FormatFloat(v.Number(), 'g', -1, 64)
}

// Times of logs lie between these, in microseconds since 1970: what is earlier stands for
// none in the tables that have such, and is not given.
const (
	minInstant = 366 * 86_400_000_000
	maxInstant = 8_000 * minInstant
)

// since1970 is an instant, in microseconds; what cannot be read as one damages the row.
func (r *Row) since1970(i int) (us int64, ok bool) {
	v, ok := r.value(i)
	if !ok {
		return 0, false
	}
	c := r.cols[i]
	if c.Kind == parquetfile.Text {
		text := v.Text()
		if text == "" || text == "NaT" || text == "None" || text == "nan" {
			return 0, false
		}
		at, ok := scan.Instant([]byte(text), r.zone)
		if !ok {
			r.Damage(i, workload.NotANumber, `an instant as in "2021-04-01 12:30:00"`)
			return 0, false
		}
		us = int64(at)
	} else if us = v.Whole(); c.Local && us > minInstant && us < maxInstant {
		us = int64(scan.At(des.Time(us), r.zone))
	}
	if us > maxInstant {
		r.Damage(i, workload.OutOfRange, "an instant of this age")
		return 0, false
	}
	return us, us >= minInstant
}

// Instant is an instant from the start of the log, which may lie before it.
func (r *Row) Instant(i int) (at des.Time, ok bool) {
	us, ok := r.since1970(i)
	return des.Time(us - r.start), ok
}

// Since is the time from one instant to another; UnknownTime where one is not given or they
// are the wrong way round.
func (r *Row) Since(from, to int) des.Time {
	a, ok := r.Instant(from)
	b, known := r.Instant(to)
	if !ok || !known || b < a {
		return workload.UnknownTime
	}
	return b - a
}

// Missing is the reason for which a row is damaged that lacks a number which every row needs, or has
// one that is none.
func (r *Row) Missing(i int) workload.Reason {
	if _, ok := r.value(i); !ok {
		return workload.NotANumber
	}
	return workload.OutOfRange
}

// Damage says that the row is no record; the first reason counts.
func (r *Row) Damage(i int, why workload.Reason, want string) {
	if r.wrong < 0 {
		r.wrong, r.why, r.want = i, why, want
	}
}

// Survey is that of a format of this layout.
func (l *Columns) Survey(in *workload.Input) (*workload.Header, error) {
	f, err := openParquet(in)
	if err != nil {
		return nil, err
	}
	r, err := l.newRow(in, f, func(i int) bool { return i == l.Submit || l.Fields[i].Names > 0 })
	if err != nil {
		return nil, err
	}
	h := &workload.Header{}
	var submits Span
	for r.rows.Next() {
		us, ok := r.since1970(l.Submit)
		if !ok {
			continue
		}
		submits.Add(des.Time(us))
		for i, field := range l.Fields {
			if field.Names > 0 && r.named(i) {
				if text := r.Text(i); text != "" {
					h.Names(field.Names).Number([]byte(text))
				}
			}
		}
	}
	if err := r.rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	l.Header(h)
	if submits.Tell(h, true); h.UnixStartTime > 0 && l.Zone != nil {
		h.Set("TimeZoneString", l.Zone.String())
	}
	for _, field := range l.Fields {
		if field.As != "" && f.Find(field.Name) >= 0 {
			h.Columns = append(h.Columns, workload.Column{Name: field.As, Unit: field.Unit, Text: field.Is == Text})
		}
	}
	return h, nil
}

// Read is that of a format of this layout.
func (l *Columns) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	f, err := openParquet(in)
	if err != nil {
		return nil, err
	}
	return l.ReadFile(in, f, h)
}

// ReadFile is Read for a table that is open already.
func (l *Columns) ReadFile(in *workload.Input, f *parquetfile.File, h *workload.Header) (_ workload.RecordReader, err error) {
	r := &columnReader{h: h, acc: workload.NewAccount(in, h), name: in.Name()}
	if r.row, err = l.newRow(in, f, func(int) bool { return true }); err != nil {
		return nil, err
	}
	r.row.h = h
	r.row.start = h.UnixStartTime * 1_000_000
	for _, c := range f.Columns {
		if !slices.ContainsFunc(l.Fields, func(field Field) bool { return field.Name == c.Name }) {
			r.acc.Add(0, c.Name, workload.ExtraFields, []byte("a column that is not read"))
		}
	}
	for i, field := range l.Fields {
		if field.As != "" && r.row.has(i) {
			r.as = append(r.as, i)
		}
	}
	return r, nil
}

type columnReader struct {
	h    *workload.Header
	acc  *workload.Account
	name string
	row  *Row
	as   []int // fields that become columns
	more []workload.Value
	rec  workload.Record
	err  error
}

func (r *columnReader) Header() *workload.Header { return r.h }
func (r *columnReader) Record() *workload.Record { return &r.rec }
func (r *columnReader) Line() int64              { return r.row.rows.Row() }
func (r *columnReader) Report() *workload.Report { return r.acc.Report() }
func (r *columnReader) Err() error               { return r.err }

func (r *columnReader) Next() bool {
	for r.err == nil && r.row.rows.Next() {
		line := r.row.rows.Row()
		r.acc.Line()
		r.row.wrong = -1
		r.rec = workload.UnknownRecord
		r.rec.Job = line
		r.more = r.more[:0]
		for _, i := range r.as {
			r.more = append(r.more, r.row.as(i))
		}
		r.rec.More = r.more
		if l := r.row.l; l.Fields[l.Submit].Is == Instant {
			var ok bool
			if r.rec.Submit, ok = r.row.Instant(l.Submit); !ok {
				r.row.Damage(l.Submit, workload.NotANumber, "the instant of submission")
			}
		}
		if r.row.wrong < 0 {
			r.row.l.Record(r.row, &r.rec)
		}
		if r.row.wrong < 0 {
			var ok bool
			if ok, r.err = r.acc.Take(line, &r.rec); ok {
				return true
			}
			continue
		}
		r.err = r.acc.Damage(line, r.row.l.Fields[r.row.wrong].Name, r.row.why, []byte(r.row.Text(r.row.wrong)), r.row.want)
	}
	if r.err == nil {
		if r.err = r.acc.Ended(); r.row.rows.Err() != nil {
			r.err = fmt.Errorf("%s: %w", r.name, r.row.rows.Err())
		}
	}
	return false
}

// as is a field as the column that it becomes.
func (r *Row) as(i int) workload.Value {
	switch r.l.Fields[i].Is {
	case Text:
		return workload.TextValue(r.Text(i))
	case Instant:
		if at, ok := r.Instant(i); ok {
			return workload.NumberValue(float64(at) / float64(des.Second))
		}
		return workload.UnknownValue
	}
	return workload.NumberValue(r.Number(i))
}

// Seconds is a time given as a number of so many seconds each; UnknownTime where none is
// given, a negative one among them.
func (r *Row) Seconds(i int, unit float64) des.Time {
	at, why, want := secondsOf(r.Number(i) * unit)
	if want != "" {
		r.Damage(i, why, want)
	}
	return at
}

// named reports whether the values of a field are names; otherwise they are numbers.
func (r *Row) named(i int) bool { return r.at[i] >= 0 && r.cols[i].Kind == parquetfile.Text }

// Name is the number of a text among the names of its field, or the number that stands
// there.
func (r *Row) Name(i int) int64 {
	if !r.named(i) {
		return r.Whole(i)
	}
	text := r.Text(i)
	if text == "" {
		return workload.Unknown
	}
	return r.h.Names(r.l.Fields[i].Names).Find([]byte(text))
}
