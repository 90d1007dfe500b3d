package simulation

// checkDecisions refuses a log of decisions where there would be none.
func (c *call) checkDecisions() error {
	if _, grid := c.Machine.(*Grid); grid && c.options.Decisions {
		return wrong("decisions", "on a grid decisions are made at many places, and there is no log of them: it is for a cluster or a domain")
	}
	return nil
}
