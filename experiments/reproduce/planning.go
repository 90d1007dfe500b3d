package reproduce

// META's experiments with batches (6.2 to 7.1): plans of one cycle.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// planning draws an environment and a batch for each cycle and lets every planner plan it.
type planning struct {
	Environment environment
	Batch       vo.Batch
	// Users are the criteria of which each job draws one, for plans by users' criteria.
	Users []criterion
	Plans []planned
}

// criterion is a user's search under the name that the table has for it.
type criterion struct {
	Name   string
	Search finder
}

// planned is a planner and what it plans. If something varies it stands for several plans.
type planned struct {
	Series  string
	Variant string // see tableRow
	Planner planner
	// ByUsers lets jobs draw their searches. The rows are by criterion then, and the criteria's
	// names are the series.
	ByUsers bool
	// Volume is the range of the jobs' volumes, if it is not the batch's.
	Volume vo.Range
	// Load, if set, is the largest number of tenths of a node that its owner uses.
	Load float64
	// Slices and Shares are values of the planner's k and q. Prices are those at which node 1, then
	// of performance 6, is offered (META table 2). There is a plan for each value.
	Slices         []int
	Shares, Prices []float64
	// Empty takes the owner's tasks off the node that is offered, as the authors' program does.
	Empty bool
	Own   bool

	// point and x name the value that was chosen of what varies; see tableRow.
	point string
	x     float64
	price float64 // of the node that is offered; 0 where none is
}

// planner says how META's planners plan: with whole task times, by first fit, in the least batch
// time within the mean budget. Each further setting is one thing that is done otherwise.
type planner struct {
	K     int    // slices
	Shift string // off, end or slice
	// Distinct drops alternatives of equal rounded cost and time, Counted counts a job that is
	// shifted once more, Grid chooses among whole numbers, the first of equals, and Inclusive
	// slices one job more than the share: the authors' ways, where their program does what
	// META's text does not say. Theirs are all of them.
	Distinct, Counted, Grid, Inclusive bool
	Theirs                             bool
	Income                             bool // B* is the largest income
	// Fill slices the share Q of the batch, in slices of SliceOf jobs if that is set, and fills in
	// the other jobs by first fit.
	Fill    bool
	Q       float64
	SliceOf int
	Select  string // which jobs are sliced: priority, dearest or demanding
}

// slicer returns the batch-slicer of p's settings.
func (p planner) slicer() (b cyclic.BatchSlicer, err error) {
	b = cyclic.BatchSlicer{
		Slices: p.K, CountShifted: p.Counted || p.Theirs,
		Search: cyclic.Search{Finder: window.AMP{Settings: wholeTimes}, Distinct: p.Distinct || p.Theirs},
		Choice: cyclic.Choice{Problem: cyclic.BatchTime},
	}
	// The number of slices is the number of the share's jobs over SliceOf; META's batches have 20
	// jobs.
	if p.SliceOf > 0 {
		b.Slices = int(math.Round(p.Q * float64(vo.Batch{}.WithDefaults().Jobs) / float64(p.SliceOf)))
	}
	if p.Grid || p.Theirs {
		b.Choice.Grid = 1
	}
	if p.Income {
		b.Choice.BudgetLimit = cyclic.LargestIncome
	}
	b.Shift, err = cyclic.ParseShift(cmp.Or(p.Shift, cyclic.NoShift.String()))
	return b, err
}

// make returns the planner of p's settings.
func (p planner) make() (cyclic.Planner, error) {
	slicer, err := p.slicer()
	if err != nil || !p.Fill {
		return slicer, err
	}
	by, err := cyclic.ParseSelection(cmp.Or(p.Select, cyclic.ByPriority.String()))
	filling := cyclic.Filling{Finder: window.AMP{Settings: wholeTimes}}
	return cyclic.BSF{Share: cyclic.Share{Q: p.Q, By: by, Inclusive: p.Inclusive || p.Theirs}, Slicer: slicer, Filling: filling}, err
}

// plans returns those of the page, each once for every value of what it varies.
func (b planning) plans() (all []planned) {
	for _, p := range b.Plans {
		for _, k := range p.Slices {
			next := p
			next.Planner.K, next.point, next.x = k, fmt.Sprintf("k = %d", k), float64(k)
			all = append(all, next)
		}
		for _, q := range p.Shares {
			next := p
			next.Planner.Q, next.point, next.x = q, fmt.Sprintf("q = %v", q), q
			all = append(all, next)
		}
		for _, price := range p.Prices {
			next := p
			next.price, next.point, next.x = price, fmt.Sprintf("price %v", price), price
			all = append(all, next)
		}
		if p.Slices == nil && p.Shares == nil && p.Prices == nil {
			all = append(all, p)
		}
	}
	return all
}

func (b planning) facts() facts {
	return facts{"environment": b.Environment.Facts(), "batch": b.Batch.Facts()}
}

// What is observed of a plan beside the quantities of windows (search.go).
const (
	execution     = "execution"
	processorTime = "T_CPU"
	unplanned     = "unplanned jobs"
	failedBatches = "Y"      // META 6.3: 1 where not all jobs of the batch are planned
	offerLoad     = "Lc"     // global jobs' time on the node offered
	offerUse      = "U"      // its share of the interval
	offerProfit   = "profit" // Lc times the price
)

// offeredPerf is the performance of the node that META table 2 offers.
const offeredPerf = 6

// rows has the plans in their order, by criterion if each job draws one.
func (b planning) rows(p *page) []tableRow {
	var lines []tableRow
	for _, plan := range b.plans() {
		names := []criterion{{Name: plan.Series}}
		if plan.ByUsers {
			names = b.Users
		}
		for _, c := range names {
			lines = append(lines, tableRow{Series: c.Name, Variant: plan.Variant, Point: plan.point, X: plan.x, Own: plan.Own})
		}
	}
	return p.each(lines)
}

// cycle lets every plan draw its own environment and batch. The streams are the same for all, so
// that plans of equal settings meet equal ones.
func (b planning) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	for _, plan := range b.plans() {
		in, err := b.instance(plan, seed, cycle)
		if err != nil {
			return err
		}
		batch := b.Batch
		if plan.Volume != (vo.Range{}) {
			batch.Volume = plan.Volume
		}
		jobs, err := batch.Generate(seed, cycle)
		if err != nil {
			return err
		}
		if err := b.observe(ctx, plan, in, jobs, des.NewStream(seed, cycle, "reproduce.criterion"), see); err != nil {
			return fmt.Errorf("%s: %w", varied(plan.Series, plan.Variant), err)
		}
	}
	return nil
}

// instance returns a plan's environment.
func (b planning) instance(plan planned, seed, cycle uint64) (*vo.Instance, error) {
	environment := b.Environment
	if plan.Load > 0 {
		environment.Load.Level = vo.HypergeometricLevel{Lo: 0, Hi: plan.Load}
	}
	in, err := environment.Generate(seed, cycle)
	if err == nil && plan.price > 0 {
		in.Nodes[0].Perf, in.Nodes[0].Price = offeredPerf, plan.price
		if plan.Empty {
			in.Tasks[0] = nil
		}
	}
	return in, err
}

// observe plans the jobs, draws for each its criterion, and tells what they get: by criterion, and
// what is seen of the plan as a whole.
func (b planning) observe(ctx context.Context, plan planned, in *vo.Instance, jobs []*entity.Job, draw *rand.Rand, see sight) error {
	batch, names := items(jobs), make([]string, len(jobs))
	for i := range batch {
		names[i] = plan.Series
		if plan.ByUsers {
			c := b.Users[draw.IntN(len(b.Users))]
			names[i], batch[i].Request.Criterion = c.Name, c.Search.Finder
		}
	}
	planner, err := plan.Planner.make()
	if err != nil {
		return err
	}
	out, err := planner.Plan(ctx, batch, in.SlotList())
	if err != nil {
		return err
	}
	// By criterion, or all jobs together under the series' name.
	sums := make(map[string]*planSums)
	for i := range out.Jobs {
		if sums[names[i]] == nil {
			sums[names[i]] = new(planSums)
		}
		sums[names[i]].decide(&out.Jobs[i], jobs[i])
	}
	for name, s := range sums { // each is told of rows of its own
		s.tell(func(q string, x float64) { see.at(varied(name, plan.Variant), plan.point, q, x) })
	}
	// META 6.3: Y is the share of cycles in which not all jobs are planned. META table 2: Lc is the
	// time that global jobs have the node, U = Lc / interval, profit = Lc * price.
	tell := func(q string, x float64) { see.at(varied(plan.Series, plan.Variant), plan.point, q, x) }
	tell(failedBatches, oneIf(out.Planned() < len(out.Jobs)))
	if plan.price > 0 {
		load := timeOn(in.Nodes[0], out).Seconds()
		tell(offerLoad, load)
		tell(offerUse, load/in.End.Seconds())
		tell(offerProfit, load*plan.price)
	}
	return nil
}

// items returns the jobs as a batch to be planned.
func items(jobs []*entity.Job) []cyclic.Item {
	batch := make([]cyclic.Item, len(jobs))
	for i, j := range jobs {
		batch[i].Request = j.Request
	}
	return batch
}

// timeOn returns how long the planned jobs have the node.
func timeOn(n *entity.Node, out *cyclic.Outcome) (sum des.Time) {
	for _, d := range out.Jobs {
		for _, t := range d.Window.Tasks {
			if d.OK && t.Node == n {
				sum += t.End - d.Window.Start
			}
		}
	}
	return sum
}

// planSums adds up over the jobs of a batch: all jobs in jobs and alternatives, those that are
// planned in the rest.
type planSums struct {
	jobs, planned, alternatives        float64
	start, runtime, finish, spent, cpu float64
	used                               float64 // of cpu, where jobs end early
}

// decide takes in what was decided of a job.
func (s *planSums) decide(d *cyclic.Decision, j *entity.Job) {
	s.jobs++
	s.alternatives += float64(d.Alternatives)
	if d.OK {
		s.add(&d.Window, j)
	}
}

// add takes in the window that a job got. A job that ends early uses the share runtime / length of
// it on each node.
func (s *planSums) add(w *entity.Window, j *entity.Job) {
	s.planned++
	s.start += w.Start.Seconds()
	s.runtime += w.Length().Seconds()
	s.finish += w.End.Seconds()
	s.spent += w.Cost
	s.cpu += w.ProcessorTime().Seconds()
	share := min(1, float64(j.Runtime)/float64(j.Request.Length))
	s.used += float64(share * w.ProcessorTime().Seconds())
}

// tell says the means over the jobs; times and costs are means over those that are planned.
func (s *planSums) tell(see func(quantity string, x float64)) {
	see(alternatives, s.alternatives/s.jobs)
	see(unplanned, (s.jobs-s.planned)/s.jobs)
	see(start, s.start/s.planned) // NaN, which is no observation, where none is planned
	see(execution, s.runtime/s.planned)
	see(finish, s.finish/s.planned)
	see(cost, s.spent/s.planned)
	see(processorTime, s.cpu/s.planned)
}
