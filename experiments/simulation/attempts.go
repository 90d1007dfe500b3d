package simulation

// needsAttempts has the files of all policies tell of every attempt of their jobs,
// and of what they waited for: it is called while a scenario is prepared in which
// running jobs can be stopped and begin again, or follow one another. Where a policy stops
// jobs by itself the files tell as well; see RunSettings.Attempts.
func (c *call) needsAttempts() { c.attempts = true }
