package flow_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
)

// strictOrder starts jobs in order of submission, the first that does not fit
// bars the rest.
type strictOrder struct{}

func (strictOrder) Name() string { return "strict order" }

func (strictOrder) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		w, ok := r.Plan.Find(j.Request, r.Now, r.Now)
		if !ok || !r.Reserve(j, w) {
			return
		}
	}
}

// bookAhead gives every job the finder's window, whenever that begins.
type bookAhead struct{}

func (bookAhead) Name() string { return "book ahead" }

func (bookAhead) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, des.Forever); !ok || !r.Reserve(j, w) {
			return
		}
	}
}

// diary writes down what happens, one line an event.
type diary []string

func (d *diary) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobSubmitted && e.Kind != entity.JobPromised {
		*d = append(*d, fmt.Sprintf("%d %v %v", int64(e.Time), e.Run, e.Kind))
	}
}

func job(id int64, submit, length des.Time, n int) *entity.Job {
	return &entity.Job{ID: id, Submit: submit, Runtime: length, Request: entity.Request{Nodes: n, Length: length}}
}

// meeting is a run in which global jobs and owners' jobs meet.
type meeting struct {
	*plan.Domain
	flow  *flow.LocalFlow
	diary diary
	runs  map[*entity.Job]*entity.Run
	err   error
}

func meet(t require.TestingT, all []*entity.Node, p entity.Policy, rule flow.LocalRule, jobs []*entity.Job, locals ...flow.LocalJob) *meeting {
	m := &meeting{Domain: domain(t, all)}
	sim := des.New(des.Config{})
	var seen journal
	meta := entity.NewMetascheduler(sim, m.Domain, p, &m.diary, &seen)
	m.flow = flow.NewLocalFlow(m.Domain, meta)
	m.flow.Rule = rule
	m.flow.Submit(slices.Values(locals))
	meta.SubmitAll(slices.Values(jobs))
	m.err = sim.Run(context.Background())
	m.runs = seen.runs
	return m
}

func TestAnOwnersJobThatIsPlannedAheadBarsGlobalJobs(t *testing.T) {
	all := nodes(1)
	m := meet(t, all, strictOrder{}, flow.LocalWaits,
		[]*entity.Job{job(1, 0, 10, 1)},
		flow.LocalJob{Node: all[0], Start: 5, Length: 5})
	require.NoError(t, m.err)
	require.Equal(t, diary{"10 job 1 started", "20 job 1 finished"}, m.diary)
}

func TestAnOwnersJobWaitsForARunningGlobalJob(t *testing.T) {
	all := nodes(1)
	m := meet(t, all, strictOrder{}, flow.LocalWaits,
		[]*entity.Job{job(1, 0, 10, 1), job(2, 1, 10, 1)},
		flow.LocalJob{Node: all[0], Known: 3, Start: 3, Length: 5})
	require.NoError(t, m.err)
	require.Equal(t, diary{"0 job 1 started", "10 job 1 finished", "15 job 2 started", "25 job 2 finished"}, m.diary)
	require.Equal(t, flow.LocalStats{Jobs: 1, Delayed: 1, Delay: 7}, m.flow.Stats())
}

func TestAnOwnersJobWaitsForAReservationAhead(t *testing.T) {
	all := nodes(1)
	m := meet(t, all, bookAhead{}, flow.LocalWaits,
		[]*entity.Job{job(1, 0, 10, 1), job(2, 0, 10, 1)},
		flow.LocalJob{Node: all[0], Known: 3, Start: 9, Length: 5})
	require.NoError(t, m.err)
	require.Equal(t, flow.LocalStats{Jobs: 1, Delayed: 1, Delay: 11}, m.flow.Stats())
}

func TestAnOwnersJobPreemptsARunningGlobalJob(t *testing.T) {
	all := nodes(1, 2)
	jobs := []*entity.Job{job(1, 0, 10, 2)} // 10 on the slow node, 5 on the fast
	m := meet(t, all, strictOrder{}, flow.LocalPreempts, jobs,
		flow.LocalJob{Node: all[0], Known: 7, Start: 7, Length: 3})
	require.NoError(t, m.err)
	require.Equal(t, diary{"0 job 1 started", "7 job 1 requeued", "10 job 1 started", "20 job 1 finished"}, m.diary)
	require.Equal(t, flow.LocalStats{Jobs: 1, Preempted: 1}, m.flow.Stats())
	require.Len(t, m.runs[jobs[0]].Earlier(), 1)
	require.EqualValues(t, 7+5, lost(m.runs[jobs[0]]), "the fast node had done its task")
}

func TestAnOwnersJobDisplacesAReservationAhead(t *testing.T) {
	all := nodes(1)
	jobs := []*entity.Job{job(1, 0, 10, 1), job(2, 0, 10, 1)}
	m := meet(t, all, bookAhead{}, flow.LocalPreempts, jobs,
		flow.LocalJob{Node: all[0], Known: 2, Start: 11, Length: 4})
	require.NoError(t, m.err)
	require.Equal(t, diary{"0 job 1 started", "2 job 2 withdrawn", "10 job 1 finished", "15 job 2 started", "25 job 2 finished"}, m.diary)
	require.Equal(t, flow.LocalStats{Jobs: 1, Displaced: 1}, m.flow.Stats())
	require.Zero(t, lost(m.runs[jobs[1]]))
}

func TestAnOwnersJobThatIsKnownBeforeLetsAGlobalJobRunUntilItBegins(t *testing.T) {
	all := nodes(1)
	early := job(1, 0, 10, 1)
	early.Runtime = 4 // over before the owner comes
	m := meet(t, all, strictOrder{}, flow.LocalPreempts, []*entity.Job{early, job(2, 1, 10, 1)},
		flow.LocalJob{Node: all[0], Known: 2, Start: 6, Length: 4})
	require.NoError(t, m.err)
	require.Equal(t, diary{"0 job 1 started", "4 job 1 finished", "4 job 2 started", "6 job 2 requeued", "10 job 2 started", "20 job 2 finished"}, m.diary)
}

func TestOwnersJobsDoNotPreemptEachOther(t *testing.T) {
	all := nodes(1)
	m := meet(t, all, strictOrder{}, flow.LocalPreempts, nil,
		flow.LocalJob{Node: all[0], Known: 0, Start: 2, Length: 4},
		flow.LocalJob{Node: all[0], Known: 1, Start: 1, Length: 3})
	require.NoError(t, m.err)
	require.Equal(t, flow.LocalStats{Jobs: 2, Delayed: 1, Delay: 5}, m.flow.Stats())
}

func TestAnOwnersJobThatFindsNoRoomIsRefused(t *testing.T) {
	all := nodes(1)
	m := meet(t, all, strictOrder{}, flow.LocalWaits, nil,
		flow.LocalJob{Node: all[0], Length: 5}, flow.LocalJob{Node: all[0], Length: des.Forever - 3})
	require.NoError(t, m.err)
	require.Equal(t, flow.LocalStats{Jobs: 1, Refused: 1}, m.flow.Stats())
}

func TestLocalFlowRefusesWhatMakesNoSense(t *testing.T) {
	all := nodes(1)
	for why, locals := range map[string][]flow.LocalJob{
		"not of the domain":           {{Length: 1}},
		"length must be above 0":      {{Node: all[0]}},
		"before the one in front":     {{Node: all[0], Known: 3, Start: 3, Length: 1}, {Node: all[0], Known: 2, Start: 2, Length: 1}},
		"before the one in front of ": {{Node: all[0], Known: -1, Length: 1}},
	} {
		require.ErrorContains(t, meet(t, all, strictOrder{}, flow.LocalWaits, nil, locals...).err, why)
	}
}

func TestOnNodesAJobIsCutOffAtItsEstimate(t *testing.T) {
	for _, o := range []entity.Overrun{entity.OverrunKill, entity.OverrunExtend} {
		long := job(1, 0, 10, 2)
		long.Runtime = 15
		sim := des.New(des.Config{})
		var seen journal
		meta := entity.NewMetascheduler(sim, domain(t, nodes(1, 2)), strictOrder{}, &seen)
		meta.Overrun = o
		meta.SubmitAll(slices.Values([]*entity.Job{long}))
		require.NoError(t, sim.Run(context.Background()))
		require.Equal(t, entity.Killed, seen.runs[long].State, "%v", o)
		require.EqualValues(t, 10, seen.runs[long].Finish)
	}
}

func TestTasksEndEachAtItsOwnTime(t *testing.T) {
	all := nodes(1, 2)
	half := job(1, 0, 20, 2) // reserved for 20 and 10
	half.Runtime = 10
	m := meet(t, all, strictOrder{}, flow.LocalWaits, []*entity.Job{half, job(2, 1, 4, 1), job(3, 1, 4, 1)})
	require.NoError(t, m.err)
	require.Equal(t, diary{
		"0 job 1 started", "5 job 2 started", "7 job 2 finished", "7 job 3 started", "9 job 3 finished", "10 job 1 finished",
	}, m.diary)
}

func TestAFindersErrorEndsTheRun(t *testing.T) {
	d := domain(t, nodes(1))
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, d, strictOrder{})
	meta.SubmitAll(slices.Values([]*entity.Job{job(1, 0, 1, 1)}))
	d.Finder = late{}
	require.ErrorContains(t, sim.Run(context.Background()), "it gave one at")
}

// No job is lost on the way, whoever preempts whom: all end, and none holds
// anything any more.
func TestEveryJobEndsWhateverOwnersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := nodes(rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3}), 1, 4).Draw(t, "performances")...)
		instant := rapid.Int64Range(0, 40)
		var jobs []*entity.Job
		for i := range rapid.IntRange(1, 10).Draw(t, "jobs") {
			j := job(int64(i), des.Time(instant.Draw(t, "submit")), des.Time(1+instant.Draw(t, "length")), rapid.IntRange(1, len(all)).Draw(t, "n"))
			j.Runtime = des.Time(rapid.Int64Range(0, int64(j.Request.Length)).Draw(t, "runtime"))
			jobs = append(jobs, j)
		}
		slices.SortFunc(jobs, func(a, b *entity.Job) int { return int(a.Submit - b.Submit) })
		var locals []flow.LocalJob
		for range rapid.IntRange(0, 10).Draw(t, "owners' jobs") {
			known := des.Time(instant.Draw(t, "known"))
			locals = append(locals, flow.LocalJob{
				Node: all[rapid.IntRange(0, len(all)-1).Draw(t, "node")], Known: known,
				Start: known + des.Time(instant.Draw(t, "ahead")), Length: des.Time(1 + instant.Draw(t, "local length")),
			})
		}
		slices.SortFunc(locals, func(a, b flow.LocalJob) int { return int(a.Known - b.Known) })
		rule := rapid.SampledFrom([]flow.LocalRule{flow.LocalWaits, flow.LocalPreempts}).Draw(t, "rule")
		policy := rapid.SampledFrom([]entity.Policy{strictOrder{}, bookAhead{}}).Draw(t, "policy")

		m := meet(t, all, policy, rule, jobs, locals...)
		require.NoError(t, m.err)
		stats, preempted := m.flow.Stats(), 0
		require.Equal(t, len(locals), stats.Jobs)
		for _, job := range jobs {
			j := m.runs[job]
			require.Equal(t, entity.Finished, j.State)
			require.False(t, j.Reservation.Active)
			require.True(t, len(j.Earlier()) > 0 || lost(j) == 0)
			preempted += len(j.Earlier())
		}
		require.Equal(t, stats.Preempted, preempted)
		if rule == flow.LocalWaits {
			require.Zero(t, stats.Preempted+stats.Displaced)
		}
		require.Len(t, slices.Collect(m.Slots(10000, 10001)), len(all))
	})
}

// On equal nodes a reservation ahead is for as many of them, not for these.
func TestAnOwnersJobDisturbsNobodyWhereAnEqualNodeIsFree(t *testing.T) {
	for _, rule := range []flow.LocalRule{flow.LocalWaits, flow.LocalPreempts} {
		all := nodes(1, 1)
		m := meet(t, all, bookAhead{}, rule,
			[]*entity.Job{job(1, 0, 5, 2), job(2, 0, 5, 1)},
			flow.LocalJob{Node: all[0], Known: 1, Start: 5, Length: 5})
		require.NoError(t, m.err)
		require.Equal(t, flow.LocalStats{Jobs: 1}, m.flow.Stats())
		require.Equal(t, diary{"0 job 1 started", "5 job 1 finished", "5 job 2 started", "10 job 2 finished"}, m.diary)
	}
}

// Job 3 can begin at 4 on node 1 only, whose owner wants it at 5.
func TestAnOwnersJobMeetsTheJobThatNeedsItsNode(t *testing.T) {
	jobs := func() []*entity.Job { return []*entity.Job{job(1, 0, 10, 1), job(2, 0, 4, 1), job(3, 0, 6, 1)} }
	all := nodes(1, 1)
	owner := flow.LocalJob{Node: all[1], Known: 1, Start: 5, Length: 2}
	m := meet(t, all, bookAhead{}, flow.LocalWaits, jobs(), owner)
	require.NoError(t, m.err)
	require.Equal(t, flow.LocalStats{Jobs: 1, Delayed: 1, Delay: 5}, m.flow.Stats())
	require.Contains(t, m.diary, "4 job 3 started")

	m = meet(t, all, bookAhead{}, flow.LocalPreempts, jobs(), owner)
	require.NoError(t, m.err)
	require.Equal(t, flow.LocalStats{Jobs: 1, Displaced: 1}, m.flow.Stats())
	require.Contains(t, m.diary, "7 job 3 started")
}

func TestAnOwnersJobThatIsKnownAfterItsStartBeginsThen(t *testing.T) {
	all := nodes(1)
	m := meet(t, all, strictOrder{}, flow.LocalWaits, nil, flow.LocalJob{Node: all[0], Known: 5, Start: 2, Length: 4})
	require.NoError(t, m.err)
	require.Equal(t, flow.LocalStats{Jobs: 1, Delayed: 1, Delay: 3}, m.flow.Stats())
}
