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
	Environment environment
	Batch       vo.Batch
	// Online are the policies that see jobs end, and may use what they leave.
	Online []onlinePolicy
	// Offline are the planners whose starts stay as planned.
	Offline []planned
}

// onlinePolicy is a policy of a page.
type onlinePolicy struct {
	Series string
	Own    bool
	// Every, if above 1, is the number of cycles of which one asks the policy: it is slow.
	Every uint64
	// Backfill is a policy of the queue: conservative, easy or fcfs. With a planner that fills in,
	// it decides about the jobs that the planner's share leaves. A planner without a share makes
	// the plans itself, and plans jobs that have not started anew when a job ends; then Backfill is
	// empty.
	Backfill string
	Planner  planner
}

// policy makes the policy anew: one that plans batches keeps state.
func (x onlinePolicy) policy() (entity.Policy, error) {
	backfilling := map[string]entity.Policy{"conservative": backfill.Conservative{}, "easy": backfill.EASY{}, "fcfs": backfill.FCFS{}}[x.Backfill]
	slicer, err := x.Planner.slicer()
	switch {
	case x.Planner.Fill:
		return &cyclic.Policy{Planner: slicer, Rest: backfilling, Share: cyclic.Share{Q: x.Planner.Q}}, err
	case x.Planner.K > 0:
		return &cyclic.Policy{Planner: slicer, Replan: cyclic.ReplanOnRelease}, err
	case backfilling == nil:
		return nil, fmt.Errorf("no policy is called %q", x.Backfill)
	}
	return backfilling, nil
}

func (e earlyEnds) facts() facts {
	return facts{"environment": e.Environment.Facts(), "batch": e.Batch.Facts()}
}

// rows has the online policies, whose plans change, before the planners.
func (e earlyEnds) rows(p *page) []tableRow {
	var lines []tableRow
	for _, x := range e.Online {
		lines = append(lines, tableRow{Series: x.Series, Own: x.Own})
	}
	for _, x := range e.Offline {
		lines = append(lines, tableRow{Series: x.Series, Variant: x.Variant, Own: x.Own})
	}
	return p.each(lines)
}

// cycle has one environment and one batch for all. Means are over the jobs that are planned.
func (e earlyEnds) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := e.Environment.Generate(seed, cycle)
	if err != nil {
		return err
	}
	jobs, err := e.Batch.Generate(seed, cycle)
	if err != nil {
		return err
	}
	// By job: reserved time and time used, and starts.
	tell := func(name string, scheduled, real planSums) {
		see.at(name, "", "T_CPU scheduled", scheduled.cpu/scheduled.planned)
		see.at(name, "", "T_CPU real", real.used/real.planned)
		see.at(name, "", "start scheduled", scheduled.start/scheduled.planned)
		see.at(name, "", "start real", real.start/real.planned)
	}
	// Planners reserve; their jobs start when they were to start, and end early.
	for _, x := range e.Offline {
		planner, err := x.Planner.make()
		if err != nil {
			return err
		}
		out, err := planner.Plan(ctx, items(jobs), in.SlotList())
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
	for _, x := range e.Online {
		if x.Every > 1 && cycle%x.Every != 0 {
			continue
		}
		scheduled, err := batchUnder(ctx, x, in, exact)
		if err != nil {
			return fmt.Errorf("%s: %w", x.Series, err)
		}
		real, err := batchUnder(ctx, x, in, jobs)
		if err != nil {
			return fmt.Errorf("%s: %w", x.Series, err)
		}
		tell(x.Series, scheduled, real)
	}
	return nil
}

// batchUnder runs a batch, which is there from the beginning, under a policy, and sums up the jobs
// that finished.
func batchUnder(ctx context.Context, x onlinePolicy, in *vo.Instance, jobs []*entity.Job) (s planSums, err error) {
	policy, err := x.policy()
	if err != nil {
		return s, err
	}
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
