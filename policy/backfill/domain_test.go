package backfill_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// The policies of this package on named nodes, whoever chooses the windows.

// ledger checks a run on nodes as it sees it, apart from plan and policy.
type ledger struct {
	t     require.TestingT
	until map[*entity.Node]des.Time // what was reserved of each node
	taken map[*entity.Node]*entity.Run
	held  map[*entity.Run]des.Time // the earliest start promised while head
	first map[*entity.Run]des.Time // the first start promised
	order []int64                  // of the starts
	log   []string
}

func newLedger(t require.TestingT) *ledger {
	return &ledger{
		t: t, until: map[*entity.Node]des.Time{}, taken: map[*entity.Node]*entity.Run{},
		held: map[*entity.Run]des.Time{}, first: map[*entity.Run]des.Time{},
	}
}

func (l *ledger) Observe(e entity.JobEvent) {
	j := e.Run
	l.log = append(l.log, fmt.Sprintln(e.Time, j, e.Kind, e.Start))
	switch e.Kind {
	case entity.JobPromised:
		if _, known := l.first[j]; !known {
			l.first[j] = e.Start
		}
		if bound, known := l.held[j]; e.Head && (!known || e.Start < bound) {
			l.held[j] = e.Start
		}
	case entity.JobStarted:
		l.order = append(l.order, j.Seq())
		w := j.Reservation.Window
		cost := 0.0
		require.Len(l.t, w.Tasks, j.Request.Nodes)
		for _, task := range w.Tasks {
			n := task.Node
			if other := l.taken[n]; other != nil {
				// Within one instant ends come first; a node is given back when its
				// own task ends, before the job does.
				require.LessOrEqual(l.t, l.until[n], e.Time, "node %d is taken by %v and given to %v", n.ID, other, j)
			}
			l.taken[n] = j
			l.until[n] = w.Start + j.RealTime(task.End-w.Start)
			require.GreaterOrEqual(l.t, task.End-w.Start, n.TaskTime(j.Request.Length))
			cost += n.Price * (task.End - w.Start).Seconds()
		}
		require.LessOrEqual(l.t, cost, j.Request.BudgetLimit()*(1+1e-9))
	}
}

// run is one simulation of jobs on nodes.
func run(t require.TestingT, all []*entity.Node, f plan.Finder, p entity.Policy, jobs []entity.Job, locals []flow.LocalJob) (*ledger, []*entity.Run) {
	d, err := plan.NewDomain(all, f)
	require.NoError(t, err)
	d.Interval = 300 * des.Second
	l, runs := newLedger(t), became{}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, d, p, l, runs)
	flow.NewLocalFlow(d, meta).Submit(slices.Values(locals))
	meta.SubmitAll(each(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.Zero(t, meta.Queue().Len())
	var list []*entity.Run
	for j := range each(jobs) {
		list = append(list, runs[j])
	}
	for _, j := range list {
		require.Contains(t, []entity.RunState{entity.Finished, entity.Rejected}, j.State)
	}
	return l, list
}

func each(jobs []entity.Job) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		for i := range jobs {
			if !yield(&jobs[i]) {
				return
			}
		}
	}
}

func units(r *rapid.Generator[int]) *rapid.Generator[des.Time] {
	return rapid.Map(r, func(u int) des.Time { return des.Time(u) * des.Second })
}

// world draws nodes, jobs and owners' jobs that are known from the beginning.
func world(t *rapid.T) (all []*entity.Node, jobs []entity.Job, locals []flow.LocalJob) {
	equals := rapid.Bool().Draw(t, "equal nodes") // some, and the others are few of a kind
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		if p := float64(rapid.IntRange(1, 4).Draw(t, "performance")); equals {
			all = append(all, &entity.Node{ID: i, Perf: max(1, p-2), Price: max(1, p-2)})
		} else {
			all = append(all, &entity.Node{ID: i, Perf: p, Price: p * rapid.Float64Range(0.8, 1.3).Draw(t, "deviation"), Q: float64(i)})
		}
	}
	for i := range rapid.IntRange(5, 25).Draw(t, "jobs") {
		length := units(rapid.IntRange(1, 60)).Draw(t, "length")
		n := rapid.IntRange(1, len(all)).Draw(t, "n")
		jobs = append(jobs, entity.Job{
			ID: int64(i), Submit: units(rapid.IntRange(0, 40)).Draw(t, "submit"),
			Runtime: des.Time(float64(length) * rapid.SampledFrom([]float64{0.2, 0.5, 1}).Draw(t, "real part")),
			Request: entity.Request{
				Nodes: n, Length: length,
				Budget: float64(n) * length.Seconds() * rapid.SampledFrom([]float64{0, 1.1, 1.6}).Draw(t, "wealth"),
			},
		})
	}
	slices.SortStableFunc(jobs, func(a, b entity.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for range rapid.IntRange(0, 8).Draw(t, "owners' jobs") {
		locals = append(locals, flow.LocalJob{
			Node:   rapid.SampledFrom(all).Draw(t, "node"),
			Start:  units(rapid.IntRange(0, 100)).Draw(t, "start"),
			Length: units(rapid.IntRange(1, 30)).Draw(t, "local length"),
		})
	}
	return all, jobs, locals
}

// earliest finders answer with the earliest start there is.
var earliest = []plan.Finder{window.AMP{}, window.Cheapest{Goal: window.FirstFit}}

// choosy ones may prefer a later one.
var choosy = []plan.Finder{
	window.AEP{By: window.MinCost}, window.AEP{By: window.MinFinish}, window.CSA{By: window.MinRunTime},
	window.Cheapest{Goal: window.LeastCost}, window.MultipleBest{By: window.DEP{}},
	window.Best{By: window.Q{}}, window.Best{By: window.DEP{}}, window.Best{By: window.COORD{}},
	window.Best{Settings: window.Settings{AnyStart: true}, By: window.COORD{}},
}

func anyFinder(t *rapid.T) plan.Finder {
	return rapid.SampledFrom(slices.Concat(earliest, choosy)).Draw(t, "finder")
}

func TestFCFSOnNodesStartsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, jobs, locals := world(t)
		l, _ := run(t, all, anyFinder(t), backfill.FCFS{}, jobs, locals)
		require.IsIncreasing(t, append([]int64{-1}, l.order...))
	})
}

func TestEASYOnNodesNeverDelaysTheHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, jobs, locals := world(t)
		l, _ := run(t, all, rapid.SampledFrom(earliest).Draw(t, "finder"), backfill.EASY{}, jobs, locals)
		for j, start := range l.held {
			require.LessOrEqual(t, j.Start, start, "%v", j)
		}
	})
}

func TestEASYOnNodesRunsEveryJobWhateverTheFinder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, jobs, locals := world(t)
		run(t, all, anyFinder(t), backfill.EASY{}, jobs, locals)
	})
}

func TestConservativeOnNodesKeepsItsFirstPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, jobs, locals := world(t)
		l, _ := run(t, all, anyFinder(t), backfill.Conservative{}, jobs, locals)
		for j, start := range l.first {
			require.LessOrEqual(t, j.Start, start, "%v", j)
		}
	})
}

func TestRunsOnNodesRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, jobs, locals := world(t)
		f := anyFinder(t)
		p := rapid.SampledFrom([]entity.Policy{
			backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}, backfill.PublishedEASY{EASY: backfill.EASY{Order: backfill.F1}, NoBackfilling: true, Sticky: true, Window: 3},
			backfill.PublishedEASY{EASY: backfill.EASY{Order: backfill.WFP3}, Sticky: true, Window: 4, StrictShadow: true}, backfill.PublishedEASY{EASY: backfill.EASY{Order: backfill.SmallestFirst}, NoSpare: true},
		}).Draw(t, "policy")
		one, _ := run(t, all, f, p, jobs, locals)
		two, _ := run(t, all, f, p, jobs, locals)
		require.Equal(t, one.log, two.log)
	})
}
