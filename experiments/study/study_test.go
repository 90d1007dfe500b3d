package study

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// files writes files into a new folder and gives its path.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// study reads a study beside files.
func study(t *testing.T, text string, beside ...string) (*Definition, error) {
	t.Helper()
	content := map[string]string{"study.yaml": text}
	for i := 0; i < len(beside); i += 2 {
		content[beside[i]] = beside[i+1]
	}
	return Open(filepath.Join(files(t, content), "study.yaml"), nil)
}

// cases are those of a study, without their seeds.
func cases(t *testing.T, text string, beside ...string) []string {
	t.Helper()
	f, err := study(t, text, beside...)
	require.NoError(t, err)
	cells, err := f.allCells()
	require.NoError(t, err)
	var all []string
	for _, c := range cells {
		all = append(all, c.String())
	}
	return all
}

const tiny = `; MaxProcs: 4
1 0 0 100 2 -1 -1 2 200 -1 1 1 1 1 1 1 -1 -1
2 10 0 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1
3 20 0 50 2 -1 -1 2 60 -1 1 2 1 1 1 1 -1 -1
`

func TestAStudyIsCarriedOut(t *testing.T) {
	f, err := study(t, "traces: [tiny.swf]\npolicies: [fcfs, easy]\nestimates: [user, exact]\nseeds: [1, 2]\n", "tiny.swf", tiny)
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	require.Len(t, s.Basis.Inputs, 1)
	require.Equal(t, "tiny.swf", s.Basis.Inputs[0].Name)
	r, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, r.WriteCSV(&b))
	lines := strings.Split(b.String(), "\n")
	require.Equal(t, "trace,policy,estimates,seed,jobs,killed,rejected,makespan,mean_wait,median_wait,p95_wait,max_wait,mean_bounded_slowdown,mean_turnaround,utilization,backfilled,rounds,events,waiting,offered_load", lines[0])
	require.Len(t, lines, 1+8+1)
	require.Equal(t, "tiny.swf,fcfs,user,1,3,0,0,250,90,", lines[1][:len("tiny.swf,fcfs,user,1,3,0,0,250,90,")])
	require.Equal(t, "tiny.swf,easy,exact,2,3,0,0,200,", lines[8][:len("tiny.swf,easy,exact,2,3,0,0,200,")])
}

func TestFilesStayOnlyWhereTheyAreAskedFor(t *testing.T) {
	for keep, want := range map[string]int{"": 0, "keep: [jobs]\n": 2, "batches: day\n": 2} {
		f, err := study(t, "traces: [tiny.swf]\npolicies: [fcfs, easy]\n"+keep, "tiny.swf", tiny)
		require.NoError(t, err)
		s, err := f.Study("test")
		require.NoError(t, err)
		s.Dir = t.TempDir()
		_, err = sweep.Run(context.Background(), s, f.Do)
		require.NoError(t, err)
		left, err := filepath.Glob(filepath.Join(s.Dir, "runs", "*"))
		require.NoError(t, err)
		require.Len(t, left, want, "%q", keep)
	}
}

func TestRowsAreHeldToTheColumnsOfStudies(t *testing.T) {
	for _, name := range Columns() {
		require.NoError(t, CheckRow(sweep.Row{{Name: name, Value: "-1.5"}, {Name: name, Value: ""}}), name)
		require.NoError(t, CheckRow(sweep.Row{{Name: name, Value: "1e+06"}, {Name: name, Value: "NaN"}}), name)
		require.ErrorContains(t, CheckRow(sweep.Row{{Name: name, Value: "=1+1"}}), "column "+name+": ", "%s", name)
		require.ErrorContains(t, CheckRow(sweep.Row{{Name: name, Value: "\x1b[2J"}}), "column "+name+": ")
	}
	for _, name := range []string{"=cmd|calc", "policy", "cpu_seconds", "Jobs", ""} {
		require.EqualError(t, CheckRow(sweep.Row{{Name: "jobs", Value: "5"}, {Name: name, Value: "5"}}), fmt.Sprintf("no study has a column %q", name))
	}
	require.ErrorContains(t, CheckRow(sweep.Row{{Name: "jobs", Value: "many"}}), `column jobs: want a number, not "many"`)
}

// A model in a study offers the load that it is asked for, whatever the seed, to the machine that it
// is for; a log, and a model in which exact=off says so, offer what they have.
func TestModelsOfferTheLoadOfAStudy(t *testing.T) {
	f, err := study(t, "traces: [\"lublin:jobs=200:procs=64:load={rho}\", \"lublin:jobs=200:procs=64:load={rho}:exact=off\"]\nrho: [0.7, 0.9]\nprocs: [64, 128]\npolicies: easy\nseeds: [1, 2]\n")
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	s.Dir = t.TempDir()
	results, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	require.Len(t, results.Rows, 16)
	for i, row := range results.Rows {
		cell := func(name string) string {
			for _, p := range results.Plan.Units[i].Params {
				if p.Name == name {
					return p.Value
				}
			}
			return row[slices.IndexFunc(row, func(c sweep.Cell) bool { return c.Name == name })].Value
		}
		asked, err := strconv.ParseFloat(cell("rho"), 64)
		require.NoError(t, err)
		offered, err := strconv.ParseFloat(cell("offered_load"), 64)
		require.NoError(t, err)
		if cell("procs") == "128" {
			offered *= 2
		}
		if strings.Contains(cell("trace"), "off") {
			require.Greater(t, math.Abs(offered-asked), 1e-3)
		} else {
			require.InDelta(t, asked, offered, 1e-6)
		}
	}
}
