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
	starts, _ := ranBy(t, backfill.Recorded{}, procs, jobs)
	return starts
}

// ranBy are the starts of jobs in seconds, and the nodes they have, by id.
func ranBy(t require.TestingT, p entity.Policy, procs int, jobs []*entity.Job) (starts, nodes map[int64]int) {
	starts, nodes = map[int64]int{}, map[int64]int{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(procs), p, observer(func(e entity.JobEvent) {
		if e.Kind == entity.JobStarted {
			starts[e.Run.ID], nodes[e.Run.ID] = int(e.Time/des.Second), e.Run.Request.Nodes
		}
	}))
	for _, j := range jobs {
		m.Submit(j)
	}
	require.NoError(t, sim.Run(context.Background()))
	return starts, nodes
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

// A job waits for room for the shape that it is to take, and others go ahead meanwhile. A job that the
// timetable does not know takes what fits first.
func TestATimetableTellsShapes(t *testing.T) {
	moldable := func(id int64, submit des.Time) *entity.Job {
		j := recordedJob(id, submit, 20, 0, 1)
		j.Shapes = []entity.Shape{{Nodes: 1, Length: j.Runtime, Runtime: j.Runtime}, {Nodes: 2, Length: j.Runtime / 2, Runtime: j.Runtime / 2}}
		return j
	}
	table := backfill.NewTimetable("table", "a table", func(j *entity.Run) des.Time { return j.Submit })
	starts, nodes := ranBy(t, table.Molding(func(j *entity.Run) int { return map[int64]int{1: 3, 2: 2, 3: 1, 4: 1}[j.ID] }), 4,
		[]*entity.Job{recordedJob(1, 0, 10, 0, 3), moldable(2, 1), recordedJob(3, 2, 8, 0, 1), moldable(4, 20), moldable(5, 30)})
	require.Equal(t, map[int64]int{1: 0, 2: 10, 3: 2, 4: 20, 5: 30}, starts)
	require.Equal(t, map[int64]int{1: 3, 2: 2, 3: 1, 4: 1, 5: 2}, nodes)
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
