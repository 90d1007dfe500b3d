package oarrla

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/workload"
)

func TestDecodeFillsInDefaults(t *testing.T) {
	c, err := Decode(strings.NewReader("clusters: [{processors: 8}, {name: b, processors: 4, speed: 2, policy: fcfs}]\nnetwork: {latency: 0.5, links: [{between: [b, regulator], bandwidth: 0}]}"))
	require.NoError(t, err)
	require.Equal(t, Cluster{Name: "cluster-1", Processors: 8, Speed: 1, Policy: "easy"}, c.Clusters[0])
	require.Equal(t, 7, c.Brokers)
	require.Equal(t, AssignInTurn, c.Assign)
	require.Equal(t, []string{"oar", "rla"}, c.Strategies)
	n, err := c.Network.network()
	require.NoError(t, err)
	require.Zero(t, n.Links[[2]string{"b", "regulator"}].Bandwidth, "0 is not the same as none given")
	require.Positive(t, n.Default.Bandwidth)
}

func TestGridsThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"brokers: 3":                                                                        "needs clusters",
		"clusters: [{processors: 0}]":                                                       "processors must be 1 or more",
		"clusters: [{processors: 4, speed: -1}]":                                            "speed",
		"clusters: [{processors: 4, policy: nonsense}]":                                     "nonsense",
		"clusters: [{processors: 4, queue_limit: -1}]":                                      "queue_limit",
		"clusters: [{processors: 4, name: broker-1}]":                                       "two entities",
		"clusters: [{processors: 4}]\nbrokers: -1":                                          "1 broker or more",
		"clusters: [{processors: 4}]\nassign: lottery":                                      "lottery",
		"clusters: [{processors: 4}]\nstrategies: [luck]":                                   "luck",
		"clusters: [{processors: 4}]\nexpiry: -5":                                           "expiry",
		"clusters: [{processors: 4}]\nnetwork: {latency: -1}":                               "latency",
		"clusters: [{processors: 4}]\nnetwork: {bandwidth: -1}":                             "bandwidth",
		"clusters: [{processors: 4}]\nnetwork: {links: [{between: [a, regulator]}]}":        "no entity",
		"clusters: [{processors: 4}]\nnetwork: {links: [{between: [regulator,regulator]}]}": "to itself",
		"clusters: [{processors: x}]":                                                       "cannot unmarshal",
	} {
		_, err := Decode(strings.NewReader(text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("clusters: [{processors: 8}]\nnetwork: {latency: 0.5, links: [{between: [cluster-1, regulator], bandwidth: 0}]}")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Decode(strings.NewReader(text)); err == nil {
			require.NoError(t, c.Check())
		}
	})
}

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
	jobs, err := source.open(1, n, false)
	require.NoError(t, err)
	r, err := Simulate(context.Background(), jobs, OAR11(), Settings{
		Strategy: strategy, Seed: 1,
		SiteObservers: func(Cluster) []entity.Observer {
			v := &validate.Validator{}
			sites = append(sites, v)
			return []entity.Observer{v, ran}
		},
	})
	require.NoError(t, err)
	require.EqualValues(t, n, r.Summary.Jobs)
	require.Zero(t, r.Summary.Killed+r.Summary.Rejected)
	for _, v := range sites {
		report := v.Report(true)
		require.NoError(t, report.Err(), "%v", report)
	}
	jobs, err = source.open(1, n, false)
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

func TestSitesRunTheirOwnJobsToo(t *testing.T) {
	dir := t.TempDir()
	c := Config{Clusters: []Cluster{{Processors: 8, Local: "own.swf"}}}
	own := "; MaxProcs: 8\n1 0 -1 50 8 -1 -1 8 50 -1 1 1 1 -1 -1 -1 -1 -1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.swf"), []byte(own), 0o666))
	open := func(path string) (Jobs, error) {
		t, err := workload.OpenSWF(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		return t.Open()
	}
	one := func() Jobs {
		return &sequence{[]*entity.Job{{ID: 1, Submit: 5e6, Runtime: 10e6, Request: entity.Request{Nodes: 2, Length: 10e6}}}}
	}
	r, err := Simulate(context.Background(), one(), c, Settings{Strategy: "rla", Local: open})
	require.NoError(t, err)
	require.Equal(t, 45.0, r.Summary.MeanWait, "behind the site's own job")
	require.Equal(t, 2, r.Clusters[0].Jobs)
	_, err = Simulate(context.Background(), one(), c, Settings{Strategy: "rla"})
	require.ErrorContains(t, err, "cannot be read here")
}

func TestAssignment(t *testing.T) {
	users := []int32{4, -1, 4, 9, -1}
	var got []int
	to := AssignByUser.assign(nil, 3)
	for _, u := range users {
		got = append(got, to(&entity.Job{User: u}))
	}
	require.Equal(t, []int{1, 0, 1, 0, 1}, got)
}

// BenchmarkGrid tells what a job costs: it should not depend on how many there
// are. ns/job is what to compare.
func BenchmarkGrid(b *testing.B) {
	large := Config{Brokers: 100, Network: Network{Latency: 1}}
	for range 100 {
		large.Clusters = append(large.Clusters, Cluster{Processors: 96})
	}
	for _, grid := range []struct {
		name   string
		config Config
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
						jobs, err := grid.from.open(1, n, false)
						require.NoError(b, err)
						r, err := Simulate(context.Background(), jobs, grid.config, Settings{Strategy: strategy, Seed: 1})
						require.NoError(b, err)
						fragments = r.Summary.Fragments
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
	require.Contains(t, table.Settings[0], "NOT the paper's trace")
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

// The files of docs/guides/brokers-and-agents.md, as they stand there.
func TestTheGuidesFilesCanBeRead(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/brokers-and-agents.md")
	require.NoError(t, err)
	block := func(language string) string {
		_, after, ok := strings.Cut(string(page), "```"+language+"\n")
		require.True(t, ok)
		text, _, _ := strings.Cut(after, "```")
		return text
	}
	c, err := Decode(strings.NewReader(block("yaml")))
	require.NoError(t, err)
	require.Len(t, c.Clusters, 3)
	r, err := workload.ReadReservations(strings.NewReader(block("csv")))
	require.NoError(t, err)
	require.Equal(t, 2, r.Len())
	source, err := os.ReadFile("../../policy/agent/oar.go")
	require.NoError(t, err)
	require.Contains(t, string(source), block("go"), "OAR reads as the guide says")
}
