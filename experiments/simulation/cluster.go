package simulation

import (
	"context"
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/entity"
)

// Machine is what the jobs run on: a Cluster, a *Domain or a *Grid. It names the
// policies that there are on it, refuses settings that mean nothing there, and
// makes itself ready to run one policy at a time, any number side by side.
type Machine interface {
	// Kind is "cluster", "domain" or "grid".
	Kind() string
	names(sc *Scenario, t *Tables) ([]policyName, error)
	check(sc *Scenario) error
	prepare(c *call) (runner, error)
}

// runner runs one policy.
type runner func(ctx context.Context, p *policyRun) (*Result, error)

// policyRun is one policy's run: its name, its jobs, and the settings that are
// the same on every machine.
type policyRun struct {
	policyName
	jobs      reading
	settings  RunSettings
	observers func(site string) []entity.Observer
}

// Cluster is a machine of counted processors; 0 means as many as the trace says.
type Cluster struct{ Processors int }

// Kind implements Machine.
func (Cluster) Kind() string { return "cluster" }

func (Cluster) names(sc *Scenario, t *Tables) ([]policyName, error) {
	list := sc.Policies
	if len(list) == 0 {
		list = []string{"fcfs", "easy", "conservative"}
	}
	all, err := names(t.Policies, list, sc.defaults())
	if err != nil {
		for _, spec := range list {
			_, errHere := t.Policies.Parse(spec)
			if _, errThere := t.Nodes.Parse(spec); errHere != nil && errThere == nil {
				return nil, fmt.Errorf("%s needs --domain: it plans named nodes", strings.TrimSpace(spec))
			}
		}
	}
	return all, err
}

func (Cluster) check(*Scenario) error { return nil }

// size is how many processors there are in a call.
func (k Cluster) size(c *call) (int, error) {
	switch n := c.Workload.Options.Procs; {
	case n > 0:
		return n, nil
	case k.Processors > 0:
		return k.Processors, nil
	case c.jobs.trace == nil:
		return 0, wrong("procs", "give the number of processors: the jobs do not tell it")
	}
	return Processors(c.jobs.trace)
}

func (k Cluster) prepare(c *call) (runner, error) {
	procs, err := k.size(c)
	if err != nil {
		return nil, err
	}
	c.values["procs"] = fmt.Sprint(procs)
	if err := c.Settings.Power.checkNodes(procs); err != nil {
		return nil, err
	}
	outages, err := c.outages(procs, nil)
	if err != nil {
		return nil, err
	}
	overheads, err := c.overheads()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, p *policyRun) (*Result, error) {
		chosen, err := c.tables.Policies.Parse(p.spec, c.defaults()) // anew: it may keep state
		if err != nil {
			return nil, err
		}
		s := p.settings
		s.Policy, s.Processors = chosen.Value, procs
		c.Settings.Power.set(chosen.Value)
		s.Observers = append(append(s.Observers, overheads()...), p.observers("")...)
		if s.Outages, err = outages.flow(nil); err != nil {
			return nil, err
		}
		from, err := c.molded(sourceOf(p.jobs))
		if err != nil {
			return nil, err
		}
		r, err := Simulate(ctx, from, s)
		return &r, err
	}, nil
}
