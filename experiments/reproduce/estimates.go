package reproduce

// META table 3: jobs that take less time than they were given.

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// Estimates compares what was planned with what came of it.
type Estimates struct {
	Environment vo.Environment
	Batch       vo.Batch
}

// NewEstimates is the experiment with the paper's settings.
func NewEstimates() Estimates {
	return Estimates{Environment: vo.METABatches(), Batch: vo.Batch{Real: vo.Range{Min: 0.2, Max: 1}}}
}

// Name implements Experiment.
func (Estimates) Name() string { return "estimates" }

// Title implements Experiment.
func (Estimates) Title() string {
	return "Plans and what comes of them where jobs end early (META table 3)"
}

const (
	scheduledCPU   = "T_CPU scheduled"
	realCPU        = "T_CPU real"
	scheduledStart = "start scheduled"
	realStart      = "start real"
)

// online are the policies that see jobs end. Those that plan batches keep state:
// each call makes new ones.
func online() []namedPolicy {
	sliced := slicer(5, cyclic.ShiftSlice)
	return []namedPolicy{
		{name: "backfilling", policy: backfill.Conservative{}},
		{name: "backfilling, EASY", policy: backfill.EASY{}, own: true},
		{name: "backfilling, FCFS", policy: backfill.FCFS{}, own: true},
		{name: "batch-slicer, replanned on release", own: true, every: 5, policy: &cyclic.Policy{
			Planner: sliced, Replan: cyclic.ReplanOnRelease,
		}},
		{name: "BSF, q = 0.4", own: true, policy: &cyclic.Policy{
			Planner: slicer(2, cyclic.ShiftSlice), Rest: backfill.Conservative{}, Share: cyclic.Share{Q: 0.4},
		}},
	}
}

type namedPolicy struct {
	name   string
	policy entity.Policy
	own    bool
	every  uint64 // asked in every so many cycles, if above 1: it is slow
}

// planned are the planners whose starts stay as planned.
func planned() []Plan {
	return []Plan{
		{Series: "CSS", Planner: slicer(1, cyclic.NoShift)},
		{Series: "batch-slicer", Planner: slicer(5, cyclic.ShiftSlice)},
		{Series: "CSS", Variant: theirWays, Planner: inTheirWays(slicer(1, cyclic.NoShift))},
		{Series: "batch-slicer", Variant: theirWays, Planner: inTheirWays(slicer(5, cyclic.ShiftSlice))},
		{Series: "CSS, shift", Planner: slicer(1, cyclic.ShiftSlice), Own: true},
		{Series: "batch-slicer, no shift", Planner: slicer(5, cyclic.NoShift), Own: true},
	}
}

// Run implements Experiment.
func (e Estimates) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{
		Name: e.Name(), Title: e.Title(), Source: "META table 3",
		Settings: append(append(byBatches.settings(e.Environment.Facts()),
			byBatch.with(sources{"real share": {Paper, "META 7.2"}}).settings(e.Batch.Facts())...),
			wholeTimesSetting,
			Setting{"choice", "the least total processor time within B*, exactly", Source{Paper, "META 6.2; the papers' grid is among the authors' ways"}},
			Setting{"B*", "the sum over the jobs of the mean cost of their alternatives", Source{Program, ""}},
			Setting{"early ends", "each node is released at its own end", Source{Paper, "META 7.2"}},
			Setting{"backfilling", "conservative with compression, on AMP windows; scheduled is the same with exact estimates", Source{Inferred, "META does not say which backfilling; EASY and FCFS are beside it"}},
			Setting{"batch-slicer", "k = 5, shifts after each slice", Source{Program, ""}},
			Setting{"CSS", "does not shift", Source{Program, ""}},
			Setting{"replanning", "asked in every fifth cycle", Source{Ours, "it is slow, and its mean is known well enough"}},
			theirWaysSetting,
			Setting{"cycles", "5000", Source{Paper, "META 7.2"}},
		),
	}
	paper := published{
		"backfilling": "187.7 115.1 69 37.3", "CSS": "150.1 90.4 281.2 281.2", "batch-slicer": "138.6 83.5 223.8 223.8",
	}
	code := published{"backfilling": "183", "CSS": "145", "batch-slicer": "132 - 219.7 219.7"}
	st := study{of: e, cycles: 5000, cycle: e.cycle, claims: []Claim{{
		Text: "with real runtimes backfilling starts jobs 46% earlier than scheduled", Where: "META 7.2",
		Changes: []Change{{Of: Ref{"backfilling", "", realStart}, From: Ref{"backfilling", "", scheduledStart}, Percent: -46}},
	}}}
	for i, q := range []string{scheduledCPU, realCPU, scheduledStart, realStart} {
		add := func(name, variant string, own bool) {
			st.rows = append(st.rows, Row{Series: name, Variant: variant, Quantity: q, Paper: paper.at(name, i), Code: code.at(name, i), Own: own})
		}
		for _, p := range online() {
			add(p.name, "", p.own)
		}
		for _, p := range planned() {
			add(p.Series, p.Variant, p.Own)
		}
	}
	err := st.run(ctx, c, &t)
	return t, err
}

func (e Estimates) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := e.Environment.Generate(seed, cycle)
	if err != nil {
		return err
	}
	jobs, err := e.Batch.Generate(seed, cycle)
	if err != nil {
		return err
	}
	for _, p := range planned() {
		batch := make([]cyclic.Item, len(jobs))
		for i, j := range jobs {
			batch[i].Request = j.Request
		}
		out, err := p.Planner.Plan(ctx, batch, in.SlotList())
		if err != nil {
			return fmt.Errorf("%s: %w", p.Series, err)
		}
		var s outcome
		for i, d := range out.Jobs {
			if d.OK {
				s.add(&d.Window, jobs[i])
			}
		}
		name := varied(p.Series, p.Variant)
		see.at(name, "", scheduledCPU, s.reserved/s.jobs)
		see.at(name, "", realCPU, s.used/s.jobs)
		see.at(name, "", scheduledStart, s.start/s.jobs)
		see.at(name, "", realStart, s.start/s.jobs)
	}
	for _, p := range online() {
		if p.every > 1 && cycle%p.every != 0 {
			continue
		}
		exact := make([]*entity.Job, len(jobs))
		for i, j := range jobs {
			job := *j
			job.Runtime = job.Request.Length
			exact[i] = &job
		}
		scheduled, err := simulate(ctx, p.policy, in, exact)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		real, err := simulate(ctx, p.policy, in, jobs)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		see.at(p.name, "", scheduledCPU, scheduled.reserved/scheduled.jobs)
		see.at(p.name, "", scheduledStart, scheduled.start/scheduled.jobs)
		see.at(p.name, "", realCPU, real.used/real.jobs)
		see.at(p.name, "", realStart, real.start/real.jobs)
	}
	return nil
}

// outcome adds up over the jobs that got a window.
type outcome struct{ jobs, start, reserved, used float64 }

func (o *outcome) add(w *entity.Window, j *entity.Job) {
	o.jobs++
	o.start += w.Start.Seconds()
	o.reserved += w.ProcessorTime().Seconds()
	share := min(1, float64(j.Runtime)/float64(j.Request.Length))
	o.used += share * w.ProcessorTime().Seconds()
}

// simulate runs a batch, there from the beginning, through a policy.
func simulate(ctx context.Context, policy entity.Policy, in *vo.Instance, jobs []*entity.Job) (outcome, error) {
	var o outcome
	domain, err := in.Domain(window.AMP{Settings: wholeTimes})
	if err != nil {
		return o, err
	}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, domain, policy)
	meta.Cycle = in.End
	defer meta.Close()
	meta.LeaveWaiting = true // those that find no window
	runs := make([]*entity.Run, len(jobs))
	for i, j := range jobs {
		runs[i] = meta.Submit(j)
	}
	if err := sim.Run(ctx); err != nil {
		return o, err
	}
	for _, r := range runs {
		if r.State == entity.Finished {
			o.add(&r.Reservation.Window, r.Job)
		}
	}
	return o, nil
}
