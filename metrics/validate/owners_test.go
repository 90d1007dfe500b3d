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

const jobsHeader = "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time\n"

func ownersNode(id int, perf float64, owner string) entity.Node {
	return entity.Node{ID: id, Perf: perf, Price: 1, Attributes: entity.Attributes{Labels: map[string]string{flow.OwnerLabel: owner}}}
}

// checkOwners checks a site of two owners after a change of one of its files: their
// jobs, and a job whose first attempt is stopped when one of its tasks has ended.
func checkOwners(t *testing.T, old, new string) Report {
	t.Helper()
	of := func(text string) io.Reader {
		return strings.NewReader(strings.Replace(text, old, new, 1))
	}
	own := func(owner string, id int64, nodes int, length des.Time) QueuedJob {
		return QueuedJob{owner, entity.Job{ID: id, Submit: 5 * des.Second, Runtime: length * des.Second, Request: entity.Request{Nodes: nodes, Length: length * des.Second}}}
	}
	site := Site{
		Name: "dom", Nodes: []entity.Node{ownersNode(1, 2, "o"), ownersNode(2, 4, "o"), ownersNode(3, 1, "p")}, Ahead: 100 * des.Second,
		Queued: []QueuedJob{own("o", 1, 2, 100), own("o", 2, 3, 10), own("p", 1, 1, 101), own("p", 2, 1, 100)},
		Rules:  map[int]PriceRule{3: {100 * des.Second, flow.ByUse{Target: 0.5, Step: 0.5}}},
	}
	job := &entity.Job{ID: 1, User: 5, Submit: 0, Runtime: 100 * des.Second, Request: entity.Request{Nodes: 2, Length: 100 * des.Second}}
	report, err := Grid(GridFiles{
		Jobs: of(jobsHeader + "1,0,2,100,1,COMPLETED_SUCCESSFULLY,200,250\n"),
		Tasks: of("site,job_id,user_id,node,start,reserved_end,end,cost,paid\n" +
			"dom,1,5,1,60,110,100,50,0\ndom,1,5,2,60,85,85,25,0\ndom,1,5,1,200,250,250,50,50\ndom,1,5,2,200,225,225,25,25\n"),
		Owners:   of("site,node,wanted,start,end,owner,job_id\ndom,1,5,6,56,o,1\ndom,2,5,6,31,o,1\ndom,3,5,5,105,p,2\n"),
		Accounts: of("site,account,balance\ndom,user 5,-75\ndom,owner 1,50\ndom,owner 2,25\n"),
		Prices:   of("site,time,node,owner,price\ndom,0,3,p,1\ndom,100,3,p,0.75\ndom,200,3,p,0.5625\n"),
	}, slices.Values([]*entity.Job{job}), []Site{site}, Rules{})
	require.NoError(t, err)
	return report
}

func TestWhatOwnersDoThatIsTrue(t *testing.T) {
	require.NoError(t, checkOwners(t, "", "").Err())
}

func TestWhatOwnersDoThatIsNot(t *testing.T) {
	for what, c := range map[string]struct {
		old, new, want string
	}{
		"a job that could run and did not":   {"dom,3,5,5,105,p,2\n", "", "0 of the 1 tasks of job 2 of p in dom ran"},
		"a task left out":                    {"dom,2,5,6,31,o,1\n", "", "1 of the 2 tasks of job 1 of o in dom ran"},
		"both tasks on one node":             {"dom,2,5,6,31,o,1\n", "dom,1,5,6,56,o,1\n", "has node 1 twice"},
		"tasks that begin one after another": {"dom,2,5,6,31,o,1\n", "dom,2,5,7,32,o,1\n", "began at 6, too"},
		"another's node":                     {"dom,2,5,6,31,o,1\n", "dom,3,5,6,106,o,1\n", "has node 3, which is of p"},
		"on a node that a user has":          {"dom,1,5,6,56,o,1\n", "dom,1,5,20,70,o,1\n", "which its owner has until 70"},
		"a task that ended and was not paid": {"225,225,25,25", "225,225,25,0", "node 2 of dom was paid 0.000000 instead of 25.000000"},
		"a price that fell too far":          {"0.5625", "0.5624", "and by its rule 0.562500"},
		"a last price that is missing":       {"dom,200,3,p,0.5625\n", "", "costs 0.75 from then on"},
		"a price before the end of a tick":   {"dom,100,3,p", "dom,99,3,p", "within an interval"},
		"another list price":                 {"dom,0,3,p,1\n", "dom,0,3,p,2\n", "costs 2 at first instead of 1"},
		"a price of a node that has no rule": {"dom,100,3,p", "dom,100,2,o", "no rule prices node 2"},
	} {
		report := checkOwners(t, c.old, c.new)
		found := slices.ContainsFunc(report.Violations, func(v Violation) bool { return strings.Contains(v.String(), c.want) })
		require.True(t, found, "%s: %v", what, report)
	}
}
