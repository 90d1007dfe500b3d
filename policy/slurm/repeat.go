package slurm

import (
	"maps"
	"math"

	"github.com/gridslot/gridslot/des"
)

// Most runs of backfill find what the last one left: nothing has started or ended, and the queue is the same. A run
// that started nothing and changed nothing of what runs depend on would then do the same again, but that it is
// later. So each run notes until which second its comparisons of times come out as they did; before
// that second the next run is not made, if all else that it depends on is the same.

// repeat is the record of the last run of backfill by which the controller tells whether the next run would do
// the same.
type repeat struct {
	same    bool  // it changed nothing that runs depend on
	until   int64 // the first second in which a comparison of times may come out otherwise
	changed bool  // it noted a change
	more    bool  // the queue had more entries than it got to
	times   int64 // how many runs were left out so far
	given   basis
	now     basis // room for the basis of the next run
}

// basis is a copy of the state on which a run of backfill depends, beside the time and what never changes. era,
// weighed, up, leaving and licenses are copies of the fields of Controller with these names.
type basis struct {
	era         uint64
	weighed     uint64
	up, leaving nodeSet
	licenses    map[string]int // licences that are free, by kind
	decayed     des.Time       // when limits on minutes were reckoned last
	claims      []claim        // of the entries that the run got to
}

// claim is an entry of the queue, with what a run of backfill depends on of it, or changes.
type claim struct {
	entry           *entry
	reserves        bool // Controller.reserves: it grows true with the age of the job
	reason          Reason
	limit, eligible des.Time
	reckoned, guess int
	blockedByQOS    bool
}

// claimOf is the claim of an entry of the queue at now.
func (c *Controller) claimOf(now des.Time, e *entry) claim {
	j := e.job
	return claim{e, c.reserves(now, e), j.reason, j.Limit, j.eligible, j.reckoned, j.guess, j.blockedByQOS}
}

// noteBasis makes b what a run depends on, without claims.
func (c *Controller) noteBasis(b *basis) {
	b.era, b.weighed, b.decayed = c.era, c.weighed, c.decay.last
	b.up, b.leaving = append(b.up[:0], c.up...), append(b.leaving[:0], c.leaving...)
	if b.licenses == nil {
		b.licenses = map[string]int{}
	}
	maps.Copy(b.licenses, c.licenses)
	b.claims = b.claims[:0]
}

// equal reports whether two bases are the same, claims apart. The last computation of priorities counts only if minutes says that
// there are limits on minutes (GrpTRESRunMins), which are reckoned then: see Controller.unused.
func (b *basis) equal(other *basis, minutes bool) bool {
	return b.era == other.era && b.weighed == other.weighed && (!minutes || b.decayed == other.decayed) && b.up.equal(other.up) && b.leaving.equal(other.leaving) &&
		maps.Equal(b.licenses, other.licenses)
}

// stand reports whether the first entries of the queue have these claims at now.
func (c *Controller) stand(now des.Time, claims []claim, queue []*entry) bool {
	for i := range claims {
		if claims[i] != c.claimOf(now, queue[i]) {
			return false
		}
	}
	return true
}

// repeatable reports whether a run of backfill may be left out for doing what the last one did. Where jobs that have run for a
// while only are exempt from preemption, nodes are reserved, or licences are planned, time goes into it in more ways than it notes.
func (c *Controller) repeatable() bool {
	return !c.forgetful && c.conf.PreemptExempt == 0 && len(c.reserved) == 0 && !c.conf.Schedule.Licenses
}

// repeats reports whether a run of backfill at now through the queue would do the same as the last run. If so, it
// notes of the jobs what that run would note. If not, it notes what the run depends on.
func (c *Controller) repeats(now des.Time, queue []*entry) bool {
	l := &c.backfill.last
	if !c.repeatable() {
		l.same, l.given.claims = false, l.given.claims[:0]
		return false
	}
	c.noteBasis(&l.now)
	got := len(l.given.claims)
	asLong := len(queue) == got || len(queue) > got && l.more
	if !l.same || c.second(now) >= l.until || !asLong || !l.now.equal(&l.given, c.accounts.limitsMinutes) || !c.stand(now, l.given.claims, queue) {
		l.given, l.now, l.same = l.now, l.given, false
		return false
	}
	for _, e := range queue[:got] {
		e.job.part, e.job.Priority = e.part, e.priority
	}
	if b := &c.backfill; l.more {
		b.skip(queue[len(b.considered):], b.skippedFor)
	}
	if l.changed {
		c.changed(now)
	}
	l.times++
	return true
}

// endRun notes what a run of backfill leaves.
func (c *Controller) endRun(r *backfillRun, queue []*entry) {
	l := &c.backfill.last
	if !c.repeatable() {
		return
	}
	c.noteBasis(&l.now)
	l.same = l.now.equal(&l.given, c.accounts.limitsMinutes) && c.stand(r.now, l.given.claims, queue)
	l.until, l.more = r.until, len(l.given.claims) < len(queue)
	l.changed = c.backfill.changed == r.now
}

// expires notes that from a second on the run may not go as it goes.
func (r *backfillRun) expires(second int64) { r.until = min(r.until, second) }

// expiresWith notes until when a plan from begin to end has its place among the intervals of the table, whose ends
// move with the time.
func (r *backfillRun) expiresWith(begin, end int64) {
	t := r.table
	window := int64(r.c.conf.Schedule.Window / des.Second)
	r.expires(end)
	for _, second := range []int64{begin, max(end, begin+t.resolution)} {
		if second >= t.windowEnd() {
			r.expires(second + t.resolution - window)
		}
	}
}

// expiresWithReservations notes until when a reservation keeps its nodes from the job, or does not, were it to start now.
func (r *backfillRun) expiresWithReservations(j *Job) {
	for _, other := range r.c.reserved {
		for _, second := range []int64{r.c.second(other.Start) - int64(j.Limit/des.Second) + 1, r.c.second(other.End), r.c.second(other.End) + 1} {
			if second > r.second {
				r.expires(second)
			}
		}
	}
}

// never is a second that does not come, and noChange an instant before all others.
const (
	never    = math.MaxInt64
	noChange = -des.Forever
)
