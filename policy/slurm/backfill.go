package slurm

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// backfillLoop is the backfill thread. It looks every second, once BackfillInterval has passed
// since its last run, whether anything has changed since then.
type backfillLoop struct {
	off      bool
	interval des.Time
	ran      des.Time // the last run
	changed  des.Time // the last change
	looked   des.Time // the last instant at which the thread has looked, or could have
	planned  nodeSet  // nodes that the last run planned and nobody got
	runs     int64    // so far
}

func (l *backfillLoop) begin(rules *Scheduling) {
	*l = backfillLoop{off: !rules.Backfill, interval: rules.BackfillInterval}
}

// next is the second of the next run, or des.Forever while nothing has changed. Slurm compares
// whole seconds: a change in the second of the last run counts.
func (l *backfillLoop) next() des.Time {
	if l.off || l.changed/des.Second < l.ran/des.Second {
		return des.Forever
	}
	due := max(l.ran.Add(l.interval), wholeSecond(l.changed))
	if due <= l.looked {
		due = (l.looked/des.Second + 1) * des.Second
	}
	return due
}

// interval is a part of backfill's table: from begin to end, in seconds of the host's clock, the
// nodes free are in no plan.
type interval struct {
	begin, end int64
	free       nodeSet
}

// table is what a run of backfill plans in: intervals that follow each other.
type table struct {
	intervals  []interval
	resolution int64
	records    int  // that the table has used; one that is merged with another is not given back
	started    bool // the first plan that begins with the table has used the record before it
	size       int  // most records
}

func newTable(now, window, resolution int64, size int, all nodeSet) *table {
	return &table{
		intervals:  []interval{{now / resolution * resolution, (now + window) / resolution * resolution, all}},
		resolution: resolution, records: 1, size: size,
	}
}

func (t *table) full() bool { return t.records >= t.size }

// plan takes nodes from begin to end, for a resolution at least.
func (t *table) plan(begin, end int64, nodes nodeSet) {
	first := t.intervals[0].begin
	begin = max(begin, first)
	end = max(end, begin+t.resolution)
	if begin == first && !t.started {
		t.started = true
		t.records++
	}
	for _, cut := range []int64{begin, end} {
		at := slices.IndexFunc(t.intervals, func(i interval) bool { return i.begin < cut && cut < i.end })
		if at < 0 {
			continue
		}
		later := interval{cut, t.intervals[at].end, t.intervals[at].free.clone()}
		t.intervals[at].end = cut
		t.intervals = slices.Insert(t.intervals, at+1, later)
		t.records++
	}
	for _, i := range t.intervals {
		if i.begin >= begin && i.end <= end {
			i.free.remove(nodes)
		}
	}
	merged := t.intervals[:1]
	for _, i := range t.intervals[1:] {
		if last := &merged[len(merged)-1]; last.free.equal(i.free) {
			last.end = i.end
		} else {
			merged = append(merged, i)
		}
	}
	t.intervals = merged
}

// clashes reports whether any of nodes is taken within [begin, end).
func (t *table) clashes(begin, end int64, nodes nodeSet) bool {
	for _, i := range t.intervals {
		if i.end > begin && i.begin < end && !nodes.within(i.free) {
			return true
		}
	}
	return false
}

// freeFor is the nodes of a partition that are free from start to end, both included, and the end
// of the first interval after which nodes of it become free that are not free throughout up to
// there; 0 if there is none.
func (t *table) freeFor(start, end int64, nodes nodeSet) (free nodeSet, later int64) {
	free = nodes.clone()
	for k, i := range t.intervals {
		if i.end > start && k+1 < len(t.intervals) && later == 0 {
			gained := nodes.clone()
			gained.intersect(t.intervals[k+1].free)
			now := free.clone()
			now.intersect(i.free)
			if !gained.within(now) {
				later = i.end
			}
		}
		if i.end <= start {
			continue
		}
		if i.begin > end {
			break
		}
		free.intersect(i.free)
	}
	return free, later
}

// runBackfill is a run of backfill.
func (c *Controller) runBackfill(now des.Time) {
	l, rules := &c.backfill, &c.conf.Schedule
	l.runs++
	if l.planned != nil && !l.planned.empty() {
		c.changed(now)
	}
	t := newTable(c.second(now), int64(rules.Window/des.Second), int64(rules.Resolution/des.Second), rules.TableSize, c.up.clone())
	planned := newNodeSet(len(c.conf.Nodes))
	tests, starts := 0, 0
	shares := newShares(rules)
	for _, e := range c.runnable(now) {
		if tests >= rules.MaxTests {
			break
		}
		if e.job.state != pending || !c.mayEver(e.job, e.job.requested()) || !shares.admit(e) {
			continue
		}
		if !c.mayRun(e.job) || !c.allowed(e.job, e.job.requested()) || !c.licensed(e.job) {
			continue
		}
		tested, full := c.fill(now, e, t, planned)
		if e.job.state == running {
			if starts++; starts == rules.MaxBackfillStart {
				break
			}
		}
		if tested {
			tests++
		}
		if full {
			break
		}
	}
	planned.intersect(c.idleNodes())
	if l.planned = planned; !planned.empty() {
		c.changed(now)
	}
	l.ran = now
}

// fill starts the job of e, or plans it. It reports whether the job was tested, and whether the
// table is full, which ends the run.
func (c *Controller) fill(now des.Time, e *entry, t *table, planned nodeSet) (tested, full bool) {
	j := e.job
	j.part = e.part
	second := c.second(now)
	limit := int64(j.Limit / des.Second)
	latest := second + int64(c.conf.Schedule.Window/des.Second)
	for start := second; ; {
		nodes, later := c.openFrom(now, start, e, t)
		var begins int64
		var chosen nodeSet
		if nodes.count() >= max(j.Nodes, 1) {
			tested = true
			begins, chosen = c.willRun(e, nodes, second)
		}
		if chosen == nil {
			if later == 0 {
				return tested, false
			}
			start = later
			continue
		}
		if start > begins {
			begins = start
			c.changed(now)
		}
		if begins <= second && chosen.meets(c.leaving) {
			begins, later = second+1, 0
		}
		if begins <= second {
			if placed := c.place(e, chosen); placed != nil {
				if !c.allowed(j, allocated(placed)) {
					return tested, false // nobody knows when
				}
				j.ByBackfill, j.Priority = true, e.priority
				c.start(now, e, placed)
				if c.whole(e) && !t.full() {
					t.plan(0, (second+limit)/t.resolution*t.resolution, j.nodes)
				}
				return tested, false
			}
			if c.preempt(e, now, chosen) {
				later = 0
			}
		}
		if later > 0 && begins > later {
			start = later
			continue
		}
		if begins > latest {
			return tested, false
		}
		begin, end := begins/t.resolution*t.resolution, (begins+limit)/t.resolution*t.resolution
		if begins > second && t.clashes(begin, end, chosen) {
			start = begins
			continue
		}
		if !c.reserves(now, e) || j.qos != nil && j.qos.noPlans {
			return tested, false
		}
		planned.unite(chosen)
		if t.full() {
			return tested, true
		}
		t.plan(begin, end, chosen)
		return tested, false
	}
}

// openFrom is the nodes that could be the job's from a second on for its limit, as far as plans and
// reservations say, and the next second at which there may be others; 0 if there is none.
func (c *Controller) openFrom(now des.Time, start int64, e *entry, t *table) (nodes nodeSet, later int64) {
	second := c.second(now)
	nodes, later = t.freeFor(start, start+int64(e.job.Limit/des.Second), e.part.nodes)
	nodes.intersect(c.up)
	c.barReserved(e.job, c.instant(now, start), nodes)
	if ends, found := c.reservationEnds(c.instant(now, start)); found {
		after := c.second(ends) + 1
		if after < second+int64(c.conf.Schedule.Window/des.Second) && (later == 0 || after < later) {
			later = after
		}
	}
	d := c.demandOf(e)
	for n := range nodes.all {
		if !c.suits(e.job, n) || !d.couldTake(&c.conf.Nodes[n]) {
			nodes.drop(n)
		}
	}
	return nodes, later
}

// reserves reports whether the job of e is old and important enough that others wait for it: that
// backfill plans it, and that it closes its partition.
func (c *Controller) reserves(now des.Time, e *entry) bool {
	age := c.second(now) - max(c.second(e.job.submitted), c.second(e.job.Begin))
	return age >= int64(c.conf.Schedule.MinAgeReserve/des.Second) && int64(e.priority) >= int64(c.conf.Schedule.MinPrioReserve)
}

// instant is the beginning of a second of the host's clock, or now itself for the second of now.
func (c *Controller) instant(now des.Time, second int64) des.Time {
	if second <= c.second(now) {
		return now
	}
	return des.Time(second-c.conf.Epoch) * des.Second
}

// endsTogether is the first window of ends that a test of the future takes together, in seconds,
// and what its base is rounded to.
const endsTogether = 30

// willRun is the second at which the job could start on nodes were nobody else to come, and on
// which of them; nil if it could not at all. Running jobs are taken away by the ends of their
// limits, those together that end within one window, and each window is twice as long as the
// last one: the start can be later than it had to be.
func (c *Controller) willRun(e *entry, nodes nodeSet, now int64) (int64, nodeSet) {
	if chosen := c.foresee(e, nodes, c.free); chosen != nil {
		return now, chosen.nodes(len(c.conf.Nodes))
	}
	free := c.free.clone()
	order := slices.Clone(c.running)
	if victims := c.victims(e, c.instant(0, now)); len(victims) > 0 {
		for _, j := range victims {
			free.release(j)
		}
		if chosen := c.foresee(e, nodes, free); chosen != nil {
			return now, chosen.nodes(len(c.conf.Nodes)) // it starts now, or has them end now
		}
		order = slices.DeleteFunc(order, func(j *Job) bool { return slices.Contains(victims, j) })
	}
	slices.SortFunc(order, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(c.limitSecond(a), c.limitSecond(b)), cmp.Compare(a.ID, b.ID))
	})
	window, base := int64(endsTogether), int64(0)
	for k := 0; k < len(order); {
		var last *Job
		for k < len(order) {
			j := order[k]
			k++
			if !j.nodes.meets(nodes) {
				continue
			}
			end := c.limitSecond(j)
			if base == 0 {
				base = end + endsTogether - end%endsTogether
			}
			last = j
			free.release(j)
			if k < len(order) && c.limitSecond(order[k]) > base+window {
				break
			}
		}
		if last == nil {
			break
		}
		for {
			if scale := int64(c.conf.Schedule.WindowScale); scale > 0 {
				window += scale
			} else {
				window *= 2
			}
			if k == len(order) || c.limitSecond(order[k]) <= base+window {
				break
			}
		}
		if chosen := c.foresee(e, nodes, free); chosen != nil {
			return max(c.limitSecond(last), now+1), chosen.nodes(len(c.conf.Nodes))
		}
	}
	return 0, nil
}

// limitSecond is the second in which the running job reaches its limit, or the end of its grace time.
func (c *Controller) limitSecond(j *Job) int64 {
	ends := c.second(j.Start) + int64(j.Limit/des.Second)
	if j.graceEnds > 0 {
		ends = min(ends, c.second(j.graceEnds))
	}
	return ends
}

// shares counts the jobs of each user, partition and association that a run of backfill has
// looked at.
type shares struct {
	rules    *Scheduling
	user     map[string]int
	part     map[*partition]int
	userPart map[string]int
	assoc    map[*association]int
}

func newShares(rules *Scheduling) *shares {
	return &shares{rules, map[string]int{}, map[*partition]int{}, map[string]int{}, map[*association]int{}}
}

// admit reports whether the job of e may be looked at, and counts it if so.
func (s *shares) admit(e *entry) bool {
	pair := e.part.Name + "/" + e.job.User
	over := func(count, limit int) bool { return limit > 0 && count >= limit }
	if over(s.userPart[pair], s.rules.MaxPerUserPart) || over(s.part[e.part], s.rules.MaxPerPartition) ||
		over(s.user[e.job.User], s.rules.MaxPerUser) || e.job.assoc != nil && over(s.assoc[e.job.assoc], s.rules.MaxPerAssoc) {
		return false
	}
	s.userPart[pair]++
	s.part[e.part]++
	s.user[e.job.User]++
	if e.job.assoc != nil {
		s.assoc[e.job.assoc]++
	}
	return true
}
