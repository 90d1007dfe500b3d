package experiments_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/gridslot/gridslot"

// layers is the house: which folders of the module each may import, beside
// itself, and which modules of others. Arrows point down only; policy, workload
// and metrics do not know each other.
var layers = map[string]struct{ ours, others []string }{
	"des":      {},
	"internal": {ours: []string{"des"}, others: []string{"github.com/expr-lang/expr"}}, // what is no noun of scheduling: atomic files, quoting, enumerations, expressions
	"entity":   {ours: []string{"des", "internal"}, others: []string{"github.com/emirpasic/gods", "pgregory.net/rapid"}},
	"policy": {
		ours:   []string{"des", "internal", "entity"},
		others: []string{"github.com/emirpasic/gods", "gonum.org/v1/gonum", "pgregory.net/rapid"}, // rapid: predicttest (and plantest of entity), which tests import
	},
	"workload": {
		ours:   []string{"des", "internal", "entity"},
		others: []string{"github.com/emirpasic/gods", "golang.org/x/exp", "gonum.org/v1/gonum", "github.com/klauspost/compress"},
	},
	"metrics": {
		ours:   []string{"des", "internal", "entity"},
		others: []string{"github.com/emirpasic/gods", "gonum.org/v1/gonum", "gonum.org/v1/plot", "codeberg.org/go-pdf/fpdf", "github.com/gocarina/gocsv"}, // fpdf: the dates of a PDF, which plot does not set
	},
	"traces": {
		ours:   []string{"des", "internal", "entity", "workload"}, // the program that writes the sample; fetch: its files are there whole, and are logs
		others: []string{"github.com/gofrs/flock"},                // fetch: one process brings a log
	},
	"experiments": {
		ours: []string{"des", "internal", "entity", "policy", "workload", "metrics", "traces"},
		others: []string{
			"github.com/emirpasic/gods", "gonum.org/v1/gonum", "gonum.org/v1/plot", "github.com/gocarina/gocsv", "github.com/spf13",
			"github.com/goccy/go-yaml", "github.com/gofrs/flock", "github.com/vbauerster/mpb", "golang.org/x/term", "golang.org/x/sys",
		},
	},
	"docs": {ours: []string{"des", "internal", "entity", "policy", "workload", "metrics", "traces", "experiments"}},
	"":     {ours: []string{"experiments"}}, // main.go
}

// layerOf is the first folder of a package of the module, or false.
func layerOf(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, module)
	if !ok || (rest != "" && rest[0] != '/') {
		return "", false
	}
	folder, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	return folder, true
}

// allowed reports whether a package of that layer may import path.
func allowed(layer, path string) bool {
	l := layers[layer]
	if to, ok := layerOf(path); ok {
		return to == layer || slices.Contains(l.ours, to)
	}
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(l.others, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

func TestArrowsPointDown(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	packages := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; packages++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		layer, ok := layerOf(p.ImportPath)
		require.True(t, ok, p.ImportPath)
		require.Contains(t, layers, layer, "%s stands in no layer", p.ImportPath)
		for _, path := range p.Imports {
			if strings.HasPrefix(path, "github.com/expr-lang/") {
				require.Equal(t, module+"/internal/expression", p.ImportPath, "one package reads expressions")
			}
			if strings.HasPrefix(path, "pgregory.net/rapid") {
				require.True(t, strings.HasSuffix(p.ImportPath, "test"), "%s: rapid draws for packages that tests import, and no others", p.ImportPath)
			}
			if !allowed(layer, path) {
				t.Errorf("%s must not import %s", p.ImportPath, path)
			}
		}
	}
	require.Greater(t, packages, 10)
}

// Formulas are for tables in which policies are asked for by a text: a program that names
// its policies compiles no parser.
func TestPoliciesDoWithoutFormulas(t *testing.T) {
	list := func(packages ...string) string {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
		require.NoError(t, err)
		return string(out)
	}
	const parser = "github.com/expr-lang/expr"
	require.Contains(t, list(module+"/policy"), parser)
	require.NotContains(t, list(module+"/policy/backfill", module+"/policy/preempt", module+"/policy/window", module+"/metrics/...", module+"/workload", module+"/workload/clean", module+"/workload/jobfile"), parser)
	require.NotContains(t, list(module+"/entity", module+"/entity/plan", module+"/entity/flow", module+"/entity/grid"), parser)
	require.NotContains(t, list(module+"/policy"), parser+"/compiler", "its own machine is not used")
}

func TestLayersRefuseArrowsThatPointUp(t *testing.T) {
	for _, arrow := range [][2]string{
		{"des", module + "/entity"},
		{"des", "github.com/emirpasic/gods/sets/hashset"},
		{"entity", module + "/policy/backfill"},
		{"entity", "gonum.org/v1/gonum/stat"},
		{"policy", module + "/workload"},
		{"metrics", module + "/policy"},
		{"workload", module + "/metrics"},
		{"policy", "gonum.org/v1/plot"},
		{"experiments", module},
		{"", module + "/des"},
	} {
		require.False(t, allowed(arrow[0], arrow[1]), "%s -> %s", arrow[0], arrow[1])
	}
	require.True(t, allowed("metrics", module+"/internal/atomicfile"))
	require.True(t, allowed("des", "math/rand/v2"))
}

// heavy is what takes longest to compile: figures with their fonts and PDF, and an HTTP client.
var heavy = []string{
	"gonum.org/v1/plot", "codeberg.org/go-fonts", "codeberg.org/go-pdf", "codeberg.org/go-latex", "golang.org/x/image",
	"github.com/chromedp", "net/http", "crypto/tls",
	module + "/metrics/figure", module + "/experiments/reproduce", module + "/experiments/report", module + "/traces/fetch",
}

// dependencies are packages and all that they compile.
func dependencies(t *testing.T, packages ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// packages are those of a pattern.
func packages(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", pattern).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

func requireNone(t *testing.T, dependencies []string, unwanted ...string) {
	t.Helper()
	for _, path := range dependencies {
		for _, prefix := range unwanted {
			require.False(t, path == prefix || strings.HasPrefix(path, prefix+"/"), path)
		}
	}
}

// Programs that simulate, sum up, read results back or carry out studies compile nothing of it.
func TestOnlyWhatNeedsThemCompilesHeavyPackages(t *testing.T) {
	library := dependencies(t, append(packages(t, module+"/workload/..."), module+"/policy/...", module+"/traces", module+"/metrics", module+"/metrics/findings", module+"/metrics/results",
		module+"/metrics/stats", module+"/metrics/rows", module+"/metrics/validate", module+"/experiments/simulation",
		module+"/experiments/study", module+"/experiments/sweep", module+"/experiments/sweep/slurm")...)
	require.Contains(t, library, module+"/metrics/findings")
	requireNone(t, library, heavy...)
	requireNone(t, library, "github.com/spf13")

	command := dependencies(t, module)
	requireNone(t, command, "gonum.org/v1/gonum/mat", "gonum.org/v1/gonum/lapack", "gonum.org/v1/gonum/blas")
	for _, path := range heavy {
		if path != "github.com/chromedp" {
			require.True(t, slices.ContainsFunc(command, func(p string) bool { return strings.HasPrefix(p, path) }), "%s is not known any more", path)
		}
	}
}

// The first program of README.md needs nothing but functions of gonum beside the library.
func TestAFirstProgramCompilesLittle(t *testing.T) {
	first := dependencies(t, module+"/policy/backfill", module+"/traces", module+"/metrics", module+"/workload")
	requireNone(t, first, heavy...)
	requireNone(t, first, "github.com/goccy", "github.com/expr-lang", "golang.org/x/sys", "golang.org/x/term", "text/template")
}
