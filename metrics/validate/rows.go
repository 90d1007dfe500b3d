package validate

// The rows of a jobs CSV.

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/csvtext"
	"github.com/gridslot/gridslot/internal/number"
)

// The columns that are looked at; see docs/reference/files.md.
const (
	colID              = "job_id"
	colSubmit          = "submission_time"
	colNodes           = "requested_number_of_resources"
	colEstimate        = "requested_time"
	colSuccess         = "success"
	colState           = "final_state"
	colStart           = "starting_time"
	colFinish          = "finish_time"
	colExecution       = "execution_time"
	colWait            = "waiting_time"
	colTurnaround      = "turnaround_time"
	colAllocated       = "allocated_resources"
	colMetadata        = "metadata"
	colActual          = "actual_runtime"
	colStretch         = "stretch"
	colBoundedSlowdown = "bounded_slowdown"
	colOwnEstimate     = "estimate"
	colBackfilled      = "backfilled"
	colRestarts        = "restarts"
	colLost            = "lost"
	colOverhead        = "overhead"
	colAfter           = "after"
	colPrediction      = "prediction"
	colCorrections     = "corrections"
	colPredicted       = "predicted"
	colPaid            = "paid"
)

// needed are the columns that every file must have.
var needed = []string{colID, colSubmit, colNodes, colEstimate, colSuccess, colState, colStart, colFinish}

// What final_state may be.
const (
	stateFinished  = "COMPLETED_SUCCESSFULLY"
	stateWalltime  = "COMPLETED_WALLTIME_REACHED"
	stateKilled    = "COMPLETED_KILLED"
	stateRejected  = "REJECTED"
	stateSubmitted = "SUBMITTED"
	stateRunning   = "RUNNING"
)

// promisedKey begins the metadata of a job that was promised a start; what
// follows metadataSeparator is something else.
const (
	promisedKey       = "promised="
	expectedKey       = "expected=" // likewise, where jobs are planned by predictions
	reasonKey         = "reason="
	metadataSeparator = ";"
)

// row has the values of the file about one job.
type row struct {
	line              int // from 1; the header is line 1
	submit, estimate  des.Time
	nodes             int
	state             string // stateKilled for stateWalltime, too
	success           bool
	start, finish     des.Time // Forever: not before the run was stopped
	promise           optional[des.Time]
	soft              bool // it is expected, not promised
	prediction        optional[des.Time]
	corrections       optional[int64]
	predicted         optional[des.Time] // in the end
	wait, execution   optional[des.Time]
	turnaround        optional[des.Time]
	ownEstimate       optional[des.Time]
	runtime           optional[des.Time]
	stretch, slowdown optional[float64]
	backfilled        optional[bool]
	place             []procset.Range
	reason            bool // somebody says why it was killed or rejected
	restarts          optional[int64]
	lost, overhead    optional[des.Time]
	after             optional[[]entity.Dependency]
	paid              optional[money]
}

// optional is a value that may be missing.
type optional[T any] struct {
	value T
	given bool
}

// began and ended report whether the job began, and ended, before the run was stopped.
func (r *row) began() bool { return r.start != des.Forever }
func (r *row) ended() bool { return r.finish != des.Forever }

// DamagedFileError reports a file that cannot be read as a file of its kind.
type DamagedFileError struct {
	File   string // kind of the file: "jobs CSV", "tasks CSV"
	line   int    // from 1; the header is line 1
	column string // name of the column; "" if the error is about the whole line
	err    error
}

func (e *DamagedFileError) Error() string {
	if e.column == "" {
		return fmt.Sprintf("%s, line %d: %v", e.File, e.line, e.err)
	}
	return fmt.Sprintf("%s, line %d, %s: %v", e.File, e.line, e.column, e.err)
}

func (e *DamagedFileError) Unwrap() error { return e.err }

// jobsFile is the name of a jobs CSV in a DamagedFileError.
const jobsFile = "jobs CSV"

// rowReader reads a jobs CSV, or another CSV with a header, row by row. Columns are found by name,
// in any order; unknown ones are passed over.
type rowReader struct {
	file string
	in   *csv.Reader
	// at is the position in the record of each column of the header.
	at map[string]int
	// record is the row under way. It is used again for the next one: what is kept must be cloned.
	record []string
	// line is the line at which the row begins, from 1; the header is line 1. A quoted field may
	// take several lines.
	line int
	// err is the first error within the row. All fields may be read before it is looked at.
	err error
}

// newRowReader reads the header, which must have the needed columns.
func newRowReader(from io.Reader, file string, needed ...string) (*rowReader, error) {
	r := &rowReader{file: file, in: csv.NewReader(from), at: map[string]int{}}
	r.in.ReuseRecord = true
	header, err := r.in.Read()
	if err != nil {
		return nil, r.damaged(err)
	}
	for i, name := range header {
		if !r.has(name) { // where a name stands twice the first one counts
			r.at[strings.Clone(name)] = i
		}
	}
	for _, name := range needed {
		if !r.has(name) {
			return nil, &DamagedFileError{File: file, line: 1, err: fmt.Errorf("no column %s in the header", name)}
		}
	}
	return r, nil
}

// next goes on to the next row, and reports whether there is one. At an error it returns false,
// and leaves the error in r.err.
func (r *rowReader) next() bool {
	record, err := r.in.Read()
	switch {
	case errors.Is(err, io.EOF):
		return false
	case err != nil:
		r.err = r.damaged(err)
		return false
	}
	r.record = record
	r.line, _ = r.in.FieldPos(0)
	return true
}

// damaged says an error of the CSV reader in the words of a user.
func (r *rowReader) damaged(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return &DamagedFileError{File: r.file, line: 1, err: errors.New("the file is empty")}
	case errors.As(err, &parse):
		return &DamagedFileError{File: r.file, line: parse.Line, err: errors.New(csvtext.Wanted(parse))}
	}
	return fmt.Errorf("reading a %s: %w", r.file, err)
}

// fail keeps an error of the row's column, unless there is one already.
func (r *rowReader) fail(column string, err error) {
	if r.err == nil {
		r.err = &DamagedFileError{r.file, r.line, column, err}
	}
}

// has reports whether the header has the column.
func (r *rowReader) has(column string) bool {
	_, ok := r.at[column]
	return ok
}

// text is the field as it stands, "" where the column is missing.
func (r *rowReader) text(column string) string {
	if i, ok := r.at[column]; ok {
		return r.record[i]
	}
	return ""
}

// field reads a field, which may be no empty one unless parse admits it. It is not given if the
// file has no such column.
func field[T any](r *rowReader, column string, parse func(string) (T, error)) optional[T] {
	if !r.has(column) {
		return optional[T]{}
	}
	value, err := parse(r.text(column))
	if err != nil {
		r.fail(column, err)
	}
	return optional[T]{value, err == nil}
}

// known reads a field that may be empty: it is not given then.
func known[T any](r *rowReader, column string, parse func(string) (T, error)) optional[T] {
	if r.text(column) == "" {
		return optional[T]{}
	}
	return field(r, column, parse)
}

// missing makes it an error if the file has one of the columns, and the field is empty.
func (r *rowReader) missing(columns ...string) {
	for _, column := range columns {
		if r.has(column) && r.text(column) == "" {
			r.fail(column, errors.New("it is empty, and the job has one"))
		}
	}
}

// ours reports whether gridslot wrote the file, not Batsim, whose rows are in another order.
func (r *rowReader) ours() bool { return r.has(colBackfilled) }

// ratio reads a ratio. Batsim writes "nan" or "inf" for a job that ran for no time; these are not
// given.
func (r *rowReader) ratio(column string) optional[float64] {
	if _, err := parseRatio(r.text(column)); err != nil && !r.ours() {
		return optional[float64]{}
	}
	return known(r, column, parseRatio)
}

// id returns the job_id of the row, 0 where it is wrong.
func (r *rowReader) id() int64 { return field(r, colID, parseWhole(64)).value }

// read returns the whole row. What is wrong with it is left in r.err.
func (r *rowReader) read() *row {
	f := &row{
		line:        r.line,
		submit:      field(r, colSubmit, parseTime).value,
		nodes:       int(field(r, colNodes, parseWhole(64)).value),
		estimate:    field(r, colEstimate, parseTime).value,
		runtime:     field(r, colActual, parseTime),
		wait:        known(r, colWait, parseTime),
		execution:   known(r, colExecution, parseTime),
		turnaround:  known(r, colTurnaround, parseTime),
		ownEstimate: field(r, colOwnEstimate, parseTime),
		stretch:     r.ratio(colStretch),
		slowdown:    r.ratio(colBoundedSlowdown),
		backfilled:  field(r, colBackfilled, parseBit),
		success:     r.text(colSuccess) == "1",
		state:       strings.Clone(r.text(colState)),
		start:       known(r, colStart, parseTime).value,
		finish:      known(r, colFinish, parseTime).value,
	}
	// Phase 1: the state says which instants there are.
	switch f.state {
	case stateFinished, stateKilled:
	case stateWalltime:
		f.state = stateKilled
	case stateRunning:
		f.finish = des.Forever
	case stateSubmitted, stateRejected:
		f.start, f.finish = des.Forever, des.Forever
	default:
		r.fail(colState, fmt.Errorf("%q is not a state known here", f.state))
	}
	// Phase 2: a field that the state calls for must not be empty.
	if f.began() {
		r.missing(colStart, colWait)
	}
	if f.ended() {
		r.missing(colFinish, colExecution, colTurnaround, colBoundedSlowdown)
		if f.execution.value > 0 {
			r.missing(colStretch)
		}
	}
	if f.finish < f.start {
		r.fail(colFinish, fmt.Errorf("%v is before the start at %v", f.finish, f.start))
	}
	// Phase 3: what only some runs have: promises, predictions, attempts, dependencies, money,
	// places.
	f.soft = strings.HasPrefix(r.text(colMetadata), expectedKey)
	if f.soft || strings.HasPrefix(r.text(colMetadata), promisedKey) {
		f.promise = field(r, colMetadata, parsePromise)
	}
	f.prediction, f.corrections, f.predicted = known(r, colPrediction, parseTime), known(r, colCorrections, parseWhole(64)), known(r, colPredicted, parseTime)
	f.reason = strings.Contains(r.text(colMetadata), reasonKey)
	f.restarts, f.lost, f.overhead = field(r, colRestarts, parseWhole(64)), field(r, colLost, parseTime), field(r, colOverhead, parseTime)
	f.after, f.paid = field(r, colAfter, parseAfter), known(r, colPaid, parseMoney)
	if f.began() {
		f.place = field(r, colAllocated, procset.Parse).value
	}
	return f
}

// parseWhole returns a parser of whole numbers with that many bits.
func parseWhole(bits int) func(string) (int64, error) {
	return func(s string) (int64, error) {
		n, err := strconv.ParseInt(s, 10, bits)
		if err != nil {
			return 0, fmt.Errorf("%q is not a whole number, or too large", s)
		}
		return n, nil
	}
}

// parseTime reads a time in seconds, below des.Forever.
func parseTime(s string) (des.Time, error) {
	t, fault := number.Time(s, des.Forever-1)
	switch fault {
	case number.Sound:
		return t, nil
	case number.OutOfRange:
		return 0, fmt.Errorf("%q is no time within the range of simulated time", s)
	}
	return 0, fmt.Errorf("%q is not a time", s)
}

// parseRatio reads a number, which may be infinite.
func parseRatio(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return x, nil
}

// parseBit reads 0 or 1.
func parseBit(s string) (bool, error) {
	if s != "0" && s != "1" {
		return false, fmt.Errorf("%q is neither 0 nor 1", s)
	}
	return s == "1", nil
}

// parsePromise reads "promised=5;reason=TEXT" and "expected=5;reason=TEXT".
func parsePromise(s string) (des.Time, error) {
	s, _, _ = strings.Cut(s, metadataSeparator)
	return parseTime(strings.TrimPrefix(strings.TrimPrefix(s, promisedKey), expectedKey))
}
