// A first program: one trace under three policies.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		sim := des.New(des.Config{Seed: 1})
		rec := metrics.NewRecorder()
		meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), p, rec)
		meta.SubmitAll(trace.Jobs())
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		s := rec.Summary()
		fmt.Printf("%-13s mean wait %6.0f s, mean bounded slowdown %6.1f\n", p.Name(), s.MeanWait, s.MeanBoundedSlowdown)
	}
}
