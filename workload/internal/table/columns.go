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

// This file makes records of rows. A format says in a Columns which columns its tables have; a Source
// gives the rows; Rows turns them into records, field by field:
//
//	row -> fill: fields of SWF -> Record: what takes several fields -> Cells: columns beyond SWF -> Take

// Columns are the columns in the tables of a format, and the meaning of their rows.
type Columns struct {
	// Fields are the columns that are read. In a Form their order is the order of the cells; of other
	// tables the columns are found by name, in any order.
	Fields []Field
	// Form is the form of rows that are written as text and read by a log; nil for other sources,
	// and for CommaRows.
	Form *Form
	// Over opens the rows; nil opens a table of Parquet.
	Over func(in *workload.Input) (Source, error)
	// Zone is the time zone of instants that do not tell theirs; nil is UTC.
	Zone *time.Location
	// Header adds to the header what is known of every table of the format, such as the size of the
	// machine. Survey calls it; formats with a Form need none.
	Header func(h *workload.Header)
	// Record completes a record whose fields of SWF are filled in, so far as a Field names them; nil
	// where nothing is left to do. It is not called for a row that is damaged already, nor in a Form.
	Record func(t *Rows, rec *workload.Record)
}

// Field is a column of the table or, without a Name, a column of the records that Record makes
// (see Rows.Set).
type Field struct {
	// Name is the name of the table's column, which messages use, too.
	Name string
	// Is is the form in which the values of the column are written.
	Is Type
	// SWF is the field of SWF, from 1 to 18, that the column is, or for a Loose field also Start, End
	// or Size. It is 0 for a column that is no field, or that is needed with others to tell one (see
	// Columns.Record). Texts in one of workload.NamedFields are names.
	SWF int
	// As is the name of the record's column beyond SWF that the column becomes; "" if it becomes
	// none. With a Form, a field whose SWF is 0 always becomes one, named As or else Name.
	As string
	// Unit is the unit of the numbers of that column, as in workload.Column.
	Unit string
	// Counts is the length of the unit 1 in times of a Loose field that are numbers; 0 means a
	// second.
	Counts des.Time
	// Needed says that a table without the column is of another kind. It is looked at in tables of
	// Parquet alone, where it also tells the formats from each other (Columns.Is).
	Needed bool
	// Always says that a row whose value is not known is damaged. The value must then be an instant
	// or a number of 0 or more.
	Always bool
}

// Type is the form in which a field's values are written.
type Type uint8

const (
	Number  Type = iota // a finite number; in a field of SWF a negative one is not known
	Share               // a number of 0 or more; a negative one is not known
	Percent             // a Share in hundredths: what is read is divided by 100
	Text                // numbers are taken as text, too, and lists joined by commas
	Word                // Text that rows repeat, of which one string is kept
	Instant             // a date, or a number of a type for instants (Parquet's timestamps)
	Mean                // a list of numbers, of which the mean is taken; Parquet alone has lists

	// With a Form, the cells of a line may also be:

	Figure // a number of a column beyond SWF, inf among them, or one of the Form's Words
	Plain  // a field of SWF as SWF writes it
	Loose  // a field of SWF as people write it, or Start, End or Size: dates, clocks, names, words
)

// String returns the name of values of the type in messages.
func (t Type) String() string {
	return [...]string{"numbers", "numbers", "numbers", "text", "text", "instants", "lists of numbers", "numbers", "numbers", "text"}[t]
}

// Source gives the rows of a table one at a time.
type Source interface {
	// Columns are the names of all columns of the table, by their places.
	Columns() []string
	// Next goes to the next row and reports whether there is one. It counts the row
	// (Tally.Line) and, if rows do not stand one a line, sets Rows.line. A row that is no row of
	// such a table it counts as damaged (Rows.DamageRow); Rows then asks for the next one.
	Next(t *Rows) bool
	// Entry returns the row's value in a column, from which a field of that type is made; it is
	// valid until the next call.
	Entry(at int, is Type) *Entry
	// Err returns the error that ended the reading, or nil.
	Err() error
}

// Entry is the value of a row in a column. Kind tells which of the other fields has the value.
type Entry struct {
	Kind   parquetfile.Kind // Whole, Number, Text, Instant; Other if no value is given
	whole  int64            // a whole number, or an instant in microseconds since 1970
	number float64
	Text   string
	// bytes is in place of Text in sources whose text is part of a line. It is valid until the next
	// call of Entry.
	bytes []byte
	// local says that the instant is a local time of an unknown place: it is read in Columns.Zone.
	local bool
}

// Rows reads the rows of a table, and makes records of them. It is the workload.RecordReader of all
// formats of this package; formats that make a record of several rows use NextRow and Take.
type Rows struct {
	Source Source
	Tally  *workload.Tally // what was met so far; in a survey by Columns.Survey nobody reads it
	Rec    workload.Record // the present record, which Take judges

	l     *Columns
	h     *workload.Header // nil in a survey by Columns.Survey
	loose *loose           // nil without a Form
	start int64            // of the log, in microseconds since 1970; 0 if that is not known
	at    []int            // by field: its place in the Source, or -1 if the table lacks it
	words []scan.Kept      // by field: the strings of its texts
	put   []int            // the fields that are fields of SWF, in order
	as    []int            // the fields that become columns: more[k] is the value of field as[k]
	more  []workload.Value // Rec.More of the present record; len(more) == len(as) == len(h.Columns)
	line  int64            // the number of the present row, from 1; of text, of its first line
	wrong bool             // the present row is damaged; its first reason has been told
	err   error            // what ended the reading
}

// At is the place of a field by the name of its column or, where it has none, by that of the records;
// -1 where there is none.
func (l *Columns) At(name string) int {
	return slices.IndexFunc(l.Fields, func(f Field) bool { return cmp.Or(f.Name, f.As) == name })
}

// open begins a reading of the fields that are wanted; without a header it is a survey. The cells of
// a Form are read by their places, since two columns may have one name there; in other tables a
// column is found by its name.
func (l *Columns) open(in *workload.Input, h *workload.Header, wanted func(f *Field) bool) (t *Rows, err error) {
	t = &Rows{l: l, h: h, Tally: &workload.Tally{Name: in.Name()}}
	if l.Over != nil {
		t.Source, err = l.Over(in)
	} else {
		t.Source, err = l.parquet(in, wanted)
	}
	if err != nil {
		return nil, err
	}
	// Where each field stands, and what becomes of it: of SWF (put), a column (as), both or neither.
	has := t.Source.Columns()
	t.words = make([]scan.Kept, len(l.Fields))
	for i := range l.Fields {
		f := &l.Fields[i]
		at := -1
		switch {
		case l.Form != nil:
			at = i
		case wanted(f):
			at = slices.Index(has, f.Name)
		}
		t.at = append(t.at, at)
		if at >= 0 && f.SWF > 0 {
			t.put = append(t.put, i)
		}
		if l.becomes(f) && (at >= 0 || f.Name == "") {
			t.as = append(t.as, i)
		}
	}
	if len(t.as) > 0 {
		t.more = make([]workload.Value, len(t.as))
	}
	return t, nil
}

// Survey is the Format.Survey of tables without a Form. It passes over the rows for two things that a
// reading has to know before its first record: when the log begins, if submissions are instants, and
// which numbers the names get, in the order in which they appear. A table without either is not
// passed over. Damaged rows are left to the reading, which tells of them.
func (l *Columns) Survey(in *workload.Input) (*workload.Header, error) {
	submit := slices.IndexFunc(l.Fields, func(f Field) bool { return f.SWF == 2 && f.Is == Instant })
	t, err := l.open(in, nil, func(f *Field) bool { return f.named() || f.SWF == 2 && f.Is == Instant })
	if err != nil {
		return nil, err
	}
	h := &workload.Header{}
	var submits Span
	for len(t.put) > 0 && t.NextRow() {
		// A row whose submission cannot be read gives no names either: the reading leaves it out.
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
	// The header has a column for each that the table has, and for each that Record makes.
	has := t.Source.Columns()
	for _, f := range l.Fields {
		if l.becomes(&f) && (f.Name == "" || slices.Contains(has, f.Name)) {
			h.Columns = append(h.Columns, f.column())
		}
	}
	return h, nil
}

// becomes reports whether a field becomes a column of the records beyond SWF.
func (l *Columns) becomes(f *Field) bool { return f.As != "" || l.Form != nil && f.SWF == 0 }

// RecordColumns are the columns beyond SWF that records have if the table has all fields.
func (l *Columns) RecordColumns() (all []workload.Column) {
	for i := range l.Fields {
		if f := &l.Fields[i]; l.becomes(f) {
			all = append(all, f.column())
		}
	}
	return all
}

// column is the column of the records that a field becomes.
func (f *Field) column() workload.Column {
	return workload.Column{Name: cmp.Or(f.As, f.Name), Unit: f.Unit, Text: f.isText()}
}

// isText reports whether the column that a field becomes is text. A Loose field that is a column,
// too, is text until a survey finds nothing but numbers there (formats.CSV).
func (f *Field) isText() bool { return f.Is == Text || f.Is == Word || f.Is == Loose }

// named reports whether the field of SWF has names for its numbers: users, queues and the like.
func (f *Field) named() bool { return slices.Contains(workload.NamedFields[:], f.SWF) }

// Read is the Format.Read of tables that have a record a row.
func (l *Columns) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return l.Rows(in, h)
}

// Rows is Read for formats that make records of several rows. A column of the file that is in no
// Field is told once, as line 0 of the report; text with a Form has no such columns, and of
// CommaRows the format says which cells are left.
func (l *Columns) Rows(in *workload.Input, h *workload.Header) (*Rows, error) {
	t, err := l.open(in, h, func(*Field) bool { return true })
	if err != nil {
		return nil, err
	}
	t.Tally = workload.NewTally(in, h)
	t.start = h.UnixStartTime * 1_000_000
	if l.Form != nil {
		log := t.Source.(*log)
		t.loose = newLoose(log, l, h)
		for _, text := range log.dropped {
			t.Tally.Add(0, "", workload.CommentNotKept, text)
		}
	}
	if l.Over == nil {
		for _, name := range t.Source.Columns() {
			if !slices.ContainsFunc(l.Fields, func(f Field) bool { return f.Name == name }) {
				t.Tally.Add(0, name, workload.ExtraFields, []byte("a column that is not read"))
			}
		}
	}
	return t, nil
}

// The methods of workload.RecordReader, of which all formats have these.

func (t *Rows) Header() *workload.Header { return t.h }
func (t *Rows) Record() *workload.Record { return &t.Rec }
func (t *Rows) Line() int64              { return t.line }
func (t *Rows) Report() *workload.Report { return t.Tally.Report() }
func (t *Rows) Err() error               { return t.err }

// NextRow goes to the next row that has its cells, and reports whether there is one. At the end it
// judges the input as a whole, unless this is a survey.
func (t *Rows) NextRow() bool {
	for t.err == nil {
		t.line++
		if t.wrong = false; !t.Source.Next(t) {
			if t.err = t.Source.Err(); t.err == nil && t.h != nil {
				t.err = t.Tally.Ended()
			}
			return false
		}
		if !t.wrong {
			return true
		}
	}
	return false
}

// Next finds the next row that is a record. A row is left out at its first fault, and what stands
// behind the fault is not looked at: so a row is told once, and its names do not count.
func (t *Rows) Next() bool {
	for t.NextRow() {
		// A job without a number of its own has the number of its row.
		t.Rec = workload.UnknownRecord
		t.Rec.Job = t.line
		if t.loose != nil {
			t.readText()
		} else {
			t.readRow()
		}
		if !t.wrong && t.Take(t.line) {
			return true
		}
	}
	return false
}

// readRow makes the record of a row of a table without a Form.
func (t *Rows) readRow() {
	for _, i := range t.put {
		if t.fill(i); t.wrong {
			return
		}
	}
	if t.l.Record != nil {
		t.l.Record(t, &t.Rec)
	}
	t.Rec.More = t.Cells()
}

// Take hands Rec, made of the row of a line, to the tally, and reports whether it is a record that
// a log can have. Sizes, signs and bounds are judged there, alike for all formats.
func (t *Rows) Take(line int64) (ok bool) {
	ok, t.err = t.Tally.Take(line, &t.Rec)
	return ok
}

// fill fills in the field of SWF of Fields[i] in a table without a Form.
func (t *Rows) fill(i int) {
	f := &t.l.Fields[i]
	switch {
	case f.Is == Instant:
		if at, ok := t.instant(i); ok {
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
		// A job number that is not known leaves the number of the row.
		if n := t.Whole(i); n >= 0 || f.SWF > 1 {
			t.Rec.Put(f.SWF, n)
		}
	}
}

// Cells are the values of the row of a table without a Form in the columns beyond SWF, valid until the
// next row: those that Record has Set, and those of the fields that become columns as they are. For a
// damaged row they mean nothing.
func (t *Rows) Cells() []workload.Value {
	for k, i := range t.as {
		switch f := &t.l.Fields[i]; {
		case t.wrong || f.Name == "":
		case f.isText():
			t.more[k] = workload.TextValue(t.Text(i))
		case f.Is == Instant:
			t.more[k] = workload.UnknownValue
			if at, ok := t.instant(i); ok {
				t.more[k] = workload.NumberValue(float64(at) / float64(des.Second))
			}
		default:
			t.more[k] = workload.NumberValue(t.Number(i))
		}
	}
	return t.more
}

// Set sets the value of a field without a Name: a column that records have and the table has not.
// Record must set it for every row, since the values of the row before are still there.
func (t *Rows) Set(i int, v workload.Value) { t.more[slices.Index(t.as, i)] = v }

// Wrong reports whether the row is damaged.
func (t *Rows) Wrong() bool { return t.wrong }

// Damage says that the row is no record because of field i, where want was expected. Only the first
// call for a row counts; in strict mode it ends the reading.
func (t *Rows) Damage(i int, why workload.Reason, want string) {
	t.DamageRow(t.l.Fields[i].Name, why, []byte(t.Text(i)), want)
}

// DamageRow is Damage for the row as a whole, or for a column that is no field.
func (t *Rows) DamageRow(column string, why workload.Reason, text []byte, want string) {
	if !t.wrong {
		t.wrong = true
		t.err = t.Tally.Damage(t.Line(), column, why, text, want)
	}
}

// noEntry is the entry of a field that the table lacks, and of a cell that tells nothing. Nobody
// changes it.
var noEntry Entry

// entry returns the row's value in a field.
func (t *Rows) entry(i int) *Entry {
	if t.at[i] < 0 {
		return &noEntry
	}
	return t.Source.Entry(t.at[i], t.l.Fields[i].Is)
}

// text is the text of an entry that is text.
func (c *Entry) text() []byte {
	if c.bytes == nil && c.Kind == parquetfile.Text {
		return []byte(c.Text)
	}
	return c.bytes
}

// Number is a finite number, or NaN if none is given: an infinite one, as notebooks write for what
// is missing, is none. A text that is no number damages the row.
func (t *Rows) Number(i int) float64 {
	c := t.entry(i)
	x := c.number
	switch c.Kind {
	case parquetfile.Other:
		return math.NaN()
	case parquetfile.Whole:
		x = float64(c.whole)
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

// Integer is a whole number of 64 bits, for ids that floating point would round; ok is false if none
// is given. A text that is none damages the row.
func (t *Rows) Integer(i int) (n int64, ok bool) {
	c := t.entry(i)
	if c.Kind != parquetfile.Text {
		return c.whole, c.Kind == parquetfile.Whole
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
		return max(c.whole, workload.Unknown)
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

// Text returns the text in a column, or "". Numbers are written in a form that reads back as the
// same number.
func (t *Rows) Text(i int) string {
	c := t.entry(i)
	switch {
	case c.bytes != nil && t.l.Fields[i].Is == Word:
		return t.words[i].Of(c.bytes)
	case c.bytes != nil:
		return string(c.bytes)
	case c.Kind == parquetfile.Whole:
		return strconv.FormatInt(c.whole, 10)
	case c.Kind == parquetfile.Number:
		return strconv.FormatFloat(c.number, 'g', -1, 64)
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

// Instants of logs lie between these bounds, in microseconds since 1970. An earlier one, such as 0 or
// a date of 1970, stands for "not known" in the tables that have any, and is taken as such. The upper
// bound, near the year 10,000, keeps sums within 64 bits.
const (
	minInstant = 366 * 86_400_000_000
	maxInstant = 8_000 * minInstant
)

// since1970 is an instant, in microseconds since 1970. ok is false if none is given; a text or
// number that cannot be an instant also damages the row.
func (t *Rows) since1970(i int) (us int64, ok bool) {
	c := t.entry(i)
	switch us = c.whole; {
	case c.Kind == parquetfile.Text:
		text := c.text()
		switch string(text) {
		case "", "NaT", "None", "nan": // as pandas and Python write what is missing
			return 0, false
		}
		at, ok := scan.Instant(text, t.l.Zone)
		if us = int64(at); !ok {
			t.Damage(i, workload.NotANumber, `an instant as in "2021-04-01 12:30:00"`)
			return 0, false
		}
	case c.local && us > minInstant && us < maxInstant:
		us = int64(scan.At(des.Time(us), t.l.Zone))
	}
	if us > maxInstant {
		t.Damage(i, workload.OutOfRange, "an instant of this age")
		return 0, false
	}
	return us, us >= minInstant
}

// instant is an instant counted from the start of the log. It may be negative: a job may have been
// queued, say, before the first submission.
func (t *Rows) instant(i int) (at des.Time, ok bool) {
	us, ok := t.since1970(i)
	return des.Time(us - t.start), ok
}

// Since is the time from one instant to another; UnknownTime if one of them is not given or they are
// the wrong way round.
func (t *Rows) Since(from, to int) des.Time {
	a, ok := t.instant(from)
	b, known := t.instant(to)
	if !ok || !known || b < a {
		return workload.UnknownTime
	}
	return b - a
}
