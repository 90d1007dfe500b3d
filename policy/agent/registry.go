package agent

import (
	"strings"

	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/policy"
)

// Registry returns the table of strategies: each makes as many as there are brokers.
func Registry() policy.Table[func() grid.Strategy] {
	return policy.Table[func() grid.Strategy]{
		row("oar", "reserve the offered slots that end first (OAR11)", func() grid.Strategy { return OAR{} }),
		learning("rla", "split jobs by learned scores; the paper's reward, absolute, or another one (OAR11)", func(s Scores) grid.Strategy { return &RLA{s} }),
		learning("hybrid", "oar, the slots ranked by learned scores (absolute)", func(s Scores) grid.Strategy { return &Hybrid{s} }),
		row("round-robin", "whole jobs to the clusters in turn", func() grid.Strategy { return &RoundRobin{} }),
		row("shortest-queue", "jobs to the cluster for which least waits", func() grid.Strategy { return ShortestQueue{} }),
		row("central", "oar's choice by one who sees every plan at every instant", func() grid.Strategy { return Central{} }),
		row("cheapest", "whole jobs to the site whose window costs least, within budget and deadline", sites(LeastCost, true)),
		row("earliest", "whole jobs to the site whose window ends first, within budget and deadline", sites(EarliestEnd, true)),
		row("preferred", "whole jobs to the site whose window is best by the job's own criterion", sites(OwnCriterion, true)),
		row("distributed", "whole jobs into the sites' queues, by how much each has to do, to be planned there", sites(LeastSent, false)),
		policy.Row("dispatch", "whole jobs into the queue of one site, to be planned there", func(s *policy.Settings) func() grid.Strategy {
			var d Sites
			policy.Choice(s, &d.By, "by", "least-work|least-jobs|round-robin|random|earliest|price", "the choice of the site (least-work)", dispatchRules.Parse)
			if s.Time(&d.Age, "age", "for least-work and least-jobs: how old what is known of the sites may be (0)") && !d.By.goesByState() {
				s.Fail("age", "by=least-work or by=least-jobs beside it: the others ask about each job")
			}
			return func() grid.Strategy { return &Sites{By: d.By, Age: d.Age} }
		}),
	}
}

// row returns the entry of a strategy without parameters.
func row(name, text string, make func() grid.Strategy) policy.Entry[func() grid.Strategy] {
	return policy.Row(name, text, func(*policy.Settings) func() grid.Strategy { return make })
}

// learning returns the entry of a strategy that learns by a rule, with parameters for what the paper
// leaves open.
func learning(name, text string, make func(Scores) grid.Strategy) policy.Entry[func() grid.Strategy] {
	return policy.Row(name, text, func(s *policy.Settings) func() grid.Strategy {
		scores, first, emergencies := Scores{Reward: absolute}, 0, true
		policy.Choice(s, &scores.Reward, "reward", strings.Join(rewardNames(), "|"), "the rule of learning (absolute)", parseReward)
		s.Count(&first, "first", "a cluster's score before its first answer (1)")
		scores.First = float64(first)
		s.OnOff(&scores.BySize, "by-size", "that score is for each processor of the cluster (off)")
		s.OnOff(&emergencies, "emergencies", "learn from what the regulator placed, too (on)")
		scores.OwnOnly = !emergencies
		switch since, _ := s.Given("since", "job|fragment", "response times begin when the job was submitted, or when the fragment reached its cluster (job)"); since {
		case "", "job":
		case "fragment":
			scores.FromArrival = true
		default:
			s.Fail("since", "job or fragment")
		}
		return func() grid.Strategy { return make(scores) }
	})
}

// sites makes strategies that place whole jobs by a rule.
func sites(by Rule, reserve bool) func() grid.Strategy {
	return func() grid.Strategy { return &Sites{By: by, Reserve: reserve} }
}
