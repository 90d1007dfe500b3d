package reproduce

// META, section 6.1: one job's window by AEP's criteria.

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// wholeTimes is how the authors' programs keep time: every task takes a whole
// number of time units, rounded up.
var wholeTimes = window.Settings{Quantum: des.Second}

// meta61Settings are those of META 6.1's experiments.
func meta61Settings(cycles Setting) []Setting {
	return append(byMETA61.settings(vo.META61().Facts()),
		Setting{"job", "5 nodes of performance 2 or more, 150 time units at performance 2, budget 1500", Source{Paper, "META 6.1"}},
		wholeTimesSetting,
		Setting{"MinProcTime", "the least sum of task times among the n cheapest at each step", Source{Program, "META calls it simplified and does not say how"}},
		Setting{"CSA", "its figures are each the best of its alternatives by that criterion", Source{Paper, "META 6.1"}},
		cycles,
	)
}

// AEPFigure5 is META figure 5.
func AEPFigure5() Search {
	csa := func(by window.RoughGoal) window.CSA { return window.CSA{Settings: wholeTimes, By: by} }
	aep := func(by window.RoughGoal) window.AEP { return window.AEP{Settings: wholeTimes, By: by} }
	exact := window.Settings{}
	return Search{
		ID:      "aep",
		Heading: "Windows by AEP's criteria (META 6.1, figure 5)",
		Source:  "META figure 5 (cost); the authors' program for the rest",
		Cycles:  5000,
		Setups:  []Setup{{Environment: vo.META61(), Request: vo.META61Request()}},
		Quantities: []Quantity{
			Start, Runtime, Finish, CPU, Cost, Alternatives,
		},
		Algorithms: []Algorithm{
			{Name: "AMP", Finder: window.AMP{Settings: wholeTimes}, Only: windowQuantities},
			{Name: "MinRunTime", Finder: aep(window.MinRunTime), Only: windowQuantities},
			{Name: "MinFinish", Finder: aep(window.MinFinish), Only: windowQuantities},
			{Name: "MinCost", Finder: aep(window.MinCost), Only: windowQuantities},
			{Name: "MinProcTime", Finder: aep(window.MinProcTime), Only: windowQuantities},
			{Name: "CSA", Finder: csa(window.MinStart), Only: []Quantity{Start, Alternatives}},
			{Name: "CSA", Finder: csa(window.MinRunTime), Only: []Quantity{Runtime}},
			{Name: "CSA", Finder: csa(window.MinFinish), Only: []Quantity{Finish}},
			{Name: "CSA", Finder: csa(window.MinProcTime), Only: []Quantity{CPU}},
			{Name: "CSA", Finder: csa(window.MinCost), Only: []Quantity{Cost}},
			{Name: "MinProcTime by substitution", Finder: aep(window.MinProcTimeSubstitution), Own: true, Only: windowQuantities},
			{Name: "MinRunTimeExact", Finder: aep(window.MinRunTimeExact), Own: true, Only: windowQuantities},
			{Name: "MinFinishExact", Finder: aep(window.MinFinishExact), Own: true, Only: windowQuantities},
			{Name: "MinProcTimeExact", Finder: aep(window.MinProcTimeExact), Own: true, Only: windowQuantities},
			{Name: "AMP, real task times", Finder: window.AMP{Settings: exact}, Own: true, Only: windowQuantities},
			{Name: "MinCost, real task times", Finder: window.AEP{Settings: exact, By: window.MinCost}, Own: true, Only: windowQuantities},
			{Name: "MinFinish, real task times", Finder: window.AEP{Settings: exact, By: window.MinFinish}, Own: true, Only: windowQuantities},
		},
		Settings: meta61Settings(Setting{"cycles", "5000", Source{Paper, "META 6.1"}}),
		paper: published{
			"AMP":       "- - - - 1445.2",
			"MinFinish": "- - - - 1464.2", "MinCost": "- - - - 1027.3",
			"MinRunTime": "- - - - 1464.9", "MinProcTime": "- - - - 1342.1",
			"CSA": "- - - - 1352",
		},
		code: published{
			"AMP":         "0 96.0 96.0 287 1449",
			"MinRunTime":  "58 32.6 90.6 157 1467",
			"MinFinish":   "0 34.1 34.1 161 1467",
			"MinCost":     "217 109 326 326 1039",
			"MinProcTime": "516 37 553 170 1336",
			"CSA":         "0 37.7 58.0 167 1356 55.7",
		},
		Notes: []string{
			"MinProcTime starts late: at the end of the interval only fast nodes have slots that are long enough, so that the n cheapest are fast there.",
		},
	}
}

// windowQuantities are those of a window with a rough right edge.
var windowQuantities = []Quantity{Start, Runtime, Finish, CPU, Cost}

// timingRemark says how the time of searches is measured.
const timingRemark = "Times are wall-clock times of a search, one at a time, the lesser of two where it is below a millisecond; the number of steps beside them is exact."

// slowEvery is in how many cycles of the charts of working time the slowest
// searches are asked once.
const slowEvery = 10

// AEPTime is META figure 6: how long the searches take.
func AEPTime() Search {
	t := Search{
		ID:      "aep-time",
		Heading: "Working time of AEP's criteria against nodes and interval (META figure 6)",
		Source:  "META figure 6, a chart; the authors' program on a machine of the class used here (100 nodes, interval 600)",
		Cycles:  1000, Serial: true,
		Quantities: []Quantity{Milliseconds, Steps},
		Settings: append(meta61Settings(Setting{"cycles", "1000 a point", Source{Paper, "META 6.1"}}),
			Setting{"CSA per alternative", "the time of CSA over the windows that it found", Source{Paper, "META figure 6"}},
			Setting{"CSA's cycles", "every tenth", Source{Ours, "it is slow, and its mean is known well enough"}},
		),
		Remarks: []string{timingRemark},
		code: published{
			"AMP, 100 nodes": "0.15", "MinRunTime, 100 nodes": "2.3", "MinFinish, 100 nodes": "2.5",
			"MinCost, 100 nodes": "1.1", "MinProcTime, 100 nodes": "1.1", "CSA, 100 nodes": "4.4",
		},
	}
	algorithms := AEPFigure5().Algorithms
	for _, a := range algorithms[:5] {
		t.Algorithms = append(t.Algorithms, Algorithm{Name: a.Name, Finder: a.Finder})
	}
	csa := Algorithm{Name: "CSA", Finder: window.CSA{Settings: wholeTimes, By: window.MinCost}, Every: slowEvery}
	t.Algorithms = append(t.Algorithms, csa)
	csa.Name, csa.PerAlternative, csa.Only = "CSA per alternative", true, []Quantity{Milliseconds}
	t.Algorithms = append(t.Algorithms, csa)
	for _, a := range algorithms {
		if a.Name == "MinRunTimeExact" || a.Name == "MinFinishExact" || a.Name == "MinProcTimeExact" {
			t.Algorithms = append(t.Algorithms, Algorithm{Name: a.Name, Finder: a.Finder, Own: true})
		}
	}
	for _, n := range []int{50, 100, 200, 300, 400} {
		e := vo.META61()
		e.Nodes.Count = n
		t.Setups = append(t.Setups, Setup{Sweep: "nodes", Point: fmt.Sprintf("%d nodes", n), X: float64(n), Environment: e, Request: vo.META61Request()})
	}
	for _, units := range []int{600, 1200, 1800, 2400, 3000, 3600} {
		e := vo.META61()
		e.Units = units
		t.Setups = append(t.Setups, Setup{Sweep: "interval", Point: fmt.Sprintf("interval %d", units), X: float64(units), Environment: e, Request: vo.META61Request()})
	}
	return t
}
