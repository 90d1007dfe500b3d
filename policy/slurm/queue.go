package slurm

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// runnable is the queue of what could start at now, as far as the jobs themselves and the limits of
// partitions say. That a job waits for another reason than before is a change; so is each partition of
// a job whose limits it is beyond while those of another it is not.
func (c *Controller) runnable(now des.Time) []*entry {
	for _, e := range c.pending {
		e.could = false
	}
	for j := range c.waiting {
		if j.shutOut {
			continue
		}
		c.growOlder(j, now)
		if !j.reason.passing() && j.reason != j.told {
			j.told = j.reason
			c.changed(now)
		}
		j.preempting = false
		independent := c.independent(j, now)
		switch {
		case j.state != pending: // its dependency is never met
			continue
		case j.Held:
			if j.reason != JobHeld && j.reason != HeldByController && j.reason != ReservationDeleted && j.reason != BadConstraints {
				j.reason = HeldByController
				c.changed(now)
			}
			continue
		case !independent:
			if j.reason == JobHeld || j.reason == HeldByController {
				j.reason = WaitsForDependency
				c.changed(now)
			}
			continue
		}
		for _, e := range j.entries {
			limit := c.beyondPartition(j, e.part)
			j.part = e.part
			if limit != j.reason && (limit != "" || j.reason.ofPartition()) {
				if j.reason = limit; limit == "" {
					j.reason = NoReason
				}
				c.changed(now)
			}
			e.could = limit == ""
		}
		e := j.entries[0]
		j.shutOut = len(j.entries) == 1 && !e.could && j.accrued > 0 && j.reason == j.told && len(j.After) == 0 && j.reservation == nil && !c.forgetful
	}
	from := c.pending
	if c.conf.Preempt == "" {
		from = c.queue()
	}
	all := c.could[:0]
	for _, e := range from {
		if e.could {
			all = append(all, e)
		}
	}
	if c.could = all; c.conf.Preempt == "" {
		return all
	}
	if !c.sorted || !slices.Equal(all, c.unmerged) || c.forgetful {
		c.unmerged = append(c.unmerged[:0], all...)
		c.merged = append(c.merged[:0], all...)
		c.roomToMerge = slices.Grow(c.roomToMerge[:0], len(all))
		mergeSort(c.merged, c.roomToMerge[:len(all)], c.before)
		c.sorted = true
	}
	return c.merged
}

// waiting yields the jobs that wait, in the order of their numbers.
func (c *Controller) waiting(yield func(*Job) bool) {
	var last *Job
	all := append(c.roomToWait[:0], c.pending...) // jobs may leave meanwhile
	c.roomToWait = nil                            // who looks at them meanwhile takes other room
	defer func() { c.roomToWait = all }()
	for _, e := range all {
		if e.job != last && e.job.state == pending && !yield(e.job) {
			return
		}
		last = e.job
	}
}

// growOlder has the job's age count from when it could start, or from now on where it had to wait for
// others of its groups to do so (GrpJobsAccrue).
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
		if limited = g.accruing > 0; limited {
			if g.aging >= g.accruing {
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

// ageNoMore has the job's age count no longer.
func (c *Controller) ageNoMore(j *Job) {
	if j.accrued > 0 && c.conf.Enforce.Limits {
		j.accrued = 0
		for g := range j.groups {
			g.aging--
		}
	}
}

// enter puts a job into the queue.
func (c *Controller) enter(j *Job) {
	c.count(j, 1, false)
	at, _ := slices.BinarySearchFunc(c.pending, j.ID, func(e *entry, id int) int { return cmp.Compare(e.job.ID, id) })
	c.pending = slices.Insert(c.pending, at, j.entries...)
	for i, e := range j.entries {
		e.at = i
		if c.conf.Preempt != "" { // the queue is sorted from the order of submission
			c.sorted = false
			continue
		}
		if c.sorted {
			at, _ := slices.BinarySearchFunc(c.order, e, c.before)
			c.order = slices.Insert(c.order, at, e)
		} else {
			c.order = append(c.order, e)
		}
	}
}

// queue is the queue in its order where nobody preempts anybody. That is an order in which no two entries
// are equal, so neither how it is sorted nor in which order it was before makes a difference.
func (c *Controller) queue() []*entry {
	if !c.sorted {
		slices.SortFunc(c.order, c.before)
		c.sorted = true
	}
	return c.order
}

// before compares two entries of the queue: who preempts the other, who has a reservation, the tier, the
// priority, submission, number. "Preempts" is no order: what comes of it depends on the sorting, which
// merges halves, as that of Slurm's host does.
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

// mayPreempt reports whether a's job may preempt that of b.
func (c *Controller) mayPreempt(a, b *entry) bool {
	return c.conf.Preempt == byQOS && a.job.qos != nil && b.job.qos != nil && slices.Contains(a.job.qos.preempts, b.job.qos.name) ||
		c.conf.Preempt == byTier && a.part.Tier > b.part.Tier
}

// mergeSort sorts by merging sorted halves; the first of two that compare equal stays first. It needs room for as many.
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

// leave takes the job out of the queue.
func (c *Controller) leave(j *Job) {
	mine := func(e *entry) bool { return e.job == j }
	for _, e := range j.entries {
		c.dropShape(e)
	}
	c.pending = slices.DeleteFunc(c.pending, mine)
	c.order = slices.DeleteFunc(c.order, mine)
}
