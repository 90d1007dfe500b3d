package metrics

// capacity.csv: what became of the capacity of a run, to the tick.

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/emirpasic/gods/trees/binaryheap"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Use is what a part of the capacity went into.
type Use uint8

const (
	UseWork     Use = iota // of jobs that finished, or that is kept for those that may
	UseLost                // work that was done in vain
	UseOverhead            // set-up and checkpoints
	UseOwners              // owners' own jobs
	UseDown                // withheld: failed, maintained, drained
	UseIdle                // nobody's, or reserved and not needed
	uses
)

var useNames = enum.Of[Use]("use of capacity", "useful", "lost", "overhead", "owners", "down", "idle")

func (u Use) String() string { return useNames.Name(u) }

// Account is an Observer that keeps an account of the capacity of one run, in
// processors, or nodes, times ticks:
//
//	useful + lost + overhead + owners + down + idle = capacity
//
//	capacity  processors times the span: from the instant of the first submission to
//	          the last one at which a job started, ended or was preempted
//	useful    work that attempts kept, finished jobs did, or attempts under way have
//	          done so far (these with their overhead)
//	lost      work that was done and not kept; all work of a job that was killed or,
//	          having been preempted, cancelled
//	overhead  of attempts that are over: set-up, checkpoints
//	owners    owners' own jobs
//	down      what was withheld, as far as the span goes
//	idle      the rest; also what was reserved, and not used
//
// A job that was killed at its estimate has had what it asked for: its work counts
// as useful. Logs are full of such jobs, which ended a few seconds past their
// estimates.
//
// On unequal nodes a node's share of an attempt is useful in the proportion in
// which the attempt's work was kept, rounded down to a tick; of what is left
// overhead comes first.
//
// What jobs hold is kept twice: at each instant by who starts and ends, and by the
// attempts when they are over. Check compares the two. Memory is constant but for
// what is known ahead of withheld capacity and owners' jobs. The zero value is an empty account.
type Account struct {
	// Policy and Processors are as in Recorder. A metascheduler that the account is
	// given to fills them in.
	Policy     string
	Processors int
	// Of, if set, tells what capacity that is withheld counts as; UseDown where it is nil.
	Of func(h *entity.Hold) Use

	meta    *entity.Metascheduler
	begun   bool
	from    des.Time
	at      des.Time         // the end of the span so far
	held    int64            // by jobs, then
	away    [uses]int64      // by others, then
	others  int64            // their sum
	ahead   *binaryheap.Heap // of what others have, by time: changes
	running int              // attempts under way
	area    sum128           // that jobs held, by starts and ends
	parts   [uses]sum128     // that attempts had, and others
	seen    des.Time         // at or later: up to where what others had is in soon
	soon    [uses]sum128     // what others had from the end of the span to seen
	shared  bool             // soon is not nothing
	over    int64            // by how much more was taken than there is, when it first was
	overAt  des.Time
	again   bool // see Again
	leaving
}

// change is one in what others than jobs have.
type change struct {
	at  des.Time
	use Use
	by  int64
}

// Again reports whether a job was stopped or resized, or had overhead. Then the run needs attempts-
// POLICY.csv and capacity.csv.
func (a *Account) Again() bool { return a.again }

// Attach gives the account the metascheduler whose plan it watches.
func (a *Account) Attach(m *entity.Metascheduler) {
	a.meta = m
	if a.Policy == "" {
		a.Policy = m.Policy().Name()
	}
	if a.Processors == 0 {
		a.Processors = m.Plan().Size()
	}
}

// Observe adds one event to the account.
func (a *Account) Observe(e entity.JobEvent) {
	if a.Processors == 0 {
		return // jobs as a whole, on no plan: there is nothing to account for
	}
	switch e.Kind {
	case entity.JobSubmitted:
		if !a.begun {
			a.begin(e.Time)
		}
	case entity.JobRejected:
		a.forfeit(e.Run)
	case entity.JobStarted:
		a.reach(e.Time)
		a.started(e.Run)
	case entity.JobFinished, entity.JobKilled, entity.JobRequeued, entity.JobResized:
		a.reach(e.Time)
		a.ended(e)
	}
}

// started adds an attempt that goes on from now on.
func (a *Account) started(r *entity.Run) {
	a.held += int64(r.Reservation.Window.Nodes)
	a.running++
}

// TaskEnded ends the i-th task of a job on named nodes: from now on its node is not busy.
func (a *Account) TaskEnded(r *entity.Run, i int) {
	if a.taskEnded(r, i) {
		a.reach(r.Ends()[i])
		a.held--
	}
}

// Withheld adds capacity that leaves the plan.
func (a *Account) Withheld(h *entity.Hold) { a.withheld(h, 0, 1) }

// Returned subtracts withheld capacity that comes back before the end of its hold.
func (a *Account) Returned(h *entity.Hold) { a.withheld(h, a.meta.Simulator().Now(), -1) }

// withheld adds so many times what a hold takes from an instant on.
func (a *Account) withheld(h *entity.Hold, from des.Time, times int64) {
	use, w := UseDown, h.Window()
	if a.Of != nil {
		use = a.Of(h)
	}
	from = max(from, w.Start)
	if w.Tasks == nil {
		a.take(use, from, w.End, times*int64(w.Nodes))
	}
	for _, t := range w.Tasks {
		a.take(use, from, t.End, times)
	}
}

// Down adds processors that are down from now on. A negative number says that processors are back.
func (a *Account) Down(now des.Time, processors int) { a.change(now, UseDown, int64(processors)) }

// Owner adds an owner's job that has got its node at the instant start. See flow.LocalFlow.Told.
func (a *Account) Owner(l flow.LocalJob, start des.Time) {
	a.take(UseOwners, start, start.Add(l.Length), 1)
}

// Owners returns an observer for the jobs of an owner's queue. See flow.LocalQueue.Observers.
func (a *Account) Owners() entity.Observer { return &ownersAccount{account: a} }

type ownersAccount struct {
	account *Account
	leaving
}

func (o *ownersAccount) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		o.account.change(e.Time, UseOwners, int64(e.Run.Reservation.Window.Nodes))
	}
	if x, _, how, ok := entity.Over(e); ok && how != entity.EndResized {
		o.account.change(e.Time, UseOwners, -o.left(e.Run, x.Window.Nodes, x.Ends, e.Time))
	}
}

// TaskEnded takes in the end of a task of an owner's job.
func (o *ownersAccount) TaskEnded(r *entity.Run, i int) {
	if o.taskEnded(r, i) {
		o.account.change(r.Ends()[i], UseOwners, -1)
	}
}

// take has others than jobs take so much over [from, to).
func (a *Account) take(use Use, from, to des.Time, by int64) {
	if from < to {
		a.change(from, use, by)
		if to < des.Forever { // which never comes
			a.change(to, use, -by)
		}
	}
}

// change notes one change, which lies at the end of the span so far or ahead. Where no job
// starts or ends for long, what is over by now is summed up, so that memory stays constant.
func (a *Account) change(at des.Time, use Use, by int64) {
	if a.ahead == nil {
		a.ahead = binaryheap.NewWith(func(x, y any) int { return cmp.Compare(x.(change).at, y.(change).at) })
	}
	if a.ahead.Size() >= foldAt && a.meta != nil {
		a.fold(a.meta.Simulator().Now())
	}
	a.ahead.Push(change{at, use, by})
}

// begin begins the span.
func (a *Account) begin(now des.Time) {
	a.reach(now)
	a.begun, a.from = true, now
	a.area, a.parts = sum128{}, [uses]sum128{}
}

// reach has the span go on to now.
func (a *Account) reach(now des.Time) {
	if now > a.at { // the first event of an instant
		a.advance(now)
	}
}

func (a *Account) advance(now des.Time) {
	if a.ahead != nil {
		a.fold(now)
	}
	a.pass(now)
	a.area.addArea(int(a.held), now-a.at)
	a.at = now
	if a.shared {
		for u := range a.soon {
			a.parts[u].plus(a.soon[u])
		}
		a.soon, a.shared = [uses]sum128{}, false
	}
}

// foldAt is how many changes may be ahead before those that are over are summed up.
const foldAt = 1024

// fold sums up what others had up to now, or the last change before it.
func (a *Account) fold(now des.Time) {
	for {
		first, some := a.ahead.Peek()
		if !some || first.(change).at > now {
			return
		}
		a.ahead.Pop()
		c := first.(change)
		a.pass(c.at)
		a.away[c.use] += c.by
		a.others += c.by
	}
}

// pass has what others had be summed up to now, up to which nothing changes.
func (a *Account) pass(now des.Time) {
	t := now - a.seen
	if t <= 0 {
		return
	}
	if a.others != 0 {
		a.shared = true
		for u, n := range a.away {
			a.soon[u].addArea(int(n), t)
		}
	}
	if over := a.held + a.others - int64(a.Processors); over > 0 && a.over == 0 && a.begun {
		a.over, a.overAt = over, a.seen
	}
	a.seen = now
}

// ended takes in the attempt that the event has ended. The work that is kept is useful.
func (a *Account) ended(e entity.JobEvent) {
	a.running--
	if r := e.Run; e.Kind == entity.JobFinished && r.Once() && r.Reservation.Window.Tasks == nil { // as most often
		n := r.Reservation.Window.Nodes
		a.held -= int64(n)
		a.parts[UseWork].addArea(n, e.Time-r.Start)
		return
	}
	x, _, how, _ := entity.Over(e)
	a.held -= a.left(e.Run, x.Window.Nodes, x.Ends, e.Time)
	a.again = a.again || x.Overhead > 0 || how == entity.EndRequeued || how == entity.EndResized
	s := shares(&x, x.Kept)
	for u := range s {
		a.parts[u].plus(s[u])
	}
	switch how {
	case entity.EndKilled:
		a.forfeit(e.Run)
	case entity.EndResized:
		a.started(e.Run)
	}
}

// forfeit has what r kept of its attempts before be lost.
func (a *Account) forfeit(r *entity.Run) {
	for i := range r.Earlier() {
		x := &r.Earlier()[i]
		kept, none := shares(x, x.Kept), shares(x, 0)
		for u := range kept {
			a.parts[u].minus(kept[u])
			a.parts[u].plus(none[u])
		}
	}
}

// shares are the parts of what an attempt had that were useful, lost and overhead,
// where so much of its work counts as useful.
func shares(x *entity.Attempt, useful des.Time) (s [UseOverhead + 1]sum128) {
	if x.Ends == nil {
		n := x.Window.Nodes
		s[UseWork].addArea(n, useful)
		s[UseOverhead].addArea(n, x.Overhead)
		s[UseLost].addArea(n, x.End-x.Start-useful-x.Overhead)
		return s
	}
	for _, end := range x.Ends {
		t := min(end, x.End) - x.Start
		over := portion(t, x.Overhead, x.Work+x.Overhead)
		kept := t - over
		if useful < x.Work {
			kept = min(kept, portion(t, useful, x.Work+x.Overhead))
		}
		s[UseOverhead].add(over)
		s[UseWork].add(kept)
		s[UseLost].add(t - over - kept)
	}
	return s
}

// portion is t*part/whole, rounded down; 0 of nothing.
func portion(t, part, whole des.Time) des.Time {
	switch {
	case whole == 0:
		return 0
	case part >= whole:
		return t
	}
	q, _ := t.MulDiv(part, whole)
	return q
}

// Area is an exact product of processors and ticks.
type Area struct{ sum sum128 }

// appendTo appends what Area.String does.
func (s sum128) appendTo(b []byte) []byte {
	if s.hi == 0 && s.lo < 1<<63 { // as most often
		return rows.AppendTime(b, des.Time(s.lo))
	}
	return append(b, Area{s}.String()...)
}

// Seconds returns the area in processor-seconds, rounded once.
func (a Area) Seconds() float64 { return a.sum.seconds() }

// String formats the area in processor-seconds, exactly, with at most six decimals.
func (a Area) String() string {
	hi, lo, sign := uint64(a.sum.hi), a.sum.lo, ""
	if a.sum.hi < 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
		sign = "-"
	}
	high, rest := hi/uint64(des.Second), hi%uint64(des.Second)
	whole, ticks := bits.Div64(rest, lo, uint64(des.Second))
	text := strconv.FormatUint(whole, 10)
	if high > 0 { // beyond 2^64 processor-seconds
		text = new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(high), 64), new(big.Int).SetUint64(whole)).String()
	}
	if ticks == 0 {
		return sign + text
	}
	return sign + text + strings.TrimRight(fmt.Sprintf(".%06d", ticks), "0")
}

// Capacity divides the capacity of one run by its uses. It is a row of capacity.csv. Invariant: the
// areas of Uses add up to All.
type Capacity struct {
	Policy string
	All    Area
	Uses   [uses]Area // by Use; together All
}

// Capacity returns the account up to now. It may be called at any time.
func (a *Account) Capacity() Capacity {
	c := Capacity{Policy: a.Policy}
	if !a.begun || a.Processors == 0 {
		return c
	}
	all := sum128{}
	all.addArea(a.Processors, a.at-a.from)
	c.All = Area{all}
	parts := a.parts
	if a.running > 0 {
		parts[UseWork].plus(a.underWay())
	}
	for u := range UseIdle {
		c.Uses[u] = Area{parts[u]}
		all.minus(parts[u])
	}
	c.Uses[UseIdle] = Area{all}
	return c
}

// underWay is what jobs held beyond the attempts that are over.
func (a *Account) underWay() sum128 {
	left := a.area
	for u := range UseOverhead + 1 {
		left.minus(a.parts[u])
	}
	return left
}

// Known reports whether there is an account. A grid as a whole has none.
func (c Capacity) Known() bool { return c.All != (Area{}) }

// Lossy reports whether a part of the capacity is neither useful work nor owners' time nor idle.
func (c Capacity) Lossy() bool {
	for u, of := range c.Uses {
		switch Use(u) {
		case UseWork, UseOwners, UseIdle:
		default:
			if of != (Area{}) {
				return true
			}
		}
	}
	return false
}

// Check returns an error if the account does not add up: if more was taken at an instant than there
// is, or if the time that jobs held by their starts and ends differs from the time of their
// attempts.
func (a *Account) Check() error {
	if a.Processors == 0 {
		return nil
	}
	if a.over > 0 {
		return fmt.Errorf("the account of capacity: from %v on %d more is taken than the %d processors that there are", a.overAt, a.over, a.Processors)
	}
	if left := a.underWay(); a.running == 0 && left != (sum128{}) {
		return fmt.Errorf("the account of capacity: by starts and ends jobs held %v processor-seconds more than by their attempts", Area{left})
	}
	return nil
}

// WriteCapacity writes capacity.csv: a row a run, in processor-seconds.
func WriteCapacity(w io.Writer, all []Capacity) error {
	var lines []rows.Capacity
	for _, c := range all {
		use := func(u Use) string { return c.Uses[u].String() }
		lines = append(lines, rows.Capacity{
			Policy: c.Policy, All: c.All.String(), Useful: use(UseWork), Lost: use(UseLost), Overhead: use(UseOverhead),
			Owners: use(UseOwners), Down: use(UseDown), Idle: use(UseIdle),
		})
	}
	return rows.WriteAll(w, rows.Capacities, lines)
}
