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
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// user is a source of jobs that waits for the end of one before the next.
type user struct {
	sim    *des.Simulator
	random *rand.Rand
	jobs   []*entity.Job // still to be submitted, in order
	waits  bool          // for the result of the last one
}

// Next is the user's next job, submitted after a think time.
func (u *user) Next() (*entity.Job, bool) {
	if u.waits || len(u.jobs) == 0 {
		return nil, false
	}
	j := *u.jobs[0]
	u.jobs, u.waits = u.jobs[1:], true
	think := des.Seconds(u.random.ExpFloat64() * 1200)
	j.Submit = u.sim.Now().Add(think)
	return &j, true
}

// Ended has the user look at the result, and think.
func (u *user) Ended(*entity.Run) { u.waits = false }

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
			users := make([]*user, population)
			for i := range users {
				users[i] = &user{sim: sim, random: sim.Stream("think", uint64(i))}
			}
			for i, j := range jobs { // dealt out like cards
				u := users[i%population]
				u.jobs = append(u.jobs, j)
			}
			for _, u := range users {
				meta.SubmitFrom(u)
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
