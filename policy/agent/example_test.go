package agent_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/policy/backfill"
)

// keep is an observer that keeps what becomes of each job.
type keep map[*entity.Job]*entity.Run

func (k keep) Observe(e entity.JobEvent) { k[e.Run.Job] = e.Run }

// Two brokers share two clusters over a network on which a message takes a
// second. Both are offered the same processors; the second one comes too late
// and calls the regulator.
func Example() {
	sim := des.New(des.Config{Seed: 1})
	network := &grid.Network{Default: grid.Direct()}
	network.Default.Latency = des.Second
	runs := map[*entity.Job]*entity.Run{}
	g := grid.NewGrid(sim, network, keep(runs))
	g.Log = func(n grid.Note) { fmt.Println(n) }
	g.AddAgent("large", plan.NewCluster(8), backfill.EASY{})
	g.AddAgent("small", plan.NewCluster(4), backfill.EASY{})
	g.AddBroker("anna", agent.OAR{})
	g.AddBroker("bert", agent.OAR{})

	var jobs []*entity.Job
	for id := range int64(2) {
		jobs = append(jobs, &entity.Job{ID: id, Runtime: des.Minute, Request: entity.Request{Nodes: 10, Length: des.Minute}})
	}
	g.Submit(slices.Values(jobs), func(j *entity.Job) int { return int(j.ID) })
	if err := sim.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	for _, j := range jobs {
		fmt.Printf("%v ran from %v to %v\n", j, runs[j].Start, runs[j].Finish)
	}
	// Output:
	// 4 bert job 1: large refuses 8 tasks: conflict: wants to start at 3, when there is no room for it
	// 4 bert job 1: the regulator is called for 8 tasks
	// 7 regulator job 1: 8 tasks go to large, from 63 to 123, the earliest end of 1
	// job 0 ran from 3 to 63
	// job 1 ran from 3 to 123
}
