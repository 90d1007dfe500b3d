package plantest_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/plan/plantest"
	"github.com/gridslot/gridslot/policy/window" // tests may look sideways
)

func cluster(size int) func() entity.Plan {
	return func() entity.Plan { return plan.NewCluster(size) }
}

// ahead is the interval of the domains under test.
const ahead = 60

// domain makes domains of nodes with these performances, which are their prices,
// too.
func domain(finder plan.Finder, perfs ...float64) func() entity.Plan {
	var nodes []*entity.Node
	for i, p := range perfs {
		nodes = append(nodes, &entity.Node{ID: i, Perf: p, Price: p})
	}
	return func() entity.Plan {
		d, err := plan.NewDomain(nodes, finder)
		if err != nil {
			panic(err)
		}
		d.Interval = ahead
		return d
	}
}

// check holds plans to their promises by rapid.
func check(t rapid.TB, empty func() entity.Plan, c plantest.Config) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) { plantest.Check(t, empty, c) })
}

// set gives a flag of rapid another value for this test.
func set(t *testing.T, name, value string) {
	before := flag.Lookup(name).Value.String()
	require.NoError(t, flag.Set(name, value))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
}

func TestClusterKeepsItsPromises(t *testing.T) {
	for _, size := range []int{1, 2, 5, 40} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { check(t, cluster(size), plantest.Config{}) })
	}
}

// A plan of hundreds of reservations is another one to search than a small one.
func TestLargePlansKeepTheirPromises(t *testing.T) {
	set(t, "rapid.checks", "3")
	set(t, "rapid.steps", "100")
	large := plantest.Config{Spread: 400, Fill: 150}
	for _, size := range []int{2, 5, 30} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { check(t, cluster(size), large) })
	}
	set(t, "rapid.checks", "1")
	t.Run("nodes", func(t *testing.T) { check(t, domain(window.AMP{}, 1, 2, 3, 3, 1), large) })
}

func TestDomainKeepsItsPromises(t *testing.T) {
	for _, perfs := range [][]float64{{1}, {1, 2, 3}, {1, 1, 1}, {1, 2, 2, 1, 2}} {
		for _, f := range []plan.Finder{window.AMP{}, window.ALP{}} {
			t.Run(fmt.Sprint(f.Name(), perfs), func(t *testing.T) {
				check(t, domain(f, perfs...), plantest.Config{Earliest: true, Ahead: ahead})
			})
		}
		for _, f := range []plan.Finder{
			window.AEP{By: window.MinCost}, window.AEP{By: window.MinFinish}, window.CSA{By: window.MinRunTime},
			window.Cheapest{Goal: window.LeastEnd}, window.Best{By: window.Q{}},
		} {
			t.Run(fmt.Sprint(f.Name(), perfs), func(t *testing.T) { check(t, domain(f, perfs...), plantest.Config{}) })
		}
	}
}
