package preempt_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/preempt"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/model"
)

// linear is a job of so much work, in processor ticks, that runs on 1 to most.
func linear(id int64, submit, work des.Time, most int) *entity.Job {
	j := &entity.Job{ID: id, Submit: submit, Runtime: work, Request: entity.Request{Nodes: 1, Length: work}}
	j.Shapes = model.Moldable{Model: model.Linear{}, From: 1, To: float64(most)}.Shapes(j)
	return j
}

// world is a cluster under equipartition with everything that keeps accounts.
type world struct {
	sim     *des.Simulator
	meta    *entity.Metascheduler
	seen    *validate.Validator
	account *metrics.CapacityAccount
	resized int
}

func newWorld(processors int, cost des.Time) *world {
	w := &world{sim: des.New(des.Config{}), seen: &validate.Validator{}, account: &metrics.CapacityAccount{}}
	w.meta = entity.NewMetascheduler(w.sim, plan.NewCluster(processors), preempt.Equipartition{Cost: cost}, w.seen, w.account, w)
	w.meta.Placer = entity.LowestFirst{}
	return w
}

func (w *world) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobResized {
		w.resized++
	}
}

func (w *world) run(t require.TestingT) {
	require.NoError(t, w.sim.Run(context.Background()))
	report := w.seen.Report(true)
	require.NoError(t, report.Err(), "%v", report)
	require.NoError(t, w.account.Check())
	if w.resized > 0 {
		require.True(t, w.account.Again(), "a run with resizes has attempts to tell of")
	}
}

// Jobs that are all there at the beginning and have a linear speed-up share the
// machine as processor sharing does: with works w1 <= w2 <= ... <= wn on P
// processors the k-th one ends at
//
//	(w1 n + (w2-w1)(n-1) + ... + (wk-w(k-1))(n-k+1)) / P
func TestJobsOfOneInstantEndAsUnderProcessorSharing(t *testing.T) {
	const processors = 60 // which 1 to 6 jobs can share
	rapid.Check(t, func(t *rapid.T) {
		works := rapid.SliceOfN(rapid.Int64Range(1, 5000), 1, 6).Draw(t, "works in processor seconds")
		slices.Sort(works)
		order := rapid.Permutation(works).Draw(t, "order of submission")
		w := newWorld(processors, 0)
		var runs []*entity.Run
		for i, work := range order {
			runs = append(runs, w.meta.Submit(linear(int64(i), 0, des.Time(work)*des.Second, processors)))
		}
		w.run(t)
		slices.SortStableFunc(runs, func(a, b *entity.Run) int { return int(a.Job.Runtime - b.Job.Runtime) })
		var end, before int64 // in 1/60 s
		for k, r := range runs {
			end += (works[k] - before) * int64(len(works)-k)
			before = works[k]
			require.InDelta(t, float64(end)/processors, r.Finish.Seconds(), 1e-4, "number %d of %v", k, works)
		}
	})
}

// Whatever comes when, on however many processors, and whatever a resize costs: the
// parts of its work that a job's attempts have done make up the whole, and the
// capacity goes into work, overhead and idleness to the tick.
func TestAttemptsTogetherDoTheWholeWork(t *testing.T) {
	resized := 0
	rapid.Check(t, func(t *rapid.T) {
		cost := des.Time(rapid.Int64Range(0, 3).Draw(t, "cost")) * des.Second
		w := newWorld(rapid.IntRange(1, 9).Draw(t, "processors"), cost)
		w.meta.Pass = entity.Pass(rapid.IntRange(0, 2).Draw(t, "pass"))
		w.meta.Checkpoints = entity.Checkpoints{Interval: des.Time(rapid.IntRange(0, 9).Draw(t, "interval")) * des.Second, Cost: des.Time(rapid.IntRange(0, 2).Draw(t, "a checkpoint")) * des.Second}
		var runs []*entity.Run
		var at des.Time
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			at += des.Time(rapid.IntRange(0, 20).Draw(t, "gap")) * des.Second
			work := des.Time(rapid.Int64Range(1, 200).Draw(t, "work")) * des.Second
			j := linear(int64(i), at, work, rapid.IntRange(1, 12).Draw(t, "most"))
			if rapid.Bool().Draw(t, "longer estimates") {
				j.Request.Length *= 2
				j.Shapes = model.Moldable{Model: model.Amdahl{Serial: 0.1}, From: 1, To: 7}.Shapes(j)
			}
			runs = append(runs, w.meta.Submit(j))
		}
		for range rapid.IntRange(0, 3).Draw(t, "preemptions") {
			victim := rapid.SampledFrom(runs).Draw(t, "victim")
			keep := rapid.SampledFrom([]des.Time{0, 4 * des.Second, des.Forever}).Draw(t, "keep")
			w.sim.At(des.Time(rapid.IntRange(0, 150).Draw(t, "at"))*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { w.meta.Preempt(victim, keep) }), 0)
		}
		w.run(t)
		resized += w.resized
		for _, r := range runs {
			require.Equal(t, entity.Finished, r.State)
			parts := 0.0
			for a := range r.Attempts() {
				shape, ok := r.Job.In(a.Window.Nodes)
				require.True(t, ok)
				require.Equal(t, a.End-a.Start, a.Work+a.Overhead)
				parts += float64(a.Kept) / float64(shape.Runtime)
			}
			require.InDelta(t, 1, parts, 1e-5*float64(len(r.Earlier())+1), "%v", r)
		}
	})
	require.Greater(t, resized, 20, "too few to test anything") // -short draws 20 worlds
}

// Four jobs on ten processors, the first of which can use two at most: 2, 3, 3 and 2,
// in order of submission.
func TestWhatOneJobCannotUseTheOthersShare(t *testing.T) {
	w := newWorld(10, 0)
	var runs []*entity.Run
	for i, most := range []int{2, 10, 10, 10} {
		runs = append(runs, w.meta.Submit(linear(int64(i), 0, 60*des.Second, most)))
	}
	rigid := w.meta.Submit(&entity.Job{ID: 9, Submit: des.Second, Runtime: des.Second, Request: entity.Request{Nodes: 6, Length: des.Second}})
	w.sim.At(des.Second/1000, entity.PhaseStart, des.Func(func(*des.Simulator, des.Event) {
		var has []int
		for _, r := range runs {
			has = append(has, r.Request.Nodes)
		}
		require.Equal(t, []int{2, 3, 3, 2}, has)
	}), 0)
	w.sim.At(des.Second, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) {
		var has []int
		for _, r := range runs {
			has = append(has, r.Request.Nodes)
		}
		require.Equal(t, []int{1, 1, 1, 1}, has, "they make room for one that cannot have less")
	}), 0)
	w.run(t)
	require.Equal(t, des.Second, rigid.Start)
}

func TestAJobThatCannotHaveItsLeastWaitsAndSoDoThoseBehind(t *testing.T) {
	w := newWorld(4, 0)
	first := w.meta.Submit(linear(1, 0, 8*des.Second, 4))
	wide := w.meta.Submit(&entity.Job{ID: 2, Runtime: des.Second, Request: entity.Request{Nodes: 4, Length: des.Second}})
	behind := w.meta.Submit(linear(3, 0, 4*des.Second, 4))
	w.run(t)
	require.Equal(t, []des.Time{2 * des.Second, 2 * des.Second, 3 * des.Second}, []des.Time{first.Finish, wide.Start, behind.Start})
}

// On one of two nodes each job would take longer than the plan reaches: neither is given
// one, and they run on two, one behind the other.
func TestAShapeThatIsLongerThanThePlanReachesIsNobodysShare(t *testing.T) {
	domain, err := plan.NewDomain([]*entity.Node{{ID: 0, Perf: 1}, {ID: 1, Perf: 1}}, window.AMP{})
	require.NoError(t, err)
	domain.Interval = 20 * des.Second
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, domain, preempt.Equipartition{})
	one, two := meta.Submit(linear(1, 0, 30*des.Second, 2)), meta.Submit(linear(2, 0, 30*des.Second, 2))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []des.Time{15 * des.Second, 30 * des.Second}, []des.Time{one.Finish, two.Finish})
}

// heard keeps what is said of waiting jobs.
type heard []string

func (*heard) Observe(entity.JobEvent) {}

func (h *heard) ObserveWhy(at des.Time, r *entity.Run, w entity.Why) {
	text := fmt.Sprintf("%d: %d %v", int64(at), r.ID, w.What)
	if w.Other != nil {
		text += fmt.Sprintf(" %d", w.Other.ID)
	}
	*h = append(*h, text)
}

// A rigid job takes three of four processors. The next job wants two at least, and the one behind
// it waits for its turn though it would fit.
func TestEquipartitionTellsWhyJobsWait(t *testing.T) {
	rigid := func(id int64, nodes int, length des.Time) *entity.Job {
		return &entity.Job{ID: id, Runtime: length, Request: entity.Request{Nodes: nodes, Length: length}}
	}
	var said heard
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), preempt.Equipartition{}, &said)
	m.SubmitAll(slices.Values([]*entity.Job{rigid(1, 3, 10), rigid(2, 2, 5), rigid(3, 1, 5), rigid(4, 1, 5)}))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, heard{"0: 2 other", "0: 3 behind 2", "0: 4 behind 2"}, said)
}
