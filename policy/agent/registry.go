package agent

import (
	"strings"

	"github.com/gridslot/gridslot/des"
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
	readings := []policy.Param{
		{Name: "first", Values: "N", Text: "a cluster's score before its first answer (1)"},
		{Name: "by-size", Values: "on|off", Text: "that score is for each processor of the cluster (off)"},
		{Name: "emergencies", Values: "on|off", Text: "learn from what the regulator placed, too (on)"},
		{Name: "since", Values: "job|fragment", Text: "response times begin when the job was submitted, or when the fragment reached its cluster (job)"},
	}
	rewards := policy.Param{Name: "reward", Values: strings.Join(rewardNames(), "|"), Text: "the rule of learning (absolute)"}
	// learning is a row of a strategy that learns, by the rule that the spec names
	// or, under the names from before there were rules to name, by Improvement.
	learning := func(name, text string, improving bool, make func(Scores) grid.Strategy) policy.Entry[func() grid.Strategy] {
		params, rule := append([]policy.Param{rewards}, readings...), reward
		if improving {
			params, rule = readings, func(*policy.Args) Reward { return Improvement }
		}
		return policy.Entry[func() grid.Strategy]{
			Name: name, Text: text, Params: params,
			New: func(a *policy.Args) func() grid.Strategy {
				s := scores(a, rule(a))
				return func() grid.Strategy { return make(s) }
			},
		}
	}
	rla := func(s Scores) grid.Strategy { return &RLA{s} }
	hybrid := func(s Scores) grid.Strategy { return &Hybrid{s} }
	return policy.Table[func() grid.Strategy]{
		row("oar", "reserve the offered slots that end first (OAR11)",
			func() grid.Strategy { return OAR{} }),
		learning("rla", "split jobs by learned scores; the paper's reward, absolute, or another one (OAR11)", false, rla),
		learning("rla-improvement", "rla:reward=improvement, rewarding only what is faster than the mean", true, rla),
		learning("hybrid", "oar, the slots ranked by learned scores (absolute)", false, hybrid),
		learning("hybrid-improvement", "hybrid:reward=improvement, rewarding only what is faster than the mean", true, hybrid),
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
		{
			Name: "dispatch", Text: "whole jobs into the queue of one site, to be planned there",
			Params: []policy.Param{
				{Name: "by", Values: "least-work|least-jobs|round-robin|random|earliest|price", Text: "the choice of the site (least-work)"},
				{Name: "age", Values: "TIME", Text: "for least-work and least-jobs: how old what is known of the sites may be (0)"},
			},
			New: dispatch,
		},
	}
}

func dispatch(a *policy.Args) func() grid.Strategy {
	var by Rule
	if text, given := a.Value("by"); given {
		var err error
		if by, err = ParseRule(text); err != nil {
			a.Fail("by", rules.Want())
		}
	}
	if _, given := a.Value("age"); given && !by.goesByState() {
		a.Fail("age", "by=least-work or by=least-jobs beside it: the others ask about each job")
	}
	age := des.Seconds(a.Seconds("age"))
	return func() grid.Strategy { return &Dispatcher{By: by, Age: age} }
}

// reward is the rule that a spec names; Absolute where it names none.
func reward(a *policy.Args) Reward {
	name, given := a.Value("reward")
	if !given {
		return Absolute
	}
	for _, r := range Rewards() {
		if r.Name == name {
			return r
		}
	}
	a.Fail("reward", "one of "+strings.Join(rewardNames(), ", "))
	return Reward{}
}

// scores are those that a spec asks for, nothing learned yet.
func scores(a *policy.Args, r Reward) Scores {
	since, _ := a.Value("since")
	if since != "" && since != "job" && since != "fragment" {
		a.Fail("since", "job or fragment")
	}
	return Scores{
		Reward: r, First: float64(a.Positive("first")), BySize: a.OnOff("by-size", false),
		OwnOnly: !a.OnOff("emergencies", true), FromArrival: since == "fragment",
	}
}
