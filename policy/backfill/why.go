package backfill

// What holds the jobs that the policies leave waiting; see entity.Why. Nothing here is
// done where nobody listens.

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// explain says that the jobs behind a head that does not fit wait for it.
func (p FCFS) explain(r *entity.Round, q *entity.View, head *entity.Run) {
	if head == nil || !r.WhyObserved() {
		return
	}
	fresh, cause := r.Fresh(), r.Cause
	r.Explain(func() {
		if head.State != entity.Waiting {
			return // an observer has cancelled it
		}
		turn, _ := explainHead(r, head, p.Shape, p.Order.Key == nil)
		behind := entity.Why{What: entity.BehindOthers, Other: head}
		if turn && (p.Order.Key != nil || cause.Has(entity.CauseChange)) {
			for j := range q.All() { // otherwise nobody comes before the head of before
				if said, _ := r.WhyTold(j); j != head && ofQueueHead(said.What) {
					r.TellWhy(j, behind)
				}
			}
		}
		for _, j := range fresh {
			if j != head && j.State == entity.Waiting {
				r.TellWhy(j, behind)
			}
		}
	})
}

// ofQueueHead reports whether o is an obstacle of the first job of a queue.
func ofQueueHead(o entity.Obstacle) bool {
	return o == entity.TooFewFree || o == entity.ReservedAhead || o == entity.NoWindow || o == entity.OverBudget
}

// explainHead says until when too few processors are free for the head of the queue.
// It reports whether it was another job's turn before. In a plain queue no job that
// comes can delay the head.
func explainHead(r *entity.Round, head *entity.Run, rule entity.ShapeRule, plain bool) (turn bool, start des.Time) {
	said, told := r.WhyTold(head)
	turn = !told || !ofQueueHead(said.What)
	if !turn && !r.Gained && plain && said.What == entity.TooFewFree {
		return false, said.Start
	}
	w, ok := rule.Find(r.Plan, head, r.Now, des.Forever)
	if !ok {
		r.TellWhy(head, noWindow(r, head))
		return turn, des.Forever
	}
	why := entity.Why{What: entity.TooFewFree, Start: w.Start}
	if entity.Named(r.Plan) {
		if _, earlier := rule.Find(r.Plan, head, r.Now, w.Start-des.Tick); earlier {
			why.What, why.Text = entity.ReservedAhead, entity.LaterPreferred
		}
	}
	r.TellWhy(head, why)
	return turn, w.Start
}

// noRoomBeside returns why j does not fit beside the running jobs and the window of head, which
// starts at the instant start. By is the obstacle that j would have to wait for if nothing were held.
func noRoomBeside(r *entity.Round, j, head *entity.Run, start des.Time, rule entity.ShapeRule) entity.Why {
	why := entity.Why{What: entity.NoRoomBeside, Other: head, Start: start}
	if w, ok := rule.Find(r.Plan, j, r.Now, des.Forever); ok && w.Start > r.Now {
		why.By = r.BlockerOf(j, w.Start)
	}
	return why
}

// noWindow returns why the plan has no window for j at any time: the budget, if there is a window
// without it.
func noWindow(r *entity.Round, j *entity.Run) entity.Why {
	free := j.Request
	free.Budget = 0
	if j.Request.Budget > 0 && r.Plan.Fits(free) == nil {
		if w, ok := r.Plan.Find(free, r.Now, des.Forever); ok {
			return entity.Why{What: entity.OverBudget, Start: w.Start, Short: w.Cost - j.Request.Budget}
		}
	}
	return entity.Why{What: entity.NoWindow}
}

// explain says of a new job when it starts, or that it has no window. It is told before the next
// job is placed: what is placed later stood in nobody's way.
func (p Conservative) explain(r *entity.Round, j *entity.Run, found bool) {
	switch {
	case !r.WhyObserved():
	case j.State == entity.Reserved:
		r.TellWhy(j, entity.Why{What: entity.TooFewFree, Start: j.Reservation.Window.Start})
	case j.State == entity.Waiting && !found:
		r.TellWhy(j, noWindow(r, j))
	}
}

// explain says what holds the head and the jobs behind it.
//
// A job that does not fit beside what is held for the head is told so when it comes,
// and told which job that is. At the first decision at which it would fit if nothing
// were held it is told by how much it would delay the head: once for each head, though
// for how long it goes on to fit, and by how much it would delay the head then, may change.
func (p EASY) explain(r *entity.Round, q *entity.View, head, arrival *entity.Run, refusal refusal) {
	if !r.WhyObserved() {
		return
	}
	fresh, rule, depth, many, none := r.Fresh(), p.Shape, p.Depth, p.Reservations > 1, p.Reservations == NoReservation
	plain := p.Order.Key == nil && p.Reservations == 0
	r.Explain(func() {
		if head.State != entity.Waiting {
			return // an observer has cancelled it
		}
		if said, _ := r.WhyTold(head); arrival != nil && said.What == entity.TooFewFree && p.Reservations == 0 && !fitsAlone(r, arrival, rule) {
			r.TellWhy(arrival, noRoomBeside(r, arrival, head, said.Start, rule))
			return // nothing else has changed
		}

		// The head; and where it became the head just now, the jobs that were told of another one.
		turn, start := explainHead(r, head, rule, plain)
		heldFor, shadow := head, start
		if none {
			heldFor, shadow = nil, 0
		}
		if turn && !many {
			for j, said := range r.AllWhyTold() { // what was told of or about another head is past
				if j != head && j.State == entity.Waiting && (ofQueueHead(said.What) || said.What == entity.WouldDelay) {
					r.TellWhy(j, noRoomBeside(r, j, heldFor, shadow, rule))
				}
			}
		}

		// New jobs, and then those that would fit if nothing were held.
		for _, j := range fresh {
			if _, told := r.WhyTold(j); !told && j.State == entity.Waiting {
				r.TellWhy(j, noRoomBeside(r, j, heldFor, shadow, rule))
			}
		}
		switch {
		case none && depth == 0: // whatever fits has started
		case many: // what a job meets is not the head's window alone
		case turn || r.Gained:
			for _, j := range r.WouldFit(q, rule, head) {
				p.explainDelay(r, j, head, start, refusal)
			}
		default: // the others were told
			for _, j := range fresh {
				if j != head && j.State == entity.Waiting {
					p.explainDelay(r, j, head, start, refusal)
				}
			}
		}
	})
}

// fitsAlone reports whether j, which waits, would fit now if nothing were held; true where
// it waits no more.
func fitsAlone(r *entity.Round, j *entity.Run, rule entity.ShapeRule) bool {
	if j.State != entity.Waiting {
		return true
	}
	_, fits := rule.Find(r.Plan, j, r.Now, r.Now)
	return fits
}

// refusal is a rule of a variant of EASY by which a job that fits now in w, and would not
// delay the head, does not start: in words, or "".
type refusal func(w entity.Window, head *entity.Run, start des.Time) string

// explainDelay says by how much j, which fits now, would delay the head, or what else
// keeps it from starting.
func (p EASY) explainDelay(r *entity.Round, j, head *entity.Run, start des.Time, refusal refusal) {
	rule, depth, none := p.Shape, p.Depth, p.Reservations == NoReservation
	w, ok := rule.Find(r.Plan, j, r.Now, r.Now)
	if !ok {
		return
	}
	// The head's window if j ran.
	var then entity.Window
	if !r.Suppose(j, w, func() { then, ok = rule.Find(r.Plan, head, r.Now, des.Forever) }) {
		return
	}
	refused := ""
	if refusal != nil {
		refused = refusal(w, head, start)
	}
	switch {
	case none:
		r.TellWhy(j, entity.Why{Text: fmt.Sprintf("was not among the first %d candidates", depth)})
	case !ok:
		r.TellWhy(j, entity.Why{What: entity.WouldDelay, Other: head, Start: start, Delay: des.Forever})
	case then.Start > start:
		r.TellWhy(j, entity.Why{What: entity.WouldDelay, Other: head, Start: start, Delay: then.Start - start})
	case refused != "":
		r.TellWhy(j, entity.Why{Text: refused})
	case depth > 0:
		r.TellWhy(j, entity.Why{Text: fmt.Sprintf("was not among the first %d candidates", depth)})
	}
}

// refusal tells of the habits by which candidates do not start.
func (p PublishedEASY) refusal(w entity.Window, head *entity.Run, start des.Time) string {
	switch {
	case p.NoSpare && w.End > start:
		return fmt.Sprintf("would run on past %v, when %v may start, and spare processors are not used", start, head)
	case p.StrictShadow && w.End == start:
		return fmt.Sprintf("would end at %v, when %v may start, and not before it", start, head)
	}
	return ""
}

// explainWindow says, when the round is over, what holds the jobs in sight, and that the
// others are not among them.
func (p PublishedEASY) explainWindow(r *entity.Round, sight *entity.Queue) {
	r.Explain(func() {
		p.explainInWindow(r, sight)
		for j := range r.Waiting() {
			if _, told := r.WhyTold(j); !told && !sight.Holds(j) {
				r.TellWhy(j, entity.Why{Text: fmt.Sprintf("was not among the %d jobs that have waited longest, which alone are looked at", p.Window)})
			}
		}
	})
}

// explainInWindow says what holds the jobs in sight.
func (p PublishedEASY) explainInWindow(r *entity.Round, sight *entity.Queue) {
	q := sight.By(p.Order, r.Now)
	head := p.first(sight, q)
	if head == nil {
		return
	}
	_, start := explainHead(r, head, p.Shape, false)
	for j := range q.All() {
		_, fits := p.Shape.Find(r.Plan, j, r.Now, r.Now)
		switch {
		case j == head:
		case p.NoBackfilling:
			r.TellWhy(j, entity.Why{What: entity.BehindOthers, Other: head})
		case fits:
			p.explainDelay(r, j, head, start, p.refusal)
		default:
			r.TellWhy(j, noRoomBeside(r, j, head, start, p.Shape))
		}
	}
}
