package workload

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// This file chooses a part of a workload and moves its submissions. The same
// rule, type selection, serves the jobs of a trace, its records, and First and
// ScaleArrivals, which are for jobs of any origin.

// submission is a record or a job: a value that has an instant of submission. A record handed from
// one function to the next is valid until the next one is asked for; a function that keeps records
// keeps copies.
type submission interface{ *Record | *entity.Job }

// submitOf is the instant of submission of a record or a job, which may be changed.
func submitOf[S submission](s S) *des.Time {
	switch s := any(s).(type) {
	case *Record:
		return &s.Submit
	case *entity.Job:
		return &s.Submit
	}
	return nil // no other type is a submission
}

// First yields the first n jobs, and asks seq for no more.
func First(seq iter.Seq[*entity.Job], n int64) iter.Seq[*entity.Job] {
	return choose(seq, selection{first: max(n, 0), factor: 1})
}

// ScaleArrivals multiplies the times between submissions by a factor above 0;
// the first submission stays where it is. To offer the load F instead of L,
// scale by L/F.
func ScaleArrivals(seq iter.Seq[*entity.Job], factor float64) iter.Seq[*entity.Job] {
	return choose(seq, selection{first: all, factor: factor})
}

// inOrder sorts by submission. Equal submissions keep their order. It keeps all elements
// in memory.
func inOrder[S submission](seq iter.Seq[S]) iter.Seq[S] {
	return func(yield func(S) bool) {
		var all []S
		for s := range seq {
			if rec, ok := any(s).(*Record); ok {
				s = any(rec.Clone()).(S)
			}
			all = append(all, s)
		}
		sortBySubmission(all)
		for _, s := range all {
			if !yield(s) {
				return
			}
		}
	}
}

// sortBySubmission sorts by submission; equal submissions keep their order.
func sortBySubmission[S submission](all []S) {
	slices.SortStableFunc(all, func(a, b S) int { return cmp.Compare(*submitOf(a), *submitOf(b)) })
}

// choose applies a selection to a sequence.
func choose[S submission](seq iter.Seq[S], by selection) iter.Seq[S] {
	return func(yield func(S) bool) {
		part := by // every range begins again with the whole selection
		if part.full() {
			return
		}
		for s := range seq {
			if !part.takes() {
				continue
			}
			at := submitOf(s)
			*at = part.place(*at)
			if !yield(s) || part.full() {
				return
			}
		}
	}
}

// selection is the rule by which a part of a workload is chosen and moved. The
// submissions pass it one after the other; takes and place count them.
type selection struct {
	skip   int64   // how many are still to be left out
	first  int64   // how many are still to be taken after those, or all
	factor float64 // multiplies the times between submissions
	shift  bool    // moves the first submission that is taken to 0

	begun  bool
	origin des.Time // that first submission, as it came
}

// all in selection.first takes all submissions behind those that are skipped.
const all = -1

// full reports whether everything wanted has been taken.
func (s *selection) full() bool { return s.first == 0 }

// takes reports whether the next submission is among those that are chosen.
func (s *selection) takes() bool {
	if s.skip > 0 {
		s.skip--
		return false
	}
	if s.first > 0 {
		s.first--
	}
	return true
}

// place is the instant to which a chosen submission at t moves: origin + (t - origin) factor, where the
// origin is the first chosen submission, or 0 in its place with shift.
func (s *selection) place(t des.Time) des.Time {
	if !s.begun {
		s.begun, s.origin = true, t
	}
	since := t - s.origin
	if s.factor != 1 {
		// Sums of rounded times may pass the bound that gapFactor keeps to.
		since = des.Time(min(math.Round(float64(since)*s.factor), float64(maxTime)))
	}
	if s.shift {
		return since
	}
	return s.origin + since
}

// selection returns the selection that the part describes, without its load.
func (p *Part) selection() selection {
	s := selection{skip: p.Skip, first: all, factor: 1, shift: p.Shift}
	if p.First > 0 {
		s.first = p.First
	}
	return s
}

// gapFactor returns the factor by which to stretch the times between submissions so that the jobs
// offer Options.Load; 1 if no load is wanted. offered measures the load before.
func (t *Trace) gapFactor(offered func() (entity.OfferedLoad, error)) (float64, error) {
	if t.Options.Load == 0 {
		return 1, nil
	}
	l, err := offered()
	if err != nil {
		return 0, err
	}
	procs, err := t.Procs()
	if err != nil {
		return 0, err
	}
	load := l.Over(float64(procs))
	factor := load / t.Options.Load
	switch {
	case !(load > 0) || math.IsInf(load, 0):
		return 0, fmt.Errorf("%s: it offers a load of %v, which cannot be scaled to %v", t.Name, load, t.Options.Load)
	case float64(l.Span())*factor > float64(maxTime):
		return 0, fmt.Errorf("%s: to offer a load of %v the times between submissions would have to be %.3g times as long, and the last job would come more than %.0e seconds after the first", t.Name, t.Options.Load, factor, des.Time(maxTime).Seconds())
	}
	return factor, nil
}

// Selected yields the records of the trace, not its jobs, as the options choose
// and move them: by Where, Sort, Skip, First, Load and Shift, in this order. Records of
// which no job can be made are among them. A record is valid until the next one
// is asked for. An error ends the sequence.
//
// What is given to it is applied one after the other between Sort and Skip. The records that
// such a function gets may be ranged over several times, each of which is a pass over the file.
func (t *Trace) Selected(apply ...func(iter.Seq[*Record]) iter.Seq[*Record]) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		var readErr error // what ended the latest pass over the file
		records := t.pass(&readErr)
		if t.Options.Sort {
			records = inOrder(records)
		}
		for _, f := range apply {
			records = f(records)
		}
		part := t.Options.selection()
		factor, err := t.gapFactor(func() (entity.OfferedLoad, error) {
			l, err := t.recordLoad(choose(records, part))
			return l, errors.Join(err, readErr)
		})
		if err != nil {
			yield(nil, err)
			return
		}
		part.factor = factor
		var came des.Time // the submission of the record at hand, before it is moved
		asTheyCome := func(yield func(*Record) bool) {
			for rec := range records {
				if came = rec.Submit; !yield(rec) {
					return
				}
			}
		}
		for rec := range choose(asTheyCome, part) {
			t.Header.MoveInstants(rec, rec.Submit-came)
			if !yield(rec, nil) {
				return
			}
		}
		if readErr != nil {
			yield(nil, readErr)
		}
	}
}

// Estimated gives records of the trace, in their order, the estimates that Options.Estimates
// have for their jobs, and the runtimes, which a model with a longest estimate cuts. A record
// of which no job is made stays as it is, and so do all under EstimatesUser.
func (t *Trace) Estimated(records iter.Seq2[*Record, error]) iter.Seq2[*Record, error] {
	if t.Options.Estimates.Kind == EstimatesUser {
		return records
	}
	return func(yield func(*Record, error) bool) {
		jobs, err := t.Open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer jobs.Close()
		t.mu.Lock()
		t.last = jobs // Report returns the jobs' report
		t.mu.Unlock()
		next, more := jobs.Next()
		for rec, err := range records {
			// Invariant: next is the first job whose record has not come yet.
			if err == nil && more && rec.Job == next.ID {
				rec.Estimate, rec.Runtime = next.Request.Length, next.Runtime
				next, more = jobs.Next()
			}
			if err == nil && !more {
				err = jobs.Err()
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// pass is the records of the file. Each range over it reads the file again and
// puts what ended the reading into err.
func (t *Trace) pass(err *error) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		r, closer, openErr := t.Records()
		if *err = openErr; openErr != nil {
			return
		}
		defer closer.Close()
		t.passed = r.Report()
		for r.Next() {
			rec := r.Record()
			if t.where != nil && !t.where(rec, r.Line()) {
				t.passed.addJob(r.Line(), 0, Filtered, rec.Job)
			} else if !yield(rec) {
				break
			}
		}
		*err = r.Err()
	}
}

// recordLoad is the load that records offer to the machine, those without a
// runtime or without a size that fits it aside.
func (t *Trace) recordLoad(records iter.Seq[*Record]) (l entity.OfferedLoad, err error) {
	procs, err := t.Procs()
	if err != nil {
		return l, err
	}
	for rec := range records {
		size, _ := t.Options.ProcsFrom.Size(rec)
		if size < 0 || size > int64(procs) || rec.Runtime < 0 {
			size = 0
		}
		l.Add(rec.Submit, int(size), rec.Runtime)
	}
	return l, nil
}

// OfferedLoad returns the load that jobs offer: the sum of size times runtime, divided by
// processors and by the time from the first to the last submission. It is 0 if there is no work,
// and infinite if all jobs come at one instant.
func OfferedLoad(jobs iter.Seq[*entity.Job], processors int) float64 {
	var l entity.OfferedLoad
	for j := range jobs {
		l.Add(j.Submit, j.Request.Nodes, j.Runtime)
	}
	return l.Over(float64(processors))
}
