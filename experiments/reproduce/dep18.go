package reproduce

// DEP18: one job's square window by first fit, by the nodes' values, and by the
// distances to the neighbours in time.

import (
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// dep18 is how DEP18's program searches: whole task times, distances cut at 500.
var dep18 = window.Settings{Quantum: wholeTimes.Quantum, MaxDistance: dep18Cap}

// dep18Knapsack is how its dynamic programming counts: every cost rounded up to a
// whole number, besides.
var dep18Knapsack = window.Settings{Quantum: dep18.Quantum, MaxDistance: dep18.MaxDistance, RoundCosts: 1}

// anyStart is ours: real costs, windows between the starts of slots too.
var anyStart = window.Settings{Quantum: dep18.Quantum, MaxDistance: dep18.MaxDistance, AnyStart: true}

// loadOfTheText is the variant with the local load that DEP18 describes.
const loadOfTheText = "load of the text"

// dep18Setups are the environment as the authors' program draws it and, as a
// variant, as the text has it.
func dep18Setups(e vo.Environment, point string, x float64) []setup {
	text := e
	text.Load = vo.DEP18Text().Load
	return []setup{
		{Point: point, X: x, Environment: e, Request: vo.DEP18Request()},
		{Variant: loadOfTheText, Point: point, X: x, Environment: text, Request: vo.DEP18Request()},
	}
}

func best(how window.Settings, by window.Criterion) window.Best {
	return window.Best{Settings: how, By: by}
}

var firstFit = cheapest(window.FirstFit)

func cheapest(goal window.SquareGoal) window.Cheapest {
	return window.Cheapest{Settings: dep18, Goal: goal}
}

func lite(by window.Criterion) window.Cheapest {
	return window.Cheapest{Settings: dep18, Goal: window.MostWorth, By: by}
}

func multiple(by window.Criterion) window.MultipleBest {
	return window.MultipleBest{Settings: dep18, By: by}
}

// maxQ is DEP18 figure 3 and the slides' charts.
func maxQ() searches {
	charts := []string{start, finish, runTime, cost}
	s := searches{Algorithms: []algorithm{
		{Name: "MaxQ", Finder: best(dep18Knapsack, window.Q{})},
		{Name: "MaxQ Lite", Finder: lite(window.Q{})},
		{Name: "MultipleBest", Finder: multiple(window.Q{})},
		{Name: "FirstFit", Finder: firstFit},
		{Name: "MinFinish", Finder: cheapest(window.LeastEnd), Only: charts},
		{Name: "MinRuntime", Finder: cheapest(window.LeastTime), Only: charts},
		{Name: "MinCost", Finder: cheapest(window.LeastCost), Only: charts},
		{Name: "MaxQ, real costs", Finder: best(dep18, window.Q{}), Own: true},
	}}
	for _, n := range []int{100, 40} {
		e := vo.DEP18()
		e.Nodes.Count = n
		s.Setups = append(s.Setups, dep18Setups(e, fmt.Sprintf("%d nodes", n), float64(n))...)
	}
	return s
}

// placement is DEP18 table 1.
func placement() searches {
	both := []string{leastGap, greatestGap, milliseconds}
	return searches{
		Setups: dep18Setups(vo.DEP18(), "", 0),
		Gantt:  placementGantt(),
		Algorithms: []algorithm{
			{Name: "MultipleBest", Finder: multiple(window.DEP{}), Only: []string{leastGap, milliseconds}},
			{Name: "MultipleBest", Finder: multiple(window.COORD{}), Only: []string{greatestGap}},
			{Name: "FirstFit", Finder: firstFit},
			{Name: "MinCost", Finder: cheapest(window.LeastCost)},
			{Name: "DEP", Finder: best(dep18Knapsack, window.DEP{})},
			{Name: "DEP Lite", Finder: lite(window.DEP{})},
			{Name: "COORD", Finder: best(dep18Knapsack, window.COORD{})},
			{Name: "COORD Lite", Finder: lite(window.COORD{})},
			{Name: "DEP, real costs", Finder: best(dep18, window.DEP{}), Own: true},
			{Name: "DEP, no cap", Finder: best(wholeTimes, window.DEP{}), Own: true},
			{Name: "DEP, any start", Finder: best(anyStart, window.DEP{}), Own: true},
			{Name: "COORD, real costs", Finder: best(dep18, window.COORD{}), Own: true, Only: both},
			{Name: "COORD, any start", Finder: best(anyStart, window.COORD{}), Own: true, Only: both},
		},
	}
}

// windowTime is the slides' working-time charts.
func windowTime() searches {
	s := searches{Algorithms: []algorithm{
		{Name: "FirstFit", Finder: firstFit},
		{Name: "MinCost", Finder: cheapest(window.LeastCost)},
		{Name: "MultipleBest", Finder: multiple(window.DEP{}), Every: slowEvery},
		{Name: "MaxQ", Finder: best(dep18, window.Q{})},
		{Name: "DEP", Finder: best(dep18, window.DEP{})},
		{Name: "COORD", Finder: best(dep18, window.COORD{})},
		{Name: "DEP Lite", Finder: lite(window.DEP{})},
	}}
	add := func(sweep, point string, x int, change func(*vo.Environment, *entity.Request)) {
		e, r := vo.DEP18(), vo.DEP18Request()
		change(&e, &r)
		s.Setups = append(s.Setups, setup{Sweep: sweep, Point: point, X: float64(x), Environment: e, Request: r})
	}
	for _, units := range []int{400, 1200, 2000, 4000, 6000} {
		add("interval", fmt.Sprintf("interval %d", units), units, func(e *vo.Environment, _ *entity.Request) { e.Units = units })
	}
	for _, n := range []int{30, 50, 100, 200} {
		add("nodes", fmt.Sprintf("%d nodes", n), n, func(e *vo.Environment, _ *entity.Request) { e.Nodes.Count = n })
	}
	for _, n := range []int{1, 5, 10, 20, 30} {
		add("nodes wanted", fmt.Sprintf("%d wanted", n), n, func(_ *vo.Environment, r *entity.Request) { r.Nodes, r.Budget = n, 92*float64(n) })
	}
	return s
}
