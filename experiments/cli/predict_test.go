package cli

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// byJob are the rows of a CSV file by the job of their first column.
func byJob(t *testing.T, from io.Reader) map[string]map[string]string {
	t.Helper()
	rows, err := csv.NewReader(from).ReadAll()
	require.NoError(t, err)
	all := map[string]map[string]string{}
	for _, row := range rows[1:] {
		all[row[0]] = map[string]string{}
		for i, name := range rows[0] {
			all[row[0]][name] = row[i]
		}
	}
	return all
}

func TestTheCommandHasEasyPlusPlusAsItIsPublished(t *testing.T) {
	reference, traces := os.Getenv("GRIDSLOT_REFERENCE"), os.Getenv("GRIDSLOT_TRACES")
	if reference == "" || traces == "" {
		t.Skip("GRIDSLOT_REFERENCE and GRIDSLOT_TRACES are not set: no published schedules at hand")
	}
	files, err := filepath.Glob(filepath.Join(reference, "field", "*.easypp.csv.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		log, dir := strings.TrimSuffix(filepath.Base(file), ".easypp.csv.gz"), t.TempDir()
		succeed(t, "simulate", filepath.Join(traces, log+".recon.swf.gz"), "--policy", "easy++", "--pass", "event", "--out", dir, "--allocation", "none")
		packed, err := os.Open(file)
		require.NoError(t, err)
		defer packed.Close()
		text, err := gzip.NewReader(packed)
		require.NoError(t, err)
		want := byJob(t, text)
		written, err := os.Open(filepath.Join(dir, "jobs-easy++.csv"))
		require.NoError(t, err)
		defer written.Close()
		jobs := byJob(t, written)
		require.Len(t, jobs, len(want))
		differ := 0
		for id, w := range want {
			underestimated, err := strconv.Atoi(w["under_predictions"]) // from 0 on; -1 is never
			require.NoError(t, err)
			j := jobs[id]
			if j["waiting_time"] != w["wait"] || j["prediction"] != w["initial_prediction"] || j["corrections"] != strconv.Itoa(underestimated+1) {
				differ++
			}
		}
		require.Zero(t, differ, "of %d jobs of %s", len(want), log)
	}
}

func TestPredictionsAreListsOfAStudy(t *testing.T) {
	study := write(t, "study.yaml", "traces: ['lublin:jobs=200:procs=32:load=0.8:exact=off']\nprocs: 32\npolicies: [easy-sjbf]\npredict: [request, 'recent:k=3:of=median', similar]\ncorrect: ['', doubling]\n")
	dir := filepath.Join(t.TempDir(), "out")
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	rows, err := csv.NewReader(strings.NewReader(read(t, dir, "results.csv"))).ReadAll()
	require.NoError(t, err)
	require.Subset(t, rows[0], []string{"predict", "correct", "prediction_error"})
	require.Len(t, rows[1:], 6)
	figures := map[string]bool{}
	for _, row := range rows[1:] {
		for i, name := range rows[0] {
			if name == "mean_wait" {
				figures[row[i]] = true
			}
		}
	}
	require.Len(t, figures, 5, "with requests there is nothing to correct")
}

func TestAPredictorOfOnesOwnIsOneOfTheCommands(t *testing.T) {
	help := extended("help", "predictors").stdout + extended("help", "correctors").stdout
	for _, want := range []string{"oracle", "as the leaves rustle", "shrug", "who knows", "recent", "tsafrir"} {
		require.Contains(t, help, want)
	}
	require.Contains(t, extended("__complete", "simulate", "--predict", "").stdout, "oracle\n")
	require.Contains(t, extended("__complete", "simulate", "--correct", "").stdout, "shrug\n")
	own := extended("simulate", "--policy", "easy", "--first", "500", "--predict", "oracle", "--format", "csv")
	require.Equal(t, exitOK, own.code, own.stderr)
	exact := call("simulate", "--policy", "easy", "--first", "500", "--predict", "true", "--format", "csv")
	waits := func(o outcome) string { return strings.Split(strings.Split(o.stdout, "\n")[1], ",")[5] }
	require.Equal(t, waits(exact), waits(own))
	wrong := extended("simulate", "--predict", "orakle")
	require.Equal(t, exitUsage, wrong.code)
	require.Contains(t, wrong.stderr, "oracle")
	require.Contains(t, wrong.stderr, "--predict")
}
