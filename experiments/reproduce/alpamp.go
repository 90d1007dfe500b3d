package reproduce

// AMP11, section 5: batches by ALP and by AMP.

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// ALPAMP compares the two searches in both of AMP11's problems.
type ALPAMP struct {
	Slots vo.AMP11Slots
	Jobs  vo.AMP11Jobs
}

// amp11Reading is one way to understand what AMP11 leaves open. The first is the
// table's, the others are variants.
type amp11Reading struct {
	variant   string
	atP       bool // t is a task's time at the least performance wanted, not at 1
	printed   bool // whole numbers reach the upper ends of their ranges
	timeLimit cyclic.TimeLimit
}

func amp11Readings() []amp11Reading {
	return []amp11Reading{
		{},
		{variant: "t at P", atP: true},
		{variant: "T* rounded down", timeLimit: cyclic.MeanTimeDown},
		{variant: "ranges as printed", printed: true},
	}
}

func amp11Searches() []string { return []string{"ALP", "AMP"} }

// NewALPAMP is the experiment with the paper's settings.
func NewALPAMP() ALPAMP {
	return ALPAMP{
		Slots: vo.AMP11Slots{Count: vo.Range{Min: 120, Max: 149}},
		Jobs:  vo.AMP11Jobs{Jobs: vo.Range{Min: 3, Max: 6}, Nodes: vo.Range{Min: 1, Max: 5}, PriceFactor: 1, AtOne: true},
	}
}

// Name implements Experiment.
func (ALPAMP) Name() string { return "alp-amp" }

// Title implements Experiment.
func (ALPAMP) Title() string { return "Batches by ALP and by AMP (AMP11, section 5)" }

const (
	leastTime = ", least time"
	leastCost = ", least cost"
	jobTime   = "job time"
	jobCost   = "job cost"
	kept      = "share of cycles kept"
	slotCount = "slots"
	jobCount  = "jobs"
	faster    = "share of cycles in which AMP is not faster"
)

// byAMP11 are the sources of the settings of AMP11's generators.
func byAMP11() sources {
	const cast = "AMP11 5 prints the upper end one higher, which the cast of a real draw does not reach; the kept cycles' 135.11 slots and 4.18 jobs bear it out, and nothing was fitted to them"
	return sources{
		"slots":                  {Inferred, cast},
		"length of a slot":       {Paper, "AMP11 5"},
		"performance of a slot":  {Paper, "AMP11 5"},
		"delay to the next slot": {Paper, "AMP11 5"},
		"price of a slot":        {Paper, "AMP11 5"},
		"jobs":                   {Inferred, cast},
		"nodes of a job":         {Inferred, cast},
		"time":                   {Paper, "AMP11 5"},
		"volume":                 {Inferred, "section 5 calls t the length, which represents the complexity; the mean times bear it out. The text of section 3 has V = t P: variant \"t at P\""},
		"least performance":      {Paper, "AMP11 5"},
		"price limit":            {Inferred, "AMP11 does not print C; this is the market price itself, and nothing is left to fit. The costs bear it out"},
	}
}

// Run implements Experiment.
func (a ALPAMP) Run(ctx context.Context, c Config) (Table, error) {
	from := byAMP11()
	t := Table{
		Name: a.Name(), Title: a.Title(), Source: "AMP11, section 5",
		Settings: append(append(from.settings(a.Slots.Facts()), from.settings(a.Jobs.Facts())...),
			Setting{"AMP's budget", "S = C (V/P) N", Source{Paper, "AMP11 3: S = C t N, t a time span to reserve"}},
			Setting{"cycles kept", "those in which every job has an alternative by both searches and the limit can be kept", Source{Paper, "AMP11 5"}},
			Setting{"T*", "the sum over the jobs of the mean time of their alternatives, not rounded", Source{Inferred, "AMP11 (2) rounds each part down: variant \"T* rounded down\", whose figures are not the paper's"}},
			Setting{"B*", "the largest income within T*", Source{Paper, "AMP11 (3)"}},
			Setting{"time of an alternative", "the length of its window", Source{Inferred, "with the sum of the tasks' times 59.85 units a job cannot come about for jobs of several nodes of 50 to 150 units each"}},
			Setting{"cycles", "25000", Source{Paper, "AMP11 5"}},
		),
	}
	paper := published{
		"ALP, least time": "59.85 313.56 7.39", "AMP, least time": "39.01 369.69 34.28",
		"ALP, least cost": "61.04 313.09 7.28", "AMP, least cost": "51.62 343.3 34.23",
	}
	st := study{of: a, cycles: 25000, cycle: a.cycle, claims: amp11Claims()}
	for i, q := range []string{jobTime, jobCost, alternatives} {
		for _, problem := range []string{leastTime, leastCost} {
			for _, search := range amp11Searches() {
				for _, reading := range amp11Readings() {
					name := search + problem
					st.rows = append(st.rows, Row{Series: name, Variant: reading.variant, Quantity: q, Paper: paper.at(name, i), Own: reading.variant != ""})
				}
			}
		}
	}
	for _, row := range []Row{
		{Series: "cycles kept" + leastTime, Quantity: kept},
		{Series: "cycles kept" + leastCost, Quantity: kept, Paper: "0.3428"},
		{Series: "cycles kept" + leastCost, Quantity: slotCount, Paper: "135.11"},
		{Series: "cycles kept" + leastCost, Quantity: jobCount, Paper: "4.18"},
		{Series: "cycles kept" + leastTime, Quantity: faster, Paper: "0"},
	} {
		for _, reading := range amp11Readings() {
			row.Variant, row.Own = reading.variant, reading.variant != ""
			st.rows = append(st.rows, row)
		}
	}
	err := st.run(ctx, c, &t)
	return t, err
}

func amp11Claims() []Claim {
	at := func(series, quantity string) Ref { return Ref{Series: series, Quantity: quantity} }
	return []Claim{
		{Text: "in the minimisation of time AMP's jobs take 35% less than ALP's", Where: "AMP11 5",
			Changes: []Change{{Of: at("AMP, least time", jobTime), From: at("ALP, least time", jobTime), Percent: -35}}},
		{Text: "AMP gains in every one of 300 cycles", Where: "AMP11 figure 5",
			Pairs: []Pair{{Less: at("cycles kept"+leastTime, faster), Factor: 1. / 300}}},
		{Text: "AMP finds several times as many alternatives as ALP", Where: "AMP11 5",
			Pairs: []Pair{{Less: at("ALP, least time", alternatives), Than: at("AMP, least time", alternatives), Factor: 1. / 2}}},
		{Text: "AMP's jobs cost more in the minimisation of time", Where: "AMP11 5",
			Pairs: []Pair{{Less: at("ALP, least time", jobCost), Than: at("AMP, least time", jobCost)}}},
	}
}

func (a ALPAMP) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	for _, reading := range amp11Readings() {
		slots, jobs := a.Slots, a.Jobs
		if reading.printed {
			slots.Count, jobs.Jobs, jobs.Nodes = vo.Range{}, vo.Range{}, vo.Range{}
		}
		jobs.AtOne = jobs.AtOne && !reading.atP
		list, err := slots.Generate(seed, cycle)
		if err != nil {
			return err
		}
		batch, err := jobs.Generate(seed, cycle)
		if err != nil {
			return err
		}
		if err := readAMP11(ctx, reading, batch, list, see); err != nil {
			return err
		}
	}
	return nil
}

// readAMP11 plans the jobs by both searches in one reading.
func readAMP11(ctx context.Context, reading amp11Reading, jobs []vo.AMP11Job, list plan.SlotList, see sight) error {
	found := make(map[string][][]entity.Window)
	for _, s := range []struct {
		name    string
		finder  plan.Finder
		request func(vo.AMP11Job) entity.Request
	}{
		{"ALP", window.ALP{}, vo.AMP11Job.PerSlot},
		{"AMP", window.AMP{}, vo.AMP11Job.PerJob},
	} {
		batch := make([]cyclic.Item, len(jobs))
		for i, j := range jobs {
			batch[i].Request = s.request(j)
		}
		windows, _, err := cyclic.Search{Finder: s.finder}.Run(ctx, batch, list)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, of := range windows {
			if len(of) == 0 {
				see.at(varied("cycles kept"+leastTime, reading.variant), "", kept, 0)
				see.at(varied("cycles kept"+leastCost, reading.variant), "", kept, 0)
				return nil
			}
			// AMP11's time of an alternative is the length of its window, which is
			// what a window without tasks counts with.
			for i := range of {
				of[i].Tasks, of[i].Nodes = nil, 1
			}
		}
		found[s.name] = windows
	}
	least := cyclic.Choice{Problem: cyclic.BatchTime, TimeLimit: reading.timeLimit, BudgetLimit: cyclic.LargestIncome}
	if _, err := chooseAMP11(ctx, leastTime, reading.variant, least, found, see); err != nil {
		return err
	}
	least = cyclic.Choice{Problem: cyclic.UsersExpense, TimeLimit: reading.timeLimit}
	ok, err := chooseAMP11(ctx, leastCost, reading.variant, least, found, see)
	if ok {
		series := varied("cycles kept"+leastCost, reading.variant)
		see.at(series, "", slotCount, float64(len(list.Slots)))
		see.at(series, "", jobCount, float64(len(jobs)))
	}
	return err
}

// chooseAMP11 makes both searches' choices, and tells of them where both can.
func chooseAMP11(ctx context.Context, problem, variant string, c cyclic.Choice, found map[string][][]entity.Window, see sight) (ok bool, err error) {
	cycles := varied("cycles kept"+problem, variant)
	chosen := make(map[string]cyclic.Combination)
	for _, name := range amp11Searches() {
		combination, err := c.Choose(ctx, found[name])
		var infeasible *cyclic.InfeasibleError
		if errors.As(err, &infeasible) {
			see.at(cycles, "", kept, 0)
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("%s%s: %w", name, problem, err)
		}
		chosen[name] = combination
	}
	see.at(cycles, "", kept, 1)
	notFaster := 0.0
	if chosen["AMP"].Time >= chosen["ALP"].Time {
		notFaster = 1
	}
	see.at(cycles, "", faster, notFaster)
	for _, name := range amp11Searches() {
		combination := chosen[name]
		series := varied(name+problem, variant)
		n := float64(len(found[name]))
		count := 0
		for _, of := range found[name] {
			count += len(of)
		}
		see.at(series, "", jobTime, combination.Time.Seconds()/n)
		see.at(series, "", jobCost, combination.Cost/n)
		see.at(series, "", alternatives, float64(count)/n)
	}
	return true, nil
}
