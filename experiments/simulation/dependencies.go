package simulation

import (
	"fmt"

	"github.com/gridslot/gridslot/entity/flow"
)

// Jobs that wait for others: jobs of a log under feedback, and jobs of workloads that name the
// jobs for which they wait.

// checkFeedback refuses feedback if there are no fields 17 and 18, and what means nothing with it.
func (sc *Scenario) checkFeedback() error {
	o := &sc.Workload.Options
	switch {
	case !o.Feedback:
		return nil
	case sc.Workload.Jobs != nil:
		return wrong("feedback", "it is about a trace, and the jobs are those of a program")
	case o.Load > 0:
		return wrong("load", "under feedback jobs come when others have ended: the times between their submissions cannot be scaled")
	}
	return nil
}

// survey finds out which jobs of a workload wait for others; nil if none does. The workload is read
// once, if any may.
func (j *jobs) survey(feedback bool) (*flow.Links, error) {
	if !j.wait {
		return nil, nil
	}
	from, err := j.open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	source := sourceOf(from)
	links, err := flow.Survey(eachJob(source), feedback)
	if failed := sourceError(source); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.name, err)
	}
	if !links.Any() {
		return nil, nil
	}
	return links, nil
}

// linkJobs lets the jobs of the workload wait for others, if they say so.
func (c *call) linkJobs() (err error) {
	if c.jobs == nil {
		return nil
	}
	if c.links, err = c.jobs.survey(c.Workload.Options.Feedback); err != nil {
		return err
	}
	switch {
	case c.links != nil:
		c.needsAttempts() // the files tell of it
	case c.Workload.Options.Feedback:
		c.options.Tell("%s: no job names another one of the log as its preceding job (field 17), so that feedback changes nothing", c.jobs.name)
	}
	return nil
}
