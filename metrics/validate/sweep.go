package validate

// The replay of a file for the checker, instant by instant, and what the policy could reserve for
// the head of the queue then.

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// replay tells the checker what the file says, instant by instant. begun are all runs, in the
// order of their starts, with what each of them had.
func (c *fileChecker) replay(begun []*filed) {
	if c.size <= 0 && len(c.nodes) == 0 {
		return
	}
	starts := begun
	ends := slices.DeleteFunc(slices.Clone(starts), func(f *filed) bool { return f.finish == f.start || !f.ended() })
	slices.SortStableFunc(ends, func(a, b *filed) int { return cmp.Compare(a.finish, b.finish) })
	queue, submitted, down := c.admitted, c.admitted, c.withheld
	ahead := newReleases(starts)
	for {
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
			t = min(t, down[0].from)
		}
		if t == des.Forever {
			break
		}
		c.advance(t)
		for ; len(down) > 0 && down[0].from == t; down = down[1:] {
			c.outages = append(c.outages, &down[0])
		}
		for ; len(ends) > 0 && ends[0].finish == t; ends = ends[1:] {
			c.ends(ends[0].party)
			ahead.add(ends[0], -ends[0].job.Request.Nodes)
		}
		for ; len(starts) > 0 && starts[0].start == t; starts = starts[1:] {
			c.takes(starts[0].party)
			if f := starts[0]; f.finish > f.start {
				ahead.add(f, f.job.Request.Nodes)
			}
		}
		c.settle()
		for len(submitted) > 0 && submitted[0].job.Submit <= t {
			submitted = submitted[1:]
		}
		if !c.promises.Head {
			continue
		}
		for ; len(queue) > 0 && queue[0].start <= t; queue = queue[1:] {
			c.headStarts(c.partyOf(queue[0]), queue[0].start)
		}
		if len(queue) > 0 && queue[0].job.Submit <= t {
			c.shadows(c.partyOf(queue[0]), ahead.shadow(t, queue[0].job.Request.Nodes-(c.size-c.busy)))
		}
	}
	if c.promises.Head && len(queue) > 0 {
		c.headStarts(c.partyOf(queue[0]), c.last) // not before the run was stopped
	}
}

// shadows takes in that p, the head of the queue, has a shadow time. The policy may have
// reserved the least one that there has been since p became the head.
func (c *fileChecker) shadows(p *party, at des.Time) {
	switch h := &c.head; {
	case h.to != p:
		c.promised(p, at, true, moment{at: c.now})
	case at < h.bound:
		c.promised(p, at, true, h.since)
	}
}

// voided reports whether a job ran past its estimate, or was corrected, while p waited for what
// it was promised then.
func (c *fileChecker) voided(overran overrunSpans) func(*party, moment) bool {
	return func(p *party, since moment) bool { return overran.during(since.at, min(p.start, c.last)) }
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
