package entity_test

// What is given back, however that comes about, is for those that wait: policies
// that keep their plans (conservative backfilling) must hear of it.

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// at has something done at an instant, before jobs come and policies decide.
func at(m *entity.Metascheduler, second des.Time, do func()) {
	m.Simulator().At(second*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { do() }), 0)
}

// The second job has a reservation for 100. At 10 something is given back, and it
// starts.
func TestReservationsMoveUpIntoWhatIsGivenBack(t *testing.T) {
	for what, give := range map[string]func(t *testing.T, w *world){
		"by a job that is killed": func(t *testing.T, w *world) {
			first := w.meta.Submit(job(1, 0, 100, 4))
			at(w.meta, 10, func() { require.True(t, w.meta.Kill(first, "enough")) })
		},
		"by a reservation that is cancelled": func(t *testing.T, w *world) {
			w.meta.Submit(job(1, 0, 10, 4))
			ahead := w.meta.Submit(job(2, 0, 90, 4))
			at(w.meta, 5, func() { require.True(t, w.meta.Cancel(ahead, "no longer wanted")) })
		},
		"by a hold that is dropped": func(t *testing.T, w *world) {
			wide := job(1, 0, 100, 4)
			h, err := w.meta.Tentative(wide, entity.Window{Start: 0, End: 100 * des.Second, Nodes: 4})
			require.NoError(t, err)
			at(w.meta, 10, h.Drop)
		},
		"by capacity that comes back": func(t *testing.T, w *world) {
			h, err := w.meta.Withhold(entity.Where{Count: 4}, 0, 100*des.Second)
			require.NoError(t, err)
			at(w.meta, 10, h.Drop)
		},
		"by a job that ends before its estimate": func(_ *testing.T, w *world) {
			early := job(1, 0, 10, 4)
			early.Request.Length = 100 * des.Second
			w.meta.Submit(early)
		},
	} {
		w := newWorld(4, backfill.Conservative{})
		give(t, w)
		r := w.meta.Submit(job(9, 0, 20, 4))
		w.run(t)
		require.Equal(t, 100*des.Second, r.Promised, what)
		require.Equal(t, 10*des.Second, r.Start, what)
	}
}

// The same on nodes, where the tasks of a job end apart: at 4 the fast node's task
// ends, for which 8 s were reserved, and the second job moves up to it.
func TestReservationsMoveUpToNodesWhoseTasksEndEarly(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1}, &entity.Node{ID: 2, Perf: 2}
	d, err := plan.NewDomain([]*entity.Node{slow, fast}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, backfill.Conservative{})
	half := job(1, 0, 8, 2)
	half.Request.Length = 16 * des.Second
	m.Submit(half)
	next := job(2, 0, 6, 1)
	next.Request.MinPerf = 2
	r := m.Submit(next)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 8*des.Second, r.Promised)
	require.Equal(t, 4*des.Second, r.Start)
	require.Equal(t, 7*des.Second, r.Finish)
}

// Conservative backfilling looks at new jobs only; one that has lost what it had
// is new again.
func TestWhoLosesItsPlaceIsPlannedAgain(t *testing.T) {
	for what, take := range map[string]func(m *entity.Metascheduler, first, second *entity.Run) bool{
		"preempted": func(m *entity.Metascheduler, first, _ *entity.Run) bool { return m.Preempt(first, 0) },
		"withdrawn": func(m *entity.Metascheduler, _, second *entity.Run) bool { return m.Withdraw(second) },
	} {
		w := newWorld(4, backfill.Conservative{})
		first, second := w.meta.Submit(job(1, 0, 20, 4)), w.meta.Submit(job(2, 0, 20, 4))
		at(w.meta, 5, func() { require.True(t, take(w.meta, first, second), what) })
		w.run(t)
		require.Equal(t, entity.Finished, first.State, what)
		require.Equal(t, entity.Finished, second.State, what)
	}
}

// A job past its estimate pushes the reservations behind it away; they are planned
// again.
func TestPlansBehindAnOverrunAreMadeAgain(t *testing.T) {
	w := newWorld(4, backfill.Conservative{})
	w.meta.Overrun = entity.OverrunExtend
	over := job(1, 0, 50, 4)
	over.Request.Length = 10 * des.Second
	w.meta.Submit(over)
	r := w.meta.Submit(job(2, 0, 20, 4))
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, 10*des.Second, r.Promised)
	require.Equal(t, 50*des.Second, r.Start, "when it really ended: extended to 20, 40, 80")
}

// Who yields first: those that run, the latest started first; then those that
// hold a reservation ahead, the latest start first.
func TestThoseInTheWayAreToldInOrder(t *testing.T) {
	w := newWorld(4, backfill.Conservative{})
	w.meta.Placer = entity.LowestFirst{}
	for id, submit := range []des.Time{0, 1} {
		w.meta.Submit(job(int64(id), submit, 20, 2)) // 0 and 1 have processors 0-1 and 2-3
	}
	w.meta.Submit(job(2, 2, 10, 2)) // at 20, when 0 ends
	w.meta.Submit(job(3, 2, 10, 4)) // at 31
	w.meta.Submit(job(4, 2, 9, 2))  // at 21, beside 2
	ids := func(from, to des.Time, place []procset.Range) string {
		var list []int64
		for _, r := range w.meta.InTheWay(entity.Where{Set: place}, from*des.Second, to*des.Second) {
			list = append(list, r.ID)
		}
		return fmt.Sprint(list)
	}
	at(w.meta, 5, func() {
		require.Equal(t, "[1 0 3 4 2]", ids(5, 100, nil))
		require.Equal(t, "[1 0]", ids(5, 20, nil), "2 begins where that ends")
		require.Equal(t, "[1 2]", ids(20, 21, nil), "0 ends where that begins")
		require.Equal(t, "[0 3 4 2]", ids(5, 100, []procset.Range{{First: 0, Last: 1}}), "what lies ahead has no place yet")
		require.Equal(t, "[1]", ids(5, 20, []procset.Range{{First: 2, Last: 2}}))
		require.Equal(t, "[1]", ids(5, 20, []procset.Range{{First: 3, Last: 9}}))
		require.Equal(t, "[1 0]", ids(5, 20, []procset.Range{{First: 1, Last: 2}}))
	})
	w.run(t)
}

// Half of a job's work on unequal nodes is half of each task's.
func TestACheckpointOnNodesKeepsItsShareOfTheWork(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1}, &entity.Node{ID: 2, Perf: 2}
	d, err := plan.NewDomain([]*entity.Node{slow, fast}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{})
	j := job(1, 0, 10, 2)
	j.Request.Length = 20 * des.Second // it takes 10 s on the slow node and 5 on the fast one
	r := m.Submit(j)
	at(m, 6, func() { require.True(t, m.Preempt(r, 4*des.Second)) })
	require.NoError(t, sim.Run(context.Background()))
	attempts := slices.Collect(r.Attempts())
	require.Len(t, attempts, 2)
	require.Equal(t, 4*des.Second, attempts[0].Kept, "4 of 10 s")
	require.Equal(t, 6*des.Second+5*des.Second, attempts[0].ProcessorTime(), "the fast node's task had ended")
	require.Equal(t, []des.Time{12 * des.Second, 9 * des.Second}, r.Ends(), "6 s are left, 3 on the fast node")
}

// A stopped job's tasks do not end a second time. The job is suspended at 2 and
// goes on at once, so that its task on the slow node ends at the instant at which
// it would have ended before.
func TestTheTasksOfAStoppedJobEndOnce(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1}, &entity.Node{ID: 2, Perf: 2}
	d, err := plan.NewDomain([]*entity.Node{slow, fast}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	sim := des.New(des.Config{})
	var told []string
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, observe(func(e entity.JobEvent) {
		told = append(told, fmt.Sprint(e.Time, " ", e.Kind))
	}))
	r := m.Submit(job(1, 0, 20, 2))
	at(m, 2, func() { require.True(t, m.Preempt(r, des.Forever)) })
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"0 submitted", "0 started", "2 requeued", "2 started", "20 finished"}, told)
	require.Zero(t, m.Running())
}

// The clock does not go on to the deadline of a job that was cancelled.
func TestADeadlineOfACancelledJobLeavesNothingBehind(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	w.meta.Submit(job(1, 0, 20, 4))
	late := job(2, 0, 20, 4)
	late.Request.Deadline = 1000 * des.Second
	r := w.meta.Submit(late)
	at(w.meta, 5, func() { require.True(t, w.meta.Cancel(r, "no longer wanted")) })
	w.run(t)
	require.Equal(t, 20*des.Second, w.sim.Now())
}

// gains is a policy that starts nobody and writes down whether anything became
// free.
type gains struct{ seen []string }

func (*gains) Name() string { return "gains" }

func (p *gains) Schedule(r *entity.Round) {
	p.seen = append(p.seen, fmt.Sprint(r.Now, " ", r.Gained))
}

// Capacity that was withheld comes back at 10. The first round after it hears of
// that, and the next one does not.
func TestAGainIsToldOnce(t *testing.T) {
	p := &gains{}
	w := newWorld(4, p)
	w.meta.LeaveWaiting = true
	for id, submit := range []des.Time{0, 1, 12, 13} {
		w.meta.Submit(job(int64(id), submit, 20, 4))
	}
	_, err := w.meta.Plan().Reserve(entity.NewRun(job(9, 0, 10, 2), 0), entity.Window{End: 10 * des.Second, Nodes: 2})
	require.NoError(t, err)
	at(w.meta, 12, func() { w.meta.Plan() }) // somebody looks before the round does
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, []string{"0 false", "1 false", "12 true", "13 false"}, p.seen)
}

// Jobs that lose their reservations at one instant are planned again in order of
// submission, in whatever order they lost them.
func TestThoseWhoLoseTheirPlacesArePlannedInOrder(t *testing.T) {
	w := newWorld(4, backfill.Conservative{})
	w.meta.Submit(job(1, 0, 20, 4))
	second, third := w.meta.Submit(job(2, 0, 20, 4)), w.meta.Submit(job(3, 0, 20, 4))
	at(w.meta, 5, func() {
		require.True(t, w.meta.Withdraw(third))
		require.True(t, w.meta.Withdraw(second))
	})
	w.run(t)
	require.Equal(t, 20*des.Second, second.Start)
	require.Equal(t, 40*des.Second, third.Start)
}

// Ticks end where nothing is left to happen, also when rounds were asked for that
// have been given meanwhile.
func TestTicksEndAfterTheLastRoundThatWasAskedFor(t *testing.T) {
	p := &gains{}
	w := newWorld(4, p)
	w.meta.LeaveWaiting, w.meta.Cycle = true, 10*des.Second
	w.meta.Submit(job(1, 0, 20, 4))
	w.meta.WakeAt(25 * des.Second)
	at(w.meta, 200, w.sim.Stop)
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, []string{"0 true", "10 true", "20 true", "25 true", "30 true"}, p.seen)
}

// reserver gives the first job a window at 25 and nobody else anything.
type reserver struct{ gains }

func (p *reserver) Schedule(r *entity.Round) {
	p.gains.Schedule(r)
	if first := r.Queue.First(); first != nil && first.ID == 1 && first.State == entity.Waiting {
		r.Reserve(first, entity.Window{Start: 25 * des.Second, End: 45 * des.Second, Nodes: 4})
	}
}

// While a reservation lies ahead something will still change, and cycles begin.
func TestTicksGoOnWhileAReservationLiesAhead(t *testing.T) {
	p := &reserver{}
	w := newWorld(4, p)
	w.meta.LeaveWaiting, w.meta.Cycle = true, 10*des.Second
	w.meta.Submit(job(1, 0, 20, 4))
	w.meta.Submit(job(2, 0, 20, 4))
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, []string{"0 true", "10 true", "20 true", "30 true", "40 true", "45 true", "50 true"}, p.seen)
}

func TestAHoldWhoseWindowHasBegunCannotBeConfirmed(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	h, err := w.meta.Tentative(job(1, 0, 20, 2), entity.Window{Start: 3 * des.Second, End: 23 * des.Second, Nodes: 2})
	require.NoError(t, err)
	at(w.meta, 5, func() {
		_, err := h.Confirm()
		require.ErrorContains(t, err, "began at 3, which is past")
		h.Drop()
	})
	w.run(t)
}

// A job that is killed at the instant at which it started has had processors all
// the same.
func TestAJobThatIsKilledAsItStartsHasHadItsPlace(t *testing.T) {
	var w *world
	w = newWorld(4, backfill.FCFS{}, observe(func(e entity.JobEvent) {
		if e.Kind == entity.JobStarted && e.Run.ID == 2 {
			w.sim.At(e.Time, entity.PhaseStart, des.Func(func(*des.Simulator, des.Event) { w.meta.Kill(e.Run, "enough") }), 0)
		}
	}))
	w.meta.Placer = entity.LowestFirst{}
	w.meta.Submit(job(1, 0, 20, 1))
	r := w.meta.Submit(job(2, 0, 20, 2))
	w.run(t)
	require.Equal(t, entity.Killed, r.State)
	require.Equal(t, []procset.Range{{First: 1, Last: 2}}, r.Place)
}

// Of 61 jobs that wait, 40 may be looked at; the last one, which fits, is not
// among them, however fast the others are passed over.
func TestDepthCountsTheJobsThatArePassedOver(t *testing.T) {
	for depth, want := range map[int]des.Time{40: 100, 61: 1} {
		w := newWorld(4, backfill.EASY{Depth: depth})
		w.meta.Submit(job(1, 0, 100, 3))
		for id := range int64(60) {
			w.meta.Submit(job(2+id, 1, 100, 4))
		}
		small := w.meta.Submit(job(99, 1, 10, 1))
		w.run(t)
		require.Equal(t, want == 1, small.Start == des.Second, "depth %d: %v", depth, small.Start)
	}
}

// asker is a source whose user asks for less when a job is turned away.
type asker struct {
	nodes int
	waits bool
}

func (a *asker) Next() (*entity.Job, bool) {
	if a.waits || a.nodes == 0 {
		return nil, false
	}
	a.waits = true
	return job(int64(a.nodes), 0, 10, a.nodes), true
}

func (a *asker) Ended(r *entity.Run) {
	a.waits, a.nodes = false, a.nodes-1
	if r.State == entity.Finished {
		a.nodes = 0
	}
}

func TestASourceHearsOfRejections(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	a := &asker{nodes: 6}
	w.meta.SubmitFrom(a)
	w.run(t)
	require.EqualValues(t, 3, w.seen.Report(true).Jobs, "6 and 5 are rejected, 4 runs")
}
