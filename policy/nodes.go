package policy

// The table of policies on named nodes: the queue policies, each with a search
// for windows, and those that plan by the cycle.

import (
	"errors"
	"math"
	"strconv"
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
	Policy entity.Policy
	Finder plan.Finder
	// Within, if set, is a label: no window may have nodes of several values of it.
	// Policy and Finder keep to that; so must searches of jobs' own, by
	// window.Within.
	Within string
}

// NodeRegistry is the table of policies on named nodes: those of Registry with
// one parameter more, finder, and css, batch-slicer and bsf. A cyclic.Policy
// keeps state: parse a spec anew for each run.
func NodeRegistry() Table[OnNodes] { return OnNodesWith(Registry(), Finders()) }

// OnNodesWith is NodeRegistry for a table of queue policies and one of searches
// for windows that a program has extended.
func OnNodesWith(policies Table[entity.Policy], finders Table[plan.Finder]) Table[OnNodes] {
	finder := Param{"finder", "NAME", "search for windows: alp, amp, min-cost and others, square-first-fit and others (amp; heft: min-finish-exact)"}
	within := Param{"within", "LABEL", "windows do not span nodes of several values of a label, such as domain (anywhere)"}
	var t Table[OnNodes]
	for _, e := range policies {
		t = append(t, Entry[OnNodes]{
			Name: e.Name, Text: e.Text, Params: append([]Param{finder, within}, e.Params...),
			New: func(a *Args) OnNodes {
				p := e.New(a)
				if _, is := p.(backfill.ListScheduling); is && a.values["finder"] == "" { // where a task ends first
					a.values["finder"] = "min-finish-exact"
				}
				return OnNodes{p, a.finder("finder", finders), a.values["within"]}
			},
		})
	}
	plan := []Param{
		finder, within,
		{"problem", "owners-profit|batch-time|users-expense|idleness|weights", "what the choice of alternatives is to reach (owners-profit)"},
		{"weights", "C/D/T/I", "for problem=weights: of cost, budget left, time, time left, all to be small"},
		{"t-limit", "mean|mean-up|mean-down|share", "how T* follows from the alternatives (mean)"},
		{"b-limit", "mean|income|share", "how B* does (mean)"},
		{"time", "SHARE", "for t-limit=share: from the quickest choice, 0, to the slowest, 1 (0.5)"},
		{"owners", "SHARE", "for b-limit=share: from the least cost, 0, to the largest income, 1 (0.5)"},
		{"max-time", "UNITS", "T* itself, for each batch"},
		{"max-cost", "COST", "B* itself: the organisation's budget for each batch"},
		{"grid", "UNITS", "choose on the papers' whole-number grid (exactly)"},
		{"rounds", "N", "of the search for alternatives (until none are found)"},
		{"alternatives", "N", "at most, for one job (all)"},
		{"distinct", "on|off", "drop alternatives of equal rounded cost and time, as the authors' program (off)"},
		{"shift", "off|end|slice", "move chosen windows to the earliest start on their nodes (off)"},
		{"front", "N", "tell each slice's Pareto front of cost and time, N points at most (no)"},
		{"replan", "never|on-release|every-cycle", "when plans of jobs that have not started are made anew (never)"},
		{"order", strings.Join(orderNames(), "|"), "of priority (submission)"},
	}
	slices := append([]Param{
		{"k", "N", "into how many slices the batch is cut (1)"},
		{"by", "order|criterion|nodes|volume|budget|price", "what decides which slice a job is in (order)"},
		{"first", "greatest|least", "which of them come first (greatest)"},
		{"criterion", "NAME", "the users' own search for windows (the same as finder)"},
	}, plan...)
	fill := append([]Param{
		{"q", "SHARE", "of each batch that is sliced, from 0 to 1 (0.5)"},
		{"select", "priority|dearest|demanding", "which jobs those are (priority)"},
		{"inclusive", "on|off", "one job more than the share, as the authors' program (off)"},
		{"fill", "fcfs|easy|conservative", "who decides about the others (easy)"},
	}, slices...)
	return append(t,
		Entry[OnNodes]{
			Name: "css", Text: "cyclic scheduling scheme: batches by the cycle, alternatives by first fit", Params: plan,
			New: func(a *Args) OnNodes {
				s := a.slicer(finders)
				return a.cyclic(finders, &cyclic.Policy{Planner: cyclic.CSS{Search: s.Search, Choice: s.Choice, Shift: s.Shift, Front: s.Front}})
			},
		},
		Entry[OnNodes]{
			Name: "batch-slicer", Text: "batches in slices, each by its users' criteria on what is left", Params: slices,
			New: func(a *Args) OnNodes { return a.cyclic(finders, &cyclic.Policy{Planner: a.slicer(finders)}) },
		},
		Entry[OnNodes]{
			Name: "bsf", Text: "batch-slice-filling: a share of each batch sliced, the others backfilled", Params: fill,
			New: func(a *Args) OnNodes {
				p := &cyclic.Policy{Planner: a.slicer(finders), Rest: backfill.EASY{}, Share: cyclic.Share{Q: a.share("q"), By: parsed(a, "select", cyclic.ParseSelection), Inclusive: a.OnOff("inclusive", false)}}
				switch a.values["fill"] {
				case "", "easy":
				case "fcfs":
					p.Rest = backfill.FCFS{}
				case "conservative":
					p.Rest = backfill.Conservative{}
				default:
					a.Fail("fill", "fcfs, easy or conservative")
				}
				return a.cyclic(finders, p)
			},
		},
	)
}

// slicer reads what css, batch-slicer and bsf have in common.
func (a *Args) slicer(finders Table[plan.Finder]) cyclic.BatchSlicer {
	b := cyclic.BatchSlicer{
		Slices: a.Positive("k"), By: parsed(a, "by", cyclic.ParseFeature),
		Search: cyclic.Search{Finder: a.finder("finder", finders), Rounds: a.Positive("rounds"), PerJob: a.Positive("alternatives"), Distinct: a.OnOff("distinct", false)},
		Choice: cyclic.Choice{
			Problem: parsed(a, "problem", cyclic.ParseProblem), TimeLimit: parsed(a, "t-limit", cyclic.ParseTimeLimit),
			BudgetLimit: parsed(a, "b-limit", cyclic.ParseBudgetLimit), Weights: parsed(a, "weights", cyclic.ParseWeights),
			MaxTime: des.Seconds(a.Number("max-time", 0)), MaxCost: a.Number("max-cost", 0), Grid: a.Number("grid", 0),
		},
		Shift: parsed(a, "shift", cyclic.ParseShift), Front: a.Positive("front"),
	}
	switch a.values["first"] {
	case "", "greatest":
	case "least":
		b.LeastFirst = true
	default:
		a.Fail("first", "greatest or least")
	}
	if b.Front == 1 {
		a.Fail("front", "a whole number of 2 or more: a front has two ends")
	}
	a.policy(&b.Choice)
	return b
}

// policy reads what only some problems and limits of a choice take.
func (a *Args) policy(c *cyclic.Choice) {
	_, weights := a.values["weights"]
	if weighted := c.Problem == cyclic.Weighted; weighted && !weights {
		a.Fail("weights", "C/D/T/I with problem=weights")
	} else if weights && !weighted {
		a.Fail("weights", "problem=weights beside it")
	} else if weighted && c.Grid > 0 {
		a.Fail("grid", "none with problem=weights, which is exact")
	}
	if _, given := a.values["owners"]; c.BudgetLimit == cyclic.ShareOfIncome {
		c.Shares.Owners = a.share("owners")
	} else if given {
		a.Fail("owners", "b-limit=share beside it")
	}
	if _, given := a.values["time"]; c.TimeLimit == cyclic.ShareOfTime {
		c.Shares.Time = a.share("time")
	} else if given {
		a.Fail("time", "t-limit=share beside it")
	}
}

// share is a number from 0 to 1, or a half where it is not given.
func (a *Args) share(name string) float64 {
	v := a.Number(name, 0.5)
	if v > 1 {
		a.Fail(name, "a number from 0 to 1")
	}
	return v
}

// cyclic completes a policy by what those by the cycle have in common.
func (a *Args) cyclic(finders Table[plan.Finder], p *cyclic.Policy) OnNodes {
	p.Replan, p.Order = parsed(a, "replan", cyclic.ParseReplan), a.Order("order")
	if _, given := a.values["criterion"]; given {
		criterion := a.finder("criterion", finders)
		p.Criterion = func(*entity.Run) plan.Finder { return criterion }
	}
	return OnNodes{p, a.finder("finder", finders), a.values["within"]}
}

// Finders is the table of searches for windows: those for rough windows by
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
				Name: kind.prefix + name, Text: "a search for " + string(kind.Kind) + " windows",
				New: func(*Args) plan.Finder { return f },
			})
		}
	}
	former := window.AEP{By: window.MinProcTime}
	return append(t, Entry[plan.Finder]{
		Name: "min-proctime-cheapest", Text: "min-proctime by its former name",
		New: func(*Args) plan.Finder { return former },
	})
}

// finder is the search of that name, amp where it is not given, within what the
// parameter of that name says.
func (a *Args) finder(name string, finders Table[plan.Finder]) plan.Finder {
	var f plan.Finder = window.AMP{}
	if value, given := a.values[name]; given {
		c, err := finders.Parse(value)
		if err != nil {
			a.Fail(name, "one of "+strings.Join(finders.Names(), ", "))
		}
		f = c.Value
	}
	if label, given := a.values["within"]; given {
		if label == "" {
			a.Fail("within", "the name of a label")
		}
		return window.Within{Finder: f, Label: label}
	}
	return f
}

// parsed is the value of an enumeration that a function reads; the zero value
// where it is not given.
func parsed[T any](a *Args, name string, parse func(string) (T, error)) T {
	var v T
	if text, given := a.values[name]; given {
		var err error
		var unknown *enum.UnknownError
		if v, err = parse(text); errors.As(err, &unknown) {
			a.Fail(name, unknown.Want)
		} else if err != nil {
			a.Fail(name, "another value ("+err.Error()+")")
		}
	}
	return v
}

// Seconds is a time of 0 or more in time units, "90" or as in "15m", "4h", "30d"; 0 where
// it is not given.
func (a *Args) Seconds(name string) float64 {
	text, given := a.values[name]
	if !given {
		return 0
	}
	v, err := des.ParseSeconds(text)
	if err != nil {
		a.Fail(name, "a time of 0 or more, in seconds or as in 15m, 4h, 30d")
	}
	return v
}

// Number is a number of 0 or more, or otherwise where it is not given.
func (a *Args) Number(name string, otherwise float64) float64 {
	text, given := a.values[name]
	if !given {
		return otherwise
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		a.Fail(name, "a number of 0 or more")
	}
	return v
}
