package cli

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/rows"
)

// twoAndOne are a user's jobs of 10, 10 and 30 seconds that ask for a minute each. The
// third is thought to take ten, and is corrected once.
const twoAndOne = "; MaxProcs: 2\n1 0 -1 10 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1\n2 0 -1 10 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1\n3 20 -1 30 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1\n"

func TestTheSummaryTellsHowGoodPredictionsWere(t *testing.T) {
	trace, out := write(t, "a.swf", twoAndOne), t.TempDir()
	got := succeed(t, "simulate", trace, "--policy", "easy,easy++", "--out", out)
	_, predictions, told := strings.Cut(got.stdout, "\n\n")
	require.True(t, told)
	require.Equal(t, []string{"predictions", "mean", "error", "accuracy", "%", "too", "short", "%", "corrections", "a", "job", "easy++", "40.0s", "22.2", "33.3", "0.33"}, strings.Fields(predictions))
	lines := table(t, out, "summary.csv")
	require.Equal(t, "", lines[0]["prediction_error"])
	require.Equal(t, "40", lines[1]["prediction_error"], "of 50, 50 and 20 s")
	require.Equal(t, "0.3333333333333333", lines[1]["under_predicted"])
	require.Equal(t, "0.3333333333333333", lines[1]["corrections_per_job"])
	header, _, _ := strings.Cut(read(t, out, "summary.csv"), "\n")
	require.True(t, strings.HasSuffix(header, ",waiting,offered_load,prediction_error,prediction_accuracy,under_predicted,corrections_per_job"), header)
	require.True(t, strings.HasPrefix(read(t, out, "accuracy-easy++.csv"), rows.Accuracies.Header()+"\nall,,3,3,40.000000,"))
	require.NotContains(t, files(t, out), "accuracy-easy.csv")

	got = succeed(t, "simulate", trace, "--policy", "easy++", "--format", "json")
	var objects []map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &objects))
	require.Equal(t, 40.0, objects[0]["prediction_error"])
}

func TestATickIsNoErrorToSpeakOf(t *testing.T) {
	trace := write(t, "a.swf", "; MaxProcs: 2\n1 0 -1 0 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\n")
	got := succeed(t, "simulate", trace, "--policy", "easy", "--predict", "true")
	require.Regexp(t, `easy +0\.0s `, got.stdout)
	require.NotContains(t, got.stdout, "ms")
}

func TestWithoutPredictionsNothingIsToldOfThem(t *testing.T) {
	trace, out := write(t, "a.swf", twoAndOne), t.TempDir()
	require.Zero(t, call("simulate", trace, "--policy", "easy", "--predict", "recent", "--out", out).code)
	require.Contains(t, files(t, out), "accuracy-easy.csv")
	got := succeed(t, "simulate", trace, "--policy", "easy", "--out", out)
	require.NotContains(t, got.stdout, "predictions")
	require.Equal(t, []string{"jobs-easy.csv", "manifest.json", "queue-easy.csv", "summary.csv"}, files(t, out), "what told of predictions is gone")
	for _, name := range files(t, out) {
		require.NotContains(t, read(t, out, name), "prediction", name)
	}
}

func TestADomainHasMoneyAndThenPredictions(t *testing.T) {
	domain := domainOf(t, "generate: {count: 12}\ncycle: 600\n")
	got := succeed(t, "simulate", write(t, "a.swf", twoAndOne), "--domain", domain, "--policy", "easy", "--predict", "recent", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"cost", "refund", "income", "prediction_error", "prediction_accuracy", "under_predicted", "corrections_per_job"}, rows[0][len(rows[0])-7:])
	require.NotContains(t, rows[1][len(rows[1])-4:], "")
}

func TestStudiesHaveTheColumnsOfPredictions(t *testing.T) {
	require.Subset(t, simulation.SummaryColumns(), []string{"prediction_error", "prediction_accuracy", "under_predicted", "corrections_per_job"})
	trace, out := write(t, "a.swf", twoAndOne), t.TempDir()+"/study"
	study := write(t, "s.yaml", "traces: ["+trace+"]\npolicies: [easy, easy++]\n")
	got := swept(t, study, "--workers", "1", "--out", out)
	require.Zero(t, got.code, got.stderr)
	rows := table(t, out, "results.csv")
	require.Equal(t, []string{"", "40"}, []string{rows[0]["prediction_error"], rows[1]["prediction_error"]})
}
