package cyclic_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

const unit = des.Second

// drawSlots draws what is free on up to 8 nodes in a cycle of 200 units.
func drawSlots(t *rapid.T) plan.SlotList {
	list := plan.SlotList{To: 200 * unit}
	for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		p := rapid.SampledFrom([]float64{1, 1.5, 2, 3, 4}).Draw(t, "performance")
		n := &entity.Node{ID: i, Perf: p, Price: p * rapid.Float64Range(0.7, 1.4).Draw(t, "deviation"), Q: float64(i)}
		at := des.Time(rapid.IntRange(0, 30).Draw(t, "busy")) * unit
		for at < list.To {
			end := min(at+des.Time(rapid.IntRange(1, 200).Draw(t, "free"))*unit, list.To)
			list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, Start: at, End: end})
			at = end + des.Time(rapid.IntRange(1, 40).Draw(t, "busy"))*unit
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return int(a.Start - b.Start) })
	return list
}

var criteria = []plan.Finder{
	nil, window.ALP{}, window.AEP{By: window.MinCost}, window.AEP{By: window.MinRunTime}, window.AEP{By: window.MinFinish},
	window.AEP{By: window.MinProcTime}, window.CSA{}, window.Cheapest{Goal: window.FirstFit}, window.Best{By: window.Q{}},
}

func drawBatch(t *rapid.T, withCriteria bool) []cyclic.Item {
	batch := make([]cyclic.Item, rapid.IntRange(0, 9).Draw(t, "jobs"))
	for i := range batch {
		n, length := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 80).Draw(t, "length")
		batch[i].Request = entity.Request{
			Nodes: n, Length: des.Time(length) * unit, MinPerf: rapid.SampledFrom([]float64{0, 1, 2}).Draw(t, "least performance"),
			Budget:   float64(n) * float64(length) * rapid.SampledFrom([]float64{0, 0.9, 1.3}).Draw(t, "wealth"),
			Deadline: des.Time(rapid.SampledFrom([]int{0, 0, 90}).Draw(t, "deadline")) * unit,
		}
		if withCriteria {
			batch[i].Request.Criterion = rapid.SampledFrom(criteria).Draw(t, "criterion")
			if _, byPrice := batch[i].Request.Criterion.(window.ALP); byPrice { // it makes a price of the budget at this performance
				batch[i].Request.MinPerf = max(batch[i].Request.MinPerf, 1)
			}
		}
	}
	return batch
}

func drawChoice(t *rapid.T) cyclic.Choice {
	return cyclic.Choice{
		Problem:     rapid.SampledFrom(cyclic.Problems[:]).Draw(t, "problem"),
		TimeLimit:   cyclic.TimeLimit(rapid.IntRange(0, 2).Draw(t, "T*")),
		BudgetLimit: cyclic.BudgetLimit(rapid.IntRange(0, 1).Draw(t, "B*")),
		MaxTime:     des.Time(rapid.SampledFrom([]int{0, 0, 0, 150}).Draw(t, "fixed T*")) * unit,
		MaxCost:     rapid.SampledFrom([]float64{0, 0, 0, 200}).Draw(t, "fixed B*"),
		Grid:        rapid.SampledFrom([]float64{0, 0, 1}).Draw(t, "grid"),
	}
}

func drawSlicer(t *rapid.T) cyclic.BatchSlicer {
	return cyclic.BatchSlicer{
		Slices: rapid.IntRange(0, 10).Draw(t, "k"),
		Search: cyclic.Search{Rounds: rapid.IntRange(0, 3).Draw(t, "rounds"), PerJob: rapid.IntRange(0, 3).Draw(t, "a job")},
		Choice: drawChoice(t),
		Shift:  cyclic.Shift(rapid.IntRange(0, 2).Draw(t, "shift")),
	}
}

func drawPlanner(t *rapid.T) cyclic.Planner {
	s := drawSlicer(t)
	return rapid.SampledFrom([]cyclic.Planner{
		cyclic.CSS{Search: s.Search, Choice: s.Choice, Shift: s.Shift}, s, cyclic.Filling{},
		cyclic.BSF{Slicer: s, Share: cyclic.Share{Q: rapid.Float64Range(0, 1).Draw(t, "q"), By: cyclic.Selection(rapid.IntRange(0, 2).Draw(t, "selection"))}},
	}).Draw(t, "planner")
}

// checkPlan holds a plan against its definition: every window within its
// request and within the slots, no node twice, and the slots left are those that
// were there less the windows.
func checkPlan(t require.TestingT, batch []cyclic.Item, list plan.SlotList, out *cyclic.Outcome) {
	require.Len(t, out.Jobs, len(batch))
	type task struct {
		node       *entity.Node
		start, end des.Time
	}
	var tasks []task
	var taken des.Time
	for i, d := range out.Jobs {
		if !d.OK {
			require.NotEmpty(t, d.Reason)
			continue
		}
		require.Empty(t, d.Reason)
		r, w := batch[i].Request, d.Window
		require.Len(t, w.Tasks, r.Nodes)
		require.LessOrEqual(t, w.Cost, r.BudgetLimit()*(1+1e-9))
		require.LessOrEqual(t, w.End, r.DeadlineLimit())
		cost := 0.0
		for _, k := range w.Tasks {
			require.True(t, r.Admits(k.Node))
			require.GreaterOrEqual(t, k.End-w.Start, k.Node.TaskTime(r.Length))
			require.LessOrEqual(t, k.End, w.End)
			cost += k.Node.Price * (k.End - w.Start).Seconds()
			require.True(t, slices.ContainsFunc(list.Slots, func(s entity.Slot) bool {
				return s.Node == k.Node && s.Start <= w.Start && k.End <= s.End
			}), "job %d is not within the slots", i)
			for _, o := range tasks {
				require.False(t, o.node == k.Node && o.start < k.End && w.Start < o.end, "node %d twice", k.Node.ID)
			}
			tasks = append(tasks, task{k.Node, w.Start, k.End})
			taken += k.End - w.Start
		}
		require.InDelta(t, cost, w.Cost, 1e-6)
	}
	require.NoError(t, window.CheckSlots(out.Left))
	require.Equal(t, free(list)-taken, free(out.Left))
	for _, s := range out.Left.Slots {
		for _, o := range tasks {
			require.False(t, o.node == s.Node && o.start < s.End && s.Start < o.end, "the slots left overlap a window")
		}
	}
}

func free(list plan.SlotList) (sum des.Time) {
	for _, s := range list.Slots {
		sum += s.End - s.Start
	}
	return sum
}

func makePlan(t require.TestingT, p cyclic.Planner, batch []cyclic.Item, list plan.SlotList) *cyclic.Outcome {
	before := slices.Clone(list.Slots)
	out, err := p.Plan(context.Background(), batch, list)
	require.NoError(t, err)
	require.Equal(t, before, list.Slots, "the planner has changed its input")
	return out
}

func TestPlansKeepWithinSlotsRequestsAndBudgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch := drawSlots(t), drawBatch(t, true)
		checkPlan(t, batch, list, makePlan(t, drawPlanner(t), batch, list))
	})
}

func TestChoicesKeepTheirLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, list, batch := drawSlicer(t), drawSlots(t), drawBatch(t, true)
		out := makePlan(t, s, batch, list)
		cost, time := 0.0, des.Time(0)
		for _, slice := range out.Slices {
			c := slice.Combination
			cost += c.Cost
			time += c.Time
			if slice.Infeasible != nil {
				require.Greater(t, slice.Infeasible.Excess(), 0.0)
				for _, i := range slice.Jobs {
					require.False(t, out.Jobs[i].OK)
					require.Contains(t, out.Jobs[i].Reason, "postponed")
				}
			} else if s.Choice.Problem == cyclic.BatchTime {
				require.LessOrEqual(t, c.Cost, c.Limit*(1+1e-9)+1e-9)
			} else {
				require.LessOrEqual(t, c.Time.Seconds(), c.Limit*(1+1e-9)+1e-9)
			}
		}
		if s.Choice.MaxCost > 0 && s.Choice.Problem == cyclic.BatchTime {
			require.LessOrEqual(t, cost, s.Choice.MaxCost*(1+1e-9))
		}
		if s.Choice.MaxTime > 0 && s.Choice.Problem != cyclic.BatchTime {
			require.LessOrEqual(t, time, s.Choice.MaxTime)
		}
	})
}

func TestAlternativesOfABatchAreDisjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch, search := drawSlots(t), drawBatch(t, true), drawSlicer(t).Search
		all, stats, err := search.Run(context.Background(), batch, list)
		require.NoError(t, err)
		type task struct {
			node       *entity.Node
			start, end des.Time
		}
		var tasks []task
		count := 0
		for i := range all {
			count += len(all[i])
			if search.Rounds > 0 {
				require.LessOrEqual(t, len(all[i]), search.Rounds)
			}
			if search.PerJob > 0 {
				require.LessOrEqual(t, len(all[i]), search.PerJob)
			}
			for _, w := range all[i] {
				for _, k := range w.Tasks {
					for _, o := range tasks {
						require.False(t, o.node == k.Node && o.start < k.End && w.Start < o.end)
					}
					tasks = append(tasks, task{k.Node, w.Start, k.End})
				}
			}
		}
		require.Equal(t, count, stats.Alternatives)
	})
}

// The rounds as the papers state them: all jobs are asked in every round.
func TestTheSearchGoesOnUntilNobodyFindsAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch := drawSlots(t), drawBatch(t, true)
		got, _, err := cyclic.Search{}.Run(context.Background(), batch, list)
		require.NoError(t, err)
		want := make([][]entity.Window, len(batch))
		left := list
		left.Slots = slices.Clone(list.Slots)
		for any := true; any; {
			any = false
			for i, j := range batch {
				f, _ := j.Request.Criterion.(plan.Finder)
				if f == nil {
					f = window.AMP{}
				}
				found, err := f.Find(context.Background(), j.Request, left, left.To)
				require.NoError(t, err)
				if !found.OK {
					continue
				}
				want[i] = append(want[i], found.Window)
				any = true
				left.Slots, err = window.Subtract(left.Slots, &found.Window)
				require.NoError(t, err)
			}
		}
		require.Equal(t, want, got)
	})
}

func TestOneSliceWithoutCriteriaIsCSS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch, s := drawSlots(t), drawBatch(t, false), drawSlicer(t)
		s.Slices = 1
		require.Equal(t, makePlan(t, cyclic.CSS{Search: s.Search, Choice: s.Choice, Shift: s.Shift}, batch, list), makePlan(t, s, batch, list))
	})
}

func TestCSSPassesOverCriteria(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch := drawSlots(t), drawBatch(t, true)
		with := makePlan(t, cyclic.CSS{}, batch, list)
		for i := range batch {
			batch[i].Request.Criterion = nil
		}
		require.Equal(t, makePlan(t, cyclic.CSS{}, batch, list), with)
	})
}

func TestAWholeShareIsTheBatchSlicerAndNoneIsFilling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch, s := drawSlots(t), drawBatch(t, true), drawSlicer(t)
		by := cyclic.Selection(rapid.IntRange(0, 2).Draw(t, "selection"))
		all := makePlan(t, cyclic.BSF{Slicer: s, Share: cyclic.Share{Q: 1, By: by}}, batch, list)
		require.Equal(t, makePlan(t, s, batch, list).Jobs, all.Jobs)
		none := makePlan(t, cyclic.BSF{Slicer: s, Share: cyclic.Share{Q: 0, By: by}}, batch, list)
		require.Equal(t, makePlan(t, cyclic.Filling{}, batch, list).Jobs, none.Jobs)
	})
}

func TestShiftStartsNobodyLaterAndChangesNoCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch, s := drawSlots(t), drawBatch(t, true), drawSlicer(t)
		s.Shift = cyclic.NoShift
		before := makePlan(t, s, batch, list)
		s.Shift = cyclic.ShiftEnd
		after := makePlan(t, s, batch, list)
		for i := range batch {
			a, b := before.Jobs[i].Window, after.Jobs[i].Window
			require.LessOrEqual(t, b.Start, a.Start)
			require.Equal(t, a.Cost, b.Cost)
			require.Equal(t, a.Length(), b.Length())
		}
	})
}

// Without the shift the first job has [80, 100) and the second [50, 80).
func TestWindowsAreShiftedInOrderOfTheirStarts(t *testing.T) {
	n := &entity.Node{ID: 1, Perf: 1, Price: 1}
	list := plan.SlotList{To: 100 * unit, Slots: []entity.Slot{
		{Node: n, Width: 1, Start: 5 * unit, End: 8 * unit},
		{Node: n, Width: 1, Start: 10 * unit, End: 100 * unit},
	}}
	batch := []cyclic.Item{
		{Request: entity.Request{Nodes: 1, Length: 20 * unit}},
		{Request: entity.Request{Nodes: 1, Length: 30 * unit}},
	}
	for how, want := range map[cyclic.Shift][]des.Time{
		cyclic.NoShift:    {80 * unit, 50 * unit},
		cyclic.ShiftEnd:   {40 * unit, 10 * unit},
		cyclic.ShiftSlice: {10 * unit, 30 * unit},
	} {
		s := cyclic.BatchSlicer{Slices: 2, Search: cyclic.Search{Finder: latest{}, Rounds: 1}, Shift: how}
		out := makePlan(t, s, batch, list)
		require.Equal(t, want, []des.Time{out.Jobs[0].Window.Start, out.Jobs[1].Window.Start}, "%v", how)
	}
}

// latest finds the last window of a single task on a node: what nobody wants.
type latest struct{}

func (latest) Name() string { return "latest" }

func (latest) Find(_ context.Context, r entity.Request, list plan.SlotList, _ des.Time) (plan.Found, error) {
	for _, s := range slices.Backward(list.Slots) {
		if at := s.End - s.Node.TaskTime(r.Length); at >= s.Start {
			return plan.Found{OK: true, Window: entity.Window{Start: at, End: s.End, Nodes: 1, Tasks: []entity.Task{{Node: s.Node, End: s.End}}}}, nil
		}
	}
	return plan.Found{}, nil
}

func TestSlicesAreEqualButForTheFirst(t *testing.T) {
	n := &entity.Node{ID: 1, Perf: 1, Price: 1}
	list := plan.SlotList{To: 1000 * unit, Slots: []entity.Slot{{Node: n, Width: 1, End: 1000 * unit}}}
	batch := slices.Repeat([]cyclic.Item{{Request: entity.Request{Nodes: 1, Length: unit}}}, 20)
	for k, want := range map[int]string{0: "[20]", 1: "[20]", 3: "[7 7 6]", 6: "[4 4 3 3 3 3]", 30: fmt.Sprint(slices.Repeat([]int{1}, 20))} {
		var sizes []int
		for _, s := range makePlan(t, cyclic.BatchSlicer{Slices: k, Search: cyclic.Search{Rounds: 1}}, batch, list).Slices {
			sizes = append(sizes, len(s.Jobs))
		}
		require.Equal(t, want, fmt.Sprint(sizes))
	}
}

func TestTheShareIsChosenByItsRule(t *testing.T) {
	batch := []cyclic.Item{
		{Request: entity.Request{Budget: 5, MinPerf: 1}},
		{Request: entity.Request{Budget: 9, MinPerf: 3}},
		{Request: entity.Request{Budget: 7, MinPerf: 3}},
		{Request: entity.Request{Budget: 0, MinPerf: 2}}, // no limit: the dearest
	}
	for by, want := range map[cyclic.Selection][]int{
		cyclic.ByPriority: {0, 1}, cyclic.Dearest: {1, 3}, cyclic.MostDemanding: {1, 2},
	} {
		sliced, rest, err := cyclic.Share{Q: 0.5, By: by}.Split(batch)
		require.NoError(t, err)
		require.Equal(t, want, sliced, "%v", by)
		require.Len(t, rest, 2)
	}
	_, _, err := cyclic.Share{Q: math.NaN()}.Split(batch)
	require.Error(t, err)
}

func TestAShareIsRoundedToTheNearestNumberOfJobs(t *testing.T) {
	for _, c := range []struct {
		q       float64
		n, want int
	}{{0.5, 5, 3}, {0.3, 5, 2}, {0.29, 5, 1}, {0.25, 5, 1}, {0.09, 5, 0}, {0.1, 5, 1}, {0.9, 5, 5}, {0.89, 5, 4}, {1, 5, 5}, {0, 5, 0}, {0.7, 0, 0}} {
		sliced, rest, err := cyclic.Share{Q: c.q}.Split(make([]cyclic.Item, c.n))
		require.NoError(t, err)
		require.Len(t, sliced, c.want, "%v of %d jobs", c.q, c.n)
		require.Len(t, rest, c.n-c.want)
	}
}

func TestABatchNoJobOfWhichFitsSaysSo(t *testing.T) {
	n := &entity.Node{ID: 1, Perf: 1, Price: 1}
	list := plan.SlotList{To: 10 * unit, Slots: []entity.Slot{{Node: n, Width: 1, End: 10 * unit}}}
	batch := []cyclic.Item{{Request: entity.Request{Nodes: 2, Length: unit}}, {Request: entity.Request{Nodes: 1, Length: 11 * unit}}}
	for _, p := range []cyclic.Planner{cyclic.CSS{}, cyclic.BatchSlicer{Slices: 2}, cyclic.Filling{}, cyclic.BSF{Share: cyclic.Share{Q: 0.5}}} {
		out := makePlan(t, p, batch, list)
		require.Zero(t, out.Planned())
		require.Equal(t, list, out.Left)
		for _, d := range out.Jobs {
			require.Equal(t, "no window in this cycle", d.Reason)
		}
	}
}

func TestAnEmptyBatchIsPlanned(t *testing.T) {
	for _, p := range []cyclic.Planner{cyclic.CSS{}, cyclic.BatchSlicer{Slices: 5}, cyclic.Filling{}, cyclic.BSF{Share: cyclic.Share{Q: 0.5}}} {
		out := makePlan(t, p, nil, plan.SlotList{To: unit})
		require.Empty(t, out.Jobs)
	}
}

func TestJobsBeyondTheLimitArePostponed(t *testing.T) {
	n := &entity.Node{ID: 1, Perf: 1, Price: 2}
	list := plan.SlotList{To: 100 * unit, Slots: []entity.Slot{{Node: n, Width: 1, End: 100 * unit}}}
	batch := slices.Repeat([]cyclic.Item{{Request: entity.Request{Nodes: 1, Length: 10 * unit}}}, 3)
	out := makePlan(t, cyclic.BatchSlicer{Slices: 3, Choice: cyclic.Choice{Problem: cyclic.BatchTime, MaxCost: 45}}, batch, list)
	require.Equal(t, 2, out.Planned())
	require.Equal(t, "postponed: the budget B* of 5 cost units is 15 too low: no choice of alternatives takes less than 20", out.Jobs[2].Reason)
	require.Equal(t, 15.0, out.Slices[2].Infeasible.Excess())
}

func TestNonsenseIsBadInput(t *testing.T) {
	var bad *plan.BadInputError
	for _, p := range []cyclic.Planner{
		cyclic.CSS{Choice: cyclic.Choice{Grid: -1}}, cyclic.BatchSlicer{Slices: -1}, cyclic.BSF{Share: cyclic.Share{Q: 2}},
	} {
		n := &entity.Node{ID: 1, Perf: 1}
		list := plan.SlotList{To: unit, Slots: []entity.Slot{{Node: n, End: unit}}}
		_, err := p.Plan(context.Background(), []cyclic.Item{{Request: entity.Request{Nodes: 1, Length: unit}}}, list)
		require.ErrorAs(t, err, &bad)
	}
	for _, p := range []cyclic.Planner{cyclic.CSS{}, cyclic.Filling{}} {
		_, err := p.Plan(context.Background(), []cyclic.Item{{Request: entity.Request{Nodes: 1}}}, plan.SlotList{})
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, "job 0 of the batch")
	}
}

// The authors' program drops alternatives that agree in rounded cost and time,
// and counts the place that a job is shifted to.
func TestDistinctAlternativesAreTheFirstOfTheirCostAndTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch, list := drawBatch(t, true), drawSlots(t)
		all, _, err := cyclic.Search{}.Run(context.Background(), batch, list)
		require.NoError(t, err)
		got, _, err := cyclic.Search{Distinct: true}.Run(context.Background(), batch, list)
		require.NoError(t, err)
		for i := range all {
			var want []entity.Window
			for _, w := range all[i] {
				if !slices.ContainsFunc(want, func(v entity.Window) bool {
					return math.Ceil(v.Cost) == math.Ceil(w.Cost) && math.Ceil(v.ProcessorTime().Seconds()) == math.Ceil(w.ProcessorTime().Seconds())
				}) {
					want = append(want, w)
				}
			}
			require.Equal(t, len(want), len(got[i]))
			for k := range want {
				require.Equal(t, want[k], got[i][k])
			}
		}
	})
}

func TestCountingShiftedJobsChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch, list := drawBatch(t, true), drawSlots(t)
		b := cyclic.BatchSlicer{Slices: 2, Shift: cyclic.ShiftSlice}
		unshifted := b
		unshifted.Shift = cyclic.NoShift
		want, err := b.Plan(context.Background(), batch, list)
		require.NoError(t, err)
		before, err := unshifted.Plan(context.Background(), batch, list)
		require.NoError(t, err)
		b.CountShifted = true
		got, err := b.Plan(context.Background(), batch, list)
		require.NoError(t, err)
		for i := range want.Jobs {
			more := got.Jobs[i].Alternatives - want.Jobs[i].Alternatives
			require.Contains(t, []int{0, 1}, more)
			if first := len(batch)+1 >= 2*(i+1); first && want.Jobs[i].OK { // of the first slice: planned alike in all three
				require.Equal(t, want.Jobs[i].Window.Start != before.Jobs[i].Window.Start, more == 1, "job %d", i)
			}
			got.Jobs[i].Alternatives = want.Jobs[i].Alternatives
		}
		require.Equal(t, want.Jobs, got.Jobs)
	})
}

func TestAnInclusiveShareTakesOneJobMore(t *testing.T) {
	batch := make([]cyclic.Item, 20)
	for q, want := range map[float64]int{0: 0, 0.01: 1, 0.2: 5, 0.4: 9, 0.6: 13, 0.8: 17, 1: 20} {
		sliced, rest, err := cyclic.Share{Q: q, Inclusive: true}.Split(batch)
		require.NoError(t, err)
		require.Len(t, sliced, want, "%v", q)
		require.Len(t, rest, 20-want, "%v", q)
	}
}

func TestCostsAndTimesAreRoundedUpBeforeAlternativesAreCompared(t *testing.T) {
	for what, nodes := range map[string][]*entity.Node{
		"cost": {{ID: 1, Perf: 1, Price: 0.95}, {ID: 2, Perf: 1, Price: 1}, {ID: 3, Perf: 1, Price: 1.05}, {ID: 4, Perf: 1, Price: 1.09}},
		"time": {{ID: 1, Perf: 10 / 9.5, Price: 0.01}, {ID: 2, Perf: 1, Price: 0.01}, {ID: 3, Perf: 10 / 10.5, Price: 0.01}, {ID: 4, Perf: 10 / 10.9, Price: 0.01}},
	} {
		list := plan.SlotList{To: 11 * unit}
		for _, n := range nodes {
			list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, End: list.To})
		}
		batch := []cyclic.Item{{Request: entity.Request{Nodes: 1, Length: 10 * unit}}}
		// First fit finds the cheapest first: 9.5, 10, 10.5, 10.9.
		got, _, err := cyclic.Search{Distinct: true}.Run(context.Background(), batch, list)
		require.NoError(t, err)
		var ids []int
		for _, w := range got[0] {
			ids = append(ids, w.Tasks[0].Node.ID)
		}
		require.Equal(t, []int{1, 3}, ids, what)
	}
}

func TestFillingTakesOneWindowForEachJobTheEarliestWhateverItsUserWants(t *testing.T) {
	dear, cheap := &entity.Node{ID: 1, Perf: 1, Price: 5}, &entity.Node{ID: 2, Perf: 1, Price: 1}
	list := plan.SlotList{To: 100 * unit, Slots: []entity.Slot{
		{Node: dear, Width: 1, End: 100 * unit}, {Node: cheap, Width: 1, Start: 50 * unit, End: 100 * unit},
	}}
	batch := make([]cyclic.Item, 2)
	for i := range batch {
		batch[i].Request = entity.Request{Nodes: 1, Length: 10 * unit, Criterion: window.AEP{By: window.MinCost}}
	}
	out := makePlan(t, cyclic.Filling{}, batch, list)
	require.Zero(t, out.Jobs[0].Window.Start)
	require.Equal(t, 10*unit, out.Jobs[1].Window.Start)
	require.Equal(t, 2, out.Stats.Alternatives)
}
