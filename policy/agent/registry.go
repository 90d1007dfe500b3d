package agent

import (
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/policy"
)

// Registry is the table of strategies: each makes as many as there are brokers.
func Registry() policy.Table[func() grid.Strategy] {
	row := func(name, text string, make func() grid.Strategy) policy.Entry[func() grid.Strategy] {
		return policy.Entry[func() grid.Strategy]{
			Name: name, Text: text,
			New: func(*policy.Args) func() grid.Strategy { return make },
		}
	}
	return policy.Table[func() grid.Strategy]{
		row("oar", "reserve the offered slots that end first (OAR11)",
			func() grid.Strategy { return OAR{} }),
		row("rla", "split jobs by learned scores; the paper's reward, absolute (OAR11)",
			func() grid.Strategy { return &RLA{} }),
		row("rla-improvement", "the same, rewarding only what is faster than the mean",
			func() grid.Strategy { return &RLA{Scores{Reward: Improvement}} }),
		row("hybrid", "oar, the slots ranked by learned scores (absolute)",
			func() grid.Strategy { return &Hybrid{} }),
		row("hybrid-improvement", "the same, rewarding only what is faster than the mean",
			func() grid.Strategy { return &Hybrid{Scores{Reward: Improvement}} }),
		row("round-robin", "whole jobs to the clusters in turn",
			func() grid.Strategy { return &RoundRobin{} }),
		row("shortest-queue", "jobs to the cluster for which least waits",
			func() grid.Strategy { return ShortestQueue{} }),
		row("central", "oar's choice by one who sees every plan at every instant",
			func() grid.Strategy { return Central{} }),
		row("cheapest", "whole jobs to the site whose window costs least, within budget and deadline",
			func() grid.Strategy { return &Router{By: Cheapest} }),
		row("earliest", "whole jobs to the site whose window ends first, within budget and deadline",
			func() grid.Strategy { return &Router{By: Earliest} }),
		row("preferred", "whole jobs to the site whose window is best by the job's own criterion",
			func() grid.Strategy { return &Router{By: Preferred} }),
		row("distributed", "whole jobs into the sites' queues, by how much each has to do, to be planned there",
			func() grid.Strategy { return &Distributed{} }),
	}
}
