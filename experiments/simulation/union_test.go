package simulation

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// domainsOf are the domains that each job's windows had nodes of.
type domainsOf map[int64]map[string]bool

func (d domainsOf) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobStarted {
		return
	}
	if d[e.Run.ID] == nil {
		d[e.Run.ID] = map[string]bool{}
	}
	for _, t := range e.Run.Reservation.Window.Tasks {
		d[e.Run.ID][t.Node.Labels["domain"]] = true
	}
}

// threeDomains is a union whose owners preempt in one domain only.
func threeDomains() *Domain {
	member := func(name string, rule flow.LocalRule) DomainSite {
		return DomainSite{Name: name, Domain: &Domain{
			Generate: vo.Nodes{Count: 8}, Cycle: 600 * des.Second, Local: &LocalJobs{Rule: rule, Load: &vo.Load{}, Cycles: 4},
		}}
	}
	return &Domain{
		Union: []DomainSite{member("a", flow.LocalWaits), member("b", flow.LocalPreempts), member("c", flow.LocalWaits)},
		Cycle: 600 * des.Second, Batches: &vo.Batches{Batch: vo.Batch{Jobs: 15}, Cycles: 3, Users: 3}, Criteria: []string{"min-cost", "square-dep", "min-start"},
	}
}

func TestWindowsSpanDomainsOnlyWhereTheyMay(t *testing.T) {
	for _, spec := range []string{"css", "batch-slicer:k=3", "bsf:k=2", "easy", "conservative:finder=min-finish"} {
		for suffix, may := range map[string]bool{"": true, ":within=domain": false} {
			seen, check := domainsOf{}, &validate.Validator{}
			sc := New()
			sc.Machine, sc.Policies = threeDomains(), []string{spec + suffix}
			out, err := Run(context.Background(), sc, Options{Observers: func(string, string) []entity.Observer { return []entity.Observer{seen, check} }})
			require.NoError(t, err)
			require.Equal(t, 45, out.Results[0].Summary.Jobs)
			if out.Results[0].Summary.Waiting == 0 {
				require.NoError(t, check.Report(true).Err())
			}
			require.Greater(t, len(seen), 35)
			spans := 0
			for _, domains := range seen {
				if len(domains) > 1 {
					spans++
				}
			}
			require.Equal(t, may, spans > 0, "%s%s: %d of %d jobs span domains", spec, suffix, spans, len(seen))
		}
	}
}

// A job's own search keeps to one domain, too, under a policy that asks the plan.
func TestAJobsOwnSearchKeepsToADomain(t *testing.T) {
	for suffix, want := range map[string]int{"": 2, ":within=domain": 1} {
		seen := domainsOf{}
		sc := New()
		d := &Domain{Cycle: 600 * des.Second}
		for _, name := range []string{"a", "b"} {
			nodes := []entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 1, Price: 3}}
			d.Union = append(d.Union, DomainSite{Name: name, Domain: &Domain{Nodes: nodes, Cycle: d.Cycle}})
		}
		sc.Machine, sc.Policies = d, []string{"easy" + suffix}
		sc.Workload.Jobs = func(uint64) (entity.Source, error) {
			return &list{jobs: []entity.Job{{ID: 1, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 2, Length: 10 * des.Second, Criterion: window.AEP{By: window.MinCost}}}}}, nil
		}
		_, err := Run(context.Background(), sc, Options{Observers: func(string, string) []entity.Observer { return []entity.Observer{seen} }})
		require.NoError(t, err)
		require.Len(t, seen[1], want, "the cheapest nodes are one in each domain%s", suffix)
	}
}

func TestAUnionsDomainsKeepTheirOwn(t *testing.T) {
	d := &Domain{Cycle: 100 * des.Second, Union: []DomainSite{
		{Name: "a", Domain: &Domain{Cycle: 100 * des.Second, Nodes: []entity.Node{{ID: 7, Perf: 2}}, Prices: []flow.NodePrice{{Node: 7, At: 50, Price: 3}},
			Local: &LocalJobs{Listed: []LocalJob{{7, 0, 10, 5}}}}},
		{Name: "b", Domain: &Domain{Cycle: 100 * des.Second, Nodes: []entity.Node{{ID: 7, Perf: 3}, {ID: 4, Perf: 4}}, Prices: []flow.NodePrice{{Node: 4, At: 20, Price: 9}},
			Local: &LocalJobs{Rule: flow.LocalPreempts, Listed: []LocalJob{{4, 0, 1, 5}}}}},
	}}
	p, err := d.parts(1, 0)
	require.NoError(t, err)
	require.Len(t, p.nodes, 3)
	for i, want := range []struct {
		id     int
		perf   float64
		domain string
	}{{1, 2, "a"}, {2, 3, "b"}, {3, 4, "b"}} {
		require.Equal(t, want.id, p.nodes[i].ID)
		require.Equal(t, want.perf, p.nodes[i].Perf)
		require.Equal(t, want.domain, p.nodes[i].Labels["domain"])
	}
	require.Equal(t, []flow.NodePrice{{Node: 3, At: 20, Price: 9}, {Node: 1, At: 50, Price: 3}}, p.prices)
	for i, want := range []struct {
		rule flow.LocalRule
		jobs []LocalJob
	}{{flow.LocalWaits, []LocalJob{{1, 0, 10, 5}}}, {flow.LocalPreempts, []LocalJob{{3, 0, 1, 5}}}} {
		require.Equal(t, want.rule, p.local[i].rule)
		var jobs []LocalJob
		for l, err := range p.local[i].jobs {
			require.NoError(t, err)
			jobs = append(jobs, l)
		}
		require.Equal(t, want.jobs, jobs)
	}
	require.Len(t, p.local, 2)
	require.Nil(t, d.Union[0].Nodes[0].Labels, "the description is left as it was")
}

func TestUnionsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"union: [{generate: {count: 3}}]\ncycle: 10\ngenerate: {count: 3}\nbatches: {}":               "line 3, column 11: generate: each domain of the union has its own",
		"union: [{generate: {count: 3}, policy: easy}]\ncycle: 10\nbatches: {}":                       "all domains of a union are planned together",
		"union: [{generate: {count: 3}, queue_limit: 3}]\ncycle: 10\nbatches: {}":                     "have one queue",
		"union: [{generate: {count: 3}, criteria: [amp]}]\ncycle: 10\nbatches: {}":                    "write it beside union",
		"union: [{name: a, generate: {count: 3}}, {name: a, generate: {count: 3}}]\ncycle: 10":        `two domains are called "a"`,
		"union: [{generate: {count: 3}}]\nbatches: {}":                                                "cycle: want a length",
		"union: [{generate: {count: 3}}]\ncycle: 10\npolicies: ['css:within=']\nbatches: {}":          `within is "": want the name of a label`,
		"union: [{generate: {count: 3}, union: [{generate: {count: 3}}]}]\ncycle: 10\nbatches: {}":    `there is no key "union"`,
		"union: [{generate: {count: 3}}]\nclusters: [{processors: 4}]\ncycle: 10\nbatches: {jobs: 1}": "describe one machine",
	} {
		r := &reader{tables: Standard(), sc: New(), nodes: map[int]bool{}}
		err := r.read([]byte(text))
		require.Error(t, err, text)
		require.ErrorContains(t, faultIn(r.file, err), want, text)
	}
}

// Listed jobs come before those that are generated for the same instant, and what is drawn is
// the same each time.
func TestOwnersJobsComeInTheOrderInWhichTheyBecomeKnown(t *testing.T) {
	first, second := LocalJob{1, 0, 3, 5}, LocalJob{2, 600 * des.Second, 700 * des.Second, 5}
	between, last := LocalJob{1, 10, 20, 5}, LocalJob{2, 5000 * des.Second, 6000 * des.Second, 5}
	d := &Domain{Cycle: 600 * des.Second, Nodes: []entity.Node{{ID: 1, Perf: 2}, {ID: 2, Perf: 3}},
		Local: &LocalJobs{Listed: []LocalJob{last, second, between, first}, Load: &vo.Load{}, Cycles: 2}}
	p, err := d.parts(1, 0)
	require.NoError(t, err)
	drawn := func() (all []LocalJob) {
		for l, err := range p.local[0].jobs {
			require.NoError(t, err)
			all = append(all, l)
		}
		return all
	}
	all := drawn()
	require.True(t, slices.IsSortedFunc(all, func(a, b LocalJob) int { return cmp.Compare(a.Known, b.Known) }))
	require.Equal(t, first, all[0])
	require.Equal(t, last, all[len(all)-1])
	i, j := slices.Index(all, between), slices.Index(all, second)
	require.Greater(t, i, 1, "behind the generated jobs of the first cycle")
	require.Equal(t, i+1, j, "in front of the generated jobs of the second cycle")
	require.Greater(t, len(all), j+2)
	require.Equal(t, all, drawn())
}

func TestOwnersJobsThatFindNoPlaceEndTheRun(t *testing.T) {
	d := &Domain{Cycle: 100 * des.Second, Nodes: []entity.Node{{ID: 1, Perf: 2}},
		Local:   &LocalJobs{Load: &vo.Load{Level: vo.HypergeometricLevel{Lo: 9, Hi: 9}, Task: vo.Range{Min: 30, Max: 30}}},
		Batches: &vo.Batches{Batch: vo.Batch{Jobs: 1}, Cycles: 1}}
	sc := &Scenario{Machine: d, Policies: []string{"easy"}}
	_, err := Run(context.Background(), sc, Options{})
	require.ErrorContains(t, err, "local: local load: no place for tasks of 30 to 30 units")
}
