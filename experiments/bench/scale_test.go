package bench_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// scaleSizes are numbers of jobs; the last takes minutes and is left out of
// `go test -short`.
var scaleSizes = []int{100_000, 1_000_000, 10_000_000}

// generate is a call of the command that writes jobs of a model to out; "-" is standard
// output.
func generate(jobs int, out string) []string {
	return []string{"trace", "convert", fmt.Sprintf("lublin:jobs=%d:procs=1152:load=0.9", jobs), out, "--seed", "1"}
}

// BenchmarkScale has the command generate jobs of the Lublin-Feitelson model
// for 1,152 processors at load 0.9, and simulate them from the file under EASY
// with all files written. Cost per job should not depend on their number.
func BenchmarkScale(b *testing.B) {
	for _, jobs := range scaleSizes {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			if testing.Short() && jobs > 1_000_000 {
				b.Skip("-short")
			}
			trace := filepath.Join(b.TempDir(), "lublin.swf")
			run(b, process(roleCommand, generate(jobs, trace)...))
			var costs []cost
			for b.Loop() {
				costs = append(costs, run(b, process(roleCommand, "simulate", trace, "--policy", "easy", "--out", b.TempDir())))
			}
			report(b, costs)
			b.ReportMetric(medianOf(costs, cost.onClock), "clock-s")
			b.ReportMetric(median(costs)/float64(jobs)*1e9, "user-ns/job")
		})
	}
}

// BenchmarkPipe is the same as one pipeline, generate | simulate -, without
// files. What it costs is that of both sides; the peak is the simulation's.
func BenchmarkPipe(b *testing.B) {
	for _, jobs := range scaleSizes {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			if testing.Short() && jobs > 1_000_000 {
				b.Skip("-short")
			}
			var costs []cost
			for b.Loop() {
				from := process(roleCommand, generate(jobs, "-")...)
				to := process(roleCommand, "simulate", "-", "--policy", "easy")
				var err error
				to.Stdin, err = from.StdoutPipe()
				require.NoError(b, err)
				require.NoError(b, from.Start())
				c := run(b, to)
				require.NoError(b, from.Wait())
				c.user += costOf(from).user
				costs = append(costs, c)
			}
			report(b, costs)
			b.ReportMetric(median(costs)/float64(jobs)*1e9, "user-ns/job")
		})
	}
}
