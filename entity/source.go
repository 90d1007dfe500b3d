package entity

// How jobs come.

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Source brings jobs to a metascheduler: a trace, a generator, a user who waits
// for results. It may also implement Listener, and Err() error, which is asked
// when Next says that there is no more.
type Source interface {
	// Next returns the next job, in order of submission and not before now; false if there
	// is none for now. It is called one job ahead of the clock.
	Next() (*Job, bool)
}

// Listener is a Source that hears when one of its jobs has come to its end:
// r.State is Finished, Killed or Rejected. Where the source had no job to come,
// Next is asked again afterwards. So a user who submits when the last job ended
// is
//
//	func (u *user) Next() (*entity.Job, bool) {
//		if u.waits { return nil, false }
//		u.waits = true
//		return u.job(u.sim.Now().Add(u.think)), true
//	}
//
//	func (u *user) Ended(r *entity.Run) { u.waits = false }
//
// The job ended at Run.Finish, which is the present instant.
type Listener interface {
	Source
	// Ended is called at the instant of the end.
	Ended(r *Run)
}

// SourceOf returns a Source of a sequence of jobs in order of submission: the jobs of a model, or
// slices.Values of a list. The source is also an io.Closer. Close ends the sequence; it need be called
// only if a run ends before the jobs do.
func SourceOf(jobs iter.Seq[*Job]) Source {
	next, stop := iter.Pull(jobs)
	return pulled{next, stop}
}

// pulled is the Source that SourceOf returns.
type pulled struct {
	next func() (*Job, bool)
	stop func()
}

func (p pulled) Next() (*Job, bool) { return p.next() }

func (p pulled) Close() error {
	p.stop()
	return nil
}

// Submit brings j at j.Submit, which is now or lies ahead. It may be called at any time:
// before a run, from an observer, from an event. A job that makes no sense, or comes too
// late, ends the run with an error.
func (m *Metascheduler) Submit(j *Job) *Run {
	if err := j.Check(); err != nil {
		m.sim.Fail(fmt.Errorf("at %v: %w", m.sim.Now(), err))
		r := NewRun(cmp.Or(j, nobody), 0)
		r.meta = m
		return r
	}
	r := m.newRun(j, false)
	if j.Submit < m.sim.Now() {
		m.sim.Fail(fmt.Errorf("at %v: %v cannot be submitted at %v, which is past", m.sim.Now(), j, j.Submit))
		return r
	}
	r.due = m.sim.At(j.Submit, m.arrivalPhase(), (*arriving)(r), uint64(j.ID))
	m.coming++
	return r
}

// Idle reports whether nothing is left to schedule for: no job runs or waits, no advance
// reservation lies ahead, and no job is on its way from Submit or a source. An endless flow
// stops when its metascheduler is idle; somebody may still submit another job later.
func (m *Metascheduler) Idle() bool {
	return m.running+m.booked+m.queue.Len() == 0 && !m.Coming()
}

// Coming reports whether a job is on its way, from Submit or a source. Sources that wait for
// a job's end (Listener), and flows that hold jobs back, may still bring others.
func (m *Metascheduler) Coming() bool {
	return m.coming > 0 || slices.ContainsFunc(m.sources, func(s *source) bool { return s.feed.Coming() })
}

// SubmitAll takes jobs in order of submission, pulled one ahead of the clock, beside
// everything else that is submitted. A job that is submitted before its predecessor ends the
// run with an error.
func (m *Metascheduler) SubmitAll(jobs iter.Seq[*Job]) {
	s := m.source(nil)
	s.feed.From(jobs)
	s.feed.Begin(m.sim)
}

// SubmitFrom takes the jobs of a source, beside whatever else has been
// submitted.
func (m *Metascheduler) SubmitFrom(from Source) {
	s := m.source(from)
	s.feed.Next = NextOf(m.sim, from)
	s.feed.Begin(m.sim)
}

// Close stops all sources: no more jobs arrive from them. It is needed only where a run
// ended before they did.
func (m *Metascheduler) Close() {
	for _, s := range m.sources {
		s.feed.Close()
	}
	m.sources = nil
}

func (m *Metascheduler) arrivalPhase() des.Phase {
	if m.Pass == PassEvent {
		return phaseArrivalFirst
	}
	return PhaseArrival
}

// source is one of the flows of jobs into a metascheduler.
type source struct {
	meta     *Metascheduler
	listener Listener // the Source, if it is one
	feed     des.Feed[*Job]
}

func (m *Metascheduler) source(from Source) *source {
	s := &source{meta: m}
	s.listener, _ = from.(Listener)
	s.feed = JobFeed(m.sim, m.arrivalPhase(), s.arrive)
	m.sources = append(m.sources, s)
	return s
}

func (s *source) arrive(j *Job) {
	r := s.meta.newRun(j, false)
	if s.listener != nil {
		r.withRare().source = s
	}
	s.meta.arrive(r)
}

// ended tells the source of the end of a job of its own.
func (s *source) ended(r *Run) {
	s.listener.Ended(r)
	s.feed.Pull()
}

// arriving is a run as the handler of its arrival.
type arriving Run

func (a *arriving) Handle(*des.Simulator, des.Event) {
	r := (*Run)(a)
	r.meta.coming--
	r.meta.arrive(r)
}

// JobFeed returns a feed that passes each job to do at its Submit, for a Metascheduler or
// anything else that takes jobs. Set its source by des.Feed.From or NextOf. A job that makes
// no sense, or is submitted before its predecessor, ends the run with an error.
func JobFeed(sim *des.Simulator, phase des.Phase, do func(*Job)) des.Feed[*Job] {
	return des.Feed[*Job]{
		At:    func(j *Job) des.Time { return j.Submit },
		Phase: phase,
		Arg:   func(j *Job) uint64 { return uint64(j.ID) },
		Check: func(j *Job) error {
			if j == nil {
				return j.Check()
			}
			if now := sim.Now(); j.Submit < now {
				return fmt.Errorf("%v is submitted at %v, before the job in front of it (%v): the workload must be sorted by submission", j, j.Submit, now)
			}
			return j.Check()
		},
		Do: do,
	}
}

// NextOf returns the Next of a source whose end in an error (Source) ends the run.
func NextOf(sim *des.Simulator, from Source) func() (*Job, bool) {
	return func() (*Job, bool) {
		j, ok := from.Next()
		if !ok {
			if e, tells := from.(interface{ Err() error }); tells && e.Err() != nil {
				sim.Fail(e.Err())
			}
		}
		return j, ok
	}
}
