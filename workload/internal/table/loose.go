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

// This file reads the fields of lines of text: as SWF writes them (Plain), and as people do (Loose).
// A record is read in three steps (readText): fields of SWF, columns beyond SWF, times of instants. The
// instants of a job are only collected in the first step, since a wait and a runtime take two of
// them, and since the first record tells whether all of them count from 1970.

// loose is the state of a reading for Loose fields, beside the state of Rows.
type loose struct {
	log *log
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
func newLoose(log *log, l *Columns, h *workload.Header) *loose {
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

// readText makes the record of a line. Without a number of its own, a job of a table that people made
// has the number of its line among those that may be records, so that headings and comments do not
// count.
func (t *Rows) readText() {
	s := t.loose
	if t.Rec.Job = workload.Unknown; !t.l.Form.Plain {
		t.Rec.Job = t.Tally.Report().Lines
		s.at = [3]moment{}
	}
	if t.fillLine(); !t.wrong {
		t.keepLine()
	}
	if t.wrong {
		return
	}
	t.Rec.More = t.more
	if len(s.log.cells) > len(t.l.Fields) {
		t.Tally.Add(t.line, "", workload.ExtraFields, s.log.line)
	}
	if s.survey != nil && s.survey.columns != nil {
		// A damaged line, such as the heading of a second table that was appended, does not decide
		// what a column holds.
		for k, i := range t.as {
			s.survey.meets(k, s.log.text(i), s)
		}
	}
	if !t.l.Form.Plain {
		t.place()
	}
}

// fillLine fills in the fields of SWF, up to the first fault.
func (t *Rows) fillLine() {
	s := t.loose
	cells, trims := s.log.cells, s.log.trims()
	for _, i := range t.put {
		if i >= len(cells) {
			return // put ascends: the fields that are left stand behind the end of the line, too
		}
		text := cells[i]
		if len(text) == 0 {
			continue
		}
		if of := &s.small[i]; of.field > 0 {
			if n, ok := number.Small(text); ok {
				t.Rec.Put(of.field, n*of.scale)
				continue
			}
		}
		if trims {
			text = bytes.TrimSpace(text)
		}
		if s.isUnknown(text) {
			continue
		}
		if t.fillText(i, text); t.wrong {
			return
		}
	}
}

// keepLine fills in the columns beyond SWF, up to the first fault. A survey only looks for faults,
// which texts do not have.
func (t *Rows) keepLine() {
	s := t.loose
	for k, i := range t.as {
		isText := t.h.Columns[k].Text
		if isText && s.survey != nil {
			continue
		}
		text := s.log.text(i)
		switch {
		case len(text) == 0:
			t.more[k] = workload.UnknownValue
		case isText:
			t.more[k] = workload.TextValue(t.words[i].Of(text))
		default:
			if t.more[k] = workload.NumberValue(t.figure(i, text)); t.wrong {
				return
			}
		}
	}
}

// figure is a number in a column beyond SWF, or NaN for one of the Form's Words. Infinite numbers are
// taken, since Write writes them.
func (t *Rows) figure(i int, text []byte) float64 {
	x, ok := number.Written(text)
	switch {
	case ok:
		return x
	case !t.loose.isWord(text):
		t.Damage(i, workload.NotANumber, "a number, or nothing where it is not known")
	}
	return math.NaN()
}

// fillText fills in a field that is Plain or Loose of a text that says something. A text that is none
// of the field's values damages the row.
func (t *Rows) fillText(i int, text []byte) {
	s, f := t.loose, &t.l.Fields[i]
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
	case field < len(s.names) && s.names[field] != nil:
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
		t.Tally.Add(t.line, t.l.Fields[i].Name, why, text)
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
// A start or end that does not count as the submissions do (0 among dates, mostly) is not known. Columns that tell a wait or a
// runtime besides must agree with start and end to less than a second.
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
		wait := start.t - t.Rec.Submit
		if t.Rec.Wait >= 0 && apart(wait, t.Rec.Wait) {
			t.Damage(start.field, workload.Contradiction, fmt.Sprintf("an instant %v s after the submission, since the wait is that long", t.Rec.Wait))
			return
		}
		t.Rec.Wait = wait
	}
	if !end.given || t.Rec.Wait < 0 {
		return
	}
	runtime := end.t - (t.Rec.Submit + t.Rec.Wait)
	switch {
	case t.Rec.Runtime >= 0 && apart(runtime, t.Rec.Runtime):
		t.Damage(end.field, workload.Contradiction, fmt.Sprintf("an instant %v s after the start, since the runtime is that long", t.Rec.Runtime))
	case t.Rec.Runtime >= 0:
	case runtime < 0:
		t.Damage(end.field, workload.NegativeNumber, "an instant after the start")
	default:
		t.Rec.Runtime = runtime
	}
}

// apart reports whether two times differ by a second or more: logs round.
func apart(a, b des.Time) bool { return max(a-b, b-a) >= des.Second }
