// By-the-clock runs a rule by the time of day: wide jobs start at night only.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

const (
	wide    = 16 // processors; a job on more is wide
	evening = 20 * des.Hour
	morning = 6 * des.Hour
)

// Nights is EASY at night. By day it passes over wide jobs and starts any other
// that fits.
type Nights struct{}

func (Nights) Name() string { return "nights" }

func (Nights) Schedule(r *entity.Round) {
	clock := r.Now % des.Day
	if clock < morning || clock >= evening {
		backfill.EASY{}.Schedule(r)
		return
	}
	for j := range r.Waiting() {
		if j.Request.Nodes > wide {
			r.WakeAt(r.Now - clock + evening)
		} else if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

// diary is an observer that adds up the waits of narrow and of wide jobs.
type diary struct {
	narrow, wide struct{ sum, jobs float64 }
	onTheStroke  int // wide jobs that started when the evening began
}

func (d *diary) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobStarted {
		return
	}
	kind := &d.narrow
	if e.Run.Request.Nodes > wide {
		kind = &d.wide
		if e.Time%des.Day == evening {
			d.onTheStroke++
		}
	}
	kind.jobs++
	kind.sum += e.Run.Wait().Seconds()
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []entity.Policy{backfill.EASY{}, Nights{}} {
		sim := des.New(des.Config{Seed: 1})
		d := &diary{}
		meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), p, d)
		meta.SubmitAll(trace.Jobs())
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-6s  mean wait of %.0f narrow jobs %5.0f s, of %.0f wide jobs %6.0f s; %d of these start at 20:00 sharp\n",
			p.Name(), d.narrow.jobs, d.narrow.sum/d.narrow.jobs, d.wide.jobs, d.wide.sum/d.wide.jobs, d.onTheStroke)
	}
}
