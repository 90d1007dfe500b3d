// How a run begins, goes on and ends.
package des_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

const s = des.Second

var ctx = context.Background()

// diary writes down the arguments of the events it handles.
type diary struct{ entries []uint64 }

func (d *diary) Handle(_ *des.Simulator, e des.Event) { d.entries = append(d.entries, e.Arg) }

// ticker has an event every second, for ever.
type ticker struct{ ticks int }

func (t *ticker) Handle(sim *des.Simulator, e des.Event) {
	t.ticks++
	sim.After(s, 0, t, e.Arg)
}

func TestEarlierInstantsComeFirst(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(3*s, 0, d, 3)
	sim.At(1*s, 0, d, 1)
	sim.At(2*s, 0, d, 2)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []uint64{1, 2, 3}, d.entries)
}

func TestLowerPhasesComeFirstAtOneInstant(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(s, 255, d, 3)
	sim.At(s, 0, d, 1)
	sim.At(s, 7, d, 2)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []uint64{1, 2, 3}, d.entries)
}

func TestEqualPhasesRunInTheOrderOfScheduling(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	for i := range uint64(100) {
		sim.At(s, 1, d, i)
	}
	require.NoError(t, sim.Run(ctx))
	for i, arg := range d.entries {
		require.EqualValues(t, i, arg)
	}
}

func TestAnEventMayScheduleForItsOwnInstant(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(s, 5, des.Func(func(sim *des.Simulator, _ des.Event) {
		sim.At(s, 0, d, 1) // a lower phase of an instant that has come to a higher one
		sim.After(0, 5, d, 2)
	}), 0)
	sim.At(s, 6, d, 3)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []uint64{1, 2, 3}, d.entries)
	require.Equal(t, s, sim.Now())
}

func TestACancelledEventDoesNotRun(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	id := sim.At(s, 0, d, 1)
	require.True(t, sim.Cancel(id))
	require.False(t, sim.Cancel(id))
	require.NoError(t, sim.Run(ctx))
	require.Empty(t, d.entries)
	require.Zero(t, sim.Executed())
}

func TestTheZeroIDNamesNoEvent(t *testing.T) {
	sim := des.New(des.Config{})
	require.False(t, sim.Cancel(des.EventID{}))
	sim.At(s, 0, &diary{}, 1)
	require.False(t, sim.Cancel(des.EventID{}))
}

func TestTheIDOfTheEventBeingHandledIsStale(t *testing.T) {
	sim := des.New(des.Config{})
	var id des.EventID
	id = sim.At(s, 0, des.Func(func(sim *des.Simulator, _ des.Event) {
		require.False(t, sim.Cancel(id))
	}), 0)
	require.NoError(t, sim.Run(ctx))
	require.EqualValues(t, 1, sim.Executed())
}

func TestAStaleIDIsNotMistakenForALaterEvent(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	old := sim.At(s, 0, d, 1)
	sim.Cancel(old)
	sim.At(s, 0, d, 2) // takes the cancelled event's place in memory
	require.False(t, sim.Cancel(old))
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []uint64{2}, d.entries)
}

func TestARescheduledEventIsOrderedAsIfScheduledNow(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	early := sim.At(s, 0, d, 1)
	sim.At(2*s, 0, d, 2)
	_, ok := sim.Reschedule(early, 2*s, 0)
	require.True(t, ok)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []uint64{2, 1}, d.entries)
}

func TestRescheduleMayChangeThePhase(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(s, 3, d, 1)
	late := sim.At(2*s, 9, d, 2)
	sim.Reschedule(late, s, 2)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []uint64{2, 1}, d.entries)
}

func TestStepRunsOneEvent(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(s, 0, d, 1)
	sim.At(2*s, 0, d, 2)
	more, err := sim.Step()
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, []uint64{1}, d.entries)
	require.Equal(t, s, sim.Now())
}

func TestStepOfNothingSaysSo(t *testing.T) {
	more, err := des.New(des.Config{}).Step()
	require.NoError(t, err)
	require.False(t, more)
}

func TestRunUntilIncludesItsInstant(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(2*s, 0, d, 1)
	sim.At(2*s, 9, d, 2)
	sim.At(2*s+des.Tick, 0, d, 3)
	require.NoError(t, sim.RunUntil(ctx, 2*s))
	require.Equal(t, []uint64{1, 2}, d.entries)
}

func TestRunUntilLeavesTheClockThere(t *testing.T) {
	sim := des.New(des.Config{})
	sim.At(s, 0, &diary{}, 1)
	require.NoError(t, sim.RunUntil(ctx, 5*s))
	require.Equal(t, 5*s, sim.Now())
}

func TestRunUntilForeverLeavesTheClockAtTheLastEvent(t *testing.T) {
	sim := des.New(des.Config{})
	sim.At(s, 0, &diary{}, 1)
	require.NoError(t, sim.RunUntil(ctx, des.Forever))
	require.Equal(t, s, sim.Now())
}

func TestRunUntilThePastIsAnError(t *testing.T) {
	sim := des.New(des.Config{})
	require.NoError(t, sim.RunUntil(ctx, 5*s))
	require.EqualError(t, sim.RunUntil(ctx, 4*s), "cannot run until 4: it is 5 already")
	require.NoError(t, sim.RunUntil(ctx, 5*s))
}

func TestRunInPiecesIsRunInOne(t *testing.T) {
	whole, pieces := des.New(des.Config{Fingerprint: true}), des.New(des.Config{Fingerprint: true})
	for _, sim := range []*des.Simulator{whole, pieces} {
		sim.At(0, 0, &ticker{}, 0)
	}
	require.NoError(t, whole.RunUntil(ctx, 100*s))
	for i := range des.Time(101) {
		require.NoError(t, pieces.RunUntil(ctx, i*s))
	}
	require.Equal(t, whole.Fingerprint(), pieces.Fingerprint())
	require.Equal(t, whole.Executed(), pieces.Executed())
}

func TestStopEndsTheRunAfterTheEvent(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(s, 0, des.Func(func(sim *des.Simulator, _ des.Event) { sim.Stop() }), 0)
	sim.At(2*s, 0, d, 2)
	require.NoError(t, sim.RunUntil(ctx, 9*s))
	require.Empty(t, d.entries)
	require.Equal(t, s, sim.Now(), "the clock stays where the run was stopped")
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []uint64{2}, d.entries, "a later run goes on")
}

func TestStopWhenIsAskedAfterEveryEvent(t *testing.T) {
	sim, tick := des.New(des.Config{}), &ticker{}
	sim.At(0, 0, tick, 0)
	sim.StopWhen(func() bool { return tick.ticks == 7 })
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, 7, tick.ticks)
	sim.StopWhen(nil)
	require.NoError(t, sim.RunUntil(ctx, 9*s))
	require.Equal(t, 10, tick.ticks)
}

func TestMaxEventsIsAnErrorWhereEventsAreLeft(t *testing.T) {
	sim, tick := des.New(des.Config{MaxEvents: 5}), &ticker{}
	sim.At(0, 0, tick, 0)
	var limit *des.EventLimitError
	require.ErrorAs(t, sim.Run(ctx), &limit)
	require.Equal(t, des.EventLimitError{Limit: 5, Now: 4 * s}, *limit)
	require.EqualError(t, limit, "stopped at 4 after the maximum of 5 events")
	require.Equal(t, 5, tick.ticks)
	_, err := sim.Step()
	require.ErrorAs(t, err, &limit, "steps are events, too")
}

func TestMaxEventsIsNoErrorWhereNoneIsLeft(t *testing.T) {
	sim := des.New(des.Config{MaxEvents: 1})
	sim.At(0, 0, &diary{}, 0)
	require.NoError(t, sim.Run(ctx))
}

func TestAnEndedContextEndsTheRun(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	sim, tick := des.New(des.Config{}), &ticker{}
	sim.At(0, 0, tick, 0)
	sim.StopWhen(func() bool {
		if tick.ticks == 10 {
			cancel()
		}
		return false
	})
	require.ErrorIs(t, sim.Run(ended), context.Canceled)
	require.Less(t, tick.ticks, 2000, "soon, if not at once")
	require.NoError(t, sim.Err(), "the simulation itself has not failed")
	require.NoError(t, sim.RunUntil(ctx, sim.Now()+5*s))
}

func TestNothingRunsInAContextThatHasEnded(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(0, 0, d, 1)
	require.ErrorIs(t, sim.Run(ended), context.Canceled)
	require.Empty(t, d.entries)
}

func TestAHandlerCannotRunItsOwnSimulation(t *testing.T) {
	sim := des.New(des.Config{})
	sim.At(s, 0, des.Func(func(sim *des.Simulator, _ des.Event) {
		const want = "at 1: a handler must not run its own simulation"
		_, err := sim.Step()
		require.EqualError(t, err, want)
		require.EqualError(t, sim.Run(ctx), want)
		require.EqualError(t, sim.RunUntil(ctx, 2*s), want)
	}), 0)
	require.NoError(t, sim.Run(ctx))
}

func TestFailEndsTheRunForGood(t *testing.T) {
	broken := errors.New("broken")
	sim, d := des.New(des.Config{}), &diary{}
	sim.At(s, 0, des.Func(func(sim *des.Simulator, _ des.Event) {
		sim.Fail(broken)
		sim.Fail(errors.New("too late"))
	}), 0)
	sim.At(2*s, 0, d, 2)
	require.Equal(t, broken, sim.Run(ctx))
	require.Equal(t, broken, sim.Err())
	require.Equal(t, broken, sim.Run(ctx))
	require.Equal(t, broken, sim.RunUntil(ctx, 9*s))
	_, err := sim.Step()
	require.Equal(t, broken, err)
	require.Empty(t, d.entries)
}

func TestNextTimeIsTheEarliestLivingEvent(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	require.Equal(t, des.Forever, sim.NextTime())
	first := sim.At(s, 0, d, 1)
	sim.At(2*s, 0, d, 2)
	require.Equal(t, s, sim.NextTime())
	sim.Cancel(first)
	require.Equal(t, 2*s, sim.NextTime())
}

// observed copies what it is told.
type observed struct{ events []des.Event }

func (o *observed) ObserveEvent(e des.Event) { o.events = append(o.events, e) }

func TestObserversSeeEveryEventByValue(t *testing.T) {
	sim, d, first, second := des.New(des.Config{}), &diary{}, &observed{}, &observed{}
	sim.Observe(first)
	sim.Observe(second)
	sim.At(s, 3, d, 42)
	sim.Cancel(sim.At(s, 3, d, 43))
	sim.At(2*s, 4, d, 44)
	require.NoError(t, sim.Run(ctx))
	require.Len(t, first.events, 2)
	e := first.events[0]
	require.Equal(t, []any{s, des.Phase(3), uint64(0), uint64(42), d}, []any{e.Time, e.Phase, e.Seq, e.Arg, e.Handler()})
	require.Equal(t, first.events, second.events)
}

func TestObserversAreToldAfterTheHandler(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	handled := 0
	sim.Observe(observerFunc(func(des.Event) { handled = len(d.entries) }))
	sim.At(s, 0, d, 1)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, 1, handled)
}

type observerFunc func(des.Event)

func (f observerFunc) ObserveEvent(e des.Event) { f(e) }

func TestAnObserverSeesOnlyWhatComesAfterIt(t *testing.T) {
	sim, d, o := des.New(des.Config{}), &diary{}, &observed{}
	sim.At(s, 0, d, 1)
	sim.At(2*s, 0, d, 2)
	require.NoError(t, sim.RunUntil(ctx, s))
	sim.Observe(o)
	require.NoError(t, sim.Run(ctx))
	require.Len(t, o.events, 1)
}
