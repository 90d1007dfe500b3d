package simulation

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/workload"
)

// decode reads a grid from YAML.
func decode(text string) (*Grid, error) {
	r := &reader{kind: "grid", tables: Standard(), sc: New(), nodes: map[int]bool{}}
	if err := r.read([]byte(text)); err != nil {
		return nil, faultIn(r.file, err)
	}
	return r.sc.Machine.(*Grid), nil
}

func TestAGridsDefaultsAreFilledIn(t *testing.T) {
	g, err := decode("clusters: [{processors: 8}, {name: b, processors: 4, speed: 2, policy: fcfs}]\nnetwork: {latency: 0.5, links: [{between: [b, regulator], bandwidth: 0}]}")
	require.NoError(t, err)
	require.Equal(t, ClusterSite{Name: "cluster-1", Processors: 8, Speed: 1, Policy: "easy"}, g.Clusters[0])
	require.Equal(t, 7, g.Brokers)
	require.Equal(t, AssignInTurn, g.Assign)
	n, err := g.Network.network()
	require.NoError(t, err)
	require.Zero(t, n.Links[[2]string{"b", "regulator"}].Bandwidth, "0 is not the same as none given")
	require.Positive(t, n.Default.Bandwidth)
}

func TestGridsThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                                                  "the file is empty",
		"brokers: 3":                                                                        "needs clusters",
		"clusters: [{processors: 0}]":                                                       "line 1, column 25: processors: want a number of processors of 1 or more, at most 2147483647, not 0",
		"clusters:\n  - {speed: 2}":                                                         "line 2, column 5: processors: want a number of processors of 1 or more, at most 2147483647; the key is missing",
		"clusters: [{processors: x}]":                                                       `line 1, column 25: processors: want a whole number, not "x"`,
		"clusters: [{procesors: 4}]":                                                        `line 1, column 13: there is no key "procesors": did you mean "processors"?`,
		"clusters: [{processors: 4}\n":                                                      "this is no YAML",
		"clusters: [{processors: 4, speed: -1}]":                                            "line 1, column 35: cluster-1: speed must be",
		"clusters: [{processors: 4, policy: nonsense}]":                                     `cluster-1: policy: "nonsense" is not known`,
		"clusters: [{processors: 4, queue_limit: -1}]":                                      "queue_limit",
		"clusters: [{processors: 4, name: broker-1}]":                                       "two entities",
		"clusters: [{processors: 4, name: ../../../x}]":                                     `name: "../../../x" cannot be part of the name of a file`,
		"clusters: [{processors: 4, name: a/b}]":                                            "cannot be part of the name of a file",
		"clusters: [{processors: 4, name: .}]":                                              "cannot be part of the name of a file",
		"clusters: [{processors: 4, name: 'a\\b'}]":                                         "cannot be part of the name of a file",
		"clusters: [{processors: 4}]\nbrokers: -1":                                          "line 2, column 10: brokers: a grid needs 1 broker or more",
		"clusters: [{processors: 4}]\nassign: lottery":                                      `assign "lottery": want round-robin, user or random`,
		"clusters: [{processors: 4}]\nstrategies: [luck]":                                   `strategies: a grid has strategies: "luck" is not known`,
		"clusters: [{processors: 4}]\nexpiry: -5":                                           "line 2, column 9: expiry",
		"clusters: [{processors: 4}]\nnetwork: {latency: -1}":                               "latency",
		"clusters: [{processors: 4}]\nnetwork: {bandwidth: -1}":                             "bandwidth",
		"clusters: [{processors: 4}]\nnetwork: {links: [{between: [a, regulator]}]}":        "no entity",
		"clusters: [{processors: 4}]\nnetwork: {links: [{between: [regulator,regulator]}]}": "to itself",
		"clusters: [{processors: 4, name: north-astra}]\ngrids: [{name: north, clusters: [{name: astra, processors: 4}]}]\nstrategies: [cheapest]": "would both write the file jobs-cheapest-north-astra.csv",
	} {
		_, err := decode(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("clusters: [{processors: 8}]\nnetwork: {latency: 0.5, links: [{between: [cluster-1, regulator], bandwidth: 0}]}")
	f.Add("generate: {count: 24, performance: [2, 10]}\ncycle: 600\nlocal: {level: [0, 2], rule: waits}\nbatches: {cycles: 10, users: 4, real: [0.2, 1]}\ncriteria: [min-start]")
	f.Add("processors: 10\nworkload: {trace: lublin, load: 0.8}\npolicies: [easy]\nsettings: {seed: 3}")
	tables := Standard()
	f.Fuzz(func(t *testing.T, text string) {
		r := &reader{tables: tables, sc: New(), nodes: map[int]bool{}, dir: t.TempDir()}
		if err := r.read([]byte(text)); err != nil {
			require.NotEmpty(t, faultIn(r.file, err).Error())
		} else if g, ok := r.sc.Machine.(*Grid); ok {
			require.NoError(t, g.Check())
		}
	})
}

func TestSitesRunTheirOwnJobsToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.swf")
	own := "; MaxProcs: 8\n1 0 -1 50 8 -1 -1 8 50 -1 1 1 1 -1 -1 -1 -1 -1\n"
	require.NoError(t, os.WriteFile(path, []byte(own), 0o666))
	sc := New()
	sc.Machine = &Grid{Clusters: []ClusterSite{{Processors: 8, Local: path}}}
	sc.Policies = []string{"rla"}
	sc.Workload.Jobs = func(uint64) (entity.Source, error) {
		return &list{jobs: []entity.Job{{ID: 1, Submit: 5e6, Runtime: 10e6, Request: entity.Request{Nodes: 2, Length: 10e6}}}}, nil
	}
	out, err := Run(context.Background(), sc, Options{})
	require.NoError(t, err)
	require.Equal(t, 45.0, out.Results[0].Summary.MeanWait, "behind the site's own job")
	require.Equal(t, 2, out.Results[0].Clusters[0].Jobs)
	require.NoError(t, os.Remove(path))
	_, err = Run(context.Background(), sc, Options{})
	require.ErrorContains(t, err, "cluster-1, jobs of its own: opening the trace")
}

// The conventions by which records become jobs hold for the own jobs of a site as well: a job
// of 4 processors was given 8, and one without an estimate is left out.
func TestASitesOwnRecordsFollowTheConventions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.swf")
	own := "; MaxProcs: 8\n1 0 -1 50 8 -1 -1 4 50 -1 1 1 1 -1 -1 -1 -1 -1\n2 1 -1 50 8 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
	require.NoError(t, os.WriteFile(path, []byte(own), 0o666))
	sc := New()
	sc.Machine = &Grid{Clusters: []ClusterSite{{Processors: 8, Local: path}}}
	sc.Policies = []string{"rla"}
	require.NoError(t, sc.Set("procs-from", "allocated"))
	require.NoError(t, sc.Set("missing-estimate", "drop"))
	sc.Workload.Jobs = func(uint64) (entity.Source, error) {
		return &list{jobs: []entity.Job{{ID: 1, Submit: 5e6, Runtime: 10e6, Request: entity.Request{Nodes: 2, Length: 10e6}}}}, nil
	}
	out, err := Run(context.Background(), sc, Options{})
	require.NoError(t, err)
	require.Equal(t, 45.0, out.Results[0].Summary.MeanWait, "the site's own job has all 8 processors")
	require.Equal(t, 2, out.Results[0].Clusters[0].Jobs)
}

// Every strategy, under either pass and with every queue policy at the sites:
// no processor is used twice, no promise broken.
func TestOnAGridEveryPassKeepsTheRules(t *testing.T) {
	rules := []string{"dispatch:by=least-jobs:age=3600", "dispatch:by=round-robin", "dispatch:by=random", "dispatch:by=earliest", "dispatch:by=price"}
	for _, strategy := range append(Standard().Strategies.Names(), rules...) {
		for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent} {
			var validators []*validate.Validator
			sc := New()
			sc.Machine = &Grid{
				Clusters: []ClusterSite{{Processors: 60}, {Processors: 40, Policy: "conservative"}, {Processors: 30, Policy: "fcfs"}},
				Brokers:  2, Network: Network{Latency: 1},
			}
			sc.Policies, sc.Settings.Pass = []string{strategy}, pass
			sc.Workload.Trace = "lublin:jobs=400:procs=128:load=0.9"
			out, err := Run(context.Background(), sc, Options{Observers: func(_, site string) []entity.Observer {
				if site == "" {
					return nil
				}
				validators = append(validators, &validate.Validator{})
				return []entity.Observer{validators[len(validators)-1]}
			}})
			require.NoError(t, err)
			require.Equal(t, 400, out.Results[0].Summary.Jobs)
			require.Len(t, validators, 3)
			for _, v := range validators {
				report := v.Report(true)
				require.NoError(t, report.Err(), "%s, %v: %v", strategy, pass, report)
			}
		}
	}
}

func TestAssignment(t *testing.T) {
	users := []int32{4, -1, 4, 9, -1}
	var got []int
	to := AssignByUser.brokerOf(nil, 3)
	for _, u := range users {
		got = append(got, to(&entity.Job{User: u}))
	}
	require.Equal(t, []int{1, 0, 1, 0, 1}, got)
}

// The files of docs/guides/grids.md and what-happens.md, as they stand there.
func TestTheGuidesFilesCanBeRead(t *testing.T) {
	var page string
	for _, name := range []string{"grids.md", "what-happens.md"} {
		text, err := os.ReadFile("../../docs/guides/" + name)
		require.NoError(t, err)
		page += string(text)
	}
	block := func(heading, language string) string {
		_, after, ok := strings.Cut(page, "\n## "+heading+"\n")
		require.True(t, ok)
		_, after, ok = strings.Cut(after, "```"+language+"\n")
		require.True(t, ok)
		text, _, _ := strings.Cut(after, "```")
		return text
	}
	g, err := decode(block("The file of a grid", "yaml"))
	require.NoError(t, err)
	require.Len(t, g.Clusters, 3)
	r, err := workload.ReadReservations(strings.NewReader(block("Advance reservations", "csv")), nil)
	require.NoError(t, err)
	require.Len(t, slices.Collect(r.Bookings()), 2)
	source, err := os.ReadFile("../../policy/agent/oar.go")
	require.NoError(t, err)
	require.Contains(t, string(source), block("A router of your own", "go"), "OAR reads as the guide says")
}

func TestTheFileOfTheGuideToRoutingCanBeRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/grids.md")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(page), "```yaml\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(after, "```")
	r := &reader{kind: "grid", tables: Standard(), sc: New(), nodes: map[int]bool{}}
	require.NoError(t, r.read([]byte(text)))
	r.sc.Workload.Trace = "lublin:jobs=50:procs=64:load=0.9"
	out, err := Run(context.Background(), r.sc, Options{})
	require.NoError(t, err)
	require.Len(t, out.Results, 3)
	for _, x := range out.Results {
		require.Equal(t, 50, x.Summary.Jobs)
	}
}
