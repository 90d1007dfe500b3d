package backfill

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// PublishedEASY is EASY, or FCFS, with habits of simulators whose results are published.
// No textbook has them; they are here so that such results can be met start for start:
//
//	simulator                               habits
//	SC'15 (pyss), "easy_backfill"           FittingArrivals
//	SC'17 (Carastan-Santos and de Camargo)  Window 32, and FirstSpare where jobs are backfilled
//	SC'20 (Zhang et al., RLScheduler)       Sticky, NoSpare, StrictShadow
//	Batsim's batsched, "easy_bf_fast"       NoSpare
//
// The zero value is EASY. Sticky and Window keep something in the queue from one round to
// the next: a queue serves one such policy.
type PublishedEASY struct {
	EASY

	// NoBackfilling starts jobs from the head of the queue alone, as FCFS does. Of EASY's
	// settings Order and Shape count then, and of the habits Sticky and Window.
	NoBackfilling bool
	// FittingArrivals lets a job that comes when too few processors are free for it change
	// nothing: no other job is tried. That makes no difference where jobs are planned by
	// their requests. If a prediction was corrected since the latest round, the shadow time
	// is later, and a candidate may start that could not before; with this setting it waits
	// for the next end, or for a job that comes and fits. The runs of Gaussier et al. (2015)
	// that are called "easy_prediction_backfill" do so; those with the shortest candidates
	// first do not.
	FittingArrivals bool
	// Sticky keeps a job that was first when it did not fit at the head until it has
	// started, whichever jobs come before it by the order meanwhile.
	Sticky bool
	// NoSpare forbids candidates to run past the shadow time, even on processors that the
	// head does not need.
	NoSpare bool
	// FirstSpare counts fewer processors as spare if several jobs end at the shadow time:
	// these jobs end one after the other, the earliest started first, until the head fits,
	// and the processors of the remaining jobs are not spare. It is for counted processors.
	FirstSpare bool
	// StrictShadow treats a candidate that ends exactly at the shadow time as one that runs
	// on.
	StrictShadow bool
	// Window is the number of waiting jobs that the policy sees: those that were submitted first,
	// in the policy's order. When one of them has started, the policy sees the next one. 0 means
	// all. It is for a whole queue, not for a part that another policy delegates.
	Window int

	single bool // one start a round: the policy decides about jobs in sight
}

// Check returns settings that do not go together as an error, or nil: most settings are
// about EASY's one shadow time.
func (p PublishedEASY) Check() error {
	switch {
	case (p.NoSpare || p.FirstSpare || p.StrictShadow) && p.Reservations != 0 && p.Reservations != 1:
		return errors.New("the shadow time is that of a single reservation, and candidates can be held to it only where one job holds one")
	case p.Window > 0 && p.Reservations > 1:
		return errors.New("a window on the queue is for policies under which at most one waiting job holds a reservation")
	case p.NoSpare && p.FirstSpare:
		return errors.New("spare processors are used, or they are not")
	}
	return nil
}

// Name returns the name of EASY, or of FCFS, followed by these settings; FittingArrivals is
// left out.
func (p PublishedEASY) Name() string {
	name := p.EASY.Name()
	if p.NoBackfilling {
		name = FCFS{Order: p.Order, Shape: p.Shape}.Name()
	}
	if p.Sticky {
		name += "-sticky"
	}
	if p.Window > 0 {
		name += "-window-" + strconv.Itoa(p.Window)
	}
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

// Schedule does what EASY does, by the habits.
func (p PublishedEASY) Schedule(r *entity.Round) {
	if p.FittingArrivals && p.noneFits(r) {
		return
	}
	if err := p.Check(); err != nil {
		r.Fail(err)
		return
	}
	if p.Window > 0 {
		one := p
		one.Window, one.FittingArrivals, one.single = 0, false, true
		p.scheduleWindow(r, one)
		return
	}
	// A dynamic order is not put in order where no job could start.
	dynamic := p.Order.Dynamic || p.Candidates.Dynamic
	if dynamic && p.Shape != entity.FirstEnd && !p.Sticky && noneCanStart(r) {
		return // under Sticky, which job is first now decides who stays the head
	}

	// EASY's steps: heads while they fit, then candidates beside the first that does not.
	q := queue(r, p.Order)
	head := p.startHeads(r, q)
	switch {
	case p.NoBackfilling && !p.single:
		FCFS{Order: p.Order, Shape: p.Shape}.explain(r, q, head)
	case head != nil && !p.NoBackfilling:
		p.backfill(r, q, head)
	}
}

// noneFits reports whether the round is for new jobs alone, of which none could start now.
func (p PublishedEASY) noneFits(r *entity.Round) bool {
	return r.Cause == entity.CauseArrival && !slices.ContainsFunc(r.Fresh(), func(j *entity.Run) bool {
		_, ok := p.Shape.FindNow(r.Plan, j, r.Now)
		return ok
	})
}

// startHeads starts jobs from the head of the queue while they fit, a single one where jobs
// are in sight, and returns the first that does not fit, or nil.
func (p PublishedEASY) startHeads(r *entity.Round, q *entity.View) *entity.Run {
	for {
		head := p.first(r.Queue, q)
		if head == nil {
			return nil
		}
		w, fits := p.Shape.FindNow(r.Plan, head, r.Now)
		if !fits {
			return head
		}
		if p.Sticky {
			r.Queue.Kept = nil
		}
		if !r.Reserve(head, w) || p.single {
			return nil
		}
	}
}

// first returns the head of the queue q in the order of the view v; where heads are sticky the one
// chosen before, for as long as it waits.
func (p PublishedEASY) first(q *entity.Queue, v *entity.View) *entity.Run {
	if !p.Sticky {
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

// backfill starts candidates beside the head.
func (p PublishedEASY) backfill(r *entity.Round, q *entity.View, head *entity.Run) {
	var arrival *entity.Run
	if !p.single {
		if !p.FirstSpare && !p.FittingArrivals { // a job that ends with others at the shadow time alters what is spare
			arrival = p.onlyArrival(r, head)
		}
		defer p.explain(r, q, head, arrival, p.refusal)
	}
	s := publishedShadow{shadow: p.shadow(r, head), by: p}
	if !p.holdBeforeCandidates(q, &s.shadow, arrival) {
		return
	}
	if arrival != nil {
		if w, fits := p.fitsBesideHolds(r, arrival); fits {
			s.start(arrival, w)
		}
		return
	}
	for j, w := range p.candidates(r, q).Fitting(r.Plan, r.Now, p.Depth, p.Shape) {
		if !s.start(j, w) || (p.single && j.State != entity.Waiting) {
			return
		}
	}
}

// publishedShadow is a shadow under which candidates have fewer ways to start.
type publishedShadow struct {
	shadow
	by        PublishedEASY // whose habits they are
	spare     int           // with FirstSpare: what is left of the processors beside the head
	counted   bool          // spare is known
	countedAt uint64        // Round.Changes when spare was counted
}

// findSpare counts the spare processors before the first candidate starts, and again if
// somebody else has changed something while the head holds nothing.
func (s *publishedShadow) findSpare() {
	if s.counted && (s.held || s.countedAt == s.r.Changes()) {
		return
	}
	if !s.held {
		s.find()
	}
	s.counted, s.countedAt = true, s.r.Changes()
	s.countSpare()
}

// start starts j in w, which fits now, unless that would delay the head or the habits
// forbid it. It reports whether to go on.
func (s *publishedShadow) start(j *entity.Run, w entity.Window) bool {
	if s.by.FirstSpare {
		s.findSpare()
	}
	// One that meets the shadow time must fit beside the head's window, which is put into the
	// plan for that, and is asked for its window again.
	if s.endsAtShadow(w) || s.passesShadow(w) {
		if s.by.NoSpare {
			return true
		}
		if !s.hold() {
			return false
		}
		if j.State != entity.Waiting {
			return true // an observer who heard of the hold has cancelled j
		}
		var fits bool
		if w, fits = s.rule.Find(s.r.Plan, j, s.r.Now, s.r.Now); !fits {
			return true
		}
	}
	// What the plan does not tell: one that ends at the shadow time does not meet the window, and
	// the plan's spare processors are more than FirstSpare's.
	if s.by.StrictShadow && s.found && w.End == s.window.Start && !s.couldRunOn(j, w) {
		return true
	}
	if s.by.FirstSpare && !s.takesSpare(w) {
		return true
	}
	return s.r.Reserve(j, w)
}

// endsAtShadow reports whether w ends at the shadow time, which StrictShadow does not allow
// beside a head that holds nothing yet.
func (s *publishedShadow) endsAtShadow(w entity.Window) bool {
	if !s.by.StrictShadow || s.held {
		return false
	}
	s.find()
	return !s.held && w.End == s.window.Start
}

// couldRunOn reports whether j, which in w would end at the shadow time, could also
// run past it beside what is held. On fast nodes a tick of the request may be none of
// the window's.
func (s *publishedShadow) couldRunOn(j *entity.Run, w entity.Window) bool {
	req := j.Request
	if len(j.Shapes) > 0 {
		req.Nodes, req.Length = w.Nodes, w.Length()
	}
	// A request longer by a tick, or by as many as make the window longer.
	length := req.Length
	for more := des.Tick; ; more *= 2 {
		req.Length = length.Add(more)
		if longer, ok := s.r.Plan.Find(req, s.r.Now, s.r.Now); !ok || longer.End > w.End {
			return ok
		}
	}
}

// takesSpare reports whether w, if it goes on past the shadow time, has room in what is left of
// the spare processors, and takes it.
func (s *publishedShadow) takesSpare(w entity.Window) bool {
	past := w.End > s.window.Start
	if (past || s.by.StrictShadow && w.End == s.window.Start) && w.Nodes > s.spare {
		return false
	}
	if past {
		s.spare -= w.Nodes
	}
	return true
}

// countSpare counts the processors beside the head at its shadow time, when just as many of
// the jobs that end then as it needs have ended, in the order in which they started.
func (s *publishedShadow) countSpare() {
	switch {
	case entity.Named(s.r.Plan):
		s.r.Fail(errors.New("the first spare processors are those of a plan that counts them, and this one has nodes with names"))
		return
	case s.window.Nodes == 0: // there is no shadow time
		s.spare = math.MaxInt
		return
	}
	// Free at the shadow time: what is free now, and of those that end before.
	free, need := 0, s.window.Nodes
	for slot := range s.r.Plan.Slots(s.r.Now, s.r.Now+des.Tick) {
		free = slot.Width // the one slot of a plan that counts
	}
	for j := range s.r.Running() {
		if w := j.Reservation.Window; s.r.Now < w.End && w.End < s.window.Start {
			free += w.Nodes
		}
	}
	// One after the other of those that end then, until the head fits.
	for j := range s.r.Running() {
		if w := j.Reservation.Window; w.End == s.window.Start && free < need {
			free += w.Nodes
		}
	}
	s.spare = free - need
}

// scheduleWindow has a policy that starts a single job a round decide about the jobs in the window
// on the queue, and again with the next one among them as long as it starts any.
func (p PublishedEASY) scheduleWindow(r *entity.Round, one entity.Policy) {
	// The window is a queue of its own, part of the whole one and kept in it. A part cannot be
	// parted again.
	whole := r.Queue
	if j := whole.First(); j != nil && whole.Holds(j) {
		r.Fail(errors.New("a window on the queue needs all of it, and this is a part that another policy delegates"))
		return
	}
	sight, _ := whole.Kept.(*entity.Queue)
	if sight == nil || r.Cause.Has(^(entity.CauseArrival | entity.CauseEnd)) {
		sight = rebuildWindow(r, p.Window, sight)
	}
	for {
		if sight.Len() < p.Window {
			fillWindow(r, sight, p.Window)
		}
		waiting := sight.Len()
		r.Delegate(one, sight, nil)
		r.DropHolds() // the next head may be another one
		if sight.Len() == waiting {
			break
		}
	}
	whole.Kept = sight
	p.explainWindow(r, sight)
}

// rebuildWindow returns the jobs in sight after an older job may have come back to the queue and
// taken the place of a younger one. A sticky head that is still in sight stays the head.
func rebuildWindow(r *entity.Round, n int, before *entity.Queue) *entity.Queue {
	sight := r.Queue.Part()
	fillWindow(r, sight, n)
	if before != nil {
		if head, ok := before.Kept.(*entity.Run); ok && sight.Holds(head) {
			sight.Kept = head
		}
	}
	return sight
}

// fillWindow puts waiting jobs in sight, in order of submission, until n are.
func fillWindow(r *entity.Round, sight *entity.Queue, n int) {
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
