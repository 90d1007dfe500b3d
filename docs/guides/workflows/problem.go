package main

// Ahead of time: a Problem is a directed acyclic graph of tasks with what each costs on each
// processor, and what the data on each edge costs between two of them. An Algorithm makes a
// Schedule of it:
//
//	HEFT     upward ranks, earliest finish time by insertion
//	CPOP     the critical path on one processor
//	MinMin   the ready task that can finish first
//
// HEFT and CPOP: Topcuoglu, Hariri, Wu, "Performance-effective and low-complexity task
// scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Problem is a graph of tasks for a row of processors.
type Problem struct {
	// Cost is the time of each task on each processor: Cost[task][processor], above 0.
	Cost [][]des.Time
	// Edges are the dependencies between tasks, each pair at most once.
	Edges []Edge
}

// Edge says that To begins when From has ended and its data has come.
type Edge struct {
	From, To int
	// Comm is the time for the data between two different processors; within one processor it takes
	// no time.
	Comm des.Time
}

// Schedule says where and when each task runs.
type Schedule struct {
	Processor     []int
	Start, Finish []des.Time
}

// Makespan is when the last task ends.
func (s *Schedule) Makespan() des.Time { return slices.Max(append([]des.Time{0}, s.Finish...)) }

// Algorithm makes schedules ahead of time. It reports what makes a problem none.
type Algorithm interface {
	Name() string
	Plan(p *Problem) (Schedule, error)
}

// Algorithms are those of heft.go.
func Algorithms() []Algorithm { return []Algorithm{HEFT{}, CPOP{}, MinMin{}} }

// graph is a problem that has been checked.
type graph struct {
	*Problem
	parents, children [][]Edge
	order             []int // parents before their children
	processors        int
}

func newGraph(p *Problem) (*graph, error) {
	n := len(p.Cost)
	g := &graph{Problem: p, parents: make([][]Edge, n), children: make([][]Edge, n)}
	for i, row := range p.Cost {
		if i == 0 {
			g.processors = len(row)
		}
		if len(row) == 0 || len(row) != g.processors {
			return nil, fmt.Errorf("task %d has costs on %d processors, and task 0 on %d", i, len(row), g.processors)
		}
		for k, c := range row {
			if c <= 0 || c == des.Forever {
				return nil, fmt.Errorf("the cost of task %d on processor %d must be a finite time above 0, not %v", i, k, c)
			}
		}
	}
	waits := make([]int, n)
	for _, e := range p.Edges {
		switch {
		case min(e.From, e.To) < 0 || max(e.From, e.To) >= n:
			return nil, fmt.Errorf("an edge from task %d to task %d, and there are %d tasks", e.From, e.To, n)
		case e.Comm < 0 || e.Comm == des.Forever:
			return nil, fmt.Errorf("the data from task %d to task %d must take a finite time of 0 or more, not %v", e.From, e.To, e.Comm)
		}
		g.parents[e.To] = append(g.parents[e.To], e)
		g.children[e.From] = append(g.children[e.From], e)
		waits[e.To]++
	}
	for i, w := range waits {
		if w == 0 {
			g.order = append(g.order, i)
		}
	}
	for at := 0; at < len(g.order); at++ {
		for _, e := range g.children[g.order[at]] {
			if waits[e.To]--; waits[e.To] == 0 {
				g.order = append(g.order, e.To)
			}
		}
	}
	if len(g.order) < n {
		stuck := slices.IndexFunc(waits, func(w int) bool { return w > 0 })
		return nil, fmt.Errorf("tasks wait for each other in a circle, before task %d or through it", stuck)
	}
	return g, nil
}

// UpwardRanks are the tasks' upward ranks: the length of the longest path from the
// task, itself included, to the end, by mean costs (equation 9 of the paper of
// HEFT). A rank is its number of ticks divided by the number of processors, which
// is returned as well, so that it is exact.
func (p *Problem) UpwardRanks() (ranks []des.Time, processors int, err error) {
	g, err := newGraph(p)
	if err != nil {
		return nil, 0, err
	}
	return g.upward(), g.processors, nil
}

// total is a task's cost summed over the processors: so many times its mean.
func (g *graph) total(task int) (sum des.Time) {
	for _, c := range g.Cost[task] {
		sum += c
	}
	return sum
}

func (g *graph) upward() []des.Time {
	rank := make([]des.Time, len(g.Cost))
	for _, i := range slices.Backward(g.order) {
		for _, e := range g.children[i] {
			rank[i] = max(rank[i], des.Time(g.processors)*e.Comm+rank[e.To])
		}
		rank[i] += g.total(i)
	}
	return rank
}

// downward ranks are the longest paths from the beginning to the task, itself not
// included (equation 11).
func (g *graph) downward() []des.Time {
	rank := make([]des.Time, len(g.Cost))
	for _, i := range g.order {
		for _, e := range g.parents[i] {
			rank[i] = max(rank[i], rank[e.From]+g.total(e.From)+des.Time(g.processors)*e.Comm)
		}
	}
	return rank
}

// partial is a schedule in the making.
type partial struct {
	*graph
	Schedule
	busy [][]span // of each processor, by start
}

type span struct{ start, end des.Time }

func (g *graph) begin() *partial {
	n := len(g.Cost)
	return &partial{
		graph: g, busy: make([][]span, g.processors),
		Schedule: Schedule{Processor: make([]int, n), Start: make([]des.Time, n), Finish: make([]des.Time, n)},
	}
}

// earliest is the earliest start of a task whose parents are placed on a processor:
// in the first gap that holds it, once its data has come (insertion).
func (s *partial) earliest(task, processor int) des.Time {
	at := des.Time(0)
	for _, e := range s.parents[task] {
		comes := s.Finish[e.From]
		if s.Processor[e.From] != processor {
			comes += e.Comm
		}
		at = max(at, comes)
	}
	for _, b := range s.busy[processor] {
		if at+s.Cost[task][processor] <= b.start {
			break
		}
		at = max(at, b.end)
	}
	return at
}

// best is the processor on which a task finishes earliest, the first of several, and
// when it starts there.
func (s *partial) best(task int) (processor int, start des.Time) {
	finish := des.Forever
	for k, cost := range s.Cost[task] {
		if at := s.earliest(task, k); at+cost < finish {
			processor, start, finish = k, at, at+cost
		}
	}
	return processor, start
}

func (s *partial) place(task, processor int, start des.Time) {
	end := start + s.Cost[task][processor]
	s.Processor[task], s.Start[task], s.Finish[task] = processor, start, end
	busy := s.busy[processor]
	i := 0
	for i < len(busy) && busy[i].start < start {
		i++
	}
	s.busy[processor] = slices.Insert(busy, i, span{start, end})
}
