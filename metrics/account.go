package metrics

// capacity.csv: what became of the capacity of a run, to the tick.

import (
	"fmt"
	"io"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Use says for what a part of the capacity was used.
type Use uint8

const (
	UseWork     Use = iota // work of jobs that finished, and work that is kept of jobs that may still finish
	UseLost                // work that was done in vain
	UseOverhead            // set-up and checkpoints
	UseOwners              // owners' own jobs
	UseDown                // withheld: failed, maintained, drained
	UseIdle                // nobody's, or reserved and not needed
	uses
)

var useNames = enum.Of[Use]("use of capacity", "useful", "lost", "overhead", "owners", "down", "idle")

func (u Use) String() string { return useNames.Name(u) }

// CapacityAccount is an Observer that keeps an account of the capacity of one run, in
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
type CapacityAccount struct {
	// Policy is the name of the policy, Processors the size of the machine, as in Recorder. If they
	// are not set, the metascheduler to which the account is attached sets them.
	Policy     string
	Processors int

	meta  *entity.Metascheduler
	begun bool
	// from is the beginning of the span, and at its end so far.
	from des.Time
	at   des.Time
	// held is the number of processors or nodes that jobs hold at the instant at. away has the
	// numbers that withheld capacity and owners' jobs take then, by their use, and others the sum
	// of away.
	held   int64
	away   [uses]int64
	others int64
	// ahead has the changes that come later in what others have, by time.
	ahead changes
	// running counts the attempts under way.
	running int
	// area is the processor time that jobs held, by their starts and ends. parts is the processor
	// time of finished attempts and of others, by its use. Check compares the two.
	area  sum128
	parts [uses]sum128
	// seen is the instant up to which the time of others is summed up, in soon; the part up to at
	// is in parts. Invariant: at <= seen. The span may end at at: then what is in soon does not
	// count.
	seen des.Time
	soon [uses]sum128
	// shared tells that soon is not zero.
	shared bool
	// over is by how much more was taken than there is, when that happened first, at overAt; 0 if
	// it never did.
	over   int64
	overAt des.Time
	// again is the answer of Again.
	again bool
	leaving
}

// change is a change in what others than jobs have, by the use of it.
type change struct {
	at  des.Time
	use Use
	by  int64
}

// changes is a binary heap of changes, the earliest first. A site of many nodes has one change or two
// for every owner's job: a heap of interfaces takes several times as long.
type changes []change

func (h *changes) push(c change) {
	i := len(*h)
	*h = append(*h, c)
	for all := *h; i > 0; {
		up := (i - 1) / 2
		if all[up].at <= c.at {
			break
		}
		all[i], all[up], i = all[up], c, up
	}
}

func (h *changes) pop() change {
	all := *h
	first, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	*h = all
	for i := 0; len(all) > 0; {
		all[i] = last
		down := 2*i + 1
		if down+1 < len(all) && all[down+1].at < all[down].at {
			down++
		}
		if down >= len(all) || last.at <= all[down].at {
			break
		}
		all[i], i = all[down], down
	}
	return first
}

// Again reports whether a job was stopped or resized, or had overhead. Then the run needs attempts-
// POLICY.csv and capacity.csv.
func (a *CapacityAccount) Again() bool { return a.again }

// Attach gives the account the metascheduler whose plan it watches.
func (a *CapacityAccount) Attach(m *entity.Metascheduler) {
	a.meta = m
	if a.Policy == "" {
		a.Policy = m.Policy().Name()
	}
	if a.Processors == 0 {
		a.Processors = m.Plan().Size()
	}
}

// Observe adds one event to the account.
func (a *CapacityAccount) Observe(e entity.JobEvent) {
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
func (a *CapacityAccount) started(r *entity.Run) {
	a.held += int64(r.Reservation.Window.Nodes)
	a.running++
}

// TaskEnded ends the i-th task of a job on named nodes: from now on its node is not busy.
func (a *CapacityAccount) TaskEnded(r *entity.Run, i int) {
	if a.taskEnded(r, i) {
		a.reach(r.Ends()[i])
		a.held--
	}
}

// Withheld adds capacity that leaves the plan.
func (a *CapacityAccount) Withheld(h *entity.Hold) { a.withheld(h, 0, 1) }

// Returned subtracts withheld capacity that comes back before the end of its hold.
func (a *CapacityAccount) Returned(h *entity.Hold) { a.withheld(h, a.meta.Simulator().Now(), -1) }

// withheld records that a hold takes its capacity (times = 1), or gives it back (-1), from the
// instant from until the hold ends.
func (a *CapacityAccount) withheld(h *entity.Hold, from des.Time, times int64) {
	w := h.Window()
	from = max(from, w.Start)
	if w.Tasks == nil {
		a.take(UseDown, from, w.End, times*int64(w.Nodes))
	}
	for _, t := range w.Tasks {
		a.take(UseDown, from, t.End, times)
	}
}

// Down adds processors that are down from now on. A negative number says that processors are back.
func (a *CapacityAccount) Down(now des.Time, processors int) {
	a.change(now, UseDown, int64(processors))
}

// Owner adds an owner's job that has got its node at the instant start. See flow.LocalFlow.Told.
func (a *CapacityAccount) Owner(l flow.LocalJob, start des.Time) {
	a.take(UseOwners, start, start.Add(l.Length), 1)
}

// Owners returns an observer for the jobs of an owner's queue. See flow.LocalQueue.Observers.
func (a *CapacityAccount) Owners() entity.Observer { return &ownersAccount{account: a} }

// ownersAccount is the observer that Owners returns.
type ownersAccount struct {
	account *CapacityAccount
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

// take records that others than jobs have by more over [from, to).
func (a *CapacityAccount) take(use Use, from, to des.Time, by int64) {
	if from < to {
		a.change(from, use, by)
		if to < des.Forever { // which never comes
			a.change(to, use, -by)
		}
	}
}

// change records one change, at the end of the span so far or later. If no job starts or ends for
// long, changes that are over are summed up here, so that memory stays constant.
func (a *CapacityAccount) change(at des.Time, use Use, by int64) {
	if len(a.ahead) >= foldAt && a.meta != nil {
		a.fold(a.meta.Simulator().Now())
	}
	a.ahead.push(change{at, use, by})
}

// begin begins the span: what was before does not count.
func (a *CapacityAccount) begin(now des.Time) {
	a.reach(now)
	a.begun, a.from = true, now
	a.area, a.parts = sum128{}, [uses]sum128{}
}

// reach lets the span go on to now.
func (a *CapacityAccount) reach(now des.Time) {
	if now > a.at { // the first event of an instant
		a.advance(now)
	}
}

// advance lets the span end at now, which is later than before: what others had up to now counts
// from now on.
func (a *CapacityAccount) advance(now des.Time) {
	a.fold(now)
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

// foldAt is the number of changes ahead from which on the past changes are summed up, to keep
// memory bounded.
const foldAt = 1024

// fold sums up what others had, up to the last change that is not after now.
func (a *CapacityAccount) fold(now des.Time) {
	for len(a.ahead) > 0 && a.ahead[0].at <= now {
		c := a.ahead.pop()
		a.pass(c.at)
		a.away[c.use] += c.by
		a.others += c.by
	}
}

// pass sums up what others had from seen to now, between which nothing changes, and notes if more
// was taken than there is.
func (a *CapacityAccount) pass(now des.Time) {
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
func (a *CapacityAccount) ended(e entity.JobEvent) {
	a.running--
	// The most frequent case, without an entity.Attempt: it ran once, all work is useful.
	if r := e.Run; e.Kind == entity.JobFinished && r.Once() && r.Reservation.Window.Tasks == nil {
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

// forfeit turns what r kept of its earlier attempts into what was lost: the job will never end
// well.
func (a *CapacityAccount) forfeit(r *entity.Run) {
	for i := range r.Earlier() {
		x := &r.Earlier()[i]
		kept, none := shares(x, x.Kept), shares(x, 0)
		for u := range kept {
			a.parts[u].minus(kept[u])
			a.parts[u].plus(none[u])
		}
	}
}

// shares divides what an attempt had into useful, lost and overhead, if that much of its work
// counts as useful. On named nodes each task has its own time t, and shares are taken of it:
// overhead first, then useful work, both rounded down; the rest is lost. If all work is useful,
// nothing is lost, whatever was rounded.
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

// portion returns t*part/whole, rounded down; 0 if whole is 0.
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

// appendTo appends what Area.String writes.
func (s sum128) appendTo(b []byte) []byte {
	// Below 2^63 ticks, as most often, no big division is needed.
	if s.hi == 0 && s.lo < 1<<63 {
		return rows.AppendTime(b, des.Time(s.lo))
	}
	return append(b, Area{s}.String()...)
}

// Seconds returns the area in processor-seconds, rounded once.
func (a Area) Seconds() float64 { return a.sum.seconds() }

// String formats the area in processor-seconds, exactly, with at most six decimals.
func (a Area) String() string {
	if a.sum.hi < 0 {
		positive := sum128{}
		positive.minus(a.sum)
		return "-" + Area{positive}.String()
	}
	return string(a.sum.appendDecimal(nil, uint64(des.Second), 6))
}

// Capacity divides the capacity of one run among its uses. It is a row of capacity.csv. Invariant:
// the areas of Uses, by Use, add up to All.
type Capacity struct {
	Policy string
	All    Area
	Uses   [uses]Area
}

// Capacity returns the account up to now. It may be called at any time.
func (a *CapacityAccount) Capacity() Capacity {
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

// underWay returns what jobs held beyond the attempts that are over: the attempts that still run
// have had it.
func (a *CapacityAccount) underWay() sum128 {
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
func (a *CapacityAccount) Check() error {
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

// WriteCapacity writes capacity.csv: a row for each run, in processor-seconds.
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
