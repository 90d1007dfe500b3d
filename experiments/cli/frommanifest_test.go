package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutClocks is a file of results without what differs between two equal runs.
func withoutClocks(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, ",")
		if len(cells) > 15 {
			cells[15] = "" // cpu_seconds
		}
		lines[i] = strings.Join(cells, ",")
	}
	return strings.Join(lines, "\n")
}

func TestARunIsRepeatedFromItsManifest(t *testing.T) {
	dir, again := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.Zero(t, call("simulate", "--policy", "easy,fcfs:order=largest", "--first", "60", "--load", "0.9", "--outages", "exponential:mtbf=5d:repair=4h", "--seed", "7", "--events", "--out", dir).code)
	succeed(t, "simulate", "--from-manifest", dir, "--out", again)
	require.Equal(t, files(t, dir), files(t, again))
	for _, name := range files(t, dir) {
		switch a, b := read(t, dir, name), read(t, again, name); name {
		case "manifest.json":
		case "summary.csv":
			require.Equal(t, withoutClocks(a), withoutClocks(b))
		default:
			require.Equal(t, a, b, name)
		}
	}
	// A flag stands in place of what the manifest says.
	other := filepath.Join(t.TempDir(), "c")
	require.Zero(t, call("simulate", "--from-manifest", dir, "--policy", "easy", "--first", "20", "--out", other).code)
	require.Equal(t, 21, strings.Count(read(t, other, "jobs-easy.csv"), "\n"))
	require.NoFileExists(t, filepath.Join(other, "jobs-fcfs-order=largest.csv"))
}

// The text of the domain stands in the manifest, so that its file need not be there any more.
func TestARunOnADomainIsRepeatedWithoutItsFile(t *testing.T) {
	domain := write(t, "nodes.yaml", "cycle: 60\ngenerate: {count: 6}\ninterval: 600\n")
	jobs := write(t, "jobs.csv", "id,submit,nodes,volume,runtime\n1,0,2,20,10\n2,5,3,30,10\n")
	dir, again := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.Zero(t, call("simulate", jobs, "--domain", domain, "--policy", "easy", "--out", dir).code)
	require.NoError(t, os.Remove(domain))
	succeed(t, "simulate", "--from-manifest", dir, "--out", again)
	require.Equal(t, read(t, dir, "tasks-easy.csv"), read(t, again, "tasks-easy.csv"))
}

func TestWhatCannotBeRepeatedIsTold(t *testing.T) {
	log := write(t, "log.swf", "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 -1 1 -1 -1 -1\n")
	dir := filepath.Join(t.TempDir(), "a")
	require.Zero(t, call("simulate", log, "--policy", "easy", "--out", dir).code)

	require.NoError(t, os.WriteFile(log, []byte("; MaxProcs: 4\n1 0 -1 20 2 -1 -1 2 20 -1 1 1 1 -1 1 -1 -1 -1\n"), 0o600))
	got := exits(t, exitFailed, "simulate", "--from-manifest", dir)
	require.Contains(t, got.stderr, "log.swf is not the log that the run had: it has been changed since")
	got = call("simulate", log, "--from-manifest", dir) // knowingly
	require.Zero(t, got.code, got.stderr)

	text := read(t, dir, "manifest.json")
	at := strings.Index(text, `"version": "`) + len(`"version": "`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text[:at]+"older-"+text[at:]), 0o600))
	require.Contains(t, call("simulate", log, "--from-manifest", dir).stderr, "was written by gridslot older-")

	for want, args := range map[string][]string{
		"manifest.json": {"--from-manifest", t.TempDir()},
		"--from-manifest and --domain exclude each other": {"--from-manifest", dir, "--domain", "x.yaml"},
	} {
		got := call(append([]string{"simulate"}, args...)...)
		require.NotZero(t, got.code)
		require.Contains(t, got.stderr, want)
	}
}
