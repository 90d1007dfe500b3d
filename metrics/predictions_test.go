package metrics_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gocarina/gocsv"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/backfill"
)

// half predicts half of what is asked for, and corrects by 5 s at a time.
type half struct{ entity.Exact }

func (half) Predict(j entity.Known) des.Time { return j.Request() / 2 }
func (half) Correct(j entity.Known) des.Time { return j.Prediction() + 5*des.Second }

// halves runs jobs that ask for 40, 40, 20, 10 and 40 seconds on two processors. The
// first runs on for 32, the second is cut off at 40, the third is one of those that
// want more than there is, the fourth takes what it was thought to take, and the last
// is killed when it has run for 23.
func halves(t *testing.T, predictor entity.Predictor, observers ...entity.Observer) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.EASY{}, observers...)
	m.Predictor = predictor
	for _, j := range []*entity.Job{rigid(1, 32, 40, 1), rigid(2, 60, 40, 1), rigid(3, 20, 20, 3), rigid(4, 5, 10, 1)} {
		m.Submit(j)
	}
	last := m.Submit(rigid(5, 40, 40, 1))
	sim.At(60*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		require.True(t, m.Kill(last, "its user"))
	}), 0)
	require.NoError(t, sim.Run(context.Background()))
}

func TestRowsTellOfPredictionsBesideWhatWasAskedFor(t *testing.T) {
	var out, events bytes.Buffer
	jobs, log := metrics.NewJobsWriter(&out), metrics.NewEventWriter(&events)
	halves(t, half{}, jobs, log)
	require.NoError(t, jobs.Close())
	require.NoError(t, log.Close())
	require.True(t, strings.HasPrefix(out.String(), rows.Jobs.Only(rows.WithPredictions).Header()+"\n"))
	var got [][]string
	rows, err := gocsv.CSVToMaps(&out)
	require.NoError(t, err)
	for _, r := range rows {
		require.Equal(t, r["requested_time"], r["estimate"])
		got = append(got, []string{r["estimate"], r["prediction"], r["corrections"], r["predicted"], r["final_state"]})
	}
	require.Equal(t, [][]string{
		{"40", "20", "3", "35", "COMPLETED_SUCCESSFULLY"},
		{"40", "20", "4", "40", "COMPLETED_WALLTIME_REACHED"},
		{"20", "", "", "", "REJECTED"},
		{"10", "5", "0", "5", "COMPLETED_SUCCESSFULLY"},
		{"40", "20", "1", "25", "COMPLETED_KILLED"},
	}, got)
	rows, err = gocsv.CSVToMaps(&events)
	require.NoError(t, err)
	asked := map[string]string{"1": "40", "2": "40", "3": "20", "4": "10", "5": "40"}
	for _, r := range rows {
		if r["event"] == "submitted" || r["event"] == "started" {
			require.Equal(t, asked[r["job_id"]], r["estimate"], r)
		}
	}
}

func TestWhereNothingIsPredictedRowsAreAsEver(t *testing.T) {
	var out bytes.Buffer
	jobs := metrics.NewJobsWriter(&out)
	halves(t, nil, jobs)
	require.NoError(t, jobs.Close())
	require.True(t, strings.HasPrefix(out.String(), rows.Jobs.Only().Header()+"\n"))
	require.NotContains(t, out.String(), "prediction")
}

func TestAdvanceReservationsHaveNoPredictions(t *testing.T) {
	var out bytes.Buffer
	jobs, accuracy := metrics.NewJobsWriter(&out), &metrics.Accuracy{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.EASY{}, jobs, accuracy)
	m.Predictor = half{}
	booked := rigid(2, 10, 10, 1)
	sim.At(0, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		hold, err := m.Tentative(booked, entity.Window{Start: 20 * des.Second, End: 30 * des.Second, Nodes: 1})
		require.NoError(t, err)
		_, err = hold.Confirm()
		require.NoError(t, err)
	}), 0)
	m.Submit(rigid(1, 10, 40, 1))
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, jobs.Close())
	rows, err := gocsv.CSVToMaps(&out)
	require.NoError(t, err)
	said := map[string]string{}
	for _, r := range rows {
		said[r["job_id"]] = r["prediction"] + "/" + r["corrections"]
	}
	require.Equal(t, map[string]string{"1": "20/0", "2": "/"}, said)
	require.Equal(t, 1, accuracy.Rows()[0].Jobs)
}
