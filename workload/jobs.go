package workload

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/model"
)

// This file reads a trace as jobs. A reading is a chain of sources, each of which takes jobs from
// the one before it:
//
//	records --> maker --> sorted --> chosen --> ordered --> moved --> modelled --> JobStream.Next
//	            rules.go  Sort       Skip,      an error    Load,     Estimates
//	                                 First                  Shift

// source gives the next job and the line it stands in, 0 where that is not known, or nil at the end.
// It stands in place of an iter.Seq2 because a simulation asks for one job at a time: the iter.Pull
// which that takes costs 240 ns a job, beside some 500 ns for all of its reading.
type source func() (j *entity.Job, line int64)

// JobStream is one reading of a trace as jobs, in the order of submission. A JobStream is for one
// goroutine; a trace may have any number of readings at a time.
type JobStream struct {
	trace  *Trace
	reader LogReader
	closer io.Closer    // of the file; nil when the reading is over
	read   atomic.Int64 // bytes of the stored file so far

	jobs source    // the end of the chain; nil when the reading is over
	part selection // what is still to be skipped, taken and moved
	err  error     // what ended the reading; each source of the chain may set it
	done bool      // Next has nothing more to give
}

// Origin returns the instant of the log that is time 0 of the jobs: the first submission if
// submissions are shifted, otherwise 0. It is known after the first job.
func (s *JobStream) Origin() des.Time {
	if s.part.shift {
		return s.part.origin
	}
	return 0
}

// Open begins a new reading of the trace, from its first job. Close it when
// done, unless Next has returned false.
func (t *Trace) Open() (*JobStream, error) {
	// What takes a pass of its own over the trace is found first, once for all readings: the load, by
	// which arrivals are scaled, and estimates that depend on all runtimes.
	o := &t.Options
	s := &JobStream{trace: t, part: o.Part.selection()}
	var err error
	if s.part.factor, err = t.gapFactor(t.load); err != nil {
		return nil, err
	}
	var estimates []des.Time
	if o.Estimates.Kind == EstimatesTsafrir {
		if estimates, err = t.modelled(); err != nil {
			return nil, err
		}
	}
	if s.reader, s.closer, err = t.records(&s.read); err != nil {
		return nil, err
	}
	// The chain, in the order of the fields of Part.
	s.jobs = s.made()
	if o.Sort {
		s.jobs = s.sorted(s.jobs)
	}
	s.jobs = s.moved(s.ordered(s.chosen(s.jobs)))
	if estimates != nil {
		s.jobs = s.modelled(s.jobs, estimates)
	}
	return s, nil
}

// made are the jobs of the records in the order of the file.
func (s *JobStream) made() source {
	m := s.trace.maker(s.Report())
	return func() (*entity.Job, int64) {
		for s.reader.Next() {
			j, err := m.job(s.reader.Record(), s.reader.Line())
			if s.err = err; j != nil || err != nil {
				return j, s.reader.Line()
			}
		}
		s.err = s.reader.Err()
		return nil, 0
	}
}

// sorted reads all jobs and puts them in the order of submission, where the lines are not known any
// more. Jobs submitted at the same instant stay in the order of the file.
func (s *JobStream) sorted(from source) source {
	var all []*entity.Job
	read := false
	return func() (*entity.Job, int64) {
		if !read {
			read = true
			for j, _ := from(); j != nil; j, _ = from() {
				all = append(all, j)
			}
			if s.err != nil {
				all = nil
			}
			sortBySubmission(all)
		}
		if len(all) == 0 {
			return nil, 0
		}
		j := all[0]
		all = all[1:]
		return j, 0
	}
}

// chosen are the jobs of the part that is taken. Those behind it are read and counted only where all
// of the trace has been read to sort it.
func (s *JobStream) chosen(from source) source {
	return func() (*entity.Job, int64) {
		for !s.part.full() {
			j, line := from()
			if j == nil || s.part.takes() {
				return j, line
			}
			s.Report().addJob(line, 0, Skipped, j.ID)
		}
		if s.trace.Options.Sort {
			for j, _ := from(); j != nil; j, _ = from() {
				s.Report().add(0, 0, BeyondFirst, nil)
			}
		}
		return nil, 0
	}
}

// ordered ends with an *OrderError at a job that was submitted before the one above it. It reads the
// rest of the file then, to count all lines that go backwards.
func (s *JobStream) ordered(from source) source {
	var latest des.Time
	return func() (*entity.Job, int64) {
		j, line := from()
		if j == nil || j.Submit >= latest {
			if j != nil {
				latest = j.Submit
			}
			return j, line
		}
		e := &OrderError{name: s.trace.Name, line: line, job: j.ID, back: latest - j.Submit}
		for s.reader.Next() {
		}
		e.total = s.Report().Count(BackwardsSubmission)
		s.err = errors.Join(e, s.reader.Err())
		return nil, 0
	}
}

// moved moves submissions, and with them what columns tell of instants.
func (s *JobStream) moved(from source) source {
	return func() (*entity.Job, int64) {
		j, line := from()
		if j == nil {
			return nil, 0
		}
		came := j.Submit
		j.Submit = s.part.place(came)
		if c, ok := j.Extra.(*columns); ok {
			moveInstants(c.of, c.values, j.Submit-came)
		}
		return j, line
	}
}

// modelled gives each job the next of a model's estimates. An estimate is below the runtime only if
// the model was given a maximum: then the users of the machine could not have run longer, and the
// runtime is cut.
func (s *JobStream) modelled(from source, estimates []des.Time) source {
	return func() (*entity.Job, int64) {
		j, line := from()
		if j == nil {
			return nil, 0
		}
		j.Request.Length = max(estimates[0], leastEstimate)
		estimates = estimates[1:]
		if j.Runtime > j.Request.Length {
			s.Report().addJob(line, 4, RuntimeCut, j.ID)
			j.Runtime = j.Request.Length
		}
		return j, line
	}
}

// Next returns the next job, or false at the end. Call Err then.
func (s *JobStream) Next() (*entity.Job, bool) {
	if s.done {
		return nil, false
	}
	if j, _ := s.jobs(); j != nil {
		s.Report().Jobs++
		return j, true
	}
	if err := s.Close(); s.err == nil {
		s.err = err
	}
	return nil, false
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

// Err returns the error that ended the latest reading begun by Jobs, or nil if that reading came to
// a sound end.
func (t *Trace) Err() error {
	if s := t.latest(); s != nil {
		return s.Err()
	}
	return nil
}

// Report is the tally of the latest reading begun by Jobs or, where there was none,
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

// latest is the reading that Jobs or Estimated has begun last, or nil.
func (t *Trace) latest() *JobStream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Jobs yields the remaining jobs and closes the stream. Call Err afterwards.
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

// Err returns the error that ended the reading, or nil at a sound end: an error of Reader.Err, or
// an *OrderError.
func (s *JobStream) Err() error { return s.err }

// Report returns the tally up to now: lines read, jobs made, and what was left out, changed or
// noted. It is complete when Next has returned false.
func (s *JobStream) Report() *Report { return s.reader.Report() }

// BytesRead returns how many of the Trace.Size bytes of the stored file have been read. Any
// goroutine may call it to show progress.
func (s *JobStream) BytesRead() int64 { return s.read.Load() }

// Close ends the reading. Closing twice is harmless.
func (s *JobStream) Close() error {
	s.done, s.jobs = true, nil
	if s.closer == nil {
		return nil
	}
	err := s.closer.Close()
	s.closer = nil
	return err
}

// OrderError reports a job that was submitted before the job above it. A simulation reads jobs as
// its clock advances, so they must come in order.
type OrderError struct {
	name  string   // of the trace
	line  int64    // where the job stands, from 1
	job   int64    // its number
	back  des.Time // how far before the job above
	total int64    // submissions in the whole file that go backwards
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("%s:%d: job %d was submitted %v s before the job above it, and a simulation needs jobs in the order of submission; %d lines of the file go backwards: --sort puts them in order",
		e.name, e.line, e.job, e.back, e.total)
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
	return l.Over(float64(procs)), err
}

// measure is the pass of OfferedLoad over the trace.
func (t *Trace) measure() (entity.OfferedLoad, error) {
	procs, err := t.Procs()
	if err != nil {
		return entity.OfferedLoad{}, err
	}
	jobs, err := t.survey()
	if err != nil {
		return entity.OfferedLoad{}, err
	}
	var l entity.OfferedLoad
	for j := range jobs.Jobs() {
		if j.Request.Nodes <= procs {
			l.Add(j.Submit, j.Request.Nodes, j.Runtime)
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
	// A copy, so that its options can be others and its Err and Report are not those of t.
	plain := Trace{Name: t.Name, Format: t.Format, Header: t.Header, MaxProcs: t.MaxProcs, Options: t.Options, source: t.source, where: t.where}
	o := &plain.Options
	o.Load, o.Shift, o.Extra, o.Feedback = 0, false, nil, false
	if o.Estimates.Kind != EstimatesUser { // then no job is left out for a missing estimate
		o.Estimates, o.MissingEstimate = Estimates{}, MissingEstimate{}
	}
	return plain.Open()
}
