package simulation

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/remote"
	"github.com/gridslot/gridslot/workload"
)

// Tables say what can be asked for by name. They are made once, at the top of a program, and handed
// down; nobody changes them while runs are under way.
type Tables struct {
	Policies   policy.Table[entity.Policy]        // of a queue: on clusters, and on nodes with a search for windows
	Nodes      policy.Table[policy.OnNodes]       // of named nodes; the policies in Policies are among them
	Finders    policy.Table[plan.Finder]          // searches for windows
	Strategies policy.Table[func() grid.Strategy] // of brokers
	Sources    policy.Table[Source]               // of jobs, where a trace can be given
	Outages    policy.Table[Failures]             // models of failures
	Predictors policy.Table[entity.Predictor]     // of runtimes
	Correctors policy.Table[entity.Corrector]     // of predictions that jobs outlive
	Formats    policy.Table[workload.Format]      // of logs

	// Tell, if set, is told what the user of a source should know.
	Tell func(format string, args ...any)
}

func (t *Tables) tell(format string, args ...any) {
	if t.Tell != nil {
		t.Tell(format, args...)
	}
}

// NewTables returns the tables of the library with what a program adds to them. Of two things of
// one name the program's own counts. Any of the arguments may be nil.
func NewTables(policies policy.Table[entity.Policy], nodes policy.Table[policy.OnNodes], finders policy.Table[plan.Finder],
	strategies policy.Table[func() grid.Strategy], sources policy.Table[Source]) *Tables {
	t := &Tables{
		Policies:   merged(append(policy.Registry(), remote.Registry()...), policies),
		Finders:    merged(policy.Finders(), finders),
		Strategies: merged(agent.Registry(), strategies),
		Sources:    merged(sourceTable(), withSeeds(sources)),
		Outages:    failureModels(),
		Predictors: policy.Predictors(),
		Correctors: policy.Correctors(),
		Formats:    formatTable(),
	}
	// Policies of queues also run on named nodes, with a search for windows: the program's own
	// among them.
	t.Nodes = merged(policy.OnNodesWith(t.Policies, t.Finders), nodes)
	return t
}

// AddPolicies adds policies of a program's own, for clusters and for named nodes. Of two of
// one name the program's own counts.
func (t *Tables) AddPolicies(own ...policy.Entry[entity.Policy]) {
	t.Policies = merged(t.Policies, own)
	t.Nodes = merged(t.Nodes, policy.OnNodesWith(own, t.Finders))
}

// merged returns a table with rows added, which replace those of the same name in their places.
func merged[T any](table, own policy.Table[T]) policy.Table[T] {
	for _, e := range own {
		replaced := false
		for i := range table {
			if table[i].Name == e.Name {
				table[i], replaced = e, true
			}
		}
		if !replaced {
			table = append(table, e)
		}
	}
	return table
}

// Standard returns the tables of the library alone.
func Standard() *Tables { return NewTables(nil, nil, nil, nil, nil) }

// policyName is a policy as it was asked for, and as files call it. Invariant: no two of a call
// have one file name.
type policyName struct {
	spec, file string
	plansAll   bool // it keeps a window for every job that waits
	repeatsLog bool // it is the log's own schedule
}

// names reads a list of policies, of which none may be unknown or there twice.
func names[T any](t policy.Table[T], list []string, defaults string) ([]policyName, error) {
	chosen, err := t.ParseList(strings.Join(list, ","), defaults)
	if err != nil {
		return nil, err
	}
	var all []policyName
	for _, c := range chosen {
		decides, _ := any(c.Value).(entity.Policy)
		if n, is := any(c.Value).(policy.OnNodes); is {
			decides = n.Policy
		}
		p, says := entity.As[interface{ PlansAll() bool }](decides)
		_, repeats := entity.As[backfill.Recorded](decides)
		all = append(all, policyName{c.Spec, c.FileName(), says && p.PlansAll(), repeats})
	}
	return all, nil
}

// fileNames refuses runs of which two would write one file: name is the file, of is who writes it. Case
// does not count, since some systems do not tell it apart.
func fileNames(files map[string]string, name, of string) error {
	if other, taken := files[strings.ToLower(name)]; taken {
		return fmt.Errorf("%s and %s would both write the file %s: rename one of them", other, of, name)
	}
	files[strings.ToLower(name)] = of
	return nil
}
