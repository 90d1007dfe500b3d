package table

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// longest is the longest line, and the longest record of several lines, in bytes.
const longest = scan.LongestLine

// Log is the lines of a table, of which the comments and the heading are read first.
type Log struct {
	lines    *scan.Lines
	name     string // of the input
	line     []byte // the record, which may be of several lines
	number   int64  // of its first line
	joined   []byte
	again    bool // line is still to be read
	quoted   bool // it has quotes that mean something
	unclosed bool // it ends within them
	tooLong  bool
	first    bool // no line has been read yet
	dropped  [][]byte
}

// Open begins a reading of an input.
func Open(in *workload.Input) (*Log, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return &Log{lines: scan.NewLines(text), name: in.Name(), first: true}, nil
}

// Comments reads the comments at the beginning into a header. Without one it passes
// over them. It reports whether Write has made them.
func (t *Log) Comments(h *workload.Header) (ours bool) {
	c := comments{h: h}
	for t.next(false) {
		if t.line[0] != '#' {
			t.again = true
			break
		}
		if h != nil && (t.tooLong || !c.add(t.line)) {
			t.dropped = append(t.dropped, bytes.Clone(t.line[:min(len(t.line), 80)]))
			t.dropped = t.dropped[:min(len(t.dropped), 5)]
		}
	}
	return c.ours
}

// Heading reads the cells of the next line, which stays to be read where the layout has
// no heading. Where the layout has no separator it gets the one that the line has most of.
func (t *Log) Heading(l *Layout) ([]string, error) {
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

// next finds the next line that is not blank. With quotes it goes on with the lines
// behind while one is open.
func (t *Log) next(quotes bool) bool {
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
		if t.quoted = quotes && bytes.IndexByte(t.line, '"') >= 0; t.quoted && !t.tooLong && t.line[0] != '#' {
			t.join()
		}
		return true
	}
	return false
}

func isBlank(line []byte) bool {
	return len(line) == 0 || line[0] <= ' ' && len(bytes.TrimLeft(line, " \t\r")) == 0
}

// join appends lines until the quotes are closed.
func (t *Log) join() {
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

// quoting is where in a line of CSV one is.
type quoting uint8

const (
	cellStart quoting = iota
	inCell
	inQuotes
	behindQuote // that ends the cell, unless another one follows
)

// after is where one is behind so much text. Any of the usual separators begins a cell,
// so that lines can be joined before it is known which one it is.
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

// split cuts the line at its separators. Cells in quotes are unpacked into buf.
func (t *Log) split(into [][]byte, separator byte, buf *[]byte) [][]byte {
	switch {
	case separator == ' ':
		return scan.CutBlanks(into, t.line)
	case t.quoted:
		into, _ = scan.CutQuoted(into, t.line, separator, buf)
		return into
	}
	return scan.Cut(into, t.line, separator)
}

// Reader reads records.
type Reader struct {
	layout  *Layout
	header  *workload.Header
	account *workload.Account
	text    *Log
	names   [17]*workload.Names // by field
	met     [17]scan.Memo[int64]
	numbers []small // by cell
	unknown []byte
	words   [][]byte
	begins  [256]bool // by the first byte of a text: it may be one of words
	base    des.Time  // of instants that count from 1970
	dated   bool      // so do those of the submissions
	begun   bool      // a record has told
	survey  *survey   // nil but in a survey

	record workload.Record
	more   []workload.Value
	cells  [][]byte
	buf    []byte
	texts  []scan.Kept // by column beyond SWF
	err    error
}

// Read reads the records of a text that stands behind its comments and its heading.
func Read(in *workload.Input, h *workload.Header, l *Layout, t *Log) *Reader {
	r := &Reader{
		layout: l, header: h, account: workload.NewAccount(in, h), text: t, unknown: []byte(l.Unknown),
		base: des.Time(h.UnixStartTime) * des.Second,
	}
	for _, w := range l.Words {
		r.words = append(r.words, []byte(w))
		r.begins[w[0]] = true
	}
	if len(h.Columns) > 0 {
		r.more, r.texts = make([]workload.Value, len(h.Columns)), make([]scan.Kept, len(h.Columns))
	}
	if !l.Plain {
		for _, f := range workload.NamedFields {
			r.names[f] = h.Names(f)
		}
	}
	for i := range l.Cells {
		r.numbers = append(r.numbers, l.small(&l.Cells[i]))
	}
	for _, text := range t.dropped {
		r.account.Add(0, "", workload.CommentNotKept, text)
	}
	return r
}

// Header is what was known before the first record.
func (r *Reader) Header() *workload.Header { return r.header }

// Record is the record that Next found.
func (r *Reader) Record() *workload.Record { return &r.record }

// Line is that of the record, from 1, the first one where it is of several.
func (r *Reader) Line() int64 { return r.text.number }

// Err is what ended the reading.
func (r *Reader) Err() error { return r.err }

// Report is the account so far.
func (r *Reader) Report() *workload.Report { return r.account.Report() }

// Next finds the next record.
func (r *Reader) Next() bool {
	for r.err == nil {
		if !r.text.next(r.layout.Quotes) {
			r.finish()
			return false
		}
		line := r.text.line
		switch {
		case line[0] == '#':
			r.account.Add(r.text.number, "", workload.CommentNotKept, line)
		case r.text.tooLong:
			r.account.Line()
			r.damage("", workload.LineTooLong, line, fmt.Sprintf("a record of at most %d bytes", longest))
		case r.text.unclosed:
			r.account.Line()
			r.damage("", workload.TooFewFields, line, "a \" that closes the cell")
		default:
			r.account.Line()
			if r.read(line) {
				return true
			}
		}
	}
	return false
}

// finish judges the input as a whole.
func (r *Reader) finish() {
	if r.err = r.account.Ended(); r.text.lines.Err() != nil {
		r.err = fmt.Errorf("%s: %w", r.text.name, r.text.lines.Err())
	}
}

func (r *Reader) damage(column string, why workload.Reason, text []byte, want string) {
	r.err = r.account.Damage(r.text.number, column, why, text, want)
}

// read makes a record of a line.
func (r *Reader) read(line []byte) bool {
	l := r.layout
	r.record = workload.UnknownRecord
	if !l.Plain {
		r.record.Job = r.account.Report().Lines
	}
	r.cells = r.text.split(r.cells[:0], l.Separator, &r.buf)
	if len(r.cells) < l.Least {
		r.damage("", workload.TooFewFields, line, fmt.Sprintf("%d cells or more", l.Least))
		return false
	}
	for i := range r.more {
		r.more[i] = workload.UnknownValue
	}
	r.record.More = r.more
	var at moments
	for i, text := range r.cells[:min(len(l.Cells), len(r.cells))] {
		if len(text) == 0 {
			continue
		}
		if of := r.numbers[i]; of.field > 0 {
			if n, ok := number.Small(text); ok {
				r.record.Put(of.field, n*of.scale)
				continue
			}
		}
		if l.Quotes && !l.Plain {
			if text = bytes.TrimSpace(text); len(text) == 0 {
				continue
			}
		}
		c := &l.Cells[i]
		if c.More > 0 && !r.keep(c, text) {
			return false
		}
		if c.Field > 0 && !r.says(text) && !r.set(c, text, &at) {
			return false
		}
	}
	if len(r.cells) > len(l.Cells) {
		r.account.Add(r.text.number, "", workload.ExtraFields, line)
	}
	if !l.Plain && !r.place(&at) {
		return false
	}
	ok, err := r.account.Take(r.text.number, &r.record)
	r.err = err
	return ok
}

// small says what a number of up to eight digits in a cell becomes, as most cells hold: it
// is put into a field, times a scale, and nothing else has to be done. That is what keep and set
// would do.
type small struct {
	field int // 0 where it is not so
	scale int64
}

func (l *Layout) small(c *Cell) small {
	field := c.Field
	switch {
	case field == 0 || c.More > 0 || c.Unit != 0 && c.Unit != des.Second:
		return small{}
	case l.Plain:
	case field == Size:
		field = 8
	case field == 2 || field == Start || field == End || slices.Contains(workload.NamedFields[:], field):
		return small{}
	}
	if workload.IsTime(field) {
		return small{field, int64(des.Second)}
	}
	return small{field, 1}
}

// says reports that a text says that something is not known.
func (r *Reader) says(text []byte) bool {
	return len(text) == 0 || string(text) == "-1" || r.isWord(text)
}

func (r *Reader) isWord(text []byte) bool {
	return r.begins[text[0]] && slices.ContainsFunc(r.words, func(w []byte) bool { return bytes.Equal(w, text) })
}

// keep puts a cell into its column beyond SWF.
func (r *Reader) keep(c *Cell, text []byte) bool {
	if bytes.Equal(text, r.unknown) {
		return true
	}
	if r.survey != nil {
		r.survey.meets(c, text, r.says(text))
	}
	if c.Text {
		r.more[c.More-1] = workload.TextValue(r.texts[c.More-1].Of(text))
		return true
	}
	x, ok := number.Written(text)
	switch {
	case ok && !math.IsNaN(x):
		r.more[c.More-1] = workload.NumberValue(x)
	case !ok && !r.isWord(text):
		r.damage(c.Name, workload.NotANumber, text, "a number, or nothing where it is not known")
		return false
	}
	return true
}

// moments are the instants of a line.
type moments struct {
	at [3]moment // submission, start, end
}

type moment struct {
	t            des.Time
	given, dated bool // dated: it counts from 1970
	cell         *Cell
	text         []byte
}

// set takes in a field that is not written as SWF has it.
func (r *Reader) set(c *Cell, text []byte, at *moments) bool {
	field, want := c.Field, ""
	switch {
	case r.layout.Plain:
		return r.setPlain(c, field, text)
	case field == 2 || field == Start || field == End:
		m := moment{given: true, cell: c, text: text}
		var isDate, ok bool
		if m.t, isDate, ok = instant(text, c.Unit, r.layout.Zone); ok {
			m.dated = isDate || m.t >= absolute
			at.at[max(field-18, 0)] = m // Start and End stand behind 18
			return true
		}
		want = "an instant: a number, or a date as 2024-01-31T12:34:56"
	case field <= 18 && workload.IsTime(field):
		if t, ok := duration(text, c.Unit); ok {
			r.record.Put(field, int64(t))
			return true
		}
		want = "a duration: a number, or a clock as 12:34:56"
	case field == 1 && c.More > 0: // the number of the line stands for one that is text
		return true
	case field == 11:
		r.record.Status = status(text)
		return true
	case field <= 16 && r.names[min(field, 16)] != nil:
		if n, ok := r.number(field, text); ok {
			r.record.Put(field, n)
			return true
		}
		want = "a name or a number"
	default:
		if field == Size {
			field = 8
		}
		return r.setPlain(c, field, text)
	}
	r.damage(c.Name, workload.NotANumber, text, want)
	return false
}

// setPlain takes in a field that is written as SWF has it.
func (r *Reader) setPlain(c *Cell, field int, text []byte) bool {
	why, ok := r.record.SetField(field, text)
	switch {
	case !ok:
		r.damage(c.Name, why, text, workload.Expected(field))
	case why == workload.MemoryFractionDropped:
		r.account.Add(r.text.number, c.Name, why, text)
	}
	return ok
}

// number is what stands for a name, or the number that it is.
func (r *Reader) number(field int, text []byte) (int64, bool) {
	n, ok := r.met[field].Find(text)
	if ok {
		return n, true
	}
	if r.survey != nil {
		r.survey.name(field, text)
	} else if n = r.names[field].Find(text); n == workload.Unknown {
		if n, ok = number.Integer(text); !ok {
			return 0, false
		}
	}
	r.met[field].Put(string(text), n)
	return n, true
}

// place makes times of instants.
func (r *Reader) place(at *moments) bool {
	submit, start, end := &at.at[0], &at.at[1], &at.at[2]
	if !submit.given {
		if *submit = *start; !start.given {
			return true // Negative tells
		}
	}
	if !r.begun {
		r.begun, r.dated = true, submit.dated
	}
	if submit.dated != r.dated {
		r.damage(submit.cell.Name, workload.OutOfRange, submit.text, "an instant that counts from where those above do")
		return false
	}
	from := des.Time(0)
	if r.dated {
		from = r.base
	}
	r.record.Submit = submit.t - from
	if r.survey != nil {
		r.survey.submits.Add(submit.t)
	}
	for _, m := range []*moment{start, end} {
		m.given = m.given && m.dated == r.dated // 0 among dates is no instant
		m.t -= from
	}
	if start.given {
		r.record.Wait = start.t - r.record.Submit
	}
	if end.given && r.record.Runtime < 0 {
		began := r.record.Submit + r.record.Wait
		if r.record.Wait < 0 {
			return true
		}
		if r.record.Runtime = end.t - began; r.record.Runtime < 0 {
			r.damage(end.cell.Name, workload.NegativeNumber, end.text, "an instant after the start")
			return false
		}
	}
	return true
}
