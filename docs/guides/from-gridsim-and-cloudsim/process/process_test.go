package process_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/docs/guides/from-gridsim-and-cloudsim/process"
)

const s = des.Second

var ctx = context.Background()

// world is a simulation with processes that keep a log.
type world struct {
	*process.Group
	sim *des.Simulator
	log []string
}

func newWorld(t *testing.T) *world {
	sim := des.New(des.Config{})
	w := &world{sim: sim, Group: process.NewGroup(sim)}
	t.Cleanup(w.Close)
	return w
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%v ", w.sim.Now())+fmt.Sprintf(format, args...))
}

// user takes n units at an instant and keeps them for a while.
func (w *world) user(name string, r *process.Resource, n int, at, keep des.Time) *process.Process {
	return w.Go(name, func(p *process.Process) {
		if at > 0 {
			p.Wait(at)
		}
		if !p.Acquire(r, n) {
			w.note("%s gives up", name)
			return
		}
		w.note("%s has %d", name, n)
		p.Wait(keep)
		r.Release(n)
	})
}

func TestWaitLetsTimePass(t *testing.T) {
	w := newWorld(t)
	p := w.Go("p", func(p *process.Process) {
		w.note("begins")
		require.True(t, p.Wait(2*s))
		w.note("goes on at %v", p.Now())
	})
	require.False(t, p.Done())
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 begins", "2 goes on at 2"}, w.log)
	require.True(t, p.Done())
}

func TestProcessesStartInTheOrderOfGo(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.Go("p", func(*process.Process) { w.note("%d", i) })
	}
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 0", "0 1", "0 2"}, w.log)
}

func TestAProcessMayStartAnother(t *testing.T) {
	w := newWorld(t)
	w.Go("mother", func(p *process.Process) {
		p.Wait(s)
		w.Go("child", func(p *process.Process) { w.note("child") })
		w.note("mother")
	})
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"1 mother", "1 child"}, w.log)
}

func TestAResourceServesFirstComeFirstServed(t *testing.T) {
	w := newWorld(t)
	r := w.NewResource("r", 2)
	w.user("a", r, 2, 0, 10*s)
	w.user("b", r, 2, 1*s, 10*s) // wants both, and holds up c
	w.user("c", r, 1, 2*s, 10*s)
	require.NoError(t, w.sim.RunUntil(ctx, 5*s))
	require.Equal(t, 2, r.Waiting())
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 a has 2", "10 b has 2", "20 c has 1"}, w.log)
	require.Equal(t, 2, r.Free())
}

func TestOneReleaseMayServeSeveral(t *testing.T) {
	w := newWorld(t)
	r := w.NewResource("r", 2)
	w.user("a", r, 2, 0, 10*s)
	w.user("b", r, 1, 1*s, 10*s)
	w.user("c", r, 1, 2*s, 10*s)
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 a has 2", "10 b has 1", "10 c has 1"}, w.log)
}

func TestATimeoutEndsTheWaitForAResource(t *testing.T) {
	w := newWorld(t)
	r := w.NewResource("r", 1)
	w.user("a", r, 1, 0, 10*s)
	w.Go("b", func(p *process.Process) {
		require.False(t, p.AcquireWithin(r, 1, 4*s))
		w.note("b gives up")
	})
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 a has 1", "4 b gives up"}, w.log)
	require.Equal(t, 1, r.Free())
}

func TestATimeoutThatIsNotNeededLeavesNoEvent(t *testing.T) {
	w := newWorld(t)
	r := w.NewResource("r", 1)
	w.user("a", r, 1, 0, 2*s)
	w.Go("b", func(p *process.Process) {
		require.True(t, p.AcquireWithin(r, 1, des.Hour))
		w.note("b")
	})
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, 2*s, w.sim.Now())
}

func TestWhoLeavesTheLineLetsThoseBehindMoveUp(t *testing.T) {
	w := newWorld(t)
	r := w.NewResource("r", 2)
	w.user("a", r, 1, 0, 10*s)
	w.Go("b", func(p *process.Process) { p.AcquireWithin(r, 2, 3*s) })
	w.user("c", r, 1, 1*s, 10*s)
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 a has 1", "3 c has 1"}, w.log)
}

func TestInterruptCutsAWaitShort(t *testing.T) {
	w := newWorld(t)
	p := w.Go("p", func(p *process.Process) {
		w.note("slept on: %v", p.Wait(10*s))
		w.note("slept on: %v", p.Wait(10*s))
	})
	w.Go("q", func(q *process.Process) { q.Wait(3 * s); p.Interrupt() })
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"3 slept on: false", "13 slept on: true"}, w.log)
}

func TestInterruptEndsTheWaitForAResource(t *testing.T) {
	w := newWorld(t)
	r := w.NewResource("r", 1)
	w.user("a", r, 1, 0, 10*s)
	b := w.user("b", r, 1, 1*s, 10*s)
	w.user("c", r, 1, 2*s, 10*s)
	w.Go("q", func(q *process.Process) { q.Wait(3 * s); b.Interrupt() })
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 a has 1", "3 b gives up", "10 c has 1"}, w.log)
}

func TestInterruptComesTooLateForWhoWasHandedTheResource(t *testing.T) {
	w := newWorld(t)
	r := w.NewResource("r", 1)
	var b *process.Process
	w.Go("a", func(p *process.Process) {
		p.Acquire(r, 1)
		p.Wait(2 * s)
		r.Release(1)
		b.Interrupt()
	})
	b = w.user("b", r, 1, 1*s, 10*s)
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"2 b has 1"}, w.log)
	require.Equal(t, 1, r.Free())
}

func TestInterruptDoesNothingToWhoHasNotBegunOrHasEnded(t *testing.T) {
	w := newWorld(t)
	p := w.Go("p", func(p *process.Process) { w.note("slept on: %v", p.Wait(s)) })
	p.Interrupt()
	require.NoError(t, w.sim.RunUntil(ctx, 5*s))
	p.Interrupt()
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"1 slept on: true"}, w.log)
}

func TestResourceFaultsNameTheCulprit(t *testing.T) {
	for _, c := range []struct {
		fault func(p *process.Process, r *process.Resource)
		want  string
	}{
		{func(p *process.Process, r *process.Resource) { p.Acquire(r, 4) }, `at 0: process "p" wants 4 units of "r", which has 3`},
		{func(p *process.Process, r *process.Resource) { p.Acquire(r, 0) }, `at 0: process "p" wants 0 units of "r", which has 3`},
		{func(p *process.Process, r *process.Resource) { r.Release(1) }, `at 0: 1 units of "r" are given back, but only 0 are taken`},
		{func(p *process.Process, r *process.Resource) { p.Wait(-s) },
			`at 0, in process "p" (time 0, phase 128, event 0, arg 0), an event for process "p" (phase 128, arg 0) was scheduled for -1, in the past`},
	} {
		w := newWorld(t)
		r := w.NewResource("r", 3)
		w.Go("p", func(p *process.Process) { c.fault(p, r) })
		require.EqualError(t, w.sim.Run(ctx), c.want)
	}
}

func TestAPanicInAProcessReachesWhoRunsTheSimulation(t *testing.T) {
	w := newWorld(t)
	w.Go("p", func(p *process.Process) { p.Wait(s); panic("oh") })
	var panicked *des.PanicError
	require.ErrorAs(t, w.sim.Run(ctx), &panicked)
	require.Equal(t, "oh", panicked.Value)
	require.Equal(t, s, panicked.Now)
}

// coroutines waits for those of ended processes to be gone, and counts.
func coroutines(atMost int) int {
	for range 100 {
		if runtime.NumGoroutine() <= atMost {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return runtime.NumGoroutine()
}

func TestTheEndOfTheSimulationLeavesNoCoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	w := newWorld(t)
	r := w.NewResource("r", 1)
	w.Go("keeper", func(p *process.Process) { p.Acquire(r, 1) })
	for range 100 {
		w.Go("p", func(p *process.Process) {
			defer w.note("unwound")
			p.Acquire(r, 1)
			w.note("never")
		})
	}
	require.NoError(t, w.sim.Run(ctx))
	require.Len(t, w.log, 100)
	require.NotContains(t, w.log, "0 never")
	require.LessOrEqual(t, coroutines(before), before, "an earlier test may still be ending one of its own")
}

func TestCloseEndsProcessesWhereverTheyAre(t *testing.T) {
	before := runtime.NumGoroutine()
	w := newWorld(t)
	r := w.NewResource("r", 1)
	w.user("holder", r, 1, 0, des.Day)
	w.user("in line", r, 1, 0, des.Day)
	w.Go("in line with a timeout", func(p *process.Process) { p.AcquireWithin(r, 1, des.Day) })
	w.Go("giving back", func(p *process.Process) {
		defer w.Go("posthumous", func(*process.Process) { w.note("never") })
		p.Wait(des.Day)
	})
	require.NoError(t, w.sim.RunUntil(ctx, s))
	w.Go("not begun", func(*process.Process) { w.note("never") })
	w.Close()
	require.LessOrEqual(t, coroutines(before), before, "an earlier test may still be ending one of its own")
	require.Zero(t, w.sim.Pending(), "no event is left for who has ended")
	require.NoError(t, w.sim.Run(ctx))
	require.Equal(t, []string{"0 holder has 1"}, w.log)
}

func TestCloseAfterAFailureLeavesNoCoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	w := newWorld(t)
	w.Go("sleeper", func(p *process.Process) { p.Wait(des.Day) })
	w.Go("faulty", func(p *process.Process) { w.sim.Fail(errors.New("broken")) })
	require.EqualError(t, w.sim.Run(ctx), "broken")
	w.Close()
	require.LessOrEqual(t, coroutines(before), before, "an earlier test may still be ending one of its own")
}

// Whatever users do, no unit is lost, none is had twice, and at the end all
// are back.
func TestUnitsAreNeitherLostNorMade(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sim := des.New(des.Config{})
		procs := process.NewGroup(sim)
		defer procs.Close()
		capacity := rapid.IntRange(1, 4).Draw(rt, "capacity")
		r := procs.NewResource("r", capacity)
		taken := 0
		check := func() {
			require.LessOrEqual(rt, taken, capacity)
			require.LessOrEqual(rt, taken, capacity-r.Free(), "some may have been handed over but not taken up")
		}
		var users []*process.Process
		instant := rapid.IntRange(0, 6)
		for range rapid.IntRange(1, 12).Draw(rt, "users") {
			at, keep, patience := des.Time(instant.Draw(rt, "at")), des.Time(instant.Draw(rt, "keep")), des.Time(instant.Draw(rt, "patience"))
			n := rapid.IntRange(1, capacity).Draw(rt, "units")
			users = append(users, procs.Go("user", func(p *process.Process) {
				p.Wait(at)
				if p.AcquireWithin(r, n, patience) {
					taken += n
					check()
					p.Wait(keep)
					taken -= n
					r.Release(n)
				}
				check()
			}))
		}
		procs.Go("nuisance", func(p *process.Process) {
			for range 10 {
				p.Wait(des.Time(rapid.IntRange(0, 3).Draw(rt, "pause")))
				users[rapid.IntRange(0, len(users)-1).Draw(rt, "victim")].Interrupt()
			}
		})
		require.NoError(rt, sim.Run(ctx))
		require.Zero(rt, taken)
		require.Equal(rt, capacity, r.Free())
		require.Zero(rt, r.Waiting())
		for _, u := range users {
			require.True(rt, u.Done())
		}
	})
}
