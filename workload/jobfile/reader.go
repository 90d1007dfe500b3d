package jobfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// Reader reads jobs, in the order of submission. Set the exported fields before
// the first call of Next.
//
//	r := jobfile.NewReader(file, jobfile.CSV)
//	r.Criterion = finderByName
//	for job, ok := r.Next(); ok; job, ok = r.Next() { ... }
//	err := r.Err()
type Reader struct {
	// Name is the name of the file in messages; "" means "job file".
	Name string
	// Criterion returns the criterion of a name. The Name of that criterion must be the same name.
	// It is called once for each name. If it is nil, a job with a criterion is an error.
	Criterion func(name string) (entity.Criterion, error)

	json     bool             // the file is of JSON; otherwise of CSV
	scanner  jsontext.Scanner // of objects of JSON
	lines    *bufio.Scanner
	header   []column                      // of CSV, by position; nil before the heading is read
	row      row                           // the texts of the present job
	line     int64                         // of it, from 1
	ids      scan.NumberSet                // of the jobs so far
	latest   des.Time                      // submission of the job before
	given    [numColumns]int64             // see Given
	criteria map[string]entity.Criterion   // by name: those that Criterion has made
	needs    map[string]*entity.Attributes // by text, at most kept of them
	slab     []entity.Job                  // allocated and not given out yet
	text     string                        // the latest text of column after
	after    []entity.Dependency           // what it says
	links    int                           // jobs that others come after, so far; at most mostInAll
	inArrays int64                         // tasks of all arrays so far; at most mostInAll
	tasks    int64                         // tasks of the present array that are still to come
	task     entity.Job                    // the latest of these
	err      error                         // what ended the reading; io.EOF at a sound end
}

// NewReader reads plain text; see Options.Open for files.
func NewReader(in io.Reader, f Format) *Reader {
	r := &Reader{
		json: f == JSONL, lines: bufio.NewScanner(in), ids: scan.NewNumberSet(),
		criteria: map[string]entity.Criterion{}, needs: map[string]*entity.Attributes{},
	}
	r.lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	return r
}

// maxLine bounds a line, in bytes.
const maxLine = 1 << 20

// nextLine is the next line that is not blank, or io.EOF.
func (r *Reader) nextLine() (string, error) {
	for r.lines.Scan() {
		r.line++
		text := r.lines.Text()
		if r.line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if strings.TrimSpace(text) != "" {
			return text, nil
		}
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		r.line++
		return "", fmt.Errorf("the line is longer than %d bytes", maxLine)
	case err != nil:
		return "", err
	}
	return "", io.EOF
}

// Err returns the error that ended the reading, a *workload.FileError or the error of the input, or nil at a
// sound end.
func (r *Reader) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// Given tells how many of the jobs read so far state anything in a column.
func (r *Reader) Given(name string) int64 {
	c, err := columnOf(name)
	if err != nil {
		return 0
	}
	return r.given[c]
}

// Next is the next job, or false at the end; ask Err then. The file must state
// the jobs in the order of submission.
func (r *Reader) Next() (*entity.Job, bool) {
	if r.err != nil {
		return nil, false
	}
	if r.tasks > 0 {
		j := r.nextTask()
		return j, j != nil
	}
	r.row = row{}
	next := r.nextCSV
	if r.json {
		next = r.nextJSON
	}
	if err := next(); err != nil {
		r.fail("", err)
		return nil, false
	}
	j := r.job()
	return j, j != nil
}

// fail ends the reading with an error about a column, or the line if that is "". The first one counts.
// A *workload.FileError and io.EOF stay as they are.
func (r *Reader) fail(column string, err error) {
	if r.err != nil {
		return
	}
	var sound *workload.FileError
	if errors.Is(err, io.EOF) || errors.As(err, &sound) {
		r.err = err
		return
	}
	name := r.Name
	if name == "" {
		name = "job file"
	}
	r.err = &workload.FileError{Name: name, Line: r.line, Field: column, Err: err}
}

// slab is the number of jobs that are allocated at a time.
const slab = 256

// next is the place of the next job.
func (r *Reader) next() *entity.Job {
	if len(r.slab) == 0 {
		r.slab = make([]entity.Job, slab)
	}
	return &r.slab[0]
}

// job makes a job of the row at hand, or nil. Every column is read; the first that is wrong ends the
// reading. Of an array the first task is made, and nextTask makes the others.
func (r *Reader) job() *entity.Job {
	// What is given at all, and whether that is enough.
	j := r.next()
	for _, c := range needed {
		if r.row[c] == "" {
			r.fail(c.String(), errors.New("it is not given, and every job needs it"))
			return nil
		}
	}
	for c, text := range r.row {
		if text != "" {
			r.given[c]++
		}
	}
	// The values. Each function ends the reading at the first that is wrong, and returns something.
	q := &j.Request
	j.ID = r.whole(colID, 0, math.MaxInt64, 0)
	j.Submit = r.time(colSubmit, 0)
	q.Nodes = int(r.whole(colNodes, 1, math.MaxInt32, 0))
	q.Length = r.positive(colVolume)
	j.Runtime = r.time(colRuntime, q.Length)
	q.MinPerf = r.limit(colMinPerf)
	q.MaxPrice = r.limit(colMaxPrice)
	q.Budget = r.limit(colBudget)
	q.Deadline = r.positive(colDeadline)
	q.Needs = r.attributes()
	q.Criterion = r.criterion()
	j.User = int32(r.whole(colUser, 0, math.MaxInt32, -1))
	j.Group = int32(r.whole(colGroup, 0, math.MaxInt32, -1))
	j.Queue = int32(r.whole(colQueue, 0, math.MaxInt32, -1))
	j.After = r.predecessors()
	// An array: its tasks have successive numbers, and no two jobs one number.
	tasks := r.whole(colArray, 1, mostTasks, 1)
	if r.err == nil && tasks > math.MaxInt64-j.ID {
		r.fail(colArray.String(), fmt.Errorf("the last of %d tasks from job %d on has no number", tasks, j.ID))
	}
	if tasks > 1 {
		if r.inArrays += tasks; r.err == nil && r.inArrays > mostInAll {
			r.fail(colArray.String(), fmt.Errorf("the arrays up to this one have more than %d tasks altogether: split the file", mostInAll))
		}
	}
	if r.err == nil {
		r.check(j)
	}
	if r.err != nil {
		return nil
	}
	r.slab = r.slab[1:]
	if r.tasks = tasks - 1; r.tasks > 0 {
		r.task = *j
	}
	return j
}

// mostTasks bounds an array, and the jobs of a range; mostInAll the tasks of all arrays of a
// file, and all jobs that others in it come after: those are kept in memory.
const (
	mostTasks = 1_000_000
	mostInAll = 10_000_000
)

// nextTask is the next task of the array at hand, or nil. It is the same job under
// the next number.
func (r *Reader) nextTask() *entity.Job {
	r.tasks--
	r.task.ID++
	if r.check(&r.task); r.err != nil {
		return nil
	}
	j := r.next()
	*j, r.slab = r.task, r.slab[1:]
	return j
}

// predecessors are the jobs that this one comes after. Jobs that say so in the same
// words share them.
func (r *Reader) predecessors() []entity.Dependency {
	if text := r.row[colAfter]; text != r.text {
		var err error
		if r.after, err = parseAfter(text); err != nil {
			r.fail(colAfter.String(), err)
		}
		if r.links += len(r.after); r.links > mostInAll {
			r.fail(colAfter.String(), fmt.Errorf("the jobs up to this one come after more than %d others altogether: link each job to its last predecessors only", mostInAll))
		}
		r.text = text
	}
	return r.after
}

// check holds a job against those above it: its number must be new, and its submission no earlier.
func (r *Reader) check(j *entity.Job) {
	if !r.ids.Next(j.ID) {
		if _, twice := r.ids.Add(j.ID); twice {
			r.fail(colID.String(), fmt.Errorf("a second job %d", j.ID))
			return
		}
	}
	if j.Submit < r.latest {
		r.fail(colSubmit.String(), fmt.Errorf("job %d is submitted at %v, %v before the job above it: sort the file by submission", j.ID, j.Submit, r.latest-j.Submit))
		return
	}
	r.latest = j.Submit
}

// wrong ends the reading with what is wanted in a column of the present row.
func (r *Reader) wrong(c column, want string) { r.fail(c.String(), wrong(want, r.row[c])) }

// whole is a whole number, or otherwise where it is not given.
func (r *Reader) whole(c column, least, most, otherwise int64) int64 {
	if r.row[c] == "" {
		return otherwise
	}
	v, fault := number.Whole(r.row[c], math.MaxInt64)
	if fault != number.Sound || v < least || v > most {
		want := fmt.Sprintf("a whole number of %d or more", least)
		if most < math.MaxInt64 {
			want += fmt.Sprintf(", at most %d", most)
		}
		r.wrong(c, want)
	}
	return v
}

// time is a time of 0 or more, or otherwise if it is not given.
func (r *Reader) time(c column, otherwise des.Time) des.Time {
	if r.row[c] == "" {
		return otherwise
	}
	t, ok := parseTime(r.row[c])
	if !ok {
		r.wrong(c, fmt.Sprintf("a time of 0 to %d time units", int64(workload.MaxTime/des.Second)))
	}
	return t
}

// positive is a time above 0, or 0 where it is not given.
func (r *Reader) positive(c column) des.Time {
	t := r.time(c, 0)
	if t == 0 && r.row[c] != "" {
		r.wrong(c, "a time above 0 (of a millionth or more)")
	}
	return t
}

// limit is a number above 0, or 0 where there is no limit.
func (r *Reader) limit(c column) float64 {
	if r.row[c] == "" {
		return 0
	}
	v, ok := parseLimit(r.row[c])
	if !ok {
		r.wrong(c, "a number above 0, or nothing for no limit")
	}
	return v
}

// kept is the number of different texts of needs that are remembered.
const kept = 1 << 12

// attributes are the needs. Jobs whose needs are the same text share them.
func (r *Reader) attributes() *entity.Attributes {
	text := r.row[colNeeds]
	if text == "" {
		return nil
	}
	if known, ok := r.needs[text]; ok {
		return known
	}
	parse := parseNeeds
	if r.json {
		parse = jsonNeeds
	}
	needs, err := parse(text)
	if err != nil {
		r.fail(colNeeds.String(), err)
		return nil
	}
	if len(r.needs) < kept {
		r.needs[text] = needs
	}
	return needs
}

// criterion is the user's own criterion, or nil. Jobs with one name share it.
func (r *Reader) criterion() entity.Criterion {
	name := r.row[colCriterion]
	if name == "" {
		return nil
	}
	c, known := r.criteria[name]
	if known {
		return c
	}
	err := errors.New("criteria are not known here")
	if r.Criterion != nil {
		if c, err = r.Criterion(name); err == nil && c.Name() != name {
			err = fmt.Errorf("%q gives the criterion %q, which must have the name that it was asked for by", name, c.Name())
		}
	}
	if err != nil {
		r.fail(colCriterion.String(), err)
		return nil
	}
	r.criteria[name] = c
	return c
}
