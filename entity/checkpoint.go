package entity

// What of an attempt is work, and what is not: jobs write checkpoints, and set up
// before they begin.
//
//	attempt  [ set-up ][ interval ][cost][ interval ][cost][ rest ]
//	work                ##########        ##########        ######
//	saved                               ^                 ^
//
// Whatever is said of times here is as on a node of performance 1; on others all
// of it, set-up and checkpoints included, goes as much faster or slower.

import "github.com/gridslot/gridslot/des"

// Checkpoints says when running jobs write checkpoints: a job writes one, which takes Cost,
// after each Interval of work since its last checkpoint or since its attempt began. A job
// writes none at its own end. The zero value means no checkpoints.
type Checkpoints struct{ Interval, Cost des.Time }

// span returns how long that much work takes with its checkpoints, at most the largest
// finite time.
func (c Checkpoints) span(work des.Time) des.Time {
	if c.Interval <= 0 || c.Cost <= 0 || work <= c.Interval {
		return work
	}
	n := (work - 1) / c.Interval
	if n > (des.Forever-1-work)/c.Cost {
		return des.Forever - 1
	}
	return work + n*c.Cost
}

// work returns the part of a span that is work; the rest of the span goes into checkpoints.
func (c Checkpoints) work(span des.Time) des.Time {
	if c.Interval <= 0 || c.Cost <= 0 {
		return span
	}
	turn := c.Interval.Add(c.Cost)
	return span/turn*c.Interval + min(span%turn, c.Interval)
}

// saved returns the part of a span, with its checkpoints, that ends with the last complete
// checkpoint: what lies behind it is lost if the attempt stops.
func (c Checkpoints) saved(span des.Time) des.Time {
	if c.Interval <= 0 {
		return 0
	}
	turn := c.Interval.Add(c.Cost)
	return span / turn * turn
}

// checkpoints returns the checkpoints that r writes: none for an advance reservation, which
// has its window and is never put back into the queue.
func (r *Run) checkpoints() Checkpoints {
	if r.meta == nil || r.Booked {
		return Checkpoints{}
	}
	return r.meta.Checkpoints
}

// setUp returns the length of the set-up with which r's attempt, under way or to come, begins, and
// during which it does no work.
func (r *Run) setUp() des.Time {
	if r.rare == nil {
		return 0
	}
	return r.rare.demand.setUp
}

// span returns the length that r's attempt has if nothing stops it: the remaining runtime, with
// set-up and checkpoints.
func (r *Run) span() des.Time {
	if r.rare == nil { // as most often
		return r.Runtime
	}
	return r.checkpoints().span(r.Remaining()).Add(r.setUp())
}

// worked returns how much of the runtime is done when that much of a span is over.
func (r *Run) worked(span des.Time) des.Time {
	return min(r.checkpoints().work(max(0, span-r.setUp())), r.Remaining())
}

// elapsed returns the part of a span that r gets through in that much time of its attempt.
func (r *Run) elapsed(t des.Time) des.Time {
	w, span := &r.Reservation.Window, r.span()
	if w.Tasks == nil {
		return min(t, span)
	}
	whole := r.whole()
	if whole == 0 || t >= whole {
		return min(span, r.Limit())
	}
	passed, _ := min(span, r.Limit()).MulDiv(t, whole)
	return passed
}

// whole returns the time that r's attempt really takes on named nodes unless it is preempted or
// killed by others.
func (r *Run) whole() des.Time {
	if r.rare != nil && r.rare.begun != nil {
		return r.RealTime(r.rare.begunLength)
	}
	return r.RealTime(r.Reservation.Window.Length())
}

// Saved returns the work of the present attempt that its last checkpoint has saved, or 0
// without a checkpoint. Pass it to Metascheduler.Preempt where jobs go on from their
// checkpoints.
func (r *Run) Saved() des.Time {
	if r.State != Running {
		return 0
	}
	t := r.meta.sim.Now() - r.Start
	saved := r.checkpoints().saved(max(0, r.elapsed(t)-r.setUp()))
	if saved == 0 {
		return 0
	}
	saved += r.setUp()
	if r.Reservation.Window.Tasks != nil {
		return min(t, share(r.whole(), saved, min(r.span(), r.Limit())))
	}
	return saved
}

// SetUp adds the time t, in which r does no work, to the beginning of its next attempt: r is
// launched, restarted, resumed or moved then. Call SetUp while r waits, or while observers are
// told of its submission; at other times it returns false and changes nothing. Several calls
// add up, and the request of r grows by the sum.
func (m *Metascheduler) SetUp(r *Run, t des.Time) bool {
	m.changes++
	return m.setUp(r, t)
}

func (m *Metascheduler) setUp(r *Run, t des.Time) bool {
	m.Advance()
	entering := r.entering && r.State == Created && !r.Booked
	if !entering && r.State != Waiting || r.meta != m || t < 0 {
		return false
	}
	add := func() {
		a := &r.withRare().demand
		a.setUp = a.setUp.Add(t)
		r.renew()
	}
	if entering {
		add()
		return true
	}
	m.queue.change(r, add)
	if r.Request.Deadline > 0 {
		m.setStartLimit(r)
	}
	return true
}
