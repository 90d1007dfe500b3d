package entity

// What a run asks for now.
//
//	Job.Request   as submitted ----+
//	shape         Job.Shapes       |     its shape's nodes, and the time that is left:
//	left          of the estimate  +---> Run.Request
//	predicted     by a Predictor   |     by the prediction where there is one, otherwise by
//	checkpoints   and set-up   ----+     the estimate, with checkpoints and set-up
//
// Whatever changes one of these changes the demand of a run and has it renewed. No copy of a
// job is made, and nobody else writes Run.Request, Run.Runtime or Run.Shapes.

import (
	"iter"
	"math"

	"github.com/gridslot/gridslot/des"
)

// demand holds the parts from which the request of a run is made. A run without one (Run.rare is
// nil) asks for what was submitted.
type demand struct {
	shape     Shape    // the shape that the job has, as its user gave it
	settled   bool     // the shape is the job's for good: work has been done in it
	left      des.Time // the estimate of the work that is left, in that shape
	done      des.Time // the part of shape.Runtime that earlier attempts have done for good
	setUp     des.Time // how long the attempt under way, or to come, does no work at first
	predicted des.Time // how long the job is thought to run in all, in that shape; 0: nothing is predicted
	// ownPredicted is the same length in the shape of the job's own request, for a job that
	// can still choose.
	ownPredicted des.Time
}

// work returns the work that the run is still planned to do: at least a tick, if a prediction says
// how much.
func (a *demand) work() des.Time {
	if a.predicted > 0 {
		return max(a.predicted-a.done, des.Tick)
	}
	return a.left
}

// lasts returns how long that much work takes with checkpoints and set-up.
func (a *demand) lasts(work des.Time, c Checkpoints) des.Time {
	return min(c.span(work).Add(a.setUp), des.Forever-1)
}

// renew writes what r asks for now; nothing else does once r has come. While a job runs
// its request stays what its attempt was reserved by, whatever is predicted meanwhile.
func (r *Run) renew() {
	a := &r.rare.demand
	r.Runtime = a.shape.Runtime
	r.Request.Nodes, r.Request.Length = a.shape.Nodes, r.planned()
	if a.settled {
		r.Shapes = nil
	}
}

// planned returns the time for which r is planned to hold its processors, by its prediction or else
// by its estimate. Until a prediction is corrected it equals r.Request.Length.
func (r *Run) planned() des.Time {
	a := &r.rare.demand
	return a.lasts(a.work(), r.checkpoints())
}

// currentShape returns the shape that r has, as its user gave it.
func (r *Run) currentShape() Shape {
	if r.rare == nil {
		return r.Job.own()
	}
	return r.rare.demand.shape
}

// Limit returns how long r may hold its processors, on a node of performance 1: what its
// user has asked for, or what is left of that, with set-up and checkpoints. It is
// Request.Length where nothing is predicted.
func (r *Run) Limit() des.Time {
	if r.predicted() {
		return r.rare.demand.lasts(r.rare.demand.left, r.checkpoints())
	}
	return r.Request.Length
}

// Asked returns the time that the job has asked for in all, on a node of performance 1: its
// estimate, in the shape that it has, whatever has been done of it. Set-up and
// checkpoints, for which Limit has room, are left out.
func (r *Run) Asked() des.Time {
	if r.rare == nil { // as most often
		return r.Request.Length
	}
	return r.estimate(r.rare.demand.shape)
}

// allowed returns the whole runtime that r may have over all attempts, without set-up and
// checkpoints: the work of earlier attempts plus the rest of its estimate, in its present shape.
func (r *Run) allowed() des.Time {
	if r.rare == nil {
		return r.Request.Length
	}
	return r.rare.demand.done.Add(r.rare.demand.left)
}

// estimate returns the user's estimate of the runtime in shape s. Under OverrunRaise it is at least
// the runtime.
func (r *Run) estimate(s Shape) des.Time {
	if r.meta != nil && r.meta.Overrun == OverrunRaise {
		return max(s.Length, s.Runtime)
	}
	return s.Length
}

// Done returns how much of Runtime earlier attempts have done for good.
func (r *Run) Done() des.Time {
	if r.rare == nil {
		return 0
	}
	return r.rare.demand.done
}

// Remaining returns how much of Runtime is still to be done.
func (r *Run) Remaining() des.Time { return r.Runtime - r.Done() }

// predicted reports whether r is planned by a prediction.
func (r *Run) predicted() bool { return r.rare != nil && r.rare.demand.predicted > 0 }

// predict sets the prediction of the waiting job r to p, the time that r is thought to run in all.
func (r *Run) predict(p des.Time) {
	a := &r.withRare().demand
	a.predicted, a.ownPredicted = p, p
	r.renew()
}

// correct sets the prediction of the running job r to p, the time that r is thought to run in all.
// The request by which its attempt was reserved stays.
func (r *Run) correct(p des.Time) {
	a := &r.rare.demand
	a.predicted = p
	if len(r.Shapes) > 0 {
		a.ownPredicted = scaled(p, r.estimate(r.Job.own()), r.estimate(a.shape))
	}
}

// keepWork subtracts from the demand of r, one attempt of which has ended, the work of it
// that is kept. A run with kept work stays in its shape; another run may choose anew.
func (r *Run) keepWork(work des.Time) {
	a := &r.withRare().demand
	a.setUp = 0
	if work == 0 {
		r.chooseAnew()
	} else {
		a.done += work
		a.left = max(a.left-work, des.Tick)
		a.settled = true
	}
	r.renew()
}

// resized returns what r, which runs, asks for if it goes on in the shape s at the instant
// now: work of the present attempt is done and stays done, and r does no work for the time
// cost at first.
func (r *Run) resized(s Shape, work, cost, now des.Time) demand {
	was := r.withRare().demand
	rest := func(of des.Time) des.Time {
		return max(scaled(max(of-work, des.Tick), r.estimate(s), r.estimate(was.shape)), des.Tick)
	}
	a := demand{shape: s, settled: true, left: rest(was.left)}
	a.done, _ = s.Runtime.MulDiv(was.done+work, r.Runtime)
	a.setUp = max(was.setUp-(now-r.Start), 0).Add(cost) // what was not over is still to be done
	if was.predicted > 0 {
		a.predicted = a.done + rest(was.predicted-was.done)
	}
	return a
}

// takeShape changes the request of r, which can still choose, to its shape of that many
// nodes, if it has one.
func (r *Run) takeShape(nodes int) {
	s, ok := r.Job.shape(nodes)
	if !ok {
		return
	}
	a := &r.withRare().demand
	a.shape, a.left = s, r.estimate(s)
	if a.predicted > 0 {
		a.predicted = r.predictedIn(s)
	}
	r.renew()
}

// chooseAnew gives r, which holds nothing, the choice of its shape again.
func (r *Run) chooseAnew() {
	if len(r.Shapes) > 0 && r.Request.Nodes != r.Job.Request.Nodes {
		r.takeShape(r.Job.Request.Nodes)
	}
}

// predictedIn returns the predicted runtime of r in shape s, while r can still choose a shape: the
// same share of the shape's estimate that the prediction has of the estimate in the job's own
// shape.
func (r *Run) predictedIn(s Shape) des.Time {
	return max(scaled(r.rare.demand.ownPredicted, r.estimate(s), r.estimate(r.Job.own())), des.Tick)
}

// requestIn returns the request that r makes if it takes shape s, while r can still choose a shape.
func (r *Run) requestIn(s Shape) Request {
	work := r.estimate(s)
	req := r.Job.Request
	req.Nodes, req.Length = s.Nodes, work
	if r.rare != nil {
		if r.predicted() {
			work = r.predictedIn(s)
		}
		req.Length = r.rare.demand.lasts(work, r.checkpoints())
	}
	return req
}

// RequestOn returns the request of r, which waits, in its shape of that many nodes; false if
// r has no such shape.
func (r *Run) RequestOn(nodes int) (Request, bool) {
	if len(r.Shapes) == 0 {
		return r.Request, nodes == r.Request.Nodes
	}
	s, ok := r.Job.shape(nodes)
	return r.requestIn(s), ok
}

// requests yields what r, which can still choose, asks for in each of its shapes, those
// with the most nodes first.
func (r *Run) requests() iter.Seq[Request] {
	return func(yield func(Request) bool) {
		for s := range r.Job.shapes {
			if !yield(r.requestIn(s)) {
				return
			}
		}
	}
}

// least returns the fewest nodes and the shortest length of all shapes of r, which can still choose:
// where a request for these does not fit, no shape fits.
func (r *Run) least() (nodes int, length des.Time) {
	nodes, length = math.MaxInt, des.Forever
	for req := range r.requests() {
		nodes, length = min(nodes, req.Nodes), min(length, req.Length)
	}
	return nodes, length
}

// accept gives r the shape with the nodes of w, if r can still choose, and returns what makes w no
// window for r, or nil.
func (r *Run) accept(w *Window) error {
	if len(r.Shapes) > 0 && w.Nodes != r.Request.Nodes {
		r.takeShape(w.Nodes)
	}
	return r.Request.Accepts(w)
}
