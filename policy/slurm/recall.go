package slurm

import (
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Most of what a run of backfill finds is what the last run found: a few jobs have started or ended, on a few nodes, and most
// jobs that wait look at others. So a run keeps for each entry of the queue what was found for it, and what that depends on:
// plans of entries before it, jobs that run on the nodes it looked at, and the time. The next run recalls what still holds.

// finding is where and when a run of backfill would have a job start.
type finding struct {
	begins   int64   // the second, of the host's clock; 0: there is none
	nodes    nodeSet // that the job would have
	among    nodeSet // that these were chosen from
	later    int64   // the next second from which there may be other nodes; 0: there is none
	estimate int64   // the last second that a look saw the job start at before it came to look elsewhere; 0: it never came to that
	begin    int64   // of the plan, in whole steps of the table's resolution
	end      int64
	tested   bool // nodes were looked for, which bf_max_job_test counts
	changed  bool // it noted a change
	reckoned int  // see Job.reckoned; 0: no look saw the job start

	// What the finding depends on:
	lasts   bool     // it depends on nothing else
	run     int64    // in which it was found or recalled: see trail
	nowOnly bool     // it was asked for a start at once
	limit   des.Time // of the job
	until   int64    // the first second at which it may not hold any more
	looked  nodeSet  // nodes of whose jobs and free CPUs it makes use
	gaps    []gap    // in which no other job ended
	moves   int      // how many moves of jobs there had been
	passed  int64    // it did not look at nodes of which too few are free up to this second, of all that could be the job's
	before  int      // how many plans its run had made before it
}

// newFinding is room for what is found for an entry.
func newFinding(nodes int) *finding {
	return &finding{nodes: newNodeSet(nodes), among: newNodeSet(nodes), looked: newNodeSet(nodes)}
}

// trail is what a run of backfill leaves for the next one to recall. How the table is cut depends on all plans, on whatever nodes: what an
// entry finds there is the same only where the run has made the plans that the last run had made before it.
type trail struct {
	run   int64  // the present one's number; where nothing of the last run may be recalled, it is two more than the last one's
	same  bool   // this run has made the plans so far that the last one made
	plans []plan // of the last run, in their order
	made  []plan // of this run
	sets  [2]spareSets
	ended int64 // the end of the last run's table,
	ends  int64 // and of this one's: what is planned up to the end leaves nothing behind it

	up     nodeSet
	booked int
	moves  []move
	moved  int // how many moves there were before these
	recent int // of moves, those before the present run
}

// plan is what a run of backfill has planned.
type plan struct {
	begin, end int64 // seconds of the host's clock
	needs      need
}

func (p *plan) equal(other *plan) bool {
	return p.begin == other.begin && p.end == other.end && p.needs.nodes.equal(other.needs.nodes)
}

// move is that a job has started or ended.
type move struct {
	nodes nodeSet // that it has or had
	ends  int64   // the second of its limit
}

// note notes that a job has started or ended.
func (t *trail) note(nodes nodeSet, ends int64) {
	if len(t.moves) >= 1000 { // nobody comes to look at them
		t.forget()
	}
	t.moves = append(t.moves, move{nodes, ends})
}

// count is how many moves there have been.
func (t *trail) count() int { return t.moved + len(t.moves) }

// bearsOn reports whether what was found when there had been so many moves may be different since: jobs have started or ended on the nodes that were looked
// at, or within gaps.
func (t *trail) bearsOn(moves int, looked nodeSet, gaps []gap) bool {
	if moves < t.moved {
		return true
	}
	return slices.ContainsFunc(t.moves[moves-t.moved:], func(m move) bool {
		return m.nodes.meets(looked) || slices.ContainsFunc(gaps, func(g gap) bool { return g.from <= m.ends && m.ends <= g.to })
	})
}

// begin begins a run whose table ends at a second. Nothing of the last run holds where nodes have come or gone since, or reservations.
func (t *trail) begin(c *Controller, ends int64) {
	if t.run++; !slices.Equal(t.up, c.up) || t.booked != c.booked || c.forgetful {
		t.forget()
		t.up, t.booked = append(t.up[:0], c.up...), c.booked
	}
	t.plans, t.made = t.made, t.plans[:0]
	t.sets[0], t.sets[1] = t.sets[1], t.sets[0]
	t.sets[0].nodes = len(c.conf.Nodes)
	t.sets[0].back(0)
	t.same, t.ended, t.ends = true, t.ends, ends
	t.moved += t.recent
	t.moves = append(t.moves[:0], t.moves[t.recent:]...)
	t.recent = len(t.moves)
}

// forget has nothing hold that was found before.
func (t *trail) forget() {
	t.run++
	t.moved, t.moves, t.recent = t.count()+1, t.moves[:0], 0
}

// make notes that the run has planned something.
func (t *trail) make(begin, end int64, needs need) {
	needs.nodes = t.sets[0].clone(needs.nodes)
	t.made = append(t.made, plan{begin, end, needs})
	if k := len(t.made) - 1; t.same && (k == len(t.plans) || !t.plans[k].equal(&t.made[k]) || t.ended != t.ends && end >= t.ended) {
		t.same = false
	}
}

// recall reports whether what the last run found for e holds in this run, and does what finding it anew would do beside.
func (r *backfillRun) recall(e *entry, nowOnly bool) bool {
	c, j, f := r.c, e.job, e.found
	t := &c.backfill.trail
	if !t.same || f.run != t.run-1 || f.before != len(t.made) || !f.lasts || f.nowOnly != nowOnly || f.limit != j.Limit || r.second >= f.until || len(r.blocked) > 0 ||
		f.looked.meets(c.odd) || t.bearsOn(f.moves, f.looked, f.gaps) {
		return false
	}
	if f.passed > 0 && c.soonestIn(e) <= f.passed {
		return false
	}
	f.run, f.moves = t.run, t.count()
	if f.begins > 0 {
		f.begins = max(f.begins, r.second) // that now is later
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

// remember finds where and when the job of e would start, and notes how long that holds: not for ever where it depends on whom the job
// may preempt, on what GPUs weigh, on licences or a reservation of its own.
func (r *backfillRun) remember(e *entry, nowOnly bool) {
	c, j, f := r.c, e.job, e.found
	until := r.until
	r.until = never
	f.tested, f.changed, f.estimate, f.reckoned, f.passed = false, false, 0, 0, 0
	clear(f.looked)
	f.gaps = f.gaps[:0]
	f.nowOnly, f.limit, f.before = nowOnly, j.Limit, len(c.backfill.trail.made)
	r.find(e, max(r.second, r.blocked[j.qos]), nowOnly)
	f.until, f.run, f.moves = r.until, c.backfill.trail.run, c.backfill.trail.count()
	f.lasts = !c.forgetful && len(j.GRES) == 0 && (len(j.Licenses) == 0 || len(c.reserved) == 0) && j.reservation == nil && c.preemptorOf(e).part == nil && !c.conf.Schedule.Licenses &&
		len(r.blocked) == 0 && !f.looked.meets(c.odd)
	r.until = min(until, f.until)
}
