package policy

// A cap on what a machine draws, for any policy of a queue.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/number"
)

// PowerCap wraps a policy and keeps the power of all nodes within a cap at every instant, by
// nodes that stay idle. Counted processors are equal, so the cap bounds the number of busy
// processors:
//
//	busy * Busy + (processors - busy) * Idle <= Cap
//
// On named nodes, the nodes stay idle for which a job costs the most energy: the greatest
// difference between busy and idle power, divided by performance. Among equal nodes the last
// ones stay idle.
//
// The cap is constant (Cap) or follows a Curve, whose changes are known ahead. A job starts if
// the cap lets its nodes be busy for the job's whole estimate:
//
//	may be busy  _______               ______________
//	                    |_____________|
//	job A        [....]                                  ends before the cap falls
//	job B           wants more nodes  [..............]   starts when the cap rises
//	job C          [...................]                 is small enough for the low cap
//
// This is the planned power cap of Georgiou, Glesser and Trystram (Adaptive resource and job
// management for limited power consumption, IPDPSW 2015) with idle nodes alone: nodes are not
// slowed down. The cap is hard. If a job outlives its estimate (entity.OverrunExtend) or its
// prediction, it is killed when a lower cap needs its nodes, as it would be at the start of an
// advance reservation.
//
// Attach withholds the idle nodes from the plan before the first event. So the cap also holds
// for windows that are planned ahead, for advance reservations, and under any policy that uses
// the plan. A curve that repeats itself has no last change. The plan then has the curve only as
// far ahead as the queue's jobs, run one after the other, could reach, and the lowest cap from
// there on; as time passes, the policy extends the curve in the plan.
//
// Nodes in an outage run no job, so the policy withholds fewer nodes meanwhile: on counted
// processors an outage takes idle ones first; on named nodes, a lost node counts as idle if the
// cap would keep it idle anyway. A job is rejected if the cap never lets enough nodes be busy for
// its length. Each run needs a PowerCap of its own, and the metascheduler must get the PowerCap
// itself, not a policy that wraps it.
type PowerCap struct {
	entity.Policy         // the policy that decides
	Cap           float64 // W, of the whole machine; see Signal
	// Signal chooses how the cap changes. "" means that it is Cap at all times. SignalCaps
	// means that the cap is the Curve, in W; +Inf there means no cap. With "price" or "carbon"
	// the cap is Cap while the Curve of that signal is above Limit, and Else (W; 0 means no
	// cap) at other times.
	Signal string
	Curve  *flow.Curve
	Limit  float64
	Else   float64
	// Idle is the greatest power in W of a node without a job, and Busy the greatest power of a
	// node with a job. If nodes are switched off, a node that boots counts as busy.
	Idle, Busy float64
	// Of, if set, returns Idle and Busy of each named node.
	Of func(*entity.Node) (idle, busy float64)

	// What Attach finds out, which does not change.
	meta    *entity.Metascheduler
	highest float64              // the highest cap, in W
	order   []int                // numbers of the nodes; under a cap that lets n be busy the first n may be
	named   bool                 // nodes have names
	may     []*entity.Node       // that may be busy under the highest cap; nil of counted processors
	slowest *entity.Node         // of may; nil of counted processors
	busy    *flow.Curve          // how many nodes may be busy, over time
	idle    map[int]entity.Where // what is kept idle, by how many nodes may be busy

	// What the plan has.
	down []flow.Outage // what outages take; see Yield
	kept []*entity.Run // reservations by which the plan keeps nodes idle, by start; no two overlap
	// known is the instant up to which the plan has the cap as it is. From there on it has the lowest
	// cap. des.Forever if the cap does not repeat itself: then the plan has all of it.
	known   des.Time
	longest des.Time // how long a job may run that anybody has asked about, on the slowest node
	asked   des.Time // the latest start of an advance reservation that was asked for; see Expect
	looked  des.Time // from then on it is looked again for jobs that can never start
	active  des.Time // the last round that came of more than the passing of time
}

// powerCapParam is the parameter of queue policies that caps power.
const powerCapParam = "power-cap"

// SignalCaps is the Signal of a power cap that is given for each instant.
const SignalCaps = "schedule"

// mostChangesAhead bounds how many changes of a cap the plan has ahead: each change is a reservation in
// the plan, in which every search looks.
const mostChangesAhead = 100_000

var (
	_ entity.Attacher = (*PowerCap)(nil)
	_ entity.Wrapper  = (*PowerCap)(nil)
	_ entity.Limiting = (*PowerCap)(nil)
	_ entity.Sparing  = (*PowerCap)(nil)
	_ flow.Yielder    = (*PowerCap)(nil)
)

// Unwrap returns the policy that decides.
func (p *PowerCap) Unwrap() entity.Policy { return p.Policy }

// Attach takes out of the plan what the cap does not let be busy.
func (p *PowerCap) Attach(m *entity.Metascheduler) {
	p.meta = m
	p.must(p.begin())
}

// must ends the run with an error if the cap cannot be kept.
func (p *PowerCap) must(err error) {
	if err != nil {
		p.meta.Simulator().Fail(err)
	}
}

// caps returns the cap in W over time; +Inf is no cap. It returns an error if the curve that the cap follows was
// not given.
func (p *PowerCap) caps() (*flow.Curve, error) {
	switch {
	case p.Signal == "":
		return &flow.Curve{Times: []des.Time{0}, Values: []float64{p.Cap}}, nil
	case p.Curve == nil || len(p.Curve.Values) == 0:
		of := p.Signal
		if p.Signal != SignalCaps {
			of += " of electricity"
		}
		return nil, fmt.Errorf("a power cap follows the %s over time, which nobody has told", of)
	case p.Signal == SignalCaps:
		return p.Curve.Map(func(w float64) float64 { return w }), nil
	}
	return p.Curve.Map(func(v float64) float64 {
		switch {
		case v > p.Limit:
			return p.Cap
		case p.Else > 0:
			return p.Else
		}
		return math.Inf(1)
	}), nil
}

// begin finds out what Attach has to know, and takes out of the plan what stays idle from now on.
func (p *PowerCap) begin() error {
	// How many nodes may be busy under each cap? No cap may be below the draw of idle nodes.
	plan := p.meta.Plan()
	caps, err := p.caps()
	if err != nil {
		return err
	}
	draws := p.draws(plan.Size(), plan.Node)
	for i, watts := range caps.Values {
		if draws.busy(watts) < 0 {
			return draws.tooLow(caps, i)
		}
	}
	p.highest = slices.Max(caps.Values)
	p.order, p.busy = draws.order, caps.Map(func(watts float64) float64 { return float64(draws.busy(watts)) })
	if p.named = entity.Named(plan); p.named {
		for _, k := range slices.Sorted(slices.Values(p.order[:p.Usable()])) {
			p.may = append(p.may, plan.Node(k))
			if p.slowest == nil || plan.Node(k).Perf < p.slowest.Perf {
				p.slowest = plan.Node(k)
			}
		}
	}
	// Which ones stay idle then.
	p.idle = map[int]entity.Where{}
	for _, busy := range p.busy.Values {
		var idle entity.Where
		if p.named {
			for _, k := range slices.Sorted(slices.Values(p.order[int(busy):])) {
				idle.Set = procset.Extend(idle.Set, int32(k))
			}
		} else {
			idle.Count = len(p.order) - int(busy)
		}
		p.idle[int(busy)] = idle
	}
	// A cap that repeats itself has no last change: the plan begins with one period of it.
	now := p.meta.Simulator().Now()
	p.known = des.Forever
	if p.varies() && p.busy.Every > 0 {
		p.known = now.Add(p.busy.Every)
	}
	return p.keep(now, des.Forever)
}

// varies reports whether the number of nodes that may be busy changes over time.
func (p *PowerCap) varies() bool { return len(p.busy.Values) > 1 }

// draws is the power of the nodes in microwatts, as whole numbers: their sums do not depend on the
// order of the nodes.
type draws struct {
	idle  int64   // what all nodes together draw without any job
	order []int   // numbers of the nodes; the first are the first that may be busy
	more  []int64 // by number of the node: what a job makes it draw more, 0 or more
	what  string  // "processors" or "nodes", for people
}

// micro returns a power in microwatts. A cap of +Inf becomes a number from which all draws can be subtracted.
func micro(watts float64) int64 {
	if watts > math.MaxInt64/2e6 {
		return math.MaxInt64 / 2
	}
	return int64(math.Round(watts * 1e6))
}

// draws reckons what size nodes draw. node returns a node by its number, or nil for a counted processor.
func (p *PowerCap) draws(size int, node func(int) *entity.Node) *draws {
	d := &draws{more: make([]int64, size), order: make([]int, size), what: "processors"}
	dear := make([]float64, size) // what a node draws more, over its performance
	for k := range size {
		idle, busy, perf := p.Idle, p.Busy, 1.0
		if n := node(k); n != nil {
			d.what = "nodes"
			if perf = n.Perf; p.Of != nil {
				idle, busy = p.Of(n)
			}
		}
		d.idle += micro(idle)
		d.more[k] = max(micro(busy)-micro(idle), 0)
		dear[k] = float64(d.more[k]) / perf // a job's work on the node costs this much energy, but for a factor
		d.order[k] = k
	}
	// Of equal nodes the first may be busy first.
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(dear[a], dear[b]) })
	return d
}

// busy returns the greatest number of nodes that may be busy under a cap in W; -1 if the cap is
// below the power of the idle nodes alone.
func (d *draws) busy(watts float64) (n int) {
	left := micro(watts) - d.idle
	if left < 0 {
		return -1
	}
	for n < len(d.order) && d.more[d.order[n]] <= left {
		left -= d.more[d.order[n]]
		n++
	}
	return n
}

// tooLow returns the error about the i-th value of caps.
func (d *draws) tooLow(caps *flow.Curve, i int) error {
	when := ""
	if len(caps.Values) > 1 {
		when = fmt.Sprintf(" from %v on", caps.Times[i])
	}
	return fmt.Errorf("a power cap of %v W%s is less than the %v W that %d %s draw without any job", caps.Values[i], when, float64(d.idle)/1e6, len(d.order), d.what)
}

// Most returns how many of that many counted processors may be busy at a time, over time; -1
// where not even an idle machine is within the cap.
func (p *PowerCap) Most(processors int) (*flow.Curve, error) {
	caps, err := p.caps()
	if err != nil {
		return nil, err
	}
	draws := p.draws(processors, func(int) *entity.Node { return nil })
	return caps.Map(func(watts float64) float64 { return float64(draws.busy(watts)) }), nil
}

// Usable implements entity.Sparing. It returns how many nodes may be busy under the highest cap.
func (p *PowerCap) Usable() int { return int(slices.Max(p.busy.Values)) }

// Refuses implements entity.Limiting.
func (p *PowerCap) Refuses(req entity.Request) error {
	plan, most := p.meta.Plan(), p.Usable()
	if req.Nodes > most {
		return fmt.Errorf("wants %d processors, and a power cap of %v W lets %d be busy", req.Nodes, p.highest, most)
	}
	on, named := plan.(fitting)
	if idle := plan.Size() - most; named && idle > 0 {
		if err := on.FitsOn(req, p.may); err != nil {
			return fmt.Errorf("%w (a power cap of %v W keeps %d other nodes idle)", err, p.highest, idle)
		}
	}
	if !p.varies() {
		return nil
	}
	p.lookAhead(req.Length)
	if !p.everFits(req, on) {
		return fmt.Errorf("wants %d processors for %v s, and at no time to come does the power cap let them be busy for so long", req.Nodes, req.Length)
	}
	return nil
}

// fitting is a plan of named nodes.
type fitting interface {
	// FitsOn reports whether req could be met by these nodes alone, or why not.
	FitsOn(req entity.Request, nodes []*entity.Node) error
}

// everFits reports whether the cap, at some instant from now on, lets enough nodes for req be busy, each for
// the time that a task of req takes on it. It tries now and each later change of the cap; if the cap repeats
// itself, the changes of one period. on is nil for counted processors.
func (p *PowerCap) everFits(req entity.Request, on fitting) bool {
	now, last := p.meta.Simulator().Now(), des.Forever-1
	if p.busy.Every > 0 {
		last = now.Add(p.busy.Every)
	}
	for from := now; from <= last; from = p.busy.Next(from) { // a window that begins later could begin there
		if on == nil {
			if end := from.Add(max(req.Length, des.Tick)); p.idleFrom(req.Nodes-1, from, end) == end {
				return true
			}
			continue
		}
		var nodes []*entity.Node
		for rank, k := range p.order {
			n := p.meta.Plan().Node(k)
			if end := from.Add(max(n.TaskTime(req.Length), des.Tick)); p.idleFrom(rank, from, end) == end {
				nodes = append(nodes, n)
			}
		}
		if on.FitsOn(req, nodes) == nil {
			return true
		}
	}
	return false
}

// idleFrom returns the first instant in [from, to) at which the node at position rank of the order must stay
// idle, or to if it never has to.
func (p *PowerCap) idleFrom(rank int, from, to des.Time) des.Time {
	for ; from < to; from = p.busy.Next(from) {
		if int(p.busy.At(from)) <= rank {
			return from
		}
	}
	return to
}

// Schedule calls the wrapped policy.
func (p *PowerCap) Schedule(r *entity.Round) {
	if p.meta == nil {
		r.Fail(errors.New("a power cap is kept by the policy that the metascheduler is given, not by one within it"))
		return
	}
	if p.varies() {
		p.follow(r)
	}
	p.Policy.Schedule(r)
}

// follow does what a cap that changes over time needs. It rejects jobs that can never start any
// more, puts the cap into the plan for as far ahead as jobs can be planned, and gives waiting jobs a
// round when the cap changes.
func (p *PowerCap) follow(r *entity.Round) {
	if r.Cause.Has(entity.CauseArrival|entity.CauseEnd|entity.CauseOverrun|entity.CauseChange) || p.meta.Running() > 0 {
		p.active = r.Now
	}
	// Behind a change that never comes back, fewer jobs may fit. A cap that repeats itself hides no such
	// change: what did not fit was refused when it came.
	if p.busy.Every == 0 && r.Now >= p.looked {
		p.looked = p.busy.Next(r.Now)
		for j := range r.Waiting() {
			if err := p.meta.FitsRun(j); err != nil {
				r.Reject(j, err.Error())
			}
		}
	}
	// The queue may have grown, and time has passed: the plan may have to know more of the cap.
	if p.lookAhead(0) {
		r.Gained = true
	}
	// A job may start when the cap rises.
	if next := p.busy.Next(r.Now); next < des.Forever && r.Queue.Len() > 0 && p.worthWaking(r) {
		r.WakeAt(next)
	}
}

// worthWaking reports whether a job may start although nothing but time passes. Under a cap that repeats
// itself there is always a next change, and a run whose jobs wait for ever must end.
func (p *PowerCap) worthWaking(r *entity.Round) bool {
	if p.busy.Every == 0 || r.Now-p.active <= p.busy.Every { // not every change of a period has come yet
		return true
	}
	if r.Now-p.active > p.reach() { // all jobs would have run by now
		return false
	}
	for j := range r.Queue.By(entity.Submission, r.Now).All() {
		if j.State != entity.Waiting {
			return true
		}
		if _, ok := entity.FirstStart.Find(r.Plan, j, r.Now, des.Forever); ok {
			return true
		}
	}
	return false
}

// reach returns a time within which all jobs of the queue have run, if they run one after the other after
// the longest job: (jobs + 2) · (period + longest), since each job starts at most a period after the end
// of the job before it. It is at most a quarter of the largest time, so that it can be added to an instant.
func (p *PowerCap) reach() des.Time {
	jobs, each := p.meta.Queue().Len()+2, p.busy.Every.Add(p.longest)
	return min(each, (des.Forever/4)/des.Time(jobs)) * des.Time(jobs)
}

// lookAhead makes the plan know the cap for as far ahead as jobs can be planned, one of which has the given
// length (on a node of performance 1). It reports whether the plan has got anything back.
func (p *PowerCap) lookAhead(length des.Time) bool {
	if p.known == des.Forever {
		return false
	}
	if p.slowest != nil {
		length = p.slowest.TaskTime(length)
	}
	p.longest = max(p.longest, length)
	return p.know(max(p.asked, p.meta.Simulator().Now()).Add(p.reach()))
}

// know makes the plan know the cap until the instant to, and a quarter longer, so that not each job that
// comes changes the plan, but by no more than mostChangesAhead changes. It reports whether the plan has got
// anything back.
func (p *PowerCap) know(to des.Time) bool {
	if to <= p.known {
		return false
	}
	now := p.meta.Simulator().Now()
	to = to.Add((to - now) / 4)
	most := max(mostChangesAhead/len(p.busy.Values), 1)
	to = min(to, now.Add(min(p.busy.Every, (des.Forever/4)/des.Time(most))*des.Time(most)))
	before := p.known
	if to <= before {
		return false
	}
	p.known = to
	p.must(p.keep(before, des.Forever))
	return true
}

// Expect makes the plan know the cap until the end of an advance reservation that is about to be asked for;
// see flow.Bookings.Ahead. Without it the plan would have the lowest cap there.
func (p *PowerCap) Expect(k flow.Booking) {
	p.asked = max(p.asked, k.Start)
	p.lookAhead(p.meta.RequestOf(k.Job).Length)
}

// Yield implements flow.Yielder. It releases the idle nodes that an outage is about to take, so that the outage
// takes idle nodes first.
func (p *PowerCap) Yield(x flow.Outage) {
	p.down = append(p.down, x)
	p.must(p.keep(x.From, x.To))
}

// Retake ends a Yield of the same outage.
func (p *PowerCap) Retake(x flow.Outage) {
	i := slices.IndexFunc(p.down, func(d flow.Outage) bool {
		return d.From == x.From && d.To == x.To && d.Count == x.Count && slices.Equal(d.Set, x.Set)
	})
	if i >= 0 { // or it is over
		p.down = slices.Delete(p.down, i, i+1)
		p.must(p.keep(x.From, x.To))
	}
}

// keep withholds anew the nodes that must stay idle within [from, to), as spare returns them between any two
// changes of the cap and of outages. It returns an error if the plan does not have these nodes free.
func (p *PowerCap) keep(from, to des.Time) error {
	// Give back what is withheld there so far.
	plan, now := p.meta.Plan(), p.meta.Simulator().Now()
	p.down = slices.DeleteFunc(p.down, func(x flow.Outage) bool { return x.To <= now })
	from = max(from, now)
	p.kept = slices.DeleteFunc(p.kept, func(r *entity.Run) bool {
		w := r.Reservation.Window
		if w.End > now && (w.End < from || w.Start > to) {
			return false
		}
		plan.Release(&r.Reservation, now)
		if w.End > now { // what touches the period is joined with what is the same in it
			from, to = min(from, max(w.Start, now)), max(to, w.End)
		}
		return true
	})
	// Withhold what is to stay idle, in as few reservations as there are differences.
	for from < to {
		left, end := p.spare(from)
		for end < to {
			next, until := p.spare(end)
			if next.Count != left.Count || !slices.Equal(next.Set, left.Set) {
				break
			}
			end = until
		}
		end = min(end, to)
		if left.Size() > 0 {
			r := entity.NewWithheld()
			if err := plan.Withhold(r, left, from, end); err != nil {
				return fmt.Errorf("a power cap of %v W cannot be kept: %w", p.Cap, err)
			}
			p.meta.WithheldFor(r, entity.BlockedByCap)
			at, _ := slices.BinarySearchFunc(p.kept, from, func(r *entity.Run, t des.Time) int { return cmp.Compare(r.Reservation.Window.Start, t) })
			p.kept = slices.Insert(p.kept, at, r)
		}
		from = end
	}
	return nil
}

// spare returns the nodes that the cap keeps idle at the instant at, and the instant until which
// these stay the same.
func (p *PowerCap) spare(at des.Time) (left entity.Where, until des.Time) {
	busy := int(slices.Min(p.busy.Values))
	until = des.Forever
	if at < p.known {
		busy, until = int(p.busy.At(at)), min(p.busy.Next(at), p.known)
	}
	left = p.idle[busy]
	for _, x := range p.down {
		switch {
		case at < x.From:
			until = min(until, x.From)
		case at < x.To:
			left, until = without(left, x.Where), min(until, x.To)
		}
	}
	return left, until
}

// without returns the part of a place that is still to be withheld during an outage. Of counted
// processors the outage takes idle ones first, so their number falls by the number lost.
func without(at, lost entity.Where) (left entity.Where) {
	if at.Set == nil {
		return entity.Where{Count: max(at.Count-lost.Size(), 0)}
	}
	for k := range at.Numbers() {
		if !procset.Has(lost.Set, int32(k)) {
			left.Set = procset.Extend(left.Set, int32(k))
		}
	}
	return left
}

// capped declares the parameters that defer jobs and cap power, and puts a policy under what is
// given.
func (s *Settings) capped(p entity.Policy) entity.Policy {
	p = s.deferred(p)
	text, given := s.Given(powerCapParam, "WATTS|schedule|price/LIMIT/WATTS",
		"what the machine, or the site of a grid, may draw, by the power model of the run: at any instant; by the caps of that model; or WATTS while electricity costs more (or, with carbon, emits more), and at other times nothing in particular, or a fourth number (no cap)")
	if !given {
		return p
	}
	c, ok := parsePowerCap(text)
	if !ok {
		s.Fail(powerCapParam, "W (0 or more), schedule, or price/LIMIT/W or carbon/LIMIT/W, such as price/0.25/20000, which /W for other times may follow")
	}
	c.Policy = p
	return c
}

// parsePowerCap reads the value of powerCapParam: WATTS, schedule, or price/LIMIT/WATTS[/ELSE], or carbon in
// place of price. c is never nil.
func parsePowerCap(text string) (c *PowerCap, ok bool) {
	parts := strings.Split(text, "/")
	c = &PowerCap{}
	switch {
	case parts[0] == SignalCaps:
		c.Signal = text
		return c, len(parts) == 1
	case ofElectricity(parts[0]):
		if len(parts) < 3 || len(parts) > 4 {
			return c, false
		}
		c.Signal = parts[0]
		numbers := []*float64{&c.Limit, &c.Cap, &c.Else}
		for i, part := range parts[1:] {
			x, ok := number.Written(part)
			if *numbers[i] = x; !ok || i > 0 && x <= 0 {
				return c, false
			}
		}
		return c, true
	}
	if len(parts) > 1 {
		return c, false
	}
	c.Cap, ok = number.Written(text)
	return c, ok && c.Cap >= 0
}
