// Your-own-module is a first program outside the framework's own module.
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
	trace, err := workload.ReadSWF(traces.Sample()) // or workload.OpenSWF(path)
	if err != nil {
		log.Fatal(err)
	}
	sim, rec := des.New(des.Config{}), metrics.NewRecorder()
	meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), backfill.EASY{}, rec)
	meta.SubmitAll(trace.Jobs())
	if err := sim.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d jobs, mean wait %.0f s\n", rec.Summary().Jobs, rec.Summary().MeanWait)
}
