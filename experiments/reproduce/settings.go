package reproduce

// What the settings of programs are made of, as pages say it: environments and searches
// for windows by their names.

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// environment is a paper's, with the request that is made of it in experiments that draw no jobs.
type environment struct {
	vo.Environment
	Request entity.Request
}

// environments are those of the papers, by the names that pages have for them.
var environments = map[string]environment{
	"META 6.1":     {vo.META61(), vo.META61Request()},
	"META batches": {Environment: vo.METABatches()},
	"DEP18":        {vo.DEP18(), vo.DEP18Request()},
	"DEP18's text": {vo.DEP18Text(), vo.DEP18Request()},
}

// UnmarshalYAML reads the name of an environment, or {of: NAME, nodes: N} for another number of
// nodes.
func (e *environment) UnmarshalYAML(decode func(any) error) error {
	var is struct {
		Of    string
		Nodes int
	}
	if decode(&is.Of) != nil {
		if err := decode(&is); err != nil {
			return err
		}
	}
	found, ok := environments[is.Of]
	if !ok {
		return fmt.Errorf("no paper has an environment %q", is.Of)
	}
	if *e = found; is.Nodes > 0 {
		e.Nodes.Count = is.Nodes
	}
	return nil
}

// dep18Cap is the largest distance that DEP18's program counts for one slot. The text does not have
// it.
const dep18Cap = 500 * des.Second

// wholeTimes is the rule for time in the authors' programs: every task takes a whole number of time
// units, rounded up.
var wholeTimes = window.Settings{Quantum: des.Second}

// ways are the rules by which a search counts. In the authors' programs times are whole, and
// DEP18's program counts distances up to dep18Cap.
var ways = map[string]window.Settings{
	"":                              wholeTimes,
	"real times":                    {},
	"whole costs":                   {RoundCosts: 1},
	"capped distances":              {Quantum: des.Second, MaxDistance: dep18Cap},
	"capped distances, whole costs": {Quantum: des.Second, MaxDistance: dep18Cap, RoundCosts: 1}, // as its dynamic programming
	"capped distances, any start":   {Quantum: des.Second, MaxDistance: dep18Cap, AnyStart: true},
}

// firstFit is the earliest square window.
var firstFit = window.Cheapest{Settings: wholeTimes, Goal: window.FirstFit}

// finder is a search for windows that a page names.
type finder struct{ plan.Finder }

// UnmarshalYAML reads the command's name of a search, and after a comma the way in which it counts:
// "square-dep, capped distances".
func (f *finder) UnmarshalYAML(decode func(any) error) error {
	var text string
	if err := decode(&text); err != nil {
		return err
	}
	name, way, _ := strings.Cut(text, ", ")
	kind := window.Rough
	if square, ok := strings.CutPrefix(name, "square-"); ok {
		kind, name = window.Square, square
	}
	settings, ok := ways[way]
	if !ok {
		return fmt.Errorf("no search counts by %q", way)
	}
	var err error
	f.Finder, err = window.ByName(kind, name, settings)
	return err
}
