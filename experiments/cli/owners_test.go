package cli

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocarina/gocsv"
	"github.com/stretchr/testify/require"
)

// ownersBlocks are the blocks of that language of the guide on owners, in their order.
func ownersBlocks(t *testing.T, language string) (blocks []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/guides/organisations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Prices by use\n")
	require.True(t, found)
	for i, part := range strings.Split(section, "\n```") {
		if text, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			blocks = append(blocks, text+"\n")
		}
	}
	return blocks
}

// tableOf is a file of a run of one policy.
func tableOf(t *testing.T, out, name string) []map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, name+"-*.csv"))
	require.NoError(t, err)
	if name == "summary" {
		found = []string{filepath.Join(out, "summary.csv")}
	}
	require.Len(t, found, 1, name)
	f, err := os.Open(found[0])
	require.NoError(t, err)
	defer f.Close()
	rows, err := gocsv.CSVToMaps(f)
	require.NoError(t, err)
	return rows
}

func sum(t *testing.T, rows []map[string]string, column string) (sum float64) {
	for _, r := range rows {
		sum += numberOf(t, r[column])
	}
	return sum
}

// grouped is a number with a comma before each three digits.
func grouped(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// simulated runs a domain and returns the folder of its files.
func simulated(t *testing.T, text string, others ...string) string {
	t.Helper()
	return ran(t, "--domain", domainOf(t, text, others...))
}

// income is what owners earned, which is what users paid, to the millionth.
func income(t *testing.T, out string) float64 {
	earned, expense := sum(t, tableOf(t, out, "owners"), "income"), sum(t, tableOf(t, out, "cycles"), "expense")
	require.Equal(t, fmt.Sprintf("%.6f", expense), fmt.Sprintf("%.6f", earned))
	return earned
}

// The figures of docs/guides/organisations.md, made anew from its file.
func TestPricesByUseConverge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text := ownersBlocks(t, "yaml")[0]
	nodes, rest, _ := strings.Cut(text, "\n")
	_, unpriced, _ := strings.Cut(rest, "\n")
	require.Contains(t, nodes, "price_factor: 1}")
	table := "price    income         income       mean price of a node after\n" +
		"factor   fixed prices   by use         0 h    4 h    8 h   16 h   24 h\n"
	for _, factor := range []string{"0.25", "0.5", "1", "1.5", "1.75", "2", "3"} {
		dealt := strings.Replace(nodes, "price_factor: 1}", "price_factor: "+factor+"}", 1) + "\n"
		out := simulated(t, dealt+rest)
		table += fmt.Sprintf(" %-6s  %12s  %10s  ", factor, grouped(income(t, simulated(t, dealt+unpriced))), grouped(income(t, out)))
		rows := tableOf(t, out, "prices")
		for _, hours := range []float64{0, 4, 8, 16, 24} {
			last := map[string]float64{}
			for _, r := range rows {
				if numberOf(t, r["time"]) <= hours*3600 {
					last[r["node"]] = numberOf(t, r["price"])
				}
			}
			require.Len(t, last, 24)
			mean := 0.0
			for id := 1; id <= 24; id++ {
				mean += last[strconv.Itoa(id)] / 24
			}
			table += fmt.Sprintf(" %6.2f", mean)
		}
		table += "\n"
	}
	require.Equal(t, ownersBlocks(t, "figures")[0], table)
}

func TestWhatTheOrganisationCostsTheOwners(t *testing.T) {
	text := ownersBlocks(t, "yaml")[2]
	require.Contains(t, text, "rule: waits")
	require.Contains(t, text, "{cycles: 100, jobs: 60,")
	table := "                  owners' mean wait   users' mean wait   users' jobs stopped      income\n"
	for _, c := range []struct{ name, from, to string }{
		{"nobody but owners", "batches: {cycles: 100, jobs: 60,", "batches: {cycles: 1, jobs: 1,"}, {"waits", "", ""}, {"preempts", "rule: waits", "rule: preempts"},
	} {
		out := simulated(t, strings.Replace(text, c.from, c.to, 1))
		rows := tableOf(t, out, "owners")
		started := sum(t, rows, "local_started")
		require.Zero(t, sum(t, rows, "local_rejected")+sum(t, rows, "local_waiting"))
		require.Equal(t, 2408.0, started, "the same jobs of the owners")
		wait := 0.0
		for _, r := range rows {
			wait += numberOf(t, r["local_mean_wait"]) * numberOf(t, r["local_started"]) / started
		}
		table += fmt.Sprintf("%-17s  %16.2f", c.name, wait)
		if strings.HasPrefix(c.name, "nobody") {
			table += fmt.Sprintf("  %17s  %20s  %10s\n", "-", "-", "-")
			continue
		}
		summary := tableOf(t, out, "summary")
		table += fmt.Sprintf("  %17.1f  %20s  %10s\n", numberOf(t, summary[0]["mean_wait"]), grouped(sum(t, rows, "preempted")), grouped(income(t, out)))
	}
	require.Equal(t, ownersBlocks(t, "figures")[1], table)
}

func TestWhereAllUndercutAllPricesFallToTheFloor(t *testing.T) {
	text := strings.Replace(ownersBlocks(t, "yaml")[0], "{use: {target: 0.6, step: 0.3, floor: 0.05, cap: 20}}", "{competition: {factor: 0.95}}", 1)
	require.Contains(t, text, "competition")
	text = strings.Replace(text, "[easy]", "['easy:finder=min-cost']", 1)
	_, unpriced, _ := strings.Cut(text, "\n")
	_, unpriced, _ = strings.Cut(unpriced, "\n")
	out := simulated(t, text)
	require.InDelta(t, 2.0e6, income(t, out), 0.05e6)
	require.InDelta(t, 8.9e6, income(t, simulated(t, "generate: {count: 24, owners: 4}\n"+unpriced)), 0.05e6)
	list, last := map[string]float64{}, map[string]float64{}
	for _, r := range tableOf(t, out, "prices") {
		if r["time"] == "0" {
			list[r["node"]] = numberOf(t, r["price"])
		}
		last[r["node"]] = numberOf(t, r["price"])
	}
	for node, price := range last {
		require.GreaterOrEqual(t, price, 0.1*list[node]-1e-6)
		require.Less(t, price, 0.2*list[node])
	}
}

func TestPatientJobsWaitForCheaperDaysInsteadOfBeingRejected(t *testing.T) {
	text := strings.Replace(ownersBlocks(t, "yaml")[0], "cycles: 150", "cycles: 5", 1)
	require.Positive(t, numberOf(t, tableOf(t, simulated(t, text), "summary")[0]["rejected"]))
	text = strings.Replace(text, "pricing: {", "pricing: {patient: true, every: 300, ", 1)
	out := simulated(t, text)
	require.Zero(t, numberOf(t, tableOf(t, out, "summary")[0]["rejected"]))
	require.Equal(t, "300", tableOf(t, out, "prices")[24]["time"])
}

func TestTheGuidesOtherRulesRun(t *testing.T) {
	out := simulated(t, ownersBlocks(t, "yaml")[1], "nodes.csv", ownersBlocks(t, "csv")[0])
	var names []string
	for _, r := range tableOf(t, out, "owners") {
		names = append(names, r["owner"]+" "+r["nodes"])
	}
	require.Equal(t, []string{"acme 2", "lab 2", "node 5 1"}, names)
	// Node 3 goes by the season, not by use: 1.9 (1 + 0.2 cos(2 pi (1 - 14) / 24)).
	for _, name := range []string{"0,1,acme,4.2", "0,4,lab,12.5", "0,5,node 5,5.5", "3600,3,lab,1.532948"} {
		text, err := os.ReadFile(filepath.Join(out, "prices-easy.csv"))
		require.NoError(t, err)
		require.Contains(t, string(text), name)
	}
}

func TestOwnersJobsMayBeListed(t *testing.T) {
	d := "nodes: nodes.csv\nlocal: {rule: preempts, queue: {jobs: own.csv}}\ncycle: 600\nbatches: {jobs: 1, nodes: [1, 1]}\npolicies: [easy]\n"
	nodes := "id,performance,price,owner\n1,2,1,7\n2,1,1,7\n3,1,1,x\n"
	out := simulated(t, d, "nodes.csv", nodes, "own.csv", "owner,submit,length,nodes,runtime\n7,10,40,2,20\n7,5,40,1,40\n7,6,10,3,5\nx,0,10,,\n")
	rows := tableOf(t, out, "owners")
	require.Equal(t, []string{"7", "2", "1"}, []string{rows[0]["owner"], rows[0]["local_started"], rows[0]["local_rejected"]})
	require.Equal(t, []string{"x", "1", "0"}, []string{rows[1]["owner"], rows[1]["local_started"], rows[1]["local_waiting"]})
	require.NoFileExists(t, filepath.Join(out, "prices-easy.csv"), "prices do not react")
}

func TestOwnersRunTheSameOnAnyNumberOfWorkers(t *testing.T) {
	text := strings.Replace(ownersBlocks(t, "yaml")[2], "policies: [easy]", "policies: [easy, 'easy:finder=min-cost', fcfs]", 1)
	text = strings.ReplaceAll(text, "cycles: 100", "cycles: 5") + "pricing: {rules: [{use: {}}, {owner: '2', season: {amplitude: 0.5}}, {owner: '3', competition: {}}]}\n"
	d := domainOf(t, text)
	var texts []string
	for _, workers := range []string{"1", "4"} {
		out := ran(t, "--domain", d, "--workers", workers)
		all := ""
		for _, name := range files(t, out) {
			if name != "manifest.json" && name != "summary.csv" {
				content, err := os.ReadFile(filepath.Join(out, name))
				require.NoError(t, err)
				all += name + "\n" + string(content)
			}
		}
		require.Contains(t, all, "owners-fcfs.csv")
		require.Contains(t, all, "prices-easy-finder=min-cost.csv")
		texts = append(texts, all)
	}
	require.Equal(t, texts[0], texts[1])
}

func TestWhatIsWrongWithOwnersIsSaidWithItsPlace(t *testing.T) {
	nodes := "id,performance,price,owner\n1,1,1,a\n2,2,2,b\n"
	for _, c := range []struct{ text, want string }{
		{"pricing: {rules: [{use: {traget: 1}}]}", `line 3, column 26: there is no key "traget": did you mean "target"?`},
		{"pricing: {rules: [{use: {target: 2}}]}", "line 3, column 25: pricing: use: target must be a share from 0 to 1, not 2"},
		{"pricing: {rules: [{season: {peak: 90000}}]}", "pricing: season: peak must be a time within the period"},
		{"pricing: {rules: [{owner: a}]}", "line 3, column 19: pricing: a rule is one of use, season and competition"},
		{"pricing: {rules: [{use: {}, season: {}}]}", "a rule is one of use, season and competition"},
		{"pricing: {rules: [{owner: c, use: {}}]}", `line 3, column 27: pricing: there is no owner "c": there are a, b`},
		{"pricing: {rules: [{nodes: [1, 3], use: {}}]}", "line 3, column 31: pricing: there is no node 3"},
		{"pricing: {rules: [{nodes: [1], owner: b, use: {}}]}", "pricing: a rule is about none of the nodes"},
		{"pricing: {rules: []}", "pricing: there are no rules"},
		{"pricing: {every: -1, rules: [{use: {}}]}", "line 3, column 18: every: want a length of 0.000001 to 1e12 time units, or 0"},
		{"pricing: {rules: [{use: {}}]}\nprices: prices.csv", "prices: node 1 has a rule, too, under pricing"},
		{"local: {queue: {gap: 0}}", "line 3, column 16: local: queue: own jobs: want a mean time between them (gap) above 0"},
		{"local: {queue: {gap: 1, lenght: [1, 2]}}", `there is no key "lenght": did you mean "length"?`},
		{"local: {queue: {gap: 1, length: [1]}}", "local: queue: length: want [MIN, MAX]"},
		{"local: {queue: {gap: 1}}", "until: want the time at which the last jobs come, 0.000001 to 1e12 time units; the key is missing"},
		{"local: {queue: {policy: best, gap: 1, until: 5}}", `line 3, column 25: local: queue: policy: "best" is not known`},
		{"local: {level: [1, 2], queue: {gap: 1, until: 5}}", "line 3, column 31: local: owners have either a queue or jobs at fixed times"},
		{"local: {queue: {jobs: own.csv}}", `own.csv: line 3: owner: there is no owner "z": there are a, b`},
		{"local: {queue: {jobs: bad.csv}}", "bad.csv: line 2: want a length above 0"},
	} {
		d := domainOf(t, "nodes: nodes.csv\ncycle: 600\n"+c.text+"\nbatches: {}\n", "nodes.csv", nodes, "prices.csv", "time,node,price\n5,1,2\n",
			"own.csv", "owner,submit,length\na,0,1\nz,0,1\n", "bad.csv", "owner,submit,length,runtime\na,0,1,2\n")
		got := exits(t, exitFailed, "simulate", "--domain", d)
		require.Contains(t, got.stderr, c.want, c.text)
	}
	got := call("simulate", "--domain", domainOf(t, "generate: {count: 3}\ncycle: 600\nlocal: {queue: {gap: 1, until: 5}}\nbatches: {}\n"))
	require.Contains(t, got.stderr, "line 3, column 16: local: queue: the nodes name no owners")
	got = call("simulate", "--domain", domainOf(t, "generate: {count: 3}\ncycle: 600\npricing: {rules: [{owner: a, use: {}}]}\nbatches: {}\n"))
	require.Contains(t, got.stderr, `there is no owner "a": the nodes name none`)
}

// Users look for what is cheap, so one of two sites of like nodes sells first.
const pricedSites = `domains:
  - {name: dear, generate: {count: 12, owners: 2, price_factor: 1.5}}
  - {name: cheap, generate: {count: 12, owners: 2, price_factor: 0.5}, local: {queue: {policy: easy, gap: 200, nodes: [1, 3], length: [100, 500], real: [0.3, 1], until: 9000}}}
  - {name: mixed, domain: mixed.yaml}
pricing: {rules: [{use: {target: 0.2, step: 0.3}}]}
cycle: 600
interval: 1800
brokers: 2
network: {latency: 0.1}
batches: {cycles: 15, jobs: 60, users: 5, nodes: [1, 4], real: [0.2, 1]}
criteria: [min-cost, min-start]
`

const mixedSite = `union:
  - {name: a, generate: {count: 3, owners: 3, price_factor: 2}, pricing: {every: 900, rules: [{competition: {factor: 0.9}}, {owner: '2', season: {amplitude: 0.5, period: 7200}}]}}
  - {name: b, generate: {count: 6, owners: 3, price_factor: 2}, local: {rule: preempts, queue: {gap: 150, nodes: [1, 2], length: [100, 300], until: 9000}}, pricing: {patient: true, rules: [{owner: '1', use: {together: true}}]}}
cycle: 600
interval: 1800
`

// The grid of the guide.
func TestTheGuidesSitesRun(t *testing.T) {
	text := ownersBlocks(t, "yaml")[3]
	grid, dir := domainOf(t, text), t.TempDir()
	succeed(t, "simulate", "--grid", grid, "--out", dir)
	succeed(t, "validate", filepath.Join(dir, "jobs-cheapest.csv"), "--grid", grid)
	require.Equal(t, "dear", table(t, dir, "prices-cheapest.csv")[0]["site"])
	rows := table(t, dir, "owners-cheapest.csv")
	require.Len(t, rows, 4)
	require.Zero(t, numberOf(t, rows[0]["local_started"]))
	require.Positive(t, numberOf(t, rows[2]["local_started"]))
}

func TestPricesReactAtSitesOfSites(t *testing.T) {
	domains, rest, ok := strings.Cut(ownersBlocks(t, "yaml")[3], "pricing:")
	require.True(t, ok)
	text := "grids:\n  - name: north\n    " + strings.ReplaceAll(domains, "\n", "\n    ") + "\npricing:" + rest
	grid, dir := domainOf(t, text), t.TempDir()
	succeed(t, "simulate", "--grid", grid, "--policy", "cheapest,distributed", "--out", dir)
	for _, s := range []string{"cheapest", "distributed"} {
		succeed(t, "validate", filepath.Join(dir, "jobs-"+s+".csv"), "--grid", grid)
		require.Greater(t, len(table(t, dir, "prices-"+s+".csv")), 100)
		require.Equal(t, "north/cheap", table(t, dir, "owners-"+s+".csv")[2]["site"])
	}
}

// Owners price from the interval of the grid's first job on, though the first job that a broker
// asks the domain about comes later: before 1,146 the cluster takes all of them.
func TestPricesOfASiteBeginWithTheGridsFirstJobWhereverItGoes(t *testing.T) {
	grid, dir := domainOf(t, `clusters: [{name: a, processors: 4}]
domains: [{name: d1, generate: {count: 2, owners: 1}, policy: easy, pricing: {every: 20, rules: [{use: {target: 0.3, step: 0.5}}]}}]
cycle: 100
interval: 2000
trace: {performance: 3, wealth: [1, 2]}
`), t.TempDir()
	log := filepath.Join(dir, "log.swf")
	lines := "; MaxProcs: 4\n"
	for i, j := range [][3]int{{1005, 39, 1}, {1098, 3, 1}, {1146, 95, 4}, {1146, 95, 2}} {
		lines += fmt.Sprintf("%d %d -1 %d %d -1 -1 %[4]d %[3]d -1 1 1 1 -1 1 -1 -1 -1\n", i+1, j[0], j[1], j[2])
	}
	require.NoError(t, os.WriteFile(log, []byte(lines), 0o666))
	succeed(t, "simulate", log, "--grid", grid, "--policy", "rla", "--out", dir)
	succeed(t, "validate", dir)
	require.NotEmpty(t, table(t, dir, "tasks-rla.csv"))
	var times []float64
	last := 0.0
	for _, r := range table(t, dir, "prices-rla.csv") {
		if r["node"] != "1" {
			continue
		}
		at, price := numberOf(t, r["time"]), numberOf(t, r["price"])
		if len(times) > 0 && at <= 1140 {
			require.InDelta(t, last*(1-0.3*0.5), price, 1e-6, "nobody has had the node by %v", at)
		}
		times, last = append(times, at), price
	}
	require.Equal(t, []float64{0, 1020, 1040, 1060, 1080, 1100, 1120, 1140}, times[:8])
}

func TestPricesRiseAtTheSiteThatSells(t *testing.T) {
	grid, dir := domainOf(t, pricedSites, "mixed.yaml", mixedSite), t.TempDir()
	succeed(t, "simulate", "--grid", grid, "--policy", "cheapest,distributed,oar", "--out", dir)
	for _, s := range []string{"cheapest", "distributed", "oar"} {
		succeed(t, "validate", filepath.Join(dir, "jobs-"+s+".csv"), "--grid", grid)

		first, last, used := map[string]float64{}, map[string]float64{}, map[string]float64{}
		latest := map[string]float64{} // by node
		for _, r := range table(t, dir, "prices-"+s+".csv") {
			if numberOf(t, r["time"]) == 0 {
				first[r["site"]] += numberOf(t, r["price"])
			}
			last[r["site"]] += numberOf(t, r["price"]) - latest[r["site"]+r["node"]]
			latest[r["site"]+r["node"]] = numberOf(t, r["price"])
		}
		income := map[string]float64{}
		owners := table(t, dir, "owners-"+s+".csv")
		var names []string
		for _, r := range owners {
			names = append(names, r["site"]+" "+r["owner"])
			used[r["site"]] += numberOf(t, r["used_time"]) / 12
			income[r["site"]] += numberOf(t, r["income"])
		}
		require.Equal(t, []string{"dear 1", "dear 2", "cheap 1", "cheap 2", "mixed a/1", "mixed a/2", "mixed a/3", "mixed b/1", "mixed b/2", "mixed b/3"}, names)
		for _, c := range table(t, dir, "clusters-"+s+".csv") {
			require.InDelta(t, numberOf(t, c["income"]), income[c["cluster"]], 1e-6)
		}
		for _, a := range table(t, dir, "accounts-"+s+".csv") {
			income[a["site"]+" all"] += numberOf(t, a["balance"])
		}
		for _, site := range []string{"dear", "cheap", "mixed"} {
			require.InDelta(t, 0, income[site+" all"], 1e-6)
		}
		if s == "cheapest" {
			require.Greater(t, used["cheap"], 2*used["dear"], "what is cheap is sold")
			require.Greater(t, last["cheap"]/first["cheap"], 1.0)
			require.Less(t, last["dear"]/first["dear"], 1.0)
		}
	}
}

func TestLiesOfOwnersAreFound(t *testing.T) {
	grid, dir := domainOf(t, pricedSites, "mixed.yaml", mixedSite), t.TempDir()
	require.Zero(t, call("simulate", "--grid", grid, "--policy", "distributed", "--out", dir).code)
	jobs := filepath.Join(dir, "jobs-distributed.csv")
	for what, lie := range map[string]struct {
		file   string
		is     func(row []string) bool // the first one of these
		column int
		text   string // of the column; "" leaves the row out
		want   string
	}{
		"a price that no rule made":     {"prices", func(r []string) bool { return r[1] == "1200" && r[0] == "cheap" }, 4, "7", "by its rule"},
		"a change that is missing":      {"prices", func(r []string) bool { return r[1] == "1200" && r[0] == "cheap" }, 0, "", "by its rule"},
		"a change by competition":       {"prices", func(r []string) bool { return r[1] != "0" && r[3] == "a/1" }, 4, "7", "by its rule"},
		"a change between ticks":        {"prices", func(r []string) bool { return r[1] == "1200" && r[0] == "cheap" }, 1, "1100", "within an interval"},
		"another price at first":        {"prices", func(r []string) bool { return r[1] == "0" && r[0] == "dear" }, 4, "7", "at first"},
		"a node that has no rule":       {"prices", func(r []string) bool { return r[1] == "1200" && r[3] == "b/1" }, 2, "5", "no rule prices node 5 of mixed"},
		"an owner's task left out":      {"local", func(r []string) bool { return r[0] == "cheap" }, 0, "", "ran"},
		"an owner's task elsewhere":     {"local", func(r []string) bool { return r[5] == "b/1" }, 5, "b/2", "has node"},
		"an owner's job nobody knows":   {"local", func(r []string) bool { return r[5] == "b/1" }, 6, "777", "is none of those described"},
		"an owner's job that came late": {"local", func(r []string) bool { return r[0] == "cheap" }, 2, "1.5", "came at"},
		"an owner's job before itself":  {"local", func(r []string) bool { return r[0] == "cheap" }, 3, "0", "began before"},
		"an owner's task too long":      {"local", func(r []string) bool { return r[0] == "cheap" }, 4, "9999", "instead of"},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(dir, lie.file+"-distributed.csv")
			truth := read(t, name)
			defer func() { require.NoError(t, os.WriteFile(name, []byte(truth), 0o666)) }()
			rows, err := csv.NewReader(strings.NewReader(truth)).ReadAll()
			require.NoError(t, err)
			at := slices.IndexFunc(rows, lie.is)
			require.Positive(t, at)
			if lie.text == "" {
				rows = slices.Delete(rows, at, at+1)
			} else {
				rows[at][lie.column] = lie.text
			}
			lieIsFound(t, name, rows, jobs, grid, lie.want)
		})
	}
}

func TestWhatIsWrongWithOwnersOfSitesIsSaidWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"domains:\n  - generate: {count: 3}\n    pricing: {rules: [{use: {target: 2}}]}":                      "line 3, column 29: pricing: use: target must be a share",
		"domains: [{generate: {count: 3}}]\npricing: {rules: [{use: {target: 2}}]}":                           "line 2, column 25: pricing: use: target must be a share",
		"domains: [{generate: {count: 3}}]\npricing: {rules: [{use: {traget: 2}}]}":                           `line 2, column 26: there is no key "traget": did you mean "target"?`,
		"domains:\n  - generate: {count: 3}\n    local: {queue: {gap: 5, until: 9}}":                          "line 3, column 20: local: queue: the nodes name no owners",
		"domains:\n  - generate: {count: 3, owners: 1}\n    local: {queue: {gap: 5, until: 9, policy: best}}": `line 3, column 47: local: queue: policy: "best" is not known`,
		"union:\n  - generate: {count: 3, owners: 1}\n    pricing: {rules: [{owner: '2', use: {}}]}":          `line 3, column 31: pricing: there is no owner "2": there are 1`,
		"union:\n  - generate: {count: 3, owners: 1}\n    local: {queue: {gap: 5}}":                           "until: want the time at which the last jobs come, 0.000001 to 1e12 time units; the key is missing",
		"union: [{generate: {count: 3}}]\npricing: {rules: [{nodes: [4], use: {}}]}":                          "line 2, column 28: pricing: there is no node 4",
		"union:\n  - name: a/b\n    generate: {count: 3}":                                                     `line 2, column 11: name: "a/b" has a /`,
		"domains:\n  - generate: {count: 3}\n    local: {queue: {gap: 5, until: 9}, level: [1, 2]}":           "owners have either a queue or jobs at fixed times",
		"domains:\n  - generate: {count: 3}\n    prices: p.csv\n    pricing: {rules: [{use: {}}]}":            "domain-1: prices: node 1 has a rule, too, under pricing",
		"clusters: [{processors: 3}]\npricing: {rules: [{use: {}}]}":                                          `"pricing" is of a domain, "clusters" of a grid`,
		"domains: [{domain: other.yaml, pricing: {rules: [{use: {}}]}}]":                                      "pricing: the domain stands in the file other.yaml: write it there",
	} {
		kind := "--grid"
		if strings.HasPrefix(text, "union") {
			kind = "--domain"
		}
		got := call("simulate", kind, domainOf(t, text+"\ncycle: 600\nbatches: {}\n", "p.csv", "time,node,price\n5,1,2\n", "other.yaml", "generate: {count: 3}\ncycle: 600\n"))
		require.NotZero(t, got.code, text)
		require.Contains(t, got.stderr, want, text)
	}
}
