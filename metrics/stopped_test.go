package metrics_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gocarina/gocsv"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// stopping stops the job that runs at an instant, keeps so much of its time, and has it
// restart for a while.
type stopping struct {
	meta              *entity.Metascheduler
	at, keep, restart des.Time
}

func (s *stopping) Attach(m *entity.Metascheduler) {
	s.meta = m
	m.Simulator().At(s.at, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		for r := range m.RunningJobs() {
			m.Preempt(r, s.keep)
		}
	}), 0)
}

func (s *stopping) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobRequeued {
		s.meta.SetUp(e.Run, s.restart)
	}
}

// stopped is the row of a job of 1,000 s, which asked for 2,000 s, that was stopped at 950 s:
// 900 s were kept, 50 s lost, and its restart took 45 s.
func stopped(t *testing.T, p entity.Plan, rules validate.Rules, perf des.Time) map[string]string {
	const s = des.Second
	var jobs, attempts bytes.Buffer
	rec, check := metrics.NewRecorder(), &validate.Validator{}
	w, tries := metrics.NewJobsWriter(&jobs), metrics.NewAttemptsWriter(&attempts)
	w.Attempts = true
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, p, backfill.FCFS{}, check, rec, w, tries,
		&stopping{at: 950 * s / perf, keep: 900 * s / perf, restart: 45 * s})
	all := []*entity.Job{{ID: 1, Runtime: 1000 * s, User: -1, Request: entity.Request{Nodes: 2, Length: 2000 * s}}}
	meta.SubmitAll(slices.Values(all))
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	require.NoError(t, tries.Close())
	require.NoError(t, check.Report(true).Err())
	require.Equal(t, 1.095, rec.Summary().MeanBoundedSlowdown)
	rules.Attempts = &attempts
	report, err := validate.Jobs(strings.NewReader(jobs.String()), slices.Values(all), rules)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	rules.Attempts = nil
	report, err = validate.Jobs(strings.NewReader(strings.Replace(jobs.String(), ",1.095,", ",10.95,", 1)), slices.Values(all), rules)
	require.NoError(t, err)
	require.ErrorContains(t, report.Err(), "stretch is 10.95, not 1.095000")
	rows, err := gocsv.CSVToMaps(&jobs)
	require.NoError(t, err)
	return rows[0]
}

func TestARowOfAJobThatWasStoppedTellsOfAllItsWork(t *testing.T) {
	row := stopped(t, plan.NewCluster(2), validate.Rules{Processors: 2}, 1)
	for column, want := range map[string]string{
		"requested_time": "2000", "estimate": "2000", "actual_runtime": "1000", "execution_time": "1000",
		"starting_time": "950", "finish_time": "1095", "waiting_time": "950", "turnaround_time": "1095",
		"stretch": "1.095", "bounded_slowdown": "1.095", "restarts": "1", "lost": "50", "overhead": "45",
	} {
		require.Equal(t, want, row[column], column)
	}
}

func TestOnFastNodesTheWorkOfAJobThatWasStoppedTakesLess(t *testing.T) {
	nodes := []entity.Node{{ID: 1, Perf: 2}, {ID: 2, Perf: 2}}
	domain, err := plan.NewDomain([]*entity.Node{&nodes[0], &nodes[1]}, window.AMP{})
	require.NoError(t, err)
	row := stopped(t, domain, validate.Rules{Nodes: nodes}, 2)
	for column, want := range map[string]string{
		"requested_time": "2000", "actual_runtime": "1000", "execution_time": "500",
		"starting_time": "475", "finish_time": "547.5", "stretch": "1.095", "bounded_slowdown": "1.095", "lost": "50", "overhead": "45",
	} {
		require.Equal(t, want, row[column], column)
	}
}
