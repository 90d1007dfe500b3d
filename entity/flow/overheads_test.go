package flow_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
)

// doing calls a function at an instant.
type doing func()

func (a doing) Handle(*des.Simulator, des.Event) { a() }

func overheadJob(id int64, submit, runtime, estimate des.Time) *entity.Job {
	return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: runtime * des.Second, Request: entity.Request{Nodes: 4, Length: estimate * des.Second}}
}

func TestProcessorsAreHeldFromTheDispatchToTheEndOfTheEpilogue(t *testing.T) {
	sim := des.New(des.Config{})
	o := &flow.Overheads{Dispatch: flow.Constant(3), Prologue: flow.Constant(2), Epilogue: flow.Constant(5)}
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), strictOrder{}, o)
	first, killed, last := m.Submit(overheadJob(1, 0, 100, 100)), m.Submit(overheadJob(2, 0, 90, 50)), m.Submit(overheadJob(3, 0, 7, 7))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 110*des.Second, first.Finish)
	require.Equal(t, entity.Finished, first.State, "what the machine adds is not counted against the job")
	require.Equal(t, entity.Killed, killed.State)
	require.Equal(t, 170*des.Second, killed.Finish, "it has had its 50 s")
	require.Equal(t, 50*des.Second, killed.Latest().Work)
	require.Equal(t, 170*des.Second, last.Start)
	require.Equal(t, 10*des.Second, last.Latest().Overhead)
}

func TestEveryAttemptHasItsOverhead(t *testing.T) {
	sim := des.New(des.Config{})
	o := &flow.Overheads{Dispatch: flow.Constant(10)}
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), strictOrder{}, o)
	r := m.Submit(overheadJob(1, 0, 100, 100))
	sim.At(40*des.Second, entity.PhaseChange, doing(func() { m.Preempt(r, des.Forever) }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 120*des.Second, r.Finish, "30 s were done at 40, and 70 are left behind another 10")
	require.Equal(t, entity.Finished, r.State)
	require.Equal(t, 30*des.Second, r.Earlier()[0].Kept)
	require.Equal(t, 10*des.Second, r.Latest().Overhead)
}

// backwards would have jobs start before they are dispatched.
type backwards struct{}

func (backwards) Rand(*rand.Rand) float64 { return -4 }

// even draws from nothing to one second.
type even struct{}

func (even) Rand(r *rand.Rand) float64 { return r.Float64() }

func TestOverheadsAreDrawnAlikeUnderAllPoliciesAndApartForEachJobAndAttempt(t *testing.T) {
	overheads := func(seed uint64) *flow.Overheads {
		o := &flow.Overheads{Dispatch: even{}, Prologue: even{}, Epilogue: backwards{}}
		o.Attach(entity.NewMetascheduler(des.New(des.Config{Seed: seed}), plan.NewCluster(4), strictOrder{}))
		return o
	}
	o := overheads(1)
	a := o.Of(7, 0)
	require.Equal(t, a, overheads(1).Of(7, 0))
	require.NotEqual(t, a, overheads(2).Of(7, 0))
	require.NotEqual(t, a, o.Of(8, 0))
	require.NotEqual(t, a, o.Of(7, 1))
	require.NotEqual(t, a.Dispatch, a.Prologue)
	require.Zero(t, a.Epilogue, "what is drawn below 0 counts as 0")
	o.Epilogue = flow.Constant(-4)
	require.Zero(t, o.Of(7, 0).Epilogue)
	require.Equal(t, a.Dispatch+a.Prologue, a.Total())
}

func TestOverheadsOfMoldableJobsAreRefused(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), strictOrder{}, &flow.Overheads{Dispatch: flow.Constant(1)})
	j := overheadJob(1, 0, 10, 10)
	j.Shapes = []entity.Shape{{Nodes: 2, Runtime: 20 * des.Second, Length: 20 * des.Second}}
	m.Submit(j)
	require.ErrorContains(t, sim.Run(context.Background()), "rigid jobs")
}

func TestAnAdvanceReservationHasItsWindowAndNoMore(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), strictOrder{}, &flow.Overheads{Dispatch: flow.Constant(3)})
	j := overheadJob(1, 0, 20, 20)
	h, err := m.Tentative(j, entity.Window{Start: 5 * des.Second, End: 25 * des.Second, Nodes: 4})
	require.NoError(t, err)
	r, err := h.Confirm()
	require.NoError(t, err)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 25*des.Second, r.Finish)
	require.Equal(t, entity.Finished, r.State)
	require.Equal(t, 20*des.Second, r.Latest().Work)
	require.Zero(t, r.Latest().Overhead)
}
