package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/enum"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload"
)

// Grid is clusters that each have a scheduler, and brokers who place jobs on
// them over a network. WithDefaults fills in what is not given.
type Grid struct {
	Clusters []Site `yaml:"clusters"`
	// Brokers is how many there are; 0 means 7, as in OAR11.
	Brokers int     `yaml:"brokers"`
	Assign  Assign  `yaml:"assign"` // which jobs go to which broker
	Network Network `yaml:"network"`
	// Expiry is how long a site keeps an emergency reservation that is neither
	// committed nor cancelled, in seconds; 0 means grid.DefaultExpiry.
	Expiry float64 `yaml:"expiry"`
	// Log has negotiations written to log-STRATEGY.txt.
	Log bool `yaml:"log"`
}

// Site is one cluster of a grid.
type Site struct {
	Name       string  `yaml:"name"` // "cluster-1" and so on where empty; it becomes part of the names of files
	Processors int     `yaml:"processors"`
	Speed      float64 `yaml:"speed"`  // its MIPS over the reference's, on which jobs take what the trace says; 0 means 1
	Policy     string  `yaml:"policy"` // of the local scheduler, a queue policy; "easy" where empty
	// Local is a trace of the site's own jobs, or "".
	Local      string `yaml:"local"`
	QueueLimit int    `yaml:"queue_limit"` // see grid.ResourceAgent
}

// Network is the links between brokers, clusters and the regulator.
type Network struct {
	Latency float64 `yaml:"latency"` // seconds
	// Bandwidth of each pair, in bytes per second; nil is no limit, and over 0
	// nothing passes.
	Bandwidth *float64 `yaml:"bandwidth"`
	Links     []Link   `yaml:"links"`
}

// Link is one that differs from the others.
type Link struct {
	Between   [2]string `yaml:"between"` // names: of clusters, "broker-1" and so on, "regulator"
	Latency   float64   `yaml:"latency"`
	Bandwidth *float64  `yaml:"bandwidth"`
}

// Assign says which jobs go to which broker.
type Assign uint8

const (
	AssignInTurn Assign = iota
	AssignByUser        // by the user's number; jobs of unknown users in turn
	AssignRandom
)

var assigns = enum.Of[Assign]("assign", "round-robin", "user", "random")

func (a Assign) String() string { return assigns.Name(a) }

// UnmarshalText reads "round-robin", "user" or "random".
func (a *Assign) UnmarshalText(text []byte) (err error) {
	*a, err = assigns.Parse(string(text))
	return err
}

// defaultStrategies are run where neither the call nor the file names any.
var defaultStrategies = []string{"oar", "rla"}

const (
	maxSeconds = 1e9
	minSpeed   = 1e-3
)

// Kind implements Machine.
func (*Grid) Kind() string { return "grid" }

func (g *Grid) names(sc *Scenario, t *Tables) ([]name, error) {
	list := sc.Policies
	if len(list) == 0 {
		list = defaultStrategies
	}
	all, err := names(t.Strategies, list, "")
	if err != nil {
		return nil, fmt.Errorf("a grid has strategies: %w", err)
	}
	files := map[string]string{}
	for _, n := range all {
		if err := fileNames(files, "jobs-"+n.file+".csv", "strategy "+n.spec); err != nil {
			return nil, err
		}
	}
	for _, n := range all {
		for _, k := range g.WithDefaults().Clusters {
			if err := fileNames(files, "jobs-"+n.file+"-"+k.Name+".csv", "cluster "+k.Name+" under "+n.spec); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (g *Grid) check(sc *Scenario) error {
	if sc.Flows.Reservations != "" {
		return wrong("reservations", "they are made with a cluster or a domain; in a grid it is the brokers who reserve")
	}
	return g.Check()
}

// WithDefaults is the grid with everything filled in that is not given.
func (g *Grid) WithDefaults() *Grid {
	full := *g
	full.Brokers = cmp.Or(g.Brokers, 7)
	full.Clusters = make([]Site, len(g.Clusters))
	for i, k := range g.Clusters {
		k.Name = cmp.Or(k.Name, fmt.Sprintf("cluster-%d", i+1))
		k.Speed = cmp.Or(k.Speed, 1)
		k.Policy = cmp.Or(k.Policy, "easy")
		full.Clusters[i] = k
	}
	return &full
}

func brokerName(i int) string { return fmt.Sprintf("broker-%d", i+1) }

// Check reports what makes the grid meaningless, or nil: a *PlaceError that says
// where in its file that stands.
func (g *Grid) Check() error {
	g = g.WithDefaults()
	taken := map[string]bool{"regulator": true}
	for i := range g.Brokers {
		taken[brokerName(i)] = true
	}
	switch {
	case len(g.Clusters) == 0:
		return at(errors.New("a grid needs clusters, as in clusters: [{processors: 64}]"), "clusters")
	case g.Brokers < 1:
		return at(fmt.Errorf("brokers: a grid needs 1 broker or more, not %d", g.Brokers), "brokers")
	case !(g.Expiry >= 0) || g.Expiry > maxSeconds:
		return at(fmt.Errorf("expiry: want 0 (the default) to %g seconds, not %v", maxSeconds, g.Expiry), "expiry")
	}
	for i, k := range g.Clusters {
		if err := k.check(taken); err != nil {
			var place *PlaceError
			if errors.As(err, &place) {
				place.Path = append([]any{"clusters", i}, place.Path...)
			}
			return err
		}
		taken[k.Name] = true
	}
	for i, l := range g.Network.Links {
		for _, name := range l.Between {
			if !taken[name] {
				return at(fmt.Errorf("a link names %q, which is no entity: there are the clusters, broker-1 to %s and the regulator", name, brokerName(g.Brokers-1)), "network", "links", i)
			}
		}
		if l.Between[0] == l.Between[1] {
			return at(fmt.Errorf("a link leads from %q to itself", l.Between[0]), "network", "links", i)
		}
	}
	_, err := g.Network.network()
	return err
}

func (k Site) check(taken map[string]bool) error {
	switch {
	case taken[k.Name]:
		return at(fmt.Errorf("name: two entities are called %q", k.Name), "name")
	case !isFileName(k.Name):
		return at(fmt.Errorf("name: %q cannot be part of the name of a file, which a cluster's name becomes: use letters, digits, and any of . _ + - between them", k.Name), "name")
	case k.Processors < 1 || k.Processors > math.MaxInt32:
		return at(fmt.Errorf("want a number of processors of 1 or more, at most %d", math.MaxInt32), "processors").wanting()
	case !(k.Speed >= minSpeed && k.Speed <= 1/minSpeed):
		return at(fmt.Errorf("%s: speed must be %g to %g, not %v", k.Name, minSpeed, 1/minSpeed, k.Speed), "speed")
	case k.QueueLimit < 0:
		return at(fmt.Errorf("%s: queue_limit must not be negative: %d", k.Name, k.QueueLimit), "queue_limit")
	}
	return nil
}

// isFileName reports whether name can be a part of a file's name on any system,
// and leads nowhere else.
func isFileName(name string) bool {
	for i, r := range name {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
		case i > 0 && i < len(name)-1 && strings.ContainsRune("._+- ", r):
		default:
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// network is the network as entities know it.
func (n Network) network() (*grid.Network, error) {
	var err error
	made := &grid.Network{Links: map[[2]string]grid.Link{}}
	if made.Default, err = link(n.Latency, n.Bandwidth); err != nil {
		return nil, at(fmt.Errorf("network: %w", err), "network")
	}
	for i, l := range n.Links {
		if made.Links[l.Between], err = link(l.Latency, l.Bandwidth); err != nil {
			return nil, at(fmt.Errorf("link %v: %w", l.Between, err), "network", "links", i)
		}
	}
	return made, nil
}

func link(latency float64, bandwidth *float64) (grid.Link, error) {
	if !(latency >= 0 && latency <= maxSeconds) {
		return grid.Link{}, fmt.Errorf("latency must be 0 to %g seconds, not %v", maxSeconds, latency)
	}
	l := grid.Direct()
	l.Latency = des.Seconds(latency)
	if bandwidth != nil {
		l.Bandwidth = *bandwidth
	}
	return l, l.Check()
}

// GridSummary is what a grid's row of summary.csv has beside the columns of every
// machine: of the jobs as a whole, a job's start being that of its first fragment
// and its finish that of its last. Times are in seconds.
type GridSummary struct {
	// TotalExecutionTime is the sum over the jobs of finish minus start.
	TotalExecutionTime float64 `csv:"total_execution_time" json:"total_execution_time"`
	// MeanFragmentWait is over the fragments: start minus the job's submission.
	MeanFragmentWait float64 `csv:"mean_fragment_wait" json:"mean_fragment_wait"`
	Fragments        int64   `csv:"fragments" json:"fragments"`
	Interventions    int64   `csv:"interventions" json:"interventions"`
	Conflicts        int64   `csv:"conflicts" json:"conflicts"`
	TooLarge         int64   `csv:"too_large" json:"too_large"`
	Cut              int64   `csv:"cut" json:"cut"`
	Expired          int64   `csv:"expired" json:"expired"`
	Offers           int64   `csv:"offers" json:"offers"`
	Messages         int64   `csv:"messages" json:"messages"`
}

// ClusterSummary is what became of one site, a row of clusters-STRATEGY.csv:
// of the fragments and the site's own jobs alike.
type ClusterSummary struct {
	Cluster     string  `csv:"cluster"`
	Processors  int     `csv:"processors"`
	Speed       float64 `csv:"speed"`
	Jobs        int     `csv:"jobs"`
	Utilization float64 `csv:"utilization"` // over the grid's makespan
	Rounds      int64   `csv:"rounds"`
}

func (g *Grid) prepare(c *call) (runner, error) {
	g = g.WithDefaults()
	for i, k := range g.Clusters {
		if _, err := c.tables.Policies.Parse(k.Policy, c.defaults()); err != nil {
			return nil, at(fmt.Errorf("%s: policy: %w", k.Name, err), "clusters", i, "policy")
		}
	}
	return func(ctx context.Context, p *policyRun) (*Result, error) { return g.run(ctx, c, p) }, nil
}

// run runs one strategy.
func (g *Grid) run(ctx context.Context, c *call, p *policyRun) (*Result, error) {
	strategy, err := c.tables.Strategies.Parse(p.spec)
	if err != nil {
		return nil, err
	}
	network, err := g.Network.network()
	if err != nil {
		return nil, err
	}
	whole := &executed{}
	s := p.settings
	s.Observers = append(append(s.Observers, whole), p.observers("")...)
	x := run.Begin(s)
	defer x.Close()
	// A job as a whole has no processors to name.
	if x.Observers, err = x.Jobs(x.Observers, "", 0, metrics.AllocationNone); err != nil {
		return nil, err
	}
	made := grid.NewGrid(x.Sim, network, x.Observers...)
	made.Expiry = des.Seconds(g.Expiry)
	defer made.Close()
	if g.Log {
		w, err := x.Create("log-", ".txt")
		if err != nil {
			return nil, err
		}
		if w != nil {
			made.Log = func(n grid.Note) { fmt.Fprintln(w, n) } // Commit has what went wrong
		}
	}
	sites := make([]*siteRecorder, len(g.Clusters))
	for i, k := range g.Clusters {
		sites[i] = &siteRecorder{}
		observers, err := x.Jobs(append([]entity.Observer{sites[i]}, p.observers(k.Name)...), k.Name, k.Processors, s.Allocation)
		if err != nil {
			return nil, err
		}
		closer, err := c.addSite(made, k, observers)
		if err != nil {
			return nil, err
		}
		defer closer()
	}
	for i := range g.Brokers {
		made.AddBroker(brokerName(i), strategy.Value())
	}
	made.SubmitFrom(sourceOf(p.jobs), g.Assign.to(x.Sim, g.Brokers))
	if err := x.Sim.Run(ctx); err != nil {
		return nil, err
	}
	if made.Open() > 0 {
		return nil, fmt.Errorf("strategy %s left %d jobs without a place for all their tasks", p.spec, made.Open())
	}
	clusters := g.clusters(made, sites, x.Makespan())
	if w, err := x.Create("clusters-", ".csv"); err != nil {
		return nil, err
	} else if w != nil {
		if err := gocsv.Marshal(clusters, w); err != nil {
			return nil, fmt.Errorf("writing clusters as CSV: %w", err)
		}
	}
	r, err := x.Commit()
	if err != nil {
		return nil, err
	}
	for _, k := range clusters {
		r.Summary.Utilization += k.Utilization / float64(len(clusters))
		r.Summary.Rounds += k.Rounds
	}
	r.Summary.Events = x.Sim.Executed()
	return &Result{Result: r, Grid: gridSummary(made.Stats(), whole), Clusters: clusters}, nil
}

// addSite adds a cluster with its scheduler and its own jobs, which are to be
// closed in the end.
func (c *call) addSite(g *grid.Grid, k Site, observers []entity.Observer) (closer func(), err error) {
	local, err := c.tables.Policies.Parse(k.Policy, c.defaults())
	if err != nil {
		return nil, err
	}
	a := g.AddAgent(k.Name, plan.NewCluster(k.Processors), local.Value, observers...)
	a.Speed, a.QueueLimit = k.Speed, k.QueueLimit
	a.Scheduler().Overrun, a.Scheduler().Pass = c.Workload.Options.Overrun, c.Settings.Pass
	if k.Local == "" {
		return func() {}, nil
	}
	o := workload.Options{Overrun: c.Workload.Options.Overrun, Estimates: c.Workload.Options.Estimates, Seed: c.Settings.Seed}
	t, err := o.Open(k.Local)
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

// executed sums up how long jobs were under way.
type executed struct{ seconds float64 }

func (r *executed) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobFinished || e.Kind == entity.JobKilled {
		r.seconds += (e.Run.Finish - e.Run.Start).Seconds()
	}
}

// siteRecorder sums up what runs at a site.
type siteRecorder struct {
	jobs int
	busy float64 // processor seconds
}

func (r *siteRecorder) Observe(e entity.JobEvent) {
	if j := e.Run; e.Kind == entity.JobFinished || e.Kind == entity.JobKilled {
		r.jobs++
		r.busy += float64(float64(j.Request.Nodes) * (e.Time - j.Start).Seconds())
	}
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

func (g *Grid) clusters(made *grid.Grid, sites []*siteRecorder, makespan float64) []ClusterSummary {
	var rows []ClusterSummary
	for i, k := range g.Clusters {
		meta := made.Agents()[i].Scheduler()
		row := ClusterSummary{Cluster: k.Name, Processors: k.Processors, Speed: k.Speed, Jobs: sites[i].jobs, Rounds: meta.Rounds()}
		if makespan > 0 {
			row.Utilization = sites[i].busy / (float64(k.Processors) * makespan)
		}
		rows = append(rows, row)
	}
	return rows
}
