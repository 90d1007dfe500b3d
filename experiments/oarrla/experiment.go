package oarrla

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
)

// Experiment is OAR11's: strategies over a growing number of jobs (figures 2 and
// 3), and how far the settings that the paper leaves open matter.
type Experiment struct {
	Grid   Config
	Source Source
	Steps  []int64 // numbers of jobs, ascending
	// Strategies are run at every step, Others at the last only.
	Strategies, Others []string
	// Variants are run with Strategies at the last step.
	Variants []Variant
}

// Variant is another choice where the paper gives none. Zero values leave the
// grid as it is.
type Variant struct {
	Name          string
	Speeds        []float64 // by cluster
	Latency       float64   // seconds
	Policy        string    // of the local schedulers
	UserEstimates bool      // what users say, not what jobs take
}

// New is the experiment as the paper has it: up to 117,000 jobs.
func New() Experiment {
	e := Experiment{
		Grid: OAR11(), Source: FindSource(),
		Strategies: []string{"oar", "rla", "rla-improvement"},
		Others:     []string{"hybrid", "hybrid-improvement", "shortest-queue", "round-robin", "central"},
		Variants: []Variant{
			{Name: "large clusters faster (1.3 to 0.7)", Speeds: []float64{1.3, 1.2, 1.1, 1, 0.9, 0.8, 0.7}},
			{Name: "small clusters faster (0.7 to 1.3)", Speeds: []float64{0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3}},
			{Name: "latency 0.01 s", Latency: 0.01},
			{Name: "latency 30 s", Latency: 30},
			{Name: "FCFS at the sites", Policy: "fcfs"},
		},
	}
	if e.Source.Trace != "" {
		e.Variants = append(e.Variants, Variant{Name: "users' estimates", UserEstimates: true})
	}
	for n := int64(13_000); n <= 117_000; n += 13_000 {
		e.Steps = append(e.Steps, n)
	}
	return e
}

// Name is "oar-rla".
func (Experiment) Name() string { return "oar-rla" }

// Title says what it shows.
func (Experiment) Title() string {
	return "Offers with advance reservation against learned shares, brokers over seven clusters (OAR11, figures 2 and 3)"
}

// cell is one run.
type cell struct {
	variant  Variant
	jobs     int64
	strategy string
	result   Result
}

func (c *cell) series() string {
	if c.variant.Name == "" {
		return c.strategy
	}
	return c.strategy + ", " + c.variant.Name
}

func (e Experiment) cells() []*cell {
	var all []*cell
	for _, n := range e.Steps {
		for _, s := range e.Strategies {
			all = append(all, &cell{jobs: n, strategy: s})
		}
	}
	last := e.Steps[len(e.Steps)-1]
	for _, s := range e.Others {
		all = append(all, &cell{jobs: last, strategy: s})
	}
	for _, v := range e.Variants {
		for _, s := range e.Strategies {
			all = append(all, &cell{variant: v, jobs: last, strategy: s})
		}
	}
	return all
}

// with is the grid of a variant.
func (c Config) with(v Variant) Config {
	c.Clusters = slices.Clone(c.Clusters)
	for i := range c.Clusters {
		if i < len(v.Speeds) {
			c.Clusters[i].Speed = v.Speeds[i]
		}
		c.Clusters[i].Policy = cmp.Or(v.Policy, c.Clusters[i].Policy)
	}
	c.Network.Latency = cmp.Or(v.Latency, c.Network.Latency)
	return c
}

// Run runs every strategy at every step, once whatever c.Cycles says: there is
// one trace.
func (e Experiment) Run(ctx context.Context, c reproduce.Config) (reproduce.Table, error) {
	if len(e.Steps) == 0 {
		return reproduce.Table{}, fmt.Errorf("no number of jobs is given")
	}
	cells := e.cells()
	var done atomic.Int64
	err := run.Each(ctx, len(cells), cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), func(ctx context.Context, i int) error {
		x := cells[len(cells)-1-i] // the longest runs first
		jobs, err := e.Source.open(c.Seed, x.jobs, x.variant.UserEstimates)
		if err != nil {
			return err
		}
		defer jobs.Close()
		x.result, err = Simulate(ctx, jobs, e.Grid.with(x.variant), Settings{Strategy: x.strategy, Seed: c.Seed})
		if err != nil {
			return fmt.Errorf("%s, %d jobs: %w", x.series(), x.jobs, err)
		}
		if d := int(done.Add(1)); c.Progress != nil {
			c.Progress(d, len(cells))
		}
		return nil
	})
	if err != nil {
		return reproduce.Table{}, err
	}
	t := e.table(cells)
	t.Cycles, t.Seed = 1, c.Seed
	return t, nil
}

// Quantities of the figures.
const (
	makespan      = "makespan, days"
	meanWait      = "mean wait, hours"
	utilization   = "utilization, %"
	interventions = "regulator interventions"
)

// measures are what a run is asked for.
var measures = []struct {
	quantity string
	of       func(Summary) float64
}{
	{makespan, func(s Summary) float64 { return s.Makespan / 86400 }},
	{meanWait, func(s Summary) float64 { return s.MeanWait / 3600 }},
	{utilization, func(s Summary) float64 { return 100 * s.Utilization }},
	{interventions, func(s Summary) float64 { return float64(s.Interventions) }},
	{"total execution time, years", func(s Summary) float64 { return s.TotalExecutionTime / (365.25 * 86400) }},
	{"mean wait of fragments, hours", func(s Summary) float64 { return s.MeanFragmentWait / 3600 }},
}

func (e Experiment) table(cells []*cell) reproduce.Table {
	t := reproduce.Table{
		Name: e.Name(), Title: e.Title(), PublishedCycles: 1, XLabel: "jobs",
		Source: "OAR11 figures 2 and 3, charts without numbers; speeds, network and local schedulers are not published",
		Settings: []string{
			e.Source.String(),
			fmt.Sprintf("%d brokers, jobs in turn; clusters of equal speed, %s at the sites; a message takes %g s; runtimes known.", e.Grid.Brokers, e.Grid.Clusters[0].Policy, e.Grid.Network.Latency),
			"makespan: last finish minus first submission; total execution time: sum over the jobs of finish minus start; wait: to the start of a job's first fragment; utilization: the mean of the clusters' own over the makespan.",
		},
		Notes: []string{"docs/papers/oar11.md says what holds, what does not, and why."},
	}
	found := map[reproduce.Ref]float64{}
	for _, m := range measures {
		for _, x := range cells {
			row := reproduce.Row{
				Series: x.series(), Point: fmt.Sprintf("%d jobs", x.jobs), X: float64(x.jobs), Quantity: m.quantity,
				Ours: metrics.Estimate{Mean: m.of(x.result.Summary), N: 1}, Own: x.strategy != "oar" && x.strategy != "rla" || x.variant.Name != "",
			}
			found[reproduce.Ref{Series: row.Series, Point: row.Point, Quantity: row.Quantity}] = row.Ours.Mean
			t.Rows = append(t.Rows, row)
		}
	}
	t.Claims = e.claims(func(series string, jobs int64, quantity string) float64 {
		return found[reproduce.Ref{Series: series, Point: fmt.Sprintf("%d jobs", jobs), Quantity: quantity}]
	})
	return t
}

// claims are the published shapes, judged by one run each: there is one trace.
func (e Experiment) claims(at func(series string, jobs int64, quantity string) float64) []reproduce.Claim {
	var claims []reproduce.Claim
	claim := func(text string, holds bool, detail string, args ...any) {
		c := reproduce.Claim{Text: text, Verdict: reproduce.Holds}
		if !holds {
			c.Verdict, c.Detail = reproduce.Fails, fmt.Sprintf(detail, args...)
		}
		claims = append(claims, c)
	}
	first, last := e.Steps[0], e.Steps[len(e.Steps)-1]
	column := func(series, quantity string) (values []float64) {
		for _, n := range e.Steps {
			values = append(values, at(series, n, quantity))
		}
		return values
	}
	for _, s := range e.Strategies {
		claim("makespan grows with the number of jobs: "+s, slices.IsSorted(column(s, makespan)), "%v", column(s, makespan))
		u := column(s, utilization)
		spread := slices.Max(u) - slices.Min(u)
		claim("utilization is stable, within 10 points: "+s, spread <= 10, "%.1f points", spread)
		growth := at(s, last, interventions) / math.Max(at(s, first, interventions), 1)
		if strings.HasPrefix(s, "rla") {
			claim("interventions are flat, less than doubled: "+s, growth < 2, "%.1f times as many for %.1f times the jobs", growth, float64(last)/float64(first))
		} else {
			claim("interventions grow: "+s, growth > 1, "%.1f times", growth)
		}
	}
	for _, v := range append([]Variant{{}}, e.Variants...) {
		name := func(s string) string { return (&cell{variant: v, strategy: s}).series() }
		for _, rla := range e.Strategies[1:] {
			oar := name(e.Strategies[0])
			for _, c := range []struct {
				quantity string
				rlaLess  bool
			}{{makespan, false}, {meanWait, true}, {utilization, true}, {interventions, true}} {
				a, b := at(oar, last, c.quantity), at(name(rla), last, c.quantity)
				text := fmt.Sprintf("%s at %d jobs: %s < %s", c.quantity, last, oar, rla)
				if c.rlaLess {
					text = fmt.Sprintf("%s at %d jobs: %s < %s", c.quantity, last, name(rla), e.Strategies[0])
				}
				claim(text, (c.rlaLess && b < a) || (!c.rlaLess && a < b), "%.5g against %.5g", b, a)
			}
		}
	}
	return claims
}
