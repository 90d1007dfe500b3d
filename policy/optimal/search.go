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
	// Cost is the value of the measure: a sum, or a makespan; in seconds but for slowdowns.
	Cost float64
	// Nodes is the size of the proof: how many partial schedules were looked at.
	Nodes int64
}

// Solve finds a schedule with the least value of a measure. No schedule on that many
// processors has less, because the search ends only when that is proved. It takes at most
// MostJobs jobs and refuses more; if ctx ends, it returns the context's error.
//
// A partial schedule is made of starts that never fall. Its next job is any open job, at the
// earliest instant that is not before the last start: some best schedule is made so, since a
// job that can start earlier beside those that started before can be moved there. A partial
// schedule is given up if
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
		ctx: ctx, processors: processors, measure: m, tasks: tasksOf(jobs, m, tau), best: math.Inf(1),
		starts: make([]float64, len(jobs)), seen: map[uint32][]state{},
	}
	s.relaxation = relaxation{tasks: s.tasks, measure: m, processors: processors, earliest: make([]float64, len(jobs))}
	s.lists()
	s.extend(state{free: processors}, 0)
	if s.err != nil {
		return Schedule{}, s.err
	}
	first := slices.MinFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }).Submit
	best := Schedule{Cost: inSeconds(s.best, m), Nodes: s.nodes}
	for _, start := range s.bestStarts {
		best.Starts = append(best.Starts, first+des.Time(start))
	}
	return best, nil
}

// running is a job that has started, as far as later ones are concerned.
type running struct {
	end   float64
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

// search is one search.
type search struct {
	ctx        context.Context
	processors int
	measure    Measure
	tasks      []task
	relaxation relaxation

	best       float64
	bestStarts []float64
	starts     []float64
	nodes      int64
	seen       map[uint32][]state // by the set of jobs that have a start: none is as good as another
	kept       int                // states in seen
	err        error
}

// mostKept bounds the memory of seen, to some 200 MB.
const mostKept = 1_000_000

// start is s with one more job: task i at an instant.
func (b *search) start(s *state, i int, at float64) state {
	t := &b.tasks[i]
	n := state{last: at, cost: s.cost, free: s.free - t.nodes, running: make([]running, 0, len(s.running)+1)}
	if b.measure == Makespan {
		n.cost = max(n.cost, at+t.length)
	} else {
		n.cost += t.cost(at)
	}
	if t.length == 0 { // it gives back at once what it takes
		n.free += t.nodes
	}
	listed := t.length == 0 // among those that run
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

// keep takes the present starts for the best ones if they cost less.
func (b *search) keep(cost float64) {
	if cost < b.best {
		b.best = cost
		b.bestStarts = append(b.bestStarts[:0], b.starts...)
	}
}

// lists begins with the schedules of some orders, for a first best one: each job of the order
// as early as it can, and none before one that stands ahead of it.
func (b *search) lists() {
	order := make([]int, len(b.tasks))
	for i := range order {
		order[i] = i
	}
	area := func(t *task) float64 { return t.length * float64(t.nodes) }
	for _, key := range []func(*task) float64{
		func(t *task) float64 { return t.release },
		func(t *task) float64 { return t.length },
		area,
		func(t *task) float64 { return -area(t) },
		func(t *task) float64 { return -float64(t.nodes) },
	} {
		open := slices.Clone(order)
		slices.SortStableFunc(open, func(i, j int) int { return cmp.Compare(key(&b.tasks[i]), key(&b.tasks[j])) })
		s := state{free: b.processors}
		for len(open) > 0 {
			next, at := 0, math.Inf(1)
			for k, i := range open { // the first of the order among those that can start first
				if e := s.earliest(b.tasks[i].release, b.tasks[i].nodes); e < at {
					next, at = k, e
				}
			}
			b.starts[open[next]] = at
			s = b.start(&s, open[next], at)
			open = slices.Delete(open, next, next+1)
		}
		b.keep(s.cost)
	}
}

// candidate is an open job at its earliest start.
type candidate struct {
	task  int
	start float64
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
	candidates, r := make([]candidate, 0, len(b.tasks)), &b.relaxation
	gap, first := math.Inf(1), math.Inf(1) // when an open job could have ended, and can start
	r.open = r.open[:0]
	for i := range b.tasks {
		if set>>i&1 != 0 {
			continue
		}
		t := &b.tasks[i]
		at := s.earliest(t.release, t.nodes)
		if first = min(first, at); t.length > 0 {
			gap = min(gap, at+t.length)
		}
		r.open, r.earliest[i] = append(r.open, i), at
		candidates = append(candidates, candidate{i, at})
	}
	s.last = first
	if b.beaten(&s, set) || b.hopeless(&s) {
		return
	}
	slices.SortFunc(candidates, func(x, y candidate) int {
		t, u := &b.tasks[x.task], &b.tasks[y.task]
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(t.length, u.length), cmp.Compare(u.nodes, t.nodes), cmp.Compare(t.release, u.release))
	})
	for k, c := range candidates {
		if c.start >= gap || k > 0 && b.alike(candidates[k-1], c) {
			continue
		}
		b.starts[c.task] = c.start
		b.extend(b.start(&s, c.task, c.start), set|1<<c.task)
	}
}

// alike reports whether two open jobs are one to all that follows: then one order of the two
// is enough.
func (b *search) alike(x, y candidate) bool {
	t, u := &b.tasks[x.task], &b.tasks[y.task]
	return x.start == y.start && t.length == u.length && t.nodes == u.nodes && (t.release == u.release || b.measure != Slowdown)
}

// hopeless reports whether nothing that s becomes is better than the best schedule so far.
func (b *search) hopeless(s *state) bool {
	r := &b.relaxation
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
