package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file reads the Standard Workload Format, version 2.2 (Chapin et al.,
// JSSPP 1999; Parallel Workloads Archive): blocks of text from any io.Reader,
// parsed in place, without an allocation a line.

// Unknown is a whole-number field that is not given (-1 in the file).
const Unknown = -1

// UnknownTime is a time field that is not given.
const UnknownTime = -des.Second

// Record is a job in a log: the 18 fields of SWF in their order, and the columns beyond them. Times
// are kept to the microsecond (a tick); finer decimals are rounded. A value that is not given is
// Unknown or UnknownTime.
type Record struct {
	Job             int64    // 1: job number
	Submit          des.Time // 2: instant of submission, from the start of the log
	Wait            des.Time // 3
	Runtime         des.Time // 4: wall clock; 0 = shorter than half a second
	Allocated       int64    // 5: processors the job was given
	CPUTime         des.Time // 6: average over the processors
	UsedMemory      int64    // 7: kB a processor
	Requested       int64    // 8: processors the job asked for
	Estimate        des.Time // 9: requested time, the user's runtime estimate
	RequestedMemory int64    // 10: kB a processor
	Status          int64    // 11: see the Status constants
	User            int64    // 12
	Group           int64    // 13
	Executable      int64    // 14
	Queue           int64    // 15: 0 is interactive by convention
	Partition       int64    // 16
	Preceding       int64    // 17: a job that must end before this one is submitted
	ThinkTime       des.Time // 18: from the end of job 17 to this submission

	// More are the values of the header's Columns in this record, valid as long as the record is;
	// nil if the header has no Columns.
	More []Value
}

// What field 11 says. The three Partial codes stand on lines for single bursts
// of a checkpointed job, beside a line for the whole job.
const (
	StatusFailed      = 0
	StatusCompleted   = 1
	StatusPartial     = 2 // to be continued
	StatusPartialDone = 3 // last burst, job completed
	StatusPartialFail = 4 // last burst, job failed
	StatusCancelled   = 5
)

// numFields is the number of fields of a record.
const numFields = 18

// fieldNames are the names of the fields of SWF in messages, from 1 on; FieldNames are their short
// names in tables.
var fieldNames = [numFields + 1]string{
	"", "job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time",
	"used memory", "requested processors", "requested time", "requested memory", "status", "user", "group",
	"executable", "queue", "partition", "preceding job", "think time",
}

// fieldLabel returns the number of a field of SWF with its name in messages, or the number alone if
// there is no such field.
func fieldLabel(field int) string {
	if field < 1 || field > numFields {
		return fmt.Sprintf("field %d", field)
	}
	return fmt.Sprintf("field %d (%s)", field, fieldNames[field])
}

// blockSize is the number of bytes that the reader reads at a time. maxLineLength is the length in
// bytes up to which a line is taken for a record or a comment.
const (
	blockSize     = 256 << 10
	maxLineLength = blockSize
	// padding is the number of bytes behind a block that may be loaded, but have no meaning:
	// parsing loads eight bytes at a time.
	padding = 16
)

// lineError reports a line that is no record. Only strict mode has this error.
type lineError struct {
	Name string // of the file
	Finding
	Want string // what was expected; "" where the field tells
}

func (e *lineError) Error() string {
	want := cmp.Or(e.Want, "18 numbers separated by blanks")
	if e.Field > 0 {
		want = expectation(e.Field)
	}
	where := e.label()
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s:%d: %s%s: %q; expected %s: correct the line, or read without strict mode to leave it out",
		e.Name, e.Line, where, e.Reason.Text(), e.Text, want)
}

// ErrNotSWF marks input that holds no SWF at all: empty, binary, or text of
// another kind.
var ErrNotSWF = errors.New("not an SWF file")

// Reader reads the records of SWF text. Set its exported fields before the first call of a method.
//
//	r := workload.NewReader(file)
//	for r.Next() {
//		fmt.Println(r.Record().Job)
//	}
//	err := r.Err()
type Reader struct {
	// Name is the name of the input in messages; "" means "SWF input".
	Name string
	// strict makes the first damaged line an error, a *lineError. Otherwise
	// damaged lines are left out and counted in the report.
	strict bool
	// examples is the number of findings of each reason that the report keeps; 0 means
	// DefaultExamples.
	examples int
	// checkNumbers finds every job number given twice, whatever memory it takes.
	// Otherwise the reader remembers 65,536 gaps between numbers and numbers out
	// of order. Behind more than these it may miss some.
	checkNumbers bool

	in      io.Reader
	buf     []byte // a block, with padding behind it
	pos     int    // of the line to read next
	whole   int    // end of the last complete line in buf
	end     int    // end of what has been read
	readErr error  // what ended the input, io.EOF included

	line       int64 // lines begun so far
	started    bool  // the header is complete, pos is at the line after it
	tooLong    bool  // in the middle of a line that does not fit in a block
	finished   bool  // finish has judged the input
	header     Header
	headerSize int            // bytes of comments so far; beyond maxHeaderSize none are kept
	record     Record         // what Record returns
	latest     des.Time       // the latest submission read, for what goes backwards
	numbers    scan.NumberSet // of the jobs so far, for those that are given twice
	report     Report
	err        error // what ended the reading
}

// maxHeaderSize bounds what is kept of comments, in bytes.
const maxHeaderSize = 1 << 20

// numbersKept bounds what is remembered of job numbers: to about 3 MB where all
// come out of order, and to 1 MiB where they ascend.
const numbersKept = 1 << 16

// newNumbers is an empty set of numbers; all of them are remembered only if asked.
func newNumbers(all bool) scan.NumberSet {
	s := scan.NewNumberSet()
	if !all {
		s.Limit = numbersKept
	}
	return s
}

// NewReader returns a reader of plain text. For files and compressed input see Options.Open.
func NewReader(r io.Reader) *Reader { return &Reader{in: r} }

// Header returns the information of the comments before the first record. It reads up to there.
func (r *Reader) Header() *Header {
	r.start()
	return &r.header
}

// Record returns the current record. It is valid until the next call of Next.
func (r *Reader) Record() *Record { return &r.record }

// Line returns the line number of the current record, from 1.
func (r *Reader) Line() int64 { return r.line }

// Err returns the error that ended the reading, or nil at a sound end: a read error, a truncated or
// damaged compressed file, input that is no SWF (ErrNotSWF), or in strict mode a damaged line.
func (r *Reader) Err() error { return r.err }

// Report returns the tally up to now. It covers the whole input when Next has returned false.
func (r *Reader) Report() *Report {
	return &r.report
}

// Records yields the records that are left. The record is only valid until the
// next one is asked for. Ask Err afterwards.
func (r *Reader) Records() iter.Seq[*Record] { return LogReader{r}.Records() }

// Next reads the next record and reports whether there is one.
func (r *Reader) Next() bool {
	r.start()
	for r.err == nil && (r.pos < r.whole || r.fill()) {
		r.line++
		at := skipBlanks(r.buf, r.pos)
		switch r.buf[at] {
		case '\n':
			r.pos = at + 1
		case ';':
			r.report.add(r.line, 0, CommentNotKept, r.takeLine())
		default:
			if r.read(at) {
				return true
			}
		}
	}
	return false
}

// parquetMagic is the text with which a Parquet file begins and ends.
const parquetMagic = "PAR1"

// notText says which kind of bytes an input has that is no text in UTF-8, and how to make it
// readable.
func notText(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(parquetMagic)):
		return "it begins as Parquet does, but it has been cut off, or has none of the columns of a known log; fetch it again, or choose the format"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "it is text in UTF-16; bring it into UTF-8 first, as 'iconv -f UTF-16 -t UTF-8' does"
	}
	return "it holds binary data; expected text, or text compressed by gzip or zstd"
}

// start reads the header and stops before the first line that is no comment.
func (r *Reader) start() {
	if r.started {
		return
	}
	r.started = true
	r.report.keep = keptExamples(r.examples)
	if r.Name == "" {
		r.Name = "SWF input"
	}
	// The first block shows what is no text at all.
	r.numbers = newNumbers(r.checkNumbers)
	r.buf = make([]byte, blockSize+padding)
	if !r.fill() {
		return
	}
	if bytes.IndexByte(r.buf[:r.end], 0) >= 0 || bytes.HasPrefix(r.buf[:r.end], []byte(parquetMagic)) {
		r.err = fmt.Errorf("%s: %w: %s", r.Name, ErrNotSWF, notText(r.buf[:r.end]))
		return
	}
	// Comments up to the first line that is none, at which pos stays. Blank lines among them count as
	// lines.
	if bytes.HasPrefix(r.buf[:r.end], []byte(byteOrderMark)) {
		r.pos = len(byteOrderMark)
	}
	for r.pos < r.whole || r.fill() {
		at := skipBlanks(r.buf, r.pos)
		switch r.buf[at] {
		case '\n':
			r.pos = at + 1
		case ';':
			r.pos = at
			text := r.takeLine()
			if r.headerSize += len(text); r.headerSize > maxHeaderSize {
				r.report.add(r.line+1, 0, CommentNotKept, text)
			} else {
				r.header.addLine(string(text))
			}
		default:
			return
		}
		r.line++
	}
}

// byteOrderMark is the byte order mark in UTF-8, which some editors write at the beginning of a
// text.
const byteOrderMark = "\xEF\xBB\xBF"

// fill gets at least one complete line into the block, if there is one. At the
// end of the input it calls finish.
//
//	buf  |  read already  | line | line | part of a line |   | padding |
//	                      pos           whole            end
//
// Invariant: 0 <= pos <= whole <= end <= blockSize+1, and the lines in [pos, whole) are complete.
func (r *Reader) fill() bool {
	copy(r.buf, r.buf[r.pos:r.end])
	r.end -= r.pos
	r.pos, r.whole = 0, 0
	for idle := 0; r.readErr == nil && r.err == nil; idle++ {
		// Behind the part of a line that is there already. In a line that is too long, all up to its
		// end is dropped.
		var n int
		n, r.readErr = r.in.Read(r.buf[r.end:blockSize])
		fresh := r.buf[r.end : r.end+n]
		if r.tooLong {
			_, fresh, r.tooLong = cutLine(fresh)
			n = copy(r.buf, fresh)
			fresh = r.buf[:n]
		}
		r.end += n
		if last := bytes.LastIndexByte(fresh, '\n'); last >= 0 {
			r.whole = r.end - len(fresh) + last + 1
			return true
		}
		switch {
		case r.end == blockSize:
			r.dropLong()
		case n > 0 || r.tooLong:
			idle = 0
		case idle == maxIdleReads:
			r.readErr = io.ErrNoProgress
		}
	}
	switch {
	case r.err != nil:
	case r.readErr != io.EOF:
		r.err = fmt.Errorf("%s: after line %d: %w", r.Name, r.line, r.readErr)
	case r.end > 0: // the last line lacks its line end
		r.buf[r.end] = '\n'
		r.end++
		r.whole = r.end
		return true
	case !r.finished:
		r.finished = true
		r.finish()
	}
	return false
}

// maxIdleReads is the number of times in a row that a source may return neither bytes nor an error
// before the reader gives it up.
const maxIdleReads = 100

// cutLine cuts text behind its first line end; open tells that there is none.
func cutLine(text []byte) (line, rest []byte, open bool) {
	i := bytes.IndexByte(text, '\n')
	if i < 0 {
		return text, nil, true
	}
	return text[:i], text[i+1:], false
}

// dropLong deals with a block that is all one line: a comment, or damaged.
func (r *Reader) dropLong() {
	r.line++
	text := bytes.TrimLeft(r.buf[:r.end], " \t\r\v\f")
	r.end, r.tooLong = 0, true
	if bytes.HasPrefix(text, []byte(";")) {
		r.report.add(r.line, 0, CommentNotKept, text)
		return
	}
	r.report.Lines++
	r.damage(0, LineTooLong, text)
}

// finish judges the input as a whole, once its end has been reached.
func (r *Reader) finish() {
	damaged := r.report.Total(Damaged)
	switch {
	case r.line == 0:
		r.err = fmt.Errorf("%s: %w: it is empty", r.Name, ErrNotSWF)
	case r.report.Lines == 0 && len(r.header.lines) == 0:
		r.err = fmt.Errorf("%s: %w: it holds neither a header nor a record", r.Name, ErrNotSWF)
	case r.report.Lines > 0 && damaged == r.report.Lines:
		r.err = fmt.Errorf("%s: %w: none of its %d lines is a record", r.Name, ErrNotSWF, damaged)
		if of := r.report.examples; len(of) > 0 {
			r.err = fmt.Errorf("%w (%v)", r.err, of[0])
			if at := of[0]; at.Field == 1 && strings.ContainsAny(at.Text, ",;|") && !strings.ContainsAny(at.Text[:1], "{[<") {
				r.err = fmt.Errorf("%w; a table is read once it is said which column is what (--from csv:submit=COLUMN:...)", r.err)
			}
		}
	}
	for _, said := range []struct {
		key   string
		count int64
	}{{"MaxJobs", r.header.MaxJobs}, {"MaxRecords", r.header.MaxRecords}} {
		if said.count > 0 && said.count != r.report.Lines {
			r.report.add(0, 0, headerMismatch, fmt.Appendf(nil, "%s is %d, the file has %d", said.key, said.count, r.report.Lines))
		}
	}
}

// takeLine is the text of the line at pos; pos moves behind it.
func (r *Reader) takeLine() []byte {
	line, rest, _ := cutLine(r.buf[r.pos:r.whole])
	r.pos = r.whole - len(rest)
	return bytes.TrimRight(line, "\r") // more than one would come back as one fewer from what a Writer makes of it
}

// damage leaves the line out, or ends reading in strict mode. The field is 0 if it is about the line.
func (r *Reader) damage(field int, why Reason, text []byte) {
	r.report.add(r.line, field, why, text)
	if r.strict {
		r.err = &lineError{Name: r.Name, Finding: Finding{Line: r.line, Field: field, Reason: why, Text: clip(text)}}
	}
}

// read reads the record whose first field begins at the offset given.
func (r *Reader) read(at int) bool {
	r.report.Lines++
	// wrong is asked only for lines that are 18 numbers: it judges their sizes and signs.
	end, field, why, ok := r.parse(at, r.record.fields())
	if ok {
		if field, why = r.record.wrong(); field > 0 {
			end, ok = r.fieldAt(at, field), false
		}
	}
	if !ok {
		line := r.takeLine()
		if field > 0 {
			line = r.buf[end:tokenEnd(r.buf, end)]
		}
		r.damage(field, why, line)
		return false
	}
	if end = skipBlanks(r.buf, end); r.buf[end] == '\n' {
		r.pos = end + 1
	} else {
		r.report.add(r.line, 0, ExtraFields, r.takeLine())
	}
	r.report.compare(r.line, &r.record, r.header.MaxProcs, &r.latest, &r.numbers)
	return true
}

// fieldAt is the offset of a field of the record whose first field begins at
// the offset given.
func (r *Reader) fieldAt(at, field int) int {
	for range field - 1 {
		at = skipBlanks(r.buf, tokenEnd(r.buf, at))
	}
	return at
}

// compare notes what can only be seen by comparing a record with other lines or with
// the header.
func (r *Report) compare(line int64, rec *Record, maxProcs int64, latest *des.Time, numbers *scan.NumberSet) {
	if size := max(rec.Requested, rec.Allocated); size > maxProcs && maxProcs > 0 {
		r.addNumber(line, 0, aboveMaxProcs, size)
	}
	if rec.Submit < *latest && rec.Submit >= 0 {
		r.addNumber(line, 2, BackwardsSubmission, int64(rec.Submit/des.Second))
	}
	if rec.Submit >= 0 {
		*latest = rec.Submit
	}
	if numbers == nil || partial(rec.Status) {
		return // a burst has the number of its job
	}
	if numbers.Next(rec.Job) {
		return
	}
	ascends, given := numbers.Add(rec.Job)
	if !ascends {
		r.addNumber(line, 1, NumberNotAscending, rec.Job)
	}
	if given {
		r.addNumber(line, 1, RepeatedNumber, rec.Job)
	}
}

// partial reports whether a status marks a single burst of a job.
func partial(status int64) bool { return status >= StatusPartial && status <= StatusPartialFail }
