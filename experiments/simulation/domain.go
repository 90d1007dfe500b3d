package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// Domain is a machine: the priced nodes of a virtual organisation, on which jobs are planned by the
// cycle. Nodes, prices and owners' jobs that are generated are drawn for every call of Run, from
// the seed; all policies of the call get the same.
type Domain struct {
	// Union, if it is not empty, lists the domains of which this domain consists. The nodes are
	// numbered from 1 through all domains, and have the label "domain" with the name of their
	// domain. Owner a of domain d is called "d/a". Nodes, Generate, Prices, PriceRules and Local of
	// the union itself do not count: each domain has its own.
	Union []DomainSite
	// Nodes are the nodes of the domain. If there are none, Generate makes them.
	Nodes    []entity.Node
	Generate vo.Nodes
	// Prices are changes of nodes' prices, in any order.
	Prices []flow.NodePrice
	// PriceRules make prices react to sales; nil if prices do not react.
	PriceRules *PriceRules
	Local      *LocalJobs // of the owners, or nil
	// Cycle is the time between two plans, above 0: jobs that wait are planned at its multiples.
	Cycle des.Time
	// Interval is the time ahead of a planning instant up to which it looks for windows; 0
	// means a cycle.
	Interval des.Time
	// PayByUse makes users pay for the time that they use, not for the time that they reserve.
	PayByUse bool
	Batches  *vo.Batches // jobs where no trace is given, or nil; their Cycle is the domain's
	// Pricing says how a trace's jobs become priced requests. Jobs of other workloads state their
	// own.
	Pricing vo.Priced
	// Criteria are searches for windows by name, by which the jobs of each user are planned: user u
	// has the search at u modulo their number. None leaves the search to the policy.
	Criteria []string
}

// LocalJobs are the owners' own jobs. Without a Queue they come at fixed times: the Listed jobs
// and, with a Load, generated jobs for each of Cycles cycles, which become known at the beginning
// of their cycle. With a Queue all of them come to queues, and none at a fixed time.
type LocalJobs struct {
	// Rule says whether an owner's job waits for the organisation's job on its node or stops it.
	Rule   flow.LocalRule
	Listed []LocalJob
	Load   *vo.Load
	Cycles int // 0 means 1
	// Queue has queues to which the owners' jobs come instead; nil if they come at fixed times.
	Queue *LocalQueues
}

// LocalJob is an owner's job at a fixed time: it needs its node from Start on for Length, and the
// organisation knows of it from Known on. Invariant: Length > 0.
type LocalJob struct {
	Node                 int // ID
	Known, Start, Length des.Time
}

// defaultNodePolicies are run where neither the call nor the file names any.
var defaultNodePolicies = []string{"css", "batch-slicer:k=5:shift=end", "bsf:k=5", "easy"}

// Kind implements Machine.
func (*Domain) Kind() string { return "domain" }

func (*Domain) names(sc *Scenario, t *Tables) ([]policyName, error) {
	if len(sc.Policies) == 0 {
		return names(t.Nodes, defaultNodePolicies, sc.defaults())
	}
	return names(t.Nodes, sc.Policies, sc.defaults())
}

// check refuses settings that mean nothing on a domain. The last case only arises with a trace or a
// program's jobs: overrun is one of the settings that needsTrace refuses.
func (d *Domain) check(sc *Scenario) error {
	switch {
	case sc.Workload.Options.Procs != 0:
		return wrong("procs", "the machine is the nodes of the domain")
	case !(d.Cycle > 0):
		return errors.New("a domain needs a cycle, a length above 0")
	case sc.Workload.Trace == "" && sc.Workload.Jobs == nil:
		if d.Batches == nil {
			return errors.New("no jobs: give a TRACE, or batches in the file")
		}
		return sc.needsTrace()
	case sc.Workload.Options.Overrun == entity.OverrunExtend:
		return wrong("overrun", "extend: on the nodes of a domain a job is always cut at the end of its reservation")
	}
	return nil
}

// drawnDomain is a domain with the nodes, prices and owners that were drawn for a call. All
// policies run on it, side by side, so it does not change; plan makes nodes of its own for each
// run.
type drawnDomain struct {
	*Domain
	nodes  []entity.Node
	index  map[int]int   // position by ID
	local  []ownersJobs  // of a union one each
	queues []ownersQueue // in the order of the owners' first nodes
	// rules has one for each node, by position; an empty one for a node whose price does not react.
	// Invariant: len(rules) == len(nodes).
	rules    []pricingOf
	patient  bool             // jobs wait for cheaper days
	outages  *outages         // or nil
	prices   []flow.NodePrice // in order of time
	criteria []plan.Finder
}

// ownersJobs are those of owners who keep one rule.
type ownersJobs struct {
	rule flow.LocalRule
	// jobs yields the jobs in the order in which they become known. An error ends them. Generated
	// jobs are drawn as they are asked for, the same ones each time, so that a run of many cycles
	// holds the jobs of one cycle in memory.
	jobs iter.Seq2[LocalJob, error]
}

// some reports whether there are any jobs.
func (o ownersJobs) some() bool {
	for range o.jobs {
		return true
	}
	return false
}

// prepare draws the domain, and the batches if there are no other jobs.
func (d *Domain) prepare(c *call) (runner, error) {
	p, err := d.parts(c.Settings.Seed, c.Settings.Replication)
	if err != nil {
		return nil, err
	}
	if p.criteria, err = criteria(c.tables, d.Criteria); err != nil {
		return nil, err
	}
	if p.outages, err = c.outages(0, p.nodes); err != nil {
		return nil, err
	}
	if c.jobs == nil {
		batches, err := drawBatches(*d.Batches, c.Settings.Seed, d.Cycle)
		if err != nil {
			return nil, err
		}
		c.jobs = inMemory(c.base, batches)
	}
	// The job file requests.csv gets the jobs with their prices, so that a run of it needs no log.
	c.requests = func() (reading, error) {
		from, err := c.jobs.open()
		if err != nil {
			return nil, err
		}
		return p.priced(c, from)
	}
	if p.preempts() {
		c.needsAttempts()
	}
	c.nodes = []metrics.SiteNodes{{Site: siteOf(""), Nodes: p.nodes}}
	return func(ctx context.Context, r *policyRun) (*Result, error) { return p.run(ctx, c, r) }, nil
}

// parts draws all that is drawn of a domain: nodes, owners' jobs and price rules. Outages and
// criteria are the caller's: on a grid they are of all sites.
func (d *Domain) parts(seed, replication uint64) (*drawnDomain, error) {
	if len(d.Union) > 0 {
		return d.union(seed, replication)
	}
	nodes, err := d.ownNodes(seed, replication)
	if err != nil {
		return nil, err
	}
	p := &drawnDomain{Domain: d, nodes: nodes, index: map[int]int{}}
	for i, n := range p.nodes {
		p.index[n.ID] = i
	}
	return p, p.draw(seed)
}

// union draws the domains of a union, each from a seed of its own, and joins them.
func (d *Domain) union(seed, replication uint64) (*drawnDomain, error) {
	all := &drawnDomain{Domain: d, index: map[int]int{}}
	for i, member := range d.members() {
		if slices.ContainsFunc(d.members()[:i], func(m DomainSite) bool { return m.Name == member.Name }) {
			return nil, fmt.Errorf("union: two domains are called %q", member.Name)
		}
		if err := checkMember(member.Name); err != nil {
			return nil, fmt.Errorf("union: %w", err)
		}
		p, err := member.parts(siteSeed(seed, replication, i), replication)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member.Name, err)
		}
		// Nodes get new numbers, from 1 on through all domains, and the labels of the union.
		before := len(all.nodes)
		number := func(id int) int { return before + p.index[id] + 1 }
		for _, n := range p.nodes {
			n.ID = number(n.ID)
			n.Labels = maps.Clone(n.Labels)
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[domainLabel] = member.Name
			if owner := n.Labels[flow.OwnerLabel]; owner != "" {
				n.Labels[flow.OwnerLabel] = member.owner(owner)
			}
			all.index[n.ID] = len(all.nodes)
			all.nodes = append(all.nodes, n)
		}
		// Whatever names a node of the domain names it by the new number, and owners by their new
		// names.
		for _, own := range p.local {
			all.local = append(all.local, ownersJobs{own.rule, func(yield func(LocalJob, error) bool) {
				for l, err := range own.jobs {
					if err == nil {
						l.Node = number(l.Node)
					}
					if !yield(l, err) {
						return
					}
				}
			}})
		}
		for _, x := range p.prices {
			x.Node = number(x.Node)
			all.prices = append(all.prices, x)
		}
		for _, q := range p.queues {
			q.owner = member.owner(q.owner)
			all.queues = append(all.queues, q)
		}
		all.rules = append(all.rules, p.rules...)
		all.patient = all.patient || p.patient
	}
	slices.SortStableFunc(all.prices, func(a, b flow.NodePrice) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}

// members returns the domains of a union, each with a name.
func (d *Domain) members() []DomainSite {
	all := slices.Clone(d.Union)
	for i := range all {
		all[i].Name = cmp.Or(all[i].Name, fmt.Sprintf("domain-%d", i+1))
	}
	return all
}

// checkMember refuses names of a union's domains by which owners could be confused: domain "a/b"
// with owner "c", and domain "a" with owner "b/c".
func checkMember(name string) error {
	if strings.Contains(name, "/") {
		return fmt.Errorf("name: %q has a /, which stands between a domain's name and that of an owner", name)
	}
	return nil
}

// owner returns the name, in the union, of one of the domain's owners.
func (s DomainSite) owner(name string) string { return s.Name + "/" + name }

// domainLabel is the label of a union's nodes that names their domain.
const domainLabel = "domain"

// siteSeed returns the seed of what is drawn of the i-th of several domains or sites.
func siteSeed(seed, replication uint64, i int) uint64 {
	return des.NewStream(seed, replication, "site", uint64(i)).Uint64()
}

// criteria returns the searches for windows of these names.
func criteria(t *Tables, names []string) ([]plan.Finder, error) {
	var all []plan.Finder
	for _, name := range names {
		f, err := t.Finders.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("criteria: %w", err)
		}
		all = append(all, f.Value)
	}
	return all, nil
}

// ownNodes returns the nodes of a domain that is no union.
func (d *Domain) ownNodes(seed, replication uint64) ([]entity.Node, error) {
	if len(d.Nodes) > 0 {
		return d.Nodes, nil
	}
	generated, err := d.Generate.Generate(seed, replication)
	if err != nil {
		return nil, err
	}
	nodes := make([]entity.Node, len(generated))
	for i, n := range generated {
		nodes[i] = *n
	}
	return nodes, nil
}

// pricesVary reports whether the price of any node may change during a run.
func (d *Domain) pricesVary() bool {
	return len(d.Prices) > 0 || d.PriceRules != nil || slices.ContainsFunc(d.Union, func(member DomainSite) bool { return member.pricesVary() })
}

// keptToLabel returns a search that takes all nodes of a window from one value of a label, such as
// one domain of a union; with an empty label it is the search itself.
func keptToLabel(label string, f plan.Finder) plan.Finder {
	if label == "" {
		return f
	}
	return window.Within{Finder: f, Label: label}
}

// criterionOf returns the search of a user. A user who is not known (-1) has the search of user 0.
func criterionOf(user int32, all []plan.Finder) plan.Finder { return all[max(int(user), 0)%len(all)] }

// draw makes the owners' jobs and checks that all nodes that are named are there. Sorting is
// stable: of two changes at one instant the later one in the file holds.
func (p *drawnDomain) draw(seed uint64) error {
	p.prices = slices.Clone(p.Prices)
	slices.SortStableFunc(p.prices, func(a, b flow.NodePrice) int { return cmp.Compare(a.At, b.At) })
	if l := p.Local; l != nil {
		listed := slices.Clone(l.Listed)
		slices.SortStableFunc(listed, func(a, b LocalJob) int { return cmp.Compare(a.Known, b.Known) })
		for _, x := range listed {
			if _, ok := p.index[x.Node]; !ok {
				return fmt.Errorf("local: there is no node %d", x.Node)
			}
		}
		p.local = []ownersJobs{{l.Rule, p.fixedJobs(listed, seed)}}
	}
	for _, x := range p.prices {
		if _, ok := p.index[x.Node]; !ok {
			return fmt.Errorf("prices: there is no node %d", x.Node)
		}
	}
	return p.drawOwners(seed)
}

// fixedJobs yields the owners' jobs at fixed times in the order in which they become known: those
// listed, and those generated for each cycle. Of one instant, listed ones come first.
func (p *drawnDomain) fixedJobs(listed []LocalJob, seed uint64) iter.Seq2[LocalJob, error] {
	return func(yield func(LocalJob, error) bool) {
		left := listed
		// known yields the listed jobs that are known by an instant, and reports whether to go on.
		known := func(by des.Time) bool {
			for ; len(left) > 0 && left[0].Known <= by; left = left[1:] {
				if !yield(left[0], nil) {
					return false
				}
			}
			return true
		}
		if l := p.Local; l.Load != nil {
			for c := range max(l.Cycles, 1) {
				from := des.Time(c) * p.Cycle
				if !known(from) || !p.generated(seed, c, from, yield) {
					return
				}
			}
		}
		known(des.Forever)
	}
}

// generated yields the owners' jobs of the c-th cycle, which begins at the instant from, node by
// node. Each node and cycle has a random stream of its own, so that any cycle can be drawn by
// itself. It reports whether to go on.
func (p *drawnDomain) generated(seed uint64, c int, from des.Time, yield func(LocalJob, error) bool) bool {
	for i := range p.nodes {
		id := p.nodes[i].ID
		spans, err := p.Local.Load.Generate(des.NewStream(seed, uint64(c), "vo.local", uint64(id)), int(p.Cycle/des.Second))
		if err != nil {
			yield(LocalJob{}, fmt.Errorf("local: %w", err))
			return false
		}
		for _, s := range spans {
			if !yield(LocalJob{id, from, from + s.Start, s.End - s.Start}, nil) {
				return false
			}
		}
	}
	return true
}

// drawBatches makes the jobs of all batches, in order of submission: a batch comes at the beginning of
// each cycle of that length.
func drawBatches(b vo.Batches, seed uint64, cycle des.Time) ([]entity.Job, error) {
	var all []entity.Job
	b.Cycle = cycle
	for j, err := range b.Generate(seed) {
		if err != nil {
			return nil, err
		}
		all = append(all, *j)
	}
	return all, nil
}

// run runs one policy on nodes of its own, whose prices may change. The flows of the site, in
// order:
//
//	book                 what jobs cost, before anybody who asks
//	cycles, observers    cycles-POLICY.csv, and whoever else listens
//	records              what sums the run up, and the files of every machine
//	books, tasks         who had which node when, for how much
//	planning, prices     what the planner chose from, and changes of price
//	outages, owners,
//	bookings, arrivals   what happens, behind all that only look
func (p *drawnDomain) run(ctx context.Context, c *call, r *policyRun) (*Result, error) {
	// The policy, the jobs and the nodes of this run.
	chosen, err := c.tables.Nodes.Parse(r.spec, c.defaults()) // anew: it may keep state
	if err != nil {
		return nil, err
	}
	from, err := p.source(c, r, chosen.Value.Within)
	if err != nil {
		return nil, err
	}
	nodes, err := p.plan(chosen.Value.Finder)
	if err != nil {
		return nil, err
	}
	// The settings that are a domain's own.
	s := r.settings
	s.Policy, s.Processors, s.owners = chosen.Value.Policy, len(p.nodes), p.Local != nil || len(p.local)+len(p.queues) > 0
	c.Settings.Power.set(s.Policy)
	if s.Outages, err = p.outages.flow(nodes.Nodes()); err != nil {
		return nil, err
	}
	// A policy that plans batches searches for each user by that user's criterion, unless the
	// policy has a search of its own.
	if by, ok := s.Policy.(*cyclic.Policy); ok && by.Criterion == nil && len(p.criteria) > 0 {
		by.Criterion = func(j *entity.Run) plan.Finder {
			return keptToLabel(chosen.Value.Within, criterionOf(j.User, p.criteria))
		}
	}
	// The session with its flows.
	x := newSession(s)
	defer x.close()
	cycles := &metrics.Cycles{Cycle: p.Cycle, Nodes: len(p.nodes)}
	books := &books{named: true}
	book := books.add(x, "", &flow.Ledger{ByUse: p.PayByUse, Tell: cycles.Paid})
	x.bill = books.job
	prices := &priceFile{domains: []*drawnDomain{p}}
	err = x.openAlone(&machineSite{Plan: nodes, Policy: s.Policy, Flows: slices.Concat(
		[]siteFlow{book, x.cycles(cycles), listening(r.observers("")...)},
		x.records(),
		[]siteFlow{books, book.writing(), c.planning(x, s.Policy), prices},
		x.outages(),
		[]siteFlow{&ownersFlow{call: c, parts: p, book: book, prices: prices, account: x.account}, x.bookings(), x.arrivals(from)},
	)})
	if err != nil {
		return nil, err
	}
	result, err := x.finish(ctx)
	result.Money = moneyOf(books.total())
	return &result, err
}

// source returns the jobs of a run, with prices and shapes. If a label is given, searches that jobs
// bring themselves keep to nodes of one value of the label; the policy's own search does so
// already.
func (p *drawnDomain) source(c *call, r *policyRun, label string) (entity.Source, error) {
	jobs, err := p.priced(c, r.jobs)
	if err != nil {
		return nil, err
	}
	from, err := c.molded(sourceOf(jobs))
	if err != nil || label == "" {
		return from, err
	}
	if !slices.ContainsFunc(p.nodes, func(n entity.Node) bool { return n.Labels[label] != "" }) {
		return nil, fmt.Errorf("policy %s: within: no node has a label %q", r.spec, label)
	}
	return changed(from, func(j *entity.Job) *entity.Job {
		f, own := j.Request.Criterion.(plan.Finder)
		if !own {
			return j
		}
		copied := *j // others may run it, too
		copied.Request.Criterion = keptToLabel(label, f)
		return &copied
	}), nil
}

// cycles is the flow that writes cycles-POLICY.csv at the end.
func (x *session) cycles(cycles *metrics.Cycles) siteFlow {
	return hooks{
		attaching: func(*machineSite) ([]entity.Observer, error) { return []entity.Observer{cycles}, nil },
		ending:    func() error { return x.writeAtEnd("cycles", cycles.Write) },
	}
}

// priced makes the jobs of a trace ask for what users of the organisation would: a volume, a least
// performance, a budget. Jobs of other workloads say it themselves.
func (d *Domain) priced(c *call, from reading) (reading, error) {
	if c.jobs.trace == nil {
		return from, nil
	}
	pricing, err := d.Pricing.Begin(c.Settings.Seed, c.Settings.Replication)
	if err != nil {
		return nil, err
	}
	return &pricedJobs{from, pricing}, nil
}

// plan makes the plan of a run, on copies of the nodes: their prices change as the run goes on. If
// jobs wait for cheaper days, the plan must not refuse what is too dear at the moment.
func (p *drawnDomain) plan(finder plan.Finder) (*plan.Domain, error) {
	nodes := make([]*entity.Node, len(p.nodes))
	for i, n := range p.nodes {
		nodes[i] = &n
	}
	d, err := plan.NewDomain(nodes, finder)
	if err != nil {
		return nil, err
	}
	d.Interval, d.PricesChange = cmp.Or(p.Interval, p.Cycle), p.patient
	return d, nil
}

// pricedJobs are the jobs of a trace, each with a volume and a budget.
type pricedJobs struct {
	reading
	pricing *vo.Pricing
}

func (p *pricedJobs) Next() (*entity.Job, bool) {
	j, ok := p.reading.Next()
	if ok {
		p.pricing.Apply(j)
	}
	return j, ok
}

func (p *pricedJobs) Err() error { return sourceError(p.reading) }
