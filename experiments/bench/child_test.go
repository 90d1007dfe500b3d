package bench_test

// Every contestant runs as a process of its own: this test binary, called anew
// with a role in its environment. So what is measured is what a user pays,
// start-up and the garbage collector's threads included, and none inherits
// another's heap.

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
)

// roleVariable tells a process of this binary what to be.
const roleVariable = "GRIDSLOT_BENCH_ROLE"

const (
	roleCommand = "command" // gridslot
	roleNaive   = "naive"   // the naive simulator, on the trace of its argument
	roleLean    = "lean"    // the same, without arrivals in its heap
	roleWork    = "work"    // a work of its first argument's name, by the fields in its second
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	exit := profiled(role)
	switch role {
	case roleCommand:
		exit(cli.Main(cli.Extend{}))
	case roleNaive, roleLean:
		jobs, procs, err := naiveRead(os.Args[1])
		if err != nil {
			panic(err)
		}
		naiveEASY(jobs, procs, role == roleLean)
		exit(0)
	case roleWork:
		if err := workMain(os.Args[1], os.Args[2]); err != nil {
			panic(err)
		}
		exit(0)
	}
	os.Exit(m.Run())
}

// profileVariable names a folder into which every process in a role writes a profile of
// what it does, for go tool pprof.
const profileVariable = "GRIDSLOT_BENCH_PROFILE"

// profiled begins the profile, where one is wanted; the process is to end by exit.
func profiled(role string) (exit func(code int)) {
	dir := os.Getenv(profileVariable)
	if role == "" || dir == "" {
		return os.Exit
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%d.pprof", role, os.Getpid())))
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		panic(err)
	}
	return func(code int) {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			panic(err)
		}
		os.Exit(code)
	}
}

// process is a call of this binary in a role, to be started.
func process(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

// cost is what a process took.
type cost struct {
	user, system time.Duration
	clock        time.Duration
	peak         int64 // of its resident memory, in bytes
}

// onClock is what a process took on the clock, for medianOf.
func (c cost) onClock() time.Duration { return c.clock }

// run runs a process to its end.
func run(tb testing.TB, cmd *exec.Cmd) cost {
	tb.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	require.NoError(tb, cmd.Run(), "%s", &stderr)
	c := costOf(cmd)
	c.clock = time.Since(began)
	return c
}

func costOf(cmd *exec.Cmd) cost {
	state := cmd.ProcessState
	c := cost{user: state.UserTime(), system: state.SystemTime()}
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		c.peak = u.Maxrss << 10 // Linux counts kilobytes
	}
	return c
}

// logFile is a log of the archive, or skips.
func logFile(tb testing.TB, name string) string {
	tb.Helper()
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		tb.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	return filepath.Join(dir, name+".swf.gz")
}

// median is that of the user times, in seconds.
func median(costs []cost) float64 {
	return medianOf(costs, func(c cost) time.Duration { return c.user })
}

// medianOf is that of the times that of tells, in seconds.
func medianOf(costs []cost, of func(cost) time.Duration) float64 {
	var s []float64
	for _, c := range costs {
		s = append(s, of(c).Seconds())
	}
	slices.Sort(s)
	return s[len(s)/2]
}
