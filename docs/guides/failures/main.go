// Failures has the processors of a cluster fail and be repaired, and the whole machine
// be maintained for eight hours that are announced, and compares what can become of
// the jobs that run there.
package main

import (
	"context"
	"fmt"
	"iter"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// outages are the maintenance of so many processors, known from the beginning, and
// then their failures for ever.
func outages(processors int) (iter.Seq[flow.Outage], error) {
	failures, err := model.Failures{
		Units: processors, Seed: 1,
		Up:     model.WeibullOf(0.7, (100 * des.Day).Seconds()),
		Repair: model.LognormalOf(1, (4 * des.Hour).Seconds()),
	}.All()
	place := func(first, last int) entity.Where {
		return entity.Where{Set: []procset.Range{{First: int32(first), Last: int32(last)}}}
	}
	return func(yield func(flow.Outage) bool) {
		if !yield(flow.Outage{Known: 0, From: 30 * des.Day, To: 30*des.Day + 8*des.Hour, Where: place(0, processors-1)}) {
			return
		}
		for f := range failures {
			if !yield(flow.Outage{Known: f.From, From: f.From, To: f.To, Where: place(f.First, f.Last)}) {
				return
			}
		}
	}, err
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, victims := range []flow.Victims{
		{Rule: flow.VictimsRequeue},
		{Rule: flow.VictimsKill},
		{Rule: flow.VictimsWait},
		{Rule: flow.VictimsCheckpoint, Checkpoints: entity.Checkpoints{Interval: des.Hour, Cost: des.Minute}},
	} {
		all, err := outages(trace.MaxProcs)
		if err != nil {
			log.Fatal(err)
		}
		losses, hits := 0, 0
		lost := &flow.Outages{Victims: victims, Told: func(l flow.Lost) {
			losses++
			hits += len(l.Victims)
		}}
		lost.Submit(all)
		sim := des.New(des.Config{Seed: 1})
		rec := metrics.NewRecorder()
		meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), backfill.EASY{}, rec, lost)
		meta.SubmitAll(trace.Jobs())
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		lost.Close()
		s := rec.Summary()
		fmt.Printf("%-10v  %3d outages hit %2d jobs, %2d killed, mean wait %5.0f s\n", victims.Rule, losses, hits, s.Killed, s.MeanWait)
	}
}
