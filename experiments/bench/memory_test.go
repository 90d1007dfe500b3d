package bench_test

import (
	"fmt"
	"testing"
)

// BenchmarkMemory prints the peak of resident memory of runs of more and more nodes,
// waiting jobs and jobs, with that of the program itself, and what each more of them takes.
func BenchmarkMemory(b *testing.B) {
	rows := []struct {
		name  string
		sizes []int
		of    func(size int) work
	}{
		{"unequal nodes under EASY amp, 2,000 jobs", geometric(1000, 100_000, 10), func(n int) work { return &fleet{Nodes: n, Jobs: 2000} }},
		{"slots of a cycle of CSS, 80 jobs, two a node", geometric(1000, 100_000, 10), func(n int) work { return &cycle{Jobs: 80, Nodes: n} }},
		{"jobs that wait, all at once, EASY", geometric(1000, 100_000, 10), func(n int) work { return &overload{Policy: "easy", Jobs: n, Shape: oneInstant} }},
		{"jobs of a log, EASY", geometric(100_000, 10_000_000, 10), func(n int) work { return &stream{"easy", n} }},
	}
	table := [][]string{{"", "of", "MiB", "of", "MiB", "of", "MiB", "bytes for each more"}}
	for _, r := range rows {
		line := []string{r.name}
		var peaks []float64
		for _, n := range r.sizes {
			peaks = append(peaks, float64(spend(b, r.of(n)).Peak))
			line = append(line, thousands(n), fmt.Sprintf("%.0f", peaks[len(peaks)-1]/(1<<20)))
		}
		last := len(peaks) - 1
		more := (peaks[last] - peaks[0]) / float64(r.sizes[last]-r.sizes[0])
		table = append(table, append(line, fmt.Sprintf("%.0f", more)))
	}
	printTable(table)
	b.ReportMetric(0, "ns/op")
}
