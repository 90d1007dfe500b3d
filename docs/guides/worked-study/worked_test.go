package worked_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/study/studytest"
	"github.com/gridslot/gridslot/metrics/findings"
)

var whole = flag.Bool("whole", false, "carry out both studies over all logs, for minutes, and compare whole tables")

// page is the section of the page, and the tables beside it.
func page(t *testing.T) string {
	_, section, found := strings.Cut(file(t, "../every-log.md"), "\n## Does EASY-SJBF beat EASY?\n")
	require.True(t, found)
	return section + file(t, "slowdown.txt")
}

func file(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// tables are those of the page: differences, a row a log and estimates.
func tables(t *testing.T, f *findings.Findings) string {
	var b strings.Builder
	for _, measure := range f.Options.Measures {
		grids, err := f.Grids(findings.Pivot{Measure: measure, Rows: []string{"trace", "estimates"}, Columns: []string{"load"}, Difference: true})
		require.NoError(t, err)
		require.Len(t, grids, 1)
		require.NoError(t, findings.Write(&b, grids, "markdown"))
	}
	return b.String()
}

// rows are those of tables, without stars: what is significant depends on how many
// comparisons there are.
func rows(tables string) (rows []string) {
	for line := range strings.Lines(tables) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "±") {
			rows = append(rows, strings.ReplaceAll(strings.TrimSpace(line), ` \*`, ""))
		}
	}
	return rows
}

// The page says what weeks.yaml has: its logs, loads and estimates.
func TestThePageTellsWhatTheStudyFilesHave(t *testing.T) {
	require.Contains(t, page(t), "[weeks.yaml](worked-study/weeks.yaml) takes its weeks as observations (`batches: week`): five logs at loads of\n0.7, 0.8 and 0.9, with users' estimates, twice the runtime, and the runtime.")
	require.Equal(t, 5, strings.Count(file(t, "weeks.yaml"), ".swf.gz\n"))
	for _, line := range []string{"load: [0.7, 0.8, 0.9]\n", "estimates: [user, factor:2, exact]\n", "batches: week\n"} {
		require.Contains(t, file(t, "weeks.yaml"), line)
	}
	logs := regexp.MustCompile(`(?s)traces:\n.*?load: .*?\n`)
	require.Equal(t, logs.FindString(file(t, "weeks.yaml")), logs.FindString(file(t, "seeds.yaml")), "both are over the same logs and loads")
}

func TestTheTablesAreThoseOfTheTool(t *testing.T) {
	logs := os.Getenv("GRIDSLOT_TRACES")
	if logs == "" {
		t.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	logs, err := filepath.Abs(logs)
	require.NoError(t, err)
	if *whole {
		for _, name := range []string{"weeks.yaml", "seeds.yaml"} {
			found, _ := studytest.CarryOut(t, file(t, name), logs)
			for _, table := range strings.SplitAfter(tables(t, found), "%).\n") {
				require.Contains(t, page(t), strings.TrimSpace(table), name)
			}
		}
		return
	}
	one := regexp.MustCompile(`(?m)^  - [^K].*\n`).ReplaceAllString(file(t, "weeks.yaml"), "") // KTH-SP2 only
	found, _ := studytest.CarryOut(t, one, logs)
	got := rows(tables(t, found))
	require.Len(t, got, 2*3)
	onPage := strings.Join(rows(page(t)), "\n")
	for _, row := range got {
		require.Contains(t, onPage, row)
	}
}
