package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gridslot/gridslot/entity"
	"github.com/stretchr/testify/require"
)

// table reads a CSV file as a row a map.
func table(t *testing.T, path ...string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(read(t, path...))).ReadAll()
	require.NoError(t, err)
	var all []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		all = append(all, m)
	}
	return all
}

func numberOf(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return v
}

// The virtual organisation of docs/guides/grids.md, as it stands there:
// eight priced domains of 100 nodes with owners, four brokers, 5,000 jobs with
// budgets and criteria of their own.
func TestTheGuidesVirtualOrganisation(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	page, err := os.ReadFile("../../docs/guides/grids.md")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(page), "`vo.yaml`:\n\n```yaml\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(after, "```")
	grid, dir := write(t, "vo.yaml", text), filepath.Join(t.TempDir(), "out")
	const strategy = "cheapest+earliest+preferred+distributed"
	succeed(t, "simulate", "--grid", grid, "--policy", strategy, "--out", dir)
	checked := succeed(t, "validate", filepath.Join(dir, "jobs-"+strategy+".csv"), "--grid", grid)
	require.Contains(t, checked.stdout, "5,000 jobs: 5,000 finished, 0 killed, 0 rejected, 0 unfinished; valid")

	sites := table(t, dir, "clusters-"+strategy+".csv")
	require.Len(t, sites, 8)
	income := 0.0
	for _, s := range sites {
		require.Equal(t, "100", s["processors"])
		require.Greater(t, numberOf(t, s["jobs"]), 100.0, "the flow is divided among all domains")
		require.Less(t, numberOf(t, s["utilization"]), 1.0)
		income += numberOf(t, s["income"])
	}
	owners, users := 0.0, 0.0
	for _, a := range table(t, dir, "accounts-"+strategy+".csv") {
		switch kind, _, _ := strings.Cut(a["account"], " "); kind {
		case "owner":
			owners += numberOf(t, a["balance"])
		case "user":
			users += numberOf(t, a["balance"])
		default:
			require.Equal(t, "0.000000", a["balance"])
		}
	}
	require.InDelta(t, income, owners, 1e-5)
	require.InDelta(t, income, -users, 1e-5)
	summary := table(t, dir, "summary.csv")[0]
	require.Equal(t, "5000", summary["fragments"], "every job runs whole")
	require.Less(t, numberOf(t, summary["utilization"]), 1.0)
}

const smallVO = `domains:
  - {name: east, generate: {count: 12}, local: {level: [1, 3], cycles: 3}, prices: prices.csv}
  - {name: west, domain: west.yaml, policy: bsf}
clusters: [{name: plain, processors: 4, speed: 2}]
cycle: 600
interval: 1200
brokers: 2
network: {latency: 0.25}
batches: {cycles: 2, jobs: 40, users: 3, real: [0.2, 1]}
criteria: [min-cost, square-dep]
`

const west = "generate: {count: 10, performance: [4, 8]}\ncycle: 300\ninterval: 1500\npay_by_use: true\nlocal: {level: [0, 2], cycles: 4, rule: preempts}\n"

func TestDomainsAndClustersInOneGrid(t *testing.T) {
	grid := domainOf(t, smallVO, "west.yaml", west, "prices.csv", "time,node,price\n300,2,1\n650,2,9\n650,3,0\n")
	dir := ran(t, "--grid", grid, "--policy", "oar,preferred,distributed,cheapest+earliest")
	for _, s := range []string{"oar", "preferred", "distributed", "cheapest+earliest"} {
		succeed(t, "validate", filepath.Join(dir, "jobs-"+s+".csv"), "--grid", grid)
		require.Len(t, table(t, dir, "clusters-"+s+".csv"), 3)
	}
	predicted := ran(t, "--grid", grid, "--policy", "preferred,distributed", "--predict", "request:factor=0.1", "--correct", "doubling")
	require.Contains(t, read(t, predicted, "jobs-distributed.csv"), entity.ReasonPrediction)
	for _, s := range []string{"preferred", "distributed"} {
		succeed(t, "validate", filepath.Join(predicted, "jobs-"+s+".csv"), "--grid", grid)
	}
	again := ran(t, "--grid", grid, "--policy", "preferred")
	for _, file := range []string{"jobs-preferred.csv", "tasks-preferred.csv", "local-preferred.csv", "accounts-preferred.csv"} {
		require.Equal(t, read(t, dir, file), read(t, again, file), "the same on one worker alone")
	}
	exits(t, exitFailed, "validate", filepath.Join(dir, "jobs-preferred.csv"), "--scenario", write(t, "other.yaml", "machine: "+grid+"\nsettings: {seed: 2}\n"))
}

// Every line of what follows is a lie in one of the files.
func TestLiesInAGridsFilesAreFound(t *testing.T) {
	grid := domainOf(t, strings.Replace(smallVO, "brokers: 2", "brokers: 1", 1), "west.yaml", west, "prices.csv", "time,node,price\n300,2,1\n")
	dir := ran(t, "--grid", grid, "--policy", "distributed")
	jobs := filepath.Join(dir, "jobs-distributed.csv")
	require.Zero(t, call("validate", jobs, "--grid", grid).code)

	shift := func(by float64) func(string) string {
		return func(text string) string { return strconv.FormatFloat(numberOf(t, text)+by, 'f', -1, 64) }
	}
	is := func(text string) func(string) string { return func(string) string { return text } }
	for what, lie := range map[string]struct {
		file, column string
		row          int
		change       func(string) string // nil: the row is left out
		want         string
	}{
		"a dearer task":              {"tasks", "cost", 1, shift(1), "false account"},
		"a task that is not paid":    {"tasks", "paid", 1, is("0"), "false account"},
		"a millionth too much paid":  {"tasks", "paid", 1, shift(1e-6), "false account"},
		"another node":               {"tasks", "node", 1, func(n string) string { return map[bool]string{true: "2", false: "1"}[n == "1"] }, ""},
		"too early":                  {"tasks", "start", 1, is("-5"), ""},
		"a task too short":           {"tasks", "reserved_end", 1, shift(-1), "wrong run time"},
		"a task that runs on":        {"tasks", "end", 1, shift(1), "wrong run time"},
		"a task that is missing":     {"tasks", "", 1, nil, "missing"},
		"another user":               {"tasks", "user_id", 1, is("77"), "disagreement"},
		"an owner who has it longer": {"tasks", "end", 0, shift(1), "disagreement"},
		"an owner's that is missing": {"tasks", "", 0, nil, "disagreement"},
		"an owner who never wanted":  {"local", "wanted", 1, shift(-1), "disagreement"},
		"an owner who is missing":    {"local", "", 1, nil, "never ran"},
		"an owner who is richer":     {"accounts", "balance", 9, shift(1e-6), "false account"},
		"an account too few":         {"accounts", "", 2, nil, "false account"},
		"a job that starts before":   {"jobs", "starting_time", 3, shift(-1), "disagreement"},
		"a job that ends later":      {"jobs", "finish_time", 3, shift(1), "disagreement"},
		"a job that is smaller":      {"jobs", "requested_number_of_resources", 3, is("1"), "disagreement"},
		"a job that is missing":      {"jobs", "", 3, nil, "missing"},
		"a finished job rejected":    {"jobs", "final_state", 3, is("REJECTED"), "out of place"},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(dir, lie.file+"-distributed.csv")
			truth := read(t, name)
			defer func() { require.NoError(t, os.WriteFile(name, []byte(truth), 0o666)) }()
			rows, err := csv.NewReader(strings.NewReader(truth)).ReadAll()
			require.NoError(t, err)
			if lie.file == "tasks" { // of a job, or of an owner
				kind := map[int]string{0: "owner", 1: "job"}[lie.row]
				lie.row = slices.IndexFunc(rows, func(row []string) bool { return row[9] == kind })
			}
			if lie.change == nil {
				rows = append(rows[:lie.row], rows[lie.row+1:]...)
			}
			for i, column := range rows[0] {
				if column == lie.column {
					rows[lie.row][i] = lie.change(rows[lie.row][i])
				}
			}
			lieIsFound(t, name, rows, jobs, grid, lie.want)
		})
	}
}

// lieIsFound writes a file of a run on a grid anew and has the run checked.
func lieIsFound(t *testing.T, file string, rows [][]string, jobs, grid, want string) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, csv.NewWriter(&b).WriteAll(rows))
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o666))
	got := exits(t, exitFailed, "validate", jobs, "--grid", grid)
	require.Contains(t, got.stdout+got.stderr, want)
}

func TestGridsWithDomainsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"domains: [{generate: {count: 3}}]":                                                                           "cycle: want a length of 0.000001 to 1e12 time units",
		"domains: [{name: a, cycle: 10}]":                                                                             "give either nodes (a CSV file) or generate",
		"domains: [{domain: nowhere.yaml}]\ncycle: 10":                                                                "line 1, column 20: domain: opening the domain",
		"domains: [{domain: west.yaml, generate: {count: 3}}]\ncycle: 10":                                             "generate: the domain stands in the file west.yaml: write it there",
		"domains: [{generate: {count: 3}, batches: {cycles: 1}}]\ncycle: 10":                                          "batches: it is about the jobs of all domains: write it beside domains",
		"domains: [{generate: {count: 3}}]\ncycle: 10":                                                                "no jobs: give a TRACE, or batches in the file",
		"domains: [{generate: {count: 3}, policy: nonsense}]\ncycle: 10\nbatches: {}":                                 `domain-1: policy: "nonsense" is not known`,
		"domains: [{generate: {count: 3}, name: a}, {generate: {count: 3}, name: a}]\ncycle: 10":                      `two entities are called "a"`,
		"domains: [{generate: {count: 3}, queue_limit: -1}]\ncycle: 10\nbatches: {}":                                  "queue_limit must not be negative",
		"domains: [{generate: {count: 3}}]\ncycle: 10\nbatches: {}\ncriteria: [luck]":                                 "criteria: no such search for windows",
		"domains: [{generate: {count: 3}}]\nbatches: {}":                                                              "cycle",
		"domains: [{generate: {count: 3}}]\ncycle: 10\nbatches: {}\nstrategies: ['cheapest+luck']":                    `"luck" is not known`,
		"domains: [{generate: {count: 3}}]\ncycle: 10\nbatches: {}\nstrategies: [cheapest,cheapest]":                  `"cheapest" is asked for twice`,
		"clusters: [{processors: 3}]\ncycle: 10":                                                                      `"cycle" is of a domain, "clusters" of a grid`,
		"domains: [{generate: {count: 3}}]\ncycle: 10\nbatches: {}\nprocessors: 5":                                    "describe one machine",
		"domains: [{generate: {count: 3}}]\ncycle: 10\nbatches: {}\ngenerate: {count: 4}":                             `"generate" is of a domain`,
		"domains: [{name: x, generate: {count: 3, performance: [1, 2, 3]}}]\ncycle: 10":                               "performance: want [MIN, MAX], not 3 numbers",
		"domains: [{generate: {count: 3}}]\ncycle: 10\nbatches: {}\nnetwork: {links: [{between: [domain-1, plain]}]}": `a link names "plain", which is no entity`,
	} {
		got := call("simulate", "--grid", domainOf(t, text, "west.yaml", west))
		require.NotZero(t, got.code, text)
		require.Contains(t, got.stderr, want, text)
	}
}
