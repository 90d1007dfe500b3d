package slurm

import (
	"fmt"
	"strings"
)

// Forget has the controller look for everything anew that it remembers otherwise.
func (c *Controller) Forget() { c.forgetful = true }

// Looks is how many looks into the future have been made.
func (c *Controller) Looks() int64 { return c.looks }

// Records is how many jobs and shapes the controller has records of.
func (c *Controller) Records() int {
	return len(c.jobs) + len(c.ended) + len(c.shapes) + len(c.pending) + len(c.byLimit)
}

// Repeats is how many runs of backfill were left out because they would have done what the last one did.
func (c *Controller) Repeats() int64 { return c.backfill.last.times }

// Plans tells the estimates of the jobs that wait, if all have them, and why they wait.
func (c *Controller) Plans() string {
	var text strings.Builder
	for j := range c.waiting {
		estimate := j.estimate
		if !c.Estimates {
			estimate = 0
		}
		fmt.Fprintf(&text, " %d %d %s", j.ID, estimate, j.reason)
	}
	return text.String()
}
