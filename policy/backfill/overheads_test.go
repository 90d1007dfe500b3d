package backfill_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// To plans and policies overheads are nothing but longer jobs: each job starts when
// one starts that asks for so much more and takes so much more.
func TestOverheadsAreLongerJobs(t *testing.T) {
	uniform := func(most int) flow.Duration { return between{des.Time(most).Seconds()} }
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 12).Draw(t, "procs")
		jobs := drawJobs(t, procs)
		for _, j := range jobs {
			j.Shapes = nil
			if rapid.IntRange(0, 3).Draw(t, "outlives its estimate") == 0 {
				j.Runtime = j.Request.Length + 3
			}
		}
		policy := rapid.SampledFrom([]entity.Policy{
			backfill.FCFS{}, backfill.EASY{}, backfill.EASY{Order: backfill.WFP3}, backfill.Conservative{},
		}).Draw(t, "policy")
		o := &flow.Overheads{
			Dispatch: flow.Constant(des.Time(rapid.IntRange(0, 3).Draw(t, "dispatch")).Seconds()),
			Prologue: uniform(rapid.IntRange(0, 9).Draw(t, "prologue")),
			Epilogue: uniform(rapid.IntRange(0, 9).Draw(t, "epilogue")),
		}
		pass := rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach}).Draw(t, "pass")
		wakes := drawWakes(t)
		exact := rapid.Bool().Draw(t, "runtimes are predicted")
		run := func(jobs []*entity.Job, more ...entity.Observer) became {
			sim, got := des.New(des.Config{Seed: 3}), became{}
			m := entity.NewMetascheduler(sim, plan.NewCluster(procs), policy, append(more, got)...)
			m.Pass, m.Wakes = pass, wakes
			if exact {
				m.Predictor = entity.Exact{}
			}
			m.SubmitAll(slices.Values(jobs))
			require.NoError(t, sim.Run(context.Background()))
			return got
		}
		got := run(jobs, o)
		longer := make([]*entity.Job, len(jobs))
		for i, j := range jobs {
			l := *j
			over := o.Of(j.ID, 0).Total()
			l.Runtime, l.Request.Length = l.Runtime+over, l.Request.Length+over
			longer[i] = &l
		}
		want := run(longer)
		for i, j := range jobs {
			w, g := want[longer[i]], got[j]
			require.Equal(t, w.State, g.State, "%v under %s", j, policy.Name())
			require.Equal(t, w.Start, g.Start, "%v under %s", j, policy.Name())
			require.Equal(t, w.Finish, g.Finish, "%v under %s", j, policy.Name())
			a := g.Latest()
			require.Equal(t, o.Of(j.ID, 0).Total(), a.Overhead)
			require.Equal(t, min(j.Runtime, j.Request.Length), a.Work)
			require.Equal(t, j.Request.Length, g.Job.Request.Length, "what its user said stays")
		}
	})
}

// between draws evenly from nothing to so many seconds.
type between struct{ most float64 }

func (b between) Rand(r *rand.Rand) float64 { return float64(b.most * r.Float64()) }
