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

// dep18Settings are those of DEP18's experiments.
func dep18Settings(e vo.Environment, more ...Setting) []Setting {
	return append(append(byDEP18.settings(e.Facts()),
		Setting{"job", "7 nodes, volume 800, budget 644", Source{Paper, "DEP18 4"}},
		wholeTimesSetting,
		Setting{"costs", "exact searches round every cost up to a whole number; rows \"real costs\" do not", Source{Program, "its dynamic programming"}},
		Setting{"distances", "DEP counts at most 500 for a slot; rows \"no cap\" do not", Source{Program, ""}},
		Setting{"windows", "begin where slots begin; rows \"any start\" also between", Source{Paper, "DEP18 3"}},
		Setting{"Lite, FirstFit, MultipleBest", "weigh the n cheapest at every slot that is added", Source{Paper, "DEP18 3, step 3c"}},
	), more...)
}

const dep18FirstSlot = "The authors' square search passes over a group of slots of equal start where the last one does not fit, and so misses windows at 0: it starts at 23.5 in the mean, ours at 0. Every row of theirs that rests on first fit (FirstFit, MultipleBest) carries that."

// loadOfTheText is the variant with the local load that DEP18 describes.
const loadOfTheText = "load of the text"

// dep18Setups are the environment as the authors' program draws it and, as a
// variant, as the text has it.
func dep18Setups(e vo.Environment, point string, x float64) []Setup {
	text := e
	text.Load = vo.DEP18Text().Load
	return []Setup{
		{Point: point, X: x, Environment: e, Request: vo.DEP18Request()},
		{Variant: loadOfTheText, Point: point, X: x, Environment: text, Request: vo.DEP18Request()},
	}
}

func firstFit() window.Cheapest { return window.Cheapest{Settings: dep18, Goal: window.FirstFit} }

func lite(by window.Criterion) window.Cheapest {
	return window.Cheapest{Settings: dep18, Goal: window.MostWorth, By: by}
}

// MaxQ is DEP18 figure 3 and the slides' charts.
func MaxQ() Search {
	charts := []Quantity{Start, Finish, Runtime, Cost}
	s := Search{
		ID:         "maxq",
		Heading:    "Windows of the greatest worth (DEP18 figure 3) and the slides' start, finish, runtime and cost",
		Source:     "DEP18 figure 3 (mean q, 7 nodes of 100); the slides' charts print no numbers",
		Cycles:     2000,
		XLabel:     "nodes in the domain",
		Quantities: append([]Quantity{Worth}, charts...),
		Algorithms: []Algorithm{
			{Name: "MaxQ", Finder: window.Best{Settings: dep18Knapsack, By: window.Q{}}},
			{Name: "MaxQ Lite", Finder: lite(window.Q{})},
			{Name: "MultipleBest", Finder: window.MultipleBest{Settings: dep18, By: window.Q{}}},
			{Name: "FirstFit", Finder: firstFit()},
			{Name: "MinFinish", Finder: window.Cheapest{Settings: dep18, Goal: window.LeastEnd}, Only: charts},
			{Name: "MinRuntime", Finder: window.Cheapest{Settings: dep18, Goal: window.LeastTime}, Only: charts},
			{Name: "MinCost", Finder: window.Cheapest{Settings: dep18, Goal: window.LeastCost}, Only: charts},
			{Name: "MaxQ, real costs", Finder: window.Best{Settings: dep18, By: window.Q{}}, Own: true},
		},
		Settings: dep18Settings(vo.DEP18(), loadOfTheTextSetting(),
			Setting{"nodes, besides", "40", Source{Paper, "DEP18, slides"}},
			Setting{"cycles", "2000", Source{Paper, "DEP18 4"}},
		),
		paper: published{
			"MaxQ, 100 nodes": "61.8", "FirstFit, 100 nodes": "35",
		},
		code: published{
			"MaxQ, 100 nodes": "62.0", "MaxQ Lite, 100 nodes": "51.6", "MultipleBest, 100 nodes": "49.7", "FirstFit, 100 nodes": "35.2",
		},
		Notes: []string{dep18FirstSlot},
	}
	at := func(series string) Ref { return Ref{series, "100 nodes", Worth.String()} }
	s.Claims = []Claim{
		{Text: "MaxQ Lite and MultipleBest are less than 20% below MaxQ", Where: "DEP18 4", Pairs: []Pair{
			{Less: at("MaxQ"), Than: at("MultipleBest"), Factor: 1 / 0.8}, {Less: at("MaxQ"), Than: at("MaxQ Lite"), Factor: 1 / 0.8},
		}},
		{Text: "MultipleBest is 18% below MaxQ", Where: "DEP18, slides", Changes: []Change{{Of: at("MultipleBest"), From: at("MaxQ"), Percent: -18}}},
	}
	for _, n := range []int{100, 40} {
		e := vo.DEP18()
		e.Nodes.Count = n
		s.Setups = append(s.Setups, dep18Setups(e, fmt.Sprintf("%d nodes", n), float64(n))...)
	}
	return s
}

func loadOfTheTextSetting() Setting {
	facts := vo.DEP18Text().Facts()
	value := make(map[string]string, len(facts)) // never iterated
	for _, f := range facts {
		value[f.Name] = f.Value
	}
	return Setting{loadOfTheText, fmt.Sprintf("local load %s, %s, %s; tasks as above", value["local load"], value["its distribution"], value["its parameters"]),
		Source{Paper, "DEP18 4: hypergeometric, up to 30%; the parameters are META's program's"}}
}

// Placement is DEP18 table 1.
func Placement() Search {
	best := func(s window.Settings, by window.Criterion) window.Best { return window.Best{Settings: s, By: by} }
	multiple := func(by window.Criterion) window.MultipleBest {
		return window.MultipleBest{Settings: dep18, By: by}
	}
	both := []Quantity{LMin, LMax, Milliseconds}
	order := func(q Quantity, names ...string) []Pair {
		var refs []Ref
		for _, name := range names {
			refs = append(refs, Ref{Series: name, Quantity: q.String()})
		}
		return ascending(refs...)
	}
	return Search{
		ID:         "placement",
		Heading:    "Dependable and coordinated placement (DEP18 table 1)",
		Source:     "DEP18 table 1",
		Cycles:     2000,
		Serial:     true,
		Setups:     dep18Setups(vo.DEP18(), "", 0),
		Quantities: []Quantity{LMin, LMax, Milliseconds, Start, Cost},
		Gantt:      placementGantt(),
		Algorithms: []Algorithm{
			{Name: "MultipleBest", Finder: multiple(window.DEP{}), Only: []Quantity{LMin, Milliseconds}},
			{Name: "MultipleBest", Finder: multiple(window.COORD{}), Only: []Quantity{LMax}},
			{Name: "FirstFit", Finder: firstFit()},
			{Name: "MinCost", Finder: window.Cheapest{Settings: dep18, Goal: window.LeastCost}},
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
		Settings: dep18Settings(vo.DEP18(), loadOfTheTextSetting(), Setting{"cycles", "2000", Source{Paper, "DEP18 4"}}),
		Remarks: []string{
			"L min and L max are means over a window's slots; L min counts at most 500 for a slot. MultipleBest's L min is that of its best window by DEP, its L max that of its best by COORD.",
			timingRemark,
		},
		paper: published{
			"MultipleBest": "253 159 103", "FirstFit": "85 342 4.2", "DEP": "369 480 1695", "DEP Lite": "275 440 4.5",
			"COORD": "9 52 1694", "COORD Lite": "31 148 4.5",
		},
		code: published{
			"MultipleBest": "252 170 11.9", "FirstFit": "19 355 0.35", "MinCost": "96 337 2.0", "DEP": "364 482 621",
			"DEP Lite": "272 438 2.1", "COORD": "17 57 581", "COORD Lite": "50 164 2.1",
		},
		Claims: []Claim{
			{Text: "paper, L min, its row First Fit read as MinCost: COORD < COORD Lite < MinCost < MultipleBest < DEP Lite < DEP", Where: "DEP18 table 1",
				Pairs: order(LMin, "COORD", "COORD Lite", "MinCost", "MultipleBest", "DEP Lite", "DEP")},
			{Text: "paper, L max, likewise: COORD < COORD Lite < MultipleBest < MinCost < DEP Lite < DEP", Where: "DEP18 table 1",
				Pairs: order(LMax, "COORD", "COORD Lite", "MultipleBest", "MinCost", "DEP Lite", "DEP")},
		},
		Notes: []string{
			dep18FirstSlot,
			"What the paper's table calls First Fit (85 / 342) is what a search for the least cost gives: compare its figures with the row MinCost. A true first fit begins at 0 and has no distance to the interval's beginning, so the orders that its row is in fail.",
			"The times of the authors' code are those of their program on a machine of the class used here (their exact searches are the dynamic programming), the paper's those of a machine of 2018.",
		},
	}
}

// WindowTime is the slides' working-time charts.
func WindowTime() Search {
	s := Search{
		ID:         "window-time",
		Heading:    "Working time of the square searches against interval, nodes and window size (DEP18, slides)",
		Source:     "the slides' charts, without numbers; the authors' program on a machine of the class used here (100 nodes, interval 1200, 7 nodes wanted)",
		Cycles:     100,
		Serial:     true,
		Quantities: []Quantity{Milliseconds, Steps},
		Algorithms: []Algorithm{
			{Name: "FirstFit", Finder: firstFit()},
			{Name: "MinCost", Finder: window.Cheapest{Settings: dep18, Goal: window.LeastCost}},
			{Name: "MultipleBest", Finder: window.MultipleBest{Settings: dep18, By: window.DEP{}}, Every: slowEvery},
			{Name: "MaxQ", Finder: window.Best{Settings: dep18, By: window.Q{}}},
			{Name: "DEP", Finder: window.Best{Settings: dep18, By: window.DEP{}}},
			{Name: "COORD", Finder: window.Best{Settings: dep18, By: window.COORD{}}},
			{Name: "DEP Lite", Finder: lite(window.DEP{})},
		},
		Settings: dep18Settings(vo.DEP18(),
			Setting{"budget", "92 a node, as 644 for 7", Source{Ours, "the slides vary the number of nodes wanted and name no budget"}},
			Setting{"costs here", "real ones", Source{Ours, "working time does not depend on it"}},
			Setting{"cycles", "100", Source{Ours, "the slides do not say"}},
			Setting{"MultipleBest's cycles", "every tenth", Source{Ours, "it is slow, and its mean is known well enough"}},
		),
		Remarks: []string{timingRemark},
		code: published{
			"FirstFit, 100 nodes": "0.35", "MinCost, 100 nodes": "2.0", "MultipleBest, 100 nodes": "11.9", "MaxQ, 100 nodes": "606",
			"DEP, 100 nodes": "621", "COORD, 100 nodes": "581", "DEP Lite, 100 nodes": "2.1",
		},
	}
	add := func(sweep, point string, x int, e vo.Environment, r entity.Request) {
		s.Setups = append(s.Setups, Setup{Sweep: sweep, Point: point, X: float64(x), Environment: e, Request: r})
	}
	for _, units := range []int{400, 1200, 2000, 4000, 6000} {
		e := vo.DEP18()
		e.Units = units
		add("interval", fmt.Sprintf("interval %d", units), units, e, vo.DEP18Request())
	}
	for _, n := range []int{30, 50, 100, 200} {
		e := vo.DEP18()
		e.Nodes.Count = n
		add("nodes", fmt.Sprintf("%d nodes", n), n, e, vo.DEP18Request())
	}
	for _, n := range []int{1, 5, 10, 20, 30} {
		r := vo.DEP18Request()
		r.Nodes, r.Budget = n, 92*float64(n)
		add("nodes wanted", fmt.Sprintf("%d wanted", n), n, vo.DEP18(), r)
	}
	return s
}
