package entity_test

// Plans that grant what is taken.

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// liar is a plan that has room for everything.
type liar struct {
	size int
	*plan.Cluster
}

func newLiar(size int) *liar { return &liar{size, plan.NewCluster(100 * size)} }

func (l *liar) Size() int { return l.size }

func lies(t *testing.T, p entity.Plan, jobs []*entity.Job, set func(m *entity.Metascheduler)) error {
	t.Helper()
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, p, backfill.FCFS{})
	if set != nil {
		set(m)
	}
	for _, j := range jobs {
		m.Submit(j)
	}
	return sim.Run(context.Background())
}

func TestAPlanThatGrantsWhatIsTakenEndsTheRun(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
		err := lies(t, newLiar(4), []*entity.Job{job(1, 0, 10, 3), job(2, 5, 10, 3)}, func(m *entity.Metascheduler) { m.Pass = pass })
		require.EqualError(t, err, "at 5, policy fcfs: jobs have 6 of 4 processors or nodes, and 0 are withheld; job 2 started last. The plan, *entity_test.liar, has granted what is taken", pass)
	}
}

// Whatever ends at an instant makes room for whatever starts at it, in any order, and a job
// of no length takes nothing.
func TestNobodyIsCountedAtTheInstantOfItsEnd(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
		nothing := job(3, 5, 1, 4)
		nothing.Runtime = 0
		jobs := []*entity.Job{job(1, 0, 10, 3), nothing, job(2, 10, 10, 3), job(4, 30, 10, 4)}
		require.NoError(t, lies(t, newLiar(4), jobs, func(m *entity.Metascheduler) { m.Pass = pass }), pass)
	}
}

// What is withheld nobody may have; what is over, or was given back, anybody.
func TestAPlanThatGrantsWhatIsWithheldEndsTheRun(t *testing.T) {
	for at, want := range map[des.Time]string{
		9:  "",
		10: "at 10, policy fcfs: jobs have 3 of 4 processors or nodes, and 2 are withheld; job 1 started last",
		19: "at 19, policy fcfs: jobs have 3 of 4",
		20: "",
		30: "at 30, policy fcfs: jobs have 3 of 4",
		35: "",
	} {
		err := lies(t, newLiar(4), []*entity.Job{job(1, at, 1, 3)}, func(m *entity.Metascheduler) {
			withhold(t, m, 10, 20, 2)
			hold, err := m.Withhold(entity.Where{Count: 2}, 30*des.Second, des.Forever)
			require.NoError(t, err)
			hour := func(*des.Simulator, des.Event) { hold.Drop() }
			m.Simulator().At(34*des.Second, entity.PhaseChange, des.Func(hour), 0)
		})
		if want == "" {
			require.NoError(t, err, at)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

// What is withheld counts also long after it has begun.
func TestAPlanThatGrantsLaterWhatIsWithheldEndsTheRun(t *testing.T) {
	err := lies(t, newLiar(4), []*entity.Job{job(1, 11, 1, 1), job(2, 15, 1, 3)}, func(m *entity.Metascheduler) { withhold(t, m, 10, 20, 2) })
	require.ErrorContains(t, err, "at 15, policy fcfs: jobs have 3 of 4 processors or nodes, and 2 are withheld; job 2 started last")
}

func TestAJobThatGrowsIsCountedAsItIs(t *testing.T) {
	j := job(1, 0, 100, 2)
	j.Shapes = []entity.Shape{{Nodes: 2, Length: 100 * des.Second, Runtime: 100 * des.Second}, {Nodes: 8, Length: 200 * des.Second, Runtime: 200 * des.Second}}
	for size, want := range map[int]string{7: "at 10, policy fcfs: jobs have 8 of 7", 8: ""} {
		var m *entity.Metascheduler
		var r *entity.Run
		err := lies(t, newLiar(size), nil, func(meta *entity.Metascheduler) {
			m = meta
			r = m.Submit(j)
			m.Simulator().At(10*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { require.NoError(t, m.Resize(r, 8, 0)) }), 0)
		})
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

// promiscuous is a plan over named nodes that never hears of what is taken.
type promiscuous struct{ *plan.Domain }

func (p promiscuous) Reserve(r *entity.Run, w entity.Window) (*entity.Reservation, error) {
	r.Reservation = entity.Reservation{Window: w, Run: r, Active: true}
	return &r.Reservation, nil
}

func (p promiscuous) Settle(*entity.Reservation)                     {}
func (p promiscuous) Release(r *entity.Reservation, _ des.Time)      { r.Active = false }
func (p promiscuous) ReleaseTask(*entity.Reservation, int, des.Time) {}

func TestTwoJobsOnOneNodeEndTheRun(t *testing.T) {
	domain := func() promiscuous {
		d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}, {ID: 3, Perf: 1}}, window.AMP{})
		require.NoError(t, err)
		return promiscuous{d}
	}
	err := lies(t, domain(), []*entity.Job{job(1, 0, 10, 1), job(2, 5, 10, 1)}, nil)
	require.EqualError(t, err, "at 5, policy fcfs: job 2 starts on node 1, on which job 1 runs. The plan, entity_test.promiscuous, has granted what is taken")
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
		require.NoError(t, lies(t, domain(), []*entity.Job{job(1, 0, 10, 1), job(2, 10, 10, 1)}, func(m *entity.Metascheduler) { m.Pass = pass }), pass)
	}
}

// deserter is a plan that has a job stopped while it is told that the job has ended.
type deserter struct {
	*plan.Cluster
	released func(r *entity.Reservation)
}

func (d *deserter) Release(r *entity.Reservation, now des.Time) {
	d.Cluster.Release(r, now)
	d.released(r)
}

func TestAnAttemptThatEndsTwiceEndsTheRun(t *testing.T) {
	d := &deserter{Cluster: plan.NewCluster(4)}
	err := lies(t, d, []*entity.Job{job(1, 0, 10, 1), job(2, 0, 20, 1)}, func(m *entity.Metascheduler) {
		d.released = func(r *entity.Reservation) {
			if r.Run.ID == 1 {
				d.released = func(*entity.Reservation) {}
				m.Kill(r.Run, "")
			}
		}
	})
	require.ErrorContains(t, err, "at 10, policy fcfs: an attempt of job 1 ends, and none is under way")
}

// Holds are counted again when one begins that was known before, and when one comes.
func TestHoldsAreCountedWhenTheyBeginAndWhenTheyCome(t *testing.T) {
	for at, taken := range map[des.Time]bool{9: false, 10: true, 19: true, 20: false, 31: true, 40: false} {
		err := lies(t, newLiar(4), []*entity.Job{job(1, 0, 1, 1), job(2, 30, 1, 1), job(3, at, 1, 3)}, func(m *entity.Metascheduler) {
			withhold(t, m, 10, 20, 2)
			m.Simulator().At(31*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { withhold(t, m, 31, 40, 2) }), 0)
		})
		if taken {
			require.ErrorContains(t, err, "jobs have 3 of 4 processors or nodes, and 2 are withheld; job 3 started last", at)
		} else {
			require.NoError(t, err, at)
		}
	}
}

// Whose processors are withheld twice is no concern of jobs where none runs.
func TestWhatIsWithheldTwiceEndsNoRunWithoutJobs(t *testing.T) {
	require.NoError(t, lies(t, newLiar(4), []*entity.Job{job(1, 12, 1, 1000), job(2, 30, 1, 4)}, func(m *entity.Metascheduler) {
		withhold(t, m, 10, 20, 3)
		withhold(t, m, 11, 20, 3)
	}))
}

func TestAJobThatGoesOnElsewhereHasLeftItsNode(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}}, window.AMP{})
	require.NoError(t, err)
	require.NoError(t, lies(t, d, []*entity.Job{job(2, 8, 1, 1)}, func(m *entity.Metascheduler) {
		first := m.Submit(job(1, 0, 10, 1))
		m.Simulator().At(5*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			node := first.Reservation.Window.Tasks[0].Node
			number, _ := d.Number(node)
			require.True(t, m.Preempt(first, 0))
			_, err := m.Withhold(entity.NodeAt(number), 5*des.Second, 8*des.Second)
			require.NoError(t, err)
		}), 0)
	}))
}
