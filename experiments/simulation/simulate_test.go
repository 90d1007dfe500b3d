package simulation_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy/backfill"
)

// list is a workload given job by job, which may end in an error.
type list struct {
	jobs []entity.Job
	err  error
}

func (l *list) Next() (*entity.Job, bool) {
	if len(l.jobs) == 0 {
		return nil, false
	}
	j := l.jobs[0]
	l.jobs = l.jobs[1:]
	return &j, true
}

func (l *list) Err() error { return l.err }

func twoJobs() *list {
	of := func(id int64) entity.Job {
		return entity.Job{ID: id, Runtime: 60 * des.Second, Request: entity.Request{Nodes: 8, Length: 60 * des.Second}}
	}
	return &list{jobs: []entity.Job{of(1), of(2)}}
}

func TestSimulateSumsUpARun(t *testing.T) {
	r, err := simulation.Simulate(context.Background(), twoJobs(), simulation.RunSettings{Policy: backfill.FCFS{}, Processors: 10})
	require.NoError(t, err)
	require.Equal(t, "fcfs", r.Summary.Policy)
	require.Equal(t, 2, r.Summary.Jobs)
	require.EqualValues(t, 30, r.Summary.MeanWait)
	require.EqualValues(t, 0.8, r.Summary.Utilization)
	require.NotZero(t, r.Fingerprint)
	require.GreaterOrEqual(t, r.Summary.CPUSeconds, 0.0)
}

func TestARunIsNamedAsAsked(t *testing.T) {
	dir := t.TempDir()
	r, err := simulation.Simulate(context.Background(), twoJobs(), simulation.RunSettings{Policy: backfill.FCFS{}, Name: "plain", Processors: 10, Dir: dir})
	require.NoError(t, err)
	require.Equal(t, "plain", r.Summary.Policy)
	require.FileExists(t, filepath.Join(dir, "jobs-plain.csv"))
	require.FileExists(t, filepath.Join(dir, "queue-plain.csv"))
}

// greedy reserves what is taken.
type greedy struct{}

func (greedy) Name() string { return "greedy" }

func (greedy) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		r.Reserve(j, entity.Window{Start: r.Now, End: r.Now.Add(j.Request.Length), Nodes: j.Request.Nodes})
	}
}

// idle starts nobody.
type idle struct{}

func (idle) Name() string           { return "idle" }
func (idle) Schedule(*entity.Round) {}

func TestARunThatFailsLeavesNoFile(t *testing.T) {
	broken := twoJobs()
	broken.err = errors.New("the trace ends here")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		jobs   *list
		policy entity.Policy
		want   string
	}{
		{context.Background(), broken, backfill.FCFS{}, "the trace ends here"},
		{context.Background(), &list{}, backfill.FCFS{}, simulation.ErrNoJobs.Error()},
		{context.Background(), twoJobs(), greedy{}, "policy greedy"},
		{context.Background(), twoJobs(), idle{}, "policy idle left 2 jobs in the queue"},
		{ended, twoJobs(), backfill.FCFS{}, context.Canceled.Error()},
	} {
		dir := t.TempDir()
		_, err := simulation.Simulate(c.ctx, c.jobs, simulation.RunSettings{Policy: c.policy, Processors: 10, Dir: dir})
		require.ErrorContains(t, err, c.want)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, c.want)
	}
}

func TestOutagesGoOnUntilTheNextJobOfThoseThatFollowOthers(t *testing.T) {
	jobs := append(twoJobs().jobs, twoJobs().jobs[0])
	jobs[1].Submit, jobs[2].Submit = des.Hour, des.Hour
	jobs[2].ID, jobs[2].After = 3, []entity.Dependency{{Job: 2}}
	links, err := flow.Survey(slices.Values([]*entity.Job{&jobs[0], &jobs[1], &jobs[2]}), false)
	require.NoError(t, err)
	for _, booked := range []bool{false, true} {
		o := &flow.Outages{}
		o.Submit(slices.Values([]flow.Outage{{Known: des.Minute, From: des.Minute, To: 2 * des.Minute, Where: entity.Where{Count: 1}}, {Known: des.Hour / 2, From: des.Hour / 2, To: des.Hour/2 + des.Minute, Where: entity.Where{Count: 3}}}))
		s := simulation.RunSettings{Policy: backfill.FCFS{}, Processors: 10, Links: links, Outages: o, Dir: t.TempDir()}
		if booked {
			s.Bookings = slices.Values([]flow.Booking{{Job: &entity.Job{ID: 9, Runtime: 1, Request: entity.Request{Nodes: 1, Length: 1}}, Start: 0}})
		}
		_, err = simulation.Simulate(context.Background(), &list{jobs: slices.Clone(jobs)}, s)
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(s.Dir, "outages-fcfs.csv"))
		require.NoError(t, err)
		require.Equal(t, "from,to,processors,node,known,victims\n60,120,1,,60,\n1800,1860,3,,1800,\n", string(text))
	}
}

func TestOutagesGoOnUntilTheNextAdvanceReservation(t *testing.T) {
	o := &flow.Outages{}
	o.Submit(slices.Values([]flow.Outage{{Known: des.Hour / 2, From: des.Hour / 2, To: des.Hour/2 + des.Minute, Where: entity.Where{Count: 3}}}))
	booked := &entity.Job{ID: 9, Submit: des.Hour, Runtime: 1, Request: entity.Request{Nodes: 1, Length: 1}}
	s := simulation.RunSettings{Policy: backfill.FCFS{}, Processors: 10, Outages: o, Dir: t.TempDir(),
		Bookings: slices.Values([]flow.Booking{{Job: booked, Start: des.Hour}})}
	_, err := simulation.Simulate(context.Background(), twoJobs(), s)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(s.Dir, "outages-fcfs.csv"))
	require.NoError(t, err)
	require.Equal(t, "from,to,processors,node,known,victims\n1800,1860,3,,1800,\n", string(text))
}
