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
// Run.Request.Length, by which all policies and plans go, is the planned time: the prediction, less
// the work of earlier attempts, with set-up and checkpoints. Run.Limit is the time that the user
// asked for. A job with a deadline is planned by its request, because it must end in time even if
// its prediction is too short.
//
// This file has what is predicted of a job; correct.go what becomes of one that
// outlives it.

import "github.com/gridslot/gridslot/des"

// Predictor says how long jobs will run. It is told of all job events in their order, before
// observers and the policy are, and sees nothing of a job's runtime before the job's end;
// see Known.
//
// A Predictor that is also a Corrector corrects its own predictions if
// Metascheduler.Corrector is nil. To change the prediction of a waiting job, a Predictor
// calls Metascheduler.PredictAgain; it may be an Attacher.
type Predictor interface {
	// Name returns the predictor's name in tables and figures.
	Name() string
	// Predict returns how long j will run, on a node of performance 1. It is called once
	// when j is submitted, after Observe of JobSubmitted, and at every PredictAgain. An
	// answer of 0 or less means the request; an answer above the request is taken as it is.
	Predict(j Known) des.Time
	// Observe is called for every event of a job but JobPromised, and never for advance
	// reservations.
	Observe(what JobEventKind, j Known)
}

// Corrector gives a job that has outlived its prediction a new one: how long the job will run
// in all.
type Corrector interface {
	// Name returns the corrector's name in tables and figures.
	Name() string
	// Correct returns how long j will run in all. It has run for j.Prediction() and goes on,
	// and j.Corrections() predictions of it have been corrected before. An answer that
	// is not above the prediction means the request; one above the request is taken as
	// it is.
	Correct(j Known) des.Time
}

// Predicting is a Policy that brings its own predictions. They hold if the metascheduler is
// given no others.
type Predicting interface {
	Policy
	// Predictions returns the predictor and the corrector; each may be nil.
	Predictions() (Predictor, Corrector)
}

// PredictionsOf returns the predictor and the corrector that p, or a policy that p wraps,
// brings; nil if there are none.
func PredictionsOf(p Policy) (Predictor, Corrector) {
	if q, ok := As[Predicting](p); ok {
		return q.Predictions()
	}
	return nil, nil
}

// Known is the part of a job's state that a scheduler may see while the job waits and runs:
// everything but its runtime, which Ran returns from the job's end on.
type Known struct{ run *Run }

// KnownOf returns what a scheduler may know of r, for tests that compare predictors with
// what became of r.
func KnownOf(r *Run) Known { return Known{r} }

// ID returns the job's ID.
func (k Known) ID() int64 { return k.run.ID }

// Seq returns the job's position in the order of submission, from 0.
func (k Known) Seq() int64 { return k.run.seq }

// Submit returns the instant of submission.
func (k Known) Submit() des.Time { return k.run.Submit }

// Nodes returns how many nodes, or processors, the job asks for, or has.
func (k Known) Nodes() int { return k.run.Request.Nodes }

// Request returns the time that the user has asked for, in the shape that the job has: the
// longest that the job may run, on a node of performance 1.
func (k Known) Request() des.Time {
	return k.run.currentShape().Length
}

// User returns the job's user, or -1 where unknown.
func (k Known) User() int32 { return k.run.User }

// Group returns the job's group, or -1 where unknown.
func (k Known) Group() int32 { return k.run.Group }

// Queue returns the job's queue, or -1 where unknown.
func (k Known) Queue() int32 { return k.run.Queue }

// Application returns the number of the program that the job runs, or 0 where unknown.
func (k Known) Application() int32 { return k.run.Application }

// Extra returns further data of the workload about the job; see Job.Extra.
func (k Known) Extra() any { return k.run.Extra }

// Now returns the present instant.
func (k Known) Now() des.Time {
	switch r := k.run; {
	case r.meta != nil:
		return r.meta.sim.Now()
	case r.rare != nil && r.rare.foreteller != nil:
		return r.rare.foreteller.Now()
	}
	return k.run.Submit
}

// State returns where the job is in its life.
func (k Known) State() RunState { return k.run.State }

// Start returns when the latest attempt began; valid from Running on.
func (k Known) Start() des.Time { return k.run.Start }

// Prediction returns how long the job is thought to run in all, by the latest prediction or
// correction, in the shape that it has.
func (k Known) Prediction() des.Time { return k.run.Prediction() }

// Corrections returns how often its prediction has been corrected.
func (k Known) Corrections() int { return k.run.Corrections() }

// Ran returns how long the job has run, on a node of performance 1, once it has ended: its
// runtime, or less if it was Killed. Before its end, ended is false.
func (k Known) Ran() (ran des.Time, ended bool) {
	switch k.run.State {
	case Finished:
		return k.run.Runtime, true
	case Killed:
		return k.run.Done().Add(k.run.Latest().Work), true
	}
	return 0, false
}

// Exact is the Predictor that knows runtimes. It shows what predictions could reach at most.
type Exact struct{}

// Name implements Predictor.
func (Exact) Name() string { return "true" }

// Predict returns the job's runtime, or its request where that is less.
func (Exact) Predict(j Known) des.Time {
	return max(min(j.run.Job.Runtime, j.Request()), des.Tick)
}

// Observe implements Predictor.
func (Exact) Observe(JobEventKind, Known) {}

// Prediction returns how long the job is thought to run in all, by the latest prediction or
// correction, in the shape that it has; its estimate where nothing is predicted.
func (r *Run) Prediction() des.Time {
	if r.predicted() {
		return r.rare.demand.predicted
	}
	return r.Job.Request.Length
}

// FirstPrediction returns the prediction that was made when the job was submitted; its
// estimate if nothing is predicted.
func (r *Run) FirstPrediction() des.Time {
	if r.predicted() {
		return r.rare.firstPrediction
	}
	return r.Job.Request.Length
}

// Corrections returns how often the job's prediction has been corrected.
func (r *Run) Corrections() int {
	if r.rare == nil {
		return 0
	}
	return r.rare.corrections
}

// Soft reports whether a start that is promised to r is only expected. That is so while any
// job is planned by a prediction: a job that outlives its prediction may need what r waits
// for, also a job that came after the promise. Starts of advance reservations are firm.
func (r *Run) Soft() bool { return r.meta != nil && r.meta.Predictor != nil && !r.Booked }

// predict has r, which is about to wait, be planned by its prediction.
func (m *Metascheduler) predict(r *Run) {
	p := predictionOf(m.Predictor, r)
	r.predict(p)
	r.rare.firstPrediction = p
}

// predictionOf returns the whole runtime that a predictor predicts for r, or r's allowed time if
// the predictor gives none.
func predictionOf(by Predictor, r *Run) des.Time {
	if p := by.Predict(Known{r}); p > 0 && p < des.Forever {
		return p
	}
	return r.allowed()
}

// length returns the time for which r's attempt holds counted processors: its real length, cut at
// r.Limit unless Overrun is OverrunExtend.
func (m *Metascheduler) length(r *Run) des.Time {
	if m.Overrun == OverrunExtend {
		return r.span()
	}
	return min(r.span(), r.Limit())
}

// Foreteller predicts runs that have no Metascheduler. It is for code that tells observers
// about the jobs of another engine.
type Foreteller struct {
	Predictor Predictor
	Corrector Corrector       // nil: the Predictor's own, or the request
	Now       func() des.Time // the present instant
}

// Come tells the Predictor that r was submitted, asks it for a prediction, and makes the answer
// r's prediction. Call it once for each run, before Observe.
func (f *Foreteller) Come(r *Run) {
	r.withRare().foreteller = f
	f.Predictor.Observe(JobSubmitted, Known{r})
	p := predictionOf(f.Predictor, r)
	r.predict(p)
	r.rare.firstPrediction = p
}

// Observe tells the Predictor of an event of r after its submission.
func (f *Foreteller) Observe(e JobEvent) {
	if e.Kind != JobSubmitted && e.Kind != JobPromised {
		f.Predictor.Observe(e.Kind, Known{e.Run})
	}
}

// Correct replaces the prediction that r has outlived by the Corrector's, and returns it: how
// long r is now expected to run in all.
func (f *Foreteller) Correct(r *Run) des.Time {
	next := correction(correctorOf(f.Predictor, f.Corrector), r)
	r.correct(next)
	r.rare.corrections++
	return next
}

// PredictAgain asks the predictor anew about a job that waits without a reservation; a job
// with a reservation ahead keeps its promised window. The next round is told that something
// was gained. While the policy decides, the predictor is asked after the round, because the
// window that the policy has found for the job would no longer fit. PredictAgain reports
// whether the job's prediction has changed.
func (m *Metascheduler) PredictAgain(j Known) bool {
	r := j.run
	if m.deciding {
		m.predictLater = append(m.predictLater, j)
		return false
	}
	if r.meta != m || r.State != Waiting || r.Reservation.Active || r.standing == 0 || !r.predicted() {
		return false
	}
	r.chooseAnew() // a prediction is of its own shape
	p := predictionOf(m.Predictor, r)
	if p == r.rare.demand.predicted {
		return false
	}
	m.queue.change(r, func() { r.predict(p) })
	m.gained = true
	return true
}
