package validate_test

// Jobs that state whole requests, each with a criterion of its own: under every
// policy and planner the schedule is valid and every request is met.

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// usedCriteria counts the jobs that ran by the criterion that found their windows.
type usedCriteria map[string]int

func (u usedCriteria) Observe(e entity.JobEvent) {
	if c := e.Run.Request.Criterion; e.Kind == entity.JobStarted && c != nil {
		u[c.Name()]++
	}
}

func drawNodes(t *rapid.T) []*entity.Node {
	var nodes []*entity.Node
	equal := rapid.Bool().Draw(t, "equal nodes")
	for id := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		n := &entity.Node{ID: id, Perf: 1, Price: 1, Q: 1}
		if !equal {
			n.Q = float64(id)
			n.Perf = float64(rapid.IntRange(1, 5).Draw(t, "performance"))
			n.Price = float64(rapid.IntRange(0, 6).Draw(t, "price")) / 2
			n.Amounts = map[string]float64{"ram": float64(rapid.IntRange(1, 4).Draw(t, "ram"))}
			n.Labels = map[string]string{"os": rapid.SampledFrom([]string{"linux", "bsd"}).Draw(t, "os")}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func drawRequest(t *rapid.T, most int, criteria []entity.Criterion) entity.Request {
	one := func(what string, of ...float64) float64 { return rapid.SampledFrom(of).Draw(t, what) }
	q := entity.Request{
		Nodes: rapid.IntRange(1, most).Draw(t, "n"), Length: des.Time(rapid.IntRange(1, 60).Draw(t, "volume")) * des.Second,
		MinPerf: one("least performance", 0, 0, 1, 2), Budget: one("budget", 0, 0, 40, 120, 400),
		Deadline:  des.Time(one("deadline", 0, 0, 60, 150)) * des.Second,
		Criterion: rapid.SampledFrom(criteria).Draw(t, "criterion"),
	}
	if q.Budget == 0 {
		q.MaxPrice = one("price", 0, 0, 1, 2)
	}
	switch rapid.IntRange(0, 4).Draw(t, "needs") {
	case 0:
		q.Needs = &entity.Attributes{Amounts: map[string]float64{"ram": 2}}
	case 1:
		q.Needs = &entity.Attributes{Labels: map[string]string{"os": "linux"}}
	}
	return q
}

func TestEveryPolicyServesJobsWithCriteriaOfTheirOwn(t *testing.T) {
	criteria := []entity.Criterion{nil, nil}
	named := policy.Criteria(policy.Finders())
	for _, name := range policy.Finders().Names() {
		c, err := named(name)
		require.NoError(t, err)
		require.Equal(t, name, c.Name())
		criteria = append(criteria, c)
	}
	used := usedCriteria{}
	for _, spec := range []string{
		"easy", "easy:finder=square-coord", "easy:order=wfp3:reservations=all:finder=min-cost", "easy-sjbf:depth=3", "conservative",
		"conservative:compression=off:finder=square-dep", "fcfs", "fcfs:finder=csa-min-finish", "css", "css:finder=square-min-cost:problem=batch-time",
		"batch-slicer:k=3:shift=end", "batch-slicer:replan=on-release:criterion=square-maxq-lite", "bsf:q=0.5", "bsf:q=0.3:fill=conservative:finder=square-dep-lite",
	} {
		t.Run(spec, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				chosen, err := policy.NodeRegistry().Parse(spec)
				require.NoError(t, err)
				nodes := drawNodes(t)
				domain, err := plan.NewDomain(nodes, chosen.Value.Finder)
				require.NoError(t, err)
				domain.Interval = des.Time(rapid.SampledFrom([]int{60, 150}).Draw(t, "interval")) * des.Second
				v, ledger := &validate.Validator{}, &flow.Ledger{}
				sim := des.New(des.Config{})
				var file bytes.Buffer
				w := metrics.NewJobsWriter(&file)
				meta := entity.NewMetascheduler(sim, domain, chosen.Value.Policy, v, used, ledger, w)
				meta.Cycle, meta.LeaveWaiting = 50*des.Second, true
				if rapid.Bool().Draw(t, "owners") {
					owners := flow.NewLocalFlow(domain, meta)
					defer owners.Close()
					busy := flow.LocalJob{Node: nodes[0], Start: 20 * des.Second, Length: 30 * des.Second}
					owners.Submit(func(yield func(flow.LocalJob) bool) { yield(busy) })
				}
				var jobs []*entity.Job
				var at des.Time
				for id := range rapid.IntRange(1, 12).Draw(t, "jobs") {
					at += des.Time(rapid.IntRange(0, 20).Draw(t, "gap")) * des.Second
					q := drawRequest(t, len(nodes), criteria)
					if q.Deadline > 0 {
						q.Deadline += at
					}
					jobs = append(jobs, &entity.Job{
						ID: int64(id + 1), Submit: at, Request: q,
						Runtime: des.Time(rapid.Int64Range(0, int64(q.Length)+int64(q.Length)/4).Draw(t, "runtime")),
					})
				}
				meta.SubmitAll(slices.Values(jobs))
				require.NoError(t, sim.Run(context.Background()))
				report := v.Report(false)
				require.NoError(t, report.Err(), "%v", report)
				require.NoError(t, ledger.Check())
				require.NoError(t, w.Close())
				var held []entity.Node
				for _, n := range nodes {
					held = append(held, *n)
				}
				report, err = validate.Jobs(&file, slices.Values(jobs), validate.Rules{Nodes: held})
				require.NoError(t, err)
				require.NoError(t, report.Err(), "%v", report)
			})
		})
	}
	for _, c := range criteria[2:] {
		require.Positive(t, used[c.Name()], c.Name())
	}
}

// rewriter has jobs ask for something else when they start.
type rewriter func(*entity.Request)

func (w rewriter) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		w(&e.Run.Request)
	}
}

func TestARequestThatIsNotMetIsFound(t *testing.T) {
	node := &entity.Node{ID: 7, Perf: 2, Price: 3, Attributes: entity.Attributes{
		Amounts: map[string]float64{"ram": 4}, Labels: map[string]string{"os": "linux"},
	}}
	needs := func(amount, label string) *entity.Attributes {
		return &entity.Attributes{Amounts: map[string]float64{amount: 4}, Labels: map[string]string{label: "linux"}}
	}
	for _, c := range []struct {
		bend rewriter
		want string
	}{
		{func(*entity.Request) {}, ""},
		{func(q *entity.Request) {
			*q = entity.Request{Nodes: 1, Length: q.Length, MinPerf: 2, Budget: 15, Deadline: 5 * des.Second, Needs: needs("ram", "os")}
		}, ""},
		{func(q *entity.Request) { q.MaxPrice = 3 }, ""},
		{func(q *entity.Request) { q.MinPerf = 2.1 }, "request not met: has node 7, whose performance 2 is below 2.1"},
		{func(q *entity.Request) { q.Budget = 14.9 }, "request not met: has a window for 15, above its budget 14.9"},
		{func(q *entity.Request) { q.MaxPrice = 2.9 }, "request not met: pays 15 for 5 time units of nodes, above its price 2.9"},
		{func(q *entity.Request) { q.Deadline = 5*des.Second - 1 }, "request not met: has a window until 5, past its deadline 4.999999"},
		{func(q *entity.Request) { q.Nodes = 2 }, "request not met: has 1 nodes, not 2"},
		{func(q *entity.Request) { q.Needs = needs("disk", "os") }, "has node 7, which has less disk than 4"},
		{func(q *entity.Request) { q.Needs = needs("ram", "cpu") }, "has node 7, whose cpu is not linux"},
		{func(q *entity.Request) { q.Needs = &entity.Attributes{Amounts: map[string]float64{"ram": 5}} }, "which has less ram than 5"},
	} {
		domain, err := plan.NewDomain([]*entity.Node{node}, window.AMP{})
		require.NoError(t, err)
		v, sim := &validate.Validator{}, des.New(des.Config{})
		meta := entity.NewMetascheduler(sim, domain, backfill.FCFS{}, c.bend, v)
		meta.Submit(&entity.Job{ID: 1, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 1, Length: 10 * des.Second}})
		require.NoError(t, sim.Run(context.Background()))
		if report := v.Report(true); c.want == "" {
			require.NoError(t, report.Err())
		} else {
			require.ErrorContains(t, report.Err(), c.want)
		}
	}
}

func TestAFileOfNodesIsHeldAgainstRequests(t *testing.T) {
	node := func(id int, perf, price, ram float64) entity.Node {
		return entity.Node{ID: id, Perf: perf, Price: price, Attributes: entity.Attributes{Amounts: map[string]float64{"ram": ram}}}
	}
	nodes := []entity.Node{node(1, 1, 1, 1), node(2, 2, 3, 8), node(5, 4, 5, 8)}
	job := func(id int64, n int, volume des.Time) *entity.Job {
		return &entity.Job{ID: id, Runtime: volume / 2, User: -1, Request: entity.Request{Nodes: n, Length: volume}}
	}
	const head = "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,allocated_resources\n"
	sound := head + "1,0,2,40,1,COMPLETED_SUCCESSFULLY,0,10,2 5\n2,0,1,40,1,COMPLETED_SUCCESSFULLY,10,20,2\n3,0,1,8,0,REJECTED,-1,-1,\n"
	check := func(text string, rules validate.Rules, change func([]*entity.Job)) error {
		jobs := []*entity.Job{job(1, 2, 40*des.Second), job(2, 1, 40*des.Second), job(3, 1, 8*des.Second)}
		change(jobs)
		rules.Nodes = nodes
		report, err := validate.Jobs(strings.NewReader(text), slices.Values(jobs), rules)
		require.NoError(t, err)
		return report.Err()
	}
	as := func([]*entity.Job) {}
	for _, change := range []func([]*entity.Job){
		as,
		func(j []*entity.Job) { j[0].Request.MinPerf, j[0].Request.MaxPrice = 2, 5 },
		func(j []*entity.Job) { j[0].Request.Budget, j[0].Request.Deadline = 110, 20*des.Second }, // 3*20 + 5*10, until 20
		func(j []*entity.Job) { j[0].Request.Needs = &entity.Attributes{Amounts: map[string]float64{"ram": 8}} },
	} {
		require.NoError(t, check(sound, validate.Rules{Processors: 1, Promises: validate.Promises{Head: true}}, change))
	}
	for _, c := range []struct {
		old, new string
		change   func([]*entity.Job)
		want     string
	}{
		{"", "", func(j []*entity.Job) { j[0].Request.MinPerf = 2.5 }, "job 1: request not met: line 2: has node 2, whose performance 2 is below 2.5"},
		{"", "", func(j []*entity.Job) { j[0].Request.MaxPrice = 4 }, "has node 5, whose price 5 is above 4"},
		{"", "", func(j []*entity.Job) { j[0].Request.Budget = 109 }, "costs at least 110, above its budget 109"},
		{"", "", func(j []*entity.Job) { j[0].Request.Deadline = 19 * des.Second }, "needs its nodes until 20, past its deadline 19"},
		{"", "", func(j []*entity.Job) { j[1].Request.Needs = &entity.Attributes{Amounts: map[string]float64{"ram": 9}} }, "has node 2, which has less ram than 9"},
		{"10,2 5", "10,2 3", as, "has node 3, which is not there"},
		{"10,2 5", "10,5", as, "has 1 nodes instead of 2"},
		{"10,20,2\n", "9,19,2\n", as, "has node 2, which job 1 (line 2) has until 10"},
		{"10,20,2\n", "10,19,2\n", as, "wrong run time: line 3: ran for 9 instead of 10"},
		{"10,20,2\n", "10,20,5\n", as, "ran for 10 instead of 5"},
		{"40,1,COMPLETED_SUCCESSFULLY,10", "40,0,COMPLETED_WALLTIME_REACHED,10", as, "asked for 40 of 20: killed is true"},
	} {
		text := strings.Replace(sound, c.old, c.new, 1)
		require.Equal(t, c.old == c.new, text == sound)
		require.ErrorContains(t, check(text, validate.Rules{}, c.change), c.want)
	}
	require.NoError(t, check(sound, validate.Rules{PricesVary: true}, func(j []*entity.Job) { j[0].Request.MaxPrice, j[0].Request.Budget = 1, 1 }))
}

func TestDeadlinesAreHeldAgainstAFile(t *testing.T) {
	const head = "job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,backfilled\n"
	text := head + "1,0,1,40,1,COMPLETED_SUCCESSFULLY,0,30,0\n2,0,1,40,0,REJECTED,-1,-1,0\n3,1,1,5,1,COMPLETED_SUCCESSFULLY,31,36,1\n"
	check := func(first, second int) error {
		jobs := []*entity.Job{
			{ID: 1, Runtime: 30 * des.Second, Request: entity.Request{Nodes: 1, Length: 40 * des.Second, Deadline: des.Time(first) * des.Second}},
			{ID: 2, Runtime: 30 * des.Second, Request: entity.Request{Nodes: 1, Length: 40 * des.Second, Deadline: des.Time(second) * des.Second}},
			{ID: 3, Submit: des.Second, Runtime: 5 * des.Second, Request: entity.Request{Nodes: 1, Length: 5 * des.Second}},
		}
		report, err := validate.Jobs(strings.NewReader(text), slices.Values(jobs), validate.Rules{Processors: 1, Promises: validate.Promises{Head: true}})
		require.NoError(t, err)
		return report.Err()
	}
	require.NoError(t, check(40, 70), "job 2 may have stood in front of job 3 until 31")
	require.ErrorContains(t, check(39, 70), "job 1: request not met: line 2: needs its processors until 40, past its deadline 39")
	require.ErrorContains(t, check(0, 0), "rejected, though it wants 1 of 1 processors")
}
