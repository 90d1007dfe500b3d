package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/preempt"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// Urgent is EASY, but jobs of less than ten minutes have longer ones suspended.
type Urgent struct{}

func (Urgent) Name() string { return "urgent" }

func (Urgent) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if !urgent(j) {
			continue
		}
		w, fits := r.Plan.Find(j.Request, r.Now, r.Now)
		for v := range r.Running() {
			if !fits && !urgent(v) && r.Preempt(v, des.Forever) {
				w, fits = r.Plan.Find(j.Request, r.Now, r.Now)
			}
		}
		if fits {
			r.Reserve(j, w)
		}
	}
	backfill.EASY{}.Schedule(r)
}

func urgent(j *entity.Run) bool { return j.Job.Request.Length < 10*des.Minute }

// counter is an observer that counts suspensions, and adds up how much longer than
// itself a job was there.
type counter struct {
	suspended, jobs int
	slowdown        float64
}

func (c *counter) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobRequeued:
		c.suspended++
	case entity.JobFinished:
		c.jobs++
		c.slowdown += max(1, (e.Run.Finish-e.Run.Submit).Seconds()/max(e.Run.Runtime.Seconds(), 10))
	}
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []entity.Policy{
		backfill.EASY{}, Urgent{},
		preempt.Selective{}, preempt.Selective{Factor: 5}, preempt.Selective{Keep: preempt.KeepNone}, preempt.Slicing{Quantum: des.Hour},
	} {
		jobs, err := trace.Open()
		if err != nil {
			log.Fatal(err)
		}
		c, check := &counter{}, &validate.Validator{}
		_, err = simulation.Simulate(context.Background(), jobs, simulation.RunSettings{
			Policy: p, Processors: trace.MaxProcs, Observers: []entity.Observer{c, check},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-26s %5d suspensions, mean bounded slowdown %5.1f, valid: %t\n",
			p.Name(), c.suspended, c.slowdown/float64(c.jobs), check.Report(true).Total == 0)
	}
}
