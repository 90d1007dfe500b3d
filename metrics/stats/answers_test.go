package stats

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// table reads a file of testdata without its heading.
func table(t *testing.T, text []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

func fileOf(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return table(t, text)
}

// number reads R's numbers.
func number(t *testing.T, text string) float64 {
	t.Helper()
	if text == "NA" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return v
}

func TestOurAnswersAreThoseOfR(t *testing.T) {
	ours := map[string]float64{}
	comparisons(t, ours)
	corrections(ours)
	series(t, ours)
	sensitivities(t, ours)
	for _, row := range fileOf(t, "answers.csv") {
		want := number(t, row[1])
		got, ok := ours[row[0]]
		require.True(t, ok, "%s is not compared", row[0])
		delete(ours, row[0])
		switch {
		case math.IsNaN(want):
			require.True(t, math.IsNaN(got), row[0])
		case math.IsInf(want, 0):
			require.Equal(t, want, got, row[0])
		default:
			require.InDelta(t, want, got, 1e-8*math.Abs(want), row[0])
		}
	}
	require.Empty(t, ours, "R has not said")
}

func comparisons(t *testing.T, ours map[string]float64) {
	x, y := map[string][]float64{}, map[string][]float64{}
	for _, row := range fileOf(t, "pairs.csv") {
		x[row[0]] = append(x[row[0]], number(t, row[1]))
		y[row[0]] = append(y[row[0]], number(t, row[2]))
	}
	for set := range x {
		tell := func(what string, v float64) { ours[set+" "+what] = v }
		c, err := Compare(x[set], y[set], 0.95)
		require.NoError(t, err)
		tell("mean", c.Difference.Mean)
		tell("low", c.Difference.Mean-c.Difference.HalfWidth)
		tell("high", c.Difference.Mean+c.Difference.HalfWidth)
		tell("t", c.T.Statistic)
		tell("p of t", c.T.P)
		tell("d", c.CohensD)
		tell("signed ranks", c.Wilcoxon.Statistic)
		tell("p of signed ranks", c.Wilcoxon.P)
		tell("rank-biserial", c.RankBiserial)
		r, err := Ratio(x[set], y[set], 0.95)
		require.NoError(t, err)
		tell("ratio", r.Value)
		tell("ratio low", r.Low)
		tell("ratio high", r.High)
	}
}

func corrections(ours map[string]float64) {
	p := []float64{0.01, 0.04, math.NaN(), 0.03, 0.005, 0.6, 0.03}
	for i, v := range Holm(p) {
		ours[fmt.Sprint("holm ", i+1)] = v
	}
}

func series(t *testing.T, ours map[string]float64) {
	var values []float64
	for _, row := range fileOf(t, "series.csv") {
		values = append(values, number(t, row[0]))
	}
	n, err := MSER5(values)
	require.NoError(t, err)
	ours["MSER-5"] = float64(n)
	steady := values[n:]
	for _, n := range []int{10, 20} {
		b := BatchMeans(steady, n, 0.95)
		ours["steady mean"] = b.Mean
		ours[fmt.Sprint(n, " batches: half width")] = b.HalfWidth
		ours[fmt.Sprint(n, " batches: lag 1")] = b.lag1
		ours[fmt.Sprint(n, " batches: p")] = b.dependence.P
	}
}

// columns are those of a file, of which the last is the result.
func columns(t *testing.T, name string, names ...string) (factors []Factor, y []float64) {
	for _, name := range names {
		factors = append(factors, Factor{Name: name})
	}
	for _, row := range fileOf(t, name) {
		for i := range factors {
			factors[i].Levels = append(factors[i].Levels, row[i])
		}
		y = append(y, number(t, row[len(row)-1]))
	}
	return factors, y
}

func sensitivities(t *testing.T, ours map[string]float64) {
	factors, y := columns(t, "grid.csv", "policy", "load", "model", "seed")
	for name, seeds := range map[string][]string{"plain": nil, "blocks": factors[3].Levels} {
		effects, err := Effects(factors[:3], seeds, y)
		require.NoError(t, err)
		for _, e := range effects {
			what := name + " Residuals"
			if len(e.Factors) > 0 {
				what = name + " " + strings.Join(e.Factors, ":")
			}
			ours[what+" degrees"] = float64(e.Degrees)
			ours[what+" share"] = e.Share
			ours[what+" F"] = e.Test.Statistic
			ours[what+" p"] = e.Test.P
		}
	}
	factors, y = columns(t, "sample.csv", "load", "policy", "depth", "noise")
	influences, r2, err := RankRegression(factors, y)
	require.NoError(t, err)
	ours["R2"] = r2
	for _, in := range influences {
		if in.Name == "policy" {
			ours["policy alone"] = in.Alone
		} else {
			ours[in.Name+" correlation"] = in.Correlation
			ours[in.Name+" coefficient"] = in.Coefficient
		}
		ours[in.Name+" p"] = in.Test.P
		ours[in.Name+" unique"] = in.Unique
	}
}

// What the file says is what R says.
func TestRStillAnswersTheSame(t *testing.T) {
	if _, err := exec.LookPath("Rscript"); err != nil {
		t.Skip("there is no Rscript")
	}
	r := exec.Command("Rscript", "answers.R")
	r.Dir = "testdata"
	out, err := r.Output()
	require.NoError(t, err)
	kept, fresh := fileOf(t, "answers.csv"), table(t, out)
	require.Len(t, fresh, len(kept))
	for i := range kept {
		require.Equal(t, kept[i][0], fresh[i][0])
		if want := number(t, kept[i][1]); !math.IsNaN(want) && !math.IsInf(want, 0) {
			require.InDelta(t, want, number(t, fresh[i][1]), 1e-9*max(1, math.Abs(want)), kept[i][0])
		}
	}
}
