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

// earlyEnds compares what was planned with what came of it.
type earlyEnds struct {
	Environment vo.Environment
	Batch       vo.Batch
}

// newEstimates is the experiment with the paper's settings.
func newEstimates() earlyEnds {
	return earlyEnds{vo.METABatches(), vo.Batch{Real: vo.Range{Min: 0.2, Max: 1}}}
}

// online are the policies that see jobs end. Those that plan batches keep state:
// each call makes new ones.
func online() []onlinePolicy {
	return []onlinePolicy{
		{name: "backfilling", policy: backfill.Conservative{}},
		{name: "backfilling, EASY", policy: backfill.EASY{}, own: true},
		{name: "backfilling, FCFS", policy: backfill.FCFS{}, own: true},
		{name: "batch-slicer, replanned on release", own: true, every: 5, policy: &cyclic.Policy{
			Planner: slicer(5, cyclic.ShiftSlice), Replan: cyclic.ReplanOnRelease,
		}},
		{name: "BSF, q = 0.4", own: true, policy: &cyclic.Policy{
			Planner: slicer(2, cyclic.ShiftSlice), Rest: backfill.Conservative{}, Share: cyclic.Share{Q: 0.4},
		}},
	}
}

type onlinePolicy struct {
	name   string
	policy entity.Policy
	own    bool
	every  uint64 // asked in every so many cycles, if above 1: it is slow
}

// offline are the planners whose starts stay as planned.
func offline() planning {
	return planning{
		{Series: "CSS", Planner: slicer(1, cyclic.NoShift)},
		{Series: "batch-slicer", Planner: slicer(5, cyclic.ShiftSlice)},
		{Series: "CSS", Variant: theirWays, Planner: inTheirWays(slicer(1, cyclic.NoShift))},
		{Series: "batch-slicer", Variant: theirWays, Planner: inTheirWays(slicer(5, cyclic.ShiftSlice))},
		{Series: "CSS, shift", Planner: slicer(1, cyclic.ShiftSlice), Own: true},
		{Series: "batch-slicer, no shift", Planner: slicer(5, cyclic.NoShift), Own: true},
	}
}

// rows are those of online policies, whose plans change, before those of planners.
func (earlyEnds) rows(p *page) []Row {
	var lines []Row
	for _, x := range online() {
		lines = append(lines, Row{Series: x.name, Own: x.own})
	}
	for _, x := range offline() {
		lines = append(lines, Row{Series: x.Series, Variant: x.Variant, Own: x.Own})
	}
	return p.each(lines)
}

func (e earlyEnds) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := e.Environment.Generate(seed, cycle)
	if err != nil {
		return err
	}
	jobs, err := e.Batch.Generate(seed, cycle)
	if err != nil {
		return err
	}
	tell := func(name string, scheduled, real planSums) {
		see.at(name, "", "T_CPU scheduled", scheduled.cpu/scheduled.planned)
		see.at(name, "", "T_CPU real", real.used/real.planned)
		see.at(name, "", "start scheduled", scheduled.start/scheduled.planned)
		see.at(name, "", "start real", real.start/real.planned)
	}
	// Planners reserve; their jobs start when they were to start, and end early.
	for _, x := range offline() {
		out, err := x.Planner.Plan(ctx, items(jobs), in.SlotList())
		if err != nil {
			return fmt.Errorf("%s: %w", x.Series, err)
		}
		var s planSums
		for i := range out.Jobs {
			s.decide(&out.Jobs[i], jobs[i])
		}
		tell(varied(x.Series, x.Variant), s, s)
	}
	// Policies see jobs end. What they would have scheduled is what they do with jobs
	// that take all the time they were given.
	exact := make([]*entity.Job, len(jobs))
	for i, j := range jobs {
		job := *j
		job.Runtime = job.Request.Length
		exact[i] = &job
	}
	for _, x := range online() {
		if x.every > 1 && cycle%x.every != 0 {
			continue
		}
		scheduled, err := batchUnder(ctx, x.policy, in, exact)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		real, err := batchUnder(ctx, x.policy, in, jobs)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		tell(x.name, scheduled, real)
	}
	return nil
}

// batchUnder has a batch, there from the beginning, run under a policy.
func batchUnder(ctx context.Context, policy entity.Policy, in *vo.Instance, jobs []*entity.Job) (s planSums, err error) {
	domain, err := in.Domain(window.AMP{Settings: wholeTimes})
	if err != nil {
		return s, err
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
		return s, err
	}
	for _, r := range runs {
		if r.State == entity.Finished {
			s.add(&r.Reservation.Window, r.Job)
		}
	}
	return s, nil
}
