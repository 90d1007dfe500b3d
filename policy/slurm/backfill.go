package slurm

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Backfill: plugins/sched/backfill/backfill.c. A run goes through the queue in its order. It gives each job the
// first begin at which nodes are free of the plans of the jobs ahead, and starts the job if that is now.

// backfillLoop is the backfill thread (backfill_agent). It looks every second, once BackfillInterval has passed
// since its last run, whether anything has changed since then.
type backfillLoop struct {
	off      bool     // there is no backfill: no run is ever due
	interval des.Time // Scheduling.BackfillInterval
	ran      des.Time // the last run (last_backfill_time); 0 before the first, as if one had been made at the beginning
	changed  des.Time // the last change, see Controller.changed; while a run goes through the queue, the last change by the run
	looked   des.Time // the last instant at which the thread has looked, or could have
	planned  nodeSet  // nodes that the last run planned and nobody got (planned_bitmap); nil before the first run
	runs     int64    // so far, those included that would have repeated the last one
	table    *table   // of the last run, whose room the next one takes; nil: there was none
	last     repeat   // the record of the last run by which it shows whether the next run would do the same
	trail    trail    // what runs leave so that the next one need not search for each job anew

	considered []*entry // entries that the last run which was made got to, in the order of the queue
	skipped    []*entry // the entries behind them
	skippedFor string   // the key of SchedulerParameters for which it did not get to these
}

func (l *backfillLoop) begin(rules *Scheduling) {
	*l = backfillLoop{off: !rules.Backfill, interval: rules.BackfillInterval}
}

// next is the second of the next run, or des.Forever while nothing has changed. Slurm compares
// whole seconds: a change in the second of the last run counts (_more_work).
func (l *backfillLoop) next() des.Time {
	if l.off || l.changed/des.Second < l.ran/des.Second {
		return des.Forever
	}
	due := max(l.ran.Add(l.interval), wholeSecond(l.changed))
	if due <= l.looked { // it has looked then, and sleeps a second
		due = (l.looked/des.Second + 1) * des.Second
	}
	return due
}

// runBackfill makes a run of backfill (_attempt_backfill).
func (c *Controller) runBackfill(now des.Time) {
	l, rules := &c.backfill, &c.conf.Schedule
	if c.completes(now) { // no run, so that the thread looks again in the next second
		return
	}
	// Nodes are no longer planned, which is a change of nodes (_handle_planned). A run without jobs counts as one.
	l.ran = now
	l.runs++
	if l.planned != nil && !l.planned.empty() {
		c.changed(now)
	}
	queue := c.runnable(now)
	if c.repeats(now, queue) {
		return
	}
	// What the last run told of jobs that wait holds no more (_clear_job_estimates).
	l.planned = newNodeSet(len(c.conf.Nodes))
	for _, e := range l.considered {
		e.job.estimate, e.job.omitted = 0, ""
	}
	l.considered, l.skipped = l.considered[:0], l.skipped[:0]
	if len(queue) == 0 {
		return
	}
	// The table: all nodes that are up are free over the whole window, whatever runs on them. That jobs run there is
	// seen by the search for nodes, not by the table.
	c.plans.back(0)
	var licenses map[string]int
	if rules.Licenses {
		licenses = map[string]int{}
		for _, amount := range c.conf.Licenses {
			licenses[amount.Kind] += amount.Count
		}
	}
	l.table = newTable(l.table, c.second(now), int64(rules.Window/des.Second), int64(rules.Resolution/des.Second), rules.TableSize, c.up, licenses, &c.plans, &c.spare)
	l.table.cpus = c.idle.cpus
	r := &backfillRun{c: c, now: now, second: c.second(now), until: never, table: l.table, shares: newShares(rules), blocked: map[*qos]int64{}}
	l.trail.begin(c, r.table.windowEnd())
	// Only with bf_licenses what runs is in the table (bf_running_job_reserve, which bf_licenses sets).
	if rules.Licenses {
		byID := slices.SortedFunc(slices.Values(c.running), func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
		for _, j := range byID {
			if !r.reserveRunning(j) {
				break
			}
		}
	}
	// The jobs in the order of the queue. Changes are noted from none on, so that endRun can tell whether this run
	// has made any.
	before := l.changed
	l.changed = noChange
	for i, e := range queue {
		if limit := r.over(); limit != "" {
			l.skip(queue[i:], limit)
			break
		}
		l.considered, c.visited = append(l.considered, e), append(c.visited, e.job)
		l.last.given.claims = append(l.last.given.claims, c.claimOf(now, e))
		if !r.consider(e) {
			e.job.omitted = "bf_node_space_size"
			l.skip(queue[i+1:], e.job.omitted)
			break
		}
	}
	r.settle()
	// Nodes that are planned and not allocated get the state PLANNED, which is a change of nodes (_handle_planned).
	l.planned.intersect(c.idleNodes())
	if !l.planned.empty() {
		c.changed(now)
	}
	c.endRun(r, queue)
	l.changed = max(l.changed, before)
}

// backfillRun is the state of a run of backfill under way.
type backfillRun struct {
	c      *Controller
	now    des.Time
	second int64   // of now, of the host's clock
	table  *table  // without the last plans made: see learnt
	shares *shares // by which bf_max_job_user and its like count
	learnt int     // how many of the plans made so far (trail.made) the table has
	tests  int     // entries for which nodes were looked for (bf_last_depth_try)
	starts int     // jobs that the run has started (job_start_cnt)
	hasty  bool    // the job looked at last is of a QoS with NoReserve, and was looked at as if it were over in a minute
	// limit is the limit of the last job that consider looked at up to shares.admit at least (orig_time_limit, which
	// Slurm does not set anew for a job that it passes over before); 0: there was none.
	limit des.Time
	until int64 // the second from which on the run might go otherwise than it went: see repeat.until
	// blocked holds by QoS the second before which none of its jobs is planned. With assoc_limit_stop, a job that
	// waits for a limit on what all jobs of its QoS have together makes the others wait at least as long.
	blocked map[*qos]int64
	off     []putOff // entries that were put off, in the order of the queue
	// lacking holds the shortest limit of the jobs that are known to lack CPUs now: see lacksCPUs.
	lacking map[lack]des.Time
	opening opening // room for the opening that find looks at
}

// over is the key of SchedulerParameters that ends the run before it looks at the next job, or "".
func (r *backfillRun) over() string {
	if r.tests+len(r.off) >= r.c.conf.Schedule.MaxTests { // each that was put off may count
		r.makeUpAll()
	}
	switch rules := &r.c.conf.Schedule; {
	case r.tests >= rules.MaxTests:
		return "bf_max_job_test"
	case rules.MaxBackfillStart > 0 && r.starts >= rules.MaxBackfillStart:
		return "bf_max_job_start"
	}
	return ""
}

// skip notes the entries that a run does not look at, and the key of SchedulerParameters that ended the run.
func (l *backfillLoop) skip(queue []*entry, limit string) {
	l.skipped, l.skippedFor = append(l.skipped[:0], queue...), limit
}

// omitted is the key of SchedulerParameters that made the last run pass a job over; empty: none did.
func (l *backfillLoop) omitted(j *Job) string {
	if slices.ContainsFunc(l.skipped, func(e *entry) bool { return e.job == j }) {
		return l.skippedFor
	}
	return j.omitted
}

// reserveRunning takes what a running job has to itself, and its licences, from the table until its
// limit (_bf_reserve_running). It reports false where the table is full. Nodes that the job shares are not taken: the
// search for nodes sees which of their CPUs it has. The plan begins at 0, which is the table's begin.
func (r *backfillRun) reserveRunning(j *Job) bool {
	c := r.c
	needs := need{nodes: newNodeSet(len(c.conf.Nodes)), licenses: j.Licenses}
	if j.whole && c.conf.Preempt == "" {
		needs.nodes = j.nodes
	}
	if needs.nodes.empty() && len(needs.licenses) == 0 {
		return true
	}
	if r.full() {
		return false
	}
	r.plan(0, c.limitSecond(j)/r.table.resolution*r.table.resolution, needs)
	return true
}

// consider starts the job of e, plans it, or passes it over: the body of the loop of _attempt_backfill, in its order.
// It reports false where the run is to end.
func (r *backfillRun) consider(e *entry) bool {
	c, j, rules := r.c, e.job, &r.c.conf.Schedule
	// The job may have started in another partition in this run (_job_runnable_now).
	if j.state != pending || j.Held {
		r.relimitStarted(j)
		return true
	}
	j.part, j.Priority = e.part, e.priority
	// With preemption, a job of a QoS with NoReserve is looked at as if its limit were a minute. relimit gives
	// its limit back afterwards.
	r.hasty = j.qos != nil && j.qos.noPlans && c.conf.Preempt != ""
	defer r.relimit(j)
	// Limits on jobs. With assoc_limit_stop they are looked at only when the job is about to start (startNow), so that
	// a job beyond them is planned and keeps its nodes from those behind it.
	if !rules.AssocLimitStop && !c.withinJobLimits(j) {
		return true
	}
	// Jobs that may start now but are not planned (TEST_NOW_ONLY).
	nowOnly := !c.reserves(r.now, e) || rules.OnePlan && j.estimate != 0
	// In this run the job has made others end already, for another of its partitions. It starts in a later run or
	// pass.
	if j.preempting {
		return true
	}
	// From here on the job counts, whatever becomes of it.
	r.limit = j.Limit
	if limit := r.shares.admit(e); limit != "" {
		j.omitted = limit
		return true
	}
	if !rules.Licenses && !c.licensed(j) || !c.independent(j, r.now) {
		return true
	}
	if most, limit := c.mostNodes(j); most < j.leastNodes() {
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
		r.c.wake(j)
		r.c.reorder(j)
	}
}

// relimitStarted gives a job that this run has started in another partition the limit of the job that was looked at before,
// where that is one of a QoS with NoReserve: a flaw of Slurm. The job still ends by its old limit. It has the new one should
// it have to start again.
func (r *backfillRun) relimitStarted(j *Job) {
	if j.state == running && r.hasty && r.limit > 0 {
		j.extended += int64((j.Limit - r.limit) / des.Second)
		j.Limit = r.limit
	}
}

// fill starts the job of e, or plans it unless it is to start now only, or puts that off. It reports false where
// the table is full.
func (r *backfillRun) fill(e *entry, nowOnly bool) bool {
	if e.found == nil {
		e.found = newFinding(len(r.c.conf.Nodes))
	}
	// What the last run found costs less to recall than to put off. It cannot be recalled while entries ahead are put off.
	switch {
	case len(r.off) == 0 && r.recall(e, nowOnly):
		return r.use(e, nowOnly)
	case r.putsOff(e, nowOnly):
		return true
	}
	return r.findAndUse(e, nowOnly)
}

// findAndUse starts or plans the job of e as fill does, at once.
func (r *backfillRun) findAndUse(e *entry, nowOnly bool) bool {
	if !r.recall(e, nowOnly) {
		r.remember(e, nowOnly)
	}
	// The search began where the QoS is no longer blocked, so the answer holds until that second at most.
	if blocked := r.blocked[e.job.qos]; blocked > r.second {
		r.expires(blocked)
	}
	return r.use(e, nowOnly)
}

// find finds where and when the job of e would start, from a second on, and leaves it in e.found: begins is 0 where
// the job would not start. Each round tries the job at one begin (TRY_LATER in _attempt_backfill): on the nodes that
// are in no plan from that begin until the job's limit. A round that fails tells from which second there may be other
// nodes, and the next round tries that second. Rounds are finite: start grows, and the table has an end.
func (r *backfillRun) find(e *entry, start int64, nowOnly bool) {
	c, f := r.c, e.found
	r.catchUp()
	lent := c.spare.mark()
	defer c.spare.back(lent)
	passes, viewed := !nowOnly && r.passesOver(e), r.viewed(e)
	for {
		c.spare.back(lent)
		f.begins = 0
		// Rounds that are known to fail are left out: passes and views save time, and change no answer.
		if viewed {
			var any bool
			if start, any = r.chance(e, start, nowOnly, f.tested, passes); !any {
				f.estimate = 0
				return
			}
		}
		if start > r.second {
			r.expires(start)
		}
		// Nodes that are in no plan and in no reservation of others. Without any Slurm leaves the estimate as it is.
		o, from := r.openingFrom(e, start)
		if o == nil {
			return
		}
		start = from
		// Nodes among them that the job would get, by what runs on them.
		var chosen nodeSet
		if viewed || !r.vain(e, o, start, passes) {
			r.table.narrow(o)
			chosen = r.findAmong(e, o, start, nowOnly)
		}
		if chosen == nil {
			if o.later == 0 || nowOnly {
				f.estimate = 0
				return
			}
			start = o.later
			continue
		}
		f.later = o.later
		copy(f.nodes, chosen)
		copy(f.among, o.nodes)
		// The search for nodes knows no plans, so it may see a begin earlier than start, which was tried. That
		// begin is moved up to start, and Slurm notes a change (last_job_update), so that the next run is due
		// again.
		if start > f.begins {
			f.begins, f.changed = start, true
			c.changed(r.now)
			r.expires(start - 1)
		}
		if f.begins <= r.second { // the caller starts the job: startNow
			return
		}
		r.expires(f.begins)
		if start = r.round(e, nowOnly); start == 0 {
			return
		}
	}
}

// findAmong returns the nodes of an opening that the job of e would have, and sets the begin of its finding. It
// returns nil if no nodes suit, or if they are free only after the second from which there may be other nodes.
func (r *backfillRun) findAmong(e *entry, o *opening, start int64, nowOnly bool) nodeSet {
	c, j, f := r.c, e.job, e.found
	if !o.licensed || o.nodes.count() < j.leastNodes() || !o.nodes.hasAll(j.Required) {
		return nil
	}
	if !f.tested { // an entry counts once, however many rounds it takes (already_counted)
		f.tested = true
		r.tests++
	}
	o.nodes.intersect(c.shapeOf(e).fit) // before the look: it decides which jobs are taken away
	prunes := r.prunes(e)
	if prunes && !c.haveIdle(o.nodes, c.shapeOf(e).demand.cpus) {
		r.noteVain(e, o, nil, start, never)
		return nil
	}
	f.looked.unite(o.nodes)
	if o.later > 0 && !nowOnly && r.leavesNothing(e) && c.lateFor(e, o.nodes, r.second, o.later) {
		if prunes {
			r.noteVain(e, o, o.nodes, start, o.later+1)
		}
		return nil
	}
	begins, chosen, by := c.willRun(e, o.nodes, r.second, nowOnly)
	f.gaps = append(f.gaps, by.gaps...)
	if chosen != nil {
		f.begins, f.reckoned = begins, j.reckoned
		if c.conf.OverTimeLimit == des.Forever && begins > r.second && by.ends <= r.second { // a guess that moves with the time
			r.expires(r.second)
		}
	}
	return chosen
}

// round rounds the plan for the job of e down to whole steps of the table. It returns the second from which to look
// again: where other nodes may come before the job begins, on which it might begin sooner; or where the plan clashes
// with others (_test_resv_overlap), its own begin. A clash comes of a job that begins later than the round tried: it
// lasts longer than the plans that the round looked at. Otherwise round returns 0: the finding is the plan.
func (r *backfillRun) round(e *entry, nowOnly bool) (again int64) {
	f, window := e.found, int64(r.c.conf.Schedule.Window/des.Second)
	switch {
	case f.begins > r.second && nowOnly:
		return 0
	case f.later > 0 && f.begins > f.later:
		return f.later
	}
	// Too far in the future to worry about: the job has an estimate and no plan.
	if f.estimate = f.begins; f.begins > r.second+window {
		r.expires(f.begins - window)
		return 0
	}
	r.catchUp()
	t := r.table
	// Intervals of the table begin and end at multiples of its resolution.
	f.begin, f.end = f.begins/t.resolution*t.resolution, (f.begins+e.limit())/t.resolution*t.resolution
	r.expiresWith(f.begin, f.end)
	if f.begins > r.second && t.clashes(f.begin, f.end, need{f.nodes, e.job.Licenses}) {
		return f.begins
	}
	return 0
}

// use starts the job of e, or plans it, as was found. It reports false where the table is full.
func (r *backfillRun) use(e *entry, nowOnly bool) bool {
	c, j, f := r.c, e.job, e.found
	before := j.estimate // of a partition of the job that this run came to first (orig_start_time); 0: none saw a start
	// Start the job, if it begins now. Where that fails it may have to be looked for again from a later second.
	for f.begins > 0 && f.begins <= r.second {
		done, again := r.startNow(e, nowOnly)
		if done {
			return true
		}
		if again == 0 {
			break
		}
		r.find(e, again, nowOnly)
	}
	// The estimate that users see is the earliest of all partitions.
	estimate := f.begins
	if estimate == 0 {
		estimate = f.estimate
	}
	noLater := before != 0 && (estimate == 0 || before <= estimate) // in the other partition
	if j.estimate = estimate; noLater {
		j.estimate = before
	}
	// No plan is made for a job that would not start, is not to be planned, would start beyond the window, is beyond
	// a limit on amounts, or is of a QoS with NoReserve.
	if f.begins == 0 || f.begins > r.second && nowOnly || f.begins > r.second+int64(c.conf.Schedule.Window/des.Second) {
		return true
	}
	if !c.conf.Schedule.AssocLimitStop {
		if over := c.beyondAmounts(j, c.reckonedNeeds(e, f.nodes.count(), nil)); over != "" {
			j.reason = over
			return true
		}
	}
	if j.qos != nil && j.qos.noPlans {
		return true
	}
	// Nodes count as planned (planned_bitmap) even if the plan does not fit into the table, unless the job would
	// start no later in another of its partitions.
	if !noLater {
		c.backfill.planned.unite(f.nodes)
	}
	if c.conf.Schedule.OnePlan && before != 0 {
		return true
	}
	if r.full() {
		return false
	}
	r.plan(f.begin, f.end, need{f.nodes, j.Licenses})
	return true
}

// startNow starts the job of e on nodes that are free now, if its limits, jobs that are about to leave these
// nodes, and reservations allow it. It reports whether nothing is left to do. Otherwise the job has to be
// planned, and again is the second from which to search; 0: the finding has the plan already.
func (r *backfillRun) startNow(e *entry, nowOnly bool) (done bool, again int64) {
	c, j, f := r.c, e.job, e.found
	if f.nodes.meets(c.leaving) { // cg_node_bitmap: the job waits a second for an epilog, and is planned until then
		f.lasts = false
		f.begins, f.later = r.second+1, 0
		r.expires(f.begins)
		return false, r.round(e, nowOnly)
	}
	// allocate calls Started, which reads ByBackfill: so it is set before, and reset if the job does not start.
	j.ByBackfill = true
	became := c.allocate(r.now, e, c.up, f.among)
	if j.preempting { // jobs have ended or will end sooner, so CPUs are free sooner
		r.table.forgetVain()
		clear(r.lacking)
	}
	j.ByBackfill = became == started
	switch {
	case became == started:
		if j.hasty = r.hasty; j.hasty {
			j.altered = int64((r.limit - des.Minute) / des.Second)
		}
		r.starts++
		r.reserveRunning(j)
		return true, 0
	case became == reserved, became == beyondLimit && !c.conf.Schedule.AssocLimitStop:
		return true, 0 // nobody knows when
	case became == beyondLimit: // as if it could start when the next job ends
		if f.begins = f.later; f.begins == 0 {
			f.begins = r.second + 500 // so Slurm has it, whose comment says 5 minutes
			r.expires(r.second)
		}
		if j.blockedByQOS && j.reason.ofQOSTogether() {
			r.blocked[j.qos] = max(r.blocked[j.qos], f.begins)
		}
	default: // it is planned from now on, though it could not start: a best effort
		f.later = 0
		r.expires(r.second)
	}
	f.lasts = false
	return false, r.round(e, nowOnly)
}

// plan plans something from begin to end, in seconds of the host's clock. The table learns of it when it is needed:
// most entries recall what they found, and never look into the table.
func (r *backfillRun) plan(begin, end int64, needs need) {
	r.c.backfill.trail.make(begin, max(end, begin+r.table.resolution), needs)
}

// catchUp enters into the table all plans that it has not learnt.
func (r *backfillRun) catchUp() {
	made := r.c.backfill.trail.made
	for ; r.learnt < len(made); r.learnt++ {
		p := &made[r.learnt]
		r.table.plan(p.begin, p.end, p.needs)
	}
}

// full reports whether the table is full.
func (r *backfillRun) full() bool { return !r.hasRoom(0) }

// hasRoom reports whether the table is certainly not full after more plans than have been made, where more is their number. A
// plan uses two records at most, one for each of its ends that cuts an interval. So plans that the table has not learnt are
// only entered if they could fill it.
func (r *backfillRun) hasRoom(more int) bool {
	t := r.table
	if t.records+2*(len(r.c.backfill.trail.made)-r.learnt+more) < t.size {
		return true
	}
	r.catchUp()
	return t.records+2*more < t.size
}

// limit returns the number of seconds for which backfill plans the job of e: its limit, or MaxTime of the
// partition if that is shorter.
func (e *entry) limit() int64 { return int64(min(e.job.Limit, e.part.MaxTime) / des.Second) }

// openingFrom returns the opening for the job of e and the time of its limit, at the first second from start on
// at which reservations leave the job any nodes, and that second. While a reservation bars the job from all
// nodes, that second is put off to the end of the reservation. The opening is nil if that happens eleven times in
// a row, if the job's own reservation is not in force, or if the job lacks licences while there is any
// reservation. The next call reuses the memory of the opening.
func (r *backfillRun) openingFrom(e *entry, start int64) (*opening, int64) {
	c, j := r.c, e.job
	// Reservations (job_test_resv).
	if own := j.reservation; own != nil && !c.inForce(own, c.instant(r.now, start)) {
		return nil, 0
	}
	if j.reservation == nil && len(c.reserved) > 0 && !c.licensed(j) {
		return nil, 0 // as long as there is any reservation, Slurm makes a job wait here for licences that it lacks now
	}
	if start == r.second {
		r.expiresWithReservations(j)
	}
	const tries = 11 // reservations in a row whose ends job_test_resv waits for
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
	// Plans. The opening holds longer than the answer of the present second if no interval ends, and none comes into
	// reach of the job's end.
	nodes.intersect(e.part.nodes)
	end := max(start, r.second) + e.limit()
	o := &r.opening
	*o = r.table.openingFrom(start, end, need{nodes, j.Licenses})
	if start == r.second {
		r.expires(o.first)
		r.expires(o.beyond - e.limit())
	}
	if overlaps { // the end of a reservation in the way may bring other nodes, too (find_resv_end)
		after := c.reservationEnds(start, r.table.resolution) + 1
		if after >= r.table.windowEnd() {
			r.expires(after - int64(c.conf.Schedule.Window/des.Second))
		}
		if after < r.table.windowEnd() && (o.later == 0 || after < o.later) {
			o.later = after
		}
	}
	for _, n := range j.Excluded {
		o.nodes.drop(n)
		nodes.drop(n)
	}
	if len(c.reserved) > 0 {
		o.wanted = nodes
	}
	return o, start
}

// reserves reports whether the job of e is old and important enough that others wait for it: that
// backfill plans it, and that it closes its partition (bf_min_age_reserve, bf_min_prio_reserve).
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
// looked at. A map stays empty if the rule that reads it is 0.
type shares struct {
	rules    *Scheduling
	limited  bool           // any of the rules limits anything
	user     map[string]int // by Job.User
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

// admit counts the job of e, and returns "", if the job may be looked at. Otherwise it returns the key of
// SchedulerParameters that is in the way (_job_exceeds_max_bf_param). A job that a rule passes over counts for none
// of the others. A job without association is in no association's share.
func (s *shares) admit(e *entry) string {
	if !s.limited {
		return ""
	}
	pair := userIn{e.job.User, e.part}
	switch rules := s.rules; {
	case rules.MaxPerUserPart > 0 && s.userPart[pair] >= rules.MaxPerUserPart:
		return "bf_max_job_user_part"
	case rules.MaxPerPartition > 0 && s.part[e.part] >= rules.MaxPerPartition:
		return "bf_max_job_part"
	case rules.MaxPerUser > 0 && s.user[e.job.User] >= rules.MaxPerUser:
		return "bf_max_job_user"
	case rules.MaxPerAssoc > 0 && e.job.assoc != nil && s.assoc[e.job.assoc] >= rules.MaxPerAssoc:
		return "bf_max_job_assoc"
	}
	// No rule is in the way: the job counts for all of them.
	if s.rules.MaxPerUserPart > 0 {
		s.userPart[pair]++
	}
	if s.rules.MaxPerPartition > 0 {
		s.part[e.part]++
	}
	if s.rules.MaxPerUser > 0 {
		s.user[e.job.User]++
	}
	if s.rules.MaxPerAssoc > 0 && e.job.assoc != nil {
		s.assoc[e.job.assoc]++
	}
	return ""
}
