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
	"des":    {},
	"entity": {ours: []string{"des"}, others: []string{"github.com/emirpasic/gods"}},
	"policy": {
		ours:   []string{"des", "entity"},
		others: []string{"github.com/emirpasic/gods", "gonum.org/v1/gonum", "github.com/expr-lang/expr"},
	},
	"workload": {
		ours:   []string{"des", "entity"},
		others: []string{"github.com/emirpasic/gods", "golang.org/x/exp", "gonum.org/v1/gonum", "github.com/klauspost/compress", "github.com/gocarina/gocsv"},
	},
	"metrics": {
		ours:   []string{"des", "entity"},
		others: []string{"github.com/emirpasic/gods", "gonum.org/v1/gonum", "gonum.org/v1/plot", "github.com/gocarina/gocsv", "github.com/parquet-go/parquet-go"},
	},
	"traces": {ours: []string{"des", "workload"}}, // the program that writes the sample
	"experiments": {
		ours: []string{"des", "entity", "policy", "workload", "metrics", "traces"},
		others: []string{
			"github.com/emirpasic/gods", "gonum.org/v1/gonum", "gonum.org/v1/plot", "github.com/spf13", "github.com/gocarina/gocsv",
			"github.com/schollz/progressbar", "github.com/goccy/go-yaml", "github.com/gofrs/flock", "golang.org/x/term", "golang.org/x/sys",
			"github.com/nats-io/nats.go", "github.com/nats-io/nats-server",
		},
	},
	"docs": {ours: []string{"des", "entity", "policy", "workload", "metrics", "traces", "experiments"}},
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
			if !allowed(layer, path) {
				t.Errorf("%s must not import %s", p.ImportPath, path)
			}
		}
	}
	require.Greater(t, packages, 10)
}

// Who writes a program of their own does not compile what only the command needs.
func TestTheLibraryDoesWithoutParquet(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./entity/...", "./policy/...", "./workload/...", "./metrics", "./metrics/schema", "./metrics/validate", "./experiments/run", "./experiments/scenario")
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "gonum.org/v1/gonum")
	require.NotContains(t, string(out), "parquet")
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
	require.NotContains(t, list(module+"/policy/backfill", module+"/policy/preempt", module+"/policy/window", module+"/metrics/...", module+"/workload/..."), parser)
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
	require.True(t, allowed("metrics", module+"/entity/atomicfile"))
	require.True(t, allowed("des", "math/rand/v2"))
}

// What draws is heavy; programs that simulate, sum up or read results back must not
// compile it.
func TestTheLibraryDoesNotBringDrawingWithIt(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/policy/...", module+"/workload/...", module+"/metrics", module+"/metrics/results",
		module+"/metrics/validate", module+"/experiments/scenario").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, module+"/entity")
	for _, path := range deps {
		require.False(t, strings.HasPrefix(path, "gonum.org/v1/plot"), path)
		require.False(t, strings.HasPrefix(path, "github.com/chromedp"), path)
		require.NotEqual(t, module+"/metrics/figure", path)
	}
}

// A server within the command is for those who start one; whoever simulates or carries
// out studies in a program of their own compiles neither it nor its client.
func TestTheLibraryDoesWithoutNATS(t *testing.T) {
	list := func(packages ...string) []string {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	const engine = module + "/experiments/sweep/nats"
	require.Contains(t, list(engine), "github.com/nats-io/nats.go")
	for _, path := range list(engine) {
		require.False(t, strings.HasPrefix(path, "github.com/nats-io/nats-server"), path)
	}
	all := list(module+"/policy/...", module+"/workload/...", module+"/metrics/...", module+"/experiments/run", module+"/experiments/scenario",
		module+"/experiments/reproduce", module+"/experiments/sweep", module+"/experiments/sweep/slurm", module+"/experiments/study", module+"/experiments/report")
	require.Contains(t, all, module+"/metrics/findings")
	for _, path := range all {
		require.False(t, strings.HasPrefix(path, "github.com/nats-io"), path)
		require.False(t, strings.HasPrefix(path, "github.com/spf13"), "%s is for the command", path)
	}
}
