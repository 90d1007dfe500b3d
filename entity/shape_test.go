package entity_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// moldable is a job with a linear speed-up: work processor seconds on 1 to most
// processors. It asks for own of them.
func moldable(id int64, submit, work des.Time, own, most int) *entity.Job {
	j := job(id, submit, work/des.Time(own), own)
	for n := 1; n <= most; n++ {
		time := work * des.Second / des.Time(n)
		j.Shapes = append(j.Shapes, entity.Shape{Nodes: n, Length: time, Runtime: time})
	}
	return j
}

func TestShapesThatContradictEachOtherAreRefused(t *testing.T) {
	for text, shapes := range map[string][]entity.Shape{
		"":                       {{Nodes: 1, Length: 9, Runtime: 9}, {Nodes: 4, Length: 2, Runtime: 3}},
		"at least 1 node":        {{Nodes: 0, Length: 9, Runtime: 9}},
		"finite time above 0":    {{Nodes: 1, Length: 0, Runtime: 9}},
		"finite time of 0":       {{Nodes: 1, Length: 9, Runtime: -1}},
		"ascending order":        {{Nodes: 3, Length: 9, Runtime: 9}, {Nodes: 3, Length: 9, Runtime: 9}},
		"job's request, 2":       {{Nodes: 2, Length: 9, Runtime: 9}},
		"finite time above 0, n": {{Nodes: 1, Length: des.Forever, Runtime: 1}},
	} {
		j := job(1, 0, 5, 2)
		j.Shapes = shapes
		if text == "" {
			require.NoError(t, j.Check())
		} else {
			require.ErrorContains(t, j.Check(), text)
		}
	}
}

func TestAJobInAShapeIsRigid(t *testing.T) {
	j := moldable(1, 0, 12, 3, 4)
	in, ok := j.In(4)
	require.True(t, ok)
	require.Equal(t, []any{4, 3 * des.Second, 3 * des.Second, 0}, []any{in.Request.Nodes, in.Request.Length, in.Runtime, len(in.Shapes)})
	require.Len(t, j.Shapes, 4)
	_, ok = j.In(5)
	require.False(t, ok)
	rigid := job(1, 0, 5, 2)
	in, ok = rigid.In(2)
	require.True(t, ok)
	require.Same(t, rigid, in)
	_, ok = rigid.In(1)
	require.False(t, ok)
}

// Two of four processors are busy until 10. 12 processor seconds take 6 s on two
// now, or 3 s on all four from 10 on; a longer job ends sooner where it waits.
func TestTheRuleDecidesWhichWindowAJobTakes(t *testing.T) {
	for _, c := range []struct {
		rule         entity.ShapeRule
		work, most   des.Time
		start, nodes int
	}{
		{entity.FirstStart, 12, 4, 0, 2},
		{entity.FirstEnd, 12, 4, 0, 2},
		{entity.FirstStart, 48, 4, 0, 2},
		{entity.FirstEnd, 48, 4, 10, 4}, // 10 + 12 < 24
		{entity.FirstEnd, 40, 4, 0, 2},  // both end at 20
		{entity.Largest, 48, 4, 0, 2},
	} {
		for _, p := range []entity.Policy{backfill.FCFS{Shape: c.rule}, backfill.EASY{Shape: c.rule}, backfill.Conservative{Shape: c.rule}} {
			w := newWorld(4, p)
			w.meta.Submit(job(1, 0, 10, 2))
			r := w.meta.Submit(moldable(2, 0, c.work, 1, int(c.most)))
			w.run(t)
			require.Equal(t, des.Time(c.start)*des.Second, r.Start, "%s, %d", p.Name(), c.work)
			require.Equal(t, c.nodes, r.Reservation.Window.Nodes, "%s, %d", p.Name(), c.work)
			require.Equal(t, r.Start+c.work*des.Second/des.Time(c.nodes), r.Finish)
			require.Equal(t, 1, r.Job.Request.Nodes)
		}
	}
}

// Of shapes that are slower on more processors first and last differ.
func TestTheLargestIsNotTheFastest(t *testing.T) {
	for rule, nodes := range map[entity.ShapeRule]int{entity.FirstStart: 2, entity.FirstEnd: 2, entity.Largest: 3} {
		j := job(1, 0, 9, 1)
		j.Shapes = []entity.Shape{{Nodes: 2, Length: 5, Runtime: 5}, {Nodes: 3, Length: 5, Runtime: 5}, {Nodes: 9, Length: 1, Runtime: 1}}
		w := newWorld(4, backfill.EASY{Shape: rule})
		r := w.meta.Submit(j)
		w.run(t)
		require.Equal(t, nodes, r.Request.Nodes, rule)
	}
}

func TestAMoldableJobIsRejectedOnlyWhereNoShapeFits(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	fits := w.meta.Submit(&entity.Job{ID: 1, Runtime: 1, Request: entity.Request{Nodes: 9, Length: 1}, Shapes: []entity.Shape{{Nodes: 3, Length: 7, Runtime: 7}}})
	not := w.meta.Submit(&entity.Job{ID: 2, Runtime: 1, Request: entity.Request{Nodes: 9, Length: 1}, Shapes: []entity.Shape{{Nodes: 5, Length: 7, Runtime: 7}}})
	late := moldable(3, 0, 12, 1, 3)
	late.Request.Deadline = 10 * des.Second
	w.meta.Submit(job(4, 0, 5, 4))
	short := w.meta.Submit(late)
	w.run(t)
	require.Equal(t, []any{entity.Finished, 3, des.Time(7)}, []any{fits.State, fits.Request.Nodes, fits.Finish - fits.Start})
	require.Equal(t, entity.Rejected, not.State)
	require.Equal(t, entity.Finished, short.State, "4 s on three from 5 on")
}

// While it waits a moldable job asks for what it was submitted with, whatever it
// was given and lost; once work has been kept it stays in its shape.
func TestAMoldableJobChoosesAgainUntilWorkIsKept(t *testing.T) {
	w := newWorld(4, backfill.Conservative{})
	blocker := w.meta.Submit(job(1, 0, 10, 4))
	r := w.meta.Submit(moldable(2, 0, 12, 1, 4))
	own := r.Job
	at(w.meta, 1, func() {
		require.Equal(t, 4, r.Request.Nodes, "as it is reserved")
		require.True(t, w.meta.Withdraw(r))
		require.Same(t, own, r.Job)
	})
	at(w.meta, 11, func() {
		require.Equal(t, 4, r.Request.Nodes)
		require.True(t, w.meta.Preempt(r, 0))
		require.Same(t, own, r.Job)
		_, err := w.meta.Withhold(entity.Where{Count: 2}, 11*des.Second, 100*des.Second)
		require.NoError(t, err)
	})
	at(w.meta, 14, func() {
		require.Equal(t, 2, r.Request.Nodes)
		require.Equal(t, 6*des.Second, r.Runtime)
		require.True(t, w.meta.Preempt(r, des.Forever))
		require.Empty(t, r.Shapes)
		require.Equal(t, 3*des.Second, r.Request.Length)
	})
	w.run(t)
	require.Equal(t, 10*des.Second, blocker.Finish)
	require.Equal(t, 17*des.Second, r.Finish)
	require.Same(t, own, r.Job)
}

// A hold of EASY is for a round; between rounds the head has no shape.
func TestAHoldGivesTheShapeBack(t *testing.T) {
	w := newWorld(4, backfill.EASY{})
	w.meta.Submit(job(1, 0, 10, 3))
	r := w.meta.Submit(&entity.Job{ID: 2, Runtime: 8 * des.Second, Request: entity.Request{Nodes: 2, Length: 8 * des.Second},
		Shapes: []entity.Shape{{Nodes: 4, Length: 5 * des.Second, Runtime: 5 * des.Second}}})
	own := r.Job
	w.meta.Submit(job(3, 1, 20, 1)) // would run past the head's start, on a processor that the head would take
	at(w.meta, 2, func() { require.Same(t, own, r.Job) })
	w.run(t)
	require.Equal(t, []any{10 * des.Second, 4}, []any{r.Start, r.Request.Nodes})
}

// An observer who hears of a hold of EASY has the head set up for longer. The head is set up
// in whichever shape it takes in the end, with a prediction or without one: in that of the hold
// (once the blocker has ended, all four processors) and in its own, of two of them.
func TestAHeadThatIsSetUpWhileAWindowIsHeldForItIsSetUpInEveryShape(t *testing.T) {
	for _, predicted := range []bool{false, true} {
		for _, free := range []int{4, 2} {
			var w *world
			longer := false
			w = newWorld(4, backfill.EASY{}, observe(func(e entity.JobEvent) {
				if e.Kind == entity.JobPromised && e.Run.ID == 2 && !longer {
					longer = true
					require.Equal(t, 4, e.Run.Request.Nodes, "the shape of the hold")
					require.True(t, w.meta.SetUp(e.Run, 5*des.Second))
					require.Equal(t, 4, e.Run.Request.Nodes, "the hold is still there")
				}
			}))
			if predicted {
				w.meta.Predictor = says{1: 10, 2: 8}
			}
			w.meta.Submit(job(1, 0, 10, 3))
			r := w.meta.Submit(&entity.Job{ID: 2, Runtime: 8 * des.Second, Request: entity.Request{Nodes: 2, Length: 9 * des.Second},
				Shapes: []entity.Shape{{Nodes: 4, Length: 6 * des.Second, Runtime: 5 * des.Second}}})
			w.meta.Submit(job(3, 1, 20, 1)) // has EASY hold a window for the head
			if free == 2 {
				at(w.meta, 2, func() { withhold(t, w.meta, 10, 100, 1) })
			}
			w.run(t)
			require.True(t, longer)
			took := map[int]des.Time{4: 10, 2: 13}[free] * des.Second
			require.Equal(t, []any{10 * des.Second, free, 10*des.Second + took}, []any{r.Start, r.Request.Nodes, r.Finish})
			require.Equal(t, took-5*des.Second, r.Latest().Work)
		}
	}
}

func TestShapesGoWithCheckpointsSetUpAndRaisedEstimates(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	w.meta.Checkpoints = entity.Checkpoints{Interval: 2 * des.Second, Cost: des.Second}
	w.meta.Overrun = entity.OverrunRaise
	j := moldable(1, 0, 24, 1, 4)
	j.Shapes[3].Length = 3 * des.Second // and runs for 6
	run := w.meta.Submit(j)
	at(w.meta, 1, func() {
		require.True(t, w.meta.Preempt(run, 0))
		require.True(t, w.meta.SetUp(run, 5*des.Second))
	})
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, 4, run.Reservation.Window.Nodes)
	require.Equal(t, 13*des.Second, run.Reservation.Window.Length(), "set-up 5, work 6, two checkpoints")
	require.Equal(t, 14*des.Second, run.Finish)
	require.Equal(t, entity.Finished, run.State)
}

func TestAnAdvanceReservationIsForTheShapeOfItsWindow(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	h, err := w.meta.Tentative(moldable(1, 0, 12, 1, 4), entity.Window{Start: 5 * des.Second, End: 8 * des.Second, Nodes: 4})
	require.NoError(t, err)
	r, err := h.Confirm()
	require.NoError(t, err)
	_, err = w.meta.Tentative(moldable(2, 0, 12, 1, 4), entity.Window{Start: 20 * des.Second, End: 22 * des.Second, Nodes: 4})
	require.ErrorContains(t, err, "lasts 2")
	w.run(t)
	require.Equal(t, 8*des.Second, r.Finish)
}

// On nodes that are unequal the shape whose window starts or ends first is taken as
// well: on two nodes of performance 1 and 3 the single fast one is better than both.
func TestMoldableJobsTakeTheirShapesOnNodes(t *testing.T) {
	for rule, nodes := range map[entity.ShapeRule]int{entity.FirstEnd: 1, entity.Largest: 2} {
		d, err := plan.NewDomain([]*entity.Node{{ID: 0, Perf: 3}, {ID: 1, Perf: 1}}, window.AEP{By: window.MinFinish})
		require.NoError(t, err)
		d.Interval = des.Day
		seen := &validate.Validator{}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, d, backfill.FCFS{Shape: rule}, seen)
		r := m.Submit(moldable(1, 0, 12, 1, 2))
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, seen.Report(true).Err())
		require.Len(t, r.Reservation.Window.Tasks, nodes)
		require.Equal(t, map[int]des.Time{1: 4 * des.Second, 2: 6 * des.Second}[nodes], r.Finish)
	}
}

// One processor is free from 10 on instead of 30. The job could start there, and would
// end later than in the window that it holds from 60 on.
func TestCompressionDoesNotTakeAWorseEnd(t *testing.T) {
	for rule, start := range map[entity.ShapeRule]des.Time{entity.FirstEnd: 60, entity.FirstStart: 10} {
		w := newWorld(4, backfill.Conservative{Shape: rule})
		w.meta.Submit(job(1, 0, 60, 3))
		early := job(2, 0, 10, 1)
		early.Request.Length = 30 * des.Second
		w.meta.Submit(early)
		r := w.meta.Submit(&entity.Job{ID: 3, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 1, Length: 100 * des.Second},
			Shapes: []entity.Shape{{Nodes: 4, Length: 10 * des.Second, Runtime: 10 * des.Second}}})
		w.run(t)
		require.Equal(t, start*des.Second, r.Start, rule)
	}
}

// Two of four processors are busy until 10. On one it could start now and end at 48; it waits for
// three, beside which one is free.
func TestAHeadThatWaitsForABetterEndIsNotBackfilledBesideItsHold(t *testing.T) {
	j := job(2, 0, 48, 1)
	j.Shapes = []entity.Shape{{Nodes: 3, Length: 16 * des.Second, Runtime: 16 * des.Second}}
	w := newWorld(4, backfill.EASY{Shape: entity.FirstEnd})
	w.meta.Submit(job(1, 0, 10, 2))
	r := w.meta.Submit(j)
	w.run(t)
	require.Equal(t, []any{10 * des.Second, 3}, []any{r.Start, r.Request.Nodes})
}

func TestAHeadThatWaitsForABetterEndIsToldOfItsWindowWhateverTheOrder(t *testing.T) {
	for _, order := range []entity.Order{entity.Submission, backfill.WFP3} {
		j := job(2, 1, 48, 1)
		j.Shapes = []entity.Shape{{Nodes: 3, Length: 16 * des.Second, Runtime: 16 * des.Second}}
		w := newWorld(4, backfill.EASY{Shape: entity.FirstEnd, Order: order})
		w.meta.Submit(job(1, 0, 10, 4))
		r := w.meta.Submit(j)
		at(w.meta, 2, func() { require.Equal(t, 10*des.Second, r.Promised, order.Name) })
		w.run(t)
	}
}

func TestAnOrderSeesWhatAJobAskedForWhateverItHolds(t *testing.T) {
	var seen []int
	order := entity.Order{Name: "seen", Dynamic: true, Key: func(r *entity.Run, _ des.Time) float64 {
		if r.ID == 2 {
			seen = append(seen, r.Request.Nodes)
		}
		return 0
	}}
	w := newWorld(4, backfill.Conservative{Order: order})
	w.meta.Submit(job(1, 0, 10, 4))
	r := w.meta.Submit(moldable(2, 0, 12, 1, 3))
	at(w.meta, 1, func() { require.Equal(t, 3, r.Request.Nodes, "as it is reserved") })
	at(w.meta, 2, func() { w.meta.Changed(0, des.Forever) })
	w.run(t)
	require.NotEmpty(t, seen)
	for _, nodes := range seen {
		require.Equal(t, 1, nodes)
	}
}

func TestADeadlineIsTooSoonIfOnlyAShapeThatDoesNotFitCouldMeetIt(t *testing.T) {
	j := &entity.Job{ID: 1, Submit: 5 * des.Second, Runtime: 12 * des.Second, Request: entity.Request{Nodes: 2, Length: 12 * des.Second, Deadline: 15 * des.Second}}
	j.Shapes = []entity.Shape{{Nodes: 4, Length: 9 * des.Second, Runtime: 9 * des.Second}}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{})
	r := m.Submit(j)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, entity.Rejected, r.State)
	require.Contains(t, r.Reason, "is too soon")
}
