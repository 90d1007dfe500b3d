package backfill_test

// Observers who change the world while a policy decides.

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// meddler does something once, when it hears of the first event of a kind about a job.
type meddler struct {
	kind entity.JobEventKind
	job  int64
	do   func(m *entity.Metascheduler)
	meta *entity.Metascheduler
}

func (o *meddler) Attach(m *entity.Metascheduler) { o.meta = m }

func (o *meddler) Observe(e entity.JobEvent) {
	if e.Kind == o.kind && e.Run.ID == o.job && o.do != nil {
		do := o.do
		o.do = nil
		do(o.meta)
	}
}

// meddled is a run on five processors, all of which job 2, the head from the instant 1 on,
// wants: 3 starts beside job 1, and is what the meddler hears of.
func meddled(t *testing.T, p entity.Policy, o *meddler, wakes entity.Wakes) map[int64]*entity.Run {
	t.Helper()
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(5), p, o)
	m.Wakes = wakes
	runs := map[int64]*entity.Run{}
	for _, j := range []struct {
		id             int64
		submit, length des.Time
		nodes          int
	}{{1, 0, 100, 3}, {2, 1, 50, 5}, {3, 1, 10, 1}, {4, 1, 200, 1}} {
		length := j.length * des.Second
		runs[j.id] = m.Submit(&entity.Job{ID: j.id, Submit: j.submit * des.Second, Runtime: length, Request: entity.Request{Nodes: j.nodes, Length: length}})
	}
	require.NoError(t, sim.Run(context.Background()), p.Name())
	return runs
}

func TestTheHeadsWindowIsFoundAgainWhereTheWorldHasChanged(t *testing.T) {
	for i, p := range []entity.Policy{backfill.EASY{}, backfill.EASY{Reservations: 2}, backfill.EASY{Reservations: backfill.AllReservations}, backfill.PublishedEASY{NoSpare: true}, backfill.PublishedEASY{FirstSpare: true}, backfill.PublishedEASY{StrictShadow: true}, backfill.Conservative{}} {
		runs := meddled(t, p, &meddler{kind: entity.JobStarted, job: 3, do: func(m *entity.Metascheduler) {
			_, err := m.Withhold(entity.Where{Count: 1}, 100*des.Second, 110*des.Second)
			if i == 0 {
				require.NoError(t, err) // others hold the window before job 3 starts
			}
		}}, entity.Wakes{})
		require.Equal(t, entity.Finished, runs[2].State, p.Name())
	}
}

// By the new window, and not by the one that was found before: job 4 would end before the
// head could start, now that this is to be later.
func TestCandidatesAreHeldToTheHeadsNewWindow(t *testing.T) {
	var later des.Time = 250
	runs := meddled(t, backfill.EASY{}, &meddler{kind: entity.JobStarted, job: 3, do: func(m *entity.Metascheduler) {
		_, err := m.Withhold(entity.Where{Count: 1}, 100*des.Second, later*des.Second)
		require.NoError(t, err)
	}}, entity.Wakes{Apart: des.Second})
	require.Equal(t, des.Second, runs[4].Start)
	require.Equal(t, later*des.Second, runs[2].Start)
}

// Who hears that the head is promised its start may cancel it: nothing is held for it then.
func TestAHeadThatIsCancelledWhenItsWindowIsToBeHeldIsNotHeld(t *testing.T) {
	sim := des.New(des.Config{})
	var head *entity.Run
	o := &meddler{kind: entity.JobStarted, job: 3}
	m := entity.NewMetascheduler(sim, plan.NewCluster(5), backfill.EASY{}, o)
	m.Wakes.Apart = des.Second // what this round leaves undone is done a second later
	o.do = func(m *entity.Metascheduler) { require.True(t, m.Cancel(head, "its user")) }
	second := des.Second
	m.Submit(&entity.Job{ID: 1, Runtime: 100 * second, Request: entity.Request{Nodes: 3, Length: 100 * second}})
	head = m.Submit(&entity.Job{ID: 2, Submit: second, Runtime: 50 * second, Request: entity.Request{Nodes: 5, Length: 50 * second}})
	m.Submit(&entity.Job{ID: 3, Submit: second, Runtime: 10 * second, Request: entity.Request{Nodes: 1, Length: 10 * second}})
	last := m.Submit(&entity.Job{ID: 4, Submit: second, Runtime: 200 * second, Request: entity.Request{Nodes: 1, Length: 200 * second}})
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, entity.Rejected, head.State)
	require.Equal(t, second, last.Start)
}

// A candidate that is cancelled when the head is promised its window is passed over.
func TestACandidateThatIsCancelledWhenTheHeadIsPromisedIsPassedOver(t *testing.T) {
	var fourth *entity.Run
	sim := des.New(des.Config{})
	o := &meddler{kind: entity.JobPromised, job: 2}
	o.do = func(m *entity.Metascheduler) { require.True(t, m.Cancel(fourth, "its user")) }
	m := entity.NewMetascheduler(sim, plan.NewCluster(5), backfill.EASY{}, o)
	m.Wakes.Apart = des.Second // what this round leaves undone is done a second later
	second := des.Second
	m.Submit(&entity.Job{ID: 1, Runtime: 100 * second, Request: entity.Request{Nodes: 3, Length: 100 * second}})
	m.Submit(&entity.Job{ID: 2, Submit: second, Runtime: 50 * second, Request: entity.Request{Nodes: 4, Length: 50 * second}})
	fourth = m.Submit(&entity.Job{ID: 4, Submit: second, Runtime: 200 * second, Request: entity.Request{Nodes: 1, Length: 200 * second}})
	fifth := m.Submit(&entity.Job{ID: 5, Submit: second, Runtime: 200 * second, Request: entity.Request{Nodes: 1, Length: 200 * second}})
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, second, fifth.Start)
}
