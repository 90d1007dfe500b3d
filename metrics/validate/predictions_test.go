package validate_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
)

// tenth predicts a tenth of the request.
type tenth struct{}

func (tenth) Name() string                              { return "tenth" }
func (tenth) Predict(j entity.Known) des.Time           { return j.Request() / 10 }
func (tenth) Observe(entity.JobEventKind, entity.Known) {}

// predictedFile is the file of a run on two processors in which job 1 outlives its
// prediction, 10, and job 2, expected at 10, starts at 40. Job 3 is expected at 50, or 42,
// and starts then.
func predictedFile(t *testing.T) (file string, jobs []*entity.Job) {
	for i, times := range [][3]des.Time{{0, 40, 100}, {1, 2, 20}, {2, 3, 30}} {
		jobs = append(jobs, &entity.Job{
			ID: int64(i + 1), Submit: times[0] * des.Second, Runtime: times[1] * des.Second,
			Request: entity.Request{Nodes: 2, Length: times[2] * des.Second},
		})
	}
	var out bytes.Buffer
	w, v := metrics.NewJobsWriter(&out), &validate.Validator{Promises: validate.Promises{First: true}}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.Conservative{}, w, v)
	meta.Predictor = tenth{}
	meta.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, v.Report(true).Err())
	require.NoError(t, w.Close())
	return out.String(), jobs
}

func TestOfAFileWithPredictionsPromisesBindUnlessAJobIsCorrected(t *testing.T) {
	file, jobs := predictedFile(t)
	require.Contains(t, file, "expected=10,")
	for name, c := range map[string]struct{ old, new, found string }{
		"as it was":               {"", "", ""},
		"nobody is corrected":     {",10,1,100\n", ",10,0,100\n", "not started by 10"},
		"not corrected, and late": {",10,1,100\n", ",10,0,10\n", "past its prediction 10, and was not corrected"},
		"corrected too little":    {",10,1,100\n", ",10,1,30\n", "past its last prediction 30"},
		"nothing predicted":       {",10,1,100\n", ",0,1,100\n", "predicted were 0"},
		"a runtime that is cut":   {"40,40,0,40,1,0-1", "40,10,0,10,1,0-1", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			bent := strings.Replace(file, c.old, c.new, 1)
			if c.old != "" {
				require.NotEqual(t, file, bent, file)
			}
			report, err := validate.Jobs(strings.NewReader(bent), slices.Values(jobs), validate.Rules{Promises: validate.Promises{First: true}, Processors: 2})
			if c.found == "" {
				require.NoError(t, err)
				require.NoError(t, report.Err())
				return
			}
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(report), c.found)
		})
	}
}
