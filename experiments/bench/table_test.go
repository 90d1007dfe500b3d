package bench_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// row is a row of BenchmarkTable: a kind of work at several sizes. What it cost before, and
// what was aimed at, are in its unit.
type row struct {
	work, before, aim string
	cells             []func(b *testing.B) float64 // in the unit
	format            string
	bench             string // what -bench repeats it
}

// least is the least of some measurements; those that take long are taken once.
func least(times int, measure func() float64) float64 {
	best := math.Inf(1)
	for range times {
		v := measure()
		best = min(best, v)
		if v > 10 {
			break
		}
	}
	return best
}

func rows() []row {
	cycleMs := func(c cycle) func(b *testing.B) float64 {
		return func(b *testing.B) float64 { return 1000 * least(3, func() float64 { return spend(b, &c).CPU }) }
	}
	cycleS := func(c cycle) func(b *testing.B) float64 {
		return func(b *testing.B) float64 { return least(3, func() float64 { return spend(b, &c).CPU }) }
	}
	nodes := func(n int, finder string, budgets bool) func(b *testing.B) float64 {
		return func(b *testing.B) float64 {
			return least(3, func() float64 { return unequal(b, n, finder, budgets, unequalJobs).user.Seconds() })
		}
	}
	overloadUs := func(policy string, jobs int) func(b *testing.B) float64 {
		return func(b *testing.B) float64 {
			s := spend(b, &overload{Policy: policy, Jobs: jobs})
			return s.CPU / s.Counts["events"] * 1e6
		}
	}
	command := func(name, policy string) func(b *testing.B) float64 {
		return func(b *testing.B) float64 {
			return least(3, func() float64 {
				return run(b, process(roleCommand, "simulate", logFile(b, name), "--policy", policy, "--out", b.TempDir())).user.Seconds()
			})
		}
	}
	naive := func(name string) func(b *testing.B) float64 {
		return func(b *testing.B) float64 {
			ours, naive, _ := turns(b, name, 7)
			return median(ours) / median(naive)
		}
	}
	users := []string{"min-cost", "min-runtime"}
	return []row{
		{"CSS, a cycle of 80 jobs, 400 / 1,600 / 6,400 nodes, ms", "35 / 570 / 9,690", "10 / 30 / 150", []func(*testing.B) float64{
			cycleMs(cycle{Jobs: 80, Nodes: 400}), cycleMs(cycle{Jobs: 80, Nodes: 1600}), cycleMs(cycle{Jobs: 80, Nodes: 6400})}, "%.3g", "CSS"},
		{"the same, 320 jobs, 1,600 nodes, ms; 1,000 jobs, 10,000 nodes, s", "600 / not measured", "4 times 80 jobs / 1", []func(*testing.B) float64{
			cycleMs(cycle{Jobs: 320, Nodes: 1600}), cycleS(cycle{Jobs: 1000, Nodes: 10_000})}, "%.3g", "CSS"},
		{"batch-slicer, k = 5, 80 jobs, 400 / 1,600 / 6,400 nodes, ms", "270 / 4,100 / 37,350", "20 / 60 / 300", []func(*testing.B) float64{
			cycleMs(cycle{Jobs: 80, Nodes: 400, Slices: 5}), cycleMs(cycle{Jobs: 80, Nodes: 1600, Slices: 5}), cycleMs(cycle{Jobs: 80, Nodes: 6400, Slices: 5})}, "%.3g", "Slicer"},
		{"batch-slicer by users' criteria min-cost and min-runtime, 1,600 nodes, k = 1 / 5, s", "8.4 / 37", "1.5 / 6", []func(*testing.B) float64{
			cycleS(cycle{Jobs: 80, Nodes: 1600, Slices: 1, Criteria: users}), cycleS(cycle{Jobs: 80, Nodes: 1600, Slices: 5, Criteria: users})}, "%.2g", "Criteria"},
		{"EASY amp, 10,000 jobs of SDSC-BLUE, 400 / 1,600 unequal nodes, s", "7.7 / 5.6", "0.6 / 0.4", []func(*testing.B) float64{
			nodes(400, "amp", false), nodes(1600, "amp", false)}, "%.2f", "Unequal/amp/"},
		{"the same with budgets, s", "9.0 / 8.9", "1.5 / 1.5", []func(*testing.B) float64{
			nodes(400, "amp", true), nodes(1600, "amp", true)}, "%.2f", "Unequal/amp-budgets"},
		{"EASY square-dep with budgets, 1,600 nodes, s", "262", "10", []func(*testing.B) float64{
			nodes(1600, "square-dep", true)}, "%.1f", "Unequal/square-dep/nodes=1600"},
		{"conservative, Curie, whole process, s", "18.6", "6", []func(*testing.B) float64{
			command("CEA-Curie-2011-2.1-cln-thin.recon", "conservative")}, "%.1f", "Command/CEA.*/conservative"},
		{"conservative in overload, 16,000 / 64,000 jobs, us an event", "52 / 514", "20 / 100", []func(*testing.B) float64{
			overloadUs("conservative", 16_000), overloadUs("conservative", 64_000)}, "%.0f", "Overload/conservative"},
		{"EASY in the order of WFP3 / UNICEF, SDSC-BLUE, whole process, s", "2.1 / 2.1", "1 / 1", []func(*testing.B) float64{
			command(blue, "easy:order=wfp3"), command(blue, "easy:order=unicef")}, "%.2f", "Sorted"},
		{"EASY, whole process, by the naive program: SDSC-BLUE / Curie / KTH", "0.85 / 0.80 / 0.95", "0.7 / 0.7 / 0.7", []func(*testing.B) float64{
			naive(naiveLogs[0]), naive(naiveLogs[1]), naive(naiveLogs[2])}, "%.2f", "Naive"},
		{"four policies on SDSC-BLUE, one worker by two, on the clock", "1.83", "1.9", []func(*testing.B) float64{
			func(b *testing.B) float64 { return gain(b, 3) }}, "%.2f", "Workers"},
	}
}

// BenchmarkTable prints what was aimed at beside what work costs now;
// docs/reference/performance.md has the rows of most interest. It takes some minutes, and
// wants an idle machine.
//
//	GRIDSLOT_TRACES=... go test ./experiments/bench -run xxx -bench Table -benchtime 1x -timeout 0
func BenchmarkTable(b *testing.B) {
	logFile(b, blue)
	table := [][]string{{"work", "before", "aim", "now", "`-bench`"}}
	for _, r := range rows() {
		var now []string
		for _, measure := range r.cells {
			now = append(now, fmt.Sprintf(r.format, measure(b)))
		}
		table = append(table, []string{r.work, r.before, r.aim, strings.Join(now, " / "), "`" + r.bench + "`"})
		b.Log(r.work, now)
	}
	printTable(table)
	b.ReportMetric(0, "ns/op")
}

// printTable prints a table in Markdown; its first row is the header.
func printTable(rows [][]string) {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	fmt.Print(b.String())
}

// thousands is a number with commas between its thousands.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
