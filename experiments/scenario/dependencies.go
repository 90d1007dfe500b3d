package scenario

import (
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
)

// This file has jobs wait for others: those of a log under feedback, and those of
// workloads that say so themselves.

// checkFeedback refuses feedback where there are no fields 17 and 18, and what
// means nothing beside it.
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

// link finds out which jobs of the workload wait for others. It reads the workload
// once, where any may.
func (c *call) link() error {
	if c.jobs == nil || !c.jobs.wait {
		return nil
	}
	from, err := c.jobs.open()
	if err != nil {
		return err
	}
	defer from.Close()
	source := sourceOf(from)
	links, err := flow.Survey(func(yield func(*entity.Job) bool) {
		for j, ok := source.Next(); ok && yield(j); j, ok = source.Next() {
		}
	}, c.Workload.Options.Feedback)
	if failed, ok := source.(interface{ Err() error }); ok && failed.Err() != nil {
		return failed.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.jobs.name, err)
	}
	switch {
	case links.Any():
		c.links = links
		c.needsAttempts() // the files tell of it
	case c.Workload.Options.Feedback:
		c.options.Tell("%s: no job names another one of the log as its preceding job (field 17), so that feedback changes nothing", c.jobs.name)
	}
	return nil
}
