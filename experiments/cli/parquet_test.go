package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParquetIsReadAndNotWritten(t *testing.T) {
	const log = "../../workload/formats/testdata/sample.parquet" // the first 1,000 jobs of the sample
	got := succeed(t, "simulate", log, "--policy", "easy", "--format", "json")
	want := call("simulate", "--first", "1000", "--policy", "easy", "--format", "json")
	withoutTime := func(summary string) string {
		before, _, found := strings.Cut(summary, `"cpu_seconds"`)
		require.True(t, found, summary)
		return before
	}
	require.Equal(t, withoutTime(want.stdout), withoutTime(got.stdout))

	back := filepath.Join(t.TempDir(), "b.swf")
	got = succeed(t, "trace", "convert", log, back, "--lossless")
	require.Contains(t, read(t, back), "; MaxProcs: 128\n")

	for _, args := range [][]string{{back, filepath.Join(t.TempDir(), "c.parquet")}, {"-", "-", "--to", "parquet"}} {
		got = exits(t, exitUsage, append([]string{"trace", "convert"}, args...)...)
		require.Contains(t, got.stderr, "logs in the format parquet can be read, but not written")
	}
}
