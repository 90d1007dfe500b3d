package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// problems are two searches on the same three nodes: the second one cannot
// begin before 4, when node 3 is free.
const problems = `{"instances": [
	{"id": 7, "kind": "square", "horizon": [0, 20], "request": {"nodes": 2, "volume": 10, "budget": 100},
	 "nodes": [{"id": 1, "perf": 2, "price": 1}, {"id": 2, "perf": 1, "price": 1}, {"id": 3, "perf": 2, "price": 3}],
	 "slots": [[1, 0, 20], [2, 0, 9], [3, 4, 20]], "results": "ignored"},
	{"id": 8, "kind": "rough", "horizon": [0, 20], "request": {"nodes": 2, "volume": 10, "minPerf": 2},
	 "nodes": [{"id": 1, "perf": 2, "price": 1}, {"id": 3, "perf": 2, "price": 3}],
	 "slots": [[1, 0, 20], [3, 4, 20]]}]}`

func TestWindowAnswersOneObjectAProblem(t *testing.T) {
	out := callWith(problems, "window", "-", "--algorithm", "min-cost", "--format", "json")
	require.Equal(t, exitOK, out.code, out.stderr)
	require.Equal(t, `{"id":7,"algorithm":"min-cost","found":true,"start":4,"length":5,"cost":20,"value":20,"slots":[[1,4,9],[3,4,9]]}
{"id":8,"algorithm":"min-cost","found":true,"start":4,"length":5,"cost":20,"value":20,"slots":[[1,4,9],[3,4,9]]}
`, out.stdout)
}

func TestWindowLeavesOutProblemsOfTheOtherKind(t *testing.T) {
	out := callWith(problems, "window", "-", "--algorithm", "dep", "--format", "json")
	require.Equal(t, exitOK, out.code)
	require.Contains(t, out.stderr, "1 of 2 problems left out")
	lines := strings.Split(strings.TrimSpace(out.stdout), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"found":true`)
	require.Contains(t, lines[1], `"id":8,"algorithm":"dep","found":false`)
	require.Contains(t, lines[1], `"skipped":"no search for rough windows is called dep"`)
}

func TestWindowSaysWhatIsWrong(t *testing.T) {
	one := func(request string) string {
		return `{"kind": "square", "horizon": [0, 20], "request": ` + request + `, "nodes": [{"id": 1, "perf": 2}], "slots": [[1, 5, 20]]}`
	}
	for what, c := range map[string]struct {
		stdin string
		args  []string
		code  int
	}{
		"none is called \"\"":           {one(`{}`), []string{"-"}, exitUsage},
		"none is called \"best\"":       {one(`{}`), []string{"-", "--algorithm", "best"}, exitUsage},
		"must be 0 or more":             {one(`{}`), []string{"-", "--algorithm", "dep", "--quantum", "-1"}, exitUsage},
		"not a window problem":          {`[`, []string{"-", "--algorithm", "dep"}, exitFailed},
		"no problems in it":             {`{"instances": []}`, []string{"-", "--algorithm", "dep"}, exitFailed},
		"that one searches rough":       {one(`{"nodes": 1, "volume": 1}`), []string{"-", "--algorithm", "amp"}, exitFailed},
		"at least 1 node":               {one(`{"nodes": 0, "volume": 1}`), []string{"-", "--algorithm", "dep"}, exitFailed},
		"the budget is 0":               {one(`{"nodes": 1, "volume": 1, "budget": 0}`), []string{"-", "--algorithm", "dep"}, exitFailed},
		"no such file or directory":     {"", []string{"none.json", "--algorithm", "dep"}, exitFailed},
		"is on node 2, which is not li": {strings.Replace(one(`{"nodes": 1, "volume": 1}`), "[1, 5", "[2, 5", 1), []string{"-", "--algorithm", "dep"}, exitFailed},
	} {
		out := callWith(c.stdin, append([]string{"window"}, c.args...)...)
		require.Equal(t, c.code, out.code, what)
		require.Contains(t, out.stderr, what)
		require.Empty(t, out.stdout)
	}
}

// Every answer of the reference that a search of ours claims to be exact for.
func TestWindowMeetsTheReference(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_REFERENCE")
	if dir == "" {
		t.Skip("GRIDSLOT_REFERENCE is not set: no reference answers at hand")
	}
	path := filepath.Join(dir, "window-problems.json")
	var file struct {
		Instances []struct {
			ID      int
			Kind    string
			Results []struct {
				Algorithm string
				Value     float64
			}
		}
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &file))
	square := map[string]string{"MaxQ": "maxq", "DEP": "dep", "COORD": "coord"}
	simple := map[string]string{"FirstFit": "first-fit", "MinFinish": "min-finish", "MinRuntime": "min-runtime", "MinCost": "min-cost"}
	rough := map[string]string{"AMP": "amp", "MinFinish": "min-finish-exact", "MinRunTime": "min-runtime-exact", "MinCost": "min-cost", "MinProcTime": "min-proctime-exact"}
	answers := map[string]map[int]float64{} // by call and problem
	value := func(id int, algorithm, round string) float64 {
		key := algorithm + round
		if answers[key] == nil {
			out := succeed(t, "window", path, "--algorithm", algorithm, "--quantum", "1", "--max-distance", "500", "--round-costs", round, "--format", "json")
			answers[key] = map[int]float64{}
			for d := json.NewDecoder(strings.NewReader(out.stdout)); d.More(); {
				var a struct {
					ID    int
					Found bool
					Value float64
				}
				require.NoError(t, d.Decode(&a))
				answers[key][a.ID] = math.NaN()
				if a.Found {
					answers[key][a.ID] = a.Value
				}
			}
		}
		return answers[key][id]
	}
	compared := 0
	for _, p := range file.Instances {
		for _, r := range p.Results {
			algorithm, round := "", "0"
			name := r.Algorithm
			switch {
			case strings.HasPrefix(name, "exact_ceil100_"):
				algorithm, round = square[strings.TrimPrefix(name, "exact_ceil100_")], "0.01"
			case strings.HasPrefix(name, "exact_ceil1_"):
				algorithm, round = square[strings.TrimPrefix(name, "exact_ceil1_")], "1"
			case strings.HasPrefix(name, "exact_simple_") && p.Kind == "rough":
				algorithm = rough[strings.TrimPrefix(name, "exact_simple_")]
			case strings.HasPrefix(name, "exact_simple_"):
				algorithm = simple[strings.TrimPrefix(name, "exact_simple_")]
			default: // the authors' program, which the reference says can be worse
				continue
			}
			require.NotEmpty(t, algorithm, name)
			require.InDelta(t, r.Value, value(p.ID, algorithm, round), 1e-6, "problem %d, %s", p.ID, name)
			compared++
		}
	}
	require.NotZero(t, compared, fmt.Sprintf("%s holds no exact answers", path))
}
