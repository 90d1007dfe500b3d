package workload

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/model"
)

// This file makes jobs of records.

// leastEstimate is the shortest estimate that a job gets. A reservation of no
// length would hold nothing, and logs count whole seconds.
const leastEstimate = des.Second

// jobSlab is how many jobs are allocated at a time, which makes less work for the
// garbage collector. A slab lives as long as any of its jobs.
const jobSlab = 256

// JobStream is one reading of a trace as jobs, in the order of submission. It is
// for one goroutine, but a trace can have any number of readings at a time.
type JobStream struct {
	trace  *Trace
	opts   *Options
	reader LogReader
	closer io.Closer
	read   atomic.Int64

	slab     []entity.Job
	links    []entity.Dependency
	whole    int64         // number of the latest job of which the whole, not a burst, was read
	sorted   []*entity.Job // what is left of a trace that had to be sorted
	isSorted bool
	modelled []des.Time // estimates of the jobs to come
	part     selection
	latest   des.Time // submission of the job before, as in the file
	err      error
	done     bool
}

// Origin is the instant of the log at which the time of the jobs begins: that of the
// first submission taken where submissions are shifted, otherwise 0. It is known once
// a job has been read.
func (s *JobStream) Origin() des.Time {
	if s.part.shift {
		return s.part.origin
	}
	return 0
}

// Open begins a new reading of the trace, from its first job. Close it when
// done, unless Next has returned false.
func (t *Trace) Open() (*JobStream, error) {
	s := &JobStream{trace: t, opts: &t.Options, whole: Unknown, part: t.Options.selection()}
	var err error
	if s.part.factor, err = t.gapFactor(t.load); err != nil {
		return nil, err
	}
	if t.Options.Estimates.Kind == EstimatesTsafrir {
		if s.modelled, err = t.modelled(); err != nil {
			return nil, err
		}
	}
	if s.reader, s.closer, err = t.records(&s.read); err != nil {
		return nil, err
	}
	return s, nil
}

// Jobs yields the trace's jobs from the first one on, in the order of
// submission. Every range over it begins a reading of its own; Err and Report
// tell of the reading that was begun last. If several goroutines read one trace,
// each should Open its own JobStream.
func (t *Trace) Jobs() iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		s, err := t.Open()
		if err != nil {
			s = &JobStream{trace: t, reader: LogReader{NewReader(nil)}, err: err, done: true}
		}
		t.mu.Lock()
		t.last = s
		t.mu.Unlock()
		s.Jobs()(yield)
	}
}

// Err is what ended the latest reading begun by Jobs, or nil at a sound end.
func (t *Trace) Err() error {
	if s := t.latest(); s != nil {
		return s.Err()
	}
	return nil
}

// Report is the account of the latest reading begun by Jobs or, where there was none,
// by Selected; empty before.
func (t *Trace) Report() *Report {
	switch s := t.latest(); {
	case s != nil:
		return s.Report()
	case t.passed != nil:
		return t.passed
	}
	return &Report{}
}

func (t *Trace) latest() *JobStream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Jobs yields the jobs that are left, and closes the stream. Ask Err afterwards.
func (s *JobStream) Jobs() iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		defer s.Close()
		for {
			if j, ok := s.Next(); !ok || !yield(j) {
				return
			}
		}
	}
}

// Err is what ended the reading, or nil at a sound end: what Reader.Err tells,
// or an *OrderError.
func (s *JobStream) Err() error { return s.err }

// Report is the account so far: lines read, jobs made, and what was left out,
// changed or noted. It is complete once Next has returned false.
func (s *JobStream) Report() *Report { return s.reader.Report() }

// BytesRead is how much of the stored file has been read, of Trace.Size; any
// goroutine may ask, to show progress.
func (s *JobStream) BytesRead() int64 { return s.read.Load() }

// Close ends the reading. Closing twice is harmless.
func (s *JobStream) Close() error {
	s.done = true
	s.sorted = nil
	if s.closer == nil {
		return nil
	}
	err := s.closer.Close()
	s.closer = nil
	return err
}

// OrderError is a job submitted before the one above it. A simulation reads
// jobs as its clock goes, so they must come in order.
type OrderError struct {
	Name  string // of the trace
	Line  int64
	Job   int64
	Back  des.Time // how far before the job above
	Total int64    // submissions in the whole file that go backwards
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("%s:%d: job %d was submitted %v s before the job above it, and a simulation needs jobs in the order of submission; %d lines of the file go backwards: --sort puts them in order",
		e.Name, e.Line, e.Job, e.Back, e.Total)
}

// Next is the next job, or false at the end; ask Err then.
func (s *JobStream) Next() (*entity.Job, bool) {
	if s.done {
		return nil, false
	}
	if s.opts.Sort && !s.isSorted {
		s.sort()
	}
	report := s.Report()
	for !s.part.full() {
		j := s.nextInFile()
		if j == nil {
			break
		}
		if !s.part.takes() {
			report.addJob(s.line(), 0, Skipped, j.ID)
			continue
		}
		if j.Submit < s.latest {
			s.fail(j)
			break
		}
		s.latest = j.Submit
		s.place(j)
		if s.modelled != nil {
			s.takeModelled(j)
		}
		report.Jobs++
		return j, true
	}
	for range s.sorted {
		report.add(0, 0, BeyondFirst, nil)
	}
	if err := s.Close(); s.err == nil {
		s.err = err
	}
	return nil, false
}

// takeModelled gives a job the next of the model's estimates. The estimate is
// below the runtime only if the model was given a maximum: then the users of the
// machine could not have run longer, and the runtime is cut.
func (s *JobStream) takeModelled(j *entity.Job) {
	j.Request.Length = max(s.modelled[0], leastEstimate)
	s.modelled = s.modelled[1:]
	if j.Runtime > j.Request.Length {
		s.Report().addJob(s.line(), 4, RuntimeCut, j.ID)
		j.Runtime = j.Request.Length
	}
}

// line is the line number of the job at hand, or 0 after sorting, which loses it.
func (s *JobStream) line() int64 {
	if s.isSorted {
		return 0
	}
	return s.reader.Line()
}

// fail reports that j was submitted before the job above it. It reads the rest of
// the file to count all lines that go backwards.
func (s *JobStream) fail(j *entity.Job) {
	e := &OrderError{Name: s.trace.Name, Line: s.line(), Job: j.ID, Back: s.latest - j.Submit}
	for s.reader.Next() {
	}
	e.Total = s.Report().Count(BackwardsSubmission)
	s.err = errors.Join(e, s.reader.Err())
}

// nextInFile is the next job as it stands in the file, or nil at the end.
func (s *JobStream) nextInFile() *entity.Job {
	if s.isSorted {
		if len(s.sorted) == 0 {
			return nil
		}
		j := s.sorted[0]
		s.sorted = s.sorted[1:]
		return j
	}
	for s.reader.Next() {
		if j := s.job(s.reader.Record()); j != nil || s.err != nil {
			return j
		}
	}
	s.err = s.reader.Err()
	return nil
}

// sort reads all jobs and puts them in the order of submission. Jobs submitted at
// the same instant stay in the order of the file.
func (s *JobStream) sort() {
	for j := s.nextInFile(); j != nil; j = s.nextInFile() {
		s.sorted = append(s.sorted, j)
	}
	s.isSorted = true
	if s.err != nil {
		s.sorted = nil
		return
	}
	sortBySubmission(s.sorted)
}

// job makes a job of a record. It returns nil, and tells the report why, if the
// record makes none.
func (s *JobStream) job(rec *Record) *entity.Job {
	report, line := s.Report(), s.reader.Line()
	if partial(rec.Status) && rec.Job == s.whole {
		report.addJob(line, 11, PartialRun, rec.Job)
		return nil
	}
	if !partial(rec.Status) {
		s.whole = rec.Job
	}
	if s.trace.where != nil && !s.trace.where(rec, line) {
		report.addJob(line, 0, Filtered, rec.Job)
		return nil
	}
	size, filled := s.opts.ProcsFrom.Size(rec)
	switch {
	case rec.Status == StatusCancelled && (rec.Runtime <= 0 || size <= 0):
		report.addJob(line, 11, CancelledBeforeStart, rec.Job)
		return nil
	case rec.Runtime < 0:
		report.addJob(line, 4, NoRuntime, rec.Job)
		return nil
	case size <= 0:
		report.addJob(line, 8, NoProcessors, rec.Job)
		return nil
	case size > maxSize: // some formats hold larger numbers than SWF
		report.addJob(line, 8, OutOfRange, rec.Job)
		if s.opts.Strict {
			s.err = &LineError{Name: s.trace.Name, Finding: Finding{Line: line, Field: 8, Reason: OutOfRange, Text: strconv.FormatInt(size, 10)}}
		}
		return nil
	case rec.Submit < 0: // a burst without its summary
		report.addJob(line, 2, PartialRun, rec.Job)
		return nil
	case rec.Estimate <= 0 && s.opts.Estimates.Kind == EstimatesUser && s.opts.MissingEstimate.Kind == MissingDrop:
		report.addJob(line, 9, NoEstimate, rec.Job)
		return nil
	}
	if filled {
		report.addJob(line, 8, SizeFilled, rec.Job)
	} else if rec.Requested != rec.Allocated && min(rec.Requested, rec.Allocated) > 0 {
		report.addJob(line, 8, SizesDiffer, rec.Job)
	}
	if rec.Runtime == 0 {
		report.addJob(line, 4, ZeroRuntime, rec.Job)
	}
	j := s.allocate()
	switch {
	case s.opts.Extra != nil:
		j.Extra = s.opts.Extra(rec)
	case rec.More != nil:
		j.Extra = &columns{s.trace.Header.Columns, slices.Clone(rec.More)}
	}
	j.ID = rec.Job
	j.Submit = rec.Submit
	j.Runtime = rec.Runtime
	j.Recorded = entity.Waited(rec.Wait)
	j.Request.Nodes = int(size)
	j.User = s.owner(12, rec.User)
	j.Group = s.owner(13, rec.Group)
	j.Queue = s.owner(15, rec.Queue)
	if n := rec.Executable; n > 0 && n <= math.MaxInt32 {
		j.Application = int32(n)
	}
	if s.opts.Feedback {
		if j.After = s.opts.After[rec.Job]; j.After == nil && rec.Preceding >= 0 {
			j.After = s.after(entity.Dependency{Job: rec.Preceding, Think: max(rec.ThinkTime, 0)})
		}
	}
	s.estimate(j, rec)
	return j
}

// after is a list of one, of which many are allocated at a time.
func (s *JobStream) after(d entity.Dependency) []entity.Dependency {
	if len(s.links) == cap(s.links) {
		s.links = make([]entity.Dependency, 0, jobSlab)
	}
	s.links = append(s.links, d)
	return slices.Clip(s.links[len(s.links)-1:])
}

// place moves a job's submission, and with it what columns tell of instants.
func (s *JobStream) place(j *entity.Job) {
	came := j.Submit
	j.Submit = s.part.place(came)
	if c, ok := j.Extra.(*columns); ok {
		moveInstants(c.of, c.values, j.Submit-came)
	}
}

// columns are what a job's record tells beyond the fields of SWF, for orders by a formula.
type columns struct {
	of     []Column
	values []Value
}

// Column is a value by the name of its column; see entity.Columns.
func (c *columns) Column(name string) (number float64, text string) {
	for i := range c.values {
		if c.of[i].Name == name {
			return c.values[i].Number, c.values[i].Text
		}
	}
	return UnknownValue.Number, ""
}

// Size is the number of processors of a job, or at most 0 if it is unknown.
// filled reports that it was taken from the field that was not asked for.
func (p ProcsFrom) Size(rec *Record) (n int64, filled bool) {
	switch p {
	case ProcsAllocated:
		n = rec.Allocated
	case ProcsRequested:
		n = rec.Requested
	}
	if n > 0 {
		return n, false
	}
	n = max(rec.Requested, rec.Allocated)
	return n, p != ProcsMax && n > 0
}

// estimate sets the runtime that the scheduler is told.
func (s *JobStream) estimate(j *entity.Job, rec *Record) {
	o, report, line := s.opts, s.Report(), s.reader.Line()
	length := &j.Request.Length
	switch o.Estimates.Kind {
	case EstimatesTsafrir:
		return // see takeModelled
	case EstimatesExact:
		*length = j.Runtime
	case EstimatesFactor:
		*length = des.Time(min(math.Round(float64(j.Runtime)*o.Estimates.Factor), float64(maxTime)))
	case EstimatesFModel:
		*length = min(o.Estimates.fmodel(o.Seed).Estimate(rec.Job, j.Runtime), des.Time(maxTime))
	default:
		*length = rec.Estimate
		if rec.Estimate <= 0 {
			report.addJob(line, 9, EstimateFilled, rec.Job)
			*length = j.Runtime
			if o.MissingEstimate.Kind == MissingValue {
				*length = o.MissingEstimate.Value
			}
		}
	}
	if *length < leastEstimate {
		report.addJob(line, 9, EstimateBelowSecond, rec.Job)
		*length = leastEstimate
	}
	if *length >= j.Runtime {
		return
	}
	if o.Overrun == entity.OverrunRaise {
		report.addJob(line, 9, EstimateRaised, rec.Job)
		*length = j.Runtime
	} else {
		report.addJob(line, 9, RuntimeAboveEstimate, rec.Job)
	}
}

// owner is a user, group or queue number as jobs hold it.
func (s *JobStream) owner(field int, n int64) int32 {
	if int64(int32(n)) != n {
		s.Report().addNumber(s.reader.Line(), field, OwnerBeyondRange, n)
		return Unknown
	}
	return int32(n)
}

func (s *JobStream) allocate() *entity.Job {
	if len(s.slab) == 0 {
		s.slab = make([]entity.Job, jobSlab)
	}
	j := &s.slab[0]
	s.slab = s.slab[1:]
	return j
}

// OfferedLoad is the load that the selected jobs (Skip, First) offer to the
// machine, before any scaling: the sum of size times runtime over all jobs
// that fit it, divided by processors times the time from the first to the last
// submission. It reads the trace once, on the first call.
func (t *Trace) OfferedLoad() (float64, error) {
	l, err := t.load()
	if err != nil {
		return 0, err
	}
	procs, err := t.Procs()
	return l.load(procs), err
}

func (t *Trace) measure() (loadMeter, error) {
	procs, err := t.Procs()
	if err != nil {
		return loadMeter{}, err
	}
	jobs, err := t.survey()
	if err != nil {
		return loadMeter{}, err
	}
	var l loadMeter
	for j := range jobs.Jobs() {
		if j.Request.Nodes <= procs {
			l.add(j.Submit, j.Request.Nodes, j.Runtime)
		}
	}
	return l, jobs.Err()
}

// tsafrir draws the model's estimates for the selected jobs.
func (t *Trace) tsafrir() ([]des.Time, error) {
	jobs, err := t.survey()
	if err != nil {
		return nil, err
	}
	estimates, err := model.Tsafrir{Max: t.Options.Estimates.Max}.EstimatesOf(jobs.Jobs(), des.NewStream(t.Options.Seed, 0, "workload/estimates"))
	switch {
	case jobs.Err() != nil:
		return nil, jobs.Err()
	case err != nil:
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return estimates, nil
}

// survey begins a reading of the selected jobs ahead of the simulation. The jobs
// have the estimates of the file, and their submissions are neither scaled nor
// moved.
func (t *Trace) survey() (*JobStream, error) {
	plain := Trace{Name: t.Name, Format: t.Format, Header: t.Header, MaxProcs: t.MaxProcs, Options: t.Options, source: t.source, where: t.where}
	o := &plain.Options
	o.Load, o.Shift, o.Extra, o.Feedback = 0, false, nil, false
	if o.Estimates.Kind != EstimatesUser { // then no job is left out for a missing estimate
		o.Estimates, o.MissingEstimate = Estimates{}, MissingEstimate{}
	}
	return plain.Open()
}
