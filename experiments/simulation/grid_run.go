// A run on a grid: drawing it, its sites and brokers, and what is written of them.

package simulation

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// prepare draws the grid, and the batches if there are no other jobs.
func (g *Grid) prepare(c *call) (runner, error) {
	p, err := g.WithDefaults().parts(c)
	if err != nil {
		return nil, err
	}
	if c.jobs == nil {
		batches, err := drawBatches(*g.Batches, c.Settings.Seed, g.Cycle)
		if err != nil {
			return nil, err
		}
		for i := range batches {
			p.setCriterion(&batches[i])
		}
		c.jobs = inMemory(c.base, batches)
	}
	for _, l := range p.leaves {
		if l.domain != nil {
			c.nodes = append(c.nodes, metrics.SiteNodes{Site: siteOf(l.name), Nodes: l.parts.nodes})
		}
	}
	return func(ctx context.Context, r *policyRun) (*Result, error) { return p.run(ctx, c, r) }, nil
}

// parts draws all that is drawn of a grid: the domains, each from a seed of its own, the own jobs
// of clusters, and outages.
func (g *Grid) parts(c *call) (*drawnGrid, error) {
	p := &drawnGrid{Grid: g}
	p.leaves = g.leaves()
	if err := g.checkStrategies(c.tables); err != nil {
		return nil, err
	}
	// Domains are counted among themselves: a cluster more or less leaves what is drawn of them.
	drawn := 0
	for i := range p.leaves {
		l := &p.leaves[i]
		if err := l.checkPolicy(c.tables, c.defaults()); err != nil {
			return nil, err
		}
		if l.domain == nil {
			if err := l.openOwn(c); err != nil {
				return nil, fmt.Errorf("%s, jobs of its own: %w", l.name, err)
			}
			continue
		}
		var err error
		if l.parts, err = l.domain.parts(siteSeed(c.Settings.Seed, c.Settings.Replication, drawn), c.Settings.Replication); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		drawn++
	}
	var err error
	if p.criteria, err = criteria(c.tables, g.Criteria); err != nil {
		return nil, err
	}
	p.outages, err = c.siteOutages(p.leaves)
	return p, err
}

// drawnGrid is a grid with the sites, criteria and outages that were drawn for a call. All
// strategies run on it, side by side, so it does not change.
type drawnGrid struct {
	*Grid
	leaves   []leaf
	criteria []plan.Finder
	outages  []*outages // of the leaves, or none
}

// setCriterion gives a job its user's search for windows, unless the job has one.
func (p *drawnGrid) setCriterion(j *entity.Job) {
	if len(p.criteria) > 0 && j.Request.Criterion == nil {
		j.Request.Criterion = criterionOf(j.User, p.criteria)
	}
}

// jobs returns the jobs of a run. If the grid has domains, a trace's jobs are priced and get their
// users' searches; batches have got theirs when they were drawn.
func (p *drawnGrid) jobs(c *call, r *policyRun) (entity.Source, error) {
	if c.jobs.trace == nil || !p.hasDomains() {
		return sourceOf(r.jobs), nil
	}
	pricing, err := p.Pricing.Begin(c.Settings.Seed, c.Settings.Replication)
	if err != nil {
		return nil, err
	}
	return changed(&pricedJobs{r.jobs, pricing}, func(j *entity.Job) *entity.Job {
		p.setCriterion(j)
		return j
	}), nil
}

// run runs one strategy, or one for each broker in turn.
func (p *drawnGrid) run(ctx context.Context, c *call, r *policyRun) (*Result, error) {
	chosen, err := strategies(c.tables, r.spec)
	if err != nil {
		return nil, err
	}
	// The grid with its sites and brokers, the brokers in the order of their names.
	from, err := p.jobs(c, r)
	if err != nil {
		return nil, err
	}
	x := newSession(r.settings)
	defer x.close()
	x.predictions = func() (entity.Predictor, entity.Corrector, error) { return c.predictions(c.tables) } // each site by itself
	g := p.newRun(c, r, x)
	if err := g.openAll(); err != nil {
		return nil, err
	}
	for i := range p.Brokers {
		g.made.AddBroker(brokerName(i), chosen[i%len(chosen)].Value())
	}
	// Jobs come to the brokers, by way of the flow that holds them back if they wait for others.
	x.coming = append(x.coming, func() bool { return !g.made.Idle() })
	assign := p.Assign.brokerOf(x.sim, p.Brokers)
	if x.waiting != nil {
		x.waiting.Connect(g.made.Door(assign))
	}
	x.submit(from, func(from entity.Source) { g.made.SubmitFrom(from, assign) })
	// The clock runs, the flows end, and the sites are summed up.
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	// A job that no site knows of was forgotten by its strategy. One that waits at a site may
	// wait for what is never repaired.
	if g.made.Open() > 0 && len(x.left()) == 0 {
		return nil, fmt.Errorf("strategy %s left %d jobs without a place for all their tasks", r.spec, g.made.Open())
	}
	if err := x.end(); err != nil {
		return nil, err
	}
	return g.result()
}

// gridRun is a run on a grid under way: its sites, one after the other, and the grid above them,
// which is a machineSite without a plan or a scheduler, whose flows listen to the jobs as a whole.
type gridRun struct {
	*drawnGrid
	call    *call
	policy  *policyRun
	session *session
	made    *grid.Grid
	// levels are the grids of all levels, which get the sites as agents.
	levels *levels
	// places tells which processors a job as a whole had, if that can be told; otherwise it is nil.
	places *gridPlaces
	// whole sums up the jobs as a whole, and domains begins the prices of all domains.
	whole   *executions
	domains *domainSites

	// What follows is of all sites: recorders has one for each, in the order of the leaves; books,
	// prices and losses are the files of which a run has one for all sites.
	recorders []*siteRecorder
	books     *books
	prices    *priceFile
	losses    *outageFile
	log       io.Writer // of negotiations, or nil
}

// newRun begins a run; nothing is opened yet.
func (p *drawnGrid) newRun(c *call, r *policyRun, x *session) *gridRun {
	return &gridRun{
		drawnGrid: p, call: c, policy: r, session: x, places: newGridPlaces(p.leaves), whole: &executions{first: des.Forever}, domains: &domainSites{},
		books: &books{grid: true, named: p.hasDomains()}, prices: &priceFile{grid: true, domains: p.domains()}, losses: &outageFile{grid: true},
	}
}

// openAll makes the grid, and opens its sites in the order of their agents.
func (g *gridRun) openAll() error {
	network, err := g.Network.network()
	if err != nil {
		return err
	}
	x := g.session
	// Flows of the whole grid come first: they begin their files, and hear of an event before the
	// sites'.
	observers, err := x.attach(&machineSite{Flows: g.flows()})
	if err != nil {
		return err
	}
	g.made = grid.NewGrid(x.sim, network, observers...)
	g.made.Expiry = des.Seconds(g.Expiry)
	x.onClose(g.made.Close)
	if g.log != nil {
		g.made.Log = func(n grid.Note) { fmt.Fprintln(g.log, n) } // commit has what went wrong
	}
	g.levels = &levels{g.call.tables, g.made, map[*Grid]*grid.Grid{}}
	for i, l := range g.leaves {
		x.siteFiles = append(x.siteFiles, l.file())
		if err := g.openSite(i, l); err != nil {
			return err
		}
	}
	return nil
}

// flows returns the flows of the grid as a whole, which listen to whole jobs, and begin the files
// of which there is one for all sites.
func (g *gridRun) flows() []siteFlow {
	x, allocation := g.session, metrics.AllocationNone
	if g.places != nil {
		allocation, x.places = x.settings.Allocation, g.places.place
	}
	flows := []siteFlow{
		listening(x.recorder, g.whole, g.domains), listening(g.policy.observers("")...), listening(x.account), x.predicted(), x.dependencies(),
		x.jobs("", g.size(), allocation), x.events("", metrics.AllocationNone), x.powerProfile(), hooks{attaching: g.beginLog},
	}
	// The span of energy comes before all meters: it begins with the first submission to any
	// broker.
	if x.span != nil {
		flows = append([]siteFlow{listening(x.span)}, flows...)
	}
	if g.hasPrices() {
		x.bill = g.books.job
		flows = append(flows, g.books)
	}
	flows = append(flows, g.prices)
	if g.outages != nil {
		flows = append(flows, g.losses)
	}
	return flows
}

// beginLog begins the log of negotiations, if it is wanted.
func (g *gridRun) beginLog(*machineSite) (none []entity.Observer, err error) {
	if g.Log {
		g.log, err = g.session.create("log", "")
	}
	return nil, err
}

// openSite opens the i-th site with its agent, who speaks for the site to brokers. The flows
// of a site, in order:
//
//	recorder          what clusters-STRATEGY.csv says of the site
//	book              where time has a price: what jobs cost; of a domain then who had which node
//	places            where jobs as a whole have run
//	power             what the nodes of the site draw
//	events, jobs,
//	decisions         the files of the site
//	owners            of a domain: their jobs and prices
//	losses            outages, behind all that only look
//	own jobs          of a cluster, from its own workload
func (g *gridRun) openSite(i int, l leaf) error {
	// The grid of the level, and the observers that every site has.
	level, err := g.levels.gridOf(l)
	if err != nil {
		return err
	}
	x, s := g.session, &machineSite{Name: l.name}
	recorder := &siteRecorder{name: l.name, size: l.size(), first: des.Forever}
	g.recorders = append(g.recorders, recorder)
	if l.hasPrice() {
		recorder.book = g.books.add(x, l.name, l.ledger())
	}
	files := []siteFlow{listening(g.policy.observers(l.name)...), x.power(l.name, l.file()),
		x.events(l.file(), x.settings.Allocation), x.jobs(l.file(), l.size(), x.settings.Allocation), x.decisions(l.file())}
	if g.places != nil && x.settings.Dir != "" {
		files = append([]siteFlow{listening(g.places.sites[i])}, files...)
	}
	// The plan, the policy and the agent of a cluster or a domain.
	var add func(observers ...entity.Observer) *grid.ResourceAgent
	if l.domain == nil {
		add, err = g.cluster(s, l.cluster, recorder.book, level, files)
	} else {
		add, err = g.domain(s, l, recorder.book, level, files)
	}
	if err != nil {
		return err
	}
	// What only looks comes before what changes the site.
	s.Flows = append([]siteFlow{listening(recorder)}, s.Flows...)
	if g.outages != nil {
		o, err := g.outages[i].flow(nodesOf(s.Plan))
		if err != nil {
			return err
		}
		s.Flows = append(s.Flows, x.losses(o, g.losses))
	}
	if l.own != nil {
		s.Flows = append(s.Flows, l.own.arrivals(x))
	}
	return x.open(s, func(observers ...entity.Observer) *entity.Metascheduler { return add(observers...).Scheduler() })
}

// ledger returns the accounts of a site whose time has a price.
func (l leaf) ledger() *flow.Ledger {
	if l.domain != nil {
		return &flow.Ledger{ByUse: l.domain.PayByUse}
	}
	return &flow.Ledger{ByUse: l.cluster.PayByUse, Price: l.cluster.Price}
}

// cluster fills in the site of a cluster. The function that it returns adds the agent.
func (g *gridRun) cluster(s *machineSite, k *ClusterSite, book *book, level *grid.Grid, files []siteFlow) (func(...entity.Observer) *grid.ResourceAgent, error) {
	local, err := g.call.tables.Policies.Parse(k.Policy, g.call.defaults()) // anew: it may keep state
	if err != nil {
		return nil, err
	}
	s.Plan, s.Policy, s.Flows = plan.NewCluster(k.Processors), local.Value, files
	g.call.Settings.Power.set(s.Policy)
	var brokered *brokeredBills
	if book != nil {
		brokered = &brokeredBills{Bills: book.bills}
		s.Flows = append([]siteFlow{listening(brokered)}, files...)
	}
	return func(observers ...entity.Observer) *grid.ResourceAgent {
		a := level.AddAgent(k.Name, s.Plan, s.Policy, observers...)
		a.Speed, a.Price, a.QueueLimit = k.Speed, k.Price, k.QueueLimit
		if brokered != nil {
			brokered.agent = a
		}
		return a
	}, nil
}

// domain fills in the site of a domain, with its owners. The function that it returns adds the
// agent.
func (g *gridRun) domain(s *machineSite, l leaf, book *book, level *grid.Grid, files []siteFlow) (func(...entity.Observer) *grid.ResourceAgent, error) {
	local, err := g.call.tables.Nodes.Parse(l.domain.Policy, g.call.defaults()) // anew: it may keep state
	if err != nil {
		return nil, err
	}
	nodes, err := l.parts.plan(local.Value.Finder)
	if err != nil {
		return nil, err
	}
	owners := &ownersFlow{call: g.call, parts: l.parts, book: book, prices: g.prices}
	g.domains.flows = append(g.domains.flows, owners)
	s.Plan, s.Policy = nodes, local.Value.Policy
	g.call.Settings.Power.set(s.Policy)
	s.Flows = slices.Concat([]siteFlow{book, book.writing()}, files, []siteFlow{owners})
	return func(observers ...entity.Observer) *grid.ResourceAgent {
		a := level.AddAgent(l.domain.Name, s.Plan, s.Policy, observers...)
		a.QueueLimit, a.Asked, a.Dropped = l.domain.QueueLimit, owners.catchUp, owners.dropped
		return a
	}, nil
}

// nodesOf returns the nodes of a plan; nil for counted processors.
func nodesOf(p entity.Plan) []*entity.Node {
	if d, ok := p.(*plan.Domain); ok {
		return d.Nodes()
	}
	return nil
}

// result commits the run of a grid, with what is summed up of its sites.
func (g *gridRun) result() (*Result, error) {
	x, clusters := g.session, g.clusters()
	err := x.writeAtEnd("clusters", func(w io.Writer) error { return rows.WriteAll(w, rows.Clusters, clusters) })
	if err != nil {
		return nil, err
	}
	result, err := x.commit()
	if err != nil {
		return nil, err
	}
	// The utilization of a grid is the mean of its sites' utilizations, weighted by the work that
	// each can do in a second (its power, processors times speed).
	sum := gridSummary(g.made.Stats(), g.whole)
	result.Summary.Utilization = 0 // of sites' own jobs, too, which the recorder has not seen
	for i, k := range clusters {
		result.Summary.Utilization += float64(k.Utilization * g.made.Leaves()[i].Power() / g.made.Power())
		result.Summary.Rounds += k.Rounds
		sum.Income += k.Income
	}
	bill := g.books.total()
	sum.Cost, sum.Refund = bill.Cost.Units(), bill.Refund().Units()
	result.Summary.Events = x.sim.Executed()
	result.Grid, result.Clusters = sum, clusters
	return &result, nil
}

// brokerOf returns the function that says which of n brokers gets a job, from 0 on. It keeps state,
// so each run needs its own.
func (a Assign) brokerOf(sim *des.Simulator, n int) func(*entity.Job) int {
	turn := -1
	inTurn := func() int {
		turn = (turn + 1) % n
		return turn
	}
	switch a {
	case AssignByUser:
		return func(j *entity.Job) int {
			if j.User < 0 {
				return inTurn()
			}
			return int(j.User) % n
		}
	case AssignRandom:
		random := sim.Stream("assign")
		return func(*entity.Job) int { return random.IntN(n) }
	}
	return func(*entity.Job) int { return inTurn() }
}

// domainSites are the sites of a grid that are domains. When the grid's first job comes,
// wherever it goes, the owners of all of them begin to price: what a node costs does not
// depend on when a broker first asked for it.
type domainSites struct {
	flows []*ownersFlow
	begun bool
}

// Observe waits for the first submission.
func (d *domainSites) Observe(e entity.JobEvent) {
	if d.begun || e.Kind != entity.JobSubmitted {
		return
	}
	d.begun = true
	for _, f := range d.flows {
		f.open()
	}
}

// executions sums up how long jobs were under way, and when.
type executions struct {
	seconds     float64
	first, last des.Time // submission and finish
}

// Observe takes in a job as a whole when it ends. The time of a job that ran once is from its first
// task's start to its last task's end.
func (r *executions) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobSubmitted:
		r.first = min(r.first, e.Run.Submit)
	case entity.JobFinished, entity.JobKilled:
		t := e.Run.Finish - e.Run.Start
		if len(e.Run.Earlier()) > 0 { // it ran before, too
			t = e.Run.Ran()
		}
		r.seconds += t.Seconds()
		r.last = max(r.last, e.Time)
	}
}

// siteRecorder sums up what runs at a site, own jobs and brokers' jobs alike.
type siteRecorder struct {
	name string
	size int
	jobs int
	busy float64 // processor seconds
	// first is the start of the site's first job, last the end of its last one.
	first, last des.Time
	book        *book // of what jobs cost, or nil
}

// Observe takes in a job of the site. Of nodes with different ends (Attempt.Ends) each counts until
// its own end.
func (r *siteRecorder) Observe(e entity.JobEvent) {
	switch j := e.Run; e.Kind {
	case entity.JobStarted:
		r.first = min(r.first, e.Time)
	case entity.JobFinished, entity.JobKilled:
		r.jobs++
		r.last = max(r.last, e.Time)
		for a := range j.Attempts() {
			if a.Ends == nil {
				r.busy += float64(float64(a.Window.Nodes) * (a.End - a.Start).Seconds())
			} else {
				r.busy += a.ProcessorTime().Seconds()
			}
		}
	}
}

// span returns the time over which a site's utilization is taken, in seconds: from the grid's first
// submission to its last finish, and as much longer as the site's own jobs ran.
func (r *siteRecorder) span(from, to des.Time) float64 {
	if r.jobs > 0 {
		from, to = min(from, r.first), max(to, r.last)
	}
	return (to - from).Seconds()
}

// gridSummary returns what summary.csv says of a grid alone: of negotiations, and of jobs as a
// whole. Money and income are added by result.
func gridSummary(stats grid.GridStats, whole *executions) *GridSummary {
	sum := &GridSummary{
		TotalExecutionTime: whole.seconds, Fragments: stats.Fragments, Interventions: stats.Interventions, Conflicts: stats.Conflicts,
		TooLarge: stats.TooLarge, Cut: stats.Cut, Expired: stats.Expired, Offers: stats.Offers, Messages: stats.Messages,
	}
	if stats.Fragments > 0 {
		sum.MeanFragmentWait = stats.FragmentWait / float64(stats.Fragments)
	}
	return sum
}

// clusters returns the rows of clusters-STRATEGY.csv, in the order of the sites.
func (g *gridRun) clusters() (all []rows.Cluster) {
	for i, r := range g.recorders {
		a := g.made.Leaves()[i]
		row := rows.Cluster{Cluster: r.name, Processors: r.size, Speed: a.Speed, Jobs: r.jobs, Rounds: a.Scheduler().Rounds()}
		if span := r.span(g.whole.first, g.whole.last); span > 0 {
			row.Utilization = r.busy / (float64(r.size) * span)
		}
		if r.book != nil {
			row.Income = r.book.bills.Ledger.Total(flow.OwnerAccount).Units()
		}
		all = append(all, row)
	}
	return all
}
