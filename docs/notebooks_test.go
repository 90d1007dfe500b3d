package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// built is the command, as a program of this test.
func built(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "gridslot")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	said, err := exec.Command("go", "build", "-o", program, root).CombinedOutput()
	require.NoError(t, err, "%s", said)
	return program
}

// python finds an interpreter that has the modules. What a distribution installs is
// not seen by a Python of the user's own, which may come first in PATH.
func python(t *testing.T, modules ...string) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return name
		}
	}
	t.Skipf("there is no python3 with %s", strings.Join(modules, ", "))
	return ""
}

func TestNotebooksRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	interpreter := python(t, "nbconvert", "ipykernel", "pandas", "matplotlib")
	program, temporary := built(t), t.TempDir()
	for _, notebook := range glob(t, "notebooks/*.ipynb") {
		cmd := exec.Command(interpreter, "-m", "nbconvert", "--execute", "--to", "notebook", "--output-dir", t.TempDir(),
			"--ExecutePreprocessor.startup_timeout=600", // in place of 60 s, which a busy machine may need
			filepath.Base(notebook))
		cmd.Dir = "notebooks"
		cmd.Env = append(os.Environ(), "GRIDSLOT="+program, "TMPDIR="+temporary, "PYTHONWARNINGS=ignore", "IPYTHONDIR="+temporary, "JUPYTER_RUNTIME_DIR="+filepath.Join(temporary, "jupyter"))
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", notebook, said[max(0, len(said)-2000):])
	}
}

func TestNotebooksAreKeptWithoutOutput(t *testing.T) {
	for _, notebook := range glob(t, "notebooks/*.ipynb") {
		var n struct {
			Cells []struct {
				Outputs        []any `json:"outputs"`
				ExecutionCount *int  `json:"execution_count"`
			} `json:"cells"`
		}
		require.NoError(t, json.Unmarshal([]byte(read(t, notebook)), &n))
		require.NotEmpty(t, n.Cells)
		for _, c := range n.Cells {
			require.Empty(t, c.Outputs, "%s: clear it: jupyter nbconvert --clear-output --inplace", notebook)
			require.Nil(t, c.ExecutionCount, notebook)
		}
		require.Contains(t, read(t, "README.md"), "("+filepath.ToSlash(notebook)+")")
	}
}

func TestThePageForRRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	if _, err := exec.LookPath("Rscript"); err != nil {
		t.Skip("there is no Rscript")
	}
	dir := t.TempDir()
	simulate := exec.Command(built(t), "simulate", "--policy", "fcfs,easy", "--out", "results")
	simulate.Dir = dir
	said, err := simulate.CombinedOutput()
	require.NoError(t, err, "%s", said)
	ran := 0
	for _, b := range blocks(read(t, "guides/other-languages.md")) {
		if b.language != "r" {
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "compare.R"), []byte(b.text), 0o666))
		r := exec.Command("Rscript", "compare.R")
		r.Dir = dir
		said, err := r.CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.FileExists(t, filepath.Join(dir, "waits.pdf"))
		ran++
	}
	require.Equal(t, 1, ran)
}

// The reader of evalys is held to what our own files say of queue and load.
func TestEvalysReadsJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	interpreter := python(t, "evalys.jobset")
	program, dir := built(t), t.TempDir()
	grid := "clusters:\n  - {name: large, processors: 128}\n  - {name: small, processors: 64, speed: 1.5}\nbrokers: 2\nstrategies: [shortest-queue]\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "grid.yaml"), []byte(grid), 0o666))
	for _, args := range [][]string{
		{"simulate", "--procs", "8", "--first", "1000", "--policy", "easy", "--out", "cluster"}, // too small for some
		{"simulate", "--grid", "grid.yaml", "--first", "500", "--out", "grid"},
	} {
		simulate := exec.Command(program, args...)
		simulate.Dir = dir
		said, err := simulate.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	script := `
import matplotlib
matplotlib.use("Agg")
import pandas as pd
from evalys.jobset import JobSet
jobs = JobSet.from_csv("cluster/jobs-easy.csv")
queue = pd.read_csv("cluster/queue-easy.csv")
row = pd.read_csv("cluster/summary.csv").iloc[0]
assert (jobs.df.final_state == "REJECTED").sum() == row.rejected > 0
assert str(jobs.res_bounds) == "0-7", jobs.res_bounds
assert jobs.queue.load.max() == queue.queued_processors.max()
assert jobs.utilisation.load.max() == queue.busy_processors.max()
begin, end = jobs.df.submission_time.min(), jobs.df.finish_time.max()
assert abs(jobs.mean_utilisation(begin, end) / 8 - row.utilization) < 1e-9
jobs.plot(with_details=True)
grid = JobSet.from_csv("grid/jobs-shortest-queue.csv")
assert str(grid.res_bounds) == "0-191", grid.res_bounds
grid.gantt()
`
	cmd := exec.Command(interpreter, "-W", "ignore", "-c", script)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
}
