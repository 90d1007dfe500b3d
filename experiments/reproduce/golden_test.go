package reproduce_test

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

	"github.com/gridslot/gridslot/experiments/reproduce"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of testdata anew")

// small is a run of a few cycles: enough to notice a change, not to compare with
// a paper.
func small(e reproduce.Experiment) reproduce.Config {
	c := reproduce.Config{Cycles: 3, Seed: 1, Workers: 2}
	if e.Name() == "alp-amp" {
		c.Cycles = 20 // most cycles are not kept
	}
	return c
}

// stable is the table as CSV without what is measured in time.
func stable(t *testing.T, table *reproduce.Table) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, table.WriteCSV(&b))
	lines, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	timed := slices.Index(lines[0], "measured_time")
	lines = slices.DeleteFunc(lines, func(line []string) bool { return line[timed] == "true" })
	var out strings.Builder
	require.NoError(t, csv.NewWriter(&out).WriteAll(lines))
	return out.String()
}

func TestTablesAreThoseOfBefore(t *testing.T) {
	for _, e := range reproduce.All() {
		t.Run(e.Name(), func(t *testing.T) {
			table, err := e.Run(context.Background(), small(e))
			require.NoError(t, err)
			path := filepath.Join("testdata", e.Name()+".csv")
			if *rewrite {
				require.NoError(t, os.WriteFile(path, []byte(stable(t, &table)), 0o666))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), stable(t, &table), "rewrite with -rewrite where the change is meant")
		})
	}
}

func TestResultsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	for _, name := range []string{"alp-amp", "aep", "preferences", "estimates"} {
		e, ok := reproduce.ByName(name)
		require.True(t, ok)
		var tables []reproduce.Table
		for _, workers := range []int{1, 7} {
			table, err := e.Run(context.Background(), reproduce.Config{Cycles: 15, Seed: 3, Workers: workers})
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
		e, ok := reproduce.ByName(name)
		require.True(t, ok, name)
		table, err := e.Run(context.Background(), reproduce.Config{Cycles: 1, Seed: 1})
		require.NoError(t, err)
		found := 0
		for _, r := range table.Rows {
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
