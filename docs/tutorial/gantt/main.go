// Gantt draws the README's picture: the same six jobs under three policies, a
// row a processor, a column a second.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/policy/backfill"
)

func main() {
	// Submission, processors, estimate and runtime in seconds.
	workload := [][4]int{
		{0, 4, 16, 12}, // A
		{1, 5, 12, 10}, // B
		{2, 1, 10, 10}, // C
		{3, 6, 8, 8},   // D
		{4, 1, 26, 24}, // E
		{5, 2, 5, 5},   // F
	}
	var jobs []*entity.Job
	for i, w := range workload {
		jobs = append(jobs, &entity.Job{
			ID: int64(i + 1), Submit: des.Time(w[0]) * des.Second, Runtime: des.Time(w[3]) * des.Second,
			Request: entity.Request{Nodes: w[1], Length: des.Time(w[2]) * des.Second},
		})
	}
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		sim := des.New(des.Config{})
		chart := &gantt.Observer{}
		meta := entity.NewMetascheduler(sim, plan.NewCluster(6), p, chart)
		meta.Placer = entity.LowestFirst{} // whose numbers the chart draws
		meta.SubmitAll(slices.Values(jobs))
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		chart.Title = fmt.Sprintf("%s: done at %v s", p.Name(), chart.End())
		if _, err := gantt.Write(os.Stdout, 0, 80, &chart.Chart); err != nil {
			log.Fatal(err)
		}
	}
}
