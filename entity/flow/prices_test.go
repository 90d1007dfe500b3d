package flow_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/policy/backfill"
)

// priced runs jobs under conservative backfilling on a cheap and a dear node,
// while prices change. It writes down what starts and moves.
func priced(t *testing.T, jobs []*entity.Job, changes ...flow.PriceChange) *journal {
	all := nodes(1, 1)
	all[0].Price, all[1].Price = 1, 5
	for i := range changes {
		changes[i].Node = all[1]
	}
	d := domain(t, all)
	d.Interval = 1000 * des.Second
	var seen journal
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, backfill.Conservative{}, &seen)
	flow.NewPriceSchedule(d, m).Submit(slices.Values(changes))
	m.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	return &seen
}

// thrifty is a job that can pay the cheap node only; it takes its times in
// seconds.
func thrifty(id int64, submit, length des.Time) *entity.Job {
	j := estimated(id, submit, length, length, 1)
	j.Request.MaxPrice = 2
	return j
}

// The second job has a reservation behind the first. Nothing is given back when
// the dear node becomes cheap; but now the job can have it, and at once.
func TestAFallingPriceLetsReservationsMoveUp(t *testing.T) {
	jobs := []*entity.Job{thrifty(1, 0, 20), thrifty(2, 0, 20)}
	d := priced(t, jobs, flow.PriceChange{At: 5 * des.Second, Price: 2})
	require.Equal(t, []string{
		"0 submitted 1", "0 submitted 2", "0 started 1", "0 promised 2 for 20", "5 started 2", "20 finished 1", "25 finished 2",
	}, d.lines)
}

func TestARisingPriceLeavesReservationsWhereTheyAre(t *testing.T) {
	jobs := []*entity.Job{thrifty(1, 0, 20), thrifty(2, 0, 20)}
	d := priced(t, jobs, flow.PriceChange{At: 5 * des.Second, Price: 9})
	require.Contains(t, d.lines, "20 started 2")
}

// A job that waits for a price gets a round when the price changes.
func TestAFallingPriceGivesWaitingJobsARound(t *testing.T) {
	all := nodes(1)
	d := domain(t, all)
	d.Interval = 1000 * des.Second
	var seen journal
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, &seen)
	m.SubmitAll(slices.Values([]*entity.Job{thrifty(1, 0, 10), thrifty(2, 0, 10)}))
	flow.NewPriceSchedule(d, m).Submit(slices.Values([]flow.PriceChange{
		{Node: all[0], At: 5 * des.Second, Price: 9}, {Node: all[0], At: 30 * des.Second, Price: 2},
	}))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{
		"0 submitted 1", "0 submitted 2", "0 started 1", "10 finished 1", "30 started 2", "40 finished 2",
	}, seen.lines)
}
