package slurm

// Forget has the controller look for everything anew that it remembers otherwise.
func (c *Controller) Forget() { c.forgetful = true }

// Repeats is how many runs of backfill were left out because they would have done what the last one did.
func (c *Controller) Repeats() int64 { return c.backfill.last.times }
