package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/experiments/reproduce"
)

func TestReproduceListsItsExperiments(t *testing.T) {
	got := succeed(t, "reproduce", "--list")
	for _, name := range []string{
		"alp-amp", "aep", "aep-time", "preferences", "slicing", "owner-price", "bsf", "estimates", "maxq", "placement", "window-time",
		"availability", "groups",
	} {
		require.Regexp(t, `(?m)^`+name+` +\S`, got.stdout)
	}
}

func TestReproduceRefusesWhatMakesNoSense(t *testing.T) {
	for _, args := range [][]string{
		{"reproduce"},
		{"reproduce", "nothing"},
		{"reproduce", "aep", "--cycles", "0"},
		{"reproduce", "aep", "--workers", "-1"},
		{"reproduce", "aep", "--workers", "0"},
	} {
		got := exits(t, exitUsage, args...)
		require.Empty(t, got.stdout, args)
	}
}

func TestReproduceWritesTablesAndFigures(t *testing.T) {
	dir := t.TempDir()
	args := []string{"reproduce", "aep", "--cycles", "2", "--out", dir}
	first := succeed(t, args...)
	require.Contains(t, first.stdout, "MinRunTimeExact (ours)")
	for _, name := range []string{"aep.csv", "aep-claims.csv", "aep.md", "aep.svg", "aep.pdf", "aep.json", "claims.csv", "claims.md"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	again := call(args...)
	require.Equal(t, first.stdout, again.stdout)
	require.Contains(t, again.stderr, "taken from "+dir)
}

func TestReproduceKeepsWhatIsFinishedWhenInterrupted(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, 0, call("reproduce", "aep", "--cycles", "2", "--out", dir).code)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	code := Run(ctx, Env{Args: []string{"reproduce", "aep", "maxq", "--cycles", "2", "--out", dir}, Stdout: &stdout, Stderr: &stderr})
	require.Equal(t, 1, code)
	require.Contains(t, stderr.String(), "interrupted during maxq; finished: aep (kept in "+dir+")")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.NotContains(t, e.Name(), "maxq")
	}
}

// interruptedReproduction carries out maxq into a folder until a few of its units are there, and
// returns the exit code: 1, or 0 where it was done by then.
func interruptedReproduction(dir string, cycles int, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if units, err := filepath.Glob(filepath.Join(dir, "maxq-unfinished", "units", "*", "*.json")); err == nil && len(units) > 5 {
				cancel()
			}
		}
	}()
	args := []string{"reproduce", "maxq", "--cycles", strconv.Itoa(cycles), "--out", dir}
	return Run(ctx, Env{Args: args, Stdout: io.Discard, Stderr: stderr})
}

// An experiment that is interrupted in the middle, and what there is of it then.
func TestReproduceGoesOnWhereItStopped(t *testing.T) {
	// Who looks for units may be late, and the experiment done: then it has more cycles.
	cycles, dir, stderr := 80, "", bytes.Buffer{}
	for code := 0; code == 0; cycles *= 4 {
		require.Less(t, cycles, 20_000)
		stderr.Reset()
		dir = t.TempDir()
		code = interruptedReproduction(dir, cycles, &stderr)
	}
	cycles /= 4
	args, kept := []string{"reproduce", "maxq", "--cycles", strconv.Itoa(cycles), "--out", dir}, filepath.Join(dir, "maxq-unfinished")
	require.Contains(t, stderr.String(), "what is done of maxq is kept as well, and the same call goes on from there")
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".maxq.csv.0123abcd.tmp"), nil, 0o666), "a call that was killed leaves this")

	units, err := filepath.Glob(filepath.Join(kept, "units", "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, units)
	require.Less(t, len(units), cycles/2, "two cycles each")
	again := succeed(t, args...)
	require.NoDirExists(t, kept)
	require.NoFileExists(t, filepath.Join(dir, ".maxq.csv.0123abcd.tmp"))
	whole := t.TempDir()
	undisturbed := call("reproduce", "maxq", "--cycles", strconv.Itoa(cycles), "--out", whole)
	require.Equal(t, undisturbed.stdout, again.stdout)
	for _, name := range []string{"maxq.csv", "maxq-claims.csv", "maxq.md", "maxq.svg", "maxq.json", "claims.csv", "claims.md"} {
		want, err := os.ReadFile(filepath.Join(whole, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), name)
	}
}

func TestTwoReproductionsDoNotMixTheirFiles(t *testing.T) {
	dir := t.TempDir()
	held, err := outdir.Open(dir)
	require.NoError(t, err)
	got := call("reproduce", "aep", "--cycles", "2", "--out", dir)
	held.Close()
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "is writing into "+dir)
	require.Equal(t, 0, call("reproduce", "aep", "--cycles", "2", "--out", dir).code)
}

// Killed behind the last file of an experiment and before what was kept is removed.
func TestWhatWasKeptOfAFinishedExperimentGoes(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, 0, call("reproduce", "aep", "--cycles", "2", "--out", dir).code)
	kept := filepath.Join(dir, "aep-unfinished")
	require.NoError(t, os.Mkdir(kept, 0o777))
	require.Equal(t, 0, call("reproduce", "aep", "--cycles", "2", "--out", dir).code)
	require.NoDirExists(t, kept)
}

func TestReproduceFailsWhereItCannotWrite(t *testing.T) {
	path := write(t, "file", "")
	got := exits(t, exitFailed, "reproduce", "aep", "--cycles", "2", "--out", filepath.Join(path, "below"))
	require.Contains(t, got.stderr, "making the folder for the files (--out): mkdir "+path)
}

func TestEveryExperimentHasANameAndATitle(t *testing.T) {
	seen := make(map[string]bool)
	for _, e := range reproduce.All() {
		require.NotEmpty(t, e.Name())
		require.NotEmpty(t, e.Title())
		require.False(t, seen[e.Name()], e.Name())
		seen[e.Name()] = true
	}
}

func TestAnExperimentWithoutDataFailsByItsNameAndIsLeftOutOfAll(t *testing.T) {
	t.Setenv("GRIDSLOT_REFERENCE", t.TempDir())
	got := exits(t, exitFailed, "reproduce", "cirrus")
	require.Contains(t, got.stderr, "cirrus: cirrus-2024Q1-elastisim-rigid.swf.gz is not at hand: set GRIDSLOT_REFERENCE")

	all := reproduce.All()
	cirrus := all[slices.IndexFunc(all, func(e reproduce.Experiment) bool { return e.Name() == "cirrus" })]
	_, err := cirrus.Run(t.Context(), reproduce.Config{})
	require.True(t, leftOut(cirrus, []string{"all"}, err))
	require.False(t, leftOut(cirrus, []string{"all", "cirrus"}, err))
	require.False(t, leftOut(cirrus, []string{"all"}, errors.New("the disk is full")))
}
