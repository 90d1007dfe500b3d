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
	"github.com/gridslot/gridslot/policy/window"
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
	return predictedOn(t, plan.NewCluster(2))
}

func predictedOn(t *testing.T, p entity.Plan) (file string, jobs []*entity.Job) {
	for i, times := range [][3]des.Time{{0, 40, 100}, {1, 2, 20}, {2, 3, 30}} {
		jobs = append(jobs, &entity.Job{
			ID: int64(i + 1), Submit: times[0] * des.Second, Runtime: times[1] * des.Second,
			Request: entity.Request{Nodes: 2, Length: times[2] * des.Second},
		})
	}
	var out bytes.Buffer
	w, v := metrics.NewJobsWriter(&out), &validate.Validator{Promises: validate.Promises{First: true}}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, p, backfill.Conservative{}, w, v)
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

func TestNoFieldOfAFileMakesTheCheckPanic(t *testing.T) {
	nodes := []entity.Node{{ID: 0, Perf: 1, Price: 1}, {ID: 1, Perf: 1, Price: 1}}
	domain, err := plan.NewDomain([]*entity.Node{&nodes[0], &nodes[1]}, window.AMP{})
	require.NoError(t, err)
	file, jobs := predictedOn(t, domain)
	for name, rules := range map[string]validate.Rules{
		"nodes":      {Nodes: nodes},
		"processors": {Promises: validate.Promises{First: true, Head: true, Order: true}, Processors: 2},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := validate.Jobs(strings.NewReader(file), slices.Values(jobs), rules)
			require.NoError(t, err)
			if name == "nodes" {
				require.NoError(t, report.Err())
			}
			lines := strings.Split(strings.TrimSpace(file), "\n")
			columns := strings.Split(lines[0], ",")
			for row := 1; row < len(lines); row++ {
				for at := range columns {
					for _, value := range []string{"", "0", "-1", "0.000001", "9223372036854", "-9223372036854", "1e3", "0-2147483647"} {
						fields := strings.Split(lines[row], ",")
						fields[at] = value
						bent := slices.Clone(lines)
						bent[row] = strings.Join(fields, ",")
						check := func() {
							_, _ = validate.Jobs(strings.NewReader(strings.Join(bent, "\n")), slices.Values(jobs), rules)
						}
						require.NotPanics(t, check, "%s of line %d is %q", columns[at], row+1, value)
					}
				}
			}
		})
	}
}

func TestTimesAreReadToTheTickAsTheyWereWritten(t *testing.T) {
	late := 9_000_000_000_000*des.Second + des.Tick // a float rounds it to 2 ms
	jobs := []*entity.Job{{ID: 1, Submit: late, Runtime: 5*des.Second + des.Tick, Request: entity.Request{Nodes: 2, Length: 7 * des.Second}}}
	var out bytes.Buffer
	w := metrics.NewJobsWriter(&out)
	sim := des.New(des.Config{})
	entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.EASY{}, w).SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	report, err := validate.Jobs(&out, slices.Values(jobs), validate.Rules{Promises: validate.Promises{Head: true}, Processors: 2})
	require.NoError(t, err)
	require.NoError(t, report.Err())
}

func TestAPredictionOfNothingIsAViolationOnNodesToo(t *testing.T) {
	nodes := []entity.Node{{ID: 0, Perf: 1, Price: 1}, {ID: 1, Perf: 1, Price: 1}}
	domain, err := plan.NewDomain([]*entity.Node{&nodes[0], &nodes[1]}, window.AMP{})
	require.NoError(t, err)
	file, jobs := predictedOn(t, domain)
	for _, c := range [][3]string{
		{",10,1,100\n", ",0,1,100\n", "predicted were 0, and in the end 100"},
		{",2,0,2\n", ",2,0,0\n", "predicted were 2, and in the end 0"},
		{",2,0,2\n", ",2,0,-2\n", "predicted were 2, and in the end -2"},
		{",2,0,2\n", ",,0,2\n", "are given together or not at all"},
		{",2,0,2\n", ",2,,2\n", "are given together or not at all"},
	} {
		bent := strings.Replace(file, c[0], c[1], 1)
		require.NotEqual(t, file, bent, file)
		report, err := validate.Jobs(strings.NewReader(bent), slices.Values(jobs), validate.Rules{Nodes: nodes})
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(report), c[2])
	}
}
