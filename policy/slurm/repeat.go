package slurm

import (
	"maps"
	"math"
	"slices"

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
	tried   int   // how many entries of the queue it got to
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
	queue       []claim
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

// noteBasis makes b what a run at now through the queue depends on.
func (c *Controller) noteBasis(b *basis, now des.Time, queue []*entry) {
	b.era, b.weighed, b.decayed = c.era, c.weighed, c.decay.last
	b.up, b.leaving = append(b.up[:0], c.up...), append(b.leaving[:0], c.leaving...)
	if b.licenses == nil {
		b.licenses = map[string]int{}
	}
	maps.Copy(b.licenses, c.licenses)
	b.queue = b.queue[:0]
	for _, e := range queue {
		j := e.job
		b.queue = append(b.queue, claim{e, c.reserves(now, e), j.reason, j.Limit, j.eligible, j.reckoned, j.guess, j.blockedByQOS})
	}
}

// equal reports whether two bases are the same. The last computation of priorities counts only if minutes says that
// there are limits on minutes (GrpTRESRunMins), which are reckoned then: see Controller.unused.
func (b *basis) equal(other *basis, minutes bool) bool {
	return b.era == other.era && b.weighed == other.weighed && (!minutes || b.decayed == other.decayed) && b.up.equal(other.up) && b.leaving.equal(other.leaving) &&
		maps.Equal(b.licenses, other.licenses) && slices.Equal(b.queue, other.queue)
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
		l.same = false
		return false
	}
	c.noteBasis(&l.now, now, queue)
	if !l.same || c.second(now) >= l.until || !l.now.equal(&l.given, c.accounts.limitsMinutes) {
		l.given, l.now, l.same = l.now, l.given, false
		return false
	}
	for _, e := range queue[:l.tried] {
		e.job.part, e.job.Priority = e.part, e.priority
	}
	if l.changed {
		c.changed(now)
	}
	l.times++
	return true
}

// endRun notes what a run of backfill leaves. tried is the number of entries of the queue that the run got to.
func (c *Controller) endRun(r *backfillRun, queue []*entry, tried int) {
	l := &c.backfill.last
	if !c.repeatable() {
		return
	}
	c.noteBasis(&l.now, r.now, queue)
	l.same, l.until, l.tried = l.now.equal(&l.given, c.accounts.limitsMinutes), r.until, tried
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
