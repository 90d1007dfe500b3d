package metrics_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics"
)

func TestCyclesShareOutWhatHappensByTime(t *testing.T) {
	const s = des.Second
	c := &metrics.Cycles{Cycle: 10 * s, Nodes: 2}
	one, two := &entity.Node{ID: 1}, &entity.Node{ID: 2}
	j := entity.NewRun(&entity.Job{Submit: 2 * s}, 0)
	j.Reservation.Window = entity.Window{Start: 5 * s, End: 25 * s, Nodes: 2, Tasks: []entity.Task{{Node: one, End: 25 * s}, {Node: two, End: 15 * s}}}
	at := func(t des.Time, k entity.JobEventKind) { c.Observe(entity.JobEvent{Time: t, Kind: k, Run: j}) }
	at(2*s, entity.JobSubmitted)
	j.Start = 5 * s
	at(5*s, entity.JobStarted)
	j.State, j.Finish = entity.Finished, 15*s
	j.Restore(nil, 0, []des.Time{15 * s, 10 * s})
	at(15*s, entity.JobFinished) // half of what was reserved: [5, 15) and [5, 10)
	user, vo, owner := flow.Account{Kind: flow.UserAccount}, flow.Account{Kind: flow.VOAccount}, flow.Account{Kind: flow.OwnerAccount, ID: 1}
	c.Paid(flow.Transfer{Time: 5 * s, From: user, To: vo, Amount: 9_000_000})
	c.Paid(flow.Transfer{Time: 15 * s, From: vo, To: owner, Amount: 6_000_000})
	c.Paid(flow.Transfer{Time: 15 * s, From: vo, To: user, Amount: 3_000_000})
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	require.Equal(t, strings.TrimLeft(`
cycle,start,submitted,started,finished,rejected,preempted,waiting,utilization,mean_wait,makespan,income,expense
0,0,1,1,0,0,0,0,0.5,3,15,0,9
1,10,0,0,1,0,0,0,0.25,0,0,6,-3
`, "\n"), b.String())
}

func TestWhatPreemptedJobsHaveLostIsUtilizationOnce(t *testing.T) {
	const s = des.Second
	c := &metrics.Cycles{Cycle: 10 * s, Nodes: 1}
	j := entity.NewRun(&entity.Job{}, 0)
	lost := func(from, to des.Time) {
		j.Restore(append(j.Earlier(), entity.Attempt{Window: entity.Window{Start: from, End: from + 10*s, Nodes: 1}, Start: from, End: to}), 0, nil)
	}
	at := func(t des.Time, k entity.JobEventKind) { c.Observe(entity.JobEvent{Time: t, Kind: k, Run: j}) }
	at(0, entity.JobSubmitted)
	at(0, entity.JobStarted)
	lost(0, 4*s)
	at(4*s, entity.JobRequeued)
	j.Start = 5 * s
	at(5*s, entity.JobStarted)
	lost(5*s, 7*s)
	at(7*s, entity.JobRequeued)
	rows := c.Rows()
	require.InDelta(t, 0.6, rows[0].Utilization, 1e-9)
	require.Equal(t, 1, rows[0].Waiting)
	require.Equal(t, 2, rows[0].Preempted)
}
