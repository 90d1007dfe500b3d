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
	make func(Settings) plan.Finder
}

// finders is the table of all searches, in the order in which they are listed.
func finders(kind Kind) []entry {
	if kind == Rough {
		aep := func(by RoughGoal) entry {
			return entry{by.String(), func(s Settings) plan.Finder { return AEP{s, by} }}
		}
		csa := func(by RoughGoal) entry {
			return entry{CSA{By: by}.Name(), func(s Settings) plan.Finder { return CSA{s, by} }}
		}
		return []entry{
			{"alp", func(s Settings) plan.Finder { return ALP{s} }},
			{"amp", func(s Settings) plan.Finder { return AMP{s} }},
			aep(MinStart), aep(MinCost), aep(MinRunTime), aep(MinFinish), aep(MinProcTime),
			aep(MinRunTimeExact), aep(MinFinishExact), aep(MinProcTimeExact), aep(MinProcTimeSubstitution),
			csa(MinCost), csa(MinStart), csa(MinRunTime), csa(MinFinish), csa(MinProcTime),
		}
	}
	cheapest := func(goal SquareGoal, by Criterion) entry {
		return entry{Cheapest{Goal: goal, By: by}.Name(), func(s Settings) plan.Finder { return Cheapest{s, goal, by} }}
	}
	table := []entry{
		cheapest(FirstFit, nil), cheapest(LeastEnd, nil), cheapest(LeastTime, nil), cheapest(LeastCost, nil),
	}
	for _, by := range []Criterion{Q{}, DEP{}, COORD{}, Available{}} {
		table = append(table,
			entry{MultipleBest{By: by}.Name(), func(s Settings) plan.Finder { return MultipleBest{s, by} }},
			entry{Best{By: by}.Name(), func(s Settings) plan.Finder { return Best{Settings: s, By: by} }},
			cheapest(MostWorth, by),
			entry{KnapsackDP{By: by}.Name(), func(s Settings) plan.Finder { return KnapsackDP{s, by} }})
	}
	for by := range GroupTreeMixed + 1 {
		table = append(table, entry{Grouped{By: by}.Name(), func(s Settings) plan.Finder { return Grouped{Settings: s, By: by} }})
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
