//go:build unix

package faults

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// asCommand, set in the environment, makes this test program the command.
const asCommand = "GRIDSLOT_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Main(cli.Extend{}))
	}
	os.Exit(m.Run())
}

// world is a call of the command that writes into a folder, and what it leaves there
// when nothing happens to it.
type world struct {
	t      *testing.T
	random *rand.Rand
	args   []string // without --out DIR
	// leaves tells files that are the same in each call.
	leaves func(path string) bool
	want   map[string]string
	took   time.Duration // by the undisturbed call
	// again is the call that goes on, where that is another one.
	again func(dir string) []string
}

// runs is how many runs the study has that is disturbed; they take about a second
// together.
const runs = 120

// aStudy is a call of sweep, with more flags if need be.
func aStudy(t *testing.T, r *rand.Rand, flags ...string) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.yaml")
	text := fmt.Sprintf("traces: ['lublin:jobs=300']\npolicies: [fcfs, easy, conservative]\nload: [0.7, 0.9]\nreplications: %d\nkeep: [jobs]\nlimit: {tries: 1000}\n", runs/6)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return newWorld(t, r, ofAStudy, append([]string{"sweep", path}, flags...)...)
}

// ofAStudy leaves out what tells when and where something was computed, and how long that took.
func ofAStudy(path string) bool {
	switch filepath.Base(path) {
	case "manifest.json", "usage.csv", sweep.SumsName:
		return false
	case "summary.csv": // of a run it has cpu_seconds
		return !strings.HasPrefix(path, "runs/")
	}
	return true
}

func newWorld(t *testing.T, r *rand.Rand, leaves func(string) bool, args ...string) *world {
	t.Helper()
	w := &world{t: t, random: r, args: args, leaves: leaves}
	dir := w.folder()
	began := time.Now()
	w.finish(dir)
	w.took = time.Since(began)
	w.want = w.files(dir)
	require.NotEmpty(t, w.want)
	return w
}

// folder is a new one.
func (w *world) folder() string { return filepath.Join(w.t.TempDir(), "out") }

// process is a call of the command.
type process struct {
	*exec.Cmd
	ended  chan struct{}
	output bytes.Buffer
}

func (w *world) start(args ...string) *process {
	w.t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	p.Env = append(os.Environ(), asCommand+"=yes")
	p.Stdout, p.Stderr = &p.output, &p.output
	require.NoError(w.t, p.Start())
	w.t.Cleanup(func() { _ = p.Process.Kill() }) // of a test that has failed
	go func() {
		_ = p.Wait() // the state tells
		close(p.ended)
	}()
	return p
}

// into is the call with its folder.
func (w *world) into(dir string) []string { return append(append([]string{}, w.args...), "--out", dir) }

// within waits for the process to end, for so long.
func (p *process) within(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// code waits for the process to end.
func (p *process) code(t *testing.T) int {
	t.Helper()
	require.True(t, p.within(5*time.Minute), "%v does not end", p.Args)
	return p.ProcessState.ExitCode()
}

func (w *world) instant() time.Duration { return time.Duration(w.random.Int64N(int64(w.took))) }

// finish calls the command to the end, undisturbed.
func (w *world) finish(dir string) {
	w.t.Helper()
	args := w.into(dir)
	if w.again != nil {
		args = w.again(dir)
	}
	p := w.start(args...)
	require.Zero(w.t, p.code(w.t), &p.output)
}

// check holds what is in a folder against what has to be.
func (w *world) check(dir string) {
	w.t.Helper()
	got := w.files(dir)
	for path, text := range w.want {
		require.Equal(w.t, text, got[path], path)
	}
	require.Len(w.t, got, len(w.want), "there is more than there should be: %v", keysBeside(got, w.want))
}

func keysBeside(got, want map[string]string) (more []string) {
	for path := range got {
		if _, there := want[path]; !there {
			more = append(more, path)
		}
	}
	return more
}

// files are those of a folder that are the same in each call, and all that should
// not be there.
func (w *world) files(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || !w.leaves(filepath.ToSlash(rel)) {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return all
}

// struck calls the command time and again, each time until a random instant at which
// strike befalls it, so many times. What it has done by then has to be of use: the
// next call goes on in the same folder.
func (w *world) struck(times int, strike func(p *process, dir string)) {
	w.t.Helper()
	dir, whole := w.folder(), 0
	for n := 0; n < times; {
		p := w.start(w.into(dir)...)
		if !p.within(w.instant()) {
			strike(p, dir)
			n++
			continue
		}
		require.Zero(w.t, p.code(w.t), &p.output)
		w.check(dir)
		dir, whole = w.folder(), whole+1
	}
	w.finish(dir)
	w.check(dir)
	w.t.Logf("%d times; the folder was complete %d times", times, whole+1)
}

// children are the processes that a process has started.
func children(pid int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		text, _ := os.ReadFile(path) // the thread may be gone
		for _, f := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(f)
			all = append(all, child)
		}
	}
	return all
}

// kill is kill -9.
func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.Process.Kill() // it may have ended by itself
	p.code(t)
}

// signal sends another one.
func (p *process) signal(s syscall.Signal) { _ = p.Process.Signal(s) }
