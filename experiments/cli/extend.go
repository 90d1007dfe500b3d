package cli

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// Extend holds the tables that a program adds to the tables of the command. The zero value adds
// nothing.
//
//	func main() {
//		os.Exit(cli.Main(cli.Extend{
//			Policies: policy.Table[entity.Policy]{{
//				Name: "lucky", Text: "starts whom it likes",
//				Params: []policy.Param{{Name: "luck", Values: "N", Text: "how much of it (1)"}},
//				New:    func(a *policy.Args) entity.Policy { return Lucky{Luck: a.Positive("luck")} },
//			}},
//		}))
//	}
//
// What is added is listed by --help, completed by shells, accepted by its name with its parameters
// wherever such names are taken, and named by the errors that list what there is. It stands in
// place of something of the same name.
type Extend struct {
	// Policies decide about a queue. They run on clusters, at the sites of grids,
	// and on the nodes of domains, where each takes finder=NAME as well.
	Policies policy.Table[entity.Policy]
	// NodePolicies need named nodes.
	NodePolicies policy.Table[policy.OnNodes]
	// Finders are searches for windows: finder=NAME, criterion=NAME, criteria.
	Finders policy.Table[plan.Finder]
	// Strategies decide for the brokers of a grid.
	Strategies policy.Table[func() grid.Strategy]
	// Sources make jobs where a trace can be given: simulate mine:jobs=100.
	Sources policy.Table[simulation.Source]
	// Predictors say how long jobs will run, and Correctors correct predictions that jobs outlive:
	// --predict, --correct.
	Predictors policy.Table[entity.Predictor]
	Correctors policy.Table[entity.Corrector]
	// Formats are formats of logs: for --from and --to, and to recognise the format of a log.
	Formats policy.Table[workload.Format]
}

// tables returns the tables of the library with what the program adds.
func (e Extend) tables() *simulation.Tables {
	t := simulation.NewTables(e.Policies, e.NodePolicies, e.Finders, e.Strategies, e.Sources)
	t.AddPredictions(e.Predictors, e.Correctors)
	t.AddFormats(e.Formats)
	return t
}
