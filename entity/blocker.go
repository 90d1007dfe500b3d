package entity

// What stands in the way of a waiting job: what the plan has, until the instant at which the
// job can start, of the nodes that the job would need to start earlier.

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// BlockerKind says what holds the capacity that a waiting job would need.
type BlockerKind uint8

const (
	NoBlocker          BlockerKind = iota // nothing is known
	BlockedByJob                          // a job that runs, until its estimate or prediction is over
	BlockedByPlan                         // a reservation ahead, or the hold, of a waiting job
	BlockedByBooking                      // an advance reservation (Run.Booked), ahead or running
	BlockedByTentative                    // a window that is kept for a job that may come; see Metascheduler.Tentative
	BlockedByOutage                       // an outage
	BlockedByOwner                        // an owner's own job
	BlockedByCap                          // nodes that a cap on power keeps idle
	BlockedByOff                          // nodes that are switched off, or boot
	BlockedByOther                        // other capacity that is withheld; see Metascheduler.Withhold
)

var blockers = enum.Of[BlockerKind]("blocker", "", "job", "plan", "booking", "tentative", "outage", "owner", "cap", "off", "withheld")

func (k BlockerKind) String() string { return blockers.Name(k) }

// ParseBlockerKind reads what String writes.
func ParseBlockerKind(s string) (BlockerKind, error) { return blockers.Parse(s) }

// Blocker describes who holds capacity of the plan that a waiting job would need to start
// earlier.
type Blocker struct {
	Kind     BlockerKind
	Run      *Run     // the job, of BlockedByJob to BlockedByTentative; otherwise nil
	From, To des.Time // the span over which it holds the capacity; To may be des.Forever
	Nodes    int      // how many nodes, or counted processors, it holds
}

// withheldFor says what the capacity is for that the plan has under a run which is not in the
// queue.
type withheldFor struct {
	run  *Run
	kind BlockerKind
}

// WithheldFor records why capacity is withheld under r. Blockers then name that kind when a
// waiting job needs the capacity. WithheldFor changes nothing else.
func (m *Metascheduler) WithheldFor(r *Run, kind BlockerKind) {
	if len(m.observers.whys) == 0 {
		return
	}
	for i, w := range slices.Backward(m.withheld) { // most often it is the last one
		if w.run == r {
			m.withheld[i].kind = kind
			return
		}
	}
	if len(m.withheld) == cap(m.withheld) { // before it grows, what is past goes
		m.withheld = slices.DeleteFunc(m.withheld, func(w withheldFor) bool { return !w.holds(m.sim.Now()) })
	}
	m.withheld = append(m.withheld, withheldFor{r, kind})
}

// holds reports whether the plan has anything for w from now on.
func (w withheldFor) holds(now des.Time) bool {
	return w.run.Reservation.Active && w.run.Reservation.Window.End > now
}

// blocker describes what w has.
func (w withheldFor) blocker() Blocker {
	held := &w.run.Reservation.Window
	b := Blocker{Kind: w.kind, From: held.Start, To: held.End, Nodes: held.Nodes}
	if w.kind == BlockedByTentative {
		if b.Run = w.run; w.run.State != Created { // the hold has been confirmed
			b.Kind = BlockedByBooking
		}
	}
	return b
}

// BlockerUntil returns what holds capacity of the plan up to the instant at and no longer. If a
// job's earliest start is at, this kept the job from an earlier start. If there are several,
// one that is no job comes first, then the largest job that runs, then the waiting job that was
// submitted first. The Kind is NoBlocker if nothing ends at that instant. Jobs are counted as
// they are planned, by their estimates or predictions.
func (r *Round) BlockerUntil(at des.Time) Blocker {
	m := r.meta
	for _, w := range m.withheld {
		if w.holds(r.Now) && w.run.Reservation.Window.End == at && !m.capGoesOn(w) {
			return w.blocker()
		}
	}
	var largest Blocker
	for j := range m.RunningJobs() {
		if n := j.nodesUntil(at); n > largest.Nodes {
			largest = Blocker{Kind: BlockedByJob, Run: j, From: j.Reservation.Window.Start, To: at, Nodes: n}
		}
	}
	if largest.Run != nil {
		return largest
	}
	for j := range m.queue.By(Submission, r.Now).All() {
		if n := j.nodesUntil(at); n > 0 && j.Reservation.Active {
			return Blocker{Kind: BlockedByPlan, Run: j, From: j.Reservation.Window.Start, To: at, Nodes: n}
		}
	}
	return Blocker{}
}

// BlockerOf returns what stands in the way of the waiting job j, which could start at the
// instant start: the cap on power without which it could start now, or else what
// BlockerUntil finds.
func (r *Round) BlockerOf(j *Run, start des.Time) Blocker {
	if b, capped := r.capInTheWay(j); capped {
		return b
	}
	return r.BlockerUntil(start)
}

// nodesUntil counts the nodes, or processors, that the plan has for j until the instant at
// and no longer.
func (r *Run) nodesUntil(at des.Time) (n int) {
	held := &r.Reservation.Window
	if held.Tasks == nil && held.End == at {
		return held.Nodes
	}
	for _, t := range held.Tasks {
		if t.End == at {
			n++
		}
	}
	return n
}

// capGoesOn reports whether w is of a cap on power that has as much of the plan when w ends: the
// cap gives nothing back then.
func (m *Metascheduler) capGoesOn(w withheldFor) bool {
	end, n := w.run.Reservation.Window.End, w.run.Reservation.Window.Nodes
	return w.kind == BlockedByCap && slices.ContainsFunc(m.withheld, func(next withheldFor) bool {
		held := &next.run.Reservation
		return next.kind == BlockedByCap && held.Active && held.Window.Start == end && held.Window.Nodes >= n
	})
}

// capInTheWay returns the cap on power without which j could start now, if there is one. A cap that
// changes over time is several withheld periods; the result is then the first period without which
// j could start. j could start if the free nodes and the nodes that the cap keeps idle are together
// enough for it, for as long as it would have them and within its budget.
func (r *Round) capInTheWay(j *Run) (Blocker, bool) {
	longest := j.Request.Length
	for i := range r.Plan.Size() {
		n := r.Plan.Node(i)
		if n == nil {
			break
		}
		longest = max(longest, n.TaskTime(j.Request.Length))
	}
	end := r.Now.Add(max(longest, des.Tick))
	var caps []withheldFor
	for _, w := range r.meta.withheld {
		if w.kind == BlockedByCap && w.holds(r.Now) && w.run.Reservation.Window.Start < end {
			caps = append(caps, w)
		}
	}
	if len(caps) == 0 || !r.fitsBeside(caps, j.Request, end) {
		return Blocker{}, false
	}
	slices.SortFunc(caps, func(a, b withheldFor) int {
		return cmp.Compare(a.run.Reservation.Window.Start, b.run.Reservation.Window.Start)
	})
	first := 0
	for first < len(caps)-1 && r.fitsBeside(slices.Concat(caps[:first], caps[first+1:]), j.Request, end) {
		first++
	}
	return caps[first].blocker(), true
}

// fitsBeside reports whether req could start now if it had what caps have of the plan as well. No
// window for req that begins now ends after end.
func (r *Round) fitsBeside(caps []withheldFor, req Request, end des.Time) bool {
	var free []Slot
	for s := range r.Plan.Slots(r.Now, end) {
		free = append(free, s)
	}
	for _, c := range caps {
		held := &c.run.Reservation.Window
		if held.Tasks == nil {
			free = append(free, Slot{Start: held.Start, End: held.End, Width: held.Nodes})
		}
		for _, t := range held.Tasks {
			free = append(free, Slot{Node: t.Node, Start: held.Start, End: t.End})
		}
	}
	slices.SortStableFunc(free, func(a, b Slot) int { return cmp.Compare(a.Start, b.Start) })
	if !Named(r.Plan) {
		return r.enoughCounted(free, req)
	}
	until := map[*Node]des.Time{} // each node is free from now on; never iterated
	for _, s := range free {
		if t, met := until[s.Node]; s.Start <= r.Now || met && s.Start <= t {
			until[s.Node] = max(t, s.End)
		}
	}
	var costs []float64 // of the nodes that req could have now
	for i := range r.Plan.Size() {
		n := r.Plan.Node(i)
		length := n.TaskTime(req.Length)
		if t, free := until[n]; free && req.Admits(n) && t >= r.Now.Add(length) {
			costs = append(costs, float64(n.Price*length.Seconds()))
		}
	}
	if len(costs) < req.Nodes {
		return false
	}
	slices.Sort(costs)
	total := 0.0
	for _, c := range costs[:req.Nodes] {
		total += c
	}
	return total <= req.BudgetLimit()
}

// enoughCounted reports whether there are enough processors for req from now on in all of free.
func (r *Round) enoughCounted(free []Slot, req Request) bool {
	end := r.Now.Add(max(req.Length, des.Tick))
	at := []des.Time{r.Now} // at which the number of free processors may change
	for _, s := range free {
		at = append(at, s.Start, s.End)
	}
	for _, t := range at {
		if t < r.Now || t >= end {
			continue
		}
		width := 0
		for _, s := range free {
			if s.Start <= t && t < s.End {
				width += s.Width
			}
		}
		if width < req.Nodes {
			return false
		}
	}
	return true
}
