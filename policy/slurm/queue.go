package slurm

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// The queue: which entries a pass or a run of backfill goes through (build_job_queue), in which order
// (sort_job_queue2), and from when on ages count.

// runnable returns the queue of entries that could start at now, as far as the jobs themselves and the limits of
// partitions say, in the order in which it is tried. It notes why other jobs wait. Some notes are changes to
// backfill, as in Slurm: a reason that is new, and each partition whose limits a job is beyond while it is within
// the limits of another.
func (c *Controller) runnable(now des.Time) []*entry {
	c.wakeVisited()
	// Which entries could start? What was found for calm jobs still holds.
	for j := range c.restlessJobs {
		for _, e := range j.entries {
			c.setCould(e, false)
		}
		c.growOlder(j, now)
		if !j.reason.passing() && j.reason != j.told {
			j.told = j.reason
			c.changed(now)
		}
		j.preempting = false
		if c.couldRun(j, now) {
			c.admit(j, now)
			j.calm = c.staysCalm(j)
		}
	}
	c.restless = slices.DeleteFunc(c.restless, func(j *Job) bool { return j.calm })
	// Those, in the order of the queue.
	from := c.pending
	if c.conf.Preempt == "" {
		from = c.queue()
	}
	all := c.could[:0]
	if c.barred == 0 { // a copy: jobs may leave the queue
		all = append(all, from...)
	} else {
		for _, e := range from {
			if e.could {
				all = append(all, e)
			}
		}
	}
	if c.could = all; c.conf.Preempt == "" {
		return all
	}
	// "Preempts" is no order, so that the result depends on what was sorted: Slurm sorts exactly these
	// entries, from the order of submission. The last result holds if neither they nor priorities changed.
	if !c.sorted || !slices.Equal(all, c.unmerged) || c.forgetful {
		c.unmerged = append(c.unmerged[:0], all...)
		c.merged = append(c.merged[:0], all...)
		c.roomToMerge = slices.Grow(c.roomToMerge[:0], len(all))
		mergeSort(c.merged, c.roomToMerge[:len(all)], c.before)
		c.sorted = true
	}
	return c.merged
}

// couldRun reports whether a job that waits could start as far as the job itself says (_job_runnable_test1),
// and notes why it waits otherwise.
func (c *Controller) couldRun(j *Job, now des.Time) bool {
	independent := c.independent(j, now)
	switch {
	case j.state != pending: // its dependency is never met, and kill_invalid_depend has cancelled it
		return false
	case j.Held:
		if j.reason != JobHeld && j.reason != HeldByController && j.reason != ReservationDeleted && j.reason != BadConstraints {
			j.reason = HeldByController
			c.changed(now)
		}
		return false
	case !independent:
		if j.reason == JobHeld || j.reason == HeldByController { // it was released, and still depends on a job
			j.reason = WaitsForDependency
			c.changed(now)
		}
		return false
	}
	return true
}

// admit finds in which of its partitions the job is within the limits of the partition, and could start
// (_job_runnable_test2). What the last partition says stays the reason.
func (c *Controller) admit(j *Job, now des.Time) {
	for _, e := range j.entries {
		limit := c.beyondPartition(j, e.part)
		j.part = e.part
		if limit != j.reason && (limit != "" || j.reason.ofPartition()) {
			if j.reason = limit; limit == "" {
				j.reason = NoReason
			}
			c.changed(now)
		}
		c.setCould(e, limit == "")
	}
}

// setCould notes whether an entry could start.
func (c *Controller) setCould(e *entry, could bool) {
	switch {
	case could && !e.could:
		c.barred--
	case !could && e.could:
		c.barred++
	}
	e.could = could
}

// staysCalm reports whether a job that depends on nothing is calm: whether it could start depends neither on the time nor on
// other jobs, and its reason has been told. What runnable has found of it then holds until an order about it (see wake), or until a
// pass or a run of backfill that tries it gives it a new reason, holds it, or makes others end for it (see wakeVisited). A
// queue may have thousands of jobs, of which a pass tries a few.
func (c *Controller) staysCalm(j *Job) bool {
	return len(j.entries) == 1 && j.accrued > 0 && !j.Held && !j.preempting && (j.reason.passing() || j.reason == j.told) && j.reservation == nil && !c.forgetful
}

// wake has the next call of runnable look at a job that waits.
func (c *Controller) wake(j *Job) {
	if j.calm {
		j.calm = false
		c.restless = append(c.restless, j)
	}
}

// wakeVisited wakes the jobs that are calm no more since a pass or a run of backfill tried them.
func (c *Controller) wakeVisited() {
	for _, j := range c.visited {
		if j.calm && !c.staysCalm(j) {
			c.wake(j)
		}
	}
	c.visited = c.visited[:0]
}

// restlessJobs yields the jobs that wait and are not calm, in the order of their IDs. Those that no longer wait when their turn
// comes are left out.
func (c *Controller) restlessJobs(yield func(*Job) bool) {
	slices.SortFunc(c.restless, func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
	c.roomToWake = append(c.roomToWake[:0], c.restless...) // a copy: jobs may leave the queue
	for _, j := range c.roomToWake {
		if j.state == pending && !yield(j) {
			return
		}
	}
}

// waiting yields the jobs that wait, in the order of their IDs. Jobs may start, end and be looked at by
// another call meanwhile: those that no longer wait when their turn comes are left out.
func (c *Controller) waiting(yield func(*Job) bool) {
	var last *Job
	all := append(c.roomToWait[:0], c.pending...) // a copy: jobs may leave the queue
	c.roomToWait = nil                            // another call takes other room
	defer func() { c.roomToWait = all }()
	for _, e := range all {
		if e.job != last && e.job.state == pending && !yield(e.job) {
			return
		}
		last = e.job
	}
}

// growOlder makes the age of a job count that does not count yet (acct_policy_handle_accrue_time). It counts
// from the instant at which the job could start; under a limit on the jobs whose ages count (GrpJobsAccrue)
// from now on, once fewer jobs of the group than the limit have ages that count. Only the nearest group with
// such a limit matters.
func (c *Controller) growOlder(j *Job, now des.Time) {
	if j.accrued > 0 {
		return
	}
	if !c.conf.Enforce.Limits {
		j.accrued = j.eligible
		return
	}
	if j.Held || j.reason == WaitsForDependency || j.reason == DependencyNeverSatisfied || j.eligible == 0 || c.second(j.eligible) > c.second(now) {
		return
	}
	limited := false
	for g := range j.groups {
		if limited = g.accruing.limited; limited {
			if g.accruing.reached(g.aging) {
				return
			}
			break
		}
	}
	if j.accrued = j.eligible; limited {
		j.accrued = now
	}
	for g := range j.groups {
		g.aging++
	}
}

// ageNoMore ends the counting of the job's age, since it started, is held or waits for a job again
// (acct_policy_remove_accrue_time). Without limits Slurm leaves the age as it is.
func (c *Controller) ageNoMore(j *Job) {
	if j.accrued > 0 && c.conf.Enforce.Limits {
		j.accrued = 0
		for g := range j.groups {
			g.aging--
		}
	}
}

// enter puts a job into the queue, by its ID into pending and by its place into order.
func (c *Controller) enter(j *Job) {
	c.count(j, 1, false)
	at, _ := slices.BinarySearchFunc(c.pending, j.ID, func(e *entry, id int) int { return cmp.Compare(e.job.ID, id) })
	c.pending = slices.Insert(c.pending, at, j.entries...)
	c.barred += len(j.entries)
	c.restless = append(c.restless, j)
	for i, e := range j.entries {
		e.at = i
		if c.conf.Preempt != "" { // runnable sorts from pending, so that order is not needed
			c.sorted = false
			continue
		}
		if c.sorted { // a place is cheaper to find than the order of all
			at, _ := slices.BinarySearchFunc(c.order, e, c.before)
			c.order = slices.Insert(c.order, at, e)
		} else {
			c.order = append(c.order, e)
		}
	}
}

// queue is all entries in the order of the queue if nobody preempts anybody. Then before is an order in which
// no two entries are equal, so that neither how they are sorted nor their order before matters.
func (c *Controller) queue() []*entry {
	if !c.sorted {
		slices.SortFunc(c.order, c.before)
		c.sorted = true
	}
	return c.order
}

// before compares two entries of the queue (sort_job_queue2): first comes the job that may preempt the other,
// then the job with a reservation, the higher PriorityTier, the higher priority, the earlier second of
// submission, the lower ID. "May preempt" is no order, since it is not transitive: with it the result depends on
// how entries are sorted. Slurm sorts with qsort, which merges halves in glibc (see mergeSort).
func (c *Controller) before(a, b *entry) int {
	switch {
	case c.mayPreempt(a, b):
		return -1
	case c.mayPreempt(b, a):
		return 1
	case (a.job.reservation != nil) != (b.job.reservation != nil):
		if a.job.reservation != nil {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.part.Tier, a.part.Tier),
		cmp.Compare(b.priority, a.priority),
		cmp.Compare(a.job.submitted/des.Second, b.job.submitted/des.Second),
		cmp.Compare(a.job.ID, b.job.ID),
		cmp.Compare(a.at, b.at),
	)
}

// mayPreempt reports whether the job of a may preempt the job of b (preempt_g_job_preempt_check): by the
// Preempt list of its QoS, or because its partition has a higher tier.
func (c *Controller) mayPreempt(a, b *entry) bool {
	return c.conf.Preempt == byQOS && a.job.qos != nil && b.job.qos != nil && slices.Contains(a.job.qos.preempts, b.job.qos.name) ||
		c.conf.Preempt == byTier && a.part.Tier > b.part.Tier
}

// mergeSort sorts by merging sorted halves, as qsort of glibc 2.36 does (Debian 12, where the recordings were
// made): the first half has len/2 elements, and the first of two that compare equal stays first. room has
// the length of all.
func mergeSort[T any](all, room []T, compare func(a, b T) int) {
	if len(all) <= 1 {
		return
	}
	half := len(all) / 2
	mergeSort(all[:half], room[:half], compare)
	mergeSort(all[half:], room[half:], compare)
	copy(room, all)
	left, right := room[:half], room[half:]
	for i := range all {
		if len(right) == 0 || len(left) > 0 && compare(left[0], right[0]) <= 0 {
			all[i], left = left[0], left[1:]
		} else {
			all[i], right = right[0], right[1:]
		}
	}
}

// leave takes all entries of the job out of the queue. The order of the others stays. What backfill found for the job goes,
// too: a controller keeps the job, and a year has millions of jobs.
func (c *Controller) leave(j *Job) {
	for _, e := range j.entries {
		c.dropShape(e)
		e.found = nil
	}
	at := slices.Index(c.pending, j.entries[0])
	if at < 0 { // it is refused as it comes
		return
	}
	c.pending = slices.Delete(c.pending, at, at+len(j.entries))
	for _, e := range j.entries {
		if at := slices.Index(c.order, e); at >= 0 {
			c.order = slices.Delete(c.order, at, at+1)
		}
		c.setCould(e, false)
	}
	c.barred -= len(j.entries)
	if !j.calm {
		c.restless = slices.DeleteFunc(c.restless, func(other *Job) bool { return other == j })
	}
	j.calm = false
}
