package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
)

func after(j *entity.Job, all ...entity.Dependency) *entity.Job {
	j.After = all
	return j
}

func anyEnd(job int64) entity.Dependency  { return entity.Dependency{Job: job} }
func goodEnd(job int64) entity.Dependency { return entity.Dependency{Job: job, OK: true} }

func think(d entity.Dependency, t des.Time) entity.Dependency {
	d.Think = t * des.Second
	return d
}

// counting is a source that tells how much of it has been read.
type counting struct {
	jobs []*entity.Job
	read int
}

func (c *counting) Next() (*entity.Job, bool) {
	if c.read == len(c.jobs) {
		return nil, false
	}
	c.read++
	return c.jobs[c.read-1], true
}

// follow runs jobs that wait for others on a cluster of 4.
func follow(d *journal, p entity.Policy, set func(*entity.Metascheduler), feedback bool, jobs ...*entity.Job) error {
	v := &validate.Validator{}
	links, err := flow.Survey(slices.Values(jobs), feedback)
	if err != nil {
		return err
	}
	sim := des.New(des.Config{})
	waiting := flow.NewDependencies(links)
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), p, v, d, waiting)
	set(m)
	waiting.SubmitFrom(&counting{jobs: jobs})
	defer waiting.Close()
	if err := sim.Run(context.Background()); err != nil {
		return err
	}
	if n := waiting.Held(); n > 0 {
		return fmt.Errorf("%d jobs are held for ever", n)
	}
	report := v.Report(true)
	return report.Err()
}

func followed(t *testing.T, feedback bool, jobs ...*entity.Job) string {
	d := &journal{}
	require.NoError(t, follow(d, backfill.FCFS{}, func(*entity.Metascheduler) {}, feedback, jobs...))
	return strings.Join(d.lines, "\n")
}

func TestAJobComesWhenTheLastOfItsPredecessorsHasEndedAndItsUserHasThought(t *testing.T) {
	events := followed(t, false,
		estimated(1, 0, 10, 10, 1),
		estimated(2, 0, 30, 30, 1),
		after(estimated(3, 5, 1, 1, 1), think(anyEnd(1), 25), anyEnd(2)),
		after(estimated(4, 50, 1, 1, 1), anyEnd(1)))
	require.Contains(t, events, "35 submitted 3")
	require.Contains(t, events, "50 submitted 4", "its own submission lies behind the end")
}

func TestUnderFeedbackAJobComesByItsPredecessorAlone(t *testing.T) {
	events := followed(t, true,
		estimated(1, 0, 10, 10, 1),
		estimated(2, 400, 1, 1, 1),
		after(estimated(3, 500, 1, 1, 1), think(anyEnd(1), 2)),
		after(estimated(4, 600, 1, 1, 1), think(anyEnd(77), 2)))
	require.Contains(t, events, "12 submitted 3", "long before its own submission, and before that of job 2")
	require.Contains(t, events, "600 submitted 4", "there is no job 77")
}

func TestAJobThatWaitsForASubmissionComesBehindItWhateverBecomesOfIt(t *testing.T) {
	submitted := func(job int64, t des.Time) entity.Dependency {
		return think(entity.Dependency{Job: job, Submitted: true}, t)
	}
	require.Equal(t, strings.Join([]string{
		"0 submitted 1", "0 started 1", "30 finished 1", "30 submitted 2", "30 submitted 3", "30 started 2", "30 started 3",
		"35 submitted 4", "35 rejected 4", "40 finished 2", "40 finished 3", "40 submitted 5", "40 started 5", "50 finished 5",
	}, "\n"), followed(t, true,
		estimated(1, 0, 30, 30, 4),
		after(estimated(2, 5, 10, 10, 1), anyEnd(1)),       // the first of a batch
		after(estimated(3, 5, 10, 10, 1), submitted(2, 0)), // with it
		after(estimated(4, 5, 10, 10, 9), submitted(2, 5)), // too wide
		after(estimated(5, 5, 10, 10, 1), submitted(4, 5)),
	))
}

func TestOneWhosePredecessorFailedIsRejectedAndThoseBehindItToo(t *testing.T) {
	d := &journal{}
	jobs := []*entity.Job{
		estimated(1, 0, 10, 5, 1), // killed at its estimate
		after(estimated(2, 0, 1, 1, 1), goodEnd(1)),
		after(estimated(3, 0, 1, 1, 1), goodEnd(2), anyEnd(1)),
		after(estimated(4, 0, 1, 1, 1), anyEnd(2)),
		after(estimated(5, 9, 1, 1, 1), goodEnd(1)),
		estimated(6, 9, 1, 1, 5), // wants more than there is
		after(estimated(7, 9, 1, 1, 1), goodEnd(6)),
	}
	require.NoError(t, follow(d, backfill.EASY{}, func(*entity.Metascheduler) {}, false, jobs...))
	events := strings.Join(d.lines, "\n")
	require.Contains(t, events, "5 submitted 2\n5 rejected 2\n5 submitted 3\n5 rejected 3")
	require.Contains(t, events, "5 submitted 4\n5 started 4")
	require.Contains(t, events, "9 submitted 5\n9 rejected 5", "not before its own submission")
	require.Contains(t, events, "9 rejected 7")
	reasons := map[int64]string{}
	for _, r := range d.runs {
		reasons[r.ID] = r.Reason
	}
	require.Equal(t, "job 1 failed, after which it was to run", reasons[2])
	require.Equal(t, "job 2 failed, after which it was to run", reasons[3])
}

func TestJobsOfOneInstantComeInTheOrderOfTheWorkload(t *testing.T) {
	for pass, want := range map[entity.Pass]string{
		entity.PassInstant: "1 2 3 4 6 5",
		entity.PassEach:    "1 2 3 4 6 5",
		entity.PassEvent:   "4 6 5 2 3 1", // ends are behind arrivals, one after the other
	} {
		d := &journal{}
		require.NoError(t, follow(d, backfill.FCFS{}, func(m *entity.Metascheduler) { m.Pass = pass }, false,
			after(estimated(1, 0, 1, 1, 1), anyEnd(9)),
			after(estimated(2, 0, 1, 1, 1), anyEnd(8)),
			after(estimated(3, 0, 1, 1, 1), anyEnd(8)),
			estimated(7, 0, 5, 5, 1), estimated(8, 0, 10, 10, 1), estimated(9, 0, 10, 10, 1),
			estimated(4, 10, 1, 1, 1), estimated(6, 10, 1, 1, 1),
			after(estimated(5, 10, 1, 1, 1), anyEnd(7)))) // known to come long before the clock is there
		require.Equal(t, want, strings.Join(submittedAt(d, 10), " "), pass)
	}
}

func submittedAt(d *journal, at int) (jobs []string) {
	for _, line := range d.lines {
		if job, ok := strings.CutPrefix(line, fmt.Sprintf("%d submitted ", at)); ok {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// However jobs are numbered and shuffled, and whatever they wait for: those of one instant
// come as they stand in the workload.
func TestJobsOfOneInstantComeAsTheyStandInTheWorkload(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
		feedback := rapid.Bool().Draw(t, "feedback")
		n := draw(2, 15, "jobs")
		var jobs []*entity.Job
		for i := range n { // the first layer comes by 10 and ends by 20, the second comes at 40
			j := estimated(int64(i), des.Time(draw(0, 10, "submit")), 0, 10, 1)
			j.Runtime = des.Time(draw(1, 10, "runtime")) * des.Second
			jobs = append(jobs, j)
			k := estimated(int64(n+i), 40, 1, 1, 1)
			if d := (entity.Dependency{Job: int64(i), Submitted: rapid.Bool().Draw(t, "submitted")}); rapid.Bool().Draw(t, "waits") {
				d.Think = 40*des.Second - j.Submit
				if !d.Submitted {
					d.Think -= j.Runtime // each of the first layer has its processor
				}
				k.After = []entity.Dependency{d}
			}
			jobs = append(jobs, k)
		}
		ender := estimated(int64(2*n), 0, 40, 40, 1) // ends as they come
		last := after(estimated(int64(2*n+1), 40, 1, 1, 1), anyEnd(ender.ID))
		jobs = rapid.Permutation(append(jobs, ender, last)).Draw(t, "order")
		slices.SortStableFunc(jobs, func(a, b *entity.Job) int { return int(a.Submit - b.Submit) })
		if feedback { // the submission of one that waits says nothing: it may stand anywhere
			at := draw(0, len(jobs)-1, "place")
			i := slices.Index(jobs, last)
			jobs = slices.Insert(slices.Delete(jobs, i, i+1), at, last)
			last.Submit = jobs[max(at-1, 0)].Submit
			if at == 0 {
				last.Submit = 0
			}
		}
		var want []string
		for _, j := range jobs {
			if j.ID >= int64(n) && j != ender {
				want = append(want, fmt.Sprint(j.ID))
			}
		}
		d := &journal{}
		links, err := flow.Survey(slices.Values(jobs), feedback)
		require.NoError(t, err)
		sim, waiting := des.New(des.Config{}), flow.NewDependencies(links)
		entity.NewMetascheduler(sim, plan.NewCluster(len(jobs)), backfill.FCFS{}, d, waiting)
		waiting.SubmitFrom(&counting{jobs: jobs})
		require.NoError(t, sim.Run(context.Background()))
		require.Equal(t, want, submittedAt(d, 40))
	})
}

func TestJobsThatWaitForEachOtherAreAnErrorThatNamesThem(t *testing.T) {
	for _, feedback := range []bool{false, true} {
		_, err := flow.Survey(slices.Values([]*entity.Job{
			estimated(1, 0, 1, 1, 1),
			after(estimated(2, 0, 1, 1, 1), anyEnd(1), anyEnd(4)),
			after(estimated(3, 0, 1, 1, 1), anyEnd(2)),
			after(estimated(4, 0, 1, 1, 1), anyEnd(3)),
		}), feedback)
		require.ErrorContains(t, err, "2 after 4 after 3 after 2")
		_, err = flow.Survey(slices.Values([]*entity.Job{after(estimated(5, 0, 1, 1, 1), anyEnd(5))}), feedback)
		require.ErrorContains(t, err, "5 after 5")
	}
}

func TestAGraphWithManyWaysThroughItIsSurveyedAtOnce(t *testing.T) {
	var jobs []*entity.Job
	for i := range int64(100) { // 2 jobs a layer, each after both of the next layer
		j := estimated(i, 0, 1, 1, 1)
		if next := 2 * (i/2 + 1); next < 100 {
			after(j, anyEnd(next), anyEnd(next+1))
		}
		jobs = append(jobs, j)
	}
	_, err := flow.Survey(slices.Values(jobs), false)
	require.NoError(t, err)
}

func TestOfTwoJobsOfOneNumberTheFirstIsWaitedFor(t *testing.T) {
	events := followed(t, false,
		estimated(1, 0, 10, 10, 1), estimated(1, 2, 20, 20, 1), after(estimated(2, 0, 1, 1, 1), anyEnd(1)))
	require.Contains(t, events, "10 submitted 2")
}

func TestAnUnknownPredecessorIsAnErrorThatNamesIt(t *testing.T) {
	_, err := flow.Survey(slices.Values([]*entity.Job{after(estimated(5, 0, 1, 1, 1), anyEnd(6))}), false)
	require.EqualError(t, err, "job 5 is to run after job 6, and there is no job 6")
}

func TestJobsThatWereNotSurveyedEndTheRun(t *testing.T) {
	links, err := flow.Survey(slices.Values([]*entity.Job{estimated(1, 0, 1, 1, 1)}), false)
	require.NoError(t, err)
	waiting := flow.NewDependencies(links)
	sim := des.New(des.Config{})
	entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.FCFS{}, waiting)
	waiting.SubmitFrom(&counting{jobs: []*entity.Job{after(estimated(5, 0, 1, 1, 1), anyEnd(1))}})
	require.ErrorContains(t, sim.Run(context.Background()), "does not know of it")
}

func TestAnErrorOfTheSourceEndsTheRun(t *testing.T) {
	links, err := flow.Survey(slices.Values([]*entity.Job{estimated(1, 0, 1, 1, 1)}), false)
	require.NoError(t, err)
	waiting := flow.NewDependencies(links)
	sim := des.New(des.Config{})
	entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.FCFS{}, waiting)
	waiting.SubmitFrom(&torn{})
	require.ErrorContains(t, sim.Run(context.Background()), "torn page")
}

type torn struct{}

func (*torn) Next() (*entity.Job, bool) { return nil, false }
func (*torn) Err() error                { return errors.New("torn page") }

func TestABookingOfTheSameNumberDoesNotFreeAJob(t *testing.T) {
	d := &journal{}
	require.NoError(t, follow(d, backfill.FCFS{}, withBookings(booking(1, 0, 1, 1, 1, 1)), false,
		estimated(1, 0, 10, 10, 1), after(estimated(2, 0, 1, 1, 1), anyEnd(1))))
	require.Contains(t, strings.Join(d.lines, "\n"), "10 submitted 2")
}

func TestNoMoreIsReadAheadThanToTheNextOfEachChain(t *testing.T) {
	var jobs []*entity.Job
	for i := range int64(1000) {
		j := estimated(i, des.Time(i), 5, 5, 1)
		if i >= 10 {
			after(j, anyEnd(i-10))
		}
		jobs = append(jobs, j)
	}
	links, err := flow.Survey(slices.Values(jobs), true)
	require.NoError(t, err)
	source := &counting{jobs: jobs}
	waiting := flow.NewDependencies(links)
	sim := des.New(des.Config{})
	ended, most := 0, 0
	entity.NewMetascheduler(sim, plan.NewCluster(10), backfill.FCFS{}, waiting, observer(func(e entity.JobEvent) {
		if e.Kind == entity.JobFinished {
			ended++
			most = max(most, source.read-ended)
		}
	}))
	waiting.SubmitFrom(source)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 1000, ended)
	require.LessOrEqual(t, most, 30)
}

type observer func(entity.JobEvent)

func (o observer) Observe(e entity.JobEvent) { o(e) }

// Whatever the policy, the pass and the links: each job comes exactly when its
// definition says, or is rejected exactly where it says.
func TestEveryJobComesWhenItsDefinitionSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
		p := rapid.SampledFrom([]entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}}).Draw(t, "policy")
		pass := rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent}).Draw(t, "pass")
		feedback := rapid.Bool().Draw(t, "feedback")
		n := draw(1, 25, "jobs")
		rank := rapid.Permutation(upTo(n)).Draw(t, "order of the links") // so that links go back and forth
		var jobs []*entity.Job
		at := 0
		for i := range n {
			at += draw(0, 8, "gap")
			j := estimated(int64(i), des.Time(at), des.Time(draw(0, 12, "runtime")), des.Time(draw(1, 12, "estimate")), draw(1, 5, "nodes"))
			for range draw(0, 3, "links") {
				other := draw(0, n-1, "other")
				if rank[other] < rank[i] {
					j.After = append(j.After, entity.Dependency{Job: int64(other), OK: draw(0, 3, "ok") == 0, Submitted: draw(0, 3, "submitted") == 0, Think: des.Time(draw(0, 6, "think")) * des.Second})
				}
			}
			jobs = append(jobs, j)
		}
		d := &journal{}
		err := follow(d, p, func(m *entity.Metascheduler) { m.Pass = pass }, feedback, jobs...)
		require.NoError(t, err)
		runs := map[int64]*entity.Run{}
		for _, r := range d.runs {
			runs[r.ID] = r
		}
		require.Len(t, runs, n, "each comes once")
		for _, j := range jobs {
			r := runs[j.ID]
			want, failed, known := j.Submit, false, des.Forever
			if feedback && len(j.After) > 0 {
				want = 0
			}
			least := want
			for _, dep := range j.After {
				other := runs[dep.Job]
				if dep.Submitted {
					want = max(want, other.Submit+dep.Think)
					continue
				}
				want = max(want, other.Finish+dep.Think)
				if dep.OK && other.State != entity.Finished {
					failed, known = true, min(known, other.Finish)
				}
			}
			if !failed {
				require.Equal(t, want, r.Submit, "job %d", j.ID)
				continue
			}
			require.Equal(t, entity.Rejected, r.State, "job %d", j.ID)
			require.LessOrEqual(t, r.Submit, max(least, known), "job %d", j.ID)
			require.Contains(t, r.Reason, "after which it was to run")
		}
	})
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

func TestOutagesGoOnWhileAJobIsStillToCome(t *testing.T) {
	long := estimated(1, 0, 5, 2, 1) // and so it is killed
	for what, jobs := range map[string][]*entity.Job{
		"by the clock":           {long, estimated(2, 71, 5, 5, 1), after(estimated(3, 71, 5, 5, 1), anyEnd(2))},
		"after a think time":     {long, after(estimated(2, 0, 5, 5, 1), think(anyEnd(1), 69)), after(estimated(3, 0, 5, 5, 1), anyEnd(2))},
		"as the last":            {long, after(estimated(2, 0, 5, 5, 1), think(anyEnd(1), 69))},
		"after one that is late": {long, estimated(4, 0, 1, 1, 1), after(estimated(2, 76, 5, 5, 1), goodEnd(1)), after(estimated(3, 76, 5, 5, 1), anyEnd(1), anyEnd(2))},
	} {
		links, err := flow.Survey(slices.Values(jobs), false)
		require.NoError(t, err)
		sim, waiting := des.New(des.Config{}), flow.NewDependencies(links)
		var begun []des.Time
		o := &flow.Outages{Told: func(l flow.Lost) { begun = append(begun, l.From/des.Second) }, Idle: func() bool { return !waiting.Coming() }}
		o.Submit(forEver)
		m := entity.NewMetascheduler(sim, plan.NewCluster(2), strictOrder{}, waiting, o)
		waiting.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		require.Zero(t, m.Queue().Len()+waiting.Held())
		require.Equal(t, []des.Time{5, 15, 25, 35, 45, 55, 65, 75}, begun[:min(8, len(begun))], what)
		require.LessOrEqual(t, len(begun), 9, what)
		o.Close()
		waiting.Close()
	}
}
