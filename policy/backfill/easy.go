package backfill

import (
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// EASY is aggressive backfilling (Lifka 1995; Mu'alem and Feitelson 2001):
//
//  1. Jobs start from the head of the queue while they fit.
//  2. The head that does not fit holds the earliest window it can get. The window's start is
//     the shadow time, by the estimates.
//  3. A job behind the head that fits now, beside what is held, starts (it is backfilled).
//
// With the hold in the plan the two classic conditions of step 3 need no text of their own:
// a candidate that ends by the shadow time does not meet the hold, and a candidate that runs
// on must fit beside it, on the "extra" processors.
//
// The zero value is EASY on the order of submission. Nothing is kept from one round to the
// next. PublishedEASY follows published simulators where they differ.
//
// Schedule below has the three steps. Step 1 is FCFS (startHeads); "fits" is a question to
// the plan (entity.Plan.Find), which counts running jobs until their requests are over.
// After the decision, why.go tells why jobs wait.
type EASY struct {
	// Order of the queue; submission where its Key is nil.
	Order entity.Order
	// Candidates is the order in which jobs are tried for backfilling; the queue's order if
	// its Key is nil. ShortestFirst makes it EASY-SJBF.
	Candidates entity.Order
	// Reservations is the number of jobs that do not fit and hold a window: 0 means 1, as in EASY;
	// NoReservation means none; AllReservations means every such job, which is conservative
	// backfilling planned anew in every round.
	Reservations int
	// Depth is the number of waiting jobs that are looked at for backfilling in a round, in the
	// order of the candidates; 0 means all. A head that stands among them counts: if both orders
	// are the same, a depth of 1 backfills nobody.
	Depth int
	// Shape is the rule by which a moldable job chooses its window, also the head for a window
	// ahead. A candidate takes the best window that starts now: it can have no other.
	Shape entity.ShapeRule
}

// Extreme values of EASY.Reservations.
const (
	NoReservation   = -1
	AllReservations = math.MaxInt
)

// Name returns "easy", or "easy-sjbf" with shortest-first candidates, followed by the settings
// that differ from the zero value.
func (p EASY) Name() string {
	name := "easy"
	if p.Candidates.Name == ShortestFirst.Name {
		name = "easy-sjbf"
	} else if p.Candidates.Key != nil {
		name += "-by-" + nameOf(p.Candidates)
	}
	return shaped(named(name, p.Order), p.Shape)
}

// PlansAll reports whether every waiting job holds a window, which is so under
// AllReservations; see Conservative.PlansAll.
func (p EASY) PlansAll() bool { return p.Reservations == AllReservations }

// Schedule starts heads while they fit, and backfills beside the windows that are held for the
// first jobs that do not fit.
func (p EASY) Schedule(r *entity.Round) {
	dynamic := p.Order.Dynamic || p.Candidates.Dynamic
	if dynamic && p.Shape != entity.FirstEnd && noneCanStart(r) {
		return // (under FirstEnd a moldable head is told of the window that it waits for)
	}

	// 1. Heads start while they fit.
	q := queue(r, p.Order)
	head := startHeads(r, q, p.Shape)
	if head == nil {
		return
	}
	arrival := p.onlyArrival(r, head)
	if r.WhyObserved() {
		defer p.explain(r, q, head, arrival, nil)
	}

	// 2. The head that does not fit has a shadow: its window, put into the plan only when a
	// candidate might take a part of it.
	s := p.shadow(r, head)
	if !p.holdBeforeCandidates(q, &s, arrival) {
		return
	}

	// 3. Candidates that fit beside the shadow start, in their order; after a single arrival
	// no other job has come to fit.
	if arrival != nil {
		if w, fits := p.fitsBesideHolds(r, arrival); fits {
			s.start(arrival, w)
		}
		return
	}
	for j, w := range p.candidates(r, q).Fitting(r.Plan, r.Now, p.Depth, p.Shape) {
		if !s.start(j, w) {
			return
		}
	}
}

// holdBeforeCandidates puts windows into the plan that cannot wait for a candidate (see
// holdAhead). It reports whether candidates are to be tried: the arrival alone, if there is
// one.
func (p *EASY) holdBeforeCandidates(q *entity.View, s *shadow, arrival *entity.Run) bool {
	if arrival != nil {
		if _, fits := p.Shape.Find(s.r.Plan, arrival, s.r.Now, s.r.Now); !fits {
			return false
		}
	}
	return p.holdAhead(q, s, arrival != nil)
}

// fitsBesideHolds returns the window in which an arrival can start now that windows are held,
// of which observers have heard: one of them may have cancelled the arrival.
func (p *EASY) fitsBesideHolds(r *entity.Round, arrival *entity.Run) (entity.Window, bool) {
	w, fits := p.Shape.Find(r.Plan, arrival, r.Now, r.Now)
	return w, fits && arrival.State == entity.Waiting && !arrival.Reservation.Active
}

// onlyArrival returns the job that is all that is new since the last round and
// waits behind the same head, or nil. The head's hold is what it was, and no
// other job has come to fit beside it: only the new job is tried. (One that
// overtook the head and started has delayed the hold, which may let others in;
// one that overtook the second of several held jobs has taken its hold.)
//
// This is part of what EASY is, and no shortcut alone. It changes no start, but it
// decides which promises are told: the others, which would be refused again, are not
// tried, and so do not have the head's window put into the plan. Without it runs take
// 9 to 21% longer.
func (p *EASY) onlyArrival(r *entity.Round, head *entity.Run) *entity.Run {
	inSubmissionOrder := p.Order.Key == nil
	if r.Gained || len(r.Fresh()) != 1 || p.Depth > 0 || p.Order.Dynamic || (p.Reservations > 1 && !inSubmissionOrder) {
		return nil
	}
	if j := r.Fresh()[0]; j != head && j.State == entity.Waiting {
		return j
	}
	return nil
}

// candidates returns the waiting jobs in the order in which they are tried.
func (p *EASY) candidates(r *entity.Round, q *entity.View) *entity.View {
	if p.Candidates.Key == nil {
		return q
	}
	return queue(r, p.Candidates)
}

// shadow is the window of a head that does not fit, which backfilled jobs must not delay. It is put
// into the plan when the first candidate comes that would run past the window's start; candidates
// that end earlier cannot delay it.
type shadow struct {
	r      *entity.Round
	head   *entity.Run      // waits, and did not fit when its turn came
	rule   entity.ShapeRule // by which a moldable head chooses its window
	found  bool             // window was looked for
	asOf   uint64           // Round.Changes when the window was found
	window entity.Window    // the head's earliest; its start is the shadow time
	held   bool             // the window is in the plan, or need not be
}

// shadow returns the shadow of a head that does not fit.
func (p *EASY) shadow(r *entity.Round, head *entity.Run) shadow {
	return shadow{r: r, head: head, rule: p.Shape, held: p.Reservations == NoReservation}
}

// start starts j in w, which fits now, unless that would delay the head. It
// reports whether to go on.
func (s *shadow) start(j *entity.Run, w entity.Window) bool {
	if s.passesShadow(w) {
		if !s.hold() {
			return false
		}
		if j.State != entity.Waiting {
			return true // an observer who heard of the hold has cancelled j
		}
		if fits := s.look(&w, j, s.r.Now); !fits {
			return true
		}
	}
	return s.r.Reserve(j, w)
}

// passesShadow reports whether w goes on past the shadow time, and so might take what the
// head is to have and does not hold yet.
func (s *shadow) passesShadow(w entity.Window) bool {
	if s.held {
		return false
	}
	s.find()
	return !s.held && w.End > s.window.Start
}

// find looks for the head's window, again if somebody else has changed something: an
// observer who hears of a start may take capacity away, or have the head take longer.
func (s *shadow) find() {
	if s.found && s.asOf == s.r.Changes() {
		return
	}
	s.found, s.asOf = true, s.r.Changes()
	s.held = !s.look(&s.window, s.head, des.Forever) // never, as things stand: it cannot be delayed either
}

// look sets w to the window that j would get from now to until, and reports whether there is one.
// Of a rigid job the plan is asked at once: each call that hands a window on copies it.
func (s *shadow) look(w *entity.Window, j *entity.Run, until des.Time) (ok bool) {
	if len(j.Shapes) == 0 {
		*w, ok = s.r.Plan.Find(j.Request, s.r.Now, until)
	} else {
		*w, ok = s.rule.Find(s.r.Plan, j, s.r.Now, until)
	}
	return ok
}

// hold puts the head's window into the plan. It reports whether the round goes on.
func (s *shadow) hold() bool {
	if s.held {
		return true
	}
	if s.find(); s.held {
		return true
	}
	s.held = true
	if s.head.State != entity.Waiting {
		return true // an observer has cancelled it meanwhile
	}
	return s.r.Hold(s.head, s.window)
}

// holdAhead puts windows into the plan before any candidate is tried, where they are not the
// head's alone, or where the head might itself start in a worse one. It reports whether
// candidates are to be tried.
func (p *EASY) holdAhead(q *entity.View, s *shadow, single bool) bool {
	if p.Shape == entity.FirstEnd && len(s.head.Shapes) > 0 && !s.hold() {
		return false // the head waits for a better window than it could have now, and is no candidate
	}
	if p.Reservations <= 1 {
		return true
	}
	if !single && !q.AnyFits(s.r.Plan, s.r.Now) {
		return false // nobody would start, whatever is held
	}
	return s.hold() && p.holdMore(s.r, q, s.head)
}

// holdMore keeps windows for the jobs behind the head that do not fit. A job that
// fits beside what is held starts in its turn.
func (p *EASY) holdMore(r *entity.Round, q *entity.View, head *entity.Run) bool {
	left := p.Reservations - 1
	for j := range q.All() {
		if j == head {
			continue
		}
		if w, ok := p.Shape.FindNow(r.Plan, j, r.Now); ok {
			if !r.Reserve(j, w) {
				return false
			}
			continue
		}
		w, ok := p.Shape.Find(r.Plan, j, r.Now, des.Forever)
		if !ok {
			continue
		}
		r.TellWhy(j, entity.Why{What: entity.TooFewFree, Start: w.Start})
		if !r.Hold(j, w) {
			return false
		}
		if left--; left == 0 {
			break
		}
	}
	return true
}
