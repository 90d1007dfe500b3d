package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

// published is the example of Topcuoglu, Hariri and Wu (2002), figures 1 and 3.
func published() *Problem {
	return &Problem{
		Cost: [][]des.Time{
			{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17}, {12, 13, 10},
			{13, 16, 9}, {7, 15, 11}, {5, 11, 14}, {18, 12, 20}, {21, 7, 16},
		},
		Edges: []Edge{
			{0, 1, 18}, {0, 2, 12}, {0, 3, 9}, {0, 4, 11}, {0, 5, 14}, {1, 7, 19}, {1, 8, 16}, {2, 6, 23},
			{3, 7, 27}, {3, 8, 23}, {4, 8, 13}, {5, 7, 15}, {6, 9, 17}, {7, 9, 11}, {8, 9, 13},
		},
	}
}

func TestUpwardRanksAreThoseOfThePaper(t *testing.T) {
	ranks, q, err := published().UpwardRanks()
	require.NoError(t, err)
	var got []string
	for _, r := range ranks {
		got = append(got, fmt.Sprintf("%.3f", float64(r)/float64(q)))
	}
	require.Equal(t, []string{"108.000", "77.000", "80.000", "80.000", "69.000", "63.333", "42.667", "35.667", "44.333", "14.667"}, got)
}

func TestHEFTMakesTheScheduleOfThePaper(t *testing.T) {
	s, err := HEFT{}.Plan(published())
	require.NoError(t, err)
	require.Equal(t, []int{2, 0, 2, 1, 2, 1, 2, 0, 1, 1}, s.Processor)
	require.Equal(t, []des.Time{0, 27, 9, 18, 28, 26, 38, 57, 56, 73}, s.Start)
	require.Equal(t, des.Time(80), s.Makespan())
}

func TestCPOPMakesTheMakespanOfThePaper(t *testing.T) {
	s, err := CPOP{}.Plan(published())
	require.NoError(t, err)
	require.Equal(t, des.Time(86), s.Makespan())
	for _, task := range []int{0, 1, 8, 9} {
		require.Equal(t, 1, s.Processor[task], "the critical path is on one processor")
	}
}

func TestAGapThatIsJustLongEnoughIsFilled(t *testing.T) {
	s, err := HEFT{}.Plan(&Problem{Cost: [][]des.Time{{9, 2}, {4, 20}, {5, 15}}, Edges: []Edge{{0, 1, 3}}})
	require.NoError(t, err)
	require.Equal(t, []int{1, 0, 0}, s.Processor)
	require.Equal(t, []des.Time{0, 5, 0}, s.Start)
}

func TestOfEqualRanksTheFirstTaskIsFirst(t *testing.T) {
	s, err := HEFT{}.Plan(&Problem{Cost: [][]des.Time{{3}, {3}, {3}}})
	require.NoError(t, err)
	require.Equal(t, []des.Time{0, 3, 6}, s.Start)
}

// On one processor without data MinMin is shortest first, and by hand elsewhere.
func TestMinMinTakesTheTaskThatCanFinishFirst(t *testing.T) {
	s, err := MinMin{}.Plan(&Problem{Cost: [][]des.Time{{5}, {3}, {4}, {1}}, Edges: []Edge{{1, 3, 9}}})
	require.NoError(t, err)
	require.Equal(t, []des.Time{8, 0, 4, 3}, s.Start)
	s, err = MinMin{}.Plan(&Problem{Cost: [][]des.Time{{4, 6}, {3, 5}, {9, 5}}})
	require.NoError(t, err)
	require.Equal(t, []int{0, 0, 1}, s.Processor)
	require.Equal(t, []des.Time{3, 0, 0}, s.Start)
}

func TestWhatIsNoProblemIsSaid(t *testing.T) {
	cost := [][]des.Time{{1, 2}, {3, 4}, {3, 4}}
	for want, p := range map[string]Problem{
		"tasks wait for each other in a circle, before task 1": {Cost: cost, Edges: []Edge{{0, 1, 0}, {1, 2, 0}, {2, 1, 0}}},
		"an edge from task 0 to task 3, and there are 3 tasks": {Cost: cost, Edges: []Edge{{0, 3, 0}}},
		"must take a finite time of 0 or more, not -0.000001":  {Cost: cost, Edges: []Edge{{0, 1, -1}}},
		"task 1 has costs on 1 processors, and task 0 on 2":    {Cost: [][]des.Time{{1, 2}, {3}}},
		"task 0 has costs on 0 processors":                     {Cost: [][]des.Time{{}}},
		"the cost of task 1 on processor 0 must be a finite":   {Cost: [][]des.Time{{1, 2}, {0, 3}}},
	} {
		for _, a := range Algorithms() {
			_, err := a.Plan(&p)
			require.ErrorContains(t, err, want)
		}
	}
	for _, a := range Algorithms() {
		s, err := a.Plan(&Problem{})
		require.NoError(t, err, a.Name())
		require.Zero(t, s.Makespan())
	}
}

func drawn(t *rapid.T, tasks int) *Problem {
	p := &Problem{}
	n, q := rapid.IntRange(1, tasks).Draw(t, "tasks"), rapid.IntRange(1, 3).Draw(t, "processors")
	place := rapid.Permutation(upTo(n)).Draw(t, "numbers") // parents may have higher numbers
	for range n {
		row := make([]des.Time, q)
		for k := range row {
			row[k] = des.Time(rapid.IntRange(1, 9).Draw(t, "cost"))
		}
		p.Cost = append(p.Cost, row)
	}
	for i := range n {
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				p.Edges = append(p.Edges, Edge{From: place[j], To: place[i], Comm: des.Time(rapid.IntRange(0, 9).Draw(t, "data"))})
			}
		}
	}
	return p
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// optimum tries all orders of the tasks and all processors: each task as early as
// it can be behind those that were placed before it on its processor.
func optimum(p *Problem) des.Time {
	n := len(p.Cost)
	on, finish := make([]int, n), make([]des.Time, n)
	free := make([]des.Time, len(p.Cost[0]))
	best := des.Forever
	var try func(placed int, makespan des.Time)
	try = func(placed int, makespan des.Time) {
		if placed == n || makespan >= best {
			best = min(best, makespan)
			return
		}
		for i := range n {
			if finish[i] > 0 {
				continue
			}
			for k, before := range free {
				at, ready := before, true
				for _, e := range p.Edges {
					if e.To == i {
						ready = ready && finish[e.From] > 0
						comes := finish[e.From]
						if on[e.From] != k {
							comes += e.Comm
						}
						at = max(at, comes)
					}
				}
				if !ready {
					break
				}
				on[i], finish[i], free[k] = k, at+p.Cost[i][k], at+p.Cost[i][k]
				try(placed+1, max(makespan, finish[i]))
				finish[i], free[k] = 0, before
			}
		}
	}
	try(0, 0)
	return best
}

func TestNoScheduleBreaksItsProblemNorBeatsTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t, 5)
		least := optimum(p)
		for _, a := range Algorithms() {
			s, err := a.Plan(p)
			require.NoError(t, err)
			for i, row := range p.Cost {
				require.GreaterOrEqual(t, s.Start[i], des.Time(0))
				require.Equal(t, row[s.Processor[i]], s.Finish[i]-s.Start[i])
				for j := range i {
					require.True(t, s.Processor[i] != s.Processor[j] || s.Finish[i] <= s.Start[j] || s.Finish[j] <= s.Start[i], "%s: tasks %d and %d overlap", a.Name(), i, j)
				}
			}
			for _, e := range p.Edges {
				comes := s.Finish[e.From]
				if s.Processor[e.From] != s.Processor[e.To] {
					comes += e.Comm
				}
				require.GreaterOrEqual(t, s.Start[e.To], comes, a.Name())
			}
			require.GreaterOrEqual(t, s.Makespan(), least, a.Name())
		}
	})
}

// longest is the longest path from a task, by means times the processors.
func longest(p *Problem, task int) des.Time {
	far := des.Time(0)
	for _, e := range p.Edges {
		if e.From == task {
			far = max(far, des.Time(len(p.Cost[0]))*e.Comm+longest(p, e.To))
		}
	}
	for _, c := range p.Cost[task] {
		far += c
	}
	return far
}

func TestUpwardRanksAreLongestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t, 7)
		ranks, q, err := p.UpwardRanks()
		require.NoError(t, err)
		require.Equal(t, len(p.Cost[0]), q)
		for i := range ranks {
			require.Equal(t, longest(p, i), ranks[i])
		}
	})
}

// What is placed later only fills gaps, so that no gap of the whole schedule can be
// one that a task placed where it finishes first has passed over.
func TestNoTaskCouldFinishEarlierInAGapOfItsSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t, 7)
		for _, a := range []Algorithm{HEFT{}, MinMin{}} {
			s, err := a.Plan(p)
			require.NoError(t, err)
			for i, row := range p.Cost {
				for k, cost := range row {
					from := des.Time(0)
					for _, e := range p.Edges {
						if e.To != i {
							continue
						}
						comes := s.Finish[e.From]
						if s.Processor[e.From] != k {
							comes += e.Comm
						}
						from = max(from, comes)
					}
					for at := from; at+cost < s.Finish[i]; at++ {
						taken := false
						for j := range p.Cost {
							taken = taken || j != i && s.Processor[j] == k && s.Start[j] < at+cost && at < s.Finish[j]
						}
						require.True(t, taken, "%s: task %d fits on processor %d at %d", a.Name(), i, k, at)
					}
				}
			}
		}
	})
}

// equal has all tasks cost the same everywhere, and data nothing.
func equal(p *Problem) {
	for i := range p.Edges {
		p.Edges[i].Comm = 0
	}
	for _, row := range p.Cost {
		for k := range row {
			row[k] = row[0]
		}
	}
}

// Where no edge costs anything and all tasks are equally long on all processors there
// is no gap that is too short for a task: nothing idles that could work, so that
// Graham's bound (1966) must hold, at most 2 - 1/m times the optimum. For tasks of
// different lengths it need not: one that does not fit into the gap before another,
// which was placed first and waits for its parents, leaves that gap idle.
func TestWithoutDataEqualTasksOnEqualProcessorsKeepTheBoundOfGraham(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t, 6)
		equal(p)
		for i := range p.Cost {
			p.Cost[i] = p.Cost[0]
		}
		least, m := optimum(p), des.Time(len(p.Cost[0]))
		for _, a := range []Algorithm{HEFT{}, MinMin{}} {
			s, err := a.Plan(p)
			require.NoError(t, err)
			require.LessOrEqual(t, m*s.Makespan(), (2*m-1)*least, a.Name())
		}
	})
}
