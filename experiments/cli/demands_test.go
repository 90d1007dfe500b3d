package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
)

func TestDemandsBeyondTheMemoryAreRefused(t *testing.T) {
	many := write(t, "many.yaml", "generate: {count: 1000000000}\ncycle: 600\nbatches: {jobs: 5}\n")
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"simulate " + many, "many.yaml: about 745.1 GiB of memory would be needed, most of it for 1000000000 nodes, and ", exitFailed},
		{"simulate " + many + " --memory 100GB", "and 100 GiB are allowed: ask for less, or allow more with --memory", exitFailed},
		{"simulate --memory much", `--memory: want a size such as 800M, 4G or 1.5GiB, not "much"`, exitUsage},
		{"simulate --outages exponential:mtbf=1d:repair=1h --procs 2147483647", "2147483647 processors or nodes that fail", exitFailed},
		{"simulate lublin:jobs=1000000000", "jobs is \"1000000000\": want at most 100000000, which are kept in a temporary file", exitUsage},
		{"trace convert lublin:jobs=1000000000000 - --estimates tsafrir", "want at most 100000000, which are kept in a temporary file", exitUsage},
		{"trace convert vo:jobs=1000000000 -", "1000000000 jobs of a batch", exitFailed},
		{"trace convert feitelson:procs=2147483647:time-unit=60:load=0.5 -", "procs is \"2147483647\": want at most 10000000", exitUsage},
		{"validate jobs-easy.csv " + write(t, "jobs.csv", "id,submit,nodes,volume\n1,0,1,5\n") + " --domain " + many, "1000000000 nodes", exitFailed},
	} {
		got := call(strings.Fields(c.args)...)
		require.Equal(t, c.code, got.code, "%s: %s", c.args, got.stderr)
		require.Contains(t, got.stderr, c.want, c.args)
		require.NotContains(t, got.stderr, "goroutine", c.args)
	}
}

func TestEstimatesThatAreBeingDrawnCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	out := filepath.Join(t.TempDir(), "a.swf")
	var stderr strings.Builder
	code := Run(ctx, Env{Args: []string{"trace", "convert", "lublin:jobs=50000000", out, "--estimates", "tsafrir"}, Stdout: io.Discard, Stderr: &stderr})
	require.Equal(t, exitFailed, code)
	require.NoFileExists(t, out)
	require.Empty(t, files(t, filepath.Dir(out)))
}

func TestFiguresAreWrittenByOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	require.Zero(t, call("simulate", write(t, "a.swf", smallTrace), "--policy", "easy", "--out", dir).code)
	figures := filepath.Join(t.TempDir(), "figures")
	held, err := outdir.Open(figures)
	require.NoError(t, err)
	got := exits(t, exitFailed, "plot", dir, "queue", "-o", figures)
	require.Contains(t, got.stderr, "is writing into "+figures)
	held.Close()
	require.NoError(t, os.MkdirAll(figures, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(figures, ".queue.svg.0123abcd.tmp"), nil, 0o666))
	require.Zero(t, call("plot", dir, "queue", "-o", figures).code)
	require.Equal(t, []string{"queue.svg"}, files(t, figures), "what a killed process has left is gone")
}

func TestJobNumbersThatAreGivenTwiceAreSaid(t *testing.T) {
	dir := t.TempDir()
	twice := strings.Replace(smallTrace, "\n2 ", "\n1 ", 1)
	got := succeed(t, "simulate", write(t, "a.swf", twice), "--policy", "easy", "--out", dir)
	require.Contains(t, got.stderr, "a.swf: 1 noted: job number given before (first: line 3)")
	require.Regexp(t, `"noted": \[\s*\{\s*"reason": "repeated-number",\s*"count": 1`, read(t, dir, "manifest.json"))
}

func TestAFileOfSettingsIsNoLog(t *testing.T) {
	path := write(t, "a.yaml", "processors: 4\n")
	require.NoError(t, os.Truncate(path, 17<<20))
	got := exits(t, exitFailed, "simulate", path)
	require.Contains(t, got.stderr, "a.yaml: it is 17825792 bytes long, and a file of settings has 16777216 at most")
}
