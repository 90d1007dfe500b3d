package validate

// The one checker of a schedule. It is told of neutral events, in order of time, by a feeder: a
// Validator that observes a run, or a fileChecker that replays what a run has written.
//
//	JobEvents -> Validator ---+  promised, started, ended, withheld, ...
//	                          +---------------------------------------> checker -> Report
//	files --> fileChecker ----+
//
// An instant has an order of its own: whatever ends at it makes room first, then outages begin
// and end, and then whatever starts takes its room.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
)

// checker holds a schedule to what any schedule must keep of the machine (its size, its
// processors and nodes, outages), and to what the policy promises about starts.
type checker struct {
	promises Promises
	// size is the number of counted processors. Invariant: 0 <= size; of 0 neither capacity nor
	// the numbers of processors are checked.
	size int
	// mayBeBusy, if set, is the number of processors that may be busy under a power cap, over time.
	// Invariant: 0 <= each value <= size.
	mayBeBusy *flow.Curve
	// wakes is when the policy decides: a promise to the head binds from its next round on.
	wakes entity.Wakes
	// void reports whether a promise made to p is void, because it was made before something
	// that the policy could not foresee.
	void  func(p *party, since moment) bool
	limit int // of violations; see Report.add
	// where is the site of a grid that all of this is at; "" if there is one machine.
	where string
	// report collects the violations. The feeder fills in its numbers of jobs.
	report Report
	// ahead has the processors that are busy by the estimated ends of their parties; nil if
	// nobody asks.
	ahead *releases

	// now is the present instant. Invariant: it never decreases, unless a run itself goes
	// backwards, which the Validator reports.
	now des.Time
	// busy counts the processors of parties that have begun, and have not ended.
	busy int
	// down counts the processors of outages that are under way. Invariant: 0 <= down.
	down int
	// came are the parties that start at now, in order; settle gives them their room.
	came []*party
	// most is the value of mayBeBusy at the latest instant that was settled.
	most int
	// resizes reports that a job is resized at now. A job that came and went at now may have been
	// on processors that the resized job gave up or got.
	resizes bool
	// outages are under way or announced; those that are over are dropped.
	outages []*outage
	// processors has the latest tenure of each counted processor, by number from 0. It grows with
	// the highest number seen. Invariant: len(processors) <= size.
	processors []tenure
	// named has the latest tenure of each node that any party had.
	named map[*entity.Node]*tenure
	// head is the promise to the present head of the queue. It is kept only if promises.Head is
	// set.
	head headPromise
}

// party is a job, or one attempt of a job, as the checker knows it. The Validator has one party
// for all attempts of a job, whose start and until it sets anew; a fileChecker has one for each.
type party struct {
	// id is Job.ID; below 0 it stands for an owner, in a grid.
	id   int64
	line int   // of the file; 0 where an observer tells of it
	seq  int64 // its place in the order of submission
	// count is the number of counted processors that it takes; 0 on named nodes.
	count int
	// start and until bound its run. An observer expects until: what runs for longer has a wrong
	// run time. Invariant: start <= until.
	start, until des.Time
	// estimated is when the scheduler expected it to end. It is set only if checker.ahead is.
	estimated des.Time
	// over reports that it ended at the instant at which it began: it came and went before
	// others of that instant, so that it keeps nobody off.
	over bool
	// empty reports that it was reserved no time at all: it takes no one's room.
	empty bool
	// placed reports that the feeder knows which processors it has; place are these.
	placed bool
	place  []procset.Range
	// tasks are its tasks on named nodes; nil on counted processors.
	tasks []task

	// first and last are the promises of its start. A preemption forgets them.
	first, last promise
	// run is nil where files tell of the party.
	run *entity.Run
}

// task is the part of a party on a node, which it has until an instant.
type task struct {
	node  *entity.Node
	until des.Time
}

// tenure tells who had a processor or node last. Invariant: by does not have it beyond until.
type tenure struct {
	by    *party
	until des.Time
	// told reports that a violation says that it is down meanwhile: one violation a tenure is
	// enough.
	told bool
}

// outage is capacity that no job may have in [from, to). It is counted processors, named nodes, or
// both of these at once in a file that gives numbers of nodes.
type outage struct {
	// hold is the Hold by which an observer was told of the outage; nil if a file tells of it.
	hold     *entity.Hold
	from, to des.Time
	// count is the number of processors; place are their numbers, nil where only their number is
	// known.
	count int
	place []procset.Range
	nodes []*entity.Node
	// begun reports that what jobs had of it when it began was checked. Invariant: false before
	// from.
	begun bool
}

// moment is when a promise was made, and what was known then: void compares it with what is known
// later.
type moment struct {
	at des.Time
	// moved is the number of times that running jobs had got longer windows by then; 0 for files.
	moved int64
	// prediction is the predicted run time, at that moment, of the job to which the promise was
	// made.
	prediction des.Time
}

// promise is a start that a job was promised. The zero value is none.
type promise struct {
	start des.Time
	since moment
	made  bool
}

// headPromise is the earliest start that the head of the queue was promised since it became the
// head. The promise of EASY (Lifka 1995; Mualem and Feitelson 2001) is that backfilled jobs do not
// delay it.
type headPromise struct {
	to    *party // nil: nobody
	bound des.Time
	since moment
}

// violation reports that p breaks the rule k at the given instant, with the line and the site
// where there are any.
func (c *checker) violation(p *party, k Kind, at des.Time, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.line > 0 {
		text = fmt.Sprintf("line %d: %s", p.line, text)
	}
	if c.where != "" {
		text = c.where + ": " + text
	}
	c.report.add(c.limit, k, at, p.id, "%s", text)
}

// String names p in a sentence about another one.
func (p *party) String() string {
	switch {
	case p.id < 0:
		return "its owner"
	case p.line > 0:
		return fmt.Sprintf("job %d (line %d)", p.id, p.line)
	}
	return fmt.Sprintf("job %d", p.id)
}

// advance goes on to an instant: everything before it has been told, and outages that were
// announced begin meanwhile.
func (c *checker) advance(to des.Time) {
	c.settle()
	for {
		next := to
		// A lower power cap, too, may be broken between two instants at which something is told.
		if c.mayBeBusy != nil && c.busy > 0 {
			next = min(next, c.mayBeBusy.Next(c.now))
		}
		for _, o := range c.outages {
			if !o.begun && o.from > c.now {
				next = min(next, o.from)
			}
		}
		if next == to {
			break
		}
		c.now = next
		c.settle()
	}
	c.now = max(c.now, to)
}

// settle ends the present instant. It may be called again where more is told of the instant.
func (c *checker) settle() {
	gone := c.beginOutages()
	c.belowCap()
	for _, p := range c.came {
		if p.over && (c.resizes || p.empty) {
			// It needed no room. Only the number of its processors is checked.
			c.occupyProcessors(p)
			continue
		}
		// fit comes before nowBusy, which counts p among the busy ones.
		c.fit(p, gone)
		if !p.over {
			c.nowBusy(p, p.count)
		}
		c.occupyNodes(p)
		c.occupyProcessors(p)
	}
	c.came, c.resizes = c.came[:0], false
}

// belowCap checks that no more processors are busy than may be from now on, if the power cap
// becomes lower now. What ends now has made room before. fit checks what starts now.
func (c *checker) belowCap() {
	if c.mayBeBusy == nil {
		return
	}
	before := c.most
	if c.most = int(c.mayBeBusy.At(c.now)); c.most < before && c.busy > c.most {
		c.report.add(c.limit, OverCapacity, c.now, -1, "%d processors are busy when the power cap becomes lower, and %d may be", c.busy, c.most)
	}
}

// nowBusy takes in that p gets count processors, or gives back -count.
func (c *checker) nowBusy(p *party, count int) {
	c.busy += count
	if c.ahead != nil {
		c.ahead.add(p, count)
	}
}

// beginOutages begins and ends outages at now, and reports outages that take what parties have. It
// returns the number of processors that go out of service at now: a party that came and went at
// now may have been on them before.
func (c *checker) beginOutages() (gone int) {
	if len(c.outages) == 0 {
		c.down = 0
		return 0
	}
	// Phase 1: the numbers. before counts what was down until now, c.down what is down from now
	// on.
	before, begins := 0, false
	c.down = 0
	for _, o := range c.outages {
		if o.from < c.now && c.now <= o.to {
			before += o.count
		}
		if o.from <= c.now && c.now < o.to {
			c.down += o.count
			begins = begins || !o.begun
		}
		if o.from == c.now {
			gone += o.count
		}
	}
	// An outage that begins when another one ends may be of the same processors: only the
	// difference is lost.
	if lost := c.down - before; begins && lost > 0 && c.size > 0 && c.busy+c.down > c.size {
		c.report.add(c.limit, OnWhatIsDown, c.now, -1, "%d processors go out of service, and jobs have %d too many", lost, c.busy+c.down-c.size)
	}
	// Phase 2: which processors and nodes go out of service, and who has them.
	for _, o := range c.outages {
		if o.begun || o.from > c.now || c.now >= o.to {
			continue
		}
		o.begun = true
		for _, r := range o.place {
			for n := int(max(r.First, 0)); n <= int(r.Last) && n < len(c.processors); n++ {
				c.overtaken(&c.processors[n], n, o)
			}
		}
		for _, n := range o.nodes {
			if t := c.named[n]; t != nil {
				c.overtaken(t, n.ID, o)
			}
		}
	}
	// Phase 3: outages that are over are forgotten.
	c.outages = slices.DeleteFunc(c.outages, func(o *outage) bool { return o.to <= c.now })
	return gone
}

// overtaken checks that nobody has a processor or node when an outage of it begins.
func (c *checker) overtaken(t *tenure, number int, o *outage) {
	if t.by != nil && t.until > c.now && t.by.start < o.to && !t.told {
		t.told = true
		c.onWhatIsDown(t.by, number, t.until, o)
	}
}

// onWhatIsDown reports that p has the processor or node of that number until an instant, though
// the outage o has it.
func (c *checker) onWhatIsDown(p *party, number int, until des.Time, o *outage) {
	c.violation(p, OnWhatIsDown, p.start, "has %d until %v, and it is down from %v on", number, until, o.from)
}

// fit checks that there are enough free processors for p, which starts now, and that the power cap
// allows them. Processors that are neither down nor busy are free; see beginOutages for gone.
func (c *checker) fit(p *party, gone int) {
	if c.size <= 0 || p.count == 0 {
		return
	}
	free := c.size - c.down - c.busy
	left := free - p.count
	if p.over {
		left += gone // it may have been there first, and on what came back
	}
	if left < 0 {
		c.violation(p, OverCapacity, c.now, "started on %d processors; %d of %d are free", p.count, max(free, 0), c.size)
	}
	if c.mayBeBusy == nil {
		return
	}
	if most := int(c.mayBeBusy.At(c.now)); p.count > most-c.busy {
		c.violation(p, OverCapacity, c.now, "started on %d processors; %d of %d may be busy besides", p.count, max(most-c.busy, 0), most)
	}
}

// occupyNodes gives p, which starts, its nodes, and checks that nobody else has them. What ends at
// now has its tenure until now, which is not above p.start.
func (c *checker) occupyNodes(p *party) {
	for _, x := range p.tasks {
		t := c.tenureOf(x.node)
		if t.by != nil && t.until > p.start {
			c.violation(p, TwoJobsOnOne, p.start, "has node %d, which %v has until %v", x.node.ID, t.by, t.until)
		}
		*t = tenure{by: p, until: x.until}
		if p.over {
			t.until = p.start
		}
		c.within(p, t, x.node.ID, t.until, func(o *outage) bool { return slices.Contains(o.nodes, x.node) })
	}
}

// within checks that a processor or node, which p gets until an instant, is not down now; of tells
// whether an outage has it. Of several such outages the one announced last is named.
func (c *checker) within(p *party, t *tenure, number int, until des.Time, of func(*outage) bool) {
	if len(c.outages) == 0 || until <= c.now {
		return
	}
	for _, o := range slices.Backward(c.outages) {
		if o.from <= c.now && c.now < o.to && of(o) {
			t.told = t.by == p
			c.onWhatIsDown(p, number, until, o)
			return
		}
	}
}

// tenureOf returns the tenure of n, the zero tenure if nobody has had it.
func (c *checker) tenureOf(n *entity.Node) *tenure {
	t := c.named[n]
	if t == nil {
		if c.named == nil {
			c.named = map[*entity.Node]*tenure{}
		}
		t = &tenure{}
		c.named[n] = t
	}
	return t
}

// extended takes in that p, which runs, keeps a node for longer.
func (c *checker) extended(p *party, x task) {
	t := c.tenureOf(x.node)
	if t.by != p && x.until > c.now {
		c.violation(p, TwoJobsOnOne, c.now, "runs on on node %d, which %v has until %v", x.node.ID, t.by, t.until)
	}
	if x.until > c.now {
		*t = tenure{by: p, until: x.until}
		c.within(p, t, x.node.ID, x.until, func(o *outage) bool { return slices.Contains(o.nodes, x.node) })
	}
}

// occupyProcessors gives p, which starts, its processors, if their numbers are known. It checks
// that they are as many as p takes, that the cluster has them, and that nobody else has them. Of
// many violations of one kind only one is reported.
func (c *checker) occupyProcessors(p *party) {
	if !p.placed || c.size <= 0 {
		return
	}
	count, outside := 0, int32(-1)
	var clash tenure
	for _, r := range p.place {
		count += int(r.Last-r.First) + 1
		if r.First < 0 || int(r.Last) >= c.size {
			outside = r.Last
			continue
		}
		if more := int(r.Last) + 1 - len(c.processors); more > 0 {
			c.processors = append(c.processors, make([]tenure, more)...)
		}
		for n := r.First; n <= r.Last; n++ {
			// A party that came and went clashes with nobody, and its tenure does not shorten a
			// longer one.
			t := &c.processors[n]
			if t.by != nil && t.by != p && t.until > p.start && !p.over {
				clash = *t
			}
			if t.by == nil || p.until >= t.until {
				*t = tenure{by: p, until: p.until}
			}
			c.within(p, t, int(n), p.until, func(o *outage) bool { return procset.Has(o.place, n) })
		}
	}
	if count != p.count {
		c.violation(p, TwoJobsOnOne, p.start, "has %d processors instead of %d", count, p.count)
	}
	if outside >= 0 {
		c.violation(p, TwoJobsOnOne, p.start, "has processor %d of a cluster of %d", outside, c.size)
	}
	switch {
	case twice(p.place):
		c.violation(p, TwoJobsOnOne, p.start, "has a processor twice")
	case clash.by == nil:
	default:
		c.violation(p, TwoJobsOnOne, p.start, "has a processor that %v has until %v", clash.by, clash.until)
	}
}

// twice reports whether a number stands in two of the ranges.
func twice(place []procset.Range) bool {
	sorted := slices.SortedFunc(slices.Values(place), func(a, b procset.Range) int { return cmp.Compare(a.First, b.First) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].First <= sorted[i-1].Last {
			return true
		}
	}
	return false
}

// takes takes in that p starts at the present instant; p.start is set. What p has, until when and
// whether it is over may still be told until the instant is settled.
func (c *checker) takes(p *party) { c.came = append(c.came, p) }

// ends takes in that p gives up what it has at now. A party that began at now has not taken its
// room yet: it is marked as over.
func (c *checker) ends(p *party) {
	if p.start == c.now {
		p.over = true
		return
	}
	c.nowBusy(p, -p.count)
	for _, x := range p.tasks {
		if t := c.tenureOf(x.node); t.by == p {
			t.until = min(t.until, c.now)
		}
	}
	for _, r := range p.place {
		for n := max(r.First, 0); n <= r.Last && int(n) < len(c.processors); n++ {
			if t := &c.processors[n]; t.by == p {
				t.until = min(t.until, c.now)
			}
		}
	}
}

// waitsAgain takes in that p, which was preempted, is in the queue again. Nothing is promised to
// it any more. If it now stands in front of the head, the promise to the head ends, too: it was
// made without p.
func (c *checker) waitsAgain(p *party) {
	p.first, p.last = promise{}, promise{}
	if h := c.head.to; h != nil && p.seq < h.seq {
		c.head.to = nil
	}
}

// recalled takes in that the start of p at the present instant counts no longer: p was preempted
// or resized at it, and the feeder tells what it has instead.
func (c *checker) recalled(p *party) {
	c.came = slices.DeleteFunc(c.came, func(o *party) bool { return o == p })
}

// notBefore checks that p starts no earlier than its submission.
func (c *checker) notBefore(p *party, submitted des.Time) {
	if p.start < submitted {
		c.violation(p, TooEarly, p.start, "started before its submission at %v", submitted)
	}
}

// asBooked checks that an advance reservation starts at its instant.
func (c *checker) asBooked(p *party, at des.Time) {
	if p.start != at {
		c.violation(p, PromiseBroken, p.start, "an advance reservation that is for %v", at)
	}
}

// inOrder checks that p starts behind another party, which was submitted earlier (Promises.Order).
func (c *checker) inOrder(p, before *party) {
	c.violation(p, outOfOrder, p.start, "started before %v, which was submitted earlier", before)
}

// promised takes in that p was promised a start at the moment since, as the head of the queue if
// head is set. Promises.First forbids a later start than the promise before, Promises.Head a later
// one than the earliest since p became the head.
func (c *checker) promised(p *party, start des.Time, head bool, since moment) {
	if c.promises.First && p.last.made && start > p.last.start && !c.void(p, p.last.since) {
		c.violation(p, PromiseBroken, c.now, "the start promised for %v was moved to %v", p.last.start, start)
	}
	p.last = promise{start, since, true}
	if !p.first.made {
		p.first = p.last
	}
	if !c.promises.Head || !head {
		return
	}
	h := &c.head
	switch {
	case h.to != p:
		*h = headPromise{p, start, since}
	case start > h.bound && !c.void(p, h.since):
		c.violation(p, headDelayed, c.now, "the hold for the head of the queue was moved from %v to %v", h.bound, start)
	default:
		h.bound, h.since = start, since
	}
}

// headStarts checks that p, if it is the head of the queue, starts no later than promised: at is
// its start, or the end of what is known. Then p is the head no longer.
func (c *checker) headStarts(p *party, at des.Time) {
	h := &c.head
	if !c.promises.Head || h.to != p {
		return
	}
	if at > decided(c.wakes, h.bound) && !c.void(p, h.since) {
		c.violation(p, headDelayed, at, "the head of the queue, not started by its shadow time %v", h.bound)
	}
	h.to = nil
}

// promiseKept checks that p starts no later than it was promised first: at is its start, or the
// end of what is known.
func (c *checker) promiseKept(p *party, at des.Time) {
	if c.promises.First && p.first.made && at > p.first.start && !c.void(p, p.first.since) {
		c.violation(p, PromiseBroken, at, "not started by %v, which it was promised first", p.first.start)
	}
}
