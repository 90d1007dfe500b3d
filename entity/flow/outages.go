package flow

// Capacity that is lost for a while: failures, maintenance, drains, nodes that
// are switched off.

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// Outage is a loss of capacity over [From, To); To may be des.Forever. Where says which: a
// number of counted processors, or nodes or processors by number.
type Outage struct {
	// Known is the instant at which the scheduler learns of the outage: From for a failure,
	// earlier for maintenance, 0 if it is known before the run.
	Known, From, To des.Time
	entity.Where
}

func (x Outage) String() string { return fmt.Sprintf("the outage [%v, %v)", x.From, x.To) }

// Lost is an outage as it really happened. From is its real beginning, which is later than
// asked for if it had to wait; Victims are the jobs that had to stop or lost an advance
// reservation for it. An outage of several nodes is told node by node, and an outage that
// overlaps another one only with what it adds.
type Lost struct {
	Outage
	Node    *entity.Node  // the lost node; nil where nodes have no names
	Victims []*entity.Run // in the order in which they had to yield
}

// Yielder is a policy that keeps some nodes idle. Outages take these nodes first, or that
// many of the counted processors.
type Yielder interface {
	// Yield releases what the policy keeps idle of the capacity that x takes. It is called
	// before the capacity is withheld.
	Yield(x Outage)
	// Retake ends a Yield of x: x is cancelled, or is over.
	Retake(x Outage)
}

// Outages is a flow of losses of capacity into a metascheduler. It is an
// Observer: given to a metascheduler it attaches itself to that, whatever its plan.
//
//	known          from                  to
//	  |...............[######################)     what is out of service
//	  |  policies see |
//	  |  the hole     +-- whoever runs there yields, by Victims
//
// What is announced is withheld ahead. A job that runs when it becomes known may go
// on until it begins; what such a job gives back early nobody else gets. When an
// outage begins, those of its processors that are free go first; on counted
// processors without a place the jobs that started last follow, in the order of
// Metascheduler.InTheWay, and advance reservations come last.
//
// Losses of one processor or node that overlap are joined: what is down is not taken twice.
// Overlapping losses of a number of processors, whichever they are, add up, to at most the whole
// machine. The two do not mix: either no outage of a run has a Set or all have one. Nodes that
// have names are not lost by the count.
//
// On counted processors the metascheduler gets a Placer, by which jobs that are expected to run
// into an announced outage are kept off its processors where that can be; among the other
// processors the Placer that was set before chooses, or entity.LowestFirst.
//
// An endless sequence of outages does not keep a run from ending. While the
// metascheduler is Idle, the flow sleeps; the next job that is submitted wakes it,
// and it catches up with what is still down then. Where jobs wait, it could go on for ever:
// the run ends with an error when 100,000 outages in a row (ten for each processor or node,
// if that is more) have begun while jobs waited and none ran. A job that is stopped for ever ends
// the run as well: the metascheduler counts attempts of which nothing was kept.
type Outages struct {
	// Victims says what becomes of the jobs that run where capacity is lost. It is set
	// before the metascheduler is made.
	Victims Victims
	// Told, if set, hears of every loss as it begins.
	Told func(Lost)
	// Before, if set, is called with every loss that is about to begin; it may make room, as
	// SwitchOff.Yield does.
	Before func(Outage)
	// Idle, if set, is called beside Metascheduler.Idle. Set it if jobs may come to the
	// metascheduler from further away: from Dependencies or Bookings (see their method
	// Coming), or from the brokers of a grid.
	Idle func() bool

	all  iter.Seq[Outage]
	pull func() (Outage, bool)
	stop func()
	feed des.Feed[Outage]

	meta  *entity.Metascheduler
	sim   *des.Simulator
	idles Yielder // the policy, where it is one, or nil
	size  int     // nodes or counted processors
	named bool    // they are nodes that have names

	bySet, byCount bool // there are outages with a Set, or without one

	units   []unit  // by number
	counted []*loss // without a Set, until they are over

	idled  int // outages in a row that began while jobs waited and none ran
	asleep bool
	missed []*loss  // that began while the flow was asleep
	coming []Outage // that was pulled as it woke

	ahead   []*loss                 // announced, in the order in which they were
	waiting map[*entity.Run][]*loss // for the ends of these jobs
	booked  []*entity.Run           // advance reservations, the latest last
	times   map[*entity.Run]int     // how often each was sent back
	fresh   []*entity.Run           // started at this instant
}

// unit is a processor or node by number.
type unit struct {
	run   *entity.Run // that runs on the processor, as of the latest instant that is over; see at
	spans []span      // in which it is lost, now or ahead, ascending and apart
}

type span struct{ from, to des.Time }

// loss is a part of an outage that is treated as one: one named node, or processors.
type loss struct {
	Outage
	holds []*entity.Hold // of what is announced
	short bool           // they do not have all of it yet
}

var (
	_ entity.Attacher        = (*Outages)(nil)
	_ entity.InstantObserver = (*Outages)(nil)
	_ entity.TaskObserver    = (*Outages)(nil)
)

// Submit takes outages in order of Outage.Known, pulled one ahead of the clock.
// One out of order, or one that makes no sense on the plan, ends the run with an
// error. It is called before the run.
func (o *Outages) Submit(all iter.Seq[Outage]) {
	o.Close()
	o.all = all
}

// Close drops the outages to come. It is called when the run is over.
func (o *Outages) Close() {
	if o.stop != nil {
		o.stop()
	}
	o.feed.Close()
	o.all, o.pull, o.stop = nil, nil, nil
}

// Attach is called by the metascheduler.
func (o *Outages) Attach(m *entity.Metascheduler) {
	o.meta, o.sim = m, m.Simulator()
	if err := o.Victims.Check(); err != nil {
		o.sim.Fail(fmt.Errorf("victims of outages: %w", err))
		return
	}
	o.size, o.named = m.Plan().Size(), entity.Named(m.Plan())
	o.idles, _ = entity.As[Yielder](m.Policy())
	if !o.named {
		inner := m.Placer
		if inner == nil {
			inner = entity.LowestFirst{}
		}
		m.Placer = avoiding{o, inner}
	}
	if o.Victims.Rule == VictimsCheckpoint {
		m.Checkpoints = o.Victims.Checkpoints
	}
	o.waiting, o.times = map[*entity.Run][]*loss{}, map[*entity.Run]int{}
	// Whoever brings jobs is there when the run begins.
	o.sim.At(o.sim.Now(), 0, des.Func(func(*des.Simulator, des.Event) { o.begin() }), 0)
}

func (o *Outages) begin() {
	if o.all == nil {
		return
	}
	o.pull, o.stop = iter.Pull(o.all)
	o.feed = des.Feed[Outage]{
		Next: o.next, At: func(x Outage) des.Time { return x.Known }, Phase: entity.PhaseChange,
		Check: o.check, Do: o.strike,
	}
	o.feed.Begin(o.sim)
}

// strike begins an outage whose time has come. It ends the run if nothing shows that one of
// the waiting jobs will ever run.
func (o *Outages) strike(x Outage) {
	o.Take(x)
	first := o.meta.Queue().First()
	if first == nil || o.meta.Running() > 0 {
		o.idled = 0
		return
	}
	if o.idled++; o.idled < o.most() {
		return
	}
	what := "processors"
	if o.named {
		what = "nodes"
	}
	free := 0
	for s := range o.meta.Plan().Slots(o.sim.Now(), o.sim.Now()+des.Tick) {
		free += s.Width
	}
	o.sim.Fail(fmt.Errorf("at %v: %v wants %d %s and has waited since %v: no job has run while %d outages began, and %d of %d %s are free now; "+
		"have rarer or shorter outages, more crews, or outages that end (until), or leave such jobs out",
		o.sim.Now(), first, first.Request.Nodes, what, first.Submit, o.idled, free, o.size, what))
}

// The limits of a run that could go on for ever; see Outages. A job that starts once in
// 10,000 outages waits for 100,000 with a probability of e^-10.
const (
	mostIdle = 100_000 // outages in a row while jobs wait and none runs,
	eachIdle = 10      // or this for each processor or node where that is more
)

// most returns the number of outages in a row that may begin while jobs wait and none runs.
func (o *Outages) most() int { return max(mostIdle, eachIdle*o.size) }

// next returns the next outage. While the metascheduler is idle it returns none, and the flow sleeps.
func (o *Outages) next() (x Outage, ok bool) {
	switch {
	case len(o.coming) > 0:
		x, o.coming = o.coming[0], nil
		return x, true
	case o.idle():
		o.asleep = true
		return x, false
	}
	return o.pull()
}

func (o *Outages) idle() bool {
	return o.meta.Idle() && (o.Idle == nil || o.Idle())
}

// wake begins the outages that are under way by now, and goes on with those to come.
func (o *Outages) wake() {
	o.asleep = false
	missed := o.missed
	o.missed = nil
	for _, l := range missed {
		o.come(l)
	}
	for o.pull != nil && len(o.coming) == 0 {
		x, ok := o.pull()
		if !ok || o.sim.Context().Err() != nil {
			return
		}
		if now := o.sim.Now(); x.Known > now || x.Known == now && o.meta.Pass == entity.PassEvent { // where jobs come first
			o.coming = append(o.coming, x)
			break
		}
		if err := o.check(x); err != nil {
			o.sim.Fail(err)
			return
		}
		o.Take(x)
	}
	if o.pull != nil {
		o.feed.Pull()
	}
}

func (o *Outages) check(x Outage) error {
	err := x.Where.Check(o.size)
	switch {
	case err != nil:
		err = fmt.Errorf("its place: %w", err)
	case x.Known < 0 || x.From >= x.To:
		err = errors.New("it must be known at 0 or later, and end after it begins")
	case x.Known > x.From:
		err = fmt.Errorf("it is known at %v, after it begins", x.Known)
	case o.named && x.Set == nil:
		err = errors.New("its place: nodes that have names are lost by number")
	case x.Set == nil && o.bySet, x.Set != nil && o.byCount:
		err = errors.New("some outages name their processors, and others do not")
	}
	o.bySet, o.byCount = o.bySet || x.Set != nil, o.byCount || x.Set == nil
	if err != nil {
		return fmt.Errorf("%v: %w", x, err)
	}
	return nil
}

// Take begins one outage now, for programs that decide about outages during a run.
func (o *Outages) Take(x Outage) {
	o.meta.Advance()
	x.From = max(x.From, o.sim.Now())
	switch {
	case x.From >= x.To: // it is over
	case x.Set == nil:
		o.takeCounted(x)
	default:
		o.takeSet(x)
	}
	o.topUp()
}

// lose adds s to the spans in which the unit is lost, and returns the parts of s that
// are new. What is past is forgotten.
func (u *unit) lose(s span, now des.Time) (added []span) {
	u.spans = slices.DeleteFunc(u.spans, func(old span) bool { return old.to <= now })
	at := s.from
	for _, old := range u.spans {
		if old.from >= s.to {
			break
		}
		if at < old.from {
			added = append(added, span{at, old.from})
		}
		at = max(at, old.to)
	}
	if at < s.to {
		added = append(added, span{at, s.to})
	}
	for _, a := range added {
		i, _ := slices.BinarySearchFunc(u.spans, a, func(old, a span) int { return cmp.Compare(old.from, a.from) })
		u.spans = slices.Insert(u.spans, i, a)
	}
	return added
}

// restore removes the span that lose has added and that ends at the instant to.
func (u *unit) restore(to des.Time) {
	u.spans = slices.DeleteFunc(u.spans, func(old span) bool { return old.to == to })
}

// takeSet begins an outage of nodes or processors by number. Processors that are lost over
// the same spans stay together; each named node is a loss of its own.
func (o *Outages) takeSet(x Outage) {
	if o.units == nil {
		o.units = make([]unit, o.size)
		for r := range o.meta.RunningJobs() {
			o.settle(r)
			o.fresh = append(o.fresh, r) // it may have started at this instant
		}
	}
	type group struct {
		spans []span
		set   []procset.Range
	}
	var groups []group
	for p := range x.Numbers() {
		spans := o.units[p].lose(span{x.From, x.To}, o.sim.Now())
		i := -1
		if !o.named {
			i = slices.IndexFunc(groups, func(g group) bool { return slices.Equal(g.spans, spans) })
		}
		if i < 0 {
			i, groups = len(groups), append(groups, group{spans: spans})
		}
		groups[i].set = procset.Extend(groups[i].set, int32(p))
	}
	for _, g := range groups {
		for _, s := range g.spans {
			o.come(&loss{Outage: Outage{Known: x.Known, From: s.from, To: s.to, Where: entity.Where{Set: g.set}}})
		}
	}
}

// takeCounted begins an outage of a number of processors: in each span between two changes
// it takes as many as are not lost already.
func (o *Outages) takeCounted(x Outage) {
	now := o.sim.Now()
	o.counted = slices.DeleteFunc(o.counted, func(l *loss) bool { return l.To <= now })
	marks := []des.Time{x.From, x.To}
	for _, l := range o.counted {
		for _, t := range []des.Time{l.From, l.To} {
			if x.From < t && t < x.To {
				marks = append(marks, t)
			}
		}
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	var parts []*loss
	for i, from := range marks[:len(marks)-1] {
		left := o.size
		for _, l := range o.counted {
			if l.From <= from && from < l.To {
				left -= l.Count
			}
		}
		n := min(x.Count, left)
		if k := len(parts) - 1; k >= 0 && parts[k].To == from && parts[k].Count == n {
			parts[k].To = marks[i+1]
		} else if n > 0 {
			parts = append(parts, &loss{Outage: Outage{Known: x.Known, From: from, To: marks[i+1], Where: entity.Where{Count: n}}})
		}
	}
	o.counted = append(o.counted, parts...)
	for _, l := range parts {
		o.come(l)
	}
}

// come begins l now, or announces it.
func (o *Outages) come(l *loss) {
	now := o.sim.Now()
	switch {
	case l.To <= now:
	case o.asleep:
		o.missed = append(o.missed, l)
	case l.From <= now:
		o.start(l)
	default:
		o.ahead = append(o.ahead, l)
		o.withholdAhead(l)
		o.sim.At(l.From, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			o.meta.Advance()
			o.ahead = slices.DeleteFunc(o.ahead, func(a *loss) bool { return a == l })
			o.drop(l)
			if o.idle() {
				o.asleep = true
			}
			o.come(l)
			o.topUp()
		}), 1)
	}
}

// drop gives back what is withheld ahead for l.
func (o *Outages) drop(l *loss) {
	for _, h := range l.holds {
		w := h.Window()
		h.Drop()
		o.retake(l, w)
	}
	l.holds = nil
}

// makeRoom asks the policy to release the idle nodes that the part w of l takes; retake ends that.
func (o *Outages) makeRoom(l *loss, w entity.Window) {
	if o.idles != nil {
		o.idles.Yield(o.part(l, w))
	}
}

func (o *Outages) retake(l *loss, w entity.Window) {
	if o.idles != nil {
		o.idles.Retake(o.part(l, w))
	}
}

// part returns the part of l that is lost over the window w.
func (o *Outages) part(l *loss, w entity.Window) Outage {
	return Outage{Known: l.Known, From: w.Start, To: w.End, Where: o.counts(l, w.Nodes)}
}

// window returns the capacity that l takes, from the instant from on, as policies see it.
func (l *loss) window(from des.Time) entity.Window {
	return entity.Window{Start: from, End: l.To, Nodes: l.Size()}
}

// first returns the lowest number of l.
func (l *loss) first() int { return int(l.Set[0].First) }

// counts returns the place of n of l's processors in a plan that counts ahead; in a plan of named
// nodes, the place of l's nodes.
func (o *Outages) counts(l *loss, n int) entity.Where {
	if o.named {
		return l.Where
	}
	return entity.Where{Count: n}
}

// fits reports whether the plan has room, as long as w lasts, to withhold as many nodes of l as w has.
func (o *Outages) fits(l *loss, w entity.Window) bool {
	if o.named {
		return len(o.meta.InTheWay(l.Where, w.Start, w.End)) == 0
	}
	_, ok := o.meta.Plan().Find(entity.Request{Nodes: w.Nodes, Length: w.Length()}, w.Start, w.Start)
	return ok
}

// withhold takes capacity that is lost out of the plan.
func (o *Outages) withhold(at entity.Where, from, to des.Time) (*entity.Hold, error) {
	h, err := o.meta.Withhold(at, from, to)
	if err == nil {
		o.meta.WithheldFor(h.Run(), entity.BlockedByOutage)
	}
	return h, err
}

// withholdAhead takes what is announced out of the plan, as far as it is not taken by
// jobs that run.
func (o *Outages) withholdAhead(l *loss) {
	whole := l.window(l.From)
	o.makeRoom(l, whole)
	o.clear(l, whole, false)
	l.short = false
	if o.fits(l, whole) {
		h, err := o.withhold(o.counts(l, whole.Nodes), whole.Start, whole.End)
		if err == nil {
			l.holds = append(l.holds, h)
			return
		}
	}
	l.short = true
	for _, w := range o.openings(l, l.From) {
		if h, err := o.withhold(o.counts(l, w.Nodes), w.Start, w.End); err == nil {
			o.makeRoom(l, h.Window())
			l.holds = append(l.holds, h)
		}
	}
	o.retake(l, whole)
}

// openings returns the windows that are free for l from an instant on, each as wide as possible.
func (o *Outages) openings(l *loss, from des.Time) (all []entity.Window) {
	for s := range o.meta.Plan().Slots(from, l.To) {
		w := l.window(s.Start)
		w.End = min(s.End, l.To)
		switch {
		case w.Start < from || w.Start >= w.End:
			continue
		case !o.named:
			w.Nodes = min(w.Nodes, s.Width)
		case s.Node != o.meta.Plan().Node(l.first()):
			continue
		}
		all = append(all, w)
	}
	return all
}

// topUp takes for what is announced what has become free.
func (o *Outages) topUp() {
	if !slices.ContainsFunc(o.ahead, func(l *loss) bool { return l.short }) {
		return
	}
	for _, l := range slices.Clone(o.ahead) {
		if l.short && l.From > o.sim.Now() {
			o.drop(l)
			o.withholdAhead(l)
		}
	}
}

// start takes l out of the plan from now on.
func (o *Outages) start(l *loss) {
	l.From = o.sim.Now()
	w := l.window(l.From)
	o.makeRoom(l, w)
	if o.Before != nil {
		o.Before(l.Outage)
	}
	if o.Victims.Rule == VictimsWait {
		whole := l
		if l = o.drain(l); l != nil {
			o.makeRoom(l, l.window(l.From))
		}
		o.retake(whole, w)
		if l == nil {
			return
		}
		w = l.window(l.From)
	}
	var victims []*entity.Run
	if !o.named { // of nodes that have names clear knows who has them
		for p := range l.Numbers() {
			if run := o.at(p, l.To); run != nil {
				victims = o.yield(victims, run)
			}
		}
	}
	if !o.fits(l, w) {
		victims = append(victims, o.clear(l, w, true)...)
	}
	_, err := o.withhold(l.Where, l.From, l.To)
	if err != nil {
		if rest, cut := o.curtail(l); cut {
			defer o.Take(rest)
			whole := w
			w = l.window(l.From)
			o.makeRoom(l, w)
			o.retake(l, whole)
			_, err = o.withhold(l.Where, l.From, l.To)
		}
	}
	if err != nil {
		free := o.openings(l, l.From)
		o.retake(l, w)
		o.postpone(l, free)
		return
	}
	if o.Told != nil {
		lost := Lost{Outage: l.Outage, Victims: victims}
		if o.named {
			lost.Node = o.meta.Plan().Node(l.first())
		}
		o.Told(lost)
	}
}

// clear makes jobs that stand in the way of w yield: reservations ahead and, if running is
// true, jobs that run now. On counted processors it takes as many jobs as are needed:
// advance reservations only if there were no room beside them even if all others yielded; of
// the others running jobs as far as room is needed at once, and then reservations ahead.
// Jobs that are left in the way run now and yield later.
func (o *Outages) clear(l *loss, w entity.Window, running bool) (victims []*entity.Run) {
	counted := !o.named
	if counted {
		victims = o.clearBooked(w, running)
	}
	instant := w
	instant.End = w.Start + des.Tick
	for _, r := range o.meta.InTheWay(o.counts(l, w.Nodes), w.Start, w.End) {
		switch {
		case r.State == entity.Created, counted && r.Booked: // kept for a job that may come, or an owner's
			continue
		case r.State == entity.Running && (!running || o.Victims.Rule == VictimsWait):
			continue
		case r.State == entity.Running && counted && o.fits(l, instant):
			continue
		case r.State == entity.Reserved && counted && o.fits(l, w):
			return victims
		}
		victims = o.yield(victims, r)
	}
	return victims
}

// clearBooked makes advance reservations yield, the latest first, if there is no room for
// them beside w whoever else yields.
func (o *Outages) clearBooked(w entity.Window, running bool) (victims []*entity.Run) {
	stays := running && o.Victims.Rule == VictimsWait // what runs
	for _, at := range o.tightest(w) {
		for o.besides(at, !stays) < w.Nodes {
			i := len(o.booked) - 1
			for ; i >= 0; i-- {
				r := o.booked[i]
				if held := r.Reservation.Window; held.Start <= at && at < held.End && (r.State == entity.Reserved || running && !stays) {
					break
				}
			}
			if i < 0 {
				break
			}
			victims = o.yield(victims, o.booked[i])
		}
	}
	return victims
}

// tightest returns the instants of w at which there can be less room beside advance
// reservations and announced outages than just before, ascending; none where there are
// no advance reservations.
func (o *Outages) tightest(w entity.Window) []des.Time {
	if len(o.booked) == 0 {
		return nil
	}
	all := []des.Time{w.Start}
	for _, r := range o.booked {
		all = append(all, r.Reservation.Window.Start)
	}
	for _, l := range o.ahead {
		all = append(all, l.From)
	}
	all = slices.DeleteFunc(all, func(t des.Time) bool { return t < w.Start || t >= w.End })
	slices.Sort(all)
	return slices.Compact(all)
}

// besides returns how many counted processors are free at an instant, or held by jobs
// without an advance reservation; running jobs count only if running is true.
func (o *Outages) besides(at des.Time, running bool) (n int) {
	for s := range o.meta.Plan().Slots(at, at+des.Tick) {
		n = s.Width
	}
	for _, r := range o.meta.InTheWay(entity.Where{Count: o.size}, at, at+des.Tick) {
		if !r.Booked && (running || r.State != entity.Running) {
			n += r.Reservation.Window.Nodes
		}
	}
	return n
}

// yield makes r give way, and adds it to victims. A job that only loses a reservation ahead is no
// victim, unless that is an advance reservation.
func (o *Outages) yield(victims []*entity.Run, r *entity.Run) []*entity.Run {
	stopped, displaced := o.Victims.yield(o.meta, r, o.times[r])
	if stopped && r.State == entity.Waiting {
		o.times[r]++
	}
	if stopped || displaced && r.Booked {
		victims = append(victims, r)
	}
	return victims
}

// curtail shortens l, which begins now, to the time for which its place is free: later an advance
// reservation beside a running job, an owner or a tentative window may have the place. It returns
// the rest of the outage, which may have to wait.
func (o *Outages) curtail(l *loss) (rest Outage, cut bool) {
	end := l.From
	for _, w := range o.openings(l, l.From) {
		if w.Start > end || w.Nodes < l.Size() {
			break
		}
		end = w.End
	}
	if end == l.From {
		return rest, false
	}
	rest = l.Outage
	rest.From = end
	o.unlose(l)
	l.To = end
	o.lose(l)
	return rest, true
}

// postpone lets l begin as soon as its place is free. The part of the place that is free
// already is known.
func (o *Outages) postpone(l *loss, free []entity.Window) {
	free = slices.DeleteFunc(free, func(w entity.Window) bool { return w.Nodes < l.Size() })
	o.unlose(l)
	if len(free) == 0 || free[0].Start == o.sim.Now() {
		return // or somebody else withholds these very processors
	}
	again := l.Outage
	again.From = free[0].Start
	o.Take(again)
}

// lose counts l among what is lost.
func (o *Outages) lose(l *loss) {
	for p := range l.Numbers() {
		o.units[p].lose(span{l.From, l.To}, o.sim.Now())
	}
	if l.Set == nil {
		o.counted = append(o.counted, l)
	}
}

// unlose takes l out of what is lost.
func (o *Outages) unlose(l *loss) {
	for p := range l.Numbers() {
		o.units[p].restore(l.To)
	}
	o.counted = slices.DeleteFunc(o.counted, func(c *loss) bool { return c == l })
}

// drain makes each part of l wait for the job that runs on it, and returns the part on which no job
// runs, or nil.
func (o *Outages) drain(l *loss) *loss {
	o.unlose(l)
	rest := l.Outage
	if l.Set == nil {
		rest.Count = o.drainCounted(l)
	} else {
		rest.Set = o.drainSet(l)
	}
	if rest.Size() == 0 {
		return nil
	}
	l = &loss{Outage: rest}
	o.lose(l)
	return l
}

// drainSet is drain for numbered processors or nodes: it returns those on which no job runs.
func (o *Outages) drainSet(l *loss) []procset.Range {
	var order []*entity.Run
	on := map[*entity.Run][]procset.Range{}
	for p := range l.Numbers() {
		run := o.at(p, l.To)
		if run != nil && on[run] == nil {
			order = append(order, run)
		}
		on[run] = procset.Extend(on[run], int32(p))
	}
	part := l.Outage
	for _, r := range order {
		part.Set = on[r]
		o.await(r, part)
	}
	return on[nil]
}

// drainCounted is drain for a number of processors: those that are not free wait for running jobs. It
// returns the number of the others.
func (o *Outages) drainCounted(l *loss) int {
	now, free := l.From, 0
	for s := range o.meta.Plan().Slots(now, now+des.Tick) {
		free = s.Width
	}
	rest := min(l.Count, free)
	for _, at := range o.tightest(l.window(now)) { // where it helps an advance reservation to wait
		if o.besides(at, true) >= l.Count {
			rest = min(rest, o.besides(at, false))
		}
	}
	left := l.Count - rest
	for _, r := range o.meta.InTheWay(l.Where, now, now+des.Tick) {
		n := r.Reservation.Window.Nodes
		for _, other := range o.waiting[r] {
			n -= other.Count
		}
		if n = min(n, left); r.State == entity.Running && n > 0 {
			part := l.Outage
			part.Count = n
			o.await(r, part)
			left -= n
		}
	}
	return rest + min(left, free-rest)
}

// ours reports whether r, which runs, is a job of the metascheduler, and not an owner's.
func (o *Outages) ours(r *entity.Run) bool {
	for other := range o.meta.RunningJobs() {
		if other == r {
			return true
		}
	}
	return false
}

// await has x begin when r, which runs now, has ended. Policies see it where the job
// is expected to end, unless it may run on.
func (o *Outages) await(r *entity.Run, x Outage) {
	if x = o.beyond(r, x); x.Size() == 0 {
		return
	}
	l := &loss{Outage: x}
	o.waiting[r] = append(o.waiting[r], l)
	if o.meta.Overrun == entity.OverrunExtend {
		return
	}
	held := &r.Reservation.Window
	end := held.End
	expected := &loss{Outage: x}
	for _, t := range held.Tasks {
		if t.Node == o.meta.Plan().Node(expected.first()) {
			end = t.End
		}
	}
	expected.From, expected.To = end, end.Add(x.To-x.From)
	if expected.From < expected.To {
		o.withholdAhead(expected)
	}
	l.holds = expected.holds
}

// beyond returns the part of x that outlasts the outages which wait for r already. They all
// begin when r has ended, so that of one processor or node only the longest outage counts.
func (o *Outages) beyond(r *entity.Run, x Outage) Outage {
	if x.Set == nil {
		return x
	}
	var left []procset.Range
	for p := range x.Numbers() {
		if !slices.ContainsFunc(o.waiting[r], func(l *loss) bool { return l.To-l.From >= x.To-x.From && procset.Has(l.Set, int32(p)) }) {
			left = procset.Extend(left, int32(p))
		}
	}
	x.Set = left
	return x
}

// take begins those losses that wait for r and for which ready is true.
func (o *Outages) take(r *entity.Run, ready func(*loss) bool) {
	var now []*loss
	o.waiting[r] = slices.DeleteFunc(o.waiting[r], func(l *loss) bool {
		if ready(l) {
			now = append(now, l)
			return true
		}
		return false
	})
	if len(o.waiting[r]) == 0 {
		delete(o.waiting, r)
	}
	for _, l := range now {
		o.drop(l)
	}
	for _, l := range now {
		x := l.Outage
		length := x.To - x.From
		if x.From = o.sim.Now(); x.To < des.Forever {
			x.To = x.From.Add(length)
		}
		o.Take(x)
	}
}

// at returns the job that runs on the p-th node or processor, which is about to be lost until the
// instant to; nil if there is none.
func (o *Outages) at(p int, to des.Time) *entity.Run {
	if o.named {
		for _, r := range o.meta.InTheWay(entity.NodeAt(p), o.sim.Now(), to) {
			if r.State == entity.Running && o.ours(r) {
				return r
			}
		}
		return nil
	}
	if r := o.units[p].run; r != nil && r.State == entity.Running && procset.Has(r.Place, int32(p)) {
		return r
	}
	if c, ok := o.meta.Placer.(entity.Chooser); ok {
		return c.Chosen(entity.NodeAt(p).Set)
	}
	return nil
}

// settle notes on which processors r runs.
func (o *Outages) settle(r *entity.Run) {
	for p := range (entity.Where{Set: r.Place}).Numbers() {
		o.units[p].run = r
	}
}

// Observe implements entity.Observer.
func (o *Outages) Observe(e entity.JobEvent) {
	r := e.Run
	switch e.Kind {
	case entity.JobSubmitted:
		if r.Booked {
			o.booked = append(o.booked, r)
		}
		if o.asleep {
			o.wake()
		}
		return
	case entity.JobStarted, entity.JobResized:
		if o.units != nil && !o.named {
			o.fresh = append(o.fresh, r)
		}
	}
	switch e.Kind {
	case entity.JobStarted, entity.JobPromised, entity.JobWithdrawn:
		return
	case entity.JobRequeued, entity.JobResized: // perhaps by a policy, which is in the middle of a round
		if o.waiting[r] != nil || len(o.ahead) > 0 {
			o.sim.At(o.sim.Now(), entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { o.left(r) }), 0)
		}
		return
	}
	delete(o.times, r)
	if r.Booked {
		o.booked = slices.DeleteFunc(o.booked, func(b *entity.Run) bool { return b == r })
	}
	o.left(r)
}

// left begins the losses that waited for r, which has left its processors. If r has only become
// smaller, they wait anew for what it still has.
func (o *Outages) left(r *entity.Run) {
	if o.waiting[r] != nil {
		o.take(r, func(*loss) bool { return true })
	}
	o.topUp()
}

// InstantOver implements entity.InstantObserver: the flow learns where jobs run.
func (o *Outages) InstantOver(des.Time) {
	for _, r := range o.fresh {
		if r.State == entity.Running {
			o.settle(r)
		}
	}
	clear(o.fresh)
	o.fresh = o.fresh[:0]
}

// TaskEnded takes a node out of service whose task was waited for.
func (o *Outages) TaskEnded(r *entity.Run, i int) {
	if o.waiting[r] == nil {
		return
	}
	node, now := r.Reservation.Window.Tasks[i].Node, o.sim.Now()
	o.take(r, func(l *loss) bool {
		return o.meta.Plan().Node(l.first()) == node && !slices.Contains(o.meta.InTheWay(l.Where, now, now+des.Tick), r)
	})
}
