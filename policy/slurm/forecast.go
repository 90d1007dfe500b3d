package slurm

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// The look into the future: when and where a job would start were nobody else to come.

// forecast is the result of a look into the future for a shape among some nodes.
type forecast struct {
	among    nodeSet // nodes to choose from
	by       preemptor
	nodes    nodeSet // that the job would have; nil: a job would not start at all, or, unless looked, not at once
	room     nodeSet // for nodes
	chosen   choice  // what is taken of them; of those that the job would have at once, in their order
	atOnce   bool
	last     *Job   // unless atOnce: the job that ends last of those that have to
	ends     int64  // the second of its limit
	seen     bool   // a look has been made, at the present at least
	looked   bool   // beyond the present
	reckoned int    // see Job.reckoned
	weighed  uint64 // how often weights of nodes had changed when it began
	usual    bool   // its nodes weighed what they usually do then
	era      uint64 // in which it began
	moves    int    // how many moves of jobs there had been: see trail
	gaps     []gap  // that decide where its windows end
}

// gap is a time from the end of a job that is taken away to the next end of any job, in seconds, both included. Where a window ends depends on
// which job ends next: a job without a part in the nodes bears on a look only where it ends within such a gap.
type gap struct{ from, to int64 }

// forecasts are the forecasts of a shape. A forecast depends on the nodes to choose from, on the shape, on whom
// the job may preempt, on what runs where and until when, and on the weights of nodes; the time goes into it only
// at the end, where a limit that has passed is taken for the next second. So a forecast holds as long as no job
// that bears on it has started or ended and its nodes have the same weights.
type forecasts struct {
	idle bool // nothing runs: they hold for ever
	all  []forecast
	sums []uint64 // by position in all: nodeSet.sum of forecast.among, which tells most sets apart without a look at them
}

// among returns the forecast of a preemptor for jobs of the shape among some nodes at present. If no forecast
// is known yet, it returns a new one that has only the preemptor and the nodes.
func (c *Controller) among(s *shape, f *forecasts, nodes nodeSet, by preemptor) (at *forecast, known bool) {
	const most = 64 // that are kept
	sum := nodes.sum()
	for i := range f.all {
		at := &f.all[i]
		if f.sums[i] != sum || at.by != by || !at.among.equal(nodes) {
			continue
		}
		if !f.idle && c.stale(at) || at.weighed != c.weighed && !(at.usual && c.weighUsually(s, nodes)) {
			c.begin(at, s, nodes, by)
			return at, false
		}
		return at, true
	}
	switch {
	case len(f.all) == most:
		f.all = f.all[:1]
	case len(f.all) < cap(f.all):
		f.all = f.all[:len(f.all)+1] // one whose room can be used again
	default:
		f.all = append(f.all, forecast{})
	}
	last := len(f.all) - 1
	f.sums = append(f.sums[:last], sum)
	at = &f.all[last]
	c.begin(at, s, nodes, by)
	return at, false
}

// stale reports whether a job that has started or ended since bears on the forecast.
func (c *Controller) stale(f *forecast) bool {
	if f.by.part != nil { // any job may be its victim
		return f.era != c.era
	}
	if c.backfill.trail.bearsOn(f.moves, f.among, f.gaps) {
		return true
	}
	f.moves = c.backfill.trail.count()
	return false
}

// begin makes a forecast one of which nothing is known yet.
func (c *Controller) begin(f *forecast, s *shape, nodes nodeSet, by preemptor) {
	room := f.nodes
	if room == nil {
		room = f.room
	}
	*f = forecast{among: append(f.among[:0], nodes...), by: by, room: room, chosen: f.chosen[:0], gaps: f.gaps[:0], era: c.era, moves: c.backfill.trail.count(), weighed: c.weighed, usual: c.weighUsually(s, nodes)}
}

// weighUsually reports whether looks for jobs of the shape among nodes see these weigh what slurm.conf says, and do not change that, as those for
// devices do.
func (c *Controller) weighUsually(s *shape, nodes nodeSet) bool {
	return len(s.gres) == 0 && !nodes.meets(c.odd)
}

// forecastOf is the forecast for the job of e among some nodes; with nowOnly one that goes no further
// than the present is enough.
func (c *Controller) forecastOf(e *entry, among nodeSet, now int64, nowOnly bool) *forecast {
	return c.forecastFor(e, c.preemptorOf(e), among, now, nowOnly)
}

// forecastFor is forecastOf for a job that preempts others as the preemptor says.
func (c *Controller) forecastFor(e *entry, by preemptor, among nodeSet, now int64, nowOnly bool) *forecast {
	if c.forgetful || by.part != nil && c.conf.PreemptExempt > 0 { // whom it may preempt depends on the time
		f := &forecast{among: among, by: by}
		c.look(e, f, now, nowOnly)
		return f
	}
	s := c.shapeOf(e)
	f, known := c.among(s, &s.forecasts, among, by)
	if !known || !f.seen || !f.looked && f.nodes == nil && !nowOnly {
		c.look(e, f, now, nowOnly)
	}
	return f
}

// willRun returns the second at which the job of e could start among some nodes if no other job came, the nodes
// that it would have, and the forecast that says so. The nodes are nil if the job could not start at all or, with
// nowOnly, not now.
func (c *Controller) willRun(e *entry, among nodeSet, now int64, nowOnly bool) (begins int64, nodes nodeSet, f *forecast) {
	f = c.forecastOf(e, among, now, nowOnly)
	if f.nodes == nil || !f.atOnce && nowOnly {
		return 0, nil, f
	}
	if len(e.job.GRES) > 0 {
		e.job.spread = f.nodes.count()
	}
	if e.job.reckoned = f.reckoned; f.atOnce {
		return now, f.nodes, f
	}
	return c.guessEnd(f.last, f.ends, now), f.nodes, f
}

// guessEnd is the second of the limit of a running job, or, if that has passed, the second by which Slurm guesses that
// the job will be over (_guess_job_end): KillWait and OverTimeLimit after its limit, where that is still to come.
func (c *Controller) guessEnd(j *Job, ends, now int64) int64 {
	switch over := c.conf.OverTimeLimit; {
	case ends > now:
		return ends
	case over == des.Forever: // nobody ends it
		return now + int64(j.Limit/des.Second)
	default:
		return max(ends+int64((c.conf.KillWait+over)/des.Second), now+1)
	}
}

// fitIdle returns the nodes among candidates that the job of e would get if they were idle, or nil.
func (c *Controller) fitIdle(e *entry, candidates nodeSet) nodeSet {
	s := c.shapeOf(e)
	f, known := c.among(s, &s.onIdle, candidates, preemptor{})
	if !known || c.forgetful {
		reckoned, spread := e.job.reckoned, e.job.spread
		if chosen := c.choose(e, candidates, c.idle); chosen != nil {
			f.nodes = chosen.nodes(len(c.conf.Nodes))
		}
		e.job.reckoned, e.job.spread = reckoned, spread
	}
	return f.nodes
}

// fitsIdle reports whether the job of e would fit on candidates if they were idle: whether fitIdle returns any nodes. Candidates
// that are free of others' claims change with each job that comes, so that a choice among them is seldom known already.
func (c *Controller) fitsIdle(e *entry, candidates nodeSet) bool {
	s := c.shapeOf(e)
	if !s.anywhere || c.forgetful {
		return c.fitIdle(e, candidates) != nil
	}
	lacking := s.demand.cpus
	for w, word := range candidates {
		for word &= s.suited[w]; word != 0; word &= word - 1 {
			if lacking -= c.offered(s, w*64+bits.TrailingZeros64(word), c.idle); lacking <= 0 {
				return true
			}
		}
	}
	return false
}

// endsTogether is the first window of ends that a look into the future takes together, in seconds,
// and what its base is rounded to.
const endsTogether = 30

// look looks into the future (_will_run_test) and leaves in f what it finds. Without a start at once running jobs are
// taken away by the ends of their limits: see lookAhead.
func (c *Controller) look(e *entry, f *forecast, now int64, nowOnly bool) {
	c.looks++
	f.seen, f.gaps = true, f.gaps[:0]
	// On what is free now.
	s := c.newSearch(e, f.among, c.free)
	if f.atOnce = f.found(c, e, s.run()); f.atOnce {
		slices.SortFunc(f.chosen, func(a, b offer) int { return cmp.Compare(a.node, b.node) })
		return
	}
	// On what would be free if all jobs that it may preempt had ended. Slurm calls that a start now too: backfill
	// then tries to start the job, and so makes them end.
	var victims []*Job
	if f.by.part != nil {
		victims = c.victims(e, c.instant(0, now))
	}
	if nowOnly && len(victims) == 0 {
		return
	}
	s.free = c.later
	defer s.takeBack()
	if len(victims) > 0 {
		for _, j := range victims {
			s.release(j, j.cpusOn(f.among))
		}
		if f.atOnce = f.found(c, e, s.run()); f.atOnce {
			return
		}
	}
	// On what would be free later.
	if nowOnly {
		return
	}
	f.looked, s.planned = true, true
	if len(victims) == 0 && len(s.shape.gres) == 0 && !c.forgetful && s.hopeless() {
		return
	}
	c.lookAhead(e, f, s, c.without(c.runningByLimit(), victims))
}

// found notes in the forecast what was chosen for the job of e, and reports whether anything was.
func (f *forecast) found(c *Controller, e *entry, chosen choice) bool {
	if chosen == nil {
		return false
	}
	f.reckoned = e.job.reckoned
	if f.nodes = f.room; f.nodes == nil {
		f.nodes = newNodeSet(len(c.conf.Nodes))
	}
	chosen.mark(f.nodes)
	f.chosen = append(f.chosen[:0], chosen...)
	return true
}

// without is the running jobs in their order but those that are preempted. The next call takes its room.
func (c *Controller) without(order []ending, victims []*Job) []ending {
	if len(victims) == 0 {
		return order
	}
	gone := make(map[*Job]bool, len(victims))
	for _, j := range victims {
		gone[j] = true
	}
	left := c.roomToOrder[:0]
	for _, e := range order {
		if !gone[e.job] {
			left = append(left, e)
		}
	}
	c.roomToOrder = left
	return left
}

// lookAhead takes running jobs away by the ends of their limits, in their order, until the job of e fits. It would
// start when the job that was taken away last ends. Jobs that end within one window are taken away together, which
// spares Slurm searches, and each window is longer than the last one, so that the start found can be later than it had
// to be. Windows are counted from base, which never moves:
//
//	ends     x  x    x       x           x        x
//	base        |
//	windows     |---30---|
//	            |-------60-------|
//	            |--------------120---------------|
func (c *Controller) lookAhead(e *entry, f *forecast, s *search, order []ending) {
	window, base := int64(endsTogether), int64(0) // base 0: no job has been taken away
	for k := 0; k < len(order); {
		// Take away the jobs of one window, of those that have any of the nodes. Whether the window goes on is asked
		// only after a job that was taken away, but of the next job on any nodes: a gap of the forecast.
		last := (*Job)(nil)
		for k < len(order) {
			cpus, j, end := order[k].cpusOn(f.among), order[k].job, order[k].second
			if k++; cpus == 0 {
				continue
			}
			if base == 0 { // rounded up by 1 to 30 s
				base = end + endsTogether - end%endsTogether
			}
			last, f.ends = j, end
			s.release(j, cpus)
			f.addGap(order, k)
			if k < len(order) && order[k].second > base+window {
				break
			}
		}
		if last == nil { // none of the jobs left has any of the nodes
			break
		}
		// The next window is longer: by bf_window_linear, or else twice as long; and long enough for the next job.
		for {
			if scale := int64(c.conf.Schedule.WindowLinear); scale > 0 {
				window += scale
			} else {
				window *= 2
			}
			if k == len(order) || order[k].second <= base+window {
				break
			}
		}
		if f.found(c, e, s.run()) {
			f.last = last
			return
		}
	}
}

// addGap adds the gap before the job at k, of the jobs in the order of their ends.
func (f *forecast) addGap(order []ending, k int) {
	g := gap{order[k-1].second, never}
	if k < len(order) {
		g.to = order[k].second
	}
	if last := len(f.gaps) - 1; last >= 0 && f.gaps[last].to == g.from {
		f.gaps[last].to = g.to
	} else {
		f.gaps = append(f.gaps, g)
	}
}

// share is the number of CPUs, and of MB, that a running job has of a node.
type share struct{ node, cpus, mem int32 }

// ending is the second in which a running job reaches its limit, and what it has.
type ending struct {
	second int64
	job    *Job
	first  share   // what it has of its first node: most jobs have one node, and a look goes through all jobs that run
	rest   []share // what it has of its other nodes
}

// endingOf is the ending of a running job.
func (c *Controller) endingOf(j *Job) ending {
	return ending{c.limitSecond(j), j, j.shares[0], j.shares[1:]}
}

// cpusOn returns the number of CPUs that the job has on nodes of a set; 0 if it has none of these nodes.
func (e *ending) cpusOn(nodes nodeSet) int {
	cpus := e.first.cpusOn(nodes)
	if len(e.rest) == 0 || len(e.rest) > len(nodes) && !e.job.nodes.meets(nodes) {
		return cpus
	}
	for i := range e.rest {
		cpus += e.rest[i].cpusOn(nodes)
	}
	return cpus
}

// cpusOn returns the number of the CPUs if the node is in a set, else 0.
func (s *share) cpusOn(nodes nodeSet) int {
	inside := nodes[uint(s.node)/64] >> (uint(s.node) % 64) & 1
	return int(s.cpus) * int(inside)
}

// cpusOn returns the number of CPUs that a running job has on nodes of a set; 0 if it has none of these nodes.
func (j *Job) cpusOn(nodes nodeSet) (cpus int) {
	if len(j.shares) > len(nodes) && !j.nodes.meets(nodes) {
		return 0
	}
	for i := range j.shares {
		cpus += j.shares[i].cpusOn(nodes)
	}
	return cpus
}

// compareEndings orders jobs that run by their limits, those whose limits end together by their numbers.
func compareEndings(a, b ending) int {
	return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.job.ID, b.job.ID))
}

// runningByLimit is the running jobs in the order of their limits.
func (c *Controller) runningByLimit() []ending {
	if c.forgetful || c.byLimit == nil {
		c.byLimit = c.byLimit[:0]
		for _, j := range c.running {
			c.byLimit = append(c.byLimit, c.endingOf(j))
		}
		slices.SortFunc(c.byLimit, compareEndings)
	}
	return c.byLimit
}

// joinByLimit inserts a job that has started into the running jobs in the order of their limits, and quitByLimit
// takes it out.
func (c *Controller) joinByLimit(j *Job) {
	if c.byLimit != nil {
		one := c.endingOf(j)
		at, _ := slices.BinarySearchFunc(c.byLimit, one, compareEndings)
		c.byLimit = slices.Insert(c.byLimit, at, one)
	}
}

func (c *Controller) quitByLimit(j *Job) {
	if c.byLimit != nil {
		at, _ := slices.BinarySearchFunc(c.byLimit, c.endingOf(j), compareEndings)
		c.byLimit = slices.Delete(c.byLimit, at, at+1)
	}
}

// reorder forgets the order of limits, so that it is found anew: a limit is about to change, or has changed.
func (c *Controller) reorder(j *Job) {
	c.byLimit = nil
	if j.state == running {
		c.backfill.trail.forget()
	}
	c.endEra()
}

// limitSecond is the second in which the running job reaches its limit, or the end of its grace time.
func (c *Controller) limitSecond(j *Job) int64 {
	ends := c.second(j.Start) + int64(j.Limit/des.Second) + j.extended
	if j.graceEnds > 0 {
		ends = min(ends, c.second(j.graceEnds))
	}
	return ends
}

// overdueSecond is the second from which on the running job is ended for its limit: OverTimeLimit after it.
func (c *Controller) overdueSecond(j *Job) int64 {
	return c.limitSecond(j) + int64(c.conf.OverTimeLimit/des.Second)
}
