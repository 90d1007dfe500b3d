// The names under which users choose a search.

package window

import (
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity/plan"
)

// Kind is the shape of a window's right edge.
type Kind string

const (
	Rough  Kind = "rough"  // every task ends at its own time (META, AMP11)
	Square Kind = "square" // every node is held to the same end (DEP18)
)

type entry struct {
	name string
	text string // what the search returns, for people
	make func(Settings) plan.Finder
}

// What a window of a goal is, for people.
var (
	roughTexts = [...]string{
		"the earliest start", "the lowest cost", "the shortest slowest task, by META's substitution", "the earliest end, by META's substitution",
		"the least processor time among the n cheapest nodes of each step", "the shortest slowest task, exactly", "the earliest end, exactly",
		"the least processor time, exactly", "the least processor time, by META's substitution",
	}
	csaTexts       = [...]string{"the earliest start", "the lowest cost", "the shortest slowest task", "the earliest end", "the least processor time"}
	squareTexts    = [...]string{"the earliest start", "the earliest end", "the shortest length", "the lowest cost"}
	criterionTexts = map[string]string{
		"q": "the greatest sum of the nodes' q", "dep": "the greatest sum of distances from the nearer neighbouring task", "coord": "the least sum of distances from the farther neighbouring task",
		"available": "the greatest probability that all nodes are free",
	}
	groupTexts = [...]string{"exactly", "by the paper's tree", "by the paper's greedy tree", "by the paper's greedy tree, the last solution exactly"}
)

// finders is the table of all searches, in the order in which they are listed.
func finders(kind Kind) []entry {
	if kind == Rough {
		aep := func(by RoughGoal) entry {
			return entry{by.String(), roughTexts[by], func(s Settings) plan.Finder { return AEP{s, by} }}
		}
		csa := func(by RoughGoal) entry {
			return entry{CSA{By: by}.Name(), "among alternatives that AMP finds and cuts out, " + csaTexts[by], func(s Settings) plan.Finder { return CSA{s, by} }}
		}
		return []entry{
			{"alp", "the first window of nodes that each keep the price limit (AMP11)", func(s Settings) plan.Finder { return ALP{s} }},
			{"amp", "the first window that keeps the budget (AMP11)", func(s Settings) plan.Finder { return AMP{s} }},
			aep(MinStart), aep(MinCost), aep(MinRunTime), aep(MinFinish), aep(MinProcTime),
			aep(MinRunTimeExact), aep(MinFinishExact), aep(MinProcTimeExact), aep(MinProcTimeSubstitution),
			csa(MinCost), csa(MinStart), csa(MinRunTime), csa(MinFinish), csa(MinProcTime),
		}
	}
	cheapest := func(goal SquareGoal, by Criterion) entry {
		text := "the n cheapest nodes of each step: "
		if by == nil {
			text += squareTexts[goal]
		} else {
			text += criterionTexts[criterionName(by)]
		}
		return entry{Cheapest{Goal: goal, By: by}.Name(), text, func(s Settings) plan.Finder { return Cheapest{s, goal, by} }}
	}
	table := []entry{
		cheapest(FirstFit, nil), cheapest(LeastEnd, nil), cheapest(LeastTime, nil), cheapest(LeastCost, nil),
	}
	for _, by := range []Criterion{Q{}, DEP{}, COORD{}, Available{}} {
		text := criterionTexts[criterionName(by)]
		table = append(table,
			entry{MultipleBest{By: by}.Name(), "among alternatives that first fit finds and cuts out, " + text, func(s Settings) plan.Finder { return MultipleBest{s, by} }},
			entry{Best{By: by}.Name(), text + ", exactly", func(s Settings) plan.Finder { return Best{Settings: s, By: by} }},
			cheapest(MostWorth, by),
			entry{KnapsackDP{By: by}.Name(), text + ", by the paper's dynamic programming over rounded costs", func(s Settings) plan.Finder { return KnapsackDP{s, by} }})
	}
	for by := range GroupTreeMixed + 1 {
		table = append(table, entry{Grouped{By: by}.Name(), "nodes in groups that are free or taken together: " + criterionTexts["available"] + ", " + groupTexts[by], func(s Settings) plan.Finder { return Grouped{Settings: s, By: by} }})
	}
	return table
}

// Names lists the searches for windows of a kind.
func Names(kind Kind) []string {
	var names []string
	for _, e := range finders(kind) {
		names = append(names, e.name)
	}
	return names
}

// Text says what the search of that name returns; it is empty for an unknown name.
func Text(kind Kind, name string) string {
	for _, e := range finders(kind) {
		if e.name == name {
			return e.text
		}
	}
	return ""
}

// ByName returns the search of that name. The error lists the names there are.
func ByName(kind Kind, name string, s Settings) (plan.Finder, error) {
	if kind != Rough && kind != Square {
		return nil, plan.BadInput("a window is %q or %q, not %q", Square, Rough, kind)
	}
	table := finders(kind)
	if i := slices.IndexFunc(table, func(e entry) bool { return e.name == name }); i >= 0 {
		return table[i].make(s), nil
	}
	other := Rough
	if kind == Rough {
		other = Square
	}
	hint := ""
	if slices.Contains(Names(other), name) {
		hint = "; that one searches " + string(other) + " windows"
	}
	return nil, plan.BadInput("no search for %s windows is called %q%s; there are %s",
		kind, name, hint, strings.Join(Names(kind), ", "))
}
