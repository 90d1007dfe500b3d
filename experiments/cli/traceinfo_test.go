package cli

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTraceInfoIsAPageOfFacts(t *testing.T) {
	got := succeed(t, "trace", "info")
	for _, want := range []string{
		"runtime/estimate  mean 0.157\n\n5000 lines, 5000 jobs\n",
		"runtime, s                  5000  3962 ",
		"24.0% of one processor, of the others 84.8% powers of two",
		"64800 s 21.7%, 1800 s 10.3%",
		"3038 jobs (60.8%) come after another",
		"hour, UTC  12 ",
		"offered load by week  0.76  0.75  0.67  0.54\n",
		"nothing odd was found\n",
	} {
		require.Contains(t, got.stdout, want)
	}
	require.NotContains(t, call("trace", "info", write(t, "a.swf", "; MaxProcs: 10\n")).stdout, "median", "a log without jobs has no facts")
	require.Contains(t, call("trace", "info", write(t, "b.swf", smallTrace)).stdout, "hour from time 0, modulo 24")
}

// What stood first in JSON stands first, and the lines add up.
func TestFactsAsJSONComeBehindWhatStood(t *testing.T) {
	lines := swf("0 100 5 100", "10 100 12 100", "20 -1 3 100", "30 50 2 -1") + "not a job\n"
	out := call("trace", "info", write(t, "a.swf", lines), "--format=json").stdout
	require.Less(t, strings.Index(out, `"mean_runtime_to_estimate"`), strings.Index(out, `"sizes"`))
	var info struct {
		Lines, Jobs int64
		Sizes       struct {
			N   int64
			Max float64
		}
		Estimates struct {
			Missing int64
			Deciles []float64 `json:"accuracy_deciles"`
		}
		LeftOut  map[string]int64 `json:"left_out"`
		Damaged  map[string]int64
		Oddities []struct {
			Kind  string
			Count int64
			Text  string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &info))
	require.EqualValues(t, 5, info.Lines)
	require.EqualValues(t, 3, info.Jobs)
	require.Equal(t, map[string]int64{"no-runtime": 1}, info.LeftOut)
	require.Equal(t, map[string]int64{"not-a-number": 1}, info.Damaged)
	require.Equal(t, 12.0, info.Sizes.Max)
	require.EqualValues(t, 1, info.Estimates.Missing)
	require.Len(t, info.Estimates.Deciles, 10)
	require.Equal(t, 1.0, info.Estimates.Deciles[9])
	require.Len(t, info.Oddities, 1)
	require.Equal(t, "beyond-machine", info.Oddities[0].Kind)
}

func TestTraceCompareTellsHowFarLogsAreApart(t *testing.T) {
	a := write(t, "a.swf", swf("0 100 1 100", "10 100 2 200", "20 100 2 400", "30 100 4 800"))
	b := write(t, "b.swf", swf("0 200 1 400", "40 200 2 400", "80 200 8 400"))
	got := succeed(t, "trace", "info", a, b)
	require.Contains(t, got.stdout, "4 of 4 lines")
	require.Contains(t, got.stdout, "3 of 3 lines")

	rows, err := csv.NewReader(strings.NewReader(call("trace", "info", a, b, "--format=csv").stdout)).ReadAll()
	require.NoError(t, err)
	distances := map[string][2]float64{}
	for _, row := range rows[1:] {
		ks, err := strconv.ParseFloat(row[10], 64)
		require.NoError(t, err)
		w1, err := strconv.ParseFloat(row[11], 64)
		require.NoError(t, err)
		distances[row[0]] = [2]float64{ks, w1}
	}
	require.Equal(t, [2]float64{1, 100}, distances["runtime"])
	require.Equal(t, [2]float64{1, 30}, distances["gap"])
	require.InDelta(t, 1.0/3, distances["size"][0], 1e-12) // from 4 on
	require.InDelta(t, (1.0/3-1.0/4)+2*(3.0/4-2.0/3)+4*(1.0/3), distances["size"][1], 1e-12)
	require.NotContains(t, distances, "wait", "neither tells it")

	var c struct {
		A, B struct {
			Jobs        int64
			Correlation struct{ Values, Logarithms *float64 } `json:"size_runtime_correlation"`
		}
		Distances []struct {
			Quantity, Unit    string
			KolmogorovSmirnov float64 `json:"kolmogorov_smirnov"`
			Relative          float64 `json:"wasserstein_by_mean"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(call("trace", "info", a, b, "--format=json").stdout), &c))
	require.EqualValues(t, 3, c.B.Jobs)
	require.Nil(t, c.A.Correlation.Values, "all runtimes are alike")
	require.Equal(t, "runtime", c.Distances[1].Quantity)
	require.InDelta(t, 0.5, c.Distances[1].Relative, 1e-12)

	require.Equal(t, exitUsage, call("trace", "info", a, a, a).code)
	require.Equal(t, exitUsage, call("trace", "info", "-", "-").code)
	require.Equal(t, exitFailed, call("trace", "info", a, filepath.Join(t.TempDir(), "none.swf")).code)
}

// A model is nearer to another draw of itself than to another model.
func TestAModelIsNearestToItself(t *testing.T) {
	distance := func(a, b string) float64 {
		got := succeed(t, "trace", "info", a, b, "--format=csv")
		rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
		require.NoError(t, err)
		sum := 0.0
		for _, row := range rows[1:4] { // size, runtime, gap
			ks, err := strconv.ParseFloat(row[10], 64)
			require.NoError(t, err)
			sum += ks
		}
		return sum
	}
	dir := t.TempDir()
	draw := func(model, seed string) string {
		path := filepath.Join(dir, model+seed+".swf")
		got := drawn(model, "--jobs=2000", "--procs=128", "--load=0.7", "--seed="+seed, "--out", path)
		require.Equal(t, exitOK, got.code, got.stderr)
		return path
	}
	itself, other := distance(draw("lublin", "1"), draw("lublin", "2")), distance(draw("lublin", "1"), draw("downey", "1"))
	require.Less(t, itself, 0.3)
	require.Greater(t, other, math.Max(0.6, 2*itself))
}

func TestFiguresOfALogAreDrawn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "drawn")
	got := succeed(t, "trace", "info", "--figures", dir)
	require.Equal(t, call("trace", "info").stdout, got.stdout)
	require.Equal(t, []string{"accuracy.svg", "arrivals.svg", "load-by-week.svg", "sizes-and-runtimes.svg"}, files(t, dir))
	require.Contains(t, got.stderr, "written: "+filepath.Join(dir, "arrivals.svg"))
	got = exits(t, exitFailed, "trace", "info", write(t, "a.swf", "; MaxProcs: 10\n"), "--figures", filepath.Join(t.TempDir(), "none"))
	require.Contains(t, got.stderr, "a.swf: there are no jobs to draw figures of")
}

func TestColumnsAndNamesOfOtherFormatsAreOnThePage(t *testing.T) {
	path := write(t, "s.csv", `JobID|User|QOS|State|Submit|Start|End|NCPUS|Timelimit|ReqTRES
1|anna|high|COMPLETED|2024-01-04T10:00:00|2024-01-04T10:00:05|2024-01-04T10:10:00|4|01:00:00|cpu=4,gres/gpu=2
2|ben|low|COMPLETED|2024-01-04T10:01:00|2024-01-04T10:01:05|2024-01-04T10:10:00|8|01:00:00|cpu=8,gres/gpu=4
3|anna|high|COMPLETED|2024-01-04T10:02:00|2024-01-04T10:02:05|2024-01-04T10:10:00|4|01:00:00|cpu=4
`)
	got := succeed(t, "trace", "info", path)
	require.Contains(t, got.stdout, "number 1 (anna) has 66.7% of the jobs")
	require.Regexp(t, `\nqos +2 in 3 jobs: high 66.7%, low 33.3%\n`, got.stdout)
	require.Regexp(t, `\ngpus +2 +3 +1.414 `, got.stdout)
	require.Contains(t, got.stdout, "hour, UTC", "the clock is that of the log")
}

// Names of files and words of headers are those of anybody: what a terminal would obey is not
// printed, by none of the commands that tell people of a log.
func TestNothingFromALogReachesTheTerminalAsAnOrder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no file can be called so there")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	const orders = "\x1b[31m\a\u009b\u202e"
	text := "; Computer: " + orders + "\n" + swf("0 100 1 100", "10 100 2 200", "20 100 x 400", "-5 10 1 10")
	name := "a" + orders + ".swf"
	require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	for _, args := range [][]string{
		{"trace", "info", name}, {"trace", "info", name, name}, {"trace", "info", name, "--check"}, {"trace", "info", name, "--users"},
		{"trace", "convert", name, "b" + orders + ".gwf"}, {"trace", "convert", name, "parts" + orders, "--by", "week"},
		{"simulate", name, "--policy", "easy", "--out", "out" + orders}, {"validate", filepath.Join("out"+orders, "jobs-easy.csv"), name},
		{"report", "out" + orders}, {"explain", "out" + orders}, {"trace", "info", name + "x"},
	} {
		got := call(args...)
		require.NotEqual(t, exitUsage, got.code, "%q: %q", args, got.stderr)
		require.False(t, strings.ContainsAny(got.stdout+got.stderr, orders[:1]+"\a\u009b\u202e"), "%q: %q", args, got.stdout+got.stderr)
	}
}
