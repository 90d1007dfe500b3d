package validate

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
)

// What a run on a domain of two nodes and a cluster of two processors has written.
var (
	gridJobs     = "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n1,0,2,100,1,COMPLETED_SUCCESSFULLY,10,60\n2,0,2,100,1,COMPLETED_SUCCESSFULLY,0,50\n"
	gridTasks    = "site,job_id,user_id,node,start,reserved_end,end,cost,paid\ndom,1,5,1,10,60,60,50,50\ndom,1,5,2,10,35,35,75,75\n"
	gridOwners   = "site,node,wanted,start,end\ndom,1,60,60,70\n"
	gridAccounts = "site,account,balance\ndom,user 5,-125\ndom,vo,0\ndom,owner 1,50\ndom,owner 2,75\n"
	gridCluster  = "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,allocated_resources\n2,0,2,50,1,COMPLETED_SUCCESSFULLY,0,50,0-1\n"
)

// check checks these files after a change of one of them, or of the jobs.
func check(t *testing.T, old, new string, change func(*entity.Job)) Report {
	t.Helper()
	of := func(text string) io.Reader { return strings.NewReader(strings.Replace(text, old, new, 1)) }
	var jobs []*entity.Job
	for _, id := range []int64{2, 1} {
		jobs = append(jobs, &entity.Job{ID: id, User: 5, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 2, Length: 100 * des.Second, Budget: 125}})
	}
	if change != nil {
		change(jobs[1])
	}
	sites := []Site{
		{Name: "dom", Nodes: []entity.Node{{ID: 1, Perf: 2, Price: 1}, {ID: 2, Perf: 4, Price: 2}}, Prices: []flow.NodePrice{{Node: 2, At: 5 * des.Second, Price: 3}, {Node: 2, At: 20 * des.Second, Price: 7}}, Owners: []NodeUse{{1, 60 * des.Second, 10 * des.Second}}},
		{Name: "clu", Processors: 2, Speed: 2},
	}
	report, err := Grid(GridFiles{Jobs: of(gridJobs), Tasks: of(gridTasks), Owners: of(gridOwners), Accounts: of(gridAccounts), Clusters: map[string]io.Reader{"clu": of(gridCluster)}}, slices.Values(jobs), sites, Rules{})
	require.NoError(t, err)
	return report
}

func TestAGridsFilesThatAreTrue(t *testing.T) {
	require.NoError(t, check(t, "", "", nil).Err())
}

func TestAGridsFilesThatAreNot(t *testing.T) {
	for what, c := range map[string]struct {
		old, new string
		change   func(*entity.Job)
		kind     Kind
	}{
		"over the budget":                {"", "", func(j *entity.Job) { j.Request.Budget = 124.9 }, Unmet},
		"after the deadline":             {"", "", func(j *entity.Job) { j.Request.Deadline = 59 * des.Second }, Unmet},
		"on a slow node":                 {"", "", func(j *entity.Job) { j.Request.MinPerf = 3 }, Disagreement},
		"on a dear node":                 {"", "", func(j *entity.Job) { j.Request.MaxPrice = 2.5 }, Disagreement},
		"before its submission":          {"", "", func(j *entity.Job) { j.Submit = 11 * des.Second }, TooEarly},
		"at a price of the past":         {"35,35,75,75", "35,35,50,50", func(j *entity.Job) { j.Submit = 10 * des.Second }, FalseAccount},
		"at a price to come":             {"35,35,75,75", "35,35,175,175", nil, FalseAccount},
		"a node twice":                   {"dom,1,5,2,10,35,35", "dom,1,5,1,10,60,60", nil, TwoJobsOnOne},
		"on an owner's node":             {"dom,1,60,60,70", "dom,1,60,59,69", nil, TwoJobsOnOne},
		"an owner before his time":       {"dom,1,60,60,70", "dom,1,60,50,60", nil, TooEarly},
		"an owner nobody knows":          {"dom,1,60,60,70", "dom,1,60,60,71", nil, Disagreement},
		"more processors than there are": {"2,0,2,50,1,COMPLETED_SUCCESSFULLY,0,50,0-1", "2,0,3,50,1,COMPLETED_SUCCESSFULLY,0,50,0-2", nil, OverCapacity},
		"too long on the cluster":        {"SUCCESSFULLY,0,50,0-1", "SUCCESSFULLY,0,51,0-1", nil, WrongRunTime},
		"ran on":                         {"10,60,60,50", "10,60,61,50", nil, WrongRunTime},
		"reserved too little":            {"10,60,60,50", "10,59,59,49", nil, WrongRunTime},
		"paid nothing":                   {"50,50\n", "50,0\n", nil, FalseAccount},
		"a millionth":                    {"owner 2,75", "owner 2,75.000001", nil, FalseAccount},
		"an account too few":             {"dom,owner 2,75\n", "", nil, FalseAccount},
		"one task only":                  {"dom,1,5,2,10,35,35,75,75\n", "", nil, Missing},
		"rejected":                       {"1,COMPLETED_SUCCESSFULLY,10", "0,REJECTED,10", nil, OutOfPlace},
	} {
		report := check(t, c.old, c.new, c.change)
		require.True(t, slices.ContainsFunc(report.Violations, func(v Violation) bool { return v.Kind == c.kind }), "%s: %v", what, report)
	}
}

func TestUsersWhoPayByUse(t *testing.T) {
	job := &entity.Job{ID: 1, User: 5, Runtime: 25 * des.Second, Request: entity.Request{Nodes: 1, Length: 100 * des.Second}}
	of := strings.NewReader
	run := func(paid string) Report {
		report, err := Grid(GridFiles{
			Jobs:     of("job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n1,0,1,100,1,COMPLETED_SUCCESSFULLY,0,25\n"),
			Tasks:    of("site,job_id,user_id,node,start,reserved_end,end,cost,paid\ndom,1,5,1,0,100,25,200," + paid + "\n"),
			Accounts: of("site,account,balance\ndom,user 5,-" + paid + "\ndom,owner 1," + paid + "\n"),
		}, slices.Values([]*entity.Job{job}), []Site{{Name: "dom", ByUse: true, Nodes: []entity.Node{{ID: 1, Perf: 1, Price: 2}}}}, Rules{})
		require.NoError(t, err)
		return report
	}
	require.NoError(t, run("50").Err())
	require.ErrorContains(t, run("200").Err(), "was paid 200.000000 instead of 50.000000")
}

// A job of 2 processors of price 3, which asks for 100 s at speed 1 and so for 50 s here.
func TestProcessorsHaveAPrice(t *testing.T) {
	run := func(s Site, job entity.Job, r Rules, finish, paid, owner string) Report {
		job.ID, job.User, job.Request.Nodes, job.Request.Length = 1, 5, 2, 100*des.Second
		s.Name, s.Processors, s.Speed, s.Price = "clu", 2, 2, 3
		head := "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time"
		row := ",1,COMPLETED_SUCCESSFULLY,0," + finish
		report, err := Grid(GridFiles{
			Jobs:     strings.NewReader(head + ",paid\n1,0,2,100" + row + "," + paid + "\n"),
			Clusters: map[string]io.Reader{"clu": strings.NewReader(head + ",allocated_resources\n1,0,2,50" + row + ",0-1\n")},
			Accounts: strings.NewReader("site,account,balance\nclu,user 5,-" + owner + "\nclu,vo,0\nclu,owner 0," + owner + "\n"),
		}, slices.Values([]*entity.Job{&job}), []Site{s}, r)
		require.NoError(t, err)
		return report
	}
	half, long := entity.Job{Runtime: 50 * des.Second}, entity.Job{Runtime: 120 * des.Second}
	extend := Rules{Overrun: entity.OverrunExtend}
	use := Site{ByUse: true}
	require.NoError(t, run(Site{}, half, Rules{}, "25", "300", "300").Err())
	require.NoError(t, run(use, half, Rules{}, "25", "150", "150").Err())
	require.NoError(t, run(Site{}, long, extend, "60", "360", "360").Err())
	require.NoError(t, run(use, long, extend, "60", "360", "360").Err())
	require.ErrorContains(t, run(Site{}, half, Rules{}, "25", "150", "300").Err(), "paid is 150.000000, and its parts paid 300.000000")
	require.ErrorContains(t, run(Site{}, half, Rules{}, "25", "300", "300.000001").Err(), "user 5 of clu holds -300.000001 instead of -300.000000")
	require.ErrorContains(t, run(use, half, Rules{}, "25", "300", "300").Err(), "its parts paid 150.000000")
	poor, stingy := half, half
	poor.Request.Budget, stingy.Request.MaxPrice = 299, 2.5
	require.ErrorContains(t, run(Site{}, poor, Rules{}, "25", "300", "300").Err(), "costs 300.000000, and its budget is 299.000000")
	require.ErrorContains(t, run(use, poor, Rules{}, "25", "150", "150").Err(), "costs 300.000000, and its budget is 299.000000")
	require.ErrorContains(t, run(Site{}, stingy, Rules{}, "25", "300", "300").Err(), "has processors of clu, which cost 3, and pays 2.5")
	require.NoError(t, run(Site{Own: true}, half, Rules{}, "25", "1", "2").Err(), "its own jobs cannot be told from parts")
}

func TestGridFilesThatCannotBeRead(t *testing.T) {
	for old, want := range map[string]string{
		"dom,1,5,2": "nodom,1,5,2|tasks CSV, line 3, site: the grid has no site",
		"1,5,2,10":  "1,5,9,10|tasks CSV, line 3, node: dom has no node 9",
		"75,75\n":   "75,much\n|tasks CSV, line 3, paid",
		"wanted":    "wished|owners CSV, line 1: no column wanted",
		"balance":   "money|accounts CSV, line 1: no column balance",
	} {
		new, says, _ := strings.Cut(want, "|")
		of := func(text string) io.Reader { return strings.NewReader(strings.Replace(text, old, new, 1)) }
		_, err := Grid(GridFiles{Jobs: of(gridJobs), Tasks: of(gridTasks), Owners: of(gridOwners), Accounts: of(gridAccounts)},
			slices.Values([]*entity.Job{{ID: 1, User: 5, Request: entity.Request{Nodes: 2, Length: 1}}, {ID: 2, Request: entity.Request{Nodes: 2, Length: 1}}}),
			[]Site{{Name: "dom", Nodes: []entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}}}}, Rules{})
		var damaged *DamagedFileError
		require.ErrorAs(t, err, &damaged, old)
		require.ErrorContains(t, err, says)
	}
}
