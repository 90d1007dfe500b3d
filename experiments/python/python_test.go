package python

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics/rows"
)

var rewrite = flag.Bool("rewrite", false, "write gridslot/columns.json anew")

// column is what the Python package knows of a column of a file.
type column struct {
	Type string `json:"type"`
	Unit string `json:"unit"`
}

// The types and units of the Python package are those of package rows.
func TestColumnsAreThoseOfTheSchema(t *testing.T) {
	kinds := map[string]map[string]column{}
	for _, f := range rows.Schemas() {
		columns := map[string]column{}
		for _, c := range f.Columns {
			columns[c.Name] = column{c.Type.String(), c.Unit}
		}
		kinds[rows.KindOf(f.Name)] = columns
	}
	want, err := json.MarshalIndent(kinds, "", " ")
	require.NoError(t, err)
	path := filepath.Join("gridslot", "columns.json")
	if *rewrite {
		f, err := atomicfile.Create(path)
		require.NoError(t, err)
		_, err = f.Write(append(want, '\n'))
		require.NoError(t, err)
		require.NoError(t, f.Commit())
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.TrimSpace(string(got)) == string(want), "go test ./experiments/python -rewrite writes it anew")
}

// interpreter is a Python with numpy, or any; "" where there is none. A Python of the user's own, which may
// come first in PATH, does not see what the distribution installs.
func interpreter() string {
	for _, with := range []string{"import numpy, pandas", "import numpy", ""} {
		for _, name := range []string{"python3", "/usr/bin/python3"} {
			if exec.Command(name, "-c", with).Run() == nil {
				return name
			}
		}
	}
	return ""
}

// The tests of the Python package are carried out with the library and the command of this
// checkout. They skip what numpy or pandas is missing for.
func TestThePackage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a library and a program")
	}
	python := interpreter()
	if python == "" {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	library, program := filepath.Join(dir, "libgridslot.so"), filepath.Join(dir, "gridslot")
	said, err := exec.Command("go", "build", "-o", program, "../..").CombinedOutput()
	require.NoError(t, err, "%s", said)
	tests := []string{"test_policy", "test_results", "test_learn"}
	if said, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(said)) != "1" {
		t.Log("the library needs cgo and a C compiler, which are not at hand: its tests are left out")
		tests = tests[:2]
	} else {
		said, err := exec.Command("go", "build", "-buildmode=c-shared", "-o", library, "./library").CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	cmd := exec.Command(python, append([]string{"-m", "unittest", "-v"}, tests...)...)
	cmd.Dir = "tests"
	here, err := os.Getwd()
	require.NoError(t, err)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+here, "PYTHONDONTWRITEBYTECODE=1", "GRIDSLOT="+program, "GRIDSLOT_LIBRARY="+library)
	said, err = cmd.CombinedOutput()
	t.Logf("%s", said)
	require.NoError(t, err)
}
