package validate

// What is checked instant by instant: capacity, and the promise to the head of
// the queue.

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// sweep goes through the instants in order: capacity, and the promise to the
// head of the queue.
func (c *fileChecker) sweep() {
	if c.Processors <= 0 {
		return
	}
	starts := c.begun()
	ends := slices.DeleteFunc(slices.Clone(starts), func(f *filed) bool { return f.finish == f.start || !f.ended() })
	slices.SortStableFunc(ends, func(a, b *filed) int { return cmp.Compare(a.finish, b.finish) })
	queue, submitted := c.admitted, c.admitted
	ahead := newReleases(starts)
	head := headOfFile{overran: c.overruns()}
	down := c.changes()
	for free, spare := c.Processors, c.most(); ; { // spare: that may be busy besides
		t := des.Forever
		if len(starts) > 0 {
			t = min(t, starts[0].start)
		}
		if len(ends) > 0 {
			t = min(t, ends[0].finish)
		}
		if len(submitted) > 0 {
			t = min(t, submitted[0].job.Submit)
		}
		if len(down) > 0 {
			t = min(t, down[0].at)
		}
		if t == des.Forever {
			break
		}
		lost, gone := 0, 0 // at this instant, with and without what comes back
		for ; len(down) > 0 && down[0].at == t; down = down[1:] {
			lost += down[0].processors
			gone += max(down[0].processors, 0)
			free -= down[0].processors
		}
		for ; len(ends) > 0 && ends[0].finish == t; ends = ends[1:] {
			free += ends[0].job.Request.Nodes
			spare += ends[0].job.Request.Nodes
			ahead.add(ends[0], -ends[0].job.Request.Nodes)
		}
		if lost > 0 && free < 0 {
			c.report.add(c.Limit, OnWhatIsDown, t, -1, "%d processors go out of service, and jobs have %d too many", lost, -free)
		}
		for ; len(starts) > 0 && starts[0].start == t; starts = starts[1:] {
			f := starts[0]
			left := free - f.job.Request.Nodes
			if f.finish == f.start {
				left += gone // it may have been there first, and on what came back
			}
			if left < 0 && !f.empty() {
				c.violation(f, OverCapacity, t, "started on %d processors; %d of %d are free", f.job.Request.Nodes, max(free, 0), c.Processors)
			}
			if c.Busy != nil && f.job.Request.Nodes > spare && !f.empty() {
				c.violation(f, OverCapacity, t, "started on %d processors; %d of %d may be busy besides", f.job.Request.Nodes, max(spare, 0), c.most())
			}
			if f.finish > f.start {
				free = left
				spare -= f.job.Request.Nodes
				ahead.add(f, f.job.Request.Nodes)
			}
		}
		for len(submitted) > 0 && submitted[0].job.Submit <= t {
			submitted = submitted[1:]
		}
		if !c.Head {
			continue
		}
		for ; len(queue) > 0 && queue[0].start <= t; queue = queue[1:] {
			c.headStarts(&head, queue[0], queue[0].start)
		}
		if len(queue) > 0 && queue[0].job.Submit <= t {
			head.look(t, queue[0], ahead.shadow(t, queue[0].job.Request.Nodes-free))
		}
	}
	if c.Head && len(queue) > 0 {
		c.headStarts(&head, queue[0], c.last) // not before the run was stopped
	}
}

// change is one of the processors that are out of service.
type change struct {
	at         des.Time
	processors int
}

// changes are those of the counted processors, in order of time.
func (c *fileChecker) changes() (all []change) {
	for _, o := range c.down {
		all = append(all, change{o.from, o.processors}, change{o.to, -o.processors})
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return all
}

// headOfFile is the first waiting job and the least shadow time it has had.
type headOfFile struct {
	job     *filed
	since   des.Time // when it became the head
	bound   des.Time
	overran overrunSpans
}

func (h *headOfFile) look(now des.Time, f *filed, shadow des.Time) {
	if h.job != f {
		h.job, h.since, h.bound = f, now, shadow
	}
	h.bound = min(h.bound, shadow)
}

func (c *fileChecker) headStarts(h *headOfFile, f *filed, at des.Time) {
	if h.job == f && at > decided(c.Wakes, h.bound) && !h.overran.during(h.since, at) {
		c.violation(f, HeadDelayed, at, "the head of the queue, not started by its shadow time %v", h.bound)
	}
}

// releases is the processors of the running jobs by estimated end: a binary
// indexed tree (Fenwick, Software: Practice and Experience 24(3), 1994) over
// all estimated ends of the file.
type releases struct {
	ends []des.Time // sorted, distinct
	tree []int      // from 1
}

func newReleases(jobs []*filed) releases {
	var r releases
	for _, f := range jobs {
		r.ends = append(r.ends, f.estimatedEnd())
	}
	slices.Sort(r.ends)
	r.ends = slices.Compact(r.ends)
	r.tree = make([]int, len(r.ends)+1)
	return r
}

func (r *releases) add(f *filed, nodes int) {
	at, _ := slices.BinarySearch(r.ends, f.estimatedEnd())
	for i := at + 1; i < len(r.tree); i += i & -i {
		r.tree[i] += nodes
	}
}

// shadow is the earliest instant from now on at which, by the estimates, the
// running jobs have given back so many processors: now where none are needed,
// Forever where they never will. No running job may be past its estimate.
func (r *releases) shadow(now des.Time, needed int) des.Time {
	if needed <= 0 {
		return now
	}
	at := 0
	for step := 1 << 30; step > 0; step >>= 1 {
		if next := at + step; next < len(r.tree) && r.tree[next] < needed {
			at = next
			needed -= r.tree[next]
		}
	}
	if at == len(r.ends) {
		return des.Forever
	}
	return r.ends[at]
}

// overrunSpans are the spans during which jobs were past their estimates, or ran that
// were corrected.
type overrunSpans []struct{ from, to des.Time } // by from; to is the latest of those up to here

func (c *fileChecker) overruns() overrunSpans {
	var spans overrunSpans
	for _, f := range c.admitted {
		switch {
		case !f.began():
		case f.corrections.value > 0:
			spans = append(spans, struct{ from, to des.Time }{f.start, f.finish})
		case f.job.Runtime > f.job.Request.Length && c.Overrun == entity.OverrunExtend:
			spans = append(spans, struct{ from, to des.Time }{f.estimatedEnd(), f.finish})
		}
	}
	slices.SortFunc(spans, func(a, b struct{ from, to des.Time }) int { return cmp.Compare(a.from, b.from) })
	for i := range spans[min(1, len(spans)):] {
		spans[i+1].to = max(spans[i+1].to, spans[i].to)
	}
	return spans
}

// during reports whether any of them meets [from, to].
func (s overrunSpans) during(from, to des.Time) bool {
	n, _ := slices.BinarySearchFunc(s, to+1, func(span struct{ from, to des.Time }, t des.Time) int { return cmp.Compare(span.from, t) })
	return n > 0 && s[n-1].to >= from
}
