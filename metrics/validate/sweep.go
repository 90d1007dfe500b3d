package validate

// The replay of files for the checker, instant by instant, and what the policy could reserve for
// the head of the queue then.

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// replay tells the checker what files say of parties and of outages, instant by instant. begun is
// in the order of starts, down in the order of beginnings. After each instant, and after each of
// the instants at which something else happens, over is called.
func (c *checker) replay(begun []*party, down []outage, instants []des.Time, over func()) {
	starts := begun
	ends := slices.DeleteFunc(slices.Clone(begun), func(p *party) bool { return p.over || p.until == des.Forever })
	slices.SortStableFunc(ends, func(a, b *party) int { return cmp.Compare(a.until, b.until) })
	for {
		t := des.Forever
		if len(starts) > 0 {
			t = min(t, starts[0].start)
		}
		if len(ends) > 0 {
			t = min(t, ends[0].until)
		}
		if len(instants) > 0 {
			t = min(t, instants[0])
		}
		if len(down) > 0 {
			t = min(t, down[0].from)
		}
		if t == des.Forever {
			return
		}
		c.advance(t)
		for ; len(down) > 0 && down[0].from == t; down = down[1:] {
			c.outages = append(c.outages, &down[0])
		}
		for ; len(ends) > 0 && ends[0].until == t; ends = ends[1:] {
			c.ends(ends[0])
		}
		for ; len(starts) > 0 && starts[0].start == t; starts = starts[1:] {
			c.takes(starts[0])
		}
		c.settle()
		for len(instants) > 0 && instants[0] <= t {
			instants = instants[1:]
		}
		over()
	}
}

// replayed has the checker replay the file: all runs, in the order of their starts, with what each
// of them had. It works out what the policy could promise to the head of the queue.
func (c *fileChecker) replayed(begun []*filed) {
	if c.size <= 0 && len(c.nodes) == 0 {
		return
	}
	parties := make([]*party, len(begun))
	for i, f := range begun {
		parties[i] = c.partyOf(f)
	}
	if !c.promises.Head {
		c.replay(parties, c.withheld, nil, func() {})
		return
	}
	instants := make([]des.Time, len(c.admitted))
	for i, f := range c.admitted {
		instants[i] = f.job.Submit
	}
	for i, f := range begun {
		parties[i].estimated = f.estimatedEnd()
	}
	c.ahead = newReleases(parties)
	queue := c.admitted
	c.replay(parties, c.withheld, instants, func() {
		for ; len(queue) > 0 && queue[0].start <= c.now; queue = queue[1:] {
			c.headStarts(c.partyOf(queue[0]), queue[0].start)
		}
		if len(queue) > 0 && queue[0].job.Submit <= c.now {
			c.shadows(c.partyOf(queue[0]), c.ahead.shadow(c.now, queue[0].job.Request.Nodes-(c.size-c.busy)))
		}
	})
	if len(queue) > 0 {
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

func newReleases(parties []*party) *releases {
	r := &releases{}
	for _, p := range parties {
		r.ends = append(r.ends, p.estimated)
	}
	slices.Sort(r.ends)
	r.ends = slices.Compact(r.ends)
	r.tree = make([]int, len(r.ends)+1)
	return r
}

func (r *releases) add(p *party, nodes int) {
	at, _ := slices.BinarySearch(r.ends, p.estimated)
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
