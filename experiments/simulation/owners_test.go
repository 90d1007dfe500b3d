package simulation

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/window"
)

// ownedNodes are nodes of two owners, with a label that keeps jobs to them.
func ownedNodes(kind string, count int) (all []entity.Node) {
	for i := range count {
		labels := map[string]string{"kind": kind, flow.OwnerLabel: string("xy"[i%2])}
		all = append(all, entity.Node{ID: i + 1, Perf: float64(1 + i%3), Price: float64(2 + i), Attributes: entity.Attributes{Labels: labels}})
	}
	return all
}

// keptTo are jobs of one user that look for the cheapest nodes of that kind.
func keptTo(kind string, from int64, seed uint64) (all []entity.Job) {
	random := des.NewStream(seed, 0, "test")
	for i := range int64(60) {
		length := des.Time(random.IntN(200)+20) * des.Second
		all = append(all, entity.Job{ID: from + i, User: 1, Submit: des.Time(random.IntN(4000)) * des.Second, Runtime: length / des.Time(1+random.IntN(2)),
			Request: entity.Request{Nodes: 1 + random.IntN(3), Length: length, Criterion: window.AEP{By: window.MinCost}, Needs: &entity.Attributes{Labels: map[string]string{"kind": kind}}}})
	}
	slices.SortStableFunc(all, func(a, b entity.Job) int { return int((a.Submit - b.Submit) / des.Second) })
	return all
}

// starts are when each job began, and on which nodes, by ID less a number.
type starts struct {
	less map[string]int // by kind
	of   map[int64]string
}

func (s *starts) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobStarted {
		return
	}
	text := fmt.Sprint(e.Time)
	for _, t := range e.Run.Reservation.Window.Tasks {
		text += fmt.Sprintf(" %d", t.Node.ID-s.less[t.Node.Labels["kind"]])
	}
	s.of[e.Run.ID] = fmt.Sprintf("%s for %.6f", text, e.Run.Reservation.Window.Cost)
}

// tables have what the tests add.
func tables() *Tables {
	return NewTables(
		policy.Table[entity.Policy]{{Name: "greedy", New: func(*policy.Args) entity.Policy { return greedy{} }}}, nil, nil,
		policy.Table[func() grid.Strategy]{{Name: "to-regulator", New: func(*policy.Args) func() grid.Strategy { return func() grid.Strategy { return toRegulator{} } }}}, nil)
}

// simulate runs jobs on a machine under a policy into a folder.
func simulate(t *testing.T, m Machine, name, dir string, seen *starts, jobs ...[]entity.Job) *Result {
	t.Helper()
	all := slices.Concat(jobs...)
	slices.SortStableFunc(all, func(a, b entity.Job) int { return int((a.Submit - b.Submit) / des.Second) })
	sc := New()
	sc.Machine, sc.Policies = m, []string{name}
	sc.Workload.Jobs = func(uint64) (entity.Source, error) { return &list{jobs: slices.Clone(all)}, nil }
	o := Options{Dir: dir, Tables: tables()}
	if seen != nil {
		o.Observers = func(string, string) []entity.Observer { return []entity.Observer{seen} }
	}
	out, err := Run(context.Background(), sc, o)
	require.NoError(t, err)
	return out.Results[0]
}

func fileRows(t *testing.T, dir, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows
}

// greedy starts whatever fits now. So a job's window depends on what is free in its
// own domain alone, and something that becomes free there is seen at once, with or
// without other domains. Policies that plan ahead plan anew at other instants where
// there are more domains, and may find something else.
type greedy struct{}

func (greedy) Name() string { return "greedy" }

func (greedy) Schedule(r *entity.Round) {
	for _, j := range slices.Collect(r.Waiting()) {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

func TestAUnionOfDomainsWithRulesAndQueuesIsEachDomainAlone(t *testing.T) {
	cycle := 300 * des.Second
	for _, rule := range []flow.LocalRule{flow.LocalWaits, flow.LocalPreempts} {
		var own []OwnJob
		for i := range 40 {
			length := des.Time(20+7*(i%5)) * des.Second
			own = append(own, OwnJob{string("xy"[i%2]), entity.Job{User: -1, Submit: des.Time(i*97) * des.Second, Runtime: length, Request: entity.Request{Nodes: 1 + i%2, Length: length}}})
		}
		a := &Domain{Cycle: cycle, Interval: 1500 * des.Second, Nodes: ownedNodes("a", 5), PriceRules: &PriceRules{Rules: []NodeRule{
			{Rule: flow.ByUse{Target: 0.4, Step: 0.5}}, {Owner: "y", Nodes: []int{4}, Rule: flow.BySeason{Period: 1200 * des.Second, Factors: []float64{1, 3}}},
		}}}
		b := &Domain{Cycle: cycle, Interval: 1500 * des.Second, Nodes: ownedNodes("b", 6), Prices: []flow.NodePrice{{Node: 2, At: 700 * des.Second, Price: 0.5}},
			Local: &LocalJobs{Rule: rule, Queue: &LocalQueues{Policy: "easy", Listed: own}}}
		union := &Domain{Cycle: cycle, Interval: 1500 * des.Second, Union: []DomainSite{{Name: "one", Domain: a}, {Name: "two", Domain: b}}}
		jobsA, jobsB := keptTo("a", 1, 1), keptTo("b", 101, 2)

		together, alone := &starts{map[string]int{"b": 5}, map[int64]string{}}, &starts{nil, map[int64]string{}}
		dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
		all := simulate(t, union, "greedy", dirs[0], together, jobsA, jobsB)
		ra := simulate(t, a, "greedy", dirs[1], alone, jobsA)
		rb := simulate(t, b, "greedy", dirs[2], alone, jobsB)
		require.Len(t, alone.of, 120)
		require.Equal(t, alone.of, together.of)

		qualified := func(domain string, all []rows.Owner) (named []rows.Owner) {
			for _, r := range all {
				r.Name = domain + "/" + r.Name
				named = append(named, r)
			}
			return named
		}
		require.Equal(t, slices.Concat(qualified("one", ra.Owners), qualified("two", rb.Owners)), all.Owners)
		require.Equal(t, []int{20, 20}, []int{all.Owners[2].LocalStarted, all.Owners[3].LocalStarted})
		require.Zero(t, all.Owners[0].LocalStarted, "the queue of x in the other domain is not that of x here")
		require.Equal(t, rule == flow.LocalPreempts, all.Owners[2].Preempted+all.Owners[3].Preempted > 0)

		var want [][]string
		for _, row := range fileRows(t, dirs[1], "prices-greedy.csv")[1:] {
			want = append(want, []string{row[0], row[1], "one/" + row[2], row[3]})
		}
		var got [][]string
		for _, row := range fileRows(t, dirs[0], "prices-greedy.csv")[1:] {
			if strings.HasPrefix(row[2], "one/") {
				got = append(got, row)
			} else {
				require.Equal(t, "0", row[0], "nothing prices the other domain's nodes anew")
			}
		}
		require.Greater(t, len(want), 20)
		// Jobs of the other domain may keep the clock going after the last one here.
		require.GreaterOrEqual(t, len(got), len(want))
		require.Equal(t, want, got[:len(want)])
	}
}

func TestAUnionKeepsEachMembersRules(t *testing.T) {
	member := func(every des.Time, patient bool) *Domain {
		return &Domain{Cycle: 100 * des.Second, Nodes: ownedNodes("k", 2), PriceRules: &PriceRules{Every: every, Patient: patient, Rules: []NodeRule{{Owner: "x", Rule: flow.ByUse{}}}}}
	}
	union := &Domain{Cycle: 100 * des.Second, Union: []DomainSite{{Domain: member(0, false)}, {Domain: member(50, true)}}}
	p, err := union.parts(1, 0)
	require.NoError(t, err)
	require.Equal(t, []pricingOf{{100 * des.Second, flow.ByUse{}}, {100 * des.Second, nil}, {50, flow.ByUse{}}, {50, nil}}, p.rules)
	require.Equal(t, []string{"domain-1/x", "domain-1/y", "domain-2/x", "domain-2/y"}, owners(p.nodes))
	require.Equal(t, "x", union.Union[0].Nodes[0].Labels[flow.OwnerLabel], "the description is left as it was")
	d, err := p.plan(nil)
	require.NoError(t, err)
	require.True(t, d.PricesChange, "jobs may become affordable in one of the domains")
	require.True(t, union.pricesVary())

	union.Union[1].Name = "domain-1"
	_, err = union.parts(1, 0)
	require.ErrorContains(t, err, `two domains are called "domain-1"`)
	union.Union[1].Name = "a/b"
	_, err = union.parts(1, 0)
	require.ErrorContains(t, err, `"a/b" has a /`)
}

// A site that nobody asks does nothing. Its prices are those of the hour when it is
// asked again.
func TestASiteOffersAtThePricesOfTheHour(t *testing.T) {
	nodes := []entity.Node{{ID: 1, Perf: 1, Price: 1}}
	season := flow.BySeason{Period: 1000 * des.Second, Factors: []float64{1, 3}}
	g := &Grid{Domains: []DomainSite{{Name: "site", Domain: &Domain{Cycle: 100 * des.Second, Nodes: nodes, PriceRules: &PriceRules{Rules: []NodeRule{{Rule: season}}}}}}, Network: Network{Latency: 1}}
	jobs := []entity.Job{
		{ID: 1, User: 1, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 1, Length: 10 * des.Second}},
		{ID: 2, User: 1, Submit: 7550 * des.Second, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 1, Length: 10 * des.Second, Budget: 29}},
		{ID: 3, User: 1, Submit: 17550 * des.Second, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 1, Length: 10 * des.Second, Budget: 30}},
		{ID: 4, User: 1, Submit: 27050 * des.Second, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 1, Length: 10 * des.Second, Budget: 15}},
	}
	for _, strategy := range []string{"cheapest", "distributed", "to-regulator"} {
		dir := t.TempDir()
		simulate(t, g, strategy, dir, nil, jobs)
		costs := map[string]string{}
		for _, row := range fileRows(t, dir, "tasks-"+strategy+".csv")[1:] {
			costs[row[1]] = row[7]
		}
		require.Equal(t, map[string]string{"1": "10.000000", "3": "30.000000", "4": "10.000000"}, costs, "%s: the second job is too poor for the afternoon", strategy)
	}
}

func TestOwnersOfSitesMayHaveAnyName(t *testing.T) {
	const name = `Smith, "Bob" & Sons`
	nodes := []entity.Node{{ID: 1, Perf: 2, Price: 1, Attributes: entity.Attributes{Labels: map[string]string{flow.OwnerLabel: name}}}}
	own := []OwnJob{{name, entity.Job{User: -1, Submit: 5 * des.Second, Runtime: 8 * des.Second, Request: entity.Request{Nodes: 1, Length: 10 * des.Second}}}}
	g := &Grid{Domains: []DomainSite{{Name: "site", Domain: &Domain{Cycle: 100 * des.Second, Nodes: nodes, Local: &LocalJobs{Queue: &LocalQueues{Listed: own}}}}}}
	slow := []entity.Node{{ID: 1, Perf: 1, Price: 1}}
	g.Domains = append(g.Domains, DomainSite{Name: "priced", Domain: &Domain{Cycle: 100 * des.Second, Nodes: slow, PriceRules: &PriceRules{Rules: []NodeRule{{Rule: flow.ByUse{}}}}}})
	dir := t.TempDir()
	simulate(t, g, "distributed", dir, nil, []entity.Job{{ID: 1, User: 1, Runtime: 16 * des.Second, Request: entity.Request{Nodes: 1, Length: 16 * des.Second, MinPerf: 2}}})
	for _, row := range fileRows(t, dir, "prices-distributed.csv")[1:] {
		require.Equal(t, "priced", row[0], "the other site has no rules")
	}
	require.Equal(t, []string{"site", "1", "5", "8", "12", name, "1"}, fileRows(t, dir, "local-distributed.csv")[1])
	row := fileRows(t, dir, "owners-distributed.csv")[1]
	require.Equal(t, []string{"site", name, "1"}, row[:3])
	income, err := strconv.ParseFloat(row[3], 64)
	require.NoError(t, err)
	require.Equal(t, 8.0, income)
}

// toRegulator leaves all jobs to the regulator.
type toRegulator struct{}

func (toRegulator) Name() string                        { return "to-regulator" }
func (toRegulator) Place(b *grid.Broker, j *entity.Job) { b.Intervene(j, j.Request.Nodes) }
func (toRegulator) Done(*grid.Broker, *grid.Fragment)   {}

func TestAnOwnersJobAtASiteThatWasNotTakenNeedNotWait(t *testing.T) {
	g := &Grid{Network: Network{Latency: 10}}
	for range 2 {
		own := []OwnJob{{"o", entity.Job{User: -1, Submit: 25 * des.Second, Runtime: 5 * des.Second, Request: entity.Request{Nodes: 1, Length: 5 * des.Second}}}}
		nodes := []entity.Node{{ID: 1, Perf: 1, Attributes: entity.Attributes{Labels: map[string]string{flow.OwnerLabel: "o"}}}}
		g.Domains = append(g.Domains, DomainSite{Domain: &Domain{Cycle: 5000 * des.Second, Nodes: nodes, Local: &LocalJobs{Queue: &LocalQueues{Listed: own}}}})
	}
	dir := t.TempDir()
	simulate(t, g, "to-regulator", dir, nil, []entity.Job{{ID: 1, Runtime: 1000 * des.Second, Request: entity.Request{Nodes: 1, Length: 1000 * des.Second}}})
	var began []string
	for _, row := range fileRows(t, dir, "local-to-regulator.csv")[1:] {
		began = append(began, row[0]+" "+row[3])
	}
	require.Equal(t, []string{"domain-2 40", "domain-1 1040"}, began)
}
