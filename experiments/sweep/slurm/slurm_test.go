package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// The program that the jobs run is that of the tests: with the words of a task it
// does its part of a study.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "sweep" {
		if err := job(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if theCluster != nil {
		theCluster.stop()
	}
	os.Exit(code)
}

// job is sweep shard I/N STUDY --out DIR --workers N, or sweep merge DIR.
func job(words []string) error {
	switch {
	case words[0] == "merge" && len(words) == 2:
		f, err := sweep.OpenFor(words[1], false)
		if err != nil {
			return err
		}
		f.Close()
		return os.WriteFile(filepath.Join(words[1], "merged"), nil, 0o666)
	case words[0] == "shard" && len(words) == 7 && words[3] == "--out" && words[5] == "--workers":
		shard, err := sweep.ParseShard(words[1])
		if err != nil {
			return err
		}
		s, err := readStudy(words[2], words[4])
		if err != nil {
			return err
		}
		shard.Engine = sweep.InProcess{Workers: 1}
		s.Engine = shard
		_, err = sweep.Run(context.Background(), s, s.do)
		return err
	}
	return fmt.Errorf("wrong words: %q", words)
}

// A study of the tests is a text such as "units 30, sleep 100ms, fail 3, exit 7": unit 3
// fails, and unit 7 ends its process while there is no file "mended" in the folder.
type study struct {
	sweep.Study
	sleep      time.Duration
	fail, exit uint64
}

func readStudy(path, dir string) (study, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return study{}, err
	}
	return newStudy(string(text), dir)
}

func newStudy(text, dir string) (study, error) {
	s := study{Study: sweep.Study{
		Dir: dir, Axes: []sweep.Axis{sweep.List("name", `it's "so"`)},
		Portable: &sweep.Portable{Name: "study.yaml", Text: []byte(text)},
	}}
	for _, setting := range strings.Split(text, ", ") {
		name, value, _ := strings.Cut(setting, " ")
		n, err := strconv.ParseUint(value, 10, 64)
		switch name {
		case "units":
			s.Seeds = sweep.Seeds(1, int(n))
		case "fail":
			s.fail = n
		case "exit":
			s.exit = n
		case "sleep":
			s.sleep, err = time.ParseDuration(value)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// do is a unit: it leaves a line about who has done it, and gives a row.
func (s study) do(_ context.Context, c sweep.Case) (sweep.Row, error) {
	if c.Seed == s.exit {
		if _, err := os.Stat(filepath.Join(s.Dir, "mended")); err != nil {
			fmt.Println("the bridge is out")
			os.Exit(3)
		}
	}
	time.Sleep(s.sleep)
	if c.Seed == s.fail {
		return nil, errors.New("no such case")
	}
	calls, err := os.OpenFile(filepath.Join(s.Dir, "calls"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	defer calls.Close()
	fmt.Fprintf(calls, "%d %s %s %s\n", c.Seed, os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID"), os.Getenv("SLURMD_NODENAME"))
	return sweep.Row{{Name: "square", Value: strconv.FormatUint(c.Seed*c.Seed, 10)}}, nil
}

// told is what an engine told.
type told struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *told) tell(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.text, format+"\n", args...)
}

func (o *told) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// run carries a study out by the engine.
func run(t *testing.T, ctx context.Context, e sweep.Engine, text, dir string) (*sweep.Results, string, error) {
	t.Helper()
	s, err := newStudy(text, dir)
	require.NoError(t, err)
	if own, ok := e.(Engine); ok {
		own.poll = 200 * time.Millisecond
		e = own
	}
	var said told
	s.Engine, s.Tell = e, said.tell
	r, err := sweep.Run(ctx, s.Study, s.do)
	return r, said.String(), err
}

// same holds a study's results and units against those that this process gets.
func same(t *testing.T, text, dir string) {
	t.Helper()
	other := t.TempDir()
	_, _, err := run(t, context.Background(), sweep.InProcess{}, text, other)
	require.NoError(t, err)
	for _, pattern := range []string{"results.csv", "plan.csv", "units/*/*", "failures/*"} {
		want, err := filepath.Glob(filepath.Join(other, pattern))
		require.NoError(t, err)
		got, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for _, path := range want {
			name, err := filepath.Rel(other, path)
			require.NoError(t, err)
			require.Equal(t, read(t, path), read(t, filepath.Join(dir, name)), name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// calls are the lines of the units that were carried out: seed, array, task, node.
func calls(t *testing.T, dir string) (lines [][]string) {
	for line := range strings.Lines(read(t, filepath.Join(dir, "calls"))) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

func TestJobsGiveTheSameBytesAsThisProcess(t *testing.T) {
	withCluster(t)
	const text = "units 40, sleep 10ms, fail 9"
	dir := filepath.Join(t.TempDir(), `a folder's "name" of 100 %a`)
	r, said, err := run(t, context.Background(), Engine{Tasks: 5}, text, dir)
	require.NoError(t, err, said)
	require.Equal(t, sweep.Status{Units: 40, Done: 39, Failures: map[sweep.FailureKind]int{sweep.Failed: 1}}, r.Status())
	same(t, text, dir)
	tasks := map[string]int{}
	for _, call := range calls(t, dir) {
		tasks[call[1]+"_"+call[2]]++
	}
	require.Len(t, tasks, 5)
	require.Contains(t, said, "of 5 tasks")
	require.Contains(t, read(t, filepath.Join(dir, "manifest.json")), `"slurm array": "`)
}
