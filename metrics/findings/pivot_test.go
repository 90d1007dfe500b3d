package findings

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics/stats"
)

func written(t *testing.T, f *Findings, p Pivot, format string) string {
	grids, err := f.Grids(p)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, Write(&b, grids, format))
	return b.String()
}

func TestATableHasRowsColumnsAndSigns(t *testing.T) {
	f := analyze(t, grid(map[string]float64{"sjbf": -50}, 10), Options{})
	f.Cells[0].estimates[0].Interval = stats.Interval{Mean: 3987.65, HalfWidth: 12.34, N: 10}
	f.Cells[2].estimates[0].Interval = stats.Interval{Mean: 3900, HalfWidth: 0.123, N: 10}
	f.Cells[5].estimates[0] = Estimate{Interval: stats.Interval{Mean: 1234.5678, HalfWidth: math.Inf(1), N: 1}}
	lines := strings.Split(written(t, f, Pivot{}, "markdown"), "\n")
	require.Equal(t, "| policy | load 0.7 | load 0.9 |", lines[0])
	require.Equal(t, "| --- | ---: | ---: |", lines[1])
	require.Contains(t, lines[2], "| easy | 3988 ± 12 |")
	require.Contains(t, lines[3], `| sjbf | **3900.00 ± 0.12** \* |`)
	require.True(t, strings.HasSuffix(lines[4], "| 1235 |"), lines[4])
	require.Equal(t, `mean wait, s with 95% confidence intervals. \*: differs from policy=easy (paired t test, Holm's correction for 4 comparisons, 95%). Bold: significantly better than at least one other, and none is significantly better.`, lines[6])

	latex := written(t, f, Pivot{}, "latex")
	require.Contains(t, latex, "\\begin{tabular}{lrr}\n\\toprule\npolicy & load 0.7 & load 0.9 \\\\\n\\midrule\neasy & $3988 \\pm 12$ & ")
	require.Contains(t, latex, `sjbf & $\mathbf{3900.00 \pm 0.12}^{*}$ & `)
	require.Contains(t, latex, `95\% confidence intervals`)

	rows, err := csv.NewReader(strings.NewReader(written(t, f, Pivot{}, "csv"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"policy", "load 0.7", "load 0.7 ±", "load 0.9", "load 0.9 ±"}, rows[0])
	require.Equal(t, []string{"easy", "3987.65", "12.34"}, rows[1][:3])
	require.Equal(t, []string{"1234.5678", ""}, rows[3][3:])
}

func TestATableOfDifferencesLeavesTheBaselineOut(t *testing.T) {
	f := analyze(t, grid(map[string]float64{"sjbf": -50}, 10), Options{})
	lines := strings.Split(written(t, f, Pivot{Difference: true}, "markdown"), "\n")
	require.Len(t, lines, 4+3)
	require.Equal(t, "| policy | load 0.7 | load 0.9 |", lines[0])
	c := f.Comparisons[0]
	require.Equal(t, []string{"sjbf", "0.7"}, f.Cells[c.Cell].Params)
	mean, half := Number(Estimate{Interval: stats.Interval{Mean: 100 * c.Difference.Mean / c.BaselineMean, HalfWidth: 100 * c.Difference.HalfWidth / c.BaselineMean}})
	require.Contains(t, lines[2], "| sjbf | −"+mean[1:]+" ± "+half+` \* |`)
	require.Contains(t, written(t, f, Pivot{Difference: true}, "latex"), "$"+mean+` \pm `+half+"^{*}$")
	rows, err := csv.NewReader(strings.NewReader(written(t, f, Pivot{Difference: true}, "csv"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, decimal(100/math.Abs(c.BaselineMean)*c.Difference.Mean), rows[1][1])
}

func TestWhatIsNeitherRowNorColumnHasATableForEachValue(t *testing.T) {
	text := "policy,load,estimates,seed,mean_wait\n"
	value := 0
	for _, p := range []string{"easy", "fcfs"} {
		for _, l := range []string{"0.7", "0.9"} {
			for _, e := range []string{"user", "exact", "tsafrir"} {
				value++
				text += strings.Join([]string{p, l, e, "1", strconv.Itoa(value)}, ",") + "\n"
			}
		}
	}
	f := analyze(t, text, Options{})
	grids, err := f.Grids(Pivot{})
	require.NoError(t, err)
	require.Len(t, grids, 3)
	seen := map[int]bool{}
	for _, g := range grids {
		require.Len(t, g.where, 1)
		for r, row := range g.RowValues {
			for c, column := range g.ColumnValues {
				e := g.Entries[r][c]
				require.False(t, seen[e.Cell])
				seen[e.Cell] = true
				require.Equal(t, []string{row[0], column[0], g.where[0].Value}, f.Cells[e.Cell].Params)
				require.Len(t, f.Cells[e.Cell].runs, 1)
			}
		}
	}
	require.Len(t, seen, 12)

	for _, where := range [][]Param{{{"estimates", "exact"}}, {{"estimates", "exact"}, {"policy", "fcfs"}, {"policy", "easy"}}} {
		f = analyze(t, text, Options{Where: where})
		grids, err = f.Grids(Pivot{Rows: []string{"estimates", "policy"}, Columns: []string{"load"}})
		require.NoError(t, err)
		require.Len(t, grids, 1)
		require.Equal(t, [][]string{{"exact", "easy"}, {"exact", "fcfs"}}, grids[0].RowValues)
	}
	for _, where := range []Param{{"load", "2"}, {"queue", "long"}} {
		table, err := Read(strings.NewReader(text), "results.csv")
		require.NoError(t, err)
		_, err = Analyze(table, Options{Where: []Param{where}})
		require.ErrorContains(t, err, where.Name)
	}
}

func TestPeopleAreToldBaseNamesAndLabels(t *testing.T) {
	f := analyze(t, `trace,policy,load,seed,mean_wait
logs/KTH-2.1.swf.gz,easy,0.7,1,1
logs/CEA-2.1.swf.gz,recorded:file=a/b.csv,0.7,1,2
logs/KTH-2.1.swf.gz,recorded:file=a/b.csv,0.9,1,3
`, Options{Labels: map[string]string{"easy": "EASY"}})
	markdown := written(t, f, Pivot{}, "markdown")
	require.Contains(t, markdown, "trace KTH-2.1\n")
	require.NotContains(t, markdown, "logs/")
	require.Contains(t, markdown, "| EASY |")
	require.Contains(t, markdown, "| recorded:file=b.csv |")
	require.Contains(t, written(t, f, Pivot{}, "latex"), "\\label{tab:mean-wait-trace-kth-2.1}")
	require.Contains(t, written(t, f, Pivot{}, "csv"), "logs/KTH-2.1.swf.gz", "what programs read keeps its value")

	f = analyze(t, "trace,policy,seed,mean_wait\na/log.swf,easy,1,1\nb/log.swf,easy,1,2\nb/log.swf,fcfs,1,2\n", Options{})
	require.Contains(t, written(t, f, Pivot{Columns: []string{"trace"}}, "markdown"), "trace a/log.swf | trace b/log.swf")
	require.Equal(t, "lublin:load=0.7", f.Told("trace", "lublin:load=0.7"))
	require.Equal(t, "where=procs/2", f.Told("trace", "where=procs/2"))
}

func TestMissingCellsOfATableAreDashes(t *testing.T) {
	f := analyze(t, "policy,load,seed,mean_wait\na,1,1,5\na,2,1,6\nb,2,1,7\n", Options{})
	require.Contains(t, written(t, f, Pivot{}, "markdown"), "| b | – | 7.000 |")
	require.Contains(t, written(t, f, Pivot{}, "latex"), "b & -- & $7.000$")
}

func TestNamesInTablesAreNoMarkup(t *testing.T) {
	f := analyze(t, "policy,seed,mean_wait\n\"a|b_<i>\\\\$x^2$ &%#\x1b[31m\",1,5\n*b*,1,7\n\"\"\"q\"\"\",1,3\n", Options{})
	markdown := written(t, f, Pivot{}, "markdown")
	require.Contains(t, markdown, `| a\|b\_\<i\>\\\\\$x^2\$ \&%\#?\[31m |`)
	require.Contains(t, markdown, `| \*b\* |`)
	latex := written(t, f, Pivot{}, "latex")
	require.Contains(t, latex, `\symbol{34}q\symbol{34} & $3.000$`)
	require.Contains(t, latex, `a\textbar{}b\_\textless{}i\textgreater{}\textbackslash{}\textbackslash{}\$x\textasciicircum{}2\$ \&\%\#?[31m & $5.000$`)
}

func TestTablesOfWhatIsNotThereAreRefused(t *testing.T) {
	f := analyze(t, grid(nil, 3), Options{})
	for want, p := range map[string]Pivot{
		"measure":   {Measure: "x"},
		"parameter": {Rows: []string{"x"}},
		"at once":   {Rows: []string{"load"}, Columns: []string{"load"}},
	} {
		_, err := f.Grids(p)
		require.ErrorContains(t, err, want)
	}
	require.Error(t, Write(&strings.Builder{}, nil, "word"))
}

func TestNumbersHaveTheDigitsThatTheIntervalLeaves(t *testing.T) {
	for _, c := range []struct {
		mean, half         float64
		wantMean, wantHalf string
	}{
		{12345.678, 678.9, "12346", "679"},
		{12345.678, 6.789, "12345.7", "6.8"},
		{0.123456, 0.00123, "0.1235", "0.0012"},
		{0.123456, math.Inf(1), "0.1235", ""},
		{0, math.Inf(1), "0", ""},
		{5, 0, "5.000", "0"},
		{math.NaN(), math.Inf(1), "–", ""},
		{-3.14159, 0.05, "-3.142", "0.050"},
	} {
		mean, half := Number(Estimate{Interval: stats.Interval{Mean: c.mean, HalfWidth: c.half}})
		require.Equal(t, []string{c.wantMean, c.wantHalf}, []string{mean, half})
	}
}

func TestFindingsAreSavedARowACellAndMeasure(t *testing.T) {
	dir := t.TempDir()
	f := analyze(t, grid(map[string]float64{"sjbf": -50}, 10), Options{})
	require.NoError(t, f.Save(dir))
	read := func(name string) [][]string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		require.NoError(t, err)
		return rows
	}
	summary := read(summaryName)
	require.Equal(t, "policy,load,measure,mean,low,high,half_width,n,by,joined,note", strings.Join(summary[0], ","))
	require.Len(t, summary, 1+6*2)
	comparisons := read(comparisonsName)
	require.Len(t, comparisons, 1+4*2)
	require.Equal(t, []string{"sjbf", "0.7", "policy=easy", "mean_wait"}, comparisons[1][:4])
	require.Equal(t, "better", comparisons[1][len(comparisons[1])-2])
	require.Len(t, read(rankingsName), 1+6*2)
	first, err := os.ReadFile(filepath.Join(dir, comparisonsName))
	require.NoError(t, err)
	require.NoError(t, analyze(t, grid(map[string]float64{"sjbf": -50}, 10), Options{}).Save(dir))
	again, err := os.ReadFile(filepath.Join(dir, comparisonsName))
	require.NoError(t, err)
	require.Equal(t, first, again)
}
