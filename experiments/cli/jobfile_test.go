package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// schedules are the texts of a folder's jobs-POLICY.csv, without the name of the
// workload.
func schedules(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range files(t, dir) {
		if !strings.HasPrefix(name, "jobs-") {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(read(t, dir, name))).ReadAll()
		require.NoError(t, err)
		require.Greater(t, len(rows), 1)
		var b strings.Builder
		for _, row := range rows {
			b.WriteString(strings.Join(append(row[:1], row[2:]...), "|") + "\n")
		}
		texts[name] = b.String()
	}
	require.NotEmpty(t, texts)
	return texts
}

const batchDomain = "generate: {count: 24}\ncycle: 600\nlocal: {level: [0, 2], cycles: 4}\ncriteria: [min-start, square-min-cost]\n"

func TestGeneratedBatchesAreThoseOfTheDomain(t *testing.T) {
	first, again, packed := t.TempDir(), t.TempDir(), t.TempDir()
	got := succeed(t, "simulate", "--domain", domainOf(t, batchDomain+"batches: {cycles: 3, jobs: 8, users: 3, poorest: true, real: [0.2, 1], nodes: [1, 4]}\n"), "--out", first, "--seed", "3")

	path := filepath.Join(t.TempDir(), "jobs.csv")
	flags := []string{"vo", "--cycles", "3", "--jobs", "8", "--users", "3", "--poorest", "--real", "0.2..1", "--nodes", "1..4", "--seed", "3", "--out"}
	got = drawn(append(flags, path)...)
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, read(t, first, "requests.csv"), read(t, path))

	d := domainOf(t, batchDomain)
	got = succeed(t, "simulate", path, "--domain", d, "--out", again, "--seed", "3")
	require.Equal(t, schedules(t, first), schedules(t, again))
	require.Equal(t, read(t, path), read(t, again, "requests.csv"))

	path = filepath.Join(t.TempDir(), "jobs.jsonl.zst")
	require.Zero(t, drawn(append(flags, path)...).code)
	got = succeed(t, "simulate", path, "--domain", d, "--out", packed, "--seed", "3")
	require.Equal(t, schedules(t, first), schedules(t, packed))
}

func TestARunCanBeRepeatedFromItsOwnRequests(t *testing.T) {
	jobs := write(t, "jobs.csv", drawn("vo", "--cycles", "4", "--jobs", "11", "--real", "0.3..1", "--users", "2",
		"--criteria", "amp,min-start,csa,square-dep,square-min-cost,square-maxq-lite,min-proctime").stdout)
	for name := range strings.SplitSeq("amp,min-start,csa,square-dep,square-min-cost,square-maxq-lite,min-proctime", ",") {
		require.Contains(t, read(t, jobs), ","+name+",", "every criterion is drawn")
	}
	d := domainOf(t, batchDomain)
	policies := "easy,easy:order=wfp3:reservations=all:finder=square-coord,conservative,fcfs,css,batch-slicer:k=3,bsf:q=0.5:fill=conservative"
	one, two, three := t.TempDir(), filepath.Join(t.TempDir(), "requests"), t.TempDir()
	got := succeed(t, "simulate", jobs, "--domain", d, "--policy", policies, "--out", one)
	require.Equal(t, read(t, jobs), read(t, one, "requests.csv"))

	requests := filepath.Join(one, "requests.csv")
	checked := 0
	for _, name := range files(t, one) {
		if strings.HasPrefix(name, "jobs-") {
			got = succeed(t, "validate", filepath.Join(one, name), requests, "--domain", d)
			require.Contains(t, got.stdout, " 44 jobs: ")
			checked++
		}
	}
	require.Equal(t, 7, checked)
	got = exits(t, exitFailed, "validate", filepath.Join(one, "jobs-easy.csv"), requests, "--scenario", write(t, "other.yaml", "machine: "+d+"\nsettings: {seed: 2}\n"))
	require.Contains(t, got.stderr, "jobs-easy.csv is not a valid schedule of requests.csv")

	got = succeed(t, "simulate", requests, "--domain", d, "--policy", policies, "--out", two)
	require.Equal(t, schedules(t, one), schedules(t, two))
	got = succeed(t, "simulate", filepath.Join(two, "requests.csv"), "--domain", d, "--policy", policies, "--out", three)
	for _, name := range files(t, three) {
		if strings.HasPrefix(name, "jobs-") || strings.HasPrefix(name, "queue-") || strings.HasPrefix(name, "cycles-") {
			require.Equal(t, read(t, two, name), read(t, three, name), "byte for byte")
		}
	}

	// A part of the file, into its own folder: the file stays.
	before := read(t, requests)
	got = succeed(t, "simulate", requests, "--domain", d, "--policy", "easy", "--out", one, "--first", "3")
	require.Equal(t, before, read(t, requests))
}

func TestAPricedTraceCanBeRepeatedFromItsRequests(t *testing.T) {
	trace := write(t, "small.swf", swf("0 100 1 100", "1 60 2 100", "2 50 4 90", "3 10 1 10"))
	const nodes = "nodes: nodes.csv\ncycle: 100\ninterval: 400\npolicies: [css, easy]\n"
	with := domainOf(t, nodes+"trace: {performance: 2, wealth: [2, 3], patience: 9}\n", "nodes.csv", threeNodes)
	without := domainOf(t, nodes, "nodes.csv", threeNodes)
	one, two := t.TempDir(), t.TempDir()
	got := succeed(t, "simulate", trace, "--domain", with, "--out", one)
	requests := filepath.Join(one, "requests.csv")
	got = exits(t, exitFailed, "simulate", requests, "--domain", with)
	require.Contains(t, got.stderr, "the key trace of the domain makes priced requests of a log's jobs, but those of the job file requests.csv state their own: leave the key out")
	got = succeed(t, "simulate", requests, "--domain", without, "--out", two)
	require.Equal(t, schedules(t, one), schedules(t, two))
	require.Contains(t, read(t, two, "requests.csv"), "\n2,1,2,200,120,,,")
}

func TestEachJobHasItsOwnCriterion(t *testing.T) {
	jobs := write(t, "jobs.jsonl", `{"id":1,"nodes":1,"volume":100,"criterion":"min-cost"}
{"id":2,"nodes":1,"volume":100,"criterion":"square-min-runtime"}
{"id":3,"nodes":1,"volume":100,"needs":{"ram":8}}
{"id":4,"nodes":1,"volume":100,"min_performance":5}
`)
	d := domainOf(t, "nodes: nodes.csv\ncycle: 1000\n", "nodes.csv", threeNodes)
	out := t.TempDir()
	got := succeed(t, "simulate", jobs, "--domain", d, "--policy", "easy", "--out", out)
	require.Contains(t, got.stderr, "easy: 1 of 4 jobs rejected, 1 of them: wants 1 nodes, but only 0 of 3 meet its demands")
	var nodes []string
	for i, row := range strings.Split(schedules(t, out)["jobs-easy.csv"], "\n") {
		if i > 0 && row != "" {
			nodes = append(nodes, strings.Split(row, "|")[13])
		}
	}
	require.Equal(t, []string{"1", "7", "2", ""}, nodes, "the cheapest, the fastest, that with the memory")
}

// The search of a policy is for all jobs: one of which it can make nothing ends the run. The search
// of a job is its own: the job is rejected.
func TestASearchThatNeedsABudgetSaysWhatToGive(t *testing.T) {
	domain := domainOf(t, "generate: {count: 4}\ncycle: 20\ninterval: 300\n")
	bare := write(t, "bare.csv", "id,submit,nodes,volume,budget,criterion\n1,0,2,20,1000,\n2,0,2,20,,\n")
	got := exits(t, exitFailed, "simulate", bare, "--domain", domain, "--policy", "easy:finder=square-knapsack-dp-q")
	require.Contains(t, got.stderr, "policy easy: finder knapsack-dp-q: the dynamic programme needs a budget: give every job one, or take a search that needs none")
	own := write(t, "own.csv", "id,submit,nodes,volume,budget,criterion\n1,0,2,20,1000,square-knapsack-dp-q\n2,0,2,20,,square-knapsack-dp-q\n")
	got = succeed(t, "simulate", own, "--domain", domain, "--policy", "easy", "--format", "csv")
	require.Contains(t, got.stdout, "\neasy,2,0,1,")
	require.Contains(t, got.stderr, "needs a budget")
}

func TestAClusterTakesAJobFileAndSaysWhatItPassesOver(t *testing.T) {
	jobs := write(t, "jobs.csv", "id,submit,nodes,volume,runtime,budget,needs,deadline,criterion\n"+
		"1,0,2,100,80,5,,,\n2,1,2,100,100,7,ram>=4,,amp\n3,2,1,10,10,,,50,\n")
	got := exits(t, exitFailed, "simulate", jobs, "--policy", "easy")
	require.Contains(t, got.stderr, "procs: give the number of processors: the jobs do not tell it")
	out := t.TempDir()
	got = succeed(t, "simulate", jobs, "--policy", "easy", "--procs", "2", "--out", out)
	require.Contains(t, got.stderr, "jobs.csv: counted processors do not know, so that it was passed over: budget (2 jobs), needs (1 jobs), criterion (1 jobs)\n")
	require.Contains(t, got.stderr, "1 of 3 jobs rejected, 1 of them: its deadline, 50, can no longer be met")
	require.Equal(t, []string{"jobs-easy.csv", "manifest.json", "queue-easy.csv", "requests.csv", "summary.csv"}, files(t, out))
	require.Contains(t, read(t, out, "requests.csv"), "\n2,1,2,100,100,,,7,,ram>=4,amp,,,\n")

	got = succeed(t, "validate", filepath.Join(out, "jobs-easy.csv"), jobs, "--procs", "2")
	require.Contains(t, got.stdout, "3 jobs: 2 finished, 0 killed, 1 rejected, 0 unfinished; valid")
	got = exits(t, exitFailed, "validate", filepath.Join(out, "jobs-easy.csv"), jobs, "--scenario", write(t, "s.yaml", "processors: 2\nworkload: {estimates: exact}\n"))
	require.Contains(t, got.stderr, "estimates: it is about the records of a log")

	grid := write(t, "grid.yaml", "clusters: [{processors: 2}, {processors: 1}]\nbrokers: 1\n")
	got = succeed(t, "simulate", jobs, "--grid", grid, "--policy", "oar")
	require.Contains(t, got.stderr, "deadline (1 jobs)")
	got = call("simulate", jobs, "--domain", domainOf(t, batchDomain), "--policy", "easy")
	require.NotContains(t, got.stderr, "passed over", "a domain knows all of it")
}

func TestAScenarioNamesAJobFile(t *testing.T) {
	d := domainOf(t, "processors: 4\nworkload: {trace: jobs.csv, first: 2}\npolicies: [easy]\n", "jobs.csv", "id,nodes,volume\n1,1,5\n2,1,5\n3,1,5\n")
	got := succeed(t, "simulate", d, "--format", "csv")
	require.Contains(t, got.stdout, "\neasy,2,0,0,5,")
}

func TestWhatIsWrongWithAJobFileIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"id,nodes,volume,submit\n1,1,5,7\n2,1,5,6\n": "jobs.csv:3: submit: job 2 is submitted at 6, 1 before the job above it: sort the file by submission",
		"id,nodes,volume,criterion\n1,1,5,dep\n":     `jobs.csv:2: criterion: "dep" is not known: want one of alp, amp, `,
		"id,nodes,volume\n":                          "jobs.csv: there are no jobs to simulate",
	} {
		got := exits(t, exitFailed, "simulate", write(t, "jobs.csv", text), "--procs", "4", "--out", filepath.Join(t.TempDir(), "out"))
		require.Contains(t, got.stderr, want)
	}
	sound := write(t, "jobs.csv", "id,nodes,volume\n1,1,5\n")
	for flag, value := range map[string]string{"estimates": "exact", "load": "0.5", "procs-from": "max", "missing-estimate": "drop", "overrun": "raise"} {
		got := exits(t, exitUsage, "simulate", sound, "--procs", "4", "--"+flag, value)
		require.Contains(t, got.stderr, "--"+flag+": ")
		require.Contains(t, got.stderr, "the jobs of a job file state their own")
	}
	require.Zero(t, call("simulate", sound, "--procs", "4", "--strict", "--shift", "--overrun", "extend").code)
	got := exits(t, exitFailed, "simulate", filepath.Join(t.TempDir(), "none.csv"), "--procs", "4")
	require.Contains(t, got.stderr, "no such file")
}

func TestGenerateVOSaysWhatIsWrong(t *testing.T) {
	for _, c := range [][]string{
		{"--cycles", "0", "cycles is \"0\": want a whole number of 1 or more"},
		{"--jobs", "0", "jobs is \"0\": want a whole number of 1 or more"},
		{"--users", "-1", "users is \"-1\": want a whole number of 1 or more"},
		{"--interval", "0", "interval is \"0\": want a number above 0"},
		{"--min-performance", "0", "min-performance is \"0\": want a number above 0"},
		{"--nodes", "0..4", "nodes: want a range from 1"},
		{"--nodes", "4", "want the least and the most, numbers of which the greater is above 0, as in 2..5"},
		{"--volume", "0..0", "want the least and the most"},
		{"--wealth", "2..inf", "want the least and the most"},
		{"--real", "0.5..2", "cannot really take more than its estimate"},
		{"--criteria", "amp,dep", `"dep" is not known`},
		{"--out", "x.xml", "a job file is known by its ending"},
	} {
		got := drawn("vo", c[0], c[1])
		require.Equal(t, 2, got.code, c)
		require.Contains(t, got.stderr, c[2], c)
		require.Empty(t, got.stdout)
	}
	path := filepath.Join(t.TempDir(), "jobs.jsonl")
	got := drawn("vo", "--jobs", "2", "--criteria", "square-dep", "--out", path)
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, read(t, path), `,"criterion":"square-dep","user":0}`)
	require.Equal(t, 2, strings.Count(read(t, path), "\n"))
	require.Zero(t, drawn("vo", "--jobs", "2").code)
	_, err := os.Stat("-")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// blocksOf are the fenced blocks of a page in a language.
func blocksOf(t *testing.T, page, language string) []string {
	t.Helper()
	var found []string
	for _, part := range strings.Split(read(t, page), "\n```"+language+"\n")[1:] {
		text, _, ok := strings.Cut(part, "```")
		require.True(t, ok)
		found = append(found, text)
	}
	return found
}

// The job file of docs/guides/organisations.md, as it stands there.
func TestTheGuidesJobFileRuns(t *testing.T) {
	const page = "../../docs/guides/organisations.md"
	tables, files := blocksOf(t, page, "csv"), blocksOf(t, page, "yaml")
	d := domainOf(t, files[2], "nodes.csv", tables[1], "jobs.csv", tables[2])
	require.Contains(t, files[2], "nodes: nodes.csv")
	jobs, out := filepath.Join(filepath.Dir(d), "jobs.csv"), t.TempDir()
	got := succeed(t, "simulate", jobs, "--domain", d, "--out", out)
	require.Empty(t, got.stderr, "nobody is turned away or left")
	for _, name := range []string{"jobs-easy-finder=amp.csv", "jobs-batch-slicer-k=2.csv"} {
		got = succeed(t, "validate", filepath.Join(out, name), filepath.Join(out, "requests.csv"), "--domain", d)
	}
	var nodes []string
	for i, row := range strings.Split(schedules(t, out)["jobs-easy-finder=amp.csv"], "\n") {
		if i > 0 && row != "" {
			nodes = append(nodes, strings.Split(row, "|")[13])
		}
	}
	require.Equal(t, "1 3", nodes[0], "the cheapest two for what they do")
	require.Equal(t, "2 4", nodes[1], "the fastest two")
	_, args, ok := strings.Cut(read(t, page), "\ngridslot trace convert vo")
	require.True(t, ok)
	args, _, _ = strings.Cut(args, "\n")
	t.Chdir(t.TempDir())
	got = succeed(t, append([]string{"trace", "convert"}, strings.Fields("vo"+args)...)...)
	require.Equal(t, 201, strings.Count(read(t, "meta.csv"), "\n"))
}

// The examples of docs/reference/files.md are the same jobs in both formats.
func TestTheReferencesJobFilesSayTheSame(t *testing.T) {
	const page = "../../docs/reference/files.md"
	var requests []string
	for name, text := range map[string]string{"a.csv": blocksOf(t, page, "csv")[0], "a.jsonl": blocksOf(t, page, "json")[0]} {
		out := ran(t, write(t, name, text), "--procs", "4", "--policy", "fcfs")
		requests = append(requests, read(t, out, "requests.csv"))
	}
	require.Equal(t, requests[0], requests[1])
	for _, column := range strings.Split(strings.Split(requests[0], "\n")[0], ",") {
		require.Contains(t, read(t, page), "`"+column+"`")
	}
}

func TestGenerateVONamesWhatCannotBe(t *testing.T) {
	for flags, want := range map[string]string{
		"--nodes 1.5..2":              "want whole numbers, as in 2..5",
		"--out x.txt":                 "x.txt: a job file is known by its ending",
		"--volume 5":                  "want the least and the most",
		"--criteria min-start,fooled": "criteria",
	} {
		got := drawn(append([]string{"vo"}, strings.Fields(flags)...)...)
		require.Equal(t, 2, got.code, flags)
		require.Contains(t, got.stderr, want)
	}
}
