package oarrla

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics"
)

// Experiment is OAR11's: strategies over a growing number of jobs (figures 2 and
// 3), and how far the settings that the paper leaves open matter.
type Experiment struct {
	Grid   *scenario.Grid
	Source Source
	Steps  []int64 // numbers of jobs, ascending
	// Strategies are run at every step: OAR first, then RLA by each rule of
	// learning. Others are run at the last step only, and Readings, which are
	// rules of learning with another choice where the paper gives none, at the
	// first and the last.
	Strategies, Others, Readings []string
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
		Strategies: []string{
			"oar", "rla", "rla-improvement", "rla:reward=relative", "rla:reward=sign", "rla:reward=inverse", "rla:reward=size",
		},
		Others: []string{"hybrid", "hybrid-improvement", "shortest-queue", "round-robin", "central"},
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
	for _, rule := range []string{"absolute", "relative", "sign"} {
		readings := []string{"first=100:by-size=on", "by-size=on", "emergencies=off", "since=fragment"}
		if rule == "absolute" { // the only one of the three to which a unit matters
			readings = append([]string{"first=3600", "first=86400"}, readings[1:]...)
		}
		for _, r := range readings {
			e.Readings = append(e.Readings, "rla:reward="+rule+":"+r)
		}
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

// GoString is the experiment in one text, the same in every process: it tells what
// results that were kept belong to.
func (e Experiment) GoString() string {
	type plain Experiment
	settings := plain(e)
	settings.Grid = nil
	return fmt.Sprintf("%#v of %#v", settings, *e.Grid)
}

// cell is one run.
type cell struct {
	variant  Variant
	jobs     int64
	strategy string
	measured measured
}

// row is what became of a run: what every machine tells, and what a grid does.
type row struct {
	metrics.Summary
	scenario.GridSummary
}

// measured is what a run was asked for, in the order of measures.
type measured [len(measures)]float64

// texts are the figures as texts that give the same numbers again.
func (r row) texts() (texts sweep.Row) {
	for _, m := range measures {
		texts = append(texts, sweep.Cell{Name: m.quantity, Value: strconv.FormatFloat(m.of(r), 'g', -1, 64)})
	}
	return texts
}

// read is the other way round.
func (f *measured) read(texts sweep.Row) (err error) {
	if len(texts) != len(f) {
		return fmt.Errorf("%d figures, not %d", len(texts), len(f))
	}
	for i, cell := range texts {
		if f[i], err = strconv.ParseFloat(cell.Value, 64); err != nil {
			return fmt.Errorf("%s: %w", cell.Name, err)
		}
	}
	return nil
}

// figure is one figure of the run, that of a measure.
func (c *cell) figure(quantity string, measure int, point string, x float64) reproduce.Row {
	return reproduce.Row{
		Series: c.strategy, Point: point, X: x, Quantity: quantity,
		Ours: metrics.Interval{Mean: c.measured[measure], N: 1},
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
	last := e.last()
	for _, s := range e.Readings {
		if e.Steps[0] != last {
			all = append(all, &cell{jobs: e.Steps[0], strategy: s})
		}
		all = append(all, &cell{jobs: last, strategy: s})
	}
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
		g.Clusters = append(g.Clusters, scenario.ClusterSite{Processors: n})
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
	// The mean of the clusters' own, whatever their sizes and speeds.
	r.Summary.Utilization = 0
	for _, k := range r.Clusters {
		r.Summary.Utilization += k.Utilization / float64(len(r.Clusters))
	}
	return row{r.Summary, *r.Grid}, nil
}

// Run runs every strategy at every step, once whatever c.Cycles says: there is
// one trace.
func (e Experiment) Run(ctx context.Context, c reproduce.Config) (reproduce.Table, error) {
	if len(e.Steps) == 0 {
		return reproduce.Table{}, fmt.Errorf("no number of jobs is given")
	}
	jobs, err := e.Source.setting()
	if err != nil {
		return reproduce.Table{}, err
	}
	if err := reproduce.CheckSettings(e.settings(jobs)); err != nil {
		return reproduce.Table{}, err
	}
	inputs, err := e.Source.inputs(c)
	if err != nil {
		return reproduce.Table{}, err
	}
	cells := e.cells()
	slices.Reverse(cells) // the longest runs first
	axis := sweep.Axis{Names: []string{"variant", "jobs", "strategy"}}
	for _, x := range cells {
		axis.Points = append(axis.Points, []string{x.variant.Name, strconv.FormatInt(x.jobs, 10), x.strategy})
	}
	rows, err := c.Sweep(ctx, e, axis, func(ctx context.Context, i int) (sweep.Row, error) {
		x := cells[i]
		result, err := simulate(ctx, with(e.Grid, x.variant), e.Source, x.jobs, x.variant.UserEstimates, x.strategy, c.Seed, scenario.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s, %d jobs, %s: %w", x.strategy, x.jobs, cmp.Or(x.variant.Name, "as published"), err)
		}
		return result.texts(), nil
	}, inputs...)
	if err != nil {
		return reproduce.Table{}, err
	}
	for i, x := range cells {
		if err := x.measured.read(rows[i]); err != nil {
			return reproduce.Table{}, err
		}
	}
	slices.Reverse(cells)
	t := e.table(cells, jobs)
	t.Cycles, t.Seed = 1, c.Seed
	return t, nil
}

// Quantities of the figures.
const (
	makespan      = "makespan, days"
	meanWait      = "mean wait, hours"
	utilization   = "utilization, %"
	interventions = "regulator interventions"
	fragmentWait  = "mean wait of fragments, hours"
)

// measure is something that a run is asked for.
type measure struct {
	quantity string
	of       func(row) float64
}

// measures are the paper's four, and two by which to judge them: a job's wait ends
// with its first fragment's, and the others may wait on.
var measures = [...]measure{
	{makespan, func(s row) float64 { return s.Makespan / 86400 }},
	{meanWait, func(s row) float64 { return s.MeanWait / 3600 }},
	{utilization, func(s row) float64 { return 100 * s.Utilization }},
	{interventions, func(s row) float64 { return float64(s.Interventions) }},
	{fragmentWait, func(s row) float64 { return s.MeanFragmentWait / 3600 }},
	{"total execution time, years", func(s row) float64 { return s.TotalExecutionTime / (365.25 * 86400) }},
}

func (e Experiment) table(cells []*cell, jobs reproduce.Setting) reproduce.Table {
	t := reproduce.Table{
		Name: e.Name(), Title: e.Title(), PublishedCycles: 1, XLabel: "jobs",
		Source:   "OAR11 figures 2 and 3, charts without numbers; speeds, network and local schedulers are not published",
		Settings: e.settings(jobs),
		Notes: []string{
			"Verdicts compare single runs: there is one trace, and no interval. A claim about an order is undecided where it holds under some of the settings that the paper leaves open, and not under others; one about a growth where it holds from the first number of jobs to the last, but not from each to the next.",
			"docs/papers/oar11.md says what holds, what does not, and why.",
		},
	}
	for k, m := range measures {
		for _, x := range cells {
			if x.variant.Name == "" && slices.Contains(e.Strategies, x.strategy) {
				t.Rows = append(t.Rows, x.figure(m.quantity, k, fmt.Sprintf("%d jobs", x.jobs), float64(x.jobs)))
			}
		}
	}
	for _, x := range cells {
		if slices.Contains(e.Readings, x.strategy) {
			t.Rows = append(t.Rows, x.figure("interventions, other readings", 3, fmt.Sprintf("%d jobs", x.jobs), float64(x.jobs)))
		}
	}
	last := e.last()
	for k, m := range measures[:5] {
		for _, x := range cells {
			if x.jobs == last {
				setting := 1 + slices.IndexFunc(e.Variants, func(v Variant) bool { return v.Name == x.variant.Name })
				quantity := fmt.Sprintf("%s at %d jobs against the setting", m.quantity, last)
				t.Rows = append(t.Rows, x.figure(quantity, k, cmp.Or(x.variant.Name, "as above"), float64(setting)))
			}
		}
	}
	t.Claims = e.register(func(v Variant, strategy string, jobs int64, quantity string) float64 {
		i := slices.IndexFunc(cells, func(x *cell) bool {
			return x.variant.Name == v.Name && x.strategy == strategy && x.jobs == jobs
		})
		k := slices.IndexFunc(measures[:], func(m measure) bool { return m.quantity == quantity })
		return cells[i].measured[k]
	})
	return t
}
