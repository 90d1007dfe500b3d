package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every command that reads results back reads those of a run with a warm-up.
func TestResultsWithAWarmUpAreReadBack(t *testing.T) {
	for _, warmup := range []string{"20", "1h"} {
		dir := ran(t, "--first", "100", "--policy", "easy,fcfs", "--warmup", warmup, "--decisions", "--perfetto")
		require.FileExists(t, filepath.Join(dir, "perfetto-easy.json"))
		require.NotEqual(t, "100", table(t, filepath.Join(dir, "summary.csv"))[0]["jobs"])
		require.Len(t, table(t, filepath.Join(dir, "jobs-easy.csv")), 100)

		id := table(t, filepath.Join(dir, "jobs-easy.csv"))[0]["job_id"]
		for _, args := range [][]string{
			{"report", dir, "-o", filepath.Join(dir, "report.html")},
			{"plot", dir, "-o", dir},
			{"explain", dir, id}, // a job of the warm-up
			{"explain", dir},
			{"validate", filepath.Join(dir, "jobs-easy.csv"), "--first", "100"},
		} {
			succeed(t, args...)
		}
	}
}

func TestAFileThatWasCutOffIsToldInSpiteOfAWarmUp(t *testing.T) {
	dir := ran(t, "--first", "100", "--policy", "easy", "--warmup", "20")
	path := filepath.Join(dir, "jobs-easy.csv")
	lines := strings.SplitAfter(read(t, path), "\n")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o666))
	o := exits(t, exitFailed, "plot", dir, "-o", dir)
	require.Contains(t, o.stderr, "it has the rows of 99 jobs, 20 of which are its warm-up, and summary.csv counts 80")
}

func TestAStudyThatLeavesOutItsFirstWeeksIsReported(t *testing.T) {
	study := write(t, "study.yaml", "policies: [easy, fcfs]\nfirst: [2000]\nbatches: week\nwarmup: 7d\nkeep: [jobs, queue]\n")
	dir := filepath.Join(t.TempDir(), "results")
	o := swept(t, study, "--out", dir)
	require.Zero(t, o.code, o.stderr)
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	require.NoError(t, err)
	require.Len(t, runs, 2)
	require.Equal(t, "1", table(t, filepath.Join(runs[0], "batches.csv"))[0]["warmup"])
	for _, from := range []string{dir, runs[0]} {
		succeed(t, "report", from, "-o", filepath.Join(t.TempDir(), "report.html"))
	}
}
