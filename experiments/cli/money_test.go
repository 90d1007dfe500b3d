package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The printed table of money has the sums of the files: what jobs cost, what users got back, what
// owners were paid, and what is left of the budgets of the jobs that ended.
func TestMoneyIsPrinted(t *testing.T) {
	out := t.TempDir()
	got := succeed(t, "simulate", "--domain", "../register/testdata/in/preempts.yaml", "--policy", "easy", "--out", out)
	_, money, told := strings.Cut(got.stdout, "money")
	require.True(t, told, got.stdout)
	cells := strings.Fields(strings.Split(money, "\n")[1])
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return v
	}
	var cost, refund, left float64
	for _, row := range table(t, out, "jobs-easy.csv") {
		if row["finish_time"] == "" || row["final_state"] == "REJECTED" {
			continue
		}
		cost, refund = cost+number(row["cost"]), refund+number(row["refund"])
		left += number(row["budget"]) - number(row["cost"]) + number(row["refund"])
	}
	require.Positive(t, left)
	require.Equal(t, []string{"easy", one(cost), one(refund), one(cost - refund), one(left)}, cells[:5])
}

func one(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// Clusters of a grid have prices: a job pays for the processors and the time that its site keeps
// for it, or by use for what it had, and for what it ran beyond its request; the cluster's own
// jobs pay nothing. Files have it, and validate finds what is not so.
func TestClustersOfAGridHavePrices(t *testing.T) {
	log := write(t, "log.swf", "; MaxProcs: 8\n"+
		"1 0 -1 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1\n"+
		"2 10 -1 50 2 -1 -1 2 40 -1 1 4 1 -1 1 -1 -1 -1\n"+
		"3 20 -1 30 8 -1 -1 8 60 -1 1 3 1 -1 1 -1 -1 -1\n")
	for _, c := range []struct {
		keys, overrun string
		cost, paid    []string // of jobs 1 to 3; at half the speed all times are twice as long
		owner         string
	}{
		{"", "kill", []string{"400.000000", "40.000000", "240.000000"}, []string{"400.000000", "40.000000", "240.000000"}, "680"},
		{"", "extend", []string{"400.000000", "50.000000", "240.000000"}, []string{"400.000000", "50.000000", "240.000000"}, "690"},
		{", pay_by_use: true", "kill", []string{"400.000000", "40.000000", "240.000000"}, []string{"200.000000", "40.000000", "120.000000"}, "360"},
		{", pay_by_use: true", "extend", []string{"400.000000", "50.000000", "240.000000"}, []string{"200.000000", "50.000000", "120.000000"}, "370"},
	} {
		out := t.TempDir()
		grid := write(t, "grid.yaml", "clusters: [{name: a, processors: 4, price: 2, local: "+log+"}, {name: b, processors: 8, speed: 0.5, price: 0.25"+c.keys+"}]\n")
		got := succeed(t, "simulate", log, "--grid", grid, "--policy", "cheapest", "--overrun", c.overrun, "--out", out)
		require.Contains(t, got.stdout, "to owners")
		var cost, paid []string
		for _, row := range table(t, out, "jobs-cheapest.csv") {
			cost, paid = append(cost, row["cost"]), append(paid, row["paid"])
		}
		require.Equal(t, c.cost, cost)
		require.Equal(t, c.paid, paid)
		clusters := table(t, out, "clusters-cheapest.csv")
		require.Equal(t, []string{"0", c.owner}, []string{clusters[0]["income"], clusters[1]["income"]}, "a's own jobs pay nothing")
		require.Equal(t, "a", table(t, out, "clusters-cheapest.csv")[0]["cluster"])
		require.Contains(t, read(t, out, "accounts-cheapest.csv"), "b,owner 0,"+c.owner+".000000\n")
		require.NoFileExists(t, filepath.Join(out, "tasks-cheapest.csv"))
		require.Zero(t, call("validate", out).code)
		require.Equal(t, c.owner, table(t, out, "summary.csv")[0]["income"])

		alone := write(t, "alone.yaml", "clusters: [{name: b, processors: 8, speed: 0.5, price: 0.25"+c.keys+"}]\n")
		out = t.TempDir()
		require.Zero(t, call("simulate", log, "--grid", alone, "--policy", "cheapest", "--overrun", c.overrun, "--out", out).code)
		require.Zero(t, call("validate", out).code)
		for file, change := range map[string][2]string{
			"jobs-cheapest.csv":     {"," + c.paid[2] + ",", ",121.000000,"},
			"accounts-cheapest.csv": {"owner 0," + c.owner, "owner 0,1" + c.owner},
		} {
			text := read(t, out, file)
			require.Contains(t, text, change[0])
			i := strings.LastIndex(text, change[0])
			require.NoError(t, os.WriteFile(filepath.Join(out, file), []byte(text[:i]+change[1]+text[i+len(change[0]):]), 0o666))
			found := exits(t, exitFailed, "validate", out)
			require.Contains(t, found.stdout, "false account")
			require.NoError(t, os.WriteFile(filepath.Join(out, file), []byte(text), 0o666))
		}
	}
}

// A cluster with a price takes no job that would pay less, and the cheapest site gets the job,
// whole or in parts.
func TestAClusterTakesNoJobThatCannotPay(t *testing.T) {
	jobs := write(t, "jobs.csv", "id,submit,nodes,volume,budget,max_price\n1,0,2,100,,\n2,0,2,100,400,\n3,0,2,100,399,\n4,0,2,100,199,\n5,0,2,100,,1.5\n6,0,2,100,,0.5\n")
	grid := write(t, "grid.yaml", "clusters: [{name: dear, processors: 8, price: 2}, {name: cheap, processors: 2, price: 1}]\nbrokers: 1\n")
	for strategy, want := range map[string]string{
		"cheapest":          "cheap cheap cheap - cheap -",
		"dispatch:by=price": "cheap cheap cheap - cheap -",
		"earliest":          "cheap dear cheap - cheap -",
		"distributed":       "dear dear cheap - cheap -",
		"central":           "dear dear cheap - cheap -",
		"oar":               "dear dear cheap - cheap -",
	} {
		out := t.TempDir()
		got := succeed(t, "simulate", jobs, "--grid", grid, "--policy", strategy, "--out", out)
		if strategy != "central" && strategy != "oar" {
			require.NotContains(t, got.stderr, "passed over")
		}
		file := strings.ReplaceAll(strategy, ":", "-")
		var where []string
		for _, row := range table(t, out, "jobs-"+file+".csv") {
			switch row["cost"] {
			case "400.000000":
				where = append(where, "dear")
			case "200.000000":
				where = append(where, "cheap")
			default:
				require.Equal(t, "REJECTED", row["final_state"])
				where = append(where, "-")
			}
		}
		require.Equal(t, want, strings.Join(where, " "), strategy)
		require.Zero(t, call("validate", out).code)
		reasons := read(t, out, "jobs-"+file+".csv")
		if strategy != "central" && strategy != "oar" {
			require.Contains(t, reasons, "costs 400.000000, above its budget of 199.000000")
			require.Contains(t, reasons, "pays a price of 0.5, and a processor costs 2")
		}
	}
}

func TestPricesOfClustersThatAreNone(t *testing.T) {
	for keys, says := range map[string]string{
		"price: -1":        "column 35: cluster-1: price must be 0 (free) to 1e+15 for a processor and a time unit, not -1",
		"price: .nan":      "price must be 0 (free)",
		"pay_by_use: true": "pay_by_use is about a price: give one, as in price: 2",
	} {
		got := exits(t, exitFailed, "simulate", "--grid", write(t, "grid.yaml", "clusters: [{processors: 4, "+keys+"}]\n"))
		require.Contains(t, got.stderr, says)
	}
}

// A grid passes over nothing that one of its sites, or its strategy, knows.
func TestWhatAGridPassesOver(t *testing.T) {
	jobs := write(t, "jobs.csv", "id,submit,nodes,volume,budget,criterion,deadline\n1,0,1,100,900,min-cost,\n2,0,1,100,900,,9000\n")
	clusters := "clusters: [{processors: 8}]\nbrokers: 1\n"
	domains := clusters + "domains: [{generate: {count: 4}}]\ncycle: 600\n"
	for _, c := range []struct{ grid, strategy, told string }{
		{clusters, "earliest", "criterion (1 jobs)"},
		{clusters, "oar", "criterion (1 jobs), deadline (1 jobs)"},
		{domains, "earliest", ""},
		{domains, "oar", "deadline (1 jobs)"},
	} {
		got := succeed(t, "simulate", jobs, "--grid", write(t, "grid.yaml", c.grid), "--policy", c.strategy)
		_, told, _ := strings.Cut(got.stderr, "passed over: ")
		told, _, _ = strings.Cut(told, "\n")
		require.Equal(t, c.told, told, "%s: %s", c.strategy, got.stderr)
	}
}
