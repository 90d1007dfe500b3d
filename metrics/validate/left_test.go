package validate_test

// What a file tells of jobs that were left when the run was over, of those that wait for
// others, and of nodes that it does not name.

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// asked is a job of one processor that runs for ten seconds.
func asked(id int64, submit des.Time, after ...entity.Dependency) *entity.Job {
	return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: 10 * des.Second, After: after, Request: entity.Request{Nodes: 1, Length: 10 * des.Second}}
}

// check holds rows, below the columns that every file needs and those given, to the jobs.
func check(t *testing.T, rules validate.Rules, columns, rows string, jobs ...*entity.Job) validate.Report {
	t.Helper()
	file := "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time," + columns + "\n" + rows
	report, err := validate.Jobs(strings.NewReader(file), slices.Values(jobs), rules)
	require.NoError(t, err)
	return report
}

func TestAFileOfADomainNeedNotNameTheNodes(t *testing.T) {
	for allocation, column := range map[metrics.Allocation]string{metrics.AllocationCount: ",2,", metrics.AllocationNone: ",,", metrics.AllocationIntervals: ",1-2,"} {
		nodes := []entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 2, Price: 1}, {ID: 3, Perf: 1, Price: 1}}
		domain, err := plan.NewDomain([]*entity.Node{&nodes[0], &nodes[1], &nodes[2]}, window.AMP{})
		require.NoError(t, err)
		jobs := []*entity.Job{asked(1, 0), asked(2, 0), asked(3, 0), asked(4, 1)}
		jobs[0].Request.Nodes = 2
		var out bytes.Buffer
		w := metrics.NewJobsWriter(&out)
		w.Allocation = allocation
		sim := des.New(des.Config{})
		entity.NewMetascheduler(sim, domain, backfill.EASY{}, w).SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, w.Close())
		require.Contains(t, out.String(), column)
		report, err := validate.Jobs(strings.NewReader(out.String()), slices.Values(jobs), validate.Rules{Nodes: nodes})
		require.NoError(t, err)
		require.NoError(t, report.Err(), "%v\n%s", allocation, out.String())
	}
}

func TestAJobThatIsLeftWaitingMayHaveBeenCorrectedBefore(t *testing.T) {
	const columns, row = "prediction,corrections,predicted,restarts", "1,0,1,10,0,SUBMITTED,,,5,1,10,"
	require.NoError(t, check(t, validate.Rules{}, columns, row+"1\n", asked(1, 0)).Err())
	require.ErrorContains(t, check(t, validate.Rules{}, columns, row+"0\n", asked(1, 0)).Err(), "1 corrections of a job that has not run")
}

func TestAJobThatWaitsForOneThatNeverEndsHasNoRow(t *testing.T) {
	end := func(job int64) entity.Dependency { return entity.Dependency{Job: job} }
	jobs := []*entity.Job{
		asked(1, 0), asked(2, 0, end(1)), asked(3, 0, entity.Dependency{Job: 2, Submitted: true}), asked(4, 0, end(5)), asked(5, 5),
	}
	const fifth = "5,5,1,10,1,COMPLETED_SUCCESSFULLY,30,40,\n"
	const fourth = "4,40,1,10,1,COMPLETED_SUCCESSFULLY,40,50,5\n"
	for rows, missing := range map[string][]int64{
		"1,0,1,10,0,SUBMITTED,,,\n" + fourth + fifth:                                            nil,
		"1,0,1,10,0,RUNNING,45,,\n" + fourth + fifth:                                            nil,
		"1,0,1,10,0,SUBMITTED,,,\n" + fifth:                                                     {4}, // 5 has ended
		"1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,\n" + fourth + fifth:                            {2, 3},
		"1,0,1,10,0,REJECTED,,,\n" + fourth + fifth:                                             {2, 3},
		"1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,\n2,10,1,10,0,SUBMITTED,,,1\n" + fourth + fifth: {3}, // which waits for the coming of 2 only
	} {
		var found []int64
		report := check(t, validate.Rules{}, "after", rows, jobs...)
		for _, v := range report.Violations {
			require.Equal(t, validate.Missing, v.Kind, v)
			found = append(found, v.Job)
		}
		require.Equal(t, missing, found, rows)
	}
	jobs = []*entity.Job{asked(1, 0), asked(2, 0, end(3)), asked(3, 0, end(2))}
	require.Equal(t, 2, check(t, validate.Rules{}, "after", "1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,\n", jobs...).Total, "a circle")
}

func TestUnderFeedbackARowNamesJobsInFrontOfThePartThatWasTaken(t *testing.T) {
	before := entity.Dependency{Job: 1, Think: des.Second}
	jobs := []*entity.Job{asked(2, 20, before), asked(3, 30, before, entity.Dependency{Job: 2, Think: 5 * des.Second})}
	const first = "2,20,1,10,1,COMPLETED_SUCCESSFULLY,20,30,\n"
	for rows, problem := range map[string]string{
		first + "3,35,1,10,1,COMPLETED_SUCCESSFULLY,35,45,1+1 2+5\n":                                       "",
		first + "3,35,1,10,1,COMPLETED_SUCCESSFULLY,35,45,2+5\n":                                           "after has other jobs",
		first + "3,35,1,10,1,COMPLETED_SUCCESSFULLY,35,45,4+1 2+5\n":                                       "after has other jobs",
		first + "3,34,1,10,1,COMPLETED_SUCCESSFULLY,35,45,1+1 2+5\n":                                       "submission_time is 34, and those that it follows have ended at 35",
		"2,20,1,10,1,COMPLETED_SUCCESSFULLY,20,30,1+1\n3,35,1,10,1,COMPLETED_SUCCESSFULLY,35,45,1+1 2+5\n": "after has other jobs",
	} {
		err := check(t, validate.Rules{Feedback: true}, "after", rows, jobs...).Err()
		if problem == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, problem, rows)
		}
	}
}
