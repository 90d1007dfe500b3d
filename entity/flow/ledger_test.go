package flow_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
)

// inOrder gives the jobs that wait their windows, whenever these begin.
type inOrder struct{}

func (inOrder) Name() string { return "in order" }

func (inOrder) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, des.Forever); ok {
			r.Reserve(j, w)
		}
	}
}

// trade runs jobs of 20 s on two nodes, a slow one of price 3 and one of price 7
// that is twice as fast: a window costs 20*3 + 10*7 = 130. A job really takes so
// much of its estimate as its runtime says. during is what happens meanwhile.
func trade(t *testing.T, byUse bool, during func(m *entity.Metascheduler, runs []*entity.Run), runtimes ...des.Time) (*flow.Ledger, []string) {
	slow, fast := &entity.Node{ID: 1, Perf: 1, Price: 3}, &entity.Node{ID: 2, Perf: 2, Price: 7}
	d, err := plan.NewDomain([]*entity.Node{slow, fast}, everyNode{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	var lines []string
	l := &flow.Ledger{ByUse: byUse, Tell: func(p flow.Transfer) {
		lines = append(lines, fmt.Sprintf("%v %v -> %v %g", p.Time, p.From, p.To, p.Amount.Units()))
	}}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, inOrder{}, l)
	var runs []*entity.Run
	for i, runtime := range runtimes {
		runs = append(runs, m.Submit(&entity.Job{ID: int64(i), User: int32(7 + i), Runtime: runtime * des.Second,
			Request: entity.Request{Nodes: 2, Length: 20 * des.Second}}))
	}
	if during != nil {
		during(m, runs)
	}
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, l.Check())
	require.Zero(t, l.Total(flow.VOAccount), "the organisation keeps nothing")
	return l, lines
}

func atSecond(m *entity.Metascheduler, second des.Time, do func()) {
	m.Simulator().At(second*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { do() }), 0)
}

func TestWhatIsReservedIsPaid(t *testing.T) {
	l, lines := trade(t, false, nil, 5)
	require.Equal(t, []string{
		"0 user 7 -> vo 130", "5 vo -> owner 1 60", "5 vo -> owner 2 70",
	}, lines)
	require.Equal(t, -130.0, l.Balance(flow.Account{Kind: flow.UserAccount, ID: 7}).Units())
	require.Equal(t, "[user 7 vo owner 1 owner 2]", fmt.Sprint(l.Accounts()))
}

// A quarter of the time is used, of each task: 5 s at 3, and 2.5 s at 7.
func TestByUseEachOwnerEarnsWhatItsNodeWasUsed(t *testing.T) {
	l, lines := trade(t, true, nil, 5)
	require.Equal(t, []string{
		"0 user 7 -> vo 130", "5 vo -> owner 1 15", "5 vo -> owner 2 17.5", "5 vo -> user 7 97.5",
	}, lines)
	require.Equal(t, 32.5, l.Total(flow.OwnerAccount).Units())
}

// The job is killed at 12, when its task on the fast node is over: that node was
// used for all of its 10 s, the slow one for 12.
func TestByUseAKilledJobPaysUntilItIsKilled(t *testing.T) {
	_, lines := trade(t, true, func(m *entity.Metascheduler, runs []*entity.Run) {
		atSecond(m, 12, func() { require.True(t, m.Kill(runs[0], "enough")) })
	}, 20)
	require.Equal(t, []string{
		"0 user 7 -> vo 130", "12 vo -> owner 1 36", "12 vo -> owner 2 70", "12 vo -> user 7 24",
	}, lines)
}

func TestAPreemptedJobGetsAllBackAndPaysAgain(t *testing.T) {
	_, lines := trade(t, true, func(m *entity.Metascheduler, runs []*entity.Run) {
		atSecond(m, 12, func() { require.True(t, m.Preempt(runs[0], 0)) })
	}, 20)
	require.Equal(t, []string{
		"0 user 7 -> vo 130", "12 vo -> user 7 130", "12 user 7 -> vo 130", "32 vo -> owner 1 60", "32 vo -> owner 2 70",
	}, lines)
}

// The second job has a reservation from 20 on. It pays when that is made, and gets
// all back when it is cancelled, or when it is taken from it.
func TestAReservationThatIsTakenBackIsPaidBack(t *testing.T) {
	_, lines := trade(t, false, func(m *entity.Metascheduler, runs []*entity.Run) {
		atSecond(m, 4, func() { require.True(t, m.Withdraw(runs[1])) })
		atSecond(m, 6, func() { require.True(t, m.Cancel(runs[1], "no longer wanted")) })
	}, 20, 20)
	require.Equal(t, []string{
		"0 user 7 -> vo 130", "0 user 8 -> vo 130",
		"4 vo -> user 8 130", "4 user 8 -> vo 130", // it got a new one in the next round
		"6 vo -> user 8 130",
		"20 vo -> owner 1 60", "20 vo -> owner 2 70",
	}, lines)
}
