package simulation

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/speedup"
)

// This file makes rigid jobs moldable.

// SpeedUps is the table of the models by which rigid jobs get shapes.
func SpeedUps() policy.Table[speedup.Moldable] {
	bounds := []policy.Param{
		{Name: "from", Values: "F", Text: "least processors, as a part of what the job asks for (0.5)"},
		{Name: "to", Values: "F", Text: "most processors, as a multiple of what the job asks for (2)"},
		{Name: "shapes", Values: "N|all", Text: "how many shapes a job gets, evenly spaced (8)"},
	}
	entry := func(name, text string, model func(*policy.Args) speedup.Model, params ...policy.Param) policy.Entry[speedup.Moldable] {
		return policy.Entry[speedup.Moldable]{
			Name: name, Text: text, Params: append(params, bounds...),
			New: func(a *policy.Args) speedup.Moldable {
				m := speedup.Moldable{Model: model(a), From: a.Number("from", 0.5), To: a.Number("to", 2), Most: 8}
				if text, _ := a.Value("shapes"); text == "all" {
					m.Most = 0
				} else if n := a.Positive("shapes"); n > 0 {
					m.Most = n
				}
				return m
			},
		}
	}
	return policy.Table[speedup.Moldable]{
		entry("linear", "twice as fast on twice as many processors", func(*policy.Args) speedup.Model { return speedup.Linear{} }),
		entry("amdahl", "Amdahl's law (1967): a part of the work is serial", func(a *policy.Args) speedup.Model {
			return speedup.Amdahl{Serial: a.Number("serial", 0.05)}
		}, policy.Param{Name: "serial", Values: "F", Text: "the serial part, of the time on one processor (0.05)"}),
		entry("downey", "Downey's model (1997): average parallelism and its variance", func(a *policy.Args) speedup.Model {
			return speedup.Downey{A: a.Number("A", 0), Sigma: a.Number("sigma", 1)}
		}, policy.Param{Name: "A", Values: "F", Text: "average parallelism (as many as the job asks for)"},
			policy.Param{Name: "sigma", Values: "F", Text: "variance of parallelism (1)"}),
	}
}

// ParseMoldable reads what --moldable says; of an empty text it is nil.
func ParseMoldable(text string) (*speedup.Moldable, error) {
	if text == "" {
		return nil, nil
	}
	chosen, err := SpeedUps().Parse(text)
	if err != nil {
		return nil, err
	}
	return &chosen.Value, chosen.Value.Check()
}

// checkMoldable refuses shapes where nobody could choose among them.
func (sc *Scenario) checkMoldable() error {
	if _, onGrid := sc.machine().(*Grid); onGrid && sc.Workload.Moldable != "" {
		return wrong("moldable", "on a grid jobs are bought in windows of their own sizes; moldable jobs are for a cluster or a domain")
	}
	return nil
}

// molded are the jobs of a source with the shapes that the scenario gives them.
func (sc *Scenario) molded(from entity.Source) (entity.Source, error) {
	m, err := ParseMoldable(sc.Workload.Moldable)
	if err != nil || m == nil {
		return from, err
	}
	if _, listens := from.(entity.Listener); listens {
		return nil, wrong("moldable", "the source of the jobs listens to what becomes of them: it gives them shapes itself (entity.Job.Shapes)")
	}
	return moldedBy(from, m), nil
}

// moldedBy are the jobs of a source with the shapes that by gives to those that are rigid.
func moldedBy(from entity.Source, by *speedup.Moldable) entity.Source {
	return changed(from, func(j *entity.Job) *entity.Job {
		if len(j.Shapes) > 0 {
			return j
		}
		moldable := *j
		moldable.Shapes = by.Shapes(j)
		return &moldable
	})
}
