// A run on a grid: drawing it, its sites and brokers, and what is written of them.

package scenario

import (
	"context"
	"fmt"
	"slices"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/market"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

func (g *Grid) prepare(c *call) (runner, error) {
	p, err := g.WithDefaults().parts(c)
	if err != nil {
		return nil, err
	}
	if c.jobs == nil {
		batches, err := g.Batches.draw(c.Settings.Seed, g.Cycle)
		if err != nil {
			return nil, err
		}
		for i := range batches {
			p.ask(&batches[i])
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

// parts draws what is drawn of a grid.
func (g *Grid) parts(c *call) (*gridParts, error) {
	p := &gridParts{Grid: g}
	p.leaves = g.leaves()
	if err := g.checkStrategies(c.tables); err != nil {
		return nil, err
	}
	drawn := 0
	for i := range p.leaves {
		l := &p.leaves[i]
		if err := l.checkPolicy(c.tables, c.defaults()); err != nil {
			return nil, err
		}
		if l.domain == nil {
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

// gridParts are a grid with everything drawn that is drawn.
type gridParts struct {
	*Grid
	leaves   []leaf
	criteria []plan.Finder
	outages  []*outages // of the leaves, or none
}

// ask gives a job its user's search for windows.
func (p *gridParts) ask(j *entity.Job) {
	if len(p.criteria) > 0 && j.Request.Criterion == nil {
		j.Request.Criterion = criterionOf(j.User, p.criteria)
	}
}

// asking are the jobs of a trace, each with its user's search for windows.
type asking struct {
	priced
	parts *gridParts
}

func (a *asking) Next() (*entity.Job, bool) {
	j, ok := a.priced.Next()
	if ok {
		a.parts.ask(j)
	}
	return j, ok
}

// jobs are those of a run.
func (p *gridParts) jobs(c *call, r *policyRun) (entity.Source, error) {
	if c.jobs.trace == nil || !p.hasDomains() {
		return sourceOf(r.jobs), nil
	}
	pricing, err := p.Pricing.Begin(c.Settings.Seed, c.Settings.Replication)
	if err != nil {
		return nil, err
	}
	return &asking{priced{r.jobs, pricing}, p}, nil
}

// run runs one strategy, or one for each broker in turn.
func (p *gridParts) run(ctx context.Context, c *call, r *policyRun) (*Result, error) {
	chosen, err := strategies(c.tables, r.spec)
	if err != nil {
		return nil, err
	}
	network, err := p.Network.network()
	if err != nil {
		return nil, err
	}
	from, err := p.jobs(c, r)
	if err != nil {
		return nil, err
	}
	whole := &executed{first: des.Forever}
	s := r.settings
	domains := &domainSites{}
	s.Observers = append(append(s.Observers, whole, domains), r.observers("")...)
	x := Begin(s)
	defer x.Close()
	var books *books
	if p.hasDomains() {
		x.Bill = func(r *entity.Run) metrics.Bill { return books.job(r) }
	}
	places := newWholes(p.leaves)
	allocation := metrics.AllocationNone
	if places != nil {
		allocation, x.Places = s.Allocation, places.place
	}
	if x.Observers, err = x.Jobs(x.Observers, "", p.size(), allocation); err != nil {
		return nil, err
	}
	if x.Observers, err = x.Events(x.Observers, "", metrics.AllocationNone); err != nil {
		return nil, err
	}
	made := grid.NewGrid(x.Sim, network, x.Observers...)
	made.Expiry = des.Seconds(p.Expiry)
	defer made.Close()
	if p.Log {
		w, err := x.Create("log-", ".txt")
		if err != nil {
			return nil, err
		}
		if w != nil {
			made.Log = func(n grid.Note) { fmt.Fprintln(w, n) } // Commit has what went wrong
		}
	}
	var sites []*siteRecorder
	observe := func(file, name string, size int, more ...entity.Observer) ([]entity.Observer, error) {
		sites = append(sites, &siteRecorder{name: name, size: size, first: des.Forever})
		all := append([]entity.Observer{sites[len(sites)-1]}, more...)
		if places != nil && s.Dir != "" {
			all = append(all, places.sites[len(sites)-1])
		}
		all, err := x.Events(append(all, r.observers(name)...), file, s.Allocation)
		if err != nil {
			return nil, err
		}
		return x.Jobs(all, file, size, s.Allocation)
	}
	if books, err = newBooks(x, p.hasDomains(), true); err != nil {
		return nil, err
	}
	var prices *metrics.PriceWriter
	if w, err := createPrices(x, p.domains()...); err != nil {
		return nil, err
	} else if w != nil {
		prices = metrics.NewSitePriceWriter(w)
	}
	levels := &levels{c.tables, made, map[*Grid]*grid.Grid{}}
	losses, err := p.losses(x, made)
	if err != nil {
		return nil, err
	}
	defer losses.close()
	for i, l := range p.leaves {
		level, err := levels.of(l)
		if err != nil {
			return nil, err
		}
		if l.domain == nil {
			observers, err := observe(l.file(), l.name, l.cluster.Processors)
			if err != nil {
				return nil, err
			}
			if observers, err = losses.add(i, nil, observers); err != nil {
				return nil, err
			}
			closer, err := c.addSite(level, l.cluster, observers)
			if err != nil {
				return nil, err
			}
			defer closer()
			continue
		}
		book := books.of(l.name, &market.Ledger{ByUse: l.domain.PayByUse})
		observers, err := observe(l.file(), l.name, len(l.parts.nodes), book.observers()...)
		if err != nil {
			return nil, err
		}
		lose := func(nodes []*entity.Node, observers []entity.Observer) ([]entity.Observer, error) {
			return losses.add(i, nodes, observers)
		}
		flows, err := c.addDomain(level, l.domain, l.parts, prices, book, observers, lose)
		if err != nil {
			return nil, err
		}
		defer flows.close()
		domains.flows = append(domains.flows, flows)
	}
	for i := range p.Brokers {
		made.AddBroker(brokerName(i), chosen[i%len(chosen)].Value())
	}
	made.SubmitFrom(from, p.Assign.to(x.Sim, p.Brokers))
	losses.leaveWaiting()
	if err := x.Sim.Run(ctx); err != nil {
		return nil, err
	}
	waiting := waitingIn(made, x.Sim.Now())
	if made.Open() > 0 && len(waiting) == 0 {
		return nil, fmt.Errorf("strategy %s left %d jobs without a place for all their tasks", r.spec, made.Open())
	}
	if err := books.close(); err != nil {
		return nil, fmt.Errorf("strategy %s: %w", r.spec, err)
	}
	var owners []metrics.OwnerRow
	for i, f := range domains.flows {
		owners = append(owners, f.rows(books.all[i].site, books.all[i].bills.Ledger)...)
	}
	if err := writeOwners(x, owners); err != nil {
		return nil, err
	}
	if prices != nil {
		if err := prices.Flush(); err != nil {
			return nil, err
		}
	}
	if err := losses.flush(); err != nil {
		return nil, err
	}
	clusters := p.clusters(made, sites, books, whole)
	if w, err := x.Create("clusters-", ".csv"); err != nil {
		return nil, err
	} else if w != nil {
		if err := gocsv.Marshal(clusters, w); err != nil {
			return nil, fmt.Errorf("writing clusters as CSV: %w", err)
		}
	}
	result, err := x.Commit()
	if err != nil {
		return nil, err
	}
	sum := gridSummary(made.Stats(), whole)
	result.Summary.Utilization = 0 // of sites' own jobs, too, which the recorder has not seen
	for i, k := range clusters {
		result.Summary.Utilization += float64(k.Utilization * made.Leaves()[i].Power() / made.Power())
		result.Summary.Rounds += k.Rounds
		sum.Income += k.Income
	}
	bill := books.total()
	sum.Cost, sum.Refund = bill.Cost.Units(), bill.Refund().Units()
	result.Summary.Events = x.Sim.Executed()
	result.Waiting, result.Grid, result.Clusters, result.Owners = waiting, sum, clusters, owners
	return &result, nil
}

// waitingIn are the runs that are left in the queues of the sites.
func waitingIn(g *grid.Grid, now des.Time) []*entity.Run {
	var all []*entity.Run
	for _, a := range g.Leaves() {
		all = slices.AppendSeq(all, a.Scheduler().Queue().By(entity.Submission, now).All())
	}
	return all
}

// addDomain adds a domain with its local manager, its owners' jobs and prices,
// which are to be closed in the end.
func (c *call) addDomain(g *grid.Grid, d *DomainSite, p *domainParts, prices *metrics.PriceWriter, b *book, observers []entity.Observer,
	lose func([]*entity.Node, []entity.Observer) ([]entity.Observer, error)) (*domainFlows, error) {
	local, err := c.tables.Nodes.Parse(d.Policy, c.defaults()) // anew: it may keep state
	if err != nil {
		return nil, err
	}
	domain, err := p.plan(local.Value.Finder)
	if err != nil {
		return nil, err
	}
	if prices != nil && p.reacts() {
		prices = prices.Of(b.site, domain.Nodes())
	}
	flows, err := p.flows(c, domain, nil, prices, b)
	if err != nil {
		return nil, err
	}
	if observers, err = lose(domain.Nodes(), append(observers, flows.observers()...)); err != nil {
		return nil, err
	}
	a := g.AddAgent(d.Name, domain, local.Value.Policy, observers...)
	a.QueueLimit, a.Asked, a.Dropped = d.QueueLimit, flows.catchUp, flows.dropped
	if err := c.siteSettings(a.Scheduler()); err != nil {
		return nil, err
	}
	flows.begin(a.Scheduler())
	return flows, nil
}

// addSite adds a cluster with its scheduler and its own jobs, which are to be
// closed in the end.
func (c *call) addSite(g *grid.Grid, k *Site, observers []entity.Observer) (closer func(), err error) {
	local, err := c.tables.Policies.Parse(k.Policy, c.defaults())
	if err != nil {
		return nil, err
	}
	a := g.AddAgent(k.Name, plan.NewCluster(k.Processors), local.Value, observers...)
	a.Speed, a.QueueLimit = k.Speed, k.QueueLimit
	if err := c.siteSettings(a.Scheduler()); err != nil {
		return nil, err
	}
	if k.Local == "" {
		return func() {}, nil
	}
	o := workload.Options{Overrun: c.Workload.Options.Overrun, Estimates: c.Workload.Options.Estimates, Seed: c.Settings.Seed}
	path, err := traces.Find(k.Local)
	if err != nil {
		return nil, fmt.Errorf("%s, jobs of its own: %w", k.Name, err)
	}
	t, err := o.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s, jobs of its own: %w", k.Name, err)
	}
	own, err := t.Open()
	if err != nil {
		return nil, fmt.Errorf("%s, jobs of its own: %w", k.Name, err)
	}
	a.Scheduler().SubmitFrom(own)
	return func() { own.Close() }, nil
}

// siteSettings gives the scheduler of a site what holds for all of them; each predicts
// by itself.
func (c *call) siteSettings(m *entity.Metascheduler) error {
	m.Overrun, m.Pass = c.Workload.Options.Overrun, c.Settings.Pass
	m.Wakes, _ = ParseWake(c.Settings.Wake) // checked as the run began
	predictor, corrector, err := c.predictions(c.tables)
	predict.Set(m, predictor, corrector)
	return err
}

// to is the function that says which of n brokers gets a job.
func (a Assign) to(sim *des.Simulator, n int) func(*entity.Job) int {
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
	flows []*domainFlows
	begun bool
}

func (d *domainSites) Observe(e entity.JobEvent) {
	if d.begun || e.Kind != entity.JobSubmitted {
		return
	}
	d.begun = true
	for _, f := range d.flows {
		f.open()
	}
}

// executed sums up how long jobs were under way, and when.
type executed struct {
	seconds     float64
	first, last des.Time // submission and finish
}

func (r *executed) Observe(e entity.JobEvent) {
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

// siteRecorder sums up what runs at a site.
type siteRecorder struct {
	name        string
	size        int
	jobs        int
	busy        float64 // processor seconds
	first, last des.Time
}

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

// span is the time over which a site's utilization is taken: from the grid's first
// submission to its last finish, and as much longer as the site's own jobs ran.
func (r *siteRecorder) span(from, to des.Time) float64 {
	if r.jobs > 0 {
		from, to = min(from, r.first), max(to, r.last)
	}
	return (to - from).Seconds()
}

func gridSummary(stats grid.GridStats, whole *executed) *GridSummary {
	sum := &GridSummary{
		TotalExecutionTime: whole.seconds, Fragments: stats.Fragments, Interventions: stats.Interventions, Conflicts: stats.Conflicts,
		TooLarge: stats.TooLarge, Cut: stats.Cut, Expired: stats.Expired, Offers: stats.Offers, Messages: stats.Messages,
	}
	if stats.Fragments > 0 {
		sum.MeanFragmentWait = stats.FragmentWait / float64(stats.Fragments)
	}
	return sum
}

func (p *gridParts) clusters(made *grid.Grid, sites []*siteRecorder, b *books, whole *executed) []ClusterSummary {
	var rows []ClusterSummary
	domains := 0
	for i, r := range sites {
		a := made.Leaves()[i]
		row := ClusterSummary{Cluster: r.name, Processors: r.size, Speed: a.Speed, Jobs: r.jobs, Rounds: a.Scheduler().Rounds()}
		if span := r.span(whole.first, whole.last); span > 0 {
			row.Utilization = r.busy / (float64(r.size) * span)
		}
		if p.leaves[i].domain != nil {
			row.Income = b.all[domains].bills.Ledger.Total(market.OwnerAccount).Units()
			domains++
		}
		rows = append(rows, row)
	}
	return rows
}
