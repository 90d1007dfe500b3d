package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALogThatGoesBackwardsIsSortedWhereThatIsAskedFor(t *testing.T) {
	line := func(id, submit string) string {
		return id + " " + submit + " 0 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	}
	head := "; MaxProcs: 4\n"
	backwards := write(t, "a.swf", head+line("1", "5.75")+line("2", "5.25")+line("3", "5.25")+line("4", "40"))
	sorted := write(t, "a.swf", head+line("2", "5.25")+line("3", "5.25")+line("1", "5.75")+line("4", "40"))
	got := exits(t, exitFailed, "simulate", backwards, "--policy", "easy")
	require.Contains(t, got.stderr, "--sort puts them in order")
	a, b := t.TempDir(), t.TempDir()
	require.Equal(t, exitOK, call("simulate", backwards, "--policy", "easy", "--sort", "--out", a).code)
	require.Equal(t, exitOK, call("simulate", sorted, "--policy", "easy", "--out", b).code)
	want, err := os.ReadFile(filepath.Join(b, "jobs-easy.csv"))
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(a, "jobs-easy.csv"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
	require.Equal(t, exitOK, call("validate", filepath.Join(a, "jobs-easy.csv"), backwards, "--scenario", settingsFile(t, "--sort")).code)
}
