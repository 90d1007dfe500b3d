// Models has the same jobs come evenly and by office hours, and tells what that does to
// their waits.
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
	"github.com/gridslot/gridslot/workload/model"
)

var office = model.Cycle{
	Day:  []float64{1, 1, 6, 6, 3, 2}, // four hours each, from midnight on
	Week: []float64{5, 5, 5, 5, 5, 1, 1},
}

func main() {
	sizes, err := model.ParseDistribution("one-of/1/1/2/4/8/16/32/64")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("arrivals      policy  mean wait, h")
	for _, cycle := range []*model.Cycle{nil, &office} {
		m := model.Renewal{Processors: 128, Size: sizes, Run: model.LognormalOf(1, 7200), Load: 0.8, Cycle: cycle, Seed: 1}
		jobs, err := m.Jobs(20000)
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}} {
			sim, rec := des.New(des.Config{Seed: 1}), metrics.NewRecorder()
			meta := entity.NewMetascheduler(sim, plan.NewCluster(m.Processors), p, rec)
			meta.SubmitAll(model.FModel{Most: 5, Seed: 1}.Attach(jobs))
			if err := sim.Run(context.Background()); err != nil {
				log.Fatal(err)
			}
			name := "evenly"
			if cycle != nil {
				name = "office hours"
			}
			fmt.Printf("%-12s  %-6s  %12.2f\n", name, p.Name(), rec.Summary().MeanWait/3600)
		}
	}
}
