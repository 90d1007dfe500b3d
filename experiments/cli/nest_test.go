package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The hierarchy of docs/guides/grids.md, as it stands there, and the
// figures of its table.
func TestTheGuidesNestedGrid(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/grids.md")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(page), "`nested.yaml`:\n\n```yaml\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(after, "```")
	var waits, paid [2][]float64
	for i, rule := range []string{"cheapest", "earliest"} {
		grid, dir := write(t, "nested.yaml", strings.Replace(text, "strategy: cheapest", "strategy: "+rule, 1)), filepath.Join(t.TempDir(), "out")
		succeed(t, "simulate", "--grid", grid, "--out", dir)
		for _, row := range table(t, dir, "summary.csv") {
			waits[i], paid[i] = append(waits[i], numberOf(t, row["mean_wait"])), append(paid[i], numberOf(t, row["income"]))
			s := row["policy"]
			checked := succeed(t, "validate", filepath.Join(dir, "jobs-"+s+".csv"), "--grid", grid)
			require.Contains(t, checked.stdout, "1,000 jobs: 1,000 finished, 0 killed, 0 rejected, 0 unfinished; valid")
			var names []string
			income := 0.0
			for _, site := range table(t, dir, "clusters-"+s+".csv") {
				names = append(names, site["cluster"])
				income += numberOf(t, site["income"])
				require.Positive(t, numberOf(t, site["jobs"]))
			}
			require.Equal(t, []string{"south", "north/astra", "north/borea", "north/arctic/astra", "north/arctic/cygnus"}, names)
			sum := 0.0
			for _, a := range table(t, dir, "accounts-"+s+".csv") {
				sum += numberOf(t, a["balance"])
				if strings.HasPrefix(a["account"], "owner") {
					income -= numberOf(t, a["balance"])
				}
			}
			require.InDelta(t, 0, sum, 1e-6)
			require.InDelta(t, 0, income, 1e-5)
		}
	}
	for k, s := range []string{"cheapest", "earliest", "preferred", "distributed"} {
		require.Contains(t, strings.ReplaceAll(string(page), ",", ""),
			fmt.Sprintf("| `%s` | %.0f | %.0f | %.0f | %.0f |", s, waits[0][k], paid[0][k], waits[1][k], paid[1][k]))
	}
}

const flatVO = `domains:
  - {name: east, generate: {count: 12}, local: {level: [1, 3], cycles: 3}}
  - {name: west, generate: {count: 10, performance: [4, 8]}, pay_by_use: true, local: {level: [0, 2], cycles: 4, rule: preempts}}
  - {name: north, generate: {count: 8}}
cycle: 600
interval: 1200
brokers: 1
batches: {cycles: 2, jobs: 60, users: 3, real: [0.2, 1]}
criteria: [min-cost, square-dep]
strategies: [cheapest, earliest, preferred]
`

// Where nothing takes time and all offers are passed on, what is between brokers and
// sites makes no difference to anything that is written.
func TestAHierarchyThatTakesNoTimeAndHidesNothingIsAFlatGrid(t *testing.T) {
	flat := ran(t, "--grid", domainOf(t, flatVO))
	deep := t.TempDir()
	text := strings.Replace(strings.Replace(flatVO,
		"  - {name: west", "grids:\n- name: a\n  offers: all\n  domains:\n  - {name: west", 1),
		"  - {name: north", "  grids:\n  - name: b\n    offers: all\n    domains:\n    - {name: north", 1)
	succeed(t, "simulate", "--grid", domainOf(t, text), "--out", deep)
	without := strings.NewReplacer("a/b/", "", "a/", "", "and 1 other sites", "and 2 other sites").Replace
	for _, s := range []string{"cheapest", "earliest", "preferred"} {
		require.Equal(t, read(t, flat, "jobs-"+s+"-north.csv"), read(t, deep, "jobs-"+s+"-a-b-north.csv"))
		for _, file := range []string{"jobs", "tasks", "local", "accounts", "clusters"} {
			require.Equal(t, read(t, flat, file+"-"+s+".csv"), without(read(t, deep, file+"-"+s+".csv")), file)
		}
	}
	require.NotEqual(t, table(t, flat, "summary.csv")[0]["messages"], table(t, deep, "summary.csv")[0]["messages"])
}

func TestAnotherSiteInANestedGridsFilesIsFound(t *testing.T) {
	grid := domainOf(t, strings.Replace(flatVO, "  - {name: north", "grids:\n- domains:\n  - {name: north", 1))
	dir := ran(t, "--grid", grid, "--policy", "distributed")
	jobs, tasks := filepath.Join(dir, "jobs-distributed.csv"), filepath.Join(dir, "tasks-distributed.csv")
	require.Zero(t, call("validate", jobs, "--grid", grid).code)
	truth := read(t, tasks)
	require.Contains(t, truth, "\ngrid-1/north,")
	require.NoError(t, os.WriteFile(tasks, []byte(strings.Replace(truth, "\ngrid-1/north,", "\neast,", 1)), 0o666))
	require.Equal(t, exitFailed, call("validate", jobs, "--grid", grid).code)
}

func TestASiteThatIsAGridMayHaveClustersWithJobsOfTheirOwn(t *testing.T) {
	grid := domainOf(t, "grids: [{clusters: [{processors: 64, local: own.swf}]}, {strategy: distributed, clusters: [{processors: 128}]}]\nbrokers: 2\nlog: true\nstrategies: [earliest, distributed]",
		"own.swf", "1 0 -1 100 64 -1 -1 64 100 -1 1 1 1 -1 1 -1 -1 -1\n")
	dir, trace := t.TempDir(), filepath.Join("..", "..", "traces", "sample.swf.gz")
	succeed(t, "simulate", trace, "--grid", grid, "--out", dir)
	for _, s := range []string{"earliest", "distributed"} {
		succeed(t, "validate", filepath.Join(dir, "jobs-"+s+".csv"), trace, "--grid", grid)
	}
	require.Contains(t, read(t, dir, "jobs-earliest-grid-1-cluster-1.csv"), "\n1,")
}

func TestNestedGridsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"grids: [{name: a}]": "line 1, column 9: a grid needs clusters or domains",
		"clusters: [{processors: 3}]\ngrids:\n- clusters: [{processors: 0}]":                                                       "line 3, column 27: processors: want a number of processors of 1 or more",
		"grids:\n- {name: a, clusters: [{processors: 3}]}\n- {name: a, clusters: [{processors: 3}]}":                               `line 3, column 10: name: two entities are called "a"`,
		"grids: [{clusters: [{name: broker, processors: 3}]}]":                                                                     `two entities are called "broker"`,
		"grids: [{name: a/b, clusters: [{processors: 3}]}]":                                                                        `name: "a/b" cannot be part of the name of a file`,
		"grids: [{clusters: [{processors: 3}], offers: some}]":                                                                     `line 1, column 47: offers "some": want best or all`,
		"grids: [{clusters: [{processors: 3}], strategy: luck}]":                                                                   `line 1, column 49: grid-1: strategy: "luck" is not known`,
		"grids: [{grids: [{clusters: [{processors: 3}], strategy: rla}]}]":                                                         `line 1, column 58: grid-1: strategy: "rla" splits jobs, and a site that is a grid takes them whole`,
		"grids: [{clusters: [{processors: 3}]}]\nstrategies: [cheapest, 'earliest+oar']":                                           `line 2, column 13: strategies: a grid has strategies: "oar" splits jobs`,
		"grids: [{clusters: [{processors: 3}]}]":                                                                                   `"oar" splits jobs`,
		"grids: [{clusters: [{processors: 3, policy: luck}]}]\nstrategies: [cheapest]":                                             `line 1, column 45: grid-1/cluster-1: policy: "luck" is not known`,
		"grids: [{domains: [{generate: {count: 3}, policy: luck}]}]\ncycle: 10\nbatches: {}\nstrategies: [cheapest]":               `line 1, column 51: grid-1/domain-1: policy: "luck" is not known`,
		"grids: [{domains: [{generate: {count: 3}, batches: {cycles: 1}}]}]\ncycle: 10\nstrategies: [cheapest]":                    `line 1, column 52: batches: it is about the jobs of all domains`,
		"grids: [{domains: [{generate: {count: 3}}]}]\ncycle: 10\nstrategies: [cheapest]":                                          "no jobs: give a TRACE, or batches in the file",
		"grids: [{clusters: [{processors: 3}], network: {latency: -1}}]\nstrategies: [cheapest]":                                   "line 1, column 48: network: latency must be 0",
		"grids: [{clusters: [{name: a, processors: 3}], network: {links: [{between: [a, broker-1]}]}}]\nstrategies: [cheapest]":    `a link names "broker-1", which is no entity: there are the clusters and domains, its broker and its regulator`,
		"grids: [{clusters: [{processors: 3}], brokers: 2}]":                                                                       `brokers`,
		"grids: [{name: a, clusters: [{name: b, processors: 3}]}]\nclusters: [{name: a-b, processors: 3}]\nstrategies: [cheapest]": "would both write the file jobs-cheapest-a-b.csv",
	} {
		got := call("simulate", "--grid", domainOf(t, text))
		require.NotZero(t, got.code, text)
		require.Contains(t, got.stderr, want, text)
	}
}
