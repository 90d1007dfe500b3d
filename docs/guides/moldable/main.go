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
	"github.com/gridslot/gridslot/policy/preempt"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// resizes counts how often jobs were resized.
type resizes int

func (n *resizes) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobResized {
		*n++
	}
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	// Half to twice the processors that a job asks for, in eight shapes at most.
	molded := model.Moldable{Model: model.Amdahl{Serial: 0.05}, From: 0.5, To: 2, Most: 8}
	simulate := func(name string, p entity.Policy, moldable bool) {
		sim := des.New(des.Config{Seed: 1})
		rec, resized := metrics.NewRecorder(), new(resizes)
		meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), p, rec, resized)
		meta.SubmitAll(func(yield func(*entity.Job) bool) {
			for j := range trace.Jobs() {
				if moldable {
					j.Shapes = molded.Shapes(j)
				}
				if !yield(j) {
					return
				}
			}
		})
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		s := rec.Summary()
		fmt.Printf("%-26s mean wait %6.0f s, mean turnaround %6.0f s, %5d resizes\n", name, s.MeanWait, s.MeanTurnaround, *resized)
	}
	simulate("rigid, easy", backfill.EASY{}, false)
	simulate("moldable, easy", backfill.EASY{}, true)
	simulate("moldable, easy, first end", backfill.EASY{Shape: entity.FirstEnd}, true)
	simulate("malleable, free of cost", preempt.Equipartition{}, true)
	simulate("malleable, a minute each", preempt.Equipartition{Cost: des.Minute}, true)
	simulate("malleable, an hour each", preempt.Equipartition{Cost: des.Hour}, true)
}
