package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportWritesOnePage(t *testing.T) {
	dir := ran(t, "--policy", "fcfs,easy", "--first", "50")
	got := succeed(t, "report", dir)
	require.Contains(t, got.stderr, filepath.Join(dir, "report.html"))
	require.Empty(t, got.stdout)
	page := read(t, dir, "report.html")
	require.Contains(t, page, "<h1>Report of sample.swf.gz</h1>")

	other := filepath.Join(t.TempDir(), "page.html")
	require.Zero(t, call("report", dir, "-o", other).code)
	again, err := os.ReadFile(other)
	require.NoError(t, err)
	require.True(t, page == string(again))
}

// The rows behind the first fifty are not jobs, which is found only when the page is made.
func TestAReportOfManyJobsSaysWhatItTakes(t *testing.T) {
	dir := ran(t, "--policy", "easy", "--first", "50")
	require.NotContains(t, call("report", dir).stderr, "memory")
	more, err := os.OpenFile(filepath.Join(dir, "jobs-easy.csv"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	size, err := more.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	require.NoError(t, more.Truncate(size+41<<20)) // zeros, which take no room
	require.NoError(t, more.Close())
	got := call("report", dir)
	require.NotZero(t, got.code)
	require.Contains(t, got.stderr, "has 41 MB of jobs: their page takes about 410 MB of memory")
}

func TestReportSaysWhatItWants(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"report", empty}, 1, "gridslot simulate TRACE --out DIR"},
		{[]string{"report", write(t, "a.csv", "x")}, 1, "give the folder of the results"},
		{[]string{"report", filepath.Join(empty, "none")}, 1, "none: there is no such folder"},
		{[]string{"report"}, 2, "DIR"},
	} {
		got := call(c.args...)
		require.Equal(t, c.code, got.code, got.stderr)
		require.Contains(t, got.stderr, c.want)
	}
	require.Empty(t, files(t, empty))
}

func TestErrorsDoNotControlATerminal(t *testing.T) {
	dir := ran(t, "--policy", "easy", "--first", "5")
	header := "\x1b[2Jjob\x9b_id\u202e,submission_time\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "jobs-easy.csv"), []byte(header), 0o666))
	for _, command := range []string{"report", "plot", "explain"} {
		got := exits(t, exitFailed, command, dir)
		require.Contains(t, got.stderr, "it has no column job_id; its first line is ?[2Jjob")
		require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{202a}-\x{202e}]`, got.stderr)
	}
}
