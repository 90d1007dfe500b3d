package backfill_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// recordedJob is a job of one width that waited so long; -1 where nobody knows.
func recordedJob(id int64, submit, length, wait des.Time, nodes int) *entity.Job {
	if wait > 0 {
		wait *= des.Second
	}
	return &entity.Job{
		ID: id, Submit: submit * des.Second, Runtime: length * des.Second, Recorded: entity.Waited(wait),
		Request: entity.Request{Nodes: nodes, Length: length * des.Second}, User: -1, Group: -1, Queue: -1,
	}
}

// startsOf are the starts of jobs under the policy recorded, in seconds, by id.
func startsOf(t require.TestingT, procs int, jobs []*entity.Job) map[int64]int {
	starts := map[int64]int{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(procs), backfill.Recorded{}, observer(func(e entity.JobEvent) {
		if e.Kind == entity.JobStarted {
			starts[e.Run.ID] = int(e.Time / des.Second)
		}
	}))
	for _, j := range jobs {
		m.Submit(j)
	}
	require.NoError(t, sim.Run(context.Background()))
	return starts
}

type observer func(entity.JobEvent)

func (o observer) Observe(e entity.JobEvent) { o(e) }

func TestARecordedScheduleIsRepeated(t *testing.T) {
	starts := startsOf(t, 4, []*entity.Job{
		recordedJob(1, 0, 100, 7, 4),
		recordedJob(2, 1, 10, 300, 1), // though the machine is free before
		recordedJob(3, 5, 10, 105, 4), // after job 4, which came later
		recordedJob(4, 6, 3, 101, 4),
	})
	require.Equal(t, map[int64]int{1: 7, 2: 301, 3: 110, 4: 107}, starts)
}

func TestAJobWithoutARecordedStartIsNamed(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.Recorded{})
	m.Submit(recordedJob(5, 6, 3, -1, 1))
	require.ErrorContains(t, sim.Run(context.Background()), "job 5: its log does not tell how long it waited")
}

func TestWhatAMachineCannotHoldStartsLate(t *testing.T) {
	starts := startsOf(t, 4, []*entity.Job{
		recordedJob(1, 0, 100, 0, 3),
		recordedJob(2, 0, 50, 10, 2), // beside job 1 there is room for 1
		recordedJob(3, 0, 50, 20, 1),
		recordedJob(4, 0, 50, 30, 2),
	})
	require.Equal(t, map[int64]int{1: 0, 2: 100, 3: 20, 4: 100}, starts)
}

// Any schedule that the policies make can be recorded and is repeated to the second.
func TestSchedulesOfPoliciesAreRepeated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []*entity.Job
		for i := range rapid.IntRange(1, 30).Draw(t, "jobs") {
			jobs = append(jobs, recordedJob(int64(i+1), des.Time(rapid.IntRange(0, 60).Draw(t, "submit")),
				des.Time(rapid.IntRange(1, 50).Draw(t, "length")), 0, rapid.IntRange(1, 8).Draw(t, "nodes")))
		}
		p := rapid.SampledFrom([]entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}, backfill.EASY{Order: backfill.ShortestFirst}}).Draw(t, "policy")
		made := map[int64]int{}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(8), p, observer(func(e entity.JobEvent) {
			if e.Kind == entity.JobStarted {
				made[e.Run.ID] = int(e.Time / des.Second)
			}
		}))
		for _, j := range jobs {
			m.Submit(j)
		}
		require.NoError(t, sim.Run(context.Background()))
		for _, j := range jobs {
			j.Recorded = entity.Waited(des.Time(made[j.ID])*des.Second - j.Submit)
		}
		require.Equal(t, made, startsOf(t, 8, jobs))
	})
}
