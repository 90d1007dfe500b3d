// Sites-and-routing sends whole jobs to three sites: by their work, by their plans,
// by information that is old.
package main

import (
	"context"
	"fmt"
	"log"

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

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	reason := "" // why a job is rejected
	for _, s := range []*agent.Sites{
		{By: agent.AtRandom}, {By: agent.InTurn},
		{By: agent.LeastJobs}, {By: agent.LeastWork}, {By: agent.EarliestStart},
		{By: agent.LeastWork, Age: des.Hour}, {By: agent.LeastWork, Age: des.Day},
	} {
		sim := des.New(des.Config{Seed: 1})
		network := &grid.Network{Default: grid.Direct()}
		rec := metrics.NewRecorder()
		g := grid.NewGrid(sim, network, rec)
		g.AddAgent("north", plan.NewCluster(48), backfill.EASY{})
		g.AddAgent("south", plan.NewCluster(48), backfill.Conservative{})
		g.AddAgent("west", plan.NewCluster(16), backfill.FCFS{}).Speed = 1.5
		g.AddBroker("broker", s)
		g.Submit(trace.Jobs(), func(*entity.Job) int { return 0 })
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		sum := rec.Summary()
		reason = rec.Rejections()[0].Reason
		fmt.Printf("%-20s age %5v s: %d rejected, mean wait %5.0f s, bounded slowdown %5.1f, utilization %.3f\n",
			s.Name(), s.Age, sum.Rejected, sum.MeanWait, sum.MeanBoundedSlowdown, sum.Utilization)
	}
	fmt.Println("for one:", reason)
}
