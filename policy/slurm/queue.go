package slurm

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// runnable is the part of the queue that could start at now, as far as the jobs themselves say.
func (c *Controller) runnable(now des.Time) []*entry {
	var all []*entry
	for _, e := range c.queue() {
		if c.eligible(e, now) {
			if e.job.accrued == 0 {
				e.job.accrued = now
			}
			all = append(all, e)
		}
	}
	return all
}

// enter puts a job into the queue.
func (c *Controller) enter(j *Job) {
	c.count(j, 1, false)
	c.pending = append(c.pending, j.entries...)
	slices.SortStableFunc(c.pending, func(a, b *entry) int { return cmp.Compare(a.job.ID, b.job.ID) })
	c.sorted = false
}

// queue is the queue in its order: who preempts the other, who has a reservation, the tier, the
// priority, submission, number. "Preempts" is no order: what comes of it depends on the sorting,
// which merges halves, as that of Slurm's host does.
func (c *Controller) queue() []*entry {
	if !c.sorted {
		c.order = mergeSort(slices.Clone(c.pending), c.before)
		c.sorted = true
	}
	return c.order
}

// before compares two entries of the queue.
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
	)
}

// mayPreempt reports whether a's job may preempt that of b.
func (c *Controller) mayPreempt(a, b *entry) bool {
	return c.conf.Preempt == "qos" && a.job.qos != nil && b.job.qos != nil && slices.Contains(a.job.qos.preempts, b.job.qos.name) ||
		c.conf.Preempt == "partition_prio" && a.part.Tier > b.part.Tier
}

// mergeSort sorts by merging sorted halves; the first of two that compare equal stays first.
func mergeSort[T any](all []T, compare func(a, b T) int) []T {
	if len(all) <= 1 {
		return all
	}
	left, right := mergeSort(all[:len(all)/2], compare), mergeSort(all[len(all)/2:], compare)
	merged := make([]T, 0, len(all))
	for len(left) > 0 && len(right) > 0 {
		if compare(left[0], right[0]) <= 0 {
			merged, left = append(merged, left[0]), left[1:]
		} else {
			merged, right = append(merged, right[0]), right[1:]
		}
	}
	return append(append(merged, left...), right...)
}

// leave takes the job out of the queue.
func (c *Controller) leave(j *Job) {
	mine := func(e *entry) bool { return e.job == j }
	c.pending = slices.DeleteFunc(c.pending, mine)
	c.order = slices.DeleteFunc(c.order, mine)
}
