package preempt

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// With n jobs of m quanta each the i-th ends when (m-1)n + i turns are over.
func TestEqualJobsShareAMachineByTheClosedFormula(t *testing.T) {
	const n, m = 5, 4
	const quantum = 7 * des.Second
	var jobs []*entity.Job
	for id := range n {
		jobs = append(jobs, job(int64(id+1), 0, m*quantum, 3))
	}
	for _, r := range simulate(t, Slicing{Quantum: quantum}, entity.PassInstant, 4, jobs...) {
		require.Equal(t, ((m-1)*n+des.Time(r.ID))*quantum, r.Finish)
		require.Len(t, r.Earlier(), m-1)
	}
	// With a second of it for resuming, every turn but the first does 6 s of the 28 s.
	runs := simulate(t, Slicing{Quantum: quantum, Cost: des.Second}, entity.PassInstant, 4, jobs[:2]...)
	require.Equal(t, 8*quantum+4*des.Second, runs[0].Finish, "its fifth turn is the ninth of both, and has 3 s to do")
	require.Equal(t, 8*quantum+8*des.Second, runs[1].Finish)
}

func TestJobsThatHaveRoomBesideEachOtherAreLeftAlone(t *testing.T) {
	for _, r := range simulate(t, Slicing{Quantum: 1}, entity.PassInstant, 6, job(1, 0, 50, 2), job(2, 3, 50, 2), job(3, 5, 50, 2)) {
		require.Empty(t, r.Earlier())
		require.Equal(t, r.Submit, r.Start)
	}
}

func TestAmongPrioritiesOnlyTheHighestTakeTurns(t *testing.T) {
	byQueue := entity.Order{Name: "queue", Key: func(r *entity.Run, _ des.Time) float64 { return float64(r.Queue) }}
	low, a, b := job(1, 0, 100, 1), job(2, 5, 20, 1), job(3, 5, 20, 1)
	low.Queue, a.Queue, b.Queue = 2, 1, 1
	runs := simulate(t, Slicing{Quantum: 10, Order: byQueue}, entity.PassInstant, 1, low, a, b)
	require.Equal(t, []span{{1, 0, 10}, {2, 10, 20}, {3, 20, 30}, {2, 30, 40}, {3, 40, 50}, {1, 50, 140}}, spans(runs))
}

func TestShortestFirstTakesTurnsByWhatIsLeft(t *testing.T) {
	runs := simulate(t, Slicing{Quantum: 10, Order: backfill.ShortestFirst}, entity.PassInstant, 1, job(1, 0, 100, 1), job(2, 5, 25, 1), job(3, 30, 5, 1))
	require.Equal(t, []span{{1, 0, 10}, {2, 10, 30}, {3, 30, 35}, {2, 35, 40}, {1, 40, 130}}, spans(runs))
}

func TestNoTurnsAreTakenWhereOnlyJobsAreLeftForWhichThereWillBeNoRoom(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), Slicing{Quantum: 10})
	m.LeaveWaiting = true
	_, err := m.Withhold(entity.Where{Count: 2}, 0, des.Forever)
	require.NoError(t, err)
	m.Submit(job(1, 0, 25, 2))
	wide := m.Submit(job(2, 0, 25, 3))
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 30, sim.Now(), "the turn that had been asked for while one ran")
	require.Equal(t, entity.Waiting, wide.State)
}

func TestWithARoundAfterEveryEventATurnIsAQuantumToo(t *testing.T) {
	runs := simulate(t, Slicing{Quantum: 10}, entity.PassEvent, 1, job(1, 0, 100, 1), job(2, 1, 10, 1), job(3, 10, 10, 1), job(4, 10, 10, 1))
	require.Equal(t, []span{{1, 0, 10}, {2, 10, 20}}, spans(runs)[:2])
}

func TestAQuantumMustBeLongerThanWhatResumingCosts(t *testing.T) {
	for _, p := range []Slicing{{Quantum: -1}, {Cost: -1}, {Quantum: 10, Cost: 10}, {Cost: 10 * des.Minute}} {
		require.Error(t, p.Check(), "%+v", p)
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(1), p)
		m.Submit(job(1, 0, 1, 1))
		require.Error(t, sim.Run(context.Background()), "%+v", p)
	}
	require.NoError(t, Slicing{}.Check())
}

// M/D/1 with processor sharing has the mean response S/(1-rho), half as much again
// as first come, first served at this load: S(1 + rho/2(1-rho)).
func TestASmallQuantumSharesOneProcessorAsTheQueueingModelDoes(t *testing.T) {
	const service, load, n = 10 * des.Second, 0.5, 10_000
	response := func(p entity.Policy) float64 {
		sim := des.New(des.Config{Seed: 7})
		random := sim.Stream("arrivals")
		m := entity.NewMetascheduler(sim, plan.NewCluster(1), p)
		var runs []*entity.Run
		at := des.Time(0)
		for id := range int64(n) {
			at += des.Seconds(random.ExpFloat64() * service.Seconds() / load)
			runs = append(runs, m.Submit(job(id, at, service, 1)))
		}
		require.NoError(t, sim.Run(context.Background()))
		var sum des.Time
		for _, r := range runs {
			sum += r.Finish - r.Submit
		}
		return sum.Seconds() / n
	}
	require.InEpsilon(t, service.Seconds()/(1-load), response(Slicing{Quantum: service / 20}), 0.04)
	require.InEpsilon(t, service.Seconds()*(1+load/2/(1-load)), response(backfill.FCFS{}), 0.04)
}

// sliced is the policy by its definition, beside advance reservations: every tick looked at.
func sliced(quantum des.Time, processors int, booked []entity.Window, jobs []*entity.Job) []span {
	type life struct {
		*entity.Job
		done, since   des.Time
		order         int
		running, over bool
	}
	order := 0
	var all []*life
	for _, j := range jobs {
		all = append(all, &life{Job: j, since: j.Submit})
	}
	var list []span
	for now, left := des.Time(0), len(all); left > 0; now++ {
		boundary := now%quantum == 0
		var turn, served []*life
		fits := func(j *life, since des.Time) bool { // to the end of its estimate
			for at := now; at < since+j.Request.Length-j.done; at++ {
				used := j.Request.Nodes
				for _, b := range booked {
					if b.Start <= at && at < b.End {
						used += b.Nodes
					}
				}
				for _, s := range served {
					if at < s.since+s.Request.Length-s.done {
						used += s.Request.Nodes
					}
				}
				if used > processors {
					return false
				}
			}
			return true
		}
		for _, j := range all {
			if j.running && j.done+now-j.since == j.Runtime {
				list = append(list, span{j.ID, int64(j.since), int64(now)})
				j.running, j.over = false, true
				left--
			}
			if j.Submit <= now && !j.over {
				turn = append(turn, j)
			}
			if j.running && !boundary {
				served = append(served, j)
			}
		}
		slices.SortStableFunc(turn, func(a, b *life) int {
			switch {
			case a.running && b.running:
				return b.order - a.order
			case a.running != b.running && a.running:
				return 1
			case a.running != b.running:
				return -1
			}
			return cmp.Compare(a.since, b.since)
		})
		for _, j := range turn {
			if j.running && !boundary {
				continue
			}
			switch {
			case !j.running && fits(j, now):
				order++
				j.running, j.since, j.order = true, now, order
				served = append(served, j)
			case j.running && fits(j, j.since):
				served = append(served, j)
			case j.running:
				list = append(list, span{j.ID, int64(j.since), int64(now)})
				j.done += now - j.since
				j.running, j.since = false, now
			}
		}
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.id, b.id)) })
	return list
}

// The third job wants a processor fewer than there are, and the fourth one beside it: of
// the first two, the one that started last has that already.
func TestWhoHasRoomBesideThoseBeforeItIsLeftAlone(t *testing.T) {
	runs := simulate(t, Slicing{Quantum: 10 * des.Second, Cost: 2 * des.Second}, entity.PassInstant, 4,
		job(1, des.Second, 20*des.Second, 1), job(2, des.Second, 20*des.Second, 1), job(3, 2*des.Second, 20*des.Second, 3), job(4, 3*des.Second, 20*des.Second, 2))
	require.Empty(t, runs[1].Earlier())
	require.Equal(t, 21*des.Second, runs[1].Finish)
}

func TestTimeSlicingIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quantum := des.Time(rapid.IntRange(1, 6).Draw(t, "quantum"))
		processors := rapid.IntRange(1, 6).Draw(t, "processors")
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range rapid.IntRange(1, 9).Draw(t, "jobs") {
			at += des.Time(rapid.IntRange(1, 5).Draw(t, "gap"))
			width := rapid.IntRange(1, processors).Draw(t, "width")
			j := job(int64(id), at, des.Time(rapid.IntRange(1, 15).Draw(t, "runtime")), width)
			j.Request.Length += des.Time(rapid.IntRange(0, 15).Draw(t, "slack"))
			jobs = append(jobs, j)
		}
		var booked []entity.Window
		for begin, n := des.Time(0), rapid.IntRange(0, 3).Draw(t, "bookings"); n > 0; n-- {
			begin += des.Time(rapid.IntRange(1, 20).Draw(t, "until"))
			w := entity.Window{Start: begin, End: begin + des.Time(rapid.IntRange(1, 10).Draw(t, "booked for")), Nodes: rapid.IntRange(1, processors).Draw(t, "booked")}
			booked, begin = append(booked, w), w.End
		}
		require.Equal(t, sliced(quantum, processors, booked, jobs), spans(reserved(t, Slicing{Quantum: quantum}, booked, entity.PassInstant, processors, jobs...)))
	})
}

// B yields, as there would be room for the third job by numbers; but that cannot pay for the
// node that is free then.
func TestWhoHasYieldedInVainGoesOnAtOnce(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 2, Price: 10}}, window.AMP{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, Slicing{Quantum: 10 * des.Second})
	fast, poor := job(1, 0, 60*des.Second, 1), job(3, 2*des.Second, 10*des.Second, 1)
	fast.Request.MinPerf, poor.Request.Budget = 2, 20
	b, a, third := m.Submit(fast), m.Submit(job(2, des.Second, 25*des.Second, 1)), m.Submit(poor)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 30*des.Second, b.Finish)
	require.Equal(t, []des.Time{26 * des.Second, 26 * des.Second}, []des.Time{a.Finish, third.Start})
}

// Whether there is room for a job does not depend on which window its user would choose. The dynamic programme
// could not even be asked, as room is looked for without a budget.
func TestRoomIsLookedForWithoutTheUsersCriterion(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 1, Price: 1}}, window.AMP{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, Slicing{Quantum: 10 * des.Second})
	choosy := job(2, des.Second, 10*des.Second, 2) // one node is free, the other one would be given back
	choosy.Request.Criterion, choosy.Request.Budget = window.KnapsackDP{By: window.Q{}}, 20
	m.Submit(job(1, 0, 30*des.Second, 1))
	run := m.Submit(choosy)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 10*des.Second, run.Start)
}

// At 10 the second job could have its turn on one processor, on two or on three.
func TestATurnIsTakenInTheShapeThatEndsFirst(t *testing.T) {
	wide := job(2, 1, 15, 5)
	wide.Shapes = []entity.Shape{{Nodes: 1, Length: 40, Runtime: 40}, {Nodes: 2, Length: 20, Runtime: 20}, {Nodes: 3, Length: 20, Runtime: 20}}
	runs := simulate(t, Slicing{Quantum: 10}, entity.PassInstant, 3, job(1, 0, 100, 3), wide)
	first := runs[1].Earlier()[0]
	require.Equal(t, []any{des.Time(10), 2}, []any{first.Start, first.Window.Nodes})
}

// Whoever waits is ahead of all that have started since: it starts within a quantum
// for each job that was there when it came, and one more.
func TestNobodyWaitsLongerThanATurnOfEachOfTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quantum := des.Time(rapid.IntRange(1, 20).Draw(t, "quantum"))
		processors := rapid.IntRange(1, 8).Draw(t, "processors")
		jobs := randomJobs(t, processors)
		runs := simulate(t, Slicing{Quantum: quantum}, rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent}).Draw(t, "pass"), processors, jobs...)
		for _, r := range runs {
			since := r.Submit
			for a := range r.Attempts() {
				require.LessOrEqual(t, a.Start-since, des.Time(len(jobs)+1)*quantum)
				since = a.End
			}
		}
	})
}

func randomJobs(t *rapid.T, processors int) []*entity.Job {
	var jobs []*entity.Job
	at := des.Time(0)
	for id := range rapid.IntRange(1, 15).Draw(t, "jobs") {
		at += des.Time(rapid.IntRange(0, 20).Draw(t, "gap"))
		j := job(int64(id), at, des.Time(rapid.IntRange(1, 60).Draw(t, "runtime")), rapid.IntRange(1, processors).Draw(t, "nodes"))
		j.Request.Length += des.Time(rapid.IntRange(0, 60).Draw(t, "slack"))
		jobs = append(jobs, j)
	}
	return jobs
}

// Whoever starts jobs adds a set-up to each attempt that is longer than a turn.
type slowStart struct{ m *entity.Metascheduler }

func (s *slowStart) Attach(m *entity.Metascheduler) { s.m = m }

func (s *slowStart) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted || e.Kind == entity.JobRequeued {
		s.m.SetUp(e.Run, 20*des.Second)
	}
}

func TestTurnsInWhichNothingIsDoneEndTheRun(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), Slicing{Quantum: 10 * des.Second}, &slowStart{})
	m.Submit(job(1, 0, 25*des.Second, 1))
	m.Submit(job(2, 0, 25*des.Second, 1))
	require.ErrorContains(t, sim.Run(context.Background()), "has been stopped 10000 times in a row under policy time-slicing-10, and nothing was kept of these attempts")
}

// Of a job that is stopped every two seconds some work is kept once, and then its attempts are
// counted anew.
func TestAttemptsOfWhichNothingIsKeptAreCountedInARow(t *testing.T) {
	stopped := func(times, kept int) error {
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{})
		r := m.Submit(job(1, 0, 100_000*des.Second, 1))
		for i := range times {
			keep := des.Time(0)
			if i+1 == kept {
				keep = des.Forever
			}
			sim.At(des.Time(2*i+2)*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { m.Preempt(r, keep) }), 0)
		}
		return sim.Run(context.Background())
	}
	require.NoError(t, stopped(9_999, 0))
	require.ErrorContains(t, stopped(10_000, 0), "has been stopped 10000 times in a row")
	require.NoError(t, stopped(15_000, 6_000))
}
