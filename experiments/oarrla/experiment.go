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

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/metrics"
)

// Experiment is OAR11's: strategies over a growing number of jobs (figures 2 and
// 3), and how far the settings that the paper leaves open matter.
type Experiment struct {
	Grid   *scenario.Grid
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
			{Name: "large faster", Speeds: []float64{1.3, 1.2, 1.1, 1, 0.9, 0.8, 0.7}},
			{Name: "small faster", Speeds: []float64{0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3}},
			{Name: "latency 0.01 s", Latency: 0.01},
			{Name: "latency 30 s", Latency: 30},
			{Name: "FCFS", Policy: "fcfs"},
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
	result   row
}

// row is what became of a run: what every machine tells, and what a grid does.
type row struct {
	metrics.Summary
	scenario.GridSummary
}

// figure is one figure of the run.
func (c *cell) figure(quantity string, of func(row) float64, point string, x float64) reproduce.Row {
	return reproduce.Row{
		Series: c.strategy, Point: point, X: x, Quantity: quantity,
		Ours: metrics.Interval{Mean: of(c.result), N: 1},
		Own:  c.strategy != "oar" && c.strategy != "rla",
	}
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

// OAR11 is the paper's grid: seven clusters, seven brokers. It gives neither
// speeds nor latencies nor the local schedulers: ours are equal speeds, 1 s
// (a wide-area round trip and the handling at both ends) and EASY.
func OAR11() *scenario.Grid {
	g := &scenario.Grid{Network: scenario.Network{Latency: 1}}
	for _, n := range []int{240, 210, 180, 150, 120, 90, 60} {
		g.Clusters = append(g.Clusters, scenario.Site{Processors: n})
	}
	return g.WithDefaults()
}

// with is a grid as a variant has it.
func with(g *scenario.Grid, v Variant) *scenario.Grid {
	g = g.WithDefaults() // a copy
	for i := range g.Clusters {
		if i < len(v.Speeds) {
			g.Clusters[i].Speed = v.Speeds[i]
		}
		g.Clusters[i].Policy = cmp.Or(v.Policy, g.Clusters[i].Policy)
	}
	g.Network.Latency = cmp.Or(v.Latency, g.Network.Latency)
	return g
}

// simulate runs a strategy on so many jobs of a source.
func simulate(ctx context.Context, g *scenario.Grid, from Source, jobs int64, user bool, strategy string, seed uint64, o scenario.Options) (row, error) {
	sc := scenario.New()
	sc.Machine, sc.Policies, sc.Settings.Seed = g, []string{strategy}, seed
	sc.Workload.Name = from.String()
	sc.Workload.Jobs = func(seed uint64) (entity.Source, error) { return from.open(seed, jobs, user) }
	out, err := scenario.Run(ctx, sc, o)
	if err != nil {
		return row{}, err
	}
	r := out.Results[0]
	return row{r.Summary, *r.Grid}, nil
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
		var err error
		x.result, err = simulate(ctx, with(e.Grid, x.variant), e.Source, x.jobs, x.variant.UserEstimates, x.strategy, c.Seed, scenario.Options{})
		if err != nil {
			return fmt.Errorf("%s, %d jobs, %s: %w", x.strategy, x.jobs, cmp.Or(x.variant.Name, "as published"), err)
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

// measure is something that a run is asked for.
type measure struct {
	quantity string
	of       func(row) float64
}

// measures are the paper's four, and two by which to judge them.
var measures = []measure{
	{makespan, func(s row) float64 { return s.Makespan / 86400 }},
	{meanWait, func(s row) float64 { return s.MeanWait / 3600 }},
	{utilization, func(s row) float64 { return 100 * s.Utilization }},
	{interventions, func(s row) float64 { return float64(s.Interventions) }},
	{"total execution time, years", func(s row) float64 { return s.TotalExecutionTime / (365.25 * 86400) }},
	{"mean wait of fragments, hours", func(s row) float64 { return s.MeanFragmentWait / 3600 }},
}

func (e Experiment) table(cells []*cell) reproduce.Table {
	t := reproduce.Table{
		Name: e.Name(), Title: e.Title(), PublishedCycles: 1, XLabel: "jobs",
		Source: "OAR11 figures 2 and 3, charts without numbers; speeds, network and local schedulers are not published",
		Settings: []reproduce.Setting{
			{Name: "jobs", Value: e.Source.String(), From: reproduce.Source{Origin: reproduce.Reconstruction, Where: "OAR11 5 has SDSC Blue Horizon, 503 days"}},
			{Name: "brokers", Value: fmt.Sprintf("%d, jobs in turn", e.Grid.Brokers), From: reproduce.Source{Origin: reproduce.Paper, Where: "OAR11 5"}},
			{Name: "speeds", Value: "equal", From: reproduce.Source{Origin: reproduce.Ours, Where: "not published; unequal ones are below"}},
			{Name: "local schedulers", Value: e.Grid.Clusters[0].Policy, From: reproduce.Source{Origin: reproduce.Ours, Where: "not published; FCFS is below"}},
			{Name: "latency", Value: fmt.Sprintf("%g s a message", e.Grid.Network.Latency), From: reproduce.Source{Origin: reproduce.Ours, Where: "not published; others are below"}},
			{Name: "runtimes", Value: "known", From: reproduce.Source{Origin: reproduce.Paper, Where: "OAR11 3: a job has so many million instructions"}},
		},
		Remarks: []string{
			"makespan: last finish minus first submission; total execution time: sum over the jobs of finish minus start; wait: to the start of a job's first fragment; utilization: the mean of the clusters' own over the makespan.",
		},
		Notes: []string{"docs/papers/oar11.md says what holds, what does not, and why."},
	}
	for _, m := range measures {
		for _, x := range cells {
			if x.variant.Name == "" && slices.Contains(e.Strategies, x.strategy) {
				t.Rows = append(t.Rows, x.figure(m.quantity, m.of, fmt.Sprintf("%d jobs", x.jobs), float64(x.jobs)))
			}
		}
	}
	last := e.Steps[len(e.Steps)-1]
	for _, m := range measures[:4] {
		for _, x := range cells {
			if x.jobs == last {
				setting := 1 + slices.IndexFunc(e.Variants, func(v Variant) bool { return v.Name == x.variant.Name })
				quantity := fmt.Sprintf("%s at %d jobs against the setting", m.quantity, last)
				t.Rows = append(t.Rows, x.figure(quantity, m.of, cmp.Or(x.variant.Name, "as above"), float64(setting)))
			}
		}
	}
	t.Claims = e.claims(func(v Variant, strategy string, jobs int64, quantity string) float64 {
		i := slices.IndexFunc(cells, func(x *cell) bool {
			return x.variant.Name == v.Name && x.strategy == strategy && x.jobs == jobs
		})
		k := slices.IndexFunc(measures, func(m measure) bool { return m.quantity == quantity })
		return measures[k].of(cells[i].result)
	})
	return t
}

// claims are the published shapes, judged by one run each: there is one trace.
func (e Experiment) claims(at func(v Variant, strategy string, jobs int64, quantity string) float64) []reproduce.Claim {
	var claims []reproduce.Claim
	claim := func(text string, holds bool, detail string, args ...any) {
		c := reproduce.Claim{Text: text, Verdict: reproduce.Holds}
		if !holds {
			c.Verdict, c.Detail = reproduce.Fails, fmt.Sprintf(detail, args...)
		}
		claims = append(claims, c)
	}
	first, last := e.Steps[0], e.Steps[len(e.Steps)-1]
	for _, s := range e.Strategies {
		var made, used []float64
		for _, n := range e.Steps {
			made = append(made, at(Variant{}, s, n, makespan))
			used = append(used, at(Variant{}, s, n, utilization))
		}
		claim(s+": makespan grows with the number of jobs", slices.IsSorted(made), "%.4g", made)
		spread := slices.Max(used) - slices.Min(used)
		claim(s+": utilization is stable, within 10 points", spread <= 10, "%.1f points", spread)
		growth := at(Variant{}, s, last, interventions) / math.Max(at(Variant{}, s, first, interventions), 1)
		if s == e.Strategies[0] {
			claim(s+": interventions grow", growth > 1, "%.1f times", growth)
		} else {
			claim(s+": interventions are flat, less than doubled", growth < 2, "%.1f times as many for %.1f times the jobs", growth, float64(last)/float64(first))
		}
	}
	// At scale OAR's makespan is lower, RLA's wait, utilization and interventions are.
	for _, v := range append([]Variant{{}}, e.Variants...) {
		for _, rla := range e.Strategies[1:] {
			var against []string
			for i, m := range measures[:4] {
				a, b := at(v, e.Strategies[0], last, m.quantity), at(v, rla, last, m.quantity)
				if m.quantity == makespan {
					a, b = b, a
				}
				if b >= a {
					against = append(against, fmt.Sprintf("%s: %.4g not below %.4g", measures[i].quantity, b, a))
				}
			}
			text := fmt.Sprintf("%d jobs, %s: %s ends first, %s waits less, uses less and calls less", last, cmp.Or(v.Name, "as above"), e.Strategies[0], rla)
			claim(text, len(against) == 0, "%s", strings.Join(against, "; "))
		}
	}
	return claims
}
