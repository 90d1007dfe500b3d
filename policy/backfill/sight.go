package backfill

// A queue of which only a part is seen, a head that stays one, and spare processors that are
// not all counted.

import (
	"errors"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/entity"
)

// first is the head of the queue q in the order of the view v; where heads are sticky the one
// chosen before, for as long as it waits.
func first(q *entity.Queue, v *entity.View, sticky bool) *entity.Run {
	if !sticky {
		return v.First()
	}
	if head, ok := q.Kept.(*entity.Run); ok && head.State == entity.Waiting {
		return head
	}
	head := v.First()
	if q.Kept = nil; head != nil {
		q.Kept = head
	}
	return head
}

// within has a policy that starts a single job a round decide about the n waiting jobs
// that were submitted first, and again with the next one among them as long as it
// starts any. explain says what holds those in sight.
func within(r *entity.Round, n int, one entity.Policy, explain func(*entity.Round, *entity.Queue)) {
	whole := r.Queue
	if j := whole.First(); j != nil && whole.Holds(j) {
		r.Fail(errors.New("a window on the queue needs all of it, and this is a part that another policy delegates"))
		return
	}
	sight, _ := whole.Kept.(*entity.Queue)
	if sight == nil || r.Cause.Has(^(entity.CauseArrival | entity.CauseEnd)) {
		sight = lookAgain(r, n, sight)
	}
	for {
		if sight.Len() < n {
			fill(r, sight, n)
		}
		waiting := sight.Len()
		r.Delegate(one, sight, nil)
		r.DropHolds() // the next head may be another one
		if sight.Len() == waiting {
			break
		}
	}
	whole.Kept = sight
	r.Explain(func() {
		explain(r, sight)
		for j := range r.Waiting() {
			if _, told := r.Said(j); !told && !sight.Holds(j) {
				r.Say(j, entity.Why{Text: fmt.Sprintf("was not among the %d jobs that have waited longest, which alone are looked at", n)})
			}
		}
	})
}

// lookAgain is what is in sight where an old job may have come back to the queue: it
// takes the place of a younger one.
func lookAgain(r *entity.Round, n int, before *entity.Queue) *entity.Queue {
	sight := r.Queue.Part()
	fill(r, sight, n)
	if before != nil {
		if head, ok := before.Kept.(*entity.Run); ok && sight.Holds(head) {
			sight.Kept = head
		}
	}
	return sight
}

// fill has n waiting jobs be in sight, where there are so many.
func fill(r *entity.Round, sight *entity.Queue, n int) {
	if sight.Len() == r.Queue.Len() {
		return
	}
	for j := range r.Waiting() {
		if sight.Len() == n {
			return
		}
		if !sight.Holds(j) {
			sight.Take(j)
		}
	}
}

// countSpare counts the processors beside the head at its shadow time, when just as many of
// the jobs that end then as it needs have ended, in the order in which they started.
func (b *backfilling) countSpare() {
	counted, ok := b.r.Plan.(interface{ Free() int })
	switch {
	case !ok:
		b.r.Fail(errors.New("the first spare processors are those of a plan that counts them, and this one has nodes with names"))
		return
	case b.held: // there is no shadow time
		b.spare = math.MaxInt
		return
	}
	free, need := counted.Free(), b.window.Nodes
	for j := range b.r.Running() {
		if w := j.Reservation.Window; b.r.Now < w.End && w.End < b.window.Start {
			free += w.Nodes
		}
	}
	for j := range b.r.Running() {
		if w := j.Reservation.Window; w.End == b.window.Start && free < need {
			free += w.Nodes
		}
	}
	b.spare = free - need
}

// beside reports whether w, if it goes on past the shadow time, has room in what is left of
// the spare processors, and takes it.
func (b *backfilling) beside(w entity.Window) bool {
	past := w.End > b.window.Start
	if (past || b.strict && w.End == b.window.Start) && w.Nodes > b.spare {
		return false
	}
	if past {
		b.spare -= w.Nodes
	}
	return true
}
