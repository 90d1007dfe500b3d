package reproduce

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of testdata anew")

// small is a run of a few cycles: enough to notice a change, not to compare with
// a paper.
func small(e Experiment) Config {
	c := Config{Cycles: 3, Seed: 1, Workers: 2}
	switch e.Name() {
	case "alp-amp":
		c.Cycles = 20 // most cycles are not kept
	case "job-flow":
		c.Cycles = 1 // a cycle is a hundred flows
	}
	return c
}

// named is the experiment of that name.
func named(t *testing.T, name string) Experiment {
	t.Helper()
	all := All()
	i := slices.IndexFunc(all, func(e Experiment) bool { return e.Name() == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

// stableCSV is the table as CSV without what is measured in time.
func stableCSV(t *testing.T, table *Reproduction) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, table.writeCSV(&b))
	lines, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	timed := slices.Index(lines[0], "measured_time")
	lines = slices.DeleteFunc(lines, func(line []string) bool { return line[timed] == "true" })
	var out strings.Builder
	require.NoError(t, csv.NewWriter(&out).WriteAll(lines))
	return out.String()
}

func TestTablesAreThoseOfBefore(t *testing.T) {
	for _, e := range drawn() {
		t.Run(e.Name(), func(t *testing.T) {
			table, err := e.Run(context.Background(), small(e))
			require.NoError(t, err)
			path := filepath.Join("testdata", e.Name()+".csv")
			if *rewrite {
				require.NoError(t, os.WriteFile(path, []byte(stableCSV(t, &table)), 0o666))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), stableCSV(t, &table), "rewrite with -rewrite where the change is meant")
		})
	}
}

func TestResultsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	for _, name := range []string{"alp-amp", "aep", "preferences", "estimates"} {
		e := named(t, name)
		var tables []Reproduction
		for _, workers := range []int{1, 7} {
			table, err := e.Run(context.Background(), Config{Cycles: 15, Seed: 3, Workers: workers})
			require.NoError(t, err)
			tables = append(tables, table)
		}
		require.Equal(t, tables[0], tables[1], name)
	}
}

func TestEveryPublishedFigureHasItsRow(t *testing.T) {
	for name, figures := range map[string]int{
		"alp-amp": 16, "aep": 6 + 31, "preferences": 50, "slicing": 7, "owner-price": 25, "bsf": 8, "estimates": 17,
		"maxq": 6, "placement": 18 + 21, "aep-time": 6, "window-time": 7,
	} {
		e := named(t, name)
		table, err := e.Run(context.Background(), Config{Cycles: 1, Seed: 1})
		require.NoError(t, err)
		found := 0
		for _, r := range table.rows {
			if r.Variant != "" {
				continue
			}
			for _, s := range []string{r.Paper, r.Code} {
				if s != "" {
					found++
				}
			}
		}
		require.Equal(t, figures, found, name)
	}
}

// with is the experiment of that name with another program than that of its page.
func with(name string, program any) Experiment {
	return Experiment{name, func(*page) (any, error) { return program, nil }}
}

// read is the program of an experiment with the settings of its page.
func read[P any](t require.TestingT, name string) P {
	p := pageOf(name)
	program, err := programOf[P](&p)
	require.NoError(t, err)
	return program
}
