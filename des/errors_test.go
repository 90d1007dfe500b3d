package des_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// faulty is a handler that schedules wrongly.
type faulty struct {
	name string
	do   func(*des.Simulator)
}

func (f *faulty) String() string                         { return f.name }
func (f *faulty) Handle(sim *des.Simulator, _ des.Event) { f.do(sim) }

func TestAnEventInThePastNamesTheCulprit(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	culprit := &faulty{"the billing of job 17", func(sim *des.Simulator) {
		require.Equal(t, des.EventID{}, sim.At(3*s, 2, d, 8))
	}}
	sim.At(5*s, 1, culprit, 17)
	var past *des.SchedulingError
	err := sim.Run(ctx)
	require.ErrorAs(t, err, &past)
	require.True(t, past.Past())
	require.Equal(t, []any{5 * s, 3 * s, des.Phase(2), uint64(8), d}, []any{past.Now, past.At, past.Phase, past.Arg, past.To})
	require.Equal(t, culprit, past.By.Handler())
	require.EqualError(t, err, "at 5, in the billing of job 17 (time 5, phase 1, event 0, arg 17), "+
		"an event for *des_test.diary (phase 2, arg 8) was scheduled for 3, in the past")
}

func TestANegativeDelayIsAnEventInThePast(t *testing.T) {
	sim := des.New(des.Config{})
	sim.After(-s, 0, &diary{}, 0)
	var past *des.SchedulingError
	require.ErrorAs(t, sim.Run(ctx), &past)
	require.True(t, past.Past())
	require.Equal(t, -s, past.At)
}

func TestTheMostNegativeDelayIsAnEventInThePast(t *testing.T) {
	sim := des.New(des.Config{})
	sim.After(math.MinInt64, 0, &diary{}, 0)
	var past *des.SchedulingError
	require.ErrorAs(t, sim.Err(), &past)
	require.True(t, past.Past())
}

func TestOutsideARunNoHandlerIsBlamed(t *testing.T) {
	sim := des.New(des.Config{})
	require.NoError(t, sim.RunUntil(ctx, s))
	sim.At(0, 0, &diary{}, 0)
	require.EqualError(t, sim.Err(), "at 1, an event for *des_test.diary (phase 0, arg 0) was scheduled for 0, in the past")
}

func TestADelayPastTheEndOfTimeNamesTheCulprit(t *testing.T) {
	sim, d := des.New(des.Config{}), &diary{}
	culprit := &faulty{"the plan", func(sim *des.Simulator) { sim.After(des.Forever-s, 2, d, 8) }}
	sim.At(5*s, 1, culprit, 17)
	err := sim.Run(ctx)
	var overflow *des.SchedulingError
	require.ErrorAs(t, err, &overflow)
	require.False(t, overflow.Past())
	require.EqualError(t, err, "at 5, in the plan (time 5, phase 1, event 0, arg 17), "+
		"an event for *des_test.diary (phase 2, arg 8) was scheduled 9223372036853.775807 later, past the end of simulated time")
}

func TestNothingHappensAtForever(t *testing.T) {
	sim := des.New(des.Config{})
	require.Equal(t, des.EventID{}, sim.At(des.Forever, 0, &diary{}, 0))
	var overflow *des.SchedulingError
	require.ErrorAs(t, sim.Err(), &overflow)
	require.False(t, overflow.Past())
}

func TestTheLastTickBeforeForeverCanBeReached(t *testing.T) {
	sim := des.New(des.Config{})
	sim.At(des.Forever-des.Tick, 0, &diary{}, 0)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, des.Forever-des.Tick, sim.Now())
}

func TestAnEventNeedsAHandler(t *testing.T) {
	sim := des.New(des.Config{})
	sim.At(s, 2, nil, 3)
	require.EqualError(t, sim.Run(ctx), "at 0: an event needs a handler (time 1, phase 2, arg 3)")
}

func TestReschedulingIntoThePastEndsTheRun(t *testing.T) {
	sim := des.New(des.Config{})
	require.NoError(t, sim.RunUntil(ctx, 2*s))
	id := sim.At(3*s, 0, &diary{}, 0)
	sim.Reschedule(id, s, 0)
	var past *des.SchedulingError
	require.ErrorAs(t, sim.Err(), &past)
	require.True(t, past.Past())
}

func TestAModelsOwnErrorIsLeftAsItIs(t *testing.T) {
	sim := des.New(des.Config{})
	sim.At(s, 0, &faulty{"x", func(sim *des.Simulator) { sim.Fail(errModel) }}, 0)
	require.Equal(t, errModel, sim.Run(ctx))
}

var errModel = modelError("the model is wrong")

type modelError string

func (e modelError) Error() string { return string(e) }

// caller is an entity that calls code of others.
type caller struct {
	calling string
	start   func()
}

func (c caller) Start(*des.Context) {
	if c.start != nil {
		c.start()
	}
}
func (caller) Handle(*des.Context, des.Message) {}
func (caller) Shutdown(*des.Context)            {}
func (c caller) Calling() string                { return c.calling }

func TestAPanicNamesWhoWasCalledAndTheInstant(t *testing.T) {
	odd := &faulty{"x", func(*des.Simulator) { panic("odd") }}
	for want, callers := range map[string][]caller{
		"at 5, a handler panicked: odd (":      {{}, {}},
		"at 5, the second one panicked: odd (": {{}, {calling: "the second one"}, {}},
		"at 5, the first one panicked: odd (":  {{calling: "the first one"}, {calling: "the second one"}},
	} {
		sim := des.New(des.Config{})
		for i, c := range callers {
			sim.AddEntity(fmt.Sprint("entity ", i), c)
		}
		sim.At(5*s, 0, odd, 0)
		err := sim.Run(ctx)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "errors_test.go:")
	}
}

func TestAPanicOfAnEntityThatStartsIsAnError(t *testing.T) {
	sim := des.New(des.Config{})
	sim.AddEntity("model", caller{calling: "a model", start: func() { panic("odd") }})
	sim.At(5*s, 0, &diary{}, 0)
	err := sim.Run(ctx)
	require.ErrorContains(t, err, "at 0, a model panicked: odd (")
	require.Equal(t, err, sim.Run(ctx))
	require.Equal(t, err, sim.RunUntil(ctx, 7*s))
}
