package entity_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// rounds notes when it is asked, and with how many jobs, and starts what fits.
type rounds struct{ at []string }

func (*rounds) Name() string { return "rounds" }

func (p *rounds) Schedule(r *entity.Round) {
	p.at = append(p.at, fmt.Sprint(r.Now, ":", r.Queue.Len()))
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

// asleep runs jobs on two processors under a policy that is awake at these times.
func asleep(t *testing.T, w entity.Wakes, p entity.Policy, set func(*entity.Metascheduler), jobs []*entity.Job) (runs []*entity.Run, end des.Time) {
	t.Helper()
	require.NoError(t, w.Check())
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), p)
	m.Wakes = w
	if set != nil {
		set(m)
	}
	for _, j := range jobs {
		runs = append(runs, m.Submit(j))
	}
	require.NoError(t, sim.Run(context.Background()))
	return runs, sim.Now()
}

func startTimes(runs []*entity.Run) (at []string) {
	for _, r := range runs {
		at = append(at, r.Start.String())
	}
	return at
}

func TestAPolicyThatWakesPeriodicallyDecidesThenAndOnlyWhereSomethingHappened(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
		p := &rounds{}
		jobs := jobsAt(40, 0, 5, 6, 60, 95)
		runs, end := asleep(t, entity.Wakes{Every: 30 * des.Second}, p, func(m *entity.Metascheduler) { m.Pass = pass }, jobs)
		require.Equal(t, []string{"0:1", "30:2", "60:2", "90:1", "120:1"}, p.at, pass)
		require.Equal(t, []string{"0", "30", "60", "90", "120"}, startTimes(runs), "the second of those at 60 sees one end at 70")
		require.Equal(t, 160*des.Second, end, "nobody wakes after the last end")
	}
}

func TestAnOffsetIsAddedToEveryPeriod(t *testing.T) {
	p := &rounds{}
	runs, _ := asleep(t, entity.Wakes{Every: 30 * des.Second, Offset: 7 * des.Second}, p, nil, jobsAt(10, 0, 7, 8))
	require.Equal(t, []string{"7", "7", "37"}, startTimes(runs))
}

func TestRoundsAreApart(t *testing.T) {
	p := &rounds{}
	runs, _ := asleep(t, entity.Wakes{Apart: 30 * des.Second}, p, nil, jobsAt(100, 3, 5, 200))
	require.Equal(t, []string{"3", "33", "200"}, startTimes(runs), "the first event after a long time is not waited for")
	require.Equal(t, []string{"3:1", "33:1", "200:1"}, p.at)
	p = &rounds{}
	runs, _ = asleep(t, entity.Wakes{Apart: 30 * des.Second, Every: 20 * des.Second}, p, nil, jobsAt(100, 3, 25))
	require.Equal(t, []string{"20", "60"}, startTimes(runs), "apart, and at a multiple")
}

// ahead reserves the earliest windows there are.
type ahead struct{}

func (ahead) Name() string { return "ahead" }

func (ahead) Schedule(r *entity.Round) {
	for _, j := range r.Fresh() {
		if w, ok := r.Plan.Find(j.Request, r.Now, des.Forever); ok {
			r.Reserve(j, w)
		}
	}
}

func TestWhatIsReservedAheadStartsWhileThePolicySleeps(t *testing.T) {
	jobs := jobsAt(40, 0, 0, 0)
	runs, _ := asleep(t, entity.Wakes{Every: 30 * des.Second}, ahead{}, nil, jobs)
	require.Equal(t, []string{"0", "0", "40"}, startTimes(runs))
}

func TestRoundsThatAreAskedForWaitUntilThePolicyIsAwake(t *testing.T) {
	p := &rounds{}
	asleep(t, entity.Wakes{Every: 30 * des.Second}, p, func(m *entity.Metascheduler) { m.WakeAt(61 * des.Second) }, jobsAt(200, 0, 0, 1))
	require.Equal(t, []string{"0:2", "30:1", "90:1", "210:1"}, p.at)
}

func TestACycleThatBeginsWhileThePolicySleepsIsTakenUpWhenItWakes(t *testing.T) {
	p := &atTicks{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, oneNode(t), p)
	m.Cycle, m.Wakes = 10*des.Second, entity.Wakes{Every: 15 * des.Second}
	m.SubmitAll(slices.Values(jobsAt(6, 3, 16)))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"15:1", "30:1"}, p.asked)
}

func TestTimesOfWakingThatMakeNoSenseAreRefused(t *testing.T) {
	for want, w := range map[string]entity.Wakes{
		"below 0":          {Every: -1},
		"there is none":    {Offset: 1},
		"below the period": {Every: 2, Offset: 2},
	} {
		require.ErrorContains(t, w.Check(), want)
	}
	require.ErrorContains(t, entity.Wakes{Apart: -1}.Check(), "below 0")
}

// reserving plans ahead, and notes when it is asked.
type reserving struct{ rounds }

func (p *reserving) Schedule(r *entity.Round) {
	p.at = append(p.at, r.Now.String())
	ahead{}.Schedule(r)
}

func TestARoundThatNobodyIsLeftForIsNoneThatOthersAreApartFrom(t *testing.T) {
	p := &reserving{}
	// The second one, reserved at 0, starts at 20; the round for the end at 12 is to be at 30.
	jobs := append(jobsAt(20, 0), jobsAt(20, 0, 0, 40)...)
	jobs[0].Runtime = 12 * des.Second
	runs, _ := asleep(t, entity.Wakes{Apart: 30 * des.Second}, p, nil, jobs)
	require.Equal(t, []string{"0", "0", "20", "40"}, startTimes(runs))
	require.Equal(t, []string{"0", "30", "40"}, p.at)
}

func TestACycleThatBeginsWithNobodyWaitingHasNoRoundLater(t *testing.T) {
	sim, p := des.New(des.Config{}), &atTicks{}
	m := entity.NewMetascheduler(sim, oneNode(t), p)
	m.Cycle, m.Wakes = 10*des.Second, entity.Wakes{Every: 4 * des.Second}
	first := m.Submit(jobsAt(6, 5)[0])
	m.Submit(jobsAt(6, 15)[0])
	sim.At(7*des.Second, entity.PhaseChange, calling(func() { m.Cancel(first, "gone") }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"20:1"}, p.asked, "at 16 the cycle of 10 is over")
}

type calling func()

func (c calling) Handle(*des.Simulator, des.Event) { c() }
