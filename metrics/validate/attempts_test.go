package validate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/validate"
)

// Job 1 of ten seconds is stopped after six, of which four are kept, a second was lost and
// a second was overhead. It goes on from second 20 to second 26. Job 2 follows it.
const (
	attemptedJobs = leftHead + ",restarts,lost,overhead,after\n" +
		"1,0,2,10,1,COMPLETED_SUCCESSFULLY,20,26,0-1,1,1,1,\n" +
		"2,30,1,10,1,COMPLETED_SUCCESSFULLY,30,40,0,0,0,0,1+4\n"
	attemptsOfJobs = "job_id,attempt,starting_time,finish_time,processors,allocated_resources,kept,lost,overhead,end\n" +
		"1,1,0,6,2,0-1,4,1,1,requeued\n" +
		"1,2,20,26,2,0-1,6,0,0,finished\n" +
		"2,1,30,40,1,0,10,0,0,finished\n"
)

func TestAttemptsOfAFileAreHeldAgainstTheJob(t *testing.T) {
	jobs := func() []*entity.Job { return []*entity.Job{of(1, 2), of(2, 1, entity.Dependency{Job: 1, Think: 4e6})} }
	rules := func(attempts string) validate.Rules {
		return validate.Rules{Processors: 2, Attempts: strings.NewReader(attempts)}
	}
	require.NoError(t, checked(t, attemptedJobs, rules(attemptsOfJobs), jobs()...))

	for _, c := range []struct{ was, is, want string }{
		{"1,2,20,26,2,0-1,6", "1,2,5,11,2,0-1,6", "when the job had not ended before"},
		{"0,6,2,0-1,4,1,1", "0,6,2,0-1,4,0,1", "kept 4, lost 0 and had 1 beside it in 6"},
		{"0,6,2,0-1,4,1,1", "0,6,2,0-1,4,2,1", "kept 4, lost 2 and had 1 beside it in 6"},
		{"0,6,2,0-1,4,1,1", "0,6,1,0-1,4,1,1", "attempt 1 (line 2) has 1 processors instead of 2"},
		{"1,1,0,6", "1,2,0,6", "is the 1. of this job"},
		{"requeued", "killed", "of 2 ended as killed"},
		{"6,0,0,finished", "6,0,0,requeued", "of 2 ended as requeued"},
		{"1,2,20,26,2,0-1,6,0,0", "1,2,20,25,2,0-1,5,0,0", "and its last attempt from 20 to 25"},
		{"1,2,20,26,2,0-1,6,0,0", "1,2,20,26,2,0-1,5,1,0", "its last attempt keeps 5, and 6 of its run time were left"},
	} {
		damaged := strings.Replace(attemptsOfJobs, c.was, c.is, 1)
		require.NotEqual(t, attemptsOfJobs, damaged, c.was)
		require.ErrorContains(t, checked(t, attemptedJobs, rules(damaged), jobs()...), c.want, c.is)
	}
	for _, c := range []struct{ was, is, want string }{
		{"0-1,1,1,1,", "0-1,2,1,1,", "restarts is 2, and 1 attempts were preempted"},
		{"0-1,1,1,1,", "0-1,1,2,1,", "lost is 2, and by its attempts 1"},
		{"0-1,1,1,1,", "0-1,1,1,2,", "overhead is 2, and by its attempts 1"},
		{"0,0,0,0,1+4", "0,0,0,0,1+5", "after has other jobs"},
	} {
		damaged := strings.Replace(attemptedJobs, c.was, c.is, 1)
		require.NotEqual(t, attemptedJobs, damaged, c.was)
		require.ErrorContains(t, checked(t, damaged, rules(attemptsOfJobs), jobs()...), c.want, c.is)
	}
}

// A job of two processors for ten seconds goes on on one after five, which takes it twice as long.
func TestAJobGoesOnAtOnceWhereItIsResized(t *testing.T) {
	file := leftHead + ",restarts,lost,overhead\n1,0,1,20,1,COMPLETED_SUCCESSFULLY,0,15,0,0,0,0\n"
	attempts := "job_id,attempt,starting_time,finish_time,processors,allocated_resources,kept,lost,overhead,end\n" +
		"1,1,0,5,2,0-1,5,0,0,resized\n1,2,5,15,1,0,10,0,0,finished\n"
	moldable := func() *entity.Job {
		j := of(1, 2)
		j.Shapes = []entity.Shape{{Nodes: 1, Length: 20e6, Runtime: 20e6}, {Nodes: 2, Length: 10e6, Runtime: 10e6}}
		return j
	}
	rules := func(attempts string) validate.Rules {
		return validate.Rules{Processors: 2, Attempts: strings.NewReader(attempts)}
	}
	require.NoError(t, checked(t, file, rules(attempts), moldable()))
	later := strings.Replace(attempts, "1,2,5,15", "1,2,6,16", 1)
	require.ErrorContains(t, checked(t, file, rules(later), moldable()), "began at 6, and the job was resized at 5")
}

func TestAJobHasAsManyNodesAsItAsksFor(t *testing.T) {
	file := leftHead + "\n1,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,7-8\n"
	require.ErrorContains(t, checked(t, file, validate.Rules{Nodes: twoNodes}, of(1, 1)), "has 2 nodes instead of 1")
}
