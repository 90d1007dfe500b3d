package entity_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// telling is a policy that starts what fits and says of the others what it is told to.
type telling struct {
	say   func(r *entity.Round, j *entity.Run)
	extra func(r *entity.Round)
}

func (telling) Name() string { return "telling" }

func (p telling) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		} else {
			p.say(r, j)
		}
	}
	if p.extra != nil {
		p.extra(r)
	}
}

type hearing struct{ heard []entity.Why }

func (*hearing) Observe(entity.JobEvent)                              {}
func (h *hearing) ObserveWhy(_ des.Time, _ *entity.Run, w entity.Why) { h.heard = append(h.heard, w) }

// full are three jobs that want all of a machine of two processors, a second apart.
func full() (jobs []*entity.Job) {
	for i := range int64(3) {
		jobs = append(jobs, &entity.Job{ID: i + 1, Submit: des.Time(i) * des.Second, Runtime: 10 * des.Second,
			Request: entity.Request{Nodes: 2, Length: 10 * des.Second}})
	}
	return jobs
}

func play(t *testing.T, p entity.Policy, observers ...entity.Observer) {
	t.Helper()
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), p, observers...)
	m.SubmitAll(slices.Values(full()))
	require.NoError(t, sim.Run(context.Background()))
}

func TestOnlyWhatIsNewIsTold(t *testing.T) {
	h := &hearing{}
	play(t, telling{say: func(r *entity.Round, j *entity.Run) {
		r.TellWhy(j, entity.Why{Text: "full"})
		said, told := r.WhyTold(j)
		require.True(t, told)
		require.Equal(t, "full", said.Text)
	}}, h)
	require.Len(t, h.heard, 2, "each of two jobs once, though job 3 waits for three rounds")
}

func TestAJobThatWasStoppedIsToldAnew(t *testing.T) {
	h := &hearing{}
	stopped := false
	play(t, telling{
		say: func(r *entity.Round, j *entity.Run) { r.TellWhy(j, entity.Why{Text: j.String()}) },
		extra: func(r *entity.Round) {
			if r.Now != 10*des.Second || stopped {
				return
			}
			stopped = true
			for j := range r.Running() { // job 2, which has just begun, and had waited
				r.Preempt(j, 0)
				_, told := r.WhyTold(j)
				require.False(t, told)
				r.TellWhy(j, entity.Why{Text: "again"})
				w, ok := r.Plan.Find(j.Request, r.Now, r.Now)
				require.True(t, ok)
				r.Reserve(j, w)
			}
		},
	}, h)
	require.True(t, stopped)
	require.Equal(t, []entity.Why{{Text: "job 2"}, {Text: "job 3"}, {Text: "again"}}, h.heard)
}

func TestAJobThatLosesItsReservationIsToldAnew(t *testing.T) {
	lost := false
	play(t, telling{say: func(r *entity.Round, j *entity.Run) {
		r.TellWhy(j, entity.Why{Text: "full"})
		if w, ok := r.Plan.Find(j.Request, r.Now, des.Forever); ok && !lost {
			require.True(t, r.Reserve(j, w))
			r.Withdraw(j)
			_, told := r.WhyTold(j)
			require.False(t, told)
			lost = true
		}
	}}, &hearing{})
	require.True(t, lost)
}

func TestReasonsAreLookedForOnlyWhereSomebodyListens(t *testing.T) {
	asked := 0
	p := telling{say: func(r *entity.Round, j *entity.Run) {
		require.Equal(t, asked > 0 || r.WhyObserved(), r.WhyObserved())
		r.Explain(func() { asked++ })
		r.TellWhy(j, entity.Why{Text: "full"})
	}}
	play(t, p)
	require.Zero(t, asked)
	play(t, p, &hearing{})
	require.Equal(t, 4, asked)
}

func TestNothingIsHeldWhereReasonsAreLookedFor(t *testing.T) {
	fits := false
	play(t, telling{say: func(r *entity.Round, j *entity.Run) {
		if j.ID != 2 || fits {
			return
		}
		w, ok := r.Plan.Find(j.Request, r.Now, des.Forever)
		require.True(t, ok)
		require.True(t, r.Hold(j, w))
		r.Explain(func() {
			again, ok := r.Plan.Find(j.Request, r.Now, des.Forever)
			require.True(t, ok)
			require.Equal(t, w, again)
			fits = true
		})
	}}, &hearing{})
	require.True(t, fits)
}

func TestASupposedWindowIsGoneAfterwards(t *testing.T) {
	asked := false
	play(t, telling{say: func(r *entity.Round, j *entity.Run) {
		w, ok := r.Plan.Find(j.Request, r.Now, des.Forever)
		require.True(t, ok)
		require.True(t, r.Suppose(j, w, func() {
			later, ok := r.Plan.Find(j.Request, r.Now, des.Forever)
			require.True(t, ok)
			require.Equal(t, w.End, later.Start)
			require.False(t, r.Suppose(j, w, func() { t.Error("asked of a job that holds a window") }))
			asked = true
		}))
		again, ok := r.Plan.Find(j.Request, r.Now, des.Forever)
		require.True(t, ok)
		require.Equal(t, w, again)
		require.False(t, r.Suppose(j, entity.Window{Start: r.Now, End: r.Now + 10*des.Second, Nodes: 2}, func() { t.Error("asked though it is taken") }))
	}}, &hearing{})
	require.True(t, asked)
}

func TestObstaclesHaveNames(t *testing.T) {
	for o := entity.HeldOtherwise; o <= entity.UntilCycle; o++ {
		read, err := entity.ParseObstacle(o.String())
		require.NoError(t, err)
		require.Equal(t, o, read)
	}
}
