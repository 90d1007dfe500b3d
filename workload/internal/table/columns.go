package table

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file makes records of the rows of tables whose columns are known by name: published data sets,
// and what notebooks write. A format says in a Columns what the columns are; where the rows come
// from is a Source: a file of Parquet, lines of text, objects of JSON.

// Columns is what the tables of a format have, and what their rows mean.
type Columns struct {
	Fields []Field
	// Over opens the rows; nil opens a table of Parquet.
	Over   func(in *workload.Input) (Source, error)
	Zone   *time.Location // of instants without one; nil is UTC
	Header func(h *workload.Header)
	// Record completes a record in which the fields of SWF are filled in that a Field names.
	Record func(t *Rows, rec *workload.Record)
}

// Field is a column of the table or, without a Name, a column of the records that Record makes
// (see Rows.Set).
type Field struct {
	Name string
	Is   Type
	// SWF is the field of SWF, from 1 to 18, that it is; 0 where it is none, or where it takes more
	// than one column to tell. Texts of one of workload.NamedFields are names.
	SWF int
	// As is the name of the record's column that it becomes as it is, in that unit; "" where it
	// becomes none.
	As, Unit string
	Needed   bool // a table without it is of another kind
	Always   bool // a row that does not tell it is damaged
}

// Type is what a field's values are.
type Type uint8

const (
	Number  Type = iota
	Share        // a number of 0 or more; a negative one is none
	Percent      // a share in hundredths
	Text         // numbers are taken as text, too, and lists joined by commas
	Word         // text that rows repeat
	Instant      // text, or a number of a type for instants
	Mean         // a list of numbers, of which the mean is taken
)

func (t Type) String() string {
	return [...]string{"numbers", "numbers", "numbers", "text", "text", "instants", "lists of numbers"}[t]
}

// Source gives the rows of a table one at a time.
type Source interface {
	// Columns are the names of all columns of the table, by their places.
	Columns() []string
	// Next goes to the next row, which is Rows.line then, and reports whether there is one. A row that
	// is no row of such a table is counted as damaged (Rows.DamageRow).
	Next(t *Rows) bool
	// Entry is what the row says in a column, of which a field of that type is made; it is valid until
	// the next call.
	Entry(at int, is Type) *Entry
	// Err is what ended the reading, or nil.
	Err() error
}

// Entry is what a row says in a column.
type Entry struct {
	Kind   parquetfile.Kind // of the value; Other where none is given
	Whole  int64            // a whole number, or microseconds since 1970
	Number float64
	Text   string
	Bytes  []byte // Text in place of Text
	Local  bool   // the instant is that of a clock on the wall at a place that is not told
}

// Rows reads the rows of a table, and makes records of them.
type Rows struct {
	Source  Source
	Account *workload.Account
	Rec     workload.Record

	l     *Columns
	at    []int // the place of each field, or -1
	line  int64 // the number of the row, from 1
	words scan.Kept
	h     *workload.Header
	start int64            // of the log, in microseconds since 1970
	more  []workload.Value // Rec.More
	put   []int            // fields that are fields of SWF
	as    []int            // fields that become columns: more[k] is that of as[k]
	wrong bool             // the row is damaged
	err   error
}

// At is the place of a field by the name of its column or, where it has none, by that of the records;
// -1 where there is none.
func (l *Columns) At(name string) int {
	return slices.IndexFunc(l.Fields, func(f Field) bool { return cmp.Or(f.Name, f.As) == name })
}

// open begins a reading of the fields that are wanted; without a header it is a survey.
func (l *Columns) open(in *workload.Input, h *workload.Header, wanted func(f *Field) bool) (t *Rows, err error) {
	t = &Rows{l: l, h: h, Account: &workload.Account{Name: in.Name()}}
	if l.Over != nil {
		t.Source, err = l.Over(in)
	} else {
		t.Source, err = l.parquet(in, wanted)
	}
	if err != nil {
		return nil, err
	}
	has := t.Source.Columns()
	for i := range l.Fields {
		f := &l.Fields[i]
		at := -1
		if wanted(f) {
			at = slices.Index(has, f.Name)
		}
		t.at = append(t.at, at)
		if at >= 0 && f.SWF > 0 {
			t.put = append(t.put, i)
		}
		if f.As != "" && (at >= 0 || f.Name == "") {
			t.as = append(t.as, i)
		}
	}
	if len(t.as) > 0 {
		t.more = make([]workload.Value, len(t.as))
	}
	return t, nil
}

// Survey is that of a format of this layout: it reads the submissions and the names.
func (l *Columns) Survey(in *workload.Input) (*workload.Header, error) {
	submit := slices.IndexFunc(l.Fields, func(f Field) bool { return f.SWF == 2 && f.Is == Instant })
	t, err := l.open(in, nil, func(f *Field) bool { return f.named() || f.SWF == 2 && f.Is == Instant })
	if err != nil {
		return nil, err
	}
	h := &workload.Header{}
	var submits Span
	for len(t.put) > 0 && t.NextRow() {
		if submit >= 0 {
			us, ok := t.since1970(submit)
			if !ok {
				continue
			}
			submits.Add(des.Time(us))
		}
		for _, i := range t.put {
			if f := &l.Fields[i]; f.named() {
				if name := t.entry(i).text(); len(name) > 0 {
					h.Names(f.SWF).Number(name)
				}
			}
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	l.Header(h)
	if submits.Tell(h, true); h.UnixStartTime > 0 && l.Zone != nil {
		h.Set("TimeZoneString", l.Zone.String())
	}
	has := t.Source.Columns()
	for _, f := range l.Fields {
		if f.As != "" && (f.Name == "" || slices.Contains(has, f.Name)) {
			h.Columns = append(h.Columns, workload.Column{Name: f.As, Unit: f.Unit, Text: f.Is == Text || f.Is == Word})
		}
	}
	return h, nil
}

func (f *Field) named() bool { return slices.Contains(workload.NamedFields[:], f.SWF) }

// Read is that of a format of this layout.
func (l *Columns) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return l.Rows(in, h)
}

// Rows is Read for formats that make records of several rows.
func (l *Columns) Rows(in *workload.Input, h *workload.Header) (*Rows, error) {
	t, err := l.open(in, h, func(*Field) bool { return true })
	if err != nil {
		return nil, err
	}
	t.Account = workload.NewAccount(in, h)
	t.start = h.UnixStartTime * 1_000_000
	if l.Over == nil {
		for _, name := range t.Source.Columns() {
			if !slices.ContainsFunc(l.Fields, func(f Field) bool { return f.Name == name }) {
				t.Account.Add(0, name, workload.ExtraFields, []byte("a column that is not read"))
			}
		}
	}
	return t, nil
}

func (t *Rows) Header() *workload.Header { return t.h }
func (t *Rows) Record() *workload.Record { return &t.Rec }
func (t *Rows) Line() int64              { return t.line }
func (t *Rows) Report() *workload.Report { return t.Account.Report() }
func (t *Rows) Err() error               { return t.err }

// NextRow goes to the next row that has its cells, and reports whether there is one.
func (t *Rows) NextRow() bool {
	for t.err == nil {
		t.line++
		if t.wrong = false; !t.Source.Next(t) {
			if t.err = t.Source.Err(); t.err == nil && t.h != nil {
				t.err = t.Account.Ended()
			}
			return false
		}
		if !t.wrong {
			return true
		}
	}
	return false
}

// Next finds the next row that is a record.
func (t *Rows) Next() bool {
	for t.NextRow() {
		t.Rec = workload.UnknownRecord
		t.Rec.Job = t.Line()
		for _, i := range t.put {
			t.fill(i)
		}
		if !t.wrong && t.l.Record != nil {
			t.l.Record(t, &t.Rec)
		}
		t.Rec.More = t.Cells()
		if !t.wrong && t.Take(t.Line()) {
			return true
		}
	}
	return false
}

// Take takes Rec, made of the row of a line, and reports whether it is one that a log can have.
func (t *Rows) Take(line int64) (ok bool) {
	ok, t.err = t.Account.Take(line, &t.Rec)
	return ok
}

// fill fills in a field of SWF.
func (t *Rows) fill(i int) {
	f := &t.l.Fields[i]
	switch {
	case f.Is == Instant:
		if at, ok := t.Instant(i); ok {
			t.Rec.Put(f.SWF, int64(at))
		} else if f.Always {
			t.Damage(i, workload.NotANumber, "an instant")
		}
	case f.Always && !(t.Number(i) >= 0):
		why := workload.OutOfRange
		if math.IsNaN(t.Number(i)) {
			why = workload.NotANumber
		}
		t.Damage(i, why, "a number of 0 or more")
	case f.named():
		t.Rec.Put(f.SWF, t.Name(i))
	case workload.IsTime(f.SWF):
		t.Rec.Put(f.SWF, int64(t.Seconds(i)))
	default:
		if n := t.Whole(i); n >= 0 || f.SWF > 1 {
			t.Rec.Put(f.SWF, n)
		}
	}
}

// Cells are the columns of the row, valid until the next one: those that Record has Set, and the fields
// that become columns as they are.
func (t *Rows) Cells() []workload.Value {
	for k, i := range t.as {
		switch f := &t.l.Fields[i]; {
		case t.wrong || f.Name == "":
		case f.Is == Text || f.Is == Word:
			t.more[k] = workload.TextValue(t.Text(i))
		case f.Is == Instant:
			t.more[k] = workload.UnknownValue
			if at, ok := t.Instant(i); ok {
				t.more[k] = workload.NumberValue(float64(at) / float64(des.Second))
			}
		default:
			t.more[k] = workload.NumberValue(t.Number(i))
		}
	}
	return t.more
}

// Set is what a row says in a column that the record has and the table has not.
func (t *Rows) Set(i int, v workload.Value) { t.more[slices.Index(t.as, i)] = v }

// Wrong reports whether the row is damaged.
func (t *Rows) Wrong() bool { return t.wrong }

// Damage says that the row is no record, because of a field; the first reason counts.
func (t *Rows) Damage(i int, why workload.Reason, want string) {
	t.DamageRow(t.l.Fields[i].Name, why, []byte(t.Text(i)), want)
}

// DamageRow is Damage for the row as a whole.
func (t *Rows) DamageRow(column string, why workload.Reason, text []byte, want string) {
	if !t.wrong {
		t.wrong = true
		t.err = t.Account.Damage(t.Line(), column, why, text, want)
	}
}

var noEntry Entry

// entry is what the row says in a field.
func (t *Rows) entry(i int) *Entry {
	if t.at[i] < 0 {
		return &noEntry
	}
	return t.Source.Entry(t.at[i], t.l.Fields[i].Is)
}

// text is the text of an entry that is text.
func (c *Entry) text() []byte {
	if c.Bytes == nil && c.Kind == parquetfile.Text {
		return []byte(c.Text)
	}
	return c.Bytes
}

// Number is a finite number, or NaN where none is given.
func (t *Rows) Number(i int) float64 {
	c := t.entry(i)
	x := c.Number
	switch c.Kind {
	case parquetfile.Other:
		return math.NaN()
	case parquetfile.Whole:
		x = float64(c.Whole)
	case parquetfile.Text:
		var fault number.Fault
		if x, fault = number.Float(c.text()); fault != number.Sound {
			t.Damage(i, workload.NotANumber, "a number")
			return math.NaN()
		}
	}
	is := t.l.Fields[i].Is
	switch {
	case math.IsInf(x, 0) || x < 0 && (is == Share || is == Percent):
		return math.NaN()
	case is == Percent:
		return x / 100
	}
	return x
}

// Integer is a whole number of 64 bits; ok is false where none is given.
func (t *Rows) Integer(i int) (n int64, ok bool) {
	c := t.entry(i)
	if c.Kind != parquetfile.Text {
		return c.Whole, c.Kind == parquetfile.Whole
	}
	n, fault := number.Whole(c.text(), math.MaxInt64)
	if fault != number.Sound {
		t.Damage(i, workload.NotANumber, "a whole number")
	}
	return n, fault == number.Sound
}

// Whole is a whole number of 0 or more ("3" or "3.0"), or Unknown where none is given, a negative one
// among them; anything else damages the row.
func (t *Rows) Whole(i int) int64 {
	if c := t.entry(i); c.Kind == parquetfile.Whole {
		return max(c.Whole, workload.Unknown)
	}
	n, why, want := wholeOf(t.Number(i))
	if want != "" {
		t.Damage(i, why, want)
	}
	return n
}

// Seconds is a time given in seconds; UnknownTime where none is given, a negative one among them.
func (t *Rows) Seconds(i int) des.Time {
	at, why, want := secondsOf(t.Number(i))
	if want != "" {
		t.Damage(i, why, want)
	}
	return at
}

// Text is what stands in a column, or "".
func (t *Rows) Text(i int) string {
	c := t.entry(i)
	switch {
	case c.Bytes != nil && t.l.Fields[i].Is == Word:
		return t.words.Of(c.Bytes)
	case c.Bytes != nil:
		return string(c.Bytes)
	case c.Kind == parquetfile.Whole:
		return strconv.FormatInt(c.Whole, 10)
	case c.Kind == parquetfile.Number:
		return strconv.FormatFloat(c.Number, 'g', -1, 64)
	}
	return c.Text
}

// Name is the number of a text among the names of its field, or the number that stands there.
func (t *Rows) Name(i int) int64 {
	if c := t.entry(i); c.Kind == parquetfile.Text {
		return t.h.Names(t.l.Fields[i].SWF).Find(c.text())
	}
	return t.Whole(i)
}

// Times of logs lie between these, in microseconds since 1970: what is earlier stands for
// none in the tables that have such, and is not given.
const (
	minInstant = 366 * 86_400_000_000
	maxInstant = 8_000 * minInstant
)

// since1970 is an instant, in microseconds; what cannot be read as one damages the row.
func (t *Rows) since1970(i int) (us int64, ok bool) {
	c := t.entry(i)
	switch us = c.Whole; {
	case c.Kind == parquetfile.Text:
		text := c.text()
		switch string(text) {
		case "", "NaT", "None", "nan":
			return 0, false
		}
		at, ok := scan.Instant(text, t.l.Zone)
		if us = int64(at); !ok {
			t.Damage(i, workload.NotANumber, `an instant as in "2021-04-01 12:30:00"`)
			return 0, false
		}
	case c.Local && us > minInstant && us < maxInstant:
		us = int64(scan.At(des.Time(us), t.l.Zone))
	}
	if us > maxInstant {
		t.Damage(i, workload.OutOfRange, "an instant of this age")
		return 0, false
	}
	return us, us >= minInstant
}

// Instant is an instant from the start of the log, which may lie before it.
func (t *Rows) Instant(i int) (at des.Time, ok bool) {
	us, ok := t.since1970(i)
	return des.Time(us - t.start), ok
}

// Since is the time from one instant to another; UnknownTime where one is not given or they
// are the wrong way round.
func (t *Rows) Since(from, to int) des.Time {
	a, ok := t.Instant(from)
	b, known := t.Instant(to)
	if !ok || !known || b < a {
		return workload.UnknownTime
	}
	return b - a
}
