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
	last     repeat
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

// runBackfill is a run of backfill.
func (c *Controller) runBackfill(now des.Time) {
	l, rules := &c.backfill, &c.conf.Schedule
	if c.completes(now) {
		return
	}
	l.ran = now
	l.runs++
	if l.planned != nil && !l.planned.empty() {
		c.changed(now)
	}
	queue := c.runnable(now)
	if c.repeats(now, queue) {
		return
	}
	l.planned = newNodeSet(len(c.conf.Nodes))
	for j := range c.waiting {
		j.estimate, j.omitted = 0, ""
	}
	if len(queue) == 0 {
		return
	}
	c.plans.back(0)
	var licenses map[string]int
	if rules.Licenses {
		licenses = map[string]int{}
		for _, amount := range c.conf.Licenses {
			licenses[amount.Kind] += amount.Count
		}
	}
	r := &backfillRun{c: c, now: now, second: c.second(now), until: never, shares: newShares(rules), blocked: map[*qos]int64{},
		table: newTable(c.second(now), int64(rules.Window/des.Second), int64(rules.Resolution/des.Second), rules.TableSize, c.up, licenses, &c.plans, &c.spare)}
	r.table.cpus = c.idle.cpus
	if rules.Licenses {
		byID := slices.SortedFunc(slices.Values(c.running), func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
		for _, j := range byID {
			if !r.reserveRunning(j) {
				break
			}
		}
	}
	before, tried := l.changed, 0
	l.changed = noChange
	for i, e := range queue {
		if limit := r.over(); limit != "" {
			omit(queue[i:], limit)
			break
		}
		if tried++; !r.consider(e) {
			omit(queue[i:], "bf_node_space_size")
			break
		}
	}
	l.planned.intersect(c.idleNodes())
	if !l.planned.empty() {
		c.changed(now)
	}
	c.endRun(r, queue, tried)
	l.changed = max(l.changed, before)
}

// backfillRun is what a run of backfill has so far.
type backfillRun struct {
	c      *Controller
	now    des.Time
	second int64 // of now, of the host's clock
	table  *table
	shares *shares
	tests  int // jobs for which nodes were looked for
	starts int
	hasty  bool     // the job that is looked at is one that is looked at as if it were over in a minute (NoReserve)
	limit  des.Time // of the job that was looked at last; 0: there was none
	until  int64    // see repeat
	// blocked is until when jobs of a QoS are not planned: with assoc_limit_stop one that waits for what its
	// QoS may have together has the others of that QoS wait at least as long.
	blocked map[*qos]int64
}

// over is the one of SchedulerParameters that ends the run before it looks at the next job, or "".
func (r *backfillRun) over() string {
	switch rules := &r.c.conf.Schedule; {
	case r.tests >= rules.MaxTests:
		return "bf_max_job_test"
	case rules.MaxBackfillStart > 0 && r.starts >= rules.MaxBackfillStart:
		return "bf_max_job_start"
	}
	return ""
}

// omit notes what had a run pass jobs over.
func omit(queue []*entry, limit string) {
	for _, e := range queue {
		e.job.omitted = limit
	}
}

// reserveRunning takes what a running job has to itself, and its licences, from the table until its
// limit. It reports false where the table is full.
func (r *backfillRun) reserveRunning(j *Job) bool {
	c := r.c
	needs := need{nodes: newNodeSet(len(c.conf.Nodes)), licenses: j.Licenses}
	if j.whole && !c.preemptable(j) {
		needs.nodes = j.nodes
	}
	if needs.nodes.empty() && len(needs.licenses) == 0 {
		return true
	}
	if r.table.full() {
		return false
	}
	r.table.plan(0, c.limitSecond(j)/r.table.resolution*r.table.resolution, needs)
	return true
}

// consider starts the job of e, plans it, or passes it over. It reports false where the run is to end.
func (r *backfillRun) consider(e *entry) bool {
	c, j, rules := r.c, e.job, &r.c.conf.Schedule
	if j.state != pending || j.Held {
		return true
	}
	j.part, j.Priority = e.part, e.priority
	r.hasty = j.qos != nil && j.qos.noPlans && c.conf.Preempt != ""
	defer r.relimit(j)
	if !rules.AssocLimitStop && !c.withinJobLimits(j) {
		return true
	}
	nowOnly := !c.reserves(r.now, e) || rules.OnePlan && j.estimate != 0
	if j.preempting {
		return true
	}
	r.limit = j.Limit
	if limit := r.shares.admit(e); limit != "" {
		j.omitted = limit
		return true
	}
	if !rules.Licenses && !c.licensed(j) || !c.independent(j, r.now) {
		return true
	}
	if most, limit := c.mostNodes(j); most < max(j.Nodes, 1) {
		j.reason = limit
		return true
	}
	if r.hasty {
		j.Limit = des.Minute
	}
	return r.fill(e, nowOnly)
}

// relimit gives a job that was looked at as if it were over in a minute its limit back. Where it was passed over before
// its limit was noted, Slurm gives it the limit of the job that was looked at before, for good.
func (r *backfillRun) relimit(j *Job) {
	if r.hasty && r.limit > 0 {
		j.Limit = r.limit
		r.c.reorder()
	}
}

// fill starts the job of e, or plans it unless it is to start now only. It reports false where the
// table is full.
func (r *backfillRun) fill(e *entry, nowOnly bool) bool {
	c, j, t := r.c, e.job, r.table
	limit := e.limit()
	latest := r.second + int64(c.conf.Schedule.Window/des.Second)
	before, tested := j.estimate, false
	lent := c.spare.mark()
	defer c.spare.back(lent)
	passes := !nowOnly && r.passesOver(e)
	if blocked := r.blocked[j.qos]; blocked > r.second {
		r.expires(blocked)
	}
	viewed := r.viewed(e)
	for start := max(r.second, r.blocked[j.qos]); ; {
		c.spare.back(lent)
		within := 0
		if viewed {
			var any bool
			if start, within, any = r.chance(e, start, nowOnly, tested, passes); !any {
				j.estimate = before
				return true
			}
		}
		if start > r.second {
			r.expires(start)
		}
		o, from := r.openingFrom(e, start)
		if o == nil {
			return true
		}
		start = from
		var begins int64
		var chosen nodeSet
		if o.licensed && o.nodes.count() >= max(j.Nodes, 1) && o.nodes.hasAll(j.Required) {
			if !tested {
				tested = true
				r.tests++
			}
			o.nodes.intersect(c.shapeOf(e).fit) // before the look: it decides which jobs are taken away
			if viewed && !c.haveIdle(o.nodes, c.shapeOf(e).demand.cpus) {
				r.noteVain(e, start, within, never)
				if o.later == 0 || nowOnly {
					j.estimate = before
					return true
				}
				start = o.later
				continue
			}
			if passes && o.later > 0 {
				if soonest := c.soonestFor(e, o.nodes); soonest > o.later {
					if viewed {
						r.noteVain(e, start, within, soonest)
					}
					start = o.later
					continue
				}
			}
			begins, chosen = c.willRun(e, o.nodes, r.second, nowOnly)
		}
		if chosen == nil {
			if o.later == 0 || nowOnly {
				j.estimate = before
				return true
			}
			start = o.later
			continue
		}
		if start > begins {
			begins = start
			c.changed(r.now)
			r.expires(start - 1)
		}
		if begins <= r.second && chosen.meets(c.leaving) {
			begins, o.later = r.second+1, 0
		}
		if begins > r.second {
			r.expires(begins)
		} else {
			j.ByBackfill = true
			chosen = c.spare.clone(chosen) // another look may take the room of this one
			became := c.allocate(r.now, e, c.up, o.nodes)
			j.ByBackfill = became == started
			switch {
			case became == started:
				j.hasty = r.hasty
				r.starts++
				r.reserveRunning(j)
				return true
			case became == reserved, became == beyondLimit && !c.conf.Schedule.AssocLimitStop:
				j.estimate = before
				return true // nobody knows when
			case became == beyondLimit: // as if it could start when the next job ends
				if begins = o.later; begins == 0 {
					begins = r.second + 500
					r.expires(r.second)
				}
				if j.blockedByQOS && j.reason.ofQOSTogether() {
					r.blocked[j.qos] = max(r.blocked[j.qos], begins)
				}
			default:
				o.later = 0
				r.expires(r.second)
			}
		}
		if begins > r.second && nowOnly {
			if j.estimate = begins; before != 0 && before < begins {
				j.estimate = before
			}
			return true
		}
		if o.later > 0 && begins > o.later {
			start = o.later
			continue
		}
		earlier := before != 0 && before < begins
		if j.estimate = begins; earlier {
			j.estimate = before
		}
		if begins > latest {
			r.expires(begins - int64(c.conf.Schedule.Window/des.Second))
			return true
		}
		needs := need{chosen, j.Licenses}
		begin, end := begins/t.resolution*t.resolution, (begins+limit)/t.resolution*t.resolution
		r.expiresWith(begin, end)
		if begins > r.second && t.clashes(begin, end, needs) {
			start = begins
			continue
		}
		if !c.conf.Schedule.AssocLimitStop {
			wants := j.reckonedNeeds()
			wants.nodes = chosen.count()
			if over := c.beyondAmounts(j, wants); over != "" {
				j.reason = over
				return true
			}
		}
		if j.qos != nil && j.qos.noPlans {
			return true
		}
		if !earlier {
			c.backfill.planned.unite(chosen)
		}
		if c.conf.Schedule.OnePlan && before != 0 {
			return true
		}
		if t.full() {
			return false
		}
		t.plan(begin, end, needs)
		return true
	}
}

// limit is for how many seconds backfill plans the job of e: no longer than its partition allows.
func (e *entry) limit() int64 { return int64(min(e.job.Limit, e.part.MaxTime) / des.Second) }

// openingFrom is what the job of e could be planned on from a second on for its limit, as far as plans
// and reservations say, and from which second that is: a reservation of all that it needs is waited
// for. It is nil where there is no such second.
func (r *backfillRun) openingFrom(e *entry, start int64) (*opening, int64) {
	c, j := r.c, e.job
	if own := j.reservation; own != nil && !c.inForce(own, c.instant(r.now, start)) {
		return nil, 0
	}
	if j.reservation == nil && len(c.reserved) > 0 && !c.licensed(j) {
		return nil, 0 // as long as there is any reservation Slurm has a job wait here for the licences that it lacks now
	}
	const tries = 11
	var nodes nodeSet
	overlaps := false
	for try := 0; ; try++ {
		nodes = c.spare.clone(c.up)
		b := c.barOf(e, c.instant(r.now, start), nodes)
		if b.by == nil {
			overlaps = b.overlaps
			break
		}
		if try == tries-1 {
			return nil, 0
		}
		start = c.second(b.by.End)
	}
	nodes.intersect(e.part.nodes)
	end := max(start, r.second) + e.limit()
	o := r.table.openingFrom(start, end, need{nodes, j.Licenses})
	if start == r.second {
		r.expires(o.first)
		r.expires(o.beyond - e.limit())
	}
	if overlaps {
		after := c.reservationEnds(start, r.table.resolution) + 1
		if after < r.table.windowEnd() && (o.later == 0 || after < o.later) {
			o.later = after
		}
	}
	for _, n := range j.Excluded {
		o.nodes.drop(n)
	}
	return &o, start
}

// reserves reports whether the job of e is old and important enough that others wait for it: that
// backfill plans it, and that it closes its partition.
func (c *Controller) reserves(now des.Time, e *entry) bool {
	age := c.second(now) - c.second(e.job.eligible)
	return (e.job.eligible > 0 || c.conf.Schedule.MinAgeReserve == 0) && age >= int64(c.conf.Schedule.MinAgeReserve/des.Second) && int64(e.priority) >= int64(c.conf.Schedule.MinPrioReserve)
}

// instant is the beginning of a second of the host's clock, or now itself for the second of now.
func (c *Controller) instant(now des.Time, second int64) des.Time {
	if second <= c.second(now) {
		return now
	}
	return des.Time(second-c.conf.Epoch) * des.Second
}

// shares counts the jobs of each user, partition and association that a run of backfill has
// looked at.
type shares struct {
	rules    *Scheduling
	limited  bool // any of the rules limits anything
	user     map[string]int
	part     map[*partition]int
	userPart map[userIn]int
	assoc    map[*association]int
}

// userIn is a user in a partition.
type userIn struct {
	user string
	part *partition
}

func newShares(rules *Scheduling) *shares {
	limited := rules.MaxPerUser > 0 || rules.MaxPerPartition > 0 || rules.MaxPerUserPart > 0 || rules.MaxPerAssoc > 0
	return &shares{rules, limited, map[string]int{}, map[*partition]int{}, map[userIn]int{}, map[*association]int{}}
}

// admit counts the job of e, and returns "", if the job may be looked at. Otherwise it returns the one of
// SchedulerParameters that is in the way.
func (s *shares) admit(e *entry) string {
	if !s.limited {
		return ""
	}
	pair := userIn{e.job.User, e.part}
	over := func(count, limit int) bool { return limit > 0 && count >= limit }
	switch {
	case over(s.userPart[pair], s.rules.MaxPerUserPart):
		return "bf_max_job_user_part"
	case over(s.part[e.part], s.rules.MaxPerPartition):
		return "bf_max_job_part"
	case over(s.user[e.job.User], s.rules.MaxPerUser):
		return "bf_max_job_user"
	case e.job.assoc != nil && over(s.assoc[e.job.assoc], s.rules.MaxPerAssoc):
		return "bf_max_job_assoc"
	}
	s.userPart[pair]++
	s.part[e.part]++
	s.user[e.job.User]++
	if e.job.assoc != nil {
		s.assoc[e.job.assoc]++
	}
	return ""
}
