package optimal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
)

// Policy runs a schedule with the least value of a measure, for at most MostJobs jobs on counted
// processors. A moldable job has the shape of that schedule, and keeps it: schedules in which
// jobs stop or change their shapes on the way (preempt.Equipartition) may have less. The policy is a
// yardstick and no rival: it knows all jobs, and how long they really run, before the first one
// comes. It keeps state: each run needs its own.
type Policy struct {
	Of  Measure
	Tau des.Time // what slowdowns are bounded by; DefaultTau where 0

	timetable *backfill.Timetable // nil before Foresee
	best      Schedule
}

// Name returns "optimal", with the measure where that is not the wait.
func (p *Policy) Name() string {
	if p.Of == Wait {
		return "optimal"
	}
	return fmt.Sprintf("optimal:of=%v", p.Of)
}

// Foresee implements entity.Clairvoyant: it finds the schedule.
func (p *Policy) Foresee(ctx context.Context, coming []*entity.Job, processors int, lasts func(*entity.Job) des.Time) error {
	var jobs []Job
	var fitting []*entity.Job
	for _, j := range coming {
		if len(j.After) > 0 {
			return fmt.Errorf("%v waits for other jobs, and a best schedule is found for jobs that come by themselves", j)
		}
		job := JobOf(j, lasts)
		fits := func(s Shape) bool { return s.Nodes <= processors }
		if job.Nodes > processors && !slices.ContainsFunc(job.Shapes, fits) { // the plan rejects it
			continue
		}
		jobs, fitting = append(jobs, job), append(fitting, j)
	}
	var err error
	if p.best, err = Solve(ctx, jobs, processors, p.Of, p.Tau); err != nil {
		return err
	}
	starts, nodes := map[*entity.Job]des.Time{}, map[*entity.Job]int{}
	for i, j := range fitting {
		starts[j], nodes[j] = p.best.Starts[i], p.best.Shapes[i].Nodes
	}
	t := backfill.NewTimetable("optimal", "the best schedule", func(j *entity.Run) des.Time { return starts[j.Job] })
	p.timetable = t.Molding(func(j *entity.Run) int { return nodes[j.Job] })
	return nil
}

// Best returns the schedule that Foresee has found.
func (p *Policy) Best() Schedule { return p.best }

// Schedule starts the jobs whose time has come. If the world differs from what was foreseen,
// because of outages or of jobs that an observer submits, the schedule is no longer the
// best: jobs start as soon afterwards as they fit.
func (p *Policy) Schedule(r *entity.Round) {
	if p.timetable == nil {
		r.Fail(errors.New("nobody has told the jobs before they come: a best schedule is found on a cluster of counted processors"))
		return
	}
	p.timetable.Schedule(r)
}
