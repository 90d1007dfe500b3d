package cyclic_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

type heard []string

func (h *heard) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		*h = append(*h, fmt.Sprintf("%v: %d starts", e.Time, e.Run.ID))
	}
}

func (h *heard) ObserveWhy(at des.Time, r *entity.Run, w entity.Why) {
	*h = append(*h, fmt.Sprintf("%v: %d %v %v %v", at, r.ID, w.What, w.Start, w.Short))
}

// The node for 1 a second is busy until 190, and plans reach 200 s ahead. Job 2 has 160 for
// 150 s, which would cost 450 on the node for 3. Job 3 takes 20 s.
func TestABatchIsToldWhatHoldsIt(t *testing.T) {
	job := func(id int64, submit, length des.Time, budget float64) *entity.Job {
		return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: length * des.Second,
			Request: entity.Request{Nodes: 1, Length: length * des.Second, Budget: budget}}
	}
	jobs := []*entity.Job{job(1, 0, 190, 0), job(2, 10, 150, 160), job(3, 10, 20, 0)}
	for _, test := range []struct {
		choice cyclic.Choice
		want   []string
	}{
		{cyclic.Choice{}, []string{"0: 1 starts", "10: 2 cycle 0 0", "10: 3 cycle 0 0", "100: 2 over-budget 100 290", "100: 3 starts"}},
		{cyclic.Choice{MaxTime: 185 * des.Second}, []string{"0: 1 time-limit 0 5", "10: 2 cycle 0 0"}},
		{cyclic.Choice{Problem: cyclic.BatchTime, MaxCost: 180}, []string{"0: 1 budget-limit 0 10", "10: 2 cycle 0 0"}},
	} {
		d, err := plan.NewDomain([]*entity.Node{{ID: 0, Perf: 1, Price: 1}, {ID: 1, Perf: 1, Price: 3}}, window.AMP{})
		require.NoError(t, err)
		d.Interval = 200 * des.Second
		h := &heard{}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, d, &cyclic.Policy{Planner: cyclic.CSS{Choice: test.choice, Search: cyclic.Search{PerJob: 1}}}, h)
		m.Cycle, m.LeaveWaiting = 100*des.Second, true
		m.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		require.Equal(t, test.want, []string(*h)[:min(len(*h), len(test.want))])
	}
}

func TestAJobThatOthersOfItsBatchLeaveNothingIsToldSo(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 0, Perf: 1, Price: 1}}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 100 * des.Second
	var got []entity.Why
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, &cyclic.Policy{Planner: cyclic.Filling{}}, listen(func(w entity.Why) { got = append(got, w) }))
	m.Cycle = 100 * des.Second
	for id := range int64(2) {
		m.Submit(&entity.Job{ID: id, Runtime: 80 * des.Second, Request: entity.Request{Nodes: 1, Length: 80 * des.Second, Budget: 200}})
	}
	require.NoError(t, sim.Run(context.Background()))
	require.NotEmpty(t, got)
	require.Equal(t, entity.NoWindow, got[len(got)-1].What)
	require.Contains(t, got[len(got)-1].Text, "others of its batch")
}

type listen func(entity.Why)

func (listen) Observe(entity.JobEvent)                              {}
func (l listen) ObserveWhy(_ des.Time, _ *entity.Run, w entity.Why) { l(w) }

// A job that gets a window ahead is told what has its nodes until then or, if an earlier window
// was free, that its planner preferred the later one.
func TestAJobThatIsPlannedAheadIsToldWhatWasInTheWay(t *testing.T) {
	for _, c := range []struct {
		nodes []*entity.Node
		text  string
		by    entity.BlockerKind
	}{
		{[]*entity.Node{{ID: 0, Perf: 1, Price: 1}}, "", entity.BlockedByJob},
		{[]*entity.Node{{ID: 0, Perf: 1, Price: 1}, {ID: 1, Perf: 1, Price: 3}}, entity.LaterPreferred, entity.NoBlocker},
	} {
		d, err := plan.NewDomain(c.nodes, window.AMP{})
		require.NoError(t, err)
		d.Interval = 200 * des.Second
		var ahead []entity.Why
		sim := des.New(des.Config{})
		planner := cyclic.CSS{Search: cyclic.Search{Finder: window.AEP{By: window.MinCost}, PerJob: 1}}
		m := entity.NewMetascheduler(sim, d, &cyclic.Policy{Planner: planner}, listen(func(w entity.Why) {
			if w.What == entity.ReservedAhead {
				ahead = append(ahead, w)
			}
		}))
		m.Cycle = 100 * des.Second
		for id := range int64(2) {
			m.Submit(&entity.Job{ID: id, Runtime: 50 * des.Second, Request: entity.Request{Nodes: 1, Length: 50 * des.Second}})
		}
		require.NoError(t, sim.Run(context.Background()))
		require.Len(t, ahead, 1)
		require.Equal(t, 50*des.Second, ahead[0].Start)
		require.Equal(t, c.text, ahead[0].Text)
		require.Equal(t, c.by, ahead[0].By.Kind)
	}
}
