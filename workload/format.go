package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file is the border between logs and the formats in which they are written.
// In the middle stands one model of a job, the Record: the 18 fields of SWF and
// columns beyond them.
//
//	sacct, GWF, CSV ...                            sacct, GWF, CSV ...
//	     |                                              ^
//	     |  Format.Survey: Header                       |  Writable.Write
//	     |  Format.Read:   RecordReader                 |  RecordWriter --> Losses:
//	     v                                              |  what it cannot hold
//	 Header, Record  -- selected, filtered, moved -->  Record
//	     |
//	     v
//	 JobStream: entity.Job
//
// Packages of formats stand beside this one, and package formats lists them.

// Format is a way of writing logs, such as SWF. Several readings may call its methods at a time.
type Format interface {
	// Name is the name of the format in commands and messages: "swf", "sacct".
	Name() string
	// Endings are the endings of the format's files, such as ".swf". The most usual ending stands
	// first. Endings of packed files (".gz", ".zst") are not listed.
	Endings() []string
	// Is reports whether the beginning of an input looks like this format. It is asked where nobody
	// has named the format of the input. No two formats should claim one input.
	Is(in *Input) bool
	// Survey reads what must be known before the first record of an input: the header, the columns
	// beyond SWF, the names that numbers stand for, and the start of the log if records state
	// absolute times.
	Survey(in *Input) (*Header, error)
	// Read begins a reading of an input with the header that Survey has returned. It does not
	// change the header: there may be several readings at a time.
	Read(in *Input, h *Header) (RecordReader, error)
}

// Writable is a format that can be written, too.
type Writable interface {
	Format
	// Write begins a log with that header. Lost of the writer tells the information that the format
	// cannot hold.
	Write(w io.Writer, h *Header) (RecordWriter, error)
}

// RecordReader reads records, each valid until the next one is asked for.
type RecordReader interface {
	// Header returns the header that was known before the first record.
	Header() *Header
	// Next finds the next record and reports whether there is one.
	Next() bool
	// Record returns the record that Next has found. The caller may change it.
	Record() *Record
	// Line returns the number of the line, row or object in which the record stands, from 1.
	Line() int64
	// Err returns the error that ended the reading, or nil if the input ended as it should.
	Err() error
	// Report returns the tally of the reading so far.
	Report() *Report
}

// RecordWriter writes records.
type RecordWriter interface {
	Write(*Record) error
	// Close completes the text. It does not close the io.Writer below.
	Close() error
	// Lost returns the information that could not be held so far.
	Lost() *Losses
}

// LogReader reads the records of a log in any format.
type LogReader struct{ RecordReader }

// Records yields the records that are left. The record is only valid until the
// next one is asked for. Ask Err afterwards.
func (r LogReader) Records() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for r.Next() {
			if !yield(r.Record()) {
				return
			}
		}
	}
}

// Column describes a column of a log beyond the fields of SWF.
type Column struct {
	Name string // as filters and policies call it: gpus, qos, energy
	Unit string // of its numbers: kB, s, J, InstantUnit; "" where they count or have none
	Text bool   // its values are text
}

// InstantUnit is the unit of a column of instants: seconds from the start of the log, as submissions
// are. They move with the submission of their record: where it is shifted, where the times between
// submissions are scaled, and where logs are merged.
const InstantUnit = "s from start"

// MoveInstants adds by to the columns of instants of a record. Call it for a record whose
// submission was moved by that time.
func (h *Header) MoveInstants(rec *Record, by des.Time) { moveInstants(h.Columns, rec.More, by) }

// moveInstants is MoveInstants for values of these columns.
func moveInstants(of []Column, values []Value, by des.Time) {
	for i := range values {
		if by != 0 && of[i].Unit == InstantUnit {
			values[i].Number += by.Seconds()
		}
	}
}

// Value is the entry of a record in one column: a number, or text.
type Value struct {
	Number float64 // NaN where it is not known, or where the column is text
	Text   string  // "" where it is not known, or where the column has numbers
}

// UnknownValue is a value that is not given.
var UnknownValue = Value{Number: math.NaN()}

// NumberValue is a number.
func NumberValue(x float64) Value { return Value{Number: x} }

// TextValue is text.
func TextValue(s string) Value { return Value{Number: math.NaN(), Text: s} }

// Known reports whether the value is given.
func (v Value) Known() bool { return v.Text != "" || !math.IsNaN(v.Number) }

// Clone is a copy that stays valid.
func (r *Record) Clone() *Record {
	c := *r
	c.More = slices.Clone(r.More)
	return &c
}

// Input is one reading of the bytes of a log. Closing it closes everything that was opened through
// it.
type Input struct {
	Reading // how the log is to be read

	source *Stored
	read   *atomic.Int64 // counts bytes of the stored form that are read; nil if nobody asks
	head   []byte        // what Head has read; nil before
	open   []io.Closer   // what Close closes
}

// input begins a reading of the stored bytes, which opens nothing yet.
func (s *Stored) input(how Reading, read *atomic.Int64) *Input {
	return &Input{Reading: how, source: s, read: read}
}

// Name returns the name of the input for messages.
func (in *Input) Name() string { return in.source.name }

// Text opens the unpacked content at its beginning.
func (in *Input) Text() (io.Reader, error) {
	text, err := in.source.Text(in.read)
	if err != nil {
		return nil, err
	}
	in.open = append(in.open, text)
	return text, nil
}

// Stored opens the content as it is stored, and returns its size in bytes. It is for formats that
// are not read from front to back.
func (in *Input) Stored() (io.ReaderAt, int64, error) {
	if in.source.kept != nil {
		return in.source.kept, in.source.size, nil
	}
	raw, err := in.source.open()
	if err != nil {
		return nil, 0, err
	}
	in.open = append(in.open, raw)
	return &countingReaderAt{raw.(io.ReaderAt), in.read}, in.source.size, nil
}

// headSize is the number of bytes of an input, unpacked, that formats see to recognise it.
const headSize = 64 << 10

// Head returns the beginning of the unpacked content: up to 64 KiB, or less if the rest cannot be
// unpacked.
func (in *Input) Head() []byte {
	if in.head != nil {
		return in.head
	}
	in.head = []byte{}
	text, err := in.source.Text(nil)
	if err != nil {
		return in.head
	}
	defer text.Close()
	in.head, _ = bufio.NewReaderSize(text, headSize).Peek(headSize) // what there is will do
	return in.head
}

// Close closes everything that was opened through the input.
func (in *Input) Close() error {
	var errs []error
	for _, c := range in.open {
		errs = append(errs, c.Close())
	}
	in.open = nil
	return errors.Join(errs...)
}

// countingReaderAt is countingReader for what is not read from front to back.
type countingReaderAt struct {
	io.ReaderAt
	read *atomic.Int64
}

func (c *countingReaderAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	if c.read != nil {
		c.read.Add(int64(n))
	}
	return n, err
}

// SWF is the Standard Workload Format. Its methods are those of Reader and Writer, which a program
// may call by themselves.
var SWF Writable = swfFormat{}

type swfFormat struct{}

func (swfFormat) Name() string      { return "swf" }
func (swfFormat) Endings() []string { return []string{".swf"} }

// Is claims every input: SWF is asked last, after all other formats have declined.
func (swfFormat) Is(*Input) bool { return true }

// Survey reads the comments alone: all that has to be known stands in them.
func (f swfFormat) Survey(in *Input) (*Header, error) {
	r, err := f.Read(in, nil)
	if err != nil {
		return nil, err
	}
	h := r.Header().Clone() // the reader's own would keep its block in memory
	return h, r.Err()
}

func (swfFormat) Read(in *Input, _ *Header) (RecordReader, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	r := NewReader(text)
	r.Name, r.strict, r.examples, r.checkNumbers = in.Name(), in.Strict, in.Examples, in.CheckNumbers
	return r, nil
}

func (swfFormat) Write(w io.Writer, h *Header) (RecordWriter, error) {
	out := &swfWriter{Writer: NewWriter(w), lost: NewLosses(h, allFields)}
	return out, out.WriteHeader(out.named(h))
}

// swfWriter is a Writer as a RecordWriter.
type swfWriter struct {
	*Writer
	lost *Losses
}

func (w *swfWriter) Write(rec *Record) error {
	w.lost.Count(rec)
	return w.Writer.Write(rec)
}

func (w *swfWriter) Close() error  { return w.Flush() }
func (w *swfWriter) Lost() *Losses { return w.lost }

// named is a header with a line for each number that has a name, as the format has
// them for queues and partitions. Names of which there are too many for a header are
// lost.
func (w *swfWriter) named(h *Header) *Header {
	h = h.Clone()
	size := 0       // of the header's lines so far; a reader keeps maxHeaderSize of it
	var told Header // the names that its lines tell already
	for _, l := range h.lines {
		size += len(l.text) + 1
		told.noteName(l.key, l.value)
	}
	for i, field := range NamedFields {
		key := nameKeys[i]
		for n, name := range h.Names(field).All() {
			if told.Names(field).Name(n) == name {
				continue
			}
			if size += len(key) + len(name) + 26; size > maxHeaderSize || !printable(name) {
				w.lost.Add("names of "+fieldNames[field]+"s", "a header of SWF has no room for so many, or not for such letters")
				continue
			}
			h.addName(key, n, name)
		}
	}
	return h
}

// Tally counts the findings of a reader, so that readers of all formats report them in the same
// words. A survey, whose findings nobody sees, uses an Tally with nothing but a Name: the later
// readings report the damaged lines.
type Tally struct {
	Name   string // of the input
	Strict bool   // a damaged line is an error

	report   Report
	maxProcs int64          // of the header, 0 if unknown: larger sizes are noted
	latest   des.Time       // the latest submission read, for what goes backwards
	numbers  scan.NumberSet // of the jobs so far, for those that are given twice
}

// NewTally begins the tally of a reading.
func NewTally(in *Input, h *Header) *Tally {
	a := &Tally{Name: in.Name(), Strict: in.Strict, maxProcs: h.MaxProcs, numbers: newNumbers(in.CheckNumbers)}
	a.report.keep = keptExamples(in.Examples)
	return a
}

// Report returns the tally up to now.
func (a *Tally) Report() *Report { return &a.report }

// Line counts a line, row or object that may be a job.
func (a *Tally) Line() { a.report.Lines++ }

// Add counts a finding about a line. The column is "" if the finding is about no column.
func (a *Tally) Add(line int64, column string, why Reason, text []byte) {
	a.report.addColumn(line, column, why, text)
}

// Damage counts a damaged line, which is left out. The text is the damaged part, and want what was
// expected in its place. In strict mode Damage returns an error that tells all this, with which the
// reader must end.
func (a *Tally) Damage(line int64, column string, why Reason, text []byte, want string) error {
	a.report.addColumn(line, column, why, text)
	if a.Strict {
		return &lineError{Name: a.Name, Finding: Finding{Line: line, Column: column, Reason: why, Text: clip(text)}, Want: want}
	}
	return nil
}

// Ended judges the whole input at its end. If it has lines and all of them are damaged, Ended
// returns an error: the input is not of this format.
func (a *Tally) Ended() error {
	damaged := a.report.Total(Damaged)
	if damaged == 0 || damaged != a.report.Lines {
		return nil
	}
	err := fmt.Errorf("%s: none of its %d lines is a record", a.Name, damaged)
	if of := a.report.Findings(); len(of) > 0 {
		err = fmt.Errorf("%w (%v)", err, of[0])
	}
	return err
}

// Take judges the record of a line. A record with an impossible size or sign is damaged: ok is
// false, and in strict mode the error of Damage must end the reading. For any other record Take
// calls Took.
func (a *Tally) Take(line int64, rec *Record) (ok bool, err error) {
	if f, why := rec.wrong(); f > 0 {
		return false, a.Damage(line, FieldNames[f-1], why, rec.AppendField(nil, f), expectation(f))
	}
	a.Took(line, rec)
	return true, nil
}

// Took compares a record with the earlier records, and counts a submission that goes backwards and
// a repeated job number.
func (a *Tally) Took(line int64, rec *Record) {
	a.report.compare(line, rec, a.maxProcs, &a.latest, &a.numbers)
}

// TookNumbered is Took for a record whose job number the reader has made up.
func (a *Tally) TookNumbered(line int64, rec *Record) {
	a.report.compare(line, rec, a.maxProcs, &a.latest, nil)
}
