package entity

// Predictions: the scheduler plans a job by how long it is thought to run, and the
// job is cut off by what its user has asked for.
//
//	start          prediction      corrected              request
//	  |................|...............|......................|
//	  [ runs           . runs on       ]                      ^ killed here at the latest
//	                   ^ it has outlived its prediction: a Corrector gives another one,
//	                     and plans made behind it are repaired
//
// Run.Request.Length, by which all policies and plans go, is then the prediction;
// Run.Limit is what was asked for.

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// Predictor says how long jobs will run. It is told of what becomes of them in the
// order in which it happens, before observers and the policy are, and sees nothing of
// a job's runtime before its end; see Known.
//
// A Predictor that is also a Corrector corrects its own predictions where
// Metascheduler.Corrector is nil. One that wants to change what it has said of a
// waiting job asks Metascheduler.PredictAgain; it may be an Attacher.
type Predictor interface {
	// Name is the predictor's in tables and figures.
	Name() string
	// Predict is how long j will run, on a node of performance 1: asked once when it
	// is submitted, after Observe of JobSubmitted, and whenever PredictAgain is. An
	// answer of 0 or less means the request, one above the request is taken as it is.
	Predict(j Known) des.Time
	// Observe tells of JobSubmitted, JobRejected, JobStarted, JobFinished, JobKilled,
	// JobRequeued or JobResized.
	Observe(what JobEventKind, j Known)
}

// Corrector says how long a job will run that has outlived its prediction.
type Corrector interface {
	// Name is the corrector's in tables and figures.
	Name() string
	// Correct is how long j will run in all. It has run for j.Prediction() and goes on,
	// and j.Corrections() predictions of it have been corrected before. An answer that
	// is not above the prediction means the request; one above the request is taken as
	// it is.
	Correct(j Known) des.Time
}

// Predicting is a Policy that brings its own predictions, which hold where the
// metascheduler is given no others.
type Predicting interface {
	Policy
	Predictions() (Predictor, Corrector)
}

// PredictionsOf are those that p brings, if it is Predicting; for policies that wrap
// another one.
func PredictionsOf(p Policy) (Predictor, Corrector) {
	if q, ok := p.(Predicting); ok {
		return q.Predictions()
	}
	return nil, nil
}

// Known is what may be known of a job while it waits and runs: everything but its
// runtime, which it tells from the end on.
type Known struct{ run *Run }

// KnownOf is what may be known of r: for tests of predictors.
func KnownOf(r *Run) Known { return Known{r} }

// ID is the job's.
func (k Known) ID() int64 { return k.run.ID }

// Seq is the job's position in the order of submission, from 0.
func (k Known) Seq() int64 { return k.run.seq }

// Submit is the instant of submission.
func (k Known) Submit() des.Time { return k.run.Submit }

// Nodes is how many nodes, or processors, the job asks for, or has.
func (k Known) Nodes() int { return k.run.Request.Nodes }

// Limit is what its user has asked for: the longest that it may run, on a node of
// performance 1.
func (k Known) Limit() des.Time { return k.run.Submitted().Request.Length }

// User is the job's user, or -1 where unknown.
func (k Known) User() int32 { return k.run.User }

// Group is the job's group, or -1 where unknown.
func (k Known) Group() int32 { return k.run.Group }

// Queue is the job's queue, or -1 where unknown.
func (k Known) Queue() int32 { return k.run.Queue }

// Extra is whatever else the workload tells of the job.
func (k Known) Extra() any { return k.run.Extra }

// Now is the present instant.
func (k Known) Now() des.Time {
	if k.run.meta == nil {
		return k.run.Submit
	}
	return k.run.meta.sim.Now()
}

// State is where the job is in its life.
func (k Known) State() RunState { return k.run.State }

// Start is when the latest attempt began; valid from Running on.
func (k Known) Start() des.Time { return k.run.Start }

// Prediction is how long the job is thought to run, by the latest prediction or
// correction.
func (k Known) Prediction() des.Time { return k.run.Prediction() }

// Corrections is how often its prediction has been corrected.
func (k Known) Corrections() int { return k.run.Corrections() }

// Ran is how long the job has run, on a node of performance 1, once it has ended: its
// runtime, or less of one that was Killed. Before its end there is no telling.
func (k Known) Ran() (ran des.Time, ended bool) {
	switch k.run.State {
	case Finished:
		return k.run.Runtime, true
	case Killed:
		return k.run.Done().Add(k.run.Latest().Work), true
	}
	return 0, false
}

// Exact is the Predictor that knows runtimes: what could be reached by predictions,
// and no more.
type Exact struct{}

// Name implements Predictor.
func (Exact) Name() string { return "true" }

// Predict is the job's runtime, or its request where that is less.
func (Exact) Predict(j Known) des.Time {
	return max(min(j.run.Submitted().Runtime, j.Limit()), des.Tick)
}

// Observe implements Predictor.
func (Exact) Observe(JobEventKind, Known) {}

// prediction is what is predicted of a run.
type prediction struct {
	first       des.Time // as it was submitted; 0 where nothing is predicted
	latest      des.Time // of the whole runtime
	limit       des.Time // what the request allows the attempt; Request.Length is what is planned of it
	corrections int
}

// predicted reports whether r is planned by a prediction.
func (r *Run) predicted() bool { return r.few != nil && r.few.prediction.first > 0 }

// Limit is how long r may hold its processors, on a node of performance 1: what its
// user has asked for, or what is left of that, with set-up and checkpoints. It is
// Request.Length where nothing is predicted.
func (r *Run) Limit() des.Time {
	if r.predicted() {
		return r.few.prediction.limit
	}
	return r.Request.Length
}

// Prediction is how long the job is thought to run in all, by the latest prediction or
// correction; its estimate where nothing is predicted.
func (r *Run) Prediction() des.Time {
	if r.predicted() {
		return r.few.prediction.latest
	}
	return r.Submitted().Request.Length
}

// FirstPrediction is what was predicted when the job was submitted; its estimate where
// nothing is predicted.
func (r *Run) FirstPrediction() des.Time {
	if r.predicted() {
		return r.few.prediction.first
	}
	return r.Submitted().Request.Length
}

// Corrections is how often the job's prediction has been corrected.
func (r *Run) Corrections() int {
	if r.few == nil {
		return 0
	}
	return r.few.prediction.corrections
}

// predict has r, which is about to wait, be planned by its prediction.
func (m *Metascheduler) predict(r *Run) {
	limit := r.Request.Length
	p := m.Predictor.Predict(Known{r})
	if p <= 0 || p >= des.Forever {
		p = r.Submitted().Request.Length
	}
	r.rare().prediction = prediction{first: p, latest: p, limit: limit}
	r.ask(limit)
}

// planned is how long r holds its processors if it runs as long as is predicted.
func (r *Run) planned() des.Time {
	left := max(r.few.prediction.latest-r.few.done, des.Tick)
	return min(r.checkpoints().Span(left).Add(r.setUp()), des.Forever-1)
}

// PredictAgain asks the predictor anew about a job that waits without a reservation;
// one that has a reservation ahead keeps what it was promised. The round to come is
// told that something was gained. It reports whether the job's prediction is another
// one now.
func (m *Metascheduler) PredictAgain(j Known) bool {
	r := j.run
	if r.meta != m || r.State != Waiting || r.Reservation.Active || !r.predicted() {
		return false
	}
	f := r.few
	p := m.Predictor.Predict(j)
	if p <= 0 || p >= des.Forever {
		p = j.Limit()
	}
	if p == f.prediction.latest {
		return false
	}
	part := f.part
	m.queue.remove(r) // views know what it asks for
	f.prediction.latest = p
	r.ask(f.prediction.limit)
	m.queue.add(r)
	if part != nil {
		part.Take(r)
	}
	m.gained = true
	return true
}

// expiry is a run as the handler of the end of its prediction.
type expiry Run

// Handle corrects the prediction of a job that runs on: the scheduler now believes what
// the Corrector says. Reservations that this one gets in the way of are withdrawn, the
// latest first and no more of them than must be; the policy makes new ones. Advance
// reservations stand: the job runs on until one needs its processors.
func (e *expiry) Handle(s *des.Simulator, _ des.Event) {
	r := (*Run)(e)
	m, now := r.meta, s.Now()
	m.forget(now)
	w := &r.Reservation.Window
	if r.State != Running || w.End != now { // it was preempted meanwhile
		return
	}
	p, request := &r.few.prediction, r.few.done.Add(r.expected())
	next := des.Time(0)
	if c := m.corrector(); c != nil {
		next = c.Correct(Known{r})
	}
	if next <= p.latest || next >= des.Forever {
		next = request
	}
	if next <= p.latest { // all that was asked for is over
		(*overrun)(r).Handle(s, des.Event{})
		return
	}
	p.latest = next
	p.corrections++
	end := w.Start.Add(r.planned())
	m.gained = true // more may end before the shadow time, which is later now
	if m.makeRoom(r, end) || m.Pass == PassInstant {
		m.wake(CauseOverrun)
	}
}

// corrector is who corrects predictions, or nil.
func (m *Metascheduler) corrector() Corrector {
	if m.Corrector != nil {
		return m.Corrector
	}
	c, _ := m.Predictor.(Corrector)
	return c
}

// makeRoom has r, whose window ends now, have its processors until end, or for as long
// as what cannot be moved allows. It reports whether reservations had to be withdrawn.
func (m *Metascheduler) makeRoom(r *Run, end des.Time) (withdrawn bool) {
	now := m.sim.Now()
	m.plan.Release(&r.Reservation, now)
	rest := r.Reservation.Window
	window := rest
	rest.Start, rest.End = now, end
	for {
		_, err := m.plan.Reserve(r, rest)
		if err == nil {
			break
		}
		q := m.inTheWay(rest)
		if q == nil {
			m.sim.Fail(fmt.Errorf("at %v, extending %v past its prediction: %w", now, r, err))
			return withdrawn
		}
		m.fresh = append(m.fresh, q)
		m.withdraw(q)
		withdrawn = true
	}
	window.End = rest.End
	r.Reservation.Window = window
	if window.Start.Add(r.span()) > window.End {
		m.sim.At(window.End, phaseOverrun, (*expiry)(r), uint64(r.ID))
	}
	return withdrawn
}

// inTheWay is the reservation ahead that begins last among those that overlap w, or nil.
func (m *Metascheduler) inTheWay(w Window) (last *Run) {
	for q := range m.queue.By(Submission, w.Start).All() {
		if q.State == Reserved && q.meets(w, nil) && (last == nil || q.Reservation.Window.Start >= last.Reservation.Window.Start) {
			last = q
		}
	}
	return last
}
