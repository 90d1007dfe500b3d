package scenario

// needsAttempts has the files of all policies tell of every attempt of their jobs,
// and of what they waited for: it is called while a scenario is prepared in which
// running jobs can be stopped and begin again, or follow one another. For a policy
// that stops jobs by itself its method Preempts says it; see run.Settings.Attempts.
func (c *call) needsAttempts() { c.attempts = true }
