package entity_test

// Observers and policies that stop, cancel or book jobs at odd moments. Package
// validate tries the same at random.

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// causes is a policy that notes what its rounds are for.
type causes struct {
	entity.Policy
	heard []entity.Cause
}

func (c *causes) Schedule(r *entity.Round) {
	c.heard = append(c.heard, r.Cause)
	c.Policy.Schedule(r)
}

// What an observer does within a round is a cause of the next one: the second job,
// planned behind the first, moves up.
func TestWhatHappensInARoundIsACauseOfTheNext(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent} {
		var w *world
		var first *entity.Run
		p := &causes{Policy: backfill.Conservative{}}
		w = newWorld(4, p, observe(func(e entity.JobEvent) {
			if e.Kind == entity.JobPromised && e.Run.ID == 2 && e.Start > e.Time {
				w.meta.Kill(first, "in the round")
			}
		}))
		w.meta.Pass = pass
		first = w.meta.Submit(job(1, 0, 100, 4))
		second := w.meta.Submit(job(2, 5, 10, 4))
		w.run(t)
		require.Equal(t, 5*des.Second, second.Start, pass)
		require.Contains(t, p.heard, entity.CauseChange, pass)
	}
}

// A job that is stopped as it starts gives back the processors it was about to get.
func TestAJobIsStoppedAsItStarts(t *testing.T) {
	for what, stop := range map[string]func(m *entity.Metascheduler, r *entity.Run) bool{
		"killed":    func(m *entity.Metascheduler, r *entity.Run) bool { return m.Kill(r, "at once") },
		"preempted": func(m *entity.Metascheduler, r *entity.Run) bool { return m.Preempt(r, 0) },
	} {
		var w *world
		w = newWorld(4, backfill.FCFS{}, observe(func(e entity.JobEvent) {
			if e.Kind == entity.JobStarted && e.Run.ID == 1 && len(e.Run.Earlier()) == 0 {
				require.True(t, stop(w.meta, e.Run), what)
			}
		}))
		w.meta.Placer = entity.LowestFirst{}
		w.meta.Submit(job(1, 0, 10, 4))
		second := w.meta.Submit(job(2, 0, 10, 4))
		w.run(t)
		require.Equal(t, entity.Finished, second.State, what)
	}
}

// Whoever hears of a submission may turn the job away.
func TestAJobIsCancelledAsItIsSubmitted(t *testing.T) {
	var w *world
	var told []entity.JobEventKind
	w = newWorld(4, backfill.Conservative{}, observe(func(e entity.JobEvent) {
		told = append(told, e.Kind)
		if e.Kind == entity.JobSubmitted {
			require.True(t, w.meta.Cancel(e.Run, "not admitted"))
			require.False(t, w.meta.Cancel(e.Run, "twice"))
		}
	}))
	simple := w.meta.Submit(job(1, 0, 10, 4))
	var booked *entity.Run
	at(w.meta, 5, func() {
		h, err := w.meta.Tentative(job(2, 5, 10, 4), entity.Window{Start: 20 * des.Second, End: 30 * des.Second, Nodes: 4})
		require.NoError(t, err)
		booked, err = h.Confirm()
		require.NoError(t, err)
		refused := w.meta.Refuse(job(3, 5, 10, 4), "no")
		require.Equal(t, "not admitted", refused.Reason)
	})
	w.run(t)
	for _, r := range []*entity.Run{simple, booked} {
		require.Equal(t, entity.Rejected, r.State)
		require.Equal(t, "not admitted", r.Reason)
		require.False(t, r.Reservation.Active)
	}
	require.Len(t, told, 6) // each was submitted and rejected
}

// A job that hears of its lost reservation by way of its user, who cancels it, is
// rejected once.
func TestAJobIsCancelledAsItLosesItsReservation(t *testing.T) {
	var w *world
	rejected := 0
	w = newWorld(4, backfill.Conservative{}, observe(func(e entity.JobEvent) {
		switch e.Kind {
		case entity.JobWithdrawn:
			w.meta.Cancel(e.Run, "its user")
		case entity.JobRejected:
			rejected++
		}
	}))
	w.meta.Submit(job(1, 0, 10, 4))
	second := w.meta.Submit(job(2, 0, 10, 4))
	at(w.meta, 5, func() { require.True(t, w.meta.Cancel(second, "the operator")) })
	w.run(t)
	require.Equal(t, 1, rejected)
}

// preempts is a policy that preempts whatever runs.
type preempts struct{}

func (preempts) Name() string { return "preempts" }

func (preempts) Schedule(r *entity.Round) {
	for j := range r.Running() {
		r.Preempt(j, 0)
	}
	backfill.FCFS{}.Schedule(r)
}

func TestAPolicyCannotPreemptAnAdvanceReservation(t *testing.T) {
	w := newWorld(4, preempts{})
	h, err := w.meta.Tentative(job(1, 0, 10, 4), entity.Window{Start: 0, End: 10 * des.Second, Nodes: 4})
	require.NoError(t, err)
	_, err = h.Confirm()
	require.NoError(t, err)
	w.meta.Submit(job(2, 5, 10, 4))
	require.ErrorContains(t, w.sim.Run(context.Background()), "is an advance reservation and cannot be preempted")
}

// snapshot is a policy as people write one: it lists who is new and looks for a window for
// each, all before it reserves any.
type snapshot struct{}

func (snapshot) Name() string { return "snapshot" }

func (snapshot) Schedule(r *entity.Round) {
	waiting := slices.Clone(r.Fresh())
	windows := make([]entity.Window, len(waiting))
	for i, j := range waiting {
		windows[i], _ = r.Plan.Find(j.Request, r.Now, r.Now)
	}
	for i, j := range waiting {
		if windows[i].Nodes == 0 {
			r.Retry(j)
		} else {
			r.Reserve(j, windows[i])
		}
	}
}

// What a policy knows may be out of date when an observer has heard of what it did a
// moment before. The policy is not blamed for that, and gets another round.
func TestAPolicyIsNotBlamedForWhatAnObserverHasChanged(t *testing.T) {
	for what, do := range map[string]func(m *entity.Metascheduler, second *entity.Run){
		"cancel":    func(m *entity.Metascheduler, second *entity.Run) { m.Cancel(second, "its user") },
		"set up":    func(m *entity.Metascheduler, second *entity.Run) { m.SetUp(second, 5*des.Second) },
		"withhold":  func(m *entity.Metascheduler, _ *entity.Run) { withhold(t, m, 12, 14, 2) },
		"tentative": func(m *entity.Metascheduler, _ *entity.Run) { tentative(t, m, job(9, 0, 2, 2), 12) },
	} {
		for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
			var w *world
			var second *entity.Run
			w = newWorld(4, snapshot{}, observe(func(e entity.JobEvent) {
				if e.Kind == entity.JobStarted && e.Run.ID == 1 {
					do(w.meta, second)
				}
			}))
			w.meta.Pass = pass
			first := job(1, 10, 5, 1)
			w.meta.Submit(first)
			second = w.meta.Submit(job(2, 10, 10, 3))
			w.run(t)
			if what != "cancel" {
				require.Equal(t, entity.Finished, second.State, what)
			}
		}
	}
}

func withhold(t *testing.T, m *entity.Metascheduler, from, to des.Time, nodes int) {
	t.Helper()
	_, err := m.Withhold(entity.Where{Count: nodes}, from*des.Second, to*des.Second)
	require.NoError(t, err)
}

func tentative(t *testing.T, m *entity.Metascheduler, j *entity.Job, start des.Time) {
	t.Helper()
	w := entity.Window{Start: start * des.Second, Nodes: j.Request.Nodes}
	w.End = w.Start + j.Request.Length
	_, err := m.Tentative(j, w)
	require.NoError(t, err)
}

// panics is a policy that panics once a job of so many nodes waits.
type panics struct{ nodes int }

func (panics) Name() string { return "panics" }

func (p panics) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if j.Request.Nodes == p.nodes {
			_ = make([]int, 0)[p.nodes]
		}
	}
	backfill.FCFS{}.Schedule(r)
}

func TestAPanicOfAPolicyOrAnObserverIsAnErrorThatNamesIt(t *testing.T) {
	w := newWorld(4, panics{3})
	w.meta.Submit(job(1, 0, 10, 1))
	w.meta.Submit(job(2, 5, 10, 3))
	err := w.sim.Run(context.Background())
	require.ErrorContains(t, err, "at 5, policy panics panicked: runtime error: index out of range [3] with length 0")
	require.ErrorContains(t, err, "act_test.go:")
	var p *des.PanicError
	require.ErrorAs(t, err, &p)
	require.Contains(t, string(p.Stack), "panics.Schedule")
	require.Equal(t, err, w.sim.Run(context.Background()), "it cannot go on")

	w = newWorld(4, backfill.FCFS{}, observe(func(e entity.JobEvent) {
		if e.Kind == entity.JobStarted && e.Run.ID == 2 {
			panic(context.Canceled)
		}
	}))
	w.meta.Submit(job(1, 0, 10, 1))
	w.meta.Submit(job(2, 5, 10, 3))
	err = w.sim.Run(context.Background())
	require.ErrorContains(t, err, "at 5, the observer entity_test.observe, told that job 2 is started, panicked: context canceled")
	require.ErrorIs(t, err, context.Canceled)
}

func TestARunThatIsCancelledSaysWhen(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := newWorld(4, backfill.FCFS{}, observe(func(e entity.JobEvent) { cancel() }))
	for id := range int64(5000) {
		w.meta.Submit(job(id, des.Time(id), 1, 1))
	}
	err := w.sim.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Regexp(t, `^stopped at \d+: context canceled$`, err.Error())
}

// Nothing of it panics: the run that cannot be says why.
func TestWhatIsNilIsAnErrorOfTheRun(t *testing.T) {
	for want, do := range map[string]func(sim *des.Simulator) *entity.Metascheduler{
		"needs a plan": func(sim *des.Simulator) *entity.Metascheduler {
			return entity.NewMetascheduler(sim, nil, backfill.FCFS{})
		},
		"needs a policy": func(sim *des.Simulator) *entity.Metascheduler {
			return entity.NewMetascheduler(sim, plan.NewCluster(1), nil)
		},
		"observer 2 of a metascheduler is nil": func(sim *des.Simulator) *entity.Metascheduler {
			return entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{}, observe(func(entity.JobEvent) {}), nil)
		},
		"a cluster cannot have -1 processors": func(sim *des.Simulator) *entity.Metascheduler {
			return entity.NewMetascheduler(sim, plan.NewCluster(-1), backfill.FCFS{})
		},
		"a job is nil": func(sim *des.Simulator) *entity.Metascheduler {
			m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{})
			require.NotNil(t, m.Submit(nil).Job)
			return m
		},
		"at 0: a job is nil": func(sim *des.Simulator) *entity.Metascheduler {
			m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{})
			m.Submit(nil)
			m.SubmitAll(slices.Values([]*entity.Job{nil}))
			return m
		},
	} {
		sim := des.New(des.Config{})
		m := do(sim)
		r := m.Submit(job(1, 0, 1, 1))
		m.Cancel(r, "")
		m.WakeAt(5)
		_, err := m.Withhold(entity.Where{Count: 1}, 0, 1)
		_ = err // one that could be, or not
		_, err = m.Tentative(nil, entity.Window{})
		require.Error(t, err)
		m.Plan()
		require.ErrorContains(t, sim.Run(context.Background()), want)
	}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{})
	m.SubmitAll(slices.Values([]*entity.Job{job(1, 0, 1, 1), nil}))
	require.ErrorContains(t, sim.Run(context.Background()), "a job is nil")
}

func TestTimesWhoseSumPassesTheLargestAreToldSo(t *testing.T) {
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		w := newWorld(4, p)
		for id := range int64(3) {
			j := job(id+1, 0, 1, 4)
			j.Runtime, j.Request.Length = math.MaxInt64/2, math.MaxInt64/2
			w.meta.Submit(j)
		}
		err := w.sim.Run(context.Background())
		require.ErrorContains(t, err, "job 3, which takes 4611686018427.387903, would begin at 9223372036854.775806 and end past the largest instant, 9223372036854.775806")
		require.NotContains(t, err.Error(), "policy")
	}
	for submit, want := range map[des.Time]string{0: "", des.Tick: "would begin at 0.000001 and end past the largest instant"} {
		w := newWorld(4, backfill.FCFS{})
		j := job(1, 0, 1, 4)
		j.Submit, j.Runtime, j.Request.Length = submit, des.Forever-1, des.Forever-1
		w.meta.Submit(j)
		if err := w.sim.Run(context.Background()); want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	w := newWorld(4, backfill.FCFS{})
	w.meta.Overrun = entity.OverrunExtend
	j := job(1, 10, 1, 4)
	j.Runtime = math.MaxInt64 - 1
	w.meta.Submit(j)
	require.ErrorContains(t, w.sim.Run(context.Background()), "at 10: job 1, which takes")
}

// scripted is a policy that is a function.
type scripted func(r *entity.Round)

func (scripted) Name() string { return "scripted" }

func (s scripted) Schedule(r *entity.Round) { s(r) }

// A job that was cancelled at the instant at which it came is no news.
func TestWhoHasLeftIsNotFresh(t *testing.T) {
	rounds := 0
	w := newWorld(1, scripted(func(r *entity.Round) {
		rounds++
		require.Empty(t, r.Fresh())
	}))
	gone := w.meta.Submit(job(1, 5, 10, 1))
	w.sim.At(5*des.Second, entity.PhaseDecide-1, des.Func(func(*des.Simulator, des.Event) { require.True(t, w.meta.Cancel(gone, "a test")) }), 0)
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, 1, rounds)
}

// Who needs longer can wait less long: of 10 s by 100 s one is turned away at 90 s and a
// tick, of 30 s at 70 s and a tick.
func TestASetUpBringsTheLastStartByADeadlineForward(t *testing.T) {
	w := newWorld(1, backfill.FCFS{})
	w.meta.Submit(job(1, 0, 1000, 1))
	late := job(2, 0, 10, 1)
	late.Request.Deadline = 100 * des.Second
	r := w.meta.Submit(late)
	w.sim.At(5*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { require.True(t, w.meta.SetUp(r, 20*des.Second)) }), 0)
	w.run(t)
	require.Equal(t, entity.Rejected, r.State)
	require.Equal(t, 70*des.Second+des.Tick, r.Finish)
}

// What is dropped before it begins has been free until then.
func TestWhatAHoldAheadGivesBackBeginsWithItsWindow(t *testing.T) {
	var from, to des.Time
	w := newWorld(1, scripted(func(r *entity.Round) {
		from, to = r.Freed()
		for j := range r.Waiting() {
			if r.Cause.Has(entity.CauseChange) && r.Now > 0 {
				r.Reject(j, "a test")
			}
		}
	}))
	w.meta.Submit(job(1, 0, 10, 1))
	w.sim.At(des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		h, err := w.meta.Tentative(job(2, 0, 10, 1), entity.Window{Start: 50 * des.Second, End: 60 * des.Second, Nodes: 1})
		require.NoError(t, err)
		h.Drop()
	}), 0)
	w.run(t)
	require.Equal(t, 50*des.Second, from)
	require.Equal(t, 60*des.Second, to)
}

// Backfilled is who starts before a job that was submitted earlier, and no other one.
func TestBackfilledIsWhoOvertakes(t *testing.T) {
	w := newWorld(2, scripted(func(r *entity.Round) {
		for _, id := range []int64{2, 1} {
			for j := range r.Waiting() {
				if j.ID == id {
					r.Reserve(j, entity.Window{Start: r.Now, End: r.Now + j.Request.Length, Nodes: 1})
					break
				}
			}
		}
	}))
	first, second := w.meta.Submit(job(1, 0, 10, 1)), w.meta.Submit(job(2, 0, 10, 1))
	w.run(t)
	require.True(t, second.Backfilled)
	require.False(t, first.Backfilled)
}

// A window that was kept and not confirmed is free when it is over, though nobody drops it.
func TestAWindowThatIsKeptToItsEndGivesARoundThen(t *testing.T) {
	var w *world
	w = newWorld(1, backfill.FCFS{}, observe(func(e entity.JobEvent) {
		if e.Kind == entity.JobSubmitted {
			_, err := w.meta.Tentative(job(2, 0, 5, 1), entity.Window{Start: 5 * des.Second, End: 10 * des.Second, Nodes: 1})
			require.NoError(t, err)
		}
	}))
	r := w.meta.Submit(job(1, 0, 20, 1))
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, 10*des.Second, r.Start)
}

// Nor does one that was confirmed, or dropped, give any round of its own at its end.
func TestAWindowThatWasConfirmedOrDroppedGivesNoRoundAtItsEnd(t *testing.T) {
	for _, drop := range []bool{false, true} {
		var rounds []des.Time
		w := newWorld(2, scripted(func(r *entity.Round) {
			rounds = append(rounds, r.Now)
			for j := range r.Waiting() {
				if r.Now >= 30*des.Second {
					r.Reserve(j, entity.Window{Start: r.Now, End: r.Now + j.Request.Length, Nodes: 1})
				}
			}
		}))
		w.meta.Submit(job(1, 0, 10, 1))
		w.meta.WakeAt(30 * des.Second)
		w.sim.At(des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			short := job(2, 0, 3, 1)
			short.Request.Length = 5 * des.Second
			h, err := w.meta.Tentative(short, entity.Window{Start: 5 * des.Second, End: 10 * des.Second, Nodes: 1})
			require.NoError(t, err)
			if drop {
				h.Drop()
			} else {
				_, err := h.Confirm()
				require.NoError(t, err)
			}
		}), 0)
		w.run(t)
		require.NotContains(t, rounds, 10*des.Second)
	}
}

// watches is an observer of events, instants and rounds.
type watches struct {
	observe
	over    func(at des.Time)
	decided func()
}

func (w watches) InstantOver(at des.Time) {
	if w.over != nil {
		w.over(at)
	}
}

func (w watches) Decided(*entity.Round) {
	if w.decided != nil {
		w.decided()
	}
}

// What an observer does when an instant is over is told of at once, in its order, before
// anything of the next instant.
func TestWhatIsDoneWhenAnInstantIsOverIsToldOf(t *testing.T) {
	var world *world
	var runs []*entity.Run
	d := &diary{}
	w := watches{observe: func(entity.JobEvent) {}, over: func(at des.Time) {
		if at == 0 {
			world.meta.Kill(runs[0], "")
			world.meta.Kill(runs[1], "")
		}
	}}
	world = newWorld(4, backfill.FCFS{}, w, d)
	runs = append(runs, world.meta.Submit(job(1, 0, 10, 2)), world.meta.Submit(job(2, 0, 10, 2)))
	world.meta.Submit(job(3, 5, 10, 4))
	world.run(t)
	require.Equal(t, []string{"0 over", "5 job 1 killed", "5 job 2 killed", "5 job 3 submitted", "5 job 3 started"}, d.lines[5:10], d.lines)
}

func TestThePanicOfAnObserverNamesItWhateverItIsTold(t *testing.T) {
	quiet := observe(func(entity.JobEvent) {})
	for want, w := range map[string]watches{
		"at 9, the observer entity_test.watches, told that the instant 5 is over, panicked: odd": {observe: quiet, over: func(at des.Time) {
			if at == 5*des.Second {
				panic("odd")
			}
		}},
		"at 0, the observer entity_test.watches, told of a round, panicked: odd": {observe: quiet, decided: func() { panic("odd") }},
		"at 5, the observer entity_test.watches, told that job 1 is killed, panicked: odd": {observe: func(e entity.JobEvent) {
			if e.Kind == entity.JobKilled {
				panic("odd")
			}
		}},
	} {
		var world *world
		var first *entity.Run
		killer := observe(func(e entity.JobEvent) { // its event is told of after the one at hand
			if e.Kind == entity.JobStarted && e.Run.ID == 2 {
				world.meta.Kill(first, "")
			}
		})
		world = newWorld(4, backfill.FCFS{}, w, killer, quiet)
		first = world.meta.Submit(job(1, 0, 10, 1))
		world.meta.Submit(job(2, 5, 4, 3))
		require.ErrorContains(t, world.sim.Run(context.Background()), want)
	}
}

// hides is a policy that decides as another one does.
type hides struct{ entity.Policy }

func (h hides) Schedule(r *entity.Round) { h.Policy.Schedule(r) }
func (h hides) Unwrap() entity.Policy    { return h.Policy }

// refuses is a policy that takes no job of more than so many processors.
type refuses struct {
	backfill.FCFS
	above int
}

func (p refuses) Refuses(req entity.Request) error {
	if req.Nodes > p.above {
		return errors.New("too large")
	}
	return nil
}

func TestAWrapperOfAWrapperCanDoWhatTheInnermostCan(t *testing.T) {
	w := newWorld(4, hides{hides{refuses{above: 2}}})
	large, small := w.meta.Submit(job(1, 0, 10, 3)), w.meta.Submit(job(2, 0, 10, 2))
	w.run(t)
	require.Equal(t, []entity.RunState{entity.Rejected, entity.Finished}, []entity.RunState{large.State, small.State})
	limiting, ok := entity.As[refuses](hides{refuses{above: 7}})
	require.True(t, ok)
	require.Equal(t, 7, limiting.above)
	outermost, ok := entity.As[hides](hides{hides{refuses{}}})
	require.True(t, ok)
	require.Equal(t, hides{hides{refuses{}}}, outermost)
	_, ok = entity.As[refuses](hides{hides{backfill.FCFS{}}})
	require.False(t, ok)
}
