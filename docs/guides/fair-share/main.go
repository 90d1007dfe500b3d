// Fair-share has the queue sorted by what each job's user has had of the machine.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// usage is an observer that keeps what users have had: processor time, which
// counts half as much after a half-life.
type usage struct {
	halfLife des.Time
	had      map[int32]float64 // by user
}

func (u *usage) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobFinished || e.Kind == entity.JobKilled {
		// Instead of halving what is old, what is new is doubled: the order is the
		// same, and nothing needs to be touched as time goes on.
		weight := math.Exp2(float64(e.Time) / float64(u.halfLife))
		u.had[e.Run.User] += weight * e.Run.Latest().ProcessorTime().Seconds()
	}
}

// Order puts the jobs of the user who has had least first.
func (u *usage) Order() entity.Order {
	return entity.Order{Name: "fair-share", Dynamic: true, Key: func(r *entity.Run, _ des.Time) float64 { return u.had[r.User] }}
}

// waits is an observer that adds up the waits of users 1 to 4, and of the others.
type waits [5]struct{ sum, jobs float64 }

func (w *waits) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		user := &w[min(e.Run.User, 5)-1]
		user.sum += e.Run.Wait().Seconds()
		user.jobs++
	}
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, fair := range []bool{false, true} {
		shares, w := &usage{halfLife: 7 * des.Day, had: map[int32]float64{}}, &waits{}
		p := backfill.EASY{}
		if fair {
			p.Order = shares.Order()
		}
		sim := des.New(des.Config{Seed: 1})
		meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), p, shares, w)
		meta.SubmitAll(trace.Jobs())
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-15s  mean wait by user:", p.Name())
		for _, user := range w {
			fmt.Printf(" %5.0f s", user.sum/user.jobs)
		}
		fmt.Println()
	}
}
