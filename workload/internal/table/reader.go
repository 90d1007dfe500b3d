package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/lines"
	"github.com/gridslot/gridslot/workload/internal/texts"
)

// longest is the longest line, and the longest record of several lines, in bytes.
const longest = lines.Longest

// Text are the lines of a table, of which the comments and the heading are read first.
type Text struct {
	lines    *lines.Scanner
	name     string // of the input
	line     []byte // the record, which may be of several lines
	number   int64  // of its first line
	joined   []byte
	again    bool // line is still to be read
	unclosed bool // it ends within quotes
	tooLong  bool
	first    bool // no line has been read yet
	dropped  [][]byte
}

// Open begins a reading of an input.
func Open(in *workload.Input) (*Text, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return &Text{lines: lines.New(text), name: in.Name(), first: true}, nil
}

// Comments reads the comments at the beginning into a header. Without one it passes
// over them. It reports whether Write has made them.
func (t *Text) Comments(h *workload.Header) (ours bool) {
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
func (t *Text) Heading(l *Layout) ([]string, error) {
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
	for _, c := range l.split(nil, t.line, new([]byte)) {
		names = append(names, string(bytes.TrimSpace(c)))
	}
	return names, nil
}

// next finds the next line that is not blank. With quotes it goes on with the lines
// behind while one is open.
func (t *Text) next(quotes bool) bool {
	for t.again || t.lines.Next() {
		if !t.again {
			t.line, t.number, t.tooLong, t.unclosed = t.lines.Text(), t.lines.Number(), t.lines.TooLong(), false
		}
		t.again = false
		if t.first {
			t.line, t.first = bytes.TrimPrefix(t.line, []byte("\ufeff")), false
		}
		if len(bytes.TrimLeft(t.line, " \t\r")) == 0 {
			continue
		}
		if quotes && !t.tooLong && t.line[0] != '#' && bytes.IndexByte(t.line, '"') >= 0 {
			t.join()
		}
		return true
	}
	return false
}

// join appends lines until the quotes are closed.
func (t *Text) join() {
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

// split cuts a line at its separators. Cells in quotes are unpacked into buf.
func (l *Layout) split(cells [][]byte, line []byte, buf *[]byte) [][]byte {
	if l.Separator == ' ' {
		return blankCells(cells, line)
	}
	*buf = (*buf)[:0]
	sep, from := l.Separator, 0
	for i := 0; i <= len(line); i++ {
		switch {
		case i == len(line) || line[i] == sep:
			cells = append(cells, line[from:i])
			from = i + 1
		case line[i] == '"' && i == from && l.Quotes:
			var cell []byte
			cell, i = unquote(line, i+1, buf)
			for i < len(line) && line[i] != sep { // what stands behind the quote
				i++
			}
			cells = append(cells, cell)
			from = i + 1
		}
	}
	return cells
}

// unquote reads a cell from behind its quote on; end is behind the one that closes it.
func unquote(line []byte, from int, buf *[]byte) (cell []byte, end int) {
	start := len(*buf)
	for {
		i := bytes.IndexByte(line[from:], '"')
		if i < 0 {
			*buf = append(*buf, line[from:]...)
			return (*buf)[start:], len(line)
		}
		*buf = append(*buf, line[from:from+i]...)
		from += i + 1
		if from == len(line) || line[from] != '"' {
			return (*buf)[start:], from
		}
		*buf = append(*buf, '"')
		from++
	}
}

func blankCells(cells [][]byte, line []byte) [][]byte {
	for i := 0; i < len(line); {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		from := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if i > from {
			cells = append(cells, line[from:i])
		}
	}
	return cells
}

// Reader reads records.
type Reader struct {
	layout  *Layout
	header  *workload.Header
	account *workload.Account
	text    *Text
	names   [17]*workload.Names // by field
	unknown []byte
	words   [][]byte
	base    des.Time // of instants that count from 1970
	dated   bool     // so do those of the submissions
	begun   bool     // a record has told
	survey  *survey  // nil but in a survey

	record workload.Record
	more   []workload.Value
	cells  [][]byte
	buf    []byte
	texts  texts.Kept
	err    error
}

// Read reads the records of a text that stands behind its comments and its heading.
func Read(in *workload.Input, h *workload.Header, l *Layout, t *Text) *Reader {
	r := &Reader{
		layout: l, header: h, account: workload.NewAccount(in, h), text: t, unknown: []byte(l.Unknown),
		base: des.Time(h.UnixStartTime) * des.Second, texts: texts.Kept{},
	}
	for _, w := range l.Words {
		r.words = append(r.words, []byte(w))
	}
	if len(h.Columns) > 0 {
		r.more = make([]workload.Value, len(h.Columns))
	}
	if !l.Plain {
		for _, f := range workload.NamedFields {
			r.names[f] = h.Names(f)
		}
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
	whole, from := line, 0 // the first cell that is not in the record yet
	if r.record = workload.UnknownRecord; r.layout.Plain {
		from, line = r.numbers(line)
	} else {
		r.record.Job = r.account.Report().Lines
	}
	r.cells = r.layout.split(r.cells[:0], line, &r.buf)
	if from+len(r.cells) < r.layout.Least {
		r.damage("", workload.TooFewFields, whole, fmt.Sprintf("%d cells or more", r.layout.Least))
		return false
	}
	for i := range r.more {
		r.more[i] = workload.UnknownValue
	}
	r.record.More = r.more
	var at moments
	cells := r.layout.Cells[min(from, len(r.layout.Cells)):]
	for i := range cells[:min(len(cells), len(r.cells))] {
		c, text := &cells[i], r.cells[i]
		if r.layout.Quotes && !r.layout.Plain {
			text = bytes.TrimSpace(text)
		}
		if c.More > 0 && !r.keep(c, text) {
			return false
		}
		if c.Field == 0 || r.says(text) {
			continue
		}
		if r.layout.Plain {
			if why, ok := r.record.SetField(c.Field, text); !ok {
				r.damage(c.Name, why, text, workload.Expected(c.Field))
				return false
			} else if why == workload.MemoryFractionDropped {
				r.account.Add(r.text.number, c.Name, why, text)
			}
			continue
		}
		if !r.set(c, text, &at) {
			return false
		}
	}
	if len(r.cells) > len(cells) {
		r.account.Add(r.text.number, "", workload.ExtraFields, whole)
	}
	if !r.layout.Plain && !r.place(&at) {
		return false
	}
	if f := r.record.Negative(); f > 0 {
		r.damage(workload.FieldNames[f-1], workload.NegativeNumber, r.record.AppendField(nil, f), workload.Expected(f))
		return false
	}
	r.account.Took(r.text.number, &r.record)
	return true
}

// small is the number that a text of up to nine digits is.
func small(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 9 {
		return 0, false
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, true
}

// numbers takes in the first cells of a plain line as long as they are small numbers,
// or empty, as most are; it returns how many these are, and what stands behind them.
// It does what split and SetField do, in one pass.
func (r *Reader) numbers(line []byte) (cells int, rest []byte) {
	sep, from := r.layout.Separator, 0
	for cells < len(workload.FieldNames) {
		n, i := int64(0), from
		for i < len(line) && line[i]-'0' <= 9 {
			n = n*10 + int64(line[i]-'0')
			i++
		}
		if i == len(line) || line[i] != sep || i-from > 9 {
			return cells, line[from:] // the last cell of a line among them
		}
		cells++
		if i > from {
			r.record.Put(cells, n*scale[cells])
		}
		from = i + 1
	}
	return cells, line[from:]
}

// scale turns numbers of fields into what is kept of them.
var scale = func() (of [19]int64) {
	for f := 1; f <= len(workload.FieldNames); f++ {
		if of[f] = 1; workload.IsTime(f) {
			of[f] = int64(des.Second)
		}
	}
	return of
}()

// says reports that a text says that something is not known.
func (r *Reader) says(text []byte) bool {
	if len(text) == 0 || len(text) == 2 && text[0] == '-' && text[1] == '1' {
		return true
	}
	return len(r.words) > 0 && slices.ContainsFunc(r.words, func(w []byte) bool { return bytes.Equal(w, text) })
}

// keep puts a cell into its column beyond SWF.
func (r *Reader) keep(c *Cell, text []byte) bool {
	if len(text) == 0 || bytes.Equal(text, r.unknown) {
		return true
	}
	if r.survey != nil {
		r.survey.meets(c, text, r.says(text))
	}
	if c.Text {
		r.more[c.More-1] = workload.TextValue(r.texts.Of(text))
		return true
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		if slices.ContainsFunc(r.words, func(w []byte) bool { return bytes.Equal(w, text) }) {
			return true
		}
		r.damage(c.Name, workload.NotANumber, text, "a number, or nothing where it is not known")
		return false
	}
	if !math.IsNaN(x) {
		r.more[c.More-1] = workload.NumberValue(x)
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
	n, isSmall := small(text)
	switch {
	case isSmall && field <= 18 && field != 2 && r.names[min(field, 16)] == nil && (c.Unit == 0 || c.Unit == des.Second) && (field > 1 || c.More == 0):
		r.record.Put(field, n*scale[field])
		return true
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
		why, ok := r.record.SetField(field, text)
		switch {
		case !ok:
			r.damage(c.Name, why, text, workload.Expected(field))
			return false
		case why == workload.MemoryFractionDropped:
			r.account.Add(r.text.number, c.Name, why, text)
		}
		return true
	}
	r.damage(c.Name, workload.NotANumber, text, want)
	return false
}

// number is what stands for a name, or the number that it is.
func (r *Reader) number(field int, text []byte) (int64, bool) {
	if r.survey != nil {
		return r.survey.name(field, text), true
	}
	if n := r.names[field].Find(text); n != workload.Unknown {
		return n, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
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
		r.survey.submits(submit.t)
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
