package simulation

import (
	"context"
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/entity"
)

// Machine is the model of the computer on which the jobs run: a Cluster, a *Domain, a *Grid or a
// *SlurmCluster. It names its policies, refuses settings that mean nothing on it, and prepares
// itself to run any number of policies, one after the other or side by side. Other packages cannot
// add machines.
type Machine interface {
	// Kind returns "cluster", "domain", "grid" or "slurm".
	Kind() string
	// names returns the policies of the scenario, or the machine's defaults, each with its
	// parameters.
	names(sc *Scenario, t *Tables) ([]policyName, error)
	// check refuses settings of the scenario. It opens no log.
	check(sc *Scenario) error
	// prepare draws what is drawn and may set c.jobs, c.requests and c.nodes. The runner that it
	// returns must not change what it shares with other runs.
	prepare(c *call) (runner, error)
}

// runner runs one policy. It may be called from several goroutines.
type runner func(ctx context.Context, p *policyRun) (*Result, error)

// policyRun has the input of a runner: the policy's name, a reading of the jobs, and the settings
// that are the same on every machine.
type policyRun struct {
	policyName
	jobs     reading
	settings RunSettings
	// observers makes the caller's observers of a site; "" is the machine as a whole.
	observers func(site string) []entity.Observer
}

// Cluster is a machine of counted processors; 0 means as many as the trace says.
type Cluster struct{ Processors int }

// Kind implements Machine.
func (Cluster) Kind() string { return "cluster" }

// names reads the policies. A policy that only plans named nodes is refused with a hint.
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

// size returns how many processors there are: as the setting procs says, or the cluster, or the
// log.
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

// prepare makes ready what all policies share: the size, outages and overheads.
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
		// Each run has its own policy, flow of outages and shapes of jobs.
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
