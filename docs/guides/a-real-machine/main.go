// A-real-machine compares schedules of an ideal machine with those of one whose
// scheduler sleeps and whose jobs take time to be launched.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	launch := flow.Overheads{Dispatch: flow.Constant(3), Prologue: model.LognormalOf(0.5, 20), Epilogue: flow.Constant(30)}
	for _, m := range []struct {
		name  string
		wakes entity.Wakes
		over  flow.Overheads
	}{
		{name: "ideal"},
		{name: "decides every 60 s", wakes: entity.Wakes{Every: des.Minute}},
		{name: "decides 5 s apart", wakes: entity.Wakes{Apart: 5 * des.Second}},
		{name: "launches jobs", over: launch},
	} {
		sim := des.New(des.Config{Seed: 1})
		rec := metrics.NewRecorder()
		meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), backfill.EASY{}, rec, &m.over)
		meta.Wakes = m.wakes
		meta.SubmitAll(trace.Jobs())
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		s := rec.Summary()
		fmt.Printf("%-18s  mean wait %4.0f s, median %2.0f s\n", m.name, s.MeanWait, s.MedianWait)
	}
}
