package validate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/validate"
)

const leftHead = "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,allocated_resources"

// twoNodes are nodes of performance 1 and price 1.
var twoNodes = []entity.Node{{ID: 7, Perf: 1, Price: 1}, {ID: 8, Perf: 1, Price: 1}}

// of is a job that asks for ten seconds, and takes them.
func of(id int64, nodes int, after ...entity.Dependency) *entity.Job {
	return &entity.Job{ID: id, Runtime: 10 * des.Second, User: -1, Request: entity.Request{Nodes: nodes, Length: 10 * des.Second}, After: after}
}

func checked(t *testing.T, file string, rules validate.Rules, jobs ...*entity.Job) error {
	t.Helper()
	report, err := validate.Jobs(strings.NewReader(file), slices.Values(jobs), rules)
	require.NoError(t, err)
	return report.Err()
}

func TestNodesAreCheckedWhereTheFileNamesThem(t *testing.T) {
	file := leftHead + "\n1,0,2,10,1,COMPLETED_SUCCESSFULLY,0,10,BOTH\n2,0,1,10,1,COMPLETED_SUCCESSFULLY,10,20,ONE\n"
	for places, wrong := range map[[2]string]string{
		{"7-8", "7"}: "",
		{"2", "1"}:   "", // their numbers alone
		{"", ""}:     "",
		{"7-8", "1"}: "has node 1, which is not there",
		{"7-8", ""}:  "has 0 nodes instead of 1",
	} {
		err := checked(t, strings.NewReplacer("BOTH", places[0], "ONE", places[1]).Replace(file), validate.Rules{Nodes: twoNodes}, of(1, 2), of(2, 1))
		if wrong == "" {
			require.NoError(t, err, "%v", places)
		} else {
			require.ErrorContains(t, err, wrong)
		}
	}
}

func TestAJobHasAsManyNodesAsItAsksFor(t *testing.T) {
	file := leftHead + "\n1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,7-8\n"
	require.ErrorContains(t, checked(t, file, validate.Rules{Nodes: twoNodes}, of(1, 1)), "has 2 nodes instead of 1")
}

func TestWhoFollowsAJobThatNeverEndsHasNoRow(t *testing.T) {
	file := leftHead + "\n1,0,1,10,0,SUBMITTED,,,\n4,5,1,10,1,COMPLETED_SUCCESSFULLY,5,15,7\n"
	after := func(job int64) entity.Dependency { return entity.Dependency{Job: job} }
	fourth := of(4, 1)
	fourth.Submit = 5 * des.Second
	all := []*entity.Job{of(1, 1), of(2, 1, after(1)), of(3, 1, after(2)), fourth}
	require.NoError(t, checked(t, file, validate.Rules{Nodes: twoNodes}, all...))

	all[1].After = []entity.Dependency{{Job: 1, Submitted: true}} // which has happened
	require.ErrorContains(t, checked(t, file, validate.Rules{Nodes: twoNodes}, all...), "job 2: missing")
	all[1].After = nil
	require.ErrorContains(t, checked(t, file, validate.Rules{Nodes: twoNodes}, all...), "job 2: missing")
}

const predictedHead = leftHead + ",restarts,lost,overhead,prediction,corrections,predicted"

func TestAJobThatWaitsAgainMayHaveBeenCorrected(t *testing.T) {
	file := predictedHead + "\n1,0,1,10,0,SUBMITTED,,,,1,6,0,5,1,10\n"
	attempts := "job_id,attempt,starting_time,finish_time,processors,allocated_resources,kept,lost,overhead,end,processor_time\n1,1,0,6,1,7,0,6,0,requeued,6\n"
	require.NoError(t, checked(t, file, validate.Rules{Nodes: twoNodes, Attempts: strings.NewReader(attempts)}, of(1, 1)))
	never := strings.Replace(file, ",1,6,0,5", ",0,0,0,5", 1)
	require.ErrorContains(t, checked(t, never, validate.Rules{Nodes: twoNodes}, of(1, 1)), "1 corrections of a job that has not run")
}

func TestAJobThatWasCorrectedMayCostMoreThanItsBudget(t *testing.T) {
	file := predictedHead + "\n1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,7,0,0,0,5,1,10\n"
	j := of(1, 1)
	j.Request.Budget = 3
	require.NoError(t, checked(t, file, validate.Rules{Nodes: twoNodes}, j))
	right := strings.Replace(file, ",5,1,10", ",10,0,10", 1)
	require.ErrorContains(t, checked(t, right, validate.Rules{Nodes: twoNodes}, j), "above its budget 3")
}

func TestJobsOfAnotherPartOfALogAreNotFollowed(t *testing.T) {
	file := leftHead + ",after\n2,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,0,1\n3,10,1,10,1,COMPLETED_SUCCESSFULLY,10,20,0,1 2\n"
	jobs := []*entity.Job{of(2, 1, entity.Dependency{Job: 1}), of(3, 1, entity.Dependency{Job: 1}, entity.Dependency{Job: 2})}
	require.NoError(t, checked(t, file, validate.Rules{Processors: 1, Feedback: true}, jobs...))
	jobs[1].After = jobs[1].After[:1]
	jobs[0].ID, jobs[0].After = 1, nil
	other := strings.NewReplacer("\n2,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,0,1\n", "\n1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,0,\n", "20,0,1 2", "20,0,2").Replace(file)
	require.ErrorContains(t, checked(t, other, validate.Rules{Processors: 1, Feedback: true}, jobs...), "after has other jobs")
}

// Its processors may have gone, as nodes are switched off, before it was said which it had.
func TestAJobThatTakesNoTimeKeepsNobodyOffItsProcessors(t *testing.T) {
	file := leftHead + "\n1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,0\n2,5,1,10,1,COMPLETED_SUCCESSFULLY,5,5,0\n3,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,1\n"
	second := of(2, 1)
	second.Submit, second.Runtime = 5*des.Second, 0
	jobs := []*entity.Job{of(1, 1), of(3, 1), second}
	require.NoError(t, checked(t, file, validate.Rules{Processors: 3}, jobs...))
	second.Runtime = des.Second
	require.ErrorContains(t, checked(t, strings.Replace(file, ",5,5,0", ",5,6,0", 1), validate.Rules{Processors: 3}, jobs...), "has a processor that job 1 (line 2) has until 10")
}

func TestAPredictionIsOfTheJobAsItCame(t *testing.T) {
	j := of(1, 1)
	j.Request.Length, j.Runtime = 120*des.Second, 90*des.Second
	j.Shapes = []entity.Shape{{Nodes: 2, Length: 70_909_091, Runtime: 53_181_818}}
	nodes := []entity.Node{{ID: 7, Perf: 7, Price: 1}, {ID: 8, Perf: 7, Price: 1}}
	file := leftHead + ",prediction,corrections,predicted\n1,0,2,70.909091,1,COMPLETED_SUCCESSFULLY,0,END,7-8,120,0,120\n"
	require.NoError(t, checked(t, strings.Replace(file, "END", "7.597404", 1), validate.Rules{Nodes: nodes}, j))
	require.ErrorContains(t, checked(t, strings.Replace(file, "END", "9", 1), validate.Rules{Nodes: nodes}, j), "ran for 9 instead of")

	// The latest one is of the shape: half of 14, and half of 7, which takes half a second.
	j.Request.Length, j.Runtime = 14*des.Second, 7*des.Second
	j.Shapes = []entity.Shape{{Nodes: 2, Length: 7 * des.Second, Runtime: 7 * des.Second / 2}}
	half := leftHead + ",prediction,corrections,predicted\n1,0,2,7,1,COMPLETED_SUCCESSFULLY,0,0.5,7-8,7,0,3.5\n"
	j.Request.Budget = 1
	require.NoError(t, checked(t, half, validate.Rules{Nodes: nodes}, j))
	j.Request.Budget = 0.9
	require.ErrorContains(t, checked(t, half, validate.Rules{Nodes: nodes}, j), "costs at least 1, above its budget 0.9")

	// So it is where jobs may be stopped, and no file tells for how long they were planned.
	stopped := predictedHead + "\n1,0,2,7,1,COMPLETED_SUCCESSFULLY,0,0.5,7-8,0,0,0,7,0,3.5\n"
	j.Request.Budget = 1
	require.NoError(t, checked(t, stopped, validate.Rules{Nodes: nodes}, j))
	j.Request.Budget = 0.9
	require.ErrorContains(t, checked(t, stopped, validate.Rules{Nodes: nodes}, j), "costs at least 1, above its budget 0.9")
}
