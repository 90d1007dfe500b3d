package workload

import (
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// This file makes a job of a record, by the conventions of the options.

// leastEstimate is the shortest estimate that a job gets. A reservation of no
// length would hold nothing, and logs count whole seconds.
const leastEstimate = des.Second

// jobSlab is the number of jobs that are allocated at a time, to spare the garbage collector. A
// slab lives as long as any of its jobs.
const jobSlab = 256

// maker makes the jobs of one reading of a trace.
type maker struct {
	*Conventions
	trace  *Trace
	report *Report // of the reading; it is told of each record that makes no job, and of each oddity

	whole int64               // number of the latest job of which the whole, not a burst, was read
	slab  []entity.Job        // allocated and not given out yet
	links []entity.Dependency // a slab whose elements up to len are given out
}

// maker begins a reading, which tells a report of what makes no job.
func (t *Trace) maker(report *Report) *maker {
	return &maker{Conventions: &t.Options.Conventions, trace: t, report: report, whole: Unknown}
}

// job makes a job of the record in a line. It returns nil, and tells the report why, if the
// record makes none; an error, a *lineError, ends a strict reading.
func (m *maker) job(rec *Record, line int64) (*entity.Job, error) {
	// Bursts of a checkpointed job (status 2 to 4) follow the line of the whole job, which counts.
	report := m.report
	if partial(rec.Status) && rec.Job == m.whole {
		report.addJob(line, 11, PartialRun, rec.Job)
		return nil, nil
	}
	if !partial(rec.Status) {
		m.whole = rec.Job
	}
	if m.trace.where != nil && !m.trace.where(rec, line) {
		report.addJob(line, 0, Filtered, rec.Job)
		return nil, nil
	}

	// The filter came before this, so that records which it leaves out are not counted as faulty.
	size, filled := m.ProcsFrom.Size(rec)
	if field, why := m.refuses(rec, size); field > 0 {
		report.addJob(line, field, why, rec.Job)
		if why == OutOfRange && m.trace.Options.Strict {
			return nil, &lineError{Name: m.trace.Name, Finding: Finding{Line: line, Field: field, Reason: why, Text: strconv.FormatInt(size, 10)}}
		}
		return nil, nil
	}

	report.oddities(rec, line, filled)

	// The job: fields of SWF, and columns beyond them for filters and policies.
	j := m.allocate()
	switch {
	case m.Extra != nil:
		j.Extra = m.Extra(rec)
	case rec.More != nil:
		j.Extra = &columns{m.trace.Header.Columns, slices.Clone(rec.More)}
	}
	j.ID = rec.Job
	j.Submit = rec.Submit
	j.Runtime = rec.Runtime
	j.Recorded = entity.Waited(rec.Wait)
	j.Request.Nodes = int(size)
	j.User = m.owner(line, 12, rec.User)
	j.Group = m.owner(line, 13, rec.Group)
	j.Queue = m.owner(line, 15, rec.Queue)
	if n := rec.Executable; n > 0 && n <= math.MaxInt32 {
		j.Application = int32(n)
	}
	if m.Feedback {
		if j.After = m.After[rec.Job]; j.After == nil && rec.Preceding >= 0 {
			j.After = m.after(entity.Dependency{Job: rec.Preceding, Think: max(rec.ThinkTime, 0)})
		}
	}
	m.estimate(j, rec, line)
	return j, nil
}

// oddities notes what is odd about a record that makes a job; filled is as of Size.
func (r *Report) oddities(rec *Record, line int64, filled bool) {
	if filled {
		r.addJob(line, 8, sizeFilled, rec.Job)
	} else if rec.Requested != rec.Allocated && min(rec.Requested, rec.Allocated) > 0 {
		r.addJob(line, 8, sizesDiffer, rec.Job)
	}
	if rec.Runtime == 0 {
		r.addJob(line, 4, zeroRuntime, rec.Job)
	}
}

// refuses says why a record with a size, which is not above 0 if it is unknown, makes no job, and in
// which field that shows; the field is 0 if it makes one. What comes first is told: a job that was
// cancelled has neither runtime nor processors, but the cancellation is the reason.
func (m *maker) refuses(rec *Record, size int64) (field int, why Reason) {
	switch {
	case rec.Status == StatusCancelled && (rec.Runtime <= 0 || size <= 0):
		return 11, cancelledBeforeStart
	case rec.Runtime < 0:
		return 4, noRuntime
	case size <= 0:
		return 8, noProcessors
	case size > maxSize: // some formats hold larger numbers than SWF
		return 8, OutOfRange
	case rec.Submit < 0: // a burst without its summary
		return 2, PartialRun
	case rec.Estimate <= 0 && m.Estimates.Kind == EstimatesUser && m.MissingEstimate.kind == missingDrop:
		return 9, noEstimate
	}
	return 0, 0
}

// after returns a list of one element. Elements are allocated in slabs to spare the garbage collector.
func (m *maker) after(d entity.Dependency) []entity.Dependency {
	if len(m.links) == cap(m.links) {
		m.links = make([]entity.Dependency, 0, jobSlab)
	}
	m.links = append(m.links, d)
	return slices.Clip(m.links[len(m.links)-1:])
}

// columns are the values of a job's record beyond the fields of SWF, for orders by a formula. They
// are the job's Extra, unless Conventions.Extra makes another.
type columns struct {
	of     []Column // of the header, shared by all jobs
	values []Value  // the job's own; len(values) == len(of)
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

// Size returns the number of processors of a job, or at most 0 if it is unknown. filled reports
// that the selected field is unknown and the other one was taken.
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

// estimate sets the runtime that the scheduler is told: the log's or one of a rule, then raised to a
// second, and to the runtime if Overrun is OverrunRaise. Estimates of Tsafrir's model are given when
// all jobs are known.
func (m *maker) estimate(j *entity.Job, rec *Record, line int64) {
	o, report := m.Conventions, m.report
	length := &j.Request.Length
	switch o.Estimates.Kind {
	case EstimatesTsafrir:
		return // see JobStream.modelled
	case EstimatesExact:
		*length = j.Runtime
	case EstimatesFactor:
		*length = des.Time(min(math.Round(float64(j.Runtime)*o.Estimates.Factor), float64(maxTime)))
	case EstimatesFModel:
		*length = min(o.Estimates.fmodel(o.Seed).Estimate(rec.Job, j.Runtime), des.Time(maxTime))
	default:
		*length = rec.Estimate
		if rec.Estimate <= 0 {
			report.addJob(line, 9, estimateFilled, rec.Job)
			*length = j.Runtime
			if o.MissingEstimate.kind == missingValue {
				*length = o.MissingEstimate.value
			}
		}
	}
	if *length < leastEstimate {
		report.addJob(line, 9, estimateBelowSecond, rec.Job)
		*length = leastEstimate
	}
	if *length >= j.Runtime {
		return
	}
	if o.Overrun == entity.OverrunRaise {
		report.addJob(line, 9, estimateRaised, rec.Job)
		*length = j.Runtime
	} else {
		report.addJob(line, 9, runtimeAboveEstimate, rec.Job)
	}
}

// owner is a user, group or queue number as jobs hold it.
func (m *maker) owner(line int64, field int, n int64) int32 {
	if int64(int32(n)) != n {
		m.report.addNumber(line, field, ownerBeyondRange, n)
		return Unknown
	}
	return int32(n)
}

// allocate returns a new job, of a slab.
func (m *maker) allocate() *entity.Job {
	if len(m.slab) == 0 {
		m.slab = make([]entity.Job, jobSlab)
	}
	j := &m.slab[0]
	m.slab = m.slab[1:]
	return j
}
