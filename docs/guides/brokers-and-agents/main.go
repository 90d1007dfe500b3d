// Brokers-and-agents routes whole jobs to one of two clusters, by a strategy of
// its own, beside two that come with the framework.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// Router sends a job, whole, to the cluster where least work waits among those
// that are large enough for it.
type Router struct{}

func (Router) Name() string { return "router" }

func (Router) Place(b *grid.Broker, j *entity.Job) {
	b.AskLoad(func(loads []grid.Backlog) {
		fits := slices.DeleteFunc(loads, func(l grid.Backlog) bool { return l.Agent.Processors() < j.Request.Nodes })
		if len(fits) == 0 {
			b.Intervene(j, j.Request.Nodes) // the regulator cuts it into pieces
			return
		}
		least := slices.MinFunc(fits, func(x, y grid.Backlog) int { return cmp.Compare(x.Time, y.Time) })
		b.Submit(j, least.Agent, j.Request.Nodes)
	})
}

func (Router) Done(*grid.Broker, *grid.Fragment) {}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range []grid.Strategy{Router{}, &agent.RoundRobin{}, agent.ShortestQueue{}} {
		sim := des.New(des.Config{Seed: 1})
		network := &grid.Network{Default: grid.Direct()}
		network.Default.Latency = des.Second
		all, large, small := metrics.NewRecorder(), metrics.NewRecorder(), metrics.NewRecorder()
		g := grid.NewGrid(sim, network, all)
		g.AddAgent("large", plan.NewCluster(96), backfill.EASY{}, large)
		g.AddAgent("small", plan.NewCluster(32), backfill.EASY{}, small).Speed = 1.5
		g.AddBroker("broker", s)
		g.Submit(trace.Jobs(), func(*entity.Job) int { return 0 })
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-14s  mean turnaround %4.0f s; %d jobs and parts of jobs on large, %d on small\n",
			s.Name(), all.Summary().MeanTurnaround, large.Summary().Jobs, small.Summary().Jobs)
	}
}
