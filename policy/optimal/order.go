package optimal

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// OrderSearch is a local search for a good order of jobs, for logs of any length. An order is a
// schedule: each job starts at the first instant at which it fits beside those ahead of it. Some
// order gives a best schedule, so what a search finds is never below the optimum; it bounds
// it from above, where Lower bounds it from below.
//
//	order   fixed | a b c d e f g h | i j k l m n o p ...
//	              |   the window    |  jobs that follow it
//
// A window slides over the order. Its jobs change places, two at a time, and one moves to another
// place, as long as the cost of the window and of the jobs that follow falls. Then the first half
// of it is fixed. Nothing is drawn by chance.
type OrderSearch struct {
	Window int // jobs that may change places; 12 where 0
	Follow int // jobs after the window whose cost counts; 24 where 0
	Sweeps int // how often the window slides over all jobs; 1 where 0
}

// Search returns the best schedule that it finds. No order that it begins with gives a better one. The
// schedule's Nodes are the number of orders of windows that were looked at. Slowdowns are
// bounded by tau. If ctx ends, Search returns the context's error.
func (o OrderSearch) Search(ctx context.Context, jobs []Job, processors int, m Measure, tau des.Time) (Schedule, error) {
	if len(jobs) == 0 {
		return Schedule{}, errors.New("there are no jobs to order")
	}
	if err := check(jobs, processors); err != nil {
		return Schedule{}, err
	}
	s := &orders{
		OrderSearch: OrderSearch{cmp.Or(o.Window, 12), cmp.Or(o.Follow, 24), cmp.Or(o.Sweeps, 1)},
		tasks:       tasksOf(jobs, processors, m, tau), measure: m, processors: processors, order: make([]int, len(jobs)),
	}
	found, cost := s.begin()
	for range s.Sweeps {
		if err := s.sweep(ctx); err != nil {
			return Schedule{}, err
		}
		if better, lower := s.whole(); lower < cost {
			found, cost = better, lower
		}
	}
	best := Schedule{Cost: inSeconds(cost, m), Nodes: s.looked}
	first := slices.MinFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }).Submit
	for _, p := range found {
		best.Starts, best.Shapes = append(best.Starts, first+des.Time(p.start)), append(best.Shapes, p.mode.shape())
	}
	return best, nil
}

// begin takes the best of a few orders: of submission, and those in which EASY backfilling starts jobs,
// the job of the least length, work, or work per weight first.
func (s *orders) begin() (found []placed, cost float64) {
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortStableFunc(s.order, func(i, j int) int { return cmp.Compare(s.tasks[i].release, s.tasks[j].release) })
	submitted := slices.Clone(s.order)
	found, cost = s.whole()
	best := submitted
	for _, key := range []func(*task) float64{
		func(t *task) float64 { return t.narrow.length },
		func(t *task) float64 { return t.work },
		func(t *task) float64 { return t.work / max(t.narrow.weight, math.SmallestNonzeroFloat32) },
	} {
		s.order = s.backfilled(submitted, key)
		if better, lower := s.whole(); lower < cost {
			best, found, cost = s.order, better, lower
		}
	}
	s.order = best
	return found, cost
}

// backfilled returns the order in which EASY backfilling, told how long jobs run, starts them: at every instant
// those of the least key first. The first that does not fit has a reservation, in its narrowest
// shape, and those behind it start if they do not delay it. Placed in this order, each job starts no
// later than there.
func (s *orders) backfilled(submitted []int, key func(*task) float64) (started []int) {
	var waiting []int  // by key
	ends := timeline{} // of those that run: what each has, by end
	free, next := s.processors, 0
	for now := 0.0; len(started) < len(submitted); {
		// What has come and what has ended by now.
		for ; next < len(submitted) && s.tasks[submitted[next]].release <= now; next++ {
			i := submitted[next]
			at, _ := slices.BinarySearchFunc(waiting, key(&s.tasks[i]), func(j int, k float64) int {
				if key(&s.tasks[j]) <= k {
					return -1
				}
				return 1
			})
			waiting = slices.Insert(waiting, at, i)
		}
		for len(ends) > 0 && ends[0].at <= now {
			free += ends[0].free
			ends = ends[1:]
		}
		// What starts now. The first that does not fit has a reservation from the shadow time on, beside which spare
		// processors are free.
		still, shadow, spare := waiting[:0], math.Inf(1), 0
		for _, i := range waiting {
			m := s.tasks[i].fastest(free)
			if m == nil && len(still) == 0 {
				spare = free - s.tasks[i].narrow.nodes
				for k := 0; spare < 0; k++ {
					spare += ends[k].free
					shadow = ends[k].at
				}
			}
			if m == nil || now+m.length > shadow && m.nodes > spare {
				still = append(still, i)
				continue
			}
			if now+m.length > shadow {
				spare -= m.nodes
			}
			free -= m.nodes
			end := now + max(m.length, 1)
			at, _ := slices.BinarySearchFunc(ends, end, func(e freeStep, end float64) int { return cmp.Compare(e.at, end) })
			ends = slices.Insert(ends, at, freeStep{end, m.nodes})
			started = append(started, i)
		}
		// The next instant at which anything comes or ends.
		waiting = still
		now = math.Inf(1)
		if len(ends) > 0 {
			now = ends[0].at
		}
		if next < len(submitted) {
			now = min(now, s.tasks[submitted[next]].release)
		}
	}
	return started
}

// fastest returns the shortest of the modes that fit so many processors, or nil.
func (t *task) fastest(free int) (best *mode) {
	for k := range t.modes {
		if m := &t.modes[k]; m.nodes <= free && (best == nil || m.length < best.length) {
			best = m
		}
	}
	return best
}

// orders is one search.
type orders struct {
	OrderSearch
	tasks      []task
	measure    Measure
	processors int

	order  []int    // of the tasks; the window changes it
	fixed  timeline // what the tasks before the window leave free
	trial  timeline // room for cost
	looked int64    // orders of windows that were looked at
}

// mostSteps is the number of steps of its timeline that a sweep remembers, the latest ones.
// Otherwise a job that waits very long would make the sweep look at everything that ran meanwhile.
// A job that would have fitted before these steps starts later in the sweep.
const mostSteps = 400

// sweep slides the window over the order once.
func (s *orders) sweep(ctx context.Context) error {
	since := s.since()
	s.fixed = timeline{{0, s.processors}}
	for at := 0; at < len(s.order); {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Nothing that is to come can start before the first release of it: what was before is of no use.
		to := min(at+s.Window, len(s.order))
		least := since[to]
		for _, i := range s.order[at:to] {
			least = min(least, s.tasks[i].release)
		}
		s.fixed.forget(least)
		s.fixed = s.fixed[max(len(s.fixed)-mostSteps, 0):]
		s.improve(at, to)
		// Fix the first half of the window, or at the end all of it.
		half := min(at+max(s.Window/2, 1), to)
		if to == len(s.order) {
			half = to
		}
		for _, i := range s.order[at:half] {
			s.fixed.place(&s.tasks[i])
		}
		at = half
	}
	return nil
}

// improve changes the order of the tasks from one place to another until no swap of two of
// them and no move of one makes them and those that follow cheaper.
func (s *orders) improve(from, to int) {
	best := s.cost(from, to)
	for better := true; better; {
		better = false
		for i := from; i < to; i++ {
			for j := from; j < to; j++ {
				if i < j {
					s.order[i], s.order[j] = s.order[j], s.order[i]
					if cost := s.cost(from, to); cost < best {
						best, better = cost, true
					} else {
						s.order[i], s.order[j] = s.order[j], s.order[i]
					}
				}
				if i != j {
					s.move(i, j)
					if cost := s.cost(from, to); cost < best {
						best, better = cost, true
					} else {
						s.move(j, i)
					}
				}
			}
		}
	}
}

// move takes the task at one place of the order to another.
func (s *orders) move(from, to int) {
	i := s.order[from]
	s.order = slices.Insert(slices.Delete(s.order, from, from+1), to, i)
}

// cost returns the cost of the tasks from one place of the order to another, and of the Follow
// tasks behind them.
func (s *orders) cost(from, to int) float64 {
	s.looked++
	s.trial = append(s.trial[:0], s.fixed...)
	sum := 0.0
	for _, i := range s.order[from:min(to+s.Follow, len(s.order))] {
		sum = s.add(sum, s.trial.place(&s.tasks[i]))
	}
	return sum
}

// add returns a cost with one more task.
func (s *orders) add(cost float64, p placed) float64 {
	if s.measure == Makespan {
		return max(cost, p.start+p.mode.length)
	}
	return cost + p.mode.cost(p.start)
}

// since returns the first release of the tasks from each place of the order on. Behind the last one nothing comes.
func (s *orders) since() []float64 {
	since := make([]float64, len(s.order)+1)
	since[len(s.order)] = math.Inf(1)
	for k, i := range slices.Backward(s.order) {
		since[k] = min(since[k+1], s.tasks[i].release)
	}
	return since
}

// whole returns the schedule of the order, with its cost.
func (s *orders) whole() (found []placed, cost float64) {
	found = make([]placed, len(s.tasks))
	all := timeline{{0, s.processors}}
	since := s.since()
	for k, i := range s.order {
		all.forget(since[k])
		found[i] = all.place(&s.tasks[i])
		cost = s.add(cost, found[i])
	}
	return found, cost
}

// timeline is the number of free processors over time, in steps. The last step lasts for ever.
type timeline []freeStep

// freeStep is a number of processors that are free from an instant on.
type freeStep struct {
	at   float64
	free int
}

// placed is the start of a task and the mode in which it runs.
type placed struct {
	start float64
	mode  *mode
}

// place takes the processors of a task at the first instant at which it fits, in the mode in which it then
// ends first. A task of no length takes them for a tick, so that no other is placed across it.
func (l *timeline) place(t *task) placed {
	// When would each mode start? Of equal ends the first mode is taken.
	p := placed{mode: &t.modes[0]}
	p.start = l.find(t.release, p.mode)
	for k := range t.modes[1:] {
		m := &t.modes[1+k]
		if start := l.find(t.release, m); start+m.length < p.start+p.mode.length {
			p = placed{start, m}
		}
	}
	// Take the processors.
	end := p.start + max(p.mode.length, 1)
	l.split(p.start)
	l.split(end)
	for k := range *l {
		if s := &(*l)[k]; s.at >= p.start && s.at < end {
			s.free -= p.mode.nodes
		}
	}
	return p
}

// find returns the first instant from a release on at which a mode fits.
func (l *timeline) find(release float64, m *mode) float64 {
	steps := *l
	k, _ := slices.BinarySearchFunc(steps, release, func(s freeStep, at float64) int { return cmp.Compare(s.at, at) })
	if k == len(steps) || steps[k].at > release {
		k = max(k-1, 0)
	}
	first := k // the step in which the task starts
	start := max(release, steps[k].at)
	end := start + max(m.length, 1)
	for ; k < len(steps) && (k == first || steps[k].at < end); k++ {
		if steps[k].free < m.nodes {
			first = k + 1
			start = steps[first].at // the last step has room for any task
			end = start + max(m.length, 1)
		}
	}
	return start
}

// split makes a step begin at an instant, with as many free as the step has in which the instant lies.
func (l *timeline) split(at float64) {
	k := len(*l)
	for k > 0 && (*l)[k-1].at > at {
		k--
	}
	if k > 0 && (*l)[k-1].at == at {
		return
	}
	step := (*l)[max(k-1, 0)]
	step.at = at
	*l = slices.Insert(*l, k, step)
}

// forget drops what is before an instant.
func (l *timeline) forget(before float64) {
	k := 0
	for k+1 < len(*l) && (*l)[k+1].at <= before {
		k++
	}
	*l = slices.Delete(*l, 0, k)
}
