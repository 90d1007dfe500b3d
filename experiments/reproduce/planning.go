package reproduce

// META's experiments with batches (6.2 to 7.1): plans of one cycle.

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// planning draws an environment and a batch a cycle and has every planner plan it.
type planning []planned

// planned is a planner and what it plans.
type planned struct {
	Series, Point string
	Variant       string // see Row
	X             float64
	Environment   vo.Environment // METABatches where it has no nodes
	Batch         vo.Batch
	Planner       cyclic.Planner
	// Criteria are the users' searches, of which each job draws one: the rows are by
	// criterion, whose names are then the series. None is the planner's own.
	Criteria []criterion
	// Offer, if set, is the price at which node 1, then of performance 6, is
	// offered (META table 2).
	Offer float64
	// Empty takes the owner's tasks off the node that is offered.
	Empty bool
	Own   bool
}

// criterion is a user's search under the name that the table has for it.
type criterion struct {
	Name   string
	Finder plan.Finder
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

// rows are the plans' in their order, by criterion where a plan has several.
func (plans planning) rows(p *page) []Row {
	var lines []Row
	for _, plan := range plans {
		names := []criterion{{Name: plan.Series}}
		if plan.Criteria != nil {
			names = plan.Criteria
		}
		for _, c := range names {
			lines = append(lines, Row{Series: c.Name, Variant: plan.Variant, Point: plan.Point, X: plan.X, Own: plan.Own})
		}
	}
	return p.each(lines)
}

// cycle has every plan draw its own environment and batch. The streams are the same for
// all, so that plans of equal settings meet equal ones.
func (plans planning) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	for _, plan := range plans {
		environment := plan.Environment
		if environment.Nodes.Count == 0 {
			environment = vo.METABatches()
		}
		in, err := environment.Generate(seed, cycle)
		if err != nil {
			return err
		}
		if plan.Offer > 0 {
			in.Nodes[0].Perf, in.Nodes[0].Price = offeredPerf, plan.Offer
			if plan.Empty {
				in.Tasks[0] = nil
			}
		}
		jobs, err := plan.Batch.Generate(seed, cycle)
		if err != nil {
			return err
		}
		batch, names := items(jobs), make([]string, len(jobs))
		draw := des.NewStream(seed, cycle, "reproduce.criterion")
		for i := range batch {
			names[i] = plan.Series
			if plan.Criteria != nil {
				c := plan.Criteria[draw.IntN(len(plan.Criteria))]
				names[i], batch[i].Request.Criterion = c.Name, c.Finder
			}
		}
		out, err := plan.Planner.Plan(ctx, batch, in.SlotList())
		if err != nil {
			return fmt.Errorf("%s: %w", varied(plan.Series, plan.Variant), err)
		}
		sums := make(map[string]*planSums)
		for i := range out.Jobs {
			if sums[names[i]] == nil {
				sums[names[i]] = new(planSums)
			}
			sums[names[i]].decide(&out.Jobs[i], jobs[i])
		}
		for name, s := range sums { // each is told of rows of its own
			s.tell(func(q string, x float64) { see.at(varied(name, plan.Variant), plan.Point, q, x) })
		}
		tell := func(q string, x float64) { see.at(varied(plan.Series, plan.Variant), plan.Point, q, x) }
		tell(failedBatches, oneIf(out.Planned() < len(out.Jobs)))
		if plan.Offer > 0 {
			load := timeOn(in.Nodes[0], out).Seconds()
			tell(offerLoad, load)
			tell(offerUse, load/in.End.Seconds())
			tell(offerProfit, load*plan.Offer)
		}
	}
	return nil
}

// items are the jobs as a batch to be planned.
func items(jobs []*entity.Job) []cyclic.Item {
	batch := make([]cyclic.Item, len(jobs))
	for i, j := range jobs {
		batch[i].Request = j.Request
	}
	return batch
}

// timeOn is how long the planned jobs have the node.
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

// planSums adds up over the jobs of a batch.
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

// add takes in the window that a job got.
func (s *planSums) add(w *entity.Window, j *entity.Job) {
	s.planned++
	s.start += w.Start.Seconds()
	s.runtime += w.Length().Seconds()
	s.finish += w.End.Seconds()
	s.spent += w.Cost
	s.cpu += w.ProcessorTime().Seconds()
	share := min(1, float64(j.Runtime)/float64(j.Request.Length))
	s.used += share * w.ProcessorTime().Seconds()
}

// tell says the means over the jobs; times and costs are over those planned.
func (s *planSums) tell(see func(quantity string, x float64)) {
	see(alternatives, s.alternatives/s.jobs)
	see(unplanned, (s.jobs-s.planned)/s.jobs)
	see(start, s.start/s.planned) // NaN, which is no observation, where none is planned
	see(execution, s.runtime/s.planned)
	see(finish, s.finish/s.planned)
	see(cost, s.spent/s.planned)
	see(processorTime, s.cpu/s.planned)
}

// slicer is META's batch-slicer with whole task times: first fit, the least batch
// time within the mean budget.
func slicer(k int, shift cyclic.Shift) cyclic.BatchSlicer {
	return cyclic.BatchSlicer{
		Slices: k, Shift: shift,
		Search: cyclic.Search{Finder: window.AMP{Settings: wholeTimes}},
		Choice: cyclic.Choice{Problem: cyclic.BatchTime},
	}
}

// bsf slices the share of the batch and fills in the others by first fit.
func bsf(share cyclic.Share, slicer cyclic.BatchSlicer) cyclic.BSF {
	return cyclic.BSF{Share: share, Slicer: slicer, Filling: cyclic.Filling{Finder: window.AMP{Settings: wholeTimes}}}
}

// theirWays is the variant in the authors' ways, where their program does what
// META's text does not say.
const theirWays = "authors' ways"

// inTheirWays plans as the authors' program does: alternatives of equal rounded
// cost and time are dropped, a job that is shifted counts one more, and the choice
// is made on whole numbers, where the first of equals is taken.
func inTheirWays(b cyclic.BatchSlicer) cyclic.BatchSlicer {
	b.Search.Distinct, b.CountShifted, b.Choice.Grid = true, true, 1
	return b
}

// guessed is the variant with the volumes that would give the paper's times and
// costs together, larger the batches of these.
const guessed = "authors' ways, V from 150"

var larger = vo.Batch{Volume: vo.Range{Min: 150, Max: 500}}

// preferences is META table 1.
func preferences() planning {
	users := []criterion{
		{"start", window.AMP{Settings: wholeTimes}},
		{"execution", window.AEP{Settings: wholeTimes, By: window.MinRunTime}},
		{"finish", window.AEP{Settings: wholeTimes, By: window.MinFinish}},
		{"cost", window.AEP{Settings: wholeTimes, By: window.MinCost}},
	}
	// Each of our own rows has one setting other than the row CSS.
	sliced := slicer(5, cyclic.ShiftSlice)
	grid, income := sliced, sliced
	grid.Choice.Grid = 1
	income.Choice.BudgetLimit = cyclic.LargestIncome
	return planning{
		{Planner: sliced, Criteria: users},
		{Series: "CSS", Planner: sliced},
		{Variant: theirWays, Planner: inTheirWays(sliced), Criteria: users},
		{Series: "CSS", Variant: theirWays, Planner: inTheirWays(sliced)},
		{Variant: guessed, Planner: inTheirWays(sliced), Criteria: users, Batch: larger, Own: true},
		{Series: "CSS", Variant: guessed, Planner: inTheirWays(sliced), Batch: larger, Own: true},
		{Series: "CSS, grid of 1", Planner: grid, Own: true},
		{Series: "CSS, B* = income", Planner: income, Own: true},
		{Series: "CSS, shift at the end", Planner: slicer(5, cyclic.ShiftEnd), Own: true},
		{Series: "CSS, k = 1", Planner: slicer(1, cyclic.ShiftSlice), Own: true},
	}
}

// quirks is what each of the authors' ways costs.
func quirks() (plans planning) {
	sliced, unshifted := slicer(5, cyclic.ShiftSlice), slicer(5, cyclic.NoShift)
	distinct, counted, grid := sliced, sliced, sliced
	distinct.Search.Distinct, counted.CountShifted, grid.Choice.Grid = true, true, 1
	for _, x := range []planned{
		{Series: "by the text", Planner: sliced},
		{Series: "equal alternatives dropped", Planner: distinct},
		{Series: "shifted jobs count one more", Planner: counted},
		{Series: "grid of whole numbers", Planner: grid},
		{Series: "all three", Planner: inTheirWays(sliced)},
		{Series: "all three, no shift", Planner: inTheirWays(unshifted)},
		{Series: "no shift", Planner: unshifted},
		{Series: "BSF, q = 0.4", Planner: bsf(cyclic.Share{Q: 0.4}, slicer(2, cyclic.NoShift))},
		{Series: "BSF, q = 0.4, one job more", Planner: bsf(cyclic.Share{Q: 0.4, Inclusive: true}, slicer(2, cyclic.NoShift))},
	} {
		x.Own = true
		plans = append(plans, x)
	}
	return plans
}

// slicing is META figure 7.
func slicing() (plans planning) {
	for _, load := range []struct {
		name, variant string
		hi            float64
	}{{"low load", "", 1}, {"load up to 20%", "", 2}, {"load up to 20%", theirWays, 2}, {"medium load", "", 4}, {"high load", "", 7}} {
		for _, k := range []int{1, 2, 3, 5, 6, 10, 20} {
			e := vo.METABatches()
			e.Load.Level = vo.HypergeometricLevel{Lo: 0, Hi: load.hi}
			planner := slicer(k, cyclic.NoShift)
			if load.variant != "" {
				planner = inTheirWays(planner)
			}
			plans = append(plans, planned{
				Series: load.name, Variant: load.variant, Point: fmt.Sprintf("k = %d", k), X: float64(k), Environment: e, Planner: planner,
			})
		}
	}
	return plans
}

// ownerPrice is META table 2.
func ownerPrice() (plans planning) {
	for _, x := range []planned{
		{Planner: slicer(5, cyclic.NoShift)},
		{Variant: theirWays, Planner: inTheirWays(slicer(5, cyclic.ShiftSlice)), Empty: true},
		{Variant: guessed, Planner: inTheirWays(slicer(5, cyclic.NoShift)), Empty: true, Batch: larger, Own: true},
	} {
		for _, price := range []float64{2, 4, 6, 8, 10} {
			x.Point, x.X, x.Offer = fmt.Sprintf("price %v", price), price, price
			plans = append(plans, x)
		}
	}
	return plans
}

// sliceFilling is META figure 9.
func sliceFilling() (plans planning) {
	for _, x := range []struct {
		series, variant string
		by              cyclic.Selection
	}{{"", "", cyclic.ByPriority}, {"", theirWays, cyclic.ByPriority}, {"the dearest first", "", cyclic.Dearest}} {
		for i, q := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
			sliced, theirs := slicer(i, cyclic.NoShift), x.variant != ""
			if theirs {
				sliced = inTheirWays(sliced)
			}
			plans = append(plans, planned{
				Series: x.series, Variant: x.variant, Own: x.by != cyclic.ByPriority, Point: fmt.Sprintf("q = %v", q), X: q,
				Planner: bsf(cyclic.Share{Q: q, By: x.by, Inclusive: theirs}, sliced),
			})
		}
	}
	return plans
}
