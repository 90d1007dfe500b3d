package oarrla

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/agent"
)

// On realistic workloads, under every strategy: nothing breaks a rule.
func TestEveryStrategyKeepsTheRules(t *testing.T) {
	const n = 1000
	sources := map[string]Source{"look-alike": LookAlike()}
	if s := FindSource(); s.Trace != "" {
		sources["SDSC-BLUE"] = s
	} else {
		t.Logf("%s has no SDSC-BLUE: only the look-alike is run", TracesVariable)
	}
	for from, source := range sources {
		for _, name := range agent.Registry().Names() {
			t.Run(from+"/"+name, func(t *testing.T) { keepsTheRules(t, source, name, n) })
		}
	}
}

func keepsTheRules(t *testing.T, source Source, strategy string, n int64) {
	var sites []*validate.Validator
	ran := counter{}
	r, err := simulate(context.Background(), OAR11(), source, n, false, strategy, 1, scenario.Options{
		Observers: func(_, site string) []entity.Observer {
			if site == "" {
				return nil
			}
			v := &validate.Validator{}
			sites = append(sites, v)
			return []entity.Observer{v, ran}
		},
	})
	require.NoError(t, err)
	require.EqualValues(t, n, r.Jobs)
	require.Zero(t, r.Killed+r.Rejected)
	require.Len(t, sites, 7)
	for _, v := range sites {
		report := v.Report(true)
		require.NoError(t, report.Err(), "%v", report)
	}
	jobs, err := source.open(1, n, false)
	require.NoError(t, err)
	for j, ok := jobs.Next(); ok; j, ok = jobs.Next() {
		require.Equal(t, j.Request.Nodes, ran[j.ID], "every task of %v runs once", j)
	}
}

// counter counts the processors that began to run, by job.
type counter map[int64]int

func (c counter) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		c[e.Run.ID] += e.Run.Request.Nodes
	}
}

// BenchmarkGrid tells what a job costs: it should not depend on how many there
// are. ns/job is what to compare.
func BenchmarkGrid(b *testing.B) {
	large := &scenario.Grid{Brokers: 100, Network: scenario.Network{Latency: 1}}
	for range 100 {
		large.Clusters = append(large.Clusters, scenario.Site{Processors: 96})
	}
	for _, grid := range []struct {
		name   string
		config *scenario.Grid
		from   Source
		jobs   []int64
	}{
		{"7x7", OAR11(), LookAlike(), []int64{2000, 8000}},
		{"100x100", large, Source{Processors: 9600, Load: 0.7}, []int64{500, 2000}},
	} {
		for _, strategy := range []string{"oar", "rla-improvement"} {
			for _, n := range grid.jobs {
				b.Run(fmt.Sprintf("%s/%s/%d", grid.name, strategy, n), func(b *testing.B) {
					fragments := int64(0)
					for b.Loop() {
						r, err := simulate(context.Background(), grid.config, grid.from, n, false, strategy, 1, scenario.Options{})
						require.NoError(b, err)
						fragments = r.Fragments
					}
					b.ReportMetric(float64(fragments)/float64(n), "fragments/job")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*n), "ns/job")
				})
			}
		}
	}
}

// A small instance of the experiment: complete, and the same twice.
func TestExperiment(t *testing.T) {
	e := New()
	e.Source, e.Steps, e.Variants = LookAlike(), []int64{200, 400}, e.Variants[:2]
	c := reproduce.Config{Seed: 1, Workers: 1}
	table, err := e.Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, table.Rows, 2*3*len(measures)+(3+5+2*3)*4)
	require.Contains(t, table.Settings[0].Value, "NOT the paper's trace")
	for _, r := range table.Rows {
		require.Equal(t, 1, r.Ours.N, "%v", r)
	}
	c.Workers = 3
	again, err := e.Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, table, again, "whatever the number of workers")
}

func TestClaimsSayWhatFails(t *testing.T) {
	e := Experiment{Steps: []int64{1, 2}, Strategies: []string{"oar", "rla"}}
	claims := e.claims(func(_ Variant, strategy string, jobs int64, quantity string) float64 {
		switch {
		case quantity == meanWait && strategy == "rla":
			return 7
		case quantity == meanWait:
			return 5
		case strategy == "rla" && quantity == interventions:
			return 10
		case strategy == "rla" && quantity == utilization:
			return 60
		}
		return float64(100 * jobs)
	})
	fails := map[string]string{}
	for _, c := range claims {
		if c.Verdict == reproduce.Fails {
			fails[c.Text] = c.Detail
		}
	}
	require.Len(t, claims, 7)
	require.Equal(t, map[string]string{
		"2 jobs, as above: oar ends first, rla waits less, uses less and calls less": "makespan, days: 200 not below 200; mean wait, hours: 7 not below 5",
		"oar: utilization is stable, within 10 points":                               "100.0 points",
	}, fails)
}
