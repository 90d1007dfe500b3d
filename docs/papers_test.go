package docs_test

// The pages of the papers summarise tables that stand beside them as CSV.

import (
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/reproduce"
)

// table reads a CSV file whose first line names its columns.
func table(t *testing.T, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// The page on META counts the verdicts of each experiment as claims.csv has them.
func TestThePageCountsVerdictsAsTheRegisterDoes(t *testing.T) {
	verdicts := []string{"holds", "direction only", "undecided", "fails"}
	counted := map[string]map[string]int{}
	for _, row := range table(t, "papers/claims.csv") {
		if counted[row["experiment"]] == nil {
			counted[row["experiment"]] = map[string]int{}
		}
		counted[row["experiment"]][row["verdict"]]++
	}
	line := regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|[^|]*\\|(.*)\\|$")
	found := line.FindAllStringSubmatch(read(t, "papers/meta.md"), -1)
	require.Len(t, found, len(counted))
	for _, m := range found {
		cells := strings.Split(m[2], "|")
		require.Len(t, cells, len(verdicts), m[1])
		for i, verdict := range verdicts {
			n, _ := strconv.Atoi(strings.TrimSpace(cells[i])) // an empty cell counts none
			require.Equal(t, counted[m[1]][verdict], n, "%s: %s", m[1], verdict)
		}
	}
}

// A command repeats every figure that is kept: each row names an experiment or a test.
func TestEveryFigureOfThePapersIsOfAnExperiment(t *testing.T) {
	known := map[string]bool{}
	for _, e := range reproduce.All() {
		known[e.Name()] = true
	}
	for _, path := range glob(t, "papers/*.csv") {
		rows := table(t, path)
		require.NotEmpty(t, rows, path)
		for _, row := range rows {
			if name := row["experiment"]; !strings.HasPrefix(name, "go test ") {
				require.True(t, known[name], fmt.Sprintf("%s: %s", path, name))
			}
		}
	}
}
