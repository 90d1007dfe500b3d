package entity_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// journal writes down what happens, a line an event.
type journal struct {
	lines []string
	runs  map[*entity.Job]*entity.Run // what became of whom
}

func (d *journal) Observe(e entity.JobEvent) {
	if d.runs == nil {
		d.runs = map[*entity.Job]*entity.Run{}
	}
	d.runs[e.Run.Job] = e.Run
	line := fmt.Sprintf("%v %v %d", e.Time, e.Kind, e.Run.ID)
	if e.Kind == entity.JobPromised {
		line += fmt.Sprintf(" for %v", e.Start)
	}
	d.lines = append(d.lines, line)
}

// policyFunc makes a function a policy.
type policyFunc func(r *entity.Round)

func (policyFunc) Name() string               { return "test" }
func (p policyFunc) Schedule(r *entity.Round) { p(r) }

// bookAhead gives every job the plan's window, whenever that begins.
type bookAhead struct{}

func (bookAhead) Name() string { return "book ahead" }

func (bookAhead) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, des.Forever); !ok || !r.Reserve(j, w) {
			return
		}
	}
}

func leaveWaiting(m *entity.Metascheduler) { m.LeaveWaiting = true }

// estimated is a job; it takes its times in seconds.
func estimated(id int64, submit, runtime, estimate des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: runtime * des.Second,
		Request: entity.Request{Nodes: nodes, Length: estimate * des.Second}}
}

func simulate(p entity.Policy, set func(*entity.Metascheduler), jobs ...*entity.Job) (*journal, error) {
	sim, d := des.New(des.Config{}), &journal{}
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), p, d)
	if set != nil {
		set(m)
	}
	m.SubmitAll(slices.Values(jobs))
	err := sim.Run(context.Background())
	m.Close()
	return d, err
}

func TestJobsLiveTheirLives(t *testing.T) {
	d, err := simulate(bookAhead{}, nil,
		estimated(1, 0, 10, 10, 3), // starts at once
		estimated(2, 0, 5, 8, 2),   // behind it; ends early
		estimated(3, 1, 2, 5, 9),   // never fits
		estimated(4, 2, 9, 3, 1))   // outlives its estimate
	require.NoError(t, err)
	require.Equal(t, strings.Split(`0 submitted 1
0 submitted 2
0 started 1
0 promised 2 for 10
1 submitted 3
1 rejected 3
2 submitted 4
2 started 4
5 killed 4
10 finished 1
10 started 2
15 finished 2`, "\n"), d.lines)
}

func TestRejectedJobsSayWhy(t *testing.T) {
	big := estimated(7, 0, 1, 1, 5)
	d, err := simulate(bookAhead{}, nil, big)
	require.NoError(t, err)
	require.Equal(t, entity.Rejected, d.runs[big].State)
	require.Equal(t, "wants 5 processors of a cluster of 4", d.runs[big].Reason)
}

func TestAJobThatMakesNoSenseEndsTheRun(t *testing.T) {
	d, err := simulate(bookAhead{}, nil, estimated(7, 0, 1, 1, 1), estimated(8, 0, 0, 0, 1))
	require.ErrorContains(t, err, "job 8")
	require.ErrorContains(t, err, "above 0")
	require.NotContains(t, strings.Join(d.lines, "\n"), "submitted 8")
	_, err = simulate(bookAhead{}, nil, estimated(9, 0, -1, 1, 1))
	require.ErrorContains(t, err, "job 9")
	require.ErrorContains(t, err, "runtime")
}

func TestAJobMayRunOnPastItsEstimate(t *testing.T) {
	long, next := estimated(1, 0, 35, 10, 4), estimated(2, 0, 5, 5, 1)
	d, err := simulate(bookAhead{}, func(m *entity.Metascheduler) { m.Overrun = entity.OverrunExtend }, long, next)
	require.NoError(t, err)
	require.Equal(t, strings.Split(`0 submitted 1
0 submitted 2
0 started 1
0 promised 2 for 10
10 withdrawn 2
10 promised 2 for 20
20 withdrawn 2
20 promised 2 for 40
35 finished 1
40 started 2
45 finished 2`, "\n"), d.lines, "at its estimate it is believed to take twice what it took")
	require.Equal(t, entity.Finished, d.runs[long].State)
	require.Equal(t, 10*des.Second, d.runs[next].Promised, "the first promise is what counts as broken")
}

func TestWorkloadMustBeSorted(t *testing.T) {
	_, err := simulate(bookAhead{}, nil, estimated(1, 5, 1, 1, 1), estimated(2, 3, 1, 1, 1))
	require.ErrorContains(t, err, "job 2 is submitted at 3")
	require.ErrorContains(t, err, "sorted by submission")
}

func TestFaultsOfAPolicyNameItTheTimeAndTheJob(t *testing.T) {
	first := func(r *entity.Round) *entity.Run { return r.Fresh()[0] }
	for what, p := range map[string]policyFunc{
		"is taken": func(r *entity.Round) {
			w := entity.Window{Start: r.Now, End: r.Now + des.Second, Nodes: 4}
			_, err := r.Plan.Reserve(entity.NewRun(estimated(11, 3, 1, 1, 4), 0), w)
			require.NoError(t, err)
			w.Nodes = 1
			r.Hold(first(r), w)
		},
		"has 2 nodes, and the job asks for 1": func(r *entity.Round) {
			r.Reserve(first(r), entity.Window{Start: r.Now, End: r.Now + des.Second, Nodes: 2})
		},
		"lasts 0.999999, and the job asks for 1": func(r *entity.Round) {
			r.Reserve(first(r), entity.Window{Start: r.Now, End: r.Now + des.Second - des.Tick, Nodes: 1})
		},
		"in the past": func(r *entity.Round) {
			r.Reserve(first(r), entity.Window{Start: r.Now - 1, End: r.Now + des.Second, Nodes: 1})
		},
		"is running, not waiting": func(r *entity.Round) {
			w := entity.Window{Start: r.Now, End: r.Now + des.Second, Nodes: 1}
			r.Reserve(first(r), w)
			r.Reserve(first(r), w)
		},
		"already holds": func(r *entity.Round) {
			w := entity.Window{Start: r.Now + 1, End: r.Now + 1 + des.Second, Nodes: 1}
			r.Hold(first(r), w)
			r.Hold(first(r), w)
		},
	} {
		_, err := simulate(p, nil, estimated(12, 3, 1, 1, 1))
		require.ErrorContains(t, err, what)
		for _, culprit := range []string{"at 3", "policy test", "job 12"} {
			require.ErrorContains(t, err, culprit)
		}
	}
}

func TestHoldsLastARound(t *testing.T) {
	var room []bool
	p := policyFunc(func(r *entity.Round) {
		_, fits := r.Plan.Find(entity.Request{Nodes: 4, Length: 1}, r.Now, r.Now)
		room = append(room, fits)
		for j := range r.Waiting() {
			r.Hold(j, entity.Window{Start: r.Now, End: des.Forever, Nodes: 2})
		}
	})
	_, err := simulate(p, leaveWaiting, estimated(1, 0, 1, 1, 2), estimated(2, 5, 1, 1, 2))
	require.NoError(t, err)
	require.Equal(t, []bool{true, true}, room)
}

func TestWithdrawnJobsAreFreshAgainOnRequest(t *testing.T) {
	rounds := 0
	p := policyFunc(func(r *entity.Round) {
		rounds++
		for j := range r.Queue.By(entity.Submission, r.Now).All() {
			r.Withdraw(j)
		}
		for _, j := range r.Fresh() {
			r.Reserve(j, entity.Window{Start: r.Now + 10*des.Second, End: r.Now + 11*des.Second, Nodes: 1})
		}
		for j := range r.Waiting() {
			r.Retry(j)
		}
	})
	d, err := simulate(p, nil, estimated(1, 0, 1, 1, 1), estimated(2, 1, 1, 1, 1), estimated(3, 2, 1, 1, 1))
	require.NoError(t, err)
	require.Equal(t, strings.Split(`0 submitted 1
0 promised 1 for 10
1 submitted 2
1 withdrawn 1
1 promised 2 for 11
2 submitted 3
2 withdrawn 2
2 promised 1 for 12
2 promised 3 for 12
12 started 1
12 started 3
13 finished 1
13 finished 3
13 promised 2 for 23
23 started 2
24 finished 2`, "\n"), d.lines)
}

func TestPassEventDecidesAfterEachEvent(t *testing.T) {
	count := func(pass entity.Pass) (rounds int) {
		p := policyFunc(func(r *entity.Round) {
			rounds++
			bookAhead{}.Schedule(r)
		})
		_, err := simulate(p, func(m *entity.Metascheduler) { m.Pass = pass },
			estimated(1, 0, 5, 5, 1), estimated(2, 0, 5, 5, 1), estimated(3, 5, 5, 5, 4))
		require.NoError(t, err)
		return rounds
	}
	require.Equal(t, 6, count(entity.PassEvent), "three submissions, three terminations")
	require.Equal(t, 3, count(entity.PassInstant), "the instants 0, 5 and 10")
}

func TestQueueShowsJobsInAnyOrder(t *testing.T) {
	shortest := entity.Order{Name: "shortest", Key: func(j *entity.Run, _ des.Time) float64 { return float64(j.Request.Length) }}
	var ids []int64
	p := policyFunc(func(r *entity.Round) {
		if r.Now < 2*des.Second {
			return
		}
		for j := range r.Queue.By(shortest, r.Now).All() {
			ids = append(ids, j.ID)
		}
		// One is started while the rest are being looked at.
		for j, w := range r.Queue.By(shortest, r.Now).Fitting(r.Plan, r.Now, 0) {
			ids = append(ids, -j.ID)
			r.Reserve(j, w)
		}
	})
	_, err := simulate(p, nil, estimated(1, 0, 9, 9, 2), estimated(2, 1, 3, 3, 3), estimated(3, 2, 6, 6, 1))
	require.NoError(t, err)
	require.Equal(t, []int64{2, 3, 1, -2, -3}, ids[:5])
}

func TestAJobThatCanNoLongerMeetItsDeadlineBarsNobody(t *testing.T) {
	dead := estimated(2, 1, 5, 5, 4)
	dead.Request.Deadline = 8 * des.Second
	late := estimated(3, 9, 5, 5, 1)
	late.Request.Deadline = 12 * des.Second
	d, err := simulate(backfill.FCFS{}, nil, estimated(1, 0, 10, 10, 4), dead, estimated(4, 2, 1, 1, 4), late)
	require.NoError(t, err)
	require.Equal(t, "its deadline, 8, can no longer be met", d.runs[dead].Reason)
	require.Equal(t, "its deadline, 12, is too soon", d.runs[late].Reason)
	require.Equal(t, strings.Split(`0 submitted 1
0 started 1
1 submitted 2
2 submitted 4
3.000001 rejected 2
9 submitted 3
9 rejected 3
10 finished 1
10 started 4
11 finished 4`, "\n"), d.lines)
}

func TestAWorkloadMayBeTakenAwayOrReplaced(t *testing.T) {
	sim, d := des.New(des.Config{}), &journal{}
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), bookAhead{}, d)
	m.SubmitAll(slices.Values([]*entity.Job{estimated(1, 0, 1, 1, 1), estimated(2, 5, 1, 1, 1), estimated(3, 6, 1, 1, 1)}))
	require.NoError(t, sim.RunUntil(context.Background(), 2*des.Second))
	m.Close()
	m.SubmitAll(slices.Values([]*entity.Job{estimated(4, 7, 1, 1, 1), estimated(5, 8, 1, 1, 1)}))
	require.NoError(t, sim.RunUntil(context.Background(), 7*des.Second))
	m.Close()
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, strings.Split(`0 submitted 1
0 started 1
1 finished 1
7 submitted 4
7 started 4
8 finished 4`, "\n"), d.lines)
}

func TestNobodyIsKilledForAJobThatNeedNotHaveStarted(t *testing.T) {
	a, b, c := estimated(1, 0, 30, 10, 2), estimated(2, 0, 30, 10, 1), estimated(3, 1, 5, 5, 1)
	k := flow.Booking{Job: estimated(9, 0, 5, 5, 3), Start: 10 * des.Second}
	d, err := simulate(backfill.EASY{}, func(m *entity.Metascheduler) {
		m.Pass, m.Overrun = entity.PassEvent, entity.OverrunExtend
		flow.NewBookings(m).Submit(slices.Values([]flow.Booking{k}))
	}, a, b, c)
	require.NoError(t, err)
	require.Equal(t, entity.Killed, d.runs[a].State, "the booking needs three of four processors")
	require.Equal(t, entity.Finished, d.runs[b].State)
	require.Equal(t, 10*des.Second, d.runs[k.Job].Start)
}
