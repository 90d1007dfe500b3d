package reproduce

// OAR11's experiment: brokers who share seven clusters, by offers with advance
// reservation (OAR) or by learned shares (RLA).
//
//	Grid x Source x Steps x Strategies  ->  a run each  ->  figures 2 and 3, claims

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/experiments/internal/plain"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/workload"
)

// oar11 runs strategies over a growing number of jobs (figures 2 and 3), and sees how far the
// settings that the paper leaves open matter.
type oar11 struct {
	Grid   simulation.Grid
	Source oarSource
	Steps  []int64 // numbers of jobs, ascending
	// Strategies are run at every step: OAR first, then RLA by each rule of learning. Others are
	// run at the last step only. Readings are rules of learning with another choice of what the
	// paper leaves open; they are run at the first and the last step.
	Strategies, Others, Readings []string
	// Variants are run with Strategies at the last step.
	Variants []oarVariant
	// Shapes and Orders are the paper's claims about single strategies, and about OAR and RLA.
	Shapes []oarShape
	Orders []oarOrder
	// What the strategies do unless they are told otherwise, for the page: the score with which
	// agents begin, and how long an emergency reservation is kept.
	FirstScore float64
	Expiry     des.Time
}

// oarVariant is another choice of what the paper leaves open. Zero values leave the grid as it is.
type oarVariant struct {
	Name    string
	Speeds  []float64 // by cluster
	Latency float64   // seconds
	Policy  string    // of the local schedulers
	// UserEstimates plans by what users say, which only a trace has, not by what jobs take.
	UserEstimates bool
}

// oarShape is a claim about the figures of one strategy over the numbers of jobs.
type oarShape struct {
	Where, Text, Quantity string
	// Of is oar or rla; the claim is about all strategies if it is empty.
	Of    string
	Shape string // one of oarShapes
}

// oarOrder is a claim that one of OAR and RLA has less of something at the last step.
type oarOrder struct {
	Where, Text, Quantity string
	Less                  string // oar or rla
}

// complete fills in the defaults of grid and strategies, and where the jobs come from.
func (e *oar11) complete() {
	e.Grid = *e.Grid.WithDefaults()
	e.Source, e.FirstScore, e.Expiry = findSource(), agent.Initial, grid.DefaultExpiry
	if e.Source.Trace == "" {
		e.Variants = slices.DeleteFunc(e.Variants, func(v oarVariant) bool { return v.UserEstimates })
	}
}

// oarSource says where an experiment's jobs come from: a trace, or Lublin and Feitelson's model.
type oarSource struct {
	Trace      string  // path of a trace, or "" for the model
	Processors int     // of the model's machine
	Load       float64 // that the model offers on it
}

// lookAlike returns what stands for SDSC-BLUE if that is not at hand: as large a machine, under the
// same load.
func lookAlike() oarSource { return oarSource{Processors: 1152, Load: 0.763} }

// findSource returns OAR11's trace, SDSC-BLUE, if the folder of real logs has it; otherwise a
// look-alike. Of several files it takes the one with the shortest name, which has nothing added to
// the archive's.
func findSource() oarSource {
	if dir := os.Getenv(tracesVariable); dir != "" {
		if found, err := filepath.Glob(filepath.Join(dir, "SDSC-BLUE*.swf*")); err == nil && len(found) > 0 {
			return oarSource{Trace: slices.MinFunc(found, func(a, b string) int { return cmp.Compare(len(a), len(b)) })}
		}
	}
	return lookAlike()
}

// String says what the jobs are.
func (s oarSource) String() string {
	if s.Trace != "" {
		return fmt.Sprintf("the first of %s.", filepath.Base(s.Trace))
	}
	return fmt.Sprintf("NOT the paper's trace, which is not at hand (set %s to the folder that has SDSC-BLUE), but a generated look-alike: Lublin and Feitelson's model, %d processors, load %g.",
		tracesVariable, s.Processors, s.Load)
}

// setting says what the jobs are and where they come from. A trace is the paper's unless its own
// header says that it was reconstructed.
func (s oarSource) setting() (setting, error) {
	made := setting{"jobs", s.String(), "a reconstruction: OAR11 IV-A has SDSC Blue Horizon, 503 days and 117,000 jobs"}
	if s.Trace == "" {
		return made, nil
	}
	t, err := workload.OpenSWF(s.Trace)
	if err != nil {
		return made, err
	}
	if how, rebuilt := reconstructed(t); rebuilt {
		made.Value += fmt.Sprintf(" It is NOT the file of the archive, which the paper used; its header: %q.", how)
	} else {
		made.From = "OAR11 IV-A"
	}
	return made, nil
}

// first returns a workload of the first n jobs. OAR11's jobs are known by their length, so
// estimates are exact unless user asks for those of the users.
func (s oarSource) first(n int64, user bool) simulation.Workload {
	if s.Trace == "" {
		return simulation.Workload{Trace: fmt.Sprintf("lublin:jobs=%d:procs=%d:load=%g", n, s.Processors, s.Load)}
	}
	o := workload.Options{Part: workload.Part{First: n, Shift: true}}
	if !user {
		o.Estimates.Kind = workload.EstimatesExact
	}
	return simulation.Workload{Trace: s.Trace, Options: o}
}

// Quantities of the figures.
const (
	makespan      = "makespan, days"
	meanWaitHours = "mean wait, hours"
	usedPercent   = "utilization, %"
	interventions = "regulator interventions"
)

// oarRow is the result of a run: the figures of every machine, and those of a grid.
type oarRow struct {
	metrics.Summary
	simulation.GridSummary
}

// oarMeasures are the paper's four, and two by which to judge them: a job's wait ends
// with its first fragment's, and the others may wait on.
var oarMeasures = [...]struct {
	quantity string
	of       func(oarRow) float64
}{
	{makespan, func(s oarRow) float64 { return s.Makespan / 86400 }},
	{meanWaitHours, func(s oarRow) float64 { return s.MeanWait / 3600 }},
	{usedPercent, func(s oarRow) float64 { return 100 * s.Utilization }},
	{interventions, func(s oarRow) float64 { return float64(s.Interventions) }},
	{"mean wait of fragments, hours", func(s oarRow) float64 { return s.MeanFragmentWait / 3600 }},
	{"total execution time, years", func(s oarRow) float64 { return s.TotalExecutionTime / (365.25 * 86400) }},
}

// oarCell is one run: a strategy on a number of jobs, under a variant.
type oarCell struct {
	variant  oarVariant
	jobs     int64
	strategy string
	measured []float64 // as oarMeasures
}

// last returns the largest number of jobs.
func (e oar11) last() int64 { return e.Steps[len(e.Steps)-1] }

// cells returns all runs, each once.
func (e oar11) cells() (all []*oarCell) {
	add := func(v oarVariant, jobs int64, strategies []string) {
		for _, s := range strategies {
			all = append(all, &oarCell{variant: v, jobs: jobs, strategy: s})
		}
	}
	for _, n := range e.Steps {
		add(oarVariant{}, n, e.Strategies)
	}
	for _, s := range e.Readings {
		if e.Steps[0] != e.last() {
			add(oarVariant{}, e.Steps[0], []string{s})
		}
		add(oarVariant{}, e.last(), []string{s})
	}
	add(oarVariant{}, e.last(), e.Others)
	for _, v := range e.Variants {
		add(v, e.last(), e.Strategies)
	}
	return all
}

// gridAs returns the grid as a variant has it.
func (e oar11) gridAs(v oarVariant) simulation.Grid {
	g := e.Grid.WithDefaults() // a copy
	for i := range g.Clusters {
		if i < len(v.Speeds) {
			g.Clusters[i].Speed = v.Speeds[i]
		}
		g.Clusters[i].Policy = cmp.Or(v.Policy, g.Clusters[i].Policy)
	}
	g.Network.Latency = cmp.Or(v.Latency, g.Network.Latency)
	return *g
}

// onGrid runs a strategy on the first jobs of a source.
func onGrid(ctx context.Context, g simulation.Grid, from oarSource, jobs int64, user bool, strategy string, seed uint64, o simulation.Options) (oarRow, error) {
	sc := simulation.New()
	sc.Machine, sc.Policies, sc.Settings.Seed = &g, []string{strategy}, seed
	sc.Workload = from.first(jobs, user)
	out, err := simulation.Run(ctx, sc, o)
	if err != nil {
		return oarRow{}, err
	}
	r := out.Results[0]
	// OAR11's utilization is the mean of the clusters' own, whatever their sizes and speeds.
	r.Summary.Utilization = 0
	for _, k := range r.Clusters {
		r.Summary.Utilization += k.Utilization / float64(len(r.Clusters))
	}
	return oarRow{r.Summary, *r.Grid}, nil
}

// measure runs every strategy at every step, once whatever c.Cycles says: there is one trace.
func (e oar11) measure(ctx context.Context, c Config, _ *page, t *Reproduction) ([]tableRow, error) {
	if len(e.Steps) == 0 {
		return nil, fmt.Errorf("no number of jobs is given")
	}
	jobs, err := e.Source.setting()
	if err != nil {
		return nil, err
	}
	t.settings = append([]setting{jobs}, t.settings...)
	var inputs []sweep.Input // with its checksum where what is done is kept
	if e.Source.Trace != "" && c.Dir != "" {
		in, err := sweep.InputFile(e.Source.Trace)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	cells := e.cells()
	if err := e.run(ctx, c, cells, inputs); err != nil {
		return nil, err
	}
	// claims are asked for by strategy, number of jobs and quantity.
	t.claims = e.claims(func(v oarVariant, strategy string, jobs int64, quantity string) float64 {
		i := slices.IndexFunc(cells, func(x *oarCell) bool {
			return x.variant.Name == v.Name && x.strategy == strategy && x.jobs == jobs
		})
		for k, m := range oarMeasures {
			if m.quantity == quantity {
				return cells[i].measured[k]
			}
		}
		return 0
	})
	return e.rows(cells), nil
}

// run carries out all cells. A cell is a unit of a study, so that what is done of it is kept; the
// longest runs come first.
func (e oar11) run(ctx context.Context, c Config, cells []*oarCell, inputs []sweep.Input) error {
	var quantities []string
	for _, m := range oarMeasures {
		quantities = append(quantities, m.quantity)
	}
	backwards := slices.Clone(cells)
	slices.Reverse(backwards)
	axis := sweep.Axis{Names: []string{"variant", "jobs", "strategy"}}
	for _, x := range backwards {
		axis.Points = append(axis.Points, []string{x.variant.Name, strconv.FormatInt(x.jobs, 10), x.strategy})
	}
	rows, err := c.sweep(ctx, e, axis, func(ctx context.Context, i int) (sweep.Row, error) {
		x := backwards[i]
		r, err := onGrid(ctx, e.gridAs(x.variant), e.Source, x.jobs, x.variant.UserEstimates, x.strategy, c.Seed, simulation.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s, %d jobs, %s: %w", x.strategy, x.jobs, cmp.Or(x.variant.Name, "as published"), err)
		}
		found := noObservations(len(quantities), 1)
		for k, m := range oarMeasures {
			found.values[k] = m.of(r)
		}
		return found.texts(quantities), nil
	}, inputs...)
	if err != nil {
		return err
	}
	for i, texts := range rows {
		found := noObservations(len(quantities), 1)
		if err := found.read(quantities, texts); err != nil {
			return err
		}
		backwards[i].measured = found.values
	}
	return nil
}

// rows returns the figures by their numbers of jobs and, at the last number, by variant.
func (e oar11) rows(cells []*oarCell) (rows []tableRow) {
	add := func(x *oarCell, quantity string, measure int, point string, at float64) {
		rows = append(rows, tableRow{
			Series: x.strategy, Point: point, X: at, Quantity: quantity,
			Ours: single(x.measured[measure]), Own: x.strategy != "oar" && x.strategy != "rla",
		})
	}
	byJobs := func(of []string, quantity string, measure int) {
		for _, x := range cells {
			if x.variant.Name == "" && slices.Contains(of, x.strategy) {
				add(x, quantity, measure, fmt.Sprintf("%d jobs", x.jobs), float64(x.jobs))
			}
		}
	}
	for k, m := range oarMeasures {
		byJobs(e.Strategies, m.quantity, k)
	}
	// Measure 3 of oarMeasures is the interventions.
	byJobs(e.Readings, "interventions, other readings", 3)
	for k, m := range oarMeasures[:5] {
		for _, x := range cells {
			if x.jobs == e.last() {
				setting := 1 + slices.IndexFunc(e.Variants, func(v oarVariant) bool { return v.Name == x.variant.Name })
				add(x, fmt.Sprintf("%s at %d jobs against the setting", m.quantity, e.last()), k, cmp.Or(x.variant.Name, "as above"), float64(setting))
			}
		}
	}
	return rows
}

// claims returns what OAR11 claims, judged by one run each for each rule of learning: the first of
// the strategies stands for OAR, each of the others for RLA. The paper has charts without numbers:
// what "stable" and "flat" mean is our decision.
func (e oar11) claims(at func(v oarVariant, strategy string, jobs int64, quantity string) float64) (claims []tableClaim) {
	// How figures of one strategy go on as jobs grow.
	oar, rules := e.Strategies[0], e.Strategies[1:]
	for _, c := range e.Shapes {
		of := map[string][]string{"": e.Strategies, "oar": {oar}, "rla": rules}[c.Of]
		for _, s := range of {
			var figures []float64 // on the paper's grid
			for _, n := range e.Steps {
				figures = append(figures, at(oarVariant{}, s, n, c.Quantity))
			}
			verdict, detail := oarShapes[c.Shape](figures)
			claims = append(claims, tableClaim{Where: c.Where, Text: c.Text + ": " + s, Verdict: verdict, Detail: detail})
		}
	}
	// against returns why an order does not hold for a rule at the last step; "" if it holds.
	against := func(o oarOrder, v oarVariant, rule string) string {
		less, than := at(v, rule, e.last(), o.Quantity), at(v, oar, e.last(), o.Quantity)
		if o.Less == "oar" {
			less, than = than, less
		}
		if less < than {
			return ""
		}
		return plain.FourFigures(less) + " not below " + plain.FourFigures(than)
	}
	// Which of OAR and RLA has less: each order by itself, and all of them together.
	for _, o := range e.Orders {
		for _, s := range rules {
			claims = append(claims, e.everywhere(o.Where, o.Text+": "+s, func(v oarVariant) string { return against(o, v, s) }))
		}
	}
	for _, s := range rules {
		claims = append(claims, e.everywhere(e.Orders[0].Where, "all four orders: "+s, func(v oarVariant) string {
			var failing []string
			for _, o := range e.Orders {
				if against(o, v, s) != "" {
					failing = append(failing, o.Quantity)
				}
			}
			return strings.Join(failing, " and ")
		}))
	}
	return claims
}

// everywhere returns a claim that is tested under every setting. It is undecided if it holds under some
// settings only: then what the paper leaves open decides. against returns why the claim does not
// hold under a setting, or "".
func (e oar11) everywhere(where, text string, against func(oarVariant) string) tableClaim {
	var failing, holding []string
	for _, v := range append([]oarVariant{{}}, e.Variants...) {
		name := cmp.Or(v.Name, "as above")
		if why := against(v); why != "" {
			failing = append(failing, name+": "+why)
		} else {
			holding = append(holding, name)
		}
	}
	verdict, details := verdictHolds, failing
	switch {
	case len(holding) == 0:
		verdict = verdictFails
	case len(failing) > 0:
		verdict = verdictUndecided
	}
	if len(holding) > 0 {
		details = append(details, "holds "+strings.Join(holding, ", "))
	}
	return tableClaim{Where: where, Text: fmt.Sprintf("at %d jobs %s", e.last(), text), Verdict: verdict, Detail: strings.Join(details, "; ")}
}

// oarShapes judge what figures do as the number of jobs grows.
var oarShapes = map[string]func(of []float64) (verdict, string){"grows": grows, "falls": falls, "stable": stable, "flat": flat}

// grows judges a growth. It is undecided if the last figure is above the first, but not each is as
// high as the one before it.
func grows(of []float64) (verdict, string) {
	switch {
	case of[len(of)-1] <= of[0]:
		return verdictFails, figuresText(of)
	case !slices.IsSorted(of):
		return verdictUndecided, figuresText(of)
	}
	return verdictHolds, figuresText(of)
}

// falls judges a fall: a growth of the figures in reverse order.
func falls(of []float64) (verdict, string) {
	back := slices.Clone(of)
	slices.Reverse(back)
	v, _ := grows(back)
	return v, figuresText(of)
}

// stable holds if the figures, in per cent, differ by no more than 10 points.
func stable(of []float64) (verdict, string) {
	spread := slices.Max(of) - slices.Min(of)
	return holdsIf(spread <= 10), fmt.Sprintf("%.1f points", spread)
}

// flat holds if the last figure is below twice the first; below 1 the first counts as 1.
func flat(of []float64) (verdict, string) {
	return holdsIf(of[len(of)-1] < 2*max(of[0], 1)), figuresText(of)
}

func holdsIf(holds bool) verdict {
	if holds {
		return verdictHolds
	}
	return verdictFails
}

// figuresText lists figures for people.
func figuresText(of []float64) string {
	var texts []string
	for _, x := range of {
		texts = append(texts, plain.FourFigures(x))
	}
	return strings.Join(texts, ", ")
}
