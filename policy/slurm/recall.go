package slurm

import (
	"slices"

	"github.com/gridslot/gridslot/des"
)

// A run of backfill mostly finds what the last run found. Between two runs a few jobs start or end, on a
// few nodes, and most of the waiting jobs look at other nodes. So a run keeps for each entry of the queue
// what it found, and what the finding depends on: the plans of the entries before it, the jobs that run
// on the nodes it looked at, and the time. The next run recalls the findings that still hold.

// finding is the answer of backfill's search for an entry: the nodes and the second of the job's start, and what
// this answer depends on.
type finding struct {
	begins   int64   // the second of the start, of the host's clock; 0: the job would not start
	nodes    nodeSet // nodes that the job would have
	among    nodeSet // nodes from which these were chosen
	later    int64   // the next second from which the job may have other nodes; 0: no such second is known
	estimate int64   // the start of the last look that succeeded before the search went on elsewhere; 0: none did
	begin    int64   // the plan's begin, in whole steps of the table's resolution
	end      int64   // the plan's end
	tested   bool    // nodes were looked for, which bf_max_job_test counts
	changed  bool    // the search noted a change
	reckoned int     // see Job.reckoned; 0: no look saw the job start

	// What the finding depends on:
	lasts   bool     // the finding depends on nothing but the fields below, so that it may be recalled
	run     int64    // number of the run that found or recalled it: see trail
	nowOnly bool     // only a start at once was asked for
	limit   des.Time // limit of the job
	until   int64    // the first second at which the finding may not hold any more
	looked  nodeSet  // nodes whose jobs and free CPUs the search made use of
	gaps    []gap    // spans of time in which no other job ended
	moves   int      // number of moves of jobs before it
	passed  int64    // up to this second too few of all nodes that suit the job are free: no look was made
	before  int      // number of plans that its run had made before it
}

// newFinding makes room for what is found for an entry.
func newFinding(nodes int) *finding {
	return &finding{nodes: newNodeSet(nodes), among: newNodeSet(nodes), looked: newNodeSet(nodes)}
}

// trail is the record by which a run of backfill tells which findings of the last run still hold: the plans of
// both runs, and the starts and ends of jobs since. Every plan cuts the table, on whatever nodes it is. So a
// finding can hold only if this run has made the same plans before the entry as the last run.
type trail struct {
	run   int64        // number of the present run: one more than the last run's, or two more if nothing may be recalled
	same  bool         // this run has made the same plans so far as the last run
	plans []plan       // plans of the last run, in their order
	made  []plan       // plans of this run, in their order
	sets  [2]spareSets // room for the nodes of this run's plans, and of the last run's
	ended int64        // second of the end of the last run's table
	ends  int64        // second of the end of this run's table: a plan up to there leaves no cut behind it

	up     nodeSet // nodes that were up in the last run
	booked int     // count of changes of reservations before it
	moves  []move  // since the last run began
	moved  int     // number of moves before these
	recent int     // how many of moves came before the present run
}

// plan is a span of time for which a run of backfill keeps nodes and licences for a job that waits or runs.
type plan struct {
	begin, end int64 // seconds of the host's clock
	needs      need
}

// equal reports whether two plans keep the same nodes for the same time. It need not compare licences: where
// backfill plans licences, no finding is recalled (see remember).
func (p *plan) equal(other *plan) bool {
	return p.begin == other.begin && p.end == other.end && p.needs.nodes.equal(other.needs.nodes)
}

// move is the start or the end of a job.
type move struct {
	nodes nodeSet // nodes of the job
	ends  int64   // second at which its limit ends it
}

// note notes that a job has started or ended.
func (t *trail) note(nodes nodeSet, ends int64) {
	if len(t.moves) >= 1000 { // nobody comes to look at them
		t.forget()
	}
	t.moves = append(t.moves, move{nodes, ends})
}

// count is the number of all moves so far.
func (t *trail) count() int { return t.moved + len(t.moves) }

// bearsOn reports whether a move after the first moves of all may change a finding: a job has started or
// ended on the nodes that were looked at, or a limit that ends within one of the gaps.
func (t *trail) bearsOn(moves int, looked nodeSet, gaps []gap) bool {
	if moves < t.moved {
		return true
	}
	return slices.ContainsFunc(t.moves[moves-t.moved:], func(m move) bool {
		return m.nodes.meets(looked) || slices.ContainsFunc(gaps, func(g gap) bool { return g.from <= m.ends && m.ends <= g.to })
	})
}

// begin begins a run whose table ends at the second ends. Nothing of the last run holds if nodes or
// reservations have come or gone since.
func (t *trail) begin(c *Controller, ends int64) {
	if t.run++; !slices.Equal(t.up, c.up) || t.booked != c.booked || c.forgetful {
		t.forget()
		t.up, t.booked = append(t.up[:0], c.up...), c.booked
	}
	// The plans of the last run become the plans to compare with, and this run has made none yet.
	t.plans, t.made = t.made, t.plans[:0]
	t.sets[0], t.sets[1] = t.sets[1], t.sets[0]
	t.sets[0].nodes = len(c.conf.Nodes)
	t.sets[0].back(0)
	t.same, t.ended, t.ends = true, t.ends, ends
	// Findings of the last run were made after its beginning, so moves before that are no longer needed.
	t.moved += t.recent
	t.moves = append(t.moves[:0], t.moves[t.recent:]...)
	t.recent = len(t.moves)
}

// forget makes all findings so far invalid.
func (t *trail) forget() {
	t.run++
	t.moved, t.moves, t.recent = t.count()+1, t.moves[:0], 0
}

// make notes a plan of the run.
func (t *trail) make(begin, end int64, needs need) {
	needs.nodes = t.sets[0].clone(needs.nodes)
	t.made = append(t.made, plan{begin, end, needs})
	// Both runs must have made the same plan as their k-th. A plan up to the end of the last run's table made no
	// cut there. In a table with another end it may make one, so that it does not count as the same.
	if k := len(t.made) - 1; t.same && (k == len(t.plans) || !t.plans[k].equal(&t.made[k]) || t.ended != t.ends && end >= t.ended) {
		t.same = false
	}
}

// holds reports whether the last run's finding for e holds in this run.
func (r *backfillRun) holds(e *entry, nowOnly bool) bool {
	c, f := r.c, e.found
	t := &c.backfill.trail
	switch {
	// The last run must have found or recalled it, with the same plans ahead, and must have been asked the same.
	// On the nodes that the search looked at, no job may have started or ended and no weight be unusual.
	case !f.lasts || f.run != t.run-1:
		return false
	case !t.same || f.before != len(t.made): // the table is cut elsewhere
		return false
	case f.nowOnly != nowOnly || f.limit != e.job.Limit || r.second >= f.until || len(r.blocked) > 0:
		return false
	case f.looked.meets(c.odd) || t.bearsOn(f.moves, f.looked, f.gaps):
		return false
	}
	// Up to the second passed the search made no look, for too few CPUs are free until then: that must still be
	// so.
	return f.passed == 0 || c.soonestIn(e) > f.passed
}

// recall reports whether the last run's finding for e holds in this run. If so, it has the other effects that a
// new search would have: it counts the test, and notes the change and the expiry.
func (r *backfillRun) recall(e *entry, nowOnly bool) bool {
	if !r.holds(e, nowOnly) {
		return false
	}
	c, j, f := r.c, e.job, e.found
	t := &c.backfill.trail
	f.run, f.moves = t.run, t.count()
	if f.begins > 0 {
		// A start that was to be at once is at once again, though the second is a later one.
		f.begins = max(f.begins, r.second)
	}
	if f.tested {
		r.tests++
	}
	if f.changed {
		c.changed(r.now)
	}
	if f.reckoned > 0 {
		j.reckoned = f.reckoned
	}
	r.expires(f.until)
	return true
}

// remember finds where and when the job of e would start, and notes what that depends on. A finding that
// depends on more than a trail knows is not recalled: on jobs that may be preempted, the weights of GPUs,
// licences, or a reservation of the job's own.
func (r *backfillRun) remember(e *entry, nowOnly bool) {
	c, j, f := r.c, e.job, e.found
	// During the search r.until gathers the expiry of this finding alone. It joins the run's expiry at the end.
	until := r.until
	r.until = never
	f.tested, f.changed, f.estimate, f.reckoned, f.passed = false, false, 0, 0, 0
	clear(f.looked)
	f.gaps = f.gaps[:0]
	f.nowOnly, f.limit, f.before = nowOnly, j.Limit, len(c.backfill.trail.made)
	r.find(e, max(r.second, r.blocked[j.qos]), nowOnly)
	f.until, f.run, f.moves = r.until, c.backfill.trail.run, c.backfill.trail.count()
	plain := len(j.GRES) == 0 && j.reservation == nil && c.preemptorOf(e).part == nil &&
		!c.conf.Schedule.Licenses && (len(j.Licenses) == 0 || len(c.reserved) == 0)
	f.lasts = plain && !c.forgetful && len(r.blocked) == 0 && !f.looked.meets(c.odd)
	r.until = min(until, f.until)
}
