package entity_test

// Programs as a researcher writes them, outside the engine: users who wait for
// results, rules by the clock, fair share, failures. Each of them went wrong, and
// some in silence, while the engine was closed.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
)

// job takes its times in seconds; the estimate is exact.
func job(id int64, submit, runtime des.Time, nodes int) *entity.Job {
	return &entity.Job{
		ID: id, Submit: submit * des.Second, Runtime: runtime * des.Second, User: -1, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: nodes, Length: runtime * des.Second},
	}
}

// world is a small cluster under a policy, with a validator.
type world struct {
	sim  *des.Simulator
	meta *entity.Metascheduler
	seen *validate.Validator
}

func newWorld(processors int, p entity.Policy, observers ...entity.Observer) *world {
	w := &world{sim: des.New(des.Config{}), seen: &validate.Validator{}}
	w.meta = entity.NewMetascheduler(w.sim, plan.NewCluster(processors), p, append([]entity.Observer{w.seen}, observers...)...)
	return w
}

// run runs to the end, which must be a good one.
func (w *world) run(t *testing.T) {
	t.Helper()
	require.NoError(t, w.sim.Run(context.Background()))
	require.NoError(t, w.seen.Report(true).Err())
}

// observe makes a function an observer.
type observe func(e entity.JobEvent)

func (f observe) Observe(e entity.JobEvent) { f(e) }

func TestAUserSubmitsWhenTheLastJobEnded(t *testing.T) {
	var w *world
	made, ended := 1, 0
	w = newWorld(4, backfill.EASY{}, observe(func(e entity.JobEvent) {
		if e.Kind != entity.JobFinished {
			return
		}
		ended++
		if made < 1000 {
			made++
			j := job(int64(made), 0, 10, 1+made%4)
			j.Submit = e.Time + 5*des.Second
			w.meta.Submit(j)
		}
	}))
	w.meta.Submit(job(1, 0, 10, 1))
	w.run(t)
	require.Equal(t, 1000, ended)
	require.Equal(t, 1000*10*des.Second+999*5*des.Second, w.sim.Now())
}

// user submits the next job some time after the last one has ended.
type user struct {
	left  int
	waits bool
	next  des.Time
	ends  []des.Time
}

func (u *user) Next() (*entity.Job, bool) {
	if u.waits || u.left == 0 {
		return nil, false
	}
	u.left--
	u.waits = true
	j := job(int64(u.left), 0, 10, 1)
	j.Submit = u.next
	return j, true
}

func (u *user) Ended(r *entity.Run) {
	u.waits, u.next = false, r.Finish+3*des.Second
	u.ends = append(u.ends, r.Finish)
}

func TestManySourcesRunSideBySideAndHearOfTheirOwnJobs(t *testing.T) {
	w := newWorld(2, backfill.FCFS{})
	users := []*user{{left: 5}, {left: 5}, {left: 5}}
	for _, u := range users {
		w.meta.SubmitFrom(u)
	}
	w.meta.SubmitAll(slices.Values([]*entity.Job{job(100, 0, 1, 2), job(101, 7, 1, 2)}))
	w.run(t)
	for _, u := range users {
		require.Len(t, u.ends, 5)
		require.True(t, slices.IsSorted(u.ends))
	}
}

// nights starts wide jobs at night only.
type nights struct{ asksForRounds bool }

func (nights) Name() string { return "nights" }

func (n nights) Schedule(r *entity.Round) {
	night := r.Now%des.Day >= 20*des.Hour
	for j := range r.Waiting() {
		if j.Request.Nodes > 2 && !night {
			if n.asksForRounds {
				r.WakeAt(r.Now - r.Now%des.Day + 20*des.Hour)
			}
			continue
		}
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

func TestARuleByTheClock(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var jobs []*entity.Job
	at := des.Time(0)
	for i := range 5000 {
		at += des.Time(random.IntN(400))
		jobs = append(jobs, job(int64(i), at, 1+des.Time(random.IntN(600)), 1+random.IntN(4)))
	}
	atNight := 0
	w := newWorld(4, nights{asksForRounds: true}, observe(func(e entity.JobEvent) {
		if e.Kind == entity.JobStarted && e.Time%des.Day == 20*des.Hour {
			atNight++
		}
	}))
	w.meta.SubmitAll(slices.Values(jobs))
	w.run(t)
	require.Positive(t, atNight, "jobs start at the stroke of eight")

	w = newWorld(4, nights{})
	w.meta.SubmitAll(slices.Values(jobs))
	var left *entity.UnfinishedError
	require.ErrorAs(t, w.sim.Run(context.Background()), &left)
	require.Positive(t, left.Waiting)
	require.ErrorContains(t, left, "WakeAt")
}

func TestWorkLeftWaitingIsCounted(t *testing.T) {
	recorder := metrics.NewRecorder()
	w := newWorld(4, nights{}, recorder)
	w.meta.LeaveWaiting = true
	w.meta.SubmitAll(slices.Values([]*entity.Job{job(1, 0, 10, 4), job(2, 0, 10, 1), job(3, 0, 10, 3)}))
	require.NoError(t, w.sim.Run(context.Background()))
	require.Equal(t, 2, recorder.Summary().Waiting)
}

// share orders jobs by what their users have had, which an observer keeps.
type share struct{ had map[int32]float64 }

func (s *share) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobFinished {
		s.had[e.Run.User] += e.Run.Latest().ProcessorTime().Seconds()
	}
}

func (s *share) order(dynamic bool) entity.Order {
	return entity.Order{Name: "fair share", Dynamic: dynamic, Key: func(r *entity.Run, _ des.Time) float64 { return s.had[r.User] }}
}

func TestFairShareAsAnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var jobs []*entity.Job
	at := des.Time(0)
	for i := range 800 {
		at += des.Time(random.IntN(40))
		j := job(int64(i), at, 1+des.Time(random.IntN(100)), 1+random.IntN(6))
		j.User = int32(random.IntN(5))
		jobs = append(jobs, j)
	}
	for _, dynamic := range []bool{false, true} {
		for _, of := range []func(entity.Order) entity.Policy{
			func(o entity.Order) entity.Policy { return backfill.FCFS{Order: o} },
			func(o entity.Order) entity.Policy { return backfill.EASY{Order: o} },
			func(o entity.Order) entity.Policy { return backfill.EASY{Candidates: o} },
			func(o entity.Order) entity.Policy { return backfill.Conservative{Order: o} },
		} {
			for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent} {
				s := &share{map[int32]float64{}}
				w := newWorld(8, of(s.order(dynamic)), s)
				w.meta.Pass = pass
				w.meta.SubmitAll(slices.Values(jobs))
				w.run(t)
			}
		}
	}
}

func TestTwoOrdersWithoutANameAreTwo(t *testing.T) {
	byID := entity.Order{Key: func(r *entity.Run, _ des.Time) float64 { return float64(r.ID) }}
	shortest := entity.Order{Key: func(r *entity.Run, _ des.Time) float64 { return float64(r.Request.Length) }}
	w := newWorld(4, backfill.EASY{Order: byID, Candidates: shortest})
	w.meta.Submit(job(1, 0, 100, 3))
	w.meta.Submit(job(2, 0, 100, 4)) // the head, which waits for 1
	long := w.meta.Submit(job(3, 0, 90, 1))
	short := w.meta.Submit(job(4, 0, 10, 1))
	w.run(t)
	require.Zero(t, short.Start, "the shortest candidate goes first")
	require.Equal(t, 10*des.Second, long.Start)
}

func TestAZeroQueueIsEmpty(t *testing.T) {
	var q entity.Queue
	require.Zero(t, q.Len())
	require.Nil(t, q.First())
	require.Empty(t, slices.Collect(q.By(backfill.ShortestFirst, 0).All()))
	q.Take(entity.NewRun(job(1, 0, 1, 1), 0))
	require.Equal(t, 1, q.Len())
}

// generous gives every job the window that it makes of the right one.
type generous struct{ bend func(*entity.Window) }

func (generous) Name() string { return "generous" }

func (g generous) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			g.bend(&w)
			r.Reserve(j, w)
		}
	}
}

func TestAWindowMustBeWhatTheJobAsksFor(t *testing.T) {
	for want, bend := range map[string]func(*entity.Window){
		"lasts 1, and the job asks for 100": func(w *entity.Window) { w.End = w.Start + des.Second },
		"has 1 nodes":                       func(w *entity.Window) { w.Nodes = 1 },
		"in the past":                       func(w *entity.Window) { w.Start -= des.Second },
	} {
		w := newWorld(4, generous{bend})
		w.meta.Submit(job(7, 1, 100, 2))
		err := w.sim.Run(context.Background())
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "job 7")
		require.ErrorContains(t, err, "policy generous")
	}
}

func TestAJobThatMakesNoSenseIsNamed(t *testing.T) {
	for want, change := range map[string]func(*entity.Job){
		"length":     func(j *entity.Job) { j.Request.Length = 0 },
		"runtime":    func(j *entity.Job) { j.Runtime = -1 },
		"1 node":     func(j *entity.Job) { j.Request.Nodes = 0 },
		"submission": func(j *entity.Job) { j.Submit = -1 },
	} {
		for _, submit := range []func(*entity.Metascheduler, *entity.Job){
			func(m *entity.Metascheduler, j *entity.Job) { m.Submit(j) },
			func(m *entity.Metascheduler, j *entity.Job) { m.SubmitAll(slices.Values([]*entity.Job{j})) },
		} {
			w := newWorld(4, backfill.FCFS{})
			j := job(7, 0, 100, 2)
			change(j)
			submit(w.meta, j)
			err := w.sim.Run(context.Background())
			require.ErrorContains(t, err, "job 7")
			if j.Submit >= 0 {
				require.ErrorContains(t, err, want)
			}
		}
	}
}

func TestASubmissionInThePastEndsTheRun(t *testing.T) {
	var w *world
	w = newWorld(4, backfill.FCFS{}, observe(func(e entity.JobEvent) {
		if e.Kind == entity.JobFinished && e.Run.ID == 1 {
			w.meta.Submit(job(2, 0, 1, 1))
		}
	}))
	w.meta.Submit(job(1, 0, 10, 1))
	require.ErrorContains(t, w.sim.Run(context.Background()), "job 2 cannot be submitted at 0, which is past")
}

func TestAWorkloadMayComeFromAnIteratorThatIsPulled(t *testing.T) {
	next, stop := iter.Pull(slices.Values([]*entity.Job{job(1, 0, 10, 1), job(2, 5, 10, 1)}))
	defer stop()
	next() // begun elsewhere
	result, err := simulation.Simulate(context.Background(), pulled(next), simulation.RunSettings{Policy: backfill.FCFS{}, Processors: 2})
	require.NoError(t, err)
	require.Equal(t, 1, result.Summary.Jobs)
}

type pulled func() (*entity.Job, bool)

func (p pulled) Next() (*entity.Job, bool) { return p() }

func TestTheSameJobsRunAgainAndSideBySide(t *testing.T) {
	var jobs []*entity.Job
	for i := range 200 {
		jobs = append(jobs, job(int64(i), des.Time(3*i), 10+des.Time(i%17), 1+i%4))
	}
	kept := make([]entity.Job, len(jobs))
	for i, j := range jobs {
		kept[i] = *j
	}
	var group sync.WaitGroup
	var starts [4][]des.Time
	for i := range starts {
		group.Go(func() {
			w := newWorld(4, backfill.EASY{}, observe(func(e entity.JobEvent) {
				if e.Kind != entity.JobStarted {
					return
				}
				starts[i] = append(starts[i], e.Time)
			}))
			w.meta.SubmitAll(slices.Values(jobs))
			if err := w.sim.Run(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i := range starts {
		require.Equal(t, starts[0], starts[i])
	}
	for i, j := range jobs {
		require.Equal(t, kept[i], *j, "a run changes nothing in a job")
	}
}

func TestPreemptionsAreOfOneRunOnly(t *testing.T) {
	j := job(1, 0, 100, 2)
	for range 2 {
		w := newWorld(4, backfill.FCFS{})
		r := w.meta.Submit(j)
		w.at(40, func() { require.True(t, w.meta.Preempt(r, 0)) })
		w.run(t)
		require.Len(t, r.Earlier(), 1)
		require.Equal(t, 80*des.Second, r.Earlier()[0].ProcessorTime())
		require.Equal(t, 140*des.Second, r.Finish)
	}
}

// at has something happen at that second.
func (w *world) at(second des.Time, do func()) {
	w.sim.At(second*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { do() }), 0)
}

func TestPreemptionKeepsWhatACheckpointHas(t *testing.T) {
	for _, c := range []struct{ keep, finish des.Time }{
		{0, 140}, {25 * des.Second, 115}, {des.Forever, 100},
	} {
		w := newWorld(4, backfill.FCFS{})
		r := w.meta.Submit(job(1, 0, 100, 2))
		w.at(40, func() { require.True(t, w.meta.Preempt(r, c.keep)) })
		w.run(t)
		require.Equal(t, c.finish*des.Second, r.Finish)
		require.Equal(t, min(c.keep, 40*des.Second), r.Done())
		require.Equal(t, 100*des.Second, r.Job.Request.Length)
		require.Equal(t, 100*des.Second-r.Done(), r.Request.Length, "what is left is asked for")
	}
}

func TestKillCancelAndWithdraw(t *testing.T) {
	w := newWorld(4, backfill.Conservative{})
	killed := w.meta.Submit(job(1, 0, 100, 4))
	waiting := w.meta.Submit(job(2, 0, 50, 4)) // reserved at 100
	behind := w.meta.Submit(job(3, 0, 50, 4))  // reserved at 150
	never := w.meta.Submit(job(4, 70, 50, 4))
	w.at(10, func() {
		require.Equal(t, entity.Reserved, waiting.State)
		require.False(t, w.meta.Kill(waiting, "it does not run"))
		require.True(t, w.meta.Cancel(waiting, "its user has thought better of it"))
		require.True(t, w.meta.Cancel(never, "neither will this one come"))
		require.False(t, w.meta.Cancel(killed, "it runs"))
	})
	w.at(20, func() {
		require.Equal(t, 100*des.Second, behind.Reservation.Window.Start, "others move up")
		require.True(t, w.meta.Withdraw(behind))
		require.True(t, w.meta.Kill(killed, "a node has failed"))
		require.False(t, w.meta.Kill(killed, "again"))
	})
	w.run(t)
	require.Equal(t, entity.Killed, killed.State)
	require.Equal(t, "a node has failed", killed.Reason)
	require.Equal(t, 20*des.Second, killed.Finish)
	require.Equal(t, entity.Rejected, waiting.State)
	require.Equal(t, entity.Rejected, never.State)
	require.Equal(t, 20*des.Second, behind.Start)
}

func TestCapacityIsWithheldAndComesBack(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent} {
		w := newWorld(4, backfill.EASY{})
		w.meta.Pass = pass
		w.meta.Placer = entity.LowestFirst{}
		first := w.meta.Submit(job(1, 0, 100, 2))  // on 0-1
		second := w.meta.Submit(job(2, 1, 100, 2)) // on 2-3
		w.at(10, func() {
			one := entity.Where{Count: 1}
			_, err := w.meta.Withhold(one, w.sim.Now(), 60*des.Second)
			var conflict *entity.ConflictError
			require.ErrorAs(t, err, &conflict)
			hit := w.meta.InTheWay(entity.NodeAt(2), w.sim.Now(), 60*des.Second)
			require.Equal(t, []*entity.Run{second}, hit)
			require.Equal(t, []*entity.Run{second, first}, w.meta.InTheWay(one, w.sim.Now(), 60*des.Second))
			require.True(t, w.meta.Preempt(second, 0))
			_, err = w.meta.Withhold(one, w.sim.Now(), 60*des.Second)
			require.NoError(t, err)
		})
		small := w.meta.Submit(job(3, 20, 10, 1))
		w.run(t)
		require.Equal(t, 20*des.Second, small.Start, "one processor is left over")
		require.Equal(t, 60*des.Second, second.Start, "it starts when the capacity is back")
	}
}

func TestWithheldCapacityMayComeBackAheadOfTimeOrNever(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	hold, err := w.meta.Withhold(entity.Where{Count: 3}, 0, des.Forever)
	require.NoError(t, err)
	_, err = hold.Confirm()
	require.Error(t, err, "there is nobody to come")
	r := w.meta.Submit(job(1, 0, 10, 2))
	w.at(30, func() { hold.Drop(); hold.Drop() })
	w.run(t)
	require.Equal(t, 30*des.Second, r.Start)

	w = newWorld(4, backfill.FCFS{})
	_, err = w.meta.Withhold(entity.Where{Count: 3}, 0, des.Forever)
	require.NoError(t, err)
	w.meta.Submit(job(1, 0, 10, 1))
	w.run(t) // an endless outage does not keep a run from ending
	require.Equal(t, 10*des.Second, w.sim.Now())
}

func TestATentativeWindowIsConfirmedOrDropped(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	keep := func(id int64, start des.Time) *entity.Hold {
		j := job(id, 0, 10, 4)
		h, err := w.meta.Tentative(j, entity.Window{Start: start * des.Second, End: (start + 10) * des.Second, Nodes: 4})
		require.NoError(t, err)
		return h
	}
	yes, no := keep(1, 10), keep(2, 30)
	_, err := w.meta.Tentative(job(3, 0, 10, 1), entity.Window{Start: 15 * des.Second, End: 25 * des.Second, Nodes: 1})
	var conflict *entity.ConflictError
	require.ErrorAs(t, err, &conflict)
	_, err = w.meta.Tentative(job(4, 0, 10, 2), entity.Window{Start: 50 * des.Second, End: 60 * des.Second, Nodes: 1})
	require.ErrorContains(t, err, "asks for 2")
	waiting := w.meta.Submit(job(5, 5, 30, 4))
	r, err := yes.Confirm()
	require.NoError(t, err)
	w.at(20, no.Drop)
	w.at(25, func() {
		_, err := no.Confirm()
		require.Error(t, err)
	})
	w.run(t)
	require.True(t, r.Booked)
	require.Equal(t, 10*des.Second, r.Start)
	require.Equal(t, 20*des.Second, waiting.Start, "as soon as the second is dropped")
}

func TestRaiseIsAWordOfTheMetascheduler(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	w.meta.Overrun = entity.OverrunRaise
	j := job(1, 0, 100, 4)
	j.Request.Length = 10 * des.Second
	r := w.meta.Submit(j)
	w.run(t)
	require.Equal(t, entity.Finished, r.State)
	require.Equal(t, 100*des.Second, r.Finish)
}

func TestADeadlineLeavesNothingBehind(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	for i := range 100 {
		j := job(int64(i), des.Time(i), 1, 4)
		j.Request.Deadline = 1_000_000 * des.Second
		w.meta.Submit(j)
	}
	w.at(500, func() { require.Zero(t, w.sim.Pending()) })
	w.run(t)
	require.Equal(t, 500*des.Second, w.sim.Now())
}

func TestARoundSeesWhatRuns(t *testing.T) {
	var seen []string
	w := newWorld(4, watching{func(r *entity.Round) {
		var ids []int64
		for j := range r.Running() {
			ids = append(ids, j.ID)
		}
		seen = append(seen, fmt.Sprint(r.Now, ids))
	}})
	w.meta.Submit(job(1, 0, 10, 1))
	w.meta.Submit(job(2, 1, 3, 1))
	w.meta.Submit(job(3, 2, 10, 1))
	w.run(t)
	require.Equal(t, []string{"0 []", "1 [1]", "2 [1 2]", "4 [1 3]", "10 [3]", "12 []"}, seen)
}

// watching looks before it starts whatever fits.
type watching struct{ look func(*entity.Round) }

func (watching) Name() string { return "watching" }

func (w watching) Schedule(r *entity.Round) {
	w.look(r)
	backfill.FCFS{}.Schedule(r)
}

func TestAPolicyPreempts(t *testing.T) {
	// Whoever is wider takes the processors from those that run.
	w := newWorld(4, watching{func(r *entity.Round) {
		first := r.Queue.First()
		if first == nil {
			return
		}
		for j := range r.Running() {
			if j.Request.Nodes < first.Request.Nodes {
				r.Preempt(j, des.Forever)
			}
		}
		if w, ok := r.Plan.Find(first.Request, r.Now, r.Now); ok {
			r.Reserve(first, w)
		}
	}})
	small := w.meta.Submit(job(1, 0, 100, 1))
	wide := w.meta.Submit(job(2, 10, 20, 4))
	w.run(t)
	require.Equal(t, 10*des.Second, wide.Start)
	require.Equal(t, 30*des.Second, small.Start)
	require.Equal(t, 120*des.Second, small.Finish)
}

// The wide job heads the queue, and two narrow ones have been looked at in vain. At 5
// another one comes, and one that runs is stopped; what it leaves is for all that
// wait, not for the new one alone: in this round, or in the next.
func TestWhatAPolicyPreemptsIsForAllThatWait(t *testing.T) {
	for behind, start := range map[bool]des.Time{false: 5, true: 6} {
		p := &preemptsOnce{at: 5 * des.Second, behind: behind}
		w := newWorld(4, p)
		w.meta.Submit(job(1, 0, 100, 2))
		w.meta.Submit(job(2, 0, 50, 2))
		wide := w.meta.Submit(job(3, 1, 5, 4))
		a, b := w.meta.Submit(job(4, 1, 10, 1)), w.meta.Submit(job(5, 1, 10, 1))
		w.meta.Submit(job(6, 5, 10, 1))
		w.meta.Submit(job(7, 6, 10, 1))
		w.run(t)
		require.Equal(t, start*des.Second, a.Start)
		require.Equal(t, start*des.Second, b.Start)
		require.Equal(t, 50*des.Second, wide.Start)
		require.True(t, p.gained)
	}
}

// preemptsOnce is EASY, shortest first, and stops job 1 at one instant.
type preemptsOnce struct {
	at     des.Time
	cost   des.Time
	behind bool // preempts when everything else is done
	gained bool // the round at 6 was told so
}

func (*preemptsOnce) Name() string { return "preempts once" }

func (p *preemptsOnce) Schedule(r *entity.Round) {
	p.gained = p.gained || r.Now == 6*des.Second && r.Gained
	shortest := backfill.EASY{Order: backfill.ShortestFirst}
	if p.behind {
		shortest.Schedule(r)
	}
	for v := range r.Running() {
		if r.Now == p.at && v.ID == 1 && r.Preempt(v, des.Forever) {
			r.SetUp(v, p.cost)
			r.WakeAt(r.Now + 7*des.Second)
		}
	}
	if !p.behind {
		shortest.Schedule(r)
	}
}

func TestAPolicyThatPreemptsForNobodyAsksWhenItIsToLookAgain(t *testing.T) {
	w := newWorld(4, &preemptsOnce{at: 5 * des.Second, behind: true})
	r := w.meta.Submit(job(1, 0, 100, 4))
	w.at(5, func() { w.meta.WakeAt(5 * des.Second) })
	late := w.meta.Submit(job(2, 5, 10, 1))
	w.run(t)
	require.Equal(t, 22*des.Second, r.Start, "behind the one that was shorter at the second look")
	require.Equal(t, 12*des.Second, late.Start)
	require.Equal(t, 117*des.Second, r.Finish)
}

func TestWhatResumingCostsIsDoneBeforeTheWorkGoesOn(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), &preemptsOnce{at: 5 * des.Second, cost: 3 * des.Second})
	r := m.Submit(job(1, 0, 100, 4))
	m.Submit(job(2, 5, 10, 1))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 15*des.Second, r.Start)
	require.Equal(t, 113*des.Second, r.Finish)
	require.Equal(t, 3*des.Second, r.Latest().Overhead)
}

// diary writes down everything that an observer can be told.
type diary struct{ lines []string }

func (d *diary) Observe(e entity.JobEvent)      { d.note("%v job %d %v", e.Time, e.Run.ID, e.Kind) }
func (d *diary) InstantOver(at des.Time)        { d.note("%v over", at) }
func (d *diary) Decided(r *entity.Round)        { d.note("%v decided", r.Now) }
func (d *diary) TaskEnded(r *entity.Run, i int) { d.note("%v job %d task %d", r.Ends()[i], r.ID, i) }

func (d *diary) note(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func TestObserversAreToldWhenAnInstantIsOver(t *testing.T) {
	d := &diary{}
	w := newWorld(4, backfill.FCFS{}, d)
	w.meta.Submit(job(1, 0, 10, 4))
	w.meta.Submit(job(2, 10, 5, 4))
	w.run(t)
	require.Equal(t, []string{
		"0 job 1 submitted", "0 job 1 started", "0 decided", "0 over",
		"10 job 1 finished", "10 job 2 submitted", "10 job 2 started", "10 decided", "10 over",
		"15 job 2 finished", "15 decided", "15 over",
	}, d.lines)
}

func TestRealEndsAreStoredWhereTheyHappen(t *testing.T) {
	nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}, {ID: 3, Perf: 2}}
	domain, err := plan.NewDomain(nodes, cheapest{})
	require.NoError(t, err)
	d := &diary{}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, domain, backfill.FCFS{}, d)
	j := job(1, 0, 100, 3)
	j.Request.Length = 120 * des.Second // reserved: 120, 60, 60; real: 100, 50, 50
	r := meta.Submit(j)
	require.NoError(t, sim.Run(context.Background()))
	var real []des.Time
	for i, task := range r.Reservation.Window.Tasks {
		require.Equal(t, des.Time(100/task.Node.Perf)*des.Second, r.Ends()[i])
		real = append(real, r.Ends()[i])
	}
	require.Len(t, real, 3)
	require.Equal(t, 200*des.Second, r.Latest().ProcessorTime())
	require.Subset(t, d.lines, []string{"50 job 1 task 1", "50 job 1 task 2", "100 job 1 task 0"})
	require.EqualValues(t, 3, meta.Rounds(), "two tasks that end together are one event")
}

// cheapest takes the first nodes that are free now.
type cheapest struct{}

func (cheapest) Name() string { return "cheapest" }

func (cheapest) Find(_ context.Context, req entity.Request, list plan.SlotList, _ des.Time) (f plan.Found, _ error) {
	for _, s := range list.Slots {
		if s.Start > list.From || len(f.Window.Tasks) == req.Nodes {
			break
		}
		end := list.From.Add(s.Node.TaskTime(req.Length))
		f.Window.Tasks = append(f.Window.Tasks, entity.Task{Node: s.Node, End: end})
		f.Window.End = max(f.Window.End, end)
	}
	f.Window.Start, f.Window.Nodes, f.OK = list.From, req.Nodes, len(f.Window.Tasks) == req.Nodes
	return f, nil
}

func TestSixteenSecondsAreSixteenSeconds(t *testing.T) {
	domain, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}}, cheapest{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, domain, backfill.FCFS{})
	j := job(1, 0, 16, 1)
	j.Request.Length = 1200 * des.Second
	r := meta.Submit(j)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 16*des.Second, r.Finish)
}

// shelf is a plan of one's own: one node at a time, windows with tasks, and no
// more than entity.Plan asks for.
type shelf struct {
	node *entity.Node
	free des.Time // from when on
}

func (s *shelf) Find(req entity.Request, from, until des.Time) (entity.Window, bool) {
	start := max(from, s.free)
	end := start.Add(s.node.TaskTime(req.Length))
	return entity.Window{Start: start, End: end, Nodes: 1, Tasks: []entity.Task{{Node: s.node, End: end}}}, start <= until
}

func (s *shelf) FindEarlier(*entity.Reservation, des.Time, des.Time) (entity.Window, bool) {
	return entity.Window{}, false
}

func (s *shelf) Reserve(r *entity.Run, w entity.Window) (*entity.Reservation, error) {
	if w.Start < s.free {
		return nil, &entity.ConflictError{Run: r, Window: w}
	}
	s.free = w.End
	r.Reservation = entity.Reservation{Window: w, Run: r, Active: true}
	return &r.Reservation, nil
}

func (s *shelf) Move(*entity.Reservation, entity.Window) error { return errors.New("never") }

func (s *shelf) Release(r *entity.Reservation, at des.Time) {
	if r.Active {
		r.Active, s.free = false, max(at, r.Window.Start)
	}
}

func (*shelf) Size() int               { return 1 }
func (s *shelf) Node(int) *entity.Node { return s.node }

func (s *shelf) FitsAt(at des.Time, nodes int, length des.Time) (bool, int, des.Time) {
	return at >= s.free && nodes == 1, nodes, length
}

func (*shelf) InTheWay(entity.Where, des.Time, des.Time, func(*entity.Run) bool) []*entity.Run {
	return nil
}

func (*shelf) NextGain() des.Time { return des.Forever }

func (s *shelf) Withhold(r *entity.Run, _ entity.Where, from, to des.Time) error {
	_, err := s.Reserve(r, entity.Window{Start: from, End: to, Nodes: 1})
	return err
}

func (*shelf) Settle(*entity.Reservation)                      {}
func (*shelf) Extend(*entity.Reservation, entity.Window) error { return errors.New("never") }
func (*shelf) ReleaseTask(*entity.Reservation, int, des.Time)  {}
func (*shelf) Err() error                                      { return nil }
func (*shelf) Slots(_, _ des.Time) iter.Seq[entity.Slot]       { return func(func(entity.Slot) bool) {} }
func (*shelf) Forget(des.Time) bool                            { return true }
func (*shelf) Fits(entity.Request) error                       { return nil }

func TestAPlanOfOnesOwnMayHaveTasks(t *testing.T) {
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, &shelf{node: &entity.Node{ID: 1, Perf: 2}}, backfill.FCFS{})
	first, second := meta.Submit(job(1, 0, 10, 1)), meta.Submit(job(2, 1, 10, 1))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 5*des.Second, first.Finish)
	require.Equal(t, 5*des.Second, second.Start)
}

// contiguous takes the first range that is wide enough.
type contiguous struct{}

func (contiguous) Place(free *procset.Set, _ *entity.Run, n int, ranges []procset.Range) ([]procset.Range, error) {
	for hole := range free.Ranges() {
		if int(hole.Last-hole.First)+1 >= n {
			hole.Last = hole.First + int32(n) - 1
			return append(ranges, hole), free.Take(hole)
		}
	}
	return free.Allocate(n, ranges)
}

func TestAPlacerOfOnesOwn(t *testing.T) {
	for _, named := range []bool{false, true} {
		w := newWorld(8, backfill.FCFS{})
		if named {
			nodes := make([]*entity.Node, 8)
			for i := range nodes {
				nodes[i] = &entity.Node{ID: i, Perf: 1}
			}
			w = nodesWorld(t, backfill.FCFS{}, nodes)
		}
		w.meta.Placer = contiguous{}
		w.meta.Submit(job(1, 0, 10, 2))
		w.meta.Submit(job(2, 0, 100, 2))
		gone := w.meta.Submit(job(3, 20, 10, 3)) // 0-1 is too narrow for it
		w.run(t)
		place := gone.Place
		for _, task := range gone.Reservation.Window.Tasks {
			place = procset.Extend(place, int32(task.Node.ID))
		}
		require.Equal(t, []procset.Range{{First: 4, Last: 6}}, place)
	}
}

// scarce is a Placer that finds no place.
type scarce struct{}

func (scarce) Place(*procset.Set, *entity.Run, int, []procset.Range) ([]procset.Range, error) {
	return nil, errors.New("there is none")
}

func TestAPlacerThatFindsNoPlaceEndsTheRun(t *testing.T) {
	nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}}
	for _, w := range []*world{newWorld(2, backfill.FCFS{}), nodesWorld(t, backfill.FCFS{}, nodes)} {
		w.meta.Placer = scarce{}
		w.meta.Submit(job(1, 0, 10, 1))
		require.ErrorContains(t, w.sim.Run(context.Background()), "placing job 1: there is none")
	}
}

// A job that is cancelled at the instant at which it comes was shown to the policy
// among the fresh ones, and conservative backfilling, which reserves for them, was
// refused.
func TestAJobCancelledBeforeItsFirstRoundIsNotFresh(t *testing.T) {
	w := newWorld(4, backfill.Conservative{})
	r := w.meta.Submit(job(1, 5, 10, 2))
	w.meta.Submit(job(2, 5, 10, 2))
	w.sim.At(5*des.Second, entity.PhaseArrival+1, des.Func(func(*des.Simulator, des.Event) {
		require.True(t, w.meta.Cancel(r, "its user"))
	}), 0)
	w.run(t)
	require.Equal(t, entity.Rejected, r.State)
}

func TestNobodyKeepsLessThanNothing(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	r := w.meta.Submit(job(1, 0, 100, 2))
	w.at(40, func() { w.meta.Preempt(r, -5*des.Second) })
	w.run(t)
	require.Zero(t, r.Done())
	require.Equal(t, 140*des.Second, r.Finish)
}

func TestABookingIsRaisedAsAnyJobIs(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	w.meta.Overrun = entity.OverrunRaise
	j := job(1, 0, 20, 4)
	j.Request.Length = 10 * des.Second
	flow.NewBookings(w.meta).Submit(slices.Values([]flow.Booking{{Job: j, Start: 5 * des.Second}}))
	w.run(t)
	require.Equal(t, 25*des.Second, w.sim.Now())
}

func TestNobodyIsPlacedOnWhatIsWithheldByName(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent} {
		w := newWorld(4, backfill.FCFS{})
		w.meta.Pass = pass
		w.meta.Placer = entity.LowestFirst{}
		victim := w.meta.Submit(job(1, 0, 100, 2))
		var early *entity.Hold
		down := func(until des.Time, p int) (*entity.Hold, error) {
			return w.meta.Withhold(entity.NodeAt(p), w.sim.Now(), until*des.Second)
		}
		w.at(10, func() {
			_, err := down(50, 1)
			require.Error(t, err, "the victim has it")
			require.True(t, w.meta.Kill(victim, "processor 1 has failed"))
			_, err = down(50, 1)
			require.NoError(t, err)
			early, err = down(90, 0)
			require.NoError(t, err)
		})
		two := w.meta.Submit(job(2, 10, 5, 2)) // at the same instant
		w.at(30, func() { early.Drop() })
		three := w.meta.Submit(job(3, 30, 10, 3))
		all := w.meta.Submit(job(4, 31, 10, 4))
		w.run(t)
		require.Equal(t, []procset.Range{{First: 2, Last: 3}}, two.Place)
		require.Equal(t, []procset.Range{{First: 0, Last: 0}, {First: 2, Last: 3}}, three.Place)
		require.Equal(t, 50*des.Second, all.Start)
		require.Equal(t, []procset.Range{{First: 0, Last: 3}}, all.Place)
	}
	w := newWorld(4, backfill.FCFS{})
	_, err := w.meta.Withhold(entity.NodeAt(1), 0, 10)
	require.ErrorContains(t, err, "Placer")
	w.meta.Placer = entity.LowestFirst{}
	_, err = w.meta.Withhold(entity.NodeAt(1), 5, 10)
	require.ErrorContains(t, err, "begins now")
	_, err = w.meta.Withhold(entity.Where{Count: 2, Set: entity.NodeAt(1).Set}, 0, 10)
	require.ErrorContains(t, err, "one of the two")
	_, err = w.meta.Withhold(entity.NodeAt(4), 0, 10)
	require.ErrorContains(t, err, "among 0-3 in ascending order, not 4")
	_, err = w.meta.Withhold(entity.Where{Count: 5}, 0, 10)
	require.ErrorContains(t, err, "want 1 to 4 nodes or processors, not 5")
	require.True(t, w.meta.Plan().Fits(entity.Request{Nodes: 4, Length: 1}) == nil)
	r := w.meta.Submit(job(1, 0, 1, 4))
	w.run(t)
	require.Zero(t, r.Start, "a refusal withholds nothing")
}

func TestWhatWasWithheldIsGivenBackOnce(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	w.meta.Placer = entity.LowestFirst{}
	down, err := w.meta.Withhold(entity.NodeAt(0), 0, 10*des.Second)
	require.NoError(t, err)
	w.at(20, down.Drop) // it has been back since 10
	first, second := w.meta.Submit(job(1, 12, 5, 4)), w.meta.Submit(job(2, 30, 5, 4))
	w.run(t)
	require.Equal(t, []procset.Range{{First: 0, Last: 3}}, first.Place)
	require.Equal(t, first.Place, second.Place)
}

// idle starts no job.
type idle struct{}

func (idle) Name() string           { return "idle" }
func (idle) Schedule(*entity.Round) {}

func TestTicksEndOnceABookingHasStarted(t *testing.T) {
	sim := des.New(des.Config{MaxEvents: 1000})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(4), idle{})
	meta.Cycle, meta.LeaveWaiting = 10*des.Second, true
	meta.Submit(job(1, 0, 10, 1)) // for ever
	flow.NewBookings(meta).Submit(slices.Values([]flow.Booking{{Job: job(2, 0, 10, 1), Start: 50 * des.Second}}))
	require.NoError(t, sim.Run(context.Background()))
	require.GreaterOrEqual(t, sim.Now(), 60*des.Second, "ticks go on while a booking lies ahead")
	require.Less(t, sim.Now(), 100*des.Second)
}

func TestADeadlineOnNodesMindsTheSlowestOfTheFastest(t *testing.T) {
	nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}, {ID: 3, Perf: 4}}
	domain, err := plan.NewDomain(nodes, cheapest{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, domain, idle{})
	j := job(1, 0, 10, 2)
	j.Request.Deadline = 12 * des.Second
	r := meta.Submit(j)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, entity.Rejected, r.State)
	require.Equal(t, 7*des.Second+des.Tick, r.Finish, "two nodes take 5 s at least")
}

// Two orders are two though they have one name, an order that is called "submission" is what
// its key says, and one that is made anew for every round is one.
func TestOrdersAreToldApartByTheirKeys(t *testing.T) {
	named := func(name string, sign float64) entity.Order {
		return entity.Order{Name: name, Key: func(r *entity.Run, _ des.Time) float64 { return sign * float64(r.Request.Length) }}
	}
	var q entity.Queue
	short, long := entity.NewRun(job(1, 0, 1, 1), 0), entity.NewRun(job(2, 0, 9, 1), 1)
	for _, r := range []*entity.Run{short, long} {
		r.State = entity.Waiting
		q.Take(r)
	}
	up, down := named("mine", 1), named("mine", -1)
	first, last := q.By(up, 0), q.By(down, 0)
	require.Equal(t, []*entity.Run{short, long}, slices.Collect(first.All()))
	require.Equal(t, []*entity.Run{long, short}, slices.Collect(last.All()))
	require.Same(t, first, q.By(up, 0))
	require.Same(t, last, q.By(down, 0))
	require.Equal(t, long, q.By(named("submission", -1), 0).First())
	require.Equal(t, short, q.By(entity.Submission, 0).First())

	var meta *entity.Metascheduler
	w := newWorld(1, backfill.FCFS{}, observe(func(e entity.JobEvent) {
		if e.Kind == entity.JobFinished {
			require.Equal(t, meta.Queue().First(), meta.Queue().By(named("mine", 1), e.Time).First())
		}
	}))
	meta = w.meta
	for id := range int64(20) {
		meta.Submit(job(id, 0, 1+des.Time(id), 1))
	}
	w.run(t)
}

// A sequence ends when its source is closed, also in its midst.
func TestASequenceIsASource(t *testing.T) {
	ended := false
	from := entity.SourceOf(func(yield func(*entity.Job) bool) {
		defer func() { ended = true }()
		for id := range int64(3) {
			if !yield(&entity.Job{ID: id}) {
				return
			}
		}
	})
	for id := range int64(2) {
		j, ok := from.Next()
		require.True(t, ok)
		require.Equal(t, id, j.ID)
	}
	require.NoError(t, from.(io.Closer).Close())
	require.True(t, ended)
	_, ok := from.Next()
	require.False(t, ok)
}
