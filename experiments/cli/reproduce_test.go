package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/reproduce"
)

func TestReproduceListsItsExperiments(t *testing.T) {
	got := call("reproduce", "--list")
	require.Equal(t, 0, got.code)
	for _, name := range []string{
		"alp-amp", "aep", "aep-time", "preferences", "slicing", "owner-price", "bsf", "estimates", "maxq", "placement", "window-time",
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
	} {
		got := call(args...)
		require.Equal(t, 2, got.code, args)
		require.Empty(t, got.stdout, args)
	}
}

func TestReproduceWritesTablesAndFigures(t *testing.T) {
	dir := t.TempDir()
	args := []string{"reproduce", "aep", "--cycles", "2", "--out", dir}
	first := call(args...)
	require.Equal(t, 0, first.code, first.stderr)
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

func TestReproduceFailsWhereItCannotWrite(t *testing.T) {
	path := write(t, "file", "")
	got := call("reproduce", "aep", "--cycles", "2", "--out", filepath.Join(path, "below"))
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "--out")
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
