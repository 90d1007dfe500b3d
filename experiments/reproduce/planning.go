package reproduce

// META's experiments with batches: plans of one cycle.

import (
	"context"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// Planning is an experiment that draws an environment and a batch a cycle and
// has every planner plan it.
type Planning struct {
	ID, Heading, Source string
	Cycles              int // the published number
	XLabel              string
	Quantities          []string // among planQuantities
	Plans               []Plan
	Settings            []Setting
	Remarks, Notes      []string
	Claims              []Claim

	paper, code published // by row label
}

// Plan is a planner and what it plans.
type Plan struct {
	Series, Point string
	Variant       string // see Row
	X             float64
	Environment   vo.Environment
	Batch         vo.Batch
	Planner       cyclic.Planner
	// Criteria are the users' searches. With one all jobs have it; with more
	// each job draws one, and the rows are by criterion, whose names are then
	// the series. None is the planner's own.
	Criteria []Criterion
	// Offer, if set, is the price at which node 1, then of performance 6, is
	// offered (META table 2).
	Offer float64
	// Empty takes the owner's tasks off the node that is offered.
	Empty bool
	Own   bool
}

// Criterion is a user's search under the name that the table has for it.
type Criterion struct {
	Name   string
	Finder plan.Finder
}

const (
	alternatives  = "alternatives"
	meanStart     = "start"
	execution     = "execution"
	meanFinish    = "finish"
	meanCost      = "cost"
	processorTime = "T_CPU"
	unplanned     = "unplanned jobs"
	failedBatches = "Y"      // META 6.3: 1 where not all jobs of the batch are planned
	offerLoad     = "Lc"     // global jobs' time on the node offered
	offerUse      = "U"      // its share of the interval
	offerProfit   = "profit" // Lc times the price
)

// offeredPerf is the performance of the node that META table 2 offers.
const offeredPerf = 6

// Name implements Experiment.
func (p Planning) Name() string { return p.ID }

// Title implements Experiment.
func (p Planning) Title() string { return p.Heading }

// Run implements Experiment.
func (p Planning) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{Name: p.ID, Title: p.Heading, Source: p.Source, Settings: p.Settings, Remarks: p.Remarks, Notes: p.Notes, XLabel: p.XLabel}
	st := study{of: p, cycles: p.Cycles, rows: p.rows(), claims: p.Claims, cycle: p.cycle}
	err := st.run(ctx, c, &t)
	return t, err
}

func (p Planning) rows() []Row {
	var rows []Row
	for i, q := range p.Quantities {
		for _, plan := range p.Plans {
			names := []string{plan.Series}
			if len(plan.Criteria) > 1 {
				names = nil
				for _, c := range plan.Criteria {
					names = append(names, c.Name)
				}
			}
			for _, name := range names {
				row := Row{Series: name, Variant: plan.Variant, Point: plan.Point, X: plan.X, Quantity: q, Own: plan.Own}
				row.Paper, row.Code = p.paper.at(row.label(), i), p.code.at(row.label(), i)
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func (p Planning) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	for _, plan := range p.Plans {
		in, err := plan.Environment.Generate(seed, cycle)
		if err != nil {
			return err
		}
		if plan.Offer > 0 {
			in.Nodes[0].Perf, in.Nodes[0].Price = offeredPerf, plan.Offer
			if plan.Empty {
				in.Tasks[0] = nil
			}
		}
		batch, groups, err := plan.batch(seed, cycle)
		if err != nil {
			return err
		}
		out, err := plan.Planner.Plan(ctx, batch, in.SlotList())
		if err != nil {
			return fmt.Errorf("%s: %w", varied(plan.Series, plan.Variant), err)
		}
		sums := make(map[string]*planSums)
		for i := range out.Jobs {
			name := plan.Series
			if groups != nil {
				name = plan.Criteria[groups[i]].Name
			}
			if sums[name] == nil {
				sums[name] = new(planSums)
			}
			sums[name].add(&out.Jobs[i])
		}
		for name, s := range sums { // each is told of rows of its own
			s.tell(see, varied(name, plan.Variant), plan.Point)
		}
		series := varied(plan.Series, plan.Variant)
		failed := 0.0
		if out.Planned() < len(out.Jobs) {
			failed = 1
		}
		see.at(series, plan.Point, failedBatches, failed)
		if plan.Offer > 0 {
			load := timeOn(in.Nodes[0], out).Seconds()
			see.at(series, plan.Point, offerLoad, load)
			see.at(series, plan.Point, offerUse, load/in.End.Seconds())
			see.at(series, plan.Point, offerProfit, load*plan.Offer)
		}
	}
	return nil
}

// timeOn is how long the planned jobs have the node.
func timeOn(n *entity.Node, out *cyclic.Outcome) des.Time {
	var sum des.Time
	for _, d := range out.Jobs {
		for _, t := range d.Window.Tasks {
			if d.OK && t.Node == n {
				sum += t.End - d.Window.Start
			}
		}
	}
	return sum
}

// batch draws the jobs, and which criterion each has where they differ.
func (p Plan) batch(seed, cycle uint64) (batch []cyclic.Item, groups []int, err error) {
	jobs, err := p.Batch.Generate(seed, cycle)
	if err != nil {
		return nil, nil, err
	}
	batch = make([]cyclic.Item, len(jobs))
	draw := des.NewStream(seed, cycle, "reproduce.criterion")
	for i, j := range jobs {
		batch[i].Request = j.Request
		switch len(p.Criteria) {
		case 0:
		case 1:
			batch[i].Request.Criterion = p.Criteria[0].Finder
		default:
			groups = append(groups, draw.IntN(len(p.Criteria)))
			batch[i].Request.Criterion = p.Criteria[groups[i]].Finder
		}
	}
	return batch, groups, nil
}

// planSums adds up over the jobs of a batch.
type planSums struct {
	jobs, planned, alternatives   float64
	start, runtime, finish, spent float64
	cpu                           float64
}

func (s *planSums) add(d *cyclic.Decision) {
	s.jobs++
	s.alternatives += float64(d.Alternatives)
	if !d.OK {
		return
	}
	s.planned++
	s.start += d.Window.Start.Seconds()
	s.runtime += d.Window.Length().Seconds()
	s.finish += d.Window.End.Seconds()
	s.spent += d.Window.Cost
	s.cpu += d.Window.ProcessorTime().Seconds()
}

// tell says the means over the jobs; times and costs are over those planned.
func (s *planSums) tell(see sight, series, point string) {
	see.at(series, point, alternatives, s.alternatives/s.jobs)
	see.at(series, point, unplanned, (s.jobs-s.planned)/s.jobs)
	if s.planned == 0 {
		return
	}
	see.at(series, point, meanStart, s.start/s.planned)
	see.at(series, point, execution, s.runtime/s.planned)
	see.at(series, point, meanFinish, s.finish/s.planned)
	see.at(series, point, meanCost, s.spent/s.planned)
	see.at(series, point, processorTime, s.cpu/s.planned)
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

var users = []Criterion{
	{"start", window.AMP{Settings: wholeTimes}},
	{"execution", window.AEP{Settings: wholeTimes, By: window.MinRunTime}},
	{"finish", window.AEP{Settings: wholeTimes, By: window.MinFinish}},
	{"cost", window.AEP{Settings: wholeTimes, By: window.MinCost}},
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

var theirWaysSetting = Setting{theirWays, "alternatives of equal rounded cost and time are dropped; a shifted job counts one alternative more; the choice is made on a grid of whole numbers, the first of equals", Source{Program, ""}}

// guessed is the variant with the volumes that would give the paper's times and
// costs together.
const guessed = "authors' ways, V from 150"

var guessedSetting = Setting{guessed, "volumes of 150 to 500", Source{Ours, "a guess: the paper's times and costs are both some 8% above those of the authors' program, which volumes larger by as much would explain; there is no source for it"}}

// larger are batches of the guessed volumes.
func larger() vo.Batch { return vo.Batch{Volume: vo.Range{Min: 150, Max: 500}} }

// batchSettings are those of META's experiments with batches.
func batchSettings(more ...Setting) []Setting {
	return append(append(append(byBatches.settings(vo.METABatches().Facts()), byBatch.settings(vo.Batch{}.Facts())...),
		wholeTimesSetting,
		Setting{"choice", "the least total processor time within B*", Source{Paper, "META 6.2"}},
		Setting{"B*", "the sum over the jobs of the mean cost of their alternatives", Source{Program, ""}},
		Setting{"its arithmetic", "exact, with real limits", Source{Ours, "the papers' grid of whole numbers can miss the best choice; it is among the authors' ways"}},
		Setting{"cycles", "5000", Source{Paper, "META 6.2"}},
	), more...)
}

// Preferences is META table 1.
func Preferences() Planning {
	sliced := slicer(5, cyclic.ShiftSlice)
	grid, income := sliced, sliced
	grid.Choice.Grid = 1
	income.Choice.BudgetLimit = cyclic.LargestIncome
	with := func(series, variant string, criteria []Criterion, planner cyclic.Planner, batch vo.Batch) Plan {
		return Plan{Series: series, Variant: variant, Environment: vo.METABatches(), Batch: batch, Criteria: criteria, Planner: planner}
	}
	ours := func(p Plan) Plan {
		p.Own = true
		return p
	}
	own := func(series string, planner cyclic.Planner) Plan {
		return ours(with(series, "", nil, planner, vo.Batch{}))
	}
	at := func(series, quantity string) Ref { return Ref{Series: series, Quantity: quantity} }
	return Planning{
		ID: "preferences", Heading: "Users' criteria in the batch-slicer (META table 1)", Source: "META table 1",
		Cycles:     5000,
		Quantities: []string{alternatives, meanStart, execution, meanFinish, meanCost, unplanned},
		Plans: []Plan{
			with("", "", users, sliced, vo.Batch{}),
			with("CSS", "", nil, sliced, vo.Batch{}),
			with("", theirWays, users, inTheirWays(sliced), vo.Batch{}),
			with("CSS", theirWays, nil, inTheirWays(sliced), vo.Batch{}),
			ours(with("", guessed, users, inTheirWays(sliced), larger())),
			ours(with("CSS", guessed, nil, inTheirWays(sliced), larger())),
			own("CSS, grid of 1", grid),
			own("CSS, B* = income", income),
			own("CSS, shift at the end", slicer(5, cyclic.ShiftEnd)),
			own("CSS, k = 1", slicer(1, cyclic.ShiftSlice)),
		},
		Settings: batchSettings(
			Setting{"slices", "k = 5", Source{Paper, "META 6.2"}},
			Setting{"shift", "after each slice, before the next is planned", Source{Program, ""}},
			Setting{"criteria", "each job draws one of the four; a row is the mean over the jobs that drew it", Source{Inferred, "with one criterion for a whole run, the row \"start\" would be the row \"CSS\", for AMP finds the earliest start"}},
			Setting{"CSS", "the same slicer with first fit for all", Source{Program, ""}},
			theirWaysSetting, guessedSetting,
		),
		Claims: []Claim{
			{Text: "users who want an early start get one that is 23% earlier than under CSS, those who want a short execution one that is 21% shorter, those who want a low cost one that is 12% lower", Where: "META 6.2",
				Changes: []Change{
					{Of: at("start", meanStart), From: at("CSS", meanStart), Percent: -23},
					{Of: at("execution", execution), From: at("CSS", execution), Percent: -21},
					{Of: at("cost", meanCost), From: at("CSS", meanCost), Percent: -12},
				}},
		},
		paper: published{
			"start": "12.8 171.7 56.1 227.8 1281.1", "execution": "10.6 214.5 39.3 253.9 1278.5", "finish": "12.2 169.6 45 205.5 1283.2",
			"cost": "12.9 262.6 55.5 318 1098.3", "CSS": "12.1 222 50.3 272.3 1248.4",
		},
		code: published{
			"start": "13.6 170.7 50.8 221.5 1169", "execution": "10.1 218 36.3 255 1173", "finish": "12.1 158.9 40.9 199.9 1190",
			"cost": "12.0 254 51.2 305 1037", "CSS": "13.6 220.6 44.5 265 1160",
		},
	}
}

// Quirks is what each of the authors' ways costs.
func Quirks() Planning {
	p := Planning{
		ID: "quirks", Heading: "What each of the authors' ways costs (META table 1's batches)",
		Cycles:     5000,
		Quantities: []string{processorTime, meanCost, meanStart, meanFinish, alternatives, unplanned},
		Settings: batchSettings(
			Setting{"slices", "k = 5", Source{Paper, "META 6.2"}},
			Setting{"shift", "after each slice", Source{Program, ""}},
			Setting{"criteria", "first fit for all", Source{Ours, "so that one row is one way"}},
			theirWaysSetting,
		),
	}
	for _, way := range []struct {
		name   string
		change func(*cyclic.BatchSlicer)
	}{
		{"by the text", func(*cyclic.BatchSlicer) {}},
		{"equal alternatives dropped", func(b *cyclic.BatchSlicer) { b.Search.Distinct = true }},
		{"shifted jobs count one more", func(b *cyclic.BatchSlicer) { b.CountShifted = true }},
		{"grid of whole numbers", func(b *cyclic.BatchSlicer) { b.Choice.Grid = 1 }},
		{"all three", func(b *cyclic.BatchSlicer) { *b = inTheirWays(*b) }},
		{"all three, no shift", func(b *cyclic.BatchSlicer) { *b = inTheirWays(*b); b.Shift = cyclic.NoShift }},
		{"no shift", func(b *cyclic.BatchSlicer) { b.Shift = cyclic.NoShift }},
	} {
		b := slicer(5, cyclic.ShiftSlice)
		way.change(&b)
		p.Plans = append(p.Plans, Plan{Series: way.name, Environment: vo.METABatches(), Planner: b, Own: true})
	}
	share := cyclic.BSF{Share: cyclic.Share{Q: 0.4}, Slicer: slicer(2, cyclic.NoShift), Filling: cyclic.Filling{Finder: window.AMP{Settings: wholeTimes}}}
	p.Plans = append(p.Plans, Plan{Series: "BSF, q = 0.4", Environment: vo.METABatches(), Planner: share, Own: true})
	share.Share.Inclusive = true
	p.Plans = append(p.Plans, Plan{Series: "BSF, q = 0.4, one job more", Environment: vo.METABatches(), Planner: share, Own: true})
	return p
}

// sliceCounts are the k of META figure 7.
var sliceCounts = []int{1, 2, 3, 5, 6, 10, 20}

func slicesPoint(k int) string { return fmt.Sprintf("k = %d", k) }

// Slicing is META figure 7.
func Slicing() Planning {
	p := Planning{
		ID: "slicing", Heading: "Processor time, cost and failures against the number of slices (META figure 7, section 6.3)",
		Source: "META figure 7, a chart; the authors' program at a load of up to 20%", Cycles: 5000,
		XLabel: "slices k",
		Settings: batchSettings(
			Setting{"shift", "none", Source{Program, ""}},
			Setting{"load levels", "low, medium and high are those where the share Y of failed batches at k = 5 comes nearest to 0.0002, 0.03 and 0.3 of the local loads up to 10%, 20%, ... 70%: up to 10, 40 and 70%", Source{Paper, "META 6.3 sets the levels by Y"}},
			Setting{"a failure", "a cycle in which not all jobs of the batch are planned; Y is their share", Source{Paper, "META 6.3"}},
			Setting{"load up to 20%", "a fourth level", Source{Program, "its figures are of that level"}},
			theirWaysSetting,
		),
		Quantities: []string{processorTime, failedBatches, alternatives, meanCost, meanStart},
		code: published{
			"load up to 20%, k = 1": "147.3", "load up to 20%, k = 2": "140.8", "load up to 20%, k = 3": "138.3", "load up to 20%, k = 5": "137.0",
			"load up to 20%, k = 6": "137.1", "load up to 20%, k = 10": "137.4", "load up to 20%, k = 20": "142.0",
		},
	}
	for _, load := range []struct {
		name, variant string
		hi            float64
	}{{"low load", "", 1}, {"load up to 20%", "", 2}, {"load up to 20%", theirWays, 2}, {"medium load", "", 4}, {"high load", "", 7}} {
		for _, k := range sliceCounts {
			e := vo.METABatches()
			e.Load.Level = vo.HypergeometricLevel{Lo: 0, Hi: load.hi}
			planner := slicer(k, cyclic.NoShift)
			if load.variant != "" {
				planner = inTheirWays(planner)
			}
			p.Plans = append(p.Plans, Plan{
				Series: load.name, Variant: load.variant, Point: slicesPoint(k), X: float64(k), Environment: e, Planner: planner,
			})
		}
	}
	p.Claims = slicingClaims()
	return p
}

// slicingClaims are the sentences of META 6.3.
func slicingClaims() []Claim {
	along := func(load, quantity string, falls bool) []Pair {
		var rows []Ref
		for _, k := range sliceCounts {
			rows = append(rows, Ref{load, slicesPoint(k), quantity})
		}
		if falls {
			slices.Reverse(rows)
		}
		return ascending(rows...)
	}
	best := func(load string, k int) []Pair {
		var pairs []Pair
		for _, other := range sliceCounts {
			if other != k {
				pairs = append(pairs, Pair{Less: Ref{load, slicesPoint(k), processorTime}, Than: Ref{load, slicesPoint(other), processorTime}})
			}
		}
		return pairs
	}
	const where = "META 6.3"
	claims := []Claim{{Text: "processor time is least at k = 5 under medium load", Where: "META figure 7", Pairs: best("medium load", 5)}}
	for _, load := range []string{"low load", "medium load", "high load"} {
		claims = append(claims, Claim{Text: load + ": the more slices, the more alternatives", Where: where, Pairs: along(load, alternatives, false)})
	}
	return append(claims,
		Claim{Text: "high load: the more slices, the more failures", Where: where, Pairs: along("high load", failedBatches, false)},
		Claim{Text: "high load: the more slices, the lower the cost", Where: where, Pairs: along("high load", meanCost, true)},
		Claim{Text: "the best k is 20 under low load", Where: where, Pairs: best("low load", 20)},
		Claim{Text: "the best k is smaller under high load than under low load: below 20", Where: where, Pairs: []Pair{
			{Less: Ref{"high load", slicesPoint(5), processorTime}, Than: Ref{"high load", slicesPoint(20), processorTime}},
		}},
	)
}

// OwnerPrice is META table 2.
func OwnerPrice() Planning {
	p := Planning{
		ID: "owner-price", Heading: "One owner's price (META table 2, figure 8)", Source: "META table 2", Cycles: 5000,
		XLabel: "price of the node offered",
		Settings: batchSettings(
			Setting{"slices", "k = 5", Source{Paper, "META 6.3"}},
			Setting{"the node offered", "one of the nodes gets performance 6 and the price given; it keeps its owner's tasks", Source{Paper, "META 6.3"}},
			Setting{"shift", "none", Source{Ours, "the text does not speak of it here"}},
			Setting{"Y", "the share of the cycles in which not all jobs of the batch are planned", Source{Paper, "META 6.3"}},
			theirWaysSetting,
			Setting{theirWays + ", besides", "the node offered is empty, without owner's tasks, and windows are shifted", Source{Program, ""}},
			guessedSetting,
			Setting{guessed + ", besides", "the node offered is empty, and windows are not shifted", Source{Ours, "a guess, too"}},
		),
		Quantities: []string{offerLoad, offerUse, offerProfit, failedBatches, unplanned},
		paper: published{
			"price 2": "256.6 .44 527.1 0", "price 4": "234.9 .39 939.6 .001", "price 6": "185.4 .31 1112.3 .013",
			"price 8": "109.8 .18 878.7 .024", "price 10": "71 .12 710.3 .025",
		},
		code: published{"price 2": "248", "price 4": "206", "price 6": "148", "price 8": "82", "price 10": "49"},
	}
	for _, variant := range []string{"", theirWays, guessed} {
		for _, price := range []float64{2, 4, 6, 8, 10} {
			plan := Plan{Variant: variant, Point: fmt.Sprintf("price %v", price), X: price, Environment: vo.METABatches(), Planner: slicer(5, cyclic.NoShift), Offer: price}
			if variant != "" {
				plan.Planner, plan.Empty = inTheirWays(slicer(5, cyclic.ShiftSlice)), true
			}
			if variant == guessed {
				plan.Planner = inTheirWays(slicer(5, cyclic.NoShift))
				plan.Batch, plan.Own = larger(), true
			}
			p.Plans = append(p.Plans, plan)
		}
	}
	return p
}

// SliceFilling is META figure 9.
func SliceFilling() Planning {
	p := Planning{
		ID: "bsf", Heading: "Batch-slice-filling: the share that is sliced (META figure 9)",
		Source: "META figure 9, a chart; the authors' program", Cycles: 5000,
		XLabel: "share sliced",
		Settings: batchSettings(
			Setting{"slices", "of four jobs", Source{Inferred, "the size of a slice in the other experiments, and the figures bear it out"}},
			Setting{"shift", "none", Source{Program, ""}},
			Setting{"the others", "are filled in by first fit, in order of priority", Source{Paper, "META 7.1"}},
			theirWaysSetting,
			Setting{theirWays + ", besides", "one job more than the share is sliced", Source{Program, ""}},
		),
		Quantities: []string{processorTime, meanStart, meanFinish, meanCost, unplanned},
		Claims: []Claim{
			{Text: "two curves of figure 9 cross", Where: "META 7.1", Untested: "which ones, and where, could not be had: no number of the chart is printed"},
		},
		code: published{
			"q = 0.2": "178.1 115.4", "q = 0.4": "171.0 149.5", "q = 0.6": "162.4 192.0", "q = 0.8": "151.1 240.7",
		},
	}
	for _, form := range []struct {
		series, variant string
		by              cyclic.Selection
	}{{"", "", cyclic.ByPriority}, {"", theirWays, cyclic.ByPriority}, {"the dearest first", "", cyclic.Dearest}} {
		for i, q := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
			b := slicer(i, cyclic.NoShift)
			if form.variant != "" {
				b = inTheirWays(b)
			}
			p.Plans = append(p.Plans, Plan{
				Series: form.series, Variant: form.variant, Own: form.by != cyclic.ByPriority,
				Point: fmt.Sprintf("q = %v", q), X: q, Environment: vo.METABatches(),
				Planner: cyclic.BSF{
					Share:  cyclic.Share{Q: q, By: form.by, Inclusive: form.variant != ""},
					Slicer: b, Filling: cyclic.Filling{Finder: window.AMP{Settings: wholeTimes}},
				},
			})
		}
	}
	return p
}
