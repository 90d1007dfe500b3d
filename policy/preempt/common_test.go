package preempt

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
)

func job(id int64, submit, runtime des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: id, Submit: submit, Runtime: runtime, Request: entity.Request{Nodes: nodes, Length: runtime}}
}

// simulate runs jobs on so many processors and has the schedule validated.
func simulate(t require.TestingT, p entity.Policy, pass entity.Pass, processors int, jobs ...*entity.Job) []*entity.Run {
	return reserved(t, p, nil, pass, processors, jobs...)
}

// reserved is simulate beside advance reservations.
func reserved(t require.TestingT, p entity.Policy, booked []entity.Window, pass entity.Pass, processors int, jobs ...*entity.Job) []*entity.Run {
	check := &validate.Validator{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(processors), p, check)
	m.Pass, m.Placer = pass, entity.LowestFirst{}
	for i, w := range booked {
		h, err := m.Tentative(job(int64(100+i), 0, w.Length(), w.Nodes), w)
		require.NoError(t, err)
		_, err = h.Confirm()
		require.NoError(t, err)
	}
	var runs []*entity.Run
	for _, j := range jobs {
		runs = append(runs, m.Submit(j))
	}
	require.NoError(t, sim.Run(context.Background()))
	report := check.Report(true)
	require.NoError(t, report.Err(), "%v", report)
	for _, r := range runs {
		conserved(t, r, pass)
	}
	return runs
}

// conserved holds a job to having done its work once, and to not having been stopped
// at the instant at which it started.
func conserved(t require.TestingT, r *entity.Run, pass entity.Pass) {
	require.Equal(t, entity.Finished, r.State)
	var kept, served des.Time
	last := r.Submit
	for a := range r.Attempts() {
		require.GreaterOrEqual(t, a.Start, last)
		require.GreaterOrEqual(t, a.End, a.Start)
		if pass == entity.PassInstant { // after every event one may be stopped that is about to end
			require.Greater(t, a.End, a.Start, "%v was stopped when it had just started", r)
		}
		require.Equal(t, a.End-a.Start, a.Work+a.Overhead)
		kept += a.Kept
		last = a.End
	}
	require.Equal(t, r.Runtime, kept)
	for _, a := range r.Earlier() {
		if a.Kept > 0 {
			served += a.End - a.Start
		}
	}
	require.Equal(t, served, r.Served())
}

// span is one attempt of a job.
type span struct{ id, from, to int64 }

// spans lists all attempts by their starts.
func spans(runs []*entity.Run) (list []span) {
	for _, r := range runs {
		for a := range r.Attempts() {
			list = append(list, span{r.ID, int64(a.Start), int64(a.End)})
		}
	}
	slices.SortFunc(list, func(a, b span) int {
		if a.from != b.from {
			return int(a.from - b.from)
		}
		return int(a.id - b.id)
	})
	return list
}
