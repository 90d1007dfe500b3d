package backfill

import (
	"github.com/gridslot/gridslot/des"
	"math"

	"github.com/gridslot/gridslot/entity"
)

// EASY is aggressive backfilling (Lifka 1995; Mu'alem and Feitelson 2001): the
// head of the queue that does not fit holds the earliest window it can get, its
// shadow time by the estimates; whoever fits now beside that hold may start.
//
// With the hold in the plan the two classic conditions need no text of their
// own: a candidate that ends by the shadow time does not meet the hold, and one
// that runs on must fit beside it, on the "extra" processors.
//
// The zero value is EASY on the order of submission. Nothing is kept from one
// round to the next.
type EASY struct {
	// Order of the queue; submission where its Key is nil.
	Order entity.Order
	// Candidates is the order in which jobs are tried for backfilling; that of
	// the queue where its Key is nil. ShortestFirst makes it EASY-SJBF.
	Candidates entity.Order
	// Reservations is how many jobs that do not fit hold a window: 0 means 1, as
	// in EASY; NoReservation none; AllReservations every one, which is
	// conservative backfilling planned anew in every round.
	Reservations int
	// Depth is how many candidates are tried; 0 means all.
	Depth int
}

// Extreme values of EASY.Reservations.
const (
	NoReservation   = -1
	AllReservations = math.MaxInt
)

// Name is "easy", "easy-sjbf" with shortest-first candidates, and with the
// orders where they are others.
func (p EASY) Name() string {
	name := "easy"
	if p.Candidates.Name == ShortestFirst.Name {
		name = "easy-sjbf"
	} else if p.Candidates.Key != nil {
		name += "-by-" + p.Candidates.Name
	}
	return named(name, p.Order)
}

// Schedule starts heads while they fit, holds windows for the first that do
// not, and backfills.
func (p EASY) Schedule(r *entity.Round) {
	q := queue(r, p.Order)
	head := startHeads(r, q)
	if head == nil {
		return
	}
	if p.onlyArrival(r, head) {
		j := r.Fresh()[0]
		if !fitsNow(r, j) {
			return
		}
		p.hold(r, q, head)
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok && j.State == entity.Waiting {
			r.Reserve(j, w)
		}
		return
	}
	candidates := q
	if p.Candidates.Key != nil {
		candidates = queue(r, p.Candidates)
	}
	if !q.AnyFits(r.Plan, r.Now) {
		return // nobody would start, whatever is held
	}
	p.hold(r, q, head)
	for j, w := range candidates.Fitting(r.Plan, r.Now, p.Depth) {
		if !r.Reserve(j, w) {
			return
		}
	}
}

// onlyArrival reports whether all that is new since the last round is one job
// that waits behind the same head. The head's hold is what it was, and nobody
// else has come to fit beside it: only the new job need be tried. (One that
// overtook the head and started has delayed the hold, which may let others in;
// one that overtook the second of several held jobs has taken its hold.)
func (p EASY) onlyArrival(r *entity.Round, head *entity.Job) bool {
	inSubmissionOrder := p.Order.Key == nil
	if r.Gained || len(r.Fresh()) != 1 || p.Depth > 0 || p.Order.Dynamic || (p.Reservations > 1 && !inSubmissionOrder) {
		return false
	}
	j := r.Fresh()[0]
	return j != head && j.State == entity.Waiting
}

func fitsNow(r *entity.Round, j *entity.Job) bool {
	_, ok := r.Plan.Find(j.Request, r.Now, r.Now)
	return ok
}

// hold keeps windows for the head, which does not fit, and for the next jobs
// that do not. A job behind a held one that fits beside it starts in its turn.
func (p EASY) hold(r *entity.Round, q *entity.View, head *entity.Job) {
	if p.Reservations == NoReservation {
		return
	}
	if w, ok := r.Plan.Find(head.Request, r.Now, des.Forever); ok && !r.Hold(head, w) {
		return
	}
	left := p.Reservations - 1
	if left <= 0 {
		return
	}
	for j := range q.All() {
		if j == head {
			continue
		}
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			if !r.Reserve(j, w) {
				return
			}
			continue
		}
		w, ok := r.Plan.Find(j.Request, r.Now, des.Forever)
		if !ok {
			continue // never, as things stand: it cannot be held up either
		}
		if !r.Hold(j, w) {
			return
		}
		if left--; left == 0 {
			return
		}
	}
}
