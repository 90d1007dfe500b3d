package entity

// Why jobs wait: what policies tell of the jobs that they leave in the queue.

import (
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// Obstacle is a kind of reason why a job waits.
type Obstacle uint8

const (
	HeldOtherwise  Obstacle = iota // as Why.Text says
	BehindOthers                   // jobs ahead of it must start first; Why.Other is the first of them
	TooFewFree                     // too few processors or nodes are free before Why.Start, the earliest start as things stand
	NoRoomBeside                   // it does not fit now beside what runs, or runs and is held for the head of the queue, Why.Other
	WouldDelay                     // it fits now, and would delay the start of Why.Other by Why.Delay
	ReservedAhead                  // it waits for its reservation, which begins at Why.Start
	NoWindow                       // the plan has no window for it
	OverBudget                     // the window that it would be given is over its budget by Why.Short
	TimeLimitLow                   // postponed: the limit T* on the batch's processor time is too low by Why.Short time units
	BudgetLimitLow                 // postponed: the limit B* on the batch's cost is too low by Why.Short
	UntilCycle                     // it waits for the next cycle
)

var obstacles = enum.Of[Obstacle]("obstacle", "other", "behind", "processors", "room", "delay", "reserved",
	"no-window", "over-budget", "time-limit", "budget-limit", "cycle")

func (o Obstacle) String() string { return obstacles.Name(o) }

// ParseObstacle reads what String writes.
func ParseObstacle(s string) (Obstacle, error) { return obstacles.Parse(s) }

// Why says what holds a waiting job, as of one decision. Which of its numbers count depends
// on What.
type Why struct {
	What  Obstacle // decides which of the fields below count
	Other *Run     // the job that stands in the way, or nil
	Start des.Time // earliest start of the job, or of Other if Other has a window; 0 if unknown
	Delay des.Time // WouldDelay: by how much Other would start later
	// By is the nearest obstacle to the job's start, for example a job, an outage or a reservation.
	// If it is not given, TellWhy finds it for TooFewFree, by Round.BlockerOf.
	By    Blocker
	Short float64 // by how much a budget or a limit is too low
	Text  string  // in a policy's own words; for people
}

// LaterPreferred is the Why.Text of a job that waits for a window though an earlier one is free
// in the plan: its finder or planner prefers the later one.
const LaterPreferred = "an earlier one was free, and this one was preferred"

// WhyObserver is an Observer that hears what holds the jobs that a policy leaves waiting.
type WhyObserver interface {
	// ObserveWhy is called at the instant at, whenever the policy gives another reason for r
	// than before.
	ObserveWhy(at des.Time, r *Run, w Why)
}

// TellWhy tells observers what holds the waiting job j. A policy of your own takes part in the log
// of decisions by this call alone. It changes nothing, and costs next to nothing if there is no
// WhyObserver or if the reason is the same as before.
func (r *Round) TellWhy(j *Run, w Why) {
	if !r.WhyObserved() || !j.queued() {
		return
	}
	n := int(j.standing)
	if n >= len(r.meta.reasons) {
		r.meta.reasons = append(r.meta.reasons, make([]toldReason, n+1-len(r.meta.reasons))...)
	}
	last := &r.meta.reasons[n]
	if last.run == j && last.why == w {
		return
	}
	*last = toldReason{j, w}
	if w.What == TooFewFree && w.By.Kind == NoBlocker {
		w.By = r.BlockerOf(j, w.Start)
	}
	r.meta.observers.TellWhy(r.Now, j, w)
}

// TellWhy passes on what holds r from the instant at on.
func (o *Observers) TellWhy(at des.Time, r *Run, w Why) {
	for _, each := range o.whys {
		each.ObserveWhy(at, r, w)
	}
}

// WhyObserved reports whether there is a WhyObserver: for policies to which a reason costs
// a search.
func (r *Round) WhyObserved() bool { return len(r.meta.observers.whys) > 0 }

// WhyTold returns the latest reason that TellWhy was given for j; false if it gave none since j
// came, or came back, to the queue.
func (r *Round) WhyTold(j *Run) (Why, bool) {
	n := int(j.standing)
	if n >= len(r.meta.reasons) || r.meta.reasons[n].run != j {
		return Why{}, false
	}
	return r.meta.reasons[n].why, true
}

// toldReason is the latest reason that a policy told for a job.
type toldReason struct {
	run *Run
	why Why
}

// forgetReason forgets what was told of r.
func (m *Metascheduler) forgetReason(r *Run) {
	if n := int(r.standing); n < len(m.reasons) {
		m.reasons[n] = toldReason{}
	}
}

// Explain calls tell when the round is over and its holds (Hold) have been given up, if
// anybody listens. There a policy looks for its reasons. It may ask the plan, and must leave
// the plan as it is; see Suppose.
func (r *Round) Explain(tell func()) {
	if r.WhyObserved() {
		r.explain = append(r.explain, tell)
	}
}

// tellExplanations calls what Explain has collected.
func (r *Round) tellExplanations() {
	for _, tell := range r.explain {
		tell()
	}
	clear(r.explain)
	r.explain = r.explain[:0]
}

// tellUntold says of new jobs that a policy without any reasons leaves waiting until when too
// little is free for them.
func (r *Round) tellUntold() {
	if !r.WhyObserved() {
		return
	}
	for _, j := range r.fresh {
		if _, told := r.WhyTold(j); told || j.State != Waiting {
			continue
		}
		if w, ok := r.Plan.Find(j.Request, r.Now, des.Forever); ok && w.Start > r.Now {
			r.TellWhy(j, Why{What: TooFewFree, Start: w.Start})
		}
	}
}

// Suppose calls ask as though w were reserved for the waiting job j, which holds nothing,
// and reports whether the plan has room for w. Observers are not told.
func (r *Round) Suppose(j *Run, w Window, ask func()) bool {
	held := j.Reservation
	if held.Active || j.accept(&w) != nil {
		return false
	}
	_, err := r.Plan.Reserve(j, w)
	if err == nil {
		ask()
		r.Plan.Release(&j.Reservation, r.Now)
	}
	j.Reservation = held
	j.chooseAnew()
	return err == nil
}

// AllWhyTold yields what TellWhy told last of each waiting job, in an order that is the
// same in every run.
func (r *Round) AllWhyTold() iter.Seq2[*Run, Why] {
	return func(yield func(*Run, Why) bool) {
		for i := range r.meta.reasons {
			if s := &r.meta.reasons[i]; s.run != nil && int(s.run.standing) == i && !yield(s.run, s.why) {
				return
			}
		}
	}
}

// WouldFit lists, in order, the jobs of the view without a reservation that fit into the
// plan now, each by itself and most likely not all of them together. Jobs that were already
// told that they would delay the head are left out. The list is valid until the next call.
func (r *Round) WouldFit(v *View, rule ShapeRule, head *Run) []*Run {
	s := v.begin(r.Plan, r.Now, 0)
	s.rule = rule
	r.fits.queueScan, r.fits.round, r.fits.head, r.fits.runs = s, r, head, r.fits.runs[:0]
	v.tree.Scan(&r.fits)
	v.end(s)
	return r.fits.runs
}

// fitScan finds all that fit in one scan.
type fitScan struct {
	*queueScan
	round *Round
	head  *Run
	runs  []*Run
}

func (s *fitScan) Visit(items []queued) bool {
	for i := range items {
		e := &items[i]
		if s.misses.cover(e.nodes, e.length) || e.run == s.head {
			continue
		}
		if w, _ := s.round.WhyTold(e.run); w.What == WouldDelay && w.Other == s.head {
			continue
		}
		if s.fits(e) {
			s.runs = append(s.runs, e.run)
		}
	}
	return true
}
