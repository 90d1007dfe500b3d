package entity_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// atTicks plans at ticks only, the earliest window for everybody, and notes
// when it was asked.
type atTicks struct {
	asked  []string
	refuse bool // plans nobody
}

func (*atTicks) Name() string { return "at-ticks" }

func (p *atTicks) Schedule(r *entity.Round) {
	if !r.Cause.Has(entity.CauseTick) {
		return
	}
	p.asked = append(p.asked, fmt.Sprint(r.Now, ":", r.Queue.Len()))
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, des.Forever); ok && !p.refuse {
			r.Reserve(j, w)
		}
	}
}

func oneNode(t *testing.T) *plan.Domain {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}}, earliestFinder{})
	require.NoError(t, err)
	d.Interval = 10 * des.Second
	return d
}

// earliestFinder takes the first slot that is long enough.
type earliestFinder struct{}

func (earliestFinder) Name() string { return "earliest" }

func (earliestFinder) Find(_ context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	for _, s := range list.Slots {
		if end := s.Start + s.Node.TaskTime(req.Length); s.Start <= until && end <= s.End {
			return plan.Found{OK: true, Window: entity.Window{Start: s.Start, End: end, Nodes: 1, Tasks: []entity.Task{{Node: s.Node, End: end}}}}, nil
		}
	}
	return plan.Found{}, nil
}

func jobsAt(length int, submits ...int) (jobs []*entity.Job) {
	for i, at := range submits {
		l := des.Time(length) * des.Second
		jobs = append(jobs, &entity.Job{ID: int64(i), Submit: des.Time(at) * des.Second, Runtime: l, Request: entity.Request{Nodes: 1, Length: l}})
	}
	return jobs
}

// runCycles returns what became of the jobs, and when.
func runCycles(t *testing.T, p entity.Policy, set func(*entity.Metascheduler), jobs []*entity.Job) (runs []*entity.Run, end des.Time) {
	sim, d := des.New(des.Config{}), &journal{}
	m := entity.NewMetascheduler(sim, oneNode(t), p, d)
	m.Cycle = 10 * des.Second
	if set != nil {
		set(m)
	}
	m.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	for _, j := range jobs {
		runs = append(runs, d.runs[j])
	}
	return runs, sim.Now()
}

func TestCyclesBeginWhileJobsWait(t *testing.T) {
	p := &atTicks{}
	jobs := jobsAt(6, 0, 3, 3, 10, 61)
	runs, _ := runCycles(t, p, nil, jobs)
	// Of the three that wait at 10, two have to wait for the next cycle, and one
	// of them for the one after that.
	require.Equal(t, []string{"0:1", "10:3", "20:2", "30:1", "70:1"}, p.asked)
	for _, j := range runs {
		require.Equal(t, entity.Finished, j.State)
	}
}

func TestTicksEndWhereNothingCanChange(t *testing.T) {
	p := &atTicks{refuse: true}
	jobs := jobsAt(6, 0, 35)
	runs, end := runCycles(t, p, leaveWaiting, jobs)
	require.Equal(t, []string{"0:1", "40:2"}, p.asked)
	require.Equal(t, entity.Waiting, runs[0].State)
	require.Equal(t, 40*des.Second, end)
}

func TestARejectedJobLeavesTheQueue(t *testing.T) {
	jobs := jobsAt(6, 0)
	runs, end := runCycles(t, rejecting{}, nil, jobs)
	require.Equal(t, entity.Rejected, runs[0].State)
	require.Equal(t, "not today", runs[0].Reason)
	require.Zero(t, end)
}

type rejecting struct{}

func (rejecting) Name() string { return "rejecting" }

func (rejecting) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		r.Reject(j, "not today")
	}
}

// half leaves jobs of odd ID to a policy that starts whom it can.
type half struct{ part *entity.Queue }

func (half) Name() string { return "half" }

func (h *half) Schedule(r *entity.Round) {
	if h.part == nil {
		h.part = r.Queue.Part()
	}
	var fresh []*entity.Run
	for _, j := range r.Fresh() {
		if j.ID%2 == 1 {
			h.part.Take(j)
			fresh = append(fresh, j)
		}
	}
	r.Delegate(startAll{}, h.part, fresh)
}

type startAll struct{}

func (startAll) Name() string { return "start-all" }

func (startAll) Schedule(r *entity.Round) {
	for j := range r.Queue.By(entity.Submission, r.Now).All() {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

func TestAPolicyCanLeaveAPartOfTheQueueToAnother(t *testing.T) {
	p := &half{}
	jobs := jobsAt(6, 0, 0, 1, 1)
	runs, _ := runCycles(t, p, leaveWaiting, jobs)
	var states []entity.RunState
	for _, j := range runs {
		states = append(states, j.State)
	}
	require.Equal(t, []entity.RunState{entity.Waiting, entity.Finished, entity.Waiting, entity.Finished}, states)
	require.Zero(t, p.part.Len())
	require.False(t, p.part.Holds(runs[1]))
}
