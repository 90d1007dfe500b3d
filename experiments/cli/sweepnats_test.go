package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/traces"
)

// freePort is an address of this machine at which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func TestSweepOnAServerOfItsOwnGivesTheSameTable(t *testing.T) {
	study := runsOf(t, 12)
	dir := filepath.Join(t.TempDir(), "results")
	got := swept(t, study, "--out", dir, "--engine", "nats", "--listen", freePort(t), "--workers", "2")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "for more workers: gridslot worker --url nats://127.0.0.1:")
	require.Equal(t, undisturbed(t, study), read(t, dir, "results.csv"))
	require.NoDirExists(t, filepath.Join(dir, ".nats"))
}

func TestWorkersNeedNothingButTheAddress(t *testing.T) {
	folder := t.TempDir()
	text := call("generate", "lublin", "--jobs", "100", "--procs", "64").stdout
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "study", "logs"), 0o777))
	t.Setenv(traces.CacheVariable, filepath.Join(folder, "cache"))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "cache"), 0o777))
	for _, name := range []string{"study/logs/near.swf", "aside.swf", "whole.swf", "cache/fetched.swf"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666))
	}
	study := filepath.Join(folder, "study", "study.yaml")
	require.NoError(t, os.WriteFile(study, []byte("traces: [logs/near.swf, ../aside.swf, "+filepath.Join(folder, "whole.swf")+", fetched]\npolicies: [fcfs, panics]\nkeep: [jobs]\n"), 0o666))
	token := write(t, "token", "secret\n")
	address, cache := freePort(t), t.TempDir()

	worker := process("worker", "--url", "nats://"+address, "--token-file", token, "--cache", cache, "--workers", "1")
	worker.Env = append(worker.Env, asCommand+"="+withBadPolicies, traces.CacheVariable+"="+t.TempDir())
	worker.Dir = t.TempDir()
	var said strings.Builder
	worker.Stderr = &said
	require.NoError(t, worker.Start())
	defer func() {
		require.NoError(t, worker.Process.Signal(os.Interrupt))
		require.NoError(t, worker.Wait(), "it was told to end: that is no failure")
		require.Contains(t, said.String(), "working on study.yaml")
	}()
	dir := filepath.Join(t.TempDir(), "results")
	got := swept(t, study, "--out", dir, "--engine", "nats", "--listen", address, "--token-file", token, "--workers", "0")
	require.Equal(t, exitFailed, got.code, got.stderr)
	require.Contains(t, got.stderr, "4 runs have failed")
	require.Contains(t, got.stderr, "the policy is at a loss")
	require.NotContains(t, got.stderr, "secret")

	local := filepath.Join(t.TempDir(), "local")
	swept(t, study, "--out", local)
	require.Equal(t, read(t, local, "results.csv"), read(t, dir, "results.csv"))
	kept, err := filepath.Glob(filepath.Join(dir, "runs", "*", "jobs-fcfs.csv"))
	require.NoError(t, err)
	require.Len(t, kept, 4)
}

func TestADryRunForWorkersElsewhereIsTriedHere(t *testing.T) {
	got := swept(t, runsOf(t, 4), "--dry-run", "--engine", "nats", "--workers", "0")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Regexp(t, `they take (about|more than) \d+ (s|min) on [1-9]\d* workers`, got.stdout)
}

func TestWrongUsageOfNATSIsSaid(t *testing.T) {
	study, dir := runsOf(t, 2), t.TempDir()
	for _, c := range []struct {
		words string
		args  []string
	}{
		{"--listen is for --engine nats", []string{"sweep", study, "--out", dir, "--listen", ":4222"}},
		{"--url names another", []string{"sweep", study, "--out", dir, "--engine", "nats", "--url", "nats://x", "--listen", ":4222"}},
		{"not both", []string{"sweep", study, "--out", dir, "--engine", "nats", "--token", "a", "--token-file", "b"}},
		{"it needs a token", []string{"sweep", study, "--out", dir, "--engine", "nats", "--listen", ":0"}},
		{"nobody answers there", []string{"sweep", study, "--out", dir, "--engine", "nats", "--url", "nats://127.0.0.1:1"}},
		{"reading the token", []string{"worker", "--url", "nats://127.0.0.1:1", "--token-file", filepath.Join(dir, "none")}},
		{"give --url", []string{"worker"}},
		{"takes no arguments", []string{"worker", "nats://127.0.0.1:1"}},
		{"--workers must be 1 or more", []string{"worker", "--url", "nats://127.0.0.1:1", "--workers", "0"}},
		{"--workers must be 1 or more", []string{"sweep", study, "--out", dir, "--workers", "0"}},
		{"want a time above 0", []string{"worker", "--url", "nats://127.0.0.1:1", "--idle", "0"}},
	} {
		got := call(c.args...)
		require.NotEqual(t, exitOK, got.code, c.args)
		require.Contains(t, got.stderr, c.words, c.args)
	}
}
