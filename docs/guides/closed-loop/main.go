// Closed-loop has a population of users share a cluster: each submits the next
// job some time after the last one has ended.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// dealt is each user's next job, where the jobs have been dealt out like cards.
func dealt(jobs []*entity.Job, population int) func(int, *rand.Rand) *entity.Job {
	next := make([]int, population)
	return func(user int, _ *rand.Rand) *entity.Job {
		i := user + population*next[user]
		if i >= len(jobs) {
			return nil
		}
		next[user]++
		j := *jobs[i]
		return &j
	}
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	jobs := slices.Collect(trace.Jobs())
	for _, population := range []int{10, 20, 40, 80} {
		for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}} {
			sim := des.New(des.Config{Seed: 1})
			rec := metrics.NewRecorder()
			meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), p, rec)
			users := flow.Users{Population: population, Job: dealt(jobs, population), Think: flow.Exponential(20 * des.Minute)}
			if err := users.SubmitTo(meta); err != nil {
				log.Fatal(err)
			}
			if err := sim.Run(context.Background()); err != nil {
				log.Fatal(err)
			}
			s := rec.Summary()
			fmt.Printf("%2d users, %s: %5.1f jobs an hour, mean wait %6.0f s, utilization %2.0f%%\n",
				population, p.Name(), float64(s.Jobs)/s.Makespan*3600, s.MeanWait, 100*s.Utilization)
		}
	}
}
