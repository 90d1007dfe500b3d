package oarrla

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/agent"
)

// Settings is what a run does with a grid and its workload.
type Settings struct {
	Strategy string // from the registry of strategies
	Overrun  entity.Overrun
	// Seed and Replication determine the random streams: learning, and random
	// assignment.
	Seed, Replication uint64
	// Local opens a trace of a site's own jobs; where it is nil a site that has
	// one is an error.
	Local func(path string) (Jobs, error)

	// Dir, if set, is the folder for the files.
	Dir      string
	Workload string // what the files call the workload
	// LockThread is as in run.Settings.
	LockThread bool

	// Observers are told of the jobs as a whole, SiteObservers, if set, makes
	// those of a site.
	Observers     []entity.Observer
	SiteObservers func(site Cluster) []entity.Observer
}

// Summary is what became of one run, a row of summary.csv: of the jobs as a
// whole, a job's start being that of its first fragment and its finish that of
// its last. Times are in seconds.
type Summary struct {
	metrics.Summary // Utilization is the mean of the clusters' own, each over the grid's makespan
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

// Jobs are a workload that can be closed. A workload.JobStream is one.
type Jobs interface {
	entity.Source
	Close() error
}

// Result is what became of a run.
type Result struct {
	Summary     Summary
	Clusters    []ClusterSummary
	Fingerprint uint64
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

// Simulate runs jobs through a grid. A run that fails, or that ctx ends, leaves
// no file behind.
func Simulate(ctx context.Context, jobs entity.Source, c Config, s Settings) (Result, error) {
	spent := run.Stopwatch(s.LockThread)
	defer spent.Stop()

	c = c.withDefaults()
	if err := c.Check(); err != nil {
		return Result{}, err
	}
	strategy, err := agent.Registry().Parse(s.Strategy)
	if err != nil {
		return Result{}, fmt.Errorf("strategy %w", err)
	}
	network, err := c.Network.network()
	if err != nil {
		return Result{}, err
	}
	files := &files{dir: s.Dir, name: strategy.FileName(), workload: s.Workload}
	defer files.abort()

	sim := des.New(des.Config{Seed: s.Seed, Replication: s.Replication, Fingerprint: true})
	whole := &recorder{Recorder: metrics.Recorder{Policy: strategy.Spec}}
	observers := append([]entity.Observer{whole}, s.Observers...)
	if observers, err = files.jobs(observers, "", 0); err != nil {
		return Result{}, err
	}
	g := grid.NewGrid(sim, network, observers...)
	g.Expiry = des.Seconds(c.Expiry)
	if c.Log {
		if g.Log, err = files.log(); err != nil {
			return Result{}, err
		}
	}
	defer g.Close()
	sites := make([]*siteRecorder, len(c.Clusters))
	for i, k := range c.Clusters {
		sites[i] = &siteRecorder{}
		observers := []entity.Observer{sites[i]}
		if s.SiteObservers != nil {
			observers = append(observers, s.SiteObservers(k)...)
		}
		if observers, err = files.jobs(observers, "-"+k.Name, k.Processors); err != nil {
			return Result{}, err
		}
		closer, err := c.addSite(g, k, s, observers)
		if err != nil {
			return Result{}, err
		}
		defer closer()
	}
	for i := range c.Brokers {
		g.AddBroker(brokerName(i), strategy.Value())
	}
	g.SubmitFrom(jobs, c.Assign.assign(sim, c.Brokers))
	if err := sim.Run(ctx); err != nil {
		return Result{}, err
	}
	if g.Open() > 0 {
		return Result{}, fmt.Errorf("strategy %s left %d jobs without a place for all their tasks", strategy.Spec, g.Open())
	}
	result := summarise(sim, g, whole, sites, c)
	if result.Summary.Jobs == 0 {
		return Result{}, run.ErrNoJobs
	}
	result.Fingerprint = sim.Fingerprint()
	if err := files.commit(result.Clusters); err != nil {
		return Result{}, err
	}
	result.Summary.CPUSeconds = spent.Seconds()
	return result, nil
}

// addSite adds a cluster with its scheduler and its own jobs, which are to be
// closed in the end.
func (c Config) addSite(g *grid.Grid, k Cluster, s Settings, observers []entity.Observer) (closer func(), err error) {
	local, err := policy.Registry().Parse(k.Policy)
	if err != nil {
		return nil, err
	}
	a := g.AddAgent(k.Name, plan.NewCluster(k.Processors), local.Value, observers...)
	a.Speed, a.QueueLimit = k.Speed, k.QueueLimit
	a.Scheduler().Overrun = s.Overrun
	if k.Local == "" {
		return func() {}, nil
	}
	if s.Local == nil {
		return nil, fmt.Errorf("%s has jobs of its own, which cannot be read here", k.Name)
	}
	own, err := s.Local(k.Local)
	if err != nil {
		return nil, fmt.Errorf("%s, jobs of its own: %w", k.Name, err)
	}
	a.Scheduler().SubmitFrom(own)
	return func() { own.Close() }, nil
}

// assign is the function that says which of n brokers gets a job.
func (a Assign) assign(sim *des.Simulator, n int) func(*entity.Job) int {
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

// recorder sums up jobs as a whole.
type recorder struct {
	metrics.Recorder
	executed float64 // seconds
}

func (r *recorder) Observe(e entity.JobEvent) {
	r.Recorder.Observe(e)
	if e.Kind == entity.JobFinished || e.Kind == entity.JobKilled {
		r.executed += (e.Run.Finish - e.Run.Start).Seconds()
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

func summarise(sim *des.Simulator, g *grid.Grid, whole *recorder, sites []*siteRecorder, c Config) Result {
	stats := g.Stats()
	sum := Summary{
		Summary: whole.Recorder.Summary(), TotalExecutionTime: whole.executed,
		Fragments: stats.Fragments, Interventions: stats.Interventions, Conflicts: stats.Conflicts,
		TooLarge: stats.TooLarge, Cut: stats.Cut, Expired: stats.Expired, Offers: stats.Offers, Messages: stats.Messages,
	}
	if stats.Fragments > 0 {
		sum.MeanFragmentWait = stats.FragmentWait / float64(stats.Fragments)
	}
	var clusters []ClusterSummary
	for i, k := range c.Clusters {
		r, meta := sites[i], g.Agents()[i].Scheduler()
		row := ClusterSummary{Cluster: k.Name, Processors: k.Processors, Speed: k.Speed, Jobs: r.jobs, Rounds: meta.Rounds()}
		if sum.Makespan > 0 {
			row.Utilization = r.busy / (float64(k.Processors) * sum.Makespan)
		}
		sum.Utilization += row.Utilization / float64(len(c.Clusters))
		sum.Rounds += row.Rounds
		clusters = append(clusters, row)
	}
	sum.Events = sim.Executed()
	return Result{Summary: sum, Clusters: clusters}
}
