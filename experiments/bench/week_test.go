package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkWeek is a virtual organisation of 10,000 nodes: their owners take up to two
// tenths of each cycle of 600 time units, and CSS plans 100 jobs at its beginning, which
// end early. Where GRIDSLOT_WEEK is set it lasts 604,800 time units, a week, and
// otherwise a fiftieth of it.
func BenchmarkWeek(b *testing.B) {
	cycles := 20
	if os.Getenv("GRIDSLOT_WEEK") != "" {
		cycles = 1008
	}
	domain := filepath.Join(b.TempDir(), "week.yaml")
	text := fmt.Sprintf(`generate: {count: 10000}
cycle: 600
local: {level: [0, 2], task: [10, 100], cycles: %d, rule: waits}
batches: {cycles: %[1]d, jobs: 100, users: 10, real: [0.2, 1]}
policies: [css]
`, cycles)
	require.NoError(b, os.WriteFile(domain, []byte(text), 0o666))
	var costs []cost
	var clock time.Duration
	out := filepath.Join(b.TempDir(), "out")
	for range b.N {
		began := time.Now()
		costs = append(costs, run(b, process(roleCommand, "simulate", "--domain", domain, "--out", out)))
		clock += time.Since(began)
	}
	planned, err := os.ReadFile(filepath.Join(out, "cycles-css.csv"))
	require.NoError(b, err)
	report(b, costs)
	b.ReportMetric(clock.Seconds()/float64(b.N), "s")
	b.ReportMetric(float64(bytes.Count(planned, []byte("\n"))-1), "cycles")
	b.ReportMetric(median(costs)/float64(cycles)*1e3, "user-ms/cycle")
}
