package metrics_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

func rigid(id int64, runtime, estimate des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: id, Runtime: runtime * des.Second, Request: entity.Request{Nodes: nodes, Length: estimate * des.Second}}
}

// One processor of two fails at 6 and takes the job along, which keeps 4 s. It is
// cancelled while it waits; another one runs from 6 to 16.
func TestWhatACancelledJobHadKeptIsLost(t *testing.T) {
	account := &metrics.CapacityAccount{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{}, account)
	first := m.Submit(rigid(1, 10, 10, 2))
	m.Submit(rigid(2, 10, 12, 1))
	sim.At(6*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		require.True(t, m.Preempt(first, 4*des.Second))
		_, err := m.Withhold(entity.Where{Count: 1}, 6*des.Second, des.Forever)
		require.NoError(t, err)
		require.True(t, m.Cancel(first, "its user"))
	}), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, account.Check())
	var file bytes.Buffer
	require.NoError(t, metrics.WriteCapacity(&file, []metrics.Capacity{account.Capacity()}))
	require.Equal(t, "policy,capacity,useful,lost,overhead,owners,down,idle\nfcfs,32,10,12,0,0,10,0\n", file.String())
}

// One of its two tasks has ended at 5, when it is stopped, begins again and is stopped
// once more.
func TestAJobThatIsStoppedTwiceAtTheEndOfATaskGivesAllBackTwice(t *testing.T) {
	account, file := &metrics.CapacityAccount{}, &bytes.Buffer{}
	queue := metrics.NewQueueWriter(file)
	domain, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}}, window.AMP{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, domain, backfill.FCFS{}, account, queue)
	m.Pass = entity.PassEvent
	job := m.Submit(rigid(1, 10, 10, 2))
	for range 2 {
		sim.At(5*des.Second, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) {
			require.True(t, m.Preempt(job, 0))
		}), 0)
	}
	require.NoError(t, sim.Run(context.Background()))
	require.Len(t, job.Earlier(), 2)
	require.NoError(t, account.Check())
	require.NoError(t, queue.Close())
	require.Equal(t, rows.Queue.Header()+"\n0,0,0,2\n10,0,0,1\n15,0,0,0\n", file.String())
}

// killer kills a job when it hears of the end of its first task.
type killer struct{ meta *entity.Metascheduler }

func (k *killer) Attach(m *entity.Metascheduler) { k.meta = m }
func (*killer) Observe(entity.JobEvent)          {}
func (k *killer) TaskEnded(r *entity.Run, _ int) { k.meta.Kill(r, "its first task has ended") }

func TestATaskWhoseEndStopsItsJobIsGivenBackOnce(t *testing.T) {
	account, file := &metrics.CapacityAccount{}, &bytes.Buffer{}
	queue := metrics.NewQueueWriter(file)
	nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}}
	domain, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, domain, backfill.FCFS{}, &killer{}, account, queue)
	m.Submit(rigid(1, 10, 10, 2))
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, account.Check())
	require.NoError(t, queue.Close())
	require.Equal(t, rows.Queue.Header()+"\n0,0,0,2\n5,0,0,0\n", file.String())
	c := account.Capacity()
	require.Equal(t, "10", c.Uses[metrics.UseLost].String())
}

func TestAJobThatHasJustGrownWhenItIsStoppedIsToldWithAllItsProcessors(t *testing.T) {
	var jobs, attempts bytes.Buffer
	rows, tries := metrics.NewJobsWriter(&jobs), metrics.NewAttemptsWriter(&attempts)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{}, rows, tries)
	m.Submit(rigid(2, 2, 2, 1)) // leaves the other one processor, until 2
	r := m.Submit(&entity.Job{ID: 1, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 1, Length: 20 * des.Second},
		Shapes: []entity.Shape{{Nodes: 1, Length: 20 * des.Second, Runtime: 10 * des.Second}, {Nodes: 2, Length: 10 * des.Second, Runtime: 5 * des.Second}}})
	sim.At(3*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		require.NoError(t, m.Resize(r, 2, 0))
		require.True(t, m.Kill(r, "its user"))
	}), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, rows.Close())
	require.NoError(t, tries.Close())
	require.Contains(t, jobs.String(), ",0-1,")
	require.Contains(t, attempts.String(), "1,2,3,3,2,0-1,")
}

func TestAnAccountThatDoesNotAddUpSaysSo(t *testing.T) {
	account := &metrics.CapacityAccount{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{}, account)
	r := m.Submit(rigid(1, 10, 10, 2))
	sim.At(5*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		r.Start -= 2 * des.Second // its attempt will say so
	}), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.ErrorContains(t, account.Check(), "than by their attempts")
}
