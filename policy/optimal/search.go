package optimal

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// MostJobs is the greatest number of jobs that Solve takes: it may look at as many partial
// schedules as there are orders.
const MostJobs = 20

// Schedule is a best schedule.
type Schedule struct {
	Starts []des.Time // by job
	Shapes []Shape    // by job: the shape in which it runs
	// Cost is the value of the measure: a sum, or a makespan; in seconds but for slowdowns.
	Cost float64
	// Nodes is the size of the proof: how many partial schedules were looked at.
	Nodes int64
}

// Solve finds a schedule with the least value of a measure. No schedule on that many
// processors has less, because the search ends only when that is proved. It takes at most
// MostJobs jobs and refuses more; if ctx ends, it returns the context's error.
//
// A partial schedule grows in the order of starts. Its next job is any open job, in any of its
// shapes, at the earliest instant that is not before the last start: some best schedule is made so,
// since a job that can start earlier beside those that started before can be moved there. A shape
// that is neither narrower nor shorter than another of the same job is left out, but for slowdowns:
// those are smaller for longer shapes. A partial schedule is given up if
//
//   - an open job could end before the next one starts (it would lie in that gap at least as
//     well);
//   - its lower bound is no less than the best schedule so far (bounds.go);
//   - another with the same jobs costs no more and has as much free at any time.
func Solve(ctx context.Context, jobs []Job, processors int, m Measure, tau des.Time) (Schedule, error) {
	if len(jobs) > MostJobs {
		return Schedule{}, fmt.Errorf("a best schedule is found for at most %d jobs, and there are %d", MostJobs, len(jobs))
	}
	if err := check(jobs, processors); err != nil {
		return Schedule{}, err
	}
	if len(jobs) == 0 {
		return Schedule{}, nil
	}
	s := &search{
		ctx: ctx, processors: processors, measure: m, tasks: tasksOf(jobs, processors, m, tau), best: math.Inf(1),
		chosen: make([]candidate, len(jobs)), seen: map[uint32][]state{},
	}
	s.relaxation = relaxed(s.tasks, processors, m)
	s.lists()
	s.extend(state{free: processors}, 0)
	if s.err != nil {
		return Schedule{}, s.err
	}
	first := slices.MinFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }).Submit
	best := Schedule{Cost: inSeconds(s.best, m), Nodes: s.nodes}
	for _, c := range s.bestChosen {
		m := s.mode(c)
		best.Starts, best.Shapes = append(best.Starts, first+des.Time(c.start)), append(best.Shapes, m.shape())
	}
	return best, nil
}

// running is a job that has started, as far as later ones are concerned.
type running struct {
	end   float64 // in ticks after the first submission, as all times here
	nodes int
}

// state is a partial schedule, as far as what follows is concerned.
type state struct {
	last    float64   // the last start: none that follows is before it
	cost    float64   // of the jobs that have a start
	free    int       // processors at the instant last
	running []running // at the instant last, by end
}

// earliest returns the first instant from s.last and from release on at which that many
// processors are free.
func (s *state) earliest(release float64, nodes int) float64 {
	at, free := max(s.last, release), s.free
	for _, r := range s.running {
		if r.end > at && free >= nodes {
			break
		}
		free += r.nodes
		at = max(at, r.end)
	}
	return at
}

// freeAt returns how many processors are free at an instant, of those that later jobs may
// use.
func (s *state) freeAt(at float64) int {
	if at < s.last {
		return 0
	}
	free := s.free
	for _, r := range s.running {
		if r.end > at {
			break
		}
		free += r.nodes
	}
	return free
}

// search is what one call of Solve knows.
type search struct {
	ctx        context.Context
	processors int
	measure    Measure
	tasks      []task
	relaxation *relaxation

	best       float64            // the least cost so far; +Inf at first
	bestChosen []candidate        // by task: the schedule of that cost
	chosen     []candidate        // by task: the present partial schedule; valid of tasks in the set
	nodes      int64              // partial schedules that were looked at
	seen       map[uint32][]state // by the set of jobs that have a start: partial schedules of which none is as good as another
	kept       int                // number of states in seen
	err        error              // why the search has ended early
}

// mostKept bounds the memory of seen, to some 200 MB. Beyond it partial schedules are still compared with those
// kept: the search is slower then, not wrong.
const mostKept = 1_000_000

// candidate is a task that starts at an instant, in one of its modes.
type candidate struct {
	task, mode int
	start      float64
}

// mode returns the mode of a candidate.
func (b *search) mode(c candidate) *mode { return &b.tasks[c.task].modes[c.mode] }

// start returns the partial schedule s with one more job.
func (b *search) start(s *state, c candidate) state {
	t, at := b.mode(c), c.start
	n := state{last: at, cost: s.cost, free: s.free - t.nodes, running: make([]running, 0, len(s.running)+1)}
	if cost := b.relaxation.costOf(t, at); b.measure == Makespan {
		n.cost = max(n.cost, cost)
	} else {
		n.cost += cost
	}
	if t.length == 0 { // it gives back at once what it takes
		n.free += t.nodes
	}
	// What runs at the new last start: the others that have not ended by then, with the new one at its place.
	listed := t.length == 0
	for _, r := range s.running {
		switch {
		case r.end <= at:
			n.free += r.nodes
			continue
		case !listed && at+t.length < r.end:
			n.running, listed = append(n.running, running{at + t.length, t.nodes}), true
		}
		n.running = append(n.running, r)
	}
	if !listed {
		n.running = append(n.running, running{at + t.length, t.nodes})
	}
	return n
}

// keep takes the present schedule for the best one if it costs less.
func (b *search) keep(cost float64) {
	if cost < b.best {
		b.best = cost
		b.bestChosen = append(b.bestChosen[:0], b.chosen...)
	}
}

// lists begins with the schedules of some orders, for a first best one: each job of the order
// as early as it can, and none before one that stands ahead of it. Moldable jobs have the shape
// that starts first and then ends first, or the shape that ends first, or the shape of the least area.
func (b *search) lists() {
	order := make([]int, len(b.tasks))
	for i := range order {
		order[i] = i
	}
	rules := []func(*mode, float64) (float64, float64){
		func(m *mode, start float64) (float64, float64) { return start, start + m.length },
	}
	if slices.ContainsFunc(b.tasks, func(t task) bool { return len(t.modes) > 1 }) {
		rules = append(rules,
			func(m *mode, start float64) (float64, float64) { return start + m.length, start },
			func(m *mode, start float64) (float64, float64) { return m.area(), start },
		)
	}
	for _, key := range []func(*task) float64{
		func(t *task) float64 { return t.release },
		func(t *task) float64 { return t.narrow.length },
		func(t *task) float64 { return t.work },
		func(t *task) float64 { return -t.work },
		func(t *task) float64 { return -float64(t.narrow.nodes) },
	} {
		for _, rule := range rules {
			open := slices.Clone(order)
			slices.SortStableFunc(open, func(i, j int) int { return cmp.Compare(key(&b.tasks[i]), key(&b.tasks[j])) })
			s := state{free: b.processors}
			for len(open) > 0 {
				next, first := 0, candidate{start: math.Inf(1)}
				for k, i := range open { // the first of the order among those that can start first
					if c := b.byRule(&s, i, rule); c.start < first.start {
						next, first = k, c
					}
				}
				b.chosen[open[next]] = first
				s = b.start(&s, first)
				open = slices.Delete(open, next, next+1)
			}
			b.keep(s.cost)
		}
	}
}

// byRule returns a task as early as it can start in the mode for which a rule gives the least numbers.
func (b *search) byRule(s *state, i int, rule func(m *mode, start float64) (float64, float64)) (best candidate) {
	t := &b.tasks[i]
	least, second := math.Inf(1), math.Inf(1)
	for k := range t.modes {
		m := &t.modes[k]
		at := s.earliest(t.release, m.nodes)
		if x, y := rule(m, at); x < least || x == least && y < second {
			best, least, second = candidate{i, k, at}, x, y
		}
	}
	return best
}

// extend looks at all that a partial schedule, of the jobs of the set, can become.
func (b *search) extend(s state, set uint32) {
	b.nodes++
	if b.nodes%1024 == 1 && b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err != nil {
		return
	}
	if set == 1<<len(b.tasks)-1 {
		b.keep(s.cost)
		return
	}
	// When could each open job start, in each mode? The relaxation learns of it on the way.
	candidates, r := make([]candidate, 0, len(b.tasks)), b.relaxation
	gap, first := math.Inf(1), math.Inf(1) // when an open job could have ended, and can start
	r.open = r.open[:0]
	for i := range b.tasks {
		if set>>i&1 != 0 {
			continue
		}
		t, from := &b.tasks[i], len(candidates)
		r.open, r.earliest[i], r.alone[i] = append(r.open, i), math.Inf(1), math.Inf(1)
		for k := range t.modes {
			m := &t.modes[k]
			at := s.earliest(t.release, m.nodes)
			r.earliest[i], r.alone[i] = min(r.earliest[i], at), min(r.alone[i], r.costOf(m, at))
			candidates = append(candidates, candidate{i, k, at})
		}
		first = min(first, r.earliest[i])
		for _, c := range candidates[from:] {
			if b.fills(c, candidates[from:]) {
				gap = min(gap, c.start+b.mode(c).length)
			}
		}
	}
	// Is it worth going on? No open job starts before first, which makes partial schedules more alike.
	s.last = first
	if b.beaten(&s, set) || b.hopeless(&s) {
		return
	}
	// The most promising candidates first: early, short, wide ones. None starts behind a gap that an open job
	// could have filled.
	slices.SortFunc(candidates, func(x, y candidate) int {
		t, u := b.mode(x), b.mode(y)
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(t.length, u.length), cmp.Compare(u.nodes, t.nodes),
			cmp.Compare(b.tasks[x.task].release, b.tasks[y.task].release))
	})
	for k, c := range candidates {
		if c.start >= gap || k > 0 && b.alike(candidates[k-1], c) {
			continue
		}
		b.chosen[c.task] = c
		b.extend(b.start(&s, c), set|1<<c.task)
	}
}

// fills reports whether a job that has a start in a gap is nowhere better behind the gap. Only a slowdown
// may be less there, in a longer shape. A job of no length fills nothing. The candidates are the
// job in all its shapes.
func (b *search) fills(c candidate, all []candidate) bool {
	m := b.mode(c)
	if m.length == 0 || b.measure != Slowdown {
		return m.length > 0
	}
	cost, end := m.cost(c.start), c.start+m.length
	return !slices.ContainsFunc(all, func(o candidate) bool { return b.mode(o).cost(max(o.start, end)) < cost })
}

// alike reports whether two open jobs are one to all that follows: then one order of the two
// is enough.
func (b *search) alike(x, y candidate) bool {
	t, u := &b.tasks[x.task], &b.tasks[y.task]
	return x.start == y.start && x.mode == y.mode && (t.release == u.release || b.measure != Slowdown) &&
		slices.EqualFunc(t.modes, u.modes, func(m, n mode) bool { return m.length == n.length && m.nodes == n.nodes })
}

// hopeless reports whether nothing that s becomes is better than the best schedule so far.
func (b *search) hopeless(s *state) bool {
	// The machine that is left: what is free now, and what each job gives back at its end.
	r := b.relaxation
	r.rates = append(r.rates[:0], rateStep{s.last, float64(s.freeAt(s.last))})
	for i := range s.running {
		if at := s.running[i].end; at > s.last {
			r.rates = append(r.rates, rateStep{at, float64(s.freeAt(at))})
		}
	}
	switch lower := r.lower(); b.measure {
	case Makespan:
		return max(s.cost, lower) > b.best-1+rounding
	case Wait: // whole ticks: what is better is so by one
		return s.cost+lower > b.best-1+rounding
	default:
		return s.cost+lower >= b.best*(1-slowdownTolerance)
	}
}

const (
	rounding          = 0.01 // of bounds, in ticks
	slowdownTolerance = 1e-9 // the sum of slowdowns is least to a billionth
)

// beaten reports whether another partial schedule of the same jobs costs no more than s and
// has as much free at any time. If none does, s is remembered, and the schedules that s
// beats are forgotten.
func (b *search) beaten(s *state, set uint32) bool {
	others := b.seen[set]
	for i := range others {
		if others[i].asGood(s) {
			return true
		}
	}
	before := len(others)
	others = slices.DeleteFunc(others, func(o state) bool { return s.asGood(&o) })
	if b.kept += len(others) - before; b.kept < mostKept {
		others = append(others, *s)
		b.kept++
	}
	b.seen[set] = others
	return false
}

// asGood reports whether whatever s2 becomes s can become as well, and no dearer. What is free
// never falls, so it is enough to compare where more becomes free in s2.
func (s *state) asGood(s2 *state) bool {
	if s.cost > s2.cost || s.last > s2.last || s.freeAt(s2.last) < s2.freeAt(s2.last) {
		return false
	}
	for i := range s2.running {
		if at := s2.running[i].end; at > s2.last && s.freeAt(at) < s2.freeAt(at) {
			return false
		}
	}
	return true
}
