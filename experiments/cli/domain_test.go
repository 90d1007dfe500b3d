package cli

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// domainOf writes files into a folder of their own and returns the path of the
// first, the domain.
func domainOf(t *testing.T, text string, others ...string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "domain.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	for i := 0; i < len(others); i += 2 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, others[i]), []byte(others[i+1]), 0o666))
	}
	return path
}

// defaultNodePolicies are run where neither the call nor the file names any.
const defaultNodePolicies = "css,batch-slicer:k=5:shift=end,bsf:k=5,easy"

const threeNodes = "id,performance,price,ram,os\n1,1,1,4,linux\n2,2,2.5,8,linux\n7,4,5,,bsd\n"

func cyclesOf(t *testing.T, path string) []rows.Cycle {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	all, err := rows.Read(path, string(text), rows.Cycles)
	require.NoError(t, err)
	return all
}

func TestADomainRunsATraceWhoseJobsArePriced(t *testing.T) {
	d := domainOf(t, `
nodes: nodes.csv
cycle: 100
interval: 400
prices: prices.csv
local: {jobs: local.csv, rule: preempts}
trace: {performance: 2, wealth: [2, 2]}
policies: ["css", "easy:finder=amp"]
`, "nodes.csv", threeNodes, "prices.csv", "time,node,price\n50,2,1\n", "local.csv", "node,start,length,known\n1,10,20,0\n")
	trace := write(t, "small.swf", swf("0 100 1 100", "1 60 2 100", "2 50 4 90", "3 10 1 10"))
	out := filepath.Join(t.TempDir(), "out")
	got := succeed(t, "simulate", trace, "--domain", d, "--out", out)
	require.Contains(t, got.stderr, "css, easy:finder=amp: 1 of 4 jobs rejected", "three nodes cannot hold four tasks")
	require.Equal(t, []string{
		"attempts-css.csv", "attempts-easy-finder=amp.csv", "capacity.csv", "cycles-css.csv", "cycles-easy-finder=amp.csv",
		"jobs-css.csv", "jobs-easy-finder=amp.csv", "manifest.json", "nodes.csv", "queue-css.csv", "queue-easy-finder=amp.csv", "requests.csv", "summary.csv",
		"tasks-css.csv", "tasks-easy-finder=amp.csv",
	}, files(t, out), "owners preempt: there may be several attempts")
	for _, policy := range []string{"css", "easy-finder=amp"} {
		submitted, finished, rejected, income, expense := 0, 0, 0, 0.0, 0.0
		for _, r := range cyclesOf(t, filepath.Join(out, "cycles-"+policy+".csv")) {
			submitted += r.Submitted
			finished += r.Finished
			rejected += r.Rejected
			income += r.Income
			expense += r.Expense
		}
		require.Equal(t, []int{4, 3, 1}, []int{submitted, finished, rejected}, policy)
		require.Positive(t, income)
		require.InDelta(t, income, expense, 1e-6)
	}
}

// The files of docs/guides/organisations.md, as they stand there, with either
// kind of nodes.
func TestTheGuidesDomainRuns(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/organisations.md")
	require.NoError(t, err)
	rest := string(page)
	block := func(language string) (text string) {
		_, after, ok := strings.Cut(rest, "```"+language+"\n")
		require.True(t, ok)
		text, rest, _ = strings.Cut(after, "```")
		return text
	}
	file, prices, nodes := block("yaml"), block("csv"), block("csv")
	got := succeed(t, "simulate", "--domain", domainOf(t, file, "prices.csv", prices))
	require.NotContains(t, got.stderr, "rejected")
	require.Contains(t, got.stdout, "batch-slicer:k=5:shift=end  ")

	_, others, _ := strings.Cut(file, "\n") // the first line is that of the nodes
	require.Contains(t, string(page), "`nodes: nodes.csv`")
	got = succeed(t, "simulate", "--domain", domainOf(t, "nodes: nodes.csv\n"+others, "prices.csv", prices, "nodes.csv", nodes))
	require.NotContains(t, got.stderr, "of a domain of", "there are nodes enough for every job")
}

// The union of that guide: jobs of up to 12 nodes on three domains of 20.
func TestTheGuidesUnionRuns(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/organisations.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "`union.yaml`:\n\n```yaml\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(rest, "```")
	got := succeed(t, "simulate", domainOf(t, text))
	require.NotContains(t, got.stderr, "wait")
	require.Contains(t, got.stdout, "bsf:k=3:within=domain   120 ")
}

func TestADomainGeneratesItsBatches(t *testing.T) {
	d := domainOf(t, "generate: {count: 24}\ncycle: 600\nlocal: {level: [0, 2], cycles: 4}\nbatches: {cycles: 3, users: 3, real: [0.2, 1]}\ncriteria: [min-start, min-cost]\n")
	one := succeed(t, "simulate", "--domain", d, "--format", "csv")
	lines := strings.Split(strings.TrimSpace(one.stdout), "\n")
	require.Len(t, lines, 5, "the default policies")
	for i, spec := range strings.Split(defaultNodePolicies, ",") {
		require.True(t, strings.HasPrefix(lines[i+1], spec+",60,0,0,"), lines[i+1])
	}
}

func TestADomainRunsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	d := domainOf(t, "generate: {count: 24}\ncycle: 600\nlocal: {level: [0, 2], cycles: 4}\nbatches: {cycles: 3, real: [0.2, 1]}\n")
	var texts []string
	for _, workers := range []string{"1", "4"} {
		out := ran(t, "--domain", d, "--workers", workers)
		text := ""
		for _, name := range files(t, out) {
			if name != "manifest.json" && name != "summary.csv" { // which tell times of the clock
				content, err := os.ReadFile(filepath.Join(out, name))
				require.NoError(t, err)
				text += name + "\n" + string(content)
			}
		}
		texts = append(texts, text)
	}
	require.Equal(t, texts[0], texts[1])
}

func TestJobsThatNoCyclePlansAreSaidToWait(t *testing.T) {
	d := domainOf(t, "nodes: nodes.csv\ncycle: 600\nbatches: {jobs: 3, nodes: [1, 1]}\npolicies: ['css:problem=batch-time:max-cost=1']\n", "nodes.csv", threeNodes)
	got := succeed(t, "simulate", "--domain", d)
	require.Contains(t, got.stderr, "3 jobs still wait, from job 1 on: postponed: the budget B* of 1 cost units is")
}

func TestWhatIsWrongWithADomainIsSaidWithItsPlace(t *testing.T) {
	for _, c := range []struct{ text, nodes, want string }{
		{"nodes: nodes.csv\ncycel: 600\n", threeNodes, `line 2, column 1: there is no key "cycel": did you mean "cycle"?`},
		{"nodes: nodes.csv\ncycle: long\n", threeNodes, `line 2, column 8: cycle: want a number, not "long"`},
		{"nodes: {generate: {count: 3}}\n", threeNodes, "line 1, column 8: nodes: want the name of a CSV file (generate: is a key of its own"},
		{"nodes:\n  generate: {}\n", threeNodes, "nodes: want the name of a CSV file"},
		{"batches:\n  jobs: x\n", threeNodes, `line 2, column 9: jobs: want a whole number, not "x"`},
		{"local: {level: [a, 2]}\n", threeNodes, `level: want a number, not "a"`},
		{"pay_by_use: maybe\n", threeNodes, "pay_by_use: want true or false"},
		{"batches: 3\n", threeNodes, "batches: want settings, {KEY: VALUE}"},
		{"policies: css\n", threeNodes, "policies: want a list, [A, B]"},
		{"- css\n", threeNodes, "the file: want settings"},
		{"cycle: 600\n", threeNodes, "give either nodes (a CSV file) or generate"},
		{"nodes: nodes.csv\n", threeNodes, "cycle: want a length of 0.000001 to 1e12 time units, as in cycle: 600; the key is missing"},
		{"nodes: other.csv\ncycle: 1\n", threeNodes, "other.csv"},
		{"nodes: nodes.csv\ncycle: 1\n", "", "it is empty"},
		{"nodes: nodes.csv\ncycle: 1\n", "id,price\n1,1\n", `it has no column "performance"`},
		{"nodes: nodes.csv\ncycle: 1\n", "id,performance,price\n1,1,1\n1,2,2\n", "line 3: a second node 1"},
		{"nodes: nodes.csv\ncycle: 1\n", "id,performance,price\n1,0,1\n", "line 2: node 1: performance"},
		{"nodes: nodes.csv\ncycle: 1\n", "id,performance,price\n1,x,1\n", `nodes.csv: line 2: performance: want a number, not "x"`},
		{"nodes: nodes.csv\ncycle: 1\ncriteria: [best]\n", threeNodes, `line 3, column 12: criteria: no such search for windows: "best" is not known: want one of alp, amp`},
		{"nodes: nodes.csv\ncycle: 1\nlocal: {rule: fights}\n", threeNodes, "want waits or preempts"},
		{"nodes: nodes.csv\ncycle: 1\ntrace: {wealth: [1]}\n", threeNodes, "trace: wealth: want [MIN, MAX]"},
		{"nodes: nodes.csv\ncycle: 1\n", threeNodes, "no jobs: give a TRACE, or batches in the file"},
	} {
		d := domainOf(t, c.text, "nodes.csv", c.nodes)
		got := exits(t, exitFailed, "simulate", "--domain", d)
		require.Contains(t, got.stderr, c.want, c.text)
	}
	d := domainOf(t, "generate: {}\ncycle: 600\nbatches: {}\npolicies: [zzz]\n")
	got := exits(t, exitFailed, "simulate", "--domain", d, "--policy", "css")
	require.Contains(t, got.stderr, `policies: `)
	d = domainOf(t, "generate: {}\ncycle: 600\nbatches: {}\n")
	require.Equal(t, 2, call("simulate", "--domain", d, "--policy", "cs").code)
}

// 10,000 jobs by the cycle on 100 nodes that owners use, too, with real times
// of a fifth of the estimates and more: nobody is lost, and the money adds up.
func TestALongRunByTheCycle(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	d := domainOf(t, "generate: {count: 100}\ncycle: 600\nlocal: {level: [1, 5], cycles: 110}\nbatches: {cycles: 100, jobs: 100, users: 40, real: [0.2, 1]}\ncriteria: [min-start, min-cost, min-finish]\n")
	out := ran(t, "--domain", d, "--policy", "css,bsf:k=5")
	for _, policy := range []string{"css", "bsf-k=5"} {
		rows := cyclesOf(t, filepath.Join(out, "cycles-"+policy+".csv"))
		require.GreaterOrEqual(t, len(rows), 100)
		submitted, done, income, expense := 0, 0, 0.0, 0.0
		for _, r := range rows {
			submitted += r.Submitted
			done += r.Finished + r.Rejected
			income += r.Income
			expense += r.Expense
			require.True(t, r.Utilization >= 0 && r.Utilization <= 1)
		}
		require.Equal(t, 10_000, submitted)
		require.Equal(t, 10_000, done+rows[len(rows)-1].Waiting)
		require.Equal(t, fmt.Sprintf("%.3f", income), fmt.Sprintf("%.3f", expense))
	}
}

func TestBatchesMayBeEmpty(t *testing.T) {
	for _, empty := range []string{"cycles: 0", "jobs: 0"} {
		got := exits(t, exitFailed, "simulate", "--domain", domainOf(t, "generate: {}\ncycle: 600\nbatches: {"+empty+"}\n"))
		require.Contains(t, got.stderr, "domain.yaml: there are no jobs to simulate", empty)
	}
	got := call("simulate", "--domain", domainOf(t, "generate: {}\ncycle: 600\nbatches: {cycles: -1}\n"))
	require.Contains(t, got.stderr, "batches: cycles: want a number of 0 or more")
}

func TestFlagsThatADomainCannotHonourAreRefused(t *testing.T) {
	d := domainOf(t, "generate: {}\ncycle: 600\nbatches: {}\n")
	trace := write(t, "small.swf", smallTrace)
	for _, c := range []struct{ args, want string }{
		{"--procs 8", "the machine is the nodes"},
		{"--first 10", "there is none"},
		{"--skip 1", "there is none"},
		{"--load 0.5", "there is none"},
		{"--shift", "there is none"},
		{"--overrun raise", "there is none"},
		{trace + " --overrun extend", "cut at the end of its reservation"},
	} {
		got := exits(t, exitUsage, append([]string{"simulate", "--domain", d}, strings.Fields(c.args)...)...)
		require.Contains(t, got.stderr, c.want, c.args)
	}
}

func TestTheManifestRepeatsADomainsRun(t *testing.T) {
	d := domainOf(t, "nodes: nodes.csv\ncycle: 600\ntrace: {free: true}\n", "nodes.csv", threeNodes)
	out := ran(t, write(t, "small.swf", smallTrace), "--domain", d, "--first", "3", "--skip", "1", "--estimates", "exact")
	text, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	require.NoError(t, err)
	var m metrics.Manifest
	require.NoError(t, json.Unmarshal(text, &m))
	require.Contains(t, m.Settings["domain"], "nodes: nodes.csv")
	for key, want := range map[string]string{
		"first": "3", "skip": "1", "estimates": "exact", "overrun": "kill", "load": "0", "policy": defaultNodePolicies,
		"sha256 of nodes.csv": fmt.Sprintf("%x", sha256.Sum256([]byte(threeNodes))),
	} {
		require.Equal(t, want, m.Settings[key], key)
	}
}

func TestRejectedJobsSayWhy(t *testing.T) {
	d := domainOf(t, "nodes: nodes.csv\ncycle: 10\nbatches: {jobs: 5, nodes: [1, 2], volume: [100, 100]}\npolicies: [css]\n", "nodes.csv", threeNodes)
	out := t.TempDir()
	got := succeed(t, "simulate", "--domain", d, "--out", out)
	require.Regexp(t, `css: 5 of 5 jobs rejected, [345] of them: wants [12] nodes, but only 0 that meet its demands are fast enough to end within 10, the interval that is planned ahead`, got.stderr)
	text, err := os.ReadFile(filepath.Join(out, "jobs-css.csv"))
	require.NoError(t, err)
	require.Equal(t, 5, strings.Count(string(text), `,"reason=wants `), "which has a comma in it")
}

func TestSchedulesOfADomainAreNotHeldAgainstCountedProcessors(t *testing.T) {
	d := domainOf(t, "generate: {}\ncycle: 600\nbatches: {}\n")
	out := ran(t, "--domain", d, "--policy", "easy,css,fcfs:finder=amp")
	refused := func(name string) {
		got := exits(t, exitFailed, "validate", filepath.Join(out, name))
		require.Contains(t, got.stderr, "is a schedule of the nodes of a domain: give what was asked for and the domain", name)
		require.Zero(t, call("validate", filepath.Join(out, name), filepath.Join(out, "requests.csv"), "--domain", d).code, "and so it is")
	}
	got := succeed(t, "validate", out)
	require.Equal(t, 3, strings.Count(got.stdout, "; valid\n"))
	require.NoError(t, os.Remove(filepath.Join(out, "manifest.json")))
	refused("jobs-css.csv")
	refused("jobs-fcfs-finder=amp.csv")

	require.Zero(t, call("simulate", "--policy", "easy", "--out", out).code)
	require.Zero(t, call("validate", filepath.Join(out, "jobs-easy.csv")).code, "made anew on a cluster")
}

func TestFrontsAreWrittenWhereAPolicyTellsThem(t *testing.T) {
	d := domainOf(t, "generate: {count: 24}\ncycle: 600\nlocal: {level: [0, 2], cycles: 4}\nbatches: {cycles: 3}\n")
	out := ran(t, "--domain", d, "--policy", "batch-slicer:k=2:front=30:problem=weights:weights=1/0/1/0:b-limit=share:owners=0.5,css")
	const name = "pareto-batch-slicer-k=2-front=30-problem=weights-weights=1-0-1-0-b-limit=share-owners=0.5.csv"
	require.Contains(t, files(t, out), name)
	require.NotContains(t, files(t, out), "pareto-css.csv")
	file, err := os.Open(filepath.Join(out, name))
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"planned_at", "slice", "jobs", "point", "cost", "budget_left", "time", "time_left", "gap"}, rows[0])
	chosen, points := 0, 0
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return v
	}
	var cost, time, budget, limit float64 // of the choice
	for _, row := range rows[1:] {
		if row[3] == "0" {
			chosen++
			cost, time = number(row[4]), number(row[6])
			budget, limit = cost+number(row[5]), time+number(row[7])
			require.GreaterOrEqual(t, number(row[5]), -1e-6)
			require.GreaterOrEqual(t, number(row[7]), -1e-6)
			continue
		}
		points++
		require.InDelta(t, budget, number(row[4])+number(row[5]), 1e-6)
		require.InDelta(t, limit, number(row[6])+number(row[7]), 1e-6)
		require.False(t, number(row[4]) < cost-1e-6 && number(row[6]) <= time, "a point beats what was chosen: %v", row)
	}
	require.Equal(t, 6, chosen, "two slices of three batches")
	require.Greater(t, points, 30)
}

func TestALabelThatNoNodeHasIsNamed(t *testing.T) {
	file := write(t, "d.yaml", "generate: {count: 4}\ncycle: 600\nbatches: {cycles: 1, jobs: 2}\n")
	got := exits(t, exitFailed, "simulate", "--domain", file, "--policy", "css:within=rack")
	require.Contains(t, got.stderr, `policy css:within=rack: within: no node has a label "rack"`)
}

func TestASiteOfAGridDoesNotKeepWithin(t *testing.T) {
	file := write(t, "g.yaml", "domains: [{generate: {count: 4}, policy: \"easy:within=rack\"}]\ncycle: 600\nbatches: {cycles: 1, jobs: 2}\n")
	got := call("simulate", "--grid", file)
	require.NotZero(t, got.code)
	require.Contains(t, got.stderr, "within is for a domain by itself")
}

func TestFlagsOfValidateThatExcludeEachOtherAreNamed(t *testing.T) {
	got := exits(t, exitUsage, "validate", "jobs.csv", "--grid", "g.yaml", "--domain", "d.yaml")
	require.Contains(t, got.stderr, "--grid and --domain exclude each other")
}
