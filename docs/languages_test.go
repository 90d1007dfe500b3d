package docs_test

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The schedulers of the page about other languages decide as the page says.
func TestSchedulersInOtherLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	page := "guides/other-languages.md"
	python, shell := pageBlocks(t, page, "python"), pageBlocks(t, page, "sh")
	program, dir := built(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fcfs.py"), []byte(python[0]), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alone.sh"), []byte(shell[1]), 0o777))
	// starts are columns of a file: the start, the end and the processors of each job.
	starts := func(spec, file string) (rows [][]string) {
		simulate := exec.Command(program, "simulate", "--first", "300", "--policy", spec, "--out", "results")
		simulate.Dir = dir
		said, err := simulate.CombinedOutput()
		require.NoError(t, err, "%s", said)
		found, err := filepath.Glob(filepath.Join(dir, "results", file))
		require.NoError(t, err)
		require.Len(t, found, 1)
		f, err := os.Open(found[0])
		require.NoError(t, err)
		defer f.Close()
		all, err := csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		for _, name := range []string{"starting_time", "finish_time", "allocated_resources"} {
			at := slices.Index(all[0], name)
			var column []string
			for _, row := range all[1:] {
				column = append(column, row[at])
			}
			rows = append(rows, column)
		}
		return rows
	}
	fcfs := starts("fcfs", "jobs-fcfs.csv")

	if _, err := exec.LookPath("sh"); err != nil {
		t.Log("there is no sh")
	} else {
		alone := starts("exec:sh alone.sh", "jobs-exec-sh-alone.sh-*.csv")
		require.Equal(t, fcfs[0][0], alone[0][0])
		for i := 1; i < len(alone[0]); i++ {
			start, err := strconv.ParseFloat(alone[0][i], 64)
			require.NoError(t, err)
			end, err := strconv.ParseFloat(alone[1][i-1], 64)
			require.NoError(t, err)
			require.GreaterOrEqual(t, start, end, "job %d", i+1)
		}
	}

	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	require.Equal(t, fcfs, starts("exec:python3 fcfs.py", "jobs-exec-python3-fcfs.py-*.csv"))
}
