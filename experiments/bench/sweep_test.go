package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// studyOf writes a study file.
func studyOf(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "study.yaml")
	require.NoError(tb, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// sweepTime carries out a study in a folder of its own; it returns what that took on
// the clock and of processors, those of the workers included.
func sweepTime(tb testing.TB, study string, workers int) (clock time.Duration, c cost) {
	tb.Helper()
	began := time.Now()
	c = run(tb, process(roleCommand, "sweep", study, "--out", filepath.Join(tb.TempDir(), "out"), "--workers", strconv.Itoa(workers)))
	return time.Since(began), c
}

// BenchmarkSweepWorkers sets two workers against one, in turns. Two studies side by side, each with
// one worker, share nothing but the machine: their gain over one is what two of its cores allow.
func BenchmarkSweepWorkers(b *testing.B) {
	study := studyOf(b, "traces: ['lublin:jobs=5000']\npolicies: [easy]\nload: 0.9\nreplications: 100\n")
	var one, two, apart time.Duration
	for range b.N {
		t, _ := sweepTime(b, study, 1)
		one += t
		t, _ = sweepTime(b, study, 2)
		two += t
		began := time.Now()
		var both [2]*exec.Cmd
		for i := range both {
			both[i] = process(roleCommand, "sweep", study, "--out", filepath.Join(b.TempDir(), "out"), "--workers", "1")
			require.NoError(b, both[i].Start())
		}
		for _, cmd := range both {
			require.NoError(b, cmd.Wait())
		}
		apart += time.Since(began)
	}
	b.ReportMetric(one.Seconds()/two.Seconds(), "one/two")
	b.ReportMetric(2*one.Seconds()/apart.Seconds(), "one/two-apart")
	b.ReportMetric(one.Seconds()/float64(b.N), "s-one")
}

// BenchmarkSweepThousand does a thousand simulations of KTH-SP2 with as many workers
// as there are cores.
func BenchmarkSweepThousand(b *testing.B) {
	study := studyOf(b, fmt.Sprintf(`traces: [%q]
policies: [fcfs, easy, easy-sjbf, "easy:order=wfp3", conservative]
load: [0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 0.95]
estimates: tsafrir
replications: 20
`, logFile(b, "KTH-SP2-1996-2.1-cln")))
	for range b.N {
		clock, c := sweepTime(b, study, runtime.NumCPU())
		b.ReportMetric(clock.Minutes(), "minutes")
		b.ReportMetric((c.user + c.system).Minutes(), "cpu-minutes")
		b.ReportMetric(float64(c.peak)/(1<<20), "MiB")
	}
}
