package main

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// HEFT is the Heterogeneous Earliest Finish Time algorithm of Topcuoglu, Hariri and
// Wu (2002, figure 2): tasks in the order of their upward ranks, each on the
// processor on which it finishes earliest, in a gap between others where it fits.
// Of equal ranks the task that comes first in the problem is first.
type HEFT struct{}

// Name is "heft".
func (HEFT) Name() string { return "heft" }

// Plan implements Algorithm.
func (HEFT) Plan(p *Problem) (Schedule, error) {
	g, err := newGraph(p)
	if err != nil {
		return Schedule{}, err
	}
	rank := g.upward()
	order := slices.Clone(g.order)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(rank[b], rank[a]), cmp.Compare(a, b)) })
	s := g.begin()
	for _, i := range order {
		k, start := s.best(i)
		s.place(i, k, start)
	}
	return s.Schedule, nil
}

// CPOP is Critical Path on a Processor, of the same paper (figure 4): a task's
// priority is the length of the longest path through it. The tasks of one critical
// path go to the processor that runs all of them in the least time, every other one
// where it finishes earliest, the ready task of the highest priority first.
type CPOP struct{}

// Name is "cpop".
func (CPOP) Name() string { return "cpop" }

// Plan implements Algorithm.
func (CPOP) Plan(p *Problem) (Schedule, error) {
	g, err := newGraph(p)
	if err != nil || len(p.Cost) == 0 {
		return Schedule{}, err
	}
	// Priority: the downward rank and the upward rank, which together are the longest path through a task.
	priority := g.downward()
	for i, up := range g.upward() {
		priority[i] += up
	}
	// The processor of the critical path: where its tasks take least in all.
	critical := g.criticalPath(priority)
	home, least := 0, des.Forever
	for k := range g.processors {
		sum := des.Time(0)
		for i, on := range critical {
			if on {
				sum += g.Cost[i][k]
			}
		}
		if sum < least {
			home, least = k, sum
		}
	}
	return g.ready(func(s *partial, ready []int) (int, int, des.Time) {
		next := 0
		for at, i := range ready {
			if priority[i] > priority[ready[next]] {
				next = at
			}
		}
		i := ready[next]
		if critical[i] {
			return next, home, s.earliest(i, home)
		}
		k, start := s.best(i)
		return next, k, start
	}), nil
}

// criticalPath marks the tasks of one longest path: from the first task of the
// highest priority that waits for none, each time to the first child of the same
// priority that the path leads to.
func (g *graph) criticalPath(priority []des.Time) []bool {
	longest := slices.Max(priority)
	critical := make([]bool, len(priority))
	at := slices.IndexFunc(g.order, func(i int) bool { return len(g.parents[i]) == 0 && priority[i] == longest })
	for i := g.order[at]; ; {
		critical[i] = true
		next := slices.IndexFunc(g.children[i], func(e Edge) bool { return priority[e.To] == longest })
		if next < 0 {
			return critical
		}
		i = g.children[i][next].To
	}
}

// MinMin places the ready task that can finish first, on the node where it does; of equal tasks,
// the task that has been ready longest. (Ibarra and Kim's algorithm D for independent tasks, 1977,
// applied to those that are ready.)
type MinMin struct{}

// Name is "min-min".
func (MinMin) Name() string { return "min-min" }

// Plan implements Algorithm.
func (MinMin) Plan(p *Problem) (Schedule, error) {
	g, err := newGraph(p)
	if err != nil {
		return Schedule{}, err
	}
	return g.ready(func(s *partial, ready []int) (next, processor int, start des.Time) {
		finish := des.Forever
		for at, i := range ready {
			k, begins := s.best(i)
			if end := begins + g.Cost[i][k]; end < finish {
				next, processor, start, finish = at, k, begins, end
			}
		}
		return next, processor, start
	}), nil
}

// ready places task after task of those whose parents are placed, as choose says:
// by its position among them, its processor and its start.
func (g *graph) ready(choose func(s *partial, ready []int) (next, processor int, start des.Time)) Schedule {
	s := g.begin()
	waits := make([]int, len(g.Cost))
	var ready []int
	for i := range g.Cost {
		if waits[i] = len(g.parents[i]); waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		at, k, start := choose(s, ready)
		i := ready[at]
		ready = slices.Delete(ready, at, at+1)
		s.place(i, k, start)
		for _, e := range g.children[i] {
			if waits[e.To]--; waits[e.To] == 0 {
				ready = append(ready, e.To)
			}
		}
	}
	return s.Schedule
}
