package metrics_test

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/gocarina/gocsv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/backfill"
)

// Jobs 1, 2 and 4 are thought to take 20, 20 and 5 seconds and take 32, 40 and 5; job 5 is
// killed when its prediction has been corrected once.
func TestPredictionsAreMeasuredAgainstRuntimes(t *testing.T) {
	a := &metrics.Accuracy{}
	halves(t, half{}, a)
	var file bytes.Buffer
	require.NoError(t, a.Write(&file))
	require.Equal(t, rows.Accuracies.Header()+`
all,,4,3,10.666667,-10.666667,0.708333,0.666667,2.000000,17.250000,2.077174
runtime,60,3,3,10.666667,-10.666667,0.708333,0.666667,2.333333,10.666667,1.900000
request,60,4,3,10.666667,-10.666667,0.708333,0.666667,2.000000,17.250000,2.077174
size,1,4,3,10.666667,-10.666667,0.708333,0.666667,2.000000,17.250000,2.077174
side,exact,1,1,0.000000,0.000000,1.000000,0.000000,0.000000,32.000000,3.700000
side,under,2,2,16.000000,-16.000000,0.562500,1.000000,3.500000,0.000000,1.000000
`, file.String())
	s := a.Summary()
	require.InDelta(t, 32.0/3, *s.PredictionError, 1e-12)
	require.InDelta(t, 2.125/3, *s.PredictionAccuracy, 1e-12)
	require.InDelta(t, 2.0/3, *s.UnderPredicted, 1e-12)
	require.InDelta(t, 2.0, *s.CorrectionsPerJob, 1e-12)
}

func TestWhereNothingIsPredictedNothingIsMeasured(t *testing.T) {
	a := &metrics.Accuracy{}
	halves(t, nil, a)
	require.Empty(t, a.Rows())
	require.Equal(t, rows.AccuracySummary{}, a.Summary())
}

// table predicts what a table says, and corrects by a minute.
type table struct {
	entity.Exact
	of map[int64]des.Time
}

func (t table) Predict(j entity.Known) des.Time { return t.of[j.ID()] }
func (table) Correct(j entity.Known) des.Time   { return j.Prediction() + des.Minute }

// The rows of jobs say the same of every class.
func TestClassesOfPredictionsAreThoseOfTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SampledFrom([]des.Time{1, 59, 60, 61, 600, 601, 1800, 1801, 3600, 14400, 14401, 43200, 43201, 86400, 86401, 200000})
		predictions := table{of: map[int64]des.Time{}}
		accuracy, out, rec := &metrics.Accuracy{}, &bytes.Buffer{}, metrics.NewRecorder()
		rows := metrics.NewJobsWriter(out)
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(16), backfill.EASY{}, accuracy, rows, rec)
		m.Predictor = predictions
		var runs []*entity.Run
		for id := range int64(rapid.IntRange(1, 12).Draw(t, "jobs")) {
			j := rigid(id, lengths.Draw(t, "runtime"), lengths.Draw(t, "request"), rapid.IntRange(1, 17).Draw(t, "size"))
			predictions.of[id] = min(lengths.Draw(t, "prediction")*des.Second, j.Request.Length)
			runs = append(runs, m.Submit(j))
		}
		sim.At(rapid.SampledFrom([]des.Time{1, 3600, 90000}).Draw(t, "kill at")*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			m.Kill(runs[0], "its user")
		}), 0)
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, rows.Close())
		jobs, err := gocsv.CSVToMaps(out)
		require.NoError(t, err)
		number := func(j map[string]string, column string) float64 {
			x, err := strconv.ParseFloat(j[column], 64)
			require.NoError(t, err)
			return x
		}
		above := func(of []float64, x float64) string {
			for _, most := range of {
				if x <= most {
					return strconv.FormatFloat(most, 'g', -1, 64)
				}
			}
			return "inf"
		}
		times, sizes := []float64{60, 600, 1800, 3600, 14400, 43200, 86400}, []float64{1, 2, 4, 8, 16}
		type sums struct{ jobs, measured, under, corrections, absolute, signed, accuracy, wait, slowdown float64 }
		want := map[[2]string]*sums{}
		ended := 0
		for _, j := range jobs {
			state := j["final_state"]
			if state == "REJECTED" {
				continue
			}
			ended++
			prediction, request := number(j, "prediction"), number(j, "requested_time")
			real := min(number(j, "actual_runtime"), request)
			classes := [][2]string{{"all", ""}, {"request", above(times, request)}, {"size", above(sizes, number(j, "requested_number_of_resources"))}}
			if state != "COMPLETED_KILLED" {
				side := map[bool]string{real > prediction: "under", real < prediction: "over", real == prediction: "exact"}[true]
				classes = append(classes, [2]string{"runtime", above(times, real)}, [2]string{"side", side})
			}
			for _, c := range classes {
				if want[c] == nil {
					want[c] = &sums{}
				}
				s := want[c]
				s.jobs++
				s.corrections += number(j, "corrections")
				s.wait += number(j, "waiting_time")
				s.slowdown += number(j, "bounded_slowdown")
				if state == "COMPLETED_KILLED" {
					continue
				}
				s.measured++
				s.signed += prediction - real
				s.absolute += math.Abs(prediction - real)
				s.accuracy += min(prediction/real, real/prediction)
				if prediction < real {
					s.under++
				}
			}
		}
		got := accuracy.Rows()
		require.Len(t, got, len(want))
		for _, r := range got {
			s := want[[2]string{r.By, r.Class}]
			require.NotNil(t, s, r)
			n := max(s.measured, 1)
			require.Equal(t, []int{int(s.jobs), int(s.measured)}, []int{r.Jobs, r.Measured}, r)
			require.InDeltaSlice(t, []float64{s.absolute / n, s.signed / n, s.accuracy / n, s.under / n, s.corrections / s.jobs, s.wait / s.jobs, s.slowdown / s.jobs},
				[]float64{r.MeanAbsoluteError, r.MeanError, r.MeanAccuracy, r.Under, r.CorrectionsPerJob, r.MeanWait, r.MeanBoundedSlowdown}, 1e-5, r)
		}
		if ended > 0 {
			require.InDelta(t, rec.Summary().MeanWait, got[0].MeanWait, 1e-6)
			require.InDelta(t, rec.Summary().MeanBoundedSlowdown, got[0].MeanBoundedSlowdown, 1e-9)
		}
	})
}
