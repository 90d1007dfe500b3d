package reproduce

// META, section 6.1: one job's window by AEP's criteria.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// wholeTimes is how the authors' programs keep time: every task takes a whole
// number of time units, rounded up.
var wholeTimes = window.Settings{Quantum: des.Second}

// slowEvery is in how many cycles of the charts of working time the slowest
// searches are asked once.
const slowEvery = 10

// aepFigure5 is META figure 5.
func aepFigure5() searches {
	ofWindow := []string{start, runTime, finish, cpu, cost}
	s := searches{Setups: []setup{{Environment: vo.META61(), Request: vo.META61Request()}}}
	amp := func(name string, how window.Settings) {
		s.Algorithms = append(s.Algorithms, algorithm{Name: name, Finder: window.AMP{Settings: how}, Own: how.Quantum == 0, Only: ofWindow})
	}
	aep := func(own bool, name string, how window.Settings, by window.RoughGoal) {
		s.Algorithms = append(s.Algorithms, algorithm{Name: name, Finder: window.AEP{Settings: how, By: by}, Own: own, Only: ofWindow})
	}
	csa := func(by window.RoughGoal, only ...string) {
		s.Algorithms = append(s.Algorithms, algorithm{Name: "CSA", Finder: window.CSA{Settings: wholeTimes, By: by}, Only: only})
	}
	realTimes := window.Settings{}
	amp("AMP", wholeTimes)
	aep(false, "MinRunTime", wholeTimes, window.MinRunTime)
	aep(false, "MinFinish", wholeTimes, window.MinFinish)
	aep(false, "MinCost", wholeTimes, window.MinCost)
	aep(false, "MinProcTime", wholeTimes, window.MinProcTime)
	csa(window.MinStart, start, alternatives)
	csa(window.MinRunTime, runTime)
	csa(window.MinFinish, finish)
	csa(window.MinProcTime, cpu)
	csa(window.MinCost, cost)
	aep(true, "MinProcTime by substitution", wholeTimes, window.MinProcTimeSubstitution)
	aep(true, "MinRunTimeExact", wholeTimes, window.MinRunTimeExact)
	aep(true, "MinFinishExact", wholeTimes, window.MinFinishExact)
	aep(true, "MinProcTimeExact", wholeTimes, window.MinProcTimeExact)
	amp("AMP, real task times", realTimes)
	aep(true, "MinCost, real task times", realTimes, window.MinCost)
	aep(true, "MinFinish, real task times", realTimes, window.MinFinish)
	return s
}

// aepTime is META figure 6: how long the searches of figure 5 take.
func aepTime() (s searches) {
	csa := algorithm{Name: "CSA", Finder: window.CSA{Settings: wholeTimes, By: window.MinCost}, Every: slowEvery}
	perWindow := csa
	perWindow.Name, perWindow.PerAlternative, perWindow.Only = "CSA per alternative", true, []string{milliseconds}
	for i, a := range aepFigure5().Algorithms {
		a.Only = nil
		switch {
		case i == 5:
			s.Algorithms = append(s.Algorithms, csa, perWindow)
		case i < 5, slices.Contains([]string{"MinRunTimeExact", "MinFinishExact", "MinProcTimeExact"}, a.Name):
			s.Algorithms = append(s.Algorithms, a)
		}
	}
	add := func(sweep, point string, x int, change func(*vo.Environment)) {
		e := vo.META61()
		change(&e)
		s.Setups = append(s.Setups, setup{Sweep: sweep, Point: point, X: float64(x), Environment: e, Request: vo.META61Request()})
	}
	for _, n := range []int{50, 100, 200, 300, 400} {
		add("nodes", fmt.Sprintf("%d nodes", n), n, func(e *vo.Environment) { e.Nodes.Count = n })
	}
	for _, units := range []int{600, 1200, 1800, 2400, 3000, 3600} {
		add("interval", fmt.Sprintf("interval %d", units), units, func(e *vo.Environment) { e.Units = units })
	}
	return s
}
