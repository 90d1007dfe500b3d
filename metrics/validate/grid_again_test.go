package validate

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// A job of two tasks of 100 s: at a it runs from 20 to 120, at b from 0 to 30, when it
// is stopped, and again, with a set-up of 5 s, from 50 to 155.
const (
	stoppedHeader = "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,bounded_slowdown,metadata,restarts,lost,overhead\n"
	stoppedWhole  = stoppedHeader + "1,0,2,100,1,COMPLETED_SUCCESSFULLY,0,155,1.476190,,0,0,0\n"
	stoppedAtA    = stoppedHeader + "1,0,1,100,1,COMPLETED_SUCCESSFULLY,20,120,1.2,,0,0,0\n"
	stoppedAtB    = stoppedHeader + "1,0,1,100,1,COMPLETED_SUCCESSFULLY,50,155,1.5,,1,30,5\n"
)

func TestAFragmentThatWasStoppedBeganEarlier(t *testing.T) {
	for what, c := range map[string]struct {
		old, new string
		kind     Kind
		ok       bool
	}{
		"true":                             {ok: true},
		"with work kept":                   {"50,155,1.5,,1,30,5", "90,155,1.5,,1,0,5", 0, true},
		"killed by an outage":              {"1,COMPLETED_SUCCESSFULLY,50,155,1.5,,", "0,COMPLETED_KILLED,70,155,1.5,reason=down,", 0, true},
		"began after all its parts":        {"SUCCESSFULLY,0,155", "SUCCESSFULLY,21,155", Disagreement, false},
		"began before its submission":      {"SUCCESSFULLY,0,155", "SUCCESSFULLY,-1,155", Disagreement, false},
		"ended later than its parts":       {"SUCCESSFULLY,0,155", "SUCCESSFULLY,0,156", Disagreement, false},
		"never stopped":                    {",,1,30,5", ",,0,30,5", Disagreement, false},
		"ran for longer than it could":     {"50,155,1.5,,1,30,5", "49,155,1.5,,1,30,5", WrongRunTime, false},
		"short, and neither stopped":       {"20,120,1.2", "21,120,1.2", WrongRunTime, false},
		"short, killed for no reason":      {"1,COMPLETED_SUCCESSFULLY,20,120", "0,COMPLETED_KILLED,21,120", WrongRunTime, false},
		"long, and neither with a set-up":  {"20,120,1.2,,0,0,0", "20,121,1.2,,0,0,0", WrongRunTime, false},
		"with a set-up that took no time":  {"20,120,1.2,,0,0,0", "20,120,1.2,,0,0,1", WrongRunTime, false},
		"killed, and longer than it could": {"1,COMPLETED_SUCCESSFULLY,20,120,1.2,,", "0,COMPLETED_KILLED,19,120,1.2,reason=down,", WrongRunTime, false},
	} {
		of := func(text string) io.Reader { return strings.NewReader(strings.Replace(text, c.old, c.new, 1)) }
		job := &entity.Job{ID: 1, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 2, Length: 100 * des.Second}}
		report, err := Grid(GridFiles{Jobs: of(stoppedWhole), Clusters: map[string]io.Reader{"a": of(stoppedAtA), "b": of(stoppedAtB)}},
			slices.Values([]*entity.Job{job}), []Site{{Name: "a", Processors: 1, Speed: 1}, {Name: "b", Processors: 1, Speed: 1}}, Rules{})
		require.NoError(t, err)
		if c.ok {
			require.NoError(t, report.Err(), "%s: %v", what, report)
		} else {
			require.True(t, slices.ContainsFunc(report.Violations, func(v Violation) bool { return v.Kind == c.kind }), "%s: %v", what, report)
		}
	}
}

// The same on a node of a domain, whose tasks tell of every attempt.
func TestAFragmentThatWasStoppedOnItsNodeBeganEarlier(t *testing.T) {
	job := &entity.Job{ID: 1, User: 5, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 2, Length: 100 * des.Second}}
	run := func(start string) error {
		of := strings.NewReader
		report, err := Grid(GridFiles{
			Jobs:     of("job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n1,0,2,100,1,COMPLETED_SUCCESSFULLY," + start + ",150\n"),
			Tasks:    of("site,job_id,user_id,node,start,reserved_end,end,cost,paid\ndom,1,5,1,10,110,30,100,0\ndom,1,5,1,50,150,150,100,100\n"),
			Clusters: map[string]io.Reader{"clu": of("job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n1,0,1,100,1,COMPLETED_SUCCESSFULLY,20,120\n")},
			Accounts: of("site,account,balance\ndom,user 5,-100\ndom,owner 1,100\n"),
		}, slices.Values([]*entity.Job{job}), []Site{{Name: "dom", Nodes: []entity.Node{{ID: 1, Perf: 1, Price: 1}}}, {Name: "clu", Processors: 1, Speed: 1}}, Rules{})
		require.NoError(t, err)
		return report.Err()
	}
	require.NoError(t, run("10"))
	require.ErrorContains(t, run("20"), "its parts from 10 to 150")
	require.ErrorContains(t, run("9"), "its parts from 10 to 150")
}

// Where work is kept, a later attempt is as short as what was left of it; the first one is
// reserved for all of the job.
func TestATaskThatGoesOnIsShorter(t *testing.T) {
	job := &entity.Job{ID: 1, User: 5, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 1, Length: 100 * des.Second}}
	run := func(runtime des.Time, tasks string) error {
		of := strings.NewReader
		j := *job
		j.Runtime = runtime
		report, err := Grid(GridFiles{
			Jobs:     of("job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n1,0,1,100,1,COMPLETED_SUCCESSFULLY,10,130\n"),
			Tasks:    of("site,job_id,user_id,node,start,reserved_end,end,cost,paid,attempt\n" + tasks),
			Accounts: of("site,account,balance\ndom,user 5,-80\ndom,owner 1,80\n"),
		}, slices.Values([]*entity.Job{&j}), []Site{{Name: "dom", Nodes: []entity.Node{{ID: 1, Perf: 1, Price: 1}}}}, Rules{})
		require.NoError(t, err)
		return report.Err()
	}
	require.NoError(t, run(100*des.Second, "dom,1,5,1,10,110,30,100,0,1\ndom,1,5,1,50,130,130,80,80,2\n"))
	require.ErrorContains(t, run(100*des.Second, "dom,1,5,1,10,90,30,80,0,1\ndom,1,5,1,50,130,130,80,80,2\n"), "has node 1 of dom for 80, and needs it for 100")
	require.ErrorContains(t, run(100*des.Second, "dom,1,5,1,10,110,30,100,0,1\ndom,1,5,1,50,130,130,80,80,1\n"), "has node 1 of dom for 80, and needs it for 100")
}

// A job that is stopped at the instant of its start may begin again at that instant.
func TestTwoAttemptsMayBeginAtOneInstant(t *testing.T) {
	job := &entity.Job{ID: 1, User: 5, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 1, Length: 100 * des.Second}}
	run := func(tasks string) error {
		of := strings.NewReader
		report, err := Grid(GridFiles{
			Jobs:     of("job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n1,0,1,100,1,COMPLETED_SUCCESSFULLY,10,110\n"),
			Tasks:    of("site,job_id,user_id,node,start,reserved_end,end,cost,paid,attempt\n" + tasks),
			Accounts: of("site,account,balance\ndom,user 5,-100\ndom,owner 1,100\n"),
		}, slices.Values([]*entity.Job{job}), []Site{{Name: "dom", Nodes: []entity.Node{{ID: 1, Perf: 1, Price: 1}}}}, Rules{})
		require.NoError(t, err)
		return report.Err()
	}
	require.NoError(t, run("dom,1,5,1,10,110,10,100,0,1\ndom,1,5,1,10,110,110,100,100,2\n"))
	require.ErrorContains(t, run("dom,1,5,1,10,110,10,100,0,1\ndom,1,5,1,10,110,110,100,100,1\n"), "has node 1 of dom twice")
}

// If nothing tells whether one part of a job was stopped, its other parts are not added up, in
// whichever order the files have them. What is wrong with a part alone is told nevertheless.
func TestTheOrderOfPartsDoesNotMatterIfOneIsVague(t *testing.T) {
	of := strings.NewReader
	plain, vague := "dom,1,5,1,10,110,110,100,100,1\n", "ckp,1,5,2,10,110,110,100,100,1\n"
	run := func(tasks string, budget float64, deadline des.Time, overhead bool) Report {
		job := &entity.Job{ID: 1, User: 5, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 2, Length: 100 * des.Second, Budget: budget, Deadline: deadline}}
		report, err := Grid(GridFiles{
			Jobs:  of("job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n1,0,2,100,1,COMPLETED_SUCCESSFULLY,10,110\n"),
			Tasks: of("site,job_id,user_id,node,start,reserved_end,end,cost,paid,attempt\n" + tasks),
		}, slices.Values([]*entity.Job{job}), []Site{
			{Name: "dom", Nodes: []entity.Node{{ID: 1, Perf: 1, Price: 1}}},
			{Name: "ckp", Nodes: []entity.Node{{ID: 2, Perf: 1, Price: 1}}, Overhead: overhead},
		}, Rules{})
		require.NoError(t, err)
		return report
	}
	for _, tasks := range []string{plain + vague, vague + plain} {
		require.ErrorContains(t, run(tasks, 50, 0, false).Err(), "costs 200.000000, and its budget is 50.000000")
		require.ErrorContains(t, run(tasks, 0, 60*des.Second, false).Err(), "reserved until 110, after its deadline at 60")
		require.NoError(t, run(tasks, 50, 60*des.Second, true).Err(), tasks)
		unpaid := strings.Replace(tasks, plain, "dom,1,5,1,10,110,110,100,0,1\n", 1)
		require.ErrorContains(t, run(unpaid, 0, 0, true).Err(), "node 1 of dom was paid 0.000000 instead of 100.000000", unpaid)
		require.NoError(t, run(strings.Replace(tasks, vague, "ckp,1,5,2,10,110,110,100,0,1\n", 1), 0, 0, true).Err(), "the vague part may have been stopped")
	}
}
