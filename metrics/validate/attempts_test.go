package validate

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
)

// A run on eight processors, of which 0 and 1 are out of service from 24 to 30 and six
// others from 10 to 15. Job 1 is preempted and set up twice, job 2 is resized, job 3 is
// killed at its estimate, jobs 4 and 9 by an operator, job 5 is preempted and rejected; 6
// and 7 wait for the good ends of others, and 8 for a submission.
const (
	eventfulJobs = `job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,allocated_resources,metadata,restarts,lost,overhead,after
1,0,2,20,1,COMPLETED_SUCCESSFULLY,15,24,0-1,,1,3,4,
2,0,1,20,1,COMPLETED_SUCCESSFULLY,0,16,2,,0,0,0,
3,0,1,5,0,COMPLETED_WALLTIME_REACHED,0,5,4,,0,0,0,
4,0,1,9,0,COMPLETED_KILLED,0,3,5,reason=operator,0,3,0,
5,0,1,9,0,REJECTED,,,,,1,6,0,
6,29,1,3,1,COMPLETED_SUCCESSFULLY,30,33,0,,0,0,0,1:ok+5
7,3,1,3,0,REJECTED,,,,,0,0,0,4:ok
8,7,1,2,1,COMPLETED_SUCCESSFULLY,7,9,4,,0,0,0,2:submitted+7
9,0,1,9,0,COMPLETED_KILLED,20,21,7,reason=operator,1,3,0,
`
	eventfulAttempts = `job_id,attempt,starting_time,finish_time,processors,allocated_resources,kept,lost,overhead,end
1,1,0,10,2,0-1,5,3,2,requeued
1,2,15,24,2,0-1,7,0,2,finished
2,1,0,4,2,2-3,4,0,0,resized
2,2,4,16,1,2,12,0,0,finished
3,1,0,5,1,4,5,0,0,walltime
4,1,0,3,1,5,0,3,0,killed
5,1,0,6,1,6,0,6,0,requeued
6,1,30,33,1,0,3,0,0,finished
8,1,7,9,1,4,2,0,0,finished
9,1,0,2,1,7,2,0,0,requeued
9,2,20,21,1,7,0,1,0,killed
`
	eventfulOutages = "from,to,processors,node\n10,15,6,\n24,30,2,0-1\n"
)

func eventfulTrace() []*entity.Job {
	all := []*entity.Job{
		job(1, 0, 2, 20*sec, 12*sec), job(2, 0, 2, 10*sec, 10*sec), job(3, 0, 1, 5*sec, 9*sec), job(4, 0, 1, 9*sec, 9*sec),
		job(5, 0, 1, 9*sec, 9*sec), job(6, 0, 1, 3*sec, 3*sec), job(7, 0, 1, 3*sec, 3*sec), job(8, 0, 1, 2*sec, 2*sec), job(9, 0, 1, 9*sec, 9*sec),
	}
	all[1].Shapes = []entity.Shape{{Nodes: 1, Length: 20 * sec, Runtime: 20 * sec}}
	all[5].After = []entity.Dependency{{Job: 1, OK: true, Think: 5 * sec}}
	all[6].After = []entity.Dependency{{Job: 4, OK: true}}
	all[7].After = []entity.Dependency{{Job: 2, Submitted: true, Think: 7 * sec}}
	return all
}

// damage is another value of a field of one of the files of a run.
type damage struct{ file, row, column, value string }

func TestAttemptsOutagesAndDependenciesOfAFileAreHeldAgainstEachOther(t *testing.T) {
	check := func(t *testing.T, damages ...damage) Report {
		files := map[string]string{"jobs": eventfulJobs, "attempts": eventfulAttempts, "outages": eventfulOutages}
		for _, d := range damages {
			files[d.file] = plant(t, files[d.file], d.row, d.column, d.value)
		}
		report, err := Jobs(strings.NewReader(files["jobs"]), slices.Values(eventfulTrace()), Rules{
			Processors: 8, Attempts: strings.NewReader(files["attempts"]), Outages: strings.NewReader(files["outages"]),
		})
		require.NoError(t, err)
		return report
	}
	require.NoError(t, check(t).Err())
	for _, c := range []struct {
		name    string
		kind    Kind
		text    string
		damages []damage
	}{
		{"attempts that overlap", TwoJobsOnOne, "job 1: two jobs on one processor: line 2: attempt 2 (line 3) began at 15, when the job had not ended before, or not come, until 16", []damage{{"attempts", "1,1", "finish_time", "16"}}},
		{"an attempt before the submission", TwoJobsOnOne, "attempt 1 (line 10) began at 7, when the job had not ended before, or not come, until 8", []damage{{"jobs", "8", "submission_time", "8"}}},
		{"a resize that takes time", OutOfPlace, "attempt 2 (line 5) began at 5, and the job was resized at 4", []damage{{"attempts", "2,2", "starting_time", "5"}}},
		{"a sum too small", WrongRunTime, "attempt 1 (line 2) kept 5, lost 2 and had 2 beside it in 10", []damage{{"attempts", "1,1", "lost", "2"}}},
		{"a sum too large", WrongRunTime, "attempt 1 (line 2) kept 5, lost 4 and had 2 beside it in 10", []damage{{"attempts", "1,1", "lost", "4"}}},
		{"a processor too few", Disagreement, "attempt 1 (line 2) has 1 processors instead of 2", []damage{{"attempts", "1,1", "processors", "1"}}},
		{"a processor too many", Disagreement, "attempt 1 (line 2) has 3 processors instead of 2", []damage{{"attempts", "1,1", "processors", "3"}}},
		{"an attempt of another number", OutOfPlace, "attempt 3 (line 3) is the 2. of this job", []damage{{"attempts", "1,2", "attempt", "3"}}},
		{"an end before the last attempt", OutOfPlace, "attempt 1 (line 2) of 2 ended as finished", []damage{{"attempts", "1,1", "end", "finished"}}},
		{"a last attempt that goes on", OutOfPlace, "attempt 2 (line 3) of 2 ended as requeued", []damage{{"attempts", "1,2", "end", "requeued"}}},
		{"a last attempt after which a rejected job does not go on", OutOfPlace, "attempt 1 (line 8) of 1 ended as killed", []damage{{"attempts", "5,1", "end", "killed"}}},
		{"a good end called a kill", Disagreement, "COMPLETED_SUCCESSFULLY, and its last attempt ended as killed", []damage{{"attempts", "1,2", "end", "killed"}}},
		{"a kill called a good end", Disagreement, "COMPLETED_KILLED, and its last attempt ended as finished", []damage{{"attempts", "3,1", "end", "finished"}}},
		{"another end than the row's", Disagreement, "ran from 15 to 24, and its last attempt from 15 to 25", []damage{{"attempts", "1,2", "finish_time", "25"}}},
		{"less than the rest of the run time", WrongRunTime, "its last attempt keeps 6, and 7 of its run time were left", []damage{{"attempts", "1,2", "kept", "6"}}},
		{"less than the estimate", WrongRunTime, "its last attempt keeps 4, and 5 of its estimate were left", []damage{{"attempts", "3,1", "kept", "4"}}},
		{"more kept before a resize", WrongRunTime, "its last attempt keeps 12, and 10 of its run time were left", []damage{{"attempts", "2,1", "kept", "5"}}},
		{"a restart too many", Disagreement, "restarts is 2, and 1 attempts were preempted", []damage{{"jobs", "1", "restarts", "2"}}},
		{"a restart too few", Disagreement, "restarts is 0, and 1 attempts were preempted", []damage{{"jobs", "5", "restarts", "0"}}},
		{"too little lost", Disagreement, "lost is 2, and by its attempts 3", []damage{{"jobs", "1", "lost", "2"}}},
		{"kept work of a job that is killed", Disagreement, "lost is 1, and by its attempts 3", []damage{{"jobs", "9", "lost", "1"}}},
		{"too much overhead", Disagreement, "overhead is 5, and by its attempts 4", []damage{{"jobs", "1", "overhead", "5"}}},
		{"the start of the first attempt", Disagreement, "ran from 0 to 24, and its last attempt from 15 to 24", []damage{{"jobs", "1", "starting_time", "0"}}},
		{"the start behind a resize", Disagreement, "ran from 4 to 16, and its last attempt from 0 to 16", []damage{{"jobs", "2", "starting_time", "4"}}},
		{"a place that another has", TwoJobsOnOne, "has a processor that job 4 (line 5) has until 3", []damage{{"attempts", "5,1", "allocated_resources", "5"}}},
		{"a start before the end of another and a think time", BeforeItsTurn, "started before 29, when those that it follows have ended", []damage{{"jobs", "6", "starting_time", "28"}}},
		{"a submission before the end of a think time", Disagreement, "submission_time is 28, and those that it follows have ended at 29", []damage{{"jobs", "6", "submission_time", "28"}}},
		{"a submission behind a think time", Disagreement, "submission_time is 30, and those that it follows have ended at 29", []damage{{"jobs", "6", "submission_time", "30"}}},
		{"a think time behind a submission", Disagreement, "submission_time is 6, and those that it follows have ended at 7", []damage{{"jobs", "8", "submission_time", "6"}}},
		{"any end instead of a good one", Disagreement, "after has other jobs", []damage{{"jobs", "6", "after", "1+5"}}},
		{"no think time", Disagreement, "after has other jobs", []damage{{"jobs", "6", "after", "1:ok"}}},
		{"a start behind a job that has not finished well", BeforeItsTurn, "job 7: before its turn: line 8: started, though job 4 has not finished well", []damage{
			{"jobs", "7", "final_state", "COMPLETED_SUCCESSFULLY"}, {"jobs", "7", "starting_time", "3"}, {"jobs", "7", "finish_time", "6"}, {"jobs", "7", "allocated_resources", "5"},
		}},
		{"a start before the end of another", BeforeItsTurn, "job 7: before its turn: line 8: started before the end of job 4, which it follows", []damage{
			{"jobs", "7", "final_state", "COMPLETED_SUCCESSFULLY"}, {"jobs", "7", "starting_time", "3"}, {"jobs", "7", "finish_time", "6"}, {"jobs", "4", "final_state", "RUNNING"},
		}},
		{"processors that are down", OnWhatIsDown, "job 6: on what is down: line 7: has 0 until 33, and it is down from 24 on", []damage{{"outages", "24", "to", "31"}}},
		{"more down than is free", OnWhatIsDown, "on what is down: 8 processors go out of service, and jobs have 1 too many", []damage{{"outages", "10", "processors", "8"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := check(t, c.damages...)
			require.True(t, slices.ContainsFunc(report.Violations, func(v Violation) bool {
				return v.Kind == c.kind && strings.Contains(v.String(), c.text)
			}), "%v", report)
		})
	}
}

// No file tells when a job was rejected: one that follows it may come at any time.
func TestAJobMayFollowOneThatWasRejected(t *testing.T) {
	const file = `job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,after
1,0,9,3,0,REJECTED,,,
2,7,1,3,1,COMPLETED_SUCCESSFULLY,7,10,1+5
`
	follower := job(2, 0, 1, 3*sec, 3*sec)
	follower.After = []entity.Dependency{{Job: 1, Think: 5 * sec}}
	report, err := Jobs(strings.NewReader(file), slices.Values([]*entity.Job{job(1, 0, 9, 3*sec, 3*sec), follower}), Rules{Processors: 8})
	require.NoError(t, err)
	require.NoError(t, report.Err())
}
