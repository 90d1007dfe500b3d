package policy

// The table of policies on named nodes: the queue policies, each with a search
// for windows, and those that plan by the cycle.

import (
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

// OnNodes is a policy together with the search for windows that its plan is to
// use (plan.Domain.Finder).
type OnNodes struct {
	Policy entity.Policy // what decides
	Finder plan.Finder   // what the plan searches windows with
	// Within, if set, is a label: no window may have nodes of several values of it.
	// Policy and Finder keep to that; so must searches of jobs' own, by
	// window.Within.
	Within string
}

// NodeRegistry returns the table of policies on named nodes: those of Registry with the
// further parameter finder, and css, batch-slicer and bsf. A cyclic.Policy keeps state:
// parse a spec anew for each run.
func NodeRegistry() Table[OnNodes] { return OnNodesWith(Registry(), Finders()) }

// OnNodesWith returns what NodeRegistry returns, made from a table of queue policies and a
// table of searches for windows that a program has extended.
func OnNodesWith(policies Table[entity.Policy], finders Table[plan.Finder]) Table[OnNodes] {
	var t Table[OnNodes]
	// Queue policies take the parameters of searches before their own.
	for _, e := range policies {
		own := Settings{args: &Args{}}
		own.searches()
		t = append(t, Entry[OnNodes]{Name: e.Name, Text: e.Text, Needs: e.Needs, Operand: e.Operand, Params: append(own.declared, e.Params...), New: func(a *Args) OnNodes {
			p := e.New(a) // not before it is asked for: a program's own policy may do anything here
			otherwise := "amp"
			if _, is := p.(backfill.ListScheduling); is { // where a task ends first
				otherwise = "min-finish-exact"
			}
			s := Settings{args: a}
			s.searches()
			return OnNodes{p, s.finder("finder", finders, otherwise), a.values["within"]}
		}})
	}
	// Policies by the cycle. Each plans by a BatchSlicer, of which css uses a part.
	return append(t,
		Row("css", "cyclic scheduling scheme: batches by the cycle, alternatives by first fit", func(s *Settings) OnNodes {
			var b cyclic.BatchSlicer
			var p cyclic.Policy
			s.batches(&b, &p, finders)
			p.Planner = cyclic.CSS{Search: b.Search, Choice: b.Choice, Shift: b.Shift, Front: b.Front}
			return s.onNodes(&p, b)
		}),
		Row("batch-slicer", "batches in slices, each by its users' criteria on what is left", func(s *Settings) OnNodes {
			var b cyclic.BatchSlicer
			var p cyclic.Policy
			s.slices(&b, &p, finders)
			p.Planner = b
			return s.onNodes(&p, b)
		}),
		Row("bsf", "batch-slice-filling: a share of each batch sliced, the others backfilled", func(s *Settings) OnNodes {
			var b cyclic.BatchSlicer
			p := cyclic.Policy{Rest: backfill.EASY{}, Share: cyclic.Share{Q: 0.5}}
			s.share(&p.Share.Q, "q", "share share of each batch that is sliced, from 0 to 1 (0.5)")
			Choice(s, &p.Share.By, "select", "priority|dearest|demanding", "which jobs are sliced (priority)", cyclic.ParseSelection)
			s.OnOff(&p.Share.Inclusive, "inclusive", "one job more than the share, as the authors' program (off)")
			switch fill, _ := s.Given("fill", "fcfs|easy|conservative", "policy of all other jobs (easy)"); fill {
			case "", "easy":
			case "fcfs":
				p.Rest = backfill.FCFS{}
			case "conservative":
				p.Rest = backfill.Conservative{}
			default:
				s.Fail("fill", "fcfs, easy or conservative")
			}
			s.slices(&b, &p, finders)
			p.Planner = b
			return s.onNodes(&p, b)
		}),
	)
}

// onNodes returns a policy by the cycle with the search of its planner.
func (s *Settings) onNodes(p *cyclic.Policy, b cyclic.BatchSlicer) OnNodes {
	return OnNodes{p, b.Search.Finder, s.args.values["within"]}
}

// searches declares which windows are searched for on nodes; see finder.
func (s *Settings) searches() {
	s.Given("finder", "NAME", "search for windows: alp, amp, min-cost and others, square-first-fit and others (amp; heft: min-finish-exact)")
	if label, given := s.Given("within", "LABEL", "all nodes of a window have the same value of this label, such as domain (anywhere)"); given && label == "" {
		s.Fail("within", "the name of a label")
	}
}

// slices declares how batches are cut into slices, and all that batches have.
func (s *Settings) slices(b *cyclic.BatchSlicer, p *cyclic.Policy, finders Table[plan.Finder]) {
	s.Count(&b.Slices, "k", "into how many slices the batch is cut (1)")
	Choice(s, &b.By, "by", "order|criterion|nodes|volume|budget|price", "order of the slices (order)", cyclic.ParseFeature)
	switch first, _ := s.Given("first", "greatest|least", "with by: greatest or least values first (greatest)"); first {
	case "", "greatest":
	case "least":
		b.LeastFirst = true
	default:
		s.Fail("first", "greatest or least")
	}
	if _, given := s.Given("criterion", "NAME", "the users' own search for windows (the same as finder)"); given {
		criterion := s.finder("criterion", finders, "")
		p.Criterion = func(*entity.Run) plan.Finder { return criterion }
	}
	s.batches(b, p, finders)
}

// batches declares how alternatives for the jobs of a batch are found and chosen, and when.
func (s *Settings) batches(b *cyclic.BatchSlicer, p *cyclic.Policy, finders Table[plan.Finder]) {
	s.searches()
	b.Search.Finder = s.finder("finder", finders, "amp")
	s.choice(&b.Choice)
	s.Count(&b.Search.Rounds, "rounds", "rounds rounds of the search for alternatives (until none are found)")
	s.Count(&b.Search.PerJob, "alternatives", "greatest number of alternatives of a job (all)")
	s.OnOff(&b.Search.Distinct, "distinct", "drop alternatives of equal rounded cost and time, as the authors' program (off)")
	Choice(s, &b.Shift, "shift", "off|end|slice", "move chosen windows to the earliest start on their nodes (off)", cyclic.ParseShift)
	if s.Count(&b.Front, "front", "write each slice's Pareto front of cost and time, at most N points (no)"); b.Front == 1 {
		s.Fail("front", "a whole number of 2 or more: a front has two ends")
	}
	Choice(s, &p.Replan, "replan", "never|on-release|every-cycle", "when jobs that have not started are planned anew (never)", cyclic.ParseReplan)
	s.orderOf(&p.Order, "order", "order of priority in a batch (submission)", strings.Join(orderNames(), "|"))
}

// choice declares what the choice of alternatives is to reach, and within what. Some
// parameters go with one problem or limit only.
func (s *Settings) choice(c *cyclic.Choice) {
	Choice(s, &c.Problem, "problem", "owners-profit|batch-time|users-expense|idleness|weights", "goal of the choice of alternatives (owners-profit)", cyclic.ParseProblem)
	weighted := c.Problem == cyclic.Weighted
	given := Choice(s, &c.Weights, "weights", "C/D/T/I", "for problem=weights: weights of cost, budget left, time and time left in the sum that is minimised", cyclic.ParseWeights)
	if weighted && !given {
		s.Fail("weights", "C/D/T/I with problem=weights")
	} else if given && !weighted {
		s.Fail("weights", "problem=weights beside it")
	}
	Choice(s, &c.TimeLimit, "t-limit", "mean|mean-up|mean-down|share", "how T* follows from the alternatives (mean)", cyclic.ParseTimeLimit)
	Choice(s, &c.BudgetLimit, "b-limit", "mean|income|share", "how B* follows from the alternatives (mean)", cyclic.ParseBudgetLimit)
	s.shareFor(c.TimeLimit == cyclic.ShareOfTime, &c.Shares.Time, "time", "t-limit=share",
		"for t-limit=share: from the quickest choice, 0, to the slowest, 1 (0.5)")
	s.shareFor(c.BudgetLimit == cyclic.ShareOfIncome, &c.Shares.Owners, "owners", "b-limit=share",
		"for b-limit=share: from the least cost, 0, to the largest income, 1 (0.5)")
	var maxTime float64
	s.Number(&maxTime, "max-time", "UNITS", "T* itself, for each batch")
	c.MaxTime = des.Seconds(maxTime)
	s.Number(&c.MaxCost, "max-cost", "COST", "B* itself: the organisation's budget for each batch")
	if s.Number(&c.Grid, "grid", "UNITS", "choose on the papers' whole-number grid (exactly)"); weighted && c.Grid > 0 {
		s.Fail("grid", "none with problem=weights, which is exact")
	}
}

// shareFor declares a share, a half by default, that is for one limit only.
func (s *Settings) shareFor(applies bool, field *float64, name, limit, text string) {
	if applies {
		*field = 0.5
	}
	if s.share(field, name, text) && !applies {
		s.Fail(name, limit+" beside it")
	}
}

// Finders returns the table of searches for windows: those for rough windows by
// their names, those for square ones with "square-" in front.
func Finders() Table[plan.Finder] {
	var t Table[plan.Finder]
	for _, kind := range []struct {
		window.Kind
		prefix string
	}{{window.Rough, ""}, {window.Square, "square-"}} {
		for _, name := range window.Names(kind.Kind) {
			f, err := window.ByName(kind.Kind, name, window.Settings{})
			if err != nil {
				panic(err) // the name is one of its own
			}
			t = append(t, Entry[plan.Finder]{
				Name: kind.prefix + name, Text: string(kind.Kind) + " windows: " + window.Text(kind.Kind, name),
				New: func(*Args) plan.Finder { return f },
			})
		}
	}
	former := window.AEP{By: window.MinProcTime} // specs that name it stay valid
	return append(t, Entry[plan.Finder]{
		Name: "min-proctime-cheapest", Text: "min-proctime by its former name",
		New: func(*Args) plan.Finder { return former },
	})
}

// finder returns the search that the parameter name asks for, or that the spec otherwise asks for if it is not given.
// The parameter within confines the search to nodes of one value of a label.
func (s *Settings) finder(name string, finders Table[plan.Finder], otherwise string) plan.Finder {
	spec, given := s.args.Value(name)
	if !given {
		spec = otherwise
	}
	f, err := finders.Parse(spec)
	base, _, _ := strings.Cut(spec, ":")
	switch {
	case err == nil:
	case slices.Contains(finders.Names(), base): // its parameters are wrong
		s.Fail(name, "another value ("+err.Error()+")")
	default:
		s.Fail(name, "one of "+strings.Join(finders.Names(), ", ")+enum.Suggestion(base, finders.Names()))
	}
	if label := s.args.values["within"]; label != "" {
		return window.Within{Finder: f.Value, Label: label}
	}
	return f.Value
}
