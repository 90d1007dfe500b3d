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
// in the order of starts, down in the order of beginnings, instants ascending. over is called
// after each instant, also after each one of instants, at which something else happens.
func (c *checker) replay(begun []*party, down []outage, instants []des.Time, over func()) {
	// Phase 1: three lists, each by time, of which the fronts are merged. A party without an end,
	// or with its end at its start, has no end to tell: takes knows it.
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
		// Phase 2: one instant. Ends make room before starts take it; see the top of checker.go.
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

// replayed makes the checker replay the file: all runs, by start, with the capacity of each. If the
// head of the queue has a promise, the shadow time of the head is computed after each instant, and
// the least of these is the promised start.
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
	// The head changes by starts, its shadow time by starts and ends, and the queue by
	// submissions: nothing else has to be looked at.
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

// shadows takes in that the head p has a shadow time now. The policy may have reserved the least
// one since p became the head: a later one is no promise.
func (c *fileChecker) shadows(p *party, at des.Time) {
	switch h := &c.head; {
	case h.to != p:
		c.promised(p, at, true, moment{at: c.now})
	case at < h.bound:
		c.promised(p, at, true, h.since)
	}
}

// voided returns the void of a checker of files: whether a job ran past its estimate, or was
// corrected, while p waited for what it was promised.
func (c *fileChecker) voided(overran overrunSpans) func(*party, moment) bool {
	return func(p *party, since moment) bool { return overran.during(since.at, min(p.start, c.last)) }
}

// releases is the processors of the running jobs by estimated end: a binary indexed tree (Fenwick,
// Software: Practice and Experience 24(3), 1994) over all estimated ends of the file. add and
// shadow take O(log n).
type releases struct {
	// ends are the estimated ends of all parties. Invariant: sorted, distinct.
	ends []des.Time
	// tree[i] is the sum over ends (i - lowbit(i), i], counted from 1; tree[0] is not used.
	tree []int
}

// newReleases returns the tree over the estimated ends of the parties, none of which runs.
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

// add adds nodes, which may be below 0, at the estimated end of p.
func (r *releases) add(p *party, nodes int) {
	at, _ := slices.BinarySearch(r.ends, p.estimated)
	for i := at + 1; i < len(r.tree); i += i & -i {
		r.tree[i] += nodes
	}
}

// shadow returns the earliest instant from now on at which, by the estimates, the running jobs
// have given back the needed number of processors: now if none are needed, Forever if they never
// will. No running job may be past its estimate.
func (r *releases) shadow(now des.Time, needed int) des.Time {
	if needed <= 0 {
		return now
	}
	// Binary descent: at is the largest index whose prefix sum is below needed.
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

// overrunSpans are the spans during which jobs were past their estimates, or ran that were
// corrected. Invariant: by from; to is the latest end of all spans up to this one.
type overrunSpans []struct{ from, to des.Time }

// overruns finds the spans. A file does not tell when a job was corrected: its whole run counts.
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

// during reports whether any of the spans meets [from, to]. Of those that begin by to, the last
// one knows the latest end.
func (s overrunSpans) during(from, to des.Time) bool {
	n, _ := slices.BinarySearchFunc(s, to+1, func(span struct{ from, to des.Time }, t des.Time) int { return cmp.Compare(span.from, t) })
	return n > 0 && s[n-1].to >= from
}
