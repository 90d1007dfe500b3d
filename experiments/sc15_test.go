package experiments_test

// Predictions with correction against the published slowdowns of Gaussier, Glesser, Reis
// and Trystram, "Improving backfilling by using machine learning to predict running times"
// (SC 2015). Their jobs one by one are compared in experiments/cli/predict_test.go.

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// simulateTrace runs a policy, predictions and corrections by their names.
func simulateTrace(t *testing.T, trace *workload.Trace, spec, predict, correct string) simulation.Result {
	t.Helper()
	jobs, err := trace.Open()
	require.NoError(t, err)
	defer jobs.Close()
	chosen, err := policy.Registry().Parse(spec)
	require.NoError(t, err)
	s := simulation.RunSettings{Policy: chosen.Value, Processors: trace.MaxProcs, Pass: entity.PassEvent}
	if predict != "" {
		p, err := policy.Predictors().Parse(predict)
		require.NoError(t, err)
		s.Predictor = p.Value
	}
	if correct != "" {
		c, err := policy.Correctors().Parse(correct)
		require.NoError(t, err)
		s.Corrector = c.Value
	}
	result, err := simulation.Simulate(t.Context(), jobs, s)
	require.NoError(t, err)
	return result
}

// sc15 is how the artifact's names of schedulers, predictors and correctors are said
// here. Its EASY in order of submission has jobs tried at a submission only if the new
// job fits.
var sc15 = struct{ scheduler, predictor, corrector map[string]string }{
	map[string]string{
		"easy_backfill_scheduler":            "easy:arrivals=fitting",
		"easy_prediction_backfill_scheduler": "easy:arrivals=fitting",
		"easy_sjbf_scheduler":                "easy-sjbf",
		"easy_plus_plus_scheduler":           "easy-sjbf",
	},
	map[string]string{
		"NA": "", "predictor_clairvoyant": "true", "predictor_reqtime": "request", "predictor_double_reqtime": "request:factor=2", "predictor_tsafrir": "recent:k=2",
	},
	map[string]string{"NA": "", "throw_an_error": "", "reqtime": "request", "tsafrir": "tsafrir", "recursive_doubling": "doubling"},
}

func TestSlowdownsWithPredictionsArePublishedOnes(t *testing.T) {
	reference, traces := dataDir(t, "GRIDSLOT_REFERENCE"), dataDir(t, "GRIDSLOT_TRACES")
	files, err := filepath.Glob(filepath.Join(reference, "field", "sc15-nolearn-*.txt.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		log := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "sc15-nolearn-"), ".txt.gz")
		found, err := filepath.Glob(filepath.Join(traces, "*"+log+"*.recon.swf.gz"))
		require.NoError(t, err)
		require.Len(t, found, 1, log)
		rows := publishedRows(t, file)
		require.NotEmpty(t, rows)
		for _, row := range rows {
			spec, known := sc15.scheduler[row["scheduler"]]
			require.True(t, known, row["scheduler"])
			predict, known := sc15.predictor[row["predictor"]]
			require.True(t, known, row["predictor"])
			correct, known := sc15.corrector[row["corrector"]]
			require.True(t, known, row["corrector"])
			t.Run(strings.Join([]string{log, row["scheduler"], row["predictor"], row["corrector"]}, "/"), func(t *testing.T) {
				t.Parallel()
				trace, err := workload.OpenSWF(found[0])
				require.NoError(t, err)
				want, err := strconv.ParseFloat(row["avgbsld"], 64)
				require.NoError(t, err)
				require.InEpsilon(t, want, simulateTrace(t, trace, spec, predict, correct).Summary.MeanBoundedSlowdown, 1e-12)
			})
		}
	}
}

// publishedRows are the rows of a table with the names of its columns in front, and a
// number at the beginning of each row below.
func publishedRows(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	text, err := workload.Decompress(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(text)
	var names []string
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case names == nil:
			names = append([]string{""}, fields...)
		default:
			require.Len(t, fields, len(names), lines.Text())
			row := map[string]string{}
			for i, name := range names {
				row[name] = fields[i]
			}
			rows = append(rows, row)
		}
	}
	require.NoError(t, lines.Err())
	return rows
}
