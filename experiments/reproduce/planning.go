package reproduce

// META's experiments with batches: plans of one cycle.

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

// Planning is an experiment that draws an environment and a batch a cycle and
// has every planner plan it.
type Planning struct {
	ID, Heading, Source string
	Cycles              int // the published number
	XLabel              string
	Quantities          []string // among planQuantities
	Plans               []Plan
	Said, Notes         []string
	Claims              []Claim

	paper, code published // by row label
}

// Plan is a planner and what it plans.
type Plan struct {
	Series, Point string
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
	t := Table{Name: p.ID, Title: p.Heading, Source: p.Source, Settings: p.Said, Notes: p.Notes, XLabel: p.XLabel}
	st := study{cycles: p.Cycles, rows: p.rows(), claims: p.Claims, cycle: p.cycle}
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
				row := Row{Series: name, Point: plan.Point, X: plan.X, Quantity: q, Own: plan.Own}
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
		}
		batch, groups, err := plan.batch(seed, cycle)
		if err != nil {
			return err
		}
		out, err := plan.Planner.Plan(ctx, batch, in.SlotList())
		if err != nil {
			return fmt.Errorf("%s: %w", plan.Series, err)
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
			s.tell(see, name, plan.Point)
		}
		if plan.Offer > 0 {
			load := timeOn(in.Nodes[0], out).Seconds()
			see.at(plan.Series, plan.Point, offerLoad, load)
			see.at(plan.Series, plan.Point, offerUse, load/in.End.Seconds())
			see.at(plan.Series, plan.Point, offerProfit, load*plan.Offer)
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

const (
	batchSaid  = "24 nodes, interval 600, local load up to 20%; 20 jobs of 2 to 5 nodes, volumes 100 to 500, budgets 1.0 to 1.6 times n V."
	choiceSaid = "Choice: the least total processor time within B*, the sum over the jobs of the mean cost of their alternatives."
)

// Preferences is META table 1.
func Preferences() Planning {
	sliced := slicer(5, cyclic.ShiftSlice)
	grid, income := sliced, sliced
	grid.Choice.Grid = 1
	income.Choice.BudgetLimit = cyclic.LargestIncome
	base := Plan{Environment: vo.METABatches(), Planner: sliced}
	with := func(series string, criteria []Criterion, planner cyclic.Planner, own bool) Plan {
		p := base
		p.Series, p.Criteria, p.Own = series, criteria, own
		if planner != nil {
			p.Planner = planner
		}
		return p
	}
	return Planning{
		ID: "preferences", Heading: "Users' criteria in the batch-slicer (META table 1)", Source: "META table 1",
		Cycles:     5000,
		Quantities: []string{alternatives, meanStart, execution, meanFinish, meanCost, unplanned},
		Plans: []Plan{
			with("", users, nil, false),
			with("CSS", nil, nil, false),
			with("CSS, grid of 1", nil, grid, true),
			with("CSS, B* = income", nil, income, true),
			with("CSS, shift at the end", nil, slicer(5, cyclic.ShiftEnd), true),
			with("CSS, k = 1", nil, slicer(1, cyclic.ShiftSlice), true),
		},
		Said: []string{
			batchSaid, wholeTimesSaid, choiceSaid,
			"k = 5, shift after each slice. Each job draws one of the four criteria; a row is the mean over the jobs that drew it. CSS is the same slicer with first fit for all.",
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

// Slicing is META figure 7.
func Slicing() Planning {
	p := Planning{
		ID: "slicing", Heading: "Processor time against the number of slices (META figure 7)",
		Source: "META figure 7, a chart; the authors' program at medium load", Cycles: 5000,
		XLabel:     "slices k",
		Said:       []string{batchSaid, wholeTimesSaid, choiceSaid, "No shift. Low, medium and high load are local loads of up to 10, 20 and 40%."},
		Quantities: []string{processorTime, alternatives},
		code: published{
			"medium load, k = 1": "147.3", "medium load, k = 2": "140.8", "medium load, k = 3": "138.3", "medium load, k = 5": "137.0",
			"medium load, k = 6": "137.1", "medium load, k = 10": "137.4", "medium load, k = 20": "142.0",
		},
	}
	for _, load := range []struct {
		name string
		hi   float64
	}{{"low", 1}, {"medium", 2}, {"high", 4}} {
		for _, k := range []int{1, 2, 3, 5, 6, 10, 20} {
			e := vo.METABatches()
			e.Load.Level = vo.HypergeometricLevel{Lo: 0, Hi: load.hi}
			p.Plans = append(p.Plans, Plan{
				Series: load.name + " load", Point: fmt.Sprintf("k = %d", k), X: float64(k), Environment: e, Planner: slicer(k, cyclic.NoShift),
			})
		}
	}
	return p
}

// OwnerPrice is META table 2.
func OwnerPrice() Planning {
	p := Planning{
		ID: "owner-price", Heading: "One owner's price (META table 2, figure 8)", Source: "META table 2", Cycles: 5000,
		XLabel: "price of the node offered",
		Said: []string{
			batchSaid, wholeTimesSaid, choiceSaid,
			"Batch-slicer with k = 5, no shift; one of the nodes has performance 6 and the price given. Rows of 20 and 16 nodes: the size of the domain is not published.",
		},
		Quantities: []string{offerLoad, offerUse, offerProfit, unplanned},
		paper: published{
			"price 2": "256.6 .44 527.1 0", "price 4": "234.9 .39 939.6 .001", "price 6": "185.4 .31 1112.3 .013",
			"price 8": "109.8 .18 878.7 .024", "price 10": "71 .12 710.3 .025",
		},
	}
	for _, nodes := range []int{24, 20, 16} {
		for _, price := range []float64{2, 4, 6, 8, 10} {
			e := vo.METABatches()
			e.Nodes.Count = nodes
			plan := Plan{Point: fmt.Sprintf("price %v", price), X: price, Environment: e, Planner: slicer(5, cyclic.NoShift), Offer: price}
			if nodes != 24 {
				plan.Series, plan.Own = fmt.Sprintf("%d nodes", nodes), true
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
		Said: []string{
			batchSaid, wholeTimesSaid, choiceSaid,
			"The share is sliced by four jobs, no shift; the others are filled in, AMP, in order of priority.",
		},
		Quantities: []string{processorTime, meanStart, meanFinish, meanCost, unplanned},
		code: published{
			"q = 0.2": "178.1 115.4", "q = 0.4": "171.0 149.5", "q = 0.6": "162.4 192.0", "q = 0.8": "151.1 240.7",
		},
	}
	for _, by := range []cyclic.Selection{cyclic.ByPriority, cyclic.Dearest} {
		for i, q := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
			plan := Plan{
				Point: fmt.Sprintf("q = %v", q), X: q, Environment: vo.METABatches(),
				Planner: cyclic.BSF{
					Share:  cyclic.Share{Q: q, By: by},
					Slicer: slicer(i, cyclic.NoShift), Filling: cyclic.Filling{Finder: window.AMP{Settings: wholeTimes}},
				},
			}
			if by != cyclic.ByPriority {
				plan.Series, plan.Own = "the dearest first", true
			}
			p.Plans = append(p.Plans, plan)
		}
	}
	return p
}
