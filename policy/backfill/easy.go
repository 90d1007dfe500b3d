package backfill

import (
	"errors"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// EASY is aggressive backfilling (Lifka 1995; Mu'alem and Feitelson 2001): the
// head of the queue that does not fit holds the earliest window it can get, its
// shadow time by the estimates; a job that fits now beside that hold may start.
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
	// Shape is which window a moldable job takes, the head ahead of its start as
	// well. A candidate takes the best of those that start now: it has no other.
	Shape entity.ShapeRule
	// FittingArrivals has a job that comes when too few processors are free for it
	// change nothing: nobody is looked at. That makes no difference where jobs are
	// planned by their requests. Where a prediction was corrected since the latest
	// round the shadow time is a later one, and a candidate may start that could not
	// before: it then waits for the next end, or for a job that comes and fits. So do the
	// runs of Gaussier et al. (2015) that are called "easy_prediction_backfill", not those
	// with the shortest candidates first.
	FittingArrivals bool

	// The settings below are of published simulators; no textbook has them.

	// Sticky has the job that is first when it does not fit stay the head until it
	// has started, whoever comes before it by the order meanwhile.
	Sticky bool
	// NoSpare has candidates end by the shadow time: none runs on beside the head.
	NoSpare bool
	// FirstSpare has fewer processors count as spare where several jobs end at the shadow
	// time: those that started first end one after the other until the head fits, and what
	// the others have is not spare. It is for counted processors.
	FirstSpare bool
	// StrictShadow has a candidate that ends exactly at the shadow time count as one
	// that runs on.
	StrictShadow bool
	// Window is how many of the waiting jobs are seen at all, those that were
	// submitted first: they are put in order among themselves, and one more is seen
	// when one of them has started. 0 means all. It is for a whole queue, not for a
	// part that another policy delegates.
	Window int

	single bool // one start a round
}

// Check reports settings that do not go together, or nil: NoSpare, FirstSpare and
// StrictShadow are about the one shadow time that EASY has.
func (p EASY) Check() error {
	if p.shadowed() && p.Reservations != 0 && p.Reservations != 1 {
		return errors.New("the shadow time is that of a single reservation, and candidates can be held to it only where one job holds one")
	}
	if p.NoSpare && p.FirstSpare {
		return errors.New("spare processors are used, or they are not")
	}
	return nil
}

// shadowed reports whether there are settings about the shadow time.
func (p EASY) shadowed() bool { return p.NoSpare || p.FirstSpare || p.StrictShadow }

// Extreme values of EASY.Reservations.
const (
	NoReservation   = -1
	AllReservations = math.MaxInt
)

// Name is "easy", "easy-sjbf" with shortest-first candidates, and with the
// settings that are not those of the zero value.
func (p EASY) Name() string {
	name := "easy"
	if p.Candidates.Name == ShortestFirst.Name {
		name = "easy-sjbf"
	} else if p.Candidates.Key != nil {
		name += "-by-" + nameOf(p.Candidates)
	}
	name = seen(shaped(named(name, p.Order), p.Shape), p.Sticky, p.Window)
	if p.NoSpare {
		name += "-no-spare"
	}
	if p.FirstSpare {
		name += "-first-spare"
	}
	if p.StrictShadow {
		name += "-strict-shadow"
	}
	return name
}

// PlansAll is that of Conservative: under AllReservations every job that waits holds a window.
func (p EASY) PlansAll() bool { return p.Reservations == AllReservations }

// Schedule starts heads while they fit, and backfills beside the windows held
// for the first that do not.
func (p EASY) Schedule(r *entity.Round) {
	if p.FittingArrivals && p.noneFits(r) {
		return
	}
	if p.shadowed() {
		if err := p.Check(); err != nil {
			r.Fail(err)
			return
		}
	}
	if p.Window > 0 {
		one := p
		one.Window, one.FittingArrivals, one.single = 0, false, true
		within(r, p.Window, one, p.explainSight)
		return
	}
	if (p.Order.Dynamic || p.Candidates.Dynamic) && p.Shape != entity.FirstEnd && settled(r, p.Sticky) {
		return // (under FirstEnd a moldable head is told of the window that it waits for)
	}
	q := queue(r, p.Order)
	head := startHeads(r, q, p.Shape, p.Sticky, p.single)
	if head == nil {
		return
	}
	lone := p.onlyArrival(r, head)
	if lone != nil {
		if _, ok := p.Shape.Find(r.Plan, lone, r.Now, r.Now); !ok {
			p.explainArrival(r, q, lone, head)
			return
		}
	}
	if !p.single {
		p.explain(r, q, head)
	}
	b := backfilling{r: r, head: head, rule: p.Shape, held: p.Reservations == NoReservation, noSpare: p.NoSpare, firstSpare: p.FirstSpare, strict: p.StrictShadow}
	if p.Shape == entity.FirstEnd && len(head.Shapes) > 0 && !b.held && !b.hold() {
		return // it waits for a better window than it could have now, and is no candidate
	}
	if p.Reservations > 1 {
		if lone == nil && !q.AnyFits(r.Plan, r.Now) {
			return // nobody would start, whatever is held
		}
		if !b.hold() || !p.holdMore(r, q, head) {
			return
		}
	}
	if lone != nil {
		if w, ok := p.Shape.Find(r.Plan, lone, r.Now, r.Now); ok && lone.State == entity.Waiting && !lone.Reservation.Active {
			b.start(lone, w)
		}
		return
	}
	candidates := q
	if p.Candidates.Key != nil {
		candidates = queue(r, p.Candidates)
	}
	for j, w := range candidates.Fitting(r.Plan, r.Now, p.Depth, p.Shape) {
		if !b.start(j, w) || (p.single && j.State != entity.Waiting) {
			return
		}
	}
}

// noneFits reports whether the round is for new jobs alone, of which none could start now.
func (p EASY) noneFits(r *entity.Round) bool {
	return r.Cause == entity.CauseArrival && !slices.ContainsFunc(r.Fresh(), func(j *entity.Run) bool {
		_, ok := p.Shape.FindNow(r.Plan, j, r.Now)
		return ok
	})
}

// onlyArrival returns the job that is all that is new since the last round and
// waits behind the same head, or nil. The head's hold is what it was, and no
// other job has come to fit beside it: only the new job is tried. (One that
// overtook the head and started has delayed the hold, which may let others in;
// one that overtook the second of several held jobs has taken its hold; one that ends
// with others at the shadow time alters what FirstSpare counts.)
//
// This is part of what EASY is, and no shortcut alone. It changes no start, but it
// decides which promises are told: the others, which would be refused again, are not
// tried, and so do not have the head's window put into the plan.
func (p EASY) onlyArrival(r *entity.Round, head *entity.Run) *entity.Run {
	inSubmissionOrder := p.Order.Key == nil
	if r.Gained || p.FittingArrivals || p.FirstSpare || len(r.Fresh()) != 1 || p.Depth > 0 || p.Order.Dynamic || (p.Reservations > 1 && !inSubmissionOrder) {
		return nil
	}
	if j := r.Fresh()[0]; j != head && j.State == entity.Waiting {
		return j
	}
	return nil
}

// backfilling is the part of a round in which a head that does not fit must not
// be delayed. Its window is put into the plan when the first candidate comes
// that runs on past the window's start; before, no job can meet it.
type backfilling struct {
	r      *entity.Round
	head   *entity.Run
	rule   entity.ShapeRule
	found  bool
	asOf   uint64        // the Changes of the round when it was found
	window entity.Window // the head's earliest
	held   bool          // it is in the plan, or need not be

	noSpare, firstSpare, strict bool // EASY.NoSpare, EASY.FirstSpare, EASY.StrictShadow
	spare                       int  // with firstSpare: what is left of the processors beside the head
}

// start starts j in w, which fits now, unless that would delay the head. It
// reports whether to go on.
func (b *backfilling) start(j *entity.Run, w entity.Window) bool {
	if !b.held {
		b.find()
		if !b.held && (w.End > b.window.Start || (b.strict && w.End == b.window.Start)) {
			if b.noSpare {
				return true
			}
			if !b.hold() {
				return false
			}
			if j.State != entity.Waiting {
				return true // an observer who heard of the hold has cancelled it
			}
			var ok bool
			if w, ok = b.rule.Find(b.r.Plan, j, b.r.Now, b.r.Now); !ok {
				return true
			}
		}
	}
	if b.strict && b.found && w.End == b.window.Start && !b.couldRunOn(j, w) {
		return true
	}
	if b.firstSpare && !b.beside(w) {
		return true
	}
	return b.r.Reserve(j, w)
}

// couldRunOn reports whether j, which in w would end at the shadow time, could also
// run past it beside what is held. On fast nodes a tick of the request may be none of
// the window's.
func (b *backfilling) couldRunOn(j *entity.Run, w entity.Window) bool {
	req := j.Request
	if len(j.Shapes) > 0 {
		req.Nodes, req.Length = w.Nodes, w.Length()
	}
	length := req.Length
	for more := des.Tick; ; more *= 2 {
		req.Length = length.Add(more)
		if longer, ok := b.r.Plan.Find(req, b.r.Now, b.r.Now); !ok || longer.End > w.End {
			return ok
		}
	}
}

// find looks for the head's window, again if somebody else has changed something: an
// observer who hears of a start may take capacity away, or have the head take longer.
func (b *backfilling) find() {
	if b.found && b.asOf == b.r.Changes() {
		return
	}
	b.found, b.asOf = true, b.r.Changes()
	var ok bool
	b.window, ok = b.rule.Find(b.r.Plan, b.head, b.r.Now, des.Forever)
	b.held = !ok // never, as things stand: it cannot be delayed either
	if b.firstSpare {
		b.countSpare()
	}
}

// hold puts the head's window into the plan.
func (b *backfilling) hold() bool {
	if b.held {
		return true
	}
	if b.find(); b.held {
		return true
	}
	b.held = true
	if b.head.State != entity.Waiting {
		return true // an observer has cancelled it meanwhile
	}
	return b.r.Hold(b.head, b.window)
}

// holdMore keeps windows for the jobs behind the head that do not fit. One that
// fits beside what is held starts in its turn.
func (p EASY) holdMore(r *entity.Round, q *entity.View, head *entity.Run) bool {
	left := p.Reservations - 1
	for j := range q.All() {
		if j == head {
			continue
		}
		if w, ok := p.Shape.FindNow(r.Plan, j, r.Now); ok {
			if !r.Reserve(j, w) || p.single {
				return false
			}
			continue
		}
		w, ok := p.Shape.Find(r.Plan, j, r.Now, des.Forever)
		if !ok {
			continue
		}
		r.Say(j, entity.Why{What: entity.TooFewFree, Start: w.Start})
		if !r.Hold(j, w) {
			return false
		}
		if left--; left == 0 {
			break
		}
	}
	return true
}
