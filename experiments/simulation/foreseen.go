package simulation

// Policies that know all jobs beforehand.

import (
	"context"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/optimal"
)

// foreseen tells a clairvoyant policy all jobs of a source, and returns a source of the same jobs.
// For other policies it returns the source itself. A clairvoyant run has all jobs in memory.
func foreseen(ctx context.Context, jobs entity.Source, s RunSettings) (entity.Source, error) {
	p, is := entity.As[entity.Clairvoyant](s.Policy)
	if !is {
		return jobs, nil
	}
	all := &foreseenJobs{slices.Collect(eachJob(jobs))}
	if err := sourceError(jobs); err != nil {
		return nil, err
	}
	if best, is := entity.As[*optimal.Policy](s.Policy); is { // its slowdowns are those of the summary
		best.Tau = des.Time(s.Tau)
	}
	err := p.Foresee(ctx, all.jobs, s.Processors, s.Overrun.Lasts)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", s.Policy.Name(), err)
	}
	return all, nil
}

// foreseenJobs are jobs that have been read already.
type foreseenJobs struct{ jobs []*entity.Job }

// Next implements entity.Source.
func (f *foreseenJobs) Next() (j *entity.Job, more bool) {
	if len(f.jobs) == 0 {
		return nil, false
	}
	j, f.jobs = f.jobs[0], f.jobs[1:]
	return j, true
}
