package entity_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// 25 s of work, a checkpoint of 2 s after each 10 s: 29 s. A failure at 13 finds
// one checkpoint, written at 12; 15 s of work are left, and a restart of 5 s.
func TestAJobGoesOnFromItsLastCheckpoint(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{})
	m.Checkpoints = entity.Checkpoints{Interval: 10 * des.Second, Cost: 2 * des.Second}
	j := job(1, 0, 25, 2)
	j.Request.Length = 30 * des.Second
	r := m.Submit(j)
	require.Equal(t, 34*des.Second, r.Request.Length)
	require.Equal(t, 30*des.Second, r.Job.Request.Length)
	at(m, 13, func() {
		require.Equal(t, 12*des.Second, r.Saved())
		require.False(t, m.SetUp(r, des.Second), "it runs")
		require.True(t, m.Preempt(r, r.Saved()))
		require.True(t, m.SetUp(r, 5*des.Second))
		require.Equal(t, 27*des.Second, r.Request.Length, "5 of set-up, 20 of work, a checkpoint of 2")
	})
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, (13+5+15+2)*des.Second, r.Finish)
	require.Equal(t, 13*des.Second, r.Served())
	require.Equal(t, entity.Finished, r.State)
	all := slices.Collect(r.Attempts())
	require.Len(t, all, 2)
	require.Equal(t, []des.Time{10 * des.Second, 11 * des.Second, 2 * des.Second}, []des.Time{all[0].Kept, all[0].Work, all[0].Overhead})
	require.Equal(t, []des.Time{15 * des.Second, 15 * des.Second, 7 * des.Second}, []des.Time{all[1].Kept, all[1].Work, all[1].Overhead})
}

func TestSetUpIsForOneAttempt(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{})
	r := m.Submit(job(1, 0, 20, 1))
	at(m, 4, func() {
		require.True(t, m.Preempt(r, des.Forever))
		require.True(t, m.SetUp(r, 2*des.Second))
		require.True(t, m.SetUp(r, des.Second))
		require.Equal(t, 19*des.Second, r.Request.Length)
	})
	at(m, 9, func() { // set up by 7, then 2 s of work
		require.True(t, m.Preempt(r, des.Forever))
		require.Equal(t, 14*des.Second, r.Request.Length)
	})
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 23*des.Second, r.Finish)
	require.Equal(t, 3*des.Second, r.Earlier()[1].Overhead)
}

// Whatever befalls a job, its attempts together keep its runtime, and each is
// work and overhead to the tick.
// setsUp asks for a second of set-up for whoever comes, and notes whether that could be done.
type setsUp struct {
	meta *entity.Metascheduler
	done []bool
}

func (s *setsUp) Attach(m *entity.Metascheduler) { s.meta = m }

func (s *setsUp) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted {
		s.done = append(s.done, s.meta.SetUp(e.Run, des.Second))
	}
}

func TestAnAdvanceReservationIsNotSetUpAsItComes(t *testing.T) {
	sim := des.New(des.Config{})
	all := &setsUp{}
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{}, all)
	h, err := m.Tentative(job(1, 0, 5, 1), entity.Window{Start: 0, End: 5 * des.Second, Nodes: 1})
	require.NoError(t, err)
	booked, err := h.Confirm()
	require.NoError(t, err)
	other := m.Submit(job(2, 0, 5, 1))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []bool{false, true}, all.done)
	require.Equal(t, []des.Time{5 * des.Second, 11 * des.Second}, []des.Time{booked.Finish, other.Finish})
}

func TestAttemptsKeepTheWholeRuntime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(least, most int, name string) des.Time {
			return des.Time(rapid.IntRange(least, most).Draw(t, name)) * des.Second
		}
		perf := rapid.SampledFrom([]float64{0, 1, 2, 0.7}).Draw(t, "performance, 0 for a cluster")
		var machine entity.Plan = plan.NewCluster(2)
		if perf > 0 {
			d, err := plan.NewDomain([]*entity.Node{{ID: 0, Perf: perf}, {ID: 1, Perf: perf}}, window.AMP{})
			require.NoError(t, err)
			d.Interval = des.Day
			machine = d
		}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, machine, backfill.EASY{})
		m.Checkpoints = entity.Checkpoints{Interval: seconds(0, 20, "interval"), Cost: seconds(0, 5, "cost")}
		var runs []*entity.Run
		for i := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j := job(int64(i), 0, 1, rapid.IntRange(1, 2).Draw(t, "nodes"))
			j.Runtime = seconds(0, 60, "runtime")
			j.Request.Length = j.Runtime + seconds(1, 30, "beyond")
			runs = append(runs, m.Submit(j))
		}
		for range rapid.IntRange(0, 6).Draw(t, "failures") {
			victim := rapid.SampledFrom(runs).Draw(t, "victim")
			restart := seconds(0, 7, "restart")
			at(m, des.Time(rapid.IntRange(0, 150).Draw(t, "at")), func() {
				saved := victim.Saved()
				if m.Preempt(victim, saved) {
					a := victim.Earlier()[len(victim.Earlier())-1]
					if perf <= 1 && m.Checkpoints.Interval > 0 {
						require.Zero(t, a.Kept%m.Checkpoints.Interval, "only what a checkpoint has saved")
					}
					require.True(t, m.SetUp(victim, restart))
				}
			})
		}
		require.NoError(t, sim.Run(context.Background()))
		for _, r := range runs {
			require.Equal(t, entity.Finished, r.State)
			var kept des.Time
			for a := range r.Attempts() {
				kept += a.Kept
				require.LessOrEqual(t, a.Kept, a.Work)
				if perf == 0 || perf == 1 {
					require.Equal(t, a.End-a.Start, a.Work+a.Overhead)
				}
			}
			require.Equal(t, r.Runtime, kept)
		}
	})
}

// A job of 10 is to end by 30, so that it must start by 20, and with its set-up by 19. At 12 it
// has 4 left, and can start by 26.
func TestOnlyTheLatestLimitOfADeadlineCounts(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	w.meta.Submit(job(1, 0, 5, 4))
	j := job(2, 0, 10, 4)
	j.Request.Deadline = 30 * des.Second
	r := w.meta.Submit(j)
	at(w.meta, 1, func() { require.True(t, w.meta.SetUp(r, des.Second)) })
	at(w.meta, 12, func() {
		require.True(t, w.meta.Preempt(r, des.Forever))
		_, err := w.meta.Withhold(entity.Where{Count: 1}, 12*des.Second, 24*des.Second)
		require.NoError(t, err)
	})
	w.run(t)
	require.Equal(t, []any{entity.Finished, 28 * des.Second}, []any{r.State, r.Finish}, r.Reason)
}

// watch notes what observers are told of capacity.
type watch struct{ told []string }

func (*watch) Observe(entity.JobEvent) {}

func (w *watch) Withheld(h *entity.Hold) {
	w.told = append(w.told, "gone until "+h.Window().End.String())
}

func (w *watch) Returned(h *entity.Hold) {
	w.told = append(w.told, "back before "+h.Window().End.String())
}

func TestObserversHearOfCapacityThatLeavesAndComesBack(t *testing.T) {
	seen := &watch{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.FCFS{}, seen)
	_, err := m.Withhold(entity.Where{Count: 2}, 10*des.Second, 20*des.Second)
	require.NoError(t, err)
	h, err := m.Withhold(entity.Where{Count: 1}, 0, des.Forever)
	require.NoError(t, err)
	kept, err := m.Tentative(job(1, 0, 5, 1), entity.Window{Start: 0, End: 5 * des.Second, Nodes: 1})
	require.NoError(t, err)
	at(m, 3, func() { kept.Drop(); h.Drop(); h.Drop() })
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"gone until 20", "gone until forever", "back before forever"}, seen.told)
}

func TestAJobThatIsSetUpStaysWithThePolicyThatItWasLeftTo(t *testing.T) {
	sim := des.New(des.Config{})
	p := &half{}
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), p)
	runs := []*entity.Run{m.Submit(job(1, 0, 10, 1)), m.Submit(job(3, 0, 10, 1)), m.Submit(job(5, 0, 10, 1))}
	at(m, 4, func() {
		require.True(t, m.SetUp(runs[1], 2*des.Second))
		require.True(t, p.part.Holds(runs[1]))
		require.Equal(t, 2, p.part.Len())
		require.Equal(t, 2, m.Queue().Len())
		require.Same(t, runs[1], p.part.First())
	})
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []des.Time{10 * des.Second, 22 * des.Second, 32 * des.Second}, []des.Time{runs[0].Finish, runs[1].Finish, runs[2].Finish})
	require.Zero(t, p.part.Len())
}
