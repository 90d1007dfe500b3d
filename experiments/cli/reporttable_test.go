package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// handmade are the results of a study as a table: two policies at two loads, six seeds.
func handmade() string {
	text := "policy,load,seed,mean_wait\n"
	for _, policy := range []string{"easy", "easy-sjbf"} {
		for _, load := range []int{7, 9} {
			for seed := range 6 {
				wait := 100*load + 10*seed
				if policy == "easy-sjbf" {
					wait -= 50 + seed%3
				}
				text += fmt.Sprintf("%s,0.%d,%d,%d\n", policy, load, seed, wait)
			}
		}
	}
	return text
}

func TestATableOfAnyResults(t *testing.T) {
	path := write(t, "mine.csv", handmade())
	got := succeed(t, "report", path, "--table", "markdown")
	require.Contains(t, got.stdout, "| policy | load 0.7 | load 0.9 |\n| --- | ---: | ---: |\n| easy | 725 ± 20 | 925 ± 20 |\n| easy-sjbf | **674 ± 19** \\* |")
	require.Contains(t, call("report", path, "--rows", "load").stderr, "--rows is about a table: say --table FORMAT, too")
	out := filepath.Join(t.TempDir(), "table.csv")
	require.Zero(t, call("report", path, "--table", "csv", "--columns", "load", "-o", out).code)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(text), "policy,load 0.7,load 0.7 ±,")
	got = call("report", path, "--table", "latex", "--difference", "--baseline", "policy=easy-sjbf", "--where", "load=0.9")
	require.Contains(t, got.stdout, "easy & $5.84 \\pm 0.11^{*}$ \\\\")

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{path, "--measure", "mean_weight"}, 2, `there is no column of numbers "mean_weight": there are mean_wait`},
		{[]string{path, "--rows", "estimates"}, 2, `parameter "estimates": want policy, load`},
		{[]string{path, "--baseline", "easy"}, 2, "want NAME=VALUE"},
		{[]string{path, "--level", "95"}, 1, "level: want a probability between 0 and 1"},
		{[]string{path, "--table", "word"}, 2, "markdown"},
		{[]string{t.TempDir()}, 1, "holds no results of a study"},
	} {
		got := call(append([]string{"report", "--table", "markdown"}, c.args...)...)
		require.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		require.Contains(t, got.stderr, c.want)
	}
}

func TestPlotAndReportTakeAStudysFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.csv"), []byte(handmade()), 0o666))
	plan := "index,key,seed,policy,load\n"
	for i, line := range strings.Split(strings.TrimSpace(handmade()), "\n")[1:] {
		f := strings.Split(line, ",")
		plan += fmt.Sprintf("%d,%032x,%s,%s,%s\n", i, i, f[2], f[0], f[1])
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.csv"), []byte(plan), 0o666))
	succeed(t, "plot", dir, "differences", "lines")
	require.Equal(t, []string{"differences-mean_wait.svg", "lines-mean_wait.svg"}, files(t, filepath.Join(dir, "figures")))
	require.Contains(t, call("plot", dir, "queue").stderr, "want lines, heat, differences, sensitivity")
	succeed(t, "report", dir)
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "Compared with policy=easy.")
}
