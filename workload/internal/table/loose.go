package table

import (
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file reads the fields of lines of text: as SWF writes them (Plain), and as people do (Loose).
// A record is read in three steps: beginText, fillSmall or fillText for each cell, endText. The
// instants of a job are only collected in the second step, since a wait and a runtime take two of
// them, and since the first record tells whether all of them count from 1970.

// loose is what a reading keeps for such fields, beside what Rows keeps.
type loose struct {
	log *Log
	// names are the names of the header, by field of SWF; nil for fields that have none. met are
	// the numbers that were lately found for their texts, since rows repeat them.
	names [17]*workload.Names
	met   [17]scan.Memo[int64]
	small []small // by field of the Columns
	// begins says of a byte that one of the Form's Words begins with it, which spares the look at
	// the words for almost all texts.
	begins [256]bool
	// base is the start of the log since 1970, in ticks; 0 in a survey, which looks for it. It is
	// taken from instants that count from 1970.
	base des.Time
	// dated says that submissions count from 1970. The first record that is begun decides it for all,
	// and a record of the other kind is damaged.
	dated, begun bool
	at           [3]moment // of the present record: submission, start, end
	survey       *survey   // nil but in a survey
}

// moment is an instant of a record.
type moment struct {
	t     des.Time
	given bool // the record tells it; otherwise the rest means nothing
	dated bool // t counts from 1970, not from the start of the log
	field int  // of the Columns, for messages
}

// newLoose prepares the reading of a log. The header has the names and the start of the log.
func newLoose(log *Log, l *Columns, h *workload.Header) *loose {
	log.form = l.Form
	s := &loose{log: log, base: des.Time(h.UnixStartTime) * des.Second}
	for _, w := range l.Form.Words {
		s.begins[w[0]] = true
	}
	for _, f := range workload.NamedFields {
		s.names[f] = h.Names(f)
	}
	for i := range l.Fields {
		s.small = append(s.small, smallOf(&l.Fields[i]))
	}
	return s
}

// small says what becomes of a number of up to eight digits, which most cells hold: it is put into a
// field of SWF, times a scale, and nothing else has to be done. fillText would do the same, more
// slowly; TestSmallNumbersAreReadAsAnyOther holds the two to each other.
type small struct {
	field int   // of SWF; 0 for a cell that must go through fillText
	scale int64 // ticks a second for a time, 1 for other numbers
}

// smallOf leaves to fillText the fields whose digits may mean something else: a time in another
// unit, an instant that may count from 1970, a name of digits, a cell that is a column, too.
func smallOf(f *Field) small {
	field := f.SWF
	switch {
	case field == 0 || f.As != "" || f.Counts != 0 && f.Counts != des.Second:
		return small{}
	case f.Is == Plain:
	case field == Size:
		field = 8
	case isInstant(field) || f.named():
		return small{}
	}
	if workload.IsTime(field) {
		return small{field, int64(des.Second)}
	}
	return small{field, 1}
}

// isUnknown reports whether a text in a field of SWF says that nothing is known.
func (s *loose) isUnknown(text []byte) bool {
	return len(text) == 0 || string(text) == "-1" || s.isWord(text)
}

// isWord reports whether a text, which is not empty, is one of the Form's Words.
func (s *loose) isWord(text []byte) bool {
	return s.begins[text[0]] && slices.Contains(s.log.form.Words, string(text))
}

// beginText begins the record of a line. Without a number of its own, a job of a table that people
// made has that of its line among those that may be records, so that headings and comments do not
// count.
func (t *Rows) beginText() {
	t.loose.at = [3]moment{}
	if t.Rec.Job = t.Account.Report().Lines; t.l.Form.Plain {
		t.Rec.Job = workload.Unknown
	}
}

// endText completes the record of a line of which all fields have been read. What a survey notes of
// columns it notes here: a damaged line, such as the heading of a second table that was appended,
// does not decide what a column holds.
func (t *Rows) endText() {
	s := t.loose
	if len(s.log.cells) > len(t.l.Fields) {
		t.Account.Add(t.line, "", workload.ExtraFields, s.log.line)
	}
	if s.survey != nil {
		for k, i := range t.as {
			if text := s.log.Entry(i, t.l.Fields[i].Is).Bytes; len(text) > 0 {
				s.survey.meets(k, text, s.isUnknown(text))
			}
		}
	}
	if !t.l.Form.Plain {
		t.place()
	}
}

// figure is a number in a column beyond SWF, or NaN if it is not known. Infinite numbers are taken,
// since Write writes them.
func (t *Rows) figure(i int) float64 {
	text := t.entry(i).Bytes
	if len(text) == 0 {
		return math.NaN()
	}
	x, ok := number.Written(text)
	switch {
	case ok:
		return x
	case !t.loose.isWord(text):
		t.Damage(i, workload.NotANumber, "a number, or nothing where it is not known")
	}
	return math.NaN()
}

// fillSmall fills in a field if its cell holds a small number and that is all there is to do; it
// reports whether it has.
func (t *Rows) fillSmall(i int) bool {
	s := t.loose
	of := s.small[i]
	if of.field == 0 || i >= len(s.log.cells) {
		return false
	}
	n, ok := number.Small(s.log.cells[i])
	if ok {
		t.Rec.Put(of.field, n*of.scale)
	}
	return ok
}

// fillText fills in a field that is Plain or Loose, unless its text says that nothing is known. A
// text that is none of the field's values damages the row.
func (t *Rows) fillText(i int) {
	s, f := t.loose, &t.l.Fields[i]
	text := s.log.cell(i)
	if s.isUnknown(text) {
		return
	}
	want := ""
	switch field := f.SWF; {
	case f.Is == Plain:
		t.fillPlain(i, field, text)
		return
	case isInstant(field):
		at, isDate, ok := instant(text, f.Counts, t.l.Zone)
		if ok {
			s.at[max(field-18, 0)] = moment{at, true, isDate || at >= absolute, i} // Start and End stand behind 18
			return
		}
		want = "an instant: a number, or a date as 2024-01-31T12:34:56"
	case field <= 18 && workload.IsTime(field):
		d, ok := duration(text, f.Counts)
		if ok {
			t.Rec.Put(field, int64(d))
			return
		}
		want = "a duration: a number, or a clock as 12:34:56"
	case field == 1 && f.As != "": // the number of the line stands for one that is text
		return
	case field == 11: // words that tell of no end leave it unknown, since batch systems have many
		t.Rec.Status = status(text)
		return
	case f.named():
		n, ok := s.number(field, text)
		if ok {
			t.Rec.Put(field, n)
			return
		}
		want = "a name or a number"
	default:
		if field == Size {
			field = 8
		}
		t.fillPlain(i, field, text)
		return
	}
	t.Damage(i, workload.NotANumber, want)
}

// fillPlain fills in a field of SWF, from 1 to 18, that is written as SWF has it: times in seconds,
// memory in kB, of which a fraction is cut off and told.
func (t *Rows) fillPlain(i, field int, text []byte) {
	why, ok := t.Rec.SetField(field, text)
	switch {
	case !ok:
		t.Damage(i, why, workload.Expected(field))
	case why == workload.MemoryFractionDropped:
		t.Account.Add(t.line, t.l.Fields[i].Name, why, text)
	}
}

// number is the number of a name, or the number that the text is. A survey only notes the text and
// returns 0, which nobody reads: the names get their numbers at its end. ok is false
// for a text that is neither, which a reading meets only if the input has changed since its survey.
func (s *loose) number(field int, text []byte) (int64, bool) {
	n, ok := s.met[field].Find(text)
	if ok {
		return n, true
	}
	if s.survey != nil {
		s.survey.name(field, text)
	} else if n = s.names[field].Find(text); n == workload.Unknown {
		if n, ok = number.Integer(text); !ok {
			return 0, false
		}
	}
	s.met[field].Put(string(text), n)
	return n, true
}

// place makes times of the instants of the record:
//
//	submission        start            end
//	|------wait-------|-----runtime----|
//
// A record without a submission is submitted at its start; without both it has none, and is damaged.
// A start or end that does not count as the submissions do (0 among dates, mostly) is not known. A
// runtime that a column tells stands; the end is not looked at then.
func (t *Rows) place() {
	s := t.loose
	submit, start, end := &s.at[0], &s.at[1], &s.at[2]
	if !submit.given {
		if *submit = *start; !start.given {
			return // Take refuses a record whose submission is unknown
		}
	}
	if !s.begun {
		s.begun, s.dated = true, submit.dated
	}
	if submit.dated != s.dated {
		t.Damage(submit.field, workload.OutOfRange, "an instant that counts from where those above do")
		return
	}
	from := des.Time(0)
	if s.dated {
		from = s.base
	}
	t.Rec.Submit = submit.t - from
	if s.survey != nil {
		s.survey.submits.Add(submit.t)
	}
	for _, m := range []*moment{start, end} {
		m.given = m.given && m.dated == s.dated
		m.t -= from
	}
	if start.given {
		t.Rec.Wait = start.t - t.Rec.Submit
	}
	if !end.given || t.Rec.Runtime >= 0 || t.Rec.Wait < 0 {
		return
	}
	if t.Rec.Runtime = end.t - (t.Rec.Submit + t.Rec.Wait); t.Rec.Runtime < 0 {
		t.Damage(end.field, workload.NegativeNumber, "an instant after the start")
	}
}
