package reproduce

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/stats"
	"github.com/gridslot/gridslot/workload/vo"
)

// smallFlow is a job-flow that is over soon.
func smallFlow(t require.TestingT) jobFlow {
	f := read[jobFlow](t, "job-flow")
	f.Environment.Nodes.Count = 15
	f.Warm, f.Measured, f.Ahead = 200, 400, 400
	f.Loads, f.Overruns = []float64{0.3}, []float64{0, 0.5}
	return f
}

func TestNobodyIsLateWhereNothingOverruns(t *testing.T) {
	table, err := with("job-flow", smallFlow(t)).Run(context.Background(), Config{Cycles: 3, Seed: 2})
	require.NoError(t, err)
	late := 0.0
	for _, r := range table.rows {
		if r.Point == overrunPoint(0) && r.Quantity != meanWait+overOverrun {
			require.Zero(t, r.Ours.Mean, r.ref())
		}
		if r.Point == overrunPoint(0.5) && r.Quantity == delayedShare+overOverrun {
			late += r.Ours.Mean
		}
	}
	require.Positive(t, late)
}

func TestTheSameJobsComeAtEveryLoad(t *testing.T) {
	f := read[jobFlow](t, "job-flow")
	in, err := f.Environment.Generate(1, 0)
	require.NoError(t, err)
	some, many := f.jobs(des.NewStream(1, 0, "x"), in, 0.2), f.jobs(des.NewStream(1, 0, "x"), in, 0.8)
	require.Greater(t, len(many), len(some))
	for i, j := range some {
		require.Equal(t, many[i].Request, j.Request)
		require.InDelta(t, 4*many[i].Submit.Seconds(), j.Submit.Seconds(), 1e-3)
	}
}

func TestTheOfferedLoadIsTheJobsWorkOverWhatNodesCanDo(t *testing.T) {
	f := read[jobFlow](t, "job-flow")
	var load stats.Moments
	for cycle := range uint64(200) {
		in, err := f.Environment.Generate(3, cycle)
		require.NoError(t, err)
		work, power := 0.0, 0.0
		for _, j := range f.jobs(des.NewStream(3, cycle, "x"), in, 0.6) {
			work += float64(j.Request.Nodes) * j.Request.Length.Seconds()
		}
		for _, n := range in.Nodes {
			power += n.Perf
		}
		load.Add(work / (power * float64(2*f.Warm+f.Measured)))
	}
	e := load.Interval(0.999)
	require.InDelta(t, 0.6, e.Mean, e.HalfWidth)
	require.Less(t, e.HalfWidth, 0.02)
}

// Three jobs on two empty nodes, of which the last two come while it is measured:
//
//	second   0         10        20        30        40
//	node 1   . . 0 0 0 0 0 0 0 1 1 1 1 1 . . . . . . .
//	node 2   . . 0 0 0 0 0 . . . . . . . . . . . . . .
//	                   | measured          |
//
// Job 0 overruns by 4 on node 1, behind which job 1 is planned at 14.
func TestWhatIsSeenOfAFlow(t *testing.T) {
	in := instance(nil, nil)
	in.End = 60 * des.Second
	s := &script{windows: []entity.Window{windowOn(4, 14, in.Nodes...), windowOn(14, 24, in.Nodes[0]), {}}}
	s.windows[1].Cost = 5
	o := flowObservations{from: 10 * des.Second, to: 20 * des.Second}
	o.dispatcher = dispatcher{
		search: search{Name: "script", Search: finder{s}}, look: o.see,
		until: func(now des.Time) des.Time { return now + 30*des.Second },
		longer: func(_ string, keys ...uint64) func(des.Time) des.Time {
			first := keys[0] == 0
			return func(planned des.Time) des.Time {
				if first {
					first = false
					return planned + 4*des.Second
				}
				return planned
			}
		},
	}
	job := func(id int64, submit des.Time, nodes int) *entity.Job {
		return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: 10 * des.Second,
			Request: entity.Request{Nodes: nodes, Length: 10 * des.Second}}
	}
	jobs := []*entity.Job{job(0, 0, 2), job(1, 10, 1), job(2, 16, 2), job(3, 20, 1)}
	s.windows = append(s.windows, entity.Window{})
	require.NoError(t, o.run(context.Background(), in, jobs))
	seen := map[string]float64{}
	o.tell(func(quantity string, x float64) { seen[quantity] = x }, jobs)
	want := map[string]float64{
		delayedShare: 1, meanDelay: 4, meanWait: 8, refusedShare: 0.5,
		slowdown: 1.8, // 8 + 10 over 10
		unitCost: 0.5,
		// node 1 from 10 to 18 and from 18 on, node 2 from 10 to 14
		utilization: 14. / 20,
		// At 10 both nodes are expected at 14 and looked at until 40; at 16 node 2 is
		// free until 46 and node 1, which goes on, is expected to have job 1 until 26.
		slotLength:  (26 + (20+30)/2.) / 2,
		earliestFit: (4 + 10) / 2., // of one node at 10; of two at 16
	}
	require.Equal(t, want, seen)
}

func TestOnlyOwnersTasksOfTheTimeMeasuredCount(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 9), seconds(9, 10), seconds(12, 14), seconds(20, 21)})
	overrun := []des.Time{2, 0, 0, 0}
	o := flowObservations{from: 10 * des.Second, to: 20 * des.Second}
	o.dispatcher = dispatcher{
		until: func(des.Time) des.Time { return in.End },
		longer: func(string, ...uint64) func(des.Time) des.Time {
			k := -1
			return func(planned des.Time) des.Time { k++; return planned + overrun[k]*des.Second }
		},
	}
	require.NoError(t, o.run(context.Background(), in, nil))
	seen := map[string]float64{}
	o.tell(func(quantity string, x float64) { seen[quantity] = x }, nil)
	require.Equal(t, map[string]float64{ownersDelayed: 0, utilization: 0}, seen, "the one that is late was due at 9")
}

func TestTimeUsedIsThatWithinTheTimeMeasured(t *testing.T) {
	for _, c := range []struct{ start, real, used des.Time }{{0, 5, 0}, {0, 12, 2}, {12, 3, 3}, {15, 10, 5}, {25, 3, 0}, {5, 30, 10}} {
		a := activity{start: c.start, parts: []part{{real: c.real}}}
		require.Equal(t, c.used, a.usedWithin(10, 20), c)
	}
}

func TestOwnersUseTheirNodesAsFarAsAnybodyLooks(t *testing.T) {
	f := smallFlow(t)
	f.Loads = []float64{0.03}
	table, err := with("job-flow", f).Run(context.Background(), Config{Cycles: 10, Seed: 2})
	require.NoError(t, err)
	for _, r := range table.rows {
		if r.Quantity == slotLength+overLoad {
			require.Less(t, r.Ours.Mean, 0.6*float64(f.Ahead), r.Series)
		}
	}
}

func TestWhoIsToldOrPaddedFaresOtherwise(t *testing.T) {
	table, err := with("job-flow", smallFlow(t)).Run(context.Background(), Config{Cycles: 4, Seed: 2})
	require.NoError(t, err)
	delay := map[string]float64{}
	for _, r := range table.rows {
		if r.Quantity == meanDelay+overOverrun && r.Point == overrunPoint(0.5) {
			delay[r.Series] = r.Ours.Mean
		}
	}
	require.Less(t, delay["FirstFit, padded"], delay["FirstFit"])
	require.NotEqual(t, delay["FirstFit, told"], delay["FirstFit"])
	require.NotEqual(t, delay["DEP, told"], delay["DEP"])
}

// A job of two nodes that is given 15 units ends after 10 on one of them.
func TestWhatEndsEarlyIsFree(t *testing.T) {
	in := instance(nil, nil)
	s := &script{windows: []entity.Window{windowOn(0, 15, in.Nodes...), {}}}
	d := &dispatcher{
		search: search{Name: "padded", Search: finder{s}, Margin: 0.5},
		until:  func(des.Time) des.Time { return in.End },
		longer: func(string, ...uint64) func(des.Time) des.Time {
			more := -4 * des.Second
			return func(estimate des.Time) des.Time { more += 4 * des.Second; return estimate + more }
		},
	}
	ask := entity.Request{Nodes: 2, Length: 10 * des.Second}
	require.NoError(t, d.run(context.Background(), in, []*entity.Job{
		{Runtime: ask.Length, Request: ask}, {ID: 1, Submit: 12 * des.Second, Runtime: ask.Length, Request: ask},
	}))
	require.Equal(t, [][3]des.Time{{1, 12, 100}, {2, 15, 100}}, shown(s.shown[1]))
}

func TestWhoIsToldKnowsUntilWhenATaskGoesOn(t *testing.T) {
	for now, free := range map[des.Time]des.Time{5: 10, 9: 10, 10: 18, 13: 18, 18: 18, 30: 30} {
		in := instance([]vo.Span{seconds(0, 10)})
		s := &script{windows: make([]entity.Window, 1)}
		d := &dispatcher{
			search: search{Name: "script", Search: finder{s}, Told: true},
			until:  func(des.Time) des.Time { return in.End },
			longer: func(string, ...uint64) func(des.Time) des.Time {
				return func(planned des.Time) des.Time { return planned + 8*des.Second }
			},
		}
		job := &entity.Job{Submit: now * des.Second, Runtime: 1, Request: entity.Request{Nodes: 1, Length: 1}}
		require.NoError(t, d.run(context.Background(), in, []*entity.Job{job}))
		require.Equal(t, [][3]des.Time{{1, free, 100}}, shown(s.shown[0]), "at %d", now)
	}
}

// asked is a finder that says what it was asked for.
type asked struct {
	plan.Finder
	requests []entity.Request
}

func (*asked) Name() string { return "asked" }

func (a *asked) Find(ctx context.Context, r entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	a.requests = append(a.requests, r)
	return a.Finder.Find(ctx, r, list, until)
}

func TestAPaddedJobAsksForMoreAndTakesWhatItTakes(t *testing.T) {
	in := instance(nil)
	recorder := &asked{Finder: firstFit}
	d := &dispatcher{
		search: search{Name: "padded", Search: finder{recorder}, Margin: 0.5},
		until:  func(des.Time) des.Time { return in.End },
		longer: func(string, ...uint64) func(des.Time) des.Time {
			return func(estimate des.Time) des.Time { return estimate + 2*des.Second }
		},
	}
	job := &entity.Job{Runtime: 20 * des.Second, Request: entity.Request{Nodes: 1, Length: 20 * des.Second, Budget: 24}}
	require.NoError(t, d.run(context.Background(), in, []*entity.Job{job}))
	require.Equal(t, 30*des.Second, recorder.requests[0].Length)
	require.Equal(t, 36., recorder.requests[0].Budget)
	a := d.jobs[0]
	require.Equal(t, 30*des.Second, a.parts[0].planned)
	require.Equal(t, 22*des.Second, a.finish())
	require.Equal(t, 30., a.cost)
}

func TestADependabilitysJobsComeBeforeTheIntervalEnds(t *testing.T) {
	d := read[streamOfJobs](t, "dependability")
	d.Jobs = 200
	jobs := d.jobs(des.NewStream(1, 0, "x"), 1200*des.Second)
	require.Less(t, len(jobs), d.Jobs)
	require.Less(t, jobs[len(jobs)-1].Submit, 1200*des.Second)
	require.Greater(t, jobs[len(jobs)-1].Submit, 1100*des.Second)
}

// The flow of TestWhatIsSeenOfAFlow, all of it, with a short job more.
func TestWhatDependabilityTells(t *testing.T) {
	in := instance(nil, nil)
	windows := []entity.Window{windowOn(4, 14, in.Nodes...), windowOn(14, 24, in.Nodes[0]), windowOn(18, 20, in.Nodes[1]), {}}
	first := true
	flow, _ := dispatch(t, in, []des.Time{0, 10, 16, 20}, windows, func(string, uint64) des.Time {
		if first {
			first = false
			return 4
		}
		return 0
	})
	e := streamOfJobs{Jobs: 5}
	see := sight{index: map[ref]int{}, values: make([]float64, 6)}
	for i, q := range []string{delayedShare, meanDelay, meanWait, lastFinish, utilization, refusedShare} {
		see.index[ref{"script", "x", q}] = i
	}
	e.tell(flow, see, "x")
	require.Equal(t, []float64{1 / 3., 4 / 3., 14 / 3., 28, 36. / (2 * 28), 0.4}, see.values)
}
