// Gantt draws the README's picture: the same six jobs under three policies, a
// row a processor, a column a second.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

const processors = 6

// chart is an observer that draws what runs where.
type chart struct {
	rows [processors][]byte
	end  des.Time // of the last job
}

func (c *chart) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobFinished {
		return
	}
	c.end = e.Time
	for _, r := range e.Run.Place {
		for p := r.First; p <= r.Last; p++ {
			c.draw(int(p), e.Run)
		}
	}
}

func (c *chart) draw(processor int, j *entity.Run) {
	from, to := int(j.Start/des.Second), int(j.Finish/des.Second)
	row := &c.rows[processor]
	*row = append(*row, bytes.Repeat([]byte("."), max(0, to-len(*row)))...)
	for at := from; at < to; at++ {
		(*row)[at] = 'A' + byte(j.ID-1)
	}
}

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
		c := &chart{}
		meta := entity.NewMetascheduler(sim, plan.NewCluster(processors), p, c)
		meta.Placer = entity.LowestFirst{} // whose numbers the chart draws
		meta.SubmitAll(slices.Values(jobs))
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: done at %v s\n", p.Name(), c.end)
		for _, row := range slices.Backward(c.rows[:]) {
			fmt.Printf("  |%s\n", row)
		}
	}
}
