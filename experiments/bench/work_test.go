package bench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A work is measured in a process of its own, like the command, but without what is
// drawn for it beforehand. Its fields say what it is; the process gets them as JSON.
type work interface {
	// begin makes what is given, and returns what is to be measured. That may be done
	// several times.
	begin() (do func() (counts, error), err error)
}

// counts are of what was done, by the name of what is counted. They do not depend on
// the machine.
type counts map[string]float64

// works are all there are, under the names by which processes are told of them.
var works = map[string]work{}

func nameOf(w work) string { return fmt.Sprintf("%T", w) }

// spent is what a work has cost.
type spent struct {
	CPU    float64 // seconds of processor time, user and system, the collector's included
	Given  int64   // peak of resident memory before it began, in bytes
	Peak   int64   // and when it had been done
	Counts counts
}

const (
	enough = 1.0 // s: a work is repeated until its times add up to this, and the least is taken
	often  = 5   // or until it was done so often
)

// spend has w done in a process of its own.
func spend(tb testing.TB, w work) (s spent) {
	tb.Helper()
	text, err := json.Marshal(w)
	require.NoError(tb, err)
	cmd := process(roleWork, nameOf(w), string(text))
	// One processor for all: a collector that uses idle ones would be measured as well.
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	out, err := cmd.Output()
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		require.Zero(tb, exit.ExitCode(), "%s %s: %s", nameOf(w), text, out)
	}
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(out, &s), "%s", out)
	return s
}

// workMain is the process.
func workMain(name, text string) error {
	w, ok := works[name]
	if !ok {
		return fmt.Errorf("no work is called %s", name)
	}
	if err := json.Unmarshal([]byte(text), w); err != nil {
		return err
	}
	do, err := w.begin()
	if err != nil {
		return err
	}
	runtime.GC()
	_, given := used()
	s := spent{Given: given}
	for i, sum := 0, 0.0; i == 0 || i < often && sum < enough; i++ {
		before, _ := used()
		if s.Counts, err = do(); err != nil {
			return err
		}
		after, peak := used()
		if took := after - before; i == 0 || took < s.CPU {
			s.CPU = took
		}
		s.Peak = peak
		sum += after - before
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// used is what this process has used so far: seconds of processor time, and the most
// memory in bytes.
func used() (cpu float64, peak int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	cpu, peak = float64(u.Utime.Nano()+u.Stime.Nano())/1e9, u.Maxrss<<10
	// Linux has Maxrss begin with the peak of the process that has started this one.
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
			var kB int64
			if n, _ := fmt.Sscan(rest, &kB); n == 1 {
				peak = kB << 10
			}
		}
	}
	return cpu, peak
}

// reportSpent reports what w costs, as a benchmark.
func reportSpent(b *testing.B, w work) (s spent) {
	for i := range b.N {
		if now := spend(b, w); i == 0 || now.CPU < s.CPU {
			s = now
		}
	}
	b.ReportMetric(s.CPU, "cpu-s")
	b.ReportMetric(float64(s.Peak)/(1<<20), "peak-MiB")
	for name, n := range s.Counts {
		b.ReportMetric(n, name)
	}
	b.ReportMetric(0, "ns/op")
	return s
}
