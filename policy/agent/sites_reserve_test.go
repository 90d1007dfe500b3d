package agent

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
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics" // tests may look sideways
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

// vo is a grid of domains, each with a ledger.
type vo struct {
	*grid.Grid
	sim     *des.Simulator
	domains []*plan.Domain
	ledgers []*flow.Ledger
	sites   []*validate.Validator
	runs    became
	whole   *metrics.Recorder // of the jobs as a whole
	spent   map[*entity.Job]flow.Money
	where   map[*entity.Job][]string // sites at which it started, n tasks each
	log     []string
}

func newVO(network *grid.Network) *vo {
	w := &vo{sim: des.New(des.Config{Seed: 5, Fingerprint: true}), runs: became{}, spent: map[*entity.Job]flow.Money{}, where: map[*entity.Job][]string{}}
	w.whole = metrics.NewRecorder()
	w.Grid = grid.NewGrid(w.sim, network, w.runs, w.whole)
	w.Log = func(n grid.Note) { w.log = append(w.log, n.String()) }
	return w
}

// add adds a domain of nodes of these performances and prices.
func (w *vo) add(t require.TestingT, policy entity.Policy, nodes ...entity.Node) *grid.ResourceAgent {
	var all []*entity.Node
	for i := range nodes {
		nodes[i].ID = i + 1
		all = append(all, &nodes[i])
	}
	d, err := plan.NewDomain(all, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	l := &flow.Ledger{}
	l.Tell = func(x flow.Transfer) {
		switch {
		case x.From.Kind == flow.UserAccount:
			w.spent[w.taskOf(x.Run)] += x.Amount
		case x.To.Kind == flow.UserAccount:
			w.spent[w.taskOf(x.Run)] -= x.Amount
		}
	}
	v := &validate.Validator{}
	name := fmt.Sprintf("domain-%d", len(w.domains))
	w.domains, w.ledgers, w.sites = append(w.domains, d), append(w.ledgers, l), append(w.sites, v)
	a := w.AddAgent(name, d, policy, l, v, starts{w, name})
	a.Scheduler().Cycle, a.Scheduler().LeaveWaiting = 50*des.Second, true
	return a
}

// taskOf is the job of the grid whose task this run is, by its number.
func (w *vo) taskOf(r *entity.Run) *entity.Job {
	for j := range w.runs {
		if j.ID == r.ID {
			return j
		}
	}
	return nil
}

// starts notes where jobs start with all their tasks.
type starts struct {
	w    *vo
	site string
}

func (s starts) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		j := s.w.taskOf(e.Run)
		s.w.where[j] = append(s.w.where[j], fmt.Sprintf("%s %d", s.site, e.Run.Request.Nodes))
	}
}

// run runs jobs, in turn by the brokers, and checks what must always hold.
func (w *vo) run(t require.TestingT, strategies []grid.Strategy, jobs ...*entity.Job) {
	for i, s := range strategies {
		w.AddBroker(fmt.Sprintf("broker-%d", i), s)
	}
	w.Submit(slices.Values(jobs), func(j *entity.Job) int { return int(j.ID) % len(strategies) })
	require.NoError(t, w.sim.Run(context.Background()))
	for _, j := range jobs {
		r := w.runs[j]
		require.LessOrEqual(t, w.spent[j].Units(), j.Request.BudgetLimit()+1e-6*float64(j.Request.Nodes), "%v", j)
		for _, at := range w.where[j] {
			require.Regexp(t, fmt.Sprintf(" %d$", j.Request.Nodes), at, "%v runs whole, at one site at a time", j)
		}
		switch r.State {
		case entity.Finished:
			require.NotEmpty(t, w.where[j])
			require.LessOrEqual(t, r.Finish, j.Request.DeadlineLimit())
			require.GreaterOrEqual(t, r.Start, j.Submit)
			require.Equal(t, r.Start, r.Reservation.Window.Start, "%v has what its tasks had", j)
			require.Len(t, r.Reservation.Window.Tasks, j.Request.Nodes)
		case entity.Rejected:
			require.NotEmpty(t, r.Reason)
			require.Zero(t, w.spent[j])
		case entity.Waiting: // in the queue of a site that cannot plan it any more
		default:
			require.Fail(t, "left over", "%v is %v", j, r.State)
		}
	}
	for i, l := range w.ledgers {
		require.NoError(t, l.Check())
		require.Zero(t, l.Total(flow.VOAccount), "nothing is left with the organisation")
		require.Equal(t, l.Total(flow.OwnerAccount), -l.Total(flow.UserAccount))
		report := w.sites[i].Report(true)
		if report.Unfinished == 0 {
			require.NoError(t, report.Err(), "%v", report)
		}
	}
}

func node(perf, price float64) entity.Node { return entity.Node{Perf: perf, Price: price} }

func priced(id int64, submit, length des.Time, nodes int, budget float64) *entity.Job {
	j := job(id, submit, length, nodes)
	j.Request.Budget = budget
	return j
}

// A job of 100 units on 1 node: 20 s for 80 on the fast domain, 50 s for 50 on
// the slow one.
func TestRoutersTakeWhatTheyPrefer(t *testing.T) {
	for name, want := range map[string]struct {
		make   grid.Strategy
		budget float64
		site   string
	}{
		"the cheapest":                      {&Sites{By: LeastCost, Reserve: true}, 0, "domain-1 1"},
		"the earliest":                      {&Sites{By: EarliestEnd, Reserve: true}, 0, "domain-0 1"},
		"the earliest within the budget":    {&Sites{By: EarliestEnd, Reserve: true}, 60, "domain-1 1"},
		"the earliest at exactly its price": {&Sites{By: EarliestEnd, Reserve: true}, 80, "domain-0 1"},
	} {
		w := newVO(direct())
		w.add(t, backfill.EASY{}, node(5, 4), node(5, 4))
		w.add(t, backfill.EASY{}, node(2, 1), node(2, 1))
		j := priced(1, 0, 100, 1, want.budget)
		w.run(t, []grid.Strategy{want.make}, j)
		require.Equal(t, []string{want.site}, w.where[j], name)
	}
}

func TestTheJobsOwnCriterionDecides(t *testing.T) {
	for _, c := range []struct {
		criterion entity.Criterion
		site      string
	}{
		{window.AEP{By: window.MinCost}, "domain-1 1"},
		{window.AEP{By: window.MinFinish}, "domain-0 1"},
		{window.Best{By: window.Q{}}, "domain-2 1"},
		{nil, "domain-0 1"},
	} {
		w := newVO(direct())
		w.add(t, backfill.EASY{}, node(5, 4))
		w.add(t, backfill.EASY{}, node(2, 1))
		w.add(t, backfill.EASY{}, entity.Node{Perf: 1, Price: 9, Q: 3})
		j := job(1, 0, 100, 1)
		j.Request.Criterion = c.criterion
		w.run(t, []grid.Strategy{&Sites{By: OwnCriterion, Reserve: true}}, j)
		require.Equal(t, []string{c.site}, w.where[j], "%v", c.criterion)
	}
}

func TestAJobThatNoSiteTakesIsRejectedWithTheReason(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(5, 4), node(5, 4))
	w.add(t, backfill.EASY{}, node(2, 1))
	wide, poor, late := job(1, 0, 100, 3), priced(2, 0, 100, 1, 49), job(3, 0, 100, 1)
	late.Request.Deadline = 19 * des.Second
	w.run(t, []grid.Strategy{&Sites{By: LeastCost, Reserve: true}}, wide, poor, late)
	require.Equal(t, "no site takes it: domain-0: wants 3 nodes of a domain of 2 (and 1 other sites)", w.runs[wide].Reason)
	require.Equal(t, "no site takes it: domain-0: its budget of 49 is below 80, the least that 1 nodes cost (and 1 other sites)", w.runs[poor].Reason)
	require.Contains(t, w.runs[late].Reason, "no site takes it: domain-0: ")
	for _, j := range []*entity.Job{wide, poor, late} {
		require.Equal(t, entity.Rejected, w.runs[j].State)
		require.Zero(t, w.runs[j].Finish)
	}
}

// The price rises while the offer is on its way: the reservation is refused, and
// the job goes where it can still pay.
func TestAnOfferWhosePriceHasRisenIsAskedForAgain(t *testing.T) {
	w := newVO(far(1))
	a := w.add(t, backfill.EASY{}, node(1, 1))
	w.add(t, backfill.EASY{}, node(1, 1.5))
	p := flow.NewPriceSchedule(w.domains[0], a.Scheduler())
	p.Submit(slices.Values([]flow.PriceChange{{Node: w.domains[0].Nodes()[0], At: 2 * des.Second, Price: 2}}))
	j := priced(1, 0, 100, 1, 150)
	w.run(t, []grid.Strategy{&Sites{By: LeastCost, Reserve: true}}, j)
	require.Equal(t, []string{"domain-1 1"}, w.where[j])
	require.EqualValues(t, 1, w.Stats().Conflicts)
	require.Equal(t, 150*flow.Money(1e6), w.spent[j])
}

// Two brokers want the only node at the same instant; the second one asks again.
func TestWhoComesTooLateAsksAgain(t *testing.T) {
	w := newVO(far(1))
	w.add(t, backfill.EASY{}, node(1, 1))
	a, b := job(0, 0, 10, 1), job(1, 0, 10, 1)
	w.run(t, []grid.Strategy{&Sites{By: EarliestEnd, Reserve: true}, &Sites{By: EarliestEnd, Reserve: true}}, a, b)
	require.Equal(t, 3*des.Second, w.runs[a].Start)
	require.Equal(t, 13*des.Second, w.runs[b].Start)
	require.EqualValues(t, 1, w.Stats().Conflicts)
	require.Zero(t, w.Stats().Interventions)
}

func TestTheRegulatorGoesByTheRoutersPreference(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(5, 4))
	w.add(t, backfill.EASY{}, node(2, 1))
	j := job(1, 0, 100, 1)
	w.run(t, []grid.Strategy{&stubborn{Sites: Sites{By: LeastCost, Reserve: true}}}, j)
	require.EqualValues(t, 1, w.Stats().Interventions)
	require.Equal(t, []string{"domain-1 1"}, w.where[j], "the cheapest, not the earliest end")
	require.Contains(t, w.log[len(w.log)-1], "1 tasks go to domain-1, from 0 to 50, the cheapest of 2")
}

// stubborn leaves every job to the regulator.
type stubborn struct{ Sites }

func (s *stubborn) Place(b *grid.Broker, j *entity.Job) { b.Intervene(j, j.Request.Nodes) }

// Another broker takes every offer before the router can: after so many tries the
// regulator has the site keep a window.
func TestAfterManyTriesAJobIsTheRegulators(t *testing.T) {
	w := newVO(far(1))
	a := w.add(t, backfill.EASY{}, node(1, 1))
	first := des.Second * 2 // the offer is made, and goes to the broker
	for k := range des.Time(2 * mostTries) {
		w.sim.At(first+k*4*des.Second, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) {
			if w.Stats().Interventions == 0 {
				a.Scheduler().Submit(job(-1, w.sim.Now()/des.Second, 2, 1))
			}
		}), 0)
	}
	j := job(1, 0, 10, 1)
	w.run2(t, &Sites{By: EarliestEnd, Reserve: true}, j)
	require.EqualValues(t, mostTries, w.Stats().Conflicts)
	require.EqualValues(t, 1, w.Stats().Interventions)
	require.Equal(t, entity.Finished, w.runs[j].State)
}

func TestTheRegulatorDoesNotCutARoutersJob(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(5, 4), node(5, 4))
	j := job(1, 0, 100, 3)
	w.run(t, []grid.Strategy{&stubborn{Sites: Sites{By: LeastCost, Reserve: true}}}, j)
	require.Equal(t, entity.Rejected, w.runs[j].State)
	require.Zero(t, w.Stats().Cut)
}

// An owner comes unannounced and takes the node: the job goes back into the
// site's queue, runs again, and is measured by its latest attempt.
func TestAJobThatAnOwnerStopsIsMeasuredByItsLatestAttempt(t *testing.T) {
	w := newVO(direct())
	a := w.add(t, backfill.EASY{}, node(1, 1))
	owners := flow.NewLocalFlow(w.domains[0], a.Scheduler())
	owners.Rule = flow.LocalPreempts
	owners.Submit(slices.Values([]flow.LocalJob{{Node: w.domains[0].Nodes()[0], Known: 10 * des.Second, Start: 10 * des.Second, Length: 30 * des.Second}}))
	j := job(1, 0, 50, 1)
	w.run(t, []grid.Strategy{&Sites{By: LeastSent}}, j)
	r := w.runs[j]
	require.Equal(t, []des.Time{40 * des.Second, 90 * des.Second}, []des.Time{r.Start, r.Finish})
	require.Len(t, r.Earlier(), 1)
	require.Equal(t, 40*des.Second, r.Wait())
	require.EqualValues(t, 1, w.Stats().Fragments, "it is one fragment still")
	w.whole.Processors = 1
	s := w.whole.Summary()
	require.Zero(t, s.Waiting)
	require.Equal(t, 1.8, s.MeanBoundedSlowdown, "90 over the 50 of its latest run")
	require.InDelta(t, 60.0/90, s.Utilization, 1e-12, "10 in vain and 50")
}

// Of powers 1 and 3, the second site gets three jobs of four; as soon as one has
// ended there is room for the next.
func TestTheFlowIsDividedByPower(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(1, 1))
	w.add(t, backfill.EASY{}, node(1, 1), node(2, 1))
	var jobs []*entity.Job
	for id := range int64(8) {
		jobs = append(jobs, job(id, 0, 100, 1))
	}
	jobs = append(jobs, job(8, 1000, 100, 1))
	w.run(t, []grid.Strategy{&Sites{By: LeastSent}}, jobs...)
	count := map[string]int{}
	for _, j := range jobs {
		count[w.where[j][0]]++
	}
	require.Equal(t, map[string]int{"domain-0 1": 2, "domain-1 1": 7}, count)
}

func TestAFullQueueSendsAJobToTheRegulator(t *testing.T) {
	w := newVO(direct())
	a := w.add(t, backfill.EASY{}, node(1, 1))
	a.QueueLimit = 1
	jobs := []*entity.Job{job(0, 0, 10, 1), job(1, 1, 10, 1), job(2, 2, 10, 1)}
	w.run(t, []grid.Strategy{&Sites{By: LeastSent}}, jobs...)
	require.EqualValues(t, 1, w.Stats().Interventions)
	require.Equal(t, entity.Finished, w.runs[jobs[2]].State)
}

// The deadline passes while the job waits in the site's queue.
func TestAJobThatMissesItsDeadlineInAQueueIsRejected(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(1, 1))
	long, short := job(1, 0, 100, 1), job(2, 1, 10, 1)
	short.Request.Deadline = 50 * des.Second
	w.run(t, []grid.Strategy{&Sites{By: LeastSent}}, long, short)
	require.Equal(t, entity.Rejected, w.runs[short].State)
	require.Contains(t, w.runs[short].Reason, "its deadline, 50, can no longer be met")
	require.Zero(t, w.Open())
}

// Clusters have no prices and no attributes; both kinds of sites serve one broker.
func TestClustersAndDomainsTogether(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(4, 4), node(4, 4))
	w.AddAgent("cluster", plan.NewCluster(8), backfill.EASY{}).Speed = 2
	free, fast, wide, picky := job(1, 0, 100, 2), job(2, 0, 100, 2), job(3, 0, 100, 4), job(4, 0, 100, 1)
	fast.Request.MinPerf = 3
	picky.Request.Needs = &entity.Attributes{Labels: map[string]string{"os": "linux"}}
	w.run2(t, &Sites{By: LeastCost, Reserve: true}, free, fast, wide, picky)
	require.Equal(t, 50*des.Second, w.runs[free].Finish, "on the cluster, which costs nothing")
	require.Equal(t, 25*des.Second, w.runs[fast].Finish, "the cluster is too slow for it")
	require.Equal(t, 50*des.Second, w.runs[wide].Finish)
	require.Contains(t, w.runs[picky].Reason, "only 0 of 2 meet its demands on performance, price and attributes")
	require.ErrorContains(t, w.Agents()[1].Fits(picky.Request), "wants nodes with attributes, and a cluster tells none")
}

// No criterion knows what a cluster's window is worth: the earliest end decides
// among all.
func TestWhereAClusterOffersTheEarliestEndDecides(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(1, 1))
	w.add(t, backfill.EASY{}, node(4, 8)) // dearer: by the criterion the first domain's is better
	w.AddAgent("cluster", plan.NewCluster(8), backfill.EASY{})
	j := job(1, 0, 100, 1)
	j.Request.Criterion = window.AEP{By: window.MinCost}
	w.run2(t, &Sites{By: OwnCriterion, Reserve: true}, j)
	require.Equal(t, 25*des.Second, w.runs[j].Finish)
}

// The node is busy; while the regulator asks for a window behind that, its price
// rises above what the job pays for one.
func TestTheRegulatorCommitsNothingAboveAPriceLimit(t *testing.T) {
	w := newVO(far(1))
	a := w.add(t, backfill.EASY{}, node(1, 1))
	p := flow.NewPriceSchedule(w.domains[0], a.Scheduler())
	p.Submit(slices.Values([]flow.PriceChange{{Node: w.domains[0].Nodes()[0], At: 3*des.Second + des.Tick, Price: 2}}))
	w.sim.At(0, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) { a.Scheduler().Submit(job(-1, 0, 50, 1)) }), 0)
	j := job(1, 0, 100, 1)
	j.Request.MaxPrice = 1.5
	w.run(t, []grid.Strategy{&stubborn{Sites: Sites{By: LeastCost, Reserve: true}}}, j)
	require.EqualValues(t, 1, w.Stats().Interventions)
	require.Equal(t, entity.Rejected, w.runs[j].State)
	require.Zero(t, w.spent[j])
}

// run2 is run without its checks of where jobs ran.
func (w *vo) run2(t require.TestingT, s grid.Strategy, jobs ...*entity.Job) {
	w.AddBroker("broker", s)
	w.Submit(slices.Values(jobs), func(*entity.Job) int { return 0 })
	require.NoError(t, w.sim.Run(context.Background()))
}

// A bag of tasks on domains: two tasks each, the best first.
func TestOARSplitsAmongDomains(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(1, 1), node(1, 1))
	w.add(t, backfill.EASY{}, node(2, 1), node(2, 1))
	j := priced(1, 0, 100, 3, 1000)
	w.run2(t, OAR{}, j)
	require.Equal(t, entity.Finished, w.runs[j].State)
	require.Equal(t, 100*des.Second, w.runs[j].Finish)
	require.Equal(t, []string{"domain-1 2", "domain-0 1"}, w.where[j])
}

// Among whatever sites, owners, prices and jobs: every job runs whole at one site
// or is rejected with a reason, within budget and deadline, and the money adds up.
func TestRoutersKeepBudgetsAndBalanceMoney(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
		n := direct()
		n.Default.Latency = des.Time(draw(0, 8, "latency")) * des.Second
		w := newVO(n)
		w.Expiry = des.Time(draw(1, 60, "expiry")) * des.Second
		for range draw(1, 4, "sites") {
			var nodes []entity.Node
			for range draw(1, 5, "nodes") {
				nodes = append(nodes, node(float64(draw(1, 4, "performance")), float64(draw(0, 6, "price"))))
			}
			local := []entity.Policy{backfill.EASY{}, backfill.Conservative{}, &cyclic.Policy{}}[draw(0, 2, "policy")]
			a := w.add(t, local, nodes...)
			d := w.domains[len(w.domains)-1]
			a.QueueLimit = draw(0, 3, "queue limit")
			owners := flow.NewLocalFlow(d, a.Scheduler())
			owners.Rule = []flow.LocalRule{flow.LocalWaits, flow.LocalPreempts}[draw(0, 1, "rule")]
			var own []flow.LocalJob
			var changes []flow.PriceChange
			at := des.Time(0)
			for range draw(0, 6, "own") {
				at += des.Time(draw(0, 40, "gap")) * des.Second
				own = append(own, flow.LocalJob{Node: d.Nodes()[draw(0, len(nodes)-1, "whose")], Known: at, Start: at + des.Time(draw(0, 20, "ahead"))*des.Second, Length: des.Time(draw(1, 40, "own length")) * des.Second})
				changes = append(changes, flow.PriceChange{Node: d.Nodes()[draw(0, len(nodes)-1, "repriced")], At: at, Price: float64(draw(0, 9, "new price"))})
			}
			owners.Submit(slices.Values(own))
			flow.NewPriceSchedule(d, a.Scheduler()).Submit(slices.Values(changes))
		}
		finders := []entity.Criterion{nil, window.AMP{}, window.AEP{By: window.MinCost}, window.AEP{By: window.MinFinish}, window.Best{By: window.DEP{}}, window.Cheapest{Goal: window.FirstFit}}
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range draw(1, 15, "jobs") {
			at += des.Time(draw(0, 10, "gap"))
			j := priced(int64(id), at, des.Time(draw(1, 60, "length")), draw(1, 4, "nodes"), float64(draw(0, 500, "budget")))
			j.Runtime = j.Request.Length * des.Time(draw(1, 10, "of its estimate")) / 10
			j.Request.Criterion = finders[draw(0, len(finders)-1, "criterion")]
			if draw(0, 2, "hurry") == 0 {
				j.Request.Deadline = j.Submit + des.Time(draw(1, 200, "deadline"))*des.Second
			}
			jobs = append(jobs, j)
		}
		var strategies []grid.Strategy
		for range draw(1, 3, "brokers") {
			strategies = append(strategies, []grid.Strategy{&Sites{By: LeastCost, Reserve: true}, &Sites{By: EarliestEnd, Reserve: true}, &Sites{By: OwnCriterion, Reserve: true}, &Sites{By: LeastSent}}[draw(0, 3, "strategy")])
		}
		w.run(t, strategies, jobs...)
	})
}

// A cluster's plan knows no deadlines: its agent does.
func TestAClusterOffersNothingAfterTheDeadline(t *testing.T) {
	for name, s := range map[string]grid.Strategy{"asked for": &Sites{By: EarliestEnd, Reserve: true}, "kept": &stubborn{Sites: Sites{By: EarliestEnd, Reserve: true}}} {
		w := newVO(direct())
		w.AddAgent("cluster", plan.NewCluster(1), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 50, 1))
		late, inTime := job(1, 0, 10, 1), job(2, 0, 10, 1)
		late.Request.Deadline, inTime.Request.Deadline = 59*des.Second, 60*des.Second
		w.run2(t, s, late, inTime)
		require.Equal(t, entity.Rejected, w.runs[late].State, name)
		require.Equal(t, entity.Finished, w.runs[inTime].State, name)
		require.Zero(t, w.Stats().Conflicts, "nothing is offered that is refused then")
	}
}

func TestWhatHasEndedIsNoLongerToDo(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(1, 1))
	w.add(t, backfill.EASY{}, node(1, 1))
	first, later := job(1, 0, 100, 1), job(2, 200, 10, 1)
	w.run(t, []grid.Strategy{&Sites{By: LeastSent}}, first, later)
	require.Equal(t, w.where[first], w.where[later], "of equals the first site")
}

// Of two nodes the fast one is free again after half the time.
func TestTheTasksOfAWholeJobCountUntilTheirOwnEnds(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(1, 1), node(2, 1))
	w.run(t, []grid.Strategy{&Sites{By: EarliestEnd, Reserve: true}}, job(1, 0, 100, 2))
	w.whole.Processors = 2
	require.InDelta(t, 0.75, w.whole.Summary().Utilization, 1e-12)
}
